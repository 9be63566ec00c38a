//! Certificates: proof that a step exists and that no guard was crossed in it.
//!
//! The flow is proved to exist and to stay in a narrow tube about its Taylor polynomial: see
//! [`Tube`]. A guard is then within a radius of its own polynomial, which bounds it from both sides;
//! it is only looked at if its range on the tube does not exclude zero already.
//!
//! # What is claimed
//! For the exact flow of the model's expressions, with their constants as the floating-point numbers
//! they are, from the *computed* point of the start of the step: it exists on the step and stays in
//! the tube, on which no divisor is zero, no function leaves its domain and no switch changes; every
//! guard keeps its sign from the start to the proved length, a guard that is declared has the
//! opposite sign at the end of its bracket. Elementary functions are taken to be accurate to 4 units
//! in the last place. *Not* claimed: that the computed end point lies on that flow, a bound of the
//! global error, or the order of brackets that overlap. The tube is about as narrow as the error is
//! estimated to be, but no narrower than that is asked for, unless a tolerance is given: then the
//! distance of the Taylor polynomial from the exact flow is proved to be at most ten times the
//! tolerance all through the step.

use crate::taylor::Tolerance;
use saltus_expr::jet::{Bank, Distance, Jets, Length, Obstacle, Radii, Roundings, SlotBound, Tube};
use saltus_expr::{FlowPlan, PlanBlock};
use saltus_num::elementary::powi;
use saltus_num::interval::Interval;
use saltus_num::polynomial::evaluate_with_derivative;
use saltus_num::roots::{Sign, near_side};
use saltus_num::zones::{Radius, Zone, ZoneFinder};
use saltus_num::{MARGIN, UNIT, lesser};
use std::collections::HashMap;

mod flow;
#[cfg(test)]
mod tests;

pub use flow::FlowProof;

/// How often another tube is tried.
const ATTEMPTS: usize = 60;

/// Width of a tube, as a share of how far the states move, and what becomes of it where a function
/// is in the way.
const WIDTH: f64 = 1.0 / 16.0;
const NARROWING: f64 = 1.0 / 64.0;
const LEAST_WIDTH: f64 = 1e-13;

/// After a step whose tube did not close at first, the next ones become longer by this factor.
const LONGER: f64 = 1.125;

/// A doubt about this part of a step is not looked at more closely: from a point nearer to it,
/// rounding would decide.
const NARROW: f64 = 1e-6;

/// A bracket is at most this share of the way to it wide, unless rounding makes it so: else the changes
/// of a guard could not be told apart that are near to the start of a long step.
const SHARE_OF_WAY: f64 = 1.0 / 16.0;

/// A bracket that is wide by rounding is looked at once more from nearby. One that is then no wider than
/// this is as narrow as can be.
const ROUNDED: f64 = 2.0;

/// The share of the slack of the slots of a crowd that is there for their distance from polynomials.
const NEAR: f64 = 0.2;

/// Behind the first change of a crowd guards are not looked at: so many times farther, but not below a
/// share of the step.
const BEHIND: f64 = 1.0625;
const SHORTEST_SHARE: f64 = 1.0 / 32.0;

/// The proved local error, in tolerances.
pub const LOCAL_ERROR: f64 = 10.0;

/// Rounding is to be less than this in the weights of the states: where it is much of the width of a tube, it
/// looks as if it were what carries the flow away.
const DRIFT: f64 = 1e-6;
/// Rounding of states that move is about so much of how far they do.
const LEAST_DRIFT: f64 = 512.0 * UNIT;

/// A guard that must keep its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watch {
    /// The sign to keep; zero if the guard is not watched.
    pub sign: Sign,
    /// The guard is taken to be zero at the start, whatever its rounded value: what must keep the
    /// sign is its change since then. A guard whose value is lost in its rounding is taken so, too,
    /// if it surely moves away from zero.
    pub from_zero: bool,
    /// For a guard of the crowd: the time on the step until which it keeps its sign if the slots that
    /// the crowd reads are within a fifth of their slack of their polynomials.
    pub until: f64,
}

/// Tells what must be kept by the guard at a position.
pub type Watches<'a> = &'a dyn Fn(usize) -> Watch;

