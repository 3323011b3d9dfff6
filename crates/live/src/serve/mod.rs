//! Serves a file: segments are read from disk on request; metadata names the version (RDR).
//!
//! Names are those of `ndnputchunks`: `PREFIX/v=<version>/seg=<n>` with the last segment in every Data, and
//! `PREFIX/32=metadata` for the version. An Interest for a shorter name, if it allows longer ones, gets the
//! first segment.

mod error;
mod source;

use std::io;
use std::path::Path;

use bytes::Bytes;
use tidegate_core::ndn::name::{Name, PrefixId, Segment};
use tidegate_core::ndn::packet::{Data, Interest, Kind, Millis, Packet};
use tidegate_wire::name::push_segment;
use tidegate_wire::{Certificate, DataBuilder, EncodeError, InterestView, Signer, rdr};

use crate::client::{Client, ClientError};
use crate::clock::MonotonicClock;
use source::SourceFile;

pub use error::ServeError;

/// Default bytes of content per segment: with a name, a signature and link fields of 200 bytes together
/// the packet still fits one datagram of [`UDP_MTU`](crate::transport::UDP_MTU).
pub const SEGMENT_SIZE: usize = 1200;

/// Maximum bytes of content per segment: 800 are left for everything else in a packet.
pub const MAX_SEGMENT_SIZE: usize = 8000;

/// Bytes of Data that may wait for room in the socket before no more Interests are read.
const BACKLOG: usize = 256 * 1024;

/// FreshnessPeriod of metadata (RDR: 1 to 10 ms, so that caches do not hide a new version).
const METADATA_FRESHNESS: Millis = Millis(10);

/// Parameters of a file that is served.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// Name of the file, concatenated components.
    pub prefix: Vec<u8>,
    /// Bytes of content per segment, 1..=[`MAX_SEGMENT_SIZE`].
    pub segment_size: usize,
    /// FreshnessPeriod of its Data.
    pub freshness: Millis,
    /// Signer of the segments.
    pub signer: Signer,
    /// Certificate of the signer, which is served too.
    pub certificate: Option<Certificate>,
    /// Version; `None` for the time of the file's last change, microseconds since 1970. Data of a version that is given have a
    /// hash of the content, by which a consumer detects that the version is of other content than before.
    pub version: Option<u64>,
}

/// Counters of a served file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeCounters {
    /// Number of Interests received.
    pub interests: u64,
    /// Number of segments sent.
    pub segments: u64,
    /// Bytes of content sent.
    pub bytes: u64,
    /// Number of answers with the version.
    pub metadata: u64,
    /// Number of Interests without an answer.
    pub unanswered: u64,
}

/// A file that is being served.
#[derive(Debug)]
pub struct Served {
    file: SourceFile,
    settings: ServeSettings,
    prefix: PrefixId,
    /// Concatenated components, version included.
    versioned: Vec<u8>,
    versioned_prefix: PrefixId,
    metadata_name: Vec<u8>,
    last_segment: u32,
    final_block: Vec<u8>,
    version: u64,
    /// Part of a hash of the content, for a version that does not depend on it.
    content_id: Option<u64>,
    counters: ServeCounters,
    buffer: Vec<u8>,
    name: Vec<u8>,
}

impl Served {
    /// Opens `path`; its names are those of `client`.
    ///
    /// # Errors
    /// If the file cannot be read or cannot be segmented as requested.
    pub fn open(path: &Path, settings: ServeSettings, client: &mut Client) -> Result<Self, ServeError> {
        let size = settings.segment_size;
        if !(1..=MAX_SEGMENT_SIZE).contains(&size) {
            return Err(ServeError::SegmentSize(size));
        }
        let file = SourceFile::open(path)?;
        let last = file.len().saturating_sub(1) / size as u64;
        let last_segment = u32::try_from(last).ok().filter(|last| *last < Segment::NONE.0);
        let last_segment = last_segment.ok_or(ServeError::TooLarge { bytes: file.len() })?;
        let version = settings.version.unwrap_or(file.changed_us());
        let content_id = settings.version.map(|_| file.hash()).transpose().map_err(ServeError::File)?;
        let (mut versioned, mut metadata_name) = (settings.prefix.clone(), settings.prefix.clone());
        rdr::push_version(&mut versioned, version);
        rdr::push_metadata(&mut metadata_name);
        let mut final_block = Vec::new();
        push_segment(&mut final_block, last_segment);
        let mut served = Self {
            file,
            prefix: client.pin(&settings.prefix)?,
            versioned_prefix: client.pin(&versioned)?,
            settings,
            versioned,
            metadata_name,
            last_segment,
            final_block,
            version,
            content_id,
            counters: ServeCounters::default(),
            buffer: Vec::new(),
            name: Vec::new(),
        };
        // The last segment has the longest name, the first the longest content.
        served.sign_segment(0, &vec![0; size]).map_err(ServeError::Segment)?;
        served.sign_segment(last_segment, &vec![0; size]).map_err(ServeError::Segment)?;
        Ok(served)
    }

    /// The name of the file's version, concatenated components.
    pub fn versioned_name(&self) -> &[u8] {
        &self.versioned
    }

    /// The name of the file's version, interned.
    pub fn versioned_prefix(&self) -> PrefixId {
        self.versioned_prefix
    }

