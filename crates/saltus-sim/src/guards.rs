//! Guards on the polynomial in force: their own polynomials, and the places where these are zero.

use crate::clearing::{Course, Step};
use crate::combination::{AtomRow, Combination};
use crate::compile::{EdgeKind, Signs, SwitchKind};
use crate::method::EventMethod;
use crate::resting::{Motion, instant_at};
use crate::runner::Runner;
use crate::segment::{Crossing, StepRoot};
use crate::sift::sift;
use saltus_expr::jet::Bank;
use saltus_num::MARGIN;
use saltus_num::elementary::powi;
use saltus_num::polynomial;
use saltus_num::roots::{Root, excludes_zero, near_side, sign_after_zero};

/// With many guards a step ends behind the first zero of any: most steps end at an event anyway, and
/// what lies behind it need not be looked at. How far behind, as a multiple of the way to the zero.
const BEHIND: f64 = 1.0625;
/// But a step is not shortened to less than this share.
const SHORTEST_SHARE: f64 = 1.0 / 64.0;

/// The share of its value that an atom far from zero loses at most on a step.
const FAR: f64 = 0.875;

/// The argument of a function with a pole is zero if it is no greater than so many rounding errors of its
/// series.
const POLE_ROUNDING: f64 = 64.0;

/// The terms of a product beyond the order are taken to be at most so many times its last two.
pub(crate) const BEYOND: f64 = 4.0;

/// How near an atom comes to zero on a step, by the sizes of its coefficients alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// It keeps so much of its value that the errors of the step cannot make it zero.
    Far,
    /// It keeps its sign.
    Steady,
    /// Nothing is known.
    Unknown,
}

/// Polynomials of the active atoms over the segment where they do not come from the jets.
#[derive(Debug, Default)]
pub(crate) struct GivenRows {
    /// Coefficients of each row; 0 if the rows are those of the jets.
    pub length: usize,
    data: Vec<f64>,
}

impl GivenRows {
    /// Back to the jets.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Makes room for rows of some length.
    pub fn reshape(&mut self, rows: usize, length: usize) {
        self.length = length;
        self.data.resize(rows * length, 0.0);
    }

    pub fn row(&self, p: usize) -> &[f64] {
        &self.data[p * self.length..(p + 1) * self.length]
    }

    pub fn row_mut(&mut self, p: usize) -> &mut [f64] {
        &mut self.data[p * self.length..(p + 1) * self.length]
    }
}

