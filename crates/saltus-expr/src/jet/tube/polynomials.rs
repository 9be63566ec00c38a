//! What a proof knows of the polynomials of rows: those of one step, or of all steps within limits.

use super::limits::Limits;
use super::profile::{Coefficients, Extent, Profiles};
use crate::program::Reg;

pub(super) enum Polynomials<'a> {
    Of(&'a mut Profiles),
    Within(&'a mut Limits),
}

impl Polynomials<'_> {
    /// The extent of a row.
    #[inline(always)]
    pub fn extent(&mut self, from: &Coefficients, row: Reg) -> Extent {
        match self {
            Polynomials::Of(profiles) => match profiles.ask(from, row) {
                Some(position) => profiles.extent(position),
                None => Extent::UNKNOWN,
            },
            Polynomials::Within(limits) => limits.extent(from, row),
        }
    }

    /// The sum of the magnitudes of the terms of a product beyond the order.
    #[inline(always)]
    pub fn tail(&mut self, from: &Coefficients, [a, b]: [Reg; 2]) -> f64 {
        match self {
            Polynomials::Of(profiles) => match (profiles.ask(from, a), profiles.ask(from, b)) {
                (Some(a), Some(b)) => profiles.tail(a, b),
                _ => f64::INFINITY,
            },
            Polynomials::Within(limits) => limits.tail(from, [a, b]),
        }
    }
}
