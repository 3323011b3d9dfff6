//! Hashes the sources beside this crate that decide what a simulation computes; see `src/lib.rs`.

#[path = "src/digest.rs"]
mod digest;

use std::path::{Path, PathBuf};
use std::{env, fs};

use digest::{Digest, is_counted};

/// Files and folders from the root of the workspace.
const SOURCES: [&str; 11] = [
    "Cargo.lock",
    "crates/core/Cargo.toml",
    "crates/core/src",
    "crates/schemes/Cargo.toml",
    "crates/schemes/src",
    "crates/settings/Cargo.toml",
    "crates/settings/src",
    "crates/sim/Cargo.toml",
    "crates/sim/src",
    // A stored run is a folder of tables.
    "crates/report/src/definitions.rs",
    "crates/report/src/tables",
];

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    let root = here.join("../..");
    let mut digest = Digest::new();
    digest.add("version", env!("CARGO_PKG_VERSION").as_bytes());
    for source in SOURCES {
        let path = root.join(source);
        // Outside the repository, as a package of its own, only the version counts.
        if !path.exists() {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let mut files = Vec::new();
        collect(&path, source, &mut files);
        files.sort();
        for (name, path) in files {
            let content = fs::read(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            digest.add(&name, &content);
        }
    }
    println!("cargo::rustc-env=TIDEGATE_CODE={}", digest.finish());
}

/// Every counted file at or below `path`, called `name` from the root.
fn collect(path: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) {
    if path.is_file() {
        if is_counted(name) || name == "Cargo.lock" {
            files.push((name.to_owned(), path.to_owned()));
        }
        return;
    }
    let entries = fs::read_dir(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    for entry in entries.flatten() {
        let inner = format!("{name}/{}", entry.file_name().to_string_lossy());
        collect(&entry.path(), &inner, files);
    }
}
