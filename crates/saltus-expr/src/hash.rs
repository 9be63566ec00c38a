//! Maps and sets keyed by expressions, nodes and other small things that are made of numbers.
//!
//! Making a model's code looks such keys up many times; a hash that resists chosen keys takes longer
//! than all the rest of a lookup. Here each number is mixed in by a rotation and a multiplication,
//! as in the hash of Firefox and rustc. It is the same in every run.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map with quick lookups.
///
/// ```
/// use saltus_expr::hash::QuickMap;
/// let squares: QuickMap<u32, u32> = (0..100).map(|i| (i, i * i)).collect();
/// assert_eq!(squares[&12], 144);
/// ```
pub type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;

/// A set with quick lookups.
pub type QuickSet<K> = HashSet<K, BuildHasherDefault<QuickHasher>>;

/// Mixes numbers by rotation and multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuickHasher(u64);

impl QuickHasher {
    #[inline]
    fn mix(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for QuickHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.mix(u64::from_le_bytes(word)));
        rest.iter().for_each(|&byte| self.mix(byte.into()));
    }

    #[inline]
    fn write_u8(&mut self, x: u8) {
        self.mix(x.into());
    }

    #[inline]
    fn write_u32(&mut self, x: u32) {
        self.mix(x.into());
    }

    #[inline]
    fn write_u64(&mut self, x: u64) {
        self.mix(x);
    }

    #[inline]
    fn write_usize(&mut self, x: usize) {
        self.mix(x as u64);
    }

    /// Tables choose places by the low bits; the product is mixed best in its high ones.
    #[inline]
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    fn hash(x: impl Hash) -> u64 {
        let mut hasher = QuickHasher::default();
        x.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn neighbouring_keys_spread_over_a_table() {
        let places: HashSet<u64> = (0..1000_u32).map(|i| hash((3_u8, i, i + 1)) % 4096).collect();
        assert!(places.len() > 700, "{} of 1000 keys have a place of their own", places.len());
    }

    #[test]
    fn every_number_of_a_key_counts() {
        let keys = [hash((1_u32, 2_u32)), hash((2_u32, 1_u32)), hash((0_u32, 2_u32)), hash("ab"), hash("ba")];
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
    }
}
