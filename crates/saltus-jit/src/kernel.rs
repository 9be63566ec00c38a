//! The precompiled kernels of split jets: old terms of all convolutions, matrix times vector.
//!
//! Each kernel works on lanes that do not touch each other, four at a time, so the width of the
//! vector unit does not show in the results. The same source is compiled for the baseline and for
//! wider vectors, chosen once per process.
//!
//! Lanes are kept in blocks of four: a block holds coefficient after coefficient, four numbers each.
//! Bounds are checked once per call; inside, a check per load would cost more than the arithmetic.

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

/// Old terms of products: for each lane those of a b at order k >= 2. A block of `a` and of `b` has
/// `4 * span` numbers; there is one result per lane. An order `K` known beforehand takes the place of
/// `k`: its sums are written out; 0 is none.
#[inline(always)]
fn products<const K: usize>(a: &[f64], b: &[f64], old: &mut [f64], span: usize, k: usize) {
    let k = if K > 0 { K } else { k };
    let block = 4 * span;
    let blocks = old.len() / 4;
    assert!(k >= 2 && k < span && a.len() >= blocks * block && b.len() >= blocks * block);
    let (mut a, mut b) = (a.as_ptr(), b.as_ptr());
    for old in old.chunks_exact_mut(4) {
        // SAFETY: j and k - j are at most k < span, and a block has span times four numbers.
        let term = |j: usize| unsafe { mul(load(a, j), load(b, k - j)) };
        let middle = middle(term, k - 2);
        let low = term(1);
        let edge = if k > 2 { add(low, term(k - 1)) } else { low };
        old.copy_from_slice(&sum(middle, edge));
        (a, b) = (a.wrapping_add(block), b.wrapping_add(block));
    }
}

/// Old terms of squares: for each lane those of a a at order k >= 2; `K` as for products.
#[inline(always)]
fn squares<const K: usize>(a: &[f64], old: &mut [f64], span: usize, k: usize) {
    let k = if K > 0 { K } else { k };
    let block = 4 * span;
    assert!(k >= 2 && k < span && a.len() >= old.len() / 4 * block);
    let mut a = a.as_ptr();
    for old in old.chunks_exact_mut(4) {
        // SAFETY: j and k - j are at most k < span, and a block has span times four numbers.
        let term = |j: usize| unsafe { mul(load(a, j), load(a, k - j)) };
        let middle = middle(term, (k - 1) / 2);
        let twice = (k > 2).then(|| sum(middle, term(1))).map(|s| add(s, s));
        let value = if k.is_multiple_of(2) { sum(twice, term(k / 2)) } else { twice.unwrap_or([0.0; 4]) };
        old.copy_from_slice(&value);
        a = a.wrapping_add(block);
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

/// a, b, results, span, order.
type Products = fn(&[f64], &[f64], &mut [f64], usize, usize);
/// a, results, span, order.
type Squares = fn(&[f64], &mut [f64], usize, usize);

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
    products: &'static [Products; OWN_ORDERS],
    squares: &'static [Squares; OWN_ORDERS],
    /// Matrix times vector: columns of the matrix, vector, result.
    pub matrix_vector: fn(&[f64], &[f64], &mut [f64]),
}

macro_rules! baseline_products {
    ($k:literal) => {
        |a, b, old, span, k| products::<$k>(a, b, old, span, k)
    };
}
macro_rules! baseline_squares {
    ($k:literal) => {
        |a, old, span, k| squares::<$k>(a, old, span, k)
    };
}

const BASELINE: Kernels = Kernels {
    products: &for_own_orders!(baseline_products),
    squares: &for_own_orders!(baseline_squares),
    matrix_vector: |matrix, x, y| matrix_vector(matrix, x, y),
};

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Kernels, OWN_ORDERS, Products, Squares};

    #[target_feature(enable = "avx2")]
    fn products<const K: usize>(a: &[f64], b: &[f64], old: &mut [f64], span: usize, k: usize) {
        super::products::<K>(a, b, old, span, k);
    }

    #[target_feature(enable = "avx2")]
    fn squares<const K: usize>(a: &[f64], old: &mut [f64], span: usize, k: usize) {
        super::squares::<K>(a, old, span, k);
    }

    #[target_feature(enable = "avx2")]
    fn matrix_vector(matrix: &[f64], x: &[f64], y: &mut [f64]) {
        super::matrix_vector(matrix, x, y);
    }

    macro_rules! wide_products {
        ($k:literal) => {
            // SAFETY: the kernels are handed out only where the machine has the feature.
            |a, b, old, span, k| unsafe { products::<$k>(a, b, old, span, k) }
        };
    }
    macro_rules! wide_squares {
        ($k:literal) => {
            // SAFETY: the kernels are handed out only where the machine has the feature.
            |a, old, span, k| unsafe { squares::<$k>(a, old, span, k) }
        };
    }

    const PRODUCTS: [Products; OWN_ORDERS] = for_own_orders!(wide_products);
    const SQUARES: [Squares; OWN_ORDERS] = for_own_orders!(wide_squares);

    /// The kernels for machines with AVX2, if this is one.
    pub fn kernels() -> Option<Kernels> {
        is_x86_feature_detected!("avx2").then_some(Kernels {
            products: &PRODUCTS,
            squares: &SQUARES,
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

    /// Old terms of products at order k >= 2.
    #[inline]
    pub fn products(&self, a: &[f64], b: &[f64], old: &mut [f64], span: usize, k: usize) {
        self.products[if k < OWN_ORDERS { k } else { 0 }](a, b, old, span, k);
    }

    /// Old terms of squares at order k >= 2.
    #[inline]
    pub fn squares(&self, a: &[f64], old: &mut [f64], span: usize, k: usize) {
        self.squares[if k < OWN_ORDERS { k } else { 0 }](a, old, span, k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_does_not_show() {
        let (wide, span, lanes) = (Kernels::detect(), OWN_ORDERS + 3, 12);
        let a: Vec<f64> = (0..span * lanes).map(|i| (i as f64 * 0.7).sin()).collect();
        let b: Vec<f64> = (0..span * lanes).map(|i| (i as f64 * 1.3).cos()).collect();
        let at = |lane: usize, k: usize| lane / 4 * 4 * span + 4 * k + lane % 4;
        for k in 2..span {
            let (mut x, mut y) = (vec![0.0; lanes], vec![0.0; lanes]);
            wide.products(&a, &b, &mut x, span, k);
            BASELINE.products(&a, &b, &mut y, span, k);
            assert_eq!(x, y);
            let direct: f64 = (1..k).map(|j| a[at(5, j)] * b[at(5, k - j)]).sum();
            assert!((x[5] - direct).abs() < 1e-13);
            wide.squares(&a, &mut x, span, k);
            BASELINE.squares(&a, &mut y, span, k);
            assert_eq!(x, y);
            let direct: f64 = (1..k).map(|j| a[at(11, j)] * a[at(11, k - j)]).sum();
            assert!((x[11] - direct).abs() < 1e-13);
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
