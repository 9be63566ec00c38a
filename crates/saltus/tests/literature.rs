//! Problems of the literature with discontinuous right-hand sides and with events, against answers
//! computed with 40 digits.
//!
//! F1 to F5 are class F of the DETEST collection (Enright and Pryce 1987) on [0, 20]; the rocket is the
//! example cvRocket of SUNDIALS, whose two events are 0.3 ms apart.

use saltus::{EventMethod, Loader, Options, Run, Solver};

const DETEST: &str = "
model F1 {
    state y = 0, v = 0
    y' = v
    v' = 0.2*v - (pi^2 + 0.01)*y + (if mod(floor(time), 2) == 0 then 1 else -1)
    run { until 20 }
}
model F2 {
    state y = 110
    y' = 55 - (if mod(floor(time), 2) == 0 then 1.5 else 0.5)*y
    run { until 20 }
}
model F3 {
    state y = 0, v = 0
    y' = v
    v' = 0.01*v*(1 - y^2) - y - abs(sin(pi*time))
    run { until 20 }
}
model F4 {
    state y = 1
    y' = if time <= 10 then -2/21 - 120*(time - 5)/(1 + 4*(time - 5)^2) else -2*y
    run { until 20 }
}
model F5 {
    param c = sum(i^(4/3) for i in 1..19)
    state y = 1
    y' = 4/(3*c)*y*sum(sign(time - i)*abs(time - i)^(1/3) for i in 1..19)
    run { until 20 }
}";

const ROCKET: &str = "
model Rocket {
    state h = 0, v = 0
    h' = v
    memory apex = 0
    automaton Engine {
        initial mode Burning {
            v' = 2200/(11 - 0.1*time) - 0.3*v - 32
            when h >= 4000 -> Coasting
            at 10 -> Coasting
        }
        mode Coasting { v' = -0.3*v - 32 }
    }
    when falls(v >= 0) { apex := h }
    stop when h < 0
    run { until 100 }
}";

/// The ways to run that look nowhere the flow has no value.
const WAYS: [(Solver, EventMethod); 3] = [
    (Solver::Taylor, EventMethod::Extrapolation),
    (Solver::Taylor, EventMethod::Certified),
    (Solver::Adams, EventMethod::Extrapolation),
];

/// A run, and the last values of some variables.
fn run(text: &str, name: &str, (solver, method): (Solver, EventMethod), of: &[&str]) -> (Run, Vec<f64>) {
    let model = Loader::default().model(name).text("literature.salt", text);
    let model = model.unwrap_or_else(|e| panic!("{e}"));
    let options = model.options().expect("options");
    let options = Options { solver, events: Some(method), rtol: 1e-9, atol: 1e-11, ..options };
    let run = model.run(options).unwrap_or_else(|e| panic!("{e}"));
    let position = |name: &&str| model.system().variables.iter().position(|v| *v.name == **name);
    let values = of.iter().map(|name| run.values[position(name).expect("a variable")]).collect();
    (run, values)
}

#[test]
fn discontinuous_right_hand_sides() {
    let answers: [(&str, &[f64], f64); 5] = [
        ("F1", &[-12.944_606_212_134_734, 0.0], 2e-6),
        ("F2", &[70.037_310_570_086_07], 2e-6),
        ("F3", &[-0.372_695_755_308_82, -0.623_013_794_923_4], 1e-8),
        ("F4", &[9.815_017_249_707_418e-11], 1e-10),
        ("F5", &[1.0], 1e-6),
    ];
    for way in WAYS {
        for (name, answer, tolerance) in answers {
            let (run, values) = run(DETEST, name, way, &["y", "v"][..answer.len()]);
            assert_eq!(run.stats.outside_domain_evals, 0, "{name} {way:?}");
            let is_right = values.iter().zip(answer).all(|(value, right)| (value - right).abs() < tolerance);
            assert!(is_right, "{name} {way:?}: {values:?}, not {answer:?}");
        }
    }
}

#[test]
fn two_guards_that_nearly_coincide() {
    for way in WAYS {
        let (run, values) = run(ROCKET, "Rocket", way, &["apex"]);
        let times: Vec<f64> =
            run.events.iter().map(|event| event.stamp.t).chain([run.ending.stamp.t]).collect();
        let right = [9.999_726_468_544_715, 16.191_156_431_937_73, 68.857_200_964_368_74];
        assert_eq!(times.len(), right.len(), "{way:?}: {times:?}");
        assert!(times.iter().zip(right).all(|(t, right)| (t - right).abs() < 1e-7), "{way:?}: {times:?}");
        assert!((values[0] - 5_262.155_910_117_59).abs() < 1e-5, "{way:?}: {values:?}");
    }
}
