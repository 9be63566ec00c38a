//! Every state and signal has exactly one equation in every combination of modes.

use super::{BuildError, Draft};
use crate::system::{AutomatonId, HybridSystem, ModeId, Target, VariableKind};
use saltus_expr::VarId;

/// How a block, with all automata in it, covers a variable.
#[derive(Clone, Debug, PartialEq)]
enum Cover {
    /// By nothing.
    Not,
    /// In all combinations of modes but those with one of these.
    Except(Vec<ModeId>),
    /// By two equations at once.
    Twice,
}

impl Draft {
    pub fn check_structure(&mut self) {
        let empty = self.system.automata.iter().filter(|a| a.modes.is_empty());
        let empty: Vec<BuildError> = empty.map(|a| BuildError::NoMode(a.name.clone())).collect();
        empty.into_iter().for_each(|error| self.refuse(error));
        for k in 0..self.system.variables.len() {
            let v = VarId(k as u32);
            if matches!(self.system.variable(v).kind, VariableKind::State | VariableKind::Signal) {
                self.check_variable(v);
            }
        }
    }

    fn check_variable(&mut self, v: VarId) {
        let system = &self.system;
        let variable = system.variable(v);
        let name = variable.name.clone();
        let state = variable.kind == VariableKind::State;
        let modes = (0..system.modes.len() as u32).map(|m| Some(ModeId(m)));
        let blocks = std::iter::once(None).chain(modes);
        let elsewhere =
            blocks.filter(|&b| defines(system, b, v) > 0 && !is_inside(system, b, variable.owner));
        if elsewhere.count() > 0 {
            return self.refuse(BuildError::OutsideMode(name));
        }
        let error = match cover(system, variable.owner, v) {
            Cover::Except(modes) if modes.is_empty() => return,
            Cover::Except(modes) => {
                let modes = modes.into_iter().map(|m| system.mode_path(m)).collect();
                BuildError::NoEquation { variable: name, state, modes }
            }
            Cover::Not => BuildError::NoEquation { variable: name, state, modes: vec![] },
            Cover::Twice => BuildError::TwoEquations(name),
        };
        self.refuse(error);
    }
}

fn defines(system: &HybridSystem, block: Option<ModeId>, v: VarId) -> usize {
    let equations = system.block(block).equations.iter();
    equations.filter(|e| matches!(e.target, Target::Derivative(w) | Target::Signal(w) if w == v)).count()
}

/// Whether a block is another one or lies inside it.
fn is_inside(system: &HybridSystem, block: Option<ModeId>, outer: Option<ModeId>) -> bool {
    let mut around = block;
    while let Some(m) = around.filter(|_| around != outer) {
        around = system.automaton(system.mode(m).automaton).parent;
    }
    around == outer
}

fn cover(system: &HybridSystem, block: Option<ModeId>, v: VarId) -> Cover {
    let own = (0..defines(system, block, v)).map(|_| Cover::Except(vec![]));
    let automata = system.block(block).automata.iter().map(|&a| automaton_cover(system, a, v));
    let mut covers = own.chain(automata).filter(|c| *c != Cover::Not);
    match (covers.next(), covers.next()) {
        (None, _) => Cover::Not,
        (Some(one), None) => one,
        (Some(_), Some(_)) => Cover::Twice,
    }
}

/// An automaton covers what any of its modes does, except in those that do not.
fn automaton_cover(system: &HybridSystem, automaton: AutomatonId, v: VarId) -> Cover {
    let mut lacking = vec![];
    let mut found = false;
    for &mode in &system.automaton(automaton).modes {
        match cover(system, Some(mode), v) {
            Cover::Twice => return Cover::Twice,
            Cover::Not => lacking.push(mode),
            Cover::Except(modes) => {
                found = true;
                lacking.extend(modes);
            }
        }
    }
    if found { Cover::Except(lacking) } else { Cover::Not }
}
