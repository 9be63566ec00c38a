//! Where the sign of a function near a polynomial is not certain.
//!
//! A function that is known to be within a [`Radius`] of a polynomial has the polynomial's sign
//! wherever that outweighs the radius and the rounding noise of its own value. The rest of the unit
//! interval falls into *zones*: one about each root, and more where the polynomial comes near zero.
//! The roots are found first; the edges of their zones follow from the slope; that the sign is
//! certain between zones is then proved by the Bernstein coefficients of each gap, which bound the
//! polynomial there. Zones hence rest on the gaps alone: a root that was missed would only make the
//! proof of a gap fail. Of a polynomial that rises or falls everywhere the signs at both ends tell all.

use crate::UNIT;
use crate::bernstein::{reciprocal_binomials, to_bernstein};
use crate::polynomial::{Evaluation, evaluate_with_derivative, evaluate_with_magnitude, magnitude};
use crate::roots::{Root, RootFinder, Sign, noise_factor, parabola_crossing};

/// Cuts of gaps before what is left of one counts as uncertain.
const CUTS: usize = 256;

/// Newton's method for the root of a polynomial that rises or falls everywhere mostly needs fewer steps.
const ITERATIONS: usize = 8;

/// A distance that grows with s: start + drift s + tail s^order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Radius {
    /// The distance at 0.
    pub start: f64,
    /// What grows with s.
    pub drift: f64,
    /// What grows with the power of s.
    pub tail: f64,
    /// That power.
    pub order: i32,
}

impl Radius {
    /// The distance at `s`, which is not negative.
    #[inline]
    pub fn at(&self, s: f64) -> f64 {
        let tail = if self.tail == 0.0 { 0.0 } else { self.tail * crate::elementary::powi(s, self.order) };
        (self.start + self.drift * s + tail) * (1.0 + 64.0 * UNIT)
    }

    /// That of the change since 0, divided by s.
    pub fn deflated(self) -> Radius {
        Radius { start: self.drift, drift: 0.0, order: self.order - 1, ..self }
    }
}

/// A part of the unit interval on which the sign is not certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// Its start, where the sign is `before`.
    pub lo: f64,
    /// The place at which the polynomial is zero, or about as near to it as anywhere.
    pub at: f64,
    /// Its end, where the sign is `after`.
    pub hi: f64,
    /// `Zero` if the zone begins at 0.
    pub before: Sign,
    /// `Zero` if the zone ends at 1.
    pub after: Sign,
}

/// Finds zones, reusing its memory from call to call.
///
/// ```
/// use saltus_num::roots::Sign;
/// use saltus_num::zones::{Radius, ZoneFinder};
/// let (mut finder, mut zones) = (ZoneFinder::default(), Vec::new());
/// let radius = Radius { start: 0.01, ..Radius::default() };
/// // Up to a hundredth away from 1 - 2 s.
/// let start = finder.zones(&[1.0, -2.0], radius, &mut zones);
/// let zone = zones[0];
/// assert_eq!((start, zones.len(), zone.after), (Sign::Positive, 1, Sign::Negative));
/// assert!(zone.lo < 0.495 && zone.lo > 0.49 && zone.hi > 0.505 && zone.hi < 0.51);
/// // (s - 1/2)^2 comes within a hundredth of zero and leaves it again.
/// finder.zones(&[0.26, -1.0, 1.0], radius, &mut zones);
/// assert_eq!((zones.len(), zones[0].before, zones[0].after), (1, Sign::Positive, Sign::Positive));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ZoneFinder {
    finder: RootFinder,
    roots: Vec<Root>,
    gaps: Vec<Gap>,
    bernstein: Vec<f64>,
    work: Vec<f64>,
    /// 1 / C(n, k) for every degree n met so far.
    binomials: Vec<Vec<f64>>,
}

/// A part on which the sign is to be proved; it is certain at both ends.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: f64,
    to: f64,
    sign: Sign,
}

