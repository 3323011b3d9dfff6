//! Layout of a network drawing: given positions, or layers by distance from the consumers.

use std::collections::VecDeque;

use tidegate_core::observe::records::{LinkRecord, RunRecord};

use super::timeline::Timeline;
use crate::sample_series;

/// Maximum number of rows for given positions.
const MAX_ROWS_OF_PLACES: usize = 8;

/// Function of a node; determines its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeKind {
    /// Consumer, drawn as a circle.
    Consumer,
    /// Router, drawn as a square.
    #[default]
    Router,
    /// Producer, drawn as a diamond.
    Producer,
}

/// One node of the drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeView {
    /// Name of the node.
    pub name: String,
    /// Position in any unit, y downwards; used only when every node has one.
    pub position: Option<(f64, f64)>,
    /// Role of the node in the drawing.
    pub kind: NodeKind,
}

/// One link of the drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkView {
    /// Index of a node.
    pub from: usize,
    /// Index of the other node.
    pub to: usize,
    /// Label of the link, such as its rate and delay.
    pub label: String,
    /// Load from `from` to `to`, and back, as a fraction of the rate; `None` if it is not known.
    pub load: [Option<f64>; 2],
}

/// A network to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyView {
    /// Nodes of the network.
    pub nodes: Vec<NodeView>,
    /// Links of the network; those with an unknown node are omitted.
    pub links: Vec<LinkView>,
}

impl TopologyView {
    /// The network derived from the links and flows of a run: a node that starts a flow is a consumer, one
    /// that satisfies Interests is a producer, and each pair of opposite link directions is one link.
    pub fn of_run(run: &RunRecord) -> Self {
        let mut view = Self::default();
        for link in &run.links {
            let (from, to) = (view.node(&link.from), view.node(&link.to));
            let is_same = |seen: &&LinkView| (seen.from, seen.to) == (to, from);
            if view.links.iter().find(is_same).is_none() {
                view.links.push(LinkView {
                    from,
                    to,
                    label: format!("{} · {}", link.rate, link.delay),
                    ..LinkView::default()
                });
            }
        }
        for flow in &run.flows {
            let producer = view.node(&flow.producer);
            view.nodes[producer].kind = NodeKind::Producer;
            // After the producers: a node that is both is drawn as a consumer.
            let consumer = view.node(&flow.consumer);
            view.nodes[consumer].kind = NodeKind::Consumer;
        }
        view
    }

    /// The network with the loads of `run`; planned rates are those of `timeline`.
    pub(super) fn loaded(mut self, run: &RunRecord, timeline: &Timeline) -> Self {
        // Parallel links have equal ends: each record is used once, in the order of the links.
        let mut free: Vec<Option<&LinkRecord>> = run.links.iter().map(Some).collect();
        for link in &mut self.links {
            let (Some(from), Some(to)) = (self.nodes.get(link.from), self.nodes.get(link.to)) else {
                continue;
            };
            for (load, ends) in link.load.iter_mut().zip([(from, to), (to, from)]) {
                let is_this = |record: &LinkRecord| record.from == ends.0.name && record.to == ends.1.name;
                let Some(index) = free.iter().position(|record| record.is_some_and(is_this)) else {
                    continue;
                };
                let Some(record) = free[index].take() else { continue };
                let all = (0.0, run.ended.as_secs_f64());
                let bits = sample_series::capacity(run, &timeline.rates, index, all);
                *load = (bits > 0.0).then(|| record.sent_bytes.get() as f64 * 8.0 / bits);
            }
        }
        self
    }

    /// Index of the node `name`, added when it is new.
    fn node(&mut self, name: &str) -> usize {
        self.nodes.iter().position(|node| node.name == name).unwrap_or_else(|| {
            self.nodes.push(NodeView { name: name.to_owned(), ..NodeView::default() });
            self.nodes.len() - 1
        })
    }

    pub(super) fn known_links(&self) -> impl Iterator<Item = &LinkView> {
        self.links.iter().filter(|link| link.from < self.nodes.len() && link.to < self.nodes.len())
    }

