//! Integrators: how far a prediction may be trusted.
//!
//! Every integrator exposes its prediction, a polynomial for each state built only from what is
//! known at the start of the step. The engine bounds the step by the guards evaluated on that
//! polynomial and accepts it; see [`taylor`].

pub mod taylor;
