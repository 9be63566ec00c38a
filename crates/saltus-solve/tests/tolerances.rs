//! Errors follow the tolerance on problems of the field, against references computed tightly by a
//! method that has nothing in common with the one under test.

mod common;

use common::{Counted, Slope, both, distance, run};
use saltus_solve::Integrator;
use saltus_solve::adams::{Adams, AdamsOptions, Pair};
use saltus_solve::runge_kutta::DormandPrince;

struct Problem {
    name: &'static str,
    slope: Slope,
    start: &'static [f64],
    end: f64,
    /// How much larger than the local tolerance the error at the end may be: the flow spreads
    /// neighbouring solutions.
    spread: f64,
}

const PROBLEMS: [Problem; 3] = [
    Problem { name: "lorenz", slope: lorenz, start: &[1.0, 1.0, 1.0], end: 4.0, spread: 1e3 },
    Problem { name: "car", slope: car, start: &[0.0, 0.0, 0.0], end: 50.0, spread: 2e2 },
    Problem { name: "arm", slope: arm, start: &[0.9, -1.8], end: 1.5, spread: 1e2 },
];

fn lorenz(_t: f64, x: &[f64], f: &mut [f64]) {
    f[0] = 10.0 * (x[1] - x[0]);
    f[1] = x[0] * (28.0 - x[2]) - x[1];
    f[2] = x[0] * x[1] - 8.0 / 3.0 * x[2];
}

/// A car at unit speed whose steering wheel swings.
fn car(t: f64, x: &[f64], f: &mut [f64]) {
    f[0] = x[2].cos();
    f[1] = x[2].sin();
    f[2] = (0.6 * (0.5 * t).sin()).tan();
}

/// Two links of length 1 whose end is led outwards along a line, by inverse kinematics.
fn arm(_t: f64, x: &[f64], f: &mut [f64]) {
    let (a, b) = (x[0], x[0] + x[1]);
    let (vx, vy) = (0.4, 0.1);
    let determinant = x[1].sin();
    f[0] = (b.cos() * vx + b.sin() * vy) / determinant;
    let outer = -(a.cos() * vx + a.sin() * vy) / determinant;
    f[1] = outer - f[0];
}

fn end_of(problem: &Problem, integrator: &mut dyn Integrator) -> (Vec<f64>, usize) {
    let mut flow = Counted::new(problem.slope);
    integrator.restart(0.0, problem.start);
    run(integrator, &mut flow, problem.end, |_| {});
    (integrator.states().to_vec(), flow.points.len())
}

fn check(problem: &Problem, reference: &[f64], make: &dyn Fn(f64) -> Box<dyn Integrator>) {
    let measure = |tolerance: f64| {
        let mut integrator = make(tolerance);
        let (end, evaluations) = end_of(problem, &mut *integrator);
        let error = distance(&end, reference);
        println!("{} {} {tolerance:e}: {error:.1e}, {evaluations}", problem.name, integrator.name());
        assert!(
            error < problem.spread * tolerance * 10.0,
            "{} {} {tolerance}: {error}",
            problem.name,
            integrator.name()
        );
        error
    };
    let errors = [1e-4, 1e-6, 1e-8, 1e-10].map(measure);
    let decades = (errors[0] / errors[3]).log10() / 6.0;
    // With an error estimate of order p that is not added, the error falls as p / (p + 1) decades.
    assert!((0.7..1.3).contains(&decades), "{}: {decades} per decade, {errors:?}", problem.name);
}

#[test]
fn adams_is_proportional_to_the_tolerance() {
    for problem in &PROBLEMS {
        let reference = end_of(problem, &mut DormandPrince::new(both(1e-13))).0;
        check(problem, &reference, &|tolerance| Box::new(Adams::new(AdamsOptions::new(both(tolerance)))));
        check(problem, &reference, &|tolerance| {
            let options = AdamsOptions { pair: Pair::SameOrder, ..AdamsOptions::new(both(tolerance)) };
            Box::new(Adams::new(options.fixed_order(4)))
        });
    }
}

#[test]
fn runge_kutta_is_proportional_to_the_tolerance() {
    for problem in &PROBLEMS {
        let reference = end_of(problem, &mut Adams::new(AdamsOptions::new(both(1e-13)))).0;
        check(problem, &reference, &|tolerance| Box::new(DormandPrince::new(both(tolerance))));
    }
}

#[test]
fn high_orders_pay_at_tight_tolerances() {
    let car = &PROBLEMS[1];
    let evaluations = |max_order| {
        let options = AdamsOptions { max_order, ..AdamsOptions::new(both(1e-10)) };
        end_of(car, &mut Adams::new(options)).1
    };
    let (all, four) = (evaluations(8), evaluations(4));
    assert!(2 * all < four, "{all} evaluations against {four}");
}
