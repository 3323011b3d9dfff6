//! The page of `tidegate run`: one scenario, one or several seeds; and of a transfer over real sockets, of which
//! only the end that made the page is known.

use tidegate_core::observe::records::RunRecord;

use super::common::{self, Section};
use super::document::{self, Scripts};
use super::seeds::SeedPlots;
use super::tables::{Shown, label, run_level};
use super::timeline::Timeline;
use super::topology::TopologyView;
use super::{animation, delays, network, plots, segments, why};
use crate::event_summary::{EventSummary, too_large};
use crate::markup::{Escaped, Markup};
use crate::panels::{self, Panels};
use tidegate_results::definitions;
use tidegate_results::stats::Estimate;
use tidegate_results::tables::{ResultTable, RunContext, build_summaries};
use tidegate_results::text;

/// Content of a page of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunPage<'a> {
    /// Title, mostly the scenario's name.
    pub title: &'a str,
    /// Runs of one scenario with different seeds; numbers are means over them, plots show the first.
    pub runs: &'a [RunRecord],
    /// The network; `None` derives it from the links and flows of the first run.
    pub topology: Option<&'a TopologyView>,
    /// Events of the first run; with `None` the parts that need them are omitted.
    pub summary: Option<&'a EventSummary>,
    /// Changes of the network during the run.
    pub timeline: &'a Timeline,
    /// Samples of the other runs for the plots; `None` shows those of the first alone.
    pub seeds: Option<&'a SeedPlots>,
    /// The command that makes these results again.
    pub command: &'a str,
    /// Scenario text and version of the results' meaning, as in the tables.
    pub context: &'a RunContext,
    /// Whether the run was measured on real sockets, so that there are no links and seeds.
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

/// Number of [`CARDS`] that one end of a transfer can measure.
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
    document::warnings(&mut body, &text::partly_missing(page.runs));
    let panels = page.runs.first().map(|run| panels::of_run(run, &page.timeline.rates)).unwrap_or_default();
    common::sections(&mut body, &sections(page, &panels, &flows, &links), true);
    document::glossary(&mut body, false);
    let first = page.runs.first().filter(|_| !panels.shown.is_empty() || page.summary.is_some());
    let scripts = first.map_or(Scripts::Plain, |run| {
        Scripts::Plots(plots::data(&panels, run.ended.as_secs_f64(), page.timeline, page.seeds))
    });
    document::document(page.title, &body.0, &scripts)
}

/// The parts between cards and glossary.
fn sections(page: &RunPage<'_>, panels: &Panels, flows: &ResultTable, links: &ResultTable) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |id, title, content: Markup| sections.push(Section { id, title, content });
    if let Some(first) = page.runs.first() {
        if !page.is_live {
            add("topology", "Topology", topology(page, first));
        }
        add("time", "Over time", over_time(page, first, panels));
        if let Some(summary) = page.summary {
            add("why", "Why did it slow down?", why::section(summary));
            add("segments", "Segments", segments::section(summary));
            let view = page.topology.cloned().unwrap_or_else(|| TopologyView::of_run(first));
            add("animation", "Animation", animation::section(summary, &view));
        // A transfer has no events for another reason, which its page does not have to explain.
        } else if let Some(why) = too_large(first).filter(|_| !page.is_live) {
            add("why", "Why did it slow down?", why::unwatched(&why));
        }
        add("delays", "Delays", delays::section(first, page.summary, &seed_note(page, first)));
    }
    add("flows", "Flows", table(page, flows, "flow"));
    if !page.is_live {
        add("links", "Links", table(page, links, "link"));
    }
    let seeds = if page.is_live { String::new() } else { text::seeds(page.runs) };
    sections.extend([common::schemes(page.context), common::provenance(page.command, page.context, &seeds)]);
    sections
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
        tidegate_results::RESULTS_SCHEMA,
    ));
    if !page.is_live {
        let code = document::code(&page.context.code);
        body.add(format_args!(" · semantics {}{}", page.context.semantics, Escaped(&code)));
    }
    body.0.push_str("</p></header>\n");
}

fn cards(body: &mut Markup, runs: &ResultTable, names: &[&str]) {
    body.0.push_str("<section aria-label=\"Summary\"><ul class=\"cards\">\n");
    for name in names {
        let Some(definition) = definitions::find(name) else { continue };
        body.add(format_args!(
            "<li title=\"{}\"><span class=\"label\">{}</span><span class=\"value\">{}</span></li>\n",
            Escaped(definition.text),
            Escaped(&label(name)),
            card_value(&run_level(runs, name), runs.rows(), definition.unit)
        ));
    }
    body.0.push_str("</ul></section>\n");
}

fn card_value(estimate: &Estimate, runs: usize, unit: &str) -> String {
    if estimate.n == 0 {
        return "–".to_owned();
    }
    format!("{} <small>{}</small>", Escaped(&text::over_runs(estimate, runs)), Escaped(unit))
}

/// Note with the seed of the run that is shown.
fn seed_note(page: &RunPage<'_>, first: &RunRecord) -> String {
    if page.is_live {
        String::new()
    } else {
        format!("<p class=\"note\">Run with seed {}.</p>\n", first.seed)
    }
}

fn topology(page: &RunPage<'_>, first: &RunRecord) -> Markup {
    let mut content = Markup::default();
    let view = page.topology.cloned().unwrap_or_else(|| TopologyView::of_run(first));
    if view.nodes.len() > network::MAX_NODES {
        content.add(format_args!(
            "<p class=\"note\">{} nodes and {} links: too many to draw (at most {} nodes are). Their loads are in \
             the table of links.</p>\n",
            view.nodes.len(),
            view.links.len(),
            network::MAX_NODES
        ));
        return content;
    }
    let drawing = network::svg(&view.loaded(first, page.timeline));
    if !drawing.is_empty() {
        content.add(format_args!(
            "{}<figure class=\"scroll\" tabindex=\"0\" aria-label=\"Topology\">{drawing}<figcaption>Circle: consumer \
             or TCP receiver. Square: router. Diamond: producer or TCP sender. Each link has one line per \
             direction, drawn on the right-hand side of that direction; wider and darker lines (lighter ones \
             on a dark background) have a higher load. Point at a link for its rate, delay and loads.\
             </figcaption>{}</figure>\n",
            seed_note(page, first),
            network::key()
        ));
    }
    content
}

fn over_time(page: &RunPage<'_>, first: &RunRecord, panels: &Panels) -> Markup {
    // `plots.js` changes this note when another seed is selected.
    let mut content = Markup(seed_note(page, first).replace("<p ", "<p id=\"seed-shown\" "));
    if let Some(seeds) = page.seeds {
        seeds.describe(&mut content, page.runs.len());
    }
    if panels.shown.is_empty() {
        content.0.push_str("<p class=\"note\">The run was not sampled.</p>\n");
    } else {
        plots::place(&mut content, panels, page.timeline);
    }
    content
}

/// A table with one row per flow or link direction, grouped by `key`.
fn table(page: &RunPage<'_>, table: &ResultTable, key: &'static str) -> Markup {
    let mut content = Markup::default();
    let (what, columns): (_, &[&'static str]) = match key {
        "flow" => ("One row per flow.", &FLOW_COLUMNS),
        _ => ("One row per link direction.", &LINK_COLUMNS),
    };
    let over = match page.runs.len() {
        0 | 1 => String::new(),
        count => format!(" Mean ± 95 % interval over {count} runs; no interval: the same in every run."),
    };
    Shown { table, key, columns, caption: format!("{what}{over}") }.add(&mut content);
    content
}
