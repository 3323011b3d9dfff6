//! Finished runs of a paper, one file each, so that an interrupted reproduction goes on where it was.
//!
//! ```text
//! <out>/<paper>/runs/<code>-<extent>/<batch>-<plan>-<seed>   what the paper keeps of one run, behind its checksum
//! ```
//!
//! They are not in the store of sweeps: a paper's plans are changed after they were read (shortened, traced, given
//! events), so a scenario's text does not say which run it is, and claims need events that tables do not hold. The
//! same code of simulation and experiments makes the same plans in the same order and keeps the same of their runs, so
//! its hash is part of the folder's name. Runs of other code stay until the user has them removed.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidegate_core::rng::Seed;

use super::Extent;
use crate::code;
use crate::exit::Failure;
use crate::results::{cannot, lock};

/// Bytes of the checksum that a file begins with.
const CHECKSUM: usize = 32;

/// What names the finished runs of this program: a hash of the code that computes runs, and of the experiments.
pub(super) fn code_name() -> String {
    let of = format!("{}\n{}\n", code::code(), tidegate_identity::EXPERIMENTS);
    blake3::hash(of.as_bytes()).to_hex()[..32].to_owned()
}

/// The folder of a paper's finished runs.
#[derive(Debug)]
pub(super) struct Finished {
    folder: PathBuf,
    /// Folders beside it with runs of other code, in order.
    others: Vec<PathBuf>,
    /// Held for as long as runs are added; `None` if they are only read.
    _lock: Option<File>,
}

/// A run of a paper: which batch of runs, which plan in it, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunName {
    pub(super) batch: usize,
    pub(super) plan: usize,
    pub(super) seed: Seed,
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, plan, seed: Seed(seed) } = self;
        write!(f, "batch {batch}, plan {plan}, seed {seed}")
    }
}

impl Finished {
    /// The finished runs in a paper's folder, of the code called `code`; nobody else may be adding any.
    pub(super) fn open(paper: &Path, code: &str, extent: Extent) -> Result<Self, Failure> {
        let all = paper.join("runs");
        fs::create_dir_all(&all).map_err(|why| cannot("make", &all, &why))?;
        let lock = lock(paper, &all)?;
        let others = others(&all, code)?;
        let folder = all.join(format!("{code}-{}", extent.word()));
        fs::create_dir_all(&folder).map_err(|why| cannot("make", &folder, &why))?;
        Ok(Self { folder, others, _lock: Some(lock) })
    }

    /// The finished runs in a paper's folder, to read them alone.
    pub(super) fn look(paper: &Path, code: &str, extent: Extent) -> Self {
        let folder = paper.join("runs").join(format!("{code}-{}", extent.word()));
        Self { folder, others: Vec::new(), _lock: None }
    }

    /// Folders with runs of other code, which this program cannot use.
    pub(super) fn others(&self) -> &[PathBuf] {
        &self.others
    }

    /// Removes the runs of other code.
    pub(super) fn remove_others(&mut self) -> Result<(), Failure> {
        for folder in self.others.drain(..) {
            fs::remove_dir_all(&folder).map_err(|why| cannot("remove", &folder, &why))?;
        }
        Ok(())
    }

    fn path(&self, run: RunName) -> PathBuf {
        self.folder.join(format!("{}-{}-{}", run.batch, run.plan, run.seed.0))
    }

    /// What was kept of a run; `None` if it is not there whole.
    pub(super) fn read<T: DeserializeOwned>(&self, run: RunName) -> Option<T> {
        let bytes = fs::read(self.path(run)).ok()?;
        let (checksum, content) = bytes.split_at_checked(CHECKSUM)?;
        (blake3::hash(content).as_bytes() == checksum).then(|| postcard::from_bytes(content).ok())?
    }

    /// Puts aside what is kept of a run.
    pub(super) fn write<T: Serialize>(&self, run: RunName, kept: &T) -> Result<(), Failure> {
        let path = self.path(run);
        let content = postcard::to_stdvec(kept)
            .map_err(|why| Failure::error(format!("cannot write {}: {why}", path.display())))?;
        let bytes = [blake3::hash(&content).as_bytes(), content.as_slice()].concat();
        let new = path.with_extension("new");
        fs::write(&new, bytes)
            .and_then(|()| fs::rename(&new, &path))
            .map_err(|why| cannot("write", &path, &why))
    }
}

/// Folders in `all` that are not of the code called `code`.
fn others(all: &Path, code: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(all).map_err(|why| cannot("read", all, &why))?;
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let is_other = |path: &PathBuf| !path.file_name().unwrap_or_default().to_string_lossy().starts_with(code);
    let mut others: Vec<PathBuf> = folders.filter(is_other).collect();
    others.sort();
    Ok(others)
}

/// Times of the simulation as nanoseconds, for `#[serde(with = "...")]`.
pub(super) mod nanos {
    use serde::{Deserialize, Deserializer, Serializer};
    use tidegate_core::units::Time;

    pub(in super::super) fn serialize<S: Serializer>(time: &Time, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(time.as_nanos())
    }

    pub(in super::super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Time, D::Error> {
        u64::deserialize(from).map(Time::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(test: &str) -> PathBuf {
        std::env::temp_dir().join(format!("tidegate-finished-{test}-{}", std::process::id()))
    }

    #[test]
    fn what_was_kept_is_found_again_bit_by_bit_and_only_whole() {
        let paper = scratch("whole");
        let finished = Finished::open(&paper, "0123", Extent::Reduced).expect("a folder");
        let run = RunName { batch: 0, plan: 3, seed: Seed(7) };
        assert_eq!(finished.read::<Vec<f64>>(run), None);
        let kept = vec![0.1, f64::NAN, f64::INFINITY, -0.0];
        finished.write(run, &kept).expect("written");
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(finished.read(run).map(bits), Some(bits(kept)));
        let path = finished.path(run);
        let mut bytes = fs::read(&path).expect("there");
        *bytes.last_mut().expect("not empty") ^= 1;
        fs::write(&path, bytes).expect("writable");
        assert_eq!(finished.read::<Vec<f64>>(run), None);
        fs::remove_dir_all(paper).expect("ours");
    }

    #[test]
    fn a_run_of_other_code_or_extent_is_not_this_run_and_stays() {
        let paper = scratch("code");
        let run = RunName { batch: 0, plan: 0, seed: Seed(1) };
        let open = |code, extent| Finished::open(&paper, code, extent).expect("a folder");
        open("old", Extent::Paper).write(run, &1.0).expect("written");
        assert_eq!(open("old", Extent::Reduced).read::<f64>(run), None);
        assert_eq!(open("old", Extent::Paper).read::<f64>(run), Some(1.0));
        assert_eq!(open("new", Extent::Paper).read::<f64>(run), None);
        assert_eq!(open("old", Extent::Paper).read::<f64>(run), Some(1.0), "other code has removed it");
        fs::remove_dir_all(paper).expect("ours");
    }

    #[test]
    fn runs_of_other_code_are_removed_only_on_demand() {
        let paper = scratch("others");
        let run = RunName { batch: 0, plan: 0, seed: Seed(1) };
        let open = |code| Finished::open(&paper, code, Extent::Full).expect("a folder");
        open("old").write(run, &1.0).expect("written");
        let mut new = open("new");
        new.write(run, &2.0).expect("written");
        assert_eq!(new.others(), [paper.join("runs/old-full")]);
        new.remove_others().expect("removable");
        assert!(new.others().is_empty() && !paper.join("runs/old-full").exists());
        assert_eq!(new.read::<f64>(run), Some(2.0));
        fs::remove_dir_all(paper).expect("ours");
    }
}
