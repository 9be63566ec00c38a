//! Reading tables: the value at a point and the straight piece it lies on.
//!
//! A table is piecewise linear (or constant) in each argument. The piece is found once from the
//! argument; the value follows from the piece, so a value and the Taylor coefficients of a table
//! read along a locked piece belong to the same line.

use crate::graph::{Extrapolation, Interpolation, Table};

/// A straight line `value + slope * (x - at)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Where the line is anchored.
    pub at: f64,
    /// Its value there.
    pub value: f64,
    /// Its slope.
    pub slope: f64,
}

impl Line {
    /// The value of the line at `x`.
    pub fn value_at(self, x: f64) -> f64 {
        self.value + self.slope * (x - self.at)
    }
}

/// A bilinear patch `value + by_x*u + by_y*v + by_xy*u*v` with `u = x - x0`, `v = y - y0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// Anchor in the first argument.
    pub x0: f64,
    /// Anchor in the second argument.
    pub y0: f64,
    /// Value at the anchor.
    pub value: f64,
    /// Slope in the first argument.
    pub by_x: f64,
    /// Slope in the second argument.
    pub by_y: f64,
    /// Coefficient of the product.
    pub by_xy: f64,
}

impl Patch {
    /// The value of the patch at (`x`, `y`).
    pub fn value_at(self, x: f64, y: f64) -> f64 {
        let (u, v) = (x - self.x0, y - self.y0);
        ((self.value + self.by_x * u) + self.by_y * v) + self.by_xy * (u * v)
    }
}

/// Where an argument lies on a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// Between point `i` and point `i + 1`, or on point `i`.
    Inside(usize),
    /// On the last point, or read there because the end value is held.
    Last(usize),
    /// Before the first point, read at it because the end value is held.
    First,
    /// Nowhere.
    Outside,
}

fn place(grid: &[f64], x: f64, extrapolation: Extrapolation) -> Place {
    let (Some(&first), Some(&last)) = (grid.first(), grid.last()) else {
        return Place::Outside;
    };
    let end = grid.len() - 1;
    if x.is_nan() {
        Place::Outside
    } else if x < first {
        match extrapolation {
            Extrapolation::Extend if end > 0 => Place::Inside(0),
            Extrapolation::Undefined => Place::Outside,
            _ => Place::First,
        }
    } else if x > last {
        match extrapolation {
            Extrapolation::Undefined => Place::Outside,
            Extrapolation::Extend if end > 0 => Place::Inside(end - 1),
            _ => Place::Last(end),
        }
    } else if x == last {
        Place::Last(end)
    } else {
        Place::Inside(grid.partition_point(|&p| p <= x) - 1)
    }
}

impl Table {
    fn point(&self, i: usize, j: usize) -> f64 {
        let width = self.y.len().max(1);
        self.values.get(i * width + j).copied().unwrap_or(f64::NAN)
    }

    fn slope(&self, i: usize) -> f64 {
        (self.point(i + 1, 0) - self.point(i, 0)) / (self.x[i + 1] - self.x[i])
    }

    /// The line of a table over one argument on which `x` lies; outside the table's domain a line
    /// whose values are NaN. On a grid point it is the line that starts there, on the last point
    /// the line that ends there.
    pub fn line(&self, x: f64) -> Line {
        let held = |i: usize, slope| Line { at: self.x[i], value: self.point(i, 0), slope };
        let linear = self.interpolation == Interpolation::Linear;
        match place(&self.x, x, self.extrapolation) {
            Place::Outside => Line { at: x, value: f64::NAN, slope: f64::NAN },
            Place::First => held(0, 0.0),
            Place::Inside(0) if !linear && x < self.x[0] => held(0, 0.0),
            Place::Inside(i) if !linear && x > self.x[i + 1] => held(i + 1, 0.0),
            Place::Inside(i) => held(i, if linear { self.slope(i) } else { 0.0 }),
            Place::Last(i) if linear && i > 0 && x == self.x[i] => held(i, self.slope(i - 1)),
            Place::Last(i) => held(i, 0.0),
        }
    }

