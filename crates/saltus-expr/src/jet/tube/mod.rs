//! Tubes: proof that the flow exists on a step and stays near its Taylor polynomial.
//!
//! The polynomials P of the states, of order p, satisfy the equations of the flow but for a defect: the
//! terms of order p and higher that the right-hand side has along P, and rounding. Both are bounded
//! from the coefficients of the jets, with one pass over the rows and a number of operations
//! proportional to p for each ([`Bound`], [`rows`]). With s from 0 to 1 over the step and weights w_i
//! of the states let |e| be the greatest |x_i - P_i| / w_i of another flow x from the same start. Then
//!
//! |e|' <= growth |e| + defect s^p + rounding,
//!
//! as long as |e| is at most the width of the tube for which growth was bounded (the greatest sum of the
//! magnitudes of the entries of a row of the Jacobian there, in weights), and so
//!
//! |e| <= tail s^(p+1) + drift s,  tail = defect times the integral of s^p exp(growth (1 - s)).
//!
//! If that is less than the width at s = 1, the flow never leaves the tube, hence exists. The defect
//! comes in at the end of the step, so growth hardly matters, and what is proved is about as narrow as
//! the error is estimated to be.
//!
//! A [`Proof`] is made for all steps whose coefficients are within its [`Limits`](limits::Limits). Mostly
//! the last one holds for the next step, too; one for a step alone is made where a wide one does not succeed.

mod bound;
mod limits;
mod obstacle;
mod operation;
mod polynomials;
mod profile;
mod proof;
mod rows;
mod tape;
#[cfg(test)]
mod tests;

pub use bound::Radii;
pub use obstacle::{Obstacle, ObstacleKind};

use super::bank::Bank;
use super::{Jets, Lowered};
use crate::plan::FlowPlan;
use bound::{Bound, Part};
use polynomials::Polynomials;
use profile::{Coefficients, Extent, Profiles};
use proof::{Flow, Proof, Span, Step};
use rows::Pass;
use saltus_num::interval::Interval;
use saltus_num::{greater, lesser};
use std::sync::Arc;
use tape::Tape;

/// After a wide proof that did not succeed, at least and at most so many steps are proved alone.
const PATIENCE: [u32; 2] = [8, 64];

/// The next wide proof is made for a time shorter by this factor after one that did not succeed though it was
/// made for more than the step, and for one longer by this factor from step to step.
const SHORTER: f64 = 0.25;
const LONGER: f64 = 1.125;

/// The distance of the flow from the polynomials, in the weights of the states:
/// at most `tail` s^(p+1) + `drift` s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// What is beyond the order.
    pub tail: f64,
    /// Rounding.
    pub drift: f64,
}

impl Distance {
    /// The greatest distance on the step.
    pub fn most(self) -> f64 {
        self.tail + self.drift
    }
}

/// What is known of a slot on a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotBound {
    /// All its values.
    pub range: Interval,
    /// How far it may be from its polynomial.
    pub radii: Radii,
}

/// What rounding does to each state.
#[derive(Clone, Copy, Debug)]
pub struct Roundings<'a> {
    /// By its derivative, for each unit of time.
    pub rates: &'a [f64],
    /// By the terms of its polynomial, on a whole length.
    pub polynomials: &'a [f64],
    /// That length.
    pub length: f64,
}

/// A step to be followed, and the coefficients of its polynomials.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// How long it is.
    pub h: f64,
    /// How long the tolerance would allow it to be, at least `h`: proofs for many steps are made for these
    /// lengths, in which steps are alike.
    pub unit: f64,
    /// The scale of the coefficients.
    pub scale: f64,
}

