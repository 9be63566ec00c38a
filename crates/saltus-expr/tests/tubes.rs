//! Tubes against flows with 77 digits: nowhere on the step may the exact flow be further from the
//! computed polynomial than was proved, nor a watched function from its own; and the bounds must not
//! be much greater than they have to be.

use num_bigint::BigInt;
use proptest::prelude::*;
use saltus_expr::jet::{Distance, JetMachine, Jets, Length, SlotBound, Tube};
use saltus_expr::{Binary, Expr, FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};

/// Order of the polynomials, and of the exact series they are compared with.
const ORDER: usize = 8;
const EXACT: usize = 24;
const BITS: u64 = 256;

/// A number times 2^256, rounded.
type Fixed = BigInt;

fn fixed(x: f64) -> Fixed {
    if x == 0.0 {
        return BigInt::from(0);
    }
    let bits = x.abs().to_bits();
    let mantissa = BigInt::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let exponent = (bits >> 52) as i64 - 1075 + BITS as i64;
    let size = if exponent >= 0 { mantissa << exponent as u64 } else { mantissa >> (-exponent) as u64 };
    if x < 0.0 { -size } else { size }
}

fn to_f64(x: &Fixed) -> f64 {
    let negative = *x < BigInt::from(0);
    let size = if negative { -x } else { x.clone() };
    let shift = size.bits().saturating_sub(60);
    let top: u64 = (size >> shift).try_into().unwrap_or(0);
    let value = top as f64 * 2f64.powi(shift as i32 - BITS as i32);
    if negative { -value } else { value }
}

fn times(a: &Fixed, b: &Fixed) -> Fixed {
    (a * b) >> BITS
}

fn over(a: &Fixed, b: &Fixed) -> Fixed {
    (a << BITS) / b
}

/// exp, by halving the argument; also of i x, as cosine and sine.
fn exponential(x: &Fixed) -> Fixed {
    let halvings = 10;
    let mut term = fixed(1.0);
    let mut sum = fixed(0.0);
    for k in 1..60 {
        sum += &term;
        term = times(&term, &(x >> halvings)) / k;
    }
    (0..halvings).fold(sum, |y, _| times(&y, &y))
}

fn turn(x: &Fixed) -> (Fixed, Fixed) {
    let (mut term, mut cosine, mut sine) = (fixed(1.0), fixed(0.0), fixed(0.0));
    for k in 0..120 {
        match k % 4 {
            0 => cosine += &term,
            1 => sine += &term,
            2 => cosine -= &term,
            _ => sine -= &term,
        }
        term = times(&term, x) / (k + 1);
    }
    (cosine, sine)
}

/// Newton's method from a first guess of 16 digits.
fn newton(guess: f64, correction: impl Fn(&Fixed) -> Fixed) -> Fixed {
    (0..5).fold(fixed(guess), |y, _| {
        let by = correction(&y);
        y + by
    })
}

fn logarithm(x: &Fixed) -> Fixed {
    newton(to_f64(x).ln(), |y| over(x, &exponential(y)) - fixed(1.0))
}

fn arctangent(x: &Fixed) -> Fixed {
    newton(to_f64(x).atan(), |y| {
        let (cosine, sine) = turn(y);
        over(&(times(x, &cosine) - &sine), &(times(x, &sine) + &cosine))
    })
}

/// A truncated power series with the textbook operations.
#[derive(Clone, Debug)]
struct Series(Vec<Fixed>);

impl Series {
    fn constant(x: f64, len: usize) -> Series {
        Series((0..len).map(|k| fixed(if k == 0 { x } else { 0.0 })).collect())
    }

    fn from(len: usize, mut next: impl FnMut(&[Fixed]) -> Fixed) -> Series {
        let mut c = Vec::new();
        for _ in 0..len {
            let value = next(&c);
            c.push(value);
        }
        Series(c)
    }

    fn zip(&self, other: &Series, f: impl Fn(&Fixed, &Fixed) -> Fixed) -> Series {
        Series(self.0.iter().zip(&other.0).map(|(a, b)| f(a, b)).collect())
    }

    fn mul(&self, other: &Series) -> Series {
        let product = |k: usize| (0..=k).map(|j| times(&self.0[j], &other.0[k - j])).sum();
        Series((0..self.0.len()).map(product).collect())
    }

    fn div(&self, other: &Series) -> Series {
        Series::from(self.0.len(), |c| {
            let k = c.len();
            let known: Fixed = (0..k).map(|j| times(&c[j], &other.0[k - j])).sum();
            over(&(&self.0[k] - known), &other.0[0])
        })
    }

