//! Links and queues: delays to the nanosecond, changes during a run, loss, limits, priority.

use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_results::measures;
use tidegate_sim::run::run;
use tidegate_sim::world::World;

use crate::{arrivals, millis, one_link, plan, record};

/// 24 B of Interest and 1250 B of Data take 19.2 us and 1 ms at 10 Mbit/s.
const TEN: &str = "rate = \"10Mbps\"\ndelay = \"10ms\"\nqueue = { limit = \"1000pkt\" }";

#[test]
fn one_interest_and_its_data_take_their_sending_and_propagation_times() {
    // Segment 0: Interest 23 B, Data 1249 B. 18.4 us + 10 ms + 0.9992 ms + 10 ms.
    let text = one_link(
        "duration = \"1s\"\nevents = [\"data-received\"]",
        TEN,
        "scheme = \"fixed\"\nsegments = 1\nstart = \"5ms\"",
    );
    let record = record(&text);
    assert_eq!(arrivals(&record, 0), [(26_017_600, 21_017_600, 0)]);
    assert_eq!((record.links[0].sent_bytes.get(), record.links[1].sent_bytes.get()), (23, 1249));
}

#[test]
fn delays_add_up_over_links_of_different_rates_each_way() {
    let text = "format = 1\n[scenario]\nname = \"chain\"\nduration = \"1s\"\nevents = [\"data-received\"]\n\
        [topology]\nbuiltin = \"linear\"\nrouters = 2\nlink = { rate = \"8Mbps\", delay = \"3ms\" }\n\
        [link.c1-r1]\nforward = { rate = \"1Mbps\" }\nbackward = { rate = \"80Mbps\" }\n\
        [link.r2-p1]\ndelay = \"7ms\"\nrate = \"3Mbps\"\n\
        [[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/ab\"\npayload = \"965B\"\n\
        scheme = \"fixed\"\nsegments = 1\n";
    // Interest 23 B: 184 us + 23 us + 61.334 us (rounded up); Data 1000 B: 2.666667 ms + 1 ms + 0.1 ms;
    // propagation 2 x (3 + 3 + 7) ms.
    let expected = 184_000 + 23_000 + 61_334 + 2_666_667 + 1_000_000 + 100_000 + 26_000_000;
    assert_eq!(arrivals(&record(text), 0), [(expected, expected, 0)]);
}

#[test]
fn a_new_rate_counts_from_the_next_packet_on() {
    // Ten Interests leave back to back. Data 0 is on the wire from 10.0184 ms to 11.0176 ms at 10 Mbit/s; the
    // rate falls to 1 Mbit/s at 10.5 ms: Data 1 takes 9.992 ms, and so do the others.
    let text = one_link(
        "duration = \"1s\"\nevents = [\"data-received\"]",
        TEN,
        "scheme = \"fixed\"\nsegments = 10\n[[event]]\nat = \"10.5ms\"\nlink = \"c1-p1\"\nrate = \"1Mbps\"",
    );
    let times: Vec<u64> = arrivals(&record(&text), 0).iter().map(|arrival| arrival.0).collect();
    let expected: Vec<u64> = (0..10).map(|number| 21_017_600 + number * 9_992_000).collect();
    assert_eq!(times, expected);
}

/// A run of `events` on a link where a window of 100 keeps some 79 Data in the queue and 10 on the wire.
fn with_events(events: &str) -> RunRecord {
    let text = one_link(
        "duration = \"2s\"\nevents = [\"dropped\", \"data-received\"]",
        TEN,
        &format!("scheme = {{ name = \"fixed\", window = 100 }}\n{events}"),
    );
    record(&text)
}

/// Times of arrival within a stretch of ms, ns.
fn arrived_within(record: &RunRecord, from_ms: u64, until_ms: u64) -> Vec<u64> {
    let within = |time: &u64| (from_ms * 1_000_000..until_ms * 1_000_000).contains(time);
    arrivals(record, 0).iter().map(|arrival| arrival.0).filter(within).collect()
}

