//! Distributions of delay: a row of quartiles per flow and queue, and cumulative distributions.

use tidegate_core::observe::records::RunRecord;

use super::percentiles;
use crate::event_summary::EventSummary;
use crate::figure::run::{RUN_FIGURES, SegmentDiagram, Window, of_watched};
use crate::markup::{Escaped, Markup};

/// Figures of whole distributions.
const DISTRIBUTIONS: [&str; 3] = ["delay-cdf", "last-delay-cdf", "queue-delay-cdf"];

/// The section of delays; `note` names its run.
pub(super) fn section(run: &RunRecord, summary: Option<&EventSummary>, note: &str) -> Markup {
    let mut content = Markup::default();
    let charts = [("Flows", percentiles::flows(run, summary)), ("Queues", percentiles::queues(run, summary))];
    for (title, chart) in charts.iter().filter(|(_, chart)| !chart.is_empty()) {
        content.add(format_args!(
            "<h3>{title}</h3><figure class=\"scroll\" tabindex=\"0\" aria-label=\"Delays: {title}\">{chart}</figure>\n"
        ));
    }
    if let Some(summary) = summary {
        distributions(&mut content, summary);
    }
    if !content.0.is_empty() {
        content.0.insert_str(0, note);
    }
    content
}

fn distributions(content: &mut Markup, summary: &EventSummary) {
    // Required by `of_watched`; distributions do not use it.
    let none = SegmentDiagram::new(0, Window::ALL);
    let figures = RUN_FIGURES.iter().filter(|figure| DISTRIBUTIONS.contains(&figure.name));
    let drawn = figures.filter_map(|known| Some((known, of_watched(&summary.watched, &none, known.name)?)));
    let drawn: Vec<_> = drawn.collect();
    if drawn.is_empty() {
        return;
    }
    content.0.push_str("<div class=\"figures\">\n");
    for (known, figure) in drawn {
        content.add(format_args!(
            "<figure id=\"{}\"><h3>{}</h3><div class=\"scroll\" tabindex=\"0\">{}</div><figcaption>{}</figcaption></figure>\n",
            figure.id,
            known.title,
            figure.inline_svg(),
            Escaped(&figure.caption)
        ));
    }
    content.0.push_str("</div>\n");
}
