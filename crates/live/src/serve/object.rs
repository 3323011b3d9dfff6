//! One version of an object, cut into segments.

use std::io;
use std::path::Path;

use bytes::Bytes;
use tidegate_core::ndn::name::Segment;
use tidegate_wire::name::push_segment;
use tidegate_wire::tlv::{self, TlvReader, types};
use tidegate_wire::{DataBuilder, EncodeError, rdr};

use super::source::{ContentSource, WatchedFile};
use super::{MAX_SEGMENT_SIZE, METADATA_FRESHNESS, Responder, ServeCounters, ServeError, ServeSettings};
use crate::clock::MonotonicClock;

/// One version of an object that is being served.
#[derive(Debug)]
pub struct Served {
    source: ContentSource,
    settings: ServeSettings,
    /// Concatenated components, version included.
    versioned: Vec<u8>,
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
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or cannot be segmented as requested.
    pub fn open(path: &Path, settings: ServeSettings) -> Result<Self, ServeError> {
        // Before the file: mistakes of the caller come first.
        check_size(&settings)?;
        Self::of(ContentSource::File(WatchedFile::open(path)?), settings)
    }

    /// An object whose content is in memory. Without a version in `settings` its version is the present time.
    ///
    /// # Errors
    /// If the content cannot be segmented as requested.
    pub fn of_content(content: Vec<u8>, settings: ServeSettings) -> Result<Self, ServeError> {
        Self::of(ContentSource::Memory(content), settings)
    }

    pub(super) fn of(source: ContentSource, settings: ServeSettings) -> Result<Self, ServeError> {
        check_size(&settings)?;
        let size = settings.segment_size;
        let last = source.len().saturating_sub(1) / size as u64;
        let last_segment = u32::try_from(last).ok().filter(|last| *last < Segment::NONE.0);
        let last_segment = last_segment.ok_or(ServeError::TooLarge { bytes: source.len() })?;
        let version = settings.version.unwrap_or(source.changed_us());
        // A copy may have the time of change of another file.
        let content_id = match settings.version {
            Some(_) => Some(source.hash().map_err(ServeError::File)?),
            None => source.identity(),
        };
        let (mut versioned, mut metadata_name) = (settings.prefix.clone(), settings.prefix.clone());
        rdr::push_version(&mut versioned, version);
        rdr::push_metadata(&mut metadata_name);
        let mut final_block = Vec::new();
        push_segment(&mut final_block, last_segment);
        let mut served = Self {
            source,
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

    /// The name of the object's version, concatenated components.
    pub fn versioned_name(&self) -> &[u8] {
        &self.versioned
    }

    /// Version of the object.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Number of segments, at least 1.
    pub fn segments(&self) -> u64 {
        u64::from(self.last_segment) + 1
    }

    /// Bytes of the content.
    pub fn len(&self) -> u64 {
        self.source.len()
    }

    /// Whether the content has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the Data for an Interest for `name` (concatenated components).
    pub(super) fn bytes_for(&mut self, name: &[u8], can_be_prefix: bool) -> io::Result<Option<Bytes>> {
        if let Some(rest) = name.strip_prefix(&self.versioned[..])
            && let Some(segment) = only_segment(rest)
        {
            return if segment <= self.last_segment { self.segment(segment).map(Some) } else { Ok(None) };
        }
        if let Some(certificate) = certificate_for(&self.settings, name, can_be_prefix) {
            return Ok(Some(certificate));
        }
        if name == self.metadata_name {
            return if can_be_prefix { self.metadata(name).map(Some) } else { Ok(None) };
        }
        let is_above = name.starts_with(&self.settings.prefix) && self.versioned.starts_with(name);
        if can_be_prefix && is_above { self.segment(0).map(Some) } else { Ok(None) }
    }

    /// Reads a segment and signs it.
    fn segment(&mut self, segment: u32) -> io::Result<Bytes> {
        let size = self.settings.segment_size as u64;
        let from = u64::from(segment) * size;
        let len = (self.source.len().saturating_sub(from)).min(size);
        let mut content = std::mem::take(&mut self.buffer);
        content.resize(len as usize, 0);
        let read = self.source.read(&mut content, from);
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

    /// Metadata that names the version, in a Data below `requested` whose own version is the current time, so that caches
    /// never take it for an older one.
    pub(super) fn metadata(&mut self, requested: &[u8]) -> io::Result<Bytes> {
        let mut name = requested.to_vec();
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
}

impl Responder for Served {
    fn bytes_of(&mut self, name: &[u8], can_be_prefix: bool) -> io::Result<Option<Bytes>> {
        self.counters.interests += 1;
        // Nothing is answered after a change: a version never changes.
        let answer = match self.source.has_changed() {
            true => Ok(None),
            false => self.bytes_for(name, can_be_prefix),
        };
        self.counters.unanswered += u64::from(!matches!(answer, Ok(Some(_))));
        answer
    }

    fn look_for_change(&mut self) -> Option<String> {
        self.source.look_for_change()
    }

    fn counters(&self) -> ServeCounters {
        self.counters
    }

    fn has(&self, name: &[u8]) -> bool {
        is_name_of(&self.settings, name)
    }
}

/// The certificate of the signer, if an Interest for `name` requests it.
pub(super) fn certificate_for(settings: &ServeSettings, name: &[u8], can_be_prefix: bool) -> Option<Bytes> {
    settings.certificate.as_ref()?.packet_for(name, can_be_prefix).cloned()
}

/// Whether a name is below that of the object or directory, or of the key that signs it.
pub(super) fn is_name_of(settings: &ServeSettings, name: &[u8]) -> bool {
    let certificate = settings.certificate.as_ref();
    name.starts_with(&settings.prefix)
        || certificate.is_some_and(|certificate| name.starts_with(certificate.key_name()))
}

fn check_size(settings: &ServeSettings) -> Result<(), ServeError> {
    match settings.segment_size {
        1..=MAX_SEGMENT_SIZE => Ok(()),
        size => Err(ServeError::SegmentSize(size)),
    }
}

/// The number of a segment, if `components` are its component and nothing else.
fn only_segment(components: &[u8]) -> Option<u32> {
    let element = TlvReader::new(components).only().ok()?;
    let number = (element.kind == types::SEGMENT_NAME_COMPONENT).then(|| element.integer().ok())??;
    // In its shortest form: any other is another component, so that the Data would not have the name of the Interest.
    u32::try_from(number).ok().filter(|_| tlv::integer_len(number) == element.value.len())
}
