//! Certified steps: what the proof says overrules what the computed polynomials say.
//!
//! A step is as long as it can be proved, see [`saltus_solve::certificate`]. Within it a guard has a
//! root where the proof has a bracket with a change of sign, and nowhere else: zeros are not looked
//! for. A bracket without one is a possible tangency: it is reported, and passed. A step of which
//! nothing can be proved is made like any other and counted.

use crate::carried::Carried;
use crate::combination::{self, Combination};
use crate::compile::{Signs, Unless};
use crate::guards::{greatest_powers, sign_of, start_root};
use crate::kept::Kept;
use crate::method::EventMethod;
use crate::report::{Certificate, Doubt, Ending};
use crate::runner::Runner;
use crate::segment::{Crossing, StepRoot};
use crate::sift::sift;
use saltus_expr::jet::{Length, Obstacle, ObstacleKind};
use saltus_num::polynomial;
use saltus_num::roots::{Sign, excludes_zero};
use saltus_num::{MARGIN, greater, lesser};
use saltus_solve::certificate::{Certifier, Request, Verdict, Watch};

/// Brackets of events are at most this share of the relative tolerance of the step wide.
const RESOLUTION: f64 = 1e-3;
/// With narrower tolerances what is known of crowds is lost in rounding.
pub(crate) const LEAST_TOLERANCE: f64 = 1e-11;
/// Nor need they be narrower than so many roundings of time.
const TIME_RESOLUTION: f64 = 16.0;
/// The bracket of a root at the stop time is at most so many roundings of time wide, where the tolerance asks
/// for less.
const BEYOND_END: f64 = 256.0;
/// Doubts that are kept.
const DOUBTS: usize = 100;

/// The proofs of a run.
#[derive(Default)]
pub(crate) struct Proofs {
    pub certificate: Certificate,
    /// The signs that the pending atoms must keep.
    watches: Vec<Watch>,
    pub carried: Carried,
    /// Length of the last step if it was not proved. Where rounding hides the sign of a guard, such
    /// steps grow until it is seen again.
    pub unproved: f64,
    /// How long the tolerance allows the step to be.
    pub unit: f64,
    /// The step is proved by what was proved before, and no guard comes near to zero on it.
    is_plain: bool,
    /// How much of the value of each atom is left on the step at least, by the sizes of its coefficients.
    rooms: Vec<f64>,
    /// Atoms at which more than their sizes have to be looked; apart from them it is known of those of a
    /// crowd until when they keep their signs.
    pending: Vec<usize>,
    /// Those of them that may be zero where the step begins.
    unsteady: Vec<usize>,
    is_crowd_known: bool,
    /// Atoms of the crowd that may change on the step, and by atom how far these may be off their polynomials,
    /// where the flow is proved part by part.
    near: Vec<u32>,
    pub radii: Vec<f64>,
    /// How fast they change at the start of the step.
    pub speeds: Vec<f64>,
    /// The parts of the flow were proved one by one.
    pub by_parts: bool,
    /// The last step was cut because a function may leave its domain.
    is_cut: bool,
}

