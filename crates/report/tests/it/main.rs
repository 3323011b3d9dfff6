//! Claims about the crate as its users see it.
#![allow(missing_docs, reason = "tests are not read as documentation")]

mod exports;
mod figures;
mod invented;
mod pages;
mod papers;
mod readback;
#[path = "../../../../tests/support/skipped.rs"]
mod skipped;
mod tables;
