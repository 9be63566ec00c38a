//! Jets against independent power series: every function by composition with its closed-form
//! Taylor series, flows by recomputing the whole right-hand side at each order.

use proptest::prelude::*;
use saltus_expr::jet::{Degree, JetMachine, Jets};
use saltus_expr::{
    Binary, Expr, Extrapolation, FlowPlan, Graph, Interpolation, Node, PlanBlock, Program, Programs, Sort,
    Table, Unary, VarId,
};

const ORDER: usize = 14;

/// A truncated power series with the textbook operations.
#[derive(Clone, Debug)]
struct Series(Vec<f64>);

impl Series {
    fn from(f: impl Fn(usize) -> f64) -> Series {
        Series((0..=ORDER).map(f).collect())
    }

    fn constant(x: f64) -> Series {
        Series::from(|k| if k == 0 { x } else { 0.0 })
    }

    fn add(&self, other: &Series) -> Series {
        Series::from(|k| self.0[k] + other.0[k])
    }

    fn scale(&self, by: f64) -> Series {
        Series::from(|k| by * self.0[k])
    }

    fn mul(&self, other: &Series) -> Series {
        Series::from(|k| (0..=k).map(|j| self.0[j] * other.0[k - j]).sum())
    }

    /// The series of f(self) where `f(n)` is the n-th Taylor coefficient of f at self's value.
    fn compose(&self, f: impl Fn(usize) -> f64) -> Series {
        let mut shifted = self.clone();
        shifted.0[0] = 0.0;
        (0..=ORDER).rev().fold(Series::constant(0.0), |sum, n| sum.mul(&shifted).add(&Series::constant(f(n))))
    }

    fn power(&self, exponent: f64) -> Series {
        let x = self.0[0];
        self.compose(|n| {
            let binomial: f64 = (0..n).map(|i| (exponent - i as f64) / (i + 1) as f64).product();
            binomial * x.powf(exponent - n as f64)
        })
    }

    fn derivative(&self) -> Series {
        Series::from(|k| if k < ORDER { (k + 1) as f64 * self.0[k + 1] } else { 0.0 })
    }

    fn integral(&self, start: f64) -> Series {
        Series::from(|k| if k == 0 { start } else { self.0[k - 1] / k as f64 })
    }

    fn reciprocal(&self) -> Series {
        let x = self.0[0];
        self.compose(|n| (-1f64).powi(n as i32) / x.powi(n as i32 + 1))
    }

    fn exp(&self) -> Series {
        let x = self.0[0];
        self.compose(|n| x.exp() / factorial(n))
    }

    fn log(&self) -> Series {
        let x = self.0[0];
        self.compose(
            |n| {
                if n == 0 { x.ln() } else { -(-1f64).powi(n as i32) / (n as f64 * x.powi(n as i32)) }
            },
        )
    }

    fn sin(&self, phase: f64) -> Series {
        let x = self.0[0];
        self.compose(|n| (x + phase + n as f64 * std::f64::consts::FRAC_PI_2).sin() / factorial(n))
    }

    fn sinh(&self, even: f64) -> Series {
        self.exp().add(&self.scale(-1.0).exp().scale(even)).scale(0.5)
    }
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|i| i as f64).product()
}

fn one_plus_square(x: &Series, sign: f64) -> Series {
    x.mul(x).scale(sign).add(&Series::constant(1.0))
}

fn unary_series(op: Unary, x: &Series) -> Series {
    let from_slope = |slope: Series, start: f64| x.derivative().mul(&slope).integral(start);
    let x0 = x.0[0];
    match op {
        Unary::Neg => x.scale(-1.0),
        Unary::Abs => x.scale(x0.signum()),
        Unary::Sqrt => x.power(0.5),
        Unary::Exp => x.exp(),
        Unary::Log => x.log(),
        Unary::Sin => x.sin(0.0),
        Unary::Cos => x.sin(std::f64::consts::FRAC_PI_2),
        Unary::Tan => x.sin(0.0).mul(&x.sin(std::f64::consts::FRAC_PI_2).reciprocal()),
        Unary::Sinh => x.sinh(-1.0),
        Unary::Cosh => x.sinh(1.0),
        Unary::Tanh => x.sinh(-1.0).mul(&x.sinh(1.0).reciprocal()),
        Unary::Asin => from_slope(one_plus_square(x, -1.0).power(-0.5), x0.asin()),
        Unary::Acos => from_slope(one_plus_square(x, -1.0).power(-0.5).scale(-1.0), x0.acos()),
        Unary::Atan => from_slope(one_plus_square(x, 1.0).reciprocal(), x0.atan()),
        Unary::Asinh => from_slope(one_plus_square(x, 1.0).power(-0.5), x0.asinh()),
        Unary::Acosh => from_slope(one_plus_square(x, -1.0).scale(-1.0).power(-0.5), x0.acosh()),
        Unary::Atanh => from_slope(one_plus_square(x, -1.0).reciprocal(), x0.atanh()),
        Unary::Clip => x.add(&Series::constant(x0.max(0.0) - x0)),
        Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Not => {
            Series::constant(saltus_expr::vm::unary(op, x0))
        }
    }
}

