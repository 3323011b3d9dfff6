//! The one place that says what each column means; Parquet metadata, pages and documentation read it.
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
    /// One sentence: what is counted or measured, and what a missing value says.
    pub text: &'static str,
}

/// The definition of the column `name`; `None` for a name that no table has.
pub fn find(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.iter().find(|definition| definition.name == name)
}

const fn define(name: &'static str, unit: &'static str, text: &'static str) -> Definition {
    Definition { name, unit, text }
}

/// Every column of every table, in the order of a glossary: identity, runs, flows, links, samples, events.
pub const DEFINITIONS: &[Definition] = &[
    define(
        "run",
        "",
        "Position of the run in its plan, from 0; together with the seed it names the run in every table.",
    ),
    define("seed", "", "Seed of the run; the same scenario and seed give the same results on every machine."),
    define("scenario", "", "Name of the scenario."),
    define("ended_s", "s", "Simulated or live time at the end of the run."),
    define("packet_hops", "packets", "Packets taken off links by their receivers, summed over the run."),
    define("flows", "flows", "Number of flows in the run."),
    define("completed_flows", "flows", "Flows that fetched their last segment before the end of the run."),
    define(
        "total_goodput_mbps",
        "Mbit/s",
        "Payload of distinct segments of all flows, divided by one interval for all: from the first start of a flow to the last completion or stop, or to the end of the run while a flow goes on; where one Data serves several flows (consumers of one prefix, through aggregation or a cache), it counts for each of them, and the total may exceed what a link carries; missing without flows.",
    ),
    define(
        "jain_index",
        "",
        "Fairness of the flows' goodputs x: (sum x)^2 / (n sum x^2), from 1/n (one flow has all) to 1 (equal); missing without goodput.",
    ),
    define(
        "completion_mean_s",
        "s",
        "Mean completion time over the run's finite flows; missing as long as one of them is unfinished.",
    ),
    define("flow", "", "Index of the flow in its run, in the scenario's order, from 0."),
    define("name", "", "Name of the flow: the scenario's, else consumer:prefix."),
    define("consumer", "", "Node that asks for the Data."),
    define("producer", "", "Node that answers the Interests."),
    define("prefix", "", "Name prefix that the flow fetches, or that an event is about."),
    define("scheme", "", "Congestion control scheme of the consumer."),
    define("start_s", "s", "Instant at which the first Interest may leave."),
    define(
        "completed_s",
        "s",
        "Instant at which the last segment arrived; missing while unfinished or without an end.",
    ),
    define(
        "stopped_s",
        "s",
        "Instant at which a flow with a `stop` was over: its stop, or the last Data after it; missing for a flow without one.",
    ),
    define("completion_s", "s", "Time from the flow's start to its last segment; missing while unfinished."),
    define("segments", "segments", "Segments of a finite flow; missing for a flow that ends by time."),
    define(
        "delivered_segments",
        "segments",
        "Distinct segments received since the start of the flow; duplicates do not count.",
    ),
    define(
        "delivered_bytes",
        "B",
        "Payload of the distinct segments received; headers and duplicates do not count.",
    ),
    define(
        "goodput_mbps",
        "Mbit/s",
        "Payload of distinct segments divided by the time in which they came: of a flow from its start to its completion, its stop or the end of the run, of a sample since the flow's sample before (segments of the flow's mean size); missing when no time passed, and in samples before the flow's start or after its completion.",
    ),
    define("interests", "packets", "Interests sent, retransmissions included."),
    define("retransmissions", "packets", "Interests sent again for a segment asked before."),
    define(
        "retransmission_ratio",
        "",
        "Retransmissions divided by Interests sent; missing when none was sent.",
    ),
    define("timeouts", "", "Retransmission timeouts of the consumer."),
    define("duplicates", "packets", "Data that arrived for a segment already received."),
    define("nacks", "packets", "Nacks received by the consumer."),
    define("marks", "packets", "Data received with a congestion mark."),
    define("loss_notices", "packets", "Loss notices received by the consumer."),
    define("abandoned", "segments", "Segments given up after the retry limit."),
    define(
        "full_delay_mean_ms",
        "ms",
        "Mean time from a segment's first Interest to its Data (ndnSIM's FullDelay); missing without delivered segments.",
    ),
    define("full_delay_min_ms", "ms", "Smallest full delay of a segment."),
    define("full_delay_p50_ms", "ms", "Median full delay per segment, within 0.1 %."),
    define("full_delay_p95_ms", "ms", "95th percentile of the full delay per segment, within 0.1 %."),
    define("full_delay_p99_ms", "ms", "99th percentile of the full delay per segment, within 0.1 %."),
    define("full_delay_max_ms", "ms", "Largest full delay of a segment."),
    define(
        "last_delay_mean_ms",
        "ms",
        "Mean time from a segment's last Interest to its Data (ndnSIM's LastDelay); missing without delivered segments.",
    ),
    define("last_delay_min_ms", "ms", "Smallest last delay of a segment."),
    define("last_delay_p50_ms", "ms", "Median last delay per segment, within 0.1 %."),
    define("last_delay_p95_ms", "ms", "95th percentile of the last delay per segment, within 0.1 %."),
    define("last_delay_p99_ms", "ms", "99th percentile of the last delay per segment, within 0.1 %."),
    define("last_delay_max_ms", "ms", "Largest last delay of a segment."),
    define(
        "final_window_packets",
        "packets",
        "Congestion window at the end of the flow; missing for a scheme without a window.",
    ),
    define("link", "", "Index of the link direction in its run, from 0: each link forward, then backward."),
    define("from", "", "Node that transmits on this link direction."),
    define("to", "", "Node that receives from this link direction."),
    define("rate_mbps", "Mbit/s", "Rate of the link direction at the end of the run."),
    define("delay_ms", "ms", "Propagation delay of the link direction."),
    define("mean_rate_mbps", "Mbit/s", "Mean rate of the link direction over the run."),
    define(
        "throughput_mbps",
        "Mbit/s",
        "Bits put on the wire within the run, headers included, divided by the length of the run; missing for a run without length.",
    ),
    define(
        "utilisation",
        "",
        "Bits put on the wire within the run divided by the mean rate times the length of the run, 0..=1; missing for a rate or length of zero. On a shared medium all directions together compete for the airtime of media.",
    ),
    define(
        "offered_packets",
        "packets",
        "Packets handed to the queue, or to the gates before it and not refused by them.",
    ),
    define("sent_packets", "packets", "Packets put on the wire."),
    define(
        "sent_bytes",
        "B",
        "Bytes put on the wire since the start of the run, headers included; of a packet that is being sent, those that have left, and of a medium those of frames delivered or given up.",
    ),
    define("delivered_packets", "packets", "Packets taken off the wire by the receiver."),
    define(
        "dropped_packets",
        "packets",
        "Packets dropped by the queue or the gates before it since the start of the run: full, by a rule, or expired in a side store.",
    ),
    define("lost_packets", "packets", "Packets lost on the wire or by a link that went down."),
    define(
        "sent_frames",
        "frames",
        "Frames put on the wire: one per packet unless packets are larger than the link's mtu.",
    ),
    define("lost_frames", "frames", "Frames lost on the wire or by a link that went down."),
    define(
        "resent_frames",
        "frames",
        "Frames among sent_frames that the link service (belrp, wldr) sent again.",
    ),
    define("marked_packets", "packets", "Packets that got a congestion mark at this queue."),
    define(
        "stored_packets",
        "packets",
        "Packets put into a side store, of the queue (such as PLR's retransmission storage) or of gates.",
    ),
    define("released_packets", "packets", "Packets moved from a side store to the queue."),
    define("notices", "packets", "Loss notices made at this queue."),
    define("peak_queue_packets", "packets", "Most packets that waited at once."),
    define("cache_hits", "packets", "Interests answered by the node's content store."),
    define(
        "cache_misses",
        "packets",
        "Interests that the node's content store was asked for and did not have.",
    ),
    define("cached_packets", "packets", "Data in the node's content store at the end of the run."),
    define(
        "service_drops",
        "packets",
        "Packets off links, and Interests for producers, that found too many others waiting for the node's server, or waited there when the node stopped.",
    ),
    define("pit_peak_entries", "packets", "Most Interests that were pending at the node at once."),
    define(
        "timer_wakeups",
        "",
        "Instants at which a timer of the node went off: of a consumer, a gate, a queue or the forwarder; what happens at the same instant is one.",
    ),
    define("medium", "", "Name of the shared medium, as in the scenario."),
    define(
        "airtime",
        "",
        "Part of the run during which a transmission or its acknowledgement occupied the medium, 0..=1; missing for a run without length.",
    ),
    define(
        "busy_s",
        "s",
        "Time within the run during which a transmission or its acknowledgement occupied the medium.",
    ),
    define(
        "transmissions",
        "",
        "Transmissions on the medium, each of one frame or of an aggregate; those that collided among them.",
    ),
    define("collisions", "", "Instants at which more than one radio of the medium began to send."),
    define("retries", "", "Transmissions of frames that had been sent before."),
    define("delivered_frames", "frames", "Frames that their receivers acknowledged."),
    define("given_up_frames", "frames", "Frames that were given up after their last attempt."),
    define(
        "queue_delay_mean_ms",
        "ms",
        "Mean waiting time in the queue per packet sent, without its own sending time; missing without packets.",
    ),
    define("queue_delay_min_ms", "ms", "Smallest waiting time of a packet."),
    define("queue_delay_p50_ms", "ms", "Median waiting time per packet, within 0.1 %."),
    define("queue_delay_p95_ms", "ms", "95th percentile of the waiting time per packet, within 0.1 %."),
    define("queue_delay_p99_ms", "ms", "99th percentile of the waiting time per packet, within 0.1 %."),
    define("queue_delay_max_ms", "ms", "Largest waiting time of a packet."),
    define("time_s", "s", "Instant of the sample or event, since the start of the run."),
    define(
        "window_packets",
        "packets",
        "Congestion window; missing for a scheme without a window, and in samples before the flow's start and after its end.",
    ),
    define("in_flight_packets", "packets", "Interests outstanding at the consumer."),
    define(
        "smoothed_rtt_ms",
        "ms",
        "Smoothed round-trip time of the consumer; missing before the first that it measured and after the flow's end.",
    ),
    define(
        "pacing_per_second",
        "Interests/s",
        "Interests per second that pacing lets through; missing for a flow that is not paced, before its start and after its end.",
    ),
    define("queue_packets", "packets", "Packets waiting in the queue."),
    define("queue_bytes", "B", "Bytes waiting in the queue."),
    define("side_store_packets", "packets", "Packets that are in side stores, of the queue or of gates."),
    define(
        "node",
        "",
        "Name of the node that the row is about or where the event happened, `controller` for the network controller, or # and its number when the name is not known.",
    ),
    define("event", "", "What happened, in one word."),
    define(
        "cause",
        "",
        "Rule of the scheme or queue that made it happen; missing for an event that needs none.",
    ),
    define(
        "segment",
        "",
        "Segment number that the event is about, of TCP the sequence number of the segment's first byte; missing for a name without one and for an ACK.",
    ),
    define("face", "", "Face of the node whose queue the event is about."),
    define("operations", "", "Operations that a part of a control plane counted, as its paper counts them."),
    define(
        "estimate",
        "",
        "What a part of a scheme had estimated, in the part's own unit; `cause` says what.",
    ),
    define("truth", "", "What the estimate was of, once it was known."),
    define(
        "is_retransmission",
        "",
        "Whether the Interest asks for a segment asked before, or the TCP segment left before.",
    ),
    define("mark", "", "Congestion mark of the Data, 0 for none."),
    define("full_delay_ms", "ms", "Time from the segment's first Interest to this Data."),
    define("last_delay_ms", "ms", "Time from the segment's last Interest to this Data."),
    define("sojourn_ms", "ms", "Time that the packet waited in the queue before it was marked."),
];

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
