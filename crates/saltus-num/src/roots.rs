//! Roots in the unit interval of a polynomial given by its power-basis coefficients.
//!
//! A computed value of p(s) = sum c_k s^k is known only up to its rounding noise
//! e(s) = K u sum |c_k| s^k, where u is the unit roundoff and K grows with the degree. The sign of
//! p is therefore *certain* at s when |p(s)| > e(s), and every root lies in a maximal interval
//! where it is not. Those intervals are what is reported: each is a [`Root`] with the signs of p
//! on both sides. Different signs prove a crossing; equal signs are a touch, which may or may not
//! be a double root.
//!
//! The unit interval is cut into pieces whose ends have certain signs. On each piece the
//! polynomial is written in the Bernstein basis, where Descartes' rule counts sign changes: none
//! proves that there is no root, one proves exactly one root, more ask for a finer cut. Bernstein
//! coefficients of a piece are computed from the original coefficients, not from those of the
//! parent piece, so their error does not grow with the depth of the cut.
//!
//! The coefficients are taken as exact. A caller whose coefficients carry errors of their own adds
//! those, divided by the slope, to the brackets.

mod bent;

pub(crate) use bent::parabola_crossing;

use crate::bernstein::{most_sign_changes, polygon_crossing, reciprocal_binomials, to_bernstein};
use crate::polynomial::{Evaluation, evaluate, evaluate_with_magnitude, magnitude};

/// Where a piece may be cut, as fractions of its length; the first with a certain sign is taken.
/// All but the first are odd places, for roots like to sit on round numbers.
const CUTS: [f64; 7] = [0.5, 0.4609375, 0.5703125, 0.3515625, 0.6484375, 0.2265625, 0.7890625];

/// How far past 1 the search goes to find a certain sign when the sign at 1 is not.
const PAST_ONE: [f64; 8] = [3e-15, 1e-13, 1e-10, 1e-7, 1e-4, 3e-3, 0.03, 0.07];

/// The sign of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sign {
    /// Below zero.
    Negative,
    /// Zero, or not known.
    Zero,
    /// Above zero.
    Positive,
}

impl From<i8> for Sign {
    #[inline]
    fn from(sign: i8) -> Self {
        match sign {
            i8::MIN..=-1 => Sign::Negative,
            0 => Sign::Zero,
            1..=i8::MAX => Sign::Positive,
        }
    }
}

impl Sign {
    /// The sign of `x`; `Zero` for NaN.
    pub fn of(x: f64) -> Self {
        if x > 0.0 {
            Sign::Positive
        } else if x < 0.0 {
            Sign::Negative
        } else {
            Sign::Zero
        }
    }

    /// The opposite sign.
    pub fn flip(self) -> Self {
        match self {
            Sign::Negative => Sign::Positive,
            Sign::Zero => Sign::Zero,
            Sign::Positive => Sign::Negative,
        }
    }

    /// -1, 0 or 1.
    pub fn value(self) -> f64 {
        match self {
            Sign::Negative => -1.0,
            Sign::Zero => 0.0,
            Sign::Positive => 1.0,
        }
    }
}

/// A place in (0, 1] where the polynomial is zero, or cannot be told from zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// Start of the bracket. The value computed here by Horner's rule has the sign `before`, or is
    /// zero if the root is exact.
    pub lo: f64,
    /// The best estimate of the root, inside the bracket.
    pub at: f64,
    /// End of the bracket, at most 1. Equal to `lo` exactly when the root is an exact number.
    pub hi: f64,
    /// The sign just before the bracket.
    pub before: Sign,
    /// The sign just after the bracket; for a bracket that ends at 1, the sign after 1 of the
    /// polynomial continued, `Zero` if that is lost in the noise.
    pub after: Sign,
    /// The polynomial comes within its rounding noise of zero without changing sign: a double
    /// root, a close pair of roots, or none at all.
    pub touch: bool,
}

impl Root {
    pub(crate) fn bracketed(lo: f64, at: f64, hi: f64, before: Sign, after: Sign) -> Self {
        Root { lo, at: at.clamp(lo, hi), hi, before, after, touch: before == after }
    }

    fn exact(at: f64, before: Sign, after: Sign) -> Self {
        Root::bracketed(at, at, at, before, after)
    }

