//! Native jets: the choice of form, the instance with its memory, and the order loop.

use crate::JitError;
use crate::arena::{Arena, Home, Numbers};
use crate::code::{Assembler, Code, Effort};
use crate::emit::{addressable, pointer_type};
use crate::fused::Fused;
use crate::kernel::{Kernels, OldTerms};
use crate::split::Split;
use crate::unrolled;
use saltus_expr::FlowPlan;
use saltus_expr::jet::{JetLayout, Jets, Place, RowPlace};
use std::ops::Range;
use std::sync::Arc;

/// How the code of a jet is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One straight-line function with every coefficient as a value; for small systems.
    Unrolled,
    /// Kernels for the old terms, a body of the newest terms for all orders.
    Split,
}

/// Predicted bytes of unrolled code beyond which jets are better split.
const BEST_UNROLLED: usize = 16 * 1024;

/// Predicted bytes beyond which jets are not unrolled even on demand: the time to compile one
/// block of code grows faster than its size.
const GREATEST_UNROLLED: usize = 128 * 1024;

/// Bytes of an average instruction of unrolled code.
const BYTES_PER_INSTRUCTION: usize = 6;

type Unrolled = unsafe extern "C" fn(*mut f64);
type Body = unsafe extern "C" fn(*mut f64, usize);

enum Steps {
    /// All at once, or in two parts.
    Unrolled(Unrolled, Option<Unrolled>),
    Split(Box<SplitSteps>),
}

struct SplitSteps {
    split: Split,
    kernels: Kernels,
    constants: Unrolled,
    start: Unrolled,
    /// For each order from 1 on, the kernel of old terms and the body.
    orders: Vec<(Option<OldTerms>, Body)>,
}

/// What all instances of a jet share.
struct Shared {
    steps: Steps,
    layout: JetLayout,
    code: Code,
    /// Memory of a new instance.
    fresh: Vec<f64>,
    h_scale: usize,
    time_slot: usize,
    state_slots: Vec<u32>,
    /// Ranges of slots whose places are their own: what the plan neither moves nor writes.
    copied: Vec<Range<usize>>,
    /// Those of them that hold constants the rows depend on.
    constants: Vec<Range<usize>>,
    /// Where the rows are, of those whose coefficients are kept.
    places: Vec<Option<RowPlace>>,
    /// The code refers to the tables in here.
    fused: Fused,
}

/// The jets of a plan in native code; the same results as a
/// [`JetMachine`](saltus_expr::jet::JetMachine), bit for bit. Clones share the code and have their
/// own memory.
///
/// ```
/// use saltus_expr::jet::Jets;
/// use saltus_expr::{FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
/// use saltus_jit::NativeJet;
/// // x' = -x from x = 1.
/// let mut graph = Graph::new();
/// let x = graph.var(VarId(1), Sort::Real);
/// let rate = graph.intern(Node::Unary(Unary::Neg, x));
/// let (program, _) = Program::new(&graph, &[rate]);
/// let block = PlanBlock { program: program.into(), inputs: vec![1], outputs: vec![2] };
/// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 2)], time_slot: 0, slots: 3 };
/// let mut jet = NativeJet::compile(&plan, 3)?;
/// jet.run(&[0.0, 1.0, 0.0], 1.0);
/// assert_eq!(jet.states().order(2), [0.5]);
/// # Ok::<(), saltus_jit::JitError>(())
/// ```
#[derive(Clone)]
pub struct NativeJet {
    shared: Arc<Shared>,
    memory: Numbers,
    /// True once the rows that never change were computed for the constants in memory.
    prepared: bool,
}

impl NativeJet {
    /// Compiles the jets of a plan up to an order, in the form that suits its size.
    pub fn compile(plan: &FlowPlan, order: usize) -> Result<NativeJet, JitError> {
        NativeJet::compile_in_two_parts(plan, plan.blocks.len(), order)
    }

    /// The same, where the blocks from a position on are left for later; see [`Jets::run_late`]. No
    /// state may have its derivative from them. The split form computes all at once.
    pub fn compile_in_two_parts(
        plan: &FlowPlan,
        late_block: usize,
        order: usize,
    ) -> Result<NativeJet, JitError> {
        let fused = Fused::in_two_parts(plan, late_block)?;
        let is_small = unrolled_size(&fused, order, BEST_UNROLLED) <= BEST_UNROLLED;
        let form = if is_small { Form::Unrolled } else { Form::Split };
        NativeJet::assemble(plan, fused, order, form, Effort::Plain)
    }

