//! `saltus reproduce`: the tables and figures of papers, recomputed beside the printed values.
//!
//! Each experiment makes its own random starts from a seed that is printed, runs them with several
//! solvers and event methods, and prints what it counted next to what the paper prints.

mod arm;
mod cars;
mod corridor;
mod example2;
mod files;
mod random;
mod table;
mod table1;
mod table2;

use crate::args::ReproduceArgs;
use crate::progress::Counter;
use crate::{Outcome, output};
use saltus::{Error, EventMethod, Fault, Loader, Model, Options, Solver};
use std::path::Path;

/// The experiments by name.
pub const NAMES: [&str; 3] = ["table1", "example2", "table2"];
/// Seed of the starts unless another is given.
pub const SEED: u64 = 2007;

/// A solver with an event method.
type Way = (Solver, EventMethod);

/// What all experiments are given.
struct Setting<'a> {
    args: &'a ReproduceArgs,
    progress: Counter,
}

/// Why an experiment could not be made.
enum Failure {
    Library(Error),
    Data(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

/// Runs the command.
pub fn reproduce(args: &ReproduceArgs) -> Outcome {
    if let Some(folder) = &args.out
        && let Err(error) = std::fs::create_dir_all(folder)
    {
        let message = format!("`{}` cannot be made: {error}", folder.display());
        return refuse(&[Fault { code: "write", message, place: None, hint: None }]);
    }
    let names = args.name.map_or(NAMES.to_vec(), |name| vec![name]);
    for name in names {
        let mut setting = Setting { args, progress: Counter::new(args.quiet) };
        let made = match name {
            "table1" => table1::run(&mut setting),
            "example2" => example2::run(&mut setting),
            _ => table2::run(&mut setting),
        };
        setting.progress.finish();
        match made {
            Ok(()) => {}
            Err(Failure::Library(error)) => return refuse(&error.faults()),
            Err(Failure::Data(message)) => {
                return refuse(&[Fault { code: "data", message, place: None, hint: None }]);
            }
        }
    }
    Outcome::Done
}

fn refuse(faults: &[Fault]) -> Outcome {
    output::refuse(faults, false);
    Outcome::BadInput
}

impl Setting<'_> {
    /// The number of starts: as asked for, else the usual one, and fewer if all experiments are made.
    fn runs(&self, usual: usize) -> usize {
        let quick = if self.args.name.is_none() { usual.div_ceil(5) } else { usual };
        self.args.runs.unwrap_or(quick)
    }

    fn random(&self) -> random::Random {
        random::Random::new(self.args.seed)
    }

    /// Writes a figure if a folder was given.
    fn save(&self, name: &str, figure: &saltus::Figure) -> Result<(), Failure> {
        let Some(folder) = &self.args.out else { return Ok(()) };
        let path = folder.join(name).with_extension(if self.args.png { "png" } else { "svg" });
        saltus::save_picture(&figure.scene(&Default::default()), &path)?;
        output::print(&format!("written: {}\n", path.display()));
        Ok(())
    }

    fn starts(&self) -> Option<&Path> {
        self.args.starts.as_deref()
    }
}

/// A model of an embedded text.
fn load(file: &str, text: &str, name: &str) -> Result<Model, Failure> {
    Ok(Loader::new().model(name).text(file, text)?)
}

/// The options of the model for a solver and an event method.
fn options(model: &Model, (solver, method): Way) -> Result<Options, Failure> {
    let options = model.options()?;
    Ok(Options { solver, events: Some(method), ..options })
}

/// A share in per cent.
fn percent(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// The starts and lengths of the steps of a run.
fn step_lengths(run: &saltus::Run) -> Vec<(f64, f64)> {
    let segments = run.trace.epochs().iter().flat_map(|e| run.trace.segments(e));
    segments.map(|s| (s.start, s.end - s.start)).filter(|s| s.1 > 0.0).collect()
}
