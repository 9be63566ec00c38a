//! Emission of the program's operations on scalar values.
//!
//! Arithmetic becomes machine instructions; everything else is a call to the function the virtual
//! machine calls. Values of an operation are therefore the same bits as there.

use crate::JitError;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    AbiParam, ConstantData, Endianness, InstBuilder, MemFlagsData, Opcode, SigRef, Signature, Type, Value,
    types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use saltus_expr::jet::LockRule;
use saltus_expr::{Binary, Op, Reg, Table, Unary};
use saltus_num::elementary::{self, PowerStep};
use std::sync::Arc;

macro_rules! callable {
    ($($name:ident($($argument:ident),*);)*) => {$(
        extern "C" fn $name($($argument: f64),*) -> f64 {
            elementary::$name($($argument),*)
        }
    )*};
}

callable! {
    floor(x); ceil(x); exp(x); log(x);
    sin(x); cos(x); tan(x); asin(x); acos(x); atan(x);
    sinh(x); cosh(x); tanh(x); asinh(x); acosh(x); atanh(x);
    pow(x, y); atan2(x, y); hypot(x, y);
}

extern "C" fn read_curve(table: &Table, x: f64) -> f64 {
    table.line(x).value_at(x)
}

extern "C" fn read_map(table: &Table, x: f64, y: f64) -> f64 {
    table.patch(x, y).value_at(x, y)
}

/// The part of a lock rule that needs a table, with the operands as registers 0 and 1.
extern "C" fn table_lock(table: &Arc<Table>, kind: u32, x: f64, y: f64) -> f64 {
    let (a, b) = (Reg(0), Reg(1));
    let rule = match kind {
        0 => LockRule::TableSlope(0, a),
        1 => LockRule::PatchSlopeA(0, a, b),
        2 => LockRule::PatchSlopeB(0, a, b),
        _ => LockRule::PatchProduct(0, a, b),
    };
    rule.evaluate(|_| table, |r| if r == a { x } else { y })
}

/// Memory that is valid and aligned; nothing the generated code does can make it trap.
pub(crate) fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Memory that is valid; two numbers in it need no more alignment than one.
pub(crate) fn unaligned() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

fn little_endian() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

/// A function being emitted.
pub(crate) struct Emitter<'a, 'f> {
    pub ins: &'a mut FunctionBuilder<'f>,
    pub tables: &'a [Arc<Table>],
    call_conv: CallConv,
    signatures: Vec<(Signature, SigRef)>,
}

impl<'a, 'f> Emitter<'a, 'f> {
    pub fn new(ins: &'a mut FunctionBuilder<'f>, tables: &'a [Arc<Table>]) -> Self {
        let call_conv = ins.func.signature.call_conv;
        Emitter { ins, tables, call_conv, signatures: Vec::new() }
    }

    pub fn constant(&mut self, x: f64) -> Value {
        self.ins.ins().f64const(x)
    }

    /// x y. A constant goes second, where it is an operand of the instruction.
    pub fn product(&mut self, x: Value, y: Value) -> Value {
        let definition = self.ins.func.dfg.value_def(x).inst();
        let is_constant =
            definition.is_some_and(|inst| self.ins.func.dfg.insts[inst].opcode() == Opcode::F64const);
        if is_constant { self.ins.ins().fmul(y, x) } else { self.ins.ins().fmul(x, y) }
    }

    /// Loads the number at `index` of an array of numbers.
    pub fn load(&mut self, array: Value, index: usize) -> Value {
        self.ins.ins().load(types::F64, trusted(), array, byte_offset(index))
    }

    pub fn store(&mut self, value: Value, array: Value, index: usize) {
        self.ins.ins().store(trusted(), value, array, byte_offset(index));
    }

    /// The same number twice.
    pub fn twice(&mut self, x: Value) -> Value {
        self.ins.ins().splat(types::F64X2, x)
    }

    /// One of two numbers.
    pub fn lane(&mut self, two: Value, lane: usize) -> Value {
        self.ins.ins().extractlane(two, lane as u8)
    }

    /// A vector of lane `i` of x and lane `j` of y.
    pub fn join_lanes(&mut self, (x, i): (Value, usize), (y, j): (Value, usize)) -> Value {
        let bytes = [i, 2 + j].into_iter().flat_map(|lane| 8 * lane as u8..8 * lane as u8 + 8);
        let mask = ConstantData::from(&bytes.collect::<Vec<u8>>()[..]);
        let mask = self.ins.func.dfg.immediates.push(mask);
        let [x, y] = [x, y].map(|v| self.ins.ins().bitcast(types::I8X16, little_endian(), v));
        let joined = self.ins.ins().shuffle(x, y, mask);
        self.ins.ins().bitcast(types::F64X2, little_endian(), joined)
    }

