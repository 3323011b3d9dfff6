//! The PIT: pending Interests by name, with in- and out-records, expiring on a timing wheel.

use hashbrown::HashTable;

use crate::ndn::face::FaceId;
use crate::ndn::name::{Name, NameHash};
use crate::ndn::packet::{Interest, NackReason, PitToken};
use crate::ndn::strategy::NackDecision;
use crate::units::{Span, Time};

/// A dense number of a pending entry, for side tables; reused after the entry is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PitId(pub u32);

/// No entry.
const NONE: u32 = u32::MAX;

/// Milliseconds since the start, wrapping after 49 days; compared only over shorter distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tick(u32);

impl Tick {
    /// The first tick that is not before `at`.
    fn not_before(at: Time) -> Self {
        Self(at.as_nanos().div_ceil(1_000_000) as u32)
    }

    /// The last tick that is not after `at`.
    fn not_after(at: Time) -> Self {
        Self((at.as_nanos() / 1_000_000) as u32)
    }

    /// The first tick that is not before `now + span`; at most [`LONGEST`] from now, so that it never wraps
    /// into the past, whatever lifetime a peer chose.
    fn after(now: Time, span: Span) -> Self {
        Self::not_before(now + span.min(LONGEST))
    }

    fn is_after(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) > 0
    }

    /// Milliseconds from `earlier` to here.
    fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }
}

/// Maximum time an entry can stay, 12.4 days: a quarter of the range of ticks.
const LONGEST: Span = Span::from_millis(1 << 30);

/// A downstream that waits for the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct InRecord {
    /// Nonce of its last Interest.
    pub nonce: u32,
    /// Echoed in the answer.
    pub token: PitToken,
    expires: Tick,
    /// The downstream face.
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
    /// Its nonce.
    pub nonce: u32,
    /// The upstream face.
    pub face: FaceId,
    /// The upstream's refusal.
    pub nacked: Option<NackReason>,
    /// Interests sent again through the face since the first, saturating at 255.
    pub retransmissions: u8,
}

/// Records beyond those stored inline.
#[derive(Debug, Default)]
struct Spill {
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
    fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.ins.capacity() * size_of::<InRecord>()
            + self.outs.capacity() * size_of::<OutRecord>()
    }
}

const INLINE_INS: usize = 2;

/// One pending Interest.
#[derive(Debug)]
pub struct PitEntry {
    name: Name,
    expires: Tick,
    /// Neighbours on the timing wheel.
    previous: u32,
    next: u32,
    /// Entry of the same name with another selector.
    sibling: u32,
    ins: [InRecord; INLINE_INS],
    out: OutRecord,
    spill: Option<Box<Spill>>,
    /// Suppression interval before the next retransmission, milliseconds; 0 before the first.
    suppression_ms: u16,
    in_count: u8,
    has_out: bool,
    selector: Selector,
    satisfied: bool,
    names_digest: bool,
    notices: u8,
}

// The whole of a pending Interest stays within a cache line and a half.
const _: () = assert!(size_of::<PitEntry>() <= 96);

