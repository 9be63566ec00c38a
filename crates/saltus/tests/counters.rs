//! The work of every example, frozen: more steps or evaluations than before is a regression, fewer
//! is an improvement to be written down here.

use saltus::Loader;
use std::path::Path;

/// Steps, expansions, point evaluations, root searches, instants and jumps.
const GOLDEN: &[(&str, [u64; 6])] = &[];

#[test]
fn examples_cost_what_they_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> = std::fs::read_dir(&folder).expect("examples").flatten().map(|f| f.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "salt"));
    files.sort();
    let mut found = Vec::new();
    for file in &files {
        let model = Loader::default().file(file).expect("an example without errors");
        let run = model.run(model.options().expect("options")).expect("a run");
        assert!(run.ending.status.is_success(), "{}: {:?}", file.display(), run.ending);
        let s = run.stats;
        let work = [s.steps, s.jet_evals, s.rhs_evals, s.root_searches, s.instants, s.jumps];
        found.push((file.file_stem().unwrap_or_default().to_string_lossy().into_owned(), work));
    }
    let golden: Vec<_> = GOLDEN.iter().map(|(name, work)| ((*name).to_string(), *work)).collect();
    assert_eq!(found, golden);
}
