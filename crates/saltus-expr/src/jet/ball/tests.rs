//! Balls against jets at other points of the box.

use super::*;
use crate::graph::{Expr, Graph, Node, Sort, VarId};
use crate::jet::{JetMachine, Jets};
use crate::plan::PlanBlock;
use crate::program::Program;
use crate::testing::{self, Operation};
use proptest::prelude::*;

const ORDER: usize = 8;

/// Time in slot 2, states in slots 0 and 1, a constant in slot 3, then the two derivatives and a
/// watched slot.
fn plan(g: &Graph, outputs: [Expr; 3]) -> FlowPlan {
    let (program, inputs) = Program::new(g, &outputs);
    let inputs = inputs.iter().map(|v| v.0).collect();
    let block = PlanBlock { program: program.into(), inputs, outputs: vec![4, 5, 6] };
    FlowPlan { blocks: vec![block], states: vec![(0, 4), (1, 5)], time_slot: 2, slots: 7 }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a == b || a.is_nan() && b.is_nan()
}

/// One flow with a function of x in it.
fn flow(make: impl FnOnce(&mut Graph, Expr) -> Expr) -> BallJets {
    let mut g = Graph::new();
    let x = g.var(VarId(0), Sort::Real);
    let zero = g.real(0.0);
    let e = make(&mut g, x);
    BallJets::new(&plan(&g, [e, zero, x]), ORDER, &[6])
}

