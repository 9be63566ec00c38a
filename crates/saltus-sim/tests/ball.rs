//! The bouncing ball against its closed form.

use saltus_expr::{Binary, Node, Sort, VarId};
use saltus_model::*;
use saltus_sim::{Options, Status, simulate};

fn ball() -> HybridSystem {
    let mut s = HybridSystem::new("Ball");
    let ten = s.graph.real(10.0);
    let zero = s.graph.real(0.0);
    let mut add = |name: &str, start| {
        s.variables.push(Variable {
            name: name.into(),
            kind: VariableKind::State,
            sort: Sort::Real,
            unit: None,
            start: Some(Assigned::Value(start)),
            owner: None,
            span: Span::default(),
        });
        VarId(s.variables.len() as u32 - 1)
    };
    let (x, v) = (add("x", ten), add("v", zero));
    let g = &mut s.graph;
    let (xe, ve) = (g.var(x, Sort::Real), g.var(v, Sort::Real));
    let gravity = g.real(-9.81);
    let e = g.real(-0.8);
    let low = g.intern(Node::Binary(Binary::Le, xe, zero));
    let falling = g.intern(Node::Binary(Binary::Lt, ve, zero));
    let guard = g.intern(Node::Binary(Binary::And, low, falling));
    let bounced = g.intern(Node::Binary(Binary::Mul, e, ve));
    let span = Span::default();
    s.root.equations.push(Equation { target: Target::Derivative(x), rhs: ve, span });
    s.root.equations.push(Equation { target: Target::Derivative(v), rhs: gravity, span });
    s.root.reactions.push(Reaction {
        trigger: Trigger::When(guard),
        condition: None,
        actions: vec![Assignment { target: v, value: Assigned::Value(bounced), span }],
        name: "bounce".into(),
        span,
    });
    s
}

#[test]
fn impacts_are_where_the_closed_form_puts_them() {
    let options = Options { until: Some(12.8), rtol: 1e-10, ..Options::default() };
    let run = simulate(&ball(), options).unwrap();
    assert_eq!(run.ending.status, Status::Finished);
    let fall = (2.0 * 10.0 / 9.81_f64).sqrt();
    let mut t = fall;
    let mut flight = 2.0 * fall;
    for event in &run.events[..20] {
        assert!((event.stamp.t - t).abs() < 1e-12, "{} {}", event.stamp.t, t);
        flight *= 0.8;
        t += flight;
    }
    assert!(run.values[1] >= 0.0);
}

/// The model is evaluated only where a step or an instant begins, and none of them is below the floor.
#[test]
fn nothing_is_evaluated_below_the_floor() {
    let options = Options { until: Some(12.8), rtol: 1e-10, ..Options::default() };
    let run = simulate(&ball(), options).unwrap();
    let mut starts = 0;
    run.trace.walk(saltus_sim::Sampling::PerSegment(0), |point| {
        starts += 1;
        assert!(point.values[1] >= 0.0, "{point:?}");
    });
    assert!(starts > 2 * run.events.len());
}

#[test]
fn accumulation_is_reported_with_its_bracket() {
    let run = simulate(&ball(), Options { until: Some(20.0), ..Options::default() }).unwrap();
    assert_eq!(run.ending.status, Status::Zeno, "{:?}", run.ending);
    let limit = (20.0 / 9.81_f64).sqrt() * 9.0;
    assert!((run.ending.stamp.t - limit).abs() < 1e-7, "{:?}", run.ending);
}
