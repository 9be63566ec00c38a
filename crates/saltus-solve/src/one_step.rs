//! What all one-step methods share: the point reached, its slope if it is known, and the phases of
//! a step. A [`Scheme`] says how a single step is computed.

use crate::flow::{Flow, Refusal, after_refusal, evaluate};
use crate::integrator::{Integrator, Prediction, Step, saves_itself};
use crate::polynomials::StatePolynomials;

/// A point and the slope there.
#[derive(Debug, Default)]
pub struct Point {
    pub(crate) t: f64,
    pub(crate) x: Vec<f64>,
    pub(crate) slope: Vec<f64>,
    /// Whether the slope belongs to the point.
    known: bool,
}

impl Clone for Point {
    fn clone(&self) -> Self {
        Self { x: self.x.clone(), slope: self.slope.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        (self.t, self.known) = (source.t, source.known);
        self.x.clone_from(&source.x);
        self.slope.clone_from(&source.slope);
    }
}

/// How a one-step method computes a step.
pub trait Scheme: Clone {
    /// Name of the method.
    const NAME: &'static str;
    /// Order of the method.
    const ORDER: usize;
    /// Orders of the dense output: its degree and one.
    const ROWS: usize;
    /// Whether the dense output needs only what is known at the start of the step.
    const PREDICTS: bool;
    /// Whether the length of steps follows from estimates.
    const ADAPTS: bool;

    /// Makes room for this number of states and forgets earlier steps.
    fn restart(&mut self, states: usize);

    /// The length to try first.
    fn first_step(&mut self, start: &Point) -> f64;

    /// Evaluates what a step needs; its error in units of the tolerance.
    fn attempt(&mut self, start: &Point, h: f64, flow: &mut dyn Flow) -> Result<f64, Refusal>;

    /// The length to try after a step with this error.
    fn next_step(&mut self, h: f64, error: f64) -> f64;

    /// Writes the dense output of the step that was evaluated last, row by row.
    fn write(&self, start: &Point, h: f64, dense: &mut StatePolynomials);

    /// The slope at the end of the step, if it was evaluated.
    fn end_slope(&self) -> Option<&[f64]>;
}

/// A one-step method; see [`Integrator`] for its phases.
#[derive(Debug)]
pub struct OneStep<S> {
    scheme: S,
    point: Point,
    proposed: f64,
    /// No step was made since the start.
    is_fresh: bool,
    prediction: StatePolynomials,
    dense: StatePolynomials,
}

impl<S: Scheme> Clone for OneStep<S> {
    fn clone(&self) -> Self {
        Self {
            scheme: self.scheme.clone(),
            point: self.point.clone(),
            proposed: self.proposed,
            is_fresh: self.is_fresh,
            prediction: self.prediction.clone(),
            dense: self.dense.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.scheme.clone_from(&source.scheme);
        self.point.clone_from(&source.point);
        (self.proposed, self.is_fresh) = (source.proposed, source.is_fresh);
        self.prediction.clone_from(&source.prediction);
        self.dense.clone_from(&source.dense);
    }
}

impl<S: Scheme> OneStep<S> {
    pub(crate) fn with(scheme: S) -> Self {
        Self {
            scheme,
            point: Point::default(),
            proposed: f64::INFINITY,
            is_fresh: true,
            prediction: StatePolynomials::default(),
            dense: StatePolynomials::default(),
        }
    }

    fn accept(&mut self, h: f64) {
        self.is_fresh = false;
        self.dense.reset(self.point.t, h, S::ROWS);
        self.scheme.write(&self.point, h, &mut self.dense);
        self.dense.evaluate(1.0, &mut self.point.x);
        self.point.t += h;
        self.point.known = self.scheme.end_slope().is_some();
        if let Some(slope) = self.scheme.end_slope() {
            self.point.slope.copy_from_slice(slope);
        }
    }
}

impl<S: Scheme + Send + Sync + 'static> Integrator for OneStep<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn order(&self) -> usize {
        S::ORDER
    }

