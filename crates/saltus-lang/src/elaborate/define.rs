//! The second pass: equations, families, instances and modes, block by block.

use super::items::Items;
use super::lint::words;
use super::scope::{Cells, ScopeId, Selection};
use super::value::{Elaborated, Reported, Shape, Value};
use super::{Elaborator, Env};
use crate::ast::{self, DeclarationKind, ExprKind, StatementKind};
use crate::{Diagnostic, codes};
use saltus_expr::{Expr, Sort};
use saltus_model::{Block, Condition, Equation, EventId, ModeId, Span, Stop, Target};

/// What surrounds a statement within its body.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    flow: bool,
    family: bool,
}

impl<'a> Elaborator<'a> {
    /// The block of a mode, or of the root.
    pub(super) fn block(&mut self, owner: Option<ModeId>) -> &mut Block {
        match owner {
            Some(mode) => &mut self.system.modes[mode.index()].block,
            None => &mut self.system.root,
        }
    }

    /// Defines everything in a scope and in the instances and modes inside it.
    pub(super) fn define(&mut self, scope: ScopeId) {
        if self.exhausted() {
            return;
        }
        self.define_declared(scope);
        let body = self.scope(scope).body;
        self.statements(Env::new(scope), body, Place::default());
    }

    /// The equations of `signal y = e` and `output y = e`.
    fn define_declared(&mut self, scope: ScopeId) {
        for k in 0..self.scope(scope).declarations.len() {
            let id = self.scope(scope).declarations[k];
            let (tree, kind) = (self.declarations[id.0].tree, self.declarations[id.0].kind);
            let Some(value) = &tree.value else { continue };
            if !matches!(kind, DeclarationKind::Signal | DeclarationKind::Output) {
                continue;
            }
            let Ok(cells) = self.cells(id, tree.name.span) else { continue };
            let given = match self.definitions.remove(&id) {
                Some(given) => Ok(given),
                None => self.expr(Env::new(scope), value),
            };
            self.equate(scope, &cells, false, given, tree.span, value.span);
        }
    }

    pub(super) fn statements(&mut self, env: Env<'_>, body: &'a [ast::Statement], place: Place) {
        for statement in body {
            if self.exhausted() {
                return;
            }
            self.statement(env, statement, place);
        }
    }

    fn statement(&mut self, env: Env<'_>, statement: &'a ast::Statement, place: Place) {
        let (scope, span) = (env.scope, statement.span);
        let owner = self.scope(scope).owner;
        if self.misplaced_statement(env, statement, place) {
            return;
        }
        match &statement.kind {
            StatementKind::Declare(..) => {}
            StatementKind::Event { name, times } => self.event_times(env, name, times),
            StatementKind::Instance { .. } => {
                let made: Vec<ScopeId> = self
                    .scope(scope)
                    .instances
                    .iter()
                    .filter(|(s, _)| *s == span)
                    .map(|(_, id)| *id)
                    .collect();
                made.into_iter().for_each(|id| self.define(id));
            }
            StatementKind::Automaton { modes, .. } => {
                for mode in modes {
                    let inner = self.scope(scope).inner.iter().find(|m| std::ptr::eq(m.tree, mode));
                    if let Some(id) = inner.map(|m| m.scope) {
                        self.define(id);
                    }
                }
            }
            StatementKind::Flow(body) => self.statements(env, body, Place { flow: true, ..place }),
            StatementKind::Equation { lhs, rhs } => self.equation(env, lhs, rhs, span),
            StatementKind::Hold(list) => list.iter().for_each(|path| self.hold(env, path)),
            StatementKind::For { variable, from, to, body } => {
                for k in self.running(env, from, to, from.span.to(to.span)) {
                    if self.exhausted() {
                        return;
                    }
                    self.unclear |= k.is_err();
                    let local = self.index_local(env, &variable.text, k);
                    let inside = Env { locals: Some(&local), ..env };
                    self.statements(inside, body, Place { family: true, ..place });
                }
            }
            StatementKind::Rule(rule) => self.rule(env, rule, span),
            StatementKind::Invariant(formula) => {
                if let Ok(formula) = self.formula(env, formula) {
                    self.block(owner).invariants.push(Condition { formula, span });
                }
            }
            StatementKind::Domain(formula) => {
                if let Ok(formula) = self.formula(env, formula) {
                    self.block(owner).domains.push(Condition { formula, span });
                }
            }
            StatementKind::Stop { guard, message } => {
                let text = self.sources.text(guard.span).to_string();
                if let Ok(formula) = self.guard(env, guard) {
                    let message = message.clone().unwrap_or(text);
                    self.block(owner).stops.push(Stop { formula, message, span });
                }
            }
            StatementKind::Run(settings) => self.run_block(env, settings, span),
        }
    }

