//! Checks that need a tool which is not installed: said where nobody can miss it, or demanded.
//!
//! Output of a test that passes is not shown, so a line goes to standard error past the test harness, and to the end of the
//! file that `TIDEGATE_SKIPPED` names, which `.ci/run` counts. With `TIDEGATE_REQUIRE_TOOLS=1` a missing tool is a failure.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write;

/// Says that `check` is not made because `missing` is not there.
///
/// # Panics
/// When the environment demands all tools, or the file cannot be written.
pub fn skipped(check: &str, missing: &str) {
    let line = format!("skipped: {check}: {missing}\n");
    let is_demanded = std::env::var_os("TIDEGATE_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(!is_demanded, "{line}TIDEGATE_REQUIRE_TOOLS=1 demands it");
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(file) = std::env::var_os("TIDEGATE_SKIPPED") {
        append(&file, &line);
    }
}

/// One write at the end of the file, so that lines of several processes do not mix.
fn append(file: &OsStr, line: &str) {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|why| panic!("TIDEGATE_SKIPPED={}: {why}", file.display()));
}
