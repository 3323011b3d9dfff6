//! Figures 5 to 7 with our results; of the paper's bars and curves only IV.C gives numbers.

use tidegate_report::figure::{BarSeries, Curve, Figure, FigureKind};
use tidegate_report::stats::Estimate;

use super::kept::{Kept, QUANTILES};
use super::measure::each;
use super::runs::{AIMD, BBR, BBR_CD, CUBIC, SCHEMES, SIRC};
use super::{BURSTS, CLEAN, LOSSY, Results};

/// Names of the topologies.
const TOPOLOGIES: [&str; 2] = ["topology 1: one consumer", "topology 2: ten consumers"];
/// Shortest gap in Figure 6, ms: a logarithmic axis has no zero.
const MIN_GAP_MS: f64 = 1e-4;
/// As in the paper's figures, and CUBIC.
const ORDER: [usize; 5] = [BBR_CD, AIMD, CUBIC, SIRC, BBR];

pub(super) fn all(results: &Results) -> Vec<Figure> {
    let goodput = "goodput of all consumers [Mbit/s]";
    let resent = "fraction of Interests sent again [1]";
    vec![
        bars(results, ("fig5", "Fig. 5: goodput without added losses"), goodput, CLEAN, Kept::goodput_mbps),
        gaps(results),
        bars(results, ("fig7", "Fig. 7: goodput with added losses"), goodput, LOSSY, Kept::goodput_mbps),
        stated(bars(
            results,
            ("resent", "IV.C: Interests sent again with added losses"),
            resent,
            LOSSY,
            Kept::retransmitted,
        )),
        bars(
            results,
            ("bursts", "Goodput with as many losses, in bursts"),
            goodput,
            BURSTS,
            Kept::goodput_mbps,
        ),
        bars(
            results,
            ("queues", "Mean queue without added losses"),
            "mean queue of both cells [kB]",
            CLEAN,
            |run| run.queued_bytes.iter().sum::<f64>() / 1e3,
        ),
    ]
}

fn bars(
    results: &Results,
    (id, title): (&str, &str),
    y_label: &str,
    condition: usize,
    of: fn(&Kept) -> f64,
) -> Figure {
    let series = |scheme: usize| BarSeries {
        name: SCHEMES[scheme].name.to_owned(),
        values: (0..TOPOLOGIES.len())
            .map(|topology| Some(Estimate::of(&each(results.cell(scheme, topology, condition), of))))
            .collect(),
        published: vec![None; TOPOLOGIES.len()],
    };
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: "Means over seeds with 95 % intervals.".to_owned(),
        x_label: String::new(),
        y_label: y_label.to_owned(),
        kind: FigureKind::Bars {
            groups: TOPOLOGIES.map(str::to_owned).to_vec(),
            series: ORDER.map(series).to_vec(),
        },
    }
}

/// With the parts that IV.C states for both topologies, about 10 % and 50 %.
fn stated(mut figure: Figure) -> Figure {
    if let FigureKind::Bars { groups, series } = &mut figure.kind {
        for (scheme, one) in ORDER.into_iter().zip(series) {
            let part = match scheme {
                BBR_CD | BBR => Some(0.1),
                AIMD => Some(0.5),
                _ => None,
            };
            one.published = vec![part; groups.len()];
        }
    }
    figure
}

/// Figure 6, over a logarithmic axis.
fn gaps(results: &Results) -> Figure {
    let curve = |scheme: usize| {
        let run = results.cell(scheme, 0, CLEAN).first();
        let gaps = run.map_or(&[][..], |run| run.gaps_ms.as_slice());
        let point = |(place, gap): (usize, &f64)| (gap.max(MIN_GAP_MS), place as f64 / QUANTILES as f64);
        Curve::new(SCHEMES[scheme].name, gaps.iter().enumerate().map(point).collect())
    };
    Figure {
        id: "fig6".to_owned(),
        title: "Fig. 6: gaps between Interests, one consumer, without added losses".to_owned(),
        caption: "First seed. Gaps below 0.1 µs are drawn there.".to_owned(),
        x_label: "gap between Interests [ms]".to_owned(),
        y_label: "cumulative fraction of gaps [1]".to_owned(),
        kind: FigureKind::Cdf { curves: ORDER.map(curve).to_vec(), is_x_logarithmic: true },
    }
}
