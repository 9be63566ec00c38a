//! Unrolled jets: all orders of all rows in one straight-line function.
//!
//! Middle sums of convolutions run on pairs: (a_j, a_(j+1)) times (b_m, b_(m-1)), so that one lane
//! is the partial sum over even j and the other that over odd j. A pair is packed once and reused.
//! Only pairs and the coefficients of the present and the last order are held as values; older
//! coefficients are read from memory where they are used, which costs nothing as an operand of the
//! instruction and spares the register allocator values that live for the whole function.

use crate::JitError;
use crate::arena::Arena;
use crate::emit::Emitter;
use crate::fused::{Fused, TIME};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use saltus_expr::Reg;
use saltus_expr::jet::Degree;
use saltus_expr::jet::recurrence::{self, Arithmetic, Lock, OldSquareTerms, OldTerms, plus};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Sums of fewer pairs than this are made of scalars.
const LEAST_PAIRS: usize = 2;

/// The rows whose older coefficients are read: factors of convolutions.
pub(crate) fn kept_rows(fused: &Fused) -> Vec<bool> {
    let mut kept = vec![false; fused.rows.rows()];
    for (row, node) in fused.nodes() {
        let square = node.rule.square(row).map(|a| (a, a));
        for (a, b) in node.rule.products(row).chain(square) {
            kept[a.index()] = true;
            kept[b.index()] = true;
        }
    }
    kept
}

/// Emits the function; its parameter is the arena.
pub(crate) fn emit(
    ins: &mut FunctionBuilder,
    memory: Value,
    fused: &Fused,
    arena: &Arena,
) -> Result<(), JitError> {
    let mut unrolled = Unrolled {
        emitter: Emitter::new(ins, &fused.rows.tables),
        memory,
        fused,
        arena,
        k: 0,
        now: vec![None; fused.rows.rows()],
        last: vec![None; fused.rows.rows()],
        pairs: HashMap::new(),
    };
    unrolled.start();
    for k in 1..=arena.layout.order {
        unrolled.k = k;
        std::mem::swap(&mut unrolled.now, &mut unrolled.last);
        unrolled.now.fill(None);
        unrolled.integrate();
        unrolled.advance_nodes();
    }
    Ok(())
}

struct Unrolled<'a, 'f> {
    emitter: Emitter<'a, 'f>,
    memory: Value,
    fused: &'a Fused,
    arena: &'a Arena,
    k: usize,
    /// Coefficients of the present order.
    now: Vec<Option<Value>>,
    /// Coefficients of the order before.
    last: Vec<Option<Value>>,
    /// Packed pairs of coefficients of a row.
    pairs: HashMap<(Reg, usize, usize), Value>,
}

impl Unrolled<'_, '_> {
    fn degree(&self, row: Reg) -> Degree {
        self.fused.rows.degrees[row.index()]
    }

    fn coefficient(&mut self, row: Reg, k: usize) -> Value {
        let held = match self.k - k {
            0 => self.now[row.index()],
            1 => self.last[row.index()],
            _ => None,
        };
        let home = self.arena.homes[row.index()];
        held.unwrap_or_else(|| self.emitter.load(self.memory, home.base + k * home.stride))
    }

    /// Holds a new coefficient and stores it.
    fn keep(&mut self, row: Reg, value: Value) {
        self.now[row.index()] = Some(value);
        let home = self.arena.homes[row.index()];
        if home.stride > 0 || self.k == 0 {
            self.emitter.store(value, self.memory, home.base + self.k * home.stride);
        }
    }

    fn start(&mut self) {
        for (row, node) in self.fused.nodes() {
            let Some(op) = node.start else { continue };
            for operand in op.operands() {
                self.hold(operand);
            }
            let now = &self.now;
            let value = self.emitter.operation(op, |r| now[r.index()].expect("held above"));
            self.keep(row, value);
        }
        for (i, &rule) in self.fused.rows.locks.iter().enumerate() {
            for operand in rule.operands() {
                self.hold(operand);
            }
            let now = &self.now;
            let value = self.emitter.lock(rule, |r| now[r.index()].expect("held above"));
            self.emitter.store(value, self.memory, self.arena.locks + i);
        }
    }

    /// Reads a coefficient of order 0 once.
    fn hold(&mut self, row: Reg) {
        let value = self.coefficient(row, 0);
        self.now[row.index()] = Some(value);
    }

    /// Time and states of the present order.
    fn integrate(&mut self) {
        let k = self.k;
        if k == 1 {
            self.now[TIME.index()] = Some(self.emitter.load(self.memory, self.arena.h_scale));
        }
        let mut scale = None;
        for i in 0..self.fused.states {
            let derivative = self.fused.derivatives[i];
            if !self.degree(derivative).reaches(k - 1) {
                continue;
            }
            let scale = *scale.get_or_insert_with(|| {
                let h = self.emitter.load(self.memory, self.arena.h_scale);
                let inverse = self.emitter.load(self.memory, self.arena.inverses + k);
                self.emitter.ins.ins().fmul(h, inverse)
            });
            let rate = self.coefficient(derivative, k - 1);
            let value = self.emitter.ins.ins().fmul(rate, scale);
            self.keep(self.fused.state(i), value);
        }
    }

    fn advance_nodes(&mut self) {
        for (row, node) in self.fused.nodes() {
            if !self.degree(row).reaches(self.k) {
                continue;
            }
            let value = recurrence::advance(self, row, node.rule);
            let value = value.unwrap_or_else(|| self.emitter.constant(0.0));
            self.keep(row, value);
        }
    }

