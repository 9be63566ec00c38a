//! The generated part of split jets: what is new at an order.
//!
//! A body is one straight-line function. Rows that are computed alike are taken two by two, as the
//! lanes of vectors; see [`pairing`](crate::pairing). The lanes of their products are neighbours, so
//! that the sums of old terms come, and the new factors go, as vectors, too.

use crate::arena::{Arena, Home};
use crate::emit::{Emitter, byte_offset, trusted, unaligned};
use crate::fused::{Fused, TIME};
use crate::pairing::{Two, Unit};
use crate::rows::{self, Rows};
use crate::split::{ANY_ORDER, Split, WRITTEN_OUT};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use saltus_expr::Reg;
use saltus_expr::jet::recurrence::Lock;
use saltus_expr::jet::{Degree, JetNode};
use std::collections::HashMap;

/// The emission of one body.
pub(crate) struct Body<'a, 'f> {
    emitter: Emitter<'a, 'f>,
    memory: Value,
    fused: &'a Fused,
    split: &'a Split,
    /// The order as a value, where the body serves all high orders.
    symbol: Option<Value>,
    /// The order, or [`ANY_ORDER`].
    k: usize,
    /// For each stride, the address `memory + k * stride`.
    bases: HashMap<usize, Value>,
    now: Vec<Option<Value>>,
    /// Coefficients of two rows at the present order.
    two_now: HashMap<[Reg; 2], Value>,
}

impl<'a, 'f> Body<'a, 'f> {
    pub fn new(
        ins: &'a mut FunctionBuilder<'f>,
        memory: Value,
        symbol: Option<Value>,
        fused: &'a Fused,
        split: &'a Split,
        k: usize,
    ) -> Self {
        let emitter = Emitter::new(ins, &fused.rows.tables);
        let now = vec![None; fused.rows.rows()];
        Body { emitter, memory, fused, split, symbol, k, bases: HashMap::new(), now, two_now: HashMap::new() }
    }

    fn home(&self, row: Reg) -> Home {
        self.split.arena.homes[row.index()]
    }

    /// Address and offset of element `k` of something with a base and a stride.
    fn place(&mut self, home: Home, k: usize) -> (Value, i32) {
        let Some(symbol) = self.symbol.filter(|_| k > ANY_ORDER / 2) else {
            return (self.memory, byte_offset(home.base + k * home.stride));
        };
        let (emitter, memory) = (&mut self.emitter, self.memory);
        let base = *self.bases.entry(home.stride).or_insert_with(|| {
            let bytes = emitter.ins.ins().imul_imm_s(symbol, i64::from(byte_offset(home.stride)));
            emitter.ins.ins().iadd(memory, bytes)
        });
        let back = (ANY_ORDER - k) * home.stride;
        (base, byte_offset(home.base) - byte_offset(back))
    }

    fn store(&mut self, value: Value, home: Home, k: usize) {
        let (base, offset) = self.place(home, k);
        self.emitter.ins.ins().store(trusted(), value, base, offset);
    }

    fn store_two(&mut self, value: Value, home: Home, k: usize) {
        let (base, offset) = self.place(home, k);
        self.emitter.ins.ins().store(unaligned(), value, base, offset);
    }

    fn load_two(&mut self, home: Home, k: usize) -> Value {
        let (base, offset) = self.place(home, k);
        self.emitter.ins.ins().load(types::F64X2, unaligned(), base, offset)
    }

    /// Keeps a new coefficient and stores it where it is needed.
    fn keep(&mut self, row: Reg, value: Value) {
        self.now[row.index()] = Some(value);
        let home = self.home(row);
        let is_input = row.index() < self.fused.rows.first_node();
        let is_new = !is_input && !self.split.covered[row.index()];
        if is_new && (home.stride > 0 || self.k == 0) {
            self.store(value, home, self.k);
        }
        self.fill_lanes(row);
    }

