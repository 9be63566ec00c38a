//! Values that are known before a run.

use saltus_expr::{Expr, Program};
use saltus_model::{Assigned, HybridSystem, VariableKind};

/// The values of all variables that are known before a run, by variable: parameters, and what
/// starts with a value made from them. Of intervals the middle.
///
/// ```
/// let text = "model M { param a = 2, b = a + 1; state x = b; hold x }";
/// let model = saltus::Model::from_text("m.salt", text)?;
/// let values = saltus::parameter_values(model.system());
/// assert_eq!(values[1..4], [Some(2.0), Some(3.0), Some(3.0)]);
/// # Ok::<(), saltus::Error>(())
/// ```
pub fn parameter_values(system: &HybridSystem) -> Vec<Option<f64>> {
    let mut known = vec![None; system.variables.len()];
    // Parameters first: a state declared earlier may start from one declared later.
    for parameters in [true, false] {
        for (k, variable) in system.variables.iter().enumerate() {
            if (variable.kind == VariableKind::Parameter) != parameters {
                continue;
            }
            known[k] = match variable.start {
                None => None,
                Some(Assigned::Value(e)) => value(system, e, &known),
                Some(Assigned::Interval(a, b)) => {
                    value(system, a, &known).zip(value(system, b, &known)).map(|(a, b)| a + 0.5 * (b - a))
                }
            };
        }
    }
    known
}

/// The value of an expression over known variables.
pub(crate) fn value(system: &HybridSystem, e: Expr, known: &[Option<f64>]) -> Option<f64> {
    if let Some(constant) = system.graph.constant(e) {
        return Some(constant);
    }
    let (program, inputs) = Program::new(&system.graph, &[e]);
    let env: Option<Vec<f64>> = inputs.iter().map(|v| known[v.index()]).collect();
    let slots: Vec<u32> = (0..inputs.len() as u32).collect();
    let mut registers = vec![0.0; program.registers()];
    program.eval(&env?, &slots, &mut registers);
    Some(registers[program.outputs()[0].index()])
}