#[test]
fn a_link_that_goes_down_loses_what_is_on_the_wire_and_in_the_queue() {
    let down = "[[event]]\nat = \"500ms\"\nlink = \"c1-p1\"\nstate = \"down\"\n";
    let record = with_events(&format!("{down}[[event]]\nat = \"700ms\"\nlink = \"c1-p1\"\nstate = \"up\""));
    let [forward, backward] = &record.links[..] else { panic!("one link") };
    // 10 ms of propagation hold 10 Data and 10 Interests; one Data is being sent.
    assert_eq!((forward.lost_packets, backward.lost_packets), (10, 11));
    assert_eq!(forward.dropped_packets, 0);
    assert_eq!(backward.dropped_packets, 79, "100 outstanding less 21 on the way");
    assert_eq!(arrived_within(&record, 500, 700), [0u64; 0]);
    // Everything was lost, so only timeouts wake the flow: it is silent until the first of them.
    let [first, ..] = arrived_within(&record, 700, 2_000)[..] else { panic!("the flow goes on") };
    let cause = |event: &Event| matches!(event, Event::Dropped { cause, .. } if cause.0 == "link down");
    assert_eq!(record.events.iter().filter(|event| cause(&event.event)).count(), 79);
    assert!(first > 700_000_000);
}

#[test]
fn a_link_that_keeps_its_queue_goes_on_where_it_stopped() {
    let down = "[[event]]\nat = \"500ms\"\nlink = \"c1-p1\"\nstate = \"down\"\nkeep_queue = true\n";
    let record = with_events(&format!("{down}[[event]]\nat = \"530ms\"\nlink = \"c1-p1\"\nstate = \"up\""));
    let [forward, backward] = &record.links[..] else { panic!("one link") };
    assert_eq!((forward.lost_packets, backward.lost_packets), (10, 11));
    assert_eq!((forward.dropped_packets, backward.dropped_packets), (0, 0));
    // The 79 Data of the queue arrive 1 ms apart from 530 ms + 1 ms + 10 ms on.
    let times = arrived_within(&record, 500, 620);
    let expected: Vec<u64> = (0..79).map(|number| 541_000_000 + number * 1_000_000).collect();
    assert_eq!(times, expected);
}

#[test]
fn a_node_that_is_off_is_silent_and_goes_on_afterwards() {
    for node in ["c1", "p1"] {
        let off = format!("[[event]]\nat = \"500ms\"\nnode = \"{node}\"\nstate = \"down\"\n");
        let record = with_events(&format!("{off}[[event]]\nat = \"1s\"\nnode = \"{node}\"\nstate = \"up\""));
        assert_eq!(arrived_within(&record, 500, 1_020), [0u64; 0], "{node}");
        let afterwards = arrived_within(&record, 1_020, 2_000).len();
        assert!(afterwards > 300, "{node}: {afterwards}");
    }
}

#[test]
fn what_a_router_that_is_off_would_have_carried_does_not_arrive() {
    let text = "format = 1\n[scenario]\nname = \"off\"\nduration = \"1s\"\nevents = [\"data-received\"]\n\
        [topology]\nbuiltin = \"linear\"\nrouters = 3\nlink = { rate = \"10Mbps\", delay = \"1ms\" }\n\
        [[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/ab\"\nscheme = \"fixed\"\n\
        [[event]]\nat = \"300ms\"\nnode = \"r2\"\nstate = \"down\"\n";
    let record = record(text);
    assert!(arrived_within(&record, 0, 300).len() > 100);
    // What has left r2 by then has 3 ms of propagation and 2 sending times to go.
    assert_eq!(arrived_within(&record, 306, 1_000), [0u64; 0]);
}

#[test]
fn a_node_stays_silent_when_its_neighbour_comes_back() {
    let text = "format = 1\n[scenario]\nname = \"off\"\nduration = \"1s\"\nevents = [\"data-received\"]\n\
        [topology]\nbuiltin = \"linear\"\nrouters = 3\nlink = { rate = \"10Mbps\", delay = \"1ms\" }\n\
        [[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/ab\"\nscheme = \"fixed\"\n\
        [[event]]\nat = \"300ms\"\nnode = \"r2\"\nstate = \"down\"\n\
        [[event]]\nat = \"400ms\"\nnode = \"r1\"\nstate = \"down\"\n\
        [[event]]\nat = \"500ms\"\nnode = \"r1\"\nstate = \"up\"\n\
        [[event]]\nat = \"600ms\"\nnode = \"r3\"\nstate = \"down\"\n\
        [[event]]\nat = \"700ms\"\nnode = \"r3\"\nstate = \"up\"\n";
    assert_eq!(arrived_within(&record(text), 306, 1_000), [0u64; 0], "r2 is off from 300 ms on");
}

