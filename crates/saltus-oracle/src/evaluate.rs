//! Values, flows and truth in one configuration (sections 2 and 3 of the semantics).

use crate::configuration::Configuration;
use crate::doubt::Atom;
use crate::polynomial::Polynomial;
use crate::{Exact, Halt, Rational};
use saltus_expr::{Binary, Expr, Node, Sort, Unary, VarId};
use saltus_model::{Equation, HybridSystem, Target, VariableKind};
use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;

/// A configuration that can be asked for values and truth.
pub(crate) struct Moment<'a> {
    pub system: &'a HybridSystem,
    pub configuration: &'a Configuration,
    equations: Vec<&'a Equation>,
    signal_depth: Cell<usize>,
    flow: OnceCell<Exact<Vec<Polynomial>>>,
}

/// How a formula is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Just after the configuration instead of now.
    pub just_after: bool,
    /// Strict atoms as non-strict ones.
    pub closed: bool,
}

/// The usual reading.
pub(crate) const NOW: Reading = Reading { just_after: false, closed: false };
/// The reading of domains, and of edges while time passes.
pub(crate) const JUST_AFTER: Reading = Reading { just_after: true, closed: false };
/// The reading of invariants.
pub(crate) const NOW_CLOSED: Reading = Reading { just_after: false, closed: true };
/// The reading of ending invariants.
pub(crate) const JUST_AFTER_CLOSED: Reading = Reading { just_after: true, closed: true };

impl<'a> Moment<'a> {
    pub fn new(system: &'a HybridSystem, configuration: &'a Configuration) -> Self {
        let blocks = configuration.active_blocks(system);
        let equations = blocks.into_iter().flat_map(|b| &system.block(b).equations).collect();
        Self { system, configuration, equations, signal_depth: Cell::new(0), flow: OnceCell::new() }
    }

    /// The states as polynomials in the time from here on, by variable; zero for other variables.
    pub fn flow(&self) -> Exact<&[Polynomial]> {
        self.flow.get_or_init(|| self.solve_flow()).as_deref().map_err(Clone::clone)
    }

    /// Picard iteration: for a chain of states it is exact after as many turns as there are states.
    fn solve_flow(&self) -> Exact<Vec<Polynomial>> {
        let mut states = vec![Polynomial::default(); self.system.variables.len()];
        let mut slopes: Vec<(VarId, Option<Expr>)> = vec![];
        for v in self.system.variables_of(VariableKind::State) {
            states[v.index()] = Polynomial::constant(self.configuration.values[v.index()].clone());
            slopes.push((v, self.derivative(v)?));
        }
        for _ in 0..slopes.len() + 2 {
            let mut next = states.clone();
            for &(v, slope) in &slopes {
                if let Some(slope) = slope {
                    let start = self.configuration.values[v.index()].clone();
                    next[v.index()] = self.polynomial(slope, &states)?.integral(start);
                }
            }
            if next == states {
                return Ok(states);
            }
            states = next;
        }
        Err(Halt::Unsupported("a flow that is not a polynomial in time".into()))
    }

    /// The derivative of a state; `None` if the mode it belongs to is not active.
    fn derivative(&self, v: VarId) -> Exact<Option<Expr>> {
        let owner = self.system.variable(v).owner;
        if owner.is_some_and(|m| !self.configuration.active[m.index()]) {
            return Ok(None);
        }
        self.definition(Target::Derivative(v)).map(Some)
    }

    fn definition(&self, target: Target) -> Exact<Expr> {
        let mut found = self.equations.iter().filter(|e| e.target == target);
        match (found.next(), found.next()) {
            (Some(equation), None) => Ok(equation.rhs),
            (None, _) => Err(Halt::Failed(format!("{target:?} has no equation in the active modes"))),
            (Some(_), Some(_)) => {
                Err(Halt::Failed(format!("{target:?} has two equations in the active modes")))
            }
        }
    }

    /// Evaluates the definition of a signal in its place.
    fn through_signal<T>(&self, v: VarId, evaluate: impl FnOnce(Expr) -> Exact<T>) -> Exact<T> {
        let depth = self.signal_depth.get();
        if depth > self.system.variables.len() {
            return Err(Halt::Unsupported("an algebraic loop".into()));
        }
        self.signal_depth.set(depth + 1);
        let result = self.definition(Target::Signal(v)).and_then(evaluate);
        self.signal_depth.set(depth);
        result
    }

    /// An expression along the flow.
    pub fn along_flow(&self, e: Expr) -> Exact<Polynomial> {
        self.polynomial(e, self.flow()?)
    }

