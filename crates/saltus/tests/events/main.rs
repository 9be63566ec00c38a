//! Event location on random models whose events are known beforehand.
//!
//! Curves with chosen roots (simple, double, triple; in pairs closer than a step; at ends of steps
//! and at sample times) drive guards of every kind, and the run must have exactly the events that
//! the definition gives, in their order and at their times. `SALTUS_CASES` sets the number of cases
//! for each test and `SALTUS_SEED` where they start.

mod case;
mod curve;
mod random;

use case::{Carrier, Case, Expected, Recipe, Use};
use curve::time_of;
use random::Random;
use saltus::{EventKind, EventMethod, Loader, Run, Solver};

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// A way to run, and how well it must know the curves.
#[derive(Clone, Copy)]
struct Way {
    solver: Solver,
    method: EventMethod,
    rtol: f64,
    /// Error of a curve as a share of its terms, and absolutely.
    share: f64,
    absolute: f64,
}

fn run(case: &Case, text: &str, way: Way) -> Run {
    let model = Loader::default().text("case.salt", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut options = model.options().expect("options");
    (options.solver, options.events) = (way.solver, Some(way.method));
    (options.rtol, options.atol) = (way.rtol, 1e-3 * way.rtol);
    options.max_step = case.longest.map(time_of);
    options.limits.steps = 100_000;
    model.run(options).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The rule an event belongs to.
fn rule_of(run: &Run, event: &saltus::Event, names: &[String]) -> Option<usize> {
    match event.transition {
        Some((automaton, ..)) => Some(automaton.index()),
        None => {
            let change = run.changes_of(event).first()?;
            names[change.variable.index()].strip_prefix('m')?.parse().ok()
        }
    }
}

/// The first tick from which nothing is claimed of a run: where floating point cannot decide, or
/// where a proof has a doubt and says so.
fn claimed_to(case: &Case, expected: &Expected, run: &Run, way: Way) -> i64 {
    let undecided = case.undecided_from(expected, way.method.is_proof(), way.share > 1e-10);
    let doubt = run.certificate.iter().flat_map(|c| &c.doubts).map(|doubt| doubt.from);
    doubt.map(|t| tick_of(t) - 1).fold(undecided, i64::min)
}

fn tick_of(t: f64) -> i64 {
    (t * curve::GRID as f64).round() as i64
}

/// Compares a run with what must happen up to a tick; the first difference, if any.
fn difference(
    case: &Case,
    expected: &Expected,
    run: &Run,
    names: &[String],
    (way, undecided): (Way, i64),
) -> Option<String> {
    let automata: Vec<usize> = (0..case.rules.len())
        .filter(|&r| matches!(case.rules[r].0, Use::Transition | Use::RisingTransition))
        .collect();
    let mut found: Vec<(f64, usize)> = Vec::new();
    for event in run.events.iter().filter(|e| e.kind != EventKind::Sample) {
        let rule = rule_of(run, event, names)?;
        found.push((event.stamp.t, if event.transition.is_some() { automata[rule] } else { rule }));
    }
    let mut wanted = expected.events.clone();
    // Rules of one instant happen together.
    found.retain(|&(t, _)| tick_of(t) < undecided);
    wanted.retain(|&(tick, _)| tick < undecided);
    found.sort_by_key(|&(t, r)| (tick_of(t), r));
    wanted.sort_unstable();
    let change = case.first_change(expected);
    let uncertainty = |tick| {
        let before = change.filter(|&change| change < tick);
        let carried = before.map_or(0.0, |change| case.carried(change, tick, way.share, way.absolute));
        case.uncertainty(tick, way.share, way.absolute) + carried
    };
    let same = found.len() == wanted.len()
        && found
            .iter()
            .zip(&wanted)
            .all(|(&(t, r), &(tick, rule))| r == rule && (t - time_of(tick)).abs() <= uncertainty(tick));
    let ends = expected.end >= undecided && tick_of(run.ending.stamp.t) >= undecided
        || run.ending.status == expected.status
            && (run.ending.stamp.t - time_of(expected.end)).abs() <= uncertainty(expected.end);
    if same && ends {
        return None;
    }
    let off: Vec<f64> = found.iter().zip(&wanted).map(|(&(t, _), &(tick, _))| t - time_of(tick)).collect();
    Some(format!(
        "wanted {:?}\n       {:?} at {}\nfound  {found:?}\n       {:?} at {} ({})\noff by {off:?}",
        wanted.iter().map(|&(tick, r)| (time_of(tick), r)).collect::<Vec<_>>(),
        expected.status,
        time_of(expected.end),
        run.ending.status,
        run.ending.stamp.t,
        run.ending.reason,
    ))
}

/// Runs many cases in one way and fails with the first few that differ.
fn check(name: &str, recipe: Recipe, way: Way) {
    let cases = from_environment("SALTUS_CASES", 300);
    let seed = from_environment("SALTUS_SEED", 1);
    let name = format!("{name}: SALTUS_SEED={seed} SALTUS_CASES={cases}");
    check_seeds(&name, recipe, way, seed..seed + cases);
}

fn check_seeds(name: &str, recipe: Recipe, way: Way, seeds: impl IntoIterator<Item = u64>) {
    let (mut cases, mut unclear, mut events, mut compared, mut wrong) = (0, 0, 0, 0, Vec::new());
    for seed in seeds {
        cases += 1;
        let case = Case::random(&mut Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d)), recipe);
        if !case.is_clear(way.share, way.absolute) {
            unclear += 1;
            continue;
        }
        let text = case.text();
        let model = Loader::default().text("case.salt", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let names: Vec<String> = model.system().variables.iter().map(|v| v.name.to_string()).collect();
        let (expected, run) = (case.expected(), run(&case, &text, way));
        events += expected.events.len();
        let claimed = claimed_to(&case, &expected, &run, way);
        compared += expected.events.iter().filter(|e| e.0 < claimed).count();
        if let Some(what) = difference(&case, &expected, &run, &names, (way, claimed)) {
            wrong.push(format!("seed {seed}, longest step {:?}\n{text}{what}\n", case.longest.map(time_of)));
        }
    }
    println!(
        "{name}: {} run, {unclear} left out as undecidable, {events} events, {compared} of them claimed, {} wrong",
        cases - unclear,
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(3)].join("\n"));
}

