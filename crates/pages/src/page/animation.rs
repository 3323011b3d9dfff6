//! Animation of the network: queues, drops, marks, losses and content store hits on the time axis of the
//! plots.

use std::collections::BTreeMap;

use super::network::{self, Layout, MAX_NODES};
use super::topology::{LinkView, TopologyView};
use crate::event_summary::{BINS, EventSummary, PacketFate};
use crate::markup::Markup;
use crate::script::{number, to_script};
use serde_json::{Value, json};
use tidegate_results::text;

/// Fates of packets in a link direction, in the order of the data.
const HARMS: [PacketFate; 4] = [PacketFate::Drop, PacketFate::Mark, PacketFate::WireLoss, PacketFate::Stored];

/// Content of the section, which `animation.js` animates.
pub(super) fn section(summary: &EventSummary, view: &TopologyView) -> Markup {
    let mut content = Markup::default();
    if view.nodes.len() > MAX_NODES {
        content.add(format_args!(
            "<p class=\"note\">{} nodes are too many for an animation: at most {MAX_NODES} can be drawn. The \
             table of links has the drops, marks and losses of each link.</p>\n",
            text::count(view.nodes.len() as u64)
        ));
        return content;
    }
    let bare = TopologyView {
        nodes: view.nodes.clone(),
        links: view
            .links
            .iter()
            // The load is that of the whole run, and the animation shows instants.
            .map(|link| LinkView { label: String::new(), load: [None; 2], ..*link })
            .collect(),
    };
    let drawing = network::svg(&bare);
    content.add(format_args!(
        "<p class=\"note\">Run with seed {}. The bar of a queue is full at the maximum queue length of the run. With the drawing \
         focused: <kbd>Space</kbd> plays and pauses, <kbd>←</kbd> <kbd>→</kbd> step. The animation and the \
         cursor of the plots show the same time.</p>\n{KEY}<div class=\"tools\" id=\"animation-tools\"></div>\n\
         <figure class=\"scroll\" id=\"moving-network\" tabindex=\"0\" role=\"group\" aria-label=\"Animation of the network\">\
         {drawing}</figure>\n<output class=\"note said\" id=\"animation-said\"></output>\n\
         <noscript><p>The animation needs JavaScript; tables and figures do not.</p></noscript>\n\
         <script type=\"application/json\" id=\"animation-data\">{}</script>\n<script>\n",
        summary.watched.record.seed,
        to_script(&data(summary, &Layout::of(view)))
    ));
    content.0.push_str(include_str!("animation.js"));
    content.0.push_str("</script>\n");
    content
}

/// Key of the symbols, which are those of `animation.js`.
const KEY: &str = concat!(
    "<ul class=\"symbols\">",
    "<li><svg viewBox=\"0 0 30 14\"><path class=\"hold\" d=\"M2 7h26\"/><path class=\"held\" d=\"M2 7h15\"/></svg>packets waiting</li>",
    "<li><svg viewBox=\"-7 -7 14 14\"><path class=\"drop\" d=\"M-4 -4L4 4M-4 4L4 -4\"/></svg>dropped by the queue</li>",
    "<li><svg viewBox=\"-7 -7 14 14\"><path class=\"mark\" d=\"M0 -5L5 4H-5z\"/></svg>marked</li>",
    "<li><svg viewBox=\"-7 -7 14 14\"><path class=\"wireloss\" d=\"M0 -5L5 0L0 5L-5 0z\"/></svg>lost on a link</li>",
    "<li><svg viewBox=\"-7 -7 14 14\"><path class=\"stored\" d=\"M-4 -4h8v8h-8z\"/></svg>stored, with a loss notice</li>",
    "<li><svg viewBox=\"-7 -7 14 14\"><circle class=\"hit\" r=\"5\"/></svg>satisfied by the content store</li>",
    "</ul>\n"
);

fn data(summary: &EventSummary, layout: &Layout) -> Value {
    let point = |(x, y): (f64, f64)| json!([x, y].map(|value| number(value.round())));
    let nodes = (0..summary.nodes.len()).map(|node| point(layout.at(node)));
    let mut harms: BTreeMap<(u32, PacketFate), BTreeMap<u16, u64>> = BTreeMap::new();
    for (direction, bin, rule, count) in &summary.incidents {
        *harms.entry((*direction, rule.fate)).or_default().entry(*bin).or_default() += u64::from(*count);
    }
    let queues = queues(summary);
    let direction = |(index, (from, to)): (usize, &(u32, u32))| {
        let control = layout.path(*from as usize, *to as usize).control;
        let counts = HARMS.map(|fate| pairs(harms.get(&(index as u32, fate)).into_iter().flatten()));
        json!({
            "from": u64::from(*from),
            "to": u64::from(*to),
            "control": point(control),
            "queue": pairs(queues.get(index).into_iter().flatten().map(|(bin, length)| (bin, length))),
            "counts": counts.to_vec(),
        })
    };
    let mut hits: BTreeMap<u32, BTreeMap<u16, u64>> = BTreeMap::new();
    for (node, bin, count) in &summary.cache_hits {
        hits.entry(*node).or_default().insert(*bin, u64::from(*count));
    }
    let hits = (0..summary.nodes.len() as u32).map(|node| pairs(hits.get(&node).into_iter().flatten()));
    json!({
        "end_s": summary.watched.record.ended.as_secs_f64(),
        "bins": BINS,
        "bin_s": summary.bin.as_secs_f64(),
        "names": summary.nodes,
        "nodes": nodes.collect::<Value>(),
        "directions": summary.directions.iter().enumerate().map(direction).collect::<Value>(),
        "hits": hits.collect::<Value>(),
    })
}

/// Flat list of alternating bins and values.
fn pairs<'a>(of: impl Iterator<Item = (&'a u16, &'a u64)>) -> Value {
    of.flat_map(|(bin, value)| [u64::from(*bin), *value]).collect::<Value>()
}

/// Maximum of the sampled queue lengths in each bin, by link direction; only bins that differ from the one
/// before.
fn queues(summary: &EventSummary) -> Vec<Vec<(u16, u64)>> {
    let samples = &summary.watched.record.link_samples;
    let mut longest = vec![BTreeMap::<u16, u64>::new(); summary.directions.len()];
    for (row, link) in samples.link.iter().enumerate() {
        let Some(bins) = longest.get_mut(*link as usize) else { continue };
        let length = bins.entry(summary.bin_of(samples.time[row])).or_default();
        *length = (*length).max(u64::from(samples.queue_packets[row]));
    }
    let changes = |bins: BTreeMap<u16, u64>| {
        let mut before = 0;
        // Bins that repeat the length before would only enlarge the page.
        bins.into_iter().filter(|(_, length)| std::mem::replace(&mut before, *length) != *length).collect()
    };
    longest.into_iter().map(changes).collect()
}
