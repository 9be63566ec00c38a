//! The Adams predictor-corrector method with variable step and order, as PECE.
//!
//! The predictor is the integral of the polynomial through the latest slopes, so where a step leads
//! is known before anything is evaluated ahead. One evaluation at the predicted point gives the
//! corrector and its error; the evaluation at the corrected point is left to the next `begin`, when
//! the guards have been tested there. Order and step follow from the divided differences at the
//! point reached; the method starts itself at order 1.

mod history;

use crate::flow::{Flow, Refusal, after_refusal, evaluate};
use crate::integrator::{Gap, Integrator, Prediction, Step, saves_itself};
use crate::norm::weighted_norm;
use crate::polynomials::StatePolynomials;
use crate::taylor::{Tolerance, exp2, log2};
use history::{COEFFICIENTS, Coefficients, History, INVERSES};

pub use history::MAX_ORDER;

/// Error the step is chosen for, in units of the tolerance: low enough that rejections are rare.
const TARGET: f64 = 0.25;
/// Longest step in units of the one before.
const GROWTH: f64 = 2.0;
/// The same at a low order, and for the first steps after a restart, which a low order has bound.
const EARLY_GROWTH: f64 = 8.0;
/// Highest order at which steps may grow so.
const LOW: usize = 2;
/// Shortest and longest step after a rejection, in units of the rejected one.
const RETRY: (f64, f64) = (0.1, 0.75);
/// A higher order must have this share of the error at the same step.
const RAISE: f64 = 0.5;
/// Rejections of one step after which the past counts as misleading and is forgotten.
const FAILURES: u32 = 3;
/// A node nearer to the one before than this share of the step before that replaces it: differences
/// over short distances would magnify the errors of the slopes.
const CLOSE: f64 = 0.02;

/// Which corrector goes with the predictor of order m.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pair {
    /// Order m + 1: the estimated error is added to the result.
    #[default]
    Extrapolated,
    /// Order m, as Esposito and Kumar use it.
    SameOrder,
}

/// How an Adams method is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamsOptions {
    /// Tolerance of the local error.
    pub tolerance: Tolerance,
    /// Lowest order, once enough is known for it.
    pub min_order: usize,
    /// Highest order, at most [`MAX_ORDER`].
    pub max_order: usize,
    /// The corrector.
    pub pair: Pair,
}

impl AdamsOptions {
    /// All orders with local extrapolation.
    pub fn new(tolerance: Tolerance) -> Self {
        Self { tolerance, min_order: 1, max_order: MAX_ORDER, pair: Pair::default() }
    }

    /// One order, after the start.
    pub fn fixed_order(self, order: usize) -> Self {
        Self { min_order: order, max_order: order, ..self }
    }
}

/// The Adams method; see [`Integrator`] for its phases.
///
/// ```
/// use saltus_solve::adams::{Adams, AdamsOptions};
/// use saltus_solve::{Integrator, Refusal, taylor::Tolerance};
///
/// let tolerance = Tolerance { relative: 1e-8, absolute: 1e-8 };
/// let mut adams = Adams::new(AdamsOptions::new(tolerance));
/// let mut decay = |_t: f64, x: &[f64], f: &mut [f64]| {
///     f[0] = -x[0];
///     Ok::<(), Refusal>(())
/// };
/// adams.restart(0.0, &[1.0]);
/// while adams.time() < 1.0 {
///     adams.begin(&mut decay)?;
///     let h = adams.proposed().min(1.0 - adams.time());
///     adams.step(h, &mut decay)?;
/// }
/// assert!((adams.states()[0] - (-1.0f64).exp()).abs() < 1e-7);
/// # Ok::<(), Refusal>(())
/// ```
#[derive(Debug)]
pub struct Adams {
    options: AdamsOptions,
    head: Head,
    x: Vec<f64>,
    /// One over the tolerance of each state at the latest node.
    weights: Vec<f64>,
    history: History,
    prediction: StatePolynomials,
    gap: Coefficients,
    error: Coefficients,
    dense: StatePolynomials,
    /// The predicted point.
    ahead: Vec<f64>,
    slope: Vec<f64>,
}

/// Everything that is not a vector.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    t: f64,
    /// Time since the latest node.
    elapsed: f64,
    /// Whether the flow is known at the point reached, which is then the latest node.
    begun: bool,
    order: usize,
    proposed: f64,
    /// Length of the last accepted step.
    length: f64,
    failures: u32,
    /// Whether the prediction is for the point reached.
    predicted: bool,
}

impl Clone for Adams {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.options);
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        self.options = source.options;
        self.head = source.head;
        self.x.clone_from(&source.x);
        self.weights.clone_from(&source.weights);
        self.history.clone_from(&source.history);
        self.prediction.clone_from(&source.prediction);
        self.gap = source.gap;
        self.error = source.error;
        self.dense.clone_from(&source.dense);
        self.ahead.clone_from(&source.ahead);
        self.slope.clone_from(&source.slope);
    }
}

