//! BRF, whole, where something is in its way: full tables, other traffic, reordering, forged grants, queues.

use tidegate_core::context::Context;
use tidegate_core::ndn::gate::{Direction, FaceGate, GateVerdict};
use tidegate_core::ndn::packet::{Header, Kind};
use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_core::scheme::{RouterParts, Scheme};
use tidegate_schemes::SCHEMES;
use tidegate_sim::run;
use tidegate_sim::scenario as scenarios;

use crate::papers::brf::{FULL, GIVEN, flow, mbps, neck, run, scenario};
use crate::papers::runs::{goodput, runs};

#[test]
fn a_flow_that_finds_the_table_full_takes_nothing_from_the_queue_of_grants() {
    let flows = flow(0, "brf", 0) + &flow(1, "brf", 1000);
    let record = run(&scenario(", table_entries = 1", &[10; 2], "", &flows));
    let shares = [0, 1].map(|number| mbps(&record, number, [4.0, 10.0]));
    assert!((shares[0] / (GIVEN / 2.0) - 1.0).abs() < 0.01, "{shares:?}");
    assert_eq!(record.flows[0].retransmissions, 0);
    assert!(shares[1] > 0.9 * (FULL - shares[0]), "CUBIC has the rest: {shares:?}");
}

/// The link of the sender delays each frame by up to 30 ms, in any order.
fn reordering() -> String {
    let events: String = (0..6)
        .map(|step| {
            let rate = if step % 2 == 0 { 40 } else { 100 };
            format!("[[event]]\nat = \"{}ms\"\nlink = \"neck\"\nrate = \"{rate}Mbps\"\n", 2_000 + 300 * step)
        })
        .collect();
    scenario("", &[10], "", &(flow(0, "brf", 0) + &events))
        .replace("rate = \"1Gbps\"\n", "rate = \"1Gbps\"\njitter = \"30ms\"\nreorder = true\n")
        .replace("\"10s\"", "\"4s\"")
        .replace("[topology]", "events = [\"window-changed\"]\n[topology]")
}

#[test]
fn a_grant_that_was_overtaken_does_not_bring_the_old_rate_back() {
    let windows = |record: &RunRecord, between: [f64; 2]| -> Vec<f64> {
        let window = |event: &tidegate_core::observe::records::EventRecord| match event.event {
            Event::WindowChanged { window, .. } => Some((event.time.as_secs_f64(), window)),
            _ => None,
        };
        let all = record.events.iter().filter_map(window);
        all.filter(|(at, _)| (between[0]..between[1]).contains(at)).map(|(_, window)| window).collect()
    };
    for record in runs(&reordering(), 1..=3) {
        let before = windows(&record, [1.5, 2.0]).into_iter().fold(0.0, f64::max);
        for fall in [2.0, 2.6, 3.2] {
            let after = windows(&record, [fall, fall + 0.3]);
            let fallen = after.iter().position(|window| *window < 0.6 * before).expect("it was told");
            let risen = after[fallen..].iter().filter(|window| **window > 0.7 * before).count();
            assert_eq!(risen, 0, "after {fall} s: {after:?}");
        }
    }
}

/// Two flows of different round trips, the second admitted at once; how long there are more than 5 ms of queue, and
/// whether the switch was told or found out.
fn standing(control: &str) -> (f64, RunRecord) {
    let flows = flow(1, "brf", 0) + &flow(0, "brf", 2000);
    let settings = format!(", make_before_break = false, control = \"{control}\"");
    let text = scenario(&settings, &[10, 50], "", &flows).replace("\"10s\"", "\"6s\"");
    let record = run(&text.replace("[topology]", "events = [\"state-changed\", \"worked\"]\n[topology]"));
    let link = record.links.iter().position(|link| link.from == "R0" && link.to == "R1").expect("there");
    let samples = &record.link_samples;
    let is_long = |row: &usize| samples.link[*row] as usize == link && samples.queue_bytes[*row] > 62_500;
    let rows = (0..samples.time.len()).filter(is_long).count();
    (rows as f64 * 0.01, record)
}

