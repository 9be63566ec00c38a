//! Reactions and transitions: a trigger, a condition, a target and actions, said one by one.

use super::expression::fit;
use super::{BuildError, Builder, Draft, Given, Mode, Truth};
use crate::source::Span;
use crate::system::{Assigned, Assignment, EventId, ModeId, Reaction, Transition, Trigger, VariableKind};
use saltus_expr::Expr;

/// An event from outside; made by [`Builder::event`].
#[derive(Clone, Copy, Debug)]
pub struct Event<'b> {
    pub(super) builder: &'b Builder,
    pub(super) id: EventId,
}

/// A rule: a reaction, or with [`to`](Rule::to) a transition of the mode it stands in.
#[derive(Clone, Copy, Debug)]
pub struct Rule<'b> {
    pub(super) builder: &'b Builder,
    pub(super) index: usize,
}

/// A rule under construction.
#[derive(Clone, Debug)]
pub(super) struct RuleDraft {
    owner: Option<ModeId>,
    trigger: Trigger,
    condition: Option<Expr>,
    may: bool,
    preempt: bool,
    target: Option<(ModeId, bool)>,
    actions: Vec<Assignment>,
    head: String,
    name: Option<String>,
    span: Span,
}

impl RuleDraft {
    pub fn new(owner: Option<ModeId>, trigger: Trigger, head: String, span: Span) -> Self {
        Self {
            owner,
            trigger,
            condition: None,
            may: false,
            preempt: false,
            target: None,
            actions: vec![],
            head,
            name: None,
            span,
        }
    }
}

impl<'b> Rule<'b> {
    fn change(self, change: impl FnOnce(&mut RuleDraft)) -> Self {
        change(&mut self.builder.draft.borrow_mut().rules[self.index]);
        self
    }

    /// A further condition, read at the instant; several must all hold.
    pub fn given<T: Truth<'b>>(self, condition: T) -> Self {
        let condition = condition.expr(self.builder);
        let mut draft = self.builder.draft.borrow_mut();
        let words = draft.words_in(draft.rules[self.index].owner, condition);
        let Draft { system, rules, .. } = &mut *draft;
        let rule = &mut rules[self.index];
        let (condition, word) = match rule.condition {
            Some(first) => (system.graph.and(first, condition), "and"),
            None => (condition, "when"),
        };
        rule.condition = Some(condition);
        rule.head = format!("{} {word} {words}", rule.head);
        drop(draft);
        self
    }

    /// `target := value`, a term or an [interval](super::interval); the value is read before the
    /// jump.
    pub fn set<G: Given<'b>>(self, target: G::Handle, value: G) -> Self {
        let (target, value) = (self.builder.own(target), value.assigned(self.builder));
        self.builder.draft.borrow_mut().assign(self.index, target, value);
        self
    }

    /// Makes it a transition to another mode of the automaton, or to the same one.
    pub fn to(self, mode: Mode<'b>) -> Self {
        self.lead(mode, false)
    }

    /// A transition that enters the mode as it was left.
    pub fn to_history(self, mode: Mode<'b>) -> Self {
        self.lead(mode, true)
    }

    fn lead(self, mode: Mode<'b>, history: bool) -> Self {
        if !std::ptr::eq(mode.builder, self.builder) {
            self.builder.draft.borrow_mut().refuse(BuildError::Foreign);
            return self;
        }
        self.change(|rule| rule.target = Some((mode.id, history)))
    }

    /// Enabled, not forced.
    pub fn may(self) -> Self {
        self.change(|rule| rule.may = true)
    }

    /// Goes before the transitions of inner automata.
    pub fn preempt(self) -> Self {
        self.change(|rule| rule.preempt = true)
    }

    /// Its name in reports.
    pub fn named(self, name: &str) -> Self {
        self.change(|rule| rule.name = Some(name.into()))
    }
}

impl Draft {
    fn assign(&mut self, rule: usize, target: Expr, value: Assigned) {
        let settable = |kind| matches!(kind, VariableKind::State | VariableKind::Memory);
        let found = self.variable(target).filter(|&v| settable(self.system.variable(v).kind));
        let Some(v) = found else {
            let expression = self.words(target);
            return self.refuse(BuildError::NotA { expression, wanted: "a state or memory" });
        };
        let (sort, name) = (self.system.variable(v).sort, self.system.variable(v).name.clone());
        let value = match value {
            Assigned::Value(e) => Assigned::Value(fit(self, e, sort, &name)),
            Assigned::Interval(..) => value,
        };
        if self.rules[rule].actions.iter().any(|a| a.target == v) {
            let rule = self.rules[rule].head.clone();
            return self.refuse(BuildError::DoubleWrite { rule, variable: name });
        }
        let span = self.rules[rule].span;
        self.rules[rule].actions.push(Assignment { target: v, value, span });
    }

    /// Puts the rules into their blocks and modes.
    pub fn place_rules(&mut self) {
        for rule in std::mem::take(&mut self.rules) {
            match rule.target {
                Some((target, history)) => self.place_transition(rule, target, history),
                None => self.place_reaction(rule),
            }
        }
    }

    fn place_reaction(&mut self, rule: RuleDraft) {
        let RuleDraft { owner, trigger, condition, may, preempt, actions, head, name, span, .. } = rule;
        if may || preempt || trigger == Trigger::Else {
            return self.refuse(BuildError::NotATransition(head));
        }
        let scope = owner.map_or_else(String::new, |m| format!("{}: ", self.system.mode_path(m)));
        let name = name.unwrap_or_else(|| format!("{scope}{head}"));
        self.block(owner).reactions.push(Reaction { trigger, condition, actions, name, span });
    }

    fn place_transition(&mut self, rule: RuleDraft, target: ModeId, history: bool) {
        let RuleDraft { owner, trigger, condition, may, preempt, actions, head, name, span, .. } = rule;
        let automaton = |m: ModeId| self.system.mode(m).automaton;
        let Some(source) = owner.filter(|&m| automaton(m) == automaton(target)) else {
            return self.refuse(BuildError::Target(head));
        };
        if trigger == Trigger::Else && condition.is_some() {
            return self.refuse(BuildError::ElseCondition(self.system.mode_path(source)));
        }
        let mode_name = |m: ModeId| &self.system.mode(m).name;
        let name = name.unwrap_or_else(|| format!("{} -> {}", mode_name(source), mode_name(target)));
        let transition =
            Transition { trigger, condition, may, preempt, target, history, actions, name, span };
        self.system.modes[source.index()].transitions.push(transition);
    }
}
