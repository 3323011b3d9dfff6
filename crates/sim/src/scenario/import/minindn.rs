//! mini-ndn's topology: sections `[nodes]`, `[switches]`, `[links]` and `[faces]`.
//!
//! ```text
//! [nodes]
//! a: radius=0.5
//! [links]
//! a:b delay=10ms bw=100 loss=1 max_queue_size=100
//! [faces]
//! a:b cost=10
//! ```
//!
//! `bw` is in Mbit/s, `loss` in per cent, as in Mininet. A switch becomes a node. Keys and sections that are about
//! something else than the topology are left out, with a note.

use tidegate_settings::error::Problems;

use super::graph::Graph;
use super::lines::{Piece, lines};
use super::ndnsim::noted;
use super::{ImportedLink, quantities};

/// Keys of nodes that have no effect here and are ignored without a note.
const QUIET_KEYS: [&str; 6] = ["radius", "angle", "app", "nfd-log-level", "nlsr-log-level", "cs-size"];

pub(super) fn read(text: &str, graph: &mut Graph, problems: &mut Problems) {
    let mut section = None;
    // Python's configparser, which mini-ndn uses, takes `;` for a comment, too.
    for line in lines(text).filter(|line| !line.text.starts_with(';')) {
        if let Some(name) = line.text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = Some(name);
            if !["nodes", "switches", "links", "faces"].contains(&name) {
                graph.note(format!("section [{name}] was left out"));
            }
            continue;
        }
        match section {
            Some("nodes" | "switches") => read_node(line, graph, problems),
            Some("links") => read_link(line, graph, problems),
            Some("faces") => read_face(line, graph, problems),
            Some(_) => {}
            None => {
                return line.refuse(problems, "the file has to start with a section, such as \"[nodes]\"");
            }
        }
        if problems.is_full() {
            return;
        }
    }
}

fn read_node(line: Piece<'_>, graph: &mut Graph, problems: &mut Problems) {
    let (name, settings) = line.split_at(':').unwrap_or((line, Piece { text: "", ..line }));
    if name.text.is_empty() || name.text.contains(char::is_whitespace) {
        return name
            .refuse(problems, format!("{:?} is not a node; one such as \"a: _\" is needed", line.text));
    }
    for word in settings.words() {
        let key = word.text.split('=').next().unwrap_or("");
        if key != "_" && !QUIET_KEYS.contains(&key) {
            graph.note(format!("{key}= of nodes was left out"));
        }
    }
    graph.add_node(name, None, problems);
}

/// Two nodes, and keys with their values.
type Ends<'a> = ((usize, usize), Vec<(Piece<'a>, Piece<'a>)>);

/// The two nodes at the start of a line, and its settings.
fn ends<'a>(line: Piece<'a>, graph: &Graph, problems: &mut Problems) -> Option<Ends<'a>> {
    let words = line.words();
    let (ends, settings) = words.split_first()?;
    let Some((a, b)) = ends.split_at(':') else {
        ends.refuse(problems, format!("{:?} is not a link; one such as \"a:b\" is needed", ends.text));
        return None;
    };
    let mut pairs = Vec::new();
    for word in settings {
        match word.split_at('=') {
            Some(pair) => pairs.push(pair),
            None => word.refuse(problems, format!("{:?} is not of the form key=value", word.text)),
        }
    }
    Some((graph.known(a, problems).zip(graph.known(b, problems))?, pairs))
}

fn read_link(line: Piece<'_>, graph: &mut Graph, problems: &mut Problems) {
    let Some(((a, b), settings)) = ends(line, graph, problems) else { return };
    let mut link = ImportedLink { a, b, ..ImportedLink::default() };
    for (key, value) in settings {
        match key.text {
            "delay" => link.delay = noted(value, quantities::time, problems),
            "bw" => link.rate = noted(value, megabits, problems),
            "loss" => link.loss = noted(value, per_cent, problems).filter(|loss| *loss > 0.0),
            "max_queue_size" => link.queue_packets = noted(value, quantities::packets, problems),
            "cost" => link.cost = noted(value, quantities::cost, problems),
            other => graph.note(format!("{other}= of links was left out")),
        }
    }
    graph.add_link(link, line, problems);
}

/// A rate in Mbit/s.
fn megabits(text: &str) -> Result<tidegate_core::units::BitRate, String> {
    let number = text.parse::<f64>().ok().and_then(|number| quantities::rate(number * 1e6));
    number.ok_or_else(|| format!("{text:?} is not a bw; a number of Mbit/s is needed, such as \"100\""))
}

/// A fraction of all packets, in per cent.
fn per_cent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok().filter(|loss| (0.0..=100.0).contains(loss));
    number
        .map(|loss| loss / 100.0)
        .ok_or_else(|| format!("{text:?} is not a loss; per cent from 0 to 100 are needed, such as \"1\""))
}

fn read_face(line: Piece<'_>, graph: &mut Graph, problems: &mut Problems) {
    let Some(((a, b), settings)) = ends(line, graph, problems) else { return };
    for (key, value) in settings {
        if key.text != "cost" {
            graph.note(format!("{}= of faces was left out", key.text));
            continue;
        }
        let cost = noted(value, quantities::cost, problems);
        match graph.link_between(a, b) {
            Some(link) => link.cost = cost,
            None => {
                line.refuse(problems, "there is no link between these nodes; [links] has to name it first")
            }
        }
    }
}
