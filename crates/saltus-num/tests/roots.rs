//! The root finder against polynomials multiplied out from known factors, none missed and none
//! invented. `SALTUS_CASES` sets the number of cases.

use proptest::prelude::*;
use saltus_num::polynomial::{evaluate, evaluate_with_magnitude, multiply_truncated};
use saltus_num::roots::{Root, RootFinder, Sign, excludes_zero};

fn cases() -> ProptestConfig {
    let cases = std::env::var("SALTUS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_global_rejects: cases,
        ..ProptestConfig::default()
    }
}

/// A factor with integer data over a power of two: the products below are then exact.
#[derive(Clone, Copy, Debug)]
enum Factor {
    /// s - root/16
    Linear(i32),
    /// (s - centre/8)^2 + height/8, height > 0: no real root
    Positive(i32, i32),
}

impl Factor {
    fn coefficients(self) -> Vec<f64> {
        match self {
            Factor::Linear(r) => vec![-f64::from(r) / 16.0, 1.0],
            Factor::Positive(m, h) => {
                let (m, h) = (f64::from(m) / 8.0, f64::from(h) / 8.0);
                vec![m * m + h, -2.0 * m, 1.0]
            }
        }
    }

    fn sign_at(self, s: f64) -> Sign {
        match self {
            Factor::Linear(r) => Sign::of(s - f64::from(r) / 16.0),
            Factor::Positive(..) => Sign::Positive,
        }
    }
}

fn product(factors: &[Vec<f64>]) -> Vec<f64> {
    factors.iter().fold(vec![1.0], |c, f| {
        let mut out = vec![0.0; c.len() + f.len() - 1];
        multiply_truncated(&c, f, &mut out);
        out
    })
}

fn sign_product(signs: impl Iterator<Item = Sign>) -> Sign {
    signs.fold(Sign::Positive, |a, b| Sign::of(a.value() * b.value()))
}

fn factor() -> impl Strategy<Value = Factor> {
    prop_oneof![
        4 => (-8i32..=24).prop_map(Factor::Linear),
        1 => (-4i32..=12, 1i32..=4).prop_map(|(m, h)| Factor::Positive(m, h)),
    ]
}

/// Whether |p| may be below its rounding noise somewhere in the bracket.
fn near_zero(c: &[f64], root: &Root) -> bool {
    let level = 16.0 * (c.len() + 2) as f64 * f64::EPSILON;
    (0..=16).any(|k| {
        let s = root.lo + (root.hi - root.lo) * f64::from(k) / 16.0;
        let p = evaluate_with_magnitude(c, s);
        p.value.abs() <= level * p.magnitude
    })
}

fn find(c: &[f64]) -> Vec<Root> {
    let mut roots = Vec::new();
    let mut finder = RootFinder::default();
    finder.roots(c, &mut roots);
    assert_eq!(finder.first_root(c).as_ref(), roots.first());
    roots
}

