//! A pending Interest: its downstreams and upstreams.

use super::NONE;
use super::wheel::{Links, Tick};
use crate::ndn::face::FaceId;
use crate::ndn::name::{Name, PrefixId, Segment};
use crate::ndn::packet::{Interest, NackReason, PitToken};
use crate::units::{Span, Time};

/// A downstream that waits for the answer. Packed, so that an entry fills no more than one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed(2))]
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

/// What few entries have.
#[derive(Debug)]
pub(super) struct Rare {
    /// Downstreams after the first.
    ins: Vec<InRecord>,
    /// Upstreams after the first.
    outs: Vec<OutRecord>,
    /// Entry of the same name with another selector, or [`NONE`].
    sibling: u32,
}

impl Default for Rare {
    fn default() -> Self {
        Self { ins: Vec::new(), outs: Vec::new(), sibling: NONE }
    }
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

impl Rare {
    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.ins.capacity() * size_of::<InRecord>()
            + self.outs.capacity() * size_of::<OutRecord>()
    }
}

/// One pending Interest with its in-records and out-records.
#[derive(Debug)]
#[repr(align(64))]
pub struct PitEntry {
    pub(super) name: Name,
    pub(super) expires: Tick,
    /// Neighbours on the timing wheel.
    pub(super) previous: u32,
    pub(super) next: u32,
    /// First downstream; without meaning unless [`HAS_IN`] is set.
    first_in: InRecord,
    first_out: Option<OutRecord>,
    rare: Option<Box<Rare>>,
    /// Suppression interval before the next retransmission, milliseconds; 0 before the first.
    suppression_ms: u16,
    /// Bits as named below.
    flags: u8,
    notices: u8,
}

// A pending Interest fills one cache line.
const _: () = assert!(size_of::<PitEntry>() == 64);

/// Data under the name may answer.
const CAN_BE_PREFIX: u8 = 1;
/// Only fresh Data may answer.
const MUST_BE_FRESH: u8 = 2;
/// There is a downstream.
const HAS_IN: u8 = 4;
/// Data has answered it.
const SATISFIED: u8 = 8;
/// The name ends in the digest of the Data.
const NAMES_DIGEST: u8 = 16;

impl Selector {
    #[inline(always)]
    fn flags(self) -> u8 {
        (u8::from(self.can_be_prefix) * CAN_BE_PREFIX) | (u8::from(self.must_be_fresh) * MUST_BE_FRESH)
    }
}

impl PitEntry {
    /// A place without an entry.
    pub(super) fn unused() -> Self {
        Self {
            name: Name { prefix: PrefixId(0), segment: Segment::NONE },
            expires: Tick::default(),
            previous: NONE,
            next: NONE,
            first_in: InRecord::default(),
            first_out: None,
            rare: None,
            suppression_ms: 0,
            flags: SATISFIED,
            notices: 0,
        }
    }

    /// Begins an entry in an unused place, without records.
    #[inline(always)]
    pub(super) fn reset(&mut self, name: Name, selector: Selector) {
        (self.name, self.flags) = (name, selector.flags());
        (self.suppression_ms, self.notices) = (0, 0);
    }

