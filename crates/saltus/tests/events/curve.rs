//! Curves over time whose roots are known because they were chosen, and formulas over their signs.
//!
//! Time is counted in ticks of an eighth. A curve is a product of factors (u - k)^m and of factors
//! without real roots, so its sign at, before and after any tick follows from the factors alone.

use crate::random::Random;
use std::fmt::Write;

/// Ticks in one unit of time.
pub const GRID: i64 = 8;
/// Ticks of a run.
pub const SPAN: i64 = 32;

/// The time of a tick.
pub fn time_of(tick: i64) -> f64 {
    tick as f64 / GRID as f64
}

/// A polynomial in time with chosen real roots.
#[derive(Clone, Debug)]
pub struct Curve {
    sign: i64,
    /// Ticks and multiplicities.
    pub roots: Vec<(i64, u32)>,
    /// Factors (u - c)^2 + d without real roots.
    lifts: Vec<(i64, i64)>,
}

/// The sign of a curve at a tick, and just after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signs {
    pub now: i64,
    pub after: i64,
}

impl Curve {
    /// A curve with roots of at most some multiplicity.
    pub fn random(random: &mut Random, multiplicity: u32) -> Curve {
        let mut roots: Vec<(i64, u32)> = Vec::new();
        for _ in 0..random.below(5) {
            let degree: u32 = roots.iter().map(|r| r.1).sum();
            // Neighbouring ticks now and then: an even number of crossings within a short time.
            let tick = match roots.last() {
                Some(&(k, _)) if random.below(3) == 0 => k + 1,
                _ => random.below(SPAN as u64 + 1) as i64,
            };
            let m = if random.below(2) == 0 { 1 } else { 1 + random.below(u64::from(multiplicity)) as u32 };
            if degree + m <= 6 && roots.iter().all(|r| r.0 != tick) && tick <= SPAN {
                roots.push((tick, m));
            }
        }
        let lifts = match random.below(4) {
            0 => vec![(random.below(SPAN as u64) as i64, 1 + random.below(40) as i64)],
            _ => Vec::new(),
        };
        Curve { sign: if random.below(2) == 0 { 1 } else { -1 }, roots, lifts }
    }

    /// Coefficients in powers of time, divided by a power of two so that they are near 1.
    pub fn coefficients(&self) -> Vec<f64> {
        let mut product: Vec<i128> = vec![i128::from(self.sign)];
        for &(k, m) in &self.roots {
            (0..m).for_each(|_| product = multiplied(&product, &[-i128::from(k), 1]));
        }
        for &(c, d) in &self.lifts {
            let (c, d) = (i128::from(c), i128::from(d));
            product = multiplied(&product, &[c * c + d, -2 * c, 1]);
        }
        let scale = GRID.pow(product.len() as u32 - 1) as f64;
        product.iter().enumerate().map(|(j, &c)| c as f64 * (GRID as f64).powi(j as i32) / scale).collect()
    }

    /// The sign in the open interval after a tick.
    fn after(&self, tick: i64) -> i64 {
        let past = self.roots.iter().filter(|&&(k, m)| k > tick && m % 2 == 1).count();
        if past % 2 == 0 { self.sign } else { -self.sign }
    }

    pub fn signs(&self, tick: i64) -> Signs {
        let is_zero = self.roots.iter().any(|r| r.0 == tick);
        let after = self.after(tick);
        Signs { now: if is_zero { 0 } else { after }, after }
    }

    /// The multiplicity of the root at a tick.
    pub fn multiplicity(&self, tick: i64) -> Option<u32> {
        self.roots.iter().find(|r| r.0 == tick).map(|r| r.1)
    }

    /// How far the root at a tick moves when the curve is lifted by a share of its terms.
    pub fn uncertainty(&self, tick: i64, share: f64, absolute: f64) -> f64 {
        let Some(m) = self.multiplicity(tick) else { return 0.0 };
        let (t, c) = (time_of(tick), self.coefficients());
        let terms: f64 = c.iter().enumerate().map(|(j, c)| c.abs() * t.powi(j as i32)).sum();
        let lift = share * terms + absolute;
        (lift / self.steepness(tick, m)).powf(1.0 / f64::from(m)) + 4.0 * f64::EPSILON * t
    }

    /// The magnitude of the coefficient of some order about a tick.
    fn steepness(&self, tick: i64, order: u32) -> f64 {
        let (t, c, m) = (time_of(tick), self.coefficients(), order as usize);
        (m..c.len()).map(|j| c[j] * binomial(j, m) * t.powi((j - m) as i32)).sum::<f64>().abs()
    }

    /// How far the root at a tick moves if the curve is taken to be zero as far from an earlier root as is told.
    pub fn carried(&self, earlier: i64, off: f64, tick: i64) -> f64 {
        let steepness = |tick| self.multiplicity(tick).map(|_| self.steepness(tick, 1));
        match (steepness(earlier), steepness(tick)) {
            (Some(then), Some(now)) => off * then / now,
            _ => 0.0,
        }
    }

