//! Which way a guard leaves its zero, and whether it does.
//!
//! A quantity that the flow conserves, such as x^2 + v^2 - r^2 along a circle, rests: its polynomial has
//! terms that cancel. What rounding leaves of them has some sign, which tells nothing. So coefficients in
//! which something may cancel are compared with the terms they are sums of, each taken by its magnitude.
//!
//! Nor does a slope tell anything that is made up for before time advances by a few roundings: the
//! current behind a rectifier begins with the slope sin(t), and t is where the sine is nearly zero.

use crate::combination::Combination;
use crate::compile::Code;
use crate::guards::sign_of;
use saltus_expr::{Binary, Expr, Graph, Node, Unary};
use saltus_num::polynomial;
use saltus_num::roots::sign_after_zero;

/// A coefficient is nothing but rounding if it is below this share of the magnitudes of its terms.
const ROUNDING: f64 = 256.0 * f64::EPSILON;

/// A guard that moves by more than this share of what its variables move by does not rest.
const VISIBLE: f64 = 1e-9;

/// Expressions of more operations are not looked at.
const MOST_NODES: usize = 128;

/// Roundings of time within which nothing is told apart.
const INSTANT: f64 = 4.0 * f64::EPSILON;

/// The polynomial of an active atom, in powers of the unit of the jets times a ratio.
#[derive(Clone, Copy)]
pub(crate) struct Motion<'a> {
    pub p: usize,
    pub row: &'a [f64],
    pub ratio: f64,
    /// What time cannot resolve, in that unit.
    pub instant: f64,
}

/// What time cannot resolve, in some unit.
pub(crate) fn instant_at(t: f64, unit: f64) -> f64 {
    INSTANT * t.abs() / unit
}

/// Polynomials in whose place stand the magnitudes of their terms, the last one at the end.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    stack: Vec<f64>,
    /// Coefficients of each.
    span: usize,
    nodes: usize,
}

impl Terms {
    /// The direction in which an atom moves first, if it does not rest.
    pub fn first_motion(&mut self, code: &Code, combination: &Combination, motion: Motion) -> Option<i8> {
        let Motion { p, row, ratio, instant } = motion;
        let atom = &code.atoms[combination.atoms[p].index()];
        let moved = || polynomial::magnitude(&row[1..]);
        let reach = |slot: &u32| ratio * combination.jets.coefficient(*slot, 1).abs();
        if atom.may_cancel && atom.depends.iter().any(|slot| moved() <= VISIBLE * reach(slot)) {
            let first = self.first_beyond_rounding((&code.graph, atom.quantity), combination, row, ratio);
            return first.map(sign_of);
        }
        let soon = polynomial::evaluate(&row[1..], instant);
        // Where there is no expansion, the first coefficients may be numbers all the same.
        let tells = soon.is_finite() && soon != 0.0;
        Some(if tells { sign_of(soon) } else { sign_after_zero(&row[1..]).value() as i8 })
    }

    /// The first of the coefficients from order 1 on of a quantity that is more than rounding, if there is
    /// any.
    fn first_beyond_rounding(
        &mut self,
        (graph, quantity): (&Graph, Expr),
        combination: &Combination,
        row: &[f64],
        ratio: f64,
    ) -> Option<f64> {
        self.stack.clear();
        (self.span, self.nodes) = (row.len(), 0);
        if !self.push(graph, combination, quantity) {
            return row[1..].iter().copied().find(|&c| c != 0.0);
        }
        let mut power = 1.0;
        let beyond = row[1..].iter().zip(&self.stack[1..]).find(|(c, terms)| {
            power *= ratio;
            c.abs() > ROUNDING * power * **terms
        });
        beyond.map(|(&c, _)| c)
    }

    /// Appends the magnitudes of the terms of an expression; false if they are not known.
    fn push(&mut self, graph: &Graph, combination: &Combination, e: Expr) -> bool {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return false;
        }
        let first = self.stack.len();
        let mut both =
            |a: Expr, b: Expr| self.push(graph, combination, a) && self.push(graph, combination, b);
        match graph.node(e) {
            Node::Const(bits, _) => {
                self.stack.resize(first + self.span, 0.0);
                self.stack[first] = f64::from_bits(bits).abs();
                true
            }
            Node::Var(v, _) => {
                self.stack.resize(first + self.span, 0.0);
                combination.jets.row(v.0, &mut self.stack[first..]);
                self.stack[first..].iter_mut().for_each(|c| *c = c.abs());
                true
            }
            Node::Unary(Unary::Neg, a) => self.push(graph, combination, a),
            Node::Binary(Binary::Add | Binary::Sub, a, b) => {
                let known = both(a, b);
                known && self.fold(|a, b| a.iter_mut().zip(b).for_each(|(a, b)| *a += *b))
            }
            Node::Binary(Binary::Mul, a, b) => {
                let known = both(a, b);
                known && self.fold(multiply)
            }
            Node::Binary(Binary::Div, a, b) => {
                let known = both(a, b);
                // By something that moves is not looked at.
                let divisor = known.then(|| self.stack.len() - self.span);
                let is_constant = divisor.is_some_and(|at| self.stack[at + 1..].iter().all(|&c| c == 0.0));
                is_constant && self.fold(|a, b| a.iter_mut().for_each(|a| *a /= b[0]))
            }
            Node::Powi(a, n) if (2..=8).contains(&n) => {
                let known = (0..n).all(|_| self.push(graph, combination, a));
                known && (1..n).all(|_| self.fold(multiply))
            }
            _ => false,
        }
    }

    /// Replaces the last two polynomials by what becomes of the first.
    fn fold(&mut self, into: impl FnOnce(&mut [f64], &[f64])) -> bool {
        let last = self.stack.len() - self.span;
        let (a, b) = self.stack.split_at_mut(last);
        into(&mut a[last - b.len()..], b);
        self.stack.truncate(last);
        true
    }
}

/// Multiplies a polynomial by another, from the highest order down, so that what is needed is there.
fn multiply(a: &mut [f64], b: &[f64]) {
    for k in (0..a.len()).rev() {
        a[k] = (0..=k).map(|j| a[j] * b[k - j]).sum();
    }
}
