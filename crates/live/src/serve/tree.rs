//! A directory whose files are objects below one name: `PREFIX/dir/file` is the file `dir/file`.
//!
//! Names are those of ndn6-file-server (yoursunny/ndn6-tools, file-server.md): the generic components after the prefix are the path, and
//! the listing of a directory is the object `PREFIX/dir/32=ls`, whose content has the names in it, each with a zero byte at
//! its end; those of directories have a `/` before it. Metadata of a directory names its listing. What is neither a file nor
//! a directory is left out, and so is what lies outside of the directory: `..`, and symbolic links that lead out of it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use tidegate_wire::tlv::{TlvReader, types};
use tidegate_wire::{name::push_component, rdr};

use super::object::{certificate_for, is_name_of};
use super::source::{ContentSource, WatchedFile};
use super::{Responder, ServeCounters, ServeError, ServeSettings, Served};

/// Maximum number of files and directories that are open at the same time.
const MAX_OPEN: usize = 64;

/// Maximum number of entries of a directory that is listed; a larger one has no listing.
const MAX_LISTED: usize = if cfg!(test) { 3 } else { 100_000 };

/// Maximum size of the listings that are kept, bytes; the one in use may be larger.
const MAX_LISTING_BYTES: u64 = if cfg!(test) { 16 } else { 64_000_000 };

/// Keyword of the component that addresses the listing of a directory.
const LISTING: &[u8] = b"ls";

/// A directory that is served.
#[derive(Debug)]
pub struct ServedTree {
    root: OwnedFd,
    /// Path of the root, for messages.
    path: PathBuf,
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
    /// Whether it has content; a directory with too many entries has none until it changes.
    is_listed: bool,
    last_use: u64,
}

impl OpenObject {
    /// Memory of its listing, bytes.
    fn listing_bytes(&self) -> u64 {
        if self.is_directory { self.served.len() } else { 0 }
    }

