//! Rows computed two by two.
//!
//! Two rows with the same rule on operands of the same degrees, neither of which needs the other at
//! its own order, are the two lanes of one vector: every instruction serves both. Lanes do not touch
//! each other, so the numbers are those of the rows computed one by one.
//!
//! Pairs are found greedily. Convolutions come first, those before others that share a factor or
//! have factors that are a pair already; a new pair asks its operands to be pairs, too. Then rows
//! follow that read pairs, and the states whose derivatives are pairs.

use crate::fused::Fused;
use saltus_expr::Reg;
use saltus_expr::jet::recurrence::{self, Arithmetic, Lock, Rule};
use saltus_expr::jet::{Degree, JetNode};
use std::cell::RefCell;
use std::collections::HashSet;

/// Plans of more rows are not searched for pairs, which takes time.
const MOST_ROWS: usize = 256;

/// Rows that are computed together.
#[derive(Clone, Debug)]
pub(crate) enum Unit {
    One(Reg),
    Two(Box<Two>),
}

/// A pair of rows and the rule of both, on operands numbered from 0 on.
#[derive(Clone, Debug)]
pub(crate) struct Two {
    pub rows: [Reg; 2],
    pub rule: Rule,
    /// The number of the pair itself among its operands.
    pub own: Reg,
    /// The rows each operand stands for.
    pub operands: Vec<[Reg; 2]>,
    pub locks: Vec<[Lock; 2]>,
}

impl Two {
    fn new(rows: [Reg; 2], rules: [Rule; 2]) -> Two {
        let [first, second] = rules.map(members);
        let mut operands: Vec<[Reg; 2]> = first.0.into_iter().zip(second.0).map(<[Reg; 2]>::from).collect();
        let locks: Vec<[Lock; 2]> = first.1.into_iter().zip(second.1).map(<[Lock; 2]>::from).collect();
        let (mut row, lock) = (0, RefCell::new(0));
        let mut next = |_| {
            row += 1;
            Reg(row - 1)
        };
        let rule = rules[0].map(&mut next, |_| Lock(lock.replace_with(|&mut n| n + 1)));
        let own = Reg(operands.len() as u32);
        operands.push(rows);
        Two { rows, rule, own, operands, locks }
    }
}

/// Rows and locks of a rule, in order.
fn members(rule: Rule) -> (Vec<Reg>, Vec<Lock>) {
    let (mut rows, locks) = (Vec::new(), RefCell::new(Vec::new()));
    let row = |r| {
        rows.push(r);
        r
    };
    let lock = |l| {
        locks.borrow_mut().push(l);
        l
    };
    rule.map(row, lock);
    (rows, locks.into_inner())
}

/// The pairs of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Pairing {
    /// The pair each row belongs to.
    pairs: Vec<Option<[Reg; 2]>>,
    /// All nodes, each after those it needs at its order.
    pub units: Vec<Unit>,
}

impl Pairing {
    /// The pairs among the rows of a plan that are not excluded.
    pub fn find(fused: &Fused, excluded: &[bool]) -> Pairing {
        let mut search = Search::new(fused, excluded);
        if fused.rows.rows() <= MOST_ROWS {
            search.join_rows();
            search.join_states();
        }
        let units = search.units();
        Pairing { pairs: search.pairs, units }
    }

    /// The pair a row belongs to.
    pub fn pair_of(&self, row: Reg) -> Option<[Reg; 2]> {
        self.pairs[row.index()]
    }

    /// The pairs of nodes.
    pub fn twos(&self) -> impl Iterator<Item = &Two> {
        self.units.iter().filter_map(|unit| match unit {
            Unit::Two(two) => Some(&**two),
            Unit::One(_) => None,
        })
    }
}

/// What two rows must have in common: the rule, and of each operand the degree and whether it has a
/// value at order 0.
type Shape = (Rule, u32);