/// The polynomial with its radius.
#[derive(Clone, Copy)]
struct Near<'a> {
    c: &'a [f64],
    radius: Radius,
}

/// A polynomial that bends one way everywhere, more than its radius does.
#[derive(Clone, Copy)]
struct Bent {
    /// The sign of its second derivative.
    sign: Sign,
    /// Rounding of its slopes.
    noise: f64,
}

/// What is known of the sign at a place.
struct Known {
    sign: Option<Sign>,
    /// It is so far from uncertain that there must be nearer places where it is certain.
    is_plain: bool,
    /// About how far away it is certain, by the slope.
    distance: f64,
}

impl Near<'_> {
    fn at(&self, s: f64) -> Known {
        self.known(s, evaluate_with_magnitude(self.c, s))
    }

    /// What a value of the polynomial tells.
    fn known(&self, s: f64, p: Evaluation) -> Known {
        let margin = (8 * self.c.len() + 16) as f64 * UNIT * p.magnitude + self.radius.at(s);
        let sign = (p.value.abs() > margin).then(|| Sign::of(p.value));
        let distance = 1.25 * (margin + p.value.abs()) / p.slope.abs();
        let distance = if distance.is_finite() { distance } else { 0.0 };
        Known { sign, is_plain: p.value.abs() > 2.0 * margin, distance }
    }

    fn sign_at(&self, s: f64) -> Option<Sign> {
        self.at(s).sign
    }

    /// True if the polynomial rises or falls everywhere, and faster than the radius grows: what is
    /// certain before and behind its root is so farther away from it.
    fn is_monotone(&self) -> bool {
        let [_, first, rest @ ..] = self.c else { return false };
        let noise = 2.0 * noise_factor(self.c.len());
        let growth = self.radius.drift + f64::from(self.radius.order) * self.radius.tail;
        let room = first.abs() * (1.0 - noise) - growth * (1.0 + noise);
        let (sign, mut k, mut least) = (first.signum(), self.c.len() as f64, 0.0);
        for &x in rest.iter().rev() {
            k -= 1.0;
            let term = k * x;
            let sum = (sign * term - noise * term.abs()) + least;
            least = if sum < 0.0 { sum } else { 0.0 };
        }
        room + least > 0.0
    }

    /// The zone of a polynomial that rises or falls everywhere, faster than the radius grows, and whose signs at
    /// both ends are certain and differ; `None` leaves it to the general method.
    fn crossing(&self, before: Sign, after: Sign) -> Option<Zone> {
        let at = |k: usize| self.c.get(k).copied().unwrap_or(0.0);
        let mut s = parabola_crossing([at(0), at(1), at(2)]).unwrap_or(0.5);
        for _ in 0..ITERATIONS {
            let p = evaluate_with_magnitude(self.c, s);
            if p.value.abs() <= noise_factor(self.c.len()) * p.magnitude {
                let Known { distance, .. } = self.known(s, p);
                let (lo, hi) = (s - distance, s + distance);
                let is_zone = distance > 0.0
                    && lo > 0.0
                    && hi < 1.0
                    && self.sign_at(lo) == Some(before)
                    && self.sign_at(hi) == Some(after);
                return is_zone.then_some(Zone { lo, at: s, hi, before, after });
            }
            s -= p.value / p.slope;
            if !(0.0..=1.0).contains(&s) {
                return None;
            }
        }
        None
    }

    /// Which way the polynomial bends, if it does so everywhere.
    fn bent(&self) -> Option<Bent> {
        let [_, first, bend, rest @ ..] = self.c else { return None };
        let order = f64::from(self.radius.order);
        let (mut slopes, mut bends) = (first.abs() + 2.0 * bend.abs(), order * order * self.radius.tail);
        for (k, c) in (3..).zip(rest) {
            let slope = f64::from(k) * c.abs();
            slopes += slope;
            bends += f64::from(k - 1) * slope;
        }
        let noise = (8 * self.c.len() + 16) as f64 * UNIT;
        let is_bent = 2.0 * bend.abs() * (1.0 - 4.0 * noise) > bends * (1.0 + 4.0 * noise);
        is_bent.then(|| Bent { sign: Sign::of(*bend), noise: noise * slopes })
    }

    /// True if a bent polynomial keeps the sign that it certainly has at both ends of a part. Towards zero it
    /// is below its chord, with radius and rounding, which bend alike; away from it, it leaves no such place
    /// behind from where it falls up to the end, or rises from the start on.
    fn keeps_bent(&self, bent: Bent, Gap { from, to, sign }: Gap) -> bool {
        if sign != bent.sign {
            return true;
        }
        let slope = |s: f64| sign.value() * evaluate_with_derivative(self.c, s).1;
        let Radius { drift, tail, order, .. } = self.radius;
        let growth = drift + f64::from(order) * tail;
        slope(to) + bent.noise <= 0.0 || slope(from) >= growth + 2.0 * bent.noise
    }

    /// A place with a certain sign from `s` towards `last`, nearly the first there is.
    fn certain_from(&self, s: f64, last: f64) -> (f64, Sign) {
        let (direction, room) = ((last - s).signum(), (last - s).abs());
        let (mut near, mut far, mut known) = (0.0, 0.0, self.at(s));
        while known.sign.is_none() && far < room {
            near = far;
            far = (2.0 * far).max(known.distance.min(0.5)).max(2.0 * UNIT * s.max(1e-3));
            far = if far < room { far } else { room };
            known = self.at(if far < room { s + direction * far } else { last });
        }
        while known.is_plain && far - near > 0.25 * far && far < room {
            let middle = 0.5 * (near + far);
            let there = self.at(s + direction * middle);
            if there.sign == known.sign {
                (far, known) = (middle, there);
            } else {
                near = middle;
            }
        }
        let place = if far < room { s + direction * far } else { last };
        (place, known.sign.unwrap_or(Sign::Zero))
    }
}