    /// The patch of a table over two arguments on which (`x`, `y`) lies.
    pub fn patch(&self, x: f64, y: f64) -> Patch {
        let (Some((i, end_x)), Some((j, end_y))) = (self.cell(&self.x, x), self.cell(&self.y, y)) else {
            let nan = f64::NAN;
            return Patch { x0: x, y0: y, value: nan, by_x: nan, by_y: nan, by_xy: nan };
        };
        let (x0, y0, value) = (self.x[i], self.y[j], self.point(i, j));
        let mut patch = Patch { x0, y0, value, by_x: 0.0, by_y: 0.0, by_xy: 0.0 };
        if self.interpolation == Interpolation::Hold {
            return patch;
        }
        let dx = self.x.get(i + 1).map(|&next| next - x0);
        let dy = self.y.get(j + 1).map(|&next| next - y0);
        patch.by_x = dx.map_or(0.0, |dx| (self.point(i + 1, j) - value) / dx);
        patch.by_y = dy.map_or(0.0, |dy| (self.point(i, j + 1) - value) / dy);
        if let (Some(dx), Some(dy)) = (dx, dy) {
            let mixed = (self.point(i + 1, j + 1) - self.point(i + 1, j)) - (self.point(i, j + 1) - value);
            patch.by_xy = mixed / (dx * dy);
        }
        if let Some(end) = end_x {
            let u = end - x0;
            patch.value += patch.by_x * u;
            patch.by_y += patch.by_xy * u;
            (patch.by_x, patch.by_xy) = (0.0, 0.0);
        }
        if let Some(end) = end_y {
            let v = end - y0;
            patch.value += patch.by_y * v;
            patch.by_x += patch.by_xy * v;
            (patch.by_y, patch.by_xy) = (0.0, 0.0);
        }
        patch
    }

    /// The cell of a grid an argument belongs to, and the end point it is held at, if any.
    fn cell(&self, grid: &[f64], x: f64) -> Option<(usize, Option<f64>)> {
        let inner = grid.len().saturating_sub(2);
        let hold = self.interpolation == Interpolation::Hold;
        Some(match place(grid, x, self.extrapolation) {
            Place::Outside => return None,
            Place::First => (0, Some(grid[0])),
            Place::Last(i) if hold => (i, None),
            Place::Last(i) => (inner.min(i), (x != grid[i]).then_some(grid[i])),
            Place::Inside(i) if hold && x > grid[i + 1] => (i + 1, None),
            Place::Inside(i) => (i, None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(interpolation: Interpolation, extrapolation: Extrapolation) -> Table {
        Table {
            name: "curve".into(),
            x: vec![0.0, 1.0, 3.0],
            y: vec![],
            values: vec![1.0, 2.0, -2.0],
            interpolation,
            extrapolation,
        }
    }

    fn read(table: &Table, x: f64) -> f64 {
        table.line(x).value_at(x)
    }

    #[test]
    fn linear_curve_and_its_ends() {
        let table = curve(Interpolation::Linear, Extrapolation::Clamp);
        assert_eq!([0.0, 0.5, 1.0, 2.0, 3.0].map(|x| read(&table, x)), [1.0, 1.5, 2.0, 0.0, -2.0]);
        assert_eq!((read(&table, -5.0), read(&table, 9.0)), (1.0, -2.0));
        let table = curve(Interpolation::Linear, Extrapolation::Extend);
        assert_eq!((read(&table, -1.0), read(&table, 4.0)), (0.0, -4.0));
        let table = curve(Interpolation::Linear, Extrapolation::Undefined);
        assert!(
            read(&table, -1e-9).is_nan() && read(&table, 3.1).is_nan() && read(&table, f64::NAN).is_nan()
        );
        assert_eq!(read(&table, 3.0), -2.0);
    }

    #[test]
    fn held_curve_is_constant_on_every_piece() {
        for extrapolation in [Extrapolation::Clamp, Extrapolation::Extend] {
            let table = curve(Interpolation::Hold, extrapolation);
            let values = [-1.0, 0.0, 0.9, 1.0, 2.9, 3.0, 7.0].map(|x| read(&table, x));
            assert_eq!(values, [1.0, 1.0, 1.0, 2.0, 2.0, -2.0, -2.0]);
            assert_eq!(table.line(2.0).slope, 0.0);
        }
    }

    #[test]
    fn bilinear_table_reproduces_a_bilinear_function() {
        let f = |x: f64, y: f64| 1.0 + 2.0 * x - 3.0 * y + 0.5 * x * y;
        let (x, y) = (vec![0.0, 1.0, 4.0], vec![-1.0, 2.0]);
        let values = x.iter().flat_map(|&x| y.iter().map(move |&y| f(x, y))).collect();
        let mut table = Table {
            name: "map".into(),
            x,
            y,
            values,
            interpolation: Interpolation::Linear,
            extrapolation: Extrapolation::Extend,
        };
        for (x, y) in [(0.25, 0.5), (3.5, 2.0), (4.0, -1.0), (6.0, 3.0), (-1.0, -2.0)] {
            assert!((table.patch(x, y).value_at(x, y) - f(x, y)).abs() < 1e-12);
        }
        table.extrapolation = Extrapolation::Clamp;
        assert!((table.patch(9.0, 0.5).value_at(9.0, 0.5) - f(4.0, 0.5)).abs() < 1e-12);
        assert!((table.patch(-9.0, 5.0).value_at(-9.0, 5.0) - f(0.0, 2.0)).abs() < 1e-12);
        assert_eq!(table.patch(9.0, 0.5).by_x, 0.0);
        table.extrapolation = Extrapolation::Undefined;
        assert!(table.patch(4.5, 0.0).value_at(4.5, 0.0).is_nan());
    }
}
