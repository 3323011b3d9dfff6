//! What tests of the program and of several crates share.
#![forbid(unsafe_code)]

pub mod json;
pub mod program;
#[cfg(unix)]
pub mod running;
pub mod skipped;
