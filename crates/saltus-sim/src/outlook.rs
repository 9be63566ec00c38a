//! What is known of the guards of a crowd beyond the step: until when each keeps its sign.
//!
//! A jump mostly touches few of many quantities, and most guards are far from zero for longer than
//! a step. So what a survey finds of a guard is kept until its time is over or an argument of it
//! leaves its course; see [`Courses`].

use crate::combination::Combination;
use crate::compile::Signs;
use crate::guards::sign_of;
use crate::sift::sift;
use saltus_expr::jet::{Bank, Courses, Found, Jets};
use saltus_solve::taylor::Tolerance;

/// Times are rounded by less than this share of them.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// How long guards keep their signs.
#[derive(Debug, Default)]
pub(crate) struct Outlook {
    /// The combination it is for.
    combination: Option<usize>,
    courses: Courses,
    /// The step of the last survey.
    last: Span,
    /// The time until which each function of the bank keeps its sign.
    until: Vec<f64>,
    /// Functions to be bounded anew.
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
    /// How far the arguments of the bank may be off their polynomials for what was found to be so.
    pub fn slack(&self) -> &[f64] {
        self.courses.slack()
    }

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
        let Combination { bank, jets, guards, .. } = combination;
        let bank = bank.as_mut()?;
        if self.combination != Some(current) || self.until.len() != guards.len() {
            self.courses.reset(bank, jets.order());
            self.until.clear();
            let until = |&p: &u32| if p == u32::MAX { f64::INFINITY } else { f64::MIN };
            self.until.extend(guards.iter().map(until));
            (self.combination, self.last) = (Some(current), span);
        }
        // What was composed is of an earlier step.
        bank.choose_none();
        let end = span.time[0] + span.length;
        sift(&self.until, |&until| until < end, |function| self.open.push(function as u32));
        self.follow((bank, jets.as_ref()), span, tolerance);
        self.look_ahead((bank, guards), signs, span);
        places.resize(signs.len(), f64::INFINITY);
        self.look_at_step((bank, guards), signs, span, places)
    }

    /// Bounds the open guards as far as the unit goes.
    fn look_ahead(&mut self, (bank, guards): (&mut Bank, &[u32]), signs: &[Signs], span: Span) {
        let Span { time: [t, _], unit, .. } = span;
        let start = t - ROUNDING * (t.abs() + unit);
        self.courses.survey(bank, &self.open, |function, Found { value, place }| {
            let Some(signs) = signs.get(guards[function as usize] as usize) else { return };
            // A value that contradicts the sign is zero within rounding.
            let place = if signs.now == sign_of(value) { place } else { 0.0 };
            self.until[function as usize] = start + place * unit;
        });
        self.open.clear();
    }

    /// Bounds the guards that are not known to keep their signs on the step by what is known of it
    /// alone, which is more.
    fn look_at_step(
        &mut self,
        (bank, guards): (&mut Bank, &[u32]),
        signs: &[Signs],
        Span { time: [t, _], unit, length }: Span,
        places: &mut [f64],
    ) -> Option<usize> {
        let (end, ratio) = (t + length, length / unit);
        sift(&self.until, |&until| until < end, |function| self.open.push(function as u32));
        let mut undefined = None;
        self.courses.survey_step(bank, ratio, &self.open, |function, Found { value, place }| {
            let p = guards[function as usize] as usize;
            let Some(signs) = signs.get(p) else { return };
            places[p] = match sign_of(value) == signs.now && signs.now != 0 {
                true if place >= 1.0 => f64::INFINITY,
                true => place * ratio,
                false => 0.0,
            };
            undefined = undefined.or(value.is_nan().then_some(p));
        });
        self.open.clear();
        undefined
    }

    /// Compares the courses with the jets; what was known of guards whose arguments leave theirs is
    /// forgotten. Guards that are not known to keep their signs on the step are open already.
    fn follow(&mut self, (bank, jets): (&Bank, &dyn Jets), span: Span, tolerance: Tolerance) {
        let Span { time: [t, low], unit, length } = span;
        let end = t + length;
        let last = std::mem::replace(&mut self.last, span);
        if last.unit != unit {
            self.courses.rescale(unit / last.unit);
        }
        let past = ((t - last.time[0]) + (low - last.time[1])) / unit;
        let slack = |value: f64| tolerance.absolute + tolerance.relative * value.abs();
        self.courses.follow(bank, jets, [past, length / unit], slack, |argument| {
            for &function in bank.readers(argument) {
                let until = &mut self.until[function as usize];
                if *until >= end && *until < f64::INFINITY {
                    *until = f64::MIN;
                    self.open.push(function);
                }
            }
        });
    }
}
