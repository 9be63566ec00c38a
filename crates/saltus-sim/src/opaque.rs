//! Models given as Rust closures: flow and guards that can be called but not looked into.
//!
//! They meet the integrators of [`saltus_solve`] at the same seam as models written as expressions,
//! with fewer powers: no jets, no inferred domain, no proofs. A guard becomes a polynomial by
//! sampling it along the prediction, so *what is found are the roots of that polynomial*: a guard
//! that wriggles faster than the prediction's own polynomial can be missed. What is kept: with a
//! method that predicts (Adams, Euler) guards are looked at before the flow is evaluated ahead, and
//! the flow is never called where a guard was found to be positive. The flow may veto a step and
//! propose a shorter one.

use crate::locate::has_outgrown;
use saltus_num::roots::RootFinder;
use saltus_solve::{Flow, Integrator, Refusal, StatePolynomials, Step};
use thiserror::Error;

/// Degree of the polynomial through the samples of a guard on a step.
const DEGREE: usize = 12;
/// Attempts at one step before it is given up.
const ATTEMPTS: u32 = 200;
/// Share of the way to an event that is stepped when the prediction is too inaccurate to reach it.
const APPROACH: f64 = 0.9;
/// Halvings of a bracket of a root.
const HALVINGS: u32 = 60;

/// A guard: negative where the model may be, zero at the event.
pub type Guard<'a> = Box<dyn FnMut(f64, &[f64]) -> f64 + 'a>;

/// What happens at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The states may have been changed; the run goes on from them.
    Continue,
    /// The run ends.
    Stop,
}

/// An event of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// When.
    pub t: f64,
    /// Position of the guard.
    pub guard: usize,
}

/// Why a run of closures ended early.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum OpaqueError {
    /// The flow refused, however short the step.
    #[error("the flow refuses every step from t = {t}: {refusal}")]
    Refused {
        /// Where the run stands.
        t: f64,
        /// What the flow said last.
        refusal: Refusal,
    },
    /// A state grew beyond the range of numbers.
    #[error("a state grows without bound at t = {t}")]
    Unbounded {
        /// Where the run stands.
        t: f64,
    },
    /// Steps became too short to advance time.
    #[error("steps from t = {t} are too short to advance time")]
    Stuck {
        /// Where the run stands.
        t: f64,
    },
}

/// Runs a flow with guards from a point, calling `react` at each event with the guard's position, the
/// time and the states, which it may change. A guard fires when it rises to zero; one that is not
/// negative after a reaction is asleep until it has been negative again. Returns the events.
///
/// ```
/// use saltus_sim::opaque::{Reaction, run};
/// use saltus_solve::adams::{Adams, AdamsOptions};
/// use saltus_solve::{Integrator, Refusal, taylor::Tolerance};
///
/// let tolerance = Tolerance { relative: 1e-9, absolute: 1e-9 };
/// let mut adams = Adams::new(AdamsOptions::new(tolerance));
/// adams.restart(0.0, &[10.0, 0.0]);
/// let mut fall = |_t: f64, x: &[f64], f: &mut [f64]| {
///     (f[0], f[1]) = (x[1], -9.81);
///     Ok::<(), Refusal>(())
/// };
/// let floor = Box::new(|_t: f64, x: &[f64]| -x[0]);
/// let hits = run(&mut adams, &mut fall, vec![floor], 4.0, |_, _, x| {
///     (x[0], x[1]) = (0.0, -0.8 * x[1]);
///     Reaction::Continue
/// })?;
/// assert_eq!(hits.len(), 2);
/// assert!((hits[0].t - (20.0f64 / 9.81).sqrt()).abs() < 1e-7);
/// # Ok::<(), saltus_sim::opaque::OpaqueError>(())
/// ```
pub fn run<'a>(
    integrator: &mut dyn Integrator,
    flow: &mut dyn Flow,
    guards: Vec<Guard<'a>>,
    until: f64,
    mut react: impl FnMut(usize, f64, &mut [f64]) -> Reaction,
) -> Result<Vec<Hit>, OpaqueError> {
    let mut watch = Watch::new(guards);
    let mut x = integrator.states().to_vec();
    watch.wake(integrator.time(), &x);
    let mut hits = Vec::new();
    while integrator.time() < until {
        let Some(guard) = watch.advance(integrator, flow, until, &mut x)? else { continue };
        let t = integrator.time();
        hits.push(Hit { t, guard });
        if react(guard, t, &mut x) == Reaction::Stop {
            break;
        }
        integrator.restart(t, &x);
        watch.wake(t, &x);
    }
    Ok(hits)
}

