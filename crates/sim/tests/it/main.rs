//! The simulator against what must come out: closed forms, properties, determinism, recorded runs, scenario files and
//! those of papers. They are one program, so that it is linked once.

use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::{EventRecord, RunRecord};
use tidegate_core::rng::Seed;
use tidegate_core::units::Time;
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::run;
use tidegate_sim::scenario;

mod batches;
mod caches;
mod clocks;
mod determinism;
mod frames;
mod gates;
mod golden;
mod idle;
mod links;
mod media;
mod ndnsieve;
mod oracles;
mod own_vocabulary;
mod papers;
mod properties;
mod restarts;
mod scenario_files;
mod servers;
mod tcp;
mod totals;
mod watching;
mod whole;
mod workloads;

/// The plan of a scenario that is known to be sound.
fn plan(text: &str) -> Plan {
    scenario::parse("test.toml", text, &[], SCHEMES).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// The record of a scenario run with seed 1.
fn record(text: &str) -> RunRecord {
    run(&plan(text), Seed(1))
}

/// A scenario on one link from a consumer `c1` to a producer `p1`; Data is 1250 bytes from segment 256 on.
fn one_link(scenario: &str, link: &str, flow: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"one link\"\n{scenario}\n[[node]]\nname = \"c1\"\n[[node]]\n\
         name = \"p1\"\n[[link]]\nends = [\"c1\", \"p1\"]\n{link}\n[[flow]]\nconsumer = \"c1\"\n\
         producer = \"p1\"\nprefix = \"/ab\"\npayload = \"1214B\"\n{flow}\n"
    )
}

/// Time and full delay, ns, of every segment of `flow` in order of arrival, and its number.
fn arrivals(record: &RunRecord, of: u32) -> Vec<(u64, u64, u32)> {
    let arrival = |record: &EventRecord| match record.event {
        Event::DataReceived { flow, name, full_delay, .. } if flow == of => {
            Some((record.time.as_nanos(), full_delay.as_nanos(), name.segment.0))
        }
        _ => None,
    };
    record.events.iter().filter_map(arrival).collect()
}

fn millis(number: u64) -> Time {
    Time::from_nanos(number * 1_000_000)
}
