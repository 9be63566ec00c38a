//! The functions of the language.

use super::scope::Selection;
use super::value::{Elaborated, Measure, Shape, Value};
use super::{Elaborator, Env};
use crate::ast;
use crate::{Diagnostic, codes};
use saltus_expr::{Binary, Expr, Sort, Unary};
use saltus_model::Span;

/// What happens to the unit of the argument of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// A plain number in, a plain number out.
    Plain,
    /// Any quantity in, the same out.
    Keep,
    /// Any quantity in, a plain number out.
    Forget,
    /// The square root of the unit.
    Root,
}

/// Functions of one number that act on every element of an array.
const ELEMENTARY: &[(&str, Unary, Rule)] = &[
    ("sin", Unary::Sin, Rule::Plain),
    ("cos", Unary::Cos, Rule::Plain),
    ("tan", Unary::Tan, Rule::Plain),
    ("asin", Unary::Asin, Rule::Plain),
    ("acos", Unary::Acos, Rule::Plain),
    ("atan", Unary::Atan, Rule::Plain),
    ("sinh", Unary::Sinh, Rule::Plain),
    ("cosh", Unary::Cosh, Rule::Plain),
    ("tanh", Unary::Tanh, Rule::Plain),
    ("asinh", Unary::Asinh, Rule::Plain),
    ("acosh", Unary::Acosh, Rule::Plain),
    ("atanh", Unary::Atanh, Rule::Plain),
    ("exp", Unary::Exp, Rule::Plain),
    ("log", Unary::Log, Rule::Plain),
    ("sqrt", Unary::Sqrt, Rule::Root),
    ("abs", Unary::Abs, Rule::Keep),
    ("sign", Unary::Sign, Rule::Forget),
    ("floor", Unary::Floor, Rule::Keep),
    ("ceil", Unary::Ceil, Rule::Keep),
];

/// The other functions.
const OTHERS: &[&str] = &[
    "log10",
    "log2",
    "round",
    "mod",
    "min",
    "max",
    "atan2",
    "hypot",
    "sum",
    "product",
    "mean",
    "all",
    "any",
    "dot",
    "cross",
    "norm",
    "transpose",
    "identity",
    "zeros",
    "ones",
    "size",
    "table",
    "table2",
    "csv",
    "in",
    "rises",
    "falls",
    "interval",
    "pre",
    "post",
];

/// All function names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ELEMENTARY.iter().map(|f| f.0).chain(OTHERS.iter().copied())
}

/// True for the name of a function of the language.
pub(super) fn is_builtin(name: &str) -> bool {
    names().any(|n| n == name)
}