/// The guards and what is known about them.
struct Watch<'a> {
    guards: Vec<Guard<'a>>,
    /// Guards that were negative last.
    awake: Vec<bool>,
    finder: RootFinder,
    point: Vec<f64>,
}

impl<'a> Watch<'a> {
    fn new(guards: Vec<Guard<'a>>) -> Self {
        let awake = vec![false; guards.len()];
        Self { guards, awake, finder: RootFinder::default(), point: Vec::new() }
    }

    fn wake(&mut self, t: f64, x: &[f64]) {
        for (guard, awake) in self.guards.iter_mut().zip(&mut self.awake) {
            *awake = guard(t, x) < 0.0;
        }
    }

    /// Makes one step, at most to the first event; the event's guard, if there is one. `x` is then
    /// the state reached.
    fn advance(
        &mut self,
        integrator: &mut dyn Integrator,
        flow: &mut dyn Flow,
        until: f64,
        x: &mut [f64],
    ) -> Result<Option<usize>, OpaqueError> {
        let start = integrator.time();
        if integrator.states().iter().any(|&x| has_outgrown(x)) {
            return Err(OpaqueError::Unbounded { t: start });
        }
        let refused = |refusal| OpaqueError::Refused { t: start, refusal };
        integrator.begin(flow).map_err(refused)?;
        let mut h = integrator.proposed_within(until - start);
        let mut last = None;
        for _ in 0..ATTEMPTS {
            if start + h <= start {
                break;
            }
            if let Some(prediction) = integrator.predict(h)
                && let Some((guard, s)) = self.first_root(prediction.states)
            {
                if prediction.error(s) > 1.0 && start + APPROACH * s * h > start {
                    h *= APPROACH * s;
                    continue;
                }
                prediction.states.evaluate(s, x);
                integrator.resume(s * h, start + s * h, x);
                return Ok(Some(guard));
            }
            match integrator.step(h, flow) {
                Ok(Step::Accepted { .. }) => return Ok(self.look_back(integrator, start, h, x)),
                Ok(Step::Rejected { .. }) => {}
                Err(refusal) => last = Some(refusal),
            }
            h = integrator.proposed_within(until - start).min(h);
        }
        Err(last.map_or(OpaqueError::Stuck { t: start }, refused))
    }

    /// Looks at the guards on a step that was made, before the flow is called at its end.
    fn look_back(
        &mut self,
        integrator: &mut dyn Integrator,
        start: f64,
        h: f64,
        x: &mut [f64],
    ) -> Option<usize> {
        let Some((guard, s)) = self.first_root(integrator.dense()) else {
            x.copy_from_slice(integrator.states());
            self.wake(integrator.time(), x);
            return None;
        };
        integrator.dense().evaluate(s, x);
        integrator.resume(s * h, start + s * h, x);
        Some(guard)
    }

    /// The first place on a step where a guard that is awake rises to zero.
    fn first_root(&mut self, states: &StatePolynomials) -> Option<(usize, f64)> {
        let mut first: Option<(usize, f64)> = None;
        for guard in (0..self.guards.len()).filter(|&g| self.awake[g]).collect::<Vec<_>>() {
            let end = first.map_or(1.0, |(_, s)| s);
            if let Some(s) = self.root_of(guard, states).filter(|&s| s < end || first.is_none()) {
                first = Some((guard, s));
            }
        }
        first
    }

