//! Holds `ARCHITECTURE.md` against the tree: the list of crates, the direction of dependencies, and
//! the absence of input and output in the core.

use std::path::{Path, PathBuf};

/// Crates that open no files and print nothing.
const CORE: [&str; 7] =
    ["saltus-num", "saltus-expr", "saltus-jit", "saltus-model", "saltus-lang", "saltus-solve", "saltus-sim"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The crates of the map, in its order.
fn listed() -> Vec<String> {
    let page = read(&root().join("ARCHITECTURE.md"));
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `crates/"));
    rows.filter_map(|row| Some(row.split_once('`')?.0.to_string())).collect()
}

#[test]
fn every_crate_is_on_the_map() {
    let mut on_map = listed();
    let folders = std::fs::read_dir(root().join("crates")).unwrap().map(|e| e.unwrap().path());
    let mut folders: Vec<String> =
        folders.map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect();
    on_map.sort();
    folders.sort();
    assert_eq!(on_map, folders, "ARCHITECTURE.md and crates/ differ");
}

/// The crates of the workspace that a manifest names under `[dependencies]`.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest.split("\n[").find_map(|s| s.strip_prefix("dependencies]"));
    let lines = section.unwrap_or_default().lines();
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_string();
    lines.map(name).filter(|n| n.starts_with("saltus")).collect()
}

#[test]
fn dependencies_point_one_way() {
    let order = listed();
    for (place, name) in order.iter().enumerate() {
        let manifest = read(&root().join("crates").join(name).join("Cargo.toml"));
        for dependency in dependencies(&manifest) {
            let above = order.iter().position(|n| *n == dependency).is_some_and(|k| k < place);
            assert!(above, "{name} depends on {dependency}, which does not stand above it on the map");
            assert_ne!(dependency, "saltus-oracle", "{name} may use the oracle in tests only");
        }
    }
}

/// The source files in a folder, those of tests apart.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn core_does_no_input_and_output() {
    for name in CORE {
        let mut files = Vec::new();
        sources(&root().join("crates").join(name).join("src"), &mut files);
        assert!(!files.is_empty(), "{name} has no sources");
        for file in files {
            let text = read(&file);
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let breaks = ["std::fs", "std::net", "std::process", "println!", "eprintln!", "print!("];
                let found = breaks.iter().find(|b| line.contains(**b));
                assert!(found.is_none(), "{}: `{}`", file.display(), line.trim());
            }
        }
    }
}
