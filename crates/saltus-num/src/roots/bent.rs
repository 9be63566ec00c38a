//! Polynomials that bend one way all over the interval, as most guards do on a step: they have two roots at
//! most, and value and slope at a few places tell how many and where.

use super::{Piece, Root, RootFinder, Sign};
use crate::MARGIN;

/// Newton's method for the vertex mostly needs no more; a place near to it does, too.
const ITERATIONS: usize = 3;

impl RootFinder {
    /// The roots of a polynomial of at least the third degree whose second derivative has one sign on
    /// \[0, 1\]; `None` leaves it to the general method.
    pub(super) fn bent(&self) -> Option<[Option<Root>; 2]> {
        let [c0, c1, c2, ..] = self.poly[..] else { return None };
        let others = (3..).zip(&self.magnitude[3..]).map(|(k, magnitude)| f64::from(k * (k - 1)) * magnitude);
        if 2.0 * c2.abs() * (1.0 - MARGIN) <= others.sum() {
            return None;
        }
        let (end, noise) = self.at(1.0);
        if end.value.abs() <= noise {
            return None;
        }
        let [left, right, bend] = [c0, end.value, c2].map(Sign::of);
        if left != right {
            let guess = parabola_crossing([c0, c1, c2]).unwrap_or(c0 / (c0 - end.value));
            let whole = Piece { from: 0.0, to: 1.0, left, right };
            return Some([self.refine(whole, guess).clipped(), None]);
        }
        // It bends away from zero, or begins to move away from it.
        if left != bend || c1 * bend.value() >= 0.0 {
            return Some([None; 2]);
        }
        let (vertex, bending) = self.vertex(c1, c2);
        let (lowest, noise) = self.at(vertex);
        let value = lowest.value * bend.value();
        // It is above its tangent there.
        let is_at_end = vertex == 1.0 && lowest.slope * bend.value() <= 0.0;
        let fall = if is_at_end { self.poly.len() as f64 * noise } else { lowest.slope.abs() };
        if value > noise + fall * (1.0 + MARGIN) {
            return Some([None; 2]);
        }
        if value >= -noise || is_at_end {
            return None;
        }
        let reach = (2.0 * lowest.value / bending).abs().sqrt();
        let first = Piece { from: 0.0, to: vertex, left, right: bend.flip() };
        let second = Piece { from: vertex, to: 1.0, left: bend.flip(), right };
        let roots = [self.refine(first, vertex - reach), self.refine(second, vertex + reach)];
        Some(roots.map(Root::clipped))
    }

    /// About the place in \[0, 1\] with the least magnitude of the slope, and the second derivative near to it.
    fn vertex(&self, c1: f64, c2: f64) -> (f64, f64) {
        let mut place = (-0.5 * c1 / c2).clamp(0.0, 1.0);
        let mut bending = 2.0 * c2;
        for _ in 0..ITERATIONS {
            let (_, slope, half) = self.poly.iter().rev().fold((0.0, 0.0, 0.0), |(value, slope, half), c| {
                (value * place + c, slope * place + value, half * place + slope)
            });
            bending = 2.0 * half;
            let next = (place - slope / bending).clamp(0.0, 1.0);
            let moved = (next - place).abs();
            place = next;
            if moved <= 1e-9 {
                break;
            }
        }
        (place, bending)
    }
}

/// The first root of a parabola in \[0, 1\], if there is one.
pub(crate) fn parabola_crossing([c0, c1, c2]: [f64; 3]) -> Option<f64> {
    let q = -0.5 * (c1 + (c1 * c1 - 4.0 * c0 * c2).sqrt().copysign(c1));
    let (a, b) = (q / c2, c0 / q);
    [a.min(b), a.max(b)].into_iter().find(|root| (0.0..=1.0).contains(root))
}
