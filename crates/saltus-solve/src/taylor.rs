//! The explicit Taylor method: order from the tolerance, step from the last two coefficients.
//!
//! The prediction is the Taylor polynomial itself, so a step evaluates the model only at its start.

use saltus_expr::jet::StateMatrix;
use saltus_num::greater;
use std::f64::consts::LN_2;

/// Share of the estimated step that is taken.
const SAFETY: f64 = 0.9;

/// The order for a relative tolerance: 3.5 and one and a half for every digit, to the nearest even
/// number within 8 and 24.
///
/// Jorba and Zou's optimum counts only the work of the recurrences; each step also costs a step
/// size, an evaluation and the guards, which makes longer steps of a higher order cheaper. An odd
/// order costs nearly as much as the next even one: old terms are summed in pairs.
///
/// ```
/// assert_eq!(saltus_solve::taylor::order_for(1e-6), 12);
/// assert_eq!(saltus_solve::taylor::order_for(1e-10), 18);
/// assert_eq!(saltus_solve::taylor::order_for(0.0), 24);
/// ```
pub fn order_for(rtol: f64) -> usize {
    let digits = -rtol.max(f64::EPSILON).log10();
    (2 * (1.75 + 0.75 * digits).round() as usize).clamp(8, 24)
}

/// Tolerances of the local error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to each value.
    pub relative: f64,
    /// Below which a value counts as zero.
    pub absolute: f64,
}

impl Tolerance {
    /// The error allowed for a quantity of this size.
    #[inline]
    pub fn of(self, size: f64) -> f64 {
        self.absolute + self.relative * size.abs()
    }
}

/// Collects how long the next step may be, in units of the scale of the coefficients.
///
/// The truncation error of order k is |c_k| r^k for a step of r units; the step is
/// 0.9 min over k = p-1, p of (tolerance / |c_k|)^(1/k).
#[derive(Clone, Copy, Debug)]
pub struct StepBound {
    order: usize,
    /// 1 / k for k = order - 1 and k = order.
    inverses: [f64; 2],
    /// Largest |c_k| / tolerance for k = order - 1 and k = order.
    worst: [f64; 2],
    /// A sum that is finite if all coefficients that were looked at are. What is not finite at a
    /// low order is not finite at the highest, except where a polynomial ends below it.
    total: f64,
}

impl StepBound {
    /// A bound that knows nothing yet.
    #[inline]
    pub fn new(order: usize) -> Self {
        Self { order, inverses: [order - 1, order].map(|k| 1.0 / k as f64), worst: [0.0; 2], total: 0.0 }
    }

    /// Takes the states into account; none has a coefficient above `degree`.
    #[inline]
    pub fn states(&mut self, states: StateMatrix<'_>, degree: usize, tolerance: Tolerance) {
        if degree + 1 < self.order {
            self.total += (0..=degree).flat_map(|k| states.order(k)).map(|c| c.abs()).sum::<f64>();
            return;
        }
        if states.stride() == 4 {
            self.few_states(states, tolerance);
            return;
        }
        let row = |k: usize| states.padded_order(k).as_chunks::<4>().0.iter();
        let mut worst = [[0.0_f64; 4]; 2];
        let mut total = [0.0; 4];
        let (low, high) = (row(0).zip(row(1)), row(self.order - 1).zip(row(self.order)));
        for ((x, slope), (before, last)) in low.zip(high) {
            for i in 0..4 {
                let weight = 1.0 / tolerance.of(x[i]);
                let (before, last) = (before[i].abs() * weight, last[i].abs() * weight);
                total[i] += (x[i].abs() + slope[i].abs()) + (before + last);
                worst[0][i] = greater(before, worst[0][i]);
                worst[1][i] = greater(last, worst[1][i]);
            }
        }
        self.total += (total[0] + total[1]) + (total[2] + total[3]);
        for (greatest, [a, b, c, d]) in self.worst.iter_mut().zip(worst) {
            *greatest = greater(greater(greater(a, b), greater(c, d)), *greatest);
        }
    }

    /// A few states one by one. The coefficients of the last order were written one by one just now; to
    /// read two at once would have to wait until they have left for the cache.
    #[inline]
    fn few_states(&mut self, states: StateMatrix<'_>, tolerance: Tolerance) {
        let (low, high) = (states.order(0).iter().zip(states.order(1)), [self.order - 1, self.order]);
        let high = states.order(high[0]).iter().zip(states.order(high[1]));
        for ((&x, &slope), (&before, &last)) in low.zip(high) {
            self.state([x, slope, before, last], tolerance);
        }
    }

