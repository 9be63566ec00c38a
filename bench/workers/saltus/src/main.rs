//! Answers timing requests for Saltus.
//!
//! Each line of standard input asks `problem tolerance repetitions`; each line of the answer is one
//! JSON object with the processor seconds of all repetitions and the final state of the last one.
//! `compile` is what preparing the model took: reading the text and making its code.

use cpu_time::ProcessTime;
use saltus_model::{HybridSystem, VariableKind};
use saltus_sim::{Options, Recording, Run, simulate};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::Duration;

/// A model ready to be run.
struct Prepared {
    system: HybridSystem,
    options: Options,
    read: Duration,
}

/// What some repetitions cost.
struct Measured {
    run: Run,
    /// Processor seconds of complete calls.
    calls: f64,
    /// Processor seconds of the simulation alone.
    warm: f64,
}

fn model_text(problem: &str) -> Option<&'static str> {
    Some(match problem {
        "lorenz" => include_str!("../../../models/lorenz.salt"),
        "vanderpol" => include_str!("../../../models/vanderpol.salt"),
        "brusselator" => include_str!("../../../models/brusselator.salt"),
        "figure_eight" => include_str!("../../../models/figure_eight.salt"),
        "linear" => include_str!("../../../models/linear.salt"),
        "ball" => include_str!("../../../models/ball.salt"),
        _ => return None,
    })
}

fn prepare(problem: &str, tolerance: f64) -> Result<Prepared, String> {
    let started = ProcessTime::now();
    let text = model_text(problem).ok_or("unknown problem")?;
    let compiled = saltus_lang::compile(problem, text, None, &|_| Err("no files".into()));
    let complaint = || format!("{problem}: {:?}", compiled.diagnostics);
    let system = compiled.system.ok_or_else(complaint)?;
    let atol = if problem == "ball" { 1e-3 * tolerance } else { tolerance };
    let options = Options { rtol: tolerance, atol, recording: Recording::Events, ..Options::default() };
    Ok(Prepared { system, options, read: started.elapsed() })
}

/// Runs a model some times. Calls that stop at once are taken off, so that what remains is the
/// simulation alone.
fn measure(prepared: &Prepared, repetitions: usize) -> Result<Measured, String> {
    let (calls, run) = time_calls(prepared, repetitions, prepared.options.until)?;
    let (starts, _) = time_calls(prepared, repetitions, Some(0.0))?;
    Ok(Measured { run, calls, warm: (calls - starts).max(0.0) })
}

fn time_calls(prepared: &Prepared, repetitions: usize, until: Option<f64>) -> Result<(f64, Run), String> {
    let mut last = None;
    let started = ProcessTime::now();
    for _ in 0..repetitions {
        let options = Options { until, ..prepared.options.clone() };
        last = Some(simulate(&prepared.system, options).map_err(|e| e.to_string())?);
    }
    let seconds = started.elapsed().as_secs_f64();
    let run = last.ok_or("no repetitions")?;
    if !run.ending.status.is_success() {
        return Err(run.ending.reason);
    }
    Ok((seconds, run))
}

/// The final states as a JSON array, in the order of their declaration.
fn final_states(system: &HybridSystem, run: &Run) -> String {
    let states = system.variables.iter().zip(&run.values).filter(|(v, _)| v.kind == VariableKind::State);
    let numbers: Vec<String> = states.map(|(_, x)| format!("{x:e}")).collect();
    format!("[{}]", numbers.join(","))
}

fn answer(line: &str, known: &mut HashMap<String, Prepared>) -> Result<String, String> {
    let mut words = line.split_whitespace();
    let problem = words.next().ok_or("no problem")?;
    let tolerance: f64 = words.next().and_then(|w| w.parse().ok()).ok_or("no tolerance")?;
    let repetitions: usize = words.next().and_then(|w| w.parse().ok()).ok_or("no repetitions")?;
    let key = format!("{problem} {tolerance:e}");
    if !known.contains_key(&key) {
        known.insert(key.clone(), prepare(problem, tolerance)?);
    }
    let prepared = &known[&key];
    let Measured { run, calls, warm } = measure(prepared, repetitions)?;
    let compile = prepared.read.as_secs_f64() + run.stats.compile_seconds;
    let y = final_states(&prepared.system, &run);
    let (steps, events) = (run.stats.steps, run.events.len());
    Ok(format!(
        "{{\"cpu\":{warm:e},\"call\":{calls:e},\"repeat\":{repetitions},\"compile\":{compile:e},\"steps\":{steps},\"events\":{events},\"y\":{y}}}"
    ))
}

fn main() -> std::io::Result<()> {
    let mut known = HashMap::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match answer(&line?, &mut known) {
            Ok(text) => writeln!(out, "{text}")?,
            Err(why) => writeln!(out, "{{\"error\":{why:?}}}")?,
        }
        out.flush()?;
    }
    Ok(())
}
