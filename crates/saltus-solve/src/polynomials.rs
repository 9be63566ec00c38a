//! Polynomials of all states over one step, one row of coefficients per order, so that guards can
//! be composed with them and values read anywhere without asking the flow again.

/// Polynomials of all states in s = (t - origin) / unit.
///
/// ```
/// use saltus_solve::StatePolynomials;
/// let mut p = StatePolynomials::constant(2.0, &[1.0, 3.0]);
/// p.reset(2.0, 0.5, 2);
/// p.row_mut(0).copy_from_slice(&[1.0, 3.0]);
/// p.row_mut(1).copy_from_slice(&[4.0, -2.0]);
/// let mut x = [0.0; 2];
/// p.evaluate(0.5, &mut x);
/// assert_eq!(x, [3.0, 2.0]);
/// ```
#[derive(Debug, Default, PartialEq)]
pub struct StatePolynomials {
    origin: f64,
    unit: f64,
    states: usize,
    orders: usize,
    /// Row by row, one for each order.
    coefficients: Vec<f64>,
}

impl Clone for StatePolynomials {
    fn clone(&self) -> Self {
        Self { coefficients: self.coefficients.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let mut coefficients = std::mem::take(&mut self.coefficients);
        coefficients.clone_from(&source.coefficients);
        *self = Self { coefficients, ..*source };
    }
}

impl StatePolynomials {
    /// States that do not move, in units of one.
    pub fn constant(origin: f64, x: &[f64]) -> Self {
        Self { origin, unit: 1.0, states: x.len(), orders: 1, coefficients: x.to_vec() }
    }

    /// Makes room for `orders` rows over a new step; their contents are left to the caller.
    pub fn reset(&mut self, origin: f64, unit: f64, orders: usize) {
        (self.origin, self.unit, self.orders) = (origin, unit, orders);
        self.coefficients.resize(orders * self.states, 0.0);
    }

    /// Makes the states stand still, with room for `orders` rows.
    pub(crate) fn stand_still(&mut self, origin: f64, x: &[f64], orders: usize) {
        (self.origin, self.unit, self.states, self.orders) = (origin, 1.0, x.len(), 1);
        self.coefficients.clear();
        self.coefficients.reserve(orders * x.len());
        self.coefficients.extend_from_slice(x);
    }

    /// Time at s = 0.
    pub fn origin(&self) -> f64 {
        self.origin
    }

    /// The time in which s grows by one.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Number of rows: the degree and one.
    pub fn orders(&self) -> usize {
        self.orders
    }

    /// All coefficients, one row of states after another.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The coefficients of s^k.
    #[inline]
    pub fn row(&self, k: usize) -> &[f64] {
        &self.coefficients[k * self.states..(k + 1) * self.states]
    }

    /// The coefficients of s^k, to be written.
    #[inline]
    pub fn row_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.coefficients[k * self.states..(k + 1) * self.states]
    }

    /// The states at `s`.
    pub fn evaluate(&self, s: f64, x: &mut [f64]) {
        x.copy_from_slice(self.row(self.orders - 1));
        for k in (0..self.orders - 1).rev() {
            for (x, c) in x.iter_mut().zip(self.row(k)) {
                *x = *x * s + c;
            }
        }
    }

    /// The derivatives in time at `s`.
    pub fn rates(&self, s: f64, f: &mut [f64]) {
        f.fill(0.0);
        for k in (1..self.orders).rev() {
            for (f, c) in f.iter_mut().zip(self.row(k)) {
                *f = *f * s + k as f64 / self.unit * c;
            }
        }
    }

    /// The coefficients of the rows below `k`, and those of the others.
    pub(crate) fn split_rows_mut(&mut self, k: usize) -> (&mut [f64], &mut [f64]) {
        self.coefficients.split_at_mut(k * self.states)
    }

    /// Adds `factor` times the values to the row of order `k`.
    #[inline]
    pub(crate) fn add(&mut self, k: usize, factor: f64, values: &[f64]) {
        for (c, value) in self.row_mut(k).iter_mut().zip(values) {
            *c += factor * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_rates_of_a_cubic() {
        // 1 - 2 t + 3 t^3 with t = 4 + s / 2.
        let mut p = StatePolynomials::constant(4.0, &[0.0]);
        p.reset(4.0, 0.5, 4);
        let exact = |t: f64| (1.0 - 2.0 * t + 3.0 * t.powi(3), -2.0 + 9.0 * t * t);
        for (k, c) in [185.0, 71.0, 9.0, 0.375].into_iter().enumerate() {
            p.row_mut(k)[0] = c;
        }
        let mut out = [0.0];
        for s in [0.0, 0.25, 1.0] {
            p.evaluate(s, &mut out);
            assert_eq!(out[0], exact(4.0 + 0.5 * s).0);
            p.rates(s, &mut out);
            assert_eq!(out[0], exact(4.0 + 0.5 * s).1);
        }
    }
}
