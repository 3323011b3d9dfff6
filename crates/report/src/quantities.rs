//! What the samples of a run say about its flows and link directions, as series over time.

use tidegate_core::records::{FlowSamples, LinkSamples, RunRecord};

use crate::figure::run::RateSteps;
use crate::measures;
use crate::samples::Aligned;

/// A column of the flows' samples; `value` takes its row, and `None` or an infinite value leaves a gap.
pub(crate) fn of_flows(run: &RunRecord, value: impl Fn(&FlowSamples, usize) -> Option<f64>) -> Aligned {
    let samples = &run.flow_samples;
    Aligned::of_rows(&samples.time, &samples.flow, run.flows.len(), |row| value(samples, row))
}

/// A column of the link directions' samples, as [`of_flows`].
pub(crate) fn of_links(run: &RunRecord, value: impl Fn(&LinkSamples, usize) -> Option<f64>) -> Aligned {
    let samples = &run.link_samples;
    Aligned::of_rows(&samples.time, &samples.link, run.links.len(), |row| value(samples, row))
}

/// Congestion windows of all flows, packets.
pub(crate) fn windows(run: &RunRecord) -> Aligned {
    of_flows(run, |flow, row| flow.window_packets.get(row).map(|window| f64::from(*window)))
}

/// Smoothed round-trip times of all flows, ms.
pub(crate) fn round_trips(run: &RunRecord) -> Aligned {
    of_flows(run, |flow, row| {
        flow.smoothed_rtt.get(row).map(|rtt| rtt.as_millis_f64()).filter(|rtt| *rtt > 0.0)
    })
}

/// Interests or TCP segments in flight of all flows, packets.
pub(crate) fn in_flight(run: &RunRecord) -> Aligned {
    of_flows(run, |flow, row| flow.in_flight_packets.get(row).map(|count| f64::from(*count)))
}

/// Interests that pacing lets through per second; none for a flow that is not paced.
pub(crate) fn pacing(run: &RunRecord) -> Aligned {
    of_flows(run, |flow, row| flow.pacing_per_second.get(row).map(|rate| f64::from(*rate)))
}

/// Interests that each flow sent again in bins of `bin_s`.
pub(crate) fn retransmissions(run: &RunRecord, bin_s: f64) -> Aligned {
    of_flows(run, |flow, row| flow.retransmissions.get(row).map(|count| f64::from(*count)))
        .binned(bin_s, |_, growth, _, _| growth)
}

/// Payload of distinct segments that each flow received, Mbit/s in bins of `bin_s`.
pub(crate) fn throughput(run: &RunRecord, bin_s: f64) -> Aligned {
    let megabits = |flow: usize| 8e-6 * measures::segments_bytes(&run.flows[flow], 1);
    of_flows(run, |flow, row| flow.delivered_segments.get(row).map(|count| *count as f64))
        .binned(bin_s, |flow, growth, from, to| growth * megabits(flow) / (to - from))
}

/// Jain's index of the throughputs in windows of `window_s`, over the flows that got Data in the window or had
/// Interests in flight at its end; none with fewer than two such flows.
pub(crate) fn jain(run: &RunRecord, window_s: f64) -> Aligned {
    let rates = throughput(run, window_s);
    let in_flight = in_flight(run);
    let is_waiting = |flow: usize, time_s: f64| {
        let row = in_flight.time_s.partition_point(|time| *time < time_s);
        in_flight.series[flow].get(row).copied().flatten().is_some_and(|count| count > 0.0)
    };
    let index = |(row, end_s): (usize, &f64)| {
        let active =
            rates.series.iter().enumerate().filter_map(|(flow, series)| {
                series[row].filter(|rate| *rate > 0.0 || is_waiting(flow, *end_s))
            });
        let active: Vec<f64> = active.collect();
        if active.len() < 2 { None } else { measures::jain_index(&active) }
    };
    let values = rates.time_s.iter().enumerate().map(index).collect();
    Aligned { series: vec![values], time_s: rates.time_s }
}

/// Queue lengths of all link directions, packets.
pub(crate) fn queues(run: &RunRecord) -> Aligned {
    of_links(run, |link, row| link.queue_packets.get(row).map(|count| f64::from(*count)))
}

/// What a count of packets grew by in bins of `bin_s`, for all link directions.
pub(crate) fn counted(run: &RunRecord, bin_s: f64, count: fn(&LinkSamples) -> &Vec<u32>) -> Aligned {
    of_links(run, |link, row| count(link).get(row).map(|count| f64::from(*count)))
        .binned(bin_s, |_, growth, _, _| growth)
}

/// Bits sent over those that the link's rate allowed in bins of `bin_s`, %; a direction that `rates` does not know
/// has the rate of its record.
pub(crate) fn utilisation(run: &RunRecord, rates: &[RateSteps], bin_s: f64) -> Aligned {
    let sent = of_links(run, |link, row| link.sent_bytes.get(row).map(|bytes| *bytes as f64));
    let load =
        sent.binned(bin_s, |link, bytes, from, to| 800.0 * bytes / capacity(run, rates, link, (from, to)));
    let known = |value: &Option<f64>| value.filter(|value| value.is_finite());
    let series = load.series.iter().map(|series| series.iter().map(known).collect()).collect();
    Aligned { series, ..load }
}

/// Bits that fit on a link direction between two instants, s.
pub(crate) fn capacity(run: &RunRecord, rates: &[RateSteps], link: usize, (from_s, to_s): (f64, f64)) -> f64 {
    let constant = || run.links[link].rate.as_bps() as f64 * (to_s - from_s);
    rates.get(link).map_or_else(constant, |steps| steps.bits(from_s, to_s))
}
