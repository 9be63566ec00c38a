//! The root finder against exact arithmetic: polynomials with close roots and full mantissas, whose
//! roots are counted by Sturm's theorem in whole numbers. Only such a test notices a rounding
//! constant that is too small. `SALTUS_CASES` sets the number of cases.

use num_bigint::{BigInt, Sign as Whole};
use proptest::prelude::*;
use saltus_num::polynomial::multiply_truncated;
use saltus_num::roots::{Root, RootFinder, Sign, excludes_zero};

fn cases() -> ProptestConfig {
    let cases = std::env::var("SALTUS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A floating-point number as a whole number times a power of two.
fn decompose(x: f64) -> (BigInt, i32) {
    let bits = x.abs().to_bits();
    let exponent = (bits >> 52) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let mantissa = BigInt::from(if exponent == 0 { fraction } else { fraction | 1 << 52 });
    (if x < 0.0 { -mantissa } else { mantissa }, exponent.max(1) - 1075)
}

/// A polynomial with whole coefficients.
#[derive(Clone, Debug)]
struct Exact(Vec<BigInt>);

impl Exact {
    /// A positive multiple of the polynomial with these coefficients.
    fn new(c: &[f64]) -> Self {
        let parts: Vec<(BigInt, i32)> = c.iter().map(|&x| decompose(x)).collect();
        let least = parts.iter().map(|(_, e)| *e).min().unwrap_or(0);
        Exact(parts.into_iter().map(|(m, e)| m << (e - least)).collect()).trimmed()
    }

    fn trimmed(mut self) -> Self {
        while self.0.last().is_some_and(|x| x.sign() == Whole::NoSign) {
            self.0.pop();
        }
        self
    }

    fn derivative(&self) -> Self {
        Exact(self.0.iter().enumerate().skip(1).map(|(k, x)| x * k).collect())
    }

    /// The negative remainder of a division, times a positive number.
    fn next_in_chain(&self, divisor: &Exact) -> Self {
        let mut rest = self.0.clone();
        let leading = &divisor.0[divisor.0.len() - 1];
        let size = leading * leading;
        while rest.len() >= divisor.0.len() {
            let offset = rest.len() - divisor.0.len();
            let factor = &rest[rest.len() - 1] * leading;
            rest.iter_mut().for_each(|x| *x *= &size);
            for (k, d) in divisor.0.iter().enumerate() {
                rest[offset + k] -= &factor * d;
            }
            rest.pop();
        }
        Exact(rest.into_iter().map(|x| -x).collect()).trimmed()
    }

    fn sign_at(&self, s: f64) -> Sign {
        let (mantissa, exponent) = decompose(s);
        let value = self.0.iter().rev().fold((BigInt::ZERO, 0), |(value, places), x| {
            let places = places - exponent;
            (value * &mantissa + (x << places), places)
        });
        match value.0.sign() {
            Whole::Minus => Sign::Negative,
            Whole::NoSign => Sign::Zero,
            Whole::Plus => Sign::Positive,
        }
    }
}

/// The chain of Sturm's theorem.
struct Sturm(Vec<Exact>);

impl Sturm {
    fn new(p: &Exact) -> Self {
        let mut chain = vec![p.clone(), p.derivative()];
        while chain[chain.len() - 1].0.len() > 1 {
            let next = chain[chain.len() - 2].next_in_chain(&chain[chain.len() - 1]);
            if next.0.is_empty() {
                break;
            }
            chain.push(next);
        }
        Sturm(chain)
    }

    fn sign_changes(&self, s: f64) -> usize {
        let signs: Vec<Sign> = self.0.iter().map(|p| p.sign_at(s)).filter(|&x| x != Sign::Zero).collect();
        signs.windows(2).filter(|w| w[0] != w[1]).count()
    }

    /// The number of different roots above `a` and not above `b`.
    fn roots_between(&self, a: f64, b: f64) -> usize {
        if a < b { self.sign_changes(a) - self.sign_changes(b) } else { 0 }
    }
}

fn check(c: &[f64]) -> Result<Vec<Root>, TestCaseError> {
    let mut roots = Vec::new();
    RootFinder::default().roots(c, &mut roots);
    let exact = Exact::new(c);
    let sturm = Sturm::new(&exact);
    let mut last = 0.0;
    for r in &roots {
        prop_assert_eq!(sturm.roots_between(last, r.lo.next_down()), 0, "missed before {:?}", r);
        if r.lo < r.hi {
            prop_assert_eq!(exact.sign_at(r.lo), r.before, "start of {:?}", r);
            if r.hi < 1.0 {
                prop_assert_eq!(exact.sign_at(r.hi), r.after, "end of {:?}", r);
            }
        } else {
            prop_assert_eq!(exact.sign_at(r.lo), Sign::Zero);
        }
        last = r.hi;
    }
    prop_assert_eq!(sturm.roots_between(last, 1.0), 0, "missed after {:?}", roots);
    prop_assert!(!excludes_zero(c) || sturm.roots_between(0.0, 1.0) == 0);
    Ok(roots)
}

fn product(roots: &[f64]) -> Vec<f64> {
    roots.iter().fold(vec![1.0], |c, r| {
        let mut out = vec![0.0; c.len() + 1];
        multiply_truncated(&c, &[-r, 1.0], &mut out);
        out
    })
}

proptest! {
    #![proptest_config(cases())]

    /// A group of roots so close that noise and gaps are of one size.
    #[test]
    fn close_roots(
        centre in 0.0f64..1.1,
        spread in -16.0f64..-2.0,
        group in prop::collection::vec(-1.0f64..1.0, 1..4),
        others in prop::collection::vec(-2.0f64..2.0, 0..5),
        scale in 1.0f64..2.0,
    ) {
        let near = group.iter().map(|d| centre + d * 10f64.powf(spread));
        let mut c = product(&near.chain(others).collect::<Vec<_>>());
        c.iter_mut().for_each(|x| *x *= scale);
        check(&c)?;
    }

    /// A smooth arc that touches zero up to its last bits.
    #[test]
    fn grazing(
        centre in 0.05f64..1.0,
        height in -18.0f64..-8.0,
        below: bool,
        factor in prop::collection::vec(-1.0f64..1.0, 1..6),
    ) {
        let height = if below { -1.0 } else { 1.0 } * 10f64.powf(height);
        let mut positive = factor;
        positive[0] = 1.0 + positive.iter().map(|x| x.abs()).sum::<f64>();
        let mut c = vec![0.0; positive.len() + 2];
        multiply_truncated(&positive, &[centre * centre + height, -2.0 * centre, 1.0], &mut c);
        check(&c)?;
    }

    /// So does what bends one way all over: two roots, a touch up to its last bits, or none, beyond the ends too.
    #[test]
    fn bent(
        vertex in -0.25f64..1.25,
        height in -18.0f64..0.0,
        below: bool,
        bend in prop_oneof![Just(1.0), Just(-1.0)],
        share in 0.0f64..1.1,
        others in prop::collection::vec(-1.0f64..1.0, 1..4),
        at_end: bool,
    ) {
        let height = if below { -1.0 } else { 1.0 } * 10f64.powf(height);
        let bends = (3..).zip(&others).map(|(k, c)| f64::from(k * (k - 1)) * c.abs()).sum::<f64>();
        let mut c = vec![bend * (vertex * vertex + height), -2.0 * bend * vertex, bend];
        c.extend(others.iter().map(|c| 2.0 * share * c / bends));
        // A root at the very end, or as near to it as numbers are.
        c[0] -= if at_end { c.iter().sum::<f64>() } else { 0.0 };
        check(&c)?;
    }

    /// Straight lines and parabolas have their own formulas.
    #[test]
    fn low_degrees(c in prop::collection::vec(-1.0f64..1.0, 2..4), root in 0.0f64..1.1, shift in -18i32..0) {
        check(&c)?;
        let close = root + 10f64.powi(shift);
        check(&product(&[root, close]))?;
        check(&[-root * c[1], c[1]])?;
    }
}