    /// Reports statements that do not belong where they stand.
    fn misplaced_statement(&mut self, env: Env<'_>, statement: &ast::Statement, place: Place) -> bool {
        let in_mode = self.scope(env.scope).mode.is_some();
        let (problem, hint) = match &statement.kind {
            StatementKind::Equation { .. } | StatementKind::Hold(_) | StatementKind::For { .. } => {
                return false;
            }
            _ if place.flow => (
                "only equations, `hold` and families of them stand in `flow`",
                "move it out of the `flow` block",
            ),
            StatementKind::Declare(..) | StatementKind::Event { .. } if place.family => {
                ("a family cannot declare names", "declare an array before the family: `state x[n] = 0`")
            }
            StatementKind::Instance { .. } | StatementKind::Automaton { .. } if place.family => (
                "a family cannot contain instances or automata",
                "put them into a component and make an array of it: `parts: Part[n]`",
            ),
            StatementKind::Run(_) if place.family || in_mode => {
                ("the `run` block stands at the top of a model", "move it out of the mode or family")
            }
            StatementKind::Rule(rule) if rule.target.is_some() && !in_mode => {
                ("a transition leads from a mode to a mode", "put it into the mode it leaves")
            }
            _ => return false,
        };
        self.misplaced(statement.span, problem.to_string(), hint);
        true
    }

    fn equation(&mut self, env: Env<'_>, lhs: &ast::Expr, rhs: &ast::Expr, span: Span) {
        let reported = self.diagnostics.len();
        let target = self.target(env, lhs);
        let misspelt = self.diagnostics.len() > reported;
        let value = self.expr(env, rhs);
        match target {
            Ok((cells, derivative)) => self.equate(env.scope, &cells, derivative, value, span, rhs.span),
            // What this equation was meant to define is not missing an equation.
            Err(Reported) if misspelt => {
                let names = words(self.sources.text(lhs.span)).map(str::to_string);
                self.lost_names.extend(names);
            }
            Err(Reported) => {}
        }
    }

    /// Adds the equations of a target. One whose right side is wrong still counts as given, so
    /// that only the real mistake is reported.
    fn equate(
        &mut self,
        scope: ScopeId,
        cells: &Cells,
        derivative: bool,
        value: Elaborated<Value>,
        span: Span,
        rhs_span: Span,
    ) {
        let measure = if derivative { Self::rate_measure(cells.measure) } else { cells.measure };
        let value = value.and_then(|v| self.fit(v, cells.shape, cells.sort, measure, rhs_span));
        let items = match value {
            Ok(value) => value.items,
            Err(Reported) => vec![self.graph().real(0.0); cells.vars.len()].into(),
        };
        let owner = self.scope(scope).owner;
        for (&variable, &rhs) in cells.vars.iter().zip(&items) {
            let target = if derivative { Target::Derivative(variable) } else { Target::Signal(variable) };
            self.block(owner).equations.push(Equation { target, rhs, span });
        }
        if self.declarations[cells.declaration.0].kind == DeclarationKind::Input {
            self.connected.extend(cells.vars.iter());
        }
    }

