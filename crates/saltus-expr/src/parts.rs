//! The independent parts of a flow: states that are joined by what their derivatives read.
//!
//! A part moves as if it were alone, so it can be expanded alone. Parts that differ in their slots only,
//! such as the instances of a component, are of one class and share a plan on slots of its own.

use crate::plan::{FlowPlan, PlanBlock};
use std::collections::HashMap;
use std::sync::Arc;

/// A plan as its independent parts.
///
/// ```
/// use saltus_expr::{FlowPlan, Graph, Parts, PlanBlock, Program, Sort, VarId};
/// // x' = k x and y' = k y, with time in slot 0 and k in slot 5.
/// let mut graph = Graph::new();
/// let [x, k] = [1, 2].map(|slot| graph.var(VarId(slot), Sort::Real));
/// let rate = graph.mul(k, x);
/// let (program, _) = Program::new(&graph, &[rate]);
/// let program = std::sync::Arc::new(program);
/// let block = |x, rate| PlanBlock { program: program.clone(), inputs: vec![5, x], outputs: vec![rate] };
/// let blocks = vec![block(1, 3), block(2, 4)];
/// let plan = FlowPlan { blocks, states: vec![(1, 3), (2, 4)], time_slot: 0, slots: 6 };
/// let parts = Parts::of(&plan);
/// assert_eq!((parts.classes().len(), parts.list().len()), (1, 2));
/// assert_eq!(parts.list()[1].states, [1]);
/// assert!(parts.list()[1].slots.contains(&5));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Parts {
    classes: Vec<FlowPlan>,
    list: Vec<Part>,
}

/// An independent part of a plan.
#[derive(Clone, Debug)]
pub struct Part {
    /// Position of its class.
    pub class: usize,
    /// For each slot of the plan of its class the slot that it is.
    pub slots: Vec<u32>,
    /// For each state of that plan its position among all states.
    pub states: Vec<usize>,
}

impl Parts {
    /// Takes a plan apart. Blocks that no derivative depends on are in no part.
    pub fn of(plan: &FlowPlan) -> Parts {
        let sources = Sources::new(plan);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); plan.states.len()];
        (0..plan.states.len()).for_each(|state| members[sources.join.root(state)].push(state));
        let mut blocks: Vec<Vec<usize>> = vec![Vec::new(); plan.states.len()];
        for (block, state) in sources.moved_by.iter().enumerate() {
            if let Some(state) = state.filter(|_| sources.is_needed[block]) {
                blocks[sources.join.root(state)].push(block);
            }
        }
        let mut parts = Parts::default();
        let mut known = HashMap::new();
        for (states, mut blocks) in members.into_iter().zip(blocks).filter(|(states, _)| !states.is_empty()) {
            sources.add_shared(plan, &states, &mut blocks);
            let (own, slots) = alone(plan, &states, &blocks);
            let class = *known.entry(shape(&own)).or_insert_with(|| {
                parts.classes.push(own);
                parts.classes.len() - 1
            });
            parts.list.push(Part { class, slots, states });
        }
        parts
    }

    /// The plan of each class.
    pub fn classes(&self) -> &[FlowPlan] {
        &self.classes
    }

    /// The parts, in the order of their first states.
    pub fn list(&self) -> &[Part] {
        &self.list
    }
}

/// Where the slots of a plan come from.
struct Sources {
    /// The block that writes each slot.
    writer: Vec<Option<usize>>,
    /// Blocks that derivatives depend on.
    is_needed: Vec<bool>,
    /// For each block a state that it depends on, if there is one.
    moved_by: Vec<Option<usize>>,
    join: Join,
}

impl Sources {
    fn new(plan: &FlowPlan) -> Sources {
        let mut writer = vec![None; plan.slots];
        for (block, PlanBlock { outputs, .. }) in plan.blocks.iter().enumerate() {
            outputs.iter().for_each(|&slot| writer[slot as usize] = Some(block));
        }
        let mut is_read = vec![false; plan.slots];
        plan.states.iter().for_each(|&(_, rate)| is_read[rate as usize] = true);
        let mut is_needed = vec![false; plan.blocks.len()];
        for (needed, block) in is_needed.iter_mut().zip(&plan.blocks).rev() {
            *needed = block.outputs.iter().any(|&slot| is_read[slot as usize]);
            if *needed {
                block.inputs.iter().for_each(|&slot| is_read[slot as usize] = true);
            }
        }
        let mut state_in = vec![None; plan.slots];
        plan.states.iter().enumerate().for_each(|(state, &(slot, _))| state_in[slot as usize] = Some(state));
        let mut moved_by = vec![None; plan.blocks.len()];
        let mut join = Join((0..plan.states.len()).collect());
        let state_of = |slot: u32, moved_by: &[Option<usize>]| {
            state_in[slot as usize].or_else(|| moved_by[writer[slot as usize]?])
        };
        for (block, PlanBlock { inputs, .. }) in plan.blocks.iter().enumerate().filter(|(i, _)| is_needed[*i])
        {
            for state in inputs.iter().filter_map(|&slot| state_of(slot, &moved_by)).collect::<Vec<_>>() {
                join.unite(state, *moved_by[block].get_or_insert(state));
            }
        }
        for (state, &(_, rate)) in plan.states.iter().enumerate() {
            if let Some(other) = state_of(rate, &moved_by) {
                join.unite(state, other);
            }
        }
        Sources { writer, is_needed, moved_by, join }
    }

