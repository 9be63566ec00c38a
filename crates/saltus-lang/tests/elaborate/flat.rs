//! Flat models: equations, reactions and automata without components.

use super::{check, compile_text, dumped, findings};

#[test]
fn bouncing_ball() {
    check(
        "model BouncingBall {
            param g = 9.81, e = 0.8
            state x = 10, v = 0
            flow {
                x' = v
                v' = -g
            }
            when x <= 0 and v < 0 { v := -e * v }
            run { until 12; plot x, v }
        }",
        "param g = 9.81
         param e = 0.8
         state x = 10
         state v = 0
         x' = v
         v' = -g
         when (x <= 0) and (v < 0) { v := -e * v }",
    );
}

#[test]
fn run_block_and_names_for_reports() {
    let compiled = compile_text(
        "model Ball {
            param stop_time = 3
            state x: [m] = 1, v: [m/s] = 0
            x' = v; v' = -9.81 [m/s^2]
            when x <= 0 [m] and
                v < 0 { v := -v }
            for i in 1..2 { every i * 0.5 { v := v / i } }
            run { until 4 * stop_time; plot x, v; plot x; plot v over 2 * x; rtol 1e-8; policy lazy }
        }",
    );
    let system = compiled.system.expect("no errors");
    let names: Vec<&str> = system.root.reactions.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["when x <= 0 [m] and v < 0", "every i * 0.5 (i = 1)", "every i * 0.5 (i = 2)"]);
    assert_eq!(super::dump::expr(&system, system.run.until.expect("given")), "4 * stop_time");
    let panels = &system.run.panels;
    assert_eq!(panels[0].series.iter().map(|s| s.0.as_str()).collect::<Vec<_>>(), ["x", "v"]);
    assert_eq!((panels[0].unit.as_deref(), panels[1].unit.as_deref()), (None, Some("m")));
    assert_eq!(panels[2].x.as_ref().map(|x| x.0.as_str()), Some("2 * x"));
    let settings: Vec<(&str, &str)> =
        system.run.settings.iter().map(|(n, v, _)| (n.as_str(), v.as_str())).collect();
    assert_eq!(settings, [("rtol", "1e-8"), ("policy", "lazy")]);
}

#[test]
fn automata_nest_and_modes_own_variables() {
    check(
        "model Nested {
            state x = 0
            automaton Outer {
                initial mode Left {
                    state age = x
                    age' = 1
                    automaton {
                        initial mode Slow { x' = 1; when age >= 2 -> Fast }
                        mode Fast { x' = 2; after 3 -> Slow { x := 0 } }
                    }
                    automaton {
                        initial mode Only {}
                    }
                    preempt when x > 5 -> Right
                    may when x > 4 -> history Right { x := interval(1, 2) }
                }
                mode Right {
                    hold x
                    invariant x <= 7
                    domain x >= 0
                    every 1 when x < 3 { x := x + 1 }
                    at 20 -> Left
                    else -> Right
                }
            }
            when Outer.Right and not in(Left) or Outer.Left.Fast { x := 3 }
            stop when x > 100
        }",
        "state x = 0
         state Outer.Left.age = x in Outer.Left
         flag in(Outer.Right): Boolean
         flag in(Outer.Left): Boolean
         flag in(Outer.Left.automaton.Fast): Boolean
         when (in(Outer.Right) and not in(Outer.Left)) or in(Outer.Left.automaton.Fast) { x := 3 }
         stop when 100 < x \"x > 100\"
         automaton Outer
         mode Outer.Left (initial)
         Outer.Left.age' = 1
         automaton Outer.Left.automaton
         automaton Outer.Left.automaton2
         preempt when 5 < x -> Right
         may when 4 < x -> history Right { x := interval(1, 2) }
         mode Outer.Right
         x' = 0
         every 1 if x < 3 { x := x + 1 }
         invariant x <= 7
         domain 0 <= x
         at 20 -> Left
         else -> Right
         mode Outer.Left.automaton.Slow (initial)
         x' = 1
         when 2 <= Outer.Left.age -> Fast
         mode Outer.Left.automaton.Fast
         x' = 2
         after 3 -> Slow { x := 0 }
         mode Outer.Left.automaton2.Only (initial)",
    );
}

#[test]
fn crossings_events_and_sorts() {
    check(
        "model M {
            param enabled = true, n: Integer = 3
            state x = 0
            memory k: Integer = 0, lit = false
            signal big = x > 3
            event press at 20, 2 * n
            x' = if lit and big then 1 else -1
            on press { k := k + 1; lit := not lit }
            when rises(x) { k := 0 }
            when falls(big) { k := min(k, n) }
            when k == 3 and enabled { lit := k != 4 }
            when x == 0 or 0 <= x < 2 { k := 1 }
            output y = if n == 2 then 1 else 2
        }",
        "param enabled: Boolean = true
         param n: Integer = 3
         state x = 0
         memory k: Integer = 0
         memory lit: Boolean = false
         signal big: Boolean
         signal y
         event press at 20, 2 * n
         big = 3 < x
         y = if (n == 2) then 1 else 2
         x' = if (lit and big) then 1 else -1
         on press { k := k + 1; lit := not lit }
         rises 0 <= x { k := 0 }
         rises not big { k := min(k, n) }
         when (k == 3) and enabled { lit := not (k == 4) }
         when (x == 0) or ((0 <= x) and (x < 2)) { k := 1 }",
    );
}