impl Runner<'_> {
    /// Makes room for polynomials of the guards that do not come from the jets, to be filled; any of
    /// them may change.
    pub fn give_rows(&mut self, length: usize) {
        self.given.reshape(self.signs.len(), length);
        self.earliest.clear();
        self.earliest.resize(self.signs.len(), 0.0);
        self.near.clear();
        self.near.extend(0..self.signs.len());
    }

    /// Isolates the zeros of all guards on the step, and shortens it if there are many guards.
    pub fn find_roots(&mut self, ratio: f64) {
        if self.method == EventMethod::Endpoint {
            self.end_roots(0.0);
            return;
        }
        let many = self.given.length == 0 && self.has_many_guards();
        if self.given.length > 0 || many || !self.keeps_all_signs(ratio) {
            self.isolate_roots(many, ratio);
        }
    }

    /// Isolates the zeros of the guards of which it is not known that they have none.
    #[inline(never)]
    fn isolate_roots(&mut self, many: bool, ratio: f64) {
        let mut candidates = self.candidates(ratio);
        let mut end = self.candidate_roots(&mut candidates, many, ratio, f64::INFINITY);
        while many && self.survey_further(end * ratio, &mut candidates) {
            end = self.candidate_roots(&mut candidates, many, ratio, end);
        }
        candidates.clear();
        self.buffers.candidates = candidates;
        let end = end.min(self.stair_roots(ratio));
        self.end_at(end);
        self.segment.roots.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        self.settle_all_signs();
    }

    /// Isolates the zeros of some guards, of many the earliest first and those before an end alone. The
    /// step ends behind the first of them; returns where.
    fn candidate_roots(&mut self, candidates: &mut [u32], many: bool, ratio: f64, mut end: f64) -> f64 {
        if many {
            candidates.sort_by(|&p, &q| self.earliest[p as usize].total_cmp(&self.earliest[q as usize]));
        }
        for (k, &p) in candidates.iter().enumerate() {
            let p = p as usize;
            if many && self.earliest[p] > end * ratio {
                break;
            }
            if !self.is_composed(p) {
                // Mostly the earliest is the one that is zero first.
                let count = if many && k == 0 { 1 } else { Bank::TOGETHER };
                let next = candidates[k..].iter().take(count).map(|&p| p as usize);
                self.combinations.get_mut(self.current).compose_atoms(next, self.order);
            }
            let first = self.segment.roots.len();
            end = end.min(self.guard_roots(p, ratio));
            if many {
                let zeros = self.segment.roots[first..].iter().map(|r| r.hi).filter(|&hi| hi > 0.0);
                end = zeros.map(|zero| self.combination().behind(zero)).fold(end, f64::min);
            }
        }
        end
    }

    /// With many guards a step ends behind the first root.
    pub fn end_behind_first_root(&mut self) {
        let zeros = self.segment.roots.iter().map(|root| root.hi).filter(|&hi| hi > 0.0);
        self.end_at(zeros.map(|zero| self.combination().behind(zero)).fold(f64::INFINITY, f64::min));
    }

    /// Shortens the step to a place, if that is on it.
    pub fn end_at(&mut self, end: f64) {
        if end < self.segment.end {
            self.segment.end = end;
            self.segment.roots.retain(|root| root.lo <= end);
        }
    }

    /// The guards that may be zero on the step, or on what was looked at of it.
    fn candidates(&mut self, ratio: f64) -> Vec<u32> {
        let mut candidates = std::mem::take(&mut self.buffers.candidates);
        let atoms = 0..self.signs.len() as u32;
        let earliest = &self.earliest;
        if self.given.length > 0 {
            candidates.extend(atoms.filter(|&p| earliest[p as usize] < f64::INFINITY));
        } else if self.has_many_guards() {
            sift(earliest, |&place| place <= ratio, |p| candidates.push(p as u32));
        } else {
            let combination = self.combinations.get_mut(self.current);
            combination.complete();
            let powers = greatest_powers(ratio, self.order);
            let arena = combination.jets.arena();
            let reach = |p: usize| combination.reach(arena, p, self.signs[p], powers);
            candidates.extend(atoms.filter(|&p| reach(p as usize) == Reach::Unknown));
        }
        candidates
    }

    /// True if a few guards keep the signs they have on the step, and there are no switches; tells the
    /// segment how far the guards are.
    fn keeps_all_signs(&mut self, ratio: f64) -> bool {
        let combination = self.combinations.get(self.current);
        let mut nearest = Reach::Far;
        if !self.signs.is_empty() {
            if combination.clearing.units() > 0 {
                return self.keeps_signs_in_clearing(ratio);
            }
            let powers = greatest_powers(ratio, self.order);
            nearest = combination.nearest(&self.signs, powers, |_| false);
        }
        self.segment.is_far = nearest == Reach::Far;
        nearest != Reach::Unknown && combination.switches.is_empty()
    }

    /// The same where guards are left for later: they are computed only if they may not keep their
    /// signs.
    #[inline(never)]
    fn keeps_signs_in_clearing(&mut self, ratio: f64) -> bool {
        let is_clear = self.is_clear(ratio);
        let combination = self.combinations.get(self.current);
        if is_clear && combination.clearing.atoms() == self.signs.len() {
            self.segment.is_far = true;
            return combination.switches.is_empty();
        }
        let powers = greatest_powers(ratio, self.order);
        let nearest = combination.nearest(&self.signs, powers, |p| is_clear && combination.clearing.has(p));
        self.segment.is_far = nearest == Reach::Far;
        let keeps = nearest != Reach::Unknown && combination.switches.is_empty();
        if !is_clear && nearest != Reach::Unknown {
            self.clear(ratio);
        }
        keeps
    }

    /// True if the guards left for later are known to keep their signs on the step; else they are
    /// computed.
    fn is_clear(&mut self, ratio: f64) -> bool {
        let combination = self.combinations.get_mut(self.current);
        let Combination { clearing, jets, degree, .. } = combination;
        let course = Course::new(jets.states(), *degree, ratio);
        let time = [self.stamp.t, self.stamp.t + ratio * self.scale];
        let is_clear = clearing.holds(&self.signs, &Step { course, time, env: &self.env });
        if !is_clear {
            combination.complete();
        }
        is_clear
    }

    /// All guards keep their signs on the step: more may become known of those left for later.
    #[inline(never)]
    fn clear(&mut self, ratio: f64) {
        let Combination { clearing, jets, degree, .. } = self.combinations.get_mut(self.current);
        let course = Course::new(jets.states(), *degree, ratio);
        let time = [self.stamp.t, self.stamp.t + ratio * self.scale];
        clearing.open(&self.signs, &Step { course, time, env: &self.env });
    }

    /// True if the polynomial of an atom is there.
    pub fn is_composed(&self, p: usize) -> bool {
        self.given.length > 0 || self.combination().is_composed(p)
    }

    /// Isolates the zeros of a guard on the step; returns how far they may be trusted.
    fn guard_roots(&mut self, p: usize, ratio: f64) -> f64 {
        self.load_row(p, ratio);
        let length = self.row_length(p);
        let trusted = self.trusted_until(p);
        let (value, sign) = (self.row[0], self.signs[p]);
        let steady = sign.now != 0 && sign.now == sign_of(value);
        if !(steady && excludes_zero(&self.row[..length])) {
            let may_continue = self.live_edges(p as u32).any(|edge| edge.kind.may_continue());
            self.segment.is_near_edge |= may_continue;
            let first = self.segment.roots.len();
            self.atom_roots(p, length, steady, ratio);
            if steady && self.is_pole(p) && self.given.length == 0 {
                return trusted.min(self.drop_unfounded_roots(p, first));
            }
        }
        trusted
    }

    /// True if a function in force does not exist where an atom is zero.
    fn is_pole(&self, p: usize) -> bool {
        self.live_edges(p as u32).any(|edge| matches!(edge.kind, EdgeKind::Positive | EdgeKind::NonZero))
    }

    /// Drops the roots of an atom, from a position in the list on, if it is not zero at the first of them by
    /// its own value: its series is not accurate enough for what is small beside what it was, as that of
    /// 1 + (30 x)^8. Returns how far it is.
    fn drop_unfounded_roots(&mut self, p: usize, first: usize) -> f64 {
        let Some(&root) = self.segment.roots.get(first).filter(|root| self.advances(root.lo)) else {
            return f64::INFINITY;
        };
        let row = &self.row[..self.row_length(p)];
        let rounding = POLE_ROUNDING * f64::EPSILON * polynomial::magnitude(row);
        let value = f64::from(self.signs[p].now) * self.atom_at(p, root.hi);
        if value.is_nan() || value <= rounding {
            return f64::INFINITY;
        }
        self.segment.roots.truncate(first);
        root.lo
    }

    /// How far the polynomial of an atom in `row` is as accurate as is asked for: that of a product of
    /// states needs more terms than theirs.
    fn trusted_until(&self, p: usize) -> f64 {
        if self.given.length > 0 || !self.combination().atom_rows[p].is_endless {
            return f64::INFINITY;
        }
        let mut bound = self.bound;
        let [slope, bend, before, last] = [1, 2, self.order - 1, self.order].map(|k| self.row[k]);
        bound.quantity([slope, bend], [before, last], self.tolerance);
        let ratio = bound.ratio();
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    }

    /// The step has begun: signs are those just after its start.
    #[inline(never)]
    pub fn settle_all_signs(&mut self) {
        self.signs.iter_mut().for_each(|signs| *signs = signs.settled());
    }

    /// Guards that have another sign at the end of the step than at its start, or are below a
    /// tolerance there: what happened between is not looked at.
    pub fn end_roots(&mut self, tolerance: f64) {
        let end = self.segment.end;
        for p in 0..self.combination().atoms.len() {
            self.load_row(p, self.segment.ratio);
            let length = self.row_length(p);
            let row = &self.row[..length];
            if self.signs[p].now == 0 {
                self.signs[p].after = sign_after_zero(&row[1..]).value() as i8;
            }
            let (before, value) = (self.signs[p].after, polynomial::evaluate(row, end));
            let after = if value.abs() <= tolerance { -before } else { sign_of(value) };
            if after != before && end > 0.0 {
                let crossing = Crossing::Atom(p as u32, after);
                self.segment.roots.push(StepRoot::at(end, crossing));
            }
        }
        self.stair_roots(self.segment.ratio);
        self.segment.roots.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        self.settle_all_signs();
    }

    /// Puts the polynomial of an atom over the unit of the segment into `row`.
    pub fn load_row(&mut self, p: usize, ratio: f64) {
        if self.given.length > 0 {
            let row = self.given.row(p);
            self.row[..row.len()].copy_from_slice(row);
            return;
        }
        if !self.is_composed(p) {
            self.combinations.get_mut(self.current).compose_atoms([p].into_iter(), self.order);
        }
        let combination = self.combinations.get(self.current);
        combination.atom_row(p, &mut self.row);
        polynomial::scale(&mut self.row[..combination.atom_length(p, self.order)], ratio);
    }

    pub fn row_length(&self, p: usize) -> usize {
        if self.given.length > 0 {
            return self.given.length;
        }
        self.combination().atom_length(p, self.order)
    }

    /// Zeros of an atom. One that is zero by decree, or whose sign disagrees with its history by
    /// rounding, has its zero at the start deflated. One that rests stays as it is.
    fn atom_roots(&mut self, p: usize, length: usize, steady: bool, ratio: f64) {
        let now = self.signs[p].now;
        let Some(motion) = self.first_motion(p, length, ratio) else {
            self.signs[p] = Signs::steady(now);
            return;
        };
        let mut after = if steady { now } else { motion };
        let exact = self.exact_zero(p, length);
        let row = &self.row[..length];
        let row = if steady { row } else { &row[1..] };
        let mut found = std::mem::take(&mut self.buffers.roots);
        found.clear();
        if row.len() > 1 {
            self.stats.root_searches += 1;
            if self.method == EventMethod::Sturm {
                self.chain.roots(row, &mut found);
            } else {
                self.finder.roots(row, &mut found);
            }
        }
        if !steady && self.given.length == 0 {
            let instant = instant_at(self.stamp.t, self.scale * ratio);
            found.retain(|root| root.hi > instant);
        }
        if self.is_edge_alone(p as u32) {
            after = self.drop_shallow_dips(p, after, &mut found);
        }
        if !steady {
            start_root(&mut self.segment.roots, p, &mut self.signs[p], after);
        }
        let row = if steady { &self.row[..length] } else { &self.row[1..length] };
        for root in &found {
            let crossing = Crossing::Atom(p as u32, root.after.value() as i8);
            // Behind a touch the guard moves away again, which its rounded slope at the touch may deny.
            let stop = if root.touch { root.hi } else { near_side(row, root.at, root.lo, root.before) };
            self.segment.roots.push(StepRoot {
                lo: root.lo,
                hi: root.hi,
                stop,
                exact,
                slope: f64::NAN,
                crossing,
            });
        }
        self.buffers.roots = found;
    }

    /// The direction in which an atom moves first, if it does not rest. Its polynomial is in `row`, over the
    /// unit of the jets times `ratio`.
    pub fn first_motion(&mut self, p: usize, length: usize, ratio: f64) -> Option<i8> {
        let row = &self.row[..length];
        if self.given.length > 0 {
            return Some(sign_after_zero(&row[1..]).value() as i8);
        }
        let instant = instant_at(self.stamp.t, self.scale * ratio);
        let motion = Motion { p, row, ratio, instant };
        self.terms.first_motion(&self.code, self.combinations.get(self.current), motion)
    }

    /// The time at which an atom affine in time alone is zero; NaN for other atoms.
    pub fn exact_zero(&mut self, p: usize, length: usize) -> f64 {
        let atom = self.combination().atoms[p].index();
        let code = self.code.clone();
        let Some(quantity) = code.atoms[atom].of_time.as_ref().filter(|_| length == 2) else {
            return f64::NAN;
        };
        let now = std::mem::replace(&mut self.env[0], 0.0);
        let at_zero = self.scalar(quantity);
        self.env[0] = 1.0;
        let at_one = self.scalar(quantity);
        self.env[0] = now;
        let zero = -at_zero / (at_one - at_zero);
        if zero >= now && zero.is_finite() { zero } else { f64::NAN }
    }

    /// Where stairs leave their cells; returns how far that may be trusted.
    pub fn stair_roots(&mut self, ratio: f64) -> f64 {
        let mut trusted = f64::INFINITY;
        for k in 0..self.combination().switches.len() {
            let s = self.combination().switches[k];
            trusted = trusted.min(self.roots_of_stair(s, ratio));
        }
        trusted
    }

    /// Where a stair leaves its cell: upwards at the upper edge, downwards below the lower one.
    fn roots_of_stair(&mut self, s: u32, ratio: f64) -> f64 {
        let switch = &self.code.switches[s as usize];
        let SwitchKind::Stair(atom, grid) = &switch.kind else { return f64::INFINITY };
        let index = self.env[switch.slot.index()];
        let p = self.combination().position[atom.index()] as usize;
        let edges = [(grid.lower(index), index - 1.0, -1), (grid.upper(index), index + 1.0, 1)];
        let length = self.row_length(p);
        for (edge, target, direction) in edges {
            if !edge.is_finite() {
                continue;
            }
            self.load_row(p, ratio);
            self.row[0] -= edge;
            let met = self.met_edges[s as usize] == edge || self.row[0] == 0.0;
            let row = &self.row[..length];
            let row = if met { &row[1..] } else { row };
            let crossing = Crossing::Stair { switch: s, index: target, edge };
            // An argument that stands on an edge may leave the cell at once.
            if met && sign_after_zero(row).value() as i8 == direction {
                self.segment.roots.push(StepRoot::at(0.0, crossing));
                continue;
            }
            if row.len() < 2 || (!met && excludes_zero(row)) {
                continue;
            }
            let mut found: Vec<Root> = std::mem::take(&mut self.buffers.roots);
            self.finder.roots(row, &mut found);
            if let Some(root) = found.iter().find(|r| r.after.value() as i8 == direction) {
                let stop = near_side(row, root.at, root.lo, root.before);
                self.segment.roots.push(StepRoot {
                    lo: root.lo,
                    hi: root.hi,
                    stop,
                    exact: f64::NAN,
                    slope: polynomial::evaluate_with_derivative(&self.row[..length], stop).1,
                    crossing,
                });
            }
            self.buffers.roots = found;
        }
        if self.combination().atom_rows[p].is_endless {
            self.load_row(p, ratio);
        }
        self.trusted_until(p)
    }
}

