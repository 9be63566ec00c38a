//! Models on which methods fail that look sound, with counts: what ours must not do, and that the
//! algorithm as it was printed does.

use saltus::{EventMethod, GuardForm, Loader, Model, Options, Run, Solver, Status};

fn model(text: &str) -> Model {
    Loader::default().text("model.salt", text).expect("a model without errors")
}

fn run(model: &Model, change: impl FnOnce(&mut Options)) -> Run {
    let mut options = model.options().expect("options");
    change(&mut options);
    model.run(options).expect("a run")
}

/// Steele, Lea and Flood's SplitMix64, as numbers between bounds.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (high - low) * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The rate grows a thousandfold within a tenth of the way: the first derivatives at the start say
/// nothing about the end.
const GROWTH: &str = "model Growth {
    state x = 0.7
    x' = 1 + 4 * exp(60 * (x - 0.9))
    stop when x >= 1
    run { until 1; rtol 1e-10; atol 1e-10 }
}";

#[test]
fn a_fast_growing_rate_is_met_in_time() {
    let exact = 0.3 - ((1.0 + 4.0 * 6f64.exp()).ln() - (1.0 + 4.0 * (-12f64).exp()).ln()) / 60.0;
    let model = model(GROWTH);
    let ways = [
        (Solver::Taylor, EventMethod::Extrapolation),
        (Solver::Taylor, EventMethod::Certified),
        (Solver::Taylor, EventMethod::Validated),
        (Solver::Adams, EventMethod::Extrapolation),
    ];
    for (solver, method) in ways {
        let found = run(&model, |o| (o.solver, o.events) = (solver, Some(method)));
        let late = found.ending.stamp.t - exact;
        println!("{solver} {method}: {} steps, off by {late:e}", found.stats.steps);
        assert_eq!(found.ending.status, Status::Stopped, "{solver} {method}");
        assert!(late.abs() < 1e-8, "{solver} {method}: {late:e}");
    }
}

/// The times at which a pulse rises above zero and falls back.
fn pulse(x: &str, method: EventMethod) -> Vec<f64> {
    let model = model(&format!(
        "model Pulse {{
            output x = {x}
            memory up = 0, down = 0
            when rises(x >= 0) {{ up := time }}
            when falls(x >= 0) {{ down := time }}
            run {{ until 10 }}
        }}"
    ));
    let found = run(&model, |o| o.events = Some(method));
    let times = found.events.iter().map(|e| e.stamp.t).collect();
    println!("{x} by {method}: {times:?}");
    times
}

fn assert_close(found: &[f64], expected: [f64; 2]) {
    let is_close = found.len() == 2 && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-7);
    assert!(is_close, "{found:?}, not {expected:?}");
}

const PROOFS: [EventMethod; 2] = [EventMethod::Certified, EventMethod::Validated];

#[test]
fn a_pulse_without_derivatives_is_found() {
    // All coefficients of x up to order 200 are zero at the start; x is zero where the sine is (2/3)^(1/200).
    let half = 5.0 - 10.0 / std::f64::consts::PI * (2.0_f64 / 3.0).powf(1.0 / 200.0).asin();
    for method in PROOFS.into_iter().chain([EventMethod::Extrapolation]) {
        assert_close(&pulse("-1 + 1.5 * sin(pi * time / 10)^200", method), [5.0 - half, 5.0 + half]);
    }
}

#[test]
fn a_hidden_pulse_needs_a_proof() {
    // Less than a thousandth of a unit wide, and at the start no more than 2e-15.
    let x = "-1 + 1.5 / (1 + (1000 * (time - 5.3))^4)";
    let half = 1e-3 * 0.5_f64.powf(0.25);
    for method in PROOFS {
        assert_close(&pulse(x, method), [5.3 - half, 5.3 + half]);
    }
    let missed = pulse(x, EventMethod::Extrapolation);
    assert!(missed.is_empty(), "no method that looks at some places alone can be sure of it: {missed:?}");
}

