//! Flows of many independent parts, of which each event touches one: those that it leaves alone go on along the
//! polynomials they have, and everything must happen as if they did not.

use saltus::{EventMethod, Loader, Options, Run, Status};

const METHODS: [EventMethod; 3] =
    [EventMethod::Extrapolation, EventMethod::Interpolation, EventMethod::Certified];

fn run(text: &str, method: EventMethod, change: impl Fn(&mut Options)) -> Run {
    let model = Loader::default().text("parts.salt", text).expect("a model without errors");
    let mut options = model.options().expect("options");
    (options.rtol, options.atol, options.events) = (1e-9, 1e-12, Some(method));
    change(&mut options);
    model.run(options).expect("a run")
}

/// Runs a model by all methods, which must find events at these times.
fn happens_at(text: &str, mut expected: Vec<f64>) {
    expected.sort_by(f64::total_cmp);
    for method in METHODS {
        let run = run(text, method, |_| {});
        let found: Vec<f64> = run.events.iter().map(|e| e.stamp.t).collect();
        assert_eq!(run.ending.status, Status::Finished, "{method}: {}", run.ending.reason);
        assert_eq!(found.len(), expected.len(), "{method}: {found:?}\n{expected:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-7 * (1.0 + expected), "{method}: {found} {expected}");
        }
    }
}

