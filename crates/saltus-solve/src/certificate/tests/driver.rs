//! Small models and an engine that steps them under certificates.

use crate::certificate::{Bracket, Certifier, Fault, Request, Verdict, Watch};
use crate::taylor::{StepBound, Tolerance};
use saltus_expr::jet::{JetMachine, Jets, Obstacle};
use saltus_expr::{Expr, FlowPlan, Graph, PlanBlock, Program, Sort, VarId};
use saltus_num::interval::Interval;
use saltus_num::roots::Sign;

/// A flow with guards: time in slot 0, then states, derivatives and guards.
pub struct Model {
    pub graph: Graph,
    pub time: Expr,
    pub states: Vec<Expr>,
    pub start: Vec<f64>,
    pub rates: Vec<Expr>,
    pub guards: Vec<Expr>,
}

/// How a model is run.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub order: usize,
    pub tolerance: f64,
    pub end: f64,
    pub longest: f64,
    pub resolution: f64,
    pub validated: bool,
    pub stop_at_event: bool,
    pub(in crate::certificate) fault: Option<Fault>,
}

impl Default for Setting {
    fn default() -> Self {
        Setting {
            order: 12,
            tolerance: 1e-8,
            end: 1.0,
            longest: f64::INFINITY,
            resolution: 1e-8,
            validated: false,
            stop_at_event: false,
            fault: None,
        }
    }
}

/// What a run met.
#[derive(Clone, Copy, Debug)]
pub enum Happening {
    Event { guard: usize, lo: f64, hi: f64 },
    Possible { guard: usize, lo: f64, clear: f64 },
}

/// A step that was proved: from where, how long, in which box, with which guards.
#[derive(Clone, Debug)]
pub struct Proof {
    pub t: f64,
    pub x: Vec<f64>,
    pub h: f64,
    pub bounds: Vec<Interval>,
    pub watches: Vec<Watch>,
    /// A guard with a bracket, as times since t.
    pub bracket: Option<(usize, f64, f64)>,
}

#[derive(Clone, Debug, Default)]
pub struct Run {
    pub happenings: Vec<Happening>,
    pub proofs: Vec<Proof>,
    pub steps: usize,
    pub end: f64,
    /// What was last in the way.
    pub obstacle: Option<Obstacle>,
}

impl Run {
    /// The brackets of events.
    pub fn events(&self) -> Vec<(f64, f64)> {
        self.happenings
            .iter()
            .filter_map(|h| match *h {
                Happening::Event { lo, hi, .. } => Some((lo, hi)),
                Happening::Possible { .. } => None,
            })
            .collect()
    }
}

impl Model {
    pub fn new(start: &[f64], rates: impl FnOnce(&mut Graph, Expr, &[Expr]) -> Vec<Expr>) -> Model {
        let mut graph = Graph::new();
        let time = graph.var(VarId(0), Sort::Real);
        let states: Vec<Expr> =
            (1..=start.len() as u32).map(|slot| graph.var(VarId(slot), Sort::Real)).collect();
        let rates = rates(&mut graph, time, &states);
        Model { graph, time, states, start: start.to_vec(), rates, guards: Vec::new() }
    }

    pub fn guard(mut self, guard: impl FnOnce(&mut Graph, Expr, &[Expr]) -> Expr) -> Model {
        let guard = guard(&mut self.graph, self.time, &self.states);
        self.guards.push(guard);
        self
    }

    pub fn plan(&self) -> FlowPlan {
        let states = self.states.len() as u32;
        let outputs: Vec<Expr> = self.rates.iter().chain(&self.guards).copied().collect();
        let (program, inputs) = Program::new(&self.graph, &outputs);
        let block = PlanBlock {
            program: program.into(),
            inputs: inputs.iter().map(|v| v.0).collect(),
            outputs: (states + 1..states + 1 + outputs.len() as u32).collect(),
        };
        FlowPlan {
            blocks: vec![block],
            states: (1..=states).map(|i| (i, states + i)).collect(),
            time_slot: 0,
            slots: 1 + states as usize + outputs.len(),
        }
    }

