//! The seam between engine and integrators that need only values of the flow.
//!
//! A step has phases, so that the engine can keep every evaluation inside the domain:
//!
//! ```text
//! restart(t, x)           the flow is discontinuous here: what was known is forgotten
//! loop
//!     -- guards are tested at x --
//!     begin(flow)         f(t, x), unless it is known
//!     predict(h)          where the step will lead; nothing is evaluated
//!     -- guards are composed with the prediction, h is chosen --
//!     step(h, flow)       evaluations up to t + h; accepted or rejected
//!     -- roots are sought on dense(); the step may be cut anywhere --
//!     resume(...)         only if it was cut
//! ```
//!
//! After an accepted step the integrator stands at its end. A method that predicts evaluates the
//! flow nowhere but at points of its prediction and, in `begin`, at the point reached.

use crate::flow::{Flow, Refusal};
use crate::polynomials::StatePolynomials;
use std::any::Any;

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The step is made and its dense output is in force.
    Accepted {
        /// Estimate of the local error in units of the tolerance; 0 without an estimate.
        error: f64,
    },
    /// Nothing has changed but the proposed length.
    Rejected {
        /// Estimate of the local error in units of the tolerance.
        error: f64,
    },
}

impl Step {
    /// Whether the step is made.
    pub fn is_accepted(self) -> bool {
        matches!(self, Step::Accepted { .. })
    }
}

/// Where a step will lead, told from what is known at its start.
#[derive(Clone, Copy, Debug)]
pub struct Prediction<'a> {
    /// The states over the step; `s` = 1 is its end.
    pub states: &'a StatePolynomials,
    /// How far the step may end from the prediction; `None` if it will be the prediction itself.
    pub gap: Option<Gap<'a>>,
}

impl Prediction<'_> {
    /// Estimate of the prediction's error at `s`, in units of the tolerance.
    pub fn error(&self, s: f64) -> f64 {
        self.gap.map_or(0.0, |gap| saltus_num::polynomial::evaluate(gap.error, s))
    }
}

/// How far a corrected step may lie from its prediction: state `i` by about
/// `|differences[i]|` times the polynomial `coefficients` at s.
#[derive(Clone, Copy, Debug)]
pub struct Gap<'a> {
    /// The newest known difference of the slopes, one for each state.
    pub differences: &'a [f64],
    /// Coefficients of a polynomial in s; none is negative.
    pub coefficients: &'a [f64],
    /// Error of the prediction in units of the tolerance, as a polynomial in s.
    error: &'a [f64],
}

impl<'a> Gap<'a> {
    pub(crate) fn new(differences: &'a [f64], coefficients: &'a [f64], error: &'a [f64]) -> Self {
        Self { differences, coefficients, error }
    }
}

/// A guessed step is at most this share of what remains.
const GUESS: f64 = 1.0 / 64.0;

/// A method that carries states forward in time.
pub trait Integrator {
    /// Name of the method.
    fn name(&self) -> &'static str;

    /// The order of the next step.
    fn order(&self) -> usize;

    /// Time of the point reached.
    fn time(&self) -> f64;

    /// States at the point reached.
    fn states(&self) -> &[f64];

    /// Starts at a point and forgets what was known: the flow is discontinuous here.
    fn restart(&mut self, t: f64, x: &[f64]);

    /// Goes on from a point of the last step, `elapsed` after its start, where the flow continues.
    /// The point may lie on the dense output or, if no step was made since [`Integrator::begin`],
    /// on the prediction. What was known before the step is kept.
    fn resume(&mut self, elapsed: f64, t: f64, x: &[f64]);

    /// Evaluates the flow at the point reached, unless its value there is known.
    fn begin(&mut self, flow: &mut dyn Flow) -> Result<(), Refusal>;

    /// The length proposed for the next step; infinite if nothing is known to bound it. It takes
    /// account of all that is known only after [`Integrator::begin`].
    fn proposed(&self) -> f64;

    /// True if nothing but the slope at the point reached is known: the length proposed is then a guess,
    /// and a slope that happens to be zero allows any.
    fn is_guessing(&self) -> bool;

    /// The length to try if so much remains: what is proposed, but a guess is a small part at most.
    fn proposed_within(&self, remaining: f64) -> f64 {
        self.proposed().min(if self.is_guessing() { GUESS * remaining } else { remaining })
    }

    /// The prediction for a step of length `h`, without evaluating anything. `None` before
    /// [`Integrator::begin`] and for methods that know nothing ahead of their evaluations.
    fn predict(&mut self, h: f64) -> Option<Prediction<'_>>;

    /// Makes a step of the finite positive length `h`; begins it if that was not done.
    /// After a refusal a shorter step is proposed and may be tried.
    fn step(&mut self, h: f64, flow: &mut dyn Flow) -> Result<Step, Refusal>;

    /// The last accepted step. Its value at s = 1 is the point reached, to the last bit.
    fn dense(&self) -> &StatePolynomials;

    /// Keeps the whole state in a snapshot, reusing its memory.
    fn save(&self, snapshot: &mut Snapshot);

    /// Returns to a saved state; false, and nothing changed, if another method has saved it.
    fn restore(&mut self, snapshot: &Snapshot) -> bool;
}

/// The saved state of an integrator.
///
/// ```
/// let mut snapshot = saltus_solve::Snapshot::default();
/// snapshot.keep(&vec![1.0, 2.0]);
/// assert_eq!(snapshot.get::<Vec<f64>>(), Some(&vec![1.0, 2.0]));
/// assert_eq!(snapshot.get::<f64>(), None);
/// ```
#[derive(Default)]
pub struct Snapshot(Option<Box<dyn Any + Send + Sync>>);

impl Snapshot {
    /// Keeps a copy of a state, in the memory of the last one if it was of the same kind.
    pub fn keep<T: Clone + Send + Sync + 'static>(&mut self, state: &T) {
        match self.get_mut::<T>() {
            Some(kept) => kept.clone_from(state),
            None => self.0 = Some(Box::new(state.clone())),
        }
    }

    /// The state that was kept, if it is of this kind.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }

    fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.0.as_mut()?.downcast_mut()
    }
}

/// The parts of [`Integrator`] that are alike for every method whose state is all of itself.
macro_rules! saves_itself {
    () => {
        fn save(&self, snapshot: &mut $crate::integrator::Snapshot) {
            snapshot.keep(self);
        }

        fn restore(&mut self, snapshot: &$crate::integrator::Snapshot) -> bool {
            let kept = snapshot.get::<Self>();
            if let Some(kept) = kept {
                self.clone_from(kept);
            }
            kept.is_some()
        }
    };
}
pub(crate) use saves_itself;
