//! Draws sample figures and model graphs into a directory: `cargo run --example gallery -- DIRECTORY`.

#[path = "../tests/samples/mod.rs"]
mod samples;

use saltus_io::graph::{self, GraphOptions};
use saltus_io::plot::Style;
use saltus_io::{png, svg};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".into()));
    std::fs::create_dir_all(&directory)?;
    let figures = samples::all().into_iter().map(|(name, figure)| (name, figure.scene(&Style::default())));
    let systems = samples::systems::all().into_iter();
    let graphs = systems.map(|(name, system)| (name, graph::scene(&system, &GraphOptions::default())));
    for (name, scene) in figures.chain(graphs) {
        std::fs::write(directory.join(format!("{name}.svg")), svg::write(&scene))?;
        std::fs::write(directory.join(format!("{name}.png")), png::write(&scene, 2.0)?)?;
    }
    Ok(())
}
