//! The virtual machine for jets.
//!
//! Blocks that have the same rows and do not depend on each other form a group and are evaluated
//! side by side, one lane each: one dispatch serves all lanes, and lanes are adjacent in memory so
//! four of them are one vector operation. A lane's numbers do not depend on its neighbours.
//!
//! Memory is one arena: a copy of the environment, time, the matrix of states, then for each group
//! its rows (`[row][order][lane]`) and locks (`[lock][lane]`).

use super::lower::Lowered;
use super::rows::Rows;
use super::schedule::Schedule;
use super::{Degree, JetLayout, Jets, Place, RowPlace};
use crate::plan::FlowPlan;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Evaluates the jets of a plan without generated code.
///
/// ```
/// use saltus_expr::jet::{JetMachine, Jets};
/// use saltus_expr::{FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
/// // x' = -x from x = 1: the coefficients of exp(-t).
/// let mut graph = Graph::new();
/// let x = graph.var(VarId(1), Sort::Real);
/// let rate = graph.intern(Node::Unary(Unary::Neg, x));
/// let (program, _) = Program::new(&graph, &[rate]);
/// let block = PlanBlock { program: program.into(), inputs: vec![1], outputs: vec![2] };
/// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 2)], time_slot: 0, slots: 3 };
/// let mut machine = JetMachine::new(&plan, 3);
/// machine.run(&[0.0, 1.0, 0.0], 1.0);
/// let mut row = [0.0; 4];
/// machine.row(1, &mut row);
/// assert_eq!(row, [1.0, -1.0, 0.5, -0.5 * (1.0 / 3.0)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct JetMachine {
    layout: JetLayout,
    arena: Vec<f64>,
    groups: Vec<Group>,
    /// The first block and the first group that are left for later.
    late_block: usize,
    late_group: usize,
    /// Where the derivative of each state is.
    derivatives: Vec<Place>,
    state_slots: Vec<u32>,
    time_slot: u32,
    schedule: Schedule,
    /// Group and lane of each block.
    lanes: Vec<(u32, u32)>,
    /// 1 / k
    inverses: Vec<f64>,
    h_scale: f64,
}

#[derive(Clone, Debug)]
struct Group {
    rows: Rows,
    is_late: bool,
    level: u32,
    members: Vec<usize>,
    /// Sources of the input rows, `[input][lane]`.
    sources: Vec<Place>,
}

impl Group {
    fn gather(&self, arena: &mut [f64], k: usize) {
        let Rows { lowered, lanes, .. } = &self.rows;
        for input in 0..lowered.inputs {
            if !lowered.degrees[input].reaches(k) {
                continue;
            }
            let to = self.rows.row(input) + k * lanes;
            let sources = &self.sources[input * lanes..(input + 1) * lanes];
            for (lane, source) in sources.iter().enumerate() {
                arena[to + lane] = arena[source.at(k)];
            }
        }
    }
}

impl JetMachine {
    /// A machine for a plan that computes coefficients up to `order`.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`].
    pub fn new(plan: &FlowPlan, order: usize) -> JetMachine {
        JetMachine::in_two_parts(plan, plan.blocks.len(), order)
    }

    /// A machine that leaves the blocks from a position on for later; see [`Jets::run_late`]. No state
    /// may have its derivative from them.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`].
    pub fn in_two_parts(plan: &FlowPlan, late_block: usize, order: usize) -> JetMachine {
        let mut machine = JetMachine::default();
        machine.layout.order = order;
        machine.late_block = late_block;
        machine.schedule.rebuild(plan);
        machine.bind(plan);
        machine
    }

    /// Takes another plan, at a cost proportional to the number of blocks, mostly in the memory
    /// already there. Programs seen before are not analysed again.
    pub fn rebind(&mut self, plan: &FlowPlan) {
        self.late_block = plan.blocks.len();
        self.schedule.rebuild(plan);
        self.bind(plan);
    }

    /// A machine that composes a plan with polynomials of its states, of at most this degree in
    /// time; see [`JetMachine::compose`]. What would make a state's derivative is not looked at.
    pub fn composing(plan: &FlowPlan, order: usize, degree: usize) -> JetMachine {
        let mut machine = JetMachine::default();
        machine.layout.order = order;
        machine.late_block = plan.blocks.len();
        machine.schedule = Schedule::for_given_states(plan, Degree::new(degree));
        machine.bind(plan);
        machine
    }

