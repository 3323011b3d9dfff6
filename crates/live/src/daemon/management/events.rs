//! Notification stream `faces/events`: one Data for each change of a face, numbered from 0.
//!
//! A notification is sent when it is awaited, and kept for a second. A subscriber gets the last one by
//! `/localhost/nfd/faces/events`, and those after it by their numbers.

use std::collections::VecDeque;

use bytes::Bytes;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::units::{Span, Time};
use tidegate_wire::tlv::{self, types};
use tidegate_wire::{DataBuilder, Signer, name};

use super::super::Daemon;
use super::dataset::FRESHNESS;
use crate::nfd::{FaceEventKind, encode_face_event};

/// Time for which a notification can be requested.
const KEPT: Span = Span::from_secs(1);

/// Maximum number of notifications that are kept.
const MAX_KEPT: usize = 1_024;

/// A change of a face.
#[derive(Debug)]
struct FaceEvent {
    number: u64,
    at: Time,
    content: Vec<u8>,
}

/// Notifications of the last second.
#[derive(Debug, Default)]
pub(in super::super) struct FaceEvents {
    kept: VecDeque<FaceEvent>,
    next: u64,
    /// Number of the first notification that no Data was sent for.
    unsent: u64,
    /// Whether an Interest waits for a notification.
    is_awaited: bool,
}

impl FaceEvents {
    fn record(&mut self, now: Time, content: Vec<u8>) {
        let number = self.next;
        self.next += 1;
        self.kept.push_back(FaceEvent { number, at: now, content });
        while self.kept.len() > MAX_KEPT {
            self.kept.pop_front();
        }
        self.expire(now);
    }

    fn expire(&mut self, now: Time) {
        while self.kept.front().is_some_and(|event| now.since(event.at) > KEPT) {
            self.kept.pop_front();
        }
    }

    /// The notification of this number, or the last one; `None` if there is none within the last second, and the
    /// next one is sent.
    pub fn request(&mut self, number: Option<u64>, now: Time) -> Option<Bytes> {
        self.expire(now);
        let found = match number {
            None => self.kept.back(),
            Some(number) => self.kept.iter().find(|event| event.number == number),
        };
        let data = found.and_then(FaceEvent::data);
        // A number of the past comes no more.
        self.is_awaited |= data.is_none() && number.is_none_or(|number| number >= self.next);
        data
    }

    /// Removes and returns the notifications to send.
    fn take_unsent(&mut self) -> Vec<Bytes> {
        let first = std::mem::replace(&mut self.unsent, self.next);
        if first == self.next || !std::mem::take(&mut self.is_awaited) {
            return Vec::new();
        }
        // A subscriber that has received one requests the others by their numbers.
        let data = self.kept.iter().find(|event| event.number >= first).and_then(FaceEvent::data);
        data.into_iter().collect()
    }
}

impl FaceEvent {
    fn data(&self) -> Option<Bytes> {
        let mut name = Vec::new();
        for word in ["localhost", "nfd", "faces", "events"] {
            name::push_component(&mut name, 8, word.as_bytes());
        }
        tlv::write_integer(&mut name, types::SEQUENCE_NUM_NAME_COMPONENT, self.number);
        let content = &self.content;
        let data = DataBuilder { name: &name, freshness: Some(FRESHNESS), content, ..Default::default() };
        data.sign(&Signer::Digest).ok()
    }
}

impl Daemon {
    /// Records a change of a face, which has not been removed yet.
    pub(in super::super) fn record_face_event(&mut self, id: FaceId, kind: FaceEventKind) {
        // The first worker has all faces.
        if self.workers.as_ref().is_some_and(|workers| !workers.is_first()) {
            return;
        }
        let Some(face) = &self.faces[id.index()] else { return };
        let record = self.face_record(id, face);
        let (face, remote) = (record.face_id, &record.uri);
        // A place for each kind, so that a limit on the lines of one does not hide the others.
        match kind {
            FaceEventKind::Created => tracing::info!(face, %remote, "a face was created"),
            FaceEventKind::Destroyed => tracing::info!(face, %remote, "a face was closed"),
            FaceEventKind::Up => tracing::warn!(face, %remote, "a face is up again"),
            FaceEventKind::Down => tracing::warn!(face, %remote, "a face is down; connecting again"),
        }
        self.face_events.record(self.now, encode_face_event(kind, &record));
    }

    /// Sends what subscribers await; returns whether it was anything.
    pub(in super::super) fn publish_face_events(&mut self) -> bool {
        let unsent = self.face_events.take_unsent();
        let is_any = !unsent.is_empty();
        unsent.into_iter().for_each(|data| self.publish(data));
        is_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_wire::DataView;

    fn content(data: Option<Bytes>) -> Option<Vec<u8>> {
        data.map(|data| DataView::parse(&data).expect("a Data").content.to_vec())
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_notification_is_sent_when_it_is_awaited_and_kept_for_a_second() {
        let mut events = FaceEvents::default();
        events.record(at(0), vec![0]);
        assert!(events.take_unsent().is_empty());
        assert_eq!(content(events.request(None, at(900))), Some(vec![0]));
        assert_eq!(content(events.request(None, at(1_001))), None);
        events.record(at(1_002), vec![1]);
        events.record(at(1_003), vec![2]);
        let sent: Vec<_> = events.take_unsent().into_iter().map(|data| content(Some(data))).collect();
        assert_eq!(sent, [Some(vec![1])]);
        assert_eq!(content(events.request(Some(2), at(1_500))), Some(vec![2]));
        assert_eq!(content(events.request(Some(3), at(1_500))), None);
        events.record(at(1_600), vec![3]);
        assert_eq!(events.take_unsent().len(), 1);
    }

    #[test]
    fn a_notification_of_the_past_is_not_awaited() {
        let mut events = FaceEvents::default();
        events.record(at(0), vec![0]);
        assert_eq!(content(events.request(Some(0), at(2_000))), None);
        events.record(at(2_001), vec![1]);
        assert!(events.take_unsent().is_empty());
    }

    #[test]
    fn no_more_notifications_are_kept_than_the_limit() {
        let mut events = FaceEvents::default();
        (0..2_000).for_each(|_| events.record(at(0), Vec::new()));
        assert_eq!((events.kept.len(), events.kept[0].number), (MAX_KEPT, 2_000 - MAX_KEPT as u64));
    }
}
