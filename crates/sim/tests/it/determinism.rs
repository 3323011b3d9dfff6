//! The same plan and seed give the same record, however the run is cut, spread over threads or surrounded.

use tidegate_core::observe::records::{FlowRecord, LinkRecord, RunRecord};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{Span, Time};
use tidegate_sim::plan::Plan;
use tidegate_sim::run::{Job, Quiet, run, run_batch};
use tidegate_sim::world::World;

use crate::plan;

/// A lossy dumbbell with jitter, PLR, a cache, CoDel and changes: every source of randomness and every timer.
pub(crate) fn busy(vary: &str, tail: &str) -> Plan {
    plan(&format!(
        "format = 1\n[scenario]\nname = \"busy\"\nduration = \"3s\"\nevents = [\"all\"]\n{vary}\n[topology]\n\
         builtin = \"dumbbell\"\npairs = 2\naccess = {{ rate = \"20Mbps\", delay = \"3ms\", jitter = \"1ms\", \
         reorder = true }}\nbottleneck = {{ rate = \"5Mbps\", delay = \"10ms\", queue = {{ limit = \"30pkt\", \
         disciplines = [\"codel-mark\"] }}, loss = {{ model = \"bernoulli\", probability = 0.01 }} }}\n[router]\n\
         cache = \"100pkt\"\nrouter_parts = [\"plr\"]\n[[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/a\"\n\
         scheme = \"catchunks-cubic\"\n[[flow]]\nconsumer = \"c2\"\nproducer = \"p2\"\nprefix = \"/b\"\n\
         scheme = \"ndnsim-aimd\"\nsize = \"400kB\"\nstart = \"100ms\"\n[[event]]\nat = \"1s\"\nlink = \"r1-r2\"\n\
         rate = \"3Mbps\"\n[[event]]\nat = \"2s\"\nlink = \"c1-r1\"\nstate = \"down\"\n[[event]]\nat = \"2.2s\"\n\
         link = \"c1-r1\"\nstate = \"up\"\n{tail}"
    ))
}

/// Nothing random but the nonces.
fn quiet() -> Plan {
    plan(
        "format = 1\n[scenario]\nname = \"quiet\"\nduration = \"2s\"\n[topology]\nbuiltin = \"dumbbell\"\n\
         pairs = 2\naccess = { rate = \"20Mbps\", delay = \"3ms\" }\n\
         bottleneck = { rate = \"5Mbps\", delay = \"10ms\", queue = { limit = \"30pkt\" } }\n\
         [[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/a\"\nscheme = \"catchunks-cubic\"\n\
         [[flow]]\nconsumer = \"c2\"\nproducer = \"p2\"\nprefix = \"/b\"\nscheme = \"ndnsim-bic\"\n",
    )
}

fn without_seed(record: RunRecord) -> RunRecord {
    RunRecord { seed: 0, ..record }
}

#[test]
fn a_plan_and_a_seed_give_one_record() {
    let plan = busy("vary = { start = true, delay = 0.01 }", "");
    for seed in [1, 2, u64::MAX] {
        let first = run(&plan, Seed(seed));
        assert!(first.packet_hops > 5_000 && first.events.len() > 2_000, "{}", first.packet_hops);
        assert!(first == run(&plan, Seed(seed)), "seed {seed}");
    }
}

#[test]
fn a_batch_gives_the_same_results_in_plan_order_on_any_number_of_threads() {
    let plans = [busy("", ""), quiet(), busy("vary = { start = true, delay = 0.05 }", "")];
    let jobs: Vec<Job<'_>> =
        (0..4).flat_map(|seed| plans.iter().map(move |plan| Job { plan, seed: Seed(seed) })).collect();
    let results = |threads| run_batch(&jobs, threads, &Quiet, |place, record| (place, record));
    let alone = results(1);
    for (place, (job, result)) in jobs.iter().zip(&alone).enumerate() {
        let (at, record) = result.as_ref().expect("every job was run");
        assert_eq!((*at, record.seed, &record.scenario), (place, job.seed.0, &job.plan.name));
        assert!(*record == run(job.plan, job.seed), "run {place} alone");
    }
    assert!(results(2) == alone, "2 threads");
    assert!(results(5) == alone, "5 threads");
}

