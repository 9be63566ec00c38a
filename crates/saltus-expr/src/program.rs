//! The register program: expressions flattened to a straight line of operations on `f64`.
//!
//! Inputs are positional, so the programs of two expression sets that differ only in the variables
//! they read are equal: a thousand instances of one component share one program. Registers are
//! numbered inputs first, then constants, then one per operation, and no register is written twice.
//!
//! The order is fixed by the outputs alone: a depth-first walk visits the outputs in the order
//! given and the operands of a node left to right; inputs, constants and operations are numbered in
//! the order in which the walk leaves them. Every evaluator performs the operations in this order.

use crate::graph::{Binary, Expr, Graph, Node, Table, TableId, Unary, VarId};
use crate::hash::{QuickMap, QuickSet};
use crate::jet::JetCache;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A register of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

impl Reg {
    /// As a position in the register file.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation on registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A function of one argument.
    Unary(Unary, Reg),
    /// A function of two arguments.
    Binary(Binary, Reg, Reg),
    /// A whole power.
    Powi(Reg, i32),
    /// The second register if the first is not zero, else the third.
    Select(Reg, Reg, Reg),
    /// A table of the program over one argument.
    Table1(u32, Reg),
    /// A table of the program over two arguments.
    Table2(u32, Reg, Reg),
}

impl Op {
    /// The registers read, in order.
    pub fn operands(self) -> impl Iterator<Item = Reg> {
        let (items, len) = match self {
            Op::Unary(_, a) | Op::Powi(a, _) | Op::Table1(_, a) => ([a; 3], 1),
            Op::Binary(_, a, b) | Op::Table2(_, a, b) => ([a, b, b], 2),
            Op::Select(c, a, b) => ([c, a, b], 3),
        };
        items.into_iter().take(len)
    }

    /// The same operation on other registers.
    pub fn map(self, mut f: impl FnMut(Reg) -> Reg) -> Op {
        match self {
            Op::Unary(op, a) => Op::Unary(op, f(a)),
            Op::Binary(op, a, b) => Op::Binary(op, f(a), f(b)),
            Op::Powi(a, n) => Op::Powi(f(a), n),
            Op::Select(c, a, b) => Op::Select(f(c), f(a), f(b)),
            Op::Table1(t, a) => Op::Table1(t, f(a)),
            Op::Table2(t, a, b) => Op::Table2(t, f(a), f(b)),
        }
    }
}

/// A table of a program, compared by content.
#[derive(Clone, Debug)]
struct SharedTable(Arc<Table>);

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

impl PartialEq for SharedTable {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        Arc::ptr_eq(&self.0, &other.0)
            || a.name == b.name
                && (a.interpolation, a.extrapolation) == (b.interpolation, b.extrapolation)
                && same_bits(&a.x, &b.x)
                && same_bits(&a.y, &b.y)
                && same_bits(&a.values, &b.values)
    }
}

impl Eq for SharedTable {}

/// A straight-line program from inputs to outputs.
///
/// ```
/// use saltus_expr::{Binary, Graph, Node, Program, Sort, VarId};
/// let mut graph = Graph::new();
/// let vars = [7, 3].map(|i| graph.var(VarId(i), Sort::Real));
/// let product = graph.intern(Node::Binary(Binary::Mul, vars[0], vars[1]));
/// let (program, inputs) = Program::new(&graph, &[product]);
/// assert_eq!(inputs, [VarId(7), VarId(3)]);
///
/// let environment = [0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 2.0];
/// let mut registers = vec![0.0; program.registers()];
/// program.eval(&environment, &[7, 3], &mut registers);
/// assert_eq!(registers[program.outputs()[0].index()], 10.0);
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    inputs: u32,
    constants: Vec<u64>,
    tables: Vec<SharedTable>,
    ops: Vec<Op>,
    outputs: Vec<Reg>,
    origins: Vec<Expr>,
    pub(crate) jets: JetCache,
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.inputs == other.inputs
            && self.constants == other.constants
            && self.ops == other.ops
            && self.outputs == other.outputs
            && self.tables == other.tables
    }
}

impl Eq for Program {}

impl Hash for Program {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Tables are left to the comparison: hashing their content would cost more than it saves.
        (self.inputs, &self.constants, &self.ops, &self.outputs).hash(state);
    }
}