    /// A polynomial with a coefficient that is not finite: nothing is known.
    fn undecided() -> Self {
        Root::bracketed(0.0, 0.5, 1.0, Sign::Zero, Sign::Zero)
    }
}

/// The sign of the polynomial just after 0: that of its first coefficient that is not zero.
///
/// ```
/// use saltus_num::roots::{Sign, sign_after_zero};
/// assert_eq!(sign_after_zero(&[0.0, 0.0, -2.0, 5.0]), Sign::Negative);
/// assert_eq!(sign_after_zero(&[0.0, 0.0]), Sign::Zero);
/// ```
pub fn sign_after_zero(c: &[f64]) -> Sign {
    c.iter().find(|&&x| x != 0.0).map_or(Sign::Zero, |&x| Sign::of(x))
}

/// The coefficients of p(s)/s, the constant term being zero by decree whatever its rounded value.
///
/// ```
/// use saltus_num::roots::{RootFinder, deflate_zero};
/// // After an event at s = 0 the constant term is rounding residue, not a distance.
/// let guard = [-1e-17, 1.0, -2.0];
/// let next = RootFinder::default().first_root(deflate_zero(&guard)).unwrap();
/// assert_eq!((next.lo, next.hi), (0.5, 0.5));
/// ```
pub fn deflate_zero(c: &[f64]) -> &[f64] {
    c.get(1..).unwrap_or(&[])
}

/// True if the polynomial certainly has no root in [0, 1]; false says nothing. Takes one pass over
/// the coefficients.
///
/// ```
/// use saltus_num::roots::excludes_zero;
/// assert!(excludes_zero(&[3.0, -1.0, 0.5]));
/// assert!(excludes_zero(&[1.0, 5.0, -5.5]));
/// assert!(!excludes_zero(&[1.0, -2.0]));
/// assert!(!excludes_zero(&[1.0, f64::NAN]));
/// ```
pub fn excludes_zero(c: &[f64]) -> bool {
    let Some((&first, rest)) = c.split_first() else { return false };
    let noise = noise_factor(rest.len());
    let others = magnitude(rest);
    if outweighs(first, others, rest.len()) {
        return true;
    }
    if !others.is_finite() || first == 0.0 || !first.is_finite() {
        return false;
    }
    // Horner's rule for the least value of sign(c_0) p - e on [0, 1].
    let sign = first.signum();
    let least = rest.iter().rev().fold(0.0, |tail, &x| {
        let sum = (sign * x - noise * x.abs()) + tail;
        if sum < 0.0 { sum } else { 0.0 }
    });
    first.abs() * (1.0 - noise) + least > 0.0
}

/// True if a constant term certainly outweighs `count` other terms whose magnitudes have this sum.
#[inline]
pub fn outweighs(first: f64, others: f64, count: usize) -> bool {
    let noise = noise_factor(count);
    first.abs() * (1.0 - noise) > others * (1.0 + noise)
}

/// The K u of the rounding noise: 2n roundings of Horner's rule, or 4n + 3 of the way from power
/// coefficients over a shift to Bernstein coefficients.
pub(crate) fn noise_factor(degree: usize) -> f64 {
    (4 * degree + 8) as f64 * crate::UNIT
}

/// Finds the roots of polynomials in (0, 1], reusing its memory from call to call.
///
/// ```
/// use saltus_num::roots::{RootFinder, Sign};
/// let mut finder = RootFinder::default();
/// let mut roots = Vec::new();
/// finder.roots(&[1.0, -3.0, 2.0], &mut roots); // (1 - s)(1 - 2s)
/// assert_eq!(roots.len(), 2);
/// assert_eq!((roots[0].lo, roots[0].hi), (0.5, 0.5));
/// assert_eq!((roots[0].before, roots[0].after), (Sign::Positive, Sign::Negative));
/// assert_eq!((roots[1].lo, roots[1].hi), (1.0, 1.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RootFinder {
    with_zero: bool,
    /// Coefficients scaled, without zeros at either end.
    poly: Vec<f64>,
    /// Their absolute values.
    magnitude: Vec<f64>,
    noise: f64,
    /// 1 / C(n, k) for every degree n met so far.
    reciprocal_binomials: Vec<Vec<f64>>,
    bernstein: Vec<f64>,
    /// Error bounds of `bernstein`.
    margin: Vec<f64>,
    work: Vec<f64>,
    pieces: Vec<Piece>,
}

