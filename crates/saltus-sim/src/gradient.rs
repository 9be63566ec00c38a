//! Gradients of guards: how far a guard moves when the states do.

use crate::compile::{Code, Scalar};
use crate::runner::Runner;
use saltus_expr::{Graph, Program, VarId};

/// The gradients of all atoms of a model, each by the variables it is written in. What an atom
/// reads through signals is left out.
#[derive(Debug, Default)]
pub(crate) struct Gradients {
    atoms: Vec<Gradient>,
    values: Vec<f64>,
}

#[derive(Debug)]
struct Gradient {
    /// The variables of the entries.
    slots: Vec<u32>,
    /// The entries, one output each.
    entries: Scalar,
}

impl Gradients {
    pub fn of(code: &Code) -> Gradients {
        let mut graph: Graph = code.graph.clone();
        let atoms = code.atoms.iter().map(|atom| {
            let variables = graph.variables(&[atom.quantity]);
            let entries: Vec<_> = variables.iter().map(|&v| graph.derivative(atom.quantity, v)).collect();
            let (program, inputs) = Program::new(&graph, &entries);
            let slots = |list: &[VarId]| list.iter().map(|v| v.0).collect();
            let entries = Scalar { program: program.into(), inputs: slots(&inputs) };
            Gradient { slots: slots(&variables), entries }
        });
        Gradients { atoms: atoms.collect(), values: Vec::new() }
    }

    /// The sum over the states of |dg/dx| times the magnitude of a difference, for an active atom.
    pub fn reach(&mut self, runner: &Runner<'_>, p: usize, differences: &[f64]) -> f64 {
        self.fold(runner, p, |slope, state| state.map_or(0.0, |i| (slope * differences[i]).abs()))
    }

    /// Sums a function of the entries of the gradient of an active atom: the entry, and the
    /// position of its variable among the integrated states.
    pub fn fold(&mut self, runner: &Runner<'_>, p: usize, term: impl Fn(f64, Option<usize>) -> f64) -> f64 {
        let combination = runner.combination();
        let gradient = &self.atoms[combination.atoms[p].index()];
        let program = &gradient.entries.program;
        if self.values.len() < program.registers() {
            self.values.resize(program.registers(), 0.0);
        }
        program.eval(&runner.env, &gradient.entries.inputs, &mut self.values);
        let entries = program.outputs().iter().map(|r| self.values[r.index()]);
        entries.zip(&gradient.slots).map(|(slope, &slot)| term(slope, combination.state_position(slot))).sum()
    }
}
