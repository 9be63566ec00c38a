//! Moving the origin of polynomials: what is P(s) becomes P(past + s).

use saltus_num::vectors::{VectorWork, in_widest_vectors};

/// Polynomials that are moved together.
const LANES: usize = 4;

/// The highest order of a polynomial.
const GREATEST: usize = 64;

/// One number of each of some neighbouring polynomials.
pub(super) type Lanes = [f64; LANES];

/// Moves the origin of many polynomials, and multiplies the unit of time by a factor that is a power of two.
/// Coefficients are given order by order, in rows of whole groups of four; `degrees` tells the highest order
/// in each group.
///
/// ```
/// use saltus_expr::jet::move_origin;
/// // 1 + 2 s and s^2 from s = 3 on, with s counted in halves.
/// let mut rows = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
/// move_origin(&mut rows, &[2], 3.0, 0.5);
/// assert_eq!(rows, [7.0, 9.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0]);
/// ```
pub fn move_origin(rows: &mut [f64], degrees: &[usize], past: f64, factor: f64) {
    in_widest_vectors(Moving { rows: rows.as_chunks_mut().0, degrees, past, factor });
}

struct Moving<'a> {
    rows: &'a mut [Lanes],
    degrees: &'a [usize],
    past: f64,
    factor: f64,
}

impl VectorWork for Moving<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let Moving { rows, degrees, past, factor } = self;
        let stride = degrees.len();
        for (group, &degree) in degrees.iter().enumerate() {
            let rows = &mut rows[group..];
            match degree {
                0 => {}
                1 => shift_all::<2>(rows, stride, past),
                8 => shift_all::<9>(rows, stride, past),
                10 => shift_all::<11>(rows, stride, past),
                12 => shift_all::<13>(rows, stride, past),
                _ => {
                    let mut some = [[0.0; LANES]; GREATEST + 1];
                    let some = &mut some[..=degree];
                    some.iter_mut().zip(rows.iter().step_by(stride)).for_each(|(to, from)| *to = *from);
                    shift(some, past);
                    rows.iter_mut().step_by(stride).zip(some).for_each(|(to, from)| *to = *from);
                }
            }
        }
        if factor != 1.0 {
            let mut power = 1.0;
            for row in rows.chunks_exact_mut(stride) {
                row.iter_mut().for_each(|lanes| *lanes = lanes.map(|c| c * power));
                power *= factor;
            }
        }
    }
}

/// The same for a few polynomials of which every `stride`-th number is a coefficient, `N` of them.
#[inline(always)]
fn shift_all<const N: usize>(rows: &mut [Lanes], stride: usize, past: f64) {
    let mut c: [Lanes; N] = std::array::from_fn(|k| rows[k * stride]);
    for first in 0..N - 1 {
        for k in (first..N - 1).rev() {
            c[k] = std::array::from_fn(|lane| c[k][lane] + past * c[k + 1][lane]);
        }
    }
    (0..N).for_each(|k| rows[k * stride] = c[k]);
}

/// Moves the origin of polynomials by the rule of Horner: pass after pass, each one coefficient shorter, the
/// next higher one is multiplied and added to each. Three passes go together, which saves loads and stores.
#[inline(always)]
pub(super) fn shift(rows: &mut [Lanes], past: f64) {
    let Some((&mut highest, mut lower)) = rows.split_last_mut() else { return };
    while let [first, rest @ ..] = lower {
        let mut upper = [highest; 3];
        if let [second, whole @ ..] = &mut *rest {
            for lanes in whole.iter_mut().rev() {
                pass::<3>(lanes, &mut upper, past);
            }
            pass::<2>(second, &mut upper, past);
        }
        pass::<1>(first, &mut upper, past);
        lower = rest.get_mut(2..).unwrap_or_default();
    }
}

/// The first so many passes at one coefficient, given what each has made of the next higher one.
#[inline(always)]
fn pass<const COUNT: usize>(lanes: &mut Lanes, upper: &mut [Lanes; 3], past: f64) {
    let mut now = *lanes;
    for upper in &mut upper[..COUNT] {
        now = std::array::from_fn(|lane| now[lane] + past * upper[lane]);
        *upper = now;
    }
    *lanes = now;
}
