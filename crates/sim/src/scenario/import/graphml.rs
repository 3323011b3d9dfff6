//! GraphML as the Internet Topology Zoo writes it (Knight et al., 2011).
//!
//! Of a node are read `label`, `Latitude` and `Longitude`; of an edge `LinkSpeedRaw` (bit/s), else `LinkSpeed` with
//! `LinkSpeedUnits`, and, as other programs write them with a unit, `rate` or `bandwidth`, and `delay` or `latency`.
//! Where no delay is given, it is the distance of the nodes along the surface over 2·10^8 m/s, light in fibre, but at
//! least 10 µs. Document type declarations are refused, so no entity can grow.

use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};
use tidegate_core::math;
use tidegate_core::units::{BitRate, Span};
use tidegate_settings::error::{Place, Problems};

use super::graph::Graph;
use super::lines::Piece;
use super::ndnsim::noted;
use super::{ImportedLink, quantities};

/// Maximum number of elements, attributes and texts of a document.
const MAX_PARTS: u32 = 4_000_000;
/// Radius of the earth, m.
const EARTH: f64 = 6_371_000.0;
/// Speed of light in fibre, m/s.
const LIGHT: f64 = 2e8;
/// Minimum delay that is derived from a distance, s.
const SHORTEST: f64 = 1e-5;

pub(super) fn read(text: &str, graph: &mut Graph, problems: &mut Problems) {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_PARTS, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, options) {
        Ok(document) => document,
        Err(error) => return problems.add(place_of(text, &error), no_xml(&error), None),
    };
    let Some(root) = child(document.root_element(), "graph") else {
        let whole = piece(text, document.root_element());
        return whole.refuse(problems, "there is no <graph> in <graphml>");
    };
    let reader = GraphmlReader { text, keys: keys(document.root_element()) };
    for node in root.children().filter(|node| node.has_tag_name_of("node")) {
        reader.node(node, graph, problems);
        if problems.is_full() {
            return;
        }
    }
    let is_directed = root.attribute("edgedefault") == Some("directed");
    for edge in root.children().filter(|node| node.has_tag_name_of("edge")) {
        reader.edge(edge, is_directed, graph, problems);
        if problems.is_full() {
            return;
        }
    }
}

fn no_xml(error: &roxmltree::Error) -> String {
    match error {
        // Entities of a document type can grow without bound.
        roxmltree::Error::DtdDetected => {
            "a document type is not read; delete the <!DOCTYPE ...> line".to_owned()
        }
        error => format!("no XML: {error}"),
    }
}

/// Names without regard to namespaces, which some programs leave out.
trait LocalName {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.has_tag_name_of(name))
}

/// Names of data by the id of their key.
fn keys<'a>(root: Node<'a, '_>) -> BTreeMap<&'a str, &'a str> {
    let keys = root.children().filter(|child| child.has_tag_name_of("key"));
    keys.filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?))).collect()
}

/// First line of an element, as its place.
fn piece<'t>(text: &'t str, node: Node<'_, '_>) -> Piece<'t> {
    let range = node.range();
    let whole = text.get(range.clone()).unwrap_or("");
    Piece { text: whole.lines().next().unwrap_or(""), start: range.start }
}

/// Byte offset of a parser error, from its line and column.
fn place_of(text: &str, error: &roxmltree::Error) -> Place {
    let position = error.pos();
    let line = text.split_inclusive('\n').take((position.row as usize).saturating_sub(1));
    let before: usize = line.map(str::len).sum();
    let rest = text.get(before..).unwrap_or("");
    let columns = rest.chars().take((position.col as usize).saturating_sub(1));
    let start = before + columns.map(char::len_utf8).sum::<usize>();
    Place { origin: 0, start, end: start + 1 }
}

struct GraphmlReader<'t, 'k> {
    text: &'t str,
    keys: BTreeMap<&'k str, &'k str>,
}

