//! The data of the linked plots: throughput, window, queue and round-trip time over one time axis.

use tidegate_core::records::{FlowRecord, LinkRecord, RunRecord};

use super::markup::Markup;
use crate::figure::DASHES;
use crate::json::Json;
use crate::samples::{self, Aligned};

/// Instants per series in a page, at most.
pub(super) const MOST_POINTS: usize = 2000;
/// Series per plot, at most; the largest are kept.
const MOST_SERIES: usize = 14;

/// One plot.
pub(super) struct Panel {
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) note: String,
    pub(super) names: Vec<String>,
    /// Palette index of each series: a flow keeps its colour in every plot.
    pub(super) colours: Vec<usize>,
    pub(super) data: Aligned,
}

/// Everything that `plots.js` draws; `None` when the run was not sampled.
pub(super) fn panels(run: &RunRecord) -> Option<Json> {
    let panels: Vec<Panel> = flow_panels(run).into_iter().chain(queue_panel(run)).collect();
    document(run.ended.as_secs_f64(), &panels)
}

/// `panels` over the time to `end_s`, as `plots.js` takes them; `None` without any.
pub(super) fn document(end_s: f64, panels: &[Panel]) -> Option<Json> {
    if panels.is_empty() {
        return None;
    }
    let dashes = DASHES.map(|dash| Json::List(dash.iter().copied().map(Json::Number).collect()));
    Some(Json::Object(vec![
        ("dashes", Json::List(dashes.to_vec())),
        ("end_s", Json::Number(end_s)),
        ("panels", Json::List(panels.iter().map(json).collect())),
    ]))
}

/// The place in the page that `plots.js` fills.
pub(super) fn place(page: &mut Markup) {
    page.0.push_str(
        "<div class=\"tools\"><button type=\"button\" id=\"reset-zoom\">Show all</button>\
         <span class=\"note\">Drag to zoom in all plots, double-click to show all; with a plot focused: \
         <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>←</kbd> <kbd>→</kbd> move, <kbd>0</kbd> all. \
         A series' name hides and shows it.</span></div>\n\
         <div id=\"plots\"></div>\n<noscript><p>The plots need JavaScript; tables and figures do not.</p></noscript>\n",
    );
}

fn flow_panels(run: &RunRecord) -> Vec<Panel> {
    if run.flow_samples.time.is_empty() {
        return Vec::new();
    }
    let shown = largest(&run.flows, |flow: &FlowRecord| flow.delivered_payload.get());
    let note = left_out(shown.len(), run.flows.len(), "flows", "delivered payload");
    let names: Vec<String> = shown.iter().map(|index| run.flows[*index].name.clone()).collect();
    let panel = |title, unit, note: String, data: Aligned| Panel {
        title,
        unit,
        note,
        names: names.clone(),
        colours: shown.clone(),
        data: picked(data, &shown).thinned(MOST_POINTS),
    };
    let bin_s = bin_s(run.ended.as_secs_f64());
    let megabits: Vec<f64> = run.flows.iter().map(megabits_per_segment).collect();
    let throughput = samples::delivered(run).rates(bin_s, &megabits);
    let bins =
        format!("Payload of distinct segments over bins of {} ms.{note}", crate::text::number(bin_s * 1e3));
    vec![
        panel("Throughput per flow", "Mbit/s", bins, throughput),
        panel("Congestion window", "packets", note.clone(), samples::windows(run)),
        panel("Smoothed round-trip time", "ms", note.clone(), samples::round_trips(run)),
    ]
}

fn queue_panel(run: &RunRecord) -> Option<Panel> {
    if run.link_samples.time.is_empty() {
        return None;
    }
    let mut shown = largest(&run.links, |link: &LinkRecord| link.peak_queue_packets);
    // Queues that hold a packet or two now and then would only hide the others.
    let peak = run.links.iter().map(|link| link.peak_queue_packets).max().unwrap_or(0);
    shown.retain(|index| run.links[*index].peak_queue_packets * 20 >= peak);
    let name = |index: &usize| format!("{} → {}", run.links[*index].from, run.links[*index].to);
    Some(Panel {
        title: "Queue length",
        unit: "packets",
        note: left_out(shown.len(), run.links.len(), "queues", "peak"),
        names: shown.iter().map(name).collect(),
        colours: (0..shown.len()).collect(),
        data: picked(samples::queues(run), &shown).thinned(MOST_POINTS),
    })
}

/// Length of a throughput bin, s: 100 ms, longer in runs of more than 200 s.
pub(super) fn bin_s(end_s: f64) -> f64 {
    let tenths = (end_s / (MOST_POINTS as f64 * 0.1)).ceil();
    0.1 * tenths.max(1.0)
}

/// Payload of one segment on average, Mbit; zero for a flow that got nothing.
pub(super) fn megabits_per_segment(flow: &FlowRecord) -> f64 {
    match flow.delivered_segments {
        0 => 0.0,
        count => flow.delivered_payload.get() as f64 * 8e-6 / count as f64,
    }
}

/// Indices of the [`MOST_SERIES`] largest parts, in their own order.
fn largest<R>(parts: &[R], size: impl Fn(&R) -> u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(size(&parts[*index])));
    order.truncate(MOST_SERIES);
    order.sort_unstable();
    order
}

fn left_out(shown: usize, all: usize, what: &str, by: &str) -> String {
    if shown < all {
        format!(" {shown} of {all} {what} shown: those with the largest {by}.")
    } else {
        String::new()
    }
}

fn picked(data: Aligned, shown: &[usize]) -> Aligned {
    let series = shown.iter().map(|index| data.series.get(*index).cloned().unwrap_or_default()).collect();
    Aligned { series, ..data }
}

fn json(panel: &Panel) -> Json {
    let series =
        panel.names.iter().zip(&panel.colours).zip(&panel.data.series).map(|((name, colour), values)| {
            Json::Object(vec![
                ("name", name.as_str().into()),
                ("colour", Json::Count(*colour as u64)),
                ("values", Json::List(values.iter().map(|value| Json::maybe(value.map(rounded))).collect())),
            ])
        });
    Json::Object(vec![
        ("title", panel.title.into()),
        ("unit", panel.unit.into()),
        ("note", panel.note.trim().into()),
        ("time_s", Json::List(panel.data.time_s.iter().map(|time| Json::Number(rounded(*time))).collect())),
        ("series", Json::List(series.collect())),
    ])
}

/// The value to six significant digits: more cannot be seen, and they would double the file.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