/// A step to be proved.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The point: time and constants of the plan's environment.
    pub env: &'a [f64],
    /// The coefficients there, times powers of `scale`.
    pub jets: &'a dyn Jets,
    /// The scale of the coefficients.
    pub scale: f64,
    /// The proposed length.
    pub h: f64,
    /// How long the tolerance would allow the step to be, if that is more.
    pub unit: f64,
    /// Brackets of events need not be narrower than this.
    pub resolution: f64,
    /// States are followed no more narrowly than they move, and than this.
    pub absolute: f64,
    /// Proves also that the local error is below ten times this.
    pub local: Option<Tolerance>,
    /// The slack of the slots that the crowd reads, in ascending order; empty if nothing is known of
    /// guards beforehand.
    pub slack: &'a [f64],
    /// The guards of the crowd that may change on the step if these slots are as near to their polynomials
    /// as [`Watch::until`] asks.
    pub near: &'a [u32],
    /// How far each guard of the crowd may be from its polynomial on the step, if that is known and with it
    /// that the flow exists: then nothing but the guards is left to be proved. One that may be zero at the
    /// start is at most so far off at its end, and before in proportion to the time.
    pub radii: Option<&'a dyn Fn(usize) -> f64>,
}

/// What was proved of a step; all times are measured from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The flow exists up to `h`, and every guard has the signs that its brackets tell.
    Proved {
        /// At most what was asked for.
        h: f64,
    },
    /// Up to `t_lo` this is proved; a guard may then touch zero or cross it, which can not be told.
    Possible {
        /// Position among the guards.
        guard: usize,
        /// To where the sign is proved.
        t_lo: f64,
        /// From where the guard surely has its sign again, `hc` if that is not found. What it does
        /// between is not known; other guards may change from `t_lo` on.
        t_clear: f64,
        /// To where the flow is proved to exist.
        hc: f64,
    },
    /// The flow is near its polynomials as was told, but what guards do at the start of the step is not known so.
    Blurred,
    /// Nothing was proved, down to steps of length `h`.
    Uncertain {
        /// The last length tried.
        h: f64,
        /// The function that was in the way at last, if any.
        obstacle: Option<Obstacle>,
    },
}

/// Where a guard may change on a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// Position among the guards.
    pub guard: usize,
    /// To where it surely keeps its sign.
    pub t_lo: f64,
    /// From where its sign is known again, if that was found.
    pub t_hi: Option<f64>,
    /// The sign it has then.
    pub after: Sign,
    /// That is not the one before.
    pub changes: bool,
    /// The best place to stop within.
    pub stop: f64,
    /// How fast its polynomial changes there.
    pub slope: f64,
    /// It is mostly rounding at the start of the step that makes it wide: a shorter step tells no more.
    pub is_rounded: bool,
}

impl Watch {
    /// A guard that is not watched.
    pub const NONE: Watch = Watch { sign: Sign::Zero, from_zero: false, until: 0.0 };
}

impl Bracket {
    /// True if it tells what happens there.
    fn is_narrow(&self, resolution: f64) -> bool {
        self.changed().is_some_and(|t_hi| {
            let width = t_hi - self.t_lo;
            width <= resolution && (self.is_rounded || width <= SHARE_OF_WAY * t_hi)
        })
    }

    /// A time at which it surely has the other sign, if one was found.
    fn changed(&self) -> Option<f64> {
        self.t_hi.filter(|_| self.changes)
    }

    /// From where it surely has its sign again, if that was found.
    fn clear(&self) -> Option<f64> {
        self.t_hi.filter(|_| !self.changes)
    }
}

