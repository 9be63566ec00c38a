//! The semantics of a run as a program: a small, slow, exact reference interpreter.
//!
//! [`run`] executes a [`HybridSystem`] in rational arithmetic, written sentence by sentence from
//! `docs/semantics.md` and sharing nothing with the engines, which are compared with it. It covers
//! flows that are polynomials in time (constant derivatives, and chains of them), guards whose
//! event times are rational, and every discrete construct. What lies outside is refused as
//! [`Unsupported`], never approximated. [`random`] makes small valid systems of this class for
//! comparisons, [`text`] prints them.
//!
//! ```
//! use saltus_oracle::{Limits, Policy, Status, build::Builder, rational, run};
//!
//! // A thermostat with constant slopes: heats by 2, cools by 1, between 0 and 1.
//! let mut b = Builder::new("Thermostat");
//! let x = b.state("x", 0.0);
//! let a = b.automaton(None, "control");
//! let heating = b.mode(a, "Heating");
//! let idle = b.mode(a, "Idle");
//! b.slope(Some(heating), x, 2.0);
//! b.slope(Some(idle), x, -1.0);
//! let (hot, cold) = (b.ge(x, 1.0), b.le(x, 0.0));
//! b.when(heating, hot, idle);
//! b.when(idle, cold, heating);
//! let outcome = run(&b.finish(), rational(3, 1), Policy::Eager, Limits::default()).unwrap();
//! assert_eq!(outcome.status, Status::Finished);
//! let times: Vec<_> = outcome.events.iter().map(|e| e.t.clone()).collect();
//! assert_eq!(times, [rational(1, 2), rational(3, 2), rational(2, 1), rational(3, 1)]);
//! ```

pub mod build;
mod configuration;
mod doubt;
mod evaluate;
mod instant;
mod polynomial;
pub mod random;
mod rational;
mod round;
pub mod text;
mod time;
mod trigger;

use num_bigint::BigInt;
pub use rational::{Rational, rational};
use saltus_expr::VarId;
use saltus_model::{AutomatonId, HybridSystem, ModeId, Span};
use thiserror::Error;

/// What becomes of enabled `may` transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// They are treated like urgent ones.
    Eager,
    /// They are taken only when an ending invariant forces them.
    Lazy,
}

/// Where a run gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rounds at one time.
    pub rounds_per_instant: usize,
    /// Records in the whole run; reached by sequences of events that accumulate.
    pub events: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rounds_per_instant: 1000, events: 10_000 }
    }
}

/// How a run ended, in the words of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// The stop time was reached.
    Finished,
    /// A stop condition was true.
    Stopped,
    /// An invariant ends and nothing may be taken.
    Blocked,
    /// A declared domain ends.
    LeftDomain,
    /// A configuration occurred twice at the same time.
    ZeroTimeLoop,
    /// One of the [`Limits`].
    Limit,
    /// An error of the model: two writes to a variable, a missing derivative, a division by zero.
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
            Self::ZeroTimeLoop => "zero_time_loop",
            Self::Limit => "limit",
            Self::Failed => "failed",
        }
    }
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventKind {
    /// A transition, whatever its trigger.
    Transition,
    /// A reaction with `when` or `rises`.
    Reaction,
    /// A reaction with `at`, `after` or `on`.
    Time,
    /// A reaction with `every`.
    Sample,
}

impl EventKind {
    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Transition => "transition",
            Self::Reaction => "reaction",
            Self::Time => "time",
            Self::Sample => "sample",
        }
    }
}

/// One taken transition or reaction, stamped with the configuration after its round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time.
    pub t: Rational,
    /// Rounds that assigned a state, so far at this time.
    pub n: usize,
    /// Rounds since then that did not.
    pub i: usize,
    /// What it is.
    pub kind: EventKind,
    /// Name of the reaction or transition.
    pub name: String,
    /// Automaton of a transition.
    pub automaton: Option<AutomatonId>,
    /// Mode left by a transition.
    pub from: Option<ModeId>,
    /// Mode entered by a transition.
    pub to: Option<ModeId>,
    /// Where it is written.
    pub span: Span,
    /// Values before the round of the variables it assigned, in order of assignment.
    pub before: Vec<(VarId, Rational)>,
    /// Values after the round of the same variables.
    pub after: Vec<(VarId, Rational)>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Why, in words; empty for [`Status::Finished`]. For [`Status::Stopped`] the message of the
    /// stop condition.
    pub reason: String,
    /// The last stamp (t, n, i).
    pub stop: (Rational, usize, usize),
    /// All records.
    pub events: Vec<Event>,
    /// Final values of all variables that have one (all but signals), by [`VarId`]; signals are 0.
    pub values: Vec<Rational>,
    /// Final mode of each automaton by [`AutomatonId`], `None` where it is not active.
    pub modes: Vec<Option<ModeId>>,
    /// For [`Status::ZeroTimeLoop`]: how many of the last records are one turn of the cycle.
    pub cycle: usize,
    /// The first time at which a decision hung on less than rounding: from here on an engine that
    /// rounds may rightly come to another outcome.
    pub doubtful_from: Option<Rational>,
}

impl Outcome {
    /// True if all recorded times and values, and the final ones, are small dyadic fractions: an
    /// engine that computes in doubles can then be asked for exactly this outcome.
    pub fn is_exact_in_doubles(&self) -> bool {
        let largest = BigInt::from(1u64 << 24);
        let small = |r: &Rational| {
            r.denom().magnitude().count_ones() == 1
                && *r.denom() <= largest
                && r.numer().magnitude() <= largest.magnitude()
        };
        let recorded = |e: &Event| small(&e.t) && e.before.iter().chain(&e.after).all(|(_, v)| small(v));
        self.events.iter().all(recorded) && self.values.iter().all(small)
    }

    /// The records of one turn of the zero-time loop; empty for other ends.
    pub fn cycle_events(&self) -> &[Event] {
        &self.events[self.events.len() - self.cycle..]
    }
}

/// The system or one of its event times lies outside what the oracle can do exactly.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("outside the exact class: {0}")]
pub struct Unsupported(pub String);

/// Executes a system from time 0 until the given time. See the crate documentation for what is
/// supported.
pub fn run(
    system: &HybridSystem,
    until: Rational,
    policy: Policy,
    limits: Limits,
) -> Result<Outcome, Unsupported> {
    instant::Run::new(system, until, policy, limits).execute()
}

/// Why evaluation cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// An error of the model.
    Failed(String),
    /// Outside the exact class.
    Unsupported(String),
}

/// Result of evaluation.
pub(crate) type Exact<T> = Result<T, Halt>;