impl ZoneFinder {
    /// Writes all zones of the polynomial with coefficients `c` to `out`, in ascending order, replacing
    /// what was there; the sign at 0, `Zero` if that is not certain.
    pub fn zones(&mut self, c: &[f64], radius: Radius, out: &mut Vec<Zone>) -> Sign {
        out.clear();
        let most = radius.at(1.0);
        if !(most.is_finite() && c.iter().all(|x| x.is_finite())) {
            out.push(Zone { lo: 0.0, at: 0.5, hi: 1.0, before: Sign::Zero, after: Sign::Zero });
            return Sign::Zero;
        }
        let near = Near { c, radius };
        let start = near.sign_at(0.0);
        if let Some(sign) = start
            && keeps_sign(c, most)
        {
            return sign;
        }
        let mut end = near.sign_at(1.0);
        let is_monotone = near.is_monotone();
        if let (Some(before), Some(after), true) = (start, end, is_monotone) {
            let zone = if before == after { None } else { near.crossing(before, after) };
            if before == after || zone.is_some() {
                out.extend(zone);
                return before;
            }
        }
        let mut roots = std::mem::take(&mut self.roots);
        self.finder.roots(c, &mut roots);
        if start.is_none() {
            widen(out, near, [0.0; 3]);
        }
        roots.iter().for_each(|root| widen(out, near, [root.lo, root.at, root.hi]));
        self.roots = roots;
        if out.last().is_none_or(|zone| zone.hi < 1.0) && end.is_none() {
            widen(out, near, [1.0; 3]);
            end = Some(Sign::Zero);
        }
        let [first, last] = [start, end].map(|sign| sign.unwrap_or(Sign::Zero));
        if !(ends_agree(first, last, out) && is_monotone) {
            self.prove_gaps(near, [first, last], out);
        }
        start.unwrap_or(Sign::Zero)
    }