#[test]
fn a_switch_that_looks_itself_drains_a_queue_as_soon_as_the_controller_and_without_either_it_stands() {
    let [(reported, _), (local, looked), (never, alone)] = ["controller", "local", "none"].map(standing);
    assert!(
        local > 0.0 && local <= reported + 0.02 && reported < 0.5 && never > 1.5 * reported,
        "{local} {reported} {never} s"
    );
    let reduces = |record: &RunRecord| {
        let is_reduce =
            |event: &Event| matches!(event, Event::StateChanged { state, .. } if state.0 == "reduce");
        record.events.iter().filter(|record| is_reduce(&record.event)).count()
    };
    assert!(reduces(&looked) > 0 && reduces(&alone) == 0);
    let by_time =
        |event: &Event| matches!(event, Event::Worked { part, .. } if part.0 == "queue by its time");
    assert!(
        looked.events.iter().any(|record| by_time(&record.event)),
        "the threshold that was crossed is told"
    );
    for record in [&looked, &alone] {
        let shares = [0, 1].map(|number| mbps(record, number, [4.0, 6.0]));
        assert!(shares.iter().all(|share| (share / (GIVEN / 2.0) - 1.0).abs() < 0.01), "{shares:?}");
    }
}

#[test]
fn interests_beside_brf_get_their_share_of_the_link_as_it_is_and_no_queue() {
    let fetch = "[[flow]]\nconsumer = \"C\"\nproducer = \"S1\"\nprefix = \"/f\"\nscheme = \"fixed\"\nrate = \"20Mbps\"\n\
                 payload = \"1214B\"\n[[event]]\nat = \"5s\"\nlink = \"neck\"\nrate = \"50Mbps\"\n";
    let text = scenario("", &[10; 2], "", &(flow(0, "brf", 0) + fetch));
    let record = run(&text.replace("[topology]", "events = [\"dropped\"]\n[topology]"));
    let place =
        |is_tcp| record.flows.iter().position(|flow| (flow.scheme == "brf") == is_tcp).expect("there") as u32;
    for (between, link) in [([2.0, 5.0], 1.0), ([6.0, 10.0], 0.5)] {
        // Data of 1250 bytes; 5 % of the link, of which a consumer that asks again for what was policed loses some to duplicates.
        let data = goodput(&record, place(false), between) * 1250.0 * 8e-6;
        assert!((0.9..=1.01).contains(&(data / (5.0 * link))), "{data} of {} Mbit/s", 5.0 * link);
        let ours = mbps(&record, place(true), between);
        assert!((ours / (0.95 * GIVEN * link) - 1.0).abs() < 0.01, "{ours}");
    }
    let causes: Vec<&str> = record
        .events
        .iter()
        .filter_map(|event| if let Event::Dropped { cause, .. } = event.event { Some(cause.0) } else { None })
        .collect();
    assert!(causes.len() > 1_000 && causes.iter().all(|cause| *cause == "policed"), "{} drops", causes.len());
    // The step of the rate makes a queue for some round trips.
    assert!(neck(&record).queue_delay.p95.as_millis_f64() < 2.0, "{}", neck(&record).queue_delay.p95);
}

#[test]
fn as_printed_interests_pass_only_while_no_packet_waits() {
    let fetch = "[[flow]]\nconsumer = \"C\"\nproducer = \"S1\"\nprefix = \"/f\"\nscheme = \"fixed\"\nrate = \"20Mbps\"\n";
    let record = run(&scenario(", mode = \"literal\"", &[10; 2], "", &(flow(0, "brf", 0) + fetch)));
    let place =
        |is_tcp| record.flows.iter().position(|flow| (flow.scheme == "brf") == is_tcp).expect("there") as u32;
    let data = record.flows[place(false) as usize].delivered_segments;
    // How many find nothing waiting is up to BRF's swings: as printed eq. 18 lowers rates below a link that is full.
    assert!(
        data > 0 && record.links.iter().any(|link| link.from == "R0" && link.dropped_packets > 100),
        "{data} Data"
    );
    assert_eq!(record.flows[place(true) as usize].retransmissions, 0);
}

