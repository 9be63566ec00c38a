//! What rounding parts or leaves over happens as if nothing was rounded.

use saltus::{EventMethod, Loader, Run};

/// The methods that say where a guard is zero.
const METHODS: [EventMethod; 5] = [
    EventMethod::Extrapolation,
    EventMethod::Certified,
    EventMethod::Validated,
    EventMethod::Interpolation,
    EventMethod::Sturm,
];

fn run(text: &str, method: EventMethod) -> Run {
    let model = Loader::default().text("model.salt", text).expect("a model without errors");
    let mut options = model.options().expect("options");
    options.events = Some(method);
    model.run(options).expect("a run")
}

/// The indices (n, i) of all events.
fn indices(run: &Run) -> Vec<(u32, u32)> {
    run.events.iter().map(|e| (e.stamp.n, e.stamp.i)).collect()
}

/// At the zero of `x`, where little but rounding is left of it, it is multiplied and turns back; other
/// guards may be there, too.
fn turn(slope: f64, factor: f64, others: &str) -> String {
    format!(
        "model Turn {{
            state x = 0.5
            memory seen = 0
            when x > 0 {{ seen := seen + 1 }}
            automaton Way {{
                initial mode Down {{ x' = -{slope}; when x < 0 -> Up {{ x := {factor} * x }} }}
                mode Up {{ x' = 2 }}
            }}
            {others}
            run {{ until 200 }}
        }}"
    )
}

#[test]
fn a_zero_is_one_whatever_it_is_multiplied_by() {
    for method in METHODS {
        for factor in [-2.0, -1.0, -0.5, 0.7, 3.0] {
            for k in 1..40 {
                let found = run(&turn(f64::from(k) / 70.0, factor, ""), method);
                assert_eq!(indices(&found), [(0, 1), (1, 0), (1, 1)], "{method} {factor} {k}");
            }
        }
    }
}

#[test]
fn a_zero_of_a_crowd_is_one_whatever_it_is_multiplied_by() {
    let others: String = (1..40).map(|k| format!("stop when x * x >= 1e6 + {k};\n")).collect();
    for k in 1..40 {
        let found = run(&turn(f64::from(k) / 70.0, -1.0, &others), EventMethod::Extrapolation);
        assert_eq!(indices(&found), [(0, 1), (1, 0), (1, 1)], "{k}");
    }
}

/// `x` is eleven times the time but for what was rounded where a mode was left.
#[test]
fn what_is_due_at_the_stop_time_but_for_rounding_happens() {
    for method in METHODS {
        for k in 1..385 {
            let text = format!(
                "model Due {{
                    state x = 0
                    x' = 11
                    automaton Way {{
                        initial mode First {{ when 7 * x >= {k} -> Second }}
                        mode Second {{ when x >= 55 -> Third }}
                        mode Third {{}}
                    }}
                    run {{ until 5 }}
                }}"
            );
            let times: Vec<f64> = run(&text, method).events.iter().map(|e| e.stamp.t).collect();
            assert!(times.len() == 2 && times[1] == 5.0, "{method} {k}: {times:?}");
        }
    }
}
