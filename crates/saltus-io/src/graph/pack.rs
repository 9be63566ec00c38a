//! Boxes side by side in rows, and positions pushed apart just as far as needed.

/// Width and height.
pub type Size = (f64, f64);

/// Places boxes in rows such that the whole is about one and a half times as wide as high. Returns
/// the upper left corners and the size of the whole.
pub fn rows(sizes: &[Size], gap: f64) -> (Vec<(f64, f64)>, Size) {
    let longest: f64 = sizes.iter().map(|s| s.0 + gap).sum();
    let widest = sizes.iter().map(|s| s.0).fold(0.0, f64::max);
    let candidates = (1..=sizes.len()).map(|rows| (longest / rows as f64).max(widest));
    let score = |width: f64| {
        let (w, h) = fill(sizes, gap, width).1;
        w.max(1.5 * h)
    };
    let best = candidates.min_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0.0);
    fill(sizes, gap, best)
}

/// Fills rows up to a width.
fn fill(sizes: &[Size], gap: f64, width: f64) -> (Vec<(f64, f64)>, Size) {
    let (mut x, mut y, mut row, mut total) = (0.0, 0.0, 0.0_f64, 0.0_f64);
    let mut places = Vec::new();
    for &(w, h) in sizes {
        if x > 0.0 && x + w > width + 1e-6 {
            (x, y, row) = (0.0, y + row + gap, 0.0);
        }
        places.push((x, y));
        total = total.max(x + w);
        row = row.max(h);
        x += w + gap;
    }
    (places, (total, y + row))
}

/// The positions nearest to the wanted ones (least weighted squares) that keep their order and lie at
/// least `gaps[k]` apart.
pub fn apart(wanted: &[f64], weights: &[f64], gaps: &[f64]) -> Vec<f64> {
    // With the gaps taken out, positions must only not decrease: neighbours that would are pooled.
    let mut offsets = vec![0.0];
    offsets.extend(gaps.iter().scan(0.0, |sum, gap| {
        *sum += gap;
        Some(*sum)
    }));
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (k, &position) in wanted.iter().enumerate() {
        let mut pool = (position - offsets[k], weights[k].max(1e-6), 1);
        while let Some(&(mean, weight, count)) = pools.last().filter(|last| last.0 > pool.0) {
            let total = weight + pool.1;
            pool = ((mean * weight + pool.0 * pool.1) / total, total, count + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    let means = pools.iter().flat_map(|&(mean, _, count)| std::iter::repeat_n(mean, count));
    means.zip(&offsets).map(|(mean, offset)| mean + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn boxes_do_not_overlap() {
        let sizes = [(100.0, 40.0), (30.0, 80.0), (60.0, 60.0), (200.0, 20.0), (10.0, 10.0)];
        let (places, (w, h)) = rows(&sizes, 8.0);
        for (k, (a, s)) in places.iter().zip(&sizes).enumerate() {
            assert!(a.0 + s.0 <= w + 1e-9 && a.1 + s.1 <= h + 1e-9);
            for (b, r) in places.iter().zip(&sizes).skip(k + 1) {
                assert!(a.0 + s.0 <= b.0 || b.0 + r.0 <= a.0 || a.1 + s.1 <= b.1 || b.1 + r.1 <= a.1);
            }
        }
    }

    proptest! {
        #[test]
        fn gaps_are_kept_and_nothing_moves_without_need(wanted in proptest::collection::vec(-50.0..50.0f64, 1..12)) {
            let gaps = vec![5.0; wanted.len() - 1];
            let found = apart(&wanted, &vec![1.0; wanted.len()], &gaps);
            prop_assert!(found.windows(2).all(|w| w[1] - w[0] >= 5.0 - 1e-9));
            let free = wanted.windows(2).all(|w| w[1] - w[0] >= 5.0);
            prop_assert!(!free || found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }
}
