//! Interval evaluation: bounds on the values of expressions over a box of variables.
//!
//! Every node is evaluated once in interval arithmetic. The bounds hold for the exact values and
//! for those the virtual machine computes. A node is *defined* if it exists on the whole box; a
//! branch that is surely not taken does not count.

use crate::graph::{Binary, Expr, Extrapolation, Graph, Node, Table, Unary, VarId};
use saltus_num::interval::{Enclosure, Interval};
use std::collections::HashMap;

/// Evaluates a set of expressions over boxes, one box after another.
///
/// ```
/// use saltus_expr::{Boxes, Graph, Sort, Unary, VarId};
/// use saltus_num::interval::Interval;
/// let mut g = Graph::new();
/// let x = g.var(VarId(0), Sort::Real);
/// let root = g.unary(Unary::Sqrt, x);
/// let mut boxes = Boxes::new(&g, &[root]);
/// boxes.evaluate(&g, |_| Interval::new(4.0, 9.0));
/// assert_eq!(boxes.value(root).range, Interval::new(2.0, 3.0));
/// boxes.evaluate(&g, |_| Interval::new(-1.0, 1.0));
/// assert!(!boxes.value(root).defined);
/// ```
#[derive(Clone, Debug)]
pub struct Boxes {
    /// Nodes with their operands before them.
    order: Vec<Expr>,
    places: HashMap<Expr, usize>,
    values: Vec<Enclosure>,
}

impl Boxes {
    /// Prepares the evaluation of `roots` and all that they are made of.
    pub fn new(graph: &Graph, roots: &[Expr]) -> Self {
        let mut order = Vec::new();
        graph.visit(roots, |e| order.push(e));
        let places = order.iter().enumerate().map(|(place, &e)| (e, place)).collect();
        let values = vec![total(Interval::ENTIRE); order.len()];
        Boxes { order, places, values }
    }

    /// Evaluates all nodes over the box that `variable` describes.
    pub fn evaluate(&mut self, graph: &Graph, variable: impl Fn(VarId) -> Interval) {
        for place in 0..self.order.len() {
            self.values[place] = self.node(graph, graph.node(self.order[place]), &variable);
        }
    }

    /// The bounds found for a node.
    ///
    /// # Panics
    /// If the node is not part of the roots.
    pub fn value(&self, e: Expr) -> Enclosure {
        self.values[self.places[&e]]
    }

    fn node(&self, graph: &Graph, node: Node, variable: &impl Fn(VarId) -> Interval) -> Enclosure {
        match node {
            Node::Const(bits, _) => total(Interval::point(f64::from_bits(bits))),
            Node::Var(v, _) => total(variable(v)),
            Node::Unary(op, a) => self.of_one(a, |x| unary(op, x)),
            Node::Powi(a, n) => self.of_one(a, |x| x.powi(n)),
            Node::Binary(Binary::Pow, a, b) => match graph.whole_exponent(b) {
                Some(n) => self.of_one(a, |x| x.powi(n)),
                None => self.of_two(a, b, |x, y| x.pow(y)),
            },
            Node::Binary(op, a, b) => self.of_two(a, b, |x, y| binary(op, x, y)),
            Node::Select(c, a, b) => self.choice(self.value(c), a, b),
            Node::Table1(t, a) => self.of_one(a, |x| read_curve(graph.table(t), x)),
            Node::Table2(t, a, b) => self.of_two(a, b, |x, y| read_map(graph.table(t), x, y)),
        }
    }

    fn of_one(&self, a: Expr, function: impl Fn(Interval) -> Enclosure) -> Enclosure {
        let a = self.value(a);
        let value = function(a.range);
        Enclosure { defined: value.defined && a.defined, ..value }
    }

    fn of_two(&self, a: Expr, b: Expr, function: impl Fn(Interval, Interval) -> Enclosure) -> Enclosure {
        let (a, b) = (self.value(a), self.value(b));
        let value = function(a.range, b.range);
        Enclosure { defined: value.defined && a.defined && b.defined, ..value }
    }

    fn choice(&self, condition: Enclosure, a: Expr, b: Expr) -> Enclosure {
        let (yes, no) = (self.value(a), self.value(b));
        let taken = match truth(condition.range) {
            Some(true) => yes,
            Some(false) => no,
            None => join(yes, no),
        };
        Enclosure { defined: taken.defined && condition.defined, ..taken }
    }
}

fn total(range: Interval) -> Enclosure {
    Enclosure { range, defined: true }
}

fn join(a: Enclosure, b: Enclosure) -> Enclosure {
    Enclosure { range: a.range.hull(b.range), defined: a.defined && b.defined }
}

/// The truth of a Boolean, if it is the same all over.
fn truth(value: Interval) -> Option<bool> {
    if value == Interval::point(0.0) { Some(false) } else { (!value.contains(0.0)).then_some(true) }
}

fn boolean(value: Option<bool>) -> Enclosure {
    total(match value {
        Some(true) => Interval::point(1.0),
        Some(false) => Interval::point(0.0),
        None => Interval::new(0.0, 1.0),
    })
}

