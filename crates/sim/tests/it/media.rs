//! Links on an 802.11 medium.

use tidegate_core::link::medium::{Access, Frame, Medium, MediumSetup};
use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};
use tidegate_results::measures;
use tidegate_sim::run::run;
use tidegate_sim::world::World;

use crate::{arrivals, plan, record};

/// Consumers `c1`, `c2`, ... that reach `p1` over one medium.
fn cell(consumers: usize, medium: &str, link: &str, flow: &str, more: &str) -> String {
    let mut text = format!(
        "format = 1\n[scenario]\nname = \"cell\"\nduration = \"4s\"\nevents = [\"data-received\"]\n\
         [medium.air]\n{medium}\n[[node]]\nname = \"p1\"\n"
    );
    for number in 1..=consumers {
        text += &format!(
            "[[node]]\nname = \"c{number}\"\n[[link]]\nends = [\"c{number}\", \"p1\"]\nmedium = \"air\"\n{link}\n\
             [[flow]]\nconsumer = \"c{number}\"\nproducer = \"p1\"\nprefix = \"/{number}\"\n{flow}\n"
        );
    }
    text + more
}

fn goodput_mbps(record: &RunRecord, flow: usize) -> f64 {
    record.flows[flow].delivered_payload.get() as f64 * 8.0 / record.ended.as_secs_f64() / 1e6
}

const WINDOW: &str = "scheme = { name = \"fixed\", window = 20 }\npayload = \"1460B\"";

#[test]
fn an_exchange_takes_the_times_of_80211() {
    // Interest of 22 B: 36 us of preamble and 3 symbols of 4 us for 16 + 8 * 60 + 6 bits; SIFS and ACK 44 us. The
    // Data of 1035 B comes when the medium was just busy: AIFS of 43 us, 0 to 15 slots, 36 us, 37 symbols, 44 us.
    let flow = "scheme = \"fixed\"\nsegments = 1\npayload = \"1000B\"";
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..40 {
        let text = cell(1, "", "", flow, "");
        let record = run(&plan(&text), Seed(seed));
        let [(at, ..)] = arrivals(&record, 0)[..] else { panic!("one Data") };
        let backoff = (at - (36 + 12 + 44 + 43 + 36 + 37 * 4 + 44) * 1000) as f64 / 9_000.0;
        assert!(backoff.fract() == 0.0 && (0.0..=15.0).contains(&backoff), "{backoff}");
        seen.insert(backoff as u32);
    }
    assert!(seen.len() > 10, "{seen:?}");
}

#[test]
fn interests_and_data_of_all_links_share_one_medium() {
    let alone = goodput_mbps(&record(&cell(1, "", "", WINDOW, "")), 0);
    // A Data of 1496 B with its share of DIFS, backoff, SIFS and ACK takes 390 us without an Interest, 30 Mbit/s.
    assert!((18.0..29.0).contains(&alone), "{alone}");
    let shared = record(&cell(5, "", "", WINDOW, ""));
    let shares: Vec<f64> = (0..5).map(|flow| goodput_mbps(&shared, flow)).collect();
    let (sum, max) = (shares.iter().sum::<f64>(), shares.iter().copied().fold(0.0, f64::max));
    assert!(sum < 1.1 * alone && sum > 0.7 * alone && max < 0.35 * sum, "{shares:?}, alone {alone}");
}

#[test]
fn a_faster_phy_and_aggregates_carry_more() {
    let of = |medium: &str| goodput_mbps(&record(&cell(1, medium, "", WINDOW, "")), 0);
    let (usual, slow, together) = (of(""), of("mcs = 0"), of("aggregate = \"65535B\""));
    assert!(slow < 6.5 && usual > 3.0 * slow, "{usual} {slow}");
    assert!(together > 1.5 * usual && together < 58.5, "{together} {usual}");
}

#[test]
fn packets_go_in_frames_of_the_medium_and_queues_wait_in_front_of_the_radio() {
    let flow = "scheme = { name = \"fixed\", window = 200 }\npayload = \"8000B\"";
    let record = record(&cell(1, "", "queue = { limit = \"50pkt\" }", flow, ""));
    let data = &record.links[1];
    assert_eq!(data.sent_frames.div_ceil(data.sent_packets), 6);
    // The radio has one frame; 50 packets wait, and the others of the window do not fit.
    assert_eq!(data.peak_queue_packets, 50);
    assert!(data.dropped_packets > 0);
}

