//! The structure of a flat hybrid system.
//!
//! Names are already resolved, components inlined, families unrolled and arrays spread: what is
//! left are scalar variables, automata with hierarchical modes, and one [`Block`] of equations and
//! reactions for the root and for each mode. The blocks of the root and of all active modes
//! together are the equations of the moment.

use crate::source::{SourceMap, Span};
use saltus_expr::{Expr, Graph, Sort, VarId};

/// Index of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AutomatonId(pub u32);

/// Index of a mode (over all automata).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModeId(pub u32);

/// Index of an event input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub u32);

impl AutomatonId {
    /// As a position in [`HybridSystem::automata`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ModeId {
    /// As a position in [`HybridSystem::modes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableKind {
    /// Simulated time; always variable 0.
    Time,
    /// Fixed for a run; `start` is its value, over earlier parameters.
    Parameter,
    /// Changed by flow and by jumps.
    State,
    /// Changed only by jumps.
    Memory,
    /// Defined by an equation of an active block at every moment. Inputs and outputs are signals.
    Signal,
    /// 1 while the mode is active, else 0.
    InMode(ModeId),
    /// The time at which the mode was entered last.
    EntryTime(ModeId),
}

impl VariableKind {
    /// True for what a run may be told to start with another value.
    pub fn is_settable(self) -> bool {
        matches!(self, Self::Parameter | Self::State | Self::Memory)
    }
}

/// A value a run gives to a variable: at the start, or in a jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Assigned {
    /// The value of an expression.
    Value(Expr),
    /// Any value between two expressions; the run's policy picks one and reports it.
    Interval(Expr, Expr),
}

/// A scalar variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Dotted path, for example `rooms[2].x`.
    pub name: String,
    /// What it is.
    pub kind: VariableKind,
    /// The sort of its values.
    pub sort: Sort,
    /// Its unit as written, for axis labels.
    pub unit: Option<String>,
    /// Starting value of a parameter, state or memory (over parameters, for a mode's own variables
    /// over everything known at entry).
    pub start: Option<Assigned>,
    /// The mode it belongs to: it starts afresh whenever that mode is entered, except by history.
    pub owner: Option<ModeId>,
    /// Where it is declared.
    pub span: Span,
}

/// `target = rhs` or `target' = rhs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// What it defines.
    pub target: Target,
    /// The defining expression. `hold x` is the derivative 0.
    pub rhs: Expr,
    /// Where it is written.
    pub span: Span,
}

/// The left-hand side of an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The derivative of a state.
    Derivative(VarId),
    /// A signal.
    Signal(VarId),
}

/// What makes a reaction or transition happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// A guard. A transition takes it as a level, a reaction as an edge.
    When(Expr),
    /// A guard read as an explicit crossing: it must have been false before in this activation
    /// (`rises`; `falls(e)` is `rises(not e)`), so it does not fire when true on entry.
    Rises(Expr),
    /// An absolute time.
    At(Expr),
    /// A delay after entry of the enclosing mode (or the start of the run).
    After(Expr),
    /// Entry time plus every whole multiple of a period (the first tick at entry).
    Every(Expr),
    /// An event input.
    On(EventId),
    /// No other transition of the same mode is enabled.
    Else,
}

/// `target := value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// A state or memory.
    pub target: VarId,
    /// Its new value, read from the values before the round.
    pub value: Assigned,
    /// Where it is written.
    pub span: Span,
}

/// A change without a change of mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// When it happens.
    pub trigger: Trigger,
    /// A further condition, read at the instant (`every 1 when x > 0 { ... }`).
    pub condition: Option<Expr>,
    /// What it changes.
    pub actions: Vec<Assignment>,
    /// Name for reports: dotted path of its scope and the text of its trigger.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// A change of mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// When it happens.
    pub trigger: Trigger,
    /// A further condition, read at the instant.
    pub condition: Option<Expr>,
    /// `may`: enabled, not forced.
    pub may: bool,
    /// `preempt`: goes before transitions of inner automata in its round.
    pub preempt: bool,
    /// The mode entered; a sibling of the source.
    pub target: ModeId,
    /// Enter by history: inner automata resume their last mode, own variables keep their values.
    pub history: bool,
    /// What it changes besides the mode.
    pub actions: Vec<Assignment>,
    /// Name for reports, for example `Heating -> Idle`.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// A formula that must hold, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Boolean expression.
    pub formula: Expr,
    /// Where it is written.
    pub span: Span,
}

/// Ends the run when its formula becomes true.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Boolean expression.
    pub formula: Expr,
    /// The message of the model's author.
    pub message: String,
    /// Where it is written.
    pub span: Span,
}

/// The equations and reactions of the root or of one mode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Definitions of derivatives and signals, in any order.
    pub equations: Vec<Equation>,
    /// Reactions, in text order.
    pub reactions: Vec<Reaction>,
    /// Formulas that must hold while the block is active.
    pub invariants: Vec<Condition>,
    /// Declared domains.
    pub domains: Vec<Condition>,
    /// Conditions that end the run.
    pub stops: Vec<Stop>,
    /// Automata that run while the block is active, in text order.
    pub automata: Vec<AutomatonId>,
}

