//! Bounds of operations, member by member: a parabola with the distance from it on the step, or a
//! range with outward rounding. Planes hold one number of each register and member.

use crate::graph::{Binary, Unary};
use crate::jet::range::Range;
use crate::program::{Op, Program, Reg};
use crate::vm;

/// The planes of bounds before some place, and as much as one register from there on.
pub fn split(planes: &mut [Vec<f64>; 4], at: usize, members: usize) -> ([&[f64]; 4], [&mut [f64]; 4]) {
    let [a, b, c, d] = planes.each_mut().map(|plane| plane.split_at_mut(at));
    ([a.0, b.0, c.0, d.0], [a.1, b.1, c.1, d.1].map(|new| &mut new[..members]))
}

/// The registers computed so far, `[register][member]`.
pub struct Registers<'a> {
    pub program: &'a Program,
    pub known: [&'a [f64]; 4],
    pub members: usize,
}

impl<'a> Registers<'a> {
    fn bounds(&self, r: Reg) -> [&'a [f64]; 4] {
        self.known.map(|plane| &plane[r.index() * self.members..][..self.members])
    }

    fn at(&self, r: Reg, member: usize) -> [f64; 4] {
        self.known.map(|plane| plane[r.index() * self.members + member])
    }

    /// The bounds of an operation, for all members.
    #[inline(always)]
    pub fn bound(&self, op: Op, new: [&mut [f64]; 4]) {
        match op {
            Op::Binary(Binary::Add, a, b) => map_two(new, self.bounds(a), self.bounds(b), sum),
            Op::Binary(Binary::Sub, a, b) => map_two(new, self.bounds(a), self.bounds(b), difference),
            Op::Binary(Binary::Mul, a, b) => map_two(new, self.bounds(a), self.bounds(b), product),
            Op::Powi(a, 2) => map_two(new, self.bounds(a), self.bounds(a), |a, _| square(a)),
            _ => {
                let [value, slope, bend, rest] = new;
                for i in 0..self.members {
                    [value[i], slope[i], bend[i], rest[i]] = self.apply_to_one(op, i);
                }
            }
        }
    }

    /// The range of an operation, for all members, in the first two planes.
    #[inline(always)]
    pub fn enclose(&self, op: Op, [low, high, ..]: [&mut [f64]; 4]) {
        let of = |r: Reg| {
            let [low, high, ..] = self.bounds(r);
            [low, high]
        };
        match op {
            Op::Unary(Unary::Neg, a) => map_two([low, high], of(a), of(a), on_ends(|a, _| a.neg())),
            Op::Binary(Binary::Add, a, b) => map_two([low, high], of(a), of(b), on_ends(Range::add)),
            Op::Binary(Binary::Sub, a, b) => map_two([low, high], of(a), of(b), on_ends(Range::sub)),
            Op::Binary(Binary::Mul, a, b) => map_two([low, high], of(a), of(b), on_ends(Range::mul)),
            Op::Powi(a, 2) => map_two([low, high], of(a), of(a), on_ends(|a, _| a.square())),
            _ => {
                low.fill(f64::NEG_INFINITY);
                high.fill(f64::INFINITY);
            }
        }
    }

    /// The bounds of an operation of any kind; of most it is known only that they do not move if no
    /// operand does.
    fn apply_to_one(&self, op: Op, member: usize) -> [f64; 4] {
        let of = |r: Reg| self.at(r, member);
        let moves = |r: Reg| of(r)[1..] != [0.0; 3];
        let value = vm::apply(op, |t| self.program.table(t), |r| of(r)[0]);
        match op {
            Op::Unary(Unary::Neg, a) => difference([0.0; 4], of(a)),
            Op::Binary(Binary::Div, a, b) if !moves(b) => {
                let [_, slope, bend, rest] = of(a).map(|x| x / of(b)[0]);
                [value, slope, bend, rest.abs()]
            }
            Op::Select(c, a, b) if !moves(c) => of(if of(c)[0] != 0.0 { a } else { b }),
            Op::Powi(a, power) if power > 2 => (1..power).fold(of(a), |known, _| product(known, of(a))),
            _ if op.operands().any(moves) => [value, 0.0, 0.0, f64::INFINITY],
            _ => [value, 0.0, 0.0, 0.0],
        }
    }
}

/// Covers the rounding of the few operations of a bound, many times over.
const MARGIN: f64 = 1e-12;

/// The signs that bounded functions keep up to 1.
#[inline(always)]
pub fn keep(kept: &mut [i8], bounds: [&[f64]; 4]) {
    let [values, slopes, bends, rests] = bounds.map(|plane| &plane[..kept.len()]);
    for (i, kept) in kept.iter_mut().enumerate() {
        let sign = 1.0f64.copysign(values[i]);
        let (approach, bend) = (-sign * slopes[i], rests[i] * (1.0 + MARGIN) - sign * bends[i]);
        let toward = (approach + approach.abs()) + (bend + bend.abs());
        let keeps = toward < 2.0 * (1.0 - MARGIN) * values[i].abs();
        *kept = if keeps { sign as i8 } else { 0 };
    }
}

/// A function of ranges as one of their ends.
#[inline(always)]
fn on_ends(function: impl Fn(Range, Range) -> Range) -> impl Fn([f64; 2], [f64; 2]) -> [f64; 2] {
    move |a, b| {
        let [a, b] = [a, b].map(|[lo, hi]| Range { lo, hi });
        let Range { lo, hi } = function(a, b);
        [lo, hi]
    }
}

/// A function of two registers given by `N` planes, for all members.
#[inline(always)]
fn map_two<const N: usize>(
    mut new: [&mut [f64]; N],
    a: [&[f64]; N],
    b: [&[f64]; N],
    function: impl Fn([f64; N], [f64; N]) -> [f64; N],
) {
    let n = new[0].len();
    let (a, b) = (a.map(|plane| &plane[..n]), b.map(|plane| &plane[..n]));
    let mut new = new.each_mut().map(|plane| &mut plane[..n]);
    for i in 0..n {
        let value = function(a.map(|plane| plane[i]), b.map(|plane| plane[i]));
        for (plane, value) in new.iter_mut().zip(value) {
            plane[i] = value;
        }
    }
}

#[inline(always)]
fn sum([a, p, u, r]: [f64; 4], [b, q, v, s]: [f64; 4]) -> [f64; 4] {
    [a + b, p + q, u + v, r + s]
}

#[inline(always)]
fn difference([a, p, u, r]: [f64; 4], [b, q, v, s]: [f64; 4]) -> [f64; 4] {
    [a - b, p - q, u - v, r + s]
}

/// The bounds of a product: (a + p t + u t^2 + r t^3)(b + q t + v t^2 + s t^3) with |t| <= 1, where r
/// and s stand for anything not greater.
#[inline(always)]
fn product([a, p, u, r]: [f64; 4], [b, q, v, s]: [f64; 4]) -> [f64; 4] {
    let (size, other) = (p.abs() + u.abs(), q.abs() + v.abs());
    let rest = (a.abs() + size + r) * s + (b.abs() + other) * r + (p * v + u * q).abs() + (u * v).abs();
    [a * b, a * q + b * p, a * v + p * q + b * u, rest]
}

/// The bounds of a square.
#[inline(always)]
fn square([a, p, u, r]: [f64; 4]) -> [f64; 4] {
    let (slope, bend, cubic) = (a * p, a * u, (p * u).abs());
    let rest = (2.0 * (a.abs() + p.abs() + u.abs()) + r) * r + (cubic + cubic) + u * u;
    [a * a, slope + slope, p * p + (bend + bend), rest]
}
