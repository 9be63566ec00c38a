//! A bank of functions of jets, for crowds of which few matter at a time.
//!
//! Units with the same program form a family, one lane each. [`Bank::survey`] bounds them on a
//! step: by their parabolas at the start, and how far each can be from it. [`Bank::compose`] computes
//! the coefficients in time of those that are chosen. [`Courses`] tell how long what a survey found
//! remains true.

mod bounds;
mod course;
mod family;
#[cfg(test)]
mod tests;

use super::lower::Lowered;
use super::{Degree, Jets};
use crate::plan::PlanBlock;
use bounds::Group;
pub use bounds::{Bounds, steady_until};
pub use course::{Courses, MOVES};
use family::Family;
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
/// bank.survey(|slot| {
///     let [value, slope, bend, rest] = jets.weights(slot);
///     [value, slope, bend, rest, 0.0]
/// });
/// assert_eq!(bank.found().iter().map(|found| (found.value(), found.place)).collect::<Vec<_>>(), [(1.0, 1.0), (4.0, 1.0)]);
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
    /// The slots read by any unit, the positions of those that are constant, and the values for
    /// which what does not move is computed.
    slots: Vec<u32>,
    constants: Vec<u32>,
    settled: Vec<f64>,
    counts_rounding: bool,
    arguments: Vec<Bounds>,
    /// The functions that read each argument.
    readers: Vec<Vec<u32>>,
    /// All functions, and what the last survey of them found.
    all: Vec<u32>,
    found: Vec<Found>,
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
    degree: Degree,
}

/// What a survey finds of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Bounds of it.
    pub bounds: Bounds,
    /// A place from 0 to 1 before which it surely keeps the sign that it has at 0.
    pub place: f64,
}

impl Found {
    /// The value at 0.
    #[inline(always)]
    pub fn value(&self) -> f64 {
        self.bounds[0]
    }

    /// The slope at 0.
    #[inline(always)]
    pub fn slope(&self) -> f64 {
        self.bounds[1]
    }

    /// How far it may be off the function of the polynomials of its arguments.
    #[inline(always)]
    pub fn error(&self) -> f64 {
        self.bounds[4]
    }

    /// What is known of it on the first part of what it was bounded on, with that as the unit.
    ///
    /// ```
    /// use saltus_expr::jet::Found;
    /// // 1 - s + s^2 - 2 s^3 or more.
    /// let found = Found { bounds: [1.0, -1.0, 1.0, 2.0, 0.0], place: 0.6 };
    /// assert_eq!(found.on_part(0.5), Found { bounds: [1.0, -0.5, 0.25, 0.25, 0.0], place: 1.0 });
    /// ```
    #[inline]
    pub fn on_part(&self, share: f64) -> Found {
        let [value, slope, bend, rest, error] = self.bounds;
        let square = share * share;
        let bounds = [value, slope * share, bend * square, rest * (square * share), error];
        Found { bounds, place: steady_until(bounds) }
    }

    /// True if it is not zero at 0, but its parabola is on the first part of what it was bounded on.
    ///
    /// ```
    /// use saltus_expr::jet::Found;
    /// // 3/4 - 2 s + s^2 is zero at 1/2, 1 - 2 s + 2 s^2 nowhere.
    /// let found = Found { bounds: [0.75, -2.0, 1.0, 0.1, 0.0], place: 0.4 };
    /// assert!(found.is_likely_zero(0.6) && !found.is_likely_zero(0.4));
    /// assert!(!Found { bounds: [1.0, -2.0, 2.0, 0.1, 0.0], place: 0.4 }.is_likely_zero(1.0));
    /// ```
    pub fn is_likely_zero(&self, share: f64) -> bool {
        let [value, slope, bend, ..] = self.bounds;
        let vertex = -0.5 * slope / bend;
        let lowest = if vertex > 0.0 && vertex < share { vertex } else { share };
        self.place > 0.0 && [lowest, share].iter().any(|s| value * (value + s * (slope + s * bend)) <= 0.0)
    }

