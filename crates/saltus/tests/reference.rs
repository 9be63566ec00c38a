//! Executes the pages of `docs/`: every block of model text is compiled and run, and what the page
//! says about it must be what happens. `docs/reference/README.md` explains the notation.

use saltus_lang::{Compiled, codes};
use saltus_model::{HybridSystem, VariableKind};
use saltus_sim::{Options, Run, Sampling, simulate};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

macro_rules! pages {
    ($($name:ident = $path:literal;)*) => {
        /// Every page with examples, relative to `docs/`.
        const PAGES: &[&str] = &[$($path),*];
        $(#[test] fn $name() { check_page($path); })*
    };
}

pages! {
    notation = "reference/README.md";
    lexical = "reference/lexical.md";
    declarations = "reference/declarations.md";
    expressions = "reference/expressions.md";
    arrays = "reference/arrays.md";
    inputs = "reference/inputs.md";
    flow = "reference/flow.md";
    guards = "reference/guards.md";
    time = "reference/time.md";
    instants = "reference/instants.md";
    automata = "reference/automata.md";
    choices = "reference/choices.md";
    endings = "reference/endings.md";
    components = "reference/components.md";
    units = "reference/units.md";
    run = "reference/run.md";
    methods = "reference/methods.md";
    domains = "reference/domains.md";
    diagnostics = "reference/diagnostics.md";
    tutorial = "tutorial.md";
    coming_from = "coming-from.md";
    numerics = "numerics.md";
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn read(path: &str) -> String {
    let full = docs().join(path);
    std::fs::read_to_string(&full).unwrap_or_else(|e| panic!("{}: {e}", full.display()))
}

#[test]
fn every_page_with_models_is_executed() {
    let mut folders = vec![docs()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(docs()).unwrap().to_string_lossy().replace('\\', "/");
            let is_page = name.ends_with(".md") && read(&name).contains("\n```salt");
            assert!(!is_page || PAGES.contains(&name.as_str()), "docs/{name} has models but no test");
        }
    }
}

#[test]
fn every_diagnostic_code_is_shown() {
    let mut shown = String::new();
    for page in PAGES {
        blocks(&read(page)).iter().filter(|b| b.language == "errors").for_each(|b| shown.push_str(&b.text));
    }
    let is_shown = |code: &str| shown.lines().any(|line| line.starts_with(code));
    let missing: Vec<_> = codes::ALL.iter().filter(|(code, _)| !is_shown(code)).collect();
    assert!(missing.is_empty(), "codes without an example: {missing:?}");
}

/// Expectations that are not met must be noticed, or the pages prove nothing.
#[test]
fn wrong_expectations_are_noticed() {
    let model = "```salt\nmodel M { state x = 0; x' = 1; when x >= 1 { x := 0 }; run { until 1.5 } }\n```\n";
    let complains = |outcome: &str| {
        let all = blocks(&format!("{model}{outcome}"));
        !check_example(&all[0], &all[1..].iter().collect::<Vec<_>>(), &HashMap::new()).is_empty()
    };
    assert!(!complains(
        "```events\n1 1 0 reaction when x >= 1\n  x: 1 -> 0\nfinal x = 0.5\nat 0.5: x = 0.5\n```"
    ));
    assert!(!complains("```events\n...\n```") && !complains(""));
    for wrong in [
        "1.1 1 0 reaction when x >= 1",
        "1 0 1 reaction when x >= 1",
        "1 1 0 time when x >= 1",
        "1 1 0 reaction when x > 1",
        "1 1 0 reaction when x >= 1\n  x: 1 -> 0.1",
        "1 1 0 reaction when x >= 1\n1 1 0 reaction when x >= 1",
        "none",
        "final x = 0.6",
        "final y = 0",
        "at 0.5: x = 0.4",
        "at 2: x = 0",
        "mode A = B",
        "status: stopped",
        "reason: something else",
        "note: something",
        "nonsense",
    ] {
        assert!(complains(&format!("```events\n{wrong}\n```")), "`{wrong}` is not noticed");
    }
    assert!(complains("```events deviates\nfinal x = 0.5\n```") && complains("```errors\nE101 1:1 x\n```"));
}

/// A fenced block.
struct Block {
    language: String,
    /// Words behind the language: `key=value`, or `key` alone.
    settings: HashMap<String, String>,
    /// Line of its fence, from 1.
    line: usize,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for (k, line) in page.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            open = !open;
            if open {
                let mut words = info.split_whitespace();
                let language = words.next().unwrap_or_default().to_string();
                let settings = words.map(|w| w.split_once('=').unwrap_or((w, "")));
                let settings = settings.map(|(key, value)| (key.to_string(), value.to_string())).collect();
                found.push(Block { language, settings, line: k + 1, text: String::new() });
            }
        } else if open && let Some(block) = found.last_mut() {
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    found
}

/// Compiles and runs the examples of a page.
fn check_page(path: &str) {
    let page = read(path);
    let all = blocks(&page);
    let mut files: HashMap<String, String> = HashMap::new();
    let mut wrong = String::new();
    let mut examples = 0;
    let mut k = 0;
    while k < all.len() {
        let block = &all[k];
        k += 1;
        if let Some(name) = block.settings.get("file") {
            files.insert(name.clone(), block.text.clone());
            continue;
        }
        if block.language != "salt" {
            let stray = matches!(block.language.as_str(), "events" | "errors");
            assert!(!stray, "docs/{path}:{}: no model stands before this block", block.line);
            continue;
        }
        let mut outcomes = Vec::new();
        while let Some(next) = all.get(k).filter(|b| matches!(b.language.as_str(), "events" | "errors")) {
            outcomes.push(next);
            k += 1;
        }
        examples += 1;
        for (line, complaint) in check_example(block, &outcomes, &files) {
            let _ = writeln!(wrong, "docs/{path}:{line}: {complaint}\n");
        }
    }
    assert!(examples > 0, "docs/{path} has no examples");
    assert!(wrong.is_empty(), "\n{wrong}");
}

type Complaint = (usize, String);

fn check_example(model: &Block, outcomes: &[&Block], files: &HashMap<String, String>) -> Vec<Complaint> {
    let name = model.settings.get("model").map(String::as_str);
    let compiled = saltus_lang::compile("model.salt", &model.text, name, &|path| match path {
        "model.salt" => Ok(model.text.clone()),
        _ => files.get(path).cloned().ok_or_else(|| "there is no such file".to_string()),
    });
    let mut complaints = Vec::new();
    let expected = outcomes.iter().find(|b| b.language == "errors");
    if let Err(complaint) = check_diagnostics(&compiled, expected.map_or("", |b| &b.text)) {
        complaints.push((expected.map_or(model.line, |b| b.line), complaint));
    }
    let Some(system) = &compiled.system else {
        if let Some(events) = outcomes.iter().find(|b| b.language == "events") {
            complaints.push((events.line, "the model has errors and cannot run".into()));
        }
        return complaints;
    };
    let events = outcomes.iter().find(|b| b.language == "events");
    let (line, expected) = events.map_or((model.line, ""), |b| (b.line, b.text.as_str()));
    let complaint = match run_model(system) {
        Err(error) => Some(format!("the run cannot begin: {error}")),
        Ok(run) => check_run(system, &run, expected),
    };
    // A known deviation must still deviate: otherwise the page says something outdated.
    let complaint = match (events.is_some_and(|b| b.settings.contains_key("deviates")), complaint) {
        (true, None) => Some("this is as it should be now: remove the word `deviates`".into()),
        (true, Some(_)) => None,
        (false, complaint) => complaint,
    };
    complaints.extend(complaint.map(|c| (line, c)));
    complaints
}

fn run_model(system: &HybridSystem) -> Result<Run, String> {
    let mut options = Options::default();
    for (name, value, _) in &system.run.settings {
        saltus::apply_setting(&mut options, name, value).map_err(|e| e.to_string())?;
    }
    simulate(system, options).map_err(|e| e.to_string())
}

/// Requires exactly the expected diagnostics, in order: `CODE line:column part of the message`.
fn check_diagnostics(compiled: &Compiled, expected: &str) -> Result<(), String> {
    let mut actual: Vec<String> = Vec::new();
    for d in &compiled.diagnostics {
        let (line, column) = compiled.sources.line_column(d.span);
        let path = compiled.sources.path(d.span);
        let file = if d.span.file == 0 { String::new() } else { format!("{path}:") };
        actual.push(format!("{} {file}{line}:{column} {}", d.code, d.message));
    }
    let expected: Vec<&str> = expected.lines().filter(|l| !l.trim().is_empty()).collect();
    let fits = |(actual, expected): (&String, &&str)| {
        let mut parts = expected.splitn(3, ' ');
        let head = format!("{} {} ", parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        actual.strip_prefix(&head).is_some_and(|message| message.contains(parts.next().unwrap_or("")))
    };
    if actual.len() == expected.len() && actual.iter().zip(&expected).all(fits) {
        return Ok(());
    }
    Err(format!("the diagnostics differ; they are\n{}", actual.join("\n")))
}

/// The value of an expectation: a number, or an expression of the language.
fn number(text: &str) -> Result<f64, String> {
    if let Ok(value) = text.parse() {
        return Ok(value);
    }
    let model = format!("model Value {{ output y = {text}; run {{ until 0 }} }}");
    let compiled = saltus_lang::compile("value", &model, None, &|_| Err("no files".into()));
    let system = compiled.system.ok_or_else(|| format!("`{text}` is not a number"))?;
    let run = simulate(&system, Options::default()).map_err(|e| e.to_string())?;
    let y = system.variables.iter().position(|v| v.name == "y").ok_or("no value")?;
    Ok(run.values[y])
}

/// What a page expects of a run.
struct Expectation<'r> {
    system: &'r HybridSystem,
    run: &'r Run,
    tolerance: f64,
    /// Index of the next event to be matched.
    next: usize,
    /// An ellipsis was read: events may be skipped before the next match.
    skips: bool,
    /// Some line speaks about events, so that all of them must be accounted for.
    counts_events: bool,
    complaints: Vec<String>,
}

fn check_run(system: &HybridSystem, run: &Run, expected: &str) -> Option<String> {
    let mut check = Expectation {
        system,
        run,
        tolerance: 1e-6,
        next: 0,
        skips: false,
        counts_events: false,
        complaints: Vec::new(),
    };
    let mut status = None;
    for line in expected.lines().filter(|l| !l.trim().is_empty()) {
        let result = match line.split_once(": ") {
            Some(("status", word)) => {
                status = Some(word.trim());
                Ok(())
            }
            Some(("tolerance", value)) => number(value).map(|v| check.tolerance = v),
            Some(("reason", part)) => check.says(&run.ending.reason, part),
            Some(("note", part)) => {
                let notes: Vec<&str> = run.notes.iter().map(|n| n.text.as_str()).collect();
                check.says(&notes.join("\n"), part)
            }
            _ => check.line(line),
        };
        if let Err(problem) = result {
            check.complaints.push(format!("`{}`: {problem}", line.trim()));
        }
    }
    let word = run.ending.status.word();
    let as_expected = status.map_or(run.ending.status.is_success(), |s| s == word);
    if !as_expected {
        check.complaints.push(format!("the status is {word}: {}", run.ending.reason));
    }
    if check.counts_events && !check.skips && check.next < run.events.len() {
        check.complaints.push(format!("{} more events happen", run.events.len() - check.next));
    }
    if check.complaints.is_empty() {
        return None;
    }
    check.complaints.push(format!("what happens:\n{}", summary(system, run)));
    Some(check.complaints.join("\n  "))
}

impl Expectation<'_> {
    fn says(&self, text: &str, part: &str) -> Result<(), String> {
        if text.contains(part.trim()) { Ok(()) } else { Err(format!("it says `{text}`")) }
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let text = line.trim();
        if line.starts_with(' ') {
            return self.change(text);
        }
        match text.split_once(' ') {
            _ if text == "..." => {
                (self.skips, self.counts_events) = (true, true);
                Ok(())
            }
            _ if text == "none" => {
                self.counts_events = true;
                Ok(())
            }
            Some(("final", rest)) => self.value(rest, &self.run.values),
            Some(("mode", rest)) => self.mode(rest),
            Some(("at", rest)) => self.sample(rest),
            _ => self.event(text),
        }
    }

    fn close(&self, actual: f64, expected: &str) -> Result<(), String> {
        let wanted = number(expected)?;
        let slack = self.tolerance * wanted.abs().max(1.0);
        if (actual - wanted).abs() <= slack { Ok(()) } else { Err(format!("it is {actual}, not {wanted}")) }
    }

    fn variable(&self, name: &str) -> Result<usize, String> {
        let found = self.system.variables.iter().position(|v| v.name == name.trim());
        found.ok_or_else(|| format!("there is no variable `{name}`"))
    }

    /// `x = 3.5`.
    fn value(&self, text: &str, values: &[f64]) -> Result<(), String> {
        let (name, expected) = text.split_once(" = ").ok_or("expected `name = value`")?;
        self.close(values[self.variable(name)?], expected)
    }

    /// `Automaton = Mode`, or `-` for an automaton that is not active.
    fn mode(&self, text: &str) -> Result<(), String> {
        let (name, expected) = text.split_once(" = ").ok_or("expected `automaton = mode`")?;
        let automaton = self.system.automata.iter().position(|a| a.name == name);
        let automaton = automaton.ok_or_else(|| format!("there is no automaton `{name}`"))?;
        let mode = self.run.modes[automaton].map_or("-", |m| &self.system.mode(m).name);
        if mode == expected { Ok(()) } else { Err(format!("it is in {mode}")) }
    }

    /// `0.5: x = 3`: the value at a time, after all jumps there.
    fn sample(&self, text: &str) -> Result<(), String> {
        let (time, rest) = text.split_once(": ").ok_or("expected `at time: name = value`")?;
        let time = number(time)?;
        let sampling = if time > 0.0 { Sampling::Every(time) } else { Sampling::PerSegment(0) };
        let mut values = None;
        self.run.trace.walk(sampling, |point| {
            if point.stamp.t == time {
                values = Some(point.values[..self.system.variables.len()].to_vec());
            }
        });
        self.value(rest, &values.ok_or("the run does not get there")?)
    }

    /// `t n i kind name`.
    fn event(&mut self, text: &str) -> Result<(), String> {
        self.counts_events = true;
        let mut words = text.splitn(5, ' ');
        let mut word = || words.next().ok_or("expected `t n i kind name`");
        let (t, n, i, kind, name) = (word()?, word()?, word()?, word()?, word()?);
        let stamp = [n, i].map(|w| w.parse::<u32>().map_err(|e| e.to_string()));
        let (n, i) = (stamp[0].clone()?, stamp[1].clone()?);
        let first = self.next;
        let last = if self.skips { self.run.events.len() } else { (first + 1).min(self.run.events.len()) };
        let mut reason = String::from("no event is left");
        for k in first..last {
            let e = &self.run.events[k];
            let same = (e.stamp.n, e.stamp.i, e.kind.word(), &*e.name) == (n, i, kind, name);
            match self.close(e.stamp.t, t) {
                Ok(()) if same => {
                    (self.next, self.skips) = (k + 1, false);
                    return Ok(());
                }
                Ok(()) => reason = format!("it is `{}`", event_line(self.run, k)),
                Err(problem) => reason = problem,
            }
        }
        self.next = last;
        Err(reason)
    }

    /// `x: before -> after`, about the event of the line above.
    fn change(&self, text: &str) -> Result<(), String> {
        let parts = text.split_once(": ").and_then(|(name, rest)| Some((name, rest.split_once(" -> ")?)));
        let (name, (before, after)) = parts.ok_or("expected `name: before -> after`")?;
        let variable = self.variable(name)?;
        let event = self.next.checked_sub(1).and_then(|k| self.run.events.get(k)).ok_or("no event")?;
        let changes = self.run.changes_of(event);
        let change = changes.iter().find(|c| c.variable.index() == variable).ok_or("it is not assigned")?;
        self.close(change.before, before)?;
        self.close(change.after, after)
    }
}