#[test]
fn a_link_stays_down_when_its_node_was_off_and_comes_back() {
    let record = with_events(
        "[[event]]\nat = \"300ms\"\nlink = \"c1-p1\"\nstate = \"down\"\n\
         [[event]]\nat = \"400ms\"\nnode = \"p1\"\nstate = \"down\"\n\
         [[event]]\nat = \"500ms\"\nnode = \"p1\"\nstate = \"up\"",
    );
    assert_eq!(arrived_within(&record, 300, 2_000), [0u64; 0], "nothing took the link up again");
}

#[test]
fn a_link_up_event_does_not_wake_a_node_that_is_off() {
    let record = with_events(
        "[[event]]\nat = \"300ms\"\nnode = \"p1\"\nstate = \"down\"\n\
         [[event]]\nat = \"400ms\"\nlink = \"c1-p1\"\nstate = \"up\"",
    );
    assert_eq!(arrived_within(&record, 300, 2_000), [0u64; 0], "p1 is off");
}

#[test]
fn a_run_stops_once_its_file_and_its_bursts_are_complete() {
    let text = one_link(
        "duration = \"30s\"\nstop_when_complete = true",
        TEN,
        "scheme = \"fixed\"\nsegments = 100\n[[flow]]\nname = \"burst\"\nconsumer = \"c1\"\nproducer = \"p1\"\n\
         prefix = \"/burst\"\nscheme = \"fixed\"\nrate = \"1Mbps\"\nbursts = [{ at = \"1s\", for = \"100ms\" }]",
    );
    let record = record(&text);
    assert!(record.ended < millis(2_000), "ended at {}", record.ended);
}

#[test]
fn a_longer_flow_of_a_prefix_gets_all_its_segments() {
    let text = one_link(
        "duration = \"5s\"",
        TEN,
        "scheme = \"fixed\"\nsegments = 100\n[[flow]]\nname = \"longer\"\nconsumer = \"c1\"\nproducer = \"p1\"\n\
         prefix = \"/ab\"\npayload = \"1214B\"\nscheme = \"fixed\"\nsegments = 300",
    );
    let record = record(&text);
    assert_eq!((record.flows[1].segments, record.flows[1].delivered_segments), (Some(300), 300));
}

#[test]
fn bernoulli_loss_takes_its_share_in_each_direction() {
    let loss = "forward = { loss = { model = \"bernoulli\", probability = 0.02 } }\n\
                backward = { loss = { model = \"bernoulli\", probability = 0.1 } }";
    let text = one_link(
        "duration = \"30s\"\nsample = false",
        &format!("rate = \"100Mbps\"\ndelay = \"1ms\"\n{loss}"),
        "scheme = \"fixed\"\nrate = \"20Mbps\"",
    );
    for seed in 1..=3 {
        let record = run(&plan(&text), Seed(seed));
        for (link, probability) in record.links.iter().zip([0.02, 0.1]) {
            let sent = link.sent_packets as f64;
            let off = (link.lost_packets as f64 - probability * sent)
                / (sent * probability * (1.0 - probability)).sqrt();
            assert!(
                sent > 50_000.0 && off.abs() < 4.0,
                "seed {seed}: {} of {sent}: {off} sigma",
                link.lost_packets
            );
        }
    }
}

#[test]
fn gilbert_elliott_loss_takes_its_stationary_share() {
    // Bad for 0.002 / (0.002 + 0.05) = 3.846 % of the packets, half of which are lost: 1.923 %. The sum over
    // correlated packets varies by (1 + r) / (1 - r), r = 1 - 0.052, in its state: 12 times a Bernoulli's sigma.
    let text = one_link(
        "duration = \"60s\"\nsample = false",
        "rate = \"100Mbps\"\ndelay = \"1ms\"\nbackward = { loss = { model = \"gilbert-elliott\", \
         to_bad = 0.002, to_good = 0.05, loss_bad = 0.5 } }",
        "scheme = \"fixed\"\nrate = \"20Mbps\"",
    );
    let link = &record(&text).links[1];
    let (share, sent) = (link.lost_packets as f64 / link.sent_packets as f64, link.sent_packets);
    // sigma of the share: 0.5 sqrt(0.03846 x 0.96154 x 37.5 / 126,000) = 0.0017; three of them.
    assert!(sent > 120_000 && (share - 0.019_23).abs() < 0.005, "{share} of {sent}");
}