    fn time(&self) -> f64 {
        self.point.t
    }

    fn states(&self) -> &[f64] {
        &self.point.x
    }

    fn restart(&mut self, t: f64, x: &[f64]) {
        (self.point.t, self.point.known) = (t, false);
        self.point.x.clear();
        self.point.x.extend_from_slice(x);
        self.point.slope.clear();
        self.point.slope.resize(x.len(), 0.0);
        (self.proposed, self.is_fresh) = (f64::NAN, true);
        self.scheme.restart(x.len());
        self.prediction.stand_still(t, x, S::ROWS);
        self.dense.stand_still(t, x, S::ROWS);
    }

    fn resume(&mut self, _elapsed: f64, t: f64, x: &[f64]) {
        self.point.known &= self.point.t == t && self.point.x == x;
        self.point.t = t;
        self.point.x.copy_from_slice(x);
    }

    fn begin(&mut self, flow: &mut dyn Flow) -> Result<(), Refusal> {
        if !self.point.known {
            evaluate(flow, self.point.t, &self.point.x, &mut self.point.slope)?;
            self.point.known = true;
        }
        if self.proposed.is_nan() {
            self.proposed = self.scheme.first_step(&self.point);
        }
        Ok(())
    }

    fn proposed(&self) -> f64 {
        self.proposed
    }

    fn is_guessing(&self) -> bool {
        S::ADAPTS && self.is_fresh
    }

    fn predict(&mut self, h: f64) -> Option<Prediction<'_>> {
        if !S::PREDICTS || !self.point.known {
            return None;
        }
        self.prediction.reset(self.point.t, h, S::ROWS);
        self.scheme.write(&self.point, h, &mut self.prediction);
        Some(Prediction { states: &self.prediction, gap: None })
    }

    fn step(&mut self, h: f64, flow: &mut dyn Flow) -> Result<Step, Refusal> {
        self.begin(flow)?;
        let error = match self.scheme.attempt(&self.point, h, flow) {
            Ok(error) => error,
            Err(refusal) => {
                self.proposed = after_refusal(refusal, h);
                return Err(refusal);
            }
        };
        self.proposed = self.scheme.next_step(h, error);
        if error <= 1.0 {
            self.accept(h);
            Ok(Step::Accepted { error })
        } else {
            Ok(Step::Rejected { error })
        }
    }

    fn dense(&self) -> &StatePolynomials {
        &self.dense
    }

    saves_itself!();
}

/// x + h times the sum of factors and slopes.
#[inline]
pub(crate) fn combine<'a>(x: &[f64], h: f64, terms: impl Iterator<Item = (f64, &'a [f64])>, out: &mut [f64]) {
    out.copy_from_slice(x);
    for (factor, slope) in terms {
        for (out, slope) in out.iter_mut().zip(slope) {
            *out += h * factor * slope;
        }
    }
}

/// A slope at the end that would lead so many times farther over the step than all else that is known of
/// it belongs to no step that follows the flow.
const STEEPEST: f64 = 1024.0;

/// Writes the cubics with the values and slopes of both ends. A slope that is too steep at the end is
/// left out: the value there, a small difference of great coefficients, would be lost in their rounding.
pub(crate) fn write_cubic(
    start: &Point,
    h: f64,
    end: &[f64],
    end_slope: &[f64],
    dense: &mut StatePolynomials,
) {
    dense.row_mut(0).copy_from_slice(&start.x);
    for i in 0..end.len() {
        let (first, last) = (h * start.slope[i], h * end_slope[i]);
        let change = end[i] - start.x[i];
        let known = start.x[i].abs() + end[i].abs() + first.abs();
        let last = if last.abs() <= STEEPEST * known { last } else { 2.0 * change - first };
        dense.row_mut(1)[i] = first;
        dense.row_mut(2)[i] = 3.0 * change - 2.0 * first - last;
        dense.row_mut(3)[i] = first + last - 2.0 * change;
    }
}
