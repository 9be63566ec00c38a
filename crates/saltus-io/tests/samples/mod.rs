//! Figures of the kinds users draw, computed here in closed form.

pub mod systems;

use saltus_io::figure::{Band, Figure, Horizontal, Mark, ModeSpan, Panel, Series};

fn series(label: &str, unit: &str, pieces: Vec<Vec<(f64, f64)>>) -> Series {
    Series { label: label.into(), unit: (!unit.is_empty()).then(|| unit.into()), pieces }
}

fn panel(series: Vec<Series>) -> Panel {
    Panel { series, ..Panel::default() }
}

fn sampled(t0: f64, t1: f64, n: usize, f: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..=n).map(|k| t0 + (t1 - t0) * k as f64 / n as f64).map(|t| (t, f(t))).collect()
}

/// A ball dropped from ten metres: height and speed over a number of bounces.
pub fn bouncing_ball(bounces: usize) -> Figure {
    let (g, e) = (9.81, 0.8);
    let (mut t, mut x0, mut v0) = (0.0, 10.0, 0.0);
    let (mut height, mut speed, mut marks) = (vec![], vec![], vec![]);
    for k in 0..=bounces {
        let fall: f64 = (v0 + f64::sqrt(v0 * v0 + 2.0 * g * x0)) / g;
        let (start, x, v) = (t, x0, v0);
        height.push(sampled(t, t + fall, 200, |s| x + v * (s - start) - g * (s - start).powi(2) / 2.0));
        speed.push(sampled(t, t + fall, 200, |s| v - g * (s - start)));
        t += fall;
        (x0, v0) = (0.0, -e * (v0 - g * fall));
        if k < bounces {
            marks.push(Mark { t, label: "bounce".into() });
        }
    }
    Figure {
        title: "Bouncing ball".into(),
        panels: vec![panel(vec![series("x", "m", height)]), panel(vec![series("v", "m/s", speed)])],
        marks,
        x_label: "time [s]".into(),
        ..Figure::default()
    }
}

/// A heated room between two temperatures; short periods if `gain` is large.
pub fn thermostat(gain: f64) -> Figure {
    let (lo, hi, ambient) = (19.0, 21.0, 5.0);
    let (mut t, mut x, mut heating) = (0.0, 20.0, true);
    let (mut temperature, mut power, mut spans) = (vec![], vec![], vec![]);
    while t < 60.0 {
        let rest = if heating { ambient + 30.0 } else { ambient };
        let goal = if heating { hi } else { lo };
        let rate = 0.02 * gain;
        let stay = f64::ln((x - rest) / (goal - rest)) / rate;
        let end = (t + stay).min(60.0);
        let (start, from) = (t, x);
        temperature.push(sampled(t, end, 60, |s| rest + (from - rest) * (-rate * (s - start)).exp()));
        let watts = if heating { 2000.0 } else { 0.0 };
        power.push(vec![(t, watts), (end, watts)]);
        let mode = if heating { "Heating" } else { "Idle" };
        spans.push(ModeSpan { t0: t, t1: end, mode: mode.into() });
        (t, x, heating) = (end, goal, !heating);
    }
    Figure {
        title: "Thermostat".into(),
        panels: vec![
            panel(vec![
                series("room", "°C", temperature),
                series("upper limit", "°C", vec![vec![(0.0, hi), (60.0, hi)]]),
                series("lower limit", "°C", vec![vec![(0.0, lo), (60.0, lo)]]),
            ]),
            panel(vec![series("heater", "W", power)]),
        ],
        bands: vec![
            Band { automaton: "control".into(), spans },
            Band {
                automaton: "house.occupancy".into(),
                spans: vec![
                    ModeSpan { t0: 0.0, t1: 22.0, mode: "Away".into() },
                    ModeSpan { t0: 22.0, t1: 23.0, mode: "Arriving".into() },
                    ModeSpan { t0: 23.0, t1: 60.0, mode: "Home".into() },
                ],
            },
        ],
        marks: vec![],
        x_label: "time [min]".into(),
    }
}

