//! Memory of the entries of one PIT.

use super::NONE;
use super::entry::{PitEntry, Spill};

/// Entries in chunks that never move, so that growth copies nothing and wastes at most one chunk.
#[derive(Debug, Default)]
pub(super) struct Slab {
    chunks: Vec<Vec<PitEntry>>,
    free: Vec<u32>,
}

const CHUNK_BITS: u32 = 7;
const CHUNK: usize = 1 << CHUNK_BITS;

impl Slab {
    #[inline]
    pub(super) fn get(&self, id: u32) -> &PitEntry {
        &self.chunks[(id >> CHUNK_BITS) as usize][id as usize & (CHUNK - 1)]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> &mut PitEntry {
        &mut self.chunks[(id >> CHUNK_BITS) as usize][id as usize & (CHUNK - 1)]
    }

    #[inline]
    pub(super) fn insert(&mut self, entry: PitEntry) -> u32 {
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

    pub(super) fn remove(&mut self, id: u32) {
        let entry = self.get_mut(id);
        entry.spill = None;
        entry.in_count = 0;
        entry.has_out = false;
        entry.satisfied = true;
        self.free.push(id);
    }

    /// Places made since the start.
    pub(super) fn made(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    pub(super) fn live(&self) -> impl Iterator<Item = u32> + '_ {
        let entries = self.chunks.iter().flatten().zip(0..);
        entries.filter(|(entry, _)| entry.next != NONE || entry.previous != NONE).map(|(_, id)| id)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let entries: usize = self.chunks.iter().map(Vec::capacity).sum();
        let spills = self.chunks.iter().flatten().filter_map(|entry| entry.spill.as_deref());
        entries * size_of::<PitEntry>()
            + self.chunks.capacity() * size_of::<Vec<PitEntry>>()
            + self.free.capacity() * size_of::<u32>()
            + spills.map(Spill::memory_bytes).sum::<usize>()
    }
}
