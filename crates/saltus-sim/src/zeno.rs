//! Recognising accumulating events.
//!
//! When the same set of rules fires again and again at intervals that shrink by nearly constant
//! ratios, the events accumulate at a finite time. With the last interval d and ratios between
//! r_lo and r_hi the limit lies in t + d [r_lo/(1-r_lo), r_hi/(1-r_hi)].

/// Times of the last occurrences that are kept.
const KEPT: usize = 6;
/// Ratios at or above this are not contracting.
const CONTRACTING: f64 = 0.99;
/// Different sets of rules followed at once.
const FOLLOWED: usize = 16;

/// Follows the instants of a run.
#[derive(Debug, Default)]
pub(crate) struct ZenoWatch {
    sequences: Vec<Sequence>,
}

#[derive(Debug)]
struct Sequence {
    signature: u64,
    times: [f64; KEPT],
    count: usize,
}

/// Where events accumulate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Accumulation {
    pub low: f64,
    pub high: f64,
    pub ratio: f64,
    pub count: usize,
}

impl ZenoWatch {
    /// Takes note of an instant; tells the accumulation point if the rest of the sequence is
    /// shorter than `resolution`.
    pub fn instant(&mut self, t: f64, signature: u64, resolution: f64) -> Option<Accumulation> {
        let sequence = match self.sequences.iter_mut().position(|s| s.signature == signature) {
            Some(i) => &mut self.sequences[i],
            None => {
                if self.sequences.len() == FOLLOWED {
                    self.sequences.remove(0);
                }
                self.sequences.push(Sequence { signature, times: [f64::NAN; KEPT], count: 0 });
                self.sequences.last_mut()?
            }
        };
        sequence.times.rotate_left(1);
        sequence.times[KEPT - 1] = t;
        sequence.count += 1;
        if sequence.count < KEPT {
            return None;
        }
        sequence.accumulation().filter(|a| a.high - t <= resolution)
    }
}

impl Sequence {
    fn accumulation(&self) -> Option<Accumulation> {
        let interval = |i: usize| self.times[i + 1] - self.times[i];
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for i in 0..KEPT - 2 {
            let ratio = interval(i + 1) / interval(i);
            let contracts = interval(i) > 0.0 && ratio < CONTRACTING;
            if !contracts {
                return None;
            }
            low = low.min(ratio);
            high = high.max(ratio);
        }
        let (t, last) = (self.times[KEPT - 1], interval(KEPT - 2));
        let rest = |r: f64| last * r / (1.0 - r);
        Some(Accumulation { low: t + rest(low), high: t + rest(high), ratio: high, count: self.count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ball_accumulates_where_the_geometric_series_ends() {
        let mut watch = ZenoWatch::default();
        let (mut t, mut d) = (1.0, 1.0);
        let limit = 1.0 + 1.0 / (1.0 - 0.8);
        let found = (0..200).find_map(|_| {
            let found = watch.instant(t, 7, 1e-9);
            t += d;
            d *= 0.8;
            found
        });
        let found = found.expect("a contracting sequence");
        assert!(found.low <= limit + 1e-9 && limit - 1e-9 <= found.high && found.high - found.low < 1e-9);
        assert!((found.ratio - 0.8).abs() < 1e-3);
    }

    #[test]
    fn a_steady_rhythm_does_not_accumulate() {
        let mut watch = ZenoWatch::default();
        assert!((0..1000).all(|k| watch.instant(f64::from(k) * 0.1, 7, 1e9).is_none()));
    }
}