    /// Takes one state into account, given its coefficients of order 0 and 1 and the last two.
    #[inline]
    pub fn state(&mut self, [x, slope, before, last]: [f64; 4], tolerance: Tolerance) {
        let weight = 1.0 / tolerance.of(x);
        let (before, last) = (before.abs() * weight, last.abs() * weight);
        self.total += (x.abs() + slope.abs()) + (before + last);
        self.worst = [greater(before, self.worst[0]), greater(last, self.worst[1])];
    }

    /// Takes one more quantity into account, given its coefficients of order 1 and 2 and the last two.
    /// It is measured by how far it moves, which the first ones tell: where a series diverges the
    /// others are large whatever the quantity is, and its value may be a great constant.
    #[inline]
    pub fn quantity(&mut self, [slope, bend]: [f64; 2], last: [f64; 2], tolerance: Tolerance) {
        let weight = 1.0 / tolerance.of(slope.abs().max(bend.abs()));
        for (worst, c) in self.worst.iter_mut().zip(last) {
            let error = c.abs() * weight;
            self.total += error;
            *worst = greater(error, *worst);
        }
    }

    /// The step in units of the coefficients' scale; infinite if nothing bounds it, NaN if a
    /// coefficient is not finite.
    #[inline]
    pub fn ratio(&self) -> f64 {
        if !self.total.is_finite() {
            return f64::NAN;
        }
        let exponent = |i: usize| {
            if self.worst[i] == 0.0 { f64::NEG_INFINITY } else { log2(self.worst[i]) * self.inverses[i] }
        };
        let steepest = greater(exponent(0), exponent(1));
        if steepest == f64::NEG_INFINITY { f64::INFINITY } else { SAFETY * exp2(-steepest) }
    }
}

/// Base-2 logarithm of a positive finite number to about 0.01: enough for a step size, whose error
/// is divided by the order, and the same bits everywhere.
#[inline]
pub(crate) fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as f64 - 1023.0;
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    (exponent - 5.0 / 3.0) + (2.0 - mantissa * (1.0 / 3.0)) * mantissa
}

/// Power of two to about 1e-4, for arguments of moderate size.
#[inline]
pub(crate) fn exp2(x: f64) -> f64 {
    // A number so great that its last digit counts ones rounds what is added to it.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let x = greater(if x < 1000.0 { x } else { 1000.0 }, -1000.0);
    let rounded = x + ROUNDER;
    let f = x - (rounded - ROUNDER);
    // Taylor's terms up to f^4, which is nearly f^2 / 4 - 1 / 128 where f is at most a half.
    let mantissa = (0.999925 + LN_2 * f) + (f * f) * (0.242632 + 0.0555041 * f);
    mantissa * f64::from_bits((rounded.to_bits() << 52).wrapping_add(1023 << 52))
}

/// A first scale for the coefficients: a tenth of the time in which the states would double.
pub fn first_scale(states: &[f64], derivatives: impl Iterator<Item = f64>, tolerance: Tolerance) -> f64 {
    let size = states.iter().fold(tolerance.absolute, |a, x| a.max(x.abs()));
    let rate = derivatives.fold(0.0_f64, |a, f| a.max(f.abs()));
    if rate > 0.0 && (size / rate).is_finite() { (0.1 * size / rate).clamp(1e-100, 1e100) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rough_logarithm_and_power_are_close() {
        for i in 1..2000 {
            let x = 1e-30 * 1.07f64.powi(i);
            assert!((log2(x) - x.log2()).abs() < 0.011, "{x}");
            let y = -30.0 + 0.03 * f64::from(i);
            assert!((exp2(y) / y.exp2() - 1.0).abs() < 3e-4, "{y}");
        }
    }

    #[test]
    fn step_meets_the_tolerance_of_an_exponential() {
        // Coefficients of exp(t): the term of order p at the chosen step equals the tolerance
        // times 0.9^p.
        let order = 12;
        let mut c = vec![1.0];
        for k in 1..=order {
            c.push(c[k - 1] / k as f64);
        }
        let tolerance = Tolerance { relative: 1e-8, absolute: 0.0 };
        let mut bound = StepBound::new(order);
        bound.quantity([c[1], c[2]], [c[order - 1], c[order]], tolerance);
        let h = bound.ratio();
        assert!(c[order] * h.powi(12) < 1e-8 && c[order] * (h / 0.9).powi(13) > 1e-9 * 0.1);
    }
}
