//! MIRCC, whole: where its rates come to rest, and what each part is for.
//!
//! A gate's rate follows r' = r − w Σ s_i r_i: w is the weight of the averages, s_i the part of the load that flow i is,
//! r_i the rate that this load was sent at, one round trip between consumer and gate ago. With one delay of D intervals
//! the roots of z^(D+1) − z^D + w lie within the unit circle if w < 2 sin(π / (4 D + 2)): for w = 0.5 up to D = 2. So the
//! interval has to be about half of that round trip, or the weight small; the round trip behind the gate does not matter.

use tidegate_core::observe::records::RunRecord;

use crate::papers::runs::{goodput, runs};

/// Data per second that fill 100 Mbit/s: 1024 B of content take 1061 B.
const FULL: f64 = 100e6 / (8.0 * 1061.0);

const LAST: [f64; 2] = [3.0, 6.0];

/// Routers with MIRCC's part; links of 1 Gbit/s.
fn head(settings: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"mircc\"\nduration = \"6s\"\nsample = \"100ms\"\n[topology]\n\
         link = {{ rate = \"1Gbps\", delay = \"0ms\", queue = {{ limit = \"1000pkt\" }} }}\n\
         [router]\nrouter_parts = [{{ name = \"mircc\"{settings} }}]\n"
    )
}

fn nodes(names: &[&str]) -> String {
    names.iter().map(|name| format!("[[node]]\nname = \"{name}\"\n")).collect()
}

fn link(ends: [&str; 2], more: &str) -> String {
    format!("[[link]]\nends = {ends:?}\n{more}\n")
}

/// Consumers that ask at the rate of their link, ten times the bottleneck's, until they hear of another one.
const RUSH: &str = "{ name = \"mircc\", start = \"link\" }";

/// The flows begin one after the other, 137 ms apart.
fn flow(number: usize, consumer: &str, producer: &str) -> String {
    let start = 137 * number;
    format!(
        "[[flow]]\nconsumer = \"{consumer}\"\nproducer = \"{producer}\"\nprefix = \"/f{number}\"\nscheme = {RUSH}\n\
         start = \"{start}ms\"\n"
    )
}

/// One flow for each pair of delays, ms, to the 100 Mbit/s between r1 and r2 and from there to the producer.
fn shared(settings: &str, delays: &[[u32; 2]]) -> String {
    let mut text = head(settings) + &nodes(&["r1", "r2"]) + &link(["r1", "r2"], "rate = \"100Mbps\"");
    for (number, [near, far]) in delays.iter().enumerate() {
        let [consumer, producer] = [format!("c{number}"), format!("p{number}")];
        text += &nodes(&[&consumer, &producer]);
        text += &link([&consumer, "r1"], &format!("delay = \"{near}ms\""));
        text += &link(["r2", &producer], &format!("delay = \"{far}ms\""));
        text += &flow(number, &consumer, &producer);
    }
    text
}

/// What each flow gets of 100 Mbit/s at last.
fn shares(record: &RunRecord) -> Vec<f64> {
    (0..record.flows.len()).map(|flow| goodput(record, flow as u32, LAST) / FULL).collect()
}

fn once(text: &str) -> RunRecord {
    runs(text, 1..=1).remove(0)
}

/// Shares are these within 2 %, with both readings of equation 3.
#[track_caller]
fn expect_shares(scenario: impl Fn(&str) -> String, expected: &[f64]) {
    for beta in ["excess-load", "constant"] {
        let found = shares(&once(&scenario(&format!(", beta = \"{beta}\""))));
        let is_near = found.iter().zip(expected).all(|(found, share)| (found / share - 1.0).abs() < 0.02);
        assert!(is_near, "{beta}: {found:?}, expected {expected:?}");
    }
}

/// Interests per second that `flow` was allowed at the samples between two instants, seconds.
fn paces(record: &RunRecord, flow: u32, [from, to]: [f64; 2]) -> impl Iterator<Item = f64> + '_ {
    let samples = &record.flow_samples;
    let is_requested = move |row: &usize| {
        let at = samples.time[*row].as_nanos() as f64 / 1e9;
        samples.flow[*row] == flow && at >= from && at <= to
    };
    (0..samples.time.len()).filter(is_requested).map(|row| f64::from(samples.pacing_per_second[row]))
}

#[test]
fn n_flows_get_an_nth_of_the_capacity_each() {
    for count in [1, 2, 5] {
        for interval in ["10ms", "100ms"] {
            let settings =
                |beta: &str| shared(&format!(", interval = \"{interval}\"{beta}"), &vec![[5, 5]; count]);
            expect_shares(settings, &vec![1.0 / count as f64; count]);
        }
    }
}

#[test]
fn a_longer_round_trip_is_no_disadvantage() {
    // 20 and 120 ms, the difference behind the gate, before it, and before it with longer intervals.
    expect_shares(|beta| shared(&format!(", interval = \"10ms\"{beta}"), &[[5, 5], [5, 55]]), &[0.5; 2]);
    let unequal =
        |settings: &'static str| move |beta: &str| shared(&format!("{settings}{beta}"), &[[5, 5], [55, 5]]);
    expect_shares(unequal(", interval = \"60ms\""), &[0.5; 2]);
    expect_shares(unequal(", interval = \"10ms\", weight = 0.1"), &[0.5; 2]);
}

