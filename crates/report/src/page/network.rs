//! A network as SVG: nodes by what they do, links by how busy each direction was.

use super::markup::{Escaped, Markup, shortened, text_width};
use super::topology::{LinkView, NodeKind, NodeView, TopologyView};
use crate::text;

/// More nodes than these are not drawn: nobody could tell them apart.
pub(super) const MAX_NODES: usize = 200;
/// More links than these have their labels only when pointed at.
const MAX_LABELS: usize = 40;
/// More rows than these are drawn small, with the names beside the nodes.
const MAX_ROOMY_ROWS: usize = 12;
/// Steps of load, from idle to busy.
const STEPS: usize = 5;

/// Width of the drawing, px.
const WIDTH: f64 = 860.0;

type Point = (f64, f64);

/// Where everything stands in the drawing.
pub(super) struct Layout {
    places: Vec<Point>,
    height: f64,
    is_dense: bool,
}

impl Layout {
    pub(super) fn of(view: &TopologyView) -> Self {
        let (places, rows) = view.places();
        let is_dense = rows > MAX_ROOMY_ROWS;
        let (margin, row_height) = if is_dense { (120.0, 22.0) } else { (60.0, 72.0) };
        let height = (46.0 + row_height * rows as f64).max(150.0);
        let place = |(x, y): Point| (margin + x * (WIDTH - 2.0 * margin), 24.0 + y * (height - 58.0));
        Self { places: places.into_iter().map(place).collect(), height, is_dense }
    }

    /// The middle of a node; the corner of the drawing for one that is not there.
    pub(super) fn at(&self, node: usize) -> Point {
        self.places.get(node).copied().unwrap_or_default()
    }

    /// The way of a link.
    pub(super) fn path(&self, from: usize, to: usize) -> Path {
        let (start, end) = (self.at(from), self.at(to));
        let (top, bottom) = (start.1.min(end.1), start.1.max(end.1));
        let is_between = |(x, y): &Point| (x - start.0).abs() < 1.0 && *y > top + 1.0 && *y < bottom - 1.0;
        // Upright links bend beside the nodes that stand between their ends.
        let is_bent = (start.0 - end.0).abs() < 1.0 && self.places.iter().any(is_between);
        Path::between(start, end, is_bent)
    }
}

/// The drawing; empty without nodes.
pub(super) fn svg(view: &TopologyView) -> String {
    if view.nodes.is_empty() {
        return String::new();
    }
    let layout = Layout::of(view);
    let (width, height) = (WIDTH, layout.height);
    let mut svg = Markup::default();
    svg.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"topology\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" font-size=\"12\"><title>Topology: {} nodes, {} links</title>\n",
        view.nodes.len(),
        view.links.len()
    ));
    // Labels come last so that no line crosses them.
    let mut labels = Markup::default();
    let is_labelled = view.links.len() <= MAX_LABELS;
    let mut taken = Taken::by_nodes(view, &layout);
    for link in view.known_links() {
        let path = layout.path(link.from, link.to);
        draw_link(&mut svg, &path, view, link);
        if is_labelled {
            label_link(&mut labels, &mut taken, &path, link);
        }
    }
    for (index, node) in view.nodes.iter().enumerate() {
        let (x, y) = layout.at(index);
        let name_at = if layout.is_dense { NamePlace::beside(x / WIDTH) } else { NamePlace::Below };
        draw_node(&mut svg, (x, y), node, name_at);
    }
    svg.0.push_str(&labels.0);
    svg.0.push_str("</svg>\n");
    svg.0
}

/// What the shades of links mean.
pub(super) fn key() -> String {
    let mut svg = Markup::default();
    svg.0.push_str(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"key\" viewBox=\"0 0 390 22\" width=\"390\" height=\"22\" \
         role=\"img\" font-size=\"12\"><title>Load of a link direction by shade and width</title>\
         <text class=\"soft\" x=\"0\" y=\"15\">load</text>",
    );
    for step in 0..STEPS {
        let x = 36.0 + 70.0 * step as f64;
        let percent = 100 * step / STEPS;
        svg.add(format_args!(
            "<path class=\"l{step}\" d=\"M{x} 11h24\" stroke-width=\"{:.1}\"/>\
             <text class=\"soft\" x=\"{:.0}\" y=\"15\">{}{percent} %</text>",
            width(percent as f64 / 100.0 + 0.1),
            x + 28.0,
            if step == 0 { "≥ " } else { "" },
        ));
    }
    svg.0.push_str("</svg>\n");
    svg.0
}