impl Adams {
    /// A method without states; see [`Integrator::restart`]. Orders out of range are brought to
    /// the nearest that exists.
    pub fn new(options: AdamsOptions) -> Self {
        let max_order = options.max_order.clamp(1, MAX_ORDER);
        let min_order = options.min_order.clamp(1, max_order);
        let mut adams = Self {
            options: AdamsOptions { min_order, max_order, ..options },
            head: Head::default(),
            x: Vec::new(),
            weights: Vec::new(),
            history: History::default(),
            prediction: StatePolynomials::default(),
            gap: [0.0; COEFFICIENTS],
            error: [0.0; COEFFICIENTS],
            dense: StatePolynomials::default(),
            ahead: Vec::new(),
            slope: Vec::new(),
        };
        adams.restart(0.0, &[]);
        adams
    }

    /// Restarts with slopes known from before `t`, the oldest first, so that the first step has a
    /// higher order: each is at a distance from the next, the last from `t`.
    pub fn restart_with(&mut self, t: f64, x: &[f64], past: &[(f64, &[f64])]) {
        self.restart(t, x);
        let mut distance = 0.0;
        for &(to_next, slope) in past {
            self.slope.copy_from_slice(slope);
            self.history.push(distance, &mut self.slope);
            distance = to_next;
        }
        self.head.elapsed = distance;
        self.head.length = distance;
        self.head.order = past.len();
    }

    /// The constant C of Milne's device for the next step: the corrector of order m is C times as
    /// far from the solution as from the predictor. It depends on the steps before and on this one.
    pub fn milne_constant(&self, h: f64) -> f64 {
        self.history.milne_constant(self.head.order, h)
    }

    fn add_node(&mut self) {
        let head = &mut self.head;
        let before = if self.history.nodes() > 1 { self.history.age(1) } else { head.length };
        if head.elapsed <= CLOSE * before {
            head.elapsed += before;
            self.history.pop();
        }
        self.history.push(head.elapsed, &mut self.slope);
        head.elapsed = 0.0;
        head.begun = true;
        head.predicted = false;
        head.failures = 0;
        self.options.tolerance.weigh(&self.x, &mut self.weights);
        self.choose();
    }

    /// Chooses order and step from the differences at the latest node.
    fn choose(&mut self) {
        let known = self.history.nodes() - 1;
        let AdamsOptions { min_order, max_order, .. } = self.options;
        let lowest = min_order.min(known + 1);
        let highest = max_order.min(known.max(lowest));
        let mut order = self.head.order.clamp(lowest, highest);
        if known == 0 {
            let slope = self.history.difference(0);
            self.head.proposed = self.options.tolerance.first_step(slope, &self.weights, 1);
        } else if order <= known {
            let limit =
                self.head.length * if known < max_order || order <= LOW { EARLY_GROWTH } else { GROWTH };
            let size = |q: usize| weighted_norm(self.history.difference(q), &self.weights);
            let mut h = self.longest(order, size(order), self.head.length, limit);
            let error = |q: usize| size(q) * self.history.error(q, h).0;
            let present = error(order);
            let better = if order > lowest && error(order - 1) <= present {
                order - 1
            } else if order < highest && error(order + 1) < RAISE * present {
                order + 1
            } else {
                order
            };
            if better != order {
                h = self.longest(better, size(better), h, limit);
                order = better;
            }
            self.head.proposed = h;
        } else {
            self.head.proposed = self.head.length;
        }
        self.head.order = order;
    }

    /// The longest step up to `limit` whose error at this order, for a difference of this size,
    /// meets the target. In logarithms the error is nearly a straight line.
    fn longest(&self, order: usize, size: f64, guess: f64, limit: f64) -> f64 {
        let mut h = guess;
        for _ in 0..3 {
            let (value, slope) = self.history.error(order, h);
            let error = size * value;
            if error == 0.0 {
                return limit;
            }
            let excess = log2(error / TARGET);
            h = (h * exp2(-excess * value / slope)).min(limit);
            if excess.abs() < 0.1 {
                break;
            }
        }
        h
    }

    /// Writes the prediction in units of `h`.
    fn extrapolate(&mut self, h: f64) {
        if self.head.predicted && self.prediction.unit() == h {
            return;
        }
        let m = self.head.order;
        self.prediction.reset(self.head.t, h, m + 1);
        self.prediction.row_mut(0).copy_from_slice(&self.x);
        let mut power = 1.0;
        for n in 1..=m {
            power *= h;
            self.prediction.row_mut(n).fill(0.0);
            for i in n - 1..m {
                let factor = self.history.product(i)[n - 1] * power * INVERSES[n];
                if factor != 0.0 {
                    self.prediction.add(n, factor, self.history.difference(i));
                }
            }
        }
        self.head.predicted = true;
    }

    /// Polynomials of the gap and of the error of the prediction. While the difference that belongs
    /// to the order is not known, those of the order below tell more than enough; the first slope alone
    /// tells nothing of the error.
    fn measure(&mut self, h: f64) {
        let i = self.next_difference();
        if i == 0 {
            self.gap = self.history.integral(0, h);
            self.error = [0.0; COEFFICIENTS];
            self.error[1] = f64::MAX;
            return;
        }
        self.gap = self.history.correction(i, h);
        self.error = self.history.integral(i, h);
        let size = weighted_norm(self.history.difference(i), &self.weights);
        for c in &mut self.error {
            *c *= size;
        }
    }

