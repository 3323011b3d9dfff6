//! The PIT: pending Interests by name, with in- and out-records, expiring on a timing wheel.

mod entry;
mod slab;
mod wheel;

use hashbrown::HashTable;

use crate::ndn::name::{Name, NameHash};
use crate::units::{Span, Time};

pub use entry::{InRecord, OutRecord, PitEntry, Selector};
use slab::Slab;
use wheel::{Tick, Wheel};

/// A dense number of a pending entry, for side tables; reused after the entry is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PitId(pub u32);

/// Stands for no entry in links between entries.
const NONE: u32 = u32::MAX;

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
    /// An empty PIT that hashes names with `hash`.
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

    /// Number of entries that are pending now.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Maximum number of entries that existed at once.
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

    /// The entry with the number `id`.
    #[inline]
    pub fn entry(&self, id: PitId) -> &PitEntry {
        self.slab.get(id.0)
    }

    /// The entry with the number `id`, to change it.
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

    /// The entry for `name` and `selector`, inserted if there is none; the flag is true for a new one.
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
                let bucket = vacant.insert(id).bucket_index();
                self.slab.get_mut(id.0).bucket = bucket as u32;
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

    /// Sets the entry to expire with its last downstream.
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
            if entry.previous != NONE {
                self.wheel.unlink(id.0, &mut self.slab);
            }
            self.wheel.link(id.0, last, &mut self.slab, now);
        }
    }

    /// Marks the entry satisfied; it stays until `now + straggler`.
    pub fn keep_satisfied(&mut self, id: PitId, now: Time, straggler: Span) {
        self.wheel.unlink(id.0, &mut self.slab);
        let entry = self.slab.get_mut(id.0);
        entry.satisfied = true;
        entry.clear_in_records();
        self.wheel.link(id.0, Tick::after(now, straggler), &mut self.slab, now);
    }

    /// A satisfied entry that is requested again becomes pending, as if new but for its upstreams.
    pub(crate) fn reopen(&mut self, id: PitId) {
        let entry = self.entry_mut(id);
        (entry.satisfied, entry.suppression_ms, entry.notices) = (false, 0, 0);
    }

    /// Removes the entry with the number `id`.
    #[inline]
    pub fn remove(&mut self, id: PitId) {
        let entry = self.slab.get(id.0);
        let (sibling, selector, bucket) = (entry.sibling, entry.selector, entry.bucket);
        self.digest_entries -= u32::from(entry.names_digest);
        self.wheel.unlink(id.0, &mut self.slab);
        match self.index.get_bucket_entry(bucket as usize) {
            // The index has each number once, so this is the entry's bucket, although growth may have moved others.
            Ok(head) if *head.get() == id && sibling == NONE => drop(head.remove()),
            _ => self.remove_from_index(id),
        }
        self.slab.remove(id.0);
        self.len -= 1;
        self.prefix_entries -= u32::from(selector.can_be_prefix);
    }

    /// Removes an entry that has siblings, or that growth of the index has moved.
    #[cold]
    fn remove_from_index(&mut self, id: PitId) {
        let slab = &self.slab;
        let PitEntry { name, sibling, .. } = *slab.get(id.0);
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
    }

    fn unchain(&mut self, head: PitId, id: PitId, sibling: u32) {
        let mut at = head;
        while self.entry(at).sibling != id.0 {
            at = PitId(self.entry(at).sibling);
        }
        self.entry_mut(at).sibling = sibling;
    }

    /// Time at which [`take_expired`](Self::take_expired) may find an entry; never later than the first
    /// expiry.
    #[inline]
    pub fn next_expiry(&self) -> Option<Time> {
        self.wheel.wake
    }

    /// Appends every entry that has expired, in order of time to the millisecond; each must then be removed
    /// or renewed.
    pub fn take_expired(&mut self, now: Time, expired: &mut Vec<PitId>) {
        self.wheel.advance(now, &mut self.slab, expired);
    }

    /// Iterates over every entry, in an order that has no meaning.
    pub fn ids(&self) -> impl Iterator<Item = PitId> + '_ {
        self.slab.live().map(PitId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::face::FaceId;
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
    fn an_upstream_requested_twice_has_no_round_trip_and_the_others_keep_theirs() {
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
