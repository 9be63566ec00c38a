//! Polynomials that outlive an instant: those of the parts of a flow that it leaves alone.
//!
//! A jump mostly touches few of many independent parts. The others go on along the polynomials they have,
//! seen from a later origin. Only the parts that were touched are expanded anew, and those whose
//! polynomials may soon not be trusted any more, each for a step of its own. Where steps are proved, a part
//! is proved for its own step as it is expanded, from the point where it is then.

use saltus_expr::jet::{Bank, Distance, JetMachine, Jets, Length, MOVES, Roundings, move_origin};
use saltus_expr::{FlowPlan, Part, Parts};
use saltus_num::UNIT;
use saltus_num::elementary::powi;
use saltus_solve::certificate::{FlowProof, LOCAL_ERROR};
use saltus_solve::taylor::{StepBound, Tolerance};
use std::collections::HashMap;
use std::ops::Range;

/// With fewer parts all are expanded as easily.
const LEAST_PARTS: usize = 4;
/// A part is expanded anew if less than this share of its step is left, and less than is asked for.
const LEFT: f64 = 0.5;
/// Polynomials are trusted no farther than so many units of their coefficients.
const FARTHEST: f64 = 32.0;
/// The share of the step of a part for which it is proved: towards the end of a step what is proved is as wide
/// as the tolerance, too wide to tell when something happens.
const PROVED: f64 = 0.33;
/// Without proofs the rounding of all changes of the origin is less than this share of the tolerance.
const ROUNDING: f64 = 0.01;
/// After a part that was not proved, so many times all is proved at once.
const PATIENCE: u32 = 16;

/// When polynomials begin, as a sum of two numbers, and the unit of their coefficients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub time: [f64; 2],
    pub unit: f64,
}

/// How far polynomials are to be trusted.
#[derive(Clone, Copy)]
pub(crate) struct Trust {
    /// A bound of steps that knows nothing yet.
    pub bound: StepBound,
    pub tolerance: Tolerance,
    /// Less than this is not worth to be kept.
    pub asked: f64,
    /// Whether it is to be proved how far.
    pub is_proof: bool,
}

/// The polynomials of the parts of one flow, in the state matrix of its jets.
pub(crate) struct Kept {
    parts: Parts,
    /// What expands one part, for each class.
    machines: Vec<Machine>,
    /// The highest order of the states in each group of four.
    degrees: Vec<usize>,
    order: usize,
    /// The parts that depend on each slot, one after another, and where those of a slot begin.
    readers: Vec<u32>,
    first_readers: Vec<u32>,
    /// The arguments of the bank that belong to each part, and the part and the state that each argument is.
    arguments: Vec<Vec<Argument>>,
    states_of_arguments: Vec<Option<(usize, usize)>>,
    /// The constants that the bank reads.
    constants: Vec<u32>,
    /// The part that each slot is a state of.
    parts_of_slots: Vec<Option<u32>>,
    /// Where the polynomials begin; `None` if they are to be computed all at once.
    origin: Option<Origin>,
    /// From when to when the polynomials of each part may be trusted.
    spans: Vec<[f64; 2]>,
    /// How far each state may be from its polynomial, and what rounding does to it in a unit of time, if that is
    /// proved.
    radii: Vec<Distance>,
    roundings: Vec<f64>,
    /// Whether that is as little for each part as the tolerance asks.
    is_accurate: Vec<bool>,
    /// How often the origin was moved, and had been when each part was expanded.
    moves: u64,
    born: Vec<u64>,
    /// For how long nothing is tried.
    waits: u32,
    /// Parts to be expanded, and those that were since this was asked last.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    renewed: Vec<u32>,
    /// Parts expanded alone.
    pub uses: u64,
    /// Native code was made or refused.
    pub settled: bool,
}

/// An argument of the bank, and the state that it is.
#[derive(Clone, Copy)]
struct Argument {
    argument: usize,
    state: usize,
}

struct Machine {
    jets: Box<dyn Jets>,
    /// Made when first needed.
    proof: Option<FlowProof>,
    /// Highest order of a state.
    degree: usize,
    env: Vec<f64>,
}

