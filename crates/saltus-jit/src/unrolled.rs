//! Unrolled jets: all orders of all rows in one straight-line function.
//!
//! Middle sums of convolutions run on pairs: (a_j, a_(j+1)) times (b_m, b_(m-1)), so that the
//! lanes are the two partial sums. A pair is packed once and reused.
//! Only pairs and the coefficients of the present and the last order are held as values; older
//! coefficients are read from memory where they are used, which costs nothing as an operand of the
//! instruction and spares the register allocator values that live for the whole function.

use crate::JitError;
use crate::arena::{Arena, Home};
use crate::emit::Emitter;
use crate::fused::{Fused, TIME};
use crate::rows::{self, Rows};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use saltus_expr::Reg;
use saltus_expr::jet::recurrence::{OldSquareTerms, OldTerms};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Sums of fewer pairs than this are made of scalars.
const LEAST_PAIRS: usize = 2;

/// The rows whose older coefficients are read: factors of convolutions with old terms.
pub(crate) fn kept_rows(fused: &Fused) -> Vec<bool> {
    let moves = |row: Reg| fused.rows.degrees[row.index()].reaches(1);
    let mut kept = vec![false; fused.rows.rows()];
    for (row, node) in fused.nodes() {
        let square = node.rule.square(row).map(|a| (a, a));
        let factors = node.rule.products(row).chain(square);
        for (a, b) in factors.filter(|&(a, b)| moves(a) && moves(b)) {
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
        sign: None,
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
    /// The number whose only bit is the sign, once it was read: as a constant it would be made anew
    /// wherever it is used.
    sign: Option<Value>,
}

impl<'a, 'f> Unrolled<'a, 'f> {
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
            let scale = *scale.get_or_insert_with(|| self.scale());
            let rate = self.coefficient(derivative, k - 1);
            let value = self.emitter.ins.ins().fmul(rate, scale);
            self.keep(self.fused.state(i), value);
        }
    }

    fn advance_nodes(&mut self) {
        for (row, node) in self.fused.nodes() {
            if self.degree(row).reaches(self.k) {
                let value = rows::advance(self, row, node.rule);
                self.keep(row, value);
            }
        }
    }

    fn pair(&mut self, row: Reg, first: usize, second: usize) -> Value {
        if let Some(&pair) = self.pairs.get(&(row, first, second)) {
            return pair;
        }
        let (low, high) = (self.coefficient(row, first), self.coefficient(row, second));
        let vector = self.emitter.twice(low);
        let pair = self.emitter.ins.ins().insertlane(vector, high, 1);
        self.pairs.insert((row, first, second), pair);
        pair
    }
}

impl<'a, 'f> Rows<'a, 'f> for Unrolled<'a, 'f> {
    fn emitter(&mut self) -> &mut Emitter<'a, 'f> {
        &mut self.emitter
    }

    fn fused(&self) -> &'a Fused {
        self.fused
    }

    fn arena(&self) -> &'a Arena {
        self.arena
    }

    fn k(&self) -> usize {
        self.k
    }

    fn negated(&mut self, x: Value) -> Value {
        let Unrolled { emitter, memory, arena, .. } = self;
        let sign = *self.sign.get_or_insert_with(|| emitter.load(*memory, arena.sign));
        emitter.ins.ins().bxor(x, sign)
    }

    fn order(&mut self) -> Value {
        self.emitter.constant(self.k as f64)
    }

    fn inverse_order(&mut self) -> Value {
        self.emitter.constant(1.0 / self.k as f64)
    }

    fn coefficient(&mut self, row: Reg, k: usize) -> Value {
        if let Some(literal) = self.fused.literal(row) {
            return self.emitter.constant(literal);
        }
        let held = match self.k - k {
            0 => self.now[row.index()],
            1 => self.last[row.index()],
            _ => None,
        };
        held.unwrap_or_else(|| self.load(self.arena.homes[row.index()], k))
    }

    fn load(&mut self, home: Home, k: usize) -> Value {
        self.emitter.load(self.memory, home.base + k * home.stride)
    }

    fn paired_sums(&mut self, a: Reg, b: Reg, low: usize, pairs: usize) -> Option<[Value; 2]> {
        if pairs < LEAST_PAIRS {
            return None;
        }
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
        sum.map(|sum| [0, 1].map(|lane| self.emitter.ins.ins().extractlane(sum, lane)))
    }
}

/// Predicted number of machine instructions of the unrolled function; some number above `limit` if
/// there are more.
pub(crate) fn instructions(fused: &Fused, order: usize, limit: usize) -> usize {
    let degree = |row: Reg| fused.rows.degrees[row.index()];
    let sum = |terms: &RangeInclusive<usize>| {
        let count = terms.clone().count();
        // A pair of terms is packed, multiplied and added, with a load or two.
        count / 2 * 4 + count % 2 * 3
    };
    let mut total = 3 * fused.rows.nodes.len();
    // The highest orders have most terms.
    for k in (1..=order).rev() {
        if total > limit {
            break;
        }
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
