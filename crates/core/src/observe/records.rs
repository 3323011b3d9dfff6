//! Records of a finished run: one per flow, per link direction and per node, and sampled columns.
//!
//! Simulated and live runs fill the same records; `report` turns them into tables and pages.

use crate::units::{BitRate, ByteCount, Span, Time};

/// One flow of one run, from its first Interest to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowRecord {
    /// Name of the flow: the scenario's, else `consumer:prefix`.
    pub name: String,
    /// Name of the consumer's node.
    pub consumer: String,
    /// Name of the producer's node.
    pub producer: String,
    /// Name prefix that the flow fetches.
    pub prefix: String,
    /// Scheme of the consumer, as in the registry.
    pub scheme: String,
    /// Time at which the first Interest may leave.
    pub start: Time,
    /// Arrival of the last segment of a finite flow; `None` while unfinished or unbounded.
    pub completed: Option<Time>,
    /// End of a flow with a stop time: its stop, or the last Data after it; `None` without a stop.
    pub stopped: Option<Time>,
    /// Segments of a finite flow; `None` for a timed one.
    pub segments: Option<u64>,
    /// Number of distinct segments received.
    pub delivered_segments: u64,
    /// Payload of the distinct segments received.
    pub delivered_payload: ByteCount,
    /// Interests sent, retransmissions included.
    pub interests: u64,
    /// Number of retransmitted Interests.
    pub retransmissions: u64,
    /// Number of retransmission timeouts that expired.
    pub timeouts: u64,
    /// Data that came for a segment already received.
    pub duplicates: u64,
    /// Number of Nacks that the consumer received.
    pub nacks: u64,
    /// Data received with a congestion mark.
    pub marks: u64,
    /// Number of loss notices that the consumer received.
    pub loss_notices: u64,
    /// Segments given up after the retry limit.
    pub abandoned: u64,
    /// Delays from the first Interest of a segment to its Data (ndnSIM's FullDelay), over delivered segments.
    pub full_delay: DelaySummary,
    /// Delays from the last Interest of a segment to its Data (ndnSIM's LastDelay), over delivered segments.
    pub last_delay: DelaySummary,
    /// Congestion window at the end, packets.
    pub final_window_packets: f64,
}

impl FlowRecord {
    /// End of the flow: its last segment or its stop, at the latest `ended`, the end of the run.
    pub fn over(&self, ended: Time) -> Time {
        self.completed.or(self.stopped).map_or(ended, |over| over.min(ended))
    }

    /// Time from the start to the last segment; `None` while unfinished.
    pub fn completion_time(&self) -> Option<Span> {
        self.completed.map(|end| end.since(self.start))
    }
}

/// One direction of one link of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkRecord {
    /// Name of the transmitting node.
    pub from: String,
    /// Name of the receiving node.
    pub to: String,
    /// Rate at the end of the run.
    pub rate: BitRate,
    /// Mean rate over the run.
    pub mean_rate: BitRate,
    /// Propagation delay of this direction.
    pub delay: Span,
    /// Packets that the gates did not refuse and that were passed to the queue.
    pub offered_packets: u64,
    /// Packets put on the wire.
    pub sent_packets: u64,
    /// Bytes put on the wire; of the packet that is being sent at the end, those that have left.
    pub sent_bytes: ByteCount,
    /// Packets taken off the wire by the receiver.
    pub delivered_packets: u64,
    /// Packets dropped by the queue or the gates before it: full, by a rule, or expired in a side store.
    pub dropped_packets: u64,
    /// Packets lost on the wire or by a link that went down.
    pub lost_packets: u64,
    /// Frames put on the wire: one per packet unless packets are larger than the link's frames.
    pub sent_frames: u64,
    /// Frames lost as packets are.
    pub lost_frames: u64,
    /// Frames among those sent that the link service sent again.
    pub resent_frames: u64,
    /// Packets that got a congestion mark here.
    pub marked_packets: u64,
    /// Packets put into a side store, of the queue (PLR's retransmission storage) or of gates.
    pub stored_packets: u64,
    /// Packets moved from a side store to the queue.
    pub released_packets: u64,
    /// Loss notices made here.
    pub notices: u64,
    /// Maximum number of packets that waited at once.
    pub peak_queue_packets: u64,
    /// Sojourn time in the queue per packet sent, without its own transmission.
    pub queue_delay: DelaySummary,
}

/// One shared medium of one run: a channel for which all its radios contend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediumRecord {
    /// Its name in the scenario.
    pub name: String,
    /// Time within the run during which a transmission or its acknowledgement occupied it.
    pub busy: Span,
    /// Transmissions, each of one frame or of an aggregate; those that collided among them.
    pub transmissions: u64,
    /// Instants at which more than one radio began to send.
    pub collisions: u64,
    /// Number of retransmissions, each of one frame or of an aggregate.
    pub retries: u64,
    /// Frames that were acknowledged.
    pub delivered_frames: u64,
    /// Frames that were given up after their last attempt.
    pub given_up_frames: u64,
}

/// One node of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRecord {
    /// Name of the node, as in the scenario.
    pub name: String,
    /// Interests answered by its content store.
    pub cache_hits: u64,
    /// Interests that were looked up in its content store without a match.
    pub cache_misses: u64,
    /// Data in its content store at the end.
    pub cached_packets: u64,
    /// Packets from links and Interests for its producers that were dropped because too many others waited
    /// for their server, or that waited there when the node stopped.
    pub service_drops: u64,
    /// Maximum number of Interests that were pending at once.
    pub pit_peak_entries: u64,
    /// Instants at which one of its timers expired.
    pub wakeups: u64,
}

