//! A bank of functions of jets, for crowds of which few matter at a time.
//!
//! Units with the same program form a family, one lane each. [`Bank::survey`] bounds all of them on
//! a step: its parabola at the start, and how far each can be from it. [`Bank::compose`] then
//! computes the coefficients in time of the chosen units alone.

mod bounds;
#[cfg(test)]
mod tests;

use super::lower::Lowered;
use super::rows::Rows;
use super::{Degree, Jets};
use crate::plan::PlanBlock;
use crate::program::Program;
use bounds::{Registers, keep, split};
use std::collections::HashMap;
use std::sync::Arc;

/// Functions that read the slots of a plan, evaluated on demand. They are numbered in the order of
/// their units and of the outputs there.
///
/// ```
/// use saltus_expr::jet::{Bank, JetMachine, Jets};
/// use saltus_expr::{FlowPlan, Graph, PlanBlock, Program, Sort, VarId};
/// // x' = y, y' = 0 from (1, 2); the functions x^2 and y^2, of one program.
/// let mut graph = Graph::new();
/// let zero = graph.real(0.0);
/// let [x, y] = [1, 2].map(|slot| graph.var(VarId(slot), Sort::Real));
/// let (rates, _) = Program::new(&graph, &[y, zero]);
/// let square = graph.powi(x, 2);
/// let square = std::sync::Arc::new(Program::new(&graph, &[square]).0);
/// let block = PlanBlock { program: rates.into(), inputs: vec![2], outputs: vec![3, 4] };
/// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 3), (2, 4)], time_slot: 0, slots: 5 };
/// let mut jets = JetMachine::new(&plan, 3);
/// jets.run(&[0.0, 1.0, 2.0, 0.0, 0.0], 0.5);
/// let units = [1, 2].map(|slot| PlanBlock { program: square.clone(), inputs: vec![slot], outputs: vec![slot + 4] });
/// let mut bank = Bank::new(&units, 3, |slot| jets.degree(slot));
/// bank.survey(|slot| jets.weights(slot));
/// assert_eq!([0, 1].map(|function| bank.bounds(function)), [[1.0, 2.0, 1.0, 0.0], [4.0, 0.0, 0.0, 0.0]]);
/// assert_eq!(bank.kept_signs(), [1, 1]);
/// bank.choose(0);
/// bank.compose(&jets, 3);
/// let mut row = [0.0; 4];
/// bank.row(0, &mut row);
/// assert_eq!(row, [1.0, 2.0, 1.0, 0.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Bank {
    span: usize,
    families: Vec<Family>,
    functions: Vec<Function>,
    /// The slots read by any unit, and their bounds.
    slots: Vec<u32>,
    arguments: Vec<[f64; 4]>,
    /// The sign each function keeps, by the last survey; 0 if none surely.
    kept: Vec<i8>,
    /// Number of coefficients that were composed.
    composed: usize,
    /// 1 / k
    inverses: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Function {
    unit: u32,
    family: u32,
    member: u32,
    output: u32,
    /// Places of its bounds and of its sign in the family.
    register: u32,
    kept: u32,
    degree: Degree,
}

/// Units with the same program and arguments of the same degrees.
#[derive(Clone, Debug)]
struct Family {
    program: Arc<Program>,
    lowered: Arc<Lowered>,
    members: usize,
    /// Positions among the arguments of the bank, `[input][member]`, and their slots.
    inputs: Vec<u32>,
    slots: Vec<u32>,
    /// Bounds of every register, `[register][member]`: a parabola, and the distance from it.
    bounds: [Vec<f64>; 4],
    /// The registers that depend on something that moves.
    moving: Vec<bool>,
    /// True once the other registers are computed for the constants there are.
    settled: bool,
    /// The sign each function keeps, `[output][member]`; 0 if none surely.
    kept: Vec<i8>,
    /// The members whose rows are in memory, lane by lane.
    chosen: Vec<u32>,
    /// The lane of each member; `u32::MAX` if it is not chosen.
    lanes: Vec<u32>,
    lane_count: usize,
    memory: Vec<f64>,
}

