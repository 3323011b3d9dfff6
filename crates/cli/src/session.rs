//! Output format and state that every command receives.

use std::path::PathBuf;

use serde_json::{Value, json};
use tidegate_core::scheme::Scheme;
use tidegate_results::text::Screen;

use crate::exit::print;
use crate::screen;

/// Output format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Tables and text for people.
    Text,
    /// One JSON document; a command that runs until interrupted prints one line for each report.
    Json,
}

/// State that every command receives.
#[derive(Debug)]
pub(crate) struct Session {
    /// Output format of results.
    pub(crate) format: Format,
    /// Format of messages on standard error: that of the log if the command has one.
    pub(crate) messages: Format,
    /// Whether `--quiet` is given.
    pub(crate) quiet: bool,
    /// Properties of standard output.
    pub(crate) screen: Screen,
    /// Schemes of the catalogue and of the program around it.
    pub(crate) schemes: Vec<&'static Scheme>,
}

impl Session {
    /// Prints a result: the text, or the JSON document on one line.
    pub(crate) fn print(&self, text: impl FnOnce() -> String, document: impl FnOnce() -> Value) {
        print(&match self.format {
            Format::Text => text(),
            Format::Json => document().to_string() + "\n",
        });
    }

    /// Prints the files that a command has written, one on a line or as the list `files`.
    pub(crate) fn print_files(&self, files: &[PathBuf]) {
        let names = || files.iter().map(|file| file.display().to_string());
        let document = || json!({ "files": names().collect::<Vec<_>>() });
        self.print(|| names().map(|name| name + "\n").collect(), document);
    }

    /// Prints results, as text with lines that fit the screen, unchanged as JSON.
    pub(crate) fn show(&self, text: &str) {
        print(&self.screen.fold(text));
    }

    /// Prints information to standard error, unless `--quiet` is given.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.comment("note", text);
        }
    }

    /// Prints a warning to standard error, unless `--quiet` is given.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            self.comment("warning", text);
        }
    }

    /// Prints the start of a long-running activity to standard error, unless `--quiet` is given.
    pub(crate) fn begun(&self, text: &str) {
        match self.messages {
            Format::Text if !self.quiet => complain(text),
            Format::Text => {}
            Format::Json => self.note(text),
        }
    }

    /// Prints a message as text, or as a JSON object on one line.
    fn comment(&self, kind: &'static str, text: &str) {
        match self.messages {
            Format::Text => complain(&format!("{kind}: {text}")),
            Format::Json => complain(&json!({ kind: text }).to_string()),
        }
    }
}

/// Prints to standard error; a closed standard error is ignored.
pub(crate) fn complain(message: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", screen::message(message, screen::of_errors()));
}
