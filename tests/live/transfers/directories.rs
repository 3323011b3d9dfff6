//! A directory and a file from one server, and the cache of what was signed.

use std::fs;

use super::{assert_content, file_of};
use crate::number;
use support::program::{Ended, Scratch};
use support::running::{Forwarder, Running, Way};

const LEN: u64 = 40_000;

#[test]
fn a_directory_and_a_file_are_served_by_one_process_and_signed_once() {
    let scratch = Scratch::new("directories");
    // Without a content store all Interests come to the server.
    let forwarder = Forwarder::start("directories", "[forwarder]\ncache = \"0pkt\"\n");
    let (file, copy, uri) = (file_of(&scratch, LEN), scratch.at("copy"), forwarder.uri(Way::Unix));
    let directory = scratch.at("directory");
    fs::create_dir_all(format!("{directory}/sub")).expect("writable");
    fs::copy(&file, format!("{directory}/sub/part.bin")).expect("writable");
    fs::write(format!("{directory}/a file"), "with a space").expect("writable");
    let serve = ["serve", "/one/file", &file, "/all", &directory, "--transport", uri];
    let server = Running::start(&serve);
    server.out_line("serving the directory ");
    let fetch = |name: &str, copy: &str| -> Ended {
        Running::start(&["fetch", name, "-o", copy, "--transport", uri]).wait()
    };
    for name in ["/one/file", "/all/sub/part.bin", "/one/file"] {
        fetch(name, &copy).with(0);
        assert_eq!(assert_content(copy.clone()), LEN, "{name}");
    }
    for (name, content) in
        [("/all", "a file\0sub/\0"), ("/all/sub/32=ls", "part.bin\0"), ("/all/a%20file", "with a space")]
    {
        fetch(name, &copy).with(0);
        assert_eq!(fs::read_to_string(&copy).expect("fetched"), content, "{name}");
    }
    let missing = fetch("/all/none", &copy).with(1);
    assert!(missing.err.contains("no Data for the Interest for the version"), "{}", missing.err);
    // Two fetches of 34 segments and the metadata.
    let status = forwarder.status();
    let flow = status.get("flows").list().iter().find(|flow| flow.get("prefix").text() == "/one/file");
    let flow = flow.expect("it was counted");
    let [interests, data, bytes] = ["interests", "data", "bytes"].map(|key| number(flow, key));
    assert!(interests >= data && data == 70.0 && bytes > 80_000.0, "{flow:?}");
    let ended = server.stop().with(0);
    // 34 segments of each file of 40,000 bytes.
    assert!(ended.out.contains(": 105 segments (34 signed before) with 120033 bytes"), "{}", ended.out);
}

#[test]
fn a_file_that_was_replaced_or_moved_away_is_not_served_any_more() {
    let scratch = Scratch::new("replaced");
    let forwarder = Forwarder::start("replaced", "[forwarder]\ncache = \"0pkt\"\n");
    let (directory, copy, uri) = (scratch.at("directory"), scratch.at("copy"), forwarder.uri(Way::Unix));
    fs::create_dir_all(&directory).expect("writable");
    let file = format!("{directory}/file");
    fs::write(&file, "earlier").expect("writable");
    let server = Running::start(&["serve", "/d", &directory, "--transport", uri]);
    server.out_line("serving the directory ");
    let fetch = || Running::start(&["fetch", "/d/file", "-o", &copy, "--transport", uri]).wait();
    fetch().with(0);
    fs::rename(&file, scratch.at("away")).expect("writable");
    fs::write(&file, "present").expect("writable");
    fetch().with(0);
    assert_eq!(fs::read_to_string(&copy).expect("fetched"), "present");
    fs::rename(&file, scratch.at("away")).expect("writable");
    fetch().with(1);
    server.stop().with(0);
}

#[test]
fn a_path_without_a_name_and_a_version_of_a_directory_are_refused() {
    let scratch = Scratch::new("pairs");
    let odd = Running::start(&["serve", "/a", "README.md", "/b"]).wait().with(2);
    assert!(odd.err.contains("/b: a PATH is missing"), "{}", odd.err);
    let version = Running::start(&["serve", "/a", scratch.path(), "--version", "3"]).wait().with(2);
    assert!(version.err.contains("--version: only a single file"), "{}", version.err);
}
