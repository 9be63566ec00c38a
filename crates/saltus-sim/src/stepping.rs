//! Steps by integrators that work with values of the flow.
//!
//! The prediction of such an integrator is a polynomial for each state; guards composed with it are
//! polynomials too, so the rest of the engine does not know where a segment came from. With
//! extrapolation the guards bound the step *before* anything is evaluated ahead:
//!
//! ```text
//! PREDICT    the states over the longest step the error allows
//! COMPOSE    the guards with the prediction
//! no event:  step, then test the guards at its end before the flow is evaluated there
//! an event:  near enough that the prediction itself is within the tolerance: the prediction is the
//!            segment and nothing is evaluated; otherwise step to short of it and predict again
//! ```

use crate::combination::Combination;
use crate::compile::{Code, Signs};
use crate::composer::Composer;
use crate::gradient::{Gradients, Place};
use crate::guards::sign_of;
use crate::method::{EventMethod, GuardForm, Solver};
use crate::options::Options;
use crate::report::{Ending, Stats};
use crate::runner::Runner;
use crate::segment::{Crossing, Segment};
use saltus_num::polynomial;
use saltus_num::roots::outweighs;
use saltus_solve::adams::{Adams, AdamsOptions};
use saltus_solve::fixed::{Euler, Rk4};
use saltus_solve::runge_kutta::DormandPrince;
use saltus_solve::taylor::{StepBound, Tolerance};
use saltus_solve::{Flow, Integrator, Prediction, Refusal, StatePolynomials, Step};
use std::sync::Arc;

/// Highest degree of a state's polynomial.
pub(crate) const STATE_DEGREE: usize = 9;
/// Order to which guards that are no polynomials are composed.
pub(crate) const COMPOSED_ORDER: usize = 24;
/// Share of the way to an event that is stepped when the prediction is too inaccurate to reach it.
const APPROACH: f64 = 0.9;
/// The share of a step that is made where nothing is known of a guard.
const BLIND: f64 = 1.0 / 64.0;
/// Attempts at one step.
const ATTEMPTS: u32 = 200;
/// The prediction is off by at most this share of what states and guards are and move up to an event on it.
const OFF: f64 = 1.0 / 1024.0;
/// Guards keep this many times the expected gap between prediction and step as a distance.
const SAFETY: f64 = 3.0;

/// An integrator and what the engine knows about it.
pub(crate) struct Stepper {
    integrator: Box<dyn Integrator>,
    /// The next step starts anew: the flow has jumped.
    pub restart: bool,
    /// Length of the last step since then.
    length: f64,
    point: Vec<f64>,
    /// Signs and flags before a look ahead.
    signs: ProbedSigns,
    armed: Vec<bool>,
    gradients: Gradients,
    /// How far the states may come to be from the prediction, and where the prediction has them.
    slack: Vec<f64>,
    predicted: Vec<f64>,
}

impl Stepper {
    /// The integrator that the options ask for; none for Taylor's method, which has jets.
    pub fn new(options: &Options, tolerance: Tolerance, code: &Arc<Code>) -> Option<Stepper> {
        let step = options.step.unwrap_or_default();
        let integrator: Box<dyn Integrator> = match options.solver {
            Solver::Taylor => return None,
            Solver::Adams => Box::new(Adams::new(AdamsOptions::new(tolerance))),
            Solver::RungeKutta => Box::new(DormandPrince::new(tolerance)),
            Solver::Euler => Box::new(Euler::new(step)),
            Solver::Rk4 => Box::new(Rk4::new(step)),
        };
        let gradients = Gradients::of(code.clone());
        let (point, signs, armed, slack, predicted) = Default::default();
        Some(Stepper {
            integrator,
            restart: true,
            length: 0.0,
            point,
            signs,
            armed,
            gradients,
            slack,
            predicted,
        })
    }
}

/// Why no step was made.
enum Halt {
    /// The flow has no value at the start of the step.
    Here,
    /// The flow has no value at a time ahead, however short the step.
    Ahead(f64),
    /// No step is long enough to advance time.
    TooShort,
}

