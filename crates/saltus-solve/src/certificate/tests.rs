//! Certified runs of models with known and unknown events.

mod driver;
mod random;
mod tangency;

use driver::{Happening, Model, Setting};

/// x = -1 + 1.5 exp(-((t - 5) / 0.1)^2), as the derivative of that.
fn hidden_pulse() -> Model {
    Model::new(&[-1.0], |g, t, _| {
        let (five, tenth) = (g.real(5.0), g.real(0.1));
        let shifted = g.sub(t, five);
        let u = g.div(shifted, tenth);
        let square = g.mul(u, u);
        let minus = g.neg(square);
        let bell = g.unary(saltus_expr::Unary::Exp, minus);
        let by = g.real(-30.0);
        let slope = g.mul(by, u);
        vec![g.mul(slope, bell)]
    })
    .guard(|_, _, x| x[0])
}

#[test]
fn a_hidden_pulse_is_found() {
    for (order, tolerance) in [(12, 1e-8), (16, 1e-10)] {
        let mut model = hidden_pulse();
        let run = model.run(Setting { order, tolerance, end: 10.0, ..Setting::default() });
        let events = run.events();
        assert_eq!(events.len(), 2, "{events:?}");
        let (lo, hi) = events[0];
        // 5 - 0.1 sqrt(ln 1.5), and its mirror image.
        for (found, exact) in [(lo, 4.936_323_86), (hi, 4.936_323_86), (events[1].0, 5.063_676_14)] {
            assert!((found - exact).abs() < 2e-8, "{found} {run:?}");
        }
        assert!(run.steps < 80, "{}", run.steps);
    }
}

#[test]
fn a_growing_rate_is_not_overrun() {
    let mut model = Model::new(&[0.7], |g, _, x| {
        let (at, sixty, four, one) = (g.real(0.9), g.real(60.0), g.real(4.0), g.real(1.0));
        let shifted = g.sub(x[0], at);
        let exponent = g.mul(sixty, shifted);
        let exp = g.unary(saltus_expr::Unary::Exp, exponent);
        let growth = g.mul(four, exp);
        vec![g.add(one, growth)]
    })
    .guard(|g, _, x| {
        let one = g.real(1.0);
        g.sub(x[0], one)
    });
    let run = model.run(Setting { end: 0.1769, stop_at_event: true, ..Setting::default() });
    let (lo, hi) = run.events()[0];
    assert!(lo > 0.17688 && hi < 0.1769 && hi - lo < 1e-7, "{run:?}");
}

#[test]
fn exact_grazing_is_possible_and_not_invented() {
    // x = t, and the guard -(x - 3/4)^2 is zero at 3/4 only.
    let mut model = Model::new(&[0.0], |g, _, _| vec![g.real(1.0)]).guard(|g, _, x| {
        let level = g.real(0.75);
        let gap = g.sub(x[0], level);
        let square = g.mul(gap, gap);
        g.neg(square)
    });
    let run = model.run(Setting { end: 1.0, longest: 0.4, ..Setting::default() });
    assert!(run.events().is_empty() && run.end == 1.0, "{run:?}");
    let [Happening::Possible { guard: 0, lo, clear }] = run.happenings[..] else { panic!("{run:?}") };
    assert!(lo < 0.75 && clear > 0.75 && clear - lo < 1e-6, "{lo} {clear}");
}

#[test]
fn a_square_root_is_followed_to_the_edge_of_its_domain() {
    // x' = -sqrt(x) reaches 0 at t = 2: no step may be proved beyond, and the guard x = 0.01 is met
    // at 2 - 0.2 on the way.
    let mut model = Model::new(&[1.0], |g, _, x| {
        let root = g.unary(saltus_expr::Unary::Sqrt, x[0]);
        vec![g.neg(root)]
    })
    .guard(|g, _, x| {
        let level = g.real(0.01);
        g.sub(level, x[0])
    });
    let run = model.run(Setting { end: 3.0, ..Setting::default() });
    assert_eq!(run.events().len(), 1, "{run:?}");
    let (lo, hi) = run.events()[0];
    assert!(lo < 1.8 + 1e-8 && hi > 1.8 - 1e-8 && hi - lo < 1e-7, "{run:?}");
    assert!(run.end < 2.0 + 1e-7 && run.end > 1.9, "{run:?}");
    let obstacle = run.obstacle.expect("the edge was not named");
    assert_eq!(obstacle.function, "sqrt");
}

#[test]
fn a_proved_local_error_costs_shorter_steps() {
    let lorenz = || {
        Model::new(&[1.0, 1.0, 1.0], |g, _, x| {
            let (sigma, rho, beta) = (g.real(10.0), g.real(28.0), g.real(8.0 / 3.0));
            let gap = g.sub(x[1], x[0]);
            let lift = g.sub(rho, x[2]);
            let (feed, product) = (g.mul(x[0], lift), g.mul(x[0], x[1]));
            let drain = g.mul(beta, x[2]);
            vec![g.mul(sigma, gap), g.sub(feed, x[1]), g.sub(product, drain)]
        })
    };
    let setting = Setting { end: 5.0, order: 16, tolerance: 1e-10, ..Setting::default() };
    let plain = lorenz().run(setting);
    let validated = lorenz().run(Setting { validated: true, ..setting });
    assert!((plain.end, validated.end) == (5.0, 5.0));
    assert!(validated.steps >= plain.steps, "{} {}", validated.steps, plain.steps);
}
