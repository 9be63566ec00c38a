//! One order of a group of lanes.
//!
//! Neighbouring lanes are taken four at a time as one value, the rest one by one; the recurrences
//! are the same code for both. Sums of old terms are functions of their own, so that the
//! interpreter's loop stays small.

use super::lower::Lowered;
use super::recurrence::{self, Arithmetic, Lock, OldSquareTerms, OldTerms, Rule};
use crate::program::Reg;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

/// Some neighbouring lanes as one value.
pub(super) trait Pack: Copy {
    fn load(from: &[f64], at: usize) -> Self;
    fn store(self, to: &mut [f64], at: usize);
    fn splat(x: f64) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn neg(self) -> Self;
    /// Lane by lane, x where `first` is not zero, else y.
    fn select(first: Self, x: Self, y: Self) -> Self;
}

impl Pack for f64 {
    #[inline(always)]
    fn load(from: &[f64], at: usize) -> Self {
        from[at]
    }

    #[inline(always)]
    fn store(self, to: &mut [f64], at: usize) {
        to[at] = self;
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self - other
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    fn neg(self) -> Self {
        -self
    }

    #[inline(always)]
    fn select(first: Self, x: Self, y: Self) -> Self {
        if first != 0.0 { x } else { y }
    }
}

impl<const N: usize> Pack for [f64; N] {
    #[inline(always)]
    fn load(from: &[f64], at: usize) -> Self {
        let some = &from[at..at + N];
        std::array::from_fn(|i| some[i])
    }

    #[inline(always)]
    fn store(self, to: &mut [f64], at: usize) {
        to[at..at + N].copy_from_slice(&self);
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        [x; N]
    }

    #[inline(always)]
    fn add(self, y: Self) -> Self {
        std::array::from_fn(|i| self[i] + y[i])
    }

    #[inline(always)]
    fn sub(self, y: Self) -> Self {
        std::array::from_fn(|i| self[i] - y[i])
    }

    #[inline(always)]
    fn mul(self, y: Self) -> Self {
        std::array::from_fn(|i| self[i] * y[i])
    }

    #[inline(always)]
    fn neg(self) -> Self {
        std::array::from_fn(|i| -self[i])
    }

    #[inline(always)]
    fn select(first: Self, x: Self, y: Self) -> Self {
        std::array::from_fn(|i| f64::select(first[i], x[i], y[i]))
    }
}

/// An order and the shape of the memory.
#[derive(Clone, Copy)]
pub(super) struct Order {
    pub k: usize,
    /// 1 / k
    pub inverse: f64,
    /// Coefficients per row.
    pub span: usize,
    /// Distance between coefficients.
    pub lanes: usize,
}

/// Computes the coefficients of order k of all nodes in the lanes from `lane` on.
pub(super) fn advance<P: Pack>(
    lowered: &Lowered,
    rows: &mut [f64],
    locks: &[f64],
    order: Order,
    lane: usize,
) {
    let first = lowered.first_node();
    let mut lanes = Lanes::<P>::new(lowered, rows, locks, order, lane);
    for ((y, node), degree) in (first..).zip(&lowered.nodes).zip(&lowered.degrees[first..]) {
        if degree.reaches(order.k) {
            lanes.advance(y, node.rule);
        }
    }
}

/// Computes the coefficients from order 1 on of a row by its rule, in the lanes from `lane` on.
pub(super) fn complete<P: Pack>(
    lowered: &Lowered,
    (y, rule): (usize, Rule),
    (rows, locks): (&mut [f64], &[f64]),
    (shape, inverses): (Order, &[f64]),
    lane: usize,
) {
    let mut lanes = Lanes::<P>::new(lowered, rows, locks, shape, lane);
    let reached = lowered.degrees[y].bound().map_or(shape.span, |d| shape.span.min(d + 1));
    for (k, &inverse) in inverses.iter().enumerate().take(reached).skip(1) {
        lanes.order = Order { k, inverse, ..shape };
        lanes.now = k * shape.lanes + lane;
        lanes.advance(y, rule);
    }
}

/// The arithmetic of some lanes at one order.
struct Lanes<'a, P> {
    lowered: &'a Lowered,
    rows: &'a mut [f64],
    locks: &'a [f64],
    order: Order,
    lane: usize,
    /// Position of the present coefficient in a row.
    now: usize,
    /// Distance between rows.
    stride: usize,
    pack: PhantomData<P>,
}

/// Two rows from the lane of interest on, to be convolved.
#[derive(Clone, Copy)]
struct Factors<'a> {
    a: &'a [f64],
    b: &'a [f64],
    k: usize,
}

