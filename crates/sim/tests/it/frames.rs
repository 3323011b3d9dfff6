//! Links with an mtu: packets as several frames, against closed forms.

use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::{LinkRecord, RunRecord};
use tidegate_core::rng::Seed;
use tidegate_sim::run::run;
use tidegate_sim::world::World;

use crate::{arrivals, plan, record};

/// A scenario on one link from `c1` to `p1`; Data is 36 bytes more than its payload from segment 256 on, and
/// 35 before.
fn one_link(scenario: &str, link: &str, payload: u32, flow: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"frames\"\n{scenario}\n[[node]]\nname = \"c1\"\n[[node]]\n\
         name = \"p1\"\n[[link]]\nends = [\"c1\", \"p1\"]\n{link}\n[[flow]]\nconsumer = \"c1\"\n\
         producer = \"p1\"\nprefix = \"/ab\"\npayload = \"{payload}B\"\n{flow}\n"
    )
}

/// What comes back of one Data of 4000 bytes.
fn one_data(link: &str, more: &str) -> RunRecord {
    let flow = format!("scheme = \"fixed\"\nsegments = 1\n{more}");
    record(&one_link("duration = \"300ms\"\nevents = [\"data-received\", \"lost\"]", link, 3965, &flow))
}

const TEN: &str = "rate = \"10Mbps\"\ndelay = \"10ms\"\nmtu = \"1500B\"";

fn counts(link: &LinkRecord) -> [u64; 5] {
    [link.sent_packets, link.delivered_packets, link.lost_packets, link.sent_frames, link.lost_frames]
}

#[test]
fn a_packet_of_three_frames_arrives_with_the_last_of_them() {
    // Interest 23 B: 18.4 us; Data in frames of 1500, 1500 and 1048 + 24 B: 3.2576 ms; twice 10 ms.
    let record = one_data(TEN, "");
    assert_eq!(arrivals(&record, 0), [(23_276_000, 23_276_000, 0)]);
    assert_eq!(counts(&record.links[0]), [1, 1, 0, 1, 0]);
    assert_eq!(counts(&record.links[1]), [1, 1, 0, 3, 0]);
    assert_eq!(record.links[1].sent_bytes.get(), 4000 + 3 * 24);
    assert_eq!(record.packet_hops, 2);
}

#[test]
fn a_packet_is_lost_with_any_of_its_frames() {
    for pattern in ["100", "010", "001", "110", "111"] {
        let loss = format!("{TEN}\nbackward = {{ loss = {{ model = \"trace\", pattern = \"{pattern}\" }} }}");
        let record = one_data(&loss, "stop = \"100ms\"");
        let data = &record.links[1];
        let (sent, lost) = (data.sent_packets, pattern.matches('1').count() as u64);
        assert!(sent > 0, "{pattern}");
        assert_eq!(counts(data), [sent, 0, sent, 3 * sent, lost * sent], "{pattern}");
        let reported = record.events.iter().filter(|event| matches!(event.event, Event::Lost { .. })).count();
        assert_eq!((reported as u64, arrivals(&record, 0).len()), (sent, 0), "{pattern}");
    }
    // Interests are one frame: a pattern over them and not over thirds of them.
    let loss = format!("{TEN}\nforward = {{ loss = {{ model = \"trace\", pattern = \"01\" }} }}");
    assert_eq!(counts(&one_data(&loss, "").links[0]), [1, 1, 0, 1, 0]);
}

