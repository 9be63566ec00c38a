//! Guards on given polynomials of the states: composed exactly, those of a crowd only if they may be
//! zero.

use crate::combination::Combination;
use crate::guards::sign_of;
use crate::stepping::{COMPOSED_ORDER, STATE_DEGREE};
use saltus_expr::FlowPlan;
use saltus_expr::jet::{Bank, Degree, JetMachine, Jets};
use std::collections::HashSet;

/// Composes the atoms of a combination with polynomials of its states.
#[derive(Debug)]
pub(crate) struct Composer {
    /// Signals and the guards that are no crowd.
    plan: FlowPlan,
    machine: JetMachine,
    bank: Option<Bank>,
    /// Position of the state in each slot, `u32::MAX` if there is none.
    state_of: Vec<u32>,
    /// True if no guard reads a signal or is outside the crowd.
    reads_states_alone: bool,
}

impl Composer {
    pub fn new(combination: &Combination) -> Composer {
        let crowd: HashSet<u32> = combination.crowd.iter().flat_map(|unit| &unit.outputs).copied().collect();
        let blocks = combination.watching.blocks.iter();
        let blocks = blocks.filter(|block| block.outputs.iter().all(|slot| !crowd.contains(slot)));
        let plan = FlowPlan { blocks: blocks.cloned().collect(), ..combination.watching.clone() };
        let composer = Composer::of_order(combination, plan, COMPOSED_ORDER);
        // Polynomials of the states are composed to their full degree.
        let degrees = (0..combination.atoms.len()).map(|p| composer.degree(combination, p).bound());
        let order = degrees.map(|d| d.map_or(COMPOSED_ORDER, |d| d.min(COMPOSED_ORDER))).max();
        Composer::of_order(combination, composer.plan, order.unwrap_or(0))
    }

    fn of_order(combination: &Combination, plan: FlowPlan, order: usize) -> Composer {
        let machine = JetMachine::composing(&plan, order, STATE_DEGREE);
        let crowd = &combination.crowd;
        let bank = (!crowd.is_empty()).then(|| Bank::new(crowd, order, |slot| machine.degree(slot)));
        let mut state_of = vec![u32::MAX; plan.slots];
        for (&(slot, _), i) in plan.states.iter().zip(0..) {
            state_of[slot as usize] = i;
        }
        let reads_states_alone = !crowd.is_empty() && plan.blocks.is_empty();
        Composer { plan, machine, bank, state_of, reads_states_alone }
    }

    /// True if how far the states may be from their polynomials tells it for all guards.
    pub fn reads_states_alone(&self) -> bool {
        self.reads_states_alone
    }

    fn degree(&self, combination: &Combination, p: usize) -> Degree {
        match (&self.bank, combination.in_bank(p)) {
            (Some(bank), Some((_, function))) => bank.degree(function),
            _ => self.machine.degree(combination.atom_slots[p]),
        }
    }

    /// Number of coefficients of a composed guard.
    pub fn length(&self) -> usize {
        self.machine.order() + 1
    }

    /// Takes the polynomials of the states, in powers of time over `unit`, and composes the guards;
    /// those of a crowd only if they may lose the sign they have, even where the states are off their
    /// polynomials by up to `slack` times the square. The atoms composed are listed.
    pub fn compose(
        &mut self,
        combination: &Combination,
        (env, unit): (&[f64], f64),
        (states, slack): (&[f64], &[f64]),
        may_lose: impl Fn(usize, i8) -> bool,
        composed: &mut Vec<usize>,
    ) {
        self.machine.compose(env, unit, states);
        composed.clear();
        composed.extend(combination.eager.iter().map(|&p| p as usize));
        let Composer { bank: Some(bank), machine, state_of, .. } = self else { return };
        bank.survey(|slot| {
            let [value, slope, bend, rest] = machine.weights(slot);
            let slack = slack.get(state_of[slot as usize] as usize).copied().unwrap_or(0.0);
            [value, slope, bend, rest + slack, 0.0]
        });
        for (p, &function) in combination.banked.iter().enumerate().filter(|(_, f)| **f != u32::MAX) {
            let found = &bank.found()[function as usize];
            if may_lose(p, if found.place >= 1.0 { sign_of(found.value()) } else { 0 }) {
                composed.push(p);
            }
        }
        for &p in &composed[combination.eager.len()..] {
            bank.choose(combination.banked[p] as usize);
        }
        bank.compose(machine, machine.order());
        composed.sort_unstable();
    }

    /// Copies the coefficients of a composed atom.
    pub fn row(&self, combination: &Combination, p: usize, out: &mut [f64]) {
        match (&self.bank, combination.in_bank(p)) {
            (Some(bank), Some((_, function))) => bank.row(function, out),
            _ => self.machine.row(combination.atom_slots[p], out),
        }
    }

    /// Evaluates the guards where time and states in `env` are; values of atoms by position.
    pub fn evaluate<'a>(
        &'a mut self,
        combination: &'a Combination,
        env: &'a mut [f64],
        scratch: &mut Vec<f64>,
    ) -> impl Fn(usize) -> f64 + 'a {
        self.plan.eval(env, scratch);
        if let Some(bank) = &mut self.bank {
            bank.survey(|slot| [env[slot as usize], 0.0, 0.0, 0.0, 0.0]);
        }
        let (bank, env) = (self.bank.as_ref(), &*env);
        move |p| match (bank, combination.in_bank(p)) {
            (Some(bank), Some((_, function))) => bank.found()[function].value(),
            _ => env[combination.atom_slots[p] as usize],
        }
    }
}
