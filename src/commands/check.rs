//! `tidegate check`: everything that is wrong with a scenario, without running it.

use std::path::PathBuf;

use super::{Overrides, read_plan};
use crate::exit::{Exit, Outcome, print};
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
    let plan = read_plan(session, &arguments.scenario, &arguments.overrides.set)?;
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