impl Factors<'_> {
    #[inline(always)]
    fn term<P: Pack>(self, j: usize, lanes: usize) -> P {
        P::load(self.a, j * lanes).mul(P::load(self.b, (self.k - j) * lanes))
    }

    /// The sum over a range of j of a_j b_(k-j), odd and even j apart.
    #[inline(always)]
    fn parity_sums<P: Pack>(self, range: RangeInclusive<usize>, lanes: usize) -> Option<P> {
        let (low, high) = range.into_inner();
        if low > high {
            return None;
        }
        let mut same: P = self.term(low, lanes);
        if low == high {
            return Some(same);
        }
        let mut other: P = self.term(low + 1, lanes);
        let mut j = low + 2;
        while j < high {
            same = same.add(self.term(j, lanes));
            other = other.add(self.term(j + 1, lanes));
            j += 2;
        }
        if j == high {
            same = same.add(self.term(j, lanes));
        }
        Some(same.add(other))
    }

    #[inline(always)]
    fn old<P: Pack>(self, terms: OldTerms, lanes: usize) -> Option<P> {
        let middle = self.parity_sums(terms.middle, lanes);
        let low = terms.low_edge.then(|| self.term::<P>(1, lanes));
        let high = terms.high_edge.then(|| self.term::<P>(self.k - 1, lanes));
        sum(middle, sum(low, high))
    }

    #[inline(always)]
    fn old_square<P: Pack>(self, terms: OldSquareTerms, lanes: usize) -> Option<P> {
        let middle = self.parity_sums(terms.middle, lanes);
        let edge = terms.edge.then(|| self.term::<P>(1, lanes));
        let twice = sum(middle, edge).map(|s| s.add(s));
        sum(twice, terms.centre.map(|j| self.term(j, lanes)))
    }
}

#[inline(always)]
fn sum<P: Pack>(x: Option<P>, y: Option<P>) -> Option<P> {
    match (x, y) {
        (Some(x), Some(y)) => Some(x.add(y)),
        (x, y) => x.or(y),
    }
}

// A row of a single lane is contiguous, which the compiler should know.

#[inline(never)]
fn old<P: Pack>(factors: Factors, terms: OldTerms, lanes: usize) -> Option<P> {
    if lanes == 1 { factors.old(terms, 1) } else { factors.old(terms, lanes) }
}

#[inline(never)]
fn old_square<P: Pack>(factors: Factors, terms: OldSquareTerms, lanes: usize) -> Option<P> {
    if lanes == 1 { factors.old_square(terms, 1) } else { factors.old_square(terms, lanes) }
}

impl<'a, P: Pack> Lanes<'a, P> {
    fn new(lowered: &'a Lowered, rows: &'a mut [f64], locks: &'a [f64], order: Order, lane: usize) -> Self {
        let (now, stride) = (order.k * order.lanes + lane, order.span * order.lanes);
        Lanes { lowered, rows, locks, order, lane, now, stride, pack: PhantomData }
    }

    /// The present coefficient of a row by its rule.
    #[inline(always)]
    fn advance(&mut self, y: usize, rule: Rule) {
        if let Some(value) = recurrence::advance(self, Reg(y as u32), rule) {
            value.store(self.rows, y * self.stride + self.now);
        }
    }

    #[inline(always)]
    fn factors(&self, a: Reg, b: Reg) -> Factors<'_> {
        let row = |r: Reg| &self.rows[r.index() * self.stride + self.lane..(r.index() + 1) * self.stride];
        Factors { a: row(a), b: row(b), k: self.order.k }
    }
}

impl<P: Pack> Arithmetic for Lanes<'_, P> {
    type Value = P;

    #[inline(always)]
    fn now(&mut self, row: Reg) -> Option<P> {
        let reaches = self.lowered.degrees[row.index()].reaches(self.order.k);
        reaches.then(|| P::load(self.rows, row.index() * self.stride + self.now))
    }

    #[inline(always)]
    fn first(&mut self, row: Reg) -> Option<P> {
        self.lowered.starts[row.index()].then(|| P::load(self.rows, row.index() * self.stride + self.lane))
    }

    #[inline(always)]
    fn old(&mut self, a: Reg, b: Reg) -> Option<P> {
        let degrees = &self.lowered.degrees;
        let terms = OldTerms::of_product(self.order.k, degrees[a.index()], degrees[b.index()]);
        if !terms.low_edge && !terms.high_edge && terms.middle.is_empty() {
            return None;
        }
        old(self.factors(a, b), terms, self.order.lanes)
    }

    #[inline(always)]
    fn old_square(&mut self, a: Reg) -> Option<P> {
        let terms = OldSquareTerms::of_square(self.order.k, self.lowered.degrees[a.index()]);
        old_square(self.factors(a, a), terms, self.order.lanes)
    }

    #[inline(always)]
    fn lock(&mut self, lock: Lock) -> P {
        P::load(self.locks, lock.0 as usize * self.order.lanes + self.lane)
    }

    #[inline(always)]
    fn order(&mut self) -> P {
        P::splat(self.order.k as f64)
    }

    #[inline(always)]
    fn inverse_order(&mut self) -> P {
        P::splat(self.order.inverse)
    }

    #[inline(always)]
    fn add(&mut self, x: P, y: P) -> P {
        x.add(y)
    }

    #[inline(always)]
    fn sub(&mut self, x: P, y: P) -> P {
        x.sub(y)
    }

    #[inline(always)]
    fn mul(&mut self, x: P, y: P) -> P {
        x.mul(y)
    }

    #[inline(always)]
    fn neg(&mut self, x: P) -> P {
        x.neg()
    }

    #[inline(always)]
    fn steer(&mut self, first: P, x: Option<P>, y: Option<P>) -> P {
        let zero = P::splat(0.0);
        P::select(first, x.unwrap_or(zero), y.unwrap_or(zero))
    }
}
