//! The layout of a figure: from curves, modes and events to a scene.
//!
//! Margins follow from the widths of the texts that go into them, so nothing is cut and no text
//! meets another. From top to bottom: title, event labels, the panels over the shared axis, the
//! modes, the axis, the key of the modes, then panels with axes of their own.

mod axes;
mod bands;
mod curves;
mod legend;
mod marks;

use crate::figure::{Figure, Horizontal, Panel, with_unit};
use crate::font::{self, Weight};
use crate::scene::{Anchor, Rect, Scene, Text};
use crate::ticks::Ticks;
use axes::{Axis, Range};

/// Font size of tick labels, legends and mode names.
const SMALL: f64 = 11.0;
/// Font size of axis labels.
const LABEL: f64 = 12.0;
/// Font size of the title.
const TITLE: f64 = 14.0;
/// From the baseline of one line to that of the next, in font sizes.
const LEADING: f64 = 1.25;
/// Free space around the picture.
const EDGE: f64 = 12.0;
/// Space to the right of the axes, for half a tick label.
const RIGHT: f64 = 12.0;
/// Space between panels that share an axis.
const PANEL_GAP: f64 = 12.0;

/// Size of a figure in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Width of the whole picture.
    pub width: f64,
    /// Height of one panel; if absent, it follows from their number.
    pub panel_height: Option<f64>,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: 720.0, panel_height: None }
    }
}

/// Lays out a figure.
pub fn scene(figure: &Figure, style: &Style) -> Scene {
    Layout::new(figure, style).build()
}

/// What is known about a panel before it is drawn.
struct Prepared<'a> {
    panel: &'a Panel,
    /// Range of an own horizontal axis.
    x: Range,
    y: Range,
    ticks: Ticks,
    label: Vec<String>,
    legend: legend::Legend,
    width: f64,
    height: f64,
    /// Height of the row of event labels between header and axes.
    labels_above: f64,
}

struct Layout<'a> {
    figure: &'a Figure,
    scene: Scene,
    shared: Vec<Prepared<'a>>,
    own: Vec<Prepared<'a>>,
    left: f64,
    tick_room: f64,
    plot_width: f64,
    cursor: f64,
    /// Right end of what needs its place: the title and panels with axes of their own.
    used: f64,
}

impl<'a> Layout<'a> {
    fn new(figure: &'a Figure, style: &Style) -> Self {
        let width = style.width.clamp(200.0, 10_000.0);
        let over_time = figure.panels.iter().filter(|p| p.horizontal == Horizontal::Shared).count();
        let usual = [300.0, 300.0, 190.0, 140.0][over_time.min(3)];
        let height = style.panel_height.unwrap_or(usual).clamp(40.0, 10_000.0);
        let least_width = (width - 2.0 * EDGE - RIGHT - (0.2 * width).max(130.0)).max(40.0);
        let prepared = |shared: bool| {
            let chosen = figure.panels.iter().filter(move |p| (p.horizontal == Horizontal::Shared) == shared);
            let height = if shared { height } else { style.panel_height.unwrap_or(300.0).max(120.0) };
            chosen.map(|p| prepare(p, height, least_width)).collect::<Vec<_>>()
        };
        let (mut shared, mut own) = (prepared(true), prepared(false));
        let tick_room = shared.iter().chain(&own).map(|p| widest(&p.ticks.labels)).fold(0.0, f64::max);
        let label_lines = shared.iter().chain(&own).map(|p| p.label.len()).max().unwrap_or(0);
        let beside = 8.0 + tick_room + 8.0 + label_lines as f64 * LABEL * LEADING;
        let left = EDGE + beside.max(30.0).max(names_room(figure, width));
        let plot_width = width - left - EDGE - RIGHT;
        for panel in shared.iter_mut().chain(&mut own) {
            panel.fill_width(plot_width);
        }
        let scene = Scene { width, height: 0.0, title: figure.title.clone(), items: vec![] };
        Self { figure, scene, shared, own, left, tick_room, plot_width, cursor: EDGE, used: 0.0 }
    }

    fn build(mut self) -> Scene {
        self.title();
        self.shared_panels();
        for k in 0..self.own.len() {
            self.own_panel(k);
        }
        self.scene.height = (self.cursor + EDGE).ceil();
        if !self.over_time() && self.used > 0.0 {
            self.scene.width = (self.used + EDGE + RIGHT).ceil();
        }
        self.scene
    }

