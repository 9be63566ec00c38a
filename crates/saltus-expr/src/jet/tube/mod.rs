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
//! |e| <= tail s^(p+1) + drift s,  tail = defect / ((p + 1) (1 - growth / (p + 2))).
//!
//! If that is less than the width at s = 1, the flow never leaves the tube, hence exists. The defect
//! comes in at the end of the step, so growth hardly matters, and what is proved is about as narrow as
//! the error is estimated to be.
//!
//! A [`Proof`] is made for all steps whose coefficients are within its [`Limits`]. Mostly the last one
//! holds for the next step, too; one for a step alone is made where a wide one does not succeed.

mod bound;
mod limits;
mod obstacle;
mod operation;
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
use bound::Bound;
use limits::Limits;
use profile::{Coefficients, Extent, Profiles};
use proof::{Flow, Proof, Span, Step};
use rows::Pass;
use saltus_num::UNIT;
use saltus_num::interval::Interval;
use std::sync::Arc;
use tape::Tape;

/// After a wide proof that did not succeed, at most so many steps are proved alone.
const PATIENCE: u32 = 64;

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

/// Proves steps of one plan, for jets of one kind. Nothing is allocated after construction.
///
/// ```
/// use saltus_expr::jet::{JetMachine, Jets, Tube};
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
/// let distance = tube.bound_distance(&jets, 0.5, 1.0, 0.01).unwrap();
/// assert!(distance.most() < 1e-6);
/// assert!(tube.state_range(0).contains(5.0625));
/// // Where x may be zero, the square root is not smooth, and is named.
/// jets.run(&[0.0, 0.01, 0.0], 1.0);
/// tube.set_point(&[0.0, 0.01, 0.0], 0.0);
/// let obstacle = tube.bound_distance(&jets, 0.3, 1.0, 0.5).unwrap_err();
/// assert_eq!(obstacle.function, "sqrt");
/// ```
#[derive(Clone, Debug)]
pub struct Tube {
    flow: Flow,
    span: Span,
    profiles: Profiles,
    /// The slots of constants and their values.
    constants: Vec<(u32, f64)>,
    /// For many steps, and for one.
    wide: Proof,
    tight: Proof,
    /// Which of them is in force, the share of tails in what it supposes, and the distance.
    is_tight: bool,
    share: f64,
    distance: Distance,
    /// Steps to be proved alone before another wide proof is tried, and how many the next time.
    waits: u32,
    patience: u32,
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
    limits: Limits,
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
            span: Span { now: 0.0, h: 0.0, least_weight: 0.0, powers: vec![1.0; order + 1] },
            profiles: Profiles::new(flow.tape.degrees.len(), order, &flow.states, &flow.tape.places),
            constants: flow.constants.iter().map(|&slot| (slot, f64::NAN)).collect(),
            wide: Proof::new(&flow, true),
            tight: Proof::new(&flow, false),
            is_tight: false,
            share: 1.0,
            distance: Distance::default(),
            waits: 0,
            patience: 1,
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
        (self.wide, self.tight) = (Proof::new(flow, true), Proof::new(flow, false));
        self.restart();
    }

    /// Forgets earlier steps.
    pub fn restart(&mut self) {
        self.wide.forget();
        (self.waits, self.patience) = (0, 1);
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
        }
    }

    /// Bounds the distance of the flow from its polynomial on a step of length `h`, from coefficients
    /// scaled by `scale`, for a tube of some width in units of how far each state moves. If it is
    /// below that width it is proved; else nothing is. Fails if a derivative is not certain to exist
    /// and to be smooth.
    pub fn bound_distance(
        &mut self,
        jets: &(impl Jets + ?Sized),
        h: f64,
        scale: f64,
        width: f64,
    ) -> Result<Distance, Obstacle> {
        self.span.set_length(h, scale);
        let Tube { flow, span, profiles, wide, .. } = self;
        let step = Step::new(flow, span, jets);
        profiles.read(&step.coefficients);
        self.is_tight = false;
        if let Some((share, distance)) = wide.again(&step, profiles, width) {
            (self.share, self.distance) = (share, distance);
            return Ok(distance);
        }
        if self.waits > 0 {
            self.waits -= 1;
            return self.tighten(jets, width);
        }
        match wide.make(&step, profiles, width) {
            Ok(distance) if distance.most() < width => {
                self.share = wide.share(profiles);
                (self.distance, self.patience) = (distance, 1);
                Ok(distance)
            }
            _ => {
                wide.forget();
                self.waits = self.patience;
                self.patience = (2 * self.patience).min(PATIENCE);
                self.tighten(jets, width)
            }
        }
    }

    /// The same for the step last bounded, as narrow as can be: a proof for many steps is wider.
    pub fn tighten(&mut self, jets: &(impl Jets + ?Sized), width: f64) -> Result<Distance, Obstacle> {
        let Tube { flow, span, profiles, tight, .. } = self;
        (self.is_tight, self.share) = (true, 1.0);
        tight.take_constants(&self.constants);
        self.distance = tight.make(&Step::new(flow, span, jets), profiles, width)?;
        Ok(self.distance)
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
        let extent = self.profiles.position(self.flow.states[state]).map(|at| self.profiles.extent(at));
        extent.unwrap_or(Extent::UNKNOWN).range(self.proof().weight(state) * self.narrowed()).interval()
    }

    /// How far off the flow may be, in weights, if it stays in the tube.
    fn narrowed(&self) -> f64 {
        1.01 * self.distance.most().min(self.proof().width())
    }

    /// All values of a slot on the step last proved, as far as they are known: not those of signals that
    /// no derivative needs.
    pub fn slot_range(&self, slot: u32) -> Interval {
        let row = self.flow.tape.row_of_slot[slot as usize].index();
        match (self.proof().slot(&self.flow, slot), self.profiles.position(row)) {
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
            bound.with_share(self.share).radii.along() + bound.radii.spread * self.distance.most()
        })
    }

    /// A bound of the distance of a state from its polynomial on the step last proved.
    pub fn state_distance(&self, state: usize) -> f64 {
        self.proof().weight(state) * self.distance.most()
    }

    /// Bounds of what rounding does to the states on some time of the step last proved: to their
    /// derivatives, to the terms of their polynomials and to the sums.
    pub fn state_roundings(&self, elapsed: f64) -> impl Iterator<Item = f64> {
        let (share, rates) = ((elapsed / self.span.h).min(1.0), self.proof().rate_roundings());
        let order = self.span.powers.len() - 1;
        self.flow.states.iter().zip(rates).map(move |(&row, rate)| {
            let roundings = 4.0 * (self.flow.tape.degrees[row].within(order) + 1) as f64;
            let Extent { start, size, .. } =
                self.profiles.position(row).map_or(Extent::UNKNOWN, |at| self.profiles.extent(at));
            if size == 0.0 { 0.0 } else { elapsed * rate + UNIT * (roundings * (size * share) + start) }
        })
    }

    /// What is known of a watched slot on the step last proved.
    pub fn watched(&mut self, jets: &(impl Jets + ?Sized), index: usize) -> Result<SlotBound, Obstacle> {
        let Tube { flow, span, profiles, .. } = self;
        let proof = if self.is_tight { &mut self.tight } else { &mut self.wide };
        if proof.learn(&Step::new(flow, span, jets), profiles, index) {
            // Its tails may have a greater share than others.
            self.share = self.share.max(proof.share(profiles));
        }
        proof.watched(flow, index, self.share)
    }

    /// What is known of a function of a bank that was composed on the step last proved.
    pub fn in_bank(&mut self, bank: &Bank, function: usize) -> Result<SlotBound, Obstacle> {
        let view = bank.view(function);
        let known = self.guests.iter().position(|guest| Arc::ptr_eq(&guest.lowered, view.lowered));
        let position = known.unwrap_or_else(|| {
            self.guests.push(Guest::new(view.lowered, self.span.powers.len()));
            self.guests.len() - 1
        });
        let Tube { flow, span, guests, share, wide, tight, .. } = self;
        let proof = if self.is_tight { tight } else { wide };
        let Guest { tape, rows, profiles, limits, obstacles, .. } = &mut guests[position];
        obstacles.clear();
        for (row, slot) in rows.iter_mut().zip(view.inputs) {
            *row = proof.input(flow, slot, obstacles).with_share(*share);
        }
        let coefficients = Coefficients {
            arena: view.memory,
            places: &tape.places,
            origin: view.lane,
            by: view.lanes,
            powers: &span.powers,
        };
        profiles.read(&coefficients);
        let width = proof.width();
        Pass { tape, rows, profiles, limits, coefficients, width, obstacles }.run(&tape.core);
        proof::shown(obstacles, rows[view.output])
    }
}

impl Guest {
    fn new(lowered: &Arc<Lowered>, span: usize) -> Guest {
        let tape = Tape::of_program(lowered, span);
        let rows = tape.bounds();
        let profiles = Profiles::new(rows.len(), span - 1, &[], &[]);
        let limits = Limits::new(false);
        Guest { lowered: Arc::clone(lowered), tape, rows, profiles, limits, obstacles: Vec::new() }
    }
}
