//! saltus-num
