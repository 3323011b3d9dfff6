//! BRF, whole: what flows get, how soon, and what a queue, a loss, CUBIC beside them and a dead controller do to that.

use tidegate_core::observe::records::{LinkRecord, RunRecord};

use crate::papers::runs::{goodput, runs};

/// Payload of a segment in Mbit.
pub const SEGMENT_MBIT: f64 = 1448.0 * 8e-6;
/// What a link of 100 Mbit/s carries of payload, Mbit/s.
pub const FULL: f64 = 100.0 * 1448.0 / 1514.0;
/// What is given out of it.
pub const GIVEN: f64 = 0.97 * FULL;

/// Senders with these delays to R0, ms, whose flows share R0 - R1 - C; `last` is more of the link to C. The switch is R0.
pub fn scenario(brf: &str, delays_ms: &[u32], last: &str, flows: &str) -> String {
    let mut text = format!(
        "format = 1\n[scenario]\nname = \"brf\"\nduration = \"10s\"\nsample = \"10ms\"\n\
         [topology]\nlink = {{ rate = \"100Mbps\", delay = \"0ms\", queue = {{ limit = \"1000pkt\" }} }}\n\
         [[node]]\nname = \"R0\"\nrouter_parts = [{{ name = \"brf\"{brf} }}]\n[[node]]\nname = \"R1\"\nrouter = true\n\
         [[node]]\nname = \"C\"\n[[link]]\nname = \"neck\"\nends = [\"R0\", \"R1\"]\n\
         [[link]]\nends = [\"R1\", \"C\"]\n{last}\n[controller]\nscheme = {{ name = \"brf\"{brf} }}\ndelay = \"5ms\"\n"
    );
    for (number, delay) in delays_ms.iter().enumerate() {
        text += &format!(
            "[[node]]\nname = \"S{number}\"\n[[link]]\nends = [\"S{number}\", \"R0\"]\nrate = \"1Gbps\"\ndelay = \"{delay}ms\"\n"
        );
    }
    text + flows
}

pub fn flow(sender: usize, scheme: &str, start_ms: u32) -> String {
    format!(
        "[[tcp]]\nsender = \"S{sender}\"\nreceiver = \"C\"\nname = \"f{sender}\"\nscheme = \"{scheme}\"\nstart = \"{start_ms}ms\"\n"
    )
}

pub fn run(text: &str) -> RunRecord {
    runs(text, 1..=1).remove(0)
}

pub fn mbps(record: &RunRecord, flow: u32, between: [f64; 2]) -> f64 {
    goodput(record, flow, between) * SEGMENT_MBIT
}

pub fn neck(record: &RunRecord) -> &LinkRecord {
    record.links.iter().find(|link| link.from == "R0" && link.to == "R1").expect("there")
}

#[test]
fn a_lone_flow_gets_what_is_given_out_less_what_is_lost_after_the_switch() {
    for loss in [0.0, 0.01, 0.05, 0.1] {
        let last = format!("delay = \"10ms\"\nloss = {{ model = \"bernoulli\", probability = {loss} }}");
        let record = run(&scenario("", &[0], &last, &flow(0, "brf", 0)));
        let (ours, expected) = (mbps(&record, 0, [1.0, 10.0]), GIVEN * (1.0 - loss));
        assert!((ours / expected - 1.0).abs() < 0.01, "{loss}: {ours} for {expected}");
        assert_eq!(neck(&record).dropped_packets, 0, "{loss}");
        let delay = neck(&record).queue_delay.mean;
        assert!(delay.as_millis_f64() < 0.2, "{loss}: {delay}");
    }
}

#[test]
fn flows_of_different_round_trips_get_the_same() {
    let flows = flow(0, "brf", 0) + &flow(1, "brf", 500);
    let record = run(&scenario("", &[10, 50], "", &flows));
    for number in 0..2 {
        let ours = mbps(&record, number, [1.5, 10.0]);
        assert!((ours / (GIVEN / 2.0) - 1.0).abs() < 0.01, "{number}: {ours}");
    }
    assert_eq!(neck(&record).dropped_packets, 0);
    let peak = neck(&record).queue_delay.max;
    assert!(peak.as_millis_f64() < 5.0, "{peak}");
}

#[test]
fn as_the_paper_admits_flows_a_join_of_mixed_round_trips_queues() {
    let flows = flow(1, "brf", 0) + &flow(0, "brf", 500);
    let peak = |brf| neck(&run(&scenario(brf, &[10, 50], "", &flows))).queue_delay.max.as_millis_f64();
    let (ours, at_once) = (peak(""), peak(", make_before_break = false"));
    // Half the link for what the word takes to the far sender and back, at least.
    assert!(ours < 5.0 && at_once > 30.0, "{ours} {at_once}");
}

