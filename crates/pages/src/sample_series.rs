//! Time series of flows and link directions from the samples of a run.

use tidegate_core::observe::records::{FlowSamples, LinkSamples, RunRecord};

use crate::figure::run::RateSteps;
use crate::thinning::Aligned;
use tidegate_results::measures;

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

/// Interests or TCP segments in flight of all flows, packets; without values before the start and after the
/// end of a flow.
pub(crate) fn in_flight(run: &RunRecord) -> Aligned {
    let counts = of_flows(run, |flow, row| flow.in_flight_packets.get(row).map(|count| f64::from(*count)));
    while_active(run, counts, Stand::Instants)
}

/// Pacing rates of all flows, Interests/s; without values for a flow that is not paced.
pub(crate) fn pacing(run: &RunRecord) -> Aligned {
    of_flows(run, |flow, row| flow.pacing_per_second.get(row).map(|rate| f64::from(*rate)))
}

/// Retransmissions of each flow in bins of `bin_s`; without values in bins outside its active time.
pub(crate) fn retransmissions(run: &RunRecord, bin_s: f64) -> Aligned {
    let counts = of_flows(run, |flow, row| flow.retransmissions.get(row).map(|count| f64::from(*count)))
        .binned(bin_s, |_, growth, _, _| growth);
    while_active(run, counts, Stand::Bins)
}

/// Payload of distinct segments that each flow received, Mbit/s in bins of `bin_s`; none in bins that its active time
/// does not overlap.
pub(crate) fn throughput(run: &RunRecord, bin_s: f64) -> Aligned {
    let megabits = |flow: usize| 8e-6 * measures::segments_bytes(&run.flows[flow], 1);
    let rates = of_flows(run, |flow, row| flow.delivered_segments.get(row).map(|count| *count as f64))
        .binned(bin_s, |flow, growth, from, to| growth * megabits(flow) / (to - from));
    while_active(run, rates, Stand::Bins)
}

/// Time for which a value of a series holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// The instant of the sample.
    Instants,
    /// The time since the previous instant.
    Bins,
}

/// The values of flows from their start to their end; a bin stays if it overlaps that time.
fn while_active(run: &RunRecord, data: Aligned, stand: Stand) -> Aligned {
    let Aligned { time_s, mut series } = data;
    for (flow, values) in run.flows.iter().zip(&mut series) {
        let (start_s, end_s) = (flow.start.as_secs_f64(), flow.over(run.ended).as_secs_f64());
        let mut last_s = 0.0;
        for (time_s, value) in time_s.iter().copied().zip(values) {
            let is_active = match stand {
                Stand::Instants => start_s <= time_s && time_s <= end_s,
                Stand::Bins => start_s < time_s && last_s < end_s,
            };
            if !is_active {
                *value = None;
            }
            last_s = time_s;
        }
    }
    Aligned { time_s, series }
}

/// Jain's index of the throughputs in windows of `window_s`, over the flows that got Data in the window or had
/// Interests in flight at its end; none with fewer than two such flows.
pub(crate) fn jain(run: &RunRecord, window_s: f64) -> Aligned {
    let rates = throughput(run, window_s);
    let in_flight = in_flight(run);
    let is_waiting = |flow: usize, time_s: f64| {
        // The first sample at the end of the window or later.
        let row = in_flight.time_s.partition_point(|time| *time < time_s);
        in_flight.series[flow].get(row).copied().flatten().is_some_and(|count| count > 0.0)
    };
    let index = |(row, end_s): (usize, &f64)| {
        // A starved flow counts with a rate of 0, a flow without demand does not count.
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

/// Increase of a packet counter in bins of `bin_s`, for all link directions.
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

#[cfg(test)]
mod tests {
    use tidegate_core::observe::records::FlowRecord;
    use tidegate_core::units::Time;

    use super::*;

    /// A flow from 1.2 s to 2.2 s in a run of 4 s with a sample each 500 ms.
    fn short_flow() -> RunRecord {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let flow = FlowRecord { start: at(1200), completed: Some(at(2200)), ..FlowRecord::default() };
        let time: Vec<Time> = (0..=8).map(|row| at(500 * row)).collect();
        let flow_samples = FlowSamples {
            flow: vec![0; time.len()],
            in_flight_packets: vec![0, 0, 0, 7, 3, 0, 0, 0, 0],
            delivered_segments: vec![0, 0, 0, 5, 9, 10, 10, 10, 10],
            retransmissions: vec![0, 0, 0, 0, 1, 1, 1, 1, 1],
            time,
            ..FlowSamples::default()
        };
        RunRecord { ended: at(4000), flows: vec![flow], flow_samples, ..RunRecord::default() }
    }

    #[test]
    fn lines_of_a_flow_begin_when_it_begins_and_end_when_it_ends() {
        let run = short_flow();
        let known = |data: Aligned| -> Vec<f64> {
            let points = data.time_s.iter().zip(&data.series[0]);
            points.filter_map(|(time_s, value)| value.map(|_| *time_s)).collect()
        };
        assert_eq!(known(in_flight(&run)), [1.5, 2.0]);
        // Bins of 500 ms by their ends: the first and the last contain a part of the flow.
        assert_eq!(known(throughput(&run, 0.5)), [1.5, 2.0, 2.5]);
        assert_eq!(known(retransmissions(&run, 0.5)), [1.5, 2.0, 2.5]);
    }
}
