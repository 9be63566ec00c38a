//! Jets with proof: what the Taylor coefficients of a flow can be at a point and all over a box.
//!
//! The jets of a plan are computed once more, to a low order, on [`Ball`]s: the number the jets
//! have, with one radius for its rounding error at the point and one for all it can be on a box
//! about the point. Order 0 of every row is a range with ends of its own on the box; the orders
//! above follow by the recurrences of the jets. See [`BallJets`].

mod arithmetic;
mod start;
mod tape;
#[cfg(test)]
mod tests;

pub use arithmetic::Ball;

use crate::display::function;
use crate::graph::{Binary, Unary};
use crate::jet::range::Range;
use crate::jet::recurrence::Rule;
use crate::plan::FlowPlan;
use crate::program::{Op, Reg};
use arithmetic::{Balls, UNIT};
use saltus_num::interval::Interval;
use start::{Cause, Start};
use tape::{Node, Tape};

/// Coefficients of the states and of watched slots with their radii.
///
/// A step is proved on one box after another at one point, and to one order after another:
/// [`BallJets::set_point`], then [`BallJets::enclose`] with a box, then [`BallJets::extend`] for the
/// states and [`BallJets::extend_watched`] for slots that are needed, each as often and as high as
/// it takes. Nothing is allocated after construction.
///
/// For the flow of the model's expressions in exact arithmetic through any point of the box, the
/// Taylor coefficient of order k there, times h^k, is within [`Ball::on_box`] of [`Ball::mid`]; for
/// the flow through the point itself it is within [`Ball::at_point`].
///
/// ```
/// use saltus_expr::jet::BallJets;
/// use saltus_expr::{FlowPlan, Graph, Node, PlanBlock, Program, Sort, Unary, VarId};
/// use saltus_num::interval::Interval;
/// // x' = sqrt(x) from x = 4, with time in slot 0.
/// let mut graph = Graph::new();
/// let x = graph.var(VarId(1), Sort::Real);
/// let rate = graph.intern(Node::Unary(Unary::Sqrt, x));
/// let (program, _) = Program::new(&graph, &[rate]);
/// let block = PlanBlock { program: program.into(), inputs: vec![1], outputs: vec![2] };
/// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 2)], time_slot: 0, slots: 3 };
/// let mut balls = BallJets::new(&plan, 4, &[2]);
/// balls.set_point(&[0.0, 4.0, 0.0]);
/// balls.enclose(0.5, &[Interval::new(3.9, 5.2)]).unwrap();
/// balls.extend(2);
/// let slope = balls.state(0, 1);
/// assert!(slope.mid == 1.0 && slope.at_point() < 1e-15);
/// assert!(slope.on_box() >= 0.5 * 5.2f64.sqrt() - 1.0 && slope.on_box() < 0.15);
/// // Where x may be zero, the square root is not smooth, and is named.
/// let obstacle = balls.enclose(0.5, &[Interval::new(0.0, 5.0)]).unwrap_err();
/// assert_eq!(obstacle.to_string(), "sqrt may leave its domain: its argument is between 0 and 5");
/// ```
#[derive(Clone, Debug)]
pub struct BallJets {
    tape: Tape,
    order: usize,
    /// Coefficients, `[row][order]`.
    rows: Vec<Ball>,
    ranges: Vec<Range>,
    causes: Vec<Cause>,
    locks: Vec<Ball>,
    /// Row of each state and row of its derivative.
    states: Vec<(Reg, Reg)>,
    time: Reg,
    watched: Vec<Reg>,
    /// The rows of the core.
    in_core: Vec<bool>,
    /// Order to which the core is known, and to which the states are.
    core_done: usize,
    states_done: usize,
    /// What is known of each watched slot's cone.
    cones: Vec<Known>,
    /// 1 / k
    inverses: Vec<Ball>,
    h: f64,
}

/// Why something is not certain on a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// Position of the block in the plan.
    pub block: usize,
    /// The function, in the words of the model.
    pub function: &'static str,
    /// What is wrong with it.
    pub kind: ObstacleKind,
    /// The values of its (first, or dividing) argument on the box.
    pub argument: Interval,
}

/// What is wrong with a function on a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstacleKind {
    /// It may leave its domain, or what it must not be divided by may be zero.
    Domain,
    /// Its branch or piece may change.
    Switch,
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.kind {
            ObstacleKind::Domain => "may leave its domain",
            ObstacleKind::Switch => "may switch",
        };
        let (lo, hi) = (self.argument.lo(), self.argument.hi());
        write!(f, "{} {what}: its argument is between {lo} and {hi}", self.function)
    }
}

impl std::error::Error for Obstacle {}

