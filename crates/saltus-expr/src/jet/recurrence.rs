//! The recurrences, and the order of their operations.
//!
//! Every evaluator of jets (one lane, many lanes, unrolled native code, looping native code) calls
//! [`advance`] with its own [`Arithmetic`], on numbers or on code to be emitted. What is added to
//! what, and when, is written here only, so all of them give the same bits.
//!
//! At order k a product of rows a and b is a convolution whose terms a_j b_(k-j) are of three kinds:
//! - *newest*, a_0 b_k and a_k b_0;
//! - *edge*, a_1 b_(k-1) and a_(k-1) b_1 (one term if k = 2), with a factor one order old;
//! - *middle*, 1 < j < k - 1.
//!
//! What is new is added late, so that a machine can sum the middle before the last order is
//! complete. Rules of the sums:
//! 1. Middle terms are added in two partial sums, one over even j, one over odd j, each from low j
//!    to high j and starting with its first term (not with zero); the middle is one partial sum plus
//!    the other, or the only one there is.
//! 2. The old part is middle + edge, where the edge is a_1 b_(k-1) + a_(k-1) b_1.
//! 3. Newest terms are added last: (old + a_0 b_k) + a_k b_0.
//! 4. For a square, terms j and k - j are taken together: the middle is that of 1 < j < k - j, the
//!    edge is a_1 a_(k-1) (if k > 2), their sum s counts as s + s, and for even k the square of the
//!    centre coefficient a_(k/2) is added after; then (a_0 + a_0) a_k.
//! 5. A term with a factor above its row's [`Degree`] is left out altogether; a sum of which one
//!    part is left out is the other part.
//! 6. Division is multiplication by a reciprocal formed at order 0; the reciprocal of the order
//!    itself is 1.0 / k, rounded. A state is its derivative of order k - 1 times (h * (1.0 / k)).
//! 7. A function of a row is its old part, complete with all factors, plus a factor of order 0 times
//!    the newest coefficient of the row itself: what waits for that is one product and one sum.
//! 8. No fused multiply-add.

use super::Degree;
use crate::program::Reg;
use std::ops::RangeInclusive;

/// A number fixed at order 0; see [`LockRule`](super::LockRule).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lock(pub u32);

/// How the coefficients of a row above order 0 follow from other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// There are none.
    Frozen,
    /// -a
    Neg(Reg),
    /// a + b
    Add(Reg, Reg),
    /// a - b
    Sub(Reg, Reg),
    /// a b
    Mul(Reg, Reg),
    /// a a
    Square(Reg),
    /// a / b
    Div {
        /// Numerator.
        a: Reg,
        /// Denominator.
        b: Reg,
        /// 1 / b_0.
        inverse: Lock,
    },
    /// The square root of a row.
    Root {
        /// Under the root.
        radicand: Reg,
        /// 1 / (2 y_0).
        inverse: Lock,
    },
    /// k a_k, the rate of a row: the coefficients of t da/dt.
    Rate(Reg),
    /// y with dy = `by` da: exp, sin, cos, tan, sinh, cosh, tanh.
    Chain {
        /// The argument a.
        of: Reg,
        /// Rate of a.
        rate: Reg,
        /// The factor.
        by: Reg,
        /// dy = - `by` da instead.
        negate: bool,
    },
    /// The rate of y where `by` dy is given by its rate: log and the inverse functions.
    Quotient {
        /// Rate of the numerator.
        rate: Reg,
        /// The divisor.
        by: Reg,
        /// Reciprocal of the divisor at order 0.
        inverse: Lock,
    },
    /// y from its rate.
    Integral {
        /// The rate.
        rate: Reg,
        /// Minus that.
        negate: bool,
    },
    /// y = a^c for a constant c, from a dy = c y da.
    Power {
        /// a
        base: Reg,
        /// Rate of a.
        base_rate: Reg,
        /// Rate of y.
        rate: Reg,
        /// c
        exponent: Reg,
        /// 1 / a_0.
        inverse: Lock,
    },
    /// One of two rows.
    Steer {
        /// Not zero: a; zero: b.
        first: Lock,
        /// First row.
        a: Reg,
        /// Second row.
        b: Reg,
    },
    /// A row times a number.
    Scale {
        /// The number.
        by: Lock,
        /// The row.
        a: Reg,
    },
    /// a - q b
    Remainder {
        /// Dividend.
        a: Reg,
        /// Divisor.
        b: Reg,
        /// q
        quotient: Lock,
    },
    /// A bilinear patch: slopes at order 0 and the coefficient of the product.
    Bilinear {
        /// First argument.
        a: Reg,
        /// Second argument.
        b: Reg,
        /// Slope in a.
        by_a: Lock,
        /// Slope in b.
        by_b: Lock,
        /// Coefficient of a b.
        by_ab: Lock,
    },
}

