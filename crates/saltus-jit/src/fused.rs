//! A plan as one set of rows.
//!
//! The lowered programs of all blocks are joined: inputs become the rows that produce them, so what
//! is left as input is time, the states and the constant slots. The rows keep the degrees of their
//! blocks, hence give the same coefficients as the blocks evaluated one by one. Rows that several
//! blocks compute alike are there once.

use crate::JitError;
use saltus_expr::hash::QuickMap;
use saltus_expr::jet::recurrence::Lock;
use saltus_expr::jet::{Degree, JetNode, LockRule, Lowered, Schedule};
use saltus_expr::{FlowPlan, Op, Reg};
use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::rc::Rc;

/// The joined rows of a plan.
pub(crate) struct Fused {
    /// Rows: time, states, constant slots; then literals; then nodes.
    pub rows: Lowered,
    /// Number of states.
    pub states: usize,
    /// The slot of each constant row.
    pub constant_slots: Vec<u32>,
    /// The row of each slot that time, a state, a block or a constant row stands for.
    pub slot_rows: Vec<Option<Reg>>,
    /// The row of each state's derivative.
    pub derivatives: Vec<Reg>,
    /// For each block of the plan the rows that its lowered rows have become.
    pub block_rows: Vec<Vec<Reg>>,
    /// True for rows made of literals and constant slots alone. (A locked row, like the sign of a
    /// state, is of degree 0 too, but is another number at every point.)
    pub unchanging: Vec<bool>,
    /// What is computed first, and what is left for later.
    pub parts: [Part; 2],
}

/// Nodes and locks that are computed together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// Rows of the nodes.
    pub rows: Range<usize>,
    pub locks: Range<usize>,
}

/// The row of time.
pub(crate) const TIME: Reg = Reg(0);

impl Fused {
    pub fn new(plan: &FlowPlan) -> Result<Fused, JitError> {
        Fused::in_two_parts(plan, plan.blocks.len())
    }

    /// Joins the rows of a plan of which the blocks from a position on are left for later.
    pub fn in_two_parts(plan: &FlowPlan, late_block: usize) -> Result<Fused, JitError> {
        plan.check()?;
        let schedule = Schedule::new(plan);
        let mut joining = Joining::new(plan, &schedule);
        for (position, (block, scheduled)) in plan.blocks.iter().zip(&schedule.blocks).enumerate() {
            if position == late_block {
                joining.fused.end_part(0);
            }
            let inputs: Vec<Reg> = block.inputs.iter().map(|&slot| joining.row(slot)).collect();
            let rows = joining.append(&scheduled.lowered, &inputs);
            for (&slot, output) in block.outputs.iter().zip(&scheduled.lowered.outputs) {
                joining.fused.slot_rows[slot as usize] = Some(rows[output.index()]);
            }
            joining.fused.block_rows.push(rows);
        }
        let derivatives = plan.states.iter().map(|&(_, slot)| joining.row(slot)).collect();
        joining.fused.derivatives = derivatives;
        joining.fused.end_part(usize::from(late_block < plan.blocks.len()));
        joining.fused.find_unchanging();
        Ok(joining.fused)
    }

    /// All rows there are belong to a part or to those before.
    fn end_part(&mut self, part: usize) {
        let (rows, locks) = (self.rows.rows(), self.rows.locks.len());
        let (first_row, first_lock) = match part {
            0 => (self.rows.first_node(), 0),
            _ => (self.parts[part - 1].rows.end, self.parts[part - 1].locks.end),
        };
        self.parts[part] = Part { rows: first_row..rows, locks: first_lock..locks };
    }

    fn find_unchanging(&mut self) {
        self.unchanging = (0..self.rows.first_node()).map(|row| row > self.states).collect();
        for node in &self.rows.nodes {
            let made_of_constants = |op: Op| op.operands().all(|r| self.unchanging[r.index()]);
            let unchanging = node.start.is_some_and(made_of_constants);
            self.unchanging.push(unchanging);
        }
    }

