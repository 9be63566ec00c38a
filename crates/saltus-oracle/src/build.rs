//! A terse way to write small hybrid systems in tests and in the random generator.
//!
//! Every method adds one thing; guards are expressions of the system's own graph. Names of
//! reactions and transitions are made from their place, so that records can be compared by name.

use saltus_expr::{Binary, Expr, Node, Sort, Unary, VarId};
use saltus_model::{
    Assigned, Assignment, Automaton, AutomatonId, Block, Condition, Equation, EventId, EventInput,
    HybridSystem, Mode, ModeId, Reaction, Span, Stop, Target, Transition, Trigger, Variable, VariableKind,
};

/// A hybrid system under construction.
#[derive(Clone, Debug)]
pub struct Builder {
    system: HybridSystem,
}

/// Something that can stand in an expression.
#[derive(Clone, Copy, Debug)]
pub enum Term {
    /// A variable.
    Variable(VarId),
    /// A real number.
    Number(f64),
    /// An expression of the builder's graph.
    Expression(Expr),
}

impl From<VarId> for Term {
    fn from(v: VarId) -> Self {
        Self::Variable(v)
    }
}

impl From<f64> for Term {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<Expr> for Term {
    fn from(e: Expr) -> Self {
        Self::Expression(e)
    }
}

/// Time, in every system.
pub const TIME: VarId = VarId(0);

impl Builder {
    /// An empty system.
    pub fn new(name: &str) -> Self {
        Self { system: HybridSystem::new(name) }
    }

    /// The system.
    pub fn finish(self) -> HybridSystem {
        self.system
    }

    /// The system so far.
    pub fn system(&self) -> &HybridSystem {
        &self.system
    }

    fn variable(
        &mut self,
        name: &str,
        kind: VariableKind,
        sort: Sort,
        owner: Option<ModeId>,
        start: Option<Expr>,
    ) -> VarId {
        self.system.variables.push(Variable {
            name: name.into(),
            kind,
            sort,
            unit: None,
            start: start.map(Assigned::Value),
            owner,
            span: Span::default(),
        });
        VarId(self.system.variables.len() as u32 - 1)
    }

    /// A parameter.
    pub fn parameter(&mut self, name: &str, value: f64) -> VarId {
        let start = self.system.graph.real(value);
        self.variable(name, VariableKind::Parameter, Sort::Real, None, Some(start))
    }

    /// A state of the root.
    pub fn state(&mut self, name: &str, start: f64) -> VarId {
        self.own_state(None, name, start)
    }

    /// A state that belongs to a mode.
    pub fn own_state(&mut self, owner: Option<ModeId>, name: &str, start: f64) -> VarId {
        let start = self.system.graph.real(start);
        self.variable(name, VariableKind::State, Sort::Real, owner, Some(start))
    }

    /// A memory of any sort, of the root or of a mode; an Integer or Boolean start is a whole number.
    pub fn memory(&mut self, owner: Option<ModeId>, name: &str, sort: Sort, start: f64) -> VarId {
        let start = self.constant(sort, start);
        self.variable(name, VariableKind::Memory, sort, owner, Some(start))
    }

    /// The variable that is 1 while a mode is active.
    pub fn in_mode(&mut self, mode: ModeId) -> VarId {
        let name = format!("in({})", self.system.mode_path(mode));
        self.variable(&name, VariableKind::InMode(mode), Sort::Boolean, None, None)
    }

    /// The variable that holds the time at which a mode was entered.
    pub fn entry_time(&mut self, mode: ModeId) -> VarId {
        let name = format!("entry({})", self.system.mode_path(mode));
        self.variable(&name, VariableKind::EntryTime(mode), Sort::Real, None, None)
    }

    /// An event input.
    pub fn event(&mut self, name: &str, times: &[f64]) -> EventId {
        let times = times.iter().map(|&t| self.system.graph.real(t)).collect();
        self.system.events.push(EventInput { name: name.into(), times, span: Span::default() });
        EventId(self.system.events.len() as u32 - 1)
    }

    /// An automaton in the root or inside a mode; its first mode is initial.
    pub fn automaton(&mut self, parent: Option<ModeId>, name: &str) -> AutomatonId {
        let id = AutomatonId(self.system.automata.len() as u32);
        self.system.automata.push(Automaton {
            name: name.into(),
            parent,
            modes: vec![],
            initial: ModeId(u32::MAX),
            span: Span::default(),
        });
        self.block(parent).automata.push(id);
        self.system.instances[0].automata.push(id);
        id
    }

    /// A mode of an automaton.
    pub fn mode(&mut self, automaton: AutomatonId, name: &str) -> ModeId {
        let id = ModeId(self.system.modes.len() as u32);
        self.system.modes.push(Mode {
            name: name.into(),
            automaton,
            block: Block::default(),
            transitions: vec![],
            span: Span::default(),
        });
        let automaton = &mut self.system.automata[automaton.index()];
        if automaton.modes.is_empty() {
            automaton.initial = id;
        }
        automaton.modes.push(id);
        id
    }

    fn block(&mut self, owner: Option<ModeId>) -> &mut Block {
        match owner {
            Some(m) => &mut self.system.modes[m.index()].block,
            None => &mut self.system.root,
        }
    }

    /// `state' = slope` in a block.
    pub fn slope(&mut self, block: Option<ModeId>, state: VarId, slope: impl Into<Term>) {
        let rhs = self.expr(slope);
        let equation = Equation { target: Target::Derivative(state), rhs, span: Span::default() };
        self.block(block).equations.push(equation);
    }

