//! `serve` and `fetch` through `forward`, as processes.

use std::fs;
use std::process::{Command, Stdio};

use super::{Ended, Scratch, tidegate};
use support::json::Value;
use support::running::{Forwarder, Running, Way};
use support::skipped::skipped;

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
    let reported = server.stop().with(0).out;
    assert!(reported.lines().last().is_some_and(|line| line.contains("700000 bytes")), "{reported}");
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
fn an_interrupted_fetch_keeps_what_came_and_reports_it() {
    let scratch = Scratch::new("interrupt");
    let forwarder = Forwarder::start("interrupt", "");
    let copy = format!("{}/copy", scratch.path());
    // A version that nobody serves: the fetch waits for its first segment until it is told to stop.
    let uri = forwarder.uri(Way::Unix);
    let fetch = ["fetch", "/nobody/v=1", "-o", &copy, "--wait", "120s", "--transport", uri];
    let fetch = Running::start(&fetch);
    let part = format!("{copy}.part");
    while !fs::exists(&part).expect("readable") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let reported = fetch.stop().with(130).err;
    assert!(
        reported.contains(&format!("/nobody/v=1: interrupted; the first 0 bytes are in {part}")),
        "{reported}"
    );
    assert!(!fs::exists(&copy).expect("readable"));
}

#[test]
fn a_fetch_accepts_earlier_names_of_parameters_with_a_note() {
    let fetch = ["fetch", "/f", "--transport", "unix:///no/sock", "--set"];
    let err = tidegate(&[&fetch[..], &["least_margin=1s"]].concat()).with(1).err;
    assert!(
        err.starts_with("note: --set: parameter \"least_margin\" was renamed \"min_margin\" in 0.2.0\n"),
        "{err}"
    );
    let err = tidegate(&["fetch", "/f", "--transport", "unix:///no/sock", "--shell", "own"]).with(1).err;
    assert!(err.starts_with("note: option \"--shell\" was renamed \"--profile\" in 0.2.0\n"), "{err}");
    let both = ["least_margin=1s", "--set", "min_margin=1s"];
    let err = tidegate(&[&fetch[..], &both].concat()).with(2).err;
    assert!(
        err.starts_with("error: --set: \"least_margin\" was renamed \"min_margin\" in 0.2.0; both are given"),
        "{err}"
    );
}