#[test]
fn small_frames_fill_an_aggregate_as_large_ones_do() {
    // Interests of 22 B, while the producer is slow to answer. Each takes 4 + 60 B of an aggregate, and a Block ACK
    // answers 64.
    for (aggregate, max) in [("1600B", 25), ("65535B", 64)] {
        let flow =
            "scheme = { name = \"fixed\", window = 128 }\nsegments = 128\nprocessing = { time = \"500ms\" }";
        let text =
            cell(1, &format!("aggregate = {aggregate:?}"), "queue = { limit = \"1000pkt\" }", flow, "");
        let mut world = World::new(&plan(&text), Seed(1));
        world.step_until(Time::ZERO + Span::from_millis(400));
        let airtime = world.airtimes()[0];
        assert_eq!(airtime.delivered, 128);
        // All are asked for before the first slot begins.
        assert_eq!(airtime.transmissions, 128_u64.div_ceil(max), "{aggregate}: {airtime:?}");
    }
}

#[test]
fn a_saturated_cell_is_full_by_its_airtime_while_each_direction_is_far_from_it() {
    let record = record(&cell(10, "", "", WINDOW, ""));
    let [medium] = &record.media[..] else { panic!("one medium") };
    let airtime = measures::airtime(medium, record.ended).expect("it lasts");
    // What is left is for backoffs.
    assert!((0.7..=1.0).contains(&airtime), "{medium:?}");
    assert!(medium.name == "air" && medium.collisions > 100, "{medium:?}");
    let busiest =
        record.links.iter().filter_map(|link| measures::utilisation(link, record.ended)).fold(0.0, f64::max);
    assert!(busiest < 0.2, "{busiest}");
    assert_eq!(measures::find("utilisation").and_then(|measure| (measure.of)(&record)), Some(airtime));
}

#[test]
fn the_airtime_of_a_short_run_counts_the_part_of_a_transmission_that_lies_in_it() {
    for duration in ["1ns", "20us", "80us"] {
        let record = record(&cell(2, "", "", WINDOW, "").replace("4s", duration));
        let busy = record.media[0].busy;
        assert!(
            busy <= record.ended.since(Time::ZERO) && record.media[0].transmissions > 0,
            "{duration}: {busy}"
        );
        assert!(record.links.iter().all(|link| link.sent_bytes.get() == 0), "{duration}");
    }
}

#[test]
fn what_a_medium_gives_up_is_lost() {
    // Twenty senders that try once: every collision is a loss.
    let text = cell(20, "attempts = 1\ncw_min = 3\ncw_max = 3", "", WINDOW, "");
    let plan = plan(&text);
    let mut world = World::new(&plan, Seed(1));
    world.run();
    let airtime = world.airtimes()[0];
    let lost: u64 = world.ledgers().iter().map(|ledger| ledger.lost).sum();
    assert!(airtime.collisions > 100 && airtime.given_up >= 2 * airtime.collisions, "{airtime:?}");
    assert_eq!(lost, airtime.given_up);
}

#[test]
fn a_link_of_a_medium_can_go_down_and_up() {
    let event =
        |at: &str, state: &str| format!("[[event]]\nat = {at:?}\nlink = \"c1-p1\"\nstate = {state:?}\n");
    let text = cell(2, "", "", WINDOW, &(event("1s", "down") + &event("2s", "up")));
    let plan = plan(&text);
    let mut world = World::new(&plan, Seed(1));
    while !world.is_over() {
        world.step_until(world.now() + Span::from_millis(1));
        assert!(world.ledgers().iter().all(|ledger| ledger.balances()), "{:?}", world.ledgers());
    }
    let record = run(&plan, Seed(1));
    let times: Vec<u64> = arrivals(&record, 0).iter().map(|(at, ..)| at / 1_000_000).collect();
    assert!(times.iter().all(|at| !(1_001..2_000).contains(at)));
    assert!(times.iter().filter(|at| **at >= 3_500).count() > 100, "it goes on");
    assert!(
        arrivals(&record, 1).iter().filter(|(at, ..)| (1_001_000_000..2_000_000_000).contains(at)).count()
            > 500
    );
}

