//! Gradients of guards: how far a guard moves when the states do.

use crate::combination::Combination;
use crate::compile::{Code, Scalar};
use saltus_expr::{Expr, Graph, Program, VarId};
use std::sync::Arc;

/// The gradients of all atoms of a model, each by the variables it is written in. What an atom
/// reads through signals is left out. They are made when first asked for and kept with the code.
#[derive(Debug)]
pub(crate) struct Gradients {
    code: Arc<Code>,
    values: Vec<f64>,
}

/// The gradient of one atom.
#[derive(Debug)]
pub(crate) struct Gradient {
    /// The variables of the entries.
    slots: Vec<u32>,
    /// The entries, one output each.
    entries: Scalar,
}

impl Gradient {
    fn of(graph: &mut Graph, quantity: Expr) -> Gradient {
        let variables = graph.variables(&[quantity]);
        let entries: Vec<_> = variables.iter().map(|&v| graph.derivative(quantity, v)).collect();
        let (program, inputs) = Program::new(graph, &entries);
        let slots = |list: &[VarId]| list.iter().map(|v| v.0).collect();
        let entries = Scalar { program: program.into(), inputs: slots(&inputs) };
        Gradient { slots: slots(&variables), entries }
    }
}

impl Gradients {
    pub fn of(code: Arc<Code>) -> Gradients {
        Gradients { code, values: Vec::new() }
    }

    /// The sum over the states of |dg/dx| times the magnitude of a difference, for an active atom.
    pub fn reach(&mut self, at: Place<'_>, p: usize, differences: &[f64]) -> f64 {
        self.fold(at, p, |slope, of| match of {
            Of::State(i) => (slope * differences[i]).abs(),
            _ => 0.0,
        })
    }

    /// The derivative of an active atom along a motion: rates of the states, and of time.
    pub fn along(&mut self, at: Place<'_>, p: usize, rates: &[f64], of_time: f64) -> f64 {
        self.fold(at, p, |slope, of| match of {
            Of::State(i) => slope * rates[i],
            Of::Time => slope * of_time,
            Of::Other => 0.0,
        })
    }

    /// The length of the gradient of an active atom by the states.
    pub fn length(&mut self, at: Place<'_>, p: usize) -> f64 {
        let square = |slope: f64, of: Of| if matches!(of, Of::State(_)) { slope * slope } else { 0.0 };
        self.fold(at, p, square).sqrt()
    }

    /// Sums a function of the entries of the gradient of an active atom.
    fn fold(&mut self, at: Place<'_>, p: usize, term: impl Fn(f64, Of) -> f64) -> f64 {
        let code = &self.code;
        let gradients = code.gradients.get_or_init(|| {
            let mut graph = code.graph.clone();
            code.atoms.iter().map(|atom| Gradient::of(&mut graph, atom.quantity)).collect()
        });
        let gradient = &gradients[at.combination.atoms[p].index()];
        let program = &gradient.entries.program;
        if self.values.len() < program.registers() {
            self.values.resize(program.registers(), 0.0);
        }
        program.eval(at.env, &gradient.entries.inputs, &mut self.values);
        let entries = program.outputs().iter().map(|r| self.values[r.index()]);
        let of = |slot: u32| match at.combination.state_position(slot) {
            Some(i) => Of::State(i),
            None if slot == 0 => Of::Time,
            None => Of::Other,
        };
        entries.zip(&gradient.slots).map(|(slope, &slot)| term(slope, of(slot))).sum()
    }
}

/// Where gradients are read.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub combination: &'a Combination,
    pub env: &'a [f64],
}

/// What an entry of a gradient is the derivative by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Of {
    /// An integrated state, by position.
    State(usize),
    Time,
    Other,
}
