//! What stands in the root or in a mode: variables, equations, rules, conditions, automata.

use super::expression::fit;
use super::rule::RuleDraft;
use super::{BuildError, Builder, Event, Formula, Given, Handle, Number, Quantity, Rule, Term, Truth};
use crate::source::Span;
use crate::system::{
    self, Assigned, AutomatonId, Condition, Equation, ModeId, Stop, Target, Trigger, Variable, VariableKind,
};
use saltus_expr::{Expr, Sort};

/// How deeply modes may contain one another.
const DEEPEST: usize = 64;

/// The root (a [`&Builder`](Builder)) or a [`Mode`].
pub trait Block<'b>: Copy {
    /// The builder.
    fn builder(self) -> &'b Builder;
    /// The mode; `None` for the root.
    fn owner(self) -> Option<ModeId>;

    /// A state: changed by flow and by jumps. One of a mode starts afresh when the mode is entered.
    fn state<G: Given<'b, Handle = Quantity<'b>>>(self, name: &str, start: G) -> Quantity<'b> {
        let start = start.assigned(self.builder());
        declare(
            self.builder(),
            self.owner(),
            name,
            VariableKind::State,
            "state",
            Some(Sort::Real),
            Some(start),
        )
    }

    /// A memory: changed only by jumps. Its kind is that of its start: `0.0` a real, `0` a whole
    /// number, `true` a truth.
    fn memory<G: Given<'b>>(self, name: &str, start: G) -> G::Handle {
        let start = start.assigned(self.builder());
        declare(self.builder(), self.owner(), name, VariableKind::Memory, "memory", None, Some(start))
    }

    /// A signal: a name for an expression.
    fn signal<T: Term<'b>>(self, name: &str, value: T) -> T::Handle {
        let value = value.expr(self.builder());
        let sort = self.builder().draft.borrow().system.graph.sort(value);
        let signal: T::Handle =
            declare(self.builder(), self.owner(), name, VariableKind::Signal, "signal", Some(sort), None);
        equate(self, Target::Signal, VariableKind::Signal, signal.id(), value);
        signal
    }

    /// A signal that blocks inside this one [`define`](Block::define), each in its own way.
    fn open_signal(self, name: &str) -> Quantity<'b> {
        let sort = Some(Sort::Real);
        declare(self.builder(), self.owner(), name, VariableKind::Signal, "signal", sort, None)
    }

    /// `signal = value`, for an [open signal](Block::open_signal).
    fn define<N: Number<'b>>(self, signal: Quantity<'b>, value: N) {
        let (signal, value) = (self.builder().own(signal), value.expr(self.builder()));
        equate(self, Target::Signal, VariableKind::Signal, signal, value);
    }

    /// `state' = rate`.
    fn flow<N: Number<'b>>(self, state: Quantity<'b>, rate: N) {
        let (state, rate) = (self.builder().own(state), rate.expr(self.builder()));
        equate(self, Target::Derivative, VariableKind::State, state, rate);
    }

    /// `state' = 0`.
    fn hold(self, state: Quantity<'b>) {
        self.flow(state, 0.0);
    }

    /// An automaton that runs while the block is active.
    fn automaton(self, name: &str) -> Automaton<'b> {
        let (builder, parent) = (self.builder(), self.owner());
        let mut draft = builder.draft.borrow_mut();
        let name = draft.take_name(parent, name);
        if draft.depth(parent) >= DEEPEST {
            draft.refuse(BuildError::TooDeep(name.clone()));
        }
        let span = draft.write(&format!("automaton {name}"));
        let id = AutomatonId(draft.system.automata.len() as u32);
        let initial = ModeId(u32::MAX);
        draft.system.automata.push(system::Automaton { name, parent, modes: vec![], initial, span });
        draft.block(parent).automata.push(id);
        draft.system.instances[0].automata.push(id);
        Automaton { builder, id }
    }

    /// A rule with a guard: a transition takes it as a level, a reaction as an edge.
    fn when<T: Truth<'b>>(self, guard: T) -> Rule<'b> {
        let guard = guard.expr(self.builder());
        rule(self, Trigger::When(guard), ("when ", ""), Some(guard))
    }

    /// A rule with a guard that must have been false before.
    fn rises<T: Truth<'b>>(self, guard: T) -> Rule<'b> {
        let guard = guard.expr(self.builder());
        rule(self, Trigger::Rises(guard), ("when rises(", ")"), Some(guard))
    }

    /// A rule for when a formula ceases to hold.
    fn falls(self, formula: Formula<'b>) -> Rule<'b> {
        self.rises(!formula)
    }

    /// A rule at an absolute time.
    fn at<N: Number<'b>>(self, time: N) -> Rule<'b> {
        timed(self, time.expr(self.builder()), Trigger::At, "at ")
    }

    /// A rule some time after the block became active.
    fn after<N: Number<'b>>(self, delay: N) -> Rule<'b> {
        timed(self, delay.expr(self.builder()), Trigger::After, "after ")
    }

    /// A rule when the block becomes active and then periodically.
    fn every<N: Number<'b>>(self, period: N) -> Rule<'b> {
        timed(self, period.expr(self.builder()), Trigger::Every, "every ")
    }

    /// A rule at the times of an event.
    fn on(self, event: Event<'b>) -> Rule<'b> {
        let builder = self.builder();
        if !std::ptr::eq(event.builder, builder) {
            builder.draft.borrow_mut().refuse(BuildError::Foreign);
        }
        let name = builder.draft.borrow().system.events.get(event.id.0 as usize).map(|e| e.name.clone());
        let trigger = Trigger::On(event.id);
        rule(self, trigger, ("on ", &name.unwrap_or_default()), None)
    }

    /// `else`: a transition for when no other of the mode is possible.
    fn otherwise(self) -> Rule<'b> {
        rule(self, Trigger::Else, ("else", ""), None)
    }

    /// A formula that must hold while the block is active.
    fn invariant<T: Truth<'b>>(self, formula: T) {
        let formula = formula.expr(self.builder());
        let mut draft = self.builder().draft.borrow_mut();
        let span = draft.statement("invariant", formula);
        draft.block(self.owner()).invariants.push(Condition { formula, span });
    }

    /// Where the equations of the block have a meaning.
    fn domain<T: Truth<'b>>(self, formula: T) {
        let formula = formula.expr(self.builder());
        let mut draft = self.builder().draft.borrow_mut();
        let span = draft.statement("domain", formula);
        draft.block(self.owner()).domains.push(Condition { formula, span });
    }

    /// Ends the run when a formula becomes true.
    fn stop<T: Truth<'b>>(self, formula: T, message: &str) {
        let formula = formula.expr(self.builder());
        let mut draft = self.builder().draft.borrow_mut();
        let span = draft.statement("stop when", formula);
        draft.block(self.owner()).stops.push(Stop { formula, message: message.into(), span });
    }
}