const EXACT: Recipe = Recipe { carriers: &[Carrier::Clock, Carrier::State, Carrier::Chain], multiplicity: 3 };
const SIMPLE: Recipe = Recipe { multiplicity: 1, ..EXACT };

fn exactly(method: EventMethod) -> Way {
    Way { solver: Solver::Taylor, method, rtol: 1e-6, share: 1e-14, absolute: 0.0 }
}

#[test]
fn polynomial_flows_by_extrapolation() {
    check("taylor extrapolation", EXACT, exactly(EventMethod::Extrapolation));
}

#[test]
fn polynomial_flows_by_interpolation() {
    check("taylor interpolation", EXACT, exactly(EventMethod::Interpolation));
}

#[test]
fn polynomial_flows_by_sturm() {
    check("taylor sturm", SIMPLE, exactly(EventMethod::Sturm));
}

#[test]
fn polynomial_flows_by_certified_steps() {
    // An enclosure of a guard is wider than its rounding noise.
    let way = Way { share: 1e-11, ..exactly(EventMethod::Certified) };
    check("taylor certified", EXACT, way);
}

#[test]
fn certified_steps_see_what_lies_at_their_end_or_happens_together() {
    const SEEDS: [u64; 8] =
        [5_010_104, 5_041_915, 5_093_022, 7_002_459, 7_019_215, 9_011_973, 9_028_745, 9_097_531];
    let way = Way { share: 1e-11, ..exactly(EventMethod::Certified) };
    check_seeds("taylor certified, ends of steps", EXACT, way, SEEDS);
}

const DRAWN: Recipe = Recipe { carriers: &[Carrier::Drawn, Carrier::Drawn, Carrier::State], multiplicity: 1 };

fn within(solver: Solver, method: EventMethod, rtol: f64) -> Way {
    Way { solver, method, rtol, share: 100.0 * rtol, absolute: 0.1 * rtol }
}

#[test]
fn drawn_states_by_extrapolation() {
    let way = within(Solver::Taylor, EventMethod::Extrapolation, 1e-8);
    check("taylor extrapolation, drawn", DRAWN, way);
}

#[test]
fn drawn_states_by_interpolation() {
    let way = within(Solver::Taylor, EventMethod::Interpolation, 1e-8);
    check("taylor interpolation, drawn", DRAWN, way);
}

#[test]
fn drawn_states_by_sturm() {
    check("taylor sturm, drawn", DRAWN, within(Solver::Taylor, EventMethod::Sturm, 1e-8));
}

#[test]
fn drawn_states_by_certified_steps() {
    let way = within(Solver::Taylor, EventMethod::Certified, 1e-8);
    check("taylor certified, drawn", DRAWN, way);
}

#[test]
fn adams_by_extrapolation() {
    let way = within(Solver::Adams, EventMethod::Extrapolation, 1e-8);
    check("adams extrapolation", Recipe { multiplicity: 1, ..DRAWN }, way);
}

#[test]
fn adams_by_interpolation() {
    let way = within(Solver::Adams, EventMethod::Interpolation, 1e-8);
    check("adams interpolation", Recipe { multiplicity: 1, ..DRAWN }, way);
}
