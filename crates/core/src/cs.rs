//! The content store: Data by name, least recently used out first. Hop signals are never kept.

use hashbrown::HashTable;

use crate::name::{Name, NameHash, NameTable, PrefixId};
use crate::packet::{Data, Header, Interest, Kind, Packet};
use crate::signal::HopSignals;
use crate::units::{Packets, Time};

/// No entry.
const NONE: u32 = u32::MAX;

/// Names looked for under a prefix.
const MOST_LOOKED_FOR: usize = 64;

#[derive(Debug)]
struct CsEntry<B> {
    packet: Packet<B>,
    fresh_until: Time,
    newer: u32,
    older: u32,
}

/// Cached Data of one node.
#[derive(Debug)]
pub struct Cs<B> {
    capacity: u32,
    hash: NameHash,
    /// How a body is kept.
    keep: fn(&B) -> B,
    index: HashTable<u32>,
    entries: Vec<CsEntry<B>>,
    newest: u32,
    oldest: u32,
}

impl<B: Clone> Cs<B> {
    /// An empty store for `capacity` packets; zero keeps nothing.
    pub fn new(capacity: Packets, hash: NameHash) -> Self {
        Self {
            capacity: capacity.get(),
            hash,
            keep: B::clone,
            index: HashTable::new(),
            entries: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Keeps bodies by this rule instead of sharing them.
    pub fn set_keep(&mut self, keep: fn(&B) -> B) {
        self.keep = keep;
    }

    /// Packets kept now.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether it can keep anything.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.capacity > 0
    }

    /// Keeps a Data in place of an older one of its name; anything else is ignored.
    pub fn insert(&mut self, packet: &Packet<B>, now: Time) {
        let Kind::Data(data) = packet.header.kind else { return };
        if self.capacity == 0 {
            return;
        }
        let header = Header { hop: HopSignals::default(), ..packet.header };
        let kept = Packet { header, body: (self.keep)(&packet.body) };
        let fresh_until = now + data.freshness.span();
        let slot = match self.find(header.name) {
            Some(slot) => slot,
            None if self.entries.len() < self.capacity as usize => return self.push(kept, fresh_until),
            None => {
                let slot = self.oldest;
                self.unindex(slot);
                self.entries[slot as usize].packet.header.name = header.name;
                self.reindex(slot);
                slot
            }
        };
        let entry = &mut self.entries[slot as usize];
        entry.packet = kept;
        entry.fresh_until = fresh_until;
        self.touch(slot);
    }

    /// Names of what is kept.
    pub(crate) fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.entries.iter().map(|entry| entry.packet.header.name)
    }

    /// The Data that answers `interest` under `name`, if any; it counts as used.
    ///
    /// An Interest that Data under its name may answer is not answered by everything there: of each of the
    /// first names under it, only the Data of that very name and its segment 0 are looked for. A store may
    /// miss, but it must not take long.
    pub fn lookup(
        &mut self,
        name: Name,
        interest: &Interest,
        names: &NameTable,
        now: Time,
    ) -> Option<Packet<B>> {
        let exact = self.find(name).filter(|slot| self.may_answer(*slot, interest, now));
        let found = match exact {
            None if interest.can_be_prefix => {
                names.prefix_of(name).and_then(|prefix| self.find_under(prefix, interest, names, now))
            }
            _ => exact,
        };
        let slot = found?;
        self.touch(slot);
        Some(self.entries[slot as usize].packet.clone())
    }

    fn find_under(&self, prefix: PrefixId, interest: &Interest, names: &NameTable, now: Time) -> Option<u32> {
        names
            .descendants(prefix)
            .take(MOST_LOOKED_FOR)
            .flat_map(|prefix| [Name::whole(prefix), Name::segment(prefix, 0)])
            .filter_map(|name| self.find(name))
            .find(|slot| self.may_answer(*slot, interest, now))
    }

    fn may_answer(&self, slot: u32, interest: &Interest, now: Time) -> bool {
        !interest.must_be_fresh || self.entries[slot as usize].fresh_until > now
    }

    #[inline]
    fn find(&self, name: Name) -> Option<u32> {
        self.index
            .find(self.hash.of(name), |slot| self.entries[*slot as usize].packet.header.name == name)
            .copied()
    }

    fn push(&mut self, packet: Packet<B>, fresh_until: Time) {
        let slot = self.entries.len() as u32;
        self.entries.push(CsEntry { packet, fresh_until, newer: NONE, older: NONE });
        self.reindex(slot);
        self.link_newest(slot);
    }

    fn unindex(&mut self, slot: u32) {
        let name = self.entries[slot as usize].packet.header.name;
        if let Ok(found) = self.index.find_entry(self.hash.of(name), |candidate| *candidate == slot) {
            found.remove();
        }
    }

