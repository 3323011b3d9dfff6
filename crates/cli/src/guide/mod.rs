//! Texts of `--help`, the manual pages and the book about a command, in addition to its options.
//!
//! Every command has an entry in `pages.txt`; its examples work in the root of the repository.

use std::sync::LazyLock;

use clap::Command;

use crate::exit::Exit;

/// Help texts of one command.
#[derive(Debug, Default)]
pub(crate) struct Guide {
    /// The command's words after the program's name, as typed; empty for the program itself.
    pub(crate) command: &'static str,
    /// Examples: the description, then the command line.
    pub(crate) examples: Vec<(&'static str, &'static str)>,
    /// Reason why the examples are not run by the tests of the book; `None` if they are.
    pub(crate) not_run: Option<&'static str>,
    /// Files that the command reads or writes, with descriptions.
    pub(crate) files: Vec<(&'static str, &'static str)>,
    /// Columns of the table that the command prints, with descriptions.
    pub(crate) columns: Vec<(&'static str, &'static str)>,
    /// Exit codes in addition to [`COMMON_EXITS`], with their meaning for this command.
    pub(crate) exits: Vec<(Exit, &'static str)>,
}

/// All entries, in the order of the file.
static GUIDES: LazyLock<Vec<Guide>> = LazyLock::new(|| parse(include_str!("pages.txt")));

/// Reads entries. Each begins with `= COMMAND`; then `? DESCRIPTION` and `$ COMMAND LINE` are an example,
/// `@ FILE | DESCRIPTION` a file, `% COLUMN | DESCRIPTION` a column, `! REASON` the reason why examples are not run, `CODE MEANING` an exit code.
/// Commands after a line `# Linux only` exist there only.
fn parse(text: &'static str) -> Vec<Guide> {
    let mut guides: Vec<Guide> = Vec::new();
    for line in text.lines().take_while(|line| cfg!(target_os = "linux") || !line.starts_with('#')) {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        if kind == "=" {
            guides.push(Guide { command: rest, ..Guide::default() });
        }
        let Some(guide) = guides.last_mut() else { continue };
        let example = guide.examples.last_mut();
        match (kind, example) {
            ("?", _) => guide.examples.push((rest, "")),
            ("$", Some(example)) => example.1 = rest,
            ("@", _) => guide.files.extend(rest.split_once(" | ")),
            ("%", _) => guide.columns.extend(rest.split_once(" | ")),
            ("!", _) => guide.not_run = Some(rest),
            (code, _) => {
                let exit = Exit::ALL.into_iter().find(|exit| code.parse() == Ok(*exit as u8));
                guide.exits.extend(exit.map(|exit| (exit, rest)));
            }
        }
    }
    guides
}

/// Names of the commands, without subcommands.
pub(crate) fn command_names() -> Vec<&'static str> {
    let words = GUIDES.iter().map(|guide| guide.command);
    words.filter(|words| !words.is_empty() && !words.contains(' ')).collect()
}

/// Exit codes that every command has.
pub(crate) const COMMON_EXITS: [(Exit, &str); 3] = [
    (Exit::Ok, "done"),
    (Exit::Error, "failure; the reason is on standard error"),
    (Exit::Usage, "invalid command line"),
];

impl Guide {
    /// The entry of the command with these words.
    pub(crate) fn find(command: &str) -> Option<&'static Self> {
        GUIDES.iter().find(|guide| guide.command == command)
    }

    /// All exit codes, each with its meaning, in order.
    pub(crate) fn all_exits(&self) -> impl Iterator<Item = (Exit, &'static str)> {
        COMMON_EXITS.into_iter().chain(self.exits.iter().copied())
    }

    /// Text after the options in `--help`.
    fn after_help(&self) -> String {
        let mut text = "Examples:".to_owned();
        for (what, line) in &self.examples {
            text.push_str(&format!("\n  # {what}\n  {line}"));
        }
        if !self.columns.is_empty() {
            text.push_str("\n\nColumns:");
            text.extend(self.columns.iter().map(|(head, what)| format!("\n  {head}: {what}")));
        }
        text
    }
}

/// Adds examples at the end of the help of `command` and of every command below it.
pub(crate) fn with_examples(command: Command) -> Command {
    with_examples_as("", command)
}

fn with_examples_as(words: &str, command: Command) -> Command {
    let command = match Guide::find(words) {
        Some(guide) => command.after_help(guide.after_help()),
        None => command,
    };
    command.mut_subcommands(|below| with_examples_as(&join(words, below.get_name()), below))
}

/// The words of the command `name` below that of `words`.
pub(crate) fn join(words: &str, name: &str) -> String {
    if words.is_empty() { name.to_owned() } else { format!("{words} {name}") }
}

/// Every command that is shown, with its words: the program itself first, then depth first.
pub(crate) fn walk(root: &Command) -> Vec<(String, &Command)> {
    let mut found = Vec::new();
    collect(String::new(), root, &mut found);
    found
}

fn collect<'a>(words: String, command: &'a Command, found: &mut Vec<(String, &'a Command)>) {
    // clap adds the command `help`, which has no entry of its own.
    let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    let below: Vec<(String, &Command)> = below.map(|below| (join(&words, below.get_name()), below)).collect();
    found.push((words, command));
    below.into_iter().for_each(|(words, command)| collect(words, command, found));
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_has_examples_that_begin_with_it() {
        let root = crate::Arguments::command();
        for (words, _) in walk(&root) {
            let guide =
                Guide::find(&words).unwrap_or_else(|| panic!("{words:?} has no entry in guide/pages.txt"));
            assert!(!guide.examples.is_empty(), "{words}: no examples");
            for (what, line) in &guide.examples {
                let is_own = line.contains(format!("tidegate {words}").trim_end());
                assert!(is_own && what.ends_with('.'), "{words}: {line} ({what})");
                // Help is wrapped at 100 columns where there is no terminal, and no example may be broken.
                assert!(line.len() <= 96, "{words}: {line} is too long");
            }
        }
    }

    #[test]
    fn every_entry_is_of_a_command_and_lists_its_codes_in_order() {
        let root = crate::Arguments::command();
        let commands: Vec<String> = walk(&root).into_iter().map(|(words, _)| words).collect();
        for guide in GUIDES.iter() {
            assert!(commands.iter().any(|words| words == guide.command), "{:?}", guide.command);
            let codes: Vec<u8> = guide.all_exits().map(|(exit, _)| exit as u8).collect();
            assert!(codes.is_sorted_by(|a, b| a < b), "{}: {codes:?}", guide.command);
            let is_listed = |(exit, _): &(Exit, _)| Exit::ALL.contains(exit);
            assert!(guide.all_exits().all(|exit| is_listed(&exit)), "{}: Exit::ALL lacks one", guide.command);
        }
    }
}
