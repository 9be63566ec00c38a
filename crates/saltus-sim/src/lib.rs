//! Simulation: event location, instants, jumps; from a flat hybrid system to a trace.
//!
//! The meaning of a run is defined in `docs/semantics.md`; [`Simulator`] executes it.

mod carried;
mod certify;
mod choice;
mod clearing;
mod combination;
mod compile;
mod composer;
mod crowd;
mod defect;
mod error;
mod expand;
mod explain;
mod gradient;
mod guards;
mod instant;
mod kept;
mod kinks;
mod locate;
mod low_order;
mod method;
pub mod opaque;
mod options;
mod outlook;
pub mod random;
mod report;
mod resting;
mod runner;
mod segment;
mod sift;
mod stepping;
mod stir;
mod switches;
mod timers;
mod trace;
mod zeno;

pub use error::SimError;
pub use method::{EventMethod, GuardForm, Solver, UnknownWord};
pub use options::{Limits, Options, Policy, Recording};
pub use report::{Certificate, Change, Doubt, Ending, Event, EventKind, Note, Run, Stamp, Stats, Status};
pub use runner::{Simulator, simulate};
pub use trace::{Epoch, Point, Role, Sampling, Segment, Trace};
