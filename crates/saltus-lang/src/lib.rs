//! The modelling language: text to a flat hybrid system, with diagnostics. No input or output:
//! files are asked for through a function the caller gives.

pub mod ast;
pub mod codes;
pub mod csv;
pub mod diagnostic;
pub mod elaborate;
mod lexer;
mod parser;
pub mod printer;
pub mod render;
pub mod settings;
pub mod suggest;
pub mod units;

pub use diagnostic::{Diagnostic, Severity};
pub use elaborate::{Compiled, compile, compile_with};
pub use parser::{MAX_DEPTH, MAX_HEIGHT, parse};
