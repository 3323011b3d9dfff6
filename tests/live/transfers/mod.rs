//! Files byte-equal through one and two forwarders, and what happens when someone leaves on the way.

mod directories;
mod endings;
mod getput;
mod matrix;
mod outputs;
mod rates;
mod reliability;
mod signatures;
mod trust;

use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use support::program::Scratch;
use support::running::{Running, patience};

/// Bytes that look random, the same every time.
struct Content {
    state: u64,
    left: u64,
}

impl Content {
    fn new(len: u64) -> Self {
        Self { state: 0x9E37_79B9_7F4A_7C15, left: len }
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.left.min(buffer.len() as u64) as usize;
        for byte in &mut buffer[..len] {
            self.state =
                self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.state >> 56) as u8;
        }
        self.left -= len as u64;
        Ok(len)
    }
}

/// A file of `len` bytes.
fn file_of(scratch: &Scratch, len: u64) -> String {
    let path = scratch.at("file");
    let mut file = File::create(&path).expect("the folder can be written");
    std::io::copy(&mut Content::new(len), &mut file).expect("the folder can be written");
    file.flush().expect("written");
    path
}

/// Reads `len` bytes and fails unless they are the next of `content`.
#[track_caller]
fn assert_next(content: &mut Content, from: &mut impl Read, len: u64) {
    let (mut expected, mut found) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut left = len;
    while left > 0 {
        let part = left.min(1 << 16) as usize;
        content.read_exact(&mut expected[..part]).expect("as many bytes");
        from.read_exact(&mut found[..part])
            .unwrap_or_else(|why| panic!("{why} before the last {left} bytes"));
        assert!(expected[..part] == found[..part], "differs within {part} bytes before the last {left}");
        left -= part as u64;
    }
}

/// Fails unless the file has exactly these first bytes of [`Content`]; how many they are.
#[track_caller]
fn assert_content(path: impl AsRef<Path>) -> u64 {
    let path = path.as_ref();
    let file = File::open(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let len = file.metadata().expect("it is open").len();
    assert_next(&mut Content::new(len), &mut BufReader::new(file), len);
    len
}

/// A server of `file`, once it serves.
fn serve(name: &str, file: &str, uri: &str) -> Running {
    let arguments = ["serve", name, file, "--version", "5", "--format", "json", "--transport", uri];
    let running = Running::start(&arguments);
    running.out_line("{\"name\":");
    running
}

/// Waits until a file has more than `len` bytes.
#[track_caller]
fn wait_for_bytes(path: &str, len: u64) {
    let until = Instant::now() + patience();
    while fs::metadata(path).map_or(0, |found| found.len()) <= len {
        assert!(Instant::now() < until, "{path} does not grow");
        thread::sleep(Duration::from_millis(5));
    }
}
