//! Certificates: proof that a step exists and that no guard was crossed in it.
//!
//! The step is proved by a high-order enclosure (Nedialkov, Jackson and Pryce 2001): if for every
//! time s of the step the Taylor polynomial below order q at the point, plus the term of order q of
//! all points of a box B, stays in B, then the flow exists throughout the step and stays in B. The
//! coefficients are [`BallJets`]: those of the point carry their rounding errors, those of the box
//! all values they can take. Guards are enclosed in the same way, but only if their range on B does
//! not exclude zero already. Orders 3 and 6 are tried before the full order, since most steps away
//! from guards are proved by the lowest.
//!
//! # What is claimed
//! For the exact flow of the model's expressions, with their constants as the floating-point numbers
//! they are, from the *computed* point of the start of the step: it exists on the step and stays in
//! the box, on which no divisor is zero, no function leaves its domain and no switch changes; every
//! guard keeps its sign from the start to the proved length, a guard that is declared has the
//! opposite sign at the end of its bracket. Elementary functions are taken to be accurate to 4 units
//! in the last place. *Not* claimed: that the computed end point lies on that flow, a bound of the
//! global error, or the order of brackets that overlap. The local error is estimated, not proved,
//! unless a tolerance is asked for: then the distance of the Taylor polynomial of the full order from
//! the exact flow is proved to be at most ten times the tolerance all through the step.

use crate::taylor::Tolerance;
use saltus_expr::jet::{BallJets, Bank, Degree, Obstacle, StateMatrix};
use saltus_expr::{FlowPlan, PlanBlock};
use saltus_num::interval::Interval;
use saltus_num::polynomial::evaluate_with_magnitude;
use saltus_num::roots::{Root, RootFinder, Sign, excludes_zero};

mod enclosure;
#[cfg(test)]
mod tests;

use enclosure::BoxGuess;

/// Half the distance from 1 to the next number.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Covers the rounding of a sum of terms that are not negative, up to order 64.
const INFLATION: f64 = 1.0 + 256.0 * UNIT;

/// How often another box is tried.
const ATTEMPTS: usize = 60;

/// A step shorter than this part of what was asked is tried again with a wider box.
const SHORTEST: f64 = 0.6;

/// A doubt about this part of a step is not looked at more closely: from a point nearer to it,
/// rounding would decide.
const NARROW: f64 = 1e-6;

/// The proved local error, in tolerances.
const LOCAL_ERROR: f64 = 10.0;

/// A guard that must keep its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watch {
    /// The sign to keep; zero if the guard is not watched.
    pub sign: Sign,
    /// The guard is taken to be zero at the start, whatever its rounded value: what must keep the
    /// sign is its change since then. A guard whose value is lost in its rounding is taken so, too,
    /// if it surely moves away from zero.
    pub from_zero: bool,
}

/// A step to be proved.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The point: states, time and constants of the plan's environment.
    pub env: &'a [f64],
    /// Coefficients of the states there, at least of the first three orders, times powers of
    /// `scale`; they serve as a guess.
    pub states: StateMatrix<'a>,
    /// The scale of the coefficients.
    pub scale: f64,
    /// The proposed length.
    pub h: f64,
    /// Brackets of events need not be narrower than this.
    pub resolution: f64,
    /// Proves also that the local error is below ten times this.
    pub local: Option<Tolerance>,
}

