//! Where arithmetic that rounds may decide otherwise.
//!
//! The oracle decides exactly, an engine with rounded numbers. Both must agree except where a
//! decision hangs on less than rounding: a distance that is not zero but tiny, or things that
//! coincide exactly although numbers that are no doubles led there. The first such time is part of
//! the outcome, so that a comparison can tell a doubt from a mistake.

use crate::evaluate::Moment;
use crate::instant::Run;
use crate::polynomial::Polynomial;
use crate::time::formulas;
use crate::{Exact, Rational, rational};
use saltus_expr::Expr;
use saltus_model::{Assigned, VariableKind};

/// An atom, by its two sides in a fixed order, and their difference along the flow.
pub(crate) type Atom = ((Expr, Expr), Polynomial);

/// Distances below this are within the reach of rounding errors: thousands of units in the last
/// place of the numbers that occur.
fn reach() -> Rational {
    rational(1, 1 << 32)
}

/// True if the number is not zero but within the reach of rounding errors.
pub(crate) fn is_tiny(distance: &Rational) -> bool {
    !distance.is_zero() && distance.abs() < reach()
}

/// What matters for doubts in a run.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// The first time in doubt.
    pub from: Option<Rational>,
    /// How many different ticks there are at the present time.
    ticks: usize,
    /// A number was met that is no double, so that an engine has rounded.
    rounded: bool,
    /// Atoms that were zero at the present time, in this configuration or an earlier one.
    zeros: Vec<(Expr, Expr)>,
}

impl Doubts {
    /// Time has passed.
    pub fn pass_time(&mut self, ticks: usize) {
        self.ticks = ticks;
        self.zeros.clear();
    }
}

impl Run<'_> {
    /// From here on the outcome is in doubt.
    pub fn doubt(&mut self) {
        self.doubts.from.get_or_insert_with(|| self.configuration.t.clone());
    }

    /// Looks for decisions of the present configuration that rounding may turn.
    pub fn note_doubt(&mut self) -> Exact<()> {
        if self.doubts.from.is_none() && self.is_doubtful()? {
            self.doubt();
        }
        Ok(())
    }

    fn is_doubtful(&mut self) -> Exact<bool> {
        let moment = Moment::new(self.system, &self.configuration);
        let mut atoms: Vec<Atom> = vec![];
        for decision in formulas(&moment).into_iter().chain(assigned(&moment)) {
            moment.atoms(decision, &mut atoms)?;
        }
        if atoms.iter().any(|(_, g)| g.coefficients().iter().any(is_tiny)) {
            return Ok(true);
        }
        let t = &self.configuration.t;
        if moment.absolute_ticks()?.iter().any(|tick| is_tiny(&(tick - t))) {
            return Ok(true);
        }
        for (sides, _) in atoms.into_iter().filter(|(_, g)| g.start().is_zero()) {
            if !self.doubts.zeros.contains(&sides) {
                self.doubts.zeros.push(sides);
            }
        }
        self.doubts.rounded |= !self.is_in_doubles();
        Ok(self.doubts.rounded && self.doubts.zeros.len() + self.doubts.ticks > 1)
    }

    /// True if time and all states are doubles.
    fn is_in_doubles(&self) -> bool {
        let mut states = self.system.variables_of(VariableKind::State);
        self.configuration.t.is_double() && states.all(|v| self.configuration.values[v.index()].is_double())
    }
}

/// What the rules of the active blocks assign: a formula in it decides like a guard.
fn assigned(moment: &Moment) -> Vec<Expr> {
    let mut found = vec![];
    for block in moment.configuration.active_blocks(moment.system) {
        let reactions = &moment.system.block(block).reactions;
        let transitions = block.map_or(&[][..], |m| &moment.system.mode(m).transitions);
        let actions = reactions.iter().map(|r| &r.actions).chain(transitions.iter().map(|t| &t.actions));
        for assignment in actions.flatten() {
            match assignment.value {
                Assigned::Value(e) => found.push(e),
                Assigned::Interval(low, high) => found.extend([low, high]),
            }
        }
    }
    found
}
