//! Standard output and standard error.
//!
//! A reader that has gone away (`saltus ... | head`) is no reason to fail: what cannot be written is
//! dropped, and the exit code still tells how the command ended. Anything else that keeps results
//! from being written, such as a full disk, is remembered, and makes the command fail at its end.

use crate::Outcome;
use crate::json::{self, Json};
use saltus::lang::render::Look;
use saltus::{Error, Fault, Status};
use std::io::{BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};
use std::sync::OnceLock;

/// Why a part of standard output was lost, if one was.
static LOSS: OnceLock<String> = OnceLock::new();

/// Standard output that remembers a loss.
struct Watched(StdoutLock<'static>);

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        remembered(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        remembered(self.0.flush())
    }
}

fn remembered<T>(outcome: std::io::Result<T>) -> std::io::Result<T> {
    if let Err(error) = &outcome
        && !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted)
    {
        LOSS.get_or_init(|| error.to_string());
    }
    outcome
}

fn standard_output() -> BufWriter<Watched> {
    BufWriter::new(Watched(std::io::stdout().lock()))
}

/// How a command ended, given that its results had to be written.
pub fn delivered(outcome: Outcome) -> Outcome {
    let Some(reason) = LOSS.get() else { return outcome };
    complain(&format!("saltus: standard output cannot be written: {reason}\n"));
    if outcome == Outcome::Done { Outcome::BadInput } else { outcome }
}

/// Writes text to standard output.
pub fn print(text: &str) {
    let mut out = standard_output();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes text to standard error.
pub fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes one JSON value and a line end to standard output.
pub fn print_json(write: impl FnOnce(&mut Json<&mut dyn Write>)) {
    let mut out = standard_output();
    write(&mut Json::new(&mut out as &mut dyn Write));
    let _ = out.write_all(b"\n").and_then(|()| out.flush());
}

/// How diagnostics look on standard error.
pub fn look() -> Look {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    if std::io::stderr().is_terminal() && !plain { Look::Coloured } else { Look::Plain }
}

/// Reports errors found before a run: a line for each, and the JSON object if that was asked for.
pub fn refuse(faults: &[Fault], json: bool) {
    if json {
        print_json(|j| refusal(j, None, faults));
    }
    for fault in faults {
        complain(&format!("saltus: {fault}\n"));
    }
}

/// Reports an error found before a run, with the lines of the model it is about.
pub fn refuse_error(error: &Error, model: Option<&str>, json: bool) {
    let faults = error.faults();
    if json {
        print_json(|j| refusal(j, model, &faults));
    }
    match error {
        Error::Model { .. } => {
            complain(&error.render(look()));
            let count = faults.len();
            complain(&format!("saltus: {count} error{} in the model\n", if count == 1 { "" } else { "s" }));
        }
        _ => faults.iter().for_each(|fault| complain(&format!("saltus: {fault}\n"))),
    }
}

/// The JSON object of a run that did not begin.
fn refusal<W: Write>(j: &mut Json<W>, model: Option<&str>, faults: &[Fault]) {
    let place = faults.first().and_then(|f| f.place.as_ref());
    j.object(|j| {
        j.key("model").optional_text(model);
        j.key("status").text(Status::Failed.word());
        j.key("stop").object(|j| {
            for index in ["t", "n", "i"] {
                j.key(index).null();
            }
            j.key("file").optional_text(place.map(|p| p.file.as_str()));
            j.key("line").optional_integer(place.map(|p| p.line.into()));
            j.key("reason").text(faults.first().map_or("", |f| f.message.as_str()));
        });
        j.key("events").array(|_| {});
        for empty in ["final", "modes", "stats"] {
            j.key(empty).object(|_| {});
        }
        j.key("errors").array(|j| faults.iter().for_each(|fault| json::fault(j, fault)));
        j.key("notes").array(|_| {});
    });
}
