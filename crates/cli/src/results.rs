//! The folder of a batch of runs: one folder per finished seed, the merged tables, the page.
//!
//! The folder's name contains a digest of the scenario, the semantics and the code, so that a changed
//! scenario or program does not mix its results with old ones, and a batch that was interrupted finds its
//! finished runs.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use tidegate_core::hash;
use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_results::tables::{self, RunContext};
use tidegate_sim::plan::Plan;

use crate::SEMANTICS;
use crate::code::code;
use crate::exit::Failure;

/// Folder for copies of the files that a scenario refers to.
const KEPT: &str = "files";

/// Path, in a folder of results, of the copy of the file that its scenario refers to as `name`.
pub(crate) fn kept_name(name: &str) -> String {
    format!("{KEPT}/{}-{:08x}", file_name(name), digest(name) as u32)
}

/// Path of the copy of the file that a scenario in `folder` refers to as `name`.
pub(crate) fn kept_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(kept_name(name))
}

/// Writes the scenario of `plan` into `folder`, with copies of the files that it names.
pub(crate) fn keep_scenario(folder: &Path, plan: &Plan) -> Result<(), Failure> {
    let path = folder.join("scenario.toml");
    fs::write(&path, &plan.text).map_err(|why| cannot("write", &path, &why))?;
    for (name, text) in &plan.files {
        let file = kept_file(folder, name);
        fs::create_dir_all(folder.join(KEPT)).map_err(|why| cannot("make", &file, &why))?;
        fs::write(&file, text).map_err(|why| cannot("write", &file, &why))?;
    }
    Ok(())
}

/// Origin of results that this program computes from a scenario.
pub(crate) fn context(scenario_text: &str) -> RunContext {
    let (scenario_text, code) = (scenario_text.to_owned(), code().to_owned());
    RunContext { scenario_text, semantics: SEMANTICS, code, ..RunContext::default() }
}

/// Origin of runs of `plan`, with the names of its nodes and prefixes.
pub(crate) fn run_context(plan: &Plan, scenario_text: &str) -> RunContext {
    RunContext {
        nodes: plan.nodes.iter().map(|node| node.name.clone()).collect(),
        prefixes: tidegate_sim::world::prefix_uris(plan),
        ..context(scenario_text)
    }
}

/// Results of one scenario.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    context: RunContext,
    /// Held for as long as the folder is written.
    _lock: File,
}

impl Folder {
    /// The folder of `plan` in `out`, created if needed; no other process may be writing it.
    pub(crate) fn open(out: &Path, plan: &Plan) -> Result<Self, Failure> {
        let digest = digest(&format!("{SEMANTICS}\n{}\n{}{}", code(), plan.text, files(plan)));
        let path = out.join(format!("{}-{:08x}", file_name(&plan.name), digest as u32));
        fs::create_dir_all(path.join("seeds")).map_err(|why| cannot("make", &path, &why))?;
        let lock = lock(&path, &path.join("seeds"))?;
        let folder = Self { path, context: run_context(plan, &plan.text), _lock: lock };
        keep_scenario(&folder.path, plan)?;
        Ok(folder)
    }

    /// Path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Metadata that all its tables share.
    pub(crate) fn context(&self) -> &RunContext {
        &self.context
    }

    fn seed_folder(&self, seed: Seed) -> PathBuf {
        self.path.join("seeds").join(seed.0.to_string())
    }

    /// Stores a finished run.
    pub(crate) fn keep(&self, place: usize, run: &RunRecord) -> Result<(), Failure> {
        let context = RunContext { first_run: place as u32, ..self.context.clone() };
        let folder = self.seed_folder(Seed(run.seed));
        tables::write_folder(&folder, std::slice::from_ref(run), &context).map_err(Failure::error)
    }

    /// A run that an earlier batch of the same scenario finished; `None` if there is none or it cannot be
    /// read. Only a run with samples costs reading them.
    pub(crate) fn recall(&self, place: usize, seed: Seed, with_samples: bool) -> Option<RunRecord> {
        let folder = self.seed_folder(seed);
        let context = tables::read_context(&folder).ok()?;
        // The name of the folder has 32 bits of the digest only, so the metadata is compared in full.
        let is_same = context.scenario_text == self.context.scenario_text
            && context.semantics == self.context.semantics
            && context.code == self.context.code
            && context.first_run == place as u32;
        let read = if with_samples { tables::read_run } else { tables::read_run_summary };
        if is_same { read(&folder).ok() } else { None }
    }

    /// Makes the merged tables of all seeds.
    pub(crate) fn merge(&self, seeds: &[Seed]) -> Result<(), Failure> {
        let parts: Vec<PathBuf> = seeds.iter().map(|seed| self.seed_folder(*seed)).collect();
        tables::merge(&parts, &self.path).map_err(Failure::error)
    }

    /// Writes one file into the folder, and returns its path.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.path.join(name);
        fs::write(&path, content).map_err(|why| cannot("write", &path, &why))?;
        Ok(path)
    }
}

/// Prevents other processes from writing to the results folder `path` while the file, in its folder `runs`, is open.
/// On a file system without locks, there is no mutual exclusion.
pub(crate) fn lock(path: &Path, runs: &Path) -> Result<File, Failure> {
    let file = runs.join(".lock");
    let lock = File::create(&file).map_err(|why| cannot("write", &file, &why))?;
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Failure::error(format!(
            "{} is being written by another run; wait for it, or give another --out",
            path.display()
        ))),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(lock),
    }
}

/// Moves every file of `new`, also those in folders of it, into `folder`; a rename replaces a file at once.
pub(crate) fn replace_files(new: &Path, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|why| cannot("make", folder, &why))?;
    let entries = fs::read_dir(new).map_err(|why| cannot("read", new, &why))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let target = folder.join(file.file_name().unwrap_or_default());
        if file.is_dir() {
            replace_files(&file, &target)?;
            continue;
        }
        // The store may be on another file system.
        let moved = fs::rename(&file, &target).or_else(|_| fs::copy(&file, &target).map(drop));
        moved.map_err(|why| cannot("write", &target, &why))?;
    }
    fs::remove_dir_all(new).map_err(|why| cannot("remove", new, &why))
}

/// The failure of an operation on a file, such as `write`.
pub(crate) fn cannot(verb: &str, path: &Path, why: &std::io::Error) -> Failure {
    Failure::error(format!("cannot {verb} {}: {why}", path.display()))
}

/// Content of the files to which a scenario refers, for the digest.
fn files(plan: &Plan) -> String {
    plan.files.iter().map(|(_, text)| format!("{text}\n")).collect()
}

/// Hash of a text: FNV-1a, 64 bits.
fn digest(text: &str) -> u64 {
    hash::fnv1a(hash::EMPTY, text.as_bytes())
}

/// A scenario's name as part of a file name.
pub(crate) fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    name.chars().take(60).map(plain).collect()
}