#[test]
fn links_of_one_medium_name_it_and_have_no_rate_of_their_own() {
    let refused = |text: &str| {
        let schemes = tidegate_schemes::SCHEMES;
        tidegate_sim::scenario::parse("cell.toml", text, &[], schemes).expect_err("refused").to_string()
    };
    let of = |medium: &str, link: &str| refused(&cell(1, medium, link, WINDOW, ""));
    assert!(of("", "rate = \"10Mbps\"").contains("a link on a medium has the rate of its MCS"));
    assert!(of("", "mtu = \"9000B\"").contains("2304"));
    assert!(of("mcs = 40", "").contains("mcs"));
    assert!(of("basic_rate = \"11Mbps\"", "").contains("basic_rate"));
    assert!(of("access = \"dcf\"\naifsn = 2", "").contains("edca"));
    let unknown = cell(1, "", "", WINDOW, "").replace("medium = \"air\"", "medium = \"aire\"");
    assert!(refused(&unknown).contains("air"));
    let twice =
        cell(1, "", "", WINDOW, "[[link]]\nname = \"b\"\nends = [\"c1\", \"p1\"]\nmedium = \"air\"\n");
    assert!(refused(&twice).contains("two links"), "{}", refused(&twice));
    let event = cell(1, "", "", WINDOW, "[[event]]\nat = \"1s\"\nlink = \"c1-p1\"\nrate = \"1Mbps\"\n");
    assert!(refused(&event).contains("MCS"));
}

/// Frames delivered per second by `radios` radios that always have one of `size` bytes to send.
fn saturated(setup: &MediumSetup, radios: usize, size: u64, seconds: u64, seed: u64) -> f64 {
    let stream = |name: &str| Rng::stream(Seed(seed), name);
    let mut medium = Medium::new(setup, radios, stream).expect("a set-up without faults");
    let frame = |from: usize| Frame { to: (from + 1) % radios, size: ByteCount::new(size), tag: 0 };
    (0..radios).for_each(|from| medium.offer(Time::ZERO, from, frame(from)));
    let mut reported = Vec::new();
    while let Some(at) = medium.next_event().filter(|at| at.since(Time::ZERO) < Span::from_secs(seconds)) {
        medium.on_event(at, &mut reported);
        reported.drain(..).for_each(|sent| medium.offer(at, sent.from, frame(sent.from)));
    }
    medium.airtime().delivered as f64 / seconds as f64
}

#[test]
fn radios_of_a_run_that_always_have_packets_carry_what_their_medium_does() {
    // Both ways Interests at a rate far above what the medium carries; with no packet above 47 B at MCS 6, Interests
    // and Data alike take three symbols.
    for (access, set) in [("dcf", Access::Dcf), ("edca", Access::Edca { aifsn: 3 })] {
        for stations in [1, 4, 9] {
            let setup = MediumSetup { access: set, ..Default::default() };
            let flow = "scheme = { name = \"fixed\", window = 100000 }\npayload = \"1B\"\nrate = \"40kbps\"";
            let back: String = (1..=stations)
                .map(|number| {
                    format!("[[flow]]\nconsumer = \"p1\"\nproducer = \"c{number}\"\nprefix = \"/b{number}\"\n{flow}\n")
                })
                .collect();
            let text = cell(stations, &format!("access = {access:?}"), "", flow, &back);
            let plan = plan(&text.replace("4s", "3s"));
            let mut world = World::new(&plan, Seed(1));
            world.run();
            let (airtime, record) = (world.airtimes()[0], world.into_record(&plan, Seed(1)));
            let ours = airtime.delivered as f64 / 3.0;
            let alone = saturated(&setup, stations + 1, 40, 3, 101);
            assert!(
                (ours / alone - 1.0).abs() < 0.01,
                "{access}, {stations} stations: {ours}, alone {alone}"
            );
            let sent: u64 = record.links.iter().map(|link| link.sent_frames - link.lost_frames).sum();
            assert!(sent.abs_diff(airtime.delivered) <= 2 * stations as u64, "{sent}: {airtime:?}");
        }
    }
}

