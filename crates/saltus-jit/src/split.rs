//! Split jets: kernels for what is old, a small generated body for what is new.
//!
//! Every convolution of two rows without degree bound is a lane of the arrays A and B
//! (blocks of four lanes), every square a lane of the array S. At order k a kernel sums the old terms of
//! all lanes; then the body, one straight-line function for all orders, adds the newest terms,
//! applies the other rules and stores the new coefficients into rows and lanes. Rows of bounded
//! degree behave differently at low orders, so these have bodies of their own, and their few terms
//! are written out. So are all terms at the lowest orders, where a kernel would do less than it takes
//! to call it.

use crate::JitError;
use crate::arena::{Arena, Home};
use crate::body::Body;
use crate::code::Assembler;
use crate::emit::pointer_type;
use crate::fused::Fused;
use crate::kernel::{Kernels, Lanes, OldTerms, ProductLanes, SquareLanes};
use crate::matrix::{self, Matrices};
use crate::pairing::{Pairing, Two};
use cranelift_codegen::ir::Value;
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use saltus_expr::FlowPlan;
use saltus_expr::Reg;
use saltus_expr::jet::Degree;
use std::collections::HashMap;

/// Predicted bytes of code beyond which a plan is left to the virtual machine, whose time to start
/// does not grow with the number of blocks.
const GREATEST_SIZE: usize = 192 * 1024;

/// About what a node takes in one function.
const BYTES_PER_NODE: usize = 64;

/// Up to this order bodies sum all terms themselves.
pub(crate) const WRITTEN_OUT: usize = 4;

/// An order that stands for all high orders: indices near it are counted back from the order.
pub(crate) const ANY_ORDER: usize = 1 << 20;

/// A lane array in blocks of four lanes: `[lane / 4][order][lane % 4]`.
#[derive(Clone, Copy, Default)]
struct LaneArray {
    base: usize,
    blocks: usize,
    span: usize,
}

impl LaneArray {
    fn home(self, lane: usize) -> Home {
        Home { base: self.base + lane / 4 * 4 * self.span + lane % 4, stride: 4 }
    }
}

/// A matrix in the arena.
struct PlacedMatrix {
    /// Columns of the matrix.
    base: usize,
    /// Results, `[order][rows]`.
    results: usize,
    rows: usize,
    /// Positions of the columns among the states.
    columns: Vec<u32>,
    /// Where the columns' values are collected, if they are not neighbours.
    vector: Option<usize>,
    /// Where each entry comes from: entry, source (1 if none), sign.
    entries: Vec<(u32, Option<u32>, f64)>,
}

/// States to be integrated before the kernels: `count` neighbours whose derivatives are neighbours.
struct Run {
    state: usize,
    derivative: Home,
    count: usize,
}

/// Everything about a split jet but the code.
pub(crate) struct Split {
    pub arena: Arena,
    pub pairing: Pairing,
    /// Where operands of pairs lie side by side at order 0.
    pub firsts: Vec<([Reg; 2], Home)>,
    pub lanes: Lanes,
    pub product_lanes: HashMap<(Reg, Reg), usize>,
    pub square_lanes: HashMap<Reg, usize>,
    /// For each row, the lanes its coefficients go to.
    pub duties: Vec<Vec<Home>>,
    /// Rows that are results of matrices.
    pub covered: Vec<bool>,
    matrices: Vec<PlacedMatrix>,
    early: Vec<Run>,
    /// States that are integrated before the kernels run.
    pub is_early: Vec<bool>,
    /// Orders with bodies of their own.
    special: usize,
}

/// The functions of a split jet.
pub(crate) struct SplitFunctions {
    /// Rows that never change, then the others at order 0.
    pub constants: FuncId,
    pub start: FuncId,
    /// Bodies of order 1, 2, ...; the last serves all higher orders.
    pub bodies: Vec<FuncId>,
}