    /// Version of the file.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Number of segments, at least 1.
    pub fn segments(&self) -> u64 {
        u64::from(self.last_segment) + 1
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// Whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counters of the file so far.
    pub fn counters(&self) -> ServeCounters {
        self.counters
    }

    /// Checks whether the file is still as it was when opened; returns once what has changed.
    /// From then on nothing is answered: a version never changes.
    pub fn look_for_change(&mut self) -> Option<String> {
        self.file.look_for_change()
    }

    /// The Data for an Interest; `None` if there is none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn answer(
        &mut self,
        requested: &Packet<Bytes>,
        client: &mut Client,
    ) -> io::Result<Option<Packet<Bytes>>> {
        let Kind::Interest(interest) = requested.header.kind else { return Ok(None) };
        self.counters.interests += 1;
        let answer = if self.file.has_changed() { None } else { self.bytes_for(requested, &interest)? };
        let Some(bytes) = answer else {
            self.counters.unanswered += 1;
            return Ok(None);
        };
        // Our own packet, signed a moment ago.
        let mut packet = client.packet(bytes).map_err(|why| io::Error::other(why.to_string()))?;
        if let Kind::Data(data) = packet.header.kind {
            // The link layer echoes the token of the Interest.
            packet.header.kind = Kind::Data(Data { token: interest.token, ..data });
        }
        Ok(Some(packet))
    }

    fn bytes_for(&mut self, requested: &Packet<Bytes>, interest: &Interest) -> io::Result<Option<Bytes>> {
        let Name { prefix, segment } = requested.header.name;
        if prefix == self.versioned_prefix && segment != Segment::NONE {
            return if segment.0 <= self.last_segment { self.segment(segment.0).map(Some) } else { Ok(None) };
        }
        let Ok(view) = InterestView::parse(&requested.body) else { return Ok(None) };
        let name = view.name.components();
        if let Some(certificate) = &self.settings.certificate
            && name.starts_with(certificate.key_name())
            && certificate.name().starts_with(name)
            && (interest.can_be_prefix || name == certificate.name())
        {
            return Ok(Some(certificate.packet().clone()));
        }
        if name == self.metadata_name {
            return if interest.can_be_prefix { self.metadata().map(Some) } else { Ok(None) };
        }
        let is_above = name.starts_with(&self.settings.prefix) && self.versioned.starts_with(name);
        if interest.can_be_prefix && is_above { self.segment(0).map(Some) } else { Ok(None) }
    }

    /// Reads a segment from disk and signs it.
    fn segment(&mut self, segment: u32) -> io::Result<Bytes> {
        let size = self.settings.segment_size as u64;
        let from = u64::from(segment) * size;
        let len = (self.file.len().saturating_sub(from)).min(size);
        let mut content = std::mem::take(&mut self.buffer);
        content.resize(len as usize, 0);
        let read = self.file.read(&mut content, from);
        let signed = read.and_then(|()| self.sign_segment(segment, &content).map_err(io::Error::other));
        // Before the result is returned, so that the buffer is kept after an error, too.
        self.buffer = content;
        self.counters.segments += 1;
        self.counters.bytes += len;
        signed
    }

    fn sign_segment(&mut self, segment: u32, content: &[u8]) -> Result<Bytes, EncodeError> {
        self.name.clear();
        self.name.extend_from_slice(&self.versioned);
        push_segment(&mut self.name, segment);
        let data = DataBuilder {
            name: &self.name,
            freshness: Some(self.settings.freshness),
            final_block: Some(&self.final_block),
            content_id: self.content_id,
            content,
            ..DataBuilder::default()
        };
        data.sign(&self.settings.signer)
    }

    /// Metadata that names the version, in a Data whose own version is the current time, so that caches never
    /// take it for an older one.
    fn metadata(&mut self) -> io::Result<Bytes> {
        let mut name = self.metadata_name.clone();
        rdr::push_version(&mut name, MonotonicClock::wall_micros());
        push_segment(&mut name, 0);
        let mut final_block = Vec::new();
        push_segment(&mut final_block, 0);
        let content = rdr::metadata(&self.versioned);
        let data = DataBuilder {
            name: &name,
            freshness: Some(METADATA_FRESHNESS),
            final_block: Some(&final_block),
            content: &content,
            ..DataBuilder::default()
        };
        self.counters.metadata += 1;
        data.sign(&self.settings.signer).map_err(io::Error::other)
    }

    /// The file's name without version, interned.
    pub fn prefix(&self) -> PrefixId {
        self.prefix
    }
}

/// Answers Interests until the application is asked to stop, or the file changes: then it returns how, since nothing of
/// it can be served any more. `notify` is called once for each temporary problem.
///
/// # Errors
/// When the connection is lost.
pub fn serve(
    client: &mut Client,
    served: &mut Served,
    mut notify: impl FnMut(&str),
) -> Result<Option<String>, ClientError> {
    client.limit_backlog(BACKLOG);
    let mut inbox = Vec::new();
    let mut has_reported = false;
    loop {
        let outcome = client.exchange(None, &mut inbox);
        match outcome {
            Err(ClientError::Stopped) => return Ok(None),
            outcome => outcome?,
        }
        if let Some(why) = served.look_for_change() {
            return Ok(Some(format!("{why}; serving has stopped")));
        }
        let mut answered = 0;
        for requested in &inbox {
            // The rest waits until the socket has taken some.
            if client.is_backlogged() {
                break;
            }
            answered += 1;
            match served.answer(requested, client) {
                Ok(Some(data)) => client.send(&data),
                Ok(None) => {}
                Err(why) if !has_reported => {
                    has_reported = true;
                    notify(&why.to_string());
                }
                Err(_) => {}
            }
        }
        inbox.drain(..answered);
    }
}
