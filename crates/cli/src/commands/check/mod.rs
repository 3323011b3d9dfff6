//! `tidegate check`: everything that is wrong with a scenario, else what it will simulate, without running it.

mod description;
mod facts;
mod flow_path;
mod json;
mod lints;
mod rates;
mod seed_variation;
mod service_nodes;

use std::path::PathBuf;

use super::{Overrides, parse_plan};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::{Format, Session, file_errors};
pub(crate) use facts::Facts;

/// Arguments of the command `tidegate check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Scenario file in TOML format.
    scenario: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// Exit with code 3 if there is a warning.
    #[arg(long)]
    strict: bool,
}

/// Runs the command `tidegate check`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let read = parse_plan(session, &arguments.scenario, &arguments.overrides.set);
    let plan = match read.inspect_err(|failure| print_unread(session, arguments, failure))? {
        Ok(plan) => plan,
        Err(errors) if session.format == Format::Json => {
            print(&(file_errors::json(&errors).to_string() + "\n"));
            return Ok(Exit::Error);
        }
        Err(errors) => return Err(Failure { exit: Exit::Error, message: errors.to_string() }),
    };
    plan.renamed.iter().for_each(|line| session.note(line));
    let facts = Facts::of(&plan);
    let warnings = lints::about(&plan, &facts);
    session.show(&match session.format {
        Format::Text => {
            let name = arguments.scenario.display();
            let description = if session.quiet {
                String::new()
            } else {
                description::render(&plan, &facts, session.screen)
            };
            let warnings: String = warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
            format!("{name}: valid{}\n{description}{warnings}", description::counts(&plan))
        }
        Format::Json => json::explanation(&plan, &facts, &warnings).to_string() + "\n",
    });
    Ok(if arguments.strict && !warnings.is_empty() { Exit::Unexpected } else { Exit::Ok })
}

/// With `--format json`, reports a file that cannot be read as JSON, too.
fn print_unread(session: &Session, arguments: &Arguments, failure: &Failure) {
    if session.format == Format::Json {
        let why = failure.message.trim_start_matches("error: ");
        print(&(file_errors::unplaced_json(&arguments.scenario, &[why.to_owned()]).to_string() + "\n"));
    }
}