#[test]
fn independent_loss_of_frames_takes_its_power_of_packets() {
    const FRAME_LOSS: f64 = 0.02;
    for (payload, frames) in [(1464, 1), (1466, 2), (2952 - 36, 2), (2953 - 35, 3), (8800 - 36, 6)] {
        let link = format!(
            "rate = \"100Mbps\"\ndelay = \"1ms\"\nmtu = \"1500B\"\n\
             backward = {{ loss = {{ model = \"bernoulli\", probability = {FRAME_LOSS} }} }}"
        );
        let flow = "scheme = \"fixed\"\nrate = \"20Mbps\"";
        let record = record(&one_link("duration = \"30s\"\nsample = false", &link, payload, flow));
        let data = &record.links[1];
        let sigmas = |lost: u64, sent: u64, share: f64| {
            (lost as f64 - share * sent as f64) / (sent as f64 * share * (1.0 - share)).sqrt()
        };
        let packets = sigmas(data.lost_packets, data.sent_packets, 1.0 - (1.0 - FRAME_LOSS).powi(frames));
        let parts = sigmas(data.lost_frames, data.sent_frames, FRAME_LOSS);
        assert!(data.sent_packets > 7_000, "{data:?}");
        assert!(packets.abs() < 4.0 && parts.abs() < 4.0, "{payload}: {packets}, {parts} sigma");
        assert_eq!(data.sent_frames, data.sent_packets * frames as u64, "{payload}: {data:?}");
    }
}

#[test]
fn a_full_link_carries_what_the_headers_leave_of_its_frames() {
    // From segment 256 on a Data of 2952 bytes fills two frames: 1476 of 1500 bytes each.
    let flow = "scheme = { name = \"fixed\", window = 30 }";
    let link = format!("{TEN}\nqueue = {{ limit = \"100pkt\" }}");
    let record = record(&one_link("duration = \"60s\"\nsample = \"1s\"", &link, 2952 - 36, flow));
    let data = &record.links[1];
    let (seconds, bytes) = (record.ended.as_secs_f64(), data.sent_bytes.get() as f64);
    assert!((bytes * 8.0 / seconds / 10e6 - 1.0).abs() < 1e-3, "{data:?}");
    let goodput = record.flows[0].delivered_payload.get() as f64 * 8.0 / (seconds - 0.020);
    assert!((goodput / (10e6 * 2916.0 / 3000.0) - 1.0).abs() < 1e-3, "{goodput}");
    assert_eq!(record.link_samples.sent_bytes.len(), 2 * 60);
    let sampled = record.link_samples.sent_bytes[2 * 59 - 1] as f64 * 8.0 / 59.0;
    assert!((sampled / 10e6 - 1.0).abs() < 2e-3, "{sampled}");
}

#[test]
fn an_mtu_that_nothing_exceeds_changes_nothing() {
    let link = "rate = \"10Mbps\"\ndelay = \"5ms\"\njitter = \"2ms\"\nreorder = true\nqueue = { limit = \"20pkt\" }\n\
                loss = { model = \"gilbert-elliott\", to_bad = 0.01, to_good = 0.3 }";
    let of = |link: &str| {
        let scenario = "duration = \"5s\"\nevents = [\"lost\", \"data-received\"]";
        run(&plan(&one_link(scenario, link, 1214, "scheme = \"catchunks-cubic\"")), Seed(4))
    };
    let without = of(link);
    assert!(without.links[1].lost_packets > 10);
    assert!(without.links.iter().all(|link| link.sent_frames == link.sent_packets));
    assert!(without.links.iter().all(|link| link.lost_frames == link.lost_packets));
    assert!(of(&format!("{link}\nmtu = \"1250B\"")) == without);
    assert!(of(&format!("{link}\nmtu = \"1248B\"")) != without);
}

#[test]
fn a_link_that_goes_down_loses_the_frames_that_are_not_there() {
    // The first frame of the Data is there at 10.0184 + 1.2 + 10 = 21.2184 ms, the second 1.2 ms later.
    let down = "stop = \"20ms\"\n[[event]]\nat = \"22ms\"\nlink = \"c1-p1\"\nstate = \"down\"";
    let record = one_data(TEN, down);
    assert_eq!(counts(&record.links[1]), [1, 0, 1, 3, 2]);
    let reported = record.events.iter().filter(|event| matches!(event.event, Event::Lost { .. })).count();
    assert_eq!(reported, 1);
}

