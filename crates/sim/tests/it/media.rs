//! Links on an 802.11 medium.

use tidegate_core::records::RunRecord;
use tidegate_core::rng::Seed;
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
    let (sum, most) = (shares.iter().sum::<f64>(), shares.iter().copied().fold(0.0, f64::max));
    assert!(sum < 1.1 * alone && sum > 0.7 * alone && most < 0.35 * sum, "{shares:?}, alone {alone}");
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
        world.step_until(world.now() + tidegate_core::units::Span::from_millis(1));
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
