//! The three experiments of Esposito and Kumar (2007) against closed forms and exact rules.
//!
//! `SALTUS_CASES=1000` runs as many random starts instead of the usual few.

#[path = "../../saltus-cli/src/reproduce/arm.rs"]
mod arm;
#[path = "../../saltus-cli/src/reproduce/cars.rs"]
mod cars;
#[path = "../../saltus-cli/src/reproduce/corridor.rs"]
mod corridor;
#[path = "../../saltus-cli/src/reproduce/random.rs"]
mod random;

use corridor::{Start, Verdict};
use random::Random;
use saltus::{EventMethod, Loader, Model, Options, Run, Solver, Status};
use std::path::PathBuf;

use EventMethod::{Certified, Endpoint, Extrapolation, Interpolation};

const SEED: u64 = 20_070_101;

/// The number of random starts.
fn cases(usual: usize) -> usize {
    std::env::var("SALTUS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

fn load(text: &str, name: &str) -> Model {
    Loader::new().model(name).text(name, text).expect("a model without errors")
}

fn options(model: &Model, (solver, method): (Solver, EventMethod)) -> Options {
    let options = model.options().expect("options");
    Options { solver, events: Some(method), ..options }
}

/// Numbers of hits found, misplaced, missed, of false alarms and of clear runs.
fn count(model: &Model, how: (Solver, EventMethod), starts: &[Start]) -> [usize; 5] {
    let mut counts = [0; 5];
    for start in starts {
        let mut options = options(model, how);
        start.apply(&mut options);
        let run = model.run(options).expect("a run");
        assert_eq!(run.ending.status, Status::Stopped, "{how:?} {start:?}: {:?}", run.ending);
        counts[start.judge(&run) as usize] += 1;
    }
    counts
}

/// The ways that must find every hit.
const RELIABLE: [(Solver, EventMethod); 5] = [
    (Solver::Taylor, Interpolation),
    (Solver::Taylor, Extrapolation),
    (Solver::Taylor, Certified),
    (Solver::Adams, Interpolation),
    (Solver::Adams, Extrapolation),
];

#[test]
fn every_grazing_hit_is_found_and_no_other() {
    let model = load(corridor::MODEL, "Corridor");
    let mut random = Random::new(SEED);
    let (n, clear) = (cases(50), cases(50) / 2);
    let mut starts = corridor::grazing(&mut random, n);
    starts.extend(corridor::clear(&mut random, clear));
    for how in RELIABLE {
        assert_eq!(count(&model, how, &starts), [n, 0, 0, 0, clear], "{how:?}");
    }
}

#[test]
fn looking_at_the_ends_of_steps_misses_hits() {
    let model = load(corridor::MODEL, "TimedCorridor");
    let n = cases(50);
    let starts = corridor::grazing(&mut Random::new(SEED), n);
    for solver in [Solver::Taylor, Solver::Adams, Solver::RungeKutta] {
        let missed = count(&model, (solver, Endpoint), &starts)[Verdict::Missed as usize];
        assert!(2 * missed > n, "{solver}: {missed} of {n}");
    }
}

/// A folder of data beside the repository, if it is there.
fn data(file: &str) -> Option<serde_json::Value> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../../shared/peers/data", file].iter().collect();
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    };
    Some(serde_json::from_str(&text).expect("JSON"))
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect()
}

#[test]
fn known_starts_hit_the_wall_when_they_should() {
    let Some(data) = data("p2.json") else { return };
    let rows = |key: &str| data[key].as_array().expect("rows").iter().map(numbers).collect::<Vec<_>>();
    let start = |row: &Vec<f64>| Start { x: row[0], y: row[1], th: row[2] };
    let (hits, clear) = (rows("cases"), rows("clear_cases"));
    for row in &hits {
        let hit = start(row).hit().expect("a hit");
        assert!((hit - row[3]).abs() < 1e-9 && (start(row).depth() - row[5]).abs() < 1e-9, "{row:?} {hit}");
    }
    let most = cases(50);
    let mut starts: Vec<_> = hits.iter().take(most).map(start).collect();
    let n = starts.len();
    starts.extend(clear.iter().take(most).map(start));
    let model = load(corridor::MODEL, "Corridor");
    for how in RELIABLE {
        assert_eq!(count(&model, how, &starts), [n, 0, 0, 0, starts.len() - n], "{how:?}");
    }
}

#[test]
fn the_arm_stops_at_the_edge_of_its_workspace() {
    let lines = arm::lines(&mut Random::new(SEED), cases(30));
    for name in arm::FORMULATIONS {
        let model = load(arm::MODEL, name);
        for (solver, method, rtol) in [
            (Solver::Taylor, Extrapolation, 1e-4),
            (Solver::Taylor, Certified, 1e-4),
            (Solver::Adams, Extrapolation, 1e-4),
            (Solver::Adams, Extrapolation, 1e-7),
        ] {
            for line in &lines {
                let mut options = options(&model, (solver, method));
                (options.rtol, options.limits.steps) = (rtol, 1000);
                line.apply(&mut options);
                let run = model.run(options).expect("a run");
                let distance = line.distance_to_edge(&run);
                let what = || format!("{name} {solver} {method} {line:?}: {distance:e} {:?}", run.ending);
                let guarded = name.starts_with("Guarded");
                let expected = if guarded { Status::Stopped } else { Status::LeftDomain };
                assert_eq!(run.ending.status, expected, "{}", what());
                assert!(line.ends_at_edge(&run, rtol), "{}", what());
                assert_eq!(run.stats.outside_domain_evals, 0, "{}", what());
            }
        }
    }
}

