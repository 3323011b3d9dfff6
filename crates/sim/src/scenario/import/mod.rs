//! Topologies that other programs wrote: text in, nodes and links out, or everything that is wrong with it.
//!
//! | format | from | nodes | links |
//! |---|---|---|---|
//! | `ndnsim` | ndnSIM's annotated topology, 6 or 7 columns | name, place | rate, cost, delay, queue, loss |
//! | `minindn` | mini-ndn's `.conf` | name | rate (`bw`, Mbit/s), delay, loss (%), queue, cost (`[faces]`) |
//! | `graphml` | GraphML as the Internet Topology Zoo writes it | label, place | rate (`LinkSpeedRaw`), delay by
//! distance |
//! | `rocketfuel` | Rocketfuel's `weights.intra` or `latencies.intra` | name | cost, or delay in ms |
//!
//! What a file does not say is left open. Names become names of ours: letters, digits, `_` and `-`; what is not one
//! of these becomes `-`, and names that would be equal are numbered. A link that is listed once in each direction is
//! one link. Of a GraphML or Rocketfuel graph in several parts, the largest is kept.
//!
//! No input makes this panic, hang or take memory without bound.

mod graph;
mod graphml;
mod lines;
mod minindn;
mod ndnsim;
mod quantities;
mod rocketfuel;
mod write;

use std::collections::BTreeMap;
use std::fmt;

use tidegate_core::units::{BitRate, Span};
use tidegate_settings::error::{Errors, Place, Problems, Sources};
use tidegate_settings::reader::decode;

pub use write::scenario_text;
pub(super) use write::values;

use super::Limits;
use graph::Graph;

/// A format of topologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopologyFormat {
    /// The annotated topology of ndnSIM.
    Ndnsim,
    /// The file `.conf` of mini-ndn.
    Minindn,
    /// GraphML, as the Internet Topology Zoo publishes it.
    Graphml,
    /// Rocketfuel's weights or latencies.
    Rocketfuel,
}

impl TopologyFormat {
    /// All of them with their names.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Ndnsim, "ndnsim"),
        (Self::Minindn, "minindn"),
        (Self::Graphml, "graphml"),
        (Self::Rocketfuel, "rocketfuel"),
    ];

    /// The format recognised by the content, whatever the file's name; `None` if it is of no known format.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{FEFF}');
        let line = lines::lines(text).next()?;
        match line.text {
            "router" | "link" => Some(Self::Ndnsim),
            "[nodes]" | "[switches]" | "[links]" | "[faces]" => Some(Self::Minindn),
            first if first.starts_with('<') && text.contains("<graphml") => Some(Self::Graphml),
            _ => match line.words()[..] {
                // Places are "City,+State"; any list of edges with weights has three words.
                [a, b, number] if [a, b].iter().all(|place| place.text.contains(',')) => {
                    number.text.parse::<f64>().is_ok().then_some(Self::Rocketfuel)
                }
                _ => None,
            },
        }
    }
}

impl fmt::Display for TopologyFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

/// A topology as a file has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Nodes in the order of the file.
    pub nodes: Vec<ImportedNode>,
    /// Links in the order of the file.
    pub links: Vec<ImportedLink>,
    /// Omissions and changes of the import, one sentence each.
    pub notes: Vec<String>,
}

/// A node of an imported topology.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedNode {
    /// Its name: unlike all others, of letters, digits, `_` and `-`.
    pub name: String,
    /// Name in the file.
    pub label: String,
    /// Place in a drawing, across and down, 0 to 1.
    pub position: Option<(f64, f64)>,
}

/// A link; `None` for values that the file does not give.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedLink {
    /// Its name: unlike all others.
    pub name: String,
    /// First end, as an index into the nodes.
    pub a: usize,
    /// Node at the second end.
    pub b: usize,
    /// Rate of each direction.
    pub rate: Option<BitRate>,
    /// Propagation delay of the link, if given.
    pub delay: Option<Span>,
    /// Limit of each queue, packets.
    pub queue_packets: Option<u32>,
    /// Fraction of all packets that is lost, 0 to 1.
    pub loss: Option<f64>,
    /// Cost of the link in routing.
    pub cost: Option<u32>,
}

impl Imported {
    /// Takes the delays of links that `other` has as well, by the labels of their ends.
    pub fn take_delays(&mut self, other: &Self) {
        let label = |topology: &Self, node: usize| {
            topology.nodes.get(node).map_or_else(String::new, |node| node.label.clone())
        };
        let ends = |topology: &Self, link: &ImportedLink| {
            let (a, b) = (label(topology, link.a), label(topology, link.b));
            if a < b { (a, b) } else { (b, a) }
        };
        let delays: BTreeMap<(String, String), Span> =
            other.links.iter().filter_map(|link| Some((ends(other, link), link.delay?))).collect();
        // Collected first, because `ends` borrows the links that are changed.
        let found: Vec<Option<Span>> =
            self.links.iter().map(|link| delays.get(&ends(self, link)).copied()).collect();
        for (link, delay) in self.links.iter_mut().zip(found) {
            link.delay = delay.or(link.delay);
        }
    }
}

/// Reads a topology; `file` names it in messages and distinguishes weights from latencies.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(file: &str, bytes: &[u8], format: TopologyFormat, limits: &Limits) -> Result<Imported, Errors> {
    let text = decode(file, bytes)?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut problems = Problems::default();
    let graph = if text.len() > limits.text_bytes {
        let message = format!("it is longer than {} bytes", limits.text_bytes);
        problems.add(Place::default(), message, None);
        None
    } else {
        read_graph(file, text, format, limits, &mut problems)
    };
    match graph.filter(|_| problems.is_empty()) {
        Some(graph) => Ok(graph.finish()),
        None => Err(problems.locate(&Sources { name: file, text, overrides: &[] })),
    }
}

fn read_graph(
    file: &str,
    text: &str,
    format: TopologyFormat,
    limits: &Limits,
    problems: &mut Problems,
) -> Option<Graph> {
    let mut graph = Graph::new(limits);
    match format {
        TopologyFormat::Ndnsim => ndnsim::read(text, &mut graph, problems),
        TopologyFormat::Minindn => minindn::read(text, &mut graph, problems),
        TopologyFormat::Graphml => graphml::read(text, &mut graph, problems),
        TopologyFormat::Rocketfuel => rocketfuel::read(file, text, &mut graph, problems),
    }
    if matches!(format, TopologyFormat::Graphml | TopologyFormat::Rocketfuel) {
        graph.keep_largest_part();
    }
    if graph.len() < 2 && problems.is_empty() {
        let found = if graph.len() == 0 { "the file has no nodes" } else { "the file has only one node" };
        problems.add(Place::default(), format!("{found}; is it a topology in format {format}?"), None);
    }
    Some(graph)
}
