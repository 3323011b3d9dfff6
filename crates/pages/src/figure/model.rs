//! Content of a figure, without its style.

use serde::{Deserialize, Serialize};

use super::number;
use crate::axis::Extent;
use tidegate_results::stats::{self, Estimate};
use tidegate_results::text;

/// One figure: its data, its words, and no colours.
///
/// Values that are not finite are stored, but never drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Short id without spaces, such as `fig7a`; names its file and its place in a page.
    pub id: String,
    /// Title of the figure.
    pub title: String,
    /// Quantity and conditions, in a sentence or two.
    pub caption: String,
    /// The x axis with its unit; empty if the axis has names that need no label.
    pub x_label: String,
    /// The y axis with its unit.
    pub y_label: String,
    /// Kind and data of the figure.
    pub kind: FigureKind,
}

/// Type of the diagram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FigureKind {
    /// Estimates over a number, a mark for each.
    Lines {
        /// The lines, in order of the key.
        series: Vec<Series>,
    },
    /// Estimates over named groups.
    Bars {
        /// Names of the groups.
        groups: Vec<String>,
        /// One bar per group each.
        series: Vec<BarSeries>,
    },
    /// Many points over a number, usually time.
    Curves {
        /// The curves, in order of the key.
        curves: Vec<Curve>,
    },
    /// Fraction of the values that are at most x.
    Cdf {
        /// Values and cumulative parts, 0 to 1, in ascending order.
        curves: Vec<Curve>,
        /// Whether the x axis is logarithmic, which omits values of 0 or less.
        #[serde(default)]
        is_x_logarithmic: bool,
    },
    /// Quartiles next to each other.
    Boxes {
        /// The boxes, from left to right.
        boxes: Vec<BoxStats>,
    },
    /// Points of several groups, each with its mean and an ellipse of one standard deviation.
    Scatter {
        /// Whether x grows to the left, so that "up and right" is better.
        is_x_reversed: bool,
        /// Points of each group, in order of the key.
        clouds: Vec<Cloud>,
    },
    /// Numbered segments over time, by kind of event.
    Segments {
        /// The kinds of event.
        kinds: Vec<SegmentEvents>,
    },
}

/// One line over an axis of numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Our results: x and estimate, in the order in which they are connected.
    #[serde(with = "number::estimates")]
    pub points: Vec<(f64, Estimate)>,
    /// Published values: x and y.
    #[serde(with = "number::pairs", default)]
    pub published: Vec<(f64, f64)>,
    /// Whether the line is far from the others and would flatten them: the figure then names it with its range and
    /// does not draw it; a page draws it on request.
    #[serde(default)]
    pub is_aside: bool,
}

/// One bar of every group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarSeries {
    /// Name in the legend.
    pub name: String,
    /// Our results, one per group; `None` draws no bar.
    #[serde(with = "number::bars")]
    pub values: Vec<Option<Estimate>>,
    /// Published values, one per group; `None` where the paper has none.
    #[serde(default)]
    pub published: Vec<Option<f64>>,
}

/// One curve of points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// x and y in the order in which they are connected; a y that is not finite makes a gap.
    #[serde(with = "number::pairs")]
    pub points: Vec<(f64, f64)>,
    /// Index of its colour, dash and mark; by default its index among the curves.
    #[serde(default)]
    pub look: Option<usize>,
}

impl FigureKind {
    /// Whether ranges and ticks of x are decimal logarithms.
    pub(super) const fn is_x_logarithmic(&self) -> bool {
        matches!(self, Self::Cdf { is_x_logarithmic: true, .. })
    }
}

impl Curve {
    /// The curve over the decimal logarithm of x, without points with x of 0 or less.
    pub(super) fn over_logarithm(&self) -> Self {
        let points = self.points.iter().filter(|(x, _)| *x > 0.0);
        Self { points: points.map(|(x, y)| (x.log10(), *y)).collect(), ..self.clone() }
    }

    /// A curve with the style of its index.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, look: None }
    }
}

