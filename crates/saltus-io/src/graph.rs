//! A model as a picture: its components, automata, modes and transitions.
//!
//! Components and modes that contain others are nested boxes; automata are laid out in layers from
//! their initial mode downwards. The picture is made in three steps: the outline of what there is to
//! show, the layout of every automaton from the inside out, and the scene.

mod draw;
mod formula;
pub(crate) mod label;
mod layered;
mod outline;
mod pack;

use crate::scene::Scene;
use saltus_model::HybridSystem;

/// What a picture of a model shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphOptions {
    /// Equations, reactions, invariants, domains and stop conditions inside the boxes.
    pub equations: bool,
    /// At most this many lines of them in one box.
    pub lines: usize,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { equations: true, lines: 8 }
    }
}

/// Draws a model.
///
/// ```
/// use saltus_io::graph::{GraphOptions, scene};
/// use saltus_model::HybridSystem;
/// let picture = scene(&HybridSystem::new("Empty"), &GraphOptions::default());
/// assert!(saltus_io::svg::write(&picture).contains("Empty"));
/// ```
pub fn scene(system: &HybridSystem, options: &GraphOptions) -> Scene {
    draw::scene(&outline::of(system, options), options)
}
