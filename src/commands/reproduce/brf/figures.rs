//! Figures 8 to 12 and Table 4 with our results; of the paper's curves no numbers are given.

use tidegate_report::figure::{BarSeries, Curve, Figure, FigureKind, Series};
use tidegate_report::stats::Estimate;

use super::Results;
use super::kept::Kept;
use super::measure::{self, SAMPLED_S, WINDOW_S, empty_ms};
use super::runs::{BUFFERS, Cell, LOSSES, MANY, Scheme};

/// Bins of goodput over time, s.
const BIN_S: f64 = 1.0;

pub(super) fn all(results: &Results) -> Vec<Figure> {
    let mut figures =
        vec![throughput(results, "fig8a", BUFFERS[0]), throughput(results, "fig8b", BUFFERS[1])];
    figures.extend(fairness(results));
    figures.push(drops(results));
    figures.extend(convergence(results));
    figures.extend([delay(results, "fig12a", BUFFERS[0]), delay(results, "fig12b", BUFFERS[1])]);
    figures
}

fn throughput(results: &Results, id: &str, buffer: u32) -> Figure {
    let point = |scheme, loss| {
        let runs = measure::throughputs(results, scheme, buffer, loss);
        (f64::from(loss) / 10.0, Estimate::of(&runs))
    };
    let schemes = Scheme::ALL.into_iter().filter(|scheme| *scheme != Scheme::Literal || buffer == BUFFERS[0]);
    let series = schemes.map(|scheme| Series {
        name: scheme.name().to_owned(),
        points: LOSSES.map(|loss| point(scheme, loss)).to_vec(),
        ..Series::default()
    });
    Figure {
        id: id.to_owned(),
        title: format!("Fig. {}: throughput by losses, buffer of {buffer} packets", &id[3..]),
        caption: "Means over seeds with 95 % intervals; 60 s.".to_owned(),
        x_label: "losses [%]".to_owned(),
        y_label: "throughput [Mbit/s]".to_owned(),
        kind: FigureKind::Lines { series: series.collect() },
    }
}

/// Curves over time with the same words around them.
fn over_time(id: &str, title: String, y_label: &str, caption: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        id: id.to_owned(),
        title,
        caption: caption.to_owned(),
        x_label: "time [s]".to_owned(),
        y_label: y_label.to_owned(),
        kind: FigureKind::Curves { curves },
    }
}

/// Goodput of each flow of a cell's first seed.
fn goodputs(results: &Results, cell: Cell, names: &[String]) -> Vec<Curve> {
    let Some(run) = results.of(cell).first() else { return Vec::new() };
    let curve = |(flow, name): (usize, &String)| Curve::new(name, run.goodputs(flow, BIN_S));
    names.iter().enumerate().map(curve).collect()
}

/// Figures 9 and 10.
fn fairness(results: &Results) -> Vec<Figure> {
    let figure = |id: &str, what: String, cell, names: &[String]| {
        let title = format!("Fig. {}: {what}", &id[3..]);
        over_time(id, title, "goodput [Mbit/s]", "First seed, bins of 1 s.", goodputs(results, cell, names))
    };
    let round_trips = [("fig9a", Scheme::Bbr), ("fig9b", Scheme::Brf)].map(|(id, scheme)| {
        let what = format!("two {} flows with different round trips", scheme.name());
        let names = ["round trip of 100 ms", "round trip of 20 ms"].map(str::to_owned);
        figure(id, what, Cell::RoundTrips { scheme }, &names)
    });
    let places = [
        ("fig10a", Scheme::Bbr, BUFFERS[0]),
        ("fig10b", Scheme::Bbr, BUFFERS[1]),
        ("fig10c", Scheme::Brf, BUFFERS[0]),
        ("fig10d", Scheme::Brf, BUFFERS[1]),
    ];
    let shared = places.map(|(id, scheme, buffer)| {
        let what = format!("{} beside CUBIC, buffer of {buffer} packets", scheme.name());
        figure(
            id,
            what,
            Cell::Shared { scheme, buffer },
            &[scheme, Scheme::Cubic].map(|s| s.name().to_owned()),
        )
    });
    round_trips.into_iter().chain(shared).collect()
}

