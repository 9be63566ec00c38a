//! Evaluating a jet allocates nothing.

use saltus_counting::{Counting, allocations};
use saltus_expr::jet::{JetMachine, Jets};
use saltus_expr::{Binary, FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn running_a_machine_allocates_nothing() {
    let mut graph = Graph::new();
    let [x, y] = [1, 2].map(|slot| graph.var(VarId(slot), Sort::Real));
    let product = graph.intern(Node::Binary(Binary::Mul, x, y));
    let sine = graph.intern(Node::Unary(Unary::Sin, product));
    let angle = graph.intern(Node::Binary(Binary::Atan2, sine, y));
    let (program, inputs) = Program::new(&graph, &[sine, angle]);
    let inputs = inputs.iter().map(|v| v.0).collect();
    let block = PlanBlock { program: program.into(), inputs, outputs: vec![3, 4] };
    let plan = FlowPlan { blocks: vec![block], states: vec![(1, 3), (2, 4)], time_slot: 0, slots: 5 };
    let mut machine = JetMachine::new(&plan, 20);
    let (mut env, mut scratch) = ([0.0, 0.4, 0.9, 0.0, 0.0], Vec::new());
    plan.eval(&mut env, &mut scratch);
    let before = allocations();
    for _ in 0..100 {
        machine.run(&env, 0.25);
        plan.eval(&mut env, &mut scratch);
    }
    assert_eq!(allocations(), before);
    assert!(machine.coefficient(1, 20).is_finite());
}
