//! `tidegate run`: simulate every seed of a scenario, print a summary, write tables and a page.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use tidegate_core::observe::records::RunRecord;
use tidegate_results::text;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::Job;

use super::{Overrides, note_replaced, read_plan, threads, warn_incomplete};
use crate::code::code;
use crate::command_line::{quoted, word};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::progress::ProgressLine;
use crate::results::Folder;
use crate::{Format, SEMANTICS, Session, batch, expect, page};

/// Arguments of the command `tidegate run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Scenario file in TOML format.
    scenario: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// Number of seeds, instead of the scenario's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: Option<u64>,
    /// Directory under which results are written.
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// Number of threads; one per core by default. Results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    /// Run every seed again, also those that are finished.
    #[arg(long)]
    fresh: bool,
}

/// Runs the command `tidegate run`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let mut overrides = arguments.overrides.set.clone();
    if let Some(seeds) = arguments.seeds {
        overrides.push(("scenario.seeds".to_owned(), seeds.to_string()));
    }
    let plan = read_plan(session, &arguments.scenario, &overrides)?;
    note_replaced(session, std::iter::once(&plan));
    warn_incomplete(session, &plan);
    let begun = Instant::now();
    // Before the runs, so that a folder that is locked or cannot be written costs no computing time.
    let folder = Folder::open(&arguments.out, &plan)?;
    let threads = threads(arguments.threads);
    let batch = simulate(session, &plan, &folder, threads, arguments.fresh)?;
    folder.merge(&plan.seeds)?;
    let command = command_line(&arguments.scenario, &overrides);
    folder.write(page::COMMAND, format!("{command}\n").as_bytes())?;
    let sampled = |place: usize| folder.recall(place, *plan.seeds.get(place)?, true);
    let page = page::of_runs(&plan, folder.context(), &batch.runs, &command, sampled);
    let page = folder.write("report.html", page.as_bytes())?;
    let host = Host { wall_s: begun.elapsed().as_secs_f64(), threads, recalled: batch.recalled };
    // A file of its own, so that all other files of equal runs are identical.
    folder.write("run.json", (host.json(&command).to_string() + "\n").as_bytes())?;
    let failed = expect::failures(&plan.expectations, &batch.runs);
    report(session, &batch.runs, &folder, &page, &failed);
    Ok(if failed.is_empty() { Exit::Ok } else { Exit::Unexpected })
}

/// Content of `run.json`: everything that may differ between two computations of the same results.
struct Host {
    wall_s: f64,
    threads: usize,
    recalled: usize,
}

impl Host {
    fn json(&self, command: &str) -> Value {
        json!({
            "command": command,
            "version": env!("CARGO_PKG_VERSION"),
            "code": code(),
            "semantics": u64::from(SEMANTICS),
            "wall_s": self.wall_s,
            "threads": self.threads,
            "seeds_from_an_earlier_batch": self.recalled,
            "os": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
        })
    }
}

/// A finished batch, in plan order; only the first run has its samples.
struct Batch {
    runs: Vec<RunRecord>,
    recalled: usize,
}

/// Runs the seeds that an earlier batch has not finished.
fn simulate(
    session: &Session,
    plan: &Plan,
    folder: &Folder,
    threads: usize,
    fresh: bool,
) -> Result<Batch, Failure> {
    let mut runs: Vec<Option<RunRecord>> = plan
        .seeds
        .iter()
        .enumerate()
        .map(|(place, seed)| if fresh { None } else { folder.recall(place, *seed, place == 0) })
        .collect();
    let recalled = runs.iter().flatten().count();
    // Jobs are numbered without the recalled seeds.
    let places: Vec<usize> = (0..runs.len()).filter(|place| runs[*place].is_none()).collect();
    let jobs: Vec<Job<'_>> = places.iter().map(|place| Job { plan, seed: plan.seeds[*place] }).collect();
    let line = ProgressLine::new("seeds", jobs.len(), session).after(recalled);
    let keep = |job: usize, run: &RunRecord| folder.keep(places[job], run);
    let done = batch::run(&jobs, threads, line, &keep, |_, run| Ok(without_samples(run)))?;
    for (place, run) in places.iter().zip(done.whole(|job| format!("seed {}", jobs[job].seed.0))?) {
        runs[*place] = Some(run);
    }
    // Tables round samples. The page uses those of the tables, so that it does not depend on the batch that
    // ran the seed.
    if let (Some(0), Some(seed)) = (places.first(), plan.seeds.first()) {
        runs[0] = folder.recall(0, *seed, true).or(runs[0].take());
    }
    Ok(Batch { runs: runs.into_iter().flatten().collect(), recalled })
}

/// The part of a run that stays in memory once it is stored.
fn without_samples(run: RunRecord) -> RunRecord {
    RunRecord {
        flow_samples: Default::default(),
        link_samples: Default::default(),
        events: Vec::new(),
        ..run
    }
}

fn report(session: &Session, runs: &[RunRecord], folder: &Folder, page: &Path, failed: &[String]) {
    match session.format {
        Format::Text => {
            let mut out = text::run_summary(runs, session.screen);
            out.push_str(&format!("\ntables  {}\nreport  {}\n", folder.path().display(), page.display()));
            for line in failed {
                out.push_str(&format!("expectation failed: {line}\n"));
            }
            session.show(&out);
        }
        Format::Json => {
            let failed = json!(failed);
            let document = json!({
                "folder": folder.path().display().to_string(),
                "report": page.display().to_string(),
                "failed_expectations": failed,
                "summary": text::run_summary_json(runs),
            });
            print(&(document.to_string() + "\n"));
        }
    }
}

/// The command that makes the same results again.
fn command_line(scenario: &Path, overrides: &[(String, String)]) -> String {
    let mut line = format!("tidegate run {}", word(&scenario.display().to_string()));
    for (key, value) in overrides {
        line.push_str(&format!(" --set {}", quoted(&format!("{key}={value}"))));
    }
    line
}
