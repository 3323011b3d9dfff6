//! A store of finished runs under keys that depend on everything that determines a run.
//!
//! ```text
//! <store>/tidegate-store.txt    marks the folder as a store
//! <store>/ab/<64 digits>/       one run: tables and checksums, moved there by one rename
//! <store>/unfinished/<process>-<n>/  runs being written; `sweep gc` removes those of killed processes
//! ```
//!
//! The key of a run is the BLAKE3 hash of the code that computes it ([`code`]), the meaning of results
//! (`semantics`, the version of the tables), the seed and the canonical scenario ([`Plan::canonical`]) with
//! the files to which it refers: a changed scheme never finds runs of its earlier version. A process that is
//! killed loses its unfinished runs, and a damaged run counts as missing. Several processes may use one
//! store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_results::RESULTS_SCHEMA;
use tidegate_results::tables;
use tidegate_sim::plan::Plan;

use crate::SEMANTICS;
use crate::code::{CODE_FILE, code, short};
use crate::exit::Failure;
use crate::results::{cannot, run_context};

const MARK: &str = "tidegate-store.txt";
const MARK_TEXT: &str = "Finished runs of Tidegate, named by their content. `tidegate sweep gc` removes what is not used.\nformat = 1\n";
/// Folder of runs that are being written.
const TEMPORARY: &str = "unfinished";
/// Age after which an unfinished run is abandoned: no process takes this long to write one.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// Key under which runs of a scenario are stored, without the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The canonical scenario, and a hash of each file to which it refers.
    pub(crate) text: String,
    /// BLAKE3 hash of the text, hexadecimal.
    pub(crate) hash: String,
}

impl Identity {
    /// Computes the identity of a plan: the hash of its canonical scenario.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut text = plan.canonical.clone();
        for (name, content) in &plan.files {
            text.push_str(&format!("file {name:?} = {}\n", blake3::hash(content.as_bytes()).to_hex()));
        }
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        Self { text, hash }
    }

    /// Key of the run with `seed`: 64 hexadecimal digits.
    pub(crate) fn key(&self, seed: Seed) -> String {
        self.key_of(seed, code())
    }

    /// Key of the run with `seed` that `code` computes.
    fn key_of(&self, seed: Seed, code: &str) -> String {
        let of = format!(
            "tidegate run\ncode {}\nsemantics {SEMANTICS}\nresults schema {RESULTS_SCHEMA}\nseed {}\nscenario {}\n",
            code, seed.0, self.hash
        );
        blake3::hash(of.as_bytes()).to_hex().to_string()
    }
}

/// `key: ours here, theirs there`, for every line in which the texts of two [identities](Identity) differ.
pub(crate) fn differences(theirs: &str, ours: &str) -> Vec<String> {
    let lines = |text: &'_ str| -> BTreeMap<String, String> {
        let pairs = text.lines().filter_map(|line| line.split_once(" = "));
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    };
    let (theirs, ours) = (lines(theirs), lines(ours));
    let keys: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    let shown = |value: Option<&String>| value.map_or("nothing".to_owned(), String::clone);
    let differing = keys.into_iter().filter(|key| theirs.get(*key) != ours.get(*key));
    differing
        .map(|key| format!("{key}: {} here, {} there", shown(ours.get(key)), shown(theirs.get(key))))
        .collect()
}

/// Whether a run is in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Whole,
    Missing,
    /// The run exists but differs from what was written; with the reason.
    Damaged(String),
}

/// The store in a folder.
#[derive(Debug)]
pub(crate) struct Store {
    root: PathBuf,
    /// Identity of the code whose runs are found.
    code: String,
    /// Whether runs may only be read.
    is_read_only: bool,
    /// Name of temporary folders that no other process uses, on any machine that shares the store.
    process: String,
    /// Number of temporary paths that this process has used.
    written: AtomicU64,
}

impl Store {
    /// The store at `root`, created if it does not exist.
    pub(crate) fn make(root: &Path) -> Result<Self, Failure> {
        let mark = root.join(MARK);
        if !mark.exists() {
            fs::create_dir_all(root).map_err(|why| cannot("make", root, &why))?;
            fs::write(&mark, MARK_TEXT).map_err(|why| cannot("write", &mark, &why))?;
        }
        Ok(Self::at(root))
    }

    /// The store at `root`, which may be empty or not exist.
    pub(crate) fn at(root: &Path) -> Self {
        Self::new(root, code(), false)
    }

    /// The runs at `root` that `code` has computed, for reading only.
    pub(crate) fn of_code(root: &Path, code: &str) -> Self {
        Self::new(root, code, true)
    }

    fn new(root: &Path, code: &str, is_read_only: bool) -> Self {
        // Process ids are reused, and are unique on one machine only.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let hash = blake3::hash(format!("{} {}", std::process::id(), now.as_nanos()).as_bytes()).to_hex();
        let process = format!("{}-{}", std::process::id(), &hash[..12]);
        let (root, code) = (root.to_owned(), code.to_owned());
        Self { root, code, is_read_only, process, written: AtomicU64::new(0) }
    }

    /// Returns an error if `missing` runs would have to be added to a store that is only read.
    pub(crate) fn may_grow(&self, missing: usize) -> Result<(), Failure> {
        if !self.is_read_only || missing == 0 {
            return Ok(());
        }
        let root = self.root.display();
        let code = short(&self.code);
        Err(Failure::error(format!(
            "{missing} of its runs, made by code {code}, are not in the store {root}"
        )))
    }