/// Part of the interval with certain signs at its ends.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: f64,
    to: f64,
    left: Sign,
    right: Sign,
}

/// What the Bernstein coefficients say about a piece.
enum Count {
    None,
    One { guess: f64 },
    Unknown,
}

impl RootFinder {
    /// A finder that also reports a root exactly at 0, that is when the constant term is zero.
    pub fn including_zero() -> Self {
        RootFinder { with_zero: true, ..Self::default() }
    }

    /// Writes all roots in (0, 1] to `out`, in ascending order, replacing what was there. The
    /// brackets do not overlap; they may share an end.
    ///
    /// The zero polynomial has no isolated root and gives none. Coefficients that are not finite
    /// give one touch from 0 to 1 with unknown signs. A coefficient smaller than the largest one
    /// by a factor of 2^-1000 or more may count as zero.
    pub fn roots(&mut self, c: &[f64], out: &mut Vec<Root>) {
        out.clear();
        self.search(c, &mut |root| {
            out.push(root);
            true
        });
    }

    /// The first root in (0, 1], if any.
    pub fn first_root(&mut self, c: &[f64]) -> Option<Root> {
        let mut first = None;
        self.search(c, &mut |root| {
            first = Some(root);
            false
        });
        first
    }

    /// Hands the roots to `take` in ascending order until it answers false.
    fn search(&mut self, c: &[f64], take: &mut dyn FnMut(Root) -> bool) {
        if excludes_zero(c) {
            return;
        }
        let Some(scale) = safe_scale(c) else {
            take(Root::undecided());
            return;
        };
        let multiplicity = self.load(c, scale);
        if self.poly.is_empty() {
            return;
        }
        if self.with_zero && multiplicity > 0 {
            let after = Sign::of(self.poly[0]);
            let before = if multiplicity.is_multiple_of(2) { after } else { after.flip() };
            if !take(Root::exact(0.0, before, after)) {
                return;
            }
        }
        if self.poly.len() == 1 || (self.poly.len() < c.len() && excludes_zero(&self.poly)) {
            return;
        }
        let found = match self.poly[..] {
            [c0, c1] => self.linear(c0, c1),
            [c0, c1, c2] => self.quadratic(c0, c1, c2),
            _ => self.bent(),
        };
        match found {
            Some(roots) => {
                roots.into_iter().flatten().all(take);
            }
            None => self.subdivide(take),
        }
    }

    /// Copies the coefficients, scaled, without zeros at the ends; returns how many leading ones
    /// were zero.
    fn load(&mut self, c: &[f64], scale: f64) -> usize {
        self.poly.clear();
        self.magnitude.clear();
        let end = c.iter().rposition(|&x| x * scale != 0.0).map_or(0, |k| k + 1);
        let start = c[..end].iter().position(|&x| x * scale != 0.0).unwrap_or(0);
        self.poly.extend(c[start..end].iter().map(|x| x * scale));
        self.magnitude.extend(self.poly.iter().map(|x| x.abs()));
        self.noise = noise_factor(self.poly.len().saturating_sub(1));
        start
    }

    /// Value, slope and rounding noise at `s`.
    fn at(&self, s: f64) -> (Evaluation, f64) {
        let value = evaluate_with_magnitude(&self.poly, s);
        (value, self.noise * value.magnitude)
    }

    /// The sign at `s` if it is certain.
    fn certain_sign(&self, s: f64) -> Option<Sign> {
        let (p, noise) = self.at(s);
        (p.value.abs() > noise).then(|| Sign::of(p.value))
    }

    /// The root of c0 + c1 s; `None` leaves it to the general method.
    fn linear(&self, c0: f64, c1: f64) -> Option<[Option<Root>; 2]> {
        let r = -c0 / c1;
        let before = Sign::of(c0);
        if !(0.0..=1.5).contains(&r) {
            return Some([None; 2]);
        }
        if c1.mul_add(r, c0) == 0.0 {
            let inside = r > 0.0 && r <= 1.0;
            return Some([inside.then(|| Root::exact(r, before, before.flip())), None]);
        }
        let right = 2.0 * r;
        self.certain_sign(right)?;
        Some([self.bracket(r, 0.0, right, before, before.flip()).clipped(), None])
    }

