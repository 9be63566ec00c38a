//! Operations on bounds: the range of a result, and how far the errors of its arguments move it.
//!
//! A function moves an error by at most its steepness on the range of its arguments; the share of an
//! error of the start that appears in the drift is bounded by its bend (the second derivative) times
//! how far the argument moves. Elementary functions are taken to be within [`ULPS`] units in the last
//! place. What the recurrence of a function adds is in [`super::rows`].

use super::bound::{Bound, Radii};
use crate::graph::{Binary, Unary};
use crate::interval;
use crate::jet::range::{Range, TINY};
use crate::program::Op;
use saltus_num::UNIT;
use saltus_num::elementary as f;
use saltus_num::interval::{Interval, ULPS};

/// Relative error of an elementary function.
pub(super) const FUNCTION: f64 = 2.0 * ULPS as f64 * UNIT;

/// A range and the radii moved into it; `None` where the function may leave its domain or switch.
pub(super) type Moved = Option<(Range, Radii)>;

/// Rounding of a value.
pub(super) fn rounded(size: f64, relative: f64) -> Radii {
    Radii { start: relative * size + TINY, ..Radii::default() }
}

/// Sums and products, which need no look at domains.
#[inline(always)]
pub(super) fn sum(a: &Bound, b: &Bound) -> Bound {
    Bound::new(a.range.add(b.range), sum_radii(a, b), a.size + b.size)
}

#[inline(always)]
pub(super) fn difference(a: &Bound, b: &Bound) -> Bound {
    Bound::new(a.range.sub(b.range), sum_radii(a, b), a.size + b.size)
}

#[inline(always)]
fn sum_radii(a: &Bound, b: &Bound) -> Radii {
    let [start, drift] = [UNIT * (a.most + b.most), UNIT * (a.size + b.size)];
    a.radii.plus(b.radii).plus(Radii { start, drift, ..Radii::default() })
}

#[inline(always)]
pub(super) fn negated(a: &Bound) -> Bound {
    Bound { range: a.range.neg(), ..*a }
}

/// The radii of a b; what the terms beyond the order are is not known here.
#[inline(always)]
pub(super) fn product_radii(a: &Bound, b: &Bound) -> Radii {
    let start = UNIT * (a.most * b.most) + TINY;
    let drift = a.variation() * b.radii.start + b.variation() * a.radii.start;
    b.radii.times(a.most).plus(a.radii.times(b.most)).plus(Radii { start, drift, ..Radii::default() })
}

/// Sum of the magnitudes of the coefficients of a product from order 1 on.
#[inline(always)]
pub(super) fn product_size(a: &Bound, b: &Bound) -> f64 {
    a.most * b.size + b.most * a.size + a.size * b.size
}

/// The value of an operation, rounded once at the start.
pub(super) fn apply(op: Op, value: impl Fn(crate::program::Reg) -> Bound) -> Moved {
    match op {
        Op::Unary(function, a) => unary(function, &value(a)),
        Op::Binary(function, a, b) => binary(function, &value(a), &value(b), a == b),
        Op::Powi(a, n) => whole_power(&value(a), n),
        // Chosen and read elsewhere.
        Op::Select(..) | Op::Table1(..) | Op::Table2(..) => None,
    }
}

/// A value that must be one number all along the step.
fn switch(range: Interval) -> Moved {
    let range = Range::of(range);
    range.is_point().then(|| (range, Radii::default()))
}

