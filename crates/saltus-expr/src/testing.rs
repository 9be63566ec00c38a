//! Random expressions and a plain evaluator, for property tests.

use crate::graph::{Binary, Expr, Graph, Node, Sort, Unary, VarId};
use crate::simplify::GREATEST_WHOLE_POWER;
use crate::vm;
use proptest::prelude::*;
use saltus_num::elementary;

/// Number of variables in random expressions; the last one is an Integer.
pub const VARIABLES: usize = 4;

/// Number of leaves every list of random expressions starts with.
pub const LEAVES: usize = VARIABLES + CONSTANTS.len();

const CONSTANTS: [f64; 9] = [0.0, 1.0, -1.0, 2.0, 0.5, -3.25, 3.0, -1.5, 2.5];

/// The number of cases of a property: `SALTUS_CASES` or the given one.
pub fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("SALTUS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_global_rejects: cases,
        ..ProptestConfig::default()
    }
}

/// A recipe for one more expression over those made so far.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    Unary(usize, usize),
    Binary(usize, usize, usize),
    Powi(usize, i32),
    Select(usize, usize, usize),
}

impl Operation {
    fn node(self, made: &[Expr]) -> Node {
        // Small numbers pick recent expressions, so that deep ones are common.
        let pick = |k: usize| made[made.len() - 1 - k % made.len()];
        match self {
            Operation::Unary(op, a) => Node::Unary(Unary::ALL[op % Unary::ALL.len()], pick(a)),
            Operation::Binary(op, a, b) => {
                Node::Binary(Binary::ALL[op % Binary::ALL.len()], pick(a), pick(b))
            }
            Operation::Powi(a, n) => Node::Powi(pick(a), n),
            Operation::Select(c, a, b) => Node::Select(pick(c), pick(a), pick(b)),
        }
    }

    /// The leaves, then one expression per operation.
    pub fn build_all(
        operations: &[Operation],
        g: &mut Graph,
        mut build: impl FnMut(&mut Graph, Node) -> Expr,
    ) -> Vec<Expr> {
        let mut made = Vec::new();
        for i in 0..VARIABLES {
            let sort = if i + 1 == VARIABLES { Sort::Integer } else { Sort::Real };
            made.push(g.var(VarId(i as u32), sort));
        }
        made.extend(CONSTANTS.map(|value| g.real(value)));
        for &operation in operations {
            let node = operation.node(&made);
            // Logic on Booleans and signs on numbers, as in a checked model.
            let boolean = |e: &Expr| g.sort(*e) == Sort::Boolean;
            let node = match node {
                Node::Unary(Unary::Not, a) if !boolean(&a) => Node::Unary(Unary::Neg, a),
                Node::Unary(Unary::Neg | Unary::Abs, a) if boolean(&a) => Node::Unary(Unary::Not, a),
                Node::Binary(Binary::And, a, b) if !boolean(&a) || !boolean(&b) => {
                    Node::Binary(Binary::Add, a, b)
                }
                Node::Binary(Binary::Or, a, b) if !boolean(&a) || !boolean(&b) => {
                    Node::Binary(Binary::Mul, a, b)
                }
                other => other,
            };
            made.push(build(g, node));
        }
        made
    }
}

/// Recipes for up to a dozen expressions.
pub fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let pick = || prop_oneof![3 => 0usize..4, 2 => 0usize..20];
    let operation = prop_oneof![
        4 => (0usize..21, pick()).prop_map(|(op, a)| Operation::Unary(op, a)),
        8 => (0usize..15, pick(), pick()).prop_map(|(op, a, b)| Operation::Binary(op, a, b)),
        1 => (pick(), -3i32..=4).prop_map(|(a, n)| Operation::Powi(a, n)),
        1 => (pick(), pick(), pick()).prop_map(|(c, a, b)| Operation::Select(c, a, b)),
    ];
    prop::collection::vec(operation, 1..12)
}

/// A few values for every variable.
pub fn points() -> impl Strategy<Value = Vec<[f64; VARIABLES]>> {
    let real =
        || prop_oneof![6 => -4.0f64..4.0, 1 => Just(0.0), 1 => Just(1.0), 1 => Just(-1.0), 1 => Just(1e300)];
    let point = (real(), real(), real(), -4i32..4).prop_map(|(x, y, z, k)| [x, y, z, f64::from(k)]);
    prop::collection::vec(point, 1..6)
}

fn power(base: f64, exponent: f64) -> f64 {
    let whole = exponent.fract() == 0.0 && exponent.abs() <= GREATEST_WHOLE_POWER;
    if whole { elementary::powi(base, exponent as i32) } else { elementary::pow(base, exponent) }
}

/// The value of an expression, up to what simplification may change: zeros are made positive after
/// every operation, and whole powers are always multiplied out.
pub fn value(g: &Graph, e: Expr, variables: &[f64]) -> f64 {
    let mut values = vec![f64::NAN; g.len()];
    g.visit(&[e], |e| {
        let at = |x: Expr| values[x.index()];
        let value = match g.node(e) {
            Node::Const(bits, _) => f64::from_bits(bits),
            Node::Var(v, _) => variables[v.index()],
            Node::Unary(op, a) => vm::unary(op, at(a)),
            Node::Binary(Binary::Pow, a, b) => power(at(a), at(b)),
            Node::Binary(op, a, b) => vm::binary(op, at(a), at(b)),
            Node::Powi(a, n) => elementary::powi(at(a), n),
            Node::Select(c, a, b) => at(if at(c) != 0.0 { a } else { b }),
            Node::Table1(t, a) => g.table(t).line(at(a)).value_at(at(a)),
            Node::Table2(t, a, b) => g.table(t).patch(at(a), at(b)).value_at(at(a), at(b)),
        };
        values[e.index()] = if value == 0.0 { 0.0 } else { value };
    });
    values[e.index()]
}
