//! `serve` and `fetch` through `forward`, as processes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::json::Value;
use super::{Ended, Scratch, program, tidegate};

/// A process that runs until it is told to stop.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    /// Starts the program; returns once its first line is there.
    fn start(arguments: &[&str]) -> (Self, String) {
        let mut command = program();
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the program starts");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("text");
        (Self { child, out }, line)
    }

    /// Tells it to stop, and waits until it has.
    fn stop(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        let told = Command::new("kill").args(["-INT", &pid]).status().expect("kill is there");
        assert!(told.success());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.out, &mut rest).expect("text");
        (self.child.wait().expect("it ends").code(), rest)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind; one that went well has stopped it already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A forwarder at a Unix socket, which is listened on when this returns.
struct Forwarder {
    child: Child,
    uri: String,
    _folder: SocketFolder,
}

/// Short, since the path of a socket has at most 107 bytes.
struct SocketFolder(std::path::PathBuf);

impl Drop for SocketFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Forwarder {
    fn start(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("tg-{test}-{}", std::process::id()));
        let uri = format!("unix://{}/nfd.sock", folder.display());
        let mut command = program();
        command.args(["forward", "--listen", &uri]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let told = BufReader::new(child.stderr.take().expect("piped"));
        let is_up = told.lines().map_while(Result::ok).any(|line| line.starts_with("listening at"));
        assert!(is_up, "the forwarder listens");
        Self { child, uri, _folder: SocketFolder(folder) }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn content(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * at / 7) as u8).collect()
}

#[test]
fn a_file_goes_through_a_forwarder_and_leaves_a_summary_and_a_page() {
    let scratch = Scratch::new("transfer");
    let forwarder = Forwarder::start("transfer");
    let bytes = content(700_000);
    let file = scratch.file("file", &bytes);
    let at = ["--transport", &forwarder.uri];
    let serve = ["serve", "/transfer/file", &file, "--version", "5"];
    let (server, line) = Running::start(&[&serve[..], &at].concat());
    assert_eq!(line, format!("serving {file} as /transfer/file/v=5: 700000 bytes in 584 segments\n"));
    let copy = format!("{}/copy", scratch.path());
    let page = format!("{}/page.html", scratch.path());
    let fetch = ["fetch", "/transfer/file", "-o", &copy, "--report", &page, "--format", "json"];
    let scheme = ["--scheme", "fixed", "--set", "window=30"];
    let ended = tidegate(&[&fetch[..], &scheme, &at].concat()).with(0);
    assert!(fs::read(&copy).expect("fetched") == bytes);
    let summary = ended.json();
    assert_eq!(summary.get("name").text(), "/transfer/file/v=5");
    assert_eq!(*summary.get("segments"), Value::Number(584.0));
    assert_eq!(*summary.get("window_packets"), Value::Number(30.0));
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("/transfer/file/v=5 with fixed"));
    let (code, told) = server.stop();
    assert_eq!((code, told.contains("700000 bytes")), (Some(0), true), "{told}");
}

#[test]
fn content_on_standard_output_is_nothing_but_the_content() {
    let scratch = Scratch::new("stdout");
    let forwarder = Forwarder::start("stdout");
    let file = scratch.file("file", b"all there is to know\n");
    let at = ["--transport", &forwarder.uri];
    let (_server, _) = Running::start(&[&["serve", "/stdout", &file][..], &at].concat());
    let Ended { code, out, err } = tidegate(&[&["fetch", "/stdout"][..], &at].concat());
    assert_eq!((code, out.as_str()), (Some(0), "all there is to know\n"));
    assert!(err.contains("All segments have been received."), "{err}");
}

#[test]
fn an_interrupted_fetch_keeps_what_came_and_says_so() {
    let scratch = Scratch::new("interrupt");
    let forwarder = Forwarder::start("interrupt");
    let copy = format!("{}/copy", scratch.path());
    // A version that nobody serves: the fetch waits for its first segment until it is told to stop.
    let mut command = program();
    command.args(["fetch", "/nobody/v=1", "-o", &copy, "--transport", &forwarder.uri]);
    let fetch = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let part = format!("{copy}.part");
    while !fs::exists(&part).expect("readable") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &fetch.id().to_string()]).status().expect("kill is there");
    let output = fetch.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains(&format!("/nobody/v=1: interrupted; the first 0 bytes are in {part}")), "{told}");
    assert!(!fs::exists(&copy).expect("readable"));
}

#[test]
fn what_is_wrong_with_a_fetch_is_said_with_what_would_be_right() {
    for (arguments, code, said) in [
        (&["fetch", "file"][..], 2, "error: name \"file\" does not start with \"/\""),
        (&["fetch", "/f", "--scheme", "codel"], 2, "error: scheme \"codel\" is no consumer; consumers: "),
        (&["fetch", "/f", "--scheme", "x"], 2, "error: scheme \"x\" is not known; consumers: "),
        (&["fetch", "/f", "--scheme", "fixed", "--set", "x=1"], 2, "error: --set: unknown parameter \"x\""),
        (&["fetch", "/f", "--shell", "x"], 2, "error: shell \"x\" is not known; known: ndnsim, "),
        (&["fetch", "/f", "--transport", "x"], 2, "error: --transport: face URI \"x\": "),
        (&["fetch", "/f", "--transport", "unix:///no/sock"], 1, "error: cannot connect to unix:///no/sock "),
        (&["serve", "/", "README.md"], 2, "error: a file cannot be served as \"/\""),
        (&["serve", "/f", "README.md", "--segment-size", "0"], 2, "error: --segment-size: 0 is not within"),
        (&["serve", "/f", "README.md", "--key", "x"], 2, "--key-locator"),
    ] {
        let ended = tidegate(arguments).with(code);
        assert!(ended.err.contains(said), "{arguments:?}: {}", ended.err);
    }
}
