//! Equation cycles: signals that depend on themselves in some combination of modes.
//!
//! Signals that can reach each other through any equations are found first, in linear time; only
//! among those is a cycle sought whose equations can all be active together. That search may have
//! to try many combinations of modes, so its effort is bounded; what it does not find the engine
//! meets when it sorts the equations of an actual combination.

use super::Elaborator;
use super::constant::operands;
use crate::{Diagnostic, codes};
use saltus_expr::{Expr, Graph, Node, VarId};
use saltus_model::{AutomatonId, ModeId, Span, Target, VariableKind};
use std::collections::{HashMap, HashSet};

/// Steps of the search for one cycle.
const EFFORT: usize = 20_000;

/// An equation that defines a signal.
struct Definition {
    signal: usize,
    /// Signals its right-hand side reads.
    reads: Vec<usize>,
    /// The mode that every automaton around it must be in.
    modes: Vec<(AutomatonId, ModeId)>,
    span: Span,
}

impl Elaborator<'_> {
    /// Reports one cycle for each group of signals that has one.
    pub(super) fn check_cycles(&mut self) {
        let definitions = self.signal_definitions();
        let mut by_signal: Vec<Vec<usize>> = vec![vec![]; self.system.variables.len()];
        for (k, definition) in definitions.iter().enumerate() {
            by_signal[definition.signal].push(k);
        }
        let mut next: Vec<Vec<usize>> = vec![vec![]; by_signal.len()];
        for definition in &definitions {
            next[definition.signal].extend(&definition.reads);
        }
        for group in components(&next) {
            let looped = group.len() > 1 || next[group[0]].contains(&group[0]);
            if looped && let Some(cycle) = find_cycle(&group, &definitions, &by_signal) {
                self.report_cycle(&cycle, &definitions);
            }
        }
    }

    fn signal_definitions(&self) -> Vec<Definition> {
        let modes = (0..self.system.modes.len() as u32).map(|m| Some(ModeId(m)));
        let mut definitions = Vec::new();
        for owner in std::iter::once(None).chain(modes) {
            let around = self.modes_around(owner);
            for equation in &self.system.block(owner).equations {
                if let Target::Signal(signal) = equation.target {
                    let is_signal = |v: &VarId| self.system.variable(*v).kind == VariableKind::Signal;
                    let read = variables(&self.system.graph, equation.rhs);
                    definitions.push(Definition {
                        signal: signal.index(),
                        reads: read.into_iter().filter(is_signal).map(VarId::index).collect(),
                        modes: around.clone(),
                        span: equation.span,
                    });
                }
            }
        }
        definitions
    }

    fn modes_around(&self, mut owner: Option<ModeId>) -> Vec<(AutomatonId, ModeId)> {
        let mut around = Vec::new();
        while let Some(mode) = owner {
            let automaton = self.system.mode(mode).automaton;
            around.push((automaton, mode));
            owner = self.system.automaton(automaton).parent;
        }
        around
    }

    fn report_cycle(&mut self, cycle: &[usize], definitions: &[Definition]) {
        let name = |k: &usize| self.system.variables[definitions[*k].signal].name.clone();
        let mut names: Vec<String> = cycle.iter().map(name).collect();
        names.extend(names.first().cloned());
        let message = format!("signals depend on themselves: {}", names.join(" -> "));
        let mut diagnostic = Diagnostic::error(codes::EQUATION_CYCLE, definitions[cycle[0]].span, message)
            .hint("a state breaks a cycle; equations that must be solved together are reserved for later");
        for (k, pair) in cycle.iter().zip(names.windows(2)) {
            diagnostic =
                diagnostic.related(definitions[*k].span, format!("`{}` reads `{}`", pair[0], pair[1]));
        }
        self.report(diagnostic);
    }
}

/// The variables an expression reads, each once.
fn variables(graph: &Graph, root: Expr) -> Vec<VarId> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([root]);
    let mut pending = vec![root];
    while let Some(e) = pending.pop() {
        match graph.node(e) {
            Node::Var(v, _) => found.push(v),
            node => pending.extend(operands(node).filter(|o| seen.insert(*o))),
        }
    }
    found
}

