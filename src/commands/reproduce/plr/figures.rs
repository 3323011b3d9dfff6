//! The paper's figures with our results; published values where the text states numbers.

use tidegate_report::figure::{BarSeries, Figure, FigureKind, Series};
use tidegate_report::stats::Estimate;

use super::measure::{self, Kept, Linear, Measure, burst_at};
use super::{ALPHAS, LONG_WITH, LONG_WITHOUT, ROWS, Results, Row, Setting, TRUE_ICP, WITH, WITHOUT, rows};

/// Mean full delays stated in VI.B, ms.
const STATED_DELAYS_MS: [Option<f64>; 4] = [Some(44.05), Some(50.79), Some(42.61), Some(45.08)];
/// Largest decreases of completion time stated in VI.B, %.
const STATED_DECREASES: [Option<f64>; 4] = [Some(21.8), Some(14.9), Some(14.4), None];
/// Decreases of Consumer0's completion time stated in VI.D, %.
const STATED_BURST_DECREASES: [Option<f64>; 4] = [Some(4.1), Some(19.7), Some(8.5), Some(8.6)];

/// Figures 7, 8 and 9.
pub(super) fn all(results: &Results) -> Vec<Figure> {
    vec![
        over_alpha(
            results,
            "fig7a",
            "Fig. 7a: retransmissions over alpha",
            "retransmissions [packets]",
            measure::retransmissions,
        ),
        over_alpha(
            results,
            "fig7b",
            "Fig. 7b: completion time over alpha",
            "completion time [s]",
            measure::completion_s,
        ),
        stated_decreases(results),
        delays(results),
        four_cases(
            results,
            "fig8a",
            "Fig. 8a: retransmissions by queue limit",
            "retransmissions [packets]",
            measure::retransmissions,
        ),
        four_cases(
            results,
            "fig8b",
            "Fig. 8b: completion time by queue limit",
            "completion time [s]",
            measure::completion_s,
        ),
        burst_retransmissions(results),
        burst_decreases(results),
        burst_delays(results),
    ]
}

fn groups() -> Vec<String> {
    ROWS.iter().map(|row| row.name.to_owned()).collect()
}

fn bars(id: &str, title: &str, caption: &str, y_label: &str, series: Vec<BarSeries>) -> Figure {
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        x_label: String::new(),
        y_label: y_label.to_owned(),
        kind: FigureKind::Bars { groups: groups(), series },
    }
}

fn bar_series(name: &str, values: Vec<Vec<f64>>, published: &[Option<f64>]) -> BarSeries {
    let count = values.len();
    BarSeries {
        name: name.to_owned(),
        values: values.iter().map(|samples| Some(Estimate::of(samples))).collect(),
        published: (0..count).map(|group| published.get(group).copied().flatten()).collect(),
    }
}

fn linear_bars(
    results: &Results,
    name: &str,
    setting: Setting,
    measure: Measure,
    published: &[Option<f64>],
) -> BarSeries {
    bar_series(
        name,
        results.linear[..ROWS.len()].iter().map(|row| row.at(setting, measure)).collect(),
        published,
    )
}

fn burst_bars(results: &Results, name: &str, with: usize, measure: Measure) -> BarSeries {
    bar_series(name, results.burst.iter().map(|cells| burst_at(cells, with, measure)).collect(), &[])
}

/// One line per row; alpha 0 stands for "without PLR".
fn over_alpha(results: &Results, id: &str, title: &str, y_label: &str, measure: Measure) -> Figure {
    let line = |(row, runs): (Row, &Linear)| {
        let with = ALPHAS.iter().map(|alpha| (*alpha, Setting { queue: 32, alpha: Some(*alpha) }));
        let points = [(0.0, WITHOUT)].into_iter().chain(with).filter(|(_, setting)| runs.has(*setting));
        Series {
            name: row.name.to_owned(),
            points: points.map(|(x, setting)| (x, Estimate::of(&runs.at(setting, measure)))).collect(),
            ..Series::default()
        }
    };
    let mut series: Vec<Series> = rows().zip(&results.linear).map(line).collect();
    set_aside(&mut series);
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: "Linear scenario, queue 32. Alpha 0 stands for no PLR. The paper's curves are not given as numbers."
            .to_owned(),
        y_label: y_label.to_owned(),
        x_label: "alpha, storage over queue limit [1]".to_owned(),
        kind: FigureKind::Lines { series },
    }
}

