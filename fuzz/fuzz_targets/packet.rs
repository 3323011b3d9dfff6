//! A frame from the network, passed on.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::packets::packet(data));
