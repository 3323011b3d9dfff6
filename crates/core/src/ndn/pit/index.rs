//! Entries by name: a ring for each prefix, and a hash table for names that have no place in a ring.

use hashbrown::HashTable;

use super::NONE;
use super::entry::PitEntry;
use super::slab::Slab;
use crate::ndn::name::{Name, NameHash, PrefixId, Segment};
use crate::ndn::prefix_map::PrefixMap;

/// The first entry of each name; others of the same name follow as siblings.
#[derive(Debug)]
pub(super) struct Index {
    hash: NameHash,
    by_prefix: PrefixMap,
    rings: Vec<Ring>,
    /// Rings that may be given to another prefix.
    unused: Vec<u32>,
    /// Number of rings at which those without entries are looked for.
    crowded: usize,
    /// Names without a segment, and those whose place in the ring is taken.
    others: HashTable<u32>,
    /// As `route` of a ring, for names without a segment.
    other_route: u32,
}

/// Entries of one prefix by segment, modulo the number of places: the segments of a window have a place each.
#[derive(Debug)]
struct Ring {
    prefix: PrefixId,
    /// Number of the entry in each place, or [`NONE`]; a power of two of them.
    places: Box<[u32]>,
    /// Number of entries in places.
    inside: u32,
    /// Number of the prefix's entries in the hash table.
    outside: u32,
    /// The segments of all of these are lower than this one; zero if there are none.
    outside_end: u32,
    /// Number of the prefix in the FIB when it was looked up last.
    route: u32,
}

/// Number of places of a new ring.
const FEW: usize = 8;

impl Ring {
    fn new(prefix: PrefixId) -> Self {
        Self { prefix, places: vec![NONE; FEW].into(), inside: 0, outside: 0, outside_end: 0, route: 0 }
    }

    #[inline]
    fn place(&self, segment: Segment) -> usize {
        segment.0 as usize & (self.places.len() - 1)
    }

    fn is_empty(&self) -> bool {
        self.inside + self.outside == 0
    }

    /// Doubles the number of places; different places remain different.
    fn grow(&mut self, slab: &Slab) {
        let larger = vec![NONE; self.places.len() * 2].into();
        let old = std::mem::replace(&mut self.places, larger);
        for id in old.into_iter().filter(|id| *id != NONE) {
            self.places[self.place(slab.get(id).name.segment)] = id;
        }
    }
}

/// What a search found.
pub(super) enum Found<'a> {
    /// The first entry of the name.
    Entry(u32),
    /// No entry, and a place in a ring that is now the name's.
    Place(&'a mut u32),
    /// No entry, and no place in a ring.
    Nothing,
}

impl Index {
    pub(super) fn new(hash: NameHash) -> Self {
        Self {
            hash,
            by_prefix: PrefixMap::new(hash),
            rings: Vec::new(),
            unused: Vec::new(),
            crowded: 64,
            others: HashTable::new(),
            other_route: 0,
        }
    }

