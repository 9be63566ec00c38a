//! Expressions as text in the syntax of models, with the parentheses that are needed and no more.
//!
//! From loose to tight: `if`, `or`, `and`, `not`, comparisons, `+ -`, `* /`, unary minus, `^`.
//! Sums and products group to the left as they round, powers to the right. A comparison with a
//! constant on the left is turned round, so that `Lt(0, x)` reads `x > 0`.

use crate::graph::{Binary, Expr, Graph, Node, Sort, Unary, VarId};
use std::fmt;

/// How tightly an expression holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    If,
    Or,
    And,
    Not,
    Compare,
    Add,
    Multiply,
    Negate,
    Power,
    Operand,
}

/// Formats an expression; made by [`Graph::display`].
pub struct Display<'a> {
    graph: &'a Graph,
    expr: Expr,
    names: &'a dyn Fn(VarId) -> String,
}

impl Graph {
    /// The text of an expression, with the names that `names` gives to variables.
    ///
    /// ```
    /// use saltus_expr::{Graph, Sort, VarId};
    /// let mut g = Graph::new();
    /// let [x, y] = [0, 1].map(|i| g.var(VarId(i), Sort::Real));
    /// let (sum, zero) = (g.add(x, y), g.real(0.0));
    /// let (power, minus) = (g.powi(sum, 2), g.neg(sum));
    /// let names = |v: VarId| ["x", "y"][v.index()].to_owned();
    /// assert_eq!(g.display(power, &names).to_string(), "(x + y)^2");
    /// let guard = g.lt(zero, minus);
    /// assert_eq!(g.display(guard, &names).to_string(), "-(x + y) > 0");
    /// ```
    pub fn display<'a>(&'a self, expr: Expr, names: &'a dyn Fn(VarId) -> String) -> Display<'a> {
        Display { graph: self, expr, names }
    }
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.expr, Level::If)
    }
}

impl Display<'_> {
    /// Writes `e` where something at least as tight as `least` is expected.
    fn write(&self, f: &mut fmt::Formatter<'_>, e: Expr, least: Level) -> fmt::Result {
        if self.level(e) < least {
            f.write_str("(")?;
            self.write_plain(f, e)?;
            f.write_str(")")
        } else {
            self.write_plain(f, e)
        }
    }

    fn level(&self, e: Expr) -> Level {
        match self.graph.node(e) {
            Node::Const(bits, _) if f64::from_bits(bits) < 0.0 => Level::Negate,
            Node::Unary(Unary::Neg, _) => Level::Negate,
            Node::Unary(Unary::Not, _) => Level::Not,
            Node::Binary(op, ..) => operator(op).map_or(Level::Operand, |(_, level)| level),
            Node::Powi(..) => Level::Power,
            Node::Select(..) => Level::If,
            Node::Const(..) | Node::Var(..) | Node::Unary(..) | Node::Table1(..) | Node::Table2(..) => {
                Level::Operand
            }
        }
    }

    fn write_plain(&self, f: &mut fmt::Formatter<'_>, e: Expr) -> fmt::Result {
        match self.graph.node(e) {
            Node::Const(bits, sort) => write_constant(f, f64::from_bits(bits), sort),
            Node::Var(v, _) => f.write_str(&(self.names)(v)),
            Node::Unary(Unary::Neg, a) => {
                f.write_str("-")?;
                self.write(f, a, Level::Power)
            }
            Node::Unary(Unary::Not, a) => {
                f.write_str("not ")?;
                self.write(f, a, Level::Not)
            }
            Node::Unary(op, a) => self.write_call(f, function(op), &[a]),
            Node::Binary(op, a, b) => self.write_binary(f, op, a, b),
            Node::Powi(a, n) => {
                self.write(f, a, Level::Operand)?;
                if n < 0 { write!(f, "^({n})") } else { write!(f, "^{n}") }
            }
            Node::Select(c, a, b) => {
                f.write_str("if ")?;
                self.write(f, c, Level::Or)?;
                f.write_str(" then ")?;
                self.write(f, a, Level::Or)?;
                f.write_str(" else ")?;
                self.write(f, b, Level::If)
            }
            Node::Table1(t, a) => self.write_call(f, &self.graph.table(t).name, &[a]),
            Node::Table2(t, a, b) => self.write_call(f, &self.graph.table(t).name, &[a, b]),
        }
    }

    fn write_call(&self, f: &mut fmt::Formatter<'_>, name: &str, arguments: &[Expr]) -> fmt::Result {
        write!(f, "{name}(")?;
        for (k, &argument) in arguments.iter().enumerate() {
            if k > 0 {
                f.write_str(", ")?;
            }
            self.write(f, argument, Level::If)?;
        }
        f.write_str(")")
    }

    fn write_binary(&self, f: &mut fmt::Formatter<'_>, op: Binary, a: Expr, b: Expr) -> fmt::Result {
        let Some((symbol, level)) = operator(op) else {
            return self.write_call(f, pair_function(op), &[a, b]);
        };
        let turned = match op {
            _ if self.graph.constant(a).is_none() || self.graph.constant(b).is_some() => None,
            Binary::Lt => Some(" > "),
            Binary::Le => Some(" >= "),
            Binary::Eq => Some(" == "),
            _ => None,
        };
        let (symbol, a, b) = turned.map_or((symbol, a, b), |symbol| (symbol, b, a));
        let (left, right) = match level {
            Level::Or | Level::And => (level, level),
            Level::Compare => (Level::Add, Level::Add),
            Level::Add => (Level::Add, Level::Multiply),
            Level::Multiply => (Level::Multiply, Level::Power),
            _ => (Level::Operand, Level::Power),
        };
        self.write(f, a, left)?;
        f.write_str(symbol)?;
        // A minus sign after an operator is hard to read.
        self.write(
            f,
            b,
            if level == Level::Add && self.starts_with_minus(b) { Level::Operand } else { right },
        )
    }

    /// Whether the text of a product or quotient begins with a minus sign.
    fn starts_with_minus(&self, e: Expr) -> bool {
        match self.graph.node(e) {
            Node::Binary(Binary::Mul | Binary::Div, a, _) => self.starts_with_minus(a),
            _ => self.level(e) == Level::Negate,
        }
    }
}