impl<'t> GraphmlReader<'t, '_> {
    /// The value of `name` with its place; case is ignored.
    fn data(&self, element: Node<'_, '_>, name: &str) -> Option<Piece<'t>> {
        let is_intended = |node: &Node<'_, '_>| {
            let key = node.attribute("key").and_then(|key| self.keys.get(key));
            node.has_tag_name_of("data") && key.is_some_and(|key| key.eq_ignore_ascii_case(name))
        };
        let value = element.children().find(is_intended)?;
        let range = value.first_child()?.range();
        let text = self.text.get(range.clone())?;
        Some(Piece { text, start: range.start }.trimmed())
    }

    fn number(&self, element: Node<'_, '_>, name: &str, problems: &mut Problems) -> Option<f64> {
        let value = self.data(element, name)?;
        let read = |text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| format!("{name}: {text:?} is not a number"))
        };
        noted(value, read, problems)
    }

    fn node(&self, node: Node<'_, '_>, graph: &mut Graph, problems: &mut Problems) {
        let Some(id) = node.attribute_node("id") else {
            return piece(self.text, node).refuse(problems, "a <node> needs an id");
        };
        let longitude = self.number(node, "Longitude", problems);
        let place = longitude.zip(self.number(node, "Latitude", problems));
        let label = Piece { text: id.value(), start: id.range_value().start };
        // The value has its references resolved; its place is that of the text in the file.
        let Some(index) = graph.add_node(label, place, problems) else { return };
        let name = node.children().find(|child| {
            let key = child.attribute("key").and_then(|key| self.keys.get(key));
            key.is_some_and(|key| key.eq_ignore_ascii_case("label"))
        });
        if let Some(name) = name.and_then(|name| name.text()).filter(|name| !name.trim().is_empty()) {
            graph.relabel(index, name.trim());
        }
    }

    fn edge(&self, edge: Node<'_, '_>, is_directed: bool, graph: &mut Graph, problems: &mut Problems) {
        let end = |name: &str, problems: &mut Problems| match edge.attribute_node(name) {
            Some(end) => graph.known(Piece { text: end.value(), start: end.range_value().start }, problems),
            None => {
                piece(self.text, edge).refuse(problems, format!("an <edge> needs a {name}"));
                None
            }
        };
        let (a, b) = (end("source", problems), end("target", problems));
        let Some((a, b)) = a.zip(b) else { return };
        // A directed graph lists a link once for each direction.
        if is_directed && graph.link_between(a, b).is_some() {
            return;
        }
        // A delay of the file takes precedence over one derived from places.
        let delay = self.delay(edge, problems).or_else(|| distance_delay(graph.place(a)?, graph.place(b)?));
        let link = ImportedLink { a, b, rate: self.rate(edge, problems), delay, ..ImportedLink::default() };
        graph.add_link(link, piece(self.text, edge), problems);
    }

    fn rate(&self, edge: Node<'_, '_>, problems: &mut Problems) -> Option<BitRate> {
        if let Some(raw) = self.data(edge, "LinkSpeedRaw") {
            let read = |text: &str| {
                let number = text.parse::<f64>().ok().and_then(quantities::rate);
                number.ok_or_else(|| format!("LinkSpeedRaw: {text:?} is not a number of bit/s from 1 on"))
            };
            return noted(raw, read, problems);
        }
        if let Some(speed) = self.data(edge, "LinkSpeed") {
            // The attribute may also hold words such as ">10"; what is not a number is ignored.
            let number = speed.text.parse::<f64>().ok()?;
            let factor = match self.data(edge, "LinkSpeedUnits")?.text {
                "G" => 1e9,
                "M" => 1e6,
                "K" | "k" => 1e3,
                _ => return None,
            };
            return quantities::rate(number * factor);
        }
        let given = self.data(edge, "rate").or_else(|| self.data(edge, "bandwidth"))?;
        noted(given, quantities::ns3_rate, problems)
    }

    fn delay(&self, edge: Node<'_, '_>, problems: &mut Problems) -> Option<Span> {
        let given = self.data(edge, "delay").or_else(|| self.data(edge, "latency"))?;
        noted(given, quantities::time, problems)
    }
}

/// Delay between two places (longitude, latitude) by their distance on the surface (haversine formula); `None` when
/// they are not on the earth.
fn distance_delay(from: (f64, f64), to: (f64, f64)) -> Option<Span> {
    let is_on_earth = |(longitude, latitude): (f64, f64)| longitude.abs() <= 360.0 && latitude.abs() <= 90.0;
    if !is_on_earth(from) || !is_on_earth(to) {
        return None;
    }
    let half = |a: f64, b: f64| {
        let sine = math::sin((b - a).to_radians() / 2.0);
        sine * sine
    };
    let shrunk = math::cos(from.1.to_radians()) * math::cos(to.1.to_radians());
    let chord = half(from.1, to.1) + shrunk * half(from.0, to.0);
    let distance = 2.0 * EARTH * math::asin(chord.clamp(0.0, 1.0).sqrt());
    // To a microsecond: the file's places are not finer.
    let micros = (distance / LIGHT).max(SHORTEST) * 1e6;
    Some(Span::from_micros(micros.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_takes_20_ms_from_new_york_to_los_angeles() {
        let delay = distance_delay((-74.006, 40.713), (-118.244, 34.052)).expect("both are on earth");
        assert!((delay.as_millis_f64() - 19.68).abs() < 0.02, "{delay}");
        assert_eq!(distance_delay((1.0, 1.0), (1.0, 1.0)), Some(Span::from_micros(10)));
        assert_eq!(distance_delay((1.0, 100.0), (1.0, 1.0)), None);
    }
}
