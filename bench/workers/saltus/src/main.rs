//! Answers timing requests for Saltus.
//!
//! Each line of standard input asks `problem tolerance repetitions`; each line of the answer is one
//! JSON object with the processor seconds of all repetitions and the final state of the last one.
//! `compile` is what preparing took: reading the text and making its code. With `:call` after the
//! problem each repetition also makes the code, as a first call does; with `:adams` or `:rk` another
//! solver is used, with `:interpolation`, `:certified` and so on another event method. `file.Model`
//! is one of several models of a file. What follows the repetitions are starting values,
//! `name=value`, and the word `log`, which asks for one more run and the configurations it passes.
//! The argument `--vm` forbids native code, which is otherwise used from the first step on;
//! `--order N` fixes the order.

use cpu_time::ProcessTime;
use saltus_model::{HybridSystem, VariableKind};
use saltus_sim::{Options, Recording, Role, Run, Sampling, SimError, Simulator, Status, simulate};
use std::collections::HashMap;
use std::io::{BufRead, Write};

/// What the arguments ask for.
#[derive(Clone, Copy)]
struct Settings {
    native: bool,
    order: Option<usize>,
}

/// A model ready to be run.
struct Prepared {
    system: &'static HybridSystem,
    simulator: Simulator<'static>,
    options: Options,
    compile_seconds: f64,
}

fn model_text(file: &str) -> Option<&'static str> {
    Some(match file {
        "lorenz" => include_str!("../../../models/lorenz.salt"),
        "lorenz_guards" => include_str!("../../../models/lorenz_guards.salt"),
        "vanderpol" => include_str!("../../../models/vanderpol.salt"),
        "brusselator" => include_str!("../../../models/brusselator.salt"),
        "figure_eight" => include_str!("../../../models/figure_eight.salt"),
        "linear" => include_str!("../../../models/linear.salt"),
        "ball" => include_str!("../../../models/ball.salt"),
        "cars" => include_str!("../../../../reproduce/bumper_cars.salt"),
        "arm" => include_str!("../../../../reproduce/arm.salt"),
        "corridor" => include_str!("../../../../reproduce/corridor.salt"),
        _ => return None,
    })
}

/// Absolute tolerance: that of the model files where they give one.
fn absolute(file: &str, tolerance: f64) -> f64 {
    match file {
        "ball" => 1e-3 * tolerance,
        "cars" | "arm" | "corridor" => 1e-2 * tolerance,
        _ => tolerance,
    }
}

fn prepare(problem: &str, tolerance: f64, settings: Settings) -> Result<Prepared, String> {
    let started = ProcessTime::now();
    let (file, model) = problem.split_once('.').map_or((problem, None), |(file, model)| (file, Some(model)));
    let text = model_text(file).ok_or("unknown problem")?;
    let compiled = saltus_lang::compile(problem, text, model, &|_| Err("no files".into()));
    let complaint = || format!("{problem}: {:?}", compiled.diagnostics);
    let system: &'static HybridSystem = Box::leak(Box::new(compiled.system.ok_or_else(complaint)?));
    let options = Options {
        rtol: tolerance,
        atol: absolute(file, tolerance),
        recording: Recording::Events,
        order: settings.order,
        native_after: settings.native.then_some(0),
        ..Options::default()
    };
    let mut simulator = Simulator::new(system);
    // Native code is made by the first steps of a run.
    let first = Options { until: Some(1e-9), ..options.clone() };
    simulator.run(first).map_err(|e| e.to_string())?;
    Ok(Prepared { system, simulator, options, compile_seconds: started.elapsed().as_secs_f64() })
}

/// Processor seconds of some runs, and the last of them, which may end where its model does.
fn time(repetitions: usize, mut once: impl FnMut() -> Result<Run, SimError>) -> Result<(f64, Run), String> {
    let mut last = None;
    let started = ProcessTime::now();
    for _ in 0..repetitions {
        last = Some(once().map_err(|e| e.to_string())?);
    }
    let seconds = started.elapsed().as_secs_f64();
    let run = last.ok_or("no repetitions")?;
    if !(run.ending.status.is_success() || run.ending.status == Status::LeftDomain) {
        return Err(run.ending.reason);
    }
    Ok((seconds, run))
}

