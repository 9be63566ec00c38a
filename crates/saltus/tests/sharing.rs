//! A thousand instances of a component compile no more code than one.

use saltus::{Model, Options, Recording};

fn thermostats(n: usize) -> Model {
    let text = format!(
        "component Thermostat(lo = 19, hi = 21) {{
             state x = 20
             automaton Heater {{
                 initial mode Heating {{ x' = -0.1 * (x - 5) + 3; when x >= hi -> Idle }}
                 mode Idle {{ x' = -0.1 * (x - 5); when x <= lo -> Heating }}
             }}
         }}
         model House {{
             rooms: Thermostat[{n}]
             run {{ until 3 }}
         }}"
    );
    Model::from_text("house.salt", &text).expect("a model")
}

#[test]
fn instances_share_their_programs() {
    let run = |n| {
        let model = thermostats(n);
        let options = Options { recording: Recording::Events, ..model.options().expect("options") };
        model.run(options).expect("a run")
    };
    let (one, thousand) = (run(1), run(1000));
    assert_eq!(one.stats.programs, thousand.stats.programs);
    assert_eq!(thousand.stats.native, 0);
    assert_eq!(1000 * one.events.len(), thousand.events.len());
}
