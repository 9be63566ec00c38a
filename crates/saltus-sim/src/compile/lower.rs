//! Non-smooth functions as implicit switches.
//!
//! abs, sign, min, max, floor, ceil, mod, if-then-else and tables are smooth on each of their
//! branches. Lowering replaces them by the smooth expression of the branch in force, chosen by a
//! *switch*: a discrete variable that is locked during a step and changed only where the hidden
//! guard at the edge of its branch is crossed. What is left of a flow or a guard is smooth, so it
//! has jets of any order.

use super::builder::Builder;
use super::formula::{AtomId, Formula, build};
use saltus_expr::{
    Binary, Expr, Extrapolation, Graph, Interpolation, Node, Sort, Table, TableId, Unary, VarId,
};
use saltus_model::VariableKind;
use std::sync::Arc;

/// A hidden discrete variable that selects a branch.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    /// Where its value lives.
    pub slot: VarId,
    /// What decides it.
    pub kind: SwitchKind,
    /// The expression it was made for.
    pub origin: Expr,
}

#[derive(Clone, Debug)]
pub(crate) enum SwitchKind {
    /// 1 while the formula holds.
    Condition(Formula),
    /// The index of the step or grid cell that holds the quantity.
    Stair(AtomId, Grid),
}

/// Where a stair has its steps.
#[derive(Clone, Debug)]
pub(crate) enum Grid {
    /// Every whole number: the index is the floor.
    Whole,
    /// The same for what is never negative, although its series may be.
    Natural,
    /// Given points: index i is the cell from point i to point i+1; the first and last cells are
    /// open-ended.
    Points(Arc<[f64]>),
    /// The points of a table that does not exist outside them, and the number of cells between them.
    /// Cell 0 lies before the first point and the last cell behind the last one. A flow does not get
    /// there, since it ends at the edge of the table; a jump may.
    Within(Arc<[f64]>, usize),
}

impl Grid {
    /// The index of the cell that contains `u`, cells being closed below.
    pub fn locate(&self, u: f64) -> f64 {
        match self {
            Self::Whole => u.floor(),
            Self::Natural => u.floor().max(0.0),
            Self::Points(x) => (x.partition_point(|&p| p <= u).max(1) - 1) as f64,
            Self::Within(x, inner) if x.last().is_some_and(|&last| u > last) => (inner + 1) as f64,
            Self::Within(x, inner) => x.partition_point(|&p| p <= u).min(*inner) as f64,
        }
    }

    /// True if there is no value at `u`.
    pub fn excludes(&self, u: f64) -> bool {
        let Self::Within(_, inner) = self else { return false };
        !(1.0..=*inner as f64).contains(&self.locate(u))
    }

    /// Lower edge of a cell.
    pub fn lower(&self, index: f64) -> f64 {
        match self {
            Self::Natural | Self::Points(_) if index <= 0.0 => f64::NEG_INFINITY,
            Self::Whole | Self::Natural => index,
            Self::Points(x) => x[index as usize],
            Self::Within(..) if index <= 1.0 => f64::NEG_INFINITY,
            Self::Within(x, _) => x[(index as usize - 1).min(x.len() - 1)],
        }
    }

    /// Upper edge of a cell.
    pub fn upper(&self, index: f64) -> f64 {
        match self {
            Self::Whole | Self::Natural => index + 1.0,
            Self::Points(x) => x.get(index as usize + 1).copied().unwrap_or(f64::INFINITY),
            Self::Within(_, inner) if index >= *inner as f64 => f64::INFINITY,
            Self::Within(x, _) => x[index as usize],
        }
    }
}

