//! `saltus check`: what a model is, and everything that is wrong with it.

use crate::args::CheckArgs;
use crate::json::{self, Json};
use crate::summary::short;
use crate::{Outcome, output, run};
use saltus::expr::Sort;
use saltus::lang::render::render;
use saltus::model::domains::{InferredDomain, inferred_domains};
use saltus::model::loops::{Cycle, ZeroTimeLoops, possible_zero_time_loops};
use saltus::model::{Assigned, Automaton, Block, ModeId, Span, Trigger, Variable, VariableKind};
use saltus::{Error, Fault, HybridSystem, Model, Place, parameter_values};
use std::io::Write;

/// How much of long lists is shown.
#[derive(Clone, Copy)]
struct Most {
    /// Names in one list.
    names: usize,
    /// Automata, guards and domains.
    lines: usize,
}

impl Most {
    const USUAL: Most = Most { names: 12, lines: 40 };
    const ALL: Most = Most { names: usize::MAX, lines: usize::MAX };
}

const KINDS: [(&str, VariableKind); 4] = [
    ("parameters", VariableKind::Parameter),
    ("states", VariableKind::State),
    ("memories", VariableKind::Memory),
    ("signals", VariableKind::Signal),
];

/// Runs the command.
pub fn check(args: &CheckArgs) -> Outcome {
    let load = || {
        let model = run::load(&args.model)?;
        let checked = model.options()?.check();
        checked.map_err(|error| Error::Run { place: None, error: error.into() })?;
        Ok(model)
    };
    match load() {
        Ok(model) => {
            if args.json {
                output::print_json(|j| Description::new(&model).json(j));
            } else {
                output::complain(&render(model.warnings(), &model.system().sources, output::look()));
                let most = if args.all { Most::ALL } else { Most::USUAL };
                output::print(&Description::new(&model).text(most));
            }
            Outcome::Done
        }
        Err(error) => {
            if args.json {
                output::print_json(|j| refusal(j, &error));
            }
            output::refuse_error(&error, None, false);
            Outcome::BadInput
        }
    }
}

/// The JSON object of a model with errors.
fn refusal<W: Write>(j: &mut Json<W>, error: &Error) {
    j.object(|j| {
        j.key("model").null();
        j.key("status").text("failed");
        j.key("errors").array(|j| error.faults().iter().for_each(|fault| json::fault(j, fault)));
        j.key("warnings").array(|_| {});
    });
}

/// What a guard does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuardKind {
    Urgent,
    May,
    Edge,
    Crossing,
    Time,
    Delay,
    Sample,
    Input,
    Otherwise,
    Invariant,
    Domain,
    Stop,
}

impl GuardKind {
    fn of(trigger: &Trigger, transition: bool, may: bool) -> Self {
        match trigger {
            _ if may => Self::May,
            Trigger::When(_) if transition => Self::Urgent,
            Trigger::When(_) => Self::Edge,
            Trigger::Rises(_) => Self::Crossing,
            Trigger::At(_) => Self::Time,
            Trigger::After(_) => Self::Delay,
            Trigger::Every(_) => Self::Sample,
            Trigger::On(_) => Self::Input,
            Trigger::Else => Self::Otherwise,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Urgent => "level",
            Self::May => "may",
            Self::Edge => "edge",
            Self::Crossing => "crossing",
            Self::Time => "time",
            Self::Delay => "delay",
            Self::Sample => "sample",
            Self::Input => "event",
            Self::Otherwise => "else",
            Self::Invariant => "invariant",
            Self::Domain => "domain",
            Self::Stop => "stop",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Urgent => "taken as soon as true, also on entry",
            Self::May => "enabled, not forced",
            Self::Edge => "fires when it becomes true",
            Self::Crossing => "fires when it has been false before",
            Self::Time => "at a time",
            Self::Delay => "after a delay",
            Self::Sample => "periodic",
            Self::Input => "on an event input",
            Self::Otherwise => "if nothing else is enabled",
            Self::Invariant => "must hold; forces transitions where it ends",
            Self::Domain => "where the model exists",
            Self::Stop => "ends the run",
        }
    }
}