/// Guards read levels that each event moves on.
#[test]
fn levels_that_events_move_are_those_of_the_moment() {
    let text = "model Levels {
        param n = 20
        state x[n] = [0.05 + 0.02 * i for i in 1..n]
        memory level[n] = [0.1 * i for i in 1..n]
        flow { for i in 1..n { x[i]' = 0.2 * x[i] } }
        for i in 1..n { when x[i] >= level[i] { level[i] := level[i] + 0.37 } }
        run { until 9 }
    }";
    let times = (1..=20).flat_map(|i| {
        let (start, first) = (0.05 + 0.02 * f64::from(i), 0.1 * f64::from(i));
        let passages = (0..40).map(move |k| (first + 0.37 * f64::from(k)) / start);
        passages.map(|growth| growth.ln() / 0.2).filter(|&t| t < 9.0)
    });
    happens_at(text, times.collect());
}

/// Guards read time, and parameters.
#[test]
fn guards_read_the_time_of_the_moment() {
    let text = "model Times {
        param n = 20, step = 0.5
        state x[n] = [0.01 * i for i in 1..n]
        memory hits[n] = [0 for i in 1..n]
        flow { for i in 1..n { x[i]' = 0.1 * i } }
        for i in 1..n { when x[i] + time >= step * i { hits[i] := hits[i] + 1 } }
        run { until 12 }
    }";
    happens_at(text, (1..=20).map(f64::from).map(|i| (0.5 * i - 0.01 * i) / (0.1 * i + 1.0)).collect());
}

/// Flows read time: each part is expanded at a time of its own.
#[test]
fn parts_are_driven_by_the_time_of_the_moment() {
    let text = "model Driven {
        param n = 20
        state x[n] = [0 for i in 1..n]
        memory hits[n] = [0 for i in 1..n]
        flow { for i in 1..n { x[i]' = i * cos(i * time) } }
        for i in 1..n { when x[i] >= 0.3 + 0.02 * i { hits[i] := hits[i] + 1 } }
        run { until 5 }
    }";
    let times = (1..=20).flat_map(|i| {
        let rate = f64::from(i);
        let first = (0.3 + 0.02 * rate).asin();
        (0..20).map(move |k| (first + std::f64::consts::TAU * f64::from(k)) / rate).filter(|&t| t < 5.0)
    });
    happens_at(text, times.collect());
}

/// Parts with very different rates, each with jumps of its state and of its rate.
#[test]
fn fast_and_slow_parts_jump_when_they_do_alone() {
    let text = "model Rates {
        param n = 18
        state x[n] = [1 for i in 1..n]
        memory rate[n] = [0.01 * 2 ^ (0.5 * i) for i in 1..n]
        flow { for i in 1..n { x[i]' = -rate[i] * x[i] } }
        for i in 1..n { when x[i] <= 0.25 { x[i] := 1; rate[i] := 0.97 * rate[i] } }
        run { until 20 }
    }";
    let times = (1..=18).flat_map(|i| {
        let slowest = 0.01 * 2f64.powf(0.5 * f64::from(i));
        let flights = (0..200).map(move |k| 4f64.ln() / (slowest * 0.97f64.powi(k)));
        flights.scan(0.0, |t, flight| {
            *t += flight;
            Some(*t)
        })
    });
    happens_at(text, times.filter(|&t| t < 20.0).collect());
}

/// A coefficient of one part is no number any more: its step is not taken for a long one.
#[test]
fn a_part_with_overflowing_coefficients_does_not_go_on() {
    let text = "model Sudden {
        param n = 24
        state x[n] = [1 + 0.01 * i for i in 1..n], y[n] = [1 for i in 1..n]
        memory k[n] = [1 for i in 1..n], hits = 0
        flow { for i in 1..n { x[i]' = -k[i] * x[i]; y[i]' = -0.1 * y[i] } }
        for i in 2..n { when x[i] <= 0.9 - 0.02 * i { hits := hits + 1 } }
        when x[1] <= 0.8 { k[1] := 3e9 }
        when x[1] <= 0.5 { k[1] := 1 }
        run { until 1 }
    }";
    for method in METHODS {
        let run = run(text, method, |options| options.order = Some(40));
        assert_eq!(run.ending.status, Status::Finished, "{method}: {}", run.ending.reason);
        let time = |event: usize| run.events[event].stamp.t;
        let sudden = (1.01f64 / 0.8).ln();
        assert!((0..run.events.len()).any(|k| (time(k) - sudden).abs() < 1e-8), "{method}");
    }
}

/// Points on circles stay there while others bounce: polynomials from an earlier origin, which do so only up to the
/// tolerance, must not tell.
#[test]
fn what_rests_in_a_part_left_alone_goes_on_to_rest() {
    let text = "model Circles {
        param n = 6
        state x[n] = 0.5, y[n] = 0
        state b[n] = [1 + 0.1 * i for i in 1..n], v[n] = 0
        memory outside[n] = 0
        flow { for i in 1..n { x[i]' = -3 * y[i]; y[i]' = 3 * x[i]; b[i]' = v[i]; v[i]' = -9.81 } }
        for i in 1..n {
            when b[i] <= 0 and v[i] < 0 { v[i] := -v[i] }
            when x[i]^2 + y[i]^2 > 0.25 { outside[i] := outside[i] + 1 }
        }
        run { until 5 }
    }";
    let bounces = (1..=6).flat_map(|i| {
        let fall = (2.0 * (1.0 + 0.1 * f64::from(i)) / 9.81).sqrt();
        (0..20).map(move |k| fall * f64::from(2 * k + 1)).filter(|&t| t < 5.0)
    });
    happens_at(text, bounces.collect());
}

/// A slow pendulum is proved for longer than it takes a fast one to come back: how far it may be off its polynomial
/// by then must not make the events of others uncertain.
#[test]
fn proofs_of_slow_parts_do_not_blur_the_events_of_fast_ones() {
    let text = "model Pendulums {
        param n = 8
        state x[n] = [0.3 + 0.05 * i for i in 1..n], v[n] = 0
        memory k[n] = [0.4 * 1.8 ^ i for i in 1..n], high[n] = 0, fast[n] = 0
        flow { for i in 1..n { x[i]' = v[i]; v[i]' = -k[i] * sin(x[i]) } }
        for i in 1..n { when x[i] <= -0.2 and v[i] < 0 { v[i] := -0.8 * v[i] } }
        for i in 1..n { when v[i]^2 + x[i]^2 >= 0.5 { fast[i] := fast[i] + 1 } }
        for i in 1..n - 1 { when x[i] >= x[i + 1] { high[i] := high[i] + 1 } }
        run { until 6 }
    }";
    let tight = |options: &mut Options| (options.rtol, options.atol) = (1e-10, 1e-12);
    let computed = run(text, EventMethod::Interpolation, tight);
    let proved = run(text, EventMethod::Certified, tight);
    let times = |run: &Run| run.events.iter().map(|e| e.stamp.t).collect::<Vec<_>>();
    let (computed, proved) = (times(&computed), times(&proved));
    assert!(computed.len() > 50 && computed.len() == proved.len(), "{} {}", computed.len(), proved.len());
    for (a, b) in computed.iter().zip(&proved) {
        assert!((a - b).abs() < 1e-7, "{a} {b}");
    }
}