    fn call(&mut self, function: *const u8, arguments: &[Value]) -> Value {
        let mut signature = Signature::new(self.call_conv);
        let kinds = arguments.iter().map(|&a| self.ins.func.dfg.value_type(a));
        signature.params.extend(kinds.map(AbiParam::new));
        signature.returns.push(AbiParam::new(types::F64));
        let known = self.signatures.iter().find(|(s, _)| *s == signature).map(|&(_, r)| r);
        let reference = known.unwrap_or_else(|| {
            let reference = self.ins.import_signature(signature.clone());
            self.signatures.push((signature, reference));
            reference
        });
        let address = self.address(function);
        let call = self.ins.ins().call_indirect(reference, address, arguments);
        self.ins.inst_results(call)[0]
    }

    fn address<T>(&mut self, pointer: *const T) -> Value {
        self.ins.ins().iconst(pointer_type(), pointer as i64)
    }

    fn truth(&mut self, condition: Value) -> Value {
        let (one, zero) = (self.constant(1.0), self.constant(0.0));
        self.ins.ins().select(condition, one, zero)
    }

    fn compare(&mut self, how: FloatCC, x: Value, y: Value) -> Value {
        self.ins.ins().fcmp(how, x, y)
    }

    fn is_true(&mut self, x: Value) -> Value {
        let zero = self.constant(0.0);
        self.compare(FloatCC::NotEqual, x, zero)
    }

    /// `first` not zero: x, else y.
    pub fn select(&mut self, first: Value, x: Value, y: Value) -> Value {
        let condition = self.is_true(first);
        self.ins.ins().select(condition, x, y)
    }

    /// True if `x` stands before `y` in the order `how`, or is NaN.
    fn first_wins(&mut self, how: FloatCC, x: Value, y: Value) -> Value {
        let before = self.compare(how, x, y);
        let nan = self.compare(FloatCC::Unordered, x, x);
        self.ins.ins().bor(before, nan)
    }

    fn sign(&mut self, x: Value) -> Value {
        let (zero, one, minus) = (self.constant(0.0), self.constant(1.0), self.constant(-1.0));
        let positive = self.compare(FloatCC::GreaterThan, x, zero);
        let negative = self.compare(FloatCC::LessThan, x, zero);
        let low = self.ins.ins().select(negative, minus, x);
        self.ins.ins().select(positive, one, low)
    }

    fn unary(&mut self, op: Unary, x: Value) -> Value {
        let function = match op {
            Unary::Neg => return self.ins.ins().fneg(x),
            Unary::Abs => return self.ins.ins().fabs(x),
            Unary::Sqrt => return self.ins.ins().sqrt(x),
            Unary::Sign => return self.sign(x),
            Unary::Not => {
                let zero = self.constant(0.0);
                let is_zero = self.compare(FloatCC::Equal, x, zero);
                return self.truth(is_zero);
            }
            Unary::Clip => {
                let zero = self.constant(0.0);
                let below = self.compare(FloatCC::LessThan, x, zero);
                return self.ins.ins().select(below, zero, x);
            }
            Unary::Floor => floor,
            Unary::Ceil => ceil,
            Unary::Exp => exp,
            Unary::Log => log,
            Unary::Sin => sin,
            Unary::Cos => cos,
            Unary::Tan => tan,
            Unary::Asin => asin,
            Unary::Acos => acos,
            Unary::Atan => atan,
            Unary::Sinh => sinh,
            Unary::Cosh => cosh,
            Unary::Tanh => tanh,
            Unary::Asinh => asinh,
            Unary::Acosh => acosh,
            Unary::Atanh => atanh as extern "C" fn(f64) -> f64,
        };
        self.call(function as *const u8, &[x])
    }

    fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        let compared = |emitter: &mut Self, how| {
            let condition = emitter.compare(how, x, y);
            emitter.truth(condition)
        };
        match op {
            Binary::Add => self.ins.ins().fadd(x, y),
            Binary::Sub => self.ins.ins().fsub(x, y),
            Binary::Mul => self.ins.ins().fmul(x, y),
            Binary::Div => self.ins.ins().fdiv(x, y),
            Binary::Pow => self.call(pow as *const u8, &[x, y]),
            Binary::Atan2 => self.call(atan2 as *const u8, &[x, y]),
            Binary::Hypot => self.call(hypot as *const u8, &[x, y]),
            Binary::Min | Binary::Max => {
                let how = if op == Binary::Min { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let first = self.first_wins(how, x, y);
                self.ins.ins().select(first, x, y)
            }
            Binary::Mod => {
                let whole = self.floor_quotient(x, y);
                let back = self.ins.ins().fmul(y, whole);
                self.ins.ins().fsub(x, back)
            }
            Binary::Lt => compared(self, FloatCC::LessThan),
            Binary::Le => compared(self, FloatCC::LessThanOrEqual),
            Binary::Eq => compared(self, FloatCC::Equal),
            Binary::And | Binary::Or => {
                let (a, b) = (self.is_true(x), self.is_true(y));
                let both =
                    if op == Binary::And { self.ins.ins().band(a, b) } else { self.ins.ins().bor(a, b) };
                self.truth(both)
            }
        }
    }

    fn floor_quotient(&mut self, x: Value, y: Value) -> Value {
        let quotient = self.ins.ins().fdiv(x, y);
        self.call(floor as *const u8, &[quotient])
    }