#[test]
fn another_seed_changes_a_run_with_anything_random_and_no_other() {
    let record = |plan: &Plan, seed| without_seed(run(plan, Seed(seed)));
    assert!(record(&quiet(), 1) == record(&quiet(), 2), "nothing is random");
    assert!(record(&busy("", ""), 1) != record(&busy("", ""), 2), "loss");
    let varied = |vary: &str| {
        let mut plan = quiet();
        let variation = busy(vary, "").variation;
        plan.variation = variation;
        plan
    };
    for vary in ["vary = { start = true }", "vary = { delay = 0.01 }"] {
        assert!(record(&varied(vary), 1) != record(&varied(vary), 2), "{vary}");
    }
}

#[test]
fn a_varied_start_lies_within_one_base_round_trip_and_a_varied_delay_within_its_part() {
    let mut plan = quiet();
    plan.variation = busy("vary = { start = true, delay = 0.1 }", "").variation;
    for seed in 1..=50 {
        let record = run(&Plan { duration: Span::from_millis(100), ..plan.clone() }, Seed(seed));
        for flow in &record.flows {
            // 3 + 10 + 3 ms each way, each up to a tenth longer.
            assert!(flow.start < Time::ZERO + Span::from_micros(35_200), "seed {seed}: {}", flow.start);
        }
        for (link, planned) in record.links.chunks(2).zip(&plan.links) {
            let part = link[0].delay.as_nanos() as f64 / planned.delay.as_nanos() as f64;
            assert!((0.9..=1.1).contains(&part) && link[0].delay == link[1].delay, "seed {seed}: {part}");
        }
    }
}

#[test]
fn a_node_and_a_flow_more_leave_everybody_elses_draws_alone() {
    let nodes = "[[node]]\nname = \"c\"\n[[node]]\nname = \"r\"\nrouter = true\n[[node]]\nname = \"p\"\n";
    let links = "[[link]]\nends = [\"c\", \"r\"]\n[[link]]\nends = [\"r\", \"p\"]\n";
    let flow = "[[flow]]\nconsumer = \"c\"\nproducer = \"p\"\nprefix = \"/a\"\nscheme = \"ndnsim-cubic\"\n";
    let text = |nodes: &str, links: &str, flows: &str| {
        format!(
            "format = 1\n[scenario]\nname = \"more\"\nduration = \"3s\"\nvary = {{ start = true, delay = 0.1 }}\n\
             [topology]\nlink = {{ rate = \"10Mbps\", delay = \"5ms\", jitter = \"1ms\", \
             loss = {{ model = \"gilbert-elliott\", to_bad = 0.01, to_good = 0.3 }} }}\n{nodes}{links}{flows}"
        )
    };
    let small = run(&plan(&text(nodes, links, flow)), Seed(7));
    let more_nodes = format!("{nodes}[[node]]\nname = \"x\"\n[[node]]\nname = \"y\"\n");
    let more_links = format!("{links}[[link]]\nends = [\"r\", \"x\"]\n[[link]]\nends = [\"x\", \"y\"]\n");
    let more_flows =
        format!("{flow}[[flow]]\nconsumer = \"x\"\nproducer = \"y\"\nprefix = \"/b\"\nscheme = \"icp\"\n");
    let large = run(&plan(&text(&more_nodes, &more_links, &more_flows)), Seed(7));
    assert!(small.flows[0].retransmissions > 10 && large.flows[1].delivered_segments > 100);
    assert_eq!(small.flows[0], large.flows[0]);
    assert_eq!(small.links[..], large.links[..small.links.len()]);
}

