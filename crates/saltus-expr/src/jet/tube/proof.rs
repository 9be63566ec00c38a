//! A proof: what is known of all rows on every step within some limits, and what follows for the
//! distance of the flow from its polynomials.

use super::bound::{Bound, Part, Radii};
use super::limits::Limits;
use super::obstacle::Obstacle;
use super::polynomials::Polynomials;
use super::profile::{Coefficients, Extent, Profiles};
use super::rows::Pass;
use super::tape::Tape;
use super::{Distance, SlotBound};
use crate::jet::range::{Range, TINY};
use crate::jet::{JetLayout, Jets};
use crate::plan::FlowPlan;
use crate::program::Reg;
use saltus_num::{UNIT, lesser};

/// A state that does not move gets this share of its value as weight, and at least so much.
const LEAST_SHARE: f64 = 1e-4;
const LEAST_WEIGHT: f64 = 1e-100;

/// How much more weight states may need because of others.
const REWEIGHINGS: usize = 4;

/// Time of a proof for many steps, in lengths of one.
const AHEAD: f64 = 16.0;
const LONGER: f64 = 2.0;

/// A growth beyond this makes too much of rounding, and the step too long.
const GREATEST_GROWTH: f64 = 16.0;
/// What more growth makes of a distance is found for so many times more than a step has.
const AMPLE: f64 = 1.125;
/// Where growth matters, rounding is less than this.
const DRIFT_THAT_GROWS: f64 = 1e-6;
/// What is left of additional weight in the next proof at least.
const FORGETTING: f64 = 0.9;
const GREATEST_SHARE: f64 = 32.0;
/// By which share of itself a growth has to fall with new weights, and what tells of a tube that is too wide.
const HELPS: f64 = 0.9;
const STUBBORN: f64 = 0.25;

/// No number.
const EMPTY: Range = Range { lo: f64::INFINITY, hi: f64::NEG_INFINITY };

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
    /// The rows that are always known, and those that are not zero where all derivatives exist.
    in_core: Vec<bool>,
    away_from_zero: Vec<bool>,
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
            away_from_zero: tape.away_from_zero(),
            states,
            tape,
        }
    }

    /// True if a watched slot is not zero where all derivatives exist.
    pub fn keeps_away(&self, index: usize) -> bool {
        self.away_from_zero[self.watched[index]]
    }
}

/// When a step begins, how long it is, and how narrowly it is followed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub now: f64,
    pub h: f64,
    /// The scale of the coefficients.
    pub scale: f64,
    /// The least weight of a state.
    pub least_weight: f64,
    /// States that hardly move but for rounding get so much weight that it is less than this in weights, if
    /// that is told: else what is proved of all others is as wide as the rounding of these.
    pub drift: Option<f64>,
}

/// The polynomials of a step.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub flow: &'a Flow,
    pub span: Span,
    pub coefficients: Coefficients<'a>,
    layout: &'a JetLayout,
}

