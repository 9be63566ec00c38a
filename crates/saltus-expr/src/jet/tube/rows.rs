//! The bounds of the rows of a tape.
//!
//! A row that is made by a recurrence satisfies the equation of its function up to terms beyond the
//! order and rounding: for a quotient N of a by b the polynomial N b - a has terms of order p + 1 and
//! higher only, so N is off by that over b; for a function y with y' = g(y) a' the defect of N is
//! integrated with the growth that g allows. The terms beyond the order are those of one product of
//! two polynomials.
//!
//! A row is *unsound* if a function in it may leave its domain on the step or a switch in it may not
//! stay as it is. What is made of an unsound row is unsound, except a choice that is surely the other
//! one.

use super::bound::{Bound, Radii};
use super::obstacle::Obstacle;
use super::operation::{self, FUNCTION, add, mul, negated, product_size, rounded, steepness, sub};
use super::polynomials::{Kept, Polynomials};
use super::profile::{Coefficients, Extent};
use super::tape::{Node, Tape};
use crate::graph::{Binary, Unary};
use crate::jet::JetNode;
use crate::jet::range::{Range, TINY};
use crate::jet::recurrence::Rule;
use crate::program::{Op, Reg};
use saltus_num::UNIT;
use saltus_num::elementary::{exp, powi};

/// A function that moves by no more than this on a step is flat. It is less than rounding in all that is
/// asked for; where more is left of a function, a shorter step tells more.
const FLAT: f64 = 1e-40;

/// Bounds of the rows of a tape, one after another.
pub(super) struct Pass<'a> {
    pub tape: &'a Tape,
    pub rows: &'a mut [Bound],
    pub polynomials: Polynomials<'a>,
    pub coefficients: Coefficients<'a>,
    /// How far off their polynomials the states may be, in their weights.
    pub width: f64,
    pub obstacles: &'a mut Vec<Obstacle>,
}

/// The residual of a recurrence: what its equation lacks, as drift and tail.
#[derive(Clone, Copy, Default)]
struct Residual {
    drift: f64,
    tail: f64,
}

