//! What can be wrong with a run before or while it goes.

use saltus_model::Span;

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimError {
    /// Signals depend on themselves in a mode combination.
    #[error("the equations of `{variable}` depend on each other in a circle in this combination of modes")]
    EquationCycle {
        /// One of the signals.
        variable: String,
    },
    /// A state has no derivative, or several, in a mode combination.
    #[error("state `{variable}` has {found} derivatives in the modes {}", modes.join(", "))]
    Derivatives {
        /// The state.
        variable: String,
        /// How many derivatives are active.
        found: u32,
        /// The active modes.
        modes: Vec<String>,
        /// Where the state is declared.
        span: Span,
    },
    /// A starting value, parameter, time or assigned value is not a finite number.
    #[error("{what} is {value}, not a finite number{}", because(cause))]
    NotFinite {
        /// What has the value.
        what: String,
        /// The value.
        value: f64,
        /// The operation that has no finite value, in words.
        cause: Option<String>,
        /// Where it is written.
        span: Span,
    },
    /// Two rules assign one variable in one round.
    #[error("`{variable}` is assigned by `{first}` and by `{second}` in the same round")]
    DoubleWrite {
        /// The variable.
        variable: String,
        /// The first rule.
        first: String,
        /// The second rule.
        second: String,
        /// Where the first assignment is written.
        first_span: Span,
        /// Where the second assignment is written.
        second_span: Span,
    },
    /// A period is not positive.
    #[error("the period of `{rule}` is {value}; a period must be positive")]
    BadPeriod {
        /// The rule.
        rule: String,
        /// Its period.
        value: f64,
        /// Where it is written.
        span: Span,
    },
    /// An interval whose lower end is above its upper end.
    #[error("the interval for `{variable}` is empty: from {low} to {high}")]
    EmptyInterval {
        /// The variable.
        variable: String,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// Where it is written.
        span: Span,
    },
    /// An option of the run makes no sense.
    #[error("{0}")]
    Option(String),
    /// A broken promise between parts of the program.
    #[error("internal inconsistency: {0}")]
    Internal(String),
}

fn because(cause: &Option<String>) -> String {
    cause.as_ref().map_or(String::new(), |cause| format!(": {cause}"))
}

impl SimError {
    /// The place in the model the error is about, if it has one.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Derivatives { span, .. }
            | Self::NotFinite { span, .. }
            | Self::BadPeriod { span, .. }
            | Self::EmptyInterval { span, .. } => Some(*span),
            Self::DoubleWrite { second_span, .. } => Some(*second_span),
            Self::EquationCycle { .. } | Self::Option(_) | Self::Internal(_) => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::EquationCycle { .. } => "break the circle with a state or a memory",
            Self::Derivatives { found: 0, .. } => "give it an equation in these modes, or write `hold`",
            Self::Derivatives { .. } => "leave only one equation for it in modes that can be active together",
            Self::NotFinite { cause: Some(_), .. } => {
                "let the rule act only where its values exist, for example with a further condition"
            }
            Self::NotFinite { .. } => "check the parameters it is computed from",
            Self::DoubleWrite { .. } => {
                "let one of the two rules do both, or make their guards exclude each other"
            }
            Self::BadPeriod { .. } => "use a period greater than zero",
            Self::EmptyInterval { .. } => "put the smaller bound first",
            Self::Option(_) => "see `saltus run --help`",
            Self::Internal(_) => "this is a fault of Saltus; please report it with the model",
        }
    }
}
