//! The box of a step: guessed from the first coefficients, wider or tighter by what came of it.

use super::UNIT;
use saltus_expr::jet::StateMatrix;
use saltus_num::interval::Interval;

/// How much wider than guessed a side of the box is made.
const GREATEST_GROWTH: f64 = 6.0;

/// Room of a state that does not move at all, above the least radius of a coefficient.
const LEAST_ROOM: f64 = 1e-100;

/// Room of a state relative to its value, above its rounding.
const LEAST_RELATIVE_ROOM: f64 = 1e-15;

/// Factors of the room for moves of others from box to box, and its least share.
const TIGHTENING: f64 = 0.01;
const LOOSENING: f64 = 4.0;
const LEAST_LOOSENESS: f64 = 1e-18;

/// A box about the step, guessed from the first coefficients.
#[derive(Clone, Debug)]
pub(super) struct BoxGuess {
    pub point: Vec<f64>,
    pub bounds: Vec<Interval>,
    /// Up and down, from the coefficients.
    moves: Vec<[f64; 2]>,
    /// How much wider than first guessed each side is.
    growth: Vec<[f64; 2]>,
    /// Share of the room that states get for moves of others.
    looseness: f64,
}

impl BoxGuess {
    pub fn new(states: usize) -> BoxGuess {
        BoxGuess {
            point: vec![0.0; states],
            bounds: vec![Interval::point(0.0); states],
            moves: vec![[0.0; 2]; states],
            growth: vec![[1.0; 2]; states],
            looseness: 1.0,
        }
    }

    pub fn start(&mut self, states: StateMatrix) {
        self.point.copy_from_slice(states.order(0));
        self.narrow();
    }

    /// The moves of the first three orders with some room, for a step of `ratio` scales.
    pub fn guess(&mut self, states: StateMatrix, ratio: f64) {
        self.moves.fill([0.0; 2]);
        let mut power = 1.0;
        for k in 1..=3 {
            power *= ratio;
            for (sides, &c) in self.moves.iter_mut().zip(states.order(k)) {
                sides[usize::from(c < 0.0)] += (c * power).abs();
            }
        }
        let widest = self.moves.iter().fold(0.0_f64, |a, sides| a.max(sides[0] + sides[1]));
        for i in 0..self.point.len() {
            let x = self.point[i];
            let whole = self.moves[i][0] + self.moves[i][1];
            let loose = 1e-3 * widest.min(x.abs() + whole) + 1e-6 * widest + 1e-13 * x.abs();
            let slack = self.looseness * loose + LEAST_RELATIVE_ROOM * x.abs() + LEAST_ROOM;
            let room =
                [0, 1].map(|side| self.growth[i][side] * (1.3 * self.moves[i][side] + 0.1 * whole + slack));
            self.bounds[i] = Interval::new(x - room[1], x + room[0]);
        }
    }

    /// Takes all growth back.
    pub fn narrow(&mut self) {
        self.growth.fill([1.0; 2]);
    }

    /// What was learnt from earlier boxes is forgotten.
    pub fn forget(&mut self) {
        self.looseness = 1.0;
    }

    /// From a box that was too wide: states that hardly move get less room of those that do, which
    /// near the edge of a function may be more than there is.
    pub fn tighten(&mut self) {
        self.narrow();
        self.looseness = (TIGHTENING * self.looseness).max(LEAST_LOOSENESS);
    }

    /// From a step that needed more room, or had enough.
    pub fn loosen(&mut self) {
        self.looseness = (LOOSENING * self.looseness).min(1.0);
    }

    /// How far the box reaches beyond the point, rounded down.
    pub fn room(&self, state: usize) -> [f64; 2] {
        let (bounds, x) = (self.bounds[state], self.point[state]);
        [bounds.hi() - x, x - bounds.lo()].map(|room| room * (1.0 - 4.0 * UNIT))
    }

    /// Makes the sides that need more wider, within limits: what a box needs grows with it.
    pub fn widen(&mut self, state: usize, need: [f64; 2]) {
        let room = self.room(state);
        for side in 0..2 {
            if need[side].is_nan() || need[side] > room[side] {
                self.growth[state][side] = (1.5 * self.growth[state][side]).min(GREATEST_GROWTH);
            }
        }
    }
}