/// Width of a direction's line, px.
fn width(load: f64) -> f64 {
    1.5 + 5.0 * load.clamp(0.0, 1.0)
}

/// A link's way: a straight line, or bent beside the nodes between its ends.
pub(super) struct Path {
    from: Point,
    to: Point,
    /// Control point of the curve, a quadratic one.
    pub(super) control: Point,
}

impl Path {
    fn between(from: Point, to: Point, is_bent: bool) -> Self {
        let bend = if is_bent { (0.4 * (from.1 - to.1).abs()).clamp(44.0, 220.0) } else { 0.0 };
        Self { from, to, control: ((from.0 + to.0) / 2.0 + bend, (from.1 + to.1) / 2.0) }
    }

    /// Moved to the right of its direction by `by`.
    fn beside(&self, by: f64) -> String {
        let (across, down) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        let length = across.hypot(down).max(1e-6);
        let (x, y) = (-down / length * by, across / length * by);
        let [from, control, to] = [self.from, self.control, self.to].map(|point| (point.0 + x, point.1 + y));
        format!("M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}", from.0, from.1, control.0, control.1, to.0, to.1)
    }

    /// The point at a part of the curve, 0 to 1.
    fn at(&self, part: f64) -> Point {
        let rest = 1.0 - part;
        let on = |from: f64, control: f64, to: f64| {
            rest * rest * from + 2.0 * part * rest * control + part * part * to
        };
        (on(self.from.0, self.control.0, self.to.0), on(self.from.1, self.control.1, self.to.1))
    }

    /// Arrows for the way and for the way back.
    fn arrows(&self) -> [&'static str; 2] {
        let (across, down) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        match (across.abs() >= down.abs(), across >= 0.0, down >= 0.0) {
            (true, true, _) => ["→", "←"],
            (true, false, _) => ["←", "→"],
            (false, _, true) => ["↓", "↑"],
            (false, _, false) => ["↑", "↓"],
        }
    }
}

fn draw_link(svg: &mut Markup, path: &Path, view: &TopologyView, link: &LinkView) {
    let ends = [link.from, link.to].map(|node| view.nodes[node].name.as_str());
    let said = |load: Option<f64>| load.map_or_else(|| "–".to_owned(), percent);
    svg.add(format_args!(
        "<g fill=\"none\"><title>{0} – {1}: {2}; load {0} → {1} {3}, {1} → {0} {4}</title>",
        Escaped(ends[0]),
        Escaped(ends[1]),
        Escaped(&link.label),
        said(link.load[0]),
        said(link.load[1])
    ));
    for (load, side) in link.load.iter().zip([1.0, -1.0]) {
        match load {
            Some(load) => {
                let step = ((load * STEPS as f64) as usize).min(STEPS - 1);
                let (width, shift) = (width(*load), side * (0.75 + width(*load) / 2.0));
                let d = path.beside(shift);
                svg.add(format_args!("<path class=\"l{step}\" d=\"{d}\" stroke-width=\"{width:.1}\"/>"));
            }
            None => svg.add(format_args!("<path class=\"wire\" d=\"{}\"/>", path.beside(0.0))),
        }
    }
    svg.0.push_str("</g>\n");
}

fn percent(load: f64) -> String {
    format!("{} %", text::number((load * 1000.0).round() / 10.0))
}

/// Left, top, right and bottom of a text or a node.
type Bounds = [f64; 4];

/// Where something stands already.
struct Taken(Vec<Bounds>);

impl Taken {
    /// The places of all nodes and of the names below them.
    fn by_nodes(view: &TopologyView, layout: &Layout) -> Self {
        let bounds = |(index, node): (usize, &NodeView)| {
            let (x, y) = layout.at(index);
            let half = text_width(&shortened(&node.name, 16), 12.0) / 2.0;
            let name = [x - half, y + 16.0, x + half, y + 31.0];
            let shape = [x - 11.0, y - 11.0, x + 11.0, y + 11.0];
            if layout.is_dense { vec![shape] } else { vec![shape, name] }
        };
        Self(view.nodes.iter().enumerate().flat_map(bounds).collect())
    }

    /// How often one of `all` would cover what stands already.
    fn covered_by(&self, all: &[Bounds]) -> usize {
        let is_met = |one: &Bounds, other: &Bounds| {
            one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
        };
        all.iter().map(|one| self.0.iter().filter(|other| is_met(one, other)).count()).sum()
    }
}

/// Parts of a link's way at which its label may stand, the best first.
const LABEL_PARTS: [f64; 7] = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78];

