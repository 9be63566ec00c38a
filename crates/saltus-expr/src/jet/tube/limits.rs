//! What a proof for many steps supposes of the coefficients: limits that they are within.
//!
//! All that a proof uses of a polynomial is its [`Extent`] and, of two that are multiplied, the sum of the
//! terms beyond the order; and every bound that follows holds for smaller ones, too. So it is supposed
//! that the value of a row at the start is in some range and that its coefficients a_k, over the unit of
//! the step, fall at least as
//!
//! |a_k| <= most ratio^k for k = 1 ... p,
//!
//! with one ratio for all rows, and one range and `most` for rows that are alike, as those of many instances
//! of a component: what one of them has met another may meet next. (If no proof comes of that, as of rows that
//! look alike and are not, each row has its own.) Extents and tails follow from that alone,
//! and whether a step is within the limits is one comparison for each coefficient. The unit is the length
//! that the tolerance allows: in it the coefficients of steps are much alike. The terms beyond the order of
//! a shorter step are less by the power p + 1 of its share.

use super::profile::{Coefficients, Extent};
use super::tape::Tape;
use crate::jet::RowPlace;
use crate::jet::range::Range;
use crate::program::Reg;
use saltus_num::UNIT;
use saltus_num::elementary::{pow, powi};
use saltus_num::vectors::{VectorWork, in_widest_vectors};

/// How much greater than the coefficients of a step the limits are, and become where they have to grow.
const SIZES: f64 = 3.0;
const GROWTH: f64 = 4.0;

/// Ratios of coefficients are supposed to be in this range.
const RATIOS: [f64; 2] = [0.125, 0.625];

/// Rows that are compared together if they are neighbours.
const LANES: usize = 4;

#[derive(Clone, Debug)]
pub(super) struct Limits {
    order: usize,
    /// By how much coefficients fall from order to order at least; 0 if nothing is supposed.
    ratio: f64,
    /// Sums of the powers of the ratio, from order 1 on: the one to order d at d.
    sums: Vec<f64>,
    /// For each row the one that stands for its kin: those alike, or itself.
    kin: Vec<u32>,
    /// The rows of each kin.
    members: Vec<Vec<u32>>,
    /// What is supposed of the rows of each kin.
    supposed: Vec<Option<Supposed>>,
    /// The kins that the proof at hand rests on.
    in_force: Vec<u32>,
    /// Their limits as they are compared.
    strands: Vec<Strand>,
    are_strands_made: bool,
    /// The limits of a row with `most` 1, by order, for the unit of the step at hand.
    decay: Vec<f64>,
    /// The last coefficients of the derivatives of states, which are those of the states beyond the order,
    /// and what they are compared with for a limit of 1.
    lasts: Vec<Last>,
    last_decay: f64,
    /// Their limits, by the kin of the state.
    most_beyond: Vec<f64>,
}

/// Where a last coefficient is, and its limit.
#[derive(Clone, Copy, Debug)]
struct Last {
    at: usize,
    most: f64,
}

/// What is supposed of a row.
#[derive(Clone, Copy, Debug)]
struct Supposed {
    /// Of the coefficient of order 0.
    value: Range,
    most: f64,
    /// Highest order with a coefficient.
    degree: usize,
    /// The proof at hand rests on it; else it is what one before did.
    is_in_force: bool,
}

/// The limits of a row, or of up to four that are neighbours in memory.
#[derive(Clone, Copy, Debug)]
struct Strand {
    place: RowPlace,
    degree: usize,
    starts: bool,
    rows: usize,
    lo: [f64; LANES],
    hi: [f64; LANES],
    most: [f64; LANES],
}

impl Limits {
    /// For the rows of a tape, of which nothing is supposed yet.
    pub fn new(tape: &Tape, order: usize) -> Limits {
        let rows = tape.degrees.len();
        let mut limits = Limits {
            order,
            ratio: 0.0,
            sums: vec![0.0; order + 1],
            kin: Vec::new(),
            members: vec![Vec::new(); rows],
            supposed: vec![None; rows],
            in_force: Vec::with_capacity(rows),
            strands: Vec::with_capacity(rows),
            are_strands_made: false,
            decay: vec![1.0; order + 1],
            lasts: Vec::new(),
            last_decay: 0.0,
            most_beyond: vec![0.0; rows],
        };
        limits.set_kin(&tape.kin);
        limits
    }

    /// The row that stands for those alike.
    #[inline(always)]
    pub fn kin(&self, row: usize) -> usize {
        self.kin[row] as usize
    }