    /// Computes all coefficients where those of the states are given: `rows` holds those of order 0,
    /// of order 1 and so on, in the order of the plan's states and in powers of time over `unit`.
    ///
    /// ```
    /// use saltus_expr::jet::{JetMachine, Jets};
    /// use saltus_expr::{Binary, FlowPlan, Graph, Node, PlanBlock, Program, Sort, VarId};
    /// // g = x x on x = 1 + 3 s.
    /// let mut graph = Graph::new();
    /// let x = graph.var(VarId(1), Sort::Real);
    /// let square = graph.intern(Node::Binary(Binary::Mul, x, x));
    /// let (program, _) = Program::new(&graph, &[square]);
    /// let block = PlanBlock { program: program.into(), inputs: vec![1], outputs: vec![2] };
    /// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 1)], time_slot: 0, slots: 3 };
    /// let mut machine = JetMachine::composing(&plan, 2, 1);
    /// machine.compose(&[0.0, 1.0, 0.0], 1.0, &[1.0, 3.0]);
    /// let mut row = [0.0; 3];
    /// machine.row(2, &mut row);
    /// assert_eq!(row, [1.0, 6.0, 9.0]);
    /// ```
    pub fn compose(&mut self, env: &[f64], unit: f64, rows: &[f64]) {
        self.load_point(env, unit);
        let states = self.layout.states;
        self.advance_orders(0..self.groups.len(), |machine, k| {
            let to = machine.layout.states_base + k * machine.layout.states_stride;
            match rows.get(k * states..(k + 1) * states) {
                Some(row) => machine.arena[to..to + states].copy_from_slice(row),
                None => machine.arena[to..to + states].fill(0.0),
            }
        });
    }

    /// Order after order: the states, then what some groups make of them.
    fn advance_orders(&mut self, groups: Range<usize>, mut place_states: impl FnMut(&mut Self, usize)) {
        let span = self.layout.order + 1;
        for group in &self.groups[groups.clone()] {
            group.gather(&mut self.arena, 0);
            group.rows.start(&mut self.arena);
        }
        for k in 1..span {
            place_states(self, k);
            for group in &self.groups[groups.clone()] {
                group.gather(&mut self.arena, k);
                group.rows.advance(&mut self.arena, k, self.inverses[k]);
            }
        }
    }

    fn bind(&mut self, plan: &FlowPlan) {
        self.state_slots.clear();
        self.state_slots.extend(plan.states.iter().map(|&(state, _)| state));
        self.time_slot = plan.time_slot;
        self.group_blocks();
        self.place_slots(plan);
        self.inverses.clear();
        self.inverses.extend((0..=self.layout.order).map(|k| 1.0 / k as f64));
    }

    fn group_blocks(&mut self) {
        let mut known: HashMap<(bool, u32, *const Lowered), usize> = HashMap::new();
        self.groups.clear();
        for (position, block) in self.schedule.blocks.iter().enumerate() {
            let is_late = position >= self.late_block;
            let key = (is_late, block.level, Arc::as_ptr(&block.lowered));
            let index = *known.entry(key).or_insert_with(|| {
                let rows = Rows {
                    lowered: Arc::clone(&block.lowered),
                    lanes: 0,
                    span: self.layout.order + 1,
                    base: 0,
                };
                self.groups.push(Group {
                    rows,
                    is_late,
                    level: block.level,
                    members: Vec::new(),
                    sources: Vec::new(),
                });
                self.groups.len() - 1
            });
            self.groups[index].members.push(position);
        }
        self.groups.sort_by_key(|group| (group.is_late, group.level));
        self.late_group = self.groups.partition_point(|group| !group.is_late);
        self.lanes.clear();
        self.lanes.resize(self.schedule.blocks.len(), (0, 0));
        for (group, index) in self.groups.iter().zip(0..) {
            group.members.iter().zip(0..).for_each(|(&block, lane)| self.lanes[block] = (index, lane));
        }
    }

