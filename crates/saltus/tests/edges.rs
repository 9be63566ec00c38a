//! Edges of functions that are passed or touched.
//!
//! Roots and broken powers of what passes through zero, as in the flow through an orifice, exist on both
//! sides and have no series between them, and rounding must not put their argument below zero. Beside an
//! edge that is only touched a series is mostly rounding. Jumps may meet at one point of time.

use saltus::{EventMethod, Loader, Run, Status};

const METHODS: [EventMethod; 2] = [EventMethod::Extrapolation, EventMethod::Certified];
const TOLERANCES: [f64; 4] = [1e-4, 1e-6, 1e-8, 1e-9];

fn run(text: &str, rtol: f64, method: EventMethod) -> Run {
    let model = Loader::default().text("model.salt", text).expect("a model without errors");
    let mut options = model.options().expect("options");
    options.rtol = rtol;
    options.events = Some(method);
    let run = model.run(options).expect("a run");
    assert_eq!(run.ending.status, Status::Finished, "{text} {rtol} {method}: {:?}", run.ending);
    run
}

/// The integral of a rate along x = cos 2t, v = -2 sin 2t, up to 5.
fn integral(rate: &str) -> String {
    format!("model M {{ state x = 1, v = 0, y = 0\nx' = v\nv' = -4 * x\ny' = {rate}\nrun {{ until 5 }} }}")
}

/// By quadrature with 14 digits between the zeros.
const INTEGRALS: [(&str, f64); 14] = [
    ("sign(x) * sqrt(abs(x))", -0.279_609_745_184),
    ("sign(sin(time)) * sqrt(abs(sin(time)))", 0.912_515_994_172),
    ("abs(x)^1.5", 2.886_846_920_794),
    ("sqrt(max(x, 0))", 1.797_210_352_103),
    ("max(x, 0)^1.5", 1.311_028_777_146),
    ("sqrt(-min(x, 0))", 2.076_820_097_288),
    ("sqrt(2 * 9.81 * max(x, 0))", 7.960_647_855_248),
    ("sqrt(abs(sin(3 * time)))", 3.863_789_912_547),
    ("abs(x)^0.5 * v", -1.179_064_422_033),
    ("log(1 + sqrt(abs(x)))", 2.819_969_291_008),
    ("if x < 0 then (-x)^1.5 else 0", 1.575_818_143_648),
    ("if x > 0 then sqrt(x) else -sqrt(-x)", -0.279_609_745_184),
    ("if x^2 < 0.25 then sqrt(0.25 - x^2) else 0", 0.609_448_329_690),
    ("mod(mod(x, 0.5)^4, 1)", 0.070_051_488_793),
];

#[test]
fn what_passes_zero_is_integrated_on_both_sides() {
    for (rate, expected) in INTEGRALS {
        for rtol in [1e-4, 1e-6, 1e-8, 1e-10] {
            for method in METHODS {
                let found = run(&integral(rate), rtol, method);
                let (y, steps) = (found.values[3], found.stats.steps);
                // Some tolerances for each of a dozen zeros.
                let allowed = 40.0 * (1e-9 + rtol * expected.abs().max(1.0));
                assert!((y - expected).abs() < allowed, "{rate} {rtol} {method}: {y}");
                assert!(steps < 500, "{rate} {rtol} {method}: {steps} steps");
            }
        }
    }
}

/// A throw upwards with drag as a broken power of the speed, which passes zero at the top; by an explicit
/// method of order 8 at 1e-12.
#[test]
fn drag_passes_the_top_of_a_throw() {
    let text = "model Throw {
        state h = 0, v = 20
        h' = v
        v' = -9.81 - 0.1 * v * sqrt(abs(v))
        run { until 3 }
    }";
    for method in METHODS {
        let found = run(text, 1e-9, method);
        assert!((found.values[1] - 4.650_641_2).abs() < 1e-6, "{method}: {}", found.values[1]);
        assert!((found.values[2] + 11.627_443_8).abs() < 1e-6, "{method}: {}", found.values[2]);
    }
}

/// A contact after Hertz keeps its energy.
#[test]
fn hertz_contact() {
    let text = "model Hertz {
        state x = 0.5, v = 0
        output energy = v^2 / 2 + 9.81 * x + 0.4 * 1e5 * max(-x, 0)^2.5
        x' = v
        v' = -9.81 + 1e5 * max(-x, 0)^1.5
        run { until 2.6 }
    }";
    let found = run(text, 1e-9, EventMethod::Extrapolation);
    let energy = found.values[1].mul_add(9.81, found.values[2].powi(2) / 2.0)
        + 0.4e5 * (-found.values[1]).max(0.0).powf(2.5);
    assert!((energy - 4.905).abs() < 1e-6, "{energy}");
    assert!(found.stats.steps < 500, "{} steps", found.stats.steps);
}