/// Tops of a label's two lines, px below the link: above and below the link itself, which stays free, else both on one side.
const LABEL_TOPS: [[f64; 2]; 3] = [[-22.0, 8.0], [8.0, 23.0], [-37.0, -22.0]];

/// Loads in both directions over rate and delay, beside what stands already.
fn label_link(labels: &mut Markup, taken: &mut Taken, path: &Path, link: &LinkView) {
    let loads: Vec<String> = path
        .arrows()
        .iter()
        .zip(link.load)
        .filter_map(|(arrow, load)| Some(format!("{arrow} {:.0} %", 100.0 * load?)))
        .collect();
    let lines = [("ink", loads.join("  ")), ("soft", shortened(&link.label, 24))];
    let lines: Vec<(&str, String)> = lines.into_iter().filter(|(_, line)| !line.is_empty()).collect();
    let bounds = |((x, y), tops): (Point, [f64; 2])| -> Vec<Bounds> {
        let of = |((_, line), top): (&(&str, String), f64)| {
            let half = 0.55 * text_width(line, 11.0) + 3.0;
            [x - half, y + top, x + half, y + top + 15.0]
        };
        lines.iter().zip(tops).map(of).collect()
    };
    let tops = if lines.len() == 1 { [[8.0, 8.0], [-22.0, -22.0], [8.0, 8.0]] } else { LABEL_TOPS };
    let places = LABEL_PARTS.iter().flat_map(|part| tops.map(|tops| (path.at(*part), tops)));
    let best = places.min_by_key(|place| taken.covered_by(&bounds(*place)));
    let ((x, y), tops) = best.unwrap_or_default();
    taken.0.extend(bounds(((x, y), tops)));
    for ((class, line), top) in lines.iter().zip(tops) {
        let width = text_width(line, 11.0) + 4.0;
        labels.add(format_args!(
            "<rect class=\"halo\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"15\" rx=\"3\"/>\
             <text class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\">{}</text>\n",
            x - width / 2.0,
            y + top,
            y + top + 11.5,
            Escaped(line)
        ));
    }
}

/// Where a node's name stands.
#[derive(Clone, Copy)]
enum NamePlace {
    Below,
    Left,
    Right,
}

impl NamePlace {
    /// Outwards from the middle of the drawing; `x` in 0..=1.
    fn beside(x: f64) -> Self {
        if x < 0.5 { Self::Left } else { Self::Right }
    }
}

fn draw_node(svg: &mut Markup, (x, y): (f64, f64), node: &NodeView, name_at: NamePlace) {
    let size = if matches!(name_at, NamePlace::Below) { 11.0 } else { 7.0 };
    let shape = match node.kind {
        NodeKind::Consumer => {
            format!("<circle class=\"consumer\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size}\"/>")
        }
        NodeKind::Router => format!(
            "<rect class=\"router\" x=\"{:.1}\" y=\"{:.1}\" width=\"{2}\" height=\"{2}\" rx=\"3\"/>",
            x - size + 1.0,
            y - size + 1.0,
            2.0 * size - 2.0
        ),
        NodeKind::Producer => {
            let half = size + 1.5;
            let top = y - half;
            format!(
                "<path class=\"producer\" d=\"M{x:.1} {top:.1}l{half} {half}l-{half} {half}l-{half} -{half}z\"/>"
            )
        }
    };
    let (name_x, name_y, anchor) = match name_at {
        NamePlace::Below => (x, y + 27.0, "middle"),
        NamePlace::Left => (x - 12.0, y + 4.0, "end"),
        NamePlace::Right => (x + 12.0, y + 4.0, "start"),
    };
    svg.add(format_args!(
        "{shape}<text class=\"ink node\" x=\"{name_x:.1}\" y=\"{name_y:.1}\" text-anchor=\"{anchor}\">{}<title>{}</title></text>\n",
        Escaped(&shortened(&node.name, 16)),
        Escaped(&node.name)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upright_links_bend_only_beside_nodes_between_their_ends() {
        let node = |y: f64| NodeView { position: Some((0.0, y)), ..NodeView::default() };
        let view = TopologyView { nodes: vec![node(0.0), node(1.0), node(2.0)], ..TopologyView::default() };
        let layout = Layout::of(&view);
        let bend = |from, to| layout.path(from, to).control.0 - layout.at(from).0;
        assert_eq!([bend(0, 1), bend(1, 2)], [0.0, 0.0]);
        assert!(bend(0, 2) >= 44.0);
    }
}
