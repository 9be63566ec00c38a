//! Lowering: a program rewritten into rows of coefficients with one recurrence each.
//!
//! Every operation becomes one row whose coefficient of order 0 is the operation's own value and
//! whose higher coefficients follow a [`Rule`]; functions such as tan or asin add the auxiliary rows
//! their differential equation needs. Operations on rows that do not change in time are frozen.
//! The result depends on the degrees of the inputs and is kept with the program, one per pattern of
//! degrees.

use super::degree::{self, Degree};
use super::recurrence::{Lock, Rule};
use crate::graph::{Binary, Table, Unary};
use crate::program::{Op, Program, Reg};
use saltus_num::elementary::{self, PowerStep};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A row: its value at order 0 and its recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JetNode {
    /// The operation that gives the coefficient of order 0; rates have none.
    pub start: Option<Op>,
    /// The recurrence for higher orders.
    pub rule: Rule,
}

/// What a lock holds, from coefficients of order 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockRule {
    /// 1 / a
    Inverse(Reg),
    /// 0.5 / a
    HalfInverse(Reg),
    /// -1 if a is negative, else 1.
    Orientation(Reg),
    /// a itself.
    Value(Reg),
    /// 1 if min(a, b) is a, else 0.
    FirstIsMin(Reg, Reg),
    /// 1 if max(a, b) is a, else 0.
    FirstIsMax(Reg, Reg),
    /// floor(a / b)
    FloorQuotient(Reg, Reg),
    /// Slope of the line of a table at a.
    TableSlope(u32, Reg),
    /// Slope of the patch of a table at (a, b) in the first argument.
    PatchSlopeA(u32, Reg, Reg),
    /// Slope of the patch of a table at (a, b) in the second argument.
    PatchSlopeB(u32, Reg, Reg),
    /// Coefficient of the product of the patch of a table at (a, b).
    PatchProduct(u32, Reg, Reg),
}

impl LockRule {
    /// The number, with coefficients of order 0 read by `value`.
    pub fn evaluate<'t>(self, table: impl Fn(u32) -> &'t Arc<Table>, value: impl Fn(Reg) -> f64) -> f64 {
        let truth = |b: bool| f64::from(u8::from(b));
        match self {
            LockRule::Inverse(a) => 1.0 / value(a),
            LockRule::HalfInverse(a) => 0.5 / value(a),
            LockRule::Orientation(a) => {
                if value(a) < 0.0 {
                    -1.0
                } else {
                    1.0
                }
            }
            LockRule::Value(a) => value(a),
            LockRule::FirstIsMin(a, b) => truth(value(a) < value(b) || value(a).is_nan()),
            LockRule::FirstIsMax(a, b) => truth(value(a) > value(b) || value(a).is_nan()),
            LockRule::FloorQuotient(a, b) => elementary::floor(value(a) / value(b)),
            LockRule::TableSlope(t, a) => table(t).line(value(a)).slope,
            LockRule::PatchSlopeA(t, a, b) => {
                let patch = table(t).patch(value(a), value(b));
                patch.by_x + patch.by_xy * (value(b) - patch.y0)
            }
            LockRule::PatchSlopeB(t, a, b) => {
                let patch = table(t).patch(value(a), value(b));
                patch.by_y + patch.by_xy * (value(a) - patch.x0)
            }
            LockRule::PatchProduct(t, a, b) => table(t).patch(value(a), value(b)).by_xy,
        }
    }

    /// The same rule on other rows, with table indices moved up.
    pub fn map(self, row: impl Fn(Reg) -> Reg, tables: u32) -> LockRule {
        match self {
            LockRule::Inverse(a) => LockRule::Inverse(row(a)),
            LockRule::HalfInverse(a) => LockRule::HalfInverse(row(a)),
            LockRule::Orientation(a) => LockRule::Orientation(row(a)),
            LockRule::Value(a) => LockRule::Value(row(a)),
            LockRule::FirstIsMin(a, b) => LockRule::FirstIsMin(row(a), row(b)),
            LockRule::FirstIsMax(a, b) => LockRule::FirstIsMax(row(a), row(b)),
            LockRule::FloorQuotient(a, b) => LockRule::FloorQuotient(row(a), row(b)),
            LockRule::TableSlope(t, a) => LockRule::TableSlope(t + tables, row(a)),
            LockRule::PatchSlopeA(t, a, b) => LockRule::PatchSlopeA(t + tables, row(a), row(b)),
            LockRule::PatchSlopeB(t, a, b) => LockRule::PatchSlopeB(t + tables, row(a), row(b)),
            LockRule::PatchProduct(t, a, b) => LockRule::PatchProduct(t + tables, row(a), row(b)),
        }
    }

    /// The rows read, in order.
    pub fn operands(self) -> impl Iterator<Item = Reg> {
        let (items, len) = match self {
            LockRule::Inverse(a)
            | LockRule::HalfInverse(a)
            | LockRule::Orientation(a)
            | LockRule::Value(a)
            | LockRule::TableSlope(_, a) => ([a, a], 1),
            LockRule::FirstIsMin(a, b)
            | LockRule::FirstIsMax(a, b)
            | LockRule::FloorQuotient(a, b)
            | LockRule::PatchSlopeA(_, a, b)
            | LockRule::PatchSlopeB(_, a, b)
            | LockRule::PatchProduct(_, a, b) => ([a, b], 2),
        };
        items.into_iter().take(len)
    }
}