/// A guard with its place.
struct Guard {
    kind: GuardKind,
    /// The mode it stands in; none for the root.
    scope: Option<ModeId>,
    text: String,
    span: Span,
}

/// A model taken apart.
struct Description<'m> {
    model: &'m Model,
    system: &'m HybridSystem,
    known: Vec<Option<f64>>,
    guards: Vec<Guard>,
    domains: Vec<InferredDomain>,
    loops: ZeroTimeLoops,
}

impl<'m> Description<'m> {
    fn new(model: &'m Model) -> Self {
        let system = model.system();
        let known = parameter_values(system);
        let loops = possible_zero_time_loops(system, &known);
        Self { model, system, known, guards: guards(system), domains: inferred_domains(system), loops }
    }

    fn text(&self, most: Most) -> String {
        let system = self.system;
        let file = system.sources.files().first().map_or("", |f| f.path.as_str());
        let mut lines = vec![format!("{} in {file}", system.name)];
        for (what, kind) in KINDS {
            let shown: Vec<String> =
                self.of_kind(kind).take(most.names).map(|(k, v)| self.variable(k, v)).collect();
            let count = self.of_kind(kind).count();
            if count > 0 {
                lines.push(format!("  {what:<11} {count}: {}{}", shown.join(", "), rest(count, shown.len())));
            }
        }
        let automata = self.system.automata.iter().map(|automaton| self.automaton(automaton));
        list(&mut lines, "automata    ", "", automata, most);
        list(&mut lines, "guards      ", "", self.guards.iter().map(|guard| self.guard(guard)), most);
        let domains = self.domains.iter().map(|domain| self.domain(domain));
        list(&mut lines, "domains     ", " inferred", domains, most);
        lines.extend(self.loops.cycles.iter().map(|cycle| self.zero_time_loop(cycle)));
        if !self.loops.is_complete {
            lines.push("  more zero-time loops may be possible: not all cycles were followed".into());
        }
        lines.extend(self.run(most));
        lines.push(match self.model.warnings().len() {
            0 => "no errors, no warnings".into(),
            1 => "no errors, 1 warning".into(),
            many => format!("no errors, {many} warnings"),
        });
        lines.join("\n") + "\n"
    }

    fn of_kind(&self, kind: VariableKind) -> impl Iterator<Item = (usize, &'m Variable)> {
        self.system.variables.iter().enumerate().filter(move |(_, v)| v.kind == kind)
    }

    fn variable(&self, position: usize, variable: &Variable) -> String {
        let mut text = variable.name.clone();
        if let Some(value) = self.known[position] {
            let value = match (variable.sort, variable.start) {
                (_, Some(Assigned::Interval(..))) => format!("about {}", short(value)),
                (Sort::Boolean, _) => (value != 0.0).to_string(),
                _ => short(value),
            };
            text.push_str(&format!(" = {value}"));
        }
        if let Some(unit) = &variable.unit {
            text.push_str(&format!(" [{unit}]"));
        }
        text
    }

    fn automaton(&self, automaton: &Automaton) -> String {
        let modes = automaton.modes.iter().map(|&m| {
            let name = &self.system.mode(m).name;
            if m == automaton.initial { format!("{name} (initial)") } else { name.clone() }
        });
        let modes: Vec<String> = modes.collect();
        let inside = automaton.parent.map(|m| format!(" in {}", self.system.mode_path(m)));
        format!("    {}{}: {}", automaton.name, inside.unwrap_or_default(), modes.join(", "))
    }

    fn guard(&self, guard: &Guard) -> String {
        let line = self.system.sources.line_column(guard.span).0;
        let scope = guard.scope.map(|m| format!("  in {}", self.system.mode_path(m))).unwrap_or_default();
        let (word, meaning) = (guard.kind.word(), guard.kind.meaning());
        format!("    line {line:<4} {word:<9} {}{scope}  ({meaning})", guard.text)
    }