    /// Proves that the sign is certain between zones, or adds zones where it is not.
    fn prove_gaps(&mut self, near: Near, [start, end]: [Sign; 2], zones: &mut Vec<Zone>) {
        let (mut from, mut sign) = (0.0, start);
        for zone in &*zones {
            // A change of sign without a zone would be a root that was missed.
            let sign_there = if zone.before == sign { sign } else { Sign::Zero };
            self.gaps.push(Gap { from, to: zone.lo, sign: sign_there });
            (from, sign) = (zone.hi, zone.after);
        }
        self.gaps.push(Gap { from, to: 1.0, sign: if end == sign { sign } else { Sign::Zero } });
        let found = zones.len();
        let mut cuts = 0;
        let bent = near.bent();
        while let Some(gap) = self.gaps.pop() {
            let Gap { from, to, sign } = gap;
            let is_kept = || bent.is_some_and(|bent| near.keeps_bent(bent, gap));
            if to <= from || sign != Sign::Zero && (is_kept() || self.is_proved(near, from, to)) {
                continue;
            }
            cuts += 1;
            let middle = 0.5 * (from + to);
            let narrow = to - from <= 1e-12 * to || cuts > CUTS;
            if !narrow && sign != Sign::Zero && near.sign_at(middle) == Some(sign) {
                self.gaps.push(Gap { from, to: middle, sign });
                self.gaps.push(Gap { from: middle, to, sign });
            } else if narrow || sign == Sign::Zero {
                zones.push(Zone { lo: from, at: middle, hi: to, before: sign, after: sign });
            } else {
                let ((lo, before), (hi, after)) =
                    (near.certain_from(middle, from), near.certain_from(middle, 1.0));
                let (hi, after) = if hi < to { (hi, after) } else { (to, sign) };
                zones.push(Zone { lo, at: middle, hi, before, after });
                let sign_of = |found: Sign| if found == sign { sign } else { Sign::Zero };
                self.gaps.push(Gap { from, to: lo, sign: sign_of(before) });
                self.gaps.push(Gap { from: hi, to, sign: sign_of(after) });
            }
        }
        if zones.len() > found {
            zones.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        }
    }

    /// True if all Bernstein coefficients on a part, whose ends have one sign, outweigh the radius.
    fn is_proved(&mut self, near: Near, from: f64, to: f64) -> bool {
        let degree = near.c.len() - 1;
        let [start, end] = [from, to].map(|s| evaluate_with_magnitude(near.c, s));
        let margin = 2.0 * noise_factor(degree) * end.magnitude + near.radius.at(to);
        let outweighs = |b: f64| b.abs() > margin && (b > 0.0) == (end.value > 0.0);
        if degree <= 2 {
            let middle = start.value + 0.5 * (to - from) * start.slope;
            return [start.value, middle, end.value].into_iter().all(outweighs);
        }
        while self.binomials.len() <= degree {
            self.binomials.push(reciprocal_binomials(self.binomials.len()));
        }
        self.bernstein.resize(degree + 1, 0.0);
        self.work.resize(degree + 1, 0.0);
        let binomials = &self.binomials[degree];
        to_bernstein(near.c, from, to - from, binomials, &mut self.work, &mut self.bernstein);
        self.bernstein.iter().copied().all(outweighs)
    }
}

/// True if there is one zone at most, and the signs before and behind it are those at the ends.
fn ends_agree(first: Sign, last: Sign, zones: &[Zone]) -> bool {
    match zones {
        [] => first == last && first != Sign::Zero,
        [zone] => {
            let before = zone.lo == 0.0 || zone.before == first && first != Sign::Zero;
            before && (zone.hi == 1.0 || zone.after == last && last != Sign::Zero)
        }
        _ => false,
    }
}

/// True if the first coefficient outweighs all others, as far as they work against it, and a radius.
fn keeps_sign(c: &[f64], radius: f64) -> bool {
    let Some((&first, rest)) = c.split_first() else { return false };
    let noise = 2.0 * noise_factor(rest.len());
    let room = first.abs() * (1.0 - noise) - radius;
    let others = magnitude(rest);
    if others * (1.0 + noise) < room {
        return true;
    }
    // Horner's rule for the least value on [0, 1].
    let sign = first.signum();
    let least = rest.iter().rev().fold(0.0, |tail, &x| {
        let sum = (sign * x - noise * x.abs()) + tail;
        if sum < 0.0 { sum } else { 0.0 }
    });
    room + least > 0.0
}

