//! A bar on the terminal for runs that take their time.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shorter runs show no bar.
const PATIENCE: Duration = Duration::from_secs(2);
/// Steps of the bar.
const LENGTH: u64 = 1000;

/// Shows how far a run has come, once it has taken long enough.
pub struct Progress {
    started: Instant,
    until: Option<f64>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// For a run until a time; `None` if nobody would see it.
    pub fn new(until: Option<f64>, quiet: bool) -> Option<Self> {
        (!quiet && std::io::stderr().is_terminal()).then(|| Self {
            started: Instant::now(),
            until,
            bar: None,
        })
    }

    /// The run has reached a time.
    pub fn reached(&mut self, t: f64) {
        if self.bar.is_none() && self.started.elapsed() < PATIENCE {
            return;
        }
        let share = self.until.map_or(0.0, |until| (t / until).clamp(0.0, 1.0));
        let bar = self.bar.get_or_insert_with(new_bar);
        bar.set_position((share * LENGTH as f64) as u64);
        bar.set_message(format!("t = {t:.6}"));
    }

    /// Removes the bar.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how many of many runs are done, once they have taken long enough.
pub struct Counter {
    started: Instant,
    shown: bool,
    bar: Option<ProgressBar>,
}

impl Counter {
    /// Shows nothing if nobody would see it.
    pub fn new(quiet: bool) -> Self {
        Self { started: Instant::now(), shown: !quiet && std::io::stderr().is_terminal(), bar: None }
    }

    /// So many of all are done.
    pub fn at(&mut self, done: usize, all: usize) {
        if !self.shown || (self.bar.is_none() && self.started.elapsed() < PATIENCE) {
            return;
        }
        let bar = self.bar.get_or_insert_with(new_bar);
        bar.set_position((done as f64 / all.max(1) as f64 * LENGTH as f64) as u64);
        bar.set_message(format!("run {done} of {all}"));
    }

    /// Removes the bar.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new(LENGTH).with_elapsed(PATIENCE);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent}%  {msg}  {eta} left") {
        bar.set_style(style);
    }
    bar
}
