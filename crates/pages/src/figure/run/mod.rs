//! Figures of a simulated run, which `tidegate figure` draws from a results folder.

mod detail;

use tidegate_core::observe::records::{RunRecord, Watched};

pub use detail::SegmentDiagram;
pub(crate) use detail::quantile_ms;
pub(super) use detail::{OF_SEGMENTS, drawn};

use super::{Curve, Figure, FigureKind};
use crate::panels::{self, Panel};

/// Maximum number of curves in a figure; those of the largest flows or queues are selected.
const MAX_CURVES: usize = 8;

/// A figure that every run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunFigure {
    /// Name of the figure on the command line.
    pub name: &'static str,
    /// Title of the figure, where flows of both kinds send.
    pub title: &'static str,
    /// Whether it needs events or whole distributions, for which the run has to be repeated.
    pub is_detail: bool,
}

impl RunFigure {
    /// Title in a run whose flows send this unit, [`sent_by`](tidegate_results::text::sent_by).
    pub fn title_of(&self, sent: &str) -> &'static str {
        if self.name == "in-flight" { panels::in_flight(sent) } else { self.title }
    }
}

const fn plain(name: &'static str, title: &'static str) -> RunFigure {
    RunFigure { name, title, is_detail: false }
}

const fn detail(name: &'static str, title: &'static str) -> RunFigure {
    RunFigure { name, title, is_detail: true }
}

/// All figures of a run.
pub const RUN_FIGURES: [RunFigure; 18] = [
    plain("throughput", "Throughput"),
    plain("rtt", "Smoothed round-trip time"),
    plain("window", "Congestion window"),
    plain("pacing", "Pacing rate"),
    plain("in-flight", "Packets in flight"),
    plain("retransmissions", "Retransmissions"),
    plain("queue", "Queue length"),
    plain("marks", "Congestion marks"),
    plain("drops", "Drops by queues"),
    plain("losses", "Losses on links"),
    plain("jain", "Jain's fairness index"),
    plain("utilisation", "Link utilisation"),
    detail("delay-cdf", "Distribution of delays"),
    detail("last-delay-cdf", "Distribution of delays since the last Interest"),
    detail("delay-box", "Delays per segment"),
    detail("queue-delay-cdf", "Distribution of queueing delays"),
    detail("queue-delay-box", "Queueing delays per packet"),
    detail("segments", "Segments over time"),
];

/// The rate of a link direction over a run: instants, s, in order, and the rate from each on, bit/s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateSteps(pub Vec<(f64, f64)>);

impl RateSteps {
    /// Bits that fit on the link between two instants.
    pub(crate) fn bits(&self, from_s: f64, to_s: f64) -> f64 {
        // A rate lasts until the next one; the last one lasts for the rest of the run.
        let ends = self.0.iter().skip(1).map(|(time_s, _)| *time_s).chain([f64::INFINITY]);
        let step = |((start_s, rate), end_s): (&(f64, f64), f64)| {
            rate * (end_s.min(to_s) - start_s.max(from_s)).max(0.0)
        };
        self.0.iter().zip(ends).map(step).sum()
    }
}

/// Interval of a run that is drawn, s from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Start of the time axis, s.
    pub from_s: f64,
    /// End of the time axis, s.
    pub to_s: f64,
}

impl Window {
    /// All of the run.
    pub const ALL: Self = Self { from_s: 0.0, to_s: f64::INFINITY };

    /// Whether an instant is drawn.
    pub(crate) fn has(&self, time_s: f64) -> bool {
        (self.from_s..=self.to_s).contains(&time_s)
    }
}

/// The figure called `name` of what the tables of a run hold; `None` for a detail or an unknown name, and when
/// there is nothing to show.
///
/// `rates` are those of each link direction over the run.
pub fn of_run(run: &RunRecord, rates: &[RateSteps], name: &str, window: Window) -> Option<Figure> {
    let panel = panels::of_run(run, rates).shown.into_iter().find(|panel| panel.id == name)?;
    let curve = |place: usize| Curve {
        look: panel.colours.get(place).copied(),
        ..Curve::new(panel.names[place].as_str(), points(&panel, place, window))
    };
    let note = if panel.note.is_empty() { String::new() } else { format!(" {}", panel.note) };
    Some(Figure {
        x_label: "time [s]".into(),
        kind: FigureKind::Curves { curves: (0..panel.names.len()).map(curve).collect() },
        ..titled(run, (name, panel.title), &panel.label(), &note)
    })
}

/// The points of a series in the window; a count of a bin is constant over the bin.
fn points(panel: &Panel, place: usize, window: Window) -> Vec<(f64, f64)> {
    let values = panel.data.series.get(place).into_iter().flatten();
    let mut points = Vec::new();
    let mut last_s: f64 = 0.0;
    for (time_s, value) in panel.data.time_s.iter().copied().zip(values) {
        let value = value.unwrap_or(f64::NAN);
        if window.has(time_s) {
            // Constant from the previous instant on, at the earliest from the start of the window.
            if panel.is_stepped {
                points.push((last_s.max(window.from_s), value));
            }
            points.push((time_s, value));
        }
        last_s = time_s;
    }
    points
}

/// The figure `name` from the events of a run; `None` for another name and without events.
pub fn of_watched(watched: &Watched, segments: &SegmentDiagram, name: &str) -> Option<Figure> {
    detail::figure(watched, segments, name)
}

/// A figure without axis of x and data.
fn frame(run: &RunRecord, name: &str, y_label: &str, note: &str) -> Figure {
    let title = RUN_FIGURES.iter().find(|figure| figure.name == name).map_or("", |figure| figure.title);
    titled(run, (name, title), y_label, note)
}

/// [`frame`] with another title than the list of figures has.
fn titled(run: &RunRecord, (name, title): (&str, &str), y_label: &str, note: &str) -> Figure {
    Figure {
        id: name.into(),
        title: format!("{}: {title}", run.scenario),
        caption: format!("Seed {}.{note}", run.seed),
        x_label: String::new(),
        y_label: y_label.into(),
        kind: FigureKind::Curves { curves: Vec::new() },
    }
}

/// Indices of the [`MAX_CURVES`] maximum sizes, in their own order; sizes of 0 are omitted.
fn max(sizes: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).filter(|index| sizes[*index] > 0.0).collect();
    order.sort_by(|left, right| sizes[*right].total_cmp(&sizes[*left]));
    order.truncate(MAX_CURVES);
    order.sort_unstable();
    order
}

/// Sizes of queues or links with those zeroed that would only hide the others.
fn without_idle(sizes: Vec<f64>) -> Vec<f64> {
    let peak = sizes.iter().fold(0.0, |peak: f64, size| peak.max(*size));
    sizes.into_iter().map(|size| if size * 20.0 >= peak { size } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_changes_counts_as_long_as_it_holds() {
        let steps = RateSteps(vec![(0.0, 10.0), (5.0, 4.0)]);
        assert_eq!([steps.bits(0.0, 1.0), steps.bits(4.0, 6.0), steps.bits(9.0, 10.0)], [10.0, 14.0, 4.0]);
    }

    #[test]
    fn idle_queues_go_and_starving_flows_stay() {
        assert_eq!(max(&without_idle(vec![100.0, 1.0, 5.0])), [0, 2]);
        assert_eq!(max(&[100.0, 1.0, 0.0]), [0, 1]);
        assert_eq!(max(&[1.0; 20]).len(), MAX_CURVES);
    }
}