    fn sqrt(&self) -> Series {
        Series::from(self.0.len(), |c| {
            let k = c.len();
            if k == 0 {
                return (&self.0[0] << BITS).sqrt();
            }
            if c[0] == fixed(0.0) {
                // The root of nothing at all.
                return fixed(0.0);
            }
            let known: Fixed = (1..k).map(|j| times(&c[j], &c[k - j])).sum();
            over(&(&self.0[k] - known), &(&c[0] << 1))
        })
    }

    /// k y_k = sum j a_j b_(k-j), from y_0.
    fn chain(first: Fixed, a: &Series, b: &Series) -> Series {
        let term = |k: usize| (1..=k).map(|j| times(&a.0[j], &b.0[k - j]) * j).sum::<Fixed>() / k;
        Series((0..a.0.len()).map(|k| if k == 0 { first.clone() } else { term(k) }).collect())
    }

    /// The integral of b a', from its first coefficient.
    fn integral(first: Fixed, a: &Series, b: Series) -> Series {
        Series::chain(first, a, &b)
    }

    fn exp(&self) -> Series {
        let first = exponential(&self.0[0]);
        Series::from(self.0.len(), |c| {
            let k = c.len();
            if k == 0 {
                return first.clone();
            }
            (1..=k).map(|j| times(&self.0[j], &c[k - j]) * j).sum::<Fixed>() / k
        })
    }

    fn log(&self) -> Series {
        let one = Series::constant(1.0, self.0.len());
        Series::integral(logarithm(&self.0[0]), self, one.div(self))
    }

    /// Cosine and sine.
    fn turn(&self) -> (Series, Series) {
        let (cosine, sine) = turn(&self.0[0]);
        let (mut c, mut s) = (vec![cosine], vec![sine]);
        for k in 1..self.0.len() {
            let sum =
                |other: &[Fixed]| (1..=k).map(|j| times(&self.0[j], &other[k - j]) * j).sum::<Fixed>() / k;
            let (next_c, next_s) = (-sum(&s), sum(&c));
            c.push(next_c);
            s.push(next_s);
        }
        (Series(c), Series(s))
    }

    fn unary(&self, op: Unary) -> Series {
        let one = Series::constant(1.0, self.0.len());
        let below = |sign: f64| {
            let square = self.mul(self);
            one.zip(&square, |a, b| if sign > 0.0 { a + b } else { a - b })
        };
        match op {
            Unary::Neg => Series(self.0.iter().map(|c| -c).collect()),
            Unary::Sqrt => self.sqrt(),
            Unary::Exp => self.exp(),
            Unary::Log => self.log(),
            Unary::Sin => self.turn().1,
            Unary::Cos => self.turn().0,
            Unary::Tan => {
                let (cosine, sine) = self.turn();
                sine.div(&cosine)
            }
            Unary::Tanh => {
                let square = self.zip(self, |a, b| a + b).exp();
                square.zip(&one, |a, b| a - b).div(&square.zip(&one, |a, b| a + b))
            }
            Unary::Atan => Series::integral(arctangent(&self.0[0]), self, one.div(&below(1.0))),
            Unary::Asin => {
                let root = below(-1.0).sqrt();
                Series::integral(arctangent(&over(&self.0[0], &root.0[0])), self, one.div(&root))
            }
            _ => unreachable!("not among the functions of this test"),
        }
    }

    fn binary(&self, op: Binary, other: &Series) -> Series {
        match op {
            Binary::Add => self.zip(other, |a, b| a + b),
            Binary::Sub => self.zip(other, |a, b| a - b),
            Binary::Mul => self.mul(other),
            Binary::Div => self.div(other),
            Binary::Pow => self.log().mul(other).exp(),
            Binary::Hypot => self.mul(self).zip(&other.mul(other), |a, b| a + b).sqrt(),
            _ => unreachable!("not among the functions of this test"),
        }
    }
}

/// One more expression over those made so far, each kept in the domain of its function.
#[derive(Clone, Copy, Debug)]
enum Recipe {
    Unary(usize, usize),
    Binary(usize, usize, usize),
}

const UNARY: [Unary; 10] = [
    Unary::Neg,
    Unary::Sqrt,
    Unary::Exp,
    Unary::Log,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Tanh,
    Unary::Atan,
    Unary::Asin,
];
const BINARY: [Binary; 6] = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Pow, Binary::Hypot];