/// A program as rows: inputs first, then constants, then one row per node.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// Number of input rows.
    pub inputs: usize,
    /// Values of the constant rows.
    pub constants: Vec<f64>,
    /// The computed rows.
    pub nodes: Vec<JetNode>,
    /// Degree of every row.
    pub degrees: Vec<Degree>,
    /// True for rows with a coefficient of order 0; rates have none.
    pub starts: Vec<bool>,
    /// The locks, evaluated after all rows at order 0.
    pub locks: Vec<LockRule>,
    /// The rows that hold the outputs.
    pub outputs: Vec<Reg>,
    /// The tables operations refer to.
    pub tables: Vec<Arc<Table>>,
}

impl Lowered {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.degrees.len()
    }

    /// The value of a row that is a constant.
    pub fn constant(&self, row: Reg) -> Option<f64> {
        row.index().checked_sub(self.inputs).and_then(|i| self.constants.get(i).copied())
    }

    /// The row of the first node.
    pub fn first_node(&self) -> usize {
        self.inputs + self.constants.len()
    }

    /// True if no row depends on a later one.
    pub fn is_sequential(&self) -> bool {
        (self.first_node()..).zip(&self.nodes).all(|(y, node)| {
            let mut latest = 0;
            node.rule.map(
                |row| {
                    latest = latest.max(row.index());
                    row
                },
                |lock| lock,
            );
            latest <= y
        })
    }
}

/// The lowered forms of a program made so far. Not part of what the program is.
#[derive(Default)]
pub(crate) struct JetCache(Mutex<Vec<KnownForm>>);

/// Degrees of the inputs and the rows made for them.
type KnownForm = (Box<[Degree]>, Arc<Lowered>);

impl Clone for JetCache {
    fn clone(&self) -> Self {
        JetCache::default()
    }
}

impl std::fmt::Debug for JetCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JetCache")
    }
}

impl Program {
    /// The rows of this program for inputs of the given degrees.
    pub fn lowered(&self, inputs: &[Degree]) -> Arc<Lowered> {
        let mut known = self.jets.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, lowered)) = known.iter().find(|(degrees, _)| **degrees == *inputs) {
            return Arc::clone(lowered);
        }
        let lowered = Arc::new(Lowering::new(self, inputs).finish(self));
        known.push((inputs.into(), Arc::clone(&lowered)));
        lowered
    }
}

struct Lowering {
    rows: Lowered,
    /// The row of each register of the program.
    row_of: Vec<Reg>,
    one: Reg,
    rates: HashMap<Reg, Reg>,
    squares: HashMap<Reg, Reg>,
    pairs: HashMap<(Unary, Reg), (Reg, Reg)>,
    locks: HashMap<LockRule, Lock>,
}

