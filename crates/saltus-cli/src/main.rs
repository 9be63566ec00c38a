//! The command `saltus`: runs, checks and draws models, and recomputes the tables of papers.
//!
//! Each command is a function from its arguments to an exit code: 0 if all went well, 1 for an error
//! in the input or results that could not be written, 2 for a run that could not go on. Standard output carries the result, standard
//! error what went wrong.

mod args;
mod check;
mod graph;
mod help;
mod json;
mod output;
mod progress;
mod reproduce;
mod run;
mod summary;

use args::Command;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All went well.
    Done,
    /// An error in the model, the options or the files, or results that could not be written.
    BadInput,
    /// The run could not go on.
    Stuck,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(match outcome {
            Outcome::Done => 0,
            Outcome::BadInput => 1,
            Outcome::Stuck => 2,
        })
    }
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let wants_json = arguments.iter().any(|a| a == "--json");
    let outcome = match args::parse(arguments) {
        Ok(Command::Run(args)) => run::run(&args),
        Ok(Command::Check(args)) => check::check(&args),
        Ok(Command::Graph(args)) => graph::graph(&args),
        Ok(Command::Reproduce(args)) => reproduce::reproduce(&args),
        Ok(Command::Say(text)) => {
            output::print(&text);
            Outcome::Done
        }
        Err(usage) => {
            output::refuse(&[usage.into()], wants_json);
            Outcome::BadInput
        }
    };
    output::delivered(outcome).into()
}
