//! What a run tells about itself: how it ended, what happened, what it cost.

use crate::trace::Trace;
use saltus_expr::VarId;
use saltus_model::{AutomatonId, ModeId, Span};
use std::sync::Arc;

/// Hyperdense time: real time, infinitesimal steps, mode iterations; ordered lexicographically.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Stamp {
    /// Real time.
    pub t: f64,
    /// Rounds that changed a state.
    pub n: u32,
    /// Rounds since then that changed only modes and memories.
    pub i: u32,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The stop time was reached.
    Finished,
    /// A stop condition of the model became true.
    Stopped,
    /// An invariant ends and no transition is enabled.
    Blocked,
    /// The model does not exist beyond the last state.
    LeftDomain,
    /// Events accumulate at a point of time.
    Zeno,
    /// Jumps repeat at one point of time.
    ZeroTimeLoop,
    /// A bound of the run was reached.
    Limit,
    /// The model contradicts itself.
    Failed,
}

impl Status {
    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Blocked => "blocked",
            Self::LeftDomain => "left_domain",
            Self::Zeno => "zeno",
            Self::ZeroTimeLoop => "zero_time_loop",
            Self::Limit => "limit",
            Self::Failed => "failed",
        }
    }

    /// True if the run went as far as it was asked to.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Finished | Self::Stopped)
    }
}

/// What kind of event it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A change of mode.
    Transition,
    /// A reaction to a guard.
    Reaction,
    /// A reaction to a point of time or an event input.
    Time,
    /// A reaction to a sample time.
    Sample,
    /// The end of an accumulating sequence.
    Zeno,
}

impl EventKind {
    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Transition => "transition",
            Self::Reaction => "reaction",
            Self::Time => "time",
            Self::Sample => "sample",
            Self::Zeno => "zeno",
        }
    }
}

/// A variable changed by an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The variable.
    pub variable: VarId,
    /// Its value before the round.
    pub before: f64,
    /// Its value after the round.
    pub after: f64,
}

/// One recorded event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Instant of the configuration after the round.
    pub stamp: Stamp,
    /// What kind of event it was.
    pub kind: EventKind,
    /// Name of the rule: `From -> To` or the text of the trigger.
    pub name: Arc<str>,
    /// Automaton, source and target of a transition.
    pub transition: Option<(AutomatonId, ModeId, ModeId)>,
    /// Where the rule is written.
    pub span: Span,
    /// Range of its changes in [`Run::changes`].
    pub changes: std::ops::Range<usize>,
}

/// Why and where a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// How.
    pub status: Status,
    /// The last instant reached.
    pub stamp: Stamp,
    /// The cause in plain words.
    pub reason: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The place in the model it is about.
    pub span: Option<Span>,
}

/// A remark about a decision of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// When.
    pub t: f64,
    /// What.
    pub text: String,
}

/// What was proved of a run: for each proved step, that the exact flow of the model's expressions
/// from the *computed* point at its start exists on the step, leaves no domain, and that no guard
/// changes its sign but in the brackets of the reported events. Not that the computed points lie on
/// one flow, and no bound of the global error; see [`saltus_solve::certificate`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Steps that are proved.
    pub proved_steps: u64,
    /// Time they cover.
    pub proved_time: f64,
    /// Steps of which nothing could be proved.
    pub unproved_steps: u64,
    /// Number of doubts.
    pub doubtful: u64,
    /// The first of them.
    pub doubts: Vec<Doubt>,
}

/// A part of a run where something could not be decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// From when.
    pub from: f64,
    /// To when.
    pub to: f64,
    /// What.
    pub what: String,
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Accepted steps.
    pub steps: u64,
    /// Steps given up and tried again shorter.
    pub rejected: u64,
    /// Evaluations of the equations at a point.
    pub rhs_evals: u64,
    /// Evaluations of the flow at points where it or its mode does not exist, also ahead of a step.
    pub outside_domain_evals: u64,
    /// Taylor expansions of the flow.
    pub jet_evals: u64,
    /// Guard polynomials whose roots had to be isolated.
    pub root_searches: u64,
    /// Instants.
    pub instants: u64,
    /// Rounds that changed something.
    pub jumps: u64,
    /// Branches of non-smooth functions changed.
    pub switchings: u64,
    /// Mode combinations entered.
    pub combinations: u64,
    /// Distinct programs of the model.
    pub programs: u64,
    /// Mode combinations translated to native code.
    pub native: u64,
    /// Seconds of processor time spent on preparing code.
    pub compile_seconds: f64,
    /// Seconds of the run.
    pub seconds: f64,
}

/// A complete run.
#[derive(Debug)]
pub struct Run {
    /// How it ended.
    pub ending: Ending,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// Values changed by events; see [`Event::changes`].
    pub changes: Vec<Change>,
    /// Last value of every variable, by [`VarId`].
    pub values: Vec<f64>,
    /// Last mode of every automaton; `None` for inactive ones.
    pub modes: Vec<Option<ModeId>>,
    /// What was proved, if that was asked for.
    pub certificate: Option<Certificate>,
    /// Remarks.
    pub notes: Vec<Note>,
    /// What it cost.
    pub stats: Stats,
    /// The flow between the events.
    pub trace: Trace,
}

impl Run {
    /// The changes of one event.
    pub fn changes_of(&self, event: &Event) -> &[Change] {
        &self.changes[event.changes.clone()]
    }
}