impl Builder<'_> {
    /// The smooth form of an expression. Operands are done first, so that a long sum does not
    /// become a deep recursion; Boolean operands are left to the switches that need them.
    pub fn lower(&mut self, e: Expr) -> Expr {
        if let Some(&done) = self.lowered.get(&e) {
            return done;
        }
        let mut order = Vec::new();
        self.graph.visit(&[e], |n| order.push(n));
        for n in order {
            self.varies(n);
            if n == e || self.graph.sort(n) != Sort::Boolean {
                self.lower_one(n);
            }
        }
        self.lowered[&e]
    }

    fn lower_one(&mut self, e: Expr) -> Expr {
        if let Some(&done) = self.lowered.get(&e) {
            return done;
        }
        let node = self.graph.node(e);
        let varies = self.graph.operands(e).any(|o| self.varies(o));
        let result = if varies { self.lower_node(e, node) } else { e };
        self.lowered.insert(e, result);
        if result != e {
            self.origins.entry(result).or_insert(e);
        }
        result
    }

    /// True if the value of an expression can change during a step.
    pub fn varies(&mut self, e: Expr) -> bool {
        if let Some(&known) = self.varying.get(&e) {
            return known;
        }
        let result = match self.graph.node(e) {
            Node::Const(..) => false,
            Node::Var(v, _) => self.system.variables.get(v.index()).is_some_and(|v| {
                matches!(v.kind, VariableKind::Time | VariableKind::State | VariableKind::Signal)
            }),
            _ => self.graph.operands(e).any(|o| self.varies(o)),
        };
        self.varying.insert(e, result);
        result
    }

    fn lower_node(&mut self, e: Expr, node: Node) -> Expr {
        self.has_flat |= self.flat(e).is_some();
        match node {
            Node::Const(..) | Node::Var(..) => e,
            Node::Unary(op, a) => self.lower_unary(e, op, a),
            Node::Binary(op, a, b) => self.lower_binary(e, op, a, b),
            Node::Powi(a, n) => {
                let a = self.lower(a);
                self.graph.intern(Node::Powi(a, n))
            }
            Node::Select(c, a, b) => {
                let switch = self.condition_switch(e, c);
                let (a, b) = (self.lower(a), self.lower(b));
                let (a, b) = (self.in_branch(a, c, true), self.in_branch(b, c, false));
                self.graph.intern(Node::Select(switch, a, b))
            }
            Node::Table1(t, x) => self.lower_table1(e, t, x),
            Node::Table2(t, x, y) => self.lower_table2(e, t, x, y),
        }
    }

    fn lower_unary(&mut self, e: Expr, op: Unary, a: Expr) -> Expr {
        match op {
            Unary::Abs => {
                let zero = self.graph.real(0.0);
                let condition = self.graph.intern(Node::Binary(Binary::Le, zero, a));
                let switch = self.condition_switch(e, condition);
                let negative = self.graph.intern(Node::Unary(Unary::Neg, a));
                let branch = self.select(switch, a, negative);
                self.one_sided.insert(branch, false);
                branch
            }
            Unary::Sign => {
                let zero = self.graph.real(0.0);
                let above = self.graph.intern(Node::Binary(Binary::Lt, zero, a));
                let below = self.graph.intern(Node::Binary(Binary::Lt, a, zero));
                let (above, below) = (self.condition_switch(e, above), self.condition_switch(e, below));
                self.graph.intern(Node::Binary(Binary::Sub, above, below))
            }
            Unary::Floor => self.stair_switch(e, a, Grid::Whole),
            Unary::Ceil => {
                let mirrored = self.graph.intern(Node::Unary(Unary::Neg, a));
                let floor = self.stair_switch(e, mirrored, Grid::Whole);
                self.graph.intern(Node::Unary(Unary::Neg, floor))
            }
            Unary::Not => self.condition_switch(e, e),
            Unary::Sqrt | Unary::Log => {
                let a = self.lower(a);
                let a = self.clipped(a);
                self.by_branches(e, a, |graph, a| graph.intern(Node::Unary(op, a)))
            }
            _ => {
                let a = self.lower(a);
                self.graph.intern(Node::Unary(op, a))
            }
        }
    }

    /// A function `e` of an expression. If this is constant in one branch of a choice in it, as 2 g max(h, 0)
    /// is, the function is chosen instead: the root of a constant zero is zero, but has no series as one
    /// of something that may move.
    fn by_branches(&mut self, e: Expr, argument: Expr, function: impl Fn(&mut Graph, Expr) -> Expr) -> Expr {
        let mut nodes = Vec::new();
        self.graph.visit(&[argument], |e| nodes.push(e));
        for &choice in &nodes {
            let Node::Select(switch, a, b) = self.graph.node(choice) else { continue };
            let in_branch =
                |branch| self.graph.rewrite(&[argument], |_, e| (e == choice).then_some(branch))[0];
            let branches = [a, b].map(in_branch);
            let varying = branches.map(|branch| self.varies(branch));
            if varying[0] != varying[1] {
                let [a, b] = branches.map(|branch| function(&mut self.graph, branch));
                for branch in [a, b] {
                    if !matches!(self.graph.node(branch), Node::Const(..)) {
                        self.origins.entry(branch).or_insert(e);
                    }
                }
                return self.graph.intern(Node::Select(switch, a, b));
            }
        }
        function(&mut self.graph, argument)
    }

    fn lower_binary(&mut self, e: Expr, op: Binary, a: Expr, b: Expr) -> Expr {
        match op {
            Binary::Min | Binary::Max => {
                let (first, second) = if op == Binary::Min { (a, b) } else { (b, a) };
                let condition = self.graph.intern(Node::Binary(Binary::Le, first, second));
                let switch = self.condition_switch(e, condition);
                let branch = self.select(switch, a, b);
                if [a, b].contains(&self.graph.real(0.0)) {
                    self.one_sided.insert(branch, op == Binary::Min);
                }
                branch
            }
            Binary::Mod => {
                let ratio = self.graph.intern(Node::Binary(Binary::Div, a, b));
                let floor = self.stair_switch(e, ratio, Grid::Whole);
                let (a, b) = (self.lower(a), self.lower(b));
                let whole = self.graph.intern(Node::Binary(Binary::Mul, b, floor));
                self.graph.intern(Node::Binary(Binary::Sub, a, whole))
            }
            Binary::Lt | Binary::Le | Binary::Eq | Binary::And | Binary::Or => self.condition_switch(e, e),
            Binary::Pow => {
                let (a, b) = (self.lower(a), self.lower(b));
                let a = self.clipped(a);
                let function = |graph: &mut Graph, a: Expr| graph.intern(Node::Binary(op, a, b));
                // Flows that are lower powers may rest where the branch changes.
                let by_branches = |power: f64| power >= 1.0 || power == 0.5;
                match self.graph.node(b) {
                    Node::Const(bits, _) if by_branches(f64::from_bits(bits)) => {
                        self.by_branches(e, a, function)
                    }
                    _ => function(&mut self.graph, a),
                }
            }
            _ => {
                let (a, b) = (self.lower(a), self.lower(b));
                self.graph.intern(Node::Binary(op, a, b))
            }
        }
    }

    /// An argument in which branches have no value on the wrong side of zero. Where a branch changes, it is
    /// zero but for rounding, and a function of what cannot be negative has to exist there.
    fn clipped(&mut self, argument: Expr) -> Expr {
        let one_sided = &self.one_sided;
        let clip = |graph: &mut Graph, e: Expr| {
            let &is_negative = one_sided.get(&e)?;
            let positive = if is_negative { graph.intern(Node::Unary(Unary::Neg, e)) } else { e };
            let clipped = graph.intern(Node::Unary(Unary::Clip, positive));
            Some(if is_negative { graph.intern(Node::Unary(Unary::Neg, clipped)) } else { clipped })
        };
        self.graph.rewrite(&[argument], clip)[0]
    }

    /// A smooth expression that is in force while a condition holds, or does not: the difference of the sides
    /// of a comparison has one sign there, but for rounding, which functions in the branch must not see.
    fn in_branch(&mut self, branch: Expr, condition: Expr, holds: bool) -> Expr {
        let mut positive = Vec::new();
        self.differences(condition, holds, &mut positive);
        let clip = |graph: &mut Graph, argument: Expr| {
            let known = |graph: &mut Graph, e: Expr| {
                positive.contains(&e).then(|| graph.intern(Node::Unary(Unary::Clip, e)))
            };
            graph.rewrite(&[argument], known)[0]
        };
        let mut replaced = Vec::new();
        let result = self.graph.rewrite(&[branch], |graph, e| {
            let other = match graph.node(e) {
                Node::Unary(op @ (Unary::Sqrt | Unary::Log), a) => Node::Unary(op, clip(graph, a)),
                Node::Binary(Binary::Pow, a, b) => Node::Binary(Binary::Pow, clip(graph, a), b),
                _ => return None,
            };
            let other = graph.intern(other);
            replaced.push((e, other));
            Some(other)
        })[0];
        for (e, other) in replaced.into_iter().filter(|(e, other)| e != other) {
            let origin = self.origins.get(&e).copied().unwrap_or(e);
            self.origins.entry(other).or_insert(origin);
        }
        result
    }

    /// Smooth expressions that are not negative while a condition holds, or does not.
    fn differences(&mut self, condition: Expr, holds: bool, found: &mut Vec<Expr>) {
        match self.graph.node(condition) {
            Node::Binary(Binary::Lt | Binary::Le, a, b) => {
                let (a, b) = if holds { (a, b) } else { (b, a) };
                let (a, b) = (self.lower(a), self.lower(b));
                found.push(self.graph.sub(b, a));
            }
            Node::Binary(op @ (Binary::And | Binary::Or), a, b) if (op == Binary::And) == holds => {
                self.differences(a, holds, found);
                self.differences(b, holds, found);
            }
            Node::Unary(Unary::Not, a) => self.differences(a, !holds, found),
            _ => {}
        }
    }

    fn select(&mut self, switch: Expr, a: Expr, b: Expr) -> Expr {
        let (a, b) = (self.lower(a), self.lower(b));
        self.graph.intern(Node::Select(switch, a, b))
    }

    /// The switch variable that is 1 while `condition` holds.
    fn condition_switch(&mut self, origin: Expr, condition: Expr) -> Expr {
        if let Some(&known) = self.conditions.get(&condition) {
            return known;
        }
        let formula = build(self, condition, true);
        let switch = self.new_switch(origin, Sort::Boolean, SwitchKind::Condition(formula));
        self.conditions.insert(condition, switch);
        switch
    }

    fn stair_switch(&mut self, origin: Expr, quantity: Expr, grid: Grid) -> Expr {
        let quantity = self.lower(quantity);
        let quantity = self.clipped(quantity);
        let grid = match grid {
            Grid::Whole if self.is_never_negative(quantity) => Grid::Natural,
            other => other,
        };
        let atom = self.lowered_atom(quantity);
        self.new_switch(origin, Sort::Integer, SwitchKind::Stair(atom, grid))
    }

    /// True if a smooth expression is easily seen never to be negative, but for rounding.
    fn is_never_negative(&self, e: Expr) -> bool {
        let mut parts = vec![e];
        while let Some(e) = parts.pop() {
            match self.graph.node(e) {
                Node::Const(bits, _) if f64::from_bits(bits) >= 0.0 => {}
                Node::Unary(Unary::Clip | Unary::Sqrt | Unary::Exp | Unary::Cosh, _) => {}
                Node::Binary(Binary::Pow | Binary::Hypot, ..) => {}
                Node::Powi(_, n) if n % 2 == 0 => {}
                Node::Powi(a, _) => parts.push(a),
                Node::Binary(Binary::Add | Binary::Mul | Binary::Div, a, b) => parts.extend([a, b]),
                _ => return false,
            }
        }
        true
    }

    fn new_switch(&mut self, origin: Expr, sort: Sort, kind: SwitchKind) -> Expr {
        let slot = VarId(self.new_slot());
        self.switches.push(Switch { slot, kind, origin });
        self.graph.var(slot, sort)
    }

    /// The value of a list at a switch's index.
    fn pick(&mut self, values: Vec<f64>, index: Expr) -> Expr {
        let x = (0..values.len()).map(|i| i as f64).collect();
        let table = Table {
            name: String::new(),
            x,
            y: Vec::new(),
            values,
            interpolation: Interpolation::Hold,
            extrapolation: Extrapolation::Clamp,
        };
        let table = self.graph.add_table(table);
        self.graph.intern(Node::Table1(table, index))
    }

    fn lower_table1(&mut self, e: Expr, t: TableId, x: Expr) -> Expr {
        let table = self.graph.table(t).clone();
        let (grid, cells) = cells(&table.x, table.interpolation, table.extrapolation);
        let index = self.stair_switch(e, x, grid);
        let x = self.lower(x);
        let base = |c: &Cell| if c.is_outside { f64::NAN } else { table.values[c.at] };
        let base = self.pick(cells.iter().map(base).collect(), index);
        self.origins.insert(base, e);
        if table.interpolation == Interpolation::Hold {
            return base;
        }
        let slope = |c: &Cell| match c.next {
            Some(next) => (table.values[next] - table.values[c.at]) / (table.x[next] - table.x[c.at]),
            None => 0.0,
        };
        let slope = self.pick(cells.iter().map(slope).collect(), index);
        let from = self.pick(cells.iter().map(|c| table.x[c.at]).collect(), index);
        let offset = self.graph.intern(Node::Binary(Binary::Sub, x, from));
        let rise = self.graph.intern(Node::Binary(Binary::Mul, slope, offset));
        self.graph.intern(Node::Binary(Binary::Add, base, rise))
    }

    fn lower_table2(&mut self, e: Expr, t: TableId, x: Expr, y: Expr) -> Expr {
        let table = self.graph.table(t).clone();
        let (x_grid, x_cells) = cells(&table.x, table.interpolation, table.extrapolation);
        let (y_grid, y_cells) = cells(&table.y, table.interpolation, table.extrapolation);
        let i = self.stair_switch(e, x, x_grid);
        let j = self.stair_switch(e, y, y_grid);
        let width = self.graph.real(y_cells.len() as f64);
        let row = self.graph.intern(Node::Binary(Binary::Mul, i, width));
        let cell = self.graph.intern(Node::Binary(Binary::Add, row, j));
        let at = |i: usize, j: usize| table.values[i * table.y.len() + j];
        let mut corner = |pick: &dyn Fn(&Cell, &Cell) -> f64| {
            let values = x_cells.iter().flat_map(|a| y_cells.iter().map(move |b| pick(a, b))).collect();
            self.pick(values, cell)
        };
        let base = corner(&|a, b| if a.is_outside || b.is_outside { f64::NAN } else { at(a.at, b.at) });
        if table.interpolation == Interpolation::Hold {
            self.origins.insert(base, e);
            return base;
        }
        let run = |c: &Cell, grid: &[f64]| c.next.map(|n| grid[n] - grid[c.at]);
        let slope_x = corner(&|a, b| {
            run(a, &table.x).map_or(0.0, |d| (at(a.next.unwrap_or(a.at), b.at) - at(a.at, b.at)) / d)
        });
        let slope_y = corner(&|a, b| {
            run(b, &table.y).map_or(0.0, |d| (at(a.at, b.next.unwrap_or(b.at)) - at(a.at, b.at)) / d)
        });
        let twist = corner(&|a, b| match (a.next, b.next) {
            (Some(ia), Some(jb)) => {
                (at(ia, jb) - at(ia, b.at) - at(a.at, jb) + at(a.at, b.at))
                    / ((table.x[ia] - table.x[a.at]) * (table.y[jb] - table.y[b.at]))
            }
            _ => 0.0,
        });
        let from_x = corner(&|a, _| table.x[a.at]);
        let from_y = corner(&|_, b| table.y[b.at]);
        self.origins.insert(base, e);
        let (x, y) = (self.lower(x), self.lower(y));
        let dx = self.graph.intern(Node::Binary(Binary::Sub, x, from_x));
        let dy = self.graph.intern(Node::Binary(Binary::Sub, y, from_y));
        let a = self.graph.intern(Node::Binary(Binary::Mul, slope_x, dx));
        let b = self.graph.intern(Node::Binary(Binary::Mul, slope_y, dy));
        let dxdy = self.graph.intern(Node::Binary(Binary::Mul, dx, dy));
        let c = self.graph.intern(Node::Binary(Binary::Mul, twist, dxdy));
        let linear = self.graph.intern(Node::Binary(Binary::Add, a, b));
        let all = self.graph.intern(Node::Binary(Binary::Add, linear, c));
        self.graph.intern(Node::Binary(Binary::Add, base, all))
    }
}

