//! Recognising accumulating events.
//!
//! When the same set of rules fires again and again at intervals that shrink by nearly constant
//! ratios, the events accumulate at a finite time. With the last interval d and ratios between
//! r_lo and r_hi the limit lies in t + d [r_lo/(1-r_lo), r_hi/(1-r_hi)]. Where they shrink so slowly that
//! rounding of time hides it, they come to be too short to tell what happens between.

/// Times of the last occurrences that are kept.
const KEPT: usize = 6;
/// Ratios at or above this contract only if rounding of time can not have made them less than 1.
const CONTRACTING: f64 = 0.99;
/// Roundings of time by which two intervals differ at most if they are one.
const ROUNDINGS: f64 = 4.0;
/// Intervals of so many roundings of time are too short, if so many follow one another.
const SHORT: f64 = 64.0;
const SHORT_ONES: usize = 32;
/// Different sets of rules followed at once: each has one place, which the last to come takes.
const FOLLOWED: usize = 256;

/// Follows the instants of a run.
#[derive(Debug, Default)]
pub(crate) struct ZenoWatch {
    sequences: Vec<Sequence>,
}

#[derive(Clone, Copy, Debug)]
struct Sequence {
    signature: u64,
    times: [f64; KEPT],
    count: usize,
    /// Intervals in a row that are too short.
    short: usize,
}

/// Where events accumulate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Accumulation {
    /// The time is between two others.
    Between { low: f64, high: f64, ratio: f64, count: usize },
    /// Not long after so many events whose intervals are lost in rounding.
    Here { count: usize },
}

impl ZenoWatch {
    /// Takes note of an instant; tells the accumulation point if the rest of the sequence is
    /// shorter than `resolution`, or than can be told.
    pub fn instant(&mut self, t: f64, signature: u64, resolution: f64) -> Option<Accumulation> {
        if self.sequences.is_empty() {
            self.sequences.resize(FOLLOWED, Sequence::new(0));
        }
        let place = signature ^ signature >> 32;
        let sequence = &mut self.sequences[(place ^ place >> 16) as usize % FOLLOWED];
        if sequence.signature != signature {
            *sequence = Sequence::new(signature);
        }
        sequence.add(t);
        if sequence.short >= SHORT_ONES {
            return Some(Accumulation::Here { count: sequence.short });
        }
        if sequence.count < KEPT {
            return None;
        }
        sequence.accumulation(resolution)
    }
}

impl Sequence {
    fn new(signature: u64) -> Sequence {
        Sequence { signature, times: [f64::NAN; KEPT], count: 0, short: 0 }
    }

    fn add(&mut self, t: f64) {
        let is_short = t - self.times[KEPT - 1] <= SHORT * f64::EPSILON * t.abs();
        self.short = if is_short { self.short + 1 } else { 0 };
        self.times.rotate_left(1);
        self.times[KEPT - 1] = t;
        self.count += 1;
    }

    fn accumulation(&self, resolution: f64) -> Option<Accumulation> {
        let interval = |i: usize| self.times[i + 1] - self.times[i];
        let t = self.times[KEPT - 1];
        let rounding = ROUNDINGS * f64::EPSILON * t.abs();
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for i in 0..KEPT - 2 {
            let ratio = interval(i + 1) / interval(i);
            let shrinks = ratio < CONTRACTING || interval(i) - interval(i + 1) > rounding;
            if !(interval(i) > 0.0 && shrinks) {
                return None;
            }
            low = low.min(ratio);
            high = high.max(ratio);
        }
        let rest = |r: f64| interval(KEPT - 2) * r / (1.0 - r);
        let (low, high, ratio) = (t + rest(low), t + rest(high), high);
        (high - t <= resolution).then_some(Accumulation::Between { low, high, ratio, count: self.count })
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
        let Some(Accumulation::Between { low, high, ratio, .. }) = found else { panic!("{found:?}") };
        assert!(low <= limit + 1e-9 && limit - 1e-9 <= high && high - low < 1e-9);
        assert!((ratio - 0.8).abs() < 1e-3);
    }

    #[test]
    fn a_steady_rhythm_does_not_accumulate() {
        let mut watch = ZenoWatch::default();
        assert!((0..1000).all(|k| watch.instant(f64::from(k) * 0.1, 7, 1e9).is_none()));
    }

    #[test]
    fn intervals_that_are_lost_in_rounding_accumulate() {
        let mut watch = ZenoWatch::default();
        let mut found = (0..100).map(|k| watch.instant(1.0 + f64::from(k) * 1e-14, 7, 0.0));
        assert_eq!(found.find_map(|found| found), Some(Accumulation::Here { count: SHORT_ONES }));
    }
}