    /// Adds the blocks that depend on no state and that some states or blocks need; puts all in order.
    fn add_shared(&self, plan: &FlowPlan, states: &[usize], blocks: &mut Vec<usize>) {
        let rates = states.iter().map(|&state| plan.states[state].1);
        let mut open: Vec<u32> =
            blocks.iter().flat_map(|&b| &plan.blocks[b].inputs).copied().chain(rates).collect();
        while let Some(slot) = open.pop() {
            let shared = self.writer[slot as usize].filter(|&block| self.moved_by[block].is_none());
            if let Some(block) = shared.filter(|block| !blocks.contains(block)) {
                blocks.push(block);
                open.extend(&plan.blocks[block].inputs);
            }
        }
        blocks.sort_unstable();
    }
}

/// A plan of some states and blocks alone, and the slot of the whole plan that each of its slots is.
fn alone(plan: &FlowPlan, states: &[usize], blocks: &[usize]) -> (FlowPlan, Vec<u32>) {
    let mut slots = vec![plan.time_slot];
    let mut known = HashMap::from([(plan.time_slot, 0)]);
    let mut own = |slot: u32| {
        *known.entry(slot).or_insert_with(|| {
            slots.push(slot);
            slots.len() as u32 - 1
        })
    };
    let states: Vec<(u32, u32)> = states.iter().map(|&state| plan.states[state]).collect();
    let positions: Vec<u32> = states.iter().map(|&(state, _)| own(state)).collect();
    let mut own_blocks = Vec::new();
    for block in blocks.iter().map(|&block| &plan.blocks[block]) {
        let inputs = block.inputs.iter().map(|&slot| own(slot)).collect();
        let outputs = block.outputs.iter().map(|&slot| own(slot)).collect();
        own_blocks.push(PlanBlock { program: Arc::clone(&block.program), inputs, outputs });
    }
    let states = positions.into_iter().zip(&states).map(|(state, &(_, rate))| (state, own(rate))).collect();
    (FlowPlan { blocks: own_blocks, states, time_slot: 0, slots: slots.len() }, slots)
}

/// What plans that are alike have in common: programs, slots and states.
fn shape(plan: &FlowPlan) -> Vec<usize> {
    let blocks = plan.blocks.iter().flat_map(|block| {
        let slots = block.inputs.iter().chain(&block.outputs).map(|&slot| slot as usize);
        std::iter::once(Arc::as_ptr(&block.program) as usize).chain(slots)
    });
    let states = plan.states.iter().flat_map(|&(state, rate)| [state as usize, rate as usize]);
    std::iter::once(plan.blocks.len()).chain(blocks).chain(states).collect()
}

/// Sets of states that are joined, as a forest in which each points towards the lowest of its set.
struct Join(Vec<usize>);

impl Join {
    fn root(&self, mut state: usize) -> usize {
        while self.0[state] != state {
            state = self.0[state];
        }
        state
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let root = a.min(b);
        (self.0[a], self.0[b]) = (root, root);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jet::{JetMachine, Jets};
    use crate::{Graph, Program, Sort, VarId};

    /// Pairs x' = y w, y' = w - x with the signal w = sin(time) of all, one state z' = 1 alone, and a signal
    /// that reads every state and moves none.
    fn pairs(count: u32) -> FlowPlan {
        let mut graph = Graph::new();
        let [a, b, c] = [1, 2, 3].map(|slot| graph.var(VarId(slot), Sort::Real));
        let (by_y, towards) = (graph.mul(b, c), graph.sub(c, a));
        let (pair, _) = Program::new(&graph, &[by_y, towards]);
        let sine = graph.intern(crate::Node::Unary(crate::Unary::Sin, a));
        let (signal, _) = Program::new(&graph, &[sine]);
        let sum = graph.add(a, b);
        let (watching, _) = Program::new(&graph, &[sum]);
        let (pair, watching) = (Arc::new(pair), Arc::new(watching));
        // Time, z, one, w, the sum, then x, y and their rates.
        let mut blocks = vec![PlanBlock { program: signal.into(), inputs: vec![0], outputs: vec![3] }];
        let mut states = vec![(1, 2)];
        for i in 0..count {
            let [x, y, x_rate, y_rate] = [0, 1, 2, 3].map(|k| 5 + 4 * i + k);
            blocks.push(PlanBlock {
                program: pair.clone(),
                inputs: vec![y, 3, x],
                outputs: vec![x_rate, y_rate],
            });
            states.extend([(x, x_rate), (y, y_rate)]);
        }
        blocks.push(PlanBlock { program: watching, inputs: vec![5, 9], outputs: vec![4] });
        FlowPlan { blocks, states, time_slot: 0, slots: 5 + 4 * count as usize }
    }

    #[test]
    fn a_part_has_the_bits_of_the_whole() {
        let plan = pairs(3);
        plan.check().expect("well formed");
        let parts = Parts::of(&plan);
        let states: Vec<&[usize]> = parts.list().iter().map(|part| part.states.as_slice()).collect();
        assert_eq!(states, [&[0][..], &[1, 2], &[3, 4], &[5, 6]]);
        assert_eq!(parts.classes().len(), 2);
        let env: Vec<f64> = (0..plan.slots).map(|slot| 0.3 + 0.2 * slot as f64).collect();
        let mut whole = JetMachine::new(&plan, 9);
        whole.run(&env, 0.5);
        for part in parts.list() {
            let class = &parts.classes()[part.class];
            class.check().expect("well formed");
            let mut machine = JetMachine::new(class, 9);
            machine.run(&part.slots.iter().map(|&slot| env[slot as usize]).collect::<Vec<_>>(), 0.5);
            for k in 0..=9 {
                let whole = part.states.iter().map(|&state| whole.states().order(k)[state].to_bits());
                assert!(machine.states().order(k).iter().map(|c| c.to_bits()).eq(whole), "order {k}");
            }
        }
    }
}
