//! Random models over curves, and what must happen in them.

use crate::curve::{Curve, Formula, GRID, Reading, SPAN, Signs, text_of, time_of};
use crate::random::Random;
use saltus::Status;
use std::fmt::Write;

/// How a curve enters the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carrier {
    /// A function of time.
    Clock,
    /// A state whose derivative is a polynomial in time.
    State,
    /// The first of a chain of integrators.
    Chain,
    /// A state that is drawn towards the curve on which it starts: no polynomial to the integrator.
    Drawn,
}

/// What a guard does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Use {
    When,
    Rises,
    Falls,
    Transition,
    RisingTransition,
    Stop,
    Invariant,
    Domain,
}

/// A random model.
pub struct Case {
    pub curves: Vec<(Curve, Carrier)>,
    pub rules: Vec<(Use, Formula)>,
    /// Ticks between samples.
    pub sampling: Option<i64>,
    /// Ticks in the longest step.
    pub longest: Option<i64>,
}

/// What must happen.
#[derive(Debug, PartialEq)]
pub struct Expected {
    /// Ticks and rules, in order.
    pub events: Vec<(i64, usize)>,
    pub status: Status,
    pub end: i64,
}

/// What cases are made of.
#[derive(Clone, Copy)]
pub struct Recipe {
    pub carriers: &'static [Carrier],
    /// Highest multiplicity of a root.
    pub multiplicity: u32,
}

impl Case {
    pub fn random(random: &mut Random, recipe: Recipe) -> Case {
        let curves: Vec<(Curve, Carrier)> = (0..1 + random.below(3))
            .map(|_| {
                let carrier = recipe.carriers[random.below(recipe.carriers.len() as u64) as usize];
                (Curve::random(random, recipe.multiplicity), carrier)
            })
            .collect();
        let mut rules = Vec::new();
        for _ in 0..1 + random.below(4) {
            let kind = match random.below(16) {
                0..6 => Use::When,
                6..8 => Use::Rises,
                8..10 => Use::Falls,
                10..12 => Use::Transition,
                12 => Use::RisingTransition,
                13 => Use::Stop,
                14 => Use::Invariant,
                _ => Use::Domain,
            };
            let equality = matches!(kind, Use::When | Use::Rises | Use::Transition | Use::Stop);
            let depth = random.below(3) as u32;
            rules.push((kind, Formula::random(random, curves.len(), depth, equality)));
        }
        let tick = |random: &mut Random| (random.below(2) == 0).then(|| 1 + random.below(7) as i64);
        let (sampling, longest) = (tick(random), tick(random));
        Case { curves, rules, sampling, longest }
    }

    pub fn text(&self) -> String {
        let mut text = String::from("model Case {\n");
        let mut names = Vec::new();
        for (i, (curve, carrier)) in self.curves.iter().enumerate() {
            names.push(format!("x{i}"));
            let _ = match carrier {
                Carrier::Clock => writeln!(text, "output x{i} = {}", text_of(&curve.coefficients())),
                Carrier::State => {
                    let c = curve.coefficients();
                    writeln!(text, "state x{i} = {:?}\nflow {{ x{i}' = {} }}", c[0], text_of(&slope(&c)))
                }
                Carrier::Chain => writeln!(text, "{}", chain(i, &curve.coefficients())),
                Carrier::Drawn => {
                    let c = curve.coefficients();
                    let (line, rate) = (text_of(&c), text_of(&slope(&c)));
                    writeln!(text, "state x{i} = {:?}\nflow {{ x{i}' = {rate} + ({line} - x{i}) }}", c[0])
                }
            };
        }
        for (r, (kind, formula)) in self.rules.iter().enumerate() {
            let guard = formula.text(&names);
            let _ = match kind {
                Use::When => writeln!(text, "memory m{r} = 0\nwhen {guard} {{ m{r} := m{r} + 1 }}"),
                Use::Rises => writeln!(text, "memory m{r} = 0\nwhen rises({guard}) {{ m{r} := m{r} + 1 }}"),
                Use::Falls => writeln!(text, "memory m{r} = 0\nwhen falls({guard}) {{ m{r} := m{r} + 1 }}"),
                Use::Transition => writeln!(text, "{}", automaton(r, &guard)),
                Use::RisingTransition => writeln!(text, "{}", automaton(r, &format!("rises({guard})"))),
                Use::Stop => writeln!(text, "stop when {guard}"),
                Use::Invariant => writeln!(text, "invariant {guard}"),
                Use::Domain => writeln!(text, "domain {guard}"),
            };
        }
        if let Some(ticks) = self.sampling {
            let _ = writeln!(text, "memory n = 0\nevery {} {{ n := n + 1 }}", time_of(ticks));
        }
        let _ = writeln!(text, "run {{ until {} }}\n}}", SPAN / GRID);
        text
    }