/// Adds the zone about a place, joined with the last one if they meet.
fn widen(zones: &mut Vec<Zone>, near: Near, [lo, at, hi]: [f64; 3]) {
    let floor = zones.last().map_or(0.0, |zone| zone.hi);
    let (hi, after) = near.certain_from(hi.max(floor).min(1.0), 1.0);
    let (lo, before) = near.certain_from(lo.max(floor), floor);
    match zones.last_mut() {
        Some(last) if lo <= floor => (last.hi, last.after) = (hi.max(last.hi), after),
        _ => zones.push(Zone { lo, at: at.clamp(lo, hi), hi, before, after }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polynomial::evaluate;
    use proptest::prelude::*;

    /// Polynomials given by coefficients, or by factors so that they have roots to look at.
    fn polynomial() -> impl Strategy<Value = Vec<f64>> {
        let product = |roots: Vec<f64>| {
            roots.iter().fold(vec![1.0], |c: Vec<f64>, root| {
                let mut out = vec![0.0; c.len() + 1];
                for (k, x) in c.iter().enumerate() {
                    out[k] -= root * x;
                    out[k + 1] += x;
                }
                out
            })
        };
        // Two roots, or a vertex above zero, and so little of higher powers that it bends one way.
        let bent = (prop::collection::vec(-1.0f64..1.0, 4..14), -0.5f64..1.5, -0.1f64..0.1).prop_map(
            |(mut c, vertex, height)| {
                let [c0, c1, c2, others @ ..] = &mut c[..] else { return c };
                (*c0, *c1, *c2) = (vertex * vertex + height, -2.0 * vertex, 1.0);
                let most = 1.0 / others.len().pow(3) as f64;
                others.iter_mut().for_each(|c| *c *= most);
                c
            },
        );
        prop_oneof![
            prop::collection::vec(-1.0f64..1.0, 2..14),
            prop::collection::vec(-0.5f64..1.5, 1..7).prop_map(product),
            bent,
        ]
    }

    proptest! {
        #[test]
        fn between_zones_the_sign_outweighs_the_radius(
            c in polynomial(),
            exponents in prop::array::uniform3(-14.0f64..0.0),
            places in prop::collection::vec(0.0f64..=1.0, 50),
        ) {
            let [start, drift, tail] = exponents.map(|x| 10f64.powf(x));
            let radius = Radius { start, drift, tail, order: c.len() as i32 };
            let (mut finder, mut zones) = (ZoneFinder::default(), Vec::new());
            let first = finder.zones(&c, radius, &mut zones);
            for pair in zones.windows(2) {
                prop_assert!(pair[0].hi <= pair[1].lo && pair[0].after == pair[1].before, "{zones:?}");
            }
            for s in places {
                let after = zones.iter().position(|zone| s <= zone.hi).unwrap_or(zones.len());
                if zones.get(after).is_some_and(|zone| s >= zone.lo) {
                    continue;
                }
                let sign = if after == 0 { first } else { zones[after - 1].after };
                let value = evaluate(&c, s);
                prop_assert!(sign != Sign::Zero && sign.value() * value > radius.at(s), "{s}: {value} {zones:?}");
            }
        }

        #[test]
        fn zones_are_not_much_wider_than_they_must_be(root in 0.1f64..0.9, size in -12.0f64..-3.0) {
            let size = 10f64.powf(size);
            let radius = Radius { start: size, ..Radius::default() };
            let (mut finder, mut zones) = (ZoneFinder::default(), Vec::new());
            finder.zones(&[-root, 1.0], radius, &mut zones);
            prop_assert_eq!(zones.len(), 1);
            let Zone { lo, hi, .. } = zones[0];
            prop_assert!(lo < root - size && hi > root + size && hi - lo < 4.0 * size + 1e-14);
        }
    }
}
