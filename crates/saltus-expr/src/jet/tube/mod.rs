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

mod bound;
mod obstacle;
mod operation;
mod profile;
mod rows;
mod tape;
#[cfg(test)]
mod tests;

pub use bound::Radii;
pub use obstacle::{Obstacle, ObstacleKind};

use super::bank::Bank;
use super::range::{Range, TINY};
use super::{Jets, Lowered};
use crate::plan::FlowPlan;
use bound::{Bound, UNIT};
use profile::{Coefficients, Profiles};
use rows::Pass;
use saltus_num::interval::Interval;
use std::sync::Arc;
use tape::Tape;

/// A state that does not move gets this share of its value as weight, and at least so much.
const LEAST_SHARE: f64 = 1e-4;
const LEAST_WEIGHT: f64 = 1e-100;

/// How much more weight states may need because of others.
const REWEIGHINGS: usize = 4;

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
/// let mut tube = Tube::new(&plan, &jets, &[]);
/// tube.set_point(&env);
/// let distance = tube.bound_distance(&jets, 0.5, 1.0, 0.01).unwrap();
/// assert!(distance.most() < 1e-6);
/// assert!(tube.state_range(0).contains(5.0625));
/// // Where x may be zero, the square root is not smooth, and is named.
/// jets.run(&[0.0, 0.01, 0.0], 1.0);
/// tube.set_point(&[0.0, 0.01, 0.0]);
/// let obstacle = tube.bound_distance(&jets, 0.3, 1.0, 0.5).unwrap_err();
/// assert_eq!(obstacle.function, "sqrt");
/// ```
#[derive(Clone, Debug)]
pub struct Tube {
    tape: Tape,
    rows: Vec<Bound>,
    profiles: Profiles,
    /// Row of each state and of its derivative, and the slot of that.
    states: Vec<usize>,
    rates: Vec<(usize, u32)>,
    weights: Vec<f64>,
    distance: Distance,
    time_slot: usize,
    /// Slots that are read and never written.
    constants: Vec<u32>,
    powers: Vec<f64>,
    obstacles: Vec<Obstacle>,
    width: f64,
    /// The rows of watched slots, and whether they are known.
    watched: Vec<usize>,
    is_known: Vec<bool>,
    /// The rows that are always known.
    in_core: Vec<bool>,
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
}

impl Tube {
    /// For a plan and the jets that evaluate it, with some slots to watch beside the states.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`] or the jets are those of another plan.
    pub fn new(plan: &FlowPlan, jets: &(impl Jets + ?Sized), watched: &[u32]) -> Tube {
        let tape = Tape::new(plan, jets, watched);
        let order = jets.order();
        let row = |slot: u32| tape.row_of_slot[slot as usize].index();
        let states: Vec<usize> = plan.states.iter().map(|&(state, _)| row(state)).collect();
        let mut rows = vec![Bound::point(0.0); tape.degrees.len()];
        tape.constants.iter().for_each(|&(row, value)| rows[row.index()] = Bound::point(value));
        let mut is_constant: Vec<bool> = (0..plan.slots).map(|slot| row(slot as u32) == slot).collect();
        states.iter().chain([&(plan.time_slot as usize)]).for_each(|&slot| is_constant[slot] = false);
        let constants = (0..plan.slots as u32).filter(|&slot| is_constant[slot as usize]);
        let mut in_core = vec![true; tape.degrees.len()];
        tape.nodes.iter().for_each(|node| in_core[node.row.index()] = false);
        tape.core.iter().for_each(|&i| in_core[tape.nodes[i as usize].row.index()] = true);
        Tube {
            profiles: Profiles::new(rows.len(), order),
            rates: plan.states.iter().map(|&(_, rate)| (row(rate), rate)).collect(),
            weights: vec![0.0; states.len()],
            distance: Distance::default(),
            time_slot: plan.time_slot as usize,
            constants: constants.collect(),
            powers: vec![1.0; order + 1],
            obstacles: Vec::new(),
            width: 0.0,
            watched: watched.iter().map(|&slot| row(slot)).collect(),
            is_known: vec![false; watched.len()],
            in_core,
            guests: Vec::new(),
            rows,
            states,
            tape,
        }
    }

