//! Versions of datasets whose segments can be requested.
//!
//! A request for a dataset gets segment 0 of a new version. The content of the last versions is kept, so that
//! all segments that a client requests belong to one state of the forwarder. Segments are signed on request.

use std::collections::VecDeque;

use bytes::Bytes;
use tidegate_core::ndn::packet::Millis;
use tidegate_wire::name::{self, NameView};
use tidegate_wire::tlv::types;
use tidegate_wire::{DataBuilder, EncodeError, Signer, rdr};

/// Age after which a version is stale at other nodes; this forwarder never caches it as fresh.
pub(super) const FRESHNESS: Millis = Millis(1_000);

/// Maximum content of one segment, bytes.
const SEGMENT: usize = 8_000;

/// Maximum number of versions that are kept.
const MAX_VERSIONS: usize = 32;

/// Maximum content of all versions that are kept, bytes; the last one is always kept.
const MAX_BYTES: usize = 16 << 20;

/// One version of a dataset.
#[derive(Debug)]
struct DatasetVersion {
    /// Components of the name with the version, without a segment.
    name: Vec<u8>,
    content: Bytes,
}

impl DatasetVersion {
    fn last_segment(&self) -> usize {
        self.content.len().saturating_sub(1) / SEGMENT
    }

    /// One segment as a signed Data; `None` if there is no such segment.
    fn segment(&self, number: usize) -> Option<Result<Bytes, EncodeError>> {
        let last = self.last_segment();
        if number > last {
            return None;
        }
        let begin = number * SEGMENT;
        let content = &self.content[begin..self.content.len().min(begin + SEGMENT)];
        let (mut name, mut final_block) = (self.name.clone(), Vec::new());
        name::push_segment(&mut name, u32::try_from(number).ok()?);
        name::push_segment(&mut final_block, u32::try_from(last).ok()?);
        // ndnd requires the FinalBlockId in the first segment that it receives.
        let data = DataBuilder {
            name: &name,
            freshness: Some(FRESHNESS),
            final_block: Some(&final_block),
            content,
            ..DataBuilder::default()
        };
        Some(data.sign(&Signer::Digest))
    }
}

/// The last versions of all datasets.
#[derive(Debug, Default)]
pub(in super::super) struct Datasets {
    versions: VecDeque<DatasetVersion>,
    bytes: usize,
    /// Version of the last dataset, Unix milliseconds.
    last: u64,
}

impl Datasets {
    /// Publishes `content` under `requested` (concatenated components); returns segment 0.
    ///
    /// # Errors
    /// When the name leaves no room for the content in a packet.
    pub fn publish(&mut self, requested: &[u8], content: Vec<u8>, now_ms: u64) -> Result<Bytes, EncodeError> {
        // Two versions within one millisecond need different names.
        self.last = now_ms.max(self.last + 1);
        let mut name = requested.to_vec();
        rdr::push_version(&mut name, self.last);
        let version = DatasetVersion { name, content: Bytes::from(content) };
        let first = version.segment(0).expect("every dataset has a first segment")?;
        self.keep(version);
        Ok(first)
    }

    fn keep(&mut self, version: DatasetVersion) {
        self.bytes += version.content.len();
        self.versions.push_back(version);
        while self.versions.len() > 1 && (self.versions.len() > MAX_VERSIONS || self.bytes > MAX_BYTES) {
            let oldest = self.versions.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| oldest.content.len());
        }
    }

    /// The segment of this name; `None` if its version is not kept or has no such segment.
    pub fn segment(&self, requested: &NameView<'_>) -> Option<Bytes> {
        let last = requested.last().filter(|last| last.kind == types::SEGMENT_NAME_COMPONENT)?;
        let number = usize::try_from(last.integer().ok()?).ok()?;
        let all = requested.components();
        let versioned = all.get(..all.len() - (last.end() - last.start))?;
        let version = self.versions.iter().rev().find(|version| version.name == versioned)?;
        version.segment(number)?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::name::Segment;
    use tidegate_wire::{DataView, InterestBuilder, InterestView};

    const NAME: &[u8] = &[8, 1, b'a'];

    fn segment(datasets: &Datasets, name: &[u8]) -> Option<Bytes> {
        let interest = InterestBuilder { name, ..InterestBuilder::default() }.build().expect("valid");
        datasets.segment(&InterestView::parse(&interest).expect("ours").name)
    }

    fn named(version: u64, segment: u32) -> Vec<u8> {
        let mut name = NAME.to_vec();
        rdr::push_version(&mut name, version);
        name::push_segment(&mut name, segment);
        name
    }

    #[test]
    fn a_version_is_complete_in_its_segments_whatever_is_published_later() {
        let content: Vec<u8> = (0..20_001u32).map(|at| (at % 251) as u8).collect();
        let mut datasets = Datasets::default();
        let first = datasets.publish(NAME, content.clone(), 1_000).expect("fits");
        datasets.publish(NAME, vec![1; 9_000], 1_000).expect("fits");
        assert_eq!(segment(&datasets, &named(1_000, 0)).as_ref(), Some(&first));
        let mut read = Vec::new();
        for number in 0..3 {
            let data = segment(&datasets, &named(1_000, number)).expect("kept");
            let data = DataView::parse(&data).expect("a Data");
            assert_eq!(data.name.components(), named(1_000, number));
            assert_eq!(data.final_segment(), Segment(2));
            read.extend_from_slice(data.content);
        }
        assert!(read == content);
        assert_eq!(segment(&datasets, &named(1_000, 3)), None);
        assert!(segment(&datasets, &named(1_001, 1)).is_some());
        assert_eq!(segment(&datasets, &named(1_002, 0)), None);
    }

    #[test]
    fn an_empty_dataset_is_one_segment_without_content() {
        let data = Datasets::default().publish(NAME, Vec::new(), 5).expect("fits");
        let data = DataView::parse(&data).expect("a Data");
        assert_eq!((data.content, data.final_segment()), (&[][..], Segment(0)));
        assert_eq!(data.name.components(), named(5, 0));
    }

    #[test]
    fn content_of_exactly_one_segment_has_no_second_one() {
        let data = Datasets::default().publish(NAME, vec![7; SEGMENT], 5).expect("fits");
        assert_eq!(DataView::parse(&data).expect("a Data").final_segment(), Segment(0));
    }

    #[test]
    fn the_oldest_versions_are_given_up_by_number_and_by_bytes() {
        let mut datasets = Datasets::default();
        for at in 0..40 {
            datasets.publish(NAME, vec![0; 8_001], 100 + at).expect("fits");
        }
        assert!(segment(&datasets, &named(107, 0)).is_none() && segment(&datasets, &named(108, 0)).is_some());
        datasets.publish(NAME, vec![0; MAX_BYTES + 1], 200).expect("fits");
        assert!(segment(&datasets, &named(139, 0)).is_none() && segment(&datasets, &named(200, 2)).is_some());
        assert_eq!(datasets.bytes, MAX_BYTES + 1);
    }
}
