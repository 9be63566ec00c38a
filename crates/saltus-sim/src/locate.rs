//! Locating the next instant on the polynomial in force.
//!
//! The zeros of all guards on the step are known and sorted. Zeros whose brackets overlap are one
//! set, read together. The scan goes from set to set, keeps signs and edge flags up to date, and
//! stops at the first set at which something happens, at a tick, or at the end of the step. Roots past
//! the end of the step are left to the next one.

use crate::combination::{Combination, Watch};
use crate::compile::{Edge, EdgeKind, Effect, Signs, Unless, When};
use crate::explain;
use crate::guards::sign_of;
use crate::options::{Policy, Recording};
use crate::report::{Ending, Stamp};
use crate::runner::Runner;
use crate::segment::{Crossing, Segment, StepRoot};
use saltus_num::polynomial;

/// Zeros of a guard and an edge at the same place are this many roundings of time apart at most.
const EDGE_ROUNDING: f64 = 64.0;
/// How often the way behind a kink is doubled, from one rounding error of time.
const ROUNDINGS_BEHIND: u32 = 12;
/// The same for what happens at one time, if steps are proved and nothing more is known: they begin where
/// no number is special, and their brackets do not tell what was rounded before.
pub(crate) const PROOF_ROUNDING: f64 = 64.0;
/// Where steps become too short to advance time, a pole is at most this many roundings of time away:
/// steps towards it are a share of the distance.
const POLE_ROUNDING: f64 = 1024.0;
/// A state nearer than this to the end of the range of numbers counts as beyond it: steps that come ever
/// nearer would end where rounding swallows them.
const GREATEST_STATE: f64 = f64::MAX * (1.0 - 1e-9);

/// What comes next on the segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Located {
    /// Nothing up to its end.
    Nothing,
    /// An instant; its time is that of a root and may be off by rounding, or exact.
    Instant { t: f64, s: f64, is_rounded: bool },
}

