//! Jets: Taylor coefficients along the flow of a plan.
//!
//! For every state and every slot a plan writes, the scaled coefficients c_k h^k of its expansion
//! in time are computed order by order: the coefficients of order k of all signals follow from
//! those of the states by recurrences, and the derivatives of order k give the states of order
//! k + 1. Only this last step is multiplied by h (1 / (k + 1)), so all rows are scaled alike.
//!
//! The pieces: [`Degree`] bounds the degree in time of each row, so what is known to be zero is not
//! computed; [`Lowered`] is a program rewritten into rows with one recurrence each; [`recurrence`]
//! defines every recurrence and the order of its operations once, for all evaluators; [`Schedule`]
//! binds the programs of a plan; [`JetMachine`] evaluates blocks with the same program side by side;
//! [`Bank`] evaluates those of many functions of the jets that matter; [`Tube`] proves how far the
//! flow is from its polynomials.
//!
//! Operations that are not smooth (abs, sign, min, max, floor, ceil, mod, select, comparisons,
//! tables) are locked: the branch or piece is chosen from the values at order 0 and kept.

mod bank;
mod convolution;
mod degree;
mod lanes;
mod lower;
mod machine;
mod origin;
mod range;
pub mod recurrence;
mod rows;
mod schedule;
mod tube;

pub use bank::{Bank, Bounds, Courses, Found, MOVES, Told, steady_until};
pub use degree::Degree;
pub(crate) use lower::JetCache;
pub use lower::{JetNode, LockRule, Lowered};
pub use machine::JetMachine;
pub use origin::move_origin;
pub use range::{Range, enclose};
pub use schedule::{Schedule, ScheduledBlock};
pub use tube::{Distance, Length, Obstacle, ObstacleKind, Radii, Roundings, SlotBound, Tube};

use saltus_num::polynomial::magnitude;

/// Where a slot's coefficients are kept: coefficient `k` is at `base + k * stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Position of the coefficient of order 0.
    pub base: u32,
    /// Distance between coefficients.
    pub stride: u32,
    /// Coefficients above this degree are zero and may have no place.
    pub degree: Degree,
}

/// Where the coefficients of a row are, that of order 0 possibly apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// Position of the coefficient of order 0, which rates do not have.
    pub value: u32,
    /// The place of the others.
    pub others: Place,
}

impl From<Place> for RowPlace {
    fn from(place: Place) -> Self {
        RowPlace { value: place.base, others: place }
    }
}

impl Place {
    /// Position of a coefficient not above the degree.
    #[inline]
    pub fn at(self, k: usize) -> usize {
        self.base as usize + k * self.stride as usize
    }
}

/// How the coefficients of a plan are laid out in memory.
#[derive(Clone, Debug, Default)]
pub struct JetLayout {
    /// Highest order.
    pub order: usize,
    /// Where the state matrix begins.
    pub states_base: usize,
    /// Number of states.
    pub states: usize,
    /// Length of a row of the state matrix, with padding.
    pub states_stride: usize,
    /// The place of each slot.
    pub places: Vec<Place>,
}

impl JetLayout {
    /// Length of a row of the state matrix for `states` states: whole groups of four.
    pub fn padded(states: usize) -> usize {
        states.next_multiple_of(4)
    }
}

/// The coefficients of all states: one row per order.
#[derive(Clone, Copy, Debug)]
pub struct StateMatrix<'a> {
    data: &'a [f64],
    states: usize,
    stride: usize,
}

impl<'a> StateMatrix<'a> {
    /// The coefficients of order `k`, in the order of the plan's states.
    #[inline]
    pub fn order(&self, k: usize) -> &'a [f64] {
        &self.data[k * self.stride..k * self.stride + self.states]
    }

    /// The coefficients of order `k` with padding of zeros to [`StateMatrix::stride`].
    #[inline]
    pub fn padded_order(&self, k: usize) -> &'a [f64] {
        &self.data[k * self.stride..(k + 1) * self.stride]
    }

    /// All rows one after another, `stride` numbers each.
    pub fn data(&self) -> &'a [f64] {
        self.data
    }

    /// Length of a row with padding.
    pub fn stride(&self) -> usize {
        self.stride
    }
}

/// An evaluator of jets; the virtual machine and native code give the same bits.
pub trait Jets {
    /// Computes all coefficients at a point: states, time and constants are read from `env`. Those of
    /// blocks that were left for later when the evaluator was made come with [`Jets::run_late`].
    /// Coefficient `k` comes out multiplied by `h_scale` to the power `k`.
    fn run(&mut self, env: &[f64], h_scale: f64);

    /// Takes time, the states and some constants, told by their slots, as a run does, but computes nothing: for
    /// those who read the coefficients of states that are changed by [`Jets::state_rows`].
    fn set_point(&mut self, env: &[f64], h_scale: f64, constants: &[u32]);

    /// Computes what evaluators in two parts leave for later, from the coefficients of the last run.
    fn run_late(&mut self);

    /// Where results are.
    fn layout(&self) -> &JetLayout;

    /// The memory that holds the results.
    fn arena(&self) -> &[f64];

