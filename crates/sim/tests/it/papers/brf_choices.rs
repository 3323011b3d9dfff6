//! What choices that the paper leaves open do in whole runs: limited flows first, a queue that is estimated, first grants.

use tidegate_core::observe::event::{Cause, Event};
use tidegate_core::observe::records::RunRecord;

use crate::papers::brf::{GIVEN, flow, mbps, neck, run, scenario};

/// Estimates of this kind beside the truth, in the order of time.
fn estimates(record: &RunRecord, kind: &str) -> Vec<(f64, f64)> {
    let estimate = |event: &Event| match *event {
        Event::Estimated { what: Cause(what), estimate, truth, .. } if what == kind => {
            Some((estimate, truth))
        }
        _ => None,
    };
    record.events.iter().filter_map(|row| estimate(&row.event)).collect()
}

fn recorded(text: &str) -> String {
    text.replace("sample = ", "events = [\"estimated\"]\nsample = ")
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

#[test]
fn served_first_a_limited_flow_does_not_wait_in_the_queue_that_a_join_makes() {
    // A limited flow and one of 100 ms; then one of 20 ms joins and is admitted at once.
    let flows = flow(1, "brf", 0) + "rate = \"5Mbps\"\n" + &flow(0, "brf", 1000) + &flow(2, "brf", 4000);
    let longest_ms = |brf: &str| {
        let brf = format!(", make_before_break = false{brf}");
        let record = run(&scenario(&brf, &[50, 10, 10], "", &flows));
        assert!(neck(&record).queue_delay.max.as_millis_f64() > 20.0, "there is a queue");
        let shares = [1, 2].map(|number| mbps(&record, number, [7.0, 10.0]));
        assert!((shares[0] / shares[1] - 1.0).abs() < 0.02, "{shares:?}");
        record.flows[0].last_delay.max.as_millis_f64()
    };
    let (without, with) = (longest_ms(""), longest_ms(", priorities = true"));
    // 20 ms, and 2.4 for an ACK that waits for the second segment.
    assert!(without > 40.0 && with < 26.0, "{without} {with}");
}

#[test]
fn an_estimated_queue_is_right_where_brf_is_alone() {
    let flows = flow(1, "brf", 0) + &flow(0, "brf", 2000);
    let brf = ", make_before_break = false, backlog = \"estimated\"";
    let record = run(&recorded(&scenario(brf, &[10, 50], "", &flows)));
    let estimates = estimates(&record, "backlog of BRF flows");
    let worst = estimates.iter().map(|(ours, truth)| (ours - truth).abs()).fold(0.0, f64::max);
    let max = estimates.iter().map(|(_, truth)| *truth).fold(0.0, f64::max);
    // Headers of packets of other sizes, and the one being sent.
    assert!(max > 1e4 && worst <= 2.0 * 1514.0, "{max} {worst}");
}

#[test]
fn beside_cubic_an_estimated_queue_throttles_brf_to_the_least_share() {
    let flows = flow(0, "brf", 0) + &flow(1, "tcp-cubic", 0);
    let outcome = |brf: &str| {
        let text = recorded(&scenario(brf, &[10; 2], "", &flows)).replace("10s", "20s");
        let record = run(&text);
        let error = |kind| mean(estimates(&record, kind).iter().map(|(ours, truth)| (ours - truth).abs()));
        (mbps(&record, 0, [10.0, 20.0]), error("backlog of BRF flows"), error("backlog of the port"))
    };
    let (reported, ..) = outcome("");
    let (estimated, of_brf, of_port) = outcome(", backlog = \"estimated\"");
    // CUBIC's queue of some hundred packets is charged to BRF; a quarter of its share stays.
    assert!((reported / (GIVEN / 2.0) - 1.0).abs() < 0.02, "{reported}");
    assert!((0.2..0.6).contains(&(estimated / (GIVEN / 2.0))), "{estimated}");
    assert!(of_brf > 1e5 && of_port < 2.0 * 1514.0, "{of_brf} {of_port}");
}

#[test]
fn where_ports_give_demands_first_grants_come_nearer_to_them_than_the_average_share() {
    let text = recorded(include_str!("../../../../../scenarios/papers/brf/first-grants.toml"));
    let text = text.replace("duration = \"30s\"", "duration = \"30s\"\nsample = \"10ms\"");
    let record = run(&recorded(&text));
    let error = |kind| {
        let estimates = estimates(&record, kind);
        assert!(estimates.len() >= 20, "{kind}: {}", estimates.len());
        mean(estimates.iter().map(|(ours, truth)| (ours / truth).ln().abs()))
    };
    let (ours, average) = (error("first grant"), error("average share"));
    assert!(ours < 0.5 * average, "{ours} {average}");
}
