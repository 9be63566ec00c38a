//! Polynomials in the time since an instant, with rational coefficients.
//!
//! A flow that the oracle supports is a polynomial, and so is every side of an atom along it. The
//! first non-zero coefficient answers what happens just after the instant, the positive roots say
//! when a truth may change.

use crate::Rational;
use num_bigint::BigInt;
use std::cmp::Ordering;

/// Coefficients from the constant one upwards; the last one is not zero.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Polynomial(Vec<Rational>);

/// The positive roots of a polynomial.
pub(crate) struct Roots {
    /// The rational ones, all there are unless `unsolved` is set.
    pub rational: Vec<Rational>,
    /// What is left over and has roots that were not found in closed form.
    pub unsolved: Option<Polynomial>,
}

impl Polynomial {
    pub fn new(mut coefficients: Vec<Rational>) -> Self {
        while coefficients.last().is_some_and(Rational::is_zero) {
            coefficients.pop();
        }
        Self(coefficients)
    }

    pub fn constant(value: Rational) -> Self {
        Self::new(vec![value])
    }

    /// The value if it does not depend on time.
    pub fn as_constant(&self) -> Option<Rational> {
        (self.0.len() <= 1).then(|| self.start())
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The coefficients from the constant one upwards.
    pub fn coefficients(&self) -> &[Rational] {
        &self.0
    }

    pub fn degree(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// The value at 0.
    pub fn start(&self) -> Rational {
        self.0.first().cloned().unwrap_or_else(Rational::zero)
    }

    /// The sign just after 0.
    pub fn sign_just_after(&self) -> Ordering {
        self.0.iter().find(|c| !c.is_zero()).map_or(Ordering::Equal, |c| c.cmp(&Rational::zero()))
    }

    /// The value at `h`.
    pub fn at(&self, h: &Rational) -> Rational {
        self.0.iter().rev().fold(Rational::zero(), |sum, c| sum * h + c)
    }

    pub fn plus(&self, other: &Self) -> Self {
        let length = self.0.len().max(other.0.len());
        let term = |p: &Self, k: usize| p.0.get(k).cloned().unwrap_or_else(Rational::zero);
        Self::new((0..length).map(|k| term(self, k) + term(other, k)).collect())
    }

    pub fn scaled(&self, factor: &Rational) -> Self {
        Self::new(self.0.iter().map(|c| c * factor).collect())
    }

    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.scaled(&-Rational::one()))
    }

    pub fn times(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::default();
        }
        let mut product = vec![Rational::zero(); self.0.len() + other.0.len() - 1];
        for (j, a) in self.0.iter().enumerate() {
            for (k, b) in other.0.iter().enumerate() {
                product[j + k] += a * b;
            }
        }
        Self::new(product)
    }

    pub fn power(&self, exponent: u32) -> Self {
        (0..exponent).fold(Self::constant(Rational::one()), |p, _| p.times(self))
    }

    /// The integral from 0, plus `start`.
    pub fn integral(&self, start: Rational) -> Self {
        let rest = self.0.iter().enumerate().map(|(k, c)| c / whole(k + 1));
        Self::new(std::iter::once(start).chain(rest).collect())
    }

    fn derivative(&self) -> Self {
        Self::new(self.0.iter().enumerate().skip(1).map(|(k, c)| c * whole(k)).collect())
    }

    /// All positive roots, in increasing order.
    pub fn positive_roots(&self) -> Roots {
        let zeros = self.0.iter().take_while(|c| c.is_zero()).count();
        let rest = &self.0[zeros..];
        let found = match rest {
            [] | [_] => vec![],
            [c, b] => vec![-c / b],
            [c, b, a] => match quadratic_roots(a, b, c) {
                Some(roots) => roots,
                None => return Roots { rational: vec![], unsolved: Some(Self(rest.to_vec())) },
            },
            _ => return Roots { rational: vec![], unsolved: Some(Self(rest.to_vec())) },
        };
        let mut rational: Vec<Rational> = found.into_iter().filter(Rational::is_positive).collect();
        rational.sort();
        rational.dedup();
        Roots { rational, unsolved: None }
    }

    /// True if there is a root in `(0, end]`; the value at 0 must not be zero. By Sturm's theorem.
    pub fn has_root_until(&self, end: &Rational) -> bool {
        if self.at(end).is_zero() {
            return true;
        }
        let mut chain = vec![self.clone(), self.derivative()];
        while chain[chain.len() - 1].degree() > 0 {
            let remainder = chain[chain.len() - 2].remainder(&chain[chain.len() - 1]);
            if remainder.is_zero() {
                break;
            }
            chain.push(remainder.scaled(&-Rational::one()));
        }
        sign_changes(&chain, &Rational::zero()) != sign_changes(&chain, end)
    }

    fn remainder(&self, divisor: &Self) -> Self {
        let mut rest = self.0.clone();
        let Some(lead) = divisor.0.last() else { return self.clone() };
        while rest.len() >= divisor.0.len() {
            let shift = rest.len() - divisor.0.len();
            let Some(top) = rest.pop() else { break };
            let factor = top / lead;
            for (k, c) in divisor.0.iter().enumerate().take(divisor.0.len() - 1) {
                rest[shift + k] -= &factor * c;
            }
        }
        Self::new(rest)
    }
}

