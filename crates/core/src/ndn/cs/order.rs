//! The order in which a store evicts its entries.

use super::Policy;
use super::fifo::Fifo;
use super::lfu::Lfu;
use super::lru::Lru;
use super::random::Random;
use crate::rng::Streams;

/// Stands for no place in links between places.
pub(super) const NONE: u32 = u32::MAX;

/// One policy. Places are numbered from 0 without gaps.
#[derive(Debug)]
pub(super) enum Order {
    Lru(Lru),
    Fifo(Fifo),
    Lfu(Lfu),
    Random(Random),
}

/// Calls the same method of whichever policy there is; a match costs less here than a call through a pointer.
macro_rules! each {
    ($order:expr, $policy:ident => $call:expr) => {
        match $order {
            Order::Lru($policy) => $call,
            Order::Fifo($policy) => $call,
            Order::Lfu($policy) => $call,
            Order::Random($policy) => $call,
        }
    };
}

impl Order {
    pub(super) fn new(policy: Policy, streams: Streams) -> Self {
        match policy {
            Policy::Lru => Self::Lru(Lru::default()),
            Policy::Fifo => Self::Fifo(Fifo::default()),
            Policy::Lfu => Self::Lfu(Lfu::default()),
            Policy::Random => Self::Random(Random::new(streams.stream("policy"))),
        }
    }

    /// Records that new Data is in `slot`: the lowest unused number, or one that was just freed.
    #[inline]
    pub(super) fn enter(&mut self, slot: u32) {
        each!(self, policy => policy.enter(slot));
    }

    /// The Data in `slot` answered an Interest.
    #[inline]
    pub(super) fn touch(&mut self, slot: u32) {
        each!(self, policy => policy.touch(slot));
    }

    /// The Data in `slot` arrived once more.
    #[inline]
    pub(super) fn renew(&mut self, slot: u32) {
        each!(self, policy => policy.renew(slot));
    }

    /// The place that is evicted; the store is not empty.
    #[inline]
    pub(super) fn leave(&mut self) -> u32 {
        each!(self, policy => policy.leave())
    }
}

impl Order {
    /// Takes `slot` out; the place of the highest number gets its number.
    pub(super) fn remove(&mut self, slot: u32) {
        each!(self, policy => policy.remove(slot));
    }
}

#[derive(Clone, Copy, Debug)]
struct Link {
    newer: u32,
    older: u32,
}

/// A list over places; every step takes a fixed time.
#[derive(Debug)]
pub(super) struct List {
    links: Vec<Link>,
    newest: u32,
    oldest: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { links: Vec::new(), newest: NONE, oldest: NONE }
    }
}

impl List {
    /// Puts a place that is not listed at the new end.
    #[inline]
    pub(super) fn push(&mut self, slot: u32) {
        if slot as usize == self.links.len() {
            self.links.push(Link { newer: NONE, older: NONE });
        }
        let old = std::mem::replace(&mut self.newest, slot);
        self.links[slot as usize] = Link { newer: NONE, older: old };
        match old {
            NONE => self.oldest = slot,
            old => self.links[old as usize].newer = slot,
        }
    }

    /// Puts a listed place at the new end.
    #[inline]
    pub(super) fn refresh(&mut self, slot: u32) {
        if self.newest == slot {
            return;
        }
        let Link { newer, older } = self.links[slot as usize];
        // A newer neighbour exists, because this is not the newest.
        self.links[newer as usize].older = older;
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
        self.push(slot);
    }

    /// Takes the oldest place out; there is one.
    #[inline]
    pub(super) fn pop(&mut self) -> u32 {
        let slot = self.oldest;
        let Link { newer, .. } = self.links[slot as usize];
        self.oldest = newer;
        match newer {
            NONE => self.newest = NONE,
            newer => self.links[newer as usize].older = NONE,
        }
        slot
    }

    /// Takes a listed place out; the place of the highest number, which is listed, gets its number.
    pub(super) fn remove(&mut self, slot: u32) {
        let Link { newer, older } = self.links[slot as usize];
        self.join(older, newer);
        let last = self.links.len() as u32 - 1;
        if last != slot {
            let Link { newer, older } = self.links[last as usize];
            self.join(older, slot);
            self.join(slot, newer);
        }
        self.links.pop();
    }

    /// Makes two places neighbours, of which one may be missing.
    fn join(&mut self, older: u32, newer: u32) {
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize].older = older,
        }
    }
}