fn binary_series(op: Binary, x: &Series, y: &Series) -> Series {
    let (x0, y0) = (x.0[0], y.0[0]);
    let squares = || x.mul(x).add(&y.mul(y));
    match op {
        Binary::Add => x.add(y),
        Binary::Sub => x.add(&y.scale(-1.0)),
        Binary::Mul => x.mul(y),
        Binary::Div => x.mul(&y.reciprocal()),
        Binary::Pow if y.0[1..].iter().all(|&c| c == 0.0) => x.power(y0),
        Binary::Pow => x.log().mul(y).exp(),
        Binary::Hypot => squares().power(0.5),
        Binary::Atan2 => {
            let cross = x.derivative().mul(y).add(&y.derivative().mul(x).scale(-1.0));
            cross.mul(&squares().reciprocal()).integral(x0.atan2(y0))
        }
        Binary::Min => {
            if x0 < y0 {
                x.clone()
            } else {
                y.clone()
            }
        }
        Binary::Max => {
            if x0 > y0 {
                x.clone()
            } else {
                y.clone()
            }
        }
        Binary::Mod => x.add(&y.scale(-(x0 / y0).floor())),
        Binary::Lt | Binary::Le | Binary::Eq | Binary::And | Binary::Or => {
            Series::constant(saltus_expr::vm::binary(op, x0, y0))
        }
    }
}

/// The last is not smooth.
const UNARY: [Unary; 16] = [
    Unary::Neg,
    Unary::Sqrt,
    Unary::Exp,
    Unary::Log,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Asin,
    Unary::Acos,
    Unary::Atan,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Tanh,
    Unary::Asinh,
    Unary::Atanh,
    Unary::Abs,
];

/// The last three are not smooth.
const BINARY: [Binary; 10] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Pow,
    Binary::Hypot,
    Binary::Atan2,
    Binary::Min,
    Binary::Max,
    Binary::Mod,
];

/// Time is slot 0; slots 1 and 2 are states with the given derivatives, slot 3 is constant; the
/// outputs follow in slots 6 and up.
struct Bench {
    graph: Graph,
    time: Expr,
    states: [Expr; 2],
    constant: Expr,
}

impl Bench {
    fn new() -> Bench {
        let mut graph = Graph::new();
        let [time, x, y, constant] = [0, 1, 2, 3].map(|i| graph.var(VarId(i), Sort::Real));
        Bench { graph, time, states: [x, y], constant }
    }

    fn unary(&mut self, op: Unary, a: Expr) -> Expr {
        self.graph.intern(Node::Unary(op, a))
    }

    fn binary(&mut self, op: Binary, a: Expr, b: Expr) -> Expr {
        self.graph.intern(Node::Binary(op, a, b))
    }

    fn plan(&self, derivatives: [Expr; 2], outputs: &[Expr]) -> FlowPlan {
        let all: Vec<Expr> = derivatives.iter().chain(outputs).copied().collect();
        let (program, inputs) = Program::new(&self.graph, &all);
        let outputs = (4..4 + all.len() as u32).collect();
        let inputs = inputs.iter().map(|v| v.0).collect();
        let block = PlanBlock { program: program.into(), inputs, outputs };
        FlowPlan { blocks: vec![block], states: vec![(1, 4), (2, 5)], time_slot: 0, slots: 4 + all.len() }
    }
}

