//! Goodput of flows and of all together: over which interval, and what counts.

use tidegate_core::observe::records::FlowRecord;
use tidegate_core::units::{Span, Time};
use tidegate_results::measures::{goodput_mbps, total_goodput_mbps};

use crate::record;

/// Two pairs over a bottleneck of 10 Mbit/s whose queue takes 100 ms to empty.
fn two_pairs(kind: &str, flows: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"totals\"\nduration = \"20s\"\n[topology]\nbuiltin = \"dumbbell\"\npairs = 2\n\
         access = {{ rate = \"100Mbps\", delay = \"1ms\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"5ms\", queue = {{ limit = \"100pkt\" }} }}\n{}",
        flows.replace("FLOW", kind)
    )
}

const FLOW: &str = "[[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/a\"\npayload = \"1200B\"\n\
                    scheme = { name = \"fixed\", window = 90 }";
const TCP: &str = "[[tcp]]\nsender = \"p1\"\nreceiver = \"c1\"\nscheme = \"tcp-cubic\"";

#[test]
fn a_flow_with_a_stop_is_over_with_the_last_data_after_it() {
    let stop = Time::ZERO + Span::from_secs(5);
    for kind in [FLOW, TCP] {
        let record = record(&two_pairs(kind, "FLOW\nstop = \"5s\"\n"));
        let flow: &FlowRecord = &record.flows[0];
        let stopped = flow.stopped.expect("it has a stop");
        let late = stopped.since(stop);
        // What waits in the queue at the stop still arrives.
        assert!(stop < stopped && late < Span::from_millis(250), "{late} after the stop");
        let own = goodput_mbps(flow, record.ended).expect("time passed");
        assert!((8.0..10.0).contains(&own), "{own} Mbit/s of 10");
        assert_eq!(total_goodput_mbps(&record), Some(own));
    }
}

#[test]
fn window_and_round_trip_of_a_flow_with_a_stop_are_sampled_until_its_last_data() {
    for kind in [FLOW, TCP] {
        let text = two_pairs(kind, "FLOW\nstart = \"2s\"\nstop = \"5s\"\n");
        let record = record(&text.replace("duration = \"20s\"", "duration = \"20s\"\nsample = \"100ms\""));
        let (flow, samples) = (&record.flows[0], &record.flow_samples);
        let stopped = flow.stopped.expect("it has a stop");
        let rows = samples.time.iter().zip(&samples.window_packets).zip(&samples.smoothed_rtt);
        for ((time, window), round_trip) in rows {
            let has_values = window.is_finite() && *round_trip > Span::ZERO;
            let has_any = window.is_finite() || *round_trip > Span::ZERO;
            // The first round trip takes 14 ms, the last ACK 7 ms.
            let is_inside = flow.start + Span::from_millis(100) <= *time && *time < stopped;
            let is_outside = *time < flow.start || stopped + Span::from_millis(100) < *time;
            assert!(!is_inside || has_values, "{kind}: nothing at {time}, stopped at {stopped}");
            assert!(
                !is_outside || !has_any,
                "{kind}: {window} packets, {round_trip} at {time}, stopped at {stopped}"
            );
        }
        assert!(samples.time.len() > 100, "{kind}");
    }
}

#[test]
fn data_that_serves_two_flows_counts_for_both() {
    let other = FLOW.replace("c1", "c2");
    let record = record(&two_pairs(FLOW, &format!("FLOW\n{other}\n")));
    let total = total_goodput_mbps(&record).expect("it has flows");
    assert!((17.0..20.0).contains(&total), "{total} Mbit/s over a link of 10");
    let stated = tidegate_results::definitions::find("total_goodput_mbps").expect("it is defined").text;
    assert!(stated.contains("A Data packet that serves several flows"), "{stated}");
}
