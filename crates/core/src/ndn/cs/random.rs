//! Random replacement: every place is as likely to be given up as any other.

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
        self.draws.below(self.places)
    }
}