/// What was proved of a step; all times are measured from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The flow exists up to `h`, and every guard keeps its sign.
    Proved {
        /// At most what was asked for.
        h: f64,
    },
    /// Every guard keeps its sign up to `t_lo`, and this one has the opposite sign at `t_hi`.
    Event {
        /// Position among the guards.
        guard: usize,
        /// Start of the bracket.
        t_lo: f64,
        /// End of the bracket; 0 if the guard has the wrong sign from the start.
        t_hi: f64,
    },
    /// Every guard keeps its sign up to `t_lo`; this one may then touch zero or cross it, which can
    /// not be told.
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
    /// A time at which it surely has the other, if one was found.
    pub t_hi: Option<f64>,
    /// From where it surely has its sign again after `t_lo`, if that was found.
    pub t_clear: Option<f64>,
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
/// let mut certifier = Certifier::new(&plan, 16, &[3]);
/// let env = [0.0, 1.0, 0.0, 0.0];
/// jets.run(&env, 0.5);
/// let mut prove = |h: f64| {
///     let request = Request { env: &env, states: jets.states(), scale: 0.5, h, resolution: 1e-9, local: None };
///     certifier.certify(request, &[Watch { sign: Sign::Positive, from_zero: false }])
/// };
/// assert_eq!(prove(0.25), Verdict::Proved { h: 0.25 });
/// let Verdict::Event { guard: 0, t_lo, t_hi } = prove(0.5) else { panic!() };
/// assert!(t_lo < 0.287_682_072_5 && t_hi > 0.287_682_072_4 && t_hi - t_lo < 1e-9);
/// ```
#[derive(Clone, Debug)]
pub struct Certifier {
    balls: BallJets,
    /// Ranges of guards, if there are many, and which of its functions each guard is.
    bank: Option<Bank>,
    functions: Vec<Option<usize>>,
    stages: Vec<usize>,
    enclosure: BoxGuess,
    finder: RootFinder,
    roots: Vec<Root>,
    upper: Vec<f64>,
    lower: Vec<f64>,
    brackets: Vec<Bracket>,
    obstacle: Option<Obstacle>,
    /// What a longer step left in doubt.
    doubt: Option<Doubt>,
    /// The next step is no longer than this.
    memory: f64,
    #[cfg(test)]
    fault: Option<Fault>,
}

impl Certifier {
    /// For a plan with guards in these slots, with jets of this order.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`] or a slot is outside its environment.
    pub fn new(plan: &FlowPlan, order: usize, guards: &[u32]) -> Certifier {
        let order = order.clamp(1, 64);
        let mut stages: Vec<usize> = [3, 6].into_iter().filter(|&q| q < order).collect();
        stages.push(order);
        let (bank, functions) = bank_of(plan, guards);
        Certifier {
            bank,
            functions,
            balls: BallJets::new(plan, order, guards),
            stages,
            enclosure: BoxGuess::new(plan.states.len()),
            finder: RootFinder::default(),
            roots: Vec::with_capacity(order + 1),
            upper: Vec::with_capacity(order + 1),
            lower: Vec::with_capacity(order + 1),
            brackets: Vec::with_capacity(guards.len()),
            obstacle: None,
            doubt: None,
            memory: f64::INFINITY,
            #[cfg(test)]
            fault: None,
        }
    }

    /// Forgets how long the last steps could be: after a jump they say nothing.
    pub fn reset(&mut self) {
        self.memory = f64::INFINITY;
        self.enclosure.forget();
    }

    /// The next step will be no longer than this.
    pub fn longest(&self) -> f64 {
        self.memory
    }

    /// The guards that may change on the last step, in no particular order.
    pub fn brackets(&self) -> &[Bracket] {
        &self.brackets
    }

    /// The function that made the last step shorter, if one did.
    pub fn obstacle(&self) -> Option<Obstacle> {
        self.obstacle
    }

    /// The box of the last step, one interval for each state.
    pub fn bounds(&self) -> &[Interval] {
        &self.enclosure.bounds
    }

    /// Proves as much of a step as can be. `guards` are the signs of the slots given at the
    /// beginning, in their order.
    pub fn certify(&mut self, request: Request, guards: &[Watch]) -> Verdict {
        let mut h = request.h.min(self.memory);
        self.obstacle = None;
        self.doubt = None;
        self.balls.set_point(request.env);
        self.enclosure.start(request.states);
        for _ in 0..ATTEMPTS {
            self.enclosure.guess(request.states, h / request.scale);
            match self.prove_on_box(&request, h, guards) {
                Outcome::Decided(verdict) => return verdict,
                Outcome::Again(shorter) => h = shorter,
                Outcome::Blocked(by) => {
                    self.obstacle = Some(by);
                    self.enclosure.tighten();
                    h *= 0.5;
                }
            }
        }
        self.memory = f64::INFINITY;
        self.doubt.map_or(Verdict::Uncertain { h, obstacle: self.obstacle }, |doubt| doubt.verdict)
    }

