//! Options of a run, with their defaults.

use crate::error::SimError;
use crate::method::{EventMethod, GuardForm, Solver};

/// How enabled but not forced transitions, and values given as intervals, are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Policy {
    /// As soon as enabled; the middle of an interval.
    #[default]
    Eager,
    /// At the last admissible instant; the middle of an interval.
    Lazy,
    /// By chance, from the seed of the run.
    Random,
}

/// What a run keeps for later sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recording {
    /// Events and the complete flow.
    #[default]
    All,
    /// Events only.
    Events,
}

/// Bounds that end a run as `limit`, with its trace kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Integration steps, and as many instants: those whose rules do nothing count no events.
    pub steps: u64,
    /// Recorded events.
    pub events: u64,
    /// Rounds at one instant.
    pub rounds: u32,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Bytes of the trace.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 100_000_000,
            events: 10_000_000,
            rounds: 10_000,
            seconds: f64::INFINITY,
            bytes: 4 << 30,
        }
    }
}

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Stop time; the model's own if absent.
    pub until: Option<f64>,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// Order of the Taylor method; chosen from the tolerance if absent.
    pub order: Option<usize>,
    /// The integrator.
    pub solver: Solver,
    /// How events are found; the solver's own default if absent.
    pub events: Option<EventMethod>,
    /// What stands for a guard on a prediction.
    pub guards: GuardForm,
    /// The step of a solver with fixed steps.
    pub step: Option<f64>,
    /// Steps are not longer than this.
    pub max_step: Option<f64>,
    /// An event closer than this is met without another step.
    pub min_step: Option<f64>,
    /// An event is met when its guard is at most this large; by default when the prediction is
    /// within the tolerance.
    pub guard_tolerance: Option<f64>,
    /// Share of a guard's value that is left after a step towards it; chosen from the error of the
    /// prediction if absent.
    pub gamma: Option<f64>,
    /// How choices are made.
    pub policy: Policy,
    /// Seed of the choices.
    pub seed: u64,
    /// Values that replace those of parameters and starting values of states and memories.
    pub set: Vec<(String, f64)>,
    /// What is kept.
    pub recording: Recording,
    /// Native code is used after this many jets of a mode combination (fewer for a large one);
    /// `None` never.
    pub native_after: Option<u64>,
    /// Bounds.
    pub limits: Limits,
}

impl Options {
    /// How events are found.
    pub fn method(&self) -> EventMethod {
        self.events.unwrap_or(self.solver.methods()[0])
    }

    /// Complains about the first option that makes no sense, by itself or beside the others.
    ///
    /// # Errors
    /// [`SimError::Option`] with the option and what it may be.
    pub fn check(&self) -> Result<(), SimError> {
        let wrong = |what: String| Err(SimError::Option(what));
        if !(self.rtol.is_finite() && self.rtol >= 0.0 && self.rtol < 1.0) {
            return wrong(format!("the relative tolerance is {}; it must be from 0 to below 1", self.rtol));
        }
        if !(self.atol.is_finite() && self.atol > 0.0) {
            return wrong(format!("the absolute tolerance is {}; it must be positive", self.atol));
        }
        if let Some(order) = self.order.filter(|order| !(2..=40).contains(order)) {
            return wrong(format!("the order is {order}; it must be from 2 to 40"));
        }
        let lengths = [
            ("step", self.step),
            ("longest step", self.max_step),
            ("shortest step", self.min_step),
            ("tolerance of guards", self.guard_tolerance),
        ];
        for (name, value) in lengths {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v > 0.0)) {
                return wrong(format!("the {name} is {value}; it must be positive"));
            }
        }
        if let (Some(min), Some(max)) = (self.min_step, self.max_step)
            && min > max
        {
            return wrong(format!("the shortest step is {min}, longer than the longest, {max}"));
        }
        if let Some(gamma) = self.gamma.filter(|g| !(*g > 0.0 && *g < 1.0)) {
            return wrong(format!("gamma is {gamma}; it must be between 0 and 1"));
        }
        self.check_method()
    }

    fn check_method(&self) -> Result<(), SimError> {
        let (solver, method) = (self.solver, self.method());
        if !solver.methods().contains(&method) {
            let words: Vec<&str> = solver.methods().iter().map(|m| m.word()).collect();
            let what =
                format!("the solver {solver} cannot find events by {method}; it can by {}", words.join(", "));
            return Err(SimError::Option(what));
        }
        let is_predicted = (solver, method) == (Solver::Adams, EventMethod::Extrapolation);
        if self.guards != GuardForm::Composed && !is_predicted {
            let what =
                format!("guards are {} only with the solver adams and events by extrapolation", self.guards);
            return Err(SimError::Option(what));
        }
        match (solver.has_fixed_step(), self.step) {
            (true, None) => {
                Err(SimError::Option(format!("the solver {solver} needs the length of its steps")))
            }
            (false, Some(_)) => Err(SimError::Option(format!(
                "the solver {solver} chooses its steps; the longest can be limited instead"
            ))),
            _ => Ok(()),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            until: None,
            rtol: 1e-6,
            atol: 1e-9,
            order: None,
            solver: Solver::Taylor,
            events: None,
            guards: GuardForm::Composed,
            step: None,
            max_step: None,
            min_step: None,
            guard_tolerance: None,
            gamma: None,
            policy: Policy::Eager,
            seed: 0,
            set: Vec::new(),
            recording: Recording::All,
            native_after: Some(1000),
            limits: Limits::default(),
        }
    }
}