#[test]
fn a_join_is_over_after_three_round_trips_and_a_poll() {
    let flows = flow(0, "brf", 0) + &flow(1, "brf", 2000) + &flow(2, "brf", 4000);
    let record = run(&scenario("", &[10; 3], "", &flows));
    for (count, start) in [(2, 2.0), (3, 4.0)] {
        let after = start + 3.0 * 0.02 + 0.01;
        for number in 0..count {
            let ours = mbps(&record, number, [after, after + 0.5]);
            assert!((ours / (GIVEN / f64::from(count)) - 1.0).abs() < 0.03, "{number} of {count}: {ours}");
        }
    }
}

#[test]
fn cubic_and_brf_share_by_their_numbers() {
    let flows = flow(0, "brf", 0) + &flow(1, "tcp-cubic", 0);
    let record = run(&scenario("", &[10; 2], "", &flows).replace("10s", "30s"));
    let shares = [0, 1].map(|number| mbps(&record, number, [10.0, 30.0]));
    assert!((shares[0] / (GIVEN / 2.0) - 1.0).abs() < 0.02, "{shares:?}");
    // What BRF leaves of its half is lent.
    assert!(shares[1] > 0.97 * (FULL / 2.0) && shares[1] < FULL - shares[0], "{shares:?}");
}

#[test]
fn segments_of_any_size_fill_what_is_granted() {
    for (mss, payload) in [("100B", 100.0), ("8934B", 8934.0)] {
        let record = run(&scenario("", &[10], "", &(flow(0, "brf", 0) + &format!("mss = \"{mss}\"\n"))));
        let ours = record.flows[0].delivered_payload.get() as f64 * 8.0 / 10.0 / 1e6;
        // A tenth of a second for the handshake and the first round trips.
        let expected = 97.0 * payload / (payload + 66.0);
        assert!((0.98 * expected..expected).contains(&ours), "{mss}: {ours} of {expected}");
        assert_eq!(neck(&record).dropped_packets, 0);
    }
}

#[test]
fn a_controller_that_stops_stops_nobody() {
    let flows = flow(0, "brf", 0) + &flow(1, "brf", 3000) + "[[event]]\nat = \"2s\"\ncontroller = \"down\"\n";
    let record = run(&scenario("", &[10; 2], "", &flows));
    let shares = [0, 1].map(|number| mbps(&record, number, [4.0, 10.0]));
    assert!(shares.iter().all(|share| (share / (GIVEN / 2.0) - 1.0).abs() < 0.01), "{shares:?}");
}

#[test]
fn of_several_switches_the_narrowest_decides() {
    let flows = flow(0, "brf", 0) + &flow(1, "brf", 500);
    for (rate, share) in [("50Mbps", 0.5), ("200Mbps", 1.0)] {
        let last = format!("rate = {rate:?}\ndelay = \"10ms\"");
        let text = scenario("", &[0; 2], &last, &flows)
            .replace("name = \"R1\"\nrouter = true\n", "name = \"R1\"\nrouter_parts = [\"brf\"]\n");
        let record = run(&text);
        for number in 0..2 {
            let ours = mbps(&record, number, [1.5, 10.0]);
            assert!((ours / (share * GIVEN / 2.0) - 1.0).abs() < 0.01, "{rate}, {number}: {ours}");
        }
        let dropped: u64 = record.links.iter().map(|link| link.dropped_packets).sum();
        assert_eq!(dropped, 0, "{rate}");
    }
}

#[test]
fn losses_before_the_switch_and_of_the_acks_that_carry_grants_cost_no_more_than_themselves() {
    let text = scenario("", &[10], "", &flow(0, "brf", 0)).replace(
        "rate = \"1Gbps\"\n",
        "rate = \"1Gbps\"\nloss = { model = \"bernoulli\", probability = 0.1 }\n",
    );
    let record = run(&text);
    let (ours, expected) = (mbps(&record, 0, [1.0, 10.0]), GIVEN * 0.9);
    assert!((ours / expected - 1.0).abs() < 0.01, "{ours} for {expected}");
}

#[test]
fn what_an_application_does_not_use_goes_to_the_others() {
    let flows = flow(0, "brf", 0) + "rate = \"20Mbps\"\n" + &flow(1, "brf", 0);
    let record = run(&scenario("", &[10; 2], "", &flows));
    let [slow, bulk] = [0, 1].map(|number| mbps(&record, number, [2.0, 10.0]));
    assert!((slow / 20.0 - 1.0).abs() < 0.01, "{slow}");
    // The slow one keeps a tenth of headroom.
    assert!((bulk / (GIVEN - 22.0) - 1.0).abs() < 0.02, "{bulk}");
}

#[test]
fn held_back_a_short_flow_starts_a_round_trip_later() {
    // 30 segments: more than 45 do not fit the window of a SYN-ACK, which has no scale, and wait for a round trip anyway.
    let short = flow(1, "brf", 3000) + "size = \"43440B\"\n";
    let flows = flow(0, "brf", 0) + &short;
    let took = |brf| {
        let record = run(&scenario(brf, &[10; 2], "", &flows));
        record.flows[1].completion_time().expect("it is complete").as_millis_f64()
    };
    let (held, at_once) = (took(""), took(", make_before_break = false"));
    assert!((at_once + 15.0..at_once + 45.0).contains(&held), "{held} {at_once}");
}
