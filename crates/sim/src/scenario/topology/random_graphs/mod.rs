//! Networks that are drawn: routers anywhere on a square, links by the models of Waxman and of Barabási and Albert.
//!
//! Both are those of topology generators such as BRITE. The same parameters and seed give the same network; the
//! runs' seeds do not matter. Every network is connected.
//!
//! * Waxman: Routing of Multipoint Connections, IEEE JSAC 6(9), 1988. Two routers at distance d have a link with
//!   probability beta · exp(−d / (alpha · L)), where L is the largest distance between two routers. (BRITE has the
//!   names alpha and beta the other way round.) Deviation: what then is not connected gets the shortest links that
//!   connect it, as the model alone promises nothing.
//! * Barabási and Albert: Emergence of Scaling in Random Networks, Science 286, 1999. Routers come one after the
//!   other, each with links to `links` others, which are chosen with a probability in proportion to the links they
//!   have. The paper leaves open what the first routers are linked with; here the first `links` + 1 all are with
//!   each other. It has no distances: places are drawn as for Waxman's.

use std::collections::BTreeSet;

use tidegate_core::math;
use tidegate_core::rng::{Rng, Seed};

use super::{Class, Params, Shape};

/// Places across and down, 0..1.
type Position = (f64, f64);

/// Distance of two places, in sides of the square.
pub(super) fn distance(one: Position, other: Position) -> f64 {
    let (across, down) = (one.0 - other.0, one.1 - other.1);
    (across * across + down * down).sqrt()
}

/// Routers at uniformly distributed places, without links.
fn place_routers(nodes: u64, seed: Seed, shape: &mut Shape) -> Vec<Position> {
    let mut draws = Rng::stream(seed, "topology/places");
    let places: Vec<Position> = (0..nodes).map(|_| (draws.uniform(), draws.uniform())).collect();
    (1..).zip(&places).for_each(|(number, place)| {
        shape.node('r', number, *place);
    });
    places
}

pub(super) fn waxman_size(params: &Params) -> Option<(u64, u64)> {
    let nodes = params.get(0);
    Some((nodes, nodes.checked_mul(nodes.saturating_sub(1))? / 2))
}

pub(super) fn build_waxman(params: &Params, shape: &mut Shape) {
    let (nodes, seed) = (params.get(0), Seed(params.get(1)));
    let (alpha, beta) = (params.number(0), params.number(1));
    let places = place_routers(nodes, seed, shape);
    let pairs = || places.iter().enumerate().flat_map(|(b, at)| places[..b].iter().map(move |to| (*to, *at)));
    let reach = alpha * pairs().map(|(one, other)| distance(one, other)).fold(0.0, f64::max);
    let mut draws = Rng::stream(seed, "topology/links");
    for (b, at) in places.iter().enumerate() {
        for (a, to) in places[..b].iter().enumerate() {
            if draws.chance(beta * math::exp(-distance(*to, *at) / reach)) {
                shape.link(a, b, Class::Plain);
            }
        }
    }
    connect(shape, &places);
}

/// Adds the shortest links that connect all routers (Prim's tree, in which existing links cost nothing).
fn connect(shape: &mut Shape, places: &[Position]) {
    const LINKED: f64 = -1.0;
    let mut neighbours = vec![Vec::new(); places.len()];
    for link in &shape.links {
        neighbours[link.a].push(link.b);
        neighbours[link.b].push(link.a);
    }
    // What it costs to reach each router, and from where; `None` once it is reached.
    let mut costs: Vec<Option<(f64, usize)>> = vec![Some((f64::INFINITY, 0)); places.len()];
    let mut next = (!places.is_empty()).then_some(0);
    while let Some(reached) = next {
        if let Some((cost, from)) = costs[reached].take()
            && cost.is_finite()
            && cost != LINKED
        {
            shape.link(from.min(reached), from.max(reached), Class::Plain);
        }
        let mut offer = |to: usize, cost: f64| {
            costs[to] = costs[to].map(|known| if cost < known.0 { (cost, reached) } else { known });
        };
        (0..places.len()).for_each(|to| offer(to, distance(places[to], places[reached])));
        neighbours[reached].iter().for_each(|to| offer(*to, LINKED));
        let left = costs.iter().enumerate().filter_map(|(node, cost)| Some((node, (*cost)?.0)));
        next = left.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(node, _)| node);
    }
}

pub(super) fn barabasi_albert_fault(params: &Params) -> Option<String> {
    let (nodes, links) = (params.get(0), params.get(1));
    (nodes <= links).then(|| format!("{links} links of each need {} nodes or more, not {nodes}", links + 1))
}

pub(super) fn barabasi_albert_size(params: &Params) -> Option<(u64, u64)> {
    let (nodes, links) = (params.get(0), params.get(1));
    let first = links.checked_mul(links + 1)? / 2;
    let later = nodes.saturating_sub(links + 1).checked_mul(links)?;
    Some((nodes, first.checked_add(later)?))
}

pub(super) fn build_barabasi_albert(params: &Params, shape: &mut Shape) {
    let (nodes, links, seed) = (params.get(0), params.get(1) as usize, Seed(params.get(2)));
    place_routers(nodes, seed, shape);
    let mut draws = Rng::stream(seed, "topology/links");
    // Every router as often as it has links, so that one drawn from here is drawn by its links.
    let mut ends: Vec<u32> = Vec::new();
    for new in 1..nodes as usize {
        let chosen: BTreeSet<usize> = if new <= links {
            (0..new).collect()
        } else {
            let count = ends.len() as u32;
            let mut chosen = BTreeSet::new();
            // Ends: more than `links` different routers occur in `ends`.
            while chosen.len() < links {
                chosen.insert(ends[draws.below(count) as usize] as usize);
            }
            chosen
        };
        for old in chosen {
            shape.link(old, new, Class::Plain);
            ends.extend([old as u32, new as u32]);
        }
    }
}

#[cfg(test)]
mod tests;
