//! Edges of domains: where a function stops to exist, or its smooth continuation stops to be it.
//!
//! A square root exists while its argument is not negative; the Taylor series of `sqrt(x^2)` knows
//! nothing of the kink at zero. Each such function of the equations in force has an atom at its
//! edge, so that no step goes past it unnoticed.

use super::builder::Builder;
use super::formula::{AtomId, AtomSource, Signs};
use saltus_expr::{Binary, Expr, Graph, Node, Unary, VarId};
use saltus_model::domains::{Bound, bounds_of};
use std::collections::{HashMap, HashSet};

/// The edge of one function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub atom: AtomId,
    /// The function.
    pub node: Expr,
    pub kind: EdgeKind,
    /// Where the edge is missing.
    pub unless: Option<Unless>,
    /// It is not in a branch of a choice, of which the other one may be in force.
    pub is_always_live: bool,
    /// The branch in force has values beyond the edge, although the function has none: a table.
    pub has_values_beyond: bool,
}

/// Where an edge is missing: the cut of atan2 lies on the negative axis only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unless {
    /// Where an atom is positive: the cut is not crossed there.
    Positive(AtomId),
    /// Where an atom does not rest at zero: the cut is not met along it, from the other axis.
    Moving(AtomId),
}

impl Unless {
    pub fn atom(self) -> AtomId {
        match self {
            Self::Positive(atom) | Self::Moving(atom) => atom,
        }
    }

    /// True if the edge is missing where the atom has some signs.
    pub fn is_so(self, signs: Signs) -> bool {
        match self {
            Self::Positive(_) => signs.now > 0,
            Self::Moving(_) => signs != Signs::steady(0),
        }
    }
}

/// What lies beyond an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeKind {
    /// The function exists where the atom is not negative.
    NonNegative,
    /// The function exists where the atom is positive.
    Positive,
    /// The function exists where the atom is not zero.
    NonZero,
    /// The function exists on both sides but its series does not reach across.
    Kink,
}

impl EdgeKind {
    /// True if the function ends to exist where its atom is zero and has a sign after that.
    pub fn is_left(self, after: i8) -> bool {
        match self {
            Self::NonNegative => after < 0,
            Self::Positive | Self::NonZero => true,
            Self::Kink => false,
        }
    }

    /// True if the series of the function may continue smoothly where the function does not. That of one
    /// with a pole diverges before.
    pub fn may_continue(self) -> bool {
        matches!(self, Self::NonNegative | Self::Kink)
    }

    /// True if the function exists where its atom has a value.
    pub fn exists_at(self, value: f64) -> bool {
        match self {
            Self::NonNegative => value >= 0.0,
            Self::Positive => value > 0.0,
            Self::NonZero => value.abs() > 0.0,
            Self::Kink => true,
        }
    }
}

/// All nodes that take part in some expressions: of a choice by a variable the branch in force alone, none
/// where it is not known whether the variable is true.
pub(crate) fn live(
    graph: &Graph,
    mut stack: Vec<Expr>,
    is_true: impl Fn(VarId) -> Option<bool>,
) -> HashSet<Expr> {
    let mut seen = HashSet::new();
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        match graph.node(e) {
            Node::Select(c, a, b) => match graph.node(c) {
                Node::Var(v, _) => stack.extend(is_true(v).map(|first| if first { a } else { b })),
                _ => stack.extend([a, b]),
            },
            _ => stack.extend(graph.operands(e)),
        }
    }
    seen
}

/// All nodes of an expression.
fn reachable(graph: &Graph, expression: Expr) -> HashSet<Expr> {
    let (mut seen, mut stack) = (HashSet::new(), vec![expression]);
    while let Some(e) = stack.pop() {
        if seen.insert(e) {
            stack.extend(graph.operands(e));
        }
    }
    seen
}

/// For each edge that is a kink the slots of the expressions that its function is part of.
pub(super) fn kinked(graph: &Graph, edges: &[Edge], expressions: &[(u32, Expr)]) -> Vec<Vec<u32>> {
    let mut slots = vec![Vec::new(); edges.len()];
    let mut functions: HashMap<Expr, Vec<usize>> = HashMap::new();
    for (i, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.kind == EdgeKind::Kink) {
        functions.entry(edge.node).or_default().push(i);
    }
    if !functions.is_empty() {
        for &(slot, expression) in expressions {
            for node in reachable(graph, expression) {
                functions.get(&node).into_iter().flatten().for_each(|&i| slots[i].push(slot));
            }
        }
    }
    slots
}

impl Builder<'_> {
    /// The edges of all functions reachable from some smooth expressions.
    pub fn edges(&mut self, roots: &[Expr]) -> Vec<Edge> {
        let mut nodes = Vec::new();
        self.graph.visit(roots, |e| nodes.push(e));
        let always = live(&self.graph, roots.to_vec(), |_| None);
        let mut edges = Vec::new();
        for node in nodes {
            let has_values_beyond = matches!(self.graph.node(node), Node::Table1(..));
            for (quantity, kind, unless) in self.edges_of(node) {
                if AtomSource::varies(self, quantity) {
                    let atom = self.lowered_atom(quantity);
                    let is_always_live = always.contains(&node);
                    edges.push(Edge { atom, node, kind, unless, is_always_live, has_values_beyond });
                }
            }
        }
        edges
    }

    /// The smooth quantities that are zero at the edges of a function.
    fn edges_of(&mut self, e: Expr) -> Vec<(Expr, EdgeKind, Option<Unless>)> {
        let bounds = match self.graph.node(e) {
            Node::Binary(Binary::Hypot, a, b) => {
                let (a, b) = (self.graph.powi(a, 2), self.graph.powi(b, 2));
                return vec![(self.graph.add(a, b), EdgeKind::Kink, None)];
            }
            Node::Binary(Binary::Atan2, y, x) => {
                let (right, off) =
                    (Unless::Positive(self.lowered_atom(x)), Unless::Moving(self.lowered_atom(y)));
                return vec![(y, EdgeKind::Kink, Some(right)), (x, EdgeKind::Kink, Some(off))];
            }
            // What is left of a table is a list of its branches.
            Node::Table1(..) => {
                let table = self.origins.get(&e).copied().unwrap_or(e);
                let bounds = bounds_of(&mut self.graph, table);
                bounds.into_iter().map(|(quantity, bound)| (self.lower(quantity), bound)).collect()
            }
            _ => bounds_of(&mut self.graph, e),
        };
        let kind = |bound| match bound {
            Bound::NonNegative => EdgeKind::NonNegative,
            Bound::Positive => EdgeKind::Positive,
            Bound::NonZero => EdgeKind::NonZero,
        };
        bounds.into_iter().map(|(quantity, bound)| (self.unclipped(quantity), kind(bound), None)).collect()
    }

    /// An expression that goes on where rounding alone is cut off: it tells which way it goes at zero.
    fn unclipped(&mut self, e: Expr) -> Expr {
        let argument = |graph: &mut Graph, e: Expr| match graph.node(e) {
            Node::Unary(Unary::Clip, a) => Some(a),
            // Functions may not exist beyond.
            Node::Unary(op, _) if op != Unary::Neg => Some(e),
            Node::Binary(Binary::Pow, ..) => Some(e),
            _ => None,
        };
        let other = self.graph.rewrite(&[e], argument)[0];
        if let Some(&origin) = self.origins.get(&e) {
            self.origins.entry(other).or_insert(origin);
        }
        other
    }
}
