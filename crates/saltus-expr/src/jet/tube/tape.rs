//! The rows of all blocks of a plan under one numbering.
//!
//! Rows are numbered slots first, then for each block its constants and nodes; an input of a block
//! is the row it comes from, so nothing is copied between blocks. What a block computes again, as the
//! argument of a root in order to watch it, is the row of the block before. What the derivatives need is the
//! *core*; what a watched slot needs beyond it is its *cone*, and can be left until it is asked for.

use super::bound::Bound;
use crate::graph::{Table, Unary};
use crate::jet::recurrence::Rule;
use crate::jet::{Degree, JetNode, Jets, Lowered, Place, RowPlace, Schedule};
use crate::plan::FlowPlan;
use crate::program::{Op, Reg};
use std::collections::HashMap;
use std::sync::Arc;

/// A row that is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub row: Reg,
    pub is: JetNode,
    /// Position of its block in the plan.
    pub block: u32,
    pub kind: Kind,
}

/// What there is to do for the bound of a node, as far as its operation and the degrees of its operands tell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Negation(Reg),
    Sum(Reg, Reg),
    Difference(Reg, Reg),
    Product(Reg, Reg, Beyond),
    Square(Reg, Beyond),
    /// By a row that does not change.
    Ratio(Reg, Reg),
    Quotient(Reg, Reg, Beyond),
    Root(Reg, Beyond),
    Other,
}

/// Two rows whose coefficients from order 1 on have the magnitudes of those of the factors of a product, if
/// it has terms beyond the order.
pub(super) type Beyond = Option<[Reg; 2]>;

#[derive(Clone, Debug, Default)]
pub(super) struct Tape {
    /// The order of the polynomials.
    pub order: usize,
    pub nodes: Vec<Node>,
    pub degrees: Vec<Degree>,
    /// True for rows with a coefficient of order 0.
    pub starts: Vec<bool>,
    pub tables: Vec<Arc<Table>>,
    constants: Vec<(Reg, f64)>,
    /// Where the coefficients of each row are, as far as they are kept.
    pub places: Vec<Option<RowPlace>>,
    /// For each row one whose coefficients have the same magnitudes from order 1 on, or itself.
    pub twins: Vec<Reg>,
    /// For each row one that stands for all that are alike: those at the same place of blocks with the same
    /// program.
    pub kin: Vec<u32>,
    /// The node of each row, `u32::MAX` for slots and constants.
    node_of_row: Vec<u32>,
    /// The row of each slot.
    pub row_of_slot: Vec<Reg>,
    /// The rows of constants by their bits, and those that their operation tells all about.
    known_constants: HashMap<u64, Reg>,
    known_nodes: HashMap<Op, Reg>,
    /// The nodes that derivatives depend on, operands first, and how many of them, at the beginning, depend on
    /// constants alone.
    pub core: Vec<u32>,
    pub fixed: usize,
    /// True if some derivative is chosen from others, which need not all exist.
    pub has_choices: bool,
    /// For each watched slot the nodes it depends on outside the core.
    pub cones: Vec<Vec<u32>>,
}

impl Tape {
    pub fn new(plan: &FlowPlan, jets: &(impl Jets + ?Sized), watched: &[u32]) -> Tape {
        let schedule = Schedule::new(plan);
        let mut tape = Tape {
            order: jets.order(),
            degrees: schedule.degrees.clone(),
            starts: vec![true; plan.slots],
            places: jets.layout().places.iter().map(|&place| Some(place.into())).collect(),
            node_of_row: vec![u32::MAX; plan.slots],
            row_of_slot: (0..plan.slots as u32).map(Reg).collect(),
            twins: (0..plan.slots as u32).map(Reg).collect(),
            ..Tape::default()
        };
        let mut alike = Vec::new();
        for (position, (block, scheduled)) in plan.blocks.iter().zip(&schedule.blocks).enumerate() {
            let inputs: Vec<Reg> = block.inputs.iter().map(|&slot| tape.row_of_slot[slot as usize]).collect();
            let lowered = &scheduled.lowered;
            let rows = tape.append(lowered, &inputs, position, |row| jets.row_place(position, row));
            for (&slot, &output) in block.outputs.iter().zip(&lowered.outputs) {
                tape.row_of_slot[slot as usize] = rows[output.index()];
            }
            alike.push((Arc::as_ptr(lowered), rows));
        }
        tape.find_kin(alike, plan);
        let derivatives = plan.states.iter().map(|&(_, rate)| tape.row_of_slot[rate as usize]);
        tape.core = tape.cone(derivatives, &[]);
        let is_choice = |&i: &u32| matches!(tape.nodes[i as usize].is.start, Some(Op::Select(..)));
        tape.has_choices = tape.core.iter().any(is_choice);
        let cones = watched.iter().map(|&slot| {
            let row = tape.row_of_slot[slot as usize];
            tape.cone(std::iter::once(row), &tape.core)
        });
        tape.cones = cones.collect();
        tape.put_fixed_first(plan);
        tape
    }

