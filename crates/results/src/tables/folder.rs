//! A folder of tables that is either complete or refused: written under another name, then renamed, with
//! checksums.
//!
//! `checksums.txt` names every table file with its length and checksum. It proves that the folder is
//! finished, and no file is handed to the Parquet decoder before its checksum agrees: pages carry no
//! checksums of their own, so damage would otherwise pass as other values (two of three flipped bits) or make
//! the decoder panic. Against files forged together with their checksums there is no such promise.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tidegate_core::hash;
use tidegate_core::observe::records::RunRecord;

use super::RunContext;
use super::decode::TableFile;

/// Tables of every results folder, in the order of [`super::build`].
pub(super) const ALWAYS: [&str; 7] =
    ["runs", "flows", "links", "nodes", "media", "flow_samples", "link_samples"];
/// Name of the table that exists if runs recorded events.
pub(super) const EVENTS: &str = "events";

const CHECKSUMS: &str = "checksums.txt";

/// Reason why a results folder could not be written, read or merged.
#[derive(Debug, thiserror::Error)]
pub enum FolderFault {
    /// The system refused to read or write `path`.
    #[error("{path}: {cause}")]
    Io {
        /// File or folder that cannot be read or written.
        path: PathBuf,
        /// Error of the system.
        #[source]
        cause: io::Error,
    },
    /// The content of `path` is not valid: unfinished, damaged, of another version, or not ours.
    #[error("{path}: {problem}")]
    Content {
        /// File or folder with the wrong content.
        path: PathBuf,
        /// Description of the problem and of the expected content.
        problem: String,
    },
}

impl FolderFault {
    pub(super) fn content(path: &Path, problem: impl Into<String>) -> Self {
        Self::Content { path: path.to_owned(), problem: problem.into() }
    }

    /// Turns an error of the system about `path` into a fault.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |cause| Self::Io { path, cause }
    }
}

/// Writes every table of `runs` into the folder `dir`, which appears finished or not at all.
///
/// The files are written into the sibling `<dir>.part`, which a killed process leaves behind and the next
/// call clears. A folder of tables already at `dir` is replaced; missing parents are made. Equal runs give
/// equal files.
///
/// # Errors
/// [`FolderFault::Content`] when `dir` exists and holds anything but tables: nothing is deleted that this
/// function did not write. [`FolderFault::Io`] when the system refuses to write.
///
/// # Panics
/// As [`super::build`].
pub fn write_folder(dir: &Path, runs: &[RunRecord], context: &RunContext) -> Result<(), FolderFault> {
    let (part, old) = (with_suffix(dir, ".part"), with_suffix(dir, ".old"));
    // All before the first change, so that a refusal leaves everything as it was.
    for path in [dir, &part, &old] {
        check_replaceable(path)?;
    }
    remove_folder(&part)?;
    remove_folder(&old)?;
    fs::create_dir_all(&part).map_err(FolderFault::io(&part))?;
    let mut sums = Checksums::default();
    for table in super::build(runs, context) {
        let path = table_path(&part, table.name);
        let file = File::create(&path).map_err(FolderFault::io(&path))?;
        let mut out = BufWriter::new(Summed::new(file));
        table.write_parquet(&mut out).map_err(|fault| FolderFault::content(&path, fault.to_string()))?;
        let out = out.into_inner().map_err(|fault| FolderFault::io(&path)(fault.into_error()))?;
        sums.files.insert(table.name, out.sum);
    }
    sums.write(&part)?;
    if dir.exists() {
        // A rename does not replace a folder that has files.
        fs::rename(dir, &old).map_err(FolderFault::io(dir))?;
    }
    fs::rename(&part, dir).map_err(FolderFault::io(&part))?;
    remove_folder(&old)
}

/// Checks that `dir` has a finished set of tables: every file is there with the length and checksum that it
/// had when it was written. Reads every file once.
///
/// # Errors
/// The first file that is missing, unreadable or changed.
pub fn check_folder(dir: &Path) -> Result<(), FolderFault> {
    let sums = Checksums::read(dir)?;
    sums.files.keys().try_for_each(|name| sums.check(dir, name))
}

/// `dir` with `suffix` after its last part.
fn with_suffix(dir: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(dir);
    name.push(suffix);
    name.into()
}

/// File of the table `name` in `dir`.
pub(super) fn table_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.parquet"))
}

/// Returns an error for a folder that contains anything but tables, so that it is not replaced.
fn check_replaceable(dir: &Path) -> Result<(), FolderFault> {
    if !dir.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(dir).map_err(FolderFault::io(dir))? {
        let entry = entry.map_err(FolderFault::io(dir))?;
        let name = entry.file_name();
        let is_ours = name == CHECKSUMS
            || ALWAYS.into_iter().chain([EVENTS]).any(|table| table_path(Path::new(""), table) == *name);
        if !is_ours {
            let problem = format!("holds {name:?}; expected a folder of tables alone, or none, to replace");
            return Err(FolderFault::content(dir, problem));
        }
    }
    Ok(())
}

