//! What there is to show of a model: a tree of components, automata and modes.
//!
//! Names are local, so that instances of one component become equal trees; equal neighbours of an
//! array are shown once with their number. An equation that connects components is shown in the box
//! around them.

use crate::graph::{GraphOptions, label};
use saltus_expr::VarId;
use saltus_model::{AutomatonId, Block, HybridSystem, Instance, ModeId, Target};
use std::collections::HashMap;

/// A component instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Its name, for the root the name of the model.
    pub title: String,
    /// The component it is an instance of.
    pub class: String,
    /// How many equal ones this stands for.
    pub copies: usize,
    /// Equations and reactions.
    pub lines: Vec<String>,
    /// Automata that run side by side.
    pub charts: Vec<Chart>,
    /// Components inside.
    pub parts: Vec<Part>,
}

/// An automaton.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Its name; empty for one without a name of its own.
    pub title: String,
    /// Its modes.
    pub states: Vec<State>,
    /// Its transitions.
    pub arrows: Vec<Arrow>,
    /// The mode it starts in.
    pub initial: usize,
}

/// A mode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Equations, reactions and conditions.
    pub lines: Vec<String>,
    /// Automata inside.
    pub charts: Vec<Chart>,
    /// Components inside.
    pub parts: Vec<Part>,
}

/// A transition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrow {
    /// Position of the mode it leaves.
    pub from: usize,
    /// Position of the mode it enters.
    pub to: usize,
    /// What is written at it.
    pub label: Vec<String>,
    /// Enabled, not forced.
    pub may: bool,
    /// Enters by history.
    pub history: bool,
}

/// The outline of a system.
pub fn of(system: &HybridSystem, options: &GraphOptions) -> Part {
    let mut owner = vec![0; system.automata.len()];
    for (k, instance) in system.instances.iter().enumerate() {
        for automaton in &instance.automata {
            if let Some(slot) = owner.get_mut(automaton.index()) {
                *slot = k;
            }
        }
    }
    let outliner = Outliner { system, options, owner, home: homes(system) };
    match system.instances.first() {
        Some(_) => outliner.part(0),
        None => Part { title: system.name.clone(), copies: 1, ..Part::default() },
    }
}

/// The part of a dotted name after the last dot.
fn local(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The name of an automaton; none for one its author gave no name.
fn chart_title(name: &str) -> &str {
    let title = local(name);
    let unnamed =
        title.strip_prefix("automaton").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
    if unnamed { "" } else { title }
}

struct Outliner<'a> {
    system: &'a HybridSystem,
    options: &'a GraphOptions,
    /// The instance each automaton belongs to.
    owner: Vec<usize>,
    /// The instance each variable belongs to.
    home: Vec<usize>,
}

/// For every variable the innermost instance whose path begins its name.
fn homes(system: &HybridSystem) -> Vec<usize> {
    let paths: HashMap<&str, usize> =
        system.instances.iter().enumerate().map(|(k, instance)| (instance.path.as_str(), k)).collect();
    let home = |name: &str| {
        let dots = name.rmatch_indices('.').map(|(dot, _)| dot);
        dots.filter_map(|dot| paths.get(&name[..dot]).copied()).next().unwrap_or(0)
    };
    system.variables.iter().map(|variable| home(&variable.name)).collect()
}

impl Outliner<'_> {
    fn part(&self, k: usize) -> Part {
        let instance = &self.system.instances[k];
        let title = if k == 0 { &instance.class } else { local(&instance.path) };
        let (mut lines, mut parts) = (self.own_lines(k), vec![]);
        let inside = |other: &Instance| other.parent == Some(k as u32) && other.mode == instance.mode;
        for child in self.instances(inside) {
            let mut part = self.part(child);
            move_connections(&mut part, &mut lines);
            parts.push(part);
        }
        let parts = merge_copies(parts, &mut lines);
        let in_same_block =
            |a: &AutomatonId| self.owner[a.index()] == k && self.system.automaton(*a).parent == instance.mode;
        let automata = self.system.block(instance.mode).automata.iter().copied().filter(in_same_block);
        let charts = automata.map(|a| self.chart(a)).collect();
        let class = if k == 0 { String::new() } else { instance.class.clone() };
        Part { title: title.into(), class, copies: 1, lines, charts, parts }
    }

    fn instances(&self, wanted: impl Fn(&Instance) -> bool) -> Vec<usize> {
        let all = self.system.instances.iter().enumerate().skip(1);
        all.filter(|(_, instance)| wanted(instance)).map(|(k, _)| k).collect()
    }

    /// Lines of the block an instance lives in that speak of its own variables.
    fn own_lines(&self, k: usize) -> Vec<String> {
        let block = self.system.block(self.system.instances[k].mode);
        let mut lines = self.lines(block, |v| self.home[v.index()] == k);
        if k == 0 {
            lines.extend(self.conditions(block));
        }
        lines
    }

    fn lines(&self, block: &Block, owns: impl Fn(VarId) -> bool) -> Vec<String> {
        if !self.options.equations {
            return vec![];
        }
        let mut lines: Vec<String> = Vec::new();
        let mut add = |line: String| {
            if !lines.contains(&line) {
                lines.push(line);
            }
        };
        for equation in &block.equations {
            let (Target::Derivative(v) | Target::Signal(v)) = equation.target;
            if owns(v) {
                add(label::equation(self.system, equation));
            }
        }
        for reaction in &block.reactions {
            if reaction.actions.first().is_none_or(|a| owns(a.target)) {
                add(label::reaction(self.system, reaction));
            }
        }
        lines
    }

    fn conditions(&self, block: &Block) -> Vec<String> {
        if !self.options.equations {
            return vec![];
        }
        let line = |word: &str, formula, span| label::condition(self.system, word, formula, span);
        let invariants = block.invariants.iter().map(|c| line("invariant", c.formula, c.span));
        let domains = block.domains.iter().map(|c| line("domain", c.formula, c.span));
        let stops = block.stops.iter().map(|s| line("stop when", s.formula, s.span));
        invariants.chain(domains).chain(stops).collect()
    }

    fn chart(&self, id: AutomatonId) -> Chart {
        let automaton = self.system.automaton(id);
        let position = |mode: ModeId| automaton.modes.iter().position(|&m| m == mode);
        let states = automaton.modes.iter().map(|&m| self.state(m)).collect();
        let mut arrows = Vec::new();
        for (from, &mode) in automaton.modes.iter().enumerate() {
            for transition in &self.system.mode(mode).transitions {
                let Some(to) = position(transition.target) else { continue };
                let label = label::transition(self.system, transition);
                arrows.push(Arrow { from, to, label, may: transition.may, history: transition.history });
            }
        }
        let initial = position(automaton.initial).unwrap_or(0);
        Chart { title: chart_title(&automaton.name).into(), states, arrows, initial }
    }

    fn state(&self, id: ModeId) -> State {
        let mode = self.system.mode(id);
        let home = self.owner[mode.automaton.index()];
        let in_mode = |k: Option<u32>| {
            k.and_then(|k| self.system.instances.get(k as usize)).is_some_and(|i| i.mode == Some(id))
        };
        let inside = self.instances(|other| other.mode == Some(id) && !in_mode(other.parent));
        let belongs = |v: VarId| self.system.instances[self.home[v.index()]].mode != Some(id);
        let mut lines = self.lines(&mode.block, belongs);
        lines.extend(self.conditions(&mode.block));
        let mut parts: Vec<Part> = inside.into_iter().map(|k| self.part(k)).collect();
        parts.iter_mut().for_each(|part| move_connections(part, &mut lines));
        let own = mode.block.automata.iter().copied().filter(|a| self.owner[a.index()] == home);
        let charts = own.map(|a| self.chart(a)).collect();
        let parts = merge_copies(parts, &mut lines);
        State { name: mode.name.clone(), lines, charts, parts }
    }
}

