//! Every solver with every event method that suits it, on models whose answers are known.

use saltus::{EventMethod, Loader, Options, Run, Sampling, Solver, Status};

fn run(text: &str, change: impl FnOnce(&mut Options)) -> Run {
    let model = Loader::default().text("model.salt", text).expect("a model without errors");
    let mut options = model.options().expect("options");
    change(&mut options);
    model.run(options).expect("a run")
}

const BALL: &str = "model Ball {
    state x = 10, v = 0
    flow { x' = v; v' = -9.81 }
    when x <= 0 and v < 0 { v := -0.8 * v }
    run { until 12 }
}";

/// Where steps are fixed.
const STEP: f64 = 1e-4;

/// The first twelve impacts of the ball.
fn impacts() -> Vec<f64> {
    let fall = (20.0f64 / 9.81).sqrt();
    let mut times = vec![fall];
    for k in 1..12 {
        times.push(times[k - 1] + 2.0 * fall * 0.8f64.powi(k as i32));
    }
    times
}

#[test]
fn every_solver_finds_all_impacts() {
    for solver in Solver::ALL {
        for &method in solver.methods() {
            if matches!(method, EventMethod::Endpoint) {
                continue;
            }
            let run = run(BALL, |o| {
                o.solver = solver;
                o.events = Some(method);
                o.rtol = 1e-8;
                o.step = solver.has_fixed_step().then_some(STEP);
            });
            let found: Vec<f64> = run.events.iter().map(|e| e.stamp.t).collect();
            let worst = found.iter().zip(impacts()).map(|(t, exact)| (t - exact).abs()).fold(0.0, f64::max);
            // Euler's method is late by half a step at the first impact; each impact passes on more.
            let tolerance = if solver == Solver::Euler { 100.0 * STEP } else { 1e-6 };
            assert!(found.len() == 12 && worst < tolerance, "{solver} {method}: {worst:e} {found:?}");
            assert_eq!(run.stats.outside_domain_evals, 0, "{solver} {method}");
        }
    }
}

/// A point that runs towards the edge of sqrt(1 - x), which it reaches at t = 2 at full speed.
const EDGE: &str = "model Edge {
    state x = -1, y = 0
    flow { x' = 1; y' = sqrt(1 - x) }
    run { until 3 }
}";

#[test]
fn looking_ahead_is_counted_and_extrapolation_never_looks() {
    for solver in [Solver::Taylor, Solver::Adams] {
        let found = run(EDGE, |o| o.solver = solver);
        assert_eq!(found.ending.status, Status::LeftDomain, "{solver}");
        assert!((found.ending.stamp.t - 2.0).abs() < 1e-6, "{solver}: {:?}", found.ending);
        assert_eq!(found.stats.outside_domain_evals, 0, "{solver}");
        let looked = run(EDGE, |o| {
            o.solver = solver;
            o.events = Some(EventMethod::Interpolation);
        });
        assert!(looked.stats.outside_domain_evals > 0, "{solver}");
    }
}

#[test]
fn evaluations_outside_a_declared_domain_are_counted() {
    let text = "model Declared {
        state x = -1
        domain x <= 1
        flow { x' = 1 + 0.1 * x }
        run { until 3 }
    }";
    let kept = run(text, |o| o.solver = Solver::Adams);
    assert_eq!((kept.ending.status, kept.stats.outside_domain_evals), (Status::LeftDomain, 0));
    let looked = run(text, |o| {
        o.solver = Solver::Adams;
        o.events = Some(EventMethod::Interpolation);
    });
    assert_eq!(looked.ending.status, Status::LeftDomain);
    assert!(looked.stats.outside_domain_evals > 0);
}

/// A target on a line that leaves a circle of radius 1.8, with rates that end to exist there. The edge
/// and the guard at it are zero at the same time but computed by different expressions.
const REACH: &str = "model Reach {
    param x0 = 0.6, y0 = 0.5, vx = 0.3, vy = 0.2
    state a = 0
    signal x = x0 + vx * time, y = y0 + vy * time
    signal r = sqrt(x^2 + y^2)
    signal c = (r^2 + 0.36) / (2 * r)
    flow { a' = 1 / sqrt(1 - c^2) }
    stop when r >= 1.8 \"stretched\"
    run { until 20 }
}";

