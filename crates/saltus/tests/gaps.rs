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
        at_times(&text, &expected);
    }
}

/// The integral of sin^n over half a period, for an even n.
fn sine_power(n: u32) -> f64 {
    (1..=n / 2).fold(std::f64::consts::PI, |product, k| product * f64::from(2 * k - 1) / f64::from(2 * k))
}

/// A high power is nothing for most of the way of what it is a power of.
#[test]
fn high_powers_that_come_and_go() {
    let flow = |rate: &str, start: f64, until: f64| {
        format!(
            "model Power {{ state y = 0, x = {start:?}\ny' = {rate}\nx' = 1\nrun {{ until {until:?} }} }}"
        )
    };
    let tenth = 10.0 / std::f64::consts::PI;
    for n in [20, 100, 1000] {
        let expected = tenth * sine_power(n);
        check(&flow(&format!("sin(pi * time / 10)^{n}"), 0.0, 10.0), 1, expected, 1e-10);
        check(&flow(&format!("(sin(pi * time / 10)^2)^{}", n / 2), 0.0, 10.0), 1, expected, 1e-10);
    }
    check(&flow("(x^2)^50", -1.0, 2.0), 1, 2.0 / 101.0, 1e-10);
    check(&flow("((x^5)^5)^4", -1.0, 2.0), 1, 2.0 / 101.0, 1e-10);
    check(&flow("abs(x)^100.5", -1.0, 2.0), 1, 2.0 / 101.5, 1e-10);
    let bump = (1..=200).fold(2.0, |product, k| product * f64::from(2 * k) / f64::from(2 * k + 1));
    check(&flow("(1 - x^2)^200", -1.0, 2.0), 1, bump, 1e-10);
    // A step from 0 to 1 at x = 2; the area beside it over all positive x is 2 (pi / 100) / sin(pi / 100).
    let angle = std::f64::consts::PI / 100.0;
    check(&flow("1 / (1 + (x / 2)^-100)", 1.0, 3.0), 1, 4.0 - 2.0 * angle / angle.sin(), 1e-10);
}

#[test]
fn guards_with_high_powers() {
    let from = |start: f64, guard: &str, until: f64| {
        format!(
            "model Guard {{ state x = {start:?}\nmemory n = 0\nx' = 1\nwhen {guard} {{ n := n + 1 }}\nrun {{ until {until:?} }} }}"
        )
    };
    let tenth = 10.0 / std::f64::consts::PI;
    for n in [20.0, 100.0, 200.0, 1000.0, 1e4] {
        let root = tenth * (1.5_f64.powf(-1.0 / n)).asin();
        // Above the greatest whole power a negative base is outside the domain.
        let half_periods = if n <= 1024.0 { 3 } else { 1 };
        let roots: Vec<f64> = (0..half_periods).map(|k| root + 10.0 * f64::from(k)).collect();
        let until = 10.0 * f64::from(half_periods) - 1.0;
        at_times(&from(0.0, &format!("-1 + 1.5 * sin(pi * time / 10)^{n} >= 0"), until), &roots);
        at_times(&from(0.0, &format!("-1 + 1.5 * sin(pi * x / 10)^{n} >= 0"), 9.0), &[root]);
    }
    let half = |n: f64| 0.5_f64.powf(1.0 / n);
    at_times(&from(0.0, "(x^2)^50 >= 0.5", 3.0), &[half(100.0)]);
    at_times(&from(-1.0, "(1 - x^2)^200 >= 0.5", 2.0), &[1.0 - (1.0 - half(200.0)).sqrt()]);
    at_times(&from(-1.0, "(1 - x^2)^200.5 >= 0.5", 1.999), &[1.0 - (1.0 - half(200.5)).sqrt()]);
}

/// Where a flow or a guard has no series, guards are still told as finely as asked.
#[test]
fn guards_beside_singular_points() {
    let from_zero = |guard: &str| {
        format!(
            "model Guard {{ state x = 0\nmemory n = 0\nx' = 1\nwhen {guard} {{ n := n + 1 }}\nrun {{ until 1.9 }} }}"
        )
    };
    let root = 0.5 * (3.4_f64.sqrt() - 1.0);
    at_times(&from_zero("sqrt(x) + x >= 0.6"), &[root * root]);
    at_times(&from_zero("(1 - (x - 1)^2)^2.5 >= 0.5"), &[1.0 - (1.0 - 0.5_f64.powf(0.4)).sqrt()]);
    // A tank that is empty, or becomes so, beside what goes on.
    let tank = |start: f64, guard: &str| {
        format!(
            "model Tank {{ state x = {start:?}, y = 0\nmemory n = 0\nx' = -sqrt(x)\ny' = 1\nwhen {guard} {{ n := n + 1 }}\nrun {{ until 20 }} }}"
        )
    };
    let rises: Vec<f64> = (0..4).map(|k| std::f64::consts::PI * (1.0 / 6.0 + 2.0 * f64::from(k))).collect();
    for guard in ["sin(time) >= 0.5", "sin(y) >= 0.5", "sin(y) + x >= 0.5 and time > 0.1"] {
        at_times(&tank(0.0, guard), &rises);
    }
    at_times(&tank(1.0, "sin(y) >= 0.5"), &rises);
}

/// Checks the times of the events of a model.
fn at_times(text: &str, expected: &[f64]) {
    for tolerance in TOLERANCES {
        let found: Vec<f64> = run(text, tolerance).events.iter().map(|e| e.stamp.t).collect();
        let is_right = |(a, b): (&f64, &f64)| (a - b).abs() < (20.0 * tolerance).max(1e-11);
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(is_right),
            "{text} at {tolerance}: {found:?}, not {expected:?}"
        );
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
