//! How high in time a row can reach.
//!
//! A signal that is a polynomial in time has no coefficients above its degree. Degrees follow from
//! the operations alone, whatever the values are: a bouncing ball is of degree 2, a parameter of
//! degree 0. A state has one more than its derivative.

use crate::graph::{Binary, Interpolation, Table, Unary};
use crate::program::{Op, Program, Reg};
use std::sync::Arc;

/// An upper bound of the degree in time of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Degree(u8);

/// Degrees above this one are not distinguished from none.
const GREATEST: usize = 64;

impl Degree {
    /// Does not change with time.
    pub const CONSTANT: Degree = Degree(0);
    /// Time itself.
    pub const LINEAR: Degree = Degree(1);
    /// No bound.
    pub const UNBOUNDED: Degree = Degree(u8::MAX);

    /// A bound, unless it is too great to be useful.
    pub fn new(degree: usize) -> Degree {
        if degree <= GREATEST { Degree(degree as u8) } else { Degree::UNBOUNDED }
    }

    /// The bound, if there is one.
    pub fn bound(self) -> Option<usize> {
        (self != Degree::UNBOUNDED).then_some(self.0 as usize)
    }

    /// True if there may be a coefficient of order `k`.
    #[inline]
    pub fn reaches(self, k: usize) -> bool {
        k <= self.0 as usize || self.0 == u8::MAX
    }

    /// The greatest order with a coefficient, up to a given one below 255.
    #[inline]
    pub fn within(self, order: usize) -> usize {
        debug_assert!(order < u8::MAX as usize);
        order.min(self.0 as usize)
    }

    /// True for a row without change in time.
    pub fn is_constant(self) -> bool {
        self == Degree::CONSTANT
    }

    /// Degree of a product.
    pub fn plus(self, other: Degree) -> Degree {
        match (self.bound(), other.bound()) {
            (Some(a), Some(b)) => Degree::new(a + b),
            _ => Degree::UNBOUNDED,
        }
    }

    /// Degree of a state with a derivative of this degree.
    pub fn integral(self) -> Degree {
        self.plus(Degree::LINEAR)
    }

    /// Degree of a function that is no polynomial.
    pub fn transcendental(self) -> Degree {
        if self.is_constant() { self } else { Degree::UNBOUNDED }
    }
}

fn times(n: u32, degree: Degree) -> Degree {
    match degree.bound() {
        Some(d) => Degree::new(d.saturating_mul(n as usize)),
        None => {
            if n == 0 {
                Degree::CONSTANT
            } else {
                degree
            }
        }
    }
}

/// Degree of an operation's result. Locked operations follow the piece they are locked to.
pub(super) fn of_op<'t>(op: Op, table: impl Fn(u32) -> &'t Arc<Table>, of: impl Fn(Reg) -> Degree) -> Degree {
    let linear = |t: u32| table(t).interpolation == Interpolation::Linear;
    match op {
        Op::Unary(Unary::Neg | Unary::Abs | Unary::Clip, a) => of(a),
        Op::Unary(Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil, _) => Degree::CONSTANT,
        Op::Unary(_, a) => of(a).transcendental(),
        Op::Binary(op, a, b) => match op {
            Binary::Add | Binary::Sub | Binary::Min | Binary::Max | Binary::Mod => of(a).max(of(b)),
            Binary::Mul => of(a).plus(of(b)),
            Binary::Div if of(b).is_constant() => of(a),
            Binary::Div | Binary::Pow | Binary::Atan2 | Binary::Hypot => of(a).max(of(b)).transcendental(),
            Binary::Lt | Binary::Le | Binary::Eq | Binary::And | Binary::Or => Degree::CONSTANT,
        },
        Op::Powi(a, n) if n >= 0 => times(n as u32, of(a)),
        Op::Powi(a, _) => of(a).transcendental(),
        Op::Select(_, a, b) => of(a).max(of(b)),
        Op::Table1(t, a) => {
            if linear(t) {
                of(a)
            } else {
                Degree::CONSTANT
            }
        }
        Op::Table2(t, a, b) => {
            if linear(t) {
                of(a).plus(of(b))
            } else {
                Degree::CONSTANT
            }
        }
    }
}

/// Degrees of all registers of a program.
pub(super) fn of_registers(program: &Program, inputs: impl Iterator<Item = Degree>, into: &mut Vec<Degree>) {
    into.clear();
    into.extend(inputs);
    into.resize(program.first_op(), Degree::CONSTANT);
    for &op in program.ops() {
        let degree = of_op(op, |t| program.table(t), |r| into[r.index()]);
        into.push(degree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_add_and_saturate() {
        let d = Degree::new;
        assert_eq!(d(2).plus(d(3)), d(5));
        assert_eq!(d(40).plus(d(40)), Degree::UNBOUNDED);
        assert_eq!(Degree::UNBOUNDED.plus(d(0)), Degree::UNBOUNDED);
        assert_eq!(times(3, d(2)), d(6));
        assert_eq!(times(0, Degree::UNBOUNDED), Degree::CONSTANT);
        assert!(d(2).reaches(2) && !d(2).reaches(3) && Degree::UNBOUNDED.reaches(1000));
        assert!(d(3) < Degree::UNBOUNDED);
    }
}
