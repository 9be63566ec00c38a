//! A model that is ready to run, read from a file, from text, or made by a program.

use crate::error::diagnostic_fault;
use crate::{Error, Fault, Figure, HybridSystem, Options, Place, Rows, Run, files, settings, values};
use saltus_expr::Sort;
use saltus_io::graph::GraphOptions;
use saltus_io::scene::Scene;
use saltus_lang::suggest::did_you_mean;
use saltus_lang::{Diagnostic, Severity};
use saltus_model::{Variable, VariableKind};
use saltus_sim::{SimError, Simulator};
use std::fmt;
use std::path::Path;

/// A value given from outside to a parameter, or to a state or memory at its start.
///
/// ```
/// use saltus::SetValue;
/// assert_eq!(SetValue::from(true).number(), 1.0);
/// assert_eq!(SetValue::from(2.5).to_string(), "2.5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetValue {
    /// A number; 0 and 1 also stand for false and true.
    Number(f64),
    /// True or false.
    Boolean(bool),
}

impl SetValue {
    /// As the run has it: 0 or 1 for false and true.
    pub fn number(self) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Boolean(value) => f64::from(u8::from(value)),
        }
    }
}

impl From<f64> for SetValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for SetValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl fmt::Display for SetValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Boolean(value) => value.fmt(f),
        }
    }
}

/// Says which model of a file is wanted and with which values.
///
/// ```
/// let text = "model Chain { param n = 2; state x[n] = 0; hold x }\nmodel Other { }";
/// let model = saltus::Loader::new().model("Chain").set("n", 5.0).text("chain.salt", text)?;
/// assert_eq!(model.system().variables.iter().filter(|v| v.name.starts_with("x[")).count(), 5);
/// # Ok::<(), saltus::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Loader {
    model: Option<String>,
    set: Vec<(String, SetValue)>,
}

impl Loader {
    /// The only model of a file, with its own values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses one of several models of a file.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Gives a parameter its value, or a state or memory its starting value, by its dotted path.
    pub fn set(mut self, path: impl Into<String>, value: impl Into<SetValue>) -> Self {
        self.set.push((path.into(), value.into()));
        self
    }

    /// Reads a file, and the files it uses.
    pub fn file(&self, path: impl AsRef<Path>) -> Result<Model, Error> {
        let path = path.as_ref();
        let text = read(path).map_err(|reason| Error::Read { path: path.into(), reason })?;
        self.text(&path.to_string_lossy(), &text)
    }

    /// Takes the text of a model. Files that it uses are looked for beside `name`.
    pub fn text(&self, name: &str, text: &str) -> Result<Model, Error> {
        let reader = |path: &str| read(Path::new(path));
        let set: Vec<(String, f64)> = self.set.iter().map(|(path, v)| (path.clone(), v.number())).collect();
        let compiled = saltus_lang::compile_with(name, text, self.model.as_deref(), &set, &reader);
        let (diagnostics, sources) = (compiled.diagnostics, compiled.sources);
        let Some(system) = compiled.system else { return Err(Error::Model { diagnostics, sources }) };
        let model = Model { system, warnings: diagnostics };
        refuse(self.set.iter().filter_map(|(path, value)| model.wrong_set(path, *value)))?;
        Ok(model)
    }
}

/// Ends in an error if there is any fault in values set.
fn refuse(faults: impl Iterator<Item = Fault>) -> Result<(), Error> {
    let faults: Vec<Fault> = faults.collect();
    if faults.is_empty() { Ok(()) } else { Err(Error::Set { faults }) }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::InvalidData => "it is not text in UTF-8".into(),
        _ => e.to_string(),
    })
}

/// A model without errors, ready to run.
///
/// ```no_run
/// let model = saltus::Model::from_file("examples/bouncing_ball.salt")?;
/// let run = model.run(model.options()?)?;
/// model.save_figure(&run, "bouncing_ball.svg")?;
/// # Ok::<(), saltus::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    system: HybridSystem,
    warnings: Vec<Diagnostic>,
}

