//! The program `tidegate` with the schemes it comes with.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    tidegate::main_with(&[])
}
