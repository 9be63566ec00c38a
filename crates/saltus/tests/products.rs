//! Guards that are products of states: their series need more terms than those of the states, so that
//! a step that is right for these may be far too long for them.

use saltus::{EventMethod, Loader, Run, Solver, Status};
use std::f64::consts::PI;

/// The ways to find events, and whether there is to be a crowd of guards beside the one looked at.
const WAYS: [(Solver, EventMethod, bool); 6] = [
    (Solver::Taylor, EventMethod::Extrapolation, false),
    (Solver::Taylor, EventMethod::Extrapolation, true),
    (Solver::Taylor, EventMethod::Interpolation, false),
    (Solver::Taylor, EventMethod::Sturm, false),
    (Solver::Taylor, EventMethod::Certified, false),
    (Solver::Adams, EventMethod::Extrapolation, false),
];

fn run(flow: &str, rules: &str, until: f64, tolerance: f64, way: (Solver, EventMethod, bool)) -> Run {
    let crowd: String = (0..8).map(|k| format!("when x^3 >= {} {{ far := true }}\n", 1000 + k)).collect();
    let crowd = if way.2 { crowd } else { String::new() };
    let text = format!("model Product {{ memory n = 0, far: Boolean = false\n{flow}\n{rules}\n{crowd} }}");
    let model = Loader::default().text("product.salt", &text).expect("a model without errors");
    let mut options = model.options().expect("options");
    (options.rtol, options.atol, options.until) = (tolerance, tolerance, Some(until));
    (options.solver, options.events) = (way.0, Some(way.1));
    let run = model.run(options).expect("a run");
    assert_eq!(run.ending.status, Status::Finished, "{rules} {tolerance} {way:?}");
    run
}

fn check(flow: &str, rules: &str, until: f64, expected: &[f64]) {
    for way in WAYS {
        for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
            let run = run(flow, rules, until, tolerance, way);
            let found: Vec<f64> = run.events.iter().map(|e| e.stamp.t).collect();
            let all_there = found.len() == expected.len();
            // Adams methods of order 8 are off by three digits at the finest tolerance: the guard is steep.
            let is_right = |(a, b): (&f64, &f64)| {
                (a - b).abs() <= if way.0 == Solver::Adams { 1e4 } else { 10.0 } * tolerance
            };
            assert!(
                all_there && found.iter().zip(expected).all(is_right),
                "{rules} at {tolerance} by {way:?}: {found:?}, not {expected:?}"
            );
        }
    }
}

const DECAY: &str = "state x = 1\nx' = -x";
const OSCILLATOR: &str = "state x = 1, v = 0\nx' = v\nv' = -x";

#[test]
fn a_power_of_a_decay_is_met_once() {
    check(DECAY, "when x^5 <= 0.2 { n := n + 1 }", 3.0, &[5f64.ln() / 5.0]);
}

#[test]
fn a_high_power_never_exceeds_its_greatest_value() {
    check(OSCILLATOR, "when x^8 >= 1.02 { n := n + 1 }", 7.0, &[]);
    check(OSCILLATOR, "when x^20 >= 1.1 { v := 0 }", 7.0, &[]);
}

#[test]
fn polynomials_that_oscillate_faster_than_the_state() {
    // Chebyshev's polynomials of cos t are cos 4t and cos 8t.
    let falls = |k: f64| -> Vec<f64> {
        let first = 0.3_f64.acos() / k;
        (0..).map(|i| first + f64::from(i) * 2.0 * PI / k).take_while(|&t| t < 7.0).collect()
    };
    check(OSCILLATOR, "when 8*x^4 - 8*x^2 + 1 <= 0.3 { n := n + 1 }", 7.0, &falls(4.0));
    let eighth = "when 128*x^8 - 256*x^6 + 160*x^4 - 32*x^2 + 1 <= 0.3 { n := n + 1 }";
    check(OSCILLATOR, eighth, 7.0, &falls(8.0));
}

#[test]
fn a_product_of_a_signal_is_one_of_its_states() {
    let flow = format!("{DECAY}\noutput y = x^3");
    check(&flow, "when y * x^2 <= 0.2 { n := n + 1 }", 3.0, &[5f64.ln() / 5.0]);
    check(&flow, "when y <= 0.2 { n := n + 1 }", 3.0, &[5f64.ln() / 3.0]);
}

#[test]
fn stairs_and_switches_of_products_are_climbed_in_time() {
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
        for way in WAYS.into_iter().filter(|way| way.0 == Solver::Taylor) {
            let flow = format!(
                "{DECAY}\nstate y = 0, z = 0\ny' = floor(10 * x^5)\nz' = if x^8 >= 0.5 then 1 else 0"
            );
            let run = run(&flow, "", 3.0, tolerance, way);
            // The stair of 10 exp(-5t) is left at log(10/k)/5 for k from 10 to 1.
            let expected: f64 = (1..10).map(|k| (10.0 / f64::from(k)).ln() / 5.0).sum();
            // Behind time, two memories and x.
            let [y, z] = [4, 5].map(|i| run.values[i]);
            assert!((z - 2f64.ln() / 8.0).abs() < 10.0 * tolerance, "{tolerance} {way:?}: {z}");
            assert!((y - expected).abs() < 100.0 * tolerance, "{tolerance} {way:?}: {y}, not {expected}");
        }
    }
}