/// Moves lines that name a component from outside, as in `room.ambient = 5`, to the box around it.
fn move_connections(part: &mut Part, outer: &mut Vec<String>) {
    let base = base_name(&part.title).to_string();
    let from_outside =
        |line: &String| line.strip_prefix(base.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']));
    let (moved, kept) = std::mem::take(&mut part.lines).into_iter().partition(from_outside);
    part.lines = kept;
    add_new(outer, moved);
}

fn add_new(lines: &mut Vec<String>, more: Vec<String>) {
    for line in more {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
}

/// `rooms[2]` belongs to `rooms`.
fn base_name(title: &str) -> &str {
    title.split('[').next().unwrap_or(title)
}

/// Joins neighbours of one array with the same inside; lines they do not share go to the box around.
fn merge_copies(parts: Vec<Part>, outer: &mut Vec<String>) -> Vec<Part> {
    let alike = |a: &Part, b: &Part| {
        a.title.contains('[')
            && base_name(&a.title) == base_name(&b.title)
            && (&a.class, &a.charts, &a.parts) == (&b.class, &b.charts, &b.parts)
    };
    let join = |group: &[Part]| {
        let (first, last) = (&group[0], &group[group.len() - 1]);
        let mut joined = first.clone();
        if group.len() > 1 {
            joined.copies = group.len();
            joined.title = array_title(&first.title, &last.title);
            let shared = |line: &String| group.iter().all(|part| part.lines.contains(line));
            let all: Vec<String> = group.iter().flat_map(|part| part.lines.iter().cloned()).collect();
            joined.lines.retain(&shared);
            add_new(outer, all.into_iter().filter(|line| !shared(line)).collect());
        }
        joined
    };
    parts.chunk_by(alike).map(join).collect()
}

/// `rooms[1]` to `rooms[3]` are `rooms[1..3]`.
fn array_title(first: &str, last: &str) -> String {
    let index =
        |title: &str| title.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']').map(str::to_string));
    match (index(first), index(last)) {
        (Some(from), Some(to)) if !from.contains(['[', ',']) => format!("{}[{from}..{to}]", base_name(first)),
        _ => format!("{first} … {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(title: &str, lines: &[&str]) -> Part {
        let lines = lines.iter().map(|l| l.to_string()).collect();
        Part { title: title.into(), class: "Room".into(), copies: 1, lines, ..Part::default() }
    }

    #[test]
    fn equal_neighbours_are_shown_once() {
        let parts = vec![
            part("rooms[1]", &["x′ = u", "u = 5"]),
            part("rooms[2]", &["x′ = u", "u = y"]),
            part("hall", &[]),
        ];
        let mut outer = vec![];
        let merged = merge_copies(parts, &mut outer);
        assert_eq!(merged.len(), 2);
        assert_eq!((merged[0].title.as_str(), merged[0].copies), ("rooms[1..2]", 2));
        assert_eq!(merged[0].lines, ["x′ = u"]);
        assert_eq!(outer, ["u = 5", "u = y"]);
    }

    #[test]
    fn connections_belong_to_the_box_around() {
        let mut room = part("room", &["room.ambient = 5", "x′ = ambient"]);
        let mut outer = vec![];
        move_connections(&mut room, &mut outer);
        assert_eq!(
            (room.lines, outer),
            (vec!["x′ = ambient".to_string()], vec!["room.ambient = 5".to_string()])
        );
    }
}
