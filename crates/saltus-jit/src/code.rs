//! The code generator's frame: functions are assembled one by one into memory that one value owns.

use crate::JitError;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, Type, UserFuncName, Value};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

/// How much the code generator tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Translate as given.
    Plain,
    /// Simplify first.
    Optimized,
}

fn target(effort: Effort) -> Result<OwnedTargetIsa, JitError> {
    static TARGETS: [OnceLock<Result<OwnedTargetIsa, String>>; 2] = [OnceLock::new(), OnceLock::new()];
    let level = match effort {
        Effort::Plain => "none",
        Effort::Optimized => "speed",
    };
    let make = || {
        let mut flags = settings::builder();
        let options = [
            ("opt_level", level),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
            ("unwind_info", "false"),
        ];
        for (name, value) in options {
            flags.set(name, value).map_err(|e| e.to_string())?;
        }
        let builder = cranelift_native::builder().map_err(str::to_owned)?;
        builder.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
    };
    TARGETS[effort as usize].get_or_init(make).clone().map_err(JitError::Host)
}

/// Machine code and the memory it lives in; freed when dropped.
pub(crate) struct Code {
    module: ManuallyDrop<JITModule>,
    size: usize,
}

// SAFETY: once assembled, the module is not touched through shared references except to look up
// addresses, which reads plain fields; the machine code itself is immutable.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here; addresses into it are held only beside this value
        // and are called only while it lives.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() }
    }
}

impl Code {
    /// Bytes of machine code.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Address of a function.
    pub fn address(&self, function: FuncId) -> *const u8 {
        self.module.get_finalized_function(function)
    }
}

/// Collects functions until they are made executable together.
pub(crate) struct Assembler {
    code: Code,
    context: Context,
    builder: FunctionBuilderContext,
}

impl Assembler {
    pub fn new(effort: Effort) -> Result<Assembler, JitError> {
        let module = JITModule::new(JITBuilder::with_isa(target(effort)?, default_libcall_names()));
        let context = module.make_context();
        let code = Code { module: ManuallyDrop::new(module), size: 0 };
        Ok(Assembler { code, context, builder: FunctionBuilderContext::new() })
    }

    /// Assembles a function of the given parameters without result.
    pub fn function(
        &mut self,
        parameters: &[Type],
        emit: impl FnOnce(&mut FunctionBuilder, &[Value]) -> Result<(), JitError>,
    ) -> Result<FuncId, JitError> {
        let module = &mut *self.code.module;
        let mut signature = module.make_signature();
        signature.params.extend(parameters.iter().map(|&t| AbiParam::new(t)));
        let id = module.declare_anonymous_function(&signature).map_err(JitError::generator)?;
        self.context.func = Function::with_name_signature(UserFuncName::user(0, id.as_u32()), signature);
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        builder.seal_block(entry);
        let values = builder.block_params(entry).to_vec();
        emit(&mut builder, &values)?;
        builder.ins().return_(&[]);
        builder.finalize(module.target_config());
        module.define_function(id, &mut self.context).map_err(JitError::generator)?;
        self.code.size += self.context.compiled_code().map_or(0, |c| c.code_buffer().len());
        module.clear_context(&mut self.context);
        Ok(id)
    }

    /// Makes the functions executable.
    pub fn finish(mut self) -> Result<Code, JitError> {
        self.code.module.finalize_definitions().map_err(JitError::generator)?;
        Ok(self.code)
    }
}