#[test]
fn cubic_beside_brf_has_half_of_the_room_at_most_and_brf_loses_nothing() {
    let flows = flow(0, "brf", 0) + &flow(1, "tcp-cubic", 0);
    let text = scenario("", &[10; 2], "", &flows).replace("1000pkt", "100pkt");
    let record = run(&text.replace("[topology]", "events = [\"dropped\"]\n[topology]"));
    let causes: Vec<&str> = record
        .events
        .iter()
        .filter_map(|event| if let Event::Dropped { cause, .. } = event.event { Some(cause.0) } else { None })
        .collect();
    assert!(!causes.is_empty() && causes.iter().all(|cause| *cause == "class full"), "{causes:?}");
    assert!((50..60).contains(&neck(&record).peak_queue_packets), "{}", neck(&record).peak_queue_packets);
    assert_eq!(record.flows[0].retransmissions, 0);
}

#[test]
fn released_in_quanta_a_flow_gets_the_same_and_queues_for_half_a_quantum() {
    let text = scenario("", &[10], "", &flow(0, "brf", 0));
    let record = run(&text.replace("scheme = \"brf\"\n", "scheme = { name = \"brf\", release = \"1ms\" }\n"));
    let ours = mbps(&record, 0, [1.0, 10.0]);
    assert!((ours / GIVEN - 1.0).abs() < 0.01, "{ours}");
    // Eight segments: of 121 us each at the bottleneck, of 12 before it; the i-th waits i times the difference.
    let delay = neck(&record).queue_delay.mean.as_millis_f64();
    assert!((delay / (3.5 * 0.109) - 1.0).abs() < 0.1, "{delay} ms");
}

/// Writes an absurd grant on every ACK.
static FORGER: Scheme = Scheme {
    name: "forger",
    router: Some(|_, node| Ok(RouterParts::default().with_gates(node, |_| Forger))),
    ..Scheme::NONE
};

#[derive(Debug)]
struct Forger;

impl FaceGate for Forger {
    fn on_segment(&mut self, _: &mut Context<'_>, header: &mut Header, direction: Direction) -> GateVerdict {
        let is_ack = matches!(header.kind, Kind::Tcp(segment) if segment.payload == 0);
        if is_ack && direction == Direction::Out {
            header.hop.put(tidegate_schemes::brf::rate_code::GRANTED_RATE, 65_529);
        }
        GateVerdict::Admit
    }
}

/// Rows of a flow's samples, each 100 us: what is in flight and the window, segments.
fn flights(record: &RunRecord) -> Vec<(u32, f64)> {
    let samples = &record.flow_samples;
    let rows = (0..samples.time.len()).filter(|row| samples.flow[*row] == 0);
    rows.map(|row| (samples.in_flight_packets[row], f64::from(samples.window_packets[row]))).collect()
}

/// A segment takes 121 us on the bottleneck, so that between two samples hardly anything happens.
fn sampled(text: &str) -> String {
    text.replace("\"10ms\"\n[topology]", "\"100us\"\n[topology]").replace("\"10s\"", "\"3s\"")
}

#[test]
fn never_is_more_in_flight_than_the_fuse_allowed() {
    let flows = flow(0, "brf", 0)
        + &flow(1, "brf", 1000)
        + "[[event]]\nat = \"1500ms\"\nlink = \"neck\"\nrate = \"20Mbps\"\n[[event]]\nat = \"2s\"\nlink = \"neck\"\nrate = \"80Mbps\"\n";
    let last = "loss = { model = \"bernoulli\", probability = 0.02 }";
    let record = run(&sampled(&scenario("", &[10; 2], last, &flows)));
    let flights = flights(&record);
    assert!(flights.len() > 29_000 && record.flows[0].retransmissions > 0);
    // What left under a higher grant is under way for a round trip, here with up to 80 ms of queue.
    for (place, (in_flight, _)) in flights.iter().enumerate() {
        let since = &flights[place.saturating_sub(1_000)..=place];
        let max = since.iter().map(|(_, window)| *window).fold(0.0, f64::max);
        assert!(f64::from(*in_flight) <= max, "{place}: {in_flight} of {max}");
    }
}

