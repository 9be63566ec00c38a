//! Expressions as text, for models that were made without a source file.

use saltus_expr::{Binary, Expr, Node, Sort, Unary};
use saltus_model::HybridSystem;

/// How tightly an operator binds; an operand that binds less tightly gets brackets.
type Tightness = u8;
const OR: Tightness = 1;
const AND: Tightness = 2;
const COMPARISON: Tightness = 3;
const SUM: Tightness = 4;
const PRODUCT: Tightness = 5;
const SIGN: Tightness = 6;
const POWER: Tightness = 7;
const ATOM: Tightness = 8;

/// Labels are short: deeper parts of an expression are not written.
const DEPTH: usize = 12;

/// The text of an expression in the notation of the language.
pub fn text(system: &HybridSystem, e: Expr) -> String {
    term(system, e, 0, DEPTH)
}

fn term(system: &HybridSystem, e: Expr, outer: Tightness, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "…".into() };
    let inner = |e, outer| term(system, e, outer, depth);
    let call = |name: &str, arguments: &[Expr]| {
        let arguments: Vec<String> = arguments.iter().map(|&a| inner(a, 0)).collect();
        (format!("{name}({})", arguments.join(", ")), ATOM)
    };
    let (text, tightness) = match system.graph.node(e) {
        Node::Const(bits, sort) => (constant(f64::from_bits(bits), sort), ATOM),
        Node::Var(v, _) => (system.variable(v).name.clone(), ATOM),
        Node::Unary(Unary::Neg, a) => (format!("-{}", inner(a, SIGN)), SIGN),
        Node::Unary(Unary::Not, a) => (format!("not {}", inner(a, COMPARISON)), AND),
        Node::Unary(op, a) => call(&format!("{op:?}").to_lowercase(), &[a]),
        Node::Binary(op, a, b) => match infix(op) {
            Some((sign, tightness)) => {
                (format!("{} {sign} {}", inner(a, tightness), inner(b, tightness + 1)), tightness)
            }
            None if op == Binary::Pow => (format!("{}^{}", inner(a, ATOM), inner(b, POWER)), POWER),
            None => call(&format!("{op:?}").to_lowercase(), &[a, b]),
        },
        Node::Powi(a, k) => (format!("{}^{k}", inner(a, ATOM)), POWER),
        Node::Select(c, a, b) => (format!("if {} then {} else {}", inner(c, 0), inner(a, 0), inner(b, 0)), 0),
        Node::Table1(t, a) => call(&system.graph.table(t).name, &[a]),
        Node::Table2(t, a, b) => call(&system.graph.table(t).name, &[a, b]),
    };
    if tightness < outer { format!("({text})") } else { text }
}

fn infix(op: Binary) -> Option<(&'static str, Tightness)> {
    Some(match op {
        Binary::Add => ("+", SUM),
        Binary::Sub => ("-", SUM),
        Binary::Mul => ("*", PRODUCT),
        Binary::Div => ("/", PRODUCT),
        Binary::Lt => ("<", COMPARISON),
        Binary::Le => ("<=", COMPARISON),
        Binary::Eq => ("==", COMPARISON),
        Binary::And => ("and", AND),
        Binary::Or => ("or", OR),
        _ => return None,
    })
}

fn constant(value: f64, sort: Sort) -> String {
    match sort {
        Sort::Boolean => if value == 0.0 { "false" } else { "true" }.into(),
        _ => {
            let mut text = String::new();
            crate::csv::write_number(&mut text, value);
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_model::{Span, Variable, VariableKind};

    #[test]
    fn brackets_stand_only_where_they_are_needed() {
        let mut system = HybridSystem::new("m");
        system.variables.push(Variable {
            name: "x".into(),
            kind: VariableKind::State,
            sort: Sort::Real,
            unit: None,
            start: None,
            owner: None,
            span: Span::default(),
        });
        let g = &mut system.graph;
        let (t, x) = (g.var(saltus_expr::VarId(0), Sort::Real), g.var(saltus_expr::VarId(1), Sort::Real));
        let two = g.real(2.0);
        let sum = g.intern(Node::Binary(Binary::Add, x, two));
        let product = g.intern(Node::Binary(Binary::Mul, two, sum));
        let sine = g.intern(Node::Unary(Unary::Sin, product));
        let difference = g.intern(Node::Binary(Binary::Sub, t, sum));
        let guard = g.intern(Node::Binary(Binary::Le, difference, sine));
        assert_eq!(text(&system, guard), "time - (x + 2) <= sin(2 * (x + 2))");
    }
}