impl Rule {
    /// The same rule on other rows and locks.
    pub fn map(self, mut row: impl FnMut(Reg) -> Reg, lock: impl Fn(Lock) -> Lock) -> Rule {
        match self {
            Rule::Frozen => Rule::Frozen,
            Rule::Neg(a) => Rule::Neg(row(a)),
            Rule::Add(a, b) => Rule::Add(row(a), row(b)),
            Rule::Sub(a, b) => Rule::Sub(row(a), row(b)),
            Rule::Mul(a, b) => Rule::Mul(row(a), row(b)),
            Rule::Square(a) => Rule::Square(row(a)),
            Rule::Div { a, b, inverse } => Rule::Div { a: row(a), b: row(b), inverse: lock(inverse) },
            Rule::Root { radicand, inverse } => {
                Rule::Root { radicand: row(radicand), inverse: lock(inverse) }
            }
            Rule::Rate(a) => Rule::Rate(row(a)),
            Rule::Chain { of, rate, by, negate } => {
                Rule::Chain { of: row(of), rate: row(rate), by: row(by), negate }
            }
            Rule::Quotient { rate, by, inverse } => {
                Rule::Quotient { rate: row(rate), by: row(by), inverse: lock(inverse) }
            }
            Rule::Integral { rate, negate } => Rule::Integral { rate: row(rate), negate },
            Rule::Power { base, base_rate, rate, exponent, inverse } => Rule::Power {
                base: row(base),
                base_rate: row(base_rate),
                rate: row(rate),
                exponent: row(exponent),
                inverse: lock(inverse),
            },
            Rule::Steer { first, a, b } => Rule::Steer { first: lock(first), a: row(a), b: row(b) },
            Rule::Scale { by, a } => Rule::Scale { by: lock(by), a: row(a) },
            Rule::Remainder { a, b, quotient } => {
                Rule::Remainder { a: row(a), b: row(b), quotient: lock(quotient) }
            }
            Rule::Bilinear { a, b, by_a, by_b, by_ab } => Rule::Bilinear {
                a: row(a),
                b: row(b),
                by_a: lock(by_a),
                by_b: lock(by_b),
                by_ab: lock(by_ab),
            },
        }
    }

    /// The products whose old terms the rule for row `y` needs.
    pub fn products(self, y: Reg) -> impl Iterator<Item = (Reg, Reg)> {
        let pairs = match self {
            Rule::Mul(a, b) | Rule::Bilinear { a, b, .. } => [Some((a, b)), None],
            Rule::Div { b, .. } => [Some((y, b)), None],
            Rule::Chain { rate, by, .. } => [Some((rate, by)), None],
            Rule::Quotient { by, .. } => [Some((y, by)), None],
            Rule::Power { base, base_rate, rate, .. } => [Some((base_rate, y)), Some((base, rate))],
            _ => [None, None],
        };
        pairs.into_iter().flatten()
    }

    /// The square whose old terms the rule for row `y` needs.
    pub fn square(self, y: Reg) -> Option<Reg> {
        match self {
            Rule::Square(a) => Some(a),
            Rule::Root { .. } => Some(y),
            _ => None,
        }
    }
}

/// The arithmetic [`advance`] runs on, at one order k >= 1 known to it.
pub trait Arithmetic {
    /// A number, or the code for one.
    type Value: Copy;

