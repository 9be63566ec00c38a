//! Proof that a flow stays near its Taylor polynomials, apart from all guards.

use super::{DRIFT, WIDTH};
use saltus_expr::FlowPlan;
use saltus_expr::jet::{Distance, Jets, Length, Roundings, Tube};

/// How often a shorter time is tried.
const ATTEMPTS: usize = 6;

/// Proves for one plan that its flow exists and stays near its polynomials; keeps its memory, and what it
/// has proved for many steps.
///
/// ```
/// use saltus_expr::jet::{JetMachine, Jets, Length};
/// use saltus_expr::{FlowPlan, Graph, PlanBlock, Program, Sort, VarId};
/// use saltus_solve::certificate::FlowProof;
/// // x' = -x from x = 1, with time in slot 0.
/// let mut graph = Graph::new();
/// let x = graph.var(VarId(1), Sort::Real);
/// let rate = graph.neg(x);
/// let (program, _) = Program::new(&graph, &[rate]);
/// let block = PlanBlock { program: program.into(), inputs: vec![1], outputs: vec![2] };
/// let plan = FlowPlan { blocks: vec![block], states: vec![(1, 2)], time_slot: 0, slots: 3 };
/// let mut jets = JetMachine::new(&plan, 12);
/// let env = [0.0, 1.0, 0.0];
/// jets.run(&env, 0.5);
/// let mut proof = FlowProof::new(&plan, &jets);
/// let length = Length { h: 0.25, unit: 0.5, scale: 0.5 };
/// assert_eq!(proof.prove(&env, &jets, length, 1e-9), Some(0.25));
/// assert!(proof.state_radii(0).most() < 1e-13);
/// ```
#[derive(Clone, Debug)]
pub struct FlowProof {
    tube: Tube,
}

impl FlowProof {
    /// For a plan with the jets that evaluate it.
    ///
    /// # Panics
    /// If the plan fails [`FlowPlan::check`] or the jets are those of another plan.
    pub fn new(plan: &FlowPlan, jets: &(impl Jets + ?Sized)) -> FlowProof {
        FlowProof { tube: Tube::new(plan, jets, &[], &[]) }
    }

    /// Forgets everything about earlier steps.
    pub fn restart(&mut self) {
        self.tube.restart();
    }

    /// Proves a step from a point in `env`, or the first part of it: how much of it, if any. States are
    /// followed no more narrowly than they move, and than some distance.
    pub fn prove(
        &mut self,
        env: &[f64],
        jets: &(impl Jets + ?Sized),
        length: Length,
        absolute: f64,
    ) -> Option<f64> {
        self.tube.set_point(env, absolute);
        self.tube.set_drift(Some(DRIFT));
        let mut h = length.h;
        for _ in 0..ATTEMPTS {
            let distance = self.tube.bound_distance(jets, Length { h, ..length }, WIDTH);
            if distance.is_ok_and(|distance| distance.most() < WIDTH) {
                return Some(h);
            }
            h *= 0.5;
        }
        None
    }

    /// How far a state may be from its polynomial on what was proved last.
    pub fn state_radii(&self, state: usize) -> Distance {
        self.tube.state_radii(state)
    }

    /// Bounds of what rounding does to the states on it.
    pub fn state_roundings(&self) -> Roundings<'_> {
        self.tube.state_roundings()
    }
}