/// Table 4.
fn drops(results: &Results) -> Figure {
    let columns = BUFFERS.into_iter().flat_map(|buffer| [(buffer, 1), (buffer, MANY)]);
    let columns: Vec<(u32, usize)> = columns.collect();
    let series = Scheme::PAPER.map(|scheme| BarSeries {
        name: scheme.name().to_owned(),
        values: columns
            .iter()
            .map(|(buffer, flows)| {
                let cell = match flows {
                    1 => Cell::Path { scheme, buffer: *buffer, loss: 0 },
                    _ => Cell::Five { scheme, buffer: *buffer },
                };
                Some(Estimate::of(&results.each(cell, |run| run.dropped_percent(0.0))))
            })
            .collect(),
        // How many flows the paper had is not stated.
        published: columns
            .iter()
            .map(|(buffer, _)| Some(if scheme == Scheme::Bbr && *buffer == BUFFERS[0] { 1.1 } else { 0.0 }))
            .collect(),
    });
    Figure {
        id: "table4".to_owned(),
        title: "Table 4: packets that routers drop".to_owned(),
        caption: "Of all that came to the bottleneck in 60 s; the paper does not say how many flows it had."
            .to_owned(),
        x_label: "flows, limit of the buffer [packets]".to_owned(),
        y_label: "dropped [%]".to_owned(),
        kind: FigureKind::Bars {
            groups: columns
                .iter()
                .map(|(buffer, flows)| format!("{flows} flow{}, {buffer}", if *flows > 1 { "s" } else { "" }))
                .collect(),
            series: series.to_vec(),
        },
    }
}

/// Figure 11: each scheme, all of them by their index, and a join close by.
fn convergence(results: &Results) -> Vec<Figure> {
    let names: Vec<String> = (1..=MANY).map(|flow| format!("flow {flow}")).collect();
    let cell = |scheme| Cell::Five { scheme, buffer: BUFFERS[0] };
    let mut figures: Vec<Figure> =
        [("fig11a", Scheme::Brf), ("fig11b", Scheme::Bbr), ("fig11c", Scheme::Cubic)]
            .into_iter()
            .map(|(id, scheme)| {
                let title = format!("Fig. {}: five {} flows", &id[3..], scheme.name());
                let curves = goodputs(results, cell(scheme), &names);
                over_time(
                    id,
                    title,
                    "goodput [Mbit/s]",
                    "First seed, bins of 1 s; a flow starts every 2 s.",
                    curves,
                )
            })
            .collect();
    let first = |scheme| results.of(cell(scheme)).first();
    let index = |scheme: Scheme| first(scheme).map(|run| Curve::new(scheme.name(), indices(run)));
    figures.push(over_time(
        "fairness",
        "Jain's index of the five flows".to_owned(),
        "Jain's index [1]",
        "First seed, windows of 3 s from the fifth start on; flows of the paper's schemes, buffer of 1000 packets.",
        Scheme::PAPER.into_iter().filter_map(index).collect(),
    ));
    let paces = first(Scheme::Brf).map_or_else(Vec::new, |run| {
        let flow = |flow: usize| Curve::new(&names[flow], run.paces(flow, 1.95, 2.25));
        [0, 1].map(flow).to_vec()
    });
    let title = "The second BRF flow joins".to_owned();
    figures.push(over_time("join", title, "paced rate [Mbit/s]", "First seed, samples of 5 ms.", paces));
    figures
}

/// Jain's index over the window that begins at each time.
fn indices(run: &Kept) -> Vec<(f64, f64)> {
    let from_s = run.flows.last().map_or(0.0, |flow| flow.start_s.ceil()) as usize;
    let until_s = (run.end_s() - WINDOW_S).floor() as usize;
    (from_s..until_s).map(|at| (at as f64, run.jain(at as f64, at as f64 + WINDOW_S))).collect()
}

fn delay(results: &Results, id: &str, buffer: u32) -> Figure {
    let curve = |scheme: Scheme| {
        let run = results.of(Cell::Path { scheme, buffer, loss: 0 }).first()?;
        Some(Curve::new(scheme.name(), run.delays(empty_ms(scheme), 1.0, 0.0, SAMPLED_S)))
    };
    let title = format!("Fig. {}: queueing delay, buffer of {buffer} packets", &id[3..]);
    let curves = Scheme::PAPER.into_iter().filter_map(curve).collect();
    over_time(
        id,
        title,
        "queueing delay [ms]",
        "First seed; round trip above the empty one, each second.",
        curves,
    )
}
