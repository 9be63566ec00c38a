//! Builds the code of a system, block by block.

use super::edges::{Unless, kinked};
use super::flat::Flat;
use super::formula::{AtomId, AtomSource, Formula, build};
use super::lower::{Switch, SwitchKind};
use super::{Actions, Atom, BlockCode, Code, Effect, Rule, Scalar, Watched, When, Written};
use saltus_expr::hash::QuickMap;
use saltus_expr::{Binary, Expr, Graph, Node, PlanBlock, Program, Programs, Sort, VarId};
use saltus_model::{
    Assigned, Assignment, Block, Condition, HybridSystem, ModeId, Span, Target, Trigger, VariableKind,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Compiles all blocks of a system.
pub(crate) fn compile(system: &HybridSystem) -> Code {
    let mut builder = Builder::new(system);
    let owners = std::iter::once(None).chain((0..system.modes.len() as u32).map(|m| Some(ModeId(m))));
    let blocks: Vec<BlockCode> = owners.map(|owner| builder.block(owner)).collect();
    builder.finish(blocks)
}

pub(crate) struct Builder<'s> {
    pub system: &'s HybridSystem,
    pub graph: Graph,
    pub switches: Vec<Switch>,
    pub lowered: QuickMap<Expr, Expr>,
    /// What smooth expressions stand for.
    pub origins: QuickMap<Expr, Expr>,
    /// Smooth expressions for what is never negative, or never positive if so told.
    pub one_sided: QuickMap<Expr, bool>,
    pub varying: QuickMap<Expr, bool>,
    pub conditions: QuickMap<Expr, Expr>,
    atoms: Vec<Atom>,
    atom_of: QuickMap<Expr, AtomId>,
    slots: u32,
    automaton_slots: Vec<u32>,
    derivative_slots: QuickMap<VarId, u32>,
    /// For each signal the slots its definitions read, and the automata that choose among them.
    definitions: QuickMap<VarId, Vec<(Option<ModeId>, Expr)>>,
    /// Signals with one definition that is always in force, as written.
    single_definitions: QuickMap<VarId, Expr>,
    /// Definitions of Boolean signals as written.
    boolean_definitions: QuickMap<VarId, Vec<(Option<ModeId>, Expr)>>,
    programs: Programs,
    rules: Vec<Rule>,
    /// Slots with the arguments of flat functions, these functions with the slots of exponents, and whether
    /// there are any such functions.
    flat: QuickMap<u32, Flat<u32>>,
    pub has_flat: bool,
}

impl AtomSource for Builder<'_> {
    fn graph(&mut self) -> &mut Graph {
        &mut self.graph
    }

    fn atom(&mut self, quantity: Expr) -> AtomId {
        let quantity = self.lower(quantity);
        self.lowered_atom(quantity)
    }

    fn definition(&self, signal: VarId) -> Option<Expr> {
        self.single_definitions.get(&signal).copied()
    }

    fn varies(&mut self, e: Expr) -> bool {
        Builder::varies(self, e)
    }

    fn definitions(&self, signal: VarId) -> Vec<(Option<(u32, f64)>, Expr)> {
        let place = |m: ModeId| (self.automaton_slots[self.system.mode(m).automaton.index()], f64::from(m.0));
        let written = self.boolean_definitions.get(&signal);
        written.into_iter().flatten().map(|&(owner, rhs)| (owner.map(place), rhs)).collect()
    }
}

impl<'s> Builder<'s> {
    fn new(system: &'s HybridSystem) -> Self {
        let variables = system.variables.len() as u32;
        let automata = system.automata.len() as u32;
        let mut builder = Self {
            system,
            graph: system.graph.clone(),
            switches: Vec::new(),
            lowered: QuickMap::default(),
            origins: QuickMap::default(),
            one_sided: QuickMap::default(),
            varying: QuickMap::default(),
            conditions: QuickMap::default(),
            atoms: Vec::new(),
            atom_of: QuickMap::default(),
            slots: variables + automata,
            automaton_slots: (variables..variables + automata).collect(),
            derivative_slots: QuickMap::default(),
            definitions: QuickMap::default(),
            single_definitions: QuickMap::default(),
            boolean_definitions: QuickMap::default(),
            programs: Programs::new(),
            rules: Vec::new(),
            flat: QuickMap::default(),
            has_flat: false,
        };
        builder.collect_definitions();
        builder
    }

