//! Any text: compile it, and if it is a model, run it within narrow limits. Nothing may panic, hang
//! or run out of memory; a run must end with a status.
#![no_main]

use libfuzzer_sys::fuzz_target;
use saltus_sim::{Limits, Options, simulate};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let compiled = saltus_lang::compile("fuzz.salt", text, None, &|_| Err("no files here".into()));
    let Some(system) = compiled.system else { return };
    if system.variables.len() > 200 {
        return;
    }
    let limits = Limits { steps: 200, events: 200, rounds: 50, seconds: 2.0, bytes: 1 << 24 };
    for rtol in [1e-3, 1e-9] {
        let options = Options { until: Some(3.0), rtol, limits, ..Options::default() };
        if let Ok(run) = simulate(&system, options) {
            assert!(!run.ending.reason.is_empty() || run.ending.status.is_success());
        }
    }
});