/// A divisor that is never below 1, although its series is, by what is small beside what it was.
#[test]
fn a_divisor_that_comes_down_from_great_values_is_not_zero() {
    let rate = |power: i32| {
        format!(
            "model M {{ state x = 1, v = 0, y = 0\nx' = v\nv' = -x\ny' = 1 / (1 + (30 * x)^{power})\nrun {{ until 6 }} }}"
        )
    };
    // By quadrature.
    let found = run(&rate(8), 1e-9, EventMethod::Extrapolation);
    assert!((found.values[3] - 0.136_854_5).abs() < 1e-6, "{}", found.values[3]);
    for power in [4, 6, 8] {
        for rtol in [1e-4, 1e-6, 1e-8] {
            run(&rate(power), rtol, EventMethod::Extrapolation);
        }
    }
}

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

/// Tanks whose level falls by a broken power, and their mirrors: h^(1 - p) falls by 1 - p in a unit of time.
#[test]
fn tanks_run_empty_by_any_power_once() {
    for (flow, start) in [
        ("-max(h, 0)^p", 1.0),
        ("max(-h, 0)^p", -1.0),
        ("-h^p", 1.0),
        ("(-h)^p", -1.0),
        ("-sign(h) * abs(h)^p", 1.0),
    ] {
        let guard = if start > 0.0 { "h <= 0" } else { "h >= 0" };
        for power in [0.3_f64, 1.0 / 3.0, 0.5, 0.6, 0.7] {
            let text = format!(
                "model Tank {{
                    state h = {start:?}
                    memory n = 0
                    h' = {}
                    when {guard} {{ n := n + 1 }}
                    run {{ until 8 }}
                }}",
                flow.replace('p', &power.to_string())
            );
            for rtol in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10] {
                let found = run(&text, rtol, EventMethod::Extrapolation);
                assert_eq!(found.events.len(), 1, "{text} {rtol}");
                let (empty, t) = (1.0 / (1.0 - power), found.events[0].stamp.t);
                // What is left within some tolerances takes that long.
                let left = (10.0 * (1e-9 + 1e-3 * rtol)).powf(1.0 - power) * empty + 2.0 * rtol * empty;
                assert!((t - empty).abs() < left, "{text} {rtol}: {t}, not {empty}");
                assert!(found.values[1].abs() < 1e-12, "{text} {rtol}: {}", found.values[1]);
            }
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
        when floor(abs(x)^1.5) < 0 { n := n + 1 }
        run { until 10 }
    }";
    for method in METHODS {
        for rtol in TOLERANCES {
            assert_eq!(run(text, rtol, method).events.len(), 1, "{method} {rtol}");
        }
    }
}

/// A triple zero is located where the size that turns there is still visible, which must agree with its
/// series.
#[test]
fn a_size_that_turns_beside_a_triple_zero() {
    let text = "model Triple {
        state x = 0.83, v = 0.31, y = 0
        x' = v
        v' = -x
        y' = if exp(abs(v)) < 1 then abs(v^3) else 1
        run { until 1; atol 1e-13 }
    }";
    for rtol in TOLERANCES {
        let steps = run(text, rtol, EventMethod::Extrapolation).stats.steps;
        assert!(steps < 100, "{rtol}: {steps} steps");
    }
}

/// The cut of an angle and the edge of a stair at one place.
#[test]
fn cuts_of_angles_beside_other_jumps() {
    let text = "model Cut { state x = -2, y = 0, z = 0\nx' = 1\ny' = sign(atan2(x, -1))\nz' = ceil(x)\nrun { until 4 } }";
    for rtol in TOLERANCES {
        let y = run(text, rtol, EventMethod::Extrapolation).values[2];
        assert!(y.abs() < 1e-9, "{rtol}: {y}");
    }
}

/// An angle whose first argument rests at zero jumps where the other changes its sign.
#[test]
fn angles_along_their_cut() {
    let half_turn = std::f64::consts::PI;
    // cos 2t is negative from 1/4 to 3/4 and from 5/4 of half a turn on.
    let negative = half_turn * (5.0 - 0.75 * half_turn);
    let cases = [
        ("state x = 1, y = 0\nx' = -1\ny' = atan2(0, x)\nrun { until 2 }", half_turn),
        ("param h = 0\nstate x = -1, y = 0\nx' = 1\ny' = atan2(h, x)\nrun { until 2 }", half_turn),
        ("state x = 1, y = 0, h = 0\nx' = -1\nh' = -h\ny' = atan2(h, x)\nrun { until 2 }", half_turn),
        ("state x = 1, y = 0, v = 0\nx' = v\nv' = -4 * x\ny' = atan2(0, x)\nrun { until 5 }", negative),
    ];
    for (text, expected) in cases {
        for rtol in TOLERANCES {
            let found = run(&format!("model Angle {{ {text} }}"), rtol, EventMethod::Extrapolation);
            let y = found.values[if text.starts_with("param") { 3 } else { 2 }];
            assert!((y - expected).abs() < 1e-7_f64.max(10.0 * rtol), "{text} {rtol}: {y}");
        }
    }
}
