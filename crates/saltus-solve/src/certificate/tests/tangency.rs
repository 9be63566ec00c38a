//! Crossings that are almost tangent, checked in exact arithmetic with 77 digits.
//!
//! Near a tangency the guard is as small as its rounding error, so a bracket is right only if every
//! rounding was counted, and on the right side.

use super::driver::Model;
use super::random::Random;
use crate::certificate::{Certifier, Fault, Request, Verdict, Watch};
use num_bigint::BigInt;
use saltus_expr::jet::{JetMachine, Jets};
use saltus_num::roots::Sign;

const BITS: u64 = 256;

/// A number times 2^256, rounded to a whole one.
fn fixed(x: f64) -> BigInt {
    let bits = x.abs().to_bits();
    let mantissa = BigInt::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let exponent = (bits >> 52) as i64 - 1075 + BITS as i64;
    let size = if exponent >= 0 { mantissa << exponent as u64 } else { mantissa >> (-exponent) as u64 };
    if x == 0.0 {
        BigInt::from(0)
    } else if x < 0.0 {
        -size
    } else {
        size
    }
}

fn times(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> BITS
}

/// Cosine and sine of a number of moderate size.
fn turn(t: &BigInt) -> (BigInt, BigInt) {
    let mut term = BigInt::from(1) << BITS;
    let (mut cosine, mut sine) = (BigInt::from(0), BigInt::from(0));
    for k in 0..80 {
        match k % 4 {
            0 => cosine += &term,
            1 => sine += &term,
            2 => cosine -= &term,
            _ => sine -= &term,
        }
        term = times(&term, t) / (k + 1);
    }
    (cosine, sine)
}

/// x0 cos t + v0 sin t - level, as an exact sign.
fn guard(x0: f64, v0: f64, level: f64, t: f64) -> Sign {
    let (cosine, sine) = turn(&fixed(t));
    let value = times(&fixed(x0), &cosine) + times(&fixed(v0), &sine) - fixed(level);
    // What is left of the truncations is far below this.
    let noise = BigInt::from(1) << (BITS - 230);
    if value > noise {
        Sign::Positive
    } else if value < -noise {
        Sign::Negative
    } else {
        Sign::Zero
    }
}

/// Brackets found and brackets wrong for near-tangent crossings of an oscillator.
fn count_wrong(cases: usize, fault: Option<Fault>) -> (usize, usize, usize) {
    let model = Model::new(&[0.0, 0.0, 0.0], |g, _, x| vec![x[1], g.neg(x[0]), g.real(0.0)])
        .guard(|g, _, x| g.sub(x[0], x[2]));
    let (plan, slots) = (model.plan(), model.guard_slots());
    let order = 16;
    let mut jets = JetMachine::new(&plan, order);
    let mut certifier = Certifier::new(&plan, &jets, &slots, &[]);
    certifier.fault = fault;
    let mut r = Random(7);
    let (mut events, mut undecided, mut wrong) = (0, 0, 0);
    for _ in 0..cases {
        let (amplitude, before) = (r.between(0.5, 2.0), r.between(0.05, 0.6));
        let (x0, v0) = (amplitude * f64::cos(before), amplitude * f64::sin(before));
        let depth = 10f64.powf(r.between(-15.5, -9.0));
        let level = x0.hypot(v0) * (1.0 - depth);
        let mut env = vec![0.0; plan.slots];
        env[1..4].copy_from_slice(&[x0, v0, level]);
        certifier.reset();
        jets.run(&env, 0.7);
        let request = Request {
            env: &env,
            jets: &jets,
            scale: 0.7,
            h: 0.7,
            unit: 0.7,
            resolution: f64::INFINITY,
            absolute: 0.0,
            local: None,
            slack: &[],
            near: &[],
            radii: None,
        };
        let verdict =
            certifier.certify(request, &|_| Watch { sign: Sign::Negative, from_zero: false, until: 0.0 });
        let mut expect = |t: f64, sign: Sign| wrong += usize::from(guard(x0, v0, level, t) != sign);
        match verdict {
            Verdict::Proved { .. } if !certifier.brackets().is_empty() => {
                events += 1;
                for bracket in certifier.brackets() {
                    expect(bracket.t_lo, bracket.after.flip());
                    expect(bracket.t_hi.expect("an end"), bracket.after);
                }
            }
            Verdict::Possible { t_lo, .. } => {
                undecided += 1;
                expect(t_lo, Sign::Negative);
            }
            Verdict::Proved { h } => {
                undecided += 1;
                expect(h, Sign::Negative);
            }
            Verdict::Uncertain { .. } | Verdict::Blurred => panic!("{verdict:?}"),
        }
    }
    eprintln!("{events} events, {undecided} undecided, {wrong} wrong, {fault:?}");
    (events, undecided, wrong)
}

#[test]
fn brackets_of_near_tangent_crossings_are_right_to_the_last_digit() {
    let (events, undecided, wrong) = count_wrong(400, None);
    assert_eq!((events + undecided, wrong), (400, 0));
    assert!(events > 300, "{events}");
}

#[test]
fn a_margin_in_the_wrong_direction_is_noticed() {
    let (_, _, wrong) = count_wrong(400, Some(Fault::WrongMargin));
    assert!(wrong > 20, "{wrong}");
}

#[test]
fn exact_cosines_agree_with_the_library() {
    for t in [0.0, 0.3, -1.25, 3.5] {
        let (cosine, sine) = turn(&fixed(t));
        let near = |exact: BigInt, x: f64| {
            let gap: BigInt = (exact - fixed(x)) >> (BITS - 50);
            gap == BigInt::from(0) || gap == BigInt::from(-1)
        };
        assert!(near(cosine, f64::cos(t)) && near(sine, f64::sin(t)), "{t}");
    }
}
