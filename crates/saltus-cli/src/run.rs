//! `saltus run`: simulate, write what was asked for, report.

use crate::args::{ModelArgs, RunArgs};
use crate::json::{self, Json};
use crate::progress::Progress;
use crate::{Outcome, output, summary};
use saltus::expr::{Sort, VarId};
use saltus::model::{Span, VariableKind};
use saltus::{
    Certificate, Change, Error, Event, Fault, HybridSystem, Loader, Model, Options, PictureFormat, Place,
    Recording, Rows, Run, Status, TableFormat, apply_setting, save_picture,
};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// More rows on a grid than this are surely a slip.
const MOST_ROWS: f64 = 1e9;

/// Seconds spent on the parts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Reading and compiling the text.
    pub load: f64,
    /// Simulating, with the preparation of code.
    pub simulate: f64,
    /// Writing tables and pictures.
    pub write: f64,
}

/// What a run gave.
pub struct Report<'r> {
    /// The model.
    pub model: &'r Model,
    /// The run.
    pub run: &'r Run,
    /// Files that could not be written.
    pub failures: Vec<Fault>,
    /// Files that were.
    pub written: Vec<PathBuf>,
    /// Where the time went.
    pub times: Times,
}

/// Reads the model that the arguments name.
pub fn load(args: &ModelArgs) -> Result<Model, Error> {
    let mut loader = Loader::new();
    if let Some(model) = &args.model {
        loader = loader.model(model);
    }
    args.set.iter().fold(loader, |loader, (path, value)| loader.set(path, *value)).file(&args.file)
}

/// Runs the command.
pub fn run(args: &RunArgs) -> Outcome {
    let clock = Instant::now();
    let model = match check_targets(args).and_then(|()| load(&args.model)) {
        Ok(model) => model,
        Err(error) => return refused(args, None, &error),
    };
    let load = clock.elapsed().as_secs_f64();
    if !args.quiet && !args.json {
        output::complain(&saltus::lang::render::render(
            model.warnings(),
            &model.system().sources,
            output::look(),
        ));
    }
    let clock = Instant::now();
    let run = match options(args, &model).and_then(|options| simulate(args, &model, options)) {
        Ok(run) => run,
        Err(error) => return refused(args, Some(&model.system().name), &error),
    };
    let times = Times { load, simulate: clock.elapsed().as_secs_f64(), write: 0.0 };
    let mut report = Report { model: &model, run: &run, failures: vec![], written: vec![], times };
    let clock = Instant::now();
    write_files(args, &mut report);
    report.times.write = clock.elapsed().as_secs_f64();
    tell(args, &report)
}

fn refused(args: &RunArgs, model: Option<&str>, error: &Error) -> Outcome {
    output::refuse_error(error, model, args.json);
    Outcome::BadInput
}

/// Refuses names of files that cannot be written before time is spent on a run.
fn check_targets(args: &RunArgs) -> Result<(), Error> {
    args.plots.iter().try_for_each(|path| PictureFormat::of(path).map(|_| ()))?;
    args.out.iter().try_for_each(|path| TableFormat::of(path).map(|_| ()))?;
    args.plots.iter().chain(&args.out).try_for_each(|path| check_folder(path))
}

/// Refuses a file in a folder that does not exist.
pub fn check_folder(path: &Path) -> Result<(), Error> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            let reason = format!("there is no folder `{}`", folder.display());
            Err(Error::Write { path: path.into(), reason })
        }
        _ => Ok(()),
    }
}

fn options(args: &RunArgs, model: &Model) -> Result<Options, Error> {
    let mut options = model.options()?;
    for (name, value) in &args.settings {
        apply_setting(&mut options, name, value)?;
    }
    let until = model.stop_time(&options).unwrap_or(0.0);
    if let Some(period) = args.sample.filter(|period| until / period > MOST_ROWS) {
        let message = format!("a row every {period} until {until} makes too many rows");
        return Err(Error::Setting { message, place: None, hint: Some("use a longer `--sample`".into()) });
    }
    let kept = args.out.is_some() || !pictures(args, model).is_empty();
    options.recording = if kept { Recording::All } else { Recording::Events };
    Ok(options)
}

fn simulate(args: &RunArgs, model: &Model, options: Options) -> Result<Run, Error> {
    match Progress::new(model.stop_time(&options), args.quiet || args.json) {
        None => model.run(options),
        Some(mut progress) => {
            let outcome = model.run_with_progress(options, Some(&mut |t| progress.reached(t)));
            progress.finish();
            outcome
        }
    }
}

/// The pictures to make: those asked for, or one if the model asks for plots.
fn pictures(args: &RunArgs, model: &Model) -> Vec<PathBuf> {
    if !args.plots.is_empty() || args.json || model.system().run.panels.is_empty() {
        return args.plots.clone();
    }
    vec![named_after(&args.model, ".svg")]
}