impl Pass<'_> {
    /// Bounds the rows of some nodes, their operands being known.
    pub fn run(&mut self, nodes: &[u32]) {
        let tape = self.tape;
        for &i in nodes {
            let node = &tape.nodes[i as usize];
            let bound = self.bound(node);
            self.rows[node.row.index()] =
                if bound.cause.is_some() || bound.is_finite() { bound } else { self.blame(node) };
        }
    }

    fn order(&self) -> f64 {
        (self.coefficients.powers.len() - 1) as f64
    }

    fn bound(&mut self, at: &Node) -> Bound {
        let Node { row, is: node, .. } = *at;
        if let Some(Op::Select(c, a, b)) = node.start {
            return self.select(at, c, a, b);
        }
        if !self.obstacles.is_empty()
            && let Some(cause) = self.cause(at)
        {
            return Bound::unsound(cause);
        }
        match (node.start, node.rule) {
            (None, rule) => self.identity(row, rule),
            (Some(Op::Table1(t, a)), _) => self.curve(at, t, a),
            (Some(Op::Table2(t, a, b)), _) => self.map(at, t, a, b),
            (Some(_), Rule::Neg(a)) => negated(&self.rows[a.index()]),
            (Some(_), Rule::Add(a, b)) => {
                let (a, b) = (&self.rows[a.index()], &self.rows[b.index()]);
                let (range, radii) = add(a, b);
                Bound::new(range, radii, a.size + b.size)
            }
            (Some(_), Rule::Sub(a, b)) => {
                let (a, b) = (&self.rows[a.index()], &self.rows[b.index()]);
                let (range, radii) = sub(a, b);
                Bound::new(range, radii, a.size + b.size)
            }
            (Some(_), Rule::Mul(a, b)) => self.product(a, b),
            (Some(_), Rule::Square(a)) => self.product(a, a),
            (Some(_), Rule::Div { a, b, .. }) => self.quotient(at, a, b),
            (Some(op), Rule::Root { radicand, .. }) => self.root(at, op, radicand),
            (Some(op), Rule::Chain { rate, by, .. }) => self.chain(at, op, rate, by),
            (Some(op), Rule::Integral { rate, .. }) => self.integral(at, op, rate),
            (Some(op), Rule::Power { base, base_rate, rate, exponent, .. }) => {
                self.power(at, op, [base, base_rate, rate, exponent])
            }
            (Some(op), _) => self.value(at, op),
        }
    }

    #[inline(always)]
    fn row(&self, row: Reg) -> Bound {
        self.rows[row.index()]
    }

    fn blame(&mut self, node: &Node) -> Bound {
        let obstacle = Obstacle::new(node.block as usize, node.is, |r| self.rows[r.index()].range);
        self.obstacles.push(obstacle);
        Bound::unsound(self.obstacles.len() as u32 - 1)
    }

    /// What makes an operand unsound. An auxiliary row of a function is blamed as the function.
    fn cause(&mut self, at: &Node) -> Option<u32> {
        let Node { row, is: node, .. } = *at;
        let of = |rows: &[Bound], r: Reg| rows[r.index()].cause;
        match node.start {
            Some(op @ Op::Binary(Binary::And | Binary::Or, a, b)) => {
                let cause = of(self.rows, a).or(of(self.rows, b))?;
                let known = |r: Reg| match of(self.rows, r) {
                    Some(_) => Bound::new(Range::TRUTH, Radii::default(), 0.0),
                    None => self.row(r),
                };
                operation::apply(op, known).is_none().then_some(cause)
            }
            Some(op) => {
                if let Some(cause) = op.operands().find_map(|r| of(self.rows, r)) {
                    return Some(cause);
                }
                let auxiliary = self.auxiliary(row, node).into_iter().flatten();
                let unsound = auxiliary.into_iter().any(|r| of(self.rows, r).is_some());
                unsound.then(|| self.blame(at).cause).flatten()
            }
            None => match node.rule {
                Rule::Rate(a) | Rule::Neg(a) => of(self.rows, a),
                Rule::Mul(a, b) | Rule::Sub(a, b) => of(self.rows, a).or(of(self.rows, b)),
                Rule::Quotient { rate, by, .. } => of(self.rows, rate).or(of(self.rows, by)),
                _ => None,
            },
        }
    }

    /// Rows before this one that a rule reads and its operation does not.
    fn auxiliary(&self, row: Reg, node: JetNode) -> [Option<Reg>; 2] {
        let before = |r: Reg| (r.0 < row.0).then_some(r);
        match node.rule {
            Rule::Chain { rate, .. } | Rule::Integral { rate, .. } => [before(rate), None],
            Rule::Root { radicand, .. } => [before(radicand), None],
            Rule::Power { base_rate, .. } => [before(base_rate), None],
            _ => [None, None],
        }
    }

    /// A choice that stays as it is.
    fn select(&mut self, node: &Node, c: Reg, a: Reg, b: Reg) -> Bound {
        let condition = self.row(c);
        if let Some(cause) = condition.cause {
            return Bound::unsound(cause);
        }
        if condition.range == Range::point(0.0) {
            self.row(b)
        } else if !condition.range.contains(0.0) {
            self.row(a)
        } else {
            self.blame(node)
        }
    }

    /// A row, if its coefficients are there.
    #[inline(always)]
    fn kept(&self, row: Reg) -> Option<Kept> {
        self.coefficients.places[row.index()].map(|_| self.tape.kept(row.index()))
    }

    fn extent(&mut self, row: Reg) -> Extent {
        match self.kept(row) {
            Some(row) => self.polynomials.extent(&self.coefficients, row),
            None => Extent::UNKNOWN,
        }
    }

    /// The terms of a product of two polynomials beyond the order.
    fn tail(&mut self, a: Reg, b: Reg) -> f64 {
        let degree = |r: Reg| self.tape.degrees[r.index()];
        let sum = degree(a).plus(degree(b));
        if degree(a).is_constant()
            || degree(b).is_constant()
            || sum.bound().is_some_and(|d| d as f64 <= self.order())
        {
            return 0.0;
        }
        let factors = [a, b].map(|row| self.kept(self.tape.twins[row.index()]));
        let [Some(a), Some(b)] = factors else { return f64::INFINITY };
        self.polynomials.tail(&self.coefficients, [a, b])
    }

    /// Sum of the magnitudes of the coefficients of a product of two polynomials, factors known.
    fn size_of(&mut self, a: Reg, b: Reg) -> f64 {
        let (a, b) = (self.whole(a), self.whole(b));
        a * b
    }

    /// Sum of the magnitudes of all coefficients.
    fn whole(&mut self, row: Reg) -> f64 {
        if self.tape.degrees[row.index()].is_constant() {
            return self.row(row).most;
        }
        self.extent(row).whole()
    }

    /// Relative rounding of a coefficient of a convolution, with what is made of it.
    fn rounding(&self) -> f64 {
        (self.order() + 8.0) * UNIT
    }

    /// A row whose polynomial is known, too: its values are near those of the polynomial.
    fn near(&mut self, row: Reg, (range, radii): (Range, Radii)) -> Bound {
        let extent = self.extent(row);
        let mut bound = Bound::new(range, radii, extent.size);
        let off = bound.radii.along() + bound.radii.spread * self.width;
        let near = extent.range(off * (1.0 + 8.0 * UNIT));
        let both = bound.range.intersection(near);
        // Both hold the values; only rounding could part them.
        if both.lo <= both.hi {
            bound.range = both;
        }
        bound.most = bound.most.max(extent.whole());
        bound
    }

    /// Values without a recurrence: what does not change, and switches.
    fn value(&mut self, node: &Node, op: Op) -> Bound {
        let moved = operation::apply(op, |r| self.row(r));
        let size = match node.is.rule {
            Rule::Scale { a, .. } => self.row(a).size,
            Rule::Steer { a, b, .. } => self.row(a).size.max(self.row(b).size),
            Rule::Remainder { a, b, .. } => {
                match operation::floor_quotient(self.row(a).range, self.row(b).range) {
                    Some(quotient) => self.row(a).size + quotient.abs() * self.row(b).size,
                    None => return self.blame(node),
                }
            }
            _ => 0.0,
        };
        match moved {
            Some((range, mut radii)) => {
                radii.drift += 4.0 * UNIT * size;
                Bound::new(range, radii, size)
            }
            None => self.blame(node),
        }
    }

    fn product(&mut self, a: Reg, b: Reg) -> Bound {
        let tail = self.tail(a, b);
        let (x, y) = (&self.rows[a.index()], &self.rows[b.index()]);
        let (mut range, mut radii) = mul(x, y);
        if a == b {
            range = x.range.square();
        }
        let size = product_size(x, y);
        radii.drift += self.rounding() * size + TINY;
        radii.tail += tail;
        Bound::new(range, radii, size)
    }

    /// N with N b = a up to the residual: a/b - N = ((a - N_a) - N (b - N_b) + residual) / b.
    fn quotient(&mut self, node: &Node, a: Reg, b: Reg) -> Bound {
        let row = node.row;
        let (x, y) = (self.row(a), self.row(b));
        let least = y.range.mignitude();
        if least <= 0.0 {
            return self.blame(node);
        }
        let range = x.range.div(y.range);
        if self.tape.degrees[b.index()].is_constant() {
            let size = x.size / least;
            let mut radii = x.radii.plus(y.radii.times(range.magnitude())).times(1.0 / least);
            radii.drift += (y.radii.start / least + 4.0 * UNIT) * size + TINY;
            return Bound::new(range, radii.plus(rounded(range.magnitude(), 4.0 * UNIT)), size);
        }
        let tail = self.tail(row, b);
        let (extent, whole) = (self.extent(row), self.whole(row));
        let values = whole.max(range.magnitude());
        let mut radii = x.radii.plus(y.radii.times(values));
        let start = radii.start;
        radii.tail += tail;
        radii.drift += extent.size * y.radii.start;
        radii.drift += self.rounding() * (whole * (y.most + y.size) + x.size) + TINY;
        radii = radii.times(1.0 / least);
        radii.drift += (start + 4.0 * UNIT * x.most) * y.variation() / (least * least);
        self.near(row, (range, radii.plus(rounded(values, 4.0 * UNIT))))
    }

    /// N with N N = r up to the residual: sqrt(r) - N = ((r - N_r) + residual) / (sqrt(r) + N).
    fn root(&mut self, node: &Node, op: Op, radicand: Reg) -> Bound {
        let (row, r) = (node.row, self.row(radicand));
        let extent = self.extent(row);
        let (low, lowest) = (r.range.lo.max(0.0).sqrt() * (1.0 - 4.0 * UNIT), extent.range(0.0).lo);
        if r.range.lo <= 0.0 || lowest.is_nan() || lowest <= 0.0 {
            return self.blame(node);
        }
        let (sum, whole) = (low + lowest, self.whole(row));
        let mut radii = r.radii;
        radii.tail += self.tail(row, row);
        radii.drift += self.rounding() * (whole * whole + r.size) + TINY;
        radii = radii.times(1.0 / sum);
        let variation = extent.size + r.variation() / (2.0 * low);
        radii.drift += (r.radii.start + 4.0 * UNIT * r.most) * variation / (sum * sum);
        radii.spread = r.radii.spread / (2.0 * low);
        // A distance is at least the square root of what is computed for it.
        let accuracy = if matches!(op, Op::Unary(Unary::Sqrt, _)) { 2.0 * UNIT } else { FUNCTION };
        let high = r.range.hi.sqrt() * (1.0 + 4.0 * UNIT);
        self.near(row, (Range { lo: low, hi: high }, radii.plus(rounded(whole, accuracy))))
    }

    /// Rows without a value of their own: rates, and the numerators and quotients made of them. Their
    /// radii are how far they are from what the polynomials of their operands give.
    fn identity(&mut self, row: Reg, rule: Rule) -> Bound {
        let (residual, size) = match rule {
            Rule::Rate(a) => (Residual::default(), self.order() * self.row(a).size),
            Rule::Quotient { .. } => (Residual::default(), self.extent(row).size),
            Rule::Neg(a) => {
                let Radii { drift, tail, .. } = self.row(a).radii;
                (Residual { drift, tail }, self.row(a).size)
            }
            Rule::Sub(a, b) => {
                let (a, b) = (self.row(a), self.row(b));
                let size = a.size + b.size;
                let drift = a.radii.drift + b.radii.drift + UNIT * size;
                (Residual { drift, tail: a.radii.tail + b.radii.tail }, size)
            }
            Rule::Mul(a, b) => {
                let size = self.size_of(a, b);
                (Residual { drift: self.rounding() * size + TINY, tail: self.tail(a, b) }, size)
            }
            _ => (Residual { drift: f64::INFINITY, tail: f64::INFINITY }, f64::INFINITY),
        };
        let radii = Radii { drift: residual.drift, tail: residual.tail, ..Radii::default() };
        Bound::new(Range::point(0.0), radii, size)
    }

    /// The residual of y' = by a', integrated: the tail has orders beyond p, which divide it.
    fn chain_residual(&mut self, rate: Reg, by: Reg) -> Residual {
        let size = self.size_of(rate, by);
        Residual { drift: self.rounding() * size + TINY, tail: self.tail(rate, by) / (self.order() + 1.0) }
    }

    /// Functions with y' = by a'. The error of the polynomial N obeys the same equation, linearised,
    /// with the residual as a source: it grows as the function lets it.
    fn chain(&mut self, node: &Node, op: Op, rate: Reg, by: Reg) -> Bound {
        let row = node.row;
        let Some(Rule::Rate(argument)) = self.tape.rule(rate) else { return self.blame(node) };
        let a = self.row(argument);
        let moved = match op {
            // A power is the exponential of its own exponent row.
            Op::Binary(..) => operation::apply(Op::Unary(Unary::Exp, argument), |_| a),
            op => operation::apply(op, |r| self.row(r)),
        };
        let Some((range, mut radii)) = moved else { return self.blame(node) };
        let one = self.chain_residual(rate, by);
        let start = FUNCTION * self.whole(row) + TINY;
        let (growth, source, start) = match op {
            Op::Unary(Unary::Sin | Unary::Cos, _) => {
                let other = self.chain_residual(rate, row);
                (1.0, one.plus(other), 2.0 * FUNCTION + TINY)
            }
            Op::Unary(Unary::Sinh | Unary::Cosh, _) => {
                let other = self.chain_residual(rate, row);
                (exp(a.size), one.plus(other), FUNCTION * (self.whole(row) + self.whole(by)) + TINY)
            }
            Op::Unary(Unary::Tan | Unary::Tanh, _) => {
                // by = 1 + y y or 1 - y y, made by a recurrence of its own.
                let values = self.whole(row).max(range.magnitude());
                let square =
                    Residual { drift: self.rounding() * (1.0 + values * values), tail: self.tail(row, row) };
                (exp(2.0 * values * a.size), one.plus(square.times(a.size)), start)
            }
            _ => (exp(a.size), one, start),
        };
        let growth = 1.01 * growth;
        radii.drift += start * (growth - 1.0 + 2.0 * a.size) + growth * source.drift;
        radii.tail += growth * source.tail;
        radii.start += start;
        // Where neither the function nor its polynomial moves, they do not part, however far the argument goes.
        let flat = steepness(op, a.range, range) * a.variation() + self.extent(row).size;
        if flat <= FLAT {
            (radii.drift, radii.tail) = (flat, 0.0);
        }
        self.near(row, (range, radii))
    }

    /// Functions given by their rate: y' = q, where q g = a' for those whose derivative is 1/g.
    fn integral(&mut self, node: &Node, op: Op, rate: Reg) -> Bound {
        let row = node.row;
        let Some((range, mut radii)) = operation::apply(op, |r| self.row(r)) else { return self.blame(node) };
        // y_k = q_k / k
        let size = self.extent(rate).size;
        let share = self.order() + 1.0;
        let Some(Rule::Quotient { rate: numerator, by, .. }) = self.tape.rule(rate) else {
            return self.blame(node);
        };
        let (g, above) = (self.row(by), self.row(numerator));
        let least = g.range.mignitude() - 2.0 * g.radii.along();
        if least <= 0.0 || least.is_nan() {
            return self.blame(node);
        }
        let tail = (self.tail(rate, by) + above.radii.tail) / share + 2.0 * size * g.radii.tail;
        let rounding = self.rounding() * (self.size_of(rate, by) + above.size) + TINY;
        let drift = rounding + above.radii.drift + 2.0 * size * (g.radii.start + g.radii.drift);
        radii.tail += tail / least;
        radii.drift += drift / least;
        if self.kept(row).is_some() { self.near(row, (range, radii)) } else { Bound::new(range, radii, size) }
    }

    /// Powers y = a^c: a y' = c y a' up to the residual.
    fn power(&mut self, node: &Node, op: Op, [base, base_rate, rate, exponent]: [Reg; 4]) -> Bound {
        let row = node.row;
        let Some((range, mut radii)) = operation::apply(op, |r| self.row(r)) else { return self.blame(node) };
        let (a, c) = (self.row(base), self.row(exponent).most);
        let least = a.range.mignitude() - 2.0 * a.radii.along();
        if least <= 0.0 || least.is_nan() {
            return self.blame(node);
        }
        let growth = 1.01 * powi(a.most / least, c.ceil().min(1e6) as i32);
        let sizes = self.size_of(rate, base) + c * self.size_of(base_rate, row);
        let tail = (self.tail(rate, base) + c * self.tail(base_rate, row)) / (self.order() + 1.0);
        let start = FUNCTION * self.whole(row) + TINY;
        radii.tail += growth * tail / least;
        radii.drift += growth * ((self.rounding() + UNIT) * sizes + TINY + start * c * a.size) / least;
        self.near(row, (range, radii))
    }

    /// A table over one argument that stays on one line.
    fn curve(&mut self, node: &Node, t: u32, a: Reg) -> Bound {
        let (a, table) = (self.row(a), &self.tape.tables[t as usize]);
        let line = table.line(a.range.lo);
        if !line.value.is_finite() || table.line(a.range.hi) != line {
            return self.blame(node);
        }
        if line.slope == 0.0 {
            return Bound::point(line.value);
        }
        let [value, slope, at] = [line.value, line.slope, line.at].map(Range::point);
        let size = line.slope.abs() * a.size;
        let mut radii = a.radii.times(line.slope.abs());
        radii.start += 4.0 * UNIT * (line.value.abs() + line.slope.abs() * (a.most + line.at.abs())) + TINY;
        radii.drift += 4.0 * UNIT * size + TINY;
        Bound::new(value.add(slope.mul(a.range.sub(at))), radii, size)
    }

    /// A table over two arguments that stays on one patch.
    fn map(&mut self, node: &Node, t: u32, a: Reg, b: Reg) -> Bound {
        let (x, y, table) = (self.row(a), self.row(b), &self.tape.tables[t as usize]);
        let patch = table.patch(x.range.lo, y.range.lo);
        let corners = [(x.range.lo, y.range.hi), (x.range.hi, y.range.lo), (x.range.hi, y.range.hi)];
        if !patch.value.is_finite() || corners.iter().any(|&(x, y)| table.patch(x, y) != patch) {
            return self.blame(node);
        }
        if patch.by_x == 0.0 && patch.by_y == 0.0 && patch.by_xy == 0.0 {
            return Bound::point(patch.value);
        }
        let from = |bound: &Bound, origin: f64| Bound {
            range: bound.range.sub(Range::point(origin)),
            most: bound.most + origin.abs(),
            ..*bound
        };
        let (u, v) = (from(&x, patch.x0), from(&y, patch.y0));
        let [by_x, by_y, by_xy] = [patch.by_x, patch.by_y, patch.by_xy].map(f64::abs);
        let (_, product) = mul(&u, &v);
        let size = by_x * u.size + by_y * v.size + by_xy * product_size(&u, &v);
        let whole = patch.value.abs() + by_x * u.most + by_y * v.most + by_xy * u.most * v.most;
        let mut radii = u.radii.times(by_x).plus(v.radii.times(by_y)).plus(product.times(by_xy));
        radii.start += 16.0 * UNIT * whole + TINY;
        radii.drift += 2.0 * self.rounding() * (size + whole) + TINY;
        radii.tail += by_xy * self.tail(a, b);
        let [value, slope_x, slope_y, bend] =
            [patch.value, patch.by_x, patch.by_y, patch.by_xy].map(Range::point);
        let range = value.add(slope_x.mul(u.range)).add(slope_y.mul(v.range));
        Bound::new(range.add(bend.mul(u.range.mul(v.range))), radii, size)
    }
}

impl Residual {
    fn plus(self, other: Residual) -> Residual {
        Residual { drift: self.drift + other.drift, tail: self.tail + other.tail }
    }

    fn times(self, by: f64) -> Residual {
        Residual { drift: self.drift * by, tail: self.tail * by }
    }
}
