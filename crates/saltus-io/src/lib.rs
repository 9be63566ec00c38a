//! saltus-io
