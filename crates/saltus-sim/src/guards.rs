//! Guards on the polynomial in force: their own polynomials, and the places where these are zero.

use crate::compile::SwitchKind;
use crate::method::EventMethod;
use crate::runner::Runner;
use crate::segment::{Crossing, StepRoot};
use saltus_num::elementary::powi;
use saltus_num::polynomial;
use saltus_num::roots::{Root, excludes_zero, sign_after_zero};

/// A step is shortened so that not more guards than these may change on it.
const CROWD: usize = 6;
/// But not to less than this share.
const SHORTEST_SHARE: f64 = 1.0 / 64.0;
/// Covers the rounding of the few operations of a bound, many times over.
const MARGIN: f64 = 1e-12;

/// How near an atom comes to zero on a step, by the sizes of its coefficients alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// It loses less than half of its value.
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

    /// Makes room for rows of some length, all zero.
    pub fn reset(&mut self, rows: usize, length: usize) {
        self.length = length;
        self.data.clear();
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
    /// Isolates the zeros of all guards on the step.
    pub fn find_roots(&mut self, ratio: f64) {
        if self.method == EventMethod::Endpoint {
            self.end_roots(0.0);
            return;
        }
        let mut far = self.given.length == 0;
        for p in 0..self.combination().atoms.len() {
            if self.given.length == 0 {
                let reach = self.reach(p, ratio);
                far &= reach == Reach::Far;
                if reach != Reach::Unknown {
                    continue;
                }
            }
            self.load_row(p, ratio);
            let length = self.row_length(p);
            let (value, sign) = (self.row[0], self.signs[p]);
            let steady = sign.now != 0 && sign.now == sign_of(value);
            if steady && excludes_zero(&self.row[..length]) {
                continue;
            }
            self.atom_roots(p, length, steady);
        }
        self.segment.is_far = far;
        for k in 0..self.combination().switches.len() {
            let s = self.combination().switches[k];
            self.stair_roots(s, ratio);
        }
        self.segment.roots.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        self.settle_all_signs();
    }

    /// The step has begun: signs are those just after its start.
    pub fn settle_all_signs(&mut self) {
        for signs in &mut self.signs {
            signs.now = signs.after;
        }
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
                self.segment.roots.push(StepRoot { lo: end, hi: end, stop: end, exact: f64::NAN, crossing });
            }
        }
        for k in 0..self.combination().switches.len() {
            let s = self.combination().switches[k];
            self.stair_roots(s, self.segment.ratio);
        }
        self.segment.roots.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        self.settle_all_signs();
    }

    /// What the sizes of an atom's coefficients tell about it on a step of some units: up to one,
    /// terms from order 2 on are at most their sum at 1 times the square; beyond, times the highest
    /// power.
    fn reach(&self, p: usize, ratio: f64) -> Reach {
        if let Some(&earliest) = self.earliest.get(p) {
            return if ratio < earliest { Reach::Steady } else { Reach::Unknown };
        }
        let combination = self.combination();
        let slot = combination.atom_slots[p];
        let [value, slope, rest] = combination.jets.weights(slot);
        let sign = self.signs[p].now;
        if sign == 0 || sign != sign_of(value) {
            return Reach::Unknown;
        }
        let highest = if ratio <= 1.0 { ratio * ratio } else { powi(ratio, self.order as i32) };
        let (change, bend) = (slope * ratio, rest * highest * (1.0 + MARGIN));
        if change.abs() + bend < 0.5 * value.abs() {
            return Reach::Far;
        }
        let approach = -f64::from(sign) * change;
        let keeps = approach.max(0.0) + bend < value.abs() * (1.0 - MARGIN);
        if keeps { Reach::Steady } else { Reach::Unknown }
    }

    /// Shortens a step on which many guards may change: most steps end at the first event, and what
    /// lies behind it need not be looked at.
    pub fn limit_crowd(&mut self, length: f64) -> f64 {
        self.earliest.clear();
        if self.signs.len() <= CROWD {
            return length;
        }
        for p in 0..self.signs.len() {
            let bound = self.earliest_change(p);
            self.earliest.push(bound);
        }
        self.crowd.clone_from(&self.earliest);
        let (_, &mut bound, _) = self.crowd.select_nth_unstable_by(CROWD, f64::total_cmp);
        if bound < 1.0 - MARGIN {
            (bound * self.scale).max(SHORTEST_SHARE * length).min(length)
        } else {
            length
        }
    }

    /// A place, in units of the scale of the jets, before which an atom surely keeps its sign: up to
    /// 1 the terms from order 2 on are at most their sum at 1 times the square. Beyond 1 nothing is
    /// known unless it keeps its sign up to there.
    fn earliest_change(&self, p: usize) -> f64 {
        let combination = self.combination();
        let [value, slope, rest] = combination.jets.weights(combination.atom_slots[p]);
        let sign = self.signs[p].now;
        if sign == 0 || sign != sign_of(value) {
            return 0.0;
        }
        let approach = -f64::from(sign) * slope;
        let room = value.abs() * (1.0 - MARGIN);
        if approach.max(0.0) + rest < room {
            return 1.0;
        }
        let root = (approach * approach + 4.0 * rest * room).sqrt();
        // The positive root of rest r^2 + approach r - room, without cancellation.
        let place =
            if approach > 0.0 { 2.0 * room / (approach + root) } else { (root - approach) / (2.0 * rest) };
        if place.is_nan() { 0.0 } else { place.min(1.0) * (1.0 - MARGIN) }
    }

    /// Puts the polynomial of an atom over the unit of the segment into `row`.
    pub fn load_row(&mut self, p: usize, ratio: f64) {
        if self.given.length > 0 {
            let row = self.given.row(p);
            self.row[..row.len()].copy_from_slice(row);
            return;
        }
        let combination = self.combinations.get(self.current);
        let slot = combination.atom_slots[p];
        combination.jets.row(slot, &mut self.row);
        let length = combination.jets.degree(slot).bound().map_or(self.order, |d| d.min(self.order)) + 1;
        polynomial::scale(&mut self.row[..length], ratio);
    }

    pub fn row_length(&self, p: usize) -> usize {
        if self.given.length > 0 {
            return self.given.length;
        }
        let combination = self.combination();
        let slot = combination.atom_slots[p];
        combination.jets.degree(slot).bound().map_or(self.order, |d| d.min(self.order)) + 1
    }

    /// Zeros of an atom. One that is zero by decree, or whose sign disagrees with its history by
    /// rounding, has its zero at the start deflated.
    fn atom_roots(&mut self, p: usize, length: usize, steady: bool) {
        let exact = self.exact_zero(p, length);
        let row = &self.row[..length];
        let row = if steady { row } else { &row[1..] };
        if !steady {
            let after = sign_after_zero(row).value() as i8;
            if self.signs[p].now != 0 && self.signs[p].now != after {
                let crossing = Crossing::Atom(p as u32, after);
                self.segment.roots.push(StepRoot { lo: 0.0, hi: 0.0, stop: 0.0, exact: f64::NAN, crossing });
            } else {
                self.signs[p].after = after;
            }
        }
        if row.len() < 2 {
            return;
        }
        self.stats.root_searches += 1;
        let mut found = std::mem::take(&mut self.buffers.roots);
        if self.method == EventMethod::Sturm {
            self.chain.roots(row, &mut found);
        } else {
            self.finder.roots(row, &mut found);
        }
        for root in &found {
            let crossing = Crossing::Atom(p as u32, root.after.value() as i8);
            // Behind a touch the guard moves away again, which its rounded slope at the touch may deny.
            let stop = if root.touch { root.hi } else { near_side(row, root) };
            self.segment.roots.push(StepRoot { lo: root.lo, hi: root.hi, stop, exact, crossing });
        }
        self.buffers.roots = found;
    }

    /// The time at which an atom affine in time alone is zero; NaN for other atoms.
    fn exact_zero(&mut self, p: usize, length: usize) -> f64 {
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

    /// Where a stair leaves its cell: upwards at the upper edge, downwards below the lower one.
    fn stair_roots(&mut self, s: u32, ratio: f64) {
        let switch = &self.code.switches[s as usize];
        let SwitchKind::Stair(atom, grid) = &switch.kind else { return };
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
            if row.len() < 2 || (!met && excludes_zero(row)) {
                continue;
            }
            let mut found: Vec<Root> = std::mem::take(&mut self.buffers.roots);
            self.finder.roots(row, &mut found);
            if let Some(root) = found.iter().find(|r| r.after.value() as i8 == direction) {
                let crossing = Crossing::Stair { switch: s, index: target, edge };
                let stop = near_side(row, root);
                self.segment.roots.push(StepRoot {
                    lo: root.lo,
                    hi: root.hi,
                    stop,
                    exact: f64::NAN,
                    crossing,
                });
            }
            self.buffers.roots = found;
        }
    }
}

/// The best place to stop at a root: its estimate, or as little before it as the computed value
/// needs to have the sign it had before.
fn near_side(c: &[f64], root: &Root) -> f64 {
    let mut place = root.at;
    let mut back = f64::EPSILON * place.abs();
    while place > root.lo {
        let value = polynomial::evaluate(c, place);
        if value == 0.0 || sign_of(value) == root.before.value() as i8 {
            return place;
        }
        place -= back;
        back *= 2.0;
    }
    root.lo
}

pub(crate) fn sign_of(x: f64) -> i8 {
    if x > 0.0 { 1 } else { -i8::from(x < 0.0) }
}
