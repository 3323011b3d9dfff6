//! Memory of the tables that peers fill, counted in bytes and bounded: names, tokens, pending Interests, dead nonces, routes, fragments.

use tidegate_core::context::Env;
use tidegate_core::ndn::dead_nonce::DeadNonceList;
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::units::{Packets, Span, Time};

use super::{Daemon, surroundings};

/// Estimate for one pending Interest, bytes: its entry, its places in lists, and entries for its prefix in the FIB and the PIT.
const PENDING: u64 = 400;

/// Estimate for one PIT token of a peer, bytes.
const TOKEN: u64 = 48;

/// Bytes of one next hop in the FIB.
const HOP: u64 = size_of::<NextHop>() as u64;

/// Interval after a reduction that freed too little, so that memory which cannot be freed costs no time in every turn.
const INTERVAL: Span = Span::from_millis(100);

/// Minimum number of Interests and of Data that a reduction leaves.
const FEW: usize = 64;

/// Number of names that a turn examines while memory exceeds its bound: names take up memory more slowly than this frees it.
const SWEEP_STEP: usize = 1 << 16;

/// What was done to free memory since it was last below seven eighths of the bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reduction {
    #[default]
    None,
    /// Unused names were removed.
    Names,
    /// Interests and Data were removed, too.
    Tables,
}

/// State of the bound on memory.
#[derive(Debug, Default)]
pub(super) struct MemoryBound {
    done: Reduction,
    /// Bytes of the tables when the last reduction began.
    before: u64,
    /// Whether the limit of the PIT is lower than configured.
    is_lowered: bool,
    next: Time,
    /// Bytes that fragments and unacknowledged frames of all faces took at the last count.
    pub link_bytes: u64,
}

impl Daemon {
    /// Bytes that names, tokens, pending Interests, dead nonces, routes and the links of faces take, by the number of entries.
    pub(super) fn table_bytes(&self) -> u64 {
        let forwarder = self.node.forwarder();
        let (pending, nonces) = (forwarder.pit().len() as u64, forwarder.dead_nonces().len() as u64);
        let tables =
            PENDING * pending + DeadNonceList::BYTES_PER_NONCE * nonces + TOKEN * self.tokens.len() as u64;
        self.names.size().get() + tables + self.route_bytes() + self.memory_bound.link_bytes
    }

    /// Bytes of routes, and of the next hops that follow from them.
    pub(super) fn route_bytes(&self) -> u64 {
        self.rib.bytes() + HOP * self.node.forwarder().fib().given_hops() as u64
    }

    /// Frees memory when the tables exceed seven eighths of `max_memory`: unused names first, then the oldest Interests of the
    /// faces with the most, and cached Data, whose names are in the tables too. Names are removed over several turns, but at
    /// once beyond `max_memory`. The PIT grows no further until a quarter is free.
    pub(super) fn bound_memory(&mut self) {
        let (used, max) = (self.table_bytes(), self.config.max_memory.get());
        if used <= max / 8 * 7 {
            self.memory_bound.done = Reduction::None;
            if self.memory_bound.is_lowered && used < max / 4 * 3 {
                self.memory_bound.is_lowered = false;
                self.node.forwarder_mut().set_pit_limit(self.config.pit_limit.get() as usize);
            }
            return;
        }
        if !self.names.is_sweeping() {
            if self.now < self.memory_bound.next {
                return;
            }
            self.begin_reduction(used, max);
        }
        self.continue_sweep(if used > max { usize::MAX } else { SWEEP_STEP });
    }

    fn begin_reduction(&mut self, used: u64, max: u64) {
        match self.memory_bound.done {
            Reduction::None => self.memory_bound.done = Reduction::Names,
            Reduction::Names => self.shorten_tables(),
            Reduction::Tables => {
                if used + max / 32 > self.memory_bound.before {
                    self.memory_bound.next = self.now + INTERVAL;
                }
                self.shorten_tables();
            }
        }
        self.memory_bound.before = used;
        self.begin_sweep();
    }

    /// Ends an eighth of the pending Interests, and removes an eighth of the cached Data.
    fn shorten_tables(&mut self) {
        tracing::warn!(
            bytes = self.table_bytes(),
            max_memory = self.config.max_memory.get(),
            "tables reach max_memory: old pending Interests and cached Data are removed"
        );
        let left = |len: usize| (len / 8 * 7).max(FEW);
        let pending = left(self.node.forwarder().pit().len());
        self.node.shorten_pit(surroundings!(self), &mut self.packets, pending);
        let forwarder = self.node.forwarder_mut();
        forwarder.set_pit_limit(pending.min(self.config.pit_limit.get() as usize));
        (self.memory_bound.is_lowered, self.memory_bound.done) = (true, Reduction::Tables);
        let cached = left(forwarder.cs().len());
        let store = forwarder.cs_mut();
        let capacity = store.capacity();
        store.set_capacity(Packets::new(capacity.get().min(cached as u32)));
        store.set_capacity(capacity);
    }
}
