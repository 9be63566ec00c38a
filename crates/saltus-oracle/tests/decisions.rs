//! One hand-worked case, at least, for every decision of the semantics page.

use saltus_expr::{Sort, VarId};
use saltus_model::{HybridSystem, ModeId, Trigger};
use saltus_oracle::build::{Builder, TIME};
use saltus_oracle::{Event, EventKind, Limits, Outcome, Policy, Status, rational, run};

fn go(system: &HybridSystem, until: i64) -> Outcome {
    run(system, rational(until, 1), Policy::Eager, Limits::default()).expect("in the exact class")
}

fn lazy(system: &HybridSystem, until: i64) -> Outcome {
    run(system, rational(until, 1), Policy::Lazy, Limits::default()).expect("in the exact class")
}

/// The stamps of all records, times as decimals.
fn stamps(outcome: &Outcome) -> Vec<(f64, usize, usize)> {
    outcome.events.iter().map(|e| (decimal(&e.t), e.n, e.i)).collect()
}

fn decimal(r: &saltus_oracle::Rational) -> f64 {
    r.to_f64()
}

fn value(outcome: &Outcome, v: VarId) -> f64 {
    decimal(&outcome.values[v.index()])
}

/// The modes entered, in order.
fn path(outcome: &Outcome) -> Vec<ModeId> {
    outcome.events.iter().filter_map(|e| e.to).collect()
}

/// A state `x` from `start` with slope `slope` everywhere.
fn ramp(start: f64, slope: f64) -> (Builder, VarId) {
    let mut b = Builder::new("Ramp");
    let x = b.state("x", start);
    b.slope(None, x, slope);
    (b, x)
}

/// An automaton with the given number of modes.
fn modes<const N: usize>(b: &mut Builder, parent: Option<ModeId>, name: &str) -> [ModeId; N] {
    let a = b.automaton(parent, name);
    std::array::from_fn(|k| b.mode(a, &format!("M{}", k + 1)))
}

#[test]
fn thermostat_switches_at_exact_times() {
    let mut b = Builder::new("Thermostat");
    let x = b.state("x", 0.5);
    let [heat, idle] = modes(&mut b, None, "control");
    b.slope(Some(heat), x, 2.0);
    b.slope(Some(idle), x, -0.5);
    let (hot, cold) = (b.ge(x, 1.0), b.le(x, 0.0));
    b.when(heat, hot, idle);
    b.when(idle, cold, heat);
    let outcome = go(&b.finish(), 5);
    assert_eq!(outcome.status, Status::Finished);
    assert_eq!(stamps(&outcome), [(0.25, 0, 1), (2.25, 0, 1), (2.75, 0, 1), (4.75, 0, 1)]);
    assert_eq!(value(&outcome, x), 0.5);
}

#[test]
fn bounce_resets_the_state_and_rearms_after_leaving_the_floor() {
    // The velocity is a memory: x' = v, bounces at x <= 0 with v < 0.
    let mut b = Builder::new("Ball");
    let v = b.memory(None, "v", Sort::Real, -1.0);
    let x = b.state("x", 2.0);
    b.slope(None, x, v);
    let floor = b.le(x, 0.0);
    let back = b.mul(v, -1.0);
    let action = b.set(v, back);
    b.react(None, floor, vec![action]);
    let ceiling = b.ge(x, 1.0);
    let down = b.set(v, -1.0);
    b.reaction(None, Trigger::Rises(ceiling), None, vec![down]);
    let outcome = go(&b.finish(), 6);
    assert_eq!(stamps(&outcome), [(2.0, 0, 1), (3.0, 0, 1), (4.0, 0, 1), (5.0, 0, 1), (6.0, 0, 1)]);
    assert!(outcome.events.iter().all(|e| e.kind == EventKind::Reaction));
}

#[test]
fn falling_ball_is_exact_where_impact_times_are_rational() {
    // x' = v, v' = -2, from 4: hits at 2 with -4, then with restitution 1/2 after 2 more.
    let mut b = Builder::new("Ball");
    let x = b.state("x", 4.0);
    let v = b.state("v", 0.0);
    b.slope(None, x, v);
    b.slope(None, v, -2.0);
    let (low, down) = (b.le(x, 0.0), b.lt(v, 0.0));
    let hit = b.and(low, down);
    let back = b.mul(v, -0.5);
    let action = b.set(v, back);
    b.react(None, hit, vec![action]);
    let outcome = go(&b.finish(), 5);
    assert_eq!(stamps(&outcome), [(2.0, 1, 0), (4.0, 1, 0), (5.0, 1, 0)]);
    assert_eq!(value(&outcome, v), 0.5);
}

