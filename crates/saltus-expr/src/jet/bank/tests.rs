//! Banks against the machine and against values.

use super::*;
use crate::jet::JetMachine;
use crate::{Expr, FlowPlan, Graph, Program, Sort, VarId};
use proptest::prelude::*;

const ORDER: usize = 6;

/// States x, y, z in slots 1 to 3 with given rates that are polynomials in time and states, and
/// two units of one program and one of another.
fn plan(graph: &mut Graph, shape: u32) -> (FlowPlan, Vec<PlanBlock>) {
    let [x, y, z] = [1, 2, 3].map(|slot| graph.var(VarId(slot), Sort::Real));
    let product = graph.mul(y, z);
    let (rates, _) = Program::new(graph, &[y, product, x]);
    let block = PlanBlock { program: rates.into(), inputs: vec![2, 3, 1], outputs: vec![4, 5, 6] };
    let states = vec![(1, 4), (2, 5), (3, 6)];
    let outputs = polynomials(graph, x, y, shape);
    let (program, inputs) = Program::new(graph, &outputs);
    assert_eq!(inputs.len(), 2);
    let first = Arc::new(program);
    let unit = |inputs: [u32; 2], slot: u32| PlanBlock {
        program: first.clone(),
        inputs: inputs.to_vec(),
        outputs: vec![slot, slot + 1],
    };
    let units = vec![unit([1, 2], 7), unit([2, 3], 9), unit([3, 1], 11)];
    (FlowPlan { blocks: vec![block], states, time_slot: 0, slots: 13 }, units)
}

fn polynomials(graph: &mut Graph, x: Expr, y: Expr, shape: u32) -> Vec<Expr> {
    let (square, cube) = (graph.powi(x, 2), graph.powi(y, 3));
    let (product, two) = (graph.mul(x, y), graph.real(2.0));
    let half = graph.intern(crate::Node::Binary(crate::Binary::Div, product, two));
    match shape {
        0 => vec![graph.sub(square, y), graph.add(cube, x)],
        1 => vec![graph.mul(square, cube), graph.neg(half)],
        _ => vec![graph.sub(half, square), graph.mul(product, product)],
    }
}

proptest! {
    #[test]
    fn rows_are_those_of_the_machine_and_bounds_hold(
        start in prop::array::uniform3(-2.0..2.0f64),
        scale in 0.05..1.0f64,
        shape in 0..3u32,
        error in prop::sample::select(vec![0.0, 1e-3, 0.1]),
        chosen in prop::collection::vec(0..6usize, 1..6),
    ) {
        let mut graph = Graph::new();
        let (plan, units) = plan(&mut graph, shape);
        let whole = FlowPlan { blocks: [plan.blocks.clone(), units.clone()].concat(), ..plan.clone() };
        let mut env = vec![0.0; 13];
        env[1..4].copy_from_slice(&start);
        let (mut jets, mut all) = (JetMachine::new(&plan, ORDER), JetMachine::new(&whole, ORDER));
        jets.run(&env, scale);
        all.run(&env, scale);
        let mut bank = Bank::new(&units, ORDER, |slot| jets.degree(slot));
        bank.survey(|slot| {
            let [value, slope, bend, rest] = jets.weights(slot);
            [value, slope, bend, rest, error]
        });
        chosen.iter().for_each(|&function| bank.choose(function));
        bank.compose(&jets, ORDER);
        for &function in &chosen {
            let (mut row, mut expected) = ([0.0; ORDER + 1], [0.0; ORDER + 1]);
            bank.row(function, &mut row);
            all.row(7 + function as u32, &mut expected);
            prop_assert_eq!(row.map(f64::to_bits), expected.map(f64::to_bits));
        }
        // All values on a box about the point are in the range.
        let range = |slot: u32| [-scale, scale].map(|side| env[slot as usize] + side);
        let mut enclosing = bank.clone();
        enclosing.enclose(range);
        for corner in 0..27u32 {
            let mut env = env.clone();
            for slot in 1..4u32 {
                env[slot as usize] += scale * (f64::from(corner / 3u32.pow(slot - 1) % 3) - 1.0);
            }
            units.iter().for_each(|unit| unit.eval(&mut env, &mut Vec::new()));
            for function in 0..6 {
                let [lo, hi] = enclosing.range(function);
                prop_assert!(lo <= env[7 + function] && env[7 + function] <= hi);
            }
        }
        // The functions keep their signs on all that is near the truncated polynomials of the states.
        for step in 0..=20 {
            let s = f64::from(step) / 20.0;
            for side in 0..8u32 {
                let mut env = env.clone();
                for slot in 1..4u32 {
                    let mut row = [0.0; ORDER + 1];
                    jets.row(slot, &mut row);
                    let off = if side >> (slot - 1) & 1 == 0 { error } else { -error };
                    env[slot as usize] = row.iter().rev().fold(0.0, |sum, c| sum * s + c) + off;
                }
                units.iter().for_each(|unit| unit.eval(&mut env, &mut Vec::new()));
                for (function, found) in bank.found().iter().enumerate() {
                    prop_assert!(s >= found.place || env[7 + function] * found.value() > 0.0);
                }
            }
        }
    }

    #[test]
    fn places_are_before_the_first_zero_and_not_far(
        value in 0.01..2.0f64,
        slope in -3.0..3.0f64,
        bend in -3.0..3.0f64,
        rest in 0.0..3.0f64,
        error in 0.0..0.5f64,
        sign in prop::bool::ANY,
    ) {
        let turned = if sign { 1.0 } else { -1.0 };
        let place = steady_until([turned * value, turned * slope, turned * bend, rest, error]);
        let lowest = |s: f64| value + (slope + bend * s) * s - rest * s.powi(3) - error;
        let places = (0..=1000).map(|i| place * f64::from(i) / 1001.0);
        prop_assert!(value <= error || places.into_iter().all(|s| lowest(s) > -1e-12));
        // The cubic term is not taken for more than a square: the first zero of value - error + slope s +
        // (bend - rest) s^2, by the formula that does not cancel.
        let (a, b, c) = (bend - rest, slope, value - error);
        let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
        let zeros = [2.0 * c / (-b + root), 2.0 * c / (-b - root)];
        let real = b * b >= 4.0 * a * c;
        let first = zeros.into_iter().filter(|&s| real && s > 0.0).fold(1.0, f64::min);
        prop_assert!(c <= 0.0 || place >= first * (1.0 - 1e-6), "{} {}", place, first);
    }
}

