//! The built command, run on small models in folders of their own.

mod common;
mod endings;
mod json;
mod options;
