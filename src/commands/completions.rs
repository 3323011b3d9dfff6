//! `tidegate completions`: what a shell needs to complete the program's commands, options and values.

use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
#[cfg(target_os = "linux")]
use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::scheme::Scheme;
use tidegate_report::figure::run::RUN_FIGURES;
use tidegate_report::json::Json;
use tidegate_report::measures::RUN_MEASURES;
use tidegate_sim::scenario::import;

use super::{bench, docs, reproduce};
use crate::exit::{Exit, Outcome, print};
use crate::{Format, Session, guide};

/// For which shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// A command, one of its arguments, and the values that it takes, as far as the program knows them.
type Values = (&'static str, &'static str, fn(&Session) -> Vec<&'static str>);

/// Arguments whose parsers do not list their values: schemes are known only to the session, and errors of other
/// parsers say more than a list.
const VALUES: &[Values] = &[
    ("bench", "cases", |_| bench::case_names()),
    ("compare", "measures", |_| RUN_MEASURES.iter().map(|measure| measure.name).collect()),
    ("compare", "consumers", |session| {
        names(session, |scheme| scheme.consumer.is_some() || scheme.sender.is_some())
    }),
    ("compare", "schemes", |session| names(session, |_| true)),
    ("docs", "page", |_| docs::page_names()),
    ("figure", "name", |_| RUN_FIGURES.iter().map(|figure| figure.name).collect()),
    ("import", "from", |_| import::Format::ALL.iter().map(|(_, name)| *name).collect()),
    ("man", "command", |_| guide::command_names()),
    ("new", "scheme", consumers),
    ("reproduce", "paper", |_| reproduce::paper_names()),
    ("schemes", "name", |session| names(session, |_| true)),
    #[cfg(target_os = "linux")]
    ("fetch", "scheme", consumers),
    #[cfg(target_os = "linux")]
    ("fetch", "shell", |_| ShellKind::ALL.iter().map(|(_, name)| *name).collect()),
];

fn consumers(session: &Session) -> Vec<&'static str> {
    names(session, |scheme| scheme.consumer.is_some())
}

fn names(session: &Session, fits: fn(&Scheme) -> bool) -> Vec<&'static str> {
    session.schemes.iter().filter(|scheme| fits(scheme)).map(|scheme| scheme.name).collect()
}

pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let mut command = crate::command();
    for (words, argument, values) in VALUES {
        let parser = PossibleValuesParser::new(values(session));
        command = command.mut_subcommand(words, |command| {
            command.mut_arg(argument, |argument| argument.value_parser(parser))
        });
    }
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "tidegate", &mut script);
    let script = String::from_utf8_lossy(&script);
    print(&match session.format {
        Format::Text => script.into_owned(),
        Format::Json => {
            let entries = vec![("shell", Json::text(arguments.shell)), ("script", Json::text(script))];
            Json::Object(entries).to_string() + "\n"
        }
    });
    Ok(Exit::Ok)
}
