//! A forwarder, its faces and time: steps one after the other.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::forwarder::check(data));