/// The values of a function of one argument on an interval.
pub fn unary(op: Unary, x: Interval) -> Enclosure {
    match op {
        Unary::Neg => total(-x),
        Unary::Not => boolean(truth(x).map(|x| !x)),
        Unary::Abs => total(x.abs()),
        Unary::Sign => total(x.sign()),
        Unary::Floor => total(x.floor()),
        Unary::Ceil => total(x.ceil()),
        Unary::Sqrt => x.sqrt(),
        Unary::Exp => total(x.exp()),
        Unary::Log => x.log(),
        Unary::Sin => total(x.sin()),
        Unary::Cos => total(x.cos()),
        Unary::Tan => x.tan(),
        Unary::Asin => x.asin(),
        Unary::Acos => x.acos(),
        Unary::Atan => total(x.atan()),
        Unary::Sinh => total(x.sinh()),
        Unary::Cosh => total(x.cosh()),
        Unary::Tanh => total(x.tanh()),
        Unary::Asinh => total(x.asinh()),
        Unary::Acosh => x.acosh(),
        Unary::Atanh => x.atanh(),
        Unary::Clip => total(x.max(Interval::point(0.0))),
    }
}

/// The values of a function of two arguments on a pair of intervals.
pub fn binary(op: Binary, x: Interval, y: Interval) -> Enclosure {
    match op {
        Binary::Add => total(x + y),
        Binary::Sub => total(x - y),
        Binary::Mul => total(x * y),
        Binary::Div => x.divide(y),
        Binary::Pow => x.pow(y),
        Binary::Atan2 => x.atan2(y),
        Binary::Hypot => total(x.hypot(y)),
        Binary::Min => total(x.min(y)),
        Binary::Max => total(x.max(y)),
        Binary::Mod => x.modulo(y),
        Binary::Lt => boolean(x.less(y)),
        Binary::Le => boolean(x.less_or_equal(y)),
        Binary::Eq => boolean(x.equal(y)),
        Binary::And => boolean(match (truth(x), truth(y)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }),
        Binary::Or => boolean(match (truth(x), truth(y)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }),
    }
}

/// The parts of an interval on which a table is read along one piece: the grid points and what
/// lies between them, each with a point that stands for it. `None` if the interval is unbounded
/// and so may be the values.
fn parts(grid: &[f64], x: Interval, extrapolation: Extrapolation) -> Option<Vec<(Interval, f64)>> {
    let (&first, &last) = (grid.first()?, grid.last()?);
    if x.is_empty() {
        return Some(Vec::new());
    }
    let x = match extrapolation {
        Extrapolation::Extend => x,
        // Far outside, nothing changes any more.
        Extrapolation::Clamp | Extrapolation::Undefined => {
            let margin = 1.0 + first.abs().max(last.abs());
            let near = |x: f64| x.clamp(first - margin, last + margin);
            Interval::new(near(x.lo()), near(x.hi()))
        }
    };
    if !x.is_bounded() {
        return None;
    }
    let mut breaks = vec![x.lo()];
    breaks.extend(grid.iter().copied().filter(|&p| x.lo() < p && p < x.hi()));
    breaks.push(x.hi());
    let points = breaks.iter().map(|&p| (Interval::point(p), p));
    let between = breaks.windows(2).filter(|w| w[0] < w[1]).map(|w| {
        let part = Interval::new(w[0], w[1]);
        (part, part.midpoint())
    });
    Some(points.chain(between).collect())
}

/// The hull of the values on all parts, each of which may be NaN for "nowhere".
fn collect(values: impl Iterator<Item = Option<Interval>>) -> Enclosure {
    values.fold(total(Interval::EMPTY), |found, value| match value {
        Some(range) => Enclosure { range: found.range.hull(range), ..found },
        None => Enclosure { defined: false, ..found },
    })
}

fn read_curve(table: &Table, x: Interval) -> Enclosure {
    let Some(parts) = parts(&table.x, x, table.extrapolation) else {
        return Enclosure { range: Interval::ENTIRE, defined: !table.x.is_empty() };
    };
    collect(parts.into_iter().map(|(part, at)| {
        let line = table.line(at);
        let value =
            Interval::point(line.value) + Interval::point(line.slope) * (part - Interval::point(line.at));
        (!line.value.is_nan()).then_some(value)
    }))
}

