//! Explaining in plain words why an expression has no value.

use crate::combination::Watch;
use crate::compile::{Edge, EdgeKind, SwitchKind};
use crate::report::{Ending, Status};
use crate::runner::Runner;
use saltus_expr::{Binary, Departure, Expr, Node, Op, PlanBlock, Unary};
use saltus_model::Span;

/// What to do about values beyond all numbers.
pub(crate) const GROWTH: &str = "check the model near the last state, or stop before it";

/// Why the run cannot go on.
pub(crate) struct Explanation {
    pub status: Status,
    pub reason: String,
    pub hint: Option<String>,
    pub span: Option<Span>,
}

/// An expression as text, with the names of the model.
pub(crate) fn expression(runner: &Runner<'_>, e: Expr) -> String {
    let variables = &runner.system.variables;
    let e = origin(runner, e);
    let name = |v: saltus_expr::VarId| variables.get(v.index()).map_or("…".to_string(), |v| v.name.clone());
    runner.code.graph.display(e, &name).to_string()
}

/// What stands in the model where the engine has a smooth expression.
fn origin(runner: &Runner<'_>, e: Expr) -> Expr {
    runner.code.origins.get(&e).copied().unwrap_or(e)
}

/// Explains a value that is not finite.
pub(crate) fn departure(runner: &Runner<'_>, block: &PlanBlock, departure: &Departure) -> Explanation {
    match departure {
        Departure::Operation { expr, op, operands, value } => {
            operation(runner, *expr, *op, *operands, *value)
        }
        Departure::Input { input, value } => {
            let slot = block.inputs[*input] as usize;
            let variable = runner.system.variables.get(slot);
            let name = variable.map_or("a branch", |v| v.name.as_str());
            Explanation {
                status: Status::Failed,
                reason: format!("`{name}` has become {value}"),
                hint: Some(
                    "a state grew beyond all numbers; check its equation or stop the run earlier".into(),
                ),
                span: variable.map(|v| v.span),
            }
        }
        Departure::Constant { value } => Explanation {
            status: Status::Failed,
            reason: format!("a constant of the model is {value}"),
            hint: Some("check the parameters and constants of the model".into()),
            span: None,
        },
    }
}

fn operation(runner: &Runner<'_>, e: Expr, op: Op, operands: [f64; 3], value: f64) -> Explanation {
    let text = expression(runner, e);
    let operands = outside_table(runner, e).map_or(operands, |argument| [argument, f64::NAN, f64::NAN]);
    let cause = cause(runner.code.graph.node(origin(runner, e)), operands);
    let (reason, hint) = if cause.is_none() && value.is_infinite() {
        (format!("`{text}` grows without bound: at the last state it is beyond all numbers"), GROWTH)
    } else {
        let cause = cause.unwrap_or_else(|| format!("its operands are {}", list(op, operands)));
        let hint = "stop or switch to another mode before the state gets there, or declare a domain with a transition at its edge";
        (format!("`{text}` has no finite value at the last state: {cause}"), hint)
    };
    Explanation { status: Status::LeftDomain, reason, hint: Some(hint.into()), span: place_of(runner, e) }
}

/// The operation that has no finite value, and why, in a few words.
pub(crate) fn operation_cause(runner: &Runner<'_>, departure: &Departure) -> Option<String> {
    let Departure::Operation { expr, operands, .. } = departure else { return None };
    let why = cause(runner.code.graph.node(origin(runner, *expr)), *operands);
    let why = why.unwrap_or_else(|| "the result is beyond all numbers".into());
    Some(format!("in `{}`, {why}", expression(runner, *expr)))
}

/// The argument with which an expression leaves the table that it stands for.
fn outside_table(runner: &Runner<'_>, e: Expr) -> Option<f64> {
    let table = origin(runner, e);
    let stairs = runner.code.switches.iter().filter(|s| s.origin == table);
    stairs.into_iter().find_map(|s| match &s.kind {
        SwitchKind::Stair(atom, grid) => {
            let argument = runner.env[runner.code.atoms[atom.index()].slot as usize];
            grid.excludes(argument).then_some(argument)
        }
        SwitchKind::Condition(_) => None,
    })
}

fn list(op: Op, operands: [f64; 3]) -> String {
    let shown: Vec<String> = op.operands().zip(operands).map(|(_, x)| x.to_string()).collect();
    shown.join(" and ")
}