#[test]
fn irrational_event_times_are_refused() {
    let mut b = Builder::new("Fall");
    let x = b.state("x", 1.0);
    let v = b.state("v", 0.0);
    b.slope(None, x, v);
    b.slope(None, v, -1.0);
    let low = b.le(x, 0.0);
    b.react(None, low, vec![]);
    let system = b.finish();
    assert!(run(&system, rational(2, 1), Policy::Eager, Limits::default()).is_err());
    // Before the root there is nothing to refuse.
    assert_eq!(go(&system, 1).status, Status::Finished);
}

#[test]
fn round_of_modes_and_memories_advances_i_and_a_reset_advances_n() {
    let (mut b, x) = ramp(0.0, 1.0);
    let k = b.memory(None, "k", Sort::Integer, 0.0);
    let [m1, m2] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    let count = b.count(k);
    b.when(m1, one, m2).actions = vec![count];
    let counted = b.ge(k, 1.0);
    let reset = b.set(x, 5.0);
    b.react(None, counted, vec![reset]);
    let high = b.ge(x, 5.0);
    let again = b.count(k);
    b.react(None, high, vec![again]);
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 1, 0), (1.0, 1, 1)]);
    assert_eq!(value(&outcome, k), 2.0);
    assert_eq!(value(&outcome, x), 6.0);
}

#[test]
fn reset_to_the_same_value_is_still_a_reset() {
    let (mut b, x) = ramp(0.0, 1.0);
    let one = b.ge(x, 1.0);
    let same = b.set(x, x);
    b.react(None, one, vec![same]);
    assert_eq!(stamps(&go(&b.finish(), 2)), [(1.0, 1, 0)]);
}

#[test]
fn strict_guard_fires_at_the_zero_it_leaves_upwards_only() {
    for (slope, expected) in [(1.0, vec![(1.0, 0, 1)]), (-1.0, vec![])] {
        let mut b = Builder::new("Strict");
        let x = b.state("x", -slope);
        b.slope(None, x, slope);
        let positive = b.gt(x, 0.0);
        // The falling ramp starts with x > 0, and passes its zero without a rise.
        b.reaction(None, Trigger::Rises(positive), None, vec![]);
        assert_eq!(stamps(&go(&b.finish(), 3)), expected);
    }
}

#[test]
fn strict_guard_at_rest_on_its_zero_does_not_fire_but_non_strict_does() {
    let (mut b, x) = ramp(0.0, 0.0);
    let [m1, m2, m3] = modes(&mut b, None, "a");
    let (strict, loose) = (b.gt(x, 0.0), b.ge(x, 0.0));
    b.when(m1, strict, m2);
    b.when(m1, loose, m3);
    assert_eq!(path(&go(&b.finish(), 1)), [m3]);
}

#[test]
fn negation_of_a_non_strict_atom_is_the_strict_opposite() {
    let (mut b, x) = ramp(-1.0, 1.0);
    let [m1, m2] = modes(&mut b, None, "a");
    let low = b.le(x, 0.0);
    let high = b.not(low);
    b.when(m1, high, m2);
    assert_eq!(stamps(&go(&b.finish(), 3)), [(1.0, 0, 1)]);
}

#[test]
fn guard_and_its_negation_may_both_hold_at_a_boundary() {
    let (mut b, x) = ramp(-1.0, 1.0);
    let low = b.le(x, 0.0);
    let high = b.not(low);
    let both = b.and(low, high);
    b.reaction(None, Trigger::When(both), None, vec![]);
    assert_eq!(stamps(&go(&b.finish(), 3)), [(1.0, 0, 1)]);
}

#[test]
fn equality_is_a_root_from_either_side() {
    for slope in [1.0, -1.0] {
        let (mut b, x) = ramp(-slope, slope);
        let root = b.eq(x, 0.0);
        b.react(None, root, vec![]);
        assert_eq!(stamps(&go(&b.finish(), 3)), [(1.0, 0, 1)]);
    }
}