    /// Keeps the new coefficients of a pair and stores them where they are needed.
    fn keep_two(&mut self, rows: [Reg; 2], value: Value) {
        self.two_now.insert(rows, value);
        if let Some(home) = self.split.arena.neighbours(rows) {
            self.store_two(value, home, self.k);
        } else {
            for row in rows {
                let home = self.home(row);
                if home.stride > 0 {
                    let value = self.coefficient(row, self.k);
                    self.store(value, home, self.k);
                }
            }
        }
        let [first, second] = rows.map(|row| &self.split.duties[row.index()]);
        let mut alone = [Vec::new(), second.clone()];
        for &home in first {
            match alone[1].iter().position(|&next| home.before(next).is_some()) {
                Some(next) => {
                    alone[1].remove(next);
                    self.store_two(value, home, self.k);
                }
                None => alone[0].push(home),
            }
        }
        for (row, homes) in rows.into_iter().zip(alone) {
            self.fill(row, &homes);
        }
    }

    fn fill_lanes(&mut self, row: Reg) {
        let split = self.split;
        if self.k > 0 {
            self.fill(row, &split.duties[row.index()]);
        }
    }

    /// Stores the new coefficient of a row into lanes, into neighbours at once.
    fn fill(&mut self, row: Reg, mut homes: &[Home]) {
        while let [first, rest @ ..] = homes {
            homes = rest;
            if let Some(rest) = rest.split_first().filter(|(next, _)| first.before(**next).is_some()) {
                homes = rest.1;
                let value = self.two([row; 2], self.k);
                self.store_two(value, *first, self.k);
            } else {
                let value = self.coefficient(row, self.k);
                self.store(value, *first, self.k);
            }
        }
    }

    /// Coefficients of two rows.
    fn two(&mut self, rows: [Reg; 2], k: usize) -> Value {
        if k == self.k {
            if let Some(&known) = self.two_now.get(&rows) {
                return known;
            }
            let value = self.pack(rows, k);
            self.two_now.insert(rows, value);
            return value;
        }
        let split = self.split;
        let first = || split.firsts.iter().find(|(known, _)| *known == rows).map(|&(_, home)| home);
        let home = if k == 0 { split.arena.neighbours(rows).or_else(first) } else { split.neighbours(rows) };
        match home {
            Some(home) => self.load_two(home, k),
            None => self.pack(rows, k),
        }
    }

    /// The vector that holds a row at the present order, and the lane.
    fn lane_of(&self, row: Reg, k: usize) -> Option<(Value, usize)> {
        let rows = self.split.pairing.pair_of(row).filter(|_| k == self.k)?;
        Some((*self.two_now.get(&rows)?, usize::from(rows[1] == row)))
    }

    /// Makes one vector of the coefficients of two rows.
    fn pack(&mut self, [a, b]: [Reg; 2], k: usize) -> Value {
        match (self.lane_of(a, k), self.lane_of(b, k)) {
            (Some(x), Some(y)) => self.emitter.join_lanes(x, y),
            (Some((x, 0)), None) => {
                let y = self.coefficient(b, k);
                self.emitter.ins.ins().insertlane(x, y, 1)
            }
            (x, y) => {
                let value = self.coefficient(a, k);
                let x = x.unwrap_or((self.emitter.twice(value), 0));
                if a == b {
                    return x.0;
                }
                let y = y.unwrap_or_else(|| {
                    let value = self.coefficient(b, k);
                    (self.emitter.twice(value), 0)
                });
                self.emitter.join_lanes(x, y)
            }
        }
    }

