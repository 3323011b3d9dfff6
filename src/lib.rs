//! The program `tidegate` as a library, so that schemes can live outside this repository:
//!
//! ```no_run
//! # use tidegate::prelude::Scheme;
//! # static MY_SCHEME: Scheme = Scheme::NONE;
//! fn main() -> std::process::ExitCode {
//!     tidegate::main_with(&[&MY_SCHEME])
//! }
//! ```
#![forbid(unsafe_code)]

pub use tidegate_cli::{SEMANTICS, main_with};
pub use tidegate_core::prelude;
