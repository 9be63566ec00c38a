//! The syntax tree: the text of a file, with the place of every part, before names mean anything.

use saltus_model::Span;

/// A name with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct File {
    /// Its items, in text order.
    pub items: Vec<Item>,
}

/// Something at the top level of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `use "lib.salt"`.
    Use {
        /// The path as written.
        path: String,
        /// Where.
        span: Span,
    },
    /// `fn hit(a, b) = a + b`.
    Function(Function),
    /// `model Name { ... }` or `component Name(lo = 19, hi = 21) { ... }`.
    Class(Class),
    /// `param` at the top level: a constant of the file, visible in all its classes.
    Params(Vec<Declarator>),
}

/// A user function; its body is one expression over its arguments, constants and other functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its arguments.
    pub arguments: Vec<Name>,
    /// Its value.
    pub body: Expr,
    /// The whole definition.
    pub span: Span,
}

/// Which kind of class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// Can be run.
    Model,
    /// Can be instantiated (models too).
    Component,
}

/// A model or component.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Model or component.
    pub kind: ClassKind,
    /// Its name.
    pub name: Name,
    /// Parameters in parentheses: `(lo = 19, hi: [K] = 21, n)`.
    pub parameters: Vec<Declarator>,
    /// Its statements.
    pub body: Vec<Statement>,
    /// The whole class.
    pub span: Span,
}

/// One declared variable: `x[3]: [m] = 10`.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    /// Its name.
    pub name: Name,
    /// Array sizes (none, one or two), expressions over parameters and constants.
    pub sizes: Vec<Expr>,
    /// `: Integer`, `: Boolean`, `: Real`.
    pub sort: Option<Name>,
    /// `: [m/s]`.
    pub unit: Option<Unit>,
    /// The value after `=`.
    pub value: Option<Expr>,
    /// The whole declarator.
    pub span: Span,
}

/// A unit as written between brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The text without brackets, for example `m/s^2`.
    pub text: String,
    /// Where, with brackets.
    pub span: Span,
}

/// What is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DeclarationKind {
    Param,
    State,
    Memory,
    Signal,
    Input,
    Output,
}

/// A statement and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it says.
    pub kind: StatementKind,
    /// Where.
    pub span: Span,
}

/// The statements of classes, modes and flow blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `state x = 10, v = 0`.
    Declare(DeclarationKind, Vec<Declarator>),
    /// `event press at 20, 45`: an event input with its times.
    Event {
        /// Its name.
        name: Name,
        /// When it occurs.
        times: Vec<Expr>,
    },
    /// `rooms: Thermostat[3](lo = 18)`.
    Instance {
        /// Name of the instance.
        name: Name,
        /// Class it is made from.
        class: Name,
        /// Array sizes.
        sizes: Vec<Expr>,
        /// Named arguments.
        arguments: Vec<(Name, Expr)>,
    },
    /// `flow { ... }`: only equations, `hold` and `for` inside.
    Flow(Vec<Statement>),
    /// `lhs = rhs`: a definition of a signal, input, or (with `x'`) of a derivative.
    Equation {
        /// Left-hand side: a path, or a derivative of a path.
        lhs: Expr,
        /// Right-hand side.
        rhs: Expr,
    },
    /// `hold x, y`.
    Hold(Vec<Expr>),
    /// `for i in 1..n { ... }`.
    For {
        /// The running name.
        variable: Name,
        /// First value.
        from: Expr,
        /// Last value.
        to: Expr,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// `automaton Name { modes }`.
    Automaton {
        /// Its name, if it has one.
        name: Option<Name>,
        /// Its modes.
        modes: Vec<Mode>,
    },
    /// A reaction or a transition.
    Rule(Rule),
    /// `invariant g`.
    Invariant(Expr),
    /// `domain g`.
    Domain(Expr),
    /// `stop when g "message"`.
    Stop {
        /// When.
        guard: Expr,
        /// What to say.
        message: Option<String>,
    },
    /// `run { until 12; plot x, v; rtol 1e-8 }`.
    Run(Vec<RunSetting>),
}

/// A mode of an automaton.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// `initial mode`.
    pub initial: bool,
    /// Its name.
    pub name: Name,
    /// Its statements, transitions among them.
    pub body: Vec<Statement>,
    /// The whole mode.
    pub span: Span,
}