/// A file in the current directory, named after the file of the model.
pub fn named_after(args: &ModelArgs, ending: &str) -> PathBuf {
    let stem = args.file.file_stem().unwrap_or(args.file.as_os_str()).to_string_lossy();
    match &args.model {
        Some(model) => format!("{stem}_{model}{ending}").into(),
        None => format!("{stem}{ending}").into(),
    }
}

fn write_files(args: &RunArgs, report: &mut Report<'_>) {
    let (model, run) = (report.model, report.run);
    if let Some(path) = &args.out {
        let rows = args.sample.map_or(Rows::Steps, Rows::Every);
        report.record(path, model.save_table(run, rows, path));
    }
    let pictures = pictures(args, model);
    if !pictures.is_empty() {
        let scene = model.figure(run).scene(&Default::default());
        for path in pictures {
            report.record(&path, save_picture(&scene, &path));
        }
    }
}

fn tell(args: &RunArgs, report: &Report<'_>) -> Outcome {
    if args.json {
        output::print_json(|j| report.json(j));
    } else if !args.quiet {
        output::print(&summary::text(report));
    }
    let ending = &report.run.ending;
    for fault in &report.failures {
        output::complain(&format!("saltus: {fault}\n"));
    }
    if !ending.status.is_success() {
        output::complain(&summary::why(report));
        return Outcome::Stuck;
    }
    if report.failures.is_empty() { Outcome::Done } else { Outcome::BadInput }
}

impl Report<'_> {
    fn record(&mut self, path: &Path, outcome: Result<(), Error>) {
        match outcome {
            Ok(()) => self.written.push(path.into()),
            Err(error) => self.failures.extend(error.faults()),
        }
    }

    /// The place in the model that the ending is about.
    pub fn place(&self) -> Option<Place> {
        Place::of(&self.model.system().sources, self.run.ending.span?)
    }

    /// What went wrong, for the list of errors.
    fn errors(&self) -> Vec<Fault> {
        let ending = &self.run.ending;
        let mut errors = self.failures.clone();
        if !ending.status.is_success() {
            let (message, hint) = (ending.reason.clone(), ending.hint.clone());
            errors.insert(0, Fault { code: ending.status.word(), message, place: self.place(), hint });
        }
        errors
    }

    fn json<W: Write>(&self, j: &mut Json<W>) {
        let system = self.model.system();
        j.object(|j| {
            j.key("model").text(&system.name);
            j.key("status").text(self.run.ending.status.word());
            j.key("stop").object(|j| self.stop(j));
            let mut places = Places::new(system);
            j.key("events").array(|j| self.run.events.iter().for_each(|e| self.event(j, e, &mut places)));
            j.key("final").object(|j| self.last_values(j));
            j.key("modes").object(|j| {
                for (automaton, mode) in system.automata.iter().zip(&self.run.modes) {
                    j.key(&automaton.name).optional_text(mode.map(|m| system.mode(m).name.as_str()));
                }
            });
            j.key("stats").object(|j| self.stats(j));
            if let Some(certificate) = &self.run.certificate {
                j.key("certificate").object(|j| prove(j, certificate));
            }
            j.key("errors").array(|j| self.errors().iter().for_each(|fault| json::fault(j, fault)));
            j.key("notes").array(|j| self.notes(j));
            j.key("files").array(|j| {
                self.written.iter().for_each(|path| j.text(&path.to_string_lossy()));
            });
        });
    }

    fn stop<W: Write>(&self, j: &mut Json<W>) {
        let ending = &self.run.ending;
        let place = self.place();
        j.key("t").number(ending.stamp.t);
        j.key("n").integer(ending.stamp.n.into());
        j.key("i").integer(ending.stamp.i.into());
        j.key("file").optional_text(place.as_ref().map(|p| p.file.as_str()));
        j.key("line").optional_integer(place.as_ref().map(|p| p.line.into()));
        j.key("reason").text(&ending.reason);
    }

    fn event<W: Write>(&self, j: &mut Json<W>, event: &Event, places: &mut Places<'_>) {
        let system = self.model.system();
        let changes = self.run.changes_of(event);
        let (automaton, from, to) = match event.transition {
            Some((automaton, from, to)) => (Some(&system.automaton(automaton).name), Some(from), Some(to)),
            None => (None, None, None),
        };
        let mode = |m: Option<saltus::model::ModeId>| m.map(|m| system.mode(m).name.as_str());
        j.object(|j| {
            j.key("t").number(event.stamp.t);
            j.key("n").integer(event.stamp.n.into());
            j.key("i").integer(event.stamp.i.into());
            j.key("kind").text(event.kind.word());
            j.key("name").text(&event.name);
            j.key("agents").array(|_| {});
            j.key("automaton").optional_text(automaton.map(String::as_str));
            j.key("from").optional_text(mode(from));
            j.key("to").optional_text(mode(to));
            let (file, line) = places.line(event.span);
            j.key("file").optional_text(file);
            j.key("line").optional_integer(line);
            j.key("before").object(|j| values(j, system, changes, |c| c.before));
            j.key("after").object(|j| values(j, system, changes, |c| c.after));
        });
    }

    fn last_values<W: Write>(&self, j: &mut Json<W>) {
        let system = self.model.system();
        for kind in [VariableKind::State, VariableKind::Memory, VariableKind::Signal] {
            for v in system.variables_of(kind) {
                value(j, system, v, self.run.values[v.index()]);
            }
        }
    }

    fn stats<W: Write>(&self, j: &mut Json<W>) {
        let stats = &self.run.stats;
        for (name, count) in [
            ("steps", stats.steps),
            ("rejected", stats.rejected),
            ("rhs_evals", stats.rhs_evals),
            ("outside_domain_evals", stats.outside_domain_evals),
            ("jet_evals", stats.jet_evals),
            ("root_searches", stats.root_searches),
            ("instants", stats.instants),
            ("jumps", stats.jumps),
            ("switchings", stats.switchings),
            ("combinations", stats.combinations),
            ("programs", stats.programs),
            ("native", stats.native),
            ("events", self.run.events.len() as u64),
        ] {
            j.key(name).integer(count);
        }
        // Nothing is projected yet.
        j.key("projections").integer(0);
        j.key("compile_seconds").number(self.times.load + stats.compile_seconds);
        j.key("seconds").number(stats.seconds);
        j.key("write_seconds").number(self.times.write);
    }

    /// Remarks of the run and warnings about the text.
    fn notes<W: Write>(&self, j: &mut Json<W>) {
        for note in &self.run.notes {
            j.object(|j| {
                j.key("t").number(note.t);
                j.key("message").text(&note.text);
            });
        }
        self.model.warning_faults().iter().for_each(|warning| json::fault(j, warning));
    }
}