/// The values of one kind of variables as a JSON array, in the order of their declaration.
fn values_of(kind: VariableKind, system: &HybridSystem, values: &[f64]) -> String {
    let chosen = system.variables.iter().zip(values).filter(|(v, _)| v.kind == kind);
    let numbers: Vec<String> = chosen.map(|(_, x)| format!("{x:e}")).collect();
    format!("[{}]", numbers.join(","))
}

/// The start, what holds after each event, and the end: lines `[time, [states], [memories]]`.
fn log(system: &HybridSystem, run: &Run) -> String {
    let line = |t: f64, values: &[f64]| {
        let [states, memories] =
            [VariableKind::State, VariableKind::Memory].map(|kind| values_of(kind, system, values));
        format!("[{t:e},{states},{memories}]")
    };
    let mut lines = Vec::new();
    run.trace.walk(Sampling::PerSegment(0), |point| {
        if point.role == Role::Start {
            lines.push(line(point.stamp.t, point.values));
        }
    });
    lines.push(line(run.ending.stamp.t, &run.values));
    format!("[{}]", lines.join(","))
}

/// Sets a solver or event method by its name.
fn set_method(options: &mut Options, name: &str) -> Result<(), String> {
    if let Ok(solver) = name.parse() {
        options.solver = solver;
    } else {
        options.events = Some(name.parse().map_err(|_| format!("no method `{name}`"))?);
    }
    Ok(())
}

fn answer(line: &str, settings: Settings, known: &mut HashMap<String, Prepared>) -> Result<String, String> {
    let mut words = line.split_whitespace();
    let mut names = words.next().ok_or("no problem")?.split(':');
    let problem = names.next().ok_or("no problem")?;
    let tolerance: f64 = words.next().and_then(|w| w.parse().ok()).ok_or("no tolerance")?;
    let repeat: usize = words.next().and_then(|w| w.parse().ok()).ok_or("no repetitions")?;
    let key = format!("{problem} {tolerance:e}");
    if !known.contains_key(&key) {
        known.insert(key.clone(), prepare(problem, tolerance, settings)?);
    }
    let Prepared { system, simulator, options, compile_seconds } =
        known.get_mut(&key).ok_or("unknown problem")?;
    let mut options = options.clone();
    let mut is_call = false;
    for name in names {
        match name {
            "call" => is_call = true,
            _ => set_method(&mut options, name)?,
        }
    }
    let mut is_logged = false;
    for word in words {
        if word == "log" {
            is_logged = true;
            continue;
        }
        let (name, value) = word.split_once('=').ok_or("a starting value is name=value")?;
        options.set.push((name.into(), value.parse().map_err(|_| format!("{word} is no number"))?));
    }
    let (cpu, run) = if is_call {
        time(repeat, || simulate(system, Options { native_after: Some(1000), ..options.clone() }))?
    } else {
        time(repeat, || simulator.run(options.clone()))?
    };
    let log = if is_logged {
        let recorded = simulator.run(Options { recording: Recording::All, ..options });
        format!(",\"log\":{}", log(system, &recorded.map_err(|e| e.to_string())?))
    } else {
        String::new()
    };
    let y = values_of(VariableKind::State, system, &run.values);
    let (steps, events) = (run.stats.steps, run.events.len());
    Ok(format!(
        "{{\"cpu\":{cpu:e},\"repeat\":{repeat},\"compile\":{compile_seconds:e},\"steps\":{steps},\"events\":{events},\"y\":{y}{log}}}"
    ))
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let order =
        arguments.iter().position(|a| a == "--order").and_then(|i| arguments.get(i + 1)?.parse().ok());
    let settings = Settings { native: !arguments.contains(&"--vm".to_string()), order };
    let mut known = HashMap::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match answer(&line?, settings, &mut known) {
            Ok(text) => writeln!(out, "{text}")?,
            Err(why) => writeln!(out, "{{\"error\":{why:?}}}")?,
        }
        out.flush()?;
    }
    Ok(())
}
