//! Nodes whose clocks have ticks.

use std::collections::BTreeSet;

use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::{EventRecord, RunRecord};
use tidegate_core::rng::Seed;
use tidegate_sim::run::run;

use crate::{plan, record};

/// A consumer behind one router that asks for 500 Data a second for two seconds; round trips take 20 ms.
fn constant(nodes: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"constant\"\nduration = \"2s\"\nevents = [\"interest-sent\"]\n[topology]\nbuiltin = \
         \"linear\"\nrouters = 1\nlink = {{ rate = \"100Mbps\", delay = \"5ms\" }}\n{nodes}\n[[flow]]\nconsumer = \"c1\"\nproducer = \
         \"p1\"\nprefix = \"/a\"\nscheme = \"fixed\"\npayload = \"1000B\"\nrate = \"4Mbps\"\n"
    )
}

/// As [`constant`], with this clock at the consumer.
fn with_clock(clock: &str) -> String {
    constant(&format!("[node.c1]\nclock = {clock}"))
}

/// Times of the events of `record` that `required` wants, in microseconds.
fn times(record: &RunRecord, required: fn(&Event) -> bool) -> Vec<u64> {
    let time = |event: &EventRecord| event.time.as_nanos() / 1_000;
    record.events.iter().filter(|event| required(&event.event)).map(time).collect()
}

fn is_sent(event: &Event) -> bool {
    matches!(event, Event::InterestSent { .. })
}

fn wakeups(record: &RunRecord, node: &str) -> u64 {
    record.nodes.iter().find(|found| found.name == node).expect("a node").wakeups
}

#[test]
fn a_consumer_sends_at_its_ticks_alone_and_nothing_is_lost_by_it() {
    let fine = record(&constant(""));
    let coarse = record(&with_clock("{ period = \"100ms\", phase = \"30ms\" }"));
    let ticks: BTreeSet<u64> = times(&coarse, is_sent).into_iter().collect();
    // The first starts the flow.
    assert_eq!(ticks, (0..20).map(|tick| 30_000 + 100_000 * tick).chain([0]).collect());
    // The last tick is at 1.93 s.
    let (all, sent) = (times(&fine, is_sent), times(&coarse, is_sent).len());
    assert_eq!(sent, all.iter().filter(|time| **time <= 1_930_000).count());
}

#[test]
fn a_wake_up_is_a_tick_at_which_something_is_due() {
    // 500 Interests a second, and the first at the start.
    let fine = wakeups(&record(&constant("")), "c1");
    let coarse = wakeups(&record(&with_clock("\"100ms\"")), "c1");
    assert!((1_000..=1_010).contains(&fine) && (20..=21).contains(&coarse), "{fine}, {coarse}");
}

#[test]
fn a_flush_sends_between_the_ticks_as_data_arrives() {
    let flushed = record(&with_clock("{ period = \"100ms\", phase = \"30ms\", flush_on_arrival = true }"));
    let mut instants = times(&flushed, is_sent);
    instants.dedup();
    // One Interest brings a Data about 20 ms later, and that sends what fell due in between.
    assert!(instants.len() > 80, "{instants:?}");
}

#[test]
fn phases_are_drawn_for_each_node_and_seed() {
    let text = with_clock("\"100ms\"");
    let first = |seed| times(&run(&plan(&text), Seed(seed)), is_sent)[1];
    let phases: BTreeSet<u64> = (1..=8).map(first).collect();
    assert!(phases.len() == 8 && phases.iter().all(|phase| *phase < 100_000), "{phases:?}");
    assert_eq!(first(3), first(3));
}

#[test]
fn two_nodes_have_phases_of_their_own_and_timers_of_one_instant_are_one_wake_up() {
    let flow = |consumer: &str, prefix: &str| {
        format!(
            "[[flow]]\nconsumer = {consumer:?}\nproducer = \"p1\"\nprefix = {prefix:?}\nscheme = \"fixed\"\npayload = \
             \"1000B\"\nrate = \"4Mbps\"\n"
        )
    };
    let text = constant("").replace("\"linear\"\nrouters = 1", "\"dumbbell\"\npairs = 2");
    let text =
        text.replace("[[flow]]", "[node.c1]\nclock = \"100ms\"\n[node.c2]\nclock = \"100ms\"\n[[flow]]");
    // Two flows on c1, one on c2.
    let record = record(&(text + &flow("c1", "/b") + &flow("c2", "/c")));
    let phases = |required: u32| {
        let sent = record.events.iter().filter_map(move |event| match event.event {
            Event::InterestSent { flow, .. } if flow == required => Some(event.time.as_nanos() % 100_000_000),
            _ => None,
        });
        // Without the one that starts the flow.
        sent.skip(1).collect::<BTreeSet<u64>>()
    };
    assert!(phases(0).len() == 1 && phases(0) == phases(1), "{:?} {:?}", phases(0), phases(1));
    assert!(phases(2).len() == 1 && phases(0) != phases(2), "{:?} {:?}", phases(0), phases(2));
    assert!((20..=22).contains(&wakeups(&record, "c1")), "{}", wakeups(&record, "c1"));
}