    /// The signs of all curves at a tick.
    fn signs(&self, tick: i64) -> Vec<Signs> {
        self.curves.iter().map(|c| c.0.signs(tick)).collect()
    }

    /// The run by definition: configurations at all ticks, intervals between them.
    pub fn expected(&self) -> Expected {
        let mut armed: Vec<bool> = self.rules.iter().map(|r| r.0 == Use::When).collect();
        let mut left = vec![false; self.rules.len()];
        let mut events = Vec::new();
        for tick in 0..=SPAN {
            let signs = self.signs(tick);
            for (r, (kind, formula)) in self.rules.iter().enumerate() {
                let formula = if *kind == Use::Falls { &formula.negated() } else { formula };
                let now = formula.holds(&signs, Reading::Now);
                armed[r] |= !now;
                let fires = match kind {
                    Use::Transition => now && !left[r],
                    Use::RisingTransition => now && armed[r] && !left[r],
                    Use::When | Use::Rises | Use::Falls => now && armed[r],
                    _ => false,
                };
                if fires {
                    events.push((tick, r));
                    (armed[r], left[r]) = (false, true);
                }
            }
            let ended = self.ending(&signs, tick);
            if let Some(status) = ended {
                return Expected { events, status, end: tick };
            }
            for (r, (kind, formula)) in self.rules.iter().enumerate() {
                let formula = if *kind == Use::Falls { &formula.negated() } else { formula };
                armed[r] = match formula.holds(&signs, Reading::After) {
                    false => true,
                    true => armed[r] && *kind != Use::RisingTransition,
                };
            }
        }
        Expected { events, status: Status::Finished, end: SPAN }
    }

    /// Whether the run ends at an instant that is finished.
    fn ending(&self, signs: &[Signs], tick: i64) -> Option<Status> {
        let any = |kind: Use, reading: Reading, value: bool| {
            self.rules.iter().any(|(k, f)| *k == kind && f.holds(signs, reading) == value)
        };
        if any(Use::Stop, Reading::Now, true) {
            return Some(Status::Stopped);
        }
        let closed = |(k, f): &(Use, Formula)| *k == Use::Invariant && !holds_closed(f, signs);
        if self.rules.iter().any(closed) {
            return Some(Status::Blocked);
        }
        if tick == SPAN {
            return Some(Status::Finished);
        }
        if any(Use::Invariant, Reading::Closed, false) {
            return Some(Status::Blocked);
        }
        any(Use::Domain, Reading::After, false).then_some(Status::LeftDomain)
    }

    /// How far from a tick an event there may be found if the curves are known up to a share of
    /// their terms.
    pub fn uncertainty(&self, tick: i64, share: f64, absolute: f64) -> f64 {
        self.curves.iter().map(|c| c.0.uncertainty(tick, share, absolute)).fold(1e-15, f64::max)
    }

    /// How far from a tick an event there may be found after a change of mode at an earlier one: what is zero there
    /// is so by decree, wherever the instant was located.
    pub fn carried(&self, change: i64, tick: i64, share: f64, absolute: f64) -> f64 {
        let off = self.uncertainty(change, share, absolute);
        self.curves.iter().map(|c| c.0.carried(change, off, tick)).fold(0.0, f64::max)
    }

    /// The tick of the first change of mode.
    pub fn first_change(&self, expected: &Expected) -> Option<i64> {
        expected.events.iter().find(|e| self.changes_mode(e.1)).map(|e| e.0)
    }

    fn changes_mode(&self, rule: usize) -> bool {
        matches!(self.rules[rule].0, Use::Transition | Use::RisingTransition)
    }

    /// True if curves that are known so well have roots nowhere but near theirs.
    pub fn is_clear(&self, share: f64, absolute: f64) -> bool {
        self.curves.iter().all(|(curve, _)| {
            let near =
                |&(tick, _): &(i64, u32)| curve.uncertainty(tick, share, absolute) < 0.125 / GRID as f64;
            let size: f64 =
                curve.coefficients().iter().enumerate().map(|(j, c)| c.abs() * 4f64.powi(j as i32)).sum();
            curve.roots.iter().all(near) && curve.depth() > 100.0 * (share * size + absolute)
        })
    }

