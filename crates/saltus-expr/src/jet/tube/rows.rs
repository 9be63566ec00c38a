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
use super::operation::{self, FUNCTION, difference, negated, product_radii, product_size, steepness, sum};
use super::polynomials::Polynomials;
use super::profile::{Coefficients, Extent};
use super::tape::{Beyond, Kind, Node, Tape};
use crate::graph::{Binary, Unary};
use crate::jet::JetNode;
use crate::jet::range::{Range, TINY};
use crate::jet::recurrence::Rule;
use crate::program::{Op, Reg};
use saltus_num::elementary::{exp, powi};
use saltus_num::vectors::{VectorWork, in_widest_vectors};
use saltus_num::{UNIT, greater};

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
    /// Whether nothing more is asked for after the first of these.
    pub gives_up: bool,
    /// That of the coefficients.
    pub rounding: f64,
}

/// The residual of a recurrence: what its equation lacks, as drift and tail.
#[derive(Clone, Copy, Default)]
struct Residual {
    drift: f64,
    tail: f64,
}

/// The bounds of some nodes, to be found with the widest vectors: radii are four numbers.
struct Sweep<'s, 'a> {
    pass: &'s mut Pass<'a>,
    nodes: &'s [u32],
}

impl VectorWork for Sweep<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Sweep { pass, nodes } = self;
        let tape = pass.tape;
        for &i in nodes {
            let node = &tape.nodes[i as usize];
            if pass.obstacles.is_empty() {
                pass.bound(node);
            } else if pass.gives_up {
                break;
            } else {
                pass.bound_beside_obstacles(node);
            }
        }
    }
}

