//! Every command with its options, examples, files and exit codes.

use clap::{Arg, Command};

use super::row;
use crate::Session;
use crate::guide::{self, Guide};

/// Renders the reference of all commands as Markdown.
pub(super) fn body(_: &Session) -> String {
    let mut root = crate::command().disable_help_subcommand(true);
    root.build();
    let commands = guide::walk(&root);
    let mut text =
        "`--format json` makes every command print JSON: one document, or one line for each report of those \
         that run until they are stopped. Errors go to standard error: as text or, with `--format json`, as a \
         JSON object, `{\"error\": MESSAGE, \"exit_code\": CODE}`. Help (`tidegate help COMMAND`, `--help`) and \
         `--version` are always text; `tidegate docs --format json` has the reference of all commands as JSON.\n\n"
            .to_owned();
    text.push_str("| command | what it does |\n|---|---|\n");
    for (words, command) in commands.iter().skip(1) {
        text.push_str(&row(&[&format!("[`{words}`](#{})", anchor(words)), &about(command)]));
    }
    text.push_str("\nOptions of every command:\n\n");
    text.push_str(&options(&root, |_| true));
    // clap repeats global options at every command; the page lists them once.
    let is_global = |arg: &Arg| root.get_arguments().any(|global| global.get_id() == arg.get_id());
    for (words, command) in commands.iter().skip(1) {
        text.push_str(&section(words, command, |arg| !is_global(arg)));
    }
    text
}

fn anchor(words: &str) -> String {
    format!("command-{}", words.replace(' ', "-"))
}

fn about(command: &Command) -> String {
    command.get_about().map_or_else(String::new, ToString::to_string)
}

fn section(words: &str, command: &Command, is_own: impl Fn(&Arg) -> bool) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let mut text = format!(
        "\n<a id=\"{}\"></a>\n\n## `tidegate {words}`\n\n{}.\n\n```text\n{usage}\n```\n\n",
        anchor(words),
        about(command)
    );
    text.push_str(&options(command, is_own));
    if let Some(guide) = Guide::find(words) {
        text.push_str(&stated(guide));
    }
    text
}

/// A table of the arguments that `is_shown`.
fn options(command: &Command, is_shown: impl Fn(&Arg) -> bool) -> String {
    let is_listed = |arg: &&Arg| {
        !arg.is_hide_set() && arg.get_id() != "help" && arg.get_id() != "version" && is_shown(arg)
    };
    let rows: String = command.get_arguments().filter(is_listed).map(option).collect();
    if rows.is_empty() { rows } else { format!("| option | default | meaning |\n|---|---|---|\n{rows}") }
}

fn option(arg: &Arg) -> String {
    let names = arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
    let value = names.filter(|_| arg.get_action().takes_values()).map(|names| names.join(" "));
    let name = match (arg.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, value) => value.unwrap_or_else(|| arg.get_id().to_string()),
    };
    let short = arg.get_short().map_or_else(String::new, |short| format!("`-{short}`, "));
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    // clap gives a flag the default `false` and the values `true` and `false`.
    let defaults = if arg.get_action().takes_values() { defaults.join(", ") } else { String::new() };
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let mut meaning = help.map_or_else(String::new, ToString::to_string);
    if !meaning.ends_with('.') {
        meaning.push('.');
    }
    let values: Vec<String> =
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if !values.is_empty() && arg.get_action().takes_values() {
        meaning.push_str(&format!(" One of {}.", values.join(", ")));
    }
    row(&[&format!("{short}`{name}`"), &defaults, &meaning.replace('\n', " ")])
}

/// Examples, columns, files and exit codes.
fn stated(guide: &Guide) -> String {
    let mut text = guide.not_run.map_or_else(String::new, |why| format!("\n<!-- not run: {why} -->"));
    text.push_str("\n```sh\n");
    text.extend(guide.examples.iter().map(|(what, line)| format!("# {what}\n{line}\n")));
    text.push_str("```\n");
    if !guide.columns.is_empty() {
        text.push_str("\n| column | meaning |\n|---|---|\n");
        text.extend(guide.columns.iter().map(|(head, what)| row(&[head, what])));
    }
    if !guide.files.is_empty() {
        text.push_str("\n| file | what it is |\n|---|---|\n");
        text.extend(guide.files.iter().map(|(file, what)| row(&[&format!("`{file}`"), what])));
    }
    text.push_str("\n| exit code | when |\n|---|---|\n");
    text.extend(guide.all_exits().map(|(exit, when)| row(&[&(exit as u8).to_string(), when])));
    text
}
