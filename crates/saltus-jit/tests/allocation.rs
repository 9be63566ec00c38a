//! Native evaluation allocates nothing.

use saltus_expr::jet::Jets;
use saltus_expr::{Binary, FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
use saltus_jit::{Effort, Form, NativeJet, NativePlan};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Of this thread alone: the test harness allocates in its own.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

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
        let before = ALLOCATIONS.get();
        for _ in 0..100 {
            jet.run(&env, 0.25);
            point.eval(&mut env);
        }
        assert_eq!(ALLOCATIONS.get(), before);
        assert!(jet.coefficient(1, 12).is_finite());
    }
}