struct Search<'a> {
    fused: &'a Fused,
    excluded: &'a [bool],
    nodes: Vec<(Reg, JetNode)>,
    pairs: Vec<Option<[Reg; 2]>>,
    shapes: Vec<Option<Shape>>,
    operands: Vec<Vec<Reg>>,
    /// What each row needs at its own order.
    needs: Vec<Vec<Reg>>,
}

impl<'a> Search<'a> {
    fn new(fused: &'a Fused, excluded: &'a [bool]) -> Self {
        let rows = fused.rows.rows();
        let nodes: Vec<(Reg, JetNode)> = fused.nodes().collect();
        let mut search = Search {
            fused,
            excluded,
            pairs: vec![None; rows],
            shapes: vec![None; rows],
            operands: vec![Vec::new(); rows],
            needs: vec![Vec::new(); rows],
            nodes,
        };
        for &(row, node) in &search.nodes {
            let i = row.index();
            search.shapes[i] = shape(fused, row, node.rule);
            search.operands[i] = members(node.rule).0;
            let mut needs = Needs::default();
            recurrence::advance(&mut needs, row, node.rule);
            search.needs[i] = needs.0;
        }
        search
    }

    fn join_rows(&mut self) {
        let mut candidates = Vec::new();
        for (i, &(p, node)) in self.nodes.iter().enumerate() {
            let alike =
                |q: Reg| self.shapes[p.index()].is_some() && self.shapes[p.index()] == self.shapes[q.index()];
            let heavy = self.is_convolution(p, node.rule);
            candidates.extend(self.nodes[i + 1..].iter().filter(|n| alike(n.0)).map(|n| (p, n.0, heavy)));
        }
        loop {
            candidates.retain(|&(p, q, _)| self.is_free(p) && self.is_free(q));
            let worth = candidates.iter().enumerate().filter_map(|(i, &(p, q, heavy))| {
                let (shared, paired) = self.kinship(p, q);
                (heavy || paired > 0).then_some(((heavy, 2 * shared + 3 * paired), std::cmp::Reverse(i)))
            });
            let Some((_, std::cmp::Reverse(best))) = worth.max() else { break };
            let (p, q, _) = candidates.remove(best);
            self.join(p, q);
        }
    }

    /// Neighbouring states whose derivatives are a pair.
    fn join_states(&mut self) {
        for i in 1..self.fused.states {
            let (x, y) = (self.fused.state(i - 1), self.fused.state(i));
            let derivatives = [self.fused.derivatives[i - 1], self.fused.derivatives[i]];
            if self.pairs[derivatives[0].index()] == Some(derivatives) {
                self.join(x, y);
            }
        }
    }

    fn is_convolution(&self, row: Reg, rule: Rule) -> bool {
        let endless = |r: Reg| self.fused.rows.degrees[r.index()] == Degree::UNBOUNDED;
        rule.products(row).any(|(a, b)| endless(a) && endless(b)) || rule.square(row).is_some_and(endless)
    }

    fn is_free(&self, row: Reg) -> bool {
        self.pairs[row.index()].is_none() && !self.excluded[row.index()]
    }

    /// How many operands that change with time two rows share, and how many are pairs.
    fn kinship(&self, p: Reg, q: Reg) -> (usize, usize) {
        let both = || self.operands[p.index()].iter().zip(&self.operands[q.index()]);
        let changes = |r: &Reg| !self.fused.rows.degrees[r.index()].is_constant();
        let shared = both().filter(|(a, b)| a == b && changes(a)).count();
        let paired = both().filter(|&(&a, &b)| a != b && self.pairs[a.index()] == Some([a, b])).count();
        (shared, paired)
    }

