//! Exact numbers.
//!
//! Arithmetic is that of `num-rational`. Its comparison, equality and hash follow the continued
//! fraction of a number and recurse once for each of its terms, so the long fractions of an
//! accumulation of events would exhaust the stack. Here numbers are in lowest terms, so equality
//! and hash are those of numerator and denominator, and the order is that of the cross products.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// An exact number: a fraction in lowest terms with a positive denominator.
///
/// ```
/// use saltus_oracle::rational;
/// assert_eq!(rational(1, 3) + rational(1, 6), rational(1, 2));
/// assert!(rational(-1, 2) < rational(1, 3));
/// assert_eq!(rational(2, -6).to_string(), "-1/3");
/// ```
#[derive(Clone)]
pub struct Rational(BigRational);

/// The fraction `numerator / denominator`; the denominator must not be zero.
pub fn rational(numerator: i64, denominator: i64) -> Rational {
    Rational::new(BigInt::from(numerator), BigInt::from(denominator))
}

impl Rational {
    /// A fraction; the denominator must not be zero.
    pub fn new(numerator: BigInt, denominator: BigInt) -> Self {
        Self(BigRational::new(numerator, denominator))
    }

    /// A whole number.
    pub fn from_integer(value: BigInt) -> Self {
        Self(BigRational::from_integer(value))
    }

    /// The exact value of a double; `None` if it is infinite or not a number.
    pub fn from_float(value: f64) -> Option<Self> {
        BigRational::from_float(value).map(Self)
    }

    /// 0.
    pub fn zero() -> Self {
        Self(BigRational::zero())
    }

    /// 1.
    pub fn one() -> Self {
        Self(BigRational::one())
    }

    /// True for 0.
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// True above 0.
    pub fn is_positive(&self) -> bool {
        self.numer().is_positive()
    }

    /// True below 0.
    pub fn is_negative(&self) -> bool {
        self.numer().is_negative()
    }

    /// Its distance from 0.
    pub fn abs(&self) -> Self {
        Self(self.0.abs())
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> Self {
        Self::from_integer(self.numer().signum())
    }

    /// The numerator.
    pub fn numer(&self) -> &BigInt {
        self.0.numer()
    }

    /// The denominator.
    pub fn denom(&self) -> &BigInt {
        self.0.denom()
    }

    /// The bits of numerator and denominator.
    pub fn bits(&self) -> u64 {
        self.numer().bits() + self.denom().bits()
    }

    /// True if it is a double without being rounded.
    pub fn is_double(&self) -> bool {
        let odd_bits = self.numer().bits() - self.numer().trailing_zeros().unwrap_or(0);
        self.denom().magnitude().count_ones() == 1 && odd_bits <= u64::from(f64::MANTISSA_DIGITS)
    }

    /// True for a whole number.
    pub fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    /// The largest whole number not above it.
    pub fn floor(&self) -> Self {
        Self(self.0.floor())
    }

    /// The smallest whole number not below it.
    pub fn ceil(&self) -> Self {
        Self(self.0.ceil())
    }

    /// A double within a few units of the last place; infinite if it is too large.
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().unwrap_or(f64::NAN)
    }

    /// The value of a whole number that fits.
    pub fn to_i32(&self) -> Option<i32> {
        if self.is_integer() { self.numer().to_i32() } else { None }
    }
}

impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.numer() == other.numer() && self.denom() == other.denom()
    }
}

impl Eq for Rational {}

impl Hash for Rational {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.numer().hash(state);
        self.denom().hash(state);
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        match self.numer().sign().cmp(&other.numer().sign()) {
            Ordering::Equal => (self.numer() * other.denom()).cmp(&(other.numer() * self.denom())),
            different => different,
        }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! operations {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Rational {
            type Output = Rational;
            fn $method(self, other: Rational) -> Rational {
                Rational(self.0.$method(other.0))
            }
        }
        impl $trait<&Rational> for Rational {
            type Output = Rational;
            fn $method(self, other: &Rational) -> Rational {
                Rational(self.0.$method(&other.0))
            }
        }
        impl $trait<Rational> for &Rational {
            type Output = Rational;
            fn $method(self, other: Rational) -> Rational {
                Rational((&self.0).$method(other.0))
            }
        }
        impl $trait for &Rational {
            type Output = Rational;
            fn $method(self, other: &Rational) -> Rational {
                Rational((&self.0).$method(&other.0))
            }
        }
    )*};
}

operations!(Add add, Sub sub, Mul mul, Div div);

impl AddAssign for Rational {
    fn add_assign(&mut self, other: Rational) {
        self.0 += other.0;
    }
}

impl SubAssign for Rational {
    fn sub_assign(&mut self, other: Rational) {
        self.0 -= other.0;
    }
}

impl Neg for Rational {
    type Output = Rational;
    fn neg(self) -> Rational {
        Rational(-self.0)
    }
}

impl Neg for &Rational {
    type Output = Rational;
    fn neg(self) -> Rational {
        Rational(-&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::DefaultHasher;

    /// A number whose continued fraction has so many terms.
    fn long_fraction(terms: usize) -> Rational {
        let (mut a, mut b) = (BigInt::one(), BigInt::one());
        for _ in 0..terms {
            (a, b) = (b.clone(), a + b);
        }
        Rational::new(b, a)
    }

    #[test]
    fn long_fractions_are_compared_and_hashed_in_little_memory() {
        let (a, b) = (long_fraction(60_000), long_fraction(60_001));
        assert!((a < b) != (b < a) && a != b);
        let mut hasher = DefaultHasher::new();
        (&a, &b).hash(&mut hasher);
        assert_eq!(a.to_f64(), b.to_f64());
    }

    #[test]
    fn order_is_that_of_the_numbers() {
        let sorted = [rational(-3, 2), rational(-1, 3), rational(0, 5), rational(1, 3), rational(2, 5)];
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(rational(2, -4), rational(-1, 2));
    }
}
