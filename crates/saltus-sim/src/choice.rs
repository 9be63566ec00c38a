//! Which rules make the next round: for each automaton at most one transition, from the outside in
//! where it preempts and from the inside out where not, and all reactions that occur.

use crate::compile::{Effect, When};
use crate::options::Policy;
use crate::runner::Runner;
use saltus_model::ModeId;

impl Runner<'_> {
    /// True if a transition's trigger is open and its condition holds.
    pub fn is_enabled(&self, r: u32) -> bool {
        let rule = &self.code.rules[r as usize];
        let open = match &rule.when {
            When::Level(formula) | When::Else(formula) => self.holds(formula),
            When::Edge { formula, .. } => self.armed[r as usize] && self.holds(formula),
            _ => self.timers[r as usize].is_open(self.stamp.t),
        };
        open && rule.condition.as_ref().is_none_or(|c| self.holds(c))
    }

    /// Chooses the transitions of the round and collects its reactions; false if there are none.
    pub fn choose(&mut self, forced: Option<&[u32]>) -> bool {
        self.buffers.chosen.clear();
        self.buffers.fired.clear();
        for root in 0..self.combination().roots {
            self.choose_in(root, forced);
        }
        for k in 0..self.stirred.positions().len() {
            let r = self.stirred_rule(k);
            let fires = match self.code.rules[r as usize].effect {
                Effect::Reaction => self.occurs(r),
                Effect::Transition { .. } => self.buffers.chosen.contains(&r),
            };
            if fires {
                self.buffers.fired.push(r);
            }
        }
        !self.buffers.fired.is_empty()
    }

    /// Chooses for one automaton and those inside its mode; true if anything was chosen.
    fn choose_in(&mut self, node: usize, forced: Option<&[u32]>) -> bool {
        if self.choose_own(node, true, forced) {
            return true;
        }
        let mut inside = false;
        for child in self.combination().tree[node].inner.clone() {
            inside |= self.choose_in(child, forced);
        }
        inside || self.choose_own(node, false, forced)
    }

    fn choose_own(&mut self, node: usize, preempting: bool, forced: Option<&[u32]>) -> bool {
        for last in [false, true] {
            for k in 0..self.combination().tree[node].transitions.len() {
                let r = self.combination().tree[node].transitions[k];
                let rule = &self.code.rules[r as usize];
                let Effect::Transition { may, preempt, .. } = rule.effect else { continue };
                let is_else = matches!(rule.when, When::Else(_));
                if preempt == preempting
                    && is_else == last
                    && self.is_enabled(r)
                    && (!may || self.consents(r, forced))
                {
                    self.buffers.chosen.push(r);
                    return true;
                }
            }
        }
        false
    }

    /// Whether an enabled `may` transition is taken.
    fn consents(&mut self, r: u32, forced: Option<&[u32]>) -> bool {
        if forced.is_some_and(|blocks| blocks.iter().any(|&b| self.is_related(r, b))) {
            return true;
        }
        match self.options.policy {
            Policy::Eager => true,
            Policy::Lazy => false,
            Policy::Random => {
                let random = &mut self.random;
                *self.coins[r as usize].get_or_insert_with(|| random.coin())
            }
        }
    }

    /// True if the mode of a rule is the mode of the block, around it, or inside it.
    fn is_related(&self, r: u32, block: u32) -> bool {
        let Some(owner) = self.code.rules[r as usize].owner else { return true };
        let Some(other) = block.checked_sub(1).map(ModeId) else { return true };
        self.is_inside(owner, other) || self.is_inside(other, owner)
    }

    fn is_inside(&self, inner: ModeId, outer: ModeId) -> bool {
        let mut mode = Some(inner);
        while let Some(m) = mode {
            if m == outer {
                return true;
            }
            mode = self.system.automaton(self.system.mode(m).automaton).parent;
        }
        false
    }

    /// True if a reaction's trigger occurs and its condition holds; the trigger is used up.
    fn occurs(&mut self, r: u32) -> bool {
        let rule = &self.code.rules[r as usize];
        let occurs = match &rule.when {
            When::Edge { formula, .. } => {
                let occurs = self.armed[r as usize] && self.holds(formula);
                if occurs {
                    self.armed[r as usize] = false;
                }
                occurs
            }
            When::Level(_) | When::Else(_) => false,
            _ => {
                let occurs = self.timers[r as usize].is_open(self.stamp.t);
                if occurs {
                    self.timers[r as usize].use_up(self.stamp.t);
                }
                occurs
            }
        };
        occurs && self.code.rules[r as usize].condition.as_ref().is_none_or(|c| self.holds(c))
    }
}