    /// Puts the nodes of the core first that depend on constants alone.
    fn put_fixed_first(&mut self, plan: &FlowPlan) {
        let mut moves = vec![false; self.degrees.len()];
        moves[plan.time_slot as usize] = true;
        plan.states.iter().for_each(|&(state, _)| moves[state as usize] = true);
        let (mut fixed, mut others) = (Vec::new(), Vec::new());
        for &i in &self.core {
            let node = self.nodes[i as usize];
            // An auxiliary row may come after its function, which then is not known to be fixed.
            let mut is_fixed = node.is.start.is_some() && node.is.rule == Rule::Frozen;
            for_operands(node.is, |r| is_fixed &= !moves[r.index()]);
            moves[node.row.index()] = !is_fixed;
            if is_fixed { fixed.push(i) } else { others.push(i) }
        }
        self.fixed = fixed.len();
        self.core = fixed;
        self.core.append(&mut others);
    }

    /// The rows of one program alone, its inputs first; coefficients of order k are k places apart.
    pub fn of_program(lowered: &Lowered, span: usize) -> Tape {
        let mut tape = Tape {
            order: span - 1,
            degrees: lowered.degrees[..lowered.inputs].to_vec(),
            starts: vec![true; lowered.inputs],
            node_of_row: vec![u32::MAX; lowered.inputs],
            twins: (0..lowered.inputs as u32).map(Reg).collect(),
            ..Tape::default()
        };
        let place = |row: usize| {
            Some(Place { base: (row * span) as u32, stride: 1, degree: lowered.degrees[row] }.into())
        };
        tape.places.extend((0..lowered.inputs).map(place));
        let inputs: Vec<Reg> = (0..lowered.inputs as u32).map(Reg).collect();
        tape.append(lowered, &inputs, usize::MAX, place);
        tape.core = (0..tape.nodes.len() as u32).collect();
        tape.kin = (0..tape.degrees.len() as u32).collect();
        tape
    }

    /// Adds the rows of a program whose inputs are known rows; returns which row each has become.
    fn append(
        &mut self,
        lowered: &Lowered,
        inputs: &[Reg],
        block: usize,
        place: impl Fn(usize) -> Option<RowPlace>,
    ) -> Vec<Reg> {
        let base = self.degrees.len();
        let own = (base..base + lowered.rows() - lowered.inputs).map(|row| Reg(row as u32));
        let mut rows: Vec<Reg> = inputs.iter().copied().chain(own).collect();
        let first_table = self.tables.len() as u32;
        self.tables.extend(lowered.tables.iter().cloned());
        self.degrees.extend_from_slice(&lowered.degrees[lowered.inputs..]);
        self.starts.extend_from_slice(&lowered.starts[lowered.inputs..]);
        self.places.extend((lowered.inputs..lowered.rows()).map(place));
        for (i, &value) in lowered.constants.iter().enumerate() {
            let row = &mut rows[lowered.inputs + i];
            *row = *self.known_constants.entry(value.to_bits()).or_insert(*row);
            self.constants.push((Reg((base + i) as u32), value));
        }
        self.node_of_row.resize(base + lowered.constants.len(), u32::MAX);
        self.twins.extend((base..self.node_of_row.len()).map(|row| Reg(row as u32)));
        for (i, node) in lowered.nodes.iter().enumerate() {
            let row = |r: Reg| rows[r.index()];
            let is = JetNode {
                start: node.start.map(|op| with_tables(op.map(row), first_table)),
                rule: node.rule.map(row, |lock| lock),
            };
            let own = row(Reg((lowered.first_node() + i) as u32));
            self.twins.push(self.twin(is).unwrap_or(own));
            let known = told_by_operation(is).map(|op| *self.known_nodes.entry(op).or_insert(own));
            match known.filter(|&known| known != own) {
                Some(known) => {
                    rows[lowered.first_node() + i] = known;
                    self.node_of_row.push(u32::MAX);
                }
                None => {
                    self.node_of_row.push(self.nodes.len() as u32);
                    let kind = self.kind(own, is);
                    self.nodes.push(Node { row: own, is, block: block as u32, kind });
                }
            }
        }
        rows
    }