    /// Compiles the jets of a plan in a given form and with a given effort.
    pub fn compile_as(
        plan: &FlowPlan,
        order: usize,
        form: Form,
        effort: Effort,
    ) -> Result<NativeJet, JitError> {
        NativeJet::assemble(plan, Fused::new(plan)?, order, form, effort)
    }

    fn assemble(
        plan: &FlowPlan,
        fused: Fused,
        order: usize,
        form: Form,
        effort: Effort,
    ) -> Result<NativeJet, JitError> {
        let mut assembler = Assembler::new(effort)?;
        let (memory, code, steps) = match form {
            Form::Unrolled => {
                let limit = GREATEST_UNROLLED;
                let bytes = unrolled_size(&fused, order, limit);
                if bytes > limit {
                    return Err(JitError::TooLarge { bytes, limit });
                }
                let mut arena = Arena::new(plan, &fused, order, &unrolled::kept_rows(&fused));
                let packed =
                    [0, 1].map(|part| unrolled::Packed::place(&fused, &fused.parts[part], &mut arena));
                arena.place_slots(&fused);
                addressable(arena.size)?;
                let mut function = |part: usize| {
                    assembler.function(&[pointer_type()], |ins, parameters| {
                        unrolled::emit(ins, parameters[0], &fused, part, &arena, &packed[part])
                    })
                };
                let first = function(0)?;
                let late = if fused.parts[1].rows.is_empty() { None } else { Some(function(1)?) };
                let code = assembler.finish()?;
                let address = |function| {
                    // SAFETY: the functions were assembled with exactly this signature.
                    unsafe { std::mem::transmute::<*const u8, Unrolled>(code.address(function)) }
                };
                let steps = Steps::Unrolled(address(first), late.map(address));
                (Memory::of(&arena, &fused, &[]), code, steps)
            }
            Form::Split => {
                let split = Split::new(plan, &fused, order)?;
                addressable(split.arena.size)?;
                let functions = split.assemble(&mut assembler, &fused)?;
                let code = assembler.finish()?;
                let address = |function| code.address(function);
                // SAFETY: the functions were assembled with exactly these signatures.
                let (constants, start, bodies) = unsafe {
                    (
                        std::mem::transmute::<*const u8, Unrolled>(address(functions.constants)),
                        std::mem::transmute::<*const u8, Unrolled>(address(functions.start)),
                        functions
                            .bodies
                            .into_iter()
                            .map(|body| std::mem::transmute::<*const u8, Body>(address(body)))
                            .collect::<Vec<Body>>(),
                    )
                };
                assert!(split.lanes.is_empty() || split.lanes.fit(split.arena.size, order));
                let memory = Memory::of(&split.arena, &fused, &split.duties);
                let kernels = Kernels::detect();
                let body = |k: usize| bodies[k.min(bodies.len()) - 1];
                let orders = (1..=order).map(|k| (split.old_terms(&kernels, k), body(k))).collect();
                let steps = SplitSteps { split, kernels, constants, start, orders };
                (memory, code, Steps::Split(Box::new(steps)))
            }
        };
        let state_slots = plan.states.iter().map(|&(state, _)| state).collect();
        let places = memory.layout.places.iter().zip(0..);
        let own = places.filter(|(place, slot)| place.base == *slot).map(|(_, slot)| slot);
        let copied = neighbours(own.collect());
        let constants = neighbours(fused.constant_slots.clone());
        let shared = Shared {
            steps,
            layout: memory.layout,
            code,
            fresh: memory.fresh,
            h_scale: memory.h_scale,
            places: memory.places,
            time_slot: plan.time_slot as usize,
            state_slots,
            copied,
            constants,
            fused,
        };
        let memory = Numbers::new(&shared.fresh);
        Ok(NativeJet { shared: Arc::new(shared), memory, prepared: false })
    }

    /// How the code is built.
    pub fn form(&self) -> Form {
        match self.shared.steps {
            Steps::Unrolled(..) => Form::Unrolled,
            Steps::Split(_) => Form::Split,
        }
    }

    /// Bytes of machine code.
    pub fn code_size(&self) -> usize {
        self.shared.code.size()
    }

    /// True if a constant the rows depend on is another than in memory.
    fn has_new_constants(&self, env: &[f64]) -> bool {
        let memory = &self.memory[..];
        !self.shared.constants.iter().all(|range| same_bits(&env[range.clone()], &memory[range.clone()]))
    }

