//! The virtual machine: evaluates register programs and explains values that are not finite.
//!
//! One `match` per operation, no allocation. What an operation means is defined here once
//! ([`unary`], [`binary`], [`apply`]) on top of [`saltus_num::elementary`]; native code and constant
//! folding use the same functions.

use crate::graph::{Binary, Expr, Table, Unary};
use crate::program::{Op, Program, Reg};
use saltus_num::elementary as f;
use std::sync::Arc;

/// The value of a function of one argument.
#[inline]
pub fn unary(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Neg => -x,
        Unary::Not => truth(x == 0.0),
        Unary::Abs => x.abs(),
        Unary::Sign => f::sign(x),
        Unary::Floor => f::floor(x),
        Unary::Ceil => f::ceil(x),
        Unary::Sqrt => f::sqrt(x),
        Unary::Exp => f::exp(x),
        Unary::Log => f::log(x),
        Unary::Sin => f::sin(x),
        Unary::Cos => f::cos(x),
        Unary::Tan => f::tan(x),
        Unary::Asin => f::asin(x),
        Unary::Acos => f::acos(x),
        Unary::Atan => f::atan(x),
        Unary::Sinh => f::sinh(x),
        Unary::Cosh => f::cosh(x),
        Unary::Tanh => f::tanh(x),
        Unary::Asinh => f::asinh(x),
        Unary::Acosh => f::acosh(x),
        Unary::Atanh => f::atanh(x),
        Unary::Clip if x < 0.0 => 0.0,
        Unary::Clip => x,
    }
}

/// The value of a function of two arguments.
#[inline]
pub fn binary(op: Binary, x: f64, y: f64) -> f64 {
    match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        Binary::Pow => f::pow(x, y),
        Binary::Atan2 => f::atan2(x, y),
        Binary::Hypot => f::hypot(x, y),
        Binary::Min => f::min(x, y),
        Binary::Max => f::max(x, y),
        Binary::Mod => f::modulo(x, y),
        Binary::Lt => truth(x < y),
        Binary::Le => truth(x <= y),
        Binary::Eq => truth(x == y),
        Binary::And => truth(x != 0.0 && y != 0.0),
        Binary::Or => truth(x != 0.0 || y != 0.0),
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// The value of an operation whose operands are read with `value`.
#[inline]
pub fn apply<'t>(op: Op, table: impl Fn(u32) -> &'t Arc<Table>, value: impl Fn(Reg) -> f64) -> f64 {
    match op {
        Op::Unary(op, a) => unary(op, value(a)),
        Op::Binary(op, a, b) => binary(op, value(a), value(b)),
        Op::Powi(a, n) => f::powi(value(a), n),
        Op::Select(c, a, b) => value(if value(c) != 0.0 { a } else { b }),
        Op::Table1(t, a) => {
            let x = value(a);
            table(t).line(x).value_at(x)
        }
        Op::Table2(t, a, b) => {
            let (x, y) = (value(a), value(b));
            table(t).patch(x, y).value_at(x, y)
        }
    }
}

/// Where a value that is not finite came from.
#[derive(Clone, Debug, PartialEq)]
pub enum Departure {
    /// An input was not finite.
    Input {
        /// Position of the input.
        input: usize,
        /// Its value.
        value: f64,
    },
    /// An operation made it from finite operands.
    Operation {
        /// The expression that left its domain.
        expr: Expr,
        /// What was computed.
        op: Op,
        /// Values of the operands, in order; those beyond the operation's arity are zero.
        operands: [f64; 3],
        /// The result.
        value: f64,
    },
    /// A constant of the model is not finite.
    Constant {
        /// Its value.
        value: f64,
    },
}

impl Program {
    /// Evaluates the program on the environment slots named by `inputs`. Register `r` of the
    /// program is `registers[r]` afterwards.
    ///
    /// # Panics
    /// If `inputs` has not one slot per input, a slot is outside the environment or there are fewer
    /// than [`Program::registers`] registers.
    pub fn eval(&self, env: &[f64], inputs: &[u32], registers: &mut [f64]) {
        let registers = &mut registers[..self.registers()];
        assert_eq!(inputs.len(), self.inputs(), "one slot per input");
        for (register, &slot) in registers.iter_mut().zip(inputs) {
            *register = env[slot as usize];
        }
        for (register, constant) in registers[self.inputs()..].iter_mut().zip(self.constants()) {
            *register = constant;
        }
        for (result, &op) in (self.first_op()..).zip(self.ops()) {
            registers[result] = apply(op, |t| self.table(t), |r| registers[r.index()]);
        }
    }

