//! A system that a program builds and the one that the same text makes are the same: equal traces,
//! to the last bit.

use saltus::model::builder::{Block, BuildError, Builder, interval};
use saltus::{HybridSystem, Model, Options, Policy, Rows, Run, Status};

/// Everything of a run but what depends on the clock and on places in the text.
fn record(model: &Model, run: &Run) -> String {
    let mut lines = vec![format!("{:?} {:?} {}", run.ending.status, run.ending.stamp, run.stats.steps)];
    for event in &run.events {
        let changes = run.changes[event.changes.clone()].iter();
        let changes: Vec<_> = changes.map(|c| (c.variable, c.before.to_bits(), c.after.to_bits())).collect();
        let stamp = (event.stamp.t.to_bits(), event.stamp.n, event.stamp.i);
        lines.push(format!("{:?} {} {stamp:?} {:?} {changes:?}", event.kind, event.name, event.transition));
    }
    lines.push(format!("{:?}", run.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>()));
    lines.push(model.table(run, Rows::Every(0.01)));
    lines.join("\n")
}

fn check(text: &str, built: HybridSystem) -> Run {
    let written =
        Model::from_text("model.salt", text).unwrap_or_else(|e| panic!("{}", e.render(Default::default())));
    let built = Model::from_system(built);
    let names = |m: &Model| m.system().variables.iter().map(|v| v.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&written), names(&built));
    let mut last = None;
    for policy in [Policy::Eager, Policy::Lazy, Policy::Random] {
        let run = |m: &Model| m.run(Options { policy, seed: 7, ..m.options().unwrap() }).unwrap();
        let (wanted, found) = (run(&written), run(&built));
        assert_eq!(record(&built, &found), record(&written, &wanted), "{policy:?}");
        assert_eq!(built.figure(&found).svg(), written.figure(&wanted).svg());
        last = last.or(Some(found));
    }
    last.unwrap()
}

#[test]
fn bouncing_ball() {
    let b = Builder::new("BouncingBall");
    let (g, e) = (b.parameter("g", 9.81), b.parameter("e", 0.8));
    let (x, v) = (b.state("x", 10), b.state("v", interval(-1, 1)));
    b.flow(x, v);
    b.flow(v, -g);
    b.when(x.le(0).and(v.lt(0))).set(v, -e * v);
    b.until(5);
    b.plot(&[x, v]);
    b.setting("rtol", "1e-9");
    let run = check(
        "model BouncingBall {
            param g = 9.81, e = 0.8
            state x = 10, v = interval(-1, 1)
            flow { x' = v; v' = -g }
            when x <= 0 and v < 0 { v := -e * v }
            run { until 5; plot x, v; rtol 1e-9 }
        }",
        b.finish().unwrap(),
    );
    assert!(run.events.len() >= 2);
}

#[test]
fn thermostat_with_invariant_and_may() {
    let b = Builder::new("Thermostat");
    let x = b.state("x", 20.0);
    let ambient = b.signal("ambient", 5 + 3 * (0.5 * b.time()).sin());
    let control = b.automaton("control");
    let (heating, idle) = (control.mode("Heating"), control.mode("Idle"));
    heating.flow(x, -0.1 * (x - ambient) + 2.0);
    heating.when(x.ge(21.0)).to(idle);
    idle.flow(x, -0.1 * (x - ambient));
    idle.invariant(x.ge(19.0));
    idle.when(x.le(19.5)).may().to(heating);
    b.until(20.0);
    let run = check(
        "model Thermostat {
            state x = 20
            signal ambient = 5 + 3 * sin(0.5 * time)
            automaton control {
                initial mode Heating {
                    flow { x' = -0.1 * (x - ambient) + 2 }
                    when x >= 21 -> Idle
                }
                mode Idle {
                    flow { x' = -0.1 * (x - ambient) }
                    invariant x >= 19
                    may when x <= 19.5 -> Heating
                }
            }
            run { until 20 }
        }",
        b.finish().unwrap(),
    );
    assert!(run.events.len() > 4);
}

#[test]
fn nested_modes_history_and_time_events() {
    let b = Builder::new("Machine");
    let k = b.memory("k", 0);
    let lit = b.memory("lit", false);
    let x = b.state("x", 0.0);
    let press = b.event("press", [1.25, 4.0]);
    let main = b.automaton("main");
    let (run, pause) = (main.mode("Run"), main.mode("Pause"));
    let y = run.state("y", x + 1.0);
    let power = b.open_signal("power");
    let step = run.automaton("step");
    let (slow, choice, quick) = (step.mode("Slow"), step.mode("Choice"), step.mode("Quick"));
    b.flow(x, power - 0.2 * x.pow(2));
    b.every(0.5).given(lit).set(k, (k + 1).modulo(4));
    b.stop(x.ge(40.0), "full");
    b.domain(x.gt(-1.0));
    run.flow(y, quick.is_active().choose(2.0, 1.0));
    run.on(press).set(lit, !lit).preempt().to(pause);
    run.rises(y.gt(5.0)).set(y, 0.0).set(x, x.max(0.5).sqrt());
    pause.define(power, -x);
    pause.after(1.0).set(x, interval(0.0, 1.0)).to_history(run);
    slow.define(power, 1.0);
    slow.after(0.75).to(choice);
    choice.define(power, 0.0);
    choice.when(k.eq(2)).to(slow);
    choice.otherwise().to(quick);
    quick.define(power, k + 3);
    quick.at(2.5).to(slow);
    quick.when(x.abs().ge(2.0).and(k.eq(1))).to(slow);
    b.until(8.0);
    let run = check(
        "model Machine {
            memory k = 0
            memory lit = false
            state x = 0
            event press at 1.25, 4
            signal power
            x' = power - 0.2 * x^2
            every 0.5 when lit { k := mod(k + 1, 4) }
            stop when x >= 40 \"full\"
            domain x > -1
            automaton main {
                initial mode Run {
                    state y = x + 1
                    y' = if step.Quick then 2 else 1
                    preempt on press -> Pause { lit := not lit }
                    when rises(y > 5) { y := 0; x := sqrt(max(x, 0.5)) }
                    automaton step {
                        initial mode Slow { power = 1; after 0.75 -> Choice }
                        mode Choice { power = 0; when k == 2 -> Slow; else -> Quick }
                        mode Quick {
                            power = k + 3
                            at 2.5 -> Slow
                            when abs(x) >= 2 and k == 1 -> Slow
                        }
                    }
                }
                mode Pause {
                    power = -x
                    after 1 -> history Run { x := interval(0, 1) }
                }
            }
            run { until 8 }
        }",
        b.finish().unwrap(),
    );
    assert!(run.events.len() > 8, "{}", run.events.len());
}

