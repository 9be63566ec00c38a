//! Units with the same program side by side, one lane each.

use super::bounds::{self, Bounds, GROUP, Group, Registers, steady_group};
use super::{Told, View};
use crate::interval;
use crate::jet::lower::Lowered;
use crate::jet::rows::Rows;
use crate::jet::{Degree, Jets, Place};
use crate::plan::PlanBlock;
use crate::program::{Op, Program, Reg};
use crate::vm;
use saltus_num::interval::Interval;
use saltus_num::vectors::{VectorWork, in_widest_vectors};
use std::collections::HashMap;
use std::sync::Arc;

/// Units with the same program and arguments of the same degrees. What is asked for is computed for
/// the chosen members alone, each in a lane.
#[derive(Clone, Debug)]
pub struct Family {
    pub program: Arc<Program>,
    pub lowered: Arc<Lowered>,
    pub members: usize,
    /// Positions among the arguments of the bank, `[input][member]`, and their slots.
    inputs: Vec<u32>,
    slots: Vec<u32>,
    /// Values of the registers that do not move, `[register][member]`, and those of them that
    /// moving operations read or that are results.
    still: Vec<f64>,
    read_still: Vec<usize>,
    /// How far off those values may be by rounding, where that counts.
    still_errors: Vec<f64>,
    counts_rounding: bool,
    /// The registers that depend on something that moves.
    moving: Vec<bool>,
    /// Bounds of every register in the lanes of the last survey, `[register][group]`, and places
    /// before which the results keep their signs, `[output][group]`.
    bounds: Vec<Group>,
    steady: Vec<[f64; GROUP]>,
    /// The functions of the bank that the members are, `[output][member]`.
    functions: Vec<u32>,
    /// Members to be bounded, one in each lane, and how many they are apart from those that fill up.
    wanted: Vec<u32>,
    /// Composed members by lane, and the lane of each member; `u32::MAX` if it is not chosen.
    chosen: Vec<u32>,
    lanes: Vec<u32>,
    /// True if no row depends on a later one.
    is_sequential: bool,
    /// Lanes of the last composition, and the rows in them.
    lane_count: usize,
    memory: Vec<f64>,
}

impl Family {
    pub fn new(program: &Arc<Program>, lowered: &Arc<Lowered>) -> Family {
        let inputs = lowered.degrees[..program.inputs()].iter();
        let mut moving: Vec<bool> = inputs.map(|&degree| degree != Degree::CONSTANT).collect();
        moving.resize(program.first_op(), false);
        for op in program.ops() {
            moving.push(op.operands().any(|r| moving[r.index()]));
        }
        let moving_ops = program.ops().iter().zip(&moving[program.first_op()..]).filter(|(_, moves)| **moves);
        let read = moving_ops.flat_map(|(op, _)| op.operands()).chain(program.outputs().iter().copied());
        let mut read_still: Vec<usize> = read.map(Reg::index).filter(|&r| !moving[r]).collect();
        read_still.sort_unstable();
        read_still.dedup();
        Family {
            program: Arc::clone(program),
            lowered: Arc::clone(lowered),
            members: 0,
            inputs: Vec::new(),
            slots: Vec::new(),
            still: Vec::new(),
            read_still,
            still_errors: Vec::new(),
            counts_rounding: false,
            moving,
            bounds: Vec::new(),
            steady: Vec::new(),
            functions: Vec::new(),
            wanted: Vec::new(),
            chosen: Vec::new(),
            lanes: Vec::new(),
            is_sequential: lowered.is_sequential(),
            lane_count: 0,
            memory: Vec::new(),
        }
    }

    /// Makes the units members; the places of their slots among the arguments of the bank are told.
    pub fn bind(&mut self, units: &[&PlanBlock], places: &HashMap<u32, u32>) {
        self.members = units.len();
        self.lanes.resize(units.len(), u32::MAX);
        for input in 0..self.program.inputs() {
            self.slots.extend(units.iter().map(|unit| unit.inputs[input]));
        }
        self.inputs = self.slots.iter().map(|slot| places[slot]).collect();
        self.functions.resize(self.program.outputs().len() * units.len(), 0);
        self.still.resize(self.program.registers() * units.len(), 0.0);
        let first = self.program.inputs();
        for (i, constant) in self.program.constants().enumerate() {
            self.still[(first + i) * units.len()..][..units.len()].fill(constant);
        }
    }

