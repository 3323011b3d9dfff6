//! Headless Chromium: found, started, and listened to.

use std::io::{BufRead, BufReader};
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

/// What the page at `file` logs between `told:` and `:told`, until that was `count` times or the browser ends.
///
/// `profile` is a folder for the browser's own files.
pub fn reported(browser: &Path, file: &Path, profile: &Path, count: usize) -> Vec<String> {
    let mut running = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=2600,1100", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the browser starts");
    let log = BufReader::new(running.stderr.take().expect("piped"));
    let reported = log.lines().map_while(Result::ok).filter_map(|line| {
        let (_, rest) = line.split_once("\"told:")?;
        Some(rest.rsplit_once(":told\"")?.0.to_owned())
    });
    let reported = reported.take(count).collect();
    // It has nothing more to say, and would wait for ever.
    let _ = running.kill();
    running.wait().expect("the browser ends");
    reported
}
