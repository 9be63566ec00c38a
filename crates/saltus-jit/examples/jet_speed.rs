//! Nanoseconds per jet on the virtual machine and in native code, with compile times.
//!
//! Run with `cargo run --release -p saltus-jit --example jet_speed`.

use saltus_expr::jet::{JetMachine, Jets};
use saltus_expr::{Binary, Expr, FlowPlan, Graph, Node, PlanBlock, Program, Programs, Sort, VarId};
use saltus_jit::{Effort, Form, NativeJet};
use std::hint::black_box;
use std::time::Instant;

/// A model under construction: time in slot 0, then the states.
struct Model {
    graph: Graph,
    states: Vec<Expr>,
    start: Vec<f64>,
}

impl Model {
    fn new(start: &[f64]) -> Model {
        let mut graph = Graph::new();
        let states = (1..=start.len() as u32).map(|i| graph.var(VarId(i), Sort::Real)).collect();
        Model { graph, states, start: start.to_vec() }
    }

    fn real(&mut self, x: f64) -> Expr {
        self.graph.real(x)
    }

    fn op(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
        self.graph.intern(Node::Binary(op, a, b))
    }

    fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        self.op(Binary::Mul, a, b)
    }

    fn add(&mut self, a: Expr, b: Expr) -> Expr {
        self.op(Binary::Add, a, b)
    }

    fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        self.op(Binary::Sub, a, b)
    }

    /// One block for all derivatives.
    fn plan(&self, derivatives: &[Expr]) -> (FlowPlan, Vec<f64>) {
        let n = derivatives.len() as u32;
        let (program, inputs) = Program::new(&self.graph, derivatives);
        let inputs = inputs.iter().map(|v| v.0).collect();
        let block = PlanBlock { program: program.into(), inputs, outputs: (n + 1..2 * n + 1).collect() };
        let states = (1..=n).map(|i| (i, i + n)).collect();
        let slots = 2 * n as usize + 1;
        let plan = FlowPlan { blocks: vec![block], states, time_slot: 0, slots };
        let mut env = vec![0.0; slots];
        env[1..=n as usize].copy_from_slice(&self.start);
        (plan, env)
    }
}

fn lorenz() -> (FlowPlan, Vec<f64>) {
    let mut m = Model::new(&[1.0, 1.0, 1.0]);
    let [x, y, z] = [m.states[0], m.states[1], m.states[2]];
    let (sigma, rho, beta) = (m.real(10.0), m.real(28.0), m.real(8.0 / 3.0));
    let difference = m.sub(y, x);
    let dx = m.mul(sigma, difference);
    let rest = m.sub(rho, z);
    let product = m.mul(x, rest);
    let dy = m.sub(product, y);
    let xy = m.mul(x, y);
    let bz = m.mul(beta, z);
    let dz = m.sub(xy, bz);
    m.plan(&[dx, dy, dz])
}

fn van_der_pol() -> (FlowPlan, Vec<f64>) {
    let mut m = Model::new(&[2.0, 0.0]);
    let [x, v] = [m.states[0], m.states[1]];
    let (one, mu) = (m.real(1.0), m.real(1.0));
    let square = m.mul(x, x);
    let rest = m.sub(one, square);
    let damping = m.mul(mu, rest);
    let force = m.mul(damping, v);
    let dv = m.sub(force, x);
    m.plan(&[v, dv])
}

fn brusselator() -> (FlowPlan, Vec<f64>) {
    let mut m = Model::new(&[1.5, 3.0]);
    let [x, y] = [m.states[0], m.states[1]];
    let (a, b, c) = (m.real(1.0), m.real(4.0), m.real(3.0));
    let square = m.mul(x, x);
    let reaction = m.mul(square, y);
    let loss = m.mul(b, x);
    let gain = m.add(a, reaction);
    let dx = m.sub(gain, loss);
    let feed = m.mul(c, x);
    let dy = m.sub(feed, reaction);
    m.plan(&[dx, dy])
}

fn three_bodies() -> (FlowPlan, Vec<f64>) {
    let (px, py) = (0.970_004_36, -0.243_087_53);
    let (vx, vy) = (-0.932_407_37, -0.864_731_46);
    let mut m = Model::new(&[px, py, -px, -py, 0.0, 0.0, -vx / 2.0, -vy / 2.0, -vx / 2.0, -vy / 2.0, vx, vy]);
    let mut forces: Vec<Option<Expr>> = vec![None; 6];
    let exponent = m.real(-1.5);
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let dx = m.sub(m.states[2 * j], m.states[2 * i]);
        let dy = m.sub(m.states[2 * j + 1], m.states[2 * i + 1]);
        let (xx, yy) = (m.mul(dx, dx), m.mul(dy, dy));
        let distance = m.add(xx, yy);
        let factor = m.op(Binary::Pow, distance, exponent);
        for (axis, d) in [dx, dy].into_iter().enumerate() {
            let force = m.mul(d, factor);
            let (at_i, at_j) = (forces[2 * i + axis], forces[2 * j + axis]);
            forces[2 * i + axis] = Some(at_i.map_or(force, |f| m.add(f, force)));
            forces[2 * j + axis] = Some(match at_j {
                Some(f) => m.sub(f, force),
                None => m.graph.intern(Node::Unary(saltus_expr::Unary::Neg, force)),
            });
        }
    }
    let derivatives: Vec<Expr> = m.states[6..].iter().copied().chain(forces.into_iter().flatten()).collect();
    m.plan(&derivatives)
}

