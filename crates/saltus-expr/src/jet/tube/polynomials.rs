//! What a proof knows of the polynomials of rows: those of one step, or of all steps within limits.

use super::limits::Limits;
use super::profile::{Coefficients, Extent, Profiles};

/// A row whose coefficients are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub row: usize,
    /// It has a coefficient of order 0.
    pub starts: bool,
}

pub(super) enum Polynomials<'a> {
    Of(&'a mut Profiles),
    Within(&'a mut Limits),
}

impl Polynomials<'_> {
    /// The extent of a row.
    #[inline(always)]
    pub fn extent(&mut self, from: &Coefficients, row: Kept) -> Extent {
        match self {
            Polynomials::Of(profiles) => {
                let position = profiles.ask(from, row.row, row.starts);
                profiles.extent(position)
            }
            Polynomials::Within(limits) => limits.extent(from, row),
        }
    }

    /// The sum of the magnitudes of the terms of a product beyond the order.
    #[inline(always)]
    pub fn tail(&mut self, from: &Coefficients, factors: [Kept; 2]) -> f64 {
        match self {
            Polynomials::Of(profiles) => {
                let [a, b] = factors.map(|row| profiles.ask(from, row.row, row.starts));
                profiles.tail(a, b)
            }
            Polynomials::Within(limits) => limits.tail(from, factors),
        }
    }
}
