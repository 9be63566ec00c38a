//! The recurrences as emitted code.
//!
//! Unrolled jets and the bodies of split jets differ in where a coefficient is found and in who sums
//! the old terms; what is emitted for a rule is the same, and is here.

use crate::arena::{Arena, Home};
use crate::emit::Emitter;
use crate::fused::Fused;
use cranelift_codegen::ir::{InstBuilder, Value};
use saltus_expr::Reg;
use saltus_expr::jet::Degree;
use saltus_expr::jet::recurrence::{self, Arithmetic, Lock, OldSquareTerms, OldTerms, Rule, plus};
use std::ops::RangeInclusive;

/// A function being emitted at some order.
pub(crate) trait Rows<'a, 'f: 'a> {
    fn emitter(&mut self) -> &mut Emitter<'a, 'f>;
    fn fused(&self) -> &'a Fused;
    fn arena(&self) -> &'a Arena;
    /// The order.
    fn k(&self) -> usize;
    /// A coefficient of a row.
    fn coefficient(&mut self, row: Reg, k: usize) -> Value;
    /// Element `k` of what has its home in the arena.
    fn load(&mut self, home: Home, k: usize) -> Value;

    /// The old terms of a product, if they were summed beforehand. The outer option says whether.
    fn summed_product(&mut self, _a: Reg, _b: Reg) -> Option<Option<Value>> {
        None
    }

    /// The old terms of a square, if they were summed beforehand.
    fn summed_square(&mut self, _a: Reg) -> Option<Option<Value>> {
        None
    }

    /// The partial sums over the two parities of j, of the first `pairs` pairs of terms from j =
    /// `low` on, if the function has a better way than term by term.
    fn paired_sums(&mut self, _a: Reg, _b: Reg, _low: usize, _pairs: usize) -> Option<[Value; 2]> {
        None
    }

    fn degree(&self, row: Reg) -> Degree {
        self.fused().rows.degrees[row.index()]
    }

    /// True if a row has a coefficient of order 0.
    fn starts(&self, row: Reg) -> bool {
        self.fused().rows.starts[row.index()]
    }

    fn lock(&mut self, lock: Lock) -> Value {
        let base = self.arena().locks + lock.0 as usize;
        self.load(Home { base, stride: 0 }, 0)
    }

    fn zero(&mut self) -> Value {
        self.emitter().constant(0.0)
    }

    /// k
    fn order(&mut self) -> Value {
        let (base, k) = (self.arena().numbers, self.k());
        self.load(Home { base, stride: 1 }, k)
    }

    /// 1 / k
    fn inverse_order(&mut self) -> Value {
        let (base, k) = (self.arena().inverses, self.k());
        self.load(Home { base, stride: 1 }, k)
    }

    /// -x
    fn negated(&mut self, x: Value) -> Value {
        self.emitter().ins.ins().fneg(x)
    }

    /// h / k: what makes states of derivatives.
    fn scale(&mut self) -> Value {
        let base = self.arena().h_scale;
        let h = self.load(Home { base, stride: 0 }, 0);
        let inverse = self.inverse_order();
        self.emitter().ins.ins().fmul(h, inverse)
    }
}

/// Emits the coefficient of a row by its rule; zero if every term is absent.
pub(crate) fn advance<'a, 'f: 'a>(rows: &mut impl Rows<'a, 'f>, row: Reg, rule: Rule) -> Value {
    let value = recurrence::advance(&mut Emission { rows, marker: Default::default() }, row, rule);
    value.unwrap_or_else(|| rows.zero())
}

/// Emits the old terms of the product of two rows, if there are any.
pub(crate) fn old<'a, 'f: 'a>(rows: &mut impl Rows<'a, 'f>, a: Reg, b: Reg) -> Option<Value> {
    Emission { rows, marker: Default::default() }.old(a, b)
}

/// Emits the old terms of the square of a row, if there are any.
pub(crate) fn old_square<'a, 'f: 'a>(rows: &mut impl Rows<'a, 'f>, a: Reg) -> Option<Value> {
    Emission { rows, marker: Default::default() }.old_square(a)
}

