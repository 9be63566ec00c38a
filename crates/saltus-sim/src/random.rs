//! Choices of the random policy, and random starts: SplitMix64 (Steele, Lea, Flood 2014), small and
//! the same everywhere.

/// A stream of random numbers, the same for the same seed.
///
/// ```
/// use saltus_sim::random::Random;
/// let mut stream = Random::new(7);
/// let first = stream.uniform();
/// assert!((0.0..1.0).contains(&first) && first != stream.uniform());
/// assert_eq!(first, Random::new(7).uniform());
/// ```
#[derive(Clone, Debug)]
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

    /// Evenly distributed from 0 to below 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A fair coin.
    pub fn coin(&mut self) -> bool {
        self.next() >> 63 == 1
    }
}
