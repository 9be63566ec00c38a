//! The time-driven engine: flows between instants, one polynomial at a time.
//!
//! ```text
//! start: set values, enter initial modes, INSTANT
//! loop:  EXPAND    Taylor polynomials of states and guards from x_k       (expand.rs)
//!        LOCATE    first place on them where something becomes true        (locate.rs)
//!        move there by evaluating the polynomial; INSTANT                  (instant.rs)
//! ```
//! An instant that changes nothing the flow or a guard reads leaves the polynomial in force.

use crate::certify::Proofs;
use crate::combination::{Combination, Combinations};
use crate::compile::{self, Actions, Code, Formula, Scalar, Signs};
use crate::crowd::Horizon;
use crate::error::SimError;
use crate::explain;
use crate::guards::GivenRows;
use crate::locate::Located;
use crate::method::EventMethod;
use crate::options::{Options, Policy, Recording};
use crate::outlook::Outlook;
use crate::random::Random;
use crate::report::{Change, Ending, Event, Note, Run, Stamp, Stats, Status};
use crate::resting::Terms;
use crate::segment::Segment;
use crate::stepping::{COMPOSED_ORDER, Stepper};
use crate::stir::Stirred;
use crate::timers::Timer;
use crate::trace::Trace;
use crate::zeno::ZenoWatch;
use saltus_model::{HybridSystem, ModeId, Span, VariableKind};
use saltus_num::roots::RootFinder;
use saltus_num::sturm::SturmChain;
use saltus_solve::taylor::{StepBound, Tolerance, order_for};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// Stop time of a model that says nothing about it.
const DEFAULT_STOP_TIME: f64 = 10.0;

/// Room for so many events is made at once.
const EVENTS: usize = 32;

/// At most so many remarks are kept.
const NOTES: usize = 100;

/// A run in progress.
pub(crate) struct Runner<'s> {
    pub system: &'s HybridSystem,
    pub code: Arc<Code>,
    pub options: Options,
    /// Starting values that the options set, by variable.
    set_values: Vec<Option<f64>>,
    pub method: EventMethod,
    /// The integrator, unless it is Taylor's method.
    pub stepper: Option<Stepper>,
    pub until: f64,
    pub tolerance: Tolerance,
    pub order: usize,
    /// A bound of steps that knows nothing yet.
    pub bound: StepBound,
    pub combinations: Combinations,
    /// Index of the combination in force.
    pub current: usize,
    /// Values of all slots.
    pub env: Vec<f64>,
    /// Mode of each automaton; the last one for inactive automata.
    pub modes: Vec<ModeId>,
    /// Modes that have been active.
    pub visited: Vec<bool>,
    /// Slots of `InMode` and `EntryTime` variables by mode.
    pub mode_slots: Vec<ModeSlots>,
    /// Entry time of each block (0 is the root).
    pub entered: Vec<f64>,
    /// Signs of the active atoms.
    pub signs: Vec<Signs>,
    /// The values were computed before it was known which branches are in force.
    pub is_unsettled: bool,
    /// Edges of stairs that are exactly met, by switch.
    pub met_edges: Vec<f64>,
    /// When a stair was crossed last, and how often others were before, within rounding of time.
    pub stairs_crossed: (f64, usize),
    /// Flags of edges, by rule.
    pub armed: Vec<bool>,
    pub timers: Vec<Timer>,
    /// Coins of `may` transitions, by rule.
    pub coins: Vec<Option<bool>>,
    pub stamp: Stamp,
    /// What rounding took from the time: the true time is `stamp.t + t_low`.
    pub t_low: f64,
    /// The present instant is at a root, whose time may be off by rounding.
    pub is_rounded: bool,
    pub segment: Segment,
    /// Unit of the Taylor coefficients: about the last step.
    pub scale: f64,
    /// True if the jets of the current combination belong to the current values.
    pub jets_fresh: bool,
    /// A guard of a crowd may be zero where the step begins.
    pub may_begin_at_zero: bool,
    /// How long the flow has gone on since they were computed last.
    pub flown: f64,
    /// Slots changed in this instant.
    pub changed: Vec<u32>,
    pub is_changed: Vec<bool>,
    /// The combination whose units were evaluated at the present values, but for those changed.
    pub evaluated: Option<usize>,
    /// True if they are evaluated only as far as actions read them.
    pub is_lazy: bool,
    /// When the flow last came to rest on the edge of a function.
    pub rested: f64,
    /// Slots that actions read, also through units, and these units.
    pub is_wanted: Vec<bool>,
    pub wanted: Vec<usize>,
    pub stirred: Stirred,
    pub finder: RootFinder,
    pub terms: Terms,
    pub chain: SturmChain,
    pub scratch: Vec<f64>,
    /// Values put aside while the flow is evaluated elsewhere.
    pub saved: Vec<f64>,
    pub row: Vec<f64>,
    /// Guards of a step without jets.
    pub given: GivenRows,
    /// Those of them that are there, or that may come near to zero on a prediction.
    pub near: Vec<usize>,
    /// For each active atom a place on the step before which it keeps its sign; empty if there are
    /// few atoms.
    pub earliest: Vec<f64>,
    pub horizon: Horizon,
    pub outlook: Outlook,
    pub random: Random,
    pub zeno: ZenoWatch,
    pub last_event_time: f64,
    /// Instants with events since time advanced last.
    pub standstill: u32,
    /// Steps one after another that are hardly longer than the rounding of time.
    pub short_steps: u32,
    /// A longer step is looked at more closely.
    pub usual_length: f64,
    pub events: Vec<Event>,
    pub changes: Vec<Change>,
    pub notes: Vec<Note>,
    pub stats: Stats,
    pub trace: Trace,
    pub started: Instant,
    pub buffers: crate::instant::Buffers,
    pub proofs: Proofs,
    progress: Option<&'s mut dyn FnMut(f64)>,
}

