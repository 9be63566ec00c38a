//! Polynomials that outlive an instant: those of the parts of a flow that it leaves alone.
//!
//! A jump mostly touches few of many independent parts. The others go on along the polynomials they have,
//! seen from a later origin. Only the parts that were touched are expanded anew, and those whose
//! polynomials may soon not be trusted any more, each for a step of its own.

use saltus_expr::jet::{Bank, JetMachine, Jets, move_origin};
use saltus_expr::{FlowPlan, Part, Parts};
use saltus_solve::taylor::{StepBound, Tolerance};
use std::collections::HashMap;

/// With fewer parts all are expanded as easily.
const LEAST_PARTS: usize = 4;
/// A part is expanded anew if less than this share of its step is left, and less than is asked for.
const LEFT: f64 = 0.5;
/// Polynomials are trusted no farther than so many units of their coefficients.
const FARTHEST: f64 = 32.0;

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
}

/// The polynomials of the parts of one flow, in the state matrix of its jets.
pub(crate) struct Kept {
    parts: Parts,
    /// What expands one part, for each class.
    machines: Vec<Machine>,
    /// The slots of the states, and the highest order in each group of four.
    states: Vec<u32>,
    degrees: Vec<usize>,
    /// Slots with the parts that depend on them, in order.
    readers: Vec<(u32, u32)>,
    /// The arguments of the bank that belong to each part.
    arguments: Vec<Vec<usize>>,
    /// Where the polynomials begin; `None` if they are to be computed all at once.
    origin: Option<Origin>,
    /// From when to when the polynomials of each part may be trusted.
    spans: Vec<[f64; 2]>,
    /// Parts to be expanded, and those that were since this was asked last.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    renewed: Vec<u32>,
    /// Parts expanded alone.
    pub uses: u64,
    /// Native code was made or refused.
    pub settled: bool,
}

struct Machine {
    jets: Box<dyn Jets>,
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
        let mut readers = Vec::new();
        let mut arguments = vec![Vec::new(); count];
        let places: HashMap<u32, usize> = bank.slots().iter().copied().zip(0..).collect();
        for (part, Part { slots, states: members, .. }) in (0..).zip(parts.list()) {
            readers.extend(slots.iter().map(|&slot| (slot, part)));
            let members = members.iter().filter_map(|&state| places.get(&states[state]));
            arguments[part as usize].extend(members);
        }
        readers.sort_unstable();
        Some(Kept {
            machines: parts.classes().iter().map(machine).collect(),
            parts,
            states,
            degrees,
            readers,
            arguments,
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

    /// Nothing is known any more.
    pub fn forget(&mut self) {
        self.origin = None;
    }

    /// Some slots have other values than they would by the flow; all, if none is told.
    pub fn touch(&mut self, slots: &[u32]) {
        if slots.is_empty() {
            self.forget();
        }
        for &slot in slots {
            let first = self.readers.partition_point(|&(reader, _)| reader < slot);
            for k in first..self.readers.len() {
                let (reader, part) = self.readers[k];
                if reader != slot {
                    break;
                }
                self.list(part);
            }
        }
    }

    fn list(&mut self, part: u32) {
        if !std::mem::replace(&mut self.is_touched[part as usize], true) {
            self.touched.push(part);
        }
    }

    /// Moves the polynomials to another origin, where the flow is in `env`, and expands parts anew that
    /// were touched or have been kept for long. False if all have to be computed at once.
    pub fn follow(&mut self, jets: &mut dyn Jets, env: &[f64], now: Origin, trust: Trust) -> bool {
        let Some(Origin { time, unit }) = self.origin else { return false };
        for part in 0..self.spans.len() {
            let [from, to] = self.spans[part];
            if to - now.time[0] < trust.asked.min(LEFT * (to - from)) {
                self.list(part as u32);
            }
        }
        let past = ((now.time[0] - time[0]) + (now.time[1] - time[1])) / unit;
        if 2 * self.touched.len() > self.spans.len() || past < 0.0 {
            self.forget();
            return false;
        }
        self.origin = Some(now);
        let rows = jets.state_rows();
        move_origin(rows, &self.degrees, past, now.unit / unit);
        rows.iter_mut().zip(&self.states).for_each(|(value, &slot)| *value = env[slot as usize]);
        for k in 0..self.touched.len() {
            self.expand(self.touched[k] as usize, rows, env, now, trust);
        }
        self.uses += self.touched.len() as u64;
        self.settle();
        self.origin.is_some()
    }

    /// Computes the polynomials of one part alone.
    fn expand(&mut self, part: usize, rows: &mut [f64], env: &[f64], now: Origin, trust: Trust) {
        let Part { class, slots, states } = &self.parts.list()[part];
        let Machine { jets, degree, env: own } = &mut self.machines[*class];
        own.iter_mut().zip(slots).for_each(|(own, &slot)| *own = env[slot as usize]);
        jets.run(own, now.unit);
        let from = jets.states();
        for (k, row) in rows.chunks_exact_mut(4 * self.degrees.len()).enumerate() {
            states.iter().zip(from.order(k)).for_each(|(&state, &c)| row[state] = c);
        }
        let mut bound = trust.bound;
        bound.states(from, *degree, trust.tolerance);
        self.renew(part, now, bound.ratio());
    }

    /// All polynomials were computed at once.
    pub fn begin(&mut self, jets: &dyn Jets, now: Origin, trust: Trust) {
        self.origin = Some(now);
        let (states, order) = (jets.states(), jets.order());
        let coefficients = [0, 1, order - 1, order].map(|k| states.order(k));
        for part in 0..self.spans.len() {
            let mut bound = trust.bound;
            for &state in &self.parts.list()[part].states {
                bound.state(coefficients.map(|row| row[state]), trust.tolerance);
            }
            self.renew(part, now, bound.ratio());
        }
        self.settle();
    }

    fn renew(&mut self, part: usize, now: Origin, ratio: f64) {
        if ratio.is_nan() {
            self.forget();
        }
        self.spans[part] = [now.time[0], now.time[0] + ratio.min(FARTHEST) * now.unit];
        self.renewed.push(part as u32);
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

    /// The arguments of the bank whose polynomials are new since that was settled.
    pub fn renewed_arguments(&self) -> impl Iterator<Item = usize> {
        self.renewed.iter().flat_map(|&part| &self.arguments[part as usize]).copied()
    }

    /// What is new is known.
    pub fn settle_renewed(&mut self) {
        self.renewed.clear();
    }
}

impl Machine {
    fn new(jets: Box<dyn Jets>, plan: &FlowPlan) -> Machine {
        let degrees = plan.states.iter().map(|&(state, _)| jets.degree(state).within(jets.order()));
        Machine { degree: degrees.max().unwrap_or(0), env: vec![0.0; plan.slots], jets }
    }
}
