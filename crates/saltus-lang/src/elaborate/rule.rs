//! Reactions and transitions: triggers, conditions, targets and actions.

use super::scope::hinted;
use super::value::{Elaborated, Value};
use super::{Elaborator, Env, constant::Variability, scope::Selection};
use crate::ast::{self, DeclarationKind, ExprKind};
use crate::suggest::did_you_mean;
use crate::{Diagnostic, codes};
use saltus_expr::{Expr, Sort, VarId};
use saltus_model::{Assigned, Assignment, ModeId, Reaction, Span, Transition, Trigger};
use std::collections::HashMap;

/// What a number of seconds must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Duration {
    /// A period: more than nothing.
    Positive,
    /// A delay: not negative.
    NotNegative,
}

impl<'a> Elaborator<'a> {
    /// A reaction, or a transition of the mode it stands in.
    pub(super) fn rule(&mut self, env: Env<'_>, rule: &'a ast::Rule, span: Span) {
        let trigger = self.trigger(env, rule);
        let condition = rule.condition.as_ref().map(|c| self.formula(env, c)).transpose();
        let mut written = HashMap::new();
        let mut actions = Vec::new();
        self.actions(env, &rule.actions, &mut written, &mut actions);
        let (owner, mode) = (self.scope(env.scope).owner, self.scope(env.scope).mode);
        let Some((target, mode)) = rule.target.as_ref().zip(mode) else {
            let misplaced = self.check_reaction(rule, span);
            if let (false, Ok(trigger), Ok(condition)) = (misplaced, trigger, condition) {
                let name = self.reaction_name(env, rule);
                self.block(owner).reactions.push(Reaction { trigger, condition, actions, name, span });
            }
            return;
        };
        let entered = self.sibling(mode, &target.mode);
        if let (Ok(trigger), Ok(condition), Ok(entered)) = (trigger, condition, entered) {
            let name = format!("{} -> {}", self.system.mode(mode).name, self.system.mode(entered).name);
            self.system.modes[mode.index()].transitions.push(Transition {
                trigger,
                condition,
                may: rule.may,
                preempt: rule.preempt,
                target: entered,
                history: target.history,
                actions,
                name,
                span,
            });
        }
    }

    /// Reports words that only transitions take, and reactions without effect.
    fn check_reaction(&mut self, rule: &ast::Rule, span: Span) -> bool {
        let word = match rule.trigger {
            ast::Trigger::Else => "else",
            _ if rule.may => "may",
            _ if rule.preempt => "preempt",
            _ => {
                if rule.actions.is_empty() {
                    let message = "this reaction changes nothing";
                    self.report(
                        Diagnostic::warning(codes::EMPTY_REACTION, span, message)
                            .hint("assign something, `{ x := ... }`, or lead to a mode, `-> Mode`"),
                    );
                }
                return false;
            }
        };
        let message = format!("`{word}` belongs to a transition, and this leads to no mode");
        self.misplaced(span, message, "add `-> Mode`");
        true
    }

    /// The text of the trigger, with the scope in front and running indices behind.
    fn reaction_name(&self, env: Env<'_>, rule: &ast::Rule) -> String {
        let head = self.sources.text(rule.head).split_whitespace().collect::<Vec<_>>().join(" ");
        let path = &self.scope(env.scope).path;
        let mut name = if path.is_empty() { head } else { format!("{path}: {head}") };
        let mut indices = Vec::new();
        let mut local = env.locals;
        while let Some(binding) = local {
            let first = binding.value.as_ref().ok().and_then(|v| v.items.first());
            let value = first.and_then(|&e| self.system.graph.constant(e));
            indices.extend(value.map(|v| format!("{} = {v}", binding.name)));
            local = binding.next;
        }
        if !indices.is_empty() {
            indices.reverse();
            name.push_str(&format!(" ({})", indices.join(", ")));
        }
        name
    }

    /// The mode a transition leads to.
    fn sibling(&mut self, from: ModeId, name: &ast::Name) -> Elaborated<ModeId> {
        let automaton = self.system.mode(from).automaton;
        let siblings = &self.system.automaton(automaton).modes;
        if let Some(&mode) = siblings.iter().find(|&&m| self.system.mode(m).name == name.text) {
            return Ok(mode);
        }
        let names: Vec<&str> = siblings.iter().map(|&m| self.system.mode(m).name.as_str()).collect();
        let hint = did_you_mean(&name.text, names.iter().copied())
            .unwrap_or_else(|| format!("the modes of this automaton are {}", names.join(", ")));
        let elsewhere = self.system.modes.iter().find(|m| m.name == name.text).map(|m| m.span);
        let message = format!("`{}` is not a mode of this automaton", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_MODE, name.span, message).hint(hint);
        if let Some(place) = elsewhere {
            diagnostic = diagnostic.related(place, "a mode of this name belongs to another automaton");
        }
        Err(self.report(diagnostic))
    }

