//! The corridor of table I in closed form: a straight line, then an arc of radius 5.

use super::random::Random;
use saltus::{Options, Run};

/// The models.
pub const MODEL: &str = include_str!("../../../../reproduce/corridor.salt");

const TURN_AT: f64 = 1.75;
const RATE: f64 = 0.2;
const RADIUS: f64 = 1.0 / RATE;
const LOW: f64 = -0.4;
const CORNER: f64 = 2.8;
/// Starts dip below the lower wall by this much, or stay clear of it by as much.
const MARGIN: std::ops::Range<f64> = 2e-4..2e-3;
/// A hit is found where the true path is this near to the wall: the tolerance of the runs, for a
/// path of length about 1.
const NEAR: f64 = 1e-4;

/// Where the vehicle starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Place.
    pub x: f64,
    pub y: f64,
    /// Heading.
    pub th: f64,
}

/// What a run made of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It hit the lower wall where it should.
    Found,
    /// It hit the lower wall elsewhere.
    Misplaced,
    /// It did not hit the lower wall but should.
    Missed,
    /// It hit the lower wall but should not.
    FalseAlarm,
    /// It rightly did not hit the lower wall.
    Clear,
}

impl Start {
    /// The time at which the turn begins, and the height there.
    fn turn(&self) -> (f64, f64) {
        let time = (TURN_AT - self.x) / self.th.cos();
        (time, self.y + time * self.th.sin())
    }

    /// The height at a time.
    pub fn height(&self, t: f64) -> f64 {
        let (turn, height) = self.turn();
        if t <= turn {
            return self.y + t * self.th.sin();
        }
        height - RADIUS * ((self.th + RATE * (t - turn)).cos() - self.th.cos())
    }

    /// How far the path gets below the lower wall before the corner; negative if it stays above.
    pub fn depth(&self) -> f64 {
        let at_corner = (self.th.sin() + (CORNER - TURN_AT) / RADIUS).clamp(-1.0, 1.0).asin();
        let lowest = at_corner.min(0.0);
        LOW - (self.turn().1 - RADIUS * (lowest.cos() - self.th.cos()))
    }

    /// When the lower wall is hit first.
    pub fn hit(&self) -> Option<f64> {
        if self.depth() < 0.0 {
            return None;
        }
        let (turn, height) = self.turn();
        let heading = -(self.th.cos() + (height - LOW) / RADIUS).clamp(-1.0, 1.0).acos();
        Some(turn + (heading - self.th) / RATE)
    }

    /// The options of a run from here.
    pub fn apply(&self, options: &mut Options) {
        options.set = [("x0", self.x), ("y0", self.y), ("th0", self.th)].map(|(n, v)| (n.into(), v)).into();
    }

    /// Compares a run with the closed form.
    pub fn judge(&self, run: &Run) -> Verdict {
        let hit = run.ending.reason == "lower wall";
        match (self.hit(), hit) {
            (None, false) => Verdict::Clear,
            (None, true) => Verdict::FalseAlarm,
            (Some(_), false) => Verdict::Missed,
            (Some(first), true) => {
                // The bottom of the dip lies this much after the first hit.
                let bottom = first + (2.0 * RADIUS * self.depth()).sqrt();
                let t = run.ending.stamp.t;
                let near = (self.height(t) - LOW).abs() <= NEAR && t < bottom;
                if near { Verdict::Found } else { Verdict::Misplaced }
            }
        }
    }
}

/// Starts in a disc about the usual one that hit the lower wall by a small margin.
pub fn grazing(random: &mut Random, count: usize) -> Vec<Start> {
    pick(random, count, usual, |s| MARGIN.contains(&s.depth()))
}

/// Starts that narrowly do not: half of them pass above the wall, the others come down right after
/// the corner.
pub fn clear(random: &mut Random, count: usize) -> Vec<Start> {
    let narrowly = |s: &Start| MARGIN.contains(&-s.depth());
    let mut starts = pick(random, count / 2, usual, narrowly);
    let late = |random: &mut Random| Start { x: 0.0, y: random.between(0.199, 0.201), th: -0.25 };
    starts.extend(pick(random, count - count / 2, late, narrowly));
    starts
}

fn usual(random: &mut Random) -> Start {
    let (dx, dy) = random.in_disc(0.05);
    Start { x: dx, y: 0.075 + dy, th: -0.2075 }
}

fn pick(
    random: &mut Random,
    count: usize,
    candidate: impl Fn(&mut Random) -> Start,
    admits: impl Fn(&Start) -> bool,
) -> Vec<Start> {
    let mut starts = Vec::with_capacity(count);
    while starts.len() < count {
        let start = candidate(random);
        if admits(&start) {
            starts.push(start);
        }
    }
    starts
}
