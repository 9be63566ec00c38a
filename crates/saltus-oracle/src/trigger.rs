//! Triggers (section 4 of the semantics): when they occur, are open, and tick next.

use crate::configuration::{Configuration, TriggerState, block_index};
use crate::evaluate::{Moment, NOW, Reading};
use crate::{Exact, Halt, Rational};
use saltus_expr::Expr;
use saltus_model::{HybridSystem, Mode, ModeId, Reaction, Transition, Trigger};

impl Moment<'_> {
    /// True if the trigger of a reaction occurs in this configuration.
    pub fn occurs(&self, block: Option<ModeId>, index: usize) -> Exact<bool> {
        let Reaction { trigger, .. } = &self.system.block(block).reactions[index];
        let state = &self.configuration.reactions[block_index(block)][index];
        match *trigger {
            Trigger::When(g) | Trigger::Rises(g) => Ok(state.armed && self.truth(g, NOW)?),
            Trigger::Else => Err(Halt::Failed("a reaction cannot have `else`".into())),
            _ => self.tick_open(block, trigger, state),
        }
    }

    /// True if a transition is enabled in this configuration.
    pub fn enabled(&self, mode: ModeId, index: usize) -> Exact<bool> {
        let Transition { trigger, condition, .. } = &self.system.mode(mode).transitions[index];
        let state = &self.configuration.transitions[mode.index()][index];
        let open = match *trigger {
            Trigger::When(g) => self.truth(g, NOW)?,
            Trigger::Rises(g) => state.armed && self.truth(g, NOW)?,
            Trigger::Else => self.others_denied(mode)?,
            _ => self.tick_open(Some(mode), trigger, state)?,
        };
        Ok(open && self.condition_holds(*condition)?)
    }

    /// The negation of "enabled", read like every negation; ticks and crossings do not count.
    fn denied(&self, mode: ModeId, index: usize) -> Exact<bool> {
        let Transition { trigger, condition, .. } = &self.system.mode(mode).transitions[index];
        let Trigger::When(g) = *trigger else { return Ok(true) };
        Ok(self.denial(g, NOW)? || condition.map_or(Ok(false), |c| self.denial(c, NOW))?)
    }

    fn others_denied(&self, mode: ModeId) -> Exact<bool> {
        for index in 0..self.system.mode(mode).transitions.len() {
            if !self.denied(mode, index)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if there is no condition or it is true now.
    pub fn condition_holds(&self, condition: Option<Expr>) -> Exact<bool> {
        condition.map_or(Ok(true), |c| self.truth(c, NOW))
    }

    /// True if a tick is due at this time and has not been used.
    fn tick_open(&self, block: Option<ModeId>, trigger: &Trigger, state: &TriggerState) -> Exact<bool> {
        if state.used {
            return Ok(false);
        }
        let t = &self.configuration.t;
        let since_entry = t - self.configuration.block_entry(block);
        Ok(match (trigger, &state.timing) {
            (Trigger::At(_), Some(time)) => time == t,
            (Trigger::After(_), Some(delay)) => *delay == since_entry,
            (Trigger::Every(_), Some(period)) => (since_entry / period).is_integer(),
            (Trigger::On(event), _) => self.event_times(event.0)?.contains(t),
            _ => false,
        })
    }

    /// The first tick of a trigger after this time.
    pub fn next_tick(
        &self,
        block: Option<ModeId>,
        trigger: &Trigger,
        state: &TriggerState,
    ) -> Exact<Option<Rational>> {
        let t = &self.configuration.t;
        let entry = self.configuration.block_entry(block);
        Ok(match (trigger, &state.timing) {
            (Trigger::At(_), Some(time)) => Some(time.clone()),
            (Trigger::After(_), Some(delay)) => Some(entry + delay),
            (Trigger::Every(_), Some(period)) => {
                let passed = ((t - &entry) / period).floor();
                Some(entry + period * (passed + crate::rational(1, 1)))
            }
            (Trigger::On(event), _) => self.event_times(event.0)?.into_iter().filter(|time| time > t).min(),
            _ => None,
        }
        .filter(|time| time > t))
    }

    /// The times, past or to come, of ticks of the active blocks that do not count from an entry.
    pub fn absolute_ticks(&self) -> Exact<Vec<Rational>> {
        let mut times = vec![];
        for (_, trigger, state) in self.triggers() {
            match trigger {
                Trigger::At(_) => times.extend(state.timing.clone()),
                Trigger::On(event) => times.extend(self.event_times(event.0)?),
                _ => {}
            }
        }
        Ok(times)
    }

    /// The triggers of the active blocks with their flags.
    pub fn triggers(&self) -> Vec<(Option<ModeId>, &Trigger, &TriggerState)> {
        let mut found = vec![];
        for block in self.configuration.active_blocks(self.system) {
            let reactions = self.system.block(block).reactions.iter().map(|r| &r.trigger);
            let states = &self.configuration.reactions[block_index(block)];
            found.extend(reactions.zip(states).map(|(trigger, state)| (block, trigger, state)));
            let Some(mode) = block else { continue };
            let transitions = self.system.mode(mode).transitions.iter().map(|t| &t.trigger);
            let states = &self.configuration.transitions[mode.index()];
            found.extend(transitions.zip(states).map(|(trigger, state)| (block, trigger, state)));
        }
        found
    }

    fn event_times(&self, event: u32) -> Exact<Vec<Rational>> {
        self.system.events[event as usize].times.iter().map(|&time| self.value(time)).collect()
    }

    /// Reads the expression of a tick trigger when its block becomes active.
    pub fn timing(&self, trigger: &Trigger) -> Exact<Option<Rational>> {
        match *trigger {
            Trigger::At(e) | Trigger::After(e) => self.value(e).map(Some),
            Trigger::Every(e) => {
                let period = self.value(e)?;
                if period.is_positive() {
                    Ok(Some(period))
                } else {
                    Err(Halt::Failed("the period of `every` is not positive".into()))
                }
            }
            _ => Ok(None),
        }
    }

    /// The edge formulas of the active blocks with their flags' places.
    pub fn edges(&self) -> Vec<Edge> {
        let mut edges = vec![];
        for block in self.configuration.active_blocks(self.system) {
            for (index, reaction) in self.system.block(block).reactions.iter().enumerate() {
                if let Trigger::When(g) | Trigger::Rises(g) = reaction.trigger {
                    edges.push(Edge { place: Place::Reaction(block, index), formula: g });
                }
            }
            let Some(mode) = block else { continue };
            for (index, transition) in self.system.mode(mode).transitions.iter().enumerate() {
                if let Trigger::Rises(g) = transition.trigger {
                    edges.push(Edge { place: Place::Transition(mode, index), formula: g });
                }
            }
        }
        edges
    }

    /// The edges whose formula is not true in the given reading.
    pub fn false_edges(&self, reading: Reading) -> Exact<Vec<Edge>> {
        let mut found = vec![];
        for edge in self.edges() {
            if !self.truth(edge.formula, reading)? {
                found.push(edge);
            }
        }
        Ok(found)
    }
}

/// A reaction or a transition, by its block and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Reaction(Option<ModeId>, usize),
    Transition(ModeId, usize),
}

/// A trigger that waits for its formula to become true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub place: Place,
    pub formula: Expr,
}

impl Configuration {
    /// The flags of a trigger.
    pub fn trigger_mut(&mut self, place: Place) -> &mut TriggerState {
        match place {
            Place::Reaction(block, index) => &mut self.reactions[block_index(block)][index],
            Place::Transition(mode, index) => &mut self.transitions[mode.index()][index],
        }
    }
}

/// The trigger of a reaction or transition.
pub(crate) fn trigger(system: &HybridSystem, place: Place) -> &Trigger {
    match place {
        Place::Reaction(block, index) => &system.block(block).reactions[index].trigger,
        Place::Transition(mode, index) => &system.mode(mode).transitions[index].trigger,
    }
}

/// The positions of the transitions of a mode in the order in which they are considered: in text
/// order, `else` last.
pub(crate) fn considered(mode: &Mode, preempt: bool) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..mode.transitions.len()).filter(|&k| mode.transitions[k].preempt == preempt).collect();
    order.sort_by_key(|&k| mode.transitions[k].trigger == Trigger::Else);
    order
}