impl Lowering {
    fn new(program: &Program, inputs: &[Degree]) -> Lowering {
        let constants: Vec<f64> = program.constants().chain([1.0]).collect();
        let mut degrees = inputs.to_vec();
        degrees.resize(inputs.len() + constants.len(), Degree::CONSTANT);
        let row_of = (0..program.first_op() as u32).map(Reg).collect();
        let tables = (0..program.tables() as u32).map(|t| Arc::clone(program.table(t))).collect();
        let one = Reg(degrees.len() as u32 - 1);
        let rows = Lowered {
            inputs: inputs.len(),
            constants,
            nodes: Vec::new(),
            starts: vec![true; degrees.len()],
            degrees,
            locks: Vec::new(),
            outputs: Vec::new(),
            tables,
        };
        Lowering {
            rows,
            row_of,
            one,
            rates: HashMap::new(),
            squares: HashMap::new(),
            pairs: HashMap::new(),
            locks: HashMap::new(),
        }
    }

    fn finish(mut self, program: &Program) -> Lowered {
        for &op in program.ops() {
            let op = op.map(|r| self.row_of[r.index()]);
            let row = self.operation(op);
            self.row_of.push(row);
        }
        self.rows.outputs = program.outputs().iter().map(|r| self.row_of[r.index()]).collect();
        self.rows
    }

    fn degree(&self, row: Reg) -> Degree {
        self.rows.degrees[row.index()]
    }

    fn next_row(&self, ahead: u32) -> Reg {
        Reg(self.rows.degrees.len() as u32 + ahead)
    }

    fn push(&mut self, start: Option<Op>, rule: Rule, degree: Degree) -> Reg {
        let row = self.next_row(0);
        self.rows.nodes.push(JetNode { start, rule });
        self.rows.degrees.push(degree);
        self.rows.starts.push(start.is_some());
        row
    }

    /// A row for a function without degree bound.
    fn endless(&mut self, start: Option<Op>, rule: Rule) -> Reg {
        self.push(start, rule, Degree::UNBOUNDED)
    }

    fn lock(&mut self, rule: LockRule) -> Lock {
        let locks = &mut self.rows.locks;
        *self.locks.entry(rule).or_insert_with(|| {
            locks.push(rule);
            Lock(locks.len() as u32 - 1)
        })
    }

    fn operation(&mut self, op: Op) -> Reg {
        let tables = &self.rows.tables;
        let degree = degree::of_op(op, |t| &tables[t as usize], |r| self.rows.degrees[r.index()]);
        if degree.is_constant() {
            return self.push(Some(op), Rule::Frozen, degree);
        }
        match op {
            Op::Unary(function, a) => self.unary(function, a),
            Op::Binary(function, a, b) => self.binary(function, a, b),
            Op::Powi(a, n) => self.whole_power(a, n),
            Op::Select(c, a, b) => {
                let first = self.lock(LockRule::Value(c));
                self.push(Some(op), Rule::Steer { first, a, b }, degree)
            }
            Op::Table1(t, a) => {
                let by = self.lock(LockRule::TableSlope(t, a));
                self.push(Some(op), Rule::Scale { by, a }, degree)
            }
            Op::Table2(t, a, b) => {
                let by_a = self.lock(LockRule::PatchSlopeA(t, a, b));
                let by_b = self.lock(LockRule::PatchSlopeB(t, a, b));
                let by_ab = self.lock(LockRule::PatchProduct(t, a, b));
                self.push(Some(op), Rule::Bilinear { a, b, by_a, by_b, by_ab }, degree)
            }
        }
    }

    fn unary(&mut self, function: Unary, a: Reg) -> Reg {
        let start = Some(Op::Unary(function, a));
        match function {
            Unary::Neg => self.push(start, Rule::Neg(a), self.degree(a)),
            Unary::Abs => {
                let by = self.lock(LockRule::Orientation(a));
                self.push(start, Rule::Scale { by, a }, self.degree(a))
            }
            Unary::Clip => {
                let first = self.lock(LockRule::Value(self.one));
                self.push(start, Rule::Steer { first, a, b: a }, self.degree(a))
            }
            Unary::Sqrt => self.root(start, a),
            Unary::Exp => {
                let rate = self.rate(a);
                let by = self.next_row(0);
                self.endless(start, Rule::Chain { of: a, rate, by, negate: false })
            }
            Unary::Sin | Unary::Sinh => self.sine_pair(function, a).0,
            Unary::Cos => self.sine_pair(Unary::Sin, a).1,
            Unary::Cosh => self.sine_pair(Unary::Sinh, a).1,
            Unary::Tan | Unary::Tanh => self.tangent(function, a),
            Unary::Log => self.integral_of_quotient(start, a, a, false),
            Unary::Asin | Unary::Acos | Unary::Atan | Unary::Asinh | Unary::Acosh | Unary::Atanh => {
                let by = self.inverse_slope(function, a);
                self.integral_of_quotient(start, a, by, function == Unary::Acos)
            }
            Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil => {
                self.push(start, Rule::Frozen, Degree::CONSTANT)
            }
        }
    }

