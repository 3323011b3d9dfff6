//! A network as SVG: the shape of nodes shows their role, the shade of links the load of each direction.

use super::topology::{LinkView, NodeKind, NodeView, TopologyView};
use crate::markup::{Escaped, Markup, shortened, text_width};
use tidegate_results::text::{self, counted};

/// Maximum number of nodes that are drawn: more would not be readable.
pub(super) const MAX_NODES: usize = 200;
/// Maximum number of links that are labelled; in larger networks the tooltip of a link has its label.
const MAX_LABELS: usize = 40;
/// Number of rows above which nodes are small, with their names next to them.
const MAX_ROOMY_ROWS: usize = 12;
/// Steps of load, from idle to busy.
const STEPS: usize = 5;

/// Width of the drawing, px.
const WIDTH: f64 = 860.0;

type Point = (f64, f64);

/// Positions of everything in the drawing.
pub(super) struct Layout {
    places: Vec<Point>,
    height: f64,
    is_dense: bool,
}

impl Layout {
    pub(super) fn of(view: &TopologyView) -> Self {
        let (places, rows) = view.places();
        // Dense drawings have names to the left and right, which need wider margins.
        let is_dense = rows > MAX_ROOMY_ROWS;
        let (margin, row_height) = if is_dense { (120.0, 22.0) } else { (60.0, 72.0) };
        let height = (46.0 + row_height * rows as f64).max(150.0);
        let place = |(x, y): Point| (margin + x * (WIDTH - 2.0 * margin), 24.0 + y * (height - 58.0));
        Self { places: places.into_iter().map(place).collect(), height, is_dense }
    }

    /// The middle of a node; the origin for an unknown one.
    pub(super) fn at(&self, node: usize) -> Point {
        self.places.get(node).copied().unwrap_or_default()
    }

    /// Half the width of a node, px.
    fn node_size(&self) -> f64 {
        if self.is_dense { 7.0 } else { 11.0 }
    }

    /// Path of a link between two nodes.
    pub(super) fn path(&self, from: usize, to: usize) -> LinkPath {
        let (start, end) = (self.at(from), self.at(to));
        let (top, bottom) = (start.1.min(end.1), start.1.max(end.1));
        // Within a pixel: positions come from floating-point arithmetic.
        let is_between = |(x, y): &Point| (x - start.0).abs() < 1.0 && *y > top + 1.0 && *y < bottom - 1.0;
        // Upright links bend around the nodes between their ends.
        let is_bent = (start.0 - end.0).abs() < 1.0 && self.places.iter().any(is_between);
        LinkPath::between(start, end, is_bent)
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
         height=\"{height}\" role=\"img\" font-size=\"12\"><title>Topology: {}, {}</title>\n",
        counted(view.nodes.len(), "node"),
        counted(view.links.len(), "link")
    ));
    // Labels come last so that no line crosses them.
    let mut labels = Markup::default();
    let is_labelled = view.links.len() <= MAX_LABELS;
    let mut taken = Taken::by_shapes(view, &layout);
    let names: Vec<Option<NamePlace>> =
        view.nodes.iter().enumerate().map(|(index, node)| taken.place_name(&layout, index, node)).collect();
    for link in view.known_links() {
        let path = layout.path(link.from, link.to);
        draw_link(&mut svg, &path, view, link);
        if is_labelled {
            label_link(&mut labels, &mut taken, &path, link);
        }
    }
    for (index, node) in view.nodes.iter().enumerate() {
        draw_node(&mut svg, &layout, index, (node, names[index]));
    }
    svg.0.push_str(&labels.0);
    svg.0.push_str("</svg>\n");
    svg.0
}

/// Key of the shades of links.
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

/// Path of a link in the drawing: a straight line, or bent around the nodes between its ends.
pub(super) struct LinkPath {
    from: Point,
    to: Point,
    /// Control point of the curve, a quadratic one.
    pub(super) control: Point,
}

impl LinkPath {
    fn between(from: Point, to: Point, is_bent: bool) -> Self {
        let bend = if is_bent { (0.4 * (from.1 - to.1).abs()).clamp(44.0, 220.0) } else { 0.0 };
        Self { from, to, control: ((from.0 + to.0) / 2.0 + bend, (from.1 + to.1) / 2.0) }
    }

