//! Results as a table: one row per instant, one column per variable or automaton.
//!
//! At a jump both limits are rows of the same time `t`; their indices `n` and `i` tell them apart.
//! The same rows go to any format through [`TableWriter`].

use std::borrow::Cow;
use std::io;

/// Headings of the columns that say when a row holds; they stand before all others.
pub const STAMPS: [&str; 3] = ["t", "n", "i"];

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers.
    Real,
    /// Whole numbers.
    Integer,
    /// True or false.
    Boolean,
    /// Text, for example the name of a mode.
    Text,
}

/// A column after `t`, `n` and `i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, for example `rooms[2].x`.
    pub name: String,
    /// What its cells are.
    pub kind: ColumnKind,
}

impl Column {
    /// A column of a name and a kind.
    pub fn new(name: impl Into<String>, kind: ColumnKind) -> Self {
        Self { name: name.into(), kind }
    }

    /// What stands above the column: its name, and `model.i` for a variable that is called like one
    /// of the [`STAMPS`]. No part of a model can be called `model`, so headings are never equal.
    ///
    /// ```
    /// use saltus_io::table::{Column, ColumnKind};
    /// assert_eq!(Column::new("motor.i", ColumnKind::Real).heading(), "motor.i");
    /// assert_eq!(Column::new("i", ColumnKind::Real).heading(), "model.i");
    /// ```
    pub fn heading(&self) -> Cow<'_, str> {
        if STAMPS.contains(&self.name.as_str()) {
            Cow::Owned(format!("model.{}", self.name))
        } else {
            Cow::Borrowed(&self.name)
        }
    }
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number.
    Real(f64),
    /// A whole number.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// Text.
    Text(&'a str),
    /// Nothing: the variable does not exist at this instant.
    Missing,
}

impl Value<'_> {
    /// Whether the value may stand in a column of a kind.
    pub fn fits(&self, kind: ColumnKind) -> bool {
        matches!(
            (self, kind),
            (Value::Missing, _)
                | (Value::Real(_), ColumnKind::Real)
                | (Value::Integer(_), ColumnKind::Integer)
                | (Value::Boolean(_), ColumnKind::Boolean)
                | (Value::Text(_), ColumnKind::Text)
        )
    }
}

/// When a row holds: real time, infinitesimal step, mode iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Instant {
    /// Time.
    pub t: f64,
    /// Infinitesimal steps since `t` was reached.
    pub n: u32,
    /// Mode iterations within the step.
    pub i: u32,
}

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A row does not have one cell per column.
    #[error("row at t = {t} has {found} values for {expected} columns")]
    Ragged {
        /// Time of the row.
        t: f64,
        /// Number of columns.
        expected: usize,
        /// Number of cells.
        found: usize,
    },
    /// A cell is not of its column's kind.
    #[error("row at t = {t}: the value of `{column}` is not of kind {kind:?}")]
    Kind {
        /// Time of the row.
        t: f64,
        /// Name of the column.
        column: String,
        /// What the column holds.
        kind: ColumnKind,
    },
    /// The file could not be written.
    #[error("the table could not be written: {0}")]
    Io(#[from] io::Error),
    /// The format's own library refused the table.
    #[error("the table could not be written: {0}")]
    Format(String),
}

/// Takes the rows of a table one by one.
pub trait TableWriter {
    /// Writes the row of an instant: one value per column.
    fn row(&mut self, at: Instant, values: &[Value<'_>]) -> Result<(), TableError>;

    /// Completes the file.
    fn finish(self: Box<Self>) -> Result<(), TableError>;
}

/// Checks a row against the columns.
pub(crate) fn check_row(columns: &[Column], at: Instant, values: &[Value<'_>]) -> Result<(), TableError> {
    if values.len() != columns.len() {
        return Err(TableError::Ragged { t: at.t, expected: columns.len(), found: values.len() });
    }
    match columns.iter().zip(values).find(|(column, value)| !value.fits(column.kind)) {
        None => Ok(()),
        Some((column, _)) => {
            Err(TableError::Kind { t: at.t, column: column.name.clone(), kind: column.kind })
        }
    }
}
