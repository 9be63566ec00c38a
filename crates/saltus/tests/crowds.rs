//! Crowds of guards, of which only those are looked at that may be zero next: no event may get lost.
//!
//! Points move on straight lines and come near each other at times that are known in closed form; a
//! point on a circle passes levels. Half of the events change nothing of the motion, so that the run goes on on
//! the same polynomials behind them.

use saltus::{EventMethod, Loader, Model, Run, Solver, Status};

const POINTS: usize = 10;
const NEAR: f64 = 0.3;
const UNTIL: f64 = 20.0;

/// A deterministic sequence of numbers from -1 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Points with constant velocities; `tick` disturbs the flow, but not the points, with each meeting.
fn lines(seed: u64, disturbs: bool) -> (String, Vec<[f64; 4]>) {
    let mut numbers = Numbers(seed);
    let mut points: Vec<[f64; 4]> = Vec::new();
    while points.len() < POINTS {
        let new = [2.0, 2.0, 1.0, 1.0].map(|size| size * numbers.next());
        if points.iter().all(|p| (p[0] - new[0]).hypot(p[1] - new[1]) > NEAR) {
            points.push(new);
        }
    }
    let list = |k: usize| points.iter().map(|p| format!("{:?}", p[k])).collect::<Vec<_>>().join(", ");
    let rate = if disturbs { "hits" } else { "1" };
    let text = format!(
        "model Lines {{
            param n = {POINTS}
            state x[n] = [{}], y[n] = [{}], z = 0
            memory u[n] = [{}], v[n] = [{}], hits = 0
            flow {{ for i in 1..n {{ x[i]' = u[i]; y[i]' = v[i] }}; z' = {rate} }}
            for i in 1..n - 1 {{ for j in i + 1..n {{
                when (x[i] - x[j])^2 + (y[i] - y[j])^2 <= {NEAR}^2 {{ hits := hits + 1 }}
            }} }}
            run {{ until {UNTIL} }}
        }}",
        list(0),
        list(1),
        list(2),
        list(3)
    );
    (text, points)
}

/// When two points on lines come nearer than [`NEAR`], in order.
fn meetings(points: &[[f64; 4]]) -> Vec<f64> {
    let mut times = Vec::new();
    for (i, p) in points.iter().enumerate() {
        for q in &points[i + 1..] {
            let [x, y, u, v] = [0, 1, 2, 3].map(|k| p[k] - q[k]);
            let (a, b, c) = (u * u + v * v, x * u + y * v, x * x + y * y - NEAR * NEAR);
            let t = (-b - (b * b - a * c).sqrt()) / a;
            if t > 0.0 && t < UNTIL {
                times.push(t);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

fn run(model: &Model, solver: Solver, method: EventMethod) -> Run {
    let mut options = model.options().expect("options");
    (options.solver, options.events) = (solver, Some(method));
    (options.rtol, options.atol) = (1e-9, 1e-11);
    model.run(options).expect("a run")
}

const WAYS: [(Solver, EventMethod); 6] = [
    (Solver::Taylor, EventMethod::Extrapolation),
    (Solver::Taylor, EventMethod::Interpolation),
    (Solver::Taylor, EventMethod::Certified),
    (Solver::Adams, EventMethod::Extrapolation),
    (Solver::Adams, EventMethod::Interpolation),
    (Solver::RungeKutta, EventMethod::Interpolation),
];

#[test]
fn points_on_lines_meet_when_they_do() {
    let mut count = 0;
    for seed in 1..=20 {
        for disturbs in [false, true] {
            let (text, points) = lines(seed, disturbs);
            let model = Loader::default().text("lines.salt", &text).expect("a model without errors");
            let expected = meetings(&points);
            count += expected.len();
            for (solver, method) in WAYS {
                let run = run(&model, solver, method);
                let found: Vec<f64> = run.events.iter().map(|e| e.stamp.t).collect();
                assert_eq!(run.ending.status, Status::Finished, "{seed} {solver} {method}");
                assert_eq!(found.len(), expected.len(), "{seed} {solver} {method}: {found:?} {expected:?}");
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-7, "{seed} {solver} {method}: {found} {expected}");
                }
            }
        }
    }
    assert!(count > 100, "{count}");
}

/// A point on a circle passes 40 levels again and again.
#[test]
fn a_point_on_a_circle_passes_all_levels() {
    let text = "model Circle {
        param n = 40
        state c = 1, s = 0
        memory passed[n] = [0 for i in 1..n]
        flow { c' = -s; s' = c }
        for i in 1..n { when s >= -1 + 2 * i / (n + 1) { passed[i] := passed[i] + 1 } }
        run { until 30 }
    }";
    let model = Loader::default().text("circle.salt", text).expect("a model without errors");
    for (solver, method) in WAYS {
        let run = run(&model, solver, method);
        let mut expected = Vec::new();
        for i in 1..=40 {
            let level = -1.0 + 2.0 * f64::from(i) / 41.0;
            let first = level.asin().rem_euclid(std::f64::consts::TAU);
            // What is true at the start happens there.
            expected.extend((level <= 0.0).then_some(0.0));
            expected
                .extend((0..5).map(|k| first + std::f64::consts::TAU * f64::from(k)).filter(|&t| t < 30.0));
        }
        expected.sort_by(f64::total_cmp);
        let found: Vec<f64> = run.events.iter().map(|e| e.stamp.t).collect();
        assert_eq!(found.len(), expected.len(), "{solver} {method}");
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{solver} {method}: {worst:e}");
    }
}