impl PitEntry {
    fn new(name: Name, selector: Selector) -> Self {
        Self {
            name,
            expires: Tick::default(),
            previous: NONE,
            next: NONE,
            sibling: NONE,
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

    /// Upstreams, in order of first use.
    #[inline]
    pub fn out_records(&self) -> impl Iterator<Item = &OutRecord> {
        let more = self.spill.as_deref().map_or(&[][..], |spill| &spill.outs);
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
    pub(crate) fn knows(&self, face: FaceId) -> bool {
        self.in_records().any(|record| record.face == face) || self.out_record(face).is_some()
    }

    /// Time of the last Interest sent upstream.
    pub fn last_sent(&self) -> Option<Time> {
        self.out_records().map(|record| record.sent_at).max()
    }

    /// Time since the upstream `face` was asked: its round trip while an answer from it is looked at.
    ///
    /// `None` when it was not asked, or more than once: the answer does not tell which Interest it is for
    /// (Karn & Partridge 1987).
    pub fn round_trip(&self, face: FaceId, now: Time) -> Option<Span> {
        let record = self.out_record(face)?;
        (record.retransmissions == 0).then(|| now.since(record.sent_at))
    }

    /// Notes that `face` waits for the answer; whether it did so already.
    #[inline]
    pub(crate) fn set_in_record(&mut self, face: FaceId, interest: &Interest, now: Time) -> bool {
        let expires = Tick::after(now, interest.lifetime.span());
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

    /// Removes all downstreams.
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

    /// Notes that the Interest left through `face`.
    #[inline]
    pub(crate) fn set_out_record(&mut self, face: FaceId, nonce: u32, now: Time) {
        let record = OutRecord { sent_at: now, nonce, face, nacked: None, retransmissions: 0 };
        if !self.has_out {
            self.out = record;
            self.has_out = true;
        } else if let Some(old) = self.out_record_mut(face) {
            *old = OutRecord { retransmissions: old.retransmissions.saturating_add(1), ..record };
        } else {
            self.spill.get_or_insert_default().outs.push(record);
        }
    }

    /// Removes the upstream `face`, because it has answered or did not get the Interest after all.
    pub(crate) fn remove_out_record(&mut self, face: FaceId) {
        let more = self.spill.as_deref_mut().map(|spill| &mut spill.outs);
        if self.has_out && self.out.face == face {
            match more.filter(|outs| !outs.is_empty()) {
                Some(outs) => self.out = outs.remove(0),
                None => self.has_out = false,
            }
        } else if let Some(outs) = more {
            outs.retain(|record| record.face != face);
        }
    }

    /// An Interest that was held left through `face` at `now`: its round trip begins.
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

    /// Whether the nonce came from another downstream or was sent upstream. One that came from the same
    /// downstream before is no loop: the peer sent its Interest again.
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

    /// NFD's rule after a Nack: wait while any other upstream may answer; when the only one left
    /// is itself a downstream, tell just that one; when all refused, tell everybody the least severe reason.
    pub fn nack_decision(&self) -> NackDecision {
        let mut open = self.out_records().filter(|record| record.nacked.is_none());
        let min_severe = self.out_records().filter_map(|record| record.nacked).min();
        match (open.next(), open.next(), min_severe) {
            (None, _, Some(reason)) => NackDecision::Return(reason),
            (Some(last), None, Some(reason)) if self.in_records().any(|record| record.face == last.face) => {
                NackDecision::ReturnTo(last.face, reason)
            }
            _ => NackDecision::Wait,
        }
    }
}

/// Slots of the timing wheel, one millisecond each; longer lifetimes take more than one turn.
const SLOTS: usize = 1024;

/// All pending Interests of one node.
#[derive(Debug)]
pub struct Pit {
    hash: NameHash,
    index: HashTable<PitId>,
    slab: Slab,
    wheel: Wheel,
    prefix_entries: u32,
    digest_entries: u32,
    len: usize,
}

impl Pit {
    /// An empty PIT.
    pub fn new(hash: NameHash) -> Self {
        Self {
            hash,
            index: HashTable::new(),
            slab: Slab::default(),
            wheel: Wheel::default(),
            prefix_entries: 0,
            digest_entries: 0,
            len: 0,
        }
    }

    /// Entries now.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Most entries that there were at once.
    pub fn peak(&self) -> usize {
        // Places are given to others before new ones are made.
        self.slab.made()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Pending Interests that Data under their name may answer.
    pub fn prefix_entries(&self) -> u32 {
        self.prefix_entries
    }

    /// Pending Interests whose name ends in the digest of the Data.
    pub fn digest_entries(&self) -> u32 {
        self.digest_entries
    }

    /// Records that the entry's name ends in the digest of the Data.
    pub(crate) fn note_digest(&mut self, id: PitId) {
        let names_digest = &mut self.entry_mut(id).names_digest;
        self.digest_entries += u32::from(!std::mem::replace(names_digest, true));
    }

    /// Bytes of memory held; looks at every entry.
    pub fn memory_bytes(&self) -> usize {
        // One control byte for each slot.
        self.index.capacity() * 8 / 7 * (size_of::<PitId>() + 1)
            + self.slab.memory_bytes()
            + self.wheel.memory_bytes()
    }

    /// The entry `id`.
    #[inline]
    pub fn entry(&self, id: PitId) -> &PitEntry {
        self.slab.get(id.0)
    }

    /// The entry `id`.
    #[inline]
    pub fn entry_mut(&mut self, id: PitId) -> &mut PitEntry {
        self.slab.get_mut(id.0)
    }

    /// The first entry of `name`; others follow by [`next_sibling`](Self::next_sibling).
    #[inline(always)]
    pub fn find(&self, name: Name) -> Option<PitId> {
        self.index.find(self.hash.of(name), |id| self.slab.get(id.0).name == name).copied()
    }

    /// The entry of `name` and `selector`.
    pub fn find_selected(&self, name: Name, selector: Selector) -> Option<PitId> {
        let mut entries = std::iter::successors(self.find(name), |id| self.next_sibling(*id));
        entries.find(|id| self.entry(*id).selector == selector)
    }

    /// The next entry of the same name with another selector.
    pub fn next_sibling(&self, id: PitId) -> Option<PitId> {
        match self.entry(id).sibling {
            NONE => None,
            next => Some(PitId(next)),
        }
    }

    /// The entry for `name` and `selector`, made if there is none; whether it is new.
    #[inline]
    pub fn find_or_insert(&mut self, name: Name, selector: Selector) -> (PitId, bool) {
        use hashbrown::hash_table::Entry;
        let (slab, hash) = (&self.slab, self.hash);
        let found = self.index.entry(
            hash.of(name),
            |id| slab.get(id.0).name == name,
            |id| hash.of(slab.get(id.0).name),
        );
        let head = match found {
            Entry::Vacant(vacant) => {
                let id = PitId(self.slab.insert(PitEntry::new(name, selector)));
                vacant.insert(id);
                self.count_new(selector);
                return (id, true);
            }
            Entry::Occupied(occupied) => *occupied.get(),
        };
        self.find_or_insert_sibling(head, selector)
    }

    fn find_or_insert_sibling(&mut self, head: PitId, selector: Selector) -> (PitId, bool) {
        let mut last = head;
        loop {
            let entry = self.entry(last);
            if entry.selector == selector {
                return (last, false);
            }
            match entry.sibling {
                NONE => break,
                next => last = PitId(next),
            }
        }
        let id = self.slab.insert(PitEntry::new(self.entry(head).name, selector));
        self.entry_mut(last).sibling = id;
        self.count_new(selector);
        (PitId(id), true)
    }

    fn count_new(&mut self, selector: Selector) {
        self.len += 1;
        self.prefix_entries += u32::from(selector.can_be_prefix);
    }

    /// Lets the entry live until its last downstream stops waiting.
    #[inline]
    pub fn renew_expiry(&mut self, id: PitId, now: Time) {
        let entry = self.slab.get(id.0);
        let mut last = Tick::not_before(now);
        for record in entry.in_records() {
            if record.expires.is_after(last) {
                last = record.expires;
            }
        }
        // Two in-records that end in the same millisecond leave the entry where it is.
        if entry.expires != last || entry.previous == NONE {
            self.wheel.unlink(id.0, &mut self.slab);
            self.slab.get_mut(id.0).expires = last;
            self.wheel.link(id.0, &mut self.slab, now);
        }
    }

    /// Marks the entry satisfied; it stays until `now + straggler`.
    pub fn keep_satisfied(&mut self, id: PitId, now: Time, straggler: Span) {
        self.wheel.unlink(id.0, &mut self.slab);
        let entry = self.slab.get_mut(id.0);
        entry.satisfied = true;
        entry.clear_in_records();
        entry.expires = Tick::after(now, straggler);
        self.wheel.link(id.0, &mut self.slab, now);
    }

    /// A satisfied entry that is requested again becomes pending, as if new but for its upstreams.
    pub(crate) fn reopen(&mut self, id: PitId) {
        let entry = self.entry_mut(id);
        (entry.satisfied, entry.suppression_ms, entry.notices) = (false, 0, 0);
    }

    /// Removes the entry.
    #[inline]
    pub fn remove(&mut self, id: PitId) {
        let entry = self.slab.get(id.0);
        let (name, sibling, selector) = (entry.name, entry.sibling, entry.selector);
        self.digest_entries -= u32::from(entry.names_digest);
        self.wheel.unlink(id.0, &mut self.slab);
        let slab = &self.slab;
        let found = self.index.find_entry(self.hash.of(name), |candidate| slab.get(candidate.0).name == name);
        if let Ok(mut head) = found {
            if *head.get() != id {
                let head = *head.get();
                self.unchain(head, id, sibling);
            } else if sibling == NONE {
                head.remove();
            } else {
                *head.get_mut() = PitId(sibling);
            }
        }
        self.slab.remove(id.0);
        self.len -= 1;
        self.prefix_entries -= u32::from(selector.can_be_prefix);
    }

    fn unchain(&mut self, head: PitId, id: PitId, sibling: u32) {
        let mut at = head;
        while self.entry(at).sibling != id.0 {
            at = PitId(self.entry(at).sibling);
        }
        self.entry_mut(at).sibling = sibling;
    }

    /// When [`take_expired`](Self::take_expired) may have something; never later than the first expiry.
    #[inline]
    pub fn next_expiry(&self) -> Option<Time> {
        self.wheel.wake
    }

    /// Appends every entry whose time is up, in order of time to the millisecond; each must then be removed
    /// or renewed.
    pub fn take_expired(&mut self, now: Time, expired: &mut Vec<PitId>) {
        self.wheel.advance(now, &mut self.slab, expired);
    }

    /// Every entry, in no meaningful order that outlives a run.
    pub fn ids(&self) -> impl Iterator<Item = PitId> + '_ {
        self.slab.live().map(PitId)
    }
}

/// Entries in chunks that never move, so that growth copies nothing and wastes at most one chunk.
#[derive(Debug, Default)]
struct Slab {
    chunks: Vec<Vec<PitEntry>>,
    free: Vec<u32>,
}

const CHUNK_BITS: u32 = 7;
const CHUNK: usize = 1 << CHUNK_BITS;

impl Slab {
    #[inline]
    fn get(&self, id: u32) -> &PitEntry {
        &self.chunks[(id >> CHUNK_BITS) as usize][id as usize & (CHUNK - 1)]
    }

    #[inline]
    fn get_mut(&mut self, id: u32) -> &mut PitEntry {
        &mut self.chunks[(id >> CHUNK_BITS) as usize][id as usize & (CHUNK - 1)]
    }

    #[inline]
    fn insert(&mut self, entry: PitEntry) -> u32 {
        if let Some(id) = self.free.pop() {
            *self.get_mut(id) = entry;
            return id;
        }
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            // A node with few pending Interests should not pay for a whole chunk.
            let room = if self.chunks.is_empty() { 4 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(room));
        }
        let chunk = self.chunks.len() - 1;
        self.chunks[chunk].push(entry);
        (chunk * CHUNK + self.chunks[chunk].len() - 1) as u32
    }

    fn remove(&mut self, id: u32) {
        let entry = self.get_mut(id);
        entry.spill = None;
        entry.in_count = 0;
        entry.has_out = false;
        entry.satisfied = true;
        self.free.push(id);
    }

    /// Places made since the start.
    fn made(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    fn live(&self) -> impl Iterator<Item = u32> + '_ {
        let entries = self.chunks.iter().flatten().zip(0..);
        entries.filter(|(entry, _)| entry.next != NONE || entry.previous != NONE).map(|(_, id)| id)
    }

    fn memory_bytes(&self) -> usize {
        let entries: usize = self.chunks.iter().map(Vec::capacity).sum();
        let spills = self.chunks.iter().flatten().filter_map(|entry| entry.spill.as_deref());
        entries * size_of::<PitEntry>()
            + self.chunks.capacity() * size_of::<Vec<PitEntry>>()
            + self.free.capacity() * size_of::<u32>()
            + spills.map(Spill::memory_bytes).sum::<usize>()
    }
}

/// Doubly linked lists of entries by the millisecond in which they end, modulo the number of slots.
///
/// `previous` of a list's first entry is `HEAD | slot`, so that unlinking needs no search.
#[derive(Debug, Default)]
struct Wheel {
    /// Empty until the first entry comes.
    slots: Vec<Slot>,
    /// One bit per slot that is not empty.
    occupied: [u64; SLOTS / 64],
    /// Entries linked.
    linked: u32,
    /// Last tick whose entries have been examined.
    done: Tick,
    wake: Option<Time>,
}

/// The entries that end in one millisecond of any turn.
#[derive(Clone, Copy, Debug)]
struct Slot {
    head: u32,
    /// No entry of the list ends before; without it entries of later turns would cause a wake-up each turn.
    earliest: Tick,
}

/// Marks a `previous` that is a slot.
const HEAD: u32 = 1 << 31;

impl Wheel {
    fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    #[inline]
    fn link(&mut self, id: u32, slab: &mut Slab, now: Time) {
        let tick = Tick::not_after(now);
        if self.linked == 0 {
            self.start(tick);
        }
        self.linked += 1;
        let expires = slab.get(id).expires;
        // What has ended already is looked at with the next tick.
        let due = if expires.is_after(self.done) { expires } else { Tick(self.done.0.wrapping_add(1)) };
        let index = due.0 as usize % SLOTS;
        let slot = &mut self.slots[index];
        let head = slot.head;
        if head == NONE || slot.earliest.is_after(due) {
            slot.earliest = due;
        }
        slot.head = id;
        let entry = slab.get_mut(id);
        entry.previous = HEAD | index as u32;
        entry.next = head;
        if head != NONE {
            slab.get_mut(head).previous = id;
        }
        self.occupied[index / 64] |= 1 << (index % 64);
        let at = time_of(due, now);
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }

    /// Begins to turn at `tick`; nothing is linked, however long ago the last entry was.
    fn start(&mut self, tick: Tick) {
        if self.slots.is_empty() {
            self.slots = vec![Slot { head: NONE, earliest: tick }; SLOTS];
        }
        self.done = tick;
        self.wake = None;
    }

    #[inline]
    fn unlink(&mut self, id: u32, slab: &mut Slab) {
        let entry = slab.get_mut(id);
        let (previous, next) = (entry.previous, entry.next);
        if previous == NONE {
            return;
        }
        self.linked -= 1;
        entry.previous = NONE;
        entry.next = NONE;
        if next != NONE {
            slab.get_mut(next).previous = previous;
        }
        if previous & HEAD == 0 {
            slab.get_mut(previous).next = next;
            return;
        }
        let slot = (previous & !HEAD) as usize;
        self.slots[slot].head = next;
        if next == NONE {
            self.occupied[slot / 64] &= !(1 << (slot % 64));
        }
    }

    fn advance(&mut self, now: Time, slab: &mut Slab, expired: &mut Vec<PitId>) {
        let target = Tick::not_after(now);
        if self.linked == 0 {
            self.wake = None;
            return;
        }
        if !target.is_after(self.done) {
            return;
        }
        let first = expired.len();
        let passed = (target.since(self.done) as usize).min(SLOTS);
        for step in 1..=passed {
            let slot = self.done.0.wrapping_add(step as u32) as usize % SLOTS;
            if self.occupied[slot / 64] & (1 << (slot % 64)) != 0
                && !self.slots[slot].earliest.is_after(target)
            {
                self.take_slot(slot, target, slab, expired);
            }
        }
        let before = self.done;
        self.done = target;
        for id in &expired[first..] {
            self.unlink(id.0, slab);
        }
        if passed == SLOTS {
            // A late call finds entries of several turns.
            expired[first..].sort_by_key(|id| slab.get(id.0).expires.since(before));
        }
        self.wake = self.next_due().map(|due| time_of(due, now));
    }

    /// Appends what ends in `slot` up to `target`, in order of arrival.
    fn take_slot(&mut self, slot: usize, target: Tick, slab: &Slab, expired: &mut Vec<PitId>) {
        let before = expired.len();
        let mut earliest = None;
        let mut at = self.slots[slot].head;
        while at != NONE {
            let entry = slab.get(at);
            if !entry.expires.is_after(target) {
                expired.push(PitId(at));
            } else if earliest.is_none_or(|earliest: Tick| earliest.is_after(entry.expires)) {
                earliest = Some(entry.expires);
            }
            at = entry.next;
        }
        if let Some(earliest) = earliest {
            self.slots[slot].earliest = earliest;
        }
        // The list is in reverse order of arrival.
        expired[before..].reverse();
    }

    /// The first tick after `done` at which an entry may end. Entries whose turn has not come are passed over,
    /// which costs no more than the milliseconds gained.
    fn next_due(&self) -> Option<Tick> {
        let turn = Tick(self.done.0.wrapping_add(SLOTS as u32));
        let mut first: Option<Tick> = None;
        let mut ahead = 0;
        while let Some(next) = self.next_occupied(ahead) {
            ahead = next;
            let slot = self.done.0.wrapping_add(ahead) as usize % SLOTS;
            let earliest = self.slots[slot].earliest;
            if !earliest.is_after(turn) {
                return Some(earliest);
            }
            if first.is_none_or(|first| first.is_after(earliest)) {
                first = Some(earliest);
            }
        }
        first
    }

    /// The next slot that is not empty more than `ahead` milliseconds after `done`, within one turn; its
    /// distance in milliseconds.
    fn next_occupied(&self, ahead: u32) -> Option<u32> {
        let mut step = ahead + 1;
        while step <= SLOTS as u32 {
            let slot = self.done.0.wrapping_add(step) as usize % SLOTS;
            let bits = self.occupied[slot / 64] >> (slot % 64);
            if bits != 0 {
                let found = step + bits.trailing_zeros();
                return (found <= SLOTS as u32).then_some(found);
            }
            step += 64 - (slot % 64) as u32;
        }
        None
    }
}

/// The start of the millisecond `tick`, which is not before `now`.
#[inline]
fn time_of(tick: Tick, now: Time) -> Time {
    let ahead = u64::from(tick.since(Tick::not_after(now)));
    Time::from_nanos((now.as_nanos() / 1_000_000 + ahead).saturating_mul(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::name::NameTable;

    const SELECTOR: Selector = Selector { can_be_prefix: false, must_be_fresh: false };

    fn ms(at: u64) -> Time {
        Time::ZERO + Span::from_millis(at)
    }

    fn entry() -> PitEntry {
        PitEntry::new(Name::segment(NameTable::ROOT, 1), SELECTOR)
    }

    #[test]
    fn a_round_trip_counts_from_the_record_of_its_own_face() {
        let mut entry = entry();
        entry.set_out_record(FaceId(3), 1, ms(10));
        entry.set_out_record(FaceId(4), 2, ms(25));
        let found = [3, 4, 5].map(|face| entry.round_trip(FaceId(face), ms(60)));
        assert_eq!(found, [Some(Span::from_millis(50)), Some(Span::from_millis(35)), None]);
    }

    #[test]
    fn an_upstream_asked_twice_has_no_round_trip_and_the_others_keep_theirs() {
        let mut entry = entry();
        for (at, face) in [(0, 3), (5, 4), (20, 3), (22, 5), (30, 5)] {
            entry.set_out_record(FaceId(face), at as u32, ms(at));
        }
        let found = [3, 4, 5].map(|face| entry.round_trip(FaceId(face), ms(60)));
        assert_eq!(found, [None, Some(Span::from_millis(55)), None]);
    }

    #[test]
    fn retransmissions_are_counted_up_to_255_until_the_upstream_has_answered() {
        let mut entry = entry();
        (0..300).for_each(|at| entry.set_out_record(FaceId(3), 1, ms(at)));
        assert_eq!(entry.out_record(FaceId(3)).map(|record| record.retransmissions), Some(255));
        entry.remove_out_record(FaceId(3));
        entry.set_out_record(FaceId(3), 1, ms(300));
        assert_eq!(entry.out_record(FaceId(3)).map(|record| record.retransmissions), Some(0));
    }
}
