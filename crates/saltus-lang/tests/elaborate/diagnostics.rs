//! Every diagnostic code of elaboration: a text that has exactly this mistake, and nothing else is
//! reported about it.

use super::{compile_text, findings};
use saltus_lang::{Compiled, codes, compile};

/// One mistake: its code, the text that is marked, and the model.
struct Case(&'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    Case("E101", "xx", "model M { state x = 0; x' = -xx }"),
    Case("E101", "cosine", "model M { state x = 0; x' = cosine(x) }"),
    Case("E101", "Prat", "component Part { output y = 1 }\nmodel M { p: Prat; output z = p.y }"),
    Case("E101", "tmp", "component Room { output temp = 1 }\nmodel M { r: Room; output z = r.tmp }"),
    Case("E101", "y", "model M { state x = 0; hold x; output z = x.y }"),
    Case("E102", "x", "model M { state x = 0; hold x; output x = 1 }"),
    Case("E102", "time", "model M { output time = 1 }"),
    Case("E102", "f", "fn f(x) = x\nfn f(x) = 2 * x\nmodel M { output y = f(1) }"),
    Case(
        "E102",
        "A",
        "model M { state x = 0; hold x; automaton { initial mode A { when x > 1 -> A }; mode A {} } }",
    ),
    Case("E103", "x", "model M { state x = 0; x' = 1; when x { x := 0 } }"),
    Case("E103", "true + 1", "model M { output y = true + 1 }"),
    Case("E103", "k / 2", "model M { memory k: Integer = 1; every 1 { k := k / 2 } }"),
    Case("E103", "2.5", "model M { state x[2.5] = 0; hold x }"),
    Case("E103", "Integer", "model M { state x: Integer = 0; hold x }"),
    Case("E104", "[1, 2, 3]", "model M { state x[2] = [1, 2, 3]; hold x }"),
    Case("E104", "a * b", "model M { param a = [1, 2], b = [3, 4]; output y = a * b }"),
    Case("E104", "[1, [2, 3]]", "model M { output y = [1, [2, 3]] }"),
    Case("E105", "sin(1, 2)", "model M { output y = sin(1, 2) }"),
    Case("E105", "f(1)", "fn f(a, b) = a + b\nmodel M { output y = f(1) }"),
    Case("E105", "hy", "component C(hi = 1) { output y = hi }\nmodel M { c: C(hy = 2) }"),
    Case("E105", "n", "component C(n) { output y = n }\nmodel M { c: C }"),
    Case("E106", "4", "model M { state x[3] = 0; hold x; output y = x[4] }"),
    Case("E106", "0", "model M { state x[3] = 0; hold x; output y = x[0] }"),
    Case("E106", "3..2", "model M { state x[3] = 0; hold x; output y = sum(x[3..2]) }"),
    Case(
        "E107",
        "k",
        "model M { memory k: Integer = 1; state x[3] = 0; hold x; output y = x[k]; every 1 { k := 2 } }",
    ),
    Case("E107", "y", "model M { state x = y, y = 1; hold x, y }"),
    Case("E107", "x", "model M { state x; hold x }"),
    Case("E107", "x", "model M { state x = 1; hold x; every x { x := 2 } }"),
    Case("E108", "k", "model M { param k = 1; state x = 0; x' = k; when x > 1 { k := 2 } }"),
    Case("E108", "x", "model M { state x = 0; hold x; x = 5 }"),
    Case("E108", "y'", "model M { signal y; y' = 5; y = 2; output z = y }"),
    Case("E108", "c.x'", "component C { state x = 0; hold x }\nmodel M { c: C; c.x' = 1 }"),
    Case("E108", "u", "component C { input u; u = 2; output y = u }\nmodel M { c: C; c.u = 1 }"),
    Case("E109", "x != 1", "model M { state x = 0; x' = 1; when x != 1 { x := 0 } }"),
    Case("E109", "x == 1", "model M { state x = 0; x' = if x == 1 then 1 else 2 }"),
    Case("E110", "f(x)", "fn f(x) = g(x)\nfn g(x) = f(x)\nmodel M { output y = f(1) }"),
    Case("E110", "A", "component A { b: B }\ncomponent B { a: A }\nmodel M { a: A }"),
    Case("E111", "", "component A { output y = 1 }"),
    Case("E111", "A", "model A { output y = 1 }\nmodel B { output y = 1 }"),
    Case("E112", "when x > 1 -> A", "model M { state x = 0; x' = 1; when x > 1 -> A }"),
    Case("E112", "interval(0, 1)", "model M { state x = 1 + interval(0, 1); hold x }"),
    Case("E112", "rises(x)", "model M { state x = 1; x' = 1; when rises(x) or x > 2 { x := 0 } }"),
    Case("E112", "stop when x > 1", "model M { state x = 1; flow { x' = 1; stop when x > 1 } }"),
    Case("E112", "state y = 1", "model M { for i in 1..2 { state y = 1 } }"),
    Case("E113", "1 / 0", "model M { output y = 1 / 0 }"),
    Case("E113", "b = 1 / a", "model M { param a = 0; param b = 1 / a; output y = b }"),
    Case("E113", "mod(x, 0)", "model M { state x = 0; x' = 1 + mod(x, 0) }"),
    Case("E113", "x' = mod(x, p - 1)", "model M { param p = 1; state x = 0; x' = mod(x, p - 1) }"),
    Case(
        "E113",
        "when mod(x, p) > 1 { x := 0 }",
        "model M { param p = 0; state x = 0; x' = if p > 0 then mod(x, p) else 1; when mod(x, p) > 1 { x := 0 } }",
    ),
    Case("E114", "x + y", "model M { signal x, y; x + y = 1; x = 2 }"),
    Case("E114", "x''", "model M { state x = 0; x'' = 1; hold x }"),
    Case("E115", "x[1000000] = 0", "model M { state x[1000000] = 0; hold x }"),
    Case(
        "E115",
        "X",
        "component A { x: X[9999]; output y = 1 }
        component X { output z = 1 }
        component B { a: A[100] }
        model M { b: B }",
    ),
    Case("E201", "x = 0", "model M { state x = 0 }"),
    Case(
        "E201",
        "x = 0",
        "model M { state x = 0; automaton S { initial mode A { x' = 1; when x > 1 -> B }; mode B {} } }",
    ),
    Case("E201", "y", "model M { signal y; output z = y }"),
    Case("E202", "x' = 2", "model M { state x = 0; x' = 1; x' = 2 }"),
    Case("E202", "x", "model M { state x = 0; x' = 1; automaton { initial mode A { hold x } } }"),
    Case("E203", "a = b + 1", "model M { signal a, b; a = b + 1; b = 2 * a }"),
    Case("E203", "a", "model M { signal a = b, b = a }"),
    Case("E203", "a[2] = [1, a[2]]", "model M { output a[2] = [1, a[2]] }"),
    Case("E203", "p", "model M { param p = q, q = p }"),
    Case("E204", "S", "model M { automaton S { mode A {} } }"),
    Case("E204", "S", "model M { automaton S { initial mode A { after 1 -> B }; initial mode B {} } }"),
    Case("E205", "Bb", "model M { automaton S { initial mode A { after 1 -> Bb }; mode B {} } }"),
    Case(
        "E205",
        "Off",
        "model M { automaton S { initial mode A {} }; state x = 0; x' = 1; when S.Off { x := 0 } }",
    ),
    Case("E206", "u", "component C { input u; output y = u }\nmodel M { c: C }"),
    Case("E206", "u", "model M { input u; output y = u }"),
    Case("E207", "x := 2", "model M { state x = 0; x' = 1; when x > 1 { x := 1; x := 2 } }"),
    Case("E208", "0", "model M { memory k = 0; every 0 { k := 1 } }"),
    Case("E208", "-1", "model M { memory k = 0; after -1 { k := 1 } }"),
    Case("E301", "[metre]", "model M { param a: [metre] = 1; output y = a }"),
    Case("E301", "[km]", "model M { param a: [km] = 1; output y = a }"),
    Case("E302", "a + b", "model M { param a: [m] = 1, b: [s] = 2; output y = a + b }"),
    Case("E302", "v", "model M { state x: [m] = 1; param v: [m] = 2; x' = v }"),
    Case("E302", "a", "model M { param a: [m] = 1; output y = sin(a) }"),
    Case("E302", "3 [kg]", "component C(l: [m] = 1) { output y = l }\nmodel M { c: C(l = 3 [kg]) }"),
    Case("E302", "2 [kg]", "model M { param a: [m] = 2 [kg]; output y = a }"),
    Case("E401", "use \"nowhere.salt\"", "use \"nowhere.salt\"\nmodel M { output y = 1 }"),
    Case("E401", "csv(\"no.csv\", \"u\")", "model M { output y = csv(\"no.csv\", \"u\") }"),
    Case("E402", "csv(\"bad.csv\", \"u\")", "model M { output y = csv(\"bad.csv\", \"u\") }"),
    Case("E403", "use \"test.salt\"", "use \"circle.salt\"\nmodel M { output y = 1 }"),
    Case("E404", "[1, 1]", "model M { output y = table(time, [1, 1], [2, 3]) }"),
    Case("E404", "[2, 3]", "model M { output y = table(time, [1, 2, 3], [2, 3]) }"),
    Case("E405", "rtoll", "model M { output y = 1; run { until 3; rtoll 1e-3 } }"),
    Case("E405", "rtol 5", "model M { output y = 1; run { until 3; rtol 5 } }"),
    Case("E405", "atol 0", "model M { output y = 1; run { until 3; atol 0 } }"),
    Case("E405", "solver tailor", "model M { output y = 1; run { until 3; solver tailor } }"),
    Case("E405", "6", "model M { output y = 1; run { until 5; until 6 } }"),
    Case("E405", "rtol 1e-4", "model M { output y = 1; run { rtol 1e-3; plot y; plot y; rtol 1e-4 } }"),
    Case("E405", "run { rtol 1e-4 }", "model M { output y = 1; run { until 5 }; run { rtol 1e-4 } }"),
    Case("W501", "B", "model M { automaton { initial mode A {}; mode B {} } }"),
    Case("W502", "a", "model M { param a = 1; output y = 1 }"),
    Case("W502", "f", "fn f(x) = x\nmodel M { output y = 1 }"),
    Case("W502", "s", "model M { signal s = 1 }"),
    Case("W503", "a + b", "model M { param a: [m] = 1, b = 2; output y = a + b }"),
    Case("W504", "2 > 1", "model M { state x = 0; hold x; when 2 > 1 { x := 1 } }"),
    Case("W505", "when x > 1 { }", "model M { state x = 0; hold x; when x > 1 { } }"),
];

