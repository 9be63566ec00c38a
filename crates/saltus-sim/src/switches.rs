//! Branches and edges at an instant: which piece of a non-smooth function is in force, and where a
//! function stops to exist.

use crate::compile::{Edge, EdgeKind, Signs, SwitchKind};
use crate::explain;
use crate::guards::sign_of;
use crate::options::Recording;
use crate::report::{Ending, Status};
use crate::runner::Runner;
use crate::segment::Crossing;

impl Runner<'_> {
    /// Evaluates everything at the present values.
    pub fn evaluate_plan(&mut self) {
        self.evaluate_unsettled();
        self.settled();
    }

    /// The same before it is known which branches are in force.
    pub fn evaluate_unsettled(&mut self) {
        let combination = self.combinations.get(self.current);
        combination.plan.eval(&mut self.env, &mut self.scratch);
        self.evaluated = Some(self.current);
        self.stats.rhs_evals += 1;
        self.is_unsettled = true;
    }

    /// Evaluates everything at the present values of an instant, or waits for actions to read it.
    pub fn evaluate_for_instant(&mut self) {
        self.is_lazy = self.combination().serves_actions_alone
            && self.stepper.is_none()
            && self.options.recording != Recording::All;
        if self.is_lazy {
            self.evaluated = None;
        } else {
            self.evaluate_plan();
        }
    }

    /// Evaluates what the actions of the fired rules read.
    pub fn evaluate_wanted(&mut self) {
        let Self { code, combinations, buffers, env, scratch, is_wanted, wanted, .. } = self;
        let plan = &combinations.get(self.current).plan;
        is_wanted.clear();
        is_wanted.resize(code.slots, false);
        let actions = buffers.fired.iter().filter_map(|&r| code.rules[r as usize].actions.as_ref());
        actions.flat_map(|actions| &actions.inputs).for_each(|&slot| is_wanted[slot as usize] = true);
        for (i, block) in plan.blocks.iter().enumerate().rev() {
            if block.outputs.iter().any(|&slot| is_wanted[slot as usize]) {
                block.inputs.iter().for_each(|&slot| is_wanted[slot as usize] = true);
                wanted.push(i);
            }
        }
        wanted.drain(..).rev().for_each(|i| plan.blocks[i].eval(env, scratch));
        self.stats.rhs_evals += 1;
    }

    /// Evaluates the units that read, also through others, what has changed.
    pub fn evaluate_changed(&mut self) {
        let first = self.changed.len();
        let combination = self.combinations.get(self.current);
        for block in &combination.plan.blocks {
            if block.inputs.iter().any(|&slot| self.is_changed[slot as usize]) {
                block.eval(&mut self.env, &mut self.scratch);
                for &slot in &block.outputs {
                    if !std::mem::replace(&mut self.is_changed[slot as usize], true) {
                        self.changed.push(slot);
                    }
                }
            }
        }
        self.changed.drain(first..).for_each(|slot| self.is_changed[slot as usize] = false);
        self.stats.rhs_evals += 1;
        self.is_unsettled = true;
    }

    /// The branches in force are known: the last evaluation counts if it was outside the domain.
    pub fn settled(&mut self) {
        if !std::mem::take(&mut self.is_unsettled) {
            return;
        }
        let combination = self.combinations.get(self.current);
        let exists = combination.plan.states.iter().all(|&(_, f)| self.env[f as usize].is_finite());
        let value = |slot: u32| self.env[slot as usize];
        let inside = exists && self.code.is_inside(combination, &self.env, value);
        self.stats.outside_domain_evals += u64::from(!inside);
    }

    /// Stairs whose edge was located here move to the next cell. If they do so again and again before time
    /// advances, both cells drive them back.
    #[inline(never)]
    pub fn cross_stairs(&mut self) -> Result<(), Box<Ending>> {
        let Some(last) = self.segment.next_root.checked_sub(1) else { return Ok(()) };
        let is_again = self.is_now(self.stairs_crossed.0);
        for k in (0..=last).rev() {
            let root = self.segment.roots[k];
            if root.hi < self.segment.cursor && root.exact.is_nan() {
                break;
            }
            if let Crossing::Stair { switch, index, edge } = root.crossing {
                let slot = self.code.switches[switch as usize].slot.0;
                self.env[slot as usize] = index;
                self.met_edges[switch as usize] = edge;
                self.mark(slot);
                self.disturb();
                self.stats.switchings += 1;
                let count = if is_again { self.stairs_crossed.1 + 1 } else { 0 };
                self.stairs_crossed = (self.stamp.t, count);
                if count > self.most_changes() {
                    return Err(self.switching_loop(switch));
                }
            }
        }
        Ok(())
    }

    /// Branches do not change more often at one point of time, unless they go back and forth.
    fn most_changes(&self) -> usize {
        4 * self.combination().switches.len() + 8
    }

    /// The run stands behind a kink: what jumped there is read again from numbers.
    pub fn cross_kinks(&mut self) {
        if !self.meets_edge(|e, _| e.kind == EdgeKind::Kink) {
            return;
        }
        self.disturb();
        self.combinations.get(self.current).evaluate_crowd(&mut self.env, &mut self.scratch);
        for p in 0..self.signs.len() {
            let slot = self.code.atoms[self.combination().atoms[p].index()].slot;
            let (signs, here) = (self.signs[p], sign_of(self.env[slot as usize]));
            // A kink that the numbers have not passed is still ahead.
            let is_ahead =
                here == -signs.after && self.live_edges(p as u32).any(|e| e.kind == EdgeKind::Kink);
            if signs.now != 0 || is_ahead {
                self.signs[p] = Signs::steady(here);
            }
        }
    }

    /// Behind an edge that was only touched the series starts anew, unless the flow comes to rest on it.
    pub fn restart_behind_edges(&mut self) {
        let is_touched = |e: Edge, after: i8| e.kind == EdgeKind::NonNegative && after > 0;
        if self.segment.valid && self.meets_edge(is_touched) {
            self.disturb();
            for p in 0..self.signs.len() {
                let Signs { now: 0, after } = self.signs[p] else { continue };
                if self.live_edges(p as u32).any(|edge| is_touched(edge, after)) {
                    self.rests_on_edge(p, |slope| slope == 0.0);
                }
            }
            // What rests, rests in both signs.
            self.settle_all_signs();
        }
    }

    /// True if a function in force has its edge here, of the given kind.
    pub fn meets_edge(&self, wanted: impl Fn(Edge, i8) -> bool) -> bool {
        if !self.combination().has_edges_or_kinks {
            return false;
        }
        let zeros = (0..self.signs.len()).filter(|&p| self.signs[p].now == 0);
        zeros.into_iter().any(|p| self.live_edges(p as u32).any(|e| wanted(e, self.signs[p].after)))
    }

    /// Ends the run where a function in force would be left.
    pub fn check_edges(&mut self) -> Result<(), Box<Ending>> {
        if !self.combination().has_edges_or_kinks {
            return Ok(());
        }
        // A flow that has rested here and leaves all the same has left.
        let may_rest = self.rested != self.stamp.t;
        for p in 0..self.signs.len() {
            let Signs { now: 0, after } = self.signs[p] else { continue };
            let left = self.live_edges(p as u32).find(|e| e.kind.is_left(after));
            if let Some(edge) = left
                && !(may_rest
                    && edge.kind == EdgeKind::NonNegative
                    && self.rests_on_edge(p, |slope| slope >= 0.0))
            {
                return Err(explain::edge(self, edge));
            }
        }
        Ok(())
    }

    /// The value a switch should have from now on.
    pub fn switch_value(&self, s: u32) -> f64 {
        let switch = &self.code.switches[s as usize];
        match &switch.kind {
            SwitchKind::Condition(formula) => f64::from(self.holds_after(formula)),
            SwitchKind::Stair(atom, grid) => {
                let argument = self.env[self.code.atoms[atom.index()].slot as usize];
                let is_met = !self.met_edges[s as usize].is_nan();
                // The ends of a table that is not in force are passed without being met.
                if is_met && !grid.excludes(argument) {
                    self.env[switch.slot.index()]
                } else {
                    grid.locate(argument)
                }
            }
        }
    }

    /// Brings the branches of non-smooth functions into agreement with the present values.
    pub fn settle_switches(&mut self) -> Result<(), Box<Ending>> {
        let most = self.most_changes();
        for attempt in 0..=most {
            // What has changed may be what other branches depend on.
            if !self.changed.is_empty() {
                self.disturb();
                self.record_epoch(false);
                self.refresh_after_change();
            }
            let Some(s) = self.flip_switch() else {
                self.settled();
                return Ok(());
            };
            if attempt == most {
                return if self.rests_between_branches(s) { Ok(()) } else { Err(self.switching_loop(s)) };
            }
        }
        Ok(())
    }

    /// True if a switch goes to and fro only because its atoms are not exactly zero: on their zeros the flow
    /// rests, as that of a tank that runs empty by -max(h, 0)^0.7. The states are put there.
    #[cold]
    fn rests_between_branches(&mut self, s: u32) -> bool {
        let SwitchKind::Condition(formula) = self.code.switches[s as usize].kind.clone() else {
            return false;
        };
        let mut atoms = Vec::new();
        formula.atoms(&mut |a| atoms.push(self.combination().position[a.index()] as usize));
        atoms.retain(|&p| self.signs[p].now == 0);
        let before = (self.env.clone(), self.signs.clone());
        for &p in &atoms {
            self.join_zero(p);
            self.signs[p] = Signs::steady(0);
        }
        let slot = self.code.switches[s as usize].slot.index();
        self.env[slot] = self.switch_value(s);
        let rests = atoms.iter().all(|&p| self.rests_at_zero(p, |slope| slope == 0.0));
        if !rests {
            (self.env, self.signs) = before;
        }
        rests
    }

    /// Gives the first switch that has another value than it should its value.
    fn flip_switch(&mut self) -> Option<u32> {
        let switches = &self.combination().switches;
        let is_wrong = |s: u32| self.switch_value(s) != self.env[self.code.switches[s as usize].slot.index()];
        let s = switches.iter().copied().find(|&s| is_wrong(s))?;
        let slot = self.code.switches[s as usize].slot;
        self.env[slot.index()] = self.switch_value(s);
        self.mark(slot.0);
        self.stats.switchings += 1;
        Some(s)
    }

    pub fn switching_loop(&mut self, s: u32) -> Box<Ending> {
        let text = explain::expression(self, self.code.switches[s as usize].origin);
        let reason = format!("the branch of `{text}` changes back and forth at one point of time");
        let hint = "both branches drive the state back to the edge between them (sliding); smooth the function, or use modes with hysteresis";
        self.ending(Status::ZeroTimeLoop, reason, Some(hint.into()), None)
    }

    pub fn stair_moved(&self, s: usize) -> bool {
        let switch = &self.code.switches[s];
        let SwitchKind::Stair(atom, _) = &switch.kind else { return false };
        self.code.atoms[atom.index()]
            .depends
            .iter()
            .any(|&d| self.is_changed[d as usize] && d != switch.slot.0)
    }
}