    fn root_of(&mut self, guard: usize, states: &StatePolynomials) -> Option<f64> {
        let nodes: [f64; DEGREE + 1] =
            std::array::from_fn(|j| 0.5 - 0.5 * (std::f64::consts::PI * j as f64 / DEGREE as f64).cos());
        let samples = nodes.map(|s| self.sample(guard, states, s));
        let coefficients = interpolate(&nodes, samples);
        let sampled = (1..=DEGREE).find(|&j| samples[j] >= 0.0).map(|j| (nodes[j - 1], nodes[j]));
        // Between samples the guard may rise to zero and fall again.
        if let Some(root) = self.finder.first_root(&coefficients)
            && sampled.is_none_or(|(lo, _)| root.hi < lo)
            && self.sample(guard, states, root.hi) >= 0.0
        {
            return Some(self.narrow(guard, states, (root.lo - 1e-6).max(0.0), root.hi));
        }
        sampled.map(|(lo, hi)| self.narrow(guard, states, lo, hi))
    }

    fn sample(&mut self, guard: usize, states: &StatePolynomials, s: f64) -> f64 {
        self.point.resize(states.states(), 0.0);
        states.evaluate(s, &mut self.point);
        (self.guards[guard])(states.origin() + s * states.unit(), &self.point)
    }

    /// The last place before a root, between two of which the guard is negative at the first.
    fn narrow(&mut self, guard: usize, states: &StatePolynomials, lo: f64, hi: f64) -> f64 {
        let (mut lo, mut hi) = (lo, hi);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (lo + hi);
            if self.sample(guard, states, middle) < 0.0 { lo = middle } else { hi = middle }
        }
        lo
    }
}

