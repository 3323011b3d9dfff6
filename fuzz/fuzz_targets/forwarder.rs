//! A forwarder, its faces and time: steps one after the other.
#![no_main]

#[path = "../../crates/live/tests/hostile/forwarder.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check(data));
