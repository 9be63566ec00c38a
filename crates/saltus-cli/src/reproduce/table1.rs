//! Table I: how many collisions that are hard to see are seen.

use super::corridor::{self, Start, Verdict};
use super::table::Table;
use super::{Failure, Setting, Way, files, load, options, percent};
use crate::output;
use saltus::EventMethod::{Certified, Endpoint, Extrapolation, Interpolation, Printed};
use saltus::Solver::{Adams, RungeKutta, Taylor};
use saltus::io::figure::{Horizontal, Panel, Series};
use saltus::{Figure, Model, Run, Sampling};

const RUNS: usize = 100;

/// With the share that the paper prints.
const WAYS: [(Way, &str); 9] = [
    ((RungeKutta, Endpoint), "32 %"),
    ((Adams, Endpoint), ""),
    ((Taylor, Endpoint), ""),
    ((Adams, Interpolation), ""),
    ((Taylor, Interpolation), ""),
    ((Adams, Printed), "100 %"),
    ((Adams, Extrapolation), "100 %"),
    ((Taylor, Extrapolation), ""),
    ((Taylor, Certified), ""),
];

/// Counts and draws.
pub fn run(setting: &mut Setting<'_>) -> Result<(), Failure> {
    let model = load("corridor.salt", corridor::MODEL, "Corridor")?;
    let (grazing, clear, from) = starts(setting)?;
    output::print(&format!(
        "Table I: collisions in the corridor, {} grazing starts and {} that stay clear, {from}\n\n",
        grazing.len(),
        clear.len()
    ));
    let mut table =
        Table::new(&["solver, events", "found", "misplaced", "missed", "false alarms", "detected", "paper"]);
    for (k, (way, printed)) in WAYS.iter().enumerate() {
        let mut counts = [0; 5];
        for (j, start) in grazing.iter().chain(&clear).enumerate() {
            counts[start.judge(&simulate(&model, *way, start)?) as usize] += 1;
            setting
                .progress
                .at(k * (grazing.len() + clear.len()) + j, WAYS.len() * (grazing.len() + clear.len()));
        }
        let count = |v: Verdict| counts[v as usize];
        let numbers = [Verdict::Found, Verdict::Misplaced, Verdict::Missed, Verdict::FalseAlarm].map(count);
        let mut row = vec![format!("{}, {}", way.0, way.1)];
        row.extend(numbers.map(|n| n.to_string()));
        row.extend([
            percent(count(Verdict::Found) + count(Verdict::Misplaced), grazing.len()),
            (*printed).into(),
        ]);
        table.row(row);
    }
    output::print(&format!("{}\n", table.text()));
    draw(setting, &model, &grazing)
}

fn starts(setting: &Setting<'_>) -> Result<(Vec<Start>, Vec<Start>, String), Failure> {
    if let Some(path) = setting.starts() {
        let (mut grazing, mut clear) = files::corridor(path)?;
        let most = setting.args.runs.unwrap_or(usize::MAX);
        grazing.truncate(most);
        clear.truncate(most);
        return Ok((grazing, clear, format!("from {}", path.display())));
    }
    let (mut random, runs) = (setting.random(), setting.runs(RUNS));
    let grazing = corridor::grazing(&mut random, runs);
    let clear = corridor::clear(&mut random, runs);
    Ok((grazing, clear, format!("seed {}", setting.args.seed)))
}

fn simulate(model: &Model, way: Way, start: &Start) -> Result<Run, Failure> {
    let mut options = options(model, way)?;
    start.apply(&mut options);
    Ok(model.run(options)?)
}

/// Paths near the corner, and steps that shrink towards the wall with a share of one half.
fn draw(setting: &Setting<'_>, model: &Model, grazing: &[Start]) -> Result<(), Failure> {
    let Some(start) = grazing.first().filter(|_| setting.args.out.is_some()) else { return Ok(()) };
    let mut panel = Panel {
        y_label: Some("y".into()),
        horizontal: Horizontal::Own { label: "x".into(), equal_aspect: false },
        ..Panel::default()
    };
    let wall = vec![vec![(2.3, -0.4), (2.8, -0.4), (2.8, -0.4012)]];
    panel.series.push(Series { label: "wall".into(), unit: None, pieces: wall });
    let blind = simulate(model, (RungeKutta, Endpoint), start)?;
    let mut gradual = options(model, (Adams, Extrapolation))?;
    start.apply(&mut gradual);
    (gradual.gamma, gradual.guard_tolerance) = (Some(0.5), Some(1e-6));
    let gradual = model.run(gradual)?;
    for (label, run) in [("rk, endpoint", &blind), ("adams, extrapolation, gamma 0.5", &gradual)] {
        let path: Vec<_> = path(model, run).into_iter().filter(|p| p.0 > 2.3 && p.0 < 3.1).collect();
        panel.series.push(Series { label: label.into(), unit: None, pieces: vec![path] });
    }
    let title = "Near the corner: what ends of steps do not show".into();
    setting.save("table1_paths.svg", &Figure { title, panels: vec![panel], ..Figure::default() })?;
    setting.save("table1_steps.svg", &shrinking(&gradual))
}

/// x and y at the times of a run.
fn path(model: &Model, run: &Run) -> Vec<(f64, f64)> {
    let slot = |name: &str| model.system().variables.iter().position(|v| v.name == name).unwrap_or_default();
    let (x, y) = (slot("x"), slot("y"));
    let mut points = Vec::new();
    run.trace.walk(Sampling::PerSegment(20), |p| points.push((p.values[x], p.values[y])));
    points
}

/// The logarithm of the length of each step over time.
fn shrinking(run: &Run) -> Figure {
    let steps = super::step_lengths(run);
    let points = steps.iter().map(|&(t, h)| (t, h.log10())).collect();
    let series = Series { label: "log10 of the step".into(), unit: None, pieces: vec![points] };
    let panel = Panel { series: vec![series], ..Panel::default() };
    let title = "Steps shrink towards the wall (gamma 0.5)".into();
    Figure { title, panels: vec![panel], x_label: "time".into(), ..Figure::default() }
}
