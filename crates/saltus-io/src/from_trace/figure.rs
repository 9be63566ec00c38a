//! From a run to a figure: curves, modes and events.

use super::modes::ActiveModes;
use super::panels::{self, Curve, Plan, Quantity};
use crate::figure::{Band, Figure, Horizontal, Mark, ModeSpan, Panel, Series};
use crate::graph::label;
use saltus_expr::{Program, VarId};
use saltus_model::{AutomatonId, HybridSystem};
use saltus_sim::{Event, EventKind, Point, Role, Run, Sampling};
use std::collections::HashMap;

/// More automata than this are not drawn.
const MOST_BANDS: usize = 6;
/// Marks nearer to each other than this share of the run look like one.
const NEAREST_MARKS: f64 = 1.0 / 4000.0;
/// Points over the whole run: two for each pixel of a usual picture.
const ACROSS: f64 = 1440.0;
/// Points that may be spent on the insides of short segments.
const INSIDE: usize = 60_000;
/// Points inside a segment that make any polynomial look smooth.
const SMOOTH: usize = 16;
/// Events of a rule that happened more often than this are named once.
const OFTEN: usize = 3;
/// Longer names of reactions are not written at their marks.
const LONGEST_LABEL: usize = 28;

/// Draws a run: the panels its model asks for (or its states), the modes of its automata, and its
/// events. A run that ended early is drawn as far as it came.
///
/// ```
/// use saltus_model::HybridSystem;
/// use saltus_sim::{Options, simulate};
/// let system = HybridSystem::new("Empty");
/// let run = simulate(&system, Options { until: Some(1.0), ..Options::default() })?;
/// assert_eq!(saltus_io::from_trace::figure(&system, &run).title, "Empty");
/// # Ok::<(), saltus_sim::SimError>(())
/// ```
pub fn figure(system: &HybridSystem, run: &Run) -> Figure {
    let plans = panels::plan(system);
    let bands = if system.automata.len() <= MOST_BANDS { bands(system, run) } else { Vec::new() };
    Figure {
        title: system.name.clone(),
        panels: curves(system, run, plans),
        marks: marks(system, run, !bands.is_empty()),
        bands,
        x_label: "time [s]".into(),
    }
}

fn curves(system: &HybridSystem, run: &Run, plans: Vec<Plan>) -> Vec<Panel> {
    let quantities: Vec<Quantity> =
        plans.iter().flat_map(|p| p.curves.iter().chain(&p.x)).map(|c| c.quantity).collect();
    let mut reader = Reader::new(system, &quantities);
    let mut pens: Vec<Pen> = Vec::new();
    let mut slot = 0;
    for plan in &plans {
        let x = plan.x.as_ref().map(|_| slot + plan.curves.len());
        pens.extend((slot..slot + plan.curves.len()).map(|y| Pen { x, y, ..Pen::default() }));
        slot += plan.curves.len() + usize::from(plan.x.is_some());
    }
    let mut modes = ActiveModes::new(system, run);
    let mut branch_ended = false;
    run.trace.walk(sampling(run), |point| {
        modes.advance(point.stamp);
        reader.read(&point, &modes);
        let begins = point.role == Role::Start || branch_ended;
        pens.iter_mut().for_each(|pen| pen.draw(point.stamp.t, begins, &reader.values));
        branch_ended = point.ends_branch;
    });
    let mut drawn = pens.into_iter().map(|pen| pen.pieces);
    plans.into_iter().map(|plan| panel(plan, &mut drawn)).collect()
}

/// Dense enough for the screen in time, and inside each segment as far as their number allows.
fn sampling(run: &Run) -> Sampling {
    let trace = &run.trace;
    let segments: usize = trace.epochs().iter().map(|e| trace.segments(e).len()).sum();
    let least = (INSIDE / segments.max(1)).min(SMOOTH);
    Sampling::Spaced { apart: run.ending.stamp.t / ACROSS, least }
}

