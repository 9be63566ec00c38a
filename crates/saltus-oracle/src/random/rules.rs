//! Guards, reactions, transitions, invariants and stops.

use super::{Generator, Writer};
use crate::build::TIME;
use saltus_expr::{Binary, Expr, Sort, VarId};
use saltus_model::{Assigned, Assignment, ModeId, Span, Trigger, VariableKind};

/// Where a formula stands: what it may contain.
#[derive(Clone, Copy)]
struct Place {
    block: Option<ModeId>,
    /// `x == c` on reals, which must not be negated.
    equality: bool,
}

impl Generator {
    pub(super) fn rules(&mut self) {
        let blocks: Vec<Option<ModeId>> =
            std::iter::once(None).chain(self.modes.iter().copied().map(Some)).collect();
        for &block in &blocks {
            self.reactions(block);
        }
        for mode in self.modes.clone() {
            self.transitions(mode);
        }
        if self.dice.chance(30) {
            self.invariant();
        }
        if self.dice.chance(25) {
            let block = if self.dice.chance(75) { None } else { self.dice.pick(&self.modes) };
            let formula = self.formula(Place { block, equality: true }, 1);
            self.b.stop(block, formula, "enough");
        }
        if self.dice.chance(4) {
            let formula = self.formula(Place { block: None, equality: false }, 0);
            self.b.domain(None, formula);
        }
    }

    fn reactions(&mut self, block: Option<ModeId>) {
        let count = if block.is_none() { self.dice.below(4) } else { self.dice.weighted(&[60, 35, 5]) };
        let mut free = self.writable_by_reactions(block);
        for _ in 0..count {
            let trigger = match self.dice.weighted(&[40, 15, 10, 8, 17, 10]) {
                0 => Trigger::When(self.formula(Place { block, equality: true }, 2)),
                1 => Trigger::Rises(self.formula(Place { block, equality: true }, 2)),
                kind => self.tick(kind - 2),
            };
            let conditional = self.is_conditional(&trigger);
            let condition = conditional.then(|| self.formula(Place { block, equality: true }, 1));
            let mut actions = vec![];
            for _ in 0..self.dice.weighted(&[15, 60, 25]) {
                if !free.is_empty() {
                    let target = free.swap_remove(self.dice.below(free.len()));
                    actions.push(self.assignment(block, target));
                }
            }
            if self.clashing {
                free = self.writable_by_reactions(block);
            }
            self.b.reaction(block, trigger, condition, actions);
        }
    }

    /// Whether a trigger gets a further condition: often for ticks, rarely for guards, to which the
    /// language does not attach one.
    fn is_conditional(&mut self, trigger: &Trigger) -> bool {
        let guard = matches!(trigger, Trigger::When(_) | Trigger::Rises(_));
        self.dice.chance(if guard { 1 } else { 25 })
    }

    fn writable_by_reactions(&self, block: Option<ModeId>) -> Vec<VarId> {
        let writer = block.map_or(Writer::Root, |m| Writer::Reactions(self.b.system().mode(m).automaton));
        self.writable(block, writer)
    }

    fn writable(&self, block: Option<ModeId>, writer: Writer) -> Vec<VarId> {
        let states = self.visible(block, VariableKind::State, Sort::Real);
        let memories = [Sort::Integer, Sort::Boolean, Sort::Real]
            .into_iter()
            .flat_map(|sort| self.visible(block, VariableKind::Memory, sort));
        let may_write = |v: &VarId| self.clashing || self.writers.get(v) == Some(&writer);
        states.into_iter().chain(memories).filter(may_write).collect()
    }

    /// A tick trigger: `at`, `after`, `every` or `on`.
    fn tick(&mut self, kind: usize) -> Trigger {
        match (kind, self.event) {
            (0, _) => {
                let time = self.numbers.time(&mut self.dice);
                self.b.at(time)
            }
            (2, _) => {
                let period = self.numbers.period(&mut self.dice);
                self.b.every(period)
            }
            (3, Some(event)) => Trigger::On(event),
            _ => {
                let delay = self.numbers.period(&mut self.dice);
                self.b.after(delay)
            }
        }
    }

    fn transitions(&mut self, mode: ModeId) {
        let system = self.b.system();
        let automaton = system.mode(mode).automaton;
        let siblings = system.automaton(automaton).modes.clone();
        let nested = !system.mode(mode).block.automata.is_empty();
        for _ in 0..1 + self.dice.weighted(&[60, 30, 10]) {
            let others: Vec<ModeId> = siblings.iter().copied().filter(|&m| m != mode).collect();
            let target = if self.dice.chance(8) { mode } else { others[self.dice.below(others.len())] };
            let trigger = self.transition_trigger(mode);
            let conditional = self.is_conditional(&trigger);
            let place = Place { block: Some(mode), equality: false };
            let condition = conditional.then(|| self.formula(place, 1));
            let actions = self.transition_actions(mode, target);
            let may = self.dice.chance(15);
            let preempt = nested && self.dice.chance(25);
            let history = self.dice.chance(25);
            let transition = self.b.transition(mode, trigger, target);
            transition.condition = condition;
            transition.may = may;
            transition.preempt = preempt;
            transition.history = history;
            transition.actions = actions;
        }
    }

