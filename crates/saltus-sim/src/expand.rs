//! Expanding the flow: Taylor polynomials of states and guards from the present values, and how
//! far they may be trusted.

use crate::certify::LEAST_TOLERANCE;
use crate::combination::Combination;
use crate::explain;
use crate::kept::{Kept, Origin, Trust};
use crate::method::EventMethod;
use crate::report::{Ending, Status};
use crate::runner::Runner;
use saltus_num::{greater, lesser};
use saltus_solve::certificate::Verdict;
use saltus_solve::taylor::first_scale;

/// A step so many times longer than the scale of the coefficients asks for a new scale: small
/// scales drive high coefficients towards zero and make any step look safe.
const GREATEST_RATIO: f64 = 32.0;
/// Smaller scales tried before a flow without finite coefficients counts as not expandable.
const SHRINKINGS: u32 = 2;
/// Steps this short, as a share of the time, so many one after another, get nowhere: as next to a pole
/// that a state cannot reach because of its own rounding.
const SHORT: f64 = 32.0 * f64::EPSILON;
const CREEPING: u32 = 256;
/// A step so many times longer than the last one is looked at more closely.
const UNUSUAL: f64 = 2.0;
/// Changes of scale before the flow is given up.
const RESCALINGS: u32 = 60;

impl Runner<'_> {
    /// Computes the jets of the current combination at the current values, if they are not known.
    pub fn refresh_jets(&mut self) {
        if self.jets_fresh {
            return;
        }
        if self.scale == 0.0 {
            self.guess_scale();
        }
        if self.segment.valid {
            self.own_states();
        }
        let has_parts = self.combination().kept.is_some() && self.may_keep_parts();
        if !(has_parts && self.follow_parts()) {
            self.compute_jets();
            if has_parts && !self.method.is_proof() {
                self.begin_parts();
            }
        }
        self.flown = 0.0;
        self.stats.jet_evals += 1;
        self.jets_fresh = true;
    }

    /// Keeps the polynomials of the parts of the flow that go on as they were, and expands the others; false if
    /// all are to be computed.
    #[inline(never)]
    fn follow_parts(&mut self) -> bool {
        let (now, trust) = ((self.origin(), self.flown), self.trust());
        let Combination { kept, jets, .. } = self.combinations.get_mut(self.current);
        kept.as_mut().is_some_and(|kept| kept.follow(jets.as_mut(), &self.env, now, trust))
    }

    /// All polynomials were computed.
    #[inline(never)]
    fn begin_parts(&mut self) {
        let (now, trust) = (self.origin(), self.trust());
        let Combination { kept, jets, .. } = self.combinations.get_mut(self.current);
        if let Some(kept) = kept {
            kept.begin(jets.as_ref(), now, trust);
        }
    }

    /// Where less is asked for than rounding leaves of polynomials whose origin is moved, nothing is kept.
    fn may_keep_parts(&self) -> bool {
        let is_proved_alone = self.method == EventMethod::Validated;
        self.stepper.is_none() && !is_proved_alone && self.tolerance.relative >= LEAST_TOLERANCE
    }

    fn origin(&self) -> Origin {
        Origin { time: [self.stamp.t, self.t_low], unit: self.scale }
    }

    fn trust(&self) -> Trust {
        let asked = self.horizon.length().min(self.until - self.stamp.t);
        Trust { bound: self.bound, tolerance: self.tolerance, asked, is_proof: self.method.is_proof() }
    }

    #[inline]
    fn compute_jets(&mut self) {
        let combination = self.combinations.get_mut(self.current);
        combination.run_jets(&self.env, self.scale);
        if self.method.is_proof() {
            combination.complete();
        }
        combination.uses += 1;
        if combination.has_domains {
            let value = |slot: u32| combination.jets.coefficient(slot, 0);
            let inside = self.code.is_inside(combination, &self.env, value);
            self.stats.outside_domain_evals += u64::from(!inside);
        }
    }

    /// Scales are powers of two, so that scaling loses no bits.
    pub fn set_scale(&mut self, scale: f64) {
        self.scale = power_of_two_above(scale);
    }

    /// Changes to native code when the combination has been expanded often enough.
    fn tier_up(&mut self) {
        let combination = self.combinations.get_mut(self.current);
        if combination.settled && combination.kept.as_ref().is_none_or(|kept| kept.settled) {
            return;
        }
        let is_due = |uses: u64| self.options.native_after.is_some_and(|n| uses >= n);
        let parts_are_due = combination.kept.as_ref().is_some_and(|kept| !kept.settled && is_due(kept.uses));
        let all_are_due = !combination.settled && is_due(combination.uses * combination.weight);
        if !parts_are_due && !all_are_due {
            return;
        }
        let started = std::time::Instant::now();
        if parts_are_due && combination.parts_go_native(self.order) {
            self.stats.native += 1;
        }
        if all_are_due && combination.go_native(self.order) {
            self.stats.native += 1;
            self.jets_fresh = false;
            self.outlook.forget();
            combination.forget_parts();
        }
        self.stats.compile_seconds += started.elapsed().as_secs_f64();
    }

    fn guess_scale(&mut self) {
        let plan = self.combination().plan.clone();
        let values: Vec<f64> = plan.states.iter().map(|&(x, _)| self.env[x as usize]).collect();
        let rates = plan.states.iter().map(|&(_, f)| self.env[f as usize]);
        self.set_scale(first_scale(&values, rates, self.tolerance));
    }

    /// Makes the segment that starts at the present values.
    pub fn expand(&mut self) -> Result<(), Box<Ending>> {
        self.tier_up();
        self.given.clear();
        let remaining = (self.until - self.stamp.t) - self.t_low;
        let asked = self.options.max_step.map_or(remaining, |longest| longest.min(remaining));
        let longest = asked + self.proof_beyond(asked);
        let longest = if self.method.is_proof() {
            lesser(longest, greater(self.longest_proof(), 4.0 * f64::EPSILON * self.stamp.t.abs()))
        } else {
            longest
        };
        match self.choose_length(longest)? {
            Some(length) if self.short_steps > CREEPING => {
                return self.meet_edge_or(|runner| runner.stuck(length));
            }
            Some(_) if self.combination().has_edges && self.rests_at_edge(remaining) => {
                let length = self.stand_still(remaining);
                self.begin_segment(length, length);
                self.find_roots(1.0);
            }
            Some(length) => {
                let length = if self.method.looks_ahead() { self.evaluate_ahead(length)? } else { length };
                let length =
                    if self.combination().is_cut_off { self.shorten_by_defect(length) } else { length };
                self.earliest.clear();
                // A proof looks at guards that are computed with the flow itself.
                let is_left_to_proof = self.method.is_proof() && self.combination().bank.is_none();
                let is_surveyed = self.has_many_guards() && !is_left_to_proof;
                let length = if is_surveyed { self.survey_guards(length)? } else { length };
                let is_proof = self.method.is_proof() && length > 0.0;
                let proof = if is_proof { Some(self.prove_step(length)?) } else { None };
                let length = match proof {
                    Some((length, Verdict::Proved { .. })) => self.cut_proof(length, asked),
                    Some((length, _)) => length,
                    None => length,
                };
                // Polynomials of bounded degree are exact: a unit that is a power of two keeps them so.
                let exact = self.combination().is_exact;
                let unit = if exact && length > 0.0 { power_of_two_above(length) } else { length };
                self.begin_segment(unit, length);
                let ratio = unit * (1.0 / self.scale);
                self.borrow_states(ratio);
                match proof {
                    Some((_, verdict)) => self.take_proved_roots(verdict, ratio),
                    None => self.find_roots(ratio),
                }
                if self.segment.is_near_edge {
                    self.look_at_step_near_edge();
                } else if length > self.usual_length {
                    let is_accurate = proof.is_some_and(|(_, verdict)| self.is_accurate(verdict));
                    self.look_at_unusual_step(length, is_accurate);
                } else {
                    self.usual_length = UNUSUAL * length;
                }
                if length > 0.0 && length < remaining {
                    self.set_scale(length);
                }
                self.learn_horizon();
            }
            None => {
                let is_stuck = |runner: &Self, length: f64| {
                    runner.stamp.t + length == runner.stamp.t && length < remaining
                };
                let mut made = self.expand_low_order(remaining)?;
                if made.is_none_or(|length| is_stuck(self, length)) && self.join_near_edges() {
                    made = self.expand_low_order(remaining)?;
                }
                let Some(length) = made else {
                    return self.meet_edge_or(Self::left_domain);
                };
                if is_stuck(self, length) {
                    return self.meet_edge_or(|runner| runner.stuck(length));
                }
                self.begin_segment(length, length);
                self.find_roots(1.0);
                self.set_scale(length);
            }
        }
        self.jets_fresh = false;
        self.stats.steps += 1;
        Ok(())
    }

    /// A step is much longer than the last one, or its combination may conceal what comes.
    #[cold]
    fn look_at_unusual_step(&mut self, length: f64, is_accurate: bool) {
        let combination = self.combination();
        let (is_exact, may_conceal) = (combination.is_exact, combination.flat().next().is_some());
        let is_as_it_seems = is_exact || is_accurate || !self.end_before_defect();
        if !is_as_it_seems {
            self.combinations.get_mut(self.current).forget_parts();
        }
        let is_usual = is_as_it_seems && (is_exact || !may_conceal);
        self.usual_length = if is_usual { UNUSUAL * length } else { 0.0 };
    }

    /// A step leads near to an edge on which its functions exist.
    #[cold]
    fn look_at_step_near_edge(&mut self) {
        self.end_where_flow_parts();
        if self.may_conceal() {
            self.end_before_defect();
        }
        // So near to a singular point much of the next series may be rounding.
        self.usual_length = 0.0;
    }

    pub fn begin_segment(&mut self, unit: f64, length: f64) {
        let segment = &mut self.segment;
        segment.origin = self.stamp.t;
        segment.origin_low = self.t_low;
        segment.h = unit;
        // Nearly always the whole unit: all that follows would wait for the division.
        segment.end = if unit == length { f64::from(length > 0.0) } else { length / unit };
        segment.cursor = 0.0;
        segment.recorded = self.stamp.t;
        segment.is_far = false;
        segment.is_near_edge = false;
        segment.compared = f64::INFINITY;
        segment.roots.clear();
        segment.next_root = 0;
        segment.valid = true;
    }

    /// The length of the step: from the error estimate, at most what remains; `None` if the flow
    /// has no Taylor expansion here.
    fn choose_length(&mut self, remaining: f64) -> Result<Option<f64>, Box<Ending>> {
        let mut shrinkings = 0;
        for _ in 0..RESCALINGS {
            self.refresh_jets();
            let ratio = self.step_ratio();
            if ratio.is_nan() {
                if !self.point_is_finite() {
                    self.stats.outside_domain_evals += 1;
                    return Err(self.left_domain());
                }
                if shrinkings == SHRINKINGS {
                    return Ok(None);
                }
                shrinkings += 1;
                self.scale *= 0.0078125;
                self.forget_jets();
                self.stats.rejected += 1;
                continue;
            }
            let wanted = ratio * self.scale;
            let length = if wanted < remaining { wanted } else { remaining };
            self.proofs.unit = if wanted < f64::INFINITY { wanted } else { length };
            let estimated = !self.combination().is_exact;
            if estimated && ratio > GREATEST_RATIO && self.scale < remaining {
                self.set_scale((self.scale * ratio.min(1e4)).min(2.0 * remaining));
                self.forget_jets();
                continue;
            }
            if length <= SHORT * self.stamp.t.abs() && length < remaining {
                self.short_steps += 1;
                return Ok((self.stamp.t + length > self.stamp.t).then_some(length));
            }
            self.short_steps = 0;
            return Ok(Some(length));
        }
        Err(self.left_domain())
    }

    /// What was computed is of no use.
    fn forget_jets(&mut self) {
        self.jets_fresh = false;
        self.combinations.get_mut(self.current).forget_parts();
    }

    /// The longest step in units of the scale; NaN if a coefficient is not finite.
    fn step_ratio(&mut self) -> f64 {
        let combination = self.combinations.get(self.current);
        if let Some(end) = combination.kept.as_ref().and_then(Kept::end) {
            return ((end - self.stamp.t) - self.t_low) / self.scale;
        }
        let mut bound = self.bound;
        bound.states(combination.jets.states(), combination.degree, self.tolerance);
        for &slot in &combination.unbounded {
            let [slope, bend, before, last] =
                [1, 2, self.order - 1, self.order].map(|k| combination.jets.coefficient(slot, k));
            bound.quantity([slope, bend], [before, last], self.tolerance);
        }
        bound.ratio()
    }

    /// Evaluates the flow at the end of a step of some length, as methods do that look at guards
    /// only afterwards; the step is shortened until there is a value.
    fn evaluate_ahead(&mut self, mut length: f64) -> Result<f64, Box<Ending>> {
        for _ in 0..RESCALINGS {
            self.begin_segment(length, length);
            self.borrow_states(length / self.scale);
            let exists = self.aside(|runner| {
                runner.stand_at(1.0);
                runner.evaluate_plan();
                let mut rates = runner.combination().plan.states.iter().map(|&(_, f)| runner.env[f as usize]);
                rates.all(f64::is_finite)
            });
            if exists {
                return Ok(length);
            }
            length *= 0.5;
            self.stats.rejected += 1;
            if self.stamp.t + length == self.stamp.t {
                break;
            }
        }
        Err(self.looked_outside(self.stamp.t + length))
    }

    fn point_is_finite(&mut self) -> bool {
        let plan = self.combination().plan.clone();
        plan.diagnose(&mut self.env, &mut self.scratch).is_none()
    }

    /// The run ends because an expression has no value, or no derivative, here.
    pub fn left_domain(&mut self) -> Box<Ending> {
        let plan = self.combination().plan.clone();
        match plan.diagnose(&mut self.env, &mut self.scratch) {
            Some((block, departure)) => {
                let found = explain::departure(self, &plan.blocks[block], &departure);
                self.ending(found.status, found.reason, found.hint, found.span)
            }
            None if self.is_huge() => {
                let reason = "the flow has no Taylor expansion at the last state: its values are nearly beyond all numbers";
                self.ending(Status::LeftDomain, reason.into(), Some(explain::GROWTH.into()), None)
            }
            None => {
                let reason = "the flow has no Taylor expansion at the last state: a function in it has no derivative there";
                let hint = "a square root, power or logarithm reaches the edge of its domain; stop or switch before it";
                self.ending(Status::LeftDomain, reason.into(), Some(hint.into()), None)
            }
        }
    }

    /// True if a state or its rate is so large that it soon outgrows the numbers.
    fn is_huge(&self) -> bool {
        const HUGE: f64 = 1e100;
        let slots = self.combination().plan.states.iter().flat_map(|&(state, rate)| [state, rate]);
        slots.into_iter().any(|slot| self.env[slot as usize].abs() > HUGE)
    }

    /// The run ends because a method looks ahead where the flow has no value.
    pub fn looked_outside(&self, t: f64) -> Box<Ending> {
        if self.is_huge() {
            let reason = format!(
                "the flow is beyond all numbers at {t}, where the method looks ahead: a state grows without bound"
            );
            return self.ending(Status::LeftDomain, reason, Some(explain::GROWTH.into()), None);
        }
        let reason =
            format!("the flow has no value at {t}, where the method looks ahead, however short the step");
        let hint = "use `--events extrapolation`, which looks nowhere it has not tested, with the solver taylor or adams";
        self.ending(Status::LeftDomain, reason, Some(hint.into()), None)
    }

    pub fn stuck(&self, length: f64) -> Box<Ending> {
        let reason = format!(
            "the step needed for the tolerance, {length:e}, is too small to advance time: a state grows without bound or the model has a singularity here"
        );
        let hint = "check the model near the last state, or stop before it";
        self.ending(Status::LeftDomain, reason, Some(hint.into()), None)
    }

    /// No step can be made. If a function in force ends to exist before time can advance, the run
    /// stands at its edge, where guards go first; else this is the end.
    pub fn meet_edge_or(&mut self, end: impl FnOnce(&mut Self) -> Box<Ending>) -> Result<(), Box<Ending>> {
        self.refresh_jets();
        self.given.clear();
        self.begin_segment(self.scale, 0.0);
        self.borrow_states(1.0);
        self.segment.orders = 1;
        if self.roots_at_edge() { Ok(()) } else { Err(end(self)) }
    }

    /// The states of the segment are those of the jets, until these are computed anew.
    pub fn borrow_states(&mut self, ratio: f64) {
        let combination = self.combinations.get(self.current);
        let segment = &mut self.segment;
        segment.ratio = ratio;
        segment.states = combination.plan.states.len();
        segment.stride = combination.jets.layout().states_stride;
        segment.orders = combination.degree + 1;
        segment.coefficients.clear();
    }

    /// Copies what the segment has borrowed.
    pub fn own_states(&mut self) {
        let segment = &mut self.segment;
        if segment.coefficients.is_empty() {
            let states = self.combinations.get(self.current).jets.states();
            segment.coefficients.extend_from_slice(&states.data()[..segment.orders * segment.stride]);
        }
    }
}

/// The smallest power of two above a positive number.
fn power_of_two_above(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let x = if x > 1e-300 { x } else { 1e-300 };
    let x = if x < 1e300 { x } else { 1e300 };
    f64::from_bits(x.to_bits() & !MANTISSA) * 2.0
}
