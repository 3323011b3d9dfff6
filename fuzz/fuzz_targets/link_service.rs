//! Frames that go on over a narrow link.
#![no_main]

#[path = "../../crates/live/tests/hostile/link_service.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check(data));
