//! `tidegate completions`: scripts with which shells complete the program's commands, options and values.

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use serde_json::json;
#[cfg(target_os = "linux")]
use tidegate_core::ndn::consumer::profile::ConsumerProfile;
use tidegate_core::scheme::Scheme;
use tidegate_pages::figure::run::RUN_FIGURES;
use tidegate_results::measures::RUN_MEASURES;
use tidegate_sim::scenario::import;

use super::{bench, docs, reproduce};
use crate::exit::{Exit, Outcome};
use crate::{Session, guide};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Shell for which the script is written.
    #[arg(value_enum)]
    shell: Shell,
}

/// A command, one of its arguments, and a function that lists the values of that argument.
type Values = (&'static str, &'static str, fn(&Session) -> Vec<&'static str>);

/// Arguments whose parsers do not list their values: schemes are known only to the session, and errors of other
/// parsers are more specific than a list.
const VALUES: &[Values] = &[
    ("bench", "cases", |_| bench::case_names()),
    ("bench", "schemes", |session| consumers(session).into_iter().chain(["default"]).collect()),
    ("compare", "measures", |_| RUN_MEASURES.iter().map(|measure| measure.name).collect()),
    ("compare", "consumers", |session| {
        names(session, |scheme| scheme.consumer.is_some() || scheme.sender.is_some())
    }),
    ("compare", "schemes", all),
    ("docs", "page", |_| docs::page_names()),
    ("figure", "name", |_| RUN_FIGURES.iter().map(|figure| figure.name).collect()),
    ("import", "from", |_| import::TopologyFormat::ALL.iter().map(|(_, name)| *name).collect()),
    ("man", "command", |_| guide::command_names()),
    ("new", "scheme", consumers),
    ("reproduce", "paper", |_| reproduce::paper_names()),
    ("schemes", "name", all),
    ("sweep gc", "schemes", all),
    ("sweep run", "schemes", all),
    ("sweep status", "schemes", all),
    ("sweep why", "schemes", all),
    #[cfg(target_os = "linux")]
    ("fetch", "scheme", consumers),
    #[cfg(target_os = "linux")]
    ("fetch", "profile", |_| ConsumerProfile::ALL.iter().map(|(_, name)| *name).collect()),
];

/// Options that take several values with commas between them.
const LISTS: [&str; 3] = ["schemes", "consumers", "measures"];

fn all(session: &Session) -> Vec<&'static str> {
    names(session, |_| true)
}

fn consumers(session: &Session) -> Vec<&'static str> {
    names(session, |scheme| scheme.consumer.is_some())
}

fn names(session: &Session, fits: fn(&Scheme) -> bool) -> Vec<&'static str> {
    session.schemes.iter().filter(|scheme| fits(scheme)).map(|scheme| scheme.name).collect()
}

/// Runs the command `tidegate completions`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let mut command = crate::command();
    for (words, argument, values) in VALUES {
        let words: Vec<&str> = words.split(' ').collect();
        command = with_values(command, &words, argument, &values(session));
    }
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "tidegate", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if arguments.shell == Shell::Bash {
        script = with_lists(&script);
    }
    session.print(|| script.clone(), || json!({ "shell": arguments.shell.to_string(), "script": script }));
    Ok(Exit::Ok)
}

/// `command` with the values of the `argument` of the command below it that `words` lead to.
fn with_values(command: Command, words: &[&str], argument: &str, values: &[&'static str]) -> Command {
    match words.split_first() {
        Some((first, rest)) => {
            command.mut_subcommand(*first, |command| with_values(command, rest, argument, values))
        }
        None => command.mut_arg(argument, |argument| {
            argument.value_parser(PossibleValuesParser::new(values.iter().copied()))
        }),
    }
}

/// The script of bash in which options that take lists complete what follows the last comma.
fn with_lists(script: &str) -> String {
    let one = "-- \"${cur}\"))";
    // `-P` puts the text up to the last comma in front of each proposal.
    let last = "-P \"${cur%\"${cur##*,}\"}\" -- \"${cur##*,}\"))";
    let mut is_list = false;
    let mut lines = Vec::new();
    for line in script.lines() {
        lines.push(if is_list { line.replace(one, last) } else { line.to_owned() });
        let option = line.trim().strip_prefix("--").and_then(|rest| rest.strip_suffix(')'));
        is_list = option.is_some_and(|option| LISTS.contains(&option));
    }
    lines.join("\n") + "\n"
}
