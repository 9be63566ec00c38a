//! Integrators: how far a prediction may be trusted.
//!
//! Every integrator exposes its prediction, a polynomial for each state built only from what is
//! known at the start of the step. The engine bounds the step by the guards evaluated on that
//! polynomial and accepts it; see [`taylor`]. Where only values of the flow can be had, the engine
//! meets the methods of [`Integrator`]: [`adams`] predicts from the past, [`runge_kutta`] looks ahead,
//! [`fixed`] does neither.

pub mod adams;
pub mod certificate;
pub mod fixed;
mod flow;
mod integrator;
mod norm;
mod one_step;
mod polynomials;
pub mod runge_kutta;
pub mod taylor;

pub use flow::{Flow, Refusal};
pub use integrator::{Gap, Integrator, Prediction, Snapshot, Step};
pub use polynomials::StatePolynomials;