/// A whole number as a rational.
pub(crate) fn whole(k: usize) -> Rational {
    Rational::from_integer(BigInt::from(k))
}

fn sign_changes(chain: &[Polynomial], h: &Rational) -> usize {
    let signs: Vec<bool> =
        chain.iter().map(|p| p.at(h)).filter(|v| !v.is_zero()).map(|v| v.is_positive()).collect();
    signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// The real roots of `a h^2 + b h + c`, or `None` if they are irrational.
fn quadratic_roots(a: &Rational, b: &Rational, c: &Rational) -> Option<Vec<Rational>> {
    let discriminant = b * b - a * c * whole(4);
    if discriminant.is_negative() {
        return Some(vec![]);
    }
    let root = square_root(&discriminant)?;
    let double = a * whole(2);
    Some(vec![(-b - &root) / &double, (root - b) / double])
}

fn square_root(value: &Rational) -> Option<Rational> {
    let root = Rational::new(value.numer().sqrt(), value.denom().sqrt());
    (&root * &root == *value).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rational;

    fn poly(coefficients: &[(i64, i64)]) -> Polynomial {
        Polynomial::new(coefficients.iter().map(|&(n, d)| rational(n, d)).collect())
    }

    #[test]
    fn roots_of_lines_and_parabolas_are_exact() {
        assert_eq!(poly(&[(-1, 1), (2, 1)]).positive_roots().rational, [rational(1, 2)]);
        let parabola = poly(&[(3, 1), (-4, 1), (1, 1)]);
        assert_eq!(parabola.positive_roots().rational, [rational(1, 1), rational(3, 1)]);
        assert!(poly(&[(1, 1), (0, 1), (1, 1)]).positive_roots().rational.is_empty());
        assert_eq!(poly(&[(0, 1), (-1, 1), (1, 1)]).positive_roots().rational, [rational(1, 1)]);
    }

    #[test]
    fn irrational_roots_are_left_and_bracketed() {
        let parabola = poly(&[(-2, 1), (0, 1), (1, 1)]);
        let left = parabola.positive_roots().unsolved.expect("the root of 2 is irrational");
        assert!(!left.has_root_until(&rational(14, 10)));
        assert!(left.has_root_until(&rational(15, 10)));
    }

    #[test]
    fn sign_just_after_is_that_of_the_leading_coefficient() {
        assert_eq!(poly(&[(0, 1), (0, 1), (-3, 1)]).sign_just_after(), Ordering::Less);
        assert_eq!(poly(&[]).sign_just_after(), Ordering::Equal);
    }

    #[test]
    fn integral_then_derivative_is_identity() {
        let p = poly(&[(1, 3), (2, 1), (0, 1), (5, 7)]);
        assert_eq!(p.integral(rational(9, 1)).derivative(), p);
    }
}
