//! A clearing: a box of time, states and constants in which guards are known to keep their signs.
//!
//! The polynomials of guards matter near their zeros alone. As long as those of the states stay in the
//! clearing, by the sizes of their coefficients, nothing is computed of the guards that are left for later.
//! Where the states leave it, a greater one is tried: a flow that stays in a bounded region soon has one
//! that holds all of it. That the guards have no zero in it is told by interval arithmetic.

use crate::compile::Signs;
use saltus_expr::jet::{Range, StateMatrix, enclose};
use saltus_expr::{FlowPlan, PlanBlock};
use saltus_num::MARGIN;
use saltus_num::elementary::powi;
use saltus_num::vectors::{VectorWork, in_widest_vectors};

/// Steps out of the clearing that pay for another one, and what is there at first: where guards are near
/// zero now and again, attempts would cost more than they save.
const PRICE: u32 = 32;
const SAVINGS: u32 = 8 * PRICE;
/// How much wider than the last one and the way of the step together a clearing is to be at each side,
/// as shares of the width.
const WIDER: [f64; 2] = [1.0, 0.125];
/// The same for one around the way of the step alone.
const AROUND: [f64; 2] = [8.0, 1.0];

const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// One number of each of four neighbouring states.
type Four = [f64; 4];

/// The guards of a combination that are left for later, and their clearing.
#[derive(Debug, Default)]
pub(crate) struct Clearing {
    units: Vec<PlanBlock>,
    /// The active atoms that they are, with their signs in the clearing.
    atoms: Vec<(u32, i8)>,
    /// Enclosures of a guard and what it is made of.
    registers: Vec<Range>,
    /// The slots of what moves among their arguments, and what it is.
    moving: Vec<(u32, Moving)>,
    /// True if there is a clearing: where it is, and for which constants, by slot.
    is_open: bool,
    region: Region,
    constants: Vec<(u32, f64)>,
    /// What the last attempt began with: the ranges on the step, and the region that was tried.
    passed: Region,
    tried: Region,
    /// Steps that were not yet spent on attempts.
    savings: u32,
}

#[derive(Clone, Copy, Debug)]
enum Moving {
    Time,
    /// The position of a group in regions, and the lane there.
    State(usize, usize),
}

/// Ranges of time and of groups of states; those of states that do not matter are infinite.
#[derive(Clone, Debug)]
struct Region {
    time: [f64; 2],
    groups: Vec<Group>,
}

/// Ranges of four neighbouring states, the first of which is number `4 * index`.
#[derive(Clone, Copy, Debug)]
struct Group {
    index: usize,
    ends: [Four; 2],
}

/// A step: what the states do on it, first and last time, and the values at its start.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub course: Course<'a>,
    pub time: [f64; 2],
    pub env: &'a [f64],
}

/// Polynomials of states on a step: their coefficients in groups of four, order after order, and the
/// greatest power above order 0 on it.
#[derive(Clone, Copy)]
pub(crate) struct Course<'a> {
    coefficients: &'a [Four],
    groups: usize,
    greatest: f64,
}

impl Clearing {
    /// For the guards of a plan from a block on, which [`Clearing::suits`], and the slots of the active
    /// atoms.
    pub fn new(plan: &FlowPlan, late_block: usize, atom_slots: &[u32]) -> Self {
        let units = &plan.blocks[late_block..];
        let position = |slot: &u32| atom_slots.iter().position(|s| s == slot);
        let atom = |slot| (position(slot).expect("guards of active blocks are active") as u32, 0);
        let mut clearing = Self { units: units.to_vec(), ..Self::default() };
        clearing.atoms = units.iter().flat_map(|unit| &unit.outputs).map(atom).collect();
        let mut slots: Vec<u32> = units.iter().flat_map(|unit| unit.inputs.iter().copied()).collect();
        slots.sort_unstable();
        slots.dedup();
        for slot in slots {
            match clearing.moving(plan, slot) {
                Some(moving) => clearing.moving.push((slot, moving)),
                None => clearing.constants.push((slot, f64::NAN)),
            }
        }
        (clearing.passed, clearing.tried) = (clearing.region.clone(), clearing.region.clone());
        clearing.close();
        clearing
    }

    fn moving(&mut self, plan: &FlowPlan, slot: u32) -> Option<Moving> {
        if slot == plan.time_slot {
            return Some(Moving::Time);
        }
        let state = plan.states.iter().position(|&(x, _)| x == slot)?;
        let groups = &mut self.region.groups;
        let group = groups.iter().position(|group| group.index == state / 4).unwrap_or_else(|| {
            groups.push(Group { index: state / 4, ends: UNBOUNDED.map(|end| [end; 4]) });
            groups.len() - 1
        });
        Some(Moving::State(group, state % 4))
    }

    /// True if a guard is worth to be left for later and may be: it multiplies what moves, and reads
    /// nothing that the blocks of a plan write.
    pub fn suits(unit: &PlanBlock, moves: impl Fn(u32) -> bool, is_written: &[bool]) -> bool {
        unit.multiplies(moves) && unit.inputs.iter().all(|&slot| !is_written[slot as usize])
    }

    /// Number of units that are left for later.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// Number of active atoms that are left for later.
    pub fn atoms(&self) -> usize {
        self.atoms.len()
    }

    /// True if an active atom is left for later.
    pub fn has(&self, p: usize) -> bool {
        self.atoms.iter().any(|&(atom, _)| atom as usize == p)
    }

    /// Forgets the clearing.
    pub fn close(&mut self) {
        self.is_open = false;
        self.savings = SAVINGS;
    }

