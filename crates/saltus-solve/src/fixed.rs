//! Methods of fixed step: Euler's, whose prediction is the step itself, and the classical
//! Runge-Kutta method of order 4. They estimate no error and accept every step.

use crate::flow::{Flow, Refusal, evaluate};
use crate::one_step::{OneStep, Point, Scheme, combine, write_cubic};
use crate::polynomials::StatePolynomials;

/// Euler's method: a straight line along the slope at the start.
///
/// ```
/// use saltus_solve::{Integrator, Refusal, fixed::Euler};
/// let mut euler = Euler::new(0.5);
/// euler.restart(0.0, &[1.0]);
/// let mut growth = |_t: f64, x: &[f64], f: &mut [f64]| {
///     f[0] = x[0];
///     Ok::<(), Refusal>(())
/// };
/// euler.begin(&mut growth)?;
/// assert_eq!(euler.predict(0.5).unwrap().states.row(1), [0.5]);
/// euler.step(0.5, &mut growth)?;
/// assert_eq!(euler.states(), [1.5]);
/// # Ok::<(), Refusal>(())
/// ```
pub type Euler = OneStep<EulerScheme>;

/// The classical Runge-Kutta method of order 4. Its dense output is the cubic with the values and
/// slopes at both ends, of order 3 between them.
pub type Rk4 = OneStep<Rk4Scheme>;

impl Euler {
    /// A method of this step.
    pub fn new(step: f64) -> Self {
        Self::with(EulerScheme { step })
    }
}

impl Rk4 {
    /// A method of this step.
    pub fn new(step: f64) -> Self {
        Self::with(Rk4Scheme { step, ..Rk4Scheme::default() })
    }
}

/// How a step of [`Euler`] is computed.
#[derive(Clone, Debug)]
pub struct EulerScheme {
    step: f64,
}

impl Scheme for EulerScheme {
    const NAME: &'static str = "euler";
    const ORDER: usize = 1;
    const ROWS: usize = 2;
    const PREDICTS: bool = true;
    const ADAPTS: bool = false;

    fn restart(&mut self, _states: usize) {}

    fn first_step(&mut self, _start: &Point) -> f64 {
        self.step
    }

    fn attempt(&mut self, _start: &Point, _h: f64, _flow: &mut dyn Flow) -> Result<f64, Refusal> {
        Ok(0.0)
    }

    fn next_step(&mut self, _h: f64, _error: f64) -> f64 {
        self.step
    }

    fn write(&self, start: &Point, h: f64, dense: &mut StatePolynomials) {
        dense.row_mut(0).copy_from_slice(&start.x);
        dense.row_mut(1).fill(0.0);
        dense.add(1, h, &start.slope);
    }

    fn end_slope(&self) -> Option<&[f64]> {
        None
    }
}

/// How a step of [`Rk4`] is computed.
#[derive(Debug, Default)]
pub struct Rk4Scheme {
    step: f64,
    /// The slopes after the first, and at the end of the step.
    slopes: [Vec<f64>; 4],
    point: Vec<f64>,
}

impl Clone for Rk4Scheme {
    fn clone(&self) -> Self {
        Self { slopes: self.slopes.clone(), point: self.point.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        self.step = source.step;
        self.slopes.clone_from(&source.slopes);
        self.point.clone_from(&source.point);
    }
}

impl Scheme for Rk4Scheme {
    const NAME: &'static str = "rk4";
    const ORDER: usize = 4;
    const ROWS: usize = 4;
    const PREDICTS: bool = false;
    const ADAPTS: bool = false;

    fn restart(&mut self, states: usize) {
        for vector in self.slopes.iter_mut().chain([&mut self.point]) {
            vector.clear();
            vector.resize(states, 0.0);
        }
    }

    fn first_step(&mut self, _start: &Point) -> f64 {
        self.step
    }

    fn attempt(&mut self, start: &Point, h: f64, flow: &mut dyn Flow) -> Result<f64, Refusal> {
        let [k2, k3, k4, end] = &mut self.slopes;
        let point = &mut self.point;
        let (t, x, k1) = (start.t, &start.x, start.slope.as_slice());
        combine(x, h, [(0.5, k1)].into_iter(), point);
        evaluate(flow, t + 0.5 * h, point, k2)?;
        combine(x, h, [(0.5, k2.as_slice())].into_iter(), point);
        evaluate(flow, t + 0.5 * h, point, k3)?;
        combine(x, h, [(1.0, k3.as_slice())].into_iter(), point);
        evaluate(flow, t + h, point, k4)?;
        let [sixth, third] = [1.0 / 6.0, 1.0 / 3.0];
        combine(x, h, [(sixth, k1), (third, &**k2), (third, &**k3), (sixth, &**k4)].into_iter(), point);
        evaluate(flow, t + h, point, end)?;
        Ok(0.0)
    }

    fn next_step(&mut self, _h: f64, _error: f64) -> f64 {
        self.step
    }

    fn write(&self, start: &Point, h: f64, dense: &mut StatePolynomials) {
        write_cubic(start, h, &self.point, &self.slopes[3], dense);
    }

    fn end_slope(&self) -> Option<&[f64]> {
        Some(&self.slopes[3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Integrator;

    /// The end of a step is what the scheme computes, also where the step is far too long and the slope
    /// there much greater than the state.
    #[test]
    fn rk4_reaches_the_point_of_its_scheme() {
        let h = 0.05;
        let f = |x: f64| -100.0 * x * x * x;
        let k1 = f(1.0);
        let k2 = f(1.0 + 0.5 * h * k1);
        let k3 = f(1.0 + 0.5 * h * k2);
        let k4 = f(1.0 + h * k3);
        let expected = 1.0 + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        let mut rk4 = Rk4::new(h);
        rk4.restart(0.0, &[1.0]);
        let mut flow = |_t: f64, x: &[f64], slope: &mut [f64]| {
            slope[0] = f(x[0]);
            Ok::<(), Refusal>(())
        };
        rk4.step(h, &mut flow).unwrap();
        assert!((rk4.states()[0] / expected - 1.0).abs() < 1e-14, "{} {expected}", rk4.states()[0]);
    }
}