/// A guard that starts at zero has the sign it moves to: by a root at the start, if it had the other.
pub(crate) fn start_root(roots: &mut Vec<StepRoot>, p: usize, signs: &mut Signs, after: i8) {
    if signs.now != 0 && signs.now != after {
        let crossing = Crossing::Atom(p as u32, after);
        roots.push(StepRoot::at(0.0, crossing));
    } else {
        signs.after = after;
    }
}

impl Combination {
    /// A place a little behind a zero. Where polynomials are exact it is one of few digits, so that they
    /// stay so in the step from there.
    fn behind(&self, zero: f64) -> f64 {
        let place = (BEHIND * zero).max(SHORTEST_SHARE);
        if self.is_exact { (place / SHORTEST_SHARE).ceil() * SHORTEST_SHARE } else { place }
    }

    /// The reach of those atoms that come nearest to zero, apart from some that are known to keep their
    /// signs.
    #[inline(always)]
    fn nearest(&self, signs: &[Signs], powers: [f64; 2], is_known: impl Fn(usize) -> bool) -> Reach {
        let arena = self.jets.arena();
        let mut nearest = Reach::Far;
        for (p, &signs) in signs.iter().enumerate().filter(|&(p, _)| !is_known(p)) {
            match self.reach(arena, p, signs, powers) {
                Reach::Far => {}
                Reach::Steady => nearest = Reach::Steady,
                Reach::Unknown => return Reach::Unknown,
            }
        }
        nearest
    }

