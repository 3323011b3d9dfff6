//! `tidegate sweep`: a scenario over a grid of parameters; each run is stored.

mod gc;
mod output;
mod plan;
mod run;
mod shard;
mod status;
mod why;

use crate::Session;
use crate::exit::{Failure, Outcome};
use crate::kept_results::KeptResults;

/// Subcommands of the command `tidegate sweep`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Run the missing runs; when none is missing, write the tables of all points.
    Run(run::Arguments),
    /// Show how many runs of each point are finished.
    Status(status::Arguments),
    /// Show for each run whether it is in the store, and why not.
    Why(why::Arguments),
    /// List the stored runs that none of the given scenarios uses; with --delete, remove them.
    Gc(gc::Arguments),
}

/// Runs the command `tidegate sweep`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    match &arguments.action {
        Action::Run(arguments) => run::run(session, arguments),
        Action::Status(arguments) => status::run(session, arguments),
        Action::Why(arguments) => why::run(session, arguments),
        Action::Gc(arguments) => gc::run(session, arguments),
    }
}

/// The page of the results in `kept`, which the command with these arguments has made; nothing is run. `None` for an
/// action that leaves no page.
pub(crate) fn page_again(
    session: &Session,
    kept: &KeptResults,
    arguments: Arguments,
) -> Option<Result<String, Failure>> {
    match arguments.action {
        Action::Run(arguments) => Some(output::page_again(session, kept, arguments.sweep)),
        Action::Status(_) | Action::Why(_) | Action::Gc(_) => None,
    }
}
