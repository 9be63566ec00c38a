//! Guards as formulas over atoms.
//!
//! A guard is a Boolean expression; here it becomes a formula in negation normal form whose atoms
//! compare one real quantity with zero. Comparisons that share the quantity share the atom, so
//! they share its polynomial and its located roots. Absolute values, minima and maxima are
//! distributed over the comparison (`abs(u) <= e` is `u <= e and -u <= e`), which turns a band that
//! is crossed at high speed into two smooth crossings. Square roots are squared away
//! (`sqrt(u) >= c` is `c <= 0 or u >= c^2`), so that a guard on a speed is smooth at rest too.

use saltus_expr::{Binary, Expr, Graph, Node, Sort, Unary, VarId};

/// Index of an atom: a real quantity whose sign matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AtomId(pub u32);

impl AtomId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A comparison of an atom with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Ge,
    Gt,
    Le,
    Lt,
    Eq,
    Ne,
}

impl Relation {
    /// The relation that holds exactly when this one does not.
    fn negated(self) -> Self {
        match self {
            Self::Ge => Self::Lt,
            Self::Gt => Self::Le,
            Self::Le => Self::Gt,
            Self::Lt => Self::Ge,
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
        }
    }

    /// The relation that holds on the edge, too.
    pub fn closed(self) -> Self {
        match self {
            Self::Gt => Self::Ge,
            Self::Lt => Self::Le,
            other => other,
        }
    }

    /// The relation of the negated quantity.
    fn mirrored(self) -> Self {
        match self {
            Self::Ge => Self::Le,
            Self::Gt => Self::Lt,
            Self::Le => Self::Ge,
            Self::Lt => Self::Gt,
            other => other,
        }
    }

    /// Truth at an instant: non-strict relations and equality read the sign now, strict ones the
    /// sign just after.
    pub fn holds_now(self, signs: Signs) -> bool {
        if signs == Signs::UNREAD {
            return false;
        }
        match self {
            Self::Ge => signs.now >= 0,
            Self::Le => signs.now <= 0,
            Self::Eq => signs.now == 0,
            Self::Gt => signs.after > 0,
            Self::Lt => signs.after < 0,
            Self::Ne => signs.after != 0,
        }
    }

    /// Truth just after an instant.
    pub fn holds_after(self, signs: Signs) -> bool {
        self.holds_now(Signs { now: signs.after, after: signs.after })
    }
}

/// Sign of an atom at an instant and just after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Signs {
    pub now: i8,
    pub after: i8,
}

impl Signs {
    /// Not known: not read yet, or of something without a value. No comparison holds.
    pub const UNREAD: Signs = Signs { now: i8::MAX, after: i8::MAX };

    /// Both signs as one number, to compare many at a time.
    #[inline]
    fn bits(self) -> u16 {
        u16::from_le_bytes([self.now.cast_unsigned(), self.after.cast_unsigned()])
    }

    /// True if some sign is another.
    #[inline]
    pub fn differs(self, other: Signs) -> bool {
        self.bits() != other.bits()
    }

    /// True if the sign is known and not zero, and stays.
    #[inline]
    pub fn is_firm(self) -> bool {
        (self.bits() == Self::steady(1).bits()) | (self.bits() == Self::steady(-1).bits())
    }

    /// The sign just after the instant, from then on.
    #[inline]
    pub fn settled(self) -> Self {
        Self::steady(self.after)
    }

    /// The same sign at and after the instant.
    pub fn steady(sign: i8) -> Self {
        Self { now: sign, after: sign }
    }
}

/// A Boolean combination of atoms and Boolean variables, in negation normal form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Formula {
    Constant(bool),
    Atom(AtomId, Relation),
    /// A Boolean variable or its negation.
    Flag(VarId, bool),
    /// The automaton whose mode is kept in a slot is in a mode.
    Mode(u32, f64),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

