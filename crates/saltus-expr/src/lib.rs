//! Expressions: the hash-consed graph, simplification, symbolic derivatives, the register program
//! and its virtual machine, Taylor recurrences (jets), interval evaluation.

pub mod derivative;
pub mod display;
pub mod graph;
pub mod hash;
pub mod interval;
pub mod jet;
pub mod lookup;
mod parts;
pub mod plan;
pub mod program;
mod simplify;
mod substitute;
#[cfg(test)]
mod testing;
pub mod vm;

pub use derivative::Tangent;
pub use graph::{
    Binary, Expr, Extrapolation, Graph, Interpolation, Node, Sort, Table, TableId, Unary, VarId,
};
pub use interval::Boxes;
pub use parts::{Part, Parts};
pub use plan::{FlowPlan, PlanBlock, PlanFault};
pub use program::{Op, Program, Programs, Reg};
pub use vm::Departure;
