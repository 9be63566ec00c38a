//! A proof: what is known of all rows on every step within some limits, and what follows for the
//! distance of the flow from its polynomials.

use super::bound::{Bound, Radii};
use super::limits::Limits;
use super::obstacle::Obstacle;
use super::profile::{Coefficients, Profiles};
use super::rows::Pass;
use super::tape::Tape;
use super::{Distance, SlotBound};
use crate::jet::range::{Range, TINY};
use crate::jet::{JetLayout, Jets};
use crate::plan::FlowPlan;
use saltus_num::UNIT;

/// A state that does not move gets this share of its value as weight, and at least so much.
const LEAST_SHARE: f64 = 1e-4;
const LEAST_WEIGHT: f64 = 1e-100;

/// How much more weight states may need because of others.
const REWEIGHINGS: usize = 4;

/// Time of a proof for many steps, in lengths of one.
const AHEAD: f64 = 16.0;
const LONGER: f64 = 2.0;

/// The equations of a flow as rows.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub tape: Tape,
    /// Row of each state, and row and slot of its derivative.
    pub states: Vec<usize>,
    rates: Vec<(usize, u32)>,
    pub time_slot: usize,
    reads_time: bool,
    /// Slots that are read and never written.
    pub constants: Vec<u32>,
    /// The rows of watched slots.
    watched: Vec<usize>,
    /// The rows that are always known.
    in_core: Vec<bool>,
}

impl Flow {
    pub fn new(plan: &FlowPlan, tape: Tape, watched: &[u32], read: &[u32]) -> Flow {
        let row = |slot: u32| tape.row_of_slot[slot as usize].index();
        let states: Vec<usize> = plan.states.iter().map(|&(state, _)| row(state)).collect();
        let mut is_read = tape.read();
        let rates = plan.states.iter().map(|&(_, rate)| rate);
        rates.chain(read.iter().copied()).for_each(|slot| is_read[row(slot)] = true);
        let mut is_constant: Vec<bool> =
            (0..plan.slots).map(|slot| row(slot as u32) == slot && is_read[slot]).collect();
        states.iter().chain([&(plan.time_slot as usize)]).for_each(|&slot| is_constant[slot] = false);
        let mut in_core = vec![true; tape.degrees.len()];
        tape.nodes.iter().for_each(|node| in_core[node.row.index()] = false);
        tape.core.iter().for_each(|&i| in_core[tape.nodes[i as usize].row.index()] = true);
        Flow {
            rates: plan.states.iter().map(|&(_, rate)| (row(rate), rate)).collect(),
            time_slot: plan.time_slot as usize,
            reads_time: is_read[plan.time_slot as usize],
            constants: (0..plan.slots as u32).filter(|&slot| is_constant[slot as usize]).collect(),
            watched: watched.iter().map(|&slot| row(slot)).collect(),
            in_core,
            states,
            tape,
        }
    }
}

/// When a step begins, how long it is, how narrowly it is followed, and the powers of its length over the
/// scale of the coefficients.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub now: f64,
    pub h: f64,
    /// The least weight of a state.
    pub least_weight: f64,
    pub powers: Vec<f64>,
}

impl Span {
    pub fn set_length(&mut self, h: f64, scale: f64) {
        self.h = h;
        let (ratio, mut power) = (h / scale, 1.0);
        for to in &mut self.powers {
            *to = power;
            power *= ratio;
        }
    }
}

/// The polynomials of a step.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub flow: &'a Flow,
    pub span: &'a Span,
    pub coefficients: Coefficients<'a>,
    layout: &'a JetLayout,
}