/// Slots that follow a mode.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModeSlots {
    /// `InMode` variables.
    pub flags: Vec<u32>,
    /// `EntryTime` variables.
    pub entries: Vec<u32>,
}

/// A system made ready to run, any number of times.
///
/// ```
/// use saltus_sim::{Options, Simulator, Status};
/// let system = saltus_model::HybridSystem::new("Empty");
/// let mut simulator = Simulator::new(&system);
/// let run = simulator.run(Options { until: Some(1.0), ..Options::default() });
/// assert_eq!(run.unwrap().ending.status, Status::Finished);
/// ```
pub struct Simulator<'s> {
    system: &'s HybridSystem,
    code: Arc<Code>,
    /// The variables that options may set, by name.
    settable: HashMap<&'s str, usize>,
    /// Mode combinations met so far, for one order of expansion.
    combinations: Combinations,
    compile_seconds: f64,
}

impl<'s> Simulator<'s> {
    /// Compiles a system.
    pub fn new(system: &'s HybridSystem) -> Self {
        let started = Instant::now();
        let code = Arc::new(compile::compile(system));
        let combinations = Combinations::new(0);
        let settable = system.variables.iter().enumerate().filter(|(_, v)| v.kind.is_settable());
        let settable = settable.map(|(i, v)| (v.name.as_str(), i)).collect();
        Self { system, code, settable, combinations, compile_seconds: started.elapsed().as_secs_f64() }
    }

    /// The values that options set, by variable.
    fn set_values(&self, options: &Options) -> Result<Vec<Option<f64>>, SimError> {
        let mut values = vec![None; self.system.variables.len()];
        for (name, value) in &options.set {
            let Some(&variable) = self.settable.get(name.as_str()) else {
                let complaint = format!("`{name}` is not a parameter, state or memory of the model");
                return Err(SimError::Option(complaint));
            };
            values[variable] = Some(*value);
        }
        Ok(values)
    }

    /// Runs the system. What goes wrong while it runs ends the run with a status and keeps the
    /// trace; an error is returned only if the run cannot begin.
    pub fn run(&mut self, options: Options) -> Result<Run, SimError> {
        self.run_with_progress(options, None)
    }

    /// Like [`Simulator::run`], and calls `progress` with the simulated time now and then.
    pub fn run_with_progress<'p>(
        &mut self,
        options: Options,
        progress: Option<&'p mut (dyn FnMut(f64) + 'p)>,
    ) -> Result<Run, SimError>
    where
        's: 'p,
    {
        options.check()?;
        let set_values = self.set_values(&options)?;
        let order = options.order.unwrap_or_else(|| order_for(options.rtol));
        if self.combinations.order() != order {
            self.combinations = Combinations::new(order);
        }
        let mut combinations = std::mem::replace(&mut self.combinations, Combinations::new(order));
        combinations.restart();
        let mut runner =
            Runner::new(self.system, self.code.clone(), combinations, options, set_values, progress)?;
        runner.stats.compile_seconds = std::mem::take(&mut self.compile_seconds);
        let ending = match runner.start().and_then(|()| runner.run()) {
            Ok(ending) | Err(ending) => ending,
        };
        let (run, combinations) = runner.finish(*ending);
        self.combinations = combinations;
        Ok(run)
    }
}

