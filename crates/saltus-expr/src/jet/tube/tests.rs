//! What stands in the way of a proof is named; the rest is tested against exact flows.

use super::*;
use crate::graph::{Binary, Expr, Graph, Node, Sort, Unary, VarId};
use crate::jet::JetMachine;
use crate::plan::PlanBlock;
use crate::program::Program;

const ORDER: usize = 8;

/// A step as long as can be, with coefficients over its length.
fn whole(h: f64) -> Length {
    Length { h, unit: h, scale: h }
}

/// A function of x in the flow of y, x being carried through an interval by x' = 1.
struct Passage {
    jets: JetMachine,
    tube: Tube,
}

fn passage(make: impl FnOnce(&mut Graph, Expr) -> Expr) -> Passage {
    let mut g = Graph::new();
    let x = g.var(VarId(1), Sort::Real);
    let one = g.real(1.0);
    let function = make(&mut g, x);
    let (program, inputs) = Program::new(&g, &[one, function]);
    let inputs = inputs.iter().map(|v| v.0).collect();
    let block = PlanBlock { program: program.into(), inputs, outputs: vec![3, 4] };
    let plan = FlowPlan { blocks: vec![block], states: vec![(1, 3), (2, 4)], time_slot: 0, slots: 5 };
    let jets = JetMachine::new(&plan, ORDER);
    Passage { tube: Tube::new(&plan, &jets, &[], &[]), jets }
}

/// What is in the way if x goes from one value to another.
fn obstacle(passage: &mut Passage, from: f64, to: f64) -> Option<(&'static str, ObstacleKind)> {
    let Passage { jets, tube } = passage;
    let env = [0.0, from, 0.0, 0.0, 0.0];
    jets.run(&env, to - from);
    tube.set_point(&env, 0.0);
    let found = tube.bound_distance(jets, whole(to - from), 1e-9);
    found.err().map(|obstacle| (obstacle.function, obstacle.kind))
}

#[test]
fn functions_that_may_leave_their_domain_are_named() {
    use ObstacleKind::{Domain, Switch};
    let unary = |op| move |g: &mut Graph, x| g.intern(Node::Unary(op, x));
    for (op, name, from, inside, outside) in [
        (Unary::Log, "log", 0.1, 0.2, -0.1),
        (Unary::Asin, "asin", 0.5, 0.6, 1.01),
        (Unary::Acosh, "acosh", 1.5, 1.4, 0.9),
        (Unary::Tan, "tan", 0.5, 0.6, 1.6),
    ] {
        let mut passage = passage(unary(op));
        assert_eq!(obstacle(&mut passage, from, inside), None, "{name}");
        assert_eq!(obstacle(&mut passage, from, outside), Some((name, Domain)));
    }
    let mut root = passage(unary(Unary::Sqrt));
    assert_eq!(obstacle(&mut root, 0.5, 0.6), None);
    assert_eq!(obstacle(&mut root, 0.5, -0.1), Some(("sqrt", Domain)));
    let mut quotient = passage(|g, x| {
        let one = g.real(1.0);
        g.intern(Node::Binary(Binary::Div, one, x))
    });
    assert_eq!(obstacle(&mut quotient, 1.0, 1.2), None);
    assert_eq!(obstacle(&mut quotient, 1.0, -0.5), Some(("division", Domain)));
    let mut size = passage(unary(Unary::Abs));
    assert_eq!(obstacle(&mut size, 1.0, 2.0), None);
    assert_eq!(obstacle(&mut size, 1.0, -0.5), Some(("abs", Switch)));
    let mut stairs = passage(|g, x| {
        let floor = g.intern(Node::Unary(Unary::Floor, x));
        g.intern(Node::Binary(Binary::Mul, floor, x))
    });
    assert_eq!(obstacle(&mut stairs, 1.5, 1.9), None);
    assert_eq!(obstacle(&mut stairs, 1.5, 2.1), Some(("floor", Switch)));
}

