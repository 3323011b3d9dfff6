//! Frames one after the other, put together.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::packets::reassembly(data));