    pub fn new_slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// The atom of a quantity that is smooth already.
    pub fn lowered_atom(&mut self, quantity: Expr) -> AtomId {
        if let Some(&known) = self.atom_of.get(&quantity) {
            return known;
        }
        let id = AtomId(self.atoms.len() as u32);
        let slot = self.new_slot();
        self.atoms.push(Atom { slot, quantity, depends: Vec::new(), of_time: None, may_cancel: false });
        self.atom_of.insert(quantity, id);
        id
    }

    fn collect_definitions(&mut self) {
        let system = self.system;
        let owners = std::iter::once(None).chain((0..system.modes.len() as u32).map(|m| Some(ModeId(m))));
        let equations =
            owners.flat_map(|owner| system.block(owner).equations.iter().map(move |q| (owner, q)));
        let signals: Vec<_> = equations
            .filter_map(|(owner, q)| match q.target {
                Target::Signal(v) => Some((v, owner, q.rhs)),
                Target::Derivative(_) => None,
            })
            .collect();
        for &(v, owner, rhs) in &signals {
            if owner.is_none() {
                self.single_definitions.insert(v, rhs);
            }
            if system.variable(v).sort == Sort::Boolean {
                self.boolean_definitions.entry(v).or_default().push((owner, rhs));
            }
        }
        for (v, owner, rhs) in signals {
            let rhs = self.lower(rhs);
            self.definitions.entry(v).or_default().push((owner, rhs));
        }
    }

    fn finish(mut self, mut blocks: Vec<BlockCode>) -> Code {
        let guard_units = self.guard_units(&mut blocks);
        for i in 0..self.atoms.len() {
            let quantity = self.atoms[i].quantity;
            let depends = self.depends(quantity);
            let of_time = !depends.iter().any(|&s| self.changes_in_flow(s)) && self.reads_only_time(quantity);
            self.atoms[i].depends = depends;
            self.atoms[i].may_cancel = self.may_cancel(quantity);
            self.atoms[i].of_time = of_time.then(|| self.scalar(quantity));
        }
        let variables = self.system.variables.iter().enumerate();
        let starts: Vec<_> = variables.map(|(i, v)| v.start.map(|s| (VarId(i as u32), s, v.span))).collect();
        let starts = starts.into_iter().map(|s| s.and_then(|s| self.assignments(&[s]))).collect();
        let until = self.system.run.until.map(|e| self.scalar(e));
        let events = &self.system.events;
        let event_times = events.iter().map(|e| e.times.iter().map(|&t| self.scalar(t)).collect()).collect();
        let mut dependents = vec![Vec::new(); self.slots as usize];
        for (atom, id) in self.atoms.iter().zip(0..) {
            atom.depends.iter().for_each(|&slot| dependents[slot as usize].push(AtomId(id)));
        }
        Code {
            dependents,
            gradients: Default::default(),
            starts,
            until,
            event_times,
            graph: self.graph,
            slots: self.slots as usize,
            automaton_slots: self.automaton_slots,
            atoms: self.atoms,
            guard_units,
            switches: self.switches,
            origins: self.origins,
            flat: self.flat,
            rules: self.rules,
            blocks,
            programs: self.programs.len(),
        }
    }

    fn changes_in_flow(&self, slot: u32) -> bool {
        self.system.variables.get(slot as usize).is_some_and(|v| v.kind == VariableKind::State)
    }

    /// True if time is the only thing that moves the expression, directly and not through signals.
    fn reads_only_time(&self, e: Expr) -> bool {
        let kind = |v: &VarId| self.system.variables.get(v.index()).map(|v| v.kind);
        let variables = self.graph.variables(&[e]);
        variables.contains(&VarId(0)) && !variables.iter().any(|v| kind(v) == Some(VariableKind::Signal))
    }

    /// True if an expression has a sum of things that move.
    fn may_cancel(&mut self, e: Expr) -> bool {
        let (mut stack, mut seen) = (vec![e], BTreeSet::new());
        while let Some(e) = stack.pop() {
            if !seen.insert(e) || !self.varies(e) {
                continue;
            }
            if let Node::Binary(Binary::Add | Binary::Sub, a, b) = self.graph.node(e)
                && self.varies(a)
                && self.varies(b)
            {
                return true;
            }
            stack.extend(self.graph.operands(e));
        }
        false
    }