    fn pair(&mut self, row: Reg, first: usize, second: usize) -> Value {
        if let Some(&pair) = self.pairs.get(&(row, first, second)) {
            return pair;
        }
        let (low, high) = (self.coefficient(row, first), self.coefficient(row, second));
        let vector = self.emitter.ins.ins().scalar_to_vector(types::F64X2, low);
        let pair = self.emitter.ins.ins().insertlane(vector, high, 1);
        self.pairs.insert((row, first, second), pair);
        pair
    }

    fn term(&mut self, a: Reg, b: Reg, j: usize) -> Value {
        let (x, y) = (self.coefficient(a, j), self.coefficient(b, self.k - j));
        self.emitter.ins.ins().fmul(x, y)
    }

    /// Partial sums over the parities of j, added.
    fn parity_sums(&mut self, a: Reg, b: Reg, range: RangeInclusive<usize>) -> Option<Value> {
        let (low, count) = (*range.start(), range.count());
        let mut sums = [None, None];
        let mut next = 0;
        if count / 2 >= LEAST_PAIRS {
            sums = self.paired_sums(a, b, low, count / 2);
            next = count / 2 * 2;
        }
        for i in next..count {
            let term = self.term(a, b, low + i);
            sums[i % 2] = plus(self, sums[i % 2], Some(term));
        }
        plus(self, sums[0], sums[1])
    }

    /// The two partial sums of `pairs` pairs of terms from j = `low`.
    fn paired_sums(&mut self, a: Reg, b: Reg, low: usize, pairs: usize) -> [Option<Value>; 2] {
        let mut sum = None;
        for j in (low..).step_by(2).take(pairs) {
            let m = self.k - j;
            let (forward, backward) = (self.pair(a, j, j + 1), self.pair(b, m, m - 1));
            let term = self.emitter.ins.ins().fmul(forward, backward);
            sum = Some(match sum {
                Some(sum) => self.emitter.ins.ins().fadd(sum, term),
                None => term,
            });
        }
        [0, 1].map(|lane| sum.map(|sum| self.emitter.ins.ins().extractlane(sum, lane)))
    }
}

impl Arithmetic for Unrolled<'_, '_> {
    type Value = Value;

    fn now(&mut self, row: Reg) -> Option<Value> {
        self.degree(row).reaches(self.k).then(|| self.coefficient(row, self.k))
    }

    fn first(&mut self, row: Reg) -> Option<Value> {
        self.fused.rows.starts[row.index()].then(|| self.coefficient(row, 0))
    }

    fn old(&mut self, a: Reg, b: Reg) -> Option<Value> {
        let terms = OldTerms::of_product(self.k, self.degree(a), self.degree(b));
        let middle = self.parity_sums(a, b, terms.middle);
        let low = terms.low_edge.then(|| self.term(a, b, 1));
        let high = terms.high_edge.then(|| self.term(a, b, self.k - 1));
        let edge = plus(self, low, high);
        plus(self, middle, edge)
    }

    fn old_square(&mut self, a: Reg) -> Option<Value> {
        let terms = OldSquareTerms::of_square(self.k, self.degree(a));
        let middle = self.parity_sums(a, a, terms.middle);
        let edge = terms.edge.then(|| self.term(a, a, 1));
        let twice = plus(self, middle, edge).map(|s| self.add(s, s));
        let centre = terms.centre.map(|j| self.term(a, a, j));
        plus(self, twice, centre)
    }

    fn lock(&mut self, lock: Lock) -> Value {
        self.emitter.load(self.memory, self.arena.locks + lock.0 as usize)
    }

    fn order(&mut self) -> Value {
        self.emitter.load(self.memory, self.arena.numbers + self.k)
    }

    fn inverse_order(&mut self) -> Value {
        self.emitter.load(self.memory, self.arena.inverses + self.k)
    }

    fn add(&mut self, x: Value, y: Value) -> Value {
        self.emitter.ins.ins().fadd(x, y)
    }

    fn sub(&mut self, x: Value, y: Value) -> Value {
        self.emitter.ins.ins().fsub(x, y)
    }

    fn mul(&mut self, x: Value, y: Value) -> Value {
        self.emitter.ins.ins().fmul(x, y)
    }

    fn neg(&mut self, x: Value) -> Value {
        self.emitter.ins.ins().fneg(x)
    }

    fn steer(&mut self, first: Value, x: Option<Value>, y: Option<Value>) -> Value {
        let x = x.unwrap_or_else(|| self.emitter.constant(0.0));
        let y = y.unwrap_or_else(|| self.emitter.constant(0.0));
        self.emitter.select(first, x, y)
    }
}

/// Predicted number of machine instructions of the unrolled function.
pub(crate) fn instructions(fused: &Fused, order: usize) -> usize {
    let degree = |row: Reg| fused.rows.degrees[row.index()];
    let sum = |terms: &RangeInclusive<usize>| {
        let count = terms.clone().count();
        // A pair of terms is packed, multiplied and added, with a load or two.
        count / 2 * 4 + count % 2 * 3
    };
    let mut total = 3 * fused.rows.nodes.len();
    for k in 1..=order {
        total += 2 * fused.states;
        for (row, node) in fused.nodes().filter(|&(row, _)| degree(row).reaches(k)) {
            total += 3;
            for (a, b) in node.rule.products(row) {
                let terms = OldTerms::of_product(k, degree(a), degree(b));
                let edges = usize::from(terms.low_edge) + usize::from(terms.high_edge);
                let newest = usize::from(degree(a).reaches(k)) + usize::from(degree(b).reaches(k));
                total += sum(&terms.middle) + 2 * (edges + newest);
            }
            if let Some(a) = node.rule.square(row) {
                total += sum(&OldSquareTerms::of_square(k, degree(a)).middle) + 8;
            }
        }
    }
    total
}