    /// Where the coefficients of a row of a block's lowered program are, if they are kept: at least
    /// those of factors that change in time are.
    fn row_place(&self, block: usize, row: usize) -> Option<RowPlace>;

    /// Highest order computed.
    fn order(&self) -> usize {
        self.layout().order
    }

    /// The coefficients of all states.
    fn states(&self) -> StateMatrix<'_> {
        let layout = self.layout();
        let length = (layout.order + 1) * layout.states_stride;
        let data = &self.arena()[layout.states_base..layout.states_base + length];
        StateMatrix { data, states: layout.states, stride: layout.states_stride }
    }

    /// The coefficients of all states, row by row as [`StateMatrix::data`] gives them, to be changed.
    fn state_rows(&mut self) -> &mut [f64];

    /// Degree in time of a slot; higher coefficients are zero.
    fn degree(&self, slot: u32) -> Degree {
        self.layout().places[slot as usize].degree
    }

    /// Where the coefficients of a slot are in memory.
    fn row_in_memory(&self, slot: u32) -> RowInMemory {
        let layout = self.layout();
        let place = layout.places[slot as usize];
        let stride = place.stride.max(1) as usize;
        let first = place.at(0);
        RowInMemory { range: first..first + stride * place.degree.within(layout.order) + 1, stride }
    }

    /// One coefficient of a slot.
    fn coefficient(&self, slot: u32, k: usize) -> f64 {
        let place = self.layout().places[slot as usize];
        if place.degree.reaches(k) { self.arena()[place.at(k)] } else { 0.0 }
    }

    /// Copies the coefficients of a slot, as many as `out` has room for, at most order + 1.
    fn row(&self, slot: u32, out: &mut [f64]) {
        let place = self.layout().places[slot as usize];
        let span = out.len().min(self.order() + 1);
        let known = place.degree.bound().map_or(span, |d| span.min(d + 1));
        let (known, rest) = out[..span].split_at_mut(known);
        if place.stride == 1 {
            known.copy_from_slice(&self.arena()[place.at(0)..place.at(known.len())]);
        } else {
            let coefficients = self.arena()[place.at(0)..].iter().step_by(place.stride.max(1) as usize);
            known.iter_mut().zip(coefficients).for_each(|(to, &from)| *to = from);
        }
        rest.fill(0.0);
    }

    /// The coefficients of order 0, 1 and 2 of a slot, and the sum of the magnitudes of the others.
    fn weights(&self, slot: u32) -> [f64; 4] {
        let ([value, slope, bend], rest) = self.row_in_memory(slot).first_and_rest(self.arena());
        [value, slope, bend, rest]
    }

    /// The coefficients of order 0 and 1 of a slot, and the sum of the magnitudes of the others.
    fn spread(&self, slot: u32) -> [f64; 3] {
        self.row_in_memory(slot).spread(self.arena())
    }
}

/// Where the coefficients of a slot that are not zero by its degree are in the memory of jets: every
/// `stride`-th number of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowInMemory {
    range: std::ops::Range<usize>,
    stride: usize,
}

impl RowInMemory {
    /// The coefficients of order 0 and 1, and the sum of the magnitudes of the others.
    #[inline(always)]
    pub fn spread(&self, arena: &[f64]) -> [f64; 3] {
        let ([value, slope], rest) = self.first_and_rest(arena);
        [value, slope, rest]
    }

    /// The coefficient of order 0.
    #[inline(always)]
    pub fn value(&self, arena: &[f64]) -> f64 {
        arena[self.range.clone()].first().copied().unwrap_or(0.0)
    }

    /// The sum of the magnitudes of the last two coefficients.
    #[inline(always)]
    pub fn last_two(&self, arena: &[f64]) -> f64 {
        let last = self.range.end - 1;
        arena[last].abs() + arena[last.saturating_sub(self.stride)].abs()
    }

    /// The first coefficients, and the sum of the magnitudes of the others.
    #[inline(always)]
    fn first_and_rest<const N: usize>(&self, arena: &[f64]) -> ([f64; N], f64) {
        let row = &arena[self.range.clone()];
        if self.stride == 1
            && let Some((&first, others)) = row.split_first_chunk()
        {
            return (first, magnitude(others));
        }
        let first = std::array::from_fn(|k| row.get(k * self.stride).copied().unwrap_or(0.0));
        (first, magnitude_apart(row, N, self.stride))
    }
}

/// The sum of the magnitudes of the coefficients of a row with gaps from an order on.
#[inline(never)]
fn magnitude_apart(row: &[f64], order: usize, stride: usize) -> f64 {
    let others = row.get(order * stride..).unwrap_or_default();
    match stride {
        2 => even_magnitude(others),
        _ => others.iter().step_by(stride).map(|c| c.abs()).sum(),
    }
}

/// The sum of the magnitudes of every other number, from the first on.
fn even_magnitude(c: &[f64]) -> f64 {
    let (fours, rest) = c.as_chunks::<4>();
    let sums = fours.iter().fold([0.0; 2], |[x, y], four| [x + four[0].abs(), y + four[2].abs()]);
    sums[0] + sums[1] + rest.iter().step_by(2).map(|c| c.abs()).sum::<f64>()
}