impl Formula {
    /// Evaluates the formula, given the truth of atoms and the values of variables.
    pub fn eval(&self, env: &[f64], atom: &impl Fn(AtomId, Relation) -> bool) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Atom(a, relation) => atom(*a, *relation),
            Self::Flag(v, wanted) => (env[v.index()] != 0.0) == *wanted,
            Self::Mode(slot, mode) => env[*slot as usize] == *mode,
            Self::And(parts) => parts.iter().all(|p| p.eval(env, atom)),
            Self::Or(parts) => parts.iter().any(|p| p.eval(env, atom)),
        }
    }

    /// Calls `visit` for every atom of the formula.
    pub fn atoms(&self, visit: &mut dyn FnMut(AtomId)) {
        match self {
            Self::Atom(a, _) => visit(*a),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|p| p.atoms(visit)),
            Self::Constant(_) | Self::Flag(..) | Self::Mode(..) => {}
        }
    }

    /// True if nothing but the signs of atoms decides about the formula.
    pub fn reads_atoms_alone(&self) -> bool {
        match self {
            Self::Atom(..) => true,
            Self::And(parts) | Self::Or(parts) => parts.iter().all(Self::reads_atoms_alone),
            Self::Constant(_) | Self::Flag(..) | Self::Mode(..) => false,
        }
    }

    /// Calls `visit` for every Boolean variable read directly.
    pub fn flags(&self, visit: &mut dyn FnMut(VarId)) {
        match self {
            Self::Flag(v, _) => visit(*v),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|p| p.flags(visit)),
            Self::Constant(_) | Self::Atom(..) | Self::Mode(..) => {}
        }
    }

    /// The formula with strict relations replaced by non-strict ones.
    pub fn closed(self) -> Self {
        match self {
            Self::Atom(a, relation) => Self::Atom(a, relation.closed()),
            Self::And(parts) => Self::And(parts.into_iter().map(Self::closed).collect()),
            Self::Or(parts) => Self::Or(parts.into_iter().map(Self::closed).collect()),
            other => other,
        }
    }

    pub fn and(parts: Vec<Formula>) -> Self {
        Self::join(parts, true)
    }

    pub fn or(parts: Vec<Formula>) -> Self {
        Self::join(parts, false)
    }

    fn join(parts: Vec<Formula>, conjunction: bool) -> Self {
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Self::Constant(value) if value == conjunction => {}
                Self::Constant(value) => return Self::Constant(value),
                Self::And(inner) if conjunction => kept.extend(inner),
                Self::Or(inner) if !conjunction => kept.extend(inner),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Self::Constant(conjunction),
            1 => kept.remove(0),
            _ if conjunction => Self::And(kept),
            _ => Self::Or(kept),
        }
    }
}

/// Gives out atoms for real quantities.
pub(crate) trait AtomSource {
    /// The graph the expressions live in.
    fn graph(&mut self) -> &mut Graph;
    /// The atom for a quantity.
    fn atom(&mut self, quantity: Expr) -> AtomId;
    /// The only definition of a real signal, if it has one that is always in force.
    fn definition(&self, signal: VarId) -> Option<Expr>;
    /// True if the value of an expression can change during a step.
    fn varies(&mut self, e: Expr) -> bool;
    /// The definitions of a Boolean signal, each with the slot and mode in which it is in force.
    fn definitions(&self, signal: VarId) -> Vec<(Option<(u32, f64)>, Expr)>;
}

