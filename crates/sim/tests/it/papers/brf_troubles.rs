//! BRF where things go wrong, whole: ACKs that take another way, a switch that restarts, the printed equations, several
//! narrow links, a controller that looks every 3 s.

use tidegate_core::observe::event::{Cause, Event};
use tidegate_core::observe::records::{FlowSamples, LinkRecord, RunRecord};
use tidegate_core::units::Time;

use crate::papers::brf::{FULL, GIVEN, SEGMENT_MBIT, flow, mbps, neck, run, scenario};

/// Data goes by A, ACKs by B: of two equal ways nodes take the one that was declared first.
fn two_ways(events: &str) -> String {
    let text = "format = 1\n[scenario]\nname = \"two-ways\"\nduration = \"15s\"\nsample = \"10ms\"\n\
         [topology]\nlink = { rate = \"100Mbps\", delay = \"5ms\", queue = { limit = \"1000pkt\" } }\n\
         [[node]]\nname = \"S\"\n[[node]]\nname = \"A\"\nrouter_parts = [\"brf\"]\n[[node]]\nname = \"B\"\nrouter_parts = [\"brf\"]\n\
         [[node]]\nname = \"D\"\n\
         [[link]]\nends = [\"S\", \"A\"]\nrate = \"1Gbps\"\n[[link]]\nends = [\"D\", \"B\"]\n\
         [[link]]\nends = [\"A\", \"D\"]\n[[link]]\nends = [\"B\", \"S\"]\n\
         [controller]\nscheme = \"brf\"\ndelay = \"5ms\"\n\
         [[tcp]]\nsender = \"S\"\nreceiver = \"D\"\nscheme = \"brf\"\n";
    text.to_owned() + events
}

fn link<'a>(record: &'a RunRecord, ends: [&str; 2]) -> &'a LinkRecord {
    record.links.iter().find(|link| [link.from.as_str(), link.to.as_str()] == ends).expect("there")
}

/// Whether a flow is paced, as under a grant, at the sample taken at `at_s`.
fn is_paced(record: &RunRecord, flow: u32, at_s: f64) -> bool {
    let FlowSamples { time, flow: flows, pacing_per_second, .. } = &record.flow_samples;
    let at = |row: &usize| (time[*row].as_secs_f64() - at_s).abs() < 1e-6 && flows[*row] == flow;
    let row = (0..time.len()).find(at).expect("a sample");
    pacing_per_second[row].is_finite()
}

/// Least goodput of all flows together in any `bin_s` from `from_s` on, Mbit/s.
fn min(record: &RunRecord, from_s: f64, to_s: f64, bin_s: f64) -> f64 {
    let flows = record.flows.len() as u32;
    let bins = ((to_s - from_s) / bin_s).round() as u32;
    let total = |bin: u32| {
        let begin = from_s + f64::from(bin) * bin_s;
        (0..flows).map(|number| mbps(record, number, [begin, begin + bin_s])).sum::<f64>()
    };
    (0..bins).map(total).fold(f64::INFINITY, f64::min)
}

fn is_balanced(record: &RunRecord) -> bool {
    record.links.iter().all(|link| {
        let gone = link.sent_packets + link.dropped_packets;
        let left = link.offered_packets.checked_sub(gone);
        left.is_some_and(|waits| waits <= 1000)
            && link.sent_packets >= link.delivered_packets + link.lost_packets
    })
}

#[test]
fn grants_reach_a_sender_whose_acks_take_another_way_through_the_controller() {
    let events =
        "[[event]]\nat = \"5s\"\ncontroller = \"down\"\n[[event]]\nat = \"10s\"\ncontroller = \"up\"\n";
    let record = run(&two_ways(events));
    assert!(link(&record, ["A", "D"]).sent_packets > 50_000 && link(&record, ["B", "D"]).sent_packets == 0);
    assert!(link(&record, ["D", "B"]).sent_packets > 20_000 && link(&record, ["D", "A"]).sent_packets == 0);
    let ours = mbps(&record, 0, [1.5, 5.0]);
    assert!((ours / GIVEN - 1.0).abs() < 0.01, "{ours}");
    assert!(is_paced(&record, 0, 4.99), "granted");
    assert!(!is_paced(&record, 0, 9.99), "CUBIC without a controller");
    assert!(is_paced(&record, 0, 11.5), "granted again");
    let again = mbps(&record, 0, [12.0, 15.0]);
    assert!((again / GIVEN - 1.0).abs() < 0.01, "{again}");
    // CUBIC begins with the ten segments per round trip that the rate had decayed to, and is back after some seconds.
    let worst = min(&record, 1.5, 15.0, 0.5);
    assert!(worst > 10.0 * SEGMENT_MBIT / 0.02, "{worst}");
    let cubic = mbps(&record, 0, [9.0, 10.0]);
    assert!(cubic > 0.5 * FULL, "{cubic}");
}