    fn prove_on_box(&mut self, request: &Request, h: f64, guards: &[Watch]) -> Outcome {
        if let Err(obstacle) = self.balls.enclose(h, &self.enclosure.bounds) {
            return Outcome::Blocked(obstacle);
        }
        if let Some(bank) = &mut self.bank {
            let unknown = [f64::NEG_INFINITY, f64::INFINITY];
            bank.enclose(|slot| {
                self.balls.slot_range(slot).map_or(unknown, |range| [range.lo(), range.hi()])
            });
        }
        let last = self.stages.len() - 1;
        let first = if request.local.is_some() { last } else { 0 };
        for stage in first..last {
            let q = self.stages[stage];
            self.balls.extend(q);
            if self.stays_in_box(q, 1.0) && self.all_keep(guards, q) {
                return Outcome::Decided(self.accept(request, h, 1.0));
            }
        }
        let q = self.stages[last];
        self.balls.extend(q);
        let reach = self.reach(q, request.local);
        if reach < SHORTEST {
            let shorter = (1.5 * reach).clamp(0.25, 0.75);
            self.widen(q, shorter);
            self.enclosure.loosen();
            return Outcome::Again(shorter * h);
        }
        if let Err(obstacle) = self.find_brackets(guards, q, h, reach) {
            return Outcome::Blocked(obstacle);
        }
        self.conclude(request, h, reach)
    }

    /// The verdict on a step that is proved up to `reach` but for the brackets found.
    fn conclude(&mut self, request: &Request, h: f64, reach: f64) -> Outcome {
        let earlier = |a: &&Bracket, b: &&Bracket| {
            a.t_lo.total_cmp(&b.t_lo).then(a.t_hi.is_none().cmp(&b.t_hi.is_none()))
        };
        let Some(&bracket) = self.brackets.iter().min_by(earlier) else {
            return Outcome::Decided(self.accept(request, h, reach));
        };
        let Bracket { guard, t_lo, t_hi, .. } = bracket;
        Outcome::Decided(match t_hi {
            Some(t_hi) => {
                let width = t_hi - t_lo;
                if width > request.resolution && t_lo >= 0.1 * width {
                    self.memory = 2.0 * width;
                    Verdict::Proved { h: t_lo }
                } else if width > request.resolution && t_hi < 0.2 * h {
                    return Outcome::Again(2.0 * t_hi);
                } else if width > request.resolution {
                    // Its sign is not even known at the start: so wide a bracket tells nothing.
                    return self.doubt(request, bracket, reach * h);
                } else {
                    self.memory = f64::INFINITY;
                    Verdict::Event { guard, t_lo, t_hi }
                }
            }
            None => {
                let hc = reach * h;
                self.memory = 0.25 * hc;
                match bracket.t_clear {
                    Some(t_clear) if t_clear - t_lo <= NARROW * hc => {
                        Verdict::Possible { guard, t_lo, t_clear, hc }
                    }
                    _ if t_lo < 0.01 * hc => return self.doubt(request, bracket, hc),
                    _ => Verdict::Proved { h: t_lo },
                }
            }
        })
    }

