//! Operators on scalars, vectors and matrices.

use super::Elaborator;
use super::items::Items;
use super::value::{Elaborated, Measure, Shape, Value, sort_name};
use crate::ast::{BinaryOp, Comparison};
use crate::{Diagnostic, codes};
use saltus_expr::{Binary, Expr, Node, Sort, Unary};
use saltus_model::Span;

impl Elaborator<'_> {
    /// `a op b`.
    pub(super) fn operate(&mut self, op: BinaryOp, a: &Value, b: &Value, span: Span) -> Elaborated<Value> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.logic(op, a, b, span);
        }
        self.numeric(a, span)?;
        self.numeric(b, span)?;
        match op {
            BinaryOp::Add => self.sum_like(Binary::Add, a, b, "added quantities", span),
            BinaryOp::Sub => self.sum_like(Binary::Sub, a, b, "subtracted quantities", span),
            BinaryOp::Mul => self.product(a, b, span),
            BinaryOp::ElementMul => self.element_product(a, b, span),
            BinaryOp::Div if b.shape != Shape::Scalar => {
                let message = format!("cannot divide {} by {}", a.shape, b.shape);
                let hint = "elementwise division is written `./`";
                Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message).hint(hint)))
            }
            BinaryOp::Div | BinaryOp::ElementDiv => {
                let measure = self.element_measure(a.measure, b.measure, Self::quotient_measure);
                self.elementwise(Binary::Div, a, b, measure, span)
            }
            BinaryOp::Pow => self.power(a, b, span),
            BinaryOp::ElementPow => self.element_power(a, b, span),
            BinaryOp::And | BinaryOp::Or => self.logic(op, a, b, span),
        }
    }

    fn logic(&mut self, op: BinaryOp, a: &Value, b: &Value, span: Span) -> Elaborated<Value> {
        self.boolean(a, span)?;
        self.boolean(b, span)?;
        let op = if op == BinaryOp::And { Binary::And } else { Binary::Or };
        self.elementwise(op, a, b, Measure::Plain, span)
    }

    /// Addition and its like: equal units, result in that unit.
    pub(super) fn sum_like(
        &mut self,
        op: Binary,
        a: &Value,
        b: &Value,
        what: &str,
        span: Span,
    ) -> Elaborated<Value> {
        let measure = self.same_measure(a.measure, b.measure, what, span);
        self.elementwise(op, a, b, measure, span)
    }

    pub(super) fn element_product(&mut self, a: &Value, b: &Value, span: Span) -> Elaborated<Value> {
        let measure = self.element_measure(a.measure, b.measure, Self::product_measure);
        self.elementwise(Binary::Mul, a, b, measure, span)
    }

    /// A function of two arguments, item by item; a scalar goes with every item.
    pub(super) fn elementwise(
        &mut self,
        op: Binary,
        a: &Value,
        b: &Value,
        measure: Measure,
        span: Span,
    ) -> Elaborated<Value> {
        let shape = self.common_shape(a.shape, b.shape, span)?;
        self.spend(shape.len(), span)?;
        let items: Items = (0..shape.len()).map(|k| self.graph().mixed(op, a.at(k), b.at(k))).collect();
        self.finite(&items, span)?;
        Ok(self.value(shape, items, measure))
    }

    /// A value whose sort is that of its items.
    pub(super) fn value(&self, shape: Shape, items: impl Into<Items>, measure: Measure) -> Value {
        let items = items.into();
        let graph = &self.system.graph;
        let sort = items.iter().map(|&e| graph.sort(e)).reduce(join_sorts).unwrap_or(Sort::Real);
        Value { shape, items, sort, measure }
    }

    fn common_shape(&mut self, a: Shape, b: Shape, span: Span) -> Elaborated<Shape> {
        match (a, b) {
            (Shape::Scalar, other) | (other, Shape::Scalar) => Ok(other),
            _ if a == b => Ok(a),
            _ => {
                let message = format!("the shapes do not fit: {a} and {b}");
                Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)))
            }
        }
    }

    /// `a * b`: scalar, matrix-vector, vector-matrix or matrix product.
    fn product(&mut self, a: &Value, b: &Value, span: Span) -> Elaborated<Value> {
        let (rows, inner, columns, shape) = match (a.shape, b.shape) {
            (Shape::Scalar, _) | (_, Shape::Scalar) => return self.element_product(a, b, span),
            (Shape::Matrix(r, n), Shape::Vector(m)) if n == m => (r, n, 1, Shape::Vector(r)),
            (Shape::Vector(n), Shape::Matrix(m, c)) if n == m => (1, n, c, Shape::Vector(c)),
            (Shape::Matrix(r, n), Shape::Matrix(m, c)) if n == m => (r, n, c, Shape::Matrix(r, c)),
            (x, y) => {
                let message = format!("cannot multiply {x} by {y}");
                let diagnostic = Diagnostic::error(codes::WRONG_SHAPE, span, message);
                let hint = "use `dot(a, b)` for the scalar product, `.*` for elementwise products";
                return Err(self.report(if x == y { diagnostic.hint(hint) } else { diagnostic }));
            }
        };
        self.spend(rows.saturating_mul(inner).saturating_mul(columns), span)?;
        let mut items = Vec::with_capacity(rows * columns);
        for r in 0..rows {
            for c in 0..columns {
                let left: Vec<Expr> = (0..inner).map(|k| a.items[r * inner + k]).collect();
                let right: Vec<Expr> = (0..inner).map(|k| b.items[k * columns + c]).collect();
                items.push(self.inner_product(&left, &right));
            }
        }
        Ok(self.value(shape, items, Self::product_measure(a.measure, b.measure)))
    }

    /// The sum of products of two lists of equal length.
    pub(super) fn inner_product(&mut self, a: &[Expr], b: &[Expr]) -> Expr {
        let products: Vec<Expr> =
            a.iter().zip(b).map(|(&x, &y)| self.graph().mixed(Binary::Mul, x, y)).collect();
        self.reduce(Binary::Add, &products).unwrap_or_else(|| self.graph().real(0.0))
    }

    /// A list folded from the left; `None` for an empty list.
    pub(super) fn reduce(&mut self, op: Binary, items: &[Expr]) -> Option<Expr> {
        let (&first, rest) = items.split_first()?;
        Some(rest.iter().fold(first, |sum, &next| self.graph().mixed(op, sum, next)))
    }

    /// `a ^ b`: numbers, or a whole power of a square matrix.
    fn power(&mut self, a: &Value, b: &Value, span: Span) -> Elaborated<Value> {
        match (a.shape, b.shape) {
            (Shape::Scalar, Shape::Scalar) => self.element_power(a, b, span),
            (Shape::Matrix(n, m), Shape::Scalar) if n == m => self.matrix_power(a, n, b.items[0], span),
            (x, y) => {
                let message = format!("cannot raise {x} to the power of {y}");
                let hint = "elementwise powers are written `.^`";
                Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message).hint(hint)))
            }
        }
    }

    fn matrix_power(&mut self, a: &Value, n: usize, exponent: Expr, span: Span) -> Elaborated<Value> {
        let times = self.structural_value(exponent, span)?;
        if !(0.0..=64.0).contains(&times) || times.fract() != 0.0 {
            let message = format!("the power of a matrix must be a whole number from 0 to 64, not {times}");
            return Err(self.report(Diagnostic::error(codes::WRONG_SORT, span, message)));
        }
        let mut result = self.identity(n, span)?;
        for _ in 0..times as u32 {
            result = self.product(&result, a, span)?;
        }
        Ok(result)
    }

    /// The n by n matrix with ones on its diagonal.
    pub(super) fn identity(&mut self, n: usize, span: Span) -> Elaborated<Value> {
        self.spend(n.saturating_mul(n), span)?;
        let (zero, one) = (self.graph().real(0.0), self.graph().real(1.0));
        let items = (0..n * n).map(|k| if k / n == k % n { one } else { zero }).collect();
        Ok(Value { shape: Shape::Matrix(n, n), items, sort: Sort::Real, measure: Measure::Plain })
    }

    /// `a .^ b`, and `a ^ b` of numbers. A whole literal exponent becomes an exact power.
    fn element_power(&mut self, a: &Value, b: &Value, span: Span) -> Elaborated<Value> {
        self.plain_measure(b.measure, "an exponent", span);
        let shape = self.common_shape(a.shape, b.shape, span)?;
        self.spend(shape.len(), span)?;
        let mut items = Vec::with_capacity(shape.len());
        for k in 0..shape.len() {
            let exponent = b.at(k);
            // A negative whole power of an Integer is a Real, so its base must be one.
            let negative = self.system.graph.constant(exponent).is_some_and(|n| n < 0.0);
            let base = if negative { self.graph().as_real(a.at(k)) } else { a.at(k) };
            items.push(self.graph().pow(base, exponent));
        }
        self.finite(&items, span)?;
        let measure = self.raised_measure(a.measure, b, span);
        Ok(self.value(shape, items, measure))
    }

    fn raised_measure(&mut self, base: Measure, exponent: &Value, span: Span) -> Measure {
        let dimension = match base {
            Measure::Known(dimension) => dimension,
            Measure::Unlike(_) => return Measure::Unknown,
            other => return other,
        };
        if dimension.is_one() {
            return base;
        }
        let constant = exponent.items.first().and_then(|&e| self.constant(e));
        match constant.and_then(small_fraction) {
            Some((n, d)) if exponent.shape == Shape::Scalar => Self::power_measure(base, n, d),
            _ => {
                self.plain_measure(base, "the base of a varying power", span);
                Measure::Unknown
            }
        }
    }

    /// `-a`, `not a`, and functions of one argument, item by item.
    pub(super) fn map(&mut self, op: Unary, a: &Value, measure: Measure, span: Span) -> Elaborated<Value> {
        self.spend(a.items.len(), span)?;
        let keeps_sort = matches!(op, Unary::Neg | Unary::Not | Unary::Abs | Unary::Sign);
        let graph = &mut self.system.graph;
        let items: Items = a
            .items
            .iter()
            .map(|&e| {
                let e = if keeps_sort { e } else { graph.as_real(e) };
                graph.unary(op, e)
            })
            .collect();
        self.finite(&items, span)?;
        Ok(self.value(a.shape, items, measure))
    }

    /// One comparison of a chain.
    pub(super) fn compare(
        &mut self,
        op: Comparison,
        a: &Value,
        b: &Value,
        guard: bool,
        span: Span,
    ) -> Elaborated<Value> {
        if matches!(op, Comparison::Eq | Comparison::Ne) {
            return self.equality(op, a, b, guard, span);
        }
        self.numeric(a, span)?;
        self.numeric(b, span)?;
        self.same_measure(a.measure, b.measure, "compared quantities", span);
        match op {
            Comparison::Lt => self.elementwise(Binary::Lt, a, b, Measure::Plain, span),
            Comparison::Le => self.elementwise(Binary::Le, a, b, Measure::Plain, span),
            Comparison::Gt => self.elementwise(Binary::Lt, b, a, Measure::Plain, span),
            _ => self.elementwise(Binary::Le, b, a, Measure::Plain, span),
        }
    }

    fn equality(
        &mut self,
        op: Comparison,
        a: &Value,
        b: &Value,
        guard: bool,
        span: Span,
    ) -> Elaborated<Value> {
        if (a.sort == Sort::Boolean) != (b.sort == Sort::Boolean) {
            let message = format!("cannot compare {} with {}", sort_name(a.sort), sort_name(b.sort));
            return Err(self.report(Diagnostic::error(codes::WRONG_SORT, span, message)));
        }
        let real = a.sort == Sort::Real || b.sort == Sort::Real;
        if real && !(guard && op == Comparison::Eq) && self.flows(a, b) {
            return Err(self.real_equality(op, span));
        }
        self.same_measure(a.measure, b.measure, "compared quantities", span);
        let equal = self.elementwise(Binary::Eq, a, b, Measure::Plain, span)?;
        if op == Comparison::Ne { self.map(Unary::Not, &equal, Measure::Plain, span) } else { Ok(equal) }
    }

    /// Whether an equality can change during a run: between parameters it is decided before.
    fn flows(&mut self, a: &Value, b: &Value) -> bool {
        let fixed = super::constant::Variability::Parameter;
        a.items.iter().chain(&b.items).any(|&e| self.variability(e) > fixed)
    }

    fn real_equality(&mut self, op: Comparison, span: Span) -> super::Reported {
        let (message, hint) = match op {
            Comparison::Ne => (
                "`!=` between Reals has no meaning for an event: it is true nearly everywhere",
                "compare with `<` or `>`, or declare whole numbers as `memory k: Integer`",
            ),
            _ => (
                "`==` between Reals is allowed only in guards, where it means a root",
                "use `abs(a - b) < tolerance`, or declare whole numbers as `memory k: Integer`",
            ),
        };
        self.report(Diagnostic::error(codes::REAL_EQUALITY, span, message).hint(hint))
    }

    /// Requires a number.
    pub(super) fn numeric(&mut self, a: &Value, span: Span) -> Elaborated<()> {
        if a.sort != Sort::Boolean {
            return Ok(());
        }
        let hint = "turn it into a number with `if ... then 1 else 0`";
        let message = "a number is needed here, and this is Boolean";
        Err(self.report(Diagnostic::error(codes::WRONG_SORT, span, message).hint(hint)))
    }

    /// Requires a truth value.
    pub(super) fn boolean(&mut self, a: &Value, span: Span) -> Elaborated<()> {
        if a.sort == Sort::Boolean {
            return Ok(());
        }
        let message = format!("a Boolean is needed here, and this is {}", sort_name(a.sort));
        let hint = "write a comparison, for example `x > 0`";
        Err(self.report(Diagnostic::error(codes::WRONG_SORT, span, message).hint(hint)))
    }

    /// Refuses operations on constants that have no finite value, such as `1 / 0`, where they
    /// arise. The graph leaves them unfolded.
    pub(super) fn finite(&mut self, items: &[Expr], span: Span) -> Elaborated<()> {
        let graph = &self.system.graph;
        let lost = |e: Expr| match graph.node(e) {
            Node::Const(bits, _) => !f64::from_bits(bits).is_finite(),
            Node::Var(..) => false,
            _ => graph.operands(e).all(|o| graph.constant(o).is_some()),
        };
        if !items.iter().any(|&e| lost(e)) {
            return Ok(());
        }
        let message = "the value of this is not a finite number";
        Err(self.report(Diagnostic::error(codes::NOT_FINITE, span, message)))
    }
}

/// The sort that holds values of both.
pub(super) fn join_sorts(a: Sort, b: Sort) -> Sort {
    if a == b { a } else { Sort::Real }
}

/// A number as a fraction with a small denominator, for the units of roots.
fn small_fraction(value: f64) -> Option<(i64, i64)> {
    (1..=12).find_map(|d| {
        let n = value * d as f64;
        (n.abs() <= 1e6 && (n - n.round()).abs() < 1e-12).then(|| (n.round() as i64, d))
    })
}
