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
