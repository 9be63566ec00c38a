//! Orders of convergence: how the error falls when steps are halved.

mod common;

use common::{Counted, distance, known, known_solution};
use proptest::prelude::*;
use saltus_solve::adams::{Adams, AdamsOptions, MAX_ORDER, Pair};
use saltus_solve::fixed::{Euler, Rk4};
use saltus_solve::runge_kutta::DormandPrince;
use saltus_solve::taylor::Tolerance;
use saltus_solve::{Integrator, Refusal};

/// So much error is allowed that no step is rejected.
const NO_CONTROL: Tolerance = Tolerance { relative: 0.0, absolute: 1e300 };
const BEGIN: f64 = 0.5;
const END: f64 = 2.5;

/// Largest errors at endss of steps of these lengths, and between.
fn errors(integrator: &mut dyn Integrator, lengths: &[f64]) -> (f64, f64) {
    let mut flow = Counted::new(known);
    let mut x = [0.0; 3];
    let (mut at_ends, mut between) = (0.0_f64, 0.0_f64);
    for h in lengths {
        assert!(integrator.step(*h, &mut flow).unwrap().is_accepted());
        at_ends = at_ends.max(distance(integrator.states(), &known_solution(integrator.time())));
        let dense = integrator.dense();
        for s in [0.2, 0.4, 0.6, 0.8] {
            dense.evaluate(s, &mut x);
            between = between.max(distance(&x, &known_solution(dense.origin() + s * dense.unit())));
        }
    }
    (at_ends, between)
}

/// Lengths of `n` steps: alike, or changing by up to a factor of two from one to the next.
fn lengths(n: usize, varying: bool) -> Vec<f64> {
    const PATTERN: [f64; 5] = [1.0, 1.6, 0.8, 0.7, 1.3];
    let relative: Vec<f64> = (0..n).map(|i| if varying { PATTERN[i % 5] } else { 1.0 }).collect();
    let total: f64 = relative.iter().sum();
    relative.iter().map(|r| r * (END - BEGIN) / total).collect()
}

fn order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

#[track_caller]
fn check_order(name: &str, measured: f64, expected: usize, slack: f64) {
    println!("{name}: {measured:.2}, expected {expected}");
    assert!((measured - expected as f64).abs() < slack, "{name}: {measured} is not {expected}");
}

/// The method of order `m` at `BEGIN`, with slopes of the solution at steps of `h` before.
fn primed(m: usize, pair: Pair, h: f64) -> Adams {
    let options = AdamsOptions { pair, ..AdamsOptions::new(NO_CONTROL).fixed_order(m) };
    let mut adams = Adams::new(options);
    let slopes: Vec<[f64; 3]> = (1..m)
        .rev()
        .map(|back| {
            let t = BEGIN - back as f64 * h;
            let mut f = [0.0; 3];
            known(t, &known_solution(t), &mut f);
            f
        })
        .collect();
    let past: Vec<(f64, &[f64])> = slopes.iter().map(|f| (h, &f[..])).collect();
    adams.restart_with(BEGIN, &known_solution(BEGIN), &past);
    adams
}

#[test]
fn adams_of_each_order_at_equal_and_unequal_steps() {
    for (pair, gain) in [(Pair::Extrapolated, 1), (Pair::SameOrder, 0)] {
        for varying in [false, true] {
            for m in 1..=MAX_ORDER {
                // Few enough steps that rounding stays far below the error of high orders.
                let n = [640, 640, 640, 160, 120, 80, 60, 60][m - 1];
                let measure = |n: usize| {
                    let lengths = lengths(n, varying);
                    errors(&mut primed(m, pair, lengths[0]), &lengths)
                };
                let (coarse, fine) = (measure(n), measure(2 * n));
                let name = format!("adams {m} {pair:?} varying {varying}");
                check_order(&format!("{name} at ends"), order(coarse.0, fine.0), m + gain, 0.3);
                check_order(&format!("{name} between"), order(coarse.1, fine.1), m + gain, 0.3);
            }
        }
    }
}

#[test]
fn one_step_methods() {
    type Make = fn(f64) -> Box<dyn Integrator>;
    let methods: [(Make, usize, usize); 3] = [
        (|h| Box::new(Euler::new(h)), 1, 400),
        (|h| Box::new(Rk4::new(h)), 4, 50),
        (|_| Box::new(DormandPrince::new(NO_CONTROL)), 5, 60),
    ];
    for (make, expected, n) in methods {
        for varying in [false, true] {
            let measure = |n: usize| {
                let lengths = lengths(n, varying);
                let mut integrator = make(lengths[0]);
                integrator.restart(BEGIN, &known_solution(BEGIN));
                errors(&mut *integrator, &lengths)
            };
            let (coarse, fine) = (measure(n), measure(2 * n));
            let name = format!("{} varying {varying}", make(1.0).name());
            check_order(&format!("{name} at ends"), order(coarse.0, fine.0), expected, 0.3);
            check_order(&format!("{name} between"), order(coarse.1, fine.1), expected, 0.3);
        }
    }
}