#[test]
fn what_is_wrong_with_a_fetch_is_said_with_what_would_be_right() {
    for (arguments, code, stated) in [
        (&["fetch", "file"][..], 2, "error: name \"file\" does not start with \"/\""),
        (
            &["fetch", "/f", "--scheme", "codel"],
            2,
            "error: scheme \"codel\" is not a consumer scheme; its roles: discipline; consumer schemes: ",
        ),
        (&["fetch", "/f", "--scheme", "x"], 2, "error: consumer scheme \"x\" is not known; known: "),
        (&["fetch", "/f", "--scheme", "icp", "--set", "betta=1"], 2, "; did you mean \"beta\"?"),
        (&["fetch", "/f", "--scheme", "fixed", "--set", "x=1"], 2, "error: --set: unknown parameter \"x\""),
        (&["fetch", "/f", "--profile", "x"], 2, "error: profile \"x\" is not known; known: ndnsim, "),
        (&["fetch", "/f", "--lifetime", "999us"], 2, "\"999us\" is less than 1ms"),
        (&["fetch", "/f", "--transport", "x"], 2, "error: --transport: face URI \"x\": "),
        (&["fetch", "/f", "--transport", "unix:///no/sock"], 1, "error: cannot connect to unix:///no/sock "),
        (&["put", "/a/seg=0", "README.md"], 2, "error: /a/seg=0: the name ends with the number of a segment"),
        (&["serve", "/", "README.md"], 2, "error: content cannot be published as \"/\""),
        (&["serve", "/f", "README.md", "--segment-size", "0"], 2, "error: --segment-size: 0 is not within"),
        (&["serve", "/f", "README.md", "--key", "x"], 2, "--key-locator"),
    ] {
        let ended = tidegate(arguments).with(code);
        assert!(ended.err.contains(stated), "{arguments:?}: {}", ended.err);
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
        assert!(ended.err.contains("longer than"), "{}", ended.err);
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
    let mut command = support::program::program();
    command.args(["fetch", "/head"]).args(at);
    let (fetch, mut out) = Running::with_output(&mut command);
    let mut first = [0; 10];
    std::io::Read::read_exact(&mut out, &mut first).expect("content");
    drop(out);
    let ended = fetch.wait().with(141);
    assert_eq!(ended.err, "");
}

#[test]
fn a_server_whose_file_changes_ends_with_an_error() {
    let scratch = Scratch::new("changed");
    let forwarder = Forwarder::start("changed", "");
    let file = scratch.file("file", &content(20_000));
    let at = ["--transport", forwarder.uri(Way::Unix)];
    let server = Running::start(&[&["serve", "/changed", &file, "--format", "json"][..], &at].concat());
    server.out_line("{");
    scratch.file("file", b"shorter");
    // It looks at the file when it is asked for something.
    let fetch = Running::start(&[&["fetch", "/changed", "-o", &scratch.at("copy")][..], &at].concat());
    let ended = server.wait().with(1);
    let stated = Value::parse(ended.err.trim()).expect("JSON");
    assert!(stated.get("error").text().contains("serving has stopped"), "{}", ended.err);
    fetch.stop();
}

#[test]
fn a_producer_that_is_silent_is_named_within_five_seconds() {
    let forwarder = Forwarder::start("silent", "");
    let scratch = Scratch::new("silent");
    let (copy, at) = (scratch.at("copy"), ["--transport", forwarder.uri(Way::Unix)]);
    let fetch = ["fetch", "/nobody/v=1", "-o", &copy, "--wait", "120s"];
    let fetch = Running::start(&[&fetch[..], &at].concat());
    let line = fetch.err_line("warning: no Data for 4 s from /nobody/v=1; ");
    assert!(line.contains("its producer may be unreachable"), "{line}");
    fetch.stop().with(130);
    // Nobody answers when asked for a version either.
    let ended = tidegate(&[&["fetch", "/nobody", "-o", &copy][..], &at].concat()).with(1);
    assert!(ended.err.starts_with("error: /nobody: "), "{}", ended.err);
}

#[test]
fn content_goes_to_a_terminal_only_when_that_is_requested() {
    let forwarder = Forwarder::start("terminal", "");
    let scratch = Scratch::new("terminal");
    let file = scratch.file("file", b"content\n");
    let at = forwarder.uri(Way::Unix);
    let server = Running::start(&["serve", "/terminal", &file, "--transport", at]);
    server.out_line("serving ");
    // `script` of util-linux gives the program a terminal.
    let on_terminal = |more: &str| {
        let program = support::program::program().get_program().to_string_lossy().into_owned();
        let command = format!("'{program}' fetch /terminal --quiet --transport '{at}'{more}");
        Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output()
    };
    let Ok(refused) = on_terminal("") else {
        return skipped("content on a terminal", "script (util-linux) is not installed");
    };
    let text = String::from_utf8_lossy(&refused.stdout);
    assert!(text.contains("standard output is a terminal") && text.contains("-o - "), "{text}");
    assert_eq!(refused.status.code(), Some(2));
    let written = on_terminal(" -o -").expect("it was there before");
    assert!(String::from_utf8_lossy(&written.stdout).contains("content\r\n"), "{written:?}");
    assert_eq!(written.status.code(), Some(0));
}

#[test]
fn the_page_and_the_summary_of_a_fetch_name_the_default_and_repeat_the_command() {
    let forwarder = Forwarder::start("repeat", "");
    let scratch = Scratch::new("repeat");
    let file = scratch.file("file", &content(100_000));
    let at = forwarder.uri(Way::Unix);
    let server = Running::start(&["serve", "/repeat", &file, "--transport", at]);
    server.out_line("serving ");
    let (copy, page) = (scratch.at("copy"), scratch.at("page.html"));
    let fetch = ["fetch", "/repeat", "-o", &copy, "--set", "quanta=2", "--report", &page, "--transport", at];
    let shown = tidegate(&fetch).with(0).out;
    assert!(shown.contains("Scheme: default (bbr with ") && shown.contains("quanta=2"), "{shown}");
    let html = std::fs::read_to_string(&page).expect("a page");
    let version = shown.lines().find_map(|line| line.strip_prefix("Name: ")).expect("a name");
    let repeat =
        format!("tidegate fetch {version} --out {copy} --set quanta=2 --report {page} --transport {at}");
    assert!(html.contains(&repeat), "{repeat}");
    assert!(!html.contains("The same scenario and seed"), "a live run is not repeated exactly");
    let named = tidegate(
        &[
            &["fetch", "/repeat", "-o", &copy, "--format", "json", "--scheme", "fixed"][..],
            &["--transport", at],
        ]
        .concat(),
    );
    let named = named.with(0).json();
    assert_eq!(*named.get("is_default_scheme"), Value::Bool(false));
    assert_eq!(named.get("parameters").list().len(), 0);
}

#[test]
fn a_part_that_no_fetch_has_left_in_order_is_named_before_it_is_written_over() {
    let forwarder = Forwarder::start("left-over", "");
    let scratch = Scratch::new("left-over");
    let file = scratch.file("file", b"content");
    let at = forwarder.uri(Way::Unix);
    let server = Running::start(&["serve", "/left-over", &file, "--transport", at]);
    server.out_line("serving ");
    let copy = scratch.at("copy");
    std::fs::write(format!("{copy}.part"), "unknown").expect("writable");
    let fetch = |copy: &str| {
        tidegate(&["fetch", "/left-over", "-o", copy, "--format", "json", "--transport", at]).with(0).err
    };
    let noted = Value::parse(fetch(&copy).trim()).expect("JSON");
    let text = noted.get("note").text().to_owned();
    assert!(
        text.contains("copy.part has 7 bytes and no ") && text.ends_with("fetching from the start"),
        "{text}"
    );
    assert_eq!(fetch(&scratch.at("other")), "");
}

#[test]
fn two_fetches_into_one_file_do_not_mix() {
    let forwarder = Forwarder::start("two", "");
    let scratch = Scratch::new("two");
    let copy = scratch.at("copy");
    let at = ["--transport", forwarder.uri(Way::Unix)];
    let arguments = [&["fetch", "/nobody/v=1", "-o", &copy, "--wait", "120s"][..], &at].concat();
    let first = Running::start(&arguments);
    first.err_line("warning: no Data for 4 s");
    let second = tidegate(&arguments).with(1);
    assert!(second.err.contains("copy.part: another fetch is writing it"), "{}", second.err);
    first.stop().with(130);
}
