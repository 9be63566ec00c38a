//! Mode combinations: which blocks are active, in which order they are evaluated, what is watched.
//!
//! A combination selects and orders code that exists already; entering a new one compiles nothing.

use crate::clearing::Clearing;
use crate::compile::{AtomId, Code, Effect, Flat, Formula, Signs, SwitchKind, When};
use crate::composer::Composer;
use crate::crowd::FEW;
use crate::error::SimError;
use crate::guards::sign_of;
use crate::kept::Kept;
use crate::kinks;
use saltus_expr::jet::{Bank, Degree, JetMachine, Jets, RowInMemory};
use saltus_expr::{FlowPlan, PlanBlock};
use saltus_model::{AutomatonId, HybridSystem, ModeId};
use saltus_solve::certificate::Certifier;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Something that may make an instant when its atoms change sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// A rule with a guard.
    Rule(u32),
    /// An invariant of a block.
    Invariant(u32, u32),
    /// A declared domain of a block.
    Domain(u32, u32),
    /// A stop condition of a block.
    Stop(u32, u32),
    /// A switch decided by a formula.
    Switch(u32),
    /// The edge of a function in a block.
    Edge(u32, u32),
}

/// An active automaton with its mode and the automata inside that mode, as a tree in text order.
#[derive(Clone, Debug)]
pub(crate) struct ActiveAutomaton {
    pub mode: ModeId,
    /// Rules of the mode's block that are transitions, in text order.
    pub transitions: Vec<u32>,
    /// Range of [`Combination::tree`] with the automata inside the mode.
    pub inner: Range<usize>,
}

/// The polynomial of an active atom.
#[derive(Clone, Debug, Default)]
pub(crate) struct AtomRow {
    /// Where its coefficients are in the memory of the jets.
    pub memory: RowInMemory,
    /// True if it is that of a product whose series does not end, and may need more terms than those of the
    /// states.
    pub is_endless: bool,
}

/// The code of the moment.
pub(crate) struct Combination {
    /// Indices of active blocks, in the order of the walk.
    pub blocks: Vec<u32>,
    /// Active automata; the children of a node are contiguous. The first `roots` are the root's.
    pub tree: Vec<ActiveAutomaton>,
    pub roots: usize,
    /// Reactions and transitions in the order of the walk.
    pub rules: Vec<u32>,
    /// Positions in `rules` of each rule of the code, and of the rules that depend on more than atoms.
    pub rule_positions: Vec<u32>,
    pub volatile: Vec<u32>,
    /// Active rules with ticks.
    pub timed: Vec<u32>,
    /// Slots of active atoms that are no polynomials of states and time, or of a degree above the order;
    /// they bound the step too. And those of them, by position, that are more than the edge of a function.
    pub unbounded: Vec<u32>,
    pub unbounded_guards: Vec<u32>,
    /// True if all states and atoms are polynomials in time of known degree.
    pub is_exact: bool,
    /// True if some are, of a degree above the order: the last coefficients do not tell what is cut off.
    pub is_cut_off: bool,
    /// Highest order that any state's polynomial can have.
    pub degree: usize,
    /// Signals, derivatives and atoms, in order.
    pub plan: Arc<FlowPlan>,
    /// How many blocks of the plan are signals and derivatives; the others are atoms.
    pub flow_units: usize,
    /// The atoms and the signals they read, without derivatives.
    pub watching: FlowPlan,
    /// Composes the atoms with polynomials of the states; made when first needed.
    pub composer: Option<Composer>,
    /// The independent parts of the flow, if nothing reads its jets but a crowd, and there are some.
    pub kept: Option<Kept>,
    /// Proves steps; made when first needed.
    pub prover: Option<Box<Certifier>>,
    pub jets: Box<dyn Jets>,
    /// Active atoms; their positions here index signs and polynomials.
    pub atoms: Vec<AtomId>,
    /// The slot of each active atom.
    pub atom_slots: Vec<u32>,
    pub atom_rows: Vec<AtomRow>,
    /// Position of each atom of the code in `atoms`, or `u32::MAX`.
    pub position: Vec<u32>,
    pub watches: Vec<Watch>,
    /// For each active atom, the watches that read it.
    pub watchers: Vec<Vec<u32>>,
    /// Active switches, and whether there are stairs among them.
    pub switches: Vec<u32>,
    pub has_stairs: bool,
    /// True if a domain is declared, or that of a table.
    pub has_domains: bool,
    /// True if some function in it does not exist everywhere.
    pub has_edges: bool,
    /// The same, or some function has a kink.
    pub has_edges_or_kinks: bool,
    /// Functions that may be so flat that their series tell nothing of what comes, with the slots of their
    /// arguments and exponents.
    flat: Vec<(u32, Flat<u32>)>,
    /// Which active atoms are but kinks of what is shown.
    pub shown_alone: Vec<bool>,
    /// Which active atoms are but edges of functions that are always in force.
    pub is_edge_alone: Vec<bool>,
    /// There is such an atom, or the edge of a function that is there only where another atom is not
    /// positive.
    pub has_idle_kinks: bool,
    /// Slots whose change disturbs the flow or a guard polynomial.
    pub reads: Vec<bool>,
    /// Guards that are not part of the plan, and what composes those that matter.
    pub crowd: Vec<PlanBlock>,
    pub bank: Option<Bank>,
    /// The function of the bank that each active atom is, `u32::MAX` for those of the plan.
    pub banked: Vec<u32>,
    /// The active atom that each function of the bank is.
    pub guards: Vec<u32>,
    /// The active atoms of the plan.
    pub eager: Vec<u32>,
    /// The atoms of the plan that are computed late, when they are asked for.
    pub clearing: Clearing,
    /// True if they are computed, or there are none.
    is_complete: bool,
    /// True if nothing but actions reads what the plan computes.
    pub serves_actions_alone: bool,
    /// Jets computed with this combination.
    pub uses: u64,
    /// How many small flows this one is worth on the virtual machine.
    pub weight: u64,
    /// Native code was made or refused.
    pub settled: bool,
}

