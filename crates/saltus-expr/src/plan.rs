//! The flow plan: which programs run, in which order, on which slots of the environment.
//!
//! A mode combination of a model is a schedule of blocks. Each block applies a shared program to
//! slots of one flat environment of `f64` and writes its outputs to other slots; a block reads only
//! what earlier blocks wrote, states, time, and slots that nothing writes, which are constant
//! during a step.

use crate::graph::{Binary, Unary};
use crate::program::{Op, Program, Reg};
use crate::vm::Departure;
use std::sync::Arc;

/// A program bound to environment slots.
#[derive(Clone, Debug)]
pub struct PlanBlock {
    /// What to compute.
    pub program: Arc<Program>,
    /// The slot of each input.
    pub inputs: Vec<u32>,
    /// The slot each output is written to.
    pub outputs: Vec<u32>,
}

/// The blocks of a flow and what its states are.
///
/// ```
/// use saltus_expr::{Binary, FlowPlan, Graph, Node, PlanBlock, Program, Sort, VarId};
/// // x' = k x with time in slot 0, x in slot 1, k in slot 2 and the derivative in slot 3.
/// let mut graph = Graph::new();
/// let [x, k] = [1, 2].map(|slot| graph.var(VarId(slot), Sort::Real));
/// let rate = graph.intern(Node::Binary(Binary::Mul, k, x));
/// let (program, inputs) = Program::new(&graph, &[rate]);
/// let inputs = inputs.iter().map(|v| v.0).collect();
/// let block = PlanBlock { program: program.into(), inputs, outputs: vec![3] };
/// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 3)], time_slot: 0, slots: 4 };
/// let mut env = [0.0, 5.0, -2.0, 0.0];
/// plan.eval(&mut env, &mut Vec::new());
/// assert_eq!(env[3], -10.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct FlowPlan {
    /// The blocks, each after those whose outputs it reads.
    pub blocks: Vec<PlanBlock>,
    /// Slot of each state and slot of its derivative.
    pub states: Vec<(u32, u32)>,
    /// Slot of time.
    pub time_slot: u32,
    /// Number of slots of the environment.
    pub slots: usize,
}

/// What is wrong with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanFault {
    /// A slot lies outside the environment.
    Slot(u32),
    /// A block has not one slot for each input and output of its program.
    Arity {
        /// Position of the block.
        block: usize,
    },
    /// Two writers of one slot, or a block that writes a state or time.
    Rewritten(u32),
    /// A block reads a slot that a later block writes.
    ReadBeforeWritten {
        /// Position of the reader.
        block: usize,
        /// The slot.
        slot: u32,
    },
}

impl std::fmt::Display for PlanFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PlanFault::Slot(slot) => write!(f, "slot {slot} lies outside the environment"),
            PlanFault::Arity { block } => write!(f, "block {block} does not fit its program"),
            PlanFault::Rewritten(slot) => write!(f, "slot {slot} has more than one source"),
            PlanFault::ReadBeforeWritten { block, slot } => {
                write!(f, "block {block} reads slot {slot} before it is written")
            }
        }
    }
}

impl std::error::Error for PlanFault {}

impl FlowPlan {
    /// Evaluates all blocks in order at one point. `scratch` grows to the largest program's
    /// register count and can be reused.
    pub fn eval(&self, env: &mut [f64], scratch: &mut Vec<f64>) {
        for block in &self.blocks {
            block.eval(env, scratch);
        }
    }

    /// Evaluates like [`FlowPlan::eval`] and explains the first value that is not finite, with the
    /// position of its block.
    pub fn diagnose(&self, env: &mut [f64], scratch: &mut Vec<f64>) -> Option<(usize, Departure)> {
        self.blocks.iter().enumerate().find_map(|(position, block)| {
            block.eval(env, scratch);
            Some((position, block.program.diagnose(scratch)?))
        })
    }

    /// True for each slot that is a polynomial in states and time.
    pub fn polynomials(&self) -> Vec<bool> {
        self.kinds().into_iter().map(|kind| kind != Kind::Other).collect()
    }

    /// Which slots are polynomials of states and time in which moving numbers are multiplied: their series
    /// may need more terms than those of the states.
    pub fn products(&self) -> Vec<bool> {
        self.kinds().into_iter().map(|kind| kind == Kind::Polynomial).collect()
    }