#[test]
fn a_forger_of_every_grant_gets_no_more_in_flight_than_the_senders_own_link_bears() {
    let text = scenario("", &[10], "", &flow(0, "brf", 0))
        .replace("router_parts = [{ name = \"brf\" }]", "router_parts = [\"forger\"]");
    let (controller, flows) =
        (text.find("[controller]").expect("there"), text.find("[[node]]\nname = \"S0\"").expect("there"));
    let text = sampled(&(text[..controller].to_owned() + &text[flows..])).replace("\"3s\"", "\"1s\"");
    let schemes = [SCHEMES, &[&FORGER]].concat();
    let plan = scenarios::parse("test.toml", &text, &[], &schemes)
        .unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let record = run::run(&plan, Seed(1));
    // Twice 1 Gbit/s for the empty path and 25 ms.
    let min_rtt = 0.02 + 2.0 * (1514.0 + 66.0) * 8.0 / 1e8;
    let fuse = 2.0 * 125e6 * (min_rtt + 0.025) / 1514.0;
    let flights = flights(&record);
    let max = flights.iter().map(|(in_flight, _)| *in_flight).max().unwrap_or(0);
    assert!(flights.len() > 9_000 && max > 1_000 && f64::from(max) <= fuse, "{max} of {fuse}");
    assert!(mbps(&record, 0, [0.3, 1.0]) > 10.0, "it goes on");
}

/// Bytes that wait before the bottleneck at each change of the grant after an outage of 12 ms, as the switch made it: the
/// far sender hears of it 100 ms later, and what it sends then comes after 200 ms, when the next round ends.
fn drained(round_trips: u32) -> Vec<f64> {
    let settings = format!(
        ", link_share = 1, feedback_step = 0, control = \"local\", poll = \"1ms\", queue_target = \"1ms\", full_above = 1, \
         min_share = 0, drain = {round_trips}"
    );
    let outage = "[[event]]\nat = \"3s\"\nlink = \"neck\"\nstate = \"down\"\nkeep_queue = true\nsilent = true\n\
                  [[event]]\nat = \"3012ms\"\nlink = \"neck\"\nstate = \"up\"\n";
    let text = scenario(&settings, &[100], "", &(flow(0, "brf", 0) + outage))
        .replace("\"10ms\"\n[topology]", "\"1ms\"\nevents = [\"window-changed\"]\n[topology]")
        .replace("\"10s\"", "\"6s\"");
    let record = run(&text);
    let link = record.links.iter().position(|link| link.from == "R0" && link.to == "R1").expect("there");
    let samples = &record.link_samples;
    let queue = |at: f64| {
        let is_then = |row: &usize| {
            samples.link[*row] as usize == link && (samples.time[*row].as_secs_f64() - at).abs() <= 0.000_5
        };
        let row = (0..samples.time.len()).find(is_then).expect("it is sampled");
        f64::from(samples.queue_bytes[row])
    };
    let reported = |event: &tidegate_core::observe::records::EventRecord| match event.event {
        Event::WindowChanged { cause, .. } if cause.0 == "feedback" => Some(event.time.as_secs_f64() - 0.1),
        _ => None,
    };
    // What the first look granted, when little had piled up, is told by the first ACK after the outage; the last one is told
    // when less than 1 ms is left, not at the end of a round.
    let rounds = record.events.iter().filter_map(reported).filter(|at| *at > 3.02);
    rounds.map(queue).take_while(|bytes| *bytes >= 12_500.0).collect()
}

#[test]
fn a_queue_drains_by_the_closed_form() {
    for (gamma, min) in [(2, 1), (4, 3)] {
        let queues = drained(gamma);
        let whole = queues[0];
        assert!((whole / 150_000.0 - 1.0).abs() < 0.05, "12 ms: {queues:?}");
        let mut checked = 0;
        for three in queues.windows(3) {
            let due = (three[1] - three[0] / f64::from(gamma)).max(0.0);
            assert!((three[2] - due).abs() <= 0.05 * whole, "gamma {gamma}: {due} of {queues:?}");
            checked += 1;
        }
        assert!(checked >= min, "gamma {gamma}: {queues:?}");
    }
}
