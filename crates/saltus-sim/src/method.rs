//! Which integrator makes the steps, and how events are found on them.

use std::fmt;
use std::str::FromStr;

/// The integrator of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Solver {
    /// Explicit Taylor expansion; evaluates the flow only where the run stands.
    #[default]
    Taylor,
    /// Adams predictor-corrector of variable step and order.
    Adams,
    /// The Runge-Kutta pair of Dormand and Prince, orders 5 and 4.
    RungeKutta,
    /// Euler's method with a fixed step.
    Euler,
    /// The classical Runge-Kutta method with a fixed step.
    Rk4,
}

/// How events are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventMethod {
    /// Signs at the ends of steps are compared: misses what crosses twice, finds the rest late.
    Endpoint,
    /// The step is made first; then roots of the guards on its polynomial are located. Misses no
    /// root of that polynomial, but evaluates the flow wherever the step leads.
    Interpolation,
    /// The same with roots counted by Sturm's sequences.
    Sturm,
    /// Roots of the guards on the prediction bound the step before anything is evaluated ahead:
    /// misses no root of the computed polynomial and never evaluates outside the domain.
    Extrapolation,
    /// Extrapolation as figure 5 of Esposito and Kumar prints it, for comparison: guards are
    /// linearised, nothing is tested before it is evaluated.
    Printed,
    /// Proves that no guard changes unnoticed and no domain is left, for the true flow from the
    /// computed point.
    Certified,
    /// Proves the local error too.
    Validated,
}

/// What stands for a guard on the prediction of the solver adams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum GuardForm {
    /// The guard composed with the prediction, in polynomial arithmetic: nothing is lost.
    #[default]
    Composed,
    /// One more state for each guard, integrated from its derivative along the flow: it drifts away
    /// from the guard with the error of the steps. For comparison.
    Appended,
    /// The guard made linear at the start of the step. For comparison.
    Linearised,
}

impl Solver {
    /// All solvers.
    pub const ALL: [Solver; 5] =
        [Solver::Taylor, Solver::Adams, Solver::RungeKutta, Solver::Euler, Solver::Rk4];

    /// The word for it on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Solver::Taylor => "taylor",
            Solver::Adams => "adams",
            Solver::RungeKutta => "rk",
            Solver::Euler => "euler",
            Solver::Rk4 => "rk4",
        }
    }

    /// The event methods that make sense with it, the default first.
    pub fn methods(self) -> &'static [EventMethod] {
        use EventMethod::{Certified, Endpoint, Extrapolation, Interpolation, Printed, Sturm, Validated};
        match self {
            Solver::Taylor => &[Extrapolation, Certified, Validated, Interpolation, Sturm, Endpoint],
            Solver::Adams => &[Extrapolation, Interpolation, Sturm, Endpoint, Printed],
            Solver::Euler => &[Extrapolation, Interpolation, Sturm, Endpoint],
            Solver::RungeKutta | Solver::Rk4 => &[Interpolation, Sturm, Endpoint],
        }
    }

    /// True if all steps have the same length, which must be given.
    pub fn has_fixed_step(self) -> bool {
        matches!(self, Solver::Euler | Solver::Rk4)
    }
}

impl EventMethod {
    /// All methods.
    pub const ALL: [EventMethod; 7] = [
        EventMethod::Endpoint,
        EventMethod::Interpolation,
        EventMethod::Sturm,
        EventMethod::Extrapolation,
        EventMethod::Printed,
        EventMethod::Certified,
        EventMethod::Validated,
    ];

    /// The word for it on the command line.
    pub fn word(self) -> &'static str {
        match self {
            EventMethod::Endpoint => "endpoint",
            EventMethod::Interpolation => "interpolation",
            EventMethod::Sturm => "sturm",
            EventMethod::Extrapolation => "extrapolation",
            EventMethod::Printed => "printed",
            EventMethod::Certified => "certified",
            EventMethod::Validated => "validated",
        }
    }

    /// True if steps are proved.
    pub fn is_proof(self) -> bool {
        matches!(self, EventMethod::Certified | EventMethod::Validated)
    }

    /// True if guards are looked at only at the ends of steps.
    pub fn sees_ends_only(self) -> bool {
        matches!(self, EventMethod::Endpoint | EventMethod::Printed)
    }

    /// True if the flow is evaluated at the end of a step before guards are looked at.
    pub fn looks_ahead(self) -> bool {
        matches!(self, EventMethod::Endpoint | EventMethod::Interpolation | EventMethod::Sturm)
    }
}

impl GuardForm {
    /// All forms.
    pub const ALL: [GuardForm; 3] = [GuardForm::Composed, GuardForm::Appended, GuardForm::Linearised];

    /// The word for it on the command line.
    pub fn word(self) -> &'static str {
        match self {
            GuardForm::Composed => "composed",
            GuardForm::Appended => "appended",
            GuardForm::Linearised => "linearised",
        }
    }
}

/// A word that names none of the choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is none of {}", choices.join(", "))]
pub struct UnknownWord {
    /// What was given.
    pub word: String,
    /// What could be.
    pub choices: Vec<&'static str>,
}

macro_rules! named {
    ($kind:ty) => {
        impl FromStr for $kind {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                let choices = || Self::ALL.iter().map(|c| c.word()).collect();
                let found = Self::ALL.into_iter().find(|c| c.word() == word);
                found.ok_or_else(|| UnknownWord { word: word.into(), choices: choices() })
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
named!(Solver);
named!(EventMethod);
named!(GuardForm);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_what_they_came_from() {
        for solver in Solver::ALL {
            assert_eq!(solver.word().parse(), Ok(solver));
            assert!(solver.methods().iter().all(|m| m.word().parse() == Ok(*m)));
        }
        assert!(GuardForm::ALL.iter().all(|form| form.word().parse() == Ok(*form)));
        let unknown = "tailor".parse::<Solver>();
        let message = "`tailor` is none of taylor, adams, rk, euler, rk4".to_string();
        assert_eq!(unknown.map_err(|e| e.to_string()), Err(message));
    }
}