fn coefficients(plan: &FlowPlan, point: [f64; 4], h: f64) -> JetMachine {
    let mut env = vec![0.0; plan.slots];
    env[..4].copy_from_slice(&point);
    let mut machine = JetMachine::new(plan, ORDER);
    machine.run(&env, h);
    machine
}

fn row(machine: &impl Jets, slot: u32) -> Vec<f64> {
    let mut row = vec![0.0; ORDER + 1];
    machine.row(slot, &mut row);
    row
}

fn assert_close(found: &[f64], expected: &Series, what: &str) {
    let scale = expected.0.iter().fold(1e-3f64, |m, c| m.max(c.abs()));
    for (k, (&c, &e)) in found.iter().zip(&expected.0).enumerate() {
        assert!((c - e).abs() <= 1e-9 * scale, "{what}, order {k}: {c} against {e}");
    }
}

/// x(t) = 0.3 + 0.2 t - 0.1 t^2 as a graph over time, and as a series at t = 0.5.
fn parabola(bench: &mut Bench, c: [f64; 3], t: f64) -> (Expr, Series) {
    let [c0, c1, c2] = c.map(|c| bench.graph.real(c));
    let square = bench.binary(Binary::Mul, bench.time, bench.time);
    let linear = bench.binary(Binary::Mul, c1, bench.time);
    let curved = bench.binary(Binary::Mul, c2, square);
    let sum = bench.binary(Binary::Add, c0, linear);
    let expr = bench.binary(Binary::Add, sum, curved);
    let series = Series::from(|k| match k {
        0 => c[0] + c[1] * t + c[2] * t * t,
        1 => c[1] + 2.0 * c[2] * t,
        2 => c[2],
        _ => 0.0,
    });
    (expr, series)
}

#[test]
fn functions_of_one_argument_follow_their_series() {
    for op in UNARY.into_iter().chain([Unary::Acosh]) {
        let mut bench = Bench::new();
        let offset = if op == Unary::Acosh { 1.2 } else { 0.3 };
        let (x, series) = parabola(&mut bench, [offset, 0.2, -0.1], 0.5);
        let y = bench.unary(op, x);
        let zero = bench.graph.real(0.0);
        let machine = coefficients(&bench.plan([zero, zero], &[y]), [0.5, 0.0, 0.0, 0.0], 1.0);
        assert_close(&row(&machine, 6), &unary_series(op, &series), &format!("{op:?}"));
    }
}

#[test]
fn functions_of_two_arguments_follow_their_series() {
    for op in BINARY {
        let mut bench = Bench::new();
        let (x, a) = parabola(&mut bench, [1.3, 0.2, -0.1], 0.5);
        let (y, b) = parabola(&mut bench, [0.7, -0.3, 0.2], 0.5);
        let constant = Series::constant(0.75);
        let outputs =
            [(x, y), (y, x), (x, bench.constant), (bench.constant, y)].map(|(l, r)| bench.binary(op, l, r));
        let zero = bench.graph.real(0.0);
        let machine = coefficients(&bench.plan([zero, zero], &outputs), [0.5, 0.0, 0.0, 0.75], 1.0);
        for (i, (l, r)) in [(&a, &b), (&b, &a), (&a, &constant), (&constant, &b)].into_iter().enumerate() {
            assert_close(&row(&machine, 6 + i as u32), &binary_series(op, l, r), &format!("{op:?} {i}"));
        }
    }
}

#[test]
fn whole_powers_exist_for_every_base() {
    for (offset, n) in [(0.0, 3), (-0.8, 5), (-0.7, -3), (0.4, 1), (0.4, 0), (-0.5, 2)] {
        let mut bench = Bench::new();
        let (x, series) = parabola(&mut bench, [offset, 0.5, 0.25], 0.0);
        let y = bench.graph.intern(Node::Powi(x, n));
        let zero = bench.graph.real(0.0);
        let machine = coefficients(&bench.plan([zero, zero], &[y]), [0.0; 4], 1.0);
        let factor = if n < 0 { series.reciprocal() } else { series };
        let expected = (0..n.unsigned_abs()).fold(Series::constant(1.0), |p, _| p.mul(&factor));
        assert_close(&row(&machine, 6), &expected, &format!("power {n} of {offset}"));
    }
}

