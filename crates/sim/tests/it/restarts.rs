//! A node that restarts forgets what its queues, caches and parts of schemes knew; the network goes on, and every packet is
//! accounted for.

use tidegate_core::rng::Seed;
use tidegate_schemes::SCHEMES;
use tidegate_sim::scenario;
use tidegate_sim::world::World;

use crate::{plan, record};

/// Two flows through two routers with a store, a shaping gate and a queue that marks.
fn scenario(part: &str, events: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"restarts\"\nduration = \"4s\"\nsample = \"100ms\"\n\
         [topology]\nbuiltin = \"dumbbell\"\npairs = 2\n\
         link = {{ rate = \"10Mbps\", delay = \"5ms\", queue = {{ limit = \"50pkt\", disciplines = [\"codel\"] }} }}\n\
         [router]\ncache = {{ size = \"10000pkt\" }}\n{part}\n\
         [[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/a\"\nscheme = \"icp\"\n\
         [[flow]]\nconsumer = \"c2\"\nproducer = \"p2\"\nprefix = \"/b\"\nscheme = \"catchunks-cubic\"\n{events}"
    )
}

fn restart(at: &str, node: &str) -> String {
    format!("[[event]]\nat = {at:?}\nnode = {node:?}\nrestart = true\n")
}

#[test]
fn packets_add_up_and_flows_go_on_over_restarts() {
    for part in
        ["", "router_parts = [\"hobhis\"]", "router_parts = [\"ndnsieve\"]", "router_parts = [\"mircc\"]"]
    {
        let events: String =
            ["1s", "2s", "2.5s"].iter().map(|at| restart(at, "r1") + &restart(at, "r2")).collect();
        let plan = plan(&scenario(part, &events));
        let mut world = World::new(&plan, Seed(1));
        world.run();
        let ledgers = world.ledgers();
        assert!(ledgers.iter().all(|ledger| ledger.balances()), "{part}: {ledgers:?}");
        assert!(world.gate_stats().iter().all(|stats| stats.balances()), "{part}");
        let record = world.into_record(&plan, Seed(1));
        let samples = &record.flow_samples;
        for flow in 0..2 {
            let rows: Vec<usize> = (0..samples.time.len()).filter(|row| samples.flow[*row] == flow).collect();
            let delivered = |row: usize| samples.delivered_segments[rows[row]];
            // From 3 s to the end.
            let last = rows.len() - 1;
            assert!(delivered(last) > delivered(last - 10) + 20, "{part}, {flow}: {}", delivered(last));
        }
    }
}

#[test]
fn a_store_is_empty_after_a_restart_and_what_was_counted_stays() {
    let cached = |events: &str| {
        let record = record(&scenario("", events));
        let router = record.nodes.iter().find(|node| node.name == "r1").expect("there");
        (router.cached_packets, router.cache_misses)
    };
    let ((kept, misses), (after, counted)) = (cached(""), cached(&restart("3.95s", "r1")));
    assert!(kept > 1_000 && after < 100, "{kept} {after}");
    assert!(counted as f64 > 0.9 * misses as f64, "{counted} {misses}");
}

#[test]
fn a_run_with_restarts_is_the_same_again_and_without_one_it_is_another() {
    let text = scenario("router_parts = [\"hobhis\"]", &restart("1s", "r1"));
    let once = record(&text);
    assert_eq!(once, record(&text));
    assert_ne!(once.flows, record(&scenario("router_parts = [\"hobhis\"]", "")).flows);
}

#[test]
fn a_restart_that_means_nothing_is_refused() {
    let refused = |event: &str| {
        let text = scenario("", &format!("[[event]]\nat = \"1s\"\n{event}\n"));
        scenario::parse("test.toml", &text, &[], SCHEMES).expect_err(event).to_string()
    };
    for (event, why) in [
        ("node = \"r1\"\nrestart = false", "restart: false changes nothing"),
        ("node = \"r1\"\nrestart = true\nstate = \"down\"", "state cannot be combined with restart"),
        ("link = \"r1-r2\"\nrestart = true\nrate = \"1Mbps\"", "restart applies to a node"),
        ("node = \"r1\"", "\"state\" or \"restart\""),
    ] {
        let stated = refused(event);
        assert!(stated.contains(why), "{stated}");
    }
}