impl Kept {
    /// For a flow with the jets that evaluate it, and what reads its states; `None` if it is of one piece.
    pub fn new(plan: &FlowPlan, jets: &dyn Jets, bank: &Bank) -> Option<Kept> {
        let parts = Parts::of(plan);
        let count = parts.list().len();
        if count < LEAST_PARTS {
            return None;
        }
        let order = jets.order();
        let machine = |plan: &FlowPlan| Machine::new(Box::new(JetMachine::new(plan, order)), plan);
        let states: Vec<u32> = plan.states.iter().map(|&(slot, _)| slot).collect();
        let degree = |&slot: &u32| jets.degree(slot).within(order);
        let degrees = states.chunks(4).map(|group| group.iter().map(degree).max().unwrap_or(0)).collect();
        let mut dependents = vec![Vec::new(); plan.slots];
        let mut arguments: Vec<Vec<Argument>> = vec![Vec::new(); count];
        let places: HashMap<u32, usize> = bank.slots().iter().copied().zip(0..).collect();
        for (part, Part { slots, states: members, .. }) in (0..).zip(parts.list()) {
            slots.iter().for_each(|&slot| dependents[slot as usize].push(part));
            let argument = |&state: &usize| Some(Argument { argument: *places.get(&states[state])?, state });
            arguments[part as usize].extend(members.iter().filter_map(argument));
        }
        let mut parts_of_slots = vec![None; plan.slots];
        for (part, Part { states: members, .. }) in (0..).zip(parts.list()) {
            members.iter().for_each(|&state| parts_of_slots[states[state] as usize] = Some(part));
        }
        let mut states_of_arguments = vec![None; bank.slots().len()];
        for (part, arguments) in arguments.iter().enumerate() {
            for &Argument { argument, state } in arguments {
                states_of_arguments[argument] = Some((part, state));
            }
        }
        let is_constant = |&slot: &u32| jets.degree(slot).is_constant();
        let starts = dependents.iter().scan(0, |end, parts| {
            *end += parts.len() as u32;
            Some(*end)
        });
        Some(Kept {
            first_readers: std::iter::once(0).chain(starts).collect(),
            readers: dependents.concat(),
            machines: parts.classes().iter().map(machine).collect(),
            parts,
            radii: vec![Distance::default(); states.len()],
            roundings: vec![0.0; states.len()],
            is_accurate: vec![false; count],
            moves: 0,
            born: vec![0; count],
            waits: 0,
            degrees,
            order,
            arguments,
            states_of_arguments,
            constants: bank.slots().iter().copied().filter(is_constant).collect(),
            parts_of_slots,
            origin: None,
            spans: vec![[0.0; 2]; count],
            touched: Vec::with_capacity(count),
            is_touched: vec![false; count],
            renewed: Vec::with_capacity(count),
            uses: 0,
            settled: false,
        })
    }

    /// The plan of each class.
    pub fn classes(&self) -> &[FlowPlan] {
        self.parts.classes()
    }

    /// Takes other evaluators of the classes, with the same results.
    pub fn take_machines(&mut self, jets: impl Iterator<Item = Box<dyn Jets>>) {
        let machines = jets.zip(self.parts.classes()).map(|(jets, plan)| Machine::new(jets, plan));
        self.machines = machines.collect();
    }

    /// A new run begins.
    pub fn restart(&mut self) {
        self.forget();
        self.waits = 0;
        self.machines.iter_mut().filter_map(|machine| machine.proof.as_mut()).for_each(FlowProof::restart);
    }

    /// Nothing is known any more.
    pub fn forget(&mut self) {
        self.origin = None;
        self.renewed.clear();
    }

    /// The next time all is proved at once.
    pub fn pause(&mut self) {
        self.waits = self.waits.max(1);
        self.forget();
    }

    /// Some slots have other values than they would by the flow.
    pub fn touch(&mut self, slots: &[u32]) {
        for &slot in slots {
            for k in self.readers_of(slot) {
                self.list(self.readers[k]);
            }
        }
    }

    /// Where the parts that depend on a slot are listed.
    fn readers_of(&self, slot: u32) -> Range<usize> {
        let [first, end] = [0, 1].map(|next| self.first_readers[slot as usize + next] as usize);
        first..end
    }

    fn list(&mut self, part: u32) {
        if !std::mem::replace(&mut self.is_touched[part as usize], true) {
            self.touched.push(part);
        }
    }

