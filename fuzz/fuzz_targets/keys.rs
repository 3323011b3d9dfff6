//! Files of keys.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::keys::check(data));