/// A mode of an automaton.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// Its name within the automaton.
    pub name: String,
    /// The automaton it belongs to.
    pub automaton: AutomatonId,
    /// What holds while it is active.
    pub block: Block,
    /// Ways out, in text order.
    pub transitions: Vec<Transition>,
    /// Where it is written.
    pub span: Span,
}

/// Alternating modes, one of which is active while the enclosing block is.
#[derive(Clone, Debug, PartialEq)]
pub struct Automaton {
    /// Dotted path, for example `rooms[2].control`.
    pub name: String,
    /// The mode whose block it runs in; `None` for the root.
    pub parent: Option<ModeId>,
    /// Its modes, in text order.
    pub modes: Vec<ModeId>,
    /// The mode it starts in.
    pub initial: ModeId,
    /// Where it is written.
    pub span: Span,
}

/// An event that comes from outside at known times.
#[derive(Clone, Debug, PartialEq)]
pub struct EventInput {
    /// Dotted path.
    pub name: String,
    /// When it occurs, over parameters.
    pub times: Vec<Expr>,
    /// Where it is declared.
    pub span: Span,
}

/// One panel of a plot.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Panel {
    /// What is drawn, with labels; over time, or over `x` if that is given.
    pub series: Vec<(String, Expr)>,
    /// The horizontal axis, time if absent.
    pub x: Option<(String, Expr)>,
    /// Unit of the vertical axis, if all series share one.
    pub unit: Option<String>,
}

/// What the model's `run` block asks for.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RunDefaults {
    /// Stop time, over parameters.
    pub until: Option<Expr>,
    /// Panels to draw.
    pub panels: Vec<Panel>,
    /// Plain settings (`rtol`, `atol`, `policy`, `seed`, ...) as written.
    pub settings: Vec<(String, String, Span)>,
}

/// A component instance, for pictures of the hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Dotted path; empty for the root.
    pub path: String,
    /// Name of the component or model.
    pub class: String,
    /// The enclosing instance; `None` for the root.
    pub parent: Option<u32>,
    /// The mode it lives in, if it is inside one.
    pub mode: Option<ModeId>,
    /// Its automata.
    pub automata: Vec<AutomatonId>,
}

/// A flat hybrid system.
#[derive(Clone, Debug, Default)]
pub struct HybridSystem {
    /// Name of the model.
    pub name: String,
    /// The text it came from.
    pub sources: SourceMap,
    /// All expressions.
    pub graph: Graph,
    /// All variables; a [`VarId`] indexes this table. Variable 0 is time.
    pub variables: Vec<Variable>,
    /// Automata, parents before children.
    pub automata: Vec<Automaton>,
    /// Modes.
    pub modes: Vec<Mode>,
    /// What is always active.
    pub root: Block,
    /// Event inputs.
    pub events: Vec<EventInput>,
    /// Defaults of a run.
    pub run: RunDefaults,
    /// The component hierarchy, the root first.
    pub instances: Vec<Instance>,
    /// Parameters that sizes, ranges or tables were made from: their values are part of the
    /// structure and cannot be changed any more.
    pub structural: Vec<VarId>,
}

impl HybridSystem {
    /// A system with nothing but time in it.
    pub fn new(name: impl Into<String>) -> Self {
        let time = Variable {
            name: "time".into(),
            kind: VariableKind::Time,
            sort: Sort::Real,
            unit: Some("s".into()),
            start: None,
            owner: None,
            span: Span::default(),
        };
        let name = name.into();
        let root =
            Instance { path: String::new(), class: name.clone(), parent: None, mode: None, automata: vec![] };
        Self { name, variables: vec![time], instances: vec![root], ..Self::default() }
    }

    /// The variable behind an index.
    pub fn variable(&self, v: VarId) -> &Variable {
        &self.variables[v.index()]
    }

    /// The mode behind an index.
    pub fn mode(&self, m: ModeId) -> &Mode {
        &self.modes[m.index()]
    }

    /// The automaton behind an index.
    pub fn automaton(&self, a: AutomatonId) -> &Automaton {
        &self.automata[a.index()]
    }

    /// The variables of one kind, in declaration order.
    pub fn variables_of(&self, kind: VariableKind) -> impl Iterator<Item = VarId> + '_ {
        (0..self.variables.len() as u32).map(VarId).filter(move |&v| self.variable(v).kind == kind)
    }

    /// The block of a mode, or of the root for `None`.
    pub fn block(&self, owner: Option<ModeId>) -> &Block {
        owner.map_or(&self.root, |m| &self.mode(m).block)
    }

    /// Full name of a mode, for example `rooms[2].control.Heating`.
    pub fn mode_path(&self, m: ModeId) -> String {
        let mode = self.mode(m);
        format!("{}.{}", self.automaton(mode.automaton).name, mode.name)
    }
}
