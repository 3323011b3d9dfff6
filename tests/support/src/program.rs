//! The built program, what it said and how it ended, and folders to let it write into.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::json::Value;

/// The folder that Cargo builds this profile into: a test is in its folder `deps`.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its file");
    test.parent().and_then(Path::parent).expect("Cargo has a folder for tests").to_owned()
}

/// The built program, started in the repository's root. Cargo builds it before the tests of the root package.
pub fn program() -> Command {
    let mut command = Command::new(built().join(format!("tidegate{}", std::env::consts::EXE_SUFFIX)));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).stdin(Stdio::null());
    command
}

/// How a command ended.
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn json(&self) -> Value {
        Value::parse(&self.out).unwrap_or_else(|why| panic!("{why}\n{}", self.out))
    }

    /// The same, once the exit code is `code` and the program did not panic.
    #[track_caller]
    pub fn with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// Runs the program to its end.
pub fn tidegate(arguments: &[&str]) -> Ended {
    Ended::from(program().args(arguments).output().expect("the program starts"))
}

/// A folder of one test, empty at first and removed at the end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(test: &str) -> Self {
        let target = std::env::current_exe().expect("a test knows its file");
        let target = target.file_stem().expect("a file has a name").to_string_lossy();
        let name = format!("{target}-{test}-{}", std::process::id());
        let folder = built().with_file_name("tmp").join(name);
        fs::create_dir_all(&folder).expect("Cargo's folder for tests can be written");
        Self(folder)
    }

    pub fn path(&self) -> &str {
        self.0.to_str().expect("the folder's name is text")
    }

    /// The only folder in it.
    pub fn only_folder(&self) -> PathBuf {
        let entries: Vec<PathBuf> =
            fs::read_dir(&self.0).expect("readable").map(|entry| entry.expect("readable").path()).collect();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries[0].clone()
    }

    /// Where a file of this name is, or would be.
    pub fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.path())
    }

    pub fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.at(name);
        fs::write(&path, content).expect("the folder can be written");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is under Cargo's target folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}