    fn kinds(&self) -> Vec<Kind> {
        let mut kinds = vec![Kind::Constant; self.slots];
        kinds[self.time_slot as usize] = Kind::Linear;
        self.states.iter().for_each(|&(state, _)| kinds[state as usize] = Kind::Linear);
        let mut registers = Vec::new();
        for block in &self.blocks {
            let program = &block.program;
            registers.clear();
            registers.extend(block.inputs.iter().map(|&slot| kinds[slot as usize]));
            registers.resize(program.first_op(), Kind::Constant);
            for &op in program.ops() {
                registers.push(Kind::of_op(op, |r| registers[r.index()]));
            }
            for (&slot, register) in block.outputs.iter().zip(program.outputs()) {
                kinds[slot as usize] = registers[register.index()];
            }
        }
        kinds
    }

    /// Checks that every slot exists and has one source that comes before its readers.
    pub fn check(&self) -> Result<(), PlanFault> {
        let mut source = vec![Source::Unwritten; self.slots];
        let mut claim = |slot: u32, by: Source| match source.get_mut(slot as usize) {
            None => Err(PlanFault::Slot(slot)),
            Some(place @ Source::Unwritten) => {
                *place = by;
                Ok(())
            }
            Some(_) => Err(PlanFault::Rewritten(slot)),
        };
        claim(self.time_slot, Source::Flow)?;
        for &(state, _) in &self.states {
            claim(state, Source::Flow)?;
        }
        for (position, block) in self.blocks.iter().enumerate() {
            let program = &block.program;
            if (block.inputs.len(), block.outputs.len()) != (program.inputs(), program.outputs().len()) {
                return Err(PlanFault::Arity { block: position });
            }
            for &slot in &block.outputs {
                claim(slot, Source::Block(position))?;
            }
        }
        for (position, block) in self.blocks.iter().enumerate() {
            for &slot in &block.inputs {
                match source.get(slot as usize) {
                    None => return Err(PlanFault::Slot(slot)),
                    Some(&Source::Block(writer)) if writer >= position => {
                        return Err(PlanFault::ReadBeforeWritten { block: position, slot });
                    }
                    _ => {}
                }
            }
        }
        match self.states.iter().find(|&&(_, derivative)| derivative as usize >= self.slots) {
            Some(&(_, derivative)) => Err(PlanFault::Slot(derivative)),
            None => Ok(()),
        }
    }
}

/// How a quantity depends on the states.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Constant,
    Linear,
    Polynomial,
    Other,
}

impl Kind {
    fn of_op(op: Op, of: impl Fn(Reg) -> Kind) -> Kind {
        let greatest = op.operands().map(&of).max().unwrap_or(Kind::Constant);
        let keeps = match op {
            Op::Unary(Unary::Neg, _) | Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..) => true,
            Op::Powi(_, n) => n >= 0,
            Op::Binary(Binary::Div, _, b) => of(b) == Kind::Constant,
            Op::Select(c, ..) => of(c) == Kind::Constant,
            _ => false,
        };
        let is_product = match op {
            Op::Binary(Binary::Mul, a, b) => of(a).min(of(b)) > Kind::Constant,
            Op::Powi(a, n) => n > 1 && of(a) > Kind::Constant,
            _ => false,
        };
        match greatest {
            Kind::Constant => Kind::Constant,
            _ if !keeps => Kind::Other,
            Kind::Linear if is_product => Kind::Polynomial,
            kind => kind,
        }
    }
}

#[derive(Clone, Copy)]
enum Source {
    Unwritten,
    Flow,
    Block(usize),
}

impl PlanBlock {
    /// True if numbers are multiplied that depend on inputs which move.
    pub fn multiplies(&self, moves: impl Fn(u32) -> bool) -> bool {
        let mut registers: Vec<bool> = self.inputs.iter().map(|&slot| moves(slot)).collect();
        registers.resize(self.program.first_op(), false);
        for &op in self.program.ops() {
            let moving = op.operands().filter(|r| registers[r.index()]).count();
            match op {
                Op::Binary(Binary::Mul, ..) if moving == 2 => return true,
                Op::Powi(..) if moving > 0 => return true,
                _ => registers.push(moving > 0),
            }
        }
        false
    }

    /// Evaluates the block at one point.
    pub fn eval(&self, env: &mut [f64], scratch: &mut Vec<f64>) {
        if scratch.len() < self.program.registers() {
            scratch.resize(self.program.registers(), 0.0);
        }
        self.program.eval(env, &self.inputs, scratch);
        for (&slot, register) in self.outputs.iter().zip(self.program.outputs()) {
            env[slot as usize] = scratch[register.index()];
        }
    }
}