#[test]
fn inequality_of_reals_fails_and_of_integers_works() {
    let (mut b, x) = ramp(0.0, 1.0);
    let root = b.eq(x, 0.5);
    let not_root = b.not(root);
    b.react(None, not_root, vec![]);
    assert_eq!(go(&b.finish(), 1).status, Status::Failed);

    let (mut b, _) = ramp(0.0, 1.0);
    let k = b.memory(None, "k", Sort::Integer, 0.0);
    let zero = b.constant(Sort::Integer, 0.0);
    let is_zero = b.eq(k, zero);
    let not_zero = b.not(is_zero);
    let [m1, m2] = modes(&mut b, None, "a");
    b.when(m1, not_zero, m2);
    let (trigger, count) = (b.at(1.0), b.count(k));
    b.reaction(None, trigger, None, vec![count]);
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 0, 2)]);
}

#[test]
fn level_transition_is_taken_on_entry() {
    let (mut b, x) = ramp(3.0, 1.0);
    let [m1, m2, m3] = modes(&mut b, None, "a");
    let high = b.ge(x, 2.0);
    b.when(m1, high, m2);
    let higher = b.ge(x, 4.0);
    b.when(m2, higher, m3);
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(0.0, 0, 1), (1.0, 0, 1)]);
    assert_eq!(path(&outcome), [m2, m3]);
}

#[test]
fn edge_fires_on_entry_and_rises_does_not() {
    let (mut b, x) = ramp(3.0, 1.0);
    let high = b.ge(x, 2.0);
    b.react(None, high, vec![]);
    b.reaction(None, Trigger::Rises(high), None, vec![]);
    let outcome = go(&b.finish(), 2);
    let names: Vec<&str> = outcome.events.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["root reaction 1"]);
}

#[test]
fn edge_is_rearmed_by_a_round_in_which_it_was_false() {
    // Two samples at the same time: x is reset below the guard in round 1, above it in round 2.
    let (mut b, x) = ramp(1.0, 0.0);
    let k = b.memory(None, "k", Sort::Integer, 0.0);
    let high = b.ge(x, 1.0);
    let count = b.count(k);
    b.react(None, high, vec![count]);
    let trigger = b.at(1.0);
    let low = b.set(x, 0.0);
    b.reaction(None, trigger, None, vec![low]);
    let lowered = b.le(x, 0.0);
    let up = b.set(x, 2.0);
    b.react(None, lowered, vec![up]);
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(0.0, 0, 1), (1.0, 1, 0), (1.0, 2, 0), (1.0, 2, 1)]);
    assert_eq!(value(&outcome, k), 2.0);
}

#[test]
fn edge_with_a_false_condition_is_used_up() {
    let (mut b, x) = ramp(0.0, 1.0);
    let one = b.ge(x, 1.0);
    let later = b.ge(x, 2.0);
    b.reaction(None, Trigger::When(one), Some(later), vec![]);
    assert!(go(&b.finish(), 4).events.is_empty());
}

#[test]
fn rises_on_a_transition_lasts_for_its_instant_only() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    let later = b.ge(x, 2.0);
    b.transition(m1, Trigger::Rises(one), m2).condition = Some(later);
    assert!(go(&b.finish(), 4).events.is_empty());

    // A condition that becomes true in the same instant is soon enough.
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2] = modes(&mut b, None, "a");
    let k = b.memory(None, "k", Sort::Integer, 0.0);
    let one = b.ge(x, 1.0);
    let counted = b.ge(k, 1.0);
    b.transition(m1, Trigger::Rises(one), m2).condition = Some(counted);
    let count = b.count(k);
    b.react(None, one, vec![count]);
    assert_eq!(stamps(&go(&b.finish(), 4)), [(1.0, 0, 1), (1.0, 0, 2)]);
}

#[test]
fn two_guards_at_one_time_are_one_round() {
    let (mut b, x) = ramp(0.0, 1.0);
    let y = b.state("y", 2.0);
    b.slope(None, y, -1.0);
    let [a1, a2] = modes(&mut b, None, "a");
    let [b1, b2] = modes(&mut b, None, "b");
    let (up, down) = (b.ge(x, 1.0), b.le(y, 1.0));
    b.when(a1, up, a2);
    b.when(b1, down, b2);
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 0, 1)]);
}

#[test]
fn round_reads_values_before_it() {
    // p and q exchange their values.
    let mut b = Builder::new("Swap");
    let p = b.memory(None, "p", Sort::Real, 1.0);
    let q = b.memory(None, "q", Sort::Real, 2.0);
    for (target, source) in [(p, q), (q, p)] {
        let (trigger, action) = (b.at(1.0), b.set(target, source));
        b.reaction(None, trigger, None, vec![action]);
    }
    let outcome = go(&b.finish(), 2);
    assert_eq!((value(&outcome, p), value(&outcome, q)), (2.0, 1.0));
}