    fn rate(&mut self, a: Reg) -> Reg {
        if let Some(&rate) = self.rates.get(&a) {
            return rate;
        }
        let rate = self.push(None, Rule::Rate(a), self.degree(a));
        self.rates.insert(a, rate);
        rate
    }

    fn square(&mut self, a: Reg) -> Reg {
        if let Some(&square) = self.squares.get(&a) {
            return square;
        }
        let degree = self.degree(a).plus(self.degree(a));
        let square = self.push(Some(Op::Binary(Binary::Mul, a, a)), Rule::Square(a), degree);
        self.squares.insert(a, square);
        square
    }

    fn sum(&mut self, a: Reg, b: Reg) -> Reg {
        let degree = self.degree(a).max(self.degree(b));
        self.push(Some(Op::Binary(Binary::Add, a, b)), Rule::Add(a, b), degree)
    }

    fn difference(&mut self, a: Reg, b: Reg) -> Reg {
        let degree = self.degree(a).max(self.degree(b));
        self.push(Some(Op::Binary(Binary::Sub, a, b)), Rule::Sub(a, b), degree)
    }

    fn product(&mut self, a: Reg, b: Reg) -> Reg {
        if a == b {
            return self.square(a);
        }
        let degree = self.degree(a).plus(self.degree(b));
        self.push(Some(Op::Binary(Binary::Mul, a, b)), Rule::Mul(a, b), degree)
    }

    /// A product with a rate, which has no coefficient of order 0.
    fn product_with_rate(&mut self, a: Reg, rate: Reg) -> Reg {
        let degree = self.degree(a).plus(self.degree(rate));
        self.push(None, Rule::Mul(a, rate), degree)
    }

    fn quotient(&mut self, a: Reg, b: Reg) -> Reg {
        let degree = if self.degree(b).is_constant() { self.degree(a) } else { Degree::UNBOUNDED };
        let inverse = self.lock(LockRule::Inverse(b));
        self.push(Some(Op::Binary(Binary::Div, a, b)), Rule::Div { a, b, inverse }, degree)
    }

    fn root(&mut self, start: Option<Op>, radicand: Reg) -> Reg {
        let inverse = self.lock(LockRule::HalfInverse(self.next_row(0)));
        self.endless(start, Rule::Root { radicand, inverse })
    }

    /// y with `by` dy = da.
    fn integral_of_quotient(&mut self, start: Option<Op>, a: Reg, by: Reg, negate: bool) -> Reg {
        let rate = self.rate(a);
        self.integral_of_rate(start, rate, by, negate)
    }

    fn integral_of_rate(&mut self, start: Option<Op>, rate: Reg, by: Reg, negate: bool) -> Reg {
        let inverse = self.lock(LockRule::Inverse(by));
        let rate = self.endless(None, Rule::Quotient { rate, by, inverse });
        self.endless(start, Rule::Integral { rate, negate })
    }

    fn sine_pair(&mut self, sine: Unary, a: Reg) -> (Reg, Reg) {
        if let Some(&pair) = self.pairs.get(&(sine, a)) {
            return pair;
        }
        let cosine = if sine == Unary::Sin { Unary::Cos } else { Unary::Cosh };
        let rate = self.rate(a);
        let pair = (self.next_row(0), self.next_row(1));
        let turn = sine == Unary::Sin;
        self.endless(Some(Op::Unary(sine, a)), Rule::Chain { of: a, rate, by: pair.1, negate: false });
        self.endless(Some(Op::Unary(cosine, a)), Rule::Chain { of: a, rate, by: pair.0, negate: turn });
        self.pairs.insert((sine, a), pair);
        pair
    }

    /// dt = (1 + t t) da, or (1 - t t) da for the hyperbolic tangent.
    fn tangent(&mut self, function: Unary, a: Reg) -> Reg {
        let rate = self.rate(a);
        let by = self.next_row(2);
        let start = Some(Op::Unary(function, a));
        let tangent = self.endless(start, Rule::Chain { of: a, rate, by, negate: false });
        let square = self.square(tangent);
        if function == Unary::Tan {
            self.sum(self.one, square)
        } else {
            self.difference(self.one, square)
        };
        tangent
    }

