//! Random models: what certificates claim of each step is compared with a much more accurate
//! integration from the same point, and the events of the run with those of the whole.

use super::driver::{Happening, Model, Proof, Run, Setting};
use crate::certificate::{Fault, Watch};
use crate::taylor::{StepBound, Tolerance};
use saltus_expr::jet::{JetMachine, Jets};
use saltus_expr::{Binary, Expr, FlowPlan, Graph, Node, Unary};

/// A small generator of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * ((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// Adds what a random expression needs to a graph.
struct Writer<'a> {
    g: &'a mut Graph,
    r: &'a mut Random,
    t: Expr,
    x: &'a [Expr],
}

impl Writer<'_> {
    fn real(&mut self, lo: f64, hi: f64) -> Expr {
        let value = self.r.between(lo, hi);
        self.g.real(value)
    }

    fn state(&mut self) -> Expr {
        self.x[self.r.below(self.x.len())]
    }

    fn unary(&mut self, op: Unary, a: Expr) -> Expr {
        self.g.unary(op, a)
    }

    fn square_above(&mut self, lo: f64, hi: f64) -> Expr {
        let (x, level) = (self.state(), self.real(lo, hi));
        let square = self.g.mul(x, x);
        self.g.add(square, level)
    }

    /// A term of a derivative: something of moderate size.
    fn term(&mut self) -> Expr {
        let (x, y) = (self.state(), self.state());
        match self.r.below(15) {
            0 => x,
            1 => self.g.mul(x, y),
            2 => self.unary(Unary::Sin, x),
            3 => self.unary(Unary::Cos, y),
            4 => {
                let rate = self.real(0.5, 3.0);
                let angle = self.g.mul(rate, self.t);
                let sum = self.g.add(angle, x);
                self.unary(Unary::Sin, sum)
            }
            5 => {
                let square = self.g.mul(x, x);
                let minus = self.g.neg(square);
                self.unary(Unary::Exp, minus)
            }
            6 => {
                let below = self.square_above(0.3, 2.0);
                self.g.div(x, below)
            }
            7 => {
                let below = self.square_above(0.3, 2.0);
                self.unary(Unary::Sqrt, below)
            }
            8 => {
                let below = self.square_above(0.5, 2.0);
                self.unary(Unary::Log, below)
            }
            9 => {
                let (below, exponent) = (self.square_above(0.5, 2.0), self.real(-1.4, 0.8));
                self.g.intern(Node::Binary(Binary::Pow, below, exponent))
            }
            10 => self.unary(Unary::Atan, x),
            11 => self.unary(Unary::Tanh, y),
            12 => self.real(-1.0, 1.0),
            13 => {
                // May leave its domain.
                let level = self.real(2.0, 4.0);
                let gap = self.g.sub(x, level);
                let one = self.g.real(1.0);
                self.g.div(one, gap)
            }
            _ => {
                let level = self.real(-4.0, -2.0);
                let gap = self.g.sub(x, level);
                self.unary(Unary::Sqrt, gap)
            }
        }
    }

    fn rate(&mut self, state: usize, pulse: bool) -> Expr {
        let damping = self.real(-0.6, -0.1);
        let mut sum = self.g.mul(damping, self.x[state]);
        for _ in 0..1 + self.r.below(3) {
            let (factor, term) = (self.real(-1.5, 1.5), self.term());
            let product = self.g.mul(factor, term);
            sum = self.g.add(sum, product);
        }
        if pulse { self.pulse(sum) } else { sum }
    }

    /// A short pulse somewhere in time.
    fn pulse(&mut self, sum: Expr) -> Expr {
        let (at, width, height) = (self.real(0.5, 3.5), self.real(0.01, 0.1), self.real(-30.0, 30.0));
        let shifted = self.g.sub(self.t, at);
        let u = self.g.div(shifted, width);
        let square = self.g.mul(u, u);
        let minus = self.g.neg(square);
        let bell = self.unary(Unary::Exp, minus);
        let product = self.g.mul(height, bell);
        self.g.add(sum, product)
    }

    fn guard(&mut self) -> Expr {
        let (x, y, level) = (self.state(), self.state(), self.real(-1.5, 1.5));
        let value = match self.r.below(7) {
            0 | 1 => x,
            2 => {
                let factor = self.real(-1.0, 1.0);
                let other = self.g.mul(factor, y);
                self.g.add(x, other)
            }
            3 => {
                let (a, b) = (self.g.mul(x, x), self.g.mul(y, y));
                self.g.add(a, b)
            }
            4 => self.unary(Unary::Sin, x),
            5 => {
                let (below, rate) = (self.square_above(0.5, 1.5), self.real(0.2, 1.0));
                let quotient = self.g.div(y, below);
                let drift = self.g.mul(rate, self.t);
                self.g.add(quotient, drift)
            }
            _ => self.g.mul(x, y),
        };
        self.g.sub(value, level)
    }
}

