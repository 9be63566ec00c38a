//! The gallery shows what the examples draw, byte for byte. `SALTUS_BLESS=1` draws it anew.

use saltus::Loader;
use saltus::io::graph::GraphOptions;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn examples() -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder("examples")).expect("examples").flatten().map(|f| f.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "salt"));
    files.sort();
    files
}

fn check(name: &str, drawn: &str, stale: &mut Vec<String>) {
    let path = folder("docs/gallery").join(name);
    if std::env::var_os("SALTUS_BLESS").is_some() {
        std::fs::write(&path, drawn).expect("a picture written");
    }
    if std::fs::read_to_string(&path).ok().as_deref() != Some(drawn) {
        stale.push(name.to_string());
    }
}

#[test]
fn gallery_shows_the_examples() {
    let index = std::fs::read_to_string(folder("docs/gallery/README.md")).expect("the gallery's page");
    let mut stale = Vec::new();
    for file in examples() {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let model = Loader::default().file(&file).expect("an example without errors");
        let run = model.run(model.options().expect("options")).expect("a run");
        check(&format!("{stem}.svg"), &model.figure(&run).svg(), &mut stale);
        assert!(index.contains(&format!("({stem}.svg)")), "{stem} is missing on the gallery's page");
    }
    for stem in ["helicopter", "washing_machine"] {
        let model =
            Loader::default().file(folder("examples").join(format!("{stem}.salt"))).expect("an example");
        let scene = model.graph(&GraphOptions::default());
        check(&format!("{stem}_graph.svg"), &saltus::io::svg::write(&scene), &mut stale);
    }
    assert!(stale.is_empty(), "out of date: {stale:?}");
}
