//! Symbolic derivatives.
//!
//! A [`Tangent`] gives every variable a rate; the rate of an expression then follows by the chain
//! rule. Rate 1 for one variable is a partial derivative, the right-hand sides of a flow as rates
//! are the derivative along the flow. An expression without a rate is constant, and no node is
//! made for its zero.
//!
//! Where an expression switches (`abs`, `min`, `max`, `if`, `floor`, `mod`, tables) the derivative
//! is that of the branch the value comes from; jumps have no derivative and count as constant.

use crate::graph::{Binary, Expr, Extrapolation, Graph, Interpolation, Node, Table, TableId, Unary, VarId};
use std::collections::HashMap;

/// Rates of variables, and of the expressions met so far.
#[derive(Clone, Debug, Default)]
pub struct Tangent {
    seeds: HashMap<VarId, Expr>,
    rates: HashMap<Expr, Option<Expr>>,
}

impl Tangent {
    /// Rates of variables; those not named are constant.
    pub fn new(seeds: impl IntoIterator<Item = (VarId, Expr)>) -> Self {
        Tangent { seeds: seeds.into_iter().collect(), rates: HashMap::new() }
    }

    /// The rate of an expression, `None` if it does not depend on a variable with a rate.
    pub fn rate(&mut self, graph: &mut Graph, e: Expr) -> Option<Expr> {
        let mut pending = vec![(e, false)];
        while let Some((e, ready)) = pending.pop() {
            if self.rates.contains_key(&e) {
                continue;
            }
            if ready {
                let rate = self.chain_rule(graph, e);
                let zero = rate.and_then(|r| graph.constant(r)) == Some(0.0);
                self.rates.insert(e, rate.filter(|_| !zero));
            } else {
                pending.push((e, true));
                pending.extend(graph.operands(e).map(|operand| (operand, false)));
            }
        }
        self.rates[&e]
    }

    fn chain_rule(&self, g: &mut Graph, e: Expr) -> Option<Expr> {
        match g.node(e) {
            Node::Const(..) => None,
            Node::Var(v, _) => self.seeds.get(&v).copied(),
            Node::Unary(op, a) => self.rates[&a].and_then(|da| unary_rate(g, op, e, a, da)),
            Node::Powi(_, 0) => None,
            Node::Powi(a, n) => self.rates[&a].map(|da| {
                let factor = g.real(f64::from(n));
                let power = g.powi(a, n - 1);
                let outer = g.mul(factor, power);
                g.mul(outer, da)
            }),
            Node::Binary(op, a, b) => match (self.rates[&a], self.rates[&b]) {
                (None, None) => None,
                (da, db) => binary_rate(g, op, e, (a, da), (b, db)),
            },
            Node::Select(c, a, b) => choice(g, c, self.rates[&a], self.rates[&b]),
            Node::Table1(t, a) => self.rates[&a].and_then(|da| {
                let slope = curve_slope(g, t, a)?;
                Some(g.mul(slope, da))
            }),
            Node::Table2(t, a, b) => {
                let along = |g: &mut Graph, rate: Option<Expr>, first: bool| {
                    rate.and_then(|rate| map_slope(g, t, a, b, first).map(|slope| g.mul(slope, rate)))
                };
                let (da, db) = (along(g, self.rates[&a], true), along(g, self.rates[&b], false));
                sum(g, da, db)
            }
        }
    }
}

impl Graph {
    /// The partial derivative of `e` with respect to a variable.
    ///
    /// ```
    /// use saltus_expr::{Graph, Sort, Unary, VarId};
    /// let mut g = Graph::new();
    /// let x = g.var(VarId(0), Sort::Real);
    /// let square = g.powi(x, 2);
    /// let sine = g.unary(Unary::Sin, square);
    /// let slope = g.derivative(sine, VarId(0));
    /// assert_eq!(g.display(slope, &|_| "x".into()).to_string(), "cos(x^2) * (2 * x)");
    /// ```
    pub fn derivative(&mut self, e: Expr, v: VarId) -> Expr {
        let one = self.real(1.0);
        let rate = Tangent::new([(v, one)]).rate(self, e);
        rate.unwrap_or_else(|| self.real(0.0))
    }

