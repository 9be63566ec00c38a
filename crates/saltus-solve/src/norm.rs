//! The norm in which every integrator measures its error: the largest over all states, in units of
//! what the tolerance allows for each.

use crate::taylor::{Tolerance, exp2, log2};

impl Tolerance {
    /// One over the error allowed for each state; finite even where none is allowed.
    pub(crate) fn weigh(self, x: &[f64], weights: &mut [f64]) {
        for (weight, x) in weights.iter_mut().zip(x) {
            *weight = 1.0 / self.of(*x).max(f64::MIN_POSITIVE);
        }
    }

    /// A length for the first step of a method of this order, from the slope alone.
    ///
    /// The states are taken to change by their own size, which is at least absolute over relative
    /// tolerance, in the time T = size / slope; the error of a step h is then about
    /// (h / T)^(order + 1) of that size. Infinite where nothing moves.
    pub(crate) fn first_step(self, slope: &[f64], weights: &[f64], order: usize) -> f64 {
        let relative = if self.relative > 0.0 { self.relative } else { self.absolute };
        let relative = relative.clamp(f64::EPSILON, 1.0);
        let rate = weighted_norm(slope, weights);
        exp2(log2(0.5 * relative) / (order + 1) as f64) / (relative * rate)
    }
}

/// The largest of the values in units of what is allowed for each; NaN if one is.
#[inline]
pub(crate) fn weighted_norm(values: &[f64], weights: &[f64]) -> f64 {
    let mut norm = 0.0_f64;
    let mut total = 0.0;
    for (value, weight) in values.iter().zip(weights) {
        let size = (value * weight).abs();
        norm = norm.max(size);
        total += size;
    }
    if f64::is_nan(total) { total } else { norm }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norm_does_not_hide_what_is_not_a_number() {
        assert_eq!(weighted_norm(&[1.0, -3.0, 2.0], &[1.0, 2.0, 0.5]), 6.0);
        assert!(weighted_norm(&[1.0, f64::NAN, 2.0], &[1.0; 3]).is_nan());
    }

    #[test]
    fn first_step_scales_with_the_time_of_the_flow() {
        let tolerance = Tolerance { relative: 1e-6, absolute: 1e-6 };
        let step = |slope: f64| tolerance.first_step(&[slope], &[1e6], 1);
        assert!((step(1.0) / step(1000.0) - 1000.0).abs() < 1e-9);
        assert!((step(1.0) - 0.5e-6f64.sqrt()).abs() < 1e-5);
        assert_eq!(step(0.0), f64::INFINITY);
    }
}
