//! Order 0: the range of every row on the box, its distance from the value computed at the point,
//! and whether the row can be relied upon.
//!
//! The radius at the point follows from the mean value theorem: the range on the box holds both the
//! exact and the computed argument, so a bound L of the derivative there gives L times the radius of
//! the argument; elementary functions are taken to be within [`ULPS`] units in the last place. The
//! radius on the box is the distance to the ends of the range, which is not symmetric. A row that
//! does not change in time has the same radius in both.
//!
//! A row is *unsound* if a function in it may leave its domain on the box or a switch in it may not
//! stay as it is at the point. What is made of an unsound row is unsound, except a choice that is
//! surely the other one. The row that is to blame is remembered.

use super::arithmetic::{Ball, UNIT};
use super::tape::{Node, Part, Tape};
use crate::graph::{Binary, Table, Unary};
use crate::interval;
use crate::jet::range::{Range, TINY};
use crate::jet::recurrence::Rule;
use crate::jet::{Degree, LockRule};
use crate::program::{Op, Reg};
use crate::vm;
use saltus_num::elementary as f;
use saltus_num::interval::ULPS;

/// Relative error of an elementary function.
const FUNCTION: f64 = 2.0 * ULPS as f64 * UNIT;

/// What is to blame for a row.
pub(super) type Cause = Option<Reg>;

/// Range, radius at the point and blame of a row.
struct Value {
    range: Range,
    rounding: f64,
    cause: Cause,
}

impl Value {
    fn sound(range: Range, rounding: f64) -> Value {
        Value { range, rounding, cause: None }
    }

    fn unsound(cause: Reg) -> Value {
        Value { range: Range::TRUTH, rounding: f64::INFINITY, cause: Some(cause) }
    }
}

/// Order 0 of the rows of a part of the tape.
pub(super) struct Start<'a> {
    pub tape: &'a Tape,
    pub rows: &'a mut [Ball],
    pub span: usize,
    pub ranges: &'a mut [Range],
    pub causes: &'a mut [Cause],
    pub locks: &'a mut [Ball],
}

