//! The coefficients of the factors of products on a step: their magnitudes, and the sums of those
//! from each order on, from which follow the range of a polynomial and the terms of a product beyond
//! the order.
//!
//! Rows are read four at a time, one in each lane. Once a row was asked for, it is read on every step.

use crate::jet::RowPlace;
use crate::jet::range::Range;
use crate::program::Reg;
use saltus_num::UNIT;
use saltus_num::vectors::{VectorWork, in_widest_vectors};

/// Rows that are read together.
const LANES: usize = 4;

/// In place of a row where there is none.
const NO_ROW: u32 = u32::MAX;

/// One number of each of some rows.
type Lanes = [f64; LANES];

/// Where the coefficients of the rows of a tape are.
#[derive(Clone, Copy)]
pub(super) struct Coefficients<'a> {
    pub arena: &'a [f64],
    /// For each row the place, as far as it is kept, and whether it has a coefficient of order 0.
    pub places: &'a [Option<RowPlace>],
    pub starts: &'a [bool],
    /// Position of the place 0 in the arena, and what all strides are multiplied by.
    pub origin: usize,
    pub by: usize,
    /// The powers of the length of the step over the scale of the coefficients.
    pub powers: &'a [f64],
}

impl Coefficients<'_> {
    /// Relative rounding of a coefficient of a convolution, with what is made of it.
    pub fn rounding(&self) -> f64 {
        (self.powers.len() + 7) as f64 * UNIT
    }
}

/// The range and size of a polynomial on 0 <= s <= 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    /// Its values are from `lo` to `hi`.
    pub lo: f64,
    pub hi: f64,
    /// Magnitude of the coefficient of order 0.
    pub start: f64,
    /// Sum of the magnitudes of the others.
    pub size: f64,
}

impl Extent {
    /// Of a polynomial of which nothing is known.
    pub const UNKNOWN: Extent =
        Extent { lo: f64::NEG_INFINITY, hi: f64::INFINITY, start: f64::INFINITY, size: f64::INFINITY };

    /// Sum of the magnitudes of all coefficients.
    #[inline(always)]
    pub fn whole(self) -> f64 {
        self.start + self.size
    }

    /// All values, and those up to a distance from them.
    #[inline(always)]
    pub fn range(self, radius: f64) -> Range {
        let slack = radius + 4.0 * UNIT * self.whole();
        Range { lo: self.lo - slack, hi: self.hi + slack }
    }
}

/// The extents of some rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    lo: Lanes,
    hi: Lanes,
    start: Lanes,
    size: Lanes,
}

impl Extents {
    pub const UNKNOWN: Extents = Extents {
        lo: [Extent::UNKNOWN.lo; LANES],
        hi: [Extent::UNKNOWN.hi; LANES],
        start: [Extent::UNKNOWN.start; LANES],
        size: [Extent::UNKNOWN.size; LANES],
    };

    #[inline(always)]
    pub fn get(&self, lane: usize) -> Extent {
        Extent { lo: self.lo[lane], hi: self.hi[lane], start: self.start[lane], size: self.size[lane] }
    }
}

/// Where a row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position(u32);

impl Position {
    const NONE: Position = Position(u32::MAX);

    #[inline(always)]
    pub fn group(self) -> usize {
        self.0 as usize / LANES
    }

    #[inline(always)]
    pub fn lane(self) -> usize {
        self.0 as usize % LANES
    }
}

/// The profiles of the rows of a tape.
#[derive(Clone, Debug, Default)]
pub(super) struct Profiles {
    order: usize,
    positions: Vec<Position>,
    /// The rows that are read, and whether they have a coefficient of order 0.
    rows: Vec<(u32, bool)>,
    /// `[group][k - 1]`: magnitudes of the coefficients of order k from 1 on.
    magnitudes: Vec<Lanes>,
    /// `[group][p - k]`: their sums from order k on. Backwards, so that the terms of a product beyond the
    /// order are those of one sum over neighbours.
    above: Vec<Lanes>,
    extents: Vec<Extents>,
    /// For each group where its coefficients are, if they are neighbours in memory.
    neighbours: Vec<Option<Neighbours>>,
    gathered: Vec<Lanes>,
}

