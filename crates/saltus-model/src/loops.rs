//! Possible loops in zero time: cycles of modes whose guards may all hold at one instant.
//!
//! Only levels can be taken again without time passing: ticks happen once, and a crossing has to be
//! false in between. A cycle is excluded if two of its guards need bounds of one expression with a gap
//! between them, and nothing changes that expression. Without a gap both can hold: at a boundary
//! `x <= 0` is still true and `x > 0` already, and `x < 0` in a mode in which x falls does not exclude
//! `x > 0` in one in which it rises. Everything that is not excluded is reported as possible.

use crate::system::{HybridSystem, ModeId, Transition, Trigger, VariableKind};
use saltus_expr::{Binary, Expr, Node, Unary};

/// Cycles reported at most.
const MOST: usize = 32;
/// Longest cycle looked for.
const LONGEST: usize = 12;
/// Transitions followed at most.
const EFFORT: usize = 100_000;

/// A cycle of transitions, each by its mode and its position there.
pub type Cycle = Vec<(ModeId, usize)>;

/// The cycles of modes that may happen in zero time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZeroTimeLoops {
    /// Each cycle once, from its first mode.
    pub cycles: Vec<Cycle>,
    /// True if all cycles were followed to their end, so that there are no others.
    pub is_complete: bool,
}

/// Cycles of transitions of one automaton that may happen in zero time. `known` are values of
/// parameters, by variable.
pub fn possible_zero_time_loops(system: &HybridSystem, known: &[Option<f64>]) -> ZeroTimeLoops {
    let changing = changing(system);
    let found = ZeroTimeLoops { cycles: Vec::new(), is_complete: true };
    let (path, needs) = Default::default();
    let mut search = Search { system, known, changing, path, needs, found, effort: 0 };
    for automaton in &system.automata {
        for &start in &automaton.modes {
            search.extend(start, start);
        }
    }
    search.found
}

/// For each variable, whether it can change without time passing: all but time, parameters, and
/// states and memories of the root that nothing assigns.
fn changing(system: &HybridSystem) -> Vec<bool> {
    let stays = |kind| {
        matches!(
            kind,
            VariableKind::Time | VariableKind::Parameter | VariableKind::State | VariableKind::Memory
        )
    };
    let mut changing: Vec<bool> =
        system.variables.iter().map(|v| !stays(v.kind) || v.owner.is_some()).collect();
    let blocks = system.modes.iter().map(|m| &m.block).chain([&system.root]);
    let reactions = blocks.flat_map(|b| &b.reactions).flat_map(|r| &r.actions);
    let transitions = system.modes.iter().flat_map(|m| &m.transitions).flat_map(|t| &t.actions);
    for action in reactions.chain(transitions) {
        changing[action.target.index()] = true;
    }
    changing
}

struct Search<'a> {
    system: &'a HybridSystem,
    known: &'a [Option<f64>],
    changing: Vec<bool>,
    path: Cycle,
    /// What the guards on the path need.
    needs: Vec<Need>,
    found: ZeroTimeLoops,
    effort: usize,
}

impl Search<'_> {
    /// Follows all ways out of a mode that do not contradict the path; a cycle is found from its
    /// first mode only.
    fn extend(&mut self, start: ModeId, mode: ModeId) {
        let system = self.system;
        for (k, transition) in system.mode(mode).transitions.iter().enumerate() {
            let target = transition.target;
            let returns = target == start;
            let is_new = target > start && target != mode && !self.path.iter().any(|p| p.0 == target);
            let is_level = matches!(transition.trigger, Trigger::When(_) | Trigger::Else);
            if !is_level || !(returns || is_new) {
                continue;
            }
            self.effort += 1;
            let is_enough = self.found.cycles.len() >= MOST || self.effort > EFFORT;
            if is_enough || !returns && self.path.len() + 1 >= LONGEST {
                self.found.is_complete = false;
                continue;
            }
            let before = self.needs.len();
            self.path.push((mode, k));
            if self.adds_no_contradiction(transition) {
                if returns {
                    self.found.cycles.push(self.path.clone());
                } else {
                    self.extend(start, target);
                }
            }
            self.path.pop();
            self.needs.truncate(before);
        }
    }

    /// Adds what a transition needs; false if it contradicts what the path needs.
    fn adds_no_contradiction(&mut self, transition: &Transition) -> bool {
        let before = self.needs.len();
        let mut needs = std::mem::take(&mut self.needs);
        if let Trigger::When(guard) = transition.trigger {
            self.needs(guard, false, &mut needs);
        }
        transition.condition.into_iter().for_each(|c| self.needs(c, false, &mut needs));
        self.needs = needs;
        let fits = |(k, need): (usize, &Need)| !self.needs[..k].iter().any(|n| n.contradicts(need));
        self.needs.iter().enumerate().skip(before).all(fits)
    }

    /// Adds what must be so for a formula to hold; alternatives add nothing.
    fn needs(&self, formula: Expr, negate: bool, needs: &mut Vec<Need>) {
        match self.system.graph.node(formula) {
            Node::Unary(Unary::Not, f) => self.needs(f, !negate, needs),
            Node::Binary(op @ (Binary::And | Binary::Or), f, g) if (op == Binary::Or) == negate => {
                self.needs(f, negate, needs);
                self.needs(g, negate, needs);
            }
            Node::Binary(Binary::Lt | Binary::Le, a, b) => {
                let (low, high) = if negate { (b, a) } else { (a, b) };
                let need = match (self.value(low), self.value(high)) {
                    (_, Some(bound)) => Need { of: low, bound, is_upper: true },
                    (Some(bound), None) => Need { of: high, bound, is_upper: false },
                    (None, None) => return,
                };
                if self.stays(need.of) {
                    needs.push(need);
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

    /// True if an expression keeps its value on the way.
    fn stays(&self, e: Expr) -> bool {
        self.system.graph.variables(&[e]).into_iter().all(|v| !self.changing[v.index()])
    }
}

/// A bound that a guard needs of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Need {
    of: Expr,
    bound: f64,
    is_upper: bool,
}

impl Need {
    fn contradicts(&self, other: &Need) -> bool {
        let (upper, lower) = if self.is_upper { (self, other) } else { (other, self) };
        self.of == other.of && self.is_upper != other.is_upper && lower.bound > upper.bound
    }
}
