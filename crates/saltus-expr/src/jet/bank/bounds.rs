//! Bounds of operations, lane by lane: a parabola with the distance from it on the step, or a range
//! with outward rounding.

use crate::graph::{Binary, Unary};
use crate::jet::range::Range;
use crate::program::{Op, Program, Reg};
use crate::vm;
use saltus_num::MARGIN;
use saltus_num::elementary::powi;
use std::ops::{Add, Mul, Sub};

/// A quantity on 0 <= s <= 1: `[a, b, c, r, e]` if it differs from a + b s + c s^2 by at most
/// r s^3 + e.
pub type Bounds = [f64; 5];

/// Lanes that are taken as one vector.
pub const GROUP: usize = 4;

/// The bounds of neighbouring lanes, number by number.
pub type Group = [[f64; GROUP]; 5];

/// The bounds in a lane, of which so many numbers are known; others are zero.
#[inline(always)]
pub fn at<const NUMBERS: usize>(group: &Group, lane: usize) -> Bounds {
    std::array::from_fn(|number| if number < NUMBERS { group[number][lane] } else { 0.0 })
}

/// Sets the bounds in a lane.
#[inline(always)]
pub fn set(group: &mut Group, lane: usize, [value, slope, bend, rest, error]: Bounds) {
    group[0][lane] = value;
    group[1][lane] = slope;
    group[2][lane] = bend;
    group[3][lane] = rest;
    group[4][lane] = error;
}

/// The registers computed so far, `[register][group]`, with so many numbers of their bounds: all, or those
/// without errors, which are zero then.
pub struct Registers<'a, const NUMBERS: usize> {
    pub program: &'a Program,
    pub known: &'a [Group],
    pub groups: usize,
}

impl<'a, const NUMBERS: usize> Registers<'a, NUMBERS> {
    fn of(&self, r: Reg) -> &'a [Group] {
        &self.known[r.index() * self.groups..][..self.groups]
    }

    /// The bounds of an operation, for all lanes.
    #[inline(always)]
    pub fn bound(&self, op: Op, new: &mut [Group]) {
        match op {
            Op::Binary(Binary::Add, a, b) => map_groups::<NUMBERS>(new, self.of(a), self.of(b), sum),
            Op::Binary(Binary::Sub, a, b) => map_groups::<NUMBERS>(new, self.of(a), self.of(b), difference),
            Op::Binary(Binary::Mul, a, b) => map_groups::<NUMBERS>(new, self.of(a), self.of(b), product),
            Op::Powi(a, 2) => map_groups::<NUMBERS>(new, self.of(a), self.of(a), |a, _| square(a)),
            _ => {
                for (g, group) in new.iter_mut().enumerate() {
                    for lane in 0..GROUP {
                        set(group, lane, self.apply_to_one(op, g, lane));
                    }
                }
            }
        }
    }

    /// Adds the rounding of an operation to its bounds.
    #[inline(always)]
    pub fn add_rounding(&self, op: Op, new: &mut [Group]) {
        match op {
            Op::Binary(Binary::Mul, a, b) => {
                add_to_errors(new, self.of(a).iter().zip(self.of(b)), |(a, b)| {
                    product_of(sizes(a), sizes(b))
                });
            }
            Op::Powi(a, 2) => {
                add_to_errors(new, self.of(a).iter(), |a| sizes(a).map(|size| 2.0 * (size * size)));
            }
            Op::Powi(a, power) => {
                let terms = |size| f64::from(power.unsigned_abs()) * powi(size, power);
                add_to_errors(new, self.of(a).iter(), |a| sizes(a).map(terms));
            }
            _ => add_to_errors(new, std::iter::repeat(()), |()| [0.0; GROUP]),
        }
    }

    /// The range of an operation, for all lanes, as the first two numbers.
    #[inline(always)]
    pub fn enclose(&self, op: Op, new: &mut [Group]) {
        match op {
            Op::Unary(Unary::Neg, a) => map_two(new, self.of(a), self.of(a), on_ends(|a, _| a.neg())),
            Op::Binary(Binary::Add, a, b) => map_two(new, self.of(a), self.of(b), on_ends(Range::add)),
            Op::Binary(Binary::Sub, a, b) => map_two(new, self.of(a), self.of(b), on_ends(Range::sub)),
            Op::Binary(Binary::Mul, a, b) => map_two(new, self.of(a), self.of(b), on_ends(Range::mul)),
            Op::Powi(a, 2) => map_two(new, self.of(a), self.of(a), on_ends(|a, _| a.square())),
            _ => new.fill([f64::NEG_INFINITY, f64::INFINITY, 0.0, 0.0, 0.0].map(|x| [x; GROUP])),
        }
    }

    /// The bounds of an operation of any kind; of most it is known only that they do not move if no
    /// operand does.
    fn apply_to_one(&self, op: Op, group: usize, lane: usize) -> Bounds {
        let of = |r: Reg| at::<NUMBERS>(&self.of(r)[group], lane);
        let moves = |r: Reg| of(r)[1..] != [0.0; 4];
        let value = vm::apply(op, |t| self.program.table(t), |r| of(r)[0]);
        match op {
            Op::Unary(Unary::Neg, a) => difference([0.0; 5], of(a)),
            Op::Binary(Binary::Div, a, b) if !moves(b) => {
                let [_, slope, bend, rest, error] = of(a).map(|x| x / of(b)[0]);
                [value, slope, bend, rest.abs(), error.abs()]
            }
            Op::Select(c, a, b) if !moves(c) => of(if of(c)[0] != 0.0 { a } else { b }),
            Op::Powi(a, power) if power > 2 => (1..power).fold(of(a), |known, _| product(known, of(a))),
            _ if op.operands().any(moves) => [value, 0.0, 0.0, f64::INFINITY, 0.0],
            _ => [value, 0.0, 0.0, 0.0, 0.0],
        }
    }
}