fn write_constant(f: &mut fmt::Formatter<'_>, value: f64, sort: Sort) -> fmt::Result {
    if sort == Sort::Boolean {
        return f.write_str(if value != 0.0 { "true" } else { "false" });
    }
    let text = format!("{value:?}");
    f.write_str(text.strip_suffix(".0").unwrap_or(&text))
}

/// The symbol of an operator and how tightly it binds; `None` for functions.
fn operator(op: Binary) -> Option<(&'static str, Level)> {
    Some(match op {
        Binary::Or => (" or ", Level::Or),
        Binary::And => (" and ", Level::And),
        Binary::Lt => (" < ", Level::Compare),
        Binary::Le => (" <= ", Level::Compare),
        Binary::Eq => (" == ", Level::Compare),
        Binary::Add => (" + ", Level::Add),
        Binary::Sub => (" - ", Level::Add),
        Binary::Mul => (" * ", Level::Multiply),
        Binary::Div => (" / ", Level::Multiply),
        Binary::Pow => ("^", Level::Power),
        Binary::Atan2 | Binary::Hypot | Binary::Min | Binary::Max | Binary::Mod => return None,
    })
}

fn pair_function(op: Binary) -> &'static str {
    match op {
        Binary::Atan2 => "atan2",
        Binary::Hypot => "hypot",
        Binary::Min => "min",
        Binary::Max => "max",
        _ => "mod",
    }
}