    /// Whether anything is drawn over the shared axis.
    fn over_time(&self) -> bool {
        !(self.shared.is_empty() && self.figure.bands.is_empty())
    }

    fn title(&mut self) {
        let lines = font::wrap(&self.figure.title, TITLE, Weight::Bold, self.scene.width - 2.0 * EDGE);
        for line in lines {
            let line = font::fit(&line, TITLE, Weight::Bold, self.scene.width - 2.0 * EDGE);
            self.cursor += TITLE;
            let line = Text::new(EDGE, self.cursor, TITLE, Anchor::Start, line).bold();
            self.used = self.used.max(line.area().right() - RIGHT);
            self.scene.text(line);
            self.cursor += TITLE * (LEADING - 1.0);
        }
        if !self.figure.title.is_empty() {
            self.cursor += 8.0;
        }
    }

    fn shared_panels(&mut self) {
        if !self.over_time() {
            return;
        }
        let range = shared_range(self.figure, &self.shared);
        let x = Axis::new(range, self.left, self.left + self.plot_width);
        let ticks = axes::fitting_ticks(&x, SMALL);
        let marks = marks::Marks::new(self.figure, &x);
        if let Some(first) = self.shared.first_mut() {
            first.labels_above = marks.labels_height();
        }
        let mut marked = Vec::new();
        for prepared in &self.shared {
            let area = panel_area(prepared, self.left, &mut self.cursor);
            let y = Axis::new(prepared.y, area.bottom(), area.y);
            axes::frame(&mut self.scene, &area, &x, &ticks, &y, &prepared.ticks);
            marked.push((area, y));
            self.cursor = area.bottom() + PANEL_GAP;
        }
        for (area, _) in &marked {
            marks.lines(&mut self.scene, area);
        }
        if let Some((first, _)) = marked.first() {
            marks.labels(&mut self.scene, first.y);
        }
        for (prepared, (area, y)) in self.shared.iter().zip(&marked) {
            prepared.decorate(&mut self.scene, area, self.tick_room);
            curves::draw(&mut self.scene, &prepared.panel.series, &x, y, curves::Kind::OverTime);
        }
        let colours = bands::Colours::new(&self.figure.bands);
        for band in &self.figure.bands {
            let area = Rect::new(self.left, self.cursor, self.plot_width, bands::HEIGHT);
            bands::draw(&mut self.scene, band, &area, &x, &colours);
            self.cursor += bands::HEIGHT + bands::GAP;
        }
        self.cursor -= if self.figure.bands.is_empty() { PANEL_GAP } else { bands::GAP };
        self.horizontal_axis(&x, &ticks, &self.figure.x_label);
        bands::key(
            &mut self.scene,
            &self.figure.bands,
            &colours,
            &x,
            self.left,
            self.plot_width,
            &mut self.cursor,
        );
    }

    /// Tick labels, axis label and note under the lowest panel.
    fn horizontal_axis(&mut self, x: &Axis, ticks: &Ticks, label: &str) {
        self.cursor = axes::below(&mut self.scene, x, ticks, self.cursor, label);
    }

    fn own_panel(&mut self, k: usize) {
        let prepared = &self.own[k];
        let Horizontal::Own { label, .. } = &prepared.panel.horizontal else { return };
        if k > 0 || self.over_time() {
            self.cursor += 14.0;
        }
        let area = panel_area(prepared, self.left, &mut self.cursor);
        let x = Axis::new(prepared.x, area.x, area.right());
        let y = Axis::new(prepared.y, area.bottom(), area.y);
        let ticks = axes::fitting_ticks(&x, SMALL);
        axes::frame(&mut self.scene, &area, &x, &ticks, &y, &prepared.ticks);
        prepared.decorate(&mut self.scene, &area, self.tick_room);
        curves::draw(&mut self.scene, &prepared.panel.series, &x, &y, curves::Kind::Phase);
        self.cursor = area.bottom();
        self.used = self.used.max(area.right());
        let label = label.clone();
        self.horizontal_axis(&x, &ticks, &label);
    }
}