/// Bounds of the sums of the magnitudes of all coefficients in some lanes.
#[inline(always)]
fn sizes(group: &Group) -> [f64; GROUP] {
    let [value, slope, bend, rest, _] = group;
    std::array::from_fn(|lane| value[lane].abs() + slope[lane].abs() + (bend[lane].abs() + rest[lane]))
}

#[inline(always)]
fn product_of(a: [f64; GROUP], b: [f64; GROUP]) -> [f64; GROUP] {
    std::array::from_fn(|lane| a[lane] * b[lane])
}

/// Adds the rounding of an operation whose terms are so great in each of some groups.
#[inline(always)]
fn add_to_errors<T>(new: &mut [Group], operands: impl Iterator<Item = T>, terms: impl Fn(T) -> [f64; GROUP]) {
    for (group, operands) in new.iter_mut().zip(operands) {
        let (terms, sizes) = (terms(operands), sizes(group));
        for lane in 0..GROUP {
            group[4][lane] += OPERATION * (terms[lane] + sizes[lane]) + f64::MIN_POSITIVE;
        }
    }
}

/// Covers the rounding of the coefficients of a polynomial, up to order 40, relative to the terms they are
/// sums of, and of the bounds of them.
const OPERATION: f64 = 24.0 * f64::EPSILON;

/// A place on 0 <= s <= 1 before which a bounded quantity surely keeps the sign it has at 0; 0 if
/// it may have any.
///
/// ```
/// use saltus_expr::jet::steady_until;
/// // 1 - 2 s, 1 - 4 s^2 and 1 - s^2 / 2.
/// assert!((steady_until([1.0, -2.0, 0.0, 0.0, 0.0]) - 0.5).abs() < 1e-9);
/// assert!((steady_until([1.0, 0.0, -4.0, 0.0, 0.0]) - 0.5).abs() < 1e-9);
/// assert_eq!(steady_until([1.0, 0.0, -0.5, 0.0, 0.0]), 1.0);
/// // Something that is at most 1 away from 1 may be zero.
/// assert_eq!(steady_until([1.0, 0.0, 0.0, 0.0, 1.0]), 0.0);
/// ```
#[inline(always)]
pub fn steady_until([value, slope, bend, rest, error]: Bounds) -> f64 {
    let toward = -1.0f64.copysign(value);
    let room = value.abs() * (1.0 - MARGIN) - error * (1.0 + MARGIN);
    // The cubic term is at most the square, and hardly matters nearer to 0.
    let place = first_zero(room, toward * slope, toward * bend + rest * (1.0 + MARGIN));
    // Nothing is known where a number is none.
    if room > 0.0 { place } else { 0.0 }
}

/// The sign that a bounded quantity has on 0 < s <= 1 if it is zero at 0, where it is off by nothing; 0 if it
/// may have any.
#[inline(always)]
pub fn sign_behind_zero([_, slope, bend, rest, error]: Bounds) -> f64 {
    // Divided by s it is the slope, and loses no more of that than it would on the whole step.
    let loss = (-bend * 1.0f64.copysign(slope)).max(0.0) + rest;
    let keeps = loss * (1.0 + MARGIN) < slope.abs() * (1.0 - MARGIN) && error == 0.0;
    if keeps { 1.0f64.copysign(slope) } else { 0.0 }
}

/// A lower bound, at most 1, of the first positive zero of bend s^2 + approach s - room for a positive
/// room; 0 if a number is none.
#[inline(always)]
fn first_zero(room: f64, approach: f64, bend: f64) -> f64 {
    let discriminant = approach * approach + 4.0 * bend * room;
    let root = discriminant.sqrt();
    // Without cancellation.
    let approaches = approach > 0.0;
    let (sum, twice) = (root + approach.abs(), 2.0 * if approaches { room } else { bend });
    let (over, under) = if approaches { (twice, sum) } else { (sum, twice) };
    let place = (1.0 - MARGIN) * (over / under);
    let never = (discriminant < 0.0) | ((approach <= 0.0) & (bend <= 0.0)) | (place >= 1.0);
    let place = if never { 1.0 } else { place };
    if place > 0.0 { place } else { 0.0 }
}

