//! The tape: the rows of all blocks of a plan under one numbering.
//!
//! Rows are numbered slots first, then for each block its constants and nodes; an input of a block
//! is the row it comes from, so nothing is copied between blocks. Rows that neither a derivative nor
//! a watched slot depends on are not computed. What the derivatives need is the *core*; what a
//! watched slot needs beyond it is its *cone*, and can be left until it is asked for.

use crate::graph::Table;
use crate::jet::recurrence::{Lock, Rule};
use crate::jet::{Degree, LockRule, Schedule};
use crate::plan::FlowPlan;
use crate::program::{Op, Reg};
use std::cell::RefCell;
use std::sync::Arc;

/// A row that is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub row: Reg,
    pub start: Option<Op>,
    pub rule: Rule,
    /// Position of its block in the plan.
    pub block: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tape {
    pub nodes: Vec<Node>,
    pub degrees: Vec<Degree>,
    pub starts: Vec<bool>,
    pub locks: Vec<LockRule>,
    pub tables: Vec<Arc<Table>>,
    pub constants: Vec<(Reg, f64)>,
    /// The row of each slot.
    pub row_of_slot: Vec<Reg>,
    /// What derivatives depend on.
    pub core: Part,
    /// For each watched slot what it depends on outside the core.
    pub cones: Vec<Part>,
}

/// Nodes with operands first, and the locks of their recurrences.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub nodes: Vec<u32>,
    pub locks: Vec<u32>,
}

impl Tape {
    pub fn new(plan: &FlowPlan, watched: &[u32]) -> Tape {
        let schedule = Schedule::new(plan);
        let mut tape = Tape {
            degrees: schedule.degrees.clone(),
            starts: vec![true; plan.slots],
            row_of_slot: (0..plan.slots as u32).map(Reg).collect(),
            ..Tape::default()
        };
        for position in 0..plan.blocks.len() {
            tape.append(plan, &schedule, position);
        }
        tape.find_cones(plan, watched);
        tape
    }

    fn append(&mut self, plan: &FlowPlan, schedule: &Schedule, position: usize) {
        let (block, lowered) = (&plan.blocks[position], &schedule.blocks[position].lowered);
        let inputs: Vec<Reg> = block.inputs.iter().map(|&slot| self.row_of_slot[slot as usize]).collect();
        let base = self.degrees.len();
        let row = |r: Reg| {
            inputs.get(r.index()).copied().unwrap_or_else(|| Reg((base + r.index() - inputs.len()) as u32))
        };
        let (first_lock, first_table) = (self.locks.len() as u32, self.tables.len() as u32);
        self.degrees.extend_from_slice(&lowered.degrees[inputs.len()..]);
        self.starts.extend_from_slice(&lowered.starts[inputs.len()..]);
        self.constants
            .extend(lowered.constants.iter().enumerate().map(|(i, &c)| (Reg((base + i) as u32), c)));
        for (i, node) in lowered.nodes.iter().enumerate() {
            self.nodes.push(Node {
                row: row(Reg((lowered.first_node() + i) as u32)),
                start: node.start.map(|op| with_tables(op.map(row), first_table)),
                rule: node.rule.map(row, |lock| Lock(lock.0 + first_lock)),
                block: position as u32,
            });
        }
        self.locks.extend(lowered.locks.iter().map(|lock| lock.map(row, first_table)));
        self.tables.extend(lowered.tables.iter().cloned());
        for (&slot, &output) in block.outputs.iter().zip(&lowered.outputs) {
            self.row_of_slot[slot as usize] = row(output);
        }
    }

    fn find_cones(&mut self, plan: &FlowPlan, watched: &[u32]) {
        let mut node_of_row = vec![None; self.degrees.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            node_of_row[node.row.index()] = Some(i as u32);
        }
        let roots = plan.states.iter().map(|&(_, derivative)| self.row_of_slot[derivative as usize]);
        self.core = self.cone(&node_of_row, roots, &[]);
        let cones = watched.iter().map(|&slot| {
            let root = self.row_of_slot[slot as usize];
            self.cone(&node_of_row, std::iter::once(root), &self.core.nodes)
        });
        self.cones = cones.collect();
    }

    /// The nodes that `roots` depend on, those of `known` left out, in the order of the tape.
    fn cone(&self, node_of_row: &[Option<u32>], roots: impl Iterator<Item = Reg>, known: &[u32]) -> Part {
        let mut stack: Vec<Reg> = roots.collect();
        let mut cone = std::collections::BTreeSet::new();
        while let Some(row) = stack.pop() {
            let Some(i) = node_of_row[row.index()] else { continue };
            if known.binary_search(&i).is_ok() || !cone.insert(i) {
                continue;
            }
            let (rows, locks) = self.nodes[i as usize].depends();
            stack.extend(rows);
            stack.extend(locks.iter().flat_map(|lock| self.locks[lock.0 as usize].operands()));
        }
        let nodes: Vec<u32> = cone.into_iter().collect();
        let mut locks: Vec<u32> =
            nodes.iter().flat_map(|&i| self.nodes[i as usize].depends().1).map(|lock| lock.0).collect();
        locks.sort_unstable();
        locks.dedup();
        Part { nodes, locks }
    }
}

impl Node {
    /// The rows and locks it is made from.
    fn depends(&self) -> (Vec<Reg>, Vec<Lock>) {
        let mut rows: Vec<Reg> = self.start.into_iter().flat_map(Op::operands).collect();
        let locks = RefCell::new(Vec::new());
        let row = |r: Reg| {
            rows.push(r);
            r
        };
        let lock = |l: Lock| {
            locks.borrow_mut().push(l);
            l
        };
        self.rule.map(row, lock);
        (rows, locks.into_inner())
    }
}

/// An operation with the numbers of its tables moved up.
fn with_tables(op: Op, by: u32) -> Op {
    match op {
        Op::Table1(t, a) => Op::Table1(t + by, a),
        Op::Table2(t, a, b) => Op::Table2(t + by, a, b),
        other => other,
    }
}
