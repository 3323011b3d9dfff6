//! Memory of the entries of one PIT.

use super::NONE;
use super::entry::{InRecord, PitEntry, Selector};
use super::wheel::Links;
use crate::ndn::name::Name;

/// Entries by number; the place that was given up last is given out first.
#[derive(Debug)]
pub(super) struct Slab {
    entries: Vec<PitEntry>,
    /// Unused places are a list through `next`.
    free: u32,
}

/// Number of entries from which the slab grows by a quarter, so that little memory is unused.
const MANY: usize = 1024;

impl Slab {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), free: NONE }
    }

    #[inline(always)]
    pub(super) fn get(&self, id: u32) -> &PitEntry {
        &self.entries[id as usize]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, id: u32) -> &mut PitEntry {
        &mut self.entries[id as usize]
    }

    pub(super) fn insert(&mut self, name: Name, selector: Selector) -> u32 {
        let id = self.unused().unwrap_or_else(|| self.make());
        self.reuse(id).reset(name, selector);
        id
    }

    /// Number of the unused place that is given out next.
    #[inline(always)]
    pub(super) fn unused(&self) -> Option<u32> {
        (self.free != NONE).then_some(self.free)
    }

    /// The unused place that is given out next.
    #[inline(always)]
    pub(super) fn reuse(&mut self, id: u32) -> &mut PitEntry {
        let entry = &mut self.entries[id as usize];
        self.free = entry.next;
        entry
    }

    /// Makes an unused place.
    #[cold]
    fn make(&mut self) -> u32 {
        let len = self.entries.len();
        if len == self.entries.capacity() && len >= MANY {
            self.entries.reserve_exact(len / 4);
        }
        self.entries.push(PitEntry::unused());
        self.free = len as u32;
        self.free
    }

    /// As [`remove`](Self::remove); returns the first downstream, too, which has no meaning if there was none.
    #[inline(always)]
    pub(super) fn take(&mut self, id: u32) -> (InRecord, Links) {
        let entry = &mut self.entries[id as usize];
        let record = entry.first_in_record();
        let links = entry.take_links();
        entry.clear();
        entry.next = std::mem::replace(&mut self.free, id);
        (record, links)
    }

    /// Gives up the place of an entry; returns the links it had.
    #[inline(always)]
    pub(super) fn remove(&mut self, id: u32) -> Links {
        self.take(id).1
    }

    /// Places made since the start.
    pub(super) fn made(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn live(&self) -> impl Iterator<Item = u32> + '_ {
        // What is pending is linked to the wheel.
        self.entries.iter().zip(0..).filter(|(entry, _)| entry.previous != NONE).map(|(_, id)| id)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let rare = self.entries.iter().map(PitEntry::rare_bytes);
        self.entries.capacity() * size_of::<PitEntry>() + rare.sum::<usize>()
    }
}
