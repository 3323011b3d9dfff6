//! Trust schemas.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::trust::check(data));