    fn domain(&self, domain: &InferredDomain) -> String {
        let line = self.system.sources.line_column(domain.span).0;
        let scope = domain.mode.map(|m| format!("  in {}", self.system.mode_path(m))).unwrap_or_default();
        let condition = domain.conditions.join(" and ");
        format!("    line {line:<4} {condition}  for {}{scope}", domain.function)
    }

    fn zero_time_loop(&self, path: &Cycle) -> String {
        let (system, first) = (self.system, path[0].0);
        let names = path.iter().map(|p| p.0).chain([first]).map(|m| system.mode(m).name.as_str());
        let line = system.sources.line_column(self.transition_span(path[0])).0;
        let automaton = &system.automaton(system.mode(first).automaton).name;
        let names: Vec<&str> = names.collect();
        format!("  possible zero-time loop of {automaton}, line {line}: {}", names.join(" -> "))
    }

    fn transition_span(&self, (mode, position): (ModeId, usize)) -> Span {
        self.system.mode(mode).transitions[position].span
    }

    fn run(&self, most: Most) -> Option<String> {
        let run = &self.system.run;
        let until = self.model.options().ok().and_then(|options| self.model.stop_time(&options));
        let mut parts: Vec<String> = until.map(|t| format!("until {}", short(t))).into_iter().collect();
        parts.extend(run.settings.iter().map(|(name, value, _)| format!("{name} {value}")));
        for panel in &run.panels {
            let names: Vec<&str> = panel.series.iter().take(most.names).map(|s| s.0.as_str()).collect();
            let over = panel.x.as_ref().map(|x| format!(" over {}", x.0)).unwrap_or_default();
            parts.push(format!("plot {}{}{over}", names.join(", "), rest(panel.series.len(), names.len())));
        }
        (!parts.is_empty()).then(|| format!("  run         {}", parts.join("; ")))
    }

    fn json<W: Write>(&self, j: &mut Json<W>) {
        let system = self.system;
        j.object(|j| {
            j.key("model").text(&system.name);
            j.key("status").text("ok");
            for (what, kind) in KINDS {
                j.key(what).array(|j| self.of_kind(kind).for_each(|(k, v)| self.variable_json(j, k, v)));
            }
            j.key("automata").array(|j| {
                for automaton in &system.automata {
                    j.object(|j| {
                        j.key("name").text(&automaton.name);
                        j.key("inside")
                            .optional_text(automaton.parent.map(|m| system.mode_path(m)).as_deref());
                        j.key("initial").text(&system.mode(automaton.initial).name);
                        let modes = automaton.modes.iter();
                        j.key("modes").array(|j| modes.for_each(|&m| j.text(&system.mode(m).name)));
                    });
                }
            });
            j.key("guards").array(|j| self.guards.iter().for_each(|guard| self.guard_json(j, guard)));
            j.key("domains").array(|j| self.domains.iter().for_each(|domain| self.domain_json(j, domain)));
            j.key("zero_time_loops")
                .array(|j| self.loops.cycles.iter().for_each(|path| self.loop_json(j, path)));
            j.key("zero_time_loops_complete").boolean(self.loops.is_complete);
            j.key("errors").array(|_| {});
            let warnings: Vec<Fault> = self.model.warning_faults();
            j.key("warnings").array(|j| warnings.iter().for_each(|fault| json::fault(j, fault)));
        });
    }

    fn variable_json<W: Write>(&self, j: &mut Json<W>, position: usize, variable: &Variable) {
        let place = Place::of(&self.system.sources, variable.span);
        j.object(|j| {
            j.key("name").text(&variable.name);
            j.key("sort").text(match variable.sort {
                Sort::Real => "real",
                Sort::Integer => "integer",
                Sort::Boolean => "boolean",
            });
            j.key("unit").optional_text(variable.unit.as_deref());
            j.key("value").number(self.known[position].unwrap_or(f64::NAN));
            j.key("file").optional_text(place.as_ref().map(|p| p.file.as_str()));
            j.key("line").optional_integer(place.as_ref().map(|p| p.line.into()));
        });
    }

