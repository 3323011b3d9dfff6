//! A byte stream in pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::stream::check(data));
