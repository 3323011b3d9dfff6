//! How results depend on values that the paper leaves open, and on the guard that it does not have.

use tidegate_report::figure::{BarSeries, Figure, FigureKind};
use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, short};

use super::kept::Kept;
use super::{Bench, Row, SCENARIOS, SIEVE, SSR, runs};
use crate::exit::Failure;

/// One value in place of the assumed one.
struct Variant {
    name: &'static str,
    /// Of routers and controller, as in an inline table.
    scheme: &'static str,
    queue: &'static str,
}

const fn scheme(name: &'static str, scheme: &'static str) -> Variant {
    Variant { name, scheme, queue: "200pkt" }
}

const fn queue(name: &'static str, queue: &'static str) -> Variant {
    Variant { name, scheme: "", queue }
}

const VARIANTS: [Variant; 18] = [
    scheme("as assumed", ""),
    scheme("th1 0.7", ", th1 = 0.7"),
    scheme("th1 0.8", ", th1 = 0.8"),
    scheme("th1 0.95", ", th1 = 0.95"),
    scheme("th1 1", ", th1 = 1.0"),
    scheme("th2 0.025", ", th2 = 0.025"),
    scheme("th2 0.05", ", th2 = 0.05"),
    scheme("th2 0.09", ", th2 = 0.09"),
    scheme("th2 0.125", ", th2 = 0.125"),
    scheme("th2 0.25", ", th2 = 0.25"),
    scheme("dwell 0 s", ", dwell = \"0s\""),
    scheme("dwell 1 s", ", dwell = \"1s\""),
    scheme("dwell 2 s", ", dwell = \"2s\""),
    scheme("dwell 10 s", ", dwell = \"10s\""),
    scheme("no guard", ", dwell = \"0s\", hysteresis = 0, hold = 0"),
    queue("queue 50", "50pkt"),
    queue("queue 100", "100pkt"),
    queue("queue 400", "400pkt"),
];

const FORMS: [Row; 2] = [SIEVE, SSR];

/// By variant, form and scenario.
type Cells = Vec<Vec<Vec<Vec<Kept>>>>;

/// A measure of a run.
type Measure = fn(&Kept) -> f64;

/// Figures, and tables with their titles.
type Study = (Vec<Figure>, Vec<(String, TextTable)>);

/// Both forms under every variant in every scenario; figures and a table per scenario.
pub(super) fn study(bench: &Bench<'_>) -> Result<Study, Failure> {
    let mut plans = Vec::new();
    for variant in &VARIANTS {
        let routers = format!("[{{ scheme = \"ndnsieve\"{} }}]", variant.scheme);
        let controller = format!("{{ name = \"ndnsieve\"{} }}", variant.scheme);
        let queue = format!("\"{}\"", variant.queue);
        let set = [
            ("router.parts", routers.as_str()),
            ("controller.scheme", controller.as_str()),
            (QUEUE, queue.as_str()),
        ];
        for row in FORMS {
            for scenario in &SCENARIOS {
                plans.push(runs::with(bench, scenario, row, &set)?);
            }
        }
    }
    let mut kept = bench.run(&plans, Kept::of).into_iter();
    let mut next = || kept.next().unwrap_or_default();
    let cells: Cells = VARIANTS
        .iter()
        .map(|_| FORMS.iter().map(|_| SCENARIOS.iter().map(|_| next()).collect()).collect())
        .collect();
    let figures = (0..SCENARIOS.len()).flat_map(|scenario| figures(&cells, scenario)).collect();
    let tables = (0..SCENARIOS.len()).map(|scenario| table(&cells, scenario)).collect();
    Ok((figures, tables))
}

const QUEUE: &str = "topology.link.queue.limit";

const SHOWN: [(&str, &str, Measure); 2] =
    [("throughput", "throughput [Mbit/s]", Kept::throughput), ("delay", "mean full delay [ms]", Kept::delay)];

fn figures(cells: &Cells, scenario: usize) -> Vec<Figure> {
    let id = SCENARIOS[scenario].id;
    let figure = |(what, y_label, measure): (&str, &str, Measure)| Figure {
        id: format!("open-{what}-{id}"),
        title: format!("Open values: {what}, {id}"),
        caption: "One value changed at a time, at routers and controller.".to_owned(),
        x_label: String::new(),
        y_label: y_label.to_owned(),
        kind: FigureKind::Bars {
            groups: VARIANTS.iter().map(|variant| variant.name.to_owned()).collect(),
            series: (0..FORMS.len()).map(|form| series(cells, form, scenario, measure)).collect(),
        },
    };
    SHOWN.into_iter().map(figure).collect()
}

fn series(cells: &Cells, form: usize, scenario: usize, measure: Measure) -> BarSeries {
    let value = |variant: &Vec<Vec<Vec<Kept>>>| Some(estimate(&variant[form][scenario], measure));
    BarSeries {
        name: FORMS[form].name.to_owned(),
        values: cells.iter().map(value).collect(),
        published: vec![None; cells.len()],
    }
}

fn estimate(runs: &[Kept], measure: Measure) -> Estimate {
    Estimate::of(&runs.iter().map(measure).collect::<Vec<f64>>())
}

const COLUMNS: [(&str, Measure); 4] = [
    ("throughput [Mbit/s]", Kept::throughput),
    ("mean full delay [ms]", Kept::delay),
    ("path changes", |run| run.moves.len() as f64),
    ("dropped packets", |run| run.dropped),
];

fn table(cells: &Cells, scenario: usize) -> (String, TextTable) {
    let heads: Vec<(&str, Align)> = [("open value", Align::Left), ("row", Align::Left)]
        .into_iter()
        .chain(COLUMNS.iter().map(|(head, _)| (*head, Align::Right)))
        .collect();
    let mut table = TextTable::new(&heads);
    for (variant, forms) in VARIANTS.iter().zip(cells) {
        for (row, scenarios) in FORMS.iter().zip(forms) {
            let values = COLUMNS.iter().map(|(_, measure)| short(&estimate(&scenarios[scenario], *measure)));
            table.row([variant.name.to_owned(), row.name.to_owned()].into_iter().chain(values));
        }
    }
    (format!("What the paper leaves open: {}", SCENARIOS[scenario].id), table)
}
