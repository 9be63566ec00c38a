//! The rows of one lowered program in some lanes: one block of memory, `[row][order][lane]`, then
//! the locks, `[lock][lane]`.
//!
//! Neighbouring lanes are taken as one vector operation; a lane's numbers do not depend on the
//! others.

use super::lanes::{self, Order};
use super::lower::Lowered;
use crate::program::Reg;
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
        let tables = &self.lowered.tables;
        let first = self.lowered.first_node();
        for (i, node) in self.lowered.nodes.iter().enumerate() {
            let Some(op) = node.start else { continue };
            let to = self.row(first + i);
            for lane in 0..self.lanes {
                let value = |r: Reg| arena[self.row(r.index()) + lane];
                arena[to + lane] = vm::apply(op, |t| &tables[t as usize], value);
            }
        }
        for (i, lock) in self.lowered.locks.iter().enumerate() {
            for lane in 0..self.lanes {
                let value = |r: Reg| arena[self.row(r.index()) + lane];
                let number = lock.evaluate(|t| &tables[t as usize], value);
                arena[self.locks() + i * self.lanes + lane] = number;
            }
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
