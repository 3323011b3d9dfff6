//! Versions of datasets whose segments can be requested.
//!
//! A request for a dataset gets segment 0 of a new version. The content of the last versions is kept, so that
//! all segments that a client requests belong to one state of the forwarder. Segments are signed on request.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use tidegate_core::ndn::packet::Millis;
use tidegate_wire::name::{self, NameView};
use tidegate_wire::tlv::{TlvReader, types};
use tidegate_wire::{DataBuilder, EncodeError, Signer, rdr};

/// Age after which a version is stale at other nodes; this forwarder never caches it as fresh.
pub(super) const FRESHNESS: Millis = Millis(1_000);

/// Maximum content of one segment, bytes.
const SEGMENT: usize = 8_000;

/// Maximum number of versions of each dataset that are kept.
const MAX_VERSIONS: usize = 16;

/// Maximum content of all versions of a dataset that are kept, bytes; the last one is always kept.
const MAX_BYTES: usize = 16 << 20;

/// Number of components that name a dataset, such as `/localhost/nfd/rib/list`; a filter may follow them.
const DATASET_COMPONENTS: usize = 4;

/// Time for which requests get the last version instead of a new one, milliseconds.
const REUSE_MS: u64 = 100;

/// Bytes of content for each of which that time is one millisecond longer: large datasets take long to make.
const REUSE_BYTES: usize = 4_000;

/// One version of a dataset.
#[derive(Debug)]
struct DatasetVersion {
    /// Components of the name with the version, without a segment.
    name: Vec<u8>,
    /// Length of the components before the version.
    requested_len: usize,
    /// Time at which it was published, Unix milliseconds.
    made_ms: u64,
    content: Bytes,
}

impl DatasetVersion {
    /// Whether a request for `requested` gets this version at `now_ms`.
    fn answers(&self, requested: &[u8], now_ms: u64) -> bool {
        let age = now_ms.saturating_sub(self.made_ms);
        self.name[..self.requested_len] == *requested
            && age < REUSE_MS + (self.content.len() / REUSE_BYTES) as u64
    }

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

/// The last versions of one dataset, with all its filters, oldest first.
#[derive(Debug, Default)]
struct DatasetVersions {
    versions: VecDeque<DatasetVersion>,
    bytes: usize,
}

/// The last versions of all datasets.
#[derive(Debug, Default)]
pub(in super::super) struct Datasets {
    /// By the components of the dataset, so that requests for one do not remove versions of another.
    kept: BTreeMap<Vec<u8>, DatasetVersions>,
    /// Version of the last dataset, Unix milliseconds.
    last: u64,
    /// Time of the last change by a command, Unix milliseconds: what is older shows an earlier state.
    changed_ms: u64,
}

/// The components of the dataset that a name is of.
fn dataset_of(requested: &[u8]) -> &[u8] {
    let mut reader = TlvReader::new(requested);
    let mut end = 0;
    for _ in 0..DATASET_COMPONENTS {
        let Ok(Some(component)) = reader.next() else { break };
        end = component.end();
    }
    &requested[..end]
}

impl Datasets {
    /// Publishes `content` under `requested` (concatenated components); returns segment 0.
    ///
    /// # Errors
    /// When the name leaves no room for the content in a packet.
    pub fn publish(&mut self, requested: &[u8], content: Vec<u8>, now_ms: u64) -> Result<Bytes, EncodeError> {
        // Two versions within one millisecond need different names.
        self.last = now_ms.max(self.last + 1);
        let (mut name, requested_len) = (requested.to_vec(), requested.len());
        rdr::push_version(&mut name, self.last);
        let content = Bytes::from(content);
        let version = DatasetVersion { name, requested_len, made_ms: now_ms, content };
        let first = version.segment(0).expect("every dataset has a first segment")?;
        self.kept.entry(dataset_of(requested).to_vec()).or_default().keep(version);
        Ok(first)
    }

