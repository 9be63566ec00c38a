//! The key of a panel: a sample and a name for each curve, above the axes where no data is.

use crate::figure::{Panel, Series, with_unit};
use crate::font::{self, Weight};
use crate::plot::{SMALL, curves};
use crate::scene::{Anchor, Rect, Scene, Text};

/// Height of a row.
pub const ROW: f64 = 16.0;
/// Width of a line sample and the space after it.
const SAMPLE: f64 = 22.0;
/// Space between entries.
const APART: f64 = 16.0;

/// Entries in one row, or in rows of aligned columns.
#[derive(Default)]
pub struct Legend {
    entries: Vec<Entry>,
    /// Entries in a row.
    columns: usize,
}

struct Entry {
    label: String,
    width: f64,
}

impl Legend {
    /// The key of a panel with several curves; a single curve is named by its axis.
    pub fn new(panel: &Panel, with_units: bool, width: f64) -> Self {
        let named_by_axis = panel.series.len() == 1 && panel.y_label.is_none();
        if named_by_axis || panel.series.is_empty() {
            return Self::default();
        }
        let entry = |series: &Series| {
            let unit = series.unit.as_deref().filter(|_| with_units);
            let label = font::fit(&with_unit(&series.label, unit), SMALL, Weight::Regular, width - SAMPLE);
            let width = SAMPLE + font::width(&label, SMALL, Weight::Regular);
            Entry { label, width }
        };
        let mut entries: Vec<Entry> = panel.series.iter().map(entry).collect();
        let total = entries.iter().map(|e| e.width + APART).sum::<f64>() - APART;
        if total <= width {
            return Self { columns: entries.len(), entries };
        }
        let widest = entries.iter().map(|e| e.width).fold(0.0, f64::max);
        entries.iter_mut().for_each(|e| e.width = widest);
        let columns = ((width + APART) / (widest + APART)).floor().max(1.0) as usize;
        Self { columns: columns.min(entries.len()), entries }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.entries.len().div_ceil(self.columns.max(1))
    }

    /// Draws the key below `top`, its longest row right-aligned with the axes.
    pub fn draw(&self, scene: &mut Scene, area: &Rect, top: f64) {
        let row_width = |row: &[Entry]| row.iter().map(|e| e.width + APART).sum::<f64>() - APART;
        let rows = || self.entries.chunks(self.columns.max(1));
        let left = area.right() - rows().map(row_width).fold(0.0, f64::max);
        for (k, row) in rows().enumerate() {
            let mut x = left;
            let baseline = top + k as f64 * ROW + SMALL;
            let middle = baseline - SMALL * font::CAP_HEIGHT / 2.0;
            for (j, entry) in row.iter().enumerate() {
                let stroke = curves::stroke(k * self.columns + j);
                scene.line((x, middle), (x + SAMPLE - 6.0, middle), stroke);
                scene.text(Text::new(x + SAMPLE, baseline, SMALL, Anchor::Start, entry.label.clone()));
                x += entry.width + APART;
            }
        }
    }
}
