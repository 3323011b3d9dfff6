//! Content that is served, as long as it stays as it was when opened.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use tidegate_wire::sha256;

use super::ServeError;
use crate::clock::{MonotonicClock, micros_since_epoch};

/// Bytes that are read at once to be hashed.
const CHUNK: usize = 1 << 16;

/// Content of one version of an object.
#[derive(Debug)]
pub(super) enum ContentSource {
    /// A regular file, read on request.
    File(WatchedFile),
    /// The listing of a directory.
    Listing(WatchedFile, Vec<u8>),
    /// Content that no file has.
    Memory(Vec<u8>),
}

impl ContentSource {
    /// Size of the content, bytes.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::File(file) => file.state.len,
            Self::Listing(_, content) | Self::Memory(content) => content.len() as u64,
        }
    }

    /// Time of the last change before it was opened, microseconds since 1970; the present time if there is no file.
    pub(super) fn changed_us(&self) -> u64 {
        match self {
            Self::File(file) | Self::Listing(file, _) => file.changed_us,
            Self::Memory(_) => MonotonicClock::wall_micros(),
        }
    }

    /// Whether a change was found.
    pub(super) fn has_changed(&self) -> bool {
        match self {
            Self::File(file) | Self::Listing(file, _) => file.has_changed,
            Self::Memory(_) => false,
        }
    }

    /// Change since it was opened; returned once.
    pub(super) fn look_for_change(&mut self) -> Option<String> {
        match self {
            Self::File(file) | Self::Listing(file, _) => file.look_for_change(),
            Self::Memory(_) => None,
        }
    }

    /// A number of the file, with which its time of change denotes one content; `None` if there is no file.
    pub(super) fn identity(&self) -> Option<u64> {
        let Self::File(WatchedFile { state, .. }) = self else { return None };
        let (seconds, nanos) = state.changed;
        let parts = [state.inode, state.len, seconds as u64, nanos as u64].map(u64::to_be_bytes);
        Some(first_bits(&sha256(&[parts.as_flattened()])))
    }

    /// The first 64 bits of a hash of the whole content.
    pub(super) fn hash(&self) -> io::Result<u64> {
        let (mut hash, mut buffer) = ([0; 32], vec![0; CHUNK]);
        let mut at = 0;
        while at < self.len() {
            let len = (self.len() - at).min(CHUNK as u64);
            let chunk = &mut buffer[..len as usize];
            self.read(chunk, at)?;
            hash = sha256(&[&hash, chunk]);
            at += len;
        }
        Ok(first_bits(&hash))
    }

    /// Fills `buffer` from byte `from` on.
    pub(super) fn read(&self, buffer: &mut [u8], from: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.file.read_exact_at(buffer, from),
            Self::Listing(_, content) | Self::Memory(content) => {
                let content = usize::try_from(from).ok().and_then(|from| content.get(from..));
                let content = content.and_then(|content| content.get(..buffer.len()));
                buffer.copy_from_slice(content.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

fn first_bits(hash: &[u8; 32]) -> u64 {
    hash.iter().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// An open file or directory.
#[derive(Debug)]
pub(super) struct WatchedFile {
    file: File,
    /// State of the file when it was opened.
    state: FileState,
    changed_us: u64,
    has_changed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    inode: u64,
    len: u64,
    /// Seconds and nanoseconds of the last change.
    changed: (i64, i64),
    is_linked: bool,
}

impl FileState {
    fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        let changed = (found.mtime(), found.mtime_nsec());
        Ok(Self { inode: found.ino(), len: found.len(), changed, is_linked: found.nlink() > 0 })
    }
}

impl WatchedFile {
    /// Opens a regular file.
    pub(super) fn open(path: &Path) -> Result<Self, ServeError> {
        // Non-blocking: to open a pipe would otherwise wait until a process writes to it.
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NONBLOCK);
        let file = options.open(path).map_err(ServeError::File)?;
        if !file.metadata().map_err(ServeError::File)?.is_file() {
            return Err(ServeError::NotAFile);
        }
        Self::of(file).map_err(ServeError::File)
    }

    /// A file or directory that is open already.
    pub(super) fn of(file: File) -> io::Result<Self> {
        let changed_us = micros_since_epoch(file.metadata()?.modified()?);
        let state = FileState::of(&file)?;
        Ok(Self { file, state, changed_us, has_changed: false })
    }

    /// Change of the file since it was opened; returned once.
    fn look_for_change(&mut self) -> Option<String> {
        if self.has_changed {
            return None;
        }
        let why = match FileState::of(&self.file) {
            Ok(state) if state == self.state => return None,
            Ok(state) if state.len != self.state.len => {
                format!("the file had {} bytes and now has {}", self.state.len, state.len)
            }
            Ok(state) if !state.is_linked => "the file was removed".to_owned(),
            Ok(_) => "the file was written to".to_owned(),
            Err(why) => why.to_string(),
        };
        self.has_changed = true;
        Some(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn file(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tidegate-source-{}-{name}", std::process::id()));
        fs::write(&path, "content").expect("the temporary folder is writable");
        path
    }

    #[test]
    fn a_change_is_reported_once() {
        let path = file("longer");
        let mut source = WatchedFile::open(&path).expect("opened");
        assert_eq!(source.look_for_change(), None);
        fs::write(&path, "longer content").expect("writable");
        let reported = source.look_for_change();
        assert_eq!(reported.as_deref(), Some("the file had 7 bytes and now has 14"));
        assert_eq!((source.look_for_change(), source.has_changed), (None, true));
        let _ = fs::remove_file(path);
    }

    #[test]
    fn a_file_that_was_removed_is_another_one() {
        let path = file("removed");
        let mut source = WatchedFile::open(&path).expect("opened");
        fs::remove_file(&path).expect("there");
        assert_eq!(source.look_for_change().as_deref(), Some("the file was removed"));
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        assert!(matches!(WatchedFile::open(&std::env::temp_dir()), Err(ServeError::NotAFile)));
        assert!(matches!(WatchedFile::open(Path::new("/does/not/exist")), Err(ServeError::File(_))));
    }

    #[test]
    fn content_in_memory_is_read_up_to_its_end_only() {
        let source = ContentSource::Memory(b"content".to_vec());
        let mut buffer = [0; 3];
        assert!(source.read(&mut buffer, 4).is_ok() && &buffer == b"ent");
        assert!(source.read(&mut buffer, 5).is_err() && source.read(&mut buffer, u64::MAX).is_err());
    }

    #[test]
    fn a_pipe_is_refused_without_waiting_for_its_writer() {
        let path = file("pipe");
        fs::remove_file(&path).expect("there");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("there is mkfifo");
        assert!(made.success());
        let opened = WatchedFile::open(&path);
        let _ = fs::remove_file(&path);
        assert!(matches!(opened, Err(ServeError::NotAFile)));
    }
}
