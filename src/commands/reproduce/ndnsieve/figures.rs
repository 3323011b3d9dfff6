//! Figures 4 to 17 with our results; the paper's curves are not given as numbers.

use tidegate_report::figure::{BarSeries, BoxStats, Curve, Figure, FigureKind};
use tidegate_report::stats::{self, Estimate};

use super::kept::{BIN_S, Delays, Kept};
use super::{DUMBBELL, MULTIPATH1, MULTIPATH2, ROWS, Results, Row};

const FIRST_SEED: &str = "First seed";
const CONSUMERS: [&str; 3] = ["C1", "C2", "C3"];

/// What the figures of one scenario are called.
struct Numbers {
    scenario: usize,
    name: &'static str,
    delay: &'static str,
    boxes: &'static str,
    loss: &'static str,
}

const NUMBERS: [Numbers; 3] = [
    Numbers { scenario: DUMBBELL, name: "dumbbell", delay: "5", boxes: "6", loss: "7" },
    Numbers { scenario: MULTIPATH1, name: "multipath1", delay: "10", boxes: "11", loss: "12" },
    Numbers { scenario: MULTIPATH2, name: "multipath2", delay: "15", boxes: "16", loss: "17" },
];

/// Figures in the paper's order.
pub(super) fn all(results: &Results) -> Vec<Figure> {
    let [dumbbell, multipath1, multipath2] = &NUMBERS;
    let mut figures = vec![totals(results, "4", dumbbell)];
    figures.extend(spreads(results, dumbbell));
    figures.push(totals(results, "8", multipath1));
    figures.extend(each_row(results, "9", MULTIPATH1, "throughput towards R1 by interface", interfaces));
    figures.extend(spreads(results, multipath1));
    figures.extend(each_row(results, "13", MULTIPATH2, "throughput", consumers));
    figures.extend(each_row(results, "14", MULTIPATH2, "throughput towards R1 by interface", interfaces));
    figures.extend(spreads(results, multipath2));
    figures.push(results.networks.figure());
    figures
}

/// Delay, its spread, and loss.
fn spreads(results: &Results, numbers: &Numbers) -> Vec<Figure> {
    let mut figures = vec![delays(results, numbers)];
    figures.extend(boxes(results, numbers));
    figures.push(losses(results, numbers));
    figures
}

fn curve(name: &str, bins: &[f64]) -> Curve {
    let points = bins.iter().enumerate().map(|(bin, rate)| ((bin as f64 + 0.5) * BIN_S, *rate));
    Curve::new(name, points.collect())
}

fn over_time(id: &str, title: &str, caption: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        x_label: "time [s]".to_owned(),
        y_label: "throughput [Mbit/s]".to_owned(),
        kind: FigureKind::Curves { curves },
    }
}

fn first(results: &Results, row: Row, scenario: usize) -> Option<&Kept> {
    results.at(row.id, scenario).first()
}

/// Content of all consumers over time, one curve per row.
fn totals(results: &Results, number: &str, numbers: &Numbers) -> Figure {
    let line =
        |row: Row| Some(curve(row.name, &half_seconds(&first(results, row, numbers.scenario)?.total())));
    let halves = ROWS.into_iter().filter_map(line).map(stretched).collect();
    over_time(
        &format!("fig{number}"),
        &format!("Fig. {number}: total throughput, {}", numbers.name),
        &format!("{FIRST_SEED}; content received in each half second."),
        halves,
    )
}

/// Bins of 100 ms as bins of half a second.
fn half_seconds(bins: &[f64]) -> Vec<f64> {
    bins.chunks_exact(5).map(stats::mean).collect()
}

/// Points of half seconds at their times.
fn stretched(curve: Curve) -> Curve {
    Curve { points: curve.points.iter().map(|(time, rate)| (time * 5.0, *rate)).collect(), ..curve }
}

/// One figure per row, `a` and so on.
fn each_row(
    results: &Results,
    number: &str,
    scenario: usize,
    what: &str,
    curves: fn(&Kept) -> Vec<Curve>,
) -> Vec<Figure> {
    let figure = |(letter, row): (char, Row)| {
        Some(over_time(
            &format!("fig{number}{letter}"),
            &format!("Fig. {number}{letter}: {what}, {}", row.name),
            &format!("{}, {}; bins of 100 ms.", NUMBERS[scenario].name, FIRST_SEED.to_lowercase()),
            curves(first(results, row, scenario)?),
        ))
    };
    ('a'..).zip(ROWS).filter_map(figure).collect()
}

