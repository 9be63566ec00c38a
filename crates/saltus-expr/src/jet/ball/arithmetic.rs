//! Ball arithmetic: how far a number may be from the one that was computed.
//!
//! A [`Ball`] is a number with two radii. The number is what the jets compute, to the last bit; the
//! first radius bounds its distance to the exact coefficient at the point, so it holds rounding
//! alone; the second bounds its distance to the exact coefficient at every place of the box.
//!
//! The recurrences are those of [`recurrence::advance`], run on balls, so every rule has its radius
//! rule by construction. With x = m + d, |d| <= r, and u the unit roundoff:
//! - x + y: r + s, and u |m + n| for the rounding of the sum of the midpoints m and n;
//! - x y: |m| s + r (|n| + s), and u |m n| for the rounding;
//! - a sum of c products: the radii of the products, and (c + 3) u times the sum of the magnitudes
//!   of the products of midpoints, in whatever order they are added.
//!
//! A product that underflows is off by less than [`TINY`]. Radii are sums and products of numbers
//! that are not negative, so rounding changes them by a factor of at most 1 + d u, d being the
//! number of operations on the longest path, which is below 3 k + 24 at order k; when a coefficient
//! is stored its radii are multiplied by 1 + 256 u, which is enough up to order 64.

use crate::jet::Degree;
use crate::jet::range::TINY;
use crate::jet::recurrence::{self, Arithmetic, Lock, OldSquareTerms, OldTerms, Rule};
use crate::program::Reg;
use std::ops::RangeInclusive;

/// Half the distance from 1 to the next number.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// Covers the rounding of the radii themselves.
const INFLATION: f64 = 1.0 + 256.0 * UNIT;

/// A number and how far the exact ones may be from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ball {
    /// The number computed.
    pub mid: f64,
    /// Bounds of its distance to the exact number at the point, and all over the box.
    pub radius: [f64; 2],
}

impl Ball {
    /// The number itself.
    pub const fn exact(mid: f64) -> Ball {
        Ball { mid, radius: [0.0; 2] }
    }

    /// A number with the same radius at the point and on the box.
    pub(super) fn rounded(mid: f64, radius: f64) -> Ball {
        Ball { mid, radius: [radius; 2] }
    }

    /// Distance to the exact number at the point.
    pub fn at_point(self) -> f64 {
        self.radius[0]
    }

    /// Distance to the exact number everywhere on the box.
    pub fn on_box(self) -> f64 {
        self.radius[1]
    }

    #[inline(always)]
    pub(super) fn add(self, other: Ball) -> Ball {
        self.with_sum(other, self.mid + other.mid)
    }

    #[inline(always)]
    pub(super) fn sub(self, other: Ball) -> Ball {
        self.with_sum(other, self.mid - other.mid)
    }

    #[inline(always)]
    fn with_sum(self, other: Ball, mid: f64) -> Ball {
        let rounding = UNIT * mid.abs();
        let ([r0, r1], [s0, s1]) = (self.radius, other.radius);
        Ball { mid, radius: [r0 + s0 + rounding, r1 + s1 + rounding] }
    }

    #[inline(always)]
    pub(super) fn mul(self, other: Ball) -> Ball {
        let mid = self.mid * other.mid;
        let rounding = UNIT * mid.abs() + TINY;
        let [r0, r1] = self.spread(other);
        Ball { mid, radius: [r0 + rounding, r1 + rounding] }
    }

    /// How far the product of two balls may be from the exact product of their midpoints.
    #[inline(always)]
    fn spread(self, other: Ball) -> [f64; 2] {
        let (m, n) = (self.mid.abs(), other.mid.abs());
        let ([r0, r1], [s0, s1]) = (self.radius, other.radius);
        [m * s0 + r0 * (n + s0), m * s1 + r1 * (n + s1)]
    }

    #[inline(always)]
    pub(super) fn neg(self) -> Ball {
        Ball { mid: -self.mid, ..self }
    }

    /// With radii that cover their own rounding.
    #[inline(always)]
    pub(super) fn inflated(self) -> Ball {
        let [r0, r1] = self.radius;
        Ball { mid: self.mid, radius: [r0 * INFLATION, r1 * INFLATION] }
    }
}

/// All rows at one order.
pub(super) struct Balls<'a> {
    pub rows: &'a mut [Ball],
    pub degrees: &'a [Degree],
    pub starts: &'a [bool],
    pub locks: &'a [Ball],
    /// Coefficients per row.
    pub span: usize,
    pub k: usize,
    /// 1 / k
    pub inverse: Ball,
}

impl Balls<'_> {
    /// Computes the coefficient of order k of a row.
    #[inline(always)]
    pub(super) fn advance(&mut self, row: Reg, rule: Rule) {
        let value = recurrence::advance(self, row, rule);
        self.rows[row.index() * self.span + self.k] = value.unwrap_or_default().inflated();
    }

    #[inline(always)]
    fn factors(&self, a: Reg, b: Reg) -> Convolution<'_> {
        let row = |r: Reg| &self.rows[r.index() * self.span..(r.index() + 1) * self.span];
        Convolution { a: row(a), b: row(b), k: self.k, count: 0.0, size: 0.0, spread: [0.0; 2] }
    }
}

