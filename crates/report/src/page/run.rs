//! The page of `tidegate run`: one scenario, one or several seeds; and of a transfer over real sockets, of which
//! only the end that made the page is known.

use tidegate_core::records::RunRecord;

use super::markup::{self, Escaped, Markup, Scripts};
use super::tables::{Shown, label, run_level};
use super::topology::TopologyView;
use super::{percentiles, plots};
use crate::definitions;
use crate::stats::Estimate;
use crate::tables::{RunContext, Table, build_summaries};
use crate::text;

/// What the page shows.
#[derive(Clone, Copy, Debug)]
pub struct RunPage<'a> {
    /// Title, mostly the scenario's name.
    pub title: &'a str,
    /// Runs of one scenario that differ by seed; numbers are means over them, plots show the first.
    pub runs: &'a [RunRecord],
    /// The network; `None` draws what the first run's links and flows show.
    pub topology: Option<&'a TopologyView>,
    /// The command that makes these results again.
    pub command: &'a str,
    /// Scenario text and version of the results' meaning, as in the tables.
    pub context: &'a RunContext,
    /// Whether this was measured on real sockets: nothing is said of links and seeds then.
    pub is_live: bool,
}

const CARDS: [&str; 8] = [
    "total_goodput_mbps",
    "completion_mean_s",
    "full_delay_mean_ms",
    "retransmissions",
    "jain_index",
    "dropped_packets",
    "lost_packets",
    "packet_hops",
];

/// Of [`CARDS`], those that one end of a transfer knows.
const LIVE_CARDS: usize = 4;

const FLOW_COLUMNS: [&str; 15] = [
    "name",
    "scheme",
    "consumer",
    "producer",
    "goodput_mbps",
    "completion_s",
    "delivered_segments",
    "full_delay_mean_ms",
    "full_delay_p95_ms",
    "last_delay_mean_ms",
    "retransmissions",
    "timeouts",
    "marks",
    "nacks",
    "loss_notices",
];

const LINK_COLUMNS: [&str; 13] = [
    "from",
    "to",
    "rate_mbps",
    "delay_ms",
    "utilisation",
    "throughput_mbps",
    "dropped_packets",
    "lost_packets",
    "marked_packets",
    "peak_queue_packets",
    "queue_delay_mean_ms",
    "queue_delay_p95_ms",
    "queue_delay_p99_ms",
];

/// One offline HTML file about the runs of a scenario.
pub fn run_page(page: &RunPage<'_>) -> String {
    let mut body = Markup::default();
    let [runs, flows, links] = build_summaries(page.runs, page.context);
    header(&mut body, page);
    cards(&mut body, &runs, if page.is_live { &CARDS[..LIVE_CARDS] } else { &CARDS });
    if let Some(first) = page.runs.first().filter(|_| !page.is_live) {
        topology(&mut body, page, first);
    }
    sections(&mut body, page, &flows, &links);
    let data = page.runs.first().and_then(plots::panels);
    markup::scenario(&mut body, page.context);
    markup::glossary(&mut body, true);
    let scripts = data.map_or(Scripts::Plain, Scripts::Plots);
    markup::document(page.title, &body.0, &scripts)
}

fn header(body: &mut Markup, page: &RunPage<'_>) {
    let seconds = page.runs.first().map_or(0.0, |run| run.ended.as_secs_f64());
    let (kicker, origin) = match page.is_live {
        true => ("Tidegate transfer", "measured on real sockets".to_owned()),
        false => ("Tidegate run", text::seeds(page.runs)),
    };
    body.add(format_args!(
        "<header><p class=\"kicker\">{kicker}</p><h1>{}</h1><p class=\"facts\">{} · {} s · results schema {}",
        Escaped(page.title),
        Escaped(&origin),
        text::number(seconds),
        crate::RESULTS_SCHEMA,
    ));
    if !page.is_live {
        body.add(format_args!(" · semantics {}", page.context.semantics));
    }
    body.0.push_str("</p></header>\n");
    markup::command_line(body, page.command);
}

fn cards(body: &mut Markup, runs: &Table, names: &[&str]) {
    body.0.push_str("<section aria-label=\"Summary\"><ul class=\"cards\">\n");
    for name in names {
        let Some(definition) = definitions::find(name) else { continue };
        body.add(format_args!(
            "<li title=\"{}\"><span class=\"label\">{}</span><span class=\"value\">{}</span></li>\n",
            Escaped(definition.text),
            Escaped(&label(name)),
            card_value(&run_level(runs, name), definition.unit)
        ));
    }
    body.0.push_str("</ul></section>\n");
}

fn card_value(estimate: &Estimate, unit: &str) -> String {
    if estimate.n == 0 {
        return "–".to_owned();
    }
    format!("{} <small>{}</small>", Escaped(&text::short(estimate)), Escaped(unit))
}

fn topology(body: &mut Markup, page: &RunPage<'_>, first: &RunRecord) {
    let drawing = page.topology.map_or_else(|| TopologyView::of_run(first).svg(), TopologyView::svg);
    if drawing.is_empty() {
        return;
    }
    body.add(format_args!(
        "<section><h2>Topology</h2><figure class=\"scroll\" tabindex=\"0\">{drawing}<figcaption>Circle: consumer. \
         Square: router. Diamond: producer.</figcaption></figure></section>\n"
    ));
}

fn sections(body: &mut Markup, page: &RunPage<'_>, flows: &Table, links: &Table) {
    let caption = match page.runs.len() {
        0 | 1 => String::new(),
        count => format!(" Mean ± 95 % interval over {count} runs; without interval: did not vary."),
    };
    body.0.push_str("<section><h2>Flows</h2>\n");
    let caption_of = |what: &str| format!("{what}.{caption}");
    Shown { table: flows, key: "flow", columns: &FLOW_COLUMNS, caption: caption_of("One row per flow") }
        .add(body);
    body.0.push_str("</section>\n");
    if !page.is_live {
        let caption = caption_of("One row per link direction");
        body.0.push_str("<section><h2>Links</h2>\n");
        Shown { table: links, key: "link", columns: &LINK_COLUMNS, caption }.add(body);
        body.0.push_str("</section>\n");
    }
    let Some(first) = page.runs.first() else { return };
    let which = match page.is_live {
        true => String::new(),
        false => format!("<p class=\"note\">Run with seed {}.</p>", first.seed),
    };
    body.add(format_args!("<section><h2>Over time</h2>{which}\n"));
    if first.flow_samples.time.is_empty() && first.link_samples.time.is_empty() {
        body.0.push_str("<p class=\"note\">The run was not sampled.</p>\n");
    } else {
        plots::place(body);
    }
    body.add(format_args!("</section>\n<section><h2>Delays</h2>{which}\n"));
    let charts = [("Flows", percentiles::flows(first)), ("Queues", percentiles::queues(first))];
    for (title, chart) in charts.iter().filter(|(_, chart)| !chart.is_empty()) {
        body.add(format_args!("<h3>{title}</h3><figure class=\"scroll\" tabindex=\"0\">{chart}</figure>\n"));
    }
    body.0.push_str("</section>\n");
}
