//! Events that accumulate, against the closed forms of where they do.

use saltus::{EventMethod, Loader, Options, Run, Solver, Status};

fn run(text: &str, change: impl FnOnce(&mut Options)) -> Run {
    let model = Loader::default().text("model.salt", text).expect("a model without errors");
    let mut options = model.options().expect("options");
    options.until = Some(1e3);
    options.limits.events = 20_000;
    change(&mut options);
    model.run(options).expect("a run")
}

/// Solvers and event methods that follow contracting events. Endpoints alone miss flights within a step,
/// and Euler's method gives a ball energy in each of its steps.
fn methods() -> Vec<(Solver, EventMethod)> {
    let follows = |method: &EventMethod| !matches!(method, EventMethod::Endpoint | EventMethod::Printed);
    let all = Solver::ALL.into_iter().filter(|solver| *solver != Solver::Euler);
    all.flat_map(|solver| solver.methods().iter().filter(move |m| follows(m)).map(move |&m| (solver, m)))
        .collect()
}

fn by(options: &mut Options, (solver, method): (Solver, EventMethod)) {
    options.solver = solver;
    options.events = Some(method);
    options.step = solver.has_fixed_step().then_some(1e-3);
}

fn ball(height: f64, gravity: f64, restitution: f64, guard: &str) -> String {
    format!(
        "model Ball {{
            state x = {height:e}, v = 0
            flow {{ x' = v; v' = -{gravity:e} }}
            when {guard} {{ v := -{restitution} * v }}
        }}"
    )
}

/// Where the impacts of a ball dropped at rest accumulate.
fn limit(height: f64, gravity: f64, restitution: f64) -> f64 {
    (2.0 * height / gravity).sqrt() * (1.0 + restitution) / (1.0 - restitution)
}

/// Asserts that a run ends as its events accumulate at a time, up to a part of that time.
fn assert_accumulates(run: &Run, limit: f64, accuracy: f64, what: &str) {
    let (ending, events) = (&run.ending, run.events.len());
    assert_eq!(ending.status, Status::Zeno, "{what}: {events} events, {ending:?}");
    let off = (ending.stamp.t - limit).abs() / limit;
    assert!(off <= accuracy, "{what}: off by {off:e}, {ending:?}");
}

const GUARD: &str = "x <= 0 and v < 0";

#[test]
fn every_method_finds_where_impacts_accumulate() {
    for restitution in [0.1, 0.5, 0.8, 0.9, 0.95] {
        for method in methods() {
            let found = run(&ball(10.0, 9.81, restitution, GUARD), |o| by(o, method));
            let what = format!("{} {} with {restitution}", method.0, method.1);
            assert_accumulates(&found, limit(10.0, 9.81, restitution), 1e-8, &what);
        }
    }
}

#[test]
fn every_form_of_the_guard_accumulates() {
    for guard in [GUARD, "x <= 0 and v <= 0", "x <= 0", "falls(x)", "x < 0"] {
        for method in methods() {
            let found = run(&ball(10.0, 9.81, 0.8, guard), |o| by(o, method));
            let what = format!("{} {} with {guard}", method.0, method.1);
            assert_accumulates(&found, limit(10.0, 9.81, 0.8), 1e-8, &what);
        }
    }
}

/// Intervals that hardly shrink are recognised before they are lost in rounding, or where they are.
#[test]
fn elastic_impacts_accumulate() {
    for restitution in [0.99, 0.995, 0.998] {
        for method in methods().into_iter().filter(|method| !method.0.has_fixed_step()) {
            for rtol in [1e-6, 1e-12] {
                let found = run(&ball(0.1, 9.81, restitution, GUARD), |o| {
                    by(o, method);
                    o.rtol = rtol;
                });
                let what = format!("{} {} with {restitution}, {rtol:e}", method.0, method.1);
                assert_accumulates(&found, limit(0.1, 9.81, restitution), 1e-6, &what);
            }
        }
    }
}

/// Instances of one component have rules of one text.
#[test]
fn one_ball_of_many_accumulates() {
    let text = "component Ball(height = 1, e = 0.9) {
        state x = height, v = 0
        flow { x' = v; v' = -9.81 }
        when x <= 0 and v < 0 { v := -e * v }
    }
    model Balls {
        one: Ball(height = 10)
        two: Ball(height = 3, e = 0.8)
        three: Ball(height = 4)
    }";
    for method in methods() {
        let found = run(text, |o| by(o, method));
        assert_accumulates(&found, limit(3.0, 9.81, 0.8), 1e-8, &format!("{} {}", method.0, method.1));
    }
}

/// Fixed steps know nothing of scales.
#[test]
fn scales_do_not_matter() {
    for (height, gravity, accuracy) in [(1e6, 1e-6, 1e-7), (1e-4, 9.81, 1e-6), (1e6, 9.81, 1e-7)] {
        for method in methods().into_iter().filter(|method| !method.0.has_fixed_step()) {
            let found = run(&ball(height, gravity, 0.8, GUARD), |o| {
                by(o, method);
                o.until = Some(1e9);
            });
            let what = format!("{} {} from {height:e} with {gravity:e}", method.0, method.1);
            assert_accumulates(&found, limit(height, gravity, 0.8), accuracy, &what);
        }
    }
}