fn read_map(table: &Table, x: Interval, y: Interval) -> Enclosure {
    let along = parts(&table.x, x, table.extrapolation);
    let across = parts(&table.y, y, table.extrapolation);
    let (Some(along), Some(across)) = (along, across) else {
        return Enclosure { range: Interval::ENTIRE, defined: !table.x.is_empty() && !table.y.is_empty() };
    };
    let cells = along.iter().flat_map(|a| across.iter().map(move |b| (*a, *b)));
    collect(cells.map(|((x, x_at), (y, y_at))| {
        let patch = table.patch(x_at, y_at);
        let (u, v) = (x - Interval::point(patch.x0), y - Interval::point(patch.y0));
        let [value, by_x, by_y, by_xy] =
            [patch.value, patch.by_x, patch.by_y, patch.by_xy].map(Interval::point);
        (!patch.value.is_nan()).then(|| ((value + by_x * u) + by_y * v) + by_xy * (u * v))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Interpolation, Sort};
    use crate::program::Program;
    use crate::testing::{self, Operation, VARIABLES};
    use proptest::prelude::*;

    fn enclose(g: &Graph, e: Expr, variables: &[Interval]) -> Enclosure {
        let mut boxes = Boxes::new(g, &[e]);
        boxes.evaluate(g, |v| variables[v.index()]);
        boxes.value(e)
    }

    /// The value the virtual machine computes, and all intermediate ones.
    fn run(g: &Graph, e: Expr, point: &[f64]) -> (f64, Vec<f64>) {
        let (program, inputs) = Program::new(g, &[e]);
        let slots: Vec<u32> = inputs.iter().map(|v| v.0).collect();
        let mut registers = vec![0.0; program.registers()];
        program.eval(point, &slots, &mut registers);
        (registers[program.outputs()[0].index()], registers)
    }

    fn contains(g: &Graph, e: Expr, variables: &[Interval], point: &[f64]) -> Result<(), TestCaseError> {
        let enclosure = enclose(g, e, variables);
        let (value, all) = run(g, e, point);
        // An infinity is not a value, and a comparison with NaN is no answer.
        let overflow = all.iter().any(|x| x.is_infinite());
        let outside = !enclosure.defined && all.iter().any(|x| x.is_nan());
        let fits = enclosure.range.contains(value) || overflow || outside;
        prop_assert!(fits, "{} not in {:?} at {:?}", value, enclosure, point);
        Ok(())
    }

    #[test]
    fn a_branch_not_taken_does_not_count() {
        let mut g = Graph::new();
        let x = g.var(VarId(0), Sort::Real);
        let zero = g.real(0.0);
        let (positive, root, minus) = (g.lt(zero, x), g.unary(Unary::Sqrt, x), g.neg(x));
        let e = g.select(positive, root, minus);
        let at = |lo, hi| enclose(&g, e, &[Interval::new(lo, hi)]);
        assert_eq!(at(1.0, 4.0), Enclosure { range: Interval::new(1.0, 2.0), defined: true });
        assert_eq!(at(-2.0, -1.0), Enclosure { range: Interval::new(1.0, 2.0), defined: true });
        assert!(!at(-1.0, 1.0).defined);
    }

    #[test]
    fn an_undefined_part_stays_undefined() {
        let mut g = Graph::new();
        let x = g.var(VarId(0), Sort::Real);
        let (log, zero) = (g.unary(Unary::Log, x), g.real(0.0));
        let product = g.mul(log, zero);
        assert!(!enclose(&g, product, &[Interval::new(-1.0, 1.0)]).defined);
        assert!(enclose(&g, product, &[Interval::new(0.5, 1.0)]).defined);
    }

    proptest! {
        #![proptest_config(testing::cases(3_000))]

        #[test]
        fn values_are_enclosed(
            operations in testing::operations(),
            points in testing::points(),
            widths in prop::array::uniform4(prop_oneof![Just(0.0), 0.0f64..0.1, 0.0f64..4.0]),
            place in 0.0f64..1.0,
        ) {
            let mut g = Graph::new();
            let made = Operation::build_all(&operations, &mut g, |g, node| g.make(node));
            let e = *made.last().unwrap();
            for point in points {
                let variables: Vec<Interval> = (0..VARIABLES)
                    .map(|v| Interval::new(point[v] - place * widths[v], point[v] + (1.0 - place) * widths[v]))
                    .collect();
                contains(&g, e, &variables, &point)?;
            }
        }

        #[test]
        fn table_values_are_enclosed(
            [x, y, width] in prop::array::uniform3(-5.0f64..5.0),
            place in 0.0f64..1.0,
            kind in 0usize..6,
        ) {
            let mut g = Graph::new();
            let [a, b] = [0, 1].map(|i| g.var(VarId(i), Sort::Real));
            let extrapolation =
                [Extrapolation::Clamp, Extrapolation::Extend, Extrapolation::Undefined][kind % 3];
            let interpolation = [Interpolation::Linear, Interpolation::Hold][kind / 3];
            let table = |y: Vec<f64>| {
                let x = vec![-2.0, 0.0, 0.3, 3.0];
                let values = (0..x.len() * y.len().max(1)).map(|k| ((k * k * 7) % 11) as f64 / 3.0).collect();
                Table { name: "t".into(), x, y, values, interpolation, extrapolation }
            };
            let (curve, map) = (g.add_table(table(vec![])), g.add_table(table(vec![-1.0, 0.7, 2.0])));
            let (curve, map) = (g.table1(curve, a), g.table2(map, a, b));
            let around = |x: f64| Interval::new(x - place * width.abs(), x + (1.0 - place) * width.abs());
            for point in [[x, y], [x.round(), y.round()], [-2.0, 2.0], [3.0, -1.0]] {
                let variables = point.map(around);
                contains(&g, curve, &variables, &point)?;
                contains(&g, map, &variables, &point)?;
            }
        }
    }
}