    /// The roots of c0 + c1 s + c2 s^2; `None` leaves them to the general method, which is done
    /// when the roots cannot be told apart.
    fn quadratic(&self, c0: f64, c1: f64, c2: f64) -> Option<[Option<Root>; 2]> {
        let square = c1 * c1;
        let product = 4.0 * c0 * c2;
        if square.max(product.abs()) < 1e-250 {
            return None;
        }
        // The rounding errors of both products are themselves numbers, so that the discriminant
        // has a small relative error and is zero only when it is.
        let residue = c1.mul_add(c1, -square) - (4.0 * c0).mul_add(c2, -product);
        let discriminant = (square - product) + residue;
        let before = Sign::of(c0);
        let vertex = -c1 / (2.0 * c2);
        if discriminant == 0.0 {
            let exact = (2.0 * c2).mul_add(vertex, c1) == 0.0 && is_exact_root(c0, c1, c2, vertex);
            let inside = vertex > 0.0 && vertex <= 1.0;
            return exact.then(|| [inside.then(|| Root::exact(vertex, before, before)), None]);
        }
        if (0.0..=1.125).contains(&vertex) {
            let (_, noise) = self.at(vertex);
            if (discriminant / (4.0 * c2)).abs() <= 4.0 * noise {
                return None;
            }
        }
        if discriminant < 0.0 {
            return Some([None; 2]);
        }
        let q = -0.5 * (c1 + discriminant.sqrt().copysign(c1));
        let (a, b) = (q / c2, c0 / q);
        let (first, second) = if a < b { (a, b) } else { (b, a) };
        let second_before = if first > 0.0 { before.flip() } else { before };
        let one = |r: f64, before: Sign| -> Option<Option<Root>> {
            if !(0.0..=1.5).contains(&r) {
                return Some(None);
            }
            if is_exact_root(c0, c1, c2, r) {
                return Some((r > 0.0 && r <= 1.0).then(|| Root::exact(r, before, before.flip())));
            }
            let reach = (r - vertex).abs();
            let (left, right) = ((r - reach).max(0.0), r + reach);
            let usable = self.certain_sign(left)? == before && self.certain_sign(right)? == before.flip();
            usable.then(|| self.bracket(r, left, right, before, before.flip()).clipped())
        };
        Some([one(first, before)?, one(second, second_before)?])
    }

    /// The general method: cut, count, refine.
    fn subdivide(&mut self, take: &mut dyn FnMut(Root) -> bool) {
        self.prepare();
        let (to, right) = self.certain_end();
        self.pieces.clear();
        self.pieces.push(Piece { from: 0.0, to, left: Sign::of(self.poly[0]), right });
        while let Some(piece) = self.pieces.pop() {
            let root = match self.count(piece) {
                Count::None => None,
                Count::One { guess } => Some(self.refine(piece, guess)),
                Count::Unknown => self.cut(piece),
            };
            if let Some(root) = root.and_then(Root::clipped)
                && !take(root)
            {
                return;
            }
        }
    }

    /// Makes room for the degree at hand.
    fn prepare(&mut self) {
        let len = self.poly.len();
        while self.reciprocal_binomials.len() < len {
            self.reciprocal_binomials.push(reciprocal_binomials(self.reciprocal_binomials.len()));
        }
        self.bernstein.resize(len, 0.0);
        self.margin.resize(len, 0.0);
        self.work.resize(len, 0.0);
    }

    /// The end of the search: 1, or a little past it if the sign at 1 is not certain.
    fn certain_end(&self) -> (f64, Sign) {
        std::iter::once(1.0)
            .chain(PAST_ONE.iter().map(|past| 1.0 + past))
            .find_map(|s| self.certain_sign(s).map(|sign| (s, sign)))
            .unwrap_or((1.0, Sign::Zero))
    }

