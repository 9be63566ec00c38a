//! Steps where the flow exists but has no Taylor expansion, as at the root of zero.
//!
//! The equations are evaluated at the start and at the end of an Euler step; the parabola through
//! both slopes is the step, its curvature the error estimate. Guards are parabolas through three
//! values. One or a few such steps lead away from the singular point, where jets take over again.

use crate::compile::{EdgeKind, Signs};
use crate::report::Ending;
use crate::runner::Runner;

/// Attempts to find a length at which the equations exist and the tolerance is met.
const ATTEMPTS: u32 = 60;

/// A flow that moves no state by this share of the absolute tolerance until the end, and does not depend
/// on time, stands still: it has come to rest at the singular point.
pub(crate) const NEGLIGIBLE: f64 = 1e-3;

/// The share of a state by which it has visibly moved.
const VISIBLE: f64 = 1e-6;

impl Runner<'_> {
    /// Makes the segment at the present values without jets; its length, or `None` if no step is
    /// short enough.
    pub fn expand_low_order(&mut self, remaining: f64) -> Result<Option<f64>, Box<Ending>> {
        let plan = self.combination().plan.clone();
        let at = |env: &[f64], pick: fn(&(u32, u32)) -> u32| -> Vec<f64> {
            plan.states.iter().map(|s| env[pick(s) as usize]).collect()
        };
        self.evaluate_plan();
        let (x, f) = (at(&self.env, |s| s.0), at(&self.env, |s| s.1));
        let still = vec![0.0; x.len()];
        let moves_little = |f: &f64| f.abs() * remaining <= NEGLIGIBLE * self.tolerance.absolute;
        if f.iter().all(moves_little) && !self.flow_reads_time() {
            return Ok(Some(self.stand_still(remaining)));
        }
        let mut h = remaining.min(1.0);
        for _ in 0..ATTEMPTS {
            if ![0.5 * h, h].iter().all(|&h| self.exists_on_line(&x, &f, &still, h)) {
                h *= 0.125;
                continue;
            }
            // Slopes in the middle and at the end: one alone may happen to be that of the start.
            let [middle, g] = [0.5 * h, h].map(|h| {
                self.place_line(&x, &f, &still, h);
                at(&self.env, |s| s.1)
            });
            let error = (0..x.len())
                .flat_map(|i| [middle[i], g[i]].map(|g| 0.5 * h * (g - f[i]).abs() / self.tolerance.of(x[i])))
                .fold(0.0, |worst, e| if e > worst || e.is_nan() { e } else { worst });
            let bend: Vec<f64> = (0..x.len()).map(|i| 0.5 * h * (g[i] - f[i])).collect();
            let quarter: Vec<f64> = bend.iter().map(|b| 0.25 * b).collect();
            if error <= 1.0
                && self.atoms_are_finite()
                && self.exists_on_line(&x, &f, &bend, h)
                && self.exists_on_line(&x, &f, &quarter, 0.5 * h)
            {
                self.keep_parabola(&x, &f, &bend, h);
                return Ok(Some(h));
            }
            h *= if error.is_finite() && error > 1.0 { (0.8 / error).clamp(0.02, 0.5) } else { 0.125 };
        }
        self.place_line(&x, &f, &still, 0.0);
        Ok(None)
    }

    /// Puts states that are nearer than negligible to the edge of a function onto it, where a flow that
    /// leads to the edge may rest, as that of a tank that runs empty; true if there are any.
    pub fn join_near_edges(&mut self) -> bool {
        let mut any = false;
        for p in 0..self.signs.len() {
            let is_edge = self.live_edges(p as u32).any(|edge| edge.kind == EdgeKind::NonNegative);
            any |= is_edge && self.join_zero(p);
        }
        any
    }

    /// Puts the state that an atom depends on, if it is one alone, onto the zero of the atom, if that is
    /// nearer than negligible; true if it was not there.
    pub fn join_zero(&mut self, p: usize) -> bool {
        let negligible = NEGLIGIBLE * self.tolerance.absolute;
        let combination = self.combination();
        let depends = &self.code.atoms[combination.atoms[p].index()].depends;
        let mut states = combination.plan.states.iter().filter(|(x, _)| depends.contains(x));
        let (Some(&(state, _)), None) = (states.next(), states.next()) else { return false };
        let x = self.env[state as usize];
        let value = self.atom_with(p, state, x);
        if value == 0.0 || value.is_nan() || value.abs() > negligible {
            return false;
        }
        // Arguments are most often a state, or its distance from a number.
        let onto = [0.0, x - value, x + value]
            .into_iter()
            .find(|&onto| (onto - x).abs() <= negligible && self.atom_with(p, state, onto) == 0.0);
        self.env[state as usize] = onto.unwrap_or(x);
        onto.is_some()
    }

    /// True if the flow is at the edge of a function, within what is negligible, and on it the slope of the
    /// atom of the edge is as wanted, which the series of the atom may deny. The states are put onto it.
    pub fn rests_on_edge(&mut self, p: usize, wanted: impl Fn(f64) -> bool) -> bool {
        let before = self.env.clone();
        self.join_near_edges();
        let rests = self.rests_at_zero(p, wanted);
        if !rests {
            self.env = before;
        }
        rests
    }

    /// True if an atom is zero and its slope is as wanted; it is then taken to rest there, and with it all
    /// others that are zero and do not move.
    pub fn rests_at_zero(&mut self, p: usize, wanted: impl Fn(f64) -> bool) -> bool {
        let values = self.aside(Self::atom_values);
        if values[p] != 0.0 {
            return false;
        }
        self.evaluate_plan();
        let plan = self.combination().plan.clone();
        let (x, f): (Vec<f64>, Vec<f64>) =
            plan.states.iter().map(|&(x, f)| (self.env[x as usize], self.env[f as usize])).unzip();
        let slopes = self.slopes_of_atoms(&x, &f);
        let rests = wanted(slopes[p]);
        if rests {
            self.disturb();
            self.rested = self.stamp.t;
            self.signs[p] = Signs::steady(0);
            for q in 0..self.signs.len() {
                if self.signs[q].now == 0 && values[q] == 0.0 && slopes[q] == 0.0 {
                    self.signs[q] = Signs::steady(0);
                }
            }
        }
        rests
    }

    /// The value of an atom if a state had some value.
    fn atom_with(&mut self, p: usize, state: u32, x: f64) -> f64 {
        self.aside(|runner| {
            runner.env[state as usize] = x;
            runner.atom_value(p)
        })
    }

    /// True if a flow that does not depend on time stands on the edge of a function, within what is
    /// negligible, and moves by no more until the end. Its polynomials would lead away from there, or to
    /// and fro within rounding.
    pub fn rests_at_edge(&self, remaining: f64) -> bool {
        let combination = self.combination();
        let negligible = NEGLIGIBLE * self.tolerance.absolute;
        let stays = |&c: &f64| c.abs() * remaining <= negligible * self.scale;
        if !combination.jets.states().order(1).iter().all(stays) {
            return false;
        }
        let value = |p: usize| combination.jets.coefficient(combination.atom_slots[p], 0);
        let mut near = (0..self.signs.len()).filter(|&p| value(p).abs() <= negligible);
        let ends = |p: usize| self.live_edges(p as u32).any(|edge| edge.kind == EdgeKind::NonNegative);
        near.any(ends) && !self.flow_reads_time()
    }

    fn flow_reads_time(&self) -> bool {
        let combination = self.combination();
        let flow = &combination.plan.blocks[..combination.flow_units];
        flow.iter().any(|block| block.inputs.contains(&combination.plan.time_slot))
    }

    /// Makes the segment of a flow at rest; its length.
    pub fn stand_still(&mut self, remaining: f64) -> f64 {
        let plan = self.combination().plan.clone();
        let x: Vec<f64> = plan.states.iter().map(|&(slot, _)| self.env[slot as usize]).collect();
        let still = vec![0.0; x.len()];
        self.keep_parabola(&x, &still, &still, remaining);
        remaining
    }

    fn atoms_are_finite(&self) -> bool {
        let mut slots = self.combination().atoms.iter().map(|a| self.code.atoms[a.index()].slot);
        slots.all(|slot| self.env[slot as usize].is_finite())
    }

    /// Evaluates everything at x + h f + bend, at time h from now.
    fn place_line(&mut self, x: &[f64], f: &[f64], bend: &[f64], h: f64) {
        self.set_on_line(x, f, bend, h);
        self.evaluate_plan();
        self.combinations.get(self.current).evaluate_crowd(&mut self.env, &mut self.scratch);
    }

    fn set_on_line(&mut self, x: &[f64], f: &[f64], bend: &[f64], h: f64) {
        let plan = self.combination().plan.clone();
        for (i, &(slot, _)) in plan.states.iter().enumerate() {
            self.env[slot as usize] = x[i] + h * f[i] + bend[i];
        }
        self.env[0] = self.stamp.t + h;
    }

    /// True if the flow exists there, found without evaluating it.
    fn exists_on_line(&mut self, x: &[f64], f: &[f64], bend: &[f64], h: f64) -> bool {
        self.flow_exists_where(|runner| runner.set_on_line(x, f, bend, h))
    }

    /// The slopes of the atoms along the flow, by displacements so great that rounding does not hide them;
    /// of atoms that have no value there, or none that is reached by a displacement, 0.
    fn slopes_of_atoms(&mut self, x: &[f64], f: &[f64]) -> Vec<f64> {
        let plan = self.combination().plan.clone();
        let states = plan.states.iter().map(|&(slot, _)| slot).zip(x.iter().zip(f));
        let moving = states.map(|(slot, (&x, &f))| (slot, x, f)).chain([(0, self.stamp.t, 1.0)]);
        let least = self.tolerance.absolute;
        self.aside(|runner| {
            runner.set_on_line(x, f, &vec![0.0; x.len()], 0.0);
            let here = runner.atom_values();
            let mut slopes = vec![0.0; here.len()];
            for (slot, x, f) in moving.filter(|&(_, _, f)| f != 0.0) {
                let way = VISIBLE * x.abs().max(least);
                runner.env[slot as usize] = x + way.copysign(f);
                let there = runner.atom_values();
                runner.env[slot as usize] = x;
                for ((slope, there), here) in slopes.iter_mut().zip(there).zip(&here) {
                    let change = (there - here) * (f.abs() / way);
                    *slope += if change.is_finite() { change } else { 0.0 };
                }
            }
            slopes
        })
    }

    /// The values of all atoms with what is in the environment.
    fn atom_values(&mut self) -> Vec<f64> {
        let combination = self.combinations.get(self.current);
        combination.watching.eval(&mut self.env, &mut self.scratch);
        combination.atom_slots.iter().map(|&slot| self.env[slot as usize]).collect()
    }

    fn keep_parabola(&mut self, x: &[f64], f: &[f64], bend: &[f64], h: f64) {
        let slots: Vec<u32> =
            self.combination().atoms.iter().map(|a| self.code.atoms[a.index()].slot).collect();
        let values = |runner: &Self| -> Vec<f64> { slots.iter().map(|&s| runner.env[s as usize]).collect() };
        let quarter: Vec<f64> = bend.iter().map(|b| 0.25 * b).collect();
        self.place_line(x, f, bend, h);
        let end = values(self);
        self.place_line(x, f, &quarter, 0.5 * h);
        let middle = values(self);
        self.place_line(x, f, &vec![0.0; x.len()], 0.0);
        let start = values(self);
        let hidden = self.slopes_of_atoms(x, f);
        self.give_rows(3);
        for i in 0..slots.len() {
            let (a, m, b) = (start[i], middle[i], end[i]);
            let slope = if [a, m, b] == [0.0; 3] { h * hidden[i] } else { 4.0 * m - 3.0 * a - b };
            self.given.row_mut(i).copy_from_slice(&[a, slope, 2.0 * (a - 2.0 * m + b)]);
        }
        let segment = &mut self.segment;
        segment.ratio = 1.0;
        segment.states = x.len();
        segment.stride = x.len();
        segment.orders = 3;
        segment.coefficients.clear();
        segment.coefficients.extend_from_slice(x);
        segment.coefficients.extend(f.iter().map(|f| h * f));
        segment.coefficients.extend_from_slice(bend);
    }
}
