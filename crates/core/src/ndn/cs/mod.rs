//! The content store: Data by name, with a replacement policy. Hop signals are never stored.

mod fifo;
mod lfu;
mod lru;
mod order;
mod random;
mod stores;
#[cfg(test)]
mod tests;

use hashbrown::HashTable;

use crate::ndn::name::{Name, NameHash, NameTable, PrefixId};
use crate::ndn::packet::{Header, Interest, Kind, Packet};
use crate::rng::{Rng, Seed, Streams};
use crate::scheme::signal::HopSignals;
use crate::units::{ByteCount, Packets, Time};

use order::Order;
pub use stores::Stores;

/// Replacement policy: which Data is evicted from a full store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The Data that was used least recently.
    #[default]
    Lru,
    /// The Data that was inserted first.
    Fifo,
    /// The Data that was used least often since its insertion; of several the one used least recently.
    Lfu,
    /// A random one; all are equally likely.
    Random,
}

impl Policy {
    /// Every policy with its name in a scenario.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Lru, "lru"), (Self::Fifo, "fifo"), (Self::Lfu, "lfu"), (Self::Random, "random")];
}

/// Admission policy: which passing Data is cached.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Admission {
    /// All Data (leave copy everywhere).
    #[default]
    Everywhere,
    /// Data from the producer or from a hit that has passed no other store: a hit moves its Data one store
    /// down (leave copy down; Laoutaris, Syntila & Stavrakakis 2004).
    LeaveCopyDown,
    /// Each Data with this probability, 0..=1, independently of other nodes.
    Probability(f64),
}

/// Parameters of a store.
#[derive(Clone, Copy, Debug)]
pub struct CacheSetup {
    /// Capacity in Data packets; zero for no store.
    pub capacity: Packets,
    /// Maximum size of all Data in it, whole packets.
    pub max_size: ByteCount,
    /// Replacement policy of a full store.
    pub policy: Policy,
    /// Admission policy of the store.
    pub admission: Admission,
    /// Random streams of both policies.
    pub streams: Streams,
}

impl CacheSetup {
    /// A store of the default kind: caches everything, evicts the least recently used.
    pub fn lru(capacity: Packets) -> Self {
        let streams = Streams::of(Seed(0));
        let (policy, admission) = (Policy::Lru, Admission::Everywhere);
        Self { capacity, max_size: ByteCount::new(u64::MAX), policy, admission, streams }
    }
}

/// Maximum number of names that are looked up under a prefix, so that one Interest cannot cost much time.
const MAX_LOOKED_FOR: usize = 64;

#[derive(Debug)]
struct CsEntry<B> {
    packet: Packet<B>,
    fresh_until: Time,
}

/// A store of Data under one policy.
#[derive(Debug)]
pub struct Cs<B> {
    capacity: u32,
    /// Maximum of `size`, bytes.
    max_size: u64,
    /// Size of all Data, bytes.
    size: u64,
    admission: Admission,
    draws: Rng,
    hash: NameHash,
    /// Conversion of a body for storage.
    keep: fn(&B) -> B,
    index: HashTable<u32>,
    entries: Vec<CsEntry<B>>,
    order: Order,
}

impl<B: Clone> Cs<B> {
    /// An empty store with this set-up.
    pub fn new(setup: CacheSetup, hash: NameHash) -> Self {
        let CacheSetup { capacity, max_size, policy, admission, streams } = setup;
        Self {
            capacity: capacity.get(),
            max_size: max_size.get(),
            size: 0,
            admission,
            draws: streams.stream("admission"),
            hash,
            keep: B::clone,
            index: HashTable::new(),
            entries: Vec::new(),
            order: Order::new(policy, streams),
        }
    }

    /// Sets the conversion of bodies for storage; by default they are shared.
    pub fn set_keep(&mut self, keep: fn(&B) -> B) {
        self.keep = keep;
    }

    /// Number of packets in the store.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Size of all Data in the store, whole packets.
    pub fn size(&self) -> ByteCount {
        ByteCount::new(self.size)
    }

