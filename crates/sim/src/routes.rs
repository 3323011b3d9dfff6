//! Shortest paths: one tree per set of producers, computed at the first Interest towards it.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use tidegate_core::ndn::face::{FaceId, NodeId};
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::fib::Routes;
use tidegate_core::ndn::name::PrefixId;

use crate::plan::NextHopRule;

/// Distance of a node without a path.
const FAR: u32 = u32::MAX;

/// A link from a node to a neighbour.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Number of the neighbouring node.
    pub to: u32,
    /// The face that leads there.
    pub face: FaceId,
    /// Cost of the link.
    pub cost: u32,
    /// The link, an index into the plan's links.
    pub link: u32,
}

/// Stands for a prefix without producers.
const NOT_SERVED: u32 = u32::MAX;

/// Routes of the whole network.
#[derive(Debug)]
pub struct RouteTable {
    edges: Vec<Vec<Edge>>,
    rule: NextHopRule,
    link_up: Vec<bool>,
    /// Face of each node on which its producers answer.
    server_face: Vec<FaceId>,
    /// Number of the producers' set by prefix number, or [`NOT_SERVED`].
    served: Vec<u32>,
    /// Nodes with a producer, in ascending order; prefixes with the same share one set and one tree.
    sets: Vec<Vec<u32>>,
    /// Distance of every node to the set; computed on first use.
    distances: RefCell<Vec<Vec<u32>>>,
}

impl RouteTable {
    /// Routes over `edges` (by node) and `links` links, all up.
    pub fn new(edges: Vec<Vec<Edge>>, links: usize, server_face: Vec<FaceId>, rule: NextHopRule) -> Self {
        Self {
            edges,
            rule,
            link_up: vec![true; links],
            server_face,
            served: Vec::new(),
            sets: Vec::new(),
            distances: RefCell::default(),
        }
    }

    /// Registers `producers` for `prefix`.
    pub fn serve(
        &mut self,
        prefix: PrefixId,
        mut producers: Vec<u32>,
        known: &mut std::collections::BTreeMap<Vec<u32>, usize>,
    ) {
        producers.sort_unstable();
        producers.dedup();
        let set = *known.entry(producers).or_insert_with_key(|producers| {
            self.sets.push(producers.clone());
            self.distances.borrow_mut().push(Vec::new());
            self.sets.len() - 1
        });
        let index = prefix.0 as usize;
        if index >= self.served.len() {
            self.served.resize(index + 1, NOT_SERVED);
        }
        self.served[index] = set as u32;
    }

    /// A link goes up or down; every tree is forgotten.
    pub fn set_link(&mut self, link: usize, up: bool) {
        self.link_up[link] = up;
        self.distances.borrow_mut().iter_mut().for_each(Vec::clear);
    }

    /// The links from `node` to the nearest producer of `prefix` along the cheapest next hops; empty without
    /// a path.
    pub fn path(&self, node: u32, prefix: PrefixId) -> Vec<u32> {
        let mut links = Vec::new();
        let mut at = node;
        let mut hops = Vec::new();
        loop {
            hops.clear();
            self.next_hops(NodeId(at), prefix, &mut hops);
            let next = hops
                .first()
                .and_then(|hop| self.edges[at as usize].iter().find(|edge| edge.face == hop.face));
            // The loop ends, because the cheapest next hop lies on a shortest path, whose distance decreases
            // with every link.
            let Some(edge) = next else { return links };
            links.push(edge.link);
            at = edge.to;
        }
    }

    /// Nodes and links that Interests for `prefix` can reach from `node` over any next hops, both sorted.
    pub fn reach(&self, node: u32, prefix: PrefixId) -> [Vec<u32>; 2] {
        let (mut nodes, mut links) = (BTreeSet::from([node]), BTreeSet::new());
        let (mut open, mut hops) = (vec![node], Vec::new());
        while let Some(at) = open.pop() {
            hops.clear();
            self.next_hops(NodeId(at), prefix, &mut hops);
            let edges = self.edges[at as usize].iter();
            for edge in edges.filter(|edge| hops.iter().any(|hop| hop.face == edge.face)) {
                links.insert(edge.link);
                if nodes.insert(edge.to) {
                    open.push(edge.to);
                }
            }
        }
        [nodes, links].map(|set| set.into_iter().collect())
    }

    /// Distance of every node to the nearest of `set`, on paths that do not lead through `without`.
    fn distances_to(&self, set: &[u32], without: Option<u32>) -> Vec<u32> {
        let mut distances = vec![FAR; self.edges.len()];
        let mut open = BinaryHeap::new();
        for &producer in set {
            distances[producer as usize] = 0;
            open.push(Reverse((0, producer)));
        }
        while let Some(Reverse((distance, node))) = open.pop() {
            // A shorter path was found after this entry had been pushed.
            if distance > distances[node as usize] {
                continue;
            }
            for edge in self.edges[node as usize].iter().filter(|edge| self.link_up[edge.link as usize]) {
                let through = distance.saturating_add(edge.cost);
                if Some(edge.to) != without && through < distances[edge.to as usize] {
                    distances[edge.to as usize] = through;
                    open.push(Reverse((through, edge.to)));
                }
            }
        }
        distances
    }
}

impl RouteTable {
    /// Appends the neighbours whose distance is less than `own`.
    fn add_hops(&self, node: NodeId, distances: &[u32], own: u32, hops: &mut Vec<NextHop>) {
        for edge in self.edges[node.0 as usize].iter().filter(|edge| self.link_up[edge.link as usize]) {
            let beyond = distances[edge.to as usize];
            if beyond < own {
                hops.push(NextHop { cost: beyond.saturating_add(edge.cost), face: edge.face });
            }
        }
    }
}

impl Routes for RouteTable {
    /// By default every neighbour that is nearer to a producer is a next hop. Distances decrease along every
    /// path, so that no choice makes a loop.
    fn next_hops(&self, node: NodeId, prefix: PrefixId, hops: &mut Vec<NextHop>) {
        let Some(set) = self.served.get(prefix.0 as usize).filter(|set| **set != NOT_SERVED) else { return };
        let set = *set as usize;
        if self.sets[set].binary_search(&node.0).is_ok() {
            hops.push(NextHop { cost: 0, face: self.server_face[node.0 as usize] });
            return;
        }
        if self.rule == NextHopRule::All {
            // Computed anew and not stored, as every node needs the distances without itself. FIBs store the
            // result.
            let beyond = self.distances_to(&self.sets[set], Some(node.0));
            self.add_hops(node, &beyond, FAR, hops);
        } else {
            let mut distances = self.distances.borrow_mut();
            let tree = &mut distances[set];
            if tree.is_empty() {
                *tree = self.distances_to(&self.sets[set], None);
            }
            self.add_hops(node, tree, tree[node.0 as usize], hops);
        }
        hops.sort_unstable();
    }
}
