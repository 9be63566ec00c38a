//! Results as comma-separated text.
//!
//! Numbers are written in the shortest form that reads back to the same bits. Names and texts are
//! quoted where a comma, quote, line break or leading `#` would be misread.

use crate::table::{Column, Instant, STAMPS, TableError, TableWriter, Value, check_row};
use std::io::Write;

/// Writes a table as CSV: a header, then `t,n,i` and the columns.
///
/// ```
/// use saltus_io::csv::CsvWriter;
/// use saltus_io::table::{Column, ColumnKind, Instant, TableWriter, Value};
/// let columns = [Column::new("x", ColumnKind::Real), Column::new("control", ColumnKind::Text)];
/// let mut out = Vec::new();
/// let mut csv = Box::new(CsvWriter::new(&mut out, &columns)?);
/// csv.row(Instant { t: 0.5, n: 0, i: 0 }, &[Value::Real(0.1), Value::Text("Off")])?;
/// csv.row(Instant { t: 0.5, n: 0, i: 1 }, &[Value::Real(0.1), Value::Text("On")])?;
/// csv.finish()?;
/// assert_eq!(out, b"t,n,i,x,control\n0.5,0,0,0.1,Off\n0.5,0,1,0.1,On\n");
/// # Ok::<(), saltus_io::table::TableError>(())
/// ```
pub struct CsvWriter<W: Write> {
    out: W,
    columns: Vec<Column>,
    line: String,
}

impl<W: Write> CsvWriter<W> {
    /// Starts a table by writing its header. Give a buffered writer: rows are written one by one.
    pub fn new(mut out: W, columns: &[Column]) -> Result<Self, TableError> {
        let mut line = STAMPS.join(",");
        for column in columns {
            line.push(',');
            push_quoted(&mut line, &column.heading());
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
        Ok(Self { out, columns: columns.to_vec(), line })
    }
}

impl<W: Write> TableWriter for CsvWriter<W> {
    fn row(&mut self, at: Instant, values: &[Value<'_>]) -> Result<(), TableError> {
        check_row(&self.columns, at, values)?;
        self.line.clear();
        write_number(&mut self.line, at.t);
        push_display(&mut self.line, format_args!(",{},{}", at.n, at.i));
        for value in values {
            self.line.push(',');
            match value {
                Value::Real(x) => write_number(&mut self.line, *x),
                Value::Integer(k) => push_display(&mut self.line, format_args!("{k}")),
                Value::Boolean(b) => push_display(&mut self.line, format_args!("{b}")),
                Value::Text(text) => push_quoted(&mut self.line, text),
                Value::Missing => {}
            }
        }
        self.line.push('\n');
        Ok(self.out.write_all(self.line.as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), TableError> {
        Ok(self.out.flush()?)
    }
}

/// Appending to a string cannot fail.
fn push_display(line: &mut String, args: std::fmt::Arguments<'_>) {
    let _ = std::fmt::Write::write_fmt(line, args);
}

/// Appends a number in the shortest form that reads back to the same bits.
///
/// ```
/// let mut text = String::new();
/// saltus_io::csv::write_number(&mut text, 0.1 + 0.2);
/// assert_eq!(text, "0.30000000000000004");
/// ```
pub fn write_number(line: &mut String, value: f64) {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) || !size.is_finite() {
        push_display(line, format_args!("{value}"));
    } else {
        push_display(line, format_args!("{value:e}"));
    }
}

fn push_quoted(line: &mut String, text: &str) {
    let surprising = |c: char| matches!(c, ',' | ';' | '\t' | '"' | '\n' | '\r');
    let padded = text.trim().len() != text.len();
    if !text.contains(surprising) && !text.starts_with('#') && !padded {
        line.push_str(text);
        return;
    }
    line.push('"');
    for c in text.chars() {
        line.extend(std::iter::repeat_n(c, 1 + usize::from(c == '"')));
    }
    line.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ColumnKind;

    #[test]
    fn numbers_are_short_in_every_size() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1e300, "1e300"),
            (2.5e-7, "2.5e-7"),
            (f64::NAN, "NaN"),
            (1234.5, "1234.5"),
        ] {
            let mut text = String::new();
            write_number(&mut text, value);
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn a_row_must_match_the_columns() {
        let columns = [Column::new("x", ColumnKind::Real)];
        let mut out = Vec::new();
        let mut csv = CsvWriter::new(&mut out, &columns).expect("header");
        assert!(matches!(
            csv.row(Instant::default(), &[]),
            Err(TableError::Ragged { expected: 1, found: 0, .. })
        ));
        let wrong = csv.row(Instant::default(), &[Value::Text("a")]);
        assert!(matches!(wrong, Err(TableError::Kind { column, .. }) if column == "x"));
    }

    #[test]
    fn no_two_columns_have_the_same_heading() {
        let columns = ["i", "w", "t", "n"].map(|name| Column::new(name, ColumnKind::Real));
        let mut out = Vec::new();
        CsvWriter::new(&mut out, &columns).expect("header");
        assert_eq!(out, b"t,n,i,model.i,w,model.t,model.n\n");
    }

    #[test]
    fn names_with_commas_and_quotes_are_quoted() {
        let mut line = String::new();
        push_quoted(&mut line, "a \"b\", c");
        assert_eq!(line, "\"a \"\"b\"\", c\"");
    }
}