    /// A guard is in doubt almost from the start. Shorter steps are tried, which see more clearly,
    /// until the doubt is short or they see less.
    fn doubt(&mut self, request: &Request, bracket: Bracket, hc: f64) -> Outcome {
        let Bracket { guard, t_lo, t_clear, .. } = bracket;
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

    fn accept(&mut self, request: &Request, h: f64, reach: f64) -> Verdict {
        self.brackets.clear();
        self.enclosure.loosen();
        let proved = h * reach;
        self.memory = if proved < request.h { 2.0 * proved } else { f64::INFINITY };
        Verdict::Proved { h: proved }
    }

    /// How far beyond the point the enclosure of a state reaches by the time `s`, up and down.
    fn need(&self, state: usize, q: usize, s: f64) -> [f64; 2] {
        let row = &self.balls.state_row(state)[1..=q];
        let (last, below) = (row[q - 1], &row[..q - 1]);
        let reach = |mid: f64, radius: f64| [rise(mid + radius), rise(radius - mid)];
        let [mut up, mut down] = reach(last.mid, self.remainder(last.radius));
        for ball in below.iter().rev() {
            let [rising, falling] = reach(ball.mid, ball.at_point());
            (up, down) = (up * s + rising, down * s + falling);
        }
        [up * s * INFLATION, down * s * INFLATION]
    }

    fn remainder(&self, radius: [f64; 2]) -> f64 {
        if self.has_fault(Fault::NoRemainder) { radius[0] } else { radius[1] }
    }

    /// True if the flow surely stays in the box up to `s`.
    fn stays_in_box(&self, q: usize, s: f64) -> bool {
        if self.has_fault(Fault::NoContainment) {
            return true;
        }
        (0..self.balls.states()).all(|i| {
            let (need, room) = (self.need(i, q, s), self.enclosure.room(i));
            need[0] <= room[0] && need[1] <= room[1]
        })
    }

    /// True if the Taylor polynomial is surely as close to the flow as asked, up to `s`.
    fn is_accurate(&self, q: usize, s: f64, local: Option<Tolerance>) -> bool {
        let Some(tolerance) = local else { return true };
        (0..self.balls.states()).all(|i| {
            let row = &self.balls.state_row(i)[1..=q];
            let last = row[q - 1].on_box();
            let error = row[..q - 1].iter().rev().fold(last, |sum, ball| sum * s + ball.at_point()) * s;
            error * INFLATION <= LOCAL_ERROR * tolerance.of(self.enclosure.point[i])
        })
    }

    /// How far the flow surely stays in the box, as a part of the step.
    fn reach(&self, q: usize, local: Option<Tolerance>) -> f64 {
        let holds = |s: f64| self.stays_in_box(q, s) && self.is_accurate(q, s, local);
        if holds(1.0) {
            return 1.0;
        }
        let (mut inside, mut outside) = (0.0, 1.0);
        for _ in 0..6 {
            let middle = 0.5 * (inside + outside);
            if holds(middle) { inside = middle } else { outside = middle }
        }
        inside
    }

    /// Gives room where a step of `s` needs more than there is.
    fn widen(&mut self, q: usize, s: f64) {
        for i in 0..self.balls.states() {
            let need = self.need(i, q, s);
            self.enclosure.widen(i, need);
        }
    }

    /// True if every guard surely keeps its sign on the whole step, proved to order `q`.
    fn all_keep(&mut self, guards: &[Watch], q: usize) -> bool {
        guards.iter().enumerate().all(|(i, &watch)| {
            self.keeps_on_box(i, watch) == Some(true)
                || self.balls.watched_range(i).is_ok() && {
                    self.enclose_guard(i, watch, q);
                    self.upper_stays_negative()
                }
        })
    }

    /// Whether a guard's range on the box has only the sign to be kept.
    fn keeps_on_box(&mut self, guard: usize, watch: Watch) -> Option<bool> {
        if watch.sign == Sign::Zero {
            return Some(true);
        }
        let keeps = |lo: f64, hi: f64| match watch.sign {
            Sign::Negative => hi < 0.0 && !watch.from_zero,
            Sign::Positive => lo > 0.0 && !watch.from_zero,
            Sign::Zero => false,
        };
        if let (Some(bank), Some(function)) = (&self.bank, self.functions[guard]) {
            let [lo, hi] = bank.range(function);
            if keeps(lo, hi) {
                return Some(true);
            }
        }
        let range = self.balls.watched_range(guard).ok()?;
        Some(keeps(range.lo(), range.hi()))
    }

    /// Polynomials between which a guard, turned so that it must stay negative, lies on the step.
    /// One that starts at zero is divided by the time, and so is one whose value at the start is lost
    /// in its rounding but which surely moves away from zero: its sign there is known from before.
    fn enclose_guard(&mut self, guard: usize, watch: Watch, q: usize) {
        self.balls.extend_watched(guard, q);
        let turn = -watch.sign.value();
        self.upper.clear();
        self.lower.clear();
        for k in usize::from(watch.from_zero)..=q {
            let ball = self.balls.watched(guard, k);
            let radius = if k == q { self.remainder(ball.radius) } else { ball.at_point() };
            self.upper.push(above(turn * ball.mid, radius));
            self.lower.push(-above(-turn * ball.mid, radius));
        }
        let is_lost = !watch.from_zero && self.upper[0] >= 0.0 && self.lower[0] <= 0.0;
        if is_lost && self.upper.get(1).is_some_and(|&slope| slope < 0.0) {
            self.upper.remove(0);
            self.lower.remove(0);
        }
    }

    fn upper_stays_negative(&mut self) -> bool {
        self.upper[0] < 0.0 && (excludes_zero(&self.upper) || self.finder.first_root(&self.upper).is_none())
    }

    fn find_brackets(&mut self, guards: &[Watch], q: usize, h: f64, reach: f64) -> Result<(), Obstacle> {
        self.brackets.clear();
        for (guard, &watch) in guards.iter().enumerate() {
            if self.keeps_on_box(guard, watch) == Some(true) {
                continue;
            }
            self.balls.watched_range(guard)?;
            self.enclose_guard(guard, watch, q);
            let bracket = self.bracket(reach);
            if let Some((lo, hi, clear)) = bracket {
                let time = |s: f64| s * h;
                let (t_lo, t_hi, t_clear) = (time(lo), hi.map(time), clear.map(time));
                self.brackets.push(Bracket { guard, t_lo, t_hi, t_clear });
            }
        }
        Ok(())
    }

    /// Where the guard enclosed last may change up to `reach`: the end of the part on which it is
    /// negative, a place at which it is positive, and one at which it is negative again.
    fn bracket(&mut self, reach: f64) -> Option<(f64, Option<f64>, Option<f64>)> {
        let (lo, clear) = if self.upper[0] < 0.0 {
            let first = self.finder.first_root(&self.upper).filter(|root| root.lo < reach)?;
            (self.certain_before(first.lo), self.certain_after(Sign::Negative, first.hi, reach))
        } else {
            (0.0, self.certain_after(Sign::Negative, 0.0, reach))
        };
        let hi = self.first_positive(lo, reach);
        Some((lo, hi, clear))
    }

    /// The last place up to `s` at which the upper bound is surely negative, having been so before.
    fn certain_before(&self, s: f64) -> f64 {
        let mut back = UNIT;
        let mut at = s;
        while !is_certain(&self.upper, at, -1.0) {
            back *= 2.0;
            if back >= 1.0 {
                return 0.0;
            }
            at = s * (1.0 - back);
        }
        at
    }

    /// The first place from `lo` on at which the lower bound is surely positive.
    fn first_positive(&mut self, lo: f64, reach: f64) -> Option<f64> {
        if self.lower[0] > 0.0 {
            return Some(0.0);
        }
        let mut roots = std::mem::take(&mut self.roots);
        self.finder.roots(&self.lower, &mut roots);
        let wrong = self.has_fault(Fault::WrongMargin);
        let rising = roots.iter().filter(|root| root.after == Sign::Positive && root.lo < reach);
        let found = rising.into_iter().find_map(|root| {
            if wrong { Some(root.lo) } else { self.certain_after(Sign::Positive, root.hi.max(lo), reach) }
        });
        self.roots = roots;
        found
    }

    /// A place just after `s` at which a bound surely has a sign: the upper one if negative, the
    /// lower one if positive.
    fn certain_after(&self, sign: Sign, s: f64, reach: f64) -> Option<f64> {
        let bound = if sign == Sign::Negative { &self.upper } else { &self.lower };
        let mut ahead = 0.0;
        while s + ahead <= reach {
            if is_certain(bound, s + ahead, sign.value()) {
                return Some(s + ahead);
            }
            ahead = (2.0 * ahead).max(UNIT * s.max(1e-3));
        }
        None
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

/// Guards so many are enclosed side by side before any is looked at alone.
const CROWD: usize = 16;

/// A bank of the blocks that define guards and nothing else, and the function that each guard is.
fn bank_of(plan: &FlowPlan, guards: &[u32]) -> (Option<Bank>, Vec<Option<usize>>) {
    let is_guard = |block: &&PlanBlock| block.outputs.iter().all(|slot| guards.contains(slot));
    let units: Vec<PlanBlock> = plan.blocks.iter().filter(is_guard).cloned().collect();
    let outputs: Vec<u32> = units.iter().flat_map(|unit| &unit.outputs).copied().collect();
    if outputs.len() < CROWD {
        return (None, vec![None; guards.len()]);
    }
    let functions = guards.iter().map(|guard| outputs.iter().position(|slot| slot == guard));
    // Degrees are of no concern for ranges.
    (Some(Bank::new(&units, 0, |_| Degree::UNBOUNDED)), functions.collect())
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

enum Outcome {
    Decided(Verdict),
    /// Try a shorter step.
    Again(f64),
    /// A function is in the way.
    Blocked(Obstacle),
}

/// The positive part; not by `max`, which would swallow NaN.
fn rise(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x }
}

/// x + radius, rounded up.
fn above(x: f64, radius: f64) -> f64 {
    (x + radius).next_up()
}

/// True if the polynomial surely has the sign at `s`, and at the time `s` stands for, which is
/// rounded once more.
fn is_certain(c: &[f64], s: f64, sign: f64) -> bool {
    let value = evaluate_with_magnitude(c, s);
    let margin = (6 * c.len() + 16) as f64 * UNIT * value.magnitude;
    sign * value.value > margin
}
