//! Paths that a fetch writes, prepared by somebody else.

use std::fs;
use std::os::unix::fs::symlink;

use super::{assert_content, file_of, serve};
use support::program::Scratch;
use support::running::{Forwarder, Running, Way};

const LEN: u64 = 40_000;

#[test]
fn a_fetch_writes_through_no_link_at_its_part_or_state() {
    let scratch = Scratch::new("outputs");
    let forwarder = Forwarder::start("outputs", "");
    let (file, copy, uri) = (file_of(&scratch, LEN), scratch.at("copy"), forwarder.uri(Way::Unix));
    let _server = serve("/outputs", &file, uri);
    let victim = scratch.file("victim", b"precious");
    let (part, state) = (format!("{copy}.part"), format!("{copy}.part.state"));
    let fetch = || Running::start(&["fetch", "/outputs", "-o", &copy, "--transport", uri]).wait();
    symlink(&victim, &part).expect("made");
    let refused = fetch().with(1);
    assert!(refused.err.contains("it is a symbolic link, which is not followed"), "{}", refused.err);
    assert_eq!(fs::read(&victim).expect("there"), b"precious");
    fs::remove_file(&part).expect("there");
    // A state that is a link is none, and is removed itself.
    symlink(&victim, &state).expect("made");
    fetch().with(0);
    assert_eq!(assert_content(copy.clone()), LEN);
    assert_eq!(fs::read(&victim).expect("there"), b"precious");
    // A link in place of the output is replaced, and what it leads to stays.
    fs::remove_file(&copy).expect("there");
    symlink(&victim, &copy).expect("made");
    fetch().with(0);
    assert_eq!(assert_content(copy.clone()), LEN);
    assert!(!fs::symlink_metadata(&copy).expect("there").is_symlink());
    assert_eq!(fs::read(&victim).expect("there"), b"precious");
}
