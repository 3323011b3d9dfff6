//! Numbers derived from records: goodput, utilisation, fairness.

mod catalogue;

pub use catalogue::{Better, RUN_MEASURES, RunMeasure, find};

use tidegate_core::observe::records::{FlowRecord, LinkRecord, MediumRecord, RunRecord};
use tidegate_core::units::{Span, Time};

/// Payload of distinct segments over the time from start to completion or stop, or to `ended`, Mbit/s.
///
/// `None` if no time passed, as for a flow that never started.
pub fn goodput_mbps(flow: &FlowRecord, ended: Time) -> Option<f64> {
    rate_mbps(flow.delivered_payload.get(), flow.over(ended).since(flow.start))
}

/// Bytes over a span, Mbit/s; `None` over no time.
pub fn rate_mbps(bytes: u64, span: Span) -> Option<f64> {
    (span > Span::ZERO).then(|| bytes as f64 * 8.0 / span.as_secs_f64() / 1e6)
}

/// Jain's fairness index (Σx)² / (n Σx²), 1/n..=1; `None` without a positive value.
pub fn jain_index(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Jain's index over the goodputs of all flows of a run; a flow that never started counts as zero.
pub fn run_jain_index(run: &RunRecord) -> Option<f64> {
    jain_index(&goodputs(run))
}

/// Goodput of each flow in order, Mbit/s; zero for a flow that never started.
fn goodputs(run: &RunRecord) -> Vec<f64> {
    run.flows.iter().map(|flow| goodput_mbps(flow, run.ended).unwrap_or(0.0)).collect()
}

/// Payload of distinct segments of all flows over one interval for all, Mbit/s: from the first start of a flow to the
/// last completion or stop, or to the end of the run while a flow is neither complete nor stopped.
///
/// It exceeds the traffic of the links to the consumers only if one Data serves several flows: consumers of
/// one prefix, whose Interests a router aggregates or answers from its cache. `None` without flows or if no
/// time passed.
pub fn total_goodput_mbps(run: &RunRecord) -> Option<f64> {
    let start = run.flows.iter().map(|flow| flow.start).min()?;
    let end = run.flows.iter().map(|flow| flow.over(run.ended)).max()?;
    rate_mbps(run.flows.iter().map(|flow| flow.delivered_payload.get()).sum(), end.since(start))
}

/// Mean completion time of the finite flows, s; `None` while one is unfinished or without finite flows.
pub fn completion_mean_s(run: &RunRecord) -> Option<f64> {
    let finite = run.flows.iter().filter(|flow| flow.segments.is_some());
    let times: Option<Vec<f64>> = finite.map(|flow| flow.completion_time().map(Span::as_secs_f64)).collect();
    let times = times.filter(|times| !times.is_empty())?;
    Some(times.iter().sum::<f64>() / times.len() as f64)
}

/// Bits transmitted within the run divided by the link's mean rate times the duration of the run, 0..=1;
/// `None` if either is zero.
pub fn utilisation(link: &LinkRecord, ended: Time) -> Option<f64> {
    // Whole numbers, so that no rounding of a full link exceeds 1.
    let capacity = u128::from(link.mean_rate.as_bps()) * u128::from(ended.as_nanos());
    (capacity > 0).then(|| (u128::from(link.sent_bytes.get()) * 8_000_000_000) as f64 / capacity as f64)
}

/// Fraction of the run during which a medium was busy, 0..=1; `None` for a run of zero
/// duration.
pub fn airtime(medium: &MediumRecord, ended: Time) -> Option<f64> {
    let nanos = ended.as_nanos();
    (nanos > 0).then(|| medium.busy.as_nanos() as f64 / nanos as f64)
}

/// Payload of `segments` segments of a flow, bytes: of the flow's mean size.
pub fn segments_bytes(flow: &FlowRecord, segments: u64) -> f64 {
    segments as f64 * flow.delivered_payload.get() as f64 / flow.delivered_segments.max(1) as f64
}

/// Retransmissions divided by Interests sent; `None` if none was sent.
pub fn retransmission_ratio(flow: &FlowRecord) -> Option<f64> {
    (flow.interests > 0).then(|| flow.retransmissions as f64 / flow.interests as f64)
}

/// Mean of `of` over all delivered segments of a run, ms; flows have the weight of their segments.
///
/// `of` picks the delay, such as `|flow| flow.full_delay`. `None` without delays.
pub fn delay_mean_ms(
    run: &RunRecord,
    of: fn(&FlowRecord) -> tidegate_core::observe::records::DelaySummary,
) -> Option<f64> {
    let delays = || run.flows.iter().map(of);
    let count: u64 = delays().map(|delay| delay.count).sum();
    let sum: f64 = delays().map(|delay| delay.count as f64 * delay.mean.as_millis_f64()).sum();
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::{BitRate, ByteCount};

    #[test]
    fn goodput_ends_at_completion_not_at_the_end_of_the_run() {
        let flow = FlowRecord {
            start: Time::from_nanos(1_000_000_000),
            completed: Some(Time::from_nanos(3_000_000_000)),
            delivered_payload: ByteCount::new(2_500_000),
            ..FlowRecord::default()
        };
        assert_eq!(goodput_mbps(&flow, Time::from_nanos(100_000_000_000)), Some(10.0));
        let unfinished = FlowRecord { completed: None, ..flow };
        assert_eq!(goodput_mbps(&unfinished, Time::from_nanos(5_000_000_000)), Some(5.0));
        assert_eq!(goodput_mbps(&unfinished, Time::ZERO), None);
    }

    #[test]
    fn a_total_is_over_one_interval_so_flows_one_after_the_other_do_not_add_up() {
        let second = |number: u64| Time::from_nanos(number * 1_000_000_000);
        let flow = |start: u64, completed: Option<u64>| FlowRecord {
            start: second(start),
            completed: completed.map(second),
            delivered_payload: ByteCount::new(2_500_000),
            ..FlowRecord::default()
        };
        let run = |flows| RunRecord { ended: second(21), flows, ..RunRecord::default() };
        // 10 Mbit/s for two seconds each, the second after the first.
        assert_eq!(total_goodput_mbps(&run(vec![flow(1, Some(3)), flow(3, Some(5))])), Some(10.0));
        assert_eq!(total_goodput_mbps(&run(vec![flow(1, Some(3)), flow(3, None)])), Some(2.0));
        assert_eq!(total_goodput_mbps(&run(Vec::new())), None);
        assert_eq!(total_goodput_mbps(&run(vec![flow(21, None)])), None);
        let stated = crate::definitions::find("total_goodput_mbps").expect("it is defined").text;
        assert!(
            stated.contains(
                "one common interval: from the first start of a flow to the last completion or stop"
            ),
            "{stated}"
        );
    }

    #[test]
    fn a_flow_that_has_a_stop_time_is_over_then() {
        let second = |number: u64| Time::from_nanos(number * 1_000_000_000);
        let flow = FlowRecord {
            start: second(1),
            stopped: Some(second(5)),
            delivered_payload: ByteCount::new(5_000_000),
            ..FlowRecord::default()
        };
        assert_eq!(goodput_mbps(&flow, second(21)), Some(10.0));
        assert_eq!(goodput_mbps(&flow, second(3)), Some(20.0));
        let run = |flows| RunRecord { ended: second(21), flows, ..RunRecord::default() };
        let early = FlowRecord { completed: Some(second(3)), ..flow.clone() };
        assert_eq!(total_goodput_mbps(&run(vec![flow.clone(), early])), Some(20.0));
        let endless = FlowRecord { stopped: None, ..flow.clone() };
        assert_eq!(total_goodput_mbps(&run(vec![flow, endless])), Some(4.0));
    }

    #[test]
    fn jain_is_one_for_equal_shares_and_one_nth_for_one_winner() {
        assert_eq!(jain_index(&[4.0, 4.0, 4.0]), Some(1.0));
        assert_eq!(jain_index(&[4.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index(&[]), None);
        assert_eq!(jain_index(&[0.0]), None);
    }

    #[test]
    fn utilisation_is_bits_sent_over_bits_possible() {
        let link = LinkRecord {
            rate: BitRate::from_mbps(5.0),
            mean_rate: BitRate::from_mbps(10.0),
            sent_bytes: ByteCount::new(6_250_000),
            ..LinkRecord::default()
        };
        assert_eq!(utilisation(&link, Time::from_nanos(10_000_000_000)), Some(0.5));
        assert_eq!(utilisation(&link, Time::ZERO), None);
    }
}
