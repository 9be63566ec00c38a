//! The hash-consed expression graph.
//!
//! Every expression of a model is a node of one [`Graph`]; equal expressions are one node, so an
//! [`Expr`] is compared and hashed as an index. Leaves are constants and variables; what a
//! variable *is* (a state, a parameter, time) is the business of the model, not of the graph.
//!
//! Values of all three sorts travel as `f64`: an Integer is a whole number, a Boolean is 0 or 1.

use crate::hash::QuickMap;
use std::sync::Arc;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expr(u32);

impl Expr {
    /// The position of this node in its graph; operands come before the nodes that use them.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable: an index into the variable table of the model, and a slot of the environment that
/// programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

impl VarId {
    /// The slot of this variable in an environment.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A lookup table of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u32);

/// The three kinds of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A real number.
    Real,
    /// A whole number, held in an `f64`.
    Integer,
    /// 0 or 1.
    Boolean,
}

/// Functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Not,
    Abs,
    Sign,
    Floor,
    Ceil,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    /// What is negative by rounding alone: its value is at least 0, its derivatives are those of its
    /// argument. Models have no name for it.
    Clip,
}

impl Unary {
    /// All that models have names for.
    pub const ALL: [Unary; 21] = [
        Unary::Neg,
        Unary::Not,
        Unary::Abs,
        Unary::Sign,
        Unary::Floor,
        Unary::Ceil,
        Unary::Sqrt,
        Unary::Exp,
        Unary::Log,
        Unary::Sin,
        Unary::Cos,
        Unary::Tan,
        Unary::Asin,
        Unary::Acos,
        Unary::Atan,
        Unary::Sinh,
        Unary::Cosh,
        Unary::Tanh,
        Unary::Asinh,
        Unary::Acosh,
        Unary::Atanh,
    ];
}

/// Functions of two arguments. `a > b` is `Lt(b, a)`, `a >= b` is `Le(b, a)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Hypot,
    Min,
    Max,
    /// `a - b * floor(a / b)`.
    Mod,
    Lt,
    Le,
    Eq,
    And,
    Or,
}

impl Binary {
    /// All of them.
    pub const ALL: [Binary; 15] = [
        Binary::Add,
        Binary::Sub,
        Binary::Mul,
        Binary::Div,
        Binary::Pow,
        Binary::Atan2,
        Binary::Hypot,
        Binary::Min,
        Binary::Max,
        Binary::Mod,
        Binary::Lt,
        Binary::Le,
        Binary::Eq,
        Binary::And,
        Binary::Or,
    ];
}

/// How a table is read between its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The value of the last point not after the argument.
    Hold,
    /// Straight lines between points (bilinear in two dimensions).
    Linear,
}

/// What a table answers before its first and after its last point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extrapolation {
    /// The value at the nearest end.
    Clamp,
    /// The first or last line continued.
    Extend,
    /// Nothing: the table does not exist there.
    Undefined,
}

/// A table over one or two arguments with strictly increasing grid points.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// A name for messages.
    pub name: String,
    /// Grid of the first argument.
    pub x: Vec<f64>,
    /// Grid of the second argument; empty for a table over one argument.
    pub y: Vec<f64>,
    /// Values, `x.len()` of them, or `x.len() * y.len()` with `y` running fastest.
    pub values: Vec<f64>,
    /// How values between points are found.
    pub interpolation: Interpolation,
    /// What lies outside the grid.
    pub extrapolation: Extrapolation,
}

/// One node: a leaf or an operation on earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The bits of a constant and its sort.
    Const(u64, Sort),
    /// A variable and its sort.
    Var(VarId, Sort),
    /// A function of one argument.
    Unary(Unary, Expr),
    /// A function of two arguments.
    Binary(Binary, Expr, Expr),
    /// A whole power, exact by repeated multiplication.
    Powi(Expr, i32),
    /// `if condition then a else b`.
    Select(Expr, Expr, Expr),
    /// A table over one argument.
    Table1(TableId, Expr),
    /// A table over two arguments.
    Table2(TableId, Expr, Expr),
}

