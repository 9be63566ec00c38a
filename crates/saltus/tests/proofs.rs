//! What certified runs must get through: numbers so great that rounding hides when a guard is met, and
//! systems that come to rest, where rounding is all that moves.

use saltus::{EventMethod, Loader, Model, Run, Status};
use std::path::Path;

fn certified(model: &Model, tolerance: f64) -> Run {
    proved(model, tolerance, EventMethod::Certified)
}

fn proved(model: &Model, tolerance: f64, method: EventMethod) -> Run {
    let mut options = model.options().expect("options");
    (options.rtol, options.atol, options.events) = (tolerance, tolerance, Some(method));
    options.limits.steps = 10_000;
    model.run(options).expect("a run")
}

#[test]
fn a_great_offset_hides_no_event() {
    for offset in [1e3, 1e6, 1e8, 1e10] {
        let text = format!(
            "model Counter {{
                state x = {offset:?}
                memory turns = 0
                x' = 1
                when x >= {offset:?} + 1 {{ x := {offset:?}; turns := turns + 1 }}
                run {{ until 10.5 }}
            }}"
        );
        let model = Loader::default().text("counter.salt", &text).expect("a model without errors");
        for tolerance in [1e-4, 1e-8, 1e-12] {
            let run = certified(&model, tolerance);
            assert_eq!(run.ending.status, Status::Finished, "{offset} {tolerance}: {:?}", run.ending);
            assert_eq!(run.events.len(), 10, "{offset} {tolerance}");
            for (event, turn) in run.events.iter().zip(1..) {
                // A few roundings of the state for each turn.
                let off = (event.stamp.t - f64::from(turn)).abs();
                let allowed = 4.0 * f64::EPSILON * offset * f64::from(turn) + 1e-9;
                assert!(off <= allowed, "{offset} {tolerance}, turn {turn}: off by {off:e}");
            }
        }
    }
}

#[test]
fn what_comes_to_rest_is_proved() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
    for name in ["helicopter.salt", "helicopter_approach.salt"] {
        let model = Loader::default().file(examples.join(name)).expect("a model without errors");
        for tolerance in [1e-4, 1e-8, 1e-11] {
            let run = certified(&model, tolerance);
            assert_eq!(run.ending.status, Status::Finished, "{name} {tolerance}: {:?}", run.ending);
            let certificate = run.certificate.expect("a certificate");
            let steps = certificate.proved_steps + certificate.unproved_steps;
            println!("{name} {tolerance}: {} of {steps} steps proved", certificate.proved_steps);
            assert!(certificate.proved_steps * 4 > 3 * steps, "{name} {tolerance}");
        }
    }
}

#[test]
fn a_guard_that_tells_nothing_does_not_stop_the_flow() {
    // The guard is zero all the time, or so small that its sign is lost.
    let circle = "model Circle {
        memory n = 0
        state x = 0, v = 0.5
        x' = v
        v' = -x
        when x^2 + v^2 >= 0.25 { n := n + 1 }
        run { until 7.3 }
    }";
    let tiny = "model Tiny {
        memory n = 0
        state x = 1
        x' = -x
        when 1e-200 * (x - 0.5) <= 0 { n := n + 1 }
        run { until 3 }
    }";
    for (text, expected) in [(circle, 0.5 * 7.3_f64.sin()), (tiny, (-3.0_f64).exp())] {
        let model = Loader::default().text("model.salt", text).expect("a model without errors");
        let run = certified(&model, 1e-8);
        assert_eq!(run.ending.status, Status::Finished, "{:?}", run.ending);
        // Behind time and a memory.
        assert!((run.values[2] - expected).abs() < 1e-6, "{}: {}", model.system().name, run.values[2]);
        let certificate = run.certificate.expect("asked for");
        assert!(certificate.doubtful > 0 && (text == circle || certificate.unproved_steps > 0));
        let [event] = &run.events[..] else { panic!("{:?}", run.events) };
        let expected = if text == circle { 0.0 } else { 2f64.ln() };
        assert!((event.stamp.t - expected).abs() < 1e-8, "{}", event.stamp.t);
    }
}

/// A root at the very stop time is within its bracket, however sharp the tolerance.
#[test]
fn guards_at_the_stop_time() {
    let cases = [
        ("state x = 0\nx' = 1", "x >= 3", 3.0),
        ("state x = 0\nx' = 1", "x >= 1000", 1000.0),
        ("state x = 0\nx' = 0.1", "x >= 0.7", 7.0),
        ("state x = 10, v = 0\nx' = v\nv' = -5", "x <= 0", 2.0),
    ];
    for (flow, guard, until) in cases {
        let text = format!(
            "model End {{\n{flow}\nmemory n = 0\nwhen {guard} {{ n := n + 1 }}\nrun {{ until {until:?} }}\n}}"
        );
        let model = Loader::default().text("end.salt", &text).expect("a model without errors");
        for rtol in [1e-6, 1e-9, 1e-11, 1e-12, 1e-13] {
            let found = certified(&model, rtol);
            let times: Vec<f64> = found.events.iter().map(|e| e.stamp.t).collect();
            assert_eq!(times, [until], "{text} {rtol}");
        }
    }
}

