//! Certified steps: what the proof says overrules what the computed polynomials say.
//!
//! A step is as long as it can be proved, see [`saltus_solve::certificate`]. Within it a guard has a
//! root where the proof has a bracket with a change of sign, and nowhere else. A bracket without one
//! is a possible tangency: it is reported, and passed. A step of which nothing can be proved is made
//! like any other and counted.

use crate::guards::sign_of;
use crate::method::EventMethod;
use crate::report::{Certificate, Doubt};
use crate::runner::Runner;
use crate::segment::{Crossing, StepRoot};
use saltus_num::roots::{Sign, sign_after_zero};
use saltus_solve::certificate::{Certifier, Request, Verdict, Watch};

/// Brackets of events are at most this share of the relative tolerance of the step wide.
const RESOLUTION: f64 = 1e-3;
/// Doubts that are kept.
const DOUBTS: usize = 100;

/// The proofs of a run.
#[derive(Default)]
pub(crate) struct Proofs {
    pub certificate: Certificate,
    /// The prover, and the combination it is for.
    certifier: Option<(usize, Certifier)>,
    watches: Vec<Watch>,
    /// Length of the last step if it was not proved. Where rounding hides the sign of a guard, such
    /// steps grow until it is seen again.
    unproved: f64,
}

impl Proofs {
    /// The longest step that is worth a try.
    pub fn longest(&self) -> f64 {
        self.certifier.as_ref().map_or(f64::INFINITY, |c| c.1.longest()).max(2.0 * self.unproved)
    }

    /// The flow has jumped.
    pub fn reset(&mut self) {
        if let Some((_, certifier)) = &mut self.certifier {
            certifier.reset();
        }
    }
}

impl Runner<'_> {
    /// Proves as much of a step as can be: the length of what comes of it. The verdict is kept for
    /// [`Runner::overrule_roots`].
    pub fn prove_step(&mut self, length: f64) -> (f64, Verdict) {
        let mut proofs = std::mem::take(&mut self.proofs);
        self.watch_atoms(&mut proofs.watches);
        let combination = self.combinations.get(self.current);
        if proofs.certifier.as_ref().is_none_or(|c| c.0 != self.current) {
            let certifier = Certifier::new(&combination.whole_plan(), self.order, &combination.atom_slots);
            proofs.certifier = Some((self.current, certifier));
        }
        let local = (self.method == EventMethod::Validated).then_some(self.tolerance);
        let request = Request {
            env: &self.env,
            states: combination.jets.states(),
            scale: self.scale,
            h: length,
            resolution: self.resolution(length),
            local,
        };
        let verdict = match &mut proofs.certifier {
            Some((_, certifier)) => certifier.certify(request, &proofs.watches),
            None => Verdict::Uncertain { h: length, obstacle: None },
        };
        // Time must advance by something that a number can tell.
        let least = (2.0 * proofs.unproved).max(4.0 * f64::EPSILON * self.stamp.t.abs()).min(length);
        let (length, verdict) = match verdict {
            Verdict::Proved { h } if h >= least => (h, verdict),
            Verdict::Event { t_hi, .. } if t_hi > 0.0 => (t_hi.max(least), verdict),
            Verdict::Possible { t_clear, hc, .. } if t_clear < hc && hc >= least => {
                (t_clear.max(least), verdict)
            }
            Verdict::Proved { .. } | Verdict::Possible { .. } => {
                (least, Verdict::Uncertain { h: least, obstacle: None })
            }
            _ => (length, Verdict::Uncertain { h: length, obstacle: None }),
        };
        proofs.unproved = 0.0;
        if let Verdict::Uncertain { h, .. } = verdict {
            proofs.unproved = h;
            proofs.reset();
        }
        self.proofs = proofs;
        (length, verdict)
    }

    /// How much further than the run a proof goes: a root at the very end has to lie inside.
    pub fn proof_beyond(&self, remaining: f64) -> f64 {
        if self.method.is_proof() { self.resolution(remaining) } else { 0.0 }
    }

    /// Brackets of events on a step need not be narrower than this.
    fn resolution(&self, length: f64) -> f64 {
        RESOLUTION * self.tolerance.relative.max(f64::EPSILON) * length
    }

    /// The signs that the atoms must keep on the step.
    fn watch_atoms(&mut self, watches: &mut Vec<Watch>) {
        watches.clear();
        for p in 0..self.signs.len() {
            let now = self.signs[p].now;
            if self.combination().in_bank(p).is_some() && self.earliest[p] > 0.0 {
                watches.push(Watch { sign: Sign::of(f64::from(now)), from_zero: false });
                continue;
            }
            self.load_row(p, 1.0);
            let is_steady = now != 0 && now == sign_of(self.row[0]);
            let length = self.row_length(p);
            let sign =
                if is_steady { Sign::of(f64::from(now)) } else { sign_after_zero(&self.row[1..length]) };
            watches.push(Watch { sign, from_zero: !is_steady });
        }
    }

    /// Replaces the roots on the segment by those that are proved.
    pub fn overrule_roots(&mut self, verdict: Verdict) {
        let (origin, h, end) = (self.segment.origin, self.segment.h, self.segment.end);
        let certificate = &mut self.proofs.certificate;
        if let Verdict::Uncertain { obstacle, .. } = verdict {
            certificate.unproved_steps += 1;
            let what = obstacle.map_or_else(|| "the enclosure does not close".into(), |o| o.to_string());
            certificate.doubt(Doubt { from: origin, to: origin + end * h, what });
            return;
        }
        certificate.proved_steps += 1;
        certificate.proved_time += end * h;
        let Some((_, certifier)) = &self.proofs.certifier else { return };
        let computed = std::mem::take(&mut self.segment.roots);
        let is_start = |r: &&StepRoot| r.hi == 0.0;
        let is_stair = |r: &&StepRoot| matches!(r.crossing, Crossing::Stair { .. });
        let mut roots: Vec<StepRoot> =
            computed.iter().filter(|r| is_start(r) || is_stair(r)).copied().collect();
        // What overlaps with an event, as far as times can be told apart, happens with it.
        let (overlap, rounding) = match verdict {
            Verdict::Event { .. } => (self.resolution(end * h), f64::EPSILON * origin.abs()),
            _ => (0.0, 0.0),
        };
        let (first, last) = (end * h + rounding, end * h + overlap.max(rounding));
        for bracket in certifier.brackets() {
            let (p, lo) = (bracket.guard as u32, bracket.t_lo / h);
            let Some(t_hi) = bracket.t_hi.filter(|&t| bracket.t_lo <= first && t <= last) else { continue };
            let after = match self.proofs.watches[bracket.guard].sign {
                Sign::Positive => -1,
                _ => 1,
            };
            let crossing = Crossing::Atom(p, after);
            let within = |r: &&StepRoot| r.crossing == crossing && r.hi >= lo && r.lo <= t_hi / h;
            let (stop, exact) = computed.iter().find(within).map_or((lo, f64::NAN), |r| (r.stop, r.exact));
            roots.push(StepRoot { lo, hi: t_hi / h, stop: stop.clamp(lo, t_hi / h), exact, crossing });
        }
        roots.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        self.segment.roots = roots;
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