#[test]
fn constant_exponents_work_on_negative_bases() {
    let mut bench = Bench::new();
    let (x, series) = parabola(&mut bench, [-0.8, 0.5, 0.25], 0.0);
    let y = bench.binary(Binary::Pow, x, bench.constant);
    let zero = bench.graph.real(0.0);
    let machine = coefficients(&bench.plan([zero, zero], &[y]), [0.0, 0.0, 0.0, 3.0], 1.0);
    assert_close(&row(&machine, 6), &series.mul(&series).mul(&series), "cube");
}

#[test]
fn pieces_are_locked_at_order_zero() {
    let mut bench = Bench::new();
    let table = |y: Vec<f64>, values| Table {
        name: "t".into(),
        x: vec![0.0, 1.0, 2.0],
        y,
        values,
        interpolation: Interpolation::Linear,
        extrapolation: Extrapolation::Clamp,
    };
    let curve = bench.graph.add_table(table(vec![], vec![0.0, 3.0, 1.0]));
    let map = bench.graph.add_table(table(vec![0.0, 1.0], vec![1.0, 2.0, 3.0, 5.0, 0.0, 4.0]));
    let (x, a) = parabola(&mut bench, [1.3, 0.2, -0.1], 0.5);
    let (y, b) = parabola(&mut bench, [0.7, -0.3, 0.2], 0.5);
    let less = bench.binary(Binary::Lt, x, y);
    let outputs = [
        bench.graph.intern(Node::Select(less, x, y)),
        bench.graph.intern(Node::Table1(curve, x)),
        bench.graph.intern(Node::Table2(map, x, y)),
        bench.unary(Unary::Floor, x),
    ];
    let zero = bench.graph.real(0.0);
    let machine = coefficients(&bench.plan([zero, zero], &outputs), [0.5, 0.0, 0.0, 0.0], 1.0);
    assert_close(&row(&machine, 6), &b, "select");
    let u = a.add(&Series::constant(-1.0));
    assert_close(&row(&machine, 7), &u.scale(-2.0).add(&Series::constant(3.0)), "curve");
    let map = Series::constant(3.0).add(&u.scale(-3.0)).add(&b.scale(2.0)).add(&u.mul(&b).scale(2.0));
    assert_close(&row(&machine, 8), &map, "map");
    assert_close(&row(&machine, 9), &Series::constant(1.0), "floor");
    assert_eq!(machine.degree(9), Degree::CONSTANT);
}

/// Solves x' = f(x, y), y' = g(x, y) by recomputing both series at every order.
fn picard(start: [f64; 2], f: impl Fn(&Series, &Series) -> [Series; 2]) -> [Series; 2] {
    let mut solution = start.map(Series::constant);
    for k in 0..ORDER {
        let rates = f(&solution[0], &solution[1]);
        for (x, rate) in solution.iter_mut().zip(rates) {
            x.0[k + 1] = rate.0[k] / (k + 1) as f64;
        }
    }
    solution
}

#[test]
fn van_der_pol_follows_picard_iteration_at_every_scale() {
    let mut bench = Bench::new();
    let [x, v] = bench.states;
    let one = bench.graph.real(1.0);
    let square = bench.binary(Binary::Mul, x, x);
    let rest = bench.binary(Binary::Sub, one, square);
    let damping = bench.binary(Binary::Mul, bench.constant, rest);
    let force = bench.binary(Binary::Mul, damping, v);
    let acceleration = bench.binary(Binary::Sub, force, x);
    let plan = bench.plan([v, acceleration], &[]);
    let expected = picard([1.2, -0.4], |x, v| {
        let damping = one_plus_square(x, -1.0).scale(1.5);
        [v.clone(), damping.mul(v).add(&x.scale(-1.0))]
    });
    for h in [1.0, 0.125, 4.0] {
        let machine = coefficients(&plan, [0.0, 1.2, -0.4, 1.5], h);
        for (i, series) in expected.iter().enumerate() {
            let scaled = Series::from(|k| series.0[k] * f64::powi(h, k as i32));
            assert_close(&row(&machine, 1 + i as u32), &scaled, "van der Pol");
            for k in 0..=ORDER {
                let c = machine.states().order(k)[i];
                assert_eq!(c, machine.coefficient(1 + i as u32, k));
            }
        }
    }
}