    /// SVG path moved by `by` px to the right of its direction.
    fn beside(&self, by: f64) -> String {
        let (across, down) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        // Two nodes can have the same position, for which any direction is as good.
        let length = across.hypot(down).max(1e-6);
        let (x, y) = (-down / length * by, across / length * by);
        let [from, control, to] = [self.from, self.control, self.to].map(|point| (point.0 + x, point.1 + y));
        format!("M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}", from.0, from.1, control.0, control.1, to.0, to.1)
    }

    /// Point of the curve at the fraction `part` of it, 0 to 1.
    fn at(&self, part: f64) -> Point {
        let rest = 1.0 - part;
        let on = |from: f64, control: f64, to: f64| {
            rest * rest * from + 2.0 * part * rest * control + part * part * to
        };
        (on(self.from.0, self.control.0, self.to.0), on(self.from.1, self.control.1, self.to.1))
    }

    /// Arrows for the forward and the reverse direction.
    fn arrows(&self) -> [&'static str; 2] {
        let (across, down) = (self.to.0 - self.from.0, self.to.1 - self.from.1);
        match (self.is_steep(), across >= 0.0, down >= 0.0) {
            (false, true, _) => ["→", "←"],
            (false, false, _) => ["←", "→"],
            (true, _, true) => ["↓", "↑"],
            (true, _, false) => ["↑", "↓"],
        }
    }

    /// Whether the path is higher than wide.
    fn is_steep(&self) -> bool {
        (self.to.0 - self.from.0).abs() < (self.to.1 - self.from.1).abs()
    }
}

