//! One round (section 6 of the semantics): choose, evaluate, exit, assign, enter.

use crate::configuration::Configuration;
use crate::evaluate::Moment;
use crate::trigger::{Place, considered, trigger};
use crate::{Event, EventKind, Exact, Halt, Policy, Rational};
use saltus_expr::VarId;
use saltus_model::{Assigned, Assignment, AutomatonId, HybridSystem, ModeId, Trigger, VariableKind};

/// What a round will do: reactions and transitions in the order of the walk.
pub(crate) type Round = Vec<Place>;

/// The modes whose `may` transitions are forced in a round, by mode.
pub(crate) type Forced = Vec<bool>;

impl Moment<'_> {
    /// The transitions to be taken, by source mode.
    pub fn choose(&self, policy: Policy, forced: &Forced) -> Exact<Vec<(ModeId, usize)>> {
        let mut chosen = vec![];
        for &automaton in &self.system.root.automata {
            self.choose_in(automaton, policy, forced, &mut chosen)?;
        }
        Ok(chosen)
    }

    fn choose_in(
        &self,
        automaton: AutomatonId,
        policy: Policy,
        forced: &Forced,
        chosen: &mut Vec<(ModeId, usize)>,
    ) -> Exact<()> {
        let Some(mode) = self.configuration.mode_of(automaton) else { return Ok(()) };
        let before = chosen.len();
        self.choose_first(mode, true, policy, forced, chosen)?;
        if chosen.len() > before {
            return Ok(());
        }
        for &inner in &self.system.mode(mode).block.automata {
            self.choose_in(inner, policy, forced, chosen)?;
        }
        if chosen.len() > before {
            return Ok(());
        }
        self.choose_first(mode, false, policy, forced, chosen)
    }

    fn choose_first(
        &self,
        mode: ModeId,
        preempt: bool,
        policy: Policy,
        forced: &Forced,
        chosen: &mut Vec<(ModeId, usize)>,
    ) -> Exact<()> {
        for k in considered(self.system.mode(mode), preempt) {
            let consent =
                !self.system.mode(mode).transitions[k].may || policy == Policy::Eager || forced[mode.index()];
            if consent && self.enabled(mode, k)? {
                chosen.push((mode, k));
                return Ok(());
            }
        }
        Ok(())
    }

    /// The reactions whose trigger occurs, with the truth of their condition.
    pub fn occurring(&self) -> Exact<Vec<(Place, bool)>> {
        let mut found = vec![];
        for block in self.configuration.active_blocks(self.system) {
            for (k, reaction) in self.system.block(block).reactions.iter().enumerate() {
                if self.occurs(block, k)? {
                    found.push((Place::Reaction(block, k), self.condition_holds(reaction.condition)?));
                }
            }
        }
        Ok(found)
    }

    /// Puts what happens in the order of the walk: the reactions of a block, then its transition
    /// out of each mode, then what is inside.
    pub fn in_walk_order(&self, reactions: &[Place], transitions: &[(ModeId, usize)]) -> Round {
        let mut round = vec![];
        for block in self.configuration.active_blocks(self.system) {
            let leaving = transitions.iter().filter(|(m, _)| Some(*m) == block);
            round.extend(leaving.map(|&(m, k)| Place::Transition(m, k)));
            let here = |p: &&Place| matches!(**p, Place::Reaction(b, _) if b == block);
            round.extend(reactions.iter().filter(here));
        }
        round
    }

    /// The value of an assignment; an interval is resolved to its middle.
    pub fn assigned(&self, value: Assigned) -> Exact<Rational> {
        match value {
            Assigned::Value(e) => self.value(e),
            Assigned::Interval(a, b) => Ok((self.value(a)? + self.value(b)?) / crate::rational(2, 1)),
        }
    }
}

/// The configuration after a round, whether it assigned a state, and the records.
pub(crate) struct Result {
    pub configuration: Configuration,
    pub assigns_state: bool,
    pub events: Vec<Event>,
}

/// Executes a round.
pub(crate) fn perform(system: &HybridSystem, before: &Configuration, round: &Round) -> Exact<Result> {
    let assignments = evaluate_actions(&Moment::new(system, before), round)?;
    let mut after = before.clone();
    for &place in round {
        if let Place::Transition(source, _) = place {
            after.trigger_mut(place).consume(trigger(system, place));
            exit(system, &mut after, source);
        }
    }
    for (v, value, _) in &assignments {
        after.values[v.index()] = value.clone();
    }
    let mut entry = Entry { system, explicit: assignments.iter().map(|a| a.0).collect(), started: vec![] };
    let mut started = vec![];
    for &place in round {
        if let Place::Transition(source, k) = place {
            let transition = &system.mode(source).transitions[k];
            entry.enter(&mut after, transition.target, transition.history)?;
        }
        started.push(std::mem::take(&mut entry.started));
    }
    let assigned_by = |k: usize| {
        let by_action = assignments.iter().filter(move |a| a.2 == k).map(|a| a.0);
        by_action.chain(started[k].iter().copied()).collect::<Vec<VarId>>()
    };
    let record = |(k, &place): (usize, &Place)| record(system, place, &assigned_by(k), before, &after);
    let events: Vec<Event> = round.iter().enumerate().map(record).collect();
    let is_state = |&(v, _): &(VarId, Rational)| system.variable(v).kind == VariableKind::State;
    let assigns_state = events.iter().any(|e| e.after.iter().any(is_state));
    Ok(Result { configuration: after, assigns_state, events })
}

