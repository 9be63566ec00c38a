//! Tables: given in the text, or read from a column of a CSV file.

use super::files::beside;
use super::scope::hinted;
use super::value::{Elaborated, Measure, Shape, Value};
use super::{Elaborator, Env};
use crate::ast::{self, ExprKind};
use crate::suggest::did_you_mean;
use crate::{Diagnostic, codes};
use saltus_expr::{Extrapolation, Interpolation, Node, Sort, Table, TableId};
use saltus_model::Span;

/// What makes two tables the same: grids and values to the bit, and how they are read.
pub(super) type TableKey = ([Vec<u64>; 3], Interpolation, Extrapolation);

/// A problem with a CSV file: the line (from 1, 0 for the whole file) and what is wrong.
type CsvError = (usize, String);

impl Elaborator<'_> {
    /// `table(x, [xs], [ys])`.
    pub(super) fn table_call(
        &mut self,
        env: Env<'_>,
        arguments: &[ast::Expr],
        named: &[(ast::Name, ast::Expr)],
        span: Span,
    ) -> Elaborated<Value> {
        let [x, xs, ys] = arguments else {
            let message = "`table` takes an argument, its grid and the values there";
            return Err(self.report(
                Diagnostic::error(codes::WRONG_ARGUMENTS, span, message)
                    .hint("table(x, [0, 1, 2], [5, 7, 6], interpolation = \"linear\")"),
            ));
        };
        let (interpolation, extrapolation) = self.table_options(named)?;
        let at = self.expr(env.plain(), x);
        let (grid, values) = (self.grid(env, xs), self.constants_of(env, ys));
        let (at, grid, (values, measure)) = (at?, grid?, values?);
        if values.len() != grid.len() {
            let message = format!("{} grid points, but {} values", grid.len(), values.len());
            return Err(self.report(Diagnostic::error(codes::BAD_TABLE, ys.span, message)));
        }
        let name = "table".into();
        let table = self.table(Table { name, x: grid, y: vec![], values, interpolation, extrapolation });
        self.numeric(&at, x.span)?;
        self.spend(at.items.len(), span)?;
        let items = at.items.iter().map(|&e| self.graph().intern(Node::Table1(table, e))).collect();
        Ok(Value { shape: at.shape, items, sort: Sort::Real, measure })
    }

    /// `table2(x, y, [xs], [ys], [[values]])`.
    pub(super) fn table2_call(
        &mut self,
        env: Env<'_>,
        arguments: &[ast::Expr],
        named: &[(ast::Name, ast::Expr)],
        span: Span,
    ) -> Elaborated<Value> {
        let [x, y, xs, ys, rows] = arguments else {
            let message = "`table2` takes two arguments, their grids and the rows of values";
            return Err(self.report(
                Diagnostic::error(codes::WRONG_ARGUMENTS, span, message)
                    .hint("table2(x, y, [0, 1], [0, 1, 2], [[1, 2, 3], [4, 5, 6]])"),
            ));
        };
        let (interpolation, extrapolation) = self.table_options(named)?;
        let (first, second) = (self.scalar(env.plain(), x), self.scalar(env.plain(), y));
        let (x_grid, y_grid) = (self.grid(env, xs), self.grid(env, ys));
        let values = self.expr(env.plain(), rows);
        let (first, second, x_grid, y_grid, values) = (first?, second?, x_grid?, y_grid?, values?);
        if values.shape != Shape::Matrix(x_grid.len(), y_grid.len()) {
            let message = format!(
                "the grids have {} and {} points, but the values are {}",
                x_grid.len(),
                y_grid.len(),
                values.shape
            );
            let hint = "one row of values per point of the first grid";
            return Err(self.report(Diagnostic::error(codes::BAD_TABLE, rows.span, message).hint(hint)));
        }
        let (numbers, measure) = self.known_items(&values, rows.span)?;
        self.numeric(&first, x.span)?;
        self.numeric(&second, y.span)?;
        let name = "table2".into();
        let table =
            self.table(Table { name, x: x_grid, y: y_grid, values: numbers, interpolation, extrapolation });
        let item = self.graph().intern(Node::Table2(table, first.items[0], second.items[0]));
        Ok(Value::scalar(item, Sort::Real, measure))
    }

    /// A table of the graph; equal tables, as of many instances, are one.
    fn table(&mut self, table: Table) -> TableId {
        let bits = |list: &[f64]| list.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        let key =
            ([bits(&table.x), bits(&table.y), bits(&table.values)], table.interpolation, table.extrapolation);
        if let Some(&known) = self.tables.get(&key) {
            return known;
        }
        let id = self.graph().add_table(table);
        self.tables.insert(key, id);
        id
    }

    fn table_options(
        &mut self,
        named: &[(ast::Name, ast::Expr)],
    ) -> Elaborated<(Interpolation, Extrapolation)> {
        let mut options = (Interpolation::Linear, Extrapolation::Clamp);
        for (name, value) in named {
            match name.text.as_str() {
                "interpolation" => options.0 = self.interpolation(value)?,
                "extrapolation" => {
                    const KNOWN: [(&str, Extrapolation); 3] = [
                        ("clamp", Extrapolation::Clamp),
                        ("extend", Extrapolation::Extend),
                        ("none", Extrapolation::Undefined),
                    ];
                    options.1 = self.keyword(value, &KNOWN)?;
                }
                other => {
                    let hint = did_you_mean(other, ["interpolation", "extrapolation"]);
                    let message = format!("a table has no setting `{other}`");
                    let diagnostic = Diagnostic::error(codes::WRONG_ARGUMENTS, name.span, message);
                    return Err(self.report(hinted(diagnostic, hint)));
                }
            }
        }
        Ok(options)
    }

    fn interpolation(&mut self, value: &ast::Expr) -> Elaborated<Interpolation> {
        self.keyword(value, &[("linear", Interpolation::Linear), ("hold", Interpolation::Hold)])
    }

    /// A text argument out of a known set.
    fn keyword<T: Copy>(&mut self, value: &ast::Expr, known: &[(&str, T)]) -> Elaborated<T> {
        let text = match &value.kind {
            ExprKind::Text(text) => text.as_str(),
            _ => "",
        };
        if let Some(found) = known.iter().find(|k| k.0 == text) {
            return Ok(found.1);
        }
        let list: Vec<String> = known.iter().map(|k| format!("\"{}\"", k.0)).collect();
        let message = format!("expected one of {}", list.join(", "));
        Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, value.span, message)))
    }

    fn grid(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<Vec<f64>> {
        let (grid, _) = self.constants_of(env, tree)?;
        if grid.windows(2).all(|pair| pair[0] < pair[1]) {
            return Ok(grid);
        }
        let message = "the points of a grid must increase from each to the next";
        Err(self.report(Diagnostic::error(codes::BAD_TABLE, tree.span, message)))
    }

    fn constants_of(&mut self, env: Env<'_>, tree: &ast::Expr) -> Elaborated<(Vec<f64>, Measure)> {
        let value = self.expr(env.plain(), tree)?;
        if !matches!(value.shape, Shape::Vector(_)) {
            let message = format!("a vector of numbers is needed, and this is {}", value.shape);
            return Err(self.report(Diagnostic::error(codes::BAD_TABLE, tree.span, message)));
        }
        self.known_items(&value, tree.span)
    }

    fn known_items(&mut self, value: &Value, span: Span) -> Elaborated<(Vec<f64>, Measure)> {
        self.numeric(value, span)?;
        let mut numbers = Vec::with_capacity(value.items.len());
        for &item in &value.items {
            numbers.push(self.structural_value(item, span)?);
        }
        if numbers.iter().any(|v| !v.is_finite()) {
            let message = "a table holds finite numbers only";
            return Err(self.report(Diagnostic::error(codes::BAD_TABLE, span, message)));
        }
        let measure = self.shared_measure(value.measure, span);
        Ok((numbers, measure))
    }

    /// `csv("file", "column", "linear")`: a column of a file over simulated time.
    pub(super) fn csv_call(
        &mut self,
        env: Env<'_>,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Elaborated<Value> {
        let (file, column, rest) = match arguments {
            [file, column, rest @ ..] if rest.len() <= 1 => (file, column, rest),
            _ => return Err(self.csv_usage(span)),
        };
        let (ExprKind::Text(path), ExprKind::Text(column)) = (&file.kind, &column.kind) else {
            return Err(self.csv_usage(span));
        };
        let interpolation = match rest.first() {
            Some(value) => self.interpolation(value)?,
            None => Interpolation::Linear,
        };
        let from = &self.program.files[span.file as usize].path;
        let path = beside(from, path);
        let key = (path, column.clone(), interpolation == Interpolation::Hold);
        let table = match self.csv_tables.get(&key) {
            Some(known) => *known,
            None => {
                let table = self.csv_table(&key.0, column, interpolation, span);
                self.csv_tables.insert(key, table);
                table
            }
        }?;
        let time = self.time(env.scope).items[0];
        let item = self.graph().intern(Node::Table1(table, time));
        Ok(Value::scalar(item, Sort::Real, Measure::Plain))
    }

    fn csv_usage(&mut self, span: Span) -> super::Reported {
        let message = "`csv` takes a file name, a column name and perhaps \"hold\" or \"linear\"";
        let hint = "csv(\"weather.csv\", \"temperature\", \"linear\")";
        self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, span, message).hint(hint))
    }

    fn csv_table(
        &mut self,
        path: &str,
        column: &str,
        interpolation: Interpolation,
        span: Span,
    ) -> Elaborated<TableId> {
        let text = (self.read)(path).map_err(|reason| {
            let message = format!("cannot read `{path}`: {reason}");
            self.report(
                Diagnostic::error(codes::FILE_NOT_FOUND, span, message)
                    .hint("the path is relative to the file that names it"),
            )
        })?;
        match read_column(&text, column) {
            Ok((x, values)) => Ok(self.table(Table {
                name: format!("{path}:{column}"),
                x,
                y: vec![],
                values,
                interpolation,
                extrapolation: Extrapolation::Clamp,
            })),
            Err((line, problem)) => Err(self.bad_csv(path, &text, line, &problem, span)),
        }
    }

    fn bad_csv(&mut self, path: &str, text: &str, line: usize, problem: &str, span: Span) -> super::Reported {
        let place = if line > 0 { format!("{path}, line {line}: ") } else { format!("{path}: ") };
        let mut diagnostic = Diagnostic::error(codes::BAD_CSV, span, format!("{place}{problem}"));
        if line > 0 {
            let file = self.sources.add(path, text);
            let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let length = text[start..].lines().next().map_or(0, str::len);
            let at = Span { file, start: start as u32, end: (start + length) as u32 };
            diagnostic = diagnostic.related(at, problem);
        }
        self.report(diagnostic)
    }
}