/// The spread of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxStats {
    /// Label of the box.
    pub name: String,
    /// Lower whisker; the caption defines it.
    #[serde(with = "number::one")]
    pub low: f64,
    /// First quartile of the values.
    #[serde(with = "number::one")]
    pub first_quartile: f64,
    /// Median of the values.
    #[serde(with = "number::one")]
    pub median: f64,
    /// Third quartile of the values.
    #[serde(with = "number::one")]
    pub third_quartile: f64,
    /// End of the upper whisker.
    #[serde(with = "number::one")]
    pub high: f64,
    /// Mean, drawn as a mark; NaN for none.
    #[serde(with = "number::one")]
    pub mean: f64,
}

/// Points of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cloud {
    /// Name in the legend.
    pub name: String,
    /// x and y, one of each run.
    #[serde(with = "number::pairs")]
    pub points: Vec<(f64, f64)>,
}

/// Events of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentEvents {
    /// Name of the event, such as `Interest sent`.
    pub name: String,
    /// Time and number of the segment.
    #[serde(with = "number::pairs")]
    pub points: Vec<(f64, f64)>,
    /// Index of its colour and mark; by default its index among the kinds.
    #[serde(default)]
    pub look: Option<usize>,
}

/// Mean and covariance of a cloud.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    /// Mean of x and y.
    pub(super) mean: (f64, f64),
    /// Semi-axes of the ellipse of one standard deviation, the larger one first; zero for one point.
    pub(super) semi_axes: (f64, f64),
    /// Direction of the larger one, radians from the x axis.
    pub(super) angle: f64,
}

impl Figure {
    /// The figure with every line drawn; `None` where all are.
    pub(super) fn with_lines_aside(&self) -> Option<Self> {
        let FigureKind::Lines { series } = &self.kind else { return None };
        if !series.iter().any(|series| series.is_aside) {
            return None;
        }
        let series = series.iter().map(|series| Series { is_aside: false, ..series.clone() }).collect();
        Some(Self { kind: FigureKind::Lines { series }, ..self.clone() })
    }

    /// Whether one of the published values is `value`.
    pub(super) fn overlays(&self, value: f64) -> bool {
        let is_value = |published: f64| (published - value).abs() <= 1e-9 * value.abs();
        match &self.kind {
            FigureKind::Lines { series } => {
                series.iter().flat_map(|series| &series.published).any(|(_, published)| is_value(*published))
            }
            FigureKind::Bars { series, .. } => series
                .iter()
                .flat_map(|series| &series.published)
                .flatten()
                .any(|published| is_value(*published)),
            _ => false,
        }
    }

    /// Reads figures that [`write_figures`] wrote.
    ///
    /// # Errors
    /// The first error in the text, with line and column.
    pub fn read_all(json: &str) -> Result<Vec<Self>, String> {
        serde_json::from_str(json).map_err(|why| why.to_string())
    }
}

/// Figures as JSON for `figures.json`, which `tidegate figure` draws.
pub fn write_figures(figures: &[Figure]) -> String {
    // Serialising fails only for maps with other keys than texts and for types with errors of their own; the
    // model has neither.
    serde_json::to_string(figures).unwrap_or_default() + "\n"
}

/// Whether a value can be drawn: neither infinite nor so large that spans of an axis overflow.
pub(super) fn is_drawable(value: f64) -> bool {
    // Also false for NaN, for which every comparison is false.
    value.abs() <= 1e100
}

/// The points that can be drawn, in order.
pub(super) fn drawable(points: &[(f64, f64)]) -> impl DoubleEndedIterator<Item = (f64, f64)> + '_ {
    points.iter().copied().filter(|(x, y)| is_drawable(*x) && is_drawable(*y))
}

impl Series {
    /// The name in a figure that does not draw the line, with the range of its values.
    pub(super) fn named_aside(&self) -> String {
        let Extent { low, high } = Extent::of(self.points.iter().map(|(_, estimate)| estimate.mean));
        let (low, high) = (text::number(low), text::number(high));
        let range = if low == high { low } else { format!("{low} to {high}") };
        format!("{}, not drawn: {range}", self.name)
    }

