//! Random small systems of the exact class, for comparing engines with the oracle.
//!
//! [`random_system`] makes a valid system from a seed: every state has exactly one derivative in
//! every combination of modes. Thresholds, resets, times and periods come from a few favourite
//! numbers, so that events coincide often. In most systems each variable has one writer, so that
//! no round assigns it twice; a small share drops this rule on purpose.
//!
//! ```
//! use saltus_oracle::{Limits, random::random_system, run};
//!
//! let random = random_system(7);
//! let outcome = run(&random.system, random.until, random.policy, Limits::default());
//! assert!(outcome.is_ok());
//! ```

mod numbers;
mod rules;
mod structure;

use crate::build::Builder;
use crate::{Policy, Rational, rational};
use numbers::{Dice, Numbers};
use saltus_expr::{Sort, VarId};
use saltus_model::{AutomatonId, EventId, HybridSystem, ModeId, VariableKind};
use std::collections::HashMap;

/// A random system with the run it is meant for.
#[derive(Clone, Debug)]
pub struct RandomSystem {
    /// The system; its name holds the seed.
    pub system: HybridSystem,
    /// Stop time.
    pub until: Rational,
    /// Policy for `may` transitions.
    pub policy: Policy,
    /// All numbers of the system are small dyadic fractions. Then most runs are exact in double
    /// arithmetic ([`Outcome::is_exact_in_doubles`](crate::Outcome::is_exact_in_doubles) tells).
    /// Otherwise some numbers are general doubles, and events that nearly coincide may be seen in
    /// another order by an engine that rounds.
    pub dyadic: bool,
    /// Variables may be assigned twice in a round.
    pub clashing: bool,
}

/// The random system of a seed; equal seeds give equal systems.
pub fn random_system(seed: u64) -> RandomSystem {
    let mut generator = Generator::new(seed);
    generator.structure();
    generator.rules();
    generator.finish()
}

/// The random system of a seed as text, with its run: for messages about failing cases.
pub fn random_text(seed: u64) -> String {
    let random = random_system(seed);
    let policy = match random.policy {
        Policy::Eager => "eager",
        Policy::Lazy => "lazy",
    };
    format!(
        "// seed {seed}, until {}, policy {policy}\n{}",
        random.until,
        crate::text::system_text(&random.system)
    )
}

/// Who may assign a variable; in one round each of them does so at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// One reaction of the root.
    Root,
    /// The transitions of an automaton.
    Transitions(AutomatonId),
    /// One reaction in each mode of an automaton.
    Reactions(AutomatonId),
}

/// A system in the making.
struct Generator {
    dice: Dice,
    numbers: Numbers,
    b: Builder,
    modes: Vec<ModeId>,
    event: Option<EventId>,
    /// Constant slopes by block and state, to aim guards.
    slopes: HashMap<(Option<ModeId>, VarId), f64>,
    /// Real memories that serve as slopes.
    rates: Vec<VarId>,
    writers: HashMap<VarId, Writer>,
    clashing: bool,
    policy: Policy,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let numbers = Numbers::new(&mut dice);
        let clashing = dice.chance(12);
        let policy = if dice.chance(30) { Policy::Lazy } else { Policy::Eager };
        Self {
            dice,
            numbers,
            b: Builder::new(&format!("Random{seed}")),
            modes: vec![],
            event: None,
            slopes: HashMap::new(),
            rates: vec![],
            writers: HashMap::new(),
            clashing,
            policy,
        }
    }

    fn finish(mut self) -> RandomSystem {
        RandomSystem {
            until: rational(4 + self.dice.below(5) as i64, 1),
            system: self.b.finish(),
            policy: self.policy,
            dyadic: self.numbers.dyadic,
            clashing: self.clashing,
        }
    }

    /// The mode around a mode, if any.
    fn parent(&self, mode: ModeId) -> Option<ModeId> {
        let system = self.b.system();
        system.automaton(system.mode(mode).automaton).parent
    }

    /// A block and those around it, the root last.
    fn scope(&self, block: Option<ModeId>) -> Vec<Option<ModeId>> {
        let mut scope = vec![block];
        let mut around = block;
        while let Some(mode) = around {
            around = self.parent(mode);
            scope.push(around);
        }
        scope
    }

    /// The variables of a kind and sort that can be seen in a block.
    fn visible(&self, block: Option<ModeId>, kind: VariableKind, sort: Sort) -> Vec<VarId> {
        let scope = self.scope(block);
        let system = self.b.system();
        let seen = |v: &VarId| {
            let variable = system.variable(*v);
            variable.sort == sort && scope.contains(&variable.owner)
        };
        system.variables_of(kind).filter(seen).collect()
    }
}
