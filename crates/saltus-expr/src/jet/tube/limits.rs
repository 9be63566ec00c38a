//! What a proof supposes of the coefficients: limits that they are within.
//!
//! All that is used of a polynomial in a proof is its [`Extent`] and, of two that are multiplied, the
//! sum of the terms beyond the order; and every bound that follows holds for smaller ones, too. So a
//! proof made for limits that are wider than they need be for one step holds for all steps within
//! them, and only that has to be tested there. Tails are, moreover, proportional to those supposed.

use super::profile::{Extent, Extents, Position, Profiles};

/// How much greater than the coefficients of a step wide limits are.
const SIZES: f64 = 2.0;
const TAILS: f64 = 16.0;

/// Tails are supposed to be at least this share of the factors: so small they change nothing but
/// themselves, and what is made of them is proportional to what they are.
const LEAST_TAIL: f64 = 1e-6;

#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    /// Wider than needed, in order to hold for other steps.
    pub is_wide: bool,
    /// Of all rows that are read; unknown for those of which nothing is supposed.
    extents: Vec<Extents>,
    /// Those that were supposed before.
    before: Vec<Extents>,
    tails: Vec<Tail>,
}

/// A limit for the terms of a product beyond the order.
#[derive(Clone, Copy, Debug)]
struct Tail {
    factors: [Position; 2],
    limit: f64,
}

impl Limits {
    pub fn new(is_wide: bool) -> Limits {
        Limits { is_wide, ..Limits::default() }
    }

    /// Supposes nothing, but remembers what was.
    pub fn renew(&mut self) {
        std::mem::swap(&mut self.extents, &mut self.before);
        self.extents.clear();
        self.extents.resize(self.before.len(), Extents::UNKNOWN);
        self.tails.clear();
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.extents.fill(Extents::UNKNOWN);
        self.tails.clear();
    }

    /// Supposes nothing of tails.
    pub fn clear_tails(&mut self) {
        self.tails.clear();
    }

    /// What is supposed of a row, at least what it has on the step.
    #[inline(always)]
    pub fn extent(&mut self, profiles: &Profiles, position: Position) -> Extent {
        if self.is_wide { self.suppose(profiles, position) } else { profiles.extent(position) }
    }

    fn suppose(&mut self, profiles: &Profiles, position: Position) -> Extent {
        if position.group() >= self.extents.len() {
            self.extents.resize(position.group() + 1, Extents::UNKNOWN);
        }
        let extents = &mut self.extents[position.group()];
        let supposed = extents.get(position.lane());
        if supposed.size < f64::INFINITY {
            return supposed;
        }
        let here = profiles.extent(position);
        let before = self.before.get(position.group()).map(|extents| extents.get(position.lane()));
        let supposed = match before.filter(|before| before.size < f64::INFINITY) {
            Some(before) => before.extended(here),
            None => here.wider(),
        };
        extents.set(position.lane(), supposed);
        supposed
    }

    /// What is supposed of a row of which something is.
    pub fn supposed(&self, profiles: &Profiles, row: usize) -> Extent {
        match profiles.position(row) {
            Some(at) if self.is_wide => self.extents[at.group()].get(at.lane()),
            Some(at) => profiles.extent(at),
            None => Extent::UNKNOWN,
        }
    }

    /// What is supposed of the terms of a product beyond the order, at least what they are on the step.
    pub fn tail(&mut self, profiles: &Profiles, factors: [Position; 2]) -> f64 {
        let sum = profiles.tail(factors[0], factors[1]);
        if !self.is_wide {
            return sum;
        }
        let [a, b] = factors.map(|at| self.suppose(profiles, at).size);
        let limit = (TAILS * sum).max(LEAST_TAIL * a * b);
        self.tails.push(Tail { factors, limit });
        limit
    }

    /// The greatest share of a tail of the step in what is supposed, if its coefficients are within the
    /// limits.
    pub fn share(&self, profiles: &Profiles) -> Option<f64> {
        if !profiles.extents().iter().zip(&self.extents).all(|(here, limits)| here.are_within(limits)) {
            return None;
        }
        let mut share = 0.0;
        for &Tail { factors: [a, b], limit } in &self.tails {
            let sum = profiles.tail(a, b);
            if sum > share * limit {
                share = sum / limit;
            }
        }
        (share <= 1.0).then_some(share)
    }
}

impl Extent {
    fn wider(self) -> Extent {
        let more = (SIZES - 1.0) * self.size;
        Extent { lo: self.lo - more, hi: self.hi + more, start: self.start + more, size: self.size + more }
    }

    /// Wide enough for another polynomial, and wider by half where it has to grow, so that it does not
    /// have to do so often.
    fn extended(self, other: Extent) -> Extent {
        let (wider, half) = (other.wider(), 0.5 * (self.hi - self.lo));
        Extent {
            lo: if other.lo < self.lo { wider.lo - half } else { self.lo },
            hi: if other.hi > self.hi { wider.hi + half } else { self.hi },
            start: if other.start > self.start { wider.start + half } else { self.start },
            size: if other.size > self.size { wider.size } else { self.size },
        }
    }
}
