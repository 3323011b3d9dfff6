//! What forwarders, applications and people write: commands, answers, status, names, URIs.
#![no_main]

#[path = "../../crates/live/tests/hostile/management.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::check(data));
