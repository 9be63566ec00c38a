//! Example 2: whether runs stop at the edge of the workspace, and who evaluated beyond it.

use super::arm::{self, INNER, Line, OUTER};
use super::table::Table;
use super::{Failure, Setting, Way, load, options};
use crate::output;
use saltus::EventMethod::{Certified, Endpoint, Extrapolation, Interpolation, Printed};
use saltus::Solver::{Adams, Taylor};
use saltus::io::figure::{Horizontal, Panel, Series};
use saltus::{Figure, Model, Run, Sampling, Status};

const RUNS: usize = 100;
/// A run that takes more steps has lost its way.
const MOST_STEPS: u64 = 10_000;
/// The relative tolerance of the models.
const RTOL: f64 = 1e-4;

/// With what the paper prints.
const WAYS: [(Way, &str); 7] = [
    ((Adams, Endpoint), ""),
    ((Adams, Interpolation), "100 crashes of 100"),
    ((Taylor, Interpolation), ""),
    ((Adams, Printed), ""),
    ((Adams, Extrapolation), "0 crashes of 100"),
    ((Taylor, Extrapolation), ""),
    ((Taylor, Certified), ""),
];

/// What runs did.
#[derive(Default)]
struct Count {
    runs: usize,
    at_edge: usize,
    looked_outside: usize,
    refused: usize,
    farthest: f64,
}

impl Count {
    fn add(&mut self, line: &Line, run: &Run) {
        let distance = line.distance_to_edge(run);
        let outside = run.stats.outside_domain_evals > 0;
        let ended = matches!(run.ending.status, Status::Stopped | Status::LeftDomain);
        self.runs += 1;
        self.at_edge += usize::from(ended && line.ends_at_edge(run, RTOL) && !outside);
        self.looked_outside += usize::from(outside);
        self.refused += usize::from(run.ending.reason.contains("looks ahead"));
        self.farthest = self.farthest.max(distance);
    }
}

/// Counts and draws.
pub fn run(setting: &mut Setting<'_>) -> Result<(), Failure> {
    let lines = arm::lines(&mut setting.random(), setting.runs(RUNS));
    output::print(&format!(
        "Example 2: an arm at the edge of its workspace, {} lines, seed {}\n\n",
        lines.len(),
        setting.args.seed
    ));
    let mut table = Table::new(&[
        "solver, events",
        "runs",
        "clean stop at the edge",
        "evaluated outside",
        "could not go on",
        "farthest from the edge",
        "paper",
    ]);
    let total = arm::FORMULATIONS.len() * WAYS.len();
    for (k, name) in arm::FORMULATIONS.iter().enumerate() {
        let model = load("arm.salt", arm::MODEL, name)?;
        table.row(vec![format!("[{name}]")]);
        for (j, (way, printed)) in WAYS.iter().enumerate() {
            let count = count(setting, &model, *way, &lines, (k * WAYS.len() + j, total))?;
            let mut row = vec![format!("{}, {}", way.0, way.1)];
            row.extend(
                [count.runs, count.at_edge, count.looked_outside, count.refused].map(|n| n.to_string()),
            );
            row.extend([format!("{:.1e}", count.farthest), (*printed).into()]);
            table.row(row);
        }
    }
    output::print(&format!("{}\n", table.text()));
    draw(setting, &lines)
}

fn count(
    setting: &mut Setting<'_>,
    model: &Model,
    way: Way,
    lines: &[Line],
    (done, total): (usize, usize),
) -> Result<Count, Failure> {
    let mut count = Count::default();
    for (k, line) in lines.iter().enumerate() {
        count.add(line, &simulate(model, way, line)?);
        setting.progress.at(done * lines.len() + k, total * lines.len());
    }
    Ok(count)
}

fn simulate(model: &Model, way: Way, line: &Line) -> Result<Run, Failure> {
    let mut options = options(model, way)?;
    options.limits.steps = MOST_STEPS;
    line.apply(&mut options);
    Ok(model.run(options)?)
}

/// Where the tips end, and how the steps shrink.
fn draw(setting: &Setting<'_>, lines: &[Line]) -> Result<(), Failure> {
    if setting.args.out.is_none() {
        return Ok(());
    }
    let model = load("arm.salt", arm::MODEL, "GuardedJacobian")?;
    let mut panel = Panel {
        y_label: Some("y".into()),
        horizontal: Horizontal::Own { label: "x".into(), equal_aspect: true },
        ..Panel::default()
    };
    let edges = vec![circle(OUTER), vec![], circle(INNER)];
    panel.series.push(Series { label: "edge".into(), unit: None, pieces: edges });
    let mut tips = Vec::new();
    let mut lengths = Vec::new();
    for line in lines.iter().take(12) {
        let run = simulate(&model, (Adams, Extrapolation), line)?;
        tips.extend([tip(&model, &run), vec![]]);
        let left = |t: f64| (run.ending.stamp.t - t).log10();
        let steps = super::step_lengths(&run);
        lengths.push(steps.iter().map(|&(t, h)| (left(t), h.log10())).collect());
        lengths.push(vec![]);
    }
    panel.series.push(Series { label: "tip".into(), unit: None, pieces: tips });
    let title = "Tips stop at the edge of the workspace".into();
    setting.save("example2_tips", &Figure { title, panels: vec![panel], ..Figure::default() })?;
    let series = Series { label: "log10 of the step".into(), unit: None, pieces: lengths };
    let horizontal =
        Horizontal::Own { label: "log10 of the time left to the edge".into(), equal_aspect: false };
    let panel = Panel { series: vec![series], horizontal, ..Panel::default() };
    let title = "Steps shrink with the distance to the edge".into();
    setting.save("example2_steps", &Figure { title, panels: vec![panel], ..Figure::default() })
}

fn circle(r: f64) -> Vec<(f64, f64)> {
    let angles = (0..=200).map(|k| f64::from(k) * std::f64::consts::TAU / 200.0);
    angles.map(|a| (r * a.cos(), r * a.sin())).collect()
}

/// The path of the tip.
fn tip(model: &Model, run: &Run) -> Vec<(f64, f64)> {
    let slot = |name: &str| model.system().variables.iter().position(|v| v.name == name).unwrap_or_default();
    let (x, y) = (slot("arm.tip_x"), slot("arm.tip_y"));
    let mut points = Vec::new();
    run.trace.walk(Sampling::PerSegment(3), |p| points.push((p.values[x], p.values[y])));
    points
}
