//! The measures of BRF, on samples made by hand.

use tidegate_core::observe::records::{FlowSamples, RunRecord};
use tidegate_core::units::{Span, Time};
use tidegate_sim::plan::Plan;

use super::testing::{number, points, recorded, samples};

const PATH: &str = include_str!("../../../../scenarios/papers/brf/path.toml");
const SHARED: &str = include_str!("../../../../scenarios/papers/brf/shared.toml");

/// Two flows, the second of which starts at 2 s, with these samples, one a second.
fn two_flows(flow_samples: FlowSamples) -> (Plan, RunRecord) {
    let (mut plan, mut record) = recorded(SHARED, 1, &[]);
    plan.sampling = Some(Span::from_secs(1));
    record.flows[0].start = Time::ZERO;
    record.flows[1].start = Time::from_nanos(2_000_000_000);
    (plan, RunRecord { flow_samples, ..record })
}

fn delivered(segments: [&[u64]; 2]) -> (Plan, RunRecord) {
    two_flows(samples(1.0, segments, |samples, segments| samples.delivered_segments.push(segments)))
}

fn paced(rates: [&[f32]; 2]) -> (Plan, RunRecord) {
    two_flows(samples(1.0, rates, |samples, rate| samples.pacing_per_second.push(rate)))
}

#[test]
fn a_window_is_fair_once_both_flows_get_the_same_in_it() {
    let run = delivered([&[10, 30, 40, 50, 60, 70], &[0, 0, 1, 11, 21, 31]]);
    let windows = points(&run, "brf.jain_windows(window = 2)");
    assert_eq!(windows.iter().map(|(from, _)| *from).collect::<Vec<_>>(), [2.0, 3.0]);
    // From 2 s on one gets 20 segments and the other 11, from 3 s on both 20.
    assert!((windows[0].1 - 31.0 * 31.0 / (2.0 * 521.0)).abs() < 1e-12, "{windows:?}");
    assert!((windows[1].1 - 1.0).abs() < 1e-12, "{windows:?}");
    assert!(points(&run, "brf.jain_windows(window = 1e30)").is_empty());
}

#[test]
fn rates_agree_once_they_are_near_each_other_for_a_second() {
    let run = paced([&[100.0, 100.0, 50.0, 50.0, 50.0, 50.0], &[0.0, 0.0, 10.0, 50.0, 52.0, 50.0]]);
    // The second flow starts at 2 s, its first round trip ends at 2.02 s; rates are equal at 4 s and one second later.
    assert!((number(&run, "brf.agreed_ms(S2)") - 1980.0).abs() < 1e-9);
    // The first flow is alone until 2 s.
    assert!((number(&run, "brf.agreed_ms(S1)") - 980.0).abs() < 1e-9);
    let brief =
        paced([&[100.0, 100.0, 50.0, 50.0, 50.0, 50.0, 50.0], &[0.0, 0.0, 50.0, 10.0, 50.0, 50.0, 50.0]]);
    // Equal at 3 s for less than a second, and from 5 s on.
    assert!((number(&brief, "brf.agreed_ms(S2)") - 2980.0).abs() < 1e-9);
    let (plan, mut record) = brief;
    record.flows[1].start = Time::from_nanos(10_000_000);
    // The second flow starts within the first round trip of the first.
    assert_eq!(number(&(plan, record), "brf.agreed_ms(S1)"), 0.0);
}

#[test]
fn queueing_is_the_round_trip_above_propagation_and_transmission() {
    let queueing = |set: &[(&str, &str)]| {
        let (mut plan, mut record) = recorded(PATH, 1, set);
        plan.sampling = Some(Span::from_secs(1));
        record.flow_samples = FlowSamples::default();
        record.flow_samples.flow.push(0);
        record.flow_samples.smoothed_rtt.push(Span::from_millis(30));
        points(&(plan, record), "brf.queueing_ms")
    };
    // Links of 1 Gbit/s, 1 Gbit/s and 100 Mbit/s, a segment of 12.112 kbit and an ACK of 0.528 kbit, 0.592 with a grant:
    // one of each over every link, and once more a segment over the slowest.
    let cubic = queueing(&[("tcp.0.scheme", "tcp-cubic")]);
    assert!((30.0 - cubic[0].1 - (20.0 + 12.640 * 0.012 + 0.12112)).abs() < 1e-9, "{cubic:?}");
    assert_eq!((cubic.len(), cubic[0].0), (1, 1.0));
}