    /// The variables an equation defines, and whether it defines their derivatives.
    fn target(&mut self, env: Env<'_>, lhs: &ast::Expr) -> Elaborated<(Cells, bool)> {
        match &lhs.kind {
            ExprKind::Prime(inner) if matches!(inner.kind, ExprKind::Prime(_)) => {
                Err(self.higher_derivative(lhs.span))
            }
            ExprKind::Prime(inner) => Ok((self.flowing(env, inner, lhs.span)?, true)),
            ExprKind::Name(_) | ExprKind::Member(..) | ExprKind::Index(..) => {
                Ok((self.defined(env, lhs)?, false))
            }
            _ => {
                self.unclear = true;
                let message = "an equation has a variable or a derivative alone on its left side";
                let hint = match leibniz(self.sources.text(lhs.span)) {
                    Some(name) => format!("the derivative of `{name}` is written `{name}'`"),
                    None => "equations that must be solved for a variable are reserved for later: \
                             solve it by hand, `y = ...`"
                        .to_string(),
                };
                Err(self.report(Diagnostic::error(codes::NOT_SUPPORTED, lhs.span, message).hint(hint)))
            }
        }
    }

    /// States whose derivative may be given here.
    pub(super) fn flowing(&mut self, env: Env<'_>, path: &ast::Expr, span: Span) -> Elaborated<Cells> {
        let (cells, kind) = self.path_cells(env, path, span)?;
        let name = self.sources.text(path.span).to_string();
        let (message, hint) = match kind {
            DeclarationKind::State if self.is_own(env, &cells) => return Ok(cells),
            DeclarationKind::State => (
                format!("the flow of `{name}` is the business of its own component"),
                "give the component an input and use it in its equations".to_string(),
            ),
            _ => (
                format!("`{name}` is not a state, so it has no derivative"),
                format!("declare `state {name} = ...`, or define its value: `{name} = ...`"),
            ),
        };
        Err(self.report(Diagnostic::error(codes::NOT_ASSIGNABLE, span, message).hint(hint)))
    }

    /// Signals that may be defined here: own ones, and inputs of instances.
    fn defined(&mut self, env: Env<'_>, path: &ast::Expr) -> Elaborated<Cells> {
        let (cells, kind) = self.path_cells(env, path, path.span)?;
        let name = self.sources.text(path.span).to_string();
        let own = self.is_own(env, &cells);
        let (message, hint) = match kind {
            DeclarationKind::Signal | DeclarationKind::Output if own => return Ok(cells),
            DeclarationKind::Input if self.is_child(env, &cells) => return Ok(cells),
            DeclarationKind::Input if own => (
                format!("the input `{name}` is defined from outside"),
                "give it a default in its declaration, `input u = ...`, or make it a signal".to_string(),
            ),
            DeclarationKind::Input | DeclarationKind::Signal | DeclarationKind::Output => (
                format!("`{name}` is defined inside another component"),
                "only the inputs of own instances can be connected".to_string(),
            ),
            DeclarationKind::State => (
                format!("the state `{name}` is defined by its derivative"),
                format!("write `{name}' = ...`, or declare `signal {name}`"),
            ),
            DeclarationKind::Memory => (
                format!("the memory `{name}` changes only in jumps"),
                format!("write `when ... {{ {name} := ... }}`, or declare `signal {name}`"),
            ),
            DeclarationKind::Param => (
                format!("the parameter `{name}` is fixed for a run"),
                format!("give its value in the declaration, or declare `signal {name}`"),
            ),
        };
        Err(self.report(Diagnostic::error(codes::NOT_ASSIGNABLE, path.span, message).hint(hint)))
    }

    /// The variables a path selects, and what they are declared as.
    pub(super) fn path_cells(
        &mut self,
        env: Env<'_>,
        path: &ast::Expr,
        span: Span,
    ) -> Elaborated<(Cells, DeclarationKind)> {
        match self.select(env, path)? {
            Selection::Cells(cells) => {
                let kind = self.declarations[cells.declaration.0].kind;
                Ok((cells, kind))
            }
            _ => {
                let name = self.sources.text(path.span).to_string();
                let message = format!("`{name}` is not a variable that can be set");
                Err(self.report(Diagnostic::error(codes::NOT_ASSIGNABLE, span, message)))
            }
        }
    }

    /// Whether variables are declared in the same component instance.
    fn is_own(&self, env: Env<'_>, cells: &Cells) -> bool {
        let declared = self.declarations[cells.declaration.0].scope;
        self.scope(declared).instance == self.scope(env.scope).instance
            && !self.file_scopes.contains(&declared)
    }

