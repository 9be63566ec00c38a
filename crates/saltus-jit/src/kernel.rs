//! The precompiled kernels of split jets: old terms of all convolutions, matrix times vector.
//!
//! Each kernel works on lanes that do not touch each other, four at a time, so the width of the
//! vector unit does not show in the results. The same source is compiled for the baseline and for
//! wider vectors, chosen once per process.
//!
//! Lanes are kept in blocks of four: a block holds coefficient after coefficient, four numbers each.
//! Bounds are checked where a jet is made, not in its every order: a check per load would cost more than
//! the arithmetic.

/// Four lanes.
type Four = [f64; 4];

/// The four numbers at position `at`, counted in fours.
///
/// # Safety
/// They must lie in the array that begins at `array`.
#[inline(always)]
unsafe fn load(array: *const f64, at: usize) -> Four {
    // SAFETY: the caller promises that the numbers exist; a read of an array of numbers needs no
    // more alignment than a number.
    unsafe { array.add(4 * at).cast::<Four>().read() }
}

/// Writes four numbers to position `at`, counted in fours.
///
/// # Safety
/// They must lie in the array that begins at `array`.
#[inline(always)]
unsafe fn store(array: *mut f64, at: usize, value: Four) {
    // SAFETY: as for reading.
    unsafe { array.add(4 * at).cast::<Four>().write(value) }
}

#[inline(always)]
fn add(x: Four, y: Four) -> Four {
    [x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]]
}

#[inline(always)]
fn mul(x: Four, y: Four) -> Four {
    [x[0] * y[0], x[1] * y[1], x[2] * y[2], x[3] * y[3]]
}

/// Partial sums over even and odd j in `2..=high` of the terms, added; nothing if there is no j.
#[inline(always)]
fn middle(term: impl Fn(usize) -> Four, high: usize) -> Option<Four> {
    if high < 2 {
        return None;
    }
    let mut even = term(2);
    if high == 2 {
        return Some(even);
    }
    let mut odd = term(3);
    let mut j = 4;
    while j < high {
        even = add(even, term(j));
        odd = add(odd, term(j + 1));
        j += 2;
    }
    if j == high {
        even = add(even, term(j));
    }
    Some(add(even, odd))
}

#[inline(always)]
fn sum(x: Option<Four>, y: Four) -> Four {
    x.map_or(y, |x| add(x, y))
}

/// Where the lanes of all convolutions are in the memory of a jet. A block is four lanes and has
/// `4 * span` numbers; there is one result per lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lanes {
    /// Numbers of a block.
    block: usize,
    products: ProductLanes,
    squares: SquareLanes,
    /// All of it lies before this place.
    end: usize,
}

/// Factors and results of products.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProductLanes {
    pub a: usize,
    pub b: usize,
    pub results: usize,
    pub blocks: usize,
}

/// Rows and results of squares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SquareLanes {
    pub rows: usize,
    pub results: usize,
    pub blocks: usize,
}

impl Lanes {
    pub fn new(span: usize, products: ProductLanes, squares: SquareLanes) -> Lanes {
        let block = 4 * span;
        let ends = [
            products.a + products.blocks * block,
            products.b + products.blocks * block,
            products.results + 4 * products.blocks,
            squares.rows + squares.blocks * block,
            squares.results + 4 * squares.blocks,
        ];
        Lanes { block, products, squares, end: ends.into_iter().fold(0, usize::max) }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.products.blocks + self.squares.blocks == 0
    }

    /// True if a memory of some size holds all of it, up to some order.
    pub fn fit(&self, memory: usize, order: usize) -> bool {
        self.end <= memory && 4 * order < self.block
    }

    /// The place of the sum of old terms of a product.
    pub fn product(&self, lane: usize) -> usize {
        self.products.results + lane
    }

    /// The place of the sum of old terms of a square.
    pub fn square(&self, lane: usize) -> usize {
        self.squares.results + lane
    }
}