/// Where neighbouring coefficients of order 0 are, and how many groups further those of the next order.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    base: usize,
    step: usize,
}

impl Profiles {
    /// For some rows, of which the first ones told, with a coefficient of order 0, are read at any rate.
    pub fn new(rows: usize, order: usize, first: &[usize], places: &[Option<RowPlace>]) -> Profiles {
        let mut profiles = Profiles { order, positions: vec![Position::NONE; rows], ..Profiles::default() };
        first.iter().for_each(|&row| profiles.place(row as u32, true));
        while !profiles.rows.len().is_multiple_of(LANES) {
            profiles.rows.push((NO_ROW, false));
        }
        profiles.find_neighbours(places);
        profiles
    }

    /// Reads the coefficients of all rows asked for so far.
    pub fn read(&mut self, from: &Coefficients) {
        for group in 0..self.extents.len() {
            self.read_group(from, group);
        }
    }

    /// Where a row is read, from now on, if it is kept.
    #[inline(always)]
    pub fn ask(&mut self, from: &Coefficients, row: Reg) -> Option<Position> {
        match self.positions[row.index()] {
            Position::NONE => self.take_up(from, row),
            position => Some(position),
        }
    }

    #[cold]
    #[inline(never)]
    fn take_up(&mut self, from: &Coefficients, row: Reg) -> Option<Position> {
        from.places[row.index()]?;
        self.place(row.0, from.starts[row.index()]);
        self.find_neighbours(from.places);
        let position = self.positions[row.index()];
        self.read_group(from, position.group());
        Some(position)
    }

    fn place(&mut self, row: u32, starts: bool) {
        let position = Position(self.rows.len() as u32);
        self.positions[row as usize] = position;
        self.rows.push((row, starts));
        if position.lane() == 0 {
            let room = self.order * (position.group() + 1);
            self.magnitudes.resize(room, [0.0; LANES]);
            self.above.resize(room, [0.0; LANES]);
            self.extents.push(Extents::UNKNOWN);
            self.neighbours.push(None);
        }
    }

    /// Finds out which coefficients are neighbours. Behind the states there are zeros up to whole groups.
    fn find_neighbours(&mut self, places: &[Option<RowPlace>]) {
        for (group, neighbours) in self.neighbours.iter_mut().enumerate() {
            *neighbours = self.rows.get(group * LANES..(group + 1) * LANES).and_then(|rows| {
                let first = places[rows[0].0 as usize]?.others;
                let is_next = |lane: usize, (row, starts): (u32, bool)| {
                    if row == NO_ROW {
                        return true;
                    }
                    let Some(RowPlace { value, others }) = places[row as usize] else { return false };
                    let base = first.base + lane as u32;
                    starts
                        && others.degree.reaches(self.order)
                        && [value, others.base] == [base; 2]
                        && others.stride == first.stride
                };
                let all = rows.iter().enumerate().all(|(lane, &row)| is_next(lane, row));
                let (base, step) = (first.base as usize, first.stride as usize / LANES);
                let is_whole = (first.stride as usize).is_multiple_of(LANES);
                (all && is_whole).then_some(Neighbours { base, step })
            });
        }
    }

    /// Where a row is read, if it is.
    pub fn position(&self, row: usize) -> Option<Position> {
        Some(self.positions[row]).filter(|&position| position != Position::NONE)
    }

    /// The extent of a row that is read.
    #[inline(always)]
    pub fn extent(&self, position: Position) -> Extent {
        self.extents[position.group()].get(position.lane())
    }

    fn read_group(&mut self, from: &Coefficients, group: usize) {
        let (source, step) = match self.neighbours[group] {
            Some(Neighbours { base, step }) if from.by == 1 && from.origin == 0 => {
                (from.arena[base..].as_chunks().0, step)
            }
            _ => {
                self.gather(from, group);
                (&self.gathered[..], 1)
            }
        };
        let all = group * self.order..(group + 1) * self.order;
        in_widest_vectors(Summing {
            source,
            step,
            powers: from.powers,
            magnitudes: &mut self.magnitudes[all.clone()],
            above: &mut self.above[all],
            extents: &mut self.extents[group],
        });
    }