#[test]
fn a_packet_whose_frames_are_half_a_second_apart_is_given_up() {
    // 1500 bytes take 500 ms at 24 kbit/s.
    for (rate, delivered) in [("24.1kbps", 1), ("24kbps", 0)] {
        let link =
            format!("rate = \"1Mbps\"\ndelay = \"1ms\"\nmtu = \"1500B\"\nbackward = {{ rate = \"{rate}\" }}");
        let flow = "scheme = \"fixed\"\nsegments = 1\nstop = \"1ms\"";
        let record = record(&one_link("duration = \"3s\"", &link, 2952 - 35, flow));
        assert_eq!(counts(&record.links[1]), [1, delivered, 1 - delivered, 2, 0], "{rate}");
    }
}

#[test]
fn frames_that_overtake_each_other_still_make_their_packets() {
    for reorder in [false, true] {
        let link =
            format!("{TEN}\njitter = \"30ms\"\nreorder = {reorder}\nqueue = {{ limit = \"1000pkt\" }}");
        let flow = "scheme = { name = \"fixed\", window = 50 }\nsegments = 2000";
        let events = "duration = \"60s\"\nevents = [\"data-received\"]";
        let record = record(&one_link(events, &link, 3965, flow));
        let data = &record.links[1];
        assert_eq!((data.lost_packets, data.delivered_packets), (0, data.sent_packets));
        assert_eq!(data.sent_frames, 3 * data.sent_packets);
        assert_eq!(record.flows[0].delivered_segments, 2000);
        let in_order = arrivals(&record, 0).windows(2).all(|pair| pair[0].2 < pair[1].2);
        assert_eq!(in_order, !reorder);
    }
}

/// Constant Data over a link that loses frames backward; what a link service makes of it.
fn lossy(service: &str, loss: f64, more: &str) -> RunRecord {
    let link = format!(
        "rate = \"100Mbps\"\ndelay = \"2ms\"\nmtu = \"1500B\"\nlink_service = {service}\nqueue = {{ limit = \
         \"1000pkt\" }}\nbackward = {{ loss = {{ model = \"bernoulli\", probability = {loss} }} }}"
    );
    let flow = format!("scheme = \"fixed\"\nrate = \"8Mbps\"\n{more}");
    record(&one_link("duration = \"40s\"\nsample = false\nevents = [\"lost\"]", &link, 1000, &flow))
}

#[test]
fn a_link_service_loses_a_packet_only_when_every_transmission_of_its_frame_is_lost() {
    const LOSS: f64 = 0.3;
    for (service, transmissions) in [
        ("{ scheme = \"belrp\", retries = 0 }", 1),
        ("{ scheme = \"belrp\", retries = 1 }", 2),
        ("\"belrp\"", 4),
        ("{ scheme = \"wldr\", retries = 1, buffer = 200 }", 2),
        ("{ scheme = \"wldr\", buffer = 200 }", 4),
    ] {
        let record = lossy(service, LOSS, "stop = \"39s\"");
        let data = &record.links[1];
        let (sent, share) = (data.sent_packets as f64, LOSS.powi(transmissions));
        let sigmas = (data.lost_packets as f64 - share * sent) / (sent * share * (1.0 - share)).sqrt();
        assert!(sent > 25_000.0 && sigmas.abs() < 4.0, "{service}: {} of {sent}", data.lost_packets);
        let reported = record.events.iter().filter(|event| matches!(event.event, Event::Lost { .. })).count();
        assert_eq!(reported as u64, data.lost_packets + record.links[0].lost_packets, "{service}");
        // Every loss but the last of each packet is followed by one transmission more.
        let again = sent * (1..transmissions).map(|number| LOSS.powi(number)).sum::<f64>();
        let resent = data.resent_frames as f64;
        assert!((resent - again).abs() <= 0.03 * sent, "{service}: {resent} resent, {again} expected");
        // Not one Interest was lost, and no more of them were needed than there were Data.
        assert_eq!((record.links[0].lost_packets, record.links[0].lost_frames), (0, 0));
    }
}

