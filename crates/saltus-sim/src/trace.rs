//! The trace: intervals of flow joined by jumps, kept as polynomials and sampled on demand.

use crate::report::Stamp;
use crate::segment::horner;
use saltus_expr::FlowPlan;
use std::ops::Range;
use std::sync::Arc;

/// A stretch of flow in one polynomial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Where the polynomial starts.
    pub origin: f64,
    /// Where it begins to be valid (after an instant that did not disturb it, later than `origin`).
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// The unit of the polynomial's argument: s = (t - origin) / scale.
    pub scale: f64,
    coefficients: usize,
    degree: u32,
}

impl Segment {
    /// The inner ends of so many equal parts.
    fn divide(&self, parts: usize, times: &mut Vec<f64>) {
        let step = (self.end - self.start) / parts as f64;
        times.extend((1..parts).map(|k| self.start + k as f64 * step));
    }
}

/// What holds between two rounds, or between a round and the next instant.
#[derive(Clone, Debug)]
pub struct Epoch {
    /// The instant it begins with.
    pub stamp: Stamp,
    /// False for the change of a branch inside a non-smooth function, which is no event.
    pub visible: bool,
    plan: u32,
    changes: Range<usize>,
    segments: Range<usize>,
}

/// The recorded flow of a run.
#[derive(Debug, Default)]
pub struct Trace {
    initial: Vec<f64>,
    plans: Vec<Arc<FlowPlan>>,
    epochs: Vec<Epoch>,
    segments: Vec<Segment>,
    coefficients: Vec<f64>,
    changes: Vec<(u32, f64)>,
}

/// A point of a trace, with all variables evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// The instant; between events n = i = 0 is the flow after the last jump.
    pub stamp: Stamp,
    /// What the point is to the curve it lies on.
    pub role: Role,
    /// True for the limit from before where a branch of a non-smooth function ends; the same instant
    /// follows with the branches that hold from there on.
    pub ends_branch: bool,
    /// Values of all variables, by [`saltus_expr::VarId`].
    pub values: &'a [f64],
}

/// Place of a point on its piece of curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// First point after a jump (or of the run).
    Start,
    /// Inside a piece.
    Inside,
    /// Last point before a jump (or of the run).
    End,
}

impl Trace {
    pub(crate) fn begin(&mut self, env: &[f64], plan: &Arc<FlowPlan>) {
        *self = Self { initial: env.to_vec(), ..Self::default() };
        self.push_epoch(Stamp::default(), true, plan, &[], env);
    }

    /// Opens a new epoch; `changed` names the slots whose values differ from the flow so far.
    pub(crate) fn push_epoch(
        &mut self,
        stamp: Stamp,
        visible: bool,
        plan: &Arc<FlowPlan>,
        changed: &[u32],
        env: &[f64],
    ) {
        let known = self.plans.last().is_some_and(|last| Arc::ptr_eq(last, plan));
        if !known {
            self.plans.push(plan.clone());
        }
        let start = self.changes.len();
        self.changes.extend(changed.iter().map(|&slot| (slot, env[slot as usize])));
        let here = self.segments.len();
        let plan = self.plans.len() as u32 - 1;
        let changes = start..self.changes.len();
        self.epochs.push(Epoch { stamp, visible, plan, changes, segments: here..here });
    }