    fn neighbours(&self) -> Vec<Vec<usize>> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for link in self.known_links() {
            neighbours[link.from].push(link.to);
            neighbours[link.to].push(link.from);
        }
        neighbours
    }

    /// Nodes by their distance from the nearest consumer; parts without one start at their first node.
    fn layers(&self) -> Vec<Vec<usize>> {
        let neighbours = self.neighbours();
        let mut depth: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let consumers = (0..self.nodes.len()).filter(|node| self.nodes[*node].kind == NodeKind::Consumer);
        let mut queue: VecDeque<usize> = consumers.collect();
        for node in &queue {
            depth[*node] = Some(0);
        }
        // One more than there are nodes, to empty the queue after the last start.
        for start in 0..=self.nodes.len() {
            while let Some(node) = queue.pop_front() {
                for next in &neighbours[node] {
                    if depth[*next].is_none() {
                        depth[*next] = depth[node].map(|depth| depth + 1);
                        queue.push_back(*next);
                    }
                }
            }
            // The queue is empty and the node was not reached, so it begins another part of the network.
            if depth.get(start) == Some(&None) {
                depth[start] = Some(0);
                queue.push_back(start);
            }
        }
        let mut layers: Vec<Vec<usize>> = Vec::new();
        for (node, depth) in depth.into_iter().enumerate() {
            let depth = depth.unwrap_or(0);
            layers.resize(layers.len().max(depth + 1), Vec::new());
            layers[depth].push(node);
        }
        order_layers(&mut layers, &neighbours);
        layers
    }

    /// Positions with x and y in 0..=1, and the number of rows that need room.
    pub(super) fn places(&self) -> (Vec<(f64, f64)>, usize) {
        let given: Option<Vec<(f64, f64)>> = self.nodes.iter().map(|node| node.position).collect();
        let given = given.filter(|places| places.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        if let Some(given) = given {
            let places = normalised(&given);
            let rows = rows_of(&places);
            return (places, rows);
        }
        let layers = self.layers();
        let rows = layers.iter().map(Vec::len).max().unwrap_or(1);
        let mut places = vec![(0.5, 0.5); self.nodes.len()];
        for (column, layer) in layers.iter().enumerate() {
            for (row, node) in layer.iter().enumerate() {
                let x = if layers.len() > 1 { column as f64 / (layers.len() - 1) as f64 } else { 0.5 };
                places[*node] = (x, (row as f64 + 0.5) / layer.len() as f64);
            }
        }
        (places, rows)
    }
}

/// Sorts each layer by the mean row of its neighbours in the layer before, then after, which reduces
/// crossings.
fn order_layers(layers: &mut [Vec<usize>], neighbours: &[Vec<usize>]) {
    let count = layers.len();
    let forward = (1..count).map(|layer| (layer, layer - 1));
    let backward = (1..count).rev().map(|layer| (layer - 1, layer));
    let sweeps: Vec<(usize, usize)> = forward.chain(backward).collect();
    for (layer, fixed) in sweeps {
        let fixed = layers[fixed].clone();
        let middle = |node: &usize| {
            let rows =
                neighbours[*node].iter().filter_map(|next| fixed.iter().position(|other| other == next));
            let rows: Vec<f64> = rows.map(|row| row as f64).collect();
            // Nodes without a neighbour in that layer go to the end, where they separate no others.
            if rows.is_empty() { f64::INFINITY } else { tidegate_results::stats::mean(&rows) }
        };
        layers[layer].sort_by(|left, right| middle(left).total_cmp(&middle(right)));
    }
}

/// Rows that given positions need: the number of distinct heights, up to the maximum.
fn rows_of(places: &[(f64, f64)]) -> usize {
    let mut heights: Vec<i64> = places.iter().map(|place| (place.1 * 100.0).round() as i64).collect();
    heights.sort_unstable();
    heights.dedup();
    heights.len().min(MAX_ROWS_OF_PLACES)
}

fn normalised(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let extent = |pick: fn(&(f64, f64)) -> f64| crate::axis::Extent::of(places.iter().map(pick));
    let (x, y) = (extent(|place| place.0), extent(|place| place.1));
    let scale = |value: f64, extent: crate::axis::Extent| match extent.high - extent.low {
        0.0 => 0.5,
        span => (value - extent.low) / span,
    };
    places.iter().map(|place| (scale(place.0, x), scale(place.1, y))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(kinds: &[NodeKind], links: &[(usize, usize)]) -> TopologyView {
        let node = |(index, kind): (usize, &NodeKind)| NodeView {
            name: format!("n{index}"),
            position: None,
            kind: *kind,
        };
        let link = |(from, to): &(usize, usize)| LinkView {
            from: *from,
            to: *to,
            label: "10Mbps".into(),
            ..LinkView::default()
        };
        TopologyView {
            nodes: kinds.iter().enumerate().map(node).collect(),
            links: links.iter().map(link).collect(),
        }
    }

    #[test]
    fn a_dumbbell_has_four_layers_from_consumers_to_producers() {
        use NodeKind::{Consumer, Producer, Router};
        let dumbbell = view(
            &[Consumer, Consumer, Router, Router, Producer, Producer],
            &[(0, 2), (1, 2), (2, 3), (3, 5), (3, 4)],
        );
        assert_eq!(dumbbell.layers(), [vec![0, 1], vec![2], vec![3], vec![4, 5]]);
    }

    #[test]
    fn parts_without_consumers_and_links_to_nowhere_are_drawn_or_left_out() {
        let mut odd = view(&[NodeKind::Router; 3], &[(0, 1), (2, 9)]);
        assert_eq!(odd.layers(), [vec![0, 2], vec![1]]);
        odd.nodes[0].name = "</svg><script>".into();
        let svg = super::super::network::svg(&odd);
        assert!(svg.contains("&lt;/svg&gt;") && !svg.contains("<script>") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn given_positions_win_when_all_are_given() {
        let mut given = view(&[NodeKind::Router; 2], &[(0, 1)]);
        given.nodes[0].position = Some((5.0, 7.0));
        assert_eq!(given.places().0, [(0.0, 0.5), (1.0, 0.5)]);
        given.nodes[1].position = Some((1.0, 7.0));
        assert_eq!(given.places().0, [(1.0, 0.5), (0.0, 0.5)]);
    }
}