    /// Takes the point: time and constants are read from `env`.
    pub fn set_point(&mut self, env: &[f64]) {
        for &slot in &self.constants {
            self.rows[slot as usize] = Bound::point(env[slot as usize]);
        }
        self.rows[self.time_slot] = Bound::point(env[self.time_slot]);
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
        self.begin(jets, h, scale, width);
        let greatest = 0.5 * self.powers.len() as f64;
        for _ in 0..REWEIGHINGS {
            self.bound_core(jets)?;
            let growth = self.growth(h);
            if growth <= greatest {
                self.distance = self.close(jets, h, growth);
                return Ok(self.distance);
            }
            if growth.is_nan() || !self.reweigh(h, 0.5 * greatest) {
                break;
            }
        }
        Ok(Distance { tail: f64::INFINITY, drift: f64::INFINITY })
    }

    /// The ranges of the states along their polynomials.
    fn begin(&mut self, jets: &(impl Jets + ?Sized), h: f64, scale: f64, width: f64) {
        let ratio = h / scale;
        let mut power = 1.0;
        for to in &mut self.powers {
            *to = power;
            power *= ratio;
        }
        self.width = width;
        self.profiles.clear();
        let Tube { tape, profiles, powers, .. } = self;
        let coefficients =
            Coefficients { arena: jets.arena(), places: &tape.places, origin: 0, by: 1, powers };
        for (weight, &row) in self.weights.iter_mut().zip(&self.states) {
            let extent = profiles.extent(coefficients, row, true);
            *weight = extent.size() + LEAST_SHARE * extent.value.abs() + LEAST_WEIGHT;
        }
        self.place_states();
        let now = self.rows[self.time_slot].range.lo;
        let ahead = Range::point(now).add(Range::point(h));
        let radii = Radii { drift: 4.0 * UNIT * h, ..Radii::default() };
        self.rows[self.time_slot] = Bound::new(Range { lo: now, hi: ahead.hi }, radii, h);
    }

    fn place_states(&mut self) {
        for (&row, &weight) in self.states.iter().zip(&self.weights) {
            let extent = self.profiles.known(row);
            let radii = Radii { spread: weight, ..Radii::default() };
            let range = extent.range(weight * self.width * (1.0 + 8.0 * UNIT));
            self.rows[row] = Bound::new(range, radii, extent.size());
        }
    }

    fn bound_core(&mut self, jets: &(impl Jets + ?Sized)) -> Result<(), Obstacle> {
        self.obstacles.clear();
        self.is_known.fill(false);
        let Tube { tape, rows, profiles, powers, width, obstacles, .. } = self;
        let coefficients =
            Coefficients { arena: jets.arena(), places: &tape.places, origin: 0, by: 1, powers };
        Pass { tape, rows, profiles, coefficients, width: *width, obstacles }.run(&tape.core);
        if obstacles.is_empty() {
            return Ok(());
        }
        match self.rates.iter().find_map(|&(rate, _)| self.rows[rate].cause) {
            Some(cause) => Err(self.obstacles[cause as usize]),
            None => Ok(()),
        }
    }

    /// The greatest growth of a distance in weights.
    fn growth(&self, h: f64) -> f64 {
        self.rates.iter().zip(&self.weights).fold(0.0_f64, |most, (&(rate, _), weight)| {
            let growth = h * self.rows[rate].radii.spread / weight;
            if growth <= most { most } else { growth }
        })
    }

    /// Gives more weight to the states that others pull away; true if any got some.
    fn reweigh(&mut self, h: f64, growth: f64) -> bool {
        let mut any = false;
        for (weight, &(rate, _)) in self.weights.iter_mut().zip(&self.rates) {
            let pull = h * self.rows[rate].radii.spread / growth;
            if pull > *weight && pull.is_finite() {
                *weight = pull;
                any = true;
            }
        }
        self.place_states();
        any
    }