fn unary(function: Unary, a: &Bound) -> Moved {
    let x = a.range;
    match function {
        Unary::Neg => Some((x.neg(), a.radii)),
        Unary::Clip => Some((Range { lo: x.lo.max(0.0), hi: x.hi.max(0.0) }, a.radii)),
        // What is turned is negative at the start, and nothing else.
        Unary::Abs => (x.lo >= 0.0 || x.hi < 0.0).then(|| (x.abs(), a.radii)),
        Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil => {
            switch(interval::unary(function, x.interval()).range)
        }
        Unary::Sin | Unary::Cos if a.size > 0.0 => {
            Some((Range { lo: -1.0, hi: 1.0 }, through(a, 1.0, 1.0).plus(rounded(1.0, FUNCTION))))
        }
        _ => {
            let enclosure = interval::unary(function, x.interval());
            if !enclosure.defined {
                return None;
            }
            let y = Range::of(enclosure.range);
            let [slope, bend] = derivatives(function, x, y);
            Some((y, through(a, slope, bend).plus(rounded(y.magnitude(), FUNCTION))))
        }
    }
}

/// The radii of an argument through a function with a slope and a bend.
pub(super) fn through(a: &Bound, slope: f64, bend: f64) -> Radii {
    let mut radii = a.radii.moved(slope);
    if a.radii.start > 0.0 && a.size > 0.0 {
        radii.drift += bend * a.variation() * a.radii.start;
    }
    radii
}

/// Bounds of the first and second derivative of a function with arguments `x` and values `y`.
fn derivatives(function: Unary, x: Range, y: Range) -> [f64; 2] {
    let (most, values) = (x.magnitude(), y.magnitude());
    let slope_and_bend = match function {
        Unary::Sqrt => [0.5 / y.lo, 0.25 / (y.lo * y.lo * y.lo)],
        Unary::Exp => [y.hi, y.hi],
        Unary::Log => [1.0 / x.lo, 1.0 / (x.lo * x.lo)],
        Unary::Tan => {
            let slope = 1.0 + values * values;
            [slope, 2.0 * values * slope]
        }
        Unary::Asin | Unary::Acos => {
            let slope = 1.0 / (1.0 - most * most).max(0.0).sqrt();
            [slope, most * slope * slope * slope]
        }
        Unary::Sinh | Unary::Cosh => [f::cosh(most); 2],
        Unary::Tanh => {
            let slope = 4.0 * f::exp(-2.0 * x.mignitude()) + TINY;
            [slope.min(1.0), (2.0 * slope).min(1.0)]
        }
        Unary::Acosh => {
            let slope = 1.0 / (x.lo * x.lo - 1.0).max(0.0).sqrt();
            [slope, most * slope * slope * slope]
        }
        Unary::Atanh => {
            let slope = 1.0 / (1.0 - most * most);
            [slope, 2.0 * most * slope * slope]
        }
        _ => [1.0, 1.0],
    };
    slope_and_bend.map(|d| 1.01 * d)
}

/// A bound of the slope of a function that is its own recurrence, with arguments `x` and values `y`. A power
/// is an exponential function.
pub(super) fn steepness(op: Op, x: Range, y: Range) -> f64 {
    let function = if let Op::Unary(function, _) = op { function } else { Unary::Exp };
    derivatives(function, x, y)[0]
}

fn binary(function: Binary, a: &Bound, b: &Bound, same: bool) -> Moved {
    let (x, y) = (a.range, b.range);
    match function {
        Binary::Add => Some((x.add(y), sum_radii(a, b))),
        Binary::Sub => Some((x.sub(y), sum_radii(a, b))),
        Binary::Mul => Some((if same { x.square() } else { x.mul(y) }, product_radii(a, b))),
        Binary::Div => {
            let least = y.mignitude();
            let value = (least > 0.0).then(|| x.div(y))?;
            let radii = a.radii.plus(b.radii.times(value.magnitude())).times(1.0 / least);
            Some((value, radii.plus(rounded(value.magnitude(), 4.0 * UNIT))))
        }
        Binary::Min | Binary::Max => {
            let first = first_is_chosen(function, x, y)?;
            let chosen = if first { a } else { b };
            Some((chosen.range, chosen.radii))
        }
        Binary::Mod => {
            let quotient = floor_quotient(x, y)?;
            let radii = a.radii.plus(b.radii.times(quotient.abs()));
            let size = 4.0 * (a.most + quotient.abs() * b.most);
            Some((x.sub(Range::point(quotient).mul(y)), radii.plus(rounded(size, UNIT))))
        }
        Binary::Lt | Binary::Le | Binary::Eq | Binary::And | Binary::Or => {
            switch(interval::binary(function, x.interval(), y.interval()).range)
        }
        Binary::Hypot | Binary::Atan2 | Binary::Pow => function_of_two(function, a, b),
    }
}

