//! Fewer points for the same curve.
//!
//! Points are in pixels. A corridor of constant half-width is opened from the last kept point and
//! narrowed by every point passed; when the next point lies outside, the one before it is kept. One
//! pass, only square roots, so the result is the same on every machine.

/// A point in pixels.
pub type Point = (f64, f64);

/// Thins out a curve such that no dropped point lies farther than `tolerance` from the result. The
/// first and the last point are kept.
///
/// ```
/// let line: Vec<(f64, f64)> = (0..100).map(|k| (k as f64, 0.5 * k as f64)).collect();
/// assert_eq!(saltus_io::simplify::corridor(&line, 0.1), [(0.0, 0.0), (99.0, 49.5)]);
/// ```
pub fn corridor(points: &[Point], tolerance: f64) -> Vec<Point> {
    let mut kept = Vec::new();
    let Some((&first, rest)) = points.split_first() else { return kept };
    kept.push(first);
    let (mut anchor, mut previous) = (first, first);
    // Turning back within the corridor costs up to sqrt(2) times its half-width.
    let mut view = View::new(tolerance / 1.5);
    for &point in rest {
        if !view.admits(step(anchor, point)) {
            kept.push(previous);
            anchor = previous;
            view = View::new(view.half_width);
        }
        view.narrow(step(anchor, point));
        previous = point;
    }
    if !rest.is_empty() && (previous != anchor || kept.len() == 1) {
        kept.push(previous);
    }
    kept
}

fn step(from: Point, to: Point) -> Point {
    (to.0 - from.0, to.1 - from.1)
}

fn cross(a: Point, b: Point) -> f64 {
    a.0 * b.1 - a.1 * b.0
}

fn dot(a: Point, b: Point) -> f64 {
    a.0 * b.0 + a.1 * b.1
}

/// The directions from the anchor in which all points passed so far are near enough.
struct View {
    half_width: f64,
    reach: f64,
    sides: Option<(Point, Point)>,
}

impl View {
    fn new(half_width: f64) -> Self {
        Self { half_width, reach: 0.0, sides: None }
    }

    fn admits(&self, to: Point) -> bool {
        let Some((right, left)) = self.sides else { return true };
        let far_enough = dot(to, to).sqrt() >= self.reach - self.half_width;
        let ahead = dot(to, (right.0 + left.0, right.1 + left.1)) > 0.0;
        far_enough && ahead && cross(right, to) >= 0.0 && cross(to, left) >= 0.0
    }

    fn narrow(&mut self, to: Point) {
        let distance = dot(to, to).sqrt();
        if distance <= self.half_width {
            return;
        }
        self.reach = self.reach.max(distance);
        let sine = self.half_width / distance;
        let cosine = (1.0 - sine * sine).sqrt();
        let left = (to.0 * cosine - to.1 * sine, to.0 * sine + to.1 * cosine);
        let right = (to.0 * cosine + to.1 * sine, to.1 * cosine - to.0 * sine);
        self.sides = Some(match self.sides {
            None => (right, left),
            Some((old_right, old_left)) => (
                if cross(old_right, right) > 0.0 { right } else { old_right },
                if cross(left, old_left) > 0.0 { left } else { old_left },
            ),
        });
    }
}

/// Keeps the first, lowest, highest and last point of every half pixel of a curve over x: all that
/// is seen of a curve with far more points than pixels.
pub fn columns(points: &[Point]) -> Vec<Point> {
    let column = |p: &Point| (p.0 * 2.0).floor();
    let mut kept = Vec::new();
    for group in points.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |a: &usize, b: &usize| group[*a].1.total_cmp(&group[*b].1);
        let indices = 0..group.len();
        let low = indices.clone().min_by(by_height).unwrap_or(0);
        let high = indices.max_by(by_height).unwrap_or(0);
        let mut chosen = [0, low.min(high), low.max(high), group.len() - 1].to_vec();
        chosen.dedup();
        kept.extend(chosen.into_iter().map(|k| group[k]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distance_to_segment(p: Point, a: Point, b: Point) -> f64 {
        let (along, to) = (step(a, b), step(a, p));
        let length = dot(along, along);
        let share = if length == 0.0 { 0.0 } else { (dot(along, to) / length).clamp(0.0, 1.0) };
        let off = (to.0 - share * along.0, to.1 - share * along.1);
        dot(off, off).sqrt()
    }

    fn distance(p: Point, line: &[Point]) -> f64 {
        line.windows(2).map(|w| distance_to_segment(p, w[0], w[1])).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn every_point_stays_within_the_tolerance(
            points in proptest::collection::vec((-5.0..5.0f64, -5.0..5.0f64), 2..60), tolerance in 0.05..2.0f64
        ) {
            let kept = corridor(&points, tolerance);
            prop_assert_eq!(kept[0], points[0]);
            prop_assert_eq!(kept[kept.len() - 1], points[points.len() - 1]);
            for &p in &points {
                prop_assert!(distance(p, &kept) <= tolerance + 1e-9, "{:?} {:?}", p, kept);
            }
        }
    }

    #[test]
    fn a_smooth_curve_needs_few_points() {
        let circle: Vec<Point> = (0..=10_000)
            .map(|k| f64::from(k) / 1591.549)
            .map(|a| (200.0 * a.cos(), 200.0 * a.sin()))
            .collect();
        let kept = corridor(&circle, 0.1);
        assert!(kept.len() < 160, "{}", kept.len());
    }

    #[test]
    fn dense_noise_is_reduced_to_its_envelope() {
        let noise: Vec<Point> =
            (0..100_000).map(|k| (f64::from(k) / 1000.0, f64::from(k * 7919 % 101))).collect();
        let kept = columns(&noise);
        assert!(kept.len() <= 4 * 201);
        assert_eq!(kept.iter().map(|p| p.1).fold(f64::MIN, f64::max), 100.0);
    }

    #[test]
    fn one_or_no_point_stays() {
        assert!(corridor(&[], 0.1).is_empty());
        assert_eq!(corridor(&[(1.0, 2.0)], 0.1), [(1.0, 2.0)]);
        assert_eq!(corridor(&[(1.0, 2.0), (1.0, 2.0)], 0.1), [(1.0, 2.0), (1.0, 2.0)]);
    }
}
