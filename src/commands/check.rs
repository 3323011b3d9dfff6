//! `tidegate check`: everything that is wrong with a scenario, without running it.

use std::path::PathBuf;

use tidegate_report::json::Json;
use tidegate_sim::scenario::{Error, Errors};

use super::{Overrides, parse_plan};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::{Format, Session};

/// What to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The scenario's file.
    scenario: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
}

pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let plan = match parse_plan(session, &arguments.scenario, &arguments.overrides.set)? {
        Ok(plan) => plan,
        Err(errors) if session.format == Format::Json => {
            print(&(refusal(&errors).to_string() + "\n"));
            return Ok(Exit::Error);
        }
        Err(errors) => return Err(Failure { exit: Exit::Error, message: errors.to_string() }),
    };
    let (nodes, links, flows, seeds) =
        (plan.nodes.len(), plan.links.len(), plan.flows.len(), plan.seeds.len());
    print(&match session.format {
        Format::Text => format!(
            "{}: valid ({nodes} nodes, {links} links, {flows} flows, {seeds} seeds, {})\n",
            arguments.scenario.display(),
            plan.duration
        ),
        Format::Json => format!(
            "{{\"valid\": true, \"nodes\": {nodes}, \"links\": {links}, \"flows\": {flows}, \"seeds\": {seeds}, \"duration_s\": {}}}\n",
            plan.duration.as_secs_f64()
        ),
    });
    Ok(Exit::Ok)
}

fn refusal(errors: &Errors) -> Json {
    let problem = |error: &Error| {
        Json::Object(vec![
            ("file", Json::text(&error.file)),
            ("line", Json::Count(error.line as u64)),
            ("column", Json::Count(error.column as u64)),
            ("message", Json::text(&error.message)),
            ("suggestion", Json::maybe(error.suggestion.as_deref())),
        ])
    };
    Json::Object(vec![
        ("valid", Json::Bool(false)),
        ("errors", Json::List(errors.iter().map(problem).collect())),
        ("omitted", Json::Count(errors.omitted() as u64)),
    ])
}