impl Runner<'_> {
    /// The longest step that is worth a try.
    pub fn longest_proof(&self) -> f64 {
        let prover = self.combination().prover.as_ref();
        greater(prover.map_or(f64::INFINITY, |prover| prover.longest()), 2.0 * self.proofs.unproved)
    }

    /// A proved length cut to what was asked, but not within the bracket of a change.
    #[inline]
    pub fn cut_proof(&self, length: f64, asked: f64) -> f64 {
        if self.proofs.is_plain {
            return lesser(length, asked);
        }
        let brackets = self.combination().prover.as_ref().map_or(&[][..], |prover| prover.brackets());
        // What begins within a rounding of time behind it is there, too.
        let last = asked + f64::EPSILON * (self.stamp.t + asked);
        let ends = brackets.iter().filter(|b| b.t_lo <= last).filter_map(|b| b.t_hi);
        ends.fold(length.min(asked), f64::max)
    }

    /// The flow has jumped, or could not be proved.
    pub fn reset_prover(&mut self) {
        if let Some(prover) = &mut self.combinations.get_mut(self.current).prover {
            prover.reset();
        }
    }

    /// Proves as much of a step as can be: the length of what comes of it. The verdict is kept for
    /// [`Runner::take_proved_roots`].
    #[inline]
    pub fn prove_step(&mut self, length: f64) -> Result<(f64, Verdict), Box<Ending>> {
        self.proofs.is_plain = self.is_plain(length);
        if self.proofs.is_plain {
            self.proofs.by_parts = false;
            (self.proofs.is_cut, self.proofs.unproved) = (false, 0.0);
            return Ok((length, Verdict::Proved { h: length }));
        }
        self.prove_anew(length)
    }

    /// True if the flow is proved to stay near its polynomial by what was proved for earlier steps, and the
    /// sizes of its coefficients show that every guard keeps its sign.
    #[inline(never)]
    fn is_plain(&mut self, length: f64) -> bool {
        let combination = self.combinations.get_mut(self.current);
        let Combination { prover, jets, atom_rows, switches, bank, has_idle_kinks, .. } = combination;
        let is_simple = switches.is_empty() && bank.is_none() && !*has_idle_kinks;
        let is_asked = is_simple && self.method == EventMethod::Certified;
        let Some(prover) = prover.as_mut().filter(|prover| is_asked && prover.may_hold(length)) else {
            return false;
        };
        let jets = jets.as_ref();
        let whole = Length { h: length, unit: greater(self.proofs.unit, length), scale: self.scale };
        let powers = greatest_powers(length / self.scale, self.order);
        let rooms = &mut self.proofs.rooms;
        rooms.clear();
        for (signs, row) in self.signs.iter().zip(atom_rows) {
            let [value, slope, rest] = row.memory.spread(jets.arena());
            let change = slope.abs() * powers[0] + rest * powers[1];
            rooms.push(f64::from(signs.now) * value * (1.0 - MARGIN) - change);
        }
        let is_plain = rooms.iter().all(|&room| room > 0.0)
            && prover.holds(&self.env, jets, whole, self.tolerance.absolute)
            && rooms.iter().enumerate().all(|(p, &room)| room > prover.radius(p));
        if is_plain {
            prover.confirm();
        }
        is_plain
    }

    #[inline(never)]
    fn prove_anew(&mut self, length: f64) -> Result<(f64, Verdict), Box<Ending>> {
        // Nothing can be proved of a step to the edge of a function; a second try would only be shorter.
        if std::mem::take(&mut self.proofs.is_cut) && self.leaves_domain(length) {
            return Ok((length, Verdict::Uncertain { h: length, obstacle: self.obstacle() }));
        }
        self.watch_atoms(length);
        let resolution = self.resolution(length);
        let Combination { prover, jets, plan, atom_slots, crowd, banked, kept, .. } =
            self.combinations.get_mut(self.current);
        let jets = jets.as_ref();
        let prover = prover.get_or_insert_with(|| Box::new(Certifier::new(plan, jets, atom_slots, crowd)));
        let absolute = self.tolerance.absolute;
        let local = (self.method == EventMethod::Validated).then_some(self.tolerance);
        let slack = if self.tolerance.relative >= LEAST_TOLERANCE { self.outlook.slack() } else { &[] };
        let by_parts = kept.as_ref().is_some_and(Kept::is_known);
        self.proofs.by_parts = by_parts;
        let radius = |p: usize| self.proofs.radii[p];
        let request = Request {
            env: &self.env,
            jets,
            scale: self.scale,
            h: length,
            unit: self.proofs.unit,
            resolution,
            absolute,
            local,
            slack,
            near: &self.proofs.near,
            radii: by_parts.then_some(&radius as _),
        };
        let (signs, earliest, scale, proofs) = (&self.signs, &self.earliest, self.scale, &self.proofs);
        let watch = |p: usize| {
            if proofs.is_crowd_known && banked[p] != u32::MAX && earliest[p] > 0.0 {
                Watch { sign: Sign::from(signs[p].now), from_zero: false, until: earliest[p] * scale }
            } else {
                proofs.watches[p]
            }
        };
        let verdict = prover.certify(request, &watch);
        if verdict == Verdict::Blurred {
            let length = self.leave_parts(length)?;
            return self.prove_anew(length);
        }
        // Time must advance by something that a number can tell.
        let tick = 4.0 * f64::EPSILON * self.stamp.t.abs().max(length);
        let least = (2.0 * self.proofs.unproved).max(tick).min(length);
        let (length, verdict) = match verdict {
            Verdict::Proved { h } if h >= least => (h, verdict),
            Verdict::Possible { t_clear, hc, .. } if t_clear < hc && hc >= least => {
                (t_clear.max(least), verdict)
            }
            Verdict::Proved { .. } | Verdict::Possible { .. } => {
                (least, Verdict::Uncertain { h: least, obstacle: None })
            }
            _ => (length, Verdict::Uncertain { h: length, obstacle: None }),
        };
        self.proofs.is_cut = self.obstacle().is_some_and(|o| o.kind == ObstacleKind::Domain);
        self.proofs.unproved = 0.0;
        if let Verdict::Uncertain { h, .. } = verdict {
            self.proofs.unproved = h;
            self.reset_prover();
        }
        Ok((length, verdict))
    }

    /// The parts of the flow are proved too widely, one by one, to tell what guards do: the step is made for the flow
    /// as a whole. Tells its length.
    fn leave_parts(&mut self, length: f64) -> Result<f64, Box<Ending>> {
        if let Some(kept) = &mut self.combinations.get_mut(self.current).kept {
            kept.pause();
        }
        self.jets_fresh = false;
        self.refresh_jets();
        self.survey_guards(length)
    }

    /// True if the states are proved to be as accurate on the step as the tolerance asks.
    pub fn is_accurate(&self, verdict: Verdict) -> bool {
        let Combination { prover, kept, .. } = self.combination();
        matches!(verdict, Verdict::Proved { .. })
            && match kept.as_ref().filter(|_| self.proofs.by_parts) {
                Some(kept) => kept.is_accurate(),
                None => prover.as_ref().is_some_and(|prover| prover.excess(&self.env, self.tolerance) <= 1.0),
            }
    }

    /// The function that made the last step shorter, if one did.
    fn obstacle(&self) -> Option<Obstacle> {
        self.combination().prover.as_ref().and_then(|prover| prover.obstacle())
    }

    /// True if the computed flow leaves the domain of a function in force on a step.
    fn leaves_domain(&mut self, length: f64) -> bool {
        (0..self.signs.len()).any(|p| {
            if !self.live_edges(p as u32).any(|edge| edge.kind.is_left(-1)) {
                return false;
            }
            self.load_row(p, length / self.scale);
            let row = &self.row[..self.row_length(p)];
            // Mostly the sign at the end tells.
            let is_beyond = row[0] * polynomial::evaluate(row, 1.0) < 0.0;
            is_beyond || !excludes_zero(row) && self.finder.first_root(row).is_some()
        })
    }

    /// How much further than the run a proof goes: a root at the very end has to lie inside.
    pub fn proof_beyond(&self, remaining: f64) -> f64 {
        if self.method.is_proof() {
            greater(self.resolution(remaining), BEYOND_END * f64::EPSILON * self.until)
        } else {
            0.0
        }
    }

    /// Brackets of events on a step need not be narrower than this.
    pub fn resolution(&self, length: f64) -> f64 {
        let asked = RESOLUTION * greater(self.tolerance.relative, f64::EPSILON) * length;
        greater(asked, TIME_RESOLUTION * f64::EPSILON * (self.stamp.t + length))
    }

    /// The signs that the atoms must keep on the step, apart from those of a crowd of which it is known until
    /// when they do.
    fn watch_atoms(&mut self, length: f64) {
        self.list_pending();
        self.watch_steady_atoms();
        if self.combination().has_idle_kinks {
            self.leave_idle_atoms(length);
        }
        let unsteady = std::mem::take(&mut self.proofs.unsteady);
        for &p in &unsteady {
            self.proofs.watches[p] = self.watch_from_zero(p, length);
        }
        self.proofs.unsteady = unsteady;
    }

    /// Watches no atoms that do not matter on a step.
    fn leave_idle_atoms(&mut self, length: f64) {
        let Proofs { pending, unsteady, .. } = &mut self.proofs;
        let (pending, mut unsteady) = (std::mem::take(pending), std::mem::take(unsteady));
        unsteady.retain(|&p| !self.does_not_matter(p, length));
        for &p in &pending {
            if self.does_not_matter(p, length) {
                self.proofs.watches[p] = Watch::NONE;
            }
        }
        (self.proofs.pending, self.proofs.unsteady) = (pending, unsteady);
    }

    /// Finds the atoms of which more has to be known than what was found of a crowd, and those of it that may
    /// change on the step.
    fn list_pending(&mut self) {
        let combination = self.combinations.get(self.current);
        let Proofs { near, pending, is_crowd_known, .. } = &mut self.proofs;
        near.clear();
        pending.clear();
        *is_crowd_known = self.earliest.len() == self.signs.len() && !combination.has_idle_kinks;
        if !*is_crowd_known {
            near.extend(0..self.signs.len() as u32);
            pending.extend(0..self.signs.len());
            return;
        }
        sift(&self.earliest, |&place| place < f64::INFINITY, |p| near.push(p as u32));
        let is_banked = |p: usize| combination.banked[p] != u32::MAX;
        let earliest = &self.earliest;
        pending.extend(near.iter().map(|&p| p as usize).filter(|&p| earliest[p] <= 0.0 && is_banked(p)));
        pending.extend(combination.eager.iter().map(|&p| p as usize));
    }

    /// True if an atom is but the kink of what is shown, or the cut of functions that have none on the
    /// step.
    fn does_not_matter(&mut self, p: usize, length: f64) -> bool {
        let combination = self.combination();
        let watchers = combination.watchers[p].len();
        combination.shown_alone[p]
            || watchers > 0
                && (0..watchers).all(|k| self.cut(p, k).is_some_and(|x| self.stays_positive(x, length)))
    }

    /// The atom that must not be positive for what watches an atom, if that is the edge of a function.
    fn cut(&self, p: usize, k: usize) -> Option<usize> {
        let combination = self.combination();
        match combination.watches[combination.watchers[p][k] as usize] {
            combination::Watch::Edge(b, i) => {
                let Some(Unless::Positive(atom)) = self.code.blocks[b as usize].edges[i as usize].unless
                else {
                    return None;
                };
                Some(combination.position[atom.index()] as usize)
            }
            _ => None,
        }
    }

    /// True if the sizes of its coefficients show that an atom stays well above zero.
    fn stays_positive(&mut self, p: usize, length: f64) -> bool {
        self.load_row(p, length / self.scale);
        let (value, others) = (self.row[0], &self.row[1..self.row_length(p)]);
        self.signs[p].now > 0 && value > 2.0 * others.iter().map(|c| c.abs()).sum::<f64>()
    }

    /// Watches the pending atoms whose values have their signs and are more than they move by, as far as is easily
    /// told, or which cannot rest there: an atom that is but the edge of functions that derivatives depend on is not
    /// zero on a proved step. Lists the others.
    fn watch_steady_atoms(&mut self) {
        let Runner { combinations, signs, earliest, scale, proofs, .. } = self;
        let Proofs { watches, pending, unsteady, .. } = proofs;
        let Combination { banked, atom_rows, jets, is_edge_alone, prover, .. } =
            combinations.get(self.current);
        let arena = jets.arena();
        watches.resize(signs.len(), Watch::NONE);
        unsteady.clear();
        for &p in &*pending {
            let now = signs[p].now;
            let is_implied =
                || is_edge_alone[p] && prover.as_ref().is_some_and(|prover| prover.keeps_away(p));
            let (is_steady, until) = if banked[p] == u32::MAX {
                let row = &atom_rows[p].memory;
                let value = row.value(arena);
                let is_far = || {
                    let [_, slope, rest] = row.spread(arena);
                    value.abs() > slope.abs() + rest
                };
                (now != 0 && now == sign_of(value) && (is_implied() || is_far()), 0.0)
            } else {
                let until = earliest[p] * *scale;
                (until > 0.0, until)
            };
            if is_steady {
                watches[p] = Watch { sign: Sign::from(now), from_zero: false, until };
            } else {
                unsteady.push(p);
            }
        }
    }

    /// A watch for an atom that may be zero; none for one that rests there, of which nothing is proved.
    fn watch_from_zero(&mut self, p: usize, length: f64) -> Watch {
        let Signs { now, after } = self.signs[p];
        // An instant has told where it goes.
        if now == 0 && after.abs() == 1 {
            return Watch { sign: Sign::from(after), from_zero: true, until: 0.0 };
        }
        self.load_row(p, 1.0);
        let is_steady = now != 0 && now == sign_of(self.row[0]);
        let Some(motion) = self.first_motion(p, self.row_length(p), 1.0) else {
            self.doubt_resting(p, length);
            return Watch::NONE;
        };
        let sign = if is_steady { now } else { motion };
        Watch { sign: Sign::from(sign), from_zero: !is_steady, until: 0.0 }
    }

    fn doubt_resting(&mut self, p: usize, length: f64) {
        self.signs[p] = Signs::steady(self.signs[p].now);
        let quantity = self.code.atoms[self.combination().atoms[p].index()].quantity;
        let text = crate::explain::expression(self, quantity);
        let what = format!("`{text}` rests at zero: of its motion nothing is left but rounding");
        let from = self.stamp.t;
        self.proofs.certificate.doubt(Doubt { from, to: from + length, what });
    }

    /// The roots on the segment are those that are proved, if the step is.
    pub fn take_proved_roots(&mut self, verdict: Verdict, ratio: f64) {
        let (origin, h, end) = (self.segment.origin, self.segment.h, self.segment.end);
        let certificate = &mut self.proofs.certificate;
        if self.proofs.is_plain {
            certificate.proved_steps += 1;
            self.segment.is_far = true;
            self.settle_all_signs();
            return;
        }
        if let Verdict::Uncertain { obstacle, .. } = verdict {
            certificate.unproved_steps += 1;
            let what = obstacle.map_or_else(|| "the enclosure does not close".into(), |o| o.to_string());
            certificate.doubt(Doubt { from: origin, to: origin + end * h, what });
            if self.earliest.is_empty() && self.has_many_guards() {
                self.survey_eager();
            }
            self.find_roots(ratio);
            return;
        }
        certificate.proved_steps += 1;
        for &p in &self.proofs.pending {
            let watch = self.proofs.watches[p];
            if watch.from_zero {
                start_root(&mut self.segment.roots, p, &mut self.signs[p], watch.sign.value() as i8);
            }
        }
        let Some(prover) = self.combinations.get_mut(self.current).prover.take() else { return };
        for bracket in prover.brackets() {
            let (p, lo) = (bracket.guard, bracket.t_lo / h);
            let Some(t_hi) = bracket.t_hi.filter(|_| bracket.changes && lo <= end) else { continue };
            let (hi, stop) = (t_hi / h, bracket.stop / h);
            let exact = self.exact_zero(p, self.row_length(p));
            let crossing = Crossing::Atom(p as u32, bracket.after.value() as i8);
            let (stop, slope) = (stop.clamp(lo, hi), bracket.slope * h);
            self.segment.roots.push(StepRoot { lo, hi, stop, exact, slope, crossing });
        }
        self.combinations.get_mut(self.current).prover = Some(prover);
        self.stair_roots(ratio);
        self.segment.roots.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        if self.has_many_guards() {
            self.end_behind_first_root();
        }
        self.segment.is_far = true;
        self.settle_all_signs();
        if let Verdict::Possible { guard, t_lo, t_clear, .. } = verdict {
            let quantity = self.code.atoms[self.combination().atoms[guard].index()].quantity;
            let text = crate::explain::expression(self, quantity);
            let (from, to) = (origin + t_lo, origin + t_clear);
            let what = format!("possible tangency: `{text}` may touch zero or cross it twice");
            self.note(from, format!("{what} between {from} and {to}; it was passed"));
            self.proofs.certificate.doubt(Doubt { from, to, what });
        }
    }
}

impl Certificate {
    fn doubt(&mut self, doubt: Doubt) {
        if self.doubts.len() < DOUBTS {
            self.doubts.push(doubt);
        }
        self.doubtful += 1;
    }
}
