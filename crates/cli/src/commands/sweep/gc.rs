//! `tidegate sweep gc`: runs in the store that none of the given scenarios uses. Removes them only with `--delete`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::plan::{Sweep, SweepArguments};
use crate::code::code;
use crate::exit::{Exit, Failure, Outcome};
use crate::store::Store;
use crate::{Format, Session};

/// Arguments of the command `tidegate sweep gc`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sweep: SweepArguments,
    /// Further scenario files whose runs are kept, including their sweeps.
    #[arg(long, value_name = "SCENARIO")]
    keep: Vec<PathBuf>,
    /// Remove the unused runs; by default they are only listed.
    #[arg(long)]
    delete: bool,
    /// List the unused runs only, which is the default.
    #[arg(long, conflicts_with = "delete")]
    dry_run: bool,
}

/// Runs the command `tidegate sweep gc`.
pub(super) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let root = arguments.sweep.store();
    let store = Store::at(&root);
    // The folder is given by the user; without the mark of a store nothing in it is removed.
    if !store.is_marked() {
        return Err(Failure::error(format!("{}: this is not a store of runs", root.display())));
    }
    let mut used = keys(&Sweep::read_any(session, &arguments.sweep)?);
    for scenario in &arguments.keep {
        used.append(&mut keys(&Sweep::read_any(session, &as_written(scenario, &arguments.sweep))?));
    }
    let all = store.keys()?;
    let is_other = |key: &&String| store.code_of(key).as_deref() != Some(code());
    // Runs with values of a paper are in use as long as this program can read them.
    let is_of_paper = |key: &&String| store.values(key).exists() && !is_other(key);
    let idle: Vec<&String> = all.iter().filter(|key| !used.contains(*key) && !is_of_paper(key)).collect();
    let of_other_code = idle.iter().filter(|key| is_other(key)).count();
    let abandoned = store.abandoned()?;
    if arguments.delete {
        idle.iter().try_for_each(|key| store.discard(&store.path(key)))?;
        abandoned.iter().try_for_each(|folder| store.discard(folder))?;
    }
    let paths: Vec<PathBuf> = idle.iter().map(|key| store.path(key)).chain(abandoned).collect();
    session.show(&match session.format {
        Format::Text => listing(&paths, all.len() - idle.len(), of_other_code, arguments.delete),
        Format::Json => {
            let document = json!({
                "deleted": arguments.delete,
                "of_other_code": of_other_code,
                "unused": paths.iter().map(|path| Value::from(path.display().to_string())).collect::<Value>(),
                "used": all.len() - idle.len(),
            });
            document.to_string() + "\n"
        }
    });
    Ok(Exit::Ok)
}

fn keys(sweep: &Sweep) -> BTreeSet<String> {
    let key = |run: usize| {
        let (point, seed) = sweep.run(run);
        point.identity.key(seed)
    };
    (0..sweep.len()).map(key).collect()
}

/// The sweep that a scenario file itself defines.
fn as_written(scenario: &std::path::Path, like: &SweepArguments) -> SweepArguments {
    SweepArguments {
        scenario: scenario.to_owned(),
        overrides: Default::default(),
        grid: Vec::new(),
        schemes: None,
        // Nothing is run, so that no scenario has to be refused.
        allow_incomplete: true,
        seeds: None,
        out: like.out.clone(),
        store: like.store.clone(),
    }
}

fn listing(paths: &[PathBuf], used: usize, of_other_code: usize, is_deleted: bool) -> String {
    let mut text: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
    let what = match (paths.len(), is_deleted) {
        (0, _) => "no run is unused".to_owned(),
        (count, true) => format!("runs removed: {count}"),
        (count, false) => format!("unused runs, which --delete removes: {count}"),
    };
    text.push_str(&what);
    if of_other_code > 0 {
        text.push_str(&format!(" ({of_other_code} of them made by a program built from other sources)"));
    }
    text.push_str(&format!("; runs in use: {used}\n"));
    text
}