#[test]
fn extreme_rates_stay_in_range_when_scaled() {
    for rate in [1e-20, 1e20] {
        let mut bench = Bench::new();
        let x = bench.states[0];
        let square = bench.binary(Binary::Mul, x, x);
        let f = bench.binary(Binary::Mul, bench.constant, square);
        let zero = bench.graph.real(0.0);
        let machine = coefficients(&bench.plan([f, zero], &[]), [0.0, 1.0, 0.0, rate], 1.0 / rate);
        assert_close(&row(&machine, 1), &Series::from(|_| 1.0), "1 / (1 - rate t)");
    }
}

#[test]
fn a_bouncing_ball_is_of_degree_two() {
    let mut bench = Bench::new();
    let v = bench.states[1];
    let gravity = bench.graph.real(-9.81);
    let energy = bench.binary(Binary::Mul, v, v);
    let plan = bench.plan([v, gravity], &[energy]);
    let machine = coefficients(&plan, [0.0, 10.0, 2.0, 0.0], 1.0);
    let degrees = [0, 1, 2, 6].map(|slot| machine.degree(slot).bound());
    assert_eq!(degrees, [Some(1), Some(2), Some(1), Some(2)]);
    assert_eq!(row(&machine, 1)[..4], [10.0, 2.0, -4.905, 0.0]);
}

/// An expression tree over the slots of a bench, as a recipe.
#[derive(Clone, Debug)]
enum Recipe {
    Leaf(u8),
    Unary(Unary, Box<Recipe>),
    Binary(Binary, Box<Recipe>, Box<Recipe>),
}

fn recipe(unary: &'static [Unary], binary: &'static [Binary]) -> impl Strategy<Value = Recipe> {
    let leaf = (0u8..4).prop_map(Recipe::Leaf);
    leaf.prop_recursive(5, 24, 2, move |inner| {
        prop_oneof![
            (0..unary.len(), inner.clone()).prop_map(|(i, a)| Recipe::Unary(unary[i], a.into())),
            (0..binary.len(), inner.clone(), inner).prop_map(|(i, a, b)| Recipe::Binary(
                BINARY[i],
                a.into(),
                b.into()
            )),
        ]
    })
}

impl Recipe {
    fn build(&self, bench: &mut Bench, shift: u32) -> Expr {
        match self {
            Recipe::Leaf(0) => bench.graph.var(VarId(0), Sort::Real),
            Recipe::Leaf(i) => bench.graph.var(VarId(u32::from(*i) + shift), Sort::Real),
            Recipe::Unary(op, a) => {
                let a = a.build(bench, shift);
                bench.unary(*op, a)
            }
            Recipe::Binary(op, a, b) => {
                let (a, b) = (a.build(bench, shift), b.build(bench, shift));
                bench.binary(*op, a, b)
            }
        }
    }

    fn series(&self, leaves: &[Series; 4]) -> Series {
        match self {
            Recipe::Leaf(i) => leaves[*i as usize].clone(),
            Recipe::Unary(op, a) => unary_series(*op, &a.series(leaves)),
            Recipe::Binary(op, a, b) => binary_series(*op, &a.series(leaves), &b.series(leaves)),
        }
    }

    /// False if a function is taken near the edge of its domain, where rounding of its argument is much
    /// of its value.
    fn is_well_conditioned(&self, leaves: &[Series; 4]) -> bool {
        match self {
            Recipe::Leaf(_) => true,
            Recipe::Unary(op, a) => {
                let x = a.series(leaves).0[0].abs();
                let is_inside = match op {
                    Unary::Asin | Unary::Acos | Unary::Atanh => x < 0.999,
                    Unary::Sqrt | Unary::Log => x > 1e-3,
                    _ => true,
                };
                is_inside && a.is_well_conditioned(leaves)
            }
            Recipe::Binary(_, a, b) => a.is_well_conditioned(leaves) && b.is_well_conditioned(leaves),
        }
    }
}