    /// Takes rows as alike from now on, given for each the one that stands for its kin. Forgets everything.
    pub fn set_kin(&mut self, kin: &[u32]) {
        self.forget();
        self.kin.clear();
        self.kin.extend_from_slice(kin);
        self.members.iter_mut().for_each(Vec::clear);
        for (row, &kin) in (0..).zip(kin) {
            self.members[kin as usize].push(row);
        }
    }

    /// Takes each row as its own kin. False if that is so already.
    pub fn part(&mut self) -> bool {
        let own: Vec<u32> = (0..self.kin.len() as u32).collect();
        let is_new = own != self.kin;
        if is_new {
            self.set_kin(&own);
        }
        is_new
    }

    /// Takes the unit, and the scale of coefficients.
    pub fn set_unit(&mut self, unit: f64, scale: f64) {
        let (factor, mut power) = (self.ratio * scale / unit, 1.0);
        for to in &mut self.decay {
            *to = power;
            power *= factor;
        }
        self.last_decay = power * (self.order + 1) as f64 / scale;
    }

    /// Begins a new proof, for a step of some unit with coefficients of some scale: nothing is supposed, but
    /// what was is remembered. The ratio is that of the states, if nothing was supposed before.
    pub fn renew(&mut self, from: &Coefficients, states: &[usize], [unit, scale]: [f64; 2]) {
        for kin in self.in_force.drain(..) {
            if let Some(supposed) = &mut self.supposed[kin as usize] {
                supposed.is_in_force = false;
            }
        }
        self.are_strands_made = false;
        if self.ratio == 0.0 {
            let ratios = states.iter().map(|&row| self.ratio_of(from, row, unit / scale));
            self.ratio = ratios.fold(RATIOS[0], f64::max).min(RATIOS[1]);
            let (mut power, mut sum) = (1.0, 0.0);
            for to in &mut self.sums {
                *to = sum;
                power *= self.ratio;
                sum += power;
            }
        }
        self.set_unit(unit, scale);
    }

    /// The ratio that the last coefficient of a row and its greatest tell.
    fn ratio_of(&self, from: &Coefficients, row: usize, unit: f64) -> f64 {
        let Some(RowPlace { others, .. }) = from.places[row] else { return 0.0 };
        if !others.degree.reaches(self.order) {
            return 0.0;
        }
        let (mut power, mut greatest, mut last) = (1.0, 0.0_f64, 0.0);
        for k in 1..=self.order {
            power *= unit;
            last = from.arena[others.at(k)].abs() * power;
            greatest = greatest.max(last);
        }
        pow(last / greatest, 1.0 / self.order as f64)
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.ratio = 0.0;
        self.supposed.fill(None);
        self.in_force.clear();
        self.most_beyond.fill(0.0);
        self.lasts.clear();
        self.are_strands_made = false;
    }

    /// Supposes something of the last coefficients of the derivatives of states, given the rows of these, of
    /// which something is supposed, and the places of those that there are.
    pub fn suppose_lasts(
        &mut self,
        from: &Coefficients,
        states: impl Iterator<Item = (usize, Option<usize>)> + Clone,
    ) {
        for (row, at) in states.clone().filter_map(|(row, at)| Some((row, at?))) {
            let kin = self.kin(row);
            let here = from.arena[at].abs() / self.last_decay;
            let most = &mut self.most_beyond[kin];
            let least = self.supposed[kin].map_or(0.0, |supposed| supposed.most);
            *most = if here <= *most { most.max(least) } else { least.max(SIZES * here) };
        }
        self.lasts.clear();
        for (row, at) in states.filter_map(|(row, at)| Some((row, at?))) {
            self.lasts.push(Last { at, most: self.most_beyond[self.kin[row] as usize] });
        }
    }

    /// What is supposed of the coefficient of a state beyond the order, times p + 1.
    pub fn beyond(&self, row: usize) -> f64 {
        let (order, most) = (self.order + 1, self.most_beyond[self.kin(row)]);
        most * order as f64 * powi(self.ratio, order as i32) * self.inflation()
    }

    /// What is supposed of a row, at least what it is on the step.
    pub fn extent(&mut self, from: &Coefficients, row: Reg) -> Extent {
        let Some(Supposed { value, most, degree, .. }) = self.suppose(from, row) else {
            return Extent::UNKNOWN;
        };
        let size = most * self.sums[degree] * self.inflation();
        Extent { lo: value.lo - size, hi: value.hi + size, start: value.magnitude(), size }
    }

