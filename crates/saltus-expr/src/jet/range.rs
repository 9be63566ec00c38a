//! Ranges: inf-sup intervals that are bounded and cheap.
//!
//! The ends are computed in ordinary arithmetic and then moved outward by twice the unit roundoff
//! and a little for underflow, so a result holds the exact values and also the computed ones.
//! Where ends are not finite a product of zero and infinity counts as zero, or as NaN if there is
//! nothing else; the caller finds results that are not finite.

use saltus_num::interval::Interval;

/// More than the error of a product by underflow; its square is still an ordinary number.
pub(super) const TINY: f64 = 1e-140;

/// All numbers from `lo` to `hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub lo: f64,
    pub hi: f64,
}

fn down(x: f64) -> f64 {
    x - (x.abs() * f64::EPSILON + TINY)
}

fn up(x: f64) -> f64 {
    x + (x.abs() * f64::EPSILON + TINY)
}

impl Range {
    pub const TRUTH: Range = Range { lo: 0.0, hi: 1.0 };

    pub fn point(x: f64) -> Range {
        Range { lo: x, hi: x }
    }

    pub fn of(interval: Interval) -> Range {
        Range { lo: interval.lo(), hi: interval.hi() }
    }

    pub fn interval(self) -> Interval {
        Interval::new(self.lo, self.hi)
    }

    pub fn is_point(self) -> bool {
        self.lo == self.hi
    }

    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    pub fn mignitude(self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }

    /// Wide enough for a number, and for as many beyond it as the range grows.
    pub fn extended(self, x: f64) -> Range {
        let size = self.hi - self.lo;
        let lo = if x < self.lo { x - (self.lo - x) - 0.5 * size } else { self.lo };
        let hi = if x > self.hi { x + (x - self.hi) + 0.5 * size } else { self.hi };
        Range { lo, hi }
    }

    fn outward(self) -> Range {
        Range { lo: down(self.lo), hi: up(self.hi) }
    }

    pub fn neg(self) -> Range {
        Range { lo: -self.hi, hi: -self.lo }
    }

    pub fn add(self, other: Range) -> Range {
        Range { lo: self.lo + other.lo, hi: self.hi + other.hi }.outward()
    }

    pub fn sub(self, other: Range) -> Range {
        self.add(other.neg())
    }

    pub fn mul(self, other: Range) -> Range {
        let ends = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let lo = ends[0].min(ends[1]).min(ends[2].min(ends[3]));
        let hi = ends[0].max(ends[1]).max(ends[2].max(ends[3]));
        Range { lo, hi }.outward()
    }

    pub fn square(self) -> Range {
        let (small, large) = (self.mignitude(), self.magnitude());
        let square = Range { lo: small * small, hi: large * large }.outward();
        Range { lo: square.lo.max(0.0), ..square }
    }

    /// The quotient by a range without zero.
    pub fn div(self, other: Range) -> Range {
        if other.hi < 0.0 {
            return self.neg().div(other.neg());
        }
        let lo = self.lo / if self.lo >= 0.0 { other.hi } else { other.lo };
        let hi = self.hi / if self.hi >= 0.0 { other.lo } else { other.hi };
        Range { lo, hi }.outward()
    }

    pub fn abs(self) -> Range {
        Range { lo: self.mignitude(), hi: self.magnitude() }
    }

    pub fn intersection(self, other: Range) -> Range {
        Range { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }
}