    /// Brings together coefficients that are no neighbours.
    fn gather(&mut self, from: &Coefficients, group: usize) {
        let rows = &self.rows[group * LANES..self.rows.len().min((group + 1) * LANES)];
        let arena = &from.arena[from.origin..];
        self.gathered.resize(self.order + 1, [0.0; LANES]);
        let (mut steps, mut whole) = ([[0; 2]; LANES], rows.len() == LANES);
        for (lane, &(row, starts)) in rows.iter().enumerate() {
            self.gathered[0][lane] = 0.0;
            let Some(&Some(RowPlace { value, others })) = from.places.get(row as usize) else {
                whole = false;
                continue;
            };
            if starts {
                self.gathered[0][lane] = arena[value as usize * from.by];
            }
            steps[lane] = [others.base, others.stride].map(|i| i as usize * from.by);
            whole &= others.degree.reaches(self.order);
        }
        let others = &mut self.gathered[1..];
        if whole {
            let mut at = steps.map(|[first, _]| first);
            for to in others {
                for lane in 0..LANES {
                    at[lane] += steps[lane][1];
                    to[lane] = arena[at[lane]];
                }
            }
            return;
        }
        others.fill([0.0; LANES]);
        for (lane, &(row, _)) in rows.iter().enumerate() {
            let Some(&Some(RowPlace { others: place, .. })) = from.places.get(row as usize) else { continue };
            let [mut at, step] = steps[lane];
            for to in &mut others[..place.degree.within(self.order)] {
                at += step;
                to[lane] = arena[at];
            }
        }
    }

    /// The sum of the magnitudes of the terms of a product beyond the order, both factors being read.
    #[inline(always)]
    pub fn tail(&self, a: Position, b: Position) -> f64 {
        let of = |at: Position| at.group() * self.order..(at.group() + 1) * self.order;
        let (magnitudes, above) = (&self.magnitudes[of(a)], &self.above[of(b)]);
        let (a, b) = (a.lane(), b.lane());
        let ((x, x_rest), (y, y_rest)) = (magnitudes.as_chunks::<4>(), above.as_chunks::<4>());
        let mut sum = 0.0;
        for (x, y) in x.iter().zip(y) {
            sum += (x[0][a] * y[0][b] + x[1][a] * y[1][b]) + (x[2][a] * y[2][b] + x[3][a] * y[3][b]);
        }
        for (x, y) in x_rest.iter().zip(y_rest) {
            sum += x[a] * y[b];
        }
        sum * (1.0 + 8.0 * self.order as f64 * UNIT)
    }
}

/// Makes the sums of the terms of some rows, given by their coefficients.
struct Summing<'a> {
    /// Those of order k are at k times the step.
    source: &'a [Lanes],
    step: usize,
    powers: &'a [f64],
    magnitudes: &'a mut [Lanes],
    above: &'a mut [Lanes],
    extents: &'a mut Extents,
}

impl VectorWork for Summing<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let (mut sum, mut size) = ([0.0; LANES], [0.0; LANES]);
        let order = self.powers.len() - 1;
        let values = self.source[0];
        let (magnitudes, above) = (&mut self.magnitudes[..order], &mut self.above[..order]);
        for j in 0..order {
            let k = order - j;
            let (power, mut term) = (self.powers[k], self.source[k * self.step]);
            for lane in 0..LANES {
                term[lane] *= power;
                sum[lane] += term[lane];
                term[lane] = term[lane].abs();
                size[lane] += term[lane];
            }
            magnitudes[k - 1] = term;
            above[j] = size;
        }
        // Rounding of the sums and of the powers.
        let rounding = 8.0 * order as f64 * UNIT;
        for lane in 0..LANES {
            let size = size[lane] * (1.0 + rounding);
            let (middle, start) = (values[lane] + 0.5 * sum[lane], values[lane].abs());
            let reach = 0.5 * size + (rounding * size + 4.0 * UNIT * start);
            self.extents.lo[lane] = middle - reach;
            self.extents.hi[lane] = middle + reach;
            self.extents.start[lane] = start;
            self.extents.size[lane] = size;
        }
    }
}