#[test]
fn a_run_cut_into_slices_is_the_same_run() {
    let plan = busy("vary = { start = true }", "");
    let whole = run(&plan, Seed(3));
    for trial in 0..5 {
        let mut rng = Rng::stream(Seed(trial), "slices");
        let mut world = World::new(&plan, Seed(3));
        let mut limit = Time::ZERO;
        while !world.is_over() {
            limit += Span::from_micros(u64::from(rng.below(30_000)));
            world.step_until(limit);
            assert_eq!(world.now(), limit.min(Time::ZERO + plan.duration));
        }
        assert!(world.into_record(&plan, Seed(3)) == whole, "slices of seed {trial}");
    }
}

#[test]
fn a_run_that_stops_when_complete_is_the_same_in_slices_and_does_nothing_afterwards() {
    let mut plan = quiet();
    plan.stop_when_complete = true;
    plan.duration = Span::from_secs(60);
    for flow in &mut plan.flows {
        flow.demand = tidegate_sim::plan::Demand::File { segments: 200 };
    }
    let whole = run(&plan, Seed(1));
    let last = whole.flows.iter().filter_map(|flow| flow.completed).max();
    assert_eq!(last, Some(whole.ended), "the run ends with its last segment");
    assert!(whole.ended < Time::ZERO + plan.duration);
    let mut world = World::new(&plan, Seed(1));
    let mut limit = Time::ZERO;
    for _ in 0..4_000 {
        limit += Span::from_micros(777);
        world.step_until(limit);
    }
    assert!(world.into_record(&plan, Seed(1)) == whole);
}

/// Links without their peak queues: a forwarder puts a burst into its queue before the first packet leaves.
fn without_peaks(record: &RunRecord) -> Vec<LinkRecord> {
    let without = |link: &LinkRecord| LinkRecord { peak_queue_packets: 0, ..link.clone() };
    record.links.iter().map(without).collect()
}

/// Flows without their duplicates: a forwarder forgets an Interest with the first Data and keeps the second back.
fn without_duplicates(record: &RunRecord) -> Vec<FlowRecord> {
    record.flows.iter().map(|flow| FlowRecord { duplicates: 0, ..flow.clone() }).collect()
}

#[test]
fn a_host_with_a_forwarder_gives_the_same_results_as_one_without() {
    let schemes: Vec<&str> = tidegate_schemes::SCHEMES
        .iter()
        .filter(|scheme| scheme.consumer.is_some())
        // Its consumer answers marks alone: without any it floods the link, and a forwarder's suppression of early
        // retransmissions tells.
        .filter(|scheme| scheme.name != "ndnsieve")
        .map(|scheme| scheme.name)
        .collect();
    let mut undisturbed = 0;
    for scheme in schemes {
        // One fetcher would ask for little, and a loss costs it a lifetime as long as the run.
        let more = if scheme == "catchunks-fixed" { ", fetchers = 8" } else { "" };
        let given = format!("{{ name = \"{scheme}\"{more} }}");
        for loss in ["", "backward = { loss = { model = \"bernoulli\", probability = 0.01 } }"] {
            let text = |hosts: &str| {
                let node = |name: &str, role: &str| format!("[[node]]\nname = \"{name}\"\n{role}\n");
                let nodes: String = ["c1", "c2", "p1", "p2"].map(|name| node(name, hosts)).concat();
                let link = |a: &str, b: &str, rate: u32, more: &str| {
                    format!(
                        "[[link]]\nends = [\"{a}\", \"{b}\"]\nrate = \"{rate}Mbps\"\ndelay = \"5ms\"\n{more}\n"
                    )
                };
                let flow = |number: u32| {
                    format!(
                        "[[flow]]\nconsumer = \"c{number}\"\nproducer = \"p{number}\"\nprefix = \"/{number}\"\n\
                         scheme = {given}\nsize = \"2MB\"\n"
                    )
                };
                format!(
                    "format = 1\n[scenario]\nname = \"hosts\"\nduration = \"4s\"\nevents = [\"data-received\", \
                     \"window-changed\", \"loss-detected\"]\n{nodes}{}{}{}{}{}{}{}",
                    node("r1", "router = true") + &node("r2", "router = true"),
                    link("c1", "r1", 100, loss),
                    link("c2", "r1", 100, ""),
                    link("r1", "r2", 10, "queue = { limit = \"40pkt\" }"),
                    link("r2", "p1", 100, ""),
                    link("r2", "p2", 100, ""),
                    flow(1) + &flow(2),
                )
            };
            let plain = run(&plan(&text("")), Seed(1));
            let forwarding = run(&plan(&text("router = true")), Seed(1));
            let delivered: u64 = plain.flows.iter().map(|flow| flow.delivered_segments).sum();
            assert!(delivered > 200, "{scheme}: {delivered}");
            assert_eq!(without_duplicates(&plain), without_duplicates(&forwarding), "{scheme}, {loss:?}");
            assert!(plain.flow_samples == forwarding.flow_samples, "{scheme}, {loss:?}");
            // A forwarder's strategy may hold back an Interest that is sent again too early.
            if plain.flows.iter().all(|flow| flow.retransmissions == 0) {
                assert!(plain.link_samples == forwarding.link_samples, "{scheme}, {loss:?}");
                assert_eq!(without_peaks(&plain), without_peaks(&forwarding), "{scheme}, {loss:?}");
                undisturbed += 1;
            }
        }
    }
    assert!(undisturbed > 0, "some runs need no retransmission");
}