    /// The first entry of `name` if it is in a ring.
    #[inline(always)]
    pub(super) fn find_in_ring<'a>(&self, name: Name, slab: &'a Slab) -> Option<(u32, &'a PitEntry)> {
        let ring = &self.rings[self.by_prefix.find(name.prefix)? as usize];
        let id = ring.places[ring.place(name.segment)];
        if id == NONE {
            return None;
        }
        // The place of a name without a segment may hold another entry, but never its own.
        let entry = slab.get(id);
        (entry.name == name).then_some((id, entry))
    }

    /// As [`find_in_ring`](Self::find_in_ring); the entry leaves its place if `may_leave`, or else is not found.
    #[inline(always)]
    pub(super) fn take_from_ring(
        &mut self,
        name: Name,
        slab: &Slab,
        may_leave: impl FnOnce(&PitEntry) -> bool,
    ) -> Option<u32> {
        let ring = &mut self.rings[self.by_prefix.find(name.prefix)? as usize];
        let place = ring.place(name.segment);
        let place = &mut ring.places[place];
        let id = *place;
        if id == NONE {
            return None;
        }
        let entry = slab.get(id);
        if entry.name != name || !may_leave(entry) {
            return None;
        }
        *place = NONE;
        ring.inside -= 1;
        Some(id)
    }

    pub(super) fn find(&self, name: Name, slab: &Slab) -> Option<u32> {
        match self.find_in_ring(name, slab) {
            Some((id, _)) => Some(id),
            None => find_in(&self.others, self.hash, name, slab),
        }
    }

    /// The first entry of `name`, or where one is to be put.
    pub(super) fn seek(&mut self, name: Name, slab: &Slab) -> Found<'_> {
        if name.segment == Segment::NONE {
            return other(find_in(&self.others, self.hash, name, slab));
        }
        let number = match self.by_prefix.find(name.prefix) {
            Some(number) => number,
            None => self.open(name.prefix),
        };
        let ring = &mut self.rings[number as usize];
        let at = ring.place(name.segment);
        let place = &mut ring.places[at];
        let is_inside = name.segment.0 >= ring.outside_end;
        if *place == NONE && is_inside {
            ring.inside += 1;
            return Found::Place(place);
        }
        if *place != NONE && slab.get(*place).name == name {
            return Found::Entry(*place);
        }
        other(if is_inside { None } else { find_in(&self.others, self.hash, name, slab) })
    }

    /// Puts a new entry in the place of its name, if that is in a ring and free, and no entry of the name is elsewhere.
    /// Returns the hint for the FIB.
    #[inline(always)]
    pub(super) fn occupy(&mut self, name: Name, id: u32) -> Option<&mut u32> {
        let ring = &mut self.rings[self.by_prefix.find(name.prefix)? as usize];
        let place = ring.place(name.segment);
        let place = &mut ring.places[place];
        if *place != NONE || name.segment.0 < ring.outside_end || name.segment == Segment::NONE {
            return None;
        }
        *place = id;
        ring.inside += 1;
        Some(&mut ring.route)
    }

    /// The ring of a name's prefix, if names like this one have a place in it.
    #[inline(always)]
    fn ring_mut(&mut self, name: Name) -> Option<&mut Ring> {
        let number = self.by_prefix.find(name.prefix).filter(|_| name.segment != Segment::NONE)?;
        Some(&mut self.rings[number as usize])
    }

    /// Number in the FIB that the prefix of a pending Interest had when it was looked up last.
    pub(super) fn route_mut(&mut self, name: Name) -> &mut u32 {
        match self.by_prefix.find(name.prefix).filter(|_| name.segment != Segment::NONE) {
            Some(number) => &mut self.rings[number as usize].route,
            None => &mut self.other_route,
        }
    }

    /// Inserts a new entry for which [`seek`](Self::seek) found nothing.
    #[cold]
    pub(super) fn insert(&mut self, id: u32, slab: &Slab) {
        let name = slab.get(id).name;
        if let Some(ring) = self.ring_mut(name) {
            if ring.places[ring.place(name.segment)] != NONE && ring.inside as usize * 2 >= ring.places.len()
            {
                ring.grow(slab);
            }
            let place = ring.place(name.segment);
            if ring.places[place] == NONE {
                ring.places[place] = id;
                ring.inside += 1;
                return;
            }
            ring.outside += 1;
            ring.outside_end = ring.outside_end.max(name.segment.0 + 1);
        }
        let hash = self.hash;
        self.others.insert_unique(hash.of(name), id, |id| hash.of(slab.get(*id).name));
    }

    /// Removes an entry without siblings from its place; false if it is elsewhere.
    #[inline(always)]
    pub(super) fn take(&mut self, name: Name, id: u32) -> bool {
        let Some(ring) = self.ring_mut(name) else { return false };
        let place = ring.place(name.segment);
        let is_there = ring.places[place] == id;
        if is_there {
            ring.places[place] = NONE;
            ring.inside -= 1;
        }
        is_there
    }

    /// Puts `successor` in the place of the first entry of a name, or removes the name if it is [`NONE`].
    #[cold]
    pub(super) fn replace(&mut self, first: u32, successor: u32, slab: &Slab) {
        let name = slab.get(first).name;
        if let Some(ring) = self.ring_mut(name) {
            let place = ring.place(name.segment);
            if ring.places[place] == first {
                ring.places[place] = successor;
                ring.inside -= u32::from(successor == NONE);
                return;
            }
            ring.outside -= u32::from(successor == NONE);
            if ring.outside == 0 {
                ring.outside_end = 0;
            }
        }
        if let Ok(mut found) = self.others.find_entry(self.hash.of(name), |id| *id == first) {
            if successor == NONE {
                found.remove();
            } else {
                *found.get_mut() = successor;
            }
        }
    }

    /// A ring for a prefix that has none.
    #[cold]
    fn open(&mut self, prefix: PrefixId) -> u32 {
        if self.by_prefix.len() >= self.crowded {
            self.close_empty();
        }
        let number = self.unused.pop().unwrap_or(self.rings.len() as u32);
        match self.rings.get_mut(number as usize) {
            Some(unused) => *unused = Ring::new(prefix),
            None => self.rings.push(Ring::new(prefix)),
        }
        self.by_prefix.insert(prefix, number);
        number
    }

    /// Closes rings without entries, because a peer may send Interests for any number of prefixes.
    fn close_empty(&mut self) {
        self.unused.clear();
        self.by_prefix = PrefixMap::new(self.hash);
        for (ring, number) in self.rings.iter_mut().zip(0..) {
            if ring.is_empty() {
                ring.places = Box::default();
                self.unused.push(number);
            } else {
                self.by_prefix.insert(ring.prefix, number);
            }
        }
        self.crowded = (self.by_prefix.len() * 2).max(64);
    }

    /// Number of names in the hash table.
    #[cfg(test)]
    pub(super) fn outside(&self) -> usize {
        self.others.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let places: usize = self.rings.iter().map(|ring| ring.places.len()).sum();
        // One control byte for each slot of the hash table.
        self.others.capacity() * 8 / 7 * (size_of::<u32>() + 1)
            + self.by_prefix.memory_bytes()
            + self.rings.capacity() * size_of::<Ring>()
            + (places + self.unused.capacity()) * size_of::<u32>()
    }
}

/// The first entry of `name` in the hash table.
#[cold]
fn find_in(others: &HashTable<u32>, hash: NameHash, name: Name, slab: &Slab) -> Option<u32> {
    if others.is_empty() {
        return None;
    }
    others.find(hash.of(name), |id| slab.get(*id).name == name).copied()
}

fn other<'a>(found: Option<u32>) -> Found<'a> {
    found.map_or(Found::Nothing, Found::Entry)
}