    /// What it costs to open the object again: a directory is read whole.
    fn cost(&self) -> u64 {
        if self.is_listed { self.listing_bytes() } else { u64::MAX }
    }
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
        let path = path.to_owned();
        let mut tree = Self { root: root.into(), path, settings, open, uses: 0, counters };
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
            Err(ServeError::File(why)) if !is_missing(&why) => return Err(of_path(&addressed.path, &why)),
            Err(_) => return Ok(None),
        };
        if !object.is_listed {
            return Ok(None);
        }
        let mut metadata = Vec::new();
        rdr::push_metadata(&mut metadata);
        let before = object.served.counters();
        let answer = if object.is_directory && addressed.suffix == metadata && can_be_prefix {
            object.served.metadata(name).map(Some)
        } else {
            object.served.bytes_for(name, can_be_prefix)
        };
        let answer = answer.map_err(|why| of_path(&addressed.path, &why));
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
            self.make_room(opened.listing_bytes());
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

    /// Closes objects until there is room for one with a listing of this size: listings that were not used for the longest time, then
    /// what costs the least to open again.
    fn make_room(&mut self, listing_bytes: u64) {
        let mut listings: u64 = self.open.values().map(OpenObject::listing_bytes).sum();
        while listings + listing_bytes > MAX_LISTING_BYTES {
            let has_listing = |object: &OpenObject| object.listing_bytes() > 0;
            let Some(closed) = self.close_least(has_listing, |object| object.last_use) else { break };
            listings -= closed.listing_bytes();
        }
        while self.open.len() >= MAX_OPEN {
            self.close_least(|_| true, |object| (object.cost(), object.last_use));
        }
    }

    /// Closes the object with the lowest `rank` among some.
    fn close_least<R: Ord>(
        &mut self,
        is_among: impl Fn(&OpenObject) -> bool,
        rank: impl Fn(&OpenObject) -> R,
    ) -> Option<OpenObject> {
        let among = self.open.iter().filter(|(_, object)| is_among(object));
        let path = among.min_by_key(|(_, object)| rank(object))?.0.clone();
        self.open.remove(&path)
    }

    fn open_object(&self, path: &[u8]) -> Result<OpenObject, ServeError> {
        let (file, kind) = self.open_below(path).map_err(ServeError::File)?;
        let mut prefix = self.settings.prefix.clone();
        for component in path.split(|byte| *byte == b'/').filter(|component| !component.is_empty()) {
            push_component(&mut prefix, types::GENERIC_NAME_COMPONENT as u16, component);
        }
        let is_directory = kind == FileType::Directory;
        let inode = fstat(&file).map_err(|why| ServeError::File(why.into()))?.st_ino;
        let mut is_listed = true;
        let source = match kind {
            FileType::Directory => {
                push_component(&mut prefix, types::KEYWORD_NAME_COMPONENT as u16, LISTING);
                let listing = self.listing(path, &file).map_err(ServeError::File)?;
                is_listed = listing.is_some();
                if !is_listed {
                    let path = self.path.join(OsStr::from_bytes(path));
                    let path = path.display();
                    tracing::warn!(
                        "{path}: a directory of more than {MAX_LISTED} entries is served without a listing"
                    );
                }
                let listing = listing.unwrap_or_default();
                ContentSource::Listing(WatchedFile::of(file).map_err(ServeError::File)?, listing)
            }
            FileType::RegularFile => ContentSource::File(WatchedFile::of(file).map_err(ServeError::File)?),
            _ => return Err(ServeError::NotAFile),
        };
        let settings = ServeSettings { prefix, version: None, ..self.settings.clone() };
        let served = Served::of(source, settings)?;
        Ok(OpenObject { served, inode, is_directory, is_listed, last_use: self.uses })
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

    /// Names in the directory `file` at `path`, in the order of their bytes; `None` if there are too many.
    fn listing(&self, path: &[u8], file: &File) -> io::Result<Option<Vec<u8>>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(file)? {
            let entry = entry?;
            let mut name = entry.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." {
                continue;
            }
            match self.kind_of(path, &name, entry.file_type()) {
                FileType::Directory => name.push(b'/'),
                FileType::RegularFile => {}
                _ => continue,
            }
            if names.len() >= MAX_LISTED {
                return Ok(None);
            }
            names.push(name);
        }
        names.sort_unstable();
        Ok(Some(names.into_iter().flat_map(|name| [name, vec![0]].concat()).collect()))
    }

    /// Kind of the entry `name` of the directory at `path`, which states `kind`. A link is followed, as far as it stays below
    /// the root.
    fn kind_of(&self, path: &[u8], name: &[u8], kind: FileType) -> FileType {
        if !matches!(kind, FileType::Symlink | FileType::Unknown) {
            return kind;
        }
        let below = if path.is_empty() { name.to_vec() } else { [path, name].join(&b'/') };
        self.open_with(&below, OFlags::PATH).map_or(FileType::Unknown, |(_, kind)| kind)
    }
}

