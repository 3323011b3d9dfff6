//! Every metric: the field of the status that it shows, its name, unit and help text.

/// Unit and type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A counter since the start of the forwarder or of the face.
    Total,
    /// A present number, or a time in seconds.
    Present,
    /// A duration, milliseconds in the status and seconds in the metric.
    Millis,
}

impl Unit {
    /// The value of a field of the status in the unit of the metric.
    pub fn value(self, text: &str) -> String {
        match (self, text.parse::<f64>()) {
            (Self::Millis, Ok(millis)) => (millis / 1e3).to_string(),
            _ => text.to_owned(),
        }
    }
}

/// A field of the status as a metric.
#[derive(Debug)]
pub(super) struct Metric {
    /// Kind of the line in the status.
    pub about: &'static str,
    /// Field of the line.
    pub field: &'static str,
    /// Name without `tidegate_` and without `_total`.
    pub name: &'static str,
    pub unit: Unit,
    /// One sentence for human readers.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($about:ident . $field:ident = $unit:ident $name:literal, $help:literal;)*) => {
        &[$(Metric {
            about: stringify!($about),
            field: stringify!($field),
            name: $name,
            unit: Unit::$unit,
            help: $help,
        }),*]
    };
}

pub(super) static METRICS: &[Metric] = metrics! {
    forwarder.uptime_s = Present "uptime_seconds", "Time since the start of the forwarder.";
    forwarder.pending_interests = Present "pending_interests", "Interests in the PIT.";
    forwarder.cached_bytes = Present "cached_bytes", "Size of the Data in the content store.";
    forwarder.cached_packets = Present "cached_packets", "Data in the content store.";
    forwarder.names = Present "names", "Names in the name table.";
    forwarder.table_bytes = Present "table_bytes", "Memory of names, PIT tokens and pending Interests, bounded by max_memory.";
    forwarder.cache_hits = Total "cache_hits", "Interests satisfied by the content store.";
    forwarder.loops = Total "loops", "Interests refused because their nonce was seen before.";
    forwarder.hop_limited = Total "hop_limited", "Interests whose hop limit was exhausted.";
    forwarder.suppressed = Total "suppressed", "Interests that waited for the Data of an earlier one.";
    forwarder.unsolicited = Total "unsolicited", "Data without a matching PIT entry.";
    forwarder.unrequested = Total "unrequested", "Data from a face that had not been sent the Interest.";
    forwarder.expired = Total "expired", "PIT entries that ended unsatisfied.";
    forwarder.refused_full = Total "refused_full", "Interests refused because the PIT was full.";
    forwarder.displaced = Total "displaced", "PIT entries that ended to make room for an Interest of a face with fewer.";
    forwarder.out_of_scope = Total "out_of_scope", "Packets under /localhost from other machines.";
    forwarder.faces_refused = Total "faces_refused", "Peers that got no face because there were too many.";
    forwarder.malformed = Total "malformed", "Malformed frames, packets and streams.";
    forwarder.oversized = Total "oversized", "Datagrams larger than 8800 bytes.";
    face.received_packets = Total "face_received_packets", "Packets received by the face.";
    face.received_bytes = Total "face_received_bytes", "Bytes of the packets received by the face.";
    face.sent_packets = Total "face_sent_packets", "Packets sent by the face.";
    face.sent_bytes = Total "face_sent_bytes", "Bytes of the packets sent by the face.";
    face.queue_packets = Present "face_queue_packets", "Packets in the queue of the face.";
    face.queue_bytes = Present "face_queue_bytes", "Bytes in the queue of the face.";
    face.queue_delay_mean_ms = Millis "face_queue_delay_mean_seconds", "Mean queueing delay of the sent packets.";
    face.queue_delay_p99_ms = Millis "face_queue_delay_p99_seconds", "99th percentile of the queueing delay.";
    face.dropped_packets = Total "face_dropped_packets", "Packets dropped at the face.";
    face.marked_packets = Total "face_marked_packets", "Packets that got a congestion mark at the face.";
    face.stored_packets = Total "face_stored_packets", "Packets put into the side store or held by a gate.";
    face.held_packets = Present "face_held_packets", "Packets in the side store and at the gates.";
    face.loss_notices = Total "face_loss_notices", "Loss notices made at the face.";
    face.malformed = Total "face_malformed", "Malformed frames and packets from the face.";
    face.unsent = Total "face_unsent", "Datagrams that the system refused to send.";
};
