//! The active modes along a run, rebuilt from its transitions.

use saltus_expr::VarId;
use saltus_model::{AutomatonId, HybridSystem, ModeId};
use saltus_sim::{Event, Run, Stamp};

/// Which mode of every automaton is active, moving forward through the events of a run.
pub struct ActiveModes<'r> {
    system: &'r HybridSystem,
    events: &'r [Event],
    next: usize,
    active: Vec<Option<ModeId>>,
    /// The last mode of every automaton, for entries by history.
    last: Vec<ModeId>,
    visited: Vec<bool>,
    changed: Vec<AutomatonId>,
}

impl<'r> ActiveModes<'r> {
    /// The modes a run starts with.
    pub fn new(system: &'r HybridSystem, run: &'r Run) -> Self {
        let mut modes = Self {
            system,
            events: &run.events,
            next: 0,
            active: vec![None; system.automata.len()],
            last: system.automata.iter().map(|a| a.initial).collect(),
            visited: vec![false; system.modes.len()],
            changed: Vec::new(),
        };
        for &automaton in &system.root.automata {
            modes.enter(system.automaton(automaton).initial, false);
        }
        modes
    }

    /// Moves on to a stamp: all events up to it have happened. Returns the automata that changed.
    pub fn advance(&mut self, stamp: Stamp) -> &[AutomatonId] {
        self.changed.clear();
        while let Some(event) = self.events.get(self.next).filter(|e| e.stamp <= stamp) {
            self.next += 1;
            if let Some((_, from, to)) = event.transition {
                let history = self.by_history(event, from, to);
                self.leave(from);
                self.enter(to, history);
            }
        }
        &self.changed
    }

    /// The stamp of the next event.
    pub fn next_stamp(&self) -> Option<Stamp> {
        self.events.get(self.next).map(|e| e.stamp)
    }

    /// The active mode of an automaton.
    pub fn mode(&self, automaton: AutomatonId) -> Option<ModeId> {
        self.active[automaton.index()]
    }

    /// Whether a mode is active.
    pub fn is_active(&self, mode: ModeId) -> bool {
        self.mode(self.system.mode(mode).automaton) == Some(mode)
    }

    /// Whether a variable exists now: those of a mode do only while it is active.
    pub fn exists(&self, variable: VarId) -> bool {
        self.system.variable(variable).owner.is_none_or(|mode| self.is_active(mode))
    }

    fn by_history(&self, event: &Event, from: ModeId, to: ModeId) -> bool {
        let transitions = &self.system.mode(from).transitions;
        transitions.iter().any(|t| t.history && t.target == to && t.span == event.span)
    }

    fn leave(&mut self, mode: ModeId) {
        let system = self.system;
        for &inner in &system.mode(mode).block.automata {
            if let Some(active) = self.active[inner.index()].take() {
                self.changed.push(inner);
                self.leave(active);
            }
        }
    }

    fn enter(&mut self, mode: ModeId, history: bool) {
        let system = self.system;
        let automaton = system.mode(mode).automaton;
        self.active[automaton.index()] = Some(mode);
        self.last[automaton.index()] = mode;
        self.changed.push(automaton);
        let resumes = history && self.visited[mode.index()];
        self.visited[mode.index()] = true;
        for &inner in &system.mode(mode).block.automata {
            let initial = system.automaton(inner).initial;
            let target = if resumes { self.last[inner.index()] } else { initial };
            self.enter(target, resumes);
        }
    }
}