    /// Slots of everything an expression depends on between and at jumps, through signals.
    fn depends(&self, e: Expr) -> Vec<u32> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            for v in self.graph.variables(&[e]) {
                if !seen.insert(v) {
                    continue;
                }
                match self.system.variables.get(v.index()).map(|v| v.kind) {
                    Some(VariableKind::Signal) => {
                        for &(owner, rhs) in self.definitions.get(&v).into_iter().flatten() {
                            stack.push(rhs);
                            found.extend(
                                owner.map(|m| self.automaton_slots[self.system.mode(m).automaton.index()]),
                            );
                        }
                    }
                    Some(VariableKind::Time | VariableKind::Parameter) => {}
                    Some(VariableKind::InMode(m)) => {
                        found.insert(self.automaton_slots[self.system.mode(m).automaton.index()]);
                        found.insert(v.0);
                    }
                    _ => {
                        found.insert(v.0);
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    fn block(&mut self, owner: Option<ModeId>) -> BlockCode {
        let block = self.system.block(owner);
        let mut code = BlockCode::default();
        self.flow(block, &mut code);
        let first_rule = self.rules.len() as u32;
        self.reactions(owner, block);
        if let Some(mode) = owner {
            self.transitions(mode);
        }
        code.rules = (first_rule..self.rules.len() as u32).collect();
        code.invariants = block.invariants.iter().map(|c| self.watched(c).closed()).collect();
        code.domains = block.domains.iter().map(|c| self.watched(c)).collect();
        for stop in &block.stops {
            let formula = build(self, stop.formula, true);
            code.stops.push((Watched { formula, span: stop.span }, stop.message.clone()));
        }
        self.own_variables(owner, &mut code);
        self.collect_switches_and_atoms(&mut code);
        code
    }

    fn flow(&mut self, block: &Block, code: &mut BlockCode) {
        let mut groups: BTreeMap<(&str, &str), Vec<(u32, Expr)>> = BTreeMap::new();
        for equation in &block.equations {
            let rhs = self.lower(equation.rhs);
            let (variable, slot) = match equation.target {
                Target::Signal(v) => (v, v.0),
                Target::Derivative(v) => {
                    let slot = self.derivative_slot(v);
                    code.states.push((v.0, slot));
                    (v, slot)
                }
            };
            code.expressions.push((slot, rhs));
            let family = family_of(&self.system.variable(variable).name);
            groups.entry(family).or_default().push((slot, rhs));
        }
        for group in groups.values() {
            let singles: Vec<PlanBlock> =
                group.iter().map(|&equation| self.unit_with_flat(&[equation])).collect();
            code.flow.extend(if group.len() == 1 {
                singles.clone()
            } else {
                let group = self.with_flat(group);
                self.grouped(&group)
            });
            code.split.extend(singles);
        }
    }

    fn unit_with_flat(&mut self, outputs: &[(u32, Expr)]) -> PlanBlock {
        let outputs = self.with_flat(outputs);
        self.unit(&outputs)
    }

    /// Expressions for slots, with the arguments of the flat functions in them for slots of their own.
    fn with_flat<'a>(&mut self, outputs: &'a [(u32, Expr)]) -> Cow<'a, [(u32, Expr)]> {
        if !self.has_flat {
            return Cow::Borrowed(outputs);
        }
        let (expressions, mut nodes) = (outputs.iter().map(|o| o.1).collect::<Vec<_>>(), Vec::new());
        self.graph.visit(&expressions, |e| nodes.push(e));
        let mut all = outputs.to_vec();
        for node in nodes {
            let Some((function, argument)) = self.flat(node) else { continue };
            if self.varies(argument) {
                let mut slot_of = |e: Expr| {
                    let slot = self.new_slot();
                    all.push((slot, e));
                    slot
                };
                let (slot, function) = (slot_of(argument), function.map(slot_of));
                self.flat.insert(slot, function);
            }
        }
        Cow::Owned(all)
    }

    /// One unit for a group of equations whose signals are read inside the group too: inner
    /// references are replaced by the defining expressions, so that the program is self-contained.
    fn grouped(&mut self, group: &[(u32, Expr)]) -> Vec<PlanBlock> {
        let inner: QuickMap<VarId, Expr> = group
            .iter()
            .filter(|(slot, _)| {
                self.system.variables.get(*slot as usize).is_some_and(|v| v.kind == VariableKind::Signal)
            })
            .map(|&(slot, rhs)| (VarId(slot), rhs))
            .collect();
        let mut memo = QuickMap::default();
        let mut open = BTreeSet::new();
        let mut resolved = Vec::with_capacity(group.len());
        for &(slot, rhs) in group {
            match inline(&mut self.graph, &inner, &mut memo, &mut open, rhs) {
                Some(e) => resolved.push((slot, e)),
                None => return group.iter().map(|&(slot, rhs)| self.unit(&[(slot, rhs)])).collect(),
            }
        }
        vec![self.unit(&resolved)]
    }

    fn derivative_slot(&mut self, v: VarId) -> u32 {
        if let Some(&slot) = self.derivative_slots.get(&v) {
            return slot;
        }
        let slot = self.new_slot();
        self.derivative_slots.insert(v, slot);
        slot
    }

    fn unit(&mut self, outputs: &[(u32, Expr)]) -> PlanBlock {
        let expressions: Vec<Expr> = outputs.iter().map(|o| o.1).collect();
        let (program, inputs) = self.program(&expressions);
        PlanBlock { program, inputs, outputs: outputs.iter().map(|o| o.0).collect() }
    }

    /// The shared program of some expressions, and the slots it reads here.
    fn program(&mut self, expressions: &[Expr]) -> (Arc<Program>, Vec<u32>) {
        let (program, inputs) = Program::new(&self.graph, expressions);
        let shared = self.programs.share(program);
        (shared, inputs.into_iter().map(|v| v.0).collect())
    }

    fn scalar(&mut self, e: Expr) -> Scalar {
        let (program, inputs) = self.program(&[e]);
        Scalar { program, inputs }
    }

    fn watched(&mut self, condition: &Condition) -> Watched {
        Watched { formula: build(self, condition.formula, true), span: condition.span }
    }

    fn reactions(&mut self, owner: Option<ModeId>, block: &Block) {
        for reaction in &block.reactions {
            let when = self.when(&reaction.trigger, false);
            let condition = reaction.condition.map(|c| build(self, c, true));
            let actions = self.actions(&reaction.actions);
            let (name, span) = (reaction.name.as_str().into(), reaction.span);
            self.rules.push(Rule { effect: Effect::Reaction, owner, when, condition, actions, name, span });
        }
    }

    fn transitions(&mut self, from: ModeId) {
        let system = self.system;
        let mode = system.mode(from);
        let first_rule = self.rules.len() as u32;
        for t in &mode.transitions {
            let when = self.when(&t.trigger, true);
            let condition = t.condition.map(|c| build(self, c, true));
            let actions = self.actions(&t.actions);
            let effect = Effect::Transition {
                automaton: mode.automaton,
                from,
                target: t.target,
                history: t.history,
                may: t.may,
                preempt: t.preempt,
            };
            let (owner, name, span) = (Some(from), t.name.as_str().into(), t.span);
            self.rules.push(Rule { effect, owner, when, condition, actions, name, span });
        }
        self.close_else(from, first_rule);
    }

    fn when(&mut self, trigger: &Trigger, transition: bool) -> When {
        match *trigger {
            Trigger::When(g) if transition => When::Level(build(self, g, true)),
            Trigger::When(g) => When::Edge { formula: build(self, g, true), on_entry: true },
            Trigger::Rises(g) => When::Edge { formula: build(self, g, true), on_entry: false },
            Trigger::At(e) => When::At(self.scalar(e)),
            Trigger::After(e) => When::After(self.scalar(e)),
            Trigger::Every(e) => When::Every(self.scalar(e)),
            Trigger::On(event) => When::On(event),
            Trigger::Else => When::Else(Formula::Constant(true)),
        }
    }

    /// What keeps the `else` transitions of a mode open: no level of another one being enabled.
    fn close_else(&mut self, mode: ModeId, first_rule: u32) {
        let system = self.system;
        let transitions = &system.mode(mode).transitions;
        let mut closed = Vec::new();
        for t in transitions {
            let Trigger::When(guard) = t.trigger else { continue };
            let parts = std::iter::once(guard).chain(t.condition).map(|e| build(self, e, false)).collect();
            closed.push(Formula::or(parts));
        }
        let closed = Formula::and(closed);
        for rule in &mut self.rules[first_rule as usize..][..transitions.len()] {
            if let When::Else(formula) = &mut rule.when {
                formula.clone_from(&closed);
            }
        }
    }

    fn actions(&mut self, assignments: &[Assignment]) -> Option<Actions> {
        let list: Vec<(VarId, Assigned, Span)> =
            assignments.iter().map(|a| (a.target, a.value, a.span)).collect();
        self.assignments(&list)
    }

    fn assignments(&mut self, list: &[(VarId, Assigned, Span)]) -> Option<Actions> {
        if list.is_empty() {
            return None;
        }
        let mut expressions = Vec::with_capacity(2 * list.len());
        let mut targets = Vec::with_capacity(list.len());
        for &(target, value, span) in list {
            let (low, high, interval) = match value {
                Assigned::Value(e) => (e, e, false),
                Assigned::Interval(a, b) => (a, b, true),
            };
            expressions.extend([low, high]);
            targets.push(Written { target, interval, span });
        }
        let mut readings = Vec::new();
        for e in &mut expressions {
            *e = self.read_formulas(*e, &mut readings);
        }
        let (program, inputs) = self.program(&expressions);
        Some(Actions { readings, program, inputs, targets })
    }

    /// Replaces comparisons of flowing quantities by values read from formulas, so that an action
    /// sees the truth that the instant decided and not a rounded number.
    fn read_formulas(&mut self, e: Expr, readings: &mut Vec<(u32, Formula)>) -> Expr {
        if !self.varies(e) {
            return e;
        }
        if self.graph.sort(e) == Sort::Boolean {
            let formula = build(self, e, true);
            let slot = self.new_slot();
            readings.push((slot, formula));
            return self.graph.var(VarId(slot), Sort::Boolean);
        }
        let operands: Vec<Expr> = self.graph.operands(e).collect();
        let operands: Vec<Expr> = operands.into_iter().map(|o| self.read_formulas(o, readings)).collect();
        self.graph.with_operands(e, &operands)
    }

    fn own_variables(&mut self, owner: Option<ModeId>, code: &mut BlockCode) {
        let Some(mode) = owner else { return };
        let mut starts = Vec::new();
        for (i, v) in self.system.variables.iter().enumerate() {
            if v.owner == Some(mode) && matches!(v.kind, VariableKind::State | VariableKind::Memory) {
                starts.extend(v.start.map(|s| (VarId(i as u32), s, v.span)));
            }
        }
        code.starts = starts.into_iter().filter_map(|start| self.assignments(&[start])).collect();
    }

    /// Everything whose sign matters while the block is active.
    fn collect_switches_and_atoms(&mut self, code: &mut BlockCode) {
        let mut atoms = BTreeSet::new();
        for &rule in &code.rules {
            let rule = &self.rules[rule as usize];
            rule.when.atoms(&mut |a| _ = atoms.insert(a));
            let readings = rule.actions.iter().flat_map(|a| a.readings.iter().map(|r| &r.1));
            for f in rule.condition.iter().chain(readings) {
                f.atoms(&mut |a| _ = atoms.insert(a));
            }
        }
        let stops = code.stops.iter().map(|s| &s.0);
        for watched in code.invariants.iter().chain(&code.domains).chain(stops) {
            watched.formula.atoms(&mut |a| _ = atoms.insert(a));
        }
        let by_slot: QuickMap<u32, u32> =
            self.switches.iter().enumerate().map(|(i, s)| (s.slot.0, i as u32)).collect();
        let mut switches = BTreeSet::new();
        let mut slots: Vec<u32> = code.flow.iter().flat_map(|u| u.inputs.iter().copied()).collect();
        let mut pending: Vec<AtomId> = atoms.iter().copied().collect();
        while !slots.is_empty() || !pending.is_empty() {
            for atom in std::mem::take(&mut pending) {
                slots.extend(self.graph.variables(&[self.atoms[atom.index()].quantity]).iter().map(|v| v.0));
            }
            for slot in std::mem::take(&mut slots) {
                let Some(&switch) = by_slot.get(&slot) else { continue };
                if switches.insert(switch) {
                    self.switches[switch as usize].kind.atoms(&mut |a| {
                        if atoms.insert(a) {
                            pending.push(a);
                        }
                    });
                    self.switches[switch as usize].kind.flags(&mut |v| slots.push(v.0));
                }
            }
        }
        let quantity = |a: &AtomId| (self.atoms[a.index()].slot, self.atoms[a.index()].quantity);
        code.expressions.extend(atoms.iter().map(quantity));
        let expressions: Vec<Expr> = code.expressions.iter().map(|e| e.1).collect();
        code.edges = self.edges(&expressions);
        code.kinked = kinked(&self.graph, &code.edges, &code.expressions);
        atoms.extend(
            code.edges.iter().flat_map(|e| std::iter::once(e.atom).chain(e.unless.map(Unless::atom))),
        );
        code.atoms = atoms.into_iter().collect();
        code.switches = switches.into_iter().collect();
    }

    /// Groups atoms that are active in the same blocks and belong to the same instance and index, or
    /// to the same several.
    fn guard_units(&mut self, blocks: &mut [BlockCode]) -> Vec<PlanBlock> {
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); self.atoms.len()];
        for (b, block) in blocks.iter().enumerate() {
            block.atoms.iter().for_each(|a| users[a.index()].push(b as u32));
        }
        let mut groups: BTreeMap<_, Vec<(u32, Expr)>> = BTreeMap::new();
        for (atom, users) in self.atoms.iter().zip(users) {
            let variables = self.graph.variables(&[atom.quantity]);
            let moving = variables.iter().filter_map(|v| self.system.variables.get(v.index()));
            let moving = moving.filter(|v| v.kind != VariableKind::Parameter);
            let families: BTreeSet<(&str, &str)> = moving.map(|v| family_of(&v.name)).collect();
            groups.entry((users, families)).or_default().push((atom.slot, atom.quantity));
        }
        let mut units = Vec::with_capacity(groups.len());
        for ((users, _), group) in groups {
            users.iter().for_each(|&b| blocks[b as usize].guards.push(units.len() as u32));
            units.push(self.unit_with_flat(&group));
        }
        units
    }
}