    /// The divisor g of dy = da / g for an inverse function of a.
    fn inverse_slope(&mut self, function: Unary, a: Reg) -> Reg {
        let square = self.square(a);
        let argument = match function {
            Unary::Atan | Unary::Asinh => self.sum(self.one, square),
            Unary::Acosh => self.difference(square, self.one),
            _ => self.difference(self.one, square),
        };
        match function {
            Unary::Atan | Unary::Atanh => argument,
            _ => self.root(Some(Op::Unary(Unary::Sqrt, argument)), argument),
        }
    }

    fn binary(&mut self, function: Binary, a: Reg, b: Reg) -> Reg {
        let start = Some(Op::Binary(function, a, b));
        let degree = self.degree(a).max(self.degree(b));
        match function {
            Binary::Add => self.sum(a, b),
            Binary::Sub => self.difference(a, b),
            Binary::Mul => self.product(a, b),
            Binary::Div => self.quotient(a, b),
            Binary::Pow => self.power(start, a, b),
            Binary::Atan2 => self.angle(start, a, b),
            Binary::Hypot => {
                let (x, y) = (self.square(a), self.square(b));
                let sum = self.sum(x, y);
                self.root(start, sum)
            }
            Binary::Min => {
                let first = self.lock(LockRule::FirstIsMin(a, b));
                self.push(start, Rule::Steer { first, a, b }, degree)
            }
            Binary::Max => {
                let first = self.lock(LockRule::FirstIsMax(a, b));
                self.push(start, Rule::Steer { first, a, b }, degree)
            }
            Binary::Mod => {
                let quotient = self.lock(LockRule::FloorQuotient(a, b));
                self.push(start, Rule::Remainder { a, b, quotient }, degree)
            }
            Binary::Lt | Binary::Le | Binary::Eq | Binary::And | Binary::Or => {
                self.push(start, Rule::Frozen, Degree::CONSTANT)
            }
        }
    }

    /// With a constant exponent by a dy = c y da, otherwise as the exponential of b log a.
    fn power(&mut self, start: Option<Op>, a: Reg, b: Reg) -> Reg {
        if self.degree(b).is_constant() {
            let base_rate = self.rate(a);
            let inverse = self.lock(LockRule::Inverse(a));
            let rate = self.next_row(1);
            let power = self.endless(start, Rule::Power { base: a, base_rate, rate, exponent: b, inverse });
            self.rate(power);
            return power;
        }
        let logarithm = self.operation(Op::Unary(Unary::Log, a));
        let exponent = self.product(b, logarithm);
        let rate = self.rate(exponent);
        let by = self.next_row(0);
        self.endless(start, Rule::Chain { of: exponent, rate, by, negate: false })
    }

    /// (a a + b b) dy = b da - a db.
    fn angle(&mut self, start: Option<Op>, a: Reg, b: Reg) -> Reg {
        let (x, y) = (self.square(a), self.square(b));
        let by = self.sum(x, y);
        let numerator = match (self.degree(a).is_constant(), self.degree(b).is_constant()) {
            (false, true) => {
                let rate = self.rate(a);
                self.product_with_rate(b, rate)
            }
            (true, _) => {
                let rate = self.rate(b);
                let product = self.product_with_rate(a, rate);
                self.push(None, Rule::Neg(product), self.degree(product))
            }
            (false, false) => {
                let (of_a, of_b) = (self.rate(a), self.rate(b));
                let (left, right) = (self.product_with_rate(b, of_a), self.product_with_rate(a, of_b));
                let degree = self.degree(left).max(self.degree(right));
                self.push(None, Rule::Sub(left, right), degree)
            }
        };
        self.integral_of_rate(start, numerator, by, false)
    }

    fn whole_power(&mut self, a: Reg, n: i32) -> Reg {
        let power = elementary::power_chain(n.unsigned_abs()).fold(a, |value, step| match step {
            PowerStep::Square => self.square(value),
            PowerStep::Multiply => self.product(value, a),
        });
        if n > 0 { power } else { self.quotient(self.one, power) }
    }
}
