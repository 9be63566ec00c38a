//! What can go wrong before a run, or after it when results are written.

use saltus_lang::render::{Look, render};
use saltus_lang::{Diagnostic, Severity};
use saltus_model::{SourceMap, Span};
use saltus_sim::SimError;
use std::fmt;
use std::path::PathBuf;

/// A place in a model text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Path of the file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Place {
    /// Where a span begins; nothing for models that were made without text.
    pub fn of(sources: &SourceMap, span: Span) -> Option<Place> {
        let file = sources.files().get(span.file as usize)?;
        let (line, column) = sources.line_column(span);
        Some(Place { file: file.path.clone(), line, column })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One finding in plain parts, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A short word or number that stays the same between versions.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where, if it is about a place in a model.
    pub place: Option<Place>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Why a model could not be used or its results not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read `{}`: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The model text has errors.
    #[error("{}", first_error(diagnostics, sources))]
    Model {
        /// All errors and warnings, in text order.
        diagnostics: Vec<Diagnostic>,
        /// The texts they point into.
        sources: SourceMap,
    },
    /// Values were given for things that do not take them.
    #[error("{}", faults.iter().map(|f| f.message.as_str()).collect::<Vec<_>>().join("; "))]
    Set {
        /// What is wrong with each.
        faults: Vec<Fault>,
    },
    /// A setting of a run does not exist or has no such value.
    #[error("{message}")]
    Setting {
        /// What is wrong.
        message: String,
        /// Where it is written, if in the model.
        place: Option<Place>,
        /// What may have been meant.
        hint: Option<String>,
    },
    /// The run cannot begin.
    #[error("{error}")]
    Run {
        /// Why.
        error: Box<SimError>,
        /// The place in the model it is about.
        place: Option<Place>,
    },
    /// The name of a file asks for a format that is not known, or not part of this build.
    #[error("`{}` cannot be written: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A result cannot be written.
    #[error("cannot write `{}`: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl Error {
    /// The findings, one by one; for a model all its errors, for values set all wrong ones.
    pub fn faults(&self) -> Vec<Fault> {
        let one = |code, place: &Option<Place>, hint: &Option<String>| {
            vec![Fault { code, message: self.to_string(), place: place.clone(), hint: hint.clone() }]
        };
        match self {
            Self::Model { diagnostics, sources } => diagnostics
                .iter()
                .filter(|d| d.severity == Severity::Error)
                .map(|d| diagnostic_fault(d, sources))
                .collect(),
            Self::Read { .. } => one("read", &None, &None),
            Self::Set { faults } => faults.clone(),
            Self::Setting { place, hint, .. } => one("setting", place, hint),
            Self::Run { error, place } => one("run", place, &Some(error.hint().into())),
            Self::Format { .. } => one("format", &None, &None),
            Self::Write { .. } => one("write", &None, &None),
        }
    }

    /// The error as text for people, with the lines of the model it is about.
    pub fn render(&self, look: Look) -> String {
        match self {
            Self::Model { diagnostics, sources } => render(diagnostics, sources, look),
            _ => self.faults().iter().map(|fault| format!("{fault}\n")).collect(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:{}: ", place.file, place.line)?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

/// A diagnostic in plain parts.
pub(crate) fn diagnostic_fault(d: &Diagnostic, sources: &SourceMap) -> Fault {
    let place = Place::of(sources, d.span);
    Fault { code: d.code, message: d.message.clone(), place, hint: d.hint.clone() }
}

fn first_error(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let Some(first) = errors.next() else { return "the model has errors".into() };
    let fault = diagnostic_fault(first, sources);
    match errors.count() {
        0 => fault.to_string(),
        more => format!("{fault} (and {more} more errors)"),
    }
}
