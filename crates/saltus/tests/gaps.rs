//! Flows and guards whose series tell nothing of what comes: coefficients that are zero by chance at the
//! start, and functions so flat that all of theirs are lost.

use saltus::{Loader, Run, Status};

const TOLERANCES: [f64; 9] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12];

fn run(text: &str, tolerance: f64) -> Run {
    let model = Loader::default().text("gap.salt", text).expect("a model without errors");
    let mut options = model.options().expect("options");
    (options.rtol, options.atol) = (tolerance, tolerance);
    let run = model.run(options).expect("a run");
    assert_eq!(run.ending.status, Status::Finished, "{text} {tolerance}: {:?}", run.ending);
    run
}

fn check(text: &str, variable: usize, expected: f64, accuracy: f64) {
    for tolerance in TOLERANCES {
        let found = run(text, tolerance).values[variable];
        let allowed = (20.0 * tolerance * expected.abs().max(1.0)).max(accuracy);
        assert!((found - expected).abs() < allowed, "{text} at {tolerance}: {found}, not {expected}");
    }
}

#[test]
fn series_with_gaps() {
    let flow = |start: f64, rate: &str, until: f64| {
        format!("model Gap {{ state x = {start:?}\nx' = {rate}\nrun {{ until {until:?} }} }}")
    };
    // The second number by quadrature; that of the Fresnel integral from tables.
    check(&flow(0.0, "1 - x^3", 3.0), 1, 0.999_470_894_8, 1e-8);
    check(&flow(0.0, "cos(time^2)", 2.0), 1, 0.461_461_462_4, 1e-8);
    check(&flow(1.0, "-time^2 * x", 3.0), 1, (-9.0_f64).exp(), 1e-8);
    // The arc length of 1 / (1 + t^4) in closed form.
    let (s, root) = (3.0_f64, 2f64.sqrt());
    let ratio = (s * s + root * s + 1.0) / (s * s - root * s + 1.0);
    let angles = (root * s + 1.0).atan() + (root * s - 1.0).atan();
    check(&flow(0.0, "1 / (1 + time^4)", s), 1, (ratio.ln() / 2.0 + angles) / (2.0 * root), 1e-8);
}

#[test]
fn polynomials_of_the_degree_of_the_order_and_above() {
    for degree in 8..=26 {
        let text = format!(
            "model Power {{ state y = 0\ny' = {} * time^{}\nrun {{ until 1.6 }} }}",
            degree,
            degree - 1
        );
        check(&text, 1, 1.6_f64.powi(degree), 1e-8);
    }
}

#[test]
fn flat_functions_are_not_stepped_over() {
    // sinh(100 v) = sinh(500) exp(-100 t): the body stops at t = 5, at 12.5 and what it creeps after that.
    let friction = "model Friction { state v = 5, x = 0\nx' = v\nv' = -tanh(100 * v)\nrun { until 8 } }";
    check(friction, 2, 12.500_082_2, 1e-6);
    let swing =
        "model Swing { state r = 1, k = 0, y = 0\nr' = -k\nk' = r\ny' = tanh(20 * r)\nrun { until 12 } }";
    // Saturated but for passages of no area: the times of one sign less those of the other.
    check(swing, 3, 12.0 - 4.0 * std::f64::consts::PI, 1e-11);
}

/// What comes and goes within a step leaves no trace at its end.
#[test]
fn flat_functions_that_come_and_go() {
    let flow = |rate: &str, until: f64| {
        format!(
            "model Pulse {{ state y = 0, v = 1, w = 0\ny' = {rate}\nv' = -w\nw' = v\nrun {{ until {until:?} }} }}"
        )
    };
    // By quadrature, but for the Gaussian and the hyperbolic secants.
    check(&flow("tanh((time * cos(3 * time))^4)", 4.0), 1, 2.277_128_677_1, 1e-7);
    check(&flow("tanh((5 * (time - 2))^8)", 4.0), 1, 3.635_402_655, 1e-7);
    check(&flow("1 - tanh((20 * v)^2)", 6.0), 1, 0.151_685_635_7, 1e-7);
    check(&flow("exp(-(10 * (time - 2))^2)", 4.0), 1, 0.1 * std::f64::consts::PI.sqrt(), 1e-7);
    check(&flow("1 - tanh(30 * (time - 2))^2", 4.0), 1, 1.0 / 15.0, 1e-7);
    check(&flow("1 / cosh(50 * (time - 2))", 4.0), 1, std::f64::consts::PI / 50.0, 1e-7);
}

