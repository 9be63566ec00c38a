//! Which guards may change on a step, and how early: bounds from the coefficients of the jets, before
//! any zero is looked for.
//!
//! Of a crowd of guards only those are composed that may be zero before the first zero of any other;
//! and the step is not much longer than it takes until the next event, as far as the last steps
//! tell.

use crate::combination::{AtomRow, Combination};
use crate::explain;
use crate::guards::{BEYOND, sign_of};
use crate::outlook::{Near, Span};
use crate::report::Ending;
use crate::runner::Runner;
use crate::sift::sift;
use saltus_expr::jet::steady_until;

/// So many guards are few.
pub(crate) const FEW: usize = 6;
/// A step without an event makes the next one longer by this.
const GROWTH: f64 = 1.5;
/// Weight of the last way to an event in the mean.
const NEWEST: f64 = 0.125;
/// Steps may be as long as this many times the mean way to an event.
const AHEAD: f64 = 1.7;
/// The unit of the coefficients, up to which guards are bounded, in steps as long as that.
const OUTLOOK: f64 = 3.0;

/// How far it is worth to look ahead in a crowd.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon(f64);

/// The guard that may be zero first is to be known so well, as a share of how far it goes while nothing is told
/// apart.
const NARROW: f64 = 0.125;

impl Default for Horizon {
    fn default() -> Self {
        Self(f64::INFINITY)
    }
}

impl Horizon {
    pub fn length(self) -> f64 {
        self.0
    }

    /// A step of some length was made; `event` if it was to end at one.
    fn learn(&mut self, length: f64, event: bool) {
        let last = if self.0.is_finite() { self.0 } else { length };
        self.0 = if event { last + NEWEST * (AHEAD * length - last) } else { last.max(GROWTH * length) };
    }
}

impl Runner<'_> {
    /// Few guards are looked at one by one.
    pub fn has_many_guards(&self) -> bool {
        self.signs.len() > FEW
    }

    /// Fills `earliest` for the jets in force and a step of some length, for the guards of a crowd only
    /// as far as the outlook tells; the step is shortened to the horizon in a crowd.
    pub fn survey_guards(&mut self, mut length: f64) -> Result<f64, Box<Ending>> {
        if self.combination().bank.is_some() {
            length = length.min(self.horizon.0).min(self.scale);
            length = self.survey_crowd(length)?;
            if self.method.is_proof() || self.may_begin_at_zero {
                length = self.renew_stale_parts(length)?;
            }
        }
        self.survey_eager();
        Ok(length)
    }

    fn survey_crowd(&mut self, length: f64) -> Result<f64, Box<Ending>> {
        let Runner { combinations, earliest, signs, outlook, proofs, may_begin_at_zero, .. } = self;
        let combination = combinations.get_mut(self.current);
        let is_proof = self.method.is_proof();
        *may_begin_at_zero = false;
        earliest.clear();
        earliest.resize(signs.len(), f64::INFINITY);
        proofs.radii.resize(signs.len(), 0.0);
        proofs.speeds.resize(signs.len(), 0.0);
        if let Some(bank) = &mut combination.bank {
            bank.count_rounding(is_proof);
        }
        let span = Span { time: [self.stamp.t, self.t_low], unit: self.scale, length };
        outlook.begin((self.current, combination), span, self.tolerance);
        let tell = |p: usize, near: Near| {
            earliest[p] = near.place;
            *may_begin_at_zero |= near.place <= 0.0;
            (proofs.radii[p], proofs.speeds[p]) = (near.error, near.speed);
        };
        let (undefined, length) = match is_proof {
            true => outlook.look_at_all(combination, signs, tell),
            false => (outlook.look(combination, signs, tell), length),
        };
        match undefined {
            Some(p) => Err(explain::undefined_guard(self, p)),
            None => Ok(length),
        }
    }

    /// A guard that may be zero at the start of the step is told from one that rests by its coefficients there, which
    /// polynomials from an earlier origin have only up to the tolerance; and what a proof says of it is that its
    /// change since then is bounded. So the parts of the flow that it reads have to be expanded here. Where steps are
    /// proved so have those of the guard that may be zero first, if it is not known well enough to tell when.
    fn renew_stale_parts(&mut self, length: f64) -> Result<f64, Box<Ending>> {
        let resolution = if self.method.is_proof() { self.resolution(length) } else { f64::INFINITY };
        let Runner { combinations, earliest, code, proofs, .. } = self;
        let Combination { kept: Some(kept), atoms, banked, .. } = combinations.get_mut(self.current) else {
            return Ok(length);
        };
        let (mut first, mut any) = (None, false);
        let mut renew = |p: usize| any |= kept.renew_stale(&code.atoms[atoms[p].index()].depends);
        let take = |p: usize| match earliest[p] {
            _ if banked[p] == u32::MAX => {}
            place if place <= 0.0 => renew(p),
            place if first.is_none_or(|q: usize| place < earliest[q]) => first = Some(p),
            _ => {}
        };
        sift(earliest, |&place| place < f64::INFINITY, take);
        if let Some(p) = first.filter(|&p| proofs.radii[p] > NARROW * resolution * proofs.speeds[p]) {
            renew(p);
        }
        if !any {
            return Ok(length);
        }
        self.jets_fresh = false;
        self.refresh_jets();
        self.survey_crowd(length)
    }

    /// The same for the guards that are computed with the flow.
    pub fn survey_eager(&mut self) {
        let Runner { combinations, earliest, signs, .. } = self;
        let combination = combinations.get(self.current);
        earliest.resize(signs.len(), f64::INFINITY);
        for &p in &combination.eager {
            let mut weights = combination.jets.weights(combination.atom_slots[p as usize]);
            let AtomRow { memory, is_endless } = &combination.atom_rows[p as usize];
            if *is_endless {
                weights[3] += BEYOND * memory.last_two(combination.jets.arena());
            }
            earliest[p as usize] = earliest_change(signs[p as usize].now, weights);
        }
    }

    /// Looks at the next part of the step, unless what was seen reaches up to a place, in units of the
    /// jets, behind which nothing is asked for; true if there was any. Puts the guards that may be zero
    /// there into `candidates`.
    pub fn survey_further(&mut self, end: f64, candidates: &mut Vec<u32>) -> bool {
        let Runner { combinations, earliest, signs, outlook, .. } = self;
        let combination = combinations.get_mut(self.current);
        if combination.bank.is_none() || outlook.has_seen(end) {
            return false;
        }
        candidates.clear();
        outlook.look(combination, signs, |p, near| {
            if std::mem::replace(&mut earliest[p], near.place) == f64::INFINITY {
                candidates.push(p as u32);
            }
        });
        true
    }

    /// The horizon and the scale of the next step follow from what came of this one.
    pub fn learn_horizon(&mut self) {
        if self.combination().bank.is_some() && self.segment.end > 0.0 {
            let length = self.segment.end * self.segment.h;
            self.horizon.learn(length, !self.segment.roots.is_empty());
            self.set_scale(OUTLOOK * self.horizon.0);
        }
    }
}

/// A place, in units of the scale of the jets, before which a quantity with some sign surely keeps
/// it. Beyond 1 nothing is known unless it keeps its sign up to there.
fn earliest_change(sign: i8, [value, slope, bend, rest]: [f64; 4]) -> f64 {
    if sign == 0 || sign != sign_of(value) {
        return 0.0;
    }
    steady_until([value, slope, bend, rest, 0.0])
}
