//! The arguments of the commands.
//!
//! Each command has a table of its flags, from which mistyped ones are recognised.

use crate::{help, reproduce};
use lexopt::{Arg, Parser, ValueExt};
use saltus::lang::suggest::did_you_mean;
use saltus::{Fault, SetValue};
use std::ffi::OsString;
use std::path::PathBuf;

/// What to do.
pub enum Command {
    /// Simulate a model.
    Run(RunArgs),
    /// Tell what a model is.
    Check(CheckArgs),
    /// Draw a model.
    Graph(GraphArgs),
    /// Recompute the tables of papers.
    Reproduce(ReproduceArgs),
    /// Print a text: help or version.
    Say(String),
}

/// Which model, with which values.
#[derive(Default)]
pub struct ModelArgs {
    /// The file.
    pub file: PathBuf,
    /// The model in it.
    pub model: Option<String>,
    /// Values by dotted path.
    pub set: Vec<(String, SetValue)>,
    /// What is wrong with other values.
    wrong_set: Vec<String>,
}

/// Arguments of `run`.
#[derive(Default)]
pub struct RunArgs {
    /// The model.
    pub model: ModelArgs,
    /// Settings of the run by name.
    pub settings: Vec<(&'static str, String)>,
    /// Where the table goes.
    pub out: Option<PathBuf>,
    /// Period of the table's rows.
    pub sample: Option<f64>,
    /// Where pictures go.
    pub plots: Vec<PathBuf>,
    /// One JSON object instead of the summary.
    pub json: bool,
    /// No summary.
    pub quiet: bool,
}

/// Arguments of `check`.
#[derive(Default)]
pub struct CheckArgs {
    /// The model.
    pub model: ModelArgs,
    /// Long lists in full.
    pub all: bool,
    /// One JSON object instead of text.
    pub json: bool,
}

/// Arguments of `graph`.
#[derive(Default)]
pub struct GraphArgs {
    /// The model.
    pub model: ModelArgs,
    /// Where pictures go.
    pub out: Vec<PathBuf>,
    /// Without equations in the boxes.
    pub outline: bool,
    /// Do not say what was written.
    pub quiet: bool,
}

/// Arguments of `reproduce`.
pub struct ReproduceArgs {
    /// The experiment; all if absent.
    pub name: Option<&'static str>,
    /// Number of random starts.
    pub runs: Option<usize>,
    /// Seed of the starts.
    pub seed: u64,
    /// A file of starts instead.
    pub starts: Option<PathBuf>,
    /// Folder for figures.
    pub out: Option<PathBuf>,
    /// Figures as PNG instead of SVG.
    pub png: bool,
    /// No progress bar.
    pub quiet: bool,
}

/// A mistake in the arguments.
pub struct Usage {
    message: String,
    hint: Option<String>,
}

impl Usage {
    fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint }
    }
}

impl From<Usage> for Fault {
    fn from(usage: Usage) -> Self {
        Fault { code: "usage", message: usage.message, place: None, hint: usage.hint }
    }
}

impl From<lexopt::Error> for Usage {
    fn from(error: lexopt::Error) -> Self {
        Self::new(error.to_string(), None)
    }
}

const MODEL_FLAGS: [&str; 3] = ["--model", "--set", "--help"];
const RUN_FLAGS: [&str; 6] = ["--out", "--sample", "--plot", "--json", "--quiet", "--threads"];
const CHECK_FLAGS: [&str; 2] = ["--all", "--json"];
const GRAPH_FLAGS: [&str; 3] = ["--out", "--outline", "--quiet"];
const REPRODUCE_FLAGS: [&str; 7] = ["--runs", "--seed", "--starts", "--out", "--png", "--quiet", "--help"];
/// Flags of `run` that are settings of the same name.
const SETTINGS: [(&str, &str); 17] = [
    ("--until", "until"),
    ("--solver", "solver"),
    ("--events", "events"),
    ("--step", "step"),
    ("--max-step", "max_step"),
    ("--min-step", "min_step"),
    ("--guards", "guards"),
    ("--guard-tolerance", "guard_tolerance"),
    ("--gamma", "gamma"),
    ("--rtol", "rtol"),
    ("--atol", "atol"),
    ("--order", "order"),
    ("--policy", "policy"),
    ("--seed", "seed"),
    ("--max-steps", "max_steps"),
    ("--max-events", "max_events"),
    ("--max-seconds", "max_seconds"),
];
const COMMANDS: [&str; 5] = ["run", "check", "graph", "compare", "reproduce"];

