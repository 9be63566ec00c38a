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
/// Half the height of the marks of steps.
const MARK: f64 = 6e-4;

/// Longest steps, one for each start. All starts are so alike that steps of one length end at nearly
/// the same places in all runs and see all dips or none; lengths from a range see a share of them.
const LENGTHS: Option<[f64; 2]> = Some([0.2, 0.6]);

/// With the longest steps and the share that the paper prints.
const WAYS: [(Way, Option<[f64; 2]>, &str); 10] = [
    ((RungeKutta, Endpoint), None, "32 %"),
    ((RungeKutta, Endpoint), LENGTHS, ""),
    ((Adams, Endpoint), None, ""),
    ((Taylor, Endpoint), None, ""),
    ((Adams, Interpolation), None, ""),
    ((Taylor, Interpolation), None, ""),
    ((Adams, Printed), None, "100 %"),
    ((Adams, Extrapolation), None, "100 %"),
    ((Taylor, Extrapolation), None, ""),
    ((Taylor, Certified), None, ""),
];

/// Counts and draws.
pub fn run(setting: &mut Setting<'_>) -> Result<(), Failure> {
    let models = Models {
        usual: load("corridor.salt", corridor::MODEL, "Corridor")?,
        timed: load("corridor.salt", corridor::MODEL, "TimedCorridor")?,
    };
    let (grazing, clear, from) = starts(setting)?;
    output::print(&format!(
        "Table I: collisions in the corridor, {} grazing starts and {} that stay clear, {from}\n\n",
        grazing.len(),
        clear.len()
    ));
    output::print(
        "  detected: found at its time or elsewhere; with endpoint, the turn is given by its time\n\n",
    );
    let mut table =
        Table::new(&["solver, events", "found", "misplaced", "missed", "false alarms", "detected", "paper"]);
    for (k, (way, lengths, printed)) in WAYS.iter().enumerate() {
        let mut counts = [0; 5];
        for (j, start) in grazing.iter().chain(&clear).enumerate() {
            // Multiples of the golden ratio fill the range evenly.
            let longest = lengths.map(|[a, b]| a + (b - a) * (j as f64 * 0.618_033_988_749_895).fract());
            counts[start.judge(&simulate(&models, *way, longest, start)?) as usize] += 1;
            setting
                .progress
                .at(k * (grazing.len() + clear.len()) + j, WAYS.len() * (grazing.len() + clear.len()));
        }
        let count = |v: Verdict| counts[v as usize];
        let numbers = [Verdict::Found, Verdict::Misplaced, Verdict::Missed, Verdict::FalseAlarm].map(count);
        let limit = lengths.map_or(String::new(), |[a, b]| format!(", steps to {a}..{b}"));
        let mut row = vec![format!("{}, {}{limit}", way.0, way.1)];
        row.extend(numbers.map(|n| n.to_string()));
        row.extend([
            percent(count(Verdict::Found) + count(Verdict::Misplaced), grazing.len()),
            (*printed).into(),
        ]);
        table.row(row);
    }
    output::print(&format!("{}\n", table.text()));
    draw(setting, &models, &grazing)
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

/// The corridor, and the same with the turn at its time.
struct Models {
    usual: Model,
    timed: Model,
}

fn simulate(models: &Models, way: Way, longest: Option<f64>, start: &Start) -> Result<Run, Failure> {
    let model = if way.1 == Endpoint { &models.timed } else { &models.usual };
    let mut options = options(model, way)?;
    options.max_step = longest;
    start.apply(&mut options);
    Ok(model.run(options)?)
}

/// Paths near the corner, and steps that shrink towards the wall with a share of one half.
fn draw(setting: &Setting<'_>, models: &Models, grazing: &[Start]) -> Result<(), Failure> {
    let Some(start) = grazing.first().filter(|_| setting.args.out.is_some()) else { return Ok(()) };
    let mut panel = Panel {
        y_label: Some("y".into()),
        horizontal: Horizontal::Own { label: "x".into(), equal_aspect: false },
        ..Panel::default()
    };
    let wall = vec![vec![(2.3, -0.4), (2.8, -0.4), (2.8, -0.404)]];
    panel.series.push(Series { label: "wall".into(), unit: None, pieces: wall });
    let blind = simulate(models, (RungeKutta, Endpoint), None, start)?;
    let mut gradual = options(&models.usual, (Adams, Extrapolation))?;
    start.apply(&mut gradual);
    (gradual.gamma, gradual.guard_tolerance) = (Some(0.5), Some(1e-6));
    let gradual = models.usual.run(gradual)?;
    let runs = [
        ("rk, endpoint", &models.timed, &blind),
        ("adams, extrapolation, gamma 0.5", &models.usual, &gradual),
    ];
    for (label, model, run) in runs {
        let near = |p: &(f64, f64)| p.0 > 2.3 && p.0 < 3.1;
        let mut pieces: Vec<Vec<_>> = vec![path(model, run, 20).into_iter().filter(near).collect()];
        for (x, y) in path(model, run, 0).into_iter().filter(near) {
            pieces.extend([vec![], vec![(x, y - MARK), (x, y + MARK)]]);
        }
        panel.series.push(Series { label: label.into(), unit: None, pieces });
    }
    let title = "Near the corner, with marks at the ends of steps".into();
    setting.save("table1_paths", &Figure { title, panels: vec![panel], ..Figure::default() })?;
    setting.save("table1_steps", &shrinking(&gradual))
}

/// x and y at the ends of the steps of a run and at some points in each.
fn path(model: &Model, run: &Run, inside: usize) -> Vec<(f64, f64)> {
    let slot = |name: &str| model.system().variables.iter().position(|v| v.name == name).unwrap_or_default();
    let (x, y) = (slot("x"), slot("y"));
    let mut points = Vec::new();
    run.trace.walk(Sampling::PerSegment(inside), |p| points.push((p.values[x], p.values[y])));
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