#[test]
fn signs_behind_a_zero_are_told_if_nothing_can_change_them() {
    let sign = |[slope, bend, rest, error]: [f64; 4]| {
        let found = Found { bounds: [1e-16, slope, bend, rest, error], place: 0.0 };
        found.sign_behind_zero()
    };
    assert_eq!(sign([1.0, 0.0, 0.0, 0.0]), 1.0);
    assert_eq!(sign([-1.0, 0.5, 0.4, 0.0]), -1.0);
    assert_eq!(sign([1.0, 5.0, 0.9, 0.0]), 1.0);
    // Back to zero at the end or before, by the bend or by what is not known, and an error at the start.
    for bounds in [[1.0, -1.0, 0.0, 0.0], [-1.0, 0.5, 0.6, 0.0], [1.0, 0.0, 2.0, 0.0], [1.0, 0.0, 0.0, 1e-9]]
    {
        assert_eq!(sign(bounds), 0.0);
    }
    assert_eq!(sign([0.0, 1.0, 0.0, 0.0]), 0.0);
    assert_eq!(sign([f64::NAN, 1.0, 0.0, 0.0]), 0.0);
}

#[test]
fn courses_are_left_where_the_flow_changes_and_nowhere_else() {
    // x' = u, u' = -x and y' = v with a constant v.
    let mut graph = Graph::new();
    let [x, y, u, v] = [1, 2, 3, 4].map(|slot| graph.var(VarId(slot), Sort::Real));
    let pull = graph.neg(x);
    let (rates, inputs) = Program::new(&graph, &[u, v, pull]);
    let inputs = inputs.iter().map(|v| v.0).collect();
    let block = PlanBlock { program: rates.into(), inputs, outputs: vec![5, 6, 7] };
    let plan =
        FlowPlan { blocks: vec![block], states: vec![(1, 5), (2, 6), (3, 7)], time_slot: 0, slots: 10 };
    let (sum, far) = (graph.add(x, y), graph.real(10.0));
    let guards = [graph.sub(sum, far), graph.sub(y, far)];
    let units = guards.iter().zip(8..).map(|(&guard, slot)| {
        let (program, inputs) = Program::new(&graph, &[guard]);
        let inputs = inputs.iter().map(|v| v.0).collect();
        PlanBlock { program: program.into(), inputs, outputs: vec![slot] }
    });
    let units: Vec<PlanBlock> = units.collect();
    let mut jets = JetMachine::new(&plan, 12);
    let mut bank = Bank::new(&units, 12, |slot| jets.degree(slot));
    assert_eq!(bank.slots(), [1, 2]);
    assert_eq!((bank.readers(0), bank.readers(1)), (&[0][..], &[0, 1][..]));
    let mut courses = Courses::default();
    courses.reset(&bank, &jets);
    let mut left_at = |t: f64, past: f64, v: f64, courses: &mut Courses| {
        jets.run(&[t, t.sin(), 0.5 * t, t.cos(), v, 0.0, 0.0, 0.0, 0.0, 0.0], 0.5);
        let mut left = Vec::new();
        courses.follow(&bank, &jets, [past, 0.4], |_| 1e-6, |argument| left.push(argument));
        left
    };
    assert_eq!(left_at(0.0, 0.0, 0.5, &mut courses), [0, 1]);
    assert!(left_at(0.1, 0.2, 0.5, &mut courses).is_empty());
    assert_eq!(left_at(0.2, 0.2, 0.7, &mut courses), [1]);
    // Long after its beginning a polynomial is no course any more.
    assert_eq!(left_at(2.2, 4.0, 0.7, &mut courses), [0, 1]);
    courses.rescale(0.5);
    let mut told = Vec::new();
    courses.survey(&mut bank, &[0, 1], |function, told_of| told.push((function, told_of.found())));
    let values = [2.2f64.sin() + 1.1 - 10.0, 1.1 - 10.0];
    for (function, value) in values.into_iter().enumerate() {
        let mut found = told.iter().filter(|told| told.0 as usize == function).map(|told| told.1);
        assert!(found.clone().next().is_some());
        assert!(found.all(|found| (found.value() - value).abs() < 1e-12 && found.place == 1.0));
    }
}
