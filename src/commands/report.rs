//! `tidegate report`: the page of a folder of results, made again from its tables.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_report::json::Json;
use tidegate_report::tables;

use crate::exit::{Exit, Failure, Outcome, print};
use crate::results::cannot;
use crate::source::Source;
use crate::{Format, SEMANTICS, Session, page};

/// Whose page to make, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A folder of results that `tidegate run` wrote.
    folder: PathBuf,
    /// File for the page; `report.html` in the folder unless given.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    if !folder.is_dir() {
        return Err(Failure::error(format!("{} is no folder of results", folder.display())));
    }
    let plan = Source::open(session, folder, &[], None)?.plan;
    let mut runs = Vec::new();
    for (place, seed) in plan.seeds.iter().enumerate() {
        runs.push(read(folder, *seed, place == 0)?);
    }
    let first = plan.seeds.first().map(|seed| seed_folder(folder, *seed));
    let context = tables::read_context(first.as_deref().unwrap_or(folder)).map_err(Failure::error)?;
    if context.semantics != SEMANTICS {
        return Err(Failure::error(format!(
            "{} has results of semantics {}, this program knows those of {SEMANTICS}; run the scenario again",
            folder.display(),
            context.semantics
        )));
    }
    let sampled = |place: usize| tables::read_run(&seed_folder(folder, *plan.seeds.get(place)?)).ok();
    let page = page::of_runs(&plan, &context, &runs, command(folder)?.trim_end(), sampled);
    let out = arguments.out.clone().unwrap_or_else(|| folder.join("report.html"));
    fs::write(&out, page).map_err(|why| cannot("write", &out, &why))?;
    match session.format {
        Format::Text => print(&format!("{}\n", out.display())),
        Format::Json => {
            print(&format!("{}\n", Json::Object(vec![("report", Json::text(out.display()))])));
        }
    }
    Ok(Exit::Ok)
}

fn seed_folder(folder: &Path, seed: Seed) -> PathBuf {
    folder.join("seeds").join(seed.0.to_string())
}

/// The run of one seed; only the first needs its samples.
fn read(folder: &Path, seed: Seed, with_samples: bool) -> Result<RunRecord, Failure> {
    let place = seed_folder(folder, seed);
    if !place.is_dir() {
        return Err(Failure::error(format!(
            "{} has no run with seed {}, though its scenario asks for it; `tidegate run` makes what is missing",
            folder.display(),
            seed.0
        )));
    }
    let read = if with_samples { tables::read_run } else { tables::read_run_summary };
    read(&place).map_err(Failure::error)
}

/// The command that made the results.
fn command(folder: &Path) -> Result<String, Failure> {
    let path = folder.join(page::COMMAND);
    fs::read_to_string(&path).map_err(|why| cannot("read", &path, &why))
}
