//! The program as its users meet it: commands in, files, tables and exit codes out.

mod audit;
mod batches;
mod browser;
mod check;
mod compare;
mod exports;
mod figures;
mod folders;
mod foretold;
mod imports;
mod inputs;
#[cfg(target_os = "linux")]
mod keys;
#[cfg(target_os = "linux")]
mod link;
mod new;
mod outputs;
mod papers;
#[cfg(target_os = "linux")]
mod readme;
mod report;
#[cfg(target_os = "linux")]
mod screens;
mod shell;
mod sweep;
#[cfg(target_os = "linux")]
mod transfers;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use support::program::{Ended, Scratch, program, tidegate};

/// The canonical example.
const DUMBBELL: &str = "scenarios/examples/dumbbell.toml";

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
