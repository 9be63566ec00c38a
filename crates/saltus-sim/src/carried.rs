//! What rounding has done to the states on the way, and whether it can have parted what happens
//! together.
//!
//! A proof speaks of the flow from the computed start of its step, or of the step at which a part of the flow
//! was expanded: what was rounded in the steps before is not in its brackets. If the states there are off by
//! e, the zero of a guard g is off by -(dg/dx e) / g', and two zeros by the difference of two such terms. It
//! vanishes for guards that read the same states in the same way, however much these are off, and is great
//! where a slope is small.
//!
//! The errors of a step are those of the rates, as the proof bounds them, and of the polynomials that
//! are evaluated at its end; of a step that is not proved only the last rounding is counted. Those of
//! many steps are taken as independent: their squares are added. A state that is assigned starts anew.
//! How the flow makes earlier errors grow is not looked at.
//!
//! An atom that is zero by decree is zero there whatever was rounded before, and its next zero follows
//! from what the flow does since then. It is hence parted from that of a guard that the same instant has
//! set by no more than was rounded from that instant on. Else the rise of a ball and its fall would be
//! one as soon as a flight is lower than the errors of all flights before.

use crate::compile::{AtomId, SwitchKind};
use crate::locate::PROOF_ROUNDING;
use crate::runner::Runner;
use crate::segment::{Crossing, StepRoot};
use saltus_expr::jet::Roundings;
use saltus_num::UNIT;

/// States are displaced by so many times their errors to see what guards make of them: enough to be
/// told from the rounding of the guards themselves.
const DISPLACEMENT: f64 = 1_048_576.0;

/// The errors of the states where the run stands.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// The squares of the errors, by slot.
    squares: Vec<f64>,
    /// By slot.
    pins: Vec<Pin>,
    /// When each atom, by its id, was zero by decree last; NaN if never.
    zeros: Vec<f64>,
}

/// What an instant has made of a slot.
#[derive(Clone, Copy, Debug)]
struct Pin {
    /// When it was assigned, or an atom that depends on it was zero by decree; NaN if never.
    t: f64,
    /// The square of its error then.
    square: f64,
    /// When it was assigned; NaN if never.
    assigned: f64,
}

impl Pin {
    const NONE: Pin = Pin { t: f64::NAN, square: 0.0, assigned: f64::NAN };
}

impl Carried {
    /// Makes room for the errors of some slots.
    #[inline]
    fn resize(&mut self, slots: usize) {
        if self.squares.len() < slots {
            self.squares.resize(slots, 0.0);
            self.pins.resize(slots, Pin::NONE);
        }
    }

    /// A slot is assigned.
    pub fn forget(&mut self, slot: u32, t: f64) {
        if let Some(pin) = self.pins.get_mut(slot as usize) {
            *pin = Pin { t, square: 0.0, assigned: t };
            self.squares[slot as usize] = 0.0;
        }
    }

    /// An atom that depends on some slots is zero by decree, and time passes.
    fn pin(&mut self, atom: AtomId, depends: &[u32], t: f64) {
        if self.zeros.len() <= atom.index() {
            self.zeros.resize(atom.index() + 1, f64::NAN);
        }
        self.zeros[atom.index()] = t;
        for &slot in depends {
            if let Some(pin) = self.pins.get_mut(slot as usize) {
                *pin = Pin { t, square: self.squares[slot as usize], ..*pin };
            }
        }
    }

    /// When an atom that depends on some states was zero by decree, if none of them was pinned again.
    fn zero(&self, atom: AtomId, mut states: impl Iterator<Item = u32>) -> Option<f64> {
        let zero = *self.zeros.get(atom.index())?;
        states.all(|slot| self.pin_of(slot).t == zero).then_some(zero)
    }

    /// True if an atom that depends on some states was zero by decree at a time, or one of these was
    /// assigned then.
    fn is_set(&self, atom: AtomId, mut states: impl Iterator<Item = u32>, t: f64) -> bool {
        self.zeros.get(atom.index()) == Some(&t) || states.any(|slot| self.pin_of(slot).assigned == t)
    }

    fn pin_of(&self, slot: u32) -> Pin {
        self.pins.get(slot as usize).copied().unwrap_or(Pin::NONE)
    }

    /// The error of a slot, or only what was added to it since it was pinned, if that was at some time.
    fn error(&self, slot: u32, pinned: Option<f64>) -> f64 {
        let (square, pin) = (self.squares.get(slot as usize).copied().unwrap_or(0.0), self.pin_of(slot));
        let known = if pinned == Some(pin.t) { pin.square } else { 0.0 };
        (square - known).max(0.0).sqrt()
    }
}

