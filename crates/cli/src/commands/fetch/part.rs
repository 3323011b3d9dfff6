//! State of `FILE.part`: version, number of segments, hash of its content, and how this was verified.
//!
//! It is the file `FILE.part.state`, written when a fetch ends early. A part without a state, or with one
//! that does not match it, is not resumed: versions never mix.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_live::fetch::Trust;
use tidegate_live::own_file;
use tidegate_wire::Verifier;

/// First line of the file.
const FORMAT: &str = "tidegate part 2";

/// What a fetch has written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Number of segments, consecutive from the first one.
    pub(super) segments: u32,
    /// Bytes of their content.
    pub(super) bytes: u64,
    /// Hash by which their producer named the content, if it did.
    pub(super) content_id: Option<u64>,
}

impl Progress {
    /// Both together, one after the other.
    pub(super) fn and(self, more: Self) -> Self {
        Self {
            segments: self.segments + more.segments,
            bytes: self.bytes + more.bytes,
            content_id: self.content_id.or(more.content_id),
        }
    }
}

/// A part that can be resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartState {
    /// Versioned name of the object, as a URI.
    pub(super) name: String,
    /// By what its segments were verified, as [`verified_by`] gives it.
    pub(super) verified: String,
    /// Segments and bytes that it holds.
    pub(super) progress: Progress,
    /// BLAKE3 hash of that content, hexadecimal.
    hash: String,
}

/// By what segments are verified, in one word: `nothing`, `digest`, or `key:` and the hash of a public key.
pub(super) fn verified_by(trust: &Trust) -> String {
    match trust {
        Trust::Anything => "nothing".to_owned(),
        Trust::Digest | Trust::Key(Verifier::Digest) => "digest".to_owned(),
        Trust::Key(Verifier::Key(key)) => format!("key:{}", blake3::hash(&key.to_der()).to_hex()),
    }
}

/// Path of the state of a part.
pub(super) fn state_path(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".state");
    PathBuf::from(name)
}

impl PartState {
    /// Notes that the beginning of `part` is that of `name`, verified by `verified`.
    pub(super) fn note(part: &Path, (name, verified): (&str, &str), progress: Progress) -> io::Result<()> {
        let Progress { segments, bytes, content_id } = progress;
        let hash = hash(part, bytes)?;
        let mut text = format!(
            "{FORMAT}\nname {name}\nverified {verified}\nsegments {segments}\nbytes {bytes}\nblake3 {hash}\n"
        );
        if let Some(id) = content_id {
            text.push_str(&format!("content {id}\n"));
        }
        own_file::write(&state_path(part), text.as_bytes())
    }

    /// The state of `part`; the error says why it cannot be used, `None` if there is none.
    pub(super) fn read(part: &Path) -> Option<Result<Self, String>> {
        let text = own_file::read(&state_path(part)).ok()?;
        let state = String::from_utf8(text).ok().and_then(|text| Self::parse(&text));
        Some(match state {
            None => Err("its state cannot be read".to_owned()),
            Some(state) => match hash(part, state.progress.bytes) {
                Ok(found) if found == state.hash => Ok(state),
                Ok(_) => Err("its content has changed".to_owned()),
                Err(why) => Err(why.to_string()),
            },
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut value = |key: &str| lines.next()?.strip_prefix(key).map(str::to_owned);
        value(FORMAT).filter(String::is_empty)?;
        let name = value("name ")?;
        let verified = value("verified ")?;
        let segments = value("segments ")?.parse().ok()?;
        let bytes = value("bytes ")?.parse().ok()?;
        let hash = value("blake3 ")?;
        let content_id = match value("content ") {
            Some(id) => Some(id.parse().ok()?),
            None => None,
        };
        Some(Self { name, verified, progress: Progress { segments, bytes, content_id }, hash })
    }
}

/// Hash of the first `bytes` bytes of a file; an error when it has fewer.
fn hash(path: &Path, bytes: u64) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    // Only the part that the state describes: a later fetch may have been killed while it wrote more.
    let mut content = io::Read::take(own_file::open_to_read(path)?, bytes);
    let (mut buffer, mut read) = (vec![0; 64 * 1024], 0);
    loop {
        let count = io::Read::read(&mut content, &mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
        read += count as u64;
    }
    if read < bytes {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("{read} of {bytes} bytes are left"),
        ));
    }
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_part_is_gone_on_from_only_as_long_as_its_content_is_what_was_noted() {
        let part = std::env::temp_dir().join(format!("tidegate-part-{}", std::process::id()));
        let _ = fs::remove_file(state_path(&part));
        fs::write(&part, b"content and more").expect("writable");
        assert_eq!(PartState::read(&part), None);
        let progress = Progress { segments: 3, bytes: 7, content_id: Some(12) };
        PartState::note(&part, ("/f/v=1", "digest"), progress).expect("writable");
        let state = PartState::read(&part).expect("noted").expect("sound");
        assert_eq!(
            (state.name.as_str(), state.verified.as_str(), state.progress),
            ("/f/v=1", "digest", progress)
        );
        fs::write(&part, b"contenT").expect("writable");
        assert_eq!(PartState::read(&part), Some(Err("its content has changed".to_owned())));
        fs::write(&part, b"conten").expect("writable");
        assert_eq!(PartState::read(&part), Some(Err("6 of 7 bytes are left".to_owned())));
        fs::write(state_path(&part), "tidegate part 3\n").expect("writable");
        assert_eq!(PartState::read(&part), Some(Err("its state cannot be read".to_owned())));
        fs::remove_file(state_path(&part)).and_then(|()| fs::remove_file(&part)).expect("removed");
    }
}