/// Makes and keeps combinations.
pub(crate) struct Combinations {
    known: HashMap<Box<[u32]>, usize>,
    list: Vec<Combination>,
    order: usize,
}

/// With so many polynomial guards, most are far from zero on any one step.
const CROWD: usize = 16;
/// Operations of a small flow.
const SMALL_FLOW: u64 = 16;
/// Combinations kept before the memory of earlier ones is dropped.
const KEPT: usize = 4096;

impl Combinations {
    pub fn new(order: usize) -> Self {
        Self { known: HashMap::new(), list: Vec::new(), order }
    }

    pub fn order(&self) -> usize {
        self.order
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn get(&self, index: usize) -> &Combination {
        &self.list[index]
    }

    pub fn get_mut(&mut self, index: usize) -> &mut Combination {
        &mut self.list[index]
    }

    /// A new run begins: what is remembered of the last one must not change it.
    pub fn restart(&mut self) {
        for combination in &mut self.list {
            combination.clearing.close();
            if let Some(kept) = &mut combination.kept {
                kept.restart();
            }
            if let Some(prover) = &mut combination.prover {
                prover.restart();
            }
        }
    }

    /// The combination of the given modes (one for each automaton, active or not).
    pub fn enter(&mut self, system: &HybridSystem, code: &Code, modes: &[ModeId]) -> Result<usize, SimError> {
        let walk = Walk::new(system, modes);
        if let Some(&index) = self.known.get(walk.key.as_slice()) {
            return Ok(index);
        }
        let combination = assemble(system, code, &walk, self.order)?;
        if self.known.len() >= KEPT {
            self.known.clear();
        }
        self.list.push(combination);
        self.known.insert(walk.key.into_boxed_slice(), self.list.len() - 1);
        Ok(self.list.len() - 1)
    }
}

/// For each active atom whether it is but the edge of functions, none of them in a branch.
fn edges_alone(combination: &Combination, code: &Code) -> Vec<bool> {
    let is_edge = |&w: &u32| match combination.watches[w as usize] {
        Watch::Edge(b, i) => {
            let edge = &code.blocks[b as usize].edges[i as usize];
            edge.is_always_live && edge.unless.is_none()
        }
        _ => false,
    };
    let is_alone = |watchers: &Vec<u32>| !watchers.is_empty() && watchers.iter().all(is_edge);
    combination.watchers.iter().map(is_alone).collect()
}

/// The active blocks in walk order.
struct Walk<'m> {
    modes: &'m [ModeId],
    key: Vec<u32>,
    blocks: Vec<u32>,
}

impl<'m> Walk<'m> {
    fn new(system: &HybridSystem, modes: &'m [ModeId]) -> Self {
        let mut walk = Self { modes, key: Vec::new(), blocks: vec![0] };
        walk.visit(system, &system.root.automata);
        walk
    }