#[test]
fn a_burst_that_fits_the_queue_of_a_plain_host_fits_that_of_a_host_with_a_forwarder() {
    // Five Interests at once on an idle device: one is sent, four wait.
    let dropped = |hosts: &str| {
        let text = format!(
            "format = 1\n[scenario]\nname = \"burst\"\nduration = \"100ms\"\n[[node]]\nname = \"c\"\n{hosts}\n\
             [[node]]\nname = \"p\"\n[[link]]\nends = [\"c\", \"p\"]\nrate = \"10Mbps\"\ndelay = \"1ms\"\n\
             forward = {{ queue = {{ limit = \"4pkt\" }} }}\n[[flow]]\nconsumer = \"c\"\nproducer = \"p\"\n\
             prefix = \"/a\"\nscheme = {{ name = \"fixed\", window = 5 }}\nsegments = 5\n"
        );
        run(&plan(&text), Seed(1)).links[0].dropped_packets
    };
    assert_eq!((dropped(""), dropped("router = true")), (0, 0));
}

#[test]
fn a_duplicate_does_not_widen_the_window_of_an_ndnsim_host_without_a_forwarder() {
    // At a fiftieth of the rate eight Data take 340 ms, more than the timeout of 200 ms: Interests are sent again
    // though nothing is lost.
    let outstanding = |hosts: &str| {
        let text = format!(
            "format = 1\n[scenario]\nname = \"late\"\nduration = \"20s\"\n[[node]]\nname = \"c\"\n{hosts}\n\
             [[node]]\nname = \"p\"\n[[link]]\nends = [\"c\", \"p\"]\nrate = \"10Mbps\"\ndelay = \"50ms\"\n\
             [[flow]]\nconsumer = \"c\"\nproducer = \"p\"\nprefix = \"/a\"\n\
             scheme = {{ name = \"fixed\", window = 8 }}\nshell = \"ndnsim\"\n[[event]]\nat = \"2s\"\n\
             link = \"c-p\"\nrate = \"200kbps\"\n"
        );
        let flow = run(&plan(&text), Seed(1)).flows.remove(0);
        (flow.interests - flow.retransmissions - flow.delivered_segments, flow.retransmissions)
    };
    let (plain, forwarding) = (outstanding(""), outstanding("router = true"));
    // Segments asked for and not there, and Interests sent again.
    assert_eq!((plain, forwarding), ((8, 2), (8, 2)));
}