    /// Removes what the entry holds; a number of an entry that has ended finds one that is satisfied.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        (self.rare, self.first_out, self.flags) = (None, None, SATISFIED);
    }

    #[inline(always)]
    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Name of the Interest.
    pub fn name(&self) -> Name {
        self.name
    }

    /// Conditions on the answer.
    pub fn selector(&self) -> Selector {
        Selector { can_be_prefix: self.has(CAN_BE_PREFIX), must_be_fresh: self.has(MUST_BE_FRESH) }
    }

    /// Whether Data has answered it.
    #[inline]
    pub fn is_satisfied(&self) -> bool {
        self.has(SATISFIED)
    }

    /// Data has answered it, and no downstream waits any more.
    pub(super) fn satisfy(&mut self) {
        self.flags |= SATISFIED;
        self.clear_in_records();
    }

    /// Becomes pending, as if new but for its upstreams.
    pub(super) fn reopen(&mut self) {
        self.flags &= !SATISFIED;
        (self.suppression_ms, self.notices) = (0, 0);
    }

    /// Whether the name ends in the digest of the Data.
    #[inline]
    pub(super) fn names_digest(&self) -> bool {
        self.has(NAMES_DIGEST)
    }

    pub(super) fn set_names_digest(&mut self) {
        self.flags |= NAMES_DIGEST;
    }

    /// Entry of the same name with another selector, or [`NONE`].
    #[inline(always)]
    pub(super) fn sibling(&self) -> u32 {
        self.rare.as_ref().map_or(NONE, |rare| rare.sibling)
    }

    pub(super) fn set_sibling(&mut self, sibling: u32) {
        self.rare_mut().sibling = sibling;
    }

    pub(super) fn rare_bytes(&self) -> usize {
        self.rare.as_deref().map_or(0, Rare::memory_bytes)
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
        let more = self.rare.as_deref().map_or(&[][..], |rare| &rare.ins);
        self.has(HAS_IN).then_some(&self.first_in).into_iter().chain(more)
    }

    /// The downstream, if there is only one.
    #[inline]
    pub(crate) fn only_in_record(&self) -> Option<&InRecord> {
        let more = self.rare.as_deref().is_some_and(|rare| !rare.ins.is_empty());
        (self.has(HAS_IN) && !more).then_some(&self.first_in)
    }

    /// Whether it has one downstream and nothing [rare](Rare), such as another entry of its name, and any Data may answer it.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.flags & (HAS_IN | MUST_BE_FRESH) == HAS_IN && self.rare.is_none()
    }

    /// The first downstream, of an entry that has some.
    #[inline(always)]
    pub(super) fn first_in_record(&self) -> InRecord {
        self.first_in
    }

    /// Upstreams, in order of first use.
    #[inline]
    pub fn out_records(&self) -> impl Iterator<Item = &OutRecord> {
        let more = self.rare.as_deref().map_or(&[][..], |rare| &rare.outs);
        self.first_out.iter().chain(more)
    }

    /// The record of the upstream `face`.
    pub fn out_record(&self, face: FaceId) -> Option<&OutRecord> {
        self.out_records().find(|record| record.face == face)
    }

    pub(crate) fn out_record_mut(&mut self, face: FaceId) -> Option<&mut OutRecord> {
        match &mut self.first_out {
            Some(record) if record.face == face => Some(record),
            _ => self.rare.as_deref_mut()?.outs.iter_mut().find(|record| record.face == face),
        }
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
        self.first_in = InRecord { nonce: interest.nonce, token: interest.token, expires, face };
        self.flags |= HAS_IN;
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
        if !self.has(HAS_IN) {
            self.set_first_in_record(face, interest, expires);
            return false;
        }
        if self.first_in.face == face {
            return std::mem::replace(&mut self.first_in, record).is_pending(now);
        }
        let more = &mut self.rare_mut().ins;
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
        self.flags &= !HAS_IN;
        if let Some(rare) = &mut self.rare {
            rare.ins.clear();
        }
    }

    /// Removes the downstream `face`; the others stay in order of arrival.
    pub(crate) fn remove_in_record(&mut self, face: FaceId) {
        let more = self.rare.as_deref_mut().map(|rare| &mut rare.ins);
        if self.flags & HAS_IN == 0 || self.first_in.face != face {
            if let Some(ins) = more {
                ins.retain(|record| record.face != face);
            }
            return;
        }
        match more.filter(|ins| !ins.is_empty()) {
            Some(ins) => self.first_in = ins.remove(0),
            None => self.flags &= !HAS_IN,
        }
    }

    /// Records that the Interest left through `face`.
    #[inline(always)]
    pub(crate) fn set_out_record(&mut self, face: FaceId, nonce: u32, now: Time) {
        if self.first_out.is_some() {
            return self.set_further_out_record(face, nonce, now);
        }
        self.first_out = Some(OutRecord { sent_at: now, nonce, face, nacked: None, retransmissions: 0 });
    }

    #[cold]
    fn set_further_out_record(&mut self, face: FaceId, nonce: u32, now: Time) {
        let record = OutRecord { sent_at: now, nonce, face, nacked: None, retransmissions: 0 };
        if let Some(old) = self.out_record_mut(face) {
            *old = OutRecord { retransmissions: old.retransmissions.saturating_add(1), ..record };
        } else {
            self.rare_mut().outs.push(record);
        }
    }

    /// Removes the upstream `face`, because it has answered or the Interest did not reach it.
    pub(crate) fn remove_out_record(&mut self, face: FaceId) {
        let more = self.rare.as_deref_mut().map(|rare| &mut rare.outs);
        if self.first_out.as_ref().is_some_and(|record| record.face == face) {
            // The records stay in order of first use.
            self.first_out = more.filter(|outs| !outs.is_empty()).map(|outs| outs.remove(0));
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