fn random_model(r: &mut Random, pulses: bool) -> Model {
    let start: Vec<f64> = (0..1 + r.below(3)).map(|_| r.between(-1.5, 1.5)).collect();
    let guards = 1 + r.below(2);
    let mut model = Model::new(&start, |g, t, x| {
        let pulsed = r.below(x.len());
        let mut writer = Writer { g, r, t, x };
        (0..x.len()).map(|i| writer.rate(i, pulses && i == pulsed)).collect()
    });
    for _ in 0..guards {
        model = model.guard(|g, t, x| Writer { g, r, t, x }.guard());
    }
    model
}

/// An accurate integration with its own step control; `visit` is shown the time, the states and
/// the guards at the ends of short pieces.
struct Reference {
    plan: FlowPlan,
    jets: JetMachine,
    guards: Vec<u32>,
    scratch: Vec<f64>,
}

const REFERENCE_ORDER: usize = 20;

impl Reference {
    fn new(model: &Model) -> Reference {
        let plan = model.plan();
        let jets = JetMachine::new(&plan, REFERENCE_ORDER);
        Reference { plan, jets, guards: model.guard_slots(), scratch: Vec::new() }
    }

    /// Integrates for a time `h`; false if it could not.
    fn integrate(
        &mut self,
        t: f64,
        x: &[f64],
        h: f64,
        piece: f64,
        mut visit: impl FnMut(f64, &[f64], &[f64]),
    ) -> bool {
        let mut env = vec![0.0; self.plan.slots];
        env[1..=x.len()].copy_from_slice(x);
        let tolerance = Tolerance { relative: 1e-17, absolute: 1e-17 };
        let (mut done, mut scale, mut steps) = (0.0, 0.02, 0);
        // The sum of the steps is rounded.
        while h - done > 1e-12 * h {
            steps += 1;
            env[0] = t + done;
            self.jets.run(&env, scale);
            let mut bound = StepBound::new(REFERENCE_ORDER);
            bound.states(self.jets.states(), REFERENCE_ORDER, tolerance);
            let step = (bound.ratio() * scale).min(0.05).min(h - done);
            if step.is_nan() || step < 1e-14 * h || steps > 200_000 {
                return false;
            }
            let pieces = (step / piece).ceil().clamp(1.0, 64.0) as usize;
            for i in 1..=pieces {
                let s = step * i as f64 / pieces as f64;
                let states = self.jets.states();
                for j in 0..x.len() {
                    env[1 + j] = (0..=REFERENCE_ORDER)
                        .rev()
                        .fold(0.0, |sum, k| sum * (s / scale) + states.order(k)[j]);
                }
                env[0] = t + done + s;
                self.plan.eval(&mut env, &mut self.scratch);
                let guards = &env[self.guards[0] as usize..];
                visit(done + s, &env[1..=x.len()], guards);
            }
            done = if step >= h - done { h } else { done + step };
            scale = step.max(1e-9);
        }
        true
    }
}

/// How often steps broke what was claimed of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    steps: usize,
    outside: usize,
    guard: usize,
    bracket: usize,
}

/// A wrong sign by less than this is the reference's own error.
fn slack(size: f64) -> f64 {
    2e-11 * (1.0 + size)
}

fn check_step(reference: &mut Reference, proof: &Proof, start: &[f64], found: &mut Violations) {
    let (mut outside, mut wrong) = (false, false);
    let turned = |watch: &Watch, value: f64| -watch.sign.value() * value;
    let h = proof.h;
    found.steps += 1;
    let complete = reference.integrate(proof.t, &proof.x, h, h / 16.0, |_, x, guards| {
        for (x, bounds) in x.iter().zip(&proof.bounds) {
            let room = slack(x.abs());
            outside |= !(*x > bounds.lo() - room && *x < bounds.hi() + room);
        }
        for ((watch, value), start) in proof.watches.iter().zip(guards).zip(start) {
            let from = if watch.from_zero { turned(watch, *start) } else { 0.0 };
            wrong |= turned(watch, *value) - from > slack(value.abs());
        }
    });
    found.outside += usize::from(outside || !complete);
    found.guard += usize::from(wrong);
    if let Some((guard, _, hi)) = proof.bracket {
        let mut last = turned(&proof.watches[guard], start[guard]);
        reference.integrate(proof.t, &proof.x, hi, hi, |_, _, guards| {
            last = turned(&proof.watches[guard], guards[guard]);
        });
        let from = turned(&proof.watches[guard], start[guard]);
        let from = if proof.watches[guard].from_zero { from } else { 0.0 };
        found.bracket += usize::from(last - from < -slack(last.abs()));
    }
}

fn check_steps(model: &Model, run: &Run, found: &mut Violations) {
    let mut reference = Reference::new(model);
    let mut env = vec![0.0; reference.plan.slots];
    for proof in &run.proofs {
        env[0] = proof.t;
        env[1..=proof.x.len()].copy_from_slice(&proof.x);
        reference.plan.eval(&mut env, &mut Vec::new());
        let start = env[reference.guards[0] as usize..].to_vec();
        check_step(&mut reference, proof, &start, found);
    }
}