    /// Makes a pair of two rows if that is possible, and then of their operands.
    fn join(&mut self, p: Reg, q: Reg) {
        if p == q || !self.is_free(p) || !self.is_free(q) {
            return;
        }
        let degree = |r: Reg| self.fused.rows.degrees[r.index()];
        if self.fused.is_state(p) && self.fused.is_state(q) && degree(p) == degree(q) {
            self.join_two_states(p, q);
            return;
        }
        let alike = self.shapes[p.index()].is_some() && self.shapes[p.index()] == self.shapes[q.index()];
        if !alike || self.reaches(p, q) || self.reaches(q, p) {
            return;
        }
        self.set(p, q, Some([p, q]));
        let operands = self.operands[p.index()].clone().into_iter().zip(self.operands[q.index()].clone());
        operands.for_each(|(a, b)| self.join(a, b));
        if !self.has_paired_factors(p, q) {
            self.set(p, q, None);
        }
    }

    /// True if the factors of two rows are shared or pairs. To pack them anew at each order takes
    /// longer than to compute the rows one by one: all that follows waits for it.
    fn has_paired_factors(&self, p: Reg, q: Reg) -> bool {
        let factors = |row: Reg| {
            let rule = self.nodes[row.index() - self.fused.rows.first_node()].1.rule;
            let square = rule.square(row).map(|a| (a, a));
            rule.products(row).chain(square).flat_map(|(a, b)| [a, b])
        };
        let constant = |r: Reg| self.fused.rows.degrees[r.index()].is_constant();
        factors(p)
            .zip(factors(q))
            .all(|(a, b)| a == b || self.pairs[a.index()] == Some([a, b]) || constant(a) && constant(b))
    }

    /// States are a pair only together with their derivatives: else each order would have to pack
    /// them.
    fn join_two_states(&mut self, p: Reg, q: Reg) {
        self.set(p, q, Some([p, q]));
        let [dp, dq] = [p, q].map(|state| self.fused.derivatives[state.index() - 1]);
        self.join(dp, dq);
        if self.pairs[dp.index()] != Some([dp, dq]) {
            self.set(p, q, None);
        }
    }

    fn set(&mut self, p: Reg, q: Reg, pair: Option<[Reg; 2]>) {
        self.pairs[p.index()] = pair;
        self.pairs[q.index()] = pair;
    }

    /// The rows that are computed together with a row.
    fn together(&self, row: Reg) -> impl Iterator<Item = Reg> + use<> {
        let pair = self.pairs[row.index()].unwrap_or([row, row]);
        let count = if pair[0] == pair[1] { 1 } else { 2 };
        pair.into_iter().take(count)
    }

    /// True if a row, or what is computed together with it, needs another at its order.
    fn reaches(&self, from: Reg, to: Reg) -> bool {
        let (mut stack, mut seen) = (vec![from], HashSet::new());
        while let Some(row) = stack.pop() {
            if row == to {
                return true;
            }
            if seen.insert(row) && row.index() >= self.fused.rows.first_node() {
                let members = self.together(row);
                stack.extend(members.flat_map(|member| self.needs[member.index()].iter().copied()));
            }
        }
        false
    }

    fn units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut done = vec![false; self.pairs.len()];
        for &(row, _) in &self.nodes {
            self.visit(row, &mut done, &mut units);
        }
        units
    }

    /// Appends the unit of a row after those it needs.
    fn visit(&self, row: Reg, done: &mut [bool], units: &mut Vec<Unit>) {
        let first_node = self.fused.rows.first_node();
        if row.index() < first_node || done[row.index()] {
            return;
        }
        for member in self.together(row) {
            done[member.index()] = true;
        }
        for member in self.together(row) {
            for &need in &self.needs[member.index()] {
                self.visit(need, done, units);
            }
        }
        units.push(match self.pairs[row.index()] {
            None => Unit::One(row),
            Some(rows) => {
                let rules = rows.map(|r| self.nodes[r.index() - first_node].1.rule);
                Unit::Two(Box::new(Two::new(rows, rules)))
            }
        });
    }
}

/// The shape of a row, if it can be part of a pair: rules with branches cannot.
fn shape(fused: &Fused, row: Reg, rule: Rule) -> Option<Shape> {
    use Rule::{Bilinear, Frozen, Remainder, Steer};
    if matches!(rule, Frozen | Steer { .. } | Remainder { .. } | Bilinear { .. }) {
        return None;
    }
    let code = |r: Reg| {
        let degree = fused.rows.degrees[r.index()].bound().map_or(0, |d| d as u32 + 1);
        2 * degree + u32::from(fused.rows.starts[r.index()])
    };
    Some((rule.map(|r| Reg(code(r)), |_| Lock(0)), code(row)))
}

