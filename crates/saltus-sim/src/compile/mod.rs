//! From the flat system to code: slots, units, atoms, switches and rules.
//!
//! Everything is compiled once, per local mode block; a mode combination only selects and orders
//! units. Units are split by component instance, and equal programs are one object, so a thousand
//! instances of a component have the code of one.

mod builder;
mod edges;
mod flat;
pub(crate) mod formula;
mod lower;

pub(crate) use builder::compile;
use edges::live;
pub(crate) use edges::{Edge, EdgeKind, Unless};
pub(crate) use flat::Flat;
pub(crate) use formula::{AtomId, Formula, Signs};
pub(crate) use lower::{Switch, SwitchKind};

use crate::combination::Combination;
use crate::gradient::Gradient;
use saltus_expr::hash::QuickMap;
use saltus_expr::{Expr, Graph, PlanBlock, Program, VarId};
use saltus_model::{AutomatonId, EventId, ModeId, Span};
use std::sync::{Arc, OnceLock};

/// A quantity whose sign is watched.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    /// Where its value lands.
    pub slot: u32,
    /// The smooth expression.
    pub quantity: Expr,
    /// Slots of states, memories, switches and automata it depends on, through signals too.
    pub depends: Vec<u32>,
    /// A program for the quantity, if nothing but time moves it during a flow.
    pub of_time: Option<Scalar>,
    /// True if the motions of its variables may cancel in it.
    pub may_cancel: bool,
}

/// The code of the root or of one mode.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockCode {
    /// Units that define signals and derivatives, grouped by instance.
    pub flow: Vec<PlanBlock>,
    /// The same, one unit for each equation: for combinations whose groups depend on each other in
    /// a circle although their equations do not.
    pub split: Vec<PlanBlock>,
    /// Indices of the units that define its atoms.
    pub guards: Vec<u32>,
    /// Integrated states: slots of value and derivative.
    pub states: Vec<(u32, u32)>,
    pub atoms: Vec<AtomId>,
    /// Smooth right-hand sides of the equations and quantities of the guards, with their slots.
    pub expressions: Vec<(u32, Expr)>,
    pub edges: Vec<Edge>,
    /// For each edge that is a kink the slots of the expressions that the function is part of.
    pub kinked: Vec<Vec<u32>>,
    /// Indices of switches.
    pub switches: Vec<u32>,
    /// Indices of rules: reactions, then transitions, in text order.
    pub rules: Vec<u32>,
    pub invariants: Vec<Watched>,
    pub stops: Vec<(Watched, String)>,
    pub domains: Vec<Watched>,
    /// Starting values of own variables, in the order of declaration.
    pub starts: Vec<Actions>,
}

/// A formula with its place.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub formula: Formula,
    pub span: Span,
}

/// What a rule does to the modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    Reaction,
    Transition {
        automaton: AutomatonId,
        from: ModeId,
        target: ModeId,
        history: bool,
        may: bool,
        preempt: bool,
    },
}

/// When a rule fires.
#[derive(Clone, Debug)]
pub(crate) enum When {
    Level(Formula),
    /// `on_entry`: fires also when true at activation.
    Edge {
        formula: Formula,
        on_entry: bool,
    },
    At(Scalar),
    After(Scalar),
    Every(Scalar),
    On(EventId),
    /// No level of another transition of the mode is enabled.
    Else(Formula),
}

/// An expression evaluated on its own.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub program: Arc<Program>,
    pub inputs: Vec<u32>,
}

/// A reaction or transition.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub effect: Effect,
    pub owner: Option<ModeId>,
    pub when: When,
    pub condition: Option<Formula>,
    pub actions: Option<Actions>,
    pub name: Arc<str>,
    pub span: Span,
}

/// Simultaneous assignments: one program, two outputs for each target (equal unless an interval).
#[derive(Clone, Debug)]
pub(crate) struct Actions {
    /// Formulas read as values, and where the program finds them.
    pub readings: Vec<(u32, Formula)>,
    pub program: Arc<Program>,
    pub inputs: Vec<u32>,
    pub targets: Vec<Written>,
}

/// One assignment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub target: VarId,
    pub interval: bool,
    pub span: Span,
}

/// All code of a system.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// The system's graph, extended by lowered expressions.
    pub graph: Graph,
    /// Number of environment slots.
    pub slots: usize,
    /// Slot of each automaton's current mode.
    pub automaton_slots: Vec<u32>,
    pub atoms: Vec<Atom>,
    /// The gradients of the atoms; made when first needed.
    pub gradients: OnceLock<Arc<[Gradient]>>,
    /// The atoms that depend on each slot.
    pub dependents: Vec<Vec<AtomId>>,
    /// Units that define atoms; each atom is in exactly one.
    pub guard_units: Vec<PlanBlock>,
    pub switches: Vec<Switch>,
    /// What smooth expressions stand for, if they do not stand in the system as they are.
    pub origins: QuickMap<Expr, Expr>,
    /// Slots with the arguments of functions that may be flat, and these functions with the slots of
    /// exponents.
    pub flat: QuickMap<u32, Flat<u32>>,
    pub rules: Vec<Rule>,
    /// Starting values of parameters, states and memories, by variable.
    pub starts: Vec<Option<Actions>>,
    /// The stop time of the model's own run.
    pub until: Option<Scalar>,
    /// Times of event inputs.
    pub event_times: Vec<Vec<Scalar>>,
    /// Index 0 is the root, index m + 1 is mode m.
    pub blocks: Vec<BlockCode>,
    /// Number of distinct programs: what a native compiler would have to compile.
    pub programs: usize,
}

impl Code {
    /// Whether the domains of a combination that values of the flow do not tell hold for values of
    /// its atoms, told by slots: declared ones, and those of tables.
    pub fn is_inside(&self, combination: &Combination, env: &[f64], value: impl Fn(u32) -> f64) -> bool {
        if !combination.has_domains {
            return true;
        }
        let mut blocks = combination.blocks.iter().map(|&b| &self.blocks[b as usize]);
        blocks.all(|block| {
            let mut ends = block.edges.iter().filter(|e| e.has_values_beyond);
            block.domains.iter().all(|w| combination.satisfies(&w.formula, env, &value))
                && ends.all(|e| {
                    value(self.atoms[e.atom.index()].slot) >= 0.0 || !self.is_live(combination, env, e)
                })
        })
    }

    /// True if the function of an edge of a combination takes part in the equations or guards with the
    /// branches in force.
    pub fn is_live(&self, combination: &Combination, env: &[f64], edge: &Edge) -> bool {
        if edge.is_always_live {
            return true;
        }
        let blocks = combination.blocks.iter().map(|&b| &self.blocks[b as usize]);
        let roots = blocks.flat_map(|b| b.expressions.iter().map(|e| e.1)).collect();
        live(&self.graph, roots, |v| Some(env[v.index()] != 0.0)).contains(&edge.node)
    }

    /// The code of the root (`None`) or of a mode.
    pub fn block(&self, owner: Option<ModeId>) -> &BlockCode {
        &self.blocks[owner.map_or(0, |m| m.index() + 1)]
    }
}