    fn reindex(&mut self, slot: u32) {
        let entries = &self.entries;
        let name_of = |slot: &u32| entries[*slot as usize].packet.header.name;
        let hash = self.hash;
        self.index.insert_unique(hash.of(name_of(&slot)), slot, |slot| hash.of(name_of(slot)));
    }

    fn touch(&mut self, slot: u32) {
        if self.newest == slot {
            return;
        }
        let CsEntry { newer, older, .. } = self.entries[slot as usize];
        // A newer neighbour exists, because this is not the newest.
        self.entries[newer as usize].older = older;
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
        self.link_newest(slot);
    }

    fn link_newest(&mut self, slot: u32) {
        let old = std::mem::replace(&mut self.newest, slot);
        let entry = &mut self.entries[slot as usize];
        entry.newer = NONE;
        entry.older = old;
        match old {
            NONE => self.oldest = slot,
            old => self.entries[old as usize].newer = slot,
        }
    }
}

/// What happens to Data that nobody asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnsolicitedPolicy {
    /// It is dropped.
    #[default]
    Drop,
    /// It is cached.
    Admit,
}

/// A Data header with the token of the Interest it answers.
pub(crate) fn with_token(header: &Header, token: crate::packet::PitToken) -> Header {
    match header.kind {
        Kind::Data(data) => Header { kind: Kind::Data(Data { token, ..data }), ..*header },
        _ => *header,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Segment;
    use crate::packet::{Millis, PitToken};
    use crate::units::ByteCount;

    fn data(segment: u32, freshness_ms: u32) -> Packet<()> {
        let kind = Kind::Data(Data {
            freshness: Millis(freshness_ms),
            final_segment: Segment::NONE,
            payload: 100,
            token: PitToken(0),
        });
        let mut header = Header::new(Name::segment(PrefixId(0), segment), kind, ByteCount::new(120));
        header.hop.mark = 1;
        Packet { header, body: () }
    }

    fn interest() -> Interest {
        Interest {
            nonce: 1,
            lifetime: Millis(1000),
            token: PitToken(0),
            hop_limit: None,
            can_be_prefix: false,
            must_be_fresh: false,
        }
    }

    fn has(cs: &mut Cs<()>, segment: u32) -> bool {
        cs.lookup(Name::segment(PrefixId(0), segment), &interest(), &NameTable::new(), Time::ZERO).is_some()
    }

    #[test]
    fn the_least_recently_used_data_leaves_first() {
        let mut cs = Cs::new(Packets::new(2), NameHash::LOCALITY);
        cs.insert(&data(1, 0), Time::ZERO);
        cs.insert(&data(2, 0), Time::ZERO);
        assert!(has(&mut cs, 1));
        cs.insert(&data(3, 0), Time::ZERO);
        assert_eq!([1, 2, 3].map(|segment| has(&mut cs, segment)), [true, false, true]);
        assert_eq!(cs.len(), 2);
    }

    #[test]
    fn cached_data_carries_no_hop_signals() {
        let mut cs = Cs::new(Packets::new(1), NameHash::LOCALITY);
        cs.insert(&data(1, 0), Time::ZERO);
        let name = Name::segment(PrefixId(0), 1);
        let kept = cs.lookup(name, &interest(), &NameTable::new(), Time::ZERO).expect("kept");
        assert_eq!(kept.header.hop, HopSignals::default());
    }

    #[test]
    fn stale_data_does_not_answer_must_be_fresh() {
        let mut cs = Cs::new(Packets::new(1), NameHash::LOCALITY);
        cs.insert(&data(1, 10), Time::ZERO);
        let fresh = Interest { must_be_fresh: true, ..interest() };
        let name = Name::segment(PrefixId(0), 1);
        let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
        assert!(cs.lookup(name, &fresh, &NameTable::new(), at(9)).is_some());
        assert!(cs.lookup(name, &fresh, &NameTable::new(), at(10)).is_none());
    }

    #[test]
    fn a_prefix_is_answered_by_the_first_segment_under_it() {
        let mut cs = Cs::new(Packets::new(4), NameHash::LOCALITY);
        let prefix = Interest { can_be_prefix: true, ..interest() };
        let name = Name::whole(NameTable::ROOT);
        cs.insert(&data(7, 0), Time::ZERO);
        assert!(cs.lookup(name, &prefix, &NameTable::new(), Time::ZERO).is_none());
        cs.insert(&data(0, 0), Time::ZERO);
        let found = cs.lookup(name, &prefix, &NameTable::new(), Time::ZERO).expect("found");
        assert_eq!(found.header.name, Name::segment(NameTable::ROOT, 0));
    }

    #[test]
    fn a_store_without_room_keeps_nothing() {
        let mut cs = Cs::new(Packets::new(0), NameHash::LOCALITY);
        cs.insert(&data(1, 0), Time::ZERO);
        assert!(cs.is_empty() && !cs.is_enabled());
    }
}
