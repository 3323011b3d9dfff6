//! TCP connections in the simulator: they share hosts, forwarders, links and clocks with everything else.

use std::collections::BTreeSet;

use tidegate_core::ndn::name::Segment;
use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::observe::records::{FlowRecord, RunRecord};
use tidegate_core::rng::Seed;
use tidegate_core::units::{Span, Time};
use tidegate_sim::world::World;

use crate::plan;

/// S - R0 - R1 - C with 10 Mbit/s and 5 ms between the routers; `more` comes after it.
fn scenario(duration: &str, more: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"tcp\"\nduration = \"{duration}\"\nsample = \"100ms\"\n\
         [[node]]\nname = \"S\"\n[[node]]\nname = \"R0\"\nrouter = true\n[[node]]\nname = \"R1\"\nrouter = true\n\
         [[node]]\nname = \"C\"\n\
         [[link]]\nends = [\"S\", \"R0\"]\nrate = \"100Mbps\"\ndelay = \"0ms\"\nqueue = {{ limit = \"1000pkt\" }}\n\
         [[link]]\nname = \"neck\"\nends = [\"R0\", \"R1\"]\nrate = \"10Mbps\"\ndelay = \"5ms\"\nqueue = {{ limit = \"1000pkt\" }}\n\
         [[link]]\nends = [\"R1\", \"C\"]\nrate = \"100Mbps\"\ndelay = \"0ms\"\nqueue = {{ limit = \"1000pkt\" }}\n{more}"
    )
}

const FILE: &str = "[[tcp]]\nsender = \"S\"\nreceiver = \"C\"\nscheme = \"tcp-reno\"\nsize = \"2896000B\"\nname = \"file\"\n";

/// A run whose every packet is accounted for.
fn run(text: &str) -> RunRecord {
    let plan = plan(text);
    let mut world = World::new(&plan, Seed(1));
    world.run();
    for ledger in world.ledgers() {
        assert!(ledger.balances(), "{ledger:?}");
    }
    world.into_record(&plan, Seed(1))
}

fn flow<'a>(record: &'a RunRecord, name: &str) -> &'a FlowRecord {
    record.flows.iter().find(|flow| flow.name == name).expect("the scenario has the flow")
}

fn completion_ms(record: &RunRecord, name: &str) -> f64 {
    flow(record, name).completion_time().expect("it is complete").as_millis_f64()
}

#[test]
fn a_file_takes_the_handshake_the_ramp_and_its_bytes_at_the_rate_of_the_bottleneck() {
    let record = run(&scenario("20s", FILE));
    let file = flow(&record, "file");
    assert_eq!((file.segments, file.delivered_segments, file.retransmissions), (Some(2000), 2000, 0));
    assert_eq!(file.delivered_payload.get(), 2_896_000);
    // 2000 segments of 1514 B and a FIN at 10 Mbit/s: 2422.4 ms; before that the handshake of 10 ms, and the round trips
    // in which ten segments leave the link empty.
    let took = completion_ms(&record, "file");
    assert!((2432.0..2460.0).contains(&took), "{took} ms");
    assert_eq!(record.links[2].dropped_packets, 0);
}

#[test]
fn ends_on_forwarders_see_what_ends_on_plain_hosts_see() {
    let plain = scenario("20s", FILE);
    let behind = plain
        .replace("name = \"S\"\n", "name = \"S\"\nrouter = true\n")
        .replace("[[node]]\nname = \"C\"\n", "[[node]]\nname = \"C\"\nrouter = true\n");
    assert_ne!(plain, behind);
    let (plain, behind) = (run(&plain), run(&behind));
    assert_eq!(plain.flows, behind.flows);
}

#[test]
fn interests_and_segments_share_hosts_and_links() {
    let more = format!(
        "{FILE}[[flow]]\nconsumer = \"C\"\nproducer = \"S\"\nprefix = \"/f\"\nscheme = \"catchunks-aimd\"\n\
         segments = 1000\n"
    );
    let record = run(&scenario("30s", &more));
    let [fetch, file] = record.flows.as_slice() else { panic!("two flows") };
    assert_eq!((fetch.delivered_segments, file.delivered_segments), (1000, 2000));
    let alone = completion_ms(&run(&scenario("20s", FILE)), "file");
    let took = completion_ms(&record, "file");
    assert!(took > alone, "{took} ms with Data beside it, {alone} ms alone");
    // 2422 ms of segments and 819 ms of content alone, headers not counted.
    assert!(took.max(completion_ms(&record, &fetch.name)) > 3_241.0, "one link for both");
}

