//! Roots by Sturm's theorem: the number of distinct roots in an interval is the number of sign
//! changes lost by the chain p, p', -rem(p, p'), ... from one end to the other.
//!
//! The classical way to tell whether an interpolant has a root (Shampine, Gladwell and Brankin 1991
//! use it for events). Remainders lose digits, so the chain is computed and evaluated with twice the
//! usual precision, and ends where a remainder is rounding noise. Simple roots are counted right, of
//! multiple ones only those whose coefficients are exact. [`crate::roots`] is the more careful and the faster way, this
//! one is for comparison.

use crate::polynomial::{Evaluation, evaluate, evaluate_with_magnitude};
use crate::roots::{Root, Sign, noise_factor};
use crate::twofold::Twofold;

/// A remainder this much smaller than what it was made of is taken as zero.
const NOISE: f64 = 1e-25;
/// A leading coefficient this much smaller than the greatest does not matter.
const NEGLIGIBLE: f64 = 1e-8;
/// Halvings of an interval that holds several roots.
const HALVINGS: u32 = 54;

/// A Sturm chain, its memory kept between polynomials.
#[derive(Clone, Debug, Default)]
pub struct SturmChain {
    polynomial: Vec<f64>,
    members: Vec<Vec<Twofold>>,
}

impl SturmChain {
    /// Writes the distinct roots in (0, 1] to `found`, in order.
    ///
    /// ```
    /// use saltus_num::sturm::SturmChain;
    /// let mut found = Vec::new();
    /// // (s - 1/4) (s - 1/2), and (s - 1/2)^2: distinct roots count once.
    /// SturmChain::default().roots(&[0.125, -0.75, 1.0], &mut found);
    /// assert_eq!(found.len(), 2);
    /// assert!((found[0].at - 0.25).abs() < 1e-15 && (found[1].at - 0.5).abs() < 1e-15);
    /// SturmChain::default().roots(&[0.25, -1.0, 1.0], &mut found);
    /// assert!(found.len() == 1 && found[0].touch);
    /// ```
    pub fn roots(&mut self, c: &[f64], found: &mut Vec<Root>) {
        found.clear();
        if !self.build(c) {
            return;
        }
        self.isolate(0.0, 1.0, self.changes(0.0), self.changes(1.0), 0, found);
    }

    /// Makes the chain; false if the polynomial has no roots to speak of.
    fn build(&mut self, c: &[f64]) -> bool {
        self.members.clear();
        self.polynomial.clear();
        if c.iter().any(|c| !c.is_finite()) {
            return false;
        }
        let exact: Vec<Twofold> = c.iter().map(|&c| c.into()).collect();
        let Some(mut older) = trimmed(exact, f64::EPSILON * greatest(c)).filter(|p| p.len() > 1) else {
            return false;
        };
        let mut newer: Vec<Twofold> = (1..older.len()).map(|k| Twofold::from(k as f64) * older[k]).collect();
        self.polynomial.extend(older.iter().map(|c| c.rounded()));
        self.members.extend([older.clone(), newer.clone()]);
        while newer.len() > 1
            && let Some(rest) = negated_remainder(&older, &newer)
        {
            self.members.push(rest.clone());
            older = std::mem::replace(&mut newer, rest);
        }
        true
    }

    /// Sign changes of the chain at a place; zeros are passed over.
    fn changes(&self, s: f64) -> usize {
        let signs =
            self.members.iter().map(|p| value_at(p, s)).filter(|v| *v != 0.0).map(f64::is_sign_positive);
        let (changes, _) = signs.fold((0, None), |(n, last), sign| {
            (n + usize::from(last.is_some_and(|l| l != sign)), Some(sign))
        });
        changes
    }

    fn isolate(&self, lo: f64, hi: f64, at_lo: usize, at_hi: usize, depth: u32, found: &mut Vec<Root>) {
        if at_lo <= at_hi {
            return;
        }
        if at_lo - at_hi == 1 || depth >= HALVINGS {
            found.push(self.refine(lo, hi, at_hi));
            return;
        }
        let middle = 0.5 * (lo + hi);
        let at_middle = self.changes(middle);
        self.isolate(lo, middle, at_lo, at_middle, depth + 1, found);
        self.isolate(middle, hi, at_middle, at_hi, depth + 1, found);
    }

    /// Narrows an interval that holds one root, by counting, until no number is between its ends: a root
    /// near to zero is small, and known as well as any other.
    fn refine(&self, lo: f64, hi: f64, at_hi: usize) -> Root {
        let (mut left, mut right) = (lo, hi);
        loop {
            let middle = 0.5 * (left + right);
            if middle <= left || middle >= right {
                break;
            }
            if self.changes(middle) > at_hi { left = middle } else { right = middle }
        }
        let at = 0.5 * (left + right);
        let (left, right) = (self.last_certain(left, lo), self.last_certain(right, hi));
        Root::bracketed(left, at, right, self.sign_after(lo), self.sign_after(hi))
    }

    /// The nearest place on the way to a limit at which the sign is not lost in rounding.
    fn last_certain(&self, mut s: f64, limit: f64) -> f64 {
        let p = &self.polynomial;
        let mut step = (f64::EPSILON * s).max(f64::MIN_POSITIVE).copysign(limit - s);
        while s != limit {
            let Evaluation { value, magnitude, .. } = evaluate_with_magnitude(p, s);
            if value.abs() > noise_factor(p.len() - 1) * magnitude {
                break;
            }
            s = if (limit - s).abs() <= step.abs() { limit } else { s + step };
            step *= 2.0;
        }
        s
    }

