//! Elementary functions, the same bits everywhere.
//!
//! Every evaluator of a model (virtual machine, native code, lanes, constant folding) calls the
//! functions of this one module, so a value does not depend on who computed it, nor on the
//! platform's mathematics library. They are portable Rust without contraction to fused
//! operations. `sqrt`, `floor` and `ceil` are exactly rounded and need no portable version.

macro_rules! portable {
    ($($(#[$doc:meta])* $name:ident = $function:path;)*) => {$(
        $(#[$doc])*
        pub fn $name(x: f64) -> f64 {
            $function(x)
        }
    )*};
}

portable! {
    /// Sine.
    sin = libm::sin;
    /// Cosine.
    cos = libm::cos;
    /// Tangent.
    tan = libm::tan;
    /// Inverse sine; NaN outside [-1, 1].
    asin = libm::asin;
    /// Inverse cosine; NaN outside [-1, 1].
    acos = libm::acos;
    /// Inverse tangent.
    atan = libm::atan;
    /// Hyperbolic sine.
    sinh = libm::sinh;
    /// Hyperbolic cosine.
    cosh = libm::cosh;
    /// Hyperbolic tangent.
    tanh = libm::tanh;
    /// Inverse hyperbolic sine.
    asinh = libm::asinh;
    /// Inverse hyperbolic cosine; NaN below 1.
    acosh = libm::acosh;
    /// Inverse hyperbolic tangent; NaN outside [-1, 1].
    atanh = libm::atanh;
    /// Exponential.
    exp = libm::exp;
    /// Natural logarithm; NaN below 0.
    log = libm::log;
}

/// Square root, exactly rounded; NaN below 0.
pub fn sqrt(x: f64) -> f64 {
    x.sqrt()
}

/// Greatest whole number not above `x`.
pub fn floor(x: f64) -> f64 {
    x.floor()
}

/// Least whole number not below `x`.
pub fn ceil(x: f64) -> f64 {
    x.ceil()
}

/// `x` to the power `y`; a half power of mechanics as [`half_power`].
pub fn pow(x: f64, y: f64) -> f64 {
    halves(y).map_or_else(|| libm::pow(x, y), |n| half_power(x, n))
}

/// The number of halves in one of the powers of mechanics, 1/2, 3/2, 5/2 and their negatives.
///
/// ```
/// use saltus_num::elementary::halves;
/// assert_eq!((halves(-1.5), halves(2.0)), (Some(-3), None));
/// ```
#[inline]
pub fn halves(y: f64) -> Option<i32> {
    let size = y.abs();
    (size == 0.5 || size == 1.5 || size == 2.5).then_some((2.0 * y) as i32)
}

/// `x` to the power of 1, 3 or 5 halves or their negatives, by a square root: as accurate as the
/// general power and many times faster. What is computed on the way overflows or underflows only
/// where the value does.
#[inline]
pub fn half_power(x: f64, n: i32) -> f64 {
    // Powers of a negative zero are those of zero.
    let x = x + 0.0;
    let root = x.sqrt();
    match n {
        1 => root,
        3 => x * root,
        5 => (x * x) * root,
        -1 => 1.0 / root,
        -3 => (1.0 / x) / root,
        _ => (1.0 / (x * x)) / root,
    }
}

/// Angle of the point (`x`, `y`).
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// Distance of the point (`x`, `y`) from the origin.
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

/// One step of the multiplication chain of [`powi`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerStep {
    /// Square the value so far.
    Square,
    /// Multiply the value so far by the base.
    Multiply,
}

/// The chain that takes the base to the power `n >= 1`: the bits of `n` after the leading one,
/// highest first, each a squaring followed, if the bit is set, by a multiplication. Everything that
/// forms whole powers follows this chain, in numbers and in Taylor coefficients alike.
///
/// ```
/// use saltus_num::elementary::{PowerStep::*, power_chain};
/// assert_eq!(power_chain(5).collect::<Vec<_>>(), [Square, Square, Multiply]);
/// ```
pub fn power_chain(n: u32) -> impl Iterator<Item = PowerStep> {
    let bits = n.checked_ilog2().unwrap_or(0);
    (0..bits).rev().flat_map(move |bit| {
        let multiply = (n >> bit & 1 == 1).then_some(PowerStep::Multiply);
        [Some(PowerStep::Square), multiply].into_iter().flatten()
    })
}

/// A whole power by repeated multiplication along [`power_chain`]; for negative `n` the reciprocal
/// of the positive power. `powi(x, 0)` is 1 for every `x`.
///
/// ```
/// use saltus_num::elementary::powi;
/// assert_eq!(powi(-2.0, 3), -8.0);
/// assert_eq!(powi(2.0, -2), 0.25);
/// ```
pub fn powi(x: f64, n: i32) -> f64 {
    if n == 0 {
        return 1.0;
    }
    let power = power_chain(n.unsigned_abs()).fold(x, |value, step| match step {
        PowerStep::Square => value * value,
        PowerStep::Multiply => value * x,
    });
    if n > 0 { power } else { 1.0 / power }
}

/// -1, 0 or 1; zeros keep their sign and NaN stays NaN.
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

/// The smaller number; NaN if either is NaN.
pub fn min(x: f64, y: f64) -> f64 {
    if x < y || x.is_nan() { x } else { y }
}

/// The greater number; NaN if either is NaN.
pub fn max(x: f64, y: f64) -> f64 {
    if x > y || x.is_nan() { x } else { y }
}

/// `x - y * floor(x / y)`: the remainder with the sign of `y`.
pub fn modulo(x: f64, y: f64) -> f64 {
    x - y * (x / y).floor()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_powers_of_small_numbers_are_exact() {
        for n in 0..=13 {
            assert_eq!(powi(-3.0, n), (-3i64).pow(n as u32) as f64);
            assert_eq!(powi(0.5, -n), (1u64 << n) as f64);
        }
        assert_eq!(powi(0.0, 0), 1.0);
        assert_eq!(powi(0.0, -1), f64::INFINITY);
        assert_eq!(powi(1.0, i32::MIN), 1.0);
    }

    #[test]
    fn powers_at_the_edges() {
        assert_eq!((pow(0.0, 1.5), pow(0.0, -0.5)), (0.0, f64::INFINITY));
        assert!(pow(-1.0, 0.5).is_nan());
        assert_eq!((pow(-0.0, 0.5).to_bits(), pow(-0.0, -2.5)), (0, f64::INFINITY));
        for (x, y) in
            [(1e206, -1.5), (1e-205, 1.5), (1e123, 2.5), (1e123, -2.5), (1e-123, -2.5), (1e-300, 0.5)]
        {
            assert!((pow(x, y) / libm::pow(x, y) - 1.0).abs() < 1e-15, "{x} {y}");
        }
        assert_eq!((pow(4.0, 2.5), pow(4.0, -1.5), pow(9.0, 0.5)), (32.0, 0.125, 3.0));
    }

    #[test]
    fn comparisons_do_not_hide_nan() {
        assert!(min(f64::NAN, 1.0).is_nan() && min(1.0, f64::NAN).is_nan());
        assert!(max(f64::NAN, 1.0).is_nan() && max(1.0, f64::NAN).is_nan());
        assert!(sign(f64::NAN).is_nan());
        assert_eq!((min(1.0, 2.0), max(1.0, 2.0), sign(-3.0)), (1.0, 2.0, -1.0));
    }

    proptest! {
        #[test]
        fn chain_multiplies_to_the_exponent(n in 1u32..) {
            let exponent = power_chain(n).fold(1u64, |e, step| match step {
                PowerStep::Square => 2 * e,
                PowerStep::Multiply => e + 1,
            });
            prop_assert_eq!(exponent, u64::from(n));
        }

        #[test]
        fn remainder_has_the_sign_of_the_divisor(x in -1e6..1e6f64, y in -1e3..1e3f64) {
            prop_assume!(y.abs() > 1e-3);
            let r = modulo(x, y);
            let slack = 1e-9 * y.abs();
            prop_assert!(r * y.signum() > -slack && r.abs() < y.abs() + slack, "{r}");
        }

        #[test]
        fn half_powers_agree_with_the_general_power(x in 1e-3..1e3f64, n in -3i32..=2) {
            let y = f64::from(n) + 0.5;
            let (ours, general) = (pow(x, y), libm::pow(x, y));
            prop_assert!((ours - general).abs() <= 3.0 * f64::EPSILON * general, "{} {}", ours, general);
        }

        #[test]
        fn functions_agree_with_the_platform_to_a_few_ulp(x in -20.0..20.0f64) {
            for (ours, platform) in [(sin(x), x.sin()), (exp(x), x.exp()), (atan(x), x.atan()), (tanh(x), x.tanh())] {
                prop_assert!((ours - platform).abs() <= 4.0 * f64::EPSILON * platform.abs().max(1e-300));
            }
        }
    }
}
