//! Model inputs from comma-separated text.
//!
//! A header row names the columns; commas, semicolons or tabs separate them, whichever the header
//! uses. Lines that start with `#` are comments. In files separated by semicolons or tabs a comma is
//! read as the decimal point. Every complaint names the line and the column.

/// Why an input table could not be read. Lines count from 1, columns from 1 in cells.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CsvError {
    /// There is no header.
    #[error("the file is empty: a header row with the names of the columns is needed")]
    Empty,
    /// There is a header but no row below it.
    #[error("line {line}: there is no row below the header")]
    NoRows {
        /// Line of the header.
        line: usize,
    },
    /// Two columns have the same name.
    #[error("line {line}, column {column}: a second column is called `{name}`")]
    Duplicate {
        /// Line of the header.
        line: usize,
        /// The second of the two.
        column: usize,
        /// The name.
        name: String,
    },
    /// A row has more or fewer cells than the header.
    #[error("line {line}: {found} cells, but the header has {expected} columns")]
    Ragged {
        /// Line of the row.
        line: usize,
        /// Columns of the header.
        expected: usize,
        /// Cells of the row.
        found: usize,
    },
    /// A quote was opened and not closed.
    #[error("line {line}, column {column}: a quote is opened here and never closed")]
    OpenQuote {
        /// Line of the quote.
        line: usize,
        /// Column of the quote.
        column: usize,
    },
    /// A cell that should hold a finite number does not.
    #[error("line {line}, column {column} (`{name}`): {} is not a finite number", shown(.text))]
    NotANumber {
        /// Line of the cell.
        line: usize,
        /// Column of the cell.
        column: usize,
        /// Name of the column.
        name: String,
        /// What the cell says.
        text: String,
    },
    /// Times must increase from row to row.
    #[error("line {line}, column {column} (`{name}`): time {found} does not come after {previous}")]
    TimeNotIncreasing {
        /// Line of the row.
        line: usize,
        /// Column of the times.
        column: usize,
        /// Name of that column.
        name: String,
        /// Time of the row before.
        previous: f64,
        /// Time of this row.
        found: f64,
    },
    /// A column the model needs is not there.
    #[error("there is no column `{name}`{}; the file has {}", hint(.near), list(.available))]
    MissingColumn {
        /// The name looked for.
        name: String,
        /// The name that comes closest.
        near: Option<String>,
        /// All names.
        available: Vec<String>,
    },
}

fn shown(text: &str) -> String {
    if text.is_empty() { "an empty cell".into() } else { format!("`{text}`") }
}

fn hint(near: &Option<String>) -> String {
    near.as_ref().map_or(String::new(), |name| format!(" (did you mean `{name}`?)"))
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Whether the same time may stand in two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// No: times increase strictly.
    Refused,
    /// Yes: two rows of the same time are the limits at a jump.
    Jumps,
}

/// A table read from text.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvTable {
    names: Vec<String>,
    rows: Vec<Record>,
    decimal_comma: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Record {
    line: usize,
    cells: Vec<String>,
}

