//! Guards on given polynomials of the states: composed exactly, those of a crowd only if they may be
//! zero.

use crate::combination::Combination;
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
        Composer { plan, machine, bank }
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
    /// those of a crowd if their bounds, see [`Bank::bounds`], pass a filter.
    pub fn compose(
        &mut self,
        banked: &[u32],
        (env, unit): (&[f64], f64),
        states: &[f64],
        may_change: impl Fn(usize, [f64; 4]) -> bool,
    ) {
        self.machine.compose(env, unit, states);
        let Composer { bank: Some(bank), machine, .. } = self else { return };
        bank.survey(|slot| machine.weights(slot));
        bank.choose_none();
        for (p, &function) in banked.iter().enumerate().filter(|(_, f)| **f != u32::MAX) {
            let function = function as usize;
            if may_change(p, bank.bounds(function)) {
                bank.choose(function);
            }
        }
        bank.compose(machine, machine.order());
    }

    /// Copies the coefficients of an atom; false if it did not pass the filter.
    pub fn row(&self, combination: &Combination, p: usize, out: &mut [f64]) -> bool {
        match (&self.bank, combination.in_bank(p)) {
            (Some(bank), Some((_, function))) => {
                let chosen = bank.is_chosen(function);
                if chosen {
                    bank.row(function, out);
                }
                chosen
            }
            _ => {
                self.machine.row(combination.atom_slots[p], out);
                true
            }
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
            bank.survey(|slot| [env[slot as usize], 0.0, 0.0, 0.0]);
        }
        let (bank, env) = (self.bank.as_ref(), &*env);
        move |p| match (bank, combination.in_bank(p)) {
            (Some(bank), Some((_, function))) => bank.bounds(function)[0],
            _ => env[combination.atom_slots[p] as usize],
        }
    }
}
