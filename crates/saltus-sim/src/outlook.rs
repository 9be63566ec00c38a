//! What is known of the guards of a crowd beyond the step: until when each keeps its sign.
//!
//! A jump mostly touches few of many quantities, and most guards are far from zero for longer than
//! a step. So what a survey finds of a guard is kept until its time is over or an argument of it
//! leaves its course; see [`Courses`].

use crate::combination::Combination;
use crate::compile::Signs;
use crate::kept::Kept;
use crate::sift::list_between;
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
    /// The time until which each function of the bank keeps its sign, and what the last survey found of those
    /// that may be zero.
    until: Vec<f64>,
    known: Vec<Found>,
    /// Functions to be bounded anew, and those that may be zero.
    open: Vec<u32>,
    near: Vec<u32>,
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
    ) {
        let Combination { bank: Some(bank), jets, guards, kept, .. } = combination else { return };
        let is_kept = kept.as_ref().is_some_and(Kept::is_known);
        // Where polynomials were kept, courses are those no more.
        let is_left = !is_kept && self.courses.are_exact();
        let is_new = self.combination != Some(current) || self.until.len() != guards.len() || is_left;
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
                kept.settle_renewed();
            }
            None => self.follow((bank, jets.as_ref()), span, tolerance),
        }
        self.seen = 0;
    }

    /// True if the step was looked at up to a place in units of the jets.
    pub fn has_seen(&self, place: f64) -> bool {
        self.seen == WINDOWS.len() || place * self.last.unit <= self.seen_length()
    }

    fn seen_length(&self) -> f64 {
        self.seen.checked_sub(1).map_or(0.0, |last| WINDOWS[last] * self.last.length)
    }

    fn seen_end(&self) -> f64 {
        self.last.time[0] + self.seen_length()
    }

    /// Looks at the next part of the step. Tells the guards that may be zero there; all others keep their signs
    /// throughout. Returns a guard that has no value, if there is any.
    pub fn look(
        &mut self,
        combination: &mut Combination,
        signs: &[Signs],
        tell: impl FnMut(usize, Near),
    ) -> Option<usize> {
        let undefined = self.look_ahead(combination, signs);
        self.look_at_step(combination, signs, tell);
        self.near.clear();
        undefined
    }

    /// Looks at the whole step, as a proof needs it: the step is made so short that something is likely to happen
    /// in the last part of it that was looked at. Tells its length, too.
    pub fn look_at_all(
        &mut self,
        combination: &mut Combination,
        signs: &[Signs],
        tell: impl FnMut(usize, Near),
    ) -> (Option<usize>, f64) {
        let mut undefined = self.look_ahead(combination, signs);
        while self.seen < WINDOWS.len() && !self.expects_event() {
            undefined = undefined.or(self.look_ahead(combination, signs));
        }
        self.last.length = self.seen_length();
        self.seen = WINDOWS.len();
        self.look_at_step(combination, signs, tell);
        self.near.clear();
        (undefined, self.last.length)
    }

    /// True if the parabola of a guard is zero within what was looked at.
    fn expects_event(&self) -> bool {
        let share = self.seen_length() / self.last.unit;
        self.near.iter().any(|&function| self.known[function as usize].is_likely_zero(share))
    }

    /// Looks at the next part of the step: bounds the guards that are not known for as long, as far as the unit
    /// goes, and finds those of them that may be zero. Returns one that has no value.
    fn look_ahead(&mut self, combination: &mut Combination, signs: &[Signs]) -> Option<usize> {
        let Combination { bank: Some(bank), guards, .. } = combination else { return None };
        let from = if self.seen == 0 { f64::NEG_INFINITY } else { self.seen_end() };
        self.seen += 1;
        let end = self.seen_end();
        let Outlook { courses, open, near, until, known, last, .. } = self;
        list_between(until, [from, end], open);
        let Span { time: [t, _], unit, .. } = *last;
        let start = t - ROUNDING * (t.abs() + unit);
        let mut undefined = None;
        courses.survey(bank, open, |function, told| {
            let p = guards[function as usize] as usize;
            let Some(signs) = signs.get(p) else { return };
            // A value that contradicts the sign is zero within rounding.
            let place = if f64::from(signs.now) * told.value() > 0.0 { told.place() } else { 0.0 };
            let (until, new) = (&mut until[function as usize], start + place * unit);
            let before = *until;
            if new > before {
                *until = new;
            }
            // Others of its unit were not asked for.
            if new < end && before >= from && before < end {
                near.push(function);
                known[function as usize] = told.found();
                undefined = undefined.or(told.value().is_nan().then_some(p));
            }
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
        let Combination { bank: Some(bank), jets, guards, kept, has_edges_or_kinks, .. } = combination else {
            return;
        };
        let Span { time, length, unit } = self.last;
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
            if let Some(kept) = kept {
                let arguments = near.iter().flat_map(|&function| bank.arguments_of(function as usize));
                for argument in arguments.map(|argument| argument as usize) {
                    courses.set_on_step(argument, kept.radius_until(argument, time[0] + length));
                }
            }
        }
        courses.survey_step(bank, jets.arena(), ratio, near, |function, told| {
            if let Some((p, near)) = judge(function, told.found()) {
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
