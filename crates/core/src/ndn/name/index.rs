//! Prefixes by hash, in many small tables: one that grows moves a small share of all, so that no insertion takes long.

use hashbrown::HashTable;

use super::PrefixId;

/// Number of tables, a power of two.
const TABLES: usize = 256;

/// Bytes of a place in a table: a table is at most 7/8 full, with one control byte for each place.
const ENTRY: usize = (size_of::<PrefixId>() + 1) * 8 / 7;

/// Prefixes by a hash of theirs.
#[derive(Debug)]
pub(super) struct PrefixIndex {
    tables: Box<[HashTable<PrefixId>]>,
    len: usize,
}

impl PrefixIndex {
    pub(super) fn new() -> Self {
        Self { tables: std::iter::repeat_with(HashTable::new).take(TABLES).collect(), len: 0 }
    }

    /// The prefix with this hash for which `is_same` holds.
    #[inline]
    pub(super) fn find(&self, hash: u64, mut is_same: impl FnMut(PrefixId) -> bool) -> Option<PrefixId> {
        self.tables[table_of(hash)].find(hash, |id| is_same(*id)).copied()
    }

    /// Inserts a prefix that is not in it; `hash_of` gives the hashes of those that are.
    pub(super) fn insert(&mut self, hash: u64, prefix: PrefixId, hash_of: impl Fn(PrefixId) -> u64) {
        self.tables[table_of(hash)].insert_unique(hash, prefix, |id| hash_of(*id));
        self.len += 1;
    }

    /// Removes a prefix, if it is in it, by the hash that it was inserted with.
    pub(super) fn remove(&mut self, hash: u64, prefix: PrefixId) {
        if let Ok(found) = self.tables[table_of(hash)].find_entry(hash, |id| *id == prefix) {
            found.remove();
            self.len -= 1;
        }
    }

    /// Bytes of its entries, by their number.
    pub(super) fn entry_bytes(&self) -> usize {
        self.len * ENTRY
    }
}

/// Number of the table for a hash. A table takes the place of an entry from the lower bits and its tag from the upper 7, so
/// that these are others.
#[inline]
fn table_of(hash: u64) -> usize {
    (hash >> 48) as usize % TABLES
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::ndn::prefix_hasher::PrefixHasher;

    #[test]
    fn an_insertion_moves_less_than_a_hundredth_of_the_prefixes() {
        let mut index = PrefixIndex::new();
        let moved = Cell::new(0);
        let hash = |number: u32| PrefixHasher::hash(5, &number.to_be_bytes());
        for number in 0..200_000 {
            moved.set(0);
            index.insert(hash(number), PrefixId(number), |id| {
                moved.set(moved.get() + 1);
                hash(id.0)
            });
            assert!(moved.get() < 2_000, "{} of {number}", moved.get());
        }
    }

    #[test]
    fn what_is_inserted_is_found_until_it_is_removed() {
        let mut index = PrefixIndex::new();
        let hash = |number: u32| PrefixHasher::hash(5, &number.to_be_bytes());
        (0..1_000).for_each(|number| index.insert(hash(number), PrefixId(number), |id| hash(id.0)));
        for number in 0..1_000 {
            assert_eq!(index.find(hash(number), |id| id.0 == number), Some(PrefixId(number)));
            index.remove(hash(number), PrefixId(number));
            assert_eq!(index.find(hash(number), |id| id.0 == number), None);
        }
        assert_eq!(index.entry_bytes(), 0);
    }
}
