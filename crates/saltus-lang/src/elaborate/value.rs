//! Values while a model is elaborated: scalar expressions in a shape, with their sort and what is
//! known about their unit.

use super::items::Items;
use crate::units::Dimension;
use saltus_expr::{Expr, Sort};
use std::fmt;

/// The error type of elaboration: something is wrong and has been reported already, so whatever
/// depends on it stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reported;

/// The result of elaborating a part of a model.
pub(super) type Elaborated<T> = Result<T, Reported>;

/// The shape of a value: one-based, matrices row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    Scalar,
    Vector(usize),
    Matrix(usize, usize),
}

impl Shape {
    pub(super) fn from_sizes(sizes: &[usize]) -> Option<Shape> {
        match *sizes {
            [] => Some(Shape::Scalar),
            [n] => Some(Shape::Vector(n)),
            [n, m] => Some(Shape::Matrix(n, m)),
            _ => None,
        }
    }

    pub(super) fn sizes(self) -> Vec<usize> {
        match self {
            Shape::Scalar => vec![],
            Shape::Vector(n) => vec![n],
            Shape::Matrix(n, m) => vec![n, m],
        }
    }

    /// Number of scalars, saturating so that absurd sizes are refused instead of wrapped.
    pub(super) fn len(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => n,
            Shape::Matrix(n, m) => n.saturating_mul(m),
        }
    }

    /// The index text of the scalar at a position: `[2]`, `[1,3]`, or nothing.
    pub(super) fn suffix(self, position: usize) -> String {
        match self {
            Shape::Scalar => String::new(),
            Shape::Vector(_) => format!("[{}]", position + 1),
            Shape::Matrix(_, m) => format!("[{},{}]", position / m + 1, position % m + 1),
        }
    }

    /// The shape of an array of this shape whose elements have shape `inner`.
    pub(super) fn of(self, inner: Shape) -> Option<Shape> {
        let sizes = [self.sizes(), inner.sizes()].concat();
        Shape::from_sizes(&sizes)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Scalar => f.write_str("a single value"),
            Shape::Vector(n) => write!(f, "a vector of {n}"),
            Shape::Matrix(n, m) => write!(f, "a {n} x {m} matrix"),
        }
    }
}

/// What is known about the unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Measure {
    /// A plain number that fits any unit.
    Plain,
    /// Depends on a variable without a unit: nothing can be checked.
    Unknown,
    /// A quantity of a known dimension.
    Known(Dimension),
    /// An array of unlike quantities; the elaborator has the measures of its elements at this place.
    Unlike(usize),
}

/// An elaborated value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) shape: Shape,
    pub(super) items: Items,
    pub(super) sort: Sort,
    pub(super) measure: Measure,
}

impl Value {
    pub(super) fn scalar(item: Expr, sort: Sort, measure: Measure) -> Value {
        Value { shape: Shape::Scalar, items: item.into(), sort, measure }
    }

    /// The item at a position; a scalar stands for every position.
    pub(super) fn at(&self, position: usize) -> Expr {
        if self.shape == Shape::Scalar { self.items[0] } else { self.items[position] }
    }
}

/// The name of a sort as the language spells it.
pub(super) fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Real => "Real",
        Sort::Integer => "Integer",
        Sort::Boolean => "Boolean",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_named_from_one_row_by_row() {
        assert_eq!(Shape::Vector(3).suffix(2), "[3]");
        assert_eq!(Shape::Matrix(2, 3).suffix(4), "[2,2]");
        assert_eq!(Shape::Vector(2).of(Shape::Vector(3)), Some(Shape::Matrix(2, 3)));
        assert_eq!(Shape::Matrix(2, 2).of(Shape::Vector(3)), None);
        assert_eq!(Shape::Matrix(usize::MAX, 2).len(), usize::MAX);
    }
}