#[test]
fn two_writes_in_one_round_fail_and_name_both() {
    let mut b = Builder::new("Clash");
    let p = b.memory(None, "p", Sort::Real, 0.0);
    for _ in 0..2 {
        let (trigger, action) = (b.at(1.0), b.set(p, 3.0));
        b.reaction(None, trigger, None, vec![action]);
    }
    let outcome = go(&b.finish(), 2);
    assert_eq!(outcome.status, Status::Failed);
    for name in ["`p`", "root reaction 1", "root reaction 2"] {
        assert!(outcome.reason.contains(name), "{}", outcome.reason);
    }
    assert_eq!(value(&outcome, p), 0.0);
}

#[test]
fn transient_mode_is_left_one_index_later() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2, m3] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    b.when(m1, one, m2);
    b.when(m2, one, m3);
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 0, 2)]);
    assert_eq!(path(&outcome), [m2, m3]);
}

#[test]
fn mutually_enabled_guards_are_a_zero_time_loop() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    b.when(m1, one, m2);
    b.when(m2, one, m1);
    let outcome = go(&b.finish(), 2);
    assert_eq!(outcome.status, Status::ZeroTimeLoop);
    let cycle: Vec<Option<ModeId>> = outcome.cycle_events().iter().map(|e| e.to).collect();
    assert_eq!(cycle.len(), 2);
    assert!(cycle.contains(&Some(m1)) && cycle.contains(&Some(m2)));
    assert_eq!(outcome.stop.0, rational(1, 1));
}

#[test]
fn loop_with_a_counter_reaches_the_limit() {
    let (mut b, x) = ramp(0.0, 1.0);
    let k = b.memory(None, "k", Sort::Integer, 0.0);
    let [m1] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    let count = b.count(k);
    b.when(m1, one, m1).actions = vec![count];
    assert_eq!(go(&b.finish(), 2).status, Status::Limit);
}

#[test]
fn accumulating_events_reach_the_limit() {
    // Each hit halves the way to the next one.
    let mut b = Builder::new("Zeno");
    let x = b.state("x", 1.0);
    let d = b.memory(None, "d", Sort::Real, 1.0);
    b.slope(None, x, -1.0);
    let hit = b.le(x, 0.0);
    let half = b.mul(d, 0.5);
    let actions = vec![b.set(x, half), b.set(d, half)];
    b.react(None, hit, actions);
    let limits = Limits { events: 50, ..Limits::default() };
    let outcome = run(&b.finish(), rational(3, 1), Policy::Eager, limits).unwrap();
    assert_eq!(outcome.status, Status::Limit);
    assert!(outcome.stop.0 < rational(2, 1));
}

/// An outer automaton with modes P and Q, an inner one with two modes in P, both ready at 1.
fn nested() -> (Builder, VarId, [ModeId; 2], [ModeId; 2]) {
    let (mut b, x) = ramp(0.0, 1.0);
    let outer = modes(&mut b, None, "outer");
    let inner = modes(&mut b, Some(outer[0]), "inner");
    let one = b.ge(x, 1.0);
    b.when(outer[0], one, outer[1]);
    b.when(inner[0], one, inner[1]);
    (b, x, outer, inner)
}

#[test]
fn inner_goes_before_outer() {
    let (b, _, outer, inner) = nested();
    let outcome = go(&b.finish(), 2);
    assert_eq!(path(&outcome), [inner[1], outer[1]]);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 0, 2)]);
    assert_eq!(outcome.modes, [Some(outer[1]), None]);
}

#[test]
fn preempt_turns_the_priority() {
    let (mut b, x, outer, _) = nested();
    let one = b.ge(x, 1.0);
    b.when(outer[0], one, outer[1]).preempt = true;
    let outcome = go(&b.finish(), 2);
    assert_eq!(path(&outcome), [outer[1]]);
}

#[test]
fn text_order_decides_within_a_mode() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2, m3] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    b.when(m1, one, m3);
    b.when(m1, one, m2);
    assert_eq!(path(&go(&b.finish(), 2)), [m3]);
}