/// Leaves the extra row, which is none of the paper's, out where all of its values are above all of theirs and would
/// flatten them.
fn set_aside(series: &mut [Series]) {
    let means =
        |series: &Series| series.points.iter().map(|(_, estimate)| estimate.mean).collect::<Vec<f64>>();
    let Some((extra, papers)) = series.split_last_mut() else { return };
    let highest = papers.iter().flat_map(&means).fold(f64::NEG_INFINITY, f64::max);
    extra.is_aside = extra.name == TRUE_ICP.name && means(extra).iter().all(|mean| *mean > highest);
}

fn stated_decreases(results: &Results) -> Figure {
    let best = |row: &Linear| {
        let without = row.at(WITHOUT, measure::completion_s);
        let gain = |alpha: &f64| {
            let with = row.at(Setting { queue: 32, alpha: Some(*alpha) }, measure::completion_s);
            with.iter()
                .zip(&without)
                .map(|(with, without)| 100.0 * (1.0 - with / without))
                .collect::<Vec<f64>>()
        };
        let mean = |samples: &Vec<f64>| tidegate_report::stats::mean(samples);
        ALPHAS.iter().map(gain).max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or_default()
    };
    let values = results.linear[..ROWS.len()].iter().map(best).collect();
    bars(
        "fig7b-decrease",
        "Fig. 7b, as stated: largest decrease of completion time",
        "Linear scenario, queue 32, best alpha of each row.",
        "decrease [%]",
        vec![bar_series("largest decrease over alpha", values, &STATED_DECREASES)],
    )
}

fn delays(results: &Results) -> Figure {
    bars(
        "delay",
        "Mean full delay (VI.B)",
        "Linear scenario, queue 32: first Interest of a segment to its Data.",
        "mean full delay [ms]",
        vec![
            linear_bars(results, "without PLR", WITHOUT, measure::full_delay_ms, &STATED_DELAYS_MS),
            linear_bars(results, "with PLR, alpha 0.5", WITH, measure::full_delay_ms, &[]),
        ],
    )
}

fn four_cases(results: &Results, id: &str, title: &str, y_label: &str, measure: Measure) -> Figure {
    let cases = [
        ("queue of 32 packets, without PLR", WITHOUT),
        ("queue of 64 packets, without PLR", LONG_WITHOUT),
        ("queue of 32 packets, with PLR", WITH),
        ("queue of 64 packets, with PLR", LONG_WITH),
    ];
    let series = cases.map(|(name, setting)| linear_bars(results, name, setting, measure, &[]));
    bars(
        id,
        title,
        "Linear scenario, alpha 0.5; the queue's limit is 32 or 64 packets.",
        y_label,
        series.to_vec(),
    )
}

fn burst_retransmissions(results: &Results) -> Figure {
    bars(
        "fig9a",
        "Fig. 9a: retransmissions under bursts",
        "Consumer0 fetches 50 MiB; Consumer1 bursts at 35 Mbps. Queue 64, alpha 0.5.",
        "retransmissions [packets]",
        vec![
            burst_bars(results, "Consumer0, without PLR", 0, measure::retransmissions),
            burst_bars(results, "Consumer0, with PLR", 1, measure::retransmissions),
            burst_bars(results, "Consumer1, without PLR", 0, measure::second_retransmissions),
            burst_bars(results, "Consumer1, with PLR", 1, measure::second_retransmissions),
        ],
    )
}

fn burst_decreases(results: &Results) -> Figure {
    let decrease = |cells: &[Vec<Kept>; 2]| {
        let [without, with] = [0, 1].map(|with| burst_at(cells, with, measure::completion_s));
        with.iter().zip(&without).map(|(with, without)| 100.0 * (1.0 - with / without)).collect()
    };
    let values = results.burst.iter().map(decrease).collect();
    bars(
        "fig9b",
        "Fig. 9b: decrease of Consumer0's completion time under bursts",
        "With PLR against without, seed by seed. Queue 64, alpha 0.5.",
        "decrease [%]",
        vec![bar_series("with PLR", values, &STATED_BURST_DECREASES)],
    )
}

fn burst_delays(results: &Results) -> Figure {
    bars(
        "fig9c",
        "Fig. 9c: mean full delay under bursts",
        "Queue 64, alpha 0.5.",
        "mean full delay [ms]",
        vec![
            burst_bars(results, "Consumer0, without PLR", 0, measure::full_delay_ms),
            burst_bars(results, "Consumer0, with PLR", 1, measure::full_delay_ms),
            burst_bars(results, "Consumer1, without PLR", 0, measure::second_full_delay_ms),
            burst_bars(results, "Consumer1, with PLR", 1, measure::second_full_delay_ms),
        ],
    )
}
