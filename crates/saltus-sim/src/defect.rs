//! Whether the polynomials of a step follow the equations: what these say on the way against the slopes
//! of the states, and against the values of guards.

use crate::combination::Watch;
use crate::guards::BEYOND;
use crate::locate::coefficients;
use crate::low_order::NEGLIGIBLE;
use crate::runner::Runner;
use saltus_num::elementary::powi;
use saltus_num::polynomial;
use saltus_num::roots::{Root, Sign};

/// Places on a step at which slopes are compared, and how finely the first one is told where they part.
const PLACES: u32 = 4;
/// A step that is right may be off by so many tolerances at its end: slopes are off by more than states.
const FAR_OFF: f64 = 16.0;
/// One that is cut off is so where it is not off by more than so many.
const NEAR: f64 = 4.0;
/// An argument of a function that may be flat goes far if it goes so far: less than from one side of what
/// the function does to the other.
const FAR_WAY: f64 = 4.0;
/// A piece may be so many times as long as the one before.
const LONGER_PIECE: f64 = 4.0;
/// Steps are not looked at in pieces shorter than this share.
const SHORTEST_PIECE: f64 = 1.0 / 1048576.0;
/// An argument that is negative by no more than so many rounding errors of its series is zero.
const DIP_ROUNDING: f64 = 64.0;