#[test]
fn an_accumulation_is_found_in_a_built_system() {
    let b = Builder::new("Zeno");
    let (x, v) = (b.state("x", 1.0), b.state("v", 0.0));
    b.flow(x, v);
    b.flow(v, -9.81);
    b.when(x.le(0.0)).given(v.lt(0.0)).set(v, -0.5 * v);
    b.until(10.0);
    let model = Model::from_system(b.finish().unwrap());
    let run = model.run(model.options().unwrap()).unwrap();
    assert_eq!(run.ending.status, Status::Zeno);
}

#[test]
fn reports_quote_what_was_said() {
    let b = Builder::new("Blocked");
    let x = b.state("x", 0.0);
    b.flow(x, 1.0);
    b.invariant(x.le(2.0));
    let model = Model::from_system(b.finish().unwrap());
    let run = model.run(Options::default()).unwrap();
    assert_eq!(run.ending.status, Status::Blocked);
    assert_eq!(run.ending.reason, "invariant x <= 2 ends and no transition is enabled");
}

#[test]
fn mistakes_are_reported_together() {
    let other = Builder::new("Other");
    let foreign = other.state("z", 0.0);
    let b = Builder::new("Wrong");
    let p = b.parameter("p", f64::NAN);
    let (x, y) = (b.state("x", 0.0), b.state("y", 0.0));
    let k = b.memory("k", 0);
    let a = b.automaton("a");
    let (m1, m2) = (a.mode("M1"), a.mode("M2"));
    let c = b.automaton("c").mode("M1");
    b.automaton("empty");
    b.flow(x, foreign);
    b.flow(x, 1.0);
    b.flow(p, 1.0);
    m1.flow(y, 2.0);
    m1.after(x).to(c);
    m1.otherwise();
    m1.otherwise().given(x.le(0.0)).to(m2);
    m2.when(x.ge(1.0)).set(k, x).set(x, 1.0).set(x, 2.0).set(p, 1.0);
    let own = m2.state("own", 0.0);
    b.hold(own);
    let errors = b.finish().unwrap_err().0;
    let name = |s: &str| s.to_string();
    use saltus::expr::Sort;
    let expected = [
        BuildError::NotFinite(name("NaN")),
        BuildError::Foreign,
        BuildError::NotA { expression: name("p"), wanted: "a state" },
        BuildError::FlowingTime(name("after x")),
        BuildError::Sort { target: name("k"), wanted: Sort::Integer, given: Sort::Real },
        BuildError::DoubleWrite { rule: name("when x >= 1"), variable: name("x") },
        BuildError::NotA { expression: name("p"), wanted: "a state or memory" },
        BuildError::Target(name("after x")),
        BuildError::NotATransition(name("else")),
        BuildError::ElseCondition(name("a.M1")),
        BuildError::NoMode(name("empty")),
        BuildError::TwoEquations(name("x")),
        BuildError::NoEquation { variable: name("y"), state: true, modes: vec![name("a.M2")] },
        BuildError::OutsideMode(name("a.M2.own")),
    ];
    assert_eq!(errors, expected);
}