    /// The least magnitude between two roots, and between roots and the ends of the run.
    pub fn depth(&self) -> f64 {
        let mut ticks: Vec<i64> = self.roots.iter().map(|r| r.0).chain([0, SPAN]).collect();
        ticks.sort_unstable();
        let c = self.coefficients();
        let middles = ticks.windows(2).filter(|w| w[0] < w[1]).map(|w| 0.5 * (time_of(w[0]) + time_of(w[1])));
        let value = |t: f64| c.iter().rev().fold(0.0, |v, c| v * t + c);
        middles.map(|t| value(t).abs()).fold(f64::INFINITY, f64::min)
    }
}

fn multiplied(a: &[i128], b: &[i128]) -> Vec<i128> {
    let mut product = vec![0; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    product
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (k - i) as f64).product()
}

/// A polynomial in time, as text.
pub fn text_of(c: &[f64]) -> String {
    let mut text = String::new();
    for (j, c) in c.iter().enumerate() {
        let _ = match j {
            0 => write!(text, "({c:?})"),
            _ => write!(text, " + ({c:?}) * time^{j}"),
        };
    }
    text
}

/// A comparison of a curve with zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relation {
    Ge,
    Gt,
    Le,
    Lt,
    Eq,
}

/// A guard.
#[derive(Clone, Debug)]
pub enum Formula {
    Atom(usize, Relation),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
}

/// Which truth of a formula.
#[derive(Clone, Copy, PartialEq)]
pub enum Reading {
    Now,
    After,
    /// Just after, strict comparisons taken as not strict.
    Closed,
}

impl Formula {
    /// A formula over some curves; `equality` admits `==`, which cannot be negated.
    pub fn random(random: &mut Random, curves: usize, depth: u32, equality: bool) -> Formula {
        let inner = |random: &mut Random, equality: bool| {
            Box::new(Formula::random(random, curves, depth - 1, equality))
        };
        match if depth == 0 { 0 } else { random.below(6) } {
            3 => Formula::Not(inner(random, false)),
            4 => Formula::And(inner(random, equality), inner(random, equality)),
            5 => Formula::Or(inner(random, equality), inner(random, equality)),
            _ => {
                use Relation::{Eq, Ge, Gt, Le, Lt};
                let known = [Ge, Gt, Le, Lt, Eq];
                let relation = known[random.below(if equality { 5 } else { 4 }) as usize];
                Formula::Atom(random.below(curves as u64) as usize, relation)
            }
        }
    }

    pub fn text(&self, names: &[String]) -> String {
        match self {
            Formula::Atom(i, relation) => {
                let sign = match relation {
                    Relation::Ge => ">=",
                    Relation::Gt => ">",
                    Relation::Le => "<=",
                    Relation::Lt => "<",
                    Relation::Eq => "==",
                };
                format!("{} {sign} 0", names[*i])
            }
            Formula::Not(f) => format!("not ({})", f.text(names)),
            Formula::And(f, g) => format!("({}) and ({})", f.text(names), g.text(names)),
            Formula::Or(f, g) => format!("({}) or ({})", f.text(names), g.text(names)),
        }
    }

    pub fn negated(&self) -> Formula {
        Formula::Not(Box::new(self.clone()))
    }

    /// Truth with the signs of the curves.
    pub fn holds(&self, signs: &[Signs], reading: Reading) -> bool {
        self.reads(signs, reading, false)
    }

    fn reads(&self, signs: &[Signs], reading: Reading, negate: bool) -> bool {
        match self {
            Formula::Not(f) => f.reads(signs, reading, !negate),
            Formula::And(f, g) | Formula::Or(f, g) => {
                let (f, g) = (f.reads(signs, reading, negate), g.reads(signs, reading, negate));
                if matches!(self, Formula::And(..)) != negate { f && g } else { f || g }
            }
            Formula::Atom(i, relation) => atom(signs[*i], *relation, reading, negate),
        }
    }
}

fn atom(signs: Signs, relation: Relation, reading: Reading, negate: bool) -> bool {
    use Relation::{Eq, Ge, Gt, Le, Lt};
    let relation = match (relation, negate) {
        (Ge, true) => Lt,
        (Gt, true) => Le,
        (Le, true) => Gt,
        (Lt, true) => Ge,
        (other, _) => other,
    };
    // The sign that decides a strict comparison: that of the first coefficient that is not zero.
    let leading = if signs.now == 0 || reading != Reading::Now { signs.after } else { signs.now };
    match (relation, reading) {
        (Eq, Reading::Now) => signs.now == 0,
        (Eq, _) => false,
        (Ge, Reading::Now) => signs.now >= 0,
        (Le, Reading::Now) => signs.now <= 0,
        (Ge | Gt, _) => leading > 0,
        (Le | Lt, _) => leading < 0,
    }
}