/// Whether min or max is its first argument, if that stays so.
pub(super) fn first_is_chosen(function: Binary, x: Range, y: Range) -> Option<bool> {
    let (less, more) = (x.hi < y.lo, y.hi < x.lo);
    (less || more).then_some(less == (function == Binary::Min))
}

/// floor(x / y), if it stays the same.
pub(super) fn floor_quotient(x: Range, y: Range) -> Option<f64> {
    let quotient = (y.mignitude() > 0.0).then(|| Range::of(x.div(y).interval().floor()))?;
    quotient.is_point().then_some(quotient.lo)
}

fn function_of_two(function: Binary, a: &Bound, b: &Bound) -> Moved {
    let (x, y) = (a.range, b.range);
    let enclosure = interval::binary(function, x.interval(), y.interval());
    if !enclosure.defined {
        return None;
    }
    let value = Range::of(enclosure.range);
    let (size, both) = (value.magnitude(), a.radii.plus(b.radii));
    let radii = match function {
        Binary::Hypot => {
            let least = x.mignitude().hypot(y.mignitude());
            joint(a, b, both, 1.0, 1.0 / least)
        }
        // The angle jumps where the abscissa is negative and the ordinate changes sign.
        Binary::Atan2 if !x.is_point() && x.contains(0.0) && y.lo <= 0.0 => return None,
        Binary::Atan2 => {
            let slope = 1.0 / x.mignitude().hypot(y.mignitude());
            joint(a, b, both, slope, 2.0 * slope * slope)
        }
        _ => {
            let exponent = y.magnitude();
            let slope = exponent * size / x.mignitude();
            let bend = exponent * (exponent + 1.0) * size / (x.mignitude() * x.mignitude());
            let log = x.lo.abs().ln().abs().max(x.hi.abs().ln().abs());
            // The exponent does not change, but how much its error matters does.
            let mut by_exponent = b.radii.moved(1.01 * size * log);
            let turn = 1.01 * size * (1.0 + exponent * log) / x.mignitude();
            by_exponent.drift += if b.radii.start > 0.0 { turn * a.variation() * b.radii.start } else { 0.0 };
            through(a, 1.01 * slope, 1.01 * bend).plus(by_exponent)
        }
    };
    Some((value, radii.plus(rounded(size, FUNCTION))))
}

/// The radii of two arguments through a function with bounds of its first and second derivatives.
fn joint(a: &Bound, b: &Bound, both: Radii, slope: f64, bend: f64) -> Radii {
    let mut radii = both.moved(1.01 * slope);
    if both.start > 0.0 {
        radii.drift += 1.01 * bend * (a.variation() + b.variation()) * both.start;
    }
    radii
}

/// Only powers that do not change in time come here; the others are products.
fn whole_power(a: &Bound, n: i32) -> Moved {
    let x = a.range;
    let enclosure = x.interval().powi(n);
    if !enclosure.defined {
        return None;
    }
    let size = f64::from(n.unsigned_abs());
    let base = if n >= 1 { x.magnitude() } else { x.mignitude() };
    let slope = 1.01 * size * f::powi(base, n.saturating_sub(1)).abs();
    let value = Range::of(enclosure.range);
    let rounding = rounded(value.magnitude(), 2.0 * (size + 2.0) * UNIT);
    Some((value, a.radii.moved(slope).plus(rounding)))
}
