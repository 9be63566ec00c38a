//! Functions that are nearly constant far from where they change, so that their series may tell nothing of
//! what comes: what grows or decays exponentially, and high powers, since u^n is exp(n log u).

use super::builder::Builder;
use saltus_expr::{Binary, Expr, Node, Unary};
use saltus_num::elementary::log;

/// The lowest order that a tolerance asks for. The series of a power with an exponent up to it has the term
/// of that order, also where the base is zero; one with a greater exponent may have none.
const SEEN_POWER: f64 = 8.0;
/// Beyond these sizes a hyperbolic tangent is constant, and below it an exponential function is nothing.
const FLAT_TANH: f64 = 20.0;
const FLAT_EXP: f64 = -128.0;
const FLAT_POWER: f64 = -128.0;

/// A function that may be flat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Flat<Exponent> {
    Function(Unary),
    Power(Exponent),
}

impl<A> Flat<A> {
    /// The same with its exponent in another form.
    pub fn map<B>(self, exponent: impl FnOnce(A) -> B) -> Flat<B> {
        match self {
            Flat::Function(function) => Flat::Function(function),
            Flat::Power(n) => Flat::Power(exponent(n)),
        }
    }
}

impl Flat<f64> {
    /// True unless it is a power that every series shows.
    pub fn may_conceal(self) -> bool {
        !matches!(self, Flat::Power(n) if n.abs() <= SEEN_POWER)
    }

    /// How far the function goes where its argument is in a range, as the way of an exponent that does the
    /// same; not positive if it is flat all the way.
    pub fn way(self, [low, high]: [f64; 2]) -> f64 {
        match self {
            Flat::Function(Unary::Tanh) if low >= FLAT_TANH || high <= -FLAT_TANH => 0.0,
            Flat::Function(Unary::Exp) if high <= FLAT_EXP => 0.0,
            Flat::Function(_) => high - low,
            Flat::Power(n) => {
                let [a, b] = sizes([low, high]).map(|size| n * log(size));
                a.max(b) - a.min(b).max(FLAT_POWER)
            }
        }
    }

    /// How far an error of the argument moves that exponent at least, somewhere in a range.
    pub fn blur(self, error: f64, range: [f64; 2]) -> f64 {
        match self {
            Flat::Function(_) => error,
            Flat::Power(n) => n.abs() * error / sizes(range)[1],
        }
    }
}

impl Builder<'_> {
    /// The function that an expression is, and its argument, if it may be flat.
    pub fn flat(&mut self, e: Expr) -> Option<(Flat<Expr>, Expr)> {
        if let Node::Unary(function @ (Unary::Exp | Unary::Tanh | Unary::Sinh | Unary::Cosh), argument) =
            self.graph.node(e)
        {
            return Some((Flat::Function(function), argument));
        }
        let (exponent, base) = self.power(e)?;
        let is_seen = self.graph.constant(exponent).is_some_and(|n| !Flat::Power(n).may_conceal());
        (!is_seen).then_some((Flat::Power(exponent), base))
    }

    /// An expression as a power of something that is none itself, with an exponent that rests on a step:
    /// powers of powers have the product of their exponents.
    fn power(&mut self, mut e: Expr) -> Option<(Expr, Expr)> {
        let mut product = None;
        loop {
            let (base, exponent) = match self.graph.node(e) {
                Node::Powi(base, n) => (base, self.graph.real(f64::from(n))),
                Node::Binary(Binary::Pow, base, n) if !self.varies(n) => (base, n),
                _ => return Some((product?, e)),
            };
            product = Some(product.map_or(exponent, |outer| self.graph.mul(outer, exponent)));
            e = base;
        }
    }
}

/// The least and the greatest size of the numbers in a range.
fn sizes([low, high]: [f64; 2]) -> [f64; 2] {
    let (a, b) = (low.abs(), high.abs());
    let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { a.min(b) };
    [least, a.max(b)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_go_as_far_as_exponential_functions_do() {
        let power = Flat::Power(100.0);
        let way = 100.0 * 1.5_f64.ln();
        assert!((power.way([1.0, 1.5]) - way).abs() < 1e-12);
        assert!((power.way([-1.5, -1.0]) - way).abs() < 1e-12);
        assert!((Flat::Power(-100.0).way([1.0, 1.5]) - way).abs() < 1e-12);
        assert_eq!(power.way([-1.0, 0.5]), -FLAT_EXP);
        assert!(power.way([-0.2, 0.2]) <= 0.0);
        assert!(Flat::Power(-100.0).way([4.0, 5.0]) <= 0.0);
    }
}