fn compile_case(text: &str) -> Compiled {
    compile("test.salt", text, None, &|path| match path {
        "bad.csv" => Ok("t,u\n0,1\n1,abc\n".into()),
        "circle.salt" => Ok("use \"test.salt\"".into()),
        _ => Err("there is no such file".into()),
    })
}

#[test]
fn every_code_has_a_case_and_every_case_its_code_alone() {
    let mut wrong = Vec::new();
    for Case(code, marked, text) in CASES {
        let compiled = compile_case(text);
        let found: Vec<(&str, &str)> =
            compiled.diagnostics.iter().map(|d| (d.code, compiled.sources.text(d.span))).collect();
        if found != [(*code, *marked)] {
            wrong.push(format!("{code} `{marked}` in {text}\n  gives {}", findings(&compiled, true)));
        }
        if compiled.system.is_none() != code.starts_with('E') {
            wrong.push(format!("{code} must decide whether there is a system: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (code, meaning) in codes::ALL.iter().filter(|(code, _)| *code >= "E1") {
        assert!(CASES.iter().any(|case| case.0 == *code), "no case for {code}: {meaning}");
    }
}

#[test]
fn all_wrong_settings_are_told_at_once() {
    let settings =
        "solver tailor; events certfied; policy eagr; guards compsed; order 99; gamma 7; seed 1e30";
    let compiled = compile_text(&format!("model M {{ output y = x; run {{ {settings} }} }}"));
    let said: Vec<_> = compiled.diagnostics.iter().map(|d| (d.code, compiled.sources.text(d.span))).collect();
    let expected: Vec<_> =
        [("E101", "x")].into_iter().chain(settings.split("; ").map(|s| ("E405", s))).collect();
    assert_eq!(said, expected);
    let hints: Vec<_> = compiled.diagnostics[1..5].iter().filter_map(|d| d.hint.as_deref()).collect();
    let meant = ["taylor", "certified", "eager", "composed"];
    assert_eq!(hints, meant.map(|word| format!("did you mean `{word}`?")));
}

#[test]
fn what_is_set_twice_is_shown_at_both_places() {
    for (text, first) in [
        ("model M { output y = 1; run { until 5; until 6 } }", "5"),
        ("model M { output y = 1; run { until 5 }; run { until 6 } }", "run { until 5 }"),
    ] {
        let compiled = compile_text(text);
        let related: Vec<_> = compiled
            .diagnostics
            .iter()
            .flat_map(|d| &d.related)
            .map(|r| compiled.sources.text(r.0))
            .collect();
        assert_eq!(related, [first]);
    }
}

/// Requires a part of the message, hint or related text of the only diagnostic.
#[track_caller]
fn says(text: &str, part: &str) {
    let compiled = compile_case(text);
    let [only] = compiled.diagnostics.as_slice() else {
        panic!("not one diagnostic:\n{}", findings(&compiled, true))
    };
    let mut said = vec![only.message.as_str()];
    said.extend(only.hint.as_deref());
    said.extend(only.related.iter().map(|r| r.1.as_str()));
    assert!(said.iter().any(|s| s.contains(part)), "{part:?} is not in {said:?}");
}

#[test]
fn near_misses_are_suggested() {
    says("model M { state height = 0; height' = -heigth }", "did you mean `height`?");
    says("model M { state height = 0; heigth' = -1 }", "did you mean `height`?");
    says("model M { output y = sqr(2) }", "did you mean `sqrt`?");
    says("model M { automaton { initial mode Heating { after 1 -> Idel }; mode Idle {} } }", "`Idle`");
    says("model M { param a: [Ohn] = 1; output y = a }", "did you mean `Ohm`?");
    says("model M { output y = 1; run { rtoll 1 } }", "did you mean `rtol`?");
    says("model M { state x = 0; dx/dt = 2 }", "the derivative of `x` is written `x'`");
    says("model M { param a: [seconds] = 2; output y = a }", "write `s`");
    says("model M { output y = ln(2) }", "natural logarithm is `log`");
    says("model M { output y = t }", "simulated time is called `time`");
}

#[test]
fn messages_name_what_is_needed() {
    says(
        "model M { state x = 0
           automaton S { initial mode A { x' = 1; when x > 1 -> B }; mode B { automaton T { initial mode C { after 1 -> D; hold x }; mode D {} } } } }",
        "`x` has no equation in the mode `S.B.T.D`",
    );
    says("model M { state x = 0 }", "hold x");
    says("model M { signal a, b; a = b + 1; b = 2 * a }", "a -> b -> a");
    says("model M { input u; output y = u }", "connect it");
    says("model M { param a: [km] = 1; output y = a }", "declare [m]");
    says(
        "model M { output y = csv(\"bad.csv\", \"u\") }",
        "line 3: `abc` in the column `u` is not a finite number",
    );
    says("use \"circle.salt\"\nmodel M { output y = 1 }", "test.salt -> circle.salt -> test.salt");
    says("component A { b: B }\ncomponent B { a: A }\nmodel M { a: A }", "A -> B -> A");
    says("model M { param p = q, q = p }", "p -> q -> p");
}

#[test]
fn cycles_count_only_where_modes_agree() {
    let exclusive = "model M { signal a, b
        automaton S { initial mode A { a = b; b = 1; after 1 -> B }; mode B { b = a; a = 1 } }
        output y = a }";
    assert_eq!(findings(&compile_text(exclusive), true), "");
    says(
        "model M { signal a, b
            automaton S { initial mode A { a = b; after 1 -> B }; mode B { a = 1 } }
            automaton T { initial mode C { b = a; after 2 -> D }; mode D { b = 1 } }
            output y = a }",
        "a -> b -> a",
    );
    // Through a state there is no cycle.
    let state = "model M { state x = 0; signal a = x; x' = a }";
    assert_eq!(findings(&compile_text(state), true), "");
}

#[test]
fn all_errors_are_reported_at_once_without_consequences() {
    let compiled = compile_text(
        "fn f(x) = unknown + x
         component C(k) { input u; state s = k; s' = u + missing; output y = s }
         model M {
            param p = nothing
            state x = p, v = 0
            x' = vv
            v' = f(v) + f(2 * v)
            c: C(k = 1)
            d: D
            d.u = 3
            output z = d.y + c.w
            automaton { initial mode A { when x -> Q } }
            when x > 1 { w := 1; v := true }
         }",
    );
    let codes: Vec<(&str, &str)> =
        compiled.diagnostics.iter().map(|d| (d.code, compiled.sources.text(d.span))).collect();
    assert_eq!(
        codes,
        [
            ("E101", "unknown"),
            ("E206", "u"),
            ("E101", "missing"),
            ("E101", "nothing"),
            ("E101", "vv"),
            ("E101", "D"),
            ("E101", "w"),
            ("E205", "Q"),
            ("E101", "w"),
            ("E103", "true"),
        ]
    );
}

#[test]
fn syntax_errors_do_not_hide_others_or_make_new_ones() {
    let compiled = compile_text(
        "model M {
            state x = = 3
            state y = 1
            y' = x + zz
            hold x
            output w = sin(1, 2)
         }",
    );
    let codes: Vec<&str> = compiled.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["E001", "E101", "E105"]);
}

#[test]
fn absurd_models_are_refused_quickly() {
    for text in [
        "model M { for i in 1..1000000000 { stop when time > i } }",
        "model M { output y = sum(i for i in 1..1000000000000) }",
        "model M { output y = sum(sum(i * j for i in 1..4000000) for j in 1..4000000) }",
        "model M { output y = zeros(100000, 100000)[1, 1] }",
        "model M { output y = (identity(999) * identity(999))[1, 1] }",
        "component A { b: B[1000000] }\ncomponent B { output y = 1 }\nmodel M { a: A[1000000] }",
    ] {
        let started = std::time::Instant::now();
        let compiled = compile_text(text);
        assert!(compiled.diagnostics.iter().any(|d| d.code == "E115"), "{text}");
        assert!(started.elapsed().as_secs() < 60, "{text}");
    }
}

#[test]
fn deep_chains_end_in_a_report_not_in_a_crash() {
    let mut functions = String::from("fn f0(x) = x\n");
    let mut components = String::from("component C0 { output y = 1 }\n");
    for k in 1..2000 {
        let before = k - 1;
        functions.push_str(&format!("fn f{k}(x) = 1 + (2 * (3 + f{before}(x)))\n"));
        components.push_str(&format!("component C{k} {{ c: C{before} }}\n"));
    }
    let functions = format!("{functions}\nmodel M {{ output y = f1999(time) }}");
    let components = format!("{components}\nmodel M {{ c: C1999 }}");
    let mut parameters = String::from("model M { param p0 = p1\n");
    for k in 1..2000 {
        parameters.push_str(&format!("param p{k} = 1 + p{}\n", k + 1));
    }
    parameters.push_str("param p2000 = 1; output y = p0 }");
    for text in [functions, components, parameters] {
        let compiled = compile_text(&text);
        assert_eq!(compiled.diagnostics.first().map(|d| d.code), Some("E006"));
    }
}

#[test]
fn what_nothing_uses_is_checked_too() {
    let text = "use \"lib.salt\"
        fn free(a) = a[1] * sqrtt(a) + lost
        fn ping(a) = pong(a)
        fn pong(a) = ping(a)
        component Idle(n, k = 0) {
            input u
            param gain = 1 / k
            state x[n] = 0, y = uu
            for i in 1..n { x[i]' = u + zz }
            y' = gain
        }
        component Twice { state v = 0; v' = ww }
        model Other { parts: Twice[3]; state x = 0 }
        model M { part: Twice; output y = part.v }";
    let lib = "param far = true + 1\ncomponent Deep { output y = 1 + nowhere }";
    let compiled = compile("test.salt", text, Some("M"), &|_| Ok(lib.into()));
    assert_eq!(
        findings(&compiled, true),
        "E101 2 `sqrtt`: there is no function `sqrtt`
E101 2 `lost`: `lost` is not declared
E110 4 `ping(a)`: a function may not call itself: ping -> pong -> ping
E101 8 `uu`: `uu` is not declared
E101 9 `zz`: `zz` is not declared
E101 12 `ww`: `ww` is not declared
E201 13 `x = 0`: the state `x` has no equation
E103 1 `true + 1`: a number is needed here, and this is Boolean
E101 2 `nowhere`: `nowhere` is not declared"
    );
}

#[test]
fn what_comes_from_outside_is_not_missed_in_an_unused_component() {
    let text = "fn first(a) = a[1] + sum(a[k] for k in 1..size(a))
        component Idle(n, start, k = 0) {
            input u, w[n]
            param gain = 1 / k
            state x = start
            for i in 1..n { x' = u + w[i] }
        }
        model Unconnected { input u; param p; output y = u * p }
        model M { output y = 1 }";
    let compiled = compile("test.salt", text, Some("M"), &|_| Err("no files".into()));
    assert_eq!(findings(&compiled, false), "");
}

#[test]
fn one_mistake_is_one_report() {
    for (text, found) in [
        ("model M { output y = 1 }\nmodel M { }", "E102 2 `M`: `M` is declared twice in this file"),
        (
            "model M {\n component C { output y = 1 }\n c: C\n output z = c.y }",
            "E112 2 `component`: this stands at the top level of a file, not inside a class",
        ),
        (
            "use \"no.salt\"\nmodel M { state x = 0; x' = rate(x) + xx; p: Part }",
            "E401 1 `use \"no.salt\"`: cannot read `no.salt`: there is no such file
E101 2 `xx`: `xx` is not declared",
        ),
        (
            "model M {\n state x[3] = [1, 2]\n x' = [1, 2, 3, 4] }",
            "E104 2 `[1, 2]`: a vector of 3 is needed here, and this is a vector of 2
E104 3 `[1, 2, 3, 4]`: a vector of 3 is needed here, and this is a vector of 4",
        ),
        (
            "component C { input u[3] = [1, 2]; output y = u[1] }\nmodel M { c: C; output y = c.y }",
            "E104 1 `[1, 2]`: a vector of 3 is needed here, and this is a vector of 2",
        ),
    ] {
        assert_eq!(findings(&compile_case(text), true), found, "{text}");
    }
}

#[test]
fn a_wrong_range_hides_nothing_and_is_no_missing_equation() {
    let text = "model M {
        state x[3] = 0
        for k in 1..m { x[k]' = yy }
        output z = sum(x[k] * ww for k in 1..l)
    }";
    assert_eq!(
        findings(&compile_text(text), true),
        "E101 3 `m`: `m` is not declared
E101 3 `yy`: `yy` is not declared
E101 4 `ww`: `ww` is not declared
E101 4 `l`: `l` is not declared"
    );
}

#[test]
fn other_models_of_a_file_count_as_users() {
    let text = "param g = 9.81, h = 1\nfn f(x) = x\nmodel A { output y = 1 }\nmodel B { output y = f(g) }";
    let compiled = compile("test.salt", text, Some("A"), &|_| Err(String::new()));
    assert_eq!(findings(&compiled, true), "W502 1 `h`: nothing uses the parameter `h`");
}

#[test]
fn the_pieces_make_a_sound_model() {
    assert_eq!(findings(&compile_case(PIECES), false), "");
}

/// Models whose pieces are mixed up to look for panics.
const PIECES: &str = "model M { param a = 2 , b : [ m ] = 3 ; state x [ 2 ] = [ 1 , 2 ] , y = a ; signal s ; \
    memory k : Integer = 0 ; input u = 1 ; c : C [ 2 ] ( p = [ 1 , 2 ] ) ; c [ 1 ] . u = y ; c [ 2 ] . u = c [ 1 ] . z ; \
    x ' = - x ; s = sum ( x [ i ] for i in 1 .. 2 ) + f ( y ) ; \
    automaton S { initial mode A { hold y ; after 1 -> B { k := k + 1 } } ; mode B { y ' = s * time ; when y > 3 -> A } } ; \
    when rises ( y ) { x := interval ( 0 , 1 ) } ; every 2 when S . A { k := 0 } ; for i in 1 .. a { stop when x [ i ] > 5 } ; \
    run { until 5 ; plot x , y over s ; rtol 1e-3 } } \n\
    component C ( p = 1 ) { input u ; output z = p * u ; state q = table ( p , [ 0 , 1 ] , [ 2 , 3 ] ) ; q ' = if u < 1 then 2 else 3 } \n\
    fn f ( v ) = v ^ 2 - atan2 ( v , 1 ) \n";

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_makes_it_panic(
        edits in proptest::collection::vec((0usize..250, 0usize..250, 0u8..3), 1..6)
    ) {
        let mut words: Vec<&str> = PIECES.split(' ').collect();
        for (at, from, kind) in edits {
            let (at, from) = (at % words.len(), from % words.len());
            match kind {
                0 => words[at] = words[from],
                1 => words.insert(at, words[from]),
                _ => { words.remove(at); }
            }
        }
        let compiled = compile_case(&words.join(" "));
        let sound = compiled.diagnostics.iter().all(|d| d.severity == saltus_lang::Severity::Warning);
        proptest::prop_assert_eq!(compiled.system.is_some(), sound);
    }
}
