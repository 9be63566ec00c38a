//! Why something is not certain on a step, in words.

use crate::display::function;
use crate::graph::{Binary, Unary};
use crate::jet::JetNode;
use crate::jet::range::Range;
use crate::jet::recurrence::Rule;
use crate::program::{Op, Reg};
use saltus_num::interval::Interval;

/// Why something is not certain on a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// Position of the block in the plan.
    pub block: usize,
    /// The function, in the words of the model.
    pub function: &'static str,
    /// What is wrong with it.
    pub kind: ObstacleKind,
    /// The values of its (first, or dividing) argument.
    pub argument: Interval,
}

/// What is wrong with a function on a step.
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

impl Obstacle {
    /// What it means that a node is to blame.
    pub(super) fn new(block: usize, node: JetNode, range: impl Fn(Reg) -> Range) -> Obstacle {
        let (name, switches, row) = match (node.start, node.rule) {
            (Some(Op::Unary(op, a)), _) => {
                let switch = matches!(op, Unary::Abs | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Not);
                (function(op), switch, a)
            }
            (Some(Op::Binary(Binary::Div, _, b)), _) => ("division", false, b),
            (Some(Op::Binary(op, a, b)), _) => {
                let at_zero = |r: Reg| range(r).contains(0.0);
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
            (None, Rule::Quotient { by, .. }) => ("division", false, by),
            (None, rule) => ("division", false, rule.products(Reg(0)).next().map_or(Reg(0), |(a, _)| a)),
        };
        let kind = if switches { ObstacleKind::Switch } else { ObstacleKind::Domain };
        Obstacle { block, function: name, kind, argument: range(row).interval() }
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