    /// Descartes' rule in the Bernstein basis of the piece.
    fn count(&mut self, piece: Piece) -> Count {
        let degree = self.poly.len() - 1;
        let binomials = &self.reciprocal_binomials[degree];
        let width = piece.to - piece.from;
        to_bernstein(&self.poly, piece.from, width, binomials, &mut self.work, &mut self.bernstein);
        let bound = self.noise * evaluate_with_magnitude(&self.poly, piece.to).magnitude;
        if self.bernstein.iter().all(|b| b.abs() > bound) {
            self.margin.fill(0.0);
        } else {
            // Near the left end the error may be far below its bound over the piece.
            to_bernstein(&self.magnitude, piece.from, width, binomials, &mut self.work, &mut self.margin);
            self.margin.iter_mut().for_each(|m| *m *= self.noise);
        }
        match most_sign_changes(&self.bernstein, &self.margin, piece.left, piece.right) {
            0 => Count::None,
            1 if piece.left != piece.right => {
                let guess = polygon_crossing(&self.bernstein, piece.left);
                Count::One { guess: piece.from + width * guess }
            }
            _ => Count::Unknown,
        }
    }

    /// Cuts the piece in two at a point with a certain sign, and puts both parts on the stack. If
    /// there is no such point, the piece holds a root that cannot be resolved further.
    fn cut(&mut self, piece: Piece) -> Option<Root> {
        let Piece { from, to, left, right } = piece;
        let (mut first, mut last) = (to, from);
        if to - from > 8.0 * f64::EPSILON * to {
            for fraction in CUTS {
                let middle = from + fraction * (to - from);
                if !(from < middle && middle < to) {
                    break;
                }
                if let Some(sign) = self.certain_sign(middle) {
                    self.pieces.push(Piece { from: middle, to, left: sign, right });
                    self.pieces.push(Piece { from, to: middle, left, right: sign });
                    return None;
                }
                first = first.min(middle);
                last = last.max(middle);
            }
        }
        if first > last {
            return Some(Root::bracketed(from, from + 0.5 * (to - from), to, left, right));
        }
        let lo = self.edge(first, from, left, f64::NAN);
        let hi = if right == Sign::Zero { to } else { self.edge(last, to, right, f64::NAN) };
        Some(Root::bracketed(lo, 0.5 * (lo + hi), hi, left, right))
    }

    /// Refines the one root of a piece by Newton's method, falling back to bisection whenever the
    /// step leaves the bracket or does not shrink fast enough.
    fn refine(&self, piece: Piece, guess: f64) -> Root {
        let Piece { from: mut lo, to: mut hi, left, right } = piece;
        let mut x = guess;
        let mut last_step = hi - lo;
        loop {
            if !(lo < x && x < hi) {
                x = lo + 0.5 * (hi - lo);
                if !(lo < x && x < hi) {
                    return Root::bracketed(lo, lo, hi, left, right);
                }
            }
            let (p, noise) = self.at(x);
            if p.value.abs() <= noise {
                return self.bracket(x, lo, hi, left, right);
            }
            if Sign::of(p.value) == left {
                lo = x;
            } else {
                hi = x;
            }
            let newton = x - p.value / p.slope;
            let step = (newton - x).abs();
            let next = if step < 0.5 * last_step { newton } else { lo + 0.5 * (hi - lo) };
            last_step = (next - x).abs();
            x = next;
        }
    }

    /// The noise bracket around `x`, a point at the root, between two points with certain signs.
    fn bracket(&self, x: f64, from: f64, to: f64, before: Sign, after: Sign) -> Root {
        let (p, noise) = self.at(x);
        let level = |sign: Sign| x - (p.value - 1.25 * noise * sign.value()) / p.slope;
        let lo = self.edge(x, from, before, level(before));
        let hi = self.edge(x, to, after, level(after));
        let newton = x - p.value / p.slope;
        Root::bracketed(lo, if newton.is_finite() { newton } else { x }, hi, before, after)
    }

    /// A point with certain sign close to the edge of the noise between `inside`, which is noise,
    /// and `certain`, which is not: first `guess`, else by bisection until the distance from
    /// `inside` is right within a factor of two.
    fn edge(&self, inside: f64, certain: f64, sign: Sign, guess: f64) -> f64 {
        let (mut near, mut far) = (inside, certain);
        let between = |s: f64, a: f64, b: f64| (a < s && s < b) || (b < s && s < a);
        let mut next = guess;
        loop {
            if between(next, near, far) {
                if self.certain_sign(next) == Some(sign) {
                    far = next;
                    if next == guess {
                        return far;
                    }
                } else {
                    near = next;
                }
            }
            if (far - near).abs() <= 0.5 * (far - inside).abs() {
                return far;
            }
            let doubled = inside + 2.0 * (near - inside);
            next = if between(doubled, near, far) { doubled } else { near + 0.5 * (far - near) };
            if !between(next, near, far) {
                return far;
            }
        }
    }
}

