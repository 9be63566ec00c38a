//! Tables on the terminal: columns as wide as their longest entry.

use std::fmt::Write;

/// A table with a heading.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &[&str]) -> Self {
        Self { rows: vec![columns.iter().map(|c| (*c).to_string()).collect()] }
    }

    /// Appends a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The text, the first column to the left and the others to the right.
    pub fn text(&self) -> String {
        let width = |k: usize| {
            self.rows.iter().filter_map(|r| r.get(k)).map(|c| c.chars().count()).max().unwrap_or(0)
        };
        let mut text = String::new();
        for row in &self.rows {
            text.push_str("  ");
            for (k, cell) in row.iter().enumerate() {
                let width = width(k);
                // Writing to a string does not fail.
                let _ = match k {
                    0 => write!(text, "{cell:width$}"),
                    _ => write!(text, "  {cell:>width$}"),
                };
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["method", "n"]);
        table.row(vec!["a".into(), "100".into()]);
        assert_eq!(table.text(), "  method    n\n  a       100\n");
    }
}
