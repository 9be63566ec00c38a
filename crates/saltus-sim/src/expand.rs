//! Expanding the flow: Taylor polynomials of states and guards from the present values, and how
//! far they may be trusted.

use crate::compile::SwitchKind;
use crate::explain;
use crate::report::{Ending, Status};
use crate::runner::Runner;
use crate::segment::{Crossing, StepRoot};
use saltus_num::polynomial;
use saltus_num::roots::{Root, excludes_zero, outweighs, sign_after_zero};
use saltus_solve::taylor::{StepBound, first_scale};

/// A step so many times longer than the scale of the coefficients asks for a new scale: small
/// scales drive high coefficients towards zero and make any step look safe.
const GREATEST_RATIO: f64 = 32.0;
/// Smaller scales tried before a flow without finite coefficients counts as not expandable.
const SHRINKINGS: u32 = 2;
/// Changes of scale before the flow is given up.
const RESCALINGS: u32 = 60;

impl Runner<'_> {
    /// Computes the jets of the current combination at the current values, if they are not known.
    pub fn refresh_jets(&mut self) {
        if self.jets_fresh {
            return;
        }
        if self.scale == 0.0 {
            self.guess_scale();
        }
        let combination = self.combinations.get_mut(self.current);
        combination.jets.run(&self.env, self.scale);
        combination.uses += 1;
        self.stats.jet_evals += 1;
        self.jets_fresh = true;
    }

    /// Scales are powers of two, so that scaling loses no bits.
    fn set_scale(&mut self, scale: f64) {
        self.scale = power_of_two_above(scale);
    }

    /// Changes to native code when the combination has been expanded often enough.
    fn tier_up(&mut self) {
        let combination = self.combinations.get_mut(self.current);
        let due = self.options.native_after.is_some_and(|n| combination.uses * combination.weight >= n);
        if !due || combination.settled {
            return;
        }
        let started = std::time::Instant::now();
        if combination.go_native(self.order) {
            self.stats.native += 1;
            self.jets_fresh = false;
        }
        self.stats.compile_seconds += started.elapsed().as_secs_f64();
    }

    fn guess_scale(&mut self) {
        let plan = self.combination().plan.clone();
        let values: Vec<f64> = plan.states.iter().map(|&(x, _)| self.env[x as usize]).collect();
        let rates = plan.states.iter().map(|&(_, f)| self.env[f as usize]);
        self.set_scale(first_scale(&values, rates, self.tolerance));
    }

    /// Makes the segment that starts at the present values.
    pub fn expand(&mut self) -> Result<(), Box<Ending>> {
        self.tier_up();
        self.parabolas.clear();
        let remaining = (self.until - self.stamp.t) - self.t_low;
        match self.choose_length(remaining)? {
            Some(length) => {
                // Polynomials of bounded degree are exact: a unit that is a power of two keeps them so.
                let exact = self.combination().is_exact;
                let unit = if exact && length > 0.0 { power_of_two_above(length) } else { length };
                self.begin_segment(unit, length);
                self.borrow_states(unit / self.scale);
                self.find_roots(unit / self.scale);
                if length > 0.0 && length < remaining {
                    self.set_scale(length);
                }
            }
            None => {
                let Some(length) = self.expand_low_order(remaining)? else { return Err(self.left_domain()) };
                if self.stamp.t + length == self.stamp.t && length < remaining {
                    return Err(self.stuck(length));
                }
                self.begin_segment(length, length);
                self.find_roots(1.0);
                self.set_scale(length);
            }
        }
        self.jets_fresh = false;
        self.stats.steps += 1;
        Ok(())
    }

    fn begin_segment(&mut self, unit: f64, length: f64) {
        let segment = &mut self.segment;
        segment.origin = self.stamp.t;
        segment.origin_low = self.t_low;
        segment.h = unit;
        segment.end = if unit > 0.0 { length / unit } else { 0.0 };
        segment.cursor = 0.0;
        segment.recorded = self.stamp.t;
        segment.roots.clear();
        segment.next_root = 0;
        segment.valid = true;
    }

    /// The length of the step: from the error estimate, at most what remains; `None` if the flow
    /// has no Taylor expansion here.
    fn choose_length(&mut self, remaining: f64) -> Result<Option<f64>, Box<Ending>> {
        let mut shrinkings = 0;
        for _ in 0..RESCALINGS {
            self.refresh_jets();
            let ratio = self.step_ratio();
            if ratio.is_nan() {
                if !self.point_is_finite() {
                    return Err(self.left_domain());
                }
                if shrinkings == SHRINKINGS {
                    return Ok(None);
                }
                shrinkings += 1;
                self.scale *= 0.0078125;
                self.jets_fresh = false;
                self.stats.rejected += 1;
                continue;
            }
            let length = (ratio * self.scale).min(remaining);
            let estimated = !self.combination().is_exact;
            if estimated && ratio > GREATEST_RATIO && self.scale < remaining {
                self.set_scale((self.scale * ratio.min(1e4)).min(2.0 * remaining));
                self.jets_fresh = false;
                continue;
            }
            if self.stamp.t + length == self.stamp.t && length < remaining {
                return Ok(None);
            }
            return Ok(Some(length));
        }
        Err(self.left_domain())
    }

    /// The longest step in units of the scale; NaN if a coefficient is not finite.
    fn step_ratio(&mut self) -> f64 {
        let combination = self.combinations.get(self.current);
        let mut bound = StepBound::new(self.order);
        bound.states(combination.jets.states(), combination.degree, self.tolerance);
        for &slot in &combination.unbounded {
            let [a, b, c, d] =
                [0, 1, self.order - 1, self.order].map(|k| combination.jets.coefficient(slot, k));
            bound.quantity([a, b], [c, d], self.tolerance);
        }
        bound.ratio()
    }

    fn point_is_finite(&mut self) -> bool {
        let plan = self.combination().plan.clone();
        plan.diagnose(&mut self.env, &mut self.scratch).is_none()
    }

    /// The run ends because an expression has no value, or no derivative, here.
    fn left_domain(&mut self) -> Box<Ending> {
        let plan = self.combination().plan.clone();
        match plan.diagnose(&mut self.env, &mut self.scratch) {
            Some((block, departure)) => {
                let found = explain::departure(self, &plan.blocks[block], &departure);
                self.ending(found.status, found.reason, found.hint, found.span)
            }
            None => {
                let reason = "the flow has no Taylor expansion at the last state: a function in it has no derivative there";
                let hint = "a square root, power or logarithm reaches the edge of its domain; stop or switch before it";
                self.ending(Status::LeftDomain, reason.into(), Some(hint.into()), None)
            }
        }
    }

    fn stuck(&self, length: f64) -> Box<Ending> {
        let reason = format!(
            "the step needed for the tolerance, {length:e}, is too small to advance time: a state grows without bound or the model has a singularity here"
        );
        let hint = "check the model near the last state, or stop before it";
        self.ending(Status::LeftDomain, reason, Some(hint.into()), None)
    }

    /// The states of the segment are those of the jets, until these are computed anew.
    fn borrow_states(&mut self, ratio: f64) {
        let combination = self.combinations.get(self.current);
        let segment = &mut self.segment;
        segment.ratio = ratio;
        segment.states = combination.plan.states.len();
        segment.stride = combination.jets.states().stride();
        segment.orders = combination.degree + 1;
        segment.coefficients.clear();
    }

    /// Copies what the segment has borrowed.
    pub fn own_states(&mut self) {
        let segment = &mut self.segment;
        if segment.coefficients.is_empty() {
            let states = self.combinations.get(self.current).jets.states();
            segment.coefficients.extend_from_slice(&states.data()[..segment.orders * segment.stride]);
        }
    }

    /// Isolates the zeros of all guards on the step.
    fn find_roots(&mut self, ratio: f64) {
        for p in 0..self.combination().atoms.len() {
            if self.clearly_keeps_sign(p, ratio) {
                continue;
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
        for k in 0..self.combination().switches.len() {
            let s = self.combination().switches[k];
            self.stair_roots(s, ratio);
        }
        self.segment.roots.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        for signs in &mut self.signs {
            signs.now = signs.after;
        }
    }

    /// True if the constant term of an atom outweighs all others on a longer step than this one.
    fn clearly_keeps_sign(&self, p: usize, ratio: f64) -> bool {
        if ratio > 1.0 || !self.parabolas.is_empty() {
            return false;
        }
        let combination = self.combination();
        let slot = combination.atom_slots[p];
        let (first, others, count) = combination.jets.weights(slot);
        let sign = self.signs[p].now;
        sign != 0 && sign == sign_of(first) && outweighs(first, others, count)
    }

    /// Puts the polynomial of an atom over the unit of the segment into `row`.
    fn load_row(&mut self, p: usize, ratio: f64) {
        if let Some(parabola) = self.parabolas.get(p) {
            self.row[..3].copy_from_slice(parabola);
            return;
        }
        let combination = self.combinations.get(self.current);
        let slot = combination.atom_slots[p];
        combination.jets.row(slot, &mut self.row);
        let length = combination.jets.degree(slot).bound().map_or(self.order, |d| d.min(self.order)) + 1;
        polynomial::scale(&mut self.row[..length], ratio);
    }

    fn row_length(&self, p: usize) -> usize {
        if !self.parabolas.is_empty() {
            return 3;
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
        self.finder.roots(row, &mut found);
        for root in &found {
            let crossing = Crossing::Atom(p as u32, root.after.value() as i8);
            let stop = near_side(row, root);
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

/// The smallest power of two above a positive number.
fn power_of_two_above(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    f64::from_bits(x.clamp(1e-300, 1e300).to_bits() & !MANTISSA) * 2.0
}

pub(crate) fn sign_of(x: f64) -> i8 {
    if x > 0.0 { 1 } else { -i8::from(x < 0.0) }
}