impl Split {
    pub fn new(plan: &FlowPlan, fused: &Fused, order: usize) -> Result<Split, JitError> {
        let endless = |row: Reg| fused.rows.degrees[row.index()] == Degree::UNBOUNDED;
        let Matrices { list, covered } = matrix::find(fused);
        let mut excluded = covered.clone();
        list.iter().flat_map(|matrix| &matrix.columns).for_each(|x| excluded[x.index()] = true);
        let pairing = Pairing::find(fused, &excluded);
        let (mut product_lanes, mut square_lanes) = (HashMap::new(), HashMap::new());
        for two in pairing.twos() {
            let operand = |row: Reg, i: usize| two.operands[row.index()][i];
            for (a, b) in two.rule.products(two.own) {
                let products = [0, 1].map(|i| (operand(a, i), operand(b, i)));
                let endless = endless(products[0].0) && endless(products[0].1);
                add_neighbours(&mut product_lanes, products, endless);
            }
            if let Some(a) = two.rule.square(two.own) {
                let squares = [0, 1].map(|i| operand(a, i));
                add_neighbours(&mut square_lanes, squares, endless(squares[0]));
            }
        }
        let mut keeps = vec![false; fused.rows.rows()];
        for (row, node) in fused.nodes().filter(|&(row, _)| !covered[row.index()]) {
            for (a, b) in node.rule.products(row) {
                if endless(a) && endless(b) {
                    let lane = product_lanes.len();
                    product_lanes.entry((a, b)).or_insert(lane);
                } else {
                    keeps[a.index()] = true;
                    keeps[b.index()] = true;
                }
            }
            if let Some(a) = node.rule.square(row) {
                if endless(a) {
                    let lane = square_lanes.len();
                    square_lanes.entry(a).or_insert(lane);
                } else {
                    keeps[a.index()] = true;
                }
            }
        }
        let has_lanes = !(product_lanes.is_empty() && square_lanes.is_empty());
        let special = special_orders(fused, if has_lanes { WRITTEN_OUT } else { 0 }, order);
        let emitted = covered.iter().filter(|&&covered| !covered).count();
        let (bytes, limit) = ((special + 2) * emitted * BYTES_PER_NODE, GREATEST_SIZE);
        if bytes > limit {
            return Err(JitError::TooLarge { bytes, limit });
        }
        let mut arena = Arena::new(plan, fused, order, &keeps);
        let firsts = place_pairs(&pairing, fused, &mut arena);
        arena.size = arena.size.next_multiple_of(4);
        let mut array = |lanes: usize| {
            let (blocks, span) = (lanes.div_ceil(4), order + 1);
            LaneArray { base: arena.take(4 * blocks * span), blocks, span }
        };
        let (a, b, s) = (array(product_lanes.len()), array(product_lanes.len()), array(square_lanes.len()));
        let products =
            ProductLanes { a: a.base, b: b.base, results: arena.take(4 * a.blocks), blocks: a.blocks };
        let squares = SquareLanes { rows: s.base, results: arena.take(4 * s.blocks), blocks: s.blocks };
        let lanes = Lanes::new(order + 1, products, squares);
        let mut duties = vec![Vec::new(); fused.rows.rows()];
        for (&(left, right), &lane) in &product_lanes {
            duties[left.index()].push(a.home(lane));
            duties[right.index()].push(b.home(lane));
        }
        for (&row, &lane) in &square_lanes {
            duties[row.index()].push(s.home(lane));
        }
        for duty in &mut duties {
            duty.sort_by_key(|home: &Home| home.base);
        }
        let mut split = Split {
            arena,
            pairing,
            firsts,
            lanes,
            product_lanes,
            square_lanes,
            duties,
            covered,
            matrices: Vec::new(),
            early: Vec::new(),
            is_early: vec![false; fused.states],
            special,
        };
        split.place_matrices(fused, &list);
        split.arena.place_slots(fused);
        split.find_runs(fused);
        Ok(split)
    }

