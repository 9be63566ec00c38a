//! Unrolled jets: all orders of all rows of a part in one straight-line function.
//!
//! Old terms of convolutions are summed two by two; see [`duos`](crate::duos). What is left alone has
//! its middle sums run on pairs, (a_j, a_(j+1)) times (b_m, b_(m-1)), so that the lanes are the two
//! partial sums. Both kinds of vectors are packed and stored once.
//! Only coefficients of the present and the last order are held as values; older ones are read from
//! memory where they are used, which spares the register allocator values that live for the whole
//! function.

use crate::JitError;
use crate::arena::{Arena, Home};
use crate::duos::{Duo, Duos};
use crate::emit::{Emitter, byte_offset, unaligned};
use crate::fused::{Fused, Part, TIME};
use crate::rows::{self, Rows};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use saltus_expr::Reg;
use saltus_expr::jet::Degree;
use saltus_expr::jet::recurrence::{OldSquareTerms, OldTerms};
use std::ops::RangeInclusive;

/// Sums of fewer pairs than this are made of scalars.
const LEAST_PAIRS: usize = 2;

/// The rows whose coefficients are read from memory: factors of convolutions with old terms, and what
/// the second part takes from the first.
pub(crate) fn kept_rows(fused: &Fused) -> Vec<bool> {
    let moves = |row: Reg| fused.rows.degrees[row.index()].reaches(1);
    let mut kept = vec![false; fused.rows.rows()];
    for (a, b, _) in fused.parts.iter().flat_map(|part| convolutions(fused, part)) {
        if moves(a) && moves(b) {
            kept[a.index()] = true;
            kept[b.index()] = true;
        }
    }
    fused.arguments_of(&fused.parts[1]).iter().for_each(|row| kept[row.index()] = true);
    kept
}

/// Where packed coefficients are.
pub(crate) struct Packed {
    duos: Duos,
    pairs: Pairs,
}

impl Packed {
    /// Gives all factors of convolutions of a part room.
    pub fn place(fused: &Fused, part: &Part, arena: &mut Arena) -> Packed {
        let duos = Duos::find(fused, part, arena);
        let pairs = Pairs::place(fused, part, &duos, arena);
        Packed { duos, pairs }
    }
}

/// Where the pairs of rows without degree bound are: (a_j, a_(j+1)) for even j at `forward + j`, and
/// (b_m, b_(m-1)) at `backward + 2 m`.
struct Pairs {
    forward: Vec<Option<usize>>,
    backward: Vec<Option<usize>>,
}

impl Pairs {
    /// Gives the factors of convolutions that are alone room for their pairs.
    fn place(fused: &Fused, part: &Part, duos: &Duos, arena: &mut Arena) -> Pairs {
        let rows = fused.rows.rows();
        let (mut forward, mut backward) = (vec![None; rows], vec![None; rows]);
        let order = arena.layout.order;
        arena.size = arena.size.next_multiple_of(2);
        for (a, b, square) in convolutions(fused, part) {
            let endless = [a, b].iter().all(|row| fused.rows.degrees[row.index()] == Degree::UNBOUNDED);
            if endless && duos.lane_of((a, b), square).is_none() {
                forward[a.index()].get_or_insert_with(|| arena.take(order.next_multiple_of(2)));
                backward[b.index()].get_or_insert_with(|| arena.take(2 * order));
            }
        }
        Pairs { forward, backward }
    }
}

/// The factors of all convolutions of a part, and whether it is a square.
fn convolutions(fused: &Fused, part: &Part) -> impl Iterator<Item = (Reg, Reg, bool)> {
    fused.nodes_of(part).flat_map(|(row, node)| {
        let square = node.rule.square(row).map(|a| (a, a, true));
        node.rule.products(row).map(|(a, b)| (a, b, false)).chain(square)
    })
}