/// Terms a_j b_(k-j) on their way into a sum.
struct Convolution<'a> {
    a: &'a [Ball],
    b: &'a [Ball],
    k: usize,
    count: f64,
    /// Sum of the magnitudes of the products of midpoints.
    size: f64,
    spread: [f64; 2],
}

impl Convolution<'_> {
    /// The product of the midpoints; the rest is added up.
    #[inline(always)]
    fn term(&mut self, j: usize) -> f64 {
        let (x, y) = (self.a[j], self.b[self.k - j]);
        let [r0, r1] = x.spread(y);
        let mid = x.mid * y.mid;
        self.size += mid.abs();
        self.spread = [self.spread[0] + r0, self.spread[1] + r1];
        self.count += 1.0;
        mid
    }

    /// The sum over a range of j, odd and even j apart.
    #[inline(always)]
    fn parity_sums(&mut self, range: RangeInclusive<usize>) -> Option<f64> {
        let (low, high) = range.into_inner();
        if low > high {
            return None;
        }
        let mut sums = [self.term(low), 0.0];
        if low == high {
            return Some(sums[0]);
        }
        sums[1] = self.term(low + 1);
        for j in low + 2..=high {
            let term = self.term(j);
            sums[(j - low) % 2] += term;
        }
        Some(sums[0] + sums[1])
    }

    #[inline(always)]
    fn ball(&self, mid: f64) -> Ball {
        let rounding = (self.count + 3.0) * (UNIT * self.size + TINY);
        Ball { mid, radius: [self.spread[0] + rounding, self.spread[1] + rounding] }
    }

    fn old(mut self, terms: OldTerms) -> Option<Ball> {
        let middle = self.parity_sums(terms.middle);
        let low = terms.low_edge.then(|| self.term(1));
        let high = terms.high_edge.then(|| self.term(self.k - 1));
        sum(middle, sum(low, high)).map(|mid| self.ball(mid))
    }

    fn old_square(mut self, terms: OldSquareTerms) -> Option<Ball> {
        let middle = self.parity_sums(terms.middle);
        let edge = terms.edge.then(|| self.term(1));
        let twice = sum(middle, edge).map(|s| s + s);
        self.size += self.size;
        self.spread = [2.0 * self.spread[0], 2.0 * self.spread[1]];
        let centre = terms.centre.map(|j| self.term(j));
        sum(twice, centre).map(|mid| self.ball(mid))
    }
}

#[inline(always)]
fn sum(x: Option<f64>, y: Option<f64>) -> Option<f64> {
    match (x, y) {
        (Some(x), Some(y)) => Some(x + y),
        (x, y) => x.or(y),
    }
}

impl Arithmetic for Balls<'_> {
    type Value = Ball;

    #[inline(always)]
    fn now(&mut self, row: Reg) -> Option<Ball> {
        self.degrees[row.index()].reaches(self.k).then(|| self.rows[row.index() * self.span + self.k])
    }

    #[inline(always)]
    fn first(&mut self, row: Reg) -> Option<Ball> {
        self.starts[row.index()].then(|| self.rows[row.index() * self.span])
    }

    #[inline(always)]
    fn old(&mut self, a: Reg, b: Reg) -> Option<Ball> {
        let terms = OldTerms::of_product(self.k, self.degrees[a.index()], self.degrees[b.index()]);
        if !terms.low_edge && !terms.high_edge && terms.middle.is_empty() {
            return None;
        }
        self.factors(a, b).old(terms)
    }

    #[inline(always)]
    fn old_square(&mut self, a: Reg) -> Option<Ball> {
        let terms = OldSquareTerms::of_square(self.k, self.degrees[a.index()]);
        self.factors(a, a).old_square(terms)
    }

    #[inline(always)]
    fn lock(&mut self, lock: Lock) -> Ball {
        self.locks[lock.0 as usize]
    }

    #[inline(always)]
    fn order(&mut self) -> Ball {
        Ball::exact(self.k as f64)
    }

    #[inline(always)]
    fn inverse_order(&mut self) -> Ball {
        self.inverse
    }

    #[inline(always)]
    fn add(&mut self, x: Ball, y: Ball) -> Ball {
        x.add(y)
    }

    #[inline(always)]
    fn sub(&mut self, x: Ball, y: Ball) -> Ball {
        x.sub(y)
    }

    #[inline(always)]
    fn mul(&mut self, x: Ball, y: Ball) -> Ball {
        x.mul(y)
    }

    #[inline(always)]
    fn neg(&mut self, x: Ball) -> Ball {
        x.neg()
    }

    #[inline(always)]
    fn steer(&mut self, first: Ball, x: Option<Ball>, y: Option<Ball>) -> Ball {
        if first.mid != 0.0 { x.unwrap_or_default() } else { y.unwrap_or_default() }
    }
}