/// Reads the arguments.
pub fn parse(arguments: Vec<OsString>) -> Result<Command, Usage> {
    let mut parser = Parser::from_args(arguments);
    let Some(first) = parser.next()? else { return Ok(Command::Say(help::OVERVIEW.into())) };
    let word = match first {
        Arg::Long("help") | Arg::Short('h') => return Ok(Command::Say(help::OVERVIEW.into())),
        Arg::Long("version") | Arg::Short('V') => return Ok(Command::Say(help::version())),
        Arg::Long(flag) => {
            let flag = format!("--{flag}");
            let hint = did_you_mean(&flag, ["--help", "--version"]);
            let hint = hint.unwrap_or_else(|| "a command comes first, as in `saltus run FILE`".into());
            return Err(Usage::new(format!("`{flag}` does not stand before a command"), Some(hint)));
        }
        Arg::Short(flag) => return Err(Usage::new(format!("unknown option `-{flag}`"), None)),
        Arg::Value(word) => word,
    };
    match word.to_string_lossy().as_ref() {
        "run" => run(parser),
        "check" => check(parser),
        "graph" => graph(parser),
        "help" => Ok(Command::Say(help::OVERVIEW.into())),
        "reproduce" => reproduce(parser),
        "compare" => Err(Usage::new("`saltus compare` is not available yet", None)),
        other => {
            let file = other.ends_with(".salt").then(|| format!("did you mean `saltus run {other}`?"));
            let hint = file.or_else(|| did_you_mean(other, COMMANDS));
            let hint = hint.unwrap_or_else(|| "commands: run, check, graph, reproduce".into());
            Err(Usage::new(format!("`{other}` is not a command"), Some(hint)))
        }
    }
}

/// An option or argument of a command, taken apart.
enum Given {
    Flag(String),
    File(OsString),
}

fn next(parser: &mut Parser) -> Result<Option<Given>, Usage> {
    Ok(match parser.next()? {
        None => None,
        Some(Arg::Long(flag)) => Some(Given::Flag(format!("--{flag}"))),
        Some(Arg::Short(flag)) => Some(Given::Flag(match flag {
            'o' => "--out".into(),
            'q' => "--quiet".into(),
            'h' => "--help".into(),
            other => format!("-{other}"),
        })),
        Some(Arg::Value(file)) => Some(Given::File(file)),
    })
}