    /// True if one of some slots belongs to a part that was not expanded at the origin; it is listed to be.
    pub fn renew_stale(&mut self, slots: &[u32]) -> bool {
        let Some(Origin { time, .. }) = self.origin else { return false };
        let before = self.touched.len();
        for &slot in slots {
            let Some(part) = self.parts_of_slots[slot as usize] else { continue };
            if self.spans[part as usize][0] != time[0] {
                self.list(part);
            }
        }
        self.touched.len() > before
    }

    /// Moves the polynomials to another origin, where the flow is in `env` after some time, and expands parts anew
    /// that were touched or have been kept for long. False if all have to be computed at once.
    pub fn follow(
        &mut self,
        jets: &mut dyn Jets,
        env: &[f64],
        (now, elapsed): (Origin, f64),
        trust: Trust,
    ) -> bool {
        if self.waits > 0 && trust.is_proof {
            self.waits -= 1;
            self.forget();
            return false;
        }
        match self.origin {
            Some(origin) => self.list_ending(now, trust, origin),
            None if trust.is_proof => self.list_all(),
            None => return false,
        }
        if 2 * self.touched.len() > self.spans.len() && !trust.is_proof {
            self.forget();
            return false;
        }
        if let Some(Origin { unit, .. }) = self.origin.replace(now)
            && (elapsed != 0.0 || now.unit != unit)
        {
            move_origin(jets.state_rows(), &self.degrees, elapsed / unit, now.unit / unit);
            self.moves += 1;
        }
        jets.set_point(env, now.unit, &self.constants);
        let rows = jets.state_rows();
        for k in 0..self.touched.len() {
            self.expand(self.touched[k] as usize, rows, env, now, trust);
            self.uses += 1;
            if self.origin.is_none() {
                break;
            }
        }
        self.settle();
        self.origin.is_some()
    }

    /// Lists the parts whose polynomials end too soon.
    fn list_ending(&mut self, now: Origin, trust: Trust, before: Origin) {
        if now.time[0] < before.time[0] {
            return self.list_all();
        }
        let step = 4.0 * (self.order + 1) as f64 * UNIT;
        let most = if trust.is_proof { MOVES } else { (ROUNDING * trust.tolerance.relative / step) as u64 };
        for part in 0..self.spans.len() {
            let [from, to] = self.spans[part];
            let is_old = self.moves - self.born[part] >= most;
            if is_old || to - now.time[0] < trust.asked.min(LEFT * (to - from)) {
                self.list(part as u32);
            }
        }
    }

    fn list_all(&mut self) {
        (0..self.spans.len()).for_each(|part| self.list(part as u32));
    }

    /// Computes the polynomials of one part alone.
    fn expand(&mut self, part: usize, rows: &mut [f64], env: &[f64], now: Origin, trust: Trust) {
        let Part { class, slots, states } = &self.parts.list()[part];
        let Machine { jets, degree, env: own, .. } = &mut self.machines[*class];
        own.iter_mut().zip(slots).for_each(|(own, &slot)| *own = env[slot as usize]);
        jets.run(own, now.unit);
        let from = jets.states();
        let rows = rows.chunks_exact_mut(4 * self.degrees.len());
        for (row, own) in rows.zip(from.data().chunks_exact(from.stride())) {
            states.iter().zip(own).for_each(|(&state, &c)| row[state] = c);
        }
        let mut bound = trust.bound;
        bound.states(from, *degree, trust.tolerance);
        let length = farthest(bound) * now.unit;
        match trust.is_proof {
            true => self.prove(part, now, length, trust.tolerance),
            false => self.renew(part, now, length),
        }
    }

    /// Proves the part that was expanded last.
    fn prove(&mut self, part: usize, now: Origin, unit: f64, tolerance: Tolerance) {
        let Part { class, states, .. } = &self.parts.list()[part];
        let Machine { jets, proof, env, .. } = &mut self.machines[*class];
        let jets = jets.as_ref();
        let plan = &self.parts.classes()[*class];
        let proof = proof.get_or_insert_with(|| FlowProof::new(plan, jets));
        let length = Length { h: PROVED * unit, unit, scale: now.unit };
        let Some(proved) = proof.prove(env, jets, length, tolerance.absolute) else {
            self.waits = PATIENCE;
            return self.forget();
        };
        let Roundings { rates, polynomials, length } = proof.state_roundings();
        self.is_accurate[part] = true;
        for (i, &state) in states.iter().enumerate() {
            self.radii[state] = proof.state_radii(i);
            let allowed = LOCAL_ERROR * tolerance.of(jets.states().order(0)[i]);
            self.is_accurate[part] &= self.radii[state].most() <= allowed;
            self.roundings[state] = rates[i] + polynomials[i] / length;
        }
        self.renew(part, now, proved);
    }

