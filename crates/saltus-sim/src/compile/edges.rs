//! Edges of domains: where a function stops to exist, or its smooth continuation stops to be it.
//!
//! A square root exists while its argument is not negative; the Taylor series of `sqrt(x^2)` knows
//! nothing of the kink at zero. Each such function of the equations in force has an atom at its
//! edge, so that no step goes past it unnoticed.

use super::builder::Builder;
use super::formula::{AtomId, AtomSource};
use saltus_expr::{Binary, Expr, Node};
use saltus_model::domains::{Bound, bounds_of};

/// The edge of one function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub atom: AtomId,
    /// The function.
    pub node: Expr,
    pub kind: EdgeKind,
    /// An atom that must not be positive for the edge to be there: the cut of atan2 lies on the
    /// negative axis only.
    pub unless_positive: Option<AtomId>,
}

/// What lies beyond an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeKind {
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
            Self::Positive => after < 0,
            Self::NonZero => true,
            Self::Kink => false,
        }
    }

    /// True if the function exists where its atom has a value.
    pub fn exists_at(self, value: f64) -> bool {
        match self {
            Self::Positive => value >= 0.0,
            Self::NonZero => value.abs() > 0.0,
            Self::Kink => true,
        }
    }
}

impl Builder<'_> {
    /// The edges of all functions reachable from some smooth expressions.
    pub fn edges(&mut self, roots: &[Expr]) -> Vec<Edge> {
        let mut nodes = Vec::new();
        self.graph.visit(roots, |e| nodes.push(e));
        let mut edges = Vec::new();
        for node in nodes {
            if let Some((quantity, kind)) = self.edge_of(node) {
                let atom = self.lowered_atom(quantity);
                let unless_positive = match self.graph.node(node) {
                    Node::Binary(Binary::Atan2, _, x) => Some(self.lowered_atom(x)),
                    _ => None,
                };
                edges.push(Edge { atom, node, kind, unless_positive });
            }
        }
        edges
    }

    /// The quantity that is zero at the edge of a function of something that varies.
    fn edge_of(&mut self, e: Expr) -> Option<(Expr, EdgeKind)> {
        let (argument, kind) = match self.graph.node(e) {
            Node::Binary(Binary::Hypot, a, b) => {
                let (a, b) = (self.graph.powi(a, 2), self.graph.powi(b, 2));
                (self.graph.add(a, b), EdgeKind::Kink)
            }
            Node::Binary(Binary::Atan2, y, _) => (y, EdgeKind::Kink),
            // Tables and mod are taken apart into branches before.
            Node::Table1(..) | Node::Table2(..) | Node::Binary(Binary::Mod, ..) => return None,
            _ => {
                let &(quantity, bound) = bounds_of(&mut self.graph, e).first()?;
                (quantity, if bound == Bound::NonZero { EdgeKind::NonZero } else { EdgeKind::Positive })
            }
        };
        AtomSource::varies(self, argument).then_some((argument, kind))
    }
}
