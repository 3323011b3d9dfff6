//! All cells as numbers, Table I, and what losses at each receiver do.

use tidegate_core::math;
use tidegate_report::stats::{Estimate, mean};
use tidegate_report::text::{Align, TextTable, number, short};

use super::kept::Kept;
use super::measure::each;
use super::runs::{OTHERS, OUTAGE_S, SCHEMES};
use super::{CLEAN, CONDITIONS, PER_HOP, Results};

/// A table with its title.
type Titled = (String, TextTable);

const CONDITION_NAMES: [&str; CONDITIONS.len()] = ["no losses", "3, 3 and 4 %", "as many, in bursts of 5"];
const PLACES: [&str; PER_HOP.len()] =
    ["3 % at the consumer", "3 % at the access point", "4 % at the producer", "3, 3 and 4 % of frames"];

pub(super) fn all(results: &Results) -> Vec<Titled> {
    vec![
        cells(results, 0, "One consumer: goodput, Mbit/s, and part of Interests sent again"),
        cells(
            results,
            1,
            "Ten consumers: sum of goodputs, each over its own time, Mbit/s, and part of Interests sent again",
        ),
        ten(results),
        outage(results),
        per_hop(results),
    ]
}

/// One topology: every scheme under every condition.
fn cells(results: &Results, topology: usize, title: &str) -> Titled {
    let mut columns = vec![("scheme", Align::Left)];
    for name in CONDITION_NAMES {
        columns.extend([(name, Align::Right), ("sent again", Align::Right)]);
    }
    let mut table = TextTable::new(&columns);
    let rows = SCHEMES.iter().zip(&results.grid).chain(OTHERS.iter().zip(&results.others));
    for (scheme, topologies) in rows {
        let mut row = vec![scheme.name.to_owned()];
        for condition in 0..CONDITIONS.len() {
            let runs = topologies.get(topology).and_then(|cells| cells.get(condition));
            let runs = runs.map_or(&[][..], Vec::as_slice);
            row.extend([goodput(runs), estimate(runs, Kept::retransmitted)]);
        }
        table.row(row);
    }
    (title.to_owned(), table)
}

/// Goodput of all consumers.
pub(super) fn goodput(runs: &[Kept]) -> String {
    marked(estimate(runs, Kept::goodput_mbps), runs)
}

/// With how many runs did not end.
pub(super) fn marked(text: String, runs: &[Kept]) -> String {
    match runs.iter().filter(|run| !run.is_complete()).count() {
        0 => text,
        some => format!("{text} ({some} not done)"),
    }
}

pub(super) fn estimate(runs: &[Kept], of: impl Fn(&Kept) -> f64) -> String {
    short(&Estimate::of(&each(runs, of)))
}

/// Ten consumers without losses.
fn ten(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("scheme", Align::Left),
        ("mean delivery [s]", Align::Right),
        ("first done [s]", Align::Right),
        ("last done [s]", Align::Right),
        ("Jain's index", Align::Right),
        ("queue of the consumers' cell, kB", Align::Right),
        ("of the producer's, kB", Align::Right),
    ]);
    for (place, scheme) in SCHEMES.iter().enumerate() {
        let runs = results.cell(place, 1, CLEAN);
        table.row([
            scheme.name.to_owned(),
            marked(estimate(runs, Kept::mean_delivery_s), runs),
            estimate(runs, |run| least(&run.deliveries())),
            estimate(runs, |run| most(&run.deliveries())),
            estimate(runs, Kept::jain),
            estimate(runs, |run| run.queued_bytes[0] / 1e3),
            estimate(runs, |run| run.queued_bytes[1] / 1e3),
        ]);
    }
    ("Ten consumers without losses; published for BBR-CD: 37.8 s".to_owned(), table)
}

/// Table I: by how much of its length the outage delays the first, the mean and the last consumer.
fn outage(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("scheme", Align::Left),
        ("mean delivery with the outage [s]", Align::Right),
        ("increase, least", Align::Right),
        ("mean", Align::Right),
        ("most", Align::Right),
        ("published", Align::Left),
        ("Interests/s in its second half", Align::Right),
    ]);
    for (place, scheme) in SCHEMES.iter().enumerate() {
        let (with, without) = (results.outage(place), results.cell(place, 1, CLEAN));
        let increase = |of: fn(&[f64]) -> f64| {
            let pairs = with.iter().zip(without);
            let parts = pairs.map(|(with, without)| {
                (of(&with.deliveries()) - of(&without.deliveries())) / OUTAGE_S as f64
            });
            short(&Estimate::of(&parts.collect::<Vec<f64>>()))
        };
        let published = ["0.625, 0.4, 0.33", "0.91, 0.86, 0.812"].get(place).copied().unwrap_or("");
        table.row([
            scheme.name.to_owned(),
            marked(estimate(with, Kept::mean_delivery_s), with),
            increase(least),
            increase(mean),
            increase(most),
            published.to_owned(),
            estimate(with, |run| run.outage_rate),
        ]);
    }
    (format!("Table I: ten consumers, the producer off for {OUTAGE_S} s from 10 s on"), table)
}

/// One consumer, losses at one receiver alone.
fn per_hop(results: &Results) -> Titled {
    let mut columns = vec![("scheme", Align::Left)];
    columns.extend(PLACES.map(|place| (place, Align::Right)));
    let mut table = TextTable::new(&columns);
    for (scheme, places) in SCHEMES.iter().zip(&results.per_hop) {
        let mut row = vec![scheme.name.to_owned()];
        row.extend(places.iter().map(|runs| goodput(runs)));
        table.row(row);
    }
    let rate = number(100.0 * (1.0 - math::cube(0.97) * 0.96));
    (
        format!("One consumer: goodput, Mbit/s, with losses at one receiver alone; all three make {rate} %"),
        table,
    )
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
