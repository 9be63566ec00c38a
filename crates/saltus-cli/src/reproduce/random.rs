//! Random numbers for starts.

use saltus::sim::random;

/// A stream of random numbers, the same for the same seed.
pub struct Random(random::Random);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(random::Random::new(seed))
    }

    /// A number from `low` to below `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.0.uniform() * (high - low)
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