/// Proves steps of one plan; keeps its memory, and how long the last steps could be.
///
/// ```
/// use saltus_expr::jet::{JetMachine, Jets};
/// use saltus_expr::{FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
/// use saltus_num::roots::Sign;
/// use saltus_solve::certificate::{Certifier, Request, Verdict, Watch};
/// // x' = -x from x = 1 with time in slot 0; the guard x - 3/4 is met at log(4/3) = 0.28768...
/// let mut graph = Graph::new();
/// let x = graph.var(VarId(1), Sort::Real);
/// let level = graph.real(0.75);
/// let (rate, guard) = (graph.neg(x), graph.sub(x, level));
/// let (program, _) = Program::new(&graph, &[rate, guard]);
/// let block = PlanBlock { program: program.into(), inputs: vec![1], outputs: vec![2, 3] };
/// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 2)], time_slot: 0, slots: 4 };
/// let mut jets = JetMachine::new(&plan, 16);
/// let mut certifier = Certifier::new(&plan, &jets, &[3], &[]);
/// let env = [0.0, 1.0, 0.0, 0.0];
/// jets.run(&env, 0.5);
/// let mut prove = |h: f64| {
///     let request = Request {
///         env: &env, jets: &jets, scale: 0.5, h, unit: h, resolution: 1e-9, absolute: 0.0, local: None,
///         slack: &[], near: &[], radii: None,
///     };
///     certifier.certify(request, &|_| Watch { sign: Sign::Positive, from_zero: false, until: 0.0 })
/// };
/// assert_eq!(prove(0.25), Verdict::Proved { h: 0.25 });
/// assert_eq!(prove(0.5), Verdict::Proved { h: 0.5 });
/// let [bracket] = certifier.brackets() else { panic!() };
/// let (t_lo, t_hi) = (bracket.t_lo, bracket.t_hi.unwrap());
/// assert!(t_lo < 0.287_682_072_5 && t_hi > 0.287_682_072_4 && t_hi - t_lo < 1e-9);
/// ```
#[derive(Clone, Debug)]
pub struct Certifier {
    tube: Tube,
    distance: Distance,
    /// The guards that are part of the plan, with their slots.
    slots: Vec<(usize, u32)>,
    /// For each guard the function of the bank, if it is one.
    functions: Vec<Option<usize>>,
    /// Guards that are not part of the plan.
    bank: Option<Box<Bank>>,
    states: Vec<u32>,
    width: f64,
    /// What rounding did on the last tube that was left.
    drift: f64,
    /// The coefficients of a guard over the step.
    row: Vec<f64>,
    finder: ZoneFinder,
    zones: Vec<Zone>,
    /// Guards of the bank that may be zero.
    open: Vec<usize>,
    /// To where the guards were looked at.
    reach: f64,
    brackets: Vec<Bracket>,
    obstacle: Option<Obstacle>,
    /// What a longer step left in doubt.
    doubt: Option<Doubt>,
    /// The next step is no longer than this.
    memory: f64,
    /// The tube of a longer step is not likely to close.
    closing: f64,
    /// How narrow brackets had to be on the step that was made shorter.
    resolution: f64,
    #[cfg(test)]
    fault: Option<Fault>,
}

impl Certifier {
    /// For a plan with the jets that evaluate it, and guards in these slots, written by the plan or by
    /// the units of a crowd.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`] or a slot is outside its environment.
    pub fn new(plan: &FlowPlan, jets: &dyn Jets, guards: &[u32], crowd: &[PlanBlock]) -> Certifier {
        let order = jets.order();
        let outputs = crowd.iter().flat_map(|unit| unit.outputs.iter().copied());
        let written: HashMap<u32, usize> = outputs.zip(0..).collect();
        let functions: Vec<Option<usize>> = guards.iter().map(|slot| written.get(slot).copied()).collect();
        let slots = guards.iter().enumerate().filter(|&(guard, _)| functions[guard].is_none());
        let read: Vec<u32> = crowd.iter().flat_map(|unit| unit.inputs.iter().copied()).collect();
        Certifier {
            tube: Tube::new(plan, jets, guards, &read),
            distance: Distance::default(),
            slots: slots.map(|(guard, &slot)| (guard, slot)).collect(),
            bank: (!crowd.is_empty()).then(|| Box::new(Bank::new(crowd, order, |slot| jets.degree(slot)))),
            functions,
            states: plan.states.iter().map(|&(state, _)| state).collect(),
            width: WIDTH,
            drift: f64::INFINITY,
            row: vec![0.0; order + 1],
            finder: ZoneFinder::default(),
            zones: Vec::with_capacity(order + 2),
            open: Vec::with_capacity(written.len()),
            reach: 0.0,
            brackets: Vec::with_capacity(guards.len()),
            obstacle: None,
            doubt: None,
            memory: f64::INFINITY,
            closing: f64::INFINITY,
            resolution: 0.0,
            #[cfg(test)]
            fault: None,
        }
    }

    /// The coefficients come from other jets of the same plan from now on.
    pub fn rebind(&mut self, plan: &FlowPlan, jets: &dyn Jets) {
        self.tube.rebind(plan, jets);
    }

    /// Forgets everything about earlier steps.
    pub fn restart(&mut self) {
        self.tube.restart();
        self.reset();
    }

    /// Forgets how long the last steps could be: after a jump they say nothing.
    pub fn reset(&mut self) {
        self.memory = f64::INFINITY;
        self.closing = f64::INFINITY;
        self.width = WIDTH;
    }

    /// The next step will be no longer than this.
    pub fn longest(&self) -> f64 {
        lesser(self.memory, self.closing)
    }