impl Watched {
    fn closed(self) -> Self {
        Self { formula: self.formula.closed(), span: self.span }
    }
}

impl Rule {
    /// Calls `visit` for every atom that can make the rule fire by changing sign: those of its
    /// trigger, and for a transition those of its condition.
    pub fn watched_atoms(&self, visit: &mut dyn FnMut(AtomId)) {
        self.when.atoms(visit);
        if let (Effect::Transition { .. }, Some(condition)) = (self.effect, &self.condition) {
            condition.atoms(visit);
        }
    }
}

impl When {
    /// Calls `visit` for every atom that the trigger reads.
    pub fn atoms(&self, visit: &mut dyn FnMut(AtomId)) {
        match self {
            Self::Level(f) | Self::Edge { formula: f, .. } | Self::Else(f) => f.atoms(visit),
            _ => {}
        }
    }
}

impl SwitchKind {
    fn atoms(&self, visit: &mut dyn FnMut(AtomId)) {
        match self {
            Self::Condition(f) => f.atoms(visit),
            Self::Stair(a, _) => visit(*a),
        }
    }

    fn flags(&self, visit: &mut dyn FnMut(VarId)) {
        if let Self::Condition(f) = self {
            f.flags(visit);
        }
    }
}

/// The component instance a dotted variable name belongs to, and its first index there: equations of
/// one index of a family are alike.
fn family_of(name: &str) -> (&str, &str) {
    let (instance, leaf) = name.rfind('.').map_or(("", name), |dot| name.split_at(dot));
    let index = leaf.split_once('[').map_or("", |(_, index)| index);
    (instance, index.split([',', ']']).next().unwrap_or_default())
}

/// Replaces signals by their definitions; `None` if they depend on themselves.
fn inline(
    graph: &mut Graph,
    definitions: &QuickMap<VarId, Expr>,
    memo: &mut QuickMap<Expr, Expr>,
    open: &mut BTreeSet<VarId>,
    e: Expr,
) -> Option<Expr> {
    if let Some(&done) = memo.get(&e) {
        return Some(done);
    }
    let result = match graph.node(e) {
        Node::Const(..) => e,
        Node::Var(v, _) => match definitions.get(&v) {
            None => e,
            Some(&rhs) => {
                if !open.insert(v) {
                    return None;
                }
                let value = inline(graph, definitions, memo, open, rhs)?;
                open.remove(&v);
                value
            }
        },
        _ => {
            let mut operands = Vec::with_capacity(3);
            for operand in graph.operands(e) {
                operands.push(inline(graph, definitions, memo, open, operand)?);
            }
            graph.with_operands(e, &operands)
        }
    };
    memo.insert(e, result);
    Some(result)
}
