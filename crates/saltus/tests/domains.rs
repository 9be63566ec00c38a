//! Every function that does not exist everywhere ends a run at its edge, by every method that looks
//! nowhere it has not tested: with the function, its place in the text, the time, and a last state at
//! which it exists.

use saltus::{EventMethod, Loader, Run, Solver, Status};
use std::f64::consts::FRAC_PI_2;

/// A function of x, where it ends to exist as x rises, and what the report calls it.
const FUNCTIONS: [(&str, f64, &str); 16] = [
    ("sqrt(1 - x)", 1.0, "sqrt(1 - x)"),
    ("log(1 - x)", 1.0, "log(1 - x)"),
    ("asin(x)", 1.0, "asin(x)"),
    ("acos(x)", 1.0, "acos(x)"),
    ("atanh(x)", 1.0, "atanh(x)"),
    ("acosh(2 - x)", 1.0, "acosh(2 - x)"),
    ("tan(x)", FRAC_PI_2, "tan(x)"),
    ("cos(x) * tan(x)", FRAC_PI_2, "tan(x)"),
    ("1 / (1 - x)", 1.0, "1 / (1 - x)"),
    ("(1 - x)^1.5", 1.0, "(1 - x)^1.5"),
    ("(1 - x)^(-2)", 1.0, "(1 - x)^(-2)"),
    ("(1 - x)^(1 + x)", 1.0, "(1 - x)^(1 + x)"),
    ("sqrt(min(1 - x, 3))", 1.0, "sqrt(min(1 - x, 3))"),
    ("table(x, [0, 0.4, 1], [0, 2, 1], extrapolation = \"none\")", 1.0, "table(x)"),
    ("table(x, [0, 1], [0, 2], interpolation = \"hold\", extrapolation = \"none\")", 1.0, "table(x)"),
    (
        "table2(x, y / 100, [0, 1], [0, 1], [[0, 1], [2, 4]], extrapolation = \"none\")",
        1.0,
        "table2(x, y / 100)",
    ),
];

/// Those that look nowhere they have not tested.
const CAREFUL: [(Solver, EventMethod); 3] = [
    (Solver::Taylor, EventMethod::Extrapolation),
    (Solver::Taylor, EventMethod::Certified),
    (Solver::Adams, EventMethod::Extrapolation),
];

