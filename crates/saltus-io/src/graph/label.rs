//! What is written at arrows and in boxes: the model's own text, shortened and set in type.

use crate::graph::formula;
use saltus_model::{
    Assigned, Assignment, Equation, HybridSystem, Reaction, Span, Target, Transition, Trigger,
};

/// The text of a span on one line.
fn source(system: &HybridSystem, span: Span) -> String {
    on_one_line(system.sources.text(span))
}

/// Drops comments and puts a semicolon where only the end of a line separated two statements.
fn on_one_line(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or("");
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            continue;
        }
        let joint = match out.is_empty() {
            true => "",
            false if ends_statement(&out) && !line.starts_with('}') => "; ",
            false => " ",
        };
        out.push_str(joint);
        out.push_str(&line);
    }
    out
}

/// Whether the end of a line here ends a statement: not inside brackets, nor after an operator.
fn ends_statement(text: &str) -> bool {
    let open = |a: char, b: char| text.matches(a).count() > text.matches(b).count();
    let goes_on = text.ends_with(['{', ';', ',', '+', '-', '*', '/', '^', '=', '<', '>'])
        || [" and", " or", " not"].iter().any(|word| text.ends_with(word));
    open('{', '}') && !open('(', ')') && !open('[', ']') && !goes_on
}

/// Operators as they are printed.
pub fn printed(text: &str) -> String {
    let signs = [(">=", "≥"), ("<=", "≤"), ("!=", "≠"), ("->", "→"), (" * ", "·"), ("'", "′"), ("-", "−")];
    signs.iter().fold(text.to_string(), |text, (written, set)| text.replace(written, set))
}

/// Lines at a transition's arrow: its trigger, then what it changes.
pub fn transition(system: &HybridSystem, transition: &Transition) -> Vec<String> {
    let text = source(system, transition.span);
    let mut lines = if text.is_empty() {
        vec![trigger(system, &transition.trigger, transition.condition.map(|c| formula::text(system, c)))]
    } else {
        written_transition(&text)
    };
    if text.is_empty() {
        lines.extend(transition.actions.iter().map(|a| format!("/ {}", assignment(system, a))));
    }
    if transition.preempt {
        lines[0].insert_str(0, "preempt ");
    }
    lines.iter().map(|line| printed(line)).collect()
}

/// `may when g -> Mode { a := 1 }` shows `g` and `/ a := 1`: dashes tell `may`, the arrow the rest.
fn written_transition(text: &str) -> Vec<String> {
    let end = text.find("->").into_iter().chain(text.find('{')).min().unwrap_or(text.len());
    let mut head = text[..end].trim();
    for word in ["preempt ", "may ", "preempt ", "when "] {
        head = head.strip_prefix(word).unwrap_or(head).trim_start();
    }
    let mut lines = vec![head.to_string()];
    if let Some((_, inside)) = text.split_once('{') {
        let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
        lines.extend(inside.split(';').map(str::trim).filter(|a| !a.is_empty()).map(|a| format!("/ {a}")));
    }
    lines
}

fn trigger(system: &HybridSystem, trigger: &Trigger, condition: Option<String>) -> String {
    let text = |e| formula::text(system, e);
    let mut line = match *trigger {
        Trigger::When(e) => text(e),
        Trigger::Rises(e) => format!("rises({})", text(e)),
        Trigger::At(e) => format!("at {}", text(e)),
        Trigger::After(e) => format!("after {}", text(e)),
        Trigger::Every(e) => format!("every {}", text(e)),
        Trigger::On(event) => {
            let name = system.events.get(event.0 as usize).map_or("?", |event| event.name.as_str());
            format!("on {name}")
        }
        Trigger::Else => "else".into(),
    };
    if let Some(condition) = condition {
        line.push_str(&format!(" when {condition}"));
    }
    line
}

fn assignment(system: &HybridSystem, assignment: &Assignment) -> String {
    let target = &system.variable(assignment.target).name;
    match assignment.value {
        Assigned::Value(e) => format!("{target} := {}", formula::text(system, e)),
        Assigned::Interval(a, b) => {
            format!("{target} := {} .. {}", formula::text(system, a), formula::text(system, b))
        }
    }
}

/// An equation on one line.
pub fn equation(system: &HybridSystem, equation: &Equation) -> String {
    let text = source(system, equation.span);
    if !text.is_empty() {
        // Of a `hold` the span is the name alone: one statement may hold several.
        let word = if text.contains('=') { "" } else { "hold " };
        return printed(&format!("{word}{text}"));
    }
    let (name, prime) = match equation.target {
        Target::Derivative(v) => (&system.variable(v).name, "'"),
        Target::Signal(v) => (&system.variable(v).name, ""),
    };
    printed(&format!("{name}{prime} = {}", formula::text(system, equation.rhs)))
}

/// A reaction on one line.
pub fn reaction(system: &HybridSystem, reaction: &Reaction) -> String {
    let text = source(system, reaction.span);
    if !text.is_empty() {
        return printed(&text);
    }
    let condition = reaction.condition.map(|c| formula::text(system, c));
    let actions: Vec<String> = reaction.actions.iter().map(|a| assignment(system, a)).collect();
    let keyword = if matches!(reaction.trigger, Trigger::When(_) | Trigger::Rises(_)) { "when " } else { "" };
    let trigger = trigger(system, &reaction.trigger, condition);
    printed(&format!("{keyword}{trigger} {{ {} }}", actions.join("; ")))
}

/// A condition with the word that introduces it.
pub fn condition(system: &HybridSystem, word: &str, formula: saltus_expr::Expr, span: Span) -> String {
    let text = source(system, span);
    let text = if text.is_empty() { formula::text(system, formula) } else { text };
    if text.starts_with(word) { printed(&text) } else { printed(&format!("{word} {text}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_shows_what_its_arrow_does_not() {
        for (text, lines) in [
            ("when x >= hi -> Idle", vec!["x >= hi"]),
            ("may when x <= lo + 0.5 -> Heating", vec!["x <= lo + 0.5"]),
            ("at 1 -> Open", vec!["at 1"]),
            (
                "preempt when fault -> history Safe { v := 0; w := -w }",
                vec!["fault", "/ v := 0", "/ w := -w"],
            ),
            ("else -> B", vec!["else"]),
            ("when g { a := 1 } -> B", vec!["g", "/ a := 1"]),
        ] {
            assert_eq!(written_transition(text), lines, "{text}");
        }
    }

    #[test]
    fn lines_become_statements_or_go_on() {
        for (text, line) in [
            ("when x < 0 {\n  v := 1 // up\n  w := 2\n}", "when x < 0 { v := 1; w := 2 }"),
            ("x' = a +\n    b", "x' = a + b"),
            ("every 1 { y := mean(a,\n b) }", "every 1 { y := mean(a, b) }"),
        ] {
            assert_eq!(on_one_line(text), line);
        }
    }

    #[test]
    fn signs_are_printed() {
        assert_eq!(printed("x' = -a * x - b"), "x′ = −a·x − b");
        assert_eq!(printed("x >= 0"), "x ≥ 0");
    }
}
