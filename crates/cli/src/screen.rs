//! Properties of the screens that the program writes to: width, and whether colour is enabled.
//!
//! `COLUMNS` takes precedence over the terminal, and also gives a width to a pipe, which has none otherwise.
//! Colour follows the usual variables (`NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`, `TERM`), as `anstream` reads
//! them.

use std::io::{IsTerminal, Stderr, Stdout, stderr, stdout};

use anstream::{AutoStream, ColorChoice};
use terminal_size::{Width, terminal_size_of};
use tidegate_results::text::Screen;

/// Minimum width of a screen, characters.
const NARROWEST: usize = 20;

/// Properties of standard output.
pub(crate) fn of_output() -> Screen {
    let out: Stdout = stdout();
    let is_styled = AutoStream::choice(&out) != ColorChoice::Never;
    Screen { width: width(out.is_terminal().then(|| terminal_size_of(&out)).flatten()), is_styled }
}

/// Properties of standard error.
pub(crate) fn of_errors() -> Screen {
    let err: Stderr = stderr();
    let is_styled = AutoStream::choice(&err) != ColorChoice::Never;
    Screen { width: width(err.is_terminal().then(|| terminal_size_of(&err)).flatten()), is_styled }
}

fn width(of_terminal: Option<(Width, terminal_size::Height)>) -> Option<usize> {
    let of_terminal = of_terminal.map(|(Width(columns), _)| usize::from(columns)).filter(|width| *width > 0);
    let requested = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    requested.filter(|columns: &usize| *columns > 0).or(of_terminal).map(|width| width.max(NARROWEST))
}

/// Formats `message` for standard error: the first word in colour, long lines folded. Lines that begin with a
/// space show a place in a file and are not folded.
pub(crate) fn message(message: &str, screen: Screen) -> String {
    let line = |line: &str| {
        if line.starts_with(' ') {
            return line.to_owned();
        }
        match line.split_once(": ") {
            Some(("error", rest)) => screen.fold(&format!("{}: {rest}", screen.red("error"))),
            Some((word @ ("warning" | "note"), rest)) => {
                screen.fold(&format!("{}: {rest}", screen.yellow(word)))
            }
            _ => screen.fold(line),
        }
    };
    message.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