    fn place_matrices(&mut self, fused: &Fused, list: &[matrix::Matrix]) {
        let span = self.arena.layout.order + 1;
        for matrix in list {
            let rows = matrix.results.len().next_multiple_of(4);
            let base = self.arena.take(rows * matrix.columns.len());
            let columns: Vec<u32> = matrix.columns.iter().map(|x| x.0 - 1).collect();
            columns.iter().for_each(|&x| self.is_early[x as usize] = true);
            let neighbours = columns.windows(2).all(|pair| pair[1] == pair[0] + 1);
            let vector = (!neighbours).then(|| self.arena.take(columns.len()));
            let results = self.arena.take(rows * span);
            let mut entries = Vec::new();
            for (i, (row, factors)) in matrix.results.iter().zip(&matrix.factors).enumerate() {
                self.arena.homes[row.index()] = Home { base: results + i, stride: rows };
                for (j, factor) in factors.iter().enumerate() {
                    let source = factor.row.map(|r| self.arena.homes[r.index()].base as u32);
                    let sign = if factor.negate { -1.0 } else { 1.0 };
                    entries.push(((base + j * rows + i) as u32, source, sign));
                }
            }
            self.matrices.push(PlacedMatrix { base, results, rows, columns, vector, entries });
        }
        debug_assert!(fused.states == self.is_early.len());
    }

    fn find_runs(&mut self, fused: &Fused) {
        for i in 0..fused.states {
            if !self.is_early[i] {
                continue;
            }
            let derivative = self.arena.homes[fused.derivatives[i].index()];
            match self.early.last_mut() {
                Some(run)
                    if run.state + run.count == i
                        && derivative.stride == run.derivative.stride
                        && derivative.base == run.derivative.base + run.count =>
                {
                    run.count += 1;
                }
                _ => self.early.push(Run { state: i, derivative, count: 1 }),
            }
        }
    }

    pub fn assemble(&self, assembler: &mut Assembler, fused: &Fused) -> Result<SplitFunctions, JitError> {
        let start = |constant: bool| {
            move |ins: &mut FunctionBuilder, parameters: &[Value]| {
                let mut body = Body::new(ins, parameters[0], None, fused, self, 0);
                body.start(constant);
                Ok(())
            }
        };
        let constants = assembler.function(&[pointer_type()], start(true))?;
        let start = assembler.function(&[pointer_type()], start(false))?;
        let mut bodies = Vec::new();
        let order = self.arena.layout.order;
        let own = (1..=self.special.min(order)).map(Some);
        for k in own.chain((order > self.special).then_some(None)) {
            let function = assembler.function(&[pointer_type(); 2], |ins, parameters| {
                let symbol = k.is_none().then_some(parameters[1]);
                let mut body = Body::new(ins, parameters[0], symbol, fused, self, k.unwrap_or(ANY_ORDER));
                body.advance_nodes();
                Ok(())
            })?;
            bodies.push(function);
        }
        Ok(SplitFunctions { constants, start, bodies })
    }

    /// Where the coefficients of a row above order 0 are: in a home of its own or among factors.
    pub fn home(&self, row: Reg) -> Home {
        let own = self.arena.homes[row.index()];
        let lanes = &self.duties[row.index()];
        if own.stride > 0 { own } else { lanes.first().copied().unwrap_or(own) }
    }

    /// Where coefficients of two rows above order 0 lie side by side, if they do.
    pub fn neighbours(&self, rows: [Reg; 2]) -> Option<Home> {
        let [first, second] = rows.map(|row| &self.duties[row.index()]);
        let among_factors =
            || first.iter().find_map(|home| second.iter().find_map(|&next| home.before(next)));
        self.arena.neighbours(rows).or_else(among_factors)
    }

    /// Copies the constants into the matrices.
    pub fn fill_matrices(&self, memory: &mut [f64]) {
        for &(entry, source, sign) in self.matrices.iter().flat_map(|m| &m.entries) {
            memory[entry as usize] = sign * source.map_or(1.0, |s| memory[s as usize]);
        }
    }

    /// The kernel for the old terms at order k, if there are any.
    pub fn old_terms(&self, kernels: &Kernels, k: usize) -> Option<OldTerms> {
        (k > WRITTEN_OUT && !self.lanes.is_empty()).then(|| kernels.old_terms(k))
    }