    /// What is supposed of the terms of a product beyond the order.
    pub fn tail(&mut self, from: &Coefficients, factors: [Reg; 2]) -> f64 {
        let [Some(a), Some(b)] = factors.map(|row| self.suppose(from, row)) else { return f64::INFINITY };
        let (mut sum, mut power) = (0.0, 1.0);
        for i in 1..=a.degree {
            power *= self.ratio;
            let least = (self.order - i).min(b.degree);
            sum += power * (self.sums[b.degree] - self.sums[least]);
        }
        // The differences of sums are rounded as these are.
        let rounding = 8.0 * UNIT * self.sums[a.degree] * self.sums[b.degree];
        a.most * b.most * (sum * self.inflation() + rounding)
    }

    /// Covers the rounding of powers and sums.
    fn inflation(&self) -> f64 {
        1.0 + 32.0 * self.order as f64 * UNIT
    }

    /// Supposes something of a row that is kept, and of those alike.
    #[inline(always)]
    fn suppose(&mut self, from: &Coefficients, row: Reg) -> Option<Supposed> {
        from.places[row.index()]?;
        let kin = self.kin[row.index()];
        Some(match self.supposed[kin as usize] {
            Some(supposed) if supposed.is_in_force => supposed,
            before => self.suppose_anew(from, kin, from.starts[row.index()], before),
        })
    }

    #[inline(never)]
    fn suppose_anew(
        &mut self,
        from: &Coefficients,
        kin: u32,
        starts: bool,
        before: Option<Supposed>,
    ) -> Supposed {
        let here = self.measure(from, kin, starts);
        let reach = (SIZES - 1.0) * here.most * self.sums[here.degree];
        let supposed = before.map_or_else(|| here.wider(reach), |before| before.extended(here, reach));
        self.supposed[kin as usize] = Some(supposed);
        self.in_force.push(kin);
        self.are_strands_made = false;
        supposed
    }

    /// What the rows of a kin are on the step.
    fn measure(&self, from: &Coefficients, kin: u32, starts: bool) -> Supposed {
        let (mut degree, mut most) = (0, 0.0);
        let mut value = Range { lo: f64::INFINITY, hi: f64::NEG_INFINITY };
        for place in self.members[kin as usize].iter().filter_map(|&row| from.places[row as usize]) {
            degree = place.others.degree.within(self.order);
            most = (1..=degree).fold(most, |most, k| {
                let here = from.arena[place.others.at(k)].abs() / self.decay[k];
                // What is no number stays so.
                if here <= most || most.is_nan() { most } else { here }
            });
            let here = if starts { from.arena[place.value as usize] } else { 0.0 };
            value = Range { lo: value.lo.min(here), hi: value.hi.max(here) };
        }
        Supposed { value, most, degree, is_in_force: true }
    }

    /// True if the coefficients of a step, given the memory of the jets, are within the limits.
    #[inline]
    pub fn hold(&mut self, arena: &[f64], tape: &Tape) -> bool {
        if !self.are_strands_made {
            self.make_strands(arena, tape);
        }
        let Limits { lasts, last_decay, strands, decay, .. } = self;
        in_widest_vectors(Comparison { lasts, last_decay: *last_decay, strands, decay, arena })
    }

    /// Puts neighbours in memory together.
    #[cold]
    #[inline(never)]
    fn make_strands(&mut self, arena: &[f64], tape: &Tape) {
        self.are_strands_made = true;
        self.strands.clear();
        for &kin in &self.in_force {
            let Some(supposed) = self.supposed[kin as usize] else { continue };
            for place in self.members[kin as usize].iter().filter_map(|&row| tape.places[row as usize]) {
                let row = Strand::new(place, tape.starts[kin as usize], supposed);
                match self.strands.last_mut().filter(|strand| strand.has_room_for(&row, arena.len())) {
                    Some(strand) => strand.add(&row),
                    None => self.strands.push(row),
                }
            }
        }
    }
}

impl Supposed {
    /// With room for other steps.
    fn wider(self, reach: f64) -> Supposed {
        let value = Range { lo: self.value.lo - reach, hi: self.value.hi + reach };
        Supposed { value, most: SIZES * self.most, ..self }
    }

    /// Wide enough for another step, and wider by half where it has to grow, so that it does not have to
    /// do so often.
    fn extended(self, other: Supposed, reach: f64) -> Supposed {
        let (wider, known) = (other.wider(reach), self.value);
        let half = 0.5 * (known.hi - known.lo);
        let value = Range {
            lo: if other.value.lo < known.lo { wider.value.lo - half } else { known.lo },
            hi: if other.value.hi > known.hi { wider.value.hi + half } else { known.hi },
        };
        Supposed {
            value,
            most: if other.most > self.most { GROWTH * other.most } else { self.most },
            ..other
        }
    }
}

