//! What happens at an instant: rounds of simultaneous jumps until the configuration is quiet.
//!
//! This is docs/semantics.md, sections 4 to 7, step by step. Time and states stand still; truth
//! comes from the signs of the atoms, which were decided when the instant was located and are read
//! again from numbers only after a jump has changed what they depend on.

use crate::combination::Combination;
use crate::compile::{Actions, AtomId, Code, Effect, Formula, Signs, When};
use crate::error::SimError;
use crate::explain;
use crate::guards::sign_of;
use crate::options::Recording;
use crate::report::{Change, Ending, Event, EventKind, Stamp, Status};
use crate::resting::{Motion, instant_at};
use crate::runner::Runner;
use crate::sift::sift;
use crate::zeno::Accumulation;
use saltus_model::{ModeId, VariableKind};
use saltus_num::roots::Root;
use std::ops::Range;

/// An atom that was zero is so again if it is smaller than so many roundings of what it depends on, or so
/// many times what rounding had left of it.
const ZERO_ROUNDING: f64 = 4.0;

/// Memory of instants, kept between them.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub roots: Vec<Root>,
    /// Guards that may be zero on a step.
    pub candidates: Vec<u32>,
    /// Atoms that have no firm sign, and those of them that are zero and may go anywhere.
    open: Vec<usize>,
    zeros: Vec<usize>,
    /// Rules of the round, in the order of the walk.
    pub fired: Vec<u32>,
    /// Transitions chosen for the round.
    pub chosen: Vec<u32>,
    /// Pending assignments of the round.
    writes: Vec<Write>,
    /// Configurations of this instant, one after another: numbers and flags.
    history: Vec<u64>,
    flags: Vec<bool>,
    /// Number of events before each configuration of `history`.
    events: Vec<usize>,
    /// Signs of the atoms before a change of combination.
    old_signs: Vec<Signs>,
    /// Atoms that are zero by decree in this instant, and the values of what they depend on for which
    /// they are, one after another.
    decrees: Vec<Decree>,
    decreed_for: Vec<f64>,
    /// Slots holding the configuration, neighbours together, and rules whose ticks are part of it.
    configuration: Vec<Range<usize>>,
    timed: Vec<u32>,
    /// The transition that enters modes at the moment.
    entering: u32,
}

impl Buffers {
    /// Atoms that were zero by decree as the instant began.
    pub fn decreed(&self) -> impl Iterator<Item = AtomId> {
        self.decrees.iter().map(|decree| decree.atom)
    }

    /// True if all that an atom depends on has the values for which it is zero by decree, or others for
    /// which its value is zero but for rounding: they may have been shifted alike, gone to and fro, or been
    /// multiplied.
    fn is_decreed(&self, code: &Code, env: &[f64], atom: AtomId, value: f64) -> bool {
        let mut values = self.decreed_for.as_slice();
        for decree in &self.decrees {
            let depends = &code.atoms[decree.atom.index()].depends;
            let (here, rest) = values.split_at(depends.len());
            if decree.atom == atom {
                let values = depends.iter().map(|&slot| env[slot as usize]).zip(here);
                let size =
                    values.clone().fold(0.0_f64, |size, (now, then)| size.max(now.abs()).max(then.abs()));
                return value.abs() <= ZERO_ROUNDING * decree.left.max(f64::EPSILON * size)
                    || values.into_iter().all(|(now, &then)| now == then);
            }
            values = rest;
        }
        false
    }
}

/// An atom that is zero by decree.
#[derive(Clone, Copy, Debug)]
struct Decree {
    atom: AtomId,
    /// How far from zero it is computed to be; NaN if nothing has asked for it.
    left: f64,
}

/// One assignment of a round.
#[derive(Clone, Copy, Debug)]
struct Write {
    slot: u32,
    value: f64,
    before: f64,
    rule: u32,
    span: saltus_model::Span,
}

/// So few units are evaluated without asking which have changed.
const FEW_UNITS: usize = 4;

