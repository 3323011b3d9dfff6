//! Least recently used: the Data that was neither requested nor inserted for the longest time is evicted first.

use super::order::List;

#[derive(Debug, Default)]
pub(super) struct Lru(List);

impl Lru {
    #[inline]
    pub(super) fn enter(&mut self, slot: u32) {
        self.0.push(slot);
    }

    #[inline]
    pub(super) fn touch(&mut self, slot: u32) {
        self.0.refresh(slot);
    }

    #[inline]
    pub(super) fn renew(&mut self, slot: u32) {
        self.0.refresh(slot);
    }

    #[inline]
    pub(super) fn leave(&mut self) -> u32 {
        self.0.pop()
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.0.remove(slot);
    }
}
