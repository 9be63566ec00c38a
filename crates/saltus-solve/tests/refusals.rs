//! What happens when a flow gives no value: nothing is lost, and a shorter step is proposed.

mod common;

use common::both;
use saltus_solve::adams::{Adams, AdamsOptions};
use saltus_solve::fixed::{Euler, Rk4};
use saltus_solve::runge_kutta::DormandPrince;
use saltus_solve::{Integrator, Refusal, Step};

fn methods() -> [Box<dyn Integrator>; 4] {
    [
        Box::new(Adams::new(AdamsOptions::new(both(1e-8)))),
        Box::new(DormandPrince::new(both(1e-8))),
        Box::new(Euler::new(1e-4)),
        Box::new(Rk4::new(0.01)),
    ]
}

/// A component that allows no evaluation more than 0.01 ahead of where it stands.
#[test]
fn veto_proposes_the_step_that_is_allowed() {
    for mut integrator in methods() {
        let name = integrator.name();
        integrator.restart(0.0, &[1.0]);
        let mut vetoes = 0;
        while integrator.time() < 2.0 {
            let start = integrator.time();
            let mut flow = |t: f64, x: &[f64], f: &mut [f64]| {
                f[0] = -x[0];
                if t > start + 0.01 { Err(Refusal::Shorten { to: 0.01 }) } else { Ok(()) }
            };
            integrator.begin(&mut flow).unwrap();
            let h = integrator.proposed().min(2.0 - start);
            match integrator.step(h, &mut flow) {
                Ok(_) => {}
                Err(refusal) => {
                    vetoes += 1;
                    assert_eq!(refusal, Refusal::Shorten { to: 0.01 });
                    assert_eq!(integrator.proposed(), 0.01);
                    assert_eq!(integrator.time(), start);
                    assert!(matches!(integrator.step(0.01, &mut flow), Ok(Step::Accepted { .. })));
                }
            }
        }
        let error = (integrator.states()[0] - (-2.0f64).exp()).abs();
        assert!(error < if name == "euler" { 1e-4 } else { 1e-7 }, "{name}: {error}");
        assert!(vetoes > 100 || ["euler", "rk4"].contains(&name), "{name}: {vetoes}");
    }
}

/// x' = -sqrt(x) - 0.1 falls through x = 0, beyond which it does not exist. The error of x when it
/// is nearly there, and the number of refusals.
fn fall(daring: bool) -> (f64, usize) {
    let mut integrator = Adams::new(AdamsOptions::new(both(1e-8)));
    integrator.restart(0.0, &[1.0]);
    let mut flow = |_t: f64, x: &[f64], f: &mut [f64]| {
        f[0] = -x[0].sqrt() - 0.1;
        Ok(())
    };
    let (mut refusals, mut accepted, mut dare) = (0, 0, daring);
    while integrator.states()[0] > 1e-3 {
        let (t, x) = (integrator.time(), integrator.states().to_vec());
        integrator.begin(&mut flow).unwrap();
        // Now and then the step is far too long: the prediction is below zero.
        let h = if dare { 1.5 } else { integrator.proposed() };
        dare = false;
        match integrator.step(h, &mut flow) {
            Err(refusal) => {
                refusals += 1;
                assert_eq!(refusal, Refusal::Undefined { t: t + h });
                assert!(integrator.proposed() > 0.0 && integrator.proposed() < h);
                assert_eq!((integrator.time(), integrator.states()), (t, &x[..]));
            }
            Ok(Step::Accepted { .. }) => {
                accepted += 1;
                dare = daring && accepted % 4 == 0;
            }
            Ok(Step::Rejected { .. }) => assert_eq!(integrator.states(), x),
        }
    }
    // With u = sqrt(x), dt = -2 u du / (u + 0.1).
    let u = integrator.states()[0].sqrt();
    let exact = 2.0 * (1.0 - u - 0.1 * (1.1 / (u + 0.1)).ln());
    ((integrator.time() - exact).abs() * (u + 0.1), refusals)
}

#[test]
fn flow_without_value_shortens_the_step() {
    let (careful, daring) = (fall(false), fall(true));
    assert!(daring.1 > 3, "{} refusals", daring.1);
    assert!(careful.0 < 1e-6 && daring.0 < 3.0 * careful.0, "{careful:?} {daring:?}");
}

/// A jump of the slope that nobody has announced breaks what the error estimate takes for granted.
/// The method gets over it, at a bounded cost, with an error that is larger but still small.
#[test]
fn unannounced_jump_is_survived() {
    let mut integrator = Adams::new(AdamsOptions::new(both(1e-9)));
    integrator.restart(0.0, &[0.0]);
    let mut evaluations = 0;
    let mut flow = |t: f64, _x: &[f64], f: &mut [f64]| {
        evaluations += 1;
        f[0] = if t < 1.0 { t.cos() } else { -10.0 };
        Ok(())
    };
    common::run(&mut integrator, &mut flow, 2.0, |_| {});
    let error = (integrator.states()[0] - (1.0f64.sin() - 10.0)).abs();
    assert!(error < 1e-5, "{error}");
    assert!(evaluations < 250, "{evaluations}");
}
