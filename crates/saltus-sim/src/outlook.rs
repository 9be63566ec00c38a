//! What is known of the guards of a crowd beyond the step: until when each keeps its sign.
//!
//! A jump mostly touches few of many quantities, and most guards are far from zero for longer than
//! a step. So what a survey finds of a guard is kept until its time is over or an argument of it
//! leaves its course; see [`Courses`].

use crate::combination::Combination;
use crate::compile::Signs;
use crate::sift::{list_below, part_below};
use saltus_expr::jet::{Bank, Courses, Found, Jets};
use saltus_solve::taylor::Tolerance;

/// Times are rounded by less than this share of them.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Shares of a step that are looked at one after another, until an event is found: what is behind it
/// need not be known yet, and is likely to be changed by it.
const WINDOWS: [f64; 2] = [0.5, 1.0];

/// How long guards keep their signs.
#[derive(Debug, Default)]
pub(crate) struct Outlook {
    /// The combination it is for.
    combination: Option<usize>,
    courses: Courses,
    /// The step of the last survey, and how many of its windows were looked at.
    last: Span,
    seen: usize,
    /// The time until which each function of the bank keeps its sign, and what the last survey found of it.
    until: Vec<f64>,
    known: Vec<Found>,
    /// Functions whose time ends behind what was looked at of the step: as an earlier survey has found, and
    /// as that of this step.
    due: Vec<u32>,
    later: Vec<u32>,
    /// Functions to be bounded anew, and those that may be zero.
    open: Vec<u32>,
    near: Vec<u32>,
    /// Functions to be listed.
    found: Vec<u32>,
}

/// What is known of a guard that may be zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    /// Before this place, in units of the jets, it keeps its sign.
    pub place: f64,
    /// How far it may be off its polynomial.
    pub error: f64,
    /// How fast it changes at the start of the step.
    pub speed: f64,
}

/// A step to look at: time as a sum of two numbers, the unit of the jets, and its length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub time: [f64; 2],
    pub unit: f64,
    pub length: f64,
}

impl Outlook {
    /// How far the arguments of the bank may be off their polynomials for what was found to be so.
    pub fn slack(&self) -> &[f64] {
        self.courses.slack()
    }

    /// Forgets everything, as it must when other jets are to come.
    pub fn forget(&mut self) {
        self.combination = None;
    }

    /// Begins a step: forgets what is no longer so.
    pub fn begin(
        &mut self,
        (current, combination): (usize, &mut Combination),
        span: Span,
        tolerance: Tolerance,
        is_proof: bool,
    ) {
        let Combination { bank: Some(bank), jets, guards, kept, .. } = combination else { return };
        let is_new = self.combination != Some(current) || self.until.len() != guards.len();
        if is_new {
            self.courses.reset(bank, jets.as_ref());
            self.until.clear();
            let until = |&p: &u32| if p == u32::MAX { f64::INFINITY } else { f64::MIN };
            self.until.extend(guards.iter().map(until));
            self.known.resize(guards.len(), Found::default());
            (self.combination, self.last) = (Some(current), span);
        }
        // What was composed is of an earlier step.
        bank.choose_none();
        match kept.as_mut().filter(|kept| kept.is_known()) {
            Some(kept) => {
                self.last = span;
                if is_new {
                    kept.renew_all();
                }
                self.take((bank, jets.as_ref()), kept.renewed_arguments());
                if is_proof {
                    let end = span.time[0] + span.length;
                    kept.radii_until(end, |argument, radius| self.courses.set_on_step(argument, radius));
                }
                kept.settle_renewed();
            }
            None => self.follow((bank, jets.as_ref()), span, tolerance),
        }
        self.seen = 0;
        self.later.clear();
        let (first, end) = (span.time[0] + WINDOWS[0] * span.length, span.time[0] + span.length);
        list_below(&self.until, end, &mut self.found);
        self.open.clear();
        self.due.clear();
        part_below(&self.until, &self.found, [first, end], [&mut self.open, &mut self.due]);
    }

    /// True if the step was looked at up to a place in units of the jets.
    pub fn has_seen(&self, place: f64) -> bool {
        self.seen == WINDOWS.len() || place * self.last.unit <= self.seen_length()
    }

    fn seen_length(&self) -> f64 {
        self.seen.checked_sub(1).map_or(0.0, |last| WINDOWS[last] * self.last.length)
    }

    /// Looks at the next part of the step, or at all that is left of it. Tells the guards that may be
    /// zero there; all others keep their signs throughout. Returns a guard that has no value, if there is any.
    pub fn look(
        &mut self,
        combination: &mut Combination,
        signs: &[Signs],
        all: bool,
        tell: impl FnMut(usize, Near),
    ) -> Option<usize> {
        let Combination { bank: Some(bank), guards, .. } = combination else { return None };
        self.seen = if all { WINDOWS.len() } else { self.seen + 1 };
        let end = self.last.time[0] + self.seen_length();
        let step_end = self.last.time[0] + self.last.length;
        if self.seen > 1 {
            let Outlook { until, due, open, later, near, found, .. } = self;
            for (from, to) in [(due, open), (later, near)] {
                std::mem::swap(from, found);
                from.clear();
                part_below(until, found, [end, step_end], [to, from]);
            }
        }
        let undefined = self.look_ahead((bank, guards), signs);
        let Outlook { until, open, later, near, .. } = self;
        part_below(until, open, [end, step_end], [near, later]);
        open.clear();
        self.look_at_step(combination, signs, tell);
        self.near.clear();
        undefined
    }

