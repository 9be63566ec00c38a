//! The right-hand side as integrators see it: values at points, or a refusal.

use thiserror::Error;

/// Why a flow gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum Refusal {
    /// The flow has no finite value at this time and state.
    #[error("the flow has no finite value at t = {t}")]
    Undefined {
        /// The time of the attempt.
        t: f64,
    },
    /// The step is vetoed; a shorter one would be taken.
    #[error("the step is refused, a step of {to} would be taken")]
    Shorten {
        /// The length that is proposed, counted from the start of the step; 0 if it is left open.
        to: f64,
    },
}

/// The right-hand side of x' = f(t, x).
///
/// ```
/// use saltus_solve::{Flow, Refusal};
/// let mut pendulum = |_t: f64, x: &[f64], f: &mut [f64]| {
///     f[0] = x[1];
///     f[1] = -x[0].sin();
///     Ok::<(), Refusal>(())
/// };
/// let mut f = [0.0; 2];
/// pendulum.eval(0.0, &[0.0, 1.0], &mut f).unwrap();
/// assert_eq!(f, [1.0, 0.0]);
/// ```
pub trait Flow {
    /// Writes f(t, x), or refuses.
    fn eval(&mut self, t: f64, x: &[f64], f: &mut [f64]) -> Result<(), Refusal>;
}

impl<F: FnMut(f64, &[f64], &mut [f64]) -> Result<(), Refusal>> Flow for F {
    fn eval(&mut self, t: f64, x: &[f64], f: &mut [f64]) -> Result<(), Refusal> {
        self(t, x, f)
    }
}

/// Evaluates the flow; what is not finite is a refusal. States that have outgrown the numbers are no place
/// to ask the flow: a shorter step may still end at one.
pub(crate) fn evaluate(flow: &mut dyn Flow, t: f64, x: &[f64], f: &mut [f64]) -> Result<(), Refusal> {
    if !are_finite(x) {
        return Err(Refusal::Shorten { to: 0.0 });
    }
    flow.eval(t, x, f)?;
    if are_finite(f) { Ok(()) } else { Err(Refusal::Undefined { t }) }
}

/// A sum of magnitudes is not finite if any of them is not, without a branch for each.
fn are_finite(values: &[f64]) -> bool {
    values.iter().map(|x| x.abs() * f64::MIN_POSITIVE).sum::<f64>().is_finite()
}

/// The share of a refused step to try next.
const SHORTER: f64 = 0.25;

/// The step to propose after a refusal of a step of length `h`: always shorter, and positive.
pub(crate) fn after_refusal(refusal: Refusal, h: f64) -> f64 {
    match refusal {
        Refusal::Shorten { to } if to > 0.0 && to < h => to,
        _ => SHORTER * h,
    }
}