/// Compiles and runs a system once; see [`Simulator`].
pub fn simulate(system: &HybridSystem, options: Options) -> Result<Run, SimError> {
    Simulator::new(system).run(options)
}

/// Steps between calls of the progress function and looks at the clock.
const CLOCK_STRIDE: u64 = 256;

impl<'s> Runner<'s> {
    fn new(
        system: &'s HybridSystem,
        code: Arc<Code>,
        combinations: Combinations,
        options: Options,
        set_values: Vec<Option<f64>>,
        progress: Option<&'s mut dyn FnMut(f64)>,
    ) -> Result<Self, SimError> {
        let started = Instant::now();
        let order = combinations.order();
        let mut mode_slots = vec![ModeSlots::default(); system.modes.len()];
        for (i, v) in system.variables.iter().enumerate() {
            match v.kind {
                VariableKind::InMode(m) => mode_slots[m.index()].flags.push(i as u32),
                VariableKind::EntryTime(m) => mode_slots[m.index()].entries.push(i as u32),
                _ => {}
            }
        }
        let tolerance = Tolerance { relative: options.rtol, absolute: options.atol };
        let mut runner = Self {
            until: 0.0,
            method: options.method(),
            stepper: Stepper::new(&options, tolerance, &code),
            tolerance,
            order,
            bound: StepBound::new(order),
            combinations,
            current: 0,
            env: vec![0.0; code.slots],
            modes: system.automata.iter().map(|a| a.initial).collect(),
            visited: vec![false; system.modes.len()],
            mode_slots,
            entered: vec![0.0; system.modes.len() + 1],
            signs: Vec::new(),
            is_unsettled: false,
            met_edges: vec![f64::NAN; code.switches.len()],
            stairs_crossed: (f64::NAN, 0),
            armed: vec![false; code.rules.len()],
            timers: vec![Timer::default(); code.rules.len()],
            coins: vec![None; code.rules.len()],
            stamp: Stamp::default(),
            t_low: 0.0,
            is_rounded: false,
            segment: Segment::default(),
            scale: 0.0,
            jets_fresh: false,
            may_begin_at_zero: false,
            flown: 0.0,
            changed: Vec::new(),
            is_changed: vec![false; code.slots],
            evaluated: None,
            is_lazy: false,
            rested: f64::NAN,
            is_wanted: Vec::new(),
            wanted: Vec::new(),
            stirred: Stirred::default(),
            finder: RootFinder::default(),
            terms: Terms::default(),
            chain: SturmChain::default(),
            scratch: Vec::new(),
            saved: Vec::new(),
            row: vec![0.0; (order + 1).max(COMPOSED_ORDER + 1)],
            given: GivenRows::default(),
            near: Vec::new(),
            earliest: Vec::new(),
            horizon: Horizon::default(),
            outlook: Outlook::default(),
            random: Random::new(options.seed),
            zeno: ZenoWatch::default(),
            last_event_time: f64::NAN,
            standstill: 0,
            short_steps: 0,
            usual_length: 0.0,
            events: Vec::with_capacity(EVENTS),
            changes: Vec::with_capacity(EVENTS),
            notes: Vec::new(),
            stats: Stats { programs: code.programs as u64, ..Stats::default() },
            trace: Trace::default(),
            started,
            buffers: crate::instant::Buffers::default(),
            proofs: Proofs::default(),
            system,
            code,
            options,
            set_values,
            progress,
        };
        runner.set_parameters()?;
        runner.until = runner.stop_time()?;
        Ok(runner)
    }

    fn stop_time(&mut self) -> Result<f64, SimError> {
        let until = match (self.options.until, &self.code.clone().until) {
            (Some(t), _) => t,
            (None, Some(e)) => self.scalar(e),
            (None, None) => DEFAULT_STOP_TIME,
        };
        if !until.is_finite() || until < 0.0 {
            return Err(SimError::Option(format!(
                "the stop time is {until}; it must be a finite time not before 0"
            )));
        }
        Ok(until)
    }

    pub fn scalar(&mut self, scalar: &Scalar) -> f64 {
        if self.scratch.len() < scalar.program.registers() {
            self.scratch.resize(scalar.program.registers(), 0.0);
        }
        scalar.program.eval(&self.env, &scalar.inputs, &mut self.scratch);
        self.scratch[scalar.program.outputs()[0].index()]
    }