    /// Whether the store contains nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the capacity is above zero.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.capacity > 0
    }

    /// Stores a Data in place of an older one with its name; other packets are ignored.
    pub fn insert(&mut self, packet: &Packet<B>, now: Time) {
        let Kind::Data(data) = packet.header.kind else { return };
        if self.capacity == 0 {
            return;
        }
        let known = self.find(packet.header.name);
        // Stored Data is always renewed; only new Data needs admission and, under `Probability`, a draw.
        if known.is_none() && !self.admits(&packet.header) {
            return;
        }
        let size = packet.header.size().get();
        if size > self.max_size {
            return;
        }
        let header = Header { hop: HopSignals::default(), ..packet.header };
        let kept = Packet { header, body: (self.keep)(&packet.body) };
        let entry = CsEntry { packet: kept, fresh_until: now + data.freshness.span() };
        self.size += size;
        match known {
            Some(slot) => {
                self.size -= self.size_of(slot);
                self.entries[slot as usize] = entry;
                self.order.renew(slot);
            }
            None if self.entries.len() < self.capacity as usize => self.push(entry),
            None => self.replace(entry),
        }
        while self.size > self.max_size {
            self.evict();
        }
    }

    /// Whether Data that is not in the store is admitted.
    #[inline]
    fn admits(&mut self, header: &Header) -> bool {
        match self.admission {
            Admission::Everywhere => true,
            Admission::LeaveCopyDown => !header.hop.passed_store,
            Admission::Probability(probability) => self.draws.chance(probability),
        }
    }

    /// Changes the maximum size; what is beyond it is evicted.
    pub fn set_max_size(&mut self, max_size: ByteCount) {
        self.max_size = max_size.get();
        while self.size > self.max_size {
            self.evict();
        }
    }

    /// Changes the capacity; what is beyond it is evicted.
    pub fn set_capacity(&mut self, capacity: Packets) {
        self.capacity = capacity.get();
        while self.entries.len() > self.capacity as usize {
            self.evict();
        }
    }

    /// Removes the Data that the policy gives up; there is one.
    #[cold]
    fn evict(&mut self) {
        let slot = self.order.leave();
        // An evicted place is listed again, so that it can be removed like any other.
        self.order.enter(slot);
        self.remove(slot);
    }

    fn size_of(&self, slot: u32) -> u64 {
        self.entries[slot as usize].packet.header.size().get()
    }

    /// Removes up to `limit` Data under `prefix`; returns their number.
    pub fn erase(&mut self, prefix: PrefixId, limit: usize, names: &NameTable) -> usize {
        let (mut erased, mut slot) = (0, 0);
        while erased < limit && slot < self.entries.len() {
            if is_under(prefix, self.entries[slot].packet.header.name, names) {
                // Another entry takes the place, and is looked at next.
                self.remove(slot as u32);
                erased += 1;
            } else {
                slot += 1;
            }
        }
        erased
    }

    /// Whether Data under `prefix` is stored.
    pub(crate) fn has_under(&self, prefix: PrefixId, names: &NameTable) -> bool {
        self.names().any(|name| is_under(prefix, name, names))
    }

    /// Removes an entry; the last one gets its place.
    fn remove(&mut self, slot: u32) {
        self.unindex(slot);
        self.size -= self.size_of(slot);
        let last = self.entries.len() as u32 - 1;
        if last != slot {
            let name = self.entries[last as usize].packet.header.name;
            if let Some(place) = self.index.find_mut(self.hash.of(name), |place| *place == last) {
                *place = slot;
            }
        }
        self.entries.swap_remove(slot as usize);
        self.order.remove(slot);
    }

    fn unindex(&mut self, slot: u32) {
        let name = self.entries[slot as usize].packet.header.name;
        if let Ok(found) = self.index.find_entry(self.hash.of(name), |candidate| *candidate == slot) {
            found.remove();
        }
    }

    /// Names of the stored Data.
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
                names.under(name).and_then(|prefix| self.find_under(prefix, interest, names, now))
            }
            _ => exact,
        };
        let slot = found?;
        self.order.touch(slot);
        Some(self.entries[slot as usize].packet.clone())
    }

    fn find_under(&self, prefix: PrefixId, interest: &Interest, names: &NameTable, now: Time) -> Option<u32> {
        names
            .descendants(prefix)
            .take(MAX_LOOKED_FOR)
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

    fn push(&mut self, entry: CsEntry<B>) {
        let slot = self.entries.len() as u32;
        self.entries.push(entry);
        self.index(slot);
        self.order.enter(slot);
    }

    /// Puts an entry in the place of the one that the policy gives up.
    fn replace(&mut self, entry: CsEntry<B>) {
        // `find_entry` needs the old name, so the index is corrected before the entry is overwritten.
        let slot = self.order.leave();
        self.unindex(slot);
        self.size -= self.size_of(slot);
        self.entries[slot as usize] = entry;
        self.index(slot);
        self.order.enter(slot);
    }

    fn index(&mut self, slot: u32) {
        let entries = &self.entries;
        let name_of = |slot: &u32| entries[*slot as usize].packet.header.name;
        let hash = self.hash;
        self.index.insert_unique(hash.of(name_of(&slot)), slot, |slot| hash.of(name_of(slot)));
    }
}

/// Whether `name` is under `prefix`, which may end with a segment number.
fn is_under(prefix: PrefixId, name: Name, names: &NameTable) -> bool {
    names.is_under(prefix, name.prefix) || names.name_of(prefix) == name
}

/// Treatment of Data that was not requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnsolicitedPolicy {
    /// The unsolicited Data is dropped.
    #[default]
    Drop,
    /// The unsolicited Data is cached.
    Admit,
}

/// Sets the token of the Interest that a Data answers.
#[inline]
pub(crate) fn set_token(header: &mut Header, token: crate::ndn::packet::PitToken) {
    if let Kind::Data(data) = &mut header.kind {
        data.token = token;
    }
}
