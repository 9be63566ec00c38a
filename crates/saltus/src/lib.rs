//! Saltus simulates systems that flow and jump: continuous dynamics interrupted by discrete events.
//!
//! ```
//! use saltus::{Model, Status};
//!
//! let model = Model::from_text(
//!     "ball.salt",
//!     "model Ball {
//!          param g = 9.81, e = 0.8
//!          state x = 10, v = 0
//!          flow { x' = v; v' = -g }
//!          when x <= 0 and v < 0 { v := -e * v }
//!          run { until 5; plot x, v }
//!      }",
//! )?;
//! let run = model.run(model.options()?)?;
//! assert_eq!(run.ending.status, Status::Finished);
//! // The first impact: x = 0 after sqrt(2 * 10 / 9.81) seconds.
//! assert!((run.events[0].stamp.t - (20.0_f64 / 9.81).sqrt()).abs() < 1e-9);
//! assert!(model.figure(&run).svg().contains("<svg"));
//! # Ok::<(), saltus::Error>(())
//! ```
//!
//! [`Model`] reads a model from text or a file; [`Model::run`] simulates it; a [`Run`] holds how it
//! ended, every event with the values before and after, the final values, the counters, and the
//! trace, which [`Model::figure`] and [`Model::table`] turn into pictures and tables. What goes
//! wrong before a run is an [`Error`] with places and advice; what goes wrong while it runs is the
//! [`Status`] of the run, which keeps everything up to that point.
//!
//! [`builder`] makes models from a program instead of a text.
//!
//! The parts are public as well: [`lang`] (text to model), [`model`] (the flat hybrid system),
//! [`expr`] (its expressions), [`sim`] (the engine) and [`io`] (pictures and tables).

mod error;
mod files;
mod load;
mod settings;
mod values;

pub use error::{Error, Fault, Place};
pub use files::{PictureFormat, TableFormat, save_picture};
pub use load::{Loader, Model, SetValue};
pub use settings::apply_setting;
pub use values::parameter_values;

pub use saltus_expr as expr;
pub use saltus_io as io;
pub use saltus_lang as lang;
pub use saltus_model as model;
pub use saltus_sim as sim;

pub use saltus_io::figure::Figure;
pub use saltus_io::from_trace::Rows;
pub use saltus_model::{HybridSystem, builder};
pub use saltus_sim::{
    Certificate, Change, Doubt, Ending, Event, EventKind, EventMethod, GuardForm, Limits, Note, Options,
    Point, Policy, Recording, Role, Run, Sampling, Simulator, Solver, Stamp, Stats, Status, Trace,
};

/// The page about models in Rust, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct ModelsInRust;
