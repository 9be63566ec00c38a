//! Products and squares of whole rows at once, for rows that do not depend on what is made of them.
//!
//! The sums are those of rules 1 to 4 of [`recurrence`](super::recurrence), term by term in the same
//! order, so that the numbers are the same as those computed order by order. Rows have all their
//! coefficients: none is left out because of a degree.

use super::lanes::Pack;

/// The coefficients of a b.
#[inline(always)]
pub(super) fn product<P: Pack>(a: &[P], b: &[P], out: &mut [P]) {
    let count = a.len().min(b.len()).min(out.len());
    if count > 0 {
        out[0] = a[0].mul(b[0]);
    }
    for k in 1..count {
        let newest = [a[0].mul(b[k]), b[0].mul(a[k])];
        let sum = old_of_product(&a[..k], &b[..k]).map_or(newest[0], |old| old.add(newest[0]));
        out[k] = sum.add(newest[1]);
    }
}

/// The coefficients of a a.
#[inline(always)]
pub(super) fn square<P: Pack>(a: &[P], out: &mut [P]) {
    let Some(&first) = a.first() else { return };
    let twice = first.add(first);
    out[0] = first.mul(first);
    for k in 1..a.len().min(out.len()) {
        let newest = twice.mul(a[k]);
        out[k] = old_of_square(&a[..k]).map_or(newest, |old| old.add(newest));
    }
}

/// The old terms of a product, given all coefficients before the order k.
#[inline(always)]
fn old_of_product<P: Pack>(a: &[P], b: &[P]) -> Option<P> {
    let ([_, a @ ..], [_, b @ ..]) = (a, b) else { return None };
    let ([low, a_rest @ ..], [b_low, b_rest @ ..]) = (a, b) else { return None };
    let ([a_middle @ .., high], [b_middle @ .., b_high]) = (a_rest, b_rest) else {
        return Some(low.mul(*b_low));
    };
    let edge = low.mul(*b_high).add(high.mul(*b_low));
    Some(match parity_sums(a_middle, b_middle) {
        Some(middle) => middle.add(edge),
        None => edge,
    })
}

/// The old terms of a square, given all coefficients before the order k.
#[inline(always)]
fn old_of_square<P: Pack>(a: &[P]) -> Option<P> {
    let [_, inner @ ..] = a else { return None };
    let pairs = inner.len() / 2;
    let (low, high) = (&inner[..pairs], &inner[inner.len() - pairs..]);
    let centre = inner.get(pairs).filter(|_| inner.len() % 2 == 1).map(|&c| c.mul(c));
    let ([first, low @ ..], [high @ .., last]) = (low, high) else { return centre };
    let edge = first.mul(*last);
    let sum = match parity_sums(low, high) {
        Some(middle) => middle.add(edge),
        None => edge,
    };
    let twice = sum.add(sum);
    Some(centre.map_or(twice, |centre| twice.add(centre)))
}

/// The sum of the products of the numbers of one list with those of another of the same length taken from
/// its end: every other term apart.
#[inline(always)]
fn parity_sums<P: Pack>(a: &[P], b: &[P]) -> Option<P> {
    let mut terms = a.iter().zip(b.iter().rev()).map(|(&a, &b)| a.mul(b));
    let mut same = terms.next()?;
    let Some(mut other) = terms.next() else { return Some(same) };
    while let Some(term) = terms.next() {
        same = same.add(term);
        let Some(term) = terms.next() else { break };
        other = other.add(term);
    }
    Some(same.add(other))
}
