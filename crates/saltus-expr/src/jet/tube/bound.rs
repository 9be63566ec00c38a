//! What is known of a row all along a step.

use crate::jet::range::Range;
use saltus_num::elementary::powi;
use saltus_num::{UNIT, greater};

/// Covers the rounding of the operations that make one bound from others.
const INFLATION: f64 = 1.0 + 128.0 * UNIT;

/// How far a row may be from its polynomial N(s), s from 0 at the start of the step to 1 at its end,
/// of order p: along the polynomials of the states by at most
///
/// start + drift s + tail s^(p+1),
///
/// of which only `start` is there at s = 0; and off them, where every state i is within e w_i of its
/// polynomial, by at most `spread` e more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Radii {
    /// Rounding of the value at the start.
    pub start: f64,
    /// Rounding of what changes.
    pub drift: f64,
    /// The terms beyond the order.
    pub tail: f64,
    /// Steepness over the states, in their weights.
    pub spread: f64,
}

impl Radii {
    #[inline(always)]
    pub(super) fn plus(self, other: Radii) -> Radii {
        Radii {
            start: self.start + other.start,
            drift: self.drift + other.drift,
            tail: self.tail + other.tail,
            spread: self.spread + other.spread,
        }
    }

    /// Times a bound of a slope.
    #[inline(always)]
    pub(super) fn times(self, slope: f64) -> Radii {
        Radii {
            start: self.start * slope,
            drift: self.drift * slope,
            tail: self.tail * slope,
            spread: self.spread * slope,
        }
    }

    /// Times a slope that may be infinite: nothing moves by no distance, however steep.
    pub(super) fn moved(self, slope: f64) -> Radii {
        if self == Radii::default() { self } else { self.times(slope) }
    }

    #[inline(always)]
    fn inflated(self) -> Radii {
        self.times(INFLATION)
    }

    /// Distance from the polynomial along those of the states, at any time.
    #[inline(always)]
    pub fn along(self) -> f64 {
        self.start + self.drift + self.tail
    }
}

/// A part of the time for which something was found, from its start on: what is left of drifts, which grow
/// with time, and of tails, which grow with a power of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub of_drift: f64,
    pub of_tail: f64,
}

impl Part {
    pub const WHOLE: Part = Part { of_drift: 1.0, of_tail: 1.0 };

    /// A share of the time, with terms up to an order in the polynomials.
    #[inline]
    pub fn new(share: f64, order: usize) -> Part {
        if share >= 1.0 {
            return Part::WHOLE;
        }
        Part {
            of_drift: share * (1.0 + 4.0 * UNIT),
            of_tail: powi(share, order as i32 + 1) * (1.0 + 64.0 * UNIT),
        }
    }
}

/// What is known of a row all along a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// All its exact values.
    pub range: Range,
    pub radii: Radii,
    /// Sum of the magnitudes of the coefficients of its polynomial from order 1 on.
    pub size: f64,
    /// A bound of its magnitude and of that of its polynomial.
    pub most: f64,
    /// What makes it unreliable, as a position in a list of obstacles.
    pub cause: Option<u32>,
}

impl Bound {
    #[inline(always)]
    pub fn new(range: Range, radii: Radii, size: f64) -> Bound {
        let radii = radii.inflated();
        let most = (greater(range.lo.abs(), range.hi.abs()) + radii.along()) * INFLATION;
        Bound { range, radii, size: size * INFLATION, most, cause: None }
    }

    /// A number that does not change.
    pub fn point(x: f64) -> Bound {
        Bound::constant(Range::point(x))
    }

    /// One of some numbers, that does not change.
    pub fn constant(range: Range) -> Bound {
        Bound { range, radii: Radii::default(), size: 0.0, most: range.magnitude(), cause: None }
    }

    /// A row that cannot be relied upon.
    pub fn unsound(cause: u32) -> Bound {
        Bound { cause: Some(cause), ..Bound::point(0.0) }
    }

    /// On the part of a step.
    pub fn on(mut self, part: Part) -> Bound {
        self.radii.drift *= part.of_drift;
        self.radii.tail *= part.of_tail;
        self
    }

    /// How far the row may be from where it is at the start, for each unit of s.
    #[inline(always)]
    pub fn variation(&self) -> f64 {
        self.size + self.radii.drift + self.radii.tail
    }

    /// True if all its numbers are finite; an infinite one makes the sum infinite or no number.
    #[inline(always)]
    pub fn is_finite(&self) -> bool {
        let Bound { range, radii, size, .. } = self;
        (range.lo - range.hi + (radii.along() + radii.spread) + size).is_finite()
    }
}