/// One cell of a table's axis: the grid point it starts from, and the one its line leads to.
#[derive(Default)]
struct Cell {
    at: usize,
    next: Option<usize>,
    /// Beyond the ends of a table that does not exist there.
    is_outside: bool,
}

/// The switching points of an axis and the cells between them.
fn cells(x: &[f64], interpolation: Interpolation, extrapolation: Extrapolation) -> (Grid, Vec<Cell>) {
    let n = x.len();
    let mut cells: Vec<Cell> = if interpolation == Interpolation::Hold || n < 2 {
        (0..n).map(|at| Cell { at, ..Cell::default() }).collect()
    } else {
        (0..n - 1).map(|at| Cell { at, next: Some(at + 1), ..Cell::default() }).collect()
    };
    if extrapolation == Extrapolation::Undefined {
        let inner = cells.len();
        cells.insert(0, Cell { is_outside: true, ..Cell::default() });
        cells.push(Cell { is_outside: true, ..Cell::default() });
        return (Grid::Within(x.into(), inner), cells);
    }
    let mut grid = x.to_vec();
    if cells.len() < n {
        if extrapolation == Extrapolation::Extend {
            grid.pop();
        } else {
            cells.insert(0, Cell::default());
            cells.push(Cell { at: n - 1, ..Cell::default() });
            grid.insert(0, f64::NEG_INFINITY);
        }
    }
    (Grid::Points(grid.into()), cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_exist_from_the_first_point_to_the_last() {
        for (interpolation, inner) in [(Interpolation::Linear, 2), (Interpolation::Hold, 3)] {
            let (grid, cells) = cells(&[0.0, 1.0, 2.0], interpolation, Extrapolation::Undefined);
            assert_eq!(cells.len(), inner + 2);
            for (u, excluded) in [(-0.1, true), (0.0, false), (1.0, false), (2.0, false), (2.1, true)] {
                let index = grid.locate(u);
                assert_eq!((grid.excludes(u), cells[index as usize].is_outside), (excluded, excluded), "{u}");
                assert!(grid.lower(index) <= u && u <= grid.upper(index), "{interpolation:?} {u}");
            }
            // Nothing is crossed where the table ends; from outside it is entered.
            assert_eq!((grid.lower(1.0), grid.upper(inner as f64)), (f64::NEG_INFINITY, f64::INFINITY));
            assert_eq!((grid.upper(0.0), grid.lower(inner as f64 + 1.0)), (0.0, 2.0));
        }
    }
}
