//! The content store of a node: one store for everything, and separate stores for single prefixes.

use super::{CacheSetup, Cs};
use crate::ndn::name::{Name, NameHash, NameTable, PrefixId};
use crate::ndn::packet::{Interest, Packet};
use crate::units::{ByteCount, Packets, Time};

/// All stores of one node. Data belongs to the store of the longest prefix that has one.
#[derive(Debug)]
pub struct Stores<B> {
    hash: NameHash,
    main: Cs<B>,
    /// Separate stores by prefix number.
    narrowed: Vec<(PrefixId, Cs<B>)>,
    /// Whether any of them has a capacity above zero.
    is_enabled: bool,
    /// Whether Data is stored.
    admits: bool,
    /// Whether stored Data answers Interests.
    serves: bool,
}

impl<B: Clone> Stores<B> {
    /// One empty store for everything.
    pub fn new(setup: CacheSetup, hash: NameHash) -> Self {
        let main = Cs::new(setup, hash);
        let is_enabled = main.is_enabled();
        Self { hash, is_enabled, main, narrowed: Vec::new(), admits: true, serves: true }
    }

    /// Gives Data under `prefix` a separate store, replacing an earlier one; with zero packets it is not cached.
    pub fn narrow(&mut self, prefix: PrefixId, setup: CacheSetup) {
        let mut store = Cs::new(setup, self.hash);
        // The conversion may have been set before the store was separated.
        store.set_keep(self.main.keep);
        self.is_enabled |= store.is_enabled();
        match self.narrowed.binary_search_by_key(&prefix, |(prefix, _)| *prefix) {
            Ok(at) => self.narrowed[at].1 = store,
            Err(at) => self.narrowed.insert(at, (prefix, store)),
        }
    }

    /// Sets the conversion of bodies for storage; by default they are shared.
    pub fn set_keep(&mut self, keep: fn(&B) -> B) {
        self.main.set_keep(keep);
        self.narrowed.iter_mut().for_each(|(_, store)| store.set_keep(keep));
    }

    /// Capacity of the store for everything.
    pub fn capacity(&self) -> Packets {
        Packets::new(self.main.capacity)
    }

    /// Changes the maximum size of the store for everything; what is beyond it is evicted.
    pub fn set_max_size(&mut self, max_size: ByteCount) {
        self.main.set_max_size(max_size);
    }

    /// Changes the capacity of the store for everything; what is beyond it is evicted.
    pub fn set_capacity(&mut self, capacity: Packets) {
        self.main.set_capacity(capacity);
        let is_enabled = self.all().any(Cs::is_enabled);
        self.is_enabled = is_enabled;
    }

    /// Whether Data is stored.
    pub fn admits(&self) -> bool {
        self.admits
    }

    /// Sets whether Data is stored; what is stored already stays.
    pub fn set_admits(&mut self, admits: bool) {
        self.admits = admits;
    }

    /// Whether stored Data answers Interests.
    pub fn serves(&self) -> bool {
        self.serves
    }

    /// Sets whether stored Data answers Interests.
    pub fn set_serves(&mut self, serves: bool) {
        self.serves = serves;
    }

    /// Removes up to `limit` Data under `prefix` from all stores; returns their number.
    pub fn erase(&mut self, prefix: PrefixId, limit: usize, names: &NameTable) -> usize {
        let mut erased = self.main.erase(prefix, limit, names);
        for (_, store) in &mut self.narrowed {
            erased += store.erase(prefix, limit - erased, names);
        }
        erased
    }

    /// Whether Data under `prefix` is stored.
    pub fn has_under(&self, prefix: PrefixId, names: &NameTable) -> bool {
        self.all().any(|store| store.has_under(prefix, names))
    }

    /// Number of packets in all stores.
    pub fn len(&self) -> usize {
        self.all().map(Cs::len).sum()
    }

    /// Size of all Data in all stores, whole packets.
    pub fn size(&self) -> ByteCount {
        ByteCount::new(self.all().map(|store| store.size().get()).sum())
    }

    /// Whether the stores contain nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether any Data can be cached.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Whether Data under `prefix` can be cached.
    #[inline]
    pub fn keeps(&self, prefix: PrefixId, names: &NameTable) -> bool {
        match self.place_of(prefix, names) {
            None => self.main.is_enabled(),
            Some(place) => self.narrowed[place].1.is_enabled(),
        }
    }

    /// As [`Cs::insert`], in the store of the Data's name.
    #[inline]
    pub fn insert(&mut self, packet: &Packet<B>, names: &NameTable, now: Time) {
        if !self.admits {
            return;
        }
        match self.place_of(packet.header.name.prefix, names) {
            None => self.main.insert(packet, now),
            Some(place) => self.narrowed[place].1.insert(packet, now),
        }
    }

    /// As [`Cs::lookup`]: in the store of the name and, if longer names may match, in all others.
    #[inline]
    pub fn lookup(
        &mut self,
        name: Name,
        interest: &Interest,
        names: &NameTable,
        now: Time,
    ) -> Option<Packet<B>> {
        if !self.serves {
            return None;
        }
        let place = self.place_of(name.prefix, names);
        let own = match place {
            None => &mut self.main,
            Some(place) => &mut self.narrowed[place].1,
        };
        let found = own.lookup(name, interest, names, now);
        if found.is_some() || !interest.can_be_prefix || self.narrowed.is_empty() {
            return found;
        }
        let mut stores = self.narrowed.iter_mut().map(|(_, store)| store).chain([&mut self.main]);
        stores.find_map(|store| store.lookup(name, interest, names, now))
    }

    /// Names of the stored Data.
    pub(crate) fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.all().flat_map(Cs::names)
    }

    /// Prefixes with a store of their own.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = PrefixId> + '_ {
        self.narrowed.iter().map(|(prefix, _)| *prefix)
    }

    fn all(&self) -> impl Iterator<Item = &Cs<B>> {
        self.narrowed.iter().map(|(_, store)| store).chain([&self.main])
    }

    /// Index of the separate store for the longest prefix of `prefix` that has one.
    #[inline]
    fn place_of(&self, prefix: PrefixId, names: &NameTable) -> Option<usize> {
        if self.narrowed.is_empty() {
            return None;
        }
        self.narrowed_place_of(prefix, names)
    }

    #[cold]
    fn narrowed_place_of(&self, prefix: PrefixId, names: &NameTable) -> Option<usize> {
        let place = |prefix| self.narrowed.binary_search_by_key(&prefix, |(narrowed, _)| *narrowed).ok();
        names.ancestors(prefix).find_map(place)
    }
}
