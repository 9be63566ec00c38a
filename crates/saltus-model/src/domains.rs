//! Inferred domains: where the functions in a model's expressions exist.
//!
//! A square root exists where its argument is not negative, a quotient where its divisor is not zero.
//! What follows from that for the expressions of each block is known before a run.

use crate::source::Span;
use crate::system::{Block, HybridSystem, ModeId, Trigger, VariableKind};
use saltus_expr::{Binary, Expr, Extrapolation, Graph, Node, Unary};

/// What a quantity must be for a function to exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// At least zero.
    NonNegative,
    /// Above zero.
    Positive,
    /// Anything but zero.
    NonZero,
}

impl Bound {
    /// The comparison with zero.
    pub fn words(self) -> &'static str {
        match self {
            Bound::NonNegative => ">= 0",
            Bound::Positive => "> 0",
            Bound::NonZero => "is not 0",
        }
    }
}

/// The bounds of the domain of one function, each a quantity and what it must be; none for a
/// function that exists everywhere. Quantities are added to the graph.
///
/// ```
/// use saltus_expr::{Graph, Sort, Unary, VarId};
/// use saltus_model::domains::{Bound, bounds_of};
/// let mut graph = Graph::new();
/// let x = graph.var(VarId(1), Sort::Real);
/// let root = graph.unary(Unary::Sqrt, x);
/// assert_eq!(bounds_of(&mut graph, root), [(x, Bound::NonNegative)]);
/// assert_eq!(bounds_of(&mut graph, x), []);
/// ```
pub fn bounds_of(graph: &mut Graph, function: Expr) -> Vec<(Expr, Bound)> {
    match graph.node(function) {
        Node::Unary(Unary::Sqrt, a) => vec![(a, Bound::NonNegative)],
        Node::Unary(Unary::Log, a) => vec![(a, Bound::Positive)],
        Node::Unary(Unary::Asin | Unary::Acos, a) => vec![(within_one(graph, a), Bound::NonNegative)],
        Node::Unary(Unary::Atanh, a) => vec![(within_one(graph, a), Bound::Positive)],
        Node::Unary(Unary::Acosh, a) => {
            let one = graph.real(1.0);
            vec![(graph.sub(a, one), Bound::NonNegative)]
        }
        Node::Unary(Unary::Tan, a) => vec![(graph.unary(Unary::Cos, a), Bound::NonZero)],
        Node::Binary(Binary::Pow, a, b) => {
            let is_root = graph.constant(b).is_some_and(|b| b > 0.0);
            vec![(a, if is_root { Bound::NonNegative } else { Bound::Positive })]
        }
        Node::Binary(Binary::Div | Binary::Mod, _, b) => vec![(b, Bound::NonZero)],
        Node::Powi(a, n) if n < 0 => vec![(a, Bound::NonZero)],
        Node::Table1(t, a) => {
            let table = graph.shared_table(t);
            grid_bounds(graph, table.extrapolation, &[(a, &table.x)])
        }
        Node::Table2(t, a, b) => {
            let table = graph.shared_table(t);
            grid_bounds(graph, table.extrapolation, &[(a, &table.x), (b, &table.y)])
        }
        _ => Vec::new(),
    }
}

/// 1 - a^2.
fn within_one(graph: &mut Graph, a: Expr) -> Expr {
    let (one, square) = (graph.real(1.0), graph.powi(a, 2));
    graph.sub(one, square)
}

fn grid_bounds(
    graph: &mut Graph,
    extrapolation: Extrapolation,
    axes: &[(Expr, &Vec<f64>)],
) -> Vec<(Expr, Bound)> {
    let mut bounds = Vec::new();
    for &(argument, grid) in axes.iter().filter(|_| extrapolation == Extrapolation::Undefined) {
        if let (Some(&first), Some(&last)) = (grid.first(), grid.last()) {
            let (first, last) = (graph.real(first), graph.real(last));
            bounds.push((graph.sub(argument, first), Bound::NonNegative));
            bounds.push((graph.sub(last, argument), Bound::NonNegative));
        }
    }
    bounds
}

/// A function of a block that does not exist everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct InferredDomain {
    /// The function with its arguments, as text.
    pub function: String,
    /// What must hold for it to exist, as text.
    pub conditions: Vec<String>,
    /// The mode whose equation or guard it is in; none for the root.
    pub mode: Option<ModeId>,
    /// The equation or guard.
    pub span: Span,
}

/// The functions of all equations and guards that do not exist everywhere, in the order of the root
/// and the modes. Those of constants and parameters alone do not count.
pub fn inferred_domains(system: &HybridSystem) -> Vec<InferredDomain> {
    let mut finder = Finder { system, graph: system.graph.clone(), found: Vec::new() };
    finder.block(None, &system.root);
    for (k, mode) in system.modes.iter().enumerate() {
        let id = Some(ModeId(k as u32));
        for transition in &mode.transitions {
            let guards = formula(&transition.trigger).into_iter().chain(transition.condition);
            finder.expressions(id, transition.span, &guards.collect::<Vec<_>>());
        }
        finder.block(id, &mode.block);
    }
    finder.found
}

fn formula(trigger: &Trigger) -> Option<Expr> {
    match trigger {
        Trigger::When(e) | Trigger::Rises(e) => Some(*e),
        _ => None,
    }
}

struct Finder<'s> {
    system: &'s HybridSystem,
    graph: Graph,
    found: Vec<InferredDomain>,
}

impl Finder<'_> {
    fn block(&mut self, mode: Option<ModeId>, block: &Block) {
        for equation in &block.equations {
            self.expressions(mode, equation.span, &[equation.rhs]);
        }
        for reaction in &block.reactions {
            let guards = formula(&reaction.trigger).into_iter().chain(reaction.condition);
            self.expressions(mode, reaction.span, &guards.collect::<Vec<_>>());
        }
        for condition in block.invariants.iter().chain(&block.domains) {
            self.expressions(mode, condition.span, &[condition.formula]);
        }
        for stop in &block.stops {
            self.expressions(mode, stop.span, &[stop.formula]);
        }
    }

    fn expressions(&mut self, mode: Option<ModeId>, span: Span, roots: &[Expr]) {
        let mut nodes = Vec::new();
        self.graph.visit(roots, |e| nodes.push(e));
        for node in nodes {
            let bounds = bounds_of(&mut self.graph, node);
            let varying = bounds.into_iter().filter(|b| self.varies(b.0));
            let conditions: Vec<String> = varying
                .map(|(quantity, bound)| format!("{} {}", self.text(quantity), bound.words()))
                .collect();
            if !conditions.is_empty() {
                self.found.push(InferredDomain { function: self.text(node), conditions, mode, span });
            }
        }
    }

    fn varies(&self, e: Expr) -> bool {
        let kind = |v: saltus_expr::VarId| self.system.variable(v).kind;
        self.graph.variables(&[e]).into_iter().any(|v| kind(v) != VariableKind::Parameter)
    }

    fn text(&self, e: Expr) -> String {
        self.graph.display(e, &|v| self.system.variable(v).name.clone()).to_string()
    }
}
