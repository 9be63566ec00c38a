//! Polynomials as slices of power-basis coefficients, p(s) = sum c_k s^k: evaluation, change of
//! variable and truncated product.

/// A polynomial evaluated at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// p(s)
    pub value: f64,
    /// p'(s)
    pub slope: f64,
    /// sum |c_k| |s|^k, the measure of the rounding noise of `value`.
    pub magnitude: f64,
}

/// p(s) by Horner's rule.
///
/// ```
/// assert_eq!(saltus_num::polynomial::evaluate(&[1.0, -3.0, 2.0], 2.0), 3.0);
/// ```
pub fn evaluate(c: &[f64], s: f64) -> f64 {
    c.iter().rev().fold(0.0, |p, &x| p * s + x)
}

/// p(s) and p'(s); the value has the same bits as that of [`evaluate`].
pub fn evaluate_with_derivative(c: &[f64], s: f64) -> (f64, f64) {
    c.iter().rev().fold((0.0, 0.0), |(p, d), &x| (p * s + x, d * s + p))
}

/// p(s), p'(s) and the magnitude of the terms; the value has the same bits as that of
/// [`evaluate`].
pub fn evaluate_with_magnitude(c: &[f64], s: f64) -> Evaluation {
    let size = s.abs();
    let (value, slope, magnitude) = c
        .iter()
        .rev()
        .fold((0.0, 0.0, 0.0), |(p, d, m), &x: &f64| (p * s + x, d * s + p, m * size + x.abs()));
    Evaluation { value, slope, magnitude }
}

/// Replaces p(s) by p(s + a).
///
/// ```
/// let mut c = [1.0, -3.0, 2.0];
/// saltus_num::polynomial::shift(&mut c, 1.0);
/// assert_eq!(c, [0.0, 1.0, 2.0]);
/// ```
pub fn shift(c: &mut [f64], a: f64) {
    let n = c.len().saturating_sub(1);
    for m in (0..n).rev() {
        let c = &mut c[m..=n];
        for j in 0..c.len() - 1 {
            c[j] += a * c[j + 1];
        }
    }
}

/// The sum of the magnitudes of some coefficients: four sums side by side, since each waits for its
/// last addition.
#[inline]
pub fn magnitude(c: &[f64]) -> f64 {
    let (mut rest, mut sums) = (c, [0.0; 4]);
    while let Some((four, others)) = rest.split_first_chunk::<4>() {
        sums.iter_mut().zip(four).for_each(|(sum, x)| *sum += x.abs());
        rest = others;
    }
    let [a, b, c, d] = sums;
    let sum = (a + c) + (b + d);
    match rest {
        [x, y, z] => (sum + x.abs()) + (y.abs() + z.abs()),
        [x, y] => sum + (x.abs() + y.abs()),
        [x] => sum + x.abs(),
        _ => sum,
    }
}

/// Replaces p(s) by p(a s).
pub fn scale(c: &mut [f64], a: f64) {
    let mut power = 1.0;
    for x in c {
        *x *= power;
        power *= a;
    }
}

/// The product of two polynomials, cut off to the length of `out`.
///
/// ```
/// let mut out = [0.0; 2];
/// saltus_num::polynomial::multiply_truncated(&[1.0, 2.0, 3.0], &[4.0, 5.0], &mut out);
/// assert_eq!(out, [4.0, 13.0]);
/// ```
pub fn multiply_truncated(a: &[f64], b: &[f64], out: &mut [f64]) {
    for (k, target) in out.iter_mut().enumerate() {
        let first = (k + 1).saturating_sub(b.len());
        let end = a.len().min(k + 1);
        *target = (first..end).map(|i| a[i] * b[k - i]).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whole coefficients and points small enough that every operation is exact.
    fn whole(len: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec((-9i8..=9).prop_map(f64::from), 0..len)
    }

    proptest! {
        #[test]
        fn shifting_and_scaling_change_the_variable(c in whole(8), a in -3i8..=3, s in -3i8..=3) {
            let (a, s) = (f64::from(a), f64::from(s));
            let mut shifted = c.clone();
            shift(&mut shifted, a);
            prop_assert_eq!(evaluate(&shifted, s), evaluate(&c, s + a));
            let mut scaled = c.clone();
            scale(&mut scaled, a);
            prop_assert_eq!(evaluate(&scaled, s), evaluate(&c, s * a));
        }

        #[test]
        fn products_multiply_values(a in whole(6), b in whole(6), s in -3i8..=3) {
            let mut product = vec![f64::NAN; a.len() + b.len() + 1];
            multiply_truncated(&a, &b, &mut product);
            let s = f64::from(s);
            prop_assert_eq!(evaluate(&product, s), evaluate(&a, s) * evaluate(&b, s));
        }

        #[test]
        fn the_derivative_is_the_linear_term_after_a_shift(c in whole(8), s in -3i8..=3) {
            let s = f64::from(s);
            let (value, slope) = evaluate_with_derivative(&c, s);
            let all = evaluate_with_magnitude(&c, s);
            prop_assert_eq!((all.value, all.slope), (value, slope));
            let mut shifted = c.clone();
            shift(&mut shifted, s);
            prop_assert_eq!(value, shifted.first().copied().unwrap_or(0.0));
            prop_assert_eq!(slope, shifted.get(1).copied().unwrap_or(0.0));
            prop_assert!(all.magnitude >= value.abs());
        }
    }
}