    /// A value for a variable that may be given as an interval.
    pub fn resolve(
        &mut self,
        name: &str,
        low: f64,
        high: f64,
        interval: bool,
        span: Span,
    ) -> Result<f64, SimError> {
        let what = || format!("the value of `{name}`");
        for value in [low, high] {
            if !value.is_finite() {
                return Err(SimError::NotFinite { what: what(), value, cause: None, span });
            }
        }
        if !interval {
            return Ok(low);
        }
        if low > high {
            return Err(SimError::EmptyInterval { variable: name.into(), low, high, span });
        }
        let value = match self.options.policy {
            Policy::Random => low + (high - low) * self.random.uniform(),
            Policy::Eager | Policy::Lazy => low + 0.5 * (high - low),
        };
        self.note(self.stamp.t, format!("`{name}` was chosen as {value} from the interval {low} to {high}"));
        Ok(value)
    }

    fn start_value(&mut self, index: usize) -> Result<(), SimError> {
        let system = self.system;
        let variable = &system.variables[index];
        let value = match (self.set_values[index], &self.code.clone().starts[index]) {
            (Some(value), _) => self.resolve(&variable.name, value, value, false, variable.span)?,
            (None, Some(start)) => self.assigned(start, 0)?,
            (None, None) => 0.0,
        };
        self.env[index] = value;
        Ok(())
    }

    fn set_parameters(&mut self) -> Result<(), SimError> {
        for i in 0..self.system.variables.len() {
            if self.system.variables[i].kind == VariableKind::Parameter {
                self.start_value(i)?;
            }
        }
        Ok(())
    }

    fn start(&mut self) -> Result<(), Box<Ending>> {
        for i in 0..self.system.variables.len() {
            if matches!(self.system.variables[i].kind, VariableKind::State | VariableKind::Memory) {
                self.start_value(i).map_err(|e| self.failed(e))?;
            }
        }
        self.activate_block(0).map_err(|e| self.failed(e))?;
        for a in self.system.root.automata.clone() {
            let initial = self.system.automaton(a).initial;
            self.enter_mode(initial, false, false).map_err(|e| self.failed(e))?;
        }
        self.clear_changed();
        self.enter_combination().map_err(|e| self.failed(e))?;
        self.refresh_all();
        self.settle_switches()?;
        let plan = self.combination().plan.clone();
        if self.options.recording == Recording::All {
            self.trace.begin(&self.env, &plan);
        }
        Ok(())
    }

    fn run(&mut self) -> Result<Box<Ending>, Box<Ending>> {
        self.instant()?;
        loop {
            if !self.segment.valid {
                self.evaluated = None;
                match self.stepper {
                    None => self.expand()?,
                    Some(_) => self.expand_by_values()?,
                }
            }
            if self.segment.cursor >= self.segment.compared {
                self.compare_further(self.segment.cursor);
            }
            match self.locate() {
                Located::Nothing => self.reach_segment_end()?,
                Located::Instant { t, s, is_rounded } => {
                    self.move_to(t, s)?;
                    self.is_rounded = is_rounded;
                    self.instant()?;
                }
            }
            self.check_limits()?;
        }
    }

    /// Either count alone: both may grow in step, so that their sum skips every other number.
    fn clock_is_due(&self) -> bool {
        self.stats.steps.is_multiple_of(CLOCK_STRIDE) || self.stats.instants.is_multiple_of(CLOCK_STRIDE)
    }

    fn check_limits(&mut self) -> Result<(), Box<Ending>> {
        let limits = self.options.limits;
        let over = |what: &str, limit: String| Some(format!("the limit of {limit} {what} was reached"));
        let mut reason = None;
        if self.stats.steps >= limits.steps {
            reason = over("steps", limits.steps.to_string());
        } else if self.stats.instants >= limits.steps {
            reason = over("instants", limits.steps.to_string());
        } else if self.events.len() as u64 >= limits.events {
            reason = over("events", limits.events.to_string());
        } else if self.trace.bytes() + self.events.len() * size_of::<Event>() > limits.bytes {
            reason = over("bytes for the trace", limits.bytes.to_string());
        } else if self.clock_is_due() {
            if self.started.elapsed().as_secs_f64() > limits.seconds {
                reason = over("seconds", limits.seconds.to_string());
            }
            if let Some(progress) = &mut self.progress {
                progress(self.stamp.t);
            }
        }
        match reason {
            None => Ok(()),
            Some(reason) => {
                let hint = "raise the limit, or look at the last events to see what keeps the run busy";
                Err(self.ending(Status::Limit, reason, Some(hint.into()), None))
            }
        }
    }

