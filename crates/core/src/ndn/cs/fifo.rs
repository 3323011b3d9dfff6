//! First in, first out: use and repeated arrival of a stored Data do not change the order of eviction.

use super::order::List;

#[derive(Debug, Default)]
pub(super) struct Fifo(List);

impl Fifo {
    pub(super) fn enter(&mut self, slot: u32) {
        self.0.push(slot);
    }

    pub(super) fn touch(&mut self, _: u32) {}

    pub(super) fn renew(&mut self, _: u32) {}

    pub(super) fn leave(&mut self) -> u32 {
        self.0.pop()
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.0.remove(slot);
    }
}
