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

use super::request::Dataset;
use crate::nfd::FaceQueryFilter;

/// Age after which a version is stale at other nodes; this forwarder never caches it as fresh.
pub(super) const FRESHNESS: Millis = Millis(1_000);

/// Maximum content of one segment, bytes.
const SEGMENT: usize = 8_000;

/// Maximum number of versions of each dataset that are kept.
const MAX_VERSIONS: usize = 16;

/// Maximum content of all versions of a dataset that are kept, bytes; the last one is always kept.
const MAX_BYTES: usize = 16 << 20;

/// Time for which requests get the last version instead of a new one, milliseconds.
const REUSE_MS: u64 = 100;

/// Bytes of content for each of which that time is one millisecond longer: large datasets take long to make.
const REUSE_BYTES: usize = 4_000;

/// Number of lists in which versions are kept: one for each dataset, and one for the filtered lists of faces.
const LISTS: usize = 9;

/// One version of a dataset.
#[derive(Debug)]
struct DatasetVersion {
    dataset: Dataset,
    /// Its number in names, unique among all datasets.
    number: u64,
    /// Time at which it was published, Unix milliseconds.
    made_ms: u64,
    content: Vec<u8>,
}

impl DatasetVersion {
    /// Whether requests at `now_ms` get this version.
    fn is_recent(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.made_ms) < REUSE_MS + (self.content.len() / REUSE_BYTES) as u64
    }

    /// One segment under a name (components without version and segment) as a signed Data; `None` if there is no such segment.
    fn segment(&self, requested: &[u8], number: usize) -> Option<Result<Bytes, EncodeError>> {
        let last = self.content.len().saturating_sub(1) / SEGMENT;
        if number > last {
            return None;
        }
        let begin = number * SEGMENT;
        let content = &self.content[begin..self.content.len().min(begin + SEGMENT)];
        let (mut name, mut final_block) = (requested.to_vec(), Vec::new());
        rdr::push_version(&mut name, self.number);
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

/// The last versions of one list, oldest first.
#[derive(Debug, Default)]
struct DatasetVersions {
    versions: VecDeque<DatasetVersion>,
    bytes: usize,
}

/// The last versions of all datasets. Names are not kept: who requests a dataset under many names gets the same versions.
#[derive(Debug, Default)]
pub(in super::super) struct Datasets {
    /// By dataset, so that requests for one do not remove versions of another.
    kept: [DatasetVersions; LISTS],
    /// Number of the last version: Unix milliseconds or, within one, the number after the last.
    last: u64,
    /// Time of the last change by a command, Unix milliseconds: what is older shows an earlier state.
    changed_ms: u64,
}

/// The list in which versions of a dataset are kept.
fn list_of(dataset: &Dataset) -> usize {
    match dataset {
        Dataset::General => 0,
        Dataset::Faces(filter) if **filter == FaceQueryFilter::default() => 1,
        Dataset::Faces(_) => 2,
        Dataset::Channels => 3,
        Dataset::Fib => 4,
        Dataset::Rib => 5,
        Dataset::Cs => 6,
        Dataset::StrategyChoice => 7,
        Dataset::Lines => 8,
    }
}

impl Datasets {
    /// Publishes `content` of a dataset; returns segment 0 under `requested` (concatenated components).
    ///
    /// # Errors
    /// When the name leaves no room for the content in a packet.
    pub fn publish(
        &mut self,
        dataset: Dataset,
        requested: &[u8],
        content: Vec<u8>,
        now_ms: u64,
    ) -> Result<Bytes, EncodeError> {
        // Two versions within one millisecond need different names.
        self.last = now_ms.max(self.last + 1);
        let list = list_of(&dataset);
        let version = DatasetVersion { dataset, number: self.last, made_ms: now_ms, content };
        let first = version.segment(requested, 0).expect("every dataset has a first segment")?;
        self.kept[list].keep(version);
        Ok(first)
    }

    /// Segment 0 of a version that is recent enough to answer a request for a new one: whoever requests often must not make
    /// the forwarder write its tables each time.
    ///
    /// # Errors
    /// When the name leaves no room for the content in a packet.
    pub fn recent(
        &self,
        dataset: &Dataset,
        requested: &[u8],
        now_ms: u64,
    ) -> Option<Result<Bytes, EncodeError>> {
        let last = self.kept[list_of(dataset)].versions.iter().rev();
        let mut current = last.filter(|version| version.made_ms > self.changed_ms);
        let found = current.find(|version| version.dataset == *dataset && version.is_recent(now_ms));
        found?.segment(requested, 0)
    }

    /// Records that a command has changed a table: later requests get new versions.
    pub fn on_change(&mut self, now_ms: u64) {
        self.changed_ms = now_ms;
    }

    /// The segment of this name, which is of `dataset`; `None` if its version is not kept or has no such segment.
    pub fn segment(&self, dataset: &Dataset, requested: &NameView<'_>) -> Option<Bytes> {
        let last = requested.last().filter(|last| last.kind == types::SEGMENT_NAME_COMPONENT)?;
        let number = usize::try_from(last.integer().ok()?).ok()?;
        let version = requested.iter().nth(requested.len().checked_sub(2)?)?;
        let version_number =
            version.integer().ok().filter(|_| version.kind == types::VERSION_NAME_COMPONENT)?;
        let kept = self.kept[list_of(dataset)].versions.iter().rev();
        let mut of_number = kept.filter(|kept| kept.number == version_number);
        let found = of_number.find(|kept| kept.dataset == *dataset)?;
        let all = requested.components();
        let without = all.get(..all.len() - (last.end() - version.start))?;
        found.segment(without, number)?.ok()
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
        datasets.segment(&Dataset::Rib, &InterestView::parse(&interest).expect("ours").name)
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
        let first = datasets.publish(Dataset::Rib, NAME, content.clone(), 1_000).expect("fits");
        datasets.publish(Dataset::Rib, NAME, vec![1; 9_000], 1_000).expect("fits");
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
        let data = Datasets::default().publish(Dataset::Rib, NAME, Vec::new(), 5).expect("fits");
        let data = DataView::parse(&data).expect("a Data");
        assert_eq!((data.content, data.final_segment()), (&[][..], Segment(0)));
        assert_eq!(data.name.components(), named(5, 0));
    }

    #[test]
    fn content_of_exactly_one_segment_has_no_second_one() {
        let data = Datasets::default().publish(Dataset::Rib, NAME, vec![7; SEGMENT], 5).expect("fits");
        assert_eq!(DataView::parse(&data).expect("a Data").final_segment(), Segment(0));
    }

    #[test]
    fn the_oldest_versions_are_given_up_by_number_and_by_bytes() {
        let mut datasets = Datasets::default();
        for at in 0..24 {
            datasets.publish(Dataset::Rib, NAME, vec![0; 8_001], 100 + at).expect("fits");
        }
        assert!(segment(&datasets, &named(107, 0)).is_none() && segment(&datasets, &named(108, 0)).is_some());
        datasets.publish(Dataset::Rib, NAME, vec![0; MAX_BYTES + 1], 200).expect("fits");
        assert!(segment(&datasets, &named(123, 0)).is_none() && segment(&datasets, &named(200, 2)).is_some());
        assert_eq!(datasets.kept[list_of(&Dataset::Rib)].bytes, MAX_BYTES + 1);
    }

    #[test]
    fn requests_within_a_short_time_get_one_version_until_a_command_changes_something() {
        let mut datasets = Datasets::default();
        assert_eq!(datasets.recent(&Dataset::Rib, NAME, 1_000), None);
        let first = datasets.publish(Dataset::Rib, NAME, vec![7; 40_000], 1_000).expect("fits");
        for (now, is_recent) in [(1_000, true), (1_109, true), (1_110, false)] {
            assert_eq!(
                datasets.recent(&Dataset::Rib, NAME, now) == Some(Ok(first.clone())),
                is_recent,
                "{now}"
            );
        }
        datasets.on_change(1_050);
        assert_eq!(datasets.recent(&Dataset::Rib, NAME, 1_060), None);
        let next = datasets.publish(Dataset::Rib, NAME, Vec::new(), 1_060).expect("fits");
        assert_eq!(datasets.recent(&Dataset::Rib, NAME, 1_061), Some(Ok(next)));
    }

    #[test]
    fn requests_for_one_dataset_with_many_filters_remove_no_version_of_another() {
        let mut datasets = Datasets::default();
        datasets.publish(Dataset::Rib, NAME, vec![7; 9_000], 100).expect("fits");
        let all = Dataset::Faces(Box::default());
        datasets.publish(all.clone(), NAME, vec![8; 9_000], 101).expect("fits");
        for number in 0..100 {
            let filter = FaceQueryFilter { face_id: Some(number), ..FaceQueryFilter::default() };
            datasets.publish(Dataset::Faces(Box::new(filter)), NAME, Vec::new(), 102).expect("fits");
        }
        assert!(segment(&datasets, &named(100, 1)).is_some());
        assert!(datasets.recent(&all, NAME, 102).is_some());
    }

    #[test]
    fn requests_under_many_names_get_one_version_and_fill_no_memory() {
        let mut datasets = Datasets::default();
        datasets.publish(Dataset::Rib, NAME, vec![7; 9_000], 1_000).expect("fits");
        for number in 0..1_000u16 {
            let name = [NAME, &[8, 2], &number.to_be_bytes()].concat();
            let recent = datasets.recent(&Dataset::Rib, &name, 1_001).expect("recent").expect("fits");
            let data = DataView::parse(&recent).expect("a Data");
            assert!(data.name.components().starts_with(&name));
            let kept = segment(&datasets, &[&name, &named(1_000, 1)[NAME.len()..]].concat());
            assert_eq!(DataView::parse(&kept.expect("kept")).expect("a Data").content, [7; 1_000]);
        }
        assert_eq!(datasets.kept.iter().map(|list| list.versions.len()).sum::<usize>(), 1);
    }

    #[test]
    fn a_version_of_one_dataset_is_none_of_another() {
        let mut datasets = Datasets::default();
        datasets.publish(Dataset::Fib, NAME, Vec::new(), 1_000).expect("fits");
        assert_eq!(segment(&datasets, &named(1_000, 0)), None);
    }
}
