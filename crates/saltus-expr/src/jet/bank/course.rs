//! Courses: polynomials that the arguments of a bank keep to, as far as can be told from step to step.
//!
//! What a survey found of a function remains true beyond its step as long as its arguments are what
//! they were expected to be. So the survey is made for courses, with a slack, and on each step it is
//! tested that the new polynomial of an argument stays within the slack of its course. Where it does
//! not, because a jump has changed the flow or the course was not that good, the new polynomial is
//! the course from then on, and what was found of the functions that read it is forgotten.

use super::bounds::{Bounds, GROUP};
use super::{Bank, Told};
use crate::jet::origin::{Lanes, shift};
use crate::jet::{Jets, Place};
use saltus_num::UNIT;
use saltus_num::vectors::{VectorWork, in_widest_vectors};

/// The share of the slack that a course may be off; the rest covers the rounding of its shifts and, in
/// proofs, the distance of the flow from its polynomials.
const SHARE: f64 = 0.75;

/// So many changes of the origin of a polynomial are counted in proofs.
pub const MOVES: u64 = 64;

/// Where the coefficients of a group are in the jets if they are neighbours there: from a position on, and so
/// many groups further from order to order.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    base: usize,
    step: usize,
}

impl Neighbours {
    /// Copies the coefficients of a group.
    #[inline(always)]
    fn copy(self, arena: &[f64], to: &mut [Lanes]) {
        let orders = arena[self.base..].as_chunks().0.chunks(self.step);
        to.iter_mut().zip(orders).for_each(|(to, from)| *to = from[0]);
    }
}

/// The courses of all arguments of a bank.
#[derive(Clone, Debug, Default)]
pub struct Courses {
    /// Number of coefficients.
    span: usize,
    /// Relative rounding of all changes of the origin, twice that of each coefficient in each of them, and as much
    /// again since polynomials may have been greater then.
    moving: f64,
    /// Coefficients in units of the jets, `[group][order]`: of the courses, and of the new
    /// polynomials.
    rows: Vec<Lanes>,
    fresh: Vec<Lanes>,
    /// Where the new ones come from, nearly always four states that are neighbours.
    neighbours: Vec<Option<Neighbours>>,
    /// What they may differ by, and what they differ by at most on the step.
    slack: Vec<Lanes>,
    /// What they may be off on the step alone, where they are the new polynomials.
    step_slack: Vec<Lanes>,
    distance: Vec<Lanes>,
    /// Bounds of the courses, and of the new polynomials.
    bounds: Vec<Bounds>,
    step_bounds: Vec<Bounds>,
    /// The courses are the new polynomials.
    are_exact: bool,
    /// Groups that are left, or to be bounded.
    groups: Vec<usize>,
    is_listed: Vec<bool>,
}

impl Courses {
    /// Forgets everything, for a bank and the jets of its arguments, of at least the second order, whose layout must stay as it is.
    pub fn reset(&mut self, bank: &Bank, jets: &(impl Jets + ?Sized)) {
        self.span = jets.order() + 1;
        self.moving = 4.0 * self.span as f64 * MOVES as f64 * UNIT;
        let groups = bank.slots().len().div_ceil(GROUP);
        for rows in [&mut self.rows, &mut self.fresh] {
            rows.clear();
            rows.resize(groups * self.span, [0.0; GROUP]);
        }
        for rows in [&mut self.slack, &mut self.step_slack, &mut self.distance] {
            rows.clear();
            rows.resize(groups, [0.0; GROUP]);
        }
        for bounds in [&mut self.bounds, &mut self.step_bounds] {
            bounds.clear();
            bounds.resize(groups * GROUP, Bounds::default());
        }
        self.is_listed.clear();
        self.is_listed.resize(groups, false);
        self.neighbours.clear();
        self.neighbours.extend(bank.slots().chunks(GROUP).map(|slots| neighbours(slots, jets)));
        // Nothing is near to what is no number.
        self.rows.fill([f64::NAN; GROUP]);
    }

    /// Changes the unit of time by a factor that is a power of two.
    pub fn rescale(&mut self, factor: f64) {
        for group in self.rows.chunks_exact_mut(self.span) {
            let mut power = 1.0;
            for lanes in group {
                *lanes = lanes.map(|c| c * power);
                power *= factor;
            }
        }
    }

