//! A directory whose files are objects below one name: `PREFIX/dir/file` is the file `dir/file`.
//!
//! Names are those of ndn6-file-server (yoursunny/ndn6-tools, file-server.md): the generic components after the prefix are the path, and
//! the listing of a directory is the object `PREFIX/dir/32=ls`, whose content has the names in it, each with a zero byte at
//! its end; those of directories have a `/` before it. Metadata of a directory names its listing. What is neither a file nor
//! a directory is left out, and so is what lies outside of the directory: `..`, and symbolic links that lead out of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use bytes::Bytes;
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use tidegate_core::ndn::packet::{Kind, Packet};
use tidegate_wire::InterestView;
use tidegate_wire::tlv::{TlvReader, types};
use tidegate_wire::{name::push_component, rdr};

use super::object::{certificate_for, is_name_of, packet};
use super::source::{ContentSource, WatchedFile};
use super::{Responder, ServeCounters, ServeError, ServeSettings, Served};
use crate::client::Client;

/// Maximum number of files and directories that are open at the same time.
const MAX_OPEN: usize = 64;

/// Maximum number of entries of a directory that is listed; a larger one has no listing.
const MAX_LISTED: usize = 100_000;

/// Keyword of the component that addresses the listing of a directory.
const LISTING: &[u8] = b"ls";

/// A directory that is served.
#[derive(Debug)]
pub struct ServedTree {
    root: OwnedFd,
    settings: ServeSettings,
    /// Objects that are open, by their paths.
    open: BTreeMap<Vec<u8>, OpenObject>,
    /// Number of objects opened so far and of their uses.
    uses: u64,
    counters: ServeCounters,
}

#[derive(Debug)]
struct OpenObject {
    served: Served,
    inode: u64,
    is_directory: bool,
    last_use: u64,
}

/// What an Interest below the prefix addresses.
#[derive(Debug, PartialEq, Eq)]
struct Addressed<'a> {
    /// Path below the root, without a slash at either end; empty for the root.
    path: Vec<u8>,
    /// Components after those of the path.
    suffix: &'a [u8],
}

impl ServedTree {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    /// If it cannot be opened or is no directory.
    pub fn open(path: &Path, settings: ServeSettings) -> Result<Self, ServeError> {
        let root = File::open(path).map_err(ServeError::File)?;
        if !root.metadata().map_err(ServeError::File)?.is_dir() {
            return Err(ServeError::NotADirectory);
        }
        let (open, counters) = (BTreeMap::new(), ServeCounters::default());
        let mut tree = Self { root: root.into(), settings, open, uses: 0, counters };
        // Shows at once whether its segments fit their packets.
        tree.object(&[])?;
        Ok(tree)
    }

    /// The bytes of the Data for an Interest for `name` (concatenated components).
    fn bytes_for(&mut self, name: &[u8], can_be_prefix: bool) -> io::Result<Option<Bytes>> {
        if let Some(certificate) = certificate_for(&self.settings, name, can_be_prefix) {
            return Ok(Some(certificate));
        }
        let Some(addressed) = addressed(&self.settings.prefix, name) else { return Ok(None) };
        let object = match self.object(&addressed.path) {
            Ok(object) => object,
            Err(ServeError::File(why)) if !is_missing(&why) => return Err(why),
            Err(_) => return Ok(None),
        };
        let mut metadata = Vec::new();
        rdr::push_metadata(&mut metadata);
        let before = object.served.counters();
        let answer = if object.is_directory && addressed.suffix == metadata && can_be_prefix {
            object.served.metadata(name).map(Some)
        } else {
            object.served.bytes_for(name, can_be_prefix)
        };
        let after = object.served.counters();
        self.counters.segments += after.segments - before.segments;
        self.counters.bytes += after.bytes - before.bytes;
        self.counters.metadata += after.metadata - before.metadata;
        answer
    }

    /// The present version of the object at `path`.
    fn object(&mut self, path: &[u8]) -> Result<&mut OpenObject, ServeError> {
        self.uses += 1;
        let has_changed = |object: &mut OpenObject| object.served.look_for_change().is_some();
        let is_replaced = |object: &OpenObject| self.inode(path) != Some(object.inode);
        let is_replaced = self.open.get(path).is_some_and(is_replaced);
        if is_replaced || self.open.get_mut(path).is_some_and(has_changed) {
            self.open.remove(path);
        }
        if !self.open.contains_key(path) {
            let opened = self.open_object(path)?;
            self.make_room();
            self.open.insert(path.to_vec(), opened);
        }
        let object = self.open.get_mut(path).ok_or(ServeError::NotAFile)?;
        object.last_use = self.uses;
        Ok(object)
    }

    /// Number of the file or directory that is at `path` now.
    fn inode(&self, path: &[u8]) -> Option<u64> {
        let (file, _) = self.open_with(path, OFlags::PATH).ok()?;
        Some(fstat(&file).ok()?.st_ino)
    }

    fn make_room(&mut self) {
        if self.open.len() >= MAX_OPEN
            && let Some(path) = self.open.iter().min_by_key(|(_, object)| object.last_use)
        {
            let path = path.0.clone();
            self.open.remove(&path);
        }
    }