impl CsvTable {
    /// Reads a table.
    ///
    /// ```
    /// use saltus_io::csv::{CsvTable, Repeats};
    /// let table = CsvTable::read("# measured\ntime; power [W]\n0; 1,5\n10; 2,5\n")?;
    /// assert_eq!(table.times("time", Repeats::Refused)?, [0.0, 10.0]);
    /// assert_eq!(table.numbers("power")?, [1.5, 2.5]);
    /// let error = table.numbers("pover").unwrap_err();
    /// assert!(error.to_string().contains("did you mean `power`?"));
    /// # Ok::<(), saltus_io::csv::CsvError>(())
    /// ```
    pub fn read(text: &str) -> Result<CsvTable, CsvError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let separator = separator(text);
        let mut records = Records { rest: text, line: 1, separator };
        let header = records.next().ok_or(CsvError::Empty)??;
        let names: Vec<String> = header.cells.iter().map(|cell| without_unit(cell)).collect();
        for (k, name) in names.iter().enumerate() {
            if names[..k].contains(name) {
                return Err(CsvError::Duplicate { line: header.line, column: k + 1, name: name.clone() });
            }
        }
        let rows = records.map(|record| complete(record?, names.len())).collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Err(CsvError::NoRows { line: header.line });
        }
        Ok(CsvTable { names, rows, decimal_comma: separator != ',' })
    }

    /// Names of the columns, without units.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows below the header.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows; a table that was read always has some.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The cells of a column as they are written.
    pub fn texts(&self, name: &str) -> Result<Vec<&str>, CsvError> {
        let column = self.find(name)?;
        Ok(self.rows.iter().map(|row| row.cells[column].as_str()).collect())
    }

    /// The cells of a column as finite numbers.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, CsvError> {
        let column = self.find(name)?;
        self.rows.iter().map(|row| self.number(row, column)).collect()
    }

    /// A column of times, which must increase from row to row.
    pub fn times(&self, name: &str, repeats: Repeats) -> Result<Vec<f64>, CsvError> {
        let column = self.find(name)?;
        let times = self.numbers(name)?;
        let after = |a: f64, b: f64| b > a || (b == a && repeats == Repeats::Jumps);
        match times.windows(2).position(|w| !after(w[0], w[1])) {
            None => Ok(times),
            Some(k) => Err(CsvError::TimeNotIncreasing {
                line: self.rows[k + 1].line,
                column: column + 1,
                name: name.into(),
                previous: times[k],
                found: times[k + 1],
            }),
        }
    }

    fn find(&self, name: &str) -> Result<usize, CsvError> {
        self.names.iter().position(|n| n == name).ok_or_else(|| CsvError::MissingColumn {
            name: name.into(),
            near: nearest(name, &self.names),
            available: self.names.clone(),
        })
    }

    fn number(&self, row: &Record, column: usize) -> Result<f64, CsvError> {
        let text = row.cells[column].trim();
        let parsed = if self.decimal_comma && !text.contains('.') {
            text.replacen(',', ".", 1).parse()
        } else {
            text.parse()
        };
        let not_a_number = || CsvError::NotANumber {
            line: row.line,
            column: column + 1,
            name: self.names[column].clone(),
            text: text.into(),
        };
        parsed.ok().filter(|x: &f64| x.is_finite()).ok_or_else(not_a_number)
    }
}

/// The separator the header uses most.
fn separator(text: &str) -> char {
    let is_header = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let header = text.lines().find(is_header).unwrap_or("");
    // What is inside quotes separates nothing: every second part between quotes is outside.
    let count = |c: char| header.split('"').step_by(2).map(|part| part.matches(c).count()).sum::<usize>();
    [';', '\t'].into_iter().fold(',', |best, c| if count(c) > count(best) { c } else { best })
}

/// `power [W]` is the column `power`.
fn without_unit(cell: &str) -> String {
    let cell = cell.trim();
    match cell.rsplit_once(" [") {
        Some((name, unit)) if unit.ends_with(']') => name.trim_end().into(),
        _ => cell.into(),
    }
}

fn complete(record: Record, expected: usize) -> Result<Record, CsvError> {
    let found = record.cells.len();
    if found == expected { Ok(record) } else { Err(CsvError::Ragged { line: record.line, expected, found }) }
}

/// Splits text into records, skipping comments and blank lines.
struct Records<'a> {
    rest: &'a str,
    line: usize,
    separator: char,
}

impl Iterator for Records<'_> {
    type Item = Result<Record, CsvError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let end = self.rest.find('\n').map_or(self.rest.len(), |k| k + 1);
            let line = self.rest[..end].trim_matches([' ', '\r', '\n']);
            if !(line.is_empty() || line.starts_with('#')) {
                return Some(self.record());
            }
            self.rest = &self.rest[end..];
            self.line += 1;
        }
    }
}

impl Records<'_> {
    fn record(&mut self) -> Result<Record, CsvError> {
        let first_line = self.line;
        let mut cells = Vec::new();
        loop {
            let cell = if self.rest.trim_start_matches(' ').starts_with('"') {
                self.quoted(cells.len() + 1)?
            } else {
                self.plain()
            };
            cells.push(cell);
            let mut rest = self.rest.chars();
            match rest.next() {
                Some(c) if c == self.separator => self.rest = rest.as_str(),
                Some(_) => {
                    self.rest = rest.as_str();
                    self.line += 1;
                    break;
                }
                None => break,
            }
        }
        Ok(Record { line: first_line, cells })
    }

    fn plain(&mut self) -> String {
        let end = self.rest.find([self.separator, '\n']).unwrap_or(self.rest.len());
        let (cell, rest) = self.rest.split_at(end);
        self.rest = rest;
        cell.trim().into()
    }

    /// A quoted cell; a doubled quote is a quote. What follows the closing quote is taken as it is.
    fn quoted(&mut self, column: usize) -> Result<String, CsvError> {
        let open = self.line;
        self.rest = &self.rest.trim_start_matches(' ')[1..];
        let mut cell = String::new();
        loop {
            let Some(end) = self.rest.find('"') else {
                return Err(CsvError::OpenQuote { line: open, column });
            };
            let inside = &self.rest[..end];
            self.line += inside.matches('\n').count();
            cell.push_str(inside);
            self.rest = &self.rest[end + 1..];
            match self.rest.strip_prefix('"') {
                Some(rest) => {
                    cell.push('"');
                    self.rest = rest;
                }
                None => {
                    cell.push_str(&self.plain());
                    return Ok(cell);
                }
            }
        }
    }
}

