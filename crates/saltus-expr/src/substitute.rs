//! Substitution: the same expression with variables replaced by expressions.

use crate::graph::{Expr, Graph, Node, VarId};
use crate::hash::QuickMap;

impl Graph {
    /// Rebuilds `roots` with every variable for which `replace` has an answer replaced by it. All
    /// variables are replaced at once: the replacements themselves are not searched again. What
    /// becomes simpler is simplified; what does not change is not rebuilt.
    ///
    /// ```
    /// use saltus_expr::{Graph, Sort, VarId};
    /// let mut g = Graph::new();
    /// let [x, y] = [0, 1].map(|i| g.var(VarId(i), Sort::Real));
    /// let (sum, two) = (g.add(x, y), g.real(2.0));
    /// let swapped = g.substitute(&[sum], |v| Some(if v == VarId(0) { two } else { x }))[0];
    /// assert_eq!(swapped, g.add(two, x));
    /// ```
    pub fn substitute(&mut self, roots: &[Expr], replace: impl Fn(VarId) -> Option<Expr>) -> Vec<Expr> {
        self.rewrite(roots, |graph, e| match graph.node(e) {
            Node::Var(v, _) => replace(v),
            _ => None,
        })
    }

    /// Rebuilds `roots` with every node for which `replace` has an answer replaced by it; operands
    /// of a replaced node are not visited.
    ///
    /// ```
    /// use saltus_expr::{Graph, Node, Sort, Unary, VarId};
    /// let mut g = Graph::new();
    /// let x = g.var(VarId(0), Sort::Real);
    /// let (size, two) = (g.unary(Unary::Abs, x), g.real(2.0));
    /// let twice = g.mul(two, size);
    /// let without = g.rewrite(&[twice], |g, e| match g.node(e) {
    ///     Node::Unary(Unary::Abs, a) => Some(a),
    ///     _ => None,
    /// })[0];
    /// assert_eq!(without, g.mul(two, x));
    /// ```
    pub fn rewrite(
        &mut self,
        roots: &[Expr],
        mut replace: impl FnMut(&mut Graph, Expr) -> Option<Expr>,
    ) -> Vec<Expr> {
        let mut done: QuickMap<Expr, Expr> = QuickMap::default();
        let mut pending: Vec<(Expr, bool)> = roots.iter().rev().map(|&root| (root, false)).collect();
        while let Some((e, ready)) = pending.pop() {
            if done.contains_key(&e) {
                continue;
            }
            if ready {
                let rebuilt = self.rebuild(e, &done);
                done.insert(e, rebuilt);
            } else if let Some(other) = replace(self, e) {
                done.insert(e, other);
            } else {
                pending.push((e, true));
                pending.extend(self.operands(e).map(|operand| (operand, false)));
            }
        }
        roots.iter().map(|root| done[root]).collect()
    }

    fn rebuild(&mut self, e: Expr, done: &QuickMap<Expr, Expr>) -> Expr {
        if self.operands(e).all(|operand| done[&operand] == operand) {
            return e;
        }
        let node = match self.node(e) {
            leaf @ (Node::Const(..) | Node::Var(..)) => leaf,
            Node::Unary(op, a) => Node::Unary(op, done[&a]),
            Node::Powi(a, n) => Node::Powi(done[&a], n),
            Node::Table1(t, a) => Node::Table1(t, done[&a]),
            Node::Binary(op, a, b) => Node::Binary(op, done[&a], done[&b]),
            Node::Table2(t, a, b) => Node::Table2(t, done[&a], done[&b]),
            Node::Select(c, a, b) => Node::Select(done[&c], done[&a], done[&b]),
        };
        self.make(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, Operation, VARIABLES};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(500))]

        /// Substituting expressions is evaluating them first.
        #[test]
        fn values_of_replacements_take_the_place_of_variables(
            operations in testing::operations(),
            points in testing::points(),
        ) {
            let mut g = Graph::new();
            let made = Operation::build_all(&operations, &mut g, |g, node| g.make(node));
            let root = *made.last().unwrap();
            let (old, new) = (made[0], made[made.len() / 2]);
            // Only what has the sort of the variable may take its place.
            prop_assume!(g.sort(new) == g.sort(old));
            let replaced = g.substitute(&[root], |v| (v == VarId(0)).then_some(new))[0];
            for point in points {
                let mut moved: [f64; VARIABLES] = point;
                moved[0] = testing::value(&g, new, &point);
                let (direct, composed) = (testing::value(&g, root, &moved), testing::value(&g, replaced, &point));
                prop_assert!(direct.to_bits() == composed.to_bits() || (direct.is_nan() && composed.is_nan()));
            }
        }
    }

    #[test]
    fn shared_parts_are_rebuilt_once() {
        let mut g = Graph::new();
        let mut e = g.var(VarId(0), crate::Sort::Real);
        for _ in 0..200 {
            e = g.add(e, e);
        }
        let y = g.var(VarId(1), crate::Sort::Real);
        let before = g.len();
        let replaced = g.substitute(&[e], |_| Some(y))[0];
        assert_eq!(g.len(), before + 200);
        assert_eq!(g.variables(&[replaced]), [VarId(1)]);
    }
}
