//! ndnSIM's annotated topology (ndnSIM manual, "AnnotatedTopologyReader"; the seventh column is that of newer forks).
//!
//! ```text
//! router
//! # node  comment  yPos  xPos
//! Seattle NA       47.6  -122.3
//! link
//! # source destination bandwidth metric delay queue [loss]
//! Seattle  Denver      10Gbps    1      10ms  100
//! ```

use tidegate_settings::error::Problems;

use super::graph::Graph;
use super::lines::{Piece, lines};
use super::{ImportedLink, quantities};

const NODE_COLUMNS: &str = "a node has the columns: name, comment, yPos, xPos";
const LINK_COLUMNS: &str =
    "a link has the columns: source, destination, bandwidth, metric, delay, queue and optionally loss";

/// Section of the file that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Router,
    Link,
}

pub(super) fn read(text: &str, graph: &mut Graph, problems: &mut Problems) {
    let mut section = Section::None;
    for line in lines(text) {
        match (line.text, section) {
            ("router", _) => section = Section::Router,
            ("link", _) => section = Section::Link,
            (_, Section::Router) => read_node(&line.words(), graph, problems),
            (_, Section::Link) => read_link(line, graph, problems),
            (_, Section::None) => {
                line.refuse(problems, "the file has to start with a line \"router\"");
                return;
            }
        }
        if problems.is_full() {
            return;
        }
    }
}

fn read_node(words: &[Piece<'_>], graph: &mut Graph, problems: &mut Problems) {
    let Some(name) = words.first() else { return };
    let place = match words {
        [_] | [_, _] => None,
        // A fifth column assigns the node to a process of a parallel simulation; it is ignored.
        [_, _, y, x] | [_, _, y, x, _] => coordinate(*x, problems).zip(coordinate(*y, problems)),
        [_, _, odd] => return odd.refuse(problems, format!("an xPos is missing; {NODE_COLUMNS}")),
        [_, _, _, _, _, odd, ..] => {
            return odd.refuse(problems, format!("a column too many; {NODE_COLUMNS}"));
        }
        [] => return,
    };
    graph.add_node(*name, place, problems);
}

fn coordinate(word: Piece<'_>, problems: &mut Problems) -> Option<f64> {
    let number = word.text.parse::<f64>().ok().filter(|number| number.is_finite());
    if number.is_none() {
        word.refuse(
            problems,
            format!("{:?} is not a coordinate; a number is needed; {NODE_COLUMNS}", word.text),
        );
    }
    number
}

fn read_link(line: Piece<'_>, graph: &mut Graph, problems: &mut Problems) {
    let words = line.words();
    let (a, b, rate, metric, delay, queue, loss) = match words[..] {
        [a, b, rate, metric, delay, queue] => (a, b, rate, metric, delay, queue, None),
        [a, b, rate, metric, delay, queue, loss] => (a, b, rate, metric, delay, queue, Some(loss)),
        [.., last] => {
            let what = if words.len() < 6 { "a column is missing" } else { "a column too many" };
            return last.refuse(problems, format!("{what}; {LINK_COLUMNS}"));
        }
        [] => return,
    };
    let ends = graph.known(a, problems).zip(graph.known(b, problems));
    let rate = noted(rate, quantities::ns3_rate, problems);
    let cost = noted(metric, quantities::cost, problems);
    let delay = noted(delay, quantities::time, problems);
    let queue_packets = noted(queue, quantities::packets, problems);
    let loss = loss.and_then(|loss| noted(loss, loss_rate, problems));
    if let Some((a, b)) = ends {
        let link = ImportedLink { name: String::new(), a, b, rate, delay, queue_packets, loss, cost };
        graph.add_link(link, line, problems);
    }
}

/// Result of `read` for a word; its error is recorded.
pub(super) fn noted<T>(
    word: Piece<'_>,
    read: impl Fn(&str) -> Result<T, String>,
    problems: &mut Problems,
) -> Option<T> {
    match read(word.text) {
        Ok(value) => Some(value),
        Err(why) => {
            word.refuse(problems, why);
            None
        }
    }
}

/// A part of all packets, or ns-3's error model that loses packets at a rate.
fn loss_rate(text: &str) -> Result<f64, String> {
    let Some(settings) = text.strip_prefix("ns3::RateErrorModel") else { return quantities::part(text) };
    let mut rate = None;
    for setting in settings.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
        match setting.split_once('=') {
            Some(("ErrorRate", value)) => rate = Some(quantities::part(value)?),
            Some(("ErrorUnit", "ERROR_UNIT_PACKET")) => {}
            _ => {
                return Err(format!(
                    "{setting:?} is not known; ErrorRate=... and ErrorUnit=ERROR_UNIT_PACKET are"
                ));
            }
        }
    }
    rate.ok_or_else(|| "ns3::RateErrorModel has no ErrorRate=...".to_owned())
}
