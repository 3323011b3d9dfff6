//! Each consumer's run on a path of constant delay stays as recorded; `UPDATE_GOLDEN=1` records anew.

use std::fs;
use std::path::{Path, PathBuf};

use crate::constant_rtt::trace;
use crate::consumers;

const CASE: &str = "constant_rtt.txt";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")
}

fn first_difference(recorded: &str, now: &str) -> Option<String> {
    let (mut old, mut new) = (recorded.lines(), now.lines());
    (1..).find_map(|number| match (old.next(), new.next()) {
        (None, None) => Some(None),
        (old, new) if old != new => Some(Some(format!("line {number}: recorded {old:?}, now {new:?}"))),
        _ => None,
    })?
}

#[test]
fn every_consumer_runs_as_recorded() {
    let mut differences = Vec::new();
    for scheme in consumers() {
        let file = root().join(scheme.name).join(CASE);
        let now = trace(scheme);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::create_dir_all(file.parent().expect("the file lies in a folder")).expect("folder");
            fs::write(&file, &now).expect("golden file is writable");
        }
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        differences.extend(first_difference(&recorded, &now).map(|line| format!("{}: {line}", scheme.name)));
    }
    assert!(
        differences.is_empty(),
        "{differences:#?}\nreview, then UPDATE_GOLDEN=1 cargo test -p tidegate-schemes"
    );
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