    /// The sign that it has everywhere behind 0 if it is zero there; 0 if it may have any.
    #[inline(always)]
    pub fn sign_behind_zero(&self) -> f64 {
        bounds::sign_behind_zero(self.bounds)
    }
}

/// What a survey tells of a function.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    lanes: &'a Group,
    lane: usize,
    has_error: bool,
    place: f64,
}

impl Told<'_> {
    /// The value at 0.
    #[inline(always)]
    pub fn value(&self) -> f64 {
        self.lanes[0][self.lane]
    }

    /// A place from 0 to 1 before which it surely keeps the sign that it has at 0.
    #[inline(always)]
    pub fn place(&self) -> f64 {
        self.place
    }

    /// All that was found.
    #[inline(always)]
    pub fn found(&self) -> Found {
        let mut bounds = self.lanes.map(|lanes| lanes[self.lane]);
        bounds[4] = if self.has_error { bounds[4] } else { 0.0 };
        Found { bounds, place: self.place }
    }
}

/// The rows of one function: number i of those of a single lane is at `lane + lanes * i`.
pub(super) struct View<'a> {
    pub lowered: &'a Arc<Lowered>,
    /// The slots of the arguments.
    pub inputs: std::iter::StepBy<std::iter::Copied<std::slice::Iter<'a, u32>>>,
    pub memory: &'a [f64],
    pub lane: usize,
    pub lanes: usize,
    pub output: usize,
}

impl Bank {
    /// Functions that are best composed at a time: one vector.
    pub const TOGETHER: usize = 4;

