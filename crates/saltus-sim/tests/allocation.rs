//! The inner loop allocates nothing: twice as many steps, as many allocations.

use saltus_counting::{Counting, allocations};

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
        let before = allocations();
        let run = simulator.run(options).expect("a run");
        (run.stats.steps, allocations() - before)
    };
    count(100.0);
    let (short, few) = count(100.0);
    let (long, many) = count(1000.0);
    assert!(long > 5 * short, "{short} and {long} steps");
    assert_eq!(few, many, "{short} and {long} steps");
}
