//! Random small systems of the exact class.