fn linear(n: usize) -> (FlowPlan, Vec<f64>) {
    let start: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * i as f64).collect();
    let mut m = Model::new(&start);
    let mut derivatives = Vec::new();
    for i in 0..n {
        let mut sum: Option<Expr> = None;
        for j in 0..n {
            let entry = ((i * 7 + j * 13) % 11) as f64 / 11.0 - 0.5 - if i == j { 2.0 } else { 0.0 };
            let factor = m.real(entry);
            let term = m.mul(factor, m.states[j]);
            sum = Some(sum.map_or(term, |s| m.add(s, term)));
        }
        derivatives.push(sum.expect("there are terms"));
    }
    m.plan(&derivatives)
}

/// Cars on a plane: x' = v cos a, y' = v sin a, a' = w, w' = -a sin w + u; one block each.
fn cars(n: usize) -> (FlowPlan, Vec<f64>) {
    let mut programs = Programs::new();
    let mut graph = Graph::new();
    let (mut blocks, mut states, mut env) = (Vec::new(), Vec::new(), vec![0.0]);
    for i in 0..n as u32 {
        let base = 1 + 9 * i;
        let [a, w, v] = [2, 3, 4].map(|k| graph.var(VarId(base + k), Sort::Real));
        let mut node = |node| graph.intern(node);
        let (cos, sin) =
            (node(Node::Unary(saltus_expr::Unary::Cos, a)), node(Node::Unary(saltus_expr::Unary::Sin, a)));
        let dx = node(Node::Binary(Binary::Mul, v, cos));
        let dy = node(Node::Binary(Binary::Mul, v, sin));
        let turn = node(Node::Binary(Binary::Mul, w, sin));
        let dw = node(Node::Unary(saltus_expr::Unary::Neg, turn));
        let (program, inputs) = Program::new(&graph, &[dx, dy, w, dw]);
        blocks.push(PlanBlock {
            program: programs.share(program),
            inputs: inputs.iter().map(|v| v.0).collect(),
            outputs: (base + 5..base + 9).collect(),
        });
        states.extend((0..4).map(|k| (base + k, base + 5 + k)));
        env.extend([0.0, 1.0, 0.3 + 0.1 * f64::from(i), 0.5, 2.0, 0.0, 0.0, 0.0, 0.0]);
    }
    let slots = env.len();
    (FlowPlan { blocks, states, time_slot: 0, slots }, env)
}

/// Shortest time of a jet over many rounds that are too short to be interrupted often.
fn time(jets: &mut impl Jets, env: &[f64], h: f64) -> f64 {
    let (mut best, mut count) = (f64::INFINITY, 1);
    for _ in 0..1500 {
        let begin = Instant::now();
        for _ in 0..count {
            jets.run(black_box(env), h);
        }
        let each = begin.elapsed().as_secs_f64() * 1e9 / f64::from(count);
        best = best.min(each);
        count = ((2e4 / each) as u32).clamp(1, 1000);
    }
    best
}

/// Shortest of a few compilations, in milliseconds.
fn compile_time<T>(compile: impl Fn() -> T) -> f64 {
    let one = || {
        let begin = Instant::now();
        black_box(compile());
        begin.elapsed().as_secs_f64() * 1e3
    };
    let first = one();
    let repetitions = (200.0 / first).clamp(0.0, 30.0) as usize;
    (0..repetitions).map(|_| one()).fold(first, f64::min)
}

fn main() {
    let problems = [
        ("Lorenz", lorenz(), 0.02),
        ("Van der Pol", van_der_pol(), 0.1),
        ("Brusselator", brusselator(), 0.1),
        ("3-body", three_bodies(), 0.05),
        ("linear 20", linear(20), 0.1),
        ("20 cars", cars(20), 0.1),
    ];
    println!(
        "{:12} {:>5} {:>9} | form, effort: ns per jet, compile ms, code bytes",
        "problem", "order", "VM ns"
    );
    for (name, (plan, env), h) in &problems {
        for order in [12, 20] {
            let machine = time(&mut JetMachine::new(plan, order), env, *h);
            let chosen = NativeJet::compile(plan, order).map(|jet| jet.form());
            print!("{name:12} {order:>5} {machine:>9.0} |");
            for (form, effort) in [
                (Form::Unrolled, Effort::Plain),
                (Form::Unrolled, Effort::Optimized),
                (Form::Split, Effort::Plain),
                (Form::Split, Effort::Optimized),
            ] {
                match NativeJet::compile_as(plan, order, form, effort) {
                    Ok(mut jet) => {
                        let compile = compile_time(|| NativeJet::compile_as(plan, order, form, effort));
                        let star = if chosen.as_ref().is_ok_and(|&c| c == form) { "*" } else { "" };
                        let nanoseconds = time(&mut jet, env, *h);
                        let size = jet.code_size();
                        print!(" {form:?}/{effort:?}{star} {nanoseconds:.0} {compile:.2} {size} |");
                    }
                    Err(error) => print!(" {form:?}: {error} |"),
                }
            }
            println!();
        }
    }
}