    /// Where guards change on the last step, in order.
    pub fn brackets(&self) -> &[Bracket] {
        &self.brackets
    }

    /// The function that made the last step shorter, if one did.
    pub fn obstacle(&self) -> Option<Obstacle> {
        self.obstacle
    }

    /// All values of a state on the last step.
    pub fn state_range(&self, state: usize) -> Interval {
        self.tube.state_range(state)
    }

    /// Bounds of what rounding does to the states on the last step.
    #[inline]
    pub fn state_roundings(&self) -> Roundings<'_> {
        self.tube.state_roundings()
    }

    /// Proves as much of a step as can be. `guards` tells the signs of the slots given at the
    /// beginning, by their positions.
    pub fn certify(&mut self, request: Request, guards: Watches) -> Verdict {
        let mut h = request.h.min(self.longest());
        let before = if self.memory < f64::INFINITY { self.resolution } else { 0.0 };
        self.resolution = request.resolution.max(before);
        self.obstacle = None;
        self.doubt = None;
        self.drift = f64::INFINITY;
        if request.radii.is_none() {
            self.tube.set_point(request.env, request.absolute);
            // A state may be near zero, where much less is allowed.
            let drift = request.local.map_or(DRIFT, |local| (1e-3 * local.relative).max(LEAST_DRIFT));
            self.tube.set_drift(Some(drift));
        }
        let mut is_too_long = false;
        for _ in 0..ATTEMPTS {
            match self.prove(&request, h, guards) {
                Outcome::Decided(verdict) => {
                    self.closing = LONGER * if is_too_long { h } else { self.closing };
                    return verdict;
                }
                Outcome::Again(other) => h = other,
                Outcome::TooLong(shorter) => (h, is_too_long) = (shorter, true),
                Outcome::Blocked(by) => {
                    self.obstacle = Some(by);
                    self.width = (NARROWING * self.width).max(LEAST_WIDTH);
                    h *= 0.5;
                }
            }
        }
        self.memory = f64::INFINITY;
        self.doubt.map_or(Verdict::Uncertain { h, obstacle: self.obstacle }, |doubt| doubt.verdict)
    }

    /// True if there is a proof for many steps, and nothing is known that asks for a shorter step than some
    /// length.
    #[inline]
    pub fn may_hold(&self, h: f64) -> bool {
        self.memory == f64::INFINITY && self.width == WIDTH && h <= self.closing && self.tube.has_wide_proof()
    }

    /// True if the flow from a point stays near its polynomial on a step by what was proved for earlier ones.
    /// States are followed no more narrowly than some distance. Nothing is said of guards but by
    /// [`Certifier::radius`].
    #[inline]
    pub fn holds(&mut self, env: &[f64], jets: &dyn Jets, length: Length, absolute: f64) -> bool {
        self.tube.set_point(env, absolute);
        self.tube.holds(jets, length, WIDTH)
    }

    /// True if a guard is not zero wherever all derivatives exist: a step that is proved does not change it.
    #[inline]
    pub fn keeps_away(&self, guard: usize) -> bool {
        self.tube.keeps_away(guard)
    }

    /// How far a guard may be from its polynomial on the last step; infinite if that is not known.
    #[inline]
    pub fn radius(&self, guard: usize) -> f64 {
        self.tube.watched_radius(guard)
    }

    /// No guard comes near to zero on a step that [`Certifier::holds`]: it is proved as a whole.
    pub fn confirm(&mut self) {
        self.brackets.clear();
        self.obstacle = None;
        self.closing *= LONGER;
    }

    fn prove(&mut self, request: &Request, h: f64, guards: Watches) -> Outcome {
        if request.radii.is_some() {
            self.distance = Distance::default();
            return match self.look_at_guards(request, h, guards) {
                Looked::Open(first) => self.end_before(first),
                _ => self.accept(request, h),
            };
        }
        let length = Length { h, unit: request.unit.max(h), scale: request.scale };
        let bounded = self.tube.bound_distance(request.jets, length, self.width);
        let mut looked = self.look(request, h, guards, bounded);
        // What can not be told by a proof for many steps may be told by one for this step.
        if !matches!(looked, Looked::All) && !self.tube.is_tight() {
            let bounded = self.tube.tighten(request.jets, self.width);
            looked = self.look(request, h, guards, bounded);
        }
        match looked {
            Looked::All => self.accept(request, h),
            Looked::Open(first) => self.conclude(request, h, first),
            Looked::Left(bounded) => self.widen(h, bounded),
            Looked::TooFar(excess) => Outcome::TooLong(h * shrink(request.jets.order(), excess)),
            Looked::Blocked(obstacle) => Outcome::Blocked(obstacle),
        }
    }

    /// Looks at a step with a bound of the distance from it.
    fn look(
        &mut self,
        request: &Request,
        h: f64,
        guards: Watches,
        bounded: Result<Distance, Obstacle>,
    ) -> Looked {
        let bounded = match bounded {
            Ok(distance) => distance,
            Err(obstacle) => return Looked::Blocked(obstacle),
        };
        let stays = bounded.most() < self.width;
        if !stays && !self.has_fault(Fault::NoContainment) {
            return Looked::Left(bounded);
        }
        self.distance = if self.has_fault(Fault::NoRemainder) { Distance::default() } else { bounded };
        if let Some(local) = request.local {
            let excess = self.excess(request.env, local);
            if excess > 1.0 {
                return Looked::TooFar(excess);
            }
        }
        self.look_at_guards(request, h, guards)
    }

    /// Looks at the guards on a step on which the flow is known to be near its polynomials.
    fn look_at_guards(&mut self, request: &Request, h: f64, guards: Watches) -> Looked {
        if let Err(obstacle) = self.find_brackets(request, guards, h) {
            return Looked::Blocked(obstacle);
        }
        self.brackets.sort_by(|a, b| a.t_lo.total_cmp(&b.t_lo));
        let resolution = |b: &Bracket| if b.is_rounded { self.resolution } else { request.resolution };
        let is_open = |b: &Bracket| !b.is_narrow(resolution(b));
        self.brackets.iter().position(is_open).map_or(Looked::All, Looked::Open)
    }

    /// The flow may leave the tube. A narrow one is made wider; else the step is made shorter, unless it
    /// is rounding that carries the flow away, of which a shorter step had about as much.
    fn widen(&mut self, h: f64, bounded: Distance) -> Outcome {
        if self.width < WIDTH {
            self.width = (self.width / NARROWING).min(WIDTH);
            return Outcome::Again(h);
        }
        let last = std::mem::replace(&mut self.drift, bounded.drift);
        let is_rounding = bounded.drift >= 0.5 * WIDTH && bounded.drift < f64::INFINITY;
        if is_rounding && bounded.drift > 0.7 * last {
            self.memory = f64::INFINITY;
            return Outcome::Decided(Verdict::Uncertain { h, obstacle: self.obstacle });
        }
        Outcome::TooLong(0.75 * h)
    }

    /// How many times more than ten tolerances the Taylor polynomial of the last step may be off the flow,
    /// from a point in `env`.
    pub fn excess(&self, env: &[f64], local: Tolerance) -> f64 {
        let allowed = self.states.iter().map(|&slot| LOCAL_ERROR * local.of(env[slot as usize]));
        let excess = allowed.enumerate().map(|(i, allowed)| self.tube.state_distance(i) / allowed);
        excess.fold(0.0, f64::max)
    }

    /// The verdict on a step that is proved but for the brackets found: it is proved up to the first
    /// of them that is not narrow enough to tell what happens there.
    fn conclude(&mut self, request: &Request, h: f64, first: usize) -> Outcome {
        let bracket = self.brackets[first];
        let (t_lo, is_first) = (bracket.t_lo, first == 0);
        match (bracket.changed(), bracket.clear()) {
            (Some(t_hi), _) => {
                let width = t_hi - t_lo;
                if t_lo >= 0.1 * width {
                    self.memory = 2.0 * width;
                    if bracket.is_rounded {
                        self.resolution = self.resolution.max(ROUNDED * width);
                    }
                } else if t_hi < 0.2 * h {
                    return Outcome::Again(2.0 * t_hi);
                } else {
                    // Its sign is not even known at the start: so wide a bracket tells nothing.
                    return self.doubt(request, bracket, h);
                }
            }
            (None, clear) => {
                self.memory = 0.25 * h;
                match clear {
                    Some(t_clear) if is_first && t_clear - t_lo <= NARROW * h => {
                        let guard = bracket.guard;
                        return Outcome::Decided(Verdict::Possible { guard, t_lo, t_clear, hc: h });
                    }
                    _ if is_first && t_lo < 0.01 * h => return self.doubt(request, bracket, h),
                    _ => {}
                }
            }
        }
        let h = self.outside_brackets(first, t_lo);
        self.brackets.retain(|b| b.t_hi.is_some_and(|t_hi| t_hi <= h));
        Outcome::Decided(Verdict::Proved { h })
    }

    /// The verdict where the flow is known to be near its polynomials, and some bracket found tells too little: the
    /// step ends before it, where it is seen from nearby. It is never taken as it is, since it is wide by what was
    /// told of the flow, of which more can be known.
    fn end_before(&mut self, first: usize) -> Outcome {
        let Bracket { t_lo, t_hi, .. } = self.brackets[first];
        if t_lo < 0.1 * (t_hi.unwrap_or(self.reach) - t_lo) {
            return Outcome::Decided(Verdict::Blurred);
        }
        let h = self.outside_brackets(first, t_lo);
        self.memory = f64::INFINITY;
        self.brackets.retain(|b| b.t_hi.is_some_and(|t_hi| t_hi <= h));
        Outcome::Decided(Verdict::Proved { h })
    }

    /// Where to end a step that is proved up to a time: not within one of the first brackets, which would
    /// part it from another that it overlaps. From just before it a short step sees all of them.
    fn outside_brackets(&mut self, first: usize, proved: f64) -> f64 {
        let (mut start, mut end) = (proved, proved);
        for bracket in self.brackets[..first].iter().rev() {
            let t_hi = bracket.t_hi.unwrap_or(f64::INFINITY);
            if bracket.t_lo < start && t_hi > start {
                (start, end) = (bracket.t_lo, end.max(t_hi));
            }
        }
        if start == proved || start < 0.1 * (end - start) {
            return proved;
        }
        self.memory = 2.0 * (end - start);
        start
    }

    /// A guard is in doubt almost from the start. Shorter steps are tried, which see more clearly,
    /// until the doubt is short or they see less.
    fn doubt(&mut self, request: &Request, bracket: Bracket, hc: f64) -> Outcome {
        let (guard, t_lo, t_clear) = (bracket.guard, bracket.t_lo, bracket.clear());
        let verdict = Verdict::Possible { guard, t_lo, t_clear: t_clear.unwrap_or(hc), hc };
        let doubt = Doubt { verdict, ends: t_clear.is_some() };
        let earlier = self.doubt.filter(|_| t_lo == 0.0);
        let worse = earlier.is_some_and(|earlier| earlier.ends && !doubt.ends);
        if worse || hc <= request.resolution || t_clear.is_some_and(|t| t - t_lo <= request.resolution) {
            return Outcome::Decided(earlier.filter(|_| worse).unwrap_or(doubt).verdict);
        }
        if doubt.ends || earlier.is_none() {
            self.doubt = Some(doubt);
        }
        Outcome::Again(0.25 * hc)
    }

    /// All is known that happens on a step.
    fn accept(&mut self, request: &Request, h: f64) -> Outcome {
        self.memory = if h < request.h { 2.0 * h } else { f64::INFINITY };
        Outcome::Decided(Verdict::Proved { h: self.reach })
    }

    fn find_brackets(&mut self, request: &Request, guards: Watches, h: f64) -> Result<(), Obstacle> {
        self.brackets.clear();
        self.reach = h;
        let Request { jets, scale, .. } = *request;
        for i in 0..self.slots.len() {
            let (guard, slot) = self.slots[i];
            let watch = guards(guard);
            let is_kept = !watch.from_zero && self.tube.has_sign(guard, watch.sign.value());
            if watch.sign == Sign::Zero || is_kept {
                continue;
            }
            let bound = self.tube.watched(jets, guard)?;
            if !keeps(watch, bound.range) && !self.is_far(watch, bound, jets.spread(slot), h / scale) {
                jets.row(slot, &mut self.row);
                self.bracket(guard, watch, bound, [h, h, scale]);
            }
        }
        let Some(mut bank) = self.bank.take() else { return Ok(()) };
        let found = self.find_brackets_in(&mut bank, request, guards, h);
        self.bank = Some(bank);
        found
    }

    /// The same for the guards of the bank, up to a little behind the first change: those of which too
    /// little is known are composed, the earliest first, some at a time.
    fn find_brackets_in(
        &mut self,
        bank: &mut Bank,
        request: &Request,
        guards: Watches,
        h: f64,
    ) -> Result<(), Obstacle> {
        let Request { jets, scale, resolution, .. } = *request;
        let mut open = std::mem::take(&mut self.open);
        let is_ordered = self.find_open(bank, request, guards, &mut open);
        let may_change = |guard: usize, reach: f64| !is_ordered || guards(guard).until <= reach;
        // Mostly the earliest is the one that changes first.
        let (mut later, mut together) = (&open[..], if is_ordered { 1 } else { Bank::TOGETHER });
        loop {
            let reach = self.reach;
            let group = later.iter().take(together).take_while(|&&guard| may_change(guard, reach)).count();
            let (group, rest) = later.split_at(group);
            if group.is_empty() {
                break;
            }
            (later, together) = (rest, Bank::TOGETHER);
            bank.choose_none();
            group.iter().filter_map(|&guard| self.functions[guard]).for_each(|f| bank.choose(f));
            bank.compose(jets, jets.order());
            for &guard in group {
                let Some(function) = self.functions[guard].filter(|_| may_change(guard, self.reach)) else {
                    continue;
                };
                let bound = match request.radii {
                    Some(radii) => known_bound(radii(guard), guards(guard)),
                    None => self.tube.in_bank(bank, function)?,
                };
                let first = self.brackets.len();
                if !keeps(guards(guard), bound.range) {
                    bank.row(function, &mut self.row);
                    self.bracket(guard, guards(guard), bound, [self.reach, h, scale]);
                    if request.radii.is_some() {
                        // Not by rounding, but by all that was told of the flow.
                        self.brackets[first..].iter_mut().for_each(|bracket| bracket.is_rounded = false);
                    }
                }
                let narrow = self.brackets[first..].iter().filter(|b| b.is_narrow(resolution));
                let changes = narrow.filter_map(Bracket::changed);
                let ends = changes.map(|change| (BEHIND * change).max(SHORTEST_SHARE * h));
                self.reach = ends.fold(self.reach, f64::min);
            }
        }
        self.open = open;
        let reach = self.reach;
        self.brackets.retain(|bracket| bracket.t_lo <= reach);
        Ok(())
    }

    /// The guards of the bank that may change on the step. If the slots they read are near enough to their
    /// polynomials, it is known of each until when it does not: true, and they are in this order. Else
    /// their ranges on the tube tell.
    fn find_open(
        &mut self,
        bank: &mut Bank,
        request: &Request,
        guards: Watches,
        open: &mut Vec<usize>,
    ) -> bool {
        open.clear();
        let mut slots = bank.slots().iter().zip(request.slack);
        let is_near = |(&slot, &slack): (&u32, &f64)| self.tube.slot_distance(slot) <= NEAR * slack;
        if request.radii.is_some() || !request.slack.is_empty() && slots.all(is_near) {
            let near = request.near.iter().map(|&guard| guard as usize);
            open.extend(near.filter(|&guard| {
                let Watch { sign, until, .. } = guards(guard);
                until < self.reach && sign != Sign::Zero && self.functions[guard].is_some()
            }));
            open.sort_by(|&a, &b| guards(a).until.total_cmp(&guards(b).until));
            return true;
        }
        bank.enclose(|slot| {
            let range = self.tube.slot_range(slot);
            [range.lo(), range.hi()]
        });
        open.extend((0..self.functions.len()).filter(|&guard| {
            self.functions[guard].is_some_and(|function| {
                let [lo, hi] = bank.range(function);
                !keeps(guards(guard), Interval::new(lo, hi))
            })
        }));
        false
    }

    /// True if the sizes of its coefficients show that a guard keeps its sign.
    fn is_far(&self, watch: Watch, bound: SlotBound, [value, slope, rest]: [f64; 3], ratio: f64) -> bool {
        let order = self.row.len() as i32 - 1;
        let greatest = if ratio <= 1.0 { ratio * ratio } else { powi(ratio, order) };
        let change = slope.abs() * ratio + rest * greatest;
        let radius = bound.radii.along() + bound.radii.spread * self.distance.most();
        !watch.from_zero && watch.sign.value() * value * (1.0 - MARGIN) > change + radius
    }

    /// Adds the brackets of the guard whose coefficients are in `row`, up to a time `h` of a step of length
    /// `whole`. One that starts at zero is divided by the time, and so is one whose value at the start is
    /// lost in its rounding but which surely moves away from zero: its sign there is known from before.
    fn bracket(&mut self, guard: usize, watch: Watch, bound: SlotBound, [h, whole, scale]: [f64; 3]) {
        let (radii, order) = (bound.radii, self.row.len() - 1);
        let margin = 8.0 * UNIT * order as f64;
        let part = (h / whole) * (1.0 + 4.0 * UNIT);
        let tail_part = if h == whole { 1.0 } else { powi(part, order as i32 + 1) * (1.0 + 64.0 * UNIT) };
        let (ratio, mut power, mut size) = (h / scale, 1.0, 0.0);
        for c in &mut self.row[1..] {
            power *= ratio;
            *c *= power;
            size += c.abs();
        }
        let radius = Radius {
            start: radii.start,
            drift: (radii.drift + radii.spread * self.distance.drift) * part + margin * size,
            tail: (radii.tail + radii.spread * self.distance.tail) * tail_part,
            order: order as i32 + 1,
        };
        let radius = if self.has_fault(Fault::NoRemainder) { Radius { tail: 0.0, ..radius } } else { radius };
        let greatest = (radius.start + radius.drift) + (radius.tail + size);
        if !watch.from_zero && watch.sign.value() * self.row[0] * (1.0 - MARGIN) > greatest {
            return;
        }
        let degree = self.row.iter().rposition(|&c| c != 0.0).unwrap_or(0).max(1);
        let row = &self.row[..=degree];
        let moves_away = row[1] * watch.sign.value() > radius.drift;
        let is_lost = row[0].abs() <= radius.start && moves_away;
        let start = if watch.from_zero || is_lost {
            self.finder.zones(&row[1..], radius.deflated(), &mut self.zones)
        } else {
            self.finder.zones(row, radius, &mut self.zones)
        };
        if start == watch.sign.flip() {
            let (t_hi, slope) = (Some(0.0), row[1] / h);
            self.brackets.push(Bracket {
                guard,
                t_lo: 0.0,
                t_hi,
                after: start,
                changes: true,
                stop: 0.0,
                slope,
                is_rounded: false,
            });
        }
        let wrong = self.has_fault(Fault::WrongMargin);
        for zone in &self.zones {
            let before = if zone.before == Sign::Zero { watch.sign } else { zone.before };
            let changes = zone.after != Sign::Zero && zone.after != before;
            let stop = if changes { near_side(row, zone.at, zone.lo, before) } else { zone.hi };
            // The margin in the wrong direction.
            let hi = if wrong { 2.0 * zone.at - zone.hi } else { zone.hi };
            self.brackets.push(Bracket {
                guard,
                t_lo: zone.lo * h,
                t_hi: (zone.after != Sign::Zero).then_some(hi * h),
                after: zone.after,
                changes,
                stop: stop * h,
                slope: evaluate_with_derivative(row, stop).1 / h,
                is_rounded: radius.start >= 0.5 * radius.at(zone.hi),
            });
        }
    }

    #[cfg(test)]
    fn has_fault(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(test))]
    fn has_fault(&self, _: Fault) -> bool {
        false
    }
}