/// Where a function is flat, its polynomial is near it however far its argument goes.
#[test]
fn flat_functions_do_not_shorten_steps() {
    // The argument falls by 300 e^(2 t): twenty million at the end.
    let guard = "model Guard {
        state y = 1
        memory n = 0
        y' = y
        when exp(-300 * y^2) + y >= 100 { n := n + 1 }
        run { until 5.5 }
    }";
    // A pulse of height 2 and length 1/20, which takes x from 0 to about 1/10.
    let pulse = "model Pulse {
        state x = 0, y = 1
        memory n = 0
        x' = tanh(5000 * (time - 6)) - tanh(5000 * (time - 6.05))
        y' = -0.1 * y
        when x >= 0.05 { n := n + 1 }
        run { until 9 }
    }";
    for (text, expected) in [(guard, 100f64.ln()), (pulse, 6.025)] {
        let model = Loader::default().text("flat.salt", text).expect("a model without errors");
        for tolerance in [1e-6, 1e-10] {
            for method in [EventMethod::Certified, EventMethod::Validated] {
                let run = proved(&model, tolerance, method);
                let times: Vec<f64> = run.events.iter().map(|e| e.stamp.t).collect();
                let [t] = times[..] else { panic!("{} {tolerance}: {times:?}", model.system().name) };
                assert!((t - expected).abs() < 10.0 * tolerance, "{t}, {tolerance}");
                let (steps, certificate) = (run.stats.steps, run.certificate.expect("asked for"));
                assert_eq!(certificate.unproved_steps, 0, "{} {tolerance}", model.system().name);
                assert!(steps < 400, "{} {tolerance}: {steps}", model.system().name);
            }
        }
    }
}

/// What is proved of states that move is no wider because another one moves by nothing but rounding.
#[test]
fn a_state_at_rest_does_not_shorten_validated_steps() {
    let text = "model Rest {
        state x = 0, z = 0, w = 1
        memory n = 0
        x' = -0.2 * x + 2 * (sin(time)^2 + cos(time)^2 - 1)
        z' = w
        w' = -z
        when z >= 0.5 { n := n + 1 }
        run { until 6 }
    }";
    let model = Loader::default().text("rest.salt", text).expect("a model without errors");
    for tolerance in [1e-6, 1e-9, 1e-11] {
        let run = proved(&model, tolerance, EventMethod::Validated);
        assert_eq!((run.ending.status, run.events.len()), (Status::Finished, 1), "{tolerance}");
        assert_eq!(run.certificate.expect("asked for").unproved_steps, 0, "{tolerance}");
        assert!(run.stats.steps < 200, "{tolerance}: {}", run.stats.steps);
    }
}

/// Rounding of a force that is nearly constant does not keep a step from being proved that ends before the
/// force turns.
#[test]
fn a_steep_turn_is_not_passed_unproved() {
    let text = "model Turn {
        state x = 0, v = 0
        memory n = 0
        x' = v
        v' = tanh(70 * (time - 8.7)) - tanh(70 * (time - 20))
        when x <= -60 { n := n + 1 }
        run { until 12 }
    }";
    let model = Loader::default().text("turn.salt", text).expect("a model without errors");
    for tolerance in [1e-6, 1e-10] {
        let run = certified(&model, tolerance);
        assert_eq!(run.certificate.expect("asked for").unproved_steps, 0, "{tolerance}");
        // v' is 2 from 8.7 on; v stands behind time and x.
        assert!((run.values[2] - 6.6).abs() < 1e-5, "{tolerance}: {:?}", run.values);
    }
}

/// The time that is proved is that which has passed, however long steps would have been without events.
#[test]
fn proved_time_is_time_that_has_passed() {
    let ball = "model Ball {
        state x = 1, v = 0
        x' = v
        v' = -1
        when x <= 0 { v := -0.9 * v }
        every 0.3 { }
        run { until 7.5 }
    }";
    let model = Loader::default().text("ball.salt", ball).expect("a model without errors");
    let run = certified(&model, 1e-8);
    let certificate = run.certificate.expect("a certificate");
    assert_eq!((certificate.unproved_steps, certificate.doubtful), (0, 0));
    assert!((certificate.proved_time - 7.5).abs() < 1e-12, "{}", certificate.proved_time);
}
