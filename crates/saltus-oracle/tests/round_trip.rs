//! Random systems printed as text and compiled again mean the same: the language, its elaboration
//! and the printer agree on every construct that has a form in the text.

use saltus_model::HybridSystem;
use saltus_oracle::random::{random_system, random_text};
use saltus_oracle::{Event, Limits, Outcome, Rational, run};

/// A record in words that do not depend on how the system was made.
fn words(system: &HybridSystem, e: &Event) -> String {
    let mode = |m: Option<saltus_model::ModeId>| m.map_or("", |m| system.mode(m).name.as_str());
    let values: Vec<&Rational> = e.after.iter().map(|(_, value)| value).collect();
    let (kind, from, to) = (e.kind.word(), mode(e.from), mode(e.to));
    format!("({}, {}, {}) {kind} {from} -> {to} {values:?}", e.t, e.n, e.i)
}

fn report(system: &HybridSystem, outcome: &Outcome) -> Vec<String> {
    let end = format!("{} {:?}", outcome.status.word(), outcome.stop);
    outcome.events.iter().map(|e| words(system, e)).chain([end]).collect()
}

#[test]
fn printed_systems_mean_the_same_when_compiled() {
    let limits = Limits { rounds_per_instant: 60, events: 400 };
    let mut compared = 0;
    for seed in 0..400 {
        let random = random_system(seed);
        let text = random_text(seed);
        let compiled = saltus_lang::compile("random.salt", &text, None, &|path| Err(path.into())).system;
        // Entry times, a condition behind a guard, variables and modes of other modes have no form.
        let Some(compiled) = compiled else { continue };
        let go = |system| run(system, random.until.clone(), random.policy, limits);
        match (go(&random.system), go(&compiled)) {
            (Ok(direct), Ok(through_text)) => {
                let (a, b) = (report(&random.system, &direct), report(&compiled, &through_text));
                assert_eq!(a, b, "{text}");
                compared += 1;
            }
            (direct, through_text) => assert_eq!(direct.is_err(), through_text.is_err(), "{text}"),
        }
    }
    assert!(compared > 200, "only {compared} of 400 texts could be compared");
}
