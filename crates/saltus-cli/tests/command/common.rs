//! Running the built command on models in folders of their own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A ball that bounces.
pub const BALL: &str = "\
model Ball {
    param g = 9.81, e = 0.8
    state x = 10, v = 0
    flow { x' = v; v' = -g }
    when x <= 0 and v < 0 { v := -e * v }
    run { until 5; plot x, v }
}
";

/// A folder that is removed with the value.
pub struct Folder(PathBuf);

impl Folder {
    /// A new, empty folder.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("saltus-cli-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    /// A folder with a model in `m.salt`.
    pub fn with(model: &str) -> Self {
        let folder = Self::new();
        folder.write("m.salt", model);
        folder
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file for the test");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saltus"));
        command.current_dir(&self.0).args(arguments);
        command
    }

    /// Runs the command in the folder.
    pub fn saltus(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command(arguments).output().expect("the command starts"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the command said.
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Answer {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text in UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The one JSON object on standard output.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.trim_end().lines().count(), 1, "{}", self.out);
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }
}
