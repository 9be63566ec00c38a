//! saltus-oracle
