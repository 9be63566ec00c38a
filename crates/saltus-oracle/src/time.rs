//! The passing of time (section 8 of the semantics).
//!
//! Truth can change only where an atom is zero or a trigger ticks. These critical times are known
//! in advance, so each of them, and the middle of the gap before it, is simply looked at.

use crate::configuration::Configuration;
use crate::doubt::is_tiny;
use crate::evaluate::{JUST_AFTER, Moment};
use crate::instant::Run;
use crate::polynomial::Polynomial;
use crate::trigger::{Edge, Place};
use crate::{Exact, Halt, Rational};
use saltus_expr::Expr;
use saltus_model::{Trigger, VariableKind};
use std::collections::HashSet;

impl Run<'_> {
    /// Lets states flow to the next instant.
    pub fn pass_time(&mut self) -> Exact<()> {
        self.configuration.forget_ticks();
        loop {
            self.flow_to_critical_time()?;
            if self.is_instant()? {
                return Ok(());
            }
        }
    }

    fn flow_to_critical_time(&mut self) -> Exact<()> {
        let begin = self.configuration.clone();
        let moment = Moment::new(self.system, &begin);
        let Critical { time: next, ticks, in_doubt } = next_critical_time(&moment, &self.until)?;
        self.doubts.pass_time(ticks);
        let middle = (&begin.t + &next) / crate::rational(2, 1);
        self.flow_to(&begin, &moment, middle)?;
        self.note_edges_between(&moment.edges())?;
        self.flow_to(&begin, &moment, next)?;
        if in_doubt {
            self.doubt();
        }
        Ok(())
    }

    /// Moves time and states along the flow that began in `begin`; flags stay as they are.
    fn flow_to(&mut self, begin: &Configuration, moment: &Moment, time: Rational) -> Exact<()> {
        let flow = moment.flow()?;
        let passed = &time - &begin.t;
        for v in self.system.variables_of(VariableKind::State) {
            self.configuration.values[v.index()] = flow[v.index()].at(&passed);
        }
        self.configuration.t = time;
        Ok(())
    }

    /// Inside a gap: an edge that is false is armed; a transition's edge that is true is over.
    fn note_edges_between(&mut self, edges: &[Edge]) -> Exact<()> {
        let frozen = self.configuration.clone();
        let moment = Moment::new(self.system, &frozen);
        for edge in edges {
            if !moment.truth(edge.formula, JUST_AFTER)? {
                self.configuration.trigger_mut(edge.place).armed = true;
            } else if matches!(edge.place, Place::Transition(..)) {
                self.configuration.trigger_mut(edge.place).armed = false;
            }
        }
        Ok(())
    }
}

/// A time at which something may become true or false.
struct Critical {
    time: Rational,
    /// How many different ticks there are, the stop time among them.
    ticks: usize,
    /// Another one follows so closely that rounding may exchange them.
    in_doubt: bool,
}

/// The first critical time after the present one; at the latest the stop time.
fn next_critical_time(moment: &Moment, until: &Rational) -> Exact<Critical> {
    let t = &moment.configuration.t;
    let mut atoms = vec![];
    for formula in formulas(moment) {
        moment.atoms(formula, &mut atoms)?;
    }
    let mut ticks = tick_times(moment)?;
    ticks.push(Tick { time: until.clone(), origin: None });
    let mut times: Vec<Rational> = ticks.iter().map(|tick| tick.time.clone()).collect();
    let mut unsolved: Vec<Polynomial> = vec![];
    for (_, atom) in atoms {
        let roots = atom.positive_roots();
        times.extend(roots.rational.into_iter().map(|h| t + h));
        unsolved.extend(roots.unsolved);
    }
    let next = times.iter().fold(until, Ord::min).clone();
    if unsolved.iter().any(|p| p.has_root_until(&(&next - t))) {
        return Err(Halt::Unsupported("an event time that is not rational".into()));
    }
    let in_doubt = times.iter().any(|time| is_tiny(&(time - &next)));
    ticks.retain(|tick| tick.time == next);
    let different: HashSet<&Option<_>> = ticks.iter().map(|tick| &tick.origin).collect();
    Ok(Critical { ticks: different.len(), time: next, in_doubt })
}

/// All formulas of the active blocks.
pub(crate) fn formulas(moment: &Moment) -> Vec<Expr> {
    let mut found = vec![];
    let guard = |trigger: &Trigger| match *trigger {
        Trigger::When(g) | Trigger::Rises(g) => Some(g),
        _ => None,
    };
    for block in moment.configuration.active_blocks(moment.system) {
        let content = moment.system.block(block);
        for reaction in &content.reactions {
            found.extend(guard(&reaction.trigger).into_iter().chain(reaction.condition));
        }
        found.extend(content.invariants.iter().chain(&content.domains).map(|c| c.formula));
        found.extend(content.stops.iter().map(|s| s.formula));
        for transition in block.map_or(&[][..], |m| &moment.system.mode(m).transitions) {
            found.extend(guard(&transition.trigger).into_iter().chain(transition.condition));
        }
    }
    found
}

/// The next tick of a trigger.
struct Tick {
    time: Rational,
    /// The entry time and the delay or period it is computed from; equal ones round equally.
    origin: Option<(Rational, Option<Rational>)>,
}

fn tick_times(moment: &Moment) -> Exact<Vec<Tick>> {
    let mut times = vec![];
    for (block, trigger, state) in moment.triggers() {
        if let Some(time) = moment.next_tick(block, trigger, state)? {
            let entry = moment.configuration.block_entry(block);
            times.push(Tick { time, origin: Some((entry, state.timing.clone())) });
        }
    }
    Ok(times)
}
