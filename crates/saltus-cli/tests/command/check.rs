//! What `saltus check` tells about domains and loops.

use crate::common::Folder;

const MODEL: &str = "model M {
    param lo = 19, hi = 21
    state x = 0, y = 0
    flow { x' = 1 / (x - 50); y' = sqrt(1 - x) + tan(y) }
    automaton Safe {
        initial mode Off { when x >= hi -> On }
        mode On { when x <= lo -> Off }
    }
    automaton Loop {
        initial mode Down { when y > 0 -> Up }
        mode Up { when log(y + 1) > 0 and y <= 0 -> Down }
    }
    run { until 1 }
}";

#[test]
fn inferred_domains_are_listed_with_their_conditions() {
    let folder = Folder::with(MODEL);
    let told = folder.saltus(&["check", "m.salt"]).out;
    for line in [
        "domains     4 inferred",
        "line 4    x - 50 is not 0  for 1 / (x - 50)",
        "line 4    1 - x >= 0  for sqrt(1 - x)",
        "line 4    cos(y) is not 0  for tan(y)",
        "line 11   y + 1 > 0  for log(y + 1)  in Loop.Up",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
}

#[test]
fn tables_without_extrapolation_and_powers_have_domains() {
    let model = "model T {
        state x = 0, y = 1
        flow { x' = table(y, [0, 2], [0, 1], extrapolation = \"none\"); y' = y^0.5 }
    }";
    let folder = Folder::with(model);
    let answer = folder.saltus(&["check", "m.salt"]);
    assert!(answer.out.contains("y >= 0  for y^0.5"), "{}{}", answer.out, answer.err);
    assert!(answer.out.contains("2 - y >= 0  for"), "{}{}", answer.out, answer.err);
}

#[test]
fn only_loops_that_may_happen_are_listed() {
    let folder = Folder::with(MODEL);
    let told = folder.saltus(&["check", "m.salt"]).out;
    // At y = 0 and rising, `y <= 0` is still true and `y > 0` already; 19 and 21 are apart.
    assert!(told.contains("possible zero-time loop of Loop, line 10: Down -> Up -> Down"), "{told}");
    assert!(!told.contains("loop of Safe"), "{told}");
    let json = folder.saltus(&["check", "m.salt", "--json"]).out;
    let loops =
        "\"zero_time_loops\":[{\"automaton\":\"Loop\",\"modes\":[\"Down\",\"Up\"],\"lines\":[10,11]}]";
    assert!(json.contains(loops), "{json}");
    assert!(json.contains("{\"function\":\"sqrt(1 - x)\",\"conditions\":[\"1 - x >= 0\"]"), "{json}");
}

#[test]
fn strict_guards_exclude_each_other_only_with_a_gap() {
    // At x = 0 each mode leaves at once, because the flow of each goes where its guard is true.
    let model = "model S {
        state x = 1
        automaton A {
            initial mode Down { flow { x' = -1 }; when x < 0 -> Up }
            mode Up { flow { x' = 1 }; when x > 0 -> Down }
        }
        run { until 3 }
    }";
    let folder = Folder::with(model);
    let told = folder.saltus(&["check", "m.salt"]).out;
    assert!(told.contains("possible zero-time loop of A, line 4: Down -> Up -> Down"), "{told}");
    let run = folder.saltus(&["run", "m.salt"]);
    assert!(run.err.contains("the run met a loop in zero time at t = 1"), "{}{}", run.out, run.err);
    let apart = Folder::with(&model.replace("x > 0", "x > 0.5"));
    assert!(!apart.saltus(&["check", "m.salt"]).out.contains("zero-time"));
}

#[test]
fn many_cycles_are_not_followed_for_ever() {
    let mode = |k: usize| {
        let ways: String =
            (0..16).filter(|&j| j != k).map(|j| format!("when x >= {k} and time <= {j} -> M{j}\n")).collect();
        format!("{} mode M{k} {{ {ways} }}\n", if k == 0 { "initial" } else { "" })
    };
    let modes: String = (0..16).map(mode).collect();
    let folder = Folder::with(&format!("model D {{ state x = 0; x' = 1; automaton A {{ {modes} }} }}"));
    let told = folder.saltus(&["check", "m.salt"]);
    assert!(told.out.contains("more zero-time loops may be possible"), "{}{}", told.out, told.err);
    let json = folder.saltus(&["check", "m.salt", "--json"]).out;
    assert!(json.contains("\"zero_time_loops_complete\":false"), "{json}");
}

#[test]
fn settings_out_of_range_are_refused() {
    for (setting, message) in [
        ("gamma 0", "`gamma` needs a number between 0 and 1, not `0`"),
        ("gamma 1.5", "`gamma` needs a number between 0 and 1, not `1.5`"),
        ("min_step 0", "`min_step` needs a number above 0"),
        ("min_step 1; max_step 0.1", "the shortest step is 1, longer than the longest, 0.1"),
        ("guard_tolerance 0", "`guard_tolerance` needs a number above 0"),
        ("solver rk; events certified", "the solver rk cannot find events by certified"),
        ("solver euler", "the solver euler needs the length of its steps"),
    ] {
        let folder =
            Folder::with(&format!("model S {{ state x = 0; x' = 1; run {{ until 1; {setting} }} }}"));
        for command in ["check", "run"] {
            let answer = folder.saltus(&[command, "m.salt"]);
            assert_eq!(answer.code, Some(1), "{command} {setting}: {}{}", answer.out, answer.err);
            assert!(answer.err.contains(message), "{command} {setting}: {}", answer.err);
        }
    }
}

#[test]
fn long_lists_are_cut_unless_all_is_asked_for() {
    let folder =
        Folder::with("model M { state x[50] = 0; hold x; for k in 1..50 { when x[k] > 1 { x[k] := 0 } } }");
    let cut = folder.saltus(&["check", "m.salt"]).out;
    assert!(cut.contains("x[12] = 0, and 38 more"), "{cut}");
    assert!(cut.contains("    and 10 more (`--all` shows them)"), "{cut}");
    let whole = folder.saltus(&["check", "m.salt", "--all"]).out;
    assert!(whole.contains("x[50] = 0\n") && !whole.contains("more"), "{whole}");
    assert_eq!(whole.matches("when x[k] > 1").count(), 50, "{whole}");
}

#[test]
fn a_graph_shows_what_is_held_and_declared_domains() {
    let folder = Folder::with(
        "model M { state x = 1, y[2] = 0; domain x > 0.5; x' = -1; automaton { initial mode A { hold y } } }",
    );
    let answer = folder.saltus(&["graph", "m.salt", "--out", "m.svg"]);
    let picture = folder.read("m.svg");
    assert!(picture.contains("hold y") && picture.contains("domain x &gt; 0.5"), "{}{picture}", answer.err);
}
