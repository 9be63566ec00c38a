//! Ranges, axes and the frame around a panel.

use crate::font::{self, Weight};
use crate::plot::{LABEL, LEADING, SMALL};
use crate::scene::{Anchor, Colour, Paint, Rect, Scene, Stroke, Text};
use crate::ticks::{Ticks, ticks};

/// A range that is this small beside its values shows rounding errors only.
const ROUNDING: f64 = 1e-13;

/// Numbers below this, near the end of what floating point can tell apart, count as zero.
const SMALLEST: f64 = 1e-300;

/// From the lowest to the highest value, both finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub lo: f64,
    pub hi: f64,
}

impl Range {
    /// The range of all finite values; from 0 to 1 if there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Range {
        let finite = values.filter(|v| v.is_finite());
        let (lo, hi) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        if lo <= hi { Range { lo, hi } } else { Range { lo: 0.0, hi: 1.0 } }
    }

    /// Wide enough to be drawn: a single value gets room on both sides.
    pub fn widened_if_point(self) -> Range {
        let size = self.lo.abs().max(self.hi.abs());
        if self.half() > ROUNDING * size && self.half() > SMALLEST {
            return self;
        }
        let middle = self.lo / 2.0 + self.hi / 2.0;
        let half = if size <= SMALLEST { 1.0 } else { 0.05 * size };
        Range { lo: middle - half, hi: middle + half }.within_finite()
    }

    /// With room so that curves do not touch the frame.
    pub fn padded(self) -> Range {
        let range = self.widened_if_point();
        let room = 0.1 * range.half();
        Range { lo: range.lo - room, hi: range.hi + room }.within_finite()
    }

    /// At least so long, about the same middle.
    fn extended_to(self, half: f64) -> Range {
        let extra = (half - self.half()).max(0.0);
        Range { lo: self.lo - extra, hi: self.hi + extra }.within_finite()
    }

    fn within_finite(self) -> Range {
        Range { lo: self.lo.max(f64::MIN), hi: self.hi.min(f64::MAX) }
    }

    /// Half its length; the length of a range of huge numbers would overflow.
    fn half(&self) -> f64 {
        self.hi / 2.0 - self.lo / 2.0
    }
}

/// A range laid along pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub range: Range,
    from: f64,
    to: f64,
}

impl Axis {
    pub fn new(range: Range, from: f64, to: f64) -> Self {
        Self { range, from, to }
    }

    /// Where a value lies.
    pub fn pixel(&self, value: f64) -> f64 {
        let share = (value / 2.0 - self.range.lo / 2.0) / self.range.half();
        self.from + share * (self.to - self.from)
    }

    /// Its length in pixels.
    pub fn pixels(&self) -> f64 {
        (self.to - self.from).abs()
    }

    fn end(&self) -> f64 {
        self.to
    }
}

/// Marks of a vertical axis, at least two of them: a single one shows no scale.
pub fn vertical_ticks(y: &Axis) -> Ticks {
    let wanted = ((y.pixels() / 30.0) as usize).clamp(2, 8);
    let marks = |wanted| ticks(y.range.lo, y.range.hi, wanted);
    let enough = (wanted..=wanted + 4).map(marks).find(|t| t.values.len() >= 2);
    enough.unwrap_or_else(|| marks(wanted))
}

/// As many marks of a horizontal axis as their labels leave room for.
pub fn fitting_ticks(x: &Axis, size: f64) -> Ticks {
    let most = ((x.pixels() / 60.0) as usize).clamp(1, 12);
    let found =
        (1..=most).rev().map(|wanted| ticks(x.range.lo, x.range.hi, wanted)).find(|t| fits(t, x, size));
    found.unwrap_or(Ticks { values: vec![], labels: vec![], note: None })
}

fn fits(ticks: &Ticks, x: &Axis, size: f64) -> bool {
    let half = |k: usize| font::width(&ticks.labels[k], size, Weight::Regular) / 2.0;
    (1..ticks.values.len()).all(|k| {
        let apart = x.pixel(ticks.values[k]) - x.pixel(ticks.values[k - 1]);
        apart >= half(k) + half(k - 1) + 14.0
    })
}