fn build(g: &mut Graph, recipes: &[Recipe]) -> Vec<Expr> {
    let mut made: Vec<Expr> = (0..3).map(|slot| g.var(VarId(slot), Sort::Real)).collect();
    made.extend([0.7, -1.3].map(|x| g.real(x)));
    for &recipe in recipes {
        let pick = |k: usize| made[made.len() - 1 - k % made.len()];
        let node = match recipe {
            Recipe::Unary(op, a) => Node::Unary(UNARY[op % UNARY.len()], pick(a)),
            Recipe::Binary(op, a, b) => Node::Binary(BINARY[op % BINARY.len()], pick(a), pick(b)),
        };
        made.push(g.intern(node));
    }
    made
}

fn evaluate(g: &Graph, roots: &[Expr], variables: &[Series]) -> Vec<Series> {
    let len = variables[0].0.len();
    let mut values = std::collections::HashMap::new();
    g.visit(roots, |e| {
        let value = match g.node(e) {
            Node::Const(bits, _) => Series::constant(f64::from_bits(bits), len),
            Node::Var(v, _) => variables[v.index()].clone(),
            Node::Unary(op, a) => Series::unary(&values[&a], op),
            Node::Binary(op, a, b) => Series::binary(&values[&a], op, &values[&b]),
            _ => unreachable!("not among the nodes of this test"),
        };
        values.insert(e, value);
    });
    roots.iter().map(|e| values[e].clone()).collect()
}

/// The states' coefficients times powers of h, order by order.
fn flow(g: &Graph, rates: &[Expr], start: &[f64], h: f64) -> Vec<Series> {
    let mut rows: Vec<Vec<Fixed>> = start.iter().map(|&x| vec![fixed(x)]).collect();
    for k in 0..EXACT {
        let time = Series((0..=k).map(|j| fixed([0.0, h][usize::from(j == 1)])).collect());
        let mut variables: Vec<Series> = rows.iter().map(|row| Series(row.clone())).collect();
        variables.push(time);
        let found = evaluate(g, rates, &variables);
        for (row, rate) in rows.iter_mut().zip(found) {
            row.push(times(&rate.0[k], &fixed(h)) / (k + 1));
        }
    }
    rows.into_iter().map(Series).collect()
}