impl Responder for ServedTree {
    fn bytes_of(&mut self, name: &[u8], can_be_prefix: bool) -> io::Result<Option<Bytes>> {
        self.counters.interests += 1;
        let answer = self.bytes_for(name, can_be_prefix);
        self.counters.unanswered += u64::from(!matches!(answer, Ok(Some(_))));
        answer
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

/// An error with the path below the root; that of the root itself is known to the caller.
fn of_path(path: &[u8], why: &io::Error) -> io::Error {
    match path {
        b"" => io::Error::new(why.kind(), why.to_string()),
        path => io::Error::new(why.kind(), format!("{}: {why}", String::from_utf8_lossy(path))),
    }
}

/// Whether an error is only that there is no such file, or none that may be read.
fn is_missing(why: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::NOENT, Errno::NOTDIR, Errno::XDEV, Errno::LOOP, Errno::NAMETOOLONG, Errno::ACCESS];
    why.kind() == io::ErrorKind::NotFound
        || why.raw_os_error().is_some_and(|code| missing.iter().any(|known| known.raw_os_error() == code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tidegate_core::ndn::packet::Millis;
    use tidegate_wire::{DataView, Signer};

    fn folder(test: &str, files: &[&str]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("tidegate-listed-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("below the root")).expect("writable");
            fs::write(&path, "content").expect("writable");
            // A change within one tick of the clock of files would not be seen.
            let parent = File::open(path.parent().expect("below the root")).expect("readable");
            parent.set_modified(std::time::UNIX_EPOCH).expect("own");
        }
        root
    }

    fn served(root: &Path) -> ServedTree {
        let settings = ServeSettings {
            prefix: crate::name_uri::parse("/t").expect("a name"),
            segment_size: 100,
            freshness: Millis(10),
            signer: Signer::Digest,
            certificate: None,
            version: None,
        };
        ServedTree::open(root, settings).expect("opened")
    }

    /// Content of the first segment of the object at `uri`.
    fn content(tree: &mut ServedTree, uri: &str) -> Option<Vec<u8>> {
        let name = crate::name_uri::parse(uri).expect("a name");
        let data = tree.bytes_of(&name, true).expect("readable")?;
        Some(DataView::parse(&data).expect("a Data").content.to_vec())
    }

    #[test]
    fn a_directory_with_too_many_entries_is_read_once_and_served_without_a_listing() {
        let root = folder("large", &["a", "b", "c", "d"]);
        let mut tree = served(&root);
        for _ in 0..3 {
            assert_eq!(content(&mut tree, "/t/32=ls"), None);
        }
        assert_eq!(content(&mut tree, "/t/a"), Some(b"content".to_vec()));
        let opened: Vec<bool> = tree.open.values().map(|object| object.is_listed).collect();
        assert_eq!(opened, [false, true], "the directory stays open");
        fs::remove_file(root.join("d")).expect("there");
        assert_eq!(content(&mut tree, "/t/32=ls"), Some(b"a\0b\0c\0".to_vec()), "it has changed");
        fs::remove_dir_all(root).expect("there");
    }

    #[test]
    fn listings_that_are_kept_have_a_bound_and_the_one_in_use_may_exceed_it() {
        let root = folder("bound", &["x/12345", "y/12345", "z/123456789012345678"]);
        let mut tree = served(&root);
        let kept = |tree: &ServedTree| -> Vec<String> {
            let paths = tree.open.keys().map(|path| String::from_utf8_lossy(path).into_owned());
            paths.filter(|path| !path.is_empty()).collect()
        };
        for (uri, listing, expected) in [
            ("/t/x/32=ls", "12345\0", &["x"][..]),
            ("/t/y/32=ls", "12345\0", &["x", "y"]),
            ("/t/z/32=ls", "123456789012345678\0", &["z"]),
        ] {
            assert_eq!(content(&mut tree, uri), Some(listing.as_bytes().to_vec()));
            assert_eq!(kept(&tree), expected);
        }
        fs::remove_dir_all(root).expect("there");
    }

    #[test]
    fn a_listing_stays_while_many_files_are_requested() {
        let files: Vec<String> = (0..=MAX_OPEN).map(|number| format!("many/{number}")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).chain(["few/a"]).collect();
        let root = folder("kept", &files);
        let mut tree = served(&root);
        assert_eq!(content(&mut tree, "/t/few/32=ls"), Some(b"a\0".to_vec()));
        assert_eq!(content(&mut tree, "/t/many/32=ls"), None, "too many entries");
        for file in &files {
            assert_eq!(content(&mut tree, &format!("/t/{file}")), Some(b"content".to_vec()), "{file}");
        }
        assert!(tree.open.len() <= MAX_OPEN);
        assert!([&b"few"[..], b"many"].iter().all(|path| tree.open.contains_key(*path)));
        fs::remove_dir_all(root).expect("there");
    }

    #[test]
    fn an_error_names_the_path_below_the_root() {
        let why = io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(of_path(b"a/b", &why).to_string(), "a/b: permission denied");
        assert_eq!(of_path(b"", &why).to_string(), "permission denied");
    }
}
