//! The PIT: pending Interests by name, with in- and out-records, expiring on a timing wheel.

mod digests;
mod entry;
mod index;
mod shares;
mod slab;
mod wheel;

use crate::ndn::face::FaceId;
use crate::ndn::name::{Name, NameHash, PrefixId};
use crate::ndn::packet::Interest;
use crate::units::{Span, Time};

use digests::DigestEntries;
pub use entry::{InRecord, OutRecord, PitEntry, Selector};
use index::{Found, Index};
pub use shares::SharePeer;
use shares::Shares;
use slab::Slab;
use wheel::{LONGEST, Tick, Wheel};

/// A dense number of a pending entry, for side tables; reused after the entry is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PitId(pub u32);

/// Maximum number of entries that get another owner for one Interest.
const HEIRS: usize = 16;

/// Stands for no entry in links between entries.
const NONE: u32 = u32::MAX;

/// An Interest in its entry.
pub(crate) struct Recorded<'a> {
    pub id: PitId,
    pub entry: &'a mut PitEntry,
    /// Hint for the FIB, as of [`Fib::route_by`](crate::ndn::fib::Fib::route_by).
    pub route: &'a mut u32,
    /// Whether the face waited already.
    pub is_repeated: bool,
}

/// All pending Interests of one node.
#[derive(Debug)]
pub struct Pit {
    index: Index,
    slab: Slab,
    wheel: Wheel,
    /// Entries by face; `None` where faces stay and are not limited.
    shares: Option<Box<Shares>>,
    prefix_entries: u32,
    digest_entries: DigestEntries,
    len: usize,
}

impl Pit {
    /// An empty PIT that hashes names with `hash`.
    pub fn new(hash: NameHash) -> Self {
        Self {
            index: Index::new(hash),
            slab: Slab::new(),
            wheel: Wheel::new(),
            shares: None,
            prefix_entries: 0,
            digest_entries: DigestEntries::default(),
            len: 0,
        }
    }

    /// Counts entries by face from now on; no entry may be pending yet.
    pub(crate) fn count_shares(&mut self) {
        self.shares = Some(Box::default());
    }

    /// Number of pending entries that count for `face`; `None` if they are not counted by face.
    pub fn share(&self, face: FaceId) -> Option<u32> {
        self.shares.as_ref().map(|shares| shares.count(face))
    }

    /// The entries of a face that has none count together with those of all faces of `peer`.
    pub(crate) fn put_into_share(&mut self, face: FaceId, peer: SharePeer) {
        if let Some(shares) = &mut self.shares {
            shares.put_into(face, peer);
        }
    }

    /// The oldest entry of the face with the largest share, give or take a factor of two, if that is larger than the share
    /// of `face`. Entries that others wait for count for one of them instead.
    pub(crate) fn displaceable(&mut self, face: FaceId) -> Option<PitId> {
        let shares = self.shares.as_mut()?;
        let mut last = None;
        for _ in 0..HEIRS {
            let Some((id, largest)) = shares.displaceable(face) else { break };
            last = Some(PitId(id));
            let mut others = self.slab.get(id).in_records().map(|record| record.face);
            match others.find(|other| *other != largest) {
                Some(heir) => {
                    shares.begin(id, heir);
                    // It has a record of that face still, which has to end with the face.
                    shares.join(id, largest, &self.slab);
                }
                None => return last,
            }
        }
        // Faces that request the same names must not keep their entries by it.
        last
    }

    /// Records that an Interest of the entry was sent to `face`, or is held for it by a gate.
    pub(crate) fn set_out_record(&mut self, id: PitId, face: FaceId, nonce: u32, now: Time) {
        self.slab.get_mut(id.0).set_out_record(face, nonce, now);
        if let Some(shares) = &mut self.shares {
            shares.join(id.0, face, &self.slab);
        }
    }

