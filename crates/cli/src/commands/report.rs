//! `tidegate report`: makes the page of a results folder again, from its stored runs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::json;
use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_results::tables;

use super::{compare, reproduce, sweep};
use crate::code::{code, short};
use crate::command_line::words;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::kept_results::{KeptResults, text_in};
use crate::replay::ReplaySource;
use crate::results::cannot;
use crate::{Command, Format, SEMANTICS, Session, page};

/// Arguments of the command `tidegate report`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Results directory of `run`, `compare`, `sweep` or `reproduce`.
    folder: PathBuf,
    /// Output file; `report.html` in the results directory by default.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command `tidegate report`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let folder = &arguments.folder;
    if !folder.is_dir() {
        return Err(Failure::error(format!("{} is not a results folder", folder.display())));
    }
    // Only `run` writes a folder per seed. A folder of neither kind gets the message about missing tables.
    let is_of_run = folder.join("seeds").is_dir() || !folder.join(page::COMMAND).is_file();
    let page = if is_of_run { page_of_run(session, folder)? } else { page_of_others(session, folder)? };
    let out = arguments.out.clone().unwrap_or_else(|| folder.join("report.html"));
    fs::write(&out, page).map_err(|why| cannot("write", &out, &why))?;
    match session.format {
        Format::Text => print(&format!("{}\n", out.display())),
        Format::Json => {
            print(&format!("{}\n", json!({ "report": out.display().to_string() })));
        }
    }
    Ok(Exit::Ok)
}

/// The page of a folder that `run` has written, from its tables.
fn page_of_run(session: &Session, folder: &Path) -> Result<String, Failure> {
    let plan = ReplaySource::open(session, folder, &[], None)?.plan;
    let mut runs = Vec::new();
    for (place, seed) in plan.seeds.iter().enumerate() {
        // The page plots the first run over time; samples of further seeds are read one by one by `sampled`.
        runs.push(read(folder, *seed, place == 0)?);
    }
    let first = plan.seeds.first().map(|seed| seed_folder(folder, *seed));
    let context = tables::read_context(first.as_deref().unwrap_or(folder)).map_err(Failure::error)?;
    if context.semantics != SEMANTICS {
        return Err(Failure::error(format!(
            "{} has results of semantics {}, this program reads semantics {SEMANTICS}; run the scenario again",
            folder.display(),
            context.semantics
        )));
    }
    if context.code != code() {
        session.note(&format!(
            "code {} computed these results, and this program is code {}; the parts of the page that need single packets \
             are omitted if the repeated run differs",
            short(&context.code),
            short(code())
        ));
    }
    let sampled = |place: usize| tables::read_run(&seed_folder(folder, *plan.seeds.get(place)?)).ok();
    Ok(page::of_runs(&plan, &context, &runs, text_in(folder, page::COMMAND)?.trim_end(), sampled))
}

/// The page of a folder that another command has written, from its stored runs.
fn page_of_others(session: &Session, folder: &Path) -> Result<String, Failure> {
    let kept = KeptResults::read(folder)?;
    let words = words(&kept.command);
    let parsed = words.and_then(|words| crate::Arguments::try_parse_from(words).ok());
    let page = match parsed.map(|parsed| parsed.command) {
        Some(Command::Compare(arguments)) => Some(compare::page_again(session, &kept, *arguments)),
        Some(Command::Sweep(arguments)) => sweep::page_again(session, &kept, arguments),
        Some(Command::Reproduce(arguments)) => Some(reproduce::page_again(session, &kept, &arguments)),
        Some(Command::Run(_)) => Some(Err(Failure::error(format!(
            "{} does not exist; `tidegate run` makes the missing runs",
            folder.join("seeds").display()
        )))),
        _ => None,
    };
    page.unwrap_or_else(|| {
        Err(Failure::error(format!(
            "{}: {} does not name a command of this program that writes a page: {:?}",
            folder.display(),
            page::COMMAND,
            kept.command
        )))
    })
}

fn seed_folder(folder: &Path, seed: Seed) -> PathBuf {
    folder.join("seeds").join(seed.0.to_string())
}

/// Reads the run of one seed, with its samples if `with_samples` is set.
fn read(folder: &Path, seed: Seed, with_samples: bool) -> Result<RunRecord, Failure> {
    let place = seed_folder(folder, seed);
    if !place.is_dir() {
        return Err(Failure::error(format!(
            "{} has no run with seed {}, which its scenario requires; `tidegate run` makes the missing runs",
            folder.display(),
            seed.0
        )));
    }
    let read = if with_samples { tables::read_run } else { tables::read_run_summary };
    read(&place).map_err(Failure::error)
}