    /// The entries (row, column, derivative) of the Jacobian of `rows` with respect to `columns`
    /// that are not identically zero, ordered by row, then column.
    pub fn jacobian(&mut self, rows: &[Expr], columns: &[VarId]) -> Vec<(usize, usize, Expr)> {
        let one = self.real(1.0);
        let mut tangents: HashMap<VarId, (usize, Tangent)> =
            columns.iter().enumerate().map(|(k, &v)| (v, (k, Tangent::new([(v, one)])))).collect();
        let mut entries = Vec::new();
        for (row, &e) in rows.iter().enumerate() {
            for v in self.variables(&[e]) {
                if let Some((column, tangent)) = tangents.get_mut(&v) {
                    entries.extend(tangent.rate(self, e).map(|rate| (row, *column, rate)));
                }
            }
        }
        entries.sort_by_key(|&(row, column, _)| (row, column));
        entries
    }
}

fn sum(g: &mut Graph, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(g.add(a, b)),
        (a, b) => a.or(b),
    }
}

fn difference(g: &mut Graph, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(g.sub(a, b)),
        (None, Some(b)) => Some(g.neg(b)),
        (a, None) => a,
    }
}

/// The rate of a branch; a constant branch has rate zero.
fn choice(g: &mut Graph, condition: Expr, a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    a.or(b)?;
    let zero = g.real(0.0);
    Some(g.select(condition, a.unwrap_or(zero), b.unwrap_or(zero)))
}

/// The rate of `e = op(a)` when `a` has rate `da`.
fn unary_rate(g: &mut Graph, op: Unary, e: Expr, a: Expr, da: Expr) -> Option<Expr> {
    let one = g.real(1.0);
    let times = |g: &mut Graph, slope: Expr| Some(g.mul(slope, da));
    let over = |g: &mut Graph, divisor: Expr| Some(g.div(da, divisor));
    match op {
        Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil => None,
        Unary::Neg => Some(g.neg(da)),
        Unary::Clip => Some(da),
        Unary::Abs => {
            let sign = g.unary(Unary::Sign, a);
            times(g, sign)
        }
        Unary::Sqrt => {
            let two = g.real(2.0);
            let divisor = g.mul(two, e);
            over(g, divisor)
        }
        Unary::Exp => times(g, e),
        Unary::Log => over(g, a),
        Unary::Sin => {
            let cos = g.unary(Unary::Cos, a);
            times(g, cos)
        }
        Unary::Cos => {
            let sin = g.unary(Unary::Sin, a);
            let slope = g.neg(sin);
            times(g, slope)
        }
        Unary::Tan => {
            let square = g.powi(e, 2);
            let slope = g.add(one, square);
            times(g, slope)
        }
        Unary::Asin => {
            let divisor = root_of_one_minus_square(g, a);
            over(g, divisor)
        }
        Unary::Acos => {
            let divisor = root_of_one_minus_square(g, a);
            let rate = g.div(da, divisor);
            Some(g.neg(rate))
        }
        Unary::Atan => {
            let square = g.powi(a, 2);
            let divisor = g.add(one, square);
            over(g, divisor)
        }
        Unary::Sinh => {
            let cosh = g.unary(Unary::Cosh, a);
            times(g, cosh)
        }
        Unary::Cosh => {
            let sinh = g.unary(Unary::Sinh, a);
            times(g, sinh)
        }
        Unary::Tanh => {
            let slope = one_minus_square(g, e);
            times(g, slope)
        }
        Unary::Asinh => {
            let square = g.powi(a, 2);
            let sum = g.add(one, square);
            let divisor = g.unary(Unary::Sqrt, sum);
            over(g, divisor)
        }
        Unary::Acosh => {
            let (below, above) = (g.sub(a, one), g.add(a, one));
            let (below, above) = (g.unary(Unary::Sqrt, below), g.unary(Unary::Sqrt, above));
            let divisor = g.mul(below, above);
            over(g, divisor)
        }
        Unary::Atanh => {
            let divisor = one_minus_square(g, a);
            over(g, divisor)
        }
    }
}

/// `(1 - x) * (1 + x)`, which unlike `1 - x^2` loses nothing near 1.
fn one_minus_square(g: &mut Graph, x: Expr) -> Expr {
    let one = g.real(1.0);
    let (below, above) = (g.sub(one, x), g.add(one, x));
    g.mul(below, above)
}

fn root_of_one_minus_square(g: &mut Graph, x: Expr) -> Expr {
    let inner = one_minus_square(g, x);
    g.unary(Unary::Sqrt, inner)
}