#[test]
fn a_rate_takes_a_link_off_the_medium_of_all_links() {
    let text = |bottleneck: &str| {
        format!(
            "format = 1\n[scenario]\nname = \"d\"\nduration = \"1s\"\n[medium.air]\n[topology]\nbuiltin = \"dumbbell\"\n\
             pairs = 1\nlink = {{ medium = \"air\" }}\nbottleneck = {{ {bottleneck} }}\n[[flow]]\nconsumer = \"c1\"\nproducer \
             = \"p1\"\nprefix = \"/a\"\nscheme = \"fixed\"\n"
        )
    };
    let wired = plan(&text("rate = \"10Mbps\", delay = \"5ms\""));
    let on_air: Vec<bool> = wired.links.iter().map(|link| link.medium.is_some()).collect();
    assert_eq!(on_air.iter().filter(|on| **on).count() + 1, on_air.len(), "{on_air:?}");
    assert!(plan(&text("delay = \"5ms\"")).links.iter().all(|link| link.medium.is_some()));
    let schemes = tidegate_schemes::SCHEMES;
    let refused = |text: &str| {
        tidegate_sim::scenario::parse("d.toml", text, &[], schemes).expect_err("refused").to_string()
    };
    assert!(refused(&text("forward = { rate = \"10Mbps\" }, delay = \"5ms\"")).contains("rate"));
    let forward = "medium = \"air\", forward = { rate = \"10Mbps\" }";
    assert!(refused(&text(forward)).contains("a link on a medium has the rate of its MCS"));
    let layers = text("delay = \"5ms\"").replace("link = { ", "link = { mtu = \"9000B\", ");
    assert!(refused(&layers).contains("2304"));
    let layers = text("mtu = \"9000B\"");
    assert!(refused(&layers).contains("2304"));
}

#[test]
fn every_key_of_a_medium_reaches_its_set_up() {
    let setup = |keys: &str| plan(&cell(1, keys, "", WINDOW, "")).media[0].setup.clone();
    let usual = MediumSetup { access: Access::Edca { aifsn: 3 }, ..Default::default() };
    assert_eq!(setup(""), usual);
    let keys = "mcs = 9\nwidth = \"40MHz\"\nshort_guard = true\nbasic_rate = \"12Mbps\"\naifsn = 5\ncw_min = 7\n\
                cw_max = 127\nattempts = 4\nslot = \"20us\"\nsifs = \"10us\"\noverhead = \"34B\"\naggregate = \
                \"8000B\"";
    let all = MediumSetup {
        mcs: 9,
        width_mhz: 40,
        short_guard: true,
        basic_rate: BitRate::from_bps(12_000_000),
        access: Access::Edca { aifsn: 5 },
        cw_min: 7,
        cw_max: 127,
        attempts: 4,
        slot: Span::from_micros(20),
        sifs: Span::from_micros(10),
        overhead: ByteCount::new(34),
        aggregate: Some(ByteCount::new(8_000)),
    };
    assert_eq!(setup(keys), all);
    assert_eq!(setup("access = \"dcf\"").access, Access::Dcf);
}

#[test]
fn a_chain_on_one_medium_sends_one_hop_after_the_other() {
    // Without backoffs: an Interest of 22 B takes 48 us, frames of 1500, 1500 and 83 + 20 B 248, 248 and 56 us; each
    // 44 us for its ACK. What answers waits for DIFS of 34 us; the router sends on when the third frame is there.
    let flow = "[[flow]]\nconsumer = \"c\"\nproducer = \"p\"\nprefix = \"/1\"\nscheme = \"fixed\"\nsegments = 1\n\
                payload = \"3000B\"";
    let text = format!(
        "format = 1\n[scenario]\nname = \"chain\"\nduration = \"1s\"\nevents = [\"data-received\"]\n[medium.air]\n\
         access = \"dcf\"\ncw_min = 0\ncw_max = 0\n[[node]]\nname = \"c\"\n[[node]]\nname = \"r\"\n[[node]]\nname = \"p\"\n\
         [[link]]\nends = [\"c\", \"r\"]\nmedium = \"air\"\n[[link]]\nends = [\"r\", \"p\"]\nmedium = \"air\"\n{flow}\n"
    );
    let record = record(&text);
    let hop = 3 * 34 + 2 * (248 + 44) + 56 + 44;
    let micros = (48 + 44) + (34 + 48 + 44) + 2 * hop;
    assert_eq!(arrivals(&record, 0), [(micros * 1000, micros * 1000, 0)]);
}
