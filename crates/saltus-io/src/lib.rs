//! Results and pictures: figures and model graphs as SVG or PNG, tables as CSV (and, as
//! features, Arrow and Parquet).
//!
//! Everything here works on plain data and writes to strings, bytes or a writer the caller gives;
//! which file that becomes is decided elsewhere.

#[cfg(any(feature = "arrow", feature = "parquet"))]
pub mod columnar;
pub mod csv;
pub mod figure;
pub mod font;
pub mod from_trace;
pub mod graph;
pub mod plot;
#[cfg(feature = "png")]
pub mod png;
pub mod scene;
pub mod simplify;
pub mod svg;
pub mod table;
pub mod ticks;
