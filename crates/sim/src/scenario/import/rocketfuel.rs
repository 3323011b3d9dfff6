//! Rocketfuel's maps of one network (Spring et al., 2002): `weights.intra` and `latencies.intra`, one line of two
//! nodes and a number for each direction of a link. In a file with `latenc` in its name the number is a delay, ms;
//! else it is a cost.
//!
//! ```text
//! Adelaide,+Australia32 Melbourne,+Australia190 7.5
//! ```

use tidegate_settings::error::Problems;

use super::graph::Graph;
use super::lines::{Piece, lines};
use super::ndnsim::noted;
use super::{ImportedLink, quantities};

pub(super) fn read(file: &str, text: &str, graph: &mut Graph, problems: &mut Problems) {
    let is_latency = file.to_ascii_lowercase().contains("latenc");
    for line in lines(text) {
        read_link(line, is_latency, graph, problems);
        if problems.is_full() {
            return;
        }
    }
}

fn read_link(line: Piece<'_>, is_latency: bool, graph: &mut Graph, problems: &mut Problems) {
    let words = line.words();
    let [a, b, number] = words[..] else {
        let last = words.last().copied().unwrap_or(line);
        let message = format!("{} columns; a line has three: node, node, number", words.len());
        return last.refuse(problems, message);
    };
    let (cost, delay) = if is_latency {
        (None, noted(number, milliseconds, problems))
    } else {
        (noted(number, quantities::cost, problems), None)
    };
    let Some((a, b)) = node(a, graph, problems).zip(node(b, graph, problems)) else { return };
    if let Some(link) = graph.link_between(a, b) {
        // The other direction, most of the time with the same number.
        if (link.cost, link.delay) != (cost, delay) {
            graph.note(
                "some links have different values by direction; the first value is used for both directions"
                    .to_owned(),
            );
        }
        return;
    }
    graph.add_link(ImportedLink { a, b, cost, delay, ..ImportedLink::default() }, line, problems);
}

fn node(label: Piece<'_>, graph: &mut Graph, problems: &mut Problems) -> Option<usize> {
    graph.find(label.text).or_else(|| graph.add_node(label, None, problems))
}

fn milliseconds(text: &str) -> Result<tidegate_core::units::Span, String> {
    let number = text.parse::<f64>().ok().and_then(|number| quantities::span(number / 1e3));
    number.ok_or_else(|| format!("{text:?} is not a latency; a number of milliseconds is needed"))
}