/// A polynomial in time, given by coefficients, and its derivative.
fn polynomial(c: &[f64], t: f64) -> (f64, f64) {
    saltus_num::polynomial::evaluate_with_derivative(c, t)
}

proptest! {
    /// The predictor of order m reproduces solutions of degree m, the extrapolated corrector those
    /// of degree m + 1, on any grid and anywhere in the step.
    #[test]
    fn adams_is_exact_on_polynomials(
        m in 1..=MAX_ORDER,
        c in prop::collection::vec(-4i32..=4, MAX_ORDER + 2),
        gaps in prop::collection::vec(1u32..=8, MAX_ORDER),
        extrapolated: bool,
        s in 0.0..=1.0,
    ) {
        let pair = if extrapolated { Pair::Extrapolated } else { Pair::SameOrder };
        let solution = |degree: usize| c[..=degree].iter().map(|c| f64::from(*c)).collect::<Vec<_>>();
        let (low, high) = (solution(m), solution(m + 1));
        let gaps: Vec<f64> = gaps.iter().map(|g| f64::from(*g) / 8.0).collect();
        let mut slopes = Vec::new();
        let mut t = -gaps[..m - 1].iter().sum::<f64>();
        for gap in &gaps[..m - 1] {
            slopes.push((*gap, [polynomial(&low, t).1, polynomial(&high, t).1]));
            t += gap;
        }
        let past: Vec<(f64, &[f64])> = slopes.iter().map(|(gap, f)| (*gap, &f[..])).collect();
        let mut adams = Adams::new(AdamsOptions { pair, ..AdamsOptions::new(NO_CONTROL).fixed_order(m) });
        adams.restart_with(0.0, &[low[0], high[0]], &past);
        let mut flow = |t: f64, _x: &[f64], f: &mut [f64]| {
            (f[0], f[1]) = (polynomial(&low, t).1, polynomial(&high, t).1);
            Ok::<(), Refusal>(())
        };
        let h = gaps[m - 1];
        adams.begin(&mut flow).unwrap();
        prop_assert_eq!(adams.order(), m);
        let mut x = [0.0; 2];
        adams.predict(h).unwrap().states.evaluate(s, &mut x);
        let allowed = |exact: f64| 1e-8 * (1.0 + exact.abs());
        let (exact_low, exact_high) = (polynomial(&low, s * h).0, polynomial(&high, s * h).0);
        prop_assert!((x[0] - exact_low).abs() < allowed(exact_low), "predicted {} for {}", x[0], exact_low);
        adams.step(h, &mut flow).unwrap();
        adams.dense().evaluate(s, &mut x);
        prop_assert!((x[0] - exact_low).abs() < allowed(exact_low), "corrected {} for {}", x[0], exact_low);
        if extrapolated {
            prop_assert!((x[1] - exact_high).abs() < allowed(exact_high), "{} for {}", x[1], exact_high);
        }
    }
}

/// The error that a prediction tells of itself against the solution through the same start, and
/// the gap it tells against the corrected step: both within a factor of three nearly always.
#[test]
fn prediction_tells_its_distance() {
    for m in 2..=6 {
        let tolerance = Tolerance { relative: 0.0, absolute: 1e-7 };
        let mut adams = Adams::new(AdamsOptions::new(tolerance).fixed_order(m));
        adams.restart(0.0, &known_solution(0.0));
        let mut flow = Counted::new(known);
        let (mut steps, mut errors_told, mut gaps_told) = (0, 0, 0);
        while adams.time() < END {
            adams.begin(&mut flow).unwrap();
            let (t, x, h) = (adams.time(), adams.states().to_vec(), adams.proposed());
            let prediction = adams.predict(h).unwrap();
            let gap = prediction.gap.unwrap();
            let largest = gap.differences.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
            let reach = largest * saltus_num::polynomial::evaluate(gap.coefficients, 1.0);
            let told = prediction.error(1.0) * tolerance.absolute;
            assert!(prediction.error(0.0) == 0.0 && prediction.error(0.5) < 0.6 * prediction.error(1.0));
            let mut predicted = [0.0; 3];
            prediction.states.evaluate(1.0, &mut predicted);
            let settled = adams.order() == m;
            if !adams.step(h, &mut flow).unwrap().is_accepted() || !settled {
                continue;
            }
            let mut exact = DormandPrince::new(common::both(1e-13));
            exact.restart(t, &x);
            common::run(&mut exact, &mut flow, t + h, |_| {});
            let error = distance(&predicted, exact.states());
            steps += 1;
            errors_told += usize::from((1.0 / 3.0..3.0).contains(&(told / error)));
            gaps_told += usize::from(distance(&predicted, adams.states()) < 3.0 * reach);
        }
        assert!(steps > 20 && 10 * errors_told > 8 * steps, "order {m}: {errors_told} of {steps}");
        assert!(100 * gaps_told > 95 * steps, "order {m}: {gaps_told} of {steps}");
    }
}