/// The rate of `e = op(a, b)` when at least one operand has a rate.
fn binary_rate(
    g: &mut Graph,
    op: Binary,
    e: Expr,
    (a, da): (Expr, Option<Expr>),
    (b, db): (Expr, Option<Expr>),
) -> Option<Expr> {
    let scaled = |g: &mut Graph, factor: Expr, rate: Option<Expr>| rate.map(|rate| g.mul(factor, rate));
    match op {
        Binary::Lt | Binary::Le | Binary::Eq | Binary::And | Binary::Or => None,
        Binary::Add => sum(g, da, db),
        Binary::Sub => difference(g, da, db),
        Binary::Mul => {
            let (first, second) = (da.map(|da| g.mul(da, b)), scaled(g, a, db));
            sum(g, first, second)
        }
        Binary::Div => {
            let second = scaled(g, e, db);
            difference(g, da, second).map(|numerator| g.div(numerator, b))
        }
        Binary::Pow => {
            let by_base = da.map(|da| {
                let one = g.real(1.0);
                let exponent = g.sub(b, one);
                let power = g.pow(a, exponent);
                let slope = g.mul(b, power);
                g.mul(slope, da)
            });
            let by_exponent = db.map(|db| {
                let log = g.unary(Unary::Log, a);
                let slope = g.mul(e, log);
                g.mul(slope, db)
            });
            sum(g, by_base, by_exponent)
        }
        Binary::Atan2 => {
            let (first, second) = (scaled(g, b, da), scaled(g, a, db));
            let (x, y) = (g.powi(b, 2), g.powi(a, 2));
            let divisor = g.add(x, y);
            difference(g, first, second).map(|numerator| g.div(numerator, divisor))
        }
        Binary::Hypot => {
            let (first, second) = (scaled(g, a, da), scaled(g, b, db));
            sum(g, first, second).map(|numerator| g.div(numerator, e))
        }
        Binary::Min => {
            let first = g.lt(a, b);
            choice(g, first, da, db)
        }
        Binary::Max => {
            let first = g.lt(b, a);
            choice(g, first, da, db)
        }
        Binary::Mod => {
            let quotient = g.div(a, b);
            let turns = g.unary(Unary::Floor, quotient);
            let second = scaled(g, turns, db);
            difference(g, da, second)
        }
    }
}

/// Slopes between neighbouring points, the last one repeated so that there is one per point.
fn slopes(x: &[f64], values: &[f64]) -> Vec<f64> {
    let mut slopes: Vec<f64> =
        x.windows(2).zip(values.windows(2)).map(|(x, v)| (v[1] - v[0]) / (x[1] - x[0])).collect();
    slopes.extend(slopes.last().copied());
    slopes
}

/// The slope of a table over one argument, itself a table of the steps; `None` if it is constant.
fn curve_slope(g: &mut Graph, table: TableId, a: Expr) -> Option<Expr> {
    let table = g.shared_table(table);
    if table.interpolation == Interpolation::Hold || table.x.len() < 2 {
        return None;
    }
    let steps = Table {
        name: format!("slope of {}", table.name),
        x: table.x.clone(),
        y: Vec::new(),
        values: slopes(&table.x, &table.values),
        interpolation: Interpolation::Hold,
        extrapolation: table.extrapolation,
    };
    let steps = g.add_table(steps);
    let slope = g.table1(steps, a);
    Some(zero_outside(g, &table.x, table.extrapolation, a, slope))
}

/// A table that holds its end values has no slope outside its grid.
fn zero_outside(g: &mut Graph, grid: &[f64], extrapolation: Extrapolation, a: Expr, slope: Expr) -> Expr {
    let (Extrapolation::Clamp, [first, .., last]) = (extrapolation, grid) else { return slope };
    let (first, last, zero) = (g.real(*first), g.real(*last), g.real(0.0));
    let (before, after) = (g.lt(a, first), g.lt(last, a));
    let outside = g.or(before, after);
    g.select(outside, zero, slope)
}