    pub fn combination(&self) -> &Combination {
        self.combinations.get(self.current)
    }

    /// Truth of a formula now.
    pub fn holds(&self, formula: &Formula) -> bool {
        let position = &self.combination().position;
        formula.eval(&self.env, &|a, relation| relation.holds_now(self.signs[position[a.index()] as usize]))
    }

    /// Truth of a formula just after now.
    pub fn holds_after(&self, formula: &Formula) -> bool {
        let position = &self.combination().position;
        formula.eval(&self.env, &|a, relation| relation.holds_after(self.signs[position[a.index()] as usize]))
    }

    /// Values of an action's program: two for each target.
    pub fn run_actions(&mut self, actions: &Actions) {
        for (slot, formula) in &actions.readings {
            let value = f64::from(self.holds(formula));
            self.env[*slot as usize] = value;
        }
        if self.scratch.len() < actions.program.registers() {
            self.scratch.resize(actions.program.registers(), 0.0);
        }
        actions.program.eval(&self.env, &actions.inputs, &mut self.scratch);
    }

    /// The value of one assignment, after or together with running its program.
    pub fn assigned(&mut self, actions: &Actions, target: usize) -> Result<f64, SimError> {
        if target == 0 {
            self.run_actions(actions);
        }
        let output = |j: usize| actions.program.outputs()[2 * target + j].index();
        let (low, high) = (self.scratch[output(0)], self.scratch[output(1)]);
        let written = actions.targets[target];
        let system = self.system;
        let name = &system.variable(written.target).name;
        self.resolve(name, low, high, written.interval, written.span).map_err(|error| match error {
            SimError::NotFinite { what, value, span, .. } => {
                let departure = actions.program.diagnose(&self.scratch);
                let cause = departure.and_then(|departure| explain::operation_cause(self, &departure));
                SimError::NotFinite { what, value, cause, span }
            }
            other => other,
        })
    }

    /// Marks a slot as changed in this instant.
    pub fn mark(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.is_changed[slot as usize], true) {
            self.changed.push(slot);
        }
    }

    pub fn clear_changed(&mut self) {
        for slot in self.changed.drain(..) {
            self.is_changed[slot as usize] = false;
        }
    }

    pub fn note(&mut self, t: f64, text: String) {
        if self.notes.len() < NOTES {
            self.notes.push(Note { t, text });
        }
    }

    pub fn ending(
        &self,
        status: Status,
        reason: String,
        hint: Option<String>,
        span: Option<Span>,
    ) -> Box<Ending> {
        Box::new(Ending { status, stamp: self.stamp, reason, hint, span })
    }

    pub fn failed(&self, error: SimError) -> Box<Ending> {
        self.ending(Status::Failed, error.to_string(), Some(error.hint().into()), error.span())
    }

    /// Remarks on what has no number to show at the end, although the run has nothing to complain of.
    fn note_missing_values(&mut self) {
        let system = self.system;
        let plan = self.combination().plan.clone();
        for &slot in plan.blocks.iter().flat_map(|block| &block.outputs) {
            let signal = system.variables.get(slot as usize).filter(|v| v.kind == VariableKind::Signal);
            if let Some(signal) = signal.filter(|_| !self.env[slot as usize].is_finite()) {
                self.note(self.stamp.t, format!("`{}` has no finite value at the end", signal.name));
            }
        }
    }

    fn finish(mut self, ending: Ending) -> (Run, Combinations) {
        if self.segment.valid {
            self.record_flow();
        }
        if std::mem::take(&mut self.is_lazy) {
            self.evaluate_plan();
        }
        if ending.status.is_success() {
            self.note_missing_values();
        }
        self.stats.seconds = self.started.elapsed().as_secs_f64();
        let active = &self.combinations;
        let modes = self.modes.iter().map(|&m| {
            let is_active = !active.is_empty() && active.get(self.current).blocks.contains(&(m.0 + 1));
            is_active.then_some(m)
        });
        let run = Run {
            modes: modes.collect(),
            values: self.env[..self.system.variables.len()].to_vec(),
            ending,
            events: self.events,
            changes: self.changes,
            notes: self.notes,
            certificate: self.method.is_proof().then_some(self.proofs.certificate),
            stats: self.stats,
            trace: self.trace,
        };
        (run, self.combinations)
    }
}