/// Collects what a rule needs at its own order.
#[derive(Default)]
struct Needs(Vec<Reg>);

impl Arithmetic for Needs {
    type Value = ();

    fn now(&mut self, row: Reg) -> Option<()> {
        self.0.push(row);
        Some(())
    }

    fn first(&mut self, _row: Reg) -> Option<()> {
        Some(())
    }

    fn old(&mut self, _a: Reg, _b: Reg) -> Option<()> {
        Some(())
    }

    fn old_square(&mut self, _a: Reg) -> Option<()> {
        Some(())
    }

    fn lock(&mut self, _lock: Lock) {}
    fn order(&mut self) {}
    fn inverse_order(&mut self) {}
    fn add(&mut self, _x: (), _y: ()) {}
    fn sub(&mut self, _x: (), _y: ()) {}
    fn mul(&mut self, _x: (), _y: ()) {}
    fn neg(&mut self, _x: ()) {}
    fn steer(&mut self, _first: (), _x: Option<()>, _y: Option<()>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_expr::{Binary, Expr, FlowPlan, Graph, PlanBlock, Program, Sort, VarId};

    /// The pairs of a flow of some states, given their derivatives.
    fn pairs(states: u32, rates: impl FnOnce(&mut Graph, &[Expr]) -> Vec<Expr>) -> (Pairing, Fused) {
        let mut graph = Graph::new();
        let variables: Vec<Expr> = (1..=states).map(|i| graph.var(VarId(i), Sort::Real)).collect();
        let rates = rates(&mut graph, &variables);
        let (program, inputs) = Program::new(&graph, &rates);
        let inputs = inputs.iter().map(|v| v.0).collect();
        let outputs = (states + 1..=2 * states).collect();
        let block = PlanBlock { program: program.into(), inputs, outputs };
        let plan = FlowPlan {
            blocks: vec![block],
            states: (1..=states).map(|i| (i, i + states)).collect(),
            time_slot: 0,
            slots: 1 + 2 * states as usize,
        };
        let fused = Fused::new(&plan).expect("well formed");
        let pairing = Pairing::find(&fused, &vec![false; fused.rows.rows()]);
        (pairing, fused)
    }

    #[test]
    fn coordinates_of_a_planet_are_pairs() {
        let (pairing, fused) = pairs(4, |graph, x| {
            let squares = [x[0], x[1]].map(|x| graph.mul(x, x));
            let distance = graph.add(squares[0], squares[1]);
            let exponent = graph.real(-1.5);
            let factor = graph.binary(Binary::Pow, distance, exponent);
            vec![x[2], x[3], graph.mul(x[0], factor), graph.mul(x[1], factor)]
        });
        for i in [0, 2] {
            let rows = [fused.state(i), fused.state(i + 1)];
            assert_eq!(pairing.pair_of(rows[0]), Some(rows));
        }
        assert_eq!(pairing.twos().count(), 2, "squares and products");
    }

    #[test]
    fn rows_that_need_each_other_are_no_pair() {
        let (pairing, _) = pairs(2, |graph, x| {
            let product = graph.mul(x[0], x[1]);
            vec![product, graph.mul(product, x[1])]
        });
        assert_eq!(pairing.twos().count(), 0);
        assert_eq!(pairing.units.len(), 2);
    }

    #[test]
    fn rows_whose_factors_lie_apart_are_no_pair() {
        let (pairing, _) = pairs(3, |graph, x| {
            let sine = graph.unary(saltus_expr::Unary::Sin, x[2]);
            vec![graph.mul(x[0], sine), graph.mul(x[0], x[1]), x[1]]
        });
        assert_eq!(pairing.twos().count(), 0);
    }
}