impl Model {
    /// Reads the only model of a file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        Loader::new().file(path)
    }

    /// Takes the only model of a text. Files that it uses are looked for beside `name`.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Error> {
        Loader::new().text(name, text)
    }

    /// Takes a system that was made by a program.
    pub fn from_system(system: HybridSystem) -> Self {
        Self { system, warnings: Vec::new() }
    }

    /// The flat hybrid system.
    pub fn system(&self) -> &HybridSystem {
        &self.system
    }

    /// The warnings about its text.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The warnings in plain parts, for reports.
    pub fn warning_faults(&self) -> Vec<Fault> {
        let warnings = self.warnings.iter().filter(|d| d.severity == Severity::Warning);
        warnings.map(|d| diagnostic_fault(d, &self.system.sources)).collect()
    }

    /// The options its `run` block asks for.
    pub fn options(&self) -> Result<Options, Error> {
        let mut options = Options::default();
        for (name, value, span) in &self.system.run.settings {
            settings::apply_setting(&mut options, name, value).map_err(|error| match error {
                Error::Setting { message, hint, .. } => {
                    Error::Setting { message, hint, place: Place::of(&self.system.sources, *span) }
                }
                other => other,
            })?;
        }
        Ok(options)
    }

    /// The time until which a run with these options goes, if that is known before.
    pub fn stop_time(&self, options: &Options) -> Option<f64> {
        let known = values::parameter_values(&self.system);
        options.until.or_else(|| values::value(&self.system, self.system.run.until?, &known))
    }

    /// The model made ready for any number of runs.
    pub fn simulator(&self) -> Simulator<'_> {
        Simulator::new(&self.system)
    }

    /// Simulates once.
    pub fn run(&self, options: Options) -> Result<Run, Error> {
        self.run_with_progress(options, None)
    }

    /// Simulates and calls `progress` with the simulated time now and then.
    pub fn run_with_progress(
        &self,
        options: Options,
        progress: Option<&mut dyn FnMut(f64)>,
    ) -> Result<Run, Error> {
        refuse(options.set.iter().filter_map(|(path, value)| {
            self.wrong_set(path, (*value).into()).or_else(|| self.changes_structure(path, *value))
        }))?;
        let place = |error: &SimError| Place::of(&self.system.sources, error.span()?);
        let outcome = match progress {
            None => self.simulator().run(options),
            Some(progress) => self.simulator().run_with_progress(options, Some(&mut |t| progress(t))),
        };
        outcome.map_err(|error| Error::Run { place: place(&error), error: error.into() })
    }

    /// Draws a run: the panels of the `run` block or the states, modes and events.
    pub fn figure(&self, run: &Run) -> Figure {
        saltus_io::from_trace::figure(&self.system, run)
    }

    /// Draws a run to a file, in the format that its name asks for (`.svg`, `.png`).
    pub fn save_figure(&self, run: &Run, path: impl AsRef<Path>) -> Result<(), Error> {
        files::save_picture(&self.figure(run).scene(&Default::default()), path.as_ref())
    }

    /// Draws the hierarchy and the automata.
    pub fn graph(&self, options: &GraphOptions) -> Scene {
        saltus_io::graph::scene(&self.system, options)
    }

    /// The rows of a run as CSV text.
    ///
    /// ```
    /// use saltus::{Model, Rows};
    /// let model = Model::from_text("up.salt", "model Up { state x = 0; x' = 2; run { until 1 } }")?;
    /// let run = model.run(model.options()?)?;
    /// assert_eq!(model.table(&run, Rows::Every(0.5)), "t,n,i,x\n0,0,0,0\n0.5,0,0,1\n1,0,0,2\n");
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn table(&self, run: &Run, rows: Rows) -> String {
        let mut text = Vec::new();
        let columns = saltus_io::from_trace::columns(&self.system);
        // Nothing refuses rows that are written to memory.
        let _ = saltus_io::csv::CsvWriter::new(&mut text, &columns)
            .and_then(|csv| saltus_io::from_trace::write_table(&self.system, run, rows, Box::new(csv)));
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Writes the rows of a run to a file, in the format that its name asks for (`.csv`, and as
    /// features `.arrow` and `.parquet`).
    pub fn save_table(&self, run: &Run, rows: Rows, path: impl AsRef<Path>) -> Result<(), Error> {
        let columns = saltus_io::from_trace::columns(&self.system);
        files::save_table(path.as_ref(), &columns, |writer| {
            saltus_io::from_trace::write_table(&self.system, run, rows, writer)
        })
    }

    /// What is wrong with a value for a path.
    fn wrong_set(&self, path: &str, value: SetValue) -> Option<Fault> {
        let wrong = |message: String, hint| Some(Fault { code: "set", message, place: None, hint });
        let Some(variable) = self.system.variables.iter().find(|v| v.name == path) else {
            return wrong(format!("the model has no `{path}`"), self.meant(path));
        };
        if !variable.kind.is_settable() {
            let hint = "parameters, and the starting values of states and memories, can be set";
            return wrong(format!("`{path}` is {}", described(variable)), Some(hint.into()));
        }
        let (fits, wanted) = match (variable.sort, value) {
            (Sort::Real, SetValue::Number(x)) => (x.is_finite(), "a finite number"),
            (Sort::Real, SetValue::Boolean(_)) => (false, "a finite number"),
            (Sort::Integer, SetValue::Number(x)) => (x.fract() == 0.0 && x.abs() < 9e15, "a whole number"),
            (Sort::Integer, SetValue::Boolean(_)) => (false, "a whole number"),
            (Sort::Boolean, value) => (matches!(value.number(), 0.0 | 1.0), "`true` or `false`"),
        };
        if fits { None } else { wrong(format!("`{path}` needs {wanted}, not {value}"), None) }
    }

    /// What a path that does not exist was probably meant to be.
    fn meant(&self, path: &str) -> Option<String> {
        let settable = || self.system.variables.iter().filter(|v| v.kind.is_settable());
        let element = |v: &&Variable| v.name.strip_prefix(path).is_some_and(|rest| rest.starts_with('['));
        if let Some(first) = settable().find(element) {
            return Some(format!("it is an array; set its elements, for example `{}`", first.name));
        }
        did_you_mean(path, settable().map(|v| v.name.as_str())).or_else(|| {
            let ending = format!(".{path}");
            let inner = settable().find(|v| v.name.ends_with(&ending));
            inner.map(|v| format!("did you mean `{}`?", v.name))
        })
    }

    /// What is wrong with a new value for something that sizes were made from.
    fn changes_structure(&self, path: &str, value: f64) -> Option<Fault> {
        let structural = |v: &&saltus_expr::VarId| self.system.variable(**v).name == path;
        let v = self.system.structural.iter().find(structural)?;
        if values::parameter_values(&self.system)[v.index()] == Some(value) {
            return None;
        }
        let message = format!("`{path}` was used for sizes or tables and cannot be changed any more");
        let hint = Some("give it to the `Loader`, before the model is read".into());
        Some(Fault { code: "set", message, place: None, hint })
    }
}

fn described(variable: &Variable) -> &'static str {
    match variable.kind {
        VariableKind::Time => "the time",
        VariableKind::Signal => "a signal, given by an equation",
        VariableKind::InMode(_) | VariableKind::EntryTime(_) => "given by the modes",
        VariableKind::Parameter => "a parameter",
        VariableKind::State => "a state",
        VariableKind::Memory => "a memory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "model M {
        param n = 2, gain = 3
        state x[n] = 0
        memory count = 0, open = true
        signal y = gain * x[1]
        hold x
        every 1 { count := count + 1 }
    }";

    fn refusal(path: &str, value: f64) -> String {
        let model = Model::from_text("m.salt", TEXT).unwrap();
        let options = Options { set: vec![(path.into(), value)], ..Options::default() };
        model.run(options).unwrap_err().render(Default::default())
    }

    #[test]
    fn what_cannot_be_set_is_explained() {
        assert!(refusal("gian", 1.0).contains("did you mean `gain`?"));
        assert!(refusal("x", 1.0).contains("set its elements, for example `x[1]`"));
        assert!(refusal("y", 1.0).contains("`y` is a signal"));
        assert!(refusal("gain", f64::NAN).contains("needs a finite number"));
        assert!(refusal("open", 2.0).contains("`true` or `false`"), "{}", refusal("open", 2.0));
        assert!(refusal("n", 3.0).contains("used for sizes"));
    }

    #[test]
    fn all_wrong_values_are_told_at_once() {
        let loader = Loader::new().set("gain", true).set("open", false).set("x[3]", 1.0).set("open", 0.5);
        let error = loader.text("m.salt", TEXT).unwrap_err();
        let told: Vec<String> = error.faults().iter().map(|fault| fault.to_string()).collect();
        assert_eq!(
            told,
            [
                "`gain` needs a finite number, not true",
                "the model has no `x[3]`; did you mean `x[1]`?",
                "`open` needs `true` or `false`, not 0.5"
            ]
        );
    }

    #[test]
    fn values_are_set_before_and_after_reading() {
        let model = Loader::new().set("n", 3.0).set("x[3]", 4.0).text("m.salt", TEXT).unwrap();
        let run = model.run(Options { set: vec![("gain".into(), 2.0)], ..Options::default() }).unwrap();
        let last = |name: &str| {
            let position = model.system().variables.iter().position(|v| v.name == name).unwrap();
            run.values[position]
        };
        assert_eq!((last("x[3]"), last("gain")), (4.0, 2.0));
    }

    #[test]
    fn errors_of_models_have_places() {
        let error = Model::from_text("m.salt", "model M {\n  state x = 0\n  x' = yy\n}").unwrap_err();
        let fault = &error.faults()[0];
        assert_eq!(fault.code, "E101");
        assert_eq!(fault.place.as_ref().map(|p| (p.file.as_str(), p.line)), Some(("m.salt", 3)));
        assert!(error.render(Default::default()).contains("m.salt:3"));
    }

    #[test]
    fn settings_of_the_run_block_have_places() {
        let text = "model M {\n  run {\n    solver radau\n  }\n}";
        let fault = &Model::from_text("m.salt", text).unwrap_err().faults()[0];
        assert_eq!((fault.code, fault.place.as_ref().map(|p| p.line)), ("E405", Some(3)));
    }
}