/// Proves steps of one plan, for jets of one kind. Nothing is allocated after construction.
///
/// ```
/// use saltus_expr::jet::{JetMachine, Jets, Length, Tube};
/// use saltus_expr::{FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
/// // x' = sqrt(x) from x = 4, with time in slot 0: x = (2 + t/2)^2.
/// let mut graph = Graph::new();
/// let x = graph.var(VarId(1), Sort::Real);
/// let rate = graph.intern(Node::Unary(Unary::Sqrt, x));
/// let (program, _) = Program::new(&graph, &[rate]);
/// let block = PlanBlock { program: program.into(), inputs: vec![1], outputs: vec![2] };
/// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 2)], time_slot: 0, slots: 3 };
/// let mut jets = JetMachine::new(&plan, 8);
/// let env = [0.0, 4.0, 0.0];
/// jets.run(&env, 1.0);
/// let mut tube = Tube::new(&plan, &jets, &[], &[]);
/// tube.set_point(&env, 0.0);
/// let length = Length { h: 0.5, unit: 0.5, scale: 1.0 };
/// let distance = tube.bound_distance(&jets, length, 0.01).unwrap();
/// assert!(distance.most() < 1e-6);
/// assert!(tube.state_range(0).contains(5.0625));
/// // Where x may be zero, the square root is not smooth, and is named.
/// jets.run(&[0.0, 0.01, 0.0], 1.0);
/// tube.set_point(&[0.0, 0.01, 0.0], 0.0);
/// let length = Length { h: 0.3, unit: 0.3, scale: 1.0 };
/// let obstacle = tube.bound_distance(&jets, length, 0.5).unwrap_err();
/// assert_eq!(obstacle.function, "sqrt");
/// ```
#[derive(Clone, Debug)]
pub struct Tube {
    flow: Flow,
    span: Span,
    unit: f64,
    /// Powers of the length of the step over the scale of the coefficients, for the ratio last asked for.
    powers: Vec<f64>,
    raised: f64,
    profiles: Profiles,
    /// The slots of constants and their values.
    constants: Vec<(u32, f64)>,
    /// For many steps, and for one.
    wide: Proof,
    tight: Proof,
    /// True if the one for one step has not taken the constants yet.
    has_new_constants: bool,
    /// Which of them is in force, the part of it that is the step, and the distance there.
    is_tight: bool,
    part: Part,
    distance: Distance,
    /// Steps to be proved alone before another wide proof is tried, and how many the next time.
    waits: u32,
    patience: u32,
    /// No wide proof is tried for a longer time.
    longest: f64,
    /// Units of banks, made when first met.
    guests: Vec<Guest>,
}

/// A unit of a bank.
#[derive(Clone, Debug)]
struct Guest {
    lowered: Arc<Lowered>,
    tape: Tape,
    rows: Vec<Bound>,
    profiles: Profiles,
    obstacles: Vec<Obstacle>,
}

impl Tube {
    /// For a plan and the jets that evaluate it, with some slots to watch beside the states, and those
    /// that functions of banks read.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`] or the jets are those of another plan.
    pub fn new(plan: &FlowPlan, jets: &(impl Jets + ?Sized), watched: &[u32], read: &[u32]) -> Tube {
        let flow = Flow::new(plan, Tape::new(plan, jets, watched), watched, read);
        let order = jets.order();
        Tube {
            span: Span::default(),
            unit: 0.0,
            powers: vec![1.0; order + 1],
            raised: 1.0,
            profiles: Profiles::new(flow.tape.degrees.len(), order, &flow.states, &flow.tape.places),
            constants: flow.constants.iter().map(|&slot| (slot, f64::NAN)).collect(),
            wide: Proof::new(&flow, Some(order)),
            tight: Proof::new(&flow, None),
            has_new_constants: true,
            is_tight: false,
            part: Part::WHOLE,
            distance: Distance::default(),
            waits: 0,
            patience: PATIENCE[0],
            longest: f64::INFINITY,
            guests: Vec::new(),
            flow,
        }
    }

