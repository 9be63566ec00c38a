//! saltus-jit