/// Where a guard becomes false on a step nothing happens; what comes behind it is looked at all the same.
#[test]
fn flat_functions_behind_roots_without_events() {
    let text = "model Pulse {
        state y = 0, v = 1, w = 0
        memory n = 0
        y' = 1 - tanh(30 * (time - 2))^2
        v' = -w
        w' = v
        when v >= 0.5 { n := n + 1 }            // true from the start until pi / 3
        run { until 4 }
    }";
    for tolerance in TOLERANCES {
        let found = run(text, tolerance);
        assert_eq!(found.events.len(), 1, "{tolerance}");
        let y = found.values[1];
        assert!((y - 1.0 / 15.0).abs() <= 20.0 * tolerance, "{tolerance}: {y}");
    }
}

#[test]
fn guards_with_gaps_and_flat_guards() {
    let from = |start: f64, guard: &str, until: f64| {
        format!(
            "model Guard {{ state x = {start:?}\nmemory n = 0\nx' = 1\nwhen {guard} {{ n := n + 1 }}\nrun {{ until {until:?} }} }}"
        )
    };
    let quarter = |k: f64| (k * std::f64::consts::FRAC_PI_2).powf(0.25);
    let cases = [
        (from(0.0, "1 / (1 + x^8) <= 0.5", 1.9), vec![1.0]),
        (from(0.0, "cos(x^4) <= 0", 1.9), vec![quarter(1.0), quarter(5.0)]),
        (from(-1.0, "tanh(20 * x) >= 0.5", 2.0), vec![1.0 + 0.5_f64.atanh() / 20.0]),
        (from(-30.0, "tanh(10 * x) >= 0.5", 32.0), vec![30.0 + 0.5_f64.atanh() / 10.0]),
        (from(-5.0, "1.5 * exp(-(10 * x)^2) >= 1", 10.0), vec![5.0 - 0.1 * 1.5_f64.ln().sqrt()]),
    ];
    for (text, expected) in cases {
        for tolerance in TOLERANCES {
            let found: Vec<f64> = run(&text, tolerance).events.iter().map(|e| e.stamp.t).collect();
            let is_right = |(a, b): (&f64, &f64)| (a - b).abs() < (20.0 * tolerance).max(1e-11);
            assert!(
                found.len() == expected.len() && found.iter().zip(&expected).all(is_right),
                "{text} at {tolerance}: {found:?}, not {expected:?}"
            );
        }
    }
}

/// An event that leaves the flow as it is says nothing of what comes behind it.
#[test]
fn flat_functions_behind_events() {
    let flow = |rate: &str, guard: &str| {
        format!(
            "model Flat {{ state y = 0\nmemory n = 0\ny' = {rate}\nwhen {guard} {{ n := n + 1 }}\nrun {{ until 12 }} }}"
        )
    };
    check(&flow("tanh(30 * (time - 3))", "time >= 1"), 1, 6.0, 1e-8);
    check(&flow("tanh(30 * (time - 3))", "y <= -0.5"), 1, 6.0, 1e-8);
    check(&flow("1 / (1 + exp(20 * (time - 3)))", "time >= 1"), 1, 3.0, 1e-8);
}

/// Proofs are about guards; states that none reads are looked at like all others.
#[test]
fn states_without_guards_in_proofs() {
    let flows = [
        ("1 / (1 + (2 * (time - 3))^8)", 6.0, 1.026_171_66),
        ("tanh(30 * (time - 3))", 12.0, 6.0),
        ("1 / (1 + exp(20 * (time - 3)))", 6.0, 3.0),
    ];
    for (rate, until, expected) in flows {
        let text = format!(
            "model Proved {{ state y = 0\ny' = {rate}\nrun {{ until {until:?}; events certified }} }}"
        );
        check(&text, 1, expected, 1e-7);
    }
}