    /// Adds the upstreams of the entry, if it is pending, to the entries of their faces.
    pub(crate) fn join_upstreams(&mut self, id: PitId) {
        let Some(shares) = &mut self.shares else { return };
        for record in self.slab.get(id.0).out_records() {
            shares.join(id.0, record.face, &self.slab);
        }
    }

    /// Removes every record of `face`; entries without any other downstream expire at `now`.
    pub(crate) fn remove_face(&mut self, face: FaceId, now: Time) {
        let touched: Vec<PitId> = match &mut self.shares {
            Some(shares) => shares.remove_face(face).into_iter().map(PitId).collect(),
            None => self.ids().collect(),
        };
        for id in touched {
            if self.entry(id).involves(face) {
                self.remove_records(id, face, now);
            }
        }
    }

    fn remove_records(&mut self, id: PitId, face: FaceId, now: Time) {
        let entry = self.slab.get_mut(id.0);
        entry.remove_in_record(face);
        entry.remove_out_record(face);
        if entry.is_satisfied() {
            return;
        }
        // An entry that others wait for counts for one of them now.
        if let (Some(heir), Some(shares)) = (entry.in_records().next(), &mut self.shares) {
            shares.inherit(id.0, heir.face);
        }
        self.renew_expiry(id, now);
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

    /// Whether Data may answer entries of other names than its own.
    #[inline]
    pub(crate) fn has_special_entries(&self) -> bool {
        self.prefix_entries != 0 || self.digest_entries.len() != 0
    }

    /// Pending Interests whose name ends in the digest of the Data.
    pub fn digest_entries(&self) -> u32 {
        self.digest_entries.len() as u32
    }

    /// Records that the entry's name is `data` followed by the digest of the Data.
    pub(crate) fn note_digest(&mut self, id: PitId, data: PrefixId) {
        self.entry_mut(id).set_names_digest();
        self.digest_entries.insert(id.0, data);
    }

    /// Whether an entry has the digest of a Data named `data`.
    pub(crate) fn has_digest_of(&self, data: PrefixId) -> bool {
        self.digest_entries.has(data)
    }

    /// Bytes of memory held; looks at every entry.
    pub fn memory_bytes(&self) -> usize {
        let shares = self.shares.as_ref().map_or(0, |shares| shares.memory_bytes());
        self.index.memory_bytes() + self.slab.memory_bytes() + self.wheel.memory_bytes() + shares
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
    pub fn find(&self, name: Name) -> Option<PitId> {
        self.index.find(name, &self.slab).map(PitId)
    }

    /// The entry of `name` if no other can match Data of that name, or else the first one.
    #[inline(always)]
    pub(crate) fn find_only(&self, name: Name) -> Result<PitId, Option<PitId>> {
        match self.index.find_in_ring(name, &self.slab) {
            Some((id, entry)) if entry.sibling() == NONE && !self.has_special_entries() => Ok(PitId(id)),
            _ => self.find_only_elsewhere(name),
        }
    }

    /// Ends the entry of `name` if it [is plain](PitEntry::is_plain) and no other can match Data of that name; returns its
    /// downstream. Not for entries that are counted by face.
    #[inline(always)]
    pub(crate) fn take_only(&mut self, name: Name) -> Option<InRecord> {
        if self.has_special_entries() {
            return None;
        }
        let id = self.index.take_from_ring(name, &self.slab, PitEntry::is_plain)?;
        let (record, links) = self.slab.take(id);
        self.wheel.leave(links, &mut self.slab);
        self.len -= 1;
        Some(record)
    }

    #[cold]
    fn find_only_elsewhere(&self, name: Name) -> Result<PitId, Option<PitId>> {
        match self.find(name) {
            Some(id) if self.next_sibling(id).is_none() && !self.has_special_entries() => Ok(id),
            found => Err(found),
        }
    }

    /// The entry of `name` and `selector`.
    pub fn find_selected(&self, name: Name, selector: Selector) -> Option<PitId> {
        let mut entries = std::iter::successors(self.find(name), |id| self.next_sibling(*id));
        entries.find(|id| self.entry(*id).selector() == selector)
    }

    /// The next entry of the same name with another selector.
    pub fn next_sibling(&self, id: PitId) -> Option<PitId> {
        match self.entry(id).sibling() {
            NONE => None,
            next => Some(PitId(next)),
        }
    }

    /// The entry for `name` and `selector`, inserted if there is none; the flag is true for a new one.
    pub fn find_or_insert(&mut self, name: Name, selector: Selector) -> (PitId, bool) {
        let id = match self.index.seek(name, &self.slab) {
            Found::Place(place) => {
                *place = self.slab.insert(name, selector);
                *place
            }
            Found::Entry(first) => return self.find_or_insert_sibling(first, selector),
            Found::Nothing => {
                let id = self.slab.insert(name, selector);
                self.index.insert(id, &self.slab);
                id
            }
        };
        self.count_new(selector);
        (PitId(id), true)
    }

    #[cold]
    fn find_or_insert_sibling(&mut self, first: u32, selector: Selector) -> (PitId, bool) {
        let mut last = first;
        loop {
            let entry = self.slab.get(last);
            if entry.selector() == selector {
                return (PitId(last), false);
            }
            match entry.sibling() {
                NONE => break,
                next => last = next,
            }
        }
        let name = self.slab.get(first).name;
        let id = self.slab.insert(name, selector);
        self.slab.get_mut(last).set_sibling(id);
        self.count_new(selector);
        (PitId(id), true)
    }

    fn count_new(&mut self, selector: Selector) {
        self.len += 1;
        self.prefix_entries += u32::from(selector.can_be_prefix);
    }

    /// Inserts an entry for an Interest from `face`, which expires with it; `None` unless that is as simple as for most:
    /// a place of the table and one for the name are free, and there is no entry of the name. Not for entries that are
    /// counted by face.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        name: Name,
        face: FaceId,
        interest: &Interest,
        now: Time,
    ) -> Option<Recorded<'_>> {
        let id = self.slab.unused()?;
        let route = self.index.occupy(name, id)?;
        let expires = Tick::after(now, interest.lifetime);
        let links = self.wheel.enter(id, expires, now);
        if links.next != NONE {
            self.slab.get_mut(links.next).previous = id;
        }
        let selector = Selector::from(interest);
        self.len += 1;
        self.prefix_entries += u32::from(selector.can_be_prefix);
        let entry = self.slab.reuse(id);
        entry.reset(name, selector);
        entry.set_links(expires, links);
        entry.set_first_in_record(face, interest, expires);
        Some(Recorded { id: PitId(id), entry, route, is_repeated: false })
    }

