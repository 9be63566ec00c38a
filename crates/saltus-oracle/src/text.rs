//! Systems as readable text in the model language, for messages about failing cases.
//!
//! What the language has no form for (names are already flat) is printed as close to it as
//! possible; the text is for readers.

use saltus_expr::{Binary, Expr, Node, Sort, Unary};
use saltus_model::{
    Assigned, Assignment, AutomatonId, HybridSystem, ModeId, Target, Trigger, Variable, VariableKind,
};
use std::fmt::Write;

/// The text of a system.
///
/// ```
/// let mut b = saltus_oracle::build::Builder::new("Ramp");
/// let x = b.state("x", 0.5);
/// b.slope(None, x, 2.0);
/// assert_eq!(
///     saltus_oracle::text::system_text(&b.finish()),
///     "model Ramp {\n    state x = 0.5\n    flow { x' = 2.0 }\n}\n"
/// );
/// ```
pub fn system_text(system: &HybridSystem) -> String {
    let mut printer = Printer { system, out: String::new(), depth: 0 };
    printer.open(&format!("model {}", system.name));
    for event in &system.events {
        let times: Vec<String> = event.times.iter().map(|&t| printer.expr(t)).collect();
        printer.line(&format!("event {} at {}", event.name, times.join(", ")));
    }
    printer.block(None);
    printer.close();
    printer.out
}

