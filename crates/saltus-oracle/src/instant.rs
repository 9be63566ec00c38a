//! A run (sections 6, 7 and 9 of the semantics): the start, the rounds of an instant, its end.

use crate::configuration::Configuration;
use crate::doubt::Doubts;
use crate::evaluate::{JUST_AFTER, JUST_AFTER_CLOSED, Moment, NOW, NOW_CLOSED, Reading};
use crate::round::{Entry, Forced, Round, activate, perform};
use crate::trigger::{Place, trigger};
use crate::{Event, Exact, Halt, Limits, Outcome, Policy, Rational, Status, Unsupported};
use saltus_expr::VarId;
use saltus_model::{Block, Condition, HybridSystem, ModeId, VariableKind};
use std::collections::HashMap;

/// A run in progress.
pub(crate) struct Run<'a> {
    pub system: &'a HybridSystem,
    pub until: Rational,
    pub policy: Policy,
    limits: Limits,
    pub configuration: Configuration,
    stamp: (usize, usize),
    events: Vec<Event>,
    /// The message of the stop condition that was true first in this instant.
    stop: Option<String>,
    cycle: usize,
    pub doubts: Doubts,
}

/// Bits of the longest fraction: those of accumulating events can double with each of them.
const LONGEST: u64 = 1 << 10;

/// The end of a run.
type End = (Status, String);

impl<'a> Run<'a> {
    pub fn new(system: &'a HybridSystem, until: Rational, policy: Policy, limits: Limits) -> Self {
        Self {
            system,
            until,
            policy,
            limits,
            configuration: Configuration::new(system),
            stamp: (0, 0),
            events: vec![],
            stop: None,
            cycle: 0,
            doubts: Doubts::default(),
        }
    }

    pub fn execute(mut self) -> Result<Outcome, Unsupported> {
        match self.go() {
            Ok((status, reason)) => Ok(self.outcome(status, reason)),
            Err(Halt::Failed(reason)) => Ok(self.outcome(Status::Failed, reason)),
            Err(Halt::Unsupported(what)) => Err(Unsupported(what)),
        }
    }

    fn outcome(self, status: Status, reason: String) -> Outcome {
        let moment = Moment::new(self.system, &self.configuration);
        let values = (0..self.system.variables.len()).map(|k| moment.stored(VarId(k as u32))).collect();
        let modes = self.system.modes.iter().map(|m| m.automaton);
        let mut active = vec![None; self.system.automata.len()];
        for (index, automaton) in modes.enumerate().filter(|(k, _)| self.configuration.active[*k]) {
            active[automaton.index()] = Some(ModeId(index as u32));
        }
        let stop = (self.configuration.t.clone(), self.stamp.0, self.stamp.1);
        Outcome {
            status,
            reason,
            stop,
            events: self.events,
            values,
            modes: active,
            cycle: self.cycle,
            doubtful_from: self.doubts.from,
        }
    }

    fn go(&mut self) -> Exact<End> {
        self.start()?;
        loop {
            if let Some(end) = self.instant()? {
                return Ok(end);
            }
            self.pass_time()?;
            self.stamp = (0, 0);
        }
    }

    fn start(&mut self) -> Exact<()> {
        for wanted in [&[VariableKind::Parameter][..], &[VariableKind::State, VariableKind::Memory]] {
            for (index, variable) in self.system.variables.iter().enumerate() {
                if let Some(start) = variable.start.filter(|_| wanted.contains(&variable.kind)) {
                    let value = Moment::new(self.system, &self.configuration).assigned(start)?;
                    self.configuration.values[index] = value;
                }
            }
        }
        activate(self.system, &mut self.configuration, None)?;
        let mut entry = Entry { system: self.system, explicit: vec![], started: vec![] };
        for &automaton in &self.system.root.automata {
            let initial = self.system.automaton(automaton).initial;
            entry.enter(&mut self.configuration, initial, false)?;
        }
        Ok(())
    }

    /// Executes all rounds at this time; the end of the run, if it ends here.
    fn instant(&mut self) -> Exact<Option<End>> {
        let mut seen: HashMap<Configuration, usize> = HashMap::new();
        self.stop = None;
        loop {
            self.arm()?;
            self.note_doubt()?;
            self.read_stops()?;
            if let Some(first) = seen.insert(self.configuration.clone(), self.events.len()) {
                self.cycle = self.events.len() - first;
                let reason = format!("{} events repeat without time passing", self.cycle);
                return Ok(Some((Status::ZeroTimeLoop, reason)));
            }
            if seen.len() > self.limits.rounds_per_instant {
                return Ok(Some((Status::Limit, "too many rounds at one time".into())));
            }
            let mut round = self.next_round()?;
            if round.is_empty() {
                round = self.forced_round()?;
            }
            if round.is_empty() {
                return self.end_of_instant();
            }
            self.take(&round)?;
            if self.events.len() > self.limits.events {
                return Ok(Some((Status::Limit, "too many events".into())));
            }
        }
    }

    /// Sets the flag of every edge whose formula is not true in this configuration.
    fn arm(&mut self) -> Exact<()> {
        for edge in Moment::new(self.system, &self.configuration).false_edges(NOW)? {
            self.configuration.trigger_mut(edge.place).armed = true;
        }
        Ok(())
    }

