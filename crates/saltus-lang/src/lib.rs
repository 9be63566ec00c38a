//! The modelling language: text to a flat hybrid system, with diagnostics. No input or output:
//! files are asked for through a function the caller gives.

pub mod ast;
pub mod codes;
pub mod diagnostic;
mod lexer;
mod parser;
pub mod render;

pub use diagnostic::{Diagnostic, Severity};
pub use parser::{MAX_DEPTH, MAX_HEIGHT, parse};