impl Program {
    /// Flattens `outputs` and says which variable each input stands for. A power whose exponent is
    /// a small whole constant becomes a whole power, which exists for every base.
    pub fn new(graph: &Graph, outputs: &[Expr]) -> (Program, Vec<VarId>) {
        let order = operands_first(graph, outputs);
        let mut builder = Builder::with_leaves(graph, &order);
        for &e in &order {
            builder.add_operation(graph, e);
        }
        let registers = outputs.iter().map(|e| builder.registers[e]).collect();
        builder.program.outputs = registers;
        (builder.program, builder.variables)
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs as usize
    }

    /// The constants; they fill the registers after the inputs.
    pub fn constants(&self) -> impl ExactSizeIterator<Item = f64> {
        self.constants.iter().map(|&bits| f64::from_bits(bits))
    }

    /// The value of a register that holds a constant.
    pub fn constant(&self, register: Reg) -> Option<f64> {
        let bits = register.index().checked_sub(self.inputs()).and_then(|i| self.constants.get(i));
        bits.map(|&bits| f64::from_bits(bits))
    }

    /// The operations; they fill the registers after the constants.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The registers that hold the outputs.
    pub fn outputs(&self) -> &[Reg] {
        &self.outputs
    }

    /// Number of registers.
    pub fn registers(&self) -> usize {
        self.first_op() + self.ops.len()
    }

    /// The register of the first operation.
    pub fn first_op(&self) -> usize {
        self.inputs as usize + self.constants.len()
    }

    /// Number of tables.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// A table the operations refer to.
    pub fn table(&self, index: u32) -> &Arc<Table> {
        &self.tables[index as usize].0
    }

    /// The graph node an operation was made from.
    pub fn origin(&self, op: usize) -> Expr {
        self.origins[op]
    }
}

/// Every node reachable from the roots, operands before users, in the order of a depth-first walk.
fn operands_first(graph: &Graph, roots: &[Expr]) -> Vec<Expr> {
    let mut seen = QuickSet::default();
    let mut order = Vec::new();
    let mut stack: Vec<(Expr, bool)> = roots.iter().rev().map(|&root| (root, false)).collect();
    while let Some((e, left)) = stack.pop() {
        if left {
            order.push(e);
        } else if seen.insert(e) {
            stack.push((e, true));
            let first = stack.len();
            stack.extend(graph.operands(e).map(|operand| (operand, false)));
            stack[first..].reverse();
        }
    }
    order
}

struct Builder {
    program: Program,
    variables: Vec<VarId>,
    registers: QuickMap<Expr, Reg>,
    tables: QuickMap<TableId, u32>,
}

impl Builder {
    /// Numbers the variables and constants of an order.
    fn with_leaves(graph: &Graph, order: &[Expr]) -> Builder {
        let mut registers = QuickMap::with_capacity_and_hasher(order.len(), Default::default());
        let mut variables: Vec<VarId> = Vec::new();
        for &e in order {
            if let Node::Var(v, _) = graph.node(e) {
                let known = variables.iter().position(|&other| other == v);
                let position = known.unwrap_or_else(|| {
                    variables.push(v);
                    variables.len() - 1
                });
                registers.insert(e, Reg(position as u32));
            }
        }
        let mut constants: Vec<u64> = Vec::new();
        let mut places: QuickMap<u64, u32> = QuickMap::default();
        for &e in order {
            if let Node::Const(bits, _) = graph.node(e) {
                let position = *places.entry(bits).or_insert_with(|| {
                    constants.push(bits);
                    constants.len() as u32 - 1
                });
                registers.insert(e, Reg(variables.len() as u32 + position));
            }
        }
        let operations = order.len() - registers.len();
        let program = Program {
            inputs: variables.len() as u32,
            constants,
            tables: Vec::new(),
            ops: Vec::with_capacity(operations),
            outputs: Vec::new(),
            origins: Vec::with_capacity(operations),
            jets: JetCache::default(),
        };
        Builder { program, variables, registers, tables: QuickMap::default() }
    }

