//! What may be wrong with a system that a program builds.

use saltus_expr::Sort;
use thiserror::Error;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// A name that is taken, empty or a name of the language.
    #[error("the name `{0}` is taken or cannot be used")]
    Name(String),
    /// A handle of another builder.
    #[error("a handle belongs to another builder")]
    Foreign,
    /// A constant that is infinite or not a number.
    #[error("{0} is not a finite number")]
    NotFinite(String),
    /// Something that must be a variable of a kind.
    #[error("`{expression}` is not {wanted}")]
    NotA {
        /// What was given.
        expression: String,
        /// What is needed.
        wanted: &'static str,
    },
    /// A value whose sort does not fit its target.
    #[error("`{target}` takes {} and is given {}", sort_name(*.wanted), sort_name(*.given))]
    Sort {
        /// The variable.
        target: String,
        /// The sort of the variable.
        wanted: Sort,
        /// The sort of the value.
        given: Sort,
    },
    /// A state without a derivative, or a signal without a value.
    #[error("{}", missing(.variable, *.state, .modes))]
    NoEquation {
        /// The variable.
        variable: String,
        /// Whether it is a state.
        state: bool,
        /// The modes that lack it; empty if there is none anywhere.
        modes: Vec<String>,
    },
    /// Two equations that can be active together.
    #[error("two equations for `{0}` can be active together")]
    TwoEquations(String),
    /// An equation in a place where its variable is not alive.
    #[error("`{0}` is given an equation outside the mode it belongs to")]
    OutsideMode(String),
    /// An automaton without modes.
    #[error("the automaton `{0}` has no mode")]
    NoMode(String),
    /// An automaton too deep inside others.
    #[error("the automaton `{0}` is nested too deeply")]
    TooDeep(String),
    /// A transition that leads to a mode of another automaton, or stands outside modes.
    #[error("`{0}` does not lead from a mode to a mode of the same automaton")]
    Target(String),
    /// `may`, `preempt` or `otherwise` without a mode to go to.
    #[error("`{0}` leads to no mode, but only a transition can be `may`, `preempt` or `otherwise`")]
    NotATransition(String),
    /// A condition on an `otherwise`.
    #[error("`otherwise` in `{0}` stands for every other case and takes no condition")]
    ElseCondition(String),
    /// Two assignments to a variable by one rule.
    #[error("`{rule}` assigns `{variable}` twice")]
    DoubleWrite {
        /// The rule.
        rule: String,
        /// The variable.
        variable: String,
    },
    /// A time that must be known beforehand, but flows.
    #[error("the time of `{0}` must be known beforehand, but it flows; use `when`")]
    FlowingTime(String),
    /// A table whose grid does not increase or does not fit its values.
    #[error("the table `{0}` needs increasing, finite points and one value for each")]
    Table(String),
}

/// All mistakes of a system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", lines(.0))]
pub struct BuildErrors(pub Vec<BuildError>);

fn lines(errors: &[BuildError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Real => "a real number",
        Sort::Integer => "a whole number",
        Sort::Boolean => "a truth",
    }
}

fn missing(variable: &str, state: bool, modes: &[String]) -> String {
    let (kind, what, how) = match state {
        true => ("state", "derivative", "`flow` or `hold`"),
        false => ("signal", "value", "`define`"),
    };
    let place = if modes.is_empty() { String::new() } else { format!(" in {}", modes.join(", ")) };
    format!("the {kind} `{variable}` has no {what}{place}: give it one with {how}")
}
