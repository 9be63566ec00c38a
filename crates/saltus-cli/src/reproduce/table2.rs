//! Table II: what it costs to look before each step, and whether all collisions are met.

use super::cars::{self, Car};
use super::table::Table;
use super::{Failure, Setting, Way, files, load, options};
use crate::output;
use cpu_time::ThreadTime;
use saltus::EventMethod::{Extrapolation, Interpolation};
use saltus::Solver::{Adams, Taylor};
use saltus::io::figure::{Panel, Series};
use saltus::{Figure, Model, Options, Recording, Run, Simulator};

const RUNS: usize = 10;
/// Rounds of time measurements.
const ROUNDS: usize = 3;
/// Overlaps are looked for at least this often, in seconds of the run.
const APART: f64 = 0.005;
/// Tolerances of the runs by which predictable events are told from others.
const FINE: [f64; 2] = [1e-9, 1e-11];
/// Events of two runs are the same if their times differ by less.
const SAME: f64 = 1e-6;

/// With the seconds that the paper prints.
const WAYS: [(Way, &str); 4] = [
    ((Adams, Interpolation), "0.3106 s"),
    ((Adams, Extrapolation), "0.3330 s"),
    ((Taylor, Interpolation), ""),
    ((Taylor, Extrapolation), ""),
];

/// What the runs of one way gave, one entry for each start.
#[derive(Default)]
struct Record {
    seconds: Vec<f64>,
    events: usize,
    steps: Vec<f64>,
    evaluations: Vec<f64>,
    searches: Vec<f64>,
    deepest: f64,
    /// Predictable events, and how many of them are those of the exact run.
    predictable: usize,
    confirmed: usize,
}

/// Measures and draws.
pub fn run(setting: &mut Setting<'_>) -> Result<(), Failure> {
    let model = load("bumper_cars.salt", cars::MODEL, "BumperCars")?;
    let (starts, from) = starts(setting)?;
    output::print(&format!(
        "Table II: {} bumper cars for 100 s, {} starts, {from}\n\n",
        cars::CARS,
        starts.len()
    ));
    let mut records: [Record; WAYS.len()] = Default::default();
    for (k, start) in starts.iter().enumerate() {
        let mut simulator = model.simulator();
        for (j, (way, _)) in WAYS.iter().enumerate() {
            look(&model, &mut simulator, *way, start, &mut records[j])?;
            setting.progress.at(k * WAYS.len() + j, starts.len() * WAYS.len());
        }
        time(&model, &mut simulator, start, &mut records)?;
        confirm(&model, &mut simulator, start, &mut records)?;
    }
    output::print(&format!("{}\n", table(&records).text()));
    for (k, solver) in [(0, Adams), (2, Taylor)] {
        let printed = if solver == Adams { " (paper: 1.072)" } else { "" };
        let ratio = ratio(&records[k + 1].seconds, &records[k].seconds);
        output::print(&format!("  extrapolation / interpolation, {solver}: {ratio}{printed}\n"));
    }
    output::print("\n");
    setting.save("table2_cost", &costs(&records))
}

fn starts(setting: &Setting<'_>) -> Result<(Vec<Vec<Car>>, String), Failure> {
    if let Some(path) = setting.starts() {
        let mut starts = files::cars(path)?;
        starts.truncate(setting.args.runs.unwrap_or(usize::MAX));
        return Ok((starts, format!("from {}", path.display())));
    }
    let mut random = setting.random();
    let starts = (0..setting.runs(RUNS)).map(|_| cars::start(&mut random)).collect();
    Ok((starts, format!("seed {}", setting.args.seed)))
}

fn from_start(model: &Model, way: Way, start: &[Car]) -> Result<Options, Failure> {
    let mut options = options(model, way)?;
    cars::apply(start, &mut options);
    Ok(options)
}

/// What a way does with a start.
fn look(
    model: &Model,
    simulator: &mut Simulator<'_>,
    way: Way,
    start: &[Car],
    record: &mut Record,
) -> Result<(), Failure> {
    let run = simulator.run(from_start(model, way, start)?).map_err(failed)?;
    record.events += run.events.len();
    record.steps.push(run.stats.steps as f64);
    record.evaluations.push((run.stats.rhs_evals + run.stats.jet_evals) as f64);
    record.searches.push(run.stats.root_searches as f64);
    record.deepest = record.deepest.max(cars::deepest_overlap(model.system(), &run, APART));
    Ok(())
}

