//! Expressions: from syntax trees to values over the expression graph.

use super::arithmetic::join_sorts;
use super::items::Items;
use super::scope::{Cells, Selection};
use super::value::{Elaborated, Measure, Reported, Shape, Value, sort_name};
use super::{Elaborator, Env, Local};
use crate::ast::{self, BinaryOp, DeclarationKind, ExprKind, UnaryOp};
use crate::{Diagnostic, codes};
use saltus_expr::{Expr, Sort, Unary, VarId};
use saltus_model::{ModeId, Span, Variable, VariableKind};

/// How deeply expressions, calls and declarations may lead to one another.
const DEEPEST: usize = 200;

/// Whole literals up to this size are Integers; beyond it neighbours are no longer exact.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

impl<'a> Elaborator<'a> {
    /// The value of an expression.
    pub(super) fn expr(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Value> {
        self.spend(1, tree.span)?;
        if self.depth >= DEEPEST {
            let message = "this expression leads through too many levels of expressions and functions";
            return Err(self.report(Diagnostic::error(codes::TOO_DEEP, tree.span, message)));
        }
        self.depth += 1;
        let value = self.expr_kind(env, tree);
        self.depth -= 1;
        value
    }

    /// The value of an expression that must be a single value.
    pub(super) fn scalar(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Value> {
        let value = self.expr(env, tree)?;
        if value.shape == Shape::Scalar {
            return Ok(value);
        }
        let message = format!("a single value is needed here, and this is {}", value.shape);
        Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, tree.span, message)))
    }

    /// The values of several expressions; all are looked at, so that what is wrong in any is reported.
    pub(super) fn all(&mut self, trees: &[ast::Expr], env: Env<'_>) -> Elaborated<Vec<Value>> {
        let mut values = Vec::with_capacity(trees.len());
        for tree in trees {
            values.extend(self.expr(env, tree));
        }
        if values.len() == trees.len() { Ok(values) } else { Err(Reported) }
    }

    fn expr_kind(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Value> {
        match &tree.kind {
            ExprKind::Number { value, integer, unit } => {
                self.literal(*value, *integer, unit.as_ref(), tree.span)
            }
            ExprKind::Boolean(value) => {
                let item = self.graph().boolean(*value);
                Ok(Value::scalar(item, Sort::Boolean, Measure::Plain))
            }
            ExprKind::Text(_) => {
                let message = "text has no value here; it names files, columns and kinds of interpolation";
                Err(self.report(Diagnostic::error(codes::WRONG_SORT, tree.span, message)))
            }
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) => self.read(env, tree),
            ExprKind::Prime(inner) => self.derivative(env, inner, tree.span),
            ExprKind::Call { function, arguments, named } => {
                self.call(env, function, arguments, named, tree.span)
            }
            ExprKind::Comprehension { function, value, variable, from, to } => {
                let items = self.family(env, value, variable, (from, to), tree.span)?;
                self.collect(&function.text, items, function.span, tree.span)
            }
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let value = self.expr(env.plain(), inner)?;
                self.numeric(&value, inner.span)?;
                self.map(Unary::Neg, &value, value.measure, tree.span)
            }
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let value = self.expr(env, inner)?;
                self.boolean(&value, inner.span)?;
                self.map(Unary::Not, &value, Measure::Plain, tree.span)
            }
            ExprKind::Binary(..) => self.chain_of_operators(env, tree),
            ExprKind::Compare(operands, operators) => {
                self.chain_of_comparisons(env, operands, operators, tree.span)
            }
            ExprKind::If(condition, yes, no) => self.choice(env, condition, yes, no, tree.span),
            ExprKind::Array(items) => self.array(env, items, tree.span),
            ExprKind::Range(..) => {
                let message = "a range has its place in an index or after `in`";
                Err(self.report(Diagnostic::error(codes::MISPLACED, tree.span, message)))
            }
        }
    }

    fn literal(
        &mut self,
        value: f64,
        integer: bool,
        unit: Option<&ast::Unit>,
        span: Span,
    ) -> Elaborated<Value> {
        let Some(unit) = unit else {
            return Ok(if integer && value.abs() <= LARGEST_INTEGER {
                let item = self.graph().integer(value as i64);
                Value::scalar(item, Sort::Integer, Measure::Plain)
            } else {
                let item = self.graph().real(value);
                Value::scalar(item, Sort::Real, Measure::Plain)
            });
        };
        let scaled = self.unit(unit)?;
        let item = self.graph().real(scaled.to_si(value));
        self.finite(&[item], span)?;
        Ok(Value::scalar(item, Sort::Real, Measure::Known(scaled.dimension)))
    }

    /// The value of a path.
    fn read(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Value> {
        let what = match self.select(env, tree)? {
            Selection::Value(value) => return Ok(value),
            Selection::Cells(cells) => return Ok(self.read_cells(&cells)),
            Selection::Mode(mode) => return Ok(self.in_mode(mode)),
            Selection::Instances(..) => "a component",
            Selection::Automaton(_) => "an automaton",
            Selection::Event(_) => "an event",
        };
        let text = self.sources.text(tree.span).to_string();
        let hint = match what {
            "a component" => "name one of its variables after a dot",
            "an automaton" => "name one of its modes after a dot: it is true while the mode is active",
            _ => "react to it with `on`",
        };
        let message = format!("`{text}` is {what}, not a value");
        Err(self.report(Diagnostic::error(codes::WRONG_SORT, tree.span, message).hint(hint)))
    }

    /// The values of selected variables.
    pub(super) fn read_cells(&mut self, cells: &Cells) -> Value {
        let name = self.declarations[cells.declaration.0].tree.name.span;
        self.used.insert(name);
        let graph = &mut self.system.graph;
        let items = cells.vars.iter().map(|&v| graph.var(v, cells.sort)).collect();
        Value { shape: cells.shape, items, sort: cells.sort, measure: cells.measure }
    }

    /// The Boolean that tells whether a mode is active.
    pub(super) fn in_mode(&mut self, mode: ModeId) -> Value {
        let variable = match self.mode_variables.get(&mode) {
            Some(&variable) => variable,
            None => {
                let variable = self.add_variable(
                    Variable {
                        name: format!("in({})", self.system.mode_path(mode)),
                        kind: VariableKind::InMode(mode),
                        sort: Sort::Boolean,
                        unit: None,
                        start: None,
                        owner: None,
                        span: self.system.mode(mode).span,
                    },
                    None,
                );
                self.mode_variables.insert(mode, variable);
                variable
            }
        };
        let item = self.graph().var(variable, Sort::Boolean);
        Value::scalar(item, Sort::Boolean, Measure::Plain)
    }

    /// `x'` as a value: a signal that every equation for the derivative also defines.
    fn derivative(&mut self, env: Env<'_>, inner: &ast::Expr, span: Span) -> Elaborated<Value> {
        if matches!(inner.kind, ExprKind::Prime(_)) {
            return Err(self.higher_derivative(span));
        }
        let text = self.sources.text(inner.span).to_string();
        let cells = match self.select(env, inner)? {
            Selection::Cells(cells)
                if self.declarations[cells.declaration.0].kind == DeclarationKind::State =>
            {
                cells
            }
            _ => {
                let message = format!("`{text}` is not a state, so it has no derivative to read");
                return Err(self.report(Diagnostic::error(codes::NOT_SUPPORTED, span, message)));
            }
        };
        let vars: Vec<VarId> = cells.vars.iter().map(|&v| self.derivative_signal(v)).collect();
        let graph = &mut self.system.graph;
        let items = vars.into_iter().map(|v| graph.var(v, Sort::Real)).collect();
        let measure = Self::rate_measure(cells.measure);
        Ok(Value { shape: cells.shape, items, sort: Sort::Real, measure })
    }

    /// Second and higher derivatives are written as states of their own.
    pub(super) fn higher_derivative(&mut self, span: Span) -> Reported {
        let message = "second derivatives are reserved for later";
        let hint = "declare the first derivative as a state: `state v = 0`, `x' = v`, `v' = ...`";
        self.report(Diagnostic::error(codes::NOT_SUPPORTED, span, message).hint(hint))
    }

    fn derivative_signal(&mut self, state: VarId) -> VarId {
        if let Some(&signal) = self.derivatives.get(&state) {
            return signal;
        }
        let of = self.system.variable(state);
        let variable = Variable {
            name: format!("{}'", of.name),
            kind: VariableKind::Signal,
            sort: Sort::Real,
            unit: None,
            start: None,
            owner: of.owner,
            span: of.span,
        };
        let signal = self.add_variable(variable, None);
        self.derivatives.insert(state, signal);
        signal
    }

    /// A chain such as `a + b - c`, without recursion along its left side: long sums are usual in
    /// generated models.
    fn chain_of_operators(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Value> {
        let mut links = Vec::new();
        let mut first = tree;
        let mut guard = env.guard;
        while let ExprKind::Binary(op, left, right) = &first.kind {
            guard &= is_logic(*op);
            links.push((*op, right, first.span));
            first = left;
        }
        let mut value = self.expr(Env { guard, ..env }, first);
        for (op, right, span) in links.into_iter().rev() {
            let guard = env.guard && is_logic(op);
            let operand = self.expr(Env { guard, ..env }, right);
            value = match (value, operand) {
                (Ok(a), Ok(b)) => self.operate(op, &a, &b, span),
                _ => Err(Reported),
            };
        }
        value
    }

    fn chain_of_comparisons(
        &mut self,
        env: Env<'_>,
        operands: &[ast::Expr],
        operators: &[ast::Comparison],
        span: Span,
    ) -> Elaborated<Value> {
        let values = self.all(operands, env.plain())?;
        let mut all: Option<Value> = None;
        for (&op, pair) in operators.iter().zip(values.windows(2)) {
            let one = self.compare(op, &pair[0], &pair[1], env.guard, span)?;
            all = Some(match all {
                None => one,
                Some(before) => self.operate(BinaryOp::And, &before, &one, span)?,
            });
        }
        all.ok_or(Reported)
    }

    fn choice(
        &mut self,
        env: Env<'_>,
        condition: &ast::Expr,
        yes: &ast::Expr,
        no: &ast::Expr,
        span: Span,
    ) -> Elaborated<Value> {
        let chosen = self.scalar(env, condition);
        let (a, b) = (self.expr(env, yes), self.expr(env, no));
        let (chosen, a, b) = (chosen?, a?, b?);
        self.boolean(&chosen, condition.span)?;
        if (a.sort == Sort::Boolean) != (b.sort == Sort::Boolean) {
            let message = format!("the branches differ: {} and {}", sort_name(a.sort), sort_name(b.sort));
            return Err(self.report(Diagnostic::error(codes::WRONG_SORT, span, message)));
        }
        let shape = match (a.shape, b.shape) {
            (Shape::Scalar, other) | (other, Shape::Scalar) => other,
            (x, y) if x == y => x,
            (x, y) => {
                let message = format!("the branches differ: {x} and {y}");
                return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)));
            }
        };
        let measure = self.same_measure(a.measure, b.measure, "the branches", span);
        self.spend(shape.len(), span)?;
        let real = a.sort != b.sort;
        let graph = &mut self.system.graph;
        let items: Items = (0..shape.len())
            .map(|k| {
                let (mut x, mut y) = (a.at(k), b.at(k));
                if real {
                    (x, y) = (graph.as_real(x), graph.as_real(y));
                }
                graph.select(chosen.items[0], x, y)
            })
            .collect();
        Ok(self.value(shape, items, measure))
    }

    fn array(&mut self, env: Env<'_>, items: &[ast::Expr], span: Span) -> Elaborated<Value> {
        let values = self.all(items, env.plain())?;
        self.stack(values, span)
    }

    /// Values of equal shape put together in one more dimension.
    pub(super) fn stack(&mut self, values: Vec<Value>, span: Span) -> Elaborated<Value> {
        let Some(first) = values.first() else {
            let message = "an array needs at least one element";
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)));
        };
        let inner = first.shape;
        if let Some(other) = values.iter().find(|v| v.shape != inner) {
            let message = format!("the elements differ: {inner} and {}", other.shape);
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)));
        }
        if values.iter().any(|v| (v.sort == Sort::Boolean) != (first.sort == Sort::Boolean)) {
            let message = "numbers and Booleans are mixed in one array";
            return Err(self.report(Diagnostic::error(codes::WRONG_SORT, span, message)));
        }
        let Some(shape) = Shape::Vector(values.len()).of(inner) else {
            let message = "arrays have at most two dimensions";
            return Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)));
        };
        self.spend(shape.len(), span)?;
        let measure = self.stacked_measure(&values);
        let sort = values.iter().map(|v| v.sort).reduce(join_sorts).unwrap_or(Sort::Real);
        let mut all: Vec<Expr> = values.iter().flat_map(|v| v.items.iter().copied()).collect();
        if sort == Sort::Real {
            let graph = self.graph();
            all.iter_mut().for_each(|e| *e = graph.as_real(*e));
        }
        Ok(Value { shape, items: all.into(), sort, measure })
    }

    /// The values of an expression for a running index.
    fn family(
        &mut self,
        env: Env<'_>,
        tree: &ast::Expr,
        variable: &ast::Name,
        range: (&ast::Expr, &ast::Expr),
        span: Span,
    ) -> Elaborated<Vec<Value>> {
        let mut values = Vec::new();
        for k in self.running(env, range.0, range.1, span) {
            let local = self.index_local(env, &variable.text, k);
            let value = self.expr(Env { locals: Some(&local), ..env }, tree);
            k?;
            values.push(value?);
        }
        Ok(values)
    }

    /// The values of a running index. A wrong range leaves one that is not known, so that what is
    /// wrong in the body is reported too.
    pub(super) fn running(
        &mut self,
        env: Env<'_>,
        from: &ast::Expr,
        to: &ast::Expr,
        span: Span,
    ) -> impl Iterator<Item = Elaborated<i64>> + use<> {
        let range = self.range(env, from, to, span);
        let unknown = range.as_ref().err().map(|_| Err(Reported));
        range.into_iter().flatten().map(Ok).chain(unknown)
    }

    /// The whole numbers of `from..to`.
    fn range(
        &mut self,
        env: Env<'_>,
        from: &ast::Expr,
        to: &ast::Expr,
        span: Span,
    ) -> Elaborated<std::ops::RangeInclusive<i64>> {
        let (first, last) = (self.whole_number(env, from), self.whole_number(env, to));
        let (first, last) = (first?, last?);
        let count = usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0);
        self.spend(count, span)?;
        Ok(first..=last)
    }

    /// A running index as a local name.
    pub(super) fn index_local<'e>(&mut self, env: Env<'e>, name: &'e str, k: Elaborated<i64>) -> Local<'e> {
        let value = k.map(|k| Value::scalar(self.graph().integer(k), Sort::Integer, Measure::Plain));
        Local { name, value, next: env.locals }
    }
}

fn is_logic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or)
}
