//! The helicopter against independently computed numbers: the instants of its flight modes and its
//! state along the flight (two integrations at 1e-12 by other means).

use saltus::{Loader, Model, Options, Run, Sampling, Status};
use std::path::Path;

fn example(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    Loader::default().file(&path).expect("an example without errors")
}

fn transitions(run: &Run) -> Vec<(f64, u32, u32, &str)> {
    run.events.iter().map(|e| (e.stamp.t, e.stamp.n, e.stamp.i, &*e.name)).collect()
}

/// Values of variables at times, in the order of both.
fn sample(model: &Model, run: &Run, names: &[&str], times: &[f64]) -> Vec<Vec<f64>> {
    let variables = &model.system().variables;
    let index = |name: &&str| variables.iter().position(|v| v.name == **name).expect("a variable");
    let slots: Vec<usize> = names.iter().map(index).collect();
    let mut rows = Vec::new();
    run.trace.walk(Sampling::Every(1.0), |point| {
        if times.contains(&point.stamp.t) && rows.len() < times.len() && point.stamp.t == times[rows.len()] {
            rows.push(slots.iter().map(|&s| point.values[s]).collect());
        }
    });
    rows
}

#[test]
fn take_off_switches_where_it_must() {
    let model = example("helicopter.salt");
    let run = model.run(Options { rtol: 1e-10, atol: 1e-12, ..model.options().unwrap() }).unwrap();
    assert_eq!(run.ending.status, Status::Finished);
    let expected = [
        (20.0, 0, 1, "Hover -> Acc"),
        (33.6551020388, 0, 1, "Acc -> Cruise1"),
        (33.6551020388, 0, 2, "Cruise1 -> Climb"),
        (39.4314534350, 0, 1, "Climb -> Cruise2"),
    ];
    let found = transitions(&run);
    assert_eq!(found.len(), expected.len());
    for (want, got) in expected.iter().zip(&found) {
        assert!((want.0 - got.0).abs() < 1e-7, "{want:?} {got:?}");
        assert_eq!((want.1, want.2, want.3), (got.1, got.2, got.3));
    }
    assert_eq!(found[1].0, found[2].0, "Cruise1 is transient");
}

#[test]
fn take_off_flies_the_computed_path() {
    let model = example("helicopter.salt");
    let run = model.run(Options { rtol: 1e-10, atol: 1e-12, ..model.options().unwrap() }).unwrap();
    let times = [1.0, 25.0, 30.0, 34.0, 36.0, 40.0, 42.0, 70.0];
    let expected = [
        [0.0, 0.0, 1.637292, -0.344590, 0.0, 49.17972],
        [3.300614, 1.607414, 2.000001, 0.000004, 0.039927, 48.05834],
        [16.236640, 3.567200, 2.000000, 0.0, 0.039979, 48.05840],
        [33.641217, 5.122920, 2.003366, -0.042565, 0.020199, 49.96560],
        [43.485179, 4.701824, 4.051955, -1.736562, -0.007296, 48.78209],
        [62.271494, 4.730610, 10.798549, -0.958496, 0.023907, 33.73041],
        [72.099330, 5.008896, 10.025130, 0.230557, 0.001067, 50.69953],
        [212.108659, 5.000000, 10.000000, 0.0, 0.0, 48.02000],
    ];
    let names = ["plant.px", "plant.vx", "altitude", "plant.vz", "plant.th", "control.T"];
    let found = sample(&model, &run, &names, &times);
    assert_eq!(found.len(), times.len());
    for ((t, want), got) in times.iter().zip(&expected).zip(&found) {
        for ((name, want), got) in names.iter().zip(want).zip(got) {
            assert!((want - got).abs() < 1e-5, "{name} at {t}: {got}, expected {want}");
        }
    }
}

#[test]
fn approach_goes_through_all_its_modes_and_stands() {
    let model = example("helicopter_approach.salt");
    let run = model.run(model.options().unwrap()).unwrap();
    let names: Vec<&str> = run.events.iter().map(|e| &*e.name).collect();
    let expected = ["Hover -> Acc", "Acc -> Cruise", "Cruise -> Descend", "Descend -> Dec", "Dec -> Stand"];
    assert_eq!(names, expected);
    let value = |name: &str| {
        let index = model.system().variables.iter().position(|v| v.name == name).expect("a variable");
        run.values[index]
    };
    assert!((value("altitude") - 2.0).abs() < 1e-6);
    assert!(value("plant.vx").abs() < 1e-6 && value("plant.vz").abs() < 1e-6);
    assert!((value("plant.px") - value("flight.stand")).abs() < 1e-6);
}