    fn whole_power(&mut self, x: Value, n: i32) -> Value {
        if n == 0 {
            return self.constant(1.0);
        }
        let power = elementary::power_chain(n.unsigned_abs()).fold(x, |value, step| match step {
            PowerStep::Square => self.ins.ins().fmul(value, value),
            PowerStep::Multiply => self.ins.ins().fmul(value, x),
        });
        if n > 0 { power } else { self.inverse(power) }
    }

    /// A power of halves by the operations of [`elementary::half_power`].
    fn half_power(&mut self, x: Value, n: i32) -> Value {
        let zero = self.constant(0.0);
        let x = self.ins.ins().fadd(x, zero);
        let root = self.ins.ins().sqrt(x);
        let whole = match n.abs() {
            1 => None,
            3 => Some(x),
            _ => Some(self.ins.ins().fmul(x, x)),
        };
        match (whole, n > 0) {
            (None, true) => root,
            (Some(whole), true) => self.ins.ins().fmul(whole, root),
            (None, false) => self.inverse(root),
            (Some(whole), false) => {
                let inverse = self.inverse(whole);
                self.ins.ins().fdiv(inverse, root)
            }
        }
    }

    fn inverse(&mut self, x: Value) -> Value {
        let one = self.constant(1.0);
        self.ins.ins().fdiv(one, x)
    }

    /// The value of an operation whose operands are given by `value`, those that are constants of the
    /// program also by `constant`.
    pub fn operation(
        &mut self,
        op: Op,
        value: impl Fn(Reg) -> Value,
        constant: impl Fn(Reg) -> Option<f64>,
    ) -> Value {
        if let Op::Binary(Binary::Pow, a, b) = op
            && let Some(n) = constant(b).and_then(elementary::halves)
        {
            return self.half_power(value(a), n);
        }
        match op {
            Op::Unary(op, a) => self.unary(op, value(a)),
            Op::Binary(op, a, b) => self.binary(op, value(a), value(b)),
            Op::Powi(a, n) => self.whole_power(value(a), n),
            Op::Select(c, a, b) => self.select(value(c), value(a), value(b)),
            Op::Table1(t, a) => {
                let table = self.address(Arc::as_ptr(&self.tables[t as usize]));
                self.call(read_curve as *const u8, &[table, value(a)])
            }
            Op::Table2(t, a, b) => {
                let table = self.address(Arc::as_ptr(&self.tables[t as usize]));
                self.call(read_map as *const u8, &[table, value(a), value(b)])
            }
        }
    }

    /// The value of a lock. Table locks refer to `tables` itself, which must outlive the code.
    pub fn lock(&mut self, rule: LockRule, value: impl Fn(Reg) -> Value) -> Value {
        let (kind, table, a, b) = match rule {
            LockRule::Inverse(a) | LockRule::HalfInverse(a) => {
                let one = self.constant(if matches!(rule, LockRule::Inverse(_)) { 1.0 } else { 0.5 });
                return self.ins.ins().fdiv(one, value(a));
            }
            LockRule::Orientation(a) => {
                let (zero, plus, minus) = (self.constant(0.0), self.constant(1.0), self.constant(-1.0));
                let negative = self.compare(FloatCC::LessThan, value(a), zero);
                return self.ins.ins().select(negative, minus, plus);
            }
            LockRule::Value(a) => return value(a),
            LockRule::FirstIsMin(a, b) => {
                let first = self.first_wins(FloatCC::LessThan, value(a), value(b));
                return self.truth(first);
            }
            LockRule::FirstIsMax(a, b) => {
                let first = self.first_wins(FloatCC::GreaterThan, value(a), value(b));
                return self.truth(first);
            }
            LockRule::FloorQuotient(a, b) => return self.floor_quotient(value(a), value(b)),
            LockRule::TableSlope(t, a) => (0, t, a, a),
            LockRule::PatchSlopeA(t, a, b) => (1, t, a, b),
            LockRule::PatchSlopeB(t, a, b) => (2, t, a, b),
            LockRule::PatchProduct(t, a, b) => (3, t, a, b),
        };
        let table = self.address(&raw const self.tables[table as usize]);
        let kind = self.ins.ins().iconst(types::I32, kind);
        self.call(table_lock as *const u8, &[table, kind, value(a), value(b)])
    }
}

/// The type of addresses.
pub(crate) fn pointer_type() -> Type {
    if cfg!(target_pointer_width = "64") { types::I64 } else { types::I32 }
}

/// Checks that the offsets of instructions reach every number of an array.
pub(crate) fn addressable(numbers: usize) -> Result<(), JitError> {
    let (bytes, limit) = (numbers.saturating_mul(size_of::<f64>()), i32::MAX as usize);
    if bytes > limit { Err(JitError::TooLarge { bytes, limit }) } else { Ok(()) }
}

/// Offset in bytes of a number in an array.
pub(crate) fn byte_offset(index: usize) -> i32 {
    i32::try_from(index * size_of::<f64>()).expect("arrays are checked to be addressable")
}
