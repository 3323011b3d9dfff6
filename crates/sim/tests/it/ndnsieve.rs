//! ndnSieve as a whole: who says what to whom, what moves, and what a bad channel does to it.

use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::observe::records::{EventRecord, RunRecord};
use tidegate_core::rng::Seed;
use tidegate_core::units::{Span, Time};
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::run;
use tidegate_sim::scenario;
use tidegate_sim::world::World;

const MULTIPATH1: &str = include_str!("../../../../scenarios/papers/ndnsieve/multipath1.toml");
const MULTIPATH2: &str = include_str!("../../../../scenarios/papers/ndnsieve/multipath2.toml");

/// The scenario with values set, recording what control, consumers and queues do.
fn plan(text: &str, set: &[(&str, &str)]) -> Plan {
    let set: Vec<(String, String)> =
        set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut plan =
        scenario::parse("test.toml", text, &set, SCHEMES).unwrap_or_else(|errors| panic!("{errors}"));
    plan.recorded = EventMask::CONTROL.union(EventMask::CONSUMERS).union(EventMask::QUEUES);
    plan
}

fn record(text: &str, set: &[(&str, &str)]) -> RunRecord {
    run(&plan(text, set), Seed(1))
}

/// Time, node and prefix of every path change.
fn moves(record: &RunRecord) -> Vec<(Time, u32, u32)> {
    let moved = |record: &EventRecord| match record.event {
        Event::PathMoved { name, .. } => Some((record.time, record.node, name.prefix.0)),
        _ => None,
    };
    record.events.iter().filter_map(moved).collect()
}

/// Content that all flows got, Mbit/s.
fn goodput(record: &RunRecord) -> f64 {
    let bytes: u64 = record.flows.iter().map(|flow| flow.delivered_payload.get()).sum();
    bytes as f64 * 8e-6 / record.ended.as_secs_f64()
}

fn sent(record: &RunRecord, from: &str, to: &str) -> u64 {
    let link = record.links.iter().find(|link| link.from == from && link.to == to).expect("there");
    link.sent_bytes.get()
}

const GENTLE: (&str, &str) = ("flow.*.scheme", "{ name = \"ndnsieve\", form = \"ssr\" }");
const BEST_ROUTE: (&str, &str) = ("router.router_parts", "[]");

#[test]
fn mild_congestion_moves_the_prefix_to_the_idle_path_and_back_after_the_dwell_time() {
    let record = record(MULTIPATH1, &[]);
    let moves = moves(&record);
    let times: Vec<f64> = moves.iter().map(|(at, ..)| at.as_secs_f64()).collect();
    assert!((1..=2).contains(&times.len()) && (0.4..=1.6).contains(&times[0]), "{times:?}");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 5.0), "{times:?}");
    assert!(sent(&record, "r3", "r1") > sent(&record, "r2", "r1") / 4);
}

#[test]
fn with_the_guard_off_one_flow_changes_its_path_with_every_poll() {
    let literal = "[{ scheme = \"ndnsieve\", dwell = \"0s\", hysteresis = 0, hold = 0 }]";
    let controller = "{ name = \"ndnsieve\", dwell = \"0s\", hysteresis = 0, hold = 0 }";
    let set = [("router.router_parts", literal), ("controller.scheme", controller), GENTLE];
    assert!(moves(&record(MULTIPATH1, &set)).len() >= 10);
}

#[test]
fn each_part_changes_the_run_when_it_is_switched_off() {
    let whole = record(MULTIPATH1, &[]);
    let of = |record: &RunRecord| {
        let flow = &record.flows[0];
        (flow.delivered_segments, flow.marks, sent(record, "r3", "r1"))
    };
    let parts = |settings: &str| format!("[{{ scheme = \"ndnsieve\", {settings} }}]");
    let (deaf, unmarked, patient) = (parts("th1 = 10"), parts("mark = false"), parts("dwell = \"1h\""));
    for (what, other) in [
        ("detector", record(MULTIPATH1, &[("router.router_parts", &deaf)])),
        ("marks", record(MULTIPATH1, &[("router.router_parts", &unmarked)])),
        ("strategy's dwell", record(MULTIPATH1, &[("router.router_parts", &patient)])),
        ("router", record(MULTIPATH1, &[BEST_ROUTE])),
        ("controller", record(&uncontrolled(MULTIPATH1), &[])),
        ("consumer", record(MULTIPATH1, &[("flow.0.scheme", "ndnsim-window")])),
        ("consumer's form", record(MULTIPATH1, &[GENTLE])),
    ] {
        assert_ne!(of(&other), of(&whole), "{what}");
    }
}

#[test]
fn marks_come_only_from_severe_faces_and_the_window_moves_by_one() {
    let record = record(MULTIPATH2, &[]);
    let mut windows = vec![1.0_f64; record.flows.len()];
    let mut marked = 0;
    for EventRecord { event, .. } in &record.events {
        match *event {
            Event::Marked { cause, .. } => {
                assert_eq!(cause.0, "severe");
                marked += 1;
            }
            Event::WindowChanged { flow, window, .. } => {
                let before = std::mem::replace(&mut windows[flow as usize], window);
                assert!((window - before).abs() == 1.0, "{before} to {window}");
            }
            _ => {}
        }
    }
    assert!(marked > 100);
}

/// The scenario without a controller.
fn uncontrolled(text: &str) -> String {
    let without = text.replace("[controller]\nscheme = \"ndnsieve\"\n", "");
    assert_ne!(without, text);
    without
}

