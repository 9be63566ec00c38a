//! Automata, modes, variables, and one derivative for every state in every combination of modes.

use super::{Generator, Writer};
use saltus_expr::{Sort, VarId};
use saltus_model::{AutomatonId, ModeId, VariableKind};

impl Generator {
    pub(super) fn structure(&mut self) {
        self.automata();
        self.memories();
        self.states();
        self.signals();
        if self.dice.chance(35) {
            let count = 1 + self.dice.below(3);
            let times: Vec<f64> = (0..count).map(|_| self.numbers.time(&mut self.dice)).collect();
            self.event = Some(self.b.event("press", &times));
        }
        self.choose_writers();
    }

    /// One to four automata, nested up to three deep.
    fn automata(&mut self) {
        for k in 1..=1 + self.dice.below(4) {
            let shallow: Vec<ModeId> =
                self.modes.iter().copied().filter(|&m| self.scope(Some(m)).len() <= 3).collect();
            let parent = if self.dice.chance(50) { self.dice.pick(&shallow) } else { None };
            let automaton = self.b.automaton(parent, &format!("A{k}"));
            for _ in 0..2 + self.dice.weighted(&[4, 3, 1]) {
                let name = format!("M{}", self.modes.len() + 1);
                self.modes.push(self.b.mode(automaton, &name));
            }
        }
    }

    /// The root or, now and then, a mode.
    fn owner(&mut self, percent: usize) -> Option<ModeId> {
        if self.dice.chance(percent) { self.dice.pick(&self.modes) } else { None }
    }

    fn memories(&mut self) {
        for (sort, letter) in [(Sort::Integer, "k"), (Sort::Boolean, "q"), (Sort::Real, "r")] {
            for n in 1..=self.dice.weighted(&[25, 45, 30]) {
                let owner = self.owner(25);
                let start = match sort {
                    Sort::Real => self.numbers.slope(&mut self.dice),
                    _ => self.dice.below(2) as f64,
                };
                let v = self.b.memory(owner, &format!("{letter}{n}"), sort, start);
                if sort == Sort::Real && owner.is_none() {
                    self.rates.push(v);
                }
            }
        }
        if self.dice.chance(25) {
            let value = self.numbers.slope(&mut self.dice);
            let p = self.b.parameter("p", value);
            self.rates.push(p);
        }
    }

    /// One to three states of the root and perhaps one of a mode.
    fn states(&mut self) {
        for n in 1..=1 + self.dice.below(3) {
            let start = self.numbers.value(&mut self.dice);
            let x = self.b.state(&format!("x{n}"), start);
            self.derivative(None, x);
        }
        if let Some(mode) = self.owner(35) {
            let start = self.numbers.value(&mut self.dice);
            let y = self.b.own_state(Some(mode), "y", start);
            self.derivative(Some(mode), y);
        }
    }

    /// Defines the derivative of a state in a block, or in every mode of one automaton inside it.
    fn derivative(&mut self, block: Option<ModeId>, state: VarId) {
        let automata: Vec<AutomatonId> = self.b.system().block(block).automata.clone();
        let delegate = self.dice.chance(70);
        if let Some(automaton) = self.dice.pick(&automata).filter(|_| delegate) {
            for mode in self.b.system().automaton(automaton).modes.clone() {
                self.derivative(Some(mode), state);
            }
            return;
        }
        let earlier: Vec<VarId> = self.visible(block, VariableKind::State, Sort::Real);
        let earlier: Vec<VarId> = earlier.into_iter().filter(|v| v.0 < state.0).collect();
        match self.dice.weighted(&[85, 12, 3]) {
            1 if !self.rates.is_empty() => {
                let rate = self.rates[self.dice.below(self.rates.len())];
                self.b.slope(block, state, rate);
            }
            2 if !earlier.is_empty() => {
                let velocity = earlier[self.dice.below(earlier.len())];
                self.b.slope(block, state, velocity);
            }
            _ => {
                let slope = self.numbers.slope(&mut self.dice);
                self.slopes.insert((block, state), slope);
                self.b.slope(block, state, slope);
            }
        }
    }

    /// Now and then a sum of states, a Boolean over them, a mode or an entry time to read.
    fn signals(&mut self) {
        let states = self.visible(None, VariableKind::State, Sort::Real);
        if self.dice.chance(20) {
            let (a, b) = (self.dice.below(states.len()), self.dice.below(states.len()));
            let sum = self.b.add(states[a], states[b]);
            self.b.signal("s", Sort::Real, sum);
        }
        if self.dice.chance(10) {
            let level = self.numbers.level(&mut self.dice);
            let high = self.b.gt(states[0], level);
            self.b.signal("high", Sort::Boolean, high);
        }
        for _ in 0..self.dice.below(3) {
            let mode = self.modes[self.dice.below(self.modes.len())];
            if self.dice.chance(75) {
                self.b.in_mode(mode);
            } else {
                self.b.entry_time(mode);
            }
        }
    }

    fn choose_writers(&mut self) {
        let variables: Vec<VarId> = self
            .visible_anywhere(VariableKind::State)
            .into_iter()
            .chain(self.visible_anywhere(VariableKind::Memory))
            .collect();
        for v in variables {
            let near = self.near_automata(v);
            let writer = match (self.dice.below(10), self.dice.pick(&near)) {
                (0..4, Some(automaton)) => Writer::Transitions(automaton),
                (4..7, Some(automaton)) => Writer::Reactions(automaton),
                _ => Writer::Root,
            };
            self.writers.insert(v, writer);
        }
    }

    fn visible_anywhere(&self, kind: VariableKind) -> Vec<VarId> {
        self.b.system().variables_of(kind).collect()
    }

    /// The automata whose modes see a variable: all for one of the root; else its mode's own
    /// automaton and those inside the mode.
    fn near_automata(&self, v: VarId) -> Vec<AutomatonId> {
        let system = self.b.system();
        let owner = system.variable(v).owner;
        let near = |mode: &&ModeId| owner.is_none() || self.scope(Some(**mode)).contains(&owner);
        let mut automata: Vec<AutomatonId> =
            self.modes.iter().filter(near).map(|&m| system.mode(m).automaton).collect();
        automata.dedup();
        automata
    }
}
