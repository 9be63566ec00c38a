//! The rows of one lowered program in some lanes: one block of memory, `[row][order][lane]`, then
//! the locks, `[lock][lane]`.
//!
//! Neighbouring lanes are taken as one vector operation; a lane's numbers do not depend on the
//! others.

use super::convolution;
use super::lanes::{self, Order, Pack};
use super::lower::Lowered;
use super::recurrence::Rule;
use crate::graph::Binary;
use crate::program::{Op, Reg};
use crate::vm;
use std::sync::Arc;

/// Where the rows are and how many lanes they have.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub lowered: Arc<Lowered>,
    pub lanes: usize,
    /// Number of coefficients.
    pub span: usize,
    /// Position of the first row in the arena.
    pub base: usize,
}

impl Rows {
    /// Position of the coefficient of order 0 in the first lane of a row.
    pub fn row(&self, row: usize) -> usize {
        self.base + row * self.span * self.lanes
    }

    fn locks(&self) -> usize {
        self.row(self.lowered.rows())
    }

    /// One past the memory used.
    pub fn end(&self) -> usize {
        self.locks() + self.lowered.locks.len() * self.lanes
    }

    pub fn fill_constants(&self, arena: &mut [f64]) {
        for (i, &constant) in self.lowered.constants.iter().enumerate() {
            let base = self.row(self.lowered.inputs + i);
            arena[base..base + self.lanes].fill(constant);
        }
    }

    /// Order 0: the values of all rows, then the locks.
    pub fn start(&self, arena: &mut [f64]) {
        (0..self.lowered.nodes.len()).for_each(|node| self.start_row(arena, node));
        let tables = &self.lowered.tables;
        for (i, lock) in self.lowered.locks.iter().enumerate() {
            for lane in 0..self.lanes {
                let value = |r: Reg| arena[self.row(r.index()) + lane];
                let number = lock.evaluate(|t| &tables[t as usize], value);
                arena[self.locks() + i * self.lanes + lane] = number;
            }
        }
    }

    fn start_row(&self, arena: &mut [f64], node: usize) {
        let Some(op) = self.lowered.nodes[node].start else { return };
        let to = self.row(self.lowered.first_node() + node);
        for lane in 0..self.lanes {
            let value = |r: Reg| arena[self.row(r.index()) + lane];
            arena[to + lane] = vm::apply(op, |t| &self.lowered.tables[t as usize], value);
        }
    }

    /// All orders of all computed rows, row by row; each may read only what is before it.
    #[inline(always)]
    pub fn compute(&self, arena: &mut [f64], inverses: &[f64]) {
        if !self.lowered.locks.is_empty() {
            self.start(arena);
        }
        let first = self.lowered.first_node();
        for (i, node) in self.lowered.nodes.iter().enumerate() {
            let y = first + i;
            match (node.rule, node.start) {
                (Rule::Add(a, b), Some(Op::Binary(Binary::Add, ..))) => {
                    self.combine(arena, y, [a, b], |x, y| x + y, |y| y);
                }
                (Rule::Sub(a, b), Some(Op::Binary(Binary::Sub, ..))) => {
                    self.combine(arena, y, [a, b], |x, y| x - y, |y| -y);
                }
                (Rule::Mul(a, b), Some(Op::Binary(Binary::Mul, ..))) if self.are_contiguous([a, b]) => {
                    self.convolve(arena, y, [a, b], false);
                }
                (Rule::Square(a), Some(_)) if self.are_contiguous([a, a]) => {
                    self.convolve(arena, y, [a, a], true);
                }
                (rule, _) => {
                    self.start_row(arena, i);
                    self.complete_row(arena, (y, rule), inverses);
                }
            }
        }
    }

    /// True if rows have all their coefficients, and these are one list of numbers or of vectors.
    fn are_contiguous(&self, rows: [Reg; 2]) -> bool {
        let Lowered { degrees, starts, .. } = &*self.lowered;
        matches!(self.lanes, 1 | 4)
            && rows.iter().all(|row| starts[row.index()] && degrees[row.index()].reaches(self.span - 1))
    }

    /// The product of two rows, or the square of one.
    #[inline(always)]
    fn convolve(&self, arena: &mut [f64], y: usize, [a, b]: [Reg; 2], is_square: bool) {
        #[inline(always)]
        fn of<P: Pack>([a, b]: [&[P]; 2], is_square: bool, out: &mut [P]) {
            if is_square { convolution::square(a, out) } else { convolution::product(a, b, out) }
        }
        let (known, new) = arena.split_at_mut(self.row(y));
        let new = &mut new[..self.span * self.lanes];
        let rows = [a, b].map(|row| &known[self.row(row.index())..][..self.span * self.lanes]);
        if self.lanes == 1 {
            of(rows, is_square, new);
        } else {
            of(rows.map(|row| row.as_chunks::<4>().0), is_square, new.as_chunks_mut::<4>().0);
        }
    }

    fn complete_row(&self, arena: &mut [f64], row: (usize, Rule), inverses: &[f64]) {
        let (rows, locks) = arena[self.base..].split_at_mut(self.locks() - self.base);
        let shape = Order { k: 0, inverse: 0.0, span: self.span, lanes: self.lanes };
        let mut lane = 0;
        while lane + 4 <= self.lanes {
            lanes::complete::<[f64; 4]>(&self.lowered, row, (rows, locks), (shape, inverses), lane);
            lane += 4;
        }
        while lane < self.lanes {
            lanes::complete::<f64>(&self.lowered, row, (rows, locks), (shape, inverses), lane);
            lane += 1;
        }
    }

    /// Combines the coefficients of two rows, those of the second alone where the first has none.
    #[inline(always)]
    fn combine(
        &self,
        arena: &mut [f64],
        row: usize,
        [a, b]: [Reg; 2],
        both: impl Fn(f64, f64) -> f64,
        second: impl Fn(f64) -> f64,
    ) {
        let (known, new) = arena.split_at_mut(self.row(row));
        let of = |r: Reg| {
            let degree = self.lowered.degrees[r.index()].bound().unwrap_or(usize::MAX);
            &known[self.row(r.index())..][..(degree.min(self.span - 1) + 1) * self.lanes]
        };
        let (a, b) = (of(a), of(b));
        let shared = a.len().min(b.len());
        let (new, rest) = new.split_at_mut(shared);
        for (new, (&x, &y)) in new.iter_mut().zip(a.iter().zip(b)) {
            *new = both(x, y);
        }
        for (new, &x) in rest.iter_mut().zip(&a[shared..]) {
            *new = x;
        }
        for (new, &y) in rest.iter_mut().zip(&b[shared..]) {
            *new = second(y);
        }
    }

    /// Order `k` of all computed rows.
    pub fn advance(&self, arena: &mut [f64], k: usize, inverse: f64) {
        let (rows, locks) = arena[self.base..].split_at_mut(self.locks() - self.base);
        let order = Order { k, inverse, span: self.span, lanes: self.lanes };
        let mut lane = 0;
        while lane + 8 <= self.lanes {
            lanes::advance::<[f64; 8]>(&self.lowered, rows, locks, order, lane);
            lane += 8;
        }
        while lane + 4 <= self.lanes {
            lanes::advance::<[f64; 4]>(&self.lowered, rows, locks, order, lane);
            lane += 4;
        }
        while lane < self.lanes {
            lanes::advance::<f64>(&self.lowered, rows, locks, order, lane);
            lane += 1;
        }
    }
}
