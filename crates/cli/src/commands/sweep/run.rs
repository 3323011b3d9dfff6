//! `tidegate sweep run`: runs what is missing in the store, and writes the tables when nothing is.

use std::num::NonZero;

use serde_json::json;

use super::output;
use super::plan::{Sweep, SweepArguments};
use super::shard::Shard;
use crate::batch::{self, Required};
use crate::commands::{note_replaced, refuse_incomplete, threads};
use crate::exit::{Exit, Failure, Outcome};
use crate::store::{Found, Store};
use crate::{Format, Session};

/// Arguments of the command `tidegate sweep run`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Scenario, grid and seeds of the sweep.
    #[command(flatten)]
    pub(super) sweep: SweepArguments,
    /// Run only shard I of N; shards may run in any order or concurrently, with the same results.
    #[arg(long, value_name = "I/N", default_value_t = Shard::ALL)]
    shard: Shard,
    /// Number of threads; one per core by default. Results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    /// List the runs that would be made, without running them.
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command `tidegate sweep run`.
pub(super) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let sweep = Sweep::read(session, &arguments.sweep)?;
    note_replaced(session, sweep.points.iter().map(|point| &point.plan));
    if !arguments.sweep.allow_incomplete {
        let named = |point| (sweep.point_name(point), &point.plan);
        refuse_incomplete(sweep.points.iter().map(named))?;
    }
    if arguments.dry_run {
        // `at` does not create the store: a dry run leaves no files.
        let found = sweep.look(&Store::at(&arguments.sweep.store()));
        return Ok(print_plan(session, &sweep, arguments.shard, &found));
    }
    let store = Store::make(&arguments.sweep.store())?;
    let mut found = sweep.look(&store);
    let failed = simulate(session, arguments, &sweep, &store, &found)?;
    for run in (0..sweep.len()).filter(|run| found[*run] != Found::Whole).collect::<Vec<_>>() {
        // Other shards may have stored runs meanwhile; the last one to finish writes the tables.
        found[run] = sweep.look_at(&store, run);
    }
    let missing = found.iter().filter(|found| **found != Found::Whole).count();
    if missing == 0 {
        return output::write(session, &arguments.sweep, &sweep, &store);
    }
    print_missing(session, arguments, &sweep, missing, failed.as_deref());
    match failed {
        Some(message) => Err(Failure { exit: Exit::Partial, message }),
        None => Ok(Exit::Ok),
    }
}

/// Runs the runs of this shard that the store lacks; returns the message about failed runs.
fn simulate(
    session: &Session,
    arguments: &Arguments,
    sweep: &Sweep,
    store: &Store,
    found: &[Found],
) -> Result<Option<String>, Failure> {
    let ours: Vec<usize> = (0..sweep.len()).filter(|run| arguments.shard.has(*run)).collect();
    let missing: Vec<usize> = ours.iter().copied().filter(|run| found[*run] != Found::Whole).collect();
    let required: Vec<Required<'_>> = missing
        .iter()
        .map(|run| sweep.run(*run))
        .map(|(point, seed)| Required { plan: &point.plan, identity: &point.identity, seed })
        .collect();
    let recalled = ours.len() - missing.len();
    let filled = batch::fill(session, store, &required, recalled, threads(arguments.threads))?;
    Ok(batch::failures(&filled.failed, |place| sweep.run_name(missing[place])))
}

fn print_plan(session: &Session, sweep: &Sweep, shard: Shard, found: &[Found]) -> Exit {
    let count =
        |is: fn(&Found) -> bool| (0..sweep.len()).filter(|run| shard.has(*run) && is(&found[*run])).count();
    let done = count(|found| *found == Found::Whole);
    let required = count(|found| *found != Found::Whole);
    session.show(&match session.format {
        Format::Text => {
            let share = if shard.is_all() { String::new() } else { format!("share {shard}: ") };
            let (points, seeds) = (sweep.points.len(), sweep.seeds.len());
            format!("{share}{points} points, {seeds} seeds each: {required} runs, {done} of them finished earlier\n")
        }
        Format::Json => {
            let document = json!({
                "points": sweep.points.len() as u64,
                "seeds": sweep.seeds.len() as u64,
                "shard": shard.to_string(),
                "to_do": required,
                "done": done,
            });
            document.to_string() + "\n"
        }
    });
    Exit::Ok
}

fn print_missing(
    session: &Session,
    arguments: &Arguments,
    sweep: &Sweep,
    missing: usize,
    failed: Option<&str>,
) {
    session.show(&match session.format {
        Format::Text => {
            let share = match failed {
                Some(_) => "some runs failed".to_owned(),
                None => format!("shard {} is done", arguments.shard),
            };
            format!(
                "{share}; {missing} of {} runs are missing; tables are written when all are finished\nmissing runs: tidegate sweep status {}\n",
                sweep.len(),
                arguments.sweep.command_line()
            )
        }
        Format::Json => {
            let document = json!({
                "folder": null,
                "shard": arguments.shard.to_string(),
                "runs": sweep.len() as u64,
                "missing": missing,
            });
            document.to_string() + "\n"
        }
    });
}
