//! Ticks of `at`, `after`, `every` and `on`: exact times, met and never stepped over.

use crate::compile::{Rule, Scalar, When};
use crate::error::SimError;
use crate::runner::Runner;

/// The ticks of one rule.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    kind: Kind,
    /// The next tick, or infinity.
    pub next: f64,
    /// The time of the tick that has occurred last.
    used_at: f64,
}

impl Default for Timer {
    fn default() -> Self {
        Self { kind: Kind::None, next: f64::INFINITY, used_at: f64::NAN }
    }
}

#[derive(Clone, Debug, Default)]
enum Kind {
    #[default]
    None,
    At,
    After,
    /// Multiples of a period after a time; never accumulated.
    Every {
        entry: f64,
        period: f64,
        count: f64,
    },
    /// Times of an event input still to come, last first.
    List(Vec<f64>),
}

impl Timer {
    /// True if the tick is now and has not been used.
    pub fn is_open(&self, t: f64) -> bool {
        self.next == t && self.used_at != t
    }

    /// The tick at `t` has occurred.
    pub fn use_up(&mut self, t: f64) {
        self.used_at = t;
    }

    /// True if the tick at `t` has occurred.
    pub fn is_used(&self, t: f64) -> bool {
        self.used_at == t
    }

    /// The block of the rule is left. Ticks at absolute times stay used if it is entered again.
    pub fn leave(&mut self) {
        if matches!(self.kind, Kind::Every { .. } | Kind::After) {
            self.used_at = f64::NAN;
        }
    }

    /// Moves to the first tick after `t`.
    pub fn pass(&mut self, t: f64) {
        while self.next <= t {
            self.next = match &mut self.kind {
                Kind::None | Kind::At | Kind::After => f64::INFINITY,
                Kind::Every { entry, period, count } => {
                    *count += 1.0;
                    *entry + *count * *period
                }
                Kind::List(times) => times.pop().unwrap_or(f64::INFINITY),
            };
        }
    }
}

impl Runner<'_> {
    /// Reads the times of a rule whose block becomes active.
    pub fn start_timer(&mut self, rule: u32) -> Result<(), SimError> {
        let now = self.stamp.t;
        let code = self.code.clone();
        let Rule { name, span, when, .. } = &code.rules[rule as usize];
        let span = *span;
        if matches!(when, When::Level(_) | When::Edge { .. } | When::Else(_)) {
            return Ok(());
        }
        let mut read = |scalar: &Scalar| {
            let value = self.scalar(scalar);
            let what = || format!("the time of `{name}`");
            if value.is_finite() {
                Ok(value)
            } else {
                Err(SimError::NotFinite { what: what(), value, cause: None, span })
            }
        };
        let mut fresh = false;
        let (kind, next) = match when {
            When::At(e) => {
                let time = read(e)?;
                (Kind::At, self.unless_now(time))
            }
            When::After(e) => {
                fresh = true;
                (Kind::After, now + read(e)?)
            }
            When::Every(e) => {
                fresh = true;
                let period = read(e)?;
                if period <= 0.0 {
                    return Err(SimError::BadPeriod { rule: name.to_string(), value: period, span });
                }
                (Kind::Every { entry: now, period, count: 0.0 }, now)
            }
            When::On(event) => {
                let mut times = self.event_times(event.0)?;
                times.iter_mut().for_each(|time| *time = self.unless_now(*time));
                (Kind::List(times), f64::NEG_INFINITY)
            }
            _ => return Ok(()),
        };
        let used_at = if fresh { f64::NAN } else { self.timers[rule as usize].used_at };
        let mut timer = Timer { kind, next, used_at };
        while timer.next < now {
            timer.pass(timer.next);
        }
        self.timers[rule as usize] = timer;
        Ok(())
    }

    /// A time, or the present one if it cannot be told from that of the root where the run stands.
    fn unless_now(&self, time: f64) -> f64 {
        if self.is_rounded && self.is_now(time) { self.stamp.t } else { time }
    }

    /// Times of an event input, latest first.
    fn event_times(&mut self, event: u32) -> Result<Vec<f64>, SimError> {
        let input = &self.system.events[event as usize];
        let mut times = Vec::with_capacity(input.times.len());
        for k in 0..input.times.len() {
            let value = self.scalar(&self.code.clone().event_times[event as usize][k]);
            if !value.is_finite() {
                let what = format!("a time of event `{}`", input.name);
                return Err(SimError::NotFinite { what, value, cause: None, span: input.span });
            }
            times.push(value);
        }
        times.sort_by(|a, b| b.total_cmp(a));
        times.dedup();
        Ok(times)
    }

    /// The earliest tick of an active rule, or infinity.
    pub fn next_tick(&self) -> f64 {
        let timers = self.combination().timed.iter().map(|&r| self.timers[r as usize].next);
        timers.fold(f64::INFINITY, f64::min)
    }

    /// Time passes: ticks at the present time are over.
    pub fn pass_ticks(&mut self) {
        let combination = self.combinations.get(self.current);
        for &r in &combination.timed {
            self.timers[r as usize].pass(self.stamp.t);
        }
    }
}