    /// Path of the run called `key`, whether or not it exists.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.root.join(key.get(..2).unwrap_or(key)).join(key)
    }

    /// Path of the values that a paper needs from the run called `key`.
    pub(crate) fn values(&self, key: &str) -> PathBuf {
        self.path(key).with_extension("values")
    }

    /// Path of the store's folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the run of `identity` with `seed` exists and is undamaged; reads all of its files.
    pub(crate) fn look(&self, identity: &Identity, seed: Seed) -> Found {
        let path = self.path(&identity.key_of(seed, &self.code));
        if !path.exists() {
            return Found::Missing;
        }
        let context = tables::check_folder(&path).and_then(|()| tables::read_context(&path));
        match context {
            Err(why) => Found::Damaged(why.to_string()),
            Ok(context) if context.scenario_text == identity.text && context.semantics == SEMANTICS => {
                Found::Whole
            }
            Ok(_) => Found::Damaged(format!("{}: it holds a run of another scenario", path.display())),
        }
    }

    /// Stores a finished run of `plan`.
    pub(crate) fn keep(&self, identity: &Identity, plan: &Plan, run: &RunRecord) -> Result<(), Failure> {
        let seed = Seed(run.seed);
        let context = run_context(plan, &identity.text);
        // The name of the scenario is not part of the key: scenarios that differ in it share their runs.
        let run = RunRecord { scenario: String::new(), ..run.clone() };
        let (new, target) = (self.temporary(), self.path(&identity.key(seed)));
        tables::write_folder(&new, &[run], &context).map_err(Failure::error)?;
        let file = new.join(CODE_FILE);
        fs::write(&file, code()).map_err(|why| cannot("write", &file, &why))?;
        let parent = target.parent().unwrap_or(&self.root);
        fs::create_dir_all(parent).map_err(|why| cannot("make", parent, &why))?;
        // A damaged run has to go, because a folder that is not empty cannot be replaced by a rename.
        if self.look(identity, seed) != Found::Missing {
            self.discard(&target)?;
        }
        match fs::rename(&new, &target) {
            // Another process stored the same run first; runs of one key are identical.
            Err(_) if self.look(identity, seed) == Found::Whole => self.discard(&new),
            renamed => renamed.map_err(|why| cannot("write", &target, &why)),
        }
    }

    /// Reads the run of `identity` with `seed` under the name `scenario`, with samples if `with_samples` is
    /// set.
    pub(crate) fn recall(
        &self,
        identity: &Identity,
        seed: Seed,
        scenario: &str,
        with_samples: bool,
    ) -> Result<RunRecord, Failure> {
        let path = self.path(&identity.key_of(seed, &self.code));
        let read = if with_samples { tables::read_run } else { tables::read_run_summary };
        let run = read(&path).map_err(Failure::error)?;
        Ok(RunRecord { scenario: scenario.to_owned(), ..run })
    }

    /// An unused path in the folder of unfinished runs, unique to this call.
    pub(crate) fn temporary(&self) -> PathBuf {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        self.root.join(TEMPORARY).join(format!("{}-{number}", self.process))
    }

    /// Removes a folder of the store and the values beside it. The folder is moved first, so that no process
    /// reads a part.
    pub(crate) fn discard(&self, folder: &Path) -> Result<(), Failure> {
        // Values first: values without their run would not be found again by `keys`.
        let values = folder.with_extension("values");
        if values.exists() {
            fs::remove_file(&values).map_err(|why| cannot("remove", &values, &why))?;
        }
        let aside = self.temporary();
        let parent = self.root.join(TEMPORARY);
        fs::create_dir_all(&parent).map_err(|why| cannot("make", &parent, &why))?;
        match fs::rename(folder, &aside) {
            // Another process has removed it.
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(why) => Err(cannot("move", folder, &why)),
            Ok(()) => fs::remove_dir_all(&aside).map_err(|why| cannot("remove", &aside, &why)),
        }
    }

    /// Keys of all stored runs in ascending order, damaged ones included. Other files and folders are
    /// ignored.
    pub(crate) fn keys(&self) -> Result<Vec<String>, Failure> {
        let mut keys = Vec::new();
        for folder in folders(&self.root)? {
            let start = name(&folder);
            if start.len() == 2 && is_hexadecimal(&start) {
                let inner = folders(&folder)?.iter().map(|path| name(path)).collect::<Vec<_>>();
                let is_run = |key: &String| key.len() == 64 && key.starts_with(&start) && is_hexadecimal(key);
                keys.extend(inner.into_iter().filter(is_run));
            }
        }
        keys.sort();
        Ok(keys)
    }

    /// The code that computed the run called `key`; `None` for runs of earlier versions, which did not record
    /// it.
    pub(crate) fn code_of(&self, key: &str) -> Option<String> {
        fs::read_to_string(self.path(key).join(CODE_FILE)).ok()
    }

    /// Whether the folder is marked as a store.
    pub(crate) fn is_marked(&self) -> bool {
        self.root.join(MARK).exists()
    }

    /// Unfinished runs of killed processes: those unchanged for [`ABANDONED`].
    pub(crate) fn abandoned(&self) -> Result<Vec<PathBuf>, Failure> {
        let is_old = |path: &PathBuf| {
            // A folder without an age, such as one from a machine with a clock ahead, is kept.
            let changed = fs::metadata(path).and_then(|metadata| metadata.modified());
            let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
            age.is_some_and(|age| age > ABANDONED)
        };
        Ok(folders(&self.root.join(TEMPORARY))?.into_iter().filter(is_old).collect())
    }
}

/// The folders in `path`, in order; none if it does not exist.
fn folders(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match fs::read_dir(path) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|why| cannot("read", path, &why))?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|why| cannot("read", path, &why))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