#[test]
fn reactions_of_a_mode_that_is_left_still_happen() {
    let (mut b, x) = ramp(0.0, 1.0);
    let k = b.memory(None, "k", Sort::Integer, 0.0);
    let [m1, m2] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    let count = b.count(k);
    b.react(Some(m1), one, vec![count]);
    b.when(m1, one, m2);
    let outcome = go(&b.finish(), 2);
    assert_eq!(value(&outcome, k), 1.0);
    assert_eq!(
        outcome.events.iter().map(|e| e.kind).collect::<Vec<_>>(),
        [EventKind::Transition, EventKind::Reaction]
    );
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 0, 1)]);
}

#[test]
fn own_variables_start_afresh_and_their_start_advances_n() {
    let mut b = Builder::new("Own");
    let [m1, m2] = modes(&mut b, None, "a");
    let y = b.own_state(Some(m2), "y", 7.0);
    b.slope(Some(m2), y, 1.0);
    let one = b.after(1.0);
    b.transition(m1, one.clone(), m2);
    b.transition(m2, one, m1);
    let outcome = go(&b.finish(), 4);
    assert_eq!(stamps(&outcome), [(1.0, 1, 0), (2.0, 0, 1), (3.0, 1, 0), (4.0, 0, 1)]);
    assert_eq!(outcome.events[2].before, [(y, rational(8, 1))]);
    assert_eq!(outcome.events[2].after, [(y, rational(7, 1))]);
    assert_eq!(value(&outcome, y), 8.0);
}

#[test]
fn explicit_assignment_wins_over_the_start_value() {
    let mut b = Builder::new("Own");
    let [m1, m2] = modes(&mut b, None, "a");
    let y = b.own_state(Some(m2), "y", 7.0);
    b.slope(Some(m2), y, 1.0);
    let (one, three) = (b.after(1.0), b.set(y, 3.0));
    b.transition(m1, one, m2).actions = vec![three];
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(1.0, 1, 0)]);
    assert_eq!(value(&outcome, y), 4.0);
}

#[test]
fn history_resumes_modes_and_values_all_the_way_down() {
    let mut b = Builder::new("History");
    let [work, pause] = modes(&mut b, None, "outer");
    let [in1, in2] = modes(&mut b, Some(work), "middle");
    let [deep1, deep2] = modes(&mut b, Some(in2), "deep");
    let y = b.own_state(Some(in2), "y", 0.0);
    b.slope(Some(in2), y, 1.0);
    let (half, one) = (b.after(0.5), b.after(1.0));
    b.transition(in1, half.clone(), in2);
    b.transition(deep1, half, deep2);
    let trigger = b.at(2.0);
    b.transition(work, trigger, pause);
    b.transition(pause, one, work).history = true;
    let outcome = go(&b.finish(), 4);
    // Left at 2 with y = 1.5; resumed at 3 in in2, deep2; one more second of flow.
    assert_eq!(path(&outcome), [in2, deep2, pause, work]);
    assert_eq!(stamps(&outcome), [(0.5, 1, 0), (1.0, 0, 1), (2.0, 0, 1), (3.0, 0, 1)]);
    assert_eq!(outcome.modes, [Some(work), Some(in2), Some(deep2)]);
    assert_eq!(value(&outcome, y), 2.5);
}

#[test]
fn entry_without_history_starts_in_the_initial_modes() {
    let mut b = Builder::new("Afresh");
    let [work, pause] = modes(&mut b, None, "outer");
    let [in1, in2] = modes(&mut b, Some(work), "inner");
    let (half, one) = (b.after(0.5), b.after(1.0));
    b.transition(in1, half, in2);
    b.transition(work, one.clone(), pause);
    b.transition(pause, one, work);
    let outcome = go(&b.finish(), 2);
    assert_eq!(path(&outcome), [in2, pause, work]);
    assert_eq!(outcome.modes, [Some(work), Some(in1)]);
}

#[test]
fn ticks_are_exact_multiples_from_entry() {
    let mut b = Builder::new("Ticks");
    let k = b.memory(None, "k", Sort::Integer, 0.0);
    let (every, count) = (b.every(0.1), b.count(k));
    b.reaction(None, every, None, vec![count]);
    let outcome = go(&b.finish(), 1);
    // 0.1 as a double is slightly more than a tenth: 0, 0.1, ..., 0.9, and 1.0 is just missed.
    assert_eq!(value(&outcome, k), 10.0);
    assert_eq!(outcome.events[0].t, rational(0, 1));
    assert!(outcome.events.iter().all(|e| e.kind == EventKind::Sample && e.n == 0 && e.i == 1));
}