struct Emission<'r, 'a, 'f, R> {
    rows: &'r mut R,
    marker: std::marker::PhantomData<(&'a (), &'f ())>,
}

impl<'a, 'f: 'a, R: Rows<'a, 'f>> Emission<'_, 'a, 'f, R> {
    fn term(&mut self, a: Reg, b: Reg, j: usize) -> Value {
        let k = self.rows.k();
        let (x, y) = (self.rows.coefficient(a, j), self.rows.coefficient(b, k - j));
        self.mul(x, y)
    }

    /// Partial sums over the parities of j, added.
    fn parity_sums(&mut self, a: Reg, b: Reg, range: RangeInclusive<usize>) -> Option<Value> {
        let (low, count) = (*range.start(), range.count());
        let paired = self.rows.paired_sums(a, b, low, count / 2);
        let single = if paired.is_some() { count / 2 * 2 } else { 0 };
        let mut sums = paired.map_or([None, None], |sums| sums.map(Some));
        for i in single..count {
            let term = self.term(a, b, low + i);
            sums[i % 2] = plus(self, sums[i % 2], Some(term));
        }
        plus(self, sums[0], sums[1])
    }
}

impl<'a, 'f: 'a, R: Rows<'a, 'f>> Arithmetic for Emission<'_, 'a, 'f, R> {
    type Value = Value;

    fn now(&mut self, row: Reg) -> Option<Value> {
        let k = self.rows.k();
        self.rows.degree(row).reaches(k).then(|| self.rows.coefficient(row, k))
    }

    fn first(&mut self, row: Reg) -> Option<Value> {
        self.rows.starts(row).then(|| self.rows.coefficient(row, 0))
    }

    fn old(&mut self, a: Reg, b: Reg) -> Option<Value> {
        if let Some(summed) = self.rows.summed_product(a, b) {
            return summed;
        }
        let k = self.rows.k();
        let terms = OldTerms::of_product(k, self.rows.degree(a), self.rows.degree(b));
        let middle = self.parity_sums(a, b, terms.middle);
        let low = terms.low_edge.then(|| self.term(a, b, 1));
        let high = terms.high_edge.then(|| self.term(a, b, k - 1));
        let edge = plus(self, low, high);
        plus(self, middle, edge)
    }

    fn old_square(&mut self, a: Reg) -> Option<Value> {
        if let Some(summed) = self.rows.summed_square(a) {
            return summed;
        }
        let terms = OldSquareTerms::of_square(self.rows.k(), self.rows.degree(a));
        let middle = self.parity_sums(a, a, terms.middle);
        let edge = terms.edge.then(|| self.term(a, a, 1));
        let twice = plus(self, middle, edge).map(|s| self.add(s, s));
        let centre = terms.centre.map(|j| self.term(a, a, j));
        plus(self, twice, centre)
    }

    fn lock(&mut self, lock: Lock) -> Value {
        self.rows.lock(lock)
    }

    fn order(&mut self) -> Value {
        self.rows.order()
    }

    fn inverse_order(&mut self) -> Value {
        self.rows.inverse_order()
    }

    fn add(&mut self, x: Value, y: Value) -> Value {
        self.rows.emitter().ins.ins().fadd(x, y)
    }

    fn sub(&mut self, x: Value, y: Value) -> Value {
        self.rows.emitter().ins.ins().fsub(x, y)
    }

    fn mul(&mut self, x: Value, y: Value) -> Value {
        self.rows.emitter().product(x, y)
    }

    fn neg(&mut self, x: Value) -> Value {
        self.rows.negated(x)
    }

    fn steer(&mut self, first: Value, x: Option<Value>, y: Option<Value>) -> Value {
        let emitter = self.rows.emitter();
        let x = x.unwrap_or_else(|| emitter.constant(0.0));
        let y = y.unwrap_or_else(|| emitter.constant(0.0));
        emitter.select(first, x, y)
    }
}
