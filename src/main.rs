//! The program `tidegate` with the schemes it comes with.

use std::process::ExitCode;

fn main() -> ExitCode {
    tidegate::main_with(&[])
}