    /// Tells the function of the bank that an output of a member is.
    pub fn name(&mut self, member: usize, output: usize, function: u32) {
        self.functions[output * self.members + member] = function;
    }

    /// The positions among the arguments of the bank that a member reads.
    pub fn arguments_of(&self, member: usize) -> impl Iterator<Item = u32> {
        self.inputs.iter().skip(member).step_by(self.members).copied()
    }

    /// The rows of a chosen member that was composed.
    pub fn view(&self, member: usize, output: usize) -> View<'_> {
        View {
            lowered: &self.lowered,
            inputs: self.slots[member..].iter().copied().step_by(self.members),
            memory: &self.memory,
            lane: self.lanes[member] as usize,
            lanes: self.lane_count,
            output: self.lowered.outputs[output].index(),
        }
    }

    pub fn choose_none(&mut self) {
        self.chosen.drain(..).for_each(|member| self.lanes[member as usize] = u32::MAX);
    }

    #[inline]
    pub fn choose(&mut self, member: u32) {
        let lane = &mut self.lanes[member as usize];
        if *lane == u32::MAX {
            *lane = self.chosen.len() as u32;
            self.chosen.push(member);
        }
    }

    pub fn is_chosen(&self, member: u32) -> bool {
        self.lanes[member as usize] != u32::MAX
    }

    /// Whether bounds hold the rounding of their operations, too.
    pub fn count_rounding(&mut self, counts: bool) {
        self.counts_rounding = counts;
        self.still_errors.clear();
        self.still_errors.resize(self.still.len(), 0.0);
    }

    /// Computes what does not move, for all members.
    pub fn settle(&mut self, arguments: &[Bounds]) {
        let Family { program, members, inputs, still, still_errors, .. } = self;
        let (members, first) = (*members, program.first_op());
        for (value, &source) in still.iter_mut().zip(&*inputs) {
            *value = arguments[source as usize][0];
        }
        for (i, &op) in program.ops().iter().enumerate().filter(|(i, _)| !self.moving[first + i]) {
            for member in 0..members {
                let value = |r: Reg| still[r.index() * members + member];
                let result = vm::apply(op, |t| program.table(t), value);
                still[(first + i) * members + member] = result;
                if self.counts_rounding {
                    let error = |r: Reg| still_errors[r.index() * members + member];
                    let value = |r: Reg| still[r.index() * members + member];
                    let range = range_of(op, |r| Interval::new(value(r) - error(r), value(r) + error(r)));
                    still_errors[(first + i) * members + member] =
                        (range.hi() - result).max(result - range.lo());
                }
            }
        }
    }

    /// Asks for bounds of a member.
    #[inline(always)]
    pub fn want(&mut self, member: u32) {
        self.wanted.push(member);
    }

    /// Bounds the wanted members, and tells what it finds of their functions; they are wanted no more. It is
    /// told whether arguments may be off by more than their rest tells.
    pub fn survey(&mut self, arguments: &[Bounds], have_errors: bool, tell: &mut impl FnMut(u32, Told)) {
        if self.program.outputs().len() > 1 {
            self.wanted.dedup();
        }
        let Some(&last) = self.wanted.last() else { return };
        // The last member fills up its group.
        let asked = self.wanted.len();
        let groups = asked.div_ceil(GROUP);
        self.wanted.resize(groups * GROUP, last);
        self.make_room(groups);
        let has_error = self.counts_rounding || have_errors;
        match has_error {
            true => in_widest_vectors(Surveying::<5>(self, arguments)),
            false => in_widest_vectors(Surveying::<4>(self, arguments)),
        }
        let outputs = self.program.outputs().iter().zip(self.functions.chunks_exact(self.members));
        for ((output, functions), places) in outputs.zip(self.steady.chunks_exact(groups)) {
            let bounds = &self.bounds[output.index() * groups..][..groups];
            let members = self.wanted[..asked].iter().zip(places.as_flattened());
            for (i, (&member, &place)) in members.enumerate() {
                let (lanes, lane) = (&bounds[i / GROUP], i % GROUP);
                tell(functions[member as usize], Told { lanes, lane, has_error, place });
            }
        }
        self.wanted.clear();
    }

    fn make_room(&mut self, groups: usize) {
        let size = self.program.registers() * groups;
        if self.bounds.len() < size {
            self.bounds.resize(size, Group::default());
        }
        let size = self.program.outputs().len() * groups;
        if self.steady.len() < size {
            self.steady.resize(size, [0.0; GROUP]);
        }
    }

    /// The bounds of arguments and of what does not move.
    #[inline(always)]
    fn take_arguments<const NUMBERS: usize>(&mut self, arguments: &[Bounds]) {
        let members = self.wanted.as_chunks::<GROUP>().0;
        for (input, sources) in self.inputs.chunks_exact(self.members).enumerate() {
            if !self.moving[input] {
                continue;
            }
            for (group, members) in self.bounds[input * members.len()..].iter_mut().zip(members) {
                let [a, b, c, d] = members.map(|member| &arguments[sources[member as usize] as usize]);
                for (number, lanes) in group.iter_mut().enumerate().take(NUMBERS) {
                    *lanes = [a[number], b[number], c[number], d[number]];
                }
            }
        }
        for &register in &self.read_still {
            let values = &self.still[register * self.members..][..self.members];
            let errors = self.still_errors.get(register * self.members..).unwrap_or_default();
            for (group, members) in self.bounds[register * members.len()..].iter_mut().zip(members) {
                *group = Group::default();
                group[0] = members.map(|member| values[member as usize]);
                if self.counts_rounding {
                    group[4] = members.map(|member| errors[member as usize]);
                }
            }
        }
    }

    /// Bounds all operations that move, and tells how long the results keep their signs.
    #[inline(always)]
    fn bound_all<const NUMBERS: usize>(&mut self, groups: usize) {
        let first = self.program.first_op();
        for (i, &op) in self.program.ops().iter().enumerate() {
            if self.moving[first + i] {
                let (known, new) = self.bounds.split_at_mut((first + i) * groups);
                let registers = Registers::<NUMBERS> { program: &self.program, known, groups };
                registers.bound(op, &mut new[..groups]);
                if self.counts_rounding {
                    registers.add_rounding(op, &mut new[..groups]);
                }
            }
        }
        for (output, steady) in self.program.outputs().iter().zip(self.steady.chunks_exact_mut(groups)) {
            let bounds = &self.bounds[output.index() * groups..][..groups];
            for (steady, bounds) in steady.iter_mut().zip(bounds) {
                *steady = steady_group::<NUMBERS>(bounds);
            }
        }
    }

    /// Encloses all members where each argument is in the range that its first two numbers tell.
    pub fn enclose(&mut self, arguments: &[Bounds]) {
        let groups = self.members.div_ceil(GROUP);
        self.make_room(groups);
        for (input, sources) in self.inputs.chunks_exact(self.members).enumerate() {
            let bounds = &mut self.bounds[input * groups..][..groups];
            for (group, sources) in bounds.iter_mut().zip(sources.chunks(GROUP)) {
                for lane in 0..GROUP {
                    let source = sources[lane.min(sources.len() - 1)] as usize;
                    bounds::set(group, lane, arguments[source]);
                }
            }
        }
        for (register, constant) in (self.program.inputs()..).zip(self.program.constants()) {
            let constant = [constant, constant, 0.0, 0.0, 0.0].map(|x| [x; GROUP]);
            self.bounds[register * groups..][..groups].fill(constant);
        }
        in_widest_vectors(Enclosing(self, groups));
    }

    /// Encloses all operations of the program.
    #[inline(always)]
    fn enclose_all(&mut self, groups: usize) {
        let first = self.program.first_op();
        for (i, &op) in self.program.ops().iter().enumerate() {
            let (known, new) = self.bounds.split_at_mut((first + i) * groups);
            Registers::<2> { program: &self.program, known, groups }.enclose(op, &mut new[..groups]);
        }
    }

    /// The range of a result from [`Family::enclose`].
    pub fn range(&self, member: usize, output: usize) -> [f64; 2] {
        let register = self.program.outputs()[output].index();
        let [low, high, ..] = &self.bounds[register * self.members.div_ceil(GROUP) + member / GROUP];
        [low[member % GROUP], high[member % GROUP]]
    }

    /// Computes the coefficients of the chosen members.
    pub fn compose(&mut self, jets: &(impl Jets + ?Sized), span: usize, inverses: &[f64]) {
        if self.chosen.is_empty() {
            return;
        }
        // Whole vectors: the last member is repeated.
        self.lane_count = if self.chosen.len() == 1 { 1 } else { self.chosen.len().next_multiple_of(GROUP) };
        let rows = Rows { lowered: Arc::clone(&self.lowered), lanes: self.lane_count, span, base: 0 };
        if self.memory.len() < rows.end() {
            self.memory.resize(rows.end(), 0.0);
        }
        let (arena, places) = (jets.arena(), jets.layout().places.as_slice());
        in_widest_vectors(Composing { family: self, rows, arena, places, inverses });
    }

    /// Copies the coefficients of the arguments.
    #[inline(always)]
    fn gather(&mut self, rows: &Rows, arena: &[f64], places: &[Place]) {
        for input in 0..self.lowered.inputs {
            let degree = self.lowered.degrees[input];
            let orders = degree.bound().map_or(rows.span, |d| rows.span.min(d + 1));
            let to = &mut self.memory[rows.row(input)..][..orders * self.lane_count];
            for lane in 0..self.lane_count {
                let member = self.chosen[lane.min(self.chosen.len() - 1)] as usize;
                let Place { base, stride, .. } = places[self.slots[input * self.members + member] as usize];
                let from = arena[base as usize..].iter().step_by((stride as usize).max(1));
                let to = to[lane..].iter_mut().step_by(self.lane_count);
                to.zip(from).for_each(|(to, &from)| *to = from);
            }
        }
    }

    /// The memory from the composed row of a chosen member on, and the distance of its coefficients.
    pub fn row(&self, member: usize, output: usize, span: usize) -> (&[f64], usize) {
        let row = self.lowered.outputs[output].index();
        let lane = self.lanes[member] as usize;
        (&self.memory[row * span * self.lane_count + lane..], self.lane_count)
    }
}

