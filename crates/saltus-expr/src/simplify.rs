//! Constructors that simplify: the way to build expressions.
//!
//! What they return has the value of the plain node wherever that node exists, computed by the same
//! arithmetic ([`crate::vm`]), bit for bit, with two exceptions: a zero may change its sign, and a
//! power whose exponent is a small whole constant is formed by multiplication. It also has the same
//! sort, except that a whole power of an Integer stays an Integer.
//!
//! A simplification never hides that an operand leaves its domain. So `x * 0`, `0 / x`, `x - x`,
//! `x / x` and `x <= x` stay as they are, and an operation on constants that makes an infinity or
//! NaN is kept for the run to report. Nothing is regrouped or reordered, since sums and products
//! round.

use crate::graph::{Binary, Expr, Graph, Node, Sort, TableId, Unary};
use crate::vm;
use saltus_num::elementary;

/// Constant exponents up to this size become whole powers.
pub(crate) const GREATEST_WHOLE_POWER: f64 = 1024.0;

impl Graph {
    /// The expression for a node, simplified.
    pub fn make(&mut self, node: Node) -> Expr {
        if let Some(constant) = self.fold(node) {
            return constant;
        }
        self.simpler(node).unwrap_or_else(|| self.intern(node))
    }

    /// A function of one argument.
    pub fn unary(&mut self, op: Unary, a: Expr) -> Expr {
        self.make(Node::Unary(op, a))
    }

    /// A function of two arguments.
    ///
    /// ```
    /// use saltus_expr::{Binary, Graph, Sort, VarId};
    /// let mut g = Graph::new();
    /// let (x, one, two) = (g.var(VarId(0), Sort::Real), g.real(1.0), g.real(2.0));
    /// let three = g.binary(Binary::Add, one, two);
    /// assert_eq!(g.constant(three), Some(3.0));
    /// assert_eq!(g.binary(Binary::Mul, one, x), x);
    /// ```
    pub fn binary(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
        self.make(Node::Binary(op, a, b))
    }

