//! Tables as comma-separated text: results written, model inputs read.

mod read;
mod write;

pub use read::{CsvError, CsvTable, Repeats};
pub use write::{CsvWriter, write_number};
