//! Figures from events and whole distributions, which tables do not contain: delays, and the fate of each
//! segment.

use tidegate_core::ndn::name::{PrefixId, Segment};
use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::observe::records::{DelayBins, DelaySummary, EventRecord, RunRecord, Watched};

use super::{Window, frame, max, without_idle};
use crate::event_summary::PointKind;
use crate::figure::{BoxStats, Curve, Figure, FigureKind, SegmentEvents};

/// Kinds of event in a diagram of segments, the most frequent first; their indices are those of their styles.
const KINDS: [PointKind; 8] = [
    PointKind::Interest,
    PointKind::Data,
    PointKind::Retransmission,
    PointKind::MarkedData,
    PointKind::Drop,
    PointKind::WireLoss,
    PointKind::Loss,
    PointKind::CacheHit,
];

/// The axis of a distribution of delays.
pub(in crate::figure) const OF_SEGMENTS: &str = "cumulative fraction of segments [1]";
/// The axis of a distribution of waiting times.
const OF_PACKETS: &str = "cumulative fraction of packets [1]";

/// Fate of the segments of one flow, collected from the events of a run.
#[derive(Clone, Debug)]
pub struct SegmentDiagram {
    flow: u32,
    window: Window,
    /// The flow's prefix, known from its first Interest on.
    prefix: Option<PrefixId>,
    kinds: [Vec<(f64, f64)>; KINDS.len()],
}

impl SegmentDiagram {
    /// The events that a diagram needs.
    pub const MASK: EventMask =
        EventMask(EventMask::CONSUMERS.0 | EventMask::QUEUES.0 | EventMask::LOSSES.0 | EventMask::CACHE.0);

    /// A diagram of the flow with this index.
    pub fn new(flow: u32, window: Window) -> Self {
        Self { flow, window, prefix: None, kinds: Default::default() }
    }

    /// Adds the events that belong to the flow.
    pub fn on_events(&mut self, events: &[EventRecord]) {
        for event in events {
            let Some((kind, segment)) = self.kind(&event.event) else { continue };
            let time_s = event.time.as_secs_f64();
            if self.window.has(time_s) {
                self.kinds[kind].push((time_s, f64::from(segment)));
            }
        }
    }

    /// Place in [`KINDS`] and segment of an event of the flow or its prefix.
    fn kind(&mut self, event: &Event) -> Option<(usize, u32)> {
        // Numbers are indices into `KINDS`.
        let (kind, name) = match event {
            Event::InterestSent { flow, name, retransmission }
            | Event::SegmentSent { flow, name, retransmission }
                if *flow == self.flow =>
            {
                self.prefix = Some(name.prefix);
                (if *retransmission { 2 } else { 0 }, name)
            }
            Event::DataReceived { flow, name, mark, .. } if *flow == self.flow => {
                (if *mark > 0 { 3 } else { 1 }, name)
            }
            Event::SegmentReceived { flow, name } if *flow == self.flow => (1, name),
            Event::LossDetected { flow, name, .. } if *flow == self.flow => (6, name),
            Event::Dropped { name, .. } => (4, name),
            Event::Lost { name, .. } => (5, name),
            Event::CacheHit { name } => (7, name),
            _ => return None,
        };
        // Events of queues and links have no flow: they belong to all flows of the prefix.
        let is_ours = self.prefix == Some(name.prefix) && name.segment != Segment::NONE;
        is_ours.then_some((kind, name.segment.0))
    }
}

/// The figure called `name`; `None` if it is not one of these, or without data.
pub(super) fn figure(watched: &Watched, segments: &SegmentDiagram, name: &str) -> Option<Figure> {
    let run = &watched.record;
    let flows = || run.flows.iter().map(|flow| (flow.name.clone(), flow.full_delay));
    let last = || run.flows.iter().map(|flow| (flow.name.clone(), flow.last_delay));
    let links = || run.links.iter().map(|link| (format!("{} → {}", link.from, link.to), link.queue_delay));
    let with = |((name, delay), bins)| (name, delay, bins);
    let of_flows = || picked(flows().zip(&watched.full_delay).map(with).collect(), false);
    let of_queues = || picked(links().zip(&watched.queue_delay).map(with).collect(), true);
    let of_last = || picked(last().zip(&watched.last_delay).map(with).collect(), false);
    match name {
        "last-delay-cdf" => {
            distributions(run, name, "delay since the last Interest [ms]", OF_SEGMENTS, of_last())
        }
        "delay-cdf" => distributions(run, name, "delay per segment [ms]", OF_SEGMENTS, of_flows()),
        "delay-box" => boxes(run, name, "delay per segment [ms]", of_flows()),
        "queue-delay-cdf" => distributions(run, name, "queueing delay [ms]", OF_PACKETS, of_queues()),
        "queue-delay-box" => boxes(run, name, "queueing delay [ms]", of_queues()),
        "segments" => segment_figure(run, segments, name),
        _ => None,
    }
}