impl Bank {
    /// A bank of units whose arguments have the degrees told; coefficients go up to `order`.
    pub fn new(units: &[PlanBlock], order: usize, degree: impl Fn(u32) -> Degree) -> Bank {
        let inverses = (0..=order).map(|k| 1.0 / k as f64).collect();
        let (families, functions, slots, arguments, kept) = Default::default();
        let mut bank =
            Bank { span: order + 1, families, functions, slots, arguments, kept, composed: 0, inverses };
        let mut known = HashMap::new();
        let mut lists: Vec<Vec<&PlanBlock>> = Vec::new();
        for (position, unit) in units.iter().enumerate() {
            let degrees: Vec<Degree> = unit.inputs.iter().map(|&slot| degree(slot)).collect();
            let lowered = unit.program.lowered(&degrees);
            let family = *known.entry(Arc::as_ptr(&lowered)).or_insert_with(|| {
                lists.push(Vec::new());
                bank.families.push(Family::new(&unit.program, &lowered));
                lists.len() - 1
            });
            for (output, row) in lowered.outputs.iter().enumerate() {
                bank.functions.push(Function {
                    unit: position as u32,
                    family: family as u32,
                    member: lists[family].len() as u32,
                    output: output as u32,
                    register: 0,
                    kept: 0,
                    degree: lowered.degrees[row.index()],
                });
            }
            lists[family].push(unit);
        }
        let mut places = HashMap::new();
        for (family, units) in bank.families.iter_mut().zip(&lists) {
            family.bind(units, &mut bank.slots, &mut places);
        }
        for function in &mut bank.functions {
            let Family { program, members, .. } = &bank.families[function.family as usize];
            let output = program.outputs()[function.output as usize].index();
            function.register = (output * members) as u32 + function.member;
            function.kept = function.output * *members as u32 + function.member;
        }
        bank.arguments.resize(bank.slots.len(), [0.0; 4]);
        bank.kept.resize(bank.functions.len(), 0);
        bank
    }

    /// Position of the unit of a function.
    pub fn unit(&self, function: usize) -> usize {
        self.functions[function].unit as usize
    }

    /// Degree in time of a function; higher coefficients are zero.
    pub fn degree(&self, function: usize) -> Degree {
        self.functions[function].degree
    }

    /// Bounds all functions on 0 <= s <= 1. An argument is given as `[a, b, c, r]` such that it differs
    /// from a + b s + c s^2 by at most r s^3; functions are bounded in the same way. None is chosen any more.
    pub fn survey(&mut self, argument: impl Fn(u32) -> [f64; 4]) {
        self.choose_none();
        for (to, &slot) in self.arguments.iter_mut().zip(&self.slots) {
            *to = argument(slot);
        }
        for family in &mut self.families {
            family.survey(&self.arguments);
        }
        for (kept, function) in self.kept.iter_mut().zip(&self.functions) {
            *kept = self.families[function.family as usize].kept[function.kept as usize];
        }
    }

    /// The bounds of a function from the last survey; the last number is infinite where none is
    /// known.
    pub fn bounds(&self, function: usize) -> [f64; 4] {
        let Function { family, register, .. } = self.functions[function];
        let planes = &self.families[family as usize].bounds;
        planes.each_ref().map(|plane| plane[register as usize])
    }

    /// The sign that each function surely keeps up to 1, by the last survey; 0 if that is not known.
    pub fn kept_signs(&self) -> &[i8] {
        &self.kept
    }

    /// Encloses all functions where each slot has any value of a range `[lo, hi]`, with outward
    /// rounding; see [`Bank::range`]. What a survey found is forgotten.
    pub fn enclose(&mut self, range: impl Fn(u32) -> [f64; 2]) {
        for (to, &slot) in self.arguments.iter_mut().zip(&self.slots) {
            let [lo, hi] = range(slot);
            *to = [lo, hi, 0.0, 0.0];
        }
        self.families.iter_mut().for_each(|family| family.enclose(&self.arguments));
    }

    /// The range of a function from [`Bank::enclose`]; infinite where none is known.
    ///
    /// ```
    /// use saltus_expr::jet::{Bank, Degree};
    /// use saltus_expr::{Graph, PlanBlock, Program, Sort, VarId};
    /// let mut graph = Graph::new();
    /// let x = graph.var(VarId(1), Sort::Real);
    /// let square = graph.powi(x, 2);
    /// let (program, _) = Program::new(&graph, &[square]);
    /// let unit = PlanBlock { program: program.into(), inputs: vec![1], outputs: vec![2] };
    /// let mut bank = Bank::new(&[unit], 2, |_| Degree::LINEAR);
    /// bank.enclose(|_| [-1.0, 3.0]);
    /// let [lo, hi] = bank.range(0);
    /// assert!(lo <= 0.0 && lo > -1e-12 && hi >= 9.0 && hi < 9.0 + 1e-12);
    /// ```
    pub fn range(&self, function: usize) -> [f64; 2] {
        let [lo, hi, ..] = self.bounds(function);
        [lo, hi]
    }