    /// The row of a state.
    pub fn state(&self, i: usize) -> Reg {
        Reg(1 + i as u32)
    }

    /// The number that a row is written as in the model, if it is one.
    pub fn literal(&self, row: Reg) -> Option<f64> {
        self.rows.constants.get(row.index().checked_sub(self.rows.inputs)?).copied()
    }

    /// True if a row is that of a state.
    pub fn is_state(&self, row: Reg) -> bool {
        (1..=self.states).contains(&row.index())
    }

    /// The nodes of a part with their rows.
    pub fn nodes_of(&self, part: &Part) -> impl Iterator<Item = (Reg, JetNode)> {
        let first = self.rows.first_node();
        part.rows.clone().map(move |row| (Reg(row as u32), self.rows.nodes[row - first]))
    }

    /// The rows that a part reads but does not compute.
    pub fn arguments_of(&self, part: &Part) -> Vec<Reg> {
        let mut arguments = Vec::new();
        let mut see = |row: Reg| {
            arguments.push(row);
            row
        };
        for (_, node) in self.nodes_of(part) {
            node.rule.map(&mut see, |lock| lock);
        }
        arguments.retain(|row| !part.rows.contains(&row.index()));
        arguments.sort_unstable();
        arguments.dedup();
        arguments
    }

    /// The nodes with their rows.
    pub fn nodes(&self) -> impl Iterator<Item = (Reg, JetNode)> {
        let first = self.rows.first_node() as u32;
        (first..).map(Reg).zip(self.rows.nodes.iter().copied())
    }
}

struct Joining {
    fused: Fused,
    literals: QuickMap<u64, Reg>,
    locks: QuickMap<LockRule, Lock>,
    /// The first row of each group that was added.
    groups: QuickMap<Group, Reg>,
}

impl Joining {
    /// Numbers time, states, constant slots and literals.
    fn new(plan: &FlowPlan, schedule: &Schedule) -> Joining {
        let mut slot_rows = vec![None; plan.slots];
        let mut degrees = vec![schedule.degrees[plan.time_slot as usize]];
        slot_rows[plan.time_slot as usize] = Some(TIME);
        for &(state, _) in &plan.states {
            slot_rows[state as usize] = Some(Reg(degrees.len() as u32));
            degrees.push(schedule.degrees[state as usize]);
        }
        let mut written = vec![false; plan.slots];
        for block in &plan.blocks {
            block.outputs.iter().for_each(|&slot| written[slot as usize] = true);
        }
        let mut constant_slots = Vec::new();
        let read = plan.blocks.iter().flat_map(|b| b.inputs.iter()).copied();
        for slot in read.chain(plan.states.iter().map(|&(_, derivative)| derivative)) {
            if slot_rows[slot as usize].is_none() && !written[slot as usize] {
                slot_rows[slot as usize] = Some(Reg(degrees.len() as u32));
                degrees.push(schedule.degrees[slot as usize]);
                constant_slots.push(slot);
            }
        }
        let inputs = degrees.len();
        let (mut constants, mut literals) = (Vec::new(), QuickMap::default());
        for &constant in schedule.blocks.iter().flat_map(|b| &b.lowered.constants) {
            literals.entry(constant.to_bits()).or_insert_with(|| {
                constants.push(constant);
                Reg((inputs + constants.len() - 1) as u32)
            });
        }
        degrees.resize(inputs + constants.len(), Degree::CONSTANT);
        let rows = Lowered {
            inputs,
            constants,
            nodes: Vec::new(),
            starts: vec![true; degrees.len()],
            degrees,
            locks: Vec::new(),
            outputs: Vec::new(),
            tables: Vec::new(),
        };
        let states = plan.states.len();
        let fused = Fused {
            rows,
            states,
            constant_slots,
            slot_rows,
            derivatives: Vec::new(),
            block_rows: Vec::new(),
            unchanging: Vec::new(),
            parts: Default::default(),
        };
        Joining { fused, literals, locks: QuickMap::default(), groups: QuickMap::default() }
    }

