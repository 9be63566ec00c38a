//! Answers timing requests for diffsol: the bouncing ball with the explicit method Tsit45.
//!
//! Each line of standard input asks `problem tolerance repetitions`; each line of the answer is one
//! JSON object with the processor seconds of all repetitions and the final state of the last one.
//! At a bounce the ball is lifted to the smallest positive height that counts: started exactly on
//! the floor the solver loses it after one or two bounces.

use cpu_time::ProcessTime;
use diffsol::{
    DiffsolError, NalgebraContext, NalgebraMat, NalgebraVec, OdeBuilder, OdeEquationsImplicit,
    OdeSolverMethod, OdeSolverProblem, OdeSolverStopReason, Vector,
};
use std::io::{BufRead, Write};

type Matrix = NalgebraMat<f64>;
type Values = NalgebraVec<f64>;

const GRAVITY: f64 = 9.81;
const RESTITUTION: f64 = 0.8;
const T_END: f64 = 12.0;

/// The end of a run.
struct Outcome {
    y: Vec<f64>,
    steps: usize,
    bounces: usize,
}

fn problem(
    tolerance: f64,
) -> Result<
    OdeSolverProblem<impl OdeEquationsImplicit<M = Matrix, V = Values, T = f64, C = NalgebraContext>>,
    DiffsolError,
> {
    OdeBuilder::<Matrix>::new()
        .rtol(tolerance)
        .atol(vec![1e-3 * tolerance; 2])
        .rhs_implicit(
            |y: &[f64], _: &[f64], _: f64, d: &mut [f64]| {
                d[0] = y[1];
                d[1] = -GRAVITY;
            },
            |_: &[f64], _: &[f64], _: f64, v: &[f64], d: &mut [f64]| {
                d[0] = v[1];
                d[1] = 0.0;
            },
        )
        .init(|_: &[f64], _: f64, y: &mut [f64]| y.copy_from_slice(&[10.0, 0.0]), 2)
        .root(|y: &[f64], _: &[f64], _: f64, g: &mut [f64]| g[0] = y[0], 1)
        .build()
}

/// Runs the ball once.
fn run<'a, E, S>(mut solver: S) -> Result<Outcome, DiffsolError>
where
    E: OdeEquationsImplicit<M = Matrix, V = Values, T = f64, C = NalgebraContext> + 'a,
    S: OdeSolverMethod<'a, E>,
{
    let (mut steps, mut bounces) = (0, 0);
    solver.set_stop_time(T_END)?;
    while steps < 100_000 {
        steps += 1;
        match solver.step()? {
            OdeSolverStopReason::InternalTimestep => {}
            OdeSolverStopReason::TstopReached => break,
            OdeSolverStopReason::RootFound(t, _) => {
                bounces += 1;
                solver.state_mut_back(t)?;
                let y = solver.state().y.clone_as_vec();
                let v = -RESTITUTION * y[1];
                let context = NalgebraContext::default();
                let state = solver.state_mut();
                state.y.copy_from(&Values::from_vec(vec![y[0].max(f64::EPSILON), v], context));
                state.dy.copy_from(&Values::from_vec(vec![v, -GRAVITY], context));
                solver.set_stop_time(T_END)?;
            }
        }
    }
    Ok(Outcome { y: solver.state().y.clone_as_vec(), steps, bounces })
}

fn answer(line: &str) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, tolerance, repeat] = words[..] else { return Err("three words are needed".into()) };
    if name != "ball" {
        return Err("unknown problem".into());
    }
    let tolerance: f64 = tolerance.parse().map_err(|_| "no tolerance")?;
    let repeat: usize = repeat.parse().map_err(|_| "no repetitions")?;
    let started = ProcessTime::now();
    let problem = problem(tolerance).map_err(|e| e.to_string())?;
    let compile = started.elapsed().as_secs_f64();
    let mut outcome = None;
    let started = ProcessTime::now();
    for _ in 0..repeat {
        let solver = problem.tsit45().map_err(|e| e.to_string())?;
        outcome = Some(run(solver).map_err(|e| e.to_string())?);
    }
    let cpu = started.elapsed().as_secs_f64();
    let Outcome { y, steps, bounces } = outcome.ok_or("no repetitions")?;
    Ok(format!(
        "{{\"cpu\":{cpu:e},\"repeat\":{repeat},\"compile\":{compile:e},\"steps\":{steps},\"events\":{bounces},\"y\":[{:e},{:e}]}}",
        y[0], y[1]
    ))
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match answer(&line?) {
            Ok(text) => writeln!(out, "{text}")?,
            Err(why) => writeln!(out, "{{\"error\":{why:?}}}")?,
        }
        out.flush()?;
    }
    Ok(())
}