proptest! {
    #[test]
    fn random_expressions_follow_their_series(recipe in recipe(&UNARY[..15], &BINARY[..7]), x in 0.1..0.9f64, y in 0.1..0.9f64) {
        let mut bench = Bench::new();
        let output = recipe.build(&mut bench, 0);
        let [x_var, y_var] = bench.states;
        let turn = bench.unary(Unary::Neg, x_var);
        let plan = bench.plan([y_var, turn], &[output]);
        let point = [0.25, x, y, 0.6];
        // A short scale keeps the series well inside its radius of convergence.
        let h = 1.0 / 64.0;
        let machine = coefficients(&plan, point, h);
        let orbit = picard([x, y], |x, y| [y.clone(), x.scale(-1.0)])
            .map(|s| Series::from(|k| s.0[k] * h.powi(k as i32)));
        let time = Series::from(|k| [0.25, h].get(k).copied().unwrap_or(0.0));
        let leaves = [time, orbit[0].clone(), orbit[1].clone(), Series::constant(0.6)];
        prop_assume!(recipe.is_well_conditioned(&leaves));
        let expected = recipe.series(&leaves);
        let size = expected.0.iter().fold(0f64, |m, c| m.max(c.abs()));
        prop_assume!(expected.0.iter().all(|c| c.abs() < 1e6));
        let found = row(&machine, 6);
        // Compositions at or near a singularity are excused: their series grow.
        prop_assume!(found.iter().all(|c| c.is_finite()));
        let tail = expected.0[ORDER].abs();
        prop_assume!(tail < 1e-9 * expected.0[0].abs().max(1e-3));
        for k in 0..=ORDER {
            let error = (found[k] - expected.0[k]).abs();
            prop_assert!(error <= 1e-8 * size.max(1e-3), "order {k}: {} against {}", found[k], expected.0[k]);
        }
    }

    #[test]
    fn order_zero_is_the_point_value_and_lanes_do_not_matter(
        recipe in recipe(&UNARY, &BINARY), points in prop::collection::vec((-2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64), 1..7)
    ) {
        let mut bench = Bench::new();
        let mut programs = Programs::new();
        // Slots of instance i: x, y, c and output at 1 + 4 i; x' = output, y' = x.
        let (mut blocks, mut states, mut env) = (Vec::new(), Vec::new(), vec![0.5]);
        for (i, &(x, y, c)) in points.iter().enumerate() {
            let base = 4 * i as u32;
            let output = recipe.build(&mut bench, base);
            let (program, inputs) = Program::new(&bench.graph, &[output]);
            let inputs = inputs.iter().map(|v| v.0).collect();
            blocks.push(PlanBlock { program: programs.share(program), inputs, outputs: vec![base + 4] });
            states.extend([(base + 1, base + 4), (base + 2, base + 1)]);
            env.extend([x, y, c, 0.0]);
        }
        let plan = FlowPlan { blocks, states, time_slot: 0, slots: env.len() };
        prop_assert_eq!(plan.check(), Ok(()));
        let mut together = JetMachine::new(&plan, ORDER);
        together.run(&env, 0.1);
        let mut values = env.clone();
        plan.eval(&mut values, &mut Vec::new());
        for i in 0..points.len() {
            let (base, mut single) = (4 * i, FlowPlan::default());
            single.blocks = vec![plan.blocks[i].clone()];
            single.states = plan.states[2 * i..2 * i + 2].to_vec();
            single.slots = plan.slots;
            let mut alone = JetMachine::new(&single, ORDER);
            alone.run(&env, 0.1);
            prop_assert_eq!(bits(values[base + 4]), bits(together.coefficient(base as u32 + 4, 0)));
            for slot in base as u32 + 1..base as u32 + 5 {
                prop_assert_eq!(alone.degree(slot), together.degree(slot));
                for k in 0..=ORDER {
                    prop_assert_eq!(bits(alone.coefficient(slot, k)), bits(together.coefficient(slot, k)));
                }
            }
        }
    }
}

/// Bits of a number, all NaN alike.
fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

#[test]
fn rebinding_gives_the_same_as_a_new_machine() {
    let mut bench = Bench::new();
    let [x, y] = bench.states;
    let product = bench.binary(Binary::Mul, x, y);
    let sine = bench.unary(Unary::Sin, product);
    let plans = [bench.plan([y, sine], &[product]), bench.plan([product, y], &[sine, x])];
    let mut machine = JetMachine::new(&plans[0], ORDER);
    let env = [0.0, 0.4, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0];
    for plan in plans.iter().rev().chain(&plans) {
        machine.rebind(plan);
        machine.run(&env, 0.5);
        let mut fresh = JetMachine::new(plan, ORDER);
        fresh.run(&env, 0.5);
        for slot in 0..plan.slots as u32 {
            assert_eq!(row(&machine, slot), row(&fresh, slot));
        }
    }
}
