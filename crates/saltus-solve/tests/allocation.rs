//! Stepping allocates nothing, nor does saving into a snapshot that has been used.

use saltus_counting::{Counting, allocations};
use saltus_solve::adams::{Adams, AdamsOptions};
use saltus_solve::fixed::{Euler, Rk4};
use saltus_solve::runge_kutta::DormandPrince;
use saltus_solve::taylor::Tolerance;
use saltus_solve::{Integrator, Snapshot};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn steps_and_snapshots_allocate_nothing() {
    let tolerance = Tolerance { relative: 1e-8, absolute: 1e-8 };
    let methods: [Box<dyn Integrator>; 4] = [
        Box::new(Adams::new(AdamsOptions::new(tolerance))),
        Box::new(DormandPrince::new(tolerance)),
        Box::new(Euler::new(1e-2)),
        Box::new(Rk4::new(1e-2)),
    ];
    let mut flow = |t: f64, x: &[f64], f: &mut [f64]| {
        (f[0], f[1]) = (x[1], -x[0] + t.sin());
        Ok(())
    };
    for mut integrator in methods {
        integrator.restart(0.0, &[1.0, 0.0]);
        let mut snapshot = Snapshot::default();
        integrator.save(&mut snapshot);
        let before = allocations();
        let mut x = [0.0; 2];
        for i in 0..300 {
            integrator.begin(&mut flow).unwrap();
            let h = integrator.proposed();
            integrator.predict(0.5 * h);
            integrator.step(h, &mut flow).unwrap();
            if i % 50 == 40 {
                integrator.dense().evaluate(0.5, &mut x);
                let (origin, elapsed) = (integrator.dense().origin(), 0.5 * integrator.dense().unit());
                integrator.resume(elapsed, origin + elapsed, &x);
            }
            if i % 100 == 99 {
                integrator.restart(integrator.time(), &x);
                integrator.save(&mut snapshot);
                integrator.restore(&snapshot);
            }
        }
        assert_eq!(allocations(), before, "{}", integrator.name());
    }
}
