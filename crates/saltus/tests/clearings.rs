//! Guards that are computed only where they may be zero: none may be missed, whatever was known before.
//!
//! On a spiral x^2 + y^2 = exp(t / 10), so it is known when a circle is left.

use saltus::{EventMethod, Loader, Run};

const METHODS: [EventMethod; 3] =
    [EventMethod::Extrapolation, EventMethod::Certified, EventMethod::Interpolation];

fn run(body: &str, method: EventMethod) -> Run {
    let text = format!(
        "model Spiral {{
            state x = 1, y = 0, z = 5
            flow {{ x' = 0.05 * x - y; y' = x + 0.05 * y; z' = -z }}
            {body}
            run {{ until 200; rtol 1e-9; atol 1e-9 }}
        }}"
    );
    let model = Loader::default().text("spiral.salt", &text).expect("a model without errors");
    let mut options = model.options().expect("options");
    options.events = Some(method);
    model.run(options).expect("a run")
}

fn assert_stops(body: &str, expected: f64) {
    for method in METHODS {
        let t = run(body, method).ending.stamp.t;
        assert!((t - expected).abs() < 1e-6, "{method:?}: {t} instead of {expected}");
    }
}

#[test]
fn a_circle_is_left_after_many_turns() {
    assert_stops("stop when x^2 + y^2 >= 10000", 10.0 * 10000_f64.ln());
}

#[test]
fn a_guard_that_a_memory_brings_near_is_seen() {
    let body = "memory limit = 10000
        at 25 { limit := 20 }
        stop when x^2 + y^2 >= limit";
    assert_stops(body, 10.0 * 20_f64.ln());
}

#[test]
fn a_jump_of_states_is_seen() {
    let body = "at 25 { x := 0; y := 10 }
        stop when x * x + y * y >= 400";
    assert_stops(body, 25.0 + 10.0 * 4_f64.ln());
}

#[test]
fn time_in_a_product_is_seen() {
    // time * time reaches 900 at 30, where the circle is still far.
    assert_stops("stop when x^2 + y^2 >= 10000 or time * time >= 900", 30.0);
}

#[test]
fn guards_that_are_computed_at_once_are_seen_beside() {
    let body = "memory falls = 0
        when z <= 1 { falls := falls + 1 }
        stop when falls * (x^2 + y^2) >= 100";
    assert_stops(body, 10.0 * 100_f64.ln());
}