/// Power coefficients of the polynomial through samples, by Newton's divided differences.
fn interpolate<const N: usize>(nodes: &[f64; N], mut values: [f64; N]) -> [f64; N] {
    for order in 1..N {
        for j in (order..N).rev() {
            values[j] = (values[j] - values[j - 1]) / (nodes[j] - nodes[j - order]);
        }
    }
    let mut c = [0.0; N];
    for j in (0..N).rev() {
        for k in (1..N).rev() {
            c[k] = c[k - 1] - nodes[j] * c[k];
        }
        c[0] = values[j] - nodes[j] * c[0];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_num::polynomial;
    use saltus_solve::adams::{Adams, AdamsOptions};
    use saltus_solve::runge_kutta::DormandPrince;
    use saltus_solve::taylor::Tolerance;
    use std::cell::Cell;

    const TOLERANCE: Tolerance = Tolerance { relative: 1e-9, absolute: 1e-9 };

    fn adams() -> Adams {
        Adams::new(AdamsOptions::new(TOLERANCE))
    }

    #[test]
    fn interpolation_meets_its_samples() {
        let nodes = [0.0, 0.1, 0.5, 0.8, 1.0];
        let values = nodes.map(|s: f64| (3.0 * s).sin());
        let c = interpolate(&nodes, values);
        for (s, value) in nodes.into_iter().zip(values) {
            assert!((polynomial::evaluate(&c, s) - value).abs() < 1e-14);
        }
    }

    /// The flow has a square root that ends where the guard is zero, and is never called beyond.
    #[test]
    fn a_flow_is_never_called_beyond_its_guard() {
        let outside = Cell::new(0);
        let mut flow = |_t: f64, x: &[f64], f: &mut [f64]| {
            outside.set(outside.get() + u32::from(x[0] > 1.0));
            (f[0], f[1]) = (1.0 + 0.3 * x[0], (1.0 - x[0]).max(0.0).sqrt());
            Ok::<(), Refusal>(())
        };
        let mut adams = adams();
        adams.restart(0.0, &[-1.0, 0.0]);
        let edge: Guard = Box::new(|_t, x| x[0] - 1.0);
        let hits = run(&mut adams, &mut flow, vec![edge], 10.0, |_, _, _| Reaction::Stop).unwrap();
        // x' = 1 + 0.3 x from -1 reaches 1 at ln(1.3 / 0.7) / 0.3.
        assert!((hits[0].t - (1.3f64 / 0.7).ln() / 0.3).abs() < 1e-7, "{hits:?}");
        assert_eq!(outside.get(), 0);
    }

    #[test]
    fn both_methods_find_all_impacts() {
        let methods: [&mut dyn Integrator; 2] = [&mut adams(), &mut DormandPrince::new(TOLERANCE)];
        for integrator in methods {
            let mut fall = |_t: f64, x: &[f64], f: &mut [f64]| {
                (f[0], f[1]) = (x[1], -9.81);
                Ok::<(), Refusal>(())
            };
            integrator.restart(0.0, &[10.0, 0.0]);
            let floor: Guard = Box::new(|_t, x| -x[0]);
            let hits = run(integrator, &mut fall, vec![floor], 12.0, |_, _, x| {
                (x[0], x[1]) = (0.0, -0.8 * x[1]);
                Reaction::Continue
            })
            .unwrap();
            assert_eq!(hits.len(), 12);
            let fall = (20.0f64 / 9.81).sqrt();
            let last = fall * (1.0 + 2.0 * (1..12).map(|k| 0.8f64.powi(k)).sum::<f64>());
            assert!((hits[11].t - last).abs() < 1e-6, "{} {last}", hits[11].t);
        }
    }

    #[test]
    fn a_veto_shortens_the_step() {
        let longest = Cell::new(0.0_f64);
        let last = Cell::new(0.0_f64);
        let mut flow = |t: f64, x: &[f64], f: &mut [f64]| {
            if t - last.get() > 0.125 {
                return Err(Refusal::Shorten { to: 0.125 });
            }
            longest.set(longest.get().max(t - last.get()));
            last.set(t);
            f[0] = -x[0];
            Ok(())
        };
        let mut adams = adams();
        adams.restart(0.0, &[1.0]);
        run(&mut adams, &mut flow, Vec::new(), 2.0, |_, _, _| Reaction::Stop).unwrap();
        assert!(longest.get() <= 0.125 && (adams.states()[0] - (-2.0f64).exp()).abs() < 1e-7);
    }

    #[test]
    fn a_flow_that_refuses_everything_ends_the_run() {
        let mut flow = |t: f64, _x: &[f64], f: &mut [f64]| {
            f[0] = 1.0;
            if t > 0.5 { Err(Refusal::Undefined { t }) } else { Ok(()) }
        };
        let mut adams = adams();
        adams.restart(0.0, &[0.0]);
        let error = run(&mut adams, &mut flow, Vec::new(), 1.0, |_, _, _| Reaction::Stop).unwrap_err();
        assert!(matches!(error, OpaqueError::Refused { t, .. } if (0.4..=0.5).contains(&t)), "{error}");
    }

    #[test]
    fn a_state_that_outgrows_the_numbers_ends_the_run() {
        let methods: [&mut dyn Integrator; 2] = [&mut adams(), &mut DormandPrince::new(TOLERANCE)];
        for integrator in methods {
            let mut flow = |_t: f64, _x: &[f64], f: &mut [f64]| {
                f[0] = 1e308;
                Ok::<(), Refusal>(())
            };
            integrator.restart(0.0, &[1e308]);
            let error = run(integrator, &mut flow, Vec::new(), 500.0, |_, _, _| Reaction::Stop).unwrap_err();
            let OpaqueError::Unbounded { t } = error else { panic!("{error}") };
            assert!((t - 0.7976931).abs() < 1e-6, "{t}");
        }
    }
}
