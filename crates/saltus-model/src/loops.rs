//! Possible loops in zero time: cycles of modes whose guards may all hold at one instant.
//!
//! Only levels can be taken again without time passing: ticks happen once, and a crossing has to be
//! false in between. A cycle is excluded if two of its guards need contradicting bounds of one
//! expression that nothing on the way changes. At a boundary a guard and its opposite may both hold
//! (`x <= 0` still, `x > 0` from here on), so bounds contradict each other only with a gap between
//! them, or if both are strict. Everything else is reported as possible.

use crate::system::{HybridSystem, ModeId, Transition, Trigger, VariableKind};
use saltus_expr::{Binary, Expr, Node, Unary};

/// Cycles reported at most.
const MOST: usize = 32;
/// Longest cycle looked for.
const LONGEST: usize = 12;

/// Cycles of transitions, each by its mode and its position there, that may happen in zero time.
/// `known` are values of parameters, by variable.
pub fn possible_zero_time_loops(system: &HybridSystem, known: &[Option<f64>]) -> Vec<Vec<(ModeId, usize)>> {
    let mut found = Vec::new();
    for automaton in &system.automata {
        for &start in &automaton.modes {
            Search { system, known, start, path: Vec::new(), found: &mut found }.extend(start);
        }
    }
    found
}

struct Search<'a> {
    system: &'a HybridSystem,
    known: &'a [Option<f64>],
    start: ModeId,
    path: Vec<(ModeId, usize)>,
    found: &'a mut Vec<Vec<(ModeId, usize)>>,
}

impl Search<'_> {
    /// Follows all ways out of a mode; a cycle is found from its first mode only.
    fn extend(&mut self, mode: ModeId) {
        let system = self.system;
        for (k, transition) in system.mode(mode).transitions.iter().enumerate() {
            let target = transition.target;
            let returns = target == self.start;
            let is_new = target > self.start && target != mode && !self.path.iter().any(|p| p.0 == target);
            let is_level = matches!(transition.trigger, Trigger::When(_) | Trigger::Else);
            if !is_level || !(returns || is_new) || self.found.len() >= MOST {
                continue;
            }
            self.path.push((mode, k));
            if returns {
                if !self.is_contradictory() {
                    self.found.push(self.path.clone());
                }
            } else if self.path.len() < LONGEST {
                self.extend(target);
            }
            self.path.pop();
        }
    }

    fn transitions(&self) -> impl Iterator<Item = &Transition> {
        self.path.iter().map(|&(m, k)| &self.system.mode(m).transitions[k])
    }

    /// True if two guards of the path cannot both hold.
    fn is_contradictory(&self) -> bool {
        let mut needs = Vec::new();
        for transition in self.transitions() {
            if let Trigger::When(guard) = transition.trigger {
                self.needs(guard, false, &mut needs);
            }
            transition.condition.into_iter().for_each(|c| self.needs(c, false, &mut needs));
        }
        needs.retain(|need| self.stays(need.of));
        needs.iter().enumerate().any(|(i, a)| needs[i + 1..].iter().any(|b| a.contradicts(b)))
    }

    /// Adds what must be so for a formula to hold; alternatives add nothing.
    fn needs(&self, formula: Expr, negate: bool, needs: &mut Vec<Need>) {
        match self.system.graph.node(formula) {
            Node::Unary(Unary::Not, f) => self.needs(f, !negate, needs),
            Node::Binary(op @ (Binary::And | Binary::Or), f, g) if (op == Binary::Or) == negate => {
                self.needs(f, negate, needs);
                self.needs(g, negate, needs);
            }
            Node::Binary(op @ (Binary::Lt | Binary::Le), a, b) => {
                let (low, high) = if negate { (b, a) } else { (a, b) };
                let is_strict = (op == Binary::Lt) != negate;
                if let Some(bound) = self.value(high) {
                    needs.push(Need { of: low, bound, is_upper: true, is_strict });
                } else if let Some(bound) = self.value(low) {
                    needs.push(Need { of: high, bound, is_upper: false, is_strict });
                }
            }
            _ => {}
        }
    }

    /// The value of arithmetic with constants and known parameters.
    fn value(&self, e: Expr) -> Option<f64> {
        match self.system.graph.node(e) {
            Node::Var(v, _) if self.system.variable(v).kind == VariableKind::Parameter => {
                self.known.get(v.index()).copied().flatten()
            }
            Node::Unary(Unary::Neg, a) => self.value(a).map(|a| -a),
            Node::Binary(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    Binary::Add => Some(a + b),
                    Binary::Sub => Some(a - b),
                    Binary::Mul => Some(a * b),
                    Binary::Div => Some(a / b).filter(|q| q.is_finite()),
                    _ => None,
                }
            }
            _ => self.system.graph.constant(e),
        }
    }

    /// True if an expression keeps its value on the way: it reads time, parameters, and states and
    /// memories that no transition and no reaction assigns and no mode starts afresh.
    fn stays(&self, e: Expr) -> bool {
        use VariableKind::{Memory, Parameter, State, Time};
        let system = self.system;
        let blocks = system.modes.iter().map(|m| &m.block).chain([&system.root]);
        let reactions: Vec<_> = blocks.flat_map(|b| &b.reactions).flat_map(|r| &r.actions).collect();
        let transitions: Vec<_> = system.modes.iter().flat_map(|m| &m.transitions).collect();
        system.graph.variables(&[e]).into_iter().all(|v| {
            let variable = system.variable(v);
            let mut actions = transitions.iter().flat_map(|t| &t.actions).chain(reactions.iter().copied());
            match variable.kind {
                Time | Parameter => true,
                State | Memory => variable.owner.is_none() && !actions.any(|a| a.target == v),
                _ => false,
            }
        })
    }
}

/// A bound that a guard needs of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Need {
    of: Expr,
    bound: f64,
    is_upper: bool,
    is_strict: bool,
}

impl Need {
    fn contradicts(&self, other: &Need) -> bool {
        if self.of != other.of || self.is_upper == other.is_upper {
            return false;
        }
        let (upper, lower) = if self.is_upper { (self, other) } else { (other, self) };
        lower.bound > upper.bound || lower.bound == upper.bound && lower.is_strict && upper.is_strict
    }
}
