//! Kinks that no proof has to look at: those of functions in signals that are only shown.
//!
//! The course of a helicopter that stands is the arc tangent of noise over noise. No derivative and no
//! guard of the present modes reads it, so it can be passed, whatever it does.

use crate::combination::{Combination, Watch};
use crate::compile::{Code, EdgeKind, SwitchKind};

/// For each active atom whether it is but the kink of functions that neither a derivative nor a guard
/// reads, not through signals either.
pub(crate) fn shown_alone(combination: &Combination, code: &Code) -> Vec<bool> {
    if !combination.has_edges_or_kinks {
        return vec![false; combination.atoms.len()];
    }
    let needed = needed_slots(combination, code);
    let is_shown = |&w: &u32| match combination.watches[w as usize] {
        Watch::Edge(b, i) => {
            let block = &code.blocks[b as usize];
            block.edges[i as usize].kind == EdgeKind::Kink
                && block.kinked[i as usize].iter().all(|&slot| !needed[slot as usize])
        }
        _ => false,
    };
    let is_idle = |watchers: &Vec<u32>| !watchers.is_empty() && watchers.iter().all(is_shown);
    combination.watchers.iter().map(is_idle).collect()
}

/// The slots that the derivatives and what is watched depend on, edges aside.
fn needed_slots(combination: &Combination, code: &Code) -> Vec<bool> {
    let mut needed = vec![false; code.slots];
    combination.plan.states.iter().for_each(|&(_, rate)| needed[rate as usize] = true);
    let mut need = |p: usize| {
        let atom = &code.atoms[combination.atoms[p].index()];
        needed[atom.slot as usize] = true;
        code.graph.variables(&[atom.quantity]).iter().for_each(|v| needed[v.index()] = true);
    };
    let is_edge = |&w: &u32| matches!(combination.watches[w as usize], Watch::Edge(..));
    let guards =
        combination.watchers.iter().enumerate().filter(|(_, watchers)| !watchers.iter().all(is_edge));
    guards.for_each(|(p, _)| need(p));
    for &s in &combination.switches {
        if let SwitchKind::Stair(atom, _) = &code.switches[s as usize].kind {
            need(combination.position[atom.index()] as usize);
        }
    }
    for unit in combination.plan.blocks[..combination.flow_units].iter().rev() {
        if unit.outputs.iter().any(|&slot| needed[slot as usize]) {
            unit.inputs.iter().for_each(|&slot| needed[slot as usize] = true);
        }
    }
    needed
}