/// Emits the function of the first or the second part; its parameter is the arena. The first also
/// integrates the states, the second finds the coefficients it reads in memory.
pub(crate) fn emit(
    ins: &mut FunctionBuilder,
    memory: Value,
    fused: &Fused,
    part: usize,
    arena: &Arena,
    packed: &Packed,
) -> Result<(), JitError> {
    let arguments = if part == 0 { Vec::new() } else { fused.arguments_of(&fused.parts[part]) };
    let mut unrolled = Unrolled {
        emitter: Emitter::new(ins, &fused.rows.tables),
        memory,
        fused,
        part: &fused.parts[part],
        arena,
        k: 0,
        now: vec![None; fused.rows.rows()],
        last: vec![None; fused.rows.rows()],
        packed,
        packs_now: vec![None; packed.duos.packs.len()],
        packs_last: vec![None; packed.duos.packs.len()],
        old_terms: vec![None; packed.duos.duos.len()],
        firsts: vec![None; fused.rows.rows()],
        sign: None,
    };
    unrolled.start();
    for k in 1..=arena.layout.order {
        unrolled.k = k;
        std::mem::swap(&mut unrolled.now, &mut unrolled.last);
        unrolled.now.fill(None);
        std::mem::swap(&mut unrolled.packs_now, &mut unrolled.packs_last);
        unrolled.packs_now.fill(None);
        unrolled.old_terms.fill(None);
        if part == 0 {
            unrolled.integrate();
        } else {
            unrolled.read(&arguments);
        }
        unrolled.advance_nodes();
    }
    Ok(())
}

struct Unrolled<'a, 'f> {
    emitter: Emitter<'a, 'f>,
    memory: Value,
    fused: &'a Fused,
    part: &'a Part,
    arena: &'a Arena,
    k: usize,
    /// Coefficients of the present order.
    now: Vec<Option<Value>>,
    /// Coefficients of the order before.
    last: Vec<Option<Value>>,
    packed: &'a Packed,
    /// Coefficients of order 0 that newest terms have read: every order reads them.
    firsts: Vec<Option<Value>>,
    /// Packs of the present order.
    packs_now: Vec<Option<Value>>,
    /// Packs of the order before.
    packs_last: Vec<Option<Value>>,
    /// Old terms of the duos at the present order, once they are summed.
    old_terms: Vec<Option<Value>>,
    /// The number whose only bit is the sign, once it was read: as a constant it would be made anew
    /// wherever it is used.
    sign: Option<Value>,
}

impl<'a, 'f> Unrolled<'a, 'f> {
    /// Holds a new coefficient and stores it.
    fn keep(&mut self, row: Reg, value: Value) {
        let home = self.arena.homes[row.index()];
        if home.stride > 0 || self.k == 0 {
            self.emitter.store(value, self.memory, home.base + self.k * home.stride);
        }
        self.hold_packed(row, value);
    }

    /// Holds a coefficient and packs it.
    fn hold_packed(&mut self, row: Reg, value: Value) {
        self.now[row.index()] = Some(value);
        if self.k > 0 {
            self.keep_packs(row);
            self.keep_pairs(row, value);
        }
    }

    /// Packs what a new coefficient completes.
    fn keep_packs(&mut self, row: Reg) {
        for (i, pack) in self.packed.duos.packs.iter().enumerate().filter(|(_, p)| p.rows.contains(&row)) {
            let [Some(first), Some(second)] = pack.rows.map(|row| self.now[row.index()]) else { continue };
            let mut value = self.emitter.twice(first);
            if pack.rows[0] != pack.rows[1] {
                value = self.emitter.ins.ins().insertlane(value, second, 1);
            }
            self.packs_now[i] = Some(value);
            if self.k + 2 <= self.arena.layout.order {
                let place = byte_offset(pack.base + 2 * self.k);
                self.emitter.ins.ins().store(unaligned(), value, self.memory, place);
            }
        }
    }

    /// The old terms of a convolution that is summed together with another: those of both, and its lane.
    fn old_terms_of_two(&mut self, factors: (Reg, Reg), square: bool) -> Option<Option<Value>> {
        let (i, lane) = self.packed.duos.lane_of(factors, square)?;
        if self.old_terms[i].is_none() {
            let duo = self.packed.duos.duos[i];
            let mut two = SideBySide { unrolled: self, duo };
            self.old_terms[i] = if square {
                rows::old_square(&mut two, SideBySide::LEFT)
            } else {
                rows::old(&mut two, SideBySide::LEFT, SideBySide::RIGHT)
            };
        }
        Some(self.old_terms[i].map(|sums| self.emitter.lane(sums, lane)))
    }

