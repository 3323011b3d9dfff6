//! Module `cs`: the content store.

use super::super::Daemon;
use crate::nfd::CsInfo;

/// Flag of a content store that stores Data.
const ADMIT: u64 = 1;
/// Flag of a content store that answers Interests.
const SERVE: u64 = 2;

impl Daemon {
    /// Content of the dataset `cs/info`.
    pub(super) fn cs_info(&self) -> CsInfo {
        let (forwarder, counters) = (self.node.forwarder(), self.node.forwarder().counters());
        CsInfo {
            capacity: u64::from(self.config.cache.get()),
            flags: ADMIT | SERVE,
            entries: forwarder.cs().len() as u64,
            hits: counters.cache_hits,
            misses: counters.cache_misses,
        }
    }
}