    /// What value, slope and the sizes of the other coefficients tell about an atom with these signs,
    /// on a step with these powers; the coefficients are in the memory of the jets.
    #[inline(always)]
    fn reach(&self, arena: &[f64], p: usize, signs: Signs, powers: [f64; 2]) -> Reach {
        let AtomRow { memory, is_endless } = &self.atom_rows[p];
        let [value, slope, mut rest] = memory.spread(arena);
        if *is_endless {
            rest += BEYOND * memory.last_two(arena);
        }
        let sign = f64::from(signs.now);
        // Not positive if the value contradicts the sign.
        let (size, change, bend) = (sign * value, sign * (slope * powers[0]), rest * powers[1]);
        let loss = bend - change.min(0.0);
        if loss < size * FAR { Reach::Far } else { near_reach(loss, size) }
    }
}

/// The reach of an atom that loses much of its value, or all of it.
#[cold]
#[inline(never)]
fn near_reach(loss: f64, size: f64) -> Reach {
    if loss < size * (1.0 - MARGIN) { Reach::Steady } else { Reach::Unknown }
}

/// The greatest powers of a place on a step of some units: of order 1, and of any order above. Up to
/// one that is the square, beyond the highest power.
pub(crate) fn greatest_powers(ratio: f64, order: usize) -> [f64; 2] {
    let highest = if ratio <= 1.0 { ratio * ratio } else { powi(ratio, order as i32) };
    [ratio, highest * (1.0 + MARGIN)]
}

pub(crate) fn sign_of(x: f64) -> i8 {
    if x > 0.0 { 1 } else { -i8::from(x < 0.0) }
}
