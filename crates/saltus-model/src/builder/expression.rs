//! Handles for numbers and truths, and the operators on them.

use super::{BuildError, Builder, Draft};
use crate::system::Assigned;
use saltus_expr::{Binary, Expr, Node, Sort, Unary, VarId};
use std::fmt;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A number: a variable or an expression, real or whole.
#[derive(Clone, Copy)]
pub struct Quantity<'b> {
    builder: &'b Builder,
    expr: Expr,
}

/// Something that is true or false: a comparison, a Boolean variable or a combination of them.
#[derive(Clone, Copy)]
pub struct Formula<'b> {
    builder: &'b Builder,
    expr: Expr,
}

/// What stands for an expression of a builder.
pub trait Handle<'b>: Copy {
    /// The handle of an expression.
    fn new(builder: &'b Builder, expr: Expr) -> Self;
    /// The builder it belongs to.
    fn builder(self) -> &'b Builder;
    /// The expression in the graph of the system.
    fn id(self) -> Expr;
}

/// What can stand in an expression: handles and plain Rust values.
pub trait Term<'b>: Sized {
    /// The kind of its value: [`Quantity`] or [`Formula`].
    type Handle: Handle<'b>;
    /// The expression.
    fn expr(self, builder: &'b Builder) -> Expr;
}

/// A number: [`Quantity`], `f64` or `i32`.
pub trait Number<'b>: Term<'b, Handle = Quantity<'b>> {}
impl<'b, T: Term<'b, Handle = Quantity<'b>>> Number<'b> for T {}

/// A truth: [`Formula`] or `bool`.
pub trait Truth<'b>: Term<'b, Handle = Formula<'b>> {}
impl<'b, T: Term<'b, Handle = Formula<'b>>> Truth<'b> for T {}

/// What a variable can be given at the start or in a jump: a [`Term`] or an [`interval`].
pub trait Given<'b> {
    /// The kind of variable that takes it.
    type Handle: Handle<'b>;
    /// The value or interval.
    fn assigned(self, builder: &'b Builder) -> Assigned;
}

impl<'b, T: Term<'b>> Given<'b> for T {
    type Handle = T::Handle;
    fn assigned(self, builder: &'b Builder) -> Assigned {
        Assigned::Value(self.expr(builder))
    }
}

/// Any value between two numbers; made by [`interval`].
#[derive(Clone, Copy, Debug)]
pub struct Interval<A, B>(A, B);

/// Any value between two numbers: the policy of the run picks one and reports it.
///
/// ```
/// use saltus_model::builder::{Block, Builder, interval};
/// let b = Builder::new("Somewhere");
/// let x = b.state("x", interval(0.0, 1.0));
/// b.hold(x);
/// assert!(b.finish().is_ok());
/// ```
pub fn interval<A, B>(low: A, high: B) -> Interval<A, B> {
    Interval(low, high)
}

impl<'b, A: Number<'b>, B: Number<'b>> Given<'b> for Interval<A, B> {
    type Handle = Quantity<'b>;
    fn assigned(self, builder: &'b Builder) -> Assigned {
        let (low, high) = (self.0.expr(builder), self.1.expr(builder));
        let graph = &mut builder.draft.borrow_mut().system.graph;
        Assigned::Interval(graph.as_real(low), graph.as_real(high))
    }
}

macro_rules! handle {
    ($type:ident) => {
        impl $type<'_> {
            /// The variable behind it, to find its values in a run; `None` for other expressions.
            pub fn variable(self) -> Option<VarId> {
                self.builder.draft.borrow().variable(self.expr)
            }
        }

        impl<'b> Handle<'b> for $type<'b> {
            fn new(builder: &'b Builder, expr: Expr) -> Self {
                Self { builder, expr }
            }
            fn builder(self) -> &'b Builder {
                self.builder
            }
            fn id(self) -> Expr {
                self.expr
            }
        }

        impl<'b> Term<'b> for $type<'b> {
            type Handle = Self;
            fn expr(self, builder: &'b Builder) -> Expr {
                builder.own(self)
            }
        }

        impl fmt::Debug for $type<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.builder.draft.borrow().words(self.expr))
            }
        }
    };
}

handle!(Quantity);
handle!(Formula);