    /// All polynomials were computed at once.
    pub fn begin(&mut self, jets: &dyn Jets, now: Origin, trust: Trust) {
        self.origin = Some(now);
        self.radii.fill(Distance::default());
        let (states, order) = (jets.states(), jets.order());
        let coefficients = [0, 1, order - 1, order].map(|k| states.order(k));
        for part in 0..self.spans.len() {
            let mut bound = trust.bound;
            for &state in &self.parts.list()[part].states {
                bound.state(coefficients.map(|row| row[state]), trust.tolerance);
            }
            self.renew(part, now, farthest(bound) * now.unit);
        }
        self.settle();
    }

    /// The polynomials of a part are new, and to be trusted for some time. If there is no such time, since a
    /// coefficient is not finite, nothing is known.
    fn renew(&mut self, part: usize, now: Origin, length: f64) {
        let [time, low] = now.time;
        self.spans[part] = [time, ((time + low) + length).next_down()];
        self.born[part] = self.moves;
        self.renewed.push(part as u32);
        if length.is_nan() {
            self.forget();
        }
    }

    fn settle(&mut self) {
        self.touched.drain(..).for_each(|part| self.is_touched[part as usize] = false);
    }

    /// True if there are polynomials for now.
    pub fn is_known(&self) -> bool {
        self.origin.is_some()
    }

    /// When the first of the polynomials may not be trusted any more, if there are any.
    pub fn end(&self) -> Option<f64> {
        self.origin.map(|_| self.spans.iter().fold(f64::INFINITY, |end, span| end.min(span[1])))
    }

    /// The arguments of the bank whose polynomials are new since that was settled, and how far they may be off
    /// them.
    pub fn renewed_arguments(&self) -> impl Iterator<Item = (usize, f64)> {
        let arguments = self.renewed.iter().flat_map(|&part| &self.arguments[part as usize]);
        arguments.map(|&Argument { argument, state }| (argument, self.radii[state].most()))
    }

    /// How far an argument of the bank may be off its polynomial up to some time.
    pub fn radius_until(&self, argument: usize, t: f64) -> f64 {
        let Some((part, state)) = self.states_of_arguments[argument] else { return 0.0 };
        let [from, to] = self.spans[part];
        let share = ((t - from) / (to - from)).min(1.0) * (1.0 + 8.0 * f64::EPSILON);
        let power = powi(share, self.order as i32 + 1) * (1.0 + 64.0 * f64::EPSILON);
        let Distance { tail, drift } = self.radii[state];
        tail * power + drift * share
    }

    /// All polynomials are new to who asks.
    pub fn renew_all(&mut self) {
        self.renewed.clear();
        self.renewed.extend(0..self.spans.len() as u32);
    }

    /// True if all states are proved to be as near to their polynomials as the tolerance asks.
    pub fn is_accurate(&self) -> bool {
        self.is_accurate.iter().all(|&is_accurate| is_accurate)
    }

    /// What rounding does to each state in a unit of time, in the order of the states, where that is proved.
    pub fn roundings(&self) -> &[f64] {
        &self.roundings
    }

    /// What is new is known.
    pub fn settle_renewed(&mut self) {
        self.renewed.clear();
    }
}

/// How many units of its coefficients a polynomial may be trusted; no number if a coefficient is none.
fn farthest(bound: StepBound) -> f64 {
    let ratio = bound.ratio();
    if ratio > FARTHEST { FARTHEST } else { ratio }
}

impl Machine {
    fn new(jets: Box<dyn Jets>, plan: &FlowPlan) -> Machine {
        let degrees = plan.states.iter().map(|&(state, _)| jets.degree(state).within(jets.order()));
        Machine { degree: degrees.max().unwrap_or(0), env: vec![0.0; plan.slots], proof: None, jets }
    }
}