/// Signs before a look ahead, and when the roots on the segment are known.
#[derive(Debug, Default)]
struct ProbedSigns {
    before: Vec<Signs>,
    located: Vec<Signs>,
}

/// What a look at the prediction finds.
enum Ahead {
    /// No event on a share of the step, and if `quiet` no guard changes its sign there at all.
    Clear { share: f64, quiet: bool },
    /// An event so near that the prediction is the segment.
    Reached,
}

/// The flow of a combination, evaluated in the environment of the run.
struct PlanFlow<'a> {
    combination: &'a Combination,
    code: &'a Code,
    env: &'a mut [f64],
    scratch: &'a mut Vec<f64>,
    stats: &'a mut Stats,
    /// For guards that are states: their derivatives along the flow follow those of the states.
    gradients: Option<&'a mut Gradients>,
}

impl Flow for PlanFlow<'_> {
    fn eval(&mut self, t: f64, x: &[f64], f: &mut [f64]) -> Result<(), Refusal> {
        let plan = &self.combination.plan;
        self.env[0] = t;
        for (&(slot, _), &x) in plan.states.iter().zip(x) {
            self.env[slot as usize] = x;
        }
        let declared = self.combination.has_domains;
        let units = if declared { plan.blocks.len() } else { self.combination.flow_units };
        plan.blocks[..units].iter().for_each(|block| block.eval(self.env, self.scratch));
        for (f, &(_, slot)) in f.iter_mut().zip(&plan.states) {
            *f = self.env[slot as usize];
        }
        self.stats.rhs_evals += 1;
        let exists = f[..plan.states.len()].iter().all(|f| f.is_finite());
        let value = |slot: u32| self.env[slot as usize];
        let inside = exists && self.code.is_inside(self.combination, self.env, value);
        self.stats.outside_domain_evals += u64::from(!inside);
        if !exists {
            return Err(Refusal::Undefined { t });
        }
        if let Some(gradients) = &mut self.gradients {
            let at = Place { combination: self.combination, env: self.env };
            let (rates, guards) = f.split_at_mut(plan.states.len());
            for (p, rate) in guards.iter_mut().enumerate() {
                *rate = gradients.along(at, p, rates, 1.0);
            }
        }
        Ok(())
    }
}

