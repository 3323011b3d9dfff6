//! Each consumer's run on a path of constant delay stays as recorded; `UPDATE_GOLDEN=1` records anew.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_testkit::constant_rtt::trace;
use tidegate_testkit::golden::Golden;

use crate::consumers::consumers;

const CASE: &str = "constant_rtt.txt";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")
}

#[test]
fn every_consumer_runs_as_recorded() {
    let mut golden = Golden::at(root());
    for scheme in consumers() {
        golden.compare(&format!("{}/{CASE}", scheme.name), &trace(scheme));
    }
    golden.finish();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.expect("entry is readable").path())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}

#[test]
fn every_golden_file_of_a_consumer_belongs_to_one() {
    let known: Vec<PathBuf> = consumers().map(|scheme| root().join(scheme.name).join(CASE)).collect();
    let orphans: Vec<PathBuf> =
        files(&root()).into_iter().filter(|file| file.ends_with(CASE) && !known.contains(file)).collect();
    assert!(orphans.is_empty(), "no consumer runs {orphans:?}");
}

#[test]
fn every_other_golden_file_is_named_by_a_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources: String = files(&crates)
        .into_iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .map(|file| fs::read_to_string(file).expect("source is text"))
        .collect();
    let unnamed: Vec<PathBuf> = files(&root())
        .into_iter()
        .filter(|file| {
            let name = file.file_name().expect("a file has a name").to_string_lossy();
            !sources.contains(&format!("{name}\""))
        })
        .collect();
    assert!(unnamed.is_empty(), "no test names {unnamed:?}");
}