#[test]
fn a_branch_that_is_surely_not_taken_does_not_count() {
    let mut passage = passage(|g, x| {
        let zero = g.real(0.0);
        let positive = g.intern(Node::Binary(Binary::Lt, zero, x));
        let root = g.intern(Node::Unary(Unary::Sqrt, x));
        let minus = g.intern(Node::Unary(Unary::Neg, x));
        g.intern(Node::Select(positive, root, minus))
    });
    assert_eq!(obstacle(&mut passage, 1.0, 1.2), None);
    assert_eq!(obstacle(&mut passage, -1.0, -0.5), None);
    assert!(obstacle(&mut passage, 1.0, -0.5).is_some());
}

#[test]
fn tables_and_extrema_must_stay_on_their_piece() {
    use crate::graph::{Extrapolation, Interpolation, Table};
    let mut curve = passage(|g, x| {
        let table = Table {
            name: "t".into(),
            x: vec![0.0, 1.0, 3.0],
            y: vec![],
            values: vec![1.0, 2.0, -2.0],
            interpolation: Interpolation::Linear,
            extrapolation: Extrapolation::Undefined,
        };
        let table = g.add_table(table);
        g.table1(table, x)
    });
    assert_eq!(obstacle(&mut curve, 1.2, 2.5), None);
    for (from, to) in [(2.5, 0.9), (1.2, 3.5)] {
        assert_eq!(obstacle(&mut curve, from, to), Some(("table", ObstacleKind::Switch)));
    }
    for (op, name) in [(Binary::Min, "min"), (Binary::Max, "max")] {
        let mut extremum = passage(|g, x| {
            let one = g.real(1.0);
            g.intern(Node::Binary(op, x, one))
        });
        assert_eq!(obstacle(&mut extremum, 1.5, 2.5), None);
        assert_eq!(obstacle(&mut extremum, 0.1, 0.9), None);
        assert_eq!(obstacle(&mut extremum, 0.5, 1.1), Some((name, ObstacleKind::Switch)));
    }
}

/// x' = a x^2 with a in slot 2.
fn growth() -> (FlowPlan, JetMachine) {
    let mut g = Graph::new();
    let [x, a] = [1, 2].map(|slot| g.var(VarId(slot), Sort::Real));
    let rate = g.intern(Node::Binary(Binary::Mul, a, x));
    let rate = g.intern(Node::Binary(Binary::Mul, rate, x));
    let (program, inputs) = Program::new(&g, &[rate]);
    let inputs = inputs.iter().map(|v| v.0).collect();
    let block = PlanBlock { program: program.into(), inputs, outputs: vec![3] };
    let plan = FlowPlan { blocks: vec![block], states: vec![(1, 3)], time_slot: 0, slots: 4 };
    let jets = JetMachine::new(&plan, ORDER);
    (plan, jets)
}

#[test]
fn a_proof_holds_for_later_steps_and_other_constants() {
    let (plan, mut jets) = growth();
    let mut tube = Tube::new(&plan, &jets, &[], &[]);
    let mut prove = |now: f64, x: f64, a: f64, h: f64| {
        let env = [now, x, a, 0.0];
        jets.run(&env, h);
        tube.set_point(&env, 0.0);
        let length = Length { h, unit: 0.2, scale: h };
        let distance = tube.bound_distance(&jets, length, 0.0625).unwrap();
        (distance, tube.wide.makes, tube.state_distance(0))
    };
    let (first, made, _) = prove(0.0, 1.0, 0.5, 0.2);
    assert!(made == 1 && first.most() < 1e-6);
    // A step half as long has a tail smaller by the power of its order, in weights that are the same.
    let (second, made, _) = prove(0.2, 1.05, 0.5, 0.1);
    assert!(made == 1 && second.tail < first.tail / 200.0);
    // Other constants, once they were met.
    assert_eq!(prove(0.3, 1.0, 0.4, 0.1).1, 2);
    assert_eq!(prove(0.4, 1.0, 0.45, 0.1).1, 2);
    // The flow 1 / (1/x - a t) is within its distance of the sum of the terms.
    let (x, a, h) = (1.05_f64, 0.45, 0.1);
    let (_, made, distance) = prove(0.5, x, a, h);
    let sum: f64 = (0..=ORDER as i32).map(|k| x * (a * x * h).powi(k)).sum();
    let error = (1.0 / (1.0 / x - a * h) - sum).abs();
    assert!(
        made == 2 && error > 1e-12 && error <= distance && distance < 100.0 * error,
        "{error} {distance}"
    );
}

