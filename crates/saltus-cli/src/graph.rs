//! `saltus graph`: the hierarchy and the automata of a model as a picture.

use crate::args::GraphArgs;
use crate::{Outcome, output, run};
use saltus::io::graph::GraphOptions;
use saltus::{Error, PictureFormat, save_picture};
use std::path::PathBuf;

/// Runs the command.
pub fn graph(args: &GraphArgs) -> Outcome {
    let targets = match args.out.as_slice() {
        [] => vec![run::named_after(&args.model, ".graph.svg")],
        out => out.to_vec(),
    };
    match draw(args, &targets) {
        Ok(()) => Outcome::Done,
        Err(error) => {
            output::refuse_error(&error, None, false);
            Outcome::BadInput
        }
    }
}

fn draw(args: &GraphArgs, targets: &[PathBuf]) -> Result<(), Error> {
    for path in targets {
        PictureFormat::of(path)?;
        run::check_folder(path)?;
    }
    let model = run::load(&args.model)?;
    let scene = model.graph(&GraphOptions { equations: !args.outline, ..GraphOptions::default() });
    for path in targets {
        save_picture(&scene, path)?;
        if !args.quiet {
            output::print(&format!("written {}\n", path.display()));
        }
    }
    Ok(())
}
