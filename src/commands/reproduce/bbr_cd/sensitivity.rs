//! How the results depend on what the paper leaves open.

use tidegate_report::text::{Align, TextTable};
use tidegate_sim::plan::Plan;

use super::kept::Kept;
use super::runs::{CONSUMERS, Condition, OUTAGE_FROM_S, PAPER_LOSS, SCHEMES};
use super::tables::{estimate, goodput, marked};
use super::{Bench, aside, runs};
use crate::exit::Failure;

/// Values in place of the assumed ones.
struct Variant {
    name: &'static str,
    more: &'static [(&'static str, &'static str)],
}

const VARIANTS: [Variant; 8] = [
    Variant { name: "as assumed", more: &[] },
    Variant { name: "queues of 50 frames", more: &[("topology.link.queue.limit", "\"75kB\"")] },
    Variant { name: "queues of 500 frames", more: &[("topology.link.queue.limit", "\"750kB\"")] },
    Variant { name: "both hops on one channel", more: &[("link.r1-p1.medium", "\"cell\"")] },
    Variant { name: "no aggregates", more: &[("medium", "{ cell = { mcs = 6 }, backhaul = { mcs = 6 } }")] },
    Variant {
        name: "DCF without QoS",
        more: &[("medium.cell.access", "\"dcf\""), ("medium.backhaul.access", "\"dcf\"")],
    },
    Variant { name: "no delay but the medium's", more: &[("topology.link.delay", "\"0s\"")] },
    Variant { name: "no cache at the access point", more: &[("router.cache", "\"0pkt\"")] },
];

/// When the producer goes off, s.
const OUTAGES_S: [u64; 4] = [2, 5, OUTAGE_FROM_S, 20];

/// Every variant, and other times of the outage.
pub(super) fn study(bench: &Bench<'_>) -> Result<Vec<(String, TextTable)>, Failure> {
    let cells = [
        (CONSUMERS[0], Condition::Clean),
        (CONSUMERS[0], Condition::Lossy(PAPER_LOSS)),
        (CONSUMERS[1], Condition::Clean),
        (CONSUMERS[1], Condition::Lossy(PAPER_LOSS)),
    ];
    let mut plans: Vec<Plan> = Vec::new();
    for (variant, scheme) in
        VARIANTS.iter().flat_map(|variant| SCHEMES.iter().map(move |scheme| (variant, scheme)))
    {
        for (consumers, condition) in cells {
            plans.push(aside(runs::plan(bench, scheme, consumers, condition, variant.more)?));
        }
    }
    for (scheme, from_s) in SCHEMES.iter().flat_map(|scheme| OUTAGES_S.map(|from_s| (scheme, from_s))) {
        plans.push(aside(runs::plan(bench, scheme, CONSUMERS[1], Condition::Outage(from_s), &[])?));
    }
    let mut kept = bench.run(&plans, Kept::of)?.into_iter();
    let mut next = || kept.next().unwrap_or_default();
    let variants = variants(&mut next);
    Ok(vec![variants, outages(&mut next)])
}

fn variants(next: &mut impl FnMut() -> Vec<Kept>) -> (String, TextTable) {
    let mut table = TextTable::new(&[
        ("variant", Align::Left),
        ("scheme", Align::Left),
        ("one consumer", Align::Right),
        ("with losses", Align::Right),
        ("ten", Align::Right),
        ("with losses", Align::Right),
    ]);
    for (variant, scheme) in
        VARIANTS.iter().flat_map(|variant| SCHEMES.iter().map(move |scheme| (variant, scheme)))
    {
        let mut row = vec![variant.name.to_owned(), scheme.name.to_owned()];
        row.extend((0..4).map(|_| goodput(&next())));
        table.row(row);
    }
    ("Goodput of all consumers, Mbit/s, where the paper leaves values open".to_owned(), table)
}

fn outages(next: &mut impl FnMut() -> Vec<Kept>) -> (String, TextTable) {
    let names = OUTAGES_S.map(|from_s| format!("off from {from_s} s"));
    let mut columns = vec![("scheme", Align::Left)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    for scheme in &SCHEMES {
        let mut row = vec![scheme.name.to_owned()];
        row.extend(OUTAGES_S.map(|_| {
            let runs = next();
            marked(estimate(&runs, Kept::mean_delivery_s), &runs)
        }));
        table.row(row);
    }
    ("Mean delivery of ten consumers, s, by when the producer goes off for 32 s".to_owned(), table)
}
