//! Figures 5 to 8 with our results; the paper's curves are not given as numbers.

use tidegate_report::figure::{BarSeries, BoxStats, Curve, Figure, FigureKind};
use tidegate_report::stats::{self, Estimate};

use super::kept::{BIN_S, FlowKept};
use super::{Results, TICKS_MS, measure};

const FLOWS: [&str; 2] = ["C1 from P1", "C2 from P2"];

/// Losses of Tables 4 and 5, by tick and flow.
pub(super) const TABLE_4: [[f64; 2]; 4] = [[0.017, 0.036], [0.103, 0.239], [0.552, 0.576], [0.704, 0.712]];
pub(super) const TABLE_5: [[f64; 2]; 4] = [[0.009, 0.034], [0.062, 0.145], [0.156, 0.308], [0.209, 0.399]];

/// Figures in the paper's order, then what stands beside them.
pub(super) fn all(results: &Results) -> Vec<Figure> {
    let mut figures = each_tick(results, "5", "rates of the consumers", false, &RATES);
    figures.extend(each_tick(results, "6", "losses of the consumers", false, &LOSSES));
    figures.extend(each_tick(results, "7", "rates of the consumers with smoothening", true, &RATES));
    figures.extend(each_tick(results, "8", "losses of the consumers with smoothening", true, &LOSSES));
    for (number, is_smooth, published) in [("4", false, TABLE_4), ("5", true, TABLE_5)] {
        figures.push(bars(results, number, is_smooth, published));
        figures.push(spread(results, number, is_smooth));
    }
    figures.extend(results.depths.figures());
    figures.extend(results.costs.figures());
    figures.extend(results.others.figures());
    figures
}

/// What a figure over time shows.
struct Drawn {
    y_label: &'static str,
    caption: &'static str,
    points: fn(&FlowKept) -> Vec<(f64, f64)>,
    /// A line to compare with.
    beside: Option<(&'static str, &'static [(f64, f64)])>,
}

const RATES: Drawn = Drawn {
    y_label: "rate [Interests/s]",
    caption: "First seed; the rate at which a consumer's Interests fall due.",
    points: |flow| flow.rates.clone(),
    beside: Some((
        "fair share of C1",
        &[(1.0, 1000.0), (3.0, 1000.0), (3.0, 600.0), (8.0, 600.0), (8.0, 1000.0), (10.0, 1000.0)],
    )),
};

const LOSSES: Drawn = Drawn {
    y_label: "fraction of Interests lost [1]",
    caption: "First seed; of the Interests that fell due in each 100 ms.",
    points: |flow| {
        let bins = flow.due.iter().enumerate();
        bins.map(|(bin, losses)| ((bin as f64 + 0.5) * BIN_S, losses.loss())).collect()
    },
    beside: None,
};

/// One figure per tick, `a` to `d`.
fn each_tick(results: &Results, number: &str, what: &str, is_smooth: bool, drawn: &Drawn) -> Vec<Figure> {
    let figure = |(letter, tick_ms): (char, u64)| {
        let run = results.at(tick_ms, is_smooth).first()?;
        let curve = |name: &str, points| Curve::new(name, points);
        let flows = FLOWS.iter().zip(&run.flows).map(|(name, flow)| curve(name, (drawn.points)(flow)));
        let beside = drawn.beside.map(|(name, points)| curve(name, points.to_vec()));
        Some(Figure {
            id: format!("fig{number}{letter}"),
            title: format!("Fig. {number}{letter}: {what}, clock tick of {tick_ms} ms"),
            caption: drawn.caption.to_owned(),
            x_label: "time [s]".to_owned(),
            y_label: drawn.y_label.to_owned(),
            kind: FigureKind::Curves { curves: flows.chain(beside).collect() },
        })
    };
    ('a'..).zip(TICKS_MS).filter_map(figure).collect()
}

/// A table's losses beside the published ones.
fn bars(results: &Results, number: &str, is_smooth: bool, published: [[f64; 2]; 4]) -> Figure {
    let series = |flow: usize| BarSeries {
        name: FLOWS[flow].to_owned(),
        values: TICKS_MS
            .iter()
            .map(|tick_ms| Some(Estimate::of(&measure::losses(results, *tick_ms, is_smooth, flow))))
            .collect(),
        published: published.iter().map(|losses| Some(losses[flow])).collect(),
    };
    Figure {
        id: format!("table{number}"),
        title: format!("Table {number}: overall loss{}", if is_smooth { ", with smoothening" } else { "" }),
        caption: "Means over drawn phases of the consumers' ticks, with 95 % intervals.".to_owned(),
        x_label: "clock tick [ms]".to_owned(),
        y_label: "fraction of Interests lost [1]".to_owned(),
        kind: FigureKind::Bars {
            groups: TICKS_MS.iter().map(u64::to_string).collect(),
            series: vec![series(0), series(1)],
        },
    }
}

/// How a table's losses spread over phases.
fn spread(results: &Results, number: &str, is_smooth: bool) -> Figure {
    let cells = TICKS_MS.into_iter().flat_map(|tick_ms| [(tick_ms, 0), (tick_ms, 1)]);
    let boxes = cells.map(|(tick_ms, flow)| {
        let mut losses = measure::losses(results, tick_ms, is_smooth, flow);
        losses.sort_by(f64::total_cmp);
        let at = |part: f64| quantile(&losses, part);
        BoxStats {
            name: format!("C{}, {tick_ms}", flow + 1),
            low: at(0.0),
            first_quartile: at(0.25),
            median: at(0.5),
            third_quartile: at(0.75),
            high: at(1.0),
            mean: stats::mean(&losses),
        }
    });
    Figure {
        id: format!("table{number}-phases"),
        title: format!("Table {number} over the phases of the ticks"),
        caption: "The box has the middle half of the phases, whiskers the extremes.".to_owned(),
        x_label: "consumer, clock tick [ms]".to_owned(),
        y_label: "fraction of Interests lost [1]".to_owned(),
        kind: FigureKind::Boxes { boxes: boxes.collect() },
    }
}

/// Of sorted values, between neighbours in proportion; NaN without any.
pub(super) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}
