//! The memory of native jets: where each row, lock and table of numbers lives.
//!
//! One array of numbers per instance: a copy of the environment, time, the matrix of states, tables
//! over the order (k and 1 / k), a sign, literals, locks, then the rows. Generated code addresses all of it
//! relative to the beginning.

use crate::fused::{Fused, TIME};
use saltus_expr::jet::{Degree, JetLayout, Place};
use saltus_expr::{FlowPlan, Reg};
use std::ops::{Deref, DerefMut};

/// Where the coefficients of a row are: coefficient k at `base + k * stride`; a stride of 0 keeps
/// the coefficient of order 0 only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub base: usize,
    pub stride: usize,
}

impl Home {
    /// This home, if another one is its neighbour: coefficients of both are one vector.
    pub fn before(self, next: Home) -> Option<Home> {
        (self.stride > 0 && self.stride == next.stride && self.base + 1 == next.base).then_some(self)
    }
}

/// A line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Line([f64; 8]);

/// The numbers of an instance, and zeros up to whole lines of the cache. They begin with a line, so that
/// no four numbers at a place that is a multiple of four lie across two.
#[derive(Clone, Debug)]
pub(crate) struct Numbers(Vec<Line>);

impl Numbers {
    pub fn new(numbers: &[f64]) -> Numbers {
        let line = |some: &[f64]| {
            let mut line = Line::default();
            line.0[..some.len()].copy_from_slice(some);
            line
        };
        Numbers(numbers.chunks(8).map(line).collect())
    }
}

impl Deref for Numbers {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        // SAFETY: a line is eight numbers and nothing else, so that lines side by side are an array.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), 8 * self.0.len()) }
    }
}

impl DerefMut for Numbers {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        // SAFETY: as for reading; they are borrowed for as long as the result.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), 8 * self.0.len()) }
    }
}

/// The plan of an arena.
pub(crate) struct Arena {
    pub layout: JetLayout,
    /// The place of `h_scale`.
    pub h_scale: usize,
    /// Table of k.
    pub numbers: usize,
    /// Table of 1 / k.
    pub inverses: usize,
    /// The place of -0.0, whose only bit is the sign.
    pub sign: usize,
    pub locks: usize,
    pub homes: Vec<Home>,
    pub size: usize,
    literals: usize,
}

impl Arena {
    /// Lays out the arena; `home` may place a row elsewhere once the common part is known, and
    /// `keeps` says which rows keep all coefficients although no slot shows them.
    pub fn new(plan: &FlowPlan, fused: &Fused, order: usize, keeps: &[bool]) -> Arena {
        let span = order + 1;
        let mut end = 0;
        let mut take = |count: usize| {
            end += count;
            end - count
        };
        let time = plan.slots;
        take((time + span).next_multiple_of(4));
        let h_scale = time + 1.min(order);
        let states_stride = JetLayout::padded(plan.states.len());
        let states_base = take(span * states_stride);
        let (numbers, inverses, sign) = (take(span), take(span), take(1));
        let literals = take(fused.rows.constants.len());
        let locks = take(fused.rows.locks.len());
        let mut shown = vec![false; fused.rows.rows()];
        for row in fused.slot_rows.iter().flatten() {
            shown[row.index()] = true;
        }
        let homes = (0..fused.rows.rows()).map(|row| {
            let constants = fused.rows.inputs..fused.rows.first_node();
            if row == TIME.index() {
                Home { base: time, stride: 1 }
            } else if row <= fused.states {
                Home { base: states_base + row - 1, stride: states_stride }
            } else if row < fused.rows.inputs {
                Home { base: fused.constant_slots[row - 1 - fused.states] as usize, stride: 0 }
            } else if constants.contains(&row) {
                Home { base: literals + row - fused.rows.inputs, stride: 0 }
            } else if (shown[row] || keeps[row]) && !fused.rows.degrees[row].is_constant() {
                Home { base: take(span), stride: 1 }
            } else {
                Home { base: take(1), stride: 0 }
            }
        });
        let homes: Vec<Home> = homes.collect();
        let layout =
            JetLayout { order, states_base, states: plan.states.len(), states_stride, places: Vec::new() };
        Arena { layout, h_scale, numbers, inverses, sign, locks, homes, size: end, literals }
    }

    /// Adds room for `count` numbers.
    pub fn take(&mut self, count: usize) -> usize {
        self.size += count;
        self.size - count
    }

    /// Gives two rows room side by side, for their coefficients up to an order, at an even place:
    /// a pair of coefficients is one vector.
    pub fn take_pair(&mut self, order: usize) -> [Home; 2] {
        self.size = self.size.next_multiple_of(2);
        let base = self.take(2 * (order + 1));
        [base, base + 1].map(|base| Home { base, stride: 2 })
    }

    /// The place of the first of two rows, if they lie side by side.
    pub fn neighbours(&self, [a, b]: [Reg; 2]) -> Option<Home> {
        self.homes[a.index()].before(self.homes[b.index()])
    }

    /// Fixes the places of the slots from the homes of their rows.
    pub fn place_slots(&mut self, fused: &Fused) {
        let place = |(slot, row): (usize, &Option<Reg>)| match row {
            Some(row) => {
                let Home { base, stride } = self.homes[row.index()];
                let degree = fused.rows.degrees[row.index()];
                Place { base: base as u32, stride: stride as u32, degree }
            }
            None => Place { base: slot as u32, stride: 0, degree: Degree::CONSTANT },
        };
        self.layout.places = fused.slot_rows.iter().enumerate().map(place).collect();
    }

    /// A new arena with everything in it that never changes.
    pub fn fresh(&self, fused: &Fused) -> Vec<f64> {
        let mut memory = vec![0.0; self.size];
        for k in 0..=self.layout.order {
            memory[self.numbers + k] = k as f64;
            memory[self.inverses + k] = 1.0 / k as f64;
        }
        memory[self.sign] = -0.0;
        let literals = &fused.rows.constants;
        memory[self.literals..self.literals + literals.len()].copy_from_slice(literals);
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_with_a_line_of_the_cache() {
        for count in [0, 1, 7, 1000] {
            let numbers: Vec<f64> = (0..count).map(f64::from).collect();
            let copy = Numbers::new(&numbers).clone();
            let (first, rest) = copy.split_at(numbers.len());
            assert_eq!(first, numbers);
            assert!(rest.len() < 8 && rest.iter().all(|&x| x == 0.0));
            assert!(copy.as_ptr().addr().is_multiple_of(64));
        }
    }
}