impl Elaborator<'_> {
    /// A call of a function of the language.
    pub(super) fn builtin(
        &mut self,
        env: Env<'_>,
        function: &ast::Name,
        arguments: &[ast::Expr],
        named: &[(ast::Name, ast::Expr)],
        span: Span,
    ) -> Elaborated<Value> {
        let name = function.text.as_str();
        match name {
            "table" => return self.table_call(env, arguments, named, span),
            "table2" => return self.table2_call(env, arguments, named, span),
            _ => self.no_named(named, name)?,
        }
        match name {
            "csv" => self.csv_call(env, arguments, span),
            "in" => self.in_call(env, arguments, span),
            "size" => self.size_call(env, arguments, span),
            "rises" | "falls" => Err(self.misplaced(
                span,
                format!("`{name}` can only be the whole guard of a `when`"),
                "combine conditions with a memory, or add `when` as a further condition",
            )),
            "interval" => Err(self.misplaced(
                span,
                "`interval` can only be a whole starting value or a whole assigned value".into(),
                "give the bounds of the whole expression: `interval(low, high)`",
            )),
            "pre" | "post" => {
                let message = format!("`{name}` is reserved for later");
                Err(self.report(Diagnostic::error(codes::NOT_SUPPORTED, span, message)))
            }
            "zeros" | "ones" | "identity" => self.constant_array(env, name, arguments, span),
            _ => {
                let guarded = matches!(name, "all" | "any");
                let inner = if guarded { env } else { env.plain() };
                let values = self.all(arguments, inner)?;
                self.apply(name, &values, arguments, span)
            }
        }
    }

    pub(super) fn misplaced(&mut self, span: Span, message: String, hint: &str) -> super::Reported {
        self.report(Diagnostic::error(codes::MISPLACED, span, message).hint(hint))
    }

    fn apply(&mut self, name: &str, values: &[Value], trees: &[ast::Expr], span: Span) -> Elaborated<Value> {
        if let Some(&(_, op, rule)) = ELEMENTARY.iter().find(|f| f.0 == name) {
            let [value] = self.arguments(name, values, span)?;
            return self.elementary(name, op, rule, value, trees[0].span);
        }
        match name {
            "all" | "any" => {
                let [value] = self.arguments(name, values, span)?;
                self.boolean(value, trees[0].span)?;
                self.fold_items(name, value, span)
            }
            "min" | "max" if values.len() > 1 => self.extreme(name, values, span),
            "sum" | "product" | "mean" | "min" | "max" => {
                let [value] = self.arguments(name, values, span)?;
                self.numeric(value, trees[0].span)?;
                self.fold_items(name, value, span)
            }
            "log10" | "log2" => {
                let [value] = self.arguments(name, values, span)?;
                let base = if name == "log2" { std::f64::consts::LN_2 } else { std::f64::consts::LN_10 };
                let log = self.elementary(name, Unary::Log, Rule::Plain, value, trees[0].span)?;
                let base = Value::scalar(self.graph().real(base), Sort::Real, Measure::Plain);
                self.elementwise(Binary::Div, &log, &base, Measure::Plain, span)
            }
            "round" => {
                let [value] = self.arguments(name, values, span)?;
                self.numeric(value, trees[0].span)?;
                let half = Value::scalar(self.graph().real(0.5), Sort::Real, Measure::Plain);
                let shifted = self.elementwise(Binary::Add, value, &half, value.measure, span)?;
                self.map(Unary::Floor, &shifted, value.measure, span)
            }
            "mod" | "hypot" | "atan2" => self.pair(name, values, span),
            _ => self.linear_algebra(name, values, span),
        }
    }

    fn elementary(
        &mut self,
        name: &str,
        op: Unary,
        rule: Rule,
        value: &Value,
        span: Span,
    ) -> Elaborated<Value> {
        self.numeric(value, span)?;
        if rule == Rule::Plain {
            self.plain_measure(value.measure, &format!("`{name}`"), span);
        }
        let measure = match rule {
            Rule::Plain | Rule::Forget => Measure::Plain,
            Rule::Keep => value.measure,
            Rule::Root => Self::power_measure(value.measure, 1, 2),
        };
        self.map(op, value, measure, span)
    }

    fn pair(&mut self, name: &str, values: &[Value], span: Span) -> Elaborated<Value> {
        let [a, b] = self.arguments(name, values, span)?;
        self.numeric(a, span)?;
        self.numeric(b, span)?;
        let common = self.same_measure(a.measure, b.measure, "the arguments", span);
        if name == "mod" {
            if b.items.iter().any(|&e| self.graph().constant(e) == Some(0.0)) {
                let message = "nothing has a remainder after division by 0";
                return Err(self.report(Diagnostic::error(codes::NOT_FINITE, span, message)));
            }
            self.zero_divisor |= b.items.iter().any(|&e| self.constant(e) == Some(0.0));
        }
        let (op, measure) = match name {
            "mod" => (Binary::Mod, common),
            "hypot" => (Binary::Hypot, common),
            _ => (Binary::Atan2, Measure::Plain),
        };
        self.elementwise(op, a, b, measure, span)
    }

    fn extreme(&mut self, name: &str, values: &[Value], span: Span) -> Elaborated<Value> {
        for value in values {
            self.numeric(value, span)?;
        }
        let op = if name == "min" { Binary::Min } else { Binary::Max };
        let mut result = values[0].clone();
        for value in &values[1..] {
            result = self.sum_like(op, &result, value, "the arguments", span)?;
        }
        Ok(result)
    }

    /// What a comprehension does with its values.
    pub(super) fn collect(
        &mut self,
        function: &str,
        values: Vec<Value>,
        name_span: Span,
        span: Span,
    ) -> Elaborated<Value> {
        match function {
            "array" => self.stack(values, span),
            "sum" | "product" | "all" | "any" if values.is_empty() => {
                let item = match function {
                    "sum" => self.graph().real(0.0),
                    "product" => self.graph().real(1.0),
                    other => self.graph().boolean(other == "all"),
                };
                Ok(self.value(Shape::Scalar, item, Measure::Plain))
            }
            "sum" | "product" | "mean" | "min" | "max" | "all" | "any" => {
                for value in &values {
                    match function {
                        "all" | "any" => self.boolean(value, span)?,
                        _ => self.numeric(value, span)?,
                    }
                }
                let measure = self.common_measure(&values, "the values", span);
                let stacked = self.stack(values, span)?;
                self.fold_items(function, &Value { measure, ..stacked }, span)
            }
            _ => {
                let message = format!("`{function}` does not take a family of values");
                let hint = "sum, product, mean, min, max, all and any do; `[... for ...]` makes an array";
                Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, name_span, message).hint(hint)))
            }
        }
    }

    /// One value from all items of an array.
    fn fold_items(&mut self, name: &str, value: &Value, span: Span) -> Elaborated<Value> {
        self.spend(value.items.len(), span)?;
        let op = match name {
            "sum" | "mean" => Binary::Add,
            "product" => Binary::Mul,
            "min" => Binary::Min,
            "max" => Binary::Max,
            "all" => Binary::And,
            _ => Binary::Or,
        };
        let count = value.items.len();
        let mut item = self.reduce(op, &value.items).ok_or(super::Reported)?;
        if name == "mean" {
            let n = self.graph().real(count as f64);
            item = self.graph().mixed(Binary::Div, item, n);
        }
        let measure = match name {
            "product" => Self::power_measure(value.measure, count as i64, 1),
            _ => self.shared_measure(value.measure, span),
        };
        Ok(self.value(Shape::Scalar, item, measure))
    }

    fn linear_algebra(&mut self, name: &str, values: &[Value], span: Span) -> Elaborated<Value> {
        for value in values {
            self.numeric(value, span)?;
        }
        match name {
            "dot" => {
                let [a, b] = self.arguments(name, values, span)?;
                self.vectors(name, a, b, None, span)?;
                let item = self.inner_product(&a.items, &b.items);
                Ok(self.value(Shape::Scalar, item, Self::product_measure(a.measure, b.measure)))
            }
            "cross" => {
                let [a, b] = self.arguments(name, values, span)?;
                self.vectors(name, a, b, Some(3), span)?;
                let items: Vec<Expr> = (0..3)
                    .map(|k| {
                        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                        let first = self.graph().mixed(Binary::Mul, a.items[i], b.items[j]);
                        let second = self.graph().mixed(Binary::Mul, a.items[j], b.items[i]);
                        self.graph().mixed(Binary::Sub, first, second)
                    })
                    .collect();
                Ok(self.value(Shape::Vector(3), items, Self::product_measure(a.measure, b.measure)))
            }
            "norm" => {
                let [a] = self.arguments(name, values, span)?;
                self.vectors(name, a, a, None, span)?;
                let squares: Vec<Expr> = a.items.iter().map(|&e| self.graph().powi(e, 2)).collect();
                let sum = self.reduce(Binary::Add, &squares).ok_or(super::Reported)?;
                let sum = self.graph().as_real(sum);
                let item = self.graph().unary(Unary::Sqrt, sum);
                let measure = self.shared_measure(a.measure, span);
                Ok(self.value(Shape::Scalar, item, measure))
            }
            _ => {
                let [a] = self.arguments(name, values, span)?;
                self.transpose(a, span)
            }
        }
    }

    fn transpose(&mut self, a: &Value, span: Span) -> Elaborated<Value> {
        match a.shape {
            Shape::Matrix(n, m) => {
                self.spend(n * m, span)?;
                let positions: Vec<usize> = (0..n * m).map(|k| (k % n) * m + k / n).collect();
                let items = positions.iter().map(|&p| a.items[p]).collect();
                let measure = self.picked_measure(a.measure, &positions);
                Ok(Value { shape: Shape::Matrix(m, n), items, measure, ..a.clone() })
            }
            other => {
                let message = format!("`transpose` takes a matrix, and this is {other}");
                Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)))
            }
        }
    }

    /// Requires two vectors of one length.
    fn vectors(
        &mut self,
        name: &str,
        a: &Value,
        b: &Value,
        length: Option<usize>,
        span: Span,
    ) -> Elaborated<()> {
        let fits = |n: usize| length.is_none_or(|wanted| wanted == n);
        match (a.shape, b.shape) {
            (Shape::Vector(n), Shape::Vector(m)) if n == m && fits(n) => self.spend(n, span),
            (x, y) => {
                let wanted = length.map_or("of one length".to_string(), |n| format!("of {n}"));
                let message = format!("`{name}` takes vectors {wanted}, and these are {x} and {y}");
                Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)))
            }
        }
    }

    /// `zeros(n)`, `ones(n, m)`, `identity(n)`.
    fn constant_array(
        &mut self,
        env: Env<'_>,
        name: &str,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Elaborated<Value> {
        let most = if name == "identity" { 1 } else { 2 };
        if arguments.is_empty() || arguments.len() > most {
            let wanted = if most == 1 { "one size" } else { "one or two sizes" };
            let message = format!("`{name}` takes {wanted}, and {} are given", arguments.len());
            return Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, span, message)));
        }
        let sizes: Vec<Elaborated<usize>> = arguments.iter().map(|a| self.array_size(env, a)).collect();
        let sizes = sizes.into_iter().collect::<Elaborated<Vec<usize>>>()?;
        if name == "identity" {
            return self.identity(sizes[0], span);
        }
        let shape = Shape::from_sizes(&sizes).ok_or(super::Reported)?;
        self.spend(shape.len(), span)?;
        let item = self.graph().real(if name == "ones" { 1.0 } else { 0.0 });
        let items = vec![item; shape.len()].into();
        Ok(Value { shape, items, sort: Sort::Real, measure: Measure::Plain })
    }

    /// `size(x)` of a vector, `size(a, 1)` of a matrix, also of arrays of components.
    fn size_call(&mut self, env: Env<'_>, arguments: &[ast::Expr], span: Span) -> Elaborated<Value> {
        let Some(array) = arguments.first().filter(|_| arguments.len() <= 2) else {
            let message = format!("`size` takes an array and perhaps a dimension, not {}", arguments.len());
            return Err(self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, span, message)));
        };
        let shape = match self.select(env.plain(), array)? {
            Selection::Value(value) => value.shape,
            Selection::Cells(cells) => cells.shape,
            Selection::Instances(shape, _) => shape,
            Selection::Automaton(_) | Selection::Mode(_) | Selection::Event(_) => Shape::Scalar,
        };
        let dimension = match arguments.get(1) {
            Some(tree) => self.whole_number(env, tree)?,
            None => 1,
        };
        let sizes = shape.sizes();
        let ambiguous = arguments.len() == 1 && sizes.len() != 1;
        match usize::try_from(dimension - 1).ok().and_then(|d| sizes.get(d)).filter(|_| !ambiguous) {
            Some(&size) => {
                let item = self.graph().integer(size as i64);
                Ok(Value::scalar(item, Sort::Integer, Measure::Plain))
            }
            None => {
                let message = format!("this is {shape}: give the dimension of an array, `size(a, 1)`");
                Err(self.report(Diagnostic::error(codes::WRONG_SHAPE, span, message)))
            }
        }
    }

    /// Exactly `N` arguments.
    fn arguments<'v, const N: usize>(
        &mut self,
        name: &str,
        values: &'v [Value],
        span: Span,
    ) -> Elaborated<&'v [Value; N]> {
        values.try_into().map_err(|_| {
            let plural = if N == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {N} argument{plural}, and {} are given", values.len());
            self.report(Diagnostic::error(codes::WRONG_ARGUMENTS, span, message))
        })
    }
}