    /// The distance of the flow from its polynomials; see the head of this module.
    fn close(&self, jets: &(impl Jets + ?Sized), h: f64, growth: f64) -> Distance {
        let order = self.powers.len() - 1;
        let p = order as f64;
        let last = self.powers[order];
        let (mut defect, mut rounding) = (0.0_f64, 0.0_f64);
        for (i, &(rate, slot)) in self.rates.iter().enumerate() {
            let (radii, weight) = (self.rows[rate].radii, 1.0 / self.weights[i]);
            let beyond = h * (radii.tail + jets.coefficient(slot, order).abs() * last) * weight;
            let degree = self.tape.degrees[self.states[i]].bound().map_or(order, |d| d.min(order)) as f64;
            let integration = 4.0 * UNIT * degree * self.profiles.known(self.states[i]).size() + TINY;
            let within = (h * (radii.start + radii.drift) + integration) * weight;
            defect = if beyond <= defect { defect } else { beyond };
            rounding = if within <= rounding { rounding } else { within };
        }
        let tail = defect / ((p + 1.0) * (1.0 - growth / (p + 2.0)));
        Distance { tail: tail * (1.0 + 64.0 * UNIT), drift: rounding * exponential(growth) }
    }

    /// All values of a state on the step last proved.
    pub fn state_range(&self, state: usize) -> Interval {
        self.rows[self.states[state]].range.interval()
    }

    /// All values of a slot on the step last proved, as far as they are known: not those of signals that
    /// no derivative needs.
    pub fn slot_range(&self, slot: u32) -> Interval {
        let row = self.tape.row_of_slot[slot as usize].index();
        let is_known = self.in_core[row] && self.rows[row].cause.is_none();
        if is_known {
            self.rows[row].range.interval()
        } else {
            Interval::new(f64::NEG_INFINITY, f64::INFINITY)
        }
    }

    /// A bound of the distance of a state from its polynomial on the step last proved.
    pub fn state_distance(&self, state: usize) -> f64 {
        self.weights[state] * self.distance.most()
    }

    /// What is known of a watched slot on the step last proved.
    pub fn watched(&mut self, jets: &(impl Jets + ?Sized), index: usize) -> Result<SlotBound, Obstacle> {
        if !std::mem::replace(&mut self.is_known[index], true) {
            let Tube { tape, rows, profiles, powers, width, obstacles, .. } = self;
            let coefficients =
                Coefficients { arena: jets.arena(), places: &tape.places, origin: 0, by: 1, powers };
            Pass { tape, rows, profiles, coefficients, width: *width, obstacles }.run(&tape.cones[index]);
        }
        self.shown(self.rows[self.watched[index]])
    }

    /// What is known of a function of a bank that was composed on the step last proved.
    pub fn in_bank(&mut self, bank: &Bank, function: usize) -> Result<SlotBound, Obstacle> {
        let view = bank.view(function);
        let known = self.guests.iter().position(|guest| Arc::ptr_eq(&guest.lowered, view.lowered));
        let position = known.unwrap_or_else(|| {
            self.guests.push(Guest::new(view.lowered, self.powers.len()));
            self.guests.len() - 1
        });
        let Tube { guests, powers, obstacles, width, .. } = self;
        let Guest { tape, rows, profiles, .. } = &mut guests[position];
        for (row, slot) in rows.iter_mut().zip(view.inputs) {
            *row = self.rows[self.tape.row_of_slot[slot as usize].index()];
        }
        profiles.clear();
        let coefficients = Coefficients {
            arena: view.memory,
            places: &tape.places,
            origin: view.lane,
            by: view.lanes,
            powers,
        };
        Pass { tape, rows, profiles, coefficients, width: *width, obstacles }.run(&tape.core);
        let bound = rows[view.output];
        self.shown(bound)
    }

    fn shown(&self, bound: Bound) -> Result<SlotBound, Obstacle> {
        match bound.cause {
            Some(cause) => Err(self.obstacles[cause as usize]),
            None => Ok(SlotBound { range: bound.range.interval(), radii: bound.radii }),
        }
    }
}

impl Guest {
    fn new(lowered: &Arc<Lowered>, span: usize) -> Guest {
        let tape = Tape::of_program(lowered, span);
        let mut rows = vec![Bound::point(0.0); tape.degrees.len()];
        tape.constants.iter().for_each(|&(row, value)| rows[row.index()] = Bound::point(value));
        let profiles = Profiles::new(rows.len(), span - 1);
        Guest { lowered: Arc::clone(lowered), tape, rows, profiles }
    }
}

/// An upper bound of the exponential of a number that is not negative, at most a third above it.
fn exponential(x: f64) -> f64 {
    if x >= 16.0 {
        return f64::INFINITY;
    }
    (0..6).fold(1.0 / (1.0 - x / 64.0), |power: f64, _| power * power) * (1.0 + 256.0 * UNIT)
}
