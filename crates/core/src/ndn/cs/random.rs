//! Random replacement: every place is equally likely to be evicted.

use crate::rng::Rng;

#[derive(Debug)]
pub(super) struct Random {
    draws: Rng,
    places: u32,
}

impl Random {
    pub(super) fn new(draws: Rng) -> Self {
        Self { draws, places: 0 }
    }

    pub(super) fn enter(&mut self, slot: u32) {
        self.places = self.places.max(slot + 1);
    }

    pub(super) fn touch(&mut self, _: u32) {}

    pub(super) fn renew(&mut self, _: u32) {}

    pub(super) fn leave(&mut self) -> u32 {
        // Places are numbered without gaps, and a policy is consulted only when all are in use.
        self.draws.below(self.places)
    }

    pub(super) fn remove(&mut self, _: u32) {
        self.places -= 1;
    }
}