fn run(text: &str, (solver, method): (Solver, EventMethod)) -> (Run, Option<u32>) {
    let model = Loader::default().text("model.salt", text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut options = model.options().expect("options");
    (options.solver, options.events, options.limits.steps) = (solver, Some(method), 2000);
    let run = model.run(options).expect("a run");
    let line = run.ending.span.map(|span| model.system().sources.line_column(span).0);
    (run, line)
}

fn check(text: &str, edge: f64, name: &str) {
    for how in CAREFUL {
        let (run, line) = run(text, how);
        let what = format!("{how:?} {text}: {:?} {:?} {:?}", run.ending, run.values, run.stats);
        assert_eq!(run.ending.status, Status::LeftDomain, "{what}");
        assert!(run.ending.reason.contains(&format!("`{name}`")), "{what}");
        assert_eq!(line, Some(4), "{what}");
        // Behind a pole the function exists again, so a step may end there by its error.
        assert!((run.ending.stamp.t - edge).abs() < 1e-9 && (run.values[1] - edge).abs() < 1e-9, "{what}");
        assert_eq!(run.stats.outside_domain_evals, 0, "{what}");
    }
}

#[test]
fn functions_in_equations_end_the_run_at_their_edge() {
    for (function, edge, name) in FUNCTIONS {
        check(
            &format!("model Edge {{\nstate x = 0, y = 0\nx' = 1\ny' = {function}\nrun {{ until 3 }} }}"),
            edge,
            name,
        );
    }
}

#[test]
fn functions_in_guards_end_the_run_at_their_edge() {
    for (function, edge, name) in FUNCTIONS {
        // A root that is compared with a number is squared away, and exists everywhere then.
        let guard = format!("when {function} - 1e-3 * time > 1e30 {{ n := 1 }}");
        let text = format!(
            "model Edge {{\nstate x = 0, y = 0; memory n = 0\nx' = 1; y' = 0\n{guard}\nrun {{ until 3 }} }}"
        );
        check(&text, edge, name);
    }
}

#[test]
fn a_guard_at_the_edge_goes_first() {
    for (function, edge, _) in FUNCTIONS {
        let text = format!(
            "model Edge {{ state x = 0, y = 0; x' = 1
                automaton Side {{
                    initial mode Before {{ flow {{ y' = {function} }}; when x >= {edge:?} -> Behind }}
                    mode Behind {{ flow {{ y' = 0 }} }}
                }}
                run {{ until 3 }} }}"
        );
        for how in CAREFUL {
            let (run, _) = run(&text, how);
            let what = format!("{how:?} {text}: {:?} {:?} {:?}", run.ending, run.values, run.stats);
            assert_eq!((run.ending.status, run.events.len()), (Status::Finished, 1), "{what}");
            assert!((run.events[0].stamp.t - edge).abs() < 1e-9, "{what}");
            assert_eq!(run.stats.outside_domain_evals, 0, "{what}");
        }
    }
}

#[test]
fn methods_that_look_ahead_are_counted_also_beyond_the_end_of_a_table() {
    let text = "model Edge { state x = 0, y = 0; x' = 1
        y' = table(x, [0, 0.4, 1], [0, 2, 1], extrapolation = \"none\")
        run { until 3 } }";
    for solver in [Solver::Taylor, Solver::Adams, Solver::RungeKutta] {
        let (run, _) = run(text, (solver, EventMethod::Interpolation));
        assert_eq!(run.ending.status, Status::LeftDomain, "{solver}: {:?}", run.ending);
        assert!(run.stats.outside_domain_evals > 0, "{solver}: {:?}", run.stats);
    }
}

#[test]
fn a_table_exists_on_its_last_point_and_matters_only_in_force() {
    let table = "table(x, [0, 1, 2], [0, 1, 4], extrapolation = \"none\")";
    let ending = |text: String| run(&text, CAREFUL[0]).0;
    // It starts on the last point.
    let inwards =
        ending(format!("model A {{ state x = 2, y = 0; x' = -1; y' = {table}; run {{ until 1 }} }}"));
    assert_eq!((inwards.ending.status, inwards.values[2]), (Status::Finished, 2.5));
    // It touches the last point from inside.
    let touch = ending(format!(
        "model A {{ state x = 1, v = 2, y = 0; x' = v; v' = -2; y' = {table}; run {{ until 2.25 }} }}"
    ));
    assert_eq!(touch.ending.status, Status::Finished, "{:?}", touch.ending);
    // A branch that is not in force may be outside; it has no value when it comes in force.
    let branch = |on: &str| {
        let text = format!(
            "model A {{ state x = 0, y = 0; memory k = 0; x' = 1; at {on} {{ k := 1 }}
                y' = if k > 0.5 then {table} else 0
                run {{ until 3 }} }}"
        );
        ending(text)
    };
    let (late, never) = (branch("2.5"), branch("4"));
    assert_eq!((late.ending.status, late.ending.stamp.t), (Status::LeftDomain, 2.5), "{:?}", late.ending);
    assert!(late.ending.reason.contains("2.5 is outside the table"), "{:?}", late.ending);
    assert_eq!((never.ending.status, never.stats.outside_domain_evals), (Status::Finished, 0));
}

#[test]
fn a_pole_in_a_guard_ends_the_run_although_rounding_keeps_the_state_from_it() {
    let tangent = ("x' = -1", 2.0, "tan(x) > 0.1", 2.0 - FRAC_PI_2);
    let quotient = ("x' = -x", 1.0, "1 / (x - 0.5) < 0.3", 2f64.ln());
    for (flow, start, guard, pole) in [tangent, quotient] {
        let text = format!(
            "model Pole {{ memory n = 0\nstate x = {start:?}\n{flow}\nwhen {guard} {{ n := n + 1 }}\nrun {{ until 3; max_steps 5000 }} }}"
        );
        let model = Loader::default().text("pole.salt", &text).expect("a model without errors");
        for events in [EventMethod::Extrapolation, EventMethod::Certified] {
            let mut options = model.options().expect("options");
            options.events = Some(events);
            let run = model.run(options).expect("a run");
            assert_eq!(run.ending.status, Status::LeftDomain, "{guard} {events}: {:?}", run.ending);
            assert!((run.ending.stamp.t - pole).abs() < 1e-8, "{guard} {events}: {}", run.ending.stamp.t);
            assert_eq!((run.stats.outside_domain_evals, run.events.len()), (0, 0), "{guard} {events}");
        }
    }
}
