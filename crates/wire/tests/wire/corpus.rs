//! The inputs that the fuzz targets begin with, and those that once were hard.

use std::path::Path;

use hostile::packets;

fn replay(target: &str, check: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(&corpus).expect("the corpus is there");
    let mut files: Vec<_> = files.map(|file| file.expect("readable").path()).collect();
    files.sort();
    assert!(files.len() >= 8, "{} files", files.len());
    for file in files {
        println!("{}", file.display());
        check(&std::fs::read(&file).expect("readable"));
    }
}

#[test]
fn packets_that_once_were_hard_are_passed_on_soundly() {
    replay("packet", packets::packet);
}

#[test]
fn fragments_that_once_were_hard_are_put_together_soundly() {
    replay("reassembly", packets::reassembly);
}

#[test]
fn bytes_that_once_were_hard_are_looked_at_soundly() {
    replay("views", packets::views);
}