    /// Order 0: either the rows that never change, or all others and the locks.
    pub fn start(&mut self, constant: bool) {
        let nodes: Vec<(Reg, JetNode)> = self.fused.nodes().collect();
        for (row, node) in nodes {
            let Some(op) = node.start else { continue };
            if self.fused.unchanging[row.index()] != constant || self.split.covered[row.index()] {
                continue;
            }
            op.operands().for_each(|operand| {
                self.coefficient(operand, 0);
            });
            let now = &self.now;
            let value = self.emitter.operation(
                op,
                |r| now[r.index()].expect("loaded above"),
                |r| self.fused.rows.constant(r),
            );
            self.keep(row, value);
        }
        if constant {
            return;
        }
        for (i, &rule) in self.fused.rows.locks.iter().enumerate() {
            rule.operands().for_each(|operand| {
                self.coefficient(operand, 0);
            });
            let now = &self.now;
            let value = self.emitter.lock(rule, |r| now[r.index()].expect("loaded above"));
            self.emitter.store(value, self.memory, self.split.arena.locks + i);
        }
        for &(rows, home) in &self.split.firsts {
            for (lane, row) in rows.into_iter().enumerate() {
                let value = self.coefficient(row, 0);
                self.emitter.store(value, self.memory, home.base + lane);
            }
        }
    }

    /// The states that were not integrated before the kernels.
    fn integrate(&mut self) {
        let (mut scale, mut two_scales) = (None, None);
        for i in 0..self.fused.states {
            let (state, derivative) = (self.fused.state(i), self.fused.derivatives[i]);
            let pair = self.split.pairing.pair_of(state);
            if !self.degree(derivative).reaches(self.k - 1) || pair.is_some_and(|rows| rows[1] == state) {
                continue;
            }
            if self.split.is_early[i] {
                self.pass_on(state);
                continue;
            }
            let scale = *scale.get_or_insert_with(|| self.scale());
            if let Some(rows) = pair {
                let rates = rows.map(|state| self.fused.derivatives[state.index() - 1]);
                let rates = self.two(rates, self.k - 1);
                let scales = *two_scales.get_or_insert_with(|| self.emitter.twice(scale));
                let values = self.emitter.ins.ins().fmul(rates, scales);
                self.keep_two(rows, values);
                continue;
            }
            let rate = self.load(self.home(derivative), self.k - 1);
            let value = self.emitter.ins.ins().fmul(rate, scale);
            self.store(value, self.home(state), self.k);
            self.keep(state, value);
        }
    }

    /// Copies a coefficient that is there already into the lanes of its row.
    fn pass_on(&mut self, row: Reg) {
        if !self.split.duties[row.index()].is_empty() {
            self.coefficient(row, self.k);
            self.fill_lanes(row);
        }
    }

    pub fn advance_nodes(&mut self) {
        if self.k == 1 {
            let h = self.emitter.load(self.memory, self.split.arena.h_scale);
            self.now[TIME.index()] = Some(h);
        }
        self.integrate();
        let split = self.split;
        for unit in &split.pairing.units {
            match unit {
                Unit::One(row) if split.covered[row.index()] => self.pass_on(*row),
                Unit::One(row) if self.degree(*row).reaches(self.k) => {
                    let JetNode { rule, .. } =
                        self.fused.rows.nodes[row.index() - self.fused.rows.first_node()];
                    let value = rows::advance(self, *row, rule);
                    self.keep(*row, value);
                }
                Unit::Two(two) if self.degree(two.rows[0]).reaches(self.k) => {
                    let value = rows::advance(&mut SideBySide { body: self, two }, two.own, two.rule);
                    self.keep_two(two.rows, value);
                }
                _ => {}
            }
        }
    }
}

impl<'a, 'f> Rows<'a, 'f> for Body<'a, 'f> {
    fn emitter(&mut self) -> &mut Emitter<'a, 'f> {
        &mut self.emitter
    }