#[test]
fn derivatives_can_be_read() {
    check(
        "model M {
            state x = 1
            automaton {
                initial mode A { x' = -x; when x' > -0.5 -> B }
                mode B { hold x }
            }
        }",
        "state x = 1
         signal x'
         automaton automaton
         mode automaton.A (initial)
         x' = x'
         x' = -x
         when -0.5 < x' -> B
         mode automaton.B
         x' = x'
         x' = 0",
    );
}

#[test]
fn functions_are_inlined_in_any_order() {
    check(
        "fn energy(x, v) = half * square(v) + g * x
         fn square(a) = a ^ 2
         param g = 9.81, half = 1 / 2
         model M {
            state x = 1, v = 0
            x' = v; v' = -g
            output e = energy(x, v)
         }",
        "param g = 9.81
         param half = 0.5
         state x = 1
         state v = 0
         signal e
         e = (half * v^2) + (g * x)
         x' = v
         v' = -g",
    );
}

#[test]
fn doubled_calls_stay_linear() {
    let mut text = String::from("fn f0(x) = x + 1\n");
    for k in 1..60 {
        text.push_str(&format!("fn f{k}(x) = f{}(x) * f{}(x)\n", k - 1, k - 1));
    }
    text.push_str("model M { state x = 0; x' = f59(x) }");
    assert_eq!(findings(&compile_text(&text), true), "");
}

#[test]
fn long_sums_and_long_chains_are_read() {
    let sum = vec!["x"; 400].join(" + ");
    let mut text = format!("model M {{ state x = 0; x' = {sum}\n");
    // In reverse order, so that each signal waits for the next.
    for k in 0..3000 {
        text.push_str(&format!("output s{k} = s{} + 1\n", k + 1));
    }
    text.push_str("output s3000 = x }");
    assert!(dumped(&text).contains("s2999 = s3000 + 1"));
}

#[test]
fn freewheel_needs_equations_that_are_reserved() {
    let compiled = compile_text(
        "model Freewheel {
            param V = 1, R = 1, L = 1
            state p = 0
            signal v, iS, iD
            flow {
                p' = v
                iS + iD = p / L
            }
            automaton Switch {
                initial mode Closed { flow { v = V - R * iS }; at 1 -> Open }
                mode Open           { flow { iS = 0 } }
            }
            automaton Diode {
                initial mode Off { flow { iD = 0 }; when -v > 0 -> On }
                mode On          { flow { v = 0 };  when iD < 0 -> Off }
            }
        }",
    );
    assert_eq!(
        findings(&compiled, true),
        "E114 7 `iS + iD`: an equation has a variable or a derivative alone on its left side"
    );
    assert!(compiled.system.is_none());
}
