//! The configuration of a run (section 1 of the semantics): everything that decides what follows.

use crate::Rational;
use saltus_model::{AutomatonId, Block, HybridSystem, Mode, ModeId, Reaction, Transition, Trigger};

/// Time, modes, values and flags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Configuration {
    /// Current time.
    pub t: Rational,
    /// Values of parameters, states and memories by variable.
    pub values: Vec<Rational>,
    /// Last active mode of each automaton.
    pub last: Vec<Option<ModeId>>,
    /// Which modes are active.
    pub active: Vec<bool>,
    /// Which modes have ever been active.
    pub visited: Vec<bool>,
    /// When each mode was entered last.
    pub entry: Vec<Rational>,
    /// Flags and tick times of reactions, by block (the root first, then modes).
    pub reactions: Vec<Vec<TriggerState>>,
    /// Flags and tick times of transitions, by mode.
    pub transitions: Vec<Vec<TriggerState>>,
}

/// The flags of one trigger, and its time as read when its block became active.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TriggerState {
    /// For edges: the formula has been false, or the block is fresh.
    pub armed: bool,
    /// For ticks: this tick has happened.
    pub used: bool,
    /// For ticks: the value of the trigger's expression (a time, a delay or a period).
    pub timing: Option<Rational>,
}

/// Where a block stands in [`Configuration::reactions`].
pub(crate) fn block_index(block: Option<ModeId>) -> usize {
    block.map_or(0, |m| m.index() + 1)
}

impl Configuration {
    /// Time 0, nothing active, all values 0.
    pub fn new(system: &HybridSystem) -> Self {
        let fresh = |count: usize| vec![TriggerState::default(); count];
        let blocks = std::iter::once(&system.root).chain(system.modes.iter().map(|m| &m.block));
        Self {
            t: Rational::zero(),
            values: vec![Rational::zero(); system.variables.len()],
            last: vec![None; system.automata.len()],
            active: vec![false; system.modes.len()],
            visited: vec![false; system.modes.len()],
            entry: vec![Rational::zero(); system.modes.len()],
            reactions: blocks.map(|b| fresh(b.reactions.len())).collect(),
            transitions: system.modes.iter().map(|m| fresh(m.transitions.len())).collect(),
        }
    }

    /// The active mode of an automaton.
    pub fn mode_of(&self, automaton: AutomatonId) -> Option<ModeId> {
        self.last[automaton.index()].filter(|m| self.active[m.index()])
    }

    /// The active blocks in the order of the walk.
    pub fn active_blocks(&self, system: &HybridSystem) -> Vec<Option<ModeId>> {
        let mut blocks = vec![];
        self.walk(system, None, &mut |block| blocks.push(block));
        blocks
    }

    /// Visits a block and the active blocks inside it.
    pub fn walk(&self, system: &HybridSystem, block: Option<ModeId>, visit: &mut impl FnMut(Option<ModeId>)) {
        visit(block);
        for &automaton in &system.block(block).automata {
            if let Some(mode) = self.mode_of(automaton) {
                self.walk(system, Some(mode), visit);
            }
        }
    }

    /// The entry time of a block; the root is entered at time 0.
    pub fn block_entry(&self, block: Option<ModeId>) -> Rational {
        block.map_or_else(Rational::zero, |m| self.entry[m.index()].clone())
    }

    /// Sets the flags of a block that has become active; `timing` reads tick expressions.
    pub fn activate<E>(
        &mut self,
        system: &HybridSystem,
        block: Option<ModeId>,
        mut timing: impl FnMut(&Trigger) -> Result<Option<Rational>, E>,
    ) -> Result<(), E> {
        let transitions: &[Transition] = block.map_or(&[], |m| &system.mode(m).transitions);
        let Block { reactions, .. } = system.block(block);
        for (k, Reaction { trigger, .. }) in reactions.iter().enumerate() {
            let read = timing(trigger)?;
            self.reactions[block_index(block)][k].activate(trigger, read);
        }
        for (k, Transition { trigger, .. }) in transitions.iter().enumerate() {
            let read = timing(trigger)?;
            self.transitions[block_index(block) - 1][k].activate(trigger, read);
        }
        Ok(())
    }

    /// Clears the flags of a mode that is left, so that configurations can be compared.
    pub fn leave(&mut self, system: &HybridSystem, mode: ModeId) {
        self.active[mode.index()] = false;
        let Mode { block, transitions, .. } = system.mode(mode);
        for (state, reaction) in self.reactions[block_index(Some(mode))].iter_mut().zip(&block.reactions) {
            state.clear(&reaction.trigger);
        }
        for (state, transition) in self.transitions[mode.index()].iter_mut().zip(transitions) {
            state.clear(&transition.trigger);
        }
    }

    /// Clears the `used` flags: time has passed.
    pub fn forget_ticks(&mut self) {
        for state in self.reactions.iter_mut().chain(&mut self.transitions).flatten() {
            state.used = false;
        }
    }
}

impl TriggerState {
    fn activate(&mut self, trigger: &Trigger, timing: Option<Rational>) {
        self.clear(trigger);
        self.armed = matches!(trigger, Trigger::When(_));
        self.timing = timing;
    }

    /// Ticks at absolute times stay used when their block is left and entered again.
    fn clear(&mut self, trigger: &Trigger) {
        let absolute = matches!(trigger, Trigger::At(_) | Trigger::On(_));
        *self = Self { used: self.used && absolute, ..Self::default() };
    }

    /// A trigger has happened: an edge must be false again first, a tick is used.
    pub fn consume(&mut self, trigger: &Trigger) {
        match trigger {
            Trigger::When(_) | Trigger::Rises(_) | Trigger::Else => self.armed = false,
            Trigger::At(_) | Trigger::After(_) | Trigger::Every(_) | Trigger::On(_) => self.used = true,
        }
    }
}
