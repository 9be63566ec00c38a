//! What is known before the run: how much an expression may vary, and the values of constants and
//! parameters.

use super::value::{Elaborated, Shape, sort_name};
use super::{Elaborator, Env};
use crate::{Diagnostic, ast, codes};
use saltus_expr::{Binary, Expr, Node, Sort, VarId};
use saltus_model::{Assigned, Assignment, Span, Trigger, VariableKind};
use std::collections::HashSet;

/// When the value of an expression may change, in rising order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Variability {
    Constant,
    /// Fixed for a run.
    Parameter,
    /// Changes only in jumps.
    Discrete,
    /// Changes while time passes.
    Continuous,
}

/// Whole numbers beyond this are not exact in floating point.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

impl Elaborator<'_> {
    /// When the value of an expression may change.
    pub(super) fn variability(&mut self, e: Expr) -> Variability {
        let mut pending = vec![e];
        while let Some(&next) = pending.last() {
            if self.variability.contains_key(&next) {
                pending.pop();
                continue;
            }
            let node = self.system.graph.node(next);
            let unknown = pending.len();
            pending.extend(operands(node).filter(|o| !self.variability.contains_key(o)));
            if pending.len() > unknown {
                continue;
            }
            let own = match node {
                Node::Var(v, _) => kind_variability(self.system.variable(v).kind),
                _ => operands(node).map(|o| self.variability[&o]).max().unwrap_or(Variability::Constant),
            };
            self.variability.insert(next, own);
        }
        self.variability[&e]
    }

    /// The value of an expression over constants and parameters; `None` if it varies or if a
    /// parameter has no usable value.
    pub(super) fn constant(&mut self, e: Expr) -> Option<f64> {
        let mut pending = vec![(e, false)];
        while let Some((e, ready)) = pending.pop() {
            if self.constants.contains_key(&e) {
                continue;
            }
            if self.variability(e) > Variability::Parameter {
                self.constants.insert(e, None);
                continue;
            }
            let node = self.system.graph.node(e);
            if !ready {
                pending.push((e, true));
                match node {
                    Node::Var(v, _) => pending.extend(self.start_value(v).map(|s| (s, false))),
                    _ => pending.extend(operands(node).map(|o| (o, false))),
                }
                continue;
            }
            let value = match node {
                Node::Const(bits, _) => Some(f64::from_bits(bits)),
                Node::Var(v, _) => self.start_value(v).and_then(|s| self.known(s)),
                _ => self.fold(node),
            };
            self.constants.insert(e, value);
        }
        self.known(e)
    }

    fn known(&self, e: Expr) -> Option<f64> {
        self.constants.get(&e).copied().flatten()
    }

    fn start_value(&self, v: VarId) -> Option<Expr> {
        match self.system.variable(v).start {
            Some(Assigned::Value(e)) => Some(e),
            _ => None,
        }
    }

    /// The value of an operation on known operands: the operation is built again on constants,
    /// which folds it with the same arithmetic the run uses.
    fn fold(&mut self, node: Node) -> Option<f64> {
        let mut constants = Vec::with_capacity(3);
        for operand in operands(node) {
            let value = self.known(operand)?;
            let sort = self.system.graph.sort(operand);
            constants.push(self.graph().intern(Node::Const(value.to_bits(), sort)));
        }
        let graph = &mut self.system.graph;
        let folded = match (node, constants.as_slice()) {
            (Node::Unary(op, _), &[a]) => graph.unary(op, a),
            (Node::Binary(op, ..), &[a, b]) => graph.binary(op, a, b),
            (Node::Powi(_, n), &[a]) => graph.powi(a, n),
            (Node::Select(..), &[c, a, b]) => graph.select(c, a, b),
            (Node::Table1(t, _), &[a]) => graph.table1(t, a),
            (Node::Table2(t, ..), &[a, b]) => graph.table2(t, a, b),
            _ => return None,
        };
        graph.constant(folded)
    }

    /// The value of an expression that must be a whole number known before the run. Parameters it
    /// reads become structural: the run can no longer change them.
    pub(super) fn whole_number(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<i64> {
        let value = self.number(env, tree)?;
        if value.fract() == 0.0 && value.abs() <= LARGEST_WHOLE {
            return Ok(value as i64);
        }
        let message = format!("a whole number is needed here, and this is {value}");
        Err(self.report(Diagnostic::error(codes::WRONG_SORT, tree.span, message)))
    }

    /// The value of an expression that must be a number known before the run.
    pub(super) fn number(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<f64> {
        let value = self.expr(env.plain(), tree)?;
        if value.shape != Shape::Scalar {
            let message = format!("a single value is needed here, and this is {}", value.shape);
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, tree.span, message)));
        }
        if value.sort == Sort::Boolean {
            let message = format!("a number is needed here, and this is {}", sort_name(value.sort));
            return Err(self.report(Diagnostic::error(codes::WRONG_SORT, tree.span, message)));
        }
        self.structural_value(value.items[0], tree.span)
    }

    /// The value of an expression that the structure of the model depends on.
    pub(super) fn structural_value(&mut self, e: Expr, span: Span) -> Elaborated<f64> {
        if let Some(number) = self.system.graph.constant(e) {
            return Ok(number);
        }
        if let Some(value) = self.constant(e) {
            self.mark_structural(e);
            return Ok(value);
        }
        let fixed = self.variability(e) <= Variability::Parameter;
        let message = if fixed {
            "the value of this is not known before the run"
        } else {
            "this changes during the run, but its value is needed before"
        };
        Err(self.report(
            Diagnostic::error(codes::NOT_CONSTANT, span, message)
                .hint("sizes, indices and ranges may use numbers, running indices and parameters"),
        ))
    }

    fn mark_structural(&mut self, e: Expr) {
        let mut pending = vec![e];
        while let Some(e) = pending.pop() {
            match self.system.graph.node(e) {
                Node::Var(v, _) => {
                    if self.structural.insert(v) {
                        pending.extend(self.start_value(v));
                    }
                }
                node => pending.extend(operands(node)),
            }
        }
    }

    /// Reports remainders of divisions by parameters that are zero. A run cannot get past them, and
    /// where it stands is no help to find them. What a parameter turns off does not count.
    pub(super) fn check_remainders(&mut self) {
        let mut roots: Vec<(Expr, Span)> = Vec::new();
        for mode in &self.system.modes {
            for t in &mode.transitions {
                let expressions = rule_expressions(&t.trigger, t.condition, &t.actions);
                roots.extend(expressions.into_iter().map(|e| (e, t.span)));
            }
        }
        for block in self.system.modes.iter().map(|m| &m.block).chain([&self.system.root]) {
            roots.extend(block.equations.iter().map(|q| (q.rhs, q.span)));
            for r in &block.reactions {
                let expressions = rule_expressions(&r.trigger, r.condition, &r.actions);
                roots.extend(expressions.into_iter().map(|e| (e, r.span)));
            }
            roots.extend(block.invariants.iter().chain(&block.domains).map(|c| (c.formula, c.span)));
            roots.extend(block.stops.iter().map(|s| (s.formula, s.span)));
        }
        let mut seen = HashSet::new();
        for (root, span) in roots {
            let mut pending = vec![root];
            while let Some(e) = pending.pop() {
                if !seen.insert(e) {
                    continue;
                }
                let node = self.system.graph.node(e);
                match node {
                    Node::Binary(Binary::Mod, _, by) if self.constant(by) == Some(0.0) => {
                        self.division_by_zero(by, span);
                    }
                    Node::Select(c, yes, no) => match self.constant(c) {
                        Some(known) => pending.push(if known != 0.0 { yes } else { no }),
                        None => pending.extend(operands(node)),
                    },
                    _ => pending.extend(operands(node)),
                }
            }
        }
    }

    fn division_by_zero(&mut self, by: Expr, span: Span) {
        let name = |v: VarId| self.system.variable(v).name.clone();
        let by = self.system.graph.display(by, &name).to_string();
        let message = format!("nothing has a remainder after division by `{by}`, which is 0");
        self.report(Diagnostic::error(codes::NOT_FINITE, span, message));
    }

    /// Reports parameters and starting values that are not finite numbers.
    pub(super) fn check_constants(&mut self) {
        for k in 0..self.system.variables.len() {
            let variable = &self.system.variables[k];
            let (name, span) = (variable.name.clone(), variable.span);
            let bounds = match variable.start {
                Some(Assigned::Value(e)) => vec![e],
                Some(Assigned::Interval(a, b)) => vec![a, b],
                None => vec![],
            };
            for e in bounds {
                let known = self.variability(e) <= Variability::Parameter;
                if known && self.constant(e).is_none_or(|v| !v.is_finite()) {
                    let message = format!("the value of `{name}` is not a finite number");
                    self.report(Diagnostic::error(codes::NOT_FINITE, span, message));
                }
            }
        }
    }
}

