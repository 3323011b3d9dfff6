//! Checks the modules of the build script, and that the lists of sources are complete.

mod digest;
mod sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sources::{EXPERIMENTS, SIMULATION};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn is_hashed(path: &str) -> bool {
    SIMULATION.iter().any(|source| path == *source || path.starts_with(&format!("{source}/")))
}

/// Every Rust file at or below `path`, without tests.
fn files(path: &str) -> Vec<String> {
    let place = root().join(path);
    if place.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(&place).into_iter().flatten().flatten();
    let inner = entries.flat_map(|entry| files(&format!("{path}/{}", entry.file_name().to_string_lossy())));
    inner.filter(|file| file.ends_with(".rs") && digest::is_counted(file)).collect()
}

/// Modules of their own crate that the code of `file` names by `crate::`; its unit tests come last and do not count.
fn named_modules(file: &str) -> BTreeSet<String> {
    let text = read(file);
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut named = BTreeSet::new();
    for line in lines {
        for rest in line.split("crate::").skip(1) {
            let is_list = rest.starts_with('{');
            assert!(!is_list, "{file}: name each module of the crate on a line of its own");
            named.insert(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    named
}

#[test]
fn whatever_the_tables_call_within_their_crate_is_hashed() {
    let src = "crates/results/src";
    let mut to_read = files(&format!("{src}/tables"));
    assert!(to_read.len() > 5, "{to_read:?}");
    let mut seen: BTreeSet<String> = to_read.iter().cloned().collect();
    while let Some(file) = to_read.pop() {
        for module in named_modules(&file) {
            let mut of_module = [format!("{src}/{module}.rs"), format!("{src}/{module}")].to_vec();
            of_module.retain(|path| root().join(path).exists());
            // What is no module is an item of the crate's root.
            if of_module.is_empty() {
                of_module.push(format!("{src}/lib.rs"));
            }
            let of_module = of_module.iter().flat_map(|path| files(path)).collect::<Vec<_>>();
            to_read.extend(of_module.into_iter().filter(|path| seen.insert(path.clone())));
        }
    }
    assert!(seen.contains(&format!("{src}/measures/catalogue.rs")), "{seen:?}");
    let missing: Vec<&String> = seen.iter().filter(|file| !is_hashed(file)).collect();
    assert!(missing.is_empty(), "the tables use {missing:?}, which SIMULATION lacks");
}

/// Crates of this workspace below `[dependencies]` of a manifest.
fn own_dependencies(manifest: &str) -> Vec<String> {
    let text = read(manifest);
    let after = text.split_once("[dependencies]\n").map_or("", |(_, after)| after);
    let section = after.split("\n[").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.strip_prefix("tidegate-"));
    names.filter_map(|rest| rest.split(['.', ' ']).next()).map(str::to_owned).collect()
}

#[test]
fn every_crate_under_the_simulation_is_hashed_with_its_manifest_and_has_no_features() {
    let mut crates = vec!["sim".to_owned(), "results".to_owned()];
    let mut at = 0;
    while at < crates.len() {
        let manifest = format!("crates/{}/Cargo.toml", crates[at]);
        assert!(is_hashed(&manifest), "{manifest} is not in SIMULATION");
        let source = format!("crates/{}/src", crates[at]);
        assert!(crates[at] == "results" || is_hashed(&source), "{source} is not in SIMULATION");
        assert!(!read(&manifest).contains("[features]"), "{manifest}: features are not part of the hash");
        let more = own_dependencies(&manifest);
        crates.extend(more.into_iter().filter(|name| !crates.contains(name)).collect::<Vec<_>>());
        at += 1;
    }
    assert_eq!(crates.len(), 5, "{crates:?}");
}

#[test]
fn the_workspaces_manifest_and_the_lockfile_are_hashed() {
    assert!(is_hashed("Cargo.toml") && is_hashed("Cargo.lock"));
}

#[test]
fn every_source_that_is_named_is_there() {
    for source in SIMULATION.iter().chain(EXPERIMENTS) {
        assert!(root().join(source).exists(), "{source}");
    }
}

#[test]
fn this_checkout_has_a_hash_for_each_list_of_sources() {
    for hash in [tidegate_identity::CODE, tidegate_identity::EXPERIMENTS] {
        assert_eq!(hash.len(), 32);
    }
    assert_ne!(
        tidegate_identity::CODE,
        tidegate_identity::EXPERIMENTS,
        "no sources were found beside this crate"
    );
}
