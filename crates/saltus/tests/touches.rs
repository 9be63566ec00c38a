//! Edges of functions that are touched, and jumps that meet at one point of time.

use saltus::{EventMethod, Loader, Run, Status};

fn run(text: &str, rtol: f64, method: EventMethod) -> Run {
    let model = Loader::default().text("model.salt", text).expect("a model without errors");
    let mut options = model.options().expect("options");
    options.rtol = rtol;
    options.events = Some(method);
    let run = model.run(options).expect("a run");
    assert_eq!(run.ending.status, Status::Finished, "{text} {rtol} {method}: {:?}", run.ending);
    run
}

const METHODS: [EventMethod; 2] = [EventMethod::Extrapolation, EventMethod::Certified];
const TOLERANCES: [f64; 4] = [1e-4, 1e-6, 1e-8, 1e-9];

/// Powers of what touches zero, along x = cos 2t up to 5: the series from beside the touch is rounding.
#[test]
fn powers_of_what_touches_zero() {
    // By quadrature: |cos 2t|^3, 2 cos^2 2t and log(1 + cos^2 2t).
    let rates = [
        ("sqrt(x^2)^3", 2.245_175_9),
        ("hypot(x, x)^2", 5.228_236_3),
        ("log(1 + norm([x])^2)", 1.957_780_34),
    ];
    for (rate, expected) in rates {
        let text = format!(
            "model M {{ state x = 1, v = 0, y = 0\nx' = v\nv' = -4 * x\ny' = {rate}\nrun {{ until 5 }} }}"
        );
        for rtol in TOLERANCES {
            let y = run(&text, rtol, EventMethod::Extrapolation).values[3];
            let allowed = (20.0 * rtol * expected).max(1e-7);
            assert!((y - expected).abs() < allowed, "{rate} {rtol}: {y}");
        }
    }
}

#[test]
fn an_emptied_tank_is_empty_once() {
    let text = "model Tank {
        state a = 1
        memory n = 0
        a' = -sqrt(a)
        when a <= 0 { n := n + 1 }
        run { until 5 }
    }";
    for method in METHODS {
        for rtol in TOLERANCES {
            let found = run(text, rtol, method);
            assert_eq!(found.events.len(), 1, "{method} {rtol}");
            assert!((found.events[0].stamp.t - 2.0).abs() < 1e-6, "{method} {rtol}");
            assert_eq!(found.values[1], 0.0, "{method} {rtol}");
        }
    }
}

#[test]
fn a_size_is_not_below_zero_where_it_turns() {
    let text = "model Size {
        state x = 1, v = 0
        memory n = 0
        x' = v
        v' = -4 * x
        when floor(abs(x)) >= -0.5 { n := n + 1 }
        run { until 10 }
    }";
    for method in METHODS {
        for rtol in TOLERANCES {
            assert_eq!(run(text, rtol, method).events.len(), 1, "{method} {rtol}");
        }
    }
}

/// The cut of an angle and the edge of a stair at one place, and an angle that is zero until it is pi.
#[test]
fn cuts_of_angles_beside_other_jumps() {
    let cut = "model Cut { state x = -2, y = 0, z = 0\nx' = 1\ny' = sign(atan2(x, -1))\nz' = ceil(x)\nrun { until 4 } }";
    let turned =
        "model Turned { state x = 1, h = 0, z = 0\nx' = -1\nhold h\nz' = atan2(h, x)\nrun { until 3 } }";
    for rtol in TOLERANCES {
        let y = run(cut, rtol, EventMethod::Extrapolation).values[2];
        assert!(y.abs() < 1e-9, "{rtol}: {y}");
        let z = run(turned, rtol, EventMethod::Extrapolation).values[3];
        assert!((z - std::f64::consts::TAU).abs() < 1e-9, "{rtol}: {z}");
    }
}