/// Instants without progress of time after which a run is given up.
const STANDSTILL: u32 = 1000;

impl Runner<'_> {
    /// Executes the instant at the present time.
    pub fn instant(&mut self) -> Result<(), Box<Ending>> {
        self.stats.instants += 1;
        self.coins.fill(None);
        self.buffers.history.clear();
        self.buffers.flags.clear();
        self.buffers.events.clear();
        self.note_decrees();
        let first_event = self.events.len();
        let mut stop: Option<(u32, u32)> = None;
        let mut rounds = 0;
        if self.segment.valid {
            if self.combination().has_stairs {
                self.cross_stairs()?;
            }
            self.cross_kinks();
        }
        loop {
            self.settle_switches()?;
            self.stirred.stir(self.current, self.combinations.get(self.current), &self.signs);
            self.arm_edges();
            stop = stop.or_else(|| self.stop_condition());
            self.check_for_loop(rounds)?;
            if !self.choose(None) {
                let Some(forced) = self.ending_invariants() else { break };
                if !self.choose(Some(&forced)) {
                    break;
                }
            }
            self.round()?;
            rounds += 1;
            if rounds >= self.options.limits.rounds {
                return Err(self.too_many_rounds());
            }
        }
        self.end_of_instant(stop)?;
        self.check_edges()?;
        self.restart_behind_edges();
        self.check_accumulation(first_event)?;
        self.pass_time();
        Ok(())
    }

    /// Recomputes signals and atoms after the changed slots took new values.
    pub fn refresh_after_change(&mut self) {
        for s in 0..self.met_edges.len() {
            if !self.met_edges[s].is_nan() && self.stair_moved(s) {
                self.met_edges[s] = f64::NAN;
            }
        }
        let few = self.combination().plan.blocks.len() <= FEW_UNITS;
        if self.evaluated == Some(self.current) && !few {
            self.evaluate_changed();
        } else if !self.is_lazy {
            self.evaluate_unsettled();
        }
        self.refresh_signs();
        self.clear_changed();
    }

    /// Remembers which atoms are zero by decree as the instant begins.
    fn note_decrees(&mut self) {
        let atoms = &self.combinations.get(self.current).atoms;
        let Buffers { decrees, decreed_for, .. } = &mut self.buffers;
        decrees.clear();
        decreed_for.clear();
        sift(
            &self.signs,
            |signs| signs.now == 0,
            |p| {
                let depends = &self.code.atoms[atoms[p].index()].depends;
                decrees.push(Decree { atom: atoms[p], left: f64::NAN });
                decreed_for.extend(depends.iter().map(|&slot| self.env[slot as usize]));
            },
        );
    }

    /// Reads what rounding has left of the zeros that the round is about to change.
    fn measure_zeros(&mut self) {
        let combination = self.combinations.get(self.current);
        let Buffers { decrees, writes, .. } = &mut self.buffers;
        for decree in decrees {
            let depends = &self.code.atoms[decree.atom.index()].depends;
            if !decree.left.is_nan() || !writes.iter().any(|w| depends.contains(&w.slot)) {
                continue;
            }
            // What is found past its zero is off by more than rounding, what is no longer zero by a jump.
            let p = combination.position[decree.atom.index()] as usize;
            let is_zero = self.signs.get(p).is_some_and(|signs| signs.now == 0);
            if is_zero && !self.method.sees_ends_only() {
                decree.left = combination.atom_value(p, &mut self.env, &mut self.scratch).abs();
            }
        }
    }

    /// Computes everything from the present values alone.
    pub fn refresh_all(&mut self) {
        self.signs = vec![Signs::UNREAD; self.combination().atoms.len()];
        self.jets_fresh = false;
        self.evaluate_unsettled();
        self.refresh_signs();
    }

    /// Signs of the atoms that are new or depend on what has changed, from the present values, unless
    /// these are again those for which an atom is zero by decree. The others are known from their
    /// history, which a rounded value might contradict; where the flow has changed, those that are zero
    /// by decree may go another way.
    fn refresh_signs(&mut self) {
        let combination = self.combinations.get(self.current);
        self.signs.resize(combination.atoms.len(), Signs::UNREAD);
        let dependents = self.changed.iter().flat_map(|&slot| &self.code.dependents[slot as usize]);
        for position in dependents.map(|atom| combination.position[atom.index()]) {
            if let Some(sign) = self.signs.get_mut(position as usize) {
                *sign = Signs::UNREAD;
            }
        }
        self.buffers.zeros.clear();
        self.buffers.open.clear();
        sift(&self.signs, |signs| signs.now.abs() != 1, |p| self.buffers.open.push(p));
        for k in 0..self.buffers.open.len() {
            let p = self.buffers.open[k];
            let sign = &mut self.signs[p];
            let is_known = *sign != Signs::UNREAD;
            if is_known && self.segment.valid {
                continue;
            }
            let value =
                if is_known { 0.0 } else { combination.atom_value(p, &mut self.env, &mut self.scratch) };
            if value.is_nan() {
                continue;
            }
            let is_zero =
                is_known || self.buffers.is_decreed(&self.code, &self.env, combination.atoms[p], value);
            let now = if is_zero { 0 } else { sign_of(value) };
            *sign = if now == 0 { Signs { now, ..Signs::UNREAD } } else { Signs::steady(now) };
            if now == 0 {
                self.buffers.zeros.push(p);
            }
        }
        if !self.buffers.zeros.is_empty() {
            self.decide_zeros();
        }
    }

    /// The sign just after now of atoms that are zero now and of which no more is known, from their
    /// jets.
    fn decide_zeros(&mut self) {
        self.refresh_jets();
        self.renew_parts_of_zeros();
        let Runner { combinations, signs, row, buffers, terms, code, .. } = self;
        let combination = combinations.get_mut(self.current);
        let instant = instant_at(self.stamp.t, self.scale);
        // The slope mostly decides.
        for order in [2.min(self.order), self.order] {
            combination.compose_atoms(buffers.zeros.iter().copied(), order);
            buffers.zeros.retain(|&p| {
                combination.atom_row(p, row);
                let row = &row[..row.len().min(order + 1)];
                let motion = terms.first_motion(code, combination, Motion { p, row, ratio: 1.0, instant });
                signs[p].after = motion.unwrap_or(0);
                let is_steep = order < 2 || row[1].abs() > 2.0 * row[2].abs() * instant;
                order < self.order && !(is_steep && signs[p].after != 0)
            });
            if buffers.zeros.is_empty() {
                break;
            }
        }
    }

    /// What rests is told from what moves by its coefficients here, which polynomials from an earlier origin have
    /// only up to the tolerance.
    fn renew_parts_of_zeros(&mut self) {
        let Runner { combinations, buffers, code, .. } = self;
        let Combination { kept: Some(kept), atoms, .. } = combinations.get_mut(self.current) else { return };
        let mut any = false;
        for &p in &buffers.zeros {
            any |= kept.renew_stale(&code.atoms[atoms[p].index()].depends);
        }
        if any {
            self.jets_fresh = false;
            self.refresh_jets();
        }
    }

    /// The first stop condition that is true, in the order of the walk.
    fn stop_condition(&self) -> Option<(u32, u32)> {
        self.combination().blocks.iter().find_map(|&b| {
            let stops = &self.code.blocks[b as usize].stops;
            let i = stops.iter().position(|(w, _)| self.holds(&w.formula))?;
            Some((b, i as u32))
        })
    }

    /// Blocks with an invariant that does not hold just after now.
    fn ending_invariants(&self) -> Option<Vec<u32>> {
        let ends = |b: &&u32| {
            self.code.blocks[**b as usize].invariants.iter().any(|w| !self.holds_after(&w.formula))
        };
        let blocks: Vec<u32> = self.combination().blocks.iter().filter(ends).copied().collect();
        (!blocks.is_empty()).then_some(blocks)
    }

    /// Sets the flags of edges whose formula is not true.
    fn arm_edges(&mut self) {
        for k in 0..self.stirred.positions().len() {
            let r = self.stirred_rule(k) as usize;
            let When::Edge { formula, .. } = &self.code.rules[r].when else { continue };
            if !self.armed[r] && !self.holds(formula) {
                self.armed[r] = true;
            }
        }
    }

    /// One of the rules that the instant looks at.
    pub fn stirred_rule(&self, k: usize) -> u32 {
        self.combination().rules[self.stirred.positions()[k] as usize]
    }

    /// Carries out the chosen round.
    fn round(&mut self) -> Result<(), Box<Ending>> {
        self.record_flow();
        self.evaluate_actions().map_err(|e| self.failed(e))?;
        self.measure_zeros();
        self.stats.jumps += 1;
        let fired = std::mem::take(&mut self.buffers.fired);
        let mut moved = false;
        for &r in &fired {
            if let Effect::Transition { from, .. } = self.code.rules[r as usize].effect {
                if !matches!(
                    self.code.rules[r as usize].when,
                    When::Level(_) | When::Edge { .. } | When::Else(_)
                ) {
                    self.timers[r as usize].use_up(self.stamp.t);
                }
                self.exit_mode(from);
                moved = true;
            }
        }
        for k in 0..self.buffers.writes.len() {
            let Write { slot, value, .. } = self.buffers.writes[k];
            self.set(slot, value);
        }
        for &r in &fired {
            if let Effect::Transition { target, history, .. } = self.code.rules[r as usize].effect {
                self.buffers.entering = r;
                self.enter_mode(target, history, true).map_err(|e| self.failed(e))?;
            }
        }
        let assigns_state = self.buffers.writes.iter().any(|w| self.is_state(w.slot));
        self.stamp = match assigns_state {
            true => Stamp { n: self.stamp.n + 1, i: 0, ..self.stamp },
            false => Stamp { i: self.stamp.i + 1, ..self.stamp },
        };
        if moved {
            self.keep_signs_over_move().map_err(|e| self.failed(e))?;
            self.stirred.forget();
        }
        if moved || self.changed.iter().any(|&s| self.is_state(s) || self.combination().reads[s as usize]) {
            self.disturb();
        }
        self.log_round(&fired);
        self.record_epoch(true);
        self.refresh_after_change();
        self.buffers.fired = fired;
        Ok(())
    }

    fn is_state(&self, slot: u32) -> bool {
        self.system.variables.get(slot as usize).is_some_and(|v| v.kind == VariableKind::State)
    }

    /// Enters the new combination, carrying over the signs of atoms that stay active.
    fn keep_signs_over_move(&mut self) -> Result<(), SimError> {
        let old = self.current;
        self.enter_combination()?;
        let (before, after) = (self.combinations.get(old), self.combinations.get(self.current));
        let old_signs = &mut self.buffers.old_signs;
        old_signs.clear();
        for atom in &after.atoms {
            let p = before.position[atom.index()] as usize;
            old_signs.push(self.signs.get(p).copied().unwrap_or(Signs::UNREAD));
        }
        std::mem::swap(&mut self.signs, &mut self.buffers.old_signs);
        Ok(())
    }

    pub fn enter_combination(&mut self) -> Result<(), SimError> {
        self.current = self.combinations.enter(self.system, &self.code, &self.modes)?;
        self.combinations.get_mut(self.current).forget_parts();
        self.usual_length = 0.0;
        self.reset_prover();
        self.stats.combinations = self.combinations.len() as u64;
        Ok(())
    }

    /// The flow or a guard is no longer what the polynomials in force say.
    pub fn disturb(&mut self) {
        if self.segment.valid {
            self.record_flow();
            self.segment.valid = false;
        }
        self.jets_fresh = false;
        if let Some(kept) = &mut self.combinations.get_mut(self.current).kept {
            match self.changed[..] {
                [] => kept.forget(),
                ref changed => kept.touch(changed),
            }
        }
        self.reset_prover();
        if let Some(stepper) = &mut self.stepper {
            stepper.restart = true;
        }
    }

    /// Evaluates the right-hand sides of all fired rules in the values before the round.
    fn evaluate_actions(&mut self) -> Result<(), SimError> {
        self.buffers.writes.clear();
        if self.is_lazy {
            self.evaluate_wanted();
        }
        for k in 0..self.buffers.fired.len() {
            let r = self.buffers.fired[k];
            let code = self.code.clone();
            let Some(actions) = &code.rules[r as usize].actions else { continue };
            for (i, written) in actions.targets.iter().enumerate() {
                let value = self.assigned(actions, i)?;
                self.push_write(written.target.0, value, r, written.span)?;
            }
        }
        Ok(())
    }

    fn push_write(
        &mut self,
        slot: u32,
        value: f64,
        rule: u32,
        span: saltus_model::Span,
    ) -> Result<(), SimError> {
        if let Some(first) = self.buffers.writes.iter().find(|w| w.slot == slot) {
            return Err(SimError::DoubleWrite {
                variable: self.system.variables[slot as usize].name.clone(),
                first: self.code.rules[first.rule as usize].name.to_string(),
                second: self.code.rules[rule as usize].name.to_string(),
                first_span: first.span,
                second_span: span,
            });
        }
        let before = self.env[slot as usize];
        self.buffers.writes.push(Write { slot, value, before, rule, span });
        Ok(())
    }

    /// Leaves a mode and everything active inside it.
    fn exit_mode(&mut self, mode: ModeId) {
        let system = self.system;
        for a in &system.mode(mode).block.automata {
            self.exit_mode(self.modes[a.index()]);
        }
        for k in 0..self.mode_slots[mode.index()].flags.len() {
            self.set(self.mode_slots[mode.index()].flags[k], 0.0);
        }
        for &r in &self.code.blocks[mode.index() + 1].rules {
            self.armed[r as usize] = false;
            self.timers[r as usize].leave();
        }
    }

    /// Enters a mode and, inside it, the initial or remembered modes. Own variables that an action
    /// of the round has assigned keep the assigned value.
    pub fn enter_mode(&mut self, mode: ModeId, history: bool, in_round: bool) -> Result<(), SimError> {
        let system = self.system;
        let automaton = system.mode(mode).automaton;
        let resumes = history && self.visited[mode.index()];
        self.modes[automaton.index()] = mode;
        let slot = self.code.automaton_slots[automaton.index()];
        self.set(slot, f64::from(mode.0));
        for k in 0..self.mode_slots[mode.index()].flags.len() {
            self.set(self.mode_slots[mode.index()].flags[k], 1.0);
        }
        for k in 0..self.mode_slots[mode.index()].entries.len() {
            self.set(self.mode_slots[mode.index()].entries[k], self.stamp.t);
        }
        self.visited[mode.index()] = true;
        if !resumes {
            self.start_own_variables(mode, in_round)?;
        }
        self.activate_block(mode.index() + 1)?;
        for a in &system.mode(mode).block.automata {
            let inner = if resumes { self.modes[a.index()] } else { system.automaton(*a).initial };
            self.enter_mode(inner, history, in_round)?;
        }
        Ok(())
    }

    /// Gives a slot a value. One that it has already changes nothing, so what was decided about it
    /// stays decided.
    fn set(&mut self, slot: u32, value: f64) {
        if self.env[slot as usize].to_bits() != value.to_bits() {
            self.env[slot as usize] = value;
            self.proofs.carried.forget(slot, self.stamp.t);
            self.mark(slot);
        }
    }

    fn start_own_variables(&mut self, mode: ModeId, in_round: bool) -> Result<(), SimError> {
        let code = self.code.clone();
        for start in &code.block(Some(mode)).starts {
            let written = start.targets[0];
            let slot = written.target.0;
            if in_round && self.buffers.writes.iter().any(|w| w.slot == slot) {
                continue;
            }
            self.evaluate_signals_for(start)?;
            let value = self.assigned(start, 0)?;
            if in_round {
                let rule = self.buffers.entering;
                self.push_write(slot, value, rule, written.span)?;
            }
            self.set(slot, value);
        }
        Ok(())
    }

    /// Brings signals up to date with the modes entered so far, if a starting value reads any.
    fn evaluate_signals_for(&mut self, start: &Actions) -> Result<(), SimError> {
        let variables = &self.system.variables;
        let is_signal = |&s: &u32| variables.get(s as usize).is_some_and(|v| v.kind == VariableKind::Signal);
        if start.inputs.iter().any(is_signal) {
            let entered = self.combinations.enter(self.system, &self.code, &self.modes)?;
            self.combinations.get(entered).plan.eval(&mut self.env, &mut self.scratch);
        }
        Ok(())
    }

    /// Sets the flags and reads the ticks of a block that becomes active.
    pub fn activate_block(&mut self, block: usize) -> Result<(), SimError> {
        self.entered[block] = self.stamp.t;
        for k in 0..self.code.blocks[block].rules.len() {
            let r = self.code.blocks[block].rules[k];
            self.coins[r as usize] = None;
            if let When::Edge { on_entry, .. } = self.code.rules[r as usize].when {
                self.armed[r as usize] = on_entry;
            }
            self.start_timer(r)?;
        }
        Ok(())
    }

    /// Records the events of the round.
    fn log_round(&mut self, fired: &[u32]) {
        for &r in fired {
            let rule = &self.code.rules[r as usize];
            let first = self.changes.len();
            for w in self.buffers.writes.iter().filter(|w| w.rule == r) {
                let after = self.env[w.slot as usize];
                self.changes.push(Change { variable: saltus_expr::VarId(w.slot), before: w.before, after });
            }
            let (kind, transition) = match rule.effect {
                Effect::Transition { automaton, from, target, .. } => {
                    (EventKind::Transition, Some((automaton, from, target)))
                }
                Effect::Reaction => (reaction_kind(&rule.when), None),
            };
            self.events.push(Event {
                stamp: self.stamp,
                kind,
                name: rule.name.clone(),
                transition,
                span: rule.span,
                changes: first..self.changes.len(),
            });
        }
    }

    pub fn record_epoch(&mut self, visible: bool) {
        if self.options.recording == Recording::All {
            let plan = self.combinations.get(self.current).plan.clone();
            self.trace.push_epoch(self.stamp, visible, &plan, &self.changed, &self.env);
        }
    }

    /// Ends the run if this configuration has been there before at this time.
    fn check_for_loop(&mut self, rounds: u32) -> Result<(), Box<Ending>> {
        if self.buffers.configuration.is_empty() {
            self.buffers.configuration = self.configuration_slots();
            let rules = || self.code.rules.iter().zip(0..);
            let is_edge = |when: &When| matches!(when, When::Edge { .. });
            let is_level = |when: &When| matches!(when, When::Level(_) | When::Else(_));
            let timed = rules().filter(|(r, _)| !is_edge(&r.when) && !is_level(&r.when));
            self.buffers.timed = timed.map(|(_, i)| i).collect();
        }
        let Buffers { history, flags, events, configuration, timed, .. } = &mut self.buffers;
        let start = [history.len(), flags.len()];
        // Adding zero makes negative zero positive: both are the same value.
        for slots in configuration.iter() {
            history.extend(self.env[slots.clone()].iter().map(|value| (value + 0.0).to_bits()));
        }
        history.extend(self.entered.iter().map(|t| t.to_bits()));
        flags.extend_from_slice(&self.armed);
        flags.extend_from_slice(&self.visited);
        let t = self.stamp.t;
        flags.extend(timed.iter().map(|&r| self.timers[r as usize].is_used(t)));
        events.push(self.events.len());
        if rounds == 0 {
            return Ok(());
        }
        let ((numbers, present), (flags, raised)) = (history.split_at(start[0]), flags.split_at(start[1]));
        let is_present = |k: &usize| {
            numbers[k * present.len()..][..present.len()] == *present
                && flags[k * raised.len()..][..raised.len()] == *raised
        };
        match (0..events.len() - 1).find(is_present) {
            Some(k) => {
                let first = events[k];
                Err(self.zero_time_loop(first))
            }
            None => Ok(()),
        }
    }

    fn configuration_slots(&self) -> Vec<Range<usize>> {
        let is_part =
            |kind| matches!(kind, VariableKind::State | VariableKind::Memory | VariableKind::EntryTime(_));
        let variables = self.system.variables.iter().enumerate().filter(|(_, v)| is_part(v.kind));
        let automata = self.code.automaton_slots.iter().map(|&slot| slot as usize);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for slot in variables.map(|(i, _)| i).chain(automata) {
            match ranges.last_mut() {
                Some(range) if range.end == slot => range.end += 1,
                _ => ranges.push(slot..slot + 1),
            }
        }
        ranges
    }

    fn zero_time_loop(&mut self, first: usize) -> Box<Ending> {
        let cycle: Vec<String> = self.events[first..].iter().map(|e| format!("`{}`", e.name)).collect();
        let span = self.events.last().map(|e| e.span);
        let reason = format!("the same jumps repeat without time passing: {}", cycle.join(", then "));
        let hint = "make the guards exclude each other (for example with a gap between them), or let a jump change what they read";
        self.ending(Status::ZeroTimeLoop, reason, Some(hint.into()), span)
    }

    fn too_many_rounds(&mut self) -> Box<Ending> {
        let limit = self.options.limits.rounds;
        let last = self.events.last().map_or(String::new(), |e| format!(", the last of them `{}`", e.name));
        let reason = format!("the limit of {limit} rounds at one instant was reached{last}");
        let hint =
            "a counter or state changes in every round and keeps a guard true; let the guard become false";
        self.ending(Status::Limit, reason, Some(hint.into()), self.events.last().map(|e| e.span))
    }

    /// Decides how the finished instant ends the run, if it does.
    fn end_of_instant(&mut self, stop: Option<(u32, u32)>) -> Result<(), Box<Ending>> {
        if let Some((b, i)) = stop {
            let (watched, message) = &self.code.blocks[b as usize].stops[i as usize];
            return Err(self.ending(Status::Stopped, message.clone(), None, Some(watched.span)));
        }
        if let Some(span) = self.first_invariant(|w| !self.holds(w)) {
            return Err(self.blocked("does not hold", span));
        }
        if self.stamp.t >= self.until {
            return Err(self.ending(Status::Finished, "the stop time was reached".into(), None, None));
        }
        if let Some(span) = self.first_invariant(|w| !self.holds_after(w)) {
            return Err(self.blocked("ends", span));
        }
        for &b in &self.combination().blocks {
            for w in &self.code.blocks[b as usize].domains {
                if !self.holds_after(&w.formula) {
                    let text = self.system.sources.text(w.span);
                    let reason =
                        format!("the declared domain `{text}` ends and no transition leads out of it");
                    let hint = "add a transition or a stop condition at the edge of the domain";
                    return Err(self.ending(Status::LeftDomain, reason, Some(hint.into()), Some(w.span)));
                }
            }
        }
        // Guards of a crowd are not evaluated here; they are looked at when the flow is expanded.
        let combination = self.combination();
        let undefined = |&p: &usize| self.env[combination.atom_slots[p] as usize].is_nan();
        if let Some(p) = combination.eager.iter().map(|&p| p as usize).find(undefined) {
            return Err(explain::undefined_guard(self, p));
        }
        Ok(())
    }

    fn first_invariant(&self, wrong: impl Fn(&Formula) -> bool) -> Option<saltus_model::Span> {
        let blocks = self.combination().blocks.iter();
        blocks
            .flat_map(|&b| &self.code.blocks[b as usize].invariants)
            .find(|w| wrong(&w.formula))
            .map(|w| w.span)
    }

    fn blocked(&self, what: &str, span: saltus_model::Span) -> Box<Ending> {
        let text = self.system.sources.text(span);
        let reason = format!("{text} {what} and no transition is enabled").replace("  ", " ");
        let hint = "let a transition be enabled where the invariant ends, or widen the invariant";
        self.ending(Status::Blocked, reason.trim_start().into(), Some(hint.into()), Some(span))
    }

    /// Ends the run if its events accumulate here.
    fn check_accumulation(&mut self, first_event: usize) -> Result<(), Box<Ending>> {
        let fired = &self.events[first_event..];
        if fired.is_empty() {
            return Ok(());
        }
        let mut signature = 0xcbf2_9ce4_8422_2325_u64;
        for e in fired {
            let place = u64::from(e.span.start) << 32 | u64::from(e.span.end);
            let transition = e.transition.map_or(u64::MAX, |(a, ..)| u64::from(a.0));
            // Instances of one text are different rules: they change other variables.
            let changed = self.changes.get(e.changes.start).filter(|_| !e.changes.is_empty());
            let variable = changed.map_or(u64::MAX, |change| u64::from(change.variable.0));
            let rule = place ^ transition.rotate_left(17) ^ variable.rotate_left(43);
            signature = (signature ^ rule).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let t = self.stamp.t;
        self.standstill = if t == self.last_event_time { self.standstill + 1 } else { 0 };
        self.last_event_time = t;
        let resolution = (1e-3 * self.options.rtol).max(1e-13) * t.abs().max(1.0);
        if let Some(found) = self.zeno.instant(t, signature, resolution) {
            let names: Vec<String> = fired.iter().map(|e| format!("`{}`", e.name)).collect();
            let names = names.join(" with ");
            let reason = match found {
                Accumulation::Between { low, high, ratio, count } => format!(
                    "{names} accumulates: {count} times at intervals that shrink by a factor of {ratio:.4}, towards a time between {low} and {high}"
                ),
                Accumulation::Here { count } => format!(
                    "{names} accumulates: {count} times at intervals that numbers near this time can hardly tell from nothing"
                ),
            };
            let hint = "stop before it, or model what happens after the limit as a mode of its own";
            let span = fired.first().map(|e| e.span);
            return Err(self.ending(Status::Zeno, reason, Some(hint.into()), span));
        }
        if self.standstill >= STANDSTILL {
            let reason = format!(
                "{STANDSTILL} instants followed one another without time advancing by the smallest number"
            );
            let hint = "events are closer together than numbers near this time can tell";
            return Err(self.ending(Status::Zeno, reason, Some(hint.into()), None));
        }
        Ok(())
    }

    /// Time passes: an edge is armed while its formula is false; that of a transition is over once
    /// it is true.
    pub fn pass_edge(&mut self, r: u32) {
        let rule = &self.code.rules[r as usize];
        let When::Edge { formula, .. } = &rule.when else { return };
        let holds = self.holds_after(formula);
        let is_reaction = rule.effect == Effect::Reaction;
        let armed = &mut self.armed[r as usize];
        *armed = !holds || *armed && is_reaction;
    }

    /// Time is about to pass: flags and ticks of the instant are over.
    fn pass_time(&mut self) {
        for k in 0..self.stirred.positions().len() {
            self.pass_edge(self.stirred_rule(k));
        }
        self.stirred.settle();
        self.pass_ticks();
        self.pin_zeros();
        if self.segment.valid {
            self.settle_all_signs();
        }
    }
}

fn reaction_kind(when: &When) -> EventKind {
    match when {
        When::Level(_) | When::Edge { .. } | When::Else(_) => EventKind::Reaction,
        When::Every(_) => EventKind::Sample,
        When::At(_) | When::After(_) | When::On(_) => EventKind::Time,
    }
}