/// A reaction (`actions` only) or a transition (with `target`).
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// `may`.
    pub may: bool,
    /// `preempt`.
    pub preempt: bool,
    /// What triggers it.
    pub trigger: Trigger,
    /// `at 20 when x > 0 ...`: a further condition on a trigger other than `when`.
    pub condition: Option<Expr>,
    /// `-> Mode` or `-> history Mode`.
    pub target: Option<TransitionTarget>,
    /// `{ x := 1; y := 2 }`.
    pub actions: Vec<Action>,
    /// The trigger as written, from its first word to before `->` or `{`.
    pub head: Span,
}

/// Where a transition goes.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionTarget {
    /// `history`.
    pub history: bool,
    /// The mode.
    pub mode: Name,
}

/// What triggers a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// `when g`; `when rises(e)` and `when falls(e)` are calls inside the expression.
    When(Expr),
    /// `at t`.
    At(Expr),
    /// `after d`.
    After(Expr),
    /// `every T`.
    Every(Expr),
    /// `on press`.
    On(Expr),
    /// `else`.
    Else,
}

/// An assignment in a jump, or a family of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `x := e`; `e` may be `interval(a, b)`.
    Assign {
        /// What changes.
        target: Expr,
        /// To what.
        value: Expr,
        /// Where.
        span: Span,
    },
    /// `for i in 1..n { x[i] := 0 }`.
    For {
        /// The running name.
        variable: Name,
        /// First value.
        from: Expr,
        /// Last value.
        to: Expr,
        /// What is repeated.
        body: Vec<Action>,
        /// Where.
        span: Span,
    },
}

/// A line of a `run` block.
#[derive(Clone, Debug, PartialEq)]
pub enum RunSetting {
    /// `until 12`.
    Until(Expr),
    /// `plot x, v` (one panel) or `plot y over x` (phase plot).
    Plot {
        /// What is drawn.
        series: Vec<Expr>,
        /// The horizontal axis.
        over: Option<Expr>,
        /// Where.
        span: Span,
    },
    /// `rtol 1e-8`, `policy random`, `seed 3`: a name and a plain value.
    Option {
        /// Its name.
        name: Name,
        /// Its value as written.
        value: String,
        /// Where.
        span: Span,
    },
}

/// An expression and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Neg,
    Not,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Or,
    And,
    Add,
    Sub,
    Mul,
    /// `.*`
    ElementMul,
    Div,
    /// `./`
    ElementDiv,
    Pow,
    /// `.^`
    ElementPow,
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// The forms of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number, as written (`1`, `2.5e-3`), perhaps with a unit in brackets behind it; `integer`
    /// tells whether it was written without point and exponent.
    Number {
        /// Its value.
        value: f64,
        /// Written as an integer.
        integer: bool,
        /// `[m/s]` behind it.
        unit: Option<Unit>,
    },
    /// `true`, `false`.
    Boolean(bool),
    /// A string (file names, table names, modes of interpolation).
    Text(String),
    /// A name: variable, constant, parameter, instance, automaton, mode.
    Name(String),
    /// `a.b`.
    Member(Box<Expr>, Name),
    /// `a[i]`, `a[i, j]`, `a[1..3]`.
    Index(Box<Expr>, Vec<Expr>),
    /// `x'` (any number of primes is one node each).
    Prime(Box<Expr>),
    /// `f(a, b, key = c)`.
    Call {
        /// What is called.
        function: Name,
        /// Positional arguments.
        arguments: Vec<Expr>,
        /// Named arguments.
        named: Vec<(Name, Expr)>,
    },
    /// `sum(x[i] for i in 1..n)`: also `min`, `max`, `product`, `mean`, `all`, `any`; and
    /// `[x[i] for i in 1..n]` with the function name `array`.
    Comprehension {
        /// What is done with the values.
        function: Name,
        /// The value for one index.
        value: Box<Expr>,
        /// The running name.
        variable: Name,
        /// First index.
        from: Box<Expr>,
        /// Last index.
        to: Box<Expr>,
    },
    /// `-a`, `not a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`: one more operand than operators.
    Compare(Vec<Expr>, Vec<Comparison>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `[1, 2, 3]`, `[[1, 2], [3, 4]]`.
    Array(Vec<Expr>),
    /// `a..b` inside an index.
    Range(Box<Expr>, Box<Expr>),
}
