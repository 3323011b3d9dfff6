//! Counters of one queue.

use crate::observe::histogram::DelayHistogram;

/// Counters of a queue since the start.
#[derive(Clone, Debug, Default)]
pub struct QueueStats {
    /// Number of packets passed to it.
    pub offered: u64,
    /// Packets dropped: full, by a discipline, or expired in the side store.
    pub dropped: u64,
    /// Number of packets that were marked here.
    pub marked: u64,
    /// Packets put into the side store.
    pub stored: u64,
    /// Packets moved back from the side store.
    pub released: u64,
    /// Loss notices made here.
    pub notices: u64,
    /// Maximum number of packets that waited at once.
    pub peak: u32,
    /// Sojourn times of all packets sent.
    pub delays: DelayHistogram,
}
