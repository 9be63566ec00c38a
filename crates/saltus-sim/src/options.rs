//! Options of a run, with their defaults.

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
    /// Integration steps.
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

impl Default for Options {
    fn default() -> Self {
        Self {
            until: None,
            rtol: 1e-6,
            atol: 1e-9,
            order: None,
            policy: Policy::Eager,
            seed: 0,
            set: Vec::new(),
            recording: Recording::All,
            native_after: Some(1000),
            limits: Limits::default(),
        }
    }
}