    /// `a + b`.
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Add, a, b)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Sub, a, b)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Mul, a, b)
    }

    /// `a / b`.
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Div, a, b)
    }

    /// `-a`.
    pub fn neg(&mut self, a: Expr) -> Expr {
        self.unary(Unary::Neg, a)
    }

    /// `not a`.
    pub fn not(&mut self, a: Expr) -> Expr {
        self.unary(Unary::Not, a)
    }

    /// `a and b`.
    pub fn and(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::And, a, b)
    }

    /// `a or b`.
    pub fn or(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Or, a, b)
    }

    /// `a < b`.
    pub fn lt(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Lt, a, b)
    }

    /// `a <= b`.
    pub fn le(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Le, a, b)
    }

    /// `a ^ b`; a whole power if `b` is a small whole constant.
    pub fn pow(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Pow, a, b)
    }

    /// `a ^ n` by repeated multiplication.
    pub fn powi(&mut self, a: Expr, n: i32) -> Expr {
        self.make(Node::Powi(a, n))
    }

    /// `if condition then a else b`.
    pub fn select(&mut self, condition: Expr, a: Expr, b: Expr) -> Expr {
        self.make(Node::Select(condition, a, b))
    }

    /// A constant as a Real; other expressions as they are.
    pub fn as_real(&mut self, e: Expr) -> Expr {
        match self.node(e) {
            Node::Const(bits, Sort::Integer) => self.intern(Node::Const(bits, Sort::Real)),
            _ => e,
        }
    }

    /// An operation whose Integer constants become Real when the other operand is Real, so that
    /// `2 * x` and `2.0 * x` are the same expression.
    ///
    /// ```
    /// use saltus_expr::{Binary, Graph, Sort, VarId};
    /// let mut g = Graph::new();
    /// let (x, k) = (g.var(VarId(0), Sort::Real), g.var(VarId(1), Sort::Integer));
    /// let (whole, real) = (g.integer(2), g.real(2.0));
    /// assert_eq!(g.mixed(Binary::Mul, whole, x), g.mul(real, x));
    /// assert_eq!(g.mixed(Binary::Mul, whole, k), g.mul(whole, k));
    /// ```
    pub fn mixed(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
        use Binary::{Add, And, Eq, Le, Lt, Max, Min, Mod, Mul, Or, Sub};
        let exact = matches!(op, Add | Sub | Mul | Min | Max | Mod | Lt | Le | Eq);
        let whole = exact && self.sort(a) != Sort::Real && self.sort(b) != Sort::Real;
        if whole || matches!(op, And | Or) {
            return self.binary(op, a, b);
        }
        let (a, b) = (self.as_real(a), self.as_real(b));
        self.binary(op, a, b)
    }

    /// A table over one argument.
    pub fn table1(&mut self, table: TableId, a: Expr) -> Expr {
        self.make(Node::Table1(table, a))
    }

    /// A table over two arguments.
    pub fn table2(&mut self, table: TableId, a: Expr, b: Expr) -> Expr {
        self.make(Node::Table2(table, a, b))
    }

    /// The value of an operation on constants, as a constant.
    fn fold(&mut self, node: Node) -> Option<Expr> {
        let (value, finite) = match node {
            Node::Const(..) | Node::Var(..) => return None,
            Node::Unary(op, a) => {
                let a = self.constant(a)?;
                (vm::unary(op, a), a.is_finite())
            }
            Node::Powi(a, n) => {
                let a = self.constant(a)?;
                (elementary::powi(a, n), a.is_finite())
            }
            Node::Binary(Binary::Pow, _, b) if self.whole_exponent(b).is_some() => return None,
            Node::Binary(op, a, b) => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                (vm::binary(op, a, b), a.is_finite() && b.is_finite())
            }
            Node::Select(c, a, b) => {
                let branch = if self.constant(c)? != 0.0 { a } else { b };
                (self.constant(branch)?, false)
            }
            Node::Table1(t, a) => {
                let a = self.constant(a)?;
                (self.table(t).line(a).value_at(a), a.is_finite())
            }
            Node::Table2(t, a, b) => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                (self.table(t).patch(a, b).value_at(a, b), a.is_finite() && b.is_finite())
            }
        };
        let departs = finite && !value.is_finite();
        // One zero: models do not distinguish its signs, so neither do constants.
        let value = if value == 0.0 { 0.0 } else { value };
        (!departs).then(|| self.intern(Node::Const(value.to_bits(), self.sort_of(node))))
    }

    /// A simpler expression with the value and sort of the node, if one is known.
    fn simpler(&mut self, node: Node) -> Option<Expr> {
        let simpler = match node {
            Node::Unary(op, a) => self.simpler_unary(op, a),
            Node::Binary(op, a, b) => self.simpler_binary(op, a, b),
            Node::Powi(a, n) => self.simpler_power(a, n),
            Node::Select(c, a, b) => self.simpler_select(c, a, b),
            Node::Const(..) | Node::Var(..) | Node::Table1(..) | Node::Table2(..) => None,
        }?;
        let sort = self.sort(simpler);
        let whole_power = sort == Sort::Integer && matches!(node, Node::Binary(Binary::Pow, ..));
        (whole_power || sort == self.sort_of(node)).then_some(simpler)
    }

    fn simpler_unary(&mut self, op: Unary, a: Expr) -> Option<Expr> {
        match (op, self.node(a)) {
            (Unary::Neg, Node::Unary(Unary::Neg, x)) => Some(x),
            (Unary::Neg, Node::Binary(Binary::Sub, x, y)) => Some(self.sub(y, x)),
            (Unary::Not, Node::Unary(Unary::Not, x)) if self.sort(x) == Sort::Boolean => Some(x),
            (Unary::Abs, Node::Unary(Unary::Abs, _)) => Some(a),
            (Unary::Abs, Node::Unary(Unary::Neg, x)) => Some(self.unary(Unary::Abs, x)),
            (Unary::Floor | Unary::Ceil, _) if self.sort(a) == Sort::Integer => Some(a),
            _ => None,
        }
    }

    fn simpler_binary(&mut self, op: Binary, a: Expr, b: Expr) -> Option<Expr> {
        let (value_a, value_b) = (self.constant(a), self.constant(b));
        match op {
            Binary::Add => match (value_a, value_b, self.negated(a), self.negated(b)) {
                (Some(0.0), ..) => Some(b),
                (_, Some(0.0), ..) => Some(a),
                (_, _, _, Some(y)) => Some(self.sub(a, y)),
                (_, _, Some(x), _) => Some(self.sub(b, x)),
                _ => None,
            },
            Binary::Sub => match (value_a, value_b, self.negated(b)) {
                (_, Some(0.0), _) => Some(a),
                (Some(0.0), ..) => Some(self.neg(b)),
                (_, _, Some(y)) => Some(self.add(a, y)),
                _ => None,
            },
            Binary::Mul => match (value_a, value_b, self.negated(a), self.negated(b)) {
                (Some(1.0), ..) => Some(b),
                (_, Some(1.0), ..) => Some(a),
                (Some(-1.0), ..) => Some(self.neg(b)),
                (_, Some(-1.0), ..) => Some(self.neg(a)),
                (_, _, Some(x), Some(y)) => Some(self.mul(x, y)),
                _ => None,
            },
            Binary::Div => match value_b {
                Some(1.0) => Some(a),
                Some(-1.0) => Some(self.neg(a)),
                _ => None,
            },
            Binary::Pow => self.whole_exponent(b).map(|n| self.powi(a, n)),
            Binary::Min | Binary::Max => (a == b).then_some(a),
            Binary::Lt => (a == b).then(|| self.boolean(false)),
            Binary::And => self.simpler_connective(a, b, true),
            Binary::Or => self.simpler_connective(a, b, false),
            Binary::Atan2 | Binary::Hypot | Binary::Mod | Binary::Le | Binary::Eq => None,
        }
    }

    /// `and`, whose neutral element is true, or `or`, whose neutral element is false.
    fn simpler_connective(&mut self, a: Expr, b: Expr, neutral: bool) -> Option<Expr> {
        let truth = |value: Option<f64>| value.map(|v| v != 0.0);
        match (truth(self.constant(a)), truth(self.constant(b))) {
            (Some(known), _) if known == neutral => Some(b),
            (_, Some(known)) if known == neutral => Some(a),
            (Some(_), _) | (_, Some(_)) => Some(self.boolean(!neutral)),
            _ => (a == b).then_some(a),
        }
    }

    fn simpler_power(&mut self, a: Expr, n: i32) -> Option<Expr> {
        match n {
            // Only of a variable: another operand might have left its domain.
            0 if matches!(self.node(a), Node::Var(..)) => {
                let sort = self.sort(a);
                Some(self.intern(Node::Const(1f64.to_bits(), sort)))
            }
            1 => Some(a),
            _ => None,
        }
    }

    fn simpler_select(&mut self, c: Expr, a: Expr, b: Expr) -> Option<Expr> {
        if let Some(condition) = self.constant(c) {
            return Some(if condition != 0.0 { a } else { b });
        }
        match self.node(c) {
            _ if a == b => Some(a),
            Node::Unary(Unary::Not, inner) => Some(self.select(inner, b, a)),
            _ => None,
        }
    }

    /// The `x` of `-x`.
    fn negated(&self, e: Expr) -> Option<Expr> {
        match self.node(e) {
            Node::Unary(Unary::Neg, x) => Some(x),
            _ => None,
        }
    }

    /// The exponent of a power that is formed by multiplication.
    pub(crate) fn whole_exponent(&self, e: Expr) -> Option<i32> {
        let value = self.constant(e)?;
        (value.fract() == 0.0 && value.abs() <= GREATEST_WHOLE_POWER).then_some(value as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::VarId;
    use crate::testing::{self, Operation};
    use proptest::prelude::*;

    #[test]
    fn neutral_elements_vanish() {
        let mut g = Graph::new();
        let x = g.var(VarId(0), Sort::Real);
        let (zero, one, two) = (g.real(0.0), g.real(1.0), g.real(2.0));
        let minus = g.neg(x);
        assert_eq!([g.add(x, zero), g.sub(x, zero), g.mul(one, x), g.div(x, one), g.powi(x, 1)], [x; 5]);
        assert_eq!([g.neg(minus), g.sub(zero, minus), g.select(one, x, two)], [x; 3]);
        let square = g.pow(x, two);
        assert_eq!(g.node(square), Node::Powi(x, 2));
    }

    #[test]
    fn domain_errors_are_kept() {
        let mut g = Graph::new();
        let x = g.var(VarId(0), Sort::Real);
        let (zero, one) = (g.real(0.0), g.real(1.0));
        let log = g.unary(Unary::Log, x);
        for kept in [g.mul(log, zero), g.sub(log, log), g.div(zero, x), g.powi(log, 0), g.div(one, zero)] {
            assert_eq!(g.constant(kept), None);
        }
        let root = g.real(-1.0);
        let root = g.unary(Unary::Sqrt, root);
        assert!(matches!(g.node(root), Node::Unary(Unary::Sqrt, _)));
    }

    #[test]
    fn sorts_are_kept() {
        let mut g = Graph::new();
        let k = g.var(VarId(0), Sort::Integer);
        let (zero, real_zero) = (g.integer(0), g.real(0.0));
        assert_eq!(g.add(k, zero), k);
        let sum = g.add(k, real_zero);
        assert_eq!(g.sort(sum), Sort::Real);
        assert_eq!(g.unary(Unary::Floor, k), k);
        let (two, three) = (g.integer(2), g.integer(3));
        let six = g.mul(two, three);
        assert_eq!((g.constant(six), g.sort(six)), (Some(6.0), Sort::Integer));
        let ratio = g.div(two, three);
        assert_eq!(g.sort(ratio), Sort::Real);
    }

    #[test]
    fn connectives_with_constants_are_decided() {
        let mut g = Graph::new();
        let p = g.var(VarId(0), Sort::Boolean);
        let (yes, no) = (g.boolean(true), g.boolean(false));
        assert_eq!([g.and(p, yes), g.or(no, p), g.and(p, p)], [p; 3]);
        assert_eq!([g.and(no, p), g.or(p, yes)], [no, yes]);
        let not = g.not(p);
        assert_eq!(g.not(not), p);
    }

    proptest! {
        #![proptest_config(testing::cases(2_000))]

        /// The same operations with and without simplification give the same values.
        #[test]
        fn values_are_kept(operations in testing::operations(), points in testing::points()) {
            let mut g = Graph::new();
            let plain = Operation::build_all(&operations, &mut g, |g, node| g.intern(node));
            let simple = Operation::build_all(&operations, &mut g, |g, node| g.make(node));
            for point in &points {
                for (&p, &s) in plain.iter().zip(&simple) {
                    let (before, after) = (testing::value(&g, p, point), testing::value(&g, s, point));
                    prop_assert!(
                        before.to_bits() == after.to_bits() || (before.is_nan() && after.is_nan()),
                        "{:?} = {before} became {:?} = {after}", g.node(p), g.node(s)
                    );
                }
            }
        }

        #[test]
        fn sorts_agree(operations in testing::operations()) {
            let mut g = Graph::new();
            let simple = Operation::build_all(&operations, &mut g, |g, node| {
                let expected = g.sort_of(node);
                let made = g.make(node);
                let power = matches!(node, Node::Binary(Binary::Pow, ..)) && g.sort(made) == Sort::Integer;
                assert!(power || g.sort(made) == expected);
                made
            });
            prop_assert_eq!(simple.len(), operations.len() + testing::LEAVES);
        }
    }
}