/// The values of an operation that does not move, in exact arithmetic.
fn range_of(op: Op, operand: impl Fn(Reg) -> Interval) -> Interval {
    match op {
        Op::Unary(function, a) => interval::unary(function, operand(a)).range,
        Op::Binary(function, a, b) => interval::binary(function, operand(a), operand(b)).range,
        Op::Powi(a, power) => operand(a).powi(power).range,
        Op::Select(..) | Op::Table1(..) | Op::Table2(..) => Interval::new(f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// Bounds the wanted members, whole groups of them, from so many numbers of the bounds of the arguments.
struct Surveying<'a, const NUMBERS: usize>(&'a mut Family, &'a [Bounds]);

impl<const NUMBERS: usize> VectorWork for Surveying<'_, NUMBERS> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        self.0.take_arguments::<NUMBERS>(self.1);
        self.0.bound_all::<NUMBERS>(self.0.wanted.len() / GROUP);
    }
}

/// Encloses some groups of lanes.
struct Enclosing<'a>(&'a mut Family, usize);

impl VectorWork for Enclosing<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        self.0.enclose_all(self.1);
    }
}

/// Computes the coefficients of the chosen members, in rows with a lane for each.
struct Composing<'a> {
    family: &'a mut Family,
    rows: Rows,
    arena: &'a [f64],
    places: &'a [Place],
    inverses: &'a [f64],
}

impl VectorWork for Composing<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Composing { family, rows, arena, places, inverses } = self;
        family.gather(&rows, arena, places);
        rows.fill_constants(&mut family.memory);
        if family.is_sequential {
            rows.compute(&mut family.memory, inverses);
        } else {
            rows.start(&mut family.memory);
            (1..rows.span).for_each(|k| rows.advance(&mut family.memory, k, inverses[k]));
        }
    }
}