fn remove_folder(dir: &Path) -> Result<(), FolderFault> {
    match fs::remove_dir_all(dir) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(FolderFault::io(dir)(cause)),
        _ => Ok(()),
    }
}

/// Length and FNV-1a hash (64 bits) of the bytes so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    length: u64,
    hash: u64,
}

impl Sum {
    const EMPTY: Self = Self { length: 0, hash: hash::EMPTY };

    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hash = hash::fnv1a(self.hash, bytes);
    }
}

/// Passes bytes on and computes their checksum.
pub(super) struct Summed<W> {
    inner: W,
    pub(super) sum: Sum,
}

impl<W> Summed<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, sum: Sum::EMPTY }
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Content of `checksums.txt`: the hash of each table's file.
#[derive(Debug, Default)]
pub(super) struct Checksums {
    pub(super) files: BTreeMap<&'static str, Sum>,
}

impl Checksums {
    /// Writes one line `hash length file` per table, in two steps so that the file is whole or absent.
    pub(super) fn write(&self, dir: &Path) -> Result<(), FolderFault> {
        let lines = self.files.iter().map(|(name, Sum { length, hash })| {
            format!("{hash:016x} {length} {}\n", table_path(Path::new(""), name).display())
        });
        let (path, part) = (dir.join(CHECKSUMS), dir.join(format!("{CHECKSUMS}.part")));
        fs::write(&part, lines.collect::<String>()).map_err(FolderFault::io(&part))?;
        fs::rename(&part, &path).map_err(FolderFault::io(&path))
    }

    /// Makes the folder unfinished until [`Checksums::write`].
    pub(super) fn remove(dir: &Path) -> Result<(), FolderFault> {
        let path = dir.join(CHECKSUMS);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(FolderFault::io(&path)(cause)),
            _ => Ok(()),
        }
    }

    pub(super) fn read(dir: &Path) -> Result<Self, FolderFault> {
        let path = dir.join(CHECKSUMS);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                let problem = format!("has no {CHECKSUMS}; expected the folder of finished runs");
                return Err(FolderFault::content(dir, problem));
            }
            Err(cause) => return Err(FolderFault::io(&path)(cause)),
        };
        let text = String::from_utf8_lossy(&text);
        let mut sums = Self::default();
        for line in text.lines() {
            let (name, sum) = parse_line(line).ok_or_else(|| {
                let problem = format!("line {line:?} is not a checksum, a length and a table's file");
                FolderFault::content(&path, problem)
            })?;
            sums.files.insert(name, sum);
        }
        match ALWAYS.iter().find(|name| !sums.files.contains_key(*name)) {
            None => Ok(sums),
            Some(name) => Err(FolderFault::content(&path, format!("does not list the table {name:?}"))),
        }
    }

    /// Whether the file of table `name` is as it was written.
    pub(super) fn check(&self, dir: &Path, name: &str) -> Result<(), FolderFault> {
        let path = table_path(dir, name);
        let Some(expected) = self.files.get(name) else {
            return Err(FolderFault::content(&path, format!("is not listed in {CHECKSUMS}")));
        };
        let mut file = File::open(&path).map_err(FolderFault::io(&path))?;
        let mut found = Sum::EMPTY;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer).map_err(FolderFault::io(&path))? {
                0 => break,
                length => found.add(&buffer[..length]),
            }
        }
        if found.length != expected.length {
            let problem =
                format!("has {} bytes; according to {CHECKSUMS} it had {}", found.length, expected.length);
            return Err(FolderFault::content(&path, problem));
        }
        if found.hash != expected.hash {
            let problem = format!("is damaged: its checksum is not the one in {CHECKSUMS}");
            return Err(FolderFault::content(&path, problem));
        }
        Ok(())
    }

    /// Opens the table `name` after its checksum agreed.
    pub(super) fn open(&self, dir: &Path, name: &'static str) -> Result<TableFile, FolderFault> {
        self.check(dir, name)?;
        TableFile::open(table_path(dir, name), name)
    }
}

fn parse_line(line: &str) -> Option<(&'static str, Sum)> {
    let mut words = line.split(' ');
    let hash = u64::from_str_radix(words.next()?, 16).ok()?;
    let length = words.next()?.parse().ok()?;
    let table = words.next()?.strip_suffix(".parquet")?;
    let name = ALWAYS.into_iter().chain([EVENTS]).find(|name| *name == table)?;
    words.next().is_none().then_some((name, Sum { length, hash }))
}