/// Old terms of all convolutions at order k >= 2. An order `K` known beforehand takes the place of
/// `k`: its sums are written out; 0 is none.
///
/// # Safety
/// The lanes must fit the memory up to order k.
#[inline(always)]
unsafe fn old_terms<const K: usize>(memory: *mut f64, lanes: &Lanes, k: usize) {
    let k = if K > 0 { K } else { k };
    let Lanes { block, products, squares, .. } = *lanes;
    let (mut a, mut b) = (memory.wrapping_add(products.a), memory.wrapping_add(products.b));
    for i in 0..products.blocks {
        // SAFETY: j and k - j are at most k, and a block has four numbers of each order up to k.
        let term = |j: usize| unsafe { mul(load(a, j), load(b, k - j)) };
        let middle = middle(term, k - 2);
        let low = term(1);
        let edge = if k > 2 { add(low, term(k - 1)) } else { low };
        // SAFETY: the results lie in the memory.
        unsafe { store(memory.add(products.results), i, sum(middle, edge)) };
        (a, b) = (a.wrapping_add(block), b.wrapping_add(block));
    }
    let mut s = memory.wrapping_add(squares.rows);
    for i in 0..squares.blocks {
        // SAFETY: as above.
        let term = |j: usize| unsafe { mul(load(s, j), load(s, k - j)) };
        let middle = middle(term, (k - 1) / 2);
        let twice = (k > 2).then(|| sum(middle, term(1))).map(|s| add(s, s));
        let value = if k.is_multiple_of(2) { sum(twice, term(k / 2)) } else { twice.unwrap_or([0.0; 4]) };
        // SAFETY: as above.
        unsafe { store(memory.add(squares.results), i, value) };
        s = s.wrapping_add(block);
    }
}

/// y = M x, column after column. The matrix holds its columns, as many numbers each as `y`, which is
/// a multiple of four.
#[inline(always)]
fn matrix_vector(matrix: &[f64], x: &[f64], y: &mut [f64]) {
    let rows = y.len();
    assert!(rows.is_multiple_of(4) && !x.is_empty() && matrix.len() >= rows * x.len());
    let mut first = 0;
    while first < rows / 4 {
        let matrix = &matrix[4 * first..];
        let y = &mut y[4 * first..];
        // SAFETY: the columns have `rows` numbers each, of which the first ones were passed over.
        first += unsafe {
            match rows / 4 - first {
                1 => some_rows::<1>(matrix, x, y, rows),
                2 => some_rows::<2>(matrix, x, y, rows),
                3 => some_rows::<3>(matrix, x, y, rows),
                4 => some_rows::<4>(matrix, x, y, rows),
                5 => some_rows::<5>(matrix, x, y, rows),
                _ => some_rows::<6>(matrix, x, y, rows),
            }
        };
    }
}

/// `N` fours of rows of a matrix times a vector; returns N.
///
/// # Safety
/// The matrix must hold a number for each of the rows in every column, columns being `rows` apart.
#[inline(always)]
unsafe fn some_rows<const N: usize>(matrix: &[f64], x: &[f64], y: &mut [f64], rows: usize) -> usize {
    let column = |j: usize| matrix.as_ptr().wrapping_add(j * rows);
    // SAFETY: the caller promises the rows in every column.
    let mut sums: [Four; N] = std::array::from_fn(|i| mul(unsafe { load(column(0), i) }, [x[0]; 4]));
    for (j, &factor) in x.iter().enumerate().skip(1) {
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as above.
            *sum = add(*sum, mul(unsafe { load(column(j), i) }, [factor; 4]));
        }
    }
    for (sum, y) in sums.iter().zip(y.chunks_exact_mut(4)) {
        y.copy_from_slice(sum);
    }
    N
}

/// Memory of a jet, where its lanes are, order. The lanes must fit the memory up to this order.
pub(crate) type OldTerms = unsafe fn(*mut f64, &Lanes, usize);

/// Orders below this one have kernels of their own.
const OWN_ORDERS: usize = 25;

/// Calls a macro with all orders below [`OWN_ORDERS`], 0 standing for any; none is asked for 1.
macro_rules! for_own_orders {
    ($kernel:ident) => {
        for_own_orders!($kernel 0 0 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
    };
    ($kernel:ident $($k:literal)*) => { [$($kernel!($k)),*] };
}

/// The kernels for one width of vectors.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    old_terms: &'static [OldTerms; OWN_ORDERS],
    /// Matrix times vector: columns of the matrix, vector, result.
    pub matrix_vector: fn(&[f64], &[f64], &mut [f64]),
}

macro_rules! baseline {
    ($k:literal) => {
        // SAFETY: the caller promises what the kernel asks for.
        |memory, lanes, k| unsafe { old_terms::<$k>(memory, lanes, k) }
    };
}

