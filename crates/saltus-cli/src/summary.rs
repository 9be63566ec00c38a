//! The report of a run for people.

use crate::run::{Report, verb};
use saltus::expr::Sort;
use saltus::model::VariableKind;
use saltus::{EventKind, Status};

/// Final values shown.
const MOST_VALUES: usize = 8;
/// Remarks shown.
const MOST_NOTES: usize = 5;

/// The summary at the end of a run.
pub fn text(report: &Report<'_>) -> String {
    let (run, stats) = (report.run, &report.run.stats);
    let name = &report.model.system().name;
    let ending = &run.ending;
    let mut lines = vec![format!("{name} {} at t = {}", verb(ending.status), short(ending.stamp.t))];
    if ending.status == Status::Stopped {
        lines.push(row("reason", &ending.reason));
    }
    lines.push(row("events", &events(report)));
    let mut steps = vec![plural(stats.steps, "step")];
    steps.extend((stats.rejected > 0).then(|| format!("{} rejected", stats.rejected)));
    steps.push(plural(stats.jet_evals, "Taylor expansion"));
    steps.push(plural(stats.rhs_evals, "point evaluation"));
    lines.push(row("work", &steps.join(", ")));
    lines.extend(values(report).map(|values| row("final", &values)));
    lines.extend(modes(report).map(|modes| row("modes", &modes)));
    lines.push(row("time", &times(report)));
    for note in run.notes.iter().take(MOST_NOTES) {
        lines.push(row("note", &format!("t = {}: {}", short(note.t), note.text)));
    }
    if run.notes.len() > MOST_NOTES {
        lines.push(row("note", &format!("{} more; --json shows all", run.notes.len() - MOST_NOTES)));
    }
    lines.extend(report.written.iter().map(|path| row("written", &path.display().to_string())));
    lines.join("\n") + "\n"
}

/// Why a run could not go on, in one paragraph.
pub fn why(report: &Report<'_>) -> String {
    let ending = &report.run.ending;
    let place = report.place().map(|p| format!("{}:{}: ", p.file, p.line)).unwrap_or_default();
    let stamp = match (ending.stamp.n, ending.stamp.i) {
        (0, 0) => String::new(),
        (n, i) => format!(" (n = {n}, i = {i})"),
    };
    let hint = ending.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let (what, t) = (verb(ending.status), short(ending.stamp.t));
    format!("saltus: {place}the run {what} at t = {t}{stamp}: {}{hint}\n", ending.reason)
}

fn row(what: &str, text: &str) -> String {
    format!("  {what:<9} {text}")
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn events(report: &Report<'_>) -> String {
    let all = &report.run.events;
    let count = |kind: EventKind| all.iter().filter(|e| e.kind == kind).count() as u64;
    let kinds = [
        (EventKind::Transition, "transition"),
        (EventKind::Reaction, "reaction"),
        (EventKind::Time, "time event"),
        (EventKind::Sample, "sample"),
        (EventKind::Zeno, "accumulation"),
    ];
    let parts: Vec<String> = kinds
        .iter()
        .map(|&(kind, word)| (count(kind), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| plural(count, word))
        .collect();
    if parts.is_empty() { "none".into() } else { parts.join(", ") }
}

/// States and memories, if they are few.
fn values(report: &Report<'_>) -> Option<String> {
    let system = report.model.system();
    let kinds = [VariableKind::State, VariableKind::Memory];
    let shown: Vec<_> = kinds.into_iter().flat_map(|kind| system.variables_of(kind)).collect();
    if shown.is_empty() || shown.len() > MOST_VALUES {
        return None;
    }
    let values = shown.into_iter().map(|v| {
        let (variable, value) = (system.variable(v), report.run.values[v.index()]);
        match variable.sort {
            Sort::Boolean => format!("{} = {}", variable.name, value != 0.0),
            Sort::Real | Sort::Integer => format!("{} = {}", variable.name, short(value)),
        }
    });
    Some(values.collect::<Vec<_>>().join(", "))
}

fn modes(report: &Report<'_>) -> Option<String> {
    let system = report.model.system();
    let active = system.automata.iter().zip(&report.run.modes);
    let active: Vec<String> = active
        .filter_map(|(automaton, mode)| Some(format!("{} = {}", automaton.name, system.mode((*mode)?).name)))
        .collect();
    (1..=MOST_VALUES).contains(&active.len()).then(|| active.join(", "))
}

fn times(report: &Report<'_>) -> String {
    let times = report.times;
    let prepare = report.run.stats.compile_seconds.min(times.simulate);
    let parts = [
        ("read and compile", times.load),
        ("prepare", prepare),
        ("simulate", times.simulate - prepare),
        ("write", times.write),
    ];
    let shown = parts.iter().filter(|p| p.1 > 0.0).map(|(what, t)| format!("{what} {}", seconds(*t)));
    let total = times.load + times.simulate + times.write;
    format!("{} ({})", seconds(total), shown.collect::<Vec<_>>().join(", "))
}

fn seconds(t: f64) -> String {
    if t < 0.0995 { format!("{:.1} ms", 1e3 * t) } else { format!("{t:.2} s") }
}

/// A number in six significant digits, without needless zeros.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{}", value + 0.0);
    }
    if !(1e-4..1e9).contains(&size) {
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let places = (5 - size.log10().floor() as i32).max(0) as usize;
    trimmed(&format!("{value:.places$}")).to_string()
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (12.0, "12"),
            (0.0, "0"),
            (-0.0, "0"),
            (1.0 / 3.0, "0.333333"),
            (-1234.5678, "-1234.57"),
            (1e-7, "1e-7"),
            (-1.23456789e12, "-1.23457e12"),
            (123456789.0, "123456789"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