    /// Finds the rows that are alike, given the rows of each block with what tells its program: states are
    /// if their derivatives are.
    fn find_kin(&mut self, blocks: Vec<(*const Lowered, Vec<Reg>)>, plan: &FlowPlan) {
        self.kin = (0..self.degrees.len() as u32).collect();
        let mut first = HashMap::new();
        for (program, rows) in blocks {
            let like = first.entry(program).or_insert_with(|| rows.clone());
            rows.iter().zip(like.iter()).for_each(|(&a, &b)| self.unite(a, b));
        }
        let mut first = HashMap::new();
        for &(state, rate) in &plan.states {
            let rate = self.eldest(self.row_of_slot[rate as usize].0);
            let like = *first.entry(rate).or_insert(state);
            self.unite(Reg(state), Reg(like));
        }
        (0..self.kin.len()).for_each(|row| self.kin[row] = self.eldest(row as u32));
    }

    fn unite(&mut self, a: Reg, b: Reg) {
        let [a, b] = [a, b].map(|row| self.eldest(row.0));
        let nature = |row: u32| (self.degrees[row as usize], self.starts[row as usize]);
        if nature(a) == nature(b) {
            self.kin[a.max(b) as usize] = a.min(b);
        }
    }

    fn eldest(&self, mut row: u32) -> u32 {
        while self.kin[row as usize] != row {
            row = self.kin[row as usize];
        }
        row
    }

    /// The row that a node changes by nothing but a constant or its sign.
    fn twin(&self, node: JetNode) -> Option<Reg> {
        let is_constant = |r: Reg| self.degrees[r.index()].is_constant();
        node.start?;
        let of = match node.rule {
            Rule::Neg(a) => a,
            Rule::Add(a, b) | Rule::Sub(a, b) if is_constant(b) => a,
            Rule::Add(a, b) | Rule::Sub(a, b) if is_constant(a) => b,
            _ => return None,
        };
        Some(self.twins[of.index()])
    }

    fn kind(&self, row: Reg, JetNode { start, rule }: JetNode) -> Kind {
        match (start, rule) {
            (None | Some(Op::Select(..) | Op::Table1(..) | Op::Table2(..)), _) => Kind::Other,
            (_, Rule::Neg(a)) => Kind::Negation(a),
            (_, Rule::Add(a, b)) => Kind::Sum(a, b),
            (_, Rule::Sub(a, b)) => Kind::Difference(a, b),
            (_, Rule::Mul(a, b)) if a != b => Kind::Product(a, b, self.beyond(a, b)),
            (_, Rule::Mul(a, _) | Rule::Square(a)) => Kind::Square(a, self.beyond(a, a)),
            (_, Rule::Div { a, b, .. }) if self.degrees[b.index()].is_constant() => Kind::Ratio(a, b),
            (_, Rule::Div { a, b, .. }) => Kind::Quotient(a, b, self.beyond(row, b)),
            (_, Rule::Root { radicand, .. }) => Kind::Root(radicand, self.beyond(row, row)),
            _ => Kind::Other,
        }
    }