impl Runner<'_> {
    /// Finds the next instant.
    pub fn locate(&mut self) -> Located {
        let tick = self.next_tick().min(self.until);
        let tick_place = self.segment.place_of(tick);
        loop {
            let first = self.segment.next_root;
            let Some(&root) = self.segment.roots.get(first) else { break };
            if self.is_later(root, tick, tick_place) {
                break;
            }
            let end = self.end_of_set(first);
            let members = &self.segment.roots[first..end];
            let high = members.iter().fold(root.hi, |h, r| h.max(r.hi));
            let exact = members.iter().map(|r| r.exact).fold(f64::NAN, f64::min);
            let near = members.iter().map(|r| r.stop).fold(high, f64::min);
            let meets_tick = exact == tick || tick_place <= high || self.is_at(root, high, tick);
            // An edge that was passed unseen goes before the tick at the end of the step.
            let meets_tick =
                meets_tick && (!self.method.sees_ends_only() || self.exists_at_place(tick_place));
            self.segment.next_root = end;
            let happens = self.cross(first, end);
            if happens || meets_tick {
                self.doubt_about(first, end);
                let passes = self.passes_edge(first, end);
                let stop = if passes { high } else { near };
                let place = stop.clamp(self.segment.cursor, self.segment.end.max(self.segment.cursor));
                let place =
                    if passes { self.behind_kinks(place, first, end) } else { self.before_edges(place) };
                if self.leaves_edge(first, end) {
                    self.join_edge(place);
                }
                let (t, s) = if meets_tick {
                    (tick, tick_place.clamp(self.segment.cursor, self.segment.end))
                } else if exact.is_nan() {
                    (self.segment.time_of(place), place)
                } else {
                    (exact, self.segment.place_of(exact).clamp(self.segment.cursor, self.segment.end))
                };
                let is_rounded = !meets_tick && exact.is_nan();
                return Located::Instant { t: t.max(self.stamp.t), s, is_rounded };
            }
            self.settle_signs(first, end);
            if self.segment.compared <= high {
                self.compare_further(high);
            }
        }
        let end = self.segment.end;
        if self.has_tick(tick, tick_place) {
            let s = tick_place.clamp(self.segment.cursor, end);
            return Located::Instant { t: tick, s, is_rounded: false };
        }
        // Far from all zeros, edges included, the flow exists at the end if it did at the start.
        if self.segment.is_far || self.exists_at_place(end) { Located::Nothing } else { self.meet_edge(end) }
    }

    /// True if a tick is on the step, or cannot be told from its end.
    fn has_tick(&self, tick: f64, tick_place: f64) -> bool {
        tick_place <= self.segment.end || self.same_time(self.segment.end, tick)
    }

    /// True if a root is behind the tick or behind the end of the step. One that cannot be told from a
    /// tick on the step is now, on whichever side of it, and of an end there, rounding has put it.
    fn is_later(&mut self, root: StepRoot, tick: f64, tick_place: f64) -> bool {
        let is_behind = root.lo > tick_place.min(self.segment.end) || self.is_crossed_later(root, tick_place);
        let has_tick = is_behind && self.has_tick(tick, tick_place);
        is_behind && !(has_tick && (root.exact == tick || self.is_at(root, root.lo, tick)))
    }

    /// True if a sign changes behind the end of the step although its bracket begins before: from
    /// there it is seen better, unless a tick in the bracket makes it happen now.
    fn is_crossed_later(&self, root: StepRoot, tick_place: f64) -> bool {
        let Crossing::Atom(p, after) = root.crossing else { return false };
        let changes = self.signs[p as usize].after != after;
        changes && root.stop > self.segment.end && !(root.lo..=root.hi).contains(&tick_place)
    }

    /// The place of the first event on the segment, ticks apart. Signs and flags are afterwards
    /// those up to there.
    pub fn first_event(&mut self) -> Option<f64> {
        let mut first = 0;
        while let Some(&root) = self.segment.roots.get(first).filter(|r| r.lo <= self.segment.end) {
            let end = self.end_of_set(first);
            if self.cross(first, end) {
                return Some(root.lo);
            }
            self.settle_signs(first, end);
            first = end;
        }
        None
    }

    /// True if a place on the step cannot be told from a time.
    fn same_time(&self, s: f64, t: f64) -> bool {
        (self.segment.time_of(s) - t).abs() <= 2.0 * f64::EPSILON * t.abs()
    }

    /// True if a time cannot be told from that of the root where the run stands.
    pub fn is_now(&self, t: f64) -> bool {
        let roundings = if self.method.is_proof() { PROOF_ROUNDING } else { 2.0 };
        (self.stamp.t - t).abs() <= roundings * f64::EPSILON * t.abs()
    }

    /// True if an end of the bracket of a root cannot be told from a time.
    fn is_at(&mut self, root: StepRoot, s: f64, t: f64) -> bool {
        self.same_time(s, t) || self.is_off_by_rounding(root, s, t)
    }

    /// One past the last root whose bracket overlaps those of the set that begins at `first`, or would
    /// overlap each of them but for rounding: two roots that are surely apart are not one because
    /// rounding may have parted a third from both.
    fn end_of_set(&mut self, first: usize) -> usize {
        let mut high = self.segment.roots[first].hi;
        let mut end = first + 1;
        while let Some(&root) = self.segment.roots.get(end) {
            let is_later = root.lo > high + f64::EPSILON * self.rounding_span(high);
            if is_later && !(first..end).all(|k| self.are_parted_by_rounding(self.segment.roots[k], root)) {
                break;
            }
            high = high.max(root.hi);
            end += 1;
        }
        end
    }

    /// Brings the set of roots into the signs and tells whether anything happens there.
    fn cross(&mut self, first: usize, end: usize) -> bool {
        // Methods that look at the ends of steps find guards past their zeros, not at them; what
        // leaves the edge of a function still has it to leave.
        let past = self.method.sees_ends_only() && self.options.guard_tolerance.is_none();
        for k in first..end {
            if let Crossing::Atom(p, after) = self.segment.roots[k].crossing {
                let past = past && self.live_edges(p).next().is_none();
                self.signs[p as usize] = if past { Signs::steady(after) } else { Signs { now: 0, after } };
            }
        }
        let mut happens = false;
        for k in first..end {
            match self.segment.roots[k].crossing {
                Crossing::Stair { .. } => happens = true,
                Crossing::Atom(p, _) => {
                    for w in 0..self.combination().watchers[p as usize].len() {
                        let watch = self.combination().watchers[p as usize][w];
                        happens |= self.makes_instant(self.combination().watches[watch as usize]);
                    }
                }
            }
        }
        happens
    }

    /// True if the watch asks for an instant with the present signs.
    fn makes_instant(&self, watch: Watch) -> bool {
        match watch {
            Watch::Rule(r) => self.rule_makes_instant(r),
            Watch::Invariant(b, i) => {
                !self.holds_after(&self.code.blocks[b as usize].invariants[i as usize].formula)
            }
            Watch::Domain(b, i) => {
                !self.holds_after(&self.code.blocks[b as usize].domains[i as usize].formula)
            }
            Watch::Stop(b, i) => self.holds(&self.code.blocks[b as usize].stops[i as usize].0.formula),
            Watch::Edge(b, i) => self.is_in_force(&self.code.blocks[b as usize].edges[i as usize]),
            Watch::Switch(s) => self.switch_value(s) != self.env[self.code.switches[s as usize].slot.index()],
        }
    }

    /// True if some roots touch an edge of a domain, or cross a kink: the run goes on behind them,
    /// where the series is that of the other side.
    fn passes_edge(&self, first: usize, end: usize) -> bool {
        self.segment.roots[first..end].iter().any(|root| {
            let Crossing::Atom(p, after) = root.crossing else { return false };
            self.live_edges(p)
                .any(|e| e.kind == EdgeKind::Kink || e.kind == EdgeKind::NonNegative && after > 0)
        })
    }

    /// True if a function in force ends to exist at some roots.
    fn leaves_edge(&self, first: usize, end: usize) -> bool {
        self.segment.roots[first..end].iter().any(|root| {
            let Crossing::Atom(p, after) = root.crossing else { return false };
            self.live_edges(p).any(|e| e.kind.is_left(after))
        })
    }

    /// Guards that become zero within rounding of the edge of a function are zero at it: a guard
    /// and an edge at the same place are computed by different expressions, and behind the edge
    /// nothing can happen any more. True if there are any.
    fn join_edge(&mut self, place: f64) -> bool {
        let mut any = false;
        let near = EDGE_ROUNDING * f64::EPSILON * self.rounding_span(place);
        for p in 0..self.signs.len() {
            let sign = self.signs[p].now;
            self.load_row(p, self.segment.ratio);
            let length = self.row_length(p);
            let (value, slope) = polynomial::evaluate_with_derivative(&self.row[..length], place);
            let falls = sign_of(slope) == -sign;
            if sign != 0 && falls && value.abs() <= near * slope.abs() {
                self.signs[p] = Signs { now: 0, after: -sign };
                any = true;
            }
        }
        any
    }

    /// Gives the start of the segment as a root to all guards that are zero within rounding of it, if
    /// a function in force ends to exist there.
    pub fn roots_at_edge(&mut self) -> bool {
        let near = POLE_ROUNDING * f64::EPSILON * self.rounding_span(0.0);
        for p in 0..self.signs.len() {
            let sign = self.signs[p].now;
            self.load_row(p, 1.0);
            let (value, slope) = (self.row[0], self.row[1]);
            let after = sign_of(slope);
            if after != 0 && sign != after && value.abs() <= near * slope.abs() {
                let crossing = Crossing::Atom(p as u32, after);
                self.segment.roots.push(StepRoot::at(0.0, crossing));
            }
        }
        self.leaves_edge(0, self.segment.roots.len())
    }

    /// A place, or as little before it as the functions in force need to exist. The polynomial of
    /// an atom and the atom itself are zero within rounding of each other, and beyond the latter
    /// nothing may be evaluated.
    fn before_edges(&mut self, place: f64) -> f64 {
        let rounding = f64::EPSILON * self.rounding_span(place);
        let (mut inside, mut outside, mut back) = (place, place, rounding);
        while inside > self.segment.cursor && !self.exists_at_place(inside) {
            outside = inside;
            inside = (inside - back).max(self.segment.cursor);
            back *= 2.0;
        }
        // Methods that look at the ends of steps may be far behind the edge.
        while outside - inside > 4.0 * rounding {
            let middle = 0.5 * (inside + outside);
            if self.exists_at_place(middle) { inside = middle } else { outside = middle }
        }
        inside
    }

    /// A place, or as little behind it as the kinks at some roots need to be passed: their atoms, computed
    /// there, have the signs they have behind.
    fn behind_kinks(&mut self, place: f64, first: usize, end: usize) -> f64 {
        let (mut behind, mut further) = (place, f64::EPSILON * self.rounding_span(place));
        for _ in 0..ROUNDINGS_BEHIND {
            if self.kinks_are_passed(behind, first, end) {
                return behind;
            }
            behind = (behind + further).min(self.segment.end);
            further *= 2.0;
        }
        place
    }

    fn kinks_are_passed(&mut self, place: f64, first: usize, end: usize) -> bool {
        self.aside(|runner| {
            runner.stand_at(place);
            let combination = runner.combinations.get(runner.current);
            combination.watching.eval(&mut runner.env, &mut runner.scratch);
            runner.segment.roots[first..end].iter().all(|root| {
                let Crossing::Atom(p, after) = root.crossing else { return true };
                let is_kink = runner.live_edges(p).any(|edge| edge.kind == EdgeKind::Kink);
                !is_kink || sign_of(runner.env[combination.atom_slots[p as usize] as usize]) == after
            })
        })
    }

    /// The time at a place in units of the step: relative errors of time are shares of it.
    fn rounding_span(&self, place: f64) -> f64 {
        place + self.segment.origin.abs() / self.segment.h.max(f64::MIN_POSITIVE)
    }

    pub fn exists_at_place(&mut self, place: f64) -> bool {
        self.flow_exists_where(|runner| runner.stand_at(place))
    }

    /// True if the flow exists where `put` puts time and states: all functions in force, by the
    /// values of their own atoms there, and the declared domains. The flow is not evaluated.
    pub fn flow_exists_where(&mut self, put: impl FnOnce(&mut Self)) -> bool {
        let combination = self.combination();
        if !combination.has_edges && !combination.has_domains {
            return true;
        }
        self.aside(|runner| {
            put(runner);
            let combination = runner.combinations.get(runner.current);
            combination.watching.eval(&mut runner.env, &mut runner.scratch);
            let value = |p: usize| runner.env[combination.atom_slots[p] as usize];
            let inside = runner.code.is_inside(combination, &runner.env, |slot| runner.env[slot as usize]);
            inside && (0..runner.signs.len()).all(|p| runner.existing_edges(p, value(p)))
        })
    }

    /// Does something with other values in the environment, and puts the present ones back.
    pub fn aside<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let mut saved = std::mem::take(&mut self.saved);
        saved.clone_from(&self.env);
        let result = look(self);
        self.env.copy_from_slice(&saved);
        self.saved = saved;
        result
    }

    /// True if all functions in force that depend on an atom exist where it has a value.
    fn existing_edges(&self, p: usize, value: f64) -> bool {
        self.combination().watchers[p].iter().all(|&w| match self.combination().watches[w as usize] {
            Watch::Edge(b, i) => {
                let edge = &self.code.blocks[b as usize].edges[i as usize];
                edge.kind.exists_at(value) || !self.is_in_force(edge)
            }
            _ => true,
        })
    }

    /// The step ends behind an edge that its polynomial has not met. Within rounding of the edge,
    /// that is where it is met; else the polynomial is not accurate enough and the step is cut.
    fn meet_edge(&mut self, end: f64) -> Located {
        let place = self.before_edges(end);
        let t = self.segment.time_of(place);
        if self.join_edge(place) {
            return Located::Instant { t: t.max(self.stamp.t), s: place, is_rounded: true };
        }
        if t > self.stamp.t {
            self.segment.end = place;
        }
        Located::Nothing
    }

    /// The edges at an active atom whose functions are in force.
    pub fn live_edges(&self, p: u32) -> impl Iterator<Item = Edge> + '_ {
        let watchers = self.combination().watchers[p as usize].iter();
        let edges = watchers.filter_map(|&w| match self.combination().watches[w as usize] {
            Watch::Edge(b, i) => Some(self.code.blocks[b as usize].edges[i as usize]),
            _ => None,
        });
        edges.filter(|e| self.is_in_force(e))
    }

    fn is_in_force(&self, edge: &Edge) -> bool {
        let position = &self.combination().position;
        let signs = |unless: Unless| self.signs[position[unless.atom().index()] as usize];
        let absent = edge.unless.is_some_and(|unless| unless.is_so(signs(unless)));
        !absent && self.code.is_live(self.combination(), &self.env, edge)
    }

    fn rule_makes_instant(&self, r: u32) -> bool {
        let rule = &self.code.rules[r as usize];
        let lazy = matches!(rule.effect, Effect::Transition { may: true, .. })
            && self.options.policy == Policy::Lazy;
        match &rule.when {
            When::Edge { formula, .. } => !lazy && self.armed[r as usize] && self.holds(formula),
            _ => !lazy && self.is_enabled(r),
        }
    }

    /// Nothing happened at a set of roots: from here on the signs are those after it, and edges
    /// that have become false are armed, those of transitions that have become true are over.
    fn settle_signs(&mut self, first: usize, end: usize) {
        for k in first..end {
            let Crossing::Atom(p, _) = self.segment.roots[k].crossing else { continue };
            let after = self.signs[p as usize].after;
            self.signs[p as usize] = Signs::steady(after);
        }
        for k in first..end {
            let Crossing::Atom(p, _) = self.segment.roots[k].crossing else { continue };
            for w in 0..self.combination().watchers[p as usize].len() {
                let watch = self.combination().watchers[p as usize][w];
                if let Watch::Rule(r) = self.combination().watches[watch as usize] {
                    self.pass_edge(r);
                }
            }
        }
    }

    /// Reports roots that were taken as simultaneous although their brackets only overlap.
    fn doubt_about(&mut self, first: usize, end: usize) {
        let StepRoot { lo, hi, .. } = self.segment.roots[first];
        let members = &self.segment.roots[first..end];
        if members.iter().any(|r| (r.lo, r.hi) != (lo, hi)) {
            let t = self.segment.time_of(lo);
            let count = members.len();
            self.note(
                t,
                format!(
                    "{count} guards are zero within rounding of each other; they were taken as simultaneous"
                ),
            );
        }
    }

    /// Moves to a place on the segment that is an instant.
    pub fn move_to(&mut self, t: f64, s: f64) -> Result<(), Box<Ending>> {
        self.fly_to(s)?;
        self.segment.cursor = s;
        self.stamp = Stamp { t, n: 0, i: 0 };
        self.t_low = 0.0;
        self.env[0] = t;
        self.evaluate_for_instant();
        self.jets_fresh = false;
        Ok(())
    }

    /// Stairs that move on no longer stand on the edges they have met.
    fn leave_edges(&mut self, s: f64) {
        if s > self.segment.cursor {
            self.met_edges.fill(f64::NAN);
        }
    }

    /// The whole segment was flown without an instant.
    pub fn reach_segment_end(&mut self) -> Result<(), Box<Ending>> {
        self.fly_to(self.segment.end)?;
        let Self { segment, .. } = self;
        let length = segment.end * segment.h;
        let exact = segment.origin + length;
        let lost = length - (exact - segment.origin);
        let low = segment.origin_low + lost;
        let t = exact + low;
        // A tick within rounding of the end has its own time, which may be later.
        let (t, low) = if t < self.stamp.t { (self.stamp.t, 0.0) } else { (t, low - (t - exact)) };
        self.stamp = Stamp { t, n: 0, i: 0 };
        self.t_low = low;
        self.env[0] = t;
        self.record_flow();
        self.segment.cursor = self.segment.end;
        self.segment.valid = false;
        self.jets_fresh = false;
        Ok(())
    }

    /// Moves the states to a place on the segment; the run ends if one of them has outgrown the numbers there.
    fn fly_to(&mut self, s: f64) -> Result<(), Box<Ending>> {
        self.compute_states(s);
        // Nearly always one look at all of them is enough; what is not a number is not small either.
        let all_are_small = self.put_states() <= GREATEST_STATE;
        if !all_are_small && let Some(state) = self.outgrowing_until(s) {
            return Err(self.grow_without_bound(state, s));
        }
        self.carry_rounding(s);
        self.leave_edges(s);
        self.flown += (s - self.segment.cursor) * self.segment.h;
        Ok(())
    }

    /// The first state that has outgrown the numbers between where the run stands and a place. Otherwise
    /// the states are those of the place, and else as they were.
    #[cold]
    fn outgrowing_until(&mut self, s: f64) -> Option<u32> {
        self.place_states(self.segment.cursor);
        self.compute_states(s);
        let outgrown = self.outgrowing();
        if outgrown.is_none() {
            self.put_states();
        }
        outgrown
    }

    /// The first of the computed states that has outgrown the numbers since the present ones.
    fn outgrowing(&self) -> Option<u32> {
        let states = self.combination().plan.states.iter().zip(&self.scratch);
        let mut outgrown = states.filter(|(_, x)| has_outgrown(**x));
        outgrown.find(|&(&(slot, _), &x)| x != self.env[slot as usize]).map(|(&(slot, _), _)| slot)
    }

    /// Stands at the last place before `s` at which all states are numbers.
    #[cold]
    fn grow_without_bound(&mut self, mut state: u32, s: f64) -> Box<Ending> {
        let (mut within, mut beyond) = (self.segment.cursor, s);
        for _ in 0..f64::MANTISSA_DIGITS {
            let middle = 0.5 * (within + beyond);
            self.compute_states(middle);
            match self.outgrowing() {
                None => within = middle,
                Some(first) => (beyond, state) = (middle, first),
            }
        }
        if within > self.segment.cursor {
            self.place_states(within);
            self.stamp = Stamp { t: self.segment.time_of(within).max(self.stamp.t), n: 0, i: 0 };
            self.env[0] = self.stamp.t;
        }
        self.evaluate_plan();
        explain::unbounded(self, state)
    }

    /// Puts the time and the states of a place on the segment into the environment.
    pub fn stand_at(&mut self, s: f64) {
        self.place_states(s);
        self.env[0] = self.segment.time_of(s);
    }

    pub fn place_states(&mut self, s: f64) {
        self.compute_states(s);
        self.put_states();
    }

    fn compute_states(&mut self, s: f64) {
        let coefficients = coefficients(&self.segment, self.combinations.get(self.current));
        self.segment.evaluate(coefficients, s, &mut self.scratch);
    }

    /// Puts the computed states into the environment, and tells the sum of their sizes.
    fn put_states(&mut self) -> f64 {
        let states = &self.combinations.get(self.current).plan.states;
        let mut size = 0.0;
        // One by one: a copy of several at once may have to wait until they have left for the cache.
        for (&(slot, _), &value) in states.iter().zip(&self.scratch) {
            self.env[slot as usize] = value;
            size += value.abs();
        }
        size
    }

    /// Appends the flow since the last record to the trace.
    pub fn record_flow(&mut self) {
        let segment = &self.segment;
        let span = segment.recorded..self.stamp.t;
        if self.options.recording != Recording::All || segment.states + segment.orders == 0 || span.is_empty()
        {
            return;
        }
        let data = coefficients(segment, self.combinations.get(self.current));
        let rows =
            (0..segment.orders).map(|k| &data[k * segment.stride..k * segment.stride + segment.states]);
        self.trace.push_segment(segment.origin, span.clone(), segment.h / segment.ratio, rows);
        self.segment.recorded = span.end;
    }
}

/// True if a state is at the end of the range of numbers, or none.
pub(crate) fn has_outgrown(x: f64) -> bool {
    x.is_nan() || x.abs() > GREATEST_STATE
}

/// The coefficients of the states on the segment: its own, or those of the jets.
pub(crate) fn coefficients<'a>(segment: &'a Segment, combination: &'a Combination) -> &'a [f64] {
    if segment.coefficients.is_empty() { combination.jets.states().data() } else { &segment.coefficients }
}
