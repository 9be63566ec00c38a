//! What an Adams method knows: divided differences of the slopes at the latest nodes, and the
//! polynomials in the step that go with them.
//!
//! With the ages psi_l = t_k - t_(k-l) of the nodes and the differences F_i = f[t_k, ..., t_(k-i)],
//! the slope is interpolated by the sum of F_i p_i(s), p_i(s) = (s + psi_0) ... (s + psi_(i-1)),
//! and the states by the sum of F_i W_i(s), W_i the integral of p_i. All coefficients are
//! non-negative, so nothing cancels in W_i and in what is made of them here.

/// Highest order of the predictor.
pub const MAX_ORDER: usize = 8;
/// Nodes kept: enough to estimate the error of the highest order.
pub const NODES: usize = MAX_ORDER + 1;
/// Room for the coefficients of any polynomial in the step.
pub const COEFFICIENTS: usize = NODES + 2;

/// 1 / n, which is multiplied many times in every step.
pub const INVERSES: [f64; COEFFICIENTS + 1] = {
    let mut inverses = [0.0; COEFFICIENTS + 1];
    let mut n = 1;
    while n < inverses.len() {
        inverses[n] = 1.0 / n as f64;
        n += 1;
    }
    inverses
};

/// Coefficients in powers of the step, from order 0.
pub type Coefficients = [f64; COEFFICIENTS];

#[derive(Debug, Default)]
pub struct History {
    states: usize,
    nodes: usize,
    /// psi_l; the age of the latest node is 0.
    ages: [f64; NODES],
    /// F_i, one row of states for each node.
    differences: Vec<f64>,
    /// Coefficients of p_i, for i up to the number of nodes.
    products: [Coefficients; NODES + 1],
}

impl Clone for History {
    fn clone(&self) -> Self {
        Self { differences: self.differences.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let mut differences = std::mem::take(&mut self.differences);
        differences.clone_from(&source.differences);
        *self = Self { differences, ..*source };
    }
}

impl History {
    /// Forgets all nodes and makes room for this number of states.
    pub fn reset(&mut self, states: usize) {
        self.states = states;
        self.nodes = 0;
        self.differences.clear();
        self.differences.resize(NODES * states, 0.0);
    }

    /// Number of nodes known.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The age of node `l`, counted back from the latest.
    pub fn age(&self, l: usize) -> f64 {
        self.ages[l]
    }

    /// F_i.
    #[inline]
    pub fn difference(&self, i: usize) -> &[f64] {
        &self.differences[i * self.states..(i + 1) * self.states]
    }

    #[inline]
    fn difference_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.differences[i * self.states..(i + 1) * self.states]
    }

    /// Adds the node `elapsed` after the latest; `slope` is used up.
    pub fn push(&mut self, elapsed: f64, slope: &mut [f64]) {
        for l in (1..NODES).rev() {
            self.ages[l] = self.ages[l - 1] + elapsed;
        }
        self.ages[0] = 0.0;
        let known = self.nodes.min(NODES - 1);
        for i in 0..known {
            let inverse = 1.0 / self.ages[i + 1];
            for (difference, value) in self.difference_mut(i).iter_mut().zip(slope.iter_mut()) {
                let before = std::mem::replace(difference, *value);
                *value = (*value - before) * inverse;
            }
        }
        self.difference_mut(known).copy_from_slice(slope);
        self.nodes = known + 1;
        self.multiply();
    }

    /// Removes the latest node: f[t_(k-1), ..., t_(k-i)] = F_(i-1) - psi_i F_i.
    pub fn pop(&mut self) {
        for i in 1..self.nodes {
            let age = self.ages[i];
            let (before, after) = self.differences.split_at_mut(i * self.states);
            let before = &mut before[(i - 1) * self.states..];
            for (before, after) in before.iter_mut().zip(after) {
                *before -= age * *after;
            }
        }
        let youngest = self.ages[1];
        for l in 1..self.nodes {
            self.ages[l - 1] = self.ages[l] - youngest;
        }
        self.nodes = self.nodes.saturating_sub(1);
        self.multiply();
    }

    /// Keeps only the latest nodes.
    pub fn truncate(&mut self, nodes: usize) {
        self.nodes = self.nodes.min(nodes);
    }

    fn multiply(&mut self) {
        self.products[0][0] = 1.0;
        for i in 0..self.nodes {
            let (before, next) = self.products.split_at_mut(i + 1);
            let (p, next) = (&before[i], &mut next[0]);
            next[0] = self.ages[i] * p[0];
            for j in 1..=i {
                next[j] = p[j - 1] + self.ages[i] * p[j];
            }
            next[i + 1] = p[i];
        }
    }

    /// Turns the slope at `h` ahead into the difference of order `m` over it and the latest nodes,
    /// with a look at the difference of order m - 1 on the way.
    pub fn difference_ahead(&self, h: f64, m: usize, slope: &mut [f64], lower: impl FnOnce(&[f64])) {
        for i in 0..m - 1 {
            self.reduce(h, i, slope);
        }
        lower(slope);
        self.reduce(h, m - 1, slope);
    }