/// How long all ways take, without a trace and with everything prepared: the best of some rounds in
/// which they take turns.
fn time(
    model: &Model,
    simulator: &mut Simulator<'_>,
    start: &[Car],
    records: &mut [Record],
) -> Result<(), Failure> {
    let mut best = [f64::INFINITY; WAYS.len()];
    for _ in 0..ROUNDS {
        for (best, (way, _)) in best.iter_mut().zip(WAYS) {
            let options = Options { recording: Recording::Events, ..from_start(model, way, start)? };
            let clock = ThreadTime::now();
            simulator.run(options).map_err(failed)?;
            *best = best.min(clock.elapsed().as_secs_f64());
        }
    }
    records.iter_mut().zip(best).for_each(|(record, seconds)| record.seconds.push(seconds));
    Ok(())
}

fn failed(error: saltus::sim::SimError) -> Failure {
    Failure::Data(error.to_string())
}

/// Counts the events that runs at two tolerances agree on, and those of them that the exact run has.
fn confirm(
    model: &Model,
    simulator: &mut Simulator<'_>,
    start: &[Car],
    records: &mut [Record],
) -> Result<(), Failure> {
    let mut at = |way: Way, rtol: f64| -> Result<Run, Failure> {
        let mut options = from_start(model, way, start)?;
        (options.rtol, options.atol, options.until) = (rtol, rtol, Some(20.0));
        options.recording = Recording::Events;
        simulator.run(options).map_err(failed)
    };
    let exact = at((Taylor, Extrapolation), 1e-13)?;
    for (record, (way, _)) in records.iter_mut().zip(WAYS) {
        let (coarse, fine) = (at(way, FINE[0])?, at(way, FINE[1])?);
        let predictable = shared(&coarse, &fine, SAME);
        record.predictable += predictable;
        record.confirmed += shared(&coarse, &exact, 2.0 * SAME).min(predictable);
    }
    Ok(())
}

/// The number of events at the start that two runs share.
fn shared(a: &Run, b: &Run, apart: f64) -> usize {
    let pairs = a.events.iter().zip(&b.events);
    pairs.take_while(|(a, b)| a.name == b.name && (a.stamp.t - b.stamp.t).abs() < apart).count()
}

fn table(records: &[Record]) -> Table {
    let mut table = Table::new(&[
        "solver, events",
        "CPU per run",
        "paper",
        "collisions",
        "steps",
        "deepest overlap",
        "predictable events",
        "of them right",
    ]);
    for (record, ((solver, method), printed)) in records.iter().zip(WAYS) {
        table.row(vec![
            format!("{solver}, {method}"),
            format!("{:.4} s", mean(&record.seconds)),
            printed.into(),
            record.events.to_string(),
            format!("{:.0}", mean(&record.steps)),
            format!("{:.1e}", record.deepest),
            record.predictable.to_string(),
            record.confirmed.to_string(),
        ]);
    }
    table
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The median of the quotients of neighbours in time, with its quartiles.
fn ratio(a: &[f64], b: &[f64]) -> String {
    let mut quotients: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / b).collect();
    quotients.sort_by(f64::total_cmp);
    let at =
        |share: f64| quotients.get((share * quotients.len() as f64) as usize).copied().unwrap_or(f64::NAN);
    format!("{:.3} (quartiles {:.3} to {:.3})", at(0.5), at(0.25), at(0.75))
}

/// Time and work of each start.
fn costs(records: &[Record]) -> Figure {
    let panel = |label: &str, of: fn(&Record) -> &[f64]| Panel {
        y_label: Some(label.into()),
        series: records.iter().zip(WAYS).map(|(r, (way, _))| curve(way, of(r))).collect(),
        ..Panel::default()
    };
    let panels = vec![
        panel("CPU seconds", |r| &r.seconds),
        panel("steps", |r| &r.steps),
        panel("evaluations", |r| &r.evaluations),
        panel("root searches", |r| &r.searches),
    ];
    let title = "Cost of 100 s of bumper cars".into();
    Figure { title, panels, x_label: "start".into(), ..Figure::default() }
}

fn curve((solver, method): Way, values: &[f64]) -> Series {
    let points = values.iter().enumerate().map(|(k, v)| (k as f64 + 1.0, *v)).collect();
    Series { label: format!("{solver}, {method}"), unit: None, pieces: vec![points] }
}