#[test]
fn looking_ahead_leaves_the_workspace_in_every_run() {
    let lines = arm::lines(&mut Random::new(SEED), cases(30));
    // Without a declared domain the inverse Jacobian exists on the other side of its pole, too.
    for name in arm::FORMULATIONS.into_iter().filter(|name| *name != "Jacobian") {
        let model = load(arm::MODEL, name);
        for line in &lines {
            let mut options = options(&model, (Solver::Adams, Interpolation));
            line.apply(&mut options);
            let run = model.run(options).expect("a run");
            assert!(run.stats.outside_domain_evals > 0, "{name} {line:?}: {:?}", run.ending);
        }
    }
}

#[test]
fn no_run_goes_on_beyond_a_pole() {
    let lines = arm::lines(&mut Random::new(SEED), cases(30));
    let model = load(arm::MODEL, "Jacobian");
    for how in [(Solver::Adams, Endpoint), (Solver::RungeKutta, Endpoint), (Solver::Taylor, Certified)] {
        for line in &lines {
            let mut options = options(&model, how);
            options.limits.steps = 10_000;
            line.apply(&mut options);
            let run = model.run(options).expect("a run");
            assert_eq!(run.ending.status, Status::LeftDomain, "{how:?} {line:?}: {:?}", run.ending);
        }
    }
}

fn drive(model: &Model, cars: &[cars::Car], change: impl FnOnce(&mut Options)) -> Run {
    let mut options = model.options().expect("options");
    cars::apply(cars, &mut options);
    change(&mut options);
    model.run(options).expect("a run")
}

#[test]
fn no_bumper_car_enters_another_or_a_wall() {
    let model = load(cars::MODEL, "BumperCars");
    let mut random = Random::new(SEED);
    for k in 0..cases(3) {
        let cars = cars::start(&mut random);
        for (solver, method) in RELIABLE.into_iter().filter(|how| how.1 != Certified) {
            let run = drive(&model, &cars, |o| (o.solver, o.events) = (solver, Some(method)));
            assert_eq!(run.ending.status, Status::Finished, "start {k}, {solver} {method}: {:?}", run.ending);
            let deepest = cars::deepest_overlap(model.system(), &run, 0.005);
            assert!(deepest < 1e-6, "start {k}, {solver} {method}: {deepest:e}");
        }
    }
}

/// Events as names and times.
fn events(run: &Run) -> Vec<(&str, f64)> {
    run.events.iter().map(|e| (&*e.name, e.stamp.t)).collect()
}

/// The number of events at the start that two runs share, with times that differ by less than `apart`.
fn shared(a: &Run, b: &Run, apart: f64) -> usize {
    let (a, b) = (events(a), events(b));
    a.iter().zip(&b).take_while(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < apart).count()
}

#[test]
fn methods_agree_as_long_as_the_cars_can_be_predicted() {
    let model = load(cars::MODEL, "BumperCars");
    let mut random = Random::new(SEED);
    for k in 0..cases(1) {
        let cars = cars::start(&mut random);
        let at = |how: (Solver, EventMethod), rtol: f64| {
            drive(&model, &cars, |o| {
                (o.solver, o.events) = (how.0, Some(how.1));
                (o.rtol, o.atol, o.until) = (rtol, rtol, Some(20.0));
            })
        };
        let exact = at((Solver::Taylor, Extrapolation), 1e-13);
        assert!(exact.events.len() > 20);
        for how in RELIABLE.into_iter().filter(|how| how.1 != Certified) {
            let (run, finer) = (at(how, 1e-9), at(how, 1e-11));
            let predictable = shared(&run, &finer, 1e-6);
            assert!(predictable > 10, "start {k}, {how:?}: {predictable} events");
            assert!(shared(&run, &exact, 2e-6) >= predictable, "start {k}, {how:?}");
        }
    }
}

#[test]
fn known_starts_of_cars_collide_when_they_should() {
    let (Some(data), Some(known)) = (data("p4.json"), data("p4_ref.json")) else { return };
    let model = load(cars::MODEL, "BumperCars");
    let starts = data["initial"]["20"].as_array().expect("starts");
    let known = known["20"].as_array().expect("times");
    for (start, known) in starts.iter().zip(known).take(cases(2)) {
        let cars: Vec<_> = start
            .as_array()
            .expect("cars")
            .iter()
            .map(numbers)
            .map(|c| cars::Car { x: c[0], y: c[1], th: c[2], v: c[3], w: c[4] })
            .collect();
        let times = numbers(&known["event_times"]);
        let run = |cars: &[cars::Car]| drive(&model, cars, |o| (o.rtol, o.atol) = (1e-13, 1e-13));
        let here = run(&cars);
        // Cars whose times one rounding of a start changes by more than this can not be predicted.
        let mut moved = cars.clone();
        moved[0].x = moved[0].x.next_up();
        let certain = shared(&here, &run(&moved), 1e-8);
        let found: Vec<_> = here.events.iter().map(|e| e.stamp.t).collect();
        assert!(certain > 20 && times.len() > 20, "{certain} of {} events", times.len());
        for (k, (found, known)) in found[..certain].iter().zip(&times).enumerate() {
            assert!((found - known).abs() < 1e-6, "event {k}: {found}, not {known}");
        }
    }
}
