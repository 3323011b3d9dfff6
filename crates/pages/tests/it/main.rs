//! Claims about the crate as its users see it.
#![allow(missing_docs, reason = "tests are not read as documentation")]

mod exports;
mod figures;
mod invented;
mod pages;
mod papers;
mod readback;
mod tables;
