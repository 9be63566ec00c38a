//! Numbers and what is done with them, without any notion of a model.

mod bernstein;
pub mod elementary;
pub mod interval;
pub mod polynomial;
pub mod roots;
mod rounding;
pub mod sturm;
mod twofold;
pub mod zones;
