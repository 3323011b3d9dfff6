//! Files of a paper.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::papers::files(data));