fn draw_link(svg: &mut Markup, path: &LinkPath, view: &TopologyView, link: &LinkView) {
    let ends = [link.from, link.to].map(|node| view.nodes[node].name.as_str());
    let stated = |load: Option<f64>| load.map_or_else(|| "–".to_owned(), percent);
    svg.add(format_args!(
        "<g fill=\"none\"><title>{0} – {1}: {2}; load {0} → {1} {3}, {1} → {0} {4}</title>",
        Escaped(ends[0]),
        Escaped(ends[1]),
        Escaped(&link.label),
        stated(link.load[0]),
        stated(link.load[1])
    ));
    for (load, side) in link.load.iter().zip([1.0, -1.0]) {
        match load {
            Some(load) => {
                // A load of 1 would be one step above the last.
                let step = ((load * STEPS as f64) as usize).min(STEPS - 1);
                // Half of its width from the middle, so that the lines of both directions leave a gap of 1.5
                // px.
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

/// Occupied areas of the drawing, and its height, px.
struct Taken(Vec<Bounds>, f64);

impl Taken {
    /// The places of all nodes.
    fn by_shapes(view: &TopologyView, layout: &Layout) -> Self {
        let half = layout.node_size() + 1.5;
        let bounds = |index: usize| {
            let (x, y) = layout.at(index);
            [x - half, y - half, x + half, y + half]
        };
        Self((0..view.nodes.len()).map(bounds).collect(), layout.height)
    }

    /// The first place for a node's name that covers no other item; `None` if there is none.
    fn place_name(&mut self, layout: &Layout, index: usize, node: &NodeView) -> Option<NamePlace> {
        let (x, y) = layout.at(index);
        let outwards = if x < WIDTH / 2.0 { NamePlace::Left } else { NamePlace::Right };
        let places = match layout.is_dense {
            true => vec![outwards, outwards.opposite()],
            false => vec![NamePlace::Below, NamePlace::Above, outwards, outwards.opposite()],
        };
        let width = text_width(&shortened(&node.name, 16), 12.0);
        let (place, bounds) = places
            .into_iter()
            .map(|place| (place, place.bounds((x, y), width)))
            .find(|(_, bounds)| self.covered_by(&[*bounds]) == 0)?;
        self.0.push(bounds);
        Some(place)
    }

    /// Number of overlaps of `all` with occupied areas or with the outside of the drawing.
    fn covered_by(&self, all: &[Bounds]) -> usize {
        let is_met = |one: &Bounds, other: &Bounds| {
            one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
        };
        let outside = |one: &&Bounds| one[0] < 0.0 || one[1] < 0.0 || one[2] > WIDTH || one[3] > self.1;
        let met: usize = all.iter().map(|one| self.0.iter().filter(|other| is_met(one, other)).count()).sum();
        met + all.iter().filter(outside).count()
    }
}

/// Positions of a link's label along the link, as fractions of its length, the best first.
const LABEL_PARTS: [f64; 7] = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78];

/// Tops of a label's two lines, px below the link: above and below the link itself, which stays free, else both on one
/// side.
const LABEL_TOPS: [[f64; 2]; 3] = [[-22.0, 8.0], [8.0, 23.0], [-37.0, -22.0]];

/// Tops of both text lines next to a steep link.
const SIDE_TOPS: [f64; 2] = [-15.0, 0.0];

/// Labels a link with the loads in both directions over rate and delay, at the first place that covers no
/// other item. Without such a place there is no label; the tooltip of the link has the text.
fn label_link(labels: &mut Markup, taken: &mut Taken, path: &LinkPath, link: &LinkView) {
    let loads: Vec<String> = path
        .arrows()
        .iter()
        .zip(link.load)
        .filter_map(|(arrow, load)| Some(format!("{arrow} {:.0} %", 100.0 * load?)))
        .collect();
    let lines = [("ink", loads.join("  ")), ("soft", shortened(&link.label, 24))];
    let lines: Vec<(&str, String)> = lines.into_iter().filter(|(_, line)| !line.is_empty()).collect();
    let half = |line: &str| 0.55 * text_width(line, 11.0) + 3.0;
    let bounds = |((x, y), tops): (Point, [f64; 2])| -> Vec<Bounds> {
        let of = |((_, line), top): (&(&str, String), f64)| {
            [x - half(line), y + top, x + half(line), y + top + 15.0]
        };
        lines.iter().zip(tops).map(of).collect()
    };
    // A single line is below or above the link; the array repeats one place to have the same type.
    let tops = if lines.len() == 1 { [[8.0, 8.0], [-22.0, -22.0], [8.0, 8.0]] } else { LABEL_TOPS };
    let places = LABEL_PARTS.iter().flat_map(|part| tops.map(|tops| (path.at(*part), tops)));
    let aside = 12.0 + lines.iter().map(|(_, line)| half(line)).fold(0.0, f64::max);
    let sides = if path.is_steep() { &LABEL_PARTS[..] } else { &[] };
    let beside = sides.iter().flat_map(|part| {
        let (x, y) = path.at(*part);
        [aside, -aside].map(|shift| ((x + shift, y), SIDE_TOPS))
    });
    let Some(((x, y), tops)) = places.chain(beside).find(|place| taken.covered_by(&bounds(*place)) == 0)
    else {
        return;
    };
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

/// Position of a node's name relative to the node.
#[derive(Clone, Copy)]
enum NamePlace {
    Below,
    Above,
    Left,
    Right,
}

impl NamePlace {
    fn opposite(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::Above => Self::Below,
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// Anchor of the text, px from the middle of the node, and its alignment.
    fn anchor(self) -> (Point, &'static str) {
        match self {
            Self::Below => ((0.0, 27.0), "middle"),
            Self::Above => ((0.0, -17.0), "middle"),
            Self::Left => ((-15.0, 4.0), "end"),
            Self::Right => ((15.0, 4.0), "start"),
        }
    }

    /// The place of a name `width` px wide at a node.
    fn bounds(self, (x, y): Point, width: f64) -> Bounds {
        let ((across, down), anchor) = self.anchor();
        let left = x + across
            - match anchor {
                "middle" => width / 2.0,
                "end" => width,
                _ => 0.0,
            };
        [left, y + down - 11.0, left + width, y + down + 4.0]
    }
}

/// Draws a node with its name; without a place for the name, the tooltip of the node has it.
fn draw_node(
    svg: &mut Markup,
    layout: &Layout,
    index: usize,
    (node, name_at): (&NodeView, Option<NamePlace>),
) {
    let ((x, y), size) = (layout.at(index), layout.node_size());
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
    svg.add(format_args!("<g>{shape}<title>{}</title>", Escaped(&node.name)));
    if let Some(place) = name_at {
        let ((across, down), anchor) = place.anchor();
        svg.add(format_args!(
            "<text class=\"ink node\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            x + across,
            y + down,
            Escaped(&shortened(&node.name, 16)),
        ));
    }
    svg.0.push_str("</g>\n");
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
