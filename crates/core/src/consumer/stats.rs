//! What a consumer counted, and the flow record made of it.

use super::Consumer;
use crate::histogram::DelayHistogram;
use crate::records::FlowRecord;
use crate::units::ByteCount;

/// What one flow did since its start.
#[derive(Clone, Debug, Default)]
pub struct ConsumerStats {
    /// Distinct segments received.
    pub delivered: u64,
    /// Payload of the distinct segments received.
    pub delivered_payload: ByteCount,
    /// Interests sent, retransmissions included.
    pub interests: u64,
    /// Interests sent again for a segment asked before.
    pub retransmissions: u64,
    /// Interests that timed out or whose lifetime ended.
    pub timeouts: u64,
    /// Data that came for a segment already received or given up.
    pub duplicates: u64,
    /// Nacks received.
    pub nacks: u64,
    /// Data received with a congestion mark, duplicates included.
    pub marks: u64,
    /// Loss notices received.
    pub loss_notices: u64,
    /// Segments given up.
    pub abandoned: u64,
    /// From the first Interest of each delivered segment to its Data.
    pub full_delay: DelayHistogram,
    /// From the last Interest of each delivered segment to its Data.
    pub last_delay: DelayHistogram,
}

impl Consumer {
    /// What was counted since the start.
    pub fn stats(&self) -> &ConsumerStats {
        &self.stats
    }

    /// Writes everything but names and the scheme into `record`.
    pub fn fill_record(&self, record: &mut FlowRecord) {
        let stats = &self.stats;
        record.start = self.start;
        record.completed = self.completed;
        record.segments = self.is_bounded().then_some(u64::from(self.end));
        record.delivered_segments = stats.delivered;
        record.delivered_payload = stats.delivered_payload;
        record.interests = stats.interests;
        record.retransmissions = stats.retransmissions;
        record.timeouts = stats.timeouts;
        record.duplicates = stats.duplicates;
        record.nacks = stats.nacks;
        record.marks = stats.marks;
        record.loss_notices = stats.loss_notices;
        record.abandoned = stats.abandoned;
        record.full_delay = stats.full_delay.summary();
        record.last_delay = stats.last_delay.summary();
        record.final_window_packets = self.window;
    }
}
