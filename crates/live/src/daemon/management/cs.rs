//! Module `cs`: the content store.

use tidegate_core::ndn::name::PrefixId;
use tidegate_core::units::Packets;

use super::super::Daemon;
use super::super::workers::Order;
use super::request::RequestRefusal;
use crate::nfd::{ControlParameters, CsInfo};

/// Flag of a content store that stores Data.
const ADMIT: u64 = 1;
/// Flag of a content store that answers Interests.
const SERVE: u64 = 2;

/// Maximum number of Data that one command erases, as in NFD.
const MAX_ERASED: usize = 256;

/// Change of a content store.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct StoreChange {
    /// Capacity of all threads together, if it changes.
    capacity: Option<Packets>,
    flags: u64,
    /// Those of `flags` that count.
    mask: u64,
}

/// What was erased from a content store.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Erased {
    /// Number of Data that were erased.
    pub count: usize,
    /// Whether the limit left some there.
    pub has_more: bool,
}

impl Daemon {
    /// Content of the dataset `cs/info`.
    pub(super) fn cs_info(&self) -> CsInfo {
        let others = self.reports().iter().map(|report| &report.store);
        others.fold(self.own_cs_info(), |sum, other| CsInfo {
            capacity: sum.capacity + other.capacity,
            flags: sum.flags,
            entries: sum.entries + other.entries,
            hits: sum.hits + other.hits,
            misses: sum.misses + other.misses,
        })
    }

    /// The same of the store of this thread.
    pub(in super::super) fn own_cs_info(&self) -> CsInfo {
        let (store, counters) = (self.node.forwarder().cs(), self.node.forwarder().counters());
        CsInfo {
            capacity: u64::from(store.capacity().get()),
            flags: self.cs_flags(),
            entries: store.len() as u64,
            hits: counters.cache_hits,
            misses: counters.cache_misses,
        }
    }

    fn cs_flags(&self) -> u64 {
        let store = self.node.forwarder().cs();
        u64::from(store.admits()) * ADMIT + u64::from(store.serves()) * SERVE
    }

    /// Changes capacity and flags as far as they are given.
    pub(super) fn configure_cs(
        &mut self,
        requested: &ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let capacity = requested.capacity.map(|capacity| {
            let whole = u32::try_from(capacity).map(Packets::new);
            whole.map_err(|_| RequestRefusal::new(400, format!("Capacity {capacity} is above 4294967295")))
        });
        let (flags, mask) = (requested.flags.unwrap_or(0), requested.mask.unwrap_or(0));
        let change = StoreChange { capacity: capacity.transpose()?, flags, mask };
        self.change_store(change);
        if let Some(workers) = &mut self.workers {
            workers.order_all(|_| Order::ConfigureStore(change));
        }
        let capacity = requested.capacity.unwrap_or_else(|| self.cs_info().capacity);
        Ok(ControlParameters { capacity: Some(capacity), flags: Some(self.cs_flags()), ..Default::default() })
    }

    /// Changes the content store, which has its part of the capacity if there are several threads.
    pub(in super::super) fn change_store(&mut self, change: StoreChange) {
        let capacity = change.capacity.map(|whole| match &self.workers {
            Some(workers) => workers.part_of_packets(whole),
            None => whole,
        });
        let store = self.node.forwarder_mut().cs_mut();
        if let Some(capacity) = capacity {
            store.set_capacity(capacity);
        }
        if change.mask & ADMIT != 0 {
            store.set_admits(change.flags & ADMIT != 0);
        }
        if change.mask & SERVE != 0 {
            store.set_serves(change.flags & SERVE != 0);
        }
    }

    /// Erases Data under a prefix; the response has a capacity if the limit left some there.
    pub(super) fn erase_cs(
        &mut self,
        requested: ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let limit = match requested.count {
            Some(0) => return Err(RequestRefusal::new(400, "Count is 0; expected at least 1")),
            Some(count) => usize::try_from(count).unwrap_or(MAX_ERASED).min(MAX_ERASED),
            None => MAX_ERASED,
        };
        let is_limited = requested.count.is_none_or(|count| count > MAX_ERASED as u64);
        let prefix = self.prefix_of(&requested)?;
        let own = self.erase_own(prefix, limit);
        let others = self.erase_elsewhere(&self.components(prefix), limit - own.count);
        let (count, has_more) = (own.count + others.count, own.has_more || others.has_more);
        Ok(ControlParameters {
            name: requested.name,
            count: Some(count as u64),
            capacity: (is_limited && count == limit && has_more).then_some(MAX_ERASED as u64),
            ..Default::default()
        })
    }

    /// Erases at most `limit` Data from the store of this thread.
    pub(in super::super) fn erase_own(&mut self, prefix: PrefixId, limit: usize) -> Erased {
        let (store, names) = (self.node.forwarder_mut().cs_mut(), &self.names);
        let count = store.erase(prefix, limit, names);
        Erased { count, has_more: count == limit && store.has_under(prefix, names) }
    }
}
