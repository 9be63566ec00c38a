//! Proving steps allocates nothing once every degree of polynomial has been met.

use saltus_counting::{Counting, allocations};
use saltus_expr::jet::{JetMachine, Jets};
use saltus_expr::{FlowPlan, Graph, PlanBlock, Program, Sort, Unary, VarId};
use saltus_num::roots::Sign;
use saltus_solve::certificate::{Certifier, Request, Verdict, Watch};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn proving_a_step_allocates_nothing() {
    // A pendulum with a guard that is met and one that is not.
    let mut g = Graph::new();
    let angle = g.var(VarId(1), Sort::Real);
    let sine = g.unary(Unary::Sin, angle);
    let (rate, near, far) = (g.neg(sine), g.real(0.5), g.real(9.0));
    let guards = [g.sub(angle, near), g.sub(angle, far)];
    let (program, inputs) = Program::new(&g, &[rate, guards[0], guards[1]]);
    let inputs = inputs.iter().map(|v| v.0).collect();
    let block = PlanBlock { program: program.into(), inputs, outputs: vec![3, 4, 5] };
    let plan = FlowPlan { blocks: vec![block], states: vec![(1, 2), (2, 3)], time_slot: 0, slots: 6 };
    let mut jets = JetMachine::new(&plan, 16);
    let mut certifier = Certifier::new(&plan, &jets, &[4, 5], &[]);
    let watches = [Watch { sign: Sign::Negative, from_zero: false, until: 0.0 }; 2];
    let (mut proved, mut met) = (0, 0);
    let mut run = |certifier: &mut Certifier| {
        for i in 0..100 {
            let env = [0.0, 0.3 + 0.002 * f64::from(i), 0.4, 0.0, 0.0, 0.0];
            jets.run(&env, 0.3);
            let request = Request {
                env: &env,
                jets: &jets,
                scale: 0.3,
                h: 0.3,
                unit: 0.4,
                resolution: 1e-6,
                absolute: 0.0,
                local: None,
                slack: &[],
                near: &[],
                radii: None,
            };
            certifier.reset();
            match certifier.certify(request, &|guard| watches[guard]) {
                Verdict::Proved { .. } if certifier.brackets().is_empty() => proved += 1,
                Verdict::Proved { .. } => met += 1,
                other => panic!("{other:?}"),
            }
        }
    };
    run(&mut certifier);
    let before = allocations();
    run(&mut certifier);
    assert_eq!(allocations(), before);
    assert!(proved > 20 && met > 20, "{proved} {met}");
}