    /// Whether a product of two rows has terms beyond the order, and where to read them.
    pub fn beyond(&self, a: Reg, b: Reg) -> Beyond {
        let [x, y] = [a, b].map(|row| self.degrees[row.index()]);
        let is_within = x.plus(y).bound().is_some_and(|degree| degree <= self.order);
        let has_none = x.is_constant() || y.is_constant() || is_within;
        (!has_none).then(|| [a, b].map(|row| self.twins[row.index()]))
    }

    /// What is known of all rows before anything is computed: constants alone.
    pub fn bounds(&self) -> Vec<Bound> {
        let mut rows = vec![Bound::point(0.0); self.degrees.len()];
        self.constants.iter().for_each(|&(row, value)| rows[row.index()] = Bound::point(value));
        rows
    }

    /// The rule of a row, if it is computed.
    pub fn rule(&self, row: Reg) -> Option<Rule> {
        self.nodes.get(self.node_of_row[row.index()] as usize).map(|node| node.is.rule)
    }

    /// The nodes that `roots` depend on, those of `known` left out, in the order of the tape.
    fn cone(&self, roots: impl Iterator<Item = Reg>, known: &[u32]) -> Vec<u32> {
        let mut stack: Vec<Reg> = roots.collect();
        let mut cone = std::collections::BTreeSet::new();
        while let Some(row) = stack.pop() {
            let i = self.node_of_row[row.index()];
            if i == u32::MAX || known.binary_search(&i).is_ok() || !cone.insert(i) {
                continue;
            }
            for_operands(self.nodes[i as usize].is, |r| stack.push(r));
        }
        cone.into_iter().collect()
    }

    /// The rows that are not zero where all derivatives exist: divisors, and what a root, a logarithm or a power
    /// is taken of.
    pub fn away_from_zero(&self) -> Vec<bool> {
        let mut away = vec![false; self.degrees.len()];
        for &i in &self.core {
            let Node { is, kind, .. } = self.nodes[i as usize];
            let row = match (kind, is.start, is.rule) {
                (Kind::Ratio(_, b) | Kind::Quotient(_, b, _), ..) => b,
                (Kind::Root(a, _), ..) => a,
                (_, _, Rule::Power { base, .. }) => base,
                (_, Some(Op::Unary(Unary::Log, a)), _) => a,
                _ => continue,
            };
            away[row.index()] = true;
        }
        away
    }

    /// True for the rows that some node reads.
    pub fn read(&self) -> Vec<bool> {
        let mut read = vec![false; self.degrees.len()];
        self.nodes.iter().for_each(|node| for_operands(node.is, |r| read[r.index()] = true));
        read
    }
}

/// The operation of a node if the recurrence reads nothing but its operands: where it is met again, all
/// coefficients are the same to the last bit.
fn told_by_operation(JetNode { start, rule }: JetNode) -> Option<Op> {
    let op = start?;
    let is_told = match rule {
        Rule::Neg(_) | Rule::Add(..) | Rule::Sub(..) | Rule::Mul(..) | Rule::Square(_) | Rule::Div { .. } => {
            true
        }
        Rule::Root { radicand, .. } => op == Op::Unary(Unary::Sqrt, radicand),
        Rule::Frozen => matches!(op, Op::Unary(..) | Op::Binary(..) | Op::Powi(..)),
        _ => false,
    };
    is_told.then_some(op)
}

/// Shows all rows that a node reads.
fn for_operands(JetNode { start, rule }: JetNode, mut see: impl FnMut(Reg)) {
    start.into_iter().flat_map(Op::operands).for_each(&mut see);
    let see = |r: Reg| {
        see(r);
        r
    };
    rule.map(see, |lock| lock);
}

/// An operation with the numbers of its tables moved up.
fn with_tables(op: Op, by: u32) -> Op {
    match op {
        Op::Table1(t, a) => Op::Table1(t + by, a),
        Op::Table2(t, a, b) => Op::Table2(t + by, a, b),
        other => other,
    }
}