impl Start<'_> {
    /// The values at the point.
    pub fn midpoints(&mut self, part: &Part) {
        for &i in &part.nodes {
            let node = &self.tape.nodes[i as usize];
            let Some(op) = node.start else { continue };
            let value = |r: Reg| self.rows[r.index() * self.span].mid;
            let mid = vm::apply(op, |t| &self.tape.tables[t as usize], value);
            self.rows[node.row.index() * self.span].mid = mid;
        }
        for &i in &part.locks {
            let value = |r: Reg| self.rows[r.index() * self.span].mid;
            let lock = self.tape.locks[i as usize];
            self.locks[i as usize].mid = lock.evaluate(|t| &self.tape.tables[t as usize], value);
        }
    }

    /// The ranges on the box and all radii.
    pub fn enclose(&mut self, part: &Part) {
        for &i in &part.nodes {
            let node = self.tape.nodes[i as usize];
            match node.start {
                Some(op) => self.enclose_value(node, op),
                None => self.causes[node.row.index()] = self.blame_rule(node),
            }
        }
        for &i in &part.locks {
            let lock = self.enclose_lock(self.tape.locks[i as usize], self.locks[i as usize].mid);
            self.locks[i as usize] = lock.inflated();
        }
    }

    fn enclose_value(&mut self, node: Node, op: Op) {
        let row = node.row;
        let mid = self.mid(row);
        let constant = self.tape.degrees[row.index()] == Degree::CONSTANT;
        let mut value = match self.blame_rule(node) {
            // An auxiliary row of this very function is blamed as the function.
            Some(cause) => {
                Value::unsound(op.operands().find_map(|r| self.cause(r).and(Some(cause))).unwrap_or(row))
            }
            None => self.operation(node, op, constant),
        };
        if constant && value.cause.is_none() && !value.range.is_point() {
            value.range = Range::around(mid, value.rounding);
        }
        if value.cause.is_none() && !(mid.is_finite() && value.range.is_finite()) {
            value = Value::unsound(row);
        }
        let spread = if constant { value.rounding } else { value.range.distance(mid) };
        self.rows[row.index() * self.span] = Ball { mid, radius: [value.rounding, spread] }.inflated();
        self.ranges[row.index()] = value.range;
        self.causes[row.index()] = value.cause;
    }

    fn mid(&self, row: Reg) -> f64 {
        self.rows[row.index() * self.span].mid
    }

    fn rounding(&self, row: Reg) -> f64 {
        self.rows[row.index() * self.span].radius[0]
    }

    fn range(&self, row: Reg) -> Range {
        self.ranges[row.index()]
    }

    fn cause(&self, row: Reg) -> Cause {
        self.causes[row.index()]
    }

    fn has_zero(&self, row: Reg) -> bool {
        self.range(row).contains(0.0)
    }

    /// What the recurrence of a node may be divided by, or be made from, that is unsound.
    fn blame_rule(&self, node: Node) -> Cause {
        let divisor = |by: Reg| self.cause(by).or(self.has_zero(by).then_some(node.row));
        match node.rule {
            Rule::Rate(a) | Rule::Neg(a) => self.cause(a),
            Rule::Mul(a, b) | Rule::Sub(a, b) => self.cause(a).or(self.cause(b)),
            Rule::Quotient { rate, by, .. } => self.cause(rate).or_else(|| divisor(by)),
            Rule::PowerRate { base, base_rate, .. } => self.cause(base_rate).or_else(|| divisor(base)),
            Rule::Integral { rate, .. } | Rule::Chain { rate, .. } => self.cause(rate),
            Rule::Root { radicand, .. } => {
                let below = self.range(radicand).lo <= 0.0;
                self.cause(radicand).or(below.then_some(node.row))
            }
            _ => None,
        }
    }

    fn operation(&self, node: Node, op: Op, constant: bool) -> Value {
        match op {
            Op::Unary(function, a) => match self.cause(a) {
                Some(cause) => Value::unsound(cause),
                None => self.unary(node, function, a, constant),
            },
            Op::Binary(function @ (Binary::And | Binary::Or), a, b) => {
                self.junction(node.row, function, a, b)
            }
            Op::Binary(function, a, b) => match self.cause(a).or(self.cause(b)) {
                Some(cause) => Value::unsound(cause),
                None => self.binary(node.row, function, a, b),
            },
            Op::Powi(a, n) => match self.cause(a) {
                Some(cause) => Value::unsound(cause),
                None => self.whole_power(node.row, a, n),
            },
            Op::Select(c, a, b) => match (self.cause(c), self.truth(c)) {
                (Some(cause), _) => Value::unsound(cause),
                (None, Some(first)) => self.same_as(if first { a } else { b }),
                (None, None) => Value::unsound(node.row),
            },
            Op::Table1(t, a) => match self.cause(a) {
                Some(cause) => Value::unsound(cause),
                None => self.curve(node.row, t, a),
            },
            Op::Table2(t, a, b) => match self.cause(a).or(self.cause(b)) {
                Some(cause) => Value::unsound(cause),
                None => self.map(node.row, t, a, b),
            },
        }
    }

    fn same_as(&self, row: Reg) -> Value {
        Value { range: self.range(row), rounding: self.rounding(row), cause: self.cause(row) }
    }

    /// The truth of a row, if it is the same all over the box.
    fn truth(&self, row: Reg) -> Option<bool> {
        let range = self.range(row);
        if range == Range::point(0.0) { Some(false) } else { (!range.contains(0.0)).then_some(true) }
    }

    /// A value that must be one number all over the box.
    fn switch(&self, row: Reg, range: Range) -> Value {
        if range.is_point() { Value::sound(range, 0.0) } else { Value::unsound(row) }
    }

    fn junction(&self, row: Reg, function: Binary, a: Reg, b: Reg) -> Value {
        let known = |r: Reg| if self.cause(r).is_some() { Range::TRUTH } else { self.range(r) }.interval();
        let range = Range::of(interval::binary(function, known(a), known(b)).range);
        match self.cause(a).or(self.cause(b)) {
            Some(cause) if !range.is_point() => Value::unsound(cause),
            _ => self.switch(row, range),
        }
    }

    fn unary(&self, node: Node, function: Unary, a: Reg, constant: bool) -> Value {
        let (row, mid, x) = (node.row, self.mid(node.row), self.range(a));
        match function {
            Unary::Neg => Value::sound(x.neg(), self.rounding(a)),
            Unary::Abs => {
                // The lock turns what is negative at the point and nothing else.
                let stays = if self.mid(a) < 0.0 { x.hi <= 0.0 } else { x.lo >= 0.0 };
                if stays { Value::sound(x.abs(), self.rounding(a)) } else { Value::unsound(row) }
            }
            Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil => {
                self.switch(row, Range::of(interval::unary(function, x.interval()).range))
            }
            Unary::Sin | Unary::Cos if !constant => {
                Value::sound(self.wave(node, function, a), self.rounding(a) + FUNCTION * mid.abs() + TINY)
            }
            _ => {
                let enclosure = interval::unary(function, x.interval());
                if !enclosure.defined {
                    return Value::unsound(row);
                }
                let y = Range::of(enclosure.range);
                let moved = times(steepness(function, x, y), self.rounding(a));
                // The square root is rounded exactly.
                let accuracy = if function == Unary::Sqrt { UNIT } else { FUNCTION };
                Value::sound(y, moved + accuracy * mid.abs() + TINY)
            }
        }
    }

    /// Sine or cosine about the midpoint: sin(m + d) = sin(m) cos(d) + cos(m) sin(d), where cos(d)
    /// is between 1 - d d / 2 and 1 and sin(d) between 0 and d.
    fn wave(&self, node: Node, function: Unary, a: Reg) -> Range {
        let (x, at) = (self.range(a), self.mid(a));
        let (below, above) = (Range::point(at).sub(x), x.sub(Range::point(at)));
        let (below, above) = (below.hi.max(0.0), above.hi.max(0.0));
        let far = below.max(above);
        let Rule::Chain { by, .. } = node.rule else {
            return Range::of(interval::unary(function, x.interval()).range);
        };
        if far > 1.0 {
            return Range::of(interval::unary(function, x.interval()).range);
        }
        let near = |row: Reg| Range::around(self.mid(row), FUNCTION * self.mid(row).abs() + TINY);
        let slope = if function == Unary::Sin { near(by) } else { near(by).neg() };
        let level = Range { lo: 1.0 - 0.5001 * far * far, hi: 1.0 };
        let wave = near(node.row).mul(level).add(slope.mul(Range { lo: -below, hi: above }));
        wave.intersection(Range { lo: -1.0, hi: 1.0 })
    }

    fn binary(&self, row: Reg, function: Binary, a: Reg, b: Reg) -> Value {
        let (x, y, mid) = (self.range(a), self.range(b), self.mid(row));
        let (ra, rb) = (self.rounding(a), self.rounding(b));
        let half_ulp = UNIT * mid.abs() + TINY;
        match function {
            Binary::Add => Value::sound(x.add(y), ra + rb + half_ulp),
            Binary::Sub => Value::sound(x.sub(y), ra + rb + half_ulp),
            Binary::Mul => {
                let product = Ball::rounded(self.mid(a), ra).mul(Ball::rounded(self.mid(b), rb));
                Value::sound(if a == b { x.square() } else { x.mul(y) }, product.radius[0])
            }
            Binary::Div if y.contains(0.0) => Value::unsound(row),
            Binary::Div => {
                // a/b - m/n = ((a - m) - (m/n) (b - n)) / b
                let moved = (ra + mid.abs() * rb) / y.mignitude();
                Value::sound(x.div(y), moved * (1.0 + 8.0 * UNIT) + half_ulp)
            }
            Binary::Min if x.hi <= y.lo && self.mid(a) < self.mid(b) => self.same_as(a),
            Binary::Min if y.hi <= x.lo && self.mid(a) >= self.mid(b) => self.same_as(b),
            Binary::Max if x.lo >= y.hi && self.mid(a) > self.mid(b) => self.same_as(a),
            Binary::Max if y.lo >= x.hi && self.mid(a) <= self.mid(b) => self.same_as(b),
            Binary::Min | Binary::Max => Value::unsound(row),
            Binary::Mod if y.contains(0.0) => Value::unsound(row),
            Binary::Mod => {
                let quotient = Range::of(x.div(y).interval().floor());
                let remainder = x.sub(quotient.mul(y));
                let back = quotient.magnitude() * (rb + 4.0 * UNIT * y.magnitude());
                let value = Value::sound(remainder, ra + back + half_ulp);
                if quotient.is_point() { value } else { Value::unsound(row) }
            }
            Binary::Lt | Binary::Le | Binary::Eq => {
                self.switch(row, Range::of(interval::binary(function, x.interval(), y.interval()).range))
            }
            Binary::Hypot | Binary::Atan2 | Binary::Pow => self.function_of_two(row, function, a, b),
            Binary::And | Binary::Or => self.junction(row, function, a, b),
        }
    }

    fn function_of_two(&self, row: Reg, function: Binary, a: Reg, b: Reg) -> Value {
        let (x, y, mid) = (self.range(a), self.range(b), self.mid(row));
        let (ra, rb) = (self.rounding(a), self.rounding(b));
        let enclosure = interval::binary(function, x.interval(), y.interval());
        let value = Range::of(enclosure.range);
        let moved = match function {
            Binary::Hypot => ra + rb,
            // The angle jumps where the abscissa is negative and the ordinate changes sign.
            Binary::Atan2 if !x.is_point() && x.contains(0.0) && y.lo <= 0.0 => return Value::unsound(row),
            Binary::Atan2 => times(1.01 / x.mignitude().hypot(y.mignitude()), ra + rb),
            _ => {
                let by_base = times(1.01 * y.magnitude() * value.magnitude() / x.mignitude(), ra);
                let log = x.lo.abs().ln().abs().max(x.hi.abs().ln().abs());
                by_base + times(1.01 * value.magnitude() * log, rb)
            }
        };
        if !enclosure.defined {
            return Value::unsound(row);
        }
        Value::sound(value, moved + FUNCTION * mid.abs() + TINY)
    }

    /// Only powers that do not change in time come here; the others are products.
    fn whole_power(&self, row: Reg, a: Reg, n: i32) -> Value {
        let x = self.range(a);
        let enclosure = x.interval().powi(n);
        if !enclosure.defined {
            return Value::unsound(row);
        }
        let size = f64::from(n.unsigned_abs());
        let base = if n >= 1 { x.magnitude() } else { x.mignitude() };
        let steepness = 1.01 * size * f::powi(base, n.saturating_sub(1)).abs();
        let rounding = times(steepness, self.rounding(a)) + 2.0 * (size + 2.0) * UNIT * self.mid(row).abs();
        Value::sound(Range::of(enclosure.range), rounding + TINY)
    }

    fn table(&self, t: u32) -> &Table {
        &self.tape.tables[t as usize]
    }

    /// A table over one argument that stays on one line.
    fn curve(&self, row: Reg, t: u32, a: Reg) -> Value {
        let (x, table) = (self.range(a), self.table(t));
        let line = table.line(self.mid(a));
        if !(line.value.is_finite() && table.line(x.lo) == line && table.line(x.hi) == line) {
            return Value::unsound(row);
        }
        let read = |x: Range| {
            let [value, slope, at] = [line.value, line.slope, line.at].map(Range::point);
            if line.slope == 0.0 { value } else { value.add(slope.mul(x.sub(at))) }
        };
        let near = read(Range::around(self.mid(a), self.rounding(a)));
        Value::sound(read(x), if line.slope == 0.0 { 0.0 } else { near.distance(self.mid(row)) })
    }

    /// A table over two arguments that stays on one patch.
    fn map(&self, row: Reg, t: u32, a: Reg, b: Reg) -> Value {
        let (x, y, table) = (self.range(a), self.range(b), self.table(t));
        let patch = table.patch(self.mid(a), self.mid(b));
        let corners = [(x.lo, y.lo), (x.lo, y.hi), (x.hi, y.lo), (x.hi, y.hi)];
        if !patch.value.is_finite() || corners.iter().any(|&(x, y)| table.patch(x, y) != patch) {
            return Value::unsound(row);
        }
        let read = |x: Range, y: Range| {
            let [x0, y0, value] = [patch.x0, patch.y0, patch.value].map(Range::point);
            let [by_x, by_y, by_xy] = [patch.by_x, patch.by_y, patch.by_xy].map(Range::point);
            let (u, v) = (x.sub(x0), y.sub(y0));
            value.add(by_x.mul(u)).add(by_y.mul(v)).add(by_xy.mul(u.mul(v)))
        };
        let flat = patch.by_x == 0.0 && patch.by_y == 0.0 && patch.by_xy == 0.0;
        if flat {
            return Value::sound(Range::point(patch.value), 0.0);
        }
        let around = |r: Reg| Range::around(self.mid(r), self.rounding(r));
        let near = read(around(a), around(b));
        Value::sound(read(x, y), near.distance(self.mid(row)))
    }

    /// A lock as a ball; that switches stay was found with the rows they belong to.
    fn enclose_lock(&self, lock: LockRule, mid: f64) -> Ball {
        match lock {
            LockRule::Inverse(a) => self.inverse(a, mid, 1.0),
            LockRule::HalfInverse(a) => self.inverse(a, mid, 0.5),
            LockRule::PatchSlopeA(t, a, b) => self.patch_slope(t, a, b, b, mid),
            LockRule::PatchSlopeB(t, a, b) => self.patch_slope(t, a, b, a, mid),
            LockRule::Orientation(_)
            | LockRule::Value(_)
            | LockRule::FirstIsMin(..)
            | LockRule::FirstIsMax(..)
            | LockRule::FloorQuotient(..)
            | LockRule::TableSlope(..)
            | LockRule::PatchProduct(..) => Ball::exact(mid),
        }
    }

    fn inverse(&self, a: Reg, mid: f64, numerator: f64) -> Ball {
        let x = self.range(a);
        let moved = mid.abs() * (self.rounding(a) / x.mignitude());
        let rounding = moved * (1.0 + 8.0 * UNIT) + 2.0 * UNIT * mid.abs() + TINY;
        let spread = if self.tape.degrees[a.index()].is_constant() {
            rounding
        } else {
            Range::point(numerator).mul(x.inverse()).distance(mid)
        };
        Ball { mid, radius: [rounding, spread] }
    }

    /// by + by_xy (other - other0), which moves with the other argument.
    fn patch_slope(&self, t: u32, a: Reg, b: Reg, other: Reg, mid: f64) -> Ball {
        let patch = self.table(t).patch(self.mid(a), self.mid(b));
        let from = if other == a { patch.x0 } else { patch.y0 };
        let along = patch.by_xy.abs() * ((self.mid(other) - from).abs() + TINY);
        let rounding = 4.0 * UNIT * (along + mid.abs()) + TINY;
        let ball = self.rows[other.index() * self.span];
        Ball { mid, radius: ball.radius.map(|r| patch.by_xy.abs() * r + rounding) }
    }
}

/// A slope times a distance; nothing moves by no distance, however steep.
fn times(slope: f64, distance: f64) -> f64 {
    if distance == 0.0 { 0.0 } else { slope * distance }
}

/// A bound of the derivative of a function with arguments `x` and values `y`.
fn steepness(function: Unary, x: Range, y: Range) -> f64 {
    let slope = match function {
        Unary::Sqrt => 0.5 / y.lo,
        Unary::Exp => y.hi,
        Unary::Log => 1.0 / x.lo,
        Unary::Tan => 1.0 + y.magnitude() * y.magnitude(),
        Unary::Asin | Unary::Acos => 1.0 / (1.0 - x.magnitude() * x.magnitude()).max(0.0).sqrt(),
        Unary::Sinh => f::cosh(x.magnitude()),
        Unary::Cosh => f::sinh(x.magnitude()),
        Unary::Acosh => 1.0 / (x.lo * x.lo - 1.0).max(0.0).sqrt(),
        Unary::Atanh => 1.0 / (1.0 - x.magnitude() * x.magnitude()),
        _ => 1.0,
    };
    1.01 * slope
}