    /// True if all guards are known to keep these signs on a step.
    #[inline]
    pub fn holds(&self, signs: &[Signs], step: &Step<'_>) -> bool {
        self.is_open
            && self.atoms.iter().all(|&(p, sign)| signs[p as usize].now == sign)
            && self.constants.iter().all(|&(slot, value)| step.env[slot as usize] == value)
            && self.region.time[0] <= step.time[0]
            && step.time[1] <= self.region.time[1]
            && in_widest_vectors(Holding(&self.region.groups, step.course))
    }

    /// Tries to make a clearing that holds a step on which all guards keep these signs.
    pub fn open(&mut self, signs: &[Signs], step: &Step<'_>) {
        self.savings += 1;
        if self.savings < PRICE {
            return;
        }
        self.savings -= PRICE;
        self.constants.iter_mut().for_each(|(slot, value)| *value = step.env[*slot as usize]);
        self.passed.time = step.time;
        for group in &mut self.passed.groups {
            group.ends = step.course.range(group.index);
        }
        let last = self.is_open.then_some(&self.region);
        let greater = WIDER.iter().filter(|_| last.is_some()).map(|&share| (last, share));
        self.is_open = greater.chain(AROUND.map(|share| (None, share))).any(|(last, share)| {
            for &(_, moving) in &self.moving {
                let [mut lo, mut hi] = self.passed.range_of(moving);
                if let Some([least, greatest]) = last.map(|last| last.range_of(moving)) {
                    (lo, hi) = (lo.min(least), hi.max(greatest));
                }
                let more = share * (hi - lo);
                self.tried.set(moving, [lo - more, hi + more]);
            }
            let range = |slot: &u32| match self.moving.iter().find(|(moving, _)| moving == slot) {
                Some(&(_, moving)) => {
                    let [lo, hi] = self.tried.range_of(moving);
                    Range { lo, hi }
                }
                None => Range { lo: step.env[*slot as usize], hi: step.env[*slot as usize] },
            };
            let mut atoms = self.atoms.iter();
            self.units.iter().all(|unit| {
                let inputs = unit.inputs.iter().map(range);
                enclose(&unit.program, inputs, &mut self.registers);
                let guards = unit.program.outputs().iter().map(|r| self.registers[r.index()]);
                guards.zip(&mut atoms).all(|(guard, &(p, _))| keeps(signs[p as usize].now, guard))
            })
        });
        if self.is_open {
            std::mem::swap(&mut self.region, &mut self.tried);
            self.atoms.iter_mut().for_each(|(p, sign)| *sign = signs[*p as usize].now);
        }
    }
}

/// True if all numbers of a range have a sign that is not zero.
fn keeps(sign: i8, range: Range) -> bool {
    match sign {
        1 => range.lo > 0.0,
        -1 => range.hi < 0.0,
        _ => false,
    }
}

impl Default for Region {
    fn default() -> Self {
        Self { time: UNBOUNDED, groups: Vec::new() }
    }
}

impl Region {
    fn range_of(&self, moving: Moving) -> [f64; 2] {
        match moving {
            Moving::Time => self.time,
            Moving::State(group, lane) => self.groups[group].ends.map(|four| four[lane]),
        }
    }

    fn set(&mut self, moving: Moving, range: [f64; 2]) {
        match moving {
            Moving::Time => self.time = range,
            Moving::State(group, lane) => {
                self.groups[group].ends.iter_mut().zip(range).for_each(|(four, end)| four[lane] = end);
            }
        }
    }
}

impl Group {
    #[inline(always)]
    fn holds(&self, [lo, hi]: [Four; 2]) -> bool {
        let [least, greatest] = &self.ends;
        (0..4).fold(true, |holds, i| holds & (least[i] <= lo[i]) & (hi[i] <= greatest[i]))
    }
}

/// Whether all groups hold what the states do on a step.
struct Holding<'a>(&'a [Group], Course<'a>);

impl VectorWork for Holding<'_> {
    type Output = bool;

    #[inline(always)]
    fn work(self) -> bool {
        let holds = |group: &Group| group.holds(self.1.range(group.index));
        match self.0 {
            [group] => holds(group),
            groups => groups.iter().all(holds),
        }
    }
}

impl<'a> Course<'a> {
    /// Polynomials of some degree on a step of `ratio` units.
    #[inline]
    pub fn new(states: StateMatrix<'a>, degree: usize, ratio: f64) -> Self {
        let greatest = if ratio <= 1.0 { ratio } else { powi(ratio, degree as i32) };
        let groups = states.stride() / 4;
        let coefficients = &states.data().as_chunks().0[..(degree + 1) * groups];
        Self { coefficients, groups, greatest: greatest * (1.0 + MARGIN) }
    }

    /// The ranges of a group of states: their values, and the sizes of all other terms. They are right
    /// but for the rounding of a state.
    #[inline(always)]
    fn range(self, group: usize) -> [Four; 2] {
        let (start, others) = self.coefficients.split_at(self.groups);
        let sums = if self.groups == 1 {
            sum_of_sizes(others.iter())
        } else {
            sum_of_sizes(others[group..].iter().step_by(self.groups))
        };
        let mut ends = [start[group]; 2];
        for i in 0..4 {
            ends[0][i] -= self.greatest * sums[i];
            ends[1][i] += self.greatest * sums[i];
        }
        ends
    }
}

/// The sums of the magnitudes of some rows, lane by lane.
#[inline(always)]
fn sum_of_sizes<'a>(rows: impl Iterator<Item = &'a Four>) -> Four {
    rows.fold([0.0; 4], |sums, row| std::array::from_fn(|i| sums[i] + row[i].abs()))
}