#[test]
fn after_a_restart_its_word_is_news_to_other_switches_at_once() {
    let record = run(&two_ways("[[event]]\nat = \"6s\"\nnode = \"A\"\nrestart = true\n"));
    // A knows after 200 ms without an ACK that they take another way; what it had said before holds that long.
    assert!((60..140).all(|tenth| is_paced(&record, 0, f64::from(tenth) * 0.1)), "granted all along");
    let ours = mbps(&record, 0, [6.5, 15.0]);
    assert!((ours / GIVEN - 1.0).abs() < 0.01, "{ours}");
}

#[test]
fn a_switch_that_restarts_adopts_its_flows_and_nobody_stalls() {
    let flows =
        flow(0, "brf", 0) + &flow(1, "brf", 500) + "[[event]]\nat = \"3s\"\nnode = \"R0\"\nrestart = true\n";
    let record = run(&scenario("", &[10, 50], "", &flows));
    for number in 0..2 {
        let ours = mbps(&record, number, [4.0, 10.0]);
        assert!((ours / (GIVEN / 2.0) - 1.0).abs() < 0.01, "{number}: {ours}");
    }
    let worst = min(&record, 3.0, 10.0, 0.1);
    assert!(worst > 0.75 * GIVEN, "{worst}");
    assert!(is_balanced(&record));
}

#[test]
fn what_waits_is_lost_with_a_restart_and_accounted_for() {
    // CUBIC keeps a queue; it is gone at 5 s.
    let flows = flow(0, "tcp-cubic", 0) + "[[event]]\nat = \"5s\"\nnode = \"R0\"\nrestart = true\n";
    let record = run(&scenario("", &[10], "", &flows));
    let dropped = |at: f64| {
        let samples = &record.link_samples;
        let is_neck =
            |link: u32| record.links[link as usize].from == "R0" && record.links[link as usize].to == "R1";
        let rows = (0..samples.time.len()).filter(|row| is_neck(samples.link[*row]));
        let row = rows.rev().find(|row| samples.time[*row] <= Time::from_nanos((at * 1e9) as u64));
        row.map(|row| (samples.dropped_packets[row], samples.queue_packets[row])).expect("a sample")
    };
    let ((before, waited), (after, _)) = (dropped(4.995), dropped(5.005));
    assert!(waited > 100 && after >= before + waited - 5, "{waited} waited, {} were dropped", after - before);
    assert!(is_balanced(&record) && mbps(&record, 0, [7.0, 10.0]) > 0.5 * FULL);
}

/// How often the switch began to reduce rates between two times.
fn reductions(record: &RunRecord, [from, to]: [f64; 2]) -> usize {
    let rows = record.events.iter().filter(|row| (from..to).contains(&row.time.as_secs_f64()));
    rows.filter(|row| matches!(row.event, Event::StateChanged { state: Cause("reduce"), .. })).count()
}

#[test]
fn as_printed_a_full_link_counts_as_congested_for_ever_and_stays_full() {
    let flows = flow(0, "brf", 0) + &flow(1, "brf", 500);
    let record = |brf| {
        let text = scenario(brf, &[10; 2], "", &flows);
        run(&text.replace("sample = ", "events = [\"state-changed\"]\nsample = "))
    };
    let literal = record(", mode = \"literal\"");
    // All of the link is given out, so that it is used to more than 98 % and eq. 18 lowers rates by what they are above all of it:
    // by nothing. The switch begins to reduce before the join and never ends.
    assert!(reductions(&literal, [0.0, 2.0]) >= 1 && reductions(&literal, [2.0, 10.0]) == 0);
    let rates = (2..10).map(f64::from).flat_map(|at| [0, 1].map(|flow| mbps(&literal, flow, [at, at + 1.0])));
    let rates: Vec<f64> = rates.collect();
    assert!(rates.iter().all(|rate| (rate / (FULL / 2.0) - 1.0).abs() < 0.01), "{rates:?}");
    assert!(is_balanced(&literal));
    let corrected = record("");
    assert_eq!(reductions(&corrected, [2.0, 10.0]), 0, "3 % of the link are kept free");
}