    /// Segment 0 of a version that is recent enough to answer a request for a new one: whoever requests often must not make
    /// the forwarder write its tables each time.
    pub fn recent(&self, requested: &[u8], now_ms: u64) -> Option<Bytes> {
        let last = self.kept.get(dataset_of(requested))?.versions.iter().rev();
        let mut current = last.filter(|version| version.made_ms > self.changed_ms);
        current.find(|version| version.answers(requested, now_ms))?.segment(0)?.ok()
    }

    /// Records that a command has changed a table: later requests get new versions.
    pub fn on_change(&mut self, now_ms: u64) {
        self.changed_ms = now_ms;
    }

    /// The segment of this name; `None` if its version is not kept or has no such segment.
    pub fn segment(&self, requested: &NameView<'_>) -> Option<Bytes> {
        let last = requested.last().filter(|last| last.kind == types::SEGMENT_NAME_COMPONENT)?;
        let number = usize::try_from(last.integer().ok()?).ok()?;
        let all = requested.components();
        let versioned = all.get(..all.len() - (last.end() - last.start))?;
        let version = requested.iter().nth(requested.len().checked_sub(2)?)?;
        let without = versioned.get(..versioned.len() - (version.end() - version.start))?;
        let kept = self.kept.get(dataset_of(without))?;
        let version = kept.versions.iter().rev().find(|version| version.name == versioned)?;
        version.segment(number)?.ok()
    }
}

impl DatasetVersions {
    fn keep(&mut self, version: DatasetVersion) {
        self.bytes += version.content.len();
        self.versions.push_back(version);
        while self.versions.len() > 1 && (self.versions.len() > MAX_VERSIONS || self.bytes > MAX_BYTES) {
            let oldest = self.versions.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| oldest.content.len());
        }
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
        for at in 0..24 {
            datasets.publish(NAME, vec![0; 8_001], 100 + at).expect("fits");
        }
        assert!(segment(&datasets, &named(107, 0)).is_none() && segment(&datasets, &named(108, 0)).is_some());
        datasets.publish(NAME, vec![0; MAX_BYTES + 1], 200).expect("fits");
        assert!(segment(&datasets, &named(123, 0)).is_none() && segment(&datasets, &named(200, 2)).is_some());
        assert_eq!(datasets.kept[NAME].bytes, MAX_BYTES + 1);
    }

    #[test]
    fn requests_within_a_short_time_get_one_version_until_a_command_changes_something() {
        let mut datasets = Datasets::default();
        assert_eq!(datasets.recent(NAME, 1_000), None);
        let first = datasets.publish(NAME, vec![7; 40_000], 1_000).expect("fits");
        for (now, is_recent) in [(1_000, true), (1_109, true), (1_110, false)] {
            assert_eq!(datasets.recent(NAME, now).as_ref() == Some(&first), is_recent, "{now}");
        }
        datasets.on_change(1_050);
        assert_eq!(datasets.recent(NAME, 1_060), None);
        let next = datasets.publish(NAME, Vec::new(), 1_060).expect("fits");
        assert_eq!(datasets.recent(NAME, 1_061), Some(next));
    }

    #[test]
    fn requests_for_one_dataset_with_many_filters_remove_no_version_of_another() {
        let mut datasets = Datasets::default();
        let [list, query] =
            [&b"\x08\x01a\x08\x01b\x08\x01c\x08\x04list"[..], b"\x08\x01a\x08\x01b\x08\x01c\x08\x05query"];
        datasets.publish(list, vec![7; 9_000], 100).expect("fits");
        for number in 0..100u8 {
            let filtered = [query, &[8, 1, number]].concat();
            datasets.publish(&filtered, Vec::new(), 101).expect("fits");
        }
        let mut kept = list.to_vec();
        rdr::push_version(&mut kept, 100);
        name::push_segment(&mut kept, 1);
        assert!(segment(&datasets, &kept).is_some());
    }
}
