//! The engine against the exact reference interpreter on random systems: same instants, same
//! events, same values. `SALTUS_CASES` and `SALTUS_SEED` choose how many and which.

use saltus_oracle::random::{RandomSystem, random_system, random_text};
use saltus_oracle::{Limits as OracleLimits, Outcome, Policy as OraclePolicy, Rational};
use saltus_sim::{Limits, Options, Policy, Recording, Run, simulate};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn float(r: &Rational) -> f64 {
    // Numerators and denominators of the random systems fit an f64 after a common shift.
    let (n, d) = (r.numer(), r.denom());
    let shift = n.bits().max(d.bits()).saturating_sub(1000);
    let parse = |x: &num_bigint::BigInt| (x >> shift).to_string().parse::<f64>().unwrap_or(f64::NAN);
    parse(n) / parse(d)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn engine(case: &RandomSystem, policy: Policy) -> Run {
    let options = Options {
        until: Some(float(&case.until)),
        policy,
        recording: Recording::Events,
        limits: Limits { rounds: 200, events: 2000, ..Limits::default() },
        ..Options::default()
    };
    simulate(&case.system, options).expect("a valid system")
}

/// The first difference between an exact outcome and a run, in words.
fn difference(case: &RandomSystem, exact: &Outcome, run: &Run) -> Option<String> {
    for (k, (want, got)) in exact.events.iter().zip(&run.events).enumerate() {
        let (t, n, i) = (float(&want.t), want.n as u32, want.i as u32);
        let same = close(t, got.stamp.t) && (n, i) == (got.stamp.n, got.stamp.i);
        if !same || *want.name != *got.name || want.kind.word() != got.kind.word() {
            let (w, g) =
                (format!("{} at ({t}, {n}, {i})", want.name), format!("{} at {:?}", got.name, got.stamp));
            return Some(format!("event {k}: expected {w}, got {g}"));
        }
    }
    if exact.events.len() != run.events.len() {
        let last = run.events.get(exact.events.len()).map(|e| format!("{} {:?}", e.name, e.stamp));
        let next = exact.events.get(run.events.len()).map(|e| format!("{} {}", e.name, e.t));
        let (e, r) = (exact.events.len(), run.events.len());
        return Some(format!(
            "{e} events expected, {r} found; next expected {next:?}, extra {last:?}; {:?}",
            run.ending
        ));
    }
    if exact.status.word() != run.ending.status.word() {
        return Some(format!("expected {}, got {:?}", exact.status.word(), run.ending));
    }
    for (i, variable) in case.system.variables.iter().enumerate() {
        use saltus_model::VariableKind::{Memory, State};
        let want = float(&exact.values[i]);
        if matches!(variable.kind, State | Memory) && !close(want, run.values[i]) {
            return Some(format!("{}: expected {want}, got {}", variable.name, run.values[i]));
        }
    }
    for (a, want) in exact.modes.iter().enumerate() {
        if *want != run.modes[a] {
            return Some(format!(
                "mode of {}: expected {want:?}, got {:?}",
                case.system.automata[a].name, run.modes[a]
            ));
        }
    }
    None
}

/// Events that accumulate end differently: the interpreter at its limit, the engine as Zeno.
fn both_accumulate(exact: &Outcome, run: &Run) -> bool {
    let endless = ["limit", "zeno"].contains(&run.ending.status.word());
    exact.status.word() == "limit" && endless
}

/// Both event logs of a system, for a closer look.
fn print_both(seed: u64) {
    let case = random_system(seed);
    let limits = OracleLimits { rounds_per_instant: 200, events: 2000 };
    if let Ok(exact) = saltus_oracle::run(&case.system, case.until.clone(), OraclePolicy::Eager, limits) {
        exact.events.iter().for_each(|e| eprintln!("exact  {} {} {} {}", float(&e.t), e.n, e.i, e.name));
        eprintln!("exact  {}", exact.status.word());
    }
    let run = engine(&case, Policy::Eager);
    run.events.iter().for_each(|e| eprintln!("engine {} {} {} {}", e.stamp.t, e.stamp.n, e.stamp.i, e.name));
    eprintln!("engine {:?} {:?}", run.ending, run.notes);
}

#[test]
fn engine_equals_oracle_on_random_systems() {
    let (cases, first) = (number("SALTUS_CASES", 1300), number("SALTUS_SEED", 1));
    let (mut exact_runs, mut rounded_runs, mut rounded_wrong) = (0, 0, 0);
    let mut wrong = Vec::new();
    for seed in first..first + cases {
        let case = random_system(seed);
        for (oracle_policy, policy) in
            [(OraclePolicy::Eager, Policy::Eager), (OraclePolicy::Lazy, Policy::Lazy)]
        {
            let limits = OracleLimits { rounds_per_instant: 200, events: 2000 };
            let Ok(exact) = saltus_oracle::run(&case.system, case.until.clone(), oracle_policy, limits)
            else {
                continue;
            };
            let run = engine(&case, policy);
            if both_accumulate(&exact, &run) {
                continue;
            }
            let difference = difference(&case, &exact, &run);
            if exact.is_exact_in_doubles() {
                exact_runs += 1;
                wrong.extend(difference.map(|d| (seed, policy, d)));
            } else {
                rounded_runs += 1;
                rounded_wrong += u64::from(difference.is_some());
            }
        }
    }
    for (seed, policy, difference) in wrong.iter().take(20) {
        eprintln!("seed {seed}, {policy:?}: {difference}");
    }
    if let Some((seed, ..)) = wrong.first() {
        eprintln!("{}", random_text(*seed));
        if std::env::var("SALTUS_VERBOSE").is_ok() {
            print_both(*seed);
        }
    }
    println!("seeds {first}..{}: {exact_runs} runs exact in doubles, {} differ;", first + cases, wrong.len());
    println!("{rounded_runs} runs with rounding, {rounded_wrong} differ");
    assert!(wrong.is_empty());
    assert!(exact_runs > cases, "too few systems were comparable");
    // Where numbers are rounded, events that coincide exactly may come apart; nothing else may.
    assert!(50 * rounded_wrong <= rounded_runs, "{rounded_wrong} of {rounded_runs}");
}
