//! Flows that wait for their start, which have no consumer until then.

use tidegate_core::units::{Span, Time};

use crate::{one_link, record};

/// A short flow, and another that starts at 9 s; the run ends with the first, at about 0.1 s, if `end` is set.
fn two_flows(end: bool, more: &str) -> String {
    let scenario = format!("duration = \"10s\"\nsample = \"50ms\"\nstop_when_complete = {end}");
    let first = format!(
        "scheme = {{ name = \"fixed\", window = 5 }}\nsegments = 40\n[[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\n\
         prefix = \"/late\"\nscheme = {{ name = \"fixed\", window = 7 }}\nstart = \"9s\"\n{more}"
    );
    one_link(&scenario, "rate = \"10Mbps\"\ndelay = \"5ms\"", &first)
}

#[test]
fn a_flow_that_never_started_is_recorded_as_it_was_set_up() {
    let record = record(&two_flows(true, ""));
    let idle = &record.flows[1];
    assert!(record.ended < Time::from_nanos(1_000_000_000), "{}", record.ended);
    assert_eq!((idle.start, idle.completed, idle.stopped), (Time::from_nanos(9_000_000_000), None, None));
    assert_eq!((idle.interests, idle.full_delay.count, idle.final_window_packets), (0, 0, 7.0));
    let rows: Vec<f32> = of_late(&record.flow_samples.flow, &record.flow_samples.window_packets);
    assert!(!rows.is_empty() && rows.iter().all(|window| window.is_infinite()), "{rows:?}");
}

#[test]
fn a_sample_at_the_start_of_a_flow_has_its_window() {
    let record = record(&two_flows(false, ""));
    let samples = &record.flow_samples;
    let at = of_late(&samples.flow, &samples.time);
    let windows = of_late(&samples.flow, &samples.window_packets);
    let start = at.iter().position(|time| *time == Time::ZERO + Span::from_secs(9)).expect("every 50 ms");
    assert_eq!((windows[start - 1], windows[start]), (f32::INFINITY, 7.0));
}

#[test]
fn a_node_that_is_off_at_the_start_of_its_flow_sends_when_it_is_on_again() {
    let more = "[[event]]\nat = \"8s\"\nnode = \"c1\"\nstate = \"down\"\n[[event]]\nat = \"9500ms\"\nnode = \"c1\"\nstate = \"up\"";
    let record = record(&two_flows(false, more));
    let samples = &record.flow_samples;
    let delivered = of_late(&samples.flow, &samples.delivered_segments);
    // Off: the flow has its window from its start on, and its first Data after 9.5 s, half a second before the end.
    let windows = of_late(&samples.flow, &samples.window_packets);
    assert_eq!(windows.iter().filter(|window| **window == 7.0).count(), 21);
    assert!(delivered[..190].iter().all(|count| *count == 0) && *delivered.last().expect("rows") > 100);
}

/// The values of the second flow.
fn of_late<T: Copy>(flows: &[u32], values: &[T]) -> Vec<T> {
    flows.iter().zip(values).filter(|(flow, _)| **flow == 1).map(|(_, value)| *value).collect()
}
