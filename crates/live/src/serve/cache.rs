//! Signed segments that were requested lately, within a bound on their size.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

/// Bytes that an entry takes besides its name and its packet.
const ENTRY_SIZE: usize = 160;

/// A segment that was signed, and the size of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignedSegment {
    /// Bytes of the whole Data.
    pub(super) packet: Bytes,
    /// Bytes of its content.
    pub(super) content_size: usize,
}

#[derive(Debug)]
struct CacheEntry {
    segment: SignedSegment,
    /// Whether it was requested again since it was inserted or last passed over.
    is_hot: bool,
}

/// Signed segments by name. The oldest one that was not requested again is removed first (second chance).
#[derive(Debug)]
pub(super) struct SegmentCache {
    /// Maximum of `size`, bytes.
    limit: usize,
    size: usize,
    entries: BTreeMap<Bytes, CacheEntry>,
    order: VecDeque<Bytes>,
}

impl SegmentCache {
    /// A cache of at most `limit` bytes; with 0 it stays empty.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, size: 0, entries: BTreeMap::new(), order: VecDeque::new() }
    }

    /// Maximum size of all kept segments together, bytes.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The segment of this name (concatenated components).
    pub(super) fn find(&mut self, name: &[u8]) -> Option<SignedSegment> {
        let entry = self.entries.get_mut(name)?;
        entry.is_hot = true;
        Some(entry.segment.clone())
    }

    /// Adds a segment, and removes others for which there is no room then.
    pub(super) fn insert(&mut self, name: &[u8], segment: SignedSegment) {
        let size = size_of(name, &segment);
        if size > self.limit || self.entries.contains_key(name) {
            return;
        }
        while self.size + size > self.limit {
            self.remove_one();
        }
        let name = Bytes::copy_from_slice(name);
        self.entries.insert(name.clone(), CacheEntry { segment, is_hot: false });
        self.order.push_back(name);
        self.size += size;
    }

    fn remove_one(&mut self) {
        while let Some(name) = self.order.pop_front() {
            let Some(entry) = self.entries.get_mut(&name) else { continue };
            if std::mem::take(&mut entry.is_hot) {
                self.order.push_back(name);
                continue;
            }
            self.size -= size_of(&name, &entry.segment);
            self.entries.remove(&name);
            return;
        }
    }
}

fn size_of(name: &[u8], segment: &SignedSegment) -> usize {
    name.len() + segment.packet.len() + ENTRY_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment that takes 1000 bytes in the cache.
    fn segment() -> SignedSegment {
        SignedSegment { packet: Bytes::from(vec![7; 1000 - ENTRY_SIZE - 1]), content_size: 700 }
    }

    /// Names of one letter that the cache has.
    fn present(cache: &SegmentCache) -> String {
        cache.entries.keys().map(|name| char::from(name[0])).collect()
    }

    #[test]
    fn the_size_stays_within_the_limit_and_the_oldest_goes_first() {
        let mut cache = SegmentCache::new(2_999);
        for name in [b"a", b"b", b"c", b"d"] {
            cache.insert(name, segment());
            assert!(cache.size <= 2_999 && cache.order.len() == cache.entries.len());
        }
        assert_eq!(present(&cache), "cd");
    }

    #[test]
    fn a_segment_that_was_requested_again_stays_longer() {
        let mut cache = SegmentCache::new(2_000);
        cache.insert(b"a", segment());
        cache.insert(b"b", segment());
        assert_eq!(cache.find(b"a"), Some(segment()));
        cache.insert(b"c", segment());
        assert_eq!(present(&cache), "ac");
        cache.insert(b"d", segment());
        assert_eq!(present(&cache), "cd", "it was requested once only");
    }

    #[test]
    fn when_all_were_requested_again_one_goes_all_the_same() {
        let mut cache = SegmentCache::new(2_000);
        for name in [b"a", b"b"] {
            cache.insert(name, segment());
            cache.find(name);
        }
        cache.insert(b"c", segment());
        assert_eq!(present(&cache), "bc");
    }

    #[test]
    fn what_is_larger_than_the_limit_is_not_kept() {
        let mut cache = SegmentCache::new(999);
        cache.insert(b"a", segment());
        assert_eq!((cache.find(b"a"), cache.size), (None, 0));
    }
}
