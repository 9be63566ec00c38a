//! The key of a panel: a sample and a name for each curve, above the axes where no data is.

use crate::figure::{Panel, with_unit};
use crate::font::{self, Weight};
use crate::plot::{SMALL, curves};
use crate::scene::{Anchor, Rect, Scene, Text};

/// Height of a row.
pub const ROW: f64 = 16.0;
/// Width of a line sample and the space after it.
const SAMPLE: f64 = 22.0;
/// Space between entries.
const APART: f64 = 16.0;

/// Entries in rows, right-aligned above the panel.
#[derive(Default)]
pub struct Legend {
    rows: Vec<Vec<Entry>>,
}

struct Entry {
    curve: usize,
    label: String,
    width: f64,
}

impl Legend {
    /// The key of a panel with several curves; a single curve is named by its axis. `first` is the
    /// width available in the first row, which may be shorter than the others.
    pub fn new(panel: &Panel, with_units: bool, first: f64, width: f64) -> Self {
        let mut legend = Self::default();
        let named_by_axis = panel.series.len() == 1 && panel.y_label.is_none();
        if named_by_axis || panel.series.is_empty() {
            return legend;
        }
        let mut used = f64::INFINITY;
        for (curve, series) in panel.series.iter().enumerate() {
            let unit = series.unit.as_deref().filter(|_| with_units);
            let label = font::fit(&with_unit(&series.label, unit), SMALL, Weight::Regular, first - SAMPLE);
            let entry = SAMPLE + font::width(&label, SMALL, Weight::Regular);
            let available = if legend.rows.len() <= 1 { first } else { width };
            if used + APART + entry > available {
                legend.rows.push(vec![]);
                used = entry;
            } else {
                used += APART + entry;
            }
            if let Some(row) = legend.rows.last_mut() {
                row.push(Entry { curve, label, width: entry });
            }
        }
        legend
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Draws the key below `top`, right-aligned with the axes.
    pub fn draw(&self, scene: &mut Scene, area: &Rect, top: f64) {
        for (k, row) in self.rows.iter().enumerate() {
            let total = row.iter().map(|e| e.width).sum::<f64>() + APART * (row.len() - 1) as f64;
            let mut x = area.right() - total;
            let baseline = top + k as f64 * ROW + SMALL;
            for entry in row {
                let middle = baseline - SMALL * font::CAP_HEIGHT / 2.0;
                scene.line((x, middle), (x + SAMPLE - 6.0, middle), curves::stroke(entry.curve));
                scene.text(Text::new(x + SAMPLE, baseline, SMALL, Anchor::Start, entry.label.clone()));
                x += entry.width + APART;
            }
        }
    }
}