#[test]
fn frames_of_a_link_service_carry_its_labels_and_acks() {
    let record = lossy("\"wldr\"", 0.0, "");
    // Data of 1036 bytes (1035 up to segment 255): Fragment 4, Sequence 10, label 6 and the LpPacket's 4.
    let data = &record.links[1];
    let expected = data.sent_packets * (1036 + 24) - 256;
    assert_eq!((data.sent_bytes.get(), data.sent_frames), (expected, data.sent_packets));
    // An acknowledgement for every frame: on Interests, or alone after 5 ms.
    let record = lossy("\"belrp\"", 0.0, "");
    let [interests, data] = [&record.links[0], &record.links[1]];
    assert_eq!((data.lost_packets, data.resent_frames, interests.resent_frames), (0, 0, 0));
    assert_eq!(interests.sent_frames, interests.sent_packets);
    let expected = data.sent_packets * (1036 + 30) - 256;
    let acks = data.sent_bytes.get() - expected;
    assert_eq!(acks % 12, 0);
    assert!(acks / 12 <= interests.sent_frames && acks / 12 + 3 >= interests.sent_frames, "{acks}");
}

#[test]
fn acknowledgements_go_alone_when_nothing_goes_their_way() {
    // One Interest and its Data; 5 ms after it the consumer acknowledges, and that is all.
    let link = format!("{TEN}\nlink_service = \"belrp\"");
    let record = one_data(&link, "");
    let [interests, data] = [&record.links[0], &record.links[1]];
    // Data in three frames; those and the Interest are acknowledged alone: 4 and 12 bytes for each.
    assert_eq!((data.sent_frames, data.sent_packets, data.resent_frames), (3, 1, 0));
    assert_eq!((interests.sent_frames, interests.sent_packets), (2, 1));
    assert_eq!(interests.sent_bytes.get(), (23 + 2 + 10 + 12 + 2) + (4 + 3 * 12));
    assert_eq!(data.sent_bytes.get(), 4000 + 3 * (24 + 12) + 12);
}

#[test]
fn wldr_never_finds_the_last_frame_before_a_pause_and_belrp_does_after_its_timeout() {
    // Without a sample the timeout is 1 s: a packet of several frames is given up before that by who puts them
    // together.
    for (service, payload, delivered) in
        [("", 1000, 0), ("\"wldr\"", 1000, 0), ("\"belrp\"", 1000, 1), ("\"belrp\"", 3965, 0)]
    {
        let frames = if payload > 1000 { 3 } else { 1 };
        let pattern = format!("{}1000000", "0".repeat(frames - 1));
        let loss = format!("backward = {{ loss = {{ model = \"trace\", pattern = {pattern:?} }} }}");
        let service = if service.is_empty() { String::new() } else { format!("link_service = {service}\n") };
        let flow = "scheme = \"fixed\"\nsegments = 1\nstop = \"100ms\"";
        let text = one_link("duration = \"2s\"", &format!("{TEN}\n{service}{loss}"), payload, flow);
        let record = record(&text);
        let data = &record.links[1];
        assert_eq!((data.sent_packets, data.delivered_packets), (1, delivered), "{service}{payload}");
    }
}

#[test]
fn a_link_service_goes_on_after_its_link_was_down() {
    // Data of 40 ms are on the wire when it goes down; with nothing sent again they are lost.
    let down = "[[event]]\nat = \"1s\"\nlink = \"c1-p1\"\nstate = \"down\"\n[[event]]\nat = \"1100ms\"\n\
                link = \"c1-p1\"\nstate = \"up\"";
    for (service, is_lost) in [("", true), ("link_service = \"belrp\"", false)] {
        let link = format!("rate = \"100Mbps\"\ndelay = \"40ms\"\n{service}");
        let flow = format!("scheme = \"fixed\"\nrate = \"8Mbps\"\n{down}");
        let record = record(&one_link("duration = \"4s\"", &link, 1000, &flow));
        let data = &record.links[1];
        assert_eq!(data.lost_packets >= 39, is_lost, "{service}: {data:?}");
        assert!(is_lost || data.resent_frames >= 39, "{data:?}");
    }
}

