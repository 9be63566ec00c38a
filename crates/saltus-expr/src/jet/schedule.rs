//! The schedule: degrees, rows and dependency levels of the blocks of a plan.
//!
//! Degrees are found by descent: states begin without bound and each pass over the blocks lowers
//! what it can, so the bounds are valid whenever the passes end. Blocks of one level do not depend
//! on each other at the same order.

use super::degree::{self, Degree};
use super::lower::Lowered;
use crate::plan::FlowPlan;
use std::sync::Arc;

/// Passes of the descent; a chain of that many integrations is recognised as a polynomial.
const GREATEST_PASSES: usize = 8;

/// A block of a plan, lowered for the degrees it meets.
#[derive(Clone, Debug)]
pub struct ScheduledBlock {
    /// The rows of its program.
    pub lowered: Arc<Lowered>,
    /// One more than the highest level of the blocks it reads; 0 if it reads none.
    pub level: u32,
}

/// What the evaluation of a plan's jets is made of.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// Degree of each slot.
    pub degrees: Vec<Degree>,
    /// The blocks, in the order of the plan.
    pub blocks: Vec<ScheduledBlock>,
}

impl Schedule {
    /// Schedules a plan.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`].
    pub fn new(plan: &FlowPlan) -> Schedule {
        let mut schedule = Schedule::default();
        schedule.rebuild(plan);
        schedule
    }

    /// Schedules a plan whose states are polynomials in time that are given, not integrated.
    pub(super) fn for_given_states(plan: &FlowPlan, degree: Degree) -> Schedule {
        let mut schedule = Schedule::default();
        schedule.begin(plan, degree);
        schedule.descend_blocks(plan, &mut Vec::new());
        schedule.lower_blocks(plan);
        schedule
    }

    fn begin(&mut self, plan: &FlowPlan, states: Degree) {
        debug_assert_eq!(plan.check(), Ok(()));
        self.degrees.clear();
        self.degrees.resize(plan.slots, Degree::CONSTANT);
        self.degrees[plan.time_slot as usize] = Degree::LINEAR;
        for &(state, _) in &plan.states {
            self.degrees[state as usize] = states;
        }
    }

    /// Schedules another plan in the same memory.
    pub(super) fn rebuild(&mut self, plan: &FlowPlan) {
        self.begin(plan, Degree::UNBOUNDED);
        let mut registers = Vec::new();
        for _ in 0..GREATEST_PASSES {
            self.descend_blocks(plan, &mut registers);
            if !self.descend_states(plan) {
                break;
            }
        }
        // States may have sunk in the last pass; what the blocks make of them must be no lower.
        self.descend_blocks(plan, &mut registers);
        self.lower_blocks(plan);
    }

    fn descend_blocks(&mut self, plan: &FlowPlan, registers: &mut Vec<Degree>) {
        for block in &plan.blocks {
            let inputs = block.inputs.iter().map(|&slot| self.degrees[slot as usize]);
            degree::of_registers(&block.program, inputs, registers);
            for (&slot, register) in block.outputs.iter().zip(block.program.outputs()) {
                self.degrees[slot as usize] = registers[register.index()];
            }
        }
    }

    /// Lowers the degrees of the states to those of their derivatives plus one; true if any fell.
    fn descend_states(&mut self, plan: &FlowPlan) -> bool {
        let mut fell = false;
        for &(state, derivative) in &plan.states {
            let degree = self.degrees[derivative as usize].integral();
            fell |= degree < self.degrees[state as usize];
            self.degrees[state as usize] = degree.min(self.degrees[state as usize]);
        }
        fell
    }

    fn lower_blocks(&mut self, plan: &FlowPlan) {
        let mut levels = vec![0u32; plan.slots];
        let mut inputs = Vec::new();
        self.blocks.clear();
        for block in &plan.blocks {
            inputs.clear();
            inputs.extend(block.inputs.iter().map(|&slot| self.degrees[slot as usize]));
            let level = block.inputs.iter().map(|&slot| levels[slot as usize]).max().unwrap_or(0);
            for &slot in &block.outputs {
                levels[slot as usize] = level + 1;
            }
            self.blocks.push(ScheduledBlock { lowered: block.program.lowered(&inputs), level });
        }
    }
}