    fn visit(&mut self, system: &HybridSystem, automata: &[AutomatonId]) {
        for a in automata {
            let mode = self.modes[a.index()];
            self.key.push(mode.0);
            self.blocks.push(mode.0 + 1);
            self.visit(system, &system.mode(mode).block.automata);
        }
    }
}

fn assemble(
    system: &HybridSystem,
    code: &Code,
    walk: &Walk<'_>,
    order: usize,
) -> Result<Combination, SimError> {
    let blocks = &walk.blocks;
    let active = || blocks.iter().map(|&b| &code.blocks[b as usize]);
    let flow: Vec<&PlanBlock> = active().flat_map(|b| &b.flow).collect();
    let sorted = match sort(code.slots, &flow) {
        Ok(sorted) => sorted,
        Err(_) => {
            let split: Vec<&PlanBlock> = active().flat_map(|b| &b.split).collect();
            sort(code.slots, &split).map_err(|slot| SimError::EquationCycle {
                variable: system.variables.get(slot as usize).map_or(String::new(), |v| v.name.clone()),
            })?
        }
    };
    let mut states: Vec<(u32, u32)> = active().flat_map(|b| b.states.iter().copied()).collect();
    // Elements of an array side by side: what reads several of them reads neighbours.
    states.sort_unstable();
    check_states(system, walk, &states)?;
    let mut guards: Vec<u32> = active().flat_map(|b| b.guards.iter().copied()).collect();
    guards.sort_unstable();
    guards.dedup();
    let flow_units = sorted.len();
    let mut units = sorted;
    units.extend(guards.iter().map(|&g| code.guard_units[g as usize].clone()));
    let whole = FlowPlan { blocks: units, states, time_slot: 0, slots: code.slots };
    whole.check().map_err(|fault| SimError::Internal(fault.to_string()))?;
    let Apart { plan, late_block, crowd } = set_apart(code, blocks, &whole, flow_units);
    let operations = plan.blocks.iter().map(|b| b.program.ops().len() as u64).sum::<u64>();
    let machine = JetMachine::in_two_parts(&plan, late_block, order);
    let bank = (!crowd.is_empty()).then(|| Bank::new(&crowd, order, |slot| machine.degree(slot)));
    let jets = Box::new(machine);
    let edges = || active().flat_map(|block| &block.edges);
    let mut combination = Combination {
        blocks: blocks.clone(),
        tree: Vec::new(),
        roots: 0,
        rules: Vec::new(),
        rule_positions: Vec::new(),
        volatile: Vec::new(),
        timed: Vec::new(),
        unbounded: Vec::new(),
        unbounded_guards: Vec::new(),
        is_exact: false,
        is_cut_off: false,
        degree: 0,
        jets,
        atoms: Vec::new(),
        atom_slots: Vec::new(),
        atom_rows: Vec::new(),
        position: vec![u32::MAX; code.atoms.len()],
        watches: Vec::new(),
        watchers: Vec::new(),
        switches: Vec::new(),
        has_stairs: false,
        has_domains: blocks
            .iter()
            .map(|&b| &code.blocks[b as usize])
            .any(|block| !block.domains.is_empty() || block.edges.iter().any(|e| e.has_values_beyond)),
        flat: whole
            .blocks
            .iter()
            .flat_map(|unit| unit.outputs.iter().copied())
            .filter_map(|slot| Some((slot, *code.flat.get(&slot)?)))
            .collect(),
        shown_alone: Vec::new(),
        is_edge_alone: Vec::new(),
        has_idle_kinks: edges().any(|e| e.unless.is_some()),
        has_edges_or_kinks: edges().next().is_some(),
        has_edges: edges().any(|e| e.kind.is_left(-1)),
        reads: reads(&whole, code.slots),
        watching: watching(&whole, flow_units),
        flow_units,
        crowd,
        bank,
        banked: Vec::new(),
        guards: Vec::new(),
        eager: Vec::new(),
        clearing: Clearing::default(),
        is_complete: false,
        serves_actions_alone: false,
        composer: None,
        kept: None,
        prover: None,
        plan: Arc::new(plan),
        uses: 0,
        weight: 1 + operations / SMALL_FLOW,
        settled: false,
    };
    combination.collect(code);
    combination.bound_degrees(code, order);
    combination.find_endless_products(code, &whole.products(), order);
    combination.clearing = Clearing::new(&combination.plan, late_block, &combination.atom_slots);
    debug_assert!(combination.clearing.units() == 0 || combination.atoms.len() <= FEW);
    combination.grow_tree(system, code, walk);
    combination.shown_alone = kinks::shown_alone(&combination, code);
    combination.has_idle_kinks |= combination.shown_alone.contains(&true);
    combination.is_edge_alone = edges_alone(&combination, code);
    combination.serves_actions_alone = combination.has_no_other_readers(code);
    combination.kept = combination.parts();
    Ok(combination)
}