    /// The coefficients come from other jets of the same plan from now on, which may keep other rows: what
    /// was proved from the former ones is forgotten.
    pub fn rebind(&mut self, plan: &FlowPlan, jets: &(impl Jets + ?Sized)) {
        let flow = &mut self.flow;
        flow.tape.places = Tape::new(plan, jets, &[]).places;
        let places = &flow.tape.places;
        self.profiles = Profiles::new(flow.tape.degrees.len(), jets.order(), &flow.states, places);
        (self.wide, self.tight) = (Proof::new(flow, Some(jets.order())), Proof::new(flow, None));
        self.restart();
    }

    /// Forgets earlier steps.
    pub fn restart(&mut self) {
        self.wide.restart(&self.flow.tape);
        self.tight.restart(&self.flow.tape);
        self.has_new_constants = true;
        (self.waits, self.patience, self.longest) = (0, PATIENCE[0], f64::INFINITY);
    }

    /// Takes the point: time and constants are read from `env`. States get at least some weight, even if
    /// they hardly move.
    pub fn set_point(&mut self, env: &[f64], least_weight: f64) {
        self.span.now = env[self.flow.time_slot];
        self.span.least_weight = least_weight;
        let mut have_changed = !self.wide.has_met;
        for (slot, value) in &mut self.constants {
            let now = env[*slot as usize];
            have_changed |= *value != now;
            *value = now;
        }
        if have_changed {
            self.wide.take_constants(&self.constants);
            self.has_new_constants = true;
        }
    }

    /// From now on states get so much weight that rounding is less than this in weights, where it can be.
    /// That makes the tube wider where a state hardly moves but for rounding, and narrower for the others.
    pub fn set_drift(&mut self, drift: Option<f64>) {
        self.span.drift = drift;
    }

    /// Bounds the distance of the flow from its polynomial on a step, for a tube of some width in units of
    /// how far each state moves. If it is below that width it is proved; else nothing is. Fails if a
    /// derivative is not certain to exist and to be smooth.
    pub fn bound_distance(
        &mut self,
        jets: &(impl Jets + ?Sized),
        Length { h, unit, scale }: Length,
        width: f64,
    ) -> Result<Distance, Obstacle> {
        (self.span.h, self.span.scale) = (h, scale);
        self.unit = greater(lesser(unit, self.longest), h);
        self.longest *= LONGER;
        match self.bound_widely(jets, width) {
            Some(distance) => Ok(self.narrow(distance)),
            None => self.tighten(jets, width),
        }
    }

    /// True if there is a proof for many steps.
    #[inline]
    pub fn has_wide_proof(&self) -> bool {
        self.wide.is_made()
    }

    /// True if a proof made for earlier steps holds for a step.
    #[inline]
    pub fn holds(
        &mut self,
        jets: &(impl Jets + ?Sized),
        Length { h, unit, scale }: Length,
        width: f64,
    ) -> bool {
        (self.span.h, self.span.scale) = (h, scale);
        self.unit = greater(lesser(unit, self.longest), h);
        let Tube { flow, span, unit, wide, .. } = self;
        let again = wide.again(flow, Span { h: *unit, ..*span }, jets.arena(), width);
        if let Some(distance) = again {
            self.narrow(distance);
        }
        again.is_some()
    }

    /// Takes the part of what was proved for the unit of a step that belongs to the step.
    #[inline]
    fn narrow(&mut self, Distance { tail, drift }: Distance) -> Distance {
        let part = Part::new(self.span.h / self.unit, self.powers.len() - 1);
        (self.is_tight, self.part) = (false, part);
        self.distance = Distance { tail: tail * part.of_tail, drift: drift * part.of_drift };
        self.distance
    }

    /// How far a watched slot may be from its polynomial on the step last proved; infinite if that is not
    /// known yet.
    #[inline]
    pub fn watched_radius(&self, index: usize) -> f64 {
        let bound = self.proof().watched_bound(&self.flow, index);
        bound.map_or(f64::INFINITY, |bound| {
            let radii = bound.on(self.part).radii;
            radii.along() + radii.spread * self.distance.most()
        })
    }