    /// Whether variables are declared in an instance directly inside this component.
    fn is_child(&self, env: Env<'_>, cells: &Cells) -> bool {
        let declared = self.declarations[cells.declaration.0].scope;
        let instance = &self.system.instances[self.scope(declared).instance as usize];
        instance.parent == Some(self.scope(env.scope).instance)
    }

    /// `hold x`: the derivative 0.
    fn hold(&mut self, env: Env<'_>, path: &ast::Expr) {
        let Ok(cells) = self.flowing(env, path, path.span) else { return };
        let zero = self.graph().real(0.0);
        let value = Value::scalar(zero, Sort::Real, super::value::Measure::Plain);
        self.equate(env.scope, &cells, true, Ok(value), path.span, path.span);
    }

    fn event_times(&mut self, env: Env<'_>, name: &ast::Name, times: &[ast::Expr]) {
        let times: Vec<Elaborated<Expr>> = times.iter().map(|t| self.time_value(env, t, None)).collect();
        let path = super::resolve::joined(&self.scope(env.scope).path, &name.text);
        let event = self.system.events.iter().position(|e| e.name == path && e.span == name.span);
        if let Some(event) = event.map(|k| EventId(k as u32)) {
            self.system.events[event.0 as usize].times = times.into_iter().flatten().collect();
        }
    }

    /// Gives inputs that nothing connects their defaults.
    pub(super) fn connect_defaults(&mut self) {
        for k in 0..self.declarations.len() {
            let id = super::DeclarationId(k);
            let (tree, kind, scope) = {
                let d = &self.declarations[k];
                (d.tree, d.kind, d.scope)
            };
            let Some(value) = tree.value.as_ref().filter(|_| kind == DeclarationKind::Input) else {
                continue;
            };
            let Ok(cells) = self.cells(id, tree.name.span) else { continue };
            let given = match self.definitions.remove(&id) {
                Some(given) => Ok(given),
                None => self.expr(Env::new(scope), value),
            };
            let free: Vec<usize> =
                (0..cells.vars.len()).filter(|&p| !self.connected.contains(&cells.vars[p])).collect();
            if free.is_empty() {
                continue;
            }
            // A value of another size is told as for any equation.
            let fits = |v: &Value| v.shape == Shape::Scalar || v.items.len() == cells.vars.len();
            if !given.as_ref().is_ok_and(fits) {
                self.equate(scope, &cells, false, given, tree.span, value.span);
                continue;
            }
            let given = given.map(|v| {
                let items: Items = free.iter().map(|&p| v.at(p)).collect();
                Value { shape: Shape::Vector(items.len()), items, ..v }
            });
            let vars = free.iter().map(|&p| cells.vars[p]).collect();
            let rest = Cells { shape: Shape::Vector(free.len()), vars, ..cells };
            self.equate(scope, &rest, false, given, tree.span, value.span);
        }
    }

    /// Derivatives that are read become signals: `x' = e` turns into `x' = s`, `s = e`.
    pub(super) fn spread_derivatives(&mut self) {
        let mut owners: Vec<Option<ModeId>> = vec![None];
        owners.extend((0..self.system.modes.len() as u32).map(|m| Some(ModeId(m))));
        for owner in owners {
            let mut added = Vec::new();
            let mut equations = std::mem::take(&mut self.block(owner).equations);
            for equation in &mut equations {
                let Target::Derivative(state) = equation.target else { continue };
                if let Some(&signal) = self.derivatives.get(&state) {
                    let read = self.graph().var(signal, Sort::Real);
                    let rhs = std::mem::replace(&mut equation.rhs, read);
                    added.push(Equation { target: Target::Signal(signal), rhs, span: equation.span });
                }
            }
            equations.extend(added);
            self.block(owner).equations = equations;
        }
    }
}

/// The name that `dx/dt` is meant to derive.
fn leibniz(text: &str) -> Option<&str> {
    let (above, below) = text.split_once('/')?;
    let name = above.trim().strip_prefix('d').filter(|name| !name.is_empty())?;
    (below.trim() == "dt").then_some(name)
}