    fn trigger(&mut self, env: Env<'_>, rule: &ast::Rule) -> Elaborated<Trigger> {
        match &rule.trigger {
            ast::Trigger::When(guard) => self.when(env, guard),
            ast::Trigger::At(time) => self.time_value(env, time, None).map(Trigger::At),
            ast::Trigger::After(delay) => {
                self.time_value(env, delay, Some(Duration::NotNegative)).map(Trigger::After)
            }
            ast::Trigger::Every(period) => {
                self.time_value(env, period, Some(Duration::Positive)).map(Trigger::Every)
            }
            ast::Trigger::On(path) => match self.select(env, path)? {
                Selection::Event(event) => {
                    self.used.insert(self.system.events[event.0 as usize].span);
                    Ok(Trigger::On(event))
                }
                _ => {
                    let name = self.sources.text(path.span).to_string();
                    let message = format!("`{name}` is not an event");
                    let hint = "declare `event press at 20, 45`, or use `when` with a condition";
                    Err(self.report(Diagnostic::error(codes::WRONG_SORT, path.span, message).hint(hint)))
                }
            },
            ast::Trigger::Else => Ok(Trigger::Else),
        }
    }

    /// `when g`, `when rises(e)`, `when falls(e)`.
    fn when(&mut self, env: Env<'_>, guard: &ast::Expr) -> Elaborated<Trigger> {
        let ExprKind::Call { function, arguments, named } = &guard.kind else {
            return self.guard(env, guard).map(Trigger::When);
        };
        let rises = match function.text.as_str() {
            "rises" => true,
            "falls" => false,
            _ => return self.guard(env, guard).map(Trigger::When),
        };
        self.no_named(named, &function.text)?;
        let [inner] = arguments.as_slice() else {
            let message =
                format!("`{}` takes one argument, and {} are given", function.text, arguments.len());
            return Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, guard.span, message)));
        };
        let value = self.scalar(env.formula(), inner)?;
        let formula = self.crossing(&value, rises);
        self.warn_constant(formula, inner.span);
        Ok(Trigger::Rises(formula))
    }

    /// What becomes true at a crossing: a Boolean itself, or a number reaching zero.
    fn crossing(&mut self, value: &Value, rises: bool) -> Expr {
        let e = value.items[0];
        let zero = self.graph().real(0.0);
        match (value.sort, rises) {
            (Sort::Boolean, true) => e,
            (Sort::Boolean, false) => self.graph().not(e),
            (_, true) => self.graph().le(zero, e),
            (_, false) => self.graph().le(e, zero),
        }
    }

    /// A Boolean formula, in which equality of reals is an atom.
    pub(super) fn formula(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Expr> {
        let value = self.scalar(env.formula(), tree)?;
        self.boolean(&value, tree.span)?;
        Ok(value.items[0])
    }

    /// A formula that triggers something, so that it should not be constant.
    pub(super) fn guard(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Expr> {
        let formula = self.formula(env, tree)?;
        self.warn_constant(formula, tree.span);
        Ok(formula)
    }

    fn warn_constant(&mut self, formula: Expr, span: Span) {
        if let Some(value) = self.system.graph.constant(formula) {
            let always = if value != 0.0 { "true" } else { "false" };
            let message = format!("this guard is always {always}");
            self.report(Diagnostic::warning(codes::CONSTANT_GUARD, span, message));
        }
    }

    /// A time, delay or period: known when its block becomes active.
    pub(super) fn time_value(
        &mut self,
        env: Env<'_>,
        tree: &ast::Expr,
        duration: Option<Duration>,
    ) -> Elaborated<Expr> {
        let value = self.scalar(env.plain(), tree)?;
        self.numeric(&value, tree.span)?;
        if let super::value::Measure::Known(_) = value.measure {
            let seconds = super::value::Measure::Known(crate::units::Dimension::second());
            self.same_measure(seconds, value.measure, "seconds and this", tree.span);
        }
        let item = value.items[0];
        if self.variability(item) > Variability::Discrete {
            let message = "a time must be known beforehand, but this flows";
            let hint = "use `when` with a condition on it, or store it in a memory";
            return Err(self.report(Diagnostic::error(codes::NOT_CONSTANT, tree.span, message).hint(hint)));
        }
        let (wanted, bad) = match (duration, self.constant(item)) {
            (Some(Duration::Positive), Some(v)) => ("a period must be more than 0", v <= 0.0),
            (Some(Duration::NotNegative), Some(v)) => ("a delay cannot be negative", v < 0.0),
            (None, Some(v)) => ("a time must be finite", !v.is_finite()),
            (_, None) => return Ok(item),
        };
        if bad {
            let value = self.constant(item).unwrap_or(f64::NAN);
            let message = format!("{wanted}, and this is {value}");
            return Err(self.report(Diagnostic::error(codes::BAD_PERIOD, tree.span, message)));
        }
        Ok(self.graph().as_real(item))
    }

    /// The assignments of a jump.
    fn actions(
        &mut self,
        env: Env<'_>,
        actions: &'a [ast::Action],
        written: &mut HashMap<VarId, Span>,
        into: &mut Vec<Assignment>,
    ) {
        for action in actions {
            match action {
                ast::Action::Assign { target, value, span } => {
                    let made = self.assignment(env, target, value, *span);
                    for assignment in made.unwrap_or_default() {
                        self.check_double_write(&assignment, written);
                        into.push(assignment);
                    }
                }
                ast::Action::For { variable, from, to, body, span } => {
                    for k in self.running(env, from, to, *span) {
                        if self.exhausted() {
                            return;
                        }
                        let local = self.index_local(env, &variable.text, k);
                        self.actions(Env { locals: Some(&local), ..env }, body, written, into);
                    }
                }
            }
        }
    }

    fn check_double_write(&mut self, assignment: &Assignment, written: &mut HashMap<VarId, Span>) {
        if let Some(first) = written.insert(assignment.target, assignment.span) {
            let name = &self.system.variable(assignment.target).name;
            let message = format!("`{name}` is written twice in one jump");
            self.report(
                Diagnostic::error(codes::DOUBLE_WRITE, assignment.span, message)
                    .label("second assignment")
                    .related(first, "first assigned here")
                    .hint("right-hand sides read the values before the jump: join both into one"),
            );
        }
    }

    fn assignment(
        &mut self,
        env: Env<'_>,
        target: &ast::Expr,
        value: &ast::Expr,
        span: Span,
    ) -> Elaborated<Vec<Assignment>> {
        let cells = self.assignable(env, target);
        let (low, high) = match &value.kind {
            ExprKind::Call { function, arguments, named } if function.text == "interval" => {
                self.no_named(named, "interval")?;
                let (low, high) = self.interval(env, arguments, value.span)?;
                (low, Some(high))
            }
            _ => (self.expr(env.plain(), value)?, None),
        };
        let cells = cells?;
        let mut fit = |v: Value| self.fit(v, cells.shape, cells.sort, cells.measure, value.span);
        let low = fit(low)?;
        let high = high.map(fit).transpose()?;
        let assigned = |k: usize| match &high {
            Some(high) => Assigned::Interval(low.at(k), high.at(k)),
            None => Assigned::Value(low.at(k)),
        };
        let assignments =
            cells.vars.iter().enumerate().map(|(k, &target)| Assignment { target, value: assigned(k), span });
        Ok(assignments.collect())
    }

    /// States and memories that a jump may change.
    fn assignable(&mut self, env: Env<'_>, path: &ast::Expr) -> Elaborated<super::scope::Cells> {
        if let ExprKind::Prime(_) = path.kind {
            let message = "a jump sets states and memories, not derivatives";
            let hint = "a derivative is defined by an equation";
            return Err(self.report(Diagnostic::error(codes::NOT_ASSIGNABLE, path.span, message).hint(hint)));
        }
        let (cells, kind) = self.path_cells(env, path, path.span)?;
        let declared = &self.declarations[cells.declaration.0].tree.name;
        let what = match kind {
            DeclarationKind::State => return Ok(cells),
            DeclarationKind::Memory => {
                // A memory that is only written still shows in the results.
                self.used.insert(declared.span);
                return Ok(cells);
            }
            DeclarationKind::Param => "a parameter, fixed for a run",
            DeclarationKind::Input => "an input, defined from outside",
            DeclarationKind::Signal | DeclarationKind::Output => "a signal, defined by an equation",
        };
        let hint = match kind {
            DeclarationKind::Input => None,
            _ => Some(format!("declare `memory {} = ...` to change it in jumps", declared.text)),
        };
        let name = self.sources.text(path.span);
        let message = format!("`{name}` is {what}; a jump sets states and memories");
        Err(self.report(hinted(Diagnostic::error(codes::NOT_ASSIGNABLE, path.span, message), hint)))
    }
}
