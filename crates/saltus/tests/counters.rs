//! The work of every example, frozen: more steps or evaluations than before is a regression, fewer
//! is an improvement to be written down here.

use saltus::Loader;
use std::path::Path;

/// Steps, expansions, point evaluations, root searches, instants and jumps.
const GOLDEN: &[(&str, [u64; 6])] = &[
    ("bouncing_ball", [13, 13, 26, 25, 14, 12]),
    ("helicopter", [149, 149, 167, 148, 12, 4]),
    ("helicopter_approach", [170, 171, 202, 147, 12, 5]),
    ("house", [159, 159, 525, 453, 183, 183]),
    ("hysteresis", [15, 15, 36, 14, 13, 11]),
    ("inverse_jacobian", [85, 87, 19, 10, 7, 5]),
    ("melting", [8, 9, 14, 4, 6, 4]),
    ("reaction", [12, 12, 56, 9, 7, 5]),
    ("rocket", [26, 26, 38, 5, 7, 5]),
    ("sampled_control", [95, 98, 165, 0, 82, 82]),
    ("thermostat", [13, 13, 39, 18, 14, 12]),
    ("two_tanks", [34, 37, 51, 28, 14, 12]),
    ("unstable_switching", [52, 52, 58, 54, 19, 17]),
    ("washing_machine", [181, 184, 801, 9, 374, 375]),
];

#[test]
fn examples_cost_what_they_did() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("examples").flatten().map(|f| f.path()).collect();
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
