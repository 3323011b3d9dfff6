//! A pending Interest: its downstreams and upstreams.

use super::NONE;
use super::wheel::{Links, Tick};
use crate::ndn::face::FaceId;
use crate::ndn::name::Name;
use crate::ndn::packet::{Interest, NackReason, PitToken};
use crate::units::{Span, Time};

/// A downstream that waits for the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct InRecord {
    /// Nonce of its last Interest.
    pub nonce: u32,
    /// Echoed in the answer.
    pub token: PitToken,
    pub(super) expires: Tick,
    /// Downstream face that the Interest came from.
    pub face: FaceId,
}

impl InRecord {
    /// Whether the downstream still waits.
    #[inline]
    pub fn is_pending(&self, now: Time) -> bool {
        self.expires.is_after(Tick::not_after(now))
    }
}

/// An upstream face that received the Interest.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutRecord {
    /// Time at which the last Interest left, or was held by a gate if it is still held.
    pub sent_at: Time,
    /// Nonce of the Interest that was sent last.
    pub nonce: u32,
    /// Upstream face that the Interest was sent to.
    pub face: FaceId,
    /// Reason of the upstream's Nack; `None` while it may answer.
    pub nacked: Option<NackReason>,
    /// Interests sent again through the face since the first, saturating at 255.
    pub retransmissions: u8,
}

/// Records beyond those stored inline.
#[derive(Debug, Default)]
pub(super) struct Spill {
    ins: Vec<InRecord>,
    outs: Vec<OutRecord>,
}

/// Conditions on the answer; Interests that differ here have separate entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Data under the name may answer.
    pub can_be_prefix: bool,
    /// Only fresh Data may answer.
    pub must_be_fresh: bool,
}

impl From<&Interest> for Selector {
    fn from(interest: &Interest) -> Self {
        Self { can_be_prefix: interest.can_be_prefix, must_be_fresh: interest.must_be_fresh }
    }
}

impl Spill {
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.ins.capacity() * size_of::<InRecord>()
            + self.outs.capacity() * size_of::<OutRecord>()
    }
}

/// In-records stored inline: most entries have one or two downstreams, and more would exceed the size below.
const INLINE_INS: usize = 2;

/// One pending Interest with its in-records and out-records.
#[derive(Debug)]
pub struct PitEntry {
    pub(super) name: Name,
    pub(super) expires: Tick,
    /// Neighbours on the timing wheel.
    pub(super) previous: u32,
    pub(super) next: u32,
    /// Entry of the same name with another selector.
    pub(super) sibling: u32,
    /// Ring of its prefix.
    pub(super) ring: u32,
    ins: [InRecord; INLINE_INS],
    out: OutRecord,
    pub(super) spill: Option<Box<Spill>>,
    /// Suppression interval before the next retransmission, milliseconds; 0 before the first.
    pub(super) suppression_ms: u16,
    pub(super) in_count: u8,
    pub(super) has_out: bool,
    pub(super) selector: Selector,
    pub(super) satisfied: bool,
    pub(super) names_digest: bool,
    pub(super) notices: u8,
}

// The whole of a pending Interest stays within a cache line and a half.
const _: () = assert!(size_of::<PitEntry>() <= 96);

impl PitEntry {
    pub(super) fn new(name: Name, selector: Selector, ring: u32) -> Self {
        Self {
            name,
            expires: Tick::default(),
            previous: NONE,
            next: NONE,
            sibling: NONE,
            ring,
            ins: Default::default(),
            out: OutRecord::default(),
            spill: None,
            suppression_ms: 0,
            in_count: 0,
            has_out: false,
            selector,
            satisfied: false,
            names_digest: false,
            notices: 0,
        }
    }

    /// As [`new`](Self::new), in the place of an entry that was [cleared](Self::clear): without in-records and
    /// out-record their fields have no meaning, and stay.
    #[inline(always)]
    pub(super) fn reset(&mut self, name: Name, selector: Selector, ring: u32) {
        (self.name, self.selector, self.ring) = (name, selector, ring);
        (self.sibling, self.suppression_ms, self.notices) = (NONE, 0, 0);
        (self.satisfied, self.names_digest) = (false, false);
    }

