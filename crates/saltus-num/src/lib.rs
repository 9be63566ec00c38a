//! Numbers and what is done with them, without any notion of a model.

mod bernstein;
pub mod elementary;
pub mod interval;
pub mod polynomial;
pub mod roots;
mod rounding;
pub mod sturm;
mod twofold;
pub mod vectors;
pub mod zones;

/// Half the distance from 1 to the next number: the greatest relative error of an operation.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// Covers the rounding of the few operations of a bound, many times over.
pub const MARGIN: f64 = 1e-12;
