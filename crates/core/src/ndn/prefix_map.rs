//! Numbers by prefix, in a small table with open addressing.

use crate::ndn::name::{NameHash, PrefixId};

/// A number for each prefix that has one.
#[derive(Debug)]
pub(super) struct PrefixMap {
    /// Odd; prefixes spread over the slots by their product with it.
    factor: u32,
    /// Prefix number + 1 and its value; 0 is free. Length is a power of two, at most half full.
    slots: Vec<(u32, u32)>,
    len: usize,
}

impl PrefixMap {
    /// An empty map. Peers cause the numbers of prefixes, so that the factor must be a secret on a live node.
    pub(super) fn new(hash: NameHash) -> Self {
        let factor = hash.secret().map_or(0x9E37_79B9, |secret| (secret >> 32) as u32 | 1);
        Self { factor, slots: Vec::new(), len: 0 }
    }

    #[inline]
    pub(super) fn find(&self, prefix: PrefixId) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = self.spread(prefix) & mask;
        loop {
            match self.slots[slot] {
                (key, value) if key == prefix.0 + 1 => return Some(value),
                (0, _) => return None,
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// Sets the number of a prefix that has none.
    pub(super) fn insert(&mut self, prefix: PrefixId, value: u32) {
        // At most half full, so that every search meets a free slot and probes stay short.
        if (self.len + 1) * 2 > self.slots.len() {
            let larger = vec![(0, 0); (self.slots.len() * 2).max(4)];
            let old = std::mem::replace(&mut self.slots, larger);
            old.into_iter().filter(|(key, _)| *key != 0).for_each(|(key, value)| self.place(key, value));
        }
        self.len += 1;
        self.place(prefix.0 + 1, value);
    }

    /// Number of prefixes that have a number.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u32, u32)>()
    }

    fn place(&mut self, key: u32, value: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = self.spread(PrefixId(key - 1)) & mask;
        while self.slots[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = (key, value);
    }

    #[inline(always)]
    fn spread(&self, prefix: PrefixId) -> usize {
        (prefix.0.wrapping_mul(self.factor) >> 7) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots that a search for `prefix` looks at.
    fn probes(map: &PrefixMap, prefix: PrefixId) -> usize {
        let (mask, begin) = (map.slots.len() - 1, map.spread(prefix));
        (0..).find(|step| map.slots[(begin + step) & mask].0 == prefix.0 + 1).expect("in the map")
    }

    #[test]
    fn numbers_that_share_few_slots_without_a_key_spread_with_one() {
        let slot = |id: u32| (id.wrapping_mul(0x9E37_79B9) >> 7) % 8192;
        let chosen: Vec<PrefixId> = (0..1 << 17).filter(|id| slot(*id) < 256).map(PrefixId).collect();
        assert_eq!(chosen.len(), 4096);
        let mean = |hash| {
            let mut map = PrefixMap::new(hash);
            chosen.iter().for_each(|prefix| map.insert(*prefix, 1));
            chosen.iter().map(|prefix| probes(&map, *prefix)).sum::<usize>() / chosen.len()
        };
        let (plain, keyed) = (mean(NameHash::LOCALITY), mean(NameHash::keyed(5)));
        assert!(plain > 1_000 && keyed < 20, "{plain} and {keyed}");
    }
}