#[test]
fn a_link_service_that_gives_a_packet_up_does_not_take_it_off_the_wire() {
    // Nothing is lost, but frames overtake each other, and acknowledgements come out of order.
    for retries in [0, 3] {
        let link = format!(
            "rate = \"100Mbps\"\ndelay = \"2ms\"\njitter = \"30ms\"\nreorder = true\nlink_service = \
             {{ scheme = \"belrp\", retries = {retries} }}\nqueue = {{ limit = \"1000pkt\" }}"
        );
        let flow = "scheme = \"fixed\"\nrate = \"8Mbps\"\nstop = \"9s\"";
        let record = record(&one_link("duration = \"10s\"\nsample = false", &link, 1000, flow));
        let lost: Vec<u64> = record.links.iter().map(|link| link.lost_packets).collect();
        assert_eq!(lost, [0, 0], "{retries} retries");
    }
}

#[test]
fn the_packets_that_a_link_loses_are_reported_by_their_names() {
    // No Interest is sent twice, so that a name is lost or received.
    for service in ["", "link_service = { scheme = \"wldr\", retries = 1, buffer = 20 }\n"] {
        let link =
            format!("{TEN}\n{service}backward = {{ loss = {{ model = \"bernoulli\", probability = 0.2 }} }}");
        let flow = "scheme = \"fixed\"\nshell = { kind = \"ndnsim\", retry_limit = 0 }\nrate = \"2Mbps\"\nstop = \"19s\"";
        let events = "duration = \"20s\"\nsample = false\nevents = [\"lost\", \"data-received\"]";
        let record = record(&one_link(events, &link, 3965, flow));
        let lost: Vec<u32> = record
            .events
            .iter()
            .filter_map(|event| match event.event {
                Event::Lost { name, .. } => Some(name.segment.0),
                _ => None,
            })
            .collect();
        assert!(lost.len() as u64 == record.links[1].lost_packets && lost.len() > 20, "{lost:?}");
        let received = arrivals(&record, 0);
        let both: Vec<_> = received.iter().filter(|(.., segment)| lost.contains(segment)).collect();
        assert!(both.is_empty(), "{service}: {} of {} lost arrived: {both:?}", both.len(), lost.len());
    }
}

#[test]
fn a_link_that_goes_down_forgets_what_was_to_be_sent_again() {
    // At 240 kbit/s frames that are to be sent again wait while others are sent.
    let link = "rate = \"240kbps\"\ndelay = \"10ms\"\nmtu = \"1500B\"\nlink_service = \"belrp\"\nqueue = { limit = \
                \"20pkt\" }\nbackward = { loss = { model = \"bernoulli\", probability = 0.4 } }";
    let mut down = String::new();
    for at in 1..15 {
        down += &format!(
            "[[event]]\nat = \"{at}s\"\nlink = \"c1-p1\"\nstate = \"down\"\n[[event]]\nat = \"{at}.1s\"\nlink = \
             \"c1-p1\"\nstate = \"up\"\n"
        );
    }
    let flow = format!("scheme = {{ name = \"fixed\", window = 10 }}\nstop = \"16s\"\n{down}");
    let text = one_link("duration = \"80s\"\nsample = false", link, 3965, &flow);
    let mut world = World::new(&plan(&text), Seed(1));
    world.run();
    assert!(world.ledgers().iter().all(|ledger| ledger.in_flight == 0), "{:?}", world.ledgers());
}

#[test]
fn a_packet_that_is_lost_while_another_is_sent_is_reported_at_once() {
    // WLDR keeps one frame: that of the first Data, which the link lost, goes when the second is sent. That one arrives
    // after 12 ms at least.
    let link = format!(
        "{TEN}\nlink_service = {{ scheme = \"wldr\", buffer = 1 }}\nbackward = {{ loss = {{ model = \"trace\", pattern = \
         \"1000000\" }} }}"
    );
    let flow = "scheme = { name = \"fixed\", window = 2 }\nsegments = 2\nstop = \"20ms\"";
    let events = "duration = \"300ms\"\nevents = [\"lost\", \"data-received\"]";
    let record = record(&one_link(events, &link, 1400, flow));
    let lost = record.events.iter().find(|event| matches!(event.event, Event::Lost { .. })).expect("told");
    let [(arrived, ..)] = arrivals(&record, 0)[..] else { panic!("one of two arrives") };
    assert!(lost.time.as_nanos() + 11_000_000 < arrived, "{lost:?}, {arrived}");
}