/// Builds the formula of a Boolean expression (or of its negation).
pub(crate) fn build(source: &mut impl AtomSource, e: Expr, positive: bool) -> Formula {
    let node = source.graph().node(e);
    match node {
        Node::Const(bits, _) => Formula::Constant((f64::from_bits(bits) != 0.0) == positive),
        Node::Var(v, _) => variable(source, v, positive),
        Node::Unary(Unary::Not, a) => build(source, a, !positive),
        Node::Binary(op @ (Binary::And | Binary::Or), a, b) => {
            let parts = vec![build(source, a, positive), build(source, b, positive)];
            if (op == Binary::And) == positive { Formula::and(parts) } else { Formula::or(parts) }
        }
        Node::Binary(Binary::Eq, a, b) if source.graph().sort(a) == Sort::Boolean => {
            let same = vec![build(source, a, true), build(source, b, positive)];
            let opposite = vec![build(source, a, false), build(source, b, !positive)];
            Formula::or(vec![Formula::and(same), Formula::and(opposite)])
        }
        Node::Binary(op @ (Binary::Lt | Binary::Le | Binary::Eq), a, b) => {
            let relation = match op {
                Binary::Lt => Relation::Lt,
                Binary::Le => Relation::Le,
                _ => Relation::Eq,
            };
            let relation = if positive { relation } else { relation.negated() };
            compare(source, a, b, relation)
        }
        Node::Select(c, a, b) => {
            let then = vec![build(source, c, true), build(source, a, positive)];
            let other = vec![build(source, c, false), build(source, b, positive)];
            Formula::or(vec![Formula::and(then), Formula::and(other)])
        }
        _ => {
            let atom = source.atom(e);
            Formula::Atom(atom, if positive { Relation::Ne } else { Relation::Eq })
        }
    }
}

/// A Boolean variable; a signal is replaced by its definition, so that it is read as exactly as a
/// formula written in its place.
fn variable(source: &mut impl AtomSource, v: VarId, positive: bool) -> Formula {
    let definitions = source.definitions(v);
    if definitions.is_empty() {
        return Formula::Flag(v, positive);
    }
    let mut cases = Vec::with_capacity(definitions.len());
    for (mode, rhs) in definitions {
        let value = build(source, rhs, positive);
        cases.push(match mode {
            None => value,
            Some((slot, mode)) => Formula::and(vec![Formula::Mode(slot, mode), value]),
        });
    }
    Formula::or(cases)
}

/// `a relation b`, distributing abs, min and max over the comparison.
fn compare(source: &mut impl AtomSource, a: Expr, b: Expr, relation: Relation) -> Formula {
    for (left, right, relation) in [(a, b, relation), (b, a, relation.mirrored())] {
        let (left, right) = isolate(source, left, right);
        if let Some((parts, conjunction)) = distribute(source.graph(), left, right, relation) {
            let parts = parts.into_iter().map(|(a, b, r)| compare(source, a, b, r)).collect();
            return if conjunction { Formula::and(parts) } else { Formula::or(parts) };
        }
        if let Some(formula) = square(source, left, right, relation) {
            return formula;
        }
    }
    let (quantity, relation) = difference(source.graph(), a, b, relation);
    if let Some(value) = source.graph().constant(quantity) {
        let sign = if value > 0.0 { 1 } else { -i8::from(value < 0.0) };
        return Formula::Constant(relation.holds_now(Signs::steady(sign)));
    }
    Formula::Atom(source.atom(quantity), relation)
}

/// Comparisons of which all (true) or any (false) must hold.
type Split = (Vec<(Expr, Expr, Relation)>, bool);

/// Brings the non-smooth function of a comparison to stand alone on the left: signals are replaced
/// by their definition and constant terms moved to the right, if such a function is uncovered.
fn isolate(source: &mut impl AtomSource, a: Expr, b: Expr) -> (Expr, Expr) {
    let (mut left, mut right) = (a, b);
    loop {
        match source.graph().node(left) {
            Node::Var(v, _) => match source.definition(v) {
                Some(definition) => left = definition,
                None => return (a, b),
            },
            Node::Binary(op @ (Binary::Add | Binary::Sub), p, q) if !source.varies(q) => {
                let inverse = if op == Binary::Add { Binary::Sub } else { Binary::Add };
                right = source.graph().intern(Node::Binary(inverse, right, q));
                left = p;
            }
            Node::Unary(Unary::Abs | Unary::Sqrt, _)
            | Node::Binary(Binary::Min | Binary::Max | Binary::Hypot, ..) => {
                return (left, right);
            }
            _ => return (a, b),
        }
    }
}