    fn add_operation(&mut self, graph: &Graph, e: Expr) {
        let reg = |operand: Expr| self.registers[&operand];
        let op = match graph.node(e) {
            Node::Const(..) | Node::Var(..) => return,
            Node::Unary(op, a) => Op::Unary(op, reg(a)),
            Node::Binary(Binary::Pow, a, b) => match graph.whole_exponent(b) {
                Some(n) => Op::Powi(reg(a), n),
                None => Op::Binary(Binary::Pow, reg(a), reg(b)),
            },
            Node::Binary(op, a, b) => Op::Binary(op, reg(a), reg(b)),
            Node::Powi(a, n) => Op::Powi(reg(a), n),
            Node::Select(c, a, b) => Op::Select(reg(c), reg(a), reg(b)),
            Node::Table1(t, a) => Op::Table1(self.table(graph, t), self.registers[&a]),
            Node::Table2(t, a, b) => Op::Table2(self.table(graph, t), self.registers[&a], self.registers[&b]),
        };
        self.registers.insert(e, Reg(self.program.registers() as u32));
        self.program.ops.push(op);
        self.program.origins.push(e);
    }

    fn table(&mut self, graph: &Graph, id: TableId) -> u32 {
        let tables = &mut self.program.tables;
        *self.tables.entry(id).or_insert_with(|| {
            tables.push(SharedTable(graph.shared_table(id)));
            tables.len() as u32 - 1
        })
    }
}

/// One shared copy of every distinct program.
#[derive(Debug, Default)]
pub struct Programs {
    known: QuickSet<Arc<Program>>,
}

impl Programs {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// The shared copy of a program.
    pub fn share(&mut self, program: Program) -> Arc<Program> {
        if let Some(known) = self.known.get(&program) {
            return Arc::clone(known);
        }
        let program = Arc::new(program);
        self.known.insert(Arc::clone(&program));
        program
    }

    /// Number of distinct programs.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// True if nothing was shared yet.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Extrapolation, Interpolation, Sort};

    fn oscillator(graph: &mut Graph, first: u32) -> [Expr; 2] {
        let [x, v, k] = [0, 1, 2].map(|i| graph.var(VarId(first + i), Sort::Real));
        let force = graph.intern(Node::Binary(Binary::Mul, k, x));
        [v, graph.intern(Node::Unary(Unary::Neg, force))]
    }

    #[test]
    fn isomorphic_expressions_share_one_program() {
        let mut graph = Graph::new();
        let mut programs = Programs::new();
        let shared: Vec<_> = [40, 10, 70]
            .into_iter()
            .map(|first| {
                let outputs = oscillator(&mut graph, first);
                let (program, inputs) = Program::new(&graph, &outputs);
                assert_eq!(inputs, [VarId(first + 1), VarId(first + 2), VarId(first)]);
                programs.share(program)
            })
            .collect();
        assert_eq!(programs.len(), 1);
        assert!(shared.iter().all(|p| Arc::ptr_eq(p, &shared[0])));
    }

    #[test]
    fn constants_are_compared_by_bits() {
        let mut graph = Graph::new();
        let x = graph.var(VarId(0), Sort::Real);
        let zeros = [0.0, -0.0].map(|zero| {
            let zero = graph.real(zero);
            let sum = graph.intern(Node::Binary(Binary::Add, x, zero));
            Program::new(&graph, &[sum]).0
        });
        assert_ne!(zeros[0], zeros[1]);
    }

    #[test]
    fn tables_are_compared_by_content() {
        let table = |value| Table {
            name: "t".into(),
            x: vec![0.0, 1.0],
            y: vec![],
            values: vec![0.0, value],
            interpolation: Interpolation::Linear,
            extrapolation: Extrapolation::Clamp,
        };
        let read = |value| {
            let mut graph = Graph::new();
            let id = graph.add_table(table(value));
            let x = graph.var(VarId(0), Sort::Real);
            let y = graph.intern(Node::Table1(id, x));
            Program::new(&graph, &[y]).0
        };
        assert_eq!(read(2.0), read(2.0));
        assert_ne!(read(2.0), read(3.0));
    }

    #[test]
    fn constant_whole_powers_are_multiplied_out() {
        let mut graph = Graph::new();
        let x = graph.var(VarId(0), Sort::Real);
        let (two, half) = (graph.real(2.0), graph.real(0.5));
        let square = graph.intern(Node::Binary(Binary::Pow, x, two));
        let root = graph.intern(Node::Binary(Binary::Pow, x, half));
        let (program, _) = Program::new(&graph, &[square, root]);
        assert_eq!(program.ops()[0], Op::Powi(Reg(0), 2));
        assert!(matches!(program.ops()[1], Op::Binary(Binary::Pow, ..)));
    }
}