fn event_line(run: &Run, k: usize) -> String {
    let e = &run.events[k];
    format!("{} {} {} {} {}", e.stamp.t, e.stamp.n, e.stamp.i, e.kind.word(), e.name)
}

/// What happened, in the notation of the pages.
fn summary(system: &HybridSystem, run: &Run) -> String {
    let mut text = format!("status: {}\nreason: {}\n", run.ending.status.word(), run.ending.reason);
    let _ = writeln!(text, "(ended at {:?})", run.ending.stamp);
    for k in 0..run.events.len().min(40) {
        let _ = writeln!(text, "{}", event_line(run, k));
        for c in run.changes_of(&run.events[k]) {
            let _ = writeln!(text, "  {}: {} -> {}", system.variable(c.variable).name, c.before, c.after);
        }
    }
    if run.events.len() > 40 {
        let _ = writeln!(text, "... ({} events)", run.events.len());
    }
    for (variable, value) in system.variables.iter().zip(&run.values) {
        if !matches!(variable.kind, VariableKind::Time | VariableKind::Parameter) {
            let _ = writeln!(text, "final {} = {value}", variable.name);
        }
    }
    for (automaton, mode) in system.automata.iter().zip(&run.modes) {
        let _ = writeln!(text, "mode {} = {}", automaton.name, mode.map_or("-", |m| &system.mode(m).name));
    }
    run.notes.iter().for_each(|n| {
        let _ = writeln!(text, "note: {}", n.text);
    });
    text
}