#[test]
fn each_of_two_switches_in_a_row_gives_what_the_other_one_leaves() {
    // f0 crosses both links; f1 the first, of 100 Mbit/s; f2 the second, of 50.
    let text = "format = 1\n[scenario]\nname = \"parking-lot\"\nduration = \"10s\"\nsample = \"10ms\"\n\
        [topology]\nlink = { rate = \"1Gbps\", delay = \"5ms\", queue = { limit = \"1000pkt\" } }\n\
        [[node]]\nname = \"R0\"\nrouter_parts = [\"brf\"]\n[[node]]\nname = \"R1\"\nrouter_parts = [\"brf\"]\n\
        [[node]]\nname = \"R2\"\nrouter = true\n\
        [[node]]\nname = \"S0\"\n[[node]]\nname = \"S1\"\n[[node]]\nname = \"S2\"\n\
        [[node]]\nname = \"D0\"\n[[node]]\nname = \"D1\"\n[[node]]\nname = \"D2\"\n\
        [[link]]\nends = [\"R0\", \"R1\"]\nrate = \"100Mbps\"\n[[link]]\nends = [\"R1\", \"R2\"]\nrate = \"50Mbps\"\n\
        [[link]]\nends = [\"S0\", \"R0\"]\n[[link]]\nends = [\"S1\", \"R0\"]\n[[link]]\nends = [\"S2\", \"R1\"]\n\
        [[link]]\nends = [\"R2\", \"D0\"]\n[[link]]\nends = [\"R1\", \"D1\"]\n[[link]]\nends = [\"R2\", \"D2\"]\n\
        [controller]\nscheme = \"brf\"\ndelay = \"5ms\"\n"
        .to_owned();
    let tcp = |number: u32| {
        format!(
            "[[tcp]]\nsender = \"S{number}\"\nreceiver = \"D{number}\"\nscheme = \"brf\"\nstart = \"{}ms\"\n",
            number * 300
        )
    };
    let record = run(&(text + &tcp(0) + &tcp(1) + &tcp(2)));
    let shares = [0, 1, 2].map(|number| mbps(&record, number, [3.0, 10.0]));
    let narrow = GIVEN / 4.0;
    // At the first switch f0 is limited from elsewhere, and keeps a tenth of headroom.
    let expected = [narrow, GIVEN - 1.1 * narrow, narrow];
    for (ours, expected) in shares.iter().zip(expected) {
        assert!((ours / expected - 1.0).abs() < 0.03, "{shares:?} for {expected}");
    }
    assert_eq!(record.links.iter().map(|link| link.dropped_packets).sum::<u64>(), 0);
}

#[test]
fn a_controller_that_looks_every_three_seconds_leaves_the_queue_of_a_join_to_the_reserve() {
    let flows = flow(1, "brf", 0) + &flow(0, "brf", 3500);
    let outcome = |poll: &str| {
        let brf = format!(", make_before_break = false, poll = {poll:?}");
        let record = run(&scenario(&brf, &[10, 50], "", &flows));
        for number in 0..2 {
            let ours = mbps(&record, number, [5.5, 10.0]);
            assert!((ours / (GIVEN / 2.0) - 1.0).abs() < 0.01, "{poll}, {number}: {ours}");
        }
        assert_eq!(neck(&record).dropped_packets, 0, "{poll}");
        let samples = &record.link_samples;
        let is_neck =
            |link: u32| record.links[link as usize].from == "R0" && record.links[link as usize].to == "R1";
        let stands = |row: &usize| is_neck(samples.link[*row]) && samples.queue_bytes[*row] > 62_500;
        (0..samples.time.len()).filter(stands).count() as f64 * 0.01
    };
    let (often, seldom) = (outcome("10ms"), outcome("3s"));
    assert!(seldom > 1.5 * often && seldom < 2.0, "{often} s and {seldom} s with more than 5 ms of queue");
}