const BASELINE: Kernels = Kernels {
    old_terms: &for_own_orders!(baseline),
    matrix_vector: |matrix, x, y| matrix_vector(matrix, x, y),
};

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Kernels, Lanes, OWN_ORDERS, OldTerms};

    #[target_feature(enable = "avx2")]
    unsafe fn old_terms<const K: usize>(memory: *mut f64, lanes: &Lanes, k: usize) {
        // SAFETY: the caller promises what the kernel asks for.
        unsafe { super::old_terms::<K>(memory, lanes, k) }
    }

    #[target_feature(enable = "avx2")]
    fn matrix_vector(matrix: &[f64], x: &[f64], y: &mut [f64]) {
        super::matrix_vector(matrix, x, y);
    }

    macro_rules! wide {
        ($k:literal) => {
            // SAFETY: the caller promises what the kernel asks for; it is handed out only where the
            // machine has the feature.
            |memory, lanes, k| unsafe { old_terms::<$k>(memory, lanes, k) }
        };
    }

    const OLD_TERMS: [OldTerms; OWN_ORDERS] = for_own_orders!(wide);

    /// The kernels for machines with AVX2, if this is one.
    pub fn kernels() -> Option<Kernels> {
        is_x86_feature_detected!("avx2").then_some(Kernels {
            old_terms: &OLD_TERMS,
            // SAFETY: the machine has the feature.
            matrix_vector: |matrix, x, y| unsafe { matrix_vector(matrix, x, y) },
        })
    }
}

impl Kernels {
    /// The widest kernels this machine runs.
    pub fn detect() -> Kernels {
        #[cfg(target_arch = "x86_64")]
        if let Some(kernels) = wide::kernels() {
            return kernels;
        }
        BASELINE
    }

    /// The kernel for the old terms of all convolutions at order k >= 2.
    pub fn old_terms(&self, k: usize) -> OldTerms {
        self.old_terms[if k < OWN_ORDERS { k } else { 0 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_does_not_show() {
        let (wide, span, blocks) = (Kernels::detect(), OWN_ORDERS + 3, 3);
        let size = blocks * 4 * span;
        let products = ProductLanes { a: 0, b: size, results: 3 * size, blocks };
        let squares = SquareLanes { rows: 2 * size, results: 3 * size + 4 * blocks, blocks };
        let lanes = Lanes::new(span, products, squares);
        let mut memory: Vec<f64> = (0..3 * size).map(|i| (i as f64 * 0.7).sin()).collect();
        memory.resize(3 * size + 8 * blocks, 0.0);
        let mut other = memory.clone();
        let at = |lane: usize, k: usize| lane / 4 * 4 * span + 4 * k + lane % 4;
        assert!(lanes.fit(memory.len(), span - 1) && !lanes.fit(memory.len(), span));
        for k in 2..span {
            // SAFETY: the lanes fit.
            unsafe {
                wide.old_terms(k)(memory.as_mut_ptr(), &lanes, k);
                BASELINE.old_terms(k)(other.as_mut_ptr(), &lanes, k);
            }
            assert_eq!(memory, other);
            let sum = |a: usize, b: usize, lane: usize| -> f64 {
                (1..k).map(|j| memory[a + at(lane, j)] * memory[b + at(lane, k - j)]).sum()
            };
            assert!((memory[lanes.product(5)] - sum(products.a, products.b, 5)).abs() < 1e-13);
            assert!((memory[lanes.square(11)] - sum(squares.rows, squares.rows, 11)).abs() < 1e-13);
        }
    }

    #[test]
    fn matrix_times_vector() {
        for rows in (4..=40).step_by(4) {
            let matrix: Vec<f64> = (0..rows * 7).map(|i| (i as f64).sin()).collect();
            let x: Vec<f64> = (0..7).map(|i| 1.5 - i as f64).collect();
            let mut y = vec![0.0; rows];
            (Kernels::detect().matrix_vector)(&matrix, &x, &mut y);
            for (i, value) in y.into_iter().enumerate() {
                let terms = x.iter().enumerate().map(|(j, x)| matrix[j * rows + i] * x);
                assert_eq!(Some(value), terms.reduce(|sum, term| sum + term));
            }
        }
    }
}
