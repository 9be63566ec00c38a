//! Native code against the virtual machines, bit for bit, on random programs and plans.
//!
//! `SALTUS_CASES` sets the number of cases (2,000 if unset), `SALTUS_SEED` the first seed.

use saltus_expr::jet::{JetMachine, Jets, RowPlace, Schedule};
use saltus_expr::{
    Binary, Expr, Extrapolation, FlowPlan, Graph, Interpolation, Node, PlanBlock, Program, Programs, Reg,
    Sort, Table, Unary, VarId,
};
use saltus_jit::{Effort, Form, JitError, NativeJet, NativePlan, NativeProgram};

/// A small generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn number(&mut self) -> f64 {
        match self.below(12) {
            0 => 0.0,
            1 => -1.0,
            2 => 2.0,
            _ => (self.next() as f64 / u64::MAX as f64) * 4.0 - 2.0,
        }
    }
}

const COMMON: [Binary; 4] = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Mul];

fn table(random: &mut Random, two: bool) -> Table {
    let grid = |random: &mut Random| {
        let mut x = -1.5;
        (0..3 + random.below(3))
            .map(|_| {
                x += 0.3 + random.below(4) as f64 * 0.2;
                x
            })
            .collect::<Vec<f64>>()
    };
    let x = grid(random);
    let y = if two { grid(random) } else { vec![] };
    let values = (0..x.len() * y.len().max(1)).map(|_| random.number()).collect();
    let interpolation = random.pick(&[Interpolation::Hold, Interpolation::Linear, Interpolation::Linear]);
    let extrapolation = random.pick(&[Extrapolation::Clamp, Extrapolation::Extend, Extrapolation::Undefined]);
    Table { name: "t".into(), x, y, values, interpolation, extrapolation }
}

/// Grows random expressions over some variables.
fn expressions(graph: &mut Graph, random: &mut Random, slots: &[u32], size: usize, wild: bool) -> Vec<Expr> {
    let mut pool: Vec<Expr> = slots.iter().map(|&s| graph.var(VarId(s), Sort::Real)).collect();
    pool.push(graph.real(random.number()));
    for _ in 0..size {
        // Recent expressions are used more often, so that programs grow deep.
        let operand = |random: &mut Random, pool: &[Expr]| {
            let window = if random.below(2) == 0 { pool.len() } else { pool.len().min(4) };
            pool[pool.len() - 1 - random.below(window)]
        };
        let (a, b) = (operand(random, &pool), operand(random, &pool));
        let node = match random.below(if wild { 12 } else { 6 }) {
            0..=4 => Node::Binary(random.pick(&COMMON), a, b),
            5 => Node::Unary(random.pick(&[Unary::Neg, Unary::Sin, Unary::Cos, Unary::Exp]), a),
            6 | 7 => Node::Unary(random.pick(&Unary::ALL), a),
            8 | 9 => Node::Binary(random.pick(&Binary::ALL), a, b),
            10 => match random.below(4) {
                0 => Node::Select(operand(random, &pool), a, b),
                1 => Node::Unary(Unary::Clip, a),
                2 => Node::Powi(a, random.below(9) as i32 - 3),
                _ => Node::Binary(Binary::Pow, a, graph.real(random.number())),
            },
            _ => {
                let two = random.below(2) == 0;
                let id = graph.add_table(table(random, two));
                if two { Node::Table2(id, a, b) } else { Node::Table1(id, a) }
            }
        };
        pool.push(graph.intern(node));
    }
    pool
}

fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

fn cases(name: &str, run: impl Fn(&mut Random, u64)) {
    let read = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (count, first) = (read("SALTUS_CASES", 2000), read("SALTUS_SEED", 1));
    println!("{name}: seeds {first}..{}", first + count);
    for seed in first..first + count {
        run(&mut Random(seed), seed);
    }
}

#[test]
fn random_programs() {
    cases("programs", |random, seed| {
        let mut graph = Graph::new();
        let size = 1 + random.below(30);
        let pool = expressions(&mut graph, random, &[0, 1, 2, 3], size, true);
        let outputs: Vec<Expr> = (0..1 + random.below(4)).map(|_| random.pick(&pool)).collect();
        let (program, inputs) = Program::new(&graph, &outputs);
        let inputs: Vec<u32> = inputs.iter().map(|v| v.0).collect();
        let native = NativeProgram::compile(&program).expect("programs compile");
        let (mut registers, mut found) = (vec![0.0; program.registers()], vec![0.0; outputs.len()]);
        for _ in 0..4 {
            let env: Vec<f64> = (0..4).map(|_| random.number()).collect();
            program.eval(&env, &inputs, &mut registers);
            native.eval(&env, &inputs, &mut found);
            for (register, value) in program.outputs().iter().zip(&found) {
                let expected = registers[register.index()];
                assert_eq!(bits(expected), bits(*value), "seed {seed}: {expected} {value} {program:?}");
            }
        }
    });
}

