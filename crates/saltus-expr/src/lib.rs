//! Expressions: the hash-consed graph, simplification, symbolic derivatives, the register program
//! and its virtual machine, Taylor recurrences (jets), interval evaluation.

pub mod graph;

pub use graph::{
    Binary, Expr, Extrapolation, Graph, Interpolation, Node, Sort, Table, TableId, Unary, VarId,
};