/// A plan without the guards of a crowd, and with those of few at its end that are left for later.
struct Apart {
    plan: FlowPlan,
    late_block: usize,
    crowd: Vec<PlanBlock>,
}

/// Sets guards apart from a plan whose units from `flow_units` on are guards: those that are
/// polynomials of states and time, so that they do not bound the step, and that nothing reads but the
/// formulas of events.
fn set_apart(code: &Code, blocks: &[u32], whole: &FlowPlan, flow_units: usize) -> Apart {
    let polynomial = whole.polynomials();
    let mut is_apart = polynomial;
    // Flat functions are looked at on every step.
    code.flat.keys().for_each(|&slot| is_apart[slot as usize] = false);
    let mut keep = |atom: AtomId| is_apart[code.atoms[atom.index()].slot as usize] = false;
    for block in blocks.iter().map(|&b| &code.blocks[b as usize]) {
        block.edges.iter().for_each(|e| keep(e.atom));
        block.domains.iter().for_each(|w| w.formula.atoms(&mut keep));
        for &s in &block.switches {
            if let SwitchKind::Stair(atom, _) = code.switches[s as usize].kind {
                keep(atom);
            }
        }
    }
    let (flow, guards) = whole.blocks.split_at(flow_units);
    let (apart, eager): (Vec<_>, Vec<_>) =
        guards.iter().cloned().partition(|unit| unit.outputs.iter().all(|&s| is_apart[s as usize]));
    let atoms = |units: &[PlanBlock]| units.iter().map(|unit| unit.outputs.len()).sum::<usize>();
    let plan = |blocks: Vec<PlanBlock>| FlowPlan { blocks, ..whole.clone() };
    if atoms(&apart) >= CROWD {
        let blocks: Vec<_> = flow.iter().cloned().chain(eager).collect();
        return Apart { late_block: blocks.len(), plan: plan(blocks), crowd: by_program(apart) };
    }
    if atoms(guards) > FEW {
        return Apart { late_block: whole.blocks.len(), plan: whole.clone(), crowd: Vec::new() };
    }
    let mut is_written = vec![false; whole.slots];
    flow.iter().flat_map(|unit| &unit.outputs).for_each(|&s| is_written[s as usize] = true);
    let moves = |slot: u32| slot == whole.time_slot || whole.states.iter().any(|&(x, _)| x == slot);
    let (late, at_once): (Vec<_>, Vec<_>) =
        apart.into_iter().partition(|unit| Clearing::suits(unit, moves, &is_written));
    let mut blocks: Vec<_> = flow.iter().cloned().chain(eager).chain(at_once).collect();
    let late_block = blocks.len();
    blocks.extend(late);
    Apart { plan: plan(blocks), late_block, crowd: Vec::new() }
}

/// Puts units with one program side by side, those that read neighbours next to each other.
fn by_program(mut units: Vec<PlanBlock>) -> Vec<PlanBlock> {
    let mut first = HashMap::new();
    for (i, unit) in units.iter().enumerate() {
        first.entry(Arc::as_ptr(&unit.program)).or_insert(i);
    }
    units.sort_by_cached_key(|unit| (first[&Arc::as_ptr(&unit.program)], unit.inputs.clone()));
    units
}

/// Orders units so that each comes after those whose outputs it reads; the slot of a signal in a
/// circle otherwise.
fn sort(slots: usize, units: &[&PlanBlock]) -> Result<Vec<PlanBlock>, u32> {
    let mut writer = vec![usize::MAX; slots];
    for (i, unit) in units.iter().enumerate() {
        unit.outputs.iter().for_each(|&s| writer[s as usize] = i);
    }
    let mut waiting = vec![0usize; units.len()];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    for (i, unit) in units.iter().enumerate() {
        for &slot in &unit.inputs {
            let source = writer[slot as usize];
            if source != usize::MAX {
                waiting[i] += 1;
                readers[source].push(i);
            }
        }
    }
    let mut ready: std::collections::VecDeque<usize> =
        (0..units.len()).filter(|&i| waiting[i] == 0).collect();
    let mut sorted = Vec::with_capacity(units.len());
    while let Some(i) = ready.pop_front() {
        sorted.push(units[i].clone());
        for &reader in &readers[i] {
            waiting[reader] -= 1;
            if waiting[reader] == 0 {
                ready.push_back(reader);
            }
        }
    }
    match (0..units.len()).find(|&i| waiting[i] > 0) {
        Some(stuck) => Err(units[stuck].outputs[0]),
        None => Ok(sorted),
    }
}

