//! From a run to the rows of a table: states, memories, signals, and the mode of every automaton.

use super::modes::ActiveModes;
use crate::table::{Column, ColumnKind, Instant, TableError, TableWriter, Value};
use saltus_expr::{Sort, VarId};
use saltus_model::{AutomatonId, HybridSystem, VariableKind};
use saltus_sim::{Point, Role, Run, Sampling, Stamp};

/// At which times a table has rows; jumps always have theirs, one before and one after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rows {
    /// At the ends of the steps, and in between so that curves can be drawn from the table.
    Steps,
    /// At whole multiples of a period.
    Every(f64),
}

/// Rows over the whole run if nothing else asks for more.
const ACROSS: f64 = 500.0;

/// The columns of a run's table.
pub fn columns(system: &HybridSystem) -> Vec<Column> {
    let variables = shown(system).into_iter().map(|v| {
        let variable = system.variable(v);
        let kind = match variable.sort {
            Sort::Real => ColumnKind::Real,
            Sort::Integer => ColumnKind::Integer,
            Sort::Boolean => ColumnKind::Boolean,
        };
        Column::new(&variable.name, kind)
    });
    let automata = system.automata.iter().map(|a| Column::new(&a.name, ColumnKind::Text));
    variables.chain(automata).collect()
}

fn shown(system: &HybridSystem) -> Vec<VarId> {
    let kinds = [VariableKind::State, VariableKind::Memory, VariableKind::Signal];
    kinds.into_iter().flat_map(|kind| system.variables_of(kind)).collect()
}

/// Writes the rows of a run to a writer that was made with its [`columns`].
///
/// ```
/// use saltus_io::{csv::CsvWriter, from_trace::{Rows, columns, write_table}};
/// use saltus_sim::{Options, simulate};
/// let system = saltus_model::HybridSystem::new("Empty");
/// let run = simulate(&system, Options { until: Some(1.0), ..Options::default() }).unwrap();
/// let mut text = Vec::new();
/// let csv = Box::new(CsvWriter::new(&mut text, &columns(&system))?);
/// write_table(&system, &run, Rows::Every(0.5), csv)?;
/// assert!(text.starts_with(b"t,n,i\n0,0,0\n"));
/// # Ok::<(), saltus_io::table::TableError>(())
/// ```
pub fn write_table(
    system: &HybridSystem,
    run: &Run,
    rows: Rows,
    mut table: Box<dyn TableWriter + '_>,
) -> Result<(), TableError> {
    let variables = shown(system);
    let mut modes = ActiveModes::new(system, run);
    let mut cells = Vec::with_capacity(variables.len() + system.automata.len());
    let mut last: Option<Stamp> = None;
    let mut outcome = Ok(());
    let sampling = match rows {
        Rows::Steps => Sampling::Spaced { apart: run.ending.stamp.t / ACROSS, least: 0 },
        Rows::Every(period) => Sampling::Every(period),
    };
    run.trace.walk(sampling, |point| {
        let stamp = point.stamp;
        if outcome.is_err() || last == Some(stamp) || !rows.include(&point) {
            return;
        }
        last = Some(stamp);
        modes.advance(stamp);
        cells.clear();
        cells.extend(variables.iter().map(|&v| cell(system, &modes, v, point.values)));
        cells.extend((0..system.automata.len()).map(|k| {
            let mode = modes.mode(AutomatonId(k as u32));
            mode.map_or(Value::Missing, |m| Value::Text(&system.mode(m).name))
        }));
        outcome = table.row(Instant { t: stamp.t, n: stamp.n, i: stamp.i }, &cells);
    });
    outcome?;
    table.finish()
}

impl Rows {
    /// A grid leaves out the ends of steps that are no jumps. An instant has one row, with the branches
    /// that hold from there on.
    fn include(self, point: &Point<'_>) -> bool {
        match self {
            _ if point.ends_branch => false,
            Self::Steps => true,
            Self::Every(period) => {
                let t = point.stamp.t;
                point.role != Role::Inside || (t / period).round() * period == t
            }
        }
    }
}

fn cell<'s>(system: &HybridSystem, modes: &ActiveModes<'_>, v: VarId, values: &[f64]) -> Value<'s> {
    if !modes.exists(v) {
        return Value::Missing;
    }
    let value = values[v.index()];
    match system.variable(v).sort {
        Sort::Real => Value::Real(value),
        Sort::Integer => Value::Integer(value as i64),
        Sort::Boolean => Value::Boolean(value != 0.0),
    }
}
