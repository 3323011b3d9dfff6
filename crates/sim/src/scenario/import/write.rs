//! An imported topology as the start of a scenario.

use std::fmt::Write;

use tidegate_core::units::{BitRate, Span};
use tidegate_settings::write::quoted;

use super::{Format, Imported, ImportedLink};

/// What links get that the file says nothing about.
const RATE: BitRate = BitRate::from_bps(1_000_000_000);
const DELAY: Span = Span::from_millis(1);

/// A scenario with the nodes and links of `topology`, which came from `file`, and a flow to start with.
///
/// It is sound: whatever was imported, `tidegate check` accepts it if the network is in one part.
pub fn scenario_text(name: &str, file: &str, format: Format, topology: &Imported) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# {} nodes and {} links of {}, which is in format {format}.",
        topology.nodes.len(),
        topology.links.len(),
        one_line(file)
    );
    for note in &topology.notes {
        let _ = writeln!(text, "# Note: {}.", one_line(note));
    }
    let _ = write!(
        text,
        "format = 1\n\n[scenario]\nname = {}\nduration = \"10s\"\nseeds = 3\n\n",
        quoted(&one_line(name))
    );
    defaults(&mut text, topology);
    for node in &topology.nodes {
        let _ = writeln!(text, "[[node]]\nname = {}", quoted(&node.name));
        if node.label != node.name {
            let _ = writeln!(text, "# {}", one_line(&node.label));
        }
        if let Some((across, down)) = node.position {
            let _ = writeln!(text, "position = [{across:?}, {down:?}]");
        }
        text.push('\n');
    }
    for link in &topology.links {
        write_link(&mut text, topology, link);
    }
    flow(&mut text, topology);
    text
}

/// Text for a comment or a title.
fn one_line(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn defaults(text: &mut String, topology: &Imported) {
    let links = &topology.links;
    text.push_str("# What all links share, unless they say otherwise below.\n[topology.link]\n");
    if links.iter().any(|link| link.rate.is_none()) {
        let _ = writeln!(text, "rate = \"{RATE}\"   # the file does not say it for all links: check it");
    }
    if links.iter().any(|link| link.delay.is_none()) {
        let _ = writeln!(text, "delay = \"{DELAY}\"   # the file does not say it for all links: check it");
    }
    text.push_str("queue = { limit = \"100pkt\" }\n\n");
}

fn write_link(text: &mut String, topology: &Imported, link: &ImportedLink) {
    let name = |node: usize| topology.nodes.get(node).map_or("", |node| node.name.as_str());
    let (a, b) = (name(link.a), name(link.b));
    text.push_str("[[link]]\n");
    if link.name != format!("{a}-{b}") {
        let _ = writeln!(text, "name = {}", quoted(&link.name));
    }
    let _ = writeln!(text, "ends = [{}, {}]", quoted(a), quoted(b));
    for (key, value) in values(link) {
        let _ = writeln!(text, "{key} = {value}");
    }
    text.push('\n');
}

/// What is known of a link, as keys and values of a scenario.
pub(crate) fn values(link: &ImportedLink) -> Vec<(&'static str, String)> {
    let all = [
        ("rate", link.rate.map(|rate| format!("\"{rate}\""))),
        ("delay", link.delay.map(|delay| format!("\"{delay}\""))),
        ("cost", link.cost.map(|cost| cost.to_string())),
        ("queue", link.queue_packets.map(|limit| format!("{{ limit = \"{limit}pkt\" }}"))),
        ("loss", link.loss.map(|loss| format!("{{ model = \"bernoulli\", probability = {loss:?} }}"))),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn flow(text: &mut String, topology: &Imported) {
    let [first, .., last] = &topology.nodes[..] else { return };
    let _ = write!(
        text,
        "# A flow to start with: who asks, who answers, for what, and by which scheme (`tidegate schemes`).\n\
         [[flow]]\nconsumer = {}\nproducer = {}\nprefix = \"/data\"\nscheme = \"catchunks-cubic\"\n\
         size = \"10MB\"   # without a size, it asks until the end\n",
        quoted(&first.name),
        quoted(&last.name)
    );
}
