//! Every fenced block: shell is run, scenarios are checked, Rust is a file that is compiled.
//!
//! All `sh` blocks of a page run in order in one folder, which has `scenarios/` and `README.md` as the repository's
//! root has them. A comment above a fence changes what is expected: `<!-- exit: 3 -->` another exit code,
//! `<!-- not run: why -->` nothing.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{pages, root};
use support::program::{Scratch, tidegate};

/// Longest time of one block; what takes longer hangs.
const LONGEST: Duration = Duration::from_secs(120);

/// A fenced block.
#[derive(Debug, PartialEq)]
pub struct Block {
    /// Line of its fence, from 1.
    line: usize,
    /// What stands behind the fence, such as `sh`.
    pub info: String,
    /// The comment above it, if there is one.
    comment: Option<String>,
    pub text: String,
}

/// The blocks of a Markdown text, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut comment = None;
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            let inner = line.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
            if inner.is_some() || !line.trim().is_empty() {
                comment = inner.map(|inner| inner.trim().to_owned());
            }
            continue;
        };
        let text: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| !line.starts_with("```")).collect();
        let text = text.join("\n") + "\n";
        found.push(Block { line: number + 1, info: info.to_owned(), comment: comment.take(), text });
    }
    found
}

impl Block {
    /// The exit code that its shell ought to end with; `None` if it is not run.
    fn expected(&self, place: &str) -> Option<i32> {
        let Some(comment) = &self.comment else { return Some(0) };
        match comment.split_once(':').map(|(word, rest)| (word.trim(), rest.trim())) {
            Some(("not run", why)) => {
                assert!(!why.is_empty(), "{place}: say why it is not run");
                None
            }
            Some(("exit", code)) => {
                Some(code.parse().unwrap_or_else(|why| panic!("{place}: {code:?}: {why}")))
            }
            _ => Some(0),
        }
    }
}

/// Runs `block` as a script in `folder`.
fn run(block: &Block, folder: &Path, place: &str, expected: i32) {
    let built = Path::new(env!("CARGO_BIN_EXE_tidegate")).parent().expect("in a folder");
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap_or_default());
    let log = folder.join("said-by-the-block");
    let output = fs::File::create(&log).expect("the folder can be written");
    let mut child = Command::new("bash")
        .args(["-eu", "-o", "pipefail", "-c", &block.text])
        .env("PATH", path)
        .env("HOME", folder)
        .env_remove("NDN_CLIENT_TRANSPORT")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("a file"))
        .stderr(output)
        .process_group(0)
        .spawn()
        .expect("bash is there");
    let begun = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait().expect("ours") {
            break status.code();
        }
        if begun.elapsed() > LONGEST {
            // All that the block has started is in its group.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let stated = fs::read_to_string(&log).unwrap_or_default();
    assert_eq!(ended, Some(expected), "{place}:\n{}\nsaid:\n{stated}", block.text);
}

/// Runs every shell block of `page`; gives how many that were.
fn run_page(name: &str, page: &str) -> usize {
    let scratch = Scratch::new(&name.replace('/', "-"));
    for shared in ["scenarios", "README.md"] {
        std::os::unix::fs::symlink(root().join(shared), scratch.0.join(shared)).expect("linked");
    }
    let mut ran = 0;
    for block in blocks(page).iter().filter(|block| block.info == "sh") {
        let place = format!("{name}:{}", block.line);
        if let Some(expected) = block.expected(&place) {
            run(block, &scratch.0, &place, expected);
            ran += 1;
        }
    }
    ran
}

#[test]
fn every_command_of_the_book_works() {
    let pages = pages();
    let ran: usize = pages.iter().map(|(name, page)| run_page(name, page)).sum();
    assert!(ran >= 20, "{ran} blocks were run");
}

#[test]
fn every_command_of_the_readme_works() {
    let readme = fs::read_to_string(root().join("README.md")).expect("readable");
    assert!(run_page("README.md", &readme) >= 1);
}

#[test]
fn every_scenario_of_the_book_is_valid() {
    let scratch = Scratch::new("shown");
    let mut checked = 0;
    for (name, page) in pages() {
        for block in blocks(&page).iter().filter(|block| block.info == "toml") {
            if block.text.starts_with("format = 1\n") {
                let file = scratch.file("shown.toml", block.text.as_bytes());
                let ended = tidegate(&["check", &file]);
                assert_eq!(ended.code, Some(0), "{name}:{}: {}", block.line, ended.err);
                checked += 1;
            }
        }
    }
    assert!(checked >= 2, "{checked} scenarios");
}

#[test]
fn rust_in_the_book_is_a_file_that_is_compiled() {
    let mut compared = 0;
    for (name, page) in pages() {
        for block in blocks(&page).iter().filter(|block| block.info.starts_with("rust")) {
            let place = format!("{name}:{}", block.line);
            let file = block
                .info
                .split_once("file=")
                .unwrap_or_else(|| panic!("{place}: rust,file=PATH is needed"))
                .1;
            let text =
                fs::read_to_string(root().join(file)).unwrap_or_else(|why| panic!("{place}: {file}: {why}"));
            let shown = text.split("\n#[cfg(test)]").next().unwrap_or_default().trim_end();
            assert_eq!(block.text.trim_end(), shown, "{place} and {file} differ");
            compared += 1;
        }
    }
    assert!(compared >= 1);
}

#[test]
fn a_block_has_the_line_of_its_fence_and_the_comment_right_above_it() {
    let page = "<!-- far -->\ntext\n\n<!-- exit: 3 -->\n\n```sh\nfalse\n```\n```toml\nx = 1\n```\n";
    let found = blocks(page);
    let block = |line, info: &str, comment: Option<&str>, text: &str| Block {
        line,
        info: info.to_owned(),
        comment: comment.map(str::to_owned),
        text: text.to_owned(),
    };
    assert_eq!(found, [block(6, "sh", Some("exit: 3"), "false\n"), block(9, "toml", None, "x = 1\n")]);
}

#[test]
#[should_panic(expected = "page.md:1")]
fn a_command_that_fails_is_found() {
    run_page("page.md", "```sh\nfalse\ntrue\n```\n");
}

#[test]
fn an_exit_code_that_is_expected_is_no_failure_and_a_block_with_a_reason_is_not_run() {
    let page = "<!-- exit: 3 -->\n```sh\nexit 3\n```\n<!-- not run: it fails -->\n```sh\nfalse\n```\n";
    assert_eq!(run_page("codes.md", page), 1);
}
