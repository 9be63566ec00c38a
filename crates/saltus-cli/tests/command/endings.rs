//! How runs end: the status, the exit code, the paragraph on standard error, and what is still
//! written of a run that could not go on.

use crate::common::{BALL, Folder};

/// Runs a model and checks its ending.
fn check(model: &str, more: &[&str], status: &str, code: i32, said: &str) {
    let folder = Folder::with(model);
    let answer = folder.saltus(&[&["run", "m.salt", "--json"], more].concat());
    let report = answer.json();
    assert_eq!((report["status"].as_str(), answer.code), (Some(status), Some(code)), "{report}");
    assert!(answer.err.contains(said), "{}", answer.err);
    assert!(answer.err.lines().count() <= 1, "one paragraph: {}", answer.err);
    assert_eq!(report["errors"].as_array().unwrap().is_empty(), code == 0, "{report}");
}

#[test]
fn finished() {
    check(BALL, &[], "finished", 0, "");
}

#[test]
fn stopped_by_the_model() {
    check("model M { state x = 0; x' = 1; stop when x >= 1 \"full\" }", &[], "stopped", 0, "");
}

#[test]
fn blocked_by_an_invariant() {
    check(
        "model M { state x = 0; x' = 1; invariant x <= 1 }",
        &[],
        "blocked",
        2,
        "m.salt:1: the run is blocked at t = 1",
    );
}

#[test]
fn outside_the_domain() {
    let model = "model M {\n  state x = 1\n  x' = -1\n  domain x >= 0\n}";
    check(model, &[], "left_domain", 2, "m.salt:4: the run left the domain of the model at t = 1");
}

#[test]
fn an_assigned_value_that_does_not_exist_names_its_function() {
    let model = "model M { state x = 1; memory m = 0; x' = -1; every 1.5 when x < 1 { m := 1 + log(x) } }";
    check(
        model,
        &[],
        "failed",
        2,
        "`m` is NaN, not a finite number: in `log(x)`, the logarithm of -0.5 does not exist",
    );
}

#[test]
fn a_state_that_outgrows_the_numbers_is_not_blamed_on_the_method() {
    let model = "model M { state x = 1; x' = x^2; run { until 10 } }";
    check(model, &["--solver", "rk4", "--step", "0.01"], "left_domain", 2, "a state grows without bound");
}

#[test]
fn an_exponential_that_outgrows_the_numbers_is_not_blamed_on_roots() {
    let model = "model M { state x = 600; x' = exp(x) }";
    check(model, &[], "left_domain", 2, "its values are nearly beyond all numbers");
}

#[test]
fn a_loop_in_zero_time() {
    let model = "model M { automaton A { initial mode P { when true -> Q }; mode Q { when true -> P } } }";
    check(model, &[], "zero_time_loop", 2, "loop in zero time at t = 0");
}

#[test]
fn a_limit() {
    check(BALL, &["--max-events", "2"], "limit", 2, "the limit of 2 events was reached");
}

#[test]
fn a_limit_of_time() {
    let model = "model M {
        state x = 0
        automaton A {
            initial mode Up { x' = 1; when x >= 1 -> Down }
            mode Down { x' = -x; when x <= 0.5 -> Up }
        }
    }";
    check(model, &["--until", "1e9", "--max-seconds", "0.05"], "limit", 2, "the limit of 0.05 seconds");
}

#[test]
fn a_contradiction_while_running() {
    let model = "model M {
        state x = 0
        x' = 1
        memory m = 0
        at 1 { m := 1 }
        at 1 { m := 2 }
    }";
    check(model, &[], "failed", 2, "in the same round");
}

#[test]
fn a_run_that_fails_still_writes_what_it_has() {
    let model = "model M {\n  state x = 1\n  x' = -1\n  domain x >= 0\n  run { until 3; plot x }\n}";
    let folder = Folder::with(model);
    let answer = folder.saltus(&["run", "m.salt", "--out", "t.csv", "--sample", "0.25", "--plot", "p.svg"]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        folder.read("t.csv"),
        "t,n,i,x\n0,0,0,1\n0.25,0,0,0.75\n0.5,0,0,0.5\n0.75,0,0,0.25\n1,0,0,0\n"
    );
    assert!(folder.read("p.svg").contains("<svg"));
    assert!(answer.out.contains("p.svg") && answer.out.contains("t.csv"), "{}", answer.out);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::Stdio;
    let folder = Folder::with(BALL);
    for arguments in [&["run", "m.salt", "--json"][..], &["run", "m.salt"], &["check", "m.salt"], &["--help"]]
    {
        let mut child = folder
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the command ends");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_a_failure() {
    let folder = Folder::with(BALL);
    for arguments in [
        &["run", "m.salt", "--json"][..],
        &["run", "m.salt"],
        &["run", "none.salt", "--json"],
        &["check", "m.salt"],
        &["check", "m.salt", "--json"],
        &["graph", "m.salt"],
        &["--version"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        let output = folder.command(arguments).stdout(full).output().expect("the command ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("standard output cannot be written: "), "{arguments:?}: {said}");
    }
}
