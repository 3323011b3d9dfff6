//! Whatever peers, files and people say: the inputs that the fuzz targets begin with, and those that once
//! were hard.

use std::path::Path;

use hostile::{forwarder, link_service, management, stream};

fn replay(target: &str, check: fn(&[u8])) {
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

#[test]
fn management_that_once_was_hard_is_read_soundly() {
    replay("management", management::check);
}

#[test]
fn streams_that_once_were_hard_are_cut_soundly() {
    replay("stream", stream::check);
}

#[test]
fn frames_that_once_were_hard_go_on_over_a_narrow_link() {
    replay("link_service", link_service::check);
}

#[test]
fn a_forwarder_keeps_its_books_through_whatever_once_was_hard() {
    replay("forwarder", forwarder::check);
}
