//! What a clock costs: wake-ups of a consumer per second, and what it gets for them.

use tidegate_report::figure::{BarSeries, Figure, FigureKind};
use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, number, short};
use tidegate_sim::plan::Plan;

use super::kept::Kept;
use super::{Bench, runs};
use crate::exit::Failure;

/// Ticks, ms; zero is a clock without.
const TICKS_MS: [u64; 10] = [0, 1, 2, 5, 10, 20, 50, 100, 250, 500];
/// Interval of routers, ms, whatever the tick: shorter ones do not come to rest here (claim M13).
const INTERVAL_MS: u64 = 100;
/// What looking at one flow costs at a tick, s: 40 cycles of a CPU of 4 GHz (§II.B).
const CHECK_S: f64 = 40.0 / 4e9;
/// Flows of the paper's node (§II.B).
const FLOWS: f64 = 100.0;

/// By tick, without and with smoothening.
#[derive(Default)]
pub(super) struct Costs(Vec<[Vec<Kept>; 2]>);

pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::new();
    for tick_ms in TICKS_MS {
        for is_smooth in [false, true] {
            let plan = match tick_ms {
                0 => runs::fine(bench, INTERVAL_MS)?,
                _ => {
                    let gates = runs::at_gates("interval", &format!("\"{INTERVAL_MS}ms\""));
                    let set: Vec<(&str, String)> =
                        gates.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
                    runs::of_clock(bench, tick_ms, is_smooth, &set)?
                }
            };
            plans.push(runs::aside(plan));
        }
    }
    Ok(plans)
}

impl Costs {
    pub(super) fn sorted(next: &mut impl FnMut() -> Vec<Kept>) -> Self {
        Self(TICKS_MS.iter().map(|_| [next(), next()]).collect())
    }

    fn estimate(&self, place: usize, is_smooth: bool, of: fn(&Kept) -> f64) -> Estimate {
        let runs = self.0.get(place).map_or(&[][..], |cell| cell[usize::from(is_smooth)].as_slice());
        Estimate::of(&runs.iter().map(of).collect::<Vec<f64>>())
    }

    /// Wake-ups and goodput over the tick.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let wakeups = "wake-ups of C1 [1/s]";
        vec![
            self.figure("wakeups", "What a clock costs: wake-ups", wakeups, |run| run.wakeups_per_s),
            self.figure("goodput", "What a clock gives: goodput", "goodput [Mbit/s]", |run| run.goodput_mbps),
        ]
    }

    fn figure(&self, id: &str, title: &str, y_label: &str, of: fn(&Kept) -> f64) -> Figure {
        let series = |(name, is_smooth): (&str, bool)| BarSeries {
            name: name.to_owned(),
            values: (0..TICKS_MS.len()).map(|place| Some(self.estimate(place, is_smooth, of))).collect(),
            published: vec![None; TICKS_MS.len()],
        };
        Figure {
            id: id.to_owned(),
            title: title.to_owned(),
            caption: "By the tick of the clock, 0 without one. Two consumers in the dumbbell, intervals of 100 ms at routers. Wake-ups are those \
                      of timers; arriving packets wake a node besides. Goodput is over the session of C1."
                .to_owned(),
            x_label: "clock tick [ms]".to_owned(),
            y_label: y_label.to_owned(),
            kind: FigureKind::Bars {
                groups: TICKS_MS.iter().map(u64::to_string).collect(),
                series: [("without smoothening", false), ("with smoothening", true)].map(series).to_vec(),
            },
        }
    }

    /// The measured cost beside the paper's arithmetic.
    pub(super) fn table(&self) -> (String, TextTable) {
        let mut table = TextTable::new(&[
            ("tick", Align::Right),
            ("wake-ups of C1 per second", Align::Right),
            ("with smoothening", Align::Right),
            ("goodput [Mbit/s]", Align::Right),
            ("with smoothening", Align::Right),
            ("part of a CPU for checking 100 flows", Align::Right),
        ]);
        for (place, tick_ms) in TICKS_MS.into_iter().enumerate() {
            let cell = |is_smooth, of: fn(&Kept) -> f64| short(&self.estimate(place, is_smooth, of));
            table.row([
                named(tick_ms),
                cell(false, |run| run.wakeups_per_s),
                cell(true, |run| run.wakeups_per_s),
                cell(false, |run| run.goodput_mbps),
                cell(true, |run| run.goodput_mbps),
                if tick_ms == 0 {
                    "-".to_owned()
                } else {
                    number(FLOWS * CHECK_S / (tick_ms as f64 / 1_000.0))
                },
            ]);
        }
        let title = "What a clock costs. The last column is the paper's (II.B): 40 cycles of 4 GHz for each flow at \
                     each tick, so 1 µs for 100 flows, a whole CPU at ticks of 1 µs";
        (title.to_owned(), table)
    }
}

fn named(tick_ms: u64) -> String {
    if tick_ms == 0 { "none".to_owned() } else { format!("{tick_ms} ms") }
}
