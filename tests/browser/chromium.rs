//! Headless Chromium: found, started, and asked for the document that it ends with.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The browser: `TIDEGATE_CHROMIUM`, else the first of the usual names that is there.
pub fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TIDEGATE_CHROMIUM") {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

/// The document that the page at `file` has become once nothing happens in it any more.
///
/// `profile` is a folder for the browser's own files.
pub fn document(browser: &Path, file: &Path, profile: &Path) -> String {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=2600,1100", "--virtual-time-budget=900000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        .output()
        .expect("the browser starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