impl Strand {
    fn new(place: RowPlace, starts: bool, Supposed { value, most, degree, .. }: Supposed) -> Strand {
        let first = |number: f64, others: f64| [number, others, others, others];
        let (lo, hi) = (first(value.lo, f64::NEG_INFINITY), first(value.hi, f64::INFINITY));
        Strand { place, degree, starts, rows: 1, lo, hi, most: first(most, f64::INFINITY) }
    }

    /// True if another row is the next neighbour of those that are compared together, and four numbers can be
    /// read at each order.
    fn has_room_for(&self, row: &Strand, memory: usize) -> bool {
        let (first, next) = (self.place, row.place);
        let after = [first.value, first.others.base].map(|at| at + self.rows as u32);
        let last = (first.value as usize).max(first.others.at(self.degree));
        self.rows < LANES
            && last + LANES <= memory
            && [next.value, next.others.base] == after
            && next.others.stride == first.others.stride
            && first.others.stride > 0
            && (first.others.stride as usize).is_multiple_of(LANES)
            && (row.degree, row.starts) == (self.degree, self.starts)
    }

    fn add(&mut self, row: &Strand) {
        let lane = self.rows;
        (self.lo[lane], self.hi[lane], self.most[lane]) = (row.lo[0], row.hi[0], row.most[0]);
        self.rows += 1;
    }

    #[inline(always)]
    fn holds(&self, arena: &[f64], decay: &[f64]) -> bool {
        let decay = &decay[1..=self.degree];
        match (self.rows, self.place.others.stride) {
            (1, 1) => self.row_holds(arena, decay),
            (1, _) => self.scattered_row_holds(arena, decay),
            _ => self.rows_hold(arena, decay),
        }
    }

    /// True if the value of the first row is as it is supposed to be.
    #[inline(always)]
    fn value_holds(&self, arena: &[f64]) -> bool {
        let value = arena[self.place.value as usize];
        !self.starts || value >= self.lo[0] && value <= self.hi[0]
    }

    /// The coefficients are one after another.
    #[inline(always)]
    fn row_holds(&self, arena: &[f64], decay: &[f64]) -> bool {
        let row = arena[self.place.others.at(1)..].iter().zip(decay);
        let within = row.filter(|(c, decay)| c.abs() <= self.most[0] * **decay).count();
        within == decay.len() && self.value_holds(arena)
    }

    #[inline(always)]
    fn scattered_row_holds(&self, arena: &[f64], decay: &[f64]) -> bool {
        let (mut at, mut within) = (self.place.others.base as usize, true);
        for decay in decay {
            at += self.place.others.stride as usize;
            within &= arena[at].abs() <= self.most[0] * decay;
        }
        within && self.value_holds(arena)
    }

    /// Four rows at a time; where there are fewer, those beside them are compared with nothing.
    #[inline(always)]
    fn rows_hold(&self, arena: &[f64], decay: &[f64]) -> bool {
        const NONE: [f64; LANES] = [f64::NAN; LANES];
        let values = arena[self.place.value as usize..].first_chunk::<LANES>().unwrap_or(&NONE);
        // Not zero for rows with a number outside.
        let mut outside = [0.0; LANES];
        if self.starts {
            for lane in 0..LANES {
                let is_within = (values[lane] >= self.lo[lane]) & (values[lane] <= self.hi[lane]);
                outside[lane] = if is_within { 0.0 } else { 1.0 };
            }
        }
        let fours = arena[self.place.others.base as usize..].as_chunks::<LANES>().0;
        let (mut at, step) = (0, self.place.others.stride as usize / LANES);
        for decay in decay {
            at += step;
            let coefficients = &fours[at];
            for lane in 0..LANES {
                let is_within = coefficients[lane].abs() <= self.most[lane] * decay;
                outside[lane] = if is_within { outside[lane] } else { 1.0 };
            }
        }
        outside == [0.0; LANES]
    }
}

/// Compares the coefficients of a step with limits.
struct Comparison<'a> {
    lasts: &'a [Last],
    last_decay: f64,
    strands: &'a [Strand],
    decay: &'a [f64],
    arena: &'a [f64],
}

impl VectorWork for Comparison<'_> {
    type Output = bool;

    #[inline(always)]
    fn work(self) -> bool {
        let Comparison { lasts, last_decay, strands, decay, arena } = self;
        lasts.iter().all(|last| arena[last.at].abs() <= last.most * last_decay)
            && strands.iter().all(|strand| strand.holds(arena, decay))
    }
}