/// [`steady_until`] for neighbouring lanes.
#[inline(always)]
pub fn steady_group<const NUMBERS: usize>(bounds: &Group) -> [f64; GROUP] {
    let mut places = [0.0; GROUP];
    for (lane, place) in places.iter_mut().enumerate() {
        *place = steady_until(at::<NUMBERS>(bounds, lane));
    }
    places
}

/// A function of ranges as one of bounds whose first two numbers are their ends.
#[inline(always)]
fn on_ends(function: impl Fn(Range, Range) -> Range) -> impl Fn(Bounds, Bounds) -> Bounds {
    move |a, b| {
        let [a, b] = [a, b].map(|[lo, hi, ..]| Range { lo, hi });
        let Range { lo, hi } = function(a, b);
        [lo, hi, 0.0, 0.0, 0.0]
    }
}

/// A number, or the same number of neighbouring lanes.
trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    fn abs(self) -> Self;
}

impl Number for f64 {
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
}

/// One number of neighbouring lanes.
#[derive(Clone, Copy)]
struct Four([f64; GROUP]);

impl Number for Four {
    #[inline(always)]
    fn abs(self) -> Self {
        Four(self.0.map(f64::abs))
    }
}

impl Add for Four {
    type Output = Four;

    #[inline(always)]
    fn add(self, other: Four) -> Four {
        Four(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }
}

impl Sub for Four {
    type Output = Four;

    #[inline(always)]
    fn sub(self, other: Four) -> Four {
        Four(std::array::from_fn(|lane| self.0[lane] - other.0[lane]))
    }
}

impl Mul for Four {
    type Output = Four;

    #[inline(always)]
    fn mul(self, other: Four) -> Four {
        Four(std::array::from_fn(|lane| self.0[lane] * other.0[lane]))
    }
}

/// A function of the bounds in two registers, for all lanes and so many numbers.
#[inline(always)]
fn map_groups<const NUMBERS: usize>(
    new: &mut [Group],
    a: &[Group],
    b: &[Group],
    function: impl Fn([Four; 5], [Four; 5]) -> [Four; 5],
) {
    for ((new, a), b) in new.iter_mut().zip(a).zip(b) {
        let result = function(a.map(Four), b.map(Four));
        new.iter_mut().zip(result).take(NUMBERS).for_each(|(new, four)| *new = four.0);
    }
}

/// A function of the ranges in two registers, for all lanes.
#[inline(always)]
fn map_two(new: &mut [Group], a: &[Group], b: &[Group], function: impl Fn(Bounds, Bounds) -> Bounds) {
    for ((new, a), b) in new.iter_mut().zip(a).zip(b) {
        for lane in 0..GROUP {
            set(new, lane, function(at::<2>(a, lane), at::<2>(b, lane)));
        }
    }
}

#[inline(always)]
fn sum<N: Number>([a, p, u, r, e]: [N; 5], [b, q, v, s, f]: [N; 5]) -> [N; 5] {
    [a + b, p + q, u + v, r + s, e + f]
}

#[inline(always)]
fn difference<N: Number>([a, p, u, r, e]: [N; 5], [b, q, v, s, f]: [N; 5]) -> [N; 5] {
    [a - b, p - q, u - v, r + s, e + f]
}

/// The bounds of a product: (a + p t + u t^2 + r t^3 + e)(b + q t + v t^2 + s t^3 + f) with |t| <= 1,
/// where r, s, e and f stand for anything not greater.
#[inline(always)]
fn product<N: Number>([a, p, u, r, e]: [N; 5], [b, q, v, s, f]: [N; 5]) -> [N; 5] {
    let (size, other) = (a.abs() + (p.abs() + u.abs()), b.abs() + (q.abs() + v.abs()));
    let rest = (size + r) * s + other * r + (p * v + u * q).abs() + (u * v).abs();
    let error = (size + r + e) * f + (other + s) * e;
    [a * b, a * q + b * p, a * v + p * q + b * u, rest, error]
}

/// The bounds of a square.
#[inline(always)]
fn square<N: Number>([a, p, u, r, e]: [N; 5]) -> [N; 5] {
    let (slope, bend, cubic) = (a * p, a * u, (p * u).abs());
    let size = a.abs() + p.abs() + u.abs();
    let twice = size + size;
    let rest = (twice + r) * r + (cubic + cubic) + u * u;
    let error = (twice + (r + r) + e) * e;
    [a * a, slope + slope, p * p + (bend + bend), rest, error]
}
