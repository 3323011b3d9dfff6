//! Packets, metadata and keys, looked at.
#![no_main]

#[allow(dead_code, reason = "each target calls one of the checks")]
#[path = "../../crates/wire/tests/wire/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::views(data));