/// The slope of a table over two arguments along one of them: constant from point to point along
/// that one, linear along the other.
fn map_slope(g: &mut Graph, table: TableId, a: Expr, b: Expr, first: bool) -> Option<Expr> {
    let table = g.shared_table(table);
    let (along, across) = if first { (&table.x, &table.y) } else { (&table.y, &table.x) };
    let (argument, other) = if first { (a, b) } else { (b, a) };
    if table.interpolation == Interpolation::Hold || along.len() < 2 {
        return None;
    }
    let width = table.y.len();
    let point =
        |i: usize, j: usize| if first { table.values[i * width + j] } else { table.values[j * width + i] };
    let strips: Vec<Expr> = (0..along.len() - 1)
        .map(|i| {
            let step = along[i + 1] - along[i];
            let strip = Table {
                name: format!("slope of {}", table.name),
                x: across.clone(),
                y: Vec::new(),
                values: (0..across.len()).map(|j| (point(i + 1, j) - point(i, j)) / step).collect(),
                interpolation: Interpolation::Linear,
                extrapolation: table.extrapolation,
            };
            let strip = g.add_table(strip);
            g.table1(strip, other)
        })
        .collect();
    let slope = pick_strip(g, along, &strips, argument);
    Some(zero_outside(g, along, table.extrapolation, argument, slope))
}