    /// Packs and stores the pairs that a new coefficient completes, if some order reads them.
    fn keep_pairs(&mut self, row: Reg, value: Value) {
        let (k, order) = (self.k, self.arena.layout.order);
        let backward = self.packed.pairs.backward[row.index()];
        let forward = self.packed.pairs.forward[row.index()].filter(|_| k % 2 == 1);
        if k < 3 || k + 2 > order || backward.or(forward).is_none() {
            return;
        }
        let last = self.coefficient(row, k - 1);
        if let Some(home) = backward {
            self.store_pair([value, last], home + 2 * k);
        }
        if let Some(home) = forward {
            self.store_pair([last, value], home + (k - 1));
        }
    }

    fn store_pair(&mut self, [low, high]: [Value; 2], place: usize) {
        let vector = self.emitter.twice(low);
        let pair = self.emitter.ins.ins().insertlane(vector, high, 1);
        self.emitter.ins.ins().store(unaligned(), pair, self.memory, byte_offset(place));
    }

    fn load_pair(&mut self, place: usize) -> Value {
        self.emitter.ins.ins().load(types::F64X2, unaligned(), self.memory, byte_offset(place))
    }

    fn start(&mut self) {
        for (row, node) in self.fused.nodes_of(self.part) {
            let Some(op) = node.start else { continue };
            for operand in op.operands() {
                self.hold(operand);
            }
            let now = &self.now;
            let value = self.emitter.operation(
                op,
                |r| now[r.index()].expect("held above"),
                |r| self.fused.rows.constant(r),
            );
            self.keep(row, value);
        }
        for i in self.part.locks.clone() {
            let rule = self.fused.rows.locks[i];
            for operand in rule.operands() {
                self.hold(operand);
            }
            let now = &self.now;
            let value = self.emitter.lock(rule, |r| now[r.index()].expect("held above"));
            self.emitter.store(value, self.memory, self.arena.locks + i);
        }
    }

    /// Reads a coefficient of order 0 once.
    fn hold(&mut self, row: Reg) {
        let value = self.coefficient(row, 0);
        self.now[row.index()] = Some(value);
    }

    /// Time and states of the present order.
    fn integrate(&mut self) {
        let k = self.k;
        if k == 1 {
            self.now[TIME.index()] = Some(self.emitter.load(self.memory, self.arena.h_scale));
        }
        let mut scale = None;
        for i in 0..self.fused.states {
            let derivative = self.fused.derivatives[i];
            if !self.degree(derivative).reaches(k - 1) {
                continue;
            }
            let scale = *scale.get_or_insert_with(|| self.scale());
            let rate = self.coefficient(derivative, k - 1);
            let value = self.emitter.ins.ins().fmul(rate, scale);
            self.keep(self.fused.state(i), value);
        }
    }

    /// Coefficients of the present order that are in memory.
    fn read(&mut self, rows: &[Reg]) {
        for &row in rows {
            if self.degree(row).reaches(self.k) {
                let value = self.load(self.arena.homes[row.index()], self.k);
                self.hold_packed(row, value);
            }
        }
    }

    fn advance_nodes(&mut self) {
        for (row, node) in self.fused.nodes_of(self.part) {
            if self.degree(row).reaches(self.k) {
                let value = rows::advance(self, row, node.rule);
                self.keep(row, value);
            }
        }
    }
}

impl<'a, 'f> Rows<'a, 'f> for Unrolled<'a, 'f> {
    fn emitter(&mut self) -> &mut Emitter<'a, 'f> {
        &mut self.emitter
    }