#[test]
fn a_queue_limited_in_bytes_holds_what_fits_and_no_more() {
    // 10,000 B hold 8 Data of 1250 B (8.01 of 1249 B); a window of 100 overflows them from the start.
    let text = one_link(
        "duration = \"5s\"\nsample = \"1ms\"\nevents = [\"dropped\"]",
        "rate = \"10Mbps\"\ndelay = \"10ms\"\nqueue = { limit = \"10000B\" }",
        "scheme = { name = \"fixed\", window = 100 }",
    );
    let record = record(&text);
    let samples = &record.link_samples;
    let max = samples.queue_bytes.iter().max().copied();
    assert_eq!((max, record.links[1].peak_queue_packets), (Some(10_000), 8));
    assert!(record.links[1].dropped_packets > 1_000);
    assert_eq!(record.events.len() as u64, record.links[0].dropped_packets + record.links[1].dropped_packets);
}

#[test]
fn a_queue_limited_in_packets_does_not_count_the_one_being_sent() {
    // Ten Data meet a queue of four: one is sent, four wait, five are dropped (all come within 0.2 ms).
    let text = one_link(
        "duration = \"100ms\"\nsample = false",
        "rate = \"10Mbps\"\ndelay = \"10ms\"\nforward = { queue = { limit = \"100pkt\" } }\n\
         backward = { queue = { limit = \"4pkt\" } }",
        "scheme = \"fixed\"\nsegments = 10",
    );
    let link = &record(&text).links[1];
    assert_eq!((link.offered_packets, link.sent_packets, link.dropped_packets), (10, 5, 5));
    assert_eq!(link.peak_queue_packets, 4);
}

#[test]
fn a_loss_notice_overtakes_a_full_queue() {
    // A burst of 60 Data meets 32 places and a store of 16 in front of 1 Mbit/s: 1 is sent, 32 wait, 16 are
    // stored with a notice each, 11 are dropped.
    let text = "format = 1\n[scenario]\nname = \"notice\"\nduration = \"500ms\"\n\
        events = [\"notice-made\", \"loss-detected\", \"dropped\", \"stored\"]\n\
        [topology]\nbuiltin = \"linear\"\nrouters = 1\nlink = { rate = \"100Mbps\", delay = \"1ms\" }\n\
        [link.c1-r1]\nbackward = { rate = \"1Mbps\", queue = { limit = \"32pkt\" } }\n\
        [router]\nrouter_parts = [\"plr\"]\n\
        [[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/ab\"\npayload = \"1215B\"\nsegments = 60\n\
        scheme = { name = \"fixed\", window = 60 }\n";
    let record = record(text);
    let link = &record.links[1];
    assert_eq!((link.notices, link.stored_packets, link.dropped_packets), (16, 16, 11));
    let mut latest = 0;
    for made in record.events.iter().filter(|made| matches!(made.event, Event::NoticeMade { .. })) {
        let Event::NoticeMade { name, .. } = made.event else { continue };
        let arrived = record.events.iter().find(|arrived| {
            matches!(arrived.event, Event::LossDetected { name: lost, cause, .. }
                if lost == name && cause.0 == "loss notice")
        });
        let delay = arrived.expect("the notice arrives").time.since(made.time).as_nanos();
        latest = latest.max(delay);
    }
    // At worst a Data of 1250 B (10 ms) has just begun; then 16 notices of 21 B (168 us each) and 1 ms.
    assert!(latest <= 10_000_000 + 16 * 168_000 + 1_000_000, "{latest} ns");
    assert!(record.links[1].queue_delay.max.as_nanos() > 200_000_000, "Data waits for the whole queue");
}

#[test]
fn jitter_without_reordering_keeps_the_order_of_segments_and_with_it_does_not() {
    for (reorder, keeps) in [(false, true), (true, false)] {
        let text = one_link(
            "duration = \"5s\"\nsample = false\nevents = [\"data-received\"]",
            &format!("rate = \"10Mbps\"\ndelay = \"10ms\"\njitter = \"5ms\"\nreorder = {reorder}"),
            "scheme = { name = \"fixed\", window = 20 }",
        );
        let record = record(&text);
        assert!(record.events.is_sorted_by_key(|event| event.time), "time runs backwards");
        let in_order = arrivals(&record, 0).windows(2).all(|pair| pair[0].2 < pair[1].2);
        assert!(record.flows[0].delivered_segments > 2_000);
        assert_eq!(in_order, keeps, "reorder = {reorder}");
    }
}

