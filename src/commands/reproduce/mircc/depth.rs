//! What separates the bucket's depth from the round trip: one consumer alone under both, and the formula.

use tidegate_report::figure::{Figure, FigureKind, Series};
use tidegate_report::stats::{self, Estimate};
use tidegate_sim::plan::Plan;

use super::kept::Kept;
use super::{Bench, TICKS_MS, runs};
use crate::exit::Failure;

/// Round trips, ms, with the delays of access and bottleneck links that make them.
const ROUND_TRIPS: [(u64, &str, &str); 2] = [(400, "50ms", "100ms"), (800, "100ms", "200ms")];
/// Places of the bucket, packets.
const DEPTHS: [u64; 5] = [50, 100, 200, 400, 800];
/// Interests per second of one consumer.
const RATE: f64 = 1000.0;

/// By round trip, depth and tick.
#[derive(Default)]
pub(super) struct Depths(Vec<Vec<Kept>>);

fn cells() -> impl Iterator<Item = ((u64, &'static str, &'static str), u64, u64)> {
    ROUND_TRIPS.into_iter().flat_map(|round_trip| {
        DEPTHS
            .into_iter()
            .flat_map(move |depth| TICKS_MS.into_iter().map(move |tick| (round_trip, depth, tick)))
    })
}

pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    let plan = |((_, access, bottleneck), depth, tick_ms): ((u64, &str, &str), u64, u64)| {
        let quoted = |text: &str| format!("\"{text}\"");
        let mut set = vec![
            ("topology.access.delay", quoted(access)),
            ("topology.bottleneck.delay", quoted(bottleneck)),
        ];
        let gates = runs::at_gates("depth", &format!("\"{depth}pkt\""));
        set.extend(gates.iter().map(|(key, value)| (key.as_str(), value.clone())));
        runs::of_clock(bench, tick_ms, false, &set).map(runs::alone)
    };
    cells().map(plan).collect()
}

impl Depths {
    pub(super) fn sorted(next: &mut impl FnMut() -> Vec<Kept>) -> Self {
        Self(cells().map(|_| next()).collect())
    }

    /// Losses of the only consumer, per seed; none for a cell that was not run.
    pub(super) fn loss(&self, round_trip_ms: u64, depth: u64, tick_ms: u64) -> Vec<f64> {
        let wanted = (round_trip_ms, depth, tick_ms);
        let place = cells().position(|((round_trip, ..), depth, tick)| (round_trip, depth, tick) == wanted);
        let runs = place.and_then(|place| self.0.get(place)).map_or(&[][..], Vec::as_slice);
        runs.iter().map(|run| run.flows.first().map_or(f64::NAN, |flow| flow.loss())).collect()
    }

    /// One figure per tick: loss over depth.
    pub(super) fn figures(&self) -> Vec<Figure> {
        TICKS_MS.iter().map(|tick_ms| self.figure(*tick_ms)).collect()
    }

    fn figure(&self, tick_ms: u64) -> Figure {
        let mut series: Vec<Series> = ROUND_TRIPS
            .iter()
            .map(|(round_trip, ..)| Series {
                name: format!("round trip {round_trip} ms"),
                points: DEPTHS.iter().map(|depth| self.point(*round_trip, *depth, tick_ms)).collect(),
                ..Series::default()
            })
            .collect();
        series.push(Series {
            name: "formula".to_owned(),
            points: DEPTHS
                .iter()
                .map(|depth| (*depth as f64, Estimate::of(&[formula(*depth, tick_ms)])))
                .collect(),
            ..Series::default()
        });
        Figure {
            id: format!("depth{tick_ms}"),
            title: format!("Loss of one consumer alone, clock tick of {tick_ms} ms"),
            caption: "What a tick sends and the bucket cannot hold is lost, however long a round trip takes. Formula: 1 - depth / (1000/s · tick).".to_owned(),
            x_label: "bucket depth [packets]".to_owned(),
            y_label: "fraction of Interests lost [1]".to_owned(),
            kind: FigureKind::Lines { series },
        }
    }

    fn point(&self, round_trip_ms: u64, depth: u64, tick_ms: u64) -> (f64, Estimate) {
        (depth as f64, Estimate::of(&self.loss(round_trip_ms, depth, tick_ms)))
    }

    /// Largest difference of the means between the two round trips, over all depths and ticks.
    pub(super) fn largest_difference(&self) -> f64 {
        let [(short, ..), (long, ..)] = ROUND_TRIPS;
        cells()
            .map(|(_, depth, tick)| {
                (stats::mean(&self.loss(short, depth, tick)) - stats::mean(&self.loss(long, depth, tick)))
                    .abs()
            })
            .fold(0.0, f64::max)
    }
}

/// Loss of a consumer whose every tick sends a burst into an empty bucket.
fn formula(depth: u64, tick_ms: u64) -> f64 {
    (1.0 - depth as f64 / (RATE * tick_ms as f64 / 1_000.0)).max(0.0)
}