impl<'b> Term<'b> for f64 {
    type Handle = Quantity<'b>;
    fn expr(self, builder: &'b Builder) -> Expr {
        let mut draft = builder.draft.borrow_mut();
        if !self.is_finite() {
            draft.refuse(BuildError::NotFinite(self.to_string()));
        }
        draft.system.graph.real(self)
    }
}

impl<'b> Term<'b> for i32 {
    type Handle = Quantity<'b>;
    fn expr(self, builder: &'b Builder) -> Expr {
        builder.draft.borrow_mut().system.graph.integer(self.into())
    }
}

impl<'b> Term<'b> for bool {
    type Handle = Formula<'b>;
    fn expr(self, builder: &'b Builder) -> Expr {
        builder.draft.borrow_mut().system.graph.boolean(self)
    }
}

impl Draft {
    /// The variable that an expression is.
    pub fn variable(&self, e: Expr) -> Option<VarId> {
        match self.system.graph.node(e) {
            Node::Var(v, _) => Some(v),
            _ => None,
        }
    }
}

/// An operation on two terms of one builder.
fn binary<'b, H: Handle<'b>>(builder: &'b Builder, op: Binary, a: impl Term<'b>, b: impl Term<'b>) -> H {
    let (a, b) = (a.expr(builder), b.expr(builder));
    let expr = builder.draft.borrow_mut().system.graph.mixed(op, a, b);
    H::new(builder, expr)
}

/// A function of a number; all but `-`, `abs` and `sign` make a whole number real.
fn unary(op: Unary, a: Quantity<'_>) -> Quantity<'_> {
    let graph = &mut a.builder.draft.borrow_mut().system.graph;
    let keeps_sort = matches!(op, Unary::Neg | Unary::Abs | Unary::Sign);
    let operand = if keeps_sort { a.expr } else { graph.as_real(a.expr) };
    Quantity::new(a.builder, graph.unary(op, operand))
}

macro_rules! functions {
    ($($name:ident $op:ident $text:literal),* $(,)?) => {$(
        #[doc = $text]
        pub fn $name(self) -> Self {
            unary(Unary::$op, self)
        }
    )*};
}

macro_rules! comparisons {
    ($($name:ident $text:literal $op:ident),* $(,)?) => {$(
        #[doc = $text]
        pub fn $name<N: Number<'b>>(self, other: N) -> Formula<'b> {
            binary(self.builder, Binary::$op, self, other)
        }
    )*};
}

macro_rules! pairs {
    ($($name:ident $op:ident $text:literal),* $(,)?) => {$(
        #[doc = $text]
        pub fn $name<N: Number<'b>>(self, other: N) -> Self {
            binary(self.builder, Binary::$op, self, other)
        }
    )*};
}

impl<'b> Quantity<'b> {
    /// Gives a variable a unit, for the axes of pictures.
    pub fn unit(self, unit: &str) -> Self {
        let mut draft = self.builder.draft.borrow_mut();
        match draft.variable(self.expr) {
            Some(v) => draft.system.variables[v.index()].unit = Some(unit.into()),
            None => {
                let expression = draft.words(self.expr);
                draft.refuse(BuildError::NotA { expression, wanted: "a variable" });
            }
        }
        drop(draft);
        self
    }

    comparisons!(
        le "`self <= other`." Le,
        lt "`self < other`." Lt,
        eq "`self == other`: a zero of the difference, from either side." Eq,
    );

    /// `self >= other`.
    pub fn ge<N: Number<'b>>(self, other: N) -> Formula<'b> {
        binary(self.builder, Binary::Le, other, self)
    }

    /// `self > other`.
    pub fn gt<N: Number<'b>>(self, other: N) -> Formula<'b> {
        binary(self.builder, Binary::Lt, other, self)
    }

    pairs!(
        min Min "The smaller of two numbers.",
        max Max "The larger of two numbers.",
        modulo Mod "`self - other * floor(self / other)`.",
        atan2 Atan2 "The angle of the point (`other`, `self`).",
        hypot Hypot "`sqrt(self^2 + other^2)`.",
    );