type Named<'a> = (String, DelaySummary, &'a DelayBins);

/// The elements with the largest delays, with a note if others are omitted.
fn picked(all: Vec<Named<'_>>, is_of_queues: bool) -> (Vec<Named<'_>>, String) {
    let all: Vec<Named<'_>> = all.into_iter().filter(|(_, delay, _)| delay.count > 0).collect();
    let sizes: Vec<f64> = all.iter().map(|(_, delay, _)| delay.max.as_millis_f64().max(1e-9)).collect();
    let shown = max(&if is_of_queues { without_idle(sizes) } else { sizes });
    let what = if is_of_queues { "queues" } else { "flows" };
    let note = match (shown.len(), all.len()) {
        (shown, all) if shown < all => {
            format!(" The figure shows the {what} with the largest delays: {shown} of {all}.")
        }
        _ => String::new(),
    };
    let kept = all.into_iter().enumerate().filter(|(index, _)| shown.contains(index)).map(|(_, named)| named);
    (kept.collect(), note)
}

fn distributions(
    run: &RunRecord,
    name: &str,
    x_label: &str,
    y_label: &str,
    (picked, note): (Vec<Named<'_>>, String),
) -> Option<Figure> {
    let curves = picked.into_iter().map(|(name, _, bins)| Curve::new(name, drawn(bins)));
    let curves: Vec<Curve> = curves.collect();
    (!curves.is_empty()).then(|| Figure {
        x_label: x_label.into(),
        kind: FigureKind::Cdf { curves, is_x_logarithmic: false },
        ..frame(run, name, y_label, &note)
    })
}

/// [`cumulative`] for a curve: of points less than 1.6 % from each other the last, since closer points cannot
/// be distinguished.
pub(in crate::figure) fn drawn(bins: &DelayBins) -> Vec<(f64, f64)> {
    const STEP: f64 = 1.0 + 1.0 / 64.0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut group_from = f64::NEG_INFINITY;
    for (value, below) in cumulative(bins) {
        let is_near = value > 0.0 && value <= group_from * STEP;
        group_from = if is_near { group_from } else { value };
        match points.last_mut().filter(|_| is_near) {
            Some(last) => *last = (value, below),
            None => points.push((value, below)),
        }
    }
    points
}

/// Upper bound of each bin, ms, with the fraction of all delays that are at most this bound.
fn cumulative(DelayBins(bins): &DelayBins) -> Vec<(f64, f64)> {
    let total: u64 = bins.iter().map(|(_, count)| count).sum();
    let mut below = 0;
    let point = |(upper, count): &(tidegate_core::units::Span, u64)| {
        below += count;
        (upper.as_millis_f64(), below as f64 / total.max(1) as f64)
    };
    bins.iter().map(point).collect()
}

fn boxes(
    run: &RunRecord,
    name: &str,
    y_label: &str,
    (picked, left_out): (Vec<Named<'_>>, String),
) -> Option<Figure> {
    let boxes: Vec<BoxStats> = picked.into_iter().map(boxed).collect();
    let note = format!(
        " Box: first to third quartile; line: median; whiskers: 5th to 95th percentile; ring: mean.{left_out}"
    );
    (!boxes.is_empty())
        .then(|| Figure { kind: FigureKind::Boxes { boxes }, ..frame(run, name, y_label, &note) })
}

/// Quantile of delays for the fraction `part`, ms, as the upper bound of its bin; NaN without delays.
pub(crate) fn quantile_ms(bins: &DelayBins, part: f64) -> f64 {
    cumulative(bins).iter().find(|(_, below)| *below >= part).map_or(f64::NAN, |(value, _)| *value)
}

fn boxed((name, summary, bins): Named<'_>) -> BoxStats {
    let quantile = |part: f64| quantile_ms(bins, part);
    BoxStats {
        name,
        low: quantile(0.05),
        first_quartile: quantile(0.25),
        median: quantile(0.5),
        third_quartile: quantile(0.75),
        high: quantile(0.95),
        mean: summary.mean.as_millis_f64(),
    }
}

fn segment_figure(run: &RunRecord, segments: &SegmentDiagram, name: &str) -> Option<Figure> {
    let flow = run.flows.get(segments.flow as usize)?;
    let is_tcp = tidegate_results::text::is_tcp(flow);
    let kinds = KINDS.iter().zip(&segments.kinds).enumerate().filter(|(_, (_, points))| !points.is_empty());
    let kinds: Vec<SegmentEvents> = kinds
        .map(|(look, (kind, points))| SegmentEvents {
            name: kind.word(is_tcp).to_owned(),
            points: points.clone(),
            look: Some(look),
        })
        .collect();
    let note = format!(" Flow {}; drops, losses and cache hits of all of {}.", flow.name, flow.prefix);
    (!kinds.is_empty()).then(|| Figure {
        x_label: "time [s]".into(),
        kind: FigureKind::Segments { kinds },
        ..frame(run, name, "segment [number]", &note)
    })
}