#[test]
fn an_interval_far_shorter_than_the_round_trip_to_the_consumers_never_comes_to_rest() {
    // D is 11 for both flows: w = 0.5 is above 2 sin(π / 46) = 0.137, w = 0.05 far below.
    let slowest = |weight: f64| {
        let record = once(&shared(&format!(", interval = \"10ms\", weight = {weight}"), &[[55, 5]; 2]));
        paces(&record, 0, LAST).map(|pace| pace / FULL).fold(f64::INFINITY, f64::min)
    };
    let found = [slowest(0.5), slowest(0.05)];
    assert!(found[0] < 0.25 && found[1] > 0.49, "{found:?}");
}

#[test]
fn two_bottlenecks_in_series_are_shared_max_min_fairly() {
    // /f0 crosses 100 and 50 Mbit/s, /f1 the first, /f2 the second.
    let chain = |beta: &str| {
        let names = ["c0", "c1", "c2", "r1", "r2", "r3", "p0", "p1", "p2"];
        let mut text = head(&format!(", interval = \"20ms\"{beta}")) + &nodes(&names);
        text += &link(["r1", "r2"], "rate = \"100Mbps\"\ndelay = \"5ms\"");
        text += &link(["r2", "r3"], "rate = \"50Mbps\"\ndelay = \"5ms\"");
        for ends in [["c0", "r1"], ["c1", "r1"], ["c2", "r2"], ["r3", "p0"], ["r2", "p1"], ["r3", "p2"]] {
            text += &link(ends, "delay = \"2ms\"");
        }
        text + &flow(0, "c0", "p0") + &flow(1, "c1", "p1") + &flow(2, "c2", "p2")
    };
    expect_shares(chain, &[0.25, 0.75, 0.25]);
}

/// Packets dropped anywhere, and how long Data waited at the bottleneck on average, ms.
fn damage(record: &RunRecord) -> (u64, f64) {
    let dropped = record.links.iter().map(|link| link.dropped_packets).sum();
    let link = record.links.iter().find(|link| link.from == "r2" && link.to == "r1").expect("it is there");
    (dropped, link.queue_delay.mean.as_millis_f64())
}

#[test]
fn without_gates_or_stamps_consumers_stay_at_the_rate_of_their_link() {
    let two = [[5, 5]; 2];
    let whole = once(&shared("", &two));
    let without_gates = once(&shared("", &two).replace("router_parts = [{ name = \"mircc\" }]", ""));
    let without_stamps = once(&shared(", stamping = false", &two));
    for record in [&without_gates, &without_stamps] {
        assert!(paces(record, 0, LAST).all(|pace| (pace * 8.0 * 1024.0 / 1e9 - 1.0).abs() < 1e-6));
        assert!(
            damage(record).0 > 100 * damage(&whole).0.max(1),
            "{:?} {:?}",
            damage(record),
            damage(&whole)
        );
    }
}

#[test]
fn policing_keeps_the_queue_short_that_late_stamps_would_fill() {
    // Until its first stamp comes back, the second flow asks at ten times the rate of the bottleneck.
    let run =
        |policing: &str| damage(&once(&shared(&format!(", policing = \"{policing}\""), &[[5, 5], [5, 55]])));
    let [dropping, refusing, none] = ["drop", "nack", "off"].map(run);
    assert!(dropping.1 < 0.5 * none.1 && refusing.1 < 0.5 * none.1, "{dropping:?} {refusing:?} {none:?}");
    assert!(dropping.0 > 0 && refusing != dropping, "{dropping:?} {refusing:?}");
}

#[test]
fn a_content_store_answers_without_the_rate_that_its_data_came_with() {
    // c1 asks for what c0 got through 10 Mbit/s; with a gate of its own it gets the rate of its own link.
    let fastest = |parts: &str| {
        let mut text = head("") + "cache = \"10000pkt\"\n" + &nodes(&["c0", "r1", "r2", "p0"]);
        text += &format!("[[node]]\nname = \"c1\"\nrouter_parts = {parts}\n");
        text += &(link(["c0", "r1"], "") + &link(["c1", "r1"], "") + &link(["r1", "r2"], ""));
        text += &link(["r2", "p0"], "rate = \"10Mbps\"");
        text += &(flow(0, "c0", "p0") + "size = \"1MB\"\n");
        let slow =
            flow(0, "c1", "p0").replace(RUSH, "{ name = \"mircc\", start = \"rate\", initial_rate = 100 }");
        text += &(slow.replace("\"0ms\"", "\"5s\"") + "size = \"1MB\"\n");
        let record = once(&text);
        let hits: u64 = record.nodes.iter().map(|node| node.cache_hits).sum();
        assert_eq!(hits, record.flows[1].delivered_segments, "all from the store");
        paces(&record, 1, [5.0, 6.0]).fold(0.0, f64::max)
    };
    let (bare, gated) = (fastest("[]"), fastest("[\"mircc\"]"));
    assert!((bare - 100.0).abs() < 1e-3, "{bare}");
    let by_link = 1e9 / (8.0 * 1061.0);
    assert!(gated > 0.9 * by_link, "{gated}, the link has {by_link}");
}