    /// Some parts of the flow were expanded anew where the step begins, so that some guards are known better on
    /// it: tells what is known of these. What was found of all guards on the step still holds.
    pub fn look_again(
        &mut self,
        combination: &mut Combination,
        signs: &[Signs],
        atoms: &[usize],
        tell: impl FnMut(usize, Near),
    ) {
        let Combination { bank: Some(bank), banked, kept: Some(kept), .. } = combination else { return };
        let Outlook { courses, until, last, .. } = self;
        courses.renew(kept.renewed_arguments(), |argument| forget_readers(bank, argument, until));
        let end = last.time[0] + last.length;
        kept.radii_until(end, |argument, radius| courses.set_on_step(argument, radius));
        kept.settle_renewed();
        self.near.extend(atoms.iter().map(|&p| banked[p]));
        self.look_at_step(combination, signs, tell);
        self.near.clear();
    }

    /// Bounds the open guards as far as the unit goes. Returns one that has no value.
    fn look_ahead(&mut self, (bank, guards): (&mut Bank, &[u32]), signs: &[Signs]) -> Option<usize> {
        let Span { time: [t, _], unit, .. } = self.last;
        let start = t - ROUNDING * (t.abs() + unit);
        let mut undefined = None;
        let known = &mut self.known;
        self.courses.survey(bank, &self.open, |function, found| {
            known[function as usize] = found;
            let p = guards[function as usize] as usize;
            let Some(signs) = signs.get(p) else { return };
            // A value that contradicts the sign is zero within rounding.
            let place = if f64::from(signs.now) * found.value() > 0.0 { found.place } else { 0.0 };
            let (until, new) = (&mut self.until[function as usize], start + place * unit);
            if new > *until {
                *until = new;
            }
            undefined = undefined.or(found.value().is_nan().then_some(p));
        });
        undefined
    }

    /// Bounds the guards that are near to zero on the step alone. If the courses are the polynomials of the step,
    /// what was found up to the unit tells it; but of these it is known better on the step how far the flow may be
    /// off them, and polynomials that are not the courses are better known themselves. Other guards of their units
    /// may come with them then.
    fn look_at_step(
        &mut self,
        combination: &mut Combination,
        signs: &[Signs],
        mut tell: impl FnMut(usize, Near),
    ) {
        // Where a function leaves its edge, more is asked than the sign.
        let Combination { bank: Some(bank), jets, guards, has_edges_or_kinks, .. } = combination else {
            return;
        };
        let Span { length, unit, .. } = self.last;
        let (ratio, is_proof) = (length / unit, bank.counts_rounding());
        let judge = |function: u32, found: Found| {
            let p = guards[function as usize] as usize;
            let signs = signs.get(p)?;
            let has_sign = f64::from(signs.now) * found.value() > 0.0;
            let keeps = match signs.now {
                0 => !*has_edges_or_kinks && f64::from(signs.after) * found.sign_behind_zero() > 0.0,
                _ => has_sign && found.place >= 1.0,
            };
            let place = if has_sign { found.place * ratio } else { 0.0 };
            let near = Near { place, error: found.error(), speed: found.slope().abs() / length };
            (!keeps).then_some((p, near))
        };
        let Outlook { courses, near, known, .. } = self;
        if courses.are_exact() {
            let on_step = |function: u32| judge(function, known[function as usize].on_part(ratio));
            if !is_proof {
                near.iter().filter_map(|&function| on_step(function)).for_each(|(p, near)| tell(p, near));
                return;
            }
            near.retain(|&function| on_step(function).is_some());
        }
        courses.survey_step(bank, jets.arena(), ratio, near, |function, found| {
            if let Some((p, near)) = judge(function, found) {
                tell(p, near);
            }
        });
    }

    /// Compares the courses with the jets; what was known of guards whose arguments leave theirs is
    /// forgotten.
    fn follow(&mut self, (bank, jets): (&Bank, &dyn Jets), span: Span, tolerance: Tolerance) {
        let Span { time: [t, low], unit, length } = span;
        let last = std::mem::replace(&mut self.last, span);
        if last.unit != unit {
            self.courses.rescale(unit / last.unit);
        }
        let past = ((t - last.time[0]) + (low - last.time[1])) / unit;
        let until = &mut self.until;
        let left = |argument| forget_readers(bank, argument, until);
        self.courses.follow(bank, jets, [past, length / unit], |value| tolerance.of(value), left);
    }

    /// Takes the polynomials of the jets for courses. What was known of guards with arguments whose
    /// polynomials are new is forgotten.
    fn take(&mut self, (bank, jets): (&Bank, &dyn Jets), renewed: impl Iterator<Item = (usize, f64)>) {
        let until = &mut self.until;
        self.courses.take(bank, jets, renewed, |argument| forget_readers(bank, argument, until));
    }
}

/// Forgets until when the functions keep their signs that read an argument.
fn forget_readers(bank: &Bank, argument: usize, until: &mut [f64]) {
    for &function in bank.readers(argument) {
        let until = &mut until[function as usize];
        if *until < f64::INFINITY {
            *until = f64::MIN;
        }
    }
}