/// Every state of an active scope needs exactly one derivative.
fn check_states(system: &HybridSystem, walk: &Walk<'_>, states: &[(u32, u32)]) -> Result<(), SimError> {
    use saltus_model::VariableKind::State;
    let mut count = vec![0u32; system.variables.len()];
    states.iter().for_each(|&(v, _)| count[v as usize] += 1);
    for (i, v) in system.variables.iter().enumerate() {
        let alive = v.owner.is_none_or(|m| walk.blocks.contains(&(m.0 + 1)));
        if v.kind != State || (count[i] == 1 || !alive && count[i] == 0) {
            continue;
        }
        let modes = walk.key.iter().map(|&m| system.mode_path(ModeId(m))).collect();
        return Err(SimError::Derivatives { variable: v.name.clone(), found: count[i], modes, span: v.span });
    }
    Ok(())
}

/// The part of a plan that its last units, from some position on, depend on.
fn watching(plan: &FlowPlan, first: usize) -> FlowPlan {
    let mut needed = vec![false; plan.slots];
    let mut blocks = Vec::new();
    for (i, block) in plan.blocks.iter().enumerate().rev() {
        if i >= first || block.outputs.iter().any(|&s| needed[s as usize]) {
            block.inputs.iter().for_each(|&s| needed[s as usize] = true);
            blocks.push(block.clone());
        }
    }
    blocks.reverse();
    let states = plan.states.iter().map(|&(x, _)| (x, x)).collect();
    FlowPlan { blocks, states, time_slot: plan.time_slot, slots: plan.slots }
}

fn reads(plan: &FlowPlan, slots: usize) -> Vec<bool> {
    let mut reads = vec![false; slots];
    plan.blocks.iter().flat_map(|b| &b.inputs).for_each(|&s| reads[s as usize] = true);
    reads
}

impl Combination {
    /// Whether a formula holds for values of the atoms, told by their slots, or on its edge: a single
    /// value does not tell whether it holds just after.
    pub fn satisfies(&self, formula: &Formula, env: &[f64], value: impl Fn(u32) -> f64) -> bool {
        formula.eval(env, &|a, relation| {
            let value = value(self.atom_slots[self.position[a.index()] as usize]);
            !value.is_nan() && relation.closed().holds_now(Signs::steady(sign_of(value)))
        })
    }

    /// The position of a slot among the integrated states.
    pub fn state_position(&self, slot: u32) -> Option<usize> {
        self.plan.states.iter().position(|&(x, _)| x == slot)
    }

    /// Replaces the virtual machine by native code with the same results; false if there is none.
    #[cfg(feature = "native")]
    pub fn go_native(&mut self, order: usize) -> bool {
        self.settled = true;
        let late_block = self.plan.blocks.len() - self.clearing.units();
        match saltus_jit::NativeJet::compile_in_two_parts(&self.plan, late_block, order) {
            Ok(native) => {
                self.jets = Box::new(native);
                self.find_atom_rows();
                if let Some(prover) = &mut self.prover {
                    prover.rebind(&self.plan, self.jets.as_ref());
                }
                true
            }
            Err(_) => false,
        }
    }

    /// The same for what expands parts of the flow alone.
    #[cfg(feature = "native")]
    pub fn parts_go_native(&mut self, order: usize) -> bool {
        let Some(kept) = &mut self.kept else { return false };
        kept.settled = true;
        let compile = |plan| saltus_jit::NativeJet::compile(plan, order);
        let Ok(native) = kept.classes().iter().map(compile).collect::<Result<Vec<_>, _>>() else {
            return false;
        };
        kept.take_machines(native.into_iter().map(|jets| Box::new(jets) as Box<dyn Jets>));
        true
    }

    /// There is no native code in this build.
    #[cfg(not(feature = "native"))]
    pub fn go_native(&mut self, _order: usize) -> bool {
        self.settled = true;
        false
    }

