//! Starts of the bumper cars of table II, and how deep cars overlap in a run.

use super::random::Random;
use saltus::{HybridSystem, Options, Run, Sampling};

/// The model.
pub const MODEL: &str = include_str!("../../../../reproduce/bumper_cars.salt");
/// Number of cars.
pub const CARS: usize = 20;

const BOX: f64 = 10.0;
const R: f64 = 0.1;
/// Cars start at least this far apart.
const APART: f64 = 0.05;

/// A car at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Car {
    /// Place.
    pub x: f64,
    pub y: f64,
    /// Heading, speed and turn rate.
    pub th: f64,
    pub v: f64,
    pub w: f64,
}

/// Cars that do not touch.
pub fn start(random: &mut Random) -> Vec<Car> {
    let mut cars: Vec<Car> = Vec::with_capacity(CARS);
    while cars.len() < CARS {
        let wall = R + APART;
        let (x, y) = (random.between(wall, BOX - wall), random.between(wall, BOX - wall));
        let th = random.between(-std::f64::consts::PI, std::f64::consts::PI);
        let (v, w) = (random.between(0.5, 1.5), random.sign() * random.between(0.02, 0.2));
        if cars.iter().all(|c| (c.x - x).hypot(c.y - y) > 2.0 * R + APART) {
            cars.push(Car { x, y, th, v, w });
        }
    }
    cars
}

/// The options of a run from a start.
pub fn apply(cars: &[Car], options: &mut Options) {
    let values = cars.iter().enumerate().flat_map(|(k, car)| {
        [("x", car.x), ("y", car.y), ("th", car.th), ("v", car.v), ("w", car.w)]
            .map(|(name, value)| (format!("{name}[{}]", k + 1), value))
    });
    options.set = values.collect();
}

/// How deep two cars, or a car and a wall, overlap at most, at the events and every `apart` seconds
/// between them; 0 if they never do.
pub fn deepest_overlap(system: &HybridSystem, run: &Run, apart: f64) -> f64 {
    let slot = |name: String| system.variables.iter().position(|v| v.name == name).unwrap_or_default();
    let slots: Vec<_> = (1..=CARS).map(|k| (slot(format!("x[{k}]")), slot(format!("y[{k}]")))).collect();
    let mut deepest = 0.0f64;
    let mut places = Vec::with_capacity(CARS);
    run.trace.walk(Sampling::Spaced { apart, least: 1 }, |point| {
        places.clear();
        places.extend(slots.iter().map(|&(x, y)| (point.values[x], point.values[y])));
        deepest = deepest.max(overlap(&places));
    });
    deepest
}

fn overlap(places: &[(f64, f64)]) -> f64 {
    let mut deepest = 0.0f64;
    for (k, &(x, y)) in places.iter().enumerate() {
        let wall = x.min(y).min(BOX - x).min(BOX - y);
        deepest = deepest.max(R - wall);
        for &(u, v) in &places[k + 1..] {
            let square = (x - u) * (x - u) + (y - v) * (y - v);
            if square < 4.0 * R * R {
                deepest = deepest.max(2.0 * R - square.sqrt());
            }
        }
    }
    deepest
}
