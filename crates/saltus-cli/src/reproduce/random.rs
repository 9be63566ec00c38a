//! Reproducible random numbers for starts: SplitMix64 (Steele, Lea, Flood 2014).

/// A stream of random numbers, the same for the same seed.
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to below `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        low + unit * (high - low)
    }

    /// A point of a disc about the origin.
    pub fn in_disc(&mut self, radius: f64) -> (f64, f64) {
        loop {
            let (x, y) = (self.between(-radius, radius), self.between(-radius, radius));
            if x.hypot(y) <= radius {
                return (x, y);
            }
        }
    }

    /// One of two signs.
    pub fn sign(&mut self) -> f64 {
        if self.between(0.0, 1.0) < 0.5 { -1.0 } else { 1.0 }
    }
}
