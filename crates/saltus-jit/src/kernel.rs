//! The precompiled kernels of split jets: old terms of all convolutions, matrix times vector.
//!
//! Each kernel works on lanes that do not touch each other, four at a time, so the width of the
//! vector unit does not show in the results. The same source is compiled for the baseline and for
//! wider vectors, chosen once per process.

/// Four lanes.
type Four = [f64; 4];

#[inline(always)]
fn load(from: &[f64], at: usize) -> Four {
    let four = &from[at..at + 4];
    [four[0], four[1], four[2], four[3]]
}

#[inline(always)]
fn store(value: Four, to: &mut [f64], at: usize) {
    to[at..at + 4].copy_from_slice(&value);
}

#[inline(always)]
fn add(x: Four, y: Four) -> Four {
    [x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]]
}

#[inline(always)]
fn mul(x: Four, y: Four) -> Four {
    [x[0] * y[0], x[1] * y[1], x[2] * y[2], x[3] * y[3]]
}

/// Partial sums over even and odd j in `2..=high` of a_j b_(k-j), added; nothing if there is no j.
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

/// Old terms of products: for each lane those of a b at order k >= 2; rows are `lanes` apart.
#[inline(always)]
fn products(a: &[f64], b: &[f64], old: &mut [f64], lanes: usize, k: usize) {
    let length = (k + 1) * lanes;
    let (a, b, old) = (&a[..length], &b[..length], &mut old[..lanes]);
    for lane in (0..lanes).step_by(4) {
        let term = |j: usize| mul(load(a, j * lanes + lane), load(b, (k - j) * lanes + lane));
        let middle = middle(term, k - 2);
        let low = term(1);
        let edge = if k > 2 { add(low, term(k - 1)) } else { low };
        store(sum(middle, edge), old, lane);
    }
}

/// Old terms of squares: for each lane those of a a at order k >= 2.
#[inline(always)]
fn squares(a: &[f64], old: &mut [f64], lanes: usize, k: usize) {
    let (a, old) = (&a[..(k + 1) * lanes], &mut old[..lanes]);
    for lane in (0..lanes).step_by(4) {
        let term = |j: usize| mul(load(a, j * lanes + lane), load(a, (k - j) * lanes + lane));
        let middle = middle(term, (k - 1) / 2);
        let half = if k > 2 { Some(sum(middle, term(1))) } else { None };
        let twice = half.map(|s| add(s, s));
        let value = if k.is_multiple_of(2) { sum(twice, term(k / 2)) } else { twice.unwrap_or([0.0; 4]) };
        store(value, old, lane);
    }
}

/// y = M x, column after column; `matrix` holds the columns, `rows` numbers each.
#[inline(always)]
fn matrix_vector(matrix: &[f64], x: impl Fn(usize) -> f64, columns: usize, y: &mut [f64], rows: usize) {
    let (matrix, y) = (&matrix[..columns * rows], &mut y[..rows]);
    let mut row = 0;
    while row + 8 <= rows {
        let mut sums = [mul(load(matrix, row), [x(0); 4]), mul(load(matrix, row + 4), [x(0); 4])];
        for j in 1..columns {
            let factor = [x(j); 4];
            sums[0] = add(sums[0], mul(load(matrix, j * rows + row), factor));
            sums[1] = add(sums[1], mul(load(matrix, j * rows + row + 4), factor));
        }
        store(sums[0], y, row);
        store(sums[1], y, row + 4);
        row += 8;
    }
    while row < rows {
        let mut sum = mul(load(matrix, row), [x(0); 4]);
        for j in 1..columns {
            sum = add(sum, mul(load(matrix, j * rows + row), [x(j); 4]));
        }
        store(sum, y, row);
        row += 4;
    }
}

/// The kernels for one width of vectors.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// Old terms of products: a, b, results, lanes, order.
    pub products: fn(&[f64], &[f64], &mut [f64], usize, usize),
    /// Old terms of squares: a, results, lanes, order.
    pub squares: fn(&[f64], &mut [f64], usize, usize),
    /// Matrix times vector: columns of the matrix, places of x in a slice, result, rows.
    pub matrix_vector: fn(&[f64], &[f64], &[u32], &mut [f64], usize),
}