    /// Records that `face` waits for the answer of an entry without downstreams that is not linked.
    #[inline]
    fn record_first(&mut self, id: PitId, face: FaceId, interest: &Interest, now: Time) {
        let expires = Tick::after(now, interest.lifetime);
        self.slab.get_mut(id.0).set_first_in_record(face, interest, expires);
        self.wheel.link(id.0, expires, &mut self.slab, now);
    }

    /// Records an Interest from `face` in an entry that [`find_or_insert`](Self::find_or_insert) returned; it expires with
    /// the last of its downstreams.
    #[inline]
    pub(crate) fn record(
        &mut self,
        (id, is_new): (PitId, bool),
        face: FaceId,
        interest: &Interest,
        now: Time,
    ) -> Recorded<'_> {
        let is_repeated = if is_new {
            self.record_first(id, face, interest, now);
            false
        } else {
            self.set_in_record(id, face, interest, now)
        };
        if let Some(shares) = &mut self.shares {
            match self.slab.get(id.0).only_in_record() {
                _ if is_repeated => {}
                Some(_) => shares.begin(id.0, face),
                None => shares.join(id.0, face, &self.slab),
            }
        }
        let entry = self.slab.get_mut(id.0);
        Recorded { id, route: self.index.route_mut(entry.name), entry, is_repeated }
    }

    /// Records that `face` waits for the answer of an entry, which expires with the last of its downstreams; returns
    /// whether the face waited already.
    pub(crate) fn set_in_record(&mut self, id: PitId, face: FaceId, interest: &Interest, now: Time) -> bool {
        let expires = Tick::after(now, interest.lifetime);
        let entry = self.slab.get_mut(id.0);
        let is_repeated = entry.set_in_record(face, interest, expires, now);
        let last = entry.last_tick(expires);
        self.expire_at(id, last, now);
        is_repeated
    }

    /// Sets the entry to expire with its last downstream.
    pub fn renew_expiry(&mut self, id: PitId, now: Time) {
        let last = self.slab.get(id.0).last_tick(Tick::not_before(now));
        self.expire_at(id, last, now);
    }

    fn expire_at(&mut self, id: PitId, last: Tick, now: Time) {
        let entry = self.slab.get(id.0);
        if entry.previous != NONE {
            // Two in-records that end in the same millisecond leave the entry where it is.
            if entry.expires == last {
                return;
            }
            self.unlink(id);
        }
        self.wheel.link(id.0, last, &mut self.slab, now);
    }

    /// Takes the entry off the wheel, if it is there.
    fn unlink(&mut self, id: PitId) {
        let links = self.slab.get_mut(id.0).take_links();
        self.wheel.leave(links, &mut self.slab);
    }

    /// Marks the entry satisfied; it stays until `now + straggler`.
    pub fn keep_satisfied(&mut self, id: PitId, now: Time, straggler: Span) {
        self.unlink(id);
        let entry = self.slab.get_mut(id.0);
        entry.satisfy();
        self.wheel.link(id.0, Tick::not_before(now + straggler.min(LONGEST.span())), &mut self.slab, now);
    }

    /// A satisfied entry that is requested again becomes pending, as if new but for its upstreams.
    pub(crate) fn reopen(&mut self, id: PitId) {
        self.entry_mut(id).reopen();
    }

    /// Removes the entry with the number `id`.
    pub fn remove(&mut self, id: PitId) {
        self.end(id);
    }

    /// As [`remove`](Self::remove), in the code of the caller.
    #[inline(always)]
    pub(crate) fn end(&mut self, id: PitId) {
        let entry = self.slab.get(id.0);
        let (name, sibling) = (entry.name, entry.sibling());
        let (selector, names_digest) = (entry.selector(), entry.names_digest());
        let links = self.slab.remove(id.0);
        self.wheel.leave(links, &mut self.slab);
        if let Some(shares) = &mut self.shares {
            shares.end(id.0);
        }
        if sibling != NONE || !self.index.take(name, id.0) {
            self.remove_from_index(id, sibling);
        }
        self.len -= 1;
        self.prefix_entries -= u32::from(selector.can_be_prefix);
        if names_digest {
            self.digest_entries.remove(id.0);
        }
    }

    /// Removes an entry that has siblings, the next of which is `sibling`, or is not in a ring.
    #[cold]
    fn remove_from_index(&mut self, id: PitId, sibling: u32) {
        let Some(first) = self.index.find(self.entry(id).name, &self.slab) else { return };
        if first == id.0 {
            return self.index.replace(first, sibling, &self.slab);
        }
        let mut at = first;
        while self.slab.get(at).sibling() != id.0 {
            at = self.slab.get(at).sibling();
        }
        self.slab.get_mut(at).set_sibling(sibling);
    }

    /// Time at which [`take_expired`](Self::take_expired) may find an entry; never later than the first
    /// expiry.
    pub fn next_expiry(&self) -> Option<Time> {
        Some(self.wake()).filter(|wake| *wake != Time::MAX)
    }

    /// As [`next_expiry`](Self::next_expiry), with [`Time::MAX`] for never.
    #[inline]
    pub(crate) fn wake(&self) -> Time {
        self.wheel.wake()
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
mod tests;