/// Grid, frame and vertical tick labels of a panel.
pub fn frame(scene: &mut Scene, area: &Rect, x: &Axis, x_ticks: &Ticks, y: &Axis, y_ticks: &Ticks) {
    let grid = |value: f64| Stroke::solid(if value == 0.0 { Colour(0xc8c8c8) } else { Colour::GRID }, 0.8);
    for &value in &x_ticks.values {
        let at = x.pixel(value);
        scene.line((at, area.y), (at, area.bottom()), grid(value));
    }
    for (&value, label) in y_ticks.values.iter().zip(&y_ticks.labels) {
        let at = y.pixel(value);
        scene.line((area.x, at), (area.right(), at), grid(value));
        scene.line((area.x - 4.0, at), (area.x, at), Stroke::solid(Colour::FRAME, 0.8));
        let baseline = at + SMALL * font::CAP_HEIGHT / 2.0;
        scene.text(Text::new(area.x - 8.0, baseline, SMALL, Anchor::End, label.clone()));
    }
    scene.rect(*area, 0.0, Paint::stroke(Stroke::solid(Colour::FRAME, 0.8)));
}

/// Tick labels, note and label below a horizontal axis; returns the lower end.
pub fn below(scene: &mut Scene, x: &Axis, ticks: &Ticks, top: f64, label: &str) -> f64 {
    let baseline = top + 6.0 + SMALL;
    for (&value, text) in ticks.values.iter().zip(&ticks.labels) {
        let at = x.pixel(value);
        scene.line((at, top), (at, top + 4.0), Stroke::solid(Colour::FRAME, 0.8));
        scene.text(Text::new(at, baseline, SMALL, Anchor::Middle, text.clone()));
    }
    let bottom = baseline + SMALL * font::DESCENT;
    if label.is_empty() && ticks.note.is_none() {
        return bottom;
    }
    let baseline = baseline + LABEL * LEADING + 3.0;
    let note = ticks.note.clone().unwrap_or_default();
    let taken = font::width(&note, SMALL, Weight::Regular);
    scene.text(Text::new(x.end(), baseline, SMALL, Anchor::End, note));
    let room = x.pixels() - if taken > 0.0 { 2.0 * taken + 24.0 } else { 0.0 };
    let label = font::fit(label, LABEL, Weight::Regular, room);
    scene.text(Text::new(x.end() - x.pixels() / 2.0, baseline, LABEL, Anchor::Middle, label));
    baseline + LABEL * font::DESCENT
}

/// First half of equal aspect: extends the vertical range until one unit is not longer on it than on
/// a horizontal axis of at least `width` pixels.
pub fn extend_vertical(x: Range, y: Range, width: f64, height: f64) -> Range {
    y.extended_to(x.half() / width * height)
}

/// Second half of equal aspect: the width of the frame, at most `width`, and the horizontal range for
/// which one unit is equally long on both axes.
pub fn equal_width(x: Range, y: Range, width: f64, height: f64) -> (Range, f64) {
    let ratio = x.half() / y.half();
    let least = height.max(width / 3.0).min(width);
    let frame = if ratio.is_finite() { (height * ratio).clamp(least, width) } else { width };
    (x.extended_to(y.half() / height * frame), frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collection_of_numbers_has_a_usable_range() {
        let cases: [&[f64]; 6] =
            [&[], &[f64::NAN], &[0.0], &[5.0, 5.0], &[f64::MAX, f64::MIN, f64::INFINITY], &[1e-320, 2e-320]];
        for values in cases {
            let range = Range::of(values.iter().copied()).padded();
            assert!(range.lo < range.hi && range.half().is_finite(), "{values:?} {range:?}");
        }
    }

    #[test]
    fn rounding_errors_are_not_magnified() {
        let range = Range::of([20.0, 20.0 + 4e-15].into_iter()).padded();
        assert!(range.half() > 0.5);
    }

    #[test]
    fn equal_aspect_gives_both_axes_the_same_scale() {
        for (w, h) in [(10.0, 1.0), (1.0, 10.0), (1.0, 1.0)] {
            let (x, y) = (Range { lo: 0.0, hi: w }, Range { lo: 0.0, hi: h });
            let y = extend_vertical(x, y, 500.0, 300.0);
            let (x, frame) = equal_width(x, y, 600.0, 300.0);
            assert!((x.half() / frame - y.half() / 300.0).abs() < 1e-9);
            assert!(x.lo <= 0.0 && x.hi >= w && y.lo <= 0.0 && y.hi >= h && frame <= 600.0);
        }
    }
}
