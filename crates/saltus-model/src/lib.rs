//! The flat hybrid system: what every front end produces and every engine consumes.

pub mod builder;
pub mod domains;
pub mod loops;
pub mod source;
pub mod system;

pub use source::{SourceFile, SourceMap, Span};
pub use system::*;