/// What must hold for any answer: order, place, signs of the computed values at the ends.
fn check_shape(c: &[f64], roots: &[Root]) -> Result<(), TestCaseError> {
    let mut last = 0.0;
    for r in roots {
        prop_assert!(
            last <= r.lo && r.lo <= r.at && r.at <= r.hi && r.hi <= 1.0 && r.hi > 0.0,
            "{:?}",
            roots
        );
        prop_assert_eq!(r.touch, r.before == r.after);
        let at_lo = Sign::of(evaluate(c, r.lo));
        prop_assert!(at_lo == r.before || (r.lo == r.hi && at_lo == Sign::Zero), "{:?}", r);
        if r.hi < 1.0 {
            let at_hi = Sign::of(evaluate(c, r.hi));
            prop_assert!(at_hi == r.after || (r.lo == r.hi && at_hi == Sign::Zero), "{:?}", r);
        }
        last = r.hi;
    }
    prop_assert!(roots.windows(2).all(|w| w[0].after == w[1].before));
    if !roots.is_empty() {
        prop_assert!(!excludes_zero(c));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn exact_products(factors in prop::collection::vec(factor(), 1..8), flip: bool, exponent in -1000i32..1000) {
        let scale = if flip { -1.0 } else { 1.0 } * 2f64.powi(exponent);
        let mut c = product(&factors.iter().map(|f| f.coefficients()).collect::<Vec<_>>());
        c.iter_mut().for_each(|x| *x *= scale);
        let roots = find(&c);
        check_shape(&c, &roots)?;
        let known = |lo: f64, hi: f64, closed: bool| {
            factors.iter().filter(|f| match f {
                Factor::Linear(r) => {
                    let r = f64::from(*r) / 16.0;
                    r > 0.0 && r <= 1.0 && if closed { lo <= r && r <= hi } else { lo < r && r < hi }
                }
                Factor::Positive(..) => false,
            }).count()
        };
        let exact_sign = |s: f64| {
            let sign = sign_product(factors.iter().map(|f| f.sign_at(s)));
            if flip { sign.flip() } else { sign }
        };
        let mut last = 0.0;
        for r in &roots {
            prop_assert_eq!(known(last, r.lo, false), 0, "missed before {:?}", r);
            let inside = known(r.lo, r.hi, true);
            if r.lo < r.hi {
                prop_assert_eq!(exact_sign(r.lo), r.before);
                if r.hi < 1.0 {
                    prop_assert_eq!(exact_sign(r.hi), r.after);
                }
                prop_assert!(r.after == Sign::Zero || (inside % 2 == 0) == r.touch, "{} in {:?}", inside, r);
                prop_assert!(inside > 0 || near_zero(&c, r), "invented {:?}", r);
            } else {
                prop_assert!(inside > 0 && exact_sign(r.lo) == Sign::Zero, "not exact {:?}", r);
            }
            last = r.hi;
        }
        let end = if last == 1.0 { 1.0 } else { 1.0 + f64::EPSILON };
        prop_assert_eq!(known(last, end, false), 0, "missed at the end {:?}", roots);
        if factors.len() == 1 && c.len() == 2 {
            prop_assert!(roots.iter().all(|r| r.lo == r.hi));
        }
    }

    /// Separated roots of any size: each is found once, in a bracket no wider than the noise asks.
    #[test]
    fn rounded_products(
        places in prop::collection::vec(-3.0f64..3.0, 1..12),
        smallest in prop_oneof![Just(0.0), -40.0f64..0.0],
        scale in -80i32..80,
    ) {
        let mut known: Vec<f64> = places.clone();
        if smallest < 0.0 {
            known.push(2f64.powf(smallest));
        }
        let mut c = product(&known.iter().map(|r| vec![-r, 1.0]).collect::<Vec<_>>());
        let conditioned = known.iter().all(|&r| {
            let p = evaluate_with_magnitude(&c, r);
            let width = 1e-13 * p.magnitude / p.slope.abs();
            let gap = known.iter().filter(|&&q| q != r).map(|&q| (q - r).abs()).fold(2.0, f64::min);
            let ends = r.abs().min((r - 1.0).abs());
            width < 1e-3 * gap && (!(-0.5..1.5).contains(&r) || width < 1e-3 * ends)
        });
        prop_assume!(conditioned);
        c.iter_mut().for_each(|x| *x *= 2f64.powi(scale));
        let mut expected: Vec<f64> = known.into_iter().filter(|&r| r > 0.0 && r <= 1.0).collect();
        expected.sort_by(f64::total_cmp);
        let roots = find(&c);
        check_shape(&c, &roots)?;
        prop_assert_eq!(roots.len(), expected.len(), "{:?} against {:?}", roots, expected);
        for (r, x) in roots.iter().zip(expected) {
            let p = evaluate_with_magnitude(&c, x);
            let noise = 40.0 * c.len() as f64 * f64::EPSILON * p.magnitude / p.slope.abs();
            prop_assert!(!r.touch && (r.at - x).abs() <= noise && r.hi - r.lo <= noise, "{:?} {} {}", r, x, noise);
        }
    }

    /// Random coefficients of high degree against a fine sampling: no certain sign change is lost.
    #[test]
    fn random_coefficients(
        c in prop::collection::vec(-1.0f64..1.0, 3..61),
        first in -12.0f64..0.0,
        decay in 0.3f64..2.0,
    ) {
        let mut c = c;
        c[0] *= 10f64.powf(first);
        c.iter_mut().enumerate().for_each(|(k, x)| *x *= decay.powi(k as i32));
        let roots = find(&c);
        check_shape(&c, &roots)?;
        let sign_at = |s: f64| match roots.iter().find(|r| s <= r.hi) {
            Some(r) if s < r.lo => Some(r.before),
            Some(_) => None,
            None => roots.last().map(|r| r.after).or(Some(Sign::of(c[0]))),
        };
        for k in 0..=400 {
            let s = (f64::from(k) / 400.0).powi(3);
            let p = evaluate_with_magnitude(&c, s);
            let certain = p.value.abs() > 1e-13 * p.magnitude;
            if let (true, Some(sign)) = (certain, sign_at(s)) {
                prop_assert_eq!(sign, Sign::of(p.value), "at {} of {:?}", s, roots);
            }
        }
        for r in roots.iter().filter(|r| r.touch) {
            prop_assert!(near_zero(&c, r), "invented {:?}", r);
        }
    }
}