    /// There is no native code in this build.
    #[cfg(not(feature = "native"))]
    pub fn parts_go_native(&mut self, _order: usize) -> bool {
        self.kept.iter_mut().for_each(|kept| kept.settled = true);
        false
    }

    fn collect(&mut self, code: &Code) {
        for b in self.blocks.clone() {
            let block = &code.blocks[b as usize];
            for &atom in &block.atoms {
                if self.position[atom.index()] == u32::MAX {
                    self.position[atom.index()] = self.atoms.len() as u32;
                    self.atoms.push(atom);
                    self.watchers.push(Vec::new());
                }
            }
            self.switches.extend(&block.switches);
        }
        self.switches.sort_unstable();
        self.switches.dedup();
        let is_stair = |&s: &u32| matches!(code.switches[s as usize].kind, SwitchKind::Stair(..));
        self.has_stairs = self.switches.iter().any(is_stair);
        for b in self.blocks.clone() {
            self.watch_block(code, b);
        }
        for s in self.switches.clone() {
            if let SwitchKind::Condition(f) = &code.switches[s as usize].kind {
                self.watch(Watch::Switch(s), |visit| f.atoms(visit));
            }
        }
    }

    /// All that is watched are edges, for reactions, of guards of a crowd on states, time and constants.
    fn has_no_other_readers(&self, code: &Code) -> bool {
        let written = || self.plan.blocks.iter().flat_map(|block| &block.outputs);
        let read: HashSet<u32> = self.crowd.iter().flat_map(|unit| &unit.inputs).copied().collect();
        let conditions = self.rules.iter().filter_map(|&r| code.rules[r as usize].condition.as_ref());
        self.eager.is_empty()
            && self.switches.is_empty()
            && self.volatile.is_empty()
            && self.watches.iter().all(|watch| matches!(watch, Watch::Rule(_)))
            && conditions.into_iter().all(Formula::reads_atoms_alone)
            && written().all(|slot| !read.contains(slot))
    }

    /// The independent parts of the flow, if nothing asks for other jets than those of the states, of a crowd.
    fn parts(&self) -> Option<Kept> {
        let bank = self.bank.as_ref().filter(|_| self.serves_actions_alone)?;
        let is_plain = self.flat.is_empty() && self.unbounded.is_empty() && !self.is_cut_off;
        is_plain.then(|| Kept::new(&self.plan, self.jets.as_ref(), bank))?
    }