fn baseline_products(a: &[f64], b: &[f64], old: &mut [f64], lanes: usize, k: usize) {
    products(a, b, old, lanes, k);
}

fn baseline_squares(a: &[f64], old: &mut [f64], lanes: usize, k: usize) {
    squares(a, old, lanes, k);
}

fn baseline_matrix_vector(matrix: &[f64], x: &[f64], columns: &[u32], y: &mut [f64], rows: usize) {
    matrix_vector(matrix, |j| x[columns[j] as usize], columns.len(), y, rows);
}

const BASELINE: Kernels =
    Kernels { products: baseline_products, squares: baseline_squares, matrix_vector: baseline_matrix_vector };

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::Kernels;

    #[target_feature(enable = "avx2")]
    fn products(a: &[f64], b: &[f64], old: &mut [f64], lanes: usize, k: usize) {
        super::products(a, b, old, lanes, k);
    }

    #[target_feature(enable = "avx2")]
    fn squares(a: &[f64], old: &mut [f64], lanes: usize, k: usize) {
        super::squares(a, old, lanes, k);
    }

    #[target_feature(enable = "avx2")]
    fn matrix_vector(matrix: &[f64], x: &[f64], columns: &[u32], y: &mut [f64], rows: usize) {
        super::matrix_vector(matrix, |j| x[columns[j] as usize], columns.len(), y, rows);
    }

    /// The kernels for machines with AVX2, if this is one.
    pub fn kernels() -> Option<Kernels> {
        is_x86_feature_detected!("avx2").then_some(Kernels {
            // SAFETY: the machine has the feature.
            products: |a, b, old, lanes, k| unsafe { products(a, b, old, lanes, k) },
            // SAFETY: the machine has the feature.
            squares: |a, old, lanes, k| unsafe { squares(a, old, lanes, k) },
            // SAFETY: the machine has the feature.
            matrix_vector: |matrix, x, columns, y, rows| unsafe {
                matrix_vector(matrix, x, columns, y, rows);
            },
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_does_not_show() {
        let (wide, lanes) = (Kernels::detect(), 12);
        let a: Vec<f64> = (0..25 * lanes).map(|i| (i as f64 * 0.7).sin()).collect();
        let b: Vec<f64> = (0..25 * lanes).map(|i| (i as f64 * 1.3).cos()).collect();
        for k in 2..25 {
            let (mut x, mut y) = (vec![0.0; lanes], vec![0.0; lanes]);
            (wide.products)(&a, &b, &mut x, lanes, k);
            (BASELINE.products)(&a, &b, &mut y, lanes, k);
            assert_eq!(x, y);
            let direct: f64 = (1..k).map(|j| a[j * lanes + 5] * b[(k - j) * lanes + 5]).sum();
            assert!((x[5] - direct).abs() < 1e-13);
            (wide.squares)(&a, &mut x, lanes, k);
            (BASELINE.squares)(&a, &mut y, lanes, k);
            assert_eq!(x, y);
            let direct: f64 = (1..k).map(|j| a[j * lanes + 7] * a[(k - j) * lanes + 7]).sum();
            assert!((x[7] - direct).abs() < 1e-13);
        }
    }

    #[test]
    fn matrix_times_vector() {
        for rows in [4, 8, 12, 20] {
            let matrix: Vec<f64> = (0..rows * 7).map(|i| (i as f64).sin()).collect();
            let x: Vec<f64> = (0..14).map(|i| i as f64).collect();
            let columns: Vec<u32> = (0..7).map(|j| 2 * j).collect();
            let mut y = vec![0.0; rows];
            (Kernels::detect().matrix_vector)(&matrix, &x, &columns, &mut y, rows);
            for (i, value) in y.into_iter().enumerate() {
                let mut sum = matrix[i] * x[0];
                for j in 1..7 {
                    sum += matrix[j * rows + i] * x[2 * j];
                }
                assert_eq!(value, sum);
            }
        }
    }
}
