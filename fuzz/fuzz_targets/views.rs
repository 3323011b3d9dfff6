//! Packets, metadata and keys, looked at.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::packets::views(data));
