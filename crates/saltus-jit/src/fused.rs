//! A plan as one set of rows.
//!
//! The lowered programs of all blocks are joined: inputs become the rows that produce them, so what
//! is left as input is time, the states and the constant slots. The rows keep the degrees of their
//! blocks, hence give the same coefficients as the blocks evaluated one by one.

use crate::JitError;
use saltus_expr::jet::recurrence::Lock;
use saltus_expr::jet::{JetNode, Lowered, Schedule};
use saltus_expr::{FlowPlan, Op, Reg};
use std::collections::HashMap;

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
    /// True for rows made of literals and constant slots alone. (A locked row, like the sign of a
    /// state, is of degree 0 too, but is another number at every point.)
    pub unchanging: Vec<bool>,
}

/// The row of time.
pub(crate) const TIME: Reg = Reg(0);

impl Fused {
    pub fn new(plan: &FlowPlan) -> Result<Fused, JitError> {
        plan.check()?;
        let schedule = Schedule::new(plan);
        let mut joining = Joining::new(plan, &schedule);
        for (block, scheduled) in plan.blocks.iter().zip(&schedule.blocks) {
            let inputs: Vec<Reg> = block.inputs.iter().map(|&slot| joining.row(slot)).collect();
            let outputs = joining.append(&scheduled.lowered, &inputs);
            for (&slot, row) in block.outputs.iter().zip(outputs) {
                joining.fused.slot_rows[slot as usize] = Some(row);
            }
        }
        let derivatives = plan.states.iter().map(|&(_, slot)| joining.row(slot)).collect();
        joining.fused.derivatives = derivatives;
        joining.fused.find_unchanging();
        Ok(joining.fused)
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

    /// True if a row is that of a state.
    pub fn is_state(&self, row: Reg) -> bool {
        (1..=self.states).contains(&row.index())
    }

    /// The nodes with their rows.
    pub fn nodes(&self) -> impl Iterator<Item = (Reg, JetNode)> {
        let first = self.rows.first_node() as u32;
        (first..).map(Reg).zip(self.rows.nodes.iter().copied())
    }
}

struct Joining {
    fused: Fused,
    literals: HashMap<u64, Reg>,
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
        let (mut constants, mut literals) = (Vec::new(), HashMap::new());
        for &constant in schedule.blocks.iter().flat_map(|b| &b.lowered.constants) {
            literals.entry(constant.to_bits()).or_insert_with(|| {
                constants.push(constant);
                Reg((inputs + constants.len() - 1) as u32)
            });
        }
        degrees.resize(inputs + constants.len(), saltus_expr::jet::Degree::CONSTANT);
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
            unchanging: Vec::new(),
        };
        Joining { fused, literals }
    }

    fn row(&self, slot: u32) -> Reg {
        self.fused.slot_rows[slot as usize].expect("a checked plan writes before it reads")
    }

    /// Adds the nodes of a block; returns the rows of its outputs.
    fn append(&mut self, block: &Lowered, inputs: &[Reg]) -> Vec<Reg> {
        let rows = &mut self.fused.rows;
        let first = rows.degrees.len();
        let (locks, tables) = (rows.locks.len() as u32, rows.tables.len() as u32);
        let literals = &self.literals;
        let row = |r: Reg| match r.index() {
            i if i < block.inputs => inputs[i],
            i if i < block.first_node() => literals[&block.constants[i - block.inputs].to_bits()],
            i => Reg((first + i - block.first_node()) as u32),
        };
        for node in &block.nodes {
            let start = node.start.map(|op| shift_tables(op.map(row), tables));
            let rule = node.rule.map(row, |lock| Lock(lock.0 + locks));
            rows.nodes.push(JetNode { start, rule });
            rows.starts.push(start.is_some());
        }
        rows.degrees.extend_from_slice(&block.degrees[block.first_node()..]);
        rows.locks.extend(block.locks.iter().map(|lock| lock.map(row, tables)));
        rows.tables.extend(block.tables.iter().cloned());
        block.outputs.iter().map(|&r| row(r)).collect()
    }
}

fn shift_tables(op: Op, by: u32) -> Op {
    match op {
        Op::Table1(t, a) => Op::Table1(t + by, a),
        Op::Table2(t, a, b) => Op::Table2(t + by, a, b),
        _ => op,
    }
}