/// Times and values of a column. Times are in the column `time` or `t`, or else in the first.
fn read_column(text: &str, column: &str) -> Result<(Vec<f64>, Vec<f64>), CsvError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(k, line)| (k + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let (head_at, head) = lines.next().ok_or((0, "the file is empty".to_string()))?;
    let names: Vec<&str> = head.split(',').map(field).collect();
    let value_at = names.iter().position(|n| *n == column).ok_or_else(|| {
        let hint = did_you_mean(column, names.iter().copied())
            .unwrap_or_else(|| format!("the columns are {}", names.join(", ")));
        (head_at, format!("there is no column `{column}`; {hint}"))
    })?;
    let time_at = names.iter().position(|n| matches!(*n, "time" | "t")).unwrap_or(0);
    for asked in [time_at, value_at] {
        unambiguous(&names, names[asked]).map_err(|problem| (head_at, problem))?;
    }
    let variable = format!("model.{column}");
    if matches!(column, "t" | "n" | "i") && names.contains(&variable.as_str()) {
        let problem = format!("`{column}` is a part of the time stamps; the variable is in `{variable}`");
        return Err((head_at, problem));
    }
    let (mut times, mut values) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let cells: Vec<&str> = line.split(',').map(field).collect();
        if cells.len() != names.len() {
            return Err((number, format!("{} cells, but {} columns", cells.len(), names.len())));
        }
        let (time, value) = (cell(cells[time_at], number)?, cell(cells[value_at], number)?);
        if times.last().is_some_and(|&last| last >= time) {
            return Err((number, format!("the time {time} does not come after the line before")));
        }
        times.push(time);
        values.push(value);
    }
    if times.is_empty() {
        return Err((0, "there are no numbers below the first line".to_string()));
    }
    Ok((times, values))
}

