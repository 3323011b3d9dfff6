//! Module `cs`: the content store.

use tidegate_core::units::Packets;

use super::super::Daemon;
use super::request::RequestRefusal;
use crate::nfd::{ControlParameters, CsInfo};

/// Flag of a content store that stores Data.
const ADMIT: u64 = 1;
/// Flag of a content store that answers Interests.
const SERVE: u64 = 2;

/// Maximum number of Data that one command erases, as in NFD.
const MAX_ERASED: usize = 256;

impl Daemon {
    /// Content of the dataset `cs/info`.
    pub(super) fn cs_info(&self) -> CsInfo {
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
        let store = self.node.forwarder_mut().cs_mut();
        if let Some(capacity) = requested.capacity {
            let capacity = u32::try_from(capacity)
                .map_err(|_| RequestRefusal::new(400, format!("Capacity {capacity} is above 4294967295")))?;
            store.set_capacity(Packets::new(capacity));
        }
        let (flags, mask) = (requested.flags.unwrap_or(0), requested.mask.unwrap_or(0));
        if mask & ADMIT != 0 {
            store.set_admits(flags & ADMIT != 0);
        }
        if mask & SERVE != 0 {
            store.set_serves(flags & SERVE != 0);
        }
        let capacity = Some(u64::from(store.capacity().get()));
        Ok(ControlParameters { capacity, flags: Some(self.cs_flags()), ..Default::default() })
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
        let (store, names) = (self.node.forwarder_mut().cs_mut(), &self.names);
        let erased = store.erase(prefix, limit, names);
        let has_more = is_limited && erased == limit && store.has_under(prefix, names);
        Ok(ControlParameters {
            name: requested.name,
            count: Some(erased as u64),
            capacity: has_more.then_some(MAX_ERASED as u64),
            ..Default::default()
        })
    }
}
