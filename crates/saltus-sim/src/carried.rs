//! What rounding has done to the states on the way, and whether it can have parted what happens
//! together.
//!
//! A proof speaks of the flow from the computed start of its step: what was rounded in the steps before
//! is not in its brackets. If the states there are off by e, the zero of a guard g is off by
//! -(dg/dx e) / g', and two zeros by the difference of two such terms. It vanishes for guards that read
//! the same states in the same way, however much these are off, and is great where a slope is small.
//!
//! The errors of a step are those of the rates, as the proof bounds them, and of the polynomials that
//! are evaluated at its end; of a step that is not proved only the last rounding is counted. Those of
//! many steps are taken as independent: their squares are added. A state that is assigned starts anew.
//! How the flow makes earlier errors grow is not looked at.

use crate::compile::SwitchKind;
use crate::locate::PROOF_ROUNDING;
use crate::runner::Runner;
use crate::segment::{Crossing, StepRoot};
use saltus_num::UNIT;

/// States are displaced by so many times their errors to see what guards make of them: enough to be
/// told from the rounding of the guards themselves.
const DISPLACEMENT: f64 = 1_048_576.0;

/// The squares of the errors of the states where the run stands, by slot.
#[derive(Debug, Default)]
pub(crate) struct Carried(Vec<f64>);

impl Carried {
    /// A state is assigned.
    pub fn forget(&mut self, slot: u32) {
        if let Some(square) = self.0.get_mut(slot as usize) {
            *square = 0.0;
        }
    }

    /// The error of a slot.
    fn error(&self, slot: u32) -> f64 {
        self.0.get(slot as usize).map_or(0.0, |square| square.sqrt())
    }
}

impl Runner<'_> {
    /// Takes the rounding on the segment from where the run stands to a place, if steps are proved.
    #[inline]
    pub fn carry_rounding(&mut self, s: f64) {
        if self.method.is_proof() && s > self.segment.cursor {
            self.add_rounding((s - self.segment.cursor) * self.segment.h);
        }
    }

    #[inline(never)]
    fn add_rounding(&mut self, elapsed: f64) {
        let combination = self.combinations.get(self.current);
        let squares = &mut self.proofs.carried.0;
        squares.resize(self.env.len(), 0.0);
        let slots = combination.plan.states.iter().map(|&(slot, _)| slot as usize);
        match combination.prover.as_ref().filter(|_| self.proofs.unproved == 0.0) {
            Some(prover) => slots
                .zip(prover.state_roundings(elapsed))
                .for_each(|(slot, error)| squares[slot] += error * error),
            None => slots.for_each(|slot| squares[slot] += (UNIT * self.env[slot]).powi(2)),
        }
    }

    /// True if roots of two guards may be at one place but for what was rounded before the step.
    pub fn are_parted_by_rounding(&mut self, root: StepRoot, later: StepRoot) -> bool {
        let gap = (later.lo - root.hi) * self.segment.h;
        if !self.may_be_rounding(root, gap) {
            return false;
        }
        let guards = [root, later].map(|root| self.motion(root));
        let [Some(one), Some(other)] = guards else { return false };
        one.p != other.p && gap <= self.shift(root.stop, &[one, other])
    }

    /// The same for an end of the bracket of a root and a time.
    pub fn is_off_by_rounding(&mut self, root: StepRoot, end: f64, t: f64) -> bool {
        let gap = (self.segment.time_of(end) - t).abs();
        let guard = self.motion(root).filter(|_| self.may_be_rounding(root, gap));
        guard.is_some_and(|guard| gap <= self.shift(root.stop, &[guard]))
    }

    /// What is farther apart than events are located is not together, whatever was rounded.
    fn may_be_rounding(&self, root: StepRoot, gap: f64) -> bool {
        self.method.is_proof() && gap <= self.resolution(self.segment.time_of(root.stop).abs())
    }

    /// By how much time the errors of the states may have moved the zero of a guard near some place, or
    /// those of two guards apart; 0 if that can not be told.
    fn shift(&mut self, place: f64, guards: &[Motion]) -> f64 {
        // Displaced states may be where a function does not exist.
        if self.combination().has_edges {
            return PROOF_ROUNDING * f64::EPSILON * self.segment.time_of(place).abs();
        }
        let shift = self.aside(|runner| {
            runner.stand_at(place);
            runner.sum_displacements(guards)
        });
        if shift.is_finite() { shift * self.segment.h } else { 0.0 }
    }

    /// By how many units of the segment the errors of the states displace the zeros of guards here.
    fn sum_displacements(&mut self, guards: &[Motion]) -> f64 {
        let combination = self.combinations.get(self.current);
        let env = &mut self.env;
        let mut apart = |env: &mut [f64]| {
            combination.watching.eval(env, &mut self.scratch);
            let zero = |guard: &Motion| env[combination.atom_slots[guard.p] as usize] / guard.slope;
            guards.iter().map(zero).reduce(|a, b| a - b).unwrap_or(0.0)
        };
        let (before, mut shift) = (apart(env), 0.0);
        let depends = |guard: &Motion| &self.code.atoms[combination.atoms[guard.p].index()].depends;
        for &(slot, _) in &combination.plan.states {
            let error = self.proofs.carried.error(slot);
            if error > 0.0 && guards.iter().any(|guard| depends(guard).contains(&slot)) {
                let value = env[slot as usize];
                env[slot as usize] = value + DISPLACEMENT * error;
                shift += (apart(env) - before).abs() / DISPLACEMENT;
                env[slot as usize] = value;
            }
        }
        shift
    }

    /// What has a root, and how it moves there.
    fn motion(&self, root: StepRoot) -> Option<Motion> {
        let p = match root.crossing {
            Crossing::Atom(p, _) => p,
            Crossing::Stair { switch, .. } => {
                let SwitchKind::Stair(atom, _) = &self.code.switches[switch as usize].kind else {
                    return None;
                };
                self.combination().position[atom.index()]
            }
        };
        Some(Motion { p: p as usize, slope: root.slope })
    }
}

/// An active atom, and how fast it goes through zero.
#[derive(Clone, Copy)]
struct Motion {
    p: usize,
    slope: f64,
}