/// The best place to stop before a change of sign at about `at`: there, or as little before it as the
/// computed value needs to have the sign it had before, but not before `lo`.
///
/// ```
/// use saltus_num::roots::{Sign, near_side};
/// assert_eq!(near_side(&[1.0, -2.0], 0.5, 0.25, Sign::Positive), 0.5);
/// assert!(near_side(&[1.0, -3.0], 1.0 / 3.0, 0.25, Sign::Positive) <= 1.0 / 3.0);
/// ```
pub fn near_side(c: &[f64], at: f64, lo: f64, before: Sign) -> f64 {
    let mut place = at;
    let mut back = f64::EPSILON * place.abs();
    while place > lo {
        let value = evaluate(c, place);
        if value == 0.0 || Sign::of(value) == before {
            return place;
        }
        place -= back;
        back *= 2.0;
    }
    lo
}

impl Root {
    /// The part up to 1, if there is one.
    fn clipped(self) -> Option<Self> {
        (self.lo <= 1.0).then(|| Root { hi: self.hi.min(1.0), at: self.at.min(1.0), ..self })
    }
}

/// A power of two that brings the largest coefficient into a range where products neither overflow
/// nor underflow; `None` if a coefficient is not finite.
fn safe_scale(c: &[f64]) -> Option<f64> {
    let mut largest = 0.0f64;
    let mut sum = 0.0;
    for &x in c {
        largest = largest.max(x.abs());
        // 0 * x is NaN for infinities and NaN, which `max` would swallow.
        sum += 0.0 * x;
    }
    if sum != 0.0 || sum.is_nan() {
        return None;
    }
    let comfortable = largest == 0.0 || (1e-90..1e90).contains(&largest);
    Some(if comfortable { 1.0 } else { power_of_two(-exponent(largest).clamp(-1000, 1000)) })
}

