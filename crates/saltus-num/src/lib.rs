//! Numbers and what is done with them, without any notion of a model.

pub mod elementary;
pub mod polynomial;
pub mod roots;
