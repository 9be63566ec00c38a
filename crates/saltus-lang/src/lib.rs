//! saltus-lang
