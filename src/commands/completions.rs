//! `tidegate completions`: what a shell needs to complete the program's commands and options.

use clap_complete::Shell;
use tidegate_report::json::Json;

use crate::exit::{Exit, Outcome, print};
use crate::{Format, Session};

/// For which shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command(), "tidegate", &mut script);
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