impl Prepared<'_> {
    /// Settles the width of the axes and with it what depends on it.
    fn fill_width(&mut self, width: f64) {
        self.width = width;
        if has_equal_aspect(self.panel) {
            (self.x, self.width) = axes::equal_width(self.x, self.y, width, self.height);
        }
        // The key leaves room for the note of the vertical axis.
        let note = self.ticks.note.as_ref().map_or(0.0, |n| font::width(n, SMALL, Weight::Regular) + 16.0);
        self.legend = legend::Legend::new(self.panel, !shares_unit(self.panel), self.width - note);
    }

    /// Height of what stands above the axes: key of the curves and note of the vertical axis.
    fn header_height(&self) -> f64 {
        let rows = self.legend.rows().max(usize::from(self.ticks.note.is_some()));
        if rows == 0 { 0.0 } else { rows as f64 * legend::ROW + 4.0 }
    }

    /// Axis label, key and note; `tick_room` is the width of the tick labels of all panels, for the
    /// axis labels to be aligned.
    fn decorate(&self, scene: &mut Scene, area: &Rect, tick_room: f64) {
        let middle = area.y + area.h / 2.0;
        for (k, line) in self.label.iter().rev().enumerate() {
            let x = area.x - 8.0 - tick_room - 8.0 - k as f64 * LABEL * LEADING;
            scene.text(Text::new(x, middle, LABEL, Anchor::Middle, line.clone()).upwards());
        }
        let top = area.y - self.labels_above - self.header_height();
        let note = self.ticks.note.clone().unwrap_or_default();
        scene.text(Text::new(area.x, top + SMALL, SMALL, Anchor::Start, note));
        self.legend.draw(scene, area, top);
    }
}

/// Reserves the place of a panel below the cursor and returns where its axes are.
fn panel_area(prepared: &Prepared<'_>, left: f64, cursor: &mut f64) -> Rect {
    *cursor += prepared.header_height() + prepared.labels_above;
    let area = Rect::new(left, *cursor, prepared.width, prepared.height);
    *cursor = area.bottom();
    area
}

/// Ranges, ticks and labels of a panel whose axes will be at least `least_width` wide.
fn prepare(panel: &Panel, height: f64, least_width: f64) -> Prepared<'_> {
    let points = || panel.series.iter().flat_map(|s| s.pieces.iter().flatten());
    let x = Range::of(points().map(|p| p.0)).padded();
    let mut y = Range::of(points().map(|p| p.1)).padded();
    if has_equal_aspect(panel) {
        y = axes::extend_vertical(x, y, least_width, height);
    }
    let ticks = axes::vertical_ticks(&Axis::new(y, height, 0.0));
    let label = wrapped_label(&vertical_label(panel), height);
    let legend = legend::Legend::default();
    Prepared { panel, x, y, ticks, label, legend, width: least_width, height, labels_above: 0.0 }
}

fn has_equal_aspect(panel: &Panel) -> bool {
    matches!(panel.horizontal, Horizontal::Own { equal_aspect: true, .. })
}

/// The axis label: as given, else the only curve's name, else the unit all curves share.
fn vertical_label(panel: &Panel) -> String {
    if let Some(label) = &panel.y_label {
        return label.clone();
    }
    match panel.series.as_slice() {
        [] => String::new(),
        [only] => with_unit(&only.label, only.unit.as_deref()),
        [first, ..] => {
            if shares_unit(panel) {
                with_unit("", first.unit.as_deref())
            } else {
                String::new()
            }
        }
    }
}

fn shares_unit(panel: &Panel) -> bool {
    panel.series.windows(2).all(|w| w[0].unit == w[1].unit)
}

/// At most two lines that fit the height of the panel.
fn wrapped_label(label: &str, height: f64) -> Vec<String> {
    let available = height + 2.0;
    let mut lines = font::wrap(label, LABEL, Weight::Regular, available);
    if lines.len() > 2 {
        let rest = lines.split_off(1).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| font::fit(line, LABEL, Weight::Regular, available)).collect()
}

fn widest(labels: &[String]) -> f64 {
    labels.iter().map(|l| font::width(l, SMALL, Weight::Regular)).fold(0.0, f64::max)
}

/// Width of the names of automata beside their modes.
fn names_room(figure: &Figure, width: f64) -> f64 {
    let names = figure.bands.iter().map(|b| font::width(&b.automaton, SMALL, Weight::Regular) + 8.0);
    names.fold(0.0, f64::max).min(width * 0.2)
}

/// The range of the shared axis: everything that is drawn over it.
fn shared_range(figure: &Figure, shared: &[Prepared<'_>]) -> Range {
    let curves =
        shared.iter().flat_map(|p| &p.panel.series).flat_map(|s| s.pieces.iter().flatten()).map(|p| p.0);
    let spans = figure.bands.iter().flat_map(|b| &b.spans).flat_map(|s| [s.t0, s.t1]);
    Range::of(curves.chain(spans)).widened_if_point()
}