/// A sign change of the reference, or a place where the guard comes close to zero without one.
struct Crossing {
    guard: usize,
    t: f64,
    doubtful: bool,
}

fn reference_crossings(model: &Model, end: f64) -> Option<Vec<Crossing>> {
    let mut reference = Reference::new(model);
    let mut crossings = Vec::new();
    let mut history: Vec<[f64; 2]> = Vec::new();
    let complete = reference.integrate(0.0, &model.start, end, 1e-3, |t, _, guards| {
        if history.is_empty() {
            history = guards.iter().map(|&g| [g, g]).collect();
        }
        for (guard, (&value, last)) in guards.iter().zip(&mut history).enumerate() {
            if value.signum() != last[1].signum() {
                crossings.push(Crossing { guard, t, doubtful: (value - last[1]).abs() < 1e-7 });
            } else if last[1].abs() < 1e-5 && last[1].abs() <= last[0].abs() && last[1].abs() <= value.abs() {
                crossings.push(Crossing { guard, t, doubtful: true });
            }
            *last = [last[1], value];
        }
    });
    complete.then_some(crossings)
}

/// Events that one has and the other has not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mismatches {
    events: usize,
    missed: usize,
    invented: usize,
}

/// The reference sees a crossing up to a piece late; both drift apart by their accuracy.
const NEAR: f64 = 3e-3;

fn compare_events(model: &Model, run: &Run, found: &mut Mismatches) {
    let Some(crossings) = reference_crossings(model, run.end) else { return };
    let near =
        |guard: usize, lo: f64, hi: f64, c: &Crossing| c.guard == guard && c.t > lo - NEAR && c.t < hi + NEAR;
    for c in crossings.iter().filter(|c| !c.doubtful && c.t > NEAR && c.t < run.end - NEAR) {
        found.events += 1;
        let seen = run.happenings.iter().any(|h| match *h {
            Happening::Event { guard, lo, hi } => near(guard, lo, hi, c),
            Happening::Possible { guard, lo, clear } => near(guard, lo, clear, c),
        });
        found.missed += usize::from(!seen);
    }
    for h in &run.happenings {
        if let Happening::Event { guard, lo, hi } = *h
            && hi > NEAR
            && lo < run.end - NEAR
        {
            // Two events closer than a piece of the reference are not seen by it.
            let twin = run.happenings.iter().any(|other| match *other {
                Happening::Event { guard: g, lo: l, .. } => g == guard && l != lo && (l - lo).abs() < NEAR,
                Happening::Possible { .. } => false,
            });
            let real = twin || crossings.iter().any(|c| near(guard, lo, hi, c));
            found.invented += usize::from(!real);
        }
    }
}

fn seed() -> u64 {
    std::env::var("SALTUS_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20_240_601)
}

fn cases(default: usize) -> usize {
    std::env::var("SALTUS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Runs random models; the events of their runs and what was claimed of their steps.
fn campaign(models: usize, fault: Option<Fault>) -> (Violations, Mismatches, usize) {
    let (seed, mut violations, mut mismatches, mut ended) =
        (seed(), Violations::default(), Mismatches::default(), 0);
    for i in 0..models {
        for (order, tolerance) in [(12, 1e-8), (16, 1e-10)] {
            let mut r = Random(seed.wrapping_mul(1_000_003).wrapping_add(i as u64));
            let mut model = random_model(&mut r, i % 2 == 0);
            let setting = Setting { order, tolerance, end: 4.0, fault, ..Setting::default() };
            let run = model.run(setting);
            ended += usize::from(run.end == setting.end);
            let before = (violations, mismatches.missed, mismatches.invented);
            check_steps(&model, &run, &mut violations);
            compare_events(&model, &run, &mut mismatches);
            let clean = Violations { steps: violations.steps, ..before.0 } == violations
                && (before.1, before.2) == (mismatches.missed, mismatches.invented);
            if !clean && fault.is_none() {
                eprintln!("seed {seed} model {i} order {order}: {violations:?} {mismatches:?}");
            }
        }
    }
    eprintln!(
        "seed {seed}, {models} models, {ended} runs to the end, {fault:?}: {violations:?} {mismatches:?}"
    );
    (violations, mismatches, ended)
}

#[test]
fn random_models_keep_what_was_proved() {
    let models = cases(200);
    let (violations, mismatches, ended) = campaign(models, None);
    assert_eq!((violations.outside, violations.guard, violations.bracket), (0, 0, 0));
    assert_eq!((mismatches.missed, mismatches.invented), (0, 0));
    assert!(ended > models, "{ended} of {models} models twice");
    assert!(mismatches.events > models / 2 && violations.steps > 5 * models);
}

#[test]
fn without_the_remainder_claims_are_false() {
    let (violations, ..) = campaign(cases(200).min(400), Some(Fault::NoRemainder));
    assert!(violations.guard + violations.outside > 0, "{violations:?}");
}

#[test]
fn without_containment_claims_are_false() {
    let (violations, ..) = campaign(cases(200).min(400), Some(Fault::NoContainment));
    assert!(violations.outside > 0, "{violations:?}");
}
