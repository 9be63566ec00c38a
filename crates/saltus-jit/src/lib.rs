//! Native code for programs, plans and jets.
//!
//! Cranelift turns the register program, and the rows of a plan's jets, into machine code that
//! gives the same bits as the virtual machines of `saltus-expr`: elementary functions are calls to
//! the same portable functions, sums keep their order, and nothing is contracted. A run starts on
//! the virtual machine and takes native code after a number of evaluations, never by the clock.
//!
//! Jets come in two forms. A small system is *unrolled*: every coefficient is a value of one
//! straight-line function. Otherwise the work is *split*: the old terms of all convolutions are
//! summed by one precompiled vector kernel, and a small generated body, the same for every order,
//! adds the newest terms; dense linear parts are one matrix-vector kernel.

mod arena;
mod body;
mod code;
mod duos;
mod emit;
mod fused;
mod jet;
mod kernel;
mod matrix;
mod pairing;
mod point;
mod rows;
mod split;
mod unrolled;

pub use code::Effort;
pub use jet::{Form, NativeJet};
pub use point::{NativePlan, NativeProgram};

/// Why no native code was made.
#[derive(Debug, thiserror::Error)]
pub enum JitError {
    /// The machine is not supported.
    #[error("no native code on this machine: {0}")]
    Host(String),
    /// The plan is not well formed.
    #[error("the plan is not well formed: {0}")]
    Plan(#[from] saltus_expr::PlanFault),
    /// The code generator refused.
    #[error("the code generator failed: {0}")]
    Generator(String),
    /// The jets need more code or memory than is reasonable.
    #[error("the jets of this plan would need {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// Predicted size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
}

impl JitError {
    fn generator(error: impl std::fmt::Display) -> JitError {
        JitError::Generator(error.to_string())
    }
}