    /// The coefficient of order k of a row, if the row reaches it.
    fn now(&mut self, row: Reg) -> Option<Self::Value>;
    /// The coefficient of order 0 of a row, if it has one.
    fn first(&mut self, row: Reg) -> Option<Self::Value>;
    /// The old terms of the product of two rows (rules 1 and 2), if there are any.
    fn old(&mut self, a: Reg, b: Reg) -> Option<Self::Value>;
    /// The old terms of the square of a row (rule 4), if there are any.
    fn old_square(&mut self, a: Reg) -> Option<Self::Value>;
    /// A locked number.
    fn lock(&mut self, lock: Lock) -> Self::Value;
    /// k
    fn order(&mut self) -> Self::Value;
    /// 1 / k
    fn inverse_order(&mut self) -> Self::Value;
    /// x + y
    fn add(&mut self, x: Self::Value, y: Self::Value) -> Self::Value;
    /// x - y
    fn sub(&mut self, x: Self::Value, y: Self::Value) -> Self::Value;
    /// x y
    fn mul(&mut self, x: Self::Value, y: Self::Value) -> Self::Value;
    /// -x
    fn neg(&mut self, x: Self::Value) -> Self::Value;
    /// x if `first` is not zero, else y; what is absent is zero.
    fn steer(&mut self, first: Self::Value, x: Option<Self::Value>, y: Option<Self::Value>) -> Self::Value;
}

/// x + y; what is absent is left out.
#[inline(always)]
pub fn plus<A: Arithmetic>(ar: &mut A, x: Option<A::Value>, y: Option<A::Value>) -> Option<A::Value> {
    match (x, y) {
        (Some(x), Some(y)) => Some(ar.add(x, y)),
        (x, y) => x.or(y),
    }
}

#[inline(always)]
fn minus<A: Arithmetic>(ar: &mut A, x: Option<A::Value>, y: Option<A::Value>) -> Option<A::Value> {
    match (x, y) {
        (Some(x), Some(y)) => Some(ar.sub(x, y)),
        (None, Some(y)) => Some(ar.neg(y)),
        (x, None) => x,
    }
}

/// A newest term: the first coefficient of one row times the present one of another.
#[inline(always)]
fn newest<A: Arithmetic>(ar: &mut A, first: Reg, now: Reg) -> Option<A::Value> {
    let now = ar.now(now)?;
    let first = ar.first(first)?;
    Some(ar.mul(first, now))
}

#[inline(always)]
fn scaled<A: Arithmetic>(ar: &mut A, by: A::Value, x: Option<A::Value>) -> Option<A::Value> {
    x.map(|x| ar.mul(by, x))
}

#[inline(always)]
fn signed<A: Arithmetic>(ar: &mut A, negate: bool, x: Option<A::Value>) -> Option<A::Value> {
    if negate { x.map(|x| ar.neg(x)) } else { x }
}