fn obstacle(balls: &mut BallJets, x: f64, lo: f64, hi: f64) -> Option<(&'static str, ObstacleKind)> {
    balls.set_point(&[x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let result = balls.enclose(0.1, &[Interval::new(lo, hi), Interval::point(0.0)]);
    result.err().map(|o| (o.function, o.kind))
}

#[test]
fn functions_that_may_leave_their_domain_are_named() {
    use ObstacleKind::{Domain, Switch};
    let unary = |op| move |g: &mut Graph, x| g.intern(Node::Unary(op, x));
    for (op, name, inside, outside) in [
        (Unary::Sqrt, "sqrt", (0.5, 2.0), (0.0, 2.0)),
        (Unary::Log, "log", (0.5, 2.0), (-0.1, 2.0)),
        (Unary::Asin, "asin", (0.5, 0.99), (0.5, 1.01)),
        (Unary::Acosh, "acosh", (1.1, 2.0), (0.9, 2.0)),
        (Unary::Tan, "tan", (0.5, 1.5), (0.5, 1.6)),
    ] {
        let mut balls = flow(unary(op));
        let middle = 0.5 * (inside.0 + inside.1);
        assert_eq!(obstacle(&mut balls, middle, inside.0, inside.1), None, "{name}");
        let found = obstacle(&mut balls, middle, outside.0, outside.1);
        let (function, kind) = found.unwrap_or_else(|| panic!("{name} was not noticed"));
        assert!(
            kind == Domain && (function == name || name.starts_with('a') && function == "sqrt"),
            "{name}"
        );
    }
    let mut balls = flow(|g, x| {
        let one = g.real(1.0);
        g.intern(Node::Binary(Binary::Div, one, x))
    });
    assert_eq!(obstacle(&mut balls, 1.0, 0.5, 2.0), None);
    assert_eq!(obstacle(&mut balls, 1.0, -0.5, 2.0), Some(("division", Domain)));
    let mut balls = flow(unary(Unary::Abs));
    assert_eq!(obstacle(&mut balls, 1.0, 0.0, 2.0), None);
    assert_eq!(obstacle(&mut balls, 1.0, -0.5, 2.0), Some(("abs", Switch)));
    let mut balls = flow(|g, x| {
        let floor = g.intern(Node::Unary(Unary::Floor, x));
        g.intern(Node::Binary(Binary::Mul, floor, x))
    });
    assert_eq!(obstacle(&mut balls, 1.5, 1.0, 1.9), None);
    assert_eq!(obstacle(&mut balls, 1.5, 1.0, 2.1), Some(("floor", Switch)));
}

#[test]
fn a_branch_that_is_surely_not_taken_does_not_count() {
    let mut balls = flow(|g, x| {
        let zero = g.real(0.0);
        let positive = g.intern(Node::Binary(Binary::Lt, zero, x));
        let root = g.intern(Node::Unary(Unary::Sqrt, x));
        let minus = g.intern(Node::Unary(Unary::Neg, x));
        g.intern(Node::Select(positive, root, minus))
    });
    assert_eq!(obstacle(&mut balls, 1.0, 0.5, 2.0), None);
    assert_eq!(obstacle(&mut balls, -1.0, -2.0, -0.5), None);
    balls.extend(3);
    assert!(balls.state(0, 3).on_box().is_finite());
    assert!(obstacle(&mut balls, 1.0, -0.5, 2.0).is_some());
}

#[test]
fn tables_and_extrema_must_stay_on_their_piece() {
    use crate::graph::{Extrapolation, Interpolation, Table};
    let mut balls = flow(|g, x| {
        let table = Table {
            name: "t".into(),
            x: vec![0.0, 1.0, 3.0],
            y: vec![],
            values: vec![1.0, 2.0, -2.0],
            interpolation: Interpolation::Linear,
            extrapolation: Extrapolation::Undefined,
        };
        let table = g.add_table(table);
        g.table1(table, x)
    });
    assert_eq!(obstacle(&mut balls, 2.0, 1.2, 2.5), None);
    // 2 - 2 (x - 1), in steps of 0.1.
    balls.extend(1);
    let slope = balls.state(0, 1);
    assert!(slope.mid == 0.0 && slope.on_box() >= 0.16 && slope.on_box() < 0.1601);
    for (lo, hi) in [(0.9, 2.5), (1.2, 3.5)] {
        assert_eq!(obstacle(&mut balls, 2.0, lo, hi), Some(("table", ObstacleKind::Switch)));
    }
    for (op, name) in [(Binary::Min, "min"), (Binary::Max, "max")] {
        let mut balls = flow(|g, x| {
            let one = g.real(1.0);
            g.intern(Node::Binary(op, x, one))
        });
        assert_eq!(obstacle(&mut balls, 2.0, 1.5, 2.5), None);
        assert_eq!(obstacle(&mut balls, 0.5, 0.1, 0.9), None);
        assert_eq!(obstacle(&mut balls, 0.9, 0.5, 1.1), Some((name, ObstacleKind::Switch)));
    }
}

#[test]
fn an_order_can_be_raised_without_starting_again() {
    let make = || flow(|g, x| g.intern(Node::Unary(Unary::Exp, x)));
    let (mut at_once, mut by_steps) = (make(), make());
    for balls in [&mut at_once, &mut by_steps] {
        assert_eq!(obstacle(balls, 0.3, 0.2, 0.5), None);
    }
    at_once.extend_watched(0, ORDER);
    by_steps.extend(2);
    by_steps.extend_watched(0, 3);
    by_steps.extend(5);
    by_steps.extend_watched(0, ORDER);
    for k in 0..=ORDER {
        assert_eq!(at_once.state(0, k), by_steps.state(0, k));
        assert_eq!(at_once.watched(0, k), by_steps.watched(0, k));
    }
}

proptest! {
    #![proptest_config(testing::cases(3_000))]

    #[test]
    fn balls_hold_the_jets_of_all_points_of_the_box(
        operations in testing::operations(),
        points in testing::points(),
        widths in prop::array::uniform3(prop_oneof![Just(0.0), 0.0f64..0.02, 0.0f64..0.5]),
        place in prop::array::uniform3(0.0f64..1.0),
        samples in prop::collection::vec(prop::array::uniform3(0.0f64..=1.0), 6),
    ) {
        let mut g = Graph::new();
        let made = Operation::build_all(&operations, &mut g, |g, node| g.make(node));
        let last = made.len() - 1;
        let plan = plan(&g, [made[last], made[last / 2], made[last * 3 / 4]]);
        let mut balls = BallJets::new(&plan, ORDER, &[6]);
        let mut local = BallJets::new(&plan, ORDER, &[6]);
        let mut jets = JetMachine::new(&plan, ORDER);
        for point in points {
            let mut env = [point[0], point[1], point[2], point[3], 0.0, 0.0, 0.0];
            let h = widths[2].max(1e-3);
            let bounds: Vec<Interval> = (0..2)
                .map(|i| {
                    let w = widths[i];
                    Interval::new(point[i] - place[i] * w, point[i] + (1.0 - place[i]) * w)
                })
                .collect();
            balls.set_point(&env);
            if balls.enclose(h, &bounds).is_err() || balls.watched_range(0).is_err() {
                continue;
            }
            balls.extend_watched(0, ORDER);
            jets.run(&env, h);
            for k in 0..=ORDER {
                for (ball, jet) in [
                    (balls.state(0, k), jets.coefficient(0, k)),
                    (balls.state(1, k), jets.coefficient(1, k)),
                    (balls.watched(0, k), jets.coefficient(6, k)),
                ] {
                    prop_assert!(same(ball.mid, jet), "{} is not {} at order {}", ball.mid, jet, k);
                }
            }
            for sample in &samples {
                for i in 0..2 {
                    env[i] = (bounds[i].lo() + sample[i] * bounds[i].width()).clamp(bounds[i].lo(), bounds[i].hi());
                }
                env[2] = (point[2] + sample[2] * h).min(point[2] + h);
                local.set_point(&env);
                let here: Vec<Interval> = env[..2].iter().map(|&x| Interval::point(x)).collect();
                if local.enclose(h, &here).is_err() || local.watched_range(0).is_err() {
                    // A time after the sample may be out of reach of the box.
                    continue;
                }
                local.extend_watched(0, ORDER);
                for k in 0..=ORDER {
                    for (ball, there) in [
                        (balls.state(0, k), local.state(0, k)),
                        (balls.state(1, k), local.state(1, k)),
                        (balls.watched(0, k), local.watched(0, k)),
                    ] {
                        let reach = (ball.on_box() + there.at_point()) * (1.0 + 1e-12);
                        let outside = (ball.mid - there.mid).abs() > reach;
                        prop_assert!(!outside, "order {}: {:?} does not hold {:?} at {:?}", k, ball, there, env);
                    }
                }
            }
        }
    }
}
