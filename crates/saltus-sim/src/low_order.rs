//! Steps where the flow exists but has no Taylor expansion, as at the root of zero.
//!
//! The equations are evaluated at the start and at the end of an Euler step; the parabola through
//! both slopes is the step, its curvature the error estimate. Guards are parabolas through three
//! values, which have to pass two others, or to be far from zero at all of them. One or a few such steps
//! lead away from the singular point, where jets take over again.

use crate::compile::{EdgeKind, Signs};
use crate::report::Ending;
use crate::runner::Runner;
use saltus_num::polynomial;
use saltus_solve::taylor::Tolerance;

/// Attempts to find a length at which the equations exist and the tolerance is met.
const ATTEMPTS: u32 = 60;

/// A flow that moves no state by this share of the absolute tolerance until the end, and does not depend
/// on time, stands still: it has come to rest at the singular point.
pub(crate) const NEGLIGIBLE: f64 = 1e-3;

/// Places on a step at which guards are looked at.
const PLACES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A guard is clear of zero if it is farther from it than so many errors of its parabola. The parabola of a
/// guard that leaves zero at once and stays is off by 3/8 of what it comes to.
const CLEAR: f64 = 2.0;

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
        let mut longest = None;
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
            if error <= 1.0
                && self.atoms_are_finite()
                && PLACES[1..].iter().all(|s| self.exists_on_line(&x, &f, &bend_at(&bend, *s), s * h))
            {
                let guards = self.guards_on_parabola(&x, &f, &bend, h);
                if self.are_shown(&guards) {
                    self.keep_parabola(&x, &f, &bend, h, &guards);
                    return Ok(Some(h));
                }
                longest.get_or_insert((bend, h, guards));
                if self.stamp.t + 0.125 * h <= self.stamp.t {
                    break;
                }
            }
            h *= if error.is_finite() && error > 1.0 { (0.8 / error).clamp(0.02, 0.5) } else { 0.125 };
        }
        // A guard that no step shows has a pole here, or swings ever faster.
        if let Some((bend, h, guards)) = longest {
            self.keep_parabola(&x, &f, &bend, h, &guards);
            return Ok(Some(h));
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

    /// Makes the segment of a flow at rest, as long as its guards allow; its length.
    pub fn stand_still(&mut self, remaining: f64) -> f64 {
        let plan = self.combination().plan.clone();
        let x: Vec<f64> = plan.states.iter().map(|&(slot, _)| self.env[slot as usize]).collect();
        let still = vec![0.0; x.len()];
        let t = self.stamp.t;
        let halves = std::iter::successors(Some(remaining), |length| Some(0.5 * length));
        let shown = halves.take_while(|length| t + length > t).find_map(|length| {
            let guards = self.guards_on_parabola(&x, &still, &still, length);
            self.are_shown(&guards).then_some((length, guards))
        });
        let (length, guards) =
            shown.unwrap_or_else(|| (remaining, self.guards_on_parabola(&x, &still, &still, remaining)));
        self.keep_parabola(&x, &still, &still, length, &guards);
        length
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

    /// True if all guards do what their parabolas tell.
    fn are_shown(&self, guards: &[Sampled]) -> bool {
        guards.iter().all(|guard| guard.is_shown(self.tolerance))
    }

    /// Makes the segment of a parabola.
    fn keep_parabola(&mut self, x: &[f64], f: &[f64], bend: &[f64], h: f64, guards: &[Sampled]) {
        self.place_line(x, f, &vec![0.0; x.len()], 0.0);
        let hidden = self.slopes_of_atoms(x, f);
        self.give_rows(3);
        for (i, guard) in guards.iter().enumerate() {
            self.given.row_mut(i).copy_from_slice(&guard.row(h * hidden[i]));
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

    /// The values of all guards along a parabola.
    fn guards_on_parabola(&mut self, x: &[f64], f: &[f64], bend: &[f64], h: f64) -> Vec<Sampled> {
        let slots: Vec<u32> =
            self.combination().atoms.iter().map(|a| self.code.atoms[a.index()].slot).collect();
        let mut guards = vec![Sampled::default(); slots.len()];
        for (k, s) in PLACES.iter().enumerate() {
            self.place_line(x, f, &bend_at(bend, *s), s * h);
            for (guard, &slot) in guards.iter_mut().zip(&slots) {
                guard.0[k] = self.env[slot as usize];
            }
        }
        guards
    }
}

/// What bends a parabola at a place, given what does at its end.
fn bend_at(bend: &[f64], s: f64) -> Vec<f64> {
    bend.iter().map(|b| s * s * b).collect()
}

/// A guard at the five places.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled([f64; 5]);

impl Sampled {
    /// The coefficients of the parabola through the values at the start, in the middle and at the end.
    fn parabola(self) -> [f64; 3] {
        let [a, _, m, _, b] = self.0;
        [a, 4.0 * m - 3.0 * a - b, 2.0 * (a - 2.0 * m + b)]
    }

    /// How far the parabola is from the values between.
    fn error(self) -> f64 {
        let row = self.parabola();
        let off = |k: usize| (self.0[k] - polynomial::evaluate(&row, PLACES[k])).abs();
        off(1).max(off(3))
    }

    /// The least size behind the start, if the guard has one sign there and no other at the start.
    fn least_of_one_sign(self) -> Option<f64> {
        let sign = self.0[4].signum();
        let least = self.0[1..].iter().fold(f64::INFINITY, |least, g| least.min(sign * g));
        (sign * self.0[0] >= 0.0 && least > 0.0).then_some(least)
    }

    /// True if the parabola tells what the guard does: it is right within the tolerance, or its error is
    /// nothing to how far the guard is from zero. A guard that does not exist is not looked at.
    fn is_shown(self, tolerance: Tolerance) -> bool {
        let (error, size) = (self.error(), self.0.iter().fold(0.0_f64, |size, g| size.max(g.abs())));
        let is_far = || self.least_of_one_sign().is_some_and(|least| least > CLEAR * error);
        !self.0[0].is_finite() || error <= tolerance.of(size) || is_far()
    }

    /// Coefficients with the signs of the guard, which moves by `hidden` if it is zero wherever it was
    /// looked at. A parabola that follows a greater power than a square from zero begins the wrong way; a
    /// line does not.
    fn row(self, hidden: f64) -> [f64; 3] {
        let row @ [a, slope, bend] = self.parabola();
        if [a, self.0[2], self.0[4]] == [0.0; 3] {
            return [0.0, hidden, 0.0];
        }
        let summit = -0.5 * slope / bend;
        let dips = 0.0 < summit && summit < 1.0 && {
            let depth = -polynomial::evaluate(&row, summit) * self.0[4].signum();
            depth > 0.0 && depth <= CLEAR * self.error()
        };
        let is_line = dips && self.least_of_one_sign().is_some();
        if is_line { [a, self.0[4] - a, 0.0] } else { row }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(guard: impl Fn(f64) -> f64) -> Sampled {
        Sampled(PLACES.map(guard))
    }

    fn shows(guard: impl Fn(f64) -> f64) -> bool {
        sampled(guard).is_shown(Tolerance { relative: 1e-6, absolute: 1e-9 })
    }

    #[test]
    fn a_parabola_is_shown_as_it_is() {
        let guard = sampled(|s| (s - 0.6) * (s - 0.65));
        assert!(guard.error() < 1e-15 && shows(|s| (s - 0.6) * (s - 0.65)));
        assert!((guard.row(7.0)[1] + 1.25).abs() < 1e-14);
    }

    #[test]
    fn guards_that_leave_zero_are_shown_by_their_sign() {
        for power in [0.01, 0.1, 0.5, 1.5, 2.1] {
            assert!(shows(|s| s.powf(power)) && shows(|s| -s.powf(power)), "{power}");
            let row = sampled(|s| s.powf(power)).row(0.0);
            assert!([0.001, 0.01, 0.1, 1.0].iter().all(|&s| polynomial::evaluate(&row, s) > 0.0), "{power}");
        }
        assert_eq!(sampled(|_| 0.0).row(3.0), [0.0, 3.0, 0.0]);
    }

    #[test]
    fn guards_near_zero_are_not_shown_by_a_parabola_that_misses_them() {
        assert!(!shows(|s| s.sqrt() - 0.6));
        assert!(shows(|s| s.sqrt() - 2.0));
        assert!(!shows(|s| s.powi(200) - 0.5));
        assert!(!shows(|s| (20.0 * s).sin() - 0.5));
    }
}