    fn domain_json<W: Write>(&self, j: &mut Json<W>, domain: &InferredDomain) {
        let place = Place::of(&self.system.sources, domain.span);
        j.object(|j| {
            j.key("function").text(&domain.function);
            j.key("conditions").array(|j| domain.conditions.iter().for_each(|c| j.text(c)));
            j.key("mode").optional_text(domain.mode.map(|m| self.system.mode_path(m)).as_deref());
            j.key("file").optional_text(place.as_ref().map(|p| p.file.as_str()));
            j.key("line").optional_integer(place.as_ref().map(|p| p.line.into()));
        });
    }

    fn loop_json<W: Write>(&self, j: &mut Json<W>, path: &Cycle) {
        let (system, first) = (self.system, path[0].0);
        j.object(|j| {
            j.key("automaton").text(&system.automaton(system.mode(first).automaton).name);
            j.key("modes").array(|j| path.iter().for_each(|p| j.text(&system.mode(p.0).name)));
            j.key("lines").array(|j| {
                for &step in path {
                    let place = Place::of(&system.sources, self.transition_span(step));
                    j.optional_integer(place.map(|p| p.line.into()));
                }
            });
        });
    }

    fn guard_json<W: Write>(&self, j: &mut Json<W>, guard: &Guard) {
        let place = Place::of(&self.system.sources, guard.span);
        j.object(|j| {
            j.key("kind").text(guard.kind.word());
            j.key("text").text(&guard.text);
            j.key("mode").optional_text(guard.scope.map(|m| self.system.mode_path(m)).as_deref());
            j.key("file").optional_text(place.as_ref().map(|p| p.file.as_str()));
            j.key("line").optional_integer(place.as_ref().map(|p| p.line.into()));
        });
    }
}

/// Adds a list of things under their number.
fn list(
    lines: &mut Vec<String>,
    title: &str,
    kind: &str,
    things: impl ExactSizeIterator<Item = String>,
    most: Most,
) {
    let count = things.len();
    if count > 0 {
        lines.push(format!("  {title}{count}{kind}"));
        lines.extend(things.take(most.lines));
    }
    if count > most.lines {
        lines.push(format!("    and {} more (`--all` shows them)", count - most.lines));
    }
}

fn rest(count: usize, shown: usize) -> String {
    if count > shown { format!(", and {} more", count - shown) } else { String::new() }
}

/// All guards in the order of the root and the modes.
fn guards(system: &HybridSystem) -> Vec<Guard> {
    let mut guards = Vec::new();
    block_guards(system, None, &system.root, &mut guards);
    for (k, mode) in system.modes.iter().enumerate() {
        let scope = Some(ModeId(k as u32));
        for t in &mode.transitions {
            let kind = GuardKind::of(&t.trigger, true, t.may);
            guards.push(Guard { kind, scope, text: head(system, t.span), span: t.span });
        }
        block_guards(system, scope, &mode.block, &mut guards);
    }
    guards
}

fn block_guards(system: &HybridSystem, scope: Option<ModeId>, block: &Block, guards: &mut Vec<Guard>) {
    for r in &block.reactions {
        let kind = GuardKind::of(&r.trigger, false, false);
        guards.push(Guard { kind, scope, text: head(system, r.span), span: r.span });
    }
    let conditions = (block.invariants.iter().map(|c| (GuardKind::Invariant, c.span)))
        .chain(block.domains.iter().map(|c| (GuardKind::Domain, c.span)))
        .chain(block.stops.iter().map(|s| (GuardKind::Stop, s.span)));
    guards.extend(conditions.map(|(kind, span)| Guard { kind, scope, text: head(system, span), span }));
}

/// The text of a rule up to its actions, on one line.
fn head(system: &HybridSystem, span: Span) -> String {
    let text = system.sources.text(span);
    let text = text.split('{').next().unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
