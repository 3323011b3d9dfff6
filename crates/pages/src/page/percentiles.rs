//! Delay distributions as rows: extremes, quartiles, median, 95th percentile, mean.

use tidegate_core::observe::records::{DelayBins, DelaySummary, RunRecord, Watched};
use tidegate_core::units::Span;

use super::document::class;
use crate::axis::{self, Extent, Scale};
use crate::event_summary::EventSummary;
use crate::figure::run::quantile_ms;
use crate::markup::{Escaped, Markup, shortened, text_width};
use tidegate_results::text;

const WIDTH: f64 = 760.0;
const ROW: f64 = 24.0;
/// Maximum number of rows; those with the largest delays are shown.
const MAX_ROWS: usize = 24;
/// Rows with less than one part in this number of the largest delay are omitted.
const MIN_SHARE: u64 = 20;

/// One row of the chart.
struct PercentileRow {
    name: String,
    series: usize,
    delay: DelaySummary,
    /// First and third quartile, ms, where the whole distribution is known.
    quartiles: Option<[f64; 2]>,
}

/// Full and last delays of all flows that received Data; empty without any.
pub(super) fn flows(run: &RunRecord, summary: Option<&EventSummary>) -> String {
    let full = |index| quartiles(summary, |watched| &watched.full_delay, index);
    let last = |index| quartiles(summary, |watched| &watched.last_delay, index);
    let rows = run.flows.iter().enumerate().flat_map(|(index, flow)| {
        [("full", flow.full_delay, full(index)), ("last", flow.last_delay, last(index))].map(
            |(kind, delay, quartiles)| PercentileRow {
                name: format!("{} {kind}", shortened(&flow.name, 24)),
                series: index,
                delay,
                quartiles,
            },
        )
    });
    chart("Delay per segment", "delays of flows", rows.collect())
}

/// Queueing delays of all queues that sent a packet; empty without any.
pub(super) fn queues(run: &RunRecord, summary: Option<&EventSummary>) -> String {
    let rows = run.links.iter().enumerate().map(|(index, link)| PercentileRow {
        name: format!("{} → {}", shortened(&link.from, 12), shortened(&link.to, 12)),
        series: 0,
        delay: link.queue_delay,
        quartiles: quartiles(summary, |watched| &watched.queue_delay, index),
    });
    chart("Queueing delay per packet", "delays of queues", rows.collect())
}

/// First and third quartile of a distribution, ms, as upper bounds of their bins.
fn quartiles(
    summary: Option<&EventSummary>,
    of: impl Fn(&Watched) -> &Vec<DelayBins>,
    index: usize,
) -> Option<[f64; 2]> {
    let bins = of(&summary?.watched).get(index)?;
    // The quantile is NaN if there are no delays.
    let quartile = |part| Some(quantile_ms(bins, part)).filter(|delay| delay.is_finite());
    Some([quartile(0.25)?, quartile(0.75)?])
}

fn chart(label: &str, what: &str, mut rows: Vec<PercentileRow>) -> String {
    let found = rows.len();
    rows.retain(|row| row.delay.count > 0);
    let mut sizes: Vec<Span> = rows.iter().map(|row| row.delay.max).collect();
    sizes.sort_by(|left, right| right.cmp(left));
    let Some(max) = sizes.first().copied() else { return String::new() };
    let min = sizes.get(MAX_ROWS - 1).copied().unwrap_or(Span::ZERO).max(max / MIN_SHARE);
    rows.retain(|row| row.delay.max >= min);
    // Several rows can have the delay `min`, and all of them pass the filter.
    rows.truncate(MAX_ROWS);
    let mut svg = draw(label, &rows);
    if rows.len() < found {
        let shown = rows.len();
        svg.push_str(&format!(
            "<p class=\"note\">The chart shows the largest {what}: {shown} of {found}.</p>\n"
        ));
    }
    svg
}