impl Runner<'_> {
    /// Shortens a step until its polynomials agree with the equations at its end, within the tolerance.
    pub fn shorten_by_defect(&mut self, mut length: f64) -> f64 {
        while self.stamp.t + length > self.stamp.t {
            self.begin_segment(length, length);
            self.borrow_states(length / self.scale);
            if self.exists_at_place(1.0) && self.agrees_at(1.0, 1.0) {
                break;
            }
            length *= 0.5;
            self.stats.rejected += 1;
        }
        length
    }

    /// Ends a step sooner if its polynomials are far from the equations at its end; true if they are. The
    /// last coefficients do not tell that where they are zero by chance, as in the series of x' = 1 - x^3
    /// from 0, or lost, as in that of tanh(100 x) from 1. Behind the first root on it nothing is evaluated
    /// before that has happened.
    pub fn end_before_defect(&mut self) -> bool {
        let first = self.segment.roots.iter().copied().find(|root| self.advances(root.lo));
        let asked = first.map_or(self.segment.end, |root| root.lo);
        let end = self.agrees_until(0.0, asked, Self::agrees_at);
        let is_shorter = end < asked;
        if is_shorter && self.advances(end) {
            self.end_at(end);
            self.stats.rejected += 1;
        } else if let Some(root) = first {
            self.segment.compared = root.lo;
        }
        is_shorter
    }

    /// Compares a step with the equations from behind a root that has left it in force, up to the next one.
    #[cold]
    pub fn compare_further(&mut self, here: f64) {
        let next = self.segment.roots.iter().map(|root| root.lo).find(|&lo| lo > here && self.advances(lo));
        let asked = next.unwrap_or(self.segment.end);
        let end = self.agrees_until(here, asked, Self::has_slopes_at);
        self.segment.compared = next.unwrap_or(f64::INFINITY);
        if end < asked {
            self.end_at(end.max(here));
            self.segment.compared = f64::INFINITY;
            self.stats.rejected += 1;
        }
    }

    /// How far a step agrees with the equations between two places, as a comparison at some of them tells:
    /// at the last one, and before it wherever a function that may be flat has left the values at which it
    /// was looked at. Such a function may come and go on the way, and leave no trace at the end.
    fn agrees_until(&mut self, from: f64, to: f64, agrees: impl Fn(&mut Self, f64, f64) -> bool) -> f64 {
        let shortest = SHORTEST_PIECE * (to - from);
        let (mut here, mut end, mut piece) = (from, to, to - from);
        while here < end && self.advances(end) {
            let (next, is_told) = self.next_place(here, end.min(here + LONGER_PIECE * piece), shortest);
            piece = next - here;
            // Where a step is cut, it has to be better than where it is passed.
            let allowed = if next == end && end < to { NEAR } else { FAR_OFF };
            if is_told && (!self.advances(next) || !self.exists_at_place(next) || agrees(self, next, allowed))
            {
                here = next;
            } else {
                end = if from < here && next < end { here } else { 0.5 * (from + next) };
                here = from;
            }
        }
        end
    }

    /// True if some function that may be flat goes far on the step.
    pub fn may_conceal(&mut self) -> bool {
        let end = self.segment.end;
        self.next_place(0.0, end, SHORTEST_PIECE * end) != (end, true)
    }

    /// The last place up to another one until which no argument of a function that may be flat goes far,
    /// other than where the function is flat, and whether the series of the arguments tell that.
    fn next_place(&mut self, here: f64, to: f64, shortest: f64) -> (f64, bool) {
        let combination = self.combinations.get(self.current);
        let (row, unit) = (&mut self.row[..self.order + 1], self.segment.ratio);
        let (mut next, mut is_told) = (to, true);
        for (slot, function) in combination.flat() {
            loop {
                let half = 0.5 * (next - here);
                combination.jets.row(slot, row);
                polynomial::scale(row, unit);
                let [before, last] = [self.order - 1, self.order].map(|k| powi(next, k as i32) * row[k]);
                let error = BEYOND * (before.abs() + last.abs());
                polynomial::shift(row, here + half);
                polynomial::scale(row, half);
                let reach = polynomial::magnitude(&row[1..]) + error;
                let range = [row[0] - reach, row[0] + reach];
                if function.way(range) <= FAR_WAY {
                    break;
                }
                let is_blurred = function.blur(error, range) > 0.25 * FAR_WAY;
                if is_blurred || half < shortest {
                    is_told &= !is_blurred;
                    break;
                }
                next = here + half;
            }
        }
        (next, is_told)
    }

    /// True if derivatives and guards that are evaluated at a place on the step are those of their
    /// polynomials, within so many tolerances.
    fn agrees_at(&mut self, s: f64, tolerances: f64) -> bool {
        self.combinations.get_mut(self.current).complete();
        self.aside(|runner| {
            runner.stand_at(s);
            runner.evaluate_plan();
            let slopes_agree = runner.slopes_agree(s, tolerances);
            let Runner { combinations, env, row, tolerance, order, segment, .. } = runner;
            let combination = combinations.get(runner.current);
            let (row, at) = (&mut row[..*order + 1], s * segment.ratio);
            let mut agrees = |slot: u32| {
                combination.jets.row(slot, row);
                let size = row[0].abs() + (at * row[1]).abs();
                (env[slot as usize] - polynomial::evaluate(row, at)).abs() <= tolerances * tolerance.of(size)
            };
            slopes_agree && combination.eager.iter().all(|&p| agrees(combination.atom_slots[p as usize]))
        })
    }

    /// True if the slopes of the polynomial at a place where the flow was evaluated are those of the flow,
    /// within so many tolerances on the way to there.
    fn slopes_agree(&self, s: f64, tolerances: f64) -> bool {
        let (combination, segment) = (self.combinations.get(self.current), &self.segment);
        let (rows, at) = (coefficients(segment, combination), s * segment.ratio);
        let slope = |i: usize| {
            let terms = (1..segment.orders).rev().map(|k| (k as f64, rows[k * segment.stride + i]));
            terms.fold(0.0, |sum, (k, c)| sum * at + k * c)
        };
        combination.plan.states.iter().enumerate().all(|(i, &(x, rate))| {
            let off = (segment.h * self.env[rate as usize] - segment.ratio * slope(i)).abs();
            s * off <= tolerances * self.tolerance.of(self.env[x as usize])
        })
    }

    /// True if an atom is nothing but the edge of functions that exist on it.
    pub fn is_edge_alone(&self, p: u32) -> bool {
        let combination = self.combination();
        let mut watches = combination.watchers[p as usize].iter().map(|&w| combination.watches[w as usize]);
        let is_edge = |watch| match watch {
            Watch::Edge(b, i) => self.code.blocks[b as usize].edges[i as usize].kind.may_continue(),
            _ => false,
        };
        watches.next().is_some_and(is_edge) && watches.all(is_edge)
    }

    /// Drops the zeros between which an atom that is an edge alone is not positive by its series, if it is
    /// not negative by its own value there, or not by more than is negligible: then it only touches the
    /// edge. Tells the sign from the start of the step on, given that by the series.
    pub fn drop_shallow_dips(&mut self, p: usize, after_start: i8, roots: &mut Vec<Root>) -> i8 {
        if after_start < 0 {
            let back = roots.first().filter(|root| root.after == Sign::Positive).map(|root| root.hi);
            let is_shallow = back.is_some_and(|back| self.is_shallow_dip(p, 0.0, back));
            if !is_shallow {
                return after_start;
            }
            roots.remove(0);
        }
        let mut k = 0;
        while k < roots.len() {
            let (from, last) = (roots[k].lo, if roots[k].touch { k } else { k + 1 });
            let back = roots.get(last).map_or(self.segment.end, |root| root.hi);
            let is_edge = roots[k].before == Sign::Positive;
            // The run may stand behind a touch, if that is later.
            let is_kept = roots[k].touch && self.advances(back) && self.atom_at(p, back) >= 0.0;
            if is_edge && !is_kept && self.is_shallow_dip(p, from, back) {
                roots.drain(k..roots.len().min(last + 1));
            } else {
                k = last + 1;
            }
        }
        1
    }

    /// True if the own value of an atom is hardly negative between two places, and not behind them.
    fn is_shallow_dip(&mut self, p: usize, from: f64, back: f64) -> bool {
        let length = self.row_length(p);
        self.load_row(p, self.segment.ratio);
        let rounding = DIP_ROUNDING * f64::EPSILON * polynomial::magnitude(&self.row[..length]);
        let depth = rounding.max(NEGLIGIBLE * self.tolerance.absolute);
        let behind = self.segment.end.min(2.0 * back - from);
        self.atom_at(p, 0.5 * (from + back)) >= -depth && self.atom_at(p, behind) >= 0.0
    }

    /// The value of an atom at a place on the step.
    pub fn atom_at(&mut self, p: usize, s: f64) -> f64 {
        self.aside(|runner| {
            runner.stand_at(s);
            runner.atom_value(p)
        })
    }

    /// The value of an atom with what is in the environment.
    pub fn atom_value(&mut self, p: usize) -> f64 {
        let combination = self.combinations.get(self.current);
        combination.watching.eval(&mut self.env, &mut self.scratch);
        self.env[combination.atom_slots[p] as usize]
    }

    /// Ends a step where its polynomial begins to part from the flow. Near the edge of a function a series
    /// may go on smoothly where the function does not, as that of sqrt(x^2) where x changes its sign: what
    /// is left of the way behind it is too little to matter.
    #[cold]
    pub fn end_where_flow_parts(&mut self) {
        let share = self.segment.end / f64::from(PLACES);
        let mut places = (1..=PLACES).map(|k| f64::from(k) * share);
        let Some(mut parted) = places.find(|&s| !self.follows_flow(s)) else { return };
        // Where something may happen before, the step need not end sooner.
        let first = self.segment.roots.iter().map(|root| root.hi).find(|&hi| self.advances(hi));
        let first = first.filter(|&first| first < parted && self.follows_flow(first));
        let mut followed = first.unwrap_or(0.0);
        while first.is_none() && parted - followed > parted / f64::from(PLACES) && self.advances(parted) {
            let middle = 0.5 * (followed + parted);
            *(if self.follows_flow(middle) { &mut followed } else { &mut parted }) = middle;
        }
        if self.advances(followed) {
            self.end_at(followed);
            self.stats.rejected += 1;
        }
    }

    /// True if a place on the step is later than its start.
    pub fn advances(&self, s: f64) -> bool {
        self.segment.time_of(s) > self.stamp.t
    }

    /// True if the slopes of the polynomial at a place are those of the flow, as far as the way to there
    /// makes them matter, or the flow does not exist there.
    pub fn follows_flow(&mut self, s: f64) -> bool {
        !self.exists_at_place(s) || self.has_slopes_at(s, 1.0)
    }

    /// True if the slopes of the polynomial at a place where the flow exists are those of the flow, within
    /// so many tolerances on the way to there.
    fn has_slopes_at(&mut self, s: f64, tolerances: f64) -> bool {
        self.aside(|runner| {
            runner.stand_at(s);
            runner.evaluate_plan();
            runner.slopes_agree(s, tolerances)
        })
    }
}
