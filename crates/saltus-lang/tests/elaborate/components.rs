//! Components: instances, ports, parameters, nesting, instances inside modes.

use super::{check, compile_text, dump, dumped, findings};
use saltus_lang::{compile, compile_with};

const THERMOSTAT: &str = "
component Thermostat(lo = 19, hi = 21) {
    input  ambient
    output temp = x
    state  x = 20
    automaton {
        initial mode Heating {
            flow { x' = -0.1 * (x - ambient) + 2 }
            when x >= hi -> Idle
        }
        mode Idle {
            flow { x' = -0.1 * (x - ambient) }
            invariant x >= lo
            may when x <= lo + 0.5 -> Heating
        }
    }
}
";

const HOUSE: &str = "
model House {
    rooms: Thermostat[3](lo = 18)                  // instances; one form for all
    rooms[1].ambient = 5 + 3 * sin(2 * pi * time / 86400)
    for k in 2..3 { rooms[k].ambient = rooms[k - 1].temp }
    every 60 { log := mean(rooms[1..3].temp) }      // discrete time, held between ticks
    memory log = 0
    stop when rooms[1].temp < 10 \"frozen\"
}
";

#[test]
fn house_without_any_complaint() {
    let compiled = compile_text(&format!("{THERMOSTAT}{HOUSE}"));
    assert_eq!(findings(&compiled, true), "");
    let system = compiled.system.expect("no errors");
    let text = dump::dump(&system);
    for line in [
        "param rooms[2].lo = 18",
        "param rooms[2].hi = 21",
        "signal rooms[3].ambient",
        "memory log = 0",
        "rooms[1].ambient = 5 + (3 * sin((6.283185307179586 * time) / 86400))",
        "rooms[3].ambient = rooms[2].temp",
        "rooms[3].temp = rooms[3].x",
        "every 60 { log := ((rooms[1].temp + rooms[2].temp) + rooms[3].temp) / 3 }",
        "stop when rooms[1].temp < 10 \"frozen\"",
        "mode rooms[2].automaton.Idle",
        "may when rooms[3].x <= (rooms[3].lo + 0.5) -> Heating",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    assert_eq!(system.automata.len(), 3);
    let paths: Vec<&str> = system.instances.iter().map(|i| i.path.as_str()).collect();
    assert_eq!(paths, ["", "rooms[1]", "rooms[2]", "rooms[3]"]);
    assert_eq!(system.instances[2].automata.len(), 1);
    assert_eq!(system.instances[2].parent, Some(0));
}

#[test]
fn arguments_are_read_outside_and_body_parameters_are_settable() {
    check(
        "component Part(k, n = 2) {
            param gain = k * n
            output y = gain * time
         }
         component Pair(k = 5) {
            a: Part(k = k + 1)
            b: Part(k = 2, gain = k)
         }
         model M {
            param k = 10
            pair: Pair(k = 2 * k)
            output z = pair.a.y + pair.b.gain
         }",
        "param k = 10
         param pair.k = 2 * k
         param pair.a.k = pair.k + 1
         param pair.a.n = 2
         param pair.a.gain = pair.a.k * pair.a.n
         param pair.b.k = 2
         param pair.b.n = 2
         param pair.b.gain = pair.k
         signal pair.a.y
         signal z
         signal pair.b.y
         z = pair.a.y + pair.b.gain
         pair.a.y = pair.a.gain * time
         pair.b.y = pair.b.gain * time",
    );
}

#[test]
fn array_arguments_go_to_the_elements() {
    check(
        "component P(k = 0, w = [1, 2]) { output y = k + w[1] * w[2] }
         model M { p: P[2](k = [5, 6], w = [7, 8]) }",
        "param p[1].k = 5
         param p[1].w[1] = 7
         param p[1].w[2] = 8
         param p[2].k = 6
         param p[2].w[1] = 7
         param p[2].w[2] = 8
         signal p[1].y
         signal p[2].y
         p[1].y = p[1].k + (p[1].w[1] * p[1].w[2])
         p[2].y = p[2].k + (p[2].w[1] * p[2].w[2])",
    );
}

#[test]
fn input_defaults_give_way_to_connections() {
    check(
        "component C { input u = 7, v[2] = [1, 2]; output y = u + v[1] + v[2] }
         model M {
            a: C
            b: C
            b.u = time
            b.v[2] = 5
            input w = a.y
            output z = w
         }",
        "signal a.u
         signal a.v[1]
         signal a.v[2]
         signal a.y
         signal w
         signal z
         signal b.u
         signal b.v[1]
         signal b.v[2]
         signal b.y
         z = w
         a.y = (a.u + a.v[1]) + a.v[2]
         b.y = (b.u + b.v[1]) + b.v[2]
         b.u = time
         b.v[2] = 5
         w = a.y
         a.u = 7
         a.v[1] = 1
         a.v[2] = 2
         b.v[1] = 1",
    );
}

#[test]
fn instances_inside_modes_live_there() {
    let compiled = compile_text(
        "component Law(goal) {
            input x
            state integral = x - goal
            integral' = x - goal
            output u = -(x - goal) - integral
            automaton Speed {
                initial mode Slow { when u > 1 -> Fast }
                mode Fast {}
            }
         }
         model M {
            state x = 1
            x' = u
            signal u
            automaton Control {
                initial mode Up { law: Law(goal = 5); law.x = x; u = law.u; when x > 4 -> Down }
                mode Down { law: Law(goal = 1); law.x = x; u = law.u; when law.Speed.Fast -> Up }
            }
         }",
    );
    assert_eq!(findings(&compiled, true), "");
    let system = compiled.system.expect("no errors");
    let text = dump::dump(&system);
    for line in [
        "param Control.Up.law.goal = 5\n",
        "state Control.Up.law.integral = Control.Up.law.x - Control.Up.law.goal in Control.Up\n",
        "when in(Control.Down.law.Speed.Fast) -> Up",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    let inner = system.automata.iter().find(|a| a.name == "Control.Up.law.Speed").expect("declared");
    assert_eq!(inner.parent.map(|m| system.mode_path(m)).as_deref(), Some("Control.Up"));
    let instance = system.instances.iter().find(|i| i.path == "Control.Down.law").expect("made");
    assert_eq!(instance.mode.map(|m| system.mode_path(m)).as_deref(), Some("Control.Down"));
}

#[test]
fn collisions_reset_states_of_instances() {
    let text = dumped(
        "component Ball(x0) { state x = x0, v = 0; x' = v; v' = 0 }
         model Cradle {
            balls: Ball[3](x0 = [0, 1, 2])
            for i in 1..2 {
                when balls[i].x >= balls[i + 1].x and balls[i].v > balls[i + 1].v {
                    balls[i].v := balls[i + 1].v
                    balls[i + 1].v := balls[i].v
                }
            }
         }",
    );
    assert!(text.contains("{ balls[2].v := balls[3].v; balls[3].v := balls[2].v }"), "{text}");
}

#[test]
fn used_files_are_relative_and_shared() {
    let files = |path: &str| match path {
        "lib/heat.salt" => Ok("use \"base.salt\"\ncomponent Room { input u; output y = scale(u) }".into()),
        "lib/base.salt" => Ok("param factor = 2\nfn scale(u) = factor * u".into()),
        "data/w.csv" => Ok("time,out\n0,1\n10,3\n".into()),
        other => Err(format!("no {other}")),
    };
    let text = "use \"../lib/heat.salt\"
        use \"../lib/base.salt\"
        model M { r: Room; r.u = csv(\"../data/w.csv\", \"out\", \"hold\"); param factor = 3; output z = factor }";
    let compiled = compile("models/m.salt", text, None, &files);
    let system = compiled.system.expect("no errors");
    let text = dump::dump(&system);
    assert!(text.contains("r.y = base.factor * r.u\n"), "{text}");
    assert!(text.contains("r.u = table0(time)\n"), "{text}");
    assert_eq!(system.graph.table(saltus_expr::TableId(0)).values, [1.0, 3.0]);
}

#[test]
fn sizes_follow_parameters_set_from_outside() {
    let text = "component Cell(n) { state x[n] = 0; hold x }
        model M { param n = 2; param k = 1; cells: Cell[n](n = k + 1); output y = k }";
    let none = |p: &str| Err(format!("no {p}"));
    let set = [("n".to_string(), 3.0), ("k".to_string(), 3.0)];
    let system = compile_with("m.salt", text, None, &set, &none).system.expect("no errors");
    assert_eq!(
        system
            .root
            .equations
            .iter()
            .filter(|e| matches!(e.target, saltus_model::Target::Derivative(_)))
            .count(),
        12
    );
    let names: Vec<&str> = system.structural.iter().map(|&v| system.variable(v).name.as_str()).collect();
    assert_eq!(names, ["n", "k", "cells[1].n", "cells[2].n", "cells[3].n"]);
}

#[test]
fn a_thousand_rooms_are_quick_and_an_error_is_told_once() {
    let many = HOUSE.replace("[3]", "[1000]").replace("2..3", "2..1000");
    let started = std::time::Instant::now();
    let text = format!("{THERMOSTAT}{many}");
    assert_eq!(compile_text(&text).system.expect("no errors").automata.len(), 1000);
    let wrong = text.replace("- ambient) + 2", "- ambeint) + 2");
    let told = findings(&compile_text(&wrong), true);
    assert_eq!(told, "E101 8 `ambeint`: `ambeint` is not declared");
    assert!(started.elapsed().as_secs() < 20, "elaboration is not linear any more");
}