    /// Our results that are drawn.
    pub(super) fn ours(&self) -> impl DoubleEndedIterator<Item = (f64, Estimate)> {
        let points = self.points.iter().copied().filter(|_| !self.is_aside);
        points.filter(|(x, estimate)| is_drawable(*x) && is_shown(estimate))
    }

    /// Published values that are drawn.
    pub(super) fn theirs(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> {
        drawable(&self.published).filter(|_| !self.is_aside)
    }
}

impl BarSeries {
    /// Our result of a group, if it can be drawn.
    pub(super) fn ours(&self, group: usize) -> Option<Estimate> {
        self.values.get(group).copied().flatten().filter(is_shown)
    }

    /// The published value of a group, if it can be drawn.
    pub(super) fn theirs(&self, group: usize) -> Option<f64> {
        self.published.get(group).copied().flatten().filter(|value| is_drawable(*value))
    }
}

impl BoxStats {
    /// The five numbers from below, if they can be drawn.
    pub(super) fn numbers(&self) -> Option<[f64; 5]> {
        let numbers = [self.low, self.first_quartile, self.median, self.third_quartile, self.high];
        numbers.iter().all(|number| is_drawable(*number)).then_some(numbers)
    }
}

impl Cloud {
    /// Mean and ellipse of the points that can be drawn; `None` without any.
    pub(super) fn moments(&self) -> Option<Moments> {
        let (x, y): (Vec<f64>, Vec<f64>) = drawable(&self.points).unzip();
        if x.is_empty() {
            return None;
        }
        let mean = (stats::mean(&x), stats::mean(&y));
        // Sample covariance (n - 1). A single point has deviations of 0, for which any divisor will do.
        let divisor = x.len().saturating_sub(1).max(1) as f64;
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            x.iter().zip(&y).map(|(x, y)| of(x - mean.0, y - mean.1)).sum::<f64>() / divisor
        };
        let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
        // Eigenvalues of the symmetric 2×2 covariance matrix.
        let (middle, half) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(xy));
        // Rounding can make the smaller eigenvalue of points on a line negative.
        let semi_axes = ((middle + half).max(0.0).sqrt(), (middle - half).max(0.0).sqrt());
        // Direction of the eigenvector of the larger eigenvalue.
        Some(Moments { mean, semi_axes, angle: 0.5 * (2.0 * xy).atan2(xx - yy) })
    }
}

impl Moments {
    /// Points around the ellipse.
    pub(super) fn outline(&self) -> Vec<(f64, f64)> {
        let (sin, cos) = self.angle.sin_cos();
        let point = |step: u32| {
            let (down, across) = (f64::from(step) * std::f64::consts::TAU / 64.0).sin_cos();
            let (along, aside) = (self.semi_axes.0 * across, self.semi_axes.1 * down);
            (self.mean.0 + along * cos - aside * sin, self.mean.1 + along * sin + aside * cos)
        };
        (0..64).map(point).collect()
    }
}

fn is_shown(estimate: &Estimate) -> bool {
    // A mean without its huge interval would appear more certain than it is.
    let has_sound_interval = !estimate.has_interval() || interval(estimate).is_some();
    estimate.n > 0 && is_drawable(estimate.mean) && has_sound_interval
}

/// Mean and, where there is an interval, both of its ends.
pub(super) fn shown_ends(estimate: &Estimate) -> [f64; 3] {
    match interval(estimate) {
        Some((low, high)) => [estimate.mean, low, high],
        None => [estimate.mean; 3],
    }
}

/// The 95 % interval, if it can be drawn.
pub(super) fn interval(estimate: &Estimate) -> Option<(f64, f64)> {
    let ends = (estimate.low(), estimate.high());
    (estimate.has_interval() && is_drawable(ends.0) && is_drawable(ends.1)).then_some(ends)
}
