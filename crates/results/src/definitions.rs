//! Definitions of all columns, used by Parquet metadata, pages and documentation.
//!
//! A name means the same in every table. Units stand last in the name wherever a number has one that is
//! not a plain count.

/// Meaning of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Column name, unit last.
    pub name: &'static str,
    /// Unit, `""` for text and plain numbers without one.
    pub unit: &'static str,
    /// One sentence: the quantity, and the meaning of a missing value.
    pub text: &'static str,
}

/// The definition of the column `name`; `None` for a name that no table has.
pub fn find(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.iter().find(|definition| definition.name == name)
}

/// Rows `name: "unit", "text";`.
macro_rules! define {
    ($($name:ident: $unit:literal, $text:literal;)*) => {
        [$(Definition { name: stringify!($name), unit: $unit, text: $text }),*]
    };
}

/// Every column of every table, in the order of a glossary: identity, runs, flows, links, samples, events.
pub const DEFINITIONS: &[Definition] = &define! {
    run: "",
        "Position of the run in its plan, from 0; together with the seed it identifies the run in every table.";
    seed: "", "Seed of the run; the same scenario and seed give the same results on every machine.";
    scenario: "", "Name of the scenario.";
    ended_s: "s", "Simulated or live time at the end of the run.";
    packet_hops: "packets", "Packets received from links, summed over all nodes and the whole run.";
    flows: "flows", "Number of flows in the run.";
    completed_flows: "flows", "Flows that fetched their last segment before the end of the run.";
    total_goodput_mbps: "Mbit/s",
        "Payload of distinct segments of all flows divided by one common interval: from the first start of a flow to the last completion or stop, or to the end of the run if a flow is unfinished. A Data packet that serves several flows (consumers of one prefix, through aggregation or a cache) counts for each of them, so that the total may exceed the rate of a link; missing without flows.";
    jain_index: "",
        "Jain's fairness index of the flows' goodputs x: (sum x)^2 / (n sum x^2), from 1/n (one flow has all) to 1 (equal); missing without goodput.";
    completion_mean_s: "s",
        "Mean completion time over the run's finite flows; missing if one of them is unfinished.";
    flow: "", "Index of the flow in its run, in the scenario's order, from 0.";
    name: "", "Name of the flow: the scenario's, else consumer:prefix.";
    consumer: "", "Node of the consumer.";
    producer: "", "Node of the producer.";
    prefix: "", "Name prefix that the flow fetches, or that an event concerns.";
    scheme: "", "Congestion control scheme of the consumer.";
    start_s: "s", "Start time of the flow: its first Interest is not sent earlier.";
    completed_s: "s", "Arrival time of the last segment; missing for an unfinished or unlimited flow.";
    stopped_s: "s",
        "End time of a flow with a `stop`: its stop, or the arrival of the last Data after it; missing for a flow without a stop.";
    completion_s: "s",
        "Time from the flow's start to the arrival of its last segment; missing if unfinished.";
    segments: "segments",
        "Number of segments of a finite flow; missing for a flow that is limited by time only.";
    delivered_segments: "segments",
        "Distinct segments received since the start of the flow; duplicates do not count.";
    delivered_bytes: "B", "Payload of the distinct segments received; headers and duplicates do not count.";
    goodput_mbps: "Mbit/s",
        "Payload of distinct segments divided by the time in which they arrived: for a flow, from its start to its completion, its stop or the end of the run; for a sample, since the flow's previous sample (segments of the flow's mean size); missing when no time passed, and in samples before the flow's start or after its completion.";
    interests: "packets", "Interests sent, including retransmissions.";
    retransmissions: "packets", "Retransmitted Interests since the start of the flow.";
    retransmission_ratio: "", "Retransmissions divided by Interests sent; missing when no Interest was sent.";
    timeouts: "", "Retransmission timeouts of the consumer.";
    duplicates: "packets", "Data packets received for a segment that had already been received.";
    nacks: "packets", "Nacks received by the consumer.";
    marks: "packets", "Data packets received with a congestion mark since the start of the flow.";
    loss_notices: "packets", "Loss notices received by the consumer.";
    abandoned: "segments", "Segments abandoned after the retry limit.";
    full_delay_mean_ms: "ms",
        "Mean time from a segment's first Interest to its Data (ndnSIM's FullDelay); missing without delivered segments.";
    full_delay_min_ms: "ms", "Minimum full delay of a segment.";
    full_delay_p50_ms: "ms", "Median full delay per segment, within 0.1 %.";
    full_delay_p95_ms: "ms", "95th percentile of the full delay per segment, within 0.1 %.";
    full_delay_p99_ms: "ms", "99th percentile of the full delay per segment, within 0.1 %.";
    full_delay_max_ms: "ms", "Maximum full delay of a segment.";
    last_delay_mean_ms: "ms",
        "Mean time from a segment's last Interest to its Data (ndnSIM's LastDelay); missing without delivered segments.";
    last_delay_min_ms: "ms", "Minimum last delay of a segment.";
    last_delay_p50_ms: "ms", "Median last delay per segment, within 0.1 %.";
    last_delay_p95_ms: "ms", "95th percentile of the last delay per segment, within 0.1 %.";
    last_delay_p99_ms: "ms", "99th percentile of the last delay per segment, within 0.1 %.";
    last_delay_max_ms: "ms", "Maximum last delay of a segment.";
    final_window_packets: "packets",
        "Congestion window at the end of the flow; missing for a scheme without a window.";
    link: "", "Index of the link direction in its run, from 0: each link forward, then backward.";
    from: "", "Node that transmits on this link direction.";
    to: "", "Node that receives from this link direction.";
    rate_mbps: "Mbit/s", "Rate of the link direction at the end of the run.";
    delay_ms: "ms", "Propagation delay of the link direction.";
    mean_rate_mbps: "Mbit/s", "Mean rate of the link direction over the run.";
    throughput_mbps: "Mbit/s",
        "Bits transmitted during the run, including headers, divided by the duration of the run; missing for a run of zero duration.";
    utilisation: "",
        "Bits transmitted during the run divided by the mean rate times the duration of the run, 0..=1; missing for a rate or duration of zero. On a shared medium all directions share the airtime of the medium.";
    offered_packets: "packets",
        "Packets offered to the queue, or to the gates in front of it and not refused by them.";
    sent_packets: "packets", "Packets transmitted on the link.";
    sent_bytes: "B",
        "Bytes transmitted since the start of the run, including headers; of a packet in transmission, the bytes transmitted so far; on a medium, the bytes of frames delivered or discarded.";
    delivered_packets: "packets", "Packets received at the other end of the link.";
    dropped_packets: "packets",
        "Packets dropped by a queue or the gates in front of it since the start of the run: queue full, dropped by a discipline, or expired in a side store.";
    lost_packets: "packets",
        "Packets lost in transmission or when a link went down, since the start of the run.";
    sent_frames: "frames",
        "Frames transmitted: one per packet, unless packets are larger than the link's MTU.";
    lost_frames: "frames", "Frames lost in transmission or when a link went down.";
    resent_frames: "frames",
        "Frames retransmitted by the link service (belrp, wldr), included in sent_frames.";
    marked_packets: "packets",
        "Packets that received a congestion mark at a queue since the start of the run.";
    stored_packets: "packets",
        "Packets put into a side store of the queue (such as PLR's retransmission storage) or of gates.";
    released_packets: "packets", "Packets moved from a side store to the queue.";
    notices: "packets", "Loss notices generated at this queue.";
    peak_queue_packets: "packets", "Maximum number of packets waiting at the same time.";
    cache_hits: "packets", "Interests satisfied from the node's content store.";
    cache_misses: "packets", "Interests that were looked up in the node's content store without a match.";
    cached_packets: "packets", "Data packets in the node's content store at the end of the run.";
    service_drops: "packets",
        "Packets from links, and Interests for producers, dropped because the queue of the node's server was full or the node stopped.";
    pit_peak_entries: "packets", "Maximum number of pending Interests at the node.";
    timer_wakeups: "",
        "Number of instants at which a timer of the node fired: of a consumer, a gate, a queue or the forwarder; timers that fire at the same instant count once.";
    medium: "", "Name of the shared medium, as in the scenario.";
    airtime: "",
        "Fraction of the run during which a transmission or its acknowledgement occupied the medium, 0..=1; missing for a run of zero duration.";
    busy_s: "s", "Time during which a transmission or its acknowledgement occupied the medium.";
    transmissions: "",
        "Transmissions on the medium, each of one frame or of an aggregate, including collisions.";
    collisions: "", "Instants at which more than one radio of the medium began to transmit.";
    retries: "", "Retransmissions of frames.";
    delivered_frames: "frames", "Frames acknowledged by their receivers.";
    given_up_frames: "frames", "Frames discarded after the last transmission attempt.";
    queue_delay_mean_ms: "ms",
        "Mean queueing delay per transmitted packet, without its own transmission time; missing without packets.";
    queue_delay_min_ms: "ms", "Minimum queueing delay of a packet.";
    queue_delay_p50_ms: "ms", "Median queueing delay per packet, within 0.1 %.";
    queue_delay_p95_ms: "ms", "95th percentile of the queueing delay per packet, within 0.1 %.";
    queue_delay_p99_ms: "ms", "99th percentile of the queueing delay per packet, within 0.1 %.";
    queue_delay_max_ms: "ms", "Maximum queueing delay of a packet.";
    time_s: "s", "Time of the sample or event, from the start of the run.";
    window_packets: "packets",
        "Congestion window; missing for a scheme without a window, and in samples before the flow's start and after its end.";
    in_flight_packets: "packets", "Interests outstanding at the consumer.";
    smoothed_rtt_ms: "ms",
        "Smoothed RTT of the consumer; missing before the first sample and after the flow's end.";
    pacing_per_second: "Interests/s",
        "Pacing rate; missing for a flow that is not paced, before its start and after its end.";
    queue_packets: "packets", "Packets waiting in the queue.";
    queue_bytes: "B", "Bytes waiting in the queue.";
    side_store_packets: "packets", "Packets in side stores of the queue or of gates.";
    node: "",
        "Name of the node of the row or event, `controller` for the network controller, or # and its number if the name is not known.";
    event: "", "Kind of event, in one word.";
    cause: "", "Rule of the scheme or queue that caused the event; missing for events without a cause.";
    segment: "",
        "Segment number of the event; for TCP, the sequence number of the segment's first byte; missing for a name without a segment number and for an ACK.";
    face: "", "Face of the node whose queue the event concerns.";
    operations: "", "Number of operations of a control-plane component, as counted in its paper.";
    estimate: "",
        "Value estimated by a component of a scheme, in the component's own unit; `cause` names the quantity.";
    truth: "", "Actual value of the estimated quantity, once known.";
    is_retransmission: "", "Whether the Interest or the TCP segment is a retransmission.";
    mark: "", "Congestion mark of the Data, 0 for none.";
    full_delay_ms: "ms", "Time from the segment's first Interest to this Data packet.";
    last_delay_ms: "ms", "Time from the segment's last Interest to this Data packet.";
    sojourn_ms: "ms", "Queueing delay of the packet before it was marked.";
};

/// Sentence about counts, which belongs to the definitions wherever they are listed.
pub const OF_COUNTS: &str = "A count of packets is that of the flow or link direction of its row; in a row for a run it is the sum over all flows, or over \
                             all link directions.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_a_sentence_and_every_name_stands_once() {
        for (index, definition) in DEFINITIONS.iter().enumerate() {
            assert!(definition.text.ends_with('.'), "{}", definition.name);
            let twin = DEFINITIONS[..index].iter().find(|other| other.name == definition.name);
            assert_eq!(twin, None);
        }
    }

    #[test]
    fn a_unit_in_a_name_is_the_unit_of_its_definition() {
        let suffixes =
            [("_ms", "ms"), ("_s", "s"), ("_mbps", "Mbit/s"), ("_bytes", "B"), ("_packets", "packets")];
        for definition in DEFINITIONS {
            for (suffix, unit) in suffixes {
                if definition.name.ends_with(suffix) {
                    assert_eq!(definition.unit, unit, "{}", definition.name);
                }
            }
        }
    }
}
