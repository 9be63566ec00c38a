//! Ranges: inf-sup intervals that are bounded and cheap.
//!
//! The ends are computed in ordinary arithmetic and then moved outward by twice the unit roundoff
//! and a little for underflow, so a result holds the exact values and also the computed ones.
//! Where ends are not finite a product of zero and infinity counts as zero, or as NaN if there is
//! nothing else; the caller finds results that are not finite.

use crate::graph::{Binary, Unary};
use crate::program::{Op, Program, Reg};
use saltus_num::elementary::{PowerStep, power_chain};
use saltus_num::interval::Interval;
use saltus_num::{greater, lesser};

/// More than the error of a product by underflow; its square is still an ordinary number.
pub(super) const TINY: f64 = 1e-140;

/// All numbers from `lo` to `hi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least one.
    pub lo: f64,
    /// The greatest one.
    pub hi: f64,
}

/// Encloses all registers of a program made of sums and products on a box of its inputs; of other
/// operations any number is taken for possible.
///
/// ```
/// use saltus_expr::jet::{Range, enclose};
/// use saltus_expr::{Graph, Program, Sort, VarId};
/// let mut graph = Graph::new();
/// let x = graph.var(VarId(0), Sort::Real);
/// let square = graph.powi(x, 2);
/// let (program, _) = Program::new(&graph, &[square]);
/// let mut registers = Vec::new();
/// enclose(&program, [Range { lo: -1.0, hi: 3.0 }].into_iter(), &mut registers);
/// let Range { lo, hi } = registers[program.outputs()[0].index()];
/// assert!(lo == 0.0 && hi >= 9.0 && hi < 9.0 + 1e-12);
/// ```
pub fn enclose(program: &Program, inputs: impl Iterator<Item = Range>, registers: &mut Vec<Range>) {
    registers.clear();
    registers.extend(inputs);
    registers.extend(program.constants().map(Range::point));
    for &op in program.ops() {
        let of = |r: Reg| registers[r.index()];
        registers.push(match op {
            Op::Unary(Unary::Neg, a) => of(a).neg(),
            Op::Binary(Binary::Add, a, b) => of(a).add(of(b)),
            Op::Binary(Binary::Sub, a, b) => of(a).sub(of(b)),
            Op::Binary(Binary::Mul, a, b) if a == b => of(a).square(),
            Op::Binary(Binary::Mul, a, b) => of(a).mul(of(b)),
            Op::Powi(a, n) if n > 0 => of(a).power(n.unsigned_abs()),
            _ => Range { lo: f64::NEG_INFINITY, hi: f64::INFINITY },
        });
    }
}

#[inline(always)]
fn down(x: f64) -> f64 {
    x - (x.abs() * f64::EPSILON + TINY)
}

#[inline(always)]
fn up(x: f64) -> f64 {
    x + (x.abs() * f64::EPSILON + TINY)
}

impl Range {
    pub(super) const TRUTH: Range = Range { lo: 0.0, hi: 1.0 };

    #[inline(always)]
    pub(super) fn point(x: f64) -> Range {
        Range { lo: x, hi: x }
    }

    pub(super) fn of(interval: Interval) -> Range {
        Range { lo: interval.lo(), hi: interval.hi() }
    }

    pub(super) fn interval(self) -> Interval {
        Interval::new(self.lo, self.hi)
    }

    #[inline(always)]
    pub(super) fn is_point(self) -> bool {
        self.lo == self.hi
    }

    #[inline(always)]
    pub(super) fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    #[inline(always)]
    pub(super) fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    #[inline(always)]
    pub(super) fn mignitude(self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }

    /// Wide enough for a number, and for as many beyond it as the range grows.
    pub(super) fn extended(self, x: f64) -> Range {
        let size = self.hi - self.lo;
        let lo = if x < self.lo { x - (self.lo - x) - 0.5 * size } else { self.lo };
        let hi = if x > self.hi { x + (x - self.hi) + 0.5 * size } else { self.hi };
        Range { lo, hi }
    }

    #[inline(always)]
    fn outward(self) -> Range {
        Range { lo: down(self.lo), hi: up(self.hi) }
    }

    #[inline(always)]
    pub(super) fn neg(self) -> Range {
        Range { lo: -self.hi, hi: -self.lo }
    }

    #[inline(always)]
    pub(super) fn add(self, other: Range) -> Range {
        Range { lo: self.lo + other.lo, hi: self.hi + other.hi }.outward()
    }

    #[inline(always)]
    pub(super) fn sub(self, other: Range) -> Range {
        self.add(other.neg())
    }

    pub(super) fn mul(self, other: Range) -> Range {
        let ends = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let lo = ends[0].min(ends[1]).min(ends[2].min(ends[3]));
        let hi = ends[0].max(ends[1]).max(ends[2].max(ends[3]));
        Range { lo, hi }.outward()
    }

    /// The same for ends that are finite, where an end is one comparison less.
    #[inline(always)]
    pub(super) fn times(self, other: Range) -> Range {
        let ends = [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let lo = lesser(lesser(ends[0], ends[1]), lesser(ends[2], ends[3]));
        let hi = greater(greater(ends[0], ends[1]), greater(ends[2], ends[3]));
        Range { lo, hi }.outward()
    }

    #[inline(always)]
    pub(super) fn square(self) -> Range {
        let (small, large) = (self.mignitude(), self.magnitude());
        let square = Range { lo: small * small, hi: large * large }.outward();
        Range { lo: square.lo.max(0.0), ..square }
    }

    fn power(self, n: u32) -> Range {
        power_chain(n).fold(self, |power, step| match step {
            PowerStep::Square => power.square(),
            PowerStep::Multiply => power.mul(self),
        })
    }

    /// The quotient by a range without zero.
    #[inline(always)]
    pub(super) fn div(self, other: Range) -> Range {
        let (by, over) = if other.hi < 0.0 { (other.neg(), self.neg()) } else { (other, self) };
        let lo = over.lo / if over.lo >= 0.0 { by.hi } else { by.lo };
        let hi = over.hi / if over.hi >= 0.0 { by.lo } else { by.hi };
        Range { lo, hi }.outward()
    }

    pub(super) fn abs(self) -> Range {
        Range { lo: self.mignitude(), hi: self.magnitude() }
    }

    #[inline(always)]
    pub(super) fn intersection(self, other: Range) -> Range {
        Range { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }
}
