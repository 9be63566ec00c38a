//! What is known of the guards of a crowd beyond the step: until when each keeps its sign.
//!
//! A jump mostly touches few of many quantities, and most guards are far from zero for longer than
//! a step. So what a survey finds of a guard is kept until its time is over or an argument of it
//! leaves its course; see [`Courses`].

use crate::combination::Combination;
use crate::compile::Signs;
use crate::guards::sign_of;
use saltus_expr::jet::{Bank, Courses, Found, Jets};
use saltus_solve::taylor::Tolerance;

/// Times are rounded by less than this share of them.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Signs of guards and how long they are kept.
#[derive(Debug, Default)]
pub(crate) struct Outlook {
    /// The combination it is for.
    combination: Option<usize>,
    courses: Courses,
    /// The step of the last survey.
    last: Span,
    /// By active atom, the sign it keeps and the time until it does.
    signs: Vec<i8>,
    until: Vec<f64>,
    /// Atoms to be bounded anew.
    open: Vec<u32>,
}

/// A step to look at: time as a sum of two numbers, the unit of the jets, and its length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub time: [f64; 2],
    pub unit: f64,
    pub length: f64,
}

impl Outlook {
    /// Finds places on the step, in units of the jets, before which the guards of the crowd keep their
    /// signs: infinite if that is known, else by bounds from the jets at the start. Returns a guard
    /// that has no value, if there is any.
    pub fn survey(
        &mut self,
        (current, combination): (usize, &mut Combination),
        signs: &[Signs],
        span: Span,
        tolerance: Tolerance,
        places: &mut Vec<f64>,
    ) -> Option<usize> {
        let Combination { bank, jets, banked, guards, .. } = combination;
        let bank = bank.as_mut()?;
        if self.combination != Some(current) || self.until.len() != signs.len() {
            self.courses.reset(bank, jets.order());
            self.signs.clear();
            self.signs.resize(signs.len(), 0);
            self.until.clear();
            self.until.resize(signs.len(), f64::NEG_INFINITY);
            (self.combination, self.last) = (Some(current), span);
        }
        self.follow((bank, jets.as_ref(), guards), span, tolerance);
        self.look_ahead((bank, banked), signs, span);
        places.resize(signs.len(), f64::INFINITY);
        self.look_at_step((bank, banked), signs, span, places)
    }

    /// Bounds the guards that are not known to keep their signs on the step, as far as the unit goes;
    /// those of which that is still not known stay open.
    fn look_ahead(&mut self, (bank, banked): (&mut Bank, &[u32]), signs: &[Signs], span: Span) {
        let Outlook { courses, open, until, signs: kept, .. } = self;
        let Span { time: [t, _], unit, length } = span;
        let end = t + length;
        bank.choose_none();
        open.clear();
        for (p, ((&until, &kept), sign)) in until.iter().zip(&*kept).zip(signs).enumerate() {
            if until < end || kept != sign.now {
                open.push(p as u32);
            }
        }
        open.retain(|&p| banked[p as usize] != u32::MAX);
        open.iter().for_each(|&p| bank.choose(banked[p as usize] as usize));
        courses.survey(bank);
        let start = t - ROUNDING * (t.abs() + unit);
        for p in open.iter().map(|&p| p as usize) {
            let Found { value, place } = bank.found()[banked[p] as usize];
            kept[p] = sign_of(value);
            until[p] = start + place * unit;
        }
        open.retain(|&p| until[p as usize] < end || kept[p as usize] != signs[p as usize].now);
    }

    /// Bounds the open guards by what is known of the step alone, which is more.
    fn look_at_step(
        &mut self,
        (bank, banked): (&mut Bank, &[u32]),
        signs: &[Signs],
        span: Span,
        places: &mut [f64],
    ) -> Option<usize> {
        let ratio = span.length / span.unit;
        self.open.iter().for_each(|&p| bank.choose(banked[p as usize] as usize));
        self.courses.survey_step(bank, ratio);
        let mut undefined = None;
        for p in self.open.iter().map(|&p| p as usize) {
            let Found { value, place } = bank.found()[banked[p] as usize];
            let keeps = sign_of(value) == signs[p].now && signs[p].now != 0;
            places[p] = match keeps {
                true if place >= 1.0 => f64::INFINITY,
                true => place * ratio,
                false => 0.0,
            };
            undefined = undefined.or(value.is_nan().then_some(p));
        }
        undefined
    }

    /// Compares the courses with the jets; what was known of guards whose arguments leave theirs is
    /// forgotten.
    fn follow(&mut self, (bank, jets, guards): (&Bank, &dyn Jets, &[u32]), span: Span, tolerance: Tolerance) {
        let Span { time: [t, low], unit, length } = span;
        let last = std::mem::replace(&mut self.last, span);
        if last.unit != unit {
            self.courses.rescale(unit / last.unit);
        }
        let past = ((t - last.time[0]) + (low - last.time[1])) / unit;
        let slack = |value: f64| tolerance.absolute + tolerance.relative * value.abs();
        self.courses.follow(bank, jets, [past, length / unit], slack, |argument| {
            for &function in bank.readers(argument) {
                if let Some(until) = self.until.get_mut(guards[function as usize] as usize) {
                    *until = f64::NEG_INFINITY;
                }
            }
        });
    }
}