    fn polynomial(&self, e: Expr, states: &[Polynomial]) -> Exact<Polynomial> {
        let graph = &self.system.graph;
        match graph.node(e) {
            Node::Const(bits, _) => constant(bits).map(Polynomial::constant),
            Node::Var(v, _) => match self.system.variable(v).kind {
                VariableKind::State => Ok(states[v.index()].clone()),
                VariableKind::Time => {
                    Ok(Polynomial::new(vec![self.configuration.t.clone(), Rational::one()]))
                }
                VariableKind::Signal => self.through_signal(v, |rhs| self.polynomial(rhs, states)),
                _ => Ok(Polynomial::constant(self.stored(v))),
            },
            Node::Unary(Unary::Neg, a) => Ok(self.polynomial(a, states)?.scaled(&-Rational::one())),
            Node::Unary(op, a) => {
                let a = held(self.polynomial(a, states)?)?;
                unary(op, a).map(Polynomial::constant)
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (self.polynomial(a, states)?, self.polynomial(b, states)?);
                match op {
                    Binary::Add => Ok(a.plus(&b)),
                    Binary::Sub => Ok(a.minus(&b)),
                    Binary::Mul => Ok(a.times(&b)),
                    Binary::Div => Ok(a.scaled(&(Rational::one() / nonzero(held(b)?)?))),
                    _ => binary(op, held(a)?, held(b)?).map(Polynomial::constant),
                }
            }
            Node::Powi(a, n) if n >= 0 => Ok(self.polynomial(a, states)?.power(n as u32)),
            Node::Powi(a, n) => power(held(self.polynomial(a, states)?)?, n).map(Polynomial::constant),
            Node::Select(c, a, b) => {
                let chosen = if held(self.polynomial(c, states)?)?.is_zero() { b } else { a };
                self.polynomial(chosen, states)
            }
            Node::Table1(..) | Node::Table2(..) => Err(Halt::Unsupported("a table".into())),
        }
    }

    /// The value of a variable that is not computed from others.
    pub fn stored(&self, v: VarId) -> Rational {
        let configuration = self.configuration;
        match self.system.variable(v).kind {
            VariableKind::Time => configuration.t.clone(),
            VariableKind::InMode(m) => truth_value(configuration.active[m.index()]),
            VariableKind::EntryTime(m) => configuration.entry[m.index()].clone(),
            _ => configuration.values[v.index()].clone(),
        }
    }

    /// The value of an expression now; a formula is 1 if it is true now.
    pub fn value(&self, e: Expr) -> Exact<Rational> {
        let graph = &self.system.graph;
        match graph.node(e) {
            Node::Const(bits, _) => constant(bits),
            Node::Var(v, _) if self.system.variable(v).kind == VariableKind::Signal => {
                self.through_signal(v, |rhs| self.value(rhs))
            }
            Node::Var(v, _) => Ok(self.stored(v)),
            _ if graph.sort(e) == Sort::Boolean => Ok(truth_value(self.truth(e, NOW)?)),
            Node::Unary(op, a) => unary(op, self.value(a)?),
            Node::Binary(op, a, b) => binary(op, self.value(a)?, self.value(b)?),
            Node::Powi(a, n) => power(self.value(a)?, n),
            Node::Select(c, a, b) => self.value(if self.truth(c, NOW)? { a } else { b }),
            Node::Table1(..) | Node::Table2(..) => Err(Halt::Unsupported("a table".into())),
        }
    }

    /// The truth of a formula.
    pub fn truth(&self, formula: Expr, reading: Reading) -> Exact<bool> {
        self.holds(formula, true, reading)
    }

    /// The truth of the negation of a formula.
    pub fn denial(&self, formula: Expr, reading: Reading) -> Exact<bool> {
        self.holds(formula, false, reading)
    }

    /// The formula, or its negation if `positive` is false; negation moves inwards on the way.
    fn holds(&self, formula: Expr, positive: bool, reading: Reading) -> Exact<bool> {
        match self.system.graph.node(formula) {
            Node::Unary(Unary::Not, a) => self.holds(a, !positive, reading),
            Node::Binary(Binary::And, a, b) => {
                self.both_or_one(positive, (a, positive), (b, positive), reading)
            }
            Node::Binary(Binary::Or, a, b) => {
                self.both_or_one(!positive, (a, positive), (b, positive), reading)
            }
            Node::Binary(Binary::Eq, a, b) if self.is_boolean(a) && self.is_boolean(b) => {
                let same = self.both_or_one(true, (a, true), (b, positive), reading)?;
                Ok(same || self.both_or_one(true, (a, false), (b, !positive), reading)?)
            }
            Node::Binary(Binary::Lt, a, b) if positive => self.less(a, b, reading.closed, reading),
            Node::Binary(Binary::Lt, a, b) => self.less(b, a, true, reading),
            Node::Binary(Binary::Le, a, b) if positive => self.less(a, b, true, reading),
            Node::Binary(Binary::Le, a, b) => self.less(b, a, reading.closed, reading),
            Node::Binary(Binary::Eq, a, b) => self.equal(a, b, positive, reading),
            Node::Select(c, a, b) => {
                let first = self.both_or_one(true, (c, true), (a, positive), reading)?;
                Ok(first || self.both_or_one(true, (c, false), (b, positive), reading)?)
            }
            Node::Var(v, _) if self.system.variable(v).kind == VariableKind::Signal => {
                self.through_signal(v, |rhs| self.holds(rhs, positive, reading))
            }
            _ => Ok(self.value(formula)?.is_zero() != positive),
        }
    }