impl BallJets {
    /// For a plan, up to an order, with some slots to watch beside the states.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`] or a watched slot is outside its environment.
    pub fn new(plan: &FlowPlan, order: usize, watched: &[u32]) -> BallJets {
        let tape = Tape::new(plan, watched);
        let rows = tape.degrees.len();
        let row = |slot: u32| tape.row_of_slot[slot as usize];
        let mut in_core = vec![false; rows];
        tape.core.nodes.iter().for_each(|&i| in_core[tape.nodes[i as usize].row.index()] = true);
        let mut coefficients = vec![Ball::default(); rows * (order + 1)];
        let mut ranges = vec![Range::point(0.0); rows];
        for &(row, value) in &tape.constants {
            coefficients[row.index() * (order + 1)] = Ball::exact(value);
            ranges[row.index()] = Range::point(value);
        }
        BallJets {
            order,
            rows: coefficients,
            ranges,
            causes: vec![None; rows],
            locks: vec![Ball::default(); tape.locks.len()],
            states: plan.states.iter().map(|&(state, rate)| (row(state), row(rate))).collect(),
            time: Reg(plan.time_slot),
            watched: watched.iter().map(|&slot| row(slot)).collect(),
            in_core,
            core_done: 0,
            states_done: 0,
            cones: vec![Known::Nothing; watched.len()],
            inverses: (0..=order)
                .map(|k| Ball::rounded(1.0 / k as f64, UNIT / k as f64).inflated())
                .collect(),
            h: 0.0,
            tape,
        }
    }

    /// Highest order.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// Takes the point: states, time and constants are read from `env`.
    ///
    /// # Panics
    /// If `env` is shorter than the plan's environment.
    pub fn set_point(&mut self, env: &[f64]) {
        let span = self.order + 1;
        for (slot, &value) in env[..self.tape.row_of_slot.len()].iter().enumerate() {
            self.rows[slot * span] = Ball::exact(value);
            self.ranges[slot] = Range::point(value);
        }
        self.cones.fill(Known::Nothing);
        let (mut start, tape) = self.start();
        start.midpoints(&tape.core);
    }

    /// Encloses every row at order 0 for a step of length `h`, with one interval for each state
    /// that holds its value at the point. Fails if a derivative is not certain to exist and to be
    /// smooth on the box.
    pub fn enclose(&mut self, h: f64, bounds: &[Interval]) -> Result<(), Obstacle> {
        let span = self.order + 1;
        self.h = h;
        (self.core_done, self.states_done) = (0, 0);
        self.cones.iter_mut().filter(|cone| **cone != Known::Nothing).for_each(|cone| *cone = Known::Point);
        for (i, &(row, _)) in self.states.iter().enumerate() {
            self.ranges[row.index()] = Range::of(bounds[i]);
            let place = row.index() * span;
            let mid = self.rows[place].mid;
            let spread = Range::of(bounds[i]).distance(mid);
            self.rows[place] = Ball { mid, radius: [0.0, spread] }.inflated();
        }
        let place = self.time.index() * span;
        let now = self.rows[place].mid;
        let ahead = Range::point(now).add(Range::point(h));
        self.ranges[self.time.index()] = Range { lo: now, hi: ahead.hi };
        self.rows[place].radius[1] = h;
        if self.order > 0 {
            self.rows[place + 1] = Ball::exact(h);
        }
        let (mut start, tape) = self.start();
        start.enclose(&tape.core);
        match self.states.iter().find_map(|&(_, rate)| self.causes[rate.index()]) {
            Some(cause) => Err(self.obstacle(cause)),
            None => Ok(()),
        }
    }

    fn start(&mut self) -> (Start<'_>, &Tape) {
        let start = Start {
            tape: &self.tape,
            rows: &mut self.rows,
            span: self.order + 1,
            ranges: &mut self.ranges,
            causes: &mut self.causes,
            locks: &mut self.locks,
        };
        (start, &self.tape)
    }

    /// Knows order 0 of a watched slot; the order to which it is known.
    fn start_cone(&mut self, index: usize) -> usize {
        let known = self.cones[index];
        let (mut start, tape) = self.start();
        if known == Known::Nothing {
            start.midpoints(&tape.cones[index]);
        }
        if let Known::Order(k) = known {
            return k;
        }
        start.enclose(&tape.cones[index]);
        self.cones[index] = Known::Order(0);
        0
    }

    fn obstacle(&self, cause: Reg) -> Obstacle {
        let is_blamed = |node: &&Node| node.row == cause;
        match self.tape.nodes.iter().find(is_blamed) {
            Some(node) => node.obstacle(&self.ranges),
            // Only nodes are ever blamed.
            None => Obstacle {
                block: 0,
                function: "input",
                kind: ObstacleKind::Domain,
                argument: self.ranges[cause.index()].interval(),
            },
        }
    }

    /// Knows the coefficients of the states up to order `q`, beginning where it was left.
    pub fn extend(&mut self, q: usize) {
        while self.states_done < q {
            self.extend_core(self.states_done);
            self.integrate(self.states_done + 1);
        }
    }

    /// Knows the coefficients of a watched slot up to order `q`.
    pub fn extend_watched(&mut self, index: usize, q: usize) {
        self.extend(q);
        self.extend_core(q);
        let known = self.start_cone(index);
        for k in known + 1..=q {
            advance(
                &self.tape,
                &self.tape.cones[index].nodes,
                &mut self.rows,
                &self.locks,
                self.order + 1,
                k,
                self.inverses[k],
            );
        }
        self.cones[index] = Known::Order(known.max(q));
    }