fn panel(plan: Plan, drawn: &mut impl Iterator<Item = Vec<Vec<(f64, f64)>>>) -> Panel {
    let units: Vec<Option<String>> = plan.curves.iter().chain(&plan.x).map(|c| c.unit.clone()).collect();
    let series: Vec<Series> = plan
        .curves
        .into_iter()
        .map(|c| Series { label: c.label, unit: c.unit, pieces: drawn.next().unwrap_or_default() })
        .collect();
    let horizontal = match plan.x {
        None => Horizontal::Shared,
        Some(Curve { label, unit, .. }) => {
            let label = crate::figure::with_unit(&label, unit.as_deref());
            let one_unit = units[0].is_some() && units.iter().all(|u| *u == units[0]);
            Horizontal::Own { label, equal_aspect: one_unit && alike(&series) }
        }
    };
    Panel { series, y_label: plan.y_label, horizontal }
}

/// Whether both axes extend about equally far, so that equal scales waste no room.
fn alike(series: &[Series]) -> bool {
    let points = || series.iter().flat_map(|s| s.pieces.iter().flatten());
    let extent = |values: &mut dyn Iterator<Item = f64>| {
        let (lo, hi) = values
            .filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        hi - lo
    };
    let ratio = extent(&mut points().map(|p| p.0)) / extent(&mut points().map(|p| p.1));
    (0.25..=4.0).contains(&ratio)
}

/// Evaluates what the curves show at a point of the trace.
struct Reader {
    program: Program,
    inputs: Vec<u32>,
    registers: Vec<f64>,
    /// For each quantity its variable, or the position of its expression in the program.
    sources: Vec<Quantity>,
    outputs: Vec<usize>,
    /// Variables of each quantity that belong to modes.
    owned: Vec<Vec<VarId>>,
    values: Vec<f64>,
}

impl Reader {
    fn new(system: &HybridSystem, quantities: &[Quantity]) -> Self {
        let expressions: Vec<_> = quantities
            .iter()
            .filter_map(|q| match q {
                Quantity::Expression(e) => Some(*e),
                Quantity::Variable(_) => None,
            })
            .collect();
        let (program, inputs) = Program::new(&system.graph, &expressions);
        let mut position = 0..;
        let outputs = quantities.iter().map(|q| match q {
            Quantity::Expression(_) => program.outputs()[position.next().unwrap_or(0)].index(),
            Quantity::Variable(v) => v.index(),
        });
        let outputs = outputs.collect();
        let owned = quantities.iter().map(|q| {
            let read = match q {
                Quantity::Expression(e) => system.graph.variables(&[*e]),
                Quantity::Variable(v) => vec![*v],
            };
            read.into_iter().filter(|&v| system.variable(v).owner.is_some()).collect()
        });
        Self {
            inputs: inputs.iter().map(|v| v.0).collect(),
            registers: vec![0.0; program.registers()],
            sources: quantities.to_vec(),
            owned: owned.collect(),
            values: vec![0.0; quantities.len()],
            program,
            outputs,
        }
    }

    fn read(&mut self, point: &Point<'_>, modes: &ActiveModes<'_>) {
        self.program.eval(point.values, &self.inputs, &mut self.registers);
        for (k, source) in self.sources.iter().enumerate() {
            let exists = self.owned[k].iter().all(|&v| modes.exists(v));
            let from = match source {
                Quantity::Expression(_) => &self.registers[..],
                Quantity::Variable(_) => point.values,
            };
            self.values[k] = if exists { from[self.outputs[k]] } else { f64::NAN };
        }
    }
}

/// Draws one curve, a piece per interval of continuous flow.
#[derive(Default)]
struct Pen {
    /// Position of the horizontal value; time if absent.
    x: Option<usize>,
    y: usize,
    pieces: Vec<Vec<(f64, f64)>>,
}

impl Pen {
    /// Draws on to the values at `t`, or begins there after a jump or a change of branch; one that does not
    /// show in the values leaves the piece whole.
    fn draw(&mut self, t: f64, begins: bool, values: &[f64]) {
        let point = (self.x.map_or(t, |x| values[x]), values[self.y]);
        let finite = point.0.is_finite() && point.1.is_finite();
        let over_time = self.x.is_none();
        match self.pieces.last_mut() {
            // An empty piece is a gap.
            _ if !finite => {
                if self.pieces.last().is_some_and(|piece| !piece.is_empty()) {
                    self.pieces.push(Vec::new());
                }
            }
            Some(piece) if piece.last() == Some(&point) => {}
            Some(piece) if !begins && !piece.is_empty() => {
                // Where nothing changes the two ends are enough.
                let level = matches!(piece[..], [.., a, b] if a.1 == b.1 && b.1 == point.1);
                if level && over_time {
                    piece.pop();
                }
                piece.push(point);
            }
            _ => self.pieces.push(vec![point]),
        }
    }
}

