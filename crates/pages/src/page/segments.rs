//! Segments of each flow over time: requests, arrivals, and losses with their places.

use crate::event_summary::{EventSummary, FlowSummary, PointKind};
use crate::markup::Markup;
use crate::script::{self, to_script};
use serde_json::{Value, json};

/// Content of the section, which `segments.js` draws.
pub(super) fn section(summary: &EventSummary) -> Markup {
    let mut content = Markup::default();
    content.add(format_args!(
        "<p class=\"note\">Segment number (for TCP the sequence number, counted from the first byte) over \
         time, for one flow, seed {}. Drag to zoom in all plots, double-click \
         to show all. With the diagram focused: <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> zoom, <kbd>←</kbd> <kbd>→</kbd> \
         move, <kbd>n</kbd> <kbd>p</kbd> next and previous mark or loss. Of frequent events only every n-th is \
         shown; the button states n.</p>\n<div id=\"segment-diagram\"></div>\n\
         <noscript><p>The diagram needs JavaScript; tables and figures do not.</p></noscript>\n\
         <script type=\"application/json\" id=\"segments-data\">{}</script>\n<script>\n",
        summary.watched.record.seed,
        to_script(&data(summary))
    ));
    content.0.push_str(include_str!("segments.js"));
    content.0.push_str("</script>\n");
    content
}

fn data(summary: &EventSummary) -> Value {
    json!({
        "end_s": summary.watched.record.ended.as_secs_f64(),
        "flows": summary.flows.iter().map(|flow| of_flow(summary, flow)).collect::<Value>(),
    })
}

fn of_flow(summary: &EventSummary, flow: &FlowSummary) -> Value {
    let name = summary.watched.record.flows.get(flow.flow as usize).map_or("", |record| record.name.as_str());
    let points = PointKind::ALL.iter().map(|kind| {
        let points = flow.segments.points(*kind);
        let micros = points.iter().map(|point| (point.at.as_nanos() / 1000) as f64);
        json!({
            "found": flow.segments.found(*kind),
            "stride": flow.segments.stride(*kind),
            "time_us": steps(micros),
            "segment": steps(points.iter().map(|point| f64::from(point.segment))),
        })
    });
    let is_tcp = flow.first_sequence.is_some();
    json!({
        "name": name,
        "counts": if is_tcp { "sequence number [bytes]" } else { "segment [number]" },
        "kinds": PointKind::ALL.map(|kind| kind.word(is_tcp)),
        "points": points.collect::<Value>(),
    })
}

/// Each number as its difference from the one before, which takes a third of the text.
fn steps(numbers: impl Iterator<Item = f64>) -> Value {
    let mut before = 0.0;
    let step = |number: f64| script::number(number - std::mem::replace(&mut before, number));
    numbers.map(step).collect::<Value>()
}
