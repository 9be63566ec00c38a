//! Banks against the machine and against values.

use super::*;
use crate::jet::JetMachine;
use crate::{Expr, FlowPlan, Graph, Sort, VarId};
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
        bank.survey(|slot| jets.weights(slot));
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
        // The functions on the truncated polynomials of the states stay within the bounds.
        for step in 0..=20 {
            let s = f64::from(step) / 20.0;
            let mut env = env.clone();
            for slot in 1..4u32 {
                let mut row = [0.0; ORDER + 1];
                jets.row(slot, &mut row);
                env[slot as usize] = row.iter().rev().fold(0.0, |sum, c| sum * s + c);
            }
            units.iter().for_each(|unit| unit.eval(&mut env, &mut Vec::new()));
            for function in 0..6 {
                let [a, b, c, r] = bank.bounds(function);
                let distance = (env[7 + function] - (a + (b + c * s) * s)).abs();
                let kept = bank.kept_signs()[function];
                prop_assert!(kept == 0 || env[7 + function] * f64::from(kept) > 0.0);
                prop_assert!(distance <= r * s.powi(3) + 1e-9 * (1.0 + a.abs() + r), "{} {} {}", s, distance, r);
            }
        }
    }
}