    /// Explains the first output that is not finite, given the registers of an evaluation: follows
    /// it back through the operands that mattered (a branch not taken does not) to the operation
    /// that made it from finite values.
    pub fn diagnose(&self, registers: &[f64]) -> Option<Departure> {
        let value = |r: Reg| registers[r.index()];
        let mut suspect = *self.outputs().iter().find(|&&r| !value(r).is_finite())?;
        loop {
            let Some(position) = suspect.index().checked_sub(self.first_op()) else {
                let (input, value) = (suspect.index(), value(suspect));
                let is_input = input < self.inputs();
                return Some(if is_input {
                    Departure::Input { input, value }
                } else {
                    Departure::Constant { value }
                });
            };
            let op = self.ops()[position];
            let culprit = match op {
                Op::Select(c, a, b) => {
                    let taken = if value(c) != 0.0 { a } else { b };
                    [c, taken].into_iter().find(|&r| !value(r).is_finite())
                }
                _ => op.operands().find(|&r| !value(r).is_finite()),
            };
            match culprit {
                Some(operand) => suspect = operand,
                None => return Some(self.departure(position, op, registers)),
            }
        }
    }

    fn departure(&self, position: usize, op: Op, registers: &[f64]) -> Departure {
        let mut operands = [0.0; 3];
        for (place, operand) in operands.iter_mut().zip(op.operands()) {
            *place = registers[operand.index()];
        }
        let value = registers[self.first_op() + position];
        Departure::Operation { expr: self.origin(position), op, operands, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, Node, Sort, VarId};

    /// `if x > 0 then sqrt(x) else 1 / (x + 1)`.
    fn guarded() -> (Graph, Program, [Expr; 2]) {
        let mut g = Graph::new();
        let x = g.var(VarId(0), Sort::Real);
        let (zero, one) = (g.real(0.0), g.real(1.0));
        let positive = g.intern(Node::Binary(Binary::Lt, zero, x));
        let root = g.intern(Node::Unary(Unary::Sqrt, x));
        let sum = g.intern(Node::Binary(Binary::Add, x, one));
        let quotient = g.intern(Node::Binary(Binary::Div, one, sum));
        let value = g.intern(Node::Select(positive, root, quotient));
        let (program, _) = Program::new(&g, &[value]);
        (g, program, [root, quotient])
    }

    fn run(program: &Program, x: f64) -> (f64, Option<Departure>) {
        let mut registers = vec![0.0; program.registers()];
        program.eval(&[x], &[0], &mut registers);
        (registers[program.outputs()[0].index()], program.diagnose(&registers))
    }

    #[test]
    fn branch_not_taken_is_not_blamed() {
        let (_, program, _) = guarded();
        assert_eq!(run(&program, 4.0), (2.0, None));
        assert_eq!(run(&program, -3.0), (-0.5, None));
    }

    #[test]
    fn departure_names_the_expression_and_its_operands() {
        let (_, program, [_, quotient]) = guarded();
        let Some(Departure::Operation { expr, operands, value, .. }) = run(&program, -1.0).1 else {
            panic!("a quotient by zero is a departure");
        };
        assert_eq!((expr, operands, value), (quotient, [1.0, 0.0, 0.0], f64::INFINITY));
        assert_eq!(run(&program, f64::INFINITY).1, Some(Departure::Input { input: 0, value: f64::INFINITY }));
    }

    #[test]
    fn truth_values_are_zero_or_one() {
        assert_eq!([unary(Unary::Not, 0.0), unary(Unary::Not, 2.0)], [1.0, 0.0]);
        let both = |op| [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)].map(|(x, y)| binary(op, x, y));
        assert_eq!(both(Binary::And), [0.0, 0.0, 1.0]);
        assert_eq!(both(Binary::Or), [0.0, 1.0, 1.0]);
        assert_eq!(both(Binary::Le), [1.0, 0.0, 1.0]);
        assert_eq!(binary(Binary::Lt, f64::NAN, 1.0), 0.0);
    }
}
