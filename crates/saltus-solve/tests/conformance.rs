//! What every integrator must keep, checked for each of them with the same functions.

mod common;

use common::{Counted, both, distance, known, known_solution, run};
use saltus_expr::jet::{JetMachine, Jets};
use saltus_expr::{Binary, FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
use saltus_solve::adams::{Adams, AdamsOptions, Pair};
use saltus_solve::fixed::{Euler, Rk4};
use saltus_solve::runge_kutta::DormandPrince;
use saltus_solve::taylor::{StepBound, Tolerance, first_scale};
use saltus_solve::{Flow, Integrator, Prediction, Refusal, Snapshot, StatePolynomials, Step};

const START: [f64; 3] = [1.0, 0.0, 1.0];
const END: f64 = 3.0;

/// An integrator and the error that is allowed at the end of the known flow and between.
struct Case {
    make: fn() -> Box<dyn Integrator>,
    error: f64,
}

macro_rules! conforms {
    ($($name:ident: $make:expr, $error:expr;)*) => {$(
        mod $name {
            use super::*;

            const CASE: Case = Case { make: || Box::new($make), error: $error };

            #[test]
            fn follows_the_solution() {
                super::follows_the_solution(&CASE);
            }

            #[test]
            fn dense_output_joins_the_points() {
                super::dense_output_joins_the_points(&CASE);
            }

            #[test]
            fn evaluates_only_inside_the_step() {
                super::evaluates_only_inside_the_step(&CASE);
            }

            #[test]
            fn restart_forgets_everything() {
                super::restart_forgets_everything(&CASE);
            }

            #[test]
            fn snapshot_repeats_the_run() {
                super::snapshot_repeats_the_run(&CASE);
            }

            #[test]
            fn cut_steps_keep_the_accuracy() {
                super::cut_steps_keep_the_accuracy(&CASE);
            }
        }
    )*};
}

conforms! {
    adams: Adams::new(AdamsOptions::new(both(1e-9))), 3e-8;
    adams_same_order: Adams::new(AdamsOptions { pair: Pair::SameOrder, ..AdamsOptions::new(both(1e-9)) }), 3e-8;
    adams_fourth: Adams::new(AdamsOptions::new(both(1e-9)).fixed_order(4)), 3e-8;
    dormand_prince: DormandPrince::new(both(1e-9)), 3e-8;
    euler: Euler::new(1e-3), 3e-3;
    rk4: Rk4::new(0.01), 3e-8;
    taylor: Taylor::new(both(1e-9)), 3e-8;
}

fn follows_the_solution(case: &Case) {
    let mut integrator = (case.make)();
    integrator.restart(0.0, &START);
    let mut x = [0.0; 3];
    let mut worst = 0.0_f64;
    run(&mut *integrator, &mut Counted::new(known), END, |integrator| {
        let dense = integrator.dense();
        for i in 0..=8 {
            let s = f64::from(i) / 8.0;
            dense.evaluate(s, &mut x);
            worst = worst.max(distance(&x, &known_solution(dense.origin() + s * dense.unit())));
        }
    });
    assert!(worst < case.error, "{worst}");
}

fn dense_output_joins_the_points(case: &Case) {
    let mut integrator = (case.make)();
    integrator.restart(0.0, &START);
    let mut before = (0.0, START.to_vec());
    let mut x = [0.0; 3];
    let mut f = [0.0; 3];
    run(&mut *integrator, &mut Counted::new(known), END, |integrator| {
        let dense = integrator.dense();
        assert_eq!(dense.origin(), before.0);
        dense.evaluate(0.0, &mut x);
        assert_eq!(x, *before.1);
        dense.evaluate(1.0, &mut x);
        assert_eq!(x, integrator.states());
        assert_eq!(dense.origin() + dense.unit(), integrator.time());
        let mut rates = [0.0; 3];
        dense.rates(0.0, &mut rates);
        known(before.0, &before.1, &mut f);
        assert!(distance(&rates, &f) < 1e-12, "the slope at the start is not that of the flow");
        before = (integrator.time(), integrator.states().to_vec());
    });
}

/// No method evaluates beyond the step it was given; one that predicts evaluates at the point
/// reached and at predicted points only.
fn evaluates_only_inside_the_step(case: &Case) {
    let mut integrator = (case.make)();
    integrator.restart(0.0, &START);
    let mut flow = Counted::new(known);
    while integrator.time() < END {
        let (t, x) = (integrator.time(), integrator.states().to_vec());
        flow.points.clear();
        integrator.begin(&mut flow).unwrap();
        assert!(flow.points.iter().all(|point| *point == (t, x.clone())));
        flow.points.clear();
        let h = integrator.proposed().min(END - t);
        let mut ahead = [0.0; 3];
        let predicted = integrator.predict(h).map(|prediction| prediction.states.evaluate(1.0, &mut ahead));
        integrator.step(h, &mut flow).unwrap();
        for point in &flow.points {
            assert!(t <= point.0 && point.0 <= t + h);
            assert!(predicted.is_none() || *point == (t + h, ahead.to_vec()));
        }
    }
}

fn trajectory(integrator: &mut dyn Integrator, end: f64) -> Vec<u64> {
    let mut bits = Vec::new();
    run(integrator, &mut Counted::new(known), end, |integrator| {
        bits.push(integrator.time().to_bits());
        bits.extend(integrator.dense().coefficients().iter().map(|c| c.to_bits()));
    });
    bits
}

fn restart_forgets_everything(case: &Case) {
    let mut fresh = (case.make)();
    fresh.restart(0.5, &[0.8, 0.1, 0.9]);
    let mut used = (case.make)();
    used.restart(0.0, &START);
    trajectory(&mut *used, END);
    used.restart(0.5, &[0.8, 0.1, 0.9]);
    let expected = trajectory(&mut *fresh, END);
    assert!(expected.len() > 50);
    assert_eq!(expected, trajectory(&mut *used, END));
}

fn snapshot_repeats_the_run(case: &Case) {
    let mut integrator = (case.make)();
    let mut snapshot = Snapshot::default();
    assert!(!integrator.restore(&snapshot));
    integrator.restart(0.0, &START);
    trajectory(&mut *integrator, 1.0);
    let reached = integrator.time();
    for begun in [false, true] {
        if begun {
            integrator.begin(&mut Counted::new(known)).unwrap();
        }
        integrator.save(&mut snapshot);
        let expected = trajectory(&mut *integrator, END);
        assert!(integrator.restore(&snapshot));
        assert_eq!(integrator.time(), reached);
        assert_eq!(expected, trajectory(&mut *integrator, END));
        let mut other = (case.make)();
        assert!(other.restore(&snapshot));
        assert_eq!(expected, trajectory(&mut *other, END));
        assert!(integrator.restore(&snapshot));
    }
}

/// Every third step is cut at some place of it, also close to its ends.
fn cut_steps_keep_the_accuracy(case: &Case) {
    let mut integrator = (case.make)();
    integrator.restart(0.0, &START);
    let mut flow = Counted::new(known);
    let mut x = [0.0; 3];
    let places = [0.5, 0.9, 1e-3, 0.1, 1e-9, 0.999, 0.0];
    let (mut steps, mut cuts) = (0, 0);
    while integrator.time() < END {
        integrator.begin(&mut flow).unwrap();
        let h = integrator.proposed().min(END - integrator.time());
        steps += usize::from(integrator.step(h, &mut flow).unwrap().is_accepted());
        if steps % 3 == 2 {
            steps += 1;
            let s = places[cuts % places.len()];
            cuts += 1;
            let dense = integrator.dense();
            dense.evaluate(s, &mut x);
            let (elapsed, origin) = (s * dense.unit(), dense.origin());
            integrator.resume(elapsed, origin + elapsed, &x);
        }
    }
    let worst = distance(integrator.states(), &known_solution(integrator.time()));
    assert!(cuts > 3 && worst < 2.0 * case.error, "{worst} after {cuts} cuts");
}

/// The same flow at a later time, where times are rounded more coarsely.
#[test]
fn time_runs_on_from_any_origin() {
    let late = 4096.0;
    let mut flow = |t: f64, x: &[f64], f: &mut [f64]| {
        known(t - late, x, f);
        Ok(())
    };
    let methods: [Box<dyn Integrator>; 3] = [
        Box::new(Adams::new(AdamsOptions::new(both(1e-9)))),
        Box::new(DormandPrince::new(both(1e-9))),
        Box::new(Rk4::new(0.01)),
    ];
    for mut integrator in methods {
        integrator.restart(late, &START);
        run(&mut *integrator, &mut flow, late + END, |_| {});
        let worst = distance(integrator.states(), &known_solution(integrator.time() - late));
        assert!(worst < 3e-8, "{}: {worst}", integrator.name());
    }
}

/// Where the prediction says that its error is below the tolerance it may be taken for the step:
/// nothing is evaluated ahead, the past is kept and so is the accuracy.
#[test]
fn prediction_can_be_taken_for_a_short_step() {
    let mut adams = Adams::new(AdamsOptions::new(both(1e-9)));
    adams.restart(0.0, &START);
    let mut flow = Counted::new(known);
    let mut x = [0.0; 3];
    let (mut steps, mut taken, mut highest) = (0, 0, 0);
    while adams.time() < END {
        adams.begin(&mut flow).unwrap();
        let (t, h) = (adams.time(), adams.proposed().min(END - adams.time()));
        highest = highest.max(adams.order());
        steps += 1;
        let prediction = adams.predict(h).unwrap();
        if steps % 3 == 0 && prediction.error(0.4) < 0.5 {
            taken += 1;
            prediction.states.evaluate(0.4, &mut x);
            adams.resume(0.4 * h, t + 0.4 * h, &x);
        } else {
            adams.step(h, &mut flow).unwrap();
        }
    }
    let worst = distance(adams.states(), &known_solution(adams.time()));
    assert!(worst < 3e-8 && taken > 5 && highest >= 7, "{worst} after {taken} of {steps}, order {highest}");
}

/// The Taylor method on the known flow; it needs no values of the flow, only its jets.
#[derive(Clone)]
struct Taylor {
    tolerance: Tolerance,
    jets: JetMachine,
    env: Vec<f64>,
    begun: bool,
    proposed: f64,
    dense: StatePolynomials,
}

const TAYLOR_ORDER: usize = 14;

impl Taylor {
    fn new(tolerance: Tolerance) -> Self {
        let mut graph = Graph::new();
        let [t, x, y, z] = [0, 1, 2, 3].map(|v| graph.var(VarId(v), Sort::Real));
        let factor = graph.intern(Node::Binary(Binary::Sub, z, t));
        let rate = graph.intern(Node::Binary(Binary::Mul, x, factor));
        let back = graph.intern(Node::Unary(Unary::Neg, y));
        let (program, inputs) = Program::new(&graph, &[rate, z, back]);
        let inputs = inputs.iter().map(|v| v.index() as u32).collect();
        let block = PlanBlock { program: program.into(), inputs, outputs: vec![4, 5, 6] };
        let states = vec![(1, 4), (2, 5), (3, 6)];
        let plan = FlowPlan { blocks: vec![block], states, time_slot: 0, slots: 7 };
        let jets = JetMachine::new(&plan, TAYLOR_ORDER);
        let dense = StatePolynomials::constant(0.0, &START);
        Self { tolerance, jets, env: vec![0.0; 7], begun: false, proposed: f64::NAN, dense }
    }

    fn row(&self, k: usize) -> &[f64] {
        self.jets.states().order(k)
    }
}

impl Integrator for Taylor {
    fn name(&self) -> &'static str {
        "taylor"
    }

    fn order(&self) -> usize {
        TAYLOR_ORDER
    }

    fn time(&self) -> f64 {
        self.env[0]
    }

    fn states(&self) -> &[f64] {
        &self.env[1..4]
    }

    fn restart(&mut self, t: f64, x: &[f64]) {
        self.resume(0.0, t, x);
    }

    fn resume(&mut self, _elapsed: f64, t: f64, x: &[f64]) {
        self.env[0] = t;
        self.env[1..4].copy_from_slice(x);
        self.begun = false;
    }

    fn begin(&mut self, flow: &mut dyn Flow) -> Result<(), Refusal> {
        if self.begun {
            return Ok(());
        }
        let mut f = [0.0; 3];
        flow.eval(self.env[0], &self.env[1..4], &mut f)?;
        let unit = first_scale(&self.env[1..4], f.into_iter(), self.tolerance);
        self.jets.run(&self.env, unit);
        let mut bound = StepBound::new(TAYLOR_ORDER);
        bound.states(self.jets.states(), TAYLOR_ORDER, self.tolerance);
        self.proposed = bound.ratio() * unit;
        self.jets.run(&self.env, self.proposed);
        self.begun = true;
        Ok(())
    }

    fn proposed(&self) -> f64 {
        self.proposed
    }

    fn is_guessing(&self) -> bool {
        false
    }

    fn predict(&mut self, _h: f64) -> Option<Prediction<'_>> {
        None
    }

    fn step(&mut self, h: f64, flow: &mut dyn Flow) -> Result<Step, Refusal> {
        self.begin(flow)?;
        self.dense.reset(self.env[0], h, TAYLOR_ORDER + 1);
        let ratio = h / self.proposed;
        for k in 0..=TAYLOR_ORDER {
            let row: Vec<f64> = self.row(k).iter().map(|c| c * ratio.powi(k as i32)).collect();
            self.dense.row_mut(k).copy_from_slice(&row);
        }
        let (before, after) = self.env.split_at_mut(1);
        self.dense.evaluate(1.0, &mut after[..3]);
        before[0] += h;
        self.begun = false;
        Ok(Step::Accepted { error: 0.0 })
    }

    fn dense(&self) -> &StatePolynomials {
        &self.dense
    }

    fn save(&self, snapshot: &mut Snapshot) {
        snapshot.keep(self);
    }

    fn restore(&mut self, snapshot: &Snapshot) -> bool {
        snapshot.get::<Self>().map(|kept| self.clone_from(kept)).is_some()
    }
}