impl ModelArgs {
    /// Takes what all commands share; `false` if it is something else.
    fn take(&mut self, flag: &str, parser: &mut Parser) -> Result<bool, Usage> {
        match flag {
            "--model" => self.model = Some(text(flag, parser)?),
            "--set" => match assignment(&text(flag, parser)?) {
                Ok(set) => self.set.push(set),
                Err(wrong) => self.wrong_set.push(wrong),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn take_file(&mut self, file: OsString) -> Result<(), Usage> {
        if self.file.as_os_str().is_empty() && !file.is_empty() {
            self.file = file.into();
            return Ok(());
        }
        let (first, second) = (self.file.display(), file.to_string_lossy());
        Err(Usage::new(format!("one file at a time: `{first}` and `{second}` were given"), None))
    }

    fn check(&self, command: &str) -> Result<(), Usage> {
        if !self.wrong_set.is_empty() {
            return Err(Usage::new(self.wrong_set.join("; "), Some("as in `--set rooms[2].lo=18`".into())));
        }
        if !self.file.as_os_str().is_empty() {
            return Ok(());
        }
        let hint = format!("as in `saltus {command} model.salt`");
        Err(Usage::new(format!("`saltus {command}` needs the file of a model"), Some(hint)))
    }
}

fn run(mut parser: Parser) -> Result<Command, Usage> {
    let mut args = RunArgs::default();
    while let Some(given) = next(&mut parser)? {
        let flag = match given {
            Given::File(file) => {
                args.model.take_file(file)?;
                continue;
            }
            Given::Flag(flag) => flag,
        };
        if let Some((_, setting)) = SETTINGS.iter().find(|s| s.0 == flag) {
            args.settings.push((setting, text(&flag, &mut parser)?));
            continue;
        }
        match flag.as_str() {
            "--help" => return Ok(Command::Say(help::RUN.into())),
            "--out" => args.out = Some(path(&flag, &mut parser)?),
            "--sample" => args.sample = Some(period(&text(&flag, &mut parser)?)?),
            "--plot" => args.plots.push(path(&flag, &mut parser)?),
            "--json" => args.json = true,
            "--quiet" => args.quiet = true,
            "--threads" => return Err(Usage::new("`--threads` is not available yet", None)),
            other if args.model.take(other, &mut parser)? => {}
            other => {
                let settings = SETTINGS.map(|s| s.0);
                return Err(unknown("run", other, &[&settings[..], &RUN_FLAGS[..]].concat()));
            }
        }
    }
    args.model.check("run")?;
    if args.sample.is_some() && args.out.is_none() {
        let hint = "as in `--out run.csv --sample 0.1`";
        return Err(Usage::new(
            "`--sample` needs `--out`: it says which rows the table has",
            Some(hint.into()),
        ));
    }
    Ok(Command::Run(args))
}

fn check(mut parser: Parser) -> Result<Command, Usage> {
    let mut args = CheckArgs::default();
    while let Some(given) = next(&mut parser)? {
        match given {
            Given::File(file) => args.model.take_file(file)?,
            Given::Flag(flag) => match flag.as_str() {
                "--help" => return Ok(Command::Say(help::CHECK.into())),
                "--all" => args.all = true,
                "--json" => args.json = true,
                other if args.model.take(other, &mut parser)? => {}
                other => return Err(unknown("check", other, &CHECK_FLAGS)),
            },
        }
    }
    args.model.check("check")?;
    Ok(Command::Check(args))
}

fn graph(mut parser: Parser) -> Result<Command, Usage> {
    let mut args = GraphArgs::default();
    while let Some(given) = next(&mut parser)? {
        match given {
            Given::File(file) => args.model.take_file(file)?,
            Given::Flag(flag) => match flag.as_str() {
                "--help" => return Ok(Command::Say(help::GRAPH.into())),
                "--out" => args.out.push(path(&flag, &mut parser)?),
                "--outline" => args.outline = true,
                "--quiet" => args.quiet = true,
                other if args.model.take(other, &mut parser)? => {}
                other => return Err(unknown("graph", other, &GRAPH_FLAGS)),
            },
        }
    }
    args.model.check("graph")?;
    Ok(Command::Graph(args))
}

fn reproduce(mut parser: Parser) -> Result<Command, Usage> {
    let mut args = ReproduceArgs {
        name: None,
        runs: None,
        seed: reproduce::SEED,
        starts: None,
        out: None,
        png: false,
        quiet: false,
    };
    while let Some(given) = next(&mut parser)? {
        let flag = match given {
            Given::File(name) => {
                let name = experiment(&name.to_string_lossy())?;
                if let Some(first) = args.name.replace(name) {
                    let hint = "without a name all of them are made";
                    let message = format!("one experiment at a time: `{first}` and `{name}` were given");
                    return Err(Usage::new(message, Some(hint.into())));
                }
                continue;
            }
            Given::Flag(flag) => flag,
        };
        match flag.as_str() {
            "--help" => return Ok(Command::Say(help::REPRODUCE.into())),
            "--runs" => args.runs = Some(whole(&flag, &text(&flag, &mut parser)?, 1)?),
            "--seed" => args.seed = whole(&flag, &text(&flag, &mut parser)?, 0)?,
            "--starts" => args.starts = Some(path(&flag, &mut parser)?),
            "--out" => args.out = Some(path(&flag, &mut parser)?),
            "--png" => args.png = true,
            "--quiet" => args.quiet = true,
            other => {
                let hint = did_you_mean(other, REPRODUCE_FLAGS);
                let hint = hint.unwrap_or_else(|| "see `saltus reproduce --help`".into());
                return Err(Usage::new(format!("`saltus reproduce` has no option `{other}`"), Some(hint)));
            }
        }
    }
    if args.starts.is_some() && !matches!(args.name, Some("table1" | "table2")) {
        let hint = "as in `saltus reproduce table1 --starts starts.json`";
        return Err(Usage::new("`--starts` needs the name of the table it is for", Some(hint.into())));
    }
    Ok(Command::Reproduce(args))
}

fn experiment(word: &str) -> Result<&'static str, Usage> {
    reproduce::NAMES.into_iter().find(|name| *name == word).ok_or_else(|| {
        let hint = did_you_mean(word, reproduce::NAMES);
        let hint = hint.unwrap_or_else(|| format!("experiments: {}", reproduce::NAMES.join(", ")));
        Usage::new(format!("`{word}` is not an experiment"), Some(hint))
    })
}

/// A whole number from `least`.
fn whole<T: std::str::FromStr + PartialOrd + std::fmt::Display>(
    flag: &str,
    text: &str,
    least: T,
) -> Result<T, Usage> {
    let value = text.trim().parse::<T>().ok().filter(|v| *v >= least);
    value.ok_or_else(|| Usage::new(format!("`{flag}` needs a whole number from {least}, not `{text}`"), None))
}

fn unknown(command: &str, flag: &str, flags: &[&'static str]) -> Usage {
    let known = flags.iter().copied().chain(MODEL_FLAGS);
    let hint = did_you_mean(flag, known).unwrap_or_else(|| format!("see `saltus {command} --help`"));
    Usage::new(format!("`saltus {command}` has no option `{flag}`"), Some(hint))
}

/// The value of a flag.
fn text(flag: &str, parser: &mut Parser) -> Result<String, Usage> {
    let value = parser.value().map_err(|_| Usage::new(format!("`{flag}` needs a value"), None))?;
    value.string().map_err(|_| Usage::new(format!("the value of `{flag}` is not text in UTF-8"), None))
}

fn path(flag: &str, parser: &mut Parser) -> Result<PathBuf, Usage> {
    let value = parser.value().map_err(|_| Usage::new(format!("`{flag}` needs the name of a file"), None))?;
    if value.is_empty() {
        return Err(Usage::new(format!("`{flag}` needs the name of a file"), None));
    }
    Ok(value.into())
}

fn period(text: &str) -> Result<f64, Usage> {
    let period = text.parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0);
    period.ok_or_else(|| Usage::new(format!("`--sample` needs a number above 0, not `{text}`"), None))
}

/// `path=value`, or what is wrong with it.
fn assignment(text: &str) -> Result<(String, SetValue), String> {
    let parts = text.split_once('=').map(|(path, value)| (path.trim(), value.trim()));
    let Some((path, value)) = parts.filter(|(path, _)| !path.is_empty()) else {
        return Err(format!("`--set` needs path=value, not `{text}`"));
    };
    let value = match value {
        "true" => true.into(),
        "false" => false.into(),
        number => match number.parse::<f64>().ok().filter(|v| v.is_finite()) {
            Some(number) => number.into(),
            None => return Err(format!("`--set {path}` needs a finite number, not `{value}`")),
        },
    };
    Ok((path.to_string(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> String {
        match parse(line.split_whitespace().map(OsString::from).collect()) {
            Ok(_) => String::new(),
            Err(usage) => Fault::from(usage).to_string(),
        }
    }

    #[test]
    fn slips_are_answered_with_what_was_meant() {
        for (line, answer) in [
            ("rnu a.salt", "did you mean `run`?"),
            ("a.salt", "did you mean `saltus run a.salt`?"),
            ("run a.salt --unitl 3", "did you mean `--until`?"),
            ("run a.salt --max-stepps 3", "did you mean `--max-steps`?"),
            ("check a.salt --jsno", "did you mean `--json`?"),
            ("graph a.salt --ouput x.svg", "did you mean `--out`?"),
            ("graph a.salt --colour x", "see `saltus graph --help`"),
            ("run", "as in `saltus run model.salt`"),
            ("run a.salt b.salt", "one file at a time: `a.salt` and `b.salt` were given"),
            ("run a.salt --until", "`--until` needs a value"),
            ("run a.salt --set x", "`--set` needs path=value, not `x`"),
            ("run a.salt --set x=abc", "needs a finite number, not `abc`"),
            (
                "run a.salt --set x= --set y --set z=1 --set =2",
                "`--set x` needs a finite number, not ``; `--set` needs path=value, not `y`; `--set` needs path=value, not `=2`",
            ),
            ("run a.salt --sample 0.1", "`--sample` needs `--out`"),
            ("run a.salt --out b.csv --sample 0", "needs a number above 0"),
            ("run a.salt --threads 4", "`--threads` is not available yet"),
            ("compare a.salt", "not available yet"),
            ("reproduce table3", "did you mean `table1`?"),
            ("reproduce table1 table2", "one experiment at a time: `table1` and `table2` were given"),
            ("reproduce --rnus 3", "did you mean `--runs`?"),
            ("reproduce --runs 0", "`--runs` needs a whole number from 1, not `0`"),
            ("reproduce --starts a.json", "needs the name of the table"),
            ("--verison", "did you mean `--version`?"),
        ] {
            let said = refusal(line);
            assert!(said.contains(answer), "{line}: {said}");
            assert!(!said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn flags_are_read() {
        let line = "run a.salt --until=3 --set x=-1 --set on=true -o t.csv --sample 0.5 --plot a.svg --plot b.png -q";
        let Ok(Command::Run(args)) = parse(line.split_whitespace().map(OsString::from).collect()) else {
            panic!("{line}");
        };
        assert_eq!(args.settings, [("until", "3".to_string())]);
        assert_eq!(args.model.set, [("x".to_string(), (-1.0).into()), ("on".to_string(), true.into())]);
        assert_eq!((args.plots.len(), args.sample, args.quiet, args.json), (2, Some(0.5), true, false));
    }

    #[test]
    fn every_flag_is_in_the_help() {
        let all = SETTINGS.iter().map(|s| s.0).chain(RUN_FLAGS).chain(MODEL_FLAGS);
        for flag in all.filter(|f| !["--help", "--threads"].contains(f)) {
            assert!(help::RUN.contains(flag), "{flag}");
        }
        assert!(CHECK_FLAGS.iter().all(|flag| help::CHECK.contains(flag)));
        assert!(GRAPH_FLAGS.iter().all(|flag| help::GRAPH.contains(flag)));
        let reproduce = REPRODUCE_FLAGS.iter().filter(|flag| **flag != "--help");
        assert!(reproduce.chain(&reproduce::NAMES).all(|word| help::REPRODUCE.contains(word)));
    }
}