/// The exponent of the power of two at or below a positive number, -1022 for the smallest ones.
fn exponent(x: f64) -> i32 {
    (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(-1022)
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// True if `r` is a root of c0 + c1 s + c2 s^2 and Horner's rule shows it without rounding.
fn is_exact_root(c0: f64, c1: f64, c2: f64, r: f64) -> bool {
    let product = c2 * r;
    let inner = c1 + product;
    let sum_is_exact = inner - c1 == product && inner - product == c1;
    sum_is_exact && c2.mul_add(r, -product) == 0.0 && inner.mul_add(r, c0) == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(c: &[f64]) -> Vec<Root> {
        let mut out = Vec::new();
        RootFinder::default().roots(c, &mut out);
        out
    }

    fn exact(c: &[f64]) -> Vec<f64> {
        let found = roots(c);
        found.iter().for_each(|r| assert_eq!(r.lo, r.hi, "{r:?}"));
        found.iter().map(|r| r.at).collect()
    }

    #[test]
    fn exact_roots_of_low_degree_are_exact() {
        assert_eq!(exact(&[1.0, -2.0]), [0.5]);
        assert_eq!(exact(&[1.0, -2.0, 0.0, 0.0]), [0.5]);
        assert_eq!(exact(&[2.0, -3.0, 1.0]), [1.0]);
        assert_eq!(exact(&[3.0, -16.0, 16.0]), [0.25, 0.75]);
        assert_eq!(exact(&[0.0, 3.0, -16.0, 16.0]), [0.25, 0.75]);
        assert_eq!(exact(&[-4.0, 0.0, 16.0]), [0.5]);
        assert_eq!(exact(&[1e300, -2e300]), [0.5]);
        assert_eq!(exact(&[1e-300, -2e-300]), [0.5]);
        assert_eq!(exact(&[1e-310, -2e-310]), [0.5]);
        let third = roots(&[1.0, -3.0])[0];
        assert!(third.lo < third.hi && third.at == 1.0 / 3.0 && third.hi - third.lo < 1e-14);
    }

    #[test]
    fn a_double_root_is_an_exact_touch() {
        let found = roots(&[1.0, -4.0, 4.0]);
        assert_eq!(found, [Root::exact(0.5, Sign::Positive, Sign::Positive)]);
        assert!(found[0].touch);
    }

    #[test]
    fn a_root_at_zero_is_reported_on_demand() {
        assert_eq!(roots(&[0.0, 1.0, 1.0]), []);
        let mut out = Vec::new();
        RootFinder::including_zero().roots(&[0.0, 1.0, -2.0], &mut out);
        assert_eq!(out[0], Root::exact(0.0, Sign::Negative, Sign::Positive));
        assert_eq!(out[1], Root::exact(0.5, Sign::Positive, Sign::Negative));
        RootFinder::including_zero().roots(&[0.0, 0.0, 1.0], &mut out);
        assert!(out[0].touch);
    }

    #[test]
    fn a_root_at_one_has_the_sign_beyond() {
        let crossing = roots(&[-6.0, 1.0, 4.0, 1.0]); // (s - 1)(s + 2)(s + 3)
        assert_eq!((crossing[0].hi, crossing[0].after, crossing[0].touch), (1.0, Sign::Positive, false));
        let touching = roots(&[1.0, -1.0, -1.0, 1.0]); // (s - 1)^2 (s + 1)
        assert_eq!((touching[0].hi, touching[0].after, touching[0].touch), (1.0, Sign::Positive, true));
    }

    #[test]
    fn a_small_constant_term_moving_away_has_no_root() {
        let mut c = vec![1.0; 20];
        c[0] = 1e-25;
        assert!(excludes_zero(&c));
        c[3] = -0.5;
        assert_eq!(roots(&c), []);
        c[1] = -1.0;
        let found = roots(&c);
        assert!((found[0].at - 1e-25).abs() < 1e-38 && found[0].hi - found[0].lo < 1e-37, "{found:?}");
    }

    #[test]
    fn the_noise_of_a_multiple_root_is_one_bracket() {
        // (s - 1/2)^7 is known near its root only to the seventh root of the noise.
        let c = [-1.0 / 128.0, 7.0 / 64.0, -21.0 / 32.0, 35.0 / 16.0, -35.0 / 8.0, 21.0 / 4.0, -3.5, 1.0];
        let found = roots(&c);
        assert_eq!(found.len(), 1);
        let r = found[0];
        assert!(!r.touch && r.lo < 0.5 && 0.5 < r.hi && r.hi - r.lo > 1e-3 && r.hi - r.lo < 0.1, "{r:?}");
    }

    #[test]
    fn a_graze_above_the_noise_is_not_a_touch() {
        // ((s - 1/2)^2 + d)(s + 1) for d above and below the noise.
        let graze = |d: f64| roots(&[0.25 + d, -0.75 + d, 0.0, 1.0]);
        assert_eq!(graze(1e-12), []);
        assert!(graze(1e-17)[0].touch);
        assert!(graze(0.0)[0].touch);
        assert_eq!(graze(-1e-12).len(), 2);
    }

    #[test]
    fn coefficients_that_are_not_finite_leave_everything_open() {
        for bad in [f64::NAN, f64::INFINITY] {
            let found = roots(&[1.0, bad, 2.0]);
            assert_eq!((found[0].lo, found[0].hi, found[0].before), (0.0, 1.0, Sign::Zero));
        }
        assert_eq!(roots(&[0.0; 5]), []);
        assert_eq!(roots(&[]), []);
    }

    #[test]
    fn memory_is_reused() {
        let mut finder = RootFinder::default();
        let mut out = Vec::with_capacity(16);
        let c = [0.3, -2.0, 1.0, 0.5, 1.7, -1.9, 0.2];
        finder.roots(&c, &mut out);
        let before = (finder.poly.as_ptr(), finder.work.as_ptr(), finder.pieces.capacity());
        (0..100).for_each(|_| finder.roots(&c, &mut out));
        assert_eq!(before, (finder.poly.as_ptr(), finder.work.as_ptr(), finder.pieces.capacity()));
    }
}
