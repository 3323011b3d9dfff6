//! An imported topology as the start of a scenario.

use std::fmt::Write;

use tidegate_core::units::{BitRate, Span};
use tidegate_settings::write::quoted;

use super::{Imported, ImportedLink, TopologyFormat};

/// Defaults of links for which the file has no values.
const RATE: BitRate = BitRate::from_bps(1_000_000_000);
const DELAY: Span = Span::from_millis(1);

/// Length of the run.
const DURATION: Span = Span::from_secs(10);
/// The slowest link carries all files together in 1/`BUSY` of the run.
const BUSY: u64 = 5;
/// Minimum and maximum size of a file, bytes.
const SIZES: [u64; 2] = [1_000, 10_000_000];

/// A scenario with the nodes and links of `topology`, which came from `file`, and flows to start with: each of
/// `consumers`, by index into the nodes, fetches a file from the last node.
///
/// It is sound: whatever was imported, `tidegate check` accepts it if the network is in one part.
pub fn scenario_text(
    name: &str,
    file: &str,
    format: TopologyFormat,
    topology: &Imported,
    consumers: &[usize],
) -> String {
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
        "format = 1\n\n[scenario]\nname = {}\nduration = \"{DURATION}\"\nseeds = 3\n\
         # Between seeds: the start of each flow by up to a round trip, each delay by up to 1 %.\n\
         vary = {{ start = true, delay = 0.01 }}\n\n",
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
    flows(&mut text, topology, consumers);
    text
}

/// Text for a comment or a title.
fn one_line(text: &str) -> String {
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn defaults(text: &mut String, topology: &Imported) {
    let links = &topology.links;
    text.push_str("# Defaults of all links; [[link]] overrides them.\n[topology.link]\n");
    if links.iter().any(|link| link.rate.is_none()) {
        let _ = writeln!(text, "rate = \"{RATE}\"   # assumed: the file has no rate for some links");
    }
    if links.iter().any(|link| link.delay.is_none()) {
        let _ = writeln!(text, "delay = \"{DELAY}\"   # assumed: the file has no delay for some links");
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

/// Known properties of a link, as keys and values of a scenario.
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

fn flows(text: &mut String, topology: &Imported, consumers: &[usize]) {
    let Some(producer) = topology.nodes.last() else { return };
    text.push_str("# Flows to start with: consumer, producer, prefix and scheme (`tidegate schemes`).\n");
    for consumer in consumers.iter().filter_map(|consumer| topology.nodes.get(*consumer)) {
        let _ = write!(
            text,
            "[[flow]]\nconsumer = {}\nproducer = {}\nprefix = {}\nscheme = \"catchunks-cubic\"\n\
             size = \"{}\"   # without a size, the flow continues until the run ends\n\n",
            quoted(&consumer.name),
            quoted(&producer.name),
            quoted(&format!("/data/{}", consumer.name)),
            size(topology, consumers.len())
        );
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// Size of each of `files`, one digit and zeros, so that the slowest link carries all of them within the run.
fn size(topology: &Imported, files: usize) -> String {
    let slowest = topology.links.iter().map(|link| link.rate.unwrap_or(RATE)).min().unwrap_or(RATE);
    let bytes = slowest.bytes_in(DURATION).get() / BUSY / files.max(1) as u64;
    let bytes = bytes.clamp(SIZES[0], SIZES[1]);
    let digit = 10u64.pow(bytes.ilog10());
    let bytes = bytes / digit * digit;
    if bytes >= 1_000_000 { format!("{}MB", bytes / 1_000_000) } else { format!("{}kB", bytes / 1_000) }
}