    /// `and` if `both`, else `or`, of two literals.
    fn both_or_one(&self, both: bool, a: (Expr, bool), b: (Expr, bool), reading: Reading) -> Exact<bool> {
        let first = self.holds(a.0, a.1, reading)?;
        if first == both { self.holds(b.0, b.1, reading) } else { Ok(first) }
    }

    /// `a <= b` if `or_equal`, else `a < b`.
    fn less(&self, a: Expr, b: Expr, or_equal: bool, reading: Reading) -> Exact<bool> {
        let g = self.along_flow(b)?.minus(&self.along_flow(a)?);
        Ok(match (or_equal, reading.just_after) {
            (true, false) => !g.start().is_negative(),
            (true, true) => g.sign_just_after() != Ordering::Less,
            (false, _) => g.sign_just_after() == Ordering::Greater,
        })
    }

    fn equal(&self, a: Expr, b: Expr, positive: bool, reading: Reading) -> Exact<bool> {
        let g = self.along_flow(b)?.minus(&self.along_flow(a)?);
        let equal = if reading.just_after { g.is_zero() } else { g.start().is_zero() };
        if !positive && self.is_real(a, b) {
            return Err(Halt::Failed("`!=` on reals".into()));
        }
        Ok(equal == positive)
    }

    fn is_boolean(&self, e: Expr) -> bool {
        self.system.graph.sort(e) == Sort::Boolean
    }

    fn is_real(&self, a: Expr, b: Expr) -> bool {
        [a, b].iter().any(|&e| self.system.graph.sort(e) == Sort::Real)
    }

    /// The differences `b - a` of all atoms of a formula along the flow.
    pub fn atoms(&self, formula: Expr, found: &mut Vec<Atom>) -> Exact<()> {
        match self.system.graph.node(formula) {
            Node::Binary(Binary::Eq, a, b) if self.is_boolean(a) && self.is_boolean(b) => {
                self.atoms(a, found)?;
                self.atoms(b, found)
            }
            Node::Binary(Binary::Lt | Binary::Le | Binary::Eq, a, b) => {
                let g = self.along_flow(b)?.minus(&self.along_flow(a)?);
                found.push(((a.min(b), a.max(b)), g));
                Ok(())
            }
            Node::Var(v, _) if self.system.variable(v).kind == VariableKind::Signal => {
                self.through_signal(v, |rhs| self.atoms(rhs, found))
            }
            _ => self.system.graph.operands(formula).try_for_each(|a| self.atoms(a, found)),
        }
    }
}

fn truth_value(truth: bool) -> Rational {
    if truth { Rational::one() } else { Rational::zero() }
}

fn constant(bits: u64) -> Exact<Rational> {
    let value = f64::from_bits(bits);
    Rational::from_float(value).ok_or_else(|| Halt::Unsupported(format!("the constant {value}")))
}

/// The value of something that must not change along the flow.
fn held(p: Polynomial) -> Exact<Rational> {
    p.as_constant().ok_or_else(|| Halt::Unsupported("a function of a changing state".into()))
}

fn nonzero(value: Rational) -> Exact<Rational> {
    if value.is_zero() { Err(Halt::Failed("division by zero".into())) } else { Ok(value) }
}

fn unary(op: Unary, a: Rational) -> Exact<Rational> {
    Ok(match op {
        Unary::Neg => -a,
        Unary::Not => truth_value(a.is_zero()),
        Unary::Abs => a.abs(),
        Unary::Sign => a.signum(),
        Unary::Floor => a.floor(),
        Unary::Ceil => a.ceil(),
        _ => return Err(Halt::Unsupported(format!("the function {op:?}"))),
    })
}

fn binary(op: Binary, a: Rational, b: Rational) -> Exact<Rational> {
    Ok(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / nonzero(b)?,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::Mod => {
            let quotient = (&a / nonzero(b.clone())?).floor();
            a - b * quotient
        }
        Binary::Lt => truth_value(a < b),
        Binary::Le => truth_value(a <= b),
        Binary::Eq => truth_value(a == b),
        Binary::And => truth_value(!a.is_zero() && !b.is_zero()),
        Binary::Or => truth_value(!a.is_zero() || !b.is_zero()),
        Binary::Pow if b.is_integer() => {
            let exponent = b.to_i32().ok_or_else(|| Halt::Unsupported("a large exponent".into()))?;
            power(a, exponent)?
        }
        Binary::Pow | Binary::Atan2 | Binary::Hypot => {
            return Err(Halt::Unsupported(format!("the function {op:?}")));
        }
    })
}

fn power(a: Rational, n: i32) -> Exact<Rational> {
    let base = if n < 0 { Rational::one() / nonzero(a)? } else { a };
    Ok((0..n.unsigned_abs()).fold(Rational::one(), |p, _| p * &base))
}
