//! Smoothening under other schemes that wait for time: every node has the clock.

use tidegate_report::figure::{BarSeries, Figure, FigureKind};
use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, short};
use tidegate_sim::plan::Plan;

use super::kept::Kept;
use super::{Bench, runs};
use crate::exit::Failure;

/// A scheme at consumers and at every other node, as TOML.
struct Row {
    name: &'static str,
    consumer: &'static str,
    parts: &'static str,
}

const ROWS: [Row; 7] = [
    Row {
        name: "MIRCC",
        consumer: "{ name = \"mircc\", start = \"rate\", first_rate = 1000 }",
        parts: "[\"mircc\"]",
    },
    Row { name: "HoBHIS", consumer: "\"hobhis\"", parts: "[\"hobhis\"]" },
    Row { name: "HR-ICP", consumer: "\"hr-icp\"", parts: "[\"hr-icp\"]" },
    Row { name: "ECN rate (rebuilt)", consumer: "\"ecn-rate-like\"", parts: "[\"ecn-rate-like\"]" },
    Row { name: "MNRCP (rebuilt)", consumer: "\"mnrcp-like\"", parts: "[\"mnrcp-like\"]" },
    Row {
        name: "SF",
        consumer: "{ name = \"stateful-forwarding\", sending = \"rate\" }",
        parts: "[\"stateful-forwarding\"]",
    },
    Row {
        name: "SF, once per RTT",
        consumer: "{ name = \"stateful-forwarding-rtt\", sending = \"rate\" }",
        parts: "[\"stateful-forwarding-rtt\"]",
    },
];

/// A clock for all nodes; zero is one without ticks.
struct Ticks {
    name: &'static str,
    period_ms: u64,
    is_smooth: bool,
}

const CLOCKS: [Ticks; 5] = [
    Ticks { name: "no ticks", period_ms: 0, is_smooth: false },
    Ticks { name: "ticks of 100 ms", period_ms: 100, is_smooth: false },
    Ticks { name: "ticks of 100 ms, smoothened", period_ms: 100, is_smooth: true },
    Ticks { name: "ticks of 500 ms", period_ms: 500, is_smooth: false },
    Ticks { name: "ticks of 500 ms, smoothened", period_ms: 500, is_smooth: true },
];

/// By scheme and clock.
#[derive(Default)]
pub(super) struct Others(Vec<Vec<Vec<Kept>>>);

type Measure = (&'static str, &'static str, fn(&Kept) -> f64);

const MEASURES: [Measure; 2] = [
    ("goodput", "goodput [Mbit/s]", |run| run.goodput_mbps),
    ("loss", "fraction of Interests without Data [1]", Kept::loss),
];

pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::new();
    for row in &ROWS {
        for clock in &CLOCKS {
            plans.push(runs::aside(plan(bench, row, clock)?));
        }
    }
    Ok(plans)
}

fn plan(bench: &Bench<'_>, row: &Row, clock: &Ticks) -> Result<Plan, Failure> {
    let mut set = vec![("flow.*.scheme".to_owned(), row.consumer.to_owned())];
    for node in ["router", "node.c1", "node.c2"] {
        set.push((format!("{node}.parts"), row.parts.to_owned()));
        if clock.period_ms > 0 {
            let Ticks { period_ms, is_smooth, .. } = clock;
            let value = format!("{{ period = \"{period_ms}ms\", flush_on_arrival = {is_smooth} }}");
            set.push((format!("{node}.clock"), value));
        }
    }
    let mut plan = runs::plan(bench, &set)?;
    if clock.period_ms == 0 {
        plan.nodes.iter_mut().for_each(|node| node.clock = None);
    }
    Ok(plan)
}

impl Others {
    pub(super) fn sorted(next: &mut impl FnMut() -> Vec<Kept>) -> Self {
        Self(ROWS.iter().map(|_| CLOCKS.iter().map(|_| next()).collect()).collect())
    }

    fn estimate(&self, row: usize, clock: usize, of: fn(&Kept) -> f64) -> Estimate {
        let runs = self.0.get(row).and_then(|clocks| clocks.get(clock)).map_or(&[][..], Vec::as_slice);
        Estimate::of(&runs.iter().map(of).collect::<Vec<f64>>())
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        MEASURES.iter().map(|measure| self.figure(*measure)).collect()
    }

    fn figure(&self, (id, y_label, of): Measure) -> Figure {
        let series = |(clock, ticks): (usize, &Ticks)| BarSeries {
            name: ticks.name.to_owned(),
            values: (0..ROWS.len()).map(|row| Some(self.estimate(row, clock, of))).collect(),
            published: vec![None; ROWS.len()],
        };
        Figure {
            id: format!("others-{id}"),
            title: format!("Smoothening under other schemes: {id}"),
            caption: "The paper's dumbbell; consumers and routers have the clock, smoothening is at both. Goodput is over \
                      the session of C1. SF is stateful forwarding. ECN rate and MNRCP are rebuilt from abstracts."
                .to_owned(),
            x_label: String::new(),
            y_label: y_label.to_owned(),
            kind: FigureKind::Bars {
                groups: ROWS.iter().map(|row| row.name.replace(" (rebuilt)", "")).collect(),
                series: CLOCKS.iter().enumerate().map(series).collect(),
            },
        }
    }

    pub(super) fn table(&self) -> (String, TextTable) {
        let mut table = TextTable::new(&[
            ("scheme", Align::Left),
            ("clock of all nodes", Align::Left),
            ("goodput [Mbit/s]", Align::Right),
            ("loss", Align::Right),
            ("wake-ups of C1 per second", Align::Right),
        ]);
        for (row, scheme) in ROWS.iter().enumerate() {
            for (clock, ticks) in CLOCKS.iter().enumerate() {
                let cell = |of| short(&self.estimate(row, clock, of));
                table.row([
                    scheme.name.to_owned(),
                    ticks.name.to_owned(),
                    cell(|run| run.goodput_mbps),
                    cell(Kept::loss),
                    cell(|run| run.wakeups_per_s),
                ]);
            }
        }
        ("Smoothening under other schemes that wait for time".to_owned(), table)
    }
}