impl Runner<'_> {
    /// Makes the segment that starts at the present values, with values of the flow.
    pub fn expand_by_values(&mut self) -> Result<(), Box<Ending>> {
        let Some(mut stepper) = self.stepper.take() else { return Ok(()) };
        let made = self.make_step(&mut stepper);
        self.stepper = Some(stepper);
        self.jets_fresh = false;
        self.stats.steps += 1;
        made.or_else(|halt| match halt {
            Halt::Here => Err(self.left_domain()),
            Halt::Ahead(t) => Err(self.looked_outside(t)),
            Halt::TooShort => self.meet_edge_or(|runner| runner.stuck(0.0)),
        })
    }

    fn make_step(&mut self, stepper: &mut Stepper) -> Result<(), Halt> {
        let remaining = (self.until - self.stamp.t) - self.t_low;
        self.synchronise(stepper);
        if self.with_flow(stepper, |integrator, flow| integrator.begin(flow)).is_err() {
            return Err(Halt::Here);
        }
        match self.method {
            EventMethod::Extrapolation => self.step_by_prediction(stepper, remaining),
            EventMethod::Printed => self.step_as_printed(stepper, remaining),
            _ => self.step_blindly(stepper, remaining),
        }
    }

    /// Brings the integrator to the present values.
    fn synchronise(&mut self, stepper: &mut Stepper) {
        let combination = self.combinations.get(self.current);
        let states = &combination.plan.states;
        stepper.point.clear();
        stepper.point.extend(states.iter().map(|&(x, _)| self.env[x as usize]));
        if self.options.guards == GuardForm::Appended {
            // A guard that is a state goes its own way until the flow jumps or a step is cut.
            let is_whole = !stepper.restart && self.segment.cursor == self.segment.end;
            combination.evaluate_crowd(&mut self.env, &mut self.scratch);
            let own = if is_whole { stepper.integrator.states().get(states.len()..) } else { None };
            match own {
                Some(own) => stepper.point.extend_from_slice(own),
                None => stepper.point.extend(combination.atom_slots.iter().map(|&g| self.env[g as usize])),
            }
        }
        if std::mem::take(&mut stepper.restart) {
            stepper.length = 0.0;
            stepper.integrator.restart(self.stamp.t, &stepper.point);
        } else {
            let elapsed = self.segment.cursor * self.segment.h;
            stepper.integrator.resume(elapsed, self.stamp.t, &stepper.point);
        }
    }

    /// Calls an integrator with the flow, and puts the present values back.
    fn with_flow<T>(
        &mut self,
        stepper: &mut Stepper,
        call: impl FnOnce(&mut dyn Integrator, &mut PlanFlow<'_>) -> T,
    ) -> T {
        let combination = self.combinations.get(self.current);
        let Stepper { integrator, gradients, .. } = stepper;
        let mut saved = std::mem::take(&mut self.saved);
        saved.clear();
        saved.extend(combination.plan.states.iter().map(|&(x, _)| self.env[x as usize]));
        let mut flow = PlanFlow {
            combination,
            code: &self.code,
            env: &mut self.env,
            scratch: &mut self.scratch,
            stats: &mut self.stats,
            gradients: (self.options.guards == GuardForm::Appended).then_some(gradients),
        };
        let result = call(integrator.as_mut(), &mut flow);
        for (&(slot, _), &value) in combination.plan.states.iter().zip(&saved) {
            self.env[slot as usize] = value;
        }
        self.env[0] = self.stamp.t;
        self.saved = saved;
        result
    }

    /// The longest step to try.
    fn proposed(&self, stepper: &Stepper, remaining: f64) -> f64 {
        stepper.integrator.proposed_within(remaining).min(self.options.max_step.unwrap_or(f64::INFINITY))
    }

    /// One attempt at a step: true if it was made.
    fn attempt(&mut self, stepper: &mut Stepper, h: f64) -> Result<bool, Halt> {
        if h == 0.0 && self.stamp.t < self.until {
            return Err(Halt::TooShort);
        }
        if h == 0.0 {
            self.take_polynomials(&StatePolynomials::constant(self.stamp.t, &stepper.point));
            return Ok(true);
        }
        let made = self.with_flow(stepper, |integrator, flow| integrator.step(h, flow));
        if made.is_ok_and(Step::is_accepted) {
            stepper.length = h;
            self.take_polynomials(stepper.integrator.dense());
            return Ok(true);
        }
        self.stats.rejected += 1;
        if self.stamp.t + stepper.integrator.proposed() == self.stamp.t {
            return Err(match made {
                Err(Refusal::Undefined { t }) => Halt::Ahead(t),
                _ => Halt::TooShort,
            });
        }
        Ok(false)
    }

    /// The step first, then the guards on it.
    fn step_blindly(&mut self, stepper: &mut Stepper, remaining: f64) -> Result<(), Halt> {
        for _ in 0..ATTEMPTS {
            let h = self.proposed(stepper, remaining);
            if self.attempt(stepper, h)? {
                self.find_roots_on_step();
                return Ok(());
            }
        }
        Err(Halt::TooShort)
    }

    /// The guards on a step that was made, as far as their series are good.
    fn find_roots_on_step(&mut self) {
        self.compose_guards(&[]);
        let reach = self.guard_reach();
        if reach.is_nan() {
            // A guard without a series is looked at again from the end of the step.
            self.settle_all_signs();
            return;
        }
        self.find_roots(1.0);
        self.end_at(reach);
    }

    /// The share of the segment on which the series of guards that are no polynomials are as good as the
    /// tolerance asks; NaN if one has none. Those of edges need not be: a function under another ends to
    /// exist where that does.
    fn guard_reach(&self) -> f64 {
        let combination = self.combination();
        let order = self.given.length.saturating_sub(1);
        if combination.unbounded_guards.is_empty() || order < 4 {
            return 1.0;
        }
        let mut bound = StepBound::new(order);
        for &p in &combination.unbounded_guards {
            let row = self.given.row(p as usize);
            bound.quantity([row[1], row[2]], [row[order - 1], row[order]], self.tolerance);
        }
        let ratio = bound.ratio();
        if ratio > 1.0 { 1.0 } else { ratio }
    }

    /// The guards on the prediction first, then the step.
    fn step_by_prediction(&mut self, stepper: &mut Stepper, remaining: f64) -> Result<(), Halt> {
        let mut h = self.proposed(stepper, remaining);
        let shortest =
            self.options.min_step.unwrap_or(0.0).max(4.0 * f64::EPSILON * self.stamp.t.abs().max(h));
        for _ in 0..ATTEMPTS {
            let (share, quiet) = match self.look_ahead(stepper, h) {
                Ahead::Reached => return Ok(()),
                Ahead::Clear { share, .. } if share * h <= shortest && share < 1.0 => {
                    let Stepper { integrator, gradients, slack, .. } = stepper;
                    self.predict(integrator.as_mut(), (gradients, slack), shortest.min(remaining));
                    self.find_roots(1.0);
                    return Ok(());
                }
                Ahead::Clear { share, quiet } => (share, quiet),
            };
            self.keep_prediction(stepper, share);
            h *= share;
            if self.attempt(stepper, h)? {
                if quiet
                    && (self.is_as_predicted(stepper, share)
                        || self.keeps_signs_at(stepper.integrator.states()))
                {
                    self.settle_all_signs();
                } else {
                    self.find_roots_on_step();
                }
                return Ok(());
            }
            h = self.proposed(stepper, remaining).min(h);
        }
        Err(Halt::TooShort)
    }

    /// Notes where the prediction has the states at a place.
    fn keep_prediction(&mut self, stepper: &mut Stepper, place: f64) {
        let Segment { states, orders, coefficients, .. } = &self.segment;
        stepper.predicted.clear();
        stepper.predicted.extend_from_slice(&coefficients[(orders - 1) * states..orders * states]);
        for k in (0..orders - 1).rev() {
            for (x, c) in stepper.predicted.iter_mut().zip(&coefficients[k * states..(k + 1) * states]) {
                *x = *x * place + c;
            }
        }
    }

    /// True if the step came to lie so near to the prediction that no guard was left out wrongly.
    fn is_as_predicted(&self, stepper: &Stepper, place: f64) -> bool {
        let composer = self.combination().composer.as_ref();
        let x = stepper.integrator.states().iter().zip(&stepper.predicted);
        composer.is_some_and(|composer| composer.reads_states_alone())
            && !stepper.slack.is_empty()
            && x.zip(&stepper.slack).all(|((x, y), slack)| (x - y).abs() <= slack * (place * place))
    }

    /// Makes the prediction of length `h` the segment.
    fn predict<'p>(
        &mut self,
        integrator: &'p mut dyn Integrator,
        (gradients, slack): (&mut Gradients, &mut Vec<f64>),
        h: f64,
    ) -> Option<Prediction<'p>> {
        let prediction = integrator.predict(h)?;
        self.take_polynomials(prediction.states);
        slack.clear();
        if let Some(gap) = prediction.gap {
            let most = SAFETY * gap.coefficients.iter().sum::<f64>();
            slack.extend(gap.differences.iter().map(|d| most * d.abs()));
        }
        match self.options.guards {
            GuardForm::Composed => self.compose_guards(slack),
            GuardForm::Appended => self.append_guards(prediction.states),
            GuardForm::Linearised => self.linearise_guards(gradients, prediction.states),
        }
        Some(prediction)
    }

    /// Looks for an event on the prediction of length `h`.
    fn look_ahead(&mut self, stepper: &mut Stepper, h: f64) -> Ahead {
        let Stepper { integrator, gradients, signs, armed, slack, length, .. } = stepper;
        let Some(prediction) = self.predict(integrator.as_mut(), (gradients, slack), h) else {
            return Ahead::Clear { share: 1.0, quiet: false };
        };
        let reach = self.guard_reach();
        if reach.is_nan() {
            return Ahead::Clear { share: BLIND, quiet: false };
        }
        let mut near = std::mem::take(&mut self.near);
        near.retain(|&p| !self.is_far(p));
        self.near = near;
        let has_stairs = self.combination().has_stairs;
        if self.near.is_empty() && !has_stairs {
            return Ahead::Clear { share: reach, quiet: true };
        }
        let event = self.probe(signs, armed).filter(|&s| s <= reach);
        if let Some(s) = event
            && prediction.error(s) <= 1.0
            && self.is_near(s)
            // Farther ahead than the last step, differences that happen to be zero so far tell nothing. At
            // the event itself the flow may end to exist.
            && (s * h <= *length || self.follows_flow(APPROACH * s))
            && self.tells_way(s, &prediction, gradients)
        {
            self.signs.clone_from(&signs.located);
            self.end_at(reach);
            return Ahead::Reached;
        }
        let crossing = self.first_root();
        let approach = self.move_guards(&prediction, gradients);
        let bound = self.probe(signs, armed);
        let share =
            event.into_iter().chain(bound).reduce(f64::min).map_or(reach, |s| (approach * s).min(reach));
        // The zeros of guards alone do not tell where stairs have their edges.
        Ahead::Clear { share, quiet: !has_stairs && crossing.min(self.first_root()) > share }
    }

    /// True if all that states and guards are and move up to an event is much more than the prediction
    /// may be off there. Where that is all below the tolerance, as in flights that become ever shorter,
    /// the next events would else be where the prediction happens to put them, at intervals that do not
    /// shrink.
    fn tells_way(&self, event: f64, prediction: &Prediction<'_>, gradients: &mut Gradients) -> bool {
        let Some(gap) = prediction.gap else { return true };
        let off = polynomial::evaluate(gap.coefficients, event) / OFF;
        let Segment { states, coefficients, .. } = &self.segment;
        let mut moves = gap.differences[..*states].iter().enumerate();
        let is_told = moves.all(|(i, difference)| {
            let coefficients = coefficients[i..].iter().step_by(*states);
            (difference * off).abs() <= size_up_to(event, coefficients)
        });
        let at = Place { combination: self.combination(), env: &self.env };
        let mut composed = (0..self.signs.len()).filter(|&p| self.earliest[p] < f64::INFINITY);
        let mut reach = |p: usize| gradients.reach(at, p, gap.differences);
        is_told && composed.all(|p| reach(p) * off <= size_up_to(event, self.given.row(p).iter()))
    }

    /// Moves the guards that are near towards zero, by what is left of the way or as far as the step
    /// may come to be from the prediction; what share of the way to their zeros may then be gone.
    fn move_guards(&mut self, prediction: &Prediction<'_>, gradients: &mut Gradients) -> f64 {
        let Runner { combinations, env, given, near, signs, .. } = self;
        let at = Place { combination: combinations.get(self.current), env };
        match (self.options.gamma, prediction.gap) {
            (Some(gamma), _) => {
                near.iter().for_each(|&p| given.row_mut(p)[0] *= 1.0 - gamma);
                1.0
            }
            (None, Some(gap)) => {
                for &p in near.iter() {
                    let distance = SAFETY * gradients.reach(at, p, gap.differences);
                    let toward = -f64::from(signs[p].now) * distance;
                    let row = given.row_mut(p).iter_mut();
                    row.zip(gap.coefficients).skip(1).for_each(|(c, gap)| *c += toward * gap);
                }
                APPROACH
            }
            (None, None) => APPROACH,
        }
    }

    /// Where the first root on the segment begins.
    fn first_root(&self) -> f64 {
        self.segment.roots.first().map_or(f64::INFINITY, |root| root.lo)
    }

    /// True if a guard keeps its sign on the step even if it moves twice as far as predicted.
    fn is_far(&self, p: usize) -> bool {
        let row = self.given.row(p);
        let others: f64 = row[1..].iter().map(|c| c.abs()).sum();
        let sign = self.signs[p].now;
        sign != 0 && sign == sign_of(row[0]) && outweighs(row[0], 2.0 * others, row.len())
    }

    /// With a share of the way set by the user, an event is approached until its guard is below
    /// the tolerance of guards.
    fn is_near(&self, s: f64) -> bool {
        let default = self.options.gamma.map(|_| self.options.rtol);
        let Some(tolerance) = self.options.guard_tolerance.or(default) else { return true };
        let mut located = self.segment.roots.iter().filter(|r| r.lo <= s && s <= r.hi);
        located.all(|r| match r.crossing {
            Crossing::Atom(p, _) => self.given.row(p as usize)[0].abs() <= tolerance,
            Crossing::Stair { .. } => true,
        })
    }

    /// Where the first event is on the rows in force; changes nothing but the list of roots.
    fn probe(&mut self, signs: &mut ProbedSigns, armed: &mut Vec<bool>) -> Option<f64> {
        signs.before.clone_from(&self.signs);
        armed.clone_from(&self.armed);
        self.segment.forget_roots();
        self.find_roots(1.0);
        signs.located.clone_from(&self.signs);
        let found = self.first_event();
        self.signs.clone_from(&signs.before);
        self.armed.clone_from(armed);
        found
    }

    /// True if all guards have at a point the sign they have now; no equation of the flow is
    /// evaluated unless a guard reads it.
    fn keeps_signs_at(&mut self, x: &[f64]) -> bool {
        let mut composer = self.take_composer();
        let keeps = self.aside(|runner| {
            runner.env[0] = runner.segment.time_of(1.0);
            let Runner { combinations, env, scratch, signs, .. } = runner;
            let combination = combinations.get(runner.current);
            for (&(slot, _), &x) in combination.plan.states.iter().zip(x) {
                env[slot as usize] = x;
            }
            let value = composer.evaluate(combination, env, scratch);
            signs.iter().enumerate().all(|(p, signs)| sign_of(value(p)) == signs.now)
        });
        self.combinations.get_mut(self.current).composer = Some(composer);
        keeps
    }

    /// The polynomials of an integrator are the segment.
    fn take_polynomials(&mut self, polynomials: &StatePolynomials) {
        let unit = if polynomials.orders() > 1 { polynomials.unit() } else { 0.0 };
        self.begin_segment(unit, unit);
        let states = self.combination().plan.states.len();
        let segment = &mut self.segment;
        segment.ratio = 1.0;
        segment.states = states;
        segment.stride = states;
        segment.orders = polynomials.orders();
        segment.coefficients.clear();
        let rows = (0..polynomials.orders()).map(|k| &polynomials.row(k)[..states]);
        rows.for_each(|row| segment.coefficients.extend_from_slice(row));
    }

    /// The guards on the prediction are states of their own.
    fn append_guards(&mut self, prediction: &StatePolynomials) {
        let states = self.segment.states;
        self.give_rows(prediction.orders());
        for k in 0..prediction.orders() {
            for (p, &c) in prediction.row(k)[states..].iter().enumerate() {
                self.given.row_mut(p)[k] = c;
            }
        }
    }

    /// The guards on the prediction as if they were linear.
    fn linearise_guards(&mut self, gradients: &mut Gradients, prediction: &StatePolynomials) {
        self.give_rows(prediction.orders().max(2));
        let Runner { combinations, env, given, scratch, .. } = self;
        combinations.get(self.current).evaluate_crowd(env, scratch);
        let at = Place { combination: combinations.get(self.current), env };
        for (p, &slot) in at.combination.atom_slots.iter().enumerate() {
            given.row_mut(p).fill(0.0);
            given.row_mut(p)[0] = env[slot as usize];
            for k in 1..prediction.orders() {
                let time = if k == 1 { prediction.unit() } else { 0.0 };
                given.row_mut(p)[k] = gradients.along(at, p, prediction.row(k), time);
            }
        }
    }

    /// The guards on the segment's polynomials. Those of a crowd that keep their sign even if the
    /// states come to be off them by the slack are left out.
    fn compose_guards(&mut self, slack: &[f64]) {
        let mut composer = self.take_composer();
        self.give_rows(composer.length());
        let Runner { combinations, signs, segment, given, earliest, near, env, method, .. } = self;
        let combination = combinations.get_mut(self.current);
        let everything = *method == EventMethod::Printed;
        let may_lose = |p: usize, sign: i8| everything || sign == 0 || sign != signs[p].now;
        let states = (&segment.coefficients[..], slack);
        composer.compose(combination, (env, segment.h), states, may_lose, near);
        earliest.fill(f64::INFINITY);
        for &p in near.iter() {
            earliest[p] = 0.0;
            composer.row(combination, p, given.row_mut(p));
        }
        combination.composer = Some(composer);
    }

    fn take_composer(&mut self) -> Composer {
        let combination = self.combinations.get_mut(self.current);
        combination.composer.take().unwrap_or_else(|| Composer::new(combination))
    }

    /// Figure 5 of Esposito and Kumar as it is printed: the first root of the linearised guards less
    /// the band of the error bounds the step, and nothing is tested before it is evaluated.
    fn step_as_printed(&mut self, stepper: &mut Stepper, remaining: f64) -> Result<(), Halt> {
        let shortest = self.options.min_step.unwrap_or(1e-12);
        for _ in 0..ATTEMPTS {
            let longest = self.proposed(stepper, remaining);
            let root = self.printed_root(stepper, longest);
            if self.attempt(stepper, longest.min(root).max(shortest).min(remaining))? {
                self.compose_guards(&[]);
                self.end_roots(self.options.guard_tolerance.unwrap_or(0.0));
                return Ok(());
            }
        }
        Err(Halt::TooShort)
    }

    /// The first time at which a linearised guard, moved by the band of the error, is predicted to
    /// be zero; one that the band has moved past zero has no root any more.
    fn printed_root(&mut self, stepper: &mut Stepper, h: f64) -> f64 {
        let Stepper { integrator, gradients, .. } = stepper;
        let Some(prediction) = integrator.predict(h) else { return f64::INFINITY };
        self.take_polynomials(prediction.states);
        self.compose_guards(&[]);
        let mut first = f64::INFINITY;
        for p in 0..self.signs.len() {
            let value = self.given.row(p)[0];
            let at = Place { combination: self.combinations.get(self.current), env: &self.env };
            let band = self.tolerance.relative.max(self.tolerance.absolute) * gradients.length(at, p);
            let orders = prediction.states.orders();
            self.row[..orders].fill(0.0);
            self.row[0] = value - f64::from(sign_of(value)) * band;
            for k in 1..orders {
                let time = if k == 1 { prediction.states.unit() } else { 0.0 };
                self.row[k] = gradients.along(at, p, prediction.states.row(k), time);
            }
            if sign_of(self.row[0]) == sign_of(value)
                && let Some(root) = self.finder.first_root(&self.row[..orders])
            {
                first = first.min(root.lo * h);
            }
        }
        first
    }
}

/// A bound of the size of a polynomial up to a place.
fn size_up_to<'c>(place: f64, coefficients: impl DoubleEndedIterator<Item = &'c f64>) -> f64 {
    coefficients.rev().fold(0.0, |size, c| size * place + c.abs())
}