/// The coefficient of order k >= 1 of row `y` by its rule; nothing if every term is absent, which
/// means zero.
#[inline(always)]
pub fn advance<A: Arithmetic>(ar: &mut A, y: Reg, rule: Rule) -> Option<A::Value> {
    match rule {
        Rule::Frozen => None,
        Rule::Neg(a) => ar.now(a).map(|x| ar.neg(x)),
        Rule::Add(a, b) => {
            let (x, y) = (ar.now(a), ar.now(b));
            plus(ar, x, y)
        }
        Rule::Sub(a, b) => {
            let (x, y) = (ar.now(a), ar.now(b));
            minus(ar, x, y)
        }
        Rule::Mul(a, b) => {
            let old = ar.old(a, b);
            let left = newest(ar, a, b);
            let right = newest(ar, b, a);
            let sum = plus(ar, old, left);
            plus(ar, sum, right)
        }
        Rule::Square(a) => {
            let old = ar.old_square(a);
            let now = ar.now(a);
            let first = ar.first(a);
            let newest = now.zip(first).map(|(now, first)| {
                let twice = ar.add(first, first);
                ar.mul(twice, now)
            });
            plus(ar, old, newest)
        }
        Rule::Div { a, b, inverse } => {
            let old = ar.old(y, b);
            let left = newest(ar, y, b);
            let sum = plus(ar, old, left);
            let numerator = ar.now(a);
            let rest = minus(ar, numerator, sum);
            let inverse = ar.lock(inverse);
            scaled(ar, inverse, rest)
        }
        Rule::Root { radicand, inverse } => {
            let old = ar.old_square(y);
            let now = ar.now(radicand);
            let rest = minus(ar, now, old);
            let inverse = ar.lock(inverse);
            scaled(ar, inverse, rest)
        }
        Rule::Rate(a) => {
            let k = ar.order();
            let now = ar.now(a);
            scaled(ar, k, now)
        }
        Rule::Chain { of, rate, by, negate } => {
            let inverse = ar.inverse_order();
            let old = ar.old(rate, by);
            let old = scaled(ar, inverse, old);
            let last = newest(ar, by, of);
            let value = plus(ar, old, last);
            signed(ar, negate, value)
        }
        Rule::Quotient { rate, by, inverse } => {
            let old = ar.old(y, by);
            let now = ar.now(rate);
            let rest = minus(ar, now, old);
            let inverse = ar.lock(inverse);
            scaled(ar, inverse, rest)
        }
        Rule::Integral { rate, negate } => {
            let inverse = ar.inverse_order();
            let now = ar.now(rate);
            let value = scaled(ar, inverse, now);
            signed(ar, negate, value)
        }
        Rule::Power { base, base_rate, rate, exponent, inverse } => {
            let exponent = ar.first(exponent)?;
            let inverse = ar.lock(inverse);
            let forward = ar.old(base_rate, y);
            let forward = scaled(ar, exponent, forward);
            let back = ar.old(base, rate);
            let old = minus(ar, forward, back);
            let by_order = ar.inverse_order();
            let by_order = ar.mul(inverse, by_order);
            let old = scaled(ar, by_order, old);
            let last = ar.now(base).zip(ar.first(y)).map(|(now, first)| {
                let slope = ar.mul(exponent, first);
                let slope = ar.mul(slope, inverse);
                ar.mul(slope, now)
            });
            plus(ar, old, last)
        }
        Rule::Steer { first, a, b } => {
            let first = ar.lock(first);
            let (x, y) = (ar.now(a), ar.now(b));
            (x.is_some() || y.is_some()).then(|| ar.steer(first, x, y))
        }
        Rule::Scale { by, a } => {
            let by = ar.lock(by);
            let now = ar.now(a);
            scaled(ar, by, now)
        }
        Rule::Remainder { a, b, quotient } => {
            let quotient = ar.lock(quotient);
            let now = ar.now(b);
            let back = scaled(ar, quotient, now);
            let now = ar.now(a);
            minus(ar, now, back)
        }
        Rule::Bilinear { a, b, by_a, by_b, by_ab } => {
            let by_ab = ar.lock(by_ab);
            let old = ar.old(a, b);
            let product = scaled(ar, by_ab, old);
            let (by_a, by_b) = (ar.lock(by_a), ar.lock(by_b));
            let (x, y) = (ar.now(a), ar.now(b));
            let (x, y) = (scaled(ar, by_a, x), scaled(ar, by_b, y));
            let slope = plus(ar, x, y);
            plus(ar, product, slope)
        }
    }
}

/// The old terms of a product that are not left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldTerms {
    /// The middle terms.
    pub middle: RangeInclusive<usize>,
    /// True if a_1 b_(k-1) is there.
    pub low_edge: bool,
    /// True if a_(k-1) b_1 is there and is not the same term.
    pub high_edge: bool,
}

impl OldTerms {
    /// For the product of two rows at order k.
    #[inline(always)]
    pub fn of_product(k: usize, degree_a: Degree, degree_b: Degree) -> OldTerms {
        let low = degree_b.bound().map_or(0, |d| k.saturating_sub(d));
        let high = degree_a.bound().map_or(k, |d| d.min(k));
        let middle = low.max(2)..=high.min(k.saturating_sub(2));
        let there = |j: usize| low <= j && j <= high;
        OldTerms { middle, low_edge: k > 1 && there(1), high_edge: k > 2 && there(k - 1) }
    }
}

/// The old terms of a square that are not left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldSquareTerms {
    /// The middle terms j < k - j.
    pub middle: RangeInclusive<usize>,
    /// True if a_1 a_(k-1) is there.
    pub edge: bool,
    /// The centre coefficient, if there is one.
    pub centre: Option<usize>,
}

impl OldSquareTerms {
    /// For the square of a row at order k.
    #[inline(always)]
    pub fn of_square(k: usize, degree: Degree) -> OldSquareTerms {
        let low = degree.bound().map_or(0, |d| k.saturating_sub(d));
        let centre = (k.is_multiple_of(2) && degree.reaches(k / 2)).then_some(k / 2);
        OldSquareTerms { middle: low.max(2)..=(k - 1) / 2, edge: k > 2 && low <= 1, centre }
    }
}
