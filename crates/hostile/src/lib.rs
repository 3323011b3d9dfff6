//! Checks that hold for whatever bytes come, shared by tests, which replay `fuzz/corpus`, and by fuzz targets.
//!
//! Each `check` panics where something does not hold.
#![forbid(unsafe_code)]

use std::path::Path;

#[cfg(target_os = "linux")]
pub mod forwarder;
#[cfg(target_os = "linux")]
pub mod keys;
#[cfg(target_os = "linux")]
pub mod link_service;
#[cfg(target_os = "linux")]
pub mod management;
pub mod packets;
pub mod papers;
#[cfg(target_os = "linux")]
pub mod stream;
#[cfg(target_os = "linux")]
pub mod trust;
#[cfg(target_os = "linux")]
pub mod websocket;

/// Calls `check` with each file of `fuzz/corpus/<target>`, which are inputs that a fuzz target begins with and inputs that once
/// failed.
///
/// # Panics
/// When there are fewer than six files, or `check` panics.
pub fn replay(target: &str, check: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&corpus).expect("the corpus is there");
    let mut files: Vec<_> = files.map(|file| file.expect("readable").path()).collect();
    files.sort();
    assert!(files.len() >= 6, "{} files", files.len());
    for file in files {
        println!("{}", file.display());
        check(&std::fs::read(&file).expect("readable"));
    }
}