#[test]
fn jitter_adds_up_to_its_bound_and_no_more() {
    let text = one_link(
        "duration = \"20s\"\nsample = false",
        "rate = \"10Mbps\"\ndelay = \"10ms\"\njitter = \"4ms\"",
        "scheme = \"fixed\"\nrate = \"0.5Mbps\"",
    );
    let delay = record(&text).flows[0].full_delay;
    // 21.0176 ms to 21.0192 ms without jitter, U(0, 4 ms) each way on packets that do not meet: mean 4 ms more.
    assert!(delay.min.as_nanos() >= 21_017_600 && delay.max.as_nanos() < 29_019_200, "{delay:?}");
    assert!((delay.mean.as_millis_f64() - 25.019).abs() < 0.25, "{delay:?}");
}

#[test]
fn no_event_is_left_over_after_the_end() {
    let mut world = World::new(&plan(&one_link("duration = \"1s\"", TEN, "scheme = \"fixed\"")), Seed(1));
    world.run();
    assert!(world.is_over() && world.now() == millis(1_000));
    let before = world.packet_hops();
    world.step_until(millis(5_000));
    assert_eq!((world.packet_hops(), world.now()), (before, millis(1_000)));
}

#[test]
fn a_silent_outage_loses_interests_that_routing_would_have_refused() {
    // Interests go on towards what is off: no Nack comes back, and they are dropped in front of the link.
    let text = |silent: &str| {
        format!(
            "format = 1\n[scenario]\nname = \"silent\"\nduration = \"4s\"\n[topology]\nbuiltin = \"linear\"\nrouters = 2\n\
             link = {{ rate = \"10Mbps\", delay = \"1ms\" }}\n[[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\n\
             prefix = \"/a\"\nscheme = {{ name = \"catchunks-aimd\" }}\n[[event]]\nat = \"1s\"\nnode = \"p1\"\n\
             state = \"down\"\n{silent}[[event]]\nat = \"2s\"\nnode = \"p1\"\nstate = \"up\"\n"
        )
    };
    let [reported, silent] = ["", "silent = true\n"].map(|silent| record(&text(silent)));
    assert!(reported.flows[0].nacks > 0 && silent.flows[0].nacks == 0);
    let towards = |record: &RunRecord| {
        let link = record.links.iter().find(|link| link.from == "r2" && link.to == "p1");
        link.expect("the last link").dropped_packets
    };
    assert_eq!(towards(&reported), 0);
    assert!(towards(&silent) > 0 && silent.flows[0].timeouts > 0);
    assert!(silent.flows[0].delivered_segments > 1_500, "it goes on afterwards: {:?}", silent.flows[0]);
}

#[test]
fn a_link_is_at_most_full_also_when_the_run_ends_while_it_sends() {
    for (rate, duration, fullest) in
        [("1kbps", "100s", 1.0), ("1kbps", "1ns", 0.0), ("10Mbps", "1ns", 0.0), ("3Mbps", "777us", 1.0)]
    {
        let scenario = format!("duration = \"{duration}\"\nsample = \"10ms\"");
        let link = format!("rate = \"{rate}\"\ndelay = \"0ms\"\nqueue = {{ limit = \"1000pkt\" }}");
        let text = one_link(&scenario, &link, "scheme = { name = \"fixed\", window = 1000.0 }");
        let record = record(&text);
        for link in &record.links {
            let utilisation = measures::utilisation(link, record.ended).expect("it lasts");
            assert!((0.0..=1.0).contains(&utilisation), "{rate}, {duration}: {utilisation}");
        }
        // 1000 Interests are sent one after the other.
        let forward = measures::utilisation(&record.links[0], record.ended).expect("it lasts");
        assert!((forward - fullest).abs() < 0.01, "{rate}, {duration}: {forward}");
        let samples = &record.link_samples;
        assert!(
            samples.sent_bytes.iter().zip(&samples.time).all(|(bytes, time)| {
                let bits = u128::from(record.links[0].rate.as_bps()) * u128::from(time.as_nanos());
                u128::from(*bytes) * 8_000_000_000 <= bits
            }),
            "{rate}, {duration}"
        );
    }
}
