//! Runs a scenario, and reads rates off its samples.

use tidegate_core::observe::records::{LinkSamples, RunRecord};
use tidegate_core::rng::Seed;
use tidegate_core::units::Time;
use tidegate_schemes::SCHEMES;
use tidegate_sim::run::run;
use tidegate_sim::scenario;

/// Records of `text` for each of `seeds`.
pub fn runs(text: &str, seeds: std::ops::RangeInclusive<u64>) -> Vec<RunRecord> {
    let plan =
        scenario::parse("test.toml", text, &[], SCHEMES).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    seeds.map(|seed| run(&plan, Seed(seed))).collect()
}

/// Segments per second that `flow` received between two instants of the run, seconds.
pub fn goodput(record: &RunRecord, flow: u32, between: [f64; 2]) -> f64 {
    let samples = &record.flow_samples;
    let rows = (0..samples.time.len()).filter(|row| samples.flow[*row] == flow);
    let counts = rows.map(|row| (samples.time[row], samples.delivered_segments[row]));
    growth(counts, between) / (between[1] - between[0])
}

/// Bytes per second that left the first node of `link` towards the second between two instants of the run, seconds.
pub fn sent_rate(record: &RunRecord, link: [&str; 2], between: [f64; 2]) -> f64 {
    link_growth(record, link, between, |samples, row| samples.sent_bytes[row]) / (between[1] - between[0])
}

/// Marks at the queue of `link` between two instants of the run, seconds.
pub fn marks(record: &RunRecord, link: [&str; 2], between: [f64; 2]) -> f64 {
    link_growth(record, link, between, |samples, row| u64::from(samples.marked_packets[row]))
}

/// Parts of the Interests that went from `from` to each of `to` between two instants, seconds.
pub fn split(record: &RunRecord, from: &str, to: &[&str], between: [f64; 2]) -> Vec<f64> {
    let rates: Vec<f64> = to.iter().map(|to| sent_rate(record, [from, to], between)).collect();
    let total: f64 = rates.iter().sum();
    rates.iter().map(|rate| rate / total).collect()
}

fn link_growth(
    record: &RunRecord,
    [from, to]: [&str; 2],
    between: [f64; 2],
    counted: impl Fn(&LinkSamples, usize) -> u64,
) -> f64 {
    let link = record.links.iter().position(|link| link.from == from && link.to == to).expect("a link");
    let samples = &record.link_samples;
    let rows = (0..samples.time.len()).filter(|row| samples.link[*row] as usize == link);
    growth(rows.map(|row| (samples.time[row], counted(samples, row))), between)
}

/// By how much a count has grown between two instants, seconds.
fn growth(counts: impl Iterator<Item = (Time, u64)>, [from, to]: [f64; 2]) -> f64 {
    let (mut before, mut after) = (0, 0);
    for (time, count) in counts {
        let at = time.as_nanos() as f64 / 1e9;
        before = if at <= from { count } else { before };
        after = if at <= to { count } else { after };
    }
    (after - before) as f64
}