#[test]
fn a_guard_at_an_edge_comes_first_and_nothing_is_evaluated_behind_it() {
    for solver in [Solver::Taylor, Solver::Adams] {
        for k in 0..50 {
            let angle = 0.1 * f64::from(k);
            let found = run(REACH, |o| {
                o.solver = solver;
                o.set = vec![("vx".into(), 0.5 * angle.cos()), ("vy".into(), 0.5 * angle.sin())];
            });
            // Lines towards the inner circle of radius 0.2 fold the arm before it is stretched.
            let folded = 0.6 * angle.cos() + 0.5 * angle.sin() < 0.0
                && (0.6 * angle.sin() - 0.5 * angle.cos()).abs() < 0.2;
            let expected = if folded { Status::LeftDomain } else { Status::Stopped };
            assert_eq!(found.ending.status, expected, "{solver} {angle}: {:?}", found.ending);
            assert_eq!(found.stats.outside_domain_evals, 0, "{solver} {angle}: {:?}", found.ending);
        }
    }
}

#[test]
fn looking_ahead_with_series_comes_to_an_end() {
    for k in 0..50 {
        let angle = 0.1 * f64::from(k);
        let found = run(REACH, |o| {
            o.events = Some(EventMethod::Interpolation);
            (o.rtol, o.atol, o.limits.steps) = (1e-4, 1e-6, 10_000);
            o.set = vec![("vx".into(), 0.5 * angle.cos()), ("vy".into(), 0.5 * angle.sin())];
        });
        let ended = matches!(found.ending.status, Status::LeftDomain | Status::Stopped);
        assert!(ended, "{angle}: {:?}", found.ending);
    }
}

#[test]
fn a_pole_ends_a_run_that_looks_at_the_ends_of_steps() {
    // x = sqrt(1 - 2 t); beyond the pole the flow drives back to it.
    let text = "model Pole { state x = 1; x' = -1 / x; run { until 3; rtol 1e-4 } }";
    for solver in [Solver::Taylor, Solver::Adams, Solver::RungeKutta] {
        let found = run(text, |o| {
            (o.solver, o.events, o.limits.steps) = (solver, Some(EventMethod::Endpoint), 10_000);
        });
        assert_eq!(found.ending.status, Status::LeftDomain, "{solver}: {:?}", found.ending);
        assert!((found.ending.stamp.t - 0.5).abs() < 1e-4, "{solver}: {:?}", found.ending);
    }
}

#[test]
fn ends_of_steps_are_past_what_was_crossed_on_them() {
    // x = 2.8 is passed at t = 2.8 and y = -0.4 at t = 2.9, both in the step from 2.5 to 3: never
    // is y low while x is small, and at the end of the step it is not, either.
    let text = "model Corner {
        state x = 0, y = 2.5
        flow { x' = 1; y' = -1 }
        stop when y <= -0.4 and x <= 2.8
        run { until 5 }
    }";
    let found = run(text, |o| {
        (o.solver, o.events, o.step) = (Solver::Rk4, Some(EventMethod::Endpoint), Some(0.5));
    });
    assert_eq!(found.ending.status, Status::Finished, "{:?}", found.ending);
}

/// A pulse of width 0.1 about t = 5 of which no number is left at t = 0.
const PULSE: &str = "model Pulse {
    state x = -1
    memory hits = 0
    flow { x' = -300 * (time - 5) * exp(-((time - 5) / 0.1)^2) }
    when x >= 0 { hits := hits + 1 }
    run { until 10 }
}";