#[test]
fn lost_segments_are_sent_again_until_all_have_come() {
    let lossy = scenario("60s", FILE).replace(
        "delay = \"5ms\"\n",
        "delay = \"5ms\"\nloss = { model = \"bernoulli\", probability = 0.05 }\n",
    );
    for (detection, rto) in
        [("rack-tlp", "linux"), ("sack", "linux"), ("rack-tlp", "rfc6298"), ("sack", "rfc6298")]
    {
        let record = run(&(lossy.clone() + &format!("detection = {detection:?}\nrto = {rto:?}\n")));
        let (file, case) = (flow(&record, "file"), format!("{detection}, {rto}"));
        assert_eq!(file.delivered_segments, 2000, "{case}");
        assert!((80..200).contains(&file.retransmissions), "{case}: {} of 2000", file.retransmissions);
        assert!(file.completed.is_some());
    }
}

#[test]
fn a_receiver_that_takes_no_part_in_ecn_has_segments_dropped_that_would_be_marked() {
    let run_with = |receiver_ecn: bool| {
        let file = FILE.replace("tcp-reno", "tcp-dctcp");
        let marking = "queue = { limit = \"1000pkt\", disciplines = [\"step-ecn\"] }";
        let text = scenario("20s", &format!("{file}receiver_ecn = {receiver_ecn}\n")).replacen(
            "delay = \"5ms\"\nqueue = { limit = \"1000pkt\" }",
            &format!("delay = \"5ms\"\n{marking}"),
            1,
        );
        let record = run(&text);
        let file = flow(&record, "file");
        assert_eq!(file.delivered_segments, 2000);
        (file.marks > 0, file.retransmissions > 0)
    };
    assert_eq!((run_with(true), run_with(false)), ((true, false), (false, true)));
}

#[test]
fn events_show_segments_by_their_sequence_numbers() {
    let lossy = scenario("60s", FILE).replace(
        "delay = \"5ms\"\n",
        "delay = \"5ms\"\nloss = { model = \"bernoulli\", probability = 0.05 }\n",
    );
    let mut world = World::new(&plan(&lossy), Seed(1));
    world.listen(EventMask::ALL);
    world.run();
    let (mut first, mut again, mut came) = (BTreeSet::new(), 0, BTreeSet::new());
    let (mut lost_on_wire, mut taken_for_lost) = (BTreeSet::new(), BTreeSet::new());
    for record in world.take_events() {
        match record.event {
            Event::SegmentSent { name, retransmission: false, .. } => {
                assert!(first.insert(name), "{name:?} twice")
            }
            Event::SegmentSent { name, .. } => {
                assert!(first.contains(&name) && lost_on_wire.contains(&name), "{name:?}");
                again += 1;
            }
            Event::SegmentReceived { name, .. } => assert!(came.insert(name), "{name:?} twice"),
            Event::Lost { name, .. } if name.segment != Segment::NONE => _ = lost_on_wire.insert(name),
            // A timeout may be for an ACK that was lost.
            Event::LossDetected { name, cause, .. } if cause.0 == "gap" => _ = taken_for_lost.insert(name),
            _ => {}
        }
    }
    assert_eq!((first.len(), &came), (2000, &first));
    assert!(again > 80, "{again}");
    assert!(taken_for_lost.len() > 80, "{}", taken_for_lost.len());
    let not_lost: Vec<_> = taken_for_lost.difference(&lost_on_wire).collect();
    assert!(not_lost.is_empty(), "{not_lost:?}");
}

#[test]
fn a_connection_outlives_an_outage_of_its_path() {
    let more = format!(
        "{FILE}[[event]]\nat = \"1s\"\nlink = \"neck\"\nstate = \"down\"\n\
         [[event]]\nat = \"4s\"\nlink = \"neck\"\nstate = \"up\"\n"
    );
    let record = run(&scenario("30s", &more));
    let file = flow(&record, "file");
    assert!(file.timeouts > 0, "nothing came for 3 s");
    let took = completion_ms(&record, "file");
    // Half the file before, half after; the timer had doubled to less than four seconds.
    assert!((4_000.0..12_000.0).contains(&took), "{took} ms");
}

