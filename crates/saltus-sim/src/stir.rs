//! Which rules an instant has to look at.
//!
//! A rule whose atoms have the signs they had at the last instant does what it did then: nothing. So
//! an instant looks at the rules that read an atom with another sign, or one that is zero now, and at
//! those that depend on more than atoms.

use crate::combination::{Combination, Watch};
use crate::compile::Signs;
use crate::sift::{sift, sift_pairs};

/// So few rules are always looked at.
const FEW: usize = 8;

/// The rules of a combination that are to be looked at, by position in its walk.
#[derive(Debug, Default)]
pub(crate) struct Stirred {
    positions: Vec<u32>,
    is_stirred: Vec<bool>,
    /// The combination, and the signs when the rules were looked at last.
    seen: Option<(usize, Vec<Signs>)>,
    /// Atoms that have been zero in this instant, or not known.
    passing: Vec<usize>,
}

impl Stirred {
    /// The positions in the order of the walk.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// Adds the rules whose atoms have changed; all rules of another combination.
    pub fn stir(&mut self, current: usize, combination: &Combination, signs: &[Signs]) {
        let count = combination.rules.len();
        if count <= FEW {
            self.seen = None;
            if self.positions.len() != count {
                self.positions.clear();
                self.positions.extend(0..count as u32);
            }
            return;
        }
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != current) {
            self.positions.clear();
            self.positions.extend(0..count as u32);
            self.is_stirred.clear();
            self.is_stirred.resize(count, true);
            self.passing.clear();
            sift(signs, |signs| !signs.is_firm(), |p| self.passing.push(p));
        } else {
            let before = self.positions.len();
            for &position in &combination.volatile {
                self.add(position);
            }
            let (_, seen) = self.seen.take().unwrap_or_default();
            let differs = |signs: &Signs, seen: &Signs| signs.differs(*seen);
            sift_pairs(signs, &seen, differs, |p| {
                self.stir_watchers(combination, p);
                self.passing.extend((!signs[p].is_firm()).then_some(p));
            });
            self.seen = Some((current, seen));
            if self.positions.len() > before {
                self.positions.sort_unstable();
            }
        }
        let (_, mut seen) = self.seen.take().unwrap_or_default();
        seen.clear();
        seen.extend_from_slice(signs);
        self.seen = Some((current, seen));
    }

    fn stir_watchers(&mut self, combination: &Combination, p: usize) {
        for &w in &combination.watchers[p] {
            if let Watch::Rule(r) = combination.watches[w as usize] {
                self.add(combination.rule_positions[r as usize]);
            }
        }
    }

    /// Modes were entered, which sets flags of edges anew: all rules are to be looked at.
    pub fn forget(&mut self) {
        self.seen = None;
        self.positions.clear();
    }

    /// Time is about to pass: all rules are settled for the signs just after now. An atom that is zero
    /// then too stirs its rules at each instant.
    pub fn settle(&mut self) {
        let Some((_, seen)) = &mut self.seen else { return };
        self.positions.drain(..).for_each(|position| self.is_stirred[position as usize] = false);
        for p in self.passing.drain(..) {
            seen[p] = if seen[p].after == 0 { Signs::UNREAD } else { seen[p].settled() };
        }
    }

    fn add(&mut self, position: u32) {
        if !std::mem::replace(&mut self.is_stirred[position as usize], true) {
            self.positions.push(position);
        }
    }
}