/// What tests can break, to see that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    NoRemainder,
    NoContainment,
    WrongMargin,
}

/// A guard of which it can not be told whether it changes.
#[derive(Clone, Copy, Debug)]
struct Doubt {
    verdict: Verdict,
    /// It surely has its sign again afterwards.
    ends: bool,
}

/// What a look at a step tells.
enum Looked {
    /// What all guards do.
    All,
    /// The position of the first bracket that tells too little.
    Open(usize),
    /// The flow may leave the tube.
    Left(Distance),
    /// The local error may be so many times too great.
    TooFar(f64),
    /// A function is in the way.
    Blocked(Obstacle),
}

enum Outcome {
    Decided(Verdict),
    /// Try another step.
    Again(f64),
    /// Try a shorter step: the tube of this one does not close.
    TooLong(f64),
    /// A function is in the way.
    Blocked(Obstacle),
}

/// What is known of a guard that is so far from its polynomial at most.
fn known_bound(radius: f64, watch: Watch) -> SlotBound {
    let drift = if watch.until > 0.0 { 0.0 } else { radius };
    let range = Interval::new(f64::NEG_INFINITY, f64::INFINITY);
    SlotBound { range, radii: Radii { start: radius, drift, ..Radii::default() } }
}

/// Whether a guard's range has only the sign to be kept.
fn keeps(watch: Watch, range: Interval) -> bool {
    match watch.sign {
        Sign::Negative => range.hi() < 0.0 && !watch.from_zero,
        Sign::Positive => range.lo() > 0.0 && !watch.from_zero,
        Sign::Zero => true,
    }
}

/// By how much a step of some order is to be shorter if its error is so many times too large.
fn shrink(order: usize, excess: f64) -> f64 {
    (0.9 * excess.powf(-1.0 / (order as f64 + 1.0))).clamp(0.25, 0.9)
}