impl<'b> Block<'b> for &'b Builder {
    fn builder(self) -> &'b Builder {
        self
    }
    fn owner(self) -> Option<ModeId> {
        None
    }
}

impl<'b> Block<'b> for Mode<'b> {
    fn builder(self) -> &'b Builder {
        self.builder
    }
    fn owner(self) -> Option<ModeId> {
        Some(self.id)
    }
}

/// Modes of which one is active.
#[derive(Clone, Copy, Debug)]
pub struct Automaton<'b> {
    builder: &'b Builder,
    id: AutomatonId,
}

impl<'b> Automaton<'b> {
    /// A new mode; the first one is initial.
    pub fn mode(self, name: &str) -> Mode<'b> {
        let mut draft = self.builder.draft.borrow_mut();
        let path = format!("{}.{name}", draft.system.automaton(self.id).name);
        draft.take_name(None, &path);
        let span = draft.write(&format!("mode {path}"));
        let id = ModeId(draft.system.modes.len() as u32);
        draft.system.modes.push(system::Mode {
            name: name.into(),
            automaton: self.id,
            block: Default::default(),
            transitions: vec![],
            span,
        });
        let automaton = &mut draft.system.automata[self.id.index()];
        if automaton.modes.is_empty() {
            automaton.initial = id;
        }
        automaton.modes.push(id);
        Mode { builder: self.builder, id }
    }

    /// Its index in the system.
    pub fn id(self) -> AutomatonId {
        self.id
    }
}

/// A mode; what holds in it is said through [`Block`].
#[derive(Clone, Copy, Debug)]
pub struct Mode<'b> {
    pub(super) builder: &'b Builder,
    pub(super) id: ModeId,
}

impl<'b> Mode<'b> {
    /// Makes it the mode its automaton starts in, instead of the first.
    pub fn initial(self) -> Self {
        let mut draft = self.builder.draft.borrow_mut();
        let automaton = draft.system.mode(self.id).automaton;
        draft.system.automata[automaton.index()].initial = self.id;
        drop(draft);
        self
    }

