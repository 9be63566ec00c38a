//! saltus