    pub fn guard_slots(&self) -> Vec<u32> {
        let first = 1 + 2 * self.states.len() as u32;
        (first..first + self.guards.len() as u32).collect()
    }

    /// Steps the model, going on after events with the guard's sign turned.
    pub fn run(&mut self, setting: Setting) -> Run {
        let (plan, slots) = (self.plan(), self.guard_slots());
        let mut jets = JetMachine::new(&plan, setting.order);
        let mut certifier = Certifier::new(&plan, &jets, &slots, &[]);
        certifier.fault = setting.fault;
        let tolerance = Tolerance { relative: setting.tolerance, absolute: setting.tolerance };
        let mut env = vec![0.0; plan.slots];
        env[1..=self.start.len()].copy_from_slice(&self.start);
        plan.eval(&mut env, &mut Vec::new());
        let watch = |slot: &u32| Watch { sign: Sign::of(env[*slot as usize]), from_zero: false, until: 0.0 };
        let mut watches: Vec<Watch> = slots.iter().map(watch).collect();
        let mut run = Run::default();
        let (mut t, mut scale) = (0.0, 0.1);
        while t < setting.end && run.steps < 20_000 {
            env[0] = t;
            jets.run(&env, scale);
            let mut bound = StepBound::new(setting.order);
            bound.states(jets.states(), setting.order, tolerance);
            let h = (bound.ratio() * scale).min(setting.longest).min(setting.end - t);
            let far = env.iter().any(|x| x.abs() > 1e5);
            if far || h.is_nan() || h <= 0.0 || h < 1e-7 && t + h < setting.end {
                break;
            }
            let request = Request {
                env: &env,
                jets: &jets,
                scale,
                h,
                unit: bound.ratio() * scale,
                resolution: setting.resolution,
                absolute: tolerance.absolute,
                local: setting.validated.then_some(tolerance),
                slack: &[],
                near: &[],
                radii: None,
            };
            run.steps += 1;
            let x = env[1..=self.start.len()].to_vec();
            let verdict = certifier.certify(request, &|guard| watches[guard]);
            run.obstacle = certifier.obstacle().or(run.obstacle);
            let mut proof = Proof {
                t,
                x,
                h: 0.0,
                bounds: (0..self.start.len()).map(|i| certifier.state_range(i)).collect(),
                watches: watches.clone(),
                bracket: None,
            };
            watches.iter_mut().for_each(|w| w.from_zero = false);
            let mut happened = false;
            let step = match verdict {
                Verdict::Proved { h } => match certifier.brackets().first() {
                    Some(&Bracket { guard, t_lo, t_hi: Some(t_hi), .. }) => {
                        proof.h = t_lo;
                        proof.bracket = Some((guard, t_lo, t_hi));
                        run.happenings.push(Happening::Event { guard, lo: t + t_lo, hi: t + t_hi });
                        watches[guard] =
                            Watch { sign: watches[guard].sign.flip(), from_zero: true, until: 0.0 };
                        certifier.reset();
                        happened = true;
                        t_hi
                    }
                    _ => {
                        proof.h = h;
                        h
                    }
                },
                Verdict::Possible { guard, t_lo, t_clear, hc } => {
                    proof.h = t_lo;
                    let step = t_clear.min(hc).max(t_lo);
                    run.happenings.push(Happening::Possible { guard, lo: t + t_lo, clear: t + step });
                    step
                }
                Verdict::Uncertain { .. } | Verdict::Blurred => break,
            };
            run.proofs.push(proof);
            if setting.stop_at_event && happened {
                t += step;
                break;
            }
            advance(&jets, &mut env, step / scale);
            t = if step >= setting.end - t { setting.end } else { t + step };
            scale = h.min(2.0 * scale).max(1e-12);
        }
        run.end = t;
        run
    }
}

/// The states after a step, by their Taylor polynomials.
fn advance(jets: &JetMachine, env: &mut [f64], ratio: f64) {
    let states = jets.states();
    for i in 0..states.order(0).len() {
        env[1 + i] = (0..=jets.order()).rev().fold(0.0, |sum, k| sum * ratio + states.order(k)[i]);
    }
}