    /// Whether it is active.
    pub fn is_active(self) -> Formula<'b> {
        let mut draft = self.builder.draft.borrow_mut();
        let kind = VariableKind::InMode(self.id);
        Formula::new(self.builder, draft.mode_variable(kind, "in", self.id, Sort::Boolean))
    }

    /// The time at which it was entered last.
    pub fn entry_time(self) -> Quantity<'b> {
        let mut draft = self.builder.draft.borrow_mut();
        let kind = VariableKind::EntryTime(self.id);
        Quantity::new(self.builder, draft.mode_variable(kind, "entry", self.id, Sort::Real))
    }

    /// Its index in the system.
    pub fn id(self) -> ModeId {
        self.id
    }
}

/// Declares a variable; without a sort it has that of its start.
pub(super) fn declare<'b, H: Handle<'b>>(
    builder: &'b Builder,
    owner: Option<ModeId>,
    name: &str,
    kind: VariableKind,
    word: &str,
    sort: Option<Sort>,
    start: impl Into<Option<Assigned>>,
) -> H {
    let mut draft = builder.draft.borrow_mut();
    let name = draft.take_name(owner, name);
    let start = start.into();
    let sort = sort.unwrap_or_else(|| match start {
        Some(Assigned::Value(e)) => draft.system.graph.sort(e),
        _ => Sort::Real,
    });
    let start = start.map(|given| match given {
        Assigned::Value(e) => Assigned::Value(fit(&mut draft, e, sort, &name)),
        Assigned::Interval(..) => given,
    });
    let span = draft.write(&format!("{word} {name}"));
    H::new(builder, draft.add_variable(Variable { name, kind, sort, unit: None, start, owner, span }))
}

fn equate<'b>(
    block: impl Block<'b>,
    target: fn(saltus_expr::VarId) -> Target,
    kind: VariableKind,
    variable: Expr,
    rhs: Expr,
) {
    let mut draft = block.builder().draft.borrow_mut();
    let found = draft.variable(variable).filter(|&v| draft.system.variable(v).kind == kind);
    let Some(v) = found else {
        let wanted = if kind == VariableKind::State { "a state" } else { "a signal" };
        let expression = draft.words(variable);
        return draft.refuse(BuildError::NotA { expression, wanted });
    };
    let (sort, name) = (draft.system.variable(v).sort, draft.system.variable(v).name.clone());
    let rhs = fit(&mut draft, rhs, sort, &name);
    let prime = if kind == VariableKind::State { "'" } else { "" };
    let span = draft.statement(&format!("{name}{prime} ="), rhs);
    draft.block(block.owner()).equations.push(Equation { target: target(v), rhs, span });
}

/// A rule whose head is written as `around` the expression of its trigger.
fn rule<'b>(block: impl Block<'b>, trigger: Trigger, around: (&str, &str), e: Option<Expr>) -> Rule<'b> {
    let builder = block.builder();
    let mut draft = builder.draft.borrow_mut();
    let words = e.map_or_else(String::new, |e| draft.words_in(block.owner(), e));
    let head = format!("{}{words}{}", around.0, around.1);
    let span = draft.write(&head);
    draft.rules.push(RuleDraft::new(block.owner(), trigger, head, span));
    Rule { builder, index: draft.rules.len() - 1 }
}

fn timed<'b>(block: impl Block<'b>, time: Expr, trigger: fn(Expr) -> Trigger, word: &str) -> Rule<'b> {
    let mut draft = block.builder().draft.borrow_mut();
    let name = format!("{word}{}", draft.words(time));
    draft.require_known(time, &name);
    let time = draft.system.graph.as_real(time);
    drop(draft);
    rule(block, trigger(time), (word, ""), Some(time))
}

impl super::Draft {
    pub(super) fn block(&mut self, owner: Option<ModeId>) -> &mut system::Block {
        match owner {
            Some(m) => &mut self.system.modes[m.index()].block,
            None => &mut self.system.root,
        }
    }

    /// The number of modes around what stands in a block.
    fn depth(&self, owner: Option<ModeId>) -> usize {
        let around = |m: &ModeId| self.system.automaton(self.system.mode(*m).automaton).parent;
        std::iter::successors(owner, around).count()
    }

    /// Writes down a statement about a formula or value.
    fn statement(&mut self, word: &str, e: Expr) -> Span {
        let text = format!("{word} {}", self.words(e));
        self.write(&text)
    }

    /// Refuses a time that is not known beforehand.
    pub(super) fn require_known(&mut self, time: Expr, name: &str) {
        let flows = |v: &saltus_expr::VarId| {
            let kind = self.system.variable(*v).kind;
            matches!(kind, VariableKind::Time | VariableKind::State | VariableKind::Signal)
        };
        if self.system.graph.variables(&[time]).iter().any(flows) {
            self.refuse(BuildError::FlowingTime(name.into()));
        }
    }
}