    /// A bank of units whose arguments have the degrees told; coefficients go up to `order`.
    pub fn new(units: &[PlanBlock], order: usize, degree: impl Fn(u32) -> Degree) -> Bank {
        let mut bank = Bank {
            span: order + 1,
            families: Vec::new(),
            functions: Vec::new(),
            slots: Vec::new(),
            constants: Vec::new(),
            settled: Vec::new(),
            counts_rounding: false,
            arguments: Vec::new(),
            readers: Vec::new(),
            all: Vec::new(),
            found: Vec::new(),
            composed: 0,
            inverses: (0..=order).map(|k| 1.0 / k as f64).collect(),
        };
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
                    degree: lowered.degrees[row.index()],
                });
            }
            lists[family].push(unit);
        }
        bank.slots = units.iter().flat_map(|unit| &unit.inputs).copied().collect();
        // What moves comes first: groups of neighbours.
        bank.slots.sort_unstable_by_key(|&slot| (degree(slot).is_constant(), slot));
        bank.slots.dedup();
        let places: HashMap<u32, u32> = bank.slots.iter().copied().zip(0..).collect();
        for (family, units) in bank.families.iter_mut().zip(&lists) {
            family.bind(units, &places);
        }
        let arguments = bank.slots.iter().zip(0..);
        bank.constants = arguments.filter(|(slot, _)| degree(**slot).is_constant()).map(|(_, i)| i).collect();
        bank.settled.resize(bank.constants.len(), f64::NAN);
        bank.arguments.resize(bank.slots.len(), Bounds::default());
        bank.readers.resize(bank.slots.len(), Vec::new());
        bank.all.extend(0..bank.functions.len() as u32);
        bank.found.resize(bank.functions.len(), Found::default());
        for (function, index) in bank.functions.iter().zip(0..) {
            let family = &mut bank.families[function.family as usize];
            family.name(function.member as usize, function.output as usize, index);
            for argument in family.arguments_of(function.member as usize) {
                let readers = &mut bank.readers[argument as usize];
                if readers.last() != Some(&index) {
                    readers.push(index);
                }
            }
        }
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

    /// The slots that functions read: the arguments.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The functions that read an argument, by its position.
    pub fn readers(&self, argument: usize) -> &[u32] {
        &self.readers[argument]
    }

    /// The positions of the arguments that a function reads.
    pub fn arguments_of(&self, function: usize) -> impl Iterator<Item = u32> {
        let Function { family, member, .. } = self.functions[function];
        self.families[family as usize].arguments_of(member as usize)
    }

    /// Whether bounds hold the rounding of their operations, too, which proofs need.
    pub fn count_rounding(&mut self, counts: bool) {
        if std::mem::replace(&mut self.counts_rounding, counts) != counts {
            self.families.iter_mut().for_each(|family| family.count_rounding(counts));
            self.settled.fill(f64::NAN);
        }
    }

    /// Whether bounds hold the rounding of their operations.
    pub fn counts_rounding(&self) -> bool {
        self.counts_rounding
    }

    /// Bounds all functions on 0 <= s <= 1, from bounds of the slots they read.
    pub fn survey(&mut self, bounds: impl Fn(u32) -> Bounds) {
        let mut arguments = std::mem::take(&mut self.arguments);
        let mut found = std::mem::take(&mut self.found);
        arguments.iter_mut().zip(&self.slots).for_each(|(to, &slot)| *to = bounds(slot));
        let all = std::mem::take(&mut self.all);
        let have_errors = arguments.iter().any(|argument| argument[4] != 0.0);
        self.survey_some(&all, (&arguments, have_errors), |function, new| {
            found[function as usize] = new.found();
        });
        (self.arguments, self.found, self.all) = (arguments, found, all);
    }

    /// Bounds functions on 0 <= s <= 1 from bounds of their arguments, of which it is told whether they have errors,
    /// and tells what it finds of them and of others in their units.
    fn survey_some(
        &mut self,
        functions: &[u32],
        (arguments, have_errors): (&[Bounds], bool),
        mut tell: impl FnMut(u32, Told),
    ) {
        let constants = self.constants.iter().map(|&i| arguments[i as usize][0]);
        if !constants.clone().eq(self.settled.iter().copied()) {
            self.settled.clear();
            self.settled.extend(constants);
            self.families.iter_mut().for_each(|family| family.settle(arguments));
        }
        for &function in functions {
            let Function { family, member, .. } = self.functions[function as usize];
            self.families[family as usize].want(member);
        }
        for family in &mut self.families {
            family.survey(arguments, have_errors, &mut tell);
        }
    }

    /// What the last survey of all functions found of each.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Encloses all functions where each slot has any value of a range `[lo, hi]`, with outward
    /// rounding; see [`Bank::range`]. What a survey found is forgotten.
    pub fn enclose(&mut self, range: impl Fn(u32) -> [f64; 2]) {
        for (to, &slot) in self.arguments.iter_mut().zip(&self.slots) {
            let [lo, hi] = range(slot);
            *to = [lo, hi, 0.0, 0.0, 0.0];
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
        let Function { family, member, output, .. } = self.functions[function];
        self.families[family as usize].range(member as usize, output as usize)
    }

    /// Chooses no function.
    pub fn choose_none(&mut self) {
        self.families.iter_mut().for_each(Family::choose_none);
    }

    /// Chooses a function for the next composition, in addition to those chosen before.
    #[inline]
    pub fn choose(&mut self, function: usize) {
        let Function { family, member, .. } = self.functions[function];
        self.families[family as usize].choose(member);
    }

    /// True if a function was chosen since the choice was given up last.
    #[inline]
    pub fn is_chosen(&self, function: usize) -> bool {
        let Function { family, member, .. } = self.functions[function];
        self.families[family as usize].is_chosen(member)
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
        let Function { family, member, output, .. } = self.functions[function];
        let family = &self.families[family as usize];
        let (row, lanes) = family.row(member as usize, output as usize, self.composed);
        let count =
            self.functions[function].degree.bound().map_or(self.composed, |d| self.composed.min(d + 1));
        let count = count.min(out.len());
        let (known, rest) = out.split_at_mut(count);
        known.iter_mut().zip(row.iter().step_by(lanes)).for_each(|(to, &from)| *to = from);
        rest.fill(0.0);
    }

    /// The rows of a chosen function that was composed.
    pub(super) fn view(&self, function: usize) -> View<'_> {
        let Function { family, member, output, .. } = self.functions[function];
        self.families[family as usize].view(member as usize, output as usize)
    }
}
