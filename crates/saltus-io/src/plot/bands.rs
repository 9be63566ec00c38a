//! Modes over time: a coloured strip for each automaton.
//!
//! A stay carries its mode's name where that fits; modes whose name fits nowhere are explained in a
//! key. Stays too short to be seen one by one are gathered into small columns that show the share of
//! time spent in each mode, so chattering stays readable.

use crate::figure::Band;
use crate::font::{self, Weight};
use crate::plot::SMALL;
use crate::plot::axes::Axis;
use crate::scene::{AREAS, Anchor, Colour, Paint, Rect, Scene, Stroke, Text};

/// Height of a strip.
pub const HEIGHT: f64 = 18.0;
/// Space between strips.
pub const GAP: f64 = 4.0;
/// Height of a row of the key.
const KEY_ROW: f64 = 16.0;
/// Shorter stays are gathered.
const SHORTEST: f64 = 1.5;
/// Least width of the columns that gather them.
const COLUMN: f64 = 4.0;
/// Stays in such a column: enough for a steady share of time.
const GATHERED: f64 = 12.0;

/// The modes of a figure in order of appearance; modes of the same name have the same colour in
/// every strip.
pub struct Colours<'a> {
    modes: Vec<&'a str>,
}

impl<'a> Colours<'a> {
    /// Modes in order of appearance.
    pub fn new(bands: &'a [Band]) -> Self {
        let mut modes: Vec<&str> = Vec::new();
        for span in bands.iter().flat_map(|b| &b.spans) {
            if !modes.contains(&span.mode.as_str()) {
                modes.push(&span.mode);
            }
        }
        Self { modes }
    }

    fn index(&self, mode: &str) -> usize {
        self.modes.iter().position(|&m| m == mode).unwrap_or(0)
    }
}

fn colour(mode: usize) -> Colour {
    AREAS[mode % AREAS.len()].darker(0.12 * ((mode / AREAS.len()) % 4) as f64)
}

/// A stay in pixels.
struct Stay {
    from: f64,
    to: f64,
    mode: usize,
}

fn stays(band: &Band, x: &Axis, colours: &Colours<'_>) -> Vec<Stay> {
    let finite = band.spans.iter().filter(|s| s.t0.is_finite() && s.t1 >= s.t0);
    let mut stays: Vec<Stay> = Vec::new();
    for span in finite {
        let (from, to) = (x.pixel(span.t0), x.pixel(span.t1.min(x.range.hi)));
        let mode = colours.index(&span.mode);
        match stays.last_mut() {
            Some(last) if last.mode == mode && from - last.to < 0.01 => last.to = to,
            _ => stays.push(Stay { from, to, mode }),
        }
    }
    stays
}

fn label_fits(name: &str, stay: &Stay) -> bool {
    font::width(name, SMALL, Weight::Regular) + 8.0 <= stay.to - stay.from
}

/// Draws the strip of one automaton.
pub fn draw(scene: &mut Scene, band: &Band, area: &Rect, x: &Axis, colours: &Colours<'_>) {
    let room = area.x - 8.0 - 4.0;
    let baseline = area.y + area.h / 2.0 + SMALL * font::CAP_HEIGHT / 2.0;
    let name = font::fit(&band.automaton, SMALL, Weight::Regular, room);
    scene.text(Text::new(area.x - 8.0, baseline, SMALL, Anchor::End, name));
    let stays = stays(band, x, colours);
    for group in stays.chunk_by(|a, b| is_short(a) && is_short(b) && b.from - a.to < 0.01) {
        if is_short(&group[0]) {
            gathered(scene, group, area);
        } else {
            group.iter().for_each(|stay| one_stay(scene, stay, &colours.modes, area, baseline));
        }
    }
    scene.rect(*area, 0.0, Paint::stroke(Stroke::solid(Colour::FRAME, 0.6)));
}

fn is_short(stay: &Stay) -> bool {
    stay.to - stay.from < SHORTEST
}

fn one_stay(scene: &mut Scene, stay: &Stay, modes: &[&str], area: &Rect, baseline: f64) {
    let place = Rect::new(stay.from, area.y, stay.to - stay.from, area.h);
    scene.rect(place, 0.0, Paint::fill(colour(stay.mode)));
    if place.w > 6.0 && place.right() < area.right() - 0.5 {
        let border = Stroke::solid(Colour::WHITE, 0.8);
        scene.line((place.right(), area.y), (place.right(), area.bottom()), border);
    }
    let name = modes[stay.mode];
    if label_fits(name, stay) {
        scene.text(Text::new(place.x + place.w / 2.0, baseline, SMALL, Anchor::Middle, name));
    }
}

/// Columns of equal width, each divided by the time spent in each mode.
fn gathered(scene: &mut Scene, group: &[Stay], area: &Rect) {
    let (from, to) = (group[0].from, group[group.len() - 1].to);
    let wide = COLUMN.max(GATHERED * (to - from) / group.len() as f64);
    let columns = ((to - from) / wide).floor().max(1.0);
    let width = ((to - from) / columns).max(1e-9);
    let modes = group.iter().map(|s| s.mode).max().unwrap_or(0) + 1;
    let mut first = 0;
    for k in 0..columns as usize {
        let (left, right) = (from + k as f64 * width, from + (k + 1) as f64 * width);
        let mut share = vec![0.0; modes];
        while first < group.len() && group[first].to <= left {
            first += 1;
        }
        for stay in group[first..].iter().take_while(|s| s.from < right) {
            share[stay.mode] += (stay.to.min(right) - stay.from.max(left)).max(0.0) / width;
        }
        let mut top = area.y;
        for (mode, share) in share.into_iter().enumerate().filter(|(_, share)| *share > 0.0) {
            // At least a hair wide, for a stay of no duration still is a stay; and a hair into the
            // next column, for no seam to show.
            let overlap = if right + 0.5 < to { 0.5 } else { 0.0 };
            let place = Rect::new(left, top, (width + overlap).max(0.5), share * area.h);
            scene.rect(place, 0.0, Paint::fill(colour(mode)));
            top = place.bottom();
        }
    }
}

/// Explains the colours of modes whose name fits nowhere in their strip.
pub fn key(
    scene: &mut Scene,
    bands: &[Band],
    colours: &Colours<'_>,
    x: &Axis,
    left: f64,
    width: f64,
    cursor: &mut f64,
) {
    let stays: Vec<Stay> = bands.iter().flat_map(|band| stays(band, x, colours)).collect();
    let unnamed = |mode: usize| !stays.iter().any(|s| s.mode == mode && label_fits(colours.modes[mode], s));
    let modes: Vec<usize> = (0..colours.modes.len()).filter(|&mode| unnamed(mode)).collect();
    if modes.is_empty() {
        return;
    }
    *cursor += 10.0;
    let mut x = left;
    for mode in modes {
        let name = font::fit(colours.modes[mode], SMALL, Weight::Regular, width - 18.0);
        let needed = 15.0 + font::width(&name, SMALL, Weight::Regular);
        if x > left && x + needed > left + width {
            x = left;
            *cursor += KEY_ROW;
        }
        let baseline = *cursor + SMALL;
        let swatch = Rect::new(x, baseline - 9.0, 10.0, 10.0);
        scene.rect(swatch, 0.0, Paint::both(colour(mode), Stroke::solid(Colour::FRAME, 0.5)));
        scene.text(Text::new(x + 15.0, baseline, SMALL, Anchor::Start, name));
        x += needed + 16.0;
    }
    *cursor += KEY_ROW;
}
