//! Lines that leave the reach of the arm of example 2, and where they do.

use super::random::Random;
use saltus::{Options, Run};

/// The models.
pub const MODEL: &str = include_str!("../../../../reproduce/arm.salt");
/// Rates from the target and from the inverse Jacobian, without and with guards at the edge.
pub const FORMULATIONS: [&str; 4] = ["Target", "GuardedTarget", "Jacobian", "GuardedJacobian"];

/// Reach of the stretched and of the folded arm.
pub const OUTER: f64 = 1.8;
pub const INNER: f64 = 0.2;

/// A line for the tip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Where it starts.
    pub x: f64,
    pub y: f64,
    /// The speed of the tip.
    pub vx: f64,
    pub vy: f64,
}

impl Line {
    /// The distance from the shoulder at a time.
    pub fn radius(&self, t: f64) -> f64 {
        (self.x + self.vx * t).hypot(self.y + self.vy * t)
    }

    /// How near the line comes to the shoulder if it leads inwards.
    fn passing(&self) -> Option<f64> {
        let inwards = self.x * self.vx + self.y * self.vy < 0.0;
        inwards.then(|| (self.x * self.vy - self.y * self.vx).abs() / self.vx.hypot(self.vy))
    }

    /// Whether it ends at the inner edge.
    pub fn is_inner(&self) -> bool {
        self.passing().is_some_and(|distance| distance < INNER)
    }

    /// How far from the edge a run ended.
    pub fn distance_to_edge(&self, run: &Run) -> f64 {
        let edge = if self.is_inner() { INNER } else { OUTER };
        (self.radius(run.ending.stamp.t) - edge).abs()
    }

    /// True if a run ended at the edge: no farther from it than the errors that its steps were
    /// allowed add up to.
    pub fn ends_at_edge(&self, run: &Run, rtol: f64) -> bool {
        self.distance_to_edge(run) <= rtol * run.stats.steps as f64
    }

    /// The options of a run along it.
    pub fn apply(&self, options: &mut Options) {
        let values = [("arm.x0", self.x), ("arm.y0", self.y), ("arm.vx", self.vx), ("arm.vy", self.vy)];
        options.set = values.map(|(name, value)| (name.into(), value)).into();
    }
}

/// Random lines from inside the ring, every second one to the inner edge. None touches the inner
/// edge or nearly so, which no tolerance can tell from passing it.
pub fn lines(random: &mut Random, count: usize) -> Vec<Line> {
    let mut lines = Vec::with_capacity(count);
    while lines.len() < count {
        let (x, y) = random.in_disc(1.7);
        let direction = random.between(-std::f64::consts::PI, std::f64::consts::PI);
        let speed = random.between(0.2, 1.0);
        let line = Line { x, y, vx: speed * direction.cos(), vy: speed * direction.sin() };
        let grazes = line.passing().is_some_and(|d| (0.18..0.25).contains(&d));
        let wanted = line.is_inner() == (lines.len() % 2 == 1);
        if x.hypot(y) > 0.3 && !grazes && wanted {
            lines.push(line);
        }
    }
    lines
}