/// Mean, extremes and percentiles of a set of delays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DelaySummary {
    /// Number of delays that were counted.
    pub count: u64,
    /// Mean; zero without delays.
    pub mean: Span,
    /// Minimum of the counted delays.
    pub min: Span,
    /// Median, within 0.1 %.
    pub p50: Span,
    /// 95th percentile, within 0.1 %.
    pub p95: Span,
    /// 99th percentile, within 0.1 %.
    pub p99: Span,
    /// Maximum of the counted delays.
    pub max: Span,
}

/// State of every flow at each sampling instant; the values `i` of all columns form one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSamples {
    /// Sampling instants, one per row.
    pub time: Vec<Time>,
    /// Index of the flow in the run's flow records.
    pub flow: Vec<u32>,
    /// Congestion window, packets; infinite for a flow without one, before the flow starts and after it has ended.
    pub window_packets: Vec<f32>,
    /// Number of Interests outstanding, one value per row.
    pub in_flight_packets: Vec<u32>,
    /// Distinct segments received since the start.
    pub delivered_segments: Vec<u64>,
    /// Smoothed round-trip time; zero before the first sample and after the flow has ended.
    pub smoothed_rtt: Vec<Span>,
    /// Interests per second that pacing lets through; infinite for a flow that is not paced, before the flow starts and
    /// after it has ended.
    pub pacing_per_second: Vec<f32>,
    /// Data received with a congestion mark since the start.
    pub marks: Vec<u32>,
    /// Interests sent again since the start.
    pub retransmissions: Vec<u32>,
}

impl FlowSamples {
    /// Removes every second row of each column.
    pub fn halve(&mut self) {
        every_second(&mut self.time);
        every_second(&mut self.flow);
        every_second(&mut self.window_packets);
        every_second(&mut self.in_flight_packets);
        every_second(&mut self.delivered_segments);
        every_second(&mut self.smoothed_rtt);
        every_second(&mut self.pacing_per_second);
        every_second(&mut self.marks);
        every_second(&mut self.retransmissions);
    }
}

fn every_second<T>(column: &mut Vec<T>) {
    let mut index = 0;
    column.retain(|_| {
        index += 1;
        index % 2 == 1
    });
}

/// State of every link direction at each sampling instant; the values `i` of all columns form one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSamples {
    /// Sampling instants, one per row.
    pub time: Vec<Time>,
    /// Index of the link direction in the run's link records.
    pub link: Vec<u32>,
    /// Number of packets waiting, one value per row.
    pub queue_packets: Vec<u32>,
    /// Number of bytes waiting, one value per row.
    pub queue_bytes: Vec<u32>,
    /// Bytes put on the wire since the start; of the packet that is being sent, those that have left.
    pub sent_bytes: Vec<u64>,
    /// Packets dropped by the queue since the start.
    pub dropped_packets: Vec<u32>,
    /// Packets in side stores.
    pub stored_packets: Vec<u32>,
    /// Packets that got a congestion mark since the start.
    pub marked_packets: Vec<u32>,
    /// Packets lost on the wire since the start.
    pub lost_packets: Vec<u32>,
}

/// All results of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRecord {
    /// Name of the scenario that was run.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated (or live) time at the end.
    pub ended: Time,
    /// Packets taken off links.
    pub packet_hops: u64,
    /// Flows in the scenario's order.
    pub flows: Vec<FlowRecord>,
    /// Link directions in the scenario's order: each link forward, then backward.
    pub links: Vec<LinkRecord>,
    /// Nodes in the scenario's order; empty for a live run.
    pub nodes: Vec<NodeRecord>,
    /// Shared media in the scenario's order; empty without any.
    pub media: Vec<MediumRecord>,
    /// Sampled flows; empty when sampling is off.
    pub flow_samples: FlowSamples,
    /// Sampled link directions; empty when sampling is off.
    pub link_samples: LinkSamples,
    /// Recorded events, in order; empty unless requested.
    pub events: Vec<EventRecord>,
}

/// One recorded event with its time and node.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRecord {
    /// Time of the event.
    pub time: Time,
    /// Node where it happened.
    pub node: u32,
    /// The event and its fields.
    pub event: crate::observe::event::Event,
}

impl EventRecord {
    /// Stands for the network controller in place of a node's number.
    pub const CONTROLLER: u32 = u32::MAX;
}

/// A whole distribution of delays: the upper bound of every bin and the number of delays in it, in order;
/// bins are at most 0.1 % wide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayBins(pub Vec<(Span, u64)>);

/// A run with the results that records do not include.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// The run, without its events.
    pub record: RunRecord,
    /// Delays from the first Interest of each delivered segment to its Data, by flow.
    pub full_delay: Vec<DelayBins>,
    /// Delays from the last Interest of each delivered segment to its Data, by flow.
    pub last_delay: Vec<DelayBins>,
    /// Sojourn time of every packet sent, by link direction.
    pub queue_delay: Vec<DelayBins>,
    /// The link direction in which each device of each node sends; higher faces are applications.
    pub devices: Vec<Vec<u32>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_keeps_every_second_row_of_every_column() {
        let mut column: Vec<u32> = (0..7).collect();
        every_second(&mut column);
        assert_eq!(column, [0, 2, 4, 6]);
    }
}