    fn open_object(&self, path: &[u8]) -> Result<OpenObject, ServeError> {
        let (file, kind) = self.open_below(path).map_err(ServeError::File)?;
        let mut prefix = self.settings.prefix.clone();
        for component in path.split(|byte| *byte == b'/').filter(|component| !component.is_empty()) {
            push_component(&mut prefix, types::GENERIC_NAME_COMPONENT as u16, component);
        }
        let is_directory = kind == FileType::Directory;
        let inode = fstat(&file).map_err(|why| ServeError::File(why.into()))?.st_ino;
        let source = match kind {
            FileType::Directory => {
                push_component(&mut prefix, types::KEYWORD_NAME_COMPONENT as u16, LISTING);
                let listing = self.listing(path, &file).map_err(ServeError::File)?;
                ContentSource::Listing(WatchedFile::of(file).map_err(ServeError::File)?, listing)
            }
            FileType::RegularFile => ContentSource::File(WatchedFile::of(file).map_err(ServeError::File)?),
            _ => return Err(ServeError::NotAFile),
        };
        let settings = ServeSettings { prefix, version: None, ..self.settings.clone() };
        Ok(OpenObject { served: Served::of(source, settings)?, inode, is_directory, last_use: self.uses })
    }

    /// Opens a file or directory at or below the root. Anything else is not opened, which could have an effect on a device.
    fn open_below(&self, path: &[u8]) -> io::Result<(File, FileType)> {
        let (_, kind) = self.open_with(path, OFlags::PATH)?;
        if !matches!(kind, FileType::Directory | FileType::RegularFile) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.open_with(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)
    }

    fn open_with(&self, path: &[u8], flags: OFlags) -> io::Result<(File, FileType)> {
        let path = if path.is_empty() { b"." } else { path };
        // The system refuses a path that leaves the root at any of its components.
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let opened = openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)?;
        let kind = FileType::from_raw_mode(fstat(&opened)?.st_mode);
        Ok((File::from(opened), kind))
    }

    /// Names in the directory `file` at `path`, in the order of their bytes.
    fn listing(&self, path: &[u8], file: &File) -> io::Result<Vec<u8>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(file)? {
            let mut name = entry?.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." {
                continue;
            }
            let below = if path.is_empty() { name.clone() } else { [path, &name].join(&b'/') };
            match self.open_with(&below, OFlags::PATH) {
                Ok((_, FileType::Directory)) => name.push(b'/'),
                Ok((_, FileType::RegularFile)) => {}
                _ => continue,
            }
            if names.len() >= MAX_LISTED {
                let why = format!("a directory of more than {MAX_LISTED} entries is not listed");
                return Err(io::Error::other(why));
            }
            names.push(name);
        }
        names.sort_unstable();
        Ok(names.into_iter().flat_map(|name| [name, vec![0]].concat()).collect())
    }
}

impl Responder for ServedTree {
    fn answer(
        &mut self,
        requested: &Packet<Bytes>,
        client: &mut Client,
    ) -> io::Result<Option<Packet<Bytes>>> {
        let Kind::Interest(interest) = requested.header.kind else { return Ok(None) };
        self.counters.interests += 1;
        let answer = match InterestView::parse(&requested.body) {
            Ok(view) => self.bytes_for(view.name.components(), interest.can_be_prefix)?,
            Err(_) => None,
        };
        let Some(bytes) = answer else {
            self.counters.unanswered += 1;
            return Ok(None);
        };
        packet(bytes, &interest, client).map(Some)
    }

    /// Files may change: their next version is served then.
    fn look_for_change(&mut self) -> Option<String> {
        None
    }

    fn counters(&self) -> ServeCounters {
        self.counters
    }

    fn has(&self, name: &[u8]) -> bool {
        is_name_of(&self.settings, name)
    }
}

/// Path and suffix of a name; `None` if it is not below `prefix`, or a component cannot be that of a path.
fn addressed<'a>(prefix: &[u8], name: &'a [u8]) -> Option<Addressed<'a>> {
    let below = name.strip_prefix(prefix)?;
    let (mut path, mut reader, mut suffix) = (Vec::new(), TlvReader::new(below), below);
    while let Ok(Some(component)) = reader.next() {
        if component.kind != types::GENERIC_NAME_COMPONENT {
            break;
        }
        let value = component.value;
        if matches!(value, b"" | b"." | b"..") || value.iter().any(|byte| matches!(byte, b'/' | 0)) {
            return None;
        }
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(value);
        suffix = &suffix[component.end() - component.start..];
    }
    Some(Addressed { path, suffix })
}

/// Whether an error is only that there is no such file, or none that may be read.
fn is_missing(why: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::NOENT, Errno::NOTDIR, Errno::XDEV, Errno::LOOP, Errno::NAMETOOLONG, Errno::ACCESS];
    why.kind() == io::ErrorKind::NotFound
        || why.raw_os_error().is_some_and(|code| missing.iter().any(|known| known.raw_os_error() == code))
}
