//! `tidegate check`: everything that is wrong with a scenario, else what it will simulate, without running it.

mod chance;
mod doubts;
mod facts;
mod json;
mod rates;
mod stations;
mod story;
mod way;

use std::path::PathBuf;

use super::{Overrides, parse_plan};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::{Format, Session, refusal};
pub(crate) use facts::Facts;

/// What to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Scenario file (TOML).
    scenario: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// Exit with code 3 if there is a warning.
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let read = parse_plan(session, &arguments.scenario, &arguments.overrides.set);
    let plan = match read.inspect_err(|failure| tell_unread(session, arguments, failure))? {
        Ok(plan) => plan,
        Err(errors) if session.format == Format::Json => {
            print(&(refusal::json(&errors).to_string() + "\n"));
            return Ok(Exit::Error);
        }
        Err(errors) => return Err(Failure { exit: Exit::Error, message: errors.to_string() }),
    };
    let facts = Facts::of(&plan);
    let doubts = doubts::about(&plan, &facts);
    session.show(&match session.format {
        Format::Text => {
            let name = arguments.scenario.display();
            let story = if session.quiet { String::new() } else { story::tell(&plan, &facts) };
            let doubts: String = doubts.iter().map(|doubt| format!("warning: {doubt}\n")).collect();
            format!("{name}: valid{}\n{story}{doubts}", story::counts(&plan))
        }
        Format::Json => json::explanation(&plan, &facts, &doubts).to_string() + "\n",
    });
    Ok(if arguments.strict && !doubts.is_empty() { Exit::Unexpected } else { Exit::Ok })
}

/// Who asked in JSON what is wrong is also told so of a file that cannot be read at all.
fn tell_unread(session: &Session, arguments: &Arguments, failure: &Failure) {
    if session.format == Format::Json {
        let why = failure.message.trim_start_matches("error: ");
        print(&(refusal::unread_json(&arguments.scenario, why).to_string() + "\n"));
    }
}