    /// Appends a stretch of flow to the current epoch. `rows[k]` yields the coefficients of order k
    /// of all states of the plan.
    pub(crate) fn push_segment<'c>(
        &mut self,
        origin: f64,
        span: Range<f64>,
        scale: f64,
        rows: impl Iterator<Item = &'c [f64]>,
    ) {
        let coefficients = self.coefficients.len();
        let mut orders = 0;
        for row in rows {
            self.coefficients.extend_from_slice(row);
            orders += 1;
        }
        let degree = u32::max(orders, 1) - 1;
        self.segments.push(Segment { origin, start: span.start, end: span.end, scale, coefficients, degree });
        if let Some(epoch) = self.epochs.last_mut() {
            epoch.segments.end = self.segments.len();
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        8 * self.coefficients.len()
            + 16 * self.changes.len()
            + size_of::<Segment>() * self.segments.len()
            + size_of::<Epoch>() * self.epochs.len()
    }

    /// The stretches of flow between rounds.
    pub fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }

    /// The polynomials of an epoch.
    pub fn segments(&self, epoch: &Epoch) -> &[Segment] {
        &self.segments[epoch.segments.clone()]
    }

    /// Calls `visit` at every jump (both limits), where a branch of a non-smooth function changes (both
    /// limits), at `per_segment` points inside every segment, and additionally at the multiples of
    /// `every`, in order of time.
    ///
    /// The values are those of all variables, signals included.
    pub fn walk(&self, sampling: Sampling, mut visit: impl FnMut(Point<'_>)) {
        let mut env = self.initial.clone();
        let mut scratch = Vec::new();
        let mut times = Vec::new();
        let mut rest = self.epochs.as_slice();
        while let Some(settled) = self.settled(rest) {
            let (chain, next) = rest.split_at(settled + 1);
            let epoch = &chain[settled];
            for &(slot, value) in &self.changes[chain[0].changes.start..epoch.changes.end] {
                env[slot as usize] = value;
            }
            let plan = &self.plans[epoch.plan as usize];
            let segments = self.segments(epoch);
            env[plan.time_slot as usize] = epoch.stamp.t;
            plan.eval(&mut env, &mut scratch);
            let role = match chain[0].visible {
                true => Role::Start,
                false if segments.is_empty() => Role::End,
                false => Role::Inside,
            };
            visit(Point { stamp: epoch.stamp, role, ends_branch: false, values: &env });
            let ends_branch = next.first().is_some_and(|next| !next.visible);
            for (k, segment) in segments.iter().enumerate() {
                sampling.times(segment, &mut times);
                for &t in &times {
                    self.place(segment, plan, t, &mut env);
                    plan.eval(&mut env, &mut scratch);
                    let is_last = k + 1 == segments.len() && t == segment.end;
                    let role = if is_last && !ends_branch { Role::End } else { Role::Inside };
                    let ends_branch = is_last && ends_branch;
                    visit(Point { stamp: Stamp { t, n: 0, i: 0 }, role, ends_branch, values: &env });
                }
            }
            rest = next;
        }
    }

    /// The last of the epochs that follow the first without flow between them and change only branches:
    /// what the first has changed is complete when the branches agree with it.
    fn settled(&self, epochs: &[Epoch]) -> Option<usize> {
        let is_settled =
            |k: usize| !epochs[k].segments.is_empty() || epochs.get(k + 1).is_none_or(|next| next.visible);
        (0..epochs.len()).find(|&k| is_settled(k))
    }

    /// Puts time and states at `t` of a segment into the environment.
    fn place(&self, segment: &Segment, plan: &FlowPlan, t: f64, env: &mut [f64]) {
        env[plan.time_slot as usize] = t;
        let n = plan.states.len();
        let s = if segment.scale == 0.0 { 0.0 } else { (t - segment.origin) / segment.scale };
        for (i, &(slot, _)) in plan.states.iter().enumerate() {
            let rows = &self.coefficients[segment.coefficients..];
            let [value] = horner(rows, n, segment.degree as usize + 1, i, s);
            env[slot as usize] = value;
        }
    }
}

/// At which times a trace is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// So many points inside each polynomial, and its end.
    PerSegment(usize),
    /// At whole multiples of a period, and at the ends of pieces.
    Every(f64),
    /// Evenly inside each polynomial, neighbours at most `apart`, but at least so many, and its end.
    Spaced {
        /// Greatest distance of neighbours in time.
        apart: f64,
        /// Fewest points inside a polynomial.
        least: usize,
    },
}

/// More points inside one polynomial show nothing new.
const MOST_PER_SEGMENT: f64 = 100_000.0;

impl Sampling {
    fn times(self, segment: &Segment, times: &mut Vec<f64>) {
        times.clear();
        match self {
            Self::PerSegment(inner) => segment.divide(inner + 1, times),
            Self::Spaced { apart, least } => {
                let parts = ((segment.end - segment.start) / apart).ceil().clamp(1.0, MOST_PER_SEGMENT);
                segment.divide((parts as usize).max(least + 1), times);
            }
            Self::Every(period) => {
                let mut k = (segment.start / period).floor() + 1.0;
                while k * period < segment.end {
                    times.push(k * period);
                    k += 1.0;
                }
            }
        }
        times.push(segment.end);
    }
}
