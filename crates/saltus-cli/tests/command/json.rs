//! The JSON report: its shape for runs that go well, that cannot go on, and that cannot begin.

use crate::common::{BALL, Folder};
use serde_json::Value;

const KEYS: [&str; 9] = ["model", "status", "stop", "events", "final", "modes", "stats", "errors", "notes"];

fn check_shape(report: &Value) {
    for key in KEYS {
        assert!(report.get(key).is_some(), "no `{key}` in {report}");
    }
    for key in ["t", "n", "i", "file", "line", "reason"] {
        assert!(report["stop"].get(key).is_some(), "no `{key}` in {}", report["stop"]);
    }
    for event in report["events"].as_array().unwrap() {
        for key in ["t", "n", "i", "kind", "name", "agents", "from", "to", "file", "line", "before", "after"]
        {
            assert!(event.get(key).is_some(), "no `{key}` in {event}");
        }
    }
    for error in report["errors"].as_array().unwrap() {
        for key in ["code", "message", "file", "line", "column", "hint"] {
            assert!(error.get(key).is_some(), "no `{key}` in {error}");
        }
    }
}

#[test]
fn a_finished_run_tells_its_events_and_final_values() {
    let answer = Folder::with(BALL).saltus(&["run", "m.salt", "--json"]);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    assert_eq!(answer.err, "");
    let report = answer.json();
    check_shape(&report);
    assert_eq!(report["model"], "Ball");
    assert_eq!(report["status"], "finished");
    assert_eq!(report["stop"]["t"].as_f64(), Some(5.0));
    let first = &report["events"][0];
    let impact = (2.0 * 10.0 / 9.81_f64).sqrt();
    assert!((first["t"].as_f64().unwrap() - impact).abs() < 1e-9);
    assert_eq!((first["n"].as_u64(), first["i"].as_u64()), (Some(1), Some(0)));
    assert_eq!(
        (&first["kind"], &first["file"], first["line"].as_u64()),
        (&Value::from("reaction"), &Value::from("m.salt"), Some(5))
    );
    let (before, after) = (first["before"]["v"].as_f64().unwrap(), first["after"]["v"].as_f64().unwrap());
    assert!((before + 9.81 * impact).abs() < 1e-9 && after == -0.8 * before);
    assert!(first["before"].get("x").is_none(), "only what changed: {first}");
    assert!(report["final"]["x"].is_f64() && report["final"].get("g").is_none());
    assert!(report["stats"]["steps"].as_u64().unwrap() > 0);
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(0));
}

#[test]
fn transitions_tell_their_modes() {
    let model = "\
model M {
    state x = 0
    memory hot = false, count = 0
    automaton Heater {
        initial mode On { x' = 1; when x >= 1 -> Off { hot := true; count := count + 1 } }
        mode Off { x' = -1 }
    }
    run { until 1.5 }
}
";
    let report = Folder::with(model).saltus(&["run", "m.salt", "--json"]).json();
    check_shape(&report);
    let event = &report["events"][0];
    assert_eq!((event["kind"].as_str(), event["automaton"].as_str()), (Some("transition"), Some("Heater")));
    assert_eq!((event["from"].as_str(), event["to"].as_str()), (Some("On"), Some("Off")));
    assert_eq!((event["n"].as_u64(), event["i"].as_u64()), (Some(0), Some(1)));
    assert_eq!(event["after"]["hot"], true);
    assert_eq!(event["before"]["count"].as_f64(), Some(0.0));
    assert_eq!(report["modes"]["Heater"], "Off");
    assert_eq!(report["final"]["hot"], true);
}

#[test]
fn errors_of_the_model_are_all_in_the_report() {
    let model = "model M {\n  state x = 0\n  x' = yy\n  when zz > 0 { x := 1 }\n}\n";
    let answer = Folder::with(model).saltus(&["run", "m.salt", "--json"]);
    assert_eq!(answer.code, Some(1));
    let report = answer.json();
    check_shape(&report);
    assert_eq!(report["status"], "failed");
    let errors = report["errors"].as_array().unwrap();
    let lines: Vec<_> = errors.iter().map(|e| e["line"].as_u64()).collect();
    assert_eq!(lines, [Some(3), Some(4)]);
    assert_eq!((errors[0]["code"].as_str(), errors[0]["file"].as_str()), (Some("E101"), Some("m.salt")));
    assert!(answer.err.contains("m.salt:3"), "{}", answer.err);
}

#[test]
fn a_mistake_in_the_arguments_is_a_report_as_well() {
    let answer = Folder::with(BALL).saltus(&["run", "m.salt", "--json", "--untill", "3"]);
    assert_eq!(answer.code, Some(1));
    let report = answer.json();
    check_shape(&report);
    assert_eq!(report["errors"][0]["hint"], "did you mean `--until`?");
}

#[test]
fn a_missing_file_is_a_report_as_well() {
    let answer = Folder::new().saltus(&["run", "none.salt", "--json"]);
    assert_eq!(answer.code, Some(1));
    let report = answer.json();
    check_shape(&report);
    assert!(report["stop"]["reason"].as_str().unwrap().contains("there is no such file"));
}

#[test]
fn names_and_messages_are_escaped() {
    let model = "model M { state x = 0; x' = 1; stop when x >= 1 \"the \\\"end\\\" \u{3c6}\" }";
    let report = Folder::with(model).saltus(&["run", "m.salt", "--json"]).json();
    assert_eq!(report["status"], "stopped");
    assert!(report["stop"]["reason"].as_str().unwrap().contains('\u{3c6}'), "{report}");
}

#[test]
fn check_describes_a_model() {
    let answer = Folder::with(BALL).saltus(&["check", "m.salt", "--json"]);
    assert_eq!(answer.code, Some(0), "{}", answer.err);
    let report = answer.json();
    assert_eq!(report["states"][0]["name"], "x");
    assert_eq!(report["states"][0]["value"].as_f64(), Some(10.0));
    assert_eq!(report["guards"][0]["kind"], "edge");
    assert_eq!(report["guards"][0]["text"], "when x <= 0 and v < 0");
}

#[test]
fn check_tells_every_error() {
    let answer = Folder::with("model M { x' = 1; y' = 2 }").saltus(&["check", "m.salt", "--json"]);
    assert_eq!(answer.code, Some(1));
    let report = answer.json();
    assert_eq!(report["status"], "failed");
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(2), "{report}");
}
