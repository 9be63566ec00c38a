//! Tables: given in the text, or read from a column of a CSV file.

use super::files::beside;
use super::scope::hinted;
use super::value::{Elaborated, Measure, Shape, Value};
use super::{Elaborator, Env};
use crate::ast::{self, ExprKind};
use crate::csv::{CsvError, CsvTable};
use crate::suggest::did_you_mean;
use crate::{Diagnostic, codes};
use saltus_expr::{Extrapolation, Interpolation, Node, Sort, Table, TableId};
use saltus_model::Span;

/// What makes two tables the same: grids and values to the bit, and how they are read.
pub(super) type TableKey = ([Vec<u64>; 3], Interpolation, Extrapolation);

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
            Err(error) => Err(self.bad_csv(path, &text, error, span)),
        }
    }

    fn bad_csv(&mut self, path: &str, text: &str, error: CsvError, span: Span) -> super::Reported {
        let Some(line) = error.line else {
            let message = format!("{path}: {error}");
            return self.report(Diagnostic::error(codes::BAD_CSV, span, message));
        };
        let file = self.sources.add(path, text);
        let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let length = text[start..].lines().next().map_or(0, str::len);
        let at = Span { file, start: start as u32, end: (start + length) as u32 };
        let message = format!("{path}, {error}");
        self.report(Diagnostic::error(codes::BAD_CSV, span, message).related(at, error.problem))
    }
}

/// Times and values of a column. Times are in the column `time` or `t`, or else in the first.
fn read_column(text: &str, column: &str) -> Result<(Vec<f64>, Vec<f64>), CsvError> {
    let table = CsvTable::read(text)?;
    let values = table.numbers(column)?;
    let variable = format!("model.{column}");
    if matches!(column, "t" | "n" | "i") && table.names().any(|name| name == variable) {
        let problem = format!("`{column}` is a part of the time stamps; the variable is in `{variable}`");
        return Err(table.wrong_header(problem));
    }
    let of_times = table.names().find(|name| matches!(*name, "time" | "t"));
    let times = table.times(of_times.or(table.names().next()).unwrap_or_default())?;
    Ok((times, values))
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
    fn a_variable_of_a_run_is_not_taken_for_a_stamp() {
        let text = "t,n,i,model.i\n0,0,0,5\n";
        assert_eq!(read_column(text, "model.i"), Ok((vec![0.0], vec![5.0])));
        assert_eq!(read_column(text, "n"), Ok((vec![0.0], vec![0.0])));
        assert_eq!(read_column(text, "i").map_err(|e| e.line), Err(Some(1)));
    }
}
