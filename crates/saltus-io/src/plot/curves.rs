//! Curves and their jumps.
//!
//! Pieces are drawn as lines. A jump is a thin dashed line from the value before, an open dot, to
//! the value after, a filled dot; the dots are left out where jumps crowd.

use crate::figure::Series;
use crate::plot::axes::Axis;
use crate::scene::{CURVES, Colour, Dash, Paint, Scene, Segment, Stroke, polyline};
use crate::simplify::{self, Point};

/// How far a drawn curve may be from its points, in pixels.
const TOLERANCE: f64 = 0.1;
/// Nearer jumps go without dots.
const DOT_ROOM: f64 = 9.0;
/// More jumps in a panel go without dots.
const MOST_DOTS: usize = 60;

/// What lies along the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Time: x never decreases, and jumps are vertical.
    OverTime,
    /// Another variable.
    Phase,
}

/// Colour and dashes of the k-th curve of a panel.
pub fn stroke(k: usize) -> Stroke {
    let dash = [Dash::Solid, Dash::Gaps(6.0, 4.0), Dash::Gaps(1.5, 3.5)][(k / CURVES.len()) % 3];
    Stroke { colour: CURVES[k % CURVES.len()], width: 1.5, dash }
}

/// Draws all curves of a panel.
pub fn draw(scene: &mut Scene, series: &[Series], x: &Axis, y: &Axis, kind: Kind) {
    let drawn: Vec<_> = series.iter().map(|s| Drawn::new(s, x, y, kind)).collect();
    for (k, curve) in drawn.iter().enumerate() {
        curve.jump_lines(scene, stroke(k));
    }
    for (k, curve) in drawn.iter().enumerate() {
        curve.lines(scene, stroke(k));
    }
    if drawn.iter().map(|c| c.jumps.len()).sum::<usize>() <= MOST_DOTS {
        for (k, curve) in drawn.iter().enumerate() {
            curve.dots(scene, stroke(k).colour);
        }
    }
}

/// A curve in pixels.
struct Drawn {
    pieces: Vec<Vec<Point>>,
    jumps: Vec<(Point, Point)>,
    /// So many jumps that the dashes of their lines would make a pattern.
    crowded: bool,
}

impl Drawn {
    fn new(series: &Series, x: &Axis, y: &Axis, kind: Kind) -> Self {
        let to_pixels = |p: &(f64, f64)| (x.pixel(p.0), y.pixel(p.1));
        let mut pieces: Vec<Vec<Point>> = Vec::new();
        let mut jumps = Vec::new();
        let mut end: Option<Point> = None;
        for piece in &series.pieces {
            for (k, run) in piece.split(|p| !(p.0.is_finite() && p.1.is_finite())).enumerate() {
                let run: Vec<Point> = run.iter().map(to_pixels).collect();
                let joins = if k == 0 { end } else { None };
                if let (Some(from), Some(&to)) = (joins, run.first()) {
                    jumps.extend(jump(from, to, kind));
                }
                end = run.last().copied();
                pieces.extend((!run.is_empty()).then_some(run));
            }
        }
        // More pieces than half pixels: what is seen is the envelope of all of them.
        if kind == Kind::OverTime && pieces.len() as f64 > 2.0 * x.pixels() {
            pieces = vec![pieces.concat()];
            jumps.clear();
        }
        let pieces = pieces.into_iter().map(|p| thinned(p, kind)).collect();
        let crowded = jumps.len() as f64 * 6.0 > x.pixels();
        Self { pieces, jumps, crowded }
    }

    fn lines(&self, scene: &mut Scene, stroke: Stroke) {
        let segments: Vec<Segment> =
            self.pieces.iter().filter(|p| p.len() > 1).flat_map(|p| polyline(p)).collect();
        if !segments.is_empty() {
            scene.path(segments, Paint::stroke(stroke));
        }
        for point in self.pieces.iter().filter(|p| p.len() == 1).map(|p| p[0]).take(10_000) {
            scene.circle(point.0, point.1, 1.6, Paint::fill(stroke.colour));
        }
    }

    fn jump_lines(&self, scene: &mut Scene, stroke: Stroke) {
        let segments: Vec<Segment> = self.jumps.iter().flat_map(|&(a, b)| polyline(&[a, b])).collect();
        if !segments.is_empty() {
            let line = if self.crowded {
                Stroke::solid(stroke.colour.lighter(0.6), 0.6)
            } else {
                Stroke::dashed(stroke.colour.lighter(0.25), 0.8, 3.0, 3.0)
            };
            scene.path(segments, Paint::stroke(line));
        }
    }

    fn dots(&self, scene: &mut Scene, colour: Colour) {
        for (k, &(before, after)) in self.jumps.iter().enumerate() {
            let roomy = |other: Option<&(Point, Point)>| {
                other.is_none_or(|o| distance(*o, (before, after)) >= DOT_ROOM)
            };
            let previous = k.checked_sub(1).and_then(|k| self.jumps.get(k));
            if roomy(previous) && roomy(self.jumps.get(k + 1)) && length(before, after) > 6.0 {
                scene.circle(before.0, before.1, 2.3, Paint::both(Colour::WHITE, Stroke::solid(colour, 1.1)));
                scene.circle(after.0, after.1, 2.6, Paint::fill(colour));
            }
        }
    }
}

fn length(a: Point, b: Point) -> f64 {
    (b.0 - a.0).hypot(b.1 - a.1)
}

/// The least distance between the ends of two jumps.
fn distance(a: (Point, Point), b: (Point, Point)) -> f64 {
    length(a.0, b.0).min(length(a.1, b.1)).min(length(a.0, b.1)).min(length(a.1, b.0))
}

/// A jump worth drawing between the end of a piece and the start of the next.
fn jump(from: Point, to: Point, kind: Kind) -> Option<(Point, Point)> {
    let same_time = kind == Kind::Phase || (from.0 - to.0).abs() < 0.05;
    (same_time && length(from, to) > 0.5).then_some((from, to))
}

fn thinned(points: Vec<Point>, kind: Kind) -> Vec<Point> {
    let span = points.last().zip(points.first()).map_or(0.0, |(b, a)| b.0 - a.0);
    let dense = kind == Kind::OverTime && points.len() as f64 > 16.0 * (span + 8.0);
    let points = if dense { simplify::columns(&points) } else { points };
    let kept = simplify::corridor(&points, TOLERANCE);
    // A piece too short to be seen is a dot.
    if kept.len() == 2 && length(kept[0], kept[1]) < 0.05 { vec![kept[0]] } else { kept }
}
