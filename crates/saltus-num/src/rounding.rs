//! Arithmetic with directed rounding: the greatest floating-point number not above the exact
//! result, or the least not below. The direction of the rounding error of an operation is found
//! from the error itself, so that exact results are returned as they are.

/// The number `ulps` places further up (or down) the line of floating-point numbers.
pub(crate) fn step(x: f64, ulps: i64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        return if x.is_nan() && ulps < 0 {
            f64::NEG_INFINITY
        } else if x.is_nan() {
            f64::INFINITY
        } else {
            x
        };
    }
    // Read as an integer, the bits of positive numbers are in order; negative ones are mirrored.
    let bits = x.to_bits() as i64;
    let place = if bits < 0 { i64::MIN - bits } else { bits };
    let last = f64::INFINITY.to_bits() as i64;
    let place = (place + ulps).clamp(-last, last);
    f64::from_bits(if place < 0 { i64::MIN - place } else { place } as u64)
}

/// The rounded result moved below the exact one, given the sign of (exact - rounded).
fn below(rounded: f64, error: f64) -> f64 {
    if error < 0.0 || error.is_nan() { rounded.next_down() } else { rounded }
}

pub(crate) fn add_down(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return overflow_down(sum, a.is_finite() && b.is_finite());
    }
    // The rounding error of a sum is itself a number.
    let part = sum - a;
    below(sum, (a - (sum - part)) + (b - part))
}

pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    -add_down(-a, -b)
}

/// A lower bound of a result that is not finite.
fn overflow_down(result: f64, finite_operands: bool) -> f64 {
    if result.is_nan() {
        f64::NEG_INFINITY
    } else if finite_operands && result > 0.0 {
        f64::MAX
    } else {
        result
    }
}

/// Below this size the error of a product or quotient may vanish by underflow.
const UNDERFLOW: f64 = 1e-290;

pub(crate) fn mul_down(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let product = a * b;
    if !product.is_finite() {
        return overflow_down(product, a.is_finite() && b.is_finite());
    }
    if product.abs() < UNDERFLOW {
        return product.next_down();
    }
    below(product, a.mul_add(b, -product))
}

pub(crate) fn mul_up(a: f64, b: f64) -> f64 {
    -mul_down(-a, b)
}

/// A lower bound of `a / b` for positive `b`.
pub(crate) fn div_down(a: f64, b: f64) -> f64 {
    if a == 0.0 {
        return 0.0;
    }
    let quotient = a / b;
    if !quotient.is_finite() {
        return overflow_down(quotient, a.is_finite() && b.is_finite());
    }
    if quotient.abs() < UNDERFLOW || a.abs() < UNDERFLOW || b.is_infinite() {
        return quotient.next_down();
    }
    below(quotient, (-quotient).mul_add(b, a))
}

pub(crate) fn div_up(a: f64, b: f64) -> f64 {
    -div_down(-a, b)
}

pub(crate) fn sqrt_down(x: f64) -> f64 {
    let root = x.sqrt();
    if x == 0.0 || x.is_infinite() { root } else { below(root, square_residue(root, x)) }
}

pub(crate) fn sqrt_up(x: f64) -> f64 {
    let root = x.sqrt();
    if x == 0.0 || x.is_infinite() { root } else { -below(-root, -square_residue(root, x)) }
}

/// The sign of x - root^2; NaN if it would be lost by underflow.
fn square_residue(root: f64, x: f64) -> f64 {
    if x < UNDERFLOW { f64::NAN } else { (-root).mul_add(root, x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_cross_zero_and_stop_at_infinity() {
        assert_eq!(step(1.0, 1), 1.0f64.next_up());
        assert_eq!(step(0.0, -1), -f64::from_bits(1));
        assert_eq!(step(f64::from_bits(2), -3), -f64::from_bits(1));
        assert_eq!(step(f64::MAX, 9), f64::INFINITY);
    }

    #[test]
    fn bounds_differ_by_one_step_or_not_at_all() {
        type Operation = fn(f64, f64) -> f64;
        let operations: [(Operation, Operation); 3] =
            [(add_down, add_up), (mul_down, mul_up), (div_down, div_up)];
        for (down, up) in operations {
            assert_eq!(down(0.75, 0.5), up(0.75, 0.5));
            assert_eq!(down(0.1, 0.7).next_up(), up(0.1, 0.7));
        }
        assert_eq!((add_down(f64::MAX, f64::MAX), add_up(f64::MAX, f64::MAX)), (f64::MAX, f64::INFINITY));
    }
}