/// Refuses a name that several columns have.
fn unambiguous(names: &[&str], name: &str) -> Result<(), String> {
    let alike: Vec<String> =
        (1..).zip(names).filter(|(_, n)| **n == name).map(|(k, _)| k.to_string()).collect();
    if alike.len() == 1 {
        return Ok(());
    }
    Err(format!("the columns {} have the same name `{name}`", alike.join(" and ")))
}

fn field(text: &str) -> &str {
    text.trim().trim_matches('"')
}

fn cell(text: &str, line: usize) -> Result<f64, CsvError> {
    text.parse::<f64>()
        .ok()
        .filter(|v| v.is_finite())
        .ok_or_else(|| (line, format!("`{text}` is not a finite number")))
}

#[cfg(test)]
mod tests {
    use super::read_column;

    #[test]
    fn a_column_is_read_by_name_over_time() {
        let text = "# log\nu, time ,v\n1,0,5\n\n2,0.5,6\n";
        assert_eq!(read_column(text, "v"), Ok((vec![0.0, 0.5], vec![5.0, 6.0])));
        assert_eq!(read_column("\u{feff}s,u\n3,4\n", "u"), Ok((vec![3.0], vec![4.0])));
    }

    #[test]
    fn only_columns_that_are_asked_for_must_be_one_of_a_name() {
        let text = "t,u,v,u\n0,1,2,3\n";
        assert_eq!(read_column(text, "v"), Ok((vec![0.0], vec![2.0])));
        let message = "the columns 2 and 4 have the same name `u`".to_string();
        assert_eq!(read_column(text, "u"), Err((1, message)));
    }

    #[test]
    fn a_variable_of_a_run_is_not_taken_for_a_stamp() {
        let text = "t,n,i,model.i\n0,0,0,5\n";
        assert_eq!(read_column(text, "model.i"), Ok((vec![0.0], vec![5.0])));
        assert_eq!(read_column(text, "n"), Ok((vec![0.0], vec![0.0])));
        assert_eq!(read_column(text, "i").map_err(|e| e.0), Err(1));
    }

    #[test]
    fn problems_name_their_line() {
        for (text, line) in [
            ("", 0),
            ("t,u\n", 0),
            ("t,w\n0,1\n", 1),
            ("# log\nt,w\n0,1\n", 2),
            ("# log\nt,u,u\n0,1,2\n", 2),
            ("t,t,u\n0,1,2\n", 1),
            ("t,u\n0,1\n0,2\n", 3),
            ("t,u\n0,1\n1,x\n", 3),
            ("t,u\n0,1\n1\n", 3),
            ("t,u\n0,nan\n", 2),
        ] {
            assert_eq!(read_column(text, "u").map_err(|e| e.0), Err(line), "{text:?}");
        }
    }
}