/// A random plan: a few states, constants, blocks that read earlier blocks, some of them alike.
fn random_plan(random: &mut Random) -> (FlowPlan, usize) {
    let mut graph = Graph::new();
    let mut programs = Programs::new();
    let (states, constants) = (1 + random.below(5) as u32, random.below(3) as u32);
    let known = 1 + states + constants;
    let mut next = known;
    let mut readable: Vec<u32> = (0..known).collect();
    let mut blocks: Vec<PlanBlock> = Vec::new();
    let mut written: Vec<u32> = Vec::new();
    for _ in 0..1 + random.below(4) {
        let alike = random.below(3) == 0 && !blocks.is_empty();
        let block = if alike {
            let model = blocks[random.below(blocks.len())].clone();
            let inputs = model.inputs.iter().map(|_| random.pick(&readable)).collect();
            let outputs = model.outputs.iter().enumerate().map(|(i, _)| next + i as u32).collect();
            PlanBlock { program: model.program, inputs, outputs }
        } else {
            let (size, wild) = (1 + random.below(14), random.below(3) > 0);
            let pool = expressions(&mut graph, random, &readable, size, wild);
            let roots: Vec<Expr> = (0..1 + random.below(3)).map(|_| random.pick(&pool)).collect();
            let (program, inputs) = Program::new(&graph, &roots);
            let inputs = inputs.iter().map(|v| v.0).collect();
            let outputs = (next..next + roots.len() as u32).collect();
            PlanBlock { program: programs.share(program), inputs, outputs }
        };
        next += block.outputs.len() as u32;
        written.extend(&block.outputs);
        readable.extend(&block.outputs);
        blocks.push(block);
    }
    let derivative = |random: &mut Random| {
        if random.below(6) == 0 { random.below(next as usize) as u32 } else { random.pick(&written) }
    };
    let states = (1..=states).map(|s| (s, derivative(random))).collect();
    (FlowPlan { blocks, states, time_slot: 0, slots: next as usize }, known as usize)
}