    /// Chooses no function.
    pub fn choose_none(&mut self) {
        for family in &mut self.families {
            family.chosen.drain(..).for_each(|member| family.lanes[member as usize] = u32::MAX);
        }
    }

    /// Chooses a function for the next composition, in addition to those chosen before.
    pub fn choose(&mut self, function: usize) {
        let Function { family, member, .. } = self.functions[function];
        let family = &mut self.families[family as usize];
        let lane = &mut family.lanes[member as usize];
        if *lane == u32::MAX {
            *lane = family.chosen.len() as u32;
            family.chosen.push(member);
        }
    }

    /// True if a function was chosen since the choice was given up last.
    pub fn is_chosen(&self, function: usize) -> bool {
        let Function { family, member, .. } = self.functions[function];
        self.families[family as usize].lanes[member as usize] != u32::MAX
    }

    /// Computes the coefficients of the chosen functions from those of their arguments, up to an order
    /// that is at most the bank's.
    pub fn compose(&mut self, jets: &(impl Jets + ?Sized), order: usize) {
        self.composed = self.span.min(order + 1);
        for family in &mut self.families {
            family.compose(jets, self.composed, &self.inverses);
        }
    }

    /// Copies the coefficients of a chosen function, as many as `out` has room for.
    pub fn row(&self, function: usize, out: &mut [f64]) {
        let (row, lanes) = self.row_of(function);
        let count =
            self.functions[function].degree.bound().map_or(self.composed, |d| self.composed.min(d + 1));
        let count = count.min(out.len());
        let (known, rest) = out.split_at_mut(count);
        known.iter_mut().zip(row.iter().step_by(lanes)).for_each(|(to, &from)| *to = from);
        rest.fill(0.0);
    }

    /// The memory from the row of a chosen function on, and the distance of its coefficients.
    fn row_of(&self, function: usize) -> (&[f64], usize) {
        let Function { family, member, output, .. } = self.functions[function];
        let family = &self.families[family as usize];
        let row = family.lowered.outputs[output as usize].index();
        let lane = family.lanes[member as usize] as usize;
        (&family.memory[row * self.composed * family.lane_count + lane..], family.lane_count)
    }
}

impl Family {
    fn new(program: &Arc<Program>, lowered: &Arc<Lowered>) -> Family {
        Family {
            program: Arc::clone(program),
            lowered: Arc::clone(lowered),
            members: 0,
            inputs: Vec::new(),
            slots: Vec::new(),
            bounds: Default::default(),
            moving: Vec::new(),
            settled: false,
            kept: Vec::new(),
            chosen: Vec::new(),
            lanes: Vec::new(),
            lane_count: 0,
            memory: Vec::new(),
        }
    }

    /// Makes the units members; the arguments of the bank are extended by theirs.
    fn bind(&mut self, units: &[&PlanBlock], slots: &mut Vec<u32>, places: &mut HashMap<u32, u32>) {
        self.members = units.len();
        self.lanes.resize(units.len(), u32::MAX);
        for input in 0..self.program.inputs() {
            for unit in units {
                let slot = unit.inputs[input];
                self.slots.push(slot);
                self.inputs.push(*places.entry(slot).or_insert_with(|| {
                    slots.push(slot);
                    slots.len() as u32 - 1
                }));
            }
        }
        self.kept.resize(self.program.outputs().len() * units.len(), 0);
        let size = self.program.registers() * units.len();
        self.bounds.iter_mut().for_each(|plane| plane.resize(size, 0.0));
        let first = self.program.inputs();
        for (i, constant) in self.program.constants().enumerate() {
            self.bounds[0][(first + i) * units.len()..][..units.len()].fill(constant);
        }
        self.moving.extend(self.lowered.degrees[..first].iter().map(|&degree| degree != Degree::CONSTANT));
        self.moving.resize(self.program.first_op(), false);
        for op in self.program.ops() {
            let moves = op.operands().any(|r| self.moving[r.index()]);
            self.moving.push(moves);
        }
    }

    fn survey(&mut self, arguments: &[[f64; 4]]) {
        self.take_arguments(arguments);
        in_widest_vectors(self, |family| family.bound_all());
    }