    /// The distance on the unit of a step by a proof for many steps, if there is one or one can be made.
    fn bound_widely(&mut self, jets: &(impl Jets + ?Sized), width: f64) -> Option<Distance> {
        let Tube { flow, span, unit, powers, wide, profiles, .. } = self;
        let whole = Span { h: *unit, ..*span };
        if let Some(distance) = wide.again(flow, whole, jets.arena(), width) {
            return Some(distance);
        }
        if self.waits > 0 {
            self.waits -= 1;
            return None;
        }
        let made = wide.make(&Step::new(flow, whole, powers, jets), profiles, width);
        let is_near_edge = made.is_err();
        if let Some(distance) = made.ok().filter(|distance| distance.most() < width) {
            self.patience = PATIENCE[0];
            return Some(distance);
        }
        wide.forget();
        // Rows that look alike may not be: without that it may succeed the next time.
        if wide.part() {
            return None;
        }
        if self.unit > self.span.h {
            self.longest = SHORTER * self.unit;
        } else {
            // Beside an edge each step is another one.
            self.waits = if is_near_edge { PATIENCE[1] / 2 } else { self.patience };
            self.patience = (2 * self.patience).min(PATIENCE[1]);
        }
        None
    }

    /// The same for the step last bounded, as narrow as can be: a proof for many steps is wider.
    pub fn tighten(&mut self, jets: &(impl Jets + ?Sized), width: f64) -> Result<Distance, Obstacle> {
        self.raise_powers();
        let Tube { flow, span, powers, profiles, tight, .. } = self;
        (self.is_tight, self.part) = (true, Part::WHOLE);
        if std::mem::take(&mut self.has_new_constants) {
            tight.take_constants(&self.constants);
        }
        let step = Step::new(flow, *span, powers, jets);
        profiles.read(&step.coefficients);
        self.distance = tight.make(&step, profiles, width)?;
        Ok(self.distance)
    }

    fn raise_powers(&mut self) {
        let ratio = self.span.h / self.span.scale;
        if ratio != self.raised {
            self.raised = ratio;
            let mut power = 1.0;
            for to in &mut self.powers {
                *to = power;
                power *= ratio;
            }
        }
    }

    /// True if what is known was found for the step alone.
    pub fn is_tight(&self) -> bool {
        self.is_tight
    }

    fn proof(&self) -> &Proof {
        if self.is_tight { &self.tight } else { &self.wide }
    }

    /// All values of a state on the step last proved.
    pub fn state_range(&self, state: usize) -> Interval {
        let row = self.flow.states[state];
        if !self.is_tight {
            return self.wide.row(row).range.interval();
        }
        let extent = self.profiles.position(row).map(|at| self.profiles.extent(at));
        extent.unwrap_or(Extent::UNKNOWN).range(self.tight.weight(state) * self.narrowed()).interval()
    }

    /// How far off the flow may be, in weights, if it stays in the tube.
    fn narrowed(&self) -> f64 {
        1.01 * self.distance.most().min(self.proof().width())
    }