/// Instances of x' = a x^2 in one block each, with a in a slot of its own.
fn instances(starts: &[[f64; 2]]) -> (FlowPlan, Vec<f64>) {
    let (single, _) = growth();
    let program = &single.blocks[0].program;
    let n = starts.len() as u32;
    let slot = |part: u32, i: u32| 1 + part * n + i;
    let blocks = (0..n).map(|i| PlanBlock {
        program: program.clone(),
        inputs: vec![slot(1, i), slot(0, i)],
        outputs: vec![slot(2, i)],
    });
    let mut plan = FlowPlan {
        blocks: blocks.collect(),
        states: (0..n).map(|i| (slot(0, i), slot(2, i))).collect(),
        time_slot: 0,
        slots: 1 + 3 * starts.len(),
    };
    // Inputs are in the order of the program.
    if single.blocks[0].inputs == [1, 2] {
        plan.blocks.iter_mut().for_each(|block| block.inputs.reverse());
    }
    let mut env = vec![0.0; plan.slots];
    for (i, &[x, a]) in (0..).zip(starts) {
        (env[slot(0, i) as usize], env[slot(1, i) as usize]) = (x, a);
    }
    (plan, env)
}

#[test]
fn what_one_instance_has_met_another_may_meet() {
    let (plan, mut env) = instances(&[[1.0, 0.5], [0.7, 0.4], [0.9, 0.6]]);
    let mut jets = JetMachine::new(&plan, ORDER);
    let mut tube = Tube::new(&plan, &jets, &[], &[]);
    let mut prove = |env: &[f64]| {
        jets.run(env, 0.2);
        tube.set_point(env, 0.0);
        let distance = tube.bound_distance(&jets, whole(0.2), 0.0625).unwrap();
        (distance.most() < 1e-3, tube.is_tight(), tube.wide.makes)
    };
    assert_eq!(prove(&env), (true, false, 1));
    // The instances change places.
    env[1..].as_chunks_mut::<3>().0[..2].iter_mut().for_each(|values| values.rotate_left(1));
    assert_eq!(prove(&env), (true, false, 1));
}

#[test]
fn rows_that_only_look_alike_are_parted() {
    // In common limits the rates of one would be applied to the values of the other.
    let (plan, env) = instances(&[[1e6, 1e-7], [1e-6, 1e5]]);
    let mut jets = JetMachine::new(&plan, ORDER);
    let mut tube = Tube::new(&plan, &jets, &[], &[]);
    let mut prove = || {
        jets.run(&env, 0.2);
        tube.set_point(&env, 0.0);
        let distance = tube.bound_distance(&jets, whole(0.2), 0.0625).unwrap();
        (distance.most() < 1e-3, tube.is_tight())
    };
    assert_eq!([prove(), prove(), prove()], [(true, true), (true, false), (true, false)]);
}

#[test]
fn a_part_of_a_unit_has_a_part_of_its_tail() {
    let (plan, mut jets) = growth();
    let mut tube = Tube::new(&plan, &jets, &[], &[]);
    let env = [0.0, 1.0, 0.5, 0.0];
    jets.run(&env, 0.5);
    let mut prove = |h: f64, unit: f64| {
        tube.set_point(&env, 0.0);
        let distance = tube.bound_distance(&jets, Length { h, unit, scale: 0.5 }, 0.0625).unwrap();
        (distance, tube.is_tight())
    };
    let (whole, is_tight) = prove(0.5, 0.5);
    assert!(!is_tight && whole.tail > 1e-9);
    let (part, is_tight) = prove(0.125, 0.5);
    let expected = whole.tail * 0.25_f64.powi(ORDER as i32 + 1);
    assert!(!is_tight && (part.tail / expected - 1.0).abs() < 1e-12, "{part:?} {whole:?}");
    // A unit that cannot be proved is not held against the step: 1/(1 - t/2) has a pole at 2.
    let mut tube = Tube::new(&plan, &jets, &[], &[]);
    tube.set_point(&env, 0.0);
    let distance = tube.bound_distance(&jets, Length { h: 0.2, unit: 3.0, scale: 0.5 }, 0.0625).unwrap();
    assert!(tube.is_tight() && distance.most() < 1e-6, "{distance:?}");
}