    fn row(&self, slot: u32) -> Reg {
        self.fused.slot_rows[slot as usize].expect("a checked plan writes before it reads")
    }

    /// Adds the nodes of a block that are not there yet; returns what its rows have become.
    fn append(&mut self, block: &Lowered, inputs: &[Reg]) -> Vec<Reg> {
        let tables = self.fused.rows.tables.len() as u32;
        self.fused.rows.tables.extend(block.tables.iter().cloned());
        let mut row_of = inputs.to_vec();
        row_of.extend(block.constants.iter().map(|c| self.literals[&c.to_bits()]));
        while row_of.len() < block.rows() {
            let group = group_at(block, &row_of, tables);
            let first = self.rows_of(group.clone());
            row_of.extend((0..group.len() as u32).map(|i| Reg(first.0 + i)));
        }
        row_of
    }

    /// The first row of a group, which is added if it is new.
    fn rows_of(&mut self, group: Group) -> Reg {
        let rows = &mut self.fused.rows;
        let first = Reg(rows.degrees.len() as u32);
        match self.groups.entry(group) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                for member in place.key().iter() {
                    let row = |r: Reg| if r.0 < OWN { r } else { Reg(first.0 + (r.0 - OWN)) };
                    let mut lock = |rule: LockRule| {
                        *self.locks.entry(rule).or_insert_with(|| {
                            rows.locks.push(rule);
                            Lock(rows.locks.len() as u32 - 1)
                        })
                    };
                    let locks = member.locks.map(|rule| rule.map(|rule| lock(rule.map(row, 0))));
                    let start = member.node.start.map(|op| op.map(row));
                    let rule = member.node.rule.map(row, |l| locks[l.0 as usize].unwrap_or(l));
                    rows.nodes.push(JetNode { start, rule });
                    rows.starts.push(start.is_some());
                    rows.degrees.push(member.degree);
                }
                *place.insert(first)
            }
        }
    }
}

/// Rows of a group itself are numbered from here.
const OWN: u32 = 1 << 30;

/// A node as part of a group.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Member {
    node: JetNode,
    degree: Degree,
    /// What the locks of the rule hold; the rule names them by their position here.
    locks: [Option<LockRule>; 3],
}

/// Neighbouring nodes that refer to each other, like a sine and its cosine; most nodes are alone.
/// Equal groups give equal coefficients: what a guard and a flow both contain is computed once.
type Group = Rc<[Member]>;

/// Collects the group that begins at the first node without a row.
fn group_at(block: &Lowered, row_of: &[Reg], tables: u32) -> Group {
    let start = row_of.len();
    let row =
        |r: Reg| row_of.get(r.index()).copied().unwrap_or_else(|| Reg(OWN + (r.index() - start) as u32));
    let mut members = Vec::new();
    let mut end = start + 1;
    while start + members.len() < end {
        let index = start + members.len();
        let node = block.nodes[index - block.first_node()];
        let furthest = Cell::new(end);
        let see = |r: Reg| {
            furthest.set(furthest.get().max(r.index() + 1));
            row(r)
        };
        let (locks, used) = (Cell::new([None; 3]), Cell::new(0));
        let lock = |l: Lock| {
            let (mut list, position) = (locks.get(), used.get());
            list[position] = Some(block.locks[l.0 as usize].map(see, tables));
            locks.set(list);
            used.set(position + 1);
            Lock(position as u32)
        };
        let start = node.start.map(|op| shift_tables(op.map(see), tables));
        let node = JetNode { start, rule: node.rule.map(see, lock) };
        members.push(Member { node, degree: block.degrees[index], locks: locks.get() });
        end = furthest.get();
    }
    members.into()
}

fn shift_tables(op: Op, by: u32) -> Op {
    match op {
        Op::Table1(t, a) => Op::Table1(t + by, a),
        Op::Table2(t, a, b) => Op::Table2(t + by, a, b),
        _ => op,
    }
}