#[test]
fn a_pulse_that_is_lost_at_the_start_is_seen() {
    let proved = run(PULSE, |o| {
        o.events = Some(EventMethod::Certified);
        o.rtol = 1e-8;
    });
    // x = -1 + 1.5 exp(-((t - 5) / 0.1)^2) is zero at 5 - 0.1 sqrt(ln 1.5).
    let exact = 5.0 - 0.1 * 1.5f64.ln().sqrt();
    let computed = run(PULSE, |_| ());
    assert_eq!(computed.events.len(), 1);
    assert!((computed.events[0].stamp.t - exact).abs() < 1e-6, "{}", computed.events[0].stamp.t);
    assert_eq!(proved.events.len(), 1);
    assert!((proved.events[0].stamp.t - exact).abs() < 1e-7, "{}", proved.events[0].stamp.t);
    let certificate = proved.certificate.expect("asked for");
    assert_eq!((certificate.unproved_steps, certificate.doubtful), (0, 0));
    assert!((certificate.proved_time - 10.0).abs() < 1e-9);
}

#[test]
fn grazing_is_reported_as_possible() {
    let text = "model Graze {
        state x = 1, v = -2
        memory n = 0
        flow { x' = v; v' = 2 }
        when x <= 0 { n := n + 1 }
        run { until 3 }
    }";
    let run = run(text, |o| o.events = Some(EventMethod::Certified));
    let certificate = run.certificate.as_ref().expect("asked for");
    assert_eq!(run.events.len(), 0);
    assert_eq!(certificate.doubtful, 1, "{certificate:?}");
    let doubt = &certificate.doubts[0];
    assert!(doubt.from <= 1.0 && 1.0 <= doubt.to && doubt.to - doubt.from < 1e-6, "{doubt:?}");
    assert!(run.notes.iter().any(|n| n.text.contains("possible tangency")));
}

/// Two curves that are zero at t = 9/8: `x` as slowly as -0.09, of terms that sum up to 444, and `y`. A
/// proof begins a step just before, where `x` is rounded.
fn shallow(rules: &str) -> Run {
    let text = format!(
        "model Shallow {{
            state x = 18.65972900390625, y = -1.125
            memory a = 0, b = 0
            flow {{
                x' = -69.8162841796875 + 215.9375 * time - 265.365234375 * time^2 + 162.1875 * time^3 -
                    49.375 * time^4 + 6 * time^5
                y' = 1
            }}
            {rules}
            run {{ until 1.25 }}
        }}"
    );
    run(&text, |o| (o.events, o.rtol, o.atol) = (Some(EventMethod::Certified), 1e-6, 1e-9))
}

#[test]
fn what_rounding_has_parted_happens_together() {
    let found = shallow("when x <= 0 { a := 1 }; when y >= 0 { b := 1 }");
    let [one, other] = &found.events[..] else { panic!("{:?}", found.events) };
    assert_eq!(one.stamp, other.stamp);
    assert!(found.notes.iter().any(|n| n.text.contains("taken as simultaneous")), "{:?}", found.notes);
    let found = shallow("when x <= 0 { a := 1 }; at 1.125 { b := 1 }");
    let times: Vec<f64> = found.events.iter().map(|e| e.stamp.t).collect();
    assert_eq!(times, [1.125, 1.125]);
}

#[test]
fn guards_on_one_rounded_state_keep_their_order() {
    let found = shallow("when x <= 0 { a := 1 }; when x <= -2e-14 { b := 1 }");
    let [first, second] = &found.events[..] else { panic!("{:?}", found.events) };
    let apart = second.stamp.t - first.stamp.t;
    let exact = 2e-14 / 0.08935546875;
    assert!((apart - exact).abs() < 0.01 * exact, "{apart:e} {exact:e}");
}

#[test]
fn a_share_set_by_hand_approaches_slowly() {
    let steps = |gamma: Option<f64>| {
        let run = run(BALL, |o| {
            o.solver = Solver::Adams;
            o.gamma = gamma;
            o.guard_tolerance = gamma.map(|_| 1e-6);
            o.until = Some(2.0);
        });
        assert_eq!(run.events.len(), 1);
        assert!((run.events[0].stamp.t - impacts()[0]).abs() < 1e-6);
        run.stats.steps
    };
    assert!(steps(Some(0.5)) > steps(None) + 10);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let refused = |change: fn(&mut Options)| {
        let model = Loader::default().text("model.salt", BALL).expect("a model");
        let mut options = model.options().expect("options");
        change(&mut options);
        model.run(options).expect_err("refused").faults()[0].message.clone()
    };
    assert!(refused(|o| o.gamma = Some(1.5)).contains("between 0 and 1"));
    assert!(refused(|o| o.min_step = Some(0.0)).contains("shortest step is 0"));
    assert!(refused(|o| o.guard_tolerance = Some(f64::NAN)).contains("tolerance of guards"));
    assert!(
        refused(|o| (o.min_step, o.max_step) = (Some(1.0), Some(0.1))).contains("longer than the longest")
    );
    assert!(refused(|o| o.solver = Solver::Euler).contains("needs the length of its steps"));
    assert!(refused(|o| o.step = Some(0.1)).contains("chooses its steps"));
    let pair = refused(|o| (o.solver, o.events) = (Solver::RungeKutta, Some(EventMethod::Certified)));
    assert!(pair.contains("cannot find events by certified"), "{pair}");
}

