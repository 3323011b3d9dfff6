//! `tidegate bench live`: cost of a forwarder per Interest-Data pair, over UDP on the loopback interface.
//!
//! The forwarder is a process of its own with its default settings. Only its CPU time counts, with the time
//! that the kernel spends on its behalf. A consumer and a producer in this process saturate it. Peers that
//! fill a window send trains of packets of equal size, which the system carries as one where sender and
//! receiver allow it; "one by one" is the cost with peers that do not.

mod forwarder;
mod load;

use serde_json::{Value, json};
use tidegate_results::text::{Screen, TextTable};

use super::table::{cell, extremes, median};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::{Format, Session};
use forwarder::Forwarder;
use load::Load;

/// A case of the benchmark, with the name in its table.
struct LiveCase {
    name: &'static str,
    load: Load,
}

/// A load of `content` bytes per Data, all names new, handed over together.
const fn misses(content: usize) -> Load {
    Load { content, names: None, pairs: 600_000, together: true }
}

/// A load of few names, which are all in the content store.
const fn hits(content: usize) -> Load {
    Load { names: Some(1000), pairs: 1_000_000, ..misses(content) }
}

const CASES: [LiveCase; 6] = [
    LiveCase { name: "miss, 100 B", load: misses(100) },
    LiveCase { name: "miss, 1300 B", load: misses(1300) },
    LiveCase { name: "hit, 100 B", load: hits(100) },
    LiveCase { name: "hit, 1300 B", load: hits(1300) },
    LiveCase { name: "miss, 100 B, one by one", load: Load { together: false, ..misses(100) } },
    LiveCase { name: "miss, 1300 B, one by one", load: Load { together: false, ..misses(1300) } },
];

/// Measurements of one run of one case.
#[derive(Clone, Copy, Debug)]
struct LiveMeasurement {
    pairs: f64,
    cpu_s: f64,
    wall_s: f64,
    /// Interests that were retransmitted.
    again: u64,
    content_bytes: f64,
}

impl LiveMeasurement {
    fn pairs_per_cpu_s(&self) -> f64 {
        self.pairs / self.cpu_s
    }

    fn cpu_s_per_gb(&self) -> f64 {
        self.cpu_s / (self.content_bytes / 1e9)
    }

    fn goodput_mbps(&self) -> f64 {
        self.content_bytes * 8.0 / 1e6 / self.wall_s
    }
}

/// Measures the live forwarder with packets over the loopback interface.
pub(super) fn run(session: &Session, runs: u32) -> Outcome {
    let mut rows = Vec::new();
    for case in &CASES {
        let mut measured = Vec::new();
        for _ in 0..runs {
            // A new forwarder for each run, so that its content store and tables are empty.
            measured.push(measure(&case.load)?);
        }
        rows.push((case, measured));
    }
    print(&match session.format {
        Format::Text => table(&rows, session.screen),
        Format::Json => {
            rows.iter().map(|(case, runs)| as_json(case, runs)).collect::<Value>().to_string() + "\n"
        }
    });
    Ok(Exit::Ok)
}

fn measure(load: &Load) -> Result<LiveMeasurement, Failure> {
    let fault = |why: std::io::Error| Failure::error(format!("load: {why}"));
    let producer = load::Producer::open(load.content).map_err(fault)?;
    let forwarder = Forwarder::start(producer.address())?;
    let outcome = load.run(producer, forwarder.address(), || forwarder.cpu_seconds()).map_err(fault)?;
    Ok(LiveMeasurement {
        pairs: outcome.pairs as f64,
        cpu_s: outcome.cpu_s,
        wall_s: outcome.wall_s,
        again: outcome.again,
        content_bytes: outcome.pairs as f64 * load.content as f64,
    })
}

fn table(rows: &[(&LiveCase, Vec<LiveMeasurement>)], screen: Screen) -> String {
    let numbers =
        ["pairs per CPU s", "minimum", "maximum", "CPU s per GB", "goodput, Mbit/s", "retransmitted"];
    let mut table = TextTable::of(&["case"], &numbers);
    for (case, runs) in rows {
        let middle = |of: fn(&LiveMeasurement) -> f64| median(runs.iter().map(of));
        let [min, max] = extremes(runs.iter().map(LiveMeasurement::pairs_per_cpu_s));
        table.row([
            case.name.to_owned(),
            cell(middle(LiveMeasurement::pairs_per_cpu_s), 0),
            cell(min, 0),
            cell(max, 0),
            cell(middle(LiveMeasurement::cpu_s_per_gb), 2),
            cell(middle(LiveMeasurement::goodput_mbps), 0),
            cell(middle(|run| run.again as f64), 0),
        ]);
    }
    table.render(screen)
}

fn as_json(case: &LiveCase, runs: &[LiveMeasurement]) -> Value {
    let middle = |of: fn(&LiveMeasurement) -> f64| median(runs.iter().map(of));
    let [min, max] = extremes(runs.iter().map(LiveMeasurement::pairs_per_cpu_s));
    json!({
        "name": case.name,
        "pairs_per_cpu_s": middle(LiveMeasurement::pairs_per_cpu_s),
        "min_pairs_per_cpu_s": min,
        "max_pairs_per_cpu_s": max,
        "cpu_s_per_gb": middle(LiveMeasurement::cpu_s_per_gb),
        "goodput_mbps": middle(LiveMeasurement::goodput_mbps),
        "sent_again": middle(|run| run.again as f64),
        "runs": runs.len() as u64,
    })
}