    fn transition_trigger(&mut self, mode: ModeId) -> Trigger {
        let place = Place { block: Some(mode), equality: false };
        match self.dice.weighted(&[42, 16, 12, 22, 1, 6, 1]) {
            0 => Trigger::When(self.formula(place, 1)),
            1 => Trigger::Rises(self.formula(place, 2)),
            6 => Trigger::Else,
            kind => self.tick(kind - 2),
        }
    }

    fn transition_actions(&mut self, mode: ModeId, target: ModeId) -> Vec<Assignment> {
        let writer = Writer::Transitions(self.b.system().mode(mode).automaton);
        // The language sees only the variables of the source; a flat system may also set those of
        // the target.
        let scope = if self.dice.chance(10) { target } else { mode };
        let mut free = self.writable(Some(scope), writer);
        let mut actions = vec![];
        for _ in 0..self.dice.weighted(&[55, 35, 10]) {
            if !free.is_empty() {
                let v = free.swap_remove(self.dice.below(free.len()));
                actions.push(self.assignment(self.parent(mode), v));
            }
        }
        actions
    }

    /// `target := value`, the value read in a block.
    fn assignment(&mut self, block: Option<ModeId>, target: VarId) -> Assignment {
        let variable = self.b.system().variable(target);
        match (variable.kind, variable.sort) {
            (_, Sort::Integer) => self.integer_assignment(target),
            (_, Sort::Boolean) => {
                let value = if self.dice.chance(50) {
                    self.b.not(target)
                } else {
                    self.formula(Place { block, equality: false }, 1)
                };
                self.b.set(target, value)
            }
            (VariableKind::Memory, Sort::Real) => {
                if self.dice.chance(40) {
                    let value = self.b.mul(target, -1.0);
                    return self.b.set(target, value);
                }
                let value = self.numbers.slope(&mut self.dice);
                self.b.set(target, value)
            }
            _ => self.state_assignment(block, target),
        }
    }

    fn integer_assignment(&mut self, target: VarId) -> Assignment {
        let action = self.b.count(target);
        if self.dice.chance(40) {
            return action;
        }
        let Assigned::Value(next) = action.value else { return action };
        let four = self.b.constant(Sort::Integer, 4.0);
        let value = self.b.binary(Binary::Mod, next, four);
        self.b.set(target, value)
    }

    fn state_assignment(&mut self, block: Option<ModeId>, target: VarId) -> Assignment {
        let level = self.numbers.value(&mut self.dice);
        let states = self.visible(block, VariableKind::State, Sort::Real);
        match self.dice.weighted(&[50, 10, 15, 20, 3]) {
            1 => {
                let value = self.b.mul(target, -1.0);
                self.b.set(target, value)
            }
            2 => {
                let value = self.b.add(target, level);
                self.b.set(target, value)
            }
            3 if !states.is_empty() => {
                let other = states[self.dice.below(states.len())];
                self.b.set(target, other)
            }
            4 => {
                let (low, high) = (self.b.expr(level), self.b.expr(level + 1.0));
                Assignment { target, value: Assigned::Interval(low, high), span: Span::default() }
            }
            _ => self.b.set(target, level),
        }
    }

    /// An invariant that holds for a while, with a `may` transition that can leave it.
    fn invariant(&mut self) {
        let block = if self.dice.chance(80) { self.dice.pick(&self.modes) } else { None };
        let states = self.visible(block, VariableKind::State, Sort::Real);
        let Some(x) = self.dice.pick(&states) else { return };
        let level = self.numbers.level(&mut self.dice);
        let rising = self.slope_of(block, x).map_or_else(|| self.dice.chance(50), |s| s > 0.0);
        let strict = self.dice.chance(30);
        let formula = match (rising, strict) {
            (true, false) => self.b.le(x, level + 1.0),
            (true, true) => self.b.lt(x, level + 1.0),
            (false, false) => self.b.ge(x, level - 1.0),
            (false, true) => self.b.gt(x, level - 1.0),
        };
        self.b.invariant(block, formula);
        if let Some(mode) = block {
            let siblings = self.b.system().automaton(self.b.system().mode(mode).automaton).modes.clone();
            let target = siblings[self.dice.below(siblings.len())];
            let guard = if rising { self.b.ge(x, level) } else { self.b.le(x, level) };
            self.b.when(mode, guard, target).may = true;
        }
    }

    /// The constant slope of a state while a block is active, if it is defined there or around it.
    fn slope_of(&self, block: Option<ModeId>, x: VarId) -> Option<f64> {
        self.scope(block).into_iter().find_map(|b| self.slopes.get(&(b, x)).copied())
    }

