//! How the losses of Tables 4 and 5 depend on what the paper leaves open or our copy does not show.

use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, number, short};
use tidegate_sim::plan::Plan;

use super::figures::{TABLE_4, TABLE_5};
use super::kept::Kept;
use super::{Bench, TICKS_MS, measure, runs};
use crate::exit::Failure;

/// One value in place of the assumed one.
struct Variant {
    name: &'static str,
    /// A parameter of every gate.
    gates: &'static [(&'static str, &'static str)],
    /// Anything else.
    more: &'static [(&'static str, &'static str)],
}

const VARIANTS: [Variant; 7] = [
    Variant { name: "as assumed", gates: &[], more: &[] },
    Variant { name: "eq. 3: beta = 0.1", gates: &[("beta", "\"constant\"")], more: &[] },
    Variant { name: "refused with a Nack", gates: &[("policing", "\"nack\"")], more: &[] },
    Variant { name: "first RTT 100 ms", gates: &[("first_rtt", "\"100ms\"")], more: &[] },
    Variant {
        name: "one Interest before the first stamp",
        gates: &[],
        more: &[("flow.*.scheme", "{ name = \"mircc\", start = \"probe\" }")],
    },
    Variant {
        name: "clock at routers, too",
        gates: &[],
        // The period is that of the cell.
        more: &[("router.clock", "{ period = \"TICKms\" }")],
    },
    Variant {
        name: "queues of 100 packets",
        gates: &[],
        more: &[
            ("topology.access.queue.limit", "\"100pkt\""),
            ("topology.bottleneck.queue.limit", "\"100pkt\""),
        ],
    },
];

/// Runs every variant at every tick, without and with smoothening; a table for each of the two.
pub(super) fn study(bench: &Bench<'_>) -> Result<Vec<(String, TextTable)>, Failure> {
    let mut plans = Vec::new();
    for variant in &VARIANTS {
        for tick_ms in TICKS_MS {
            for is_smooth in [false, true] {
                plans.push(plan(bench, variant, tick_ms, is_smooth)?);
            }
        }
    }
    let mut kept = bench.run(&plans, Kept::of)?.into_iter();
    let mut next = || kept.next().unwrap_or_default();
    let cells: Vec<Vec<[Vec<Kept>; 2]>> =
        VARIANTS.iter().map(|_| TICKS_MS.iter().map(|_| [next(), next()]).collect()).collect();
    let titles = [
        ("What the paper leaves open: losses of C1 and C2, without smoothening", TABLE_4),
        ("What the paper leaves open: losses of C1 and C2, with smoothening", TABLE_5),
    ];
    let table = |(place, (title, published)): (usize, (&str, [[f64; 2]; 4]))| {
        (title.to_owned(), table(&cells, place, published))
    };
    Ok(titles.into_iter().enumerate().map(table).collect())
}

fn plan(bench: &Bench<'_>, variant: &Variant, tick_ms: u64, is_smooth: bool) -> Result<Plan, Failure> {
    let gates: Vec<(String, String)> =
        variant.gates.iter().flat_map(|(parameter, value)| runs::at_gates(parameter, value)).collect();
    let mut set: Vec<(&str, String)> =
        gates.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    set.extend(variant.more.iter().map(|(key, value)| (*key, value.replace("TICK", &tick_ms.to_string()))));
    runs::of_clock(bench, tick_ms, is_smooth, &set)
}

fn table(cells: &[Vec<[Vec<Kept>; 2]>], place: usize, published: [[f64; 2]; 4]) -> TextTable {
    let heads = ["C1 100 ms", "C2 100 ms", "C1 250", "C2 250", "C1 500", "C2 500", "C1 750", "C2 750"];
    let heads: Vec<(&str, Align)> =
        [("", Align::Left)].into_iter().chain(heads.map(|head| (head, Align::Right))).collect();
    let mut table = TextTable::new(&heads);
    let flat = published.into_iter().flatten().map(number);
    table.row(["published".to_owned()].into_iter().chain(flat));
    for (variant, ticks) in VARIANTS.iter().zip(cells) {
        let loss = |cell: &[Vec<Kept>; 2], flow| {
            short(&Estimate::of(
                &cell[place].iter().map(|run| measure::loss(run, flow)).collect::<Vec<f64>>(),
            ))
        };
        let row = ticks.iter().flat_map(|cell| [loss(cell, 0), loss(cell, 1)]);
        table.row([variant.name.to_owned()].into_iter().chain(row));
    }
    table
}
