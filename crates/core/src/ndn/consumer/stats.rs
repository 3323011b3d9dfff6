//! Counters of a consumer, and the flow record made from them.

use super::Consumer;
use crate::observe::histogram::{CountedDelays, DelayHistogram};
use crate::observe::records::{FlowRecord, FlowSamples};
use crate::units::{ByteCount, Span, Time};

/// Counters of one flow since its start.
#[derive(Clone, Debug, Default)]
pub struct ConsumerStats {
    /// Number of distinct segments received.
    pub delivered: u64,
    /// Payload of the distinct segments received.
    pub delivered_payload: ByteCount,
    /// Arrival time of the last distinct segment; the start of the run before the first.
    pub last_delivery: Time,
    /// Interests sent, retransmissions included.
    pub interests: u64,
    /// Number of retransmitted Interests.
    pub retransmissions: u64,
    /// Number of Interests that timed out or whose lifetime ended.
    pub timeouts: u64,
    /// Data that came for a segment already received or given up.
    pub duplicates: u64,
    /// Number of Nacks received.
    pub nacks: u64,
    /// Data received with a congestion mark, duplicates included.
    pub marks: u64,
    /// Number of loss notices received.
    pub loss_notices: u64,
    /// Number of segments that were given up.
    pub abandoned: u64,
    /// Delays of segments that were requested once.
    once: DelayHistogram,
    /// Delays of retransmitted segments; allocated at the first of them.
    again: Option<Box<AgainDelays>>,
}

#[derive(Clone, Debug, Default)]
struct AgainDelays {
    full: DelayHistogram,
    last: DelayHistogram,
}

impl ConsumerStats {
    /// Delays from the first Interest of each delivered segment to its Data.
    pub fn full_delay(&self) -> CountedDelays {
        self.again.as_ref().map_or_else(|| self.once.counted(), |again| self.once.merged(&again.full))
    }

    /// Delays from the last Interest of each delivered segment to its Data.
    pub fn last_delay(&self) -> CountedDelays {
        self.again.as_ref().map_or_else(|| self.once.counted(), |again| self.once.merged(&again.last))
    }

    #[inline]
    pub(super) fn add_delays(&mut self, full: Span, last: Span, was_sent_again: bool) {
        if was_sent_again {
            let again = self.again.get_or_insert_default();
            again.full.add(full);
            again.last.add(last);
        } else {
            self.once.add(full);
        }
    }
}

impl Consumer {
    /// Counters since the start.
    pub fn stats(&self) -> &ConsumerStats {
        &self.stats
    }

    /// Whether the flow has started and still has segments to request or to receive.
    fn is_under_way(&self, now: Time) -> bool {
        let has_stopped = now >= self.stop && self.view.in_flight == 0;
        self.start <= now && !self.is_complete() && !has_stopped
    }

    /// Appends the current state as a row for the flow `flow`. Counters are always present; window, pacing
    /// rate and round-trip time only while the flow is under way.
    pub fn sample_into(&self, now: Time, flow: u32, samples: &mut FlowSamples) {
        let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let is_under_way = self.is_under_way(now);
        let of_flow = |value: f64| if is_under_way { value as f32 } else { f32::INFINITY };
        let rtt = self.view.smoothed_rtt.filter(|_| is_under_way);
        samples.time.push(now);
        samples.flow.push(flow);
        samples.window_packets.push(of_flow(self.window));
        samples.pacing_per_second.push(of_flow(self.pacer.per_second(self.controller.pacing())));
        samples.in_flight_packets.push(self.view.in_flight);
        samples.delivered_segments.push(self.view.delivered);
        samples.smoothed_rtt.push(rtt.unwrap_or_default());
        samples.marks.push(count(self.stats.marks));
        samples.retransmissions.push(count(self.stats.retransmissions));
    }

    /// Appends the row of the flow `flow`, which has not started at `now`.
    pub fn sample_unstarted(now: Time, flow: u32, samples: &mut FlowSamples) {
        samples.time.push(now);
        samples.flow.push(flow);
        samples.window_packets.push(f32::INFINITY);
        samples.pacing_per_second.push(f32::INFINITY);
        samples.in_flight_packets.push(0);
        samples.delivered_segments.push(0);
        samples.smoothed_rtt.push(Span::default());
        samples.marks.push(0);
        samples.retransmissions.push(0);
    }

    /// Writes everything but names and the scheme into `record`.
    pub fn fill_record(&self, record: &mut FlowRecord) {
        let stats = &self.stats;
        record.start = self.start;
        record.completed = self.completed;
        // Data in flight at the stop may still arrive, and counts.
        record.stopped = (self.stop < Time::MAX).then(|| self.stop.max(stats.last_delivery));
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
        record.full_delay = stats.full_delay().summary();
        // Without retransmissions both delays are the same.
        record.last_delay = match stats.again {
            Some(_) => stats.last_delay().summary(),
            None => record.full_delay,
        };
        record.final_window_packets = self.window;
    }
}
