//! `serve` and `fetch` through `forward`, as processes.

use std::fs;

use super::json::Value;
use super::running::{Forwarder, Running, Way};
use super::{Ended, Scratch, tidegate};

fn content(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * at / 7) as u8).collect()
}

#[test]
fn a_file_goes_through_a_forwarder_and_leaves_a_summary_and_a_page() {
    let scratch = Scratch::new("transfer");
    let forwarder = Forwarder::start("transfer", "");
    let bytes = content(700_000);
    let file = scratch.file("file", &bytes);
    let at = ["--transport", forwarder.uri(Way::Unix)];
    let serve = ["serve", "/transfer/file", &file, "--version", "5"];
    let server = Running::start(&[&serve[..], &at].concat());
    let line = server.out_line("serving ");
    assert_eq!(line, format!("serving {file} as /transfer/file/v=5: 700000 bytes in 584 segments"));
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
    let told = server.stop().with(0).out;
    assert!(told.lines().last().is_some_and(|line| line.contains("700000 bytes")), "{told}");
}

#[test]
fn content_on_standard_output_is_nothing_but_the_content() {
    let scratch = Scratch::new("stdout");
    let forwarder = Forwarder::start("stdout", "");
    let file = scratch.file("file", b"all there is to know\n");
    let at = ["--transport", forwarder.uri(Way::Unix)];
    let server = Running::start(&[&["serve", "/stdout", &file][..], &at].concat());
    server.out_line("serving ");
    let Ended { code, out, err } = tidegate(&[&["fetch", "/stdout"][..], &at].concat());
    assert_eq!((code, out.as_str()), (Some(0), "all there is to know\n"));
    assert!(err.contains("All segments have been received."), "{err}");
}

#[test]
fn an_interrupted_fetch_keeps_what_came_and_says_so() {
    let scratch = Scratch::new("interrupt");
    let forwarder = Forwarder::start("interrupt", "");
    let copy = format!("{}/copy", scratch.path());
    // A version that nobody serves: the fetch waits for its first segment until it is told to stop.
    let fetch = ["fetch", "/nobody/v=1", "-o", &copy, "--transport", forwarder.uri(Way::Unix)];
    let fetch = Running::start(&fetch);
    let part = format!("{copy}.part");
    while !fs::exists(&part).expect("readable") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let told = fetch.stop().with(130).err;
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
        (&["fetch", "/f", "--lifetime", "999us"], 2, "\"999us\" is less than 1ms"),
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

#[test]
fn a_name_that_ends_with_a_version_is_refused_for_serving_with_the_way_out() {
    let ended = tidegate(&["serve", "/x/v=5", "README.md", "--transport", "unix:///nobody"]).with(2);
    assert!(ended.err.contains("/x/v=5") && ended.err.contains("--version"), "{}", ended.err);
}

#[test]
fn a_file_without_end_is_found_too_long() {
    for command in ["check", "forward"] {
        let ended = tidegate(&[command, "/dev/zero"]).with(1);
        assert!(ended.err.contains("at most"), "{}", ended.err);
    }
}

#[test]
fn a_reader_that_has_enough_ends_a_fetch_without_a_word() {
    let scratch = Scratch::new("head");
    let forwarder = Forwarder::start("head", "");
    let file = scratch.file("file", &content(2_000_000));
    let at = ["--transport", forwarder.uri(Way::Unix)];
    let server = Running::start(&[&["serve", "/head", &file][..], &at].concat());
    server.out_line("serving ");
    let mut command = super::program::program();
    command.args(["fetch", "/head", "--quiet"]).args(at);
    let (fetch, mut out) = Running::with_output(&mut command);
    let mut first = [0; 10];
    std::io::Read::read_exact(&mut out, &mut first).expect("content");
    drop(out);
    let ended = fetch.wait().with(141);
    assert_eq!(ended.err, "");
}

#[test]
fn a_producer_that_is_silent_is_named_after_five_seconds() {
    let forwarder = Forwarder::start("silent", "");
    let scratch = Scratch::new("silent");
    let (copy, at) = (scratch.at("copy"), ["--transport", forwarder.uri(Way::Unix)]);
    let fetch = Running::start(&[&["fetch", "/nobody/v=1", "-o", &copy][..], &at].concat());
    let line = fetch.err_line("no Data for 5 s from /nobody/v=1; ");
    assert!(line.contains("its producer may be gone"), "{line}");
    fetch.stop().with(130);
    // Nobody answers when asked for a version either.
    let ended = tidegate(&[&["fetch", "/nobody", "-o", &copy][..], &at].concat()).with(1);
    assert!(ended.err.starts_with("error: /nobody: "), "{}", ended.err);
}
