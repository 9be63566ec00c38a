//! The polynomial in force: states over one step, and the places where guards are zero on it.

use saltus_num::vectors::{VectorWork, in_widest_vectors};

/// What changes where a guard polynomial is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Crossing {
    /// An active atom, by position, gets this sign.
    Atom(u32, i8),
    /// A stair switch gets this index, having met this edge.
    Stair { switch: u32, index: f64, edge: f64 },
}

/// A zero of a guard on the step, in units of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepRoot {
    /// Bracket of the zero.
    pub lo: f64,
    pub hi: f64,
    /// The last place in the bracket where the computed guard is still on the near side; the end of
    /// the bracket for a touch.
    pub stop: f64,
    /// The exact time, for a guard on time alone; NaN otherwise.
    pub exact: f64,
    /// Slope of the guard there; NaN where nothing asks for it.
    pub slope: f64,
    pub crossing: Crossing,
}

/// One step: t = origin + s h for s from 0 to `end`.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    /// False when the flow has changed since it was expanded.
    pub valid: bool,
    pub origin: f64,
    pub origin_low: f64,
    pub h: f64,
    /// Last place of the step, at most 1.
    pub end: f64,
    /// Where the run stands on it.
    pub cursor: f64,
    /// The time from which it is not yet in the trace.
    pub recorded: f64,
    /// Coefficients of the states, `stride` numbers per order, in powers of s times `ratio`; none
    /// while they are those of the jets.
    pub coefficients: Vec<f64>,
    pub ratio: f64,
    pub states: usize,
    pub stride: usize,
    pub orders: usize,
    /// True if no guard loses more than half of its value on the step.
    pub is_far: bool,
    /// True if it is not easily told whether a function reaches its edge on the step.
    pub is_near_edge: bool,
    /// Up to here the step was compared with the equations, if it had to be; infinite if nothing is left.
    pub compared: f64,
    /// Zeros of guards in order.
    pub roots: Vec<StepRoot>,
    pub next_root: usize,
}

impl StepRoot {
    /// A root at one place, of which nothing else is known.
    pub fn at(place: f64, crossing: Crossing) -> StepRoot {
        StepRoot { lo: place, hi: place, stop: place, exact: f64::NAN, slope: f64::NAN, crossing }
    }
}

impl Segment {
    /// Values of all states at `s`, given their coefficients.
    pub fn evaluate(&self, coefficients: &[f64], s: f64, values: &mut Vec<f64>) {
        let s = s * self.ratio;
        if values.len() != self.stride {
            values.resize(self.stride, 0.0);
        }
        let (fours, rest) = values.as_chunks_mut::<4>();
        match (fours, rest) {
            ([one], []) => [*one] = horner_of_fours(coefficients, self.orders, s),
            ([a, b], []) => [*a, *b] = horner_of_fours(coefficients, self.orders, s),
            ([a, b, c], []) => [*a, *b, *c] = horner_of_fours(coefficients, self.orders, s),
            (fours, rest) => {
                let first = 4 * fours.len();
                let (rows, stride, orders) = (coefficients, self.stride, self.orders);
                in_widest_vectors(ManyFours { rows, stride, orders, s, fours });
                for (i, value) in rest.iter_mut().enumerate() {
                    [*value] = horner(coefficients, self.stride, self.orders, first + i, s);
                }
            }
        }
    }

    /// Makes room for another list of roots.
    pub fn forget_roots(&mut self) {
        self.roots.clear();
        self.next_root = 0;
    }

    /// The place of a time on the step.
    pub fn place_of(&self, t: f64) -> f64 {
        if self.h == 0.0 { 0.0 } else { ((t - self.origin) - self.origin_low) / self.h }
    }

    /// The time of a place on the step.
    pub fn time_of(&self, s: f64) -> f64 {
        self.origin + (self.origin_low + s * self.h)
    }
}

/// Fours of polynomials at `s`, of as many in a row as the stride tells.
struct ManyFours<'a> {
    rows: &'a [f64],
    stride: usize,
    orders: usize,
    s: f64,
    fours: &'a mut [[f64; 4]],
}

impl VectorWork for ManyFours<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        for (g, four) in self.fours.iter_mut().enumerate() {
            *four = horner(self.rows, self.stride, self.orders, 4 * g, self.s);
        }
    }
}

/// `N` neighbouring polynomials at `s`, given row by row. Even and odd powers are summed apart, which
/// halves the chain of dependent operations, and the starting values are added last. The engine and
/// the trace both use it, so that they agree to the last bit.
#[inline(always)]
pub(crate) fn horner<const N: usize>(
    rows: &[f64],
    stride: usize,
    orders: usize,
    first: usize,
    s: f64,
) -> [f64; N] {
    let square = s * s;
    let lanes = |row: &[f64]| -> [f64; N] { row[first..].first_chunk().copied().unwrap_or([0.0; N]) };
    let (mut even, mut odd) = ([0.0; N], [0.0; N]);
    let paired = (orders & !1) * stride;
    if orders % 2 == 1 {
        even = lanes(&rows[paired..paired + stride]);
    }
    for pair in rows[..paired].rchunks_exact(2 * stride) {
        let (lower, upper) = pair.split_at(stride);
        let (lower, upper) = (lanes(lower), lanes(upper));
        for i in 0..N {
            odd[i] = odd[i] * square + upper[i];
            even[i] = even[i] * square + lower[i];
        }
    }
    std::array::from_fn(|i| odd[i] * s + even[i])
}

/// Some fours of polynomials at `s` that are all there are, row by row.
struct Fours<'a, const FOURS: usize> {
    rows: &'a [f64],
    orders: usize,
    s: f64,
}

impl<const FOURS: usize> VectorWork for Fours<'_, FOURS> {
    type Output = [[f64; 4]; FOURS];

    #[inline(always)]
    fn work(self) -> [[f64; 4]; FOURS] {
        let Fours { rows, orders, s } = self;
        let rows = &rows.as_chunks::<4>().0.as_chunks::<FOURS>().0[..orders];
        let square = s * s;
        let (mut pairs, last) = rows.as_chunks::<2>();
        let mut even = last.first().copied().unwrap_or([[0.0; 4]; FOURS]);
        let mut odd = [[0.0; 4]; FOURS];
        while let [before @ .., [lower, upper]] = pairs {
            pairs = before;
            for g in 0..FOURS {
                for i in 0..4 {
                    odd[g][i] = odd[g][i] * square + upper[g][i];
                    even[g][i] = even[g][i] * square + lower[g][i];
                }
            }
        }
        std::array::from_fn(|g| std::array::from_fn(|i| odd[g][i] * s + even[g][i]))
    }
}

#[inline]
fn horner_of_fours<const FOURS: usize>(rows: &[f64], orders: usize, s: f64) -> [[f64; 4]; FOURS] {
    in_widest_vectors(Fours { rows, orders, s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fours_of_polynomials_have_the_same_bits_as_many() {
        for orders in 1..20 {
            let rows: Vec<f64> = (0..8 * orders).map(|i| (i as f64 * 0.7).sin()).collect();
            let together: [[f64; 4]; 2] = horner_of_fours(&rows, orders, 0.83);
            let apart = [0, 4].map(|first| horner::<4>(&rows, 8, orders, first, 0.83));
            assert_eq!(together.map(|four| four.map(f64::to_bits)), apart.map(|four| four.map(f64::to_bits)));
        }
    }
}