fn interfaces(run: &Kept) -> Vec<Curve> {
    vec![
        curve("interface 260, R1 to R2", &run.upstream[0]),
        curve("interface 261, R1 to R3", &run.upstream[1]),
    ]
}

fn consumers(run: &Kept) -> Vec<Curve> {
    let single = CONSUMERS.iter().zip(&run.flows).map(|(name, bins)| curve(name, bins));
    single.chain([curve("total", &run.total())]).collect()
}

/// Bars by consumer, one series per row.
fn delays(results: &Results, numbers: &Numbers) -> Figure {
    let flows = flow_count(results, numbers.scenario);
    let series = |row: Row| {
        let mean = |flow: usize| {
            let samples = results.measured(row.id, numbers.scenario, |run| run.delays[flow].mean);
            Some(Estimate::of(&samples))
        };
        bars_of(row.name, (0..flows).map(mean).collect())
    };
    Figure {
        id: format!("fig{}", numbers.delay),
        title: format!("Fig. {}: mean full delay, {}", numbers.delay, numbers.name),
        caption: "First Interest of a segment to its Data; means over seeds with 95 % intervals.".to_owned(),
        x_label: String::new(),
        y_label: "mean full delay [ms]".to_owned(),
        kind: FigureKind::Bars {
            groups: CONSUMERS[..flows].iter().map(|name| (*name).to_owned()).collect(),
            series: ROWS.into_iter().map(series).collect(),
        },
    }
}

fn flow_count(results: &Results, scenario: usize) -> usize {
    first(results, ROWS[0], scenario).map_or(0, |run| run.delays.len()).min(CONSUMERS.len())
}

fn bars_of(name: &str, values: Vec<Option<Estimate>>) -> BarSeries {
    BarSeries { name: name.to_owned(), published: vec![None; values.len()], values }
}

/// One figure of boxes per consumer.
fn boxes(results: &Results, numbers: &Numbers) -> Vec<Figure> {
    let flows = flow_count(results, numbers.scenario);
    let figure = |(letter, flow): (char, usize)| {
        let letter = if flows > 1 { letter.to_string() } else { String::new() };
        Figure {
            id: format!("fig{}{letter}", numbers.boxes),
            title: format!("Fig. {}{letter}: full delay of {}, {}", numbers.boxes, CONSUMERS[flow], numbers.name),
            caption: "Quartiles, whiskers at the 5th and 95th percentile, mean as a mark; each is the mean over seeds."
                .to_owned(),
            x_label: String::new(),
            y_label: "full delay [ms]".to_owned(),
            kind: FigureKind::Boxes {
                boxes: ROWS.into_iter().map(|row| box_of(results, row, numbers.scenario, flow)).collect(),
            },
        }
    };
    ('a'..).zip(0..flows).map(figure).collect()
}

fn box_of(results: &Results, row: Row, scenario: usize, flow: usize) -> BoxStats {
    let mean = |of: &dyn Fn(&Delays) -> f64| {
        stats::mean(&results.measured(row.id, scenario, |run| of(&run.delays[flow])))
    };
    let [low, first_quartile, median, third_quartile, high] =
        [0, 1, 2, 3, 4].map(|place: usize| mean(&|delays| delays.box_values[place]));
    BoxStats {
        name: row.name.to_owned(),
        low,
        first_quartile,
        median,
        third_quartile,
        high,
        mean: mean(&|delays| delays.mean),
    }
}

/// Dropped packets, one bar per row.
fn losses(results: &Results, numbers: &Numbers) -> Figure {
    let dropped =
        |row: Row| Some(Estimate::of(&results.measured(row.id, numbers.scenario, |run| run.dropped)));
    Figure {
        id: format!("fig{}", numbers.loss),
        title: format!("Fig. {}: packets dropped by queues, {}", numbers.loss, numbers.name),
        caption: "In the whole run; the paper has none for any scheme.".to_owned(),
        x_label: String::new(),
        y_label: "dropped [packets]".to_owned(),
        kind: FigureKind::Bars {
            groups: ROWS.iter().map(|row| row.name.to_owned()).collect(),
            series: vec![BarSeries {
                name: "dropped".to_owned(),
                values: ROWS.into_iter().map(dropped).collect(),
                published: vec![Some(0.0); ROWS.len()],
            }],
        },
    }
}