fn draw(label: &str, rows: &[PercentileRow]) -> String {
    let widest = rows.iter().map(|row| text_width(&row.name, 12.0)).fold(0.0, f64::max);
    let ends = rows.iter().flat_map(|row| [row.delay.min, row.delay.max]).map(Span::as_millis_f64);
    let (extent, ticks) = Extent::of(ends).with_zero().ticked(8);
    let x = Scale { low: extent.low, high: extent.high, start: widest + 16.0, end: WIDTH - 24.0 };
    let (top, bottom) = (34.0, 34.0 + ROW * rows.len() as f64);
    let height = bottom + 44.0;
    let mut svg = Markup::default();
    svg.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"percentiles\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" font-size=\"12\"><title>{label}</title>\n"
    ));
    key(&mut svg);
    for (tick, text) in ticks.iter().zip(axis::labels(&ticks)) {
        let at = x.at(*tick);
        svg.add(format_args!(
            "<path class=\"grid\" d=\"M{at:.1} {top}V{bottom}\"/><text class=\"soft\" x=\"{at:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{text}</text>\n",
            bottom + 16.0
        ));
    }
    for (index, row) in rows.iter().enumerate() {
        draw_row(&mut svg, &x, top + ROW * (index as f64 + 0.5), row);
    }
    svg.add(format_args!(
        "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label} [ms]</text>\n</svg>\n",
        (x.start + x.end) / 2.0,
        bottom + 36.0
    ));
    svg.0
}

/// Draws the key: the parts of a row, each with its meaning.
fn key(svg: &mut Markup) {
    svg.0.push_str(
        "<path class=\"axis\" d=\"M16 14H40M16 9v10M40 9v10\"/><text class=\"soft\" x=\"46\" y=\"18\">whiskers: minimum to maximum</text>\
         <rect class=\"fink\" x=\"256\" y=\"8\" width=\"24\" height=\"12\" fill-opacity=\"0.35\"/>\
         <text class=\"soft\" x=\"286\" y=\"18\">box: first to third quartile</text>\
         <path class=\"inkline\" d=\"M452 7v14\"/><text class=\"soft\" x=\"459\" y=\"18\">median</text>\
         <path class=\"inkline\" d=\"M524 10v8M520 14h8\"/><text class=\"soft\" x=\"534\" y=\"18\">95th percentile</text>\
         <circle class=\"fink\" cx=\"648\" cy=\"14\" r=\"3.5\"/><text class=\"soft\" x=\"656\" y=\"18\">mean</text>\n",
    );
}

fn draw_row(svg: &mut Markup, x: &Scale, y: f64, row: &PercentileRow) {
    let at = |span: Span| x.at(span.as_millis_f64());
    let DelaySummary { mean, min, p50, p95, p99, max, count } = row.delay;
    let series = class(row.series);
    let ms = |span: Span| text::number(span.as_millis_f64());
    let quartiles = row.quartiles.map_or(String::new(), |[first, third]| {
        format!("p25 {}, p75 {}, ", text::number(first), text::number(third))
    });
    svg.add(format_args!(
        "<g><title>{}: min {}, median {}, {quartiles}mean {}, p95 {}, p99 {}, max {} ms, {count} values</title>",
        Escaped(&row.name),
        ms(min),
        ms(p50),
        ms(mean),
        ms(p95),
        ms(p99),
        ms(max)
    ));
    svg.add(format_args!(
        "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
         <path class=\"s{series}\" d=\"M{:.1} {y:.1}H{:.1}M{:.1} {:.1}v8M{:.1} {:.1}v8\"/>",
        x.start - 10.0,
        y + 4.0,
        Escaped(&row.name),
        at(min),
        at(max),
        at(min),
        y - 4.0,
        at(max),
        y - 4.0
    ));
    if let Some([first, third]) = row.quartiles {
        svg.add(format_args!(
            "<rect class=\"f{series} s{series}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\" \
             fill-opacity=\"0.35\"/>",
            x.at(first),
            y - 7.0,
            (x.at(third) - x.at(first)).max(1.0)
        ));
    }
    svg.add(format_args!(
        "<path class=\"inkline\" d=\"M{0:.1} {1:.1}v14M{2:.1} {3:.1}v8M{4:.1} {y:.1}h8\"/>\
         <circle class=\"f{series}\" cx=\"{5:.1}\" cy=\"{y:.1}\" r=\"3.5\"/></g>\n",
        at(p50),
        y - 7.0,
        at(p95),
        y - 4.0,
        at(p95) - 4.0,
        at(mean)
    ));
}
