//! Numbers by prefix, in a small table with open addressing.

use crate::ndn::name::PrefixId;

/// A number for each prefix that has one.
#[derive(Debug, Default)]
pub(super) struct PrefixMap {
    /// Prefix number + 1 and its value; 0 is free. Length is a power of two, at most half full.
    slots: Vec<(u32, u32)>,
    len: usize,
}

impl PrefixMap {
    #[inline]
    pub(super) fn find(&self, prefix: PrefixId) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = spread(prefix) & mask;
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
        let mut slot = spread(PrefixId(key - 1)) & mask;
        while self.slots[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = (key, value);
    }
}

fn spread(prefix: PrefixId) -> usize {
    (prefix.0.wrapping_mul(0x9E37_79B9) >> 7) as usize
}