#[test]
fn a_repeated_connection_starts_each_time_so_much_later() {
    let more = "[[tcp]]\nrepeat = 3\nname = \"t{i}\"\nsender = \"S\"\nreceiver = \"C\"\nscheme = \"tcp-reno\"\n\
                rate = \"2Mbps\"\nstart = \"1s\"\nstagger = \"500ms\"\nstop = \"3s\"\n";
    let record = run(&scenario("5s", more));
    let starts: Vec<f64> = record.flows.iter().map(|flow| flow.start.as_secs_f64()).collect();
    assert_eq!(starts, [1.0, 1.5, 2.0]);
    // 172.7 segments a second, from a handshake after the start to the stop.
    let delivered: Vec<u64> = record.flows.iter().map(|flow| flow.delivered_segments).collect();
    assert!(
        delivered.iter().zip([344, 257, 171]).all(|(came, due)| came.abs_diff(due) <= 2),
        "{delivered:?}"
    );
    let after = |row: &usize| record.flow_samples.time[*row].as_secs_f64() > 4.5;
    let rows: Vec<usize> = (0..record.flow_samples.time.len()).filter(after).collect();
    assert!(
        rows.iter().all(|row| record.flow_samples.in_flight_packets[*row] == 0),
        "nothing leaves after the stop"
    );
}

#[test]
fn an_application_that_writes_slowly_sets_the_rate_and_its_queue_stays_empty() {
    let more = "[[tcp]]\nsender = \"S\"\nreceiver = \"C\"\nscheme = \"tcp-reno\"\nrate = \"4Mbps\"\nname = \"slow\"\n";
    let record = run(&scenario("10s", more));
    let payload_mbps = flow(&record, "slow").delivered_payload.get() as f64 * 8.0 / 10.0 / 1e6;
    assert!((3.95..=4.01).contains(&payload_mbps), "{payload_mbps}");
    assert_eq!(record.links[2].queue_delay.max, Span::ZERO);
}

/// Two connections under `scheme` meet before a link of 100 Mbit/s and 1000 packets, one from 20 ms away, one from 100.
fn unequal_round_trips(scheme: &str) -> [f64; 2] {
    let record = run(&format!(
        "format = 1\n[scenario]\nname = \"unequal\"\nduration = \"240s\"\nsample = false\n\
         [[node]]\nname = \"A\"\n[[node]]\nname = \"B\"\n[[node]]\nname = \"R\"\nrouter = true\n[[node]]\nname = \"C\"\n\
         [[link]]\nends = [\"A\", \"R\"]\nrate = \"1Gbps\"\ndelay = \"10ms\"\n\
         [[link]]\nends = [\"B\", \"R\"]\nrate = \"1Gbps\"\ndelay = \"50ms\"\n\
         [[link]]\nends = [\"R\", \"C\"]\nrate = \"100Mbps\"\ndelay = \"0ms\"\nqueue = {{ limit = \"1000pkt\" }}\n\
         [[tcp]]\nname = \"near\"\nsender = \"A\"\nreceiver = \"C\"\nscheme = {scheme:?}\n\
         [[tcp]]\nname = \"far\"\nsender = \"B\"\nreceiver = \"C\"\nscheme = {scheme:?}\n"
    ));
    ["near", "far"].map(|name| flow(&record, name).delivered_payload.get() as f64)
}

/// Epochs of ten seconds make the way there long: over the first 60 s the ratio is 4 to 5.3, over ten minutes 2.3.
#[test]
fn cubic_gives_the_nearer_of_two_senders_more_in_about_the_ratio_of_their_round_trips() {
    for scheme in ["tcp-cubic", "tcp-cubic-linux"] {
        let [near, far] = unequal_round_trips(scheme);
        assert!((1.5..5.0).contains(&(near / far)), "{scheme}: {near} and {far} bytes");
    }
}

/// Share of one BBR connection beside one of CUBIC at 100 Mbit/s and 20 ms from the second minute to the fourth.
fn bbr_share(buffer: u32) -> f64 {
    let record = run(&format!(
        "format = 1\n[scenario]\nname = \"shares\"\nduration = \"240s\"\nsample = \"60s\"\n[topology]\n\
         builtin = \"dumbbell\"\npairs = 2\naccess = {{ rate = \"1Gbps\", delay = \"0ms\" }}\n\
         bottleneck = {{ rate = \"100Mbps\", delay = \"10ms\", queue = {{ limit = \"{buffer}pkt\" }} }}\n\
         [[tcp]]\nsender = \"p1\"\nreceiver = \"c1\"\nscheme = \"tcp-bbr1\"\n\
         [[tcp]]\nsender = \"p2\"\nreceiver = \"c2\"\nscheme = \"tcp-cubic\"\n"
    ));
    let samples = &record.flow_samples;
    let early = |flow: u32| {
        let row = (0..samples.time.len())
            .find(|row| samples.flow[*row] == flow && samples.time[*row] >= Time::ZERO + Span::from_secs(60));
        samples.delivered_segments[row.expect("it is sampled")]
    };
    let late = |flow: u32| record.flows[flow as usize].delivered_segments - early(flow);
    late(0) as f64 / (late(0) + late(1)) as f64
}