    /// All polynomials are to be computed anew.
    pub fn forget_parts(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.forget();
        }
    }

    /// Finds the coefficients of the active atoms in the memory of the jets in force.
    fn find_atom_rows(&mut self) {
        self.atom_rows.resize_with(self.atom_slots.len(), AtomRow::default);
        for (row, &slot) in self.atom_rows.iter_mut().zip(&self.atom_slots) {
            row.memory = self.jets.row_in_memory(slot);
        }
    }

    fn bound_degrees(&mut self, code: &Code, order: usize) {
        let degree = |slot: u32| self.jets.degree(slot).within(order);
        self.degree = self.plan.states.iter().map(|&(state, _)| degree(state)).max().unwrap_or(0);
        self.atom_slots = self.atoms.iter().map(|a| code.atoms[a.index()].slot).collect();
        self.find_atom_rows();
        let functions = self.crowd.iter().flat_map(|unit| &unit.outputs).zip(0..);
        let functions: HashMap<u32, u32> = functions.map(|(&slot, f)| (slot, f)).collect();
        self.banked = self.atom_slots.iter().map(|s| functions.get(s).copied().unwrap_or(u32::MAX)).collect();
        self.guards = vec![u32::MAX; functions.len()];
        for (&function, p) in self.banked.iter().zip(0..).filter(|(f, _)| **f != u32::MAX) {
            self.guards[function as usize] = p;
        }
        let atoms = self.banked.iter().zip(0..);
        self.eager = atoms.filter(|&(&function, _)| function == u32::MAX).map(|(_, p)| p).collect();
        let polynomial = self.plan.polynomials();
        let is_above = |degree: Degree| degree.bound().is_some_and(|d| d > order);
        let bounds_step = |slot: u32| !polynomial[slot as usize] || is_above(self.jets.degree(slot));
        self.unbounded = self.atom_slots.iter().copied().filter(|&slot| bounds_step(slot)).collect();
        let is_edge = |&w: &u32| matches!(self.watches[w as usize], Watch::Edge(..));
        let is_guard = |p: u32| !self.watchers[p as usize].iter().all(is_edge);
        let atoms = self.atom_slots.iter().zip(0..);
        self.unbounded_guards =
            atoms.filter(|&(&slot, p)| bounds_step(slot) && is_guard(p)).map(|(_, p)| p).collect();
        let states = self.plan.states.iter().map(|&(state, _)| self.jets.degree(state));
        let degrees: Vec<Degree> = states.chain((0..self.atoms.len()).map(|p| self.atom_degree(p))).collect();
        self.is_cut_off = degrees.iter().copied().any(is_above);
        let is_known = degrees.iter().all(|d| d.bound().is_some());
        self.is_exact = is_known && !self.is_cut_off && self.degree < order;
    }

    /// Finds the products whose series do not end, but those at poles alone: before them the series of
    /// the function with the pole bounds the step.
    fn find_endless_products(&mut self, code: &Code, products: &[bool], order: usize) {
        let is_pole = |&w: &u32| match self.watches[w as usize] {
            Watch::Edge(b, i) => !code.blocks[b as usize].edges[i as usize].kind.may_continue(),
            _ => false,
        };
        let is_endless = |p: usize| {
            products[self.atom_slots[p] as usize]
                && self.atom_degree(p).bound().is_none_or(|d| d > order)
                && (self.watchers[p].is_empty() || !self.watchers[p].iter().all(is_pole))
        };
        let are_endless: Vec<bool> = (0..self.atoms.len()).map(is_endless).collect();
        self.atom_rows.iter_mut().zip(are_endless).for_each(|(row, is_endless)| row.is_endless = is_endless);
    }

    /// Functions that may be so flat that their series tell nothing of what comes, with the slots of their
    /// arguments, as they are where the jets were computed.
    pub fn flat(&self) -> impl Iterator<Item = (u32, Flat<f64>)> {
        let now = |&(slot, function): &(u32, Flat<u32>)| {
            (slot, function.map(|exponent| self.jets.coefficient(exponent, 0)))
        };
        self.flat.iter().map(now).filter(|(_, function)| function.may_conceal())
    }

    /// The function of the bank that an active atom is, if it is one of a crowd.
    pub fn in_bank(&self, p: usize) -> Option<(&Bank, usize)> {
        let function = *self.banked.get(p)?;
        self.bank.as_ref().filter(|_| function != u32::MAX).map(|bank| (bank, function as usize))
    }

    /// The value of an active atom where everything else is evaluated: one of a crowd is so only now.
    #[inline]
    pub fn atom_value(&self, p: usize, env: &mut [f64], scratch: &mut Vec<f64>) -> f64 {
        if let Some((bank, function)) = self.in_bank(p) {
            self.crowd[bank.unit(function)].eval(env, scratch);
        }
        env[self.atom_slots[p] as usize]
    }

    /// Degree in time of an active atom.
    fn atom_degree(&self, p: usize) -> Degree {
        match self.in_bank(p) {
            Some((bank, function)) => bank.degree(function),
            None => self.jets.degree(self.atom_slots[p]),
        }
    }

    /// Number of coefficients of an active atom's polynomial.
    pub fn atom_length(&self, p: usize, order: usize) -> usize {
        self.atom_degree(p).within(order) + 1
    }

    /// Copies the coefficients of an active atom; those of a crowd must have been composed.
    pub fn atom_row(&self, p: usize, out: &mut [f64]) {
        match self.in_bank(p) {
            Some((bank, function)) => bank.row(function, out),
            None => self.jets.row(self.atom_slots[p], out),
        }
    }

    /// Computes the jets at a point, without what is left for later.
    pub fn run_jets(&mut self, env: &[f64], scale: f64) {
        self.jets.run(env, scale);
        self.is_complete = self.clearing.units() == 0;
    }

    /// Computes what was left for later.
    pub fn complete(&mut self) {
        if !self.is_complete {
            self.jets.run_late();
            self.is_complete = true;
        }
    }

    /// True if the coefficients of an active atom are there.
    pub fn is_composed(&self, p: usize) -> bool {
        match self.in_bank(p) {
            Some((bank, function)) => bank.is_chosen(function),
            None => self.is_complete || !self.clearing.has(p),
        }
    }

    /// Composes atoms up to an order, as far as they belong to a crowd, and no others of that.
    pub fn compose_atoms(&mut self, atoms: impl Iterator<Item = usize>, order: usize) {
        self.complete();
        let Some(bank) = &mut self.bank else { return };
        bank.choose_none();
        let functions = atoms.map(|p| self.banked[p]).filter(|&function| function != u32::MAX);
        functions.for_each(|function| bank.choose(function as usize));
        bank.compose(self.jets.as_ref(), order);
    }

    /// Evaluates the guards of a crowd at a point.
    pub fn evaluate_crowd(&self, env: &mut [f64], scratch: &mut Vec<f64>) {
        self.crowd.iter().for_each(|unit| unit.eval(env, scratch));
    }

    fn watch_block(&mut self, code: &Code, b: u32) {
        let block = &code.blocks[b as usize];
        for &r in &block.rules {
            let rule = &code.rules[r as usize];
            self.watch(Watch::Rule(r), |visit| rule.watched_atoms(visit));
            if matches!(rule.when, When::At(_) | When::After(_) | When::Every(_) | When::On(_)) {
                self.timed.push(r);
            }
        }
        for (i, w) in block.invariants.iter().enumerate() {
            self.watch(Watch::Invariant(b, i as u32), |visit| w.formula.atoms(visit));
        }
        for (i, w) in block.domains.iter().enumerate() {
            self.watch(Watch::Domain(b, i as u32), |visit| w.formula.atoms(visit));
        }
        for (i, e) in block.edges.iter().enumerate() {
            self.watch(Watch::Edge(b, i as u32), |visit| visit(e.atom));
        }
        for (i, w) in block.stops.iter().enumerate() {
            self.watch(Watch::Stop(b, i as u32), |visit| w.0.formula.atoms(visit));
        }
    }

    fn watch(&mut self, watch: Watch, atoms: impl FnOnce(&mut dyn FnMut(AtomId))) {
        let index = self.watches.len() as u32;
        self.watches.push(watch);
        atoms(&mut |a| {
            let watchers = &mut self.watchers[self.position[a.index()] as usize];
            if watchers.last() != Some(&index) {
                watchers.push(index);
            }
        });
    }

    fn grow_tree(&mut self, system: &HybridSystem, code: &Code, walk: &Walk<'_>) {
        let active = |a: &AutomatonId| walk.modes[a.index()];
        let reactions = |b: usize| {
            let rules = code.blocks[b].rules.iter().copied();
            rules.filter(|&r| code.rules[r as usize].effect == Effect::Reaction)
        };
        self.rules.extend(reactions(0));
        let mut level: Vec<(usize, Vec<ModeId>)> = Vec::new();
        let roots: Vec<ModeId> = system.root.automata.iter().map(active).collect();
        self.roots = roots.len();
        self.push_nodes(code, &roots);
        level.push((0, roots));
        while let Some((start, modes)) = level.pop() {
            for (i, mode) in modes.iter().enumerate() {
                let children: Vec<ModeId> = system.mode(*mode).block.automata.iter().map(active).collect();
                let first = self.tree.len();
                self.push_nodes(code, &children);
                self.tree[start + i].inner = first..self.tree.len();
                level.push((first, children));
            }
        }
        for root in 0..self.roots {
            self.walk_rules(root, &reactions);
        }
        self.rule_positions.resize(code.rules.len(), u32::MAX);
        for (&r, position) in self.rules.iter().zip(0..) {
            self.rule_positions[r as usize] = position;
            let rule = &code.rules[r as usize];
            let depends_on_atoms = match &rule.when {
                When::Edge { formula, .. } => formula.reads_atoms_alone(),
                _ => false,
            };
            if !depends_on_atoms || rule.effect != Effect::Reaction {
                self.volatile.push(position);
            }
        }
    }

    fn push_nodes(&mut self, code: &Code, modes: &[ModeId]) {
        for &mode in modes {
            let rules = code.block(Some(mode)).rules.iter().copied();
            let transitions = rules.filter(|&r| code.rules[r as usize].effect != Effect::Reaction).collect();
            self.tree.push(ActiveAutomaton { mode, transitions, inner: 0..0 });
        }
    }

    fn walk_rules<I: Iterator<Item = u32>>(&mut self, node: usize, reactions: &impl Fn(usize) -> I) {
        let ActiveAutomaton { mode, transitions, inner } = self.tree[node].clone();
        self.rules.extend(transitions);
        self.rules.extend(reactions(mode.index() + 1));
        for child in inner {
            self.walk_rules(child, reactions);
        }
    }
}
