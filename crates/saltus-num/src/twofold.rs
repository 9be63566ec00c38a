//! Numbers of twice the usual precision, each the unevaluated sum of two: for the few places where
//! ordinary rounding would decide a question of yes or no.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// high + low, where low is at most half a unit in the last place of high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    /// The number rounded once.
    pub fn rounded(self) -> f64 {
        self.high
    }

    /// Knuth's sum without error.
    fn sum(a: f64, b: f64) -> Twofold {
        let high = a + b;
        let part = high - a;
        Twofold { high, low: (a - (high - part)) + (b - part) }
    }
}

impl From<f64> for Twofold {
    fn from(high: f64) -> Twofold {
        Twofold { high, low: 0.0 }
    }
}

impl Neg for Twofold {
    type Output = Twofold;

    fn neg(self) -> Twofold {
        Twofold { high: -self.high, low: -self.low }
    }
}

impl Add for Twofold {
    type Output = Twofold;

    fn add(self, other: Twofold) -> Twofold {
        let (high, low) = (Twofold::sum(self.high, other.high), Twofold::sum(self.low, other.low));
        let middle = Twofold::sum(high.high, high.low + low.high);
        Twofold::sum(middle.high, middle.low + low.low)
    }
}

impl Sub for Twofold {
    type Output = Twofold;

    fn sub(self, other: Twofold) -> Twofold {
        self + -other
    }
}

impl Mul for Twofold {
    type Output = Twofold;

    fn mul(self, other: Twofold) -> Twofold {
        let product = self.high * other.high;
        let lost = self.high.mul_add(other.high, -product);
        Twofold::sum(product, lost + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Twofold {
    type Output = Twofold;

    fn div(self, other: Twofold) -> Twofold {
        let first = Twofold::from(self.high / other.high);
        let rest = self - other * first;
        let second = Twofold::from(rest.high / other.high);
        let rest = rest - other * second;
        first + second + Twofold::from(rest.high / other.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_times_three_is_one_to_thirty_digits() {
        let third = Twofold::from(1.0) / Twofold::from(3.0);
        let rest = third * Twofold::from(3.0) - Twofold::from(1.0);
        assert!(rest.rounded().abs() < 1e-31, "{rest:?}");
        let tiny = Twofold::from(1.0) + Twofold::from(1e-25) - Twofold::from(1.0);
        assert!((tiny.rounded() - 1e-25).abs() < 1e-38);
    }
}