/// A point in the plane that is driven towards the circle of radius L, at which the square root in
/// its equations ends.
fn plane(random: &mut Random) -> Model {
    let mut between = |low, high| random.between(low, high);
    let (a, b, c) = (between(0.5, 2.0), between(-1.0, 1.0), between(0.2, 1.0));
    let (x, y, l) = (between(-0.5, 0.5), between(-0.5, 0.5), between(0.9, 1.5));
    model(&format!(
        "model Plane {{
            state x = {x}, y = {y}
            flow {{
                x' = {a} + {c} * sqrt({l}^2 - x^2 - y^2) * y
                y' = {b} * x - {c} * sqrt({l}^2 - x^2 - y^2)
            }}
            stop when x^2 + y^2 >= {l}^2
            run {{ until 5 }}
        }}"
    ))
}

/// A point on a line with the end of a square root as a linear guard.
fn line(random: &mut Random) -> Model {
    let (a, c) = (random.between(0.5, 2.0), random.between(0.2, 1.0));
    model(&format!(
        "model Line {{
            state x = 0
            x' = {a} + {c} * sqrt(1 - x)
            stop when x >= 1
            run {{ until 5 }}
        }}"
    ))
}

const RUNS: u32 = 200;

/// How many of many random runs evaluate the flow outside its domain, and evaluations in all.
fn outside(make: fn(&mut Random) -> Model, tolerance: f64, change: impl Fn(&mut Options)) -> (u32, u64) {
    let mut random = Random(1);
    let (mut failures, mut evaluations) = (0, 0);
    for _ in 0..RUNS {
        let found = run(&make(&mut random), |o| {
            (o.rtol, o.atol) = (tolerance, tolerance);
            change(o);
        });
        failures += u32::from(found.stats.outside_domain_evals > 0);
        evaluations += found.stats.rhs_evals + found.stats.jet_evals;
    }
    (failures, evaluations)
}

fn printed(guard_tolerance: Option<f64>) -> impl Fn(&mut Options) {
    move |o| {
        (o.solver, o.events) = (Solver::Adams, Some(EventMethod::Printed));
        o.guard_tolerance = guard_tolerance;
    }
}

#[test]
fn nothing_is_evaluated_outside_a_disc() {
    for tolerance in [1e-4, 1e-6] {
        let form = |guards: GuardForm| {
            outside(plane, tolerance, move |o| (o.solver, o.guards) = (Solver::Adams, guards))
        };
        let taylor = outside(plane, tolerance, |o| o.solver = Solver::Taylor);
        let composed = form(GuardForm::Composed);
        let appended = form(GuardForm::Appended);
        let linearised = form(GuardForm::Linearised);
        let bare = outside(plane, tolerance, printed(None));
        // |g_x| is at most twice the radius; the band is the tolerance times that.
        let banded = outside(plane, tolerance, printed(Some(6.0 * tolerance)));
        println!("a quadratic guard at {tolerance:e}: runs of {RUNS} that evaluate outside, evaluations");
        for (name, count) in [
            ("taylor, extrapolation", taylor),
            ("adams, guards composed", composed),
            ("adams, guards appended", appended),
            ("adams, guards linearised", linearised),
            ("as printed, no guard tolerance", bare),
            ("as printed, guard tolerance of two bands", banded),
        ] {
            println!("  {name}: {} ({} evaluations)", count.0, count.1);
        }
        assert_eq!((taylor.0, composed.0), (0, 0));
        assert!(bare.0 > 0 && linearised.0 > 0, "the comparisons fail nowhere");
    }
}

#[test]
fn nothing_is_evaluated_beyond_a_point() {
    for tolerance in [1e-4, 1e-6] {
        let taylor = outside(line, tolerance, |o| o.solver = Solver::Taylor);
        let adams = outside(line, tolerance, |o| o.solver = Solver::Adams);
        let bare = outside(line, tolerance, printed(None));
        let banded = outside(line, tolerance, printed(Some(2.0 * tolerance)));
        println!("a linear guard at {tolerance:e}: runs of {RUNS} that evaluate outside");
        println!(
            "  taylor {}, adams {}, as printed {} and with two bands {}",
            taylor.0, adams.0, bare.0, banded.0
        );
        assert_eq!((taylor.0, adams.0), (0, 0));
        assert!(bare.0 > 0, "the algorithm as printed fails nowhere");
    }
}
