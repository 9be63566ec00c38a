//! Recorded inputs: the columns of comma-separated text.
//!
//! A header row names the columns; commas, semicolons or tabs separate them, whichever the header
//! uses. Names and cells may be quoted. Lines that start with `#` are comments. In files separated
//! by semicolons or tabs a comma is read as the decimal point.

use crate::suggest::did_you_mean;
use std::fmt;

/// Why a table, or a column of it, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvError {
    /// The line, from 1; none if it is about the file as a whole.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: String,
}

impl CsvError {
    fn at(line: usize, problem: String) -> Self {
        Self { line: Some(line), problem }
    }
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for CsvError {}

/// A table read from text.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvTable {
    header: Record,
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
    /// use saltus_lang::csv::CsvTable;
    /// let table = CsvTable::read("# measured\ntime; power [W]\n0; 1,5\n10; 2,5\n")?;
    /// assert_eq!(table.times("time")?, [0.0, 10.0]);
    /// assert_eq!(table.numbers("power")?, [1.5, 2.5]);
    /// let error = table.numbers("pover").unwrap_err();
    /// assert!(error.to_string().contains("did you mean `power`?"));
    /// # Ok::<(), saltus_lang::csv::CsvError>(())
    /// ```
    pub fn read(text: &str) -> Result<CsvTable, CsvError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let separator = separator(text);
        let mut records = Records { rest: text, line: 1, separator };
        let of_file = |problem: &str| CsvError { line: None, problem: problem.into() };
        let header = records.next().ok_or_else(|| of_file("the file is empty"))??;
        let rows = records.collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Err(of_file("there are no rows below the first line"));
        }
        if let Some(row) = rows.iter().find(|row| row.cells.len() != header.cells.len()) {
            let problem = format!("{} cells, but {} columns", row.cells.len(), header.cells.len());
            return Err(CsvError::at(row.line, problem));
        }
        Ok(CsvTable { header, rows, decimal_comma: separator != ',' })
    }

    /// Names of the columns, without units.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.header.cells.iter().map(|cell| without_unit(cell))
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
    pub fn times(&self, name: &str) -> Result<Vec<f64>, CsvError> {
        let times = self.numbers(name)?;
        match times.windows(2).position(|w| w[0] >= w[1]) {
            None => Ok(times),
            Some(k) => {
                let problem = format!("the time {} does not come after the line before", times[k + 1]);
                Err(CsvError::at(self.rows[k + 1].line, problem))
            }
        }
    }

    /// A complaint about the header.
    pub fn wrong_header(&self, problem: String) -> CsvError {
        CsvError::at(self.header.line, problem)
    }

    /// The one column of a name; a unit behind the name may be left out.
    fn find(&self, name: &str) -> Result<usize, CsvError> {
        let is_meant = |cell: &str| cell == name || without_unit(cell) == name;
        let cells = self.header.cells.iter().enumerate();
        let meant: Vec<usize> = cells.filter(|(_, cell)| is_meant(cell)).map(|(k, _)| k).collect();
        match meant.as_slice() {
            [one] => Ok(*one),
            [] => {
                let hint = did_you_mean(name, self.names()).unwrap_or_else(|| {
                    format!("the columns are {}", self.names().collect::<Vec<_>>().join(", "))
                });
                Err(self.wrong_header(format!("there is no column `{name}`; {hint}")))
            }
            several => {
                let places: Vec<String> = several.iter().map(|k| (k + 1).to_string()).collect();
                let places = places.join(" and ");
                Err(self.wrong_header(format!("the columns {places} have the same name `{name}`")))
            }
        }
    }

    fn number(&self, row: &Record, column: usize) -> Result<f64, CsvError> {
        let text = row.cells[column].trim();
        let parsed = if self.decimal_comma && !text.contains('.') {
            text.replacen(',', ".", 1).parse()
        } else {
            text.parse()
        };
        parsed.ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| {
            let shown = if text.is_empty() { "an empty cell".into() } else { format!("`{text}`") };
            let name = without_unit(&self.header.cells[column]);
            CsvError::at(row.line, format!("{shown} in the column `{name}` is not a finite number"))
        })
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
fn without_unit(cell: &str) -> &str {
    let cell = cell.trim();
    match cell.rsplit_once(" [") {
        Some((name, unit)) if unit.ends_with(']') => name.trim_end(),
        _ => cell,
    }
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
                let problem = format!("a quote is opened in column {column} and never closed");
                return Err(CsvError::at(open, problem));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> CsvError {
        CsvTable::read(text).and_then(|t| t.times("t").and(t.numbers("x"))).unwrap_err()
    }

    #[test]
    fn separators_comments_and_line_ends_are_recognised() {
        for text in
            ["t,x\n0,1.5\n1,2\n", "\u{feff}# c\r\nt;x\r\n0;1,5\r\n\r\n# c\r\n1;2", "t\tx\n0\t1.5\n1\t2\n"]
        {
            let table = CsvTable::read(text).expect(text);
            assert_eq!(table.numbers("x"), Ok(vec![1.5, 2.0]), "{text:?}");
            assert_eq!(table.times("t"), Ok(vec![0.0, 1.0]));
        }
    }

    #[test]
    fn every_mistake_is_told_with_its_place() {
        for (text, told) in [
            ("t,x\n0,1\n# c\n1,abc\n", "line 4: `abc` in the column `x` is not a finite number"),
            ("t,x\n0,\n", "line 2: an empty cell in the column `x` is not a finite number"),
            ("t,x\n0,nan\n", "line 2: `nan` in the column `x` is not a finite number"),
            ("t,x\n0,1\n1\n", "line 3: 1 cells, but 2 columns"),
            ("# only\n\n", "the file is empty"),
            ("t,x\n", "there are no rows below the first line"),
            ("# c\nt,t,x\n0,1,2\n", "line 2: the columns 1 and 2 have the same name `t`"),
            ("t,w\n0,1\n", "line 1: there is no column `x`; the columns are t, w"),
            ("t,x\n0,\"1\n2,3\n", "line 2: a quote is opened in column 2 and never closed"),
            ("t,x\n0,1\n0,2\n", "line 3: the time 0 does not come after the line before"),
        ] {
            assert_eq!(error(text).to_string(), told, "{text:?}");
        }
    }

    #[test]
    fn only_columns_that_are_asked_for_must_be_one_of_a_name() {
        let table = CsvTable::read("t,u,v,u\n0,1,2,3\n").expect("table");
        assert_eq!(table.numbers("v"), Ok(vec![2.0]));
        assert!(table.numbers("u").is_err());
    }

    #[test]
    fn quoted_cells_may_hold_separators_quotes_and_lines() {
        let table = CsvTable::read("t,\"a, \"\"b\"\"\"\n0,\"x\ny\"\n1,z\n").expect("table");
        assert_eq!(table.texts("a, \"b\""), Ok(vec!["x\ny", "z"]));
        let table = CsvTable::read(" \"time\" , \"flow, left [m^3/s]\"\n\"0\",\"1.5\"\n").expect("table");
        assert_eq!(table.numbers("flow, left"), Ok(vec![1.5]));
        assert_eq!(table.numbers("flow, left [m^3/s]"), Ok(vec![1.5]));
        assert_eq!(table.times("time"), Ok(vec![0.0]));
    }
}