    /// Bounds all operations of the program, and tells the signs kept.
    #[inline(always)]
    fn bound_all(&mut self) {
        for (i, &op) in self.program.ops().iter().enumerate() {
            let register = self.program.first_op() + i;
            if !self.settled || self.moving[register] {
                let (known, new) = split(&mut self.bounds, register * self.members, self.members);
                Registers { program: &self.program, known, members: self.members }.bound(op, new);
            }
        }
        self.settled = true;
        for (output, kept) in self.program.outputs().iter().zip(self.kept.chunks_exact_mut(self.members)) {
            let range = output.index() * self.members..(output.index() + 1) * self.members;
            keep(kept, self.bounds.each_ref().map(|plane| &plane[range.clone()]));
        }
    }

    fn enclose(&mut self, arguments: &[[f64; 4]]) {
        let [lows, highs, ..] = &mut self.bounds;
        for ((lo, hi), &source) in lows.iter_mut().zip(highs.iter_mut()).zip(&self.inputs) {
            [*lo, *hi, ..] = arguments[source as usize];
        }
        let constants = self.program.inputs() * self.members..self.program.first_op() * self.members;
        highs[constants.clone()].copy_from_slice(&lows[constants]);
        self.settled = false;
        in_widest_vectors(self, |family| family.enclose_all());
    }

    /// Encloses all operations of the program.
    #[inline(always)]
    fn enclose_all(&mut self) {
        for (i, &op) in self.program.ops().iter().enumerate() {
            let at = (self.program.first_op() + i) * self.members;
            let (known, new) = split(&mut self.bounds, at, self.members);
            Registers { program: &self.program, known, members: self.members }.enclose(op, new);
        }
    }

    fn take_arguments(&mut self, arguments: &[[f64; 4]]) {
        let [values, slopes, bends, rests] = &mut self.bounds;
        for (input, sources) in self.inputs.chunks_exact(self.members).enumerate() {
            let range = input * self.members..(input + 1) * self.members;
            let values = &mut values[range.clone()];
            if !self.moving[input] {
                for (value, &source) in values.iter_mut().zip(sources) {
                    let new = arguments[source as usize][0];
                    self.settled &= *value == new;
                    *value = new;
                }
                continue;
            }
            let lower = values.iter_mut().zip(&mut slopes[range.clone()]);
            let upper = bends[range.clone()].iter_mut().zip(&mut rests[range]);
            for (((value, slope), (bend, rest)), &source) in lower.zip(upper).zip(sources) {
                [*value, *slope, *bend, *rest] = arguments[source as usize];
            }
        }
    }

    fn compose(&mut self, jets: &(impl Jets + ?Sized), span: usize, inverses: &[f64]) {
        if self.chosen.is_empty() {
            return;
        }
        // Whole vectors: the last member is repeated.
        self.lane_count =
            if self.chosen.len() < 3 { self.chosen.len() } else { self.chosen.len().next_multiple_of(4) };
        let rows = Rows { lowered: Arc::clone(&self.lowered), lanes: self.lane_count, span, base: 0 };
        if self.memory.len() < rows.end() {
            self.memory.resize(rows.end(), 0.0);
        }
        self.gather(jets, &rows);
        rows.fill_constants(&mut self.memory);
        rows.start(&mut self.memory);
        for k in 1..span {
            rows.advance(&mut self.memory, k, inverses[k]);
        }
    }

    fn gather(&mut self, jets: &(impl Jets + ?Sized), rows: &Rows) {
        let (arena, places) = (jets.arena(), &jets.layout().places);
        for input in 0..self.lowered.inputs {
            let degree = self.lowered.degrees[input];
            let orders = degree.bound().map_or(rows.span, |d| rows.span.min(d + 1));
            let base = rows.row(input);
            for lane in 0..self.lane_count {
                let member = self.chosen[lane.min(self.chosen.len() - 1)] as usize;
                let place = places[self.slots[input * self.members + member] as usize];
                let from = arena[place.at(0)..].iter().step_by(place.stride.max(1) as usize);
                let to = self.memory[base + lane..].iter_mut().step_by(self.lane_count);
                to.zip(from).take(orders).for_each(|(to, &from)| *to = from);
            }
        }
    }
}

/// Does work compiled for the widest vectors of the machine; its numbers do not depend on them.
fn in_widest_vectors(family: &mut Family, work: impl Fn(&mut Family)) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide(family: &mut Family, work: impl Fn(&mut Family)) {
            work(family);
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has the feature.
            return unsafe { wide(family, work) };
        }
    }
    work(family);
}