/// What a run has proved, and what that means.
const CLAIM: &str = "for each proved step: the exact flow of the expressions from the computed point at its start (of a part of the flow that events left alone: from where this was expanded last) exists, stays in the domain, and every guard keeps its sign but in the brackets of the events; not claimed: that the computed points lie on one flow, the global error, the order of overlapping brackets";

fn prove<W: Write>(j: &mut Json<W>, certificate: &Certificate) {
    j.key("claim").text(CLAIM);
    j.key("proved_steps").integer(certificate.proved_steps);
    j.key("proved_time").number(certificate.proved_time);
    j.key("unproved_steps").integer(certificate.unproved_steps);
    j.key("doubtful").integer(certificate.doubtful);
    j.key("doubts").array(|j| {
        for doubt in &certificate.doubts {
            j.object(|j| {
                j.key("from").number(doubt.from);
                j.key("to").number(doubt.to);
                j.key("what").text(&doubt.what);
            });
        }
    });
}

/// The values of changed variables by name.
fn values<W: Write>(j: &mut Json<W>, system: &HybridSystem, changes: &[Change], of: fn(&Change) -> f64) {
    for change in changes {
        value(j, system, change.variable, of(change));
    }
}

fn value<W: Write>(j: &mut Json<W>, system: &HybridSystem, v: VarId, value: f64) {
    let variable = system.variable(v);
    let j = j.key(&variable.name);
    match variable.sort {
        Sort::Boolean => j.boolean(value != 0.0),
        Sort::Real | Sort::Integer => j.number(value),
    }
}

/// Lines of rules; a run has many events of few rules.
struct Places<'s> {
    system: &'s HybridSystem,
    known: HashMap<Span, u32>,
}

impl<'s> Places<'s> {
    fn new(system: &'s HybridSystem) -> Self {
        Self { system, known: HashMap::new() }
    }

    fn line(&mut self, span: Span) -> (Option<&'s str>, Option<u64>) {
        let sources = &self.system.sources;
        let Some(file) = sources.files().get(span.file as usize) else { return (None, None) };
        let line = *self.known.entry(span).or_insert_with(|| sources.line_column(span).0);
        (Some(&file.path), Some(line.into()))
    }
}

/// How a run ended, as part of a sentence.
pub fn verb(status: Status) -> &'static str {
    match status {
        Status::Finished => "finished",
        Status::Stopped => "was stopped by the model",
        Status::Blocked => "is blocked",
        Status::LeftDomain => "left the domain of the model",
        Status::Zeno => "met events that accumulate",
        Status::ZeroTimeLoop => "met a loop in zero time",
        Status::Limit => "reached a limit",
        Status::Failed => "failed",
    }
}
