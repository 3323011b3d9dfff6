//! What forwarders, applications and people write: commands, answers, status, names, URIs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::management::check(data));