/// All expressions of a model.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    sorts: Vec<Sort>,
    unique: QuickMap<Node, Expr>,
    tables: Vec<Arc<Table>>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if the graph has no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node behind an expression.
    pub fn node(&self, e: Expr) -> Node {
        self.nodes[e.index()]
    }

    /// The sort of an expression's value.
    pub fn sort(&self, e: Expr) -> Sort {
        self.sorts[e.index()]
    }

    /// A table by its index.
    pub fn table(&self, t: TableId) -> &Table {
        &self.tables[t.0 as usize]
    }

    /// A table by its index, to be kept beyond the graph.
    pub fn shared_table(&self, t: TableId) -> Arc<Table> {
        Arc::clone(&self.tables[t.0 as usize])
    }

    /// Adds a table, or finds the equal one already there.
    pub fn add_table(&mut self, table: Table) -> TableId {
        let known = self.tables.iter().position(|other| **other == table);
        let index = known.unwrap_or_else(|| {
            self.tables.push(Arc::new(table));
            self.tables.len() - 1
        });
        TableId(index as u32)
    }

    /// The expression for a node exactly as given, without simplification; one per distinct node.
    pub fn intern(&mut self, node: Node) -> Expr {
        if let Some(&e) = self.unique.get(&node) {
            return e;
        }
        let e = Expr(self.nodes.len() as u32);
        self.sorts.push(self.sort_of(node));
        self.nodes.push(node);
        self.unique.insert(node, e);
        e
    }

    /// A real constant.
    pub fn real(&mut self, value: f64) -> Expr {
        self.intern(Node::Const(value.to_bits(), Sort::Real))
    }

    /// An integer constant.
    pub fn integer(&mut self, value: i64) -> Expr {
        self.intern(Node::Const((value as f64).to_bits(), Sort::Integer))
    }

    /// A Boolean constant.
    pub fn boolean(&mut self, value: bool) -> Expr {
        self.intern(Node::Const(f64::from(value).to_bits(), Sort::Boolean))
    }

    /// A variable.
    pub fn var(&mut self, var: VarId, sort: Sort) -> Expr {
        self.intern(Node::Var(var, sort))
    }

    /// The value of a constant node.
    pub fn constant(&self, e: Expr) -> Option<f64> {
        match self.node(e) {
            Node::Const(bits, _) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The operands of a node, in order.
    pub fn operands(&self, e: Expr) -> Operands {
        let mut ops = Operands { items: [e; 3], len: 0, next: 0 };
        match self.node(e) {
            Node::Const(..) | Node::Var(..) => {}
            Node::Unary(_, a) | Node::Powi(a, _) | Node::Table1(_, a) => ops.set(&[a]),
            Node::Binary(_, a, b) | Node::Table2(_, a, b) => ops.set(&[a, b]),
            Node::Select(c, a, b) => ops.set(&[c, a, b]),
        }
        ops
    }

    /// The node of `e` with other operands.
    ///
    /// # Panics
    /// If there are fewer operands than the node has.
    pub fn with_operands(&mut self, e: Expr, operands: &[Expr]) -> Expr {
        let node = match self.node(e) {
            leaf @ (Node::Const(..) | Node::Var(..)) => leaf,
            Node::Unary(op, _) => Node::Unary(op, operands[0]),
            Node::Powi(_, n) => Node::Powi(operands[0], n),
            Node::Table1(t, _) => Node::Table1(t, operands[0]),
            Node::Binary(op, ..) => Node::Binary(op, operands[0], operands[1]),
            Node::Table2(t, ..) => Node::Table2(t, operands[0], operands[1]),
            Node::Select(..) => Node::Select(operands[0], operands[1], operands[2]),
        };
        self.intern(node)
    }

    /// Calls `visit` once for every node reachable from `roots`, operands first.
    pub fn visit(&self, roots: &[Expr], mut visit: impl FnMut(Expr)) {
        let mut seen = vec![false; self.len()];
        let mut stack: Vec<(Expr, bool)> = roots.iter().rev().map(|&r| (r, false)).collect();
        while let Some((e, ready)) = stack.pop() {
            if ready {
                visit(e);
            } else if !std::mem::replace(&mut seen[e.index()], true) {
                stack.push((e, true));
                stack.extend(self.operands(e).rev().map(|o| (o, false)));
            }
        }
    }

    /// The variables an expression reads, in first-visit order.
    pub fn variables(&self, roots: &[Expr]) -> Vec<VarId> {
        let mut found = Vec::new();
        self.visit(roots, |e| {
            if let Node::Var(v, _) = self.node(e) {
                found.push(v);
            }
        });
        found
    }

    /// The sort a node has by its operation and operands.
    pub(crate) fn sort_of(&self, node: Node) -> Sort {
        let joined = |a: Expr, b: Expr| match (self.sort(a), self.sort(b)) {
            (Sort::Integer, Sort::Integer) => Sort::Integer,
            _ => Sort::Real,
        };
        match node {
            Node::Const(_, sort) | Node::Var(_, sort) => sort,
            Node::Unary(op, a) => match op {
                Unary::Not => Sort::Boolean,
                Unary::Floor | Unary::Ceil | Unary::Sign => Sort::Integer,
                Unary::Neg | Unary::Abs | Unary::Clip => self.sort(a),
                _ => Sort::Real,
            },
            Node::Binary(op, a, b) => match op {
                Binary::Lt | Binary::Le | Binary::Eq | Binary::And | Binary::Or => Sort::Boolean,
                Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max | Binary::Mod => {
                    joined(a, b)
                }
                _ => Sort::Real,
            },
            Node::Powi(a, n) if n >= 0 => self.sort(a),
            Node::Powi(..) | Node::Table1(..) | Node::Table2(..) => Sort::Real,
            Node::Select(_, a, b) => {
                if self.sort(a) == self.sort(b) {
                    self.sort(a)
                } else {
                    Sort::Real
                }
            }
        }
    }
}

/// Iterator over the operands of a node.
#[derive(Clone, Debug)]
pub struct Operands {
    items: [Expr; 3],
    len: u8,
    next: u8,
}

impl Operands {
    fn set(&mut self, operands: &[Expr]) {
        self.items[..operands.len()].copy_from_slice(operands);
        self.len = operands.len() as u8;
    }
}

impl Iterator for Operands {
    type Item = Expr;

    fn next(&mut self) -> Option<Expr> {
        (self.next < self.len).then(|| {
            self.next += 1;
            self.items[self.next as usize - 1]
        })
    }
}

impl DoubleEndedIterator for Operands {
    fn next_back(&mut self) -> Option<Expr> {
        (self.next < self.len).then(|| {
            self.len -= 1;
            self.items[self.len as usize]
        })
    }
}