/// The three disturbances of the channel between routers and controller.
fn disturbed(which: &str) -> (String, Vec<(&'static str, &'static str)>) {
    let down = "\n[[event]]\nat = \"2s\"\ncontroller = \"down\"\n";
    match which {
        "controller down from 2 s on" => (format!("{MULTIPATH2}{down}"), vec![GENTLE]),
        "half of all messages lost" => (MULTIPATH2.to_owned(), vec![GENTLE, ("controller.loss", "0.5")]),
        "messages take 1 s" => (MULTIPATH2.to_owned(), vec![GENTLE, ("controller.delay", "\"1s\"")]),
        other => panic!("{other}"),
    }
}

#[track_caller]
fn assert_survives(which: &str) {
    let (text, set) = disturbed(which);
    for seed in 1..=3 {
        let record = run(&plan(&text, &set), Seed(seed));
        // Best route with the same marks: without a controller no metric ever comes.
        let without = run(&plan(&uncontrolled(MULTIPATH2), &[GENTLE]), Seed(seed));
        let bare = run(&plan(MULTIPATH2, &[GENTLE, BEST_ROUTE]), Seed(seed));
        let (ours, min) = (goodput(&record), goodput(&without).max(goodput(&bare)));
        assert!(ours >= min, "{which}, seed {seed}: {ours} < {min}");
        let moves = moves(&record);
        for (index, (at, node, prefix)) in moves.iter().enumerate() {
            let before = moves[..index].iter().rev().find(|(_, n, p)| (n, p) == (node, prefix));
            assert!(before.is_none_or(|(before, ..)| at.since(*before) >= Span::from_secs(5)), "{moves:?}");
        }
    }
}

#[test]
fn a_controller_that_stops_leaves_no_less_than_best_route() {
    assert_survives("controller down from 2 s on");
}

#[test]
fn a_channel_that_loses_half_leaves_no_less_than_best_route() {
    assert_survives("half of all messages lost");
}

#[test]
fn a_channel_that_takes_a_second_leaves_no_less_than_best_route() {
    assert_survives("messages take 1 s");
}

#[test]
fn every_message_is_lost_under_way_or_received() {
    let text = format!(
        "{MULTIPATH2}\n[[event]]\nat = \"2s\"\ncontroller = \"down\"\n[[event]]\nat = \"3s\"\ncontroller = \"up\"\n"
    );
    let set = [("controller.loss", "0.3"), ("controller.delay", "\"40ms\"")];
    let plan = plan(&text, &set);
    let mut world = World::new(&plan, Seed(3));
    let mut max = 0;
    for step in 1..=50 {
        world.step_until(Time::ZERO + Span::from_millis(200 * step + 7));
        let ledgers = world.message_ledgers();
        assert!(ledgers.iter().all(|ledger| ledger.balances()), "{ledgers:?}");
        max = max.max(ledgers[0].in_flight);
    }
    let [reports, directives] = world.message_ledgers();
    assert!(max > 0 && reports.lost > 0 && reports.delivered > 0 && directives.delivered > 0);
}

#[test]
fn a_controller_that_starts_anew_learns_the_network_again() {
    let text = format!(
        "{MULTIPATH1}\n[[event]]\nat = \"100ms\"\ncontroller = \"down\"\n[[event]]\nat = \"3s\"\ncontroller = \"up\"\n"
    );
    let moves = moves(&record(&text, &[GENTLE]));
    assert!(moves.first().is_some_and(|(at, ..)| (3.0..4.5).contains(&at.as_secs_f64())), "{moves:?}");
}

#[test]
fn control_costs_no_more_operations_than_the_paper_counts() {
    let record = record(MULTIPATH2, &[]);
    let faces: Vec<u32> = {
        let plan = plan(MULTIPATH2, &[]);
        let degree = |node: usize| plan.links.iter().filter(|link| link.a == node || link.b == node).count();
        (0..plan.nodes.len()).map(|node| degree(node) as u32).collect()
    };
    let mut filtered = std::collections::BTreeMap::<u64, u32>::new();
    let mut looked = 0;
    for EventRecord { time, node, event } in &record.events {
        let Event::Worked { part, operations } = *event else { continue };
        match part.0 {
            // Eq. 6.
            "detection" => {
                assert!(operations <= 4 * faces[*node as usize]);
                looked += 1;
            }
            "filter" => *filtered.entry(time.as_nanos() / 100_000_000).or_default() += operations,
            _ => {}
        }
    }
    // Eq. 7: no more signals in a period than all routers have faces.
    let routers: u32 = (3..faces.len()).map(|node| faces[node]).sum();
    assert!(looked > 100 && filtered.values().all(|signals| *signals <= routers), "{filtered:?}");
    assert!(!filtered.is_empty());
}

#[test]
fn agents_report_at_their_routers_ticks() {
    let clock = "{ period = \"70ms\", phase = \"5ms\" }";
    let at_ticks = |set: &[(&str, &str)]| {
        let record = record(MULTIPATH1, set);
        let is_load =
            |event: &&EventRecord| matches!(event.event, Event::Reported { kind } if kind.0 == "links");
        let times: Vec<u64> =
            record.events.iter().filter(is_load).map(|event| event.time.as_nanos() / 1_000).collect();
        assert!(times.len() > 20, "{times:?}");
        times.iter().all(|at| at % 70_000 == 5_000)
    };
    assert!(at_ticks(&[("router.clock", clock)]) && !at_ticks(&[]));
}