fn bands(system: &HybridSystem, run: &Run) -> Vec<Band> {
    let names: Vec<String> = system.automata.iter().map(|a| a.name.clone()).collect();
    let names = distinct_ends(&names).into_iter();
    let mut bands: Vec<Band> = names.map(|automaton| Band { automaton, spans: Vec::new() }).collect();
    let mut modes = ActiveModes::new(system, run);
    let mut open: Vec<_> =
        (0..bands.len()).map(|k| modes.mode(AutomatonId(k as u32)).map(|m| (0.0, m))).collect();
    let close = |band: &mut Band, stay: Option<(f64, saltus_model::ModeId)>, t: f64| {
        if let Some((t0, mode)) = stay.filter(|stay| stay.0 < t) {
            band.spans.push(ModeSpan { t0, t1: t, mode: system.mode(mode).name.clone() });
        }
    };
    while let Some(stamp) = modes.next_stamp() {
        for automaton in modes.advance(stamp).to_vec() {
            let k = automaton.index();
            close(&mut bands[k], open[k].take(), stamp.t);
            open[k] = modes.mode(automaton).map(|mode| (stamp.t, mode));
        }
    }
    for (band, stay) in bands.iter_mut().zip(open) {
        close(band, stay, run.ending.stamp.t);
    }
    bands.retain(|band| !band.spans.is_empty());
    bands
}

/// Events other than sampling, which is regular and would hide the others. Transitions have no
/// names here if their modes are drawn, and what happens often is named once.
fn marks(system: &HybridSystem, run: &Run, modes_drawn: bool) -> Vec<Mark> {
    let marked = || run.events.iter().filter(|e| e.kind != EventKind::Sample);
    let mut counts: HashMap<&str, (usize, bool)> = HashMap::new();
    marked().for_each(|event| counts.entry(&event.name).or_default().0 += 1);
    let mut name = |event: &Event| {
        let (count, named) = counts.get_mut(&*event.name)?;
        let again = std::mem::replace(named, true) && *count > OFTEN;
        let short = event.name.chars().count() <= LONGEST_LABEL;
        let shown = match event.transition {
            Some(_) => !modes_drawn && system.automata.len() == 1,
            None => true,
        };
        (shown && short && !again).then(|| label::printed(&event.name))
    };
    let apart = NEAREST_MARKS * run.ending.stamp.t;
    let mut marks: Vec<Mark> = Vec::new();
    for event in marked() {
        let (t, label) = (event.stamp.t, name(event).unwrap_or_default());
        if !label.is_empty() || marks.last().is_none_or(|last| t - last.t > apart) {
            marks.push(Mark { t, label });
        }
    }
    marks
}

/// The shortest ends of dotted names that tell them apart.
fn distinct_ends(names: &[String]) -> Vec<String> {
    let end = |name: &str, parts: usize| {
        let cut = name.rmatch_indices('.').nth(parts - 1).map_or(0, |(at, _)| at + 1);
        name[cut..].to_string()
    };
    let shortest = |name: &String| {
        let all = name.matches('.').count() + 1;
        let unique =
            |parts: &usize| names.iter().filter(|n| end(n, *parts) == end(name, *parts)).count() == 1;
        end(name, (1..=all).find(unique).unwrap_or(all))
    };
    names.iter().map(shortest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_to_what_tells_them_apart() {
        let names = ["Power", "Power.On.Wash.Drum", "Power.On.Wash.Heat", "a.X", "b.X"].map(String::from);
        assert_eq!(distinct_ends(&names), ["Power", "Drum", "Heat", "a.X", "b.X"]);
        assert_eq!(distinct_ends(&["X".to_string(), "a.X".to_string()]), ["X", "a.X"]);
    }
}