    fn formula(&mut self, place: Place, depth: usize) -> Expr {
        let kind = if depth == 0 { 0 } else { self.dice.weighted(&[60, 22, 10, 8]) };
        match kind {
            1 => {
                let (a, b) = (self.formula(place, depth - 1), self.formula(place, depth - 1));
                self.b.and(a, b)
            }
            2 => {
                let (a, b) = (self.formula(place, depth - 1), self.formula(place, depth - 1));
                self.b.or(a, b)
            }
            3 => {
                let a = self.formula(Place { equality: false, ..place }, depth - 1);
                self.b.not(a)
            }
            _ => self.atom(place),
        }
    }

    fn atom(&mut self, place: Place) -> Expr {
        let discrete = self.discrete_atom(place.block);
        match discrete {
            Some(atom) if self.dice.chance(18) => atom,
            _ => self.real_atom(place),
        }
    }

    /// A comparison of an Integer, a Boolean memory, signal or mode, if there is one to see.
    fn discrete_atom(&mut self, block: Option<ModeId>) -> Option<Expr> {
        let mut booleans = self.visible(block, VariableKind::Memory, Sort::Boolean);
        booleans.extend(self.visible(block, VariableKind::Signal, Sort::Boolean));
        let modes = self.b.system().variables.iter().enumerate();
        let is_mode = |kind| matches!(kind, VariableKind::InMode(_));
        booleans.extend(modes.filter(|(_, v)| is_mode(v.kind)).map(|(k, _)| VarId(k as u32)));
        let integers = self.visible(block, VariableKind::Memory, Sort::Integer);
        let numeric = booleans.is_empty() || self.dice.chance(50);
        if let Some(k) = self.dice.pick(&integers).filter(|_| numeric) {
            let bound = self.dice.below(4) as f64;
            let bound = self.b.constant(Sort::Integer, bound);
            return Some(match self.dice.below(3) {
                0 => self.b.eq(k, bound),
                1 => self.b.lt(k, bound),
                _ => self.b.ge(k, bound),
            });
        }
        self.dice.pick(&booleans).map(|q| self.b.expr(q))
    }

    /// An affine expression against a favourite number, aimed so that the flow leads to it.
    fn real_atom(&mut self, place: Place) -> Expr {
        let states = self.visible(place.block, VariableKind::State, Sort::Real);
        let (side, slope) = self.affine(place.block, &states);
        if place.equality && self.dice.chance(10) {
            let level = self.numbers.level(&mut self.dice);
            return self.b.eq(side, level);
        }
        let upwards = match slope {
            Some(s) if s != 0.0 && self.dice.chance(92) => s > 0.0,
            _ => self.dice.chance(50),
        };
        let level = self.numbers.level_towards(&mut self.dice, upwards);
        match (upwards, self.dice.chance(35)) {
            (true, false) => self.b.ge(side, level),
            (true, true) => self.b.gt(side, level),
            (false, false) => self.b.le(side, level),
            (false, true) => self.b.lt(side, level),
        }
    }

    /// Time, or the time since the entry of a mode.
    fn time_since(&mut self) -> Expr {
        let system = self.b.system();
        let is_entry = |v: &VarId| matches!(system.variable(*v).kind, VariableKind::EntryTime(_));
        let entries: Vec<VarId> = (0..system.variables.len() as u32).map(VarId).filter(is_entry).collect();
        match self.dice.pick(&entries) {
            Some(entry) => self.b.binary(Binary::Sub, TIME, entry),
            None => self.b.expr(TIME),
        }
    }

    /// A state, a sum, a difference or the time since entry; with its slope if that is known.
    fn affine(&mut self, block: Option<ModeId>, states: &[VarId]) -> (Expr, Option<f64>) {
        let x = states[self.dice.below(states.len())];
        let slope = self.slope_of(block, x);
        let reals: Vec<VarId> = [VariableKind::Memory, VariableKind::Signal, VariableKind::Parameter]
            .into_iter()
            .flat_map(|kind| self.visible(block, kind, Sort::Real))
            .collect();
        match self.dice.weighted(&[64, 8, 10, 8, 10]) {
            1 if states.len() > 1 => {
                let others: Vec<VarId> = states.iter().copied().filter(|&y| y != x).collect();
                let y = others[self.dice.below(others.len())];
                let known = slope.zip(self.slope_of(block, y)).map(|(a, b)| a - b);
                (self.b.binary(Binary::Sub, x, y), known)
            }
            2 if !reals.is_empty() => {
                let r = reals[self.dice.below(reals.len())];
                (self.b.add(x, r), None)
            }
            3 => (self.time_since(), Some(1.0)),
            4 if slope.is_some() => {
                let double = self.b.mul(x, 2.0);
                (double, slope)
            }
            _ => (self.b.expr(x), slope),
        }
    }
}