impl Pass<'_> {
    /// Bounds the rows of some nodes, their operands being known.
    pub fn run(&mut self, nodes: &[u32]) {
        if !nodes.is_empty() {
            in_widest_vectors(Sweep { pass: self, nodes });
        }
    }

    #[inline(always)]
    fn order(&self) -> f64 {
        (self.coefficients.powers.len() - 1) as f64
    }

    /// Bounds a node where some are unsound.
    #[inline(never)]
    fn bound_beside_obstacles(&mut self, node: &Node) {
        let is_choice = matches!(node.is.start, Some(Op::Select(..)));
        match if is_choice { None } else { self.cause(node) } {
            Some(cause) => self.rows[node.row.index()] = Bound::unsound(cause),
            None => self.bound(node),
        }
    }

    /// Bounds a node whose operands are sound, as far as it needs them.
    #[inline(always)]
    fn bound(&mut self, node: &Node) {
        match node.kind {
            Kind::Negation(a) => self.put(node, negated(&self.rows[a.index()])),
            Kind::Sum(a, b) => self.put(node, sum(&self.rows[a.index()], &self.rows[b.index()])),
            Kind::Difference(a, b) => {
                self.put(node, difference(&self.rows[a.index()], &self.rows[b.index()]));
            }
            Kind::Product(a, b, beyond) => {
                let bound = self.product(a, b, beyond);
                self.put(node, bound);
            }
            Kind::Square(a, beyond) => {
                let bound = self.square(a, beyond);
                self.put(node, bound);
            }
            Kind::Ratio(a, b) => match self.ratio(a, b) {
                Some(bound) => self.put(node, bound),
                None => self.put_blame(node),
            },
            Kind::Quotient(a, b, beyond) => match self.quotient(node.row, a, b, beyond) {
                Some(bound) => self.put(node, bound),
                None => self.put_blame(node),
            },
            Kind::Root(a, beyond) => match self.root(node, a, beyond) {
                Some(bound) => self.put(node, bound),
                None => self.put_blame(node),
            },
            Kind::Other => {
                let bound = self.other(node);
                self.rows[node.row.index()] = bound;
                if bound.cause.is_none() && !bound.is_finite() {
                    self.put_blame(node);
                }
            }
        }
    }

    /// Takes what was found for a node, if all its numbers are finite.
    #[inline(always)]
    fn put(&mut self, node: &Node, bound: Bound) {
        self.rows[node.row.index()] = bound;
        if !bound.is_finite() {
            self.put_blame(node);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_blame(&mut self, node: &Node) {
        self.rows[node.row.index()] = self.blame(node);
    }

    /// The bound of a node that is neither a sum nor a product nor what undoes one.
    #[inline(never)]
    fn other(&mut self, at: &Node) -> Bound {
        let Node { row, is: node, .. } = *at;
        match (node.start, node.rule) {
            (None, rule) => self.identity(row, rule),
            (Some(Op::Select(c, a, b)), _) => self.select(at, c, a, b),
            (Some(Op::Table1(t, a)), _) => self.curve(at, t, a),
            (Some(Op::Table2(t, a, b)), _) => self.map(at, t, a, b),
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

    #[cold]
    #[inline(never)]
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

    #[inline(always)]
    fn extent(&mut self, row: Reg) -> Extent {
        self.polynomials.extent(&self.coefficients, row)
    }

    /// The terms of a product of two polynomials beyond the order.
    fn tail(&mut self, a: Reg, b: Reg) -> f64 {
        self.terms(self.tape.beyond(a, b))
    }

    #[inline(always)]
    fn terms(&mut self, beyond: Beyond) -> f64 {
        match beyond {
            Some(factors) => self.polynomials.tail(&self.coefficients, factors),
            None => 0.0,
        }
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

    /// A row whose polynomial is known, too: its values are near those of the polynomial.
    #[inline(always)]
    fn near(&self, extent: Extent, (range, radii): (Range, Radii)) -> Bound {
        let mut bound = Bound::new(range, radii, extent.size);
        let off = bound.radii.along() + bound.radii.spread * self.width;
        let near = extent.range(off * (1.0 + 8.0 * UNIT));
        let both = bound.range.intersection(near);
        // Both hold the values; only rounding could part them.
        if both.lo <= both.hi {
            bound.range = both;
        }
        bound.most = greater(extent.whole(), bound.most);
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

    #[inline(always)]
    fn product(&mut self, a: Reg, b: Reg, beyond: Beyond) -> Bound {
        let tail = self.terms(beyond);
        let (x, y) = (&self.rows[a.index()], &self.rows[b.index()]);
        self.product_bound(x, y, x.range.times(y.range), tail)
    }

    #[inline(always)]
    fn square(&mut self, a: Reg, beyond: Beyond) -> Bound {
        let tail = self.terms(beyond);
        let x = &self.rows[a.index()];
        self.product_bound(x, x, x.range.square(), tail)
    }

    #[inline(always)]
    fn product_bound(&self, x: &Bound, y: &Bound, range: Range, tail: f64) -> Bound {
        let size = product_size(x, y);
        let own = Radii { drift: self.rounding * size + TINY, tail, ..Radii::default() };
        Bound::new(range, product_radii(x, y).plus(own), size)
    }

    #[inline(always)]
    fn ratio(&self, a: Reg, b: Reg) -> Option<Bound> {
        let (x, y) = (&self.rows[a.index()], &self.rows[b.index()]);
        let least = y.range.mignitude();
        if least <= 0.0 {
            return None;
        }
        let range = x.range.div(y.range);
        let (size, most) = (x.size / least, range.magnitude());
        let radii = x.radii.plus(y.radii.times(most)).times(1.0 / least);
        let drift = (y.radii.start / least + 4.0 * UNIT) * size + TINY;
        let own = Radii { drift, start: 4.0 * UNIT * most + TINY, ..Radii::default() };
        Some(Bound::new(range, radii.plus(own), size))
    }

    /// N with N b = a up to the residual: a/b - N = ((a - N_a) - N (b - N_b) + residual) / b.
    #[inline(always)]
    fn quotient(&mut self, row: Reg, a: Reg, b: Reg, beyond: Beyond) -> Option<Bound> {
        let least = self.rows[b.index()].range.mignitude();
        if least <= 0.0 {
            return None;
        }
        let (tail, extent) = (self.terms(beyond), self.extent(row));
        let (x, y) = (&self.rows[a.index()], &self.rows[b.index()]);
        let (range, whole, inverse) = (x.range.div(y.range), extent.whole(), 1.0 / least);
        let values = greater(whole, range.magnitude());
        let radii = x.radii.plus(y.radii.times(values));
        let start = radii.start;
        let rounding = self.rounding * (whole * (y.most + y.size) + x.size) + TINY;
        let own = Radii { drift: extent.size * y.radii.start + rounding, tail, ..Radii::default() };
        let drift = (start + 4.0 * UNIT * x.most) * inverse * (y.variation() * inverse);
        let late = Radii { start: 4.0 * UNIT * values + TINY, drift, ..Radii::default() };
        Some(self.near(extent, (range, radii.plus(own).times(inverse).plus(late))))
    }

    /// N with N N = r up to the residual: sqrt(r) - N = ((r - N_r) + residual) / (sqrt(r) + N).
    #[inline(always)]
    fn root(&mut self, node: &Node, radicand: Reg, beyond: Beyond) -> Option<Bound> {
        let extent = self.extent(node.row);
        let Range { lo, hi } = self.rows[radicand.index()].range;
        let (low, lowest) = (lo.max(0.0).sqrt() * (1.0 - 4.0 * UNIT), extent.range(0.0).lo);
        if lo <= 0.0 || lowest.is_nan() || lowest <= 0.0 {
            return None;
        }
        let tail = self.terms(beyond);
        let r = &self.rows[radicand.index()];
        let (inverse, whole, steepness) = (1.0 / (low + lowest), extent.whole(), 0.5 / low);
        let rounding = self.rounding * (whole * whole + r.size) + TINY;
        let own = Radii { drift: rounding, tail, ..Radii::default() };
        let variation = extent.size + r.variation() * steepness;
        let drift = (r.radii.start + 4.0 * UNIT * r.most) * inverse * (variation * inverse);
        // A distance is at least the square root of what is computed for it.
        let is_root = matches!(node.is.start, Some(Op::Unary(Unary::Sqrt, _)));
        let accuracy = if is_root { 2.0 * UNIT } else { FUNCTION };
        let late = Radii { start: accuracy * whole + TINY, drift, ..Radii::default() };
        let mut radii = r.radii.plus(own).times(inverse).plus(late);
        radii.spread = r.radii.spread * steepness;
        let high = hi.sqrt() * (1.0 + 4.0 * UNIT);
        Some(self.near(extent, (Range { lo: low, hi: high }, radii)))
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
                (Residual { drift: self.rounding * size + TINY, tail: self.tail(a, b) }, size)
            }
            _ => (Residual { drift: f64::INFINITY, tail: f64::INFINITY }, f64::INFINITY),
        };
        let radii = Radii { drift: residual.drift, tail: residual.tail, ..Radii::default() };
        Bound::new(Range::point(0.0), radii, size)
    }

    /// The residual of y' = by a', integrated: the tail has orders beyond p, which divide it.
    fn chain_residual(&mut self, rate: Reg, by: Reg) -> Residual {
        let size = self.size_of(rate, by);
        Residual { drift: self.rounding * size + TINY, tail: self.tail(rate, by) / (self.order() + 1.0) }
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
                    Residual { drift: self.rounding * (1.0 + values * values), tail: self.tail(row, row) };
                (exp(2.0 * values * a.size), one.plus(square.times(a.size)), start)
            }
            _ => (exp(a.size), one, start),
        };
        let growth = 1.01 * growth;
        radii.drift += start * (growth - 1.0 + 2.0 * a.size) + growth * source.drift;
        radii.tail += growth * source.tail;
        radii.start += start;
        // Where neither the function nor its polynomial moves, they do not part, however far the argument goes.
        let extent = self.extent(row);
        let flat = steepness(op, a.range, range) * a.variation() + extent.size;
        if flat <= FLAT {
            (radii.drift, radii.tail) = (flat, 0.0);
        }
        self.near(extent, (range, radii))
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
        let rounding = self.rounding * (self.size_of(rate, by) + above.size) + TINY;
        let drift = rounding + above.radii.drift + 2.0 * size * (g.radii.start + g.radii.drift);
        radii.tail += tail / least;
        radii.drift += drift / least;
        if self.coefficients.places[row.index()].is_none() {
            return Bound::new(range, radii, size);
        }
        let extent = self.extent(row);
        self.near(extent, (range, radii))
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
        radii.drift += growth * ((self.rounding + UNIT) * sizes + TINY + start * c * a.size) / least;
        let extent = self.extent(row);
        self.near(extent, (range, radii))
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
        let product = product_radii(&u, &v);
        let size = by_x * u.size + by_y * v.size + by_xy * product_size(&u, &v);
        let whole = patch.value.abs() + by_x * u.most + by_y * v.most + by_xy * u.most * v.most;
        let mut radii = u.radii.times(by_x).plus(v.radii.times(by_y)).plus(product.times(by_xy));
        radii.start += 16.0 * UNIT * whole + TINY;
        radii.drift += 2.0 * self.rounding * (size + whole) + TINY;
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
