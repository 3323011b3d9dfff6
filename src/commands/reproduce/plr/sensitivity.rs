//! How results depend on what the paper leaves open: link rate, base delay, marking rule.

use tidegate_report::figure::{BarSeries, Figure, FigureKind};
use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, short};

use super::measure::{self, Kept};
use super::{Bench, ROWS, Row, Setting, WITH, WITHOUT, linear};
use crate::exit::Failure;

/// One value in place of the assumed one.
struct Variant {
    name: &'static str,
    values: &'static [(&'static str, &'static str)],
}

const VARIANTS: [Variant; 9] = [
    Variant { name: "as assumed", values: &[] },
    Variant { name: "25 Mbps", values: &[("topology.link.rate", "25Mbps")] },
    Variant { name: "30 Mbps", values: &[("topology.link.rate", "30Mbps")] },
    Variant { name: "40 Mbps", values: &[("topology.link.rate", "40Mbps")] },
    Variant { name: "50 Mbps", values: &[("topology.link.rate", "50Mbps")] },
    Variant {
        name: "RTT 20 ms",
        values: &[("topology.link.delay", "5ms"), ("topology.access.delay", "2.5ms")],
    },
    Variant {
        name: "RTT 80 ms",
        values: &[("topology.link.delay", "20ms"), ("topology.access.delay", "10ms")],
    },
    Variant {
        name: "marking since NFD 0.7",
        values: &[
            ("topology.access.queue.disciplines", "[\"nfd-marking\"]"),
            ("topology.link.queue.disciplines", "[\"nfd-marking\"]"),
        ],
    },
    Variant {
        name: "CoDel marking",
        values: &[
            ("topology.access.queue.disciplines", "[\"codel-mark\"]"),
            ("topology.link.queue.disciplines", "[\"codel-mark\"]"),
        ],
    },
];

const SETTINGS: [Setting; 2] = [WITHOUT, WITH];

/// Runs every row under every variant; two figures and a table.
pub(super) fn study(bench: &Bench<'_>) -> Result<(Vec<Figure>, (String, TextTable)), Failure> {
    let mut plans = Vec::new();
    for variant in &VARIANTS {
        for row in ROWS {
            for setting in SETTINGS {
                plans.push(linear(bench, row, setting, variant.values)?);
            }
        }
    }
    let mut kept = bench.run(&plans, Kept::of).into_iter();
    let cells: Vec<Vec<[Vec<Kept>; 2]>> = VARIANTS
        .iter()
        .map(|_| ROWS.map(|_| [kept.next().unwrap_or_default(), kept.next().unwrap_or_default()]).to_vec())
        .collect();
    let fewer = |cell: &[Vec<Kept>; 2]| decrease(cell, measure::retransmissions);
    let faster = |cell: &[Vec<Kept>; 2]| decrease(cell, measure::completion_s);
    let figures = vec![
        figure("open-retransmissions", "Open values: reduction of retransmissions by PLR", &cells, fewer),
        figure("open-completion", "Open values: reduction of completion time by PLR", &cells, faster),
    ];
    Ok((figures, table(&cells)))
}

fn decrease(cell: &[Vec<Kept>; 2], measure: measure::Measure) -> Vec<f64> {
    let [without, with] = [0, 1].map(|with: usize| cell[with].iter().map(measure).collect::<Vec<f64>>());
    with.iter().zip(&without).map(|(with, without)| 100.0 * (1.0 - with / without)).collect()
}

fn figure(
    id: &str,
    title: &str,
    cells: &[Vec<[Vec<Kept>; 2]>],
    of: impl Fn(&[Vec<Kept>; 2]) -> Vec<f64>,
) -> Figure {
    let series = |(place, row): (usize, &Row)| BarSeries {
        name: row.name.to_owned(),
        values: cells.iter().map(|variant| Some(Estimate::of(&of(&variant[place])))).collect(),
        published: vec![None; cells.len()],
    };
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: "Linear scenario, queue 32, alpha 0.5, one value changed at a time.".to_owned(),
        x_label: String::new(),
        y_label: "reduction [%]".to_owned(),
        kind: FigureKind::Bars {
            groups: VARIANTS.iter().map(|variant| variant.name.to_owned()).collect(),
            series: ROWS.iter().enumerate().map(series).collect(),
        },
    }
}

fn table(cells: &[Vec<[Vec<Kept>; 2]>]) -> (String, TextTable) {
    let heads = [
        ("open value", Align::Left),
        ("row", Align::Left),
        ("retransmissions without", Align::Right),
        ("with PLR", Align::Right),
        ("full delay without [ms]", Align::Right),
        ("completion decrease [%]", Align::Right),
    ];
    let mut table = TextTable::new(&heads);
    for (variant, rows) in VARIANTS.iter().zip(cells) {
        for (row, cell) in ROWS.iter().zip(rows) {
            let at = |with: usize, measure: measure::Measure| {
                short(&Estimate::of(&cell[with].iter().map(measure).collect::<Vec<f64>>()))
            };
            table.row([
                variant.name.to_owned(),
                row.name.to_owned(),
                at(0, measure::retransmissions),
                at(1, measure::retransmissions),
                at(0, measure::full_delay_ms),
                short(&Estimate::of(&decrease(cell, measure::completion_s))),
            ]);
        }
    }
    ("What the paper leaves open (linear scenario, queue 32, alpha 0.5)".to_owned(), table)
}
