//! A compact text for a flat hybrid system, for assertions.

use saltus_expr::{Binary, Expr, Graph, Node, Sort, Unary};
use saltus_model::{Assigned, Assignment, Block, HybridSystem, ModeId, Target, Trigger, VariableKind};
use std::fmt::Write;

/// The whole system.
pub fn dump(system: &HybridSystem) -> String {
    let mut out = String::new();
    for variable in &system.variables[1..] {
        let kind = match variable.kind {
            VariableKind::Parameter => "param",
            VariableKind::State => "state",
            VariableKind::Memory => "memory",
            VariableKind::Signal => "signal",
            VariableKind::InMode(_) => "flag",
            VariableKind::Time | VariableKind::EntryTime(_) => "time",
        };
        let _ = write!(out, "{kind} {}", variable.name);
        if variable.sort != Sort::Real {
            let _ = write!(out, ": {:?}", variable.sort);
        }
        if let Some(unit) = &variable.unit {
            let _ = write!(out, " [{unit}]");
        }
        if let Some(start) = &variable.start {
            let _ = write!(out, " = {}", assigned(system, start));
        }
        if let Some(owner) = variable.owner {
            let _ = write!(out, " in {}", system.mode_path(owner));
        }
        out.push('\n');
    }
    for event in &system.events {
        let times: Vec<String> = event.times.iter().map(|&t| expr(system, t)).collect();
        let _ = writeln!(out, "event {} at {}", event.name, times.join(", "));
    }
    block(system, &system.root, &mut out);
    for (k, mode) in system.modes.iter().enumerate() {
        let id = ModeId(k as u32);
        let initial = system.automaton(mode.automaton).initial == id;
        let _ = writeln!(out, "mode {}{}", system.mode_path(id), if initial { " (initial)" } else { "" });
        block(system, &mode.block, &mut out);
        for t in &mode.transitions {
            let words = [("may ", t.may), ("preempt ", t.preempt)];
            let words: String = words.iter().filter(|w| w.1).map(|w| w.0).collect();
            let when = trigger(system, &t.trigger, t.condition);
            let history = if t.history { "history " } else { "" };
            let _ = write!(out, "{words}{when} -> {history}{}", system.mode(t.target).name);
            let _ = writeln!(out, "{}", actions(system, &t.actions));
        }
    }
    out
}

fn block(system: &HybridSystem, block: &Block, out: &mut String) {
    for e in &block.equations {
        let target = match e.target {
            Target::Derivative(v) => format!("{}'", system.variable(v).name),
            Target::Signal(v) => system.variable(v).name.clone(),
        };
        let _ = writeln!(out, "{target} = {}", expr(system, e.rhs));
    }
    for r in &block.reactions {
        let when = trigger(system, &r.trigger, r.condition);
        let _ = writeln!(out, "{when}{}", actions(system, &r.actions));
    }
    for c in &block.invariants {
        let _ = writeln!(out, "invariant {}", expr(system, c.formula));
    }
    for c in &block.domains {
        let _ = writeln!(out, "domain {}", expr(system, c.formula));
    }
    for s in &block.stops {
        let _ = writeln!(out, "stop when {} {:?}", expr(system, s.formula), s.message);
    }
    for &a in &block.automata {
        let _ = writeln!(out, "automaton {}", system.automaton(a).name);
    }
}

fn trigger(system: &HybridSystem, trigger: &Trigger, condition: Option<Expr>) -> String {
    let mut text = match trigger {
        Trigger::When(e) => format!("when {}", expr(system, *e)),
        Trigger::Rises(e) => format!("rises {}", expr(system, *e)),
        Trigger::At(e) => format!("at {}", expr(system, *e)),
        Trigger::After(e) => format!("after {}", expr(system, *e)),
        Trigger::Every(e) => format!("every {}", expr(system, *e)),
        Trigger::On(e) => format!("on {}", system.events[e.0 as usize].name),
        Trigger::Else => "else".to_string(),
    };
    if let Some(condition) = condition {
        let _ = write!(text, " if {}", expr(system, condition));
    }
    text
}

fn actions(system: &HybridSystem, actions: &[Assignment]) -> String {
    let list: Vec<String> = actions
        .iter()
        .map(|a| format!("{} := {}", system.variable(a.target).name, assigned(system, &a.value)))
        .collect();
    if list.is_empty() { String::new() } else { format!(" {{ {} }}", list.join("; ")) }
}

fn assigned(system: &HybridSystem, value: &Assigned) -> String {
    match value {
        Assigned::Value(e) => expr(system, *e),
        Assigned::Interval(a, b) => format!("interval({}, {})", expr(system, *a), expr(system, *b)),
    }
}

/// An expression, every operation in parentheses except the outermost.
pub fn expr(system: &HybridSystem, e: Expr) -> String {
    let text = inner(system, &system.graph, e);
    match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(open) if balanced(open) => open.to_string(),
        _ => text,
    }
}

fn balanced(text: &str) -> bool {
    let mut depth = 0;
    text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    })
}

fn inner(system: &HybridSystem, graph: &Graph, e: Expr) -> String {
    let sub = |e: Expr| inner(system, graph, e);
    match graph.node(e) {
        Node::Const(bits, Sort::Boolean) => (f64::from_bits(bits) != 0.0).to_string(),
        Node::Const(bits, _) => f64::from_bits(bits).to_string(),
        Node::Var(v, _) => system.variable(v).name.clone(),
        Node::Unary(Unary::Neg, a) => format!("-{}", sub(a)),
        Node::Unary(Unary::Not, a) => format!("not {}", sub(a)),
        Node::Unary(op, a) => format!("{}({})", format!("{op:?}").to_lowercase(), expr(system, a)),
        Node::Binary(op, a, b) => {
            let symbol = match op {
                Binary::Add => "+",
                Binary::Sub => "-",
                Binary::Mul => "*",
                Binary::Div => "/",
                Binary::Pow => "^",
                Binary::Lt => "<",
                Binary::Le => "<=",
                Binary::Eq => "==",
                Binary::And => "and",
                Binary::Or => "or",
                Binary::Atan2 | Binary::Hypot | Binary::Min | Binary::Max | Binary::Mod => {
                    let name = format!("{op:?}").to_lowercase();
                    return format!("{name}({}, {})", expr(system, a), expr(system, b));
                }
            };
            format!("({} {symbol} {})", sub(a), sub(b))
        }
        Node::Powi(a, n) => format!("{}^{n}", sub(a)),
        Node::Select(c, a, b) => format!("(if {} then {} else {})", sub(c), sub(a), sub(b)),
        Node::Table1(t, a) => format!("table{}({})", t.0, expr(system, a)),
        Node::Table2(t, a, b) => format!("table{}({}, {})", t.0, expr(system, a), expr(system, b)),
    }
}