    /// Knows the rows of derivatives up to order `k`, which is at most that of the states.
    fn extend_core(&mut self, k: usize) {
        for k in self.core_done + 1..=k {
            advance(&self.tape, &self.tape.core.nodes, &mut self.rows, &self.locks, self.order + 1, k, {
                self.inverses[k]
            });
        }
        self.core_done = self.core_done.max(k);
    }

    fn integrate(&mut self, k: usize) {
        let span = self.order + 1;
        let scale = self.h * self.inverses[k].mid;
        let scale = Ball::rounded(scale, 3.0 * UNIT * scale.abs());
        for &(state, rate) in &self.states {
            let there = self.tape.degrees[rate.index()].reaches(k - 1);
            let value =
                if there { self.rows[rate.index() * span + k - 1].mul(scale) } else { Ball::default() };
            self.rows[state.index() * span + k] = value.inflated();
        }
        self.states_done = k;
    }

    /// The coefficient of order `k` of a state, times h^k.
    pub fn state(&self, index: usize, k: usize) -> Ball {
        self.coefficient(self.states[index].0, k)
    }

    /// The coefficients of a state, of which those up to the order last extended to are known.
    #[inline]
    pub fn state_row(&self, index: usize) -> &[Ball] {
        let first = self.states[index].0.index() * (self.order + 1);
        &self.rows[first..=first + self.order]
    }

    /// The coefficient of order `k` of a watched slot, times h^k.
    pub fn watched(&self, index: usize, k: usize) -> Ball {
        self.coefficient(self.watched[index], k)
    }

    fn coefficient(&self, row: Reg, k: usize) -> Ball {
        if self.tape.degrees[row.index()].reaches(k) {
            self.rows[row.index() * (self.order + 1) + k]
        } else {
            Ball::default()
        }
    }

    /// All values of a slot on the box, as far as they are known: not those of signals that no
    /// derivative needs.
    pub fn slot_range(&self, slot: u32) -> Option<Interval> {
        let row = self.tape.row_of_slot[slot as usize];
        let is_known = row.0 == slot || self.in_core[row.index()];
        (is_known && self.causes[row.index()].is_none()).then(|| self.ranges[row.index()].interval())
    }

    /// All values of a watched slot on the box.
    pub fn watched_range(&mut self, index: usize) -> Result<Interval, Obstacle> {
        self.start_cone(index);
        let row = self.watched[index].index();
        match self.causes[row] {
            Some(cause) => Err(self.obstacle(cause)),
            None => Ok(self.ranges[row].interval()),
        }
    }
}

/// What is known of the cone of a watched slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    /// The values at the point.
    Point,
    /// Everything up to an order.
    Order(usize),
}

/// Computes the coefficients of order `k` of some nodes.
fn advance(
    tape: &Tape,
    nodes: &[u32],
    rows: &mut [Ball],
    locks: &[Ball],
    span: usize,
    k: usize,
    inverse: Ball,
) {
    let (degrees, starts) = (&tape.degrees, &tape.starts);
    let mut balls = Balls { rows, degrees, starts, locks, span, k, inverse };
    for &i in nodes {
        let node = &tape.nodes[i as usize];
        if degrees[node.row.index()].reaches(k) {
            balls.advance(node.row, node.rule);
        }
    }
}

impl Node {
    /// What it means that this node is to blame.
    fn obstacle(&self, ranges: &[Range]) -> Obstacle {
        let (name, switches, row) = match (self.start, self.rule) {
            (Some(Op::Unary(op, a)), _) => {
                let switch = matches!(op, Unary::Abs | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Not);
                (function(op), switch, a)
            }
            (Some(Op::Binary(Binary::Div, _, b)), _) => ("division", false, b),
            (Some(Op::Binary(op, a, b)), _) => {
                let at_zero = |r: Reg| ranges[r.index()].contains(0.0);
                let switches = match op {
                    Binary::Atan2 => !(at_zero(a) && at_zero(b)),
                    Binary::Mod => !at_zero(b),
                    Binary::Add | Binary::Sub | Binary::Mul | Binary::Pow | Binary::Hypot => false,
                    _ => true,
                };
                (binary_name(op), switches, a)
            }
            (Some(Op::Powi(a, _)), _) => ("power", false, a),
            (Some(Op::Select(c, ..)), _) => ("if", true, c),
            (Some(Op::Table1(_, a) | Op::Table2(_, a, _)), _) => ("table", true, a),
            (None, Rule::PowerRate { base, .. }) => ("power", false, base),
            (None, Rule::Quotient { by, .. }) => ("division", false, by),
            (None, _) => ("division", false, self.row),
        };
        let kind = if switches { ObstacleKind::Switch } else { ObstacleKind::Domain };
        Obstacle {
            block: self.block as usize,
            function: name,
            kind,
            argument: ranges[row.index()].interval(),
        }
    }
}

fn binary_name(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Pow => "power",
        Binary::Atan2 => "atan2",
        Binary::Hypot => "hypot",
        Binary::Min => "min",
        Binary::Max => "max",
        Binary::Mod => "mod",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Eq => "==",
        Binary::And => "and",
        Binary::Or => "or",
    }
}
