//! Servers of routers and producers against the closed forms of queueing theory.

use tidegate_core::rng::Seed;
use tidegate_sim::world::World;

use crate::{plan, record};

/// Poisson requests for objects at 800 per second over fast links, through one router.
fn poisson(router: &str, flow: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"servers\"\nduration = \"200s\"\nsample = false\n[topology]\nbuiltin = \
         \"linear\"\nrouters = 1\nlink = {{ rate = \"100Gbps\", delay = \"1us\" }}\n{router}\n[[flow]]\nconsumer = \
         \"c1\"\nproducer = \"p1\"\nprefix = \"/o\"\npayload = \"100B\"\nscheme = {{ name = \"fixed\", window = \
         1000000 }}\nshell = {{ sweep = \"100s\", lifetime = \"100s\" }}\n\
         demand = {{ model = \"zipf\", objects = 1000000, exponent = 0, rate = \"800/s\" }}\n{flow}\n"
    )
}

/// Mean time from Interest to Data, ms, without what the links take (eight times far below 10 us).
fn mean_ms(text: &str) -> f64 {
    let record = record(text);
    assert!(record.flows[0].delivered_segments > 150_000, "{:?}", record.flows[0]);
    record.flows[0].full_delay.mean.as_secs_f64() * 1e3
}

#[test]
fn a_producer_of_constant_speed_is_a_server_of_m_d_1() {
    // Load 0.8, 1 ms each: waiting 0.8/(2 (1 - 0.8)) = 2 services, so 3 ms in all.
    let mean = mean_ms(&poisson("", "processing = \"1ms\""));
    assert!((mean - 3.0).abs() < 0.12, "{mean}");
}

#[test]
fn a_producer_of_exponential_speed_is_a_server_of_m_m_1() {
    // Waiting 0.8/(1 - 0.8) = 4 services, so 5 ms in all.
    let processing = "processing = { time = \"1ms\", distribution = \"exponential\" }";
    let mean = mean_ms(&poisson("", processing));
    assert!((mean - 5.0).abs() < 0.35, "{mean}");
}

#[test]
fn a_router_serves_interests_and_data_one_after_the_other() {
    // A Data comes back as soon as its Interest was handled: a queue that everybody passes twice, D = 0.5 ms, 800
    // per second, load 0.8. In units of D, with x = 0.4 arrivals per unit: the Interest waits for all it finds, less
    // the half of the one being handled, t1 = x (t1 + t2) - 0.8/2 + 1; the Data for the Interests that were before it
    // and have come since, t2 = 2 x t1 + 1. So t1 = 1/0.28, t2 = 0.8/0.28 + 1, together 7.42857 units.
    let mean = mean_ms(&poisson("[router]\nservice = \"500us\"", ""));
    assert!((mean - 3.714).abs() < 0.12, "{mean}");
}

#[test]
fn a_router_without_load_adds_its_service_time_twice() {
    let text =
        poisson("[router]\nservice = \"500us\"", "").replace("\"800/s\"", "\"1/s\", arrivals = \"constant\"");
    let record = record(&text);
    let delay = record.flows[0].full_delay;
    assert_eq!(record.flows[0].delivered_segments, 200);
    let beyond = delay.min.as_nanos() - 1_000_000;
    assert!(beyond < 10_000 && delay.max.as_nanos() < 1_010_000, "{delay:?}");
}

#[test]
fn a_server_with_a_short_queue_drops_as_erlang_says() {
    // M/M/1/2 at load 0.8: one handled, one waiting; lost is 0.8^2/(1 + 0.8 + 0.8^2) = 0.2623.
    let processing = "processing = { time = \"1ms\", distribution = \"exponential\", queue = \"1pkt\" }";
    // Shorter than the timeout, so that nothing is asked for twice.
    let record = record(&poisson("", processing).replace("\"200s\"", "\"90s\""));
    let p1 = record.nodes.iter().find(|node| node.name == "p1").expect("a producer");
    let requested = record.flows[0].interests as f64;
    let lost = p1.service_drops as f64 / requested;
    assert!((lost - 0.2623).abs() < 0.008, "{lost}");
}

#[test]
fn every_packet_handed_to_a_server_is_accounted_for_at_any_time() {
    let service =
        "[router]\nservice = { time = \"300us\", distribution = \"exponential\", queue = \"3pkt\" }";
    let off = "[[event]]\nat = \"200ms\"\nnode = \"r1\"\nstate = \"down\"\n[[event]]\nat = \"300ms\"\nnode = \"r1\"\n\
               state = \"up\"\n[[event]]\nat = \"500ms\"\nnode = \"p1\"\nstate = \"down\"\n[[event]]\nat = \
               \"550ms\"\nnode = \"p1\"\nstate = \"up\"";
    let text = poisson(service, &format!("processing = {{ time = \"1ms\", queue = \"5pkt\" }}\n{off}"));
    let plan = plan(&text.replace("\"800/s\"", "\"1500/s\"").replace("\"200s\"", "\"1s\""));
    let mut world = World::new(&plan, Seed(1));
    let mut waited = 0;
    while !world.is_over() {
        world.step_until(world.now() + tidegate_core::units::Span::from_millis(5));
        let ledgers = world.service_ledgers();
        assert_eq!(ledgers.len(), 2);
        assert!(ledgers.iter().all(|ledger| ledger.balances()), "{ledgers:?}");
        assert!(ledgers[0].waiting <= 4 && ledgers[1].waiting <= 6, "{ledgers:?}");
        waited += ledgers.iter().map(|ledger| ledger.waiting).sum::<u64>();
        assert!(world.ledgers().iter().all(|ledger| ledger.balances()));
    }
    // The router was handed what came off its links, while it was on.
    let ledgers = world.service_ledgers();
    let dropped: Vec<u64> = ledgers.iter().map(|ledger| ledger.dropped).collect();
    assert!(waited > 100 && dropped.iter().all(|dropped| *dropped > 5), "{waited} {dropped:?}");
    let record = world.into_record(&plan, Seed(1));
    let reported: u64 = record.nodes.iter().map(|node| node.service_drops).sum();
    assert_eq!(reported, dropped.iter().sum::<u64>());
    let arrived = |link: &tidegate_core::observe::records::LinkRecord| link.to == "r1";
    let at_router: u64 =
        record.links.iter().filter(|link| arrived(link)).map(|link| link.delivered_packets).sum();
    assert_eq!(ledgers[0].offered, at_router);
}