    /// Gives every slot and every row its place in the arena.
    fn place_slots(&mut self, plan: &FlowPlan) {
        let span = self.layout.order + 1;
        let degrees = &self.schedule.degrees;
        let place = |slot: usize, base: usize, stride: usize| Place {
            base: base as u32,
            stride: stride as u32,
            degree: degrees[slot],
        };
        let layout = &mut self.layout;
        layout.places.clear();
        layout.places.extend((0..plan.slots).map(|slot| place(slot, slot, 0)));
        let time_base = plan.slots;
        layout.places[plan.time_slot as usize] = place(plan.time_slot as usize, time_base, 1);
        layout.states = plan.states.len();
        layout.states_stride = JetLayout::padded(plan.states.len());
        layout.states_base = time_base + span;
        for (i, &(state, _)) in plan.states.iter().enumerate() {
            layout.places[state as usize] =
                place(state as usize, layout.states_base + i, layout.states_stride);
        }
        let mut end = layout.states_base + span * layout.states_stride;
        for group in &mut self.groups {
            let lanes = group.members.len();
            (group.rows.lanes, group.rows.base) = (lanes, end);
            end = group.rows.end();
            for (lane, &member) in group.members.iter().enumerate() {
                for (&slot, row) in plan.blocks[member].outputs.iter().zip(&group.rows.lowered.outputs) {
                    let base = group.rows.row(row.index()) + lane;
                    layout.places[slot as usize] = place(slot as usize, base, lanes);
                }
            }
        }
        for group in &mut self.groups {
            group.sources.clear();
            for input in 0..group.rows.lowered.inputs {
                let slots = group.members.iter().map(|&m| plan.blocks[m].inputs[input]);
                group.sources.extend(slots.map(|slot| layout.places[slot as usize]));
            }
        }
        self.derivatives.clear();
        self.derivatives
            .extend(plan.states.iter().map(|&(_, derivative)| layout.places[derivative as usize]));
        self.arena.clear();
        self.arena.resize(end, 0.0);
        for group in &self.groups {
            group.rows.fill_constants(&mut self.arena);
        }
    }

    fn load_point(&mut self, env: &[f64], h_scale: f64) {
        let slots = self.layout.places.len();
        self.arena[..slots].copy_from_slice(&env[..slots]);
        self.load_time_and_states(env, h_scale);
    }

    fn load_time_and_states(&mut self, env: &[f64], h_scale: f64) {
        let layout = &self.layout;
        let slots = layout.places.len();
        self.arena[slots] = env[self.time_slot as usize];
        if layout.order > 0 {
            self.arena[slots + 1] = h_scale;
        }
        for (i, &slot) in self.state_slots.iter().enumerate() {
            self.arena[layout.states_base + i] = env[slot as usize];
        }
        self.h_scale = h_scale;
    }

    fn integrate(&mut self, k: usize) {
        let scale = self.h_scale * self.inverses[k];
        let row = self.layout.states_base + k * self.layout.states_stride;
        for (i, derivative) in self.derivatives.iter().enumerate() {
            if derivative.degree.reaches(k - 1) {
                self.arena[row + i] = self.arena[derivative.at(k - 1)] * scale;
            }
        }
    }
}

impl Jets for JetMachine {
    fn run(&mut self, env: &[f64], h_scale: f64) {
        self.load_point(env, h_scale);
        self.advance_orders(0..self.late_group, Self::integrate);
    }

    fn set_point(&mut self, env: &[f64], h_scale: f64, constants: &[u32]) {
        for slot in constants.iter().map(|&slot| slot as usize) {
            self.arena[slot] = env[slot];
        }
        self.load_time_and_states(env, h_scale);
    }

    fn run_late(&mut self) {
        self.advance_orders(self.late_group..self.groups.len(), |_, _| {});
    }

    fn layout(&self) -> &JetLayout {
        &self.layout
    }

    fn arena(&self) -> &[f64] {
        &self.arena
    }

    fn state_rows(&mut self) -> &mut [f64] {
        let JetLayout { order, states_base, states_stride, .. } = self.layout;
        &mut self.arena[states_base..states_base + (order + 1) * states_stride]
    }

    fn row_place(&self, block: usize, row: usize) -> Option<RowPlace> {
        let (group, lane) = self.lanes[block];
        let rows = &self.groups[group as usize].rows;
        let degree = rows.lowered.degrees[row];
        Some(Place { base: rows.row(row) as u32 + lane, stride: rows.lanes as u32, degree }.into())
    }
}