impl<'a> Step<'a> {
    /// The powers of its length over the scale of the coefficients need not be known where only limits matter.
    pub fn new(flow: &'a Flow, span: Span, powers: &'a [f64], jets: &'a (impl Jets + ?Sized)) -> Step<'a> {
        let Tape { places, starts, .. } = &flow.tape;
        let coefficients = Coefficients { arena: jets.arena(), places, starts, origin: 0, by: 1, powers };
        Step { flow, span, coefficients, layout: jets.layout() }
    }

    /// Where the last coefficient of the derivative of a state is, if it has one.
    #[inline(always)]
    fn last_coefficient(&self, slot: u32) -> Option<usize> {
        let (place, order) = (self.layout.places[slot as usize], self.layout.order);
        place.degree.reaches(order).then(|| place.at(order))
    }

    fn order(&self) -> usize {
        self.layout.order
    }
}

/// What a proof in the making knows of rounding.
struct Rounding {
    /// What it did to the distance; infinite where that is not known apart from growth.
    drift: f64,
    /// What it may do at most, if states at rest are to get weight for it.
    asked: Option<f64>,
}

impl Rounding {
    /// The flow may leave the tube.
    fn open(&self) -> Distance {
        Distance { tail: f64::INFINITY, drift: self.drift }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Proof {
    rows: Vec<Bound>,
    /// What it supposes of the steps it holds for; nothing if that is one alone.
    limits: Option<Limits>,
    /// The constants of each kin that it holds for, by the row that stands for it.
    constants: Vec<Range>,
    /// It was made, for these constants; some were met before.
    is_made: bool,
    pub has_met: bool,
    /// The width of the tube in the weights of the states, and what was asked for: states that others pull
    /// away get more weight, not more room.
    width: f64,
    asked: f64,
    /// The states along their polynomials, and their weights.
    extents: Vec<Extent>,
    weights: Vec<f64>,
    /// How many times more weight each state had in the last proof because others pull it.
    shares: Vec<f64>,
    /// How many times narrower than asked for the tube is, and was in the last proof.
    narrowing: f64,
    /// The greatest defect of a state in weights, for each unit of time and apart from it.
    defect: [f64; 2],
    /// The greatest growth of a distance in weights, for each unit of time.
    steepness: f64,
    /// Some growth, and what it makes of rounding and of the defect.
    amplification: [f64; 3],
    /// Rounding in weights, for each unit of time and apart from it, and of the derivatives.
    rounding: [f64; 2],
    rate_roundings: Vec<f64>,
    /// Rounding of the polynomials of the states.
    state_roundings: Vec<f64>,
    /// Which watched rows are known, and whether those are that depend on constants alone.
    is_known: Vec<bool>,
    is_fixed_known: bool,
    obstacles: Vec<Obstacle>,
    /// How often it was made.
    #[cfg(test)]
    pub makes: usize,
}

impl Proof {
    /// For many steps with coefficients up to an order, or for one alone.
    pub fn new(flow: &Flow, many: Option<usize>) -> Proof {
        let Flow { tape, states, watched, .. } = flow;
        Proof {
            rows: tape.bounds(),
            limits: many.map(|order| Limits::new(tape, order)),
            constants: vec![EMPTY; if many.is_some() { tape.degrees.len() } else { 0 }],
            is_made: false,
            has_met: false,
            width: 0.0,
            asked: 0.0,
            extents: vec![Extent::default(); states.len()],
            weights: vec![0.0; states.len()],
            shares: vec![1.0; states.len()],
            narrowing: 1.0,
            defect: [0.0; 2],
            steepness: 0.0,
            amplification: [0.0, 1.0, 1.0],
            rounding: [0.0; 2],
            rate_roundings: vec![0.0; states.len()],
            state_roundings: vec![0.0; states.len()],
            is_known: vec![false; watched.len()],
            is_fixed_known: false,
            obstacles: Vec::new(),
            #[cfg(test)]
            makes: 0,
        }
    }

    /// Takes what does not change during a step. For many steps it is supposed to be in a range, which
    /// grows with the values met.
    pub fn take_constants(&mut self, constants: &[(u32, f64)]) {
        let is_known = |&(slot, value): &(u32, f64)| {
            let range = self.rows[slot as usize].range;
            if self.limits.is_some() { range.contains(value) } else { range == Range::point(value) }
        };
        if self.has_met && constants.iter().all(is_known) {
            return;
        }
        (self.is_made, self.has_met, self.is_fixed_known) = (false, true, false);
        let Some(limits) = &self.limits else {
            let points = constants.iter().map(|&(slot, value)| (slot, Bound::point(value)));
            points.for_each(|(slot, point)| self.rows[slot as usize] = point);
            return;
        };
        for &(slot, value) in constants {
            let range = &mut self.constants[limits.kin(slot as usize)];
            if !range.contains(value) {
                let grows = range.lo <= range.hi && !value.is_nan();
                *range = if grows { range.extended(value) } else { Range::point(value) };
            }
        }
        for &(slot, _) in constants {
            self.rows[slot as usize] = Bound::constant(self.constants[limits.kin(slot as usize)]);
        }
    }

    /// Makes it for a step, in a tube of some width.
    pub fn make(&mut self, step: &Step, profiles: &mut Profiles, width: f64) -> Result<Distance, Obstacle> {
        let Step { span, .. } = *step;
        #[cfg(test)]
        {
            self.makes += 1;
        }
        self.begin(step, profiles, width);
        let mut rounding =
            Rounding { drift: f64::INFINITY, asked: span.drift.filter(|&drift| drift < 0.5 * width) };
        let mut last = f64::INFINITY;
        for _ in 0..REWEIGHINGS + usize::from(rounding.asked.is_some()) {
            self.bound_core(step, profiles)?;
            self.steepness = self.steepest(step.flow);
            let grows = span.h * self.steepness;
            let distance = (grows <= GREATEST_GROWTH).then(|| {
                self.settle(step);
                self.distance(span.h)
            });
            let is_small = grows <= small_growth(step.order());
            let greatest = rounding.asked.unwrap_or(0.5 * self.width);
            let allowed = if is_small { greatest } else { greatest.min(DRIFT_THAT_GROWS) };
            let is_narrow = distance.is_some_and(|distance| distance.drift < allowed);
            if let Some(distance) = distance.filter(|_| is_small) {
                rounding.drift = distance.drift;
            }
            let has_new_weights = if is_narrow {
                false
            } else if is_small {
                (rounding.asked, last) = (None, f64::INFINITY);
                self.outweigh_rounding(step, greatest)
            } else {
                // More weight has to help.
                let before = std::mem::replace(&mut last, grows);
                grows < HELPS * before && self.reweigh(step, grows > STUBBORN * before)
            };
            if !has_new_weights {
                let closes = |distance: &Distance| (is_small || is_narrow) && distance.most() < self.width;
                let distance = distance.filter(closes);
                self.is_made = distance.is_some();
                return Ok(distance.unwrap_or(rounding.open()));
            }
        }
        Ok(rounding.open())
    }

    /// The greatest growth of a distance, for each unit of time; no number if a pull is none.
    fn steepest(&self, flow: &Flow) -> f64 {
        self.pull(flow).fold(0.0_f64, |most, (pull, weight)| {
            let growth = pull / weight;
            if growth <= most { most } else { growth }
        })
    }

    /// The distance on a step, if that is within its limits and this less than the width.
    #[inline]
    pub fn again(&mut self, flow: &Flow, span: Span, arena: &[f64], width: f64) -> Option<Distance> {
        let limits = self.limits.as_mut()?;
        let Bound { range: times, size: longest, .. } = self.rows[flow.time_slot];
        let is_near =
            !flow.reads_time || span.now >= times.lo && span.now + span.h <= times.hi && span.h <= longest;
        let grows = span.h * self.steepness > GREATEST_GROWTH;
        if !self.is_made || self.asked != width || !is_near || grows {
            return None;
        }
        limits.set_unit(span.h, span.scale);
        if !limits.hold(arena, &flow.tape) {
            return None;
        }
        let growth = span.h * self.steepness;
        if growth > self.amplification[0] {
            self.amplify((AMPLE * growth).min(GREATEST_GROWTH), flow.tape.order);
        }
        Some(self.distance(span.h)).filter(|distance| distance.most() < self.width)
    }

    /// Finds what growth makes of rounding and of the defect, if it is no more than this.
    fn amplify(&mut self, growth: f64, order: usize) {
        self.amplification = [growth, exponential(growth), gathered(growth, order)];
    }

    /// Forgets everything, also what was found not to be alike.
    pub fn restart(&mut self, tape: &Tape) {
        self.forget();
        if let Some(limits) = &mut self.limits {
            limits.set_kin(&tape.kin);
        }
    }

    /// Supposes nothing of rows alike any more; false if it does not anyway. Forgets everything then.
    pub fn part(&mut self) -> bool {
        let is_new = self.limits.as_mut().is_some_and(Limits::part);
        if is_new {
            self.forget();
        }
        is_new
    }

    /// Forgets everything; constants are to be taken anew.
    pub fn forget(&mut self) {
        (self.is_made, self.has_met) = (false, false);
        self.shares.fill(1.0);
        self.narrowing = 1.0;
        self.constants.fill(EMPTY);
        if let Some(limits) = &mut self.limits {
            limits.forget();
        }
    }

    /// The ranges of the states along their polynomials.
    fn begin(&mut self, step: &Step, profiles: &mut Profiles, width: f64) {
        let Step { flow, span, coefficients, .. } = *step;
        self.is_made = false;
        self.asked = width;
        let mut reach = [span.h; 2];
        if let Some(limits) = &mut self.limits {
            reach = [AHEAD * span.h, LONGER * span.h];
            limits.renew(&coefficients, &flow.states, [span.h, span.scale]);
        }
        for i in 0..flow.states.len() {
            let share = FORGETTING * self.shares[i];
            // One at rest says nothing of its next steps.
            self.shares[i] = if share < GREATEST_SHARE { share.max(1.0) } else { 1.0 };
            let row = Reg(flow.states[i] as u32);
            self.extents[i] = polynomials(&mut self.limits, profiles).extent(&coefficients, row);
            let Extent { start, size, .. } = self.extents[i];
            let least = size + LEAST_SHARE * start + span.least_weight.max(LEAST_WEIGHT);
            self.weights[i] = self.shares[i] * least;
        }
        self.narrowing = (FORGETTING * self.narrowing).max(1.0);
        self.width = width / self.narrowing;
        if let Some(limits) = &mut self.limits {
            let lasts = flow.rates.iter().map(|&(_, slot)| step.last_coefficient(slot));
            limits.suppose_lasts(&coefficients, flow.states.iter().copied().zip(lasts));
        }
        self.place_states(step.flow);
        let [ahead, longest] = reach;
        let end = Range::point(span.now).add(Range::point(ahead)).hi;
        let radii = Radii { drift: 4.0 * UNIT * longest, ..Radii::default() };
        self.rows[flow.time_slot] = Bound::new(Range { lo: span.now, hi: end }, radii, longest);
    }

    fn place_states(&mut self, flow: &Flow) {
        for ((&row, &extent), &weight) in flow.states.iter().zip(&self.extents).zip(&self.weights) {
            let radii = Radii { spread: weight, ..Radii::default() };
            let range = extent.range(weight * self.width * (1.0 + 8.0 * UNIT));
            self.rows[row] = Bound::new(range, radii, extent.size);
        }
    }

    fn bound_core(&mut self, step: &Step, profiles: &mut Profiles) -> Result<(), Obstacle> {
        let Step { flow, .. } = *step;
        self.obstacles.clear();
        self.is_known.fill(false);
        let known = if self.is_fixed_known { flow.tape.fixed } else { 0 };
        // Without choices a derivative needs each of them.
        let gives_up = self.limits.is_some() && !flow.tape.has_choices;
        self.bound(step, profiles, &flow.tape.core[known..], gives_up);
        if self.obstacles.is_empty() {
            self.is_fixed_known = true;
            return Ok(());
        }
        if gives_up {
            return Err(self.obstacles[0]);
        }
        match flow.rates.iter().find_map(|&(rate, _)| self.rows[rate].cause) {
            Some(cause) => Err(self.obstacles[cause as usize]),
            None => Ok(()),
        }
    }

    fn bound(&mut self, step: &Step, profiles: &mut Profiles, nodes: &[u32], gives_up: bool) {
        let Step { flow, coefficients, .. } = *step;
        let Proof { rows, limits, width, obstacles, .. } = self;
        let polynomials = polynomials(limits, profiles);
        let (width, rounding) = (*width, coefficients.rounding());
        let tape = &flow.tape;
        Pass { tape, rows, polynomials, coefficients, width, obstacles, gives_up, rounding }.run(nodes);
    }

    /// How far, for each unit of time, every state may be pulled away if all are off by their weights,
    /// and that weight.
    fn pull<'a>(&'a self, flow: &'a Flow) -> impl Iterator<Item = (f64, f64)> {
        let pulls = flow.rates.iter().map(|&(rate, _)| self.rows[rate].radii.spread);
        pulls.zip(self.weights.iter().copied())
    }

    /// Gives more weight to the states that others pull away; true if any got some. If that was not enough
    /// before, the tube is no wider for it: else what pulls would grow with it.
    fn reweigh(&mut self, step: &Step, narrows: bool) -> bool {
        let goal = 0.5 * small_growth(step.order());
        let mut most = 1.0_f64;
        for (i, &(rate, _)) in step.flow.rates.iter().enumerate() {
            let needed = step.span.h * self.rows[rate].radii.spread / goal;
            let factor = needed / self.weights[i];
            if factor > 1.0 && needed.is_finite() {
                self.weights[i] = needed;
                self.shares[i] *= factor;
                most = most.max(factor);
            }
        }
        self.narrowing *= if narrows { most } else { 1.0 };
        self.width = self.asked / self.narrowing;
        self.place_states(step.flow);
        most > 1.0
    }

    /// Gives more weight to the states that hardly move but for rounding, so that this is well below some
    /// number in weights; true if any got some.
    fn outweigh_rounding(&mut self, step: &Step, drift: f64) -> bool {
        let h = step.span.h;
        let share = 0.25 * drift / exponential(h * self.steepness);
        let mut any = false;
        for (weight, rounding) in self.weights.iter_mut().zip(&self.rate_roundings) {
            let needed = h * rounding / share;
            if needed > *weight && needed.is_finite() {
                *weight = needed;
                any = true;
            }
        }
        self.place_states(step.flow);
        any
    }

    /// What the distance follows from.
    fn settle(&mut self, step: &Step) {
        let Step { flow, .. } = *step;
        (self.defect, self.rounding) = ([0.0; 2], [0.0; 2]);
        self.amplify(step.span.h * self.steepness, step.order());
        for (i, (&(rate, slot), &state)) in flow.rates.iter().zip(&flow.states).enumerate() {
            let (radii, weight) = (self.rows[rate].radii, 1.0 / self.weights[i]);
            let Extent { size, .. } = self.extents[i];
            let defect = match &self.limits {
                Some(limits) => [radii.tail, limits.beyond(state)],
                None => [radii.tail + self.last_term(step, slot), 0.0],
            };
            let degree = flow.tape.degrees[state].within(step.order()) as f64;
            self.rate_roundings[i] = radii.start + radii.drift;
            self.state_roundings[i] = 4.0 * UNIT * (degree + 1.0) * size;
            let rounding = [self.rate_roundings[i], 4.0 * UNIT * degree * size + TINY];
            greatest(&mut self.defect, defect.map(|defect| defect * weight));
            greatest(&mut self.rounding, rounding.map(|rounding| rounding * weight));
        }
    }

    /// The last term of the derivative of a state on the step.
    fn last_term(&self, step: &Step, slot: u32) -> f64 {
        let Coefficients { arena, powers, .. } = step.coefficients;
        step.last_coefficient(slot).map_or(0.0, |at| arena[at].abs() * powers[step.order()])
    }

    /// The distance of the flow from its polynomials on a step of some length; see the head of the module above.
    fn distance(&self, h: f64) -> Distance {
        let [_, amplification, share] = self.amplification;
        let ([by_time, apart], [rounding, integration]) = (self.defect, self.rounding);
        let tail = (h * by_time + apart) * share;
        let drift = (h * rounding + integration) * amplification;
        Distance { tail: tail * (1.0 + 64.0 * UNIT), drift: drift * (1.0 + 8.0 * UNIT) }
    }

    /// How far from its polynomial a state may be, in units of a distance.
    pub fn weight(&self, state: usize) -> f64 {
        self.weights[state]
    }

    /// What rounding does to each state: for each unit of time by its derivative, and by its polynomial on
    /// the whole step.
    #[inline]
    pub fn roundings(&self) -> [&[f64]; 2] {
        [&self.rate_roundings, &self.state_roundings]
    }

    /// True if it was made.
    #[inline]
    pub fn is_made(&self) -> bool {
        self.is_made
    }

    /// True if a watched slot is known.
    pub fn knows(&self, index: usize) -> bool {
        self.is_known[index]
    }

    /// Gets to know a watched slot.
    pub fn learn(&mut self, step: &Step, profiles: &mut Profiles, index: usize) {
        self.is_known[index] = true;
        self.bound(step, profiles, &step.flow.tape.cones[index], false);
    }

    /// What is known of a watched slot on a part of the step.
    pub fn watched(&self, flow: &Flow, index: usize, part: Part) -> Result<SlotBound, Obstacle> {
        shown(&self.obstacles, self.rows[flow.watched[index]].on(part))
    }

    /// The same, if it is known and sound.
    #[inline]
    pub fn watched_bound(&self, flow: &Flow, index: usize) -> Option<&Bound> {
        Some(&self.rows[flow.watched[index]]).filter(|bound| self.is_known[index] && bound.cause.is_none())
    }

    /// True if a watched slot that derivatives depend on surely has a sign all along the step.
    #[inline]
    pub fn has_sign(&self, flow: &Flow, index: usize, sign: f64) -> bool {
        let row = flow.watched[index];
        let Bound { range: Range { lo, hi }, cause, .. } = &self.rows[row];
        flow.in_core[row] && cause.is_none() && lesser(sign * lo, sign * hi) > 0.0
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

    /// What is known of a row.
    pub fn row(&self, row: usize) -> &Bound {
        &self.rows[row]
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

/// A growth up to this hardly matters.
fn small_growth(order: usize) -> f64 {
    0.5 * (order + 1) as f64
}

/// An upper bound of what a distance that grows makes of a defect s^p of 1: the integral of
/// s^p exp(growth (1 - s)) over the step, as the series of growth^j / ((p + 1) ... (p + 1 + j)).
fn gathered(growth: f64, order: usize) -> f64 {
    let mut factor = (order + 1) as f64;
    let (mut term, mut sum) = (1.0 / factor, 0.0);
    // From here on each term is at most half of the one before.
    while factor + 1.0 < 2.0 * growth {
        sum += term;
        factor += 1.0;
        term *= growth / factor;
    }
    (sum + term / (1.0 - growth / (factor + 1.0))) * (1.0 + 256.0 * UNIT)
}

/// Raises numbers to others, or to NaN.
fn greatest(most: &mut [f64; 2], here: [f64; 2]) {
    for (most, here) in most.iter_mut().zip(here) {
        *most = if here <= *most { *most } else { here };
    }
}

/// What is known of polynomials: within the limits, if there are some, or of one step.
fn polynomials<'a>(limits: &'a mut Option<Limits>, profiles: &'a mut Profiles) -> Polynomials<'a> {
    match limits {
        Some(limits) => Polynomials::Within(limits),
        None => Polynomials::Of(profiles),
    }
}

/// A bound as it is shown.
pub(super) fn shown(obstacles: &[Obstacle], bound: Bound) -> Result<SlotBound, Obstacle> {
    match bound.cause {
        Some(cause) => Err(obstacles[cause as usize]),
        None => Ok(SlotBound { range: bound.range.interval(), radii: bound.radii }),
    }
}

/// An upper bound of the exponential of a number that is not negative, at most 1.7 times that.
fn exponential(x: f64) -> f64 {
    if x > GREATEST_GROWTH {
        return f64::INFINITY;
    }
    let root = 1.0 / (1.0 - x / 256.0);
    let [fourth, rounding] = [(root * root) * (root * root), 1.0 + 1024.0 * UNIT];
    let sixteenth = (fourth * fourth) * (fourth * fourth);
    let sixty_fourth = (sixteenth * sixteenth) * (sixteenth * sixteenth);
    (sixty_fourth * sixty_fourth) * (sixty_fourth * sixty_fourth) * rounding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_bounded_closely_from_above() {
        for order in [2, 7, 12, 24] {
            for tenth in 0..=10 * GREATEST_GROWTH as usize {
                let growth = tenth as f64 / 10.0;
                let parts = 4000;
                let middles = (0..parts).map(|i| (i as f64 + 0.5) / parts as f64);
                let terms = middles.map(|s| s.powi(order as i32) * (growth * (1.0 - s)).exp());
                let integral = terms.sum::<f64>() / parts as f64;
                let bound = gathered(growth, order);
                assert!(bound > 0.99999 * integral && bound < 2.0 * integral, "{order} {growth}: {bound}");
                let amplification = exponential(growth) / growth.exp();
                assert!((1.0..1.7).contains(&amplification), "{growth}: {amplification}");
            }
        }
        assert_eq!(exponential(1.01 * GREATEST_GROWTH), f64::INFINITY);
    }
}
