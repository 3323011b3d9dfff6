//! The book and the README: their commands run, their scenarios are valid, their links lead somewhere, and what is
//! made from the program is what the program says.
#![cfg(unix)]

mod blocks;
mod book;
mod made;
mod papers;
mod readme;
mod record;
mod skips;

use std::path::{Path, PathBuf};

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Pages of the book.
fn sources() -> PathBuf {
    root().join("docs/book/src")
}

/// Every page of the book with its path below [`sources`], in order.
fn pages() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&sources(), "", &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, path: &str, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("the book is there") {
        let entry = entry.expect("readable");
        let name = format!("{path}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else if name.ends_with(".md") {
            found.push((name, std::fs::read_to_string(entry.path()).expect("text")));
        }
    }
}