/// x outgrows the numbers at t = 0.7976931.
const OUTGROWN: &str = "model Outgrown { state x = 1e308; x' = 1e308; run { until 500 } }";

#[test]
fn a_state_that_outgrows_the_numbers_ends_the_run() {
    for solver in Solver::ALL {
        for &method in solver.methods() {
            let run = run(OUTGROWN, |o| {
                o.solver = solver;
                o.events = Some(method);
                o.step = solver.has_fixed_step().then_some(0.01);
            });
            let (ending, x) = (&run.ending, run.values[1]);
            assert_eq!(ending.status, Status::LeftDomain, "{solver} {method}: {ending:?}");
            assert!(ending.reason.contains("grows without bound"), "{solver} {method}: {ending:?}");
            assert!(
                x.is_finite() && (ending.stamp.t - 0.7976931).abs() < 1e-6,
                "{solver} {method}: {ending:?} {x}"
            );
            let mut last = (f64::NAN, f64::NAN);
            run.trace.walk(Sampling::PerSegment(1), |p| last = (p.stamp.t, p.values[1]));
            assert!(
                last.0 == ending.stamp.t && (last.1 / x - 1.0).abs() < 1e-15,
                "{solver} {method}: {last:?} {x}"
            );
        }
    }
}

/// The greatest number may stand for none.
#[test]
fn a_state_that_is_the_greatest_number_and_stays_so_is_one() {
    let text = "model Held {
        state least = 1.7976931348623157e308, x = 1
        flow { hold least; x' = -x }
        run { until 1 }
    }";
    for solver in Solver::ALL {
        let run = run(text, |o| {
            o.solver = solver;
            o.step = solver.has_fixed_step().then_some(0.01);
        });
        assert_eq!((run.ending.status, run.values[1]), (Status::Finished, f64::MAX), "{solver}");
    }
}

#[test]
fn a_flow_that_outgrows_the_numbers_ends_the_run() {
    let run = run("model Growth { state x = -1; x' = 2 * x; run { until 1000 } }", |_| {});
    assert_eq!(run.ending.status, Status::LeftDomain);
    assert!(run.ending.reason.starts_with("`2 * x` grows without bound"), "{:?}", run.ending);
}

#[test]
fn an_output_without_a_value_at_the_end_is_remarked() {
    let run = run("model Product { state x = 1; x' = 1e200; output y = x * x; run { until 1 } }", |_| {});
    assert_eq!(run.ending.status, Status::Finished);
    assert_eq!(run.notes.len(), 1);
    assert_eq!(run.notes[0].text, "`y` has no finite value at the end");
}

/// The edge at t = 1 is met as the last tick happens, whose time is exact while that of the edge is not.
#[test]
fn a_run_does_not_end_before_its_last_event() {
    let text = "model Ticks {
        state x = 1, y = 0
        memory k = 0
        flow { x' = -1; y' = 1 / x }
        every 0.25 { k := k + 1 }
        run { until 3 }
    }";
    for solver in Solver::ALL {
        for &method in solver.methods() {
            let run = run(text, |o| {
                o.solver = solver;
                o.events = Some(method);
                o.step = solver.has_fixed_step().then_some(STEP);
            });
            let last = run.events.last().expect("an event").stamp.t;
            assert!(run.ending.stamp.t >= last, "{solver} {method}: {last} {:?}", run.ending);
        }
    }
}