    /// The sign just after a place.
    fn sign_after(&self, s: f64) -> Sign {
        let signs = self.members[..2].iter().map(|p| Sign::of(value_at(p, s)));
        let simple = signs.into_iter().find(|sign| *sign != Sign::Zero);
        simple.unwrap_or_else(|| Sign::of(evaluate(&self.polynomial, s + 1e-3)))
    }
}

/// The value of a member.
fn value_at(c: &[Twofold], s: f64) -> f64 {
    let s = Twofold::from(s);
    c.iter().rev().fold(Twofold::from(0.0), |sum, &c| sum * s + c).rounded()
}

fn greatest(c: &[f64]) -> f64 {
    c.iter().fold(0.0, |m, c| m.max(c.abs()))
}

/// Without leading coefficients that are not above a bound: division by noise would be noise.
fn trimmed(mut c: Vec<Twofold>, bound: f64) -> Option<Vec<Twofold>> {
    let degree = c.iter().rposition(|c| c.rounded().abs() > bound)?;
    c.truncate(degree + 1);
    Some(c)
}

/// -rem(a, b), scaled to a greatest coefficient of 1; nothing if it is noise.
fn negated_remainder(a: &[Twofold], b: &[Twofold]) -> Option<Vec<Twofold>> {
    let size_of = |c: &[Twofold]| c.iter().fold(0.0_f64, |m, c| m.max(c.rounded().abs()));
    let mut rest = a.to_vec();
    let lead = b[b.len() - 1];
    let mut size = size_of(a);
    while rest.len() >= b.len() {
        let shift = rest.len() - b.len();
        let factor = rest[rest.len() - 1] / lead;
        for (k, &c) in b.iter().enumerate() {
            rest[shift + k] = rest[shift + k] - factor * c;
            size = size.max((factor * c).rounded().abs());
        }
        rest.pop();
    }
    // Leading coefficients that rounding of the polynomial may have made are no part of the remainder,
    // unless the others are hardly greater.
    let rounding = (8.0 * f64::EPSILON * size).min(NEGLIGIBLE * size_of(&rest));
    let rest = trimmed(rest, rounding.max(NOISE * size))?;
    let unit = Twofold::from(size_of(&rest));
    Some(rest.into_iter().map(|c| -c / unit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polynomial::multiply_truncated;
    use crate::roots::RootFinder;
    use proptest::prelude::*;

    fn from_roots(roots: &[f64]) -> Vec<f64> {
        roots.iter().fold(vec![1.0], |p, r| {
            let mut q = vec![0.0; p.len() + 1];
            multiply_truncated(&p, &[-r, 1.0], &mut q);
            q
        })
    }

    #[test]
    fn roots_near_zero_are_as_accurate_as_others() {
        for root in [0.3, 1e-9, 1e-18, 1e-40] {
            let mut found = Vec::new();
            SturmChain::default().roots(&[root, -1.0], &mut found);
            let [only] = found[..] else { panic!("{found:?}") };
            assert!((only.at - root).abs() <= 1e-15 * root && only.hi - only.lo <= 1e-14 * root, "{only:?}");
        }
    }

    #[test]
    fn remainders_of_lower_degree_do_not_end_the_chain() {
        // u^4 + u / 8 by its coefficients in s, u = 4 s - 7/8 up to rounding: the first remainder is linear.
        let u = [-0.875 - f64::EPSILON, 4.0];
        let mut p = vec![1.0];
        for _ in 0..4 {
            let mut q = vec![0.0; p.len() + 1];
            multiply_truncated(&p, &u, &mut q);
            p = q;
        }
        p[0] += u[0] / 8.0;
        p[1] += u[1] / 8.0;
        let mut found = Vec::new();
        SturmChain::default().roots(&p, &mut found);
        let at: Vec<f64> = found.iter().map(|root| root.at).collect();
        assert!(
            at.len() == 2 && (at[0] - 0.09375).abs() < 1e-15 && (at[1] - 0.21875).abs() < 1e-15,
            "{at:?}"
        );
    }

    proptest! {
        /// Roots well apart are found by counting as by exclusion and Descartes' rule.
        #[test]
        fn agrees_with_the_root_finder(mut roots in prop::collection::vec(-1.0..2.0f64, 1..6)) {
            roots.sort_by(f64::total_cmp);
            prop_assume!(roots.windows(2).all(|w| w[1] - w[0] > 0.05));
            prop_assume!(roots.iter().all(|r| r.abs() > 0.02 && (r - 1.0).abs() > 0.02));
            let p = from_roots(&roots);
            let (mut counted, mut located) = (Vec::new(), Vec::new());
            SturmChain::default().roots(&p, &mut counted);
            RootFinder::default().roots(&p, &mut located);
            prop_assert_eq!(counted.len(), located.len());
            for (a, b) in counted.iter().zip(&located) {
                prop_assert!((a.at - b.at).abs() < 1e-9, "{} {}", a.at, b.at);
                prop_assert_eq!((a.before, a.after), (b.before, b.after));
            }
        }
    }
}
