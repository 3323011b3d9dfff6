//! Destinations of fetched content: a file that is renamed when it is complete, or standard output.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tidegate_live::fetch::Trust;
use tidegate_live::own_file;

use super::part::{PartState, Progress, state_path, verified_by};
use crate::exit::Failure;
use crate::results::cannot;

/// Bytes written at once.
const BUFFER: usize = 256 * 1024;

/// Takes content in order.
pub(super) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    /// `None` for standard output and special files.
    target: Option<OutputFile>,
    is_standard: bool,
    /// Existing output that is not a regular file.
    special: Option<PathBuf>,
    note: Option<String>,
}

/// A file that is written as `FILE.part` until it is complete.
struct OutputFile {
    part: PathBuf,
    whole: PathBuf,
    /// Versioned name of the content.
    name: String,
    /// By what it is verified.
    verified: String,
    /// What an earlier fetch wrote.
    before: Progress,
}

impl Output {
    /// Opens `path` for the content of `name`, `-` for standard output. A file is written as `path.part`,
    /// which is resumed if it holds the beginning of the same version, verified in the same way. An existing path that is not a regular
    /// file (a pipe, `/dev/null`) is written to directly. Without a path, content goes to standard output
    /// unless that is a terminal.
    ///
    /// # Errors
    /// A terminal without `-`, a path that cannot be written, or a part that another fetch is writing.
    pub(super) fn open(path: Option<&Path>, name: &str, trust: &Trust) -> Result<Self, Failure> {
        if path.is_none() && io::stdout().is_terminal() {
            return Err(Failure::usage(
                "standard output is a terminal, and content may be binary; -o FILE writes a file, -o - writes to the \
                 terminal anyway",
            ));
        }
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Ok(Self { is_standard: true, ..Self::over(Box::new(io::stdout()), None) });
        };
        // Renaming a part over a pipe or a device would replace it by a file.
        let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file());
        if is_special {
            let file = open_special(path).map_err(|why| cannot("write", path, &why))?;
            return Ok(Self { special: Some(path.to_owned()), ..Self::over(Box::new(file), None) });
        }
        // A file that cannot be replaced in the end is reported before anything is fetched.
        own_file::check_replaceable(path).map_err(|why| cannot("write", path, &why))?;
        Self::open_part(path, name, verified_by(trust))
    }

    fn open_part(path: &Path, name: &str, verified: String) -> Result<Self, Failure> {
        let part = part_of(path);
        let from_start = Progress::default();
        let (before, note) = match PartState::read(&part) {
            None => (from_start, left_over(&part)),
            Some(Ok(state)) if state.name == name && state.verified != verified => {
                let note = format!(
                    "{} was verified by {}, and this fetch verifies by {verified}; fetching from the start",
                    part.display(),
                    state.verified
                );
                (from_start, Some(note))
            }
            Some(Ok(state)) if state.name == name => {
                let note = format!(
                    "{} has the first {} bytes; resuming from there",
                    part.display(),
                    state.progress.bytes
                );
                (state.progress, Some(note))
            }
            Some(Ok(state)) => {
                let note =
                    format!("{} belongs to {}; fetching {name} from the start", part.display(), state.name);
                (from_start, Some(note))
            }
            Some(Err(why)) => {
                (from_start, Some(format!("{}: {why}; fetching from the start", part.display())))
            }
        };
        // Two fetches would interleave their writes in one part.
        let lock = |file: &File| match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(io::Error::other("another fetch is writing it")),
            // On file systems without locks, concurrent fetches are not prevented.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        };
        let open = || -> io::Result<File> {
            let mut file = own_file::open_to_write(&part)?;
            lock(&file)?;
            // The state describes the beginning of the part, which is not rewritten; a state of other content
            // is removed.
            if before.bytes == 0 && fs::exists(state_path(&part))? {
                fs::remove_file(state_path(&part))?;
            }
            // Bytes beyond the state are from a fetch that was killed and are not verified.
            file.set_len(before.bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|why| cannot("write", &part, &why))?;
        let target = OutputFile { part, whole: path.to_owned(), name: name.to_owned(), verified, before };
        Ok(Self { note, ..Self::over(Box::new(file), Some(target)) })
    }

    fn over(writer: Box<dyn Write>, target: Option<OutputFile>) -> Self {
        let writer = BufWriter::with_capacity(BUFFER, writer);
        Self { writer, target, is_standard: false, special: None, note: None }
    }

    /// Number of the first missing segment.
    pub(super) fn first_segment(&self) -> u32 {
        self.target.as_ref().map_or(0, |target| target.before.segments)
    }

    /// Bytes that an earlier fetch left.
    pub(super) fn resumed_bytes(&self) -> u64 {
        self.target.as_ref().map_or(0, |target| target.before.bytes)
    }

    /// Hash by which the producer named the content of those bytes.
    pub(super) fn content_id(&self) -> Option<u64> {
        self.target.as_ref().and_then(|target| target.before.content_id)
    }

    /// Whether it is standard output.
    pub(super) fn is_standard(&self) -> bool {
        self.is_standard
    }

    /// Message about the part of an earlier fetch.
    pub(super) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Renames the part to the file if it is whole. If not, records that it has `more` than at the start, and returns its path.
    ///
    /// # Errors
    /// A file that cannot be written, renamed or removed.
    pub(super) fn finish(mut self, is_whole: bool, more: Progress) -> Result<Option<PathBuf>, Failure> {
        // Before the state, which has the hash of the bytes on disk.
        let flushed = self.writer.flush();
        let Some(OutputFile { part, whole, name, verified, before }) = self.target else {
            return flushed.map(|()| None).map_err(|why| match &self.special {
                Some(path) => cannot("write", path, &why),
                None => Failure::error(format!("standard output: {why}")),
            });
        };
        flushed.map_err(|why| cannot("write", &part, &why))?;
        if !is_whole {
            let noted = PartState::note(&part, (&name, &verified), before.and(more));
            noted.map_err(|why| cannot("write", &state_path(&part), &why))?;
            return Ok(Some(part));
        }
        own_file::check_replaceable(&whole).map_err(|why| cannot("write", &whole, &why))?;
        fs::rename(&part, &whole).map_err(|why| cannot("write", &whole, &why))?;
        // Only a resumed part has a state: `open_part` removes any other.
        if before.bytes > 0 {
            fs::remove_file(state_path(&part)).map_err(|why| cannot("remove", &state_path(&part), &why))?;
        }
        Ok(None)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Opens a pipe or a device, also through a link such as `/dev/stdout`.
fn open_special(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).open(path)?;
    // Between the look at the path and now, it may have become a link to a file.
    if file.metadata()?.is_file() {
        return Err(io::Error::other("it has just been replaced by a file"));
    }
    Ok(file)
}

/// Message about a part without valid state: the fetch was killed, or the file is not from a fetch.
fn left_over(part: &Path) -> Option<String> {
    let len = fs::symlink_metadata(part).ok()?.len();
    let state = state_path(part);
    (len > 0).then(|| {
        format!(
            "{} has {len} bytes and no {}, so its content is unknown; fetching from the start",
            part.display(),
            state.display()
        )
    })
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}
