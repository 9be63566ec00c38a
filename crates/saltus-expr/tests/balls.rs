//! The radii of balls at a point against Taylor coefficients with 77 digits: no coefficient may be
//! further from the exact one than its radius, nor the radius be much greater than it must.

use num_bigint::BigInt;
use proptest::prelude::*;
use saltus_expr::jet::BallJets;
use saltus_expr::{Binary, Expr, FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
use saltus_num::interval::Interval;

const ORDER: usize = 10;
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
    for k in 0..ORDER {
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

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn rounding_is_within_its_radius(
        recipes in recipes(),
        start in prop::array::uniform2(-2.0f64..2.0),
        h in 0.05f64..0.5,
    ) {
        let mut g = Graph::new();
        let made = build(&mut g, &recipes);
        let rates = [made[made.len() - 1], made[made.len() - 2]];
        let (program, inputs) = Program::new(&g, &rates);
        let inputs = inputs.iter().map(|v| v.0).collect();
        let block = PlanBlock { program: program.into(), inputs, outputs: vec![3, 4] };
        let plan = FlowPlan { blocks: vec![block], states: vec![(0, 3), (1, 4)], time_slot: 2, slots: 5 };
        let mut balls = BallJets::new(&plan, ORDER, &[]);
        balls.set_point(&[start[0], start[1], 0.0, 0.0, 0.0]);
        let bounds = start.map(|x| Interval::new(x - 1e-9, x + 1e-9));
        // Only the time moves by more than a little, and rows that leave their domain are no test.
        prop_assume!(balls.enclose(h, &bounds).is_ok());
        balls.extend(ORDER);
        let tame = |i: usize| {
            let row = balls.state_row(i);
            row.iter().all(|ball| ball.mid.abs() < 1e12) && row[1].mid.abs() < 1e4
        };
        prop_assume!(tame(0) && tame(1) && within_the_exact_functions(&g, &rates, &start));
        let exact = flow(&g, &rates, &start, h);
        for i in 0..2 {
            for k in 0..=ORDER {
                let ball = balls.state(i, k);
                let error = to_f64(&(&exact[i].0[k] - fixed(ball.mid))).abs();
                // The exact numbers have 77 digits after the point.
                let allowed = ball.at_point() * (1.0 + 1e-15) + 1e-60;
                prop_assert!(error <= allowed, "order {}: {} is off by {:e}, not {:e}", k, ball.mid, error, ball.at_point());
            }
        }
    }
}

#[test]
fn radii_are_not_idle() {
    // For x' = x y, y' = sin(x) + 0.3 the errors come within a factor of a hundred of their bounds.
    let mut g = Graph::new();
    let [x, y] = [0, 1].map(|slot| g.var(VarId(slot), Sort::Real));
    let sine = g.intern(Node::Unary(Unary::Sin, x));
    let level = g.real(0.3);
    let rates = [g.intern(Node::Binary(Binary::Mul, x, y)), g.intern(Node::Binary(Binary::Add, sine, level))];
    let (program, inputs) = Program::new(&g, &rates);
    let inputs = inputs.iter().map(|v| v.0).collect();
    let block = PlanBlock { program: program.into(), inputs, outputs: vec![3, 4] };
    let plan = FlowPlan { blocks: vec![block], states: vec![(0, 3), (1, 4)], time_slot: 2, slots: 5 };
    let mut balls = BallJets::new(&plan, ORDER, &[]);
    let mut closest: f64 = 0.0;
    for i in 0..50 {
        let start = [0.3 + 0.03 * f64::from(i), 1.7 - 0.05 * f64::from(i)];
        balls.set_point(&[start[0], start[1], 0.0, 0.0, 0.0]);
        balls.enclose(0.3, &start.map(Interval::point)).unwrap();
        balls.extend(ORDER);
        let exact = flow(&g, &rates, &start, 0.3);
        for k in 1..=ORDER {
            let ball = balls.state(0, k);
            let error = to_f64(&(&exact[0].0[k] - fixed(ball.mid))).abs();
            assert!(error <= ball.at_point());
            closest = closest.max(error / ball.at_point());
        }
    }
    assert!(closest > 0.01, "{closest}");
}
