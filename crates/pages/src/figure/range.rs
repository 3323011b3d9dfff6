//! Ranges of values for the axes of a figure.

use super::model::{BoxStats, FigureKind, drawable, is_drawable, shown_ends};
use crate::axis::Extent;

/// Ranges of x and y, before they grow to whole ticks; x is 0 to 1 where the axis has names, and the decimal logarithm
/// where it is logarithmic.
pub(super) fn of(kind: &FigureKind) -> (Extent, Extent) {
    let (x, y) = values(kind);
    match kind {
        FigureKind::Bars { .. } => (Extent::of([]), Extent::of(y).with_zero()),
        FigureKind::Boxes { .. } => (Extent::of([]), Extent::of(y).near_zero()),
        FigureKind::Cdf { is_x_logarithmic: true, .. } => (Extent::of(x), Extent { low: 0.0, high: 1.0 }),
        FigureKind::Cdf { .. } => (Extent::of(x).near_zero(), Extent { low: 0.0, high: 1.0 }),
        // Positions against each other matter here, not lengths from zero.
        FigureKind::Scatter { .. } => (Extent::of(x), Extent::of(y)),
        FigureKind::Lines { .. } | FigureKind::Curves { .. } | FigureKind::Segments { .. } => {
            (Extent::of(x).near_zero(), Extent::of(y).near_zero())
        }
    }
}

fn values(kind: &FigureKind) -> (Vec<f64>, Vec<f64>) {
    match kind {
        FigureKind::Lines { series } => series
            .iter()
            .flat_map(|series| {
                let ours = series.ours().flat_map(|(x, ours)| shown_ends(&ours).map(|y| (x, y)));
                ours.chain(series.theirs())
            })
            .unzip(),
        FigureKind::Bars { groups, series } => {
            let ours = |group: usize| series.iter().filter_map(move |series| series.ours(group));
            let theirs = |group: usize| series.iter().filter_map(move |series| series.theirs(group));
            let ends = |group| ours(group).flat_map(|estimate| shown_ends(&estimate)).chain(theirs(group));
            (Vec::new(), (0..groups.len()).flat_map(ends).collect())
        }
        FigureKind::Cdf { curves, is_x_logarithmic: true } => curves
            .iter()
            .flat_map(|curve| drawable(&curve.over_logarithm().points).collect::<Vec<_>>())
            .unzip(),
        FigureKind::Curves { curves } | FigureKind::Cdf { curves, .. } => {
            curves.iter().flat_map(|curve| drawable(&curve.points)).unzip()
        }
        FigureKind::Boxes { boxes } => {
            let means = boxes.iter().map(|stats| stats.mean).filter(|mean| is_drawable(*mean));
            (Vec::new(), boxes.iter().filter_map(BoxStats::numbers).flatten().chain(means).collect())
        }
        FigureKind::Scatter { clouds, .. } => clouds
            .iter()
            .flat_map(|cloud| {
                let outline = cloud.moments().map(|moments| moments.outline()).unwrap_or_default();
                drawable(&cloud.points).chain(outline)
            })
            .unzip(),
        FigureKind::Segments { kinds } => kinds.iter().flat_map(|kind| drawable(&kind.points)).unzip(),
    }
}