    /// Copies the point into memory.
    #[inline(always)]
    fn load_point(&mut self, env: &[f64], h_scale: f64) {
        for range in &self.shared.copied {
            let (to, from) = (&mut self.memory[range.clone()], &env[range.clone()]);
            match (to, from) {
                ([to], [from]) => *to = *from,
                (to, from) => to.copy_from_slice(from),
            }
        }
        self.load_time_and_states(env, h_scale);
    }

    #[inline(always)]
    fn load_time_and_states(&mut self, env: &[f64], h_scale: f64) {
        let (shared, memory) = (&*self.shared, &mut self.memory[..]);
        let time = shared.layout.places[shared.time_slot].at(0);
        memory[time] = env[shared.time_slot];
        if shared.layout.order > 0 {
            memory[shared.h_scale] = h_scale;
        }
        let states = &mut memory[shared.layout.states_base..];
        for (state, &slot) in states.iter_mut().zip(&shared.state_slots) {
            *state = env[slot as usize];
        }
    }
}

/// Predicted bytes of unrolled code; some number above `limit` if there are more.
fn unrolled_size(fused: &Fused, order: usize, limit: usize) -> usize {
    BYTES_PER_INSTRUCTION * unrolled::instructions(fused, order, limit / BYTES_PER_INSTRUCTION)
}

/// The memory of instances, once the arena is complete.
struct Memory {
    layout: JetLayout,
    fresh: Vec<f64>,
    h_scale: usize,
    places: Vec<Option<RowPlace>>,
}

impl Memory {
    /// `lanes` are the places of rows in arrays of factors, if there are such.
    fn of(arena: &Arena, fused: &Fused, lanes: &[Vec<Home>]) -> Memory {
        let place = |row: usize| {
            let degree = fused.rows.degrees[row];
            let own = arena.homes[row];
            let whole = Some(own).filter(|home| home.stride > 0);
            let home = whole.or_else(|| lanes.get(row)?.first().copied())?;
            let others = Place { base: home.base as u32, stride: home.stride as u32, degree };
            Some(RowPlace { value: own.base as u32, others })
        };
        Memory {
            layout: arena.layout.clone(),
            fresh: arena.fresh(fused),
            h_scale: arena.h_scale,
            places: (0..fused.rows.rows()).map(place).collect(),
        }
    }
}

fn same_bits(x: &[f64], y: &[f64]) -> bool {
    x.iter().zip(y).fold(true, |same, (x, y)| same & (x.to_bits() == y.to_bits()))
}

/// The ranges of neighbouring numbers in a list.
fn neighbours(mut slots: Vec<u32>) -> Vec<Range<usize>> {
    slots.sort_unstable();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for slot in slots.into_iter().map(|slot| slot as usize) {
        match ranges.last_mut() {
            Some(range) if range.end == slot => range.end += 1,
            _ => ranges.push(slot..slot + 1),
        }
    }
    ranges
}

impl Jets for NativeJet {
    fn run(&mut self, env: &[f64], h_scale: f64) {
        if matches!(self.shared.steps, Steps::Split(_)) {
            self.prepared = self.prepared && !self.has_new_constants(env);
        }
        self.load_point(env, h_scale);
        let memory = &mut self.memory[..];
        match &self.shared.steps {
            // SAFETY: the memory is an arena of this code; every index in the code lies in it.
            Steps::Unrolled(function, _) => unsafe { function(memory.as_mut_ptr()) },
            Steps::Split(steps) => {
                let SplitSteps { split, kernels, constants, start, orders } = &**steps;
                if !std::mem::replace(&mut self.prepared, true) {
                    // SAFETY: as above.
                    unsafe { constants(memory.as_mut_ptr()) }
                    split.fill_matrices(memory);
                }
                let linear = split.has_matrices();
                if linear {
                    split.apply_matrices(kernels, memory, 0);
                }
                // SAFETY: as above.
                unsafe { start(memory.as_mut_ptr()) }
                for (k, (old_terms, body)) in (1..).zip(orders) {
                    if let Some(old_terms) = old_terms {
                        // SAFETY: the lanes fit the arena, as was asserted where it was made.
                        unsafe { old_terms(memory.as_mut_ptr(), &split.lanes, k) }
                    }
                    if linear {
                        split.apply_matrices(kernels, memory, k);
                    }
                    // SAFETY: as above, for every order up to the highest.
                    unsafe { body(memory.as_mut_ptr(), k) }
                }
            }
        }
    }

    fn set_point(&mut self, env: &[f64], h_scale: f64, constants: &[u32]) {
        for slot in constants.iter().map(|&slot| slot as usize) {
            // Rows may have been computed for another value.
            self.prepared &= env[slot].to_bits() == self.memory[slot].to_bits();
            self.memory[slot] = env[slot];
        }
        self.load_time_and_states(env, h_scale);
    }

