//! Frames that go on over a narrow link.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::link_service::check(data));