    /// A signal with its definition in the root.
    pub fn signal(&mut self, name: &str, sort: Sort, rhs: impl Into<Term>) -> VarId {
        let rhs = self.expr(rhs);
        let v = self.variable(name, VariableKind::Signal, sort, None, None);
        self.system.root.equations.push(Equation { target: Target::Signal(v), rhs, span: Span::default() });
        v
    }

    /// A constant of any sort.
    pub fn constant(&mut self, sort: Sort, value: f64) -> Expr {
        match sort {
            Sort::Real => self.system.graph.real(value),
            Sort::Integer => self.system.graph.integer(value as i64),
            Sort::Boolean => self.system.graph.boolean(value != 0.0),
        }
    }

    /// A term as an expression.
    pub fn expr(&mut self, term: impl Into<Term>) -> Expr {
        match term.into() {
            Term::Variable(v) => {
                let sort = self.system.variable(v).sort;
                self.system.graph.var(v, sort)
            }
            Term::Number(value) => self.system.graph.real(value),
            Term::Expression(e) => e,
        }
    }

    /// An operation on two terms.
    pub fn binary(&mut self, op: Binary, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        let (a, b) = (self.expr(a), self.expr(b));
        self.system.graph.intern(Node::Binary(op, a, b))
    }

    /// An operation on one term.
    pub fn unary(&mut self, op: Unary, a: impl Into<Term>) -> Expr {
        let a = self.expr(a);
        self.system.graph.intern(Node::Unary(op, a))
    }

    /// `a + b`.
    pub fn add(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.binary(Binary::Add, a, b)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.binary(Binary::Mul, a, b)
    }

    /// `a <= b`.
    pub fn le(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.binary(Binary::Le, a, b)
    }

    /// `a < b`.
    pub fn lt(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.binary(Binary::Lt, a, b)
    }

    /// `a >= b`.
    pub fn ge(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.swapped(Binary::Le, a, b)
    }

    /// `a > b`.
    pub fn gt(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.swapped(Binary::Lt, a, b)
    }

    fn swapped(&mut self, op: Binary, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.binary(op, b, a)
    }

    /// `a == b`.
    pub fn eq(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.binary(Binary::Eq, a, b)
    }

    /// `a and b`.
    pub fn and(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.binary(Binary::And, a, b)
    }

    /// `a or b`.
    pub fn or(&mut self, a: impl Into<Term>, b: impl Into<Term>) -> Expr {
        self.binary(Binary::Or, a, b)
    }

    /// `not a`.
    pub fn not(&mut self, a: impl Into<Term>) -> Expr {
        self.unary(Unary::Not, a)
    }

    /// `target := value`.
    pub fn set(&mut self, target: VarId, value: impl Into<Term>) -> Assignment {
        Assignment { target, value: Assigned::Value(self.expr(value)), span: Span::default() }
    }

    /// `target := target + value` for an Integer memory.
    pub fn count(&mut self, target: VarId) -> Assignment {
        let one = self.system.graph.integer(1);
        let value = self.add(target, one);
        self.set(target, value)
    }

    /// A reaction.
    pub fn reaction(
        &mut self,
        block: Option<ModeId>,
        trigger: Trigger,
        condition: Option<Expr>,
        actions: Vec<Assignment>,
    ) {
        let scope = block.map_or("root".into(), |m| self.system.mode_path(m));
        let reactions = &mut self.block(block).reactions;
        let name = format!("{scope} reaction {}", reactions.len() + 1);
        reactions.push(Reaction { trigger, condition, actions, name, span: Span::default() });
    }

    /// A transition; the flags and actions can be changed through the returned reference.
    pub fn transition(&mut self, from: ModeId, trigger: Trigger, to: ModeId) -> &mut Transition {
        let name = format!(
            "{} -> {} ({})",
            self.system.mode_path(from),
            self.system.mode(to).name,
            self.system.mode(from).transitions.len() + 1
        );
        let mode = &mut self.system.modes[from.index()];
        mode.transitions.push(Transition {
            trigger,
            condition: None,
            may: false,
            preempt: false,
            target: to,
            history: false,
            actions: vec![],
            name,
            span: Span::default(),
        });
        let last = mode.transitions.len() - 1;
        &mut mode.transitions[last]
    }

    /// `when guard -> to`.
    pub fn when(&mut self, from: ModeId, guard: Expr, to: ModeId) -> &mut Transition {
        self.transition(from, Trigger::When(guard), to)
    }

    /// `when guard { actions }` in a block.
    pub fn react(&mut self, block: Option<ModeId>, guard: Expr, actions: Vec<Assignment>) {
        self.reaction(block, Trigger::When(guard), None, actions);
    }

    /// A trigger at an absolute time.
    pub fn at(&mut self, time: impl Into<Term>) -> Trigger {
        Trigger::At(self.expr(time))
    }

    /// A trigger after a delay.
    pub fn after(&mut self, delay: impl Into<Term>) -> Trigger {
        Trigger::After(self.expr(delay))
    }

    /// A periodic trigger.
    pub fn every(&mut self, period: impl Into<Term>) -> Trigger {
        Trigger::Every(self.expr(period))
    }

    /// An invariant of a block.
    pub fn invariant(&mut self, block: Option<ModeId>, formula: Expr) {
        self.block(block).invariants.push(Condition { formula, span: Span::default() });
    }

    /// A declared domain of a block.
    pub fn domain(&mut self, block: Option<ModeId>, formula: Expr) {
        self.block(block).domains.push(Condition { formula, span: Span::default() });
    }

    /// A stop condition of a block.
    pub fn stop(&mut self, block: Option<ModeId>, formula: Expr, message: &str) {
        self.block(block).stops.push(Stop { formula, message: message.into(), span: Span::default() });
    }
}
