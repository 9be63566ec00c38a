//! Events: thin lines through the panels and names above them where there is room.

use crate::figure::Figure;
use crate::font::{self, Weight};
use crate::plot::SMALL;
use crate::plot::axes::Axis;
use crate::scene::{Anchor, Colour, Paint, Rect, Scene, Segment, Stroke, Text};

/// Events nearer than this share a line.
const SAME: f64 = 0.75;
/// Events nearer than this share a label.
const TOGETHER: f64 = 7.0;
/// Lines nearer than this on average would grey out the panel: ticks are drawn instead.
const LINE_ROOM: f64 = 10.0;
/// Space between labels.
const LABEL_ROOM: f64 = 8.0;
/// Height of the row of labels.
const ROW: f64 = 17.0;

/// The events of a figure, placed.
pub struct Marks {
    lines: Vec<f64>,
    labels: Vec<(f64, Text)>,
    pixels: f64,
}

impl Marks {
    /// Places events along an axis; those outside its range are left out.
    pub fn new(figure: &Figure, x: &Axis) -> Self {
        let inside = |t: f64| t >= x.range.lo && t <= x.range.hi;
        let mut events: Vec<(f64, &str)> =
            figure.marks.iter().filter(|m| inside(m.t)).map(|m| (x.pixel(m.t), m.label.as_str())).collect();
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut lines: Vec<f64> = Vec::new();
        let mut groups: Vec<(f64, Vec<&str>)> = Vec::new();
        for (at, label) in events {
            if lines.last().is_none_or(|&last| at - last > SAME) {
                lines.push(at);
            }
            if label.is_empty() {
                continue;
            }
            match groups.last_mut() {
                Some((first, names)) if at - *first <= TOGETHER => {
                    if !names.contains(&label) {
                        names.push(label);
                    }
                }
                _ => groups.push((at, vec![label])),
            }
        }
        let labels = place_labels(&groups, x);
        Self { lines, labels, pixels: x.pixels() }
    }

    /// Height needed above the panels.
    pub fn labels_height(&self) -> f64 {
        if self.labels.is_empty() { 0.0 } else { ROW }
    }

    /// Lines through a panel, or ticks at its upper edge if there are too many.
    pub fn lines(&self, scene: &mut Scene, area: &Rect) {
        if self.lines.is_empty() {
            return;
        }
        let crowded = self.lines.len() as f64 * LINE_ROOM > self.pixels;
        let bottom = if crowded { area.y + 5.0 } else { area.bottom() };
        let segments =
            self.lines.iter().flat_map(|&at| [Segment::Move(at, area.y), Segment::Line(at, bottom)]);
        let colour = if crowded { Colour::FRAME } else { Colour(0xb0b0b0) };
        scene.path(segments.collect(), Paint::stroke(Stroke::dashed(colour, 0.8, 1.5, 2.5)));
    }

    /// The row of labels above the panel that starts at `top`.
    pub fn labels(&self, scene: &mut Scene, top: f64) {
        for (at, text) in &self.labels {
            scene.text(Text { y: top - 5.0, ..text.clone() });
            scene.line((*at, top - 2.0), (*at, top), Stroke::solid(Colour::FRAME, 0.8));
        }
    }
}

/// From left to right, each label that meets no earlier one; of events close together all names, or
/// the first and an ellipsis.
fn place_labels(groups: &[(f64, Vec<&str>)], x: &Axis) -> Vec<(f64, Text)> {
    let (left, right) = (x.pixel(x.range.lo), x.pixel(x.range.hi) + 8.0);
    let mut free = left - 8.0;
    let mut placed = Vec::new();
    for (k, (at, names)) in groups.iter().enumerate() {
        let next = groups.get(k + 1).map_or(f64::INFINITY, |g| g.0);
        for label in [names.join(", "), format!("{}, …", names[0])] {
            let width = font::width(&label, SMALL, Weight::Regular);
            let start = (at - width / 2.0).min(right - width).max(left - 8.0);
            // A name that reaches over the next event would seem to belong there.
            if start >= free && start + width <= right.min(next.max(at + width / 2.0)) {
                free = start + width + LABEL_ROOM;
                let text = Text::new(start, 0.0, SMALL, Anchor::Start, label).colour(Colour(0x555555));
                placed.push((*at, text));
                break;
            }
        }
    }
    placed
}
