//! Problems and drivers shared by the tests of integrators.
#![allow(dead_code, reason = "each test file uses a part")]

use saltus_solve::taylor::Tolerance;
use saltus_solve::{Flow, Integrator, Refusal, Step};

pub type Slope = fn(f64, &[f64], &mut [f64]);

pub fn both(tolerance: f64) -> Tolerance {
    Tolerance { relative: tolerance, absolute: tolerance }
}

/// A slope as a flow that counts its evaluations and keeps the points where they were made.
pub struct Counted {
    pub slope: Slope,
    pub points: Vec<(f64, Vec<f64>)>,
}

impl Counted {
    pub fn new(slope: Slope) -> Self {
        Self { slope, points: Vec::new() }
    }
}

impl Flow for Counted {
    fn eval(&mut self, t: f64, x: &[f64], f: &mut [f64]) -> Result<(), Refusal> {
        self.points.push((t, x.to_vec()));
        (self.slope)(t, x, f);
        Ok(())
    }
}

/// A flow with a known solution: nonlinear, depending on time, and oscillating.
pub fn known(t: f64, x: &[f64], f: &mut [f64]) {
    (f[0], f[1], f[2]) = (x[0] * (x[2] - t), x[2], -x[1]);
}

pub fn known_solution(t: f64) -> [f64; 3] {
    [(t.sin() - 0.5 * t * t).exp(), t.sin(), t.cos()]
}

pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Steps as proposed up to `end`; calls back after each accepted step.
pub fn run(
    integrator: &mut dyn Integrator,
    flow: &mut dyn Flow,
    end: f64,
    mut accepted: impl FnMut(&dyn Integrator),
) {
    for _ in 0..10_000_000 {
        let remaining = end - integrator.time();
        if remaining <= 1e-12 * end.abs() {
            return;
        }
        integrator.begin(flow).unwrap();
        let h = integrator.proposed().min(remaining);
        assert!(h > 0.0, "a step of {h} is proposed at t = {}", integrator.time());
        match integrator.step(h, flow).unwrap() {
            Step::Accepted { error } => {
                assert!((0.0..=1.0).contains(&error));
                accepted(integrator);
            }
            Step::Rejected { error } => {
                assert!(error > 1.0);
                assert!(integrator.proposed() < h, "a rejected step is proposed again");
            }
        }
    }
    panic!("the end is not reached");
}
