//! Numbers and what is done with them, without any notion of a model.

mod bernstein;
pub mod elementary;
pub mod interval;
pub mod polynomial;
pub mod roots;
mod rounding;
pub mod sturm;
mod twofold;
pub mod vectors;
pub mod zones;

/// The lesser of two numbers, in one operation of a processor; the second if one of them is none.
///
/// ```
/// assert_eq!(saltus_num::lesser(1.0, 2.0), 1.0);
/// ```
#[inline(always)]
pub fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The greater of two numbers, in one operation of a processor; the second if one of them is none.
///
/// ```
/// assert_eq!(saltus_num::greater(1.0, 2.0), 2.0);
/// ```
#[inline(always)]
pub fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Half the distance from 1 to the next number: the greatest relative error of an operation.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// Covers the rounding of the few operations of a bound, many times over.
pub const MARGIN: f64 = 1e-12;