    /// All values of a slot on the step last proved, as far as they are known: not those of signals that
    /// no derivative needs.
    pub fn slot_range(&self, slot: u32) -> Interval {
        let row = self.flow.tape.row_of_slot[slot as usize].index();
        let position = self.profiles.position(row).filter(|_| self.is_tight);
        match (self.proof().slot(&self.flow, slot), position) {
            (Some(bound), Some(position)) => {
                let off = 1.01 * bound.radii.along() + bound.radii.spread * self.narrowed();
                self.profiles.extent(position).range(off).interval()
            }
            (Some(bound), None) => bound.range.interval(),
            (None, _) => Interval::new(f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// A bound of the distance of a slot from its polynomial on the step last proved; infinite if there is
    /// none.
    pub fn slot_distance(&self, slot: u32) -> f64 {
        self.proof().slot(&self.flow, slot).map_or(f64::INFINITY, |bound| {
            let radii = bound.on(self.part).radii;
            radii.along() + radii.spread * self.distance.most()
        })
    }

    /// A bound of the distance of a state from its polynomial on the step last proved, as tail and drift.
    pub fn state_radii(&self, state: usize) -> Distance {
        let (weight, Distance { tail, drift }) = (self.proof().weight(state), self.distance);
        Distance { tail: weight * tail, drift: weight * drift }
    }

    /// A bound of the distance of a state from its polynomial on the step last proved.
    pub fn state_distance(&self, state: usize) -> f64 {
        self.proof().weight(state) * self.distance.most()
    }

    /// Bounds of what rounding does to the states on the step last proved.
    #[inline]
    pub fn state_roundings(&self) -> Roundings<'_> {
        let [rates, polynomials] = self.proof().roundings();
        Roundings { rates, polynomials, length: if self.is_tight { self.span.h } else { self.unit } }
    }

    /// What is known of a watched slot on the step last proved.
    pub fn watched(&mut self, jets: &(impl Jets + ?Sized), index: usize) -> Result<SlotBound, Obstacle> {
        let Tube { flow, span, unit, powers, profiles, .. } = self;
        let (proof, h) = if self.is_tight { (&mut self.tight, span.h) } else { (&mut self.wide, *unit) };
        if !proof.knows(index) {
            proof.learn(&Step::new(flow, Span { h, ..*span }, powers, jets), profiles, index);
        }
        proof.watched(flow, index, self.part)
    }

    /// True if a watched slot is not zero wherever all derivatives exist, hence on all proved steps.
    #[inline]
    pub fn keeps_away(&self, index: usize) -> bool {
        self.flow.keeps_away(index)
    }

    /// True if a watched slot has a sign all along the step last proved, as the proof that the flow exists tells.
    #[inline]
    pub fn has_sign(&self, index: usize, sign: f64) -> bool {
        self.proof().has_sign(&self.flow, index, sign)
    }

    /// What is known of a function of a bank that was composed on the step last proved.
    pub fn in_bank(&mut self, bank: &Bank, function: usize) -> Result<SlotBound, Obstacle> {
        let view = bank.view(function);
        let known = self.guests.iter().position(|guest| Arc::ptr_eq(&guest.lowered, view.lowered));
        let position = known.unwrap_or_else(|| {
            self.guests.push(Guest::new(view.lowered, self.powers.len()));
            self.guests.len() - 1
        });
        self.raise_powers();
        let Tube { flow, powers, guests, part, wide, tight, .. } = self;
        let proof = if self.is_tight { tight } else { wide };
        let Guest { tape, rows, profiles, obstacles, .. } = &mut guests[position];
        obstacles.clear();
        for (row, slot) in rows.iter_mut().zip(view.inputs) {
            *row = proof.input(flow, slot, obstacles).on(*part);
        }
        let coefficients = Coefficients {
            arena: view.memory,
            places: &tape.places,
            starts: &tape.starts,
            origin: view.lane,
            by: view.lanes,
            powers,
        };
        profiles.read(&coefficients);
        let width = proof.width();
        let polynomials = Polynomials::Of(profiles);
        let rounding = coefficients.rounding();
        let mut pass =
            Pass { tape, rows, polynomials, coefficients, width, obstacles, gives_up: false, rounding };
        pass.run(&tape.core);
        proof::shown(obstacles, rows[view.output])
    }
}

impl Guest {
    fn new(lowered: &Arc<Lowered>, span: usize) -> Guest {
        let tape = Tape::of_program(lowered, span);
        let rows = tape.bounds();
        let profiles = Profiles::new(rows.len(), span - 1, &[], &[]);
        Guest { lowered: Arc::clone(lowered), tape, rows, profiles, obstacles: Vec::new() }
    }
}