/// The expressions of a rule: what triggers it, a further condition, and what it assigns.
fn rule_expressions(trigger: &Trigger, condition: Option<Expr>, actions: &[Assignment]) -> Vec<Expr> {
    let trigger = match *trigger {
        Trigger::When(e) | Trigger::Rises(e) | Trigger::At(e) | Trigger::After(e) | Trigger::Every(e) => {
            Some(e)
        }
        Trigger::On(_) | Trigger::Else => None,
    };
    let assigned = actions.iter().flat_map(|a| match a.value {
        Assigned::Value(e) => [Some(e), None],
        Assigned::Interval(low, high) => [Some(low), Some(high)],
    });
    trigger.into_iter().chain(condition).chain(assigned.flatten()).collect()
}

fn kind_variability(kind: VariableKind) -> Variability {
    match kind {
        VariableKind::Parameter => Variability::Parameter,
        VariableKind::Memory | VariableKind::InMode(_) | VariableKind::EntryTime(_) => Variability::Discrete,
        VariableKind::Time | VariableKind::State | VariableKind::Signal => Variability::Continuous,
    }
}

/// The operands of a node.
pub(super) fn operands(node: Node) -> impl Iterator<Item = Expr> {
    let list: [Option<Expr>; 3] = match node {
        Node::Const(..) | Node::Var(..) => [None; 3],
        Node::Unary(_, a) | Node::Powi(a, _) | Node::Table1(_, a) => [Some(a), None, None],
        Node::Binary(_, a, b) | Node::Table2(_, a, b) => [Some(a), Some(b), None],
        Node::Select(c, a, b) => [Some(c), Some(a), Some(b)],
    };
    list.into_iter().flatten()
}
