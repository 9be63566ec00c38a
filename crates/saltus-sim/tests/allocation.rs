//! The inner loop allocates nothing: twice as many steps, as many allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Of this thread alone: the test harness allocates in its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`, which is that of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PENDULUM: &str = "model Pendulum {
    state x = 1, v = 0
    memory turns = 0
    x' = v
    v' = -sin(x)
    when x <= -2 { turns := turns + 1 }
}";

#[test]
fn steps_allocate_nothing() {
    use saltus_sim::{Options, Recording, Simulator};
    let compiled = saltus_lang::compile("pendulum.salt", PENDULUM, None, &|_| Err("no files".into()));
    let system = compiled.system.expect("a model");
    let mut simulator = Simulator::new(&system);
    let mut count = |until: f64| {
        let options = Options {
            until: Some(until),
            recording: Recording::Events,
            native_after: None,
            ..Options::default()
        };
        let before = ALLOCATIONS.get();
        let run = simulator.run(options).expect("a run");
        (run.stats.steps, ALLOCATIONS.get() - before)
    };
    count(100.0);
    let (short, few) = count(100.0);
    let (long, many) = count(1000.0);
    assert!(long > 5 * short, "{short} and {long} steps");
    assert_eq!(few, many, "{short} and {long} steps");
}