struct Printer<'a> {
    system: &'a HybridSystem,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = self.depth * 4);
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn block(&mut self, owner: Option<ModeId>) {
        for variable in self.system.variables.iter().filter(|v| v.owner == owner) {
            self.declaration(variable);
        }
        let block = self.system.block(owner);
        for equation in &block.equations {
            let (Target::Derivative(v) | Target::Signal(v)) = equation.target;
            let prime = if matches!(equation.target, Target::Derivative(_)) { "'" } else { "" };
            let rhs = self.expr(equation.rhs);
            self.line(&format!("flow {{ {}{prime} = {rhs} }}", self.system.variable(v).name));
        }
        for condition in &block.invariants {
            self.line(&format!("invariant {}", self.expr(condition.formula)));
        }
        for condition in &block.domains {
            self.line(&format!("domain {}", self.expr(condition.formula)));
        }
        for stop in &block.stops {
            self.line(&format!("stop when {} {:?}", self.expr(stop.formula), stop.message));
        }
        for reaction in &block.reactions {
            let head = self.head(&reaction.trigger, reaction.condition);
            self.line(&format!("{head} {}", self.actions(&reaction.actions)));
        }
        for &automaton in &block.automata {
            self.automaton(automaton);
        }
    }

    fn declaration(&mut self, variable: &Variable) {
        let word = match variable.kind {
            VariableKind::Parameter => "param",
            VariableKind::State => "state",
            VariableKind::Memory => "memory",
            VariableKind::Signal => "signal",
            VariableKind::Time | VariableKind::InMode(_) | VariableKind::EntryTime(_) => return,
        };
        let sort = match variable.sort {
            Sort::Real => "",
            Sort::Integer => ": Integer",
            Sort::Boolean => ": Boolean",
        };
        let start = variable.start.map_or(String::new(), |s| format!(" = {}", self.assigned(s)));
        self.line(&format!("{word} {}{sort}{start}", variable.name));
    }

    fn automaton(&mut self, id: AutomatonId) {
        let automaton = self.system.automaton(id);
        self.open(&format!("automaton {}", automaton.name));
        for &mode in &automaton.modes {
            let initial = if mode == automaton.initial { "initial " } else { "" };
            self.open(&format!("{initial}mode {}", self.system.mode(mode).name));
            self.block(Some(mode));
            self.transitions(mode);
            self.close();
        }
        self.close();
    }

    fn transitions(&mut self, mode: ModeId) {
        for transition in &self.system.mode(mode).transitions {
            let may = if transition.may { "may " } else { "" };
            let preempt = if transition.preempt { "preempt " } else { "" };
            let head = self.head(&transition.trigger, transition.condition);
            let history = if transition.history { "history " } else { "" };
            let target = &self.system.mode(transition.target).name;
            let actions = match &transition.actions[..] {
                [] => String::new(),
                actions => format!(" {}", self.actions(actions)),
            };
            self.line(&format!("{preempt}{may}{head} -> {history}{target}{actions}"));
        }
    }

    fn head(&self, trigger: &Trigger, condition: Option<Expr>) -> String {
        let head = match *trigger {
            Trigger::When(g) => format!("when {}", self.expr(g)),
            Trigger::Rises(g) => format!("when rises({})", self.expr(g)),
            Trigger::At(t) => format!("at {}", self.expr(t)),
            Trigger::After(t) => format!("after {}", self.expr(t)),
            Trigger::Every(t) => format!("every {}", self.expr(t)),
            Trigger::On(event) => format!("on {}", self.system.events[event.0 as usize].name),
            Trigger::Else => "else".into(),
        };
        condition.map_or(head.clone(), |c| format!("{head} when {}", self.expr(c)))
    }

    fn actions(&self, actions: &[Assignment]) -> String {
        let assign =
            |a: &Assignment| format!("{} := {}", self.system.variable(a.target).name, self.assigned(a.value));
        let list: Vec<String> = actions.iter().map(assign).collect();
        if list.is_empty() { "{}".into() } else { format!("{{ {} }}", list.join("; ")) }
    }

    fn assigned(&self, value: Assigned) -> String {
        match value {
            Assigned::Value(e) => self.expr(e),
            Assigned::Interval(a, b) => format!("interval({}, {})", self.expr(a), self.expr(b)),
        }
    }

    fn expr(&self, e: Expr) -> String {
        let graph = &self.system.graph;
        match graph.node(e) {
            Node::Const(bits, Sort::Boolean) => (f64::from_bits(bits) != 0.0).to_string(),
            Node::Const(bits, Sort::Integer) => format!("{}", f64::from_bits(bits)),
            Node::Const(bits, Sort::Real) => format!("{:?}", f64::from_bits(bits)),
            Node::Var(v, _) => match self.system.variable(v).kind {
                VariableKind::InMode(mode) => self.system.mode_path(mode),
                _ => self.system.variable(v).name.clone(),
            },
            Node::Unary(Unary::Neg, a) => format!("-{}", self.operand(a)),
            Node::Unary(Unary::Not, a) => format!("not {}", self.operand(a)),
            Node::Unary(op, a) => format!("{}({})", format!("{op:?}").to_lowercase(), self.expr(a)),
            Node::Binary(op, a, b) => self.binary(op, a, b),
            Node::Powi(a, n) => format!("{}^({n})", self.operand(a)),
            Node::Select(c, a, b) => {
                format!("if {} then {} else {}", self.expr(c), self.operand(a), self.operand(b))
            }
            Node::Table1(table, a) => format!("{}({})", graph.table(table).name, self.expr(a)),
            Node::Table2(table, a, b) => {
                format!("{}({}, {})", graph.table(table).name, self.expr(a), self.expr(b))
            }
        }
    }

    fn binary(&self, op: Binary, a: Expr, b: Expr) -> String {
        let sign = match op {
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
                return format!("{}({}, {})", format!("{op:?}").to_lowercase(), self.expr(a), self.expr(b));
            }
        };
        format!("{} {sign} {}", self.operand(a), self.operand(b))
    }

    /// An expression in parentheses unless it is a name, a number or a call.
    fn operand(&self, e: Expr) -> String {
        let text = self.expr(e);
        match self.system.graph.node(e) {
            Node::Const(..) if text.starts_with('-') => format!("({text})"),
            Node::Const(..) | Node::Var(..) => text,
            _ => format!("({text})"),
        }
    }
}
