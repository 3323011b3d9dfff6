//! Several objects and directories in one process, with one cache of signed segments.

use std::io;

use bytes::Bytes;
use tidegate_core::ndn::name::Segment;
use tidegate_wire::tlv::{TlvReader, types};
use tidegate_wire::{DataView, signature_type};

use super::cache::{SegmentCache, SignedSegment};
use super::{Responder, ServeCounters};

/// A producer, and the words for it in messages, such as the path of its file.
pub type Publication = (String, Box<dyn Responder>);

/// Producers that share a cache of signed segments. An Interest is answered by the first one that has its name.
#[derive(Debug)]
pub struct Publications {
    producers: Vec<Publication>,
    cache: SegmentCache,
    /// Counters of what no producer has answered.
    counters: ServeCounters,
}

impl Publications {
    /// Producers in the order in which they are looked at, and the maximum size of the cache, bytes; 0 for none.
    pub fn new(producers: Vec<Publication>, cache_size: usize) -> Self {
        Self { producers, cache: SegmentCache::new(cache_size), counters: ServeCounters::default() }
    }

    fn find_cached(&mut self, name: &[u8]) -> Option<Bytes> {
        let SignedSegment { packet, content_size } = self.cache.find(name)?;
        self.counters.interests += 1;
        self.counters.segments += 1;
        self.counters.cached += 1;
        self.counters.bytes += content_size as u64;
        Some(packet)
    }
}

impl Publications {
    /// Keeps a segment if the Interest has its whole name, and it is worth its place.
    fn keep(&mut self, name: &[u8], packet: &Bytes) {
        let Ok(found) = DataView::parse(packet) else { return };
        if found.name.components() == name && is_worth_keeping(&found, self.cache.limit()) {
            let segment = SignedSegment { packet: packet.clone(), content_size: found.content.len() };
            self.cache.insert(name, segment);
        }
    }
}

/// Whether a segment may be requested again while it is in a cache of `limit` bytes, or a key has signed it. A fetch of an object that
/// is larger than the cache replaces each segment before the next fetch requests it, and a digest costs less than the cache.
fn is_worth_keeping(found: &DataView<'_>, limit: usize) -> bool {
    let Segment(last) = found.final_segment();
    let object = (u64::from(last) + 1) * found.packet().len() as u64;
    found.signature.kind != signature_type::DIGEST_SHA256 || object <= limit as u64
}

impl Responder for Publications {
    fn bytes_of(&mut self, name: &[u8], can_be_prefix: bool) -> io::Result<Option<Bytes>> {
        if let Some(bytes) = self.find_cached(name) {
            return Ok(Some(bytes));
        }
        let Some((label, producer)) = self.producers.iter_mut().find(|(_, producer)| producer.has(name))
        else {
            self.counters.interests += 1;
            self.counters.unanswered += 1;
            return Ok(None);
        };
        let answer = producer.bytes_of(name, can_be_prefix);
        let answer = answer.map_err(|why| io::Error::new(why.kind(), format!("{label}: {why}")))?;
        if let Some(packet) = &answer
            && self.cache.limit() > 0
            && is_segment(name)
        {
            self.keep(name, packet);
        }
        Ok(answer)
    }

    fn look_for_change(&mut self) -> Option<String> {
        let change = |(label, producer): &mut Publication| {
            producer.look_for_change().map(|change| format!("{label}: {change}"))
        };
        self.producers.iter_mut().find_map(change)
    }

    fn counters(&self) -> ServeCounters {
        let counters = self.producers.iter().map(|(_, producer)| producer.counters());
        counters.fold(self.counters, ServeCounters::plus)
    }

    fn has(&self, name: &[u8]) -> bool {
        self.producers.iter().any(|(_, producer)| producer.has(name))
    }
}

/// Whether the name of an Interest is that of one segment. Only such Data are kept: their names never get other content.
fn is_segment(name: &[u8]) -> bool {
    let (mut reader, mut last) = (TlvReader::new(name), None);
    while let Ok(Some(component)) = reader.next() {
        last = Some(component.kind);
    }
    last == Some(types::SEGMENT_NAME_COMPONENT)
}