/// What is pinned at an impact is the distance, which reads two states.
#[test]
fn impacts_on_a_moving_table_accumulate() {
    let text = "model Table {
        state x = 10, v = 0, y = 0
        flow { x' = v; v' = -9.81; y' = 0.25 }
        when x <= y and v < 0.25 { v := 0.25 - 0.8 * (v - 0.25) }
    }";
    // Seen from the table, the ball starts downwards.
    let impact = (0.25_f64.powi(2) + 2.0 * 9.81 * 10.0).sqrt();
    let limit = (impact - 0.25) / 9.81 + 2.0 * impact / 9.81 * 0.8 / 0.2;
    for method in methods() {
        let found = run(text, |o| by(o, method));
        assert_accumulates(&found, limit, 1e-8, &format!("{} {}", method.0, method.1));
    }
}

/// The first of two balls to come to rest ends the run, and the events of the other do not hide it.
#[test]
fn the_first_of_two_balls_accumulates() {
    let text = "model Balls {
        state x = 10, v = 0, y = 3, w = 0
        flow { x' = v; v' = -9.81; y' = w; w' = -9.81 }
        when x <= 0 and v < 0 { v := -0.8 * v }
        when y <= 0 and w < 0 { w := -0.7 * w }
    }";
    for method in methods() {
        let found = run(text, |o| by(o, method));
        assert_accumulates(&found, limit(3.0, 9.81, 0.7), 1e-8, &format!("{} {}", method.0, method.1));
    }
}

/// Guards of balls that come to rest at one time are ever nearer to each other, and not one.
#[test]
fn two_balls_accumulate_at_one_time() {
    let limit = limit(10.0, 9.81, 0.8);
    let height = 9.81 / 2.0 * (limit * (1.0 - 0.6) / (1.0 + 0.6)).powi(2);
    let text = format!(
        "model Balls {{
            state x = 10, v = 0, y = {height:e}, w = 0
            flow {{ x' = v; v' = -9.81; y' = w; w' = -9.81 }}
            when x <= 0 and v < 0 {{ v := -0.8 * v }}
            when y <= 0 and w < 0 {{ w := -0.6 * w }}
        }}"
    );
    for rtol in [1e-6, 1e-10] {
        for method in methods() {
            let found = run(&text, |o| {
                by(o, method);
                o.rtol = rtol;
            });
            assert_accumulates(&found, limit, 1e-7, &format!("{} {} with {rtol:e}", method.0, method.1));
        }
    }
}

/// On the way up no guard reads the height. Falls from rest that are a thousandth of a fixed step long are
/// lost in the rounding of Sturm's remainders.
#[test]
fn impacts_between_modes_accumulate() {
    let text = "model Modes {
        state x = 10, v = 0
        flow { x' = v; v' = -9.81 }
        automaton {
            initial mode Down { when x <= 0 and v < 0 -> Up { v := -0.8 * v } }
            mode Up { when v <= 0 -> Down }
        }
    }";
    let is_lost =
        |method: &(Solver, EventMethod)| method.0.has_fixed_step() && method.1 == EventMethod::Sturm;
    for method in methods().into_iter().filter(|method| !is_lost(method)) {
        let found = run(text, |o| by(o, method));
        assert_accumulates(&found, limit(10.0, 9.81, 0.8), 1e-8, &format!("{} {}", method.0, method.1));
    }
}

/// With functions that have edges, rounding is told by time alone; and the closer the tolerance, the
/// shorter the last flights. The first heights are rounded by about 1e-15, and flights below that last
/// about 1e-8; some of them are all that can be told.
#[test]
fn close_tolerances_and_edges_accumulate() {
    let text = "model Edge {
        state x = 10, v = 0, z = 1
        flow { x' = v; v' = -9.81; z' = -0.1 * sqrt(1 + z) }
        when x <= 0 and v < 0 { v := -0.8 * v }
    }";
    for rtol in [1e-3, 1e-6, 1e-9, 1e-12] {
        for text in [text, &ball(10.0, 9.81, 0.8, GUARD)] {
            for method in [EventMethod::Extrapolation, EventMethod::Certified, EventMethod::Validated] {
                let found = run(text, |o| {
                    o.events = Some(method);
                    o.rtol = rtol;
                });
                let what = format!("{method} with {rtol:e}");
                assert_accumulates(&found, limit(10.0, 9.81, 0.8), (1e-2 * rtol).max(1e-7), &what);
            }
        }
    }
}

/// Water that two tanks lose together is not enough for both: the hose turns ever faster until they are
/// empty at one time.
#[test]
fn a_hose_between_two_tanks_accumulates() {
    let text = "model Tanks {
        state x = 1, y = 1
        automaton Hose {
            initial mode X { flow { x' = 0.75 - 0.5; y' = -0.5 }; when y <= 0 -> Y }
            mode Y { flow { x' = -0.5; y' = 0.75 - 0.5 }; when x <= 0 -> X }
        }
    }";
    let limit = (1.0 + 1.0) / (0.5 + 0.5 - 0.75);
    for method in methods().into_iter().chain([(Solver::Euler, EventMethod::Extrapolation)]) {
        let found = run(text, |o| by(o, method));
        assert_accumulates(&found, limit, 1e-8, &format!("{} {}", method.0, method.1));
    }
}
