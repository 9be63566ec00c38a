//! Dice and the favourite numbers of a random system.

/// A reproducible source of choices (SplitMix64).
pub(super) struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5a17_u64)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }

    /// True in the given percentage of cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several things; `None` if there are none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len())).copied()
    }

    /// The position of the weight that is hit.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut hit = self.below(weights.iter().sum());
        for (k, &weight) in weights.iter().enumerate() {
            if hit < weight {
                return k;
            }
            hit -= weight;
        }
        weights.len() - 1
    }
}

/// The few numbers a system is made of.
pub(super) struct Numbers {
    /// No general doubles.
    pub dyadic: bool,
    thresholds: Vec<f64>,
    times: Vec<f64>,
}

const SLOPES: [f64; 7] = [1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 0.0];
const GRID: [f64; 11] = [-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0];
const TIMES: [f64; 9] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0];
const PERIODS: [f64; 5] = [0.5, 1.0, 1.5, 2.0, 3.0];

impl Numbers {
    pub fn new(dice: &mut Dice) -> Self {
        let dyadic = dice.chance(85);
        let mut draw = |grid: &[f64], count: usize| -> Vec<f64> {
            (0..count).map(|_| grid[dice.below(grid.len())]).collect()
        };
        let mut thresholds = draw(&GRID, 4);
        thresholds.sort_by(f64::total_cmp);
        let times = draw(&TIMES, 3);
        Self { dyadic, thresholds, times }
    }

    /// Now and then another number than the given one, in a system that is not dyadic.
    fn spoiled(&self, dice: &mut Dice, value: f64) -> f64 {
        if self.dyadic || !dice.chance(40) { value } else { value + dice.below(97) as f64 / 70.0 }
    }

    /// A start or reset value, often between the low and the high favourites.
    pub fn value(&self, dice: &mut Dice) -> f64 {
        if dice.chance(60) { (self.thresholds[1] + self.thresholds[2]) / 2.0 } else { self.level(dice) }
    }

    /// A threshold, mostly a favourite.
    pub fn level(&self, dice: &mut Dice) -> f64 {
        let from: &[f64] = if dice.chance(75) { &self.thresholds } else { &GRID };
        let value = from[dice.below(from.len())];
        self.spoiled(dice, value)
    }

    /// A threshold to be reached upwards or downwards: mostly a high or a low favourite, so that
    /// opposite guards leave room between them.
    pub fn level_towards(&self, dice: &mut Dice, upwards: bool) -> f64 {
        if dice.chance(20) {
            return self.level(dice);
        }
        let half = self.thresholds.len() / 2;
        let from = if upwards { &self.thresholds[half..] } else { &self.thresholds[..half] };
        let value = from[dice.below(from.len())];
        self.spoiled(dice, value)
    }

    pub fn slope(&self, dice: &mut Dice) -> f64 {
        let value = SLOPES[dice.weighted(&[3, 3, 2, 2, 2, 2, 1])];
        if value == 0.0 { value } else { self.spoiled(dice, value) }
    }

    pub fn time(&self, dice: &mut Dice) -> f64 {
        let from: &[f64] = if dice.chance(70) { &self.times } else { &TIMES };
        let value = from[dice.below(from.len())];
        self.spoiled(dice, value)
    }

    /// A positive number.
    pub fn period(&self, dice: &mut Dice) -> f64 {
        let value = PERIODS[dice.below(PERIODS.len())];
        self.spoiled(dice, value)
    }
}