    /// True if there is something to do at each order besides old terms.
    pub fn has_matrices(&self) -> bool {
        !self.matrices.is_empty()
    }

    /// What is linear at order k: early states, and matrices.
    pub fn apply_matrices(&self, kernels: &Kernels, memory: &mut [f64], k: usize) {
        if k > 0 {
            self.integrate_early(memory, k);
        }
        for matrix in &self.matrices {
            self.multiply(kernels, matrix, memory, k);
        }
    }

    fn multiply(&self, kernels: &Kernels, matrix: &PlacedMatrix, memory: &mut [f64], k: usize) {
        let layout = &self.arena.layout;
        let (states, columns) = (layout.states_base + k * layout.states_stride, matrix.columns.len());
        let vector = match matrix.vector {
            None => states + matrix.columns[0] as usize,
            Some(vector) => {
                for (j, &state) in matrix.columns.iter().enumerate() {
                    memory[vector + j] = memory[states + state as usize];
                }
                vector
            }
        };
        let (before, results) = memory.split_at_mut(matrix.results);
        let y = &mut results[k * matrix.rows..(k + 1) * matrix.rows];
        let entries = &before[matrix.base..matrix.base + columns * matrix.rows];
        (kernels.matrix_vector)(entries, &before[vector..vector + columns], y);
    }

    fn integrate_early(&self, memory: &mut [f64], k: usize) {
        let layout = &self.arena.layout;
        let scale = memory[self.arena.h_scale] * memory[self.arena.inverses + k];
        for run in &self.early {
            let from = run.derivative.base + (k - 1) * run.derivative.stride;
            let to = layout.states_base + k * layout.states_stride + run.state;
            if from > to {
                let (states, rows) = memory.split_at_mut(from);
                let rates = &rows[..run.count];
                for (x, rate) in states[to..to + run.count].iter_mut().zip(rates) {
                    *x = rate * scale;
                }
            } else {
                for i in 0..run.count {
                    memory[to + i] = memory[from + i] * scale;
                }
            }
        }
    }
}

/// Gives two convolutions neighbouring lanes, unless one has a lane or is not `endless`.
fn add_neighbours<K: std::hash::Hash + Eq + Copy>(lanes: &mut HashMap<K, usize>, two: [K; 2], endless: bool) {
    if endless && two[0] != two[1] && two.iter().all(|one| !lanes.contains_key(one)) {
        let first = lanes.len();
        lanes.extend([(two[0], first), (two[1], first + 1)]);
    }
}

/// Places pairs of rows that keep their coefficients side by side, and the values at order 0 of
/// rows that a pair reads together but that lie apart.
fn place_pairs(pairing: &Pairing, fused: &Fused, arena: &mut Arena) -> Vec<([Reg; 2], Home)> {
    let order = arena.layout.order;
    for two in pairing.twos() {
        if two.rows.iter().any(|row| arena.homes[row.index()].stride > 0) {
            let homes = arena.take_pair(order);
            two.rows.iter().zip(homes).for_each(|(row, home)| arena.homes[row.index()] = home);
        }
    }
    let mut firsts: Vec<([Reg; 2], Home)> = Vec::new();
    for &rows in pairing.twos().flat_map(|two: &Two| &two.operands) {
        let start = rows.iter().all(|row| fused.rows.starts[row.index()]);
        let apart = rows[0] != rows[1] && arena.neighbours(rows).is_none();
        if start && apart && firsts.iter().all(|(known, _)| *known != rows) {
            firsts.push((rows, arena.take_pair(0)[0]));
        }
    }
    firsts
}

/// Number of low orders that differ from the high ones: one beyond the greatest bounded degree, and
/// those written out.
fn special_orders(fused: &Fused, written_out: usize, order: usize) -> usize {
    let greatest = fused.rows.degrees.iter().filter_map(|d| d.bound()).max().unwrap_or(0);
    order.min(written_out.max(1 + greatest))
}