    fn fused(&self) -> &'a Fused {
        self.fused
    }

    fn arena(&self) -> &'a Arena {
        self.arena
    }

    fn k(&self) -> usize {
        self.k
    }

    fn negated(&mut self, x: Value) -> Value {
        let Unrolled { emitter, memory, arena, .. } = self;
        let sign = *self.sign.get_or_insert_with(|| emitter.load(*memory, arena.sign));
        emitter.ins.ins().bxor(x, sign)
    }

    fn order(&mut self) -> Value {
        self.emitter.constant(self.k as f64)
    }

    fn inverse_order(&mut self) -> Value {
        self.emitter.constant(1.0 / self.k as f64)
    }

    fn coefficient(&mut self, row: Reg, k: usize) -> Value {
        if let Some(literal) = self.fused.literal(row) {
            return self.emitter.constant(literal);
        }
        let held = match self.k - k {
            0 => self.now[row.index()],
            1 => self.last[row.index()],
            _ if k == 0 => self.firsts[row.index()],
            _ => None,
        };
        let value = held.unwrap_or_else(|| self.load(self.arena.homes[row.index()], k));
        if k == 0 && self.k > 0 {
            self.firsts[row.index()] = Some(value);
        }
        value
    }

    fn load(&mut self, home: Home, k: usize) -> Value {
        self.emitter.load(self.memory, home.base + k * home.stride)
    }

    fn paired_sums(&mut self, a: Reg, b: Reg, low: usize, pairs: usize) -> Option<[Value; 2]> {
        let (forward, backward) =
            (self.packed.pairs.forward[a.index()]?, self.packed.pairs.backward[b.index()]?);
        if pairs < LEAST_PAIRS || low % 2 == 1 {
            return None;
        }
        let mut sum = None;
        for j in (low..).step_by(2).take(pairs) {
            let forward = self.load_pair(forward + j);
            let backward = self.load_pair(backward + 2 * (self.k - j));
            let term = self.emitter.ins.ins().fmul(forward, backward);
            sum = Some(match sum {
                Some(sum) => self.emitter.ins.ins().fadd(sum, term),
                None => term,
            });
        }
        sum.map(|sum| [0, 1].map(|lane| self.emitter.lane(sum, lane)))
    }

    fn summed_product(&mut self, a: Reg, b: Reg) -> Option<Option<Value>> {
        self.old_terms_of_two((a, b), false)
    }

    fn summed_square(&mut self, a: Reg) -> Option<Option<Value>> {
        self.old_terms_of_two((a, a), true)
    }
}

/// Two convolutions as lanes of vectors.
struct SideBySide<'b, 'a, 'f> {
    unrolled: &'b mut Unrolled<'a, 'f>,
    duo: Duo,
}

impl SideBySide<'_, '_, '_> {
    /// The left factors.
    const LEFT: Reg = Reg(0);
    /// The right factors.
    const RIGHT: Reg = Reg(1);
}

impl<'a, 'f> Rows<'a, 'f> for SideBySide<'_, 'a, 'f> {
    fn emitter(&mut self) -> &mut Emitter<'a, 'f> {
        self.unrolled.emitter()
    }

    fn fused(&self) -> &'a Fused {
        self.unrolled.fused
    }

    fn arena(&self) -> &'a Arena {
        self.unrolled.arena
    }

    fn k(&self) -> usize {
        self.unrolled.k
    }

    fn coefficient(&mut self, row: Reg, k: usize) -> Value {
        let pack = self.duo.packs[row.index()];
        let last = self.unrolled.packs_last[pack].filter(|_| k + 1 == self.unrolled.k);
        last.unwrap_or_else(|| self.unrolled.load_pair(self.unrolled.packed.duos.packs[pack].base + 2 * k))
    }

    fn load(&mut self, home: Home, k: usize) -> Value {
        let value = self.unrolled.load(home, k);
        self.unrolled.emitter.twice(value)
    }

    fn degree(&self, _row: Reg) -> Degree {
        Degree::UNBOUNDED
    }
}

/// Predicted number of machine instructions of the unrolled function; some number above `limit` if
/// there are more.
pub(crate) fn instructions(fused: &Fused, order: usize, limit: usize) -> usize {
    let degree = |row: Reg| fused.rows.degrees[row.index()];
    let sum = |terms: &RangeInclusive<usize>| {
        let count = terms.clone().count();
        // A pair of terms is packed, multiplied and added, with a load or two.
        count / 2 * 4 + count % 2 * 3
    };
    let mut total = 3 * fused.rows.nodes.len();
    // The highest orders have most terms.
    for k in (1..=order).rev() {
        if total > limit {
            break;
        }
        total += 2 * fused.states;
        for (row, node) in fused.nodes().filter(|&(row, _)| degree(row).reaches(k)) {
            total += 3;
            for (a, b) in node.rule.products(row) {
                let terms = OldTerms::of_product(k, degree(a), degree(b));
                let edges = usize::from(terms.low_edge) + usize::from(terms.high_edge);
                let newest = usize::from(degree(a).reaches(k)) + usize::from(degree(b).reaches(k));
                total += sum(&terms.middle) + 2 * (edges + newest);
            }
            if let Some(a) = node.rule.square(row) {
                total += sum(&OldSquareTerms::of_square(k, degree(a)).middle) + 8;
            }
        }
    }
    total
}
