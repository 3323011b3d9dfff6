//! A byte stream in pieces.
#![no_main]

#[path = "../../crates/live/tests/hostile/stream.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check(data));