/// The edge of a domain that the operands are beyond.
fn cause(node: Node, [a, b, _]: [f64; 3]) -> Option<String> {
    Some(match node {
        Node::Unary(Unary::Sqrt, _) if a < 0.0 => format!("the square root of {a} does not exist"),
        Node::Unary(Unary::Log, _) if a <= 0.0 => format!("the logarithm of {a} does not exist"),
        Node::Unary(Unary::Asin | Unary::Acos, _) if a.abs() > 1.0 => format!("{a} is outside -1 to 1"),
        Node::Unary(Unary::Acosh, _) if a < 1.0 => format!("{a} is below 1"),
        Node::Unary(Unary::Atanh, _) if a.abs() >= 1.0 => format!("{a} is not between -1 and 1"),
        Node::Binary(Binary::Div | Binary::Mod, ..) if b == 0.0 => format!("division of {a} by zero"),
        Node::Binary(Binary::Pow, ..) if a < 0.0 => format!("{a} cannot be raised to the power {b}"),
        Node::Binary(Binary::Pow, ..) if a == 0.0 => format!("zero cannot be raised to the power {b}"),
        Node::Powi(_, n) if a == 0.0 && n < 0 => "division by zero".to_string(),
        Node::Table1(..) | Node::Table2(..) => format!("{a} is outside the table"),
        _ => return None,
    })
}

/// The equation or guard that an expression is part of.
fn place_of(runner: &Runner<'_>, e: Expr) -> Option<Span> {
    let graph = &runner.code.graph;
    let contains = |root: Expr| {
        let mut found = false;
        graph.visit(&[root], |n| found |= n == e);
        found
    };
    let combination = runner.combination();
    let equations = combination.blocks.iter().flat_map(|&b| {
        let owner = b.checked_sub(1).map(saltus_model::ModeId);
        runner.system.block(owner).equations.iter().zip(&runner.code.blocks[b as usize].expressions)
    });
    let equation = equations.into_iter().find(|(_, smooth)| contains(smooth.1)).map(|(q, _)| q.span);
    equation.or_else(|| {
        let quantity = |p: &usize| runner.code.atoms[combination.atoms[*p].index()].quantity;
        (0..combination.atoms.len()).filter(|p| contains(quantity(p))).find_map(|p| guard_at(runner, p))
    })
}

/// The guard that reads an active atom.
fn guard_at(runner: &Runner<'_>, position: usize) -> Option<Span> {
    let (code, combination) = (&runner.code, runner.combination());
    combination.watchers[position].iter().find_map(|&w| match combination.watches[w as usize] {
        Watch::Rule(r) => Some(code.rules[r as usize].span),
        Watch::Invariant(b, i) => Some(code.blocks[b as usize].invariants[i as usize].span),
        Watch::Domain(b, i) => Some(code.blocks[b as usize].domains[i as usize].span),
        Watch::Stop(b, i) => Some(code.blocks[b as usize].stops[i as usize].0.span),
        Watch::Switch(_) | Watch::Edge(..) => None,
    })
}

/// A function in force does not exist beyond the present state.
pub(crate) fn edge(runner: &Runner<'_>, edge: Edge) -> Box<Ending> {
    let text = expression(runner, edge.node);
    let quantity = expression(runner, runner.code.atoms[edge.atom.index()].quantity);
    let wanted = if edge.kind == EdgeKind::NonNegative { "negative" } else { "zero" };
    let reason = format!("`{text}` does not exist beyond the last state: `{quantity}` becomes {wanted}");
    let hint = "add a transition or a stop condition there, or write the function so that it exists on the other side";
    runner.ending(Status::LeftDomain, reason, Some(hint.into()), place_of(runner, edge.node))
}

/// A guard has no value now.
pub(crate) fn undefined_guard(runner: &Runner<'_>, position: usize) -> Box<Ending> {
    let atom = &runner.code.atoms[runner.combination().atoms[position].index()];
    let text = expression(runner, atom.quantity);
    let reason = format!("the guard quantity `{text}` has no value at the last state");
    let hint = "a guard must exist wherever its mode is active";
    runner.ending(Status::LeftDomain, reason, Some(hint.into()), guard_at(runner, position))
}

/// A state leaves the range of numbers.
pub(crate) fn unbounded(runner: &Runner<'_>, state: u32) -> Box<Ending> {
    let variable = &runner.system.variables[state as usize];
    let reason = format!(
        "`{}` grows without bound: a step from the last state leads beyond all numbers",
        variable.name
    );
    runner.ending(Status::LeftDomain, reason, Some(GROWTH.into()), Some(variable.span))
}
