//! The order of every integrator, measured by halving constant steps on x' = x cos t, and the
//! picture of it in the gallery. `SALTUS_BLESS=1` draws it anew.

use saltus::io::figure::{Figure, Horizontal, Panel, Series};
use saltus::{Loader, Options};
use saltus_solve::adams::{Adams, AdamsOptions};
use saltus_solve::fixed::{Euler, Rk4};
use saltus_solve::runge_kutta::DormandPrince;
use saltus_solve::taylor::Tolerance;
use saltus_solve::{Integrator, Refusal};

const END: f64 = 2.0;
/// Accepts every step.
const ANY: Tolerance = Tolerance { relative: 0.0, absolute: 1e30 };
/// Below this rounding shows.
const FLOOR: f64 = 3e-13;

fn solution(t: f64) -> f64 {
    t.sin().exp()
}

fn slope(t: f64) -> f64 {
    solution(t) * t.cos()
}

/// The greatest error at the ends of some equal steps.
fn error(integrator: &mut dyn Integrator, steps: u32) -> f64 {
    let h = END / f64::from(steps);
    let mut flow = |t: f64, x: &[f64], f: &mut [f64]| {
        f[0] = x[0] * t.cos();
        Ok::<(), Refusal>(())
    };
    let mut worst = 0.0_f64;
    for k in 1..=steps {
        integrator.begin(&mut flow).expect("a value");
        assert!(integrator.step(h, &mut flow).expect("a value").is_accepted());
        worst = worst.max((integrator.states()[0] - solution(f64::from(k) * h)).abs());
    }
    worst
}

fn from_start(mut integrator: impl Integrator, steps: u32) -> f64 {
    integrator.restart(0.0, &[1.0]);
    error(&mut integrator, steps)
}

/// An Adams method of one order, with the exact slopes it needs from before the start.
fn adams(order: usize, steps: u32) -> f64 {
    let h = END / f64::from(steps);
    let slopes: Vec<[f64; 1]> = (1..order).rev().map(|k| [slope(-(k as f64) * h)]).collect();
    let past: Vec<(f64, &[f64])> = slopes.iter().map(|f| (h, &f[..])).collect();
    let mut adams = Adams::new(AdamsOptions::new(ANY).fixed_order(order));
    adams.restart_with(0.0, &[1.0], &past);
    error(&mut adams, steps)
}

/// The greatest error at the ends of eighths of the steps.
fn taylor(order: usize, steps: u32) -> f64 {
    let text = "model M { state x = 1; flow { x' = x * cos(time) } }";
    let model = Loader::default().text("model.salt", text).expect("a model");
    let x = model.system().variables.iter().position(|v| v.name == "x").expect("x");
    let h = END / f64::from(steps);
    let errors = (1..=8).map(|eighth| {
        let end = h * f64::from((steps * eighth).div_ceil(8));
        let options = Options {
            until: Some(end),
            order: Some(order),
            max_step: Some(h),
            rtol: 0.9,
            atol: 1e9,
            ..model.options().expect("options")
        };
        let run = model.run(options).expect("a run");
        (run.values[x] - solution(end)).abs()
    });
    errors.fold(0.0, f64::max)
}

/// A method, the order it should have, and its errors by the number of steps.
struct Measured {
    name: String,
    expected: f64,
    points: Vec<(f64, f64)>,
}

impl Measured {
    fn new(name: impl Into<String>, expected: usize, coarsest: u32, error: impl Fn(u32) -> f64) -> Self {
        let steps = (0..8).map(|i| f64::from(coarsest) * 2f64.powf(f64::from(i) / 2.0)).map(|n| n as u32);
        let points = steps.map(|n| (END / f64::from(n), error(n))).filter(|p| p.1 > FLOOR).collect();
        Self { name: name.into(), expected: expected as f64, points }
    }

    /// The slope of the line through the finer half of the points, in logarithms.
    fn order(&self) -> f64 {
        let fine = &self.points[self.points.len() / 2..];
        let (n, log) = (fine.len() as f64, |(h, e): &(f64, f64)| (h.log10(), e.log10()));
        let (mx, my) = fine.iter().map(log).fold((0.0, 0.0), |a, p| (a.0 + p.0 / n, a.1 + p.1 / n));
        let (top, bottom) = fine
            .iter()
            .map(log)
            .fold((0.0, 0.0), |a, (x, y)| (a.0 + (x - mx) * (y - my), a.1 + (x - mx) * (x - mx)));
        top / bottom
    }

    fn series(&self) -> Series {
        let points = self.points.iter().map(|(h, e)| (h.log10(), e.log10())).collect();
        Series { label: format!("{}: {:.1}", self.name, self.order()), unit: None, pieces: vec![points] }
    }
}

fn panel(measured: &[Measured]) -> Panel {
    Panel {
        series: measured.iter().map(Measured::series).collect(),
        y_label: Some("log10 of the error".into()),
        horizontal: Horizontal::Own { label: "log10 of the step".into(), equal_aspect: false },
    }
}

#[test]
fn integrators_have_their_orders() {
    let one_step = vec![
        Measured::new("Euler", 1, 64, |n| from_start(Euler::new(END / f64::from(n)), n)),
        Measured::new("RK4", 4, 8, |n| from_start(Rk4::new(END / f64::from(n)), n)),
        Measured::new("Dormand-Prince", 5, 8, |n| from_start(DormandPrince::new(ANY), n)),
    ];
    let multistep: Vec<Measured> =
        (1..=8).map(|m| Measured::new(format!("Adams {m}"), m + 1, 16, move |n| adams(m, n))).collect();
    let expansions: Vec<Measured> = [2, 4, 6, 8, 12]
        .into_iter()
        .map(|p| Measured::new(format!("Taylor {p}"), p, 4, move |n| taylor(p, n)))
        .collect();
    let panels = [one_step, multistep, expansions];
    for measured in panels.iter().flatten() {
        let (found, expected) = (measured.order(), measured.expected);
        assert!(
            (found - expected).abs() < 0.35,
            "{}: {found} for {expected}, {:?}",
            measured.name,
            measured.points
        );
    }
    let figure = Figure {
        title: "Errors of x' = x cos t by the step; orders measured".into(),
        panels: panels.iter().map(|p| panel(p)).collect(),
        bands: Vec::new(),
        marks: Vec::new(),
        x_label: String::new(),
    };
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gallery/convergence.svg");
    if std::env::var_os("SALTUS_BLESS").is_some() {
        std::fs::write(&path, figure.svg()).expect("a picture written");
    }
    assert!(path.exists(), "the picture is missing; SALTUS_BLESS=1 draws it");
}
