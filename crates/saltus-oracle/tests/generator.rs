//! What random systems are like: valid, eventful, and of every kind of end.

use saltus_model::{HybridSystem, Trigger};
use saltus_oracle::random::{random_system, random_text};
use saltus_oracle::{Event, Limits, Outcome, Status, rational, run};
use std::collections::BTreeMap;

const SYSTEMS: u64 = 2000;

fn limits() -> Limits {
    Limits { rounds_per_instant: 60, events: 400 }
}

/// Counts over many random systems.
#[derive(Default, Debug)]
struct Statistics {
    ends: BTreeMap<&'static str, usize>,
    unsupported: usize,
    eventful: usize,
    simultaneous: usize,
    chained: usize,
    exact: usize,
    loops_at_start: usize,
    failed_without_clash: Vec<(u64, String)>,
}

fn statistics() -> Statistics {
    let mut s = Statistics::default();
    for seed in 0..SYSTEMS {
        let random = random_system(seed);
        let Ok(outcome) = run(&random.system, random.until, random.policy, limits()) else {
            s.unsupported += 1;
            continue;
        };
        *s.ends.entry(outcome.status.word()).or_default() += 1;
        s.eventful += usize::from(outcome.events.len() >= 3);
        s.simultaneous += usize::from(has_pair(&outcome, |a, b| (a.n, a.i) == (b.n, b.i)));
        s.chained += usize::from(has_pair(&outcome, |a, b| (a.n, a.i) != (b.n, b.i)));
        s.exact += usize::from(random.dyadic && outcome.is_exact_in_doubles());
        s.loops_at_start += usize::from(outcome.cycle > 0 && outcome.stop.0 == rational(0, 1));
        if outcome.status == Status::Failed && !random.clashing {
            s.failed_without_clash.push((seed, outcome.reason));
        }
    }
    s
}

/// True if two neighbouring records at the same time satisfy a relation.
fn has_pair(outcome: &Outcome, relation: impl Fn(&Event, &Event) -> bool) -> bool {
    outcome.events.windows(2).any(|w| w[0].t == w[1].t && relation(&w[0], &w[1]))
}

#[test]
fn random_systems_are_valid_and_eventful() {
    let s = statistics();
    println!("{s:#?}");
    let share = |count: usize| count as f64 / SYSTEMS as f64;
    let end = |status: Status| share(s.ends.get(status.word()).copied().unwrap_or(0));
    assert!(s.failed_without_clash.is_empty(), "{:?}", s.failed_without_clash);
    assert!(share(s.unsupported) < 0.05);
    assert!(share(s.eventful) > 0.6);
    assert!(share(s.simultaneous) > 0.3);
    assert!(share(s.chained) > 0.3);
    assert!(end(Status::Finished) > 0.4);
    for status in [Status::Stopped, Status::Blocked, Status::ZeroTimeLoop, Status::Failed] {
        assert!(end(status) > 0.01, "{status:?}");
    }
    assert!(end(Status::ZeroTimeLoop) < 0.3);
}

#[test]
fn equal_seeds_give_equal_texts_and_different_seeds_different_ones() {
    assert_eq!(random_text(3), random_text(3));
    assert_ne!(random_text(3), random_text(4));
}

#[test]
fn every_construct_occurs() {
    let systems: Vec<HybridSystem> = (0..200).map(|seed| random_system(seed).system).collect();
    let transitions: Vec<_> = systems.iter().flat_map(|s| &s.modes).flat_map(|m| &m.transitions).collect();
    let reactions: Vec<_> = systems
        .iter()
        .flat_map(|s| s.modes.iter().map(|m| &m.block).chain([&s.root]))
        .flat_map(|b| &b.reactions)
        .collect();
    let kind = |t: &Trigger| std::mem::discriminant(t);
    let of_transitions: std::collections::HashSet<_> = transitions.iter().map(|t| kind(&t.trigger)).collect();
    let of_reactions: std::collections::HashSet<_> = reactions.iter().map(|r| kind(&r.trigger)).collect();
    assert_eq!((of_transitions.len(), of_reactions.len()), (7, 6));
    assert!(transitions.iter().any(|t| t.may && t.history));
    assert!(transitions.iter().any(|t| t.preempt));
    assert!(transitions.iter().any(|t| t.condition.is_some()));
    let depth = |s: &HybridSystem| {
        let inside = |a: &saltus_model::Automaton| a.parent.map(|m| s.automaton(s.mode(m).automaton));
        s.automata.iter().filter_map(inside).filter_map(inside).count()
    };
    assert!(systems.iter().any(|s| depth(s) > 0), "three levels");
}

/// A run to an earlier stop time is the beginning of a longer one: what is decided at an instant
/// does not depend on when the run ends.
#[test]
fn shorter_run_is_the_beginning_of_a_longer_one() {
    let mut compared = 0;
    for seed in 0..300 {
        let random = random_system(seed);
        let go = |until| run(&random.system, until, random.policy, limits());
        let half = &random.until / rational(2, 1);
        let (Ok(short), Ok(long)) = (go(half.clone()), go(random.until.clone())) else { continue };
        let early: Vec<&Event> = long.events.iter().filter(|e| e.t <= half).collect();
        assert_eq!(short.events.iter().collect::<Vec<_>>(), early, "{}", random_text(seed));
        compared += usize::from(short.events.len() >= 2 && long.events.len() > short.events.len());
    }
    assert!(compared > 50, "{compared}");
}

/// Concurrent automata have no order among each other: turning the text around turns at most the
/// order of records within a round.
#[test]
fn order_of_concurrent_automata_does_not_matter() {
    let sorted = |outcome: &Outcome| {
        let mut events = outcome.events.clone();
        events.sort_by(|a, b| (&a.t, a.n, a.i, &a.name).cmp(&(&b.t, b.n, b.i, &b.name)));
        events
    };
    let mut compared = 0;
    for seed in 0..300 {
        let random = random_system(seed);
        let mut turned = random.system.clone();
        turned.root.automata.reverse();
        let go = |system: &HybridSystem| run(system, random.until.clone(), random.policy, limits());
        let (Ok(one), Ok(other)) = (go(&random.system), go(&turned)) else { continue };
        // Which record comes last before a limit is a matter of order.
        if one.status == Status::Limit {
            continue;
        }
        assert_eq!((one.status, &one.values, &one.modes), (other.status, &other.values, &other.modes));
        assert_eq!(sorted(&one), sorted(&other), "{}", random_text(seed));
        compared += usize::from(random.system.root.automata.len() > 1 && one.events.len() > 2);
    }
    assert!(compared > 50, "{compared}");
}
