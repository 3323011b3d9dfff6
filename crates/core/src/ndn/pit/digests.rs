//! Names whose Data may answer a pending Interest by its digest, so that no other Data has to be hashed.

use std::collections::BTreeMap;

use crate::ndn::name::PrefixId;

/// Pending Interests whose name ends in the digest of the Data.
#[derive(Debug, Default)]
pub(super) struct DigestEntries {
    /// Name of the Data, by the number of the entry.
    of_entries: BTreeMap<u32, PrefixId>,
    /// Number of entries by the name of the Data.
    by_name: BTreeMap<PrefixId, u32>,
}

impl DigestEntries {
    /// Adds the entry with this number.
    pub fn insert(&mut self, entry: u32, data: PrefixId) {
        if self.of_entries.insert(entry, data).is_none() {
            *self.by_name.entry(data).or_default() += 1;
        }
    }

    /// Removes the entry with this number.
    #[cold]
    pub fn remove(&mut self, entry: u32) {
        let Some(data) = self.of_entries.remove(&entry) else { return };
        if let Some(count) = self.by_name.get_mut(&data) {
            *count -= 1;
            if *count == 0 {
                self.by_name.remove(&data);
            }
        }
    }

    /// Whether an entry has the digest of a Data of this name.
    pub fn has(&self, data: PrefixId) -> bool {
        self.by_name.contains_key(&data)
    }

    /// Number of entries with a digest.
    pub fn len(&self) -> usize {
        self.of_entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_until_the_last_of_its_entries_has_ended() {
        let (mut digests, [a, b]) = (DigestEntries::default(), [1, 2].map(PrefixId));
        [(7, a), (8, a), (9, b), (9, b)].into_iter().for_each(|(entry, data)| digests.insert(entry, data));
        digests.remove(7);
        digests.remove(9);
        digests.remove(9);
        assert_eq!((digests.has(a), digests.has(b), digests.len()), (true, false, 1));
        digests.remove(8);
        assert!(!digests.has(a) && digests.by_name.is_empty());
    }
}
