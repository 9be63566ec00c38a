//! Non-smooth functions in flows, alone and within each other, against integrals done by hand; and
//! guards whose series end before the step does.

use saltus::{EventMethod, Loader, Options, Run, Solver, Status};
use std::f64::consts::PI;

/// The derivative of y, that of s with its starting value, the end, and the last y from y = 0.
type Case = (&'static str, f64, f64, f64, f64);

const RISING: [Case; 16] = [
    ("if mod(floor(time), 2) == 0 then 1 else 0", 1.0, 0.0, 5.0, 3.0),
    ("if mod(floor(s), 2) < 0.5 then 1 else 0", 1.0, 0.0, 5.0, 3.0),
    ("if floor(s) == 1 then 1 else 0", 1.0, 0.0, 3.0, 1.0),
    ("mod(floor(time), 2)", 1.0, 0.0, 5.0, 2.0),
    ("if mod(time, 2) < 1 then 1 else 0", 1.0, 0.0, 5.0, 3.0),
    ("if mod(floor(time + 0.5), 2) == 0 then 1 else 0", 1.0, 0.0, 5.0, 2.5),
    ("sign(mod(floor(s), 2) - 0.5)", 1.0, 0.0, 5.0, -1.0),
    ("abs(mod(floor(s), 2))", 1.0, 0.0, 5.0, 2.0),
    ("if mod(s, 1) < 0.3 then 1 else 0", 1.0, 0.0, 3.0, 0.9),
    ("min(floor(s), 1)", 1.0, 0.0, 3.0, 2.0),
    ("floor(2*mod(s, 1))", 1.0, 0.0, 3.0, 1.5),
    ("abs(mod(s, 1) - 0.5)", 1.0, 0.0, 3.0, 0.75),
    ("sign(mod(s, 1) - 0.3)", 1.0, 0.0, 3.0, 1.2),
    ("ceil(s)", 1.0, 2.0, 2.0, 7.0),
    ("abs(sin(pi*time))", 1.0, 0.0, 2.5, 5.0 / PI),
    ("abs((time - 0.5)*(time - 1))", 1.0, 0.0, 1.5, 0.229_166_666_666_666_67),
];

/// The argument stands on an edge at the start, and leaves it downwards.
const FALLING: [Case; 8] = [
    ("floor(s)", -1.0, 2.0, 4.0, -2.0),
    ("mod(s, 1)", -1.0, 2.0, 4.0, 2.0),
    ("mod(s, 2)", -1.0, 2.0, 4.0, 4.0),
    ("round(s + 0.5)", -1.0, 2.0, 4.0, 2.0),
    ("table(s, [-2, 2], [0, 4])", -1.0, 2.0, 4.0, 8.0),
    ("table(s, [-2, 0, 2], [1, 2, 3], interpolation = \"hold\")", -1.0, 2.0, 4.0, 6.0),
    ("floor(3 - time)", -1.0, 0.0, 3.0, 3.0),
    ("mod(-time, 1)", -1.0, 0.0, 3.0, 1.5),
];

/// The argument touches an edge, or comes back to one that it has met.
const TURNING: [Case; 4] = [
    ("atan2(sin(s), cos(s))", 1.0, 0.0, 10.0, 3.293_129_065_123_138),
    ("table(sin(time), [0, 0.5, 1], [0, 1, 4])", 1.0, 0.0, PI, 6.739_413_0),
    ("mod(sin(time), 0.25)", 1.0, 0.0, 3.0, 0.445_968_6),
    ("ceil(3*cos(time + 0.5))", 1.0, 0.0, 2.0 * PI, PI),
];

/// The flow is zero at a point where it has no expansion, or happens to be zero.
const RESTING: [Case; 8] = [
    ("sqrt(time)", 1.0, 0.0, 2.0, 1.885_618_083_164_126_7),
    ("time^(1/3)", 1.0, 0.0, 1.0, 0.75),
    ("time*sqrt(time)", 1.0, 0.0, 1.0, 0.4),
    ("abs(time - 1)^(1/3)", 1.0, 0.0, 2.0, 1.5),
    ("sqrt(abs(time - 1))", 1.0, 0.0, 2.0, 4.0 / 3.0),
    ("sign(s)*abs(s)^(1/3)", 1.0, -1.0, 3.0, 0.75 * (2.519_842_099_789_746_3 - 1.0)),
    ("sin(pi*time)^2", 1.0, 0.0, 3.0, 1.5),
    ("time^3*(3 - time)^2", 1.0, 0.0, 3.0, 12.15),
];

/// The argument touches the end of where the function exists; its series goes on smoothly behind.
const TOUCHING: [Case; 6] = [
    ("sqrt(cos(s)^2)", 1.0, 0.1, 4.0, 2.718_443_694_417_582),
    ("sqrt(1 - sin(time)^2)", 1.0, 0.0, 2.0 * PI, 4.0),
    ("asin(sin(s))", 1.0, 0.1, 4.0, 2.003_128_779_445_813),
    ("acos(cos(s))", 1.0, 0.1, 6.0, 9.847_825_972_706_119),
    ("sqrt(1 + sin(3*s))", 1.0, 0.0, 10.0, 9.154_773_247_143_343),
    ("hypot(sin(s), sin(2*s))", 1.0, 0.1, 10.0, 9.310_831_391_994_524),
];

/// Flows by which h comes to rest after a finite time, beside g with its rate, and the last g.
const EMPTYING: [(&str, &str, f64); 4] = [
    ("-sqrt(h)*(1 + 0.1*sin(time))", "-g", 0.5 * 0.002_478_752_176_666_358_4),
    ("-sqrt(h)*(1 + 0.1*g)", "-g", 0.5 * 0.002_478_752_176_666_358_4),
    ("-h^0.7", "-g", 0.5 * 0.002_478_752_176_666_358_4),
    ("-sqrt(h)", "1 - g", 1.0 - 0.5 * 0.002_478_752_176_666_358_4),
];

/// The ways to run a model one after another.
fn for_each_way(
    text: &str,
    ways: &[(Solver, EventMethod)],
    tolerance: f64,
    mut look: impl FnMut(&str, &Run),
) {
    let model = Loader::default().text("model.salt", text).unwrap_or_else(|e| panic!("{text}: {e}"));
    for &(solver, method) in ways {
        let options = model.options().expect("options");
        let (rtol, atol) = (tolerance, 1e-2 * tolerance);
        let options = Options { solver, events: Some(method), rtol, atol, ..options };
        look(&format!("{solver}, {method}"), &model.run(options).expect("a run"));
    }
}

fn check(cases: &[Case], ways: &[(Solver, EventMethod)]) {
    for &(flow, rate, start, until, right) in cases {
        let text = format!(
            "model M {{\n state y = 0, s = {start}\n s' = {rate}\n y' = {flow}\n run {{ until {until} }}\n}}"
        );
        for_each_way(&text, ways, 1e-8, |way, run| {
            let y = run.values[1];
            assert!((y - right).abs() < 1e-5, "{flow}, {way}: {y}, not {right}; {:?}", run.ending);
            assert_eq!(run.stats.outside_domain_evals, 0, "{flow}, {way}");
        });
    }
}

const TAYLOR: [(Solver, EventMethod); 3] = [
    (Solver::Taylor, EventMethod::Extrapolation),
    (Solver::Taylor, EventMethod::Certified),
    (Solver::Taylor, EventMethod::Interpolation),
];
const OTHERS: [(Solver, EventMethod); 2] =
    [(Solver::Adams, EventMethod::Extrapolation), (Solver::RungeKutta, EventMethod::Interpolation)];

#[test]
fn branches_within_branches() {
    check(&RISING, &TAYLOR);
    check(&RISING, &OTHERS);
}

#[test]
fn arguments_that_start_on_an_edge() {
    check(&FALLING, &TAYLOR);
    check(&FALLING, &OTHERS);
}

#[test]
fn arguments_that_turn_at_an_edge() {
    check(&TURNING, &TAYLOR);
    check(&TURNING, &OTHERS);
}

#[test]
fn flows_that_are_zero_for_a_moment() {
    check(&RESTING, &TAYLOR[..2]);
    check(&RESTING, &OTHERS[..1]);
}

/// Guards, the rate and the start of s, the end, and the times at which they become true.
const GUARDS: [(&str, f64, f64, f64, &[f64]); 9] = [
    ("atan(s) >= atan(2)", 1.0, -1.0, 10.0, &[3.0]),
    ("sqrt(s) + s >= 3", 1.0, 0.0, 10.0, &[1.697_224_362_268_005_4]),
    ("sin(time) >= 0.5", 1.0, 0.0, 15.0, &[PI / 6.0, 13.0 * PI / 6.0, 25.0 * PI / 6.0]),
    ("exp(s) >= 1e20", 1.0, 0.0, 60.0, &[46.051_701_859_880_914]),
    ("1/s >= 1e8", -1.0, 1.0, 0.999_999_995, &[0.999_999_99]),
    ("s^13 >= 1", 1.0, 0.0, 9.0, &[1.0]),
    ("s^14 >= 1e5", 1.0, -1.0, 9.0, &[3.275_845_926_074_79]),
    ("(time - 5)^14 <= 1", 1.0, 0.0, 9.0, &[4.0]),
    ("floor(s) <= 0", -1.0, 2.0, 4.0, &[1.0]),
];

#[test]
fn guards_whose_series_are_shorter_than_the_step() {
    for (guard, rate, start, until, right) in GUARDS {
        let text = format!(
            "model M {{\n state s = {start}\n memory n = 0\n s' = {rate}\n when {guard} {{ n := n + 1 }}\n run {{ until {until} }}\n}}"
        );
        for_each_way(&text, &[&TAYLOR[..], &OTHERS].concat(), 1e-6, |way, run| {
            let times: Vec<f64> = run.events.iter().map(|event| event.stamp.t).collect();
            let is_right = times.len() == right.len()
                && times.iter().zip(right).all(|(t, right)| (t - right).abs() < 1e-5 * right);
            assert!(is_right, "{guard}, {way}: {times:?}, not {right:?}; {:?}", run.ending);
        });
    }
}

#[test]
fn arguments_that_touch_the_end_of_a_domain() {
    check(&TOUCHING, &[TAYLOR[0], TAYLOR[2]]);
}

#[test]
fn what_comes_to_rest_leaves_the_rest_moving() {
    for (flow, beside, right) in EMPTYING {
        let text = format!(
            "model M {{\n state h = 1, g = 0.5\n h' = {flow}\n g' = {beside}\n run {{ until 6 }}\n}}"
        );
        for_each_way(&text, &[TAYLOR[0], TAYLOR[1], OTHERS[0]], 1e-6, |way, run| {
            assert_eq!(run.ending.status, Status::Finished, "{flow}, {way}: {:?}", run.ending);
            let [h, g] = [run.values[1], run.values[2]];
            assert!(h.abs() < 1e-8 && (g - right).abs() < 1e-5, "{flow}, {way}: {h}, {g}");
            assert_eq!(run.stats.outside_domain_evals, 0, "{flow}, {way}");
        });
    }
}

#[test]
fn a_tank_that_has_run_empty_rests() {
    for level in [1.0, 4.0] {
        let text = format!("model Tank {{\n state h = {level}\n h' = -sqrt(h)\n run {{ until 6 }}\n}}");
        for_each_way(&text, &TAYLOR[..2], 1e-6, |way, run| {
            assert_eq!(run.ending.status, Status::Finished, "{level}, {way}: {:?}", run.ending);
            assert!(run.values[1].abs() < 1e-12 && run.stats.outside_domain_evals == 0, "{:?}", run.values);
        });
    }
}

#[test]
fn stairs_that_begin_at_an_edge_are_left_at_once_by_all_solvers() {
    // y' = s(x) for x' = slope from x = 0 until 3.
    let cases =
        [("ceil(x)", 1, 6.0), ("floor(x)", -1, -6.0), ("mod(x, 2)", -3, 19.0 / 6.0), ("floor(x)", 1, 3.0)];
    for (stair, slope, expected) in cases {
        let text =
            format!("model Stair {{ state y = 0, x = 0\nx' = {slope}\ny' = {stair}\nrun {{ until 3 }} }}");
        let model = Loader::default().text("stair.salt", &text).expect("a model without errors");
        for solver in [Solver::Taylor, Solver::Adams, Solver::RungeKutta] {
            let run = model.run(Options { solver, ..model.options().expect("options") }).expect("a run");
            let y = run.values[1];
            assert!((y - expected).abs() < 1e-5, "{stair} by {solver}: {y}, not {expected}");
        }
    }
}

/// Both cells of a stair drive its argument back to the edge between them: the run says so, soon.
#[test]
fn stairs_with_cells_that_drive_back_end_the_run() {
    // The flow, the start, and when the edge is met.
    let cases = [
        ("-floor(x) - 0.5", 1.0, 2.0),
        ("-floor(x) - 0.5", 2.5, 0.5 / 2.5 + 1.0 / 1.5 + 1.0 / 0.5),
        ("0.5 - floor(x + 0.25)", 1.0, 0.5),
        ("0.5 - ceil(x)", -1.0, 2.0),
        ("table(x, [0, 1, 2], [1, -1, -2], interpolation = \"hold\")", 0.75, 0.25),
    ];
    for (flow, start, end) in cases {
        let text = format!("model Stair {{\n state x = {start}\n x' = {flow}\n run {{ until 8 }}\n}}");
        for_each_way(&text, &[TAYLOR[0], TAYLOR[1]], 1e-6, |way, run| {
            let ending = &run.ending;
            assert_eq!(ending.status, Status::ZeroTimeLoop, "{flow}, {way}: {ending:?}");
            assert!((ending.stamp.t - end).abs() < 1e-9, "{flow}, {way}: {ending:?}");
            assert!(run.stats.steps < 100, "{flow}, {way}: {} steps", run.stats.steps);
        });
    }
}