    /// `self ^ exponent`; exact for a whole constant.
    pub fn pow<N: Number<'b>>(self, exponent: N) -> Self {
        let exponent = exponent.expr(self.builder);
        let graph = &mut self.builder.draft.borrow_mut().system.graph;
        let negative = graph.constant(exponent).is_some_and(|n| n < 0.0);
        let base = if negative { graph.as_real(self.expr) } else { self.expr };
        Self::new(self.builder, graph.pow(base, exponent))
    }

    functions!(
        abs Abs "Its distance from 0.",
        sign Sign "-1, 0 or 1.",
        floor Floor "The largest whole number not above it.",
        ceil Ceil "The smallest whole number not below it.",
        sqrt Sqrt "The square root.",
        exp Exp "The exponential function.",
        log Log "The natural logarithm.",
        sin Sin "The sine.",
        cos Cos "The cosine.",
        tan Tan "The tangent.",
        asin Asin "The inverse sine.",
        acos Acos "The inverse cosine.",
        atan Atan "The inverse tangent.",
        sinh Sinh "The hyperbolic sine.",
        cosh Cosh "The hyperbolic cosine.",
        tanh Tanh "The hyperbolic tangent.",
        asinh Asinh "The inverse hyperbolic sine.",
        acosh Acosh "The inverse hyperbolic cosine.",
        atanh Atanh "The inverse hyperbolic tangent.",
    );
}

impl<'b> Formula<'b> {
    /// Both hold.
    pub fn and<T: Truth<'b>>(self, other: T) -> Self {
        binary(self.builder, Binary::And, self, other)
    }

    /// At least one holds.
    pub fn or<T: Truth<'b>>(self, other: T) -> Self {
        binary(self.builder, Binary::Or, self, other)
    }

    /// Both hold or none.
    pub fn same<T: Truth<'b>>(self, other: T) -> Self {
        binary(self.builder, Binary::Eq, self, other)
    }

    /// `if self then a else b`.
    ///
    /// ```
    /// use saltus_model::builder::{Block, Builder};
    /// let b = Builder::new("Friction");
    /// let v = b.state("v", 1.0);
    /// b.flow(v, v.gt(0.0).choose(-1.0, 1.0));
    /// assert!(b.finish().is_ok());
    /// ```
    pub fn choose<T, U>(self, a: T, b: U) -> T::Handle
    where
        T: Term<'b>,
        U: Term<'b, Handle = T::Handle>,
    {
        let (mut a, mut b) = (a.expr(self.builder), b.expr(self.builder));
        let graph = &mut self.builder.draft.borrow_mut().system.graph;
        if graph.sort(a) != graph.sort(b) {
            (a, b) = (graph.as_real(a), graph.as_real(b));
        }
        T::Handle::new(self.builder, graph.select(self.expr, a, b))
    }
}

impl Not for Formula<'_> {
    type Output = Self;
    fn not(self) -> Self {
        let graph = &mut self.builder.draft.borrow_mut().system.graph;
        Self::new(self.builder, graph.not(self.expr))
    }
}

impl<'b, T: Truth<'b>> BitAnd<T> for Formula<'b> {
    type Output = Self;
    fn bitand(self, other: T) -> Self {
        self.and(other)
    }
}

impl<'b, T: Truth<'b>> BitOr<T> for Formula<'b> {
    type Output = Self;
    fn bitor(self, other: T) -> Self {
        self.or(other)
    }
}

impl Neg for Quantity<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        unary(Unary::Neg, self)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident),* $(,)?) => {$(
        impl<'b, N: Number<'b>> $trait<N> for Quantity<'b> {
            type Output = Quantity<'b>;
            fn $method(self, other: N) -> Quantity<'b> {
                binary(self.builder, Binary::$trait, self, other)
            }
        }
        impl<'b> $trait<Quantity<'b>> for f64 {
            type Output = Quantity<'b>;
            fn $method(self, other: Quantity<'b>) -> Quantity<'b> {
                binary(other.builder, Binary::$trait, self, other)
            }
        }
        impl<'b> $trait<Quantity<'b>> for i32 {
            type Output = Quantity<'b>;
            fn $method(self, other: Quantity<'b>) -> Quantity<'b> {
                binary(other.builder, Binary::$trait, self, other)
            }
        }
    )*};
}

operators!(Add add, Sub sub, Mul mul, Div div);

/// A value of a sort that its variable can take: a whole constant becomes real where a real is
/// wanted.
pub(super) fn fit(draft: &mut Draft, e: Expr, sort: Sort, target: &str) -> Expr {
    let given = draft.system.graph.sort(e);
    match (sort, given) {
        (Sort::Real, Sort::Integer) => draft.system.graph.as_real(e),
        _ if sort == given => e,
        _ => {
            draft.refuse(BuildError::Sort { target: target.into(), wanted: sort, given });
            e
        }
    }
}