/// The name most like another, if it is like it at all.
fn nearest(name: &str, names: &[String]) -> Option<String> {
    let distance = |other: &String| edit_distance(&name.to_lowercase(), &other.to_lowercase());
    let near = names.iter().min_by_key(|other| distance(other))?;
    (distance(near) <= 1 + name.chars().count() / 3).then(|| near.clone())
}

/// Number of letters to insert, delete or replace to get from one word to the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (k, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = k + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> CsvError {
        CsvTable::read(text).and_then(|t| t.times("t", Repeats::Refused).and(t.numbers("x"))).unwrap_err()
    }

    #[test]
    fn separators_comments_and_line_ends_are_recognised() {
        for text in
            ["t,x\n0,1.5\n1,2\n", "\u{feff}# c\r\nt;x\r\n0;1,5\r\n\r\n# c\r\n1;2", "t\tx\n0\t1.5\n1\t2\n"]
        {
            let table = CsvTable::read(text).expect(text);
            assert_eq!(table.numbers("x"), Ok(vec![1.5, 2.0]), "{text:?}");
            assert_eq!(table.times("t", Repeats::Refused), Ok(vec![0.0, 1.0]));
        }
    }

    #[test]
    fn every_mistake_is_told_with_its_place() {
        let (name, text) = ("x".to_string(), "abc".to_string());
        assert_eq!(
            error("t,x\n0,1\n# c\n1,abc\n"),
            CsvError::NotANumber { line: 4, column: 2, name: name.clone(), text }
        );
        assert_eq!(
            error("t,x\n0,\n"),
            CsvError::NotANumber { line: 2, column: 2, name, text: String::new() }
        );
        assert_eq!(error("t,x\n0,1\n1\n"), CsvError::Ragged { line: 3, expected: 2, found: 1 });
        assert_eq!(error("# only\n\n"), CsvError::Empty);
        assert_eq!(error("t,x\n"), CsvError::NoRows { line: 1 });
        assert_eq!(error("t,t\n0,1\n"), CsvError::Duplicate { line: 1, column: 2, name: "t".into() });
        assert_eq!(error("t,x\n0,\"1\n2,3\n"), CsvError::OpenQuote { line: 2, column: 2 });
        assert!(matches!(error("t,x\n0,1\n0,2\n"), CsvError::TimeNotIncreasing { line: 3, column: 1, .. }));
        assert!(matches!(error("t,x\n0,nan\n"), CsvError::NotANumber { .. }));
    }

    #[test]
    fn a_missing_column_suggests_the_nearest() {
        let table = CsvTable::read("t,ambient,power\n0,1,2\n").expect("table");
        let near = |name: &str| match table.numbers(name) {
            Err(CsvError::MissingColumn { near, .. }) => near,
            other => panic!("{other:?}"),
        };
        assert_eq!(near("Ambiant").as_deref(), Some("ambient"));
        assert_eq!(near("velocity"), None);
    }

    #[test]
    fn jumps_are_repeated_times() {
        let table = CsvTable::read("t,x\n0,1\n1,1\n1,2\n2,2\n").expect("table");
        assert_eq!(table.times("t", Repeats::Jumps), Ok(vec![0.0, 1.0, 1.0, 2.0]));
        assert!(table.times("t", Repeats::Refused).is_err());
    }

    #[test]
    fn quoted_cells_may_span_lines() {
        let table = CsvTable::read("t,\"a, \"\"b\"\"\"\n0,\"x\ny\"\n1,z\n").expect("table");
        assert_eq!(table.texts("a, \"b\""), Ok(vec!["x\ny", "z"]));
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn words_are_apart_by_their_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
