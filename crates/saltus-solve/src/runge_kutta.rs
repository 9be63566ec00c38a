//! The explicit Runge-Kutta pair of orders 5 and 4 of Dormand and Prince (J. Comput. Appl. Math. 6,
//! 1980), with the dense output of order 4 of Hairer, Norsett and Wanner (Solving Ordinary
//! Differential Equations I, II.6) as powers of the step, and a PI control of the step (ibid., II.4).
//!
//! Its stages are evaluated ahead, where no guard has been tested: it has no one-sided prediction.

use crate::flow::{Flow, Refusal, evaluate};
use crate::norm::weighted_norm;
use crate::one_step::{OneStep, Point, Scheme, combine, write_cubic};
use crate::polynomials::StatePolynomials;
use crate::taylor::{Tolerance, exp2, log2};

const STAGES: usize = 7;

/// Where in the step the stages are.
const NODES: [f64; STAGES] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];

/// Weights of the earlier slopes in each stage; the last are those of the step.
#[rustfmt::skip]
const STAGE_WEIGHTS: [&[f64]; STAGES] = [
    &[],
    &[0.2],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Weights of the step less those of the method of order 4.
const ERROR_WEIGHTS: [f64; STAGES] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// Weights of the slopes in the coefficient of s^2 (1 - s)^2 of the dense output.
const DENSE_WEIGHTS: [f64; STAGES] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// Share of the estimated step that is taken.
const SAFETY: f64 = 0.9;
/// Shortest and longest step in units of the one before.
const FACTORS: (f64, f64) = (0.2, 10.0);
/// Influence of the error before on the next step.
const BETA: f64 = 0.04;

/// The Runge-Kutta pair; see [`crate::Integrator`] for its phases.
///
/// ```
/// use saltus_solve::{Integrator, Refusal, runge_kutta::DormandPrince, taylor::Tolerance};
/// let mut rk = DormandPrince::new(Tolerance { relative: 1e-9, absolute: 1e-9 });
/// let mut circle = |_t: f64, x: &[f64], f: &mut [f64]| {
///     (f[0], f[1]) = (-x[1], x[0]);
///     Ok::<(), Refusal>(())
/// };
/// rk.restart(0.0, &[1.0, 0.0]);
/// while rk.time() < 1.0 {
///     rk.begin(&mut circle)?;
///     rk.step(rk.proposed().min(1.0 - rk.time()), &mut circle)?;
/// }
/// assert!((rk.states()[0] - 1.0f64.cos()).abs() < 1e-8);
/// # Ok::<(), Refusal>(())
/// ```
pub type DormandPrince = OneStep<DormandPrinceScheme>;

impl DormandPrince {
    /// A method of this tolerance.
    pub fn new(tolerance: Tolerance) -> Self {
        Self::with(DormandPrinceScheme {
            tolerance,
            slopes: Default::default(),
            point: Vec::new(),
            errors: Vec::new(),
            weights: Vec::new(),
            before: 1.0,
            rejected: false,
        })
    }
}

/// How a step of [`DormandPrince`] is computed.
#[derive(Debug)]
pub struct DormandPrinceScheme {
    tolerance: Tolerance,
    slopes: [Vec<f64>; STAGES],
    /// The last stage: the end of the step.
    point: Vec<f64>,
    /// Estimated error of each state.
    errors: Vec<f64>,
    /// One over the tolerance of each state.
    weights: Vec<f64>,
    /// Error of the step before.
    before: f64,
    rejected: bool,
}

impl Clone for DormandPrinceScheme {
    fn clone(&self) -> Self {
        Self {
            slopes: self.slopes.clone(),
            point: self.point.clone(),
            errors: self.errors.clone(),
            weights: self.weights.clone(),
            ..*self
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.tolerance = source.tolerance;
        self.slopes.clone_from(&source.slopes);
        self.point.clone_from(&source.point);
        self.errors.clone_from(&source.errors);
        self.weights.clone_from(&source.weights);
        (self.before, self.rejected) = (source.before, source.rejected);
    }
}

impl Scheme for DormandPrinceScheme {
    const NAME: &'static str = "dopri5";
    const ORDER: usize = 5;
    const ROWS: usize = 5;
    const PREDICTS: bool = false;
    const ADAPTS: bool = true;

    fn restart(&mut self, states: usize) {
        for vector in self.slopes.iter_mut().chain([&mut self.point, &mut self.errors, &mut self.weights]) {
            vector.clear();
            vector.resize(states, 0.0);
        }
        (self.before, self.rejected) = (1.0, false);
    }

    fn first_step(&mut self, start: &Point) -> f64 {
        self.tolerance.weigh(&start.x, &mut self.weights);
        0.1 * self.tolerance.first_step(&start.slope, &self.weights, Self::ORDER - 1)
    }

    fn attempt(&mut self, start: &Point, h: f64, flow: &mut dyn Flow) -> Result<f64, Refusal> {
        self.slopes[0].copy_from_slice(&start.slope);
        for stage in 1..STAGES {
            let (before, rest) = self.slopes.split_at_mut(stage);
            let terms = STAGE_WEIGHTS[stage].iter().zip(before);
            let terms = terms.filter(|(weight, _)| **weight != 0.0).map(|(weight, k)| (*weight, &**k));
            combine(&start.x, h, terms, &mut self.point);
            evaluate(flow, start.t + NODES[stage] * h, &self.point, &mut rest[0])?;
        }
        self.tolerance.weigh(&start.x, &mut self.weights);
        self.errors.fill(0.0);
        for (weight, slope) in ERROR_WEIGHTS.iter().zip(&self.slopes) {
            for (error, slope) in self.errors.iter_mut().zip(slope) {
                *error += h * weight * slope;
            }
        }
        Ok(weighted_norm(&self.errors, &self.weights))
    }

    fn next_step(&mut self, h: f64, error: f64) -> f64 {
        let exponent = log2(error.max(1e-10)) * (0.2 - 0.75 * BETA);
        if error <= 1.0 {
            let factor = SAFETY * exp2(BETA * log2(self.before) - exponent);
            let most = if self.rejected { 1.0 } else { FACTORS.1 };
            self.before = error.max(1e-4);
            self.rejected = false;
            h * factor.clamp(FACTORS.0, most)
        } else {
            self.rejected = true;
            let factor = if error.is_finite() { SAFETY * exp2(-exponent) } else { FACTORS.0 };
            h * factor.clamp(FACTORS.0, SAFETY)
        }
    }

    fn write(&self, start: &Point, h: f64, dense: &mut StatePolynomials) {
        write_cubic(start, h, &self.point, &self.slopes[STAGES - 1], dense);
        dense.row_mut(4).fill(0.0);
        for (weight, slope) in DENSE_WEIGHTS.iter().zip(&self.slopes) {
            for (row, factor) in [(2, 1.0), (3, -2.0), (4, 1.0)] {
                dense.add(row, factor * weight * h, slope);
            }
        }
    }

    fn end_slope(&self) -> Option<&[f64]> {
        Some(&self.slopes[STAGES - 1])
    }
}