/// `sqrt(u) relation b` and `hypot(u, v) relation b` without the root, for a constant b. Where the
/// root does not exist neither the comparison nor its negation holds.
fn square(source: &mut impl AtomSource, a: Expr, b: Expr, relation: Relation) -> Option<Formula> {
    if source.varies(b) || matches!(relation, Relation::Eq | Relation::Ne) {
        return None;
    }
    let g = source.graph();
    let (radicand, exists_everywhere) = match g.node(a) {
        Node::Unary(Unary::Sqrt, u) => (u, is_never_negative(g, u)),
        Node::Binary(Binary::Hypot, u, v) => {
            let (u, v) = (g.intern(Node::Powi(u, 2)), g.intern(Node::Powi(v, 2)));
            (g.intern(Node::Binary(Binary::Add, u, v)), true)
        }
        _ => return None,
    };
    let squared = match g.constant(b) {
        Some(value) => g.real(value * value),
        None => g.intern(Node::Powi(b, 2)),
    };
    let zero = g.real(0.0);
    let exists = match exists_everywhere {
        true => Formula::Constant(true),
        false => compare(source, radicand, zero, Relation::Ge),
    };
    let by_squares = compare(source, radicand, squared, relation);
    Some(match relation {
        Relation::Le | Relation::Lt => {
            Formula::and(vec![compare(source, b, zero, Relation::Ge), by_squares, exists])
        }
        _ => {
            let below = if relation == Relation::Ge { Relation::Le } else { Relation::Lt };
            let always = Formula::and(vec![compare(source, b, zero, below), exists]);
            Formula::or(vec![always, by_squares])
        }
    })
}

/// True for sums and products of squares and the like: their sign needs no watching.
fn is_never_negative(g: &Graph, e: Expr) -> bool {
    match g.node(e) {
        Node::Const(bits, _) => f64::from_bits(bits) >= 0.0,
        Node::Powi(_, n) => n % 2 == 0,
        Node::Unary(Unary::Abs | Unary::Exp | Unary::Sqrt, _) | Node::Binary(Binary::Hypot, ..) => true,
        Node::Binary(Binary::Mul, a, b) if a == b => true,
        Node::Binary(Binary::Add | Binary::Mul | Binary::Div, a, b) => {
            is_never_negative(g, a) && is_never_negative(g, b)
        }
        _ => false,
    }
}

/// Splits `f(u, v) relation b` for f = abs, min, max into comparisons of u and v; the flag tells
/// whether all of them (true) or any of them (false) must hold.
fn distribute(g: &mut Graph, a: Expr, b: Expr, relation: Relation) -> Option<Split> {
    let (u, v, is_max) = match g.node(a) {
        Node::Unary(Unary::Abs, u) => {
            let negative = g.intern(Node::Unary(Unary::Neg, u));
            (u, negative, true)
        }
        Node::Binary(Binary::Max, u, v) => (u, v, true),
        Node::Binary(Binary::Min, u, v) => (u, v, false),
        _ => return None,
    };
    match relation {
        Relation::Le | Relation::Lt => Some((vec![(u, b, relation), (v, b, relation)], is_max)),
        Relation::Ge | Relation::Gt => Some((vec![(u, b, relation), (v, b, relation)], !is_max)),
        Relation::Eq | Relation::Ne => None,
    }
}

/// The quantity `a - b` in a canonical direction, with the relation turned accordingly.
fn difference(g: &mut Graph, a: Expr, b: Expr, relation: Relation) -> (Expr, Relation) {
    if let (Some(x), Some(y)) = (g.constant(a), g.constant(b)) {
        return (g.real(x - y), relation);
    }
    if g.constant(b) == Some(0.0) {
        return unsigned(g, a, relation);
    }
    if g.constant(a) == Some(0.0) {
        return unsigned(g, b, relation.mirrored());
    }
    if a < b {
        (g.intern(Node::Binary(Binary::Sub, b, a)), relation.mirrored())
    } else {
        (g.intern(Node::Binary(Binary::Sub, a, b)), relation)
    }
}

/// Drops leading minus signs of a quantity that is compared with zero.
fn unsigned(g: &Graph, a: Expr, relation: Relation) -> (Expr, Relation) {
    match g.node(a) {
        Node::Unary(Unary::Neg, inner) => unsigned(g, inner, relation.mirrored()),
        _ => (a, relation),
    }
}