#[test]
fn bbr_has_no_more_beside_cubic_than_ware_and_others_say_and_less_the_deeper_the_buffer() {
    // Ware et al., IMC 2019, for one flow of each: 0.74 at two products of bandwidth and delay, 0.57 at six, 0.47 at thirty.
    let product = 165;
    let shares = [2, 6, 30].map(|products| bbr_share(products * product));
    assert!(shares.is_sorted_by(|more, less| more > less), "{shares:?}");
    for (share, max) in shares.into_iter().zip([0.74, 0.57, 0.47]) {
        assert!(share <= max, "{shares:?}");
    }
    // It takes most of the link where there is hardly a buffer.
    assert!(bbr_share(product / 2) > 0.5, "{}", bbr_share(product / 2));
}

/// Two bottlenecks in a row, of 20 and 50 Mbit/s; one flow crosses both, the other one the second alone. Mbit/s from 5 s on.
fn in_a_row(scheme: &str) -> [f64; 2] {
    let text = format!(
        "format = 1\n[scenario]\nname = \"row\"\nduration = \"15s\"\nsample = \"100ms\"\n\
         [[node]]\nname = \"A\"\n[[node]]\nname = \"B\"\n[[node]]\nname = \"C\"\n\
         [[node]]\nname = \"R0\"\nrouter = true\nrouter_parts = [\"{scheme}\"]\n[[node]]\nname = \"R1\"\nrouter = true\nrouter_parts = [\"{scheme}\"]\n\
         [[link]]\nends = [\"A\", \"R0\"]\nrate = \"1Gbps\"\ndelay = \"1ms\"\n\
         [[link]]\nends = [\"R0\", \"R1\"]\nrate = \"20Mbps\"\ndelay = \"9ms\"\nqueue = {{ limit = \"500pkt\" }}\n\
         [[link]]\nends = [\"B\", \"R1\"]\nrate = \"1Gbps\"\ndelay = \"10ms\"\n\
         [[link]]\nends = [\"R1\", \"C\"]\nrate = \"50Mbps\"\ndelay = \"5ms\"\nqueue = {{ limit = \"500pkt\" }}\n\
         [[tcp]]\nname = \"both\"\nsender = \"A\"\nreceiver = \"C\"\nscheme = \"{scheme}\"\n\
         [[tcp]]\nname = \"second\"\nsender = \"B\"\nreceiver = \"C\"\nscheme = \"{scheme}\"\n"
    );
    let record = run(&text);
    assert!(record.links.iter().all(|link| link.dropped_packets == 0), "{scheme} drops");
    let samples = &record.flow_samples;
    [0, 1].map(|flow| {
        let rows = |from_s: f64| {
            let row = (0..samples.time.len())
                .rev()
                .find(|row| samples.flow[*row] == flow && samples.time[*row].as_secs_f64() <= from_s);
            samples.delivered_segments[row.expect("samples")] as f64
        };
        (rows(15.0) - rows(5.0)) * 1448.0 * 8e-7
    })
}

#[test]
fn of_two_routers_that_give_a_rate_or_a_window_the_one_with_less_to_give_counts() {
    // Content of a full segment is 0.956 of the wire; RCP leaves 5 % of a link free.
    let content = 1448.0 / 1514.0;
    let [both, second] = in_a_row("rcp").map(|rate| rate / content);
    assert!((both / 19.0 - 1.0).abs() < 0.02 && (second / 28.5 - 1.0).abs() < 0.02, "{both:.2} {second:.2}");
    // XCP shuffles a tenth of the traffic, of which a flow that is bound elsewhere does not take its part again: at least four
    // fifths of such a link are used (Low, Andrew and Wydrowski, Understanding XCP, INFOCOM 2005).
    let [both, second] = in_a_row("xcp").map(|rate| rate / content);
    assert!((both / 20.0 - 1.0).abs() < 0.02, "{both:.2}");
    assert!((40.0..50.0).contains(&(both + second)), "{second:.2}");
}
