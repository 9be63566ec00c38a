//! Native evaluation allocates nothing.

use saltus_counting::{Counting, allocations};
use saltus_expr::jet::Jets;
use saltus_expr::{Binary, FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
use saltus_jit::{Effort, Form, NativeJet, NativePlan};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn running_native_code_allocates_nothing() {
    let mut graph = Graph::new();
    let [x, y] = [1, 2].map(|slot| graph.var(VarId(slot), Sort::Real));
    let product = graph.intern(Node::Binary(Binary::Mul, x, y));
    let sine = graph.intern(Node::Unary(Unary::Sin, product));
    let angle = graph.intern(Node::Binary(Binary::Atan2, sine, y));
    let (program, inputs) = Program::new(&graph, &[sine, angle]);
    let inputs = inputs.iter().map(|v| v.0).collect();
    let block = PlanBlock { program: program.into(), inputs, outputs: vec![3, 4] };
    let plan = FlowPlan { blocks: vec![block], states: vec![(1, 3), (2, 4)], time_slot: 0, slots: 5 };
    let mut env = [0.0, 0.4, 0.9, 0.0, 0.0];
    let point = NativePlan::compile(&plan).expect("the plan compiles");
    let jets = [Form::Unrolled, Form::Split]
        .map(|form| NativeJet::compile_as(&plan, 12, form, Effort::Plain).expect("the jets compile"));
    for mut jet in jets {
        jet.run(&env, 0.25);
        let before = allocations();
        for _ in 0..100 {
            jet.run(&env, 0.25);
            point.eval(&mut env);
        }
        assert_eq!(allocations(), before);
        assert!(jet.coefficient(1, 12).is_finite());
    }
}