#[test]
fn every_and_at_and_a_guard_on_time_coincide_in_one_round() {
    let mut b = Builder::new("Coincide");
    let [m1, m2] = modes(&mut b, None, "a");
    let at = b.at(2.0);
    b.transition(m1, at, m2);
    let every = b.every(1.0);
    b.reaction(None, every, None, vec![]);
    let late = b.ge(TIME, 2.0);
    b.react(None, late, vec![]);
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(0.0, 0, 1), (1.0, 0, 1), (2.0, 0, 1), (2.0, 0, 1), (2.0, 0, 1)]);
    let kinds: Vec<EventKind> = outcome.events.iter().skip(2).map(|e| e.kind).collect();
    assert_eq!(kinds, [EventKind::Sample, EventKind::Reaction, EventKind::Transition]);
}

#[test]
fn at_in_the_past_never_fires_and_at_entry_does() {
    let mut b = Builder::new("Past");
    let [m1, m2, m3, m4] = modes(&mut b, None, "a");
    let (one, half, now) = (b.at(1.0), b.at(0.5), b.at(1.0));
    b.transition(m1, one, m2);
    b.transition(m2, half, m3);
    b.transition(m2, now, m4);
    let outcome = go(&b.finish(), 3);
    assert_eq!(path(&outcome), [m2, m4]);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 0, 2)]);
}

#[test]
fn absolute_tick_is_taken_once_even_if_its_mode_is_entered_again() {
    let mut b = Builder::new("Once");
    let [m1] = modes(&mut b, None, "a");
    let one = b.at(1.0);
    b.transition(m1, one, m1);
    let outcome = go(&b.finish(), 2);
    assert_eq!(outcome.status, Status::Finished);
    assert_eq!(outcome.events.len(), 1);
}

#[test]
fn every_on_a_self_loop_is_a_zero_time_loop() {
    let mut b = Builder::new("Spin");
    let [m1] = modes(&mut b, None, "a");
    let every = b.every(1.0);
    b.transition(m1, every, m1);
    let outcome = go(&b.finish(), 2);
    assert_eq!(outcome.status, Status::ZeroTimeLoop);
    assert_eq!(outcome.cycle, 1);
}

#[test]
fn period_that_is_not_positive_fails() {
    let mut b = Builder::new("Period");
    let every = b.every(0.0);
    b.reaction(None, every, None, vec![]);
    assert_eq!(go(&b.finish(), 1).status, Status::Failed);
}

#[test]
fn event_input_triggers_where_its_block_is_active() {
    let mut b = Builder::new("Press");
    let press = b.event("press", &[0.5, 1.0, 2.0]);
    let [m1, m2] = modes(&mut b, None, "a");
    let k = b.memory(None, "k", Sort::Integer, 0.0);
    let count = b.count(k);
    b.reaction(Some(m2), Trigger::On(press), None, vec![count]);
    let at = b.at(0.75);
    b.transition(m1, at, m2);
    let twice = b.ge(k, 2.0);
    b.transition(m2, Trigger::On(press), m1).condition = Some(twice);
    let outcome = go(&b.finish(), 3);
    // 0.5 comes too early; 1 and 2 count; at 2 the transition sees k = 2 in the second round.
    assert_eq!(stamps(&outcome), [(0.75, 0, 1), (1.0, 0, 1), (2.0, 0, 1), (2.0, 0, 2)]);
    assert_eq!(outcome.modes, [Some(m1)]);
}

#[test]
fn else_is_taken_when_nothing_else_is() {
    for (start, expected) in [(0.0, 2), (5.0, 1)] {
        let (mut b, x) = ramp(start, 1.0);
        let [choice, high, low] = modes(&mut b, None, "a");
        b.transition(choice, Trigger::Else, low);
        let up = b.ge(x, 1.0);
        b.when(choice, up, high);
        let outcome = go(&b.finish(), 3);
        assert_eq!(path(&outcome), [[choice, high, low][expected]]);
        assert_eq!(stamps(&outcome), [(0.0, 0, 1)]);
    }
}

