//! The coefficients of the factors of products on a step: their magnitudes, and the sums of those
//! from each order on, from which follow the range of a polynomial and the terms of a product beyond
//! the order.
//!
//! Rows are read four at a time, one in each lane. Once a row was asked for, it is read on every step.

use super::bound::UNIT;
use crate::jet::RowPlace;
use crate::jet::bank::{VectorWork, in_widest_vectors};
use crate::jet::range::Range;

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
    /// For each row the place, as far as it is kept.
    pub places: &'a [Option<RowPlace>],
    /// Position of the place 0 in the arena, and what all strides are multiplied by.
    pub origin: usize,
    pub by: usize,
    /// The powers of the length of the step over the scale of the coefficients.
    pub powers: &'a [f64],
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

    pub fn set(&mut self, lane: usize, Extent { lo, hi, start, size }: Extent) {
        (self.lo[lane], self.hi[lane], self.start[lane], self.size[lane]) = (lo, hi, start, size);
    }

    /// True if all are within limits.
    #[inline(always)]
    pub fn are_within(&self, limits: &Extents) -> bool {
        let mut within = true;
        for lane in 0..LANES {
            within &= self.lo[lane] >= limits.lo[lane]
                && self.hi[lane] <= limits.hi[lane]
                && self.size[lane] <= limits.size[lane]
                && self.start[lane] <= limits.start[lane];
        }
        within
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
}

/// Where neighbouring coefficients of order 0 are, and the distance of those of the next order.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    base: usize,
    stride: usize,
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
    pub fn read(&mut self, from: Coefficients) {
        for group in 0..self.extents.len() {
            self.read_group(from, group);
        }
    }

    /// Where a row is read, from now on; it must be kept.
    #[inline(always)]
    pub fn ask(&mut self, from: Coefficients, row: usize, starts: bool) -> Position {
        if self.positions[row] == Position::NONE {
            self.take_up(from, row, starts);
        }
        self.positions[row]
    }

    #[cold]
    fn take_up(&mut self, from: Coefficients, row: usize, starts: bool) {
        self.place(row as u32, starts);
        self.find_neighbours(from.places);
        self.read_group(from, self.positions[row].group());
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
    pub fn find_neighbours(&mut self, places: &[Option<RowPlace>]) {
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
                all.then_some(Neighbours { base: first.base as usize, stride: first.stride as usize })
            });
        }
    }

    /// Where a row is read, if it is.
    pub fn position(&self, row: usize) -> Option<Position> {
        Some(self.positions[row]).filter(|&position| position != Position::NONE)
    }

    /// The extents of rows that are read.
    pub fn extents(&self) -> &[Extents] {
        &self.extents
    }

    /// The extent of a row that is read.
    #[inline(always)]
    pub fn extent(&self, position: Position) -> Extent {
        self.extents[position.group()].get(position.lane())
    }

    fn read_group(&mut self, from: Coefficients, group: usize) {
        let values = match self.neighbours[group] {
            Some(Neighbours { base, stride }) if from.by == 1 && from.origin == 0 => {
                self.copy(from.arena, base, stride, group)
            }
            _ => self.gather(from, group),
        };
        let all = group * self.order..(group + 1) * self.order;
        let (magnitudes, above) = (&mut self.magnitudes[all.clone()], &mut self.above[all]);
        let powers = &from.powers[1..];
        in_widest_vectors(Summing { magnitudes, above, powers, values, extents: &mut self.extents[group] });
    }

    /// Takes the coefficients of neighbours; those of order 0 are returned.
    fn copy(&mut self, arena: &[f64], base: usize, stride: usize, group: usize) -> Lanes {
        let at = |k: usize| arena[base + k * stride..].first_chunk().copied().unwrap_or_default();
        let to = &mut self.magnitudes[group * self.order..(group + 1) * self.order];
        for (k, to) in to.iter_mut().enumerate() {
            *to = at(k + 1);
        }
        at(0)
    }

    /// The same from wherever they are.
    fn gather(&mut self, from: Coefficients, group: usize) -> Lanes {
        let rows = &self.rows[group * LANES..self.rows.len().min((group + 1) * LANES)];
        let magnitudes = &mut self.magnitudes[group * self.order..(group + 1) * self.order];
        let mut values = [0.0; LANES];
        for (lane, &(row, starts)) in rows.iter().enumerate() {
            let Some(&Some(RowPlace { value, others })) = from.places.get(row as usize) else { continue };
            let [value, first, stride] = [value, others.base, others.stride].map(|i| i as usize * from.by);
            if starts {
                values[lane] = from.arena[from.origin + value];
            }
            let degree = others.degree.bound().map_or(self.order, |d| d.min(self.order));
            let (known, rest) = magnitudes.split_at_mut(degree);
            let mut at = from.origin + first;
            for to in known {
                at += stride;
                to[lane] = from.arena[at];
            }
            rest.iter_mut().for_each(|to| to[lane] = 0.0);
        }
        values
    }

    /// The sum of the magnitudes of the terms of a product beyond the order, both factors being read.
    pub fn tail(&self, a: Position, b: Position) -> f64 {
        let of = |at: Position| at.group() * self.order..(at.group() + 1) * self.order;
        let (magnitudes, above) = (&self.magnitudes[of(a)], &self.above[of(b)]);
        let (a, b) = (a.lane(), b.lane());
        let mut sum = 0.0;
        for (x, y) in magnitudes.iter().zip(above) {
            sum += x[a] * y[b];
        }
        sum * (1.0 + 8.0 * self.order as f64 * UNIT)
    }
}

/// Makes the sums of the terms of some rows, given by their coefficients.
struct Summing<'a> {
    magnitudes: &'a mut [Lanes],
    above: &'a mut [Lanes],
    powers: &'a [f64],
    values: Lanes,
    extents: &'a mut Extents,
}

impl VectorWork for Summing<'_> {
    #[inline(always)]
    fn work(self) {
        let (mut sum, mut size) = ([0.0; LANES], [0.0; LANES]);
        let count = self.powers.len();
        let (magnitudes, above) = (&mut self.magnitudes[..count], &mut self.above[..count]);
        for j in 0..count {
            let k = count - 1 - j;
            let (power, mut term) = (self.powers[k], magnitudes[k]);
            for lane in 0..LANES {
                term[lane] *= power;
                sum[lane] += term[lane];
                term[lane] = term[lane].abs();
                size[lane] += term[lane];
            }
            magnitudes[k] = term;
            above[j] = size;
        }
        // Rounding of the sums and of the powers.
        let rounding = 8.0 * self.powers.len() as f64 * UNIT;
        for lane in 0..LANES {
            let size = size[lane] * (1.0 + rounding);
            let (middle, start) = (self.values[lane] + 0.5 * sum[lane], self.values[lane].abs());
            let reach = 0.5 * size + (rounding * size + 4.0 * UNIT * start);
            self.extents.lo[lane] = middle - reach;
            self.extents.hi[lane] = middle + reach;
            self.extents.start[lane] = start;
            self.extents.size[lane] = size;
        }
    }
}
