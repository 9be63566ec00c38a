//! Certified steps: what the proof says overrules what the computed polynomials say.
//!
//! A step is as long as it can be proved, see [`saltus_solve::certificate`]. Within it a guard has a
//! root where the proof has a bracket with a change of sign, and nowhere else: zeros are not looked
//! for. A bracket without one is a possible tangency: it is reported, and passed. A step of which
//! nothing can be proved is made like any other and counted.

use crate::guards::{sign_of, start_root};
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
    /// The prover, and the combination it is for, with native code or without.
    certifier: Option<Box<((usize, bool), Certifier)>>,
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

    /// A proved length cut to what was asked, but not within the bracket of a change.
    pub fn cut(&self, length: f64, asked: f64) -> f64 {
        let brackets = self.certifier.as_ref().map_or(&[][..], |c| c.1.brackets());
        let ends = brackets.iter().filter(|b| b.t_lo <= asked).filter_map(|b| b.t_hi);
        ends.fold(length.min(asked), f64::max)
    }

    /// The flow has jumped.
    pub fn reset(&mut self) {
        if let Some(prover) = &mut self.certifier {
            prover.1.reset();
        }
    }
}

impl Runner<'_> {
    /// Proves as much of a step as can be: the length of what comes of it. The verdict is kept for
    /// [`Runner::take_proved_roots`].
    pub fn prove_step(&mut self, length: f64) -> (f64, Verdict) {
        let mut proofs = std::mem::take(&mut self.proofs);
        self.watch_atoms(&mut proofs.watches);
        let combination = self.combinations.get(self.current);
        let jets = combination.jets.as_ref();
        let key = (self.current, combination.settled);
        if proofs.certifier.as_ref().is_none_or(|c| c.0 != key) {
            let certifier =
                Certifier::new(&combination.plan, jets, &combination.atom_slots, &combination.crowd);
            proofs.certifier = Some(Box::new((key, certifier)));
        }
        let local = (self.method == EventMethod::Validated).then_some(self.tolerance);
        let request = Request {
            env: &self.env,
            jets,
            scale: self.scale,
            h: length,
            resolution: self.resolution(length),
            local,
        };
        let verdict = match &mut proofs.certifier {
            Some(prover) => prover.1.certify(request, &proofs.watches),
            None => Verdict::Uncertain { h: length, obstacle: None },
        };
        // Time must advance by something that a number can tell.
        let least = (2.0 * proofs.unproved).max(4.0 * f64::EPSILON * self.stamp.t.abs()).min(length);
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
            let combination = self.combination();
            let value = || combination.jets.coefficient(combination.atom_slots[p], 0);
            let is_steady = match combination.in_bank(p) {
                Some(_) => self.earliest[p] > 0.0,
                None => now != 0 && now == sign_of(value()),
            };
            if is_steady {
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

    /// The roots on the segment are those that are proved, if the step is.
    pub fn take_proved_roots(&mut self, verdict: Verdict, ratio: f64) {
        let (origin, h, end) = (self.segment.origin, self.segment.h, self.segment.end);
        let certificate = &mut self.proofs.certificate;
        if let Verdict::Uncertain { obstacle, .. } = verdict {
            certificate.unproved_steps += 1;
            let what = obstacle.map_or_else(|| "the enclosure does not close".into(), |o| o.to_string());
            certificate.doubt(Doubt { from: origin, to: origin + end * h, what });
            self.find_roots(ratio);
            return;
        }
        certificate.proved_steps += 1;
        for (p, watch) in self.proofs.watches.iter().enumerate().filter(|(_, watch)| watch.from_zero) {
            start_root(&mut self.segment.roots, p, &mut self.signs[p], watch.sign.value() as i8);
        }
        let Some(prover) = self.proofs.certifier.take() else { return };
        for bracket in prover.1.brackets() {
            let (p, lo) = (bracket.guard, bracket.t_lo / h);
            let Some(t_hi) = bracket.t_hi.filter(|_| bracket.changes && lo <= end) else { continue };
            let (hi, stop) = (t_hi / h, bracket.stop / h);
            let exact = self.exact_zero(p, self.row_length(p));
            let crossing = Crossing::Atom(p as u32, bracket.after.value() as i8);
            self.segment.roots.push(StepRoot { lo, hi, stop: stop.clamp(lo, hi), exact, crossing });
        }
        self.proofs.certifier = Some(prover);
        self.stair_roots(ratio);
        self.segment.roots.sort_by(|a, b| a.lo.total_cmp(&b.lo));
        if self.has_many_guards() {
            self.end_behind_first_root();
        }
        self.proofs.certificate.proved_time += self.segment.end * h;
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