    fn read_stops(&mut self) -> Exact<()> {
        let moment = Moment::new(self.system, &self.configuration);
        let blocks = self.configuration.active_blocks(self.system);
        for stop in blocks.into_iter().flat_map(|b| &self.system.block(b).stops) {
            if self.stop.is_none() && moment.truth(stop.formula, NOW)? {
                self.stop = Some(stop.message.clone());
            }
        }
        Ok(())
    }

    /// What happens next at this time; the triggers of reactions that occur are used up.
    fn next_round(&mut self) -> Exact<Round> {
        let moment = Moment::new(self.system, &self.configuration);
        let chosen = moment.choose(self.policy, &vec![false; self.system.modes.len()])?;
        let occurring = moment.occurring()?;
        let happening: Vec<Place> = occurring.iter().filter(|o| o.1).map(|o| o.0).collect();
        let round = moment.in_walk_order(&happening, &chosen);
        for (place, _) in occurring {
            self.configuration.trigger_mut(place).consume(trigger(self.system, place));
        }
        Ok(round)
    }

    /// The round that ending invariants force.
    fn forced_round(&self) -> Exact<Round> {
        let moment = Moment::new(self.system, &self.configuration);
        let mut forced: Forced = vec![false; self.system.modes.len()];
        for block in self.failing(&moment, |b| &b.invariants, JUST_AFTER_CLOSED)? {
            self.configuration.walk(self.system, block, &mut |inside| {
                if let Some(m) = inside {
                    forced[m.index()] = true;
                }
            });
            let mut around = block;
            while let Some(m) = around {
                forced[m.index()] = true;
                around = self.system.automaton(self.system.mode(m).automaton).parent;
            }
        }
        let chosen = if forced.contains(&true) { moment.choose(self.policy, &forced)? } else { Vec::new() };
        Ok(moment.in_walk_order(&[], &chosen))
    }

    /// The active blocks of which one of the given conditions is not true in the given reading.
    fn failing(
        &self,
        moment: &Moment,
        conditions: impl Fn(&Block) -> &Vec<Condition>,
        reading: Reading,
    ) -> Exact<Vec<Option<ModeId>>> {
        let mut found = vec![];
        for block in self.configuration.active_blocks(self.system) {
            for condition in conditions(self.system.block(block)) {
                if !moment.truth(condition.formula, reading)? && found.last() != Some(&block) {
                    found.push(block);
                }
            }
        }
        Ok(found)
    }

    fn take(&mut self, round: &Round) -> Exact<()> {
        let result = perform(self.system, &self.configuration, round)?;
        self.configuration = result.configuration;
        self.check_length()?;
        self.stamp =
            if result.assigns_state { (self.stamp.0 + 1, 0) } else { (self.stamp.0, self.stamp.1 + 1) };
        let (n, i) = self.stamp;
        self.events.extend(result.events.into_iter().map(|e| Event { n, i, ..e }));
        Ok(())
    }

    /// Refuses to go on with fractions that have become so long that every operation is slow.
    fn check_length(&self) -> Exact<()> {
        let Configuration { t, values, .. } = &self.configuration;
        if values.iter().chain([t]).any(|value| value.bits() > LONGEST) {
            return Err(Halt::Unsupported(format!("a fraction of more than {LONGEST} bits")));
        }
        Ok(())
    }

    fn end_of_instant(&self) -> Exact<Option<End>> {
        let moment = Moment::new(self.system, &self.configuration);
        let blocks = |found: Vec<Option<ModeId>>| {
            let names: Vec<String> =
                found.iter().map(|b| b.map_or("the model".into(), |m| self.system.mode_path(m))).collect();
            names.join(", ")
        };
        if let Some(message) = &self.stop {
            return Ok(Some((Status::Stopped, message.clone())));
        }
        let broken = self.failing(&moment, |b| &b.invariants, NOW_CLOSED)?;
        if !broken.is_empty() {
            return Ok(Some((Status::Blocked, format!("invariant of {} does not hold", blocks(broken)))));
        }
        if self.configuration.t == self.until {
            return Ok(Some((Status::Finished, String::new())));
        }
        let ending = self.failing(&moment, |b| &b.invariants, JUST_AFTER_CLOSED)?;
        if !ending.is_empty() {
            return Ok(Some((Status::Blocked, format!("invariant of {} ends", blocks(ending)))));
        }
        let leaving = self.failing(&moment, |b| &b.domains, JUST_AFTER)?;
        if !leaving.is_empty() {
            return Ok(Some((Status::LeftDomain, format!("domain of {} ends", blocks(leaving)))));
        }
        Ok(None)
    }

    /// True if something in section 8 of the semantics is so in the present configuration.
    pub fn is_instant(&self) -> Exact<bool> {
        if self.configuration.t == self.until {
            return Ok(true);
        }
        let moment = Moment::new(self.system, &self.configuration);
        if !moment.choose(self.policy, &vec![false; self.system.modes.len()])?.is_empty()
            || !moment.occurring()?.is_empty()
            || !self.failing(&moment, |b| &b.invariants, JUST_AFTER_CLOSED)?.is_empty()
            || !self.failing(&moment, |b| &b.domains, JUST_AFTER)?.is_empty()
        {
            return Ok(true);
        }
        let blocks = self.configuration.active_blocks(self.system);
        for stop in blocks.into_iter().flat_map(|b| &self.system.block(b).stops) {
            if moment.truth(stop.formula, NOW)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