fn assert_same_jets(plan: &FlowPlan, known: usize, random: &mut Random, order: usize, seed: u64) -> usize {
    let mut machine = JetMachine::new(plan, order);
    let mut compared = 0;
    for form in [Form::Unrolled, Form::Split] {
        let effort = random.pick(&[Effort::Plain, Effort::Optimized]);
        let mut native = match NativeJet::compile_as(plan, order, form, effort) {
            Ok(native) => native,
            Err(JitError::TooLarge { .. }) => continue,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        for _ in 0..3 {
            let mut env = vec![0.0; plan.slots];
            env[..known].iter_mut().for_each(|x| *x = random.number());
            let h = random.pick(&[1.0, 0.1, -0.25]);
            machine.run(&env, h);
            native.run(&env, h);
            assert_same_coefficients(plan, &machine, &native, &format!("seed {seed} {form:?}"));
            assert_same_rows(plan, &machine, &native, &format!("seed {seed} {form:?}"));
            compared += 1;
        }
    }
    compared
}

fn assert_same_coefficients(plan: &FlowPlan, machine: &JetMachine, other: &impl Jets, what: &str) {
    for slot in 0..plan.slots as u32 {
        assert_eq!(machine.degree(slot), other.degree(slot), "{what}, slot {slot}");
        for k in 0..=machine.order() {
            let (x, y) = (machine.coefficient(slot, k), other.coefficient(slot, k));
            assert_eq!(bits(x), bits(y), "{what} slot {slot} order {k}: {x} {y}");
        }
    }
    for k in 0..=machine.order() {
        let pairs = machine.states().order(k).iter().zip(other.states().order(k));
        assert!(pairs.into_iter().all(|(x, y)| bits(*x) == bits(*y)), "{what} order {k}");
    }
}

/// Both evaluators in two parts against the machine that computes all at once.
#[test]
fn random_plans_in_two_parts() {
    cases("parts", |random, seed| {
        let (plan, known) = random_plan(random);
        let order = random.below(14);
        let makes_derivative = |block: &PlanBlock| {
            block.outputs.iter().any(|slot| plan.states.iter().any(|(_, derivative)| derivative == slot))
        };
        let least = plan.blocks.iter().rposition(makes_derivative).map_or(0, |last| last + 1);
        let late = least + random.below(plan.blocks.len() - least + 1);
        let mut whole = JetMachine::new(&plan, order);
        let mut machine = JetMachine::in_two_parts(&plan, late, order);
        let mut native = NativeJet::compile_in_two_parts(&plan, late, order).expect("plans compile");
        for _ in 0..3 {
            let mut env = vec![0.0; plan.slots];
            env[..known].iter_mut().for_each(|x| *x = random.number());
            whole.run(&env, 0.5);
            machine.run(&env, 0.5);
            native.run(&env, 0.5);
            for k in 0..=order {
                let states = whole.states().order(k);
                for other in [machine.states(), native.states()] {
                    let same = states.iter().zip(other.order(k)).all(|(x, y)| bits(*x) == bits(*y));
                    assert!(same, "seed {seed} order {k}");
                }
            }
            machine.run_late();
            native.run_late();
            assert_same_coefficients(&plan, &whole, &machine, &format!("seed {seed} machine"));
            assert_same_coefficients(&plan, &whole, &native, &format!("seed {seed} native"));
            assert_same_rows(&plan, &whole, &native, &format!("seed {seed} native"));
        }
    });
}

/// Rows whose coefficients native code keeps are those of the machine, and the factors of products of
/// which both change are kept.
fn assert_same_rows(plan: &FlowPlan, machine: &JetMachine, native: &NativeJet, what: &str) {
    let schedule = Schedule::new(plan);
    for (block, scheduled) in schedule.blocks.iter().enumerate() {
        let lowered = &scheduled.lowered;
        let moves = |row: Reg| !lowered.degrees[row.index()].is_constant();
        let own = lowered.first_node()..lowered.rows();
        for row in own.clone() {
            let (Some(expected), Some(found)) = (machine.row_place(block, row), native.row_place(block, row))
            else {
                continue;
            };
            let first = usize::from(!lowered.starts[row]);
            let last = expected.others.degree.bound().map_or(machine.order(), |d| d.min(machine.order()));
            let at =
                |place: RowPlace, k: usize| if k == 0 { place.value as usize } else { place.others.at(k) };
            for k in first..=last {
                let (x, y) = (machine.arena()[at(expected, k)], native.arena()[at(found, k)]);
                assert_eq!(bits(x), bits(y), "{what} block {block} row {row} order {k}: {x} {y}");
            }
        }
        for (i, node) in lowered.nodes.iter().enumerate() {
            let row = Reg((lowered.first_node() + i) as u32);
            let square = node.rule.square(row).map(|a| (a, a));
            for (a, b) in node.rule.products(row).chain(square).filter(|&(a, b)| moves(a) && moves(b)) {
                for factor in [a, b].map(Reg::index).into_iter().filter(|row| own.contains(row)) {
                    assert!(native.row_place(block, factor).is_some(), "{what} block {block} row {factor}");
                }
            }
        }
    }
}

#[test]
fn random_plans() {
    cases("plans", |random, seed| {
        let (plan, known) = random_plan(random);
        plan.check().expect("plans are well formed");
        let order = random.below(14);
        assert_same_jets(&plan, known, random, order, seed);
        let native = NativePlan::compile(&plan).expect("plans compile");
        let mut expected: Vec<f64> = (0..plan.slots).map(|_| random.number()).collect();
        let mut found = expected.clone();
        plan.eval(&mut expected, &mut Vec::new());
        native.eval(&mut found);
        let same = expected.iter().zip(&found).all(|(x, y)| bits(*x) == bits(*y));
        assert!(same, "seed {seed}: {expected:?} {found:?}");
    });
}

#[test]
fn dense_linear_systems() {
    cases("linear", |random, seed| {
        if !seed.is_multiple_of(20) {
            return;
        }
        let n = 6 + random.below(6);
        let literal = random.below(2) == 0;
        let mut graph = Graph::new();
        let states: Vec<Expr> = (0..n).map(|i| graph.var(VarId(1 + i as u32), Sort::Real)).collect();
        let mut slot = 1 + n as u32;
        let mut derivatives = Vec::new();
        for i in 0..n {
            let mut sum: Option<Expr> = None;
            for &state in &states {
                let factor = if literal {
                    graph.real(random.number())
                } else {
                    slot += 1;
                    graph.var(VarId(slot - 1), Sort::Real)
                };
                let term = match random.below(8) {
                    0 => state,
                    1..=3 => graph.intern(Node::Binary(Binary::Mul, state, factor)),
                    _ => graph.intern(Node::Binary(Binary::Mul, factor, state)),
                };
                let op = random.pick(&[Binary::Add, Binary::Sub]);
                sum = Some(sum.map_or(term, |sum| graph.intern(Node::Binary(op, sum, term))));
            }
            let mut rate = sum.expect("there are terms");
            if i % 5 == 4 {
                rate = graph.intern(Node::Unary(Unary::Sin, rate));
            }
            derivatives.push(rate);
        }
        let (program, inputs) = Program::new(&graph, &derivatives);
        let known = slot as usize;
        let outputs: Vec<u32> = (slot..slot + n as u32).collect();
        let states = (0..n as u32).map(|i| (1 + i, outputs[i as usize])).collect();
        let inputs = inputs.iter().map(|v| v.0).collect();
        let slots = known + n;
        let block = PlanBlock { program: program.into(), inputs, outputs };
        let plan = FlowPlan { blocks: vec![block], states, time_slot: 0, slots };
        assert!(assert_same_jets(&plan, known, random, 10, seed) == 6);
    });
}