impl Runner<'_> {
    /// Takes the time on the segment from where the run stands to a place, if steps are proved, and the
    /// rounding in it.
    #[inline]
    pub fn carry_rounding(&mut self, s: f64) {
        if self.method.is_proof() && s > self.segment.cursor {
            self.add_rounding((s - self.segment.cursor) * self.segment.h);
        }
    }

    #[inline(never)]
    fn add_rounding(&mut self, elapsed: f64) {
        let combination = self.combinations.get(self.current);
        self.proofs.carried.resize(self.env.len());
        let squares = &mut self.proofs.carried.squares;
        let states = &combination.plan.states;
        let kept = combination.kept.as_ref().filter(|_| self.proofs.by_parts && self.proofs.unproved == 0.0);
        if let Some(kept) = kept {
            self.proofs.certificate.proved_time += elapsed;
            for (&(slot, _), &rate) in states.iter().zip(kept.roundings()) {
                squares[slot as usize] += moved_error(elapsed * rate, self.env[slot as usize]);
            }
            return;
        }
        let Some(prover) = combination.prover.as_ref().filter(|_| self.proofs.unproved == 0.0) else {
            for &(slot, _) in states {
                squares[slot as usize] += (UNIT * self.env[slot as usize]).powi(2);
            }
            return;
        };
        self.proofs.certificate.proved_time += elapsed;
        let Roundings { rates, polynomials, length } = prover.state_roundings();
        let share = (elapsed / length).min(1.0);
        for ((&(slot, _), &rate), &polynomial) in states.iter().zip(rates).zip(polynomials) {
            squares[slot as usize] +=
                moved_error(elapsed * rate + share * polynomial, self.env[slot as usize]);
        }
    }

    /// Time is about to pass: what is zero by decree is so whatever was rounded before.
    pub fn pin_zeros(&mut self) {
        if !self.method.is_proof() {
            return;
        }
        let position = &self.combinations.get(self.current).position;
        for atom in self.buffers.decreed() {
            let signs = self.signs.get(position[atom.index()] as usize);
            if signs.is_some_and(|signs| signs.now == 0) {
                let depends = &self.code.atoms[atom.index()].depends;
                self.proofs.carried.pin(atom, depends, self.stamp.t);
            }
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
        let pinned = self.pinned_together(guards);
        // Displaced states may be where a function does not exist.
        if self.combination().has_edges {
            let elapsed = self.segment.time_of(place) - pinned.unwrap_or(0.0);
            return PROOF_ROUNDING * f64::EPSILON * elapsed.abs();
        }
        let shift = self.aside(|runner| {
            runner.stand_at(place);
            runner.sum_displacements(guards, pinned)
        });
        if shift.is_finite() { shift * self.segment.h } else { 0.0 }
    }

    /// The time at which one of two guards was zero by decree and the other one set, if there is one. A
    /// time that a single guard is compared with is set by nothing that happened before.
    fn pinned_together(&self, guards: &[Motion]) -> Option<f64> {
        let [one, other] = guards else { return None };
        let (combination, carried) = (self.combination(), &self.proofs.carried);
        let atom = |guard: &Motion| combination.atoms[guard.p];
        let states = |guard: &Motion| {
            let depends = self.code.atoms[atom(guard).index()].depends.iter().copied();
            depends.filter(|&slot| combination.state_position(slot).is_some())
        };
        let together = |one: &Motion, other: &Motion| {
            let zero = carried.zero(atom(one), states(one))?;
            carried.is_set(atom(other), states(other), zero).then_some(zero)
        };
        together(one, other).or_else(|| together(other, one))
    }

    /// By how many units of the segment the errors of the states displace the zeros of guards here.
    fn sum_displacements(&mut self, guards: &[Motion], pinned: Option<f64>) -> f64 {
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
            let error = self.proofs.carried.error(slot, pinned);
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

/// The square of what rounding does to a state that has moved with some error to where it is now. One that does
/// not move is as exact as it was.
fn moved_error(error: f64, now: f64) -> f64 {
    let error = if error > 0.0 { error + UNIT * now.abs() } else { 0.0 };
    error * error
}

/// An active atom, and how fast it goes through zero.
#[derive(Clone, Copy)]
struct Motion {
    p: usize,
    slope: f64,
}