    /// Removes what the entry holds; a number of an entry that has ended finds one that is satisfied.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.spill = None;
        (self.in_count, self.has_out, self.satisfied) = (0, false, true);
    }

    /// Name of the Interest.
    pub fn name(&self) -> Name {
        self.name
    }

    /// Conditions on the answer.
    pub fn selector(&self) -> Selector {
        self.selector
    }

    /// Whether Data has answered it.
    pub fn is_satisfied(&self) -> bool {
        self.satisfied
    }

    /// Loss notices seen for it, saturating at 255.
    pub fn notices(&self) -> u8 {
        self.notices
    }

    /// Pause before the next retransmission may go upstream; `None` before the first retransmission.
    pub fn suppression(&self) -> Option<Span> {
        (self.suppression_ms > 0).then(|| Span::from_millis(u64::from(self.suppression_ms)))
    }

    /// Sets the pause before the next retransmission, whole milliseconds from 1 to 65535.
    pub fn set_suppression(&mut self, pause: Span) {
        self.suppression_ms = (pause.as_nanos() / 1_000_000).clamp(1, u64::from(u16::MAX)) as u16;
    }

    pub(crate) fn count_notice(&mut self) {
        self.notices = self.notices.saturating_add(1);
    }

    /// Downstreams, in order of arrival.
    #[inline]
    pub fn in_records(&self) -> impl Iterator<Item = &InRecord> {
        let more = self.spill.as_deref().map_or(&[][..], |spill| &spill.ins);
        self.ins[..usize::from(self.in_count)].iter().chain(more)
    }

    /// The downstream, if there is only one.
    #[inline]
    pub(crate) fn only_in_record(&self) -> Option<&InRecord> {
        (self.in_count == 1).then_some(&self.ins[0])
    }

    /// Whether it is the only entry of its name, has one downstream and no spilled records, and any Data may answer it.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.sibling == NONE && self.in_count == 1 && self.spill.is_none() && !self.selector.must_be_fresh
    }

    /// The first downstream, of an entry that has some.
    #[inline(always)]
    pub(super) fn first_in_record(&self) -> InRecord {
        self.ins[0]
    }

    /// Upstreams, in order of first use.
    #[inline]
    pub fn out_records(&self) -> impl Iterator<Item = &OutRecord> {
        // A record is spilled only while there is one before it.
        let more = self.spill.as_deref().filter(|_| self.has_out).map_or(&[][..], |spill| &spill.outs);
        self.has_out.then_some(&self.out).into_iter().chain(more)
    }

    /// The record of the upstream `face`.
    pub fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.out_records().find(|record| record.face == face)
    }

    pub(crate) fn out_record_mut(&mut self, face: FaceId) -> Option<&mut OutRecord> {
        if self.has_out && self.out.face == face {
            return Some(&mut self.out);
        }
        self.spill.as_deref_mut()?.outs.iter_mut().find(|record| record.face == face)
    }

    /// Whether `face` is one of its downstreams or upstreams.
    pub(crate) fn involves(&self, face: FaceId) -> bool {
        self.in_records().any(|record| record.face == face) || self.out_record(face).is_some()
    }

    /// Time of the last Interest sent upstream.
    pub fn last_sent(&self) -> Option<Time> {
        self.out_records().map(|record| record.sent_at).max()
    }

    /// Time since the Interest was sent to `face`: its round-trip time while an answer from there is
    /// processed.
    ///
    /// `None` when it was not sent there, or more than once: the answer does not show which Interest it is
    /// for (Karn & Partridge 1987).
    pub fn round_trip(&self, face: FaceId, now: Time) -> Option<Span> {
        let record = self.out_record(face)?;
        (record.retransmissions == 0).then(|| now.since(record.sent_at))
    }

    /// The first downstream of a new entry.
    #[inline(always)]
    pub(super) fn set_first_in_record(&mut self, face: FaceId, interest: &Interest, expires: Tick) {
        self.ins[0] = InRecord { nonce: interest.nonce, token: interest.token, expires, face };
        self.in_count = 1;
    }

    #[inline(always)]
    pub(super) fn set_links(&mut self, expires: Tick, Links { previous, next }: Links) {
        (self.expires, self.previous, self.next) = (expires, previous, next);
    }

    /// The links, after which the entry is not linked any more.
    #[inline(always)]
    pub(super) fn take_links(&mut self) -> Links {
        Links { previous: std::mem::replace(&mut self.previous, NONE), next: self.next }
    }

    /// Records that `face` waits for the answer until `expires`; returns whether it did so already.
    pub(super) fn set_in_record(
        &mut self,
        face: FaceId,
        interest: &Interest,
        expires: Tick,
        now: Time,
    ) -> bool {
        let record = InRecord { nonce: interest.nonce, token: interest.token, expires, face };
        let count = usize::from(self.in_count);
        if let Some(old) = self.ins[..count].iter_mut().find(|old| old.face == face) {
            return std::mem::replace(old, record).is_pending(now);
        }
        if count < INLINE_INS {
            self.ins[count] = record;
            self.in_count += 1;
            return false;
        }
        let more = &mut self.spill.get_or_insert_default().ins;
        if let Some(old) = more.iter_mut().find(|old| old.face == face) {
            return std::mem::replace(old, record).is_pending(now);
        }
        more.push(record);
        false
    }

    /// The last tick at which a downstream waits, not before `first`.
    pub(super) fn last_tick(&self, first: Tick) -> Tick {
        self.in_records()
            .fold(first, |last, record| if record.expires.is_after(last) { record.expires } else { last })
    }

    /// Removes the in-records of all downstream faces.
    pub(crate) fn clear_in_records(&mut self) {
        self.in_count = 0;
        if let Some(spill) = &mut self.spill {
            spill.ins.clear();
        }
    }

    /// Removes the downstream `face`.
    pub(crate) fn remove_in_record(&mut self, face: FaceId) {
        let mut kept: Vec<InRecord> = self.in_records().copied().collect();
        kept.retain(|record| record.face != face);
        self.clear_in_records();
        for record in kept {
            let count = usize::from(self.in_count);
            if count < INLINE_INS {
                self.ins[count] = record;
                self.in_count += 1;
            } else {
                self.spill.get_or_insert_default().ins.push(record);
            }
        }
    }

    /// Records that the Interest left through `face`.
    #[inline(always)]
    pub(crate) fn set_out_record(&mut self, face: FaceId, nonce: u32, now: Time) {
        if self.has_out {
            return self.set_further_out_record(face, nonce, now);
        }
        self.out = OutRecord { sent_at: now, nonce, face, nacked: None, retransmissions: 0 };
        self.has_out = true;
    }

    #[cold]
    fn set_further_out_record(&mut self, face: FaceId, nonce: u32, now: Time) {
        let record = OutRecord { sent_at: now, nonce, face, nacked: None, retransmissions: 0 };
        if let Some(old) = self.out_record_mut(face) {
            *old = OutRecord { retransmissions: old.retransmissions.saturating_add(1), ..record };
        } else {
            self.spill.get_or_insert_default().outs.push(record);
        }
    }

    /// Removes the upstream `face`, because it has answered or the Interest did not reach it.
    pub(crate) fn remove_out_record(&mut self, face: FaceId) {
        let more = self.spill.as_deref_mut().map(|spill| &mut spill.outs);
        if self.has_out && self.out.face == face {
            match more.filter(|outs| !outs.is_empty()) {
                // The first spilled record moves up, so that the records stay in order of first use.
                Some(outs) => self.out = outs.remove(0),
                None => self.has_out = false,
            }
        } else if let Some(outs) = more {
            outs.retain(|record| record.face != face);
        }
    }

    /// An Interest that was held left through `face` at `now`, which begins its round trip.
    pub(crate) fn depart(&mut self, face: FaceId, now: Time) {
        if let Some(record) = self.out_record_mut(face) {
            record.sent_at = now;
        }
    }

    /// The last Interest to `face` did not leave after all; the out-record stays if an earlier one did.
    pub(crate) fn take_back(&mut self, face: FaceId) {
        if self.out_record(face).is_some_and(|record| record.retransmissions == 0) {
            self.remove_out_record(face);
        }
    }

    /// Whether the nonce came from another downstream or was sent upstream. One from the same downstream is
    /// no loop, because the peer sent its Interest again.
    pub(crate) fn is_loop(&self, nonce: u32, from: FaceId) -> bool {
        let mut came_from_another = false;
        for record in self.in_records().filter(|record| record.nonce == nonce) {
            if record.face == from {
                return false;
            }
            came_from_another = true;
        }
        came_from_another || self.out_records().any(|record| record.nonce == nonce)
    }
}
