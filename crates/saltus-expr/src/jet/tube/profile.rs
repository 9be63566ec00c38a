//! The coefficients of the factors of products on a step: their magnitudes, and the sums of those
//! from each order on, from which follow the range of a polynomial and the terms of a product beyond
//! the order.

use super::bound::UNIT;
use crate::jet::RowPlace;
use crate::jet::range::Range;

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
    pub value: f64,
    /// Sums of the terms from order 1 on that rise, and of those that fall.
    pub rise: f64,
    pub fall: f64,
}

impl Extent {
    /// From the value at the start, the sum of the terms and that of their magnitudes.
    #[inline]
    pub fn new(value: f64, sum: f64, size: f64, order: usize) -> Extent {
        // Rounding of the sums and of the powers.
        let size = size * (1.0 + 4.0 * order as f64 * UNIT);
        let slack = 2.0 * order as f64 * UNIT * size;
        Extent { value, rise: 0.5 * (size + sum) + slack, fall: 0.5 * (size - sum) + slack }
    }

    /// Sum of the magnitudes from order 1 on.
    pub fn size(self) -> f64 {
        self.rise + self.fall
    }

    /// All values, and those up to a distance from them.
    pub fn range(self, radius: f64) -> Range {
        let slack = radius + 4.0 * UNIT * (self.value.abs() + self.rise + self.fall);
        Range { lo: self.value - self.fall - slack, hi: self.value + self.rise + slack }
    }
}

/// The profiles of the rows of a tape.
#[derive(Clone, Debug, Default)]
pub(super) struct Profiles {
    order: usize,
    /// `[row][k - 1]`: magnitudes of the coefficients of order k from 1 on.
    magnitudes: Vec<f64>,
    /// `[row][p - k]`: their sums from order k on. Backwards, so that the terms of a product beyond the
    /// order are those of one sum over neighbours.
    above: Vec<f64>,
    extents: Vec<Extent>,
    is_known: Vec<bool>,
}

impl Profiles {
    pub fn new(rows: usize, order: usize) -> Profiles {
        let numbers = vec![0.0; rows * order];
        let (extents, is_known) = (vec![Extent::default(); rows], vec![false; rows]);
        Profiles { order, magnitudes: numbers.clone(), above: numbers, extents, is_known }
    }

    /// Forgets the coefficients.
    pub fn clear(&mut self) {
        self.is_known.fill(false);
    }

    /// The extent of a row that was read.
    #[inline]
    pub fn known(&self, row: usize) -> Extent {
        self.extents[row]
    }

    /// The extent of a row that is kept; `starts` is false for rates, which have no coefficient of
    /// order 0.
    #[inline]
    pub fn extent(&mut self, from: Coefficients, row: usize, starts: bool) -> Extent {
        if !self.is_known[row] {
            self.is_known[row] = true;
            self.extents[row] = match from.places[row] {
                Some(place) => self.read(from, row, place, starts),
                None => Extent { value: f64::NAN, rise: f64::INFINITY, fall: f64::INFINITY },
            };
        }
        self.extents[row]
    }

    fn read(&mut self, from: Coefficients, row: usize, place: RowPlace, starts: bool) -> Extent {
        let order = self.order;
        let magnitudes = &mut self.magnitudes[row * order..(row + 1) * order];
        let above = &mut self.above[row * order..(row + 1) * order];
        let RowPlace { value, others } = place;
        let degree = others.degree.bound().map_or(order, |d| d.min(order));
        let [value, first, stride] = [value, others.base, others.stride].map(|i| i as usize * from.by);
        let value = if starts { from.arena[from.origin + value] } else { 0.0 };
        magnitudes[degree..].fill(0.0);
        above[..order - degree].fill(0.0);
        let (magnitudes, powers) = (&mut magnitudes[..degree], &from.powers[1..=degree]);
        let (mut sum, mut size) = (0.0, 0.0);
        let mut at = from.origin + first + degree * stride;
        for (j, above) in above[order - degree..].iter_mut().enumerate() {
            let k = degree - 1 - j;
            let term = from.arena[at] * powers[k];
            sum += term;
            size += term.abs();
            magnitudes[k] = term.abs();
            *above = size;
            at -= stride;
        }
        Extent::new(value, sum, size, order)
    }

    /// The sum of the magnitudes of the terms of a product beyond the order, both factors being known.
    pub fn tail(&self, a: usize, b: usize) -> f64 {
        let order = self.order;
        let (a, a_rest) = self.magnitudes[a * order..(a + 1) * order].as_chunks::<4>();
        let (b, b_rest) = self.above[b * order..(b + 1) * order].as_chunks::<4>();
        let mut sums = [0.0; 4];
        for (a, b) in a.iter().zip(b) {
            sums = std::array::from_fn(|i| sums[i] + a[i] * b[i]);
        }
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
        ((sums[0] + sums[1]) + (sums[2] + sums[3]) + rest) * (1.0 + 8.0 * order as f64 * UNIT)
    }
}
