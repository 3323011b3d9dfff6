//! The figures of a comparison.

use std::collections::BTreeMap;

use tidegate_core::observe::records::{DelayBins, Watched};
use tidegate_core::units::Span;

use super::run::{OF_SEGMENTS, drawn};
use super::{Cloud, Curve, Figure, FigureKind};
use tidegate_results::compare::Variant;
use tidegate_results::measures;

/// Goodput over 95th-percentile delay, a point per run, as Pantheon shows schemes (F. Y. Yan et al., "Pantheon: the
/// training ground for Internet congestion-control research", USENIX ATC 2018); `None` when no run has both.
pub fn goodput_over_delay(variants: &[Variant]) -> Option<Figure> {
    let (delay, goodput) = (measures::find("full_delay_p95_ms")?, measures::find("goodput_mbps")?);
    let cloud = |variant: &Variant| {
        let points = variant.runs.iter().filter_map(|run| Some(((delay.of)(run)?, (goodput.of)(run)?)));
        Cloud { name: variant.label.clone(), points: points.collect() }
    };
    let clouds: Vec<Cloud> = variants.iter().map(cloud).collect();
    let runs: usize = variants.iter().map(|variant| variant.runs.len()).sum();
    let shown: usize = clouds.iter().map(|cloud| cloud.points.len()).sum();
    let left_out = match runs - shown {
        0 => String::new(),
        left_out => format!(" {left_out} of {runs} runs have no delay and no point."),
    };
    clouds.iter().any(|cloud| !cloud.points.is_empty()).then(|| Figure {
        id: "goodput-over-delay".into(),
        title: "Goodput over 95th-percentile delay".into(),
        caption: format!(
            "One point per run, the mean of each variant, and an ellipse of one standard deviation (covariance of the \
             runs). The delay axis is reversed: points further up and to the right are better.{left_out}"
        ),
        x_label: "95th percentile of the full delay [ms]".into(),
        y_label: "goodput of all flows [Mbit/s]".into(),
        kind: FigureKind::Scatter { is_x_reversed: true, clouds },
    })
}

/// Distribution of the delays of all segments, one recorded run of each variant; `None` without delays.
pub fn delays<'a>(watched: impl Iterator<Item = (&'a str, &'a Watched)>) -> Option<Figure> {
    let mut seed = 0;
    let curve = |(name, watched): (&str, &Watched)| {
        seed = watched.record.seed;
        Curve::new(name, drawn(&together(&watched.full_delay)))
    };
    let curves: Vec<Curve> = watched.map(curve).filter(|curve| !curve.points.is_empty()).collect();
    (!curves.is_empty()).then(|| Figure {
        id: "delays".into(),
        title: "Delay of every segment".into(),
        caption: format!(
            "Time from a segment's first Interest to its Data, over all flows, in the runs with seed {seed}."
        ),
        x_label: "full delay [ms]".into(),
        y_label: OF_SEGMENTS.into(),
        kind: FigureKind::Cdf { curves, is_x_logarithmic: false },
    })
}

/// The delays of all flows in one histogram.
fn together(flows: &[DelayBins]) -> DelayBins {
    let mut bins: BTreeMap<Span, u64> = BTreeMap::new();
    for (upper, count) in flows.iter().flat_map(|DelayBins(bins)| bins) {
        *bins.entry(*upper).or_default() += count;
    }
    DelayBins(bins.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_of_a_distribution_says_what_is_counted() {
        let bins = DelayBins(vec![(Span::from_millis(10), 1)]);
        let watched = Watched { full_delay: vec![bins], ..Watched::default() };
        let figure = delays([("icp", &watched)].into_iter()).expect("there are delays");
        assert_eq!(figure.y_label, "cumulative fraction of segments [1]");
    }

    #[test]
    fn the_delays_of_all_flows_are_one_distribution() {
        let bins = |bins: &[(u64, u64)]| {
            DelayBins(bins.iter().map(|(upper, count)| (Span::from_millis(*upper), *count)).collect())
        };
        let all = together(&[bins(&[(10, 1), (20, 2)]), bins(&[(5, 4), (20, 1)])]);
        assert_eq!(all, bins(&[(5, 4), (10, 1), (20, 3)]));
        assert_eq!(drawn(&all), [(5.0, 0.5), (10.0, 0.625), (20.0, 1.0)]);
    }
}
