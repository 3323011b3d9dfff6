//! Module `faces`: faces and listeners.

use tidegate_core::ndn::face::FaceId;

use super::super::Daemon;
use super::super::face::{Face, FacePersistency, Line};
use crate::nfd::{FaceQueryFilter, FaceRecord, encode_channel};

/// Flag of a face whose Interests have the number of the face that they came from.
pub(super) const LOCAL_FIELDS: u64 = 1;

/// Flag of a face whose lost frames are sent again.
pub(super) const RELIABILITY: u64 = 2;

/// Flag of a face that marks congestion.
pub(super) const CONGESTION_MARKING: u64 = 4;

/// Maximum size of a packet, bytes, which is reported for a face without a limit.
pub(super) const MAX_MTU: usize = tidegate_wire::MAX_PACKET;

/// URI of both ends of the forwarder's own face.
const INTERNAL: &str = "internal://";

impl Daemon {
    /// Content of the datasets `faces/list` and `faces/query`.
    pub(super) fn face_list(&self, filter: &FaceQueryFilter) -> Vec<u8> {
        let mut records = self.own_face_records();
        records.extend(self.reports().iter().flat_map(|report| &report.faces).cloned());
        records.sort_by_key(|record| record.face_id);
        let mut out = Vec::new();
        for record in records.iter().filter(|record| filter.matches(record)) {
            record.encode(&mut out);
        }
        out
    }

    /// The faces whose sockets this thread has.
    pub(in super::super) fn own_face_records(&self) -> Vec<FaceRecord> {
        let faces = (0..).zip(&self.faces).filter_map(|(id, face)| Some((FaceId(id), face.as_ref()?)));
        let own = faces.filter(|(_, face)| !matches!(face.line, Line::Far(_)));
        own.map(|(id, face)| self.face_record(id, face)).collect()
    }

    /// Content of the dataset `faces/channels`.
    pub(super) fn channel_list(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.listening().iter().for_each(|uri| encode_channel(&mut out, uri));
        out
    }

    /// The state of a face as NFD reports it.
    pub(super) fn face_record(&self, id: FaceId, face: &Face) -> FaceRecord {
        let view = &self.node.faces()[id.index()];
        let (uri, local_uri, mtu) = match &face.line {
            Line::Internal(_) => (INTERNAL.to_owned(), INTERNAL.to_owned(), None),
            Line::Far(end) => match &end.uris {
                Some((remote, local)) => (remote.to_string(), local.to_string(), end.mtu),
                None => (INTERNAL.to_owned(), INTERNAL.to_owned(), None),
            },
            Line::Socket { transport, link, .. } => {
                (transport.remote_uri().to_string(), transport.local_uri().to_string(), link.mtu())
            }
        };
        let is_reliable = match &face.line {
            Line::Socket { link, .. } => link.reliability().is_some(),
            Line::Far(end) => end.is_reliable,
            Line::Internal(_) => false,
        };
        let silent_ns = self.now.since(face.received_at).as_nanos();
        let left_ns = self.config.idle.as_nanos().saturating_sub(silent_ns);
        let is_ending = face.persistency == FacePersistency::OnDemand && face.line.is_datagram();
        FaceRecord {
            face_id: face.number,
            uri,
            local_uri,
            expiration_ms: is_ending.then_some(left_ns / 1_000_000),
            scope: u64::from(view.is_local()),
            persistency: face.persistency.number(),
            link_type: u64::from(face.line.is_multi_access()),
            marking_interval_ns: face.marking.map(|marking| marking.interval_ns),
            marking_threshold_bytes: face.marking.map(|marking| marking.threshold_bytes),
            mtu: Some(mtu.unwrap_or(MAX_MTU).min(MAX_MTU) as u64),
            received: face.received,
            sent: face.sent,
            received_bytes: view.received_bytes().get(),
            sent_bytes: view.sent_bytes().get(),
            flags: u64::from(face.has_local_fields) * LOCAL_FIELDS
                + u64::from(is_reliable) * RELIABILITY
                + u64::from(face.marking.is_some()) * CONGESTION_MARKING,
        }
    }
}
