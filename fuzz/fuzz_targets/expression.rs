//! Expressions over the cells of experiments.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::papers::expressions(data));