#[test]
fn else_waits_for_a_lazy_may_and_goes_when_it_closes() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [choice, high, low] = modes(&mut b, None, "a");
    let up = b.le(x, 1.0);
    b.when(choice, up, high).may = true;
    b.transition(choice, Trigger::Else, low);
    let system = b.finish();
    assert_eq!(path(&go(&system, 3)), [high]);
    let outcome = lazy(&system, 3);
    assert_eq!(path(&outcome), [low]);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1)]);
}

#[test]
fn else_goes_when_a_lazy_tick_is_not_taken() {
    let (mut b, _) = ramp(0.0, 1.0);
    let [first, choice, high, low] = modes(&mut b, None, "a");
    let (one, again) = (b.at(1.0), b.at(1.0));
    b.transition(first, one, choice);
    b.transition(choice, again, high).may = true;
    b.transition(choice, Trigger::Else, low);
    let system = b.finish();
    assert_eq!(path(&go(&system, 3)), [choice, high]);
    let outcome = lazy(&system, 3);
    assert_eq!(path(&outcome), [choice, low]);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 0, 2)]);
}

#[test]
fn crossing_that_a_lazy_run_passes_is_over_when_it_is_forced() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, crossed, level] = modes(&mut b, None, "a");
    let (up, end) = (b.ge(x, 1.0), b.le(x, 2.0));
    b.transition(m1, Trigger::Rises(up), crossed).may = true;
    b.when(m1, up, level).may = true;
    b.invariant(Some(m1), end);
    let outcome = lazy(&b.finish(), 3);
    assert_eq!(path(&outcome), [level]);
    assert_eq!(stamps(&outcome), [(2.0, 0, 1)]);
}

/// Heating until 1, then idle with an invariant x >= 0 and a `may` below one half.
fn thermostat_with_may() -> HybridSystem {
    let mut b = Builder::new("May");
    let x = b.state("x", 0.0);
    let [heat, idle] = modes(&mut b, None, "control");
    b.slope(Some(heat), x, 1.0);
    b.slope(Some(idle), x, -1.0);
    let hot = b.ge(x, 1.0);
    b.when(heat, hot, idle);
    let cold = b.le(x, 0.5);
    b.when(idle, cold, heat).may = true;
    let floor = b.ge(x, 0.0);
    b.invariant(Some(idle), floor);
    b.finish()
}

#[test]
fn may_is_taken_eagerly_or_at_the_last_admissible_instant() {
    let system = thermostat_with_may();
    assert_eq!(stamps(&go(&system, 3)), [(1.0, 0, 1), (1.5, 0, 1), (2.0, 0, 1), (2.5, 0, 1), (3.0, 0, 1)]);
    assert_eq!(stamps(&lazy(&system, 3)), [(1.0, 0, 1), (2.0, 0, 1), (3.0, 0, 1)]);
}

#[test]
fn lazy_may_without_an_invariant_is_never_taken() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    b.when(m1, one, m2).may = true;
    assert!(lazy(&b.finish(), 9).events.is_empty());
}

#[test]
fn ending_invariant_forces_only_related_modes() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [a1, a2] = modes(&mut b, None, "a");
    let [b1, b2] = modes(&mut b, None, "b");
    let any = b.ge(x, 0.0);
    b.when(a1, any, a2).may = true;
    b.when(b1, any, b2).may = true;
    let limit = b.le(x, 1.0);
    b.invariant(Some(b1), limit);
    let outcome = lazy(&b.finish(), 3);
    assert_eq!(path(&outcome), [b2]);
    assert_eq!(stamps(&outcome), [(1.0, 0, 1)]);
    assert_eq!(outcome.modes, [Some(a1), Some(b2)]);
}

#[test]
fn urgent_transition_goes_before_a_forced_one() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2, m3] = modes(&mut b, None, "a");
    let (any, one) = (b.ge(x, 0.0), b.ge(x, 1.0));
    b.when(m1, any, m2).may = true;
    b.when(m1, one, m3);
    let limit = b.le(x, 1.0);
    b.invariant(Some(m1), limit);
    assert_eq!(path(&lazy(&b.finish(), 3)), [m3]);
}

#[test]
fn ending_invariant_with_nothing_enabled_blocks() {
    let (mut b, x) = ramp(0.0, 1.0);
    // Closed: the strict atom is read as the non-strict one, so the last instant is at 1.
    let limit = b.lt(x, 1.0);
    b.invariant(None, limit);
    let system = b.finish();
    let outcome = go(&system, 3);
    assert_eq!((outcome.status, outcome.stop.0), (Status::Blocked, rational(1, 1)));
    // A run that ends there has violated nothing.
    assert_eq!(go(&system, 1).status, Status::Finished);
}