/// The strip whose part of the grid holds the argument, by halving.
fn pick_strip(g: &mut Graph, grid: &[f64], strips: &[Expr], argument: Expr) -> Expr {
    if let [strip] = strips {
        return *strip;
    }
    let middle = strips.len() / 2;
    let border = g.real(grid[middle]);
    let left = pick_strip(g, &grid[..=middle], &strips[..middle], argument);
    let right = pick_strip(g, &grid[middle..], &strips[middle..], argument);
    let below = g.lt(argument, border);
    g.select(below, left, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Sort;
    use crate::testing::{self, Operation, VARIABLES};
    use proptest::prelude::*;

    /// The derivative by central differences of eighth order, and a tolerance; `None` if two step
    /// sizes or the two sides do not agree, as at a jump, a kink or the edge of a domain.
    fn by_differences(f: &dyn Fn(f64) -> f64, x: f64) -> Option<(f64, f64)> {
        const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
        let estimate = |h: f64| -> f64 {
            (1..=4)
                .zip(WEIGHTS)
                .map(|(k, w)| w * (f(x + f64::from(k) * h) - f(x - f64::from(k) * h)) / h)
                .sum()
        };
        let (coarse, fine) = (estimate(2e-3), estimate(1e-3));
        let size = f(x).abs().max(fine.abs()).max(1e-3);
        let bend = (f(x + 1e-6) - 2.0 * f(x) + f(x - 1e-6)).abs() / 1e-6;
        ((coarse - fine).abs() < 1e-8 * size && bend < 1e-3 * size).then_some((fine, 1e-7 * size))
    }

    fn check(g: &mut Graph, e: Expr, v: u32, point: &[f64]) {
        let slope = g.derivative(e, VarId(v));
        let along = |s: f64| {
            let mut moved = point.to_vec();
            moved[v as usize] = s;
            testing::value(g, e, &moved)
        };
        let (expected, tolerance) = by_differences(&along, point[v as usize]).expect("a smooth point");
        let found = testing::value(g, slope, point);
        assert!((found - expected).abs() <= tolerance, "{:?}: {found} against {expected}", g.node(e));
    }

    #[test]
    fn every_function_of_one_argument() {
        for (op, at) in Unary::ALL.into_iter().map(|op| (op, if op == Unary::Acosh { 1.7 } else { 0.3 })) {
            let mut g = Graph::new();
            let x = g.var(VarId(0), Sort::Real);
            let (half, square) = (g.real(0.5), g.powi(x, 2));
            let inner = g.mul(half, square);
            let inner = g.add(x, inner);
            let e = g.unary(op, inner);
            check(&mut g, e, 0, &[at]);
        }
    }

    #[test]
    fn every_function_of_two_arguments() {
        for op in Binary::ALL {
            let mut g = Graph::new();
            let [x, y] = [0, 1].map(|i| g.var(VarId(i), Sort::Real));
            let (sum, product) = (g.add(x, y), g.mul(x, y));
            let e = g.binary(op, sum, product);
            for v in [0, 1] {
                check(&mut g, e, v, &[1.3, 0.7]);
                check(&mut g, e, v, &[1.8, 2.9]);
            }
        }
    }

    #[test]
    fn powers_and_branches() {
        let mut g = Graph::new();
        let [x, y] = [0, 1].map(|i| g.var(VarId(i), Sort::Real));
        for n in [-3, -1, 0, 2, 5] {
            let e = g.powi(x, n);
            check(&mut g, e, 0, &[-1.2, 0.0]);
        }
        let (exponent, less) = (g.real(2.5), g.lt(x, y));
        let (power, exponential) = (g.pow(x, exponent), g.pow(exponent, x));
        let e = g.select(less, power, exponential);
        check(&mut g, e, 0, &[1.2, 2.0]);
        check(&mut g, e, 0, &[1.2, 1.0]);
        let zero = g.derivative(e, VarId(1));
        assert_eq!(g.constant(zero), Some(0.0));
    }

    fn table(extrapolation: Extrapolation, y: Vec<f64>) -> Table {
        let x = vec![0.0, 1.0, 3.0, 3.5];
        let rows = y.len().max(1);
        let values = (0..x.len() * rows).map(|k| ((k * k * 7) % 11) as f64).collect();
        Table { name: "t".into(), x, y, values, interpolation: Interpolation::Linear, extrapolation }
    }

    #[test]
    fn tables_of_one_and_two_arguments() {
        for extrapolation in [Extrapolation::Clamp, Extrapolation::Extend] {
            let mut g = Graph::new();
            let [x, y] = [0, 1].map(|i| g.var(VarId(i), Sort::Real));
            let curve = g.add_table(table(extrapolation, vec![]));
            let map = g.add_table(table(extrapolation, vec![-1.0, 0.5, 2.0]));
            let (curve, map) = (g.table1(curve, x), g.table2(map, x, y));
            for point in
                [[0.4, 0.0], [2.0, 1.1], [3.2, -0.4], [-1.0, 0.2], [5.0, 0.2], [0.4, -3.0], [3.1, 4.0]]
            {
                check(&mut g, curve, 0, &point);
                check(&mut g, map, 0, &point);
                check(&mut g, map, 1, &point);
            }
        }
    }

    #[test]
    fn the_jacobian_has_only_entries_that_matter() {
        let mut g = Graph::new();
        let [x, y, z] = [0, 1, 2].map(|i| g.var(VarId(i), Sort::Real));
        let rows = [g.mul(x, y), z, g.unary(Unary::Floor, y)];
        let one = g.real(1.0);
        assert_eq!(g.jacobian(&rows, &[VarId(2), VarId(1), VarId(0)]), [(0, 1, x), (0, 2, y), (1, 0, one)]);
    }

    #[test]
    fn the_rate_along_a_flow() {
        let mut g = Graph::new();
        let [x, v] = [0, 1].map(|i| g.var(VarId(i), Sort::Real));
        let gravity = g.real(-9.81);
        let (kinetic, half) = (g.powi(v, 2), g.real(0.5));
        let (kinetic, potential) = (g.mul(half, kinetic), g.mul(gravity, x));
        let energy = g.sub(kinetic, potential);
        let rate = Tangent::new([(VarId(0), v), (VarId(1), gravity)]).rate(&mut g, energy).unwrap();
        assert_eq!(testing::value(&g, rate, &[3.0, 2.0]), 0.0);
    }

    proptest! {
        #![proptest_config(testing::cases(2_000))]

        #[test]
        fn random_expressions(operations in testing::operations(), points in testing::points()) {
            let mut g = Graph::new();
            let made = Operation::build_all(&operations, &mut g, |g, node| g.make(node));
            let e = *made.last().unwrap();
            // The steps of large arguments look like a slope from afar.
            let mut steps = false;
            g.visit(&[e], |e| steps |= matches!(
                g.node(e),
                Node::Unary(Unary::Floor | Unary::Ceil, _) | Node::Binary(Binary::Mod, ..)
            ));
            prop_assume!(!steps);
            let slopes: Vec<Expr> = (0..3).map(|v| g.derivative(e, VarId(v))).collect();
            for (v, &slope) in slopes.iter().enumerate() {
                // Branches change at round numbers, even for a single point.
                for point in points.iter().filter(|p| p[..3].iter().all(|x| x.fract() != 0.0)) {
                    let along = |s: f64| {
                        let mut moved: [f64; VARIABLES] = *point;
                        moved[v] = s;
                        testing::value(&g, e, &moved)
                    };
                    let found = testing::value(&g, slope, point);
                    if let (Some((expected, tolerance)), true) = (by_differences(&along, point[v]), found.is_finite()) {
                        prop_assert!((found - expected).abs() <= tolerance, "{} against {}", found, expected);
                    }
                }
            }
        }
    }
}