/// The name of a function of one argument.
pub(crate) fn function(op: Unary) -> &'static str {
    match op {
        Unary::Neg => "-",
        Unary::Not => "not",
        Unary::Abs => "abs",
        Unary::Sign => "sign",
        Unary::Floor => "floor",
        Unary::Ceil => "ceil",
        Unary::Sqrt => "sqrt",
        Unary::Exp => "exp",
        Unary::Log => "log",
        Unary::Sin => "sin",
        Unary::Cos => "cos",
        Unary::Tan => "tan",
        Unary::Asin => "asin",
        Unary::Acos => "acos",
        Unary::Atan => "atan",
        Unary::Sinh => "sinh",
        Unary::Cosh => "cosh",
        Unary::Tanh => "tanh",
        Unary::Asinh => "asinh",
        Unary::Acosh => "acosh",
        Unary::Atanh => "atanh",
        Unary::Clip => "clip",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(Graph);

    impl Text {
        fn check(&self, e: Expr, expected: &str) {
            let names = |v: VarId| ["x", "y", "p"][v.index()].to_owned();
            assert_eq!(self.0.display(e, &names).to_string(), expected);
        }

        fn binary(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
            self.0.intern(Node::Binary(op, a, b))
        }
    }

    fn setting() -> (Text, Expr, Expr, Expr) {
        let mut g = Graph::new();
        let (x, y) = (g.var(VarId(0), Sort::Real), g.var(VarId(1), Sort::Real));
        let p = g.var(VarId(2), Sort::Boolean);
        (Text(g), x, y, p)
    }

    #[test]
    fn sums_and_products_group_to_the_left() {
        use Binary::{Add, Div, Mul, Sub};
        let (mut t, x, y, _) = setting();
        let (sum, difference) = (t.binary(Add, x, y), t.binary(Sub, x, y));
        let (product, quotient) = (t.binary(Mul, x, y), t.binary(Div, x, y));
        for (op, a, b, expected) in [
            (Add, sum, x, "x + y + x"),
            (Add, x, sum, "x + (x + y)"),
            (Sub, difference, y, "x - y - y"),
            (Sub, x, difference, "x - (x - y)"),
            (Mul, sum, difference, "(x + y) * (x - y)"),
            (Mul, quotient, x, "x / y * x"),
            (Mul, x, quotient, "x * (x / y)"),
            (Div, x, product, "x / (x * y)"),
            (Add, product, quotient, "x * y + x / y"),
        ] {
            let e = t.binary(op, a, b);
            t.check(e, expected);
        }
    }

    #[test]
    fn minus_signs_and_powers() {
        use Binary::{Add, Mul, Pow, Sub};
        let (mut t, x, y, _) = setting();
        let (minus, square) = (t.0.neg(x), t.0.powi(x, 2));
        let (negated_square, two, minus_two) = (t.0.neg(square), t.0.real(2.0), t.0.real(-2.0));
        let tower = t.binary(Pow, x, y);
        t.check(negated_square, "-x^2");
        let square_of_minus = t.0.powi(minus, 2);
        t.check(square_of_minus, "(-x)^2");
        let inverse = t.0.powi(x, -1);
        t.check(inverse, "x^(-1)");
        for (op, a, b, expected) in [
            (Pow, tower, two, "(x^y)^2"),
            (Pow, two, tower, "2^x^y"),
            (Pow, x, minus, "x^(-x)"),
            (Pow, minus_two, x, "(-2)^x"),
            (Sub, x, minus_two, "x - (-2)"),
            (Add, x, minus, "x + (-x)"),
            (Mul, x, minus, "x * (-x)"),
            (Mul, minus, x, "-x * x"),
        ] {
            let e = t.binary(op, a, b);
            t.check(e, expected);
        }
    }

    #[test]
    fn conditions_and_choices() {
        use Binary::{And, Le, Lt, Max, Or};
        let (mut t, x, y, p) = setting();
        let zero = t.0.real(0.0);
        let (positive, less) = (t.binary(Lt, zero, x), t.binary(Le, x, y));
        t.check(positive, "x > 0");
        let (both, either) = (t.binary(And, positive, less), t.binary(Or, less, p));
        t.check(both, "x > 0 and x <= y");
        let mixed = t.binary(And, both, either);
        t.check(mixed, "x > 0 and x <= y and (x <= y or p)");
        let not = t.0.not(less);
        t.check(not, "not x <= y");
        let not = t.0.not(either);
        let not = t.binary(And, not, p);
        t.check(not, "not (x <= y or p) and p");
        let inner = t.0.select(p, x, zero);
        let outer = t.0.select(less, y, inner);
        t.check(outer, "if x <= y then y else if p then x else 0");
        let sum = t.0.add(inner, x);
        t.check(sum, "(if p then x else 0) + x");
        let larger = t.binary(Max, x, inner);
        t.check(larger, "max(x, if p then x else 0)");
    }

    #[test]
    fn constants_are_written_as_they_would_be_typed() {
        let (mut t, ..) = setting();
        for (value, expected) in [(3.0, "3"), (0.1, "0.1"), (-2.5, "-2.5"), (1e300, "1e300"), (1e-9, "1e-9")]
        {
            let e = t.0.real(value);
            t.check(e, expected);
        }
        let yes = t.0.boolean(true);
        t.check(yes, "true");
    }
}
