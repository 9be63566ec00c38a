//! Guards that the flow conserves, or that do not move for another reason, have no events by rounding.

use saltus::{EventMethod, Loader, Run};

/// The methods that look for zeros within steps.
const METHODS: [EventMethod; 5] = [
    EventMethod::Extrapolation,
    EventMethod::Certified,
    EventMethod::Validated,
    EventMethod::Interpolation,
    EventMethod::Sturm,
];

fn run(text: &str, method: EventMethod, rtol: f64) -> Run {
    let model = Loader::default().text("model.salt", text).expect("a model without errors");
    let mut options = model.options().expect("options");
    options.events = Some(method);
    options.rtol = rtol;
    model.run(options).expect("a run")
}

/// An oscillator whose energy is compared with what it has at the start, and a push at 5.
fn oscillator(mass: f64, stiffness: f64, comparison: &str, push: &str) -> String {
    format!(
        "model Oscillator {{
            param m = {mass}, k = {stiffness}, x0 = 0.7, v0 = -1.3
            state x = x0, v = v0
            memory seen = 0
            flow {{ x' = v; v' = -k / m * x + {push} }}
            when m * v^2 / 2 + k * x^2 / 2 {comparison} m * v0^2 / 2 + k * x0^2 / 2 {{ seen := seen + 1 }}
            run {{ until 10 }}
        }}"
    )
}

#[test]
fn conserved_energy_neither_rises_nor_falls() {
    for method in METHODS {
        for rtol in [1e-4, 1e-7, 1e-10] {
            for k in 1..12 {
                let (mass, stiffness) = (0.37 * f64::from(k), 7.1 / f64::from(k));
                for comparison in [">", "<"] {
                    let found = run(&oscillator(mass, stiffness, comparison, "0"), method, rtol);
                    // Rounding of the energy itself decides whether the guard is true at the start.
                    let late = found.events.iter().filter(|e| e.stamp.t > 0.0).count();
                    assert_eq!(late, 0, "{method} {rtol} {mass} {comparison}");
                }
            }
        }
    }
}

#[test]
fn what_rests_is_met_when_it_moves() {
    for method in METHODS {
        let push = "(if time < 5 then 0 else 0.01 * v)";
        let found = run(&oscillator(1.0, 2.0, ">", push), method, 1e-9);
        let late: Vec<f64> = found.events.iter().map(|e| e.stamp.t).filter(|&t| t > 0.0).collect();
        assert_eq!(late.len(), 1, "{method}");
        assert!((late[0] - 5.0).abs() < 1e-9, "{method}: {}", late[0]);
    }
}

#[test]
fn a_circle_is_neither_left_nor_entered() {
    for method in METHODS {
        for (comparison, events) in [(">=", 1), (">", 0), ("<=", 1), ("<", 0)] {
            let text = format!(
                "model Circle {{
                    state x = 0.5, y = 0
                    memory seen = 0
                    flow {{ x' = -3 * y; y' = 3 * x }}
                    when x^2 + y^2 {comparison} 0.25 {{ seen := seen + 1 }}
                    run {{ until 10 }}
                }}"
            );
            let found = run(&text, method, 1e-6);
            assert_eq!(found.events.len(), events, "{method} {comparison}");
        }
    }
}

#[test]
fn proofs_doubt_what_rests() {
    let found = run(&oscillator(1.0, 2.0, ">", "0"), EventMethod::Certified, 1e-6);
    let certificate = found.certificate.expect("a certificate");
    assert!(certificate.doubts.iter().all(|doubt| doubt.what.contains("rests at zero")));
    assert!(certificate.doubtful > 0);
}

/// The current behind a rectifier begins where the sine is zero but for the rounding of time: it has the
/// slope of that rounding and then that of the sine.
#[test]
fn slopes_made_of_the_rounding_of_time_decide_nothing() {
    let text = "model Rectifier {
        state i = 0
        automaton D {
            initial mode Off { hold i; when sin(3 * time) > 0 -> On }
            mode On { i' = sin(3 * time) - i; when i < 0 -> Off { i := 0 } }
        }
        run { until 30 }
    }";
    for method in METHODS {
        for rtol in [1e-6, 1e-9] {
            let found = run(text, method, rtol);
            assert_eq!(found.events.len(), 29, "{method} {rtol}: {:?}", found.ending);
        }
    }
}
