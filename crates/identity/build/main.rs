//! Hashes the sources beside this crate that decide what a simulation computes; see `src/lib.rs`.

mod digest;
mod sources;

use std::path::{Path, PathBuf};
use std::{env, fs};

use digest::{Digest, is_counted};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
    let root = here.join("../..");
    println!("cargo::rustc-env=TIDEGATE_CODE={}", hash(&root, sources::SIMULATION));
    println!("cargo::rustc-env=TIDEGATE_EXPERIMENTS={}", hash(&root, sources::EXPERIMENTS));
}

/// The hash of the counted files of `sources`, which are below `root`.
fn hash(root: &Path, sources: &[&str]) -> String {
    let mut digest = Digest::new();
    digest.add("version", env!("CARGO_PKG_VERSION").as_bytes());
    for source in sources {
        let path = root.join(source);
        // Outside the repository, for example in a published package, only the version counts.
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
    digest.finish()
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