    /// The first difference that is not in the prediction, or the last one known.
    fn next_difference(&self) -> usize {
        self.head.order.min(self.history.nodes() - 1)
    }

    /// The corrected step: the prediction and the new difference in `slope` times a polynomial.
    fn correct(&mut self, h: f64) {
        let m = self.head.order;
        let polynomial = match self.options.pair {
            Pair::Extrapolated => self.history.integral(m, h),
            Pair::SameOrder => self.history.correction(m, h),
        };
        self.dense.reset(self.head.t, h, m + 2);
        let (shared, added) = self.dense.split_rows_mut(m + 1);
        shared.copy_from_slice(self.prediction.coefficients());
        added.fill(0.0);
        for n in 1..=m + 1 {
            if polynomial[n] != 0.0 {
                self.dense.add(n, polynomial[n], &self.slope);
            }
        }
        self.dense.evaluate(1.0, &mut self.x);
    }

    fn accept(&mut self, h: f64) {
        self.correct(h);
        let head = &mut self.head;
        head.t += h;
        head.elapsed = h;
        head.length = h;
        head.begun = false;
        head.predicted = false;
        head.proposed = h;
    }

    fn reject(&mut self, h: f64, size: f64, lower: f64) {
        let m = self.head.order;
        self.head.failures += 1;
        let (least, most) = (RETRY.0 * h, RETRY.1 * h);
        let fitting =
            |order, size: f64| if size.is_finite() { self.longest(order, size, h, most) } else { least };
        let mut proposed = fitting(m, size);
        let mut order = m;
        if m > self.options.min_order && fitting(m - 1, lower) >= proposed {
            order = m - 1;
            proposed = fitting(order, lower);
        }
        if self.head.failures >= FAILURES {
            self.history.truncate(1);
            order = 1;
        }
        self.head.proposed = proposed.max(least);
        self.head.order = order;
        self.head.predicted = false;
    }
}

impl Integrator for Adams {
    fn name(&self) -> &'static str {
        "adams"
    }

    fn order(&self) -> usize {
        self.head.order
    }

    fn time(&self) -> f64 {
        self.head.t
    }

    fn states(&self) -> &[f64] {
        &self.x
    }

    fn restart(&mut self, t: f64, x: &[f64]) {
        self.head = Head { t, order: 1, ..Head::default() };
        self.x.clear();
        self.x.extend_from_slice(x);
        for vector in [&mut self.weights, &mut self.ahead, &mut self.slope] {
            vector.clear();
            vector.resize(x.len(), 0.0);
        }
        self.history.reset(x.len());
        self.prediction.stand_still(t, x, MAX_ORDER + 1);
        self.dense.stand_still(t, x, MAX_ORDER + 2);
    }

    fn resume(&mut self, elapsed: f64, t: f64, x: &[f64]) {
        if !self.head.begun || elapsed > 0.0 {
            self.head.elapsed = elapsed;
            self.head.begun = false;
            self.head.t = t;
            // The prediction was followed, without a step since the restart that others could grow from.
            if self.head.length == 0.0 {
                self.head.length = elapsed;
            }
            self.x.copy_from_slice(x);
        } else if self.x != x {
            self.restart(t, x);
        }
    }

    fn begin(&mut self, flow: &mut dyn Flow) -> Result<(), Refusal> {
        if !self.head.begun {
            evaluate(flow, self.head.t, &self.x, &mut self.slope)?;
            self.add_node();
        }
        Ok(())
    }

    fn proposed(&self) -> f64 {
        self.head.proposed
    }

    fn is_guessing(&self) -> bool {
        self.history.nodes() <= 1
    }

    fn predict(&mut self, h: f64) -> Option<Prediction<'_>> {
        if !self.head.begun {
            return None;
        }
        self.extrapolate(h);
        self.measure(h);
        let differences = self.history.difference(self.next_difference());
        let gap = Gap::new(differences, &self.gap, &self.error);
        Some(Prediction { states: &self.prediction, gap: Some(gap) })
    }

    fn step(&mut self, h: f64, flow: &mut dyn Flow) -> Result<Step, Refusal> {
        self.begin(flow)?;
        self.extrapolate(h);
        self.prediction.evaluate(1.0, &mut self.ahead);
        if let Err(refusal) = evaluate(flow, self.head.t + h, &self.ahead, &mut self.slope) {
            self.head.proposed = after_refusal(refusal, h);
            return Err(refusal);
        }
        let m = self.head.order;
        let mut lower = 0.0;
        let weights = &self.weights;
        self.history.difference_ahead(h, m, &mut self.slope, |d| lower = weighted_norm(d, weights));
        let size = weighted_norm(&self.slope, weights);
        let error = size * self.history.error(m, h).0;
        if error <= 1.0 {
            self.accept(h);
            Ok(Step::Accepted { error })
        } else {
            self.reject(h, size, lower);
            Ok(Step::Rejected { error })
        }
    }

    fn dense(&self) -> &StatePolynomials {
        &self.dense
    }

    saves_itself!();
}
