//! The program as its users meet it: commands in, files, tables and exit codes out.

mod batches;
mod inputs;
#[path = "../support/json.rs"]
mod json;
#[cfg(target_os = "linux")]
mod link;
mod outputs;
mod papers;
#[cfg(target_os = "linux")]
mod readme;
#[cfg(target_os = "linux")]
mod transfers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use json::Value;

/// The canonical example.
const DUMBBELL: &str = "scenarios/examples/dumbbell.toml";

/// The built program, started in the repository's root.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command
}

/// How a command ended.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ended {
    fn json(&self) -> Value {
        Value::parse(&self.out).unwrap_or_else(|why| panic!("{why}\n{}", self.out))
    }

    /// This, once it is sure that it ended with `code` and told no panic.
    #[track_caller]
    fn with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }
}

fn tidegate(arguments: &[&str]) -> Ended {
    let output = program().args(arguments).output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// A folder of one test, empty at first and removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("Cargo's folder for tests can be written");
        Self(folder)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the folder's name is text")
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).expect("the folder can be written");
        path.to_str().expect("the name is text").to_owned()
    }

    /// The only folder in it.
    fn only_folder(&self) -> PathBuf {
        let entries: Vec<PathBuf> =
            fs::read_dir(&self.0).expect("readable").map(|entry| entry.expect("readable").path()).collect();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries[0].clone()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is under Cargo's target folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Everything in a results folder that must not depend on how it was made: tables, checksums, scenario, page.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let files = files.filter(|path| path.is_file() && !path.ends_with("run.json"));
    let name = |path: &Path| path.file_name().expect("a file has a name").to_string_lossy().into_owned();
    files.map(|path| (name(&path), fs::read(&path).expect("readable"))).collect()
}

/// Fails with the names of the files that differ, not with their bytes.
#[track_caller]
fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (results(a), results(b));
    let names: Vec<&String> = a.keys().collect();
    assert_eq!(names, b.keys().collect::<Vec<_>>());
    let differing: Vec<&String> = a.keys().filter(|name| a[*name] != b[*name]).collect();
    assert!(differing.is_empty(), "{differing:?} differ");
}