    /// Compares the courses, `past` units of time later, with new polynomials on a step of some length.
    /// Arguments that leave theirs take a new one, with the slack told for their value, and are
    /// reported by position.
    pub fn follow(
        &mut self,
        bank: &Bank,
        jets: &(impl Jets + ?Sized),
        [past, length]: [f64; 2],
        slack: impl Fn(f64) -> f64,
        mut left: impl FnMut(usize),
    ) {
        self.are_exact = false;
        self.gather(bank, jets);
        let arena = jets.arena();
        in_widest_vectors(Testing { courses: self, arena, past, length });
        let Courses { span, rows, fresh, slack: slacks, distance, groups, .. } = self;
        for group in groups.drain(..) {
            let all = group * *span..(group + 1) * *span;
            let (rows, fresh) = (&mut rows[all.clone()], &fresh[all]);
            for lane in 0..GROUP {
                if keeps(distance[group], slacks[group], lane) {
                    continue;
                }
                rows.iter_mut().zip(fresh).for_each(|(course, fresh)| course[lane] = fresh[lane]);
                let argument = group * GROUP + lane;
                if argument < bank.slots().len() {
                    // Constants are taken for exact.
                    let is_constant = bank.constants.contains(&(argument as u32));
                    slacks[group][lane] = if is_constant { 0.0 } else { slack(fresh[0][lane]) };
                    left(argument);
                }
            }
        }
        self.bound_courses(bank, None);
    }

    /// Takes the polynomials of the jets for courses, which may then be off by nothing but what is told of
    /// each. Those that are not the ones they were are told by position, with their slack, and are reported,
    /// as are constants with another value.
    pub fn take(
        &mut self,
        bank: &Bank,
        jets: &(impl Jets + ?Sized),
        renewed: impl Iterator<Item = (usize, f64)>,
        mut left: impl FnMut(usize),
    ) {
        self.are_exact = true;
        self.gather(bank, jets);
        for (argument, slack) in renewed {
            self.slack[argument / GROUP][argument % GROUP] = slack;
            left(argument);
        }
        let first_constant = bank.slots.len() - bank.constants.len();
        for argument in first_constant..bank.slots.len() {
            let (value, lane) = (argument / GROUP * self.span, argument % GROUP);
            let fresh = self.fresh[value][lane];
            if std::mem::replace(&mut self.rows[value][lane], fresh) != fresh {
                left(argument);
            }
        }
        self.bound_courses(bank, Some(jets.arena()));
    }

    /// How far an argument may be off on the step alone, which may be less than its slack.
    #[inline(always)]
    pub fn set_on_step(&mut self, argument: usize, slack: f64) {
        self.step_slack[argument / GROUP][argument % GROUP] = slack;
    }

    /// Bounds all courses, which are the polynomials of jets if their memory is given.
    fn bound_courses(&mut self, bank: &Bank, arena: Option<&[f64]>) {
        let rounding = if bank.counts_rounding { self.moving } else { 0.0 };
        self.groups.extend(0..self.slack.len());
        in_widest_vectors(Bounding {
            courses: self,
            arena,
            is_step: false,
            length: 1.0,
            share: 1.0,
            rounding,
        });
    }

    /// Bounds some functions of a bank on their courses up to 1 in units of the jets.
    pub fn survey(&self, bank: &mut Bank, functions: &[u32], tell: impl FnMut(u32, Told)) {
        let have_errors = !self.are_exact;
        bank.survey_some(functions, (&self.bounds, have_errors), tell);
    }

    /// True if the courses are the new polynomials, so that what is found of functions on their courses holds on
    /// each part of the step.
    pub fn are_exact(&self) -> bool {
        self.are_exact
    }

    /// How far each argument may be off its course.
    pub fn slack(&self) -> &[f64] {
        self.slack.as_flattened()
    }

    /// Bounds some functions of a bank on the new polynomials, up to a length that is the unit; the memory of
    /// their jets is given.
    pub fn survey_step(
        &mut self,
        bank: &mut Bank,
        arena: &[f64],
        length: f64,
        functions: &[u32],
        tell: impl FnMut(u32, Told),
    ) {
        let [share, rounding] = match (bank.counts_rounding, self.are_exact) {
            (true, true) => [1.0, self.moving],
            (true, false) => [1.0 - SHARE, self.moving],
            (false, _) => [0.0; 2],
        };
        for argument in functions.iter().flat_map(|&function| bank.arguments_of(function as usize)) {
            let group = argument as usize / GROUP;
            if !std::mem::replace(&mut self.is_listed[group], true) {
                self.groups.push(group);
            }
        }
        self.groups.iter().for_each(|&group| self.is_listed[group] = false);
        in_widest_vectors(Bounding {
            courses: self,
            arena: Some(arena),
            is_step: true,
            length,
            share,
            rounding,
        });
        bank.survey_some(functions, (&self.step_bounds, false), tell);
    }