/// All assignments of a round with the position of the item that makes them.
fn evaluate_actions(moment: &Moment, round: &Round) -> Exact<Vec<(VarId, Rational, usize)>> {
    let mut assignments: Vec<(VarId, Rational, usize)> = vec![];
    for (k, &place) in round.iter().enumerate() {
        for action in actions(moment.system, place) {
            if let Some(other) = assignments.iter().find(|a| a.0 == action.target) {
                return Err(Halt::Failed(format!(
                    "`{}` is assigned twice in one round, by `{}` and by `{}`",
                    moment.system.variable(action.target).name,
                    name(moment.system, round[other.2]),
                    name(moment.system, place),
                )));
            }
            assignments.push((action.target, moment.assigned(action.value)?, k));
        }
    }
    Ok(assignments)
}

fn actions(system: &HybridSystem, place: Place) -> &[Assignment] {
    match place {
        Place::Reaction(block, k) => &system.block(block).reactions[k].actions,
        Place::Transition(mode, k) => &system.mode(mode).transitions[k].actions,
    }
}

fn name(system: &HybridSystem, place: Place) -> &str {
    match place {
        Place::Reaction(block, k) => &system.block(block).reactions[k].name,
        Place::Transition(mode, k) => &system.mode(mode).transitions[k].name,
    }
}

/// Leaves a mode and everything active inside it, inner to outer.
fn exit(system: &HybridSystem, configuration: &mut Configuration, mode: ModeId) {
    for &inner in &system.mode(mode).block.automata {
        if let Some(inner_mode) = configuration.mode_of(inner) {
            exit(system, configuration, inner_mode);
        }
    }
    configuration.leave(system, mode);
}

/// The entry of modes in one round.
pub(crate) struct Entry<'a> {
    pub system: &'a HybridSystem,
    /// Variables assigned by actions, which win over start values.
    pub explicit: Vec<VarId>,
    /// Variables that got their start value.
    pub started: Vec<VarId>,
}

impl Entry<'_> {
    /// Enters a mode and, inside it, the initial modes, or the last ones by history.
    pub fn enter(&mut self, configuration: &mut Configuration, mode: ModeId, history: bool) -> Exact<()> {
        let resume = history && configuration.visited[mode.index()];
        let automaton = self.system.mode(mode).automaton;
        configuration.last[automaton.index()] = Some(mode);
        configuration.active[mode.index()] = true;
        configuration.visited[mode.index()] = true;
        configuration.entry[mode.index()] = configuration.t.clone();
        if !resume {
            self.start_own_variables(configuration, mode)?;
        }
        activate(self.system, configuration, Some(mode))?;
        for &inner in &self.system.mode(mode).block.automata {
            let last = configuration.last[inner.index()].filter(|_| resume);
            let initial = self.system.automaton(inner).initial;
            self.enter(configuration, last.unwrap_or(initial), resume)?;
        }
        Ok(())
    }

    fn start_own_variables(&mut self, configuration: &mut Configuration, mode: ModeId) -> Exact<()> {
        for (index, variable) in self.system.variables.iter().enumerate() {
            let v = VarId(index as u32);
            let Some(start) = variable.start.filter(|_| variable.owner == Some(mode)) else { continue };
            if !self.explicit.contains(&v) {
                let value = Moment::new(self.system, configuration).assigned(start)?;
                configuration.values[index] = value;
                self.started.push(v);
            }
        }
        Ok(())
    }
}

/// Sets the flags and reads the tick times of a block that has become active.
pub(crate) fn activate(
    system: &HybridSystem,
    configuration: &mut Configuration,
    block: Option<ModeId>,
) -> Exact<()> {
    let frozen = configuration.clone();
    let moment = Moment::new(system, &frozen);
    configuration.activate(system, block, |trigger| moment.timing(trigger))
}

fn record(
    system: &HybridSystem,
    place: Place,
    assigned: &[VarId],
    before: &Configuration,
    after: &Configuration,
) -> Event {
    let values = |c: &Configuration| assigned.iter().map(|&v| (v, c.values[v.index()].clone())).collect();
    let (span, kind, modes) = match place {
        Place::Reaction(block, k) => {
            let reaction = &system.block(block).reactions[k];
            (reaction.span, reaction_kind(&reaction.trigger), None)
        }
        Place::Transition(mode, k) => {
            let transition = &system.mode(mode).transitions[k];
            (transition.span, EventKind::Transition, Some((mode, transition.target)))
        }
    };
    Event {
        t: after.t.clone(),
        n: 0,
        i: 0,
        kind,
        name: name(system, place).to_owned(),
        automaton: modes.map(|(from, _)| system.mode(from).automaton),
        from: modes.map(|m| m.0),
        to: modes.map(|m| m.1),
        span,
        before: values(before),
        after: values(after),
    }
}

fn reaction_kind(trigger: &Trigger) -> EventKind {
    match trigger {
        Trigger::At(_) | Trigger::After(_) | Trigger::On(_) => EventKind::Time,
        Trigger::Every(_) => EventKind::Sample,
        _ => EventKind::Reaction,
    }
}