#[test]
fn invariant_that_does_not_hold_on_entry_blocks_unless_left_at_once() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2, m3] = modes(&mut b, None, "a");
    let (one, two) = (b.ge(x, 1.0), b.ge(x, 2.0));
    b.when(m1, one, m2);
    b.invariant(Some(m2), two);
    let blocked = b.clone().finish();
    assert_eq!(go(&blocked, 1).status, Status::Blocked);
    b.when(m2, one, m3);
    let outcome = go(&b.finish(), 3);
    assert_eq!((outcome.status, path(&outcome)), (Status::Finished, vec![m2, m3]));
}

#[test]
fn domain_ends_the_run_where_the_model_ends() {
    let (mut b, x) = ramp(1.0, -1.0);
    let positive = b.gt(x, 0.0);
    b.domain(None, positive);
    let outcome = go(&b.finish(), 3);
    assert_eq!((outcome.status, outcome.stop.0), (Status::LeftDomain, rational(1, 1)));
}

#[test]
fn stop_condition_ends_the_run_after_its_instant() {
    let (mut b, x) = ramp(0.0, 1.0);
    let [m1, m2] = modes(&mut b, None, "a");
    let one = b.ge(x, 1.0);
    b.when(m1, one, m2);
    let reset = b.set(x, 0.0);
    b.react(Some(m2), one, vec![reset]);
    b.stop(None, one, "reached");
    let outcome = go(&b.finish(), 3);
    assert_eq!((outcome.status, outcome.reason.as_str()), (Status::Stopped, "reached"));
    assert_eq!(stamps(&outcome), [(1.0, 0, 1), (1.0, 1, 0)]);
    assert_eq!(value(&outcome, x), 0.0);
}

#[test]
fn all_instants_at_start_and_stop_time_are_executed() {
    let mut b = Builder::new("Ends");
    let x = b.state("x", 0.0);
    b.slope(None, x, 1.0);
    let (zero, end) = (b.at(0.0), b.at(2.0));
    b.reaction(None, zero, None, vec![]);
    let reset = b.set(x, 10.0);
    b.reaction(None, end, None, vec![reset]);
    let high = b.ge(x, 10.0);
    b.react(None, high, vec![]);
    let outcome = go(&b.finish(), 2);
    assert_eq!(stamps(&outcome), [(0.0, 0, 1), (2.0, 1, 0), (2.0, 1, 1)]);
    assert_eq!(value(&outcome, x), 10.0);
}

#[test]
fn missing_or_double_derivative_fails() {
    let mut b = Builder::new("Missing");
    let x = b.state("x", 0.0);
    let low = b.lt(x, 1.0);
    b.react(None, low, vec![]);
    let mut twice = b.clone();
    assert_eq!(go(&b.finish(), 1).status, Status::Failed);
    twice.slope(None, x, 1.0);
    twice.slope(None, x, 2.0);
    assert_eq!(go(&twice.finish(), 1).status, Status::Failed);
}

#[test]
fn guard_may_read_signals_modes_and_entry_times() {
    let (mut b, x) = ramp(0.0, 1.0);
    let double = b.mul(x, 2.0);
    let s = b.signal("s", Sort::Real, double);
    let [m1, m2] = modes(&mut b, None, "a");
    let three = b.ge(s, 3.0);
    b.when(m1, three, m2);
    let inside = b.in_mode(m2);
    let entry = b.entry_time(m2);
    let due = b.add(entry, 0.25);
    let late = b.ge(TIME, due);
    let guard = b.and(inside, late);
    b.react(None, guard, vec![]);
    assert_eq!(stamps(&go(&b.finish(), 3)), [(1.5, 0, 1), (1.75, 0, 1)]);
}

#[test]
fn record_carries_names_and_values_of_what_it_assigned() {
    let (mut b, x) = ramp(0.0, 1.0);
    let one = b.ge(x, 1.0);
    let reset = b.set(x, -4.0);
    b.react(None, one, vec![reset]);
    let Outcome { events, .. } = go(&b.finish(), 2);
    let Event { name, before, after, from, .. } = &events[0];
    assert_eq!(name, "root reaction 1");
    assert_eq!((before, after), (&vec![(x, rational(1, 1))], &vec![(x, rational(-4, 1))]));
    assert_eq!(*from, None);
}
