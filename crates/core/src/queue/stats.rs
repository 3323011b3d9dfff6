//! Counters of one queue.

use crate::observe::histogram::DelayHistogram;

/// Counters of a queue since the start.
#[derive(Clone, Debug, Default)]
pub struct QueueStats {
    /// Packets handed to it.
    pub offered: u64,
    /// Packets dropped: full, by a discipline, or expired in the side store.
    pub dropped: u64,
    /// Packets that got a mark.
    pub marked: u64,
    /// Packets put into the side store.
    pub stored: u64,
    /// Packets moved back from the side store.
    pub released: u64,
    /// Loss notices made here.
    pub notices: u64,
    /// Most packets that waited at once.
    pub peak: u32,
    /// Waiting time of every packet sent.
    pub delays: DelayHistogram,
}
