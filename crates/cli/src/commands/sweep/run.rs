//! `tidegate sweep run`: runs what is missing in the store, and writes the tables when nothing is.

use std::num::NonZero;

use serde_json::json;
use tidegate_results::text::counted;

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

/// Prints the number of runs of this shard, and those that would be made.
fn print_plan(session: &Session, sweep: &Sweep, shard: Shard, found: &[Found]) -> Exit {
    let (done, required): (Vec<usize>, Vec<usize>) =
        (0..sweep.len()).filter(|run| shard.has(*run)).partition(|run| found[*run] == Found::Whole);
    let names: Vec<String> = required.iter().map(|run| sweep.run_name(*run)).collect();
    let (points, seeds) = (sweep.points.len(), sweep.seeds.len());
    session.show(&match session.format {
        Format::Text => {
            let share = if shard.is_all() { String::new() } else { format!("shard {shard}: ") };
            let (points, seeds) = (counted(points, "point"), counted(seeds, "seed"));
            let runs = counted(done.len() + required.len(), "run");
            let finished = if required.is_empty() { "all".to_owned() } else { done.len().to_string() };
            let list: String = names.iter().map(|name| format!("  {name}\n")).collect();
            format!("{share}{points}, {seeds} each: {runs}, {finished} of them finished earlier\n{list}")
        }
        Format::Json => {
            let document = json!({
                "points": points,
                "seeds": seeds,
                "shard": shard.to_string(),
                "to_do": required.len(),
                "done": done.len(),
                "run_names": names,
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