    /// Takes the polynomials that are no neighbours in the jets.
    fn gather(&mut self, bank: &Bank, jets: &(impl Jets + ?Sized)) {
        let (arena, places) = (jets.arena(), &jets.layout().places);
        let groups = bank.slots().chunks(GROUP).zip(self.fresh.chunks_exact_mut(self.span));
        for ((slots, rows), _) in groups.zip(&self.neighbours).filter(|(_, known)| known.is_none()) {
            for (lane, place) in slots.iter().map(|&slot| places[slot as usize]).enumerate() {
                let known = place.degree.bound().map_or(rows.len(), |d| rows.len().min(d + 1));
                for (k, row) in rows[..known].iter_mut().enumerate() {
                    row[lane] = arena[place.at(k)];
                }
            }
        }
    }
}

/// Where the polynomials of some slots are if they are neighbours of the full order.
fn neighbours(slots: &[u32], jets: &(impl Jets + ?Sized)) -> Option<Neighbours> {
    let place = |slot: u32| jets.layout().places[slot as usize];
    let first = place(slots[0]);
    let is_next = |(&slot, i)| place(slot) == Place { base: first.base + i, ..first };
    let are_four = slots.len() == GROUP && slots.iter().zip(0..).all(is_next);
    let stride = first.stride as usize;
    let is_whole = first.degree.reaches(jets.order()) && stride.is_multiple_of(GROUP);
    (are_four && is_whole).then_some(Neighbours { base: first.base as usize, step: stride / GROUP })
}

/// True if the argument in a lane keeps to its course.
#[inline(always)]
fn keeps(distance: Lanes, slack: Lanes, lane: usize) -> bool {
    distance[lane] <= SHARE * slack[lane]
}

/// Moves the origin of courses and bounds the distance of the new polynomials from them on a step. Lists the
/// groups of which some leave their courses.
struct Testing<'a> {
    courses: &'a mut Courses,
    arena: &'a [f64],
    past: f64,
    length: f64,
}

impl VectorWork for Testing<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Courses { span, rows, fresh, neighbours, slack, distance, groups, .. } = self.courses;
        let polynomials = rows.chunks_exact_mut(*span).zip(fresh.chunks_exact_mut(*span));
        let limits = slack.iter().zip(distance.iter_mut());
        for (group, (((course, fresh), neighbours), (slack, distance))) in
            polynomials.zip(neighbours.iter()).zip(limits).enumerate()
        {
            if let Some(neighbours) = *neighbours {
                neighbours.copy(self.arena, fresh);
            }
            shift(course, self.past);
            let mut sum = [0.0; GROUP];
            for (course, fresh) in course.iter().zip(&*fresh).rev() {
                for lane in 0..GROUP {
                    sum[lane] = sum[lane] * self.length + (course[lane] - fresh[lane]).abs();
                }
            }
            *distance = sum;
            if (0..GROUP).fold(false, |any, lane| any | !keeps(sum, *slack, lane)) {
                groups.push(group);
            }
        }
    }
}

/// Bounds the listed groups of courses, or of the polynomials of jets whose memory is given, up to a length.
struct Bounding<'a> {
    courses: &'a mut Courses,
    arena: Option<&'a [f64]>,
    /// For the step alone.
    is_step: bool,
    length: f64,
    /// The share of the slack that they may be off, and their relative rounding.
    share: f64,
    rounding: f64,
}

impl VectorWork for Bounding<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Bounding { courses, arena, is_step, length, share, rounding } = self;
        let is_less = is_step && courses.are_exact;
        let Courses { span, rows, fresh, neighbours, slack, step_slack, bounds, step_bounds, groups, .. } =
            courses;
        let slack = if is_less { step_slack } else { slack };
        let bounds = if is_step { step_bounds } else { bounds }.as_chunks_mut::<GROUP>().0;
        for group in groups.drain(..) {
            let all = group * *span..(group + 1) * *span;
            let (row, step) = match (arena, neighbours[group]) {
                (None, _) => (&rows[all], 1),
                (Some(arena), Some(Neighbours { base, step })) => (arena[base..].as_chunks().0, step),
                (Some(_), None) => (&fresh[all], 1),
            };
            let row = &row[..(*span - 1) * step + 1];
            let mut rest = [0.0; GROUP];
            for k in (3..*span).rev() {
                let others = &row[k * step];
                rest = std::array::from_fn(|lane| (rest[lane] + others[lane].abs()) * length);
            }
            let [value, slope, bend] = [0, step, 2 * step].map(|at| row[at]);
            let slack = &slack[group];
            let [once, twice] = [length, length * length];
            for (lane, bounds) in bounds[group].iter_mut().enumerate() {
                let (value, slope, bend, rest) =
                    (value[lane], slope[lane] * once, bend[lane] * twice, rest[lane] * twice);
                let size = value.abs() + slope.abs() + bend.abs() + rest;
                *bounds = [value, slope, bend, rest, share * slack[lane] + rounding * size];
            }
        }
    }
}