/// Three panels with long names and units, tiny and huge numbers.
pub fn long_labels() -> Figure {
    Figure {
        title: "Heat exchanger: start-up from cold, with limits of the wall and of the coolant supply".into(),
        panels: vec![
            panel(vec![series(
                "exchanger.wall.coefficient",
                "W*m^-2*K^-1",
                vec![sampled(0.0, 3600.0, 400, |t| 350.0 + 90.0 * (t / 400.0).sin())],
            )]),
            panel(vec![
                series("inlet", "Pa", vec![sampled(0.0, 3600.0, 400, |t| 3.2e7 + 1e6 * (t / 150.0).cos())]),
                series(
                    "outlet after the second stage",
                    "Pa",
                    vec![sampled(0.0, 3600.0, 400, |t| 2.9e7 + 1.2e6 * (t / 170.0).sin())],
                ),
            ]),
            panel(vec![
                series("leak", "kg/s", vec![sampled(0.0, 3600.0, 400, |t| 0.25 + 2e-7 * (t / 500.0).sin())]),
                series("ambient", "K", vec![sampled(0.0, 3600.0, 400, |t| 0.25 + 3e-7 * (t / 300.0).cos())]),
            ]),
        ],
        marks: vec![
            Mark { t: 300.0, label: "valve opens".into() },
            Mark { t: 310.0, label: "pump starts".into() },
            Mark { t: 1800.0, label: "load step".into() },
            Mark { t: 1800.0, label: "alarm".into() },
            Mark { t: 3595.0, label: "shutdown".into() },
        ],
        x_label: "time since the start of the coolant pump [s]".into(),
        ..Figure::default()
    }
}

/// A limit cycle with jumps, in the plane.
pub fn phase_plot() -> Figure {
    let arc = |from: f64, to: f64, r: f64| {
        (0..=200)
            .map(|k| from + (to - from) * k as f64 / 200.0)
            .map(|a: f64| (r * a.cos(), r * a.sin()))
            .collect()
    };
    let own = Horizontal::Own { label: "position [m]".into(), equal_aspect: true };
    Figure {
        title: "Phase plane".into(),
        panels: vec![Panel {
            series: vec![
                series("orbit", "m/s", vec![arc(0.0, 3.0, 2.0), arc(3.0, 5.9, 1.4)]),
                series("second orbit", "m/s", vec![arc(0.5, 2.0, 1.0)]),
            ],
            y_label: Some("velocity [m/s]".into()),
            horizontal: own,
        }],
        ..Figure::default()
    }
}

/// Many curves, many automata, many events in a narrow picture.
pub fn crowded() -> Figure {
    let wave = |k: usize| sampled(0.0, 10.0, 300, |t| (t + k as f64).sin() * (1.0 + k as f64 / 4.0));
    let curves = (1..=10).map(|k| series(&format!("agents[{k}].velocity"), "m/s", vec![wave(k)])).collect();
    let modes = ["Search", "Approach", "Grasp", "Return", "Charge"];
    let band = |k: usize| {
        let mut t = 0.0;
        let mut spans = vec![];
        for j in 0.. {
            let stay = 0.15 + ((j * 37 + k * 11) % 23) as f64 / 12.0;
            let mode = modes[(j + k) % modes.len()].into();
            spans.push(ModeSpan { t0: t, t1: (t + stay).min(10.0), mode });
            t += stay;
            if t >= 10.0 {
                break;
            }
        }
        Band { automaton: format!("agents[{k}].task"), spans }
    };
    let marks = (0..40).map(|k| Mark { t: 0.1 + k as f64 * 0.247, label: format!("contact {k}") }).collect();
    Figure {
        title: "A team of ten agents that search, grasp and return".into(),
        panels: vec![panel(curves)],
        bands: (1..=6).map(band).collect(),
        marks,
        x_label: "time [s]".into(),
    }
}

/// Data no figure should stumble over.
pub fn awkward() -> Figure {
    let gap = vec![(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, f64::INFINITY), (4.0, 2.0), (5.0, 2.5)];
    Figure {
        title: "Gaps, constants, single points, extremes".into(),
        panels: vec![
            panel(vec![]),
            panel(vec![series("gaps", "", vec![gap])]),
            panel(vec![series("constant", "K", vec![vec![(0.0, 293.15), (5.0, 293.15)]])]),
            panel(vec![series("one point", "", vec![vec![(2.5, -3.0)]])]),
            panel(vec![series("huge", "", vec![vec![(0.0, -1e308), (5.0, 1.7e308)]])]),
            panel(vec![series("tiny", "", vec![vec![(0.0, 0.0), (5.0, 3e-310)]])]),
        ],
        bands: vec![Band { automaton: "never active".into(), spans: vec![] }],
        marks: vec![Mark { t: f64::NAN, label: "nowhere".into() }],
        x_label: "t".into(),
    }
}

/// Every sample with a name.
pub fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("bouncing_ball", bouncing_ball(12)),
        ("thermostat", thermostat(1.0)),
        ("chattering", thermostat(60.0)),
        ("long_labels", long_labels()),
        ("phase_plot", phase_plot()),
        ("crowded", crowded()),
        ("awkward", awkward()),
        ("empty", Figure::default()),
    ]
}