/// Strongly connected components (Tarjan), without recursion.
fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut order = vec![NEW; next.len()];
    let mut low = vec![0; next.len()];
    let mut open = vec![false; next.len()];
    let (mut stack, mut found, mut count) = (Vec::new(), Vec::new(), 0);
    for root in 0..next.len() {
        if order[root] != NEW {
            continue;
        }
        let mut frames = vec![(root, 0)];
        while let Some(&mut (node, ref mut edge)) = frames.last_mut() {
            if *edge == 0 {
                order[node] = count;
                low[node] = count;
                count += 1;
                stack.push(node);
                open[node] = true;
            }
            if let Some(&child) = next[node].get(*edge) {
                *edge += 1;
                if order[child] == NEW {
                    frames.push((child, 0));
                } else if open[child] {
                    low[node] = low[node].min(order[child]);
                }
                // Entering happens on the first visit only, even if there is nothing to follow.
                continue;
            }
            frames.pop();
            if let Some(&(parent, _)) = frames.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                let start = stack.iter().rposition(|&n| n == node).unwrap_or(0);
                let group: Vec<usize> = stack.drain(start..).collect();
                group.iter().for_each(|&n| open[n] = false);
                found.push(group);
            }
        }
    }
    found
}

/// A step of the search: the definition taken, how far its reads are followed, and how many
/// choices of modes it added.
struct Step {
    definition: usize,
    edge: usize,
    chosen: usize,
}

/// Definitions that form a cycle and can be active together.
fn find_cycle(group: &[usize], definitions: &[Definition], by_signal: &[Vec<usize>]) -> Option<Vec<usize>> {
    let inside: HashSet<usize> = group.iter().copied().collect();
    let mut effort = 0;
    for &first in group {
        for &start in &by_signal[first] {
            let mut search = Search { definitions, by_signal, inside: &inside, effort: &mut effort };
            if let Some(cycle) = search.from(start) {
                return Some(cycle);
            }
        }
    }
    None
}

struct Search<'s> {
    definitions: &'s [Definition],
    by_signal: &'s [Vec<usize>],
    inside: &'s HashSet<usize>,
    effort: &'s mut usize,
}

impl Search<'_> {
    /// Follows reads depth first, taking back modes that lead nowhere.
    fn from(&mut self, start: usize) -> Option<Vec<usize>> {
        let mut modes: HashMap<AutomatonId, ModeId> = HashMap::new();
        let mut choices: Vec<AutomatonId> = Vec::new();
        let mut position: HashMap<usize, usize> = HashMap::new();
        let mut path: Vec<Step> = Vec::new();
        let mut candidate = Some(start);
        loop {
            if let Some(definition) = candidate.take() {
                let chosen = self.adopt(definition, &mut modes, &mut choices);
                position.insert(self.definitions[definition].signal, path.len());
                path.push(Step { definition, edge: 0, chosen });
            }
            let step = path.last_mut()?;
            *self.effort += 1;
            if *self.effort > EFFORT {
                return None;
            }
            match self.follow(step, &modes) {
                Some(next) => {
                    if let Some(&at) = position.get(&self.definitions[next].signal) {
                        // The same definition must be the one on the path: else it is another mode.
                        if path[at].definition == next {
                            return Some(path[at..].iter().map(|s| s.definition).collect());
                        }
                    } else {
                        candidate = Some(next);
                    }
                }
                None => {
                    let step = path.pop()?;
                    position.remove(&self.definitions[step.definition].signal);
                    for automaton in choices.drain(choices.len() - step.chosen..) {
                        modes.remove(&automaton);
                    }
                }
            }
        }
    }

    /// Fixes the modes a definition needs; returns how many were new.
    fn adopt(
        &self,
        definition: usize,
        modes: &mut HashMap<AutomatonId, ModeId>,
        choices: &mut Vec<AutomatonId>,
    ) -> usize {
        let before = choices.len();
        for &(automaton, mode) in &self.definitions[definition].modes {
            if modes.insert(automaton, mode).is_none() {
                choices.push(automaton);
            }
        }
        choices.len() - before
    }

    /// The next definition of a signal read by a step that fits the modes chosen so far.
    fn follow(&self, step: &mut Step, modes: &HashMap<AutomatonId, ModeId>) -> Option<usize> {
        let reads = &self.definitions[step.definition].reads;
        let mut skip = step.edge;
        for &signal in reads.iter().filter(|s| self.inside.contains(s)) {
            for &next in &self.by_signal[signal] {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                step.edge += 1;
                let fits = |(a, m): &(AutomatonId, ModeId)| modes.get(a).is_none_or(|chosen| chosen == m);
                if self.definitions[next].modes.iter().all(fits) {
                    return Some(next);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn mutual_reach_makes_one_component() {
        let next = vec![vec![1], vec![2], vec![0, 3], vec![], vec![3]];
        let mut groups: Vec<Vec<usize>> = components(&next)
            .into_iter()
            .map(|mut g| {
                g.sort_unstable();
                g
            })
            .collect();
        groups.sort();
        assert_eq!(groups, vec![vec![0, 1, 2], vec![3], vec![4]]);
    }
}