    fn fused(&self) -> &'a Fused {
        self.fused
    }

    fn arena(&self) -> &'a Arena {
        &self.split.arena
    }

    fn k(&self) -> usize {
        self.k
    }

    fn coefficient(&mut self, row: Reg, k: usize) -> Value {
        if k != self.k {
            let home = if k == 0 { self.home(row) } else { self.split.home(row) };
            return self.load(home, k);
        }
        if let Some(value) = self.now[row.index()] {
            return value;
        }
        let value = match self.lane_of(row, k) {
            Some((vector, lane)) => self.emitter.lane(vector, lane),
            None => self.load(self.home(row), k),
        };
        self.now[row.index()] = Some(value);
        value
    }

    fn load(&mut self, home: Home, k: usize) -> Value {
        let (base, offset) = self.place(home, k);
        self.emitter.ins.ins().load(types::F64, trusted(), base, offset)
    }

    fn summed_product(&mut self, a: Reg, b: Reg) -> Option<Option<Value>> {
        let lane = *self.split.product_lanes.get(&(a, b)).filter(|_| self.k > WRITTEN_OUT)?;
        let place = self.split.lanes.product(lane);
        Some(Some(self.emitter.load(self.memory, place)))
    }

    fn summed_square(&mut self, a: Reg) -> Option<Option<Value>> {
        let lane = *self.split.square_lanes.get(&a).filter(|_| self.k > WRITTEN_OUT)?;
        let place = self.split.lanes.square(lane);
        Some(Some(self.emitter.load(self.memory, place)))
    }
}

/// The rows of a pair as lanes of vectors.
struct SideBySide<'b, 'a, 'f> {
    body: &'b mut Body<'a, 'f>,
    two: &'b Two,
}

impl SideBySide<'_, '_, '_> {
    /// The rows an operand stands for.
    fn operand(&self, row: Reg) -> [Reg; 2] {
        self.two.operands[row.index()]
    }

    /// Two results of the kernels.
    fn results(&mut self, [first, second]: [usize; 2]) -> Value {
        let home = |base: usize| Home { base, stride: 1 };
        if second == first + 1 {
            return self.body.load_two(home(first), 0);
        }
        let [x, y] = [first, second].map(|place| self.body.load(home(place), 0));
        let x = self.body.emitter.twice(x);
        self.body.emitter.ins.ins().insertlane(x, y, 1)
    }
}

impl<'a, 'f> Rows<'a, 'f> for SideBySide<'_, 'a, 'f> {
    fn emitter(&mut self) -> &mut Emitter<'a, 'f> {
        &mut self.body.emitter
    }

    fn fused(&self) -> &'a Fused {
        self.body.fused
    }

    fn arena(&self) -> &'a Arena {
        &self.body.split.arena
    }

    fn k(&self) -> usize {
        self.body.k
    }

    fn coefficient(&mut self, row: Reg, k: usize) -> Value {
        self.body.two(self.operand(row), k)
    }

    fn load(&mut self, home: Home, k: usize) -> Value {
        let value = self.body.load(home, k);
        self.body.emitter.twice(value)
    }

    fn degree(&self, row: Reg) -> Degree {
        self.body.degree(self.operand(row)[0])
    }

    fn starts(&self, row: Reg) -> bool {
        self.body.starts(self.operand(row)[0])
    }

    fn lock(&mut self, lock: Lock) -> Value {
        let locks = self.arena().locks;
        self.results(self.two.locks[lock.0 as usize].map(|lock| locks + lock.0 as usize))
    }

    fn zero(&mut self) -> Value {
        let zero = self.body.zero();
        self.body.emitter.twice(zero)
    }

    fn summed_product(&mut self, a: Reg, b: Reg) -> Option<Option<Value>> {
        let (split, a, b) = (self.body.split, self.operand(a), self.operand(b));
        let lane = |i: usize| split.product_lanes.get(&(a[i], b[i])).filter(|_| self.body.k > WRITTEN_OUT);
        let lanes = [*lane(0)?, *lane(1)?];
        Some(Some(self.results(lanes.map(|lane| split.lanes.product(lane)))))
    }

    fn summed_square(&mut self, a: Reg) -> Option<Option<Value>> {
        let (split, a) = (self.body.split, self.operand(a));
        let lane = |i: usize| split.square_lanes.get(&a[i]).filter(|_| self.body.k > WRITTEN_OUT);
        let lanes = [*lane(0)?, *lane(1)?];
        Some(Some(self.results(lanes.map(|lane| split.lanes.square(lane)))))
    }
}
