//! The built command, run on small models in folders of their own.

mod check;
mod common;
mod endings;
mod json;
mod options;