    fn run_late(&mut self) {
        if let Steps::Unrolled(_, Some(late)) = self.shared.steps {
            // SAFETY: the memory is an arena of this code; every index in the code lies in it.
            unsafe { late(self.memory.as_mut_ptr()) }
        }
    }

    fn layout(&self) -> &JetLayout {
        &self.shared.layout
    }

    fn arena(&self) -> &[f64] {
        &self.memory
    }

    fn state_rows(&mut self) -> &mut [f64] {
        let JetLayout { order, states_base, states_stride, .. } = self.shared.layout;
        &mut self.memory[states_base..states_base + (order + 1) * states_stride]
    }

    fn row_place(&self, block: usize, row: usize) -> Option<RowPlace> {
        self.shared.places[self.shared.fused.block_rows[block][row].index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_expr::{Binary, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};

    /// x' = y sin(x y), y' = x x - 3 y, and so on for `n` pairs coupled in a ring.
    fn ring(n: u32) -> FlowPlan {
        let mut graph = Graph::new();
        let three = graph.real(3.0);
        let mut rates = Vec::new();
        for i in 0..n {
            let x = graph.var(VarId(1 + 2 * i), Sort::Real);
            let y = graph.var(VarId(1 + (2 * i + 3) % (2 * n)), Sort::Real);
            let product = graph.intern(Node::Binary(Binary::Mul, x, y));
            let sine = graph.intern(Node::Unary(Unary::Sin, product));
            rates.push(graph.intern(Node::Binary(Binary::Mul, y, sine)));
            let square = graph.intern(Node::Binary(Binary::Mul, x, x));
            let loss = graph.intern(Node::Binary(Binary::Mul, three, y));
            rates.push(graph.intern(Node::Binary(Binary::Sub, square, loss)));
        }
        let (program, inputs) = Program::new(&graph, &rates);
        let inputs = inputs.iter().map(|v| v.0).collect();
        let outputs = (1 + 2 * n..1 + 4 * n).collect();
        let block = PlanBlock { program: program.into(), inputs, outputs };
        let states = (1..=2 * n).map(|i| (i, i + 2 * n)).collect();
        FlowPlan { blocks: vec![block], states, time_slot: 0, slots: 1 + 4 * n as usize }
    }

    #[test]
    fn size_of_unrolled_code_is_predicted_within_a_factor_of_one_and_a_half() {
        for (n, order) in [(1, 8), (1, 20), (2, 12)] {
            let plan = ring(n);
            let predicted = unrolled_size(&Fused::new(&plan).expect("well formed"), order, usize::MAX) as f64;
            let jet = NativeJet::compile_as(&plan, order, Form::Unrolled, Effort::Plain).expect("compiles");
            let ratio = predicted / jet.code_size() as f64;
            assert!((0.67..1.5).contains(&ratio), "{n} {order}: {predicted} for {}", jet.code_size());
        }
    }

    #[test]
    fn small_systems_are_unrolled_and_large_ones_split() {
        let forms = [1, 8].map(|n| NativeJet::compile(&ring(n), 12).expect("compiles").form());
        assert_eq!(forms, [Form::Unrolled, Form::Split]);
        assert!(matches!(NativeJet::compile(&ring(400), 12), Err(JitError::TooLarge { .. })));
    }

    #[test]
    fn native_jets_move_between_threads() {
        let mut jet = NativeJet::compile(&ring(1), 6).expect("compiles");
        let env = [0.0, 0.5, 0.25, 0.0, 0.0];
        jet.run(&env, 1.0);
        let mut moved = jet.clone();
        let elsewhere = std::thread::spawn(move || {
            moved.run(&env, 1.0);
            moved.coefficient(1, 6)
        });
        assert_eq!(elsewhere.join().ok(), Some(jet.coefficient(1, 6)));
    }

    #[test]
    fn clones_share_code_and_not_memory() {
        let plan = ring(1);
        let mut jet = NativeJet::compile(&plan, 6).expect("compiles");
        let mut other = jet.clone();
        jet.run(&[0.0, 0.5, 0.25, 0.0, 0.0], 1.0);
        other.run(&[0.0, -0.5, 0.75, 0.0, 0.0], 1.0);
        assert_eq!(jet.states().order(0), [0.5, 0.25]);
        assert_eq!(other.states().order(0), [-0.5, 0.75]);
        assert_ne!(jet.coefficient(1, 1), other.coefficient(1, 1));
    }
}