fn recipes() -> impl Strategy<Value = Vec<Recipe>> {
    let pick = || 0usize..7;
    let recipe = prop_oneof![
        (0usize..10, pick()).prop_map(|(op, a)| Recipe::Unary(op, a)),
        (0usize..6, pick(), pick()).prop_map(|(op, a, b)| Recipe::Binary(op, a, b)),
    ];
    prop::collection::vec(recipe, 2..8)
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("SALTUS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    ProptestConfig { cases, failure_persistence: None, max_global_rejects: 1 << 20, ..Default::default() }
}

/// The exact functions are summed for arguments of moderate size only.
fn within_the_exact_functions(g: &Graph, rates: &[Expr], start: &[f64]) -> bool {
    let (program, inputs) = Program::new(g, rates);
    let slots: Vec<u32> = inputs.iter().map(|v| v.0).collect();
    let mut registers = vec![0.0; program.registers()];
    program.eval(&[start[0], start[1], 0.0], &slots, &mut registers);
    registers.iter().all(|x| x.abs() < 25.0)
}

/// A flow of two states with a watched function of them; time in slot 2.
struct Case {
    plan: FlowPlan,
    jets: JetMachine,
    tube: Tube,
}

impl Case {
    fn new(g: &Graph, outputs: &[Expr; 3]) -> Case {
        let (program, inputs) = Program::new(g, outputs);
        let inputs = inputs.iter().map(|v| v.0).collect();
        let block = PlanBlock { program: program.into(), inputs, outputs: vec![3, 4, 5] };
        let plan = FlowPlan { blocks: vec![block], states: vec![(0, 3), (1, 4)], time_slot: 2, slots: 6 };
        let jets = JetMachine::new(&plan, ORDER);
        let tube = Tube::new(&plan, &jets, &[5], &[]);
        Case { plan, jets, tube }
    }

    /// What is proved of a step in a tube of some width, if anything is.
    fn prove(&mut self, start: [f64; 2], [h, unit]: [f64; 2], width: f64) -> Option<(Distance, SlotBound)> {
        let mut env = vec![0.0; self.plan.slots];
        env[..2].copy_from_slice(&start);
        self.jets.run(&env, h);
        self.tube.set_point(&env, 0.0);
        let distance = self.tube.bound_distance(&self.jets, Length { h, unit, scale: h }, width).ok()?;
        let watched = self.tube.watched(&self.jets, 0).ok()?;
        (distance.most() < width).then_some((distance, watched))
    }
}

/// A polynomial at a place, exactly, and what its last terms are at most: the series is cut off there.
fn at(series: &Series, s: f64) -> (Fixed, f64) {
    let value = series.0.iter().rev().fold(fixed(0.0), |sum, c| times(&sum, &fixed(s)) + c);
    let last = series.0.iter().rev().take(6).map(|c| to_f64(c).abs()).fold(0.0, f64::max);
    (value, 100.0 * last)
}

fn computed(jets: &JetMachine, slot: u32, s: f64) -> Fixed {
    (0..=ORDER).rev().fold(fixed(0.0), |sum, k| times(&sum, &fixed(s)) + fixed(jets.coefficient(slot, k)))
}

/// The errors at some places of the step, and how great they may be.
fn errors(
    case: &mut Case,
    g: &Graph,
    outputs: &[Expr; 3],
    start: [f64; 2],
    [h, unit]: [f64; 2],
) -> Vec<(f64, f64, f64)> {
    let Some((distance, watched)) = case.prove(start, [h, unit], 0.0625) else { return Vec::new() };
    let exact = flow(g, &outputs[..2], &start, h);
    let mut variables = exact.clone();
    variables.push(Series((0..=EXACT).map(|j| fixed([0.0, h][usize::from(j == 1)])).collect()));
    let function = evaluate(g, &outputs[2..], &variables).remove(0);
    let mut found = Vec::new();
    for s in [0.0, 0.125, 0.5, 0.8125, 1.0] {
        let power = f64::powi(s, ORDER as i32 + 1);
        for i in 0..2 {
            let (value, cut) = at(&exact[i], s);
            let error = to_f64(&(value - computed(&case.jets, i as u32, s))).abs();
            let share = (distance.tail * power + distance.drift * s) / distance.most();
            found.push((error, case.tube.state_distance(i) * share, cut));
        }
        let (value, cut) = at(&function, s);
        let error = to_f64(&(value - computed(&case.jets, 5, s))).abs();
        let radii = watched.radii;
        let along = radii.start + radii.drift * s + radii.tail * power;
        found.push((error, along + radii.spread * (distance.tail * power + distance.drift * s), cut));
    }
    found
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn flows_stay_in_their_tubes(
        recipes in recipes(),
        start in prop::array::uniform2(-2.0f64..2.0),
        h in 0.01f64..0.3,
    ) {
        let mut g = Graph::new();
        let made = build(&mut g, &recipes);
        let outputs = [made[made.len() - 1], made[made.len() - 2], made[made.len() / 2]];
        prop_assume!(within_the_exact_functions(&g, &outputs, &start));
        let mut case = Case::new(&g, &outputs);
        // The second step and the third may be within the limits of the proof of the first.
        for (share, h, unit) in [(1.0, h, h), (0.99, 0.6 * h, h), (1.02, 0.95 * h, 1.02 * h)] {
            let found = errors(&mut case, &g, &outputs, start.map(|x| share * x), [h, unit]);
            // Series that are cut off too early are no test.
            prop_assume!(!found.is_empty() && found.iter().all(|&(_, allowed, cut)| cut <= 1e-3 * allowed + 1e-60));
            for (error, allowed, cut) in found {
                prop_assert!(error <= allowed * (1.0 + 1e-12) + cut + 1e-60, "off by {:e}, not {:e}", error, allowed);
            }
        }
    }
}

#[test]
fn tubes_are_not_idle() {
    // For x' = x y, y' = sin(x) + 0.3 the errors come within a factor of a hundred of their bounds.
    let mut g = Graph::new();
    let [x, y] = [0, 1].map(|slot| g.var(VarId(slot), Sort::Real));
    let sine = g.intern(Node::Unary(Unary::Sin, x));
    let level = g.real(0.3);
    let product = g.intern(Node::Binary(Binary::Mul, x, y));
    let outputs = [product, g.intern(Node::Binary(Binary::Add, sine, level)), sine];
    let mut case = Case::new(&g, &outputs);
    let mut closest: f64 = 0.0;
    for i in 0..50 {
        let start = [0.3 + 0.03 * f64::from(i), 1.7 - 0.05 * f64::from(i)];
        for (error, allowed, cut) in errors(&mut case, &g, &outputs, start, [0.3; 2]) {
            assert!(error <= allowed + cut, "{error:e} {allowed:e}");
            if allowed > 1e-12 {
                closest = closest.max(error / allowed);
            }
        }
    }
    assert!(closest > 0.01, "{closest}");
}
