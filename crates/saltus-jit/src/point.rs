//! Point evaluation of programs and whole plans in native code.

use crate::JitError;
use crate::code::{Assembler, Code, Effort};
use crate::emit::{Emitter, addressable, pointer_type, trusted};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use saltus_expr::{FlowPlan, Program, Table};
use std::sync::Arc;

/// Environment, input slots, outputs.
type ProgramFunction = unsafe extern "C" fn(*const f64, *const u32, *mut f64);

/// Environment.
type PlanFunction = unsafe extern "C" fn(*mut f64);

/// Emits all operations of a program; returns the value of every register.
fn emit_program(emitter: &mut Emitter, program: &Program, inputs: Vec<Value>) -> Vec<Value> {
    let mut registers = inputs;
    for constant in program.constants() {
        registers.push(emitter.constant(constant));
    }
    for &op in program.ops() {
        let value = emitter.operation(op, |r| registers[r.index()], |r| program.constant(r));
        registers.push(value);
    }
    registers
}

fn tables_of(program: &Program) -> Vec<Arc<Table>> {
    (0..program.tables() as u32).map(|t| Arc::clone(program.table(t))).collect()
}

/// A program as machine code.
///
/// ```
/// use saltus_expr::{Binary, Graph, Node, Program, Sort, VarId};
/// use saltus_jit::NativeProgram;
/// let mut graph = Graph::new();
/// let [x, y] = [0, 1].map(|i| graph.var(VarId(i), Sort::Real));
/// let quotient = graph.intern(Node::Binary(Binary::Div, x, y));
/// let (program, _) = Program::new(&graph, &[quotient]);
/// let native = NativeProgram::compile(&program)?;
/// let mut outputs = [0.0];
/// native.eval(&[1.0, 4.0], &[0, 1], &mut outputs);
/// assert_eq!(outputs, [0.25]);
/// # Ok::<(), saltus_jit::JitError>(())
/// ```
pub struct NativeProgram {
    function: ProgramFunction,
    code: Code,
    inputs: usize,
    outputs: usize,
    _tables: Vec<Arc<Table>>,
}

impl NativeProgram {
    /// Compiles a program.
    pub fn compile(program: &Program) -> Result<NativeProgram, JitError> {
        addressable(program.inputs().max(program.outputs().len()))?;
        let tables = tables_of(program);
        let mut assembler = Assembler::new(Effort::Plain)?;
        let function = assembler.function(&[pointer_type(); 3], |ins, parameters| {
            let mut emitter = Emitter::new(ins, &tables);
            let inputs = (0..program.inputs()).map(|i| load_input(&mut emitter, parameters, i)).collect();
            let registers = emit_program(&mut emitter, program, inputs);
            for (i, register) in program.outputs().iter().enumerate() {
                emitter.store(registers[register.index()], parameters[2], i);
            }
            Ok(())
        })?;
        let code = assembler.finish()?;
        // SAFETY: the function was assembled with exactly this signature.
        let function = unsafe { std::mem::transmute::<*const u8, ProgramFunction>(code.address(function)) };
        let (inputs, outputs) = (program.inputs(), program.outputs().len());
        Ok(NativeProgram { function, code, inputs, outputs, _tables: tables })
    }

    /// Evaluates the program on the environment slots named by `inputs`.
    ///
    /// # Panics
    /// If there is not one slot per input, a slot is outside the environment, or `outputs` is
    /// shorter than the program's outputs.
    pub fn eval(&self, env: &[f64], inputs: &[u32], outputs: &mut [f64]) {
        assert_eq!(inputs.len(), self.inputs, "one slot per input");
        assert!(inputs.iter().all(|&slot| (slot as usize) < env.len()), "slots lie in the environment");
        assert!(outputs.len() >= self.outputs, "room for every output");
        // SAFETY: the function reads `inputs` slots inside `env` and writes `outputs` numbers.
        unsafe { (self.function)(env.as_ptr(), inputs.as_ptr(), outputs.as_mut_ptr()) }
    }

    /// Bytes of machine code.
    pub fn code_size(&self) -> usize {
        self.code.size()
    }
}

fn load_input(emitter: &mut Emitter, parameters: &[Value], input: usize) -> Value {
    let offset = i32::try_from(input * size_of::<u32>()).expect("inputs fit an offset");
    let slot = emitter.ins.ins().load(types::I32, trusted(), parameters[1], offset);
    let slot = emitter.ins.ins().uextend(pointer_type(), slot);
    let bytes = emitter.ins.ins().ishl_imm_u(slot, 3);
    let address = emitter.ins.ins().iadd(parameters[0], bytes);
    emitter.load(address, 0)
}

/// The point evaluation of a whole plan as one function.
pub struct NativePlan {
    function: PlanFunction,
    code: Code,
    slots: usize,
    _tables: Vec<Arc<Table>>,
}

impl NativePlan {
    /// Compiles a plan.
    pub fn compile(plan: &FlowPlan) -> Result<NativePlan, JitError> {
        plan.check()?;
        addressable(plan.slots)?;
        let tables: Vec<Vec<Arc<Table>>> = plan.blocks.iter().map(|b| tables_of(&b.program)).collect();
        let mut assembler = Assembler::new(Effort::Plain)?;
        let function = assembler.function(&[pointer_type()], |ins, parameters| {
            let env = parameters[0];
            let mut values: Vec<Option<Value>> = vec![None; plan.slots];
            for (block, tables) in plan.blocks.iter().zip(&tables) {
                let mut emitter = Emitter::new(ins, tables);
                let mut inputs = Vec::with_capacity(block.inputs.len());
                for &slot in &block.inputs {
                    let known = values[slot as usize];
                    let value = known.unwrap_or_else(|| emitter.load(env, slot as usize));
                    values[slot as usize] = Some(value);
                    inputs.push(value);
                }
                let registers = emit_program(&mut emitter, &block.program, inputs);
                for (&slot, register) in block.outputs.iter().zip(block.program.outputs()) {
                    let value = registers[register.index()];
                    values[slot as usize] = Some(value);
                    emitter.store(value, env, slot as usize);
                }
            }
            Ok(())
        })?;
        let code = assembler.finish()?;
        // SAFETY: the function was assembled with exactly this signature.
        let function = unsafe { std::mem::transmute::<*const u8, PlanFunction>(code.address(function)) };
        let tables = tables.into_iter().flatten().collect();
        Ok(NativePlan { function, code, slots: plan.slots, _tables: tables })
    }

    /// Evaluates all blocks in order.
    ///
    /// # Panics
    /// If the environment is smaller than the plan's.
    pub fn eval(&self, env: &mut [f64]) {
        assert!(env.len() >= self.slots, "the environment of the plan");
        // SAFETY: the function reads and writes slots of the plan, which `check` found inside.
        unsafe { (self.function)(env.as_mut_ptr()) }
    }

    /// Bytes of machine code.
    pub fn code_size(&self) -> usize {
        self.code.size()
    }
}
