//! Elaboration: from text to flat systems and diagnostics.

#[path = "elaborate/dump.rs"]
mod dump;

#[path = "elaborate/arrays.rs"]
mod arrays;
#[path = "elaborate/components.rs"]
mod components;
#[path = "elaborate/diagnostics.rs"]
mod diagnostics;
#[path = "elaborate/flat.rs"]
mod flat;
#[path = "elaborate/helicopter.rs"]
mod helicopter;
#[path = "elaborate/units.rs"]
mod units;

use saltus_lang::{Compiled, Severity, compile};

/// Compiles a text that uses no other files.
fn compile_text(text: &str) -> Compiled {
    compile("test.salt", text, None, &|path| Err(format!("no file {path}")))
}

/// The dump of a text that must have no errors.
#[track_caller]
fn dumped(text: &str) -> String {
    let compiled = compile_text(text);
    match compiled.system {
        Some(system) => dump::dump(&system),
        None => panic!("unexpected errors:\n{}", findings(&compile_text(text), true)),
    }
}

/// Codes with the marked text, one per line; warnings on demand.
fn findings(compiled: &Compiled, warnings: bool) -> String {
    let shown = compiled.diagnostics.iter().filter(|d| warnings || d.severity == Severity::Error);
    shown
        .map(|d| {
            let (line, _) = compiled.sources.line_column(d.span);
            format!("{} {line} `{}`: {}", d.code, compiled.sources.text(d.span), d.message)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Requires that a text elaborates to the dump, line by line, blanks at line starts aside.
#[track_caller]
fn check(text: &str, expected: &str) {
    let trimmed = |s: &str| s.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&dumped(text)), trimmed(expected));
}