impl<'a> Step<'a> {
    pub fn new(flow: &'a Flow, span: &'a Span, jets: &'a (impl Jets + ?Sized)) -> Step<'a> {
        let (places, powers) = (&flow.tape.places, &span.powers);
        let coefficients = Coefficients { arena: jets.arena(), places, origin: 0, by: 1, powers };
        Step { flow, span, coefficients, layout: jets.layout() }
    }

    /// The last coefficient of the derivative of a state.
    #[inline(always)]
    fn last_coefficient(&self, slot: u32) -> f64 {
        let (place, order) = (self.layout.places[slot as usize], self.layout.order);
        if place.degree.reaches(order) { self.coefficients.arena[place.at(order)] } else { 0.0 }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Proof {
    rows: Vec<Bound>,
    limits: Limits,
    /// It was made, for these constants; some were met before.
    is_made: bool,
    pub has_met: bool,
    /// The width of the tube in the weights of the states.
    width: f64,
    weights: Vec<f64>,
    /// Defects of the states over their weights, and the reciprocals of these.
    defects: Vec<[f64; 2]>,
    /// The greatest growth of a distance in weights, for each unit of time.
    steepness: f64,
    /// Rounding in weights, for each unit of time and apart from it, and of the derivatives.
    rounding: [f64; 2],
    rate_roundings: Vec<f64>,
    /// Which watched rows are known.
    is_known: Vec<bool>,
    obstacles: Vec<Obstacle>,
    /// How often it was made.
    #[cfg(test)]
    pub makes: usize,
}

impl Proof {
    pub fn new(flow: &Flow, is_wide: bool) -> Proof {
        let Flow { tape, states, watched, .. } = flow;
        Proof {
            rows: tape.bounds(),
            limits: Limits::new(is_wide),
            is_made: false,
            has_met: false,
            width: 0.0,
            weights: vec![0.0; states.len()],
            defects: vec![[0.0; 2]; states.len()],
            steepness: 0.0,
            rounding: [0.0; 2],
            rate_roundings: vec![0.0; states.len()],
            is_known: vec![false; watched.len()],
            obstacles: Vec::new(),
            #[cfg(test)]
            makes: 0,
        }
    }

    /// Takes what does not change during a step. For many steps it is supposed to be in a range, which
    /// grows with the values met.
    pub fn take_constants(&mut self, constants: &[(u32, f64)]) {
        let grows = self.limits.is_wide && self.has_met;
        for &(slot, value) in constants {
            let row = &mut self.rows[slot as usize];
            let known = row.range;
            if !(if grows { known.contains(value) } else { known == Range::point(value) }) {
                let grows = grows && !value.is_nan();
                *row = Bound::constant(if grows { known.extended(value) } else { Range::point(value) });
                self.is_made = false;
            }
        }
        self.has_met = true;
    }

    /// Makes it for a step, in a tube of some width.
    pub fn make(&mut self, step: &Step, profiles: &mut Profiles, width: f64) -> Result<Distance, Obstacle> {
        let Step { span, .. } = *step;
        #[cfg(test)]
        {
            self.makes += 1;
        }
        self.begin(step, profiles, width);
        let mut drift = f64::INFINITY;
        for _ in 0..REWEIGHINGS {
            self.bound_core(step, profiles)?;
            self.steepness = self.pull(step.flow).fold(0.0_f64, |most, (pull, weight)| {
                let growth = pull / weight;
                if growth <= most { most } else { growth }
            });
            let grows = span.h * self.steepness;
            let has_new_weights = if grows <= greatest_growth(span) {
                self.settle(step.flow, span, profiles);
                let distance = self.distance(step, self.share(profiles));
                if distance.drift < 0.5 * width || !self.outweigh_rounding(step.flow, span, profiles) {
                    self.is_made = true;
                    return Ok(distance);
                }
                drift = distance.drift;
                true
            } else {
                !grows.is_nan() && self.reweigh(step.flow, span, profiles)
            };
            if !has_new_weights {
                break;
            }
        }
        Ok(Distance { tail: f64::INFINITY, drift })
    }

    /// What it says of a step that is within its limits: the share of tails in what was supposed of
    /// them, and the distance.
    #[inline]
    pub fn again(&self, step: &Step, profiles: &Profiles, width: f64) -> Option<(f64, Distance)> {
        let Step { flow, span, .. } = *step;
        let Bound { range: times, size: longest, .. } = self.rows[flow.time_slot];
        let is_near =
            !flow.reads_time || span.now >= times.lo && span.now + span.h <= times.hi && span.h <= longest;
        let grows = span.h * self.steepness > greatest_growth(span);
        if !self.is_made || self.width != width || !is_near || grows {
            return None;
        }
        let share = self.limits.share(profiles)?;
        let distance = self.distance(step, share);
        (distance.most() < width).then_some((share, distance))
    }

    /// The greatest share of a tail in what is supposed, on the step it was made for.
    pub fn share(&self, profiles: &Profiles) -> f64 {
        if self.limits.is_wide { self.limits.share(profiles).unwrap_or(1.0) } else { 1.0 }
    }

    /// Forgets everything; constants are to be taken anew.
    pub fn forget(&mut self) {
        (self.is_made, self.has_met) = (false, false);
        self.limits.forget();
    }

    /// The ranges of the states along their polynomials.
    fn begin(&mut self, step: &Step, profiles: &mut Profiles, width: f64) {
        let Step { flow, span, coefficients, .. } = *step;
        self.is_made = false;
        self.width = width;
        self.limits.renew();
        for (weight, &row) in self.weights.iter_mut().zip(&flow.states) {
            let position = profiles.ask(&coefficients, row, true);
            let extent = self.limits.extent(profiles, position);
            *weight = extent.size + LEAST_SHARE * extent.start + span.least_weight.max(LEAST_WEIGHT);
        }
        self.place_states(flow, profiles);
        let [ahead, longest] =
            if self.limits.is_wide { [AHEAD * span.h, LONGER * span.h] } else { [span.h; 2] };
        let end = Range::point(span.now).add(Range::point(ahead)).hi;
        let radii = Radii { drift: 4.0 * UNIT * longest, ..Radii::default() };
        self.rows[flow.time_slot] = Bound::new(Range { lo: span.now, hi: end }, radii, longest);
    }

    fn place_states(&mut self, flow: &Flow, profiles: &Profiles) {
        for (&row, &weight) in flow.states.iter().zip(&self.weights) {
            let extent = self.limits.supposed(profiles, row);
            let radii = Radii { spread: weight, ..Radii::default() };
            let range = extent.range(weight * self.width * (1.0 + 8.0 * UNIT));
            self.rows[row] = Bound::new(range, radii, extent.size);
        }
    }

    fn bound_core(&mut self, step: &Step, profiles: &mut Profiles) -> Result<(), Obstacle> {
        let Step { flow, .. } = *step;
        self.obstacles.clear();
        self.is_known.fill(false);
        self.limits.clear_tails();
        self.bound(step, profiles, &flow.tape.core);
        if self.obstacles.is_empty() {
            return Ok(());
        }
        match flow.rates.iter().find_map(|&(rate, _)| self.rows[rate].cause) {
            Some(cause) => Err(self.obstacles[cause as usize]),
            None => Ok(()),
        }
    }

    fn bound(&mut self, step: &Step, profiles: &mut Profiles, nodes: &[u32]) {
        let Step { flow, coefficients, .. } = *step;
        let Proof { rows, limits, width, obstacles, .. } = self;
        Pass { tape: &flow.tape, rows, profiles, limits, coefficients, width: *width, obstacles }.run(nodes);
    }

    /// How far, for each unit of time, every state may be pulled away if all are off by their weights,
    /// and that weight.
    fn pull<'a>(&'a self, flow: &'a Flow) -> impl Iterator<Item = (f64, f64)> {
        let pulls = flow.rates.iter().map(|&(rate, _)| self.rows[rate].radii.spread);
        pulls.zip(self.weights.iter().copied())
    }

    /// Gives more weight to the states that others pull away; true if any got some.
    fn reweigh(&mut self, flow: &Flow, span: &Span, profiles: &Profiles) -> bool {
        let share = 0.5 * greatest_growth(span);
        let needed = flow.rates.iter().map(|&(rate, _)| span.h * self.rows[rate].radii.spread / share);
        let any = raise(&mut self.weights, needed);
        self.place_states(flow, profiles);
        any
    }

    /// Gives more weight to the states that hardly move but for rounding; true if any got some.
    fn outweigh_rounding(&mut self, flow: &Flow, span: &Span, profiles: &Profiles) -> bool {
        let share = 0.125 * self.width / exponential(span.h * self.steepness);
        let needed = self.rate_roundings.iter().map(|rounding| span.h * rounding / share);
        let any = raise(&mut self.weights, needed);
        self.place_states(flow, profiles);
        any
    }

    /// What the distance follows from.
    fn settle(&mut self, flow: &Flow, span: &Span, profiles: &Profiles) {
        let order = span.powers.len() - 1;
        self.rounding = [0.0; 2];
        for (i, (&(rate, _), &state)) in flow.rates.iter().zip(&flow.states).enumerate() {
            let (radii, weight) = (self.rows[rate].radii, 1.0 / self.weights[i]);
            self.defects[i] = [radii.tail * weight, weight];
            let degree = flow.tape.degrees[state].within(order) as f64;
            let integration = 4.0 * UNIT * degree * self.limits.supposed(profiles, state).size + TINY;
            self.rate_roundings[i] = radii.start + radii.drift;
            let here = [self.rate_roundings[i] * weight, integration * weight];
            for (most, here) in self.rounding.iter_mut().zip(here) {
                *most = if here <= *most { *most } else { here };
            }
        }
    }

    /// The distance of the flow from its polynomials on a step with a share of the tails supposed; see
    /// the head of the module above.
    fn distance(&self, step: &Step, share: f64) -> Distance {
        let Step { flow, span, .. } = *step;
        let (h, p) = (span.h, (span.powers.len() - 1) as f64);
        let (mut defect, power) = (0.0_f64, span.powers[span.powers.len() - 1]);
        for (&(_, slot), &[tail, weight]) in flow.rates.iter().zip(&self.defects) {
            let beyond = tail * share + step.last_coefficient(slot).abs() * power * weight;
            defect = if beyond <= defect { defect } else { beyond };
        }
        let growth = h * self.steepness;
        let tail = h * defect / ((p + 1.0) * (1.0 - growth / (p + 2.0)));
        let [by_time, apart] = self.rounding;
        let drift = (h * by_time + apart) * exponential(growth);
        Distance { tail: tail * (1.0 + 64.0 * UNIT), drift: drift * (1.0 + 8.0 * UNIT) }
    }

    /// How far from its polynomial a state may be, in units of a distance.
    pub fn weight(&self, state: usize) -> f64 {
        self.weights[state]
    }

    /// What rounding does to the derivatives of the states along the polynomials.
    pub fn rate_roundings(&self) -> &[f64] {
        &self.rate_roundings
    }

    /// Gets to know a watched slot; true if it was not known.
    pub fn learn(&mut self, step: &Step, profiles: &mut Profiles, index: usize) -> bool {
        let is_new = !std::mem::replace(&mut self.is_known[index], true);
        if is_new {
            self.bound(step, profiles, &step.flow.tape.cones[index]);
        }
        is_new
    }

    /// What is known of a watched slot, with a share of the tails supposed.
    pub fn watched(&self, flow: &Flow, index: usize, share: f64) -> Result<SlotBound, Obstacle> {
        shown(&self.obstacles, self.rows[flow.watched[index]].with_share(share))
    }

    /// What is known of a slot that a function reads, with what makes it unreliable added to a list.
    pub fn input(&self, flow: &Flow, slot: u32, obstacles: &mut Vec<Obstacle>) -> Bound {
        let bound = self.rows[flow.tape.row_of_slot[slot as usize].index()];
        match bound.cause {
            Some(cause) => {
                obstacles.push(self.obstacles[cause as usize]);
                Bound::unsound(obstacles.len() as u32 - 1)
            }
            None => bound,
        }
    }

    /// The width of the tube in the weights of the states.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// What is known of a slot: nothing of signals that no derivative needs.
    pub fn slot(&self, flow: &Flow, slot: u32) -> Option<&Bound> {
        let row = flow.tape.row_of_slot[slot as usize].index();
        Some(&self.rows[row]).filter(|bound| flow.in_core[row] && bound.cause.is_none())
    }
}

/// Raises weights to what is needed, where that is finite; true if any was too small.
fn raise(weights: &mut [f64], needed: impl Iterator<Item = f64>) -> bool {
    let mut any = false;
    for (weight, needed) in weights.iter_mut().zip(needed) {
        if needed > *weight && needed.is_finite() {
            *weight = needed;
            any = true;
        }
    }
    any
}

/// A growth beyond this makes the step too long.
fn greatest_growth(span: &Span) -> f64 {
    0.5 * span.powers.len() as f64
}

/// A bound as it is shown.
pub(super) fn shown(obstacles: &[Obstacle], bound: Bound) -> Result<SlotBound, Obstacle> {
    match bound.cause {
        Some(cause) => Err(obstacles[cause as usize]),
        None => Ok(SlotBound { range: bound.range.interval(), radii: bound.radii }),
    }
}

/// An upper bound of the exponential of a number that is not negative, at most a third above it.
fn exponential(x: f64) -> f64 {
    if x >= 16.0 {
        return f64::INFINITY;
    }
    let root = 1.0 / (1.0 - x / 64.0);
    let [fourth, rounding] = [(root * root) * (root * root), 1.0 + 256.0 * UNIT];
    let sixteenth = (fourth * fourth) * (fourth * fourth);
    (sixteenth * sixteenth) * (sixteenth * sixteenth) * rounding
}
