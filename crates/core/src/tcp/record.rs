//! Record of a connection: the columns of a consumer's flow, with the receiver as the consumer.

use super::{Receiver, Sender};
use crate::observe::records::{FlowRecord, FlowSamples};
use crate::units::Time;

/// Appends the current state as a row for the flow `flow`. Counters are always present; window, pacing rate
/// and round-trip time only while the connection is under way.
pub fn sample_into(
    now: Time,
    flow: u32,
    (sender, receiver): (&Sender, &Receiver),
    samples: &mut FlowSamples,
) {
    let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let (view, stats) = (sender.view(), sender.stats());
    let is_under_way = sender.is_under_way(now) && receiver.completed_at().is_none();
    let of_flow = |value: f64| if is_under_way { value as f32 } else { f32::INFINITY };
    let rtt = view.smoothed_rtt.filter(|_| is_under_way);
    samples.time.push(now);
    samples.flow.push(flow);
    samples.window_packets.push(of_flow(sender.window()));
    samples.pacing_per_second.push(of_flow(sender.paced_per_second()));
    samples.in_flight_packets.push(view.in_flight);
    samples.delivered_segments.push(receiver.arrived().get() / u64::from(sender.mss()));
    samples.smoothed_rtt.push(rtt.unwrap_or_default());
    samples.marks.push(count(stats.marks));
    samples.retransmissions.push(count(stats.retransmissions));
}

/// Writes everything but names and the scheme into `record`. The column of Interests counts the segments
/// sent; a delay ends with the ACK that reports the segment, one sample per ACK.
pub fn fill_record((sender, receiver): (&Sender, &Receiver), record: &mut FlowRecord) {
    let (stats, mss) = (sender.stats(), u64::from(sender.mss()));
    record.start = sender.start();
    record.completed = receiver.completed_at();
    // Data in flight at the stop may still arrive, and its bytes count.
    record.stopped = sender.stop().map(|stop| stop.max(receiver.arrived_at()));
    record.segments = sender.length().map(|length| length.get().div_ceil(mss));
    // Rounded up, because the last segment of a file may be short.
    record.delivered_segments = receiver.arrived().get().div_ceil(mss);
    record.delivered_payload = receiver.arrived();
    record.interests = stats.segments;
    record.retransmissions = stats.retransmissions;
    record.timeouts = stats.timeouts;
    record.duplicates = receiver.duplicates();
    record.marks = stats.marks;
    record.full_delay = sender.full_delay().summary();
    record.last_delay = sender.last_delay().summary();
    record.final_window_packets = sender.window();
}