    /// The first tick from which floating point cannot decide what must happen. Where the curves are
    /// known up to an error (from the beginning if the method has errors, else from the first change
    /// of mode, which starts them anew at a rounded point), not decided are multiple roots, roots of several
    /// curves at one tick, and a root at the very end. A proof starts anew at every root, but knows what was
    /// rounded there: behind the first one, it leaves open multiple roots and one at the very end. Nowhere
    /// decided are multiple roots at a tick with another root, touches at the end of a step, and what
    /// follows a change of mode at a multiple root. A proof leaves all touches open, and multiple roots at
    /// the end.
    pub fn undecided_from(&self, expected: &Expected, is_proof: bool, has_errors: bool) -> i64 {
        let first = self.first_change(expected);
        let roots: Vec<(i64, u32)> = self.curves.iter().flat_map(|c| &c.0.roots).copied().collect();
        let ends_step = |tick: i64| self.longest.is_some_and(|longest| tick % longest == 0);
        let restarted = if has_errors { -1 } else { first.unwrap_or(SPAN) };
        let first_root = roots.iter().map(|r| r.0).filter(|_| is_proof).min();
        let rounded = first_root.map_or(restarted, |tick| tick.min(restarted));
        let is_undecided = |&(tick, m): &(i64, u32)| {
            let is_touch = m % 2 == 0;
            let others = roots.iter().filter(|r| r.0 == tick);
            let (is_shared, is_multiple) = (others.clone().count() > 1, others.clone().any(|r| r.1 > 1));
            let changes = expected.events.iter().any(|e| e.0 == tick && self.changes_mode(e.1));
            (m > 1 || tick == SPAN) && tick > rounded
                || is_shared && tick > restarted
                || is_proof && (is_touch || tick == SPAN && m > 1)
                || is_multiple && (is_shared || changes)
                || is_touch && ends_step(tick)
        };
        roots.iter().copied().filter(is_undecided).map(|r| r.0).min().unwrap_or(i64::MAX)
    }
}

/// Truth now, strict comparisons taken as not strict.
fn holds_closed(formula: &Formula, signs: &[Signs]) -> bool {
    match formula {
        Formula::Atom(i, relation) => {
            use crate::curve::Relation::{Ge, Gt, Le, Lt};
            let weak = match relation {
                Gt => Ge,
                Lt => Le,
                other => *other,
            };
            Formula::Atom(*i, weak).holds(signs, Reading::Now)
        }
        Formula::And(f, g) => holds_closed(f, signs) && holds_closed(g, signs),
        Formula::Or(f, g) => holds_closed(f, signs) || holds_closed(g, signs),
        Formula::Not(f) => match &**f {
            Formula::Atom(i, relation) => {
                use crate::curve::Relation::{Eq, Ge, Gt, Le, Lt};
                let weak = match relation {
                    Ge | Gt => Le,
                    Le | Lt => Ge,
                    Eq => Eq,
                };
                Formula::Atom(*i, weak).holds(signs, Reading::Now)
            }
            Formula::Not(f) => holds_closed(f, signs),
            Formula::And(f, g) => holds_closed(&f.negated(), signs) || holds_closed(&g.negated(), signs),
            Formula::Or(f, g) => holds_closed(&f.negated(), signs) && holds_closed(&g.negated(), signs),
        },
    }
}

fn slope(c: &[f64]) -> Vec<f64> {
    let terms: Vec<f64> = c.iter().enumerate().skip(1).map(|(j, c)| j as f64 * c).collect();
    if terms.is_empty() { vec![0.0] } else { terms }
}

/// x' = first derivative, and so on down to a constant.
fn chain(i: usize, c: &[f64]) -> String {
    let mut text = String::new();
    let mut factorial = 1.0;
    for (j, c) in c.iter().enumerate() {
        factorial *= (j as f64).max(1.0);
        let name = if j == 0 { format!("x{i}") } else { format!("x{i}_{j}") };
        let _ = writeln!(text, "state {name} = {:?}", c * factorial);
    }
    for j in 0..c.len() {
        let name = if j == 0 { format!("x{i}") } else { format!("x{i}_{j}") };
        let rate = if j + 1 < c.len() { format!("x{i}_{}", j + 1) } else { "0".into() };
        let _ = writeln!(text, "flow {{ {name}' = {rate} }}");
    }
    text
}

fn automaton(r: usize, guard: &str) -> String {
    format!("automaton A{r} {{ initial mode Before {{ when {guard} -> Past }}; mode Past {{ }} }}")
}