    fn reduce(&self, h: f64, i: usize, slope: &mut [f64]) {
        let inverse = 1.0 / (h + self.ages[i]);
        for (value, difference) in slope.iter_mut().zip(self.difference(i)) {
            *value = (*value - difference) * inverse;
        }
    }

    /// Coefficients of p_i.
    pub fn product(&self, i: usize) -> &[f64] {
        &self.products[i][..=i]
    }

    /// Coefficients of W_i(u s) in powers of s.
    pub fn integral(&self, i: usize, unit: f64) -> Coefficients {
        let mut w = [0.0; COEFFICIENTS];
        let mut power = unit;
        for (j, p) in self.product(i).iter().enumerate() {
            w[j + 1] = p * power * INVERSES[j + 1];
            power *= unit;
        }
        w
    }

    /// Coefficients of (u s + psi_(m-1)) W_(m-1)(u s) in powers of s: the distance of the corrector
    /// of order m from its predictor, for a difference of one.
    pub fn correction(&self, m: usize, unit: f64) -> Coefficients {
        let w = self.integral(m - 1, unit);
        let age = self.ages[m - 1];
        std::array::from_fn(|n| age * w[n] + if n > 0 { unit * w[n - 1] } else { 0.0 })
    }

    /// What the error of the corrector of order `q` is for a difference of one,
    /// (h + psi_(q-1)) W_(q-1)(h) - W_q(h), which is p_(q-1) integrated twice; and h times its
    /// derivative.
    pub fn error(&self, q: usize, h: f64) -> (f64, f64) {
        let (mut value, mut slope) = (0.0, 0.0);
        for (j, p) in self.product(q - 1).iter().enumerate().rev() {
            let once = p * INVERSES[j + 1];
            value = value * h + once * INVERSES[j + 2];
            slope = slope * h + once;
        }
        (value * h * h, slope * h * h)
    }

    /// C in |x - x_AM| = C |x_AM - x^p| for a step `h` of order `m`.
    pub fn milne_constant(&self, m: usize, h: f64) -> f64 {
        let gap = (h + self.ages[m - 1]) * saltus_num::polynomial::evaluate(&self.integral(m - 1, 1.0), h);
        self.error(m, h).0 / gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(gaps: &[f64], slope: impl Fn(f64) -> f64) -> History {
        let mut history = History::default();
        history.reset(1);
        let mut t = 0.0;
        history.push(0.0, &mut [slope(t)]);
        for gap in gaps {
            t += gap;
            history.push(*gap, &mut [slope(t)]);
        }
        history
    }

    #[track_caller]
    fn check_milne(gaps: &[f64], h: f64, expected: &[f64], error: f64) {
        let history = history(gaps, |t| t);
        for (i, c) in expected.iter().enumerate() {
            let found = history.milne_constant(i + 1, h);
            assert!((found - c).abs() < error, "order {}: {found} is not {c}", i + 1);
        }
    }

    #[test]
    fn milne_constants_depend_on_the_steps_before() {
        let fractions = [1.0 / 2.0, 1.0 / 6.0, 1.0 / 10.0, 19.0 / 270.0, 27.0 / 502.0];
        check_milne(&[1.0; 6], 1.0, &fractions, 1e-15);
        check_milne(&[5.0; 6], 1.0, &[0.5, 0.056, 0.029, 0.0199, 0.0150], 5e-4);
        check_milne(&[0.1; 6], 1.0, &[0.5, 0.30, 0.22, 0.167, 0.135], 5e-3);
    }

    #[test]
    fn removing_the_latest_node_undoes_adding_it() {
        let slope = |t: f64| (1.3 * t).sin() + t * t;
        let gaps = [0.5, 0.25, 0.75, 0.5];
        let mut longer = history(&[&gaps[..], &[0.25]].concat(), slope);
        let shorter = history(&gaps, slope);
        longer.pop();
        assert_eq!(longer.nodes(), shorter.nodes());
        for i in 0..shorter.nodes() {
            assert_eq!(longer.age(i), shorter.age(i));
            assert!((longer.difference(i)[0] - shorter.difference(i)[0]).abs() < 1e-13, "{i}");
        }
    }

    #[test]
    fn error_polynomial_is_the_difference_of_two_correctors() {
        let history = history(&[0.3, 0.7, 0.2, 0.4, 0.6, 0.5, 0.9, 0.35], |t| t);
        for q in 1..=MAX_ORDER {
            for h in [0.05, 0.4, 2.0] {
                let at = |c: &Coefficients| saltus_num::polynomial::evaluate(c, 1.0);
                let direct = at(&history.correction(q, h)) - at(&history.integral(q, h));
                let (value, slope) = history.error(q, h);
                assert!((value / direct - 1.0).abs() < 1e-11, "{q} {h}: {value} {direct}");
                let step = 1e-6 * h;
                let numeric = (history.error(q, h + step).0 - history.error(q, h - step).0) / 2e-6;
                assert!((slope / numeric - 1.0).abs() < 1e-7, "{q} {h}: {slope} {numeric}");
            }
        }
    }
}
