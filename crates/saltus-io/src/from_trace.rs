//! From a run to a figure and to the rows of a table.
//!
//! The trace keeps polynomials and changes; here they become points. Which modes are active at a
//! point is followed through the events, so that the states of a mode show only while it is active.

mod figure;
mod modes;
mod panels;
mod table;

pub use figure::figure;
pub use modes::ActiveModes;
pub use table::{Rows, columns, write_table};
