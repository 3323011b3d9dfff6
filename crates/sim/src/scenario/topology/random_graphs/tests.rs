use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn waxman(nodes: u64, seed: u64, alpha: f64, beta: f64) -> Shape {
    let mut shape = Shape::default();
    build_waxman(&Params { counts: vec![nodes, seed], numbers: vec![alpha, beta] }, &mut shape);
    shape
}

fn barabasi_albert(nodes: u64, links: u64, seed: u64) -> Shape {
    let mut shape = Shape::default();
    build_barabasi_albert(&Params { counts: vec![nodes, links, seed], numbers: vec![] }, &mut shape);
    shape
}

/// Networks of both models, small and larger, sparse and dense.
fn samples() -> Vec<(String, Shape)> {
    let mut samples = Vec::new();
    for seed in 0..20 {
        for (nodes, alpha, beta) in [(2, 0.001, 0.001), (30, 0.1, 0.05), (40, 0.2, 0.4), (12, 1.0, 1.0)] {
            let name = format!("waxman {nodes} {alpha} {beta}, seed {seed}");
            samples.push((name, waxman(nodes, seed, alpha, beta)));
        }
        for (nodes, links) in [(2, 1), (40, 1), (40, 3), (9, 8)] {
            let name = format!("barabasi-albert {nodes} {links}, seed {seed}");
            samples.push((name, barabasi_albert(nodes, links, seed)));
        }
    }
    samples
}

fn ends(shape: &Shape) -> Vec<(usize, usize)> {
    shape.links.iter().map(|link| (link.a, link.b)).collect()
}

fn places(shape: &Shape) -> Vec<Position> {
    shape.nodes.iter().map(|node| node.position).collect()
}

/// Routers that are reached from router `from` over `links`.
fn reached(links: &[(usize, usize)], from: usize) -> BTreeSet<usize> {
    let (mut reached, mut todo) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = todo.pop() {
        for (a, b) in links {
            let other = if *a == at {
                *b
            } else if *b == at {
                *a
            } else {
                continue;
            };
            if reached.insert(other) {
                todo.push(other);
            }
        }
    }
    reached
}

fn degrees(shape: &Shape) -> Vec<usize> {
    let mut degrees = vec![0; shape.nodes.len()];
    ends(shape).into_iter().for_each(|(a, b)| {
        degrees[a] += 1;
        degrees[b] += 1;
    });
    degrees
}

#[test]
fn every_network_is_connected_and_has_no_link_twice() {
    for (name, shape) in samples() {
        let links = ends(&shape);
        assert_eq!(reached(&links, 0).len(), shape.nodes.len(), "{name}");
        assert!(links.iter().all(|(a, b)| a < b && *b < shape.nodes.len()), "{name}: {links:?}");
        assert_eq!(links.iter().collect::<BTreeSet<_>>().len(), links.len(), "{name}: {links:?}");
    }
}

#[test]
fn one_seed_is_one_network_and_another_is_another() {
    let makers: [fn(u64) -> Shape; 2] =
        [|seed| waxman(30, seed, 0.3, 0.5), |seed| barabasi_albert(30, 2, seed)];
    for make in makers {
        let of = |seed: u64| (ends(&make(seed)), places(&make(seed)));
        assert_eq!(of(7), of(7));
        let (links, places) = (of(7), of(8));
        assert!(links.0 != places.0 && links.1 != places.1, "links and places are both drawn");
    }
}

#[test]
fn waxmans_links_are_as_many_as_their_probabilities_say_near_and_far() {
    let (alpha, beta) = (0.3, 0.8);
    // Pairs nearer and farther than half of the largest distance: found, expected, variance.
    let mut bands: BTreeMap<bool, [f64; 3]> = BTreeMap::new();
    for seed in 0..40 {
        let shape = waxman(40, seed, alpha, beta);
        let (links, places) = (ends(&shape).into_iter().collect::<BTreeSet<_>>(), places(&shape));
        let pairs = || (0..40).flat_map(|b| (0..b).map(move |a| (a, b)));
        let length = |(a, b): (usize, usize)| distance(places[a], places[b]);
        let max = pairs().map(length).fold(0.0, f64::max);
        for pair in pairs() {
            let chance = beta * (-length(pair) / (alpha * max)).exp();
            let band = bands.entry(length(pair) < max / 2.0).or_default();
            let found = f64::from(u8::from(links.contains(&pair)));
            band.iter_mut()
                .zip([found, chance, chance * (1.0 - chance)])
                .for_each(|(sum, part)| *sum += part);
        }
    }
    for (is_near, [found, expected, variance]) in bands {
        // Beyond four standard deviations once in 16,000.
        assert!((found - expected).abs() < 4.0 * variance.sqrt(), "near {is_near}: {found}, not {expected}");
    }
}

#[test]
fn what_waxmans_model_leaves_apart_is_connected_by_the_shortest_links() {
    for seed in 0..10 {
        let shape = waxman(16, seed, 0.001, 0.001);
        let (links, places) = (ends(&shape), places(&shape));
        assert_eq!(links.len(), 15, "so few are drawn that all of these connect");
        for (place, link) in links.iter().enumerate() {
            let rest: Vec<_> =
                links.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, l)| *l).collect();
            let side = reached(&rest, link.0);
            let across = (0..16).flat_map(|b| (0..b).map(move |a| (a, b)));
            let across = across.filter(|(a, b)| side.contains(a) != side.contains(b));
            let shortest = across.map(|(a, b)| distance(places[a], places[b])).fold(f64::INFINITY, f64::min);
            assert_eq!(distance(places[link.0], places[link.1]), shortest);
        }
    }
}

#[test]
fn each_router_brings_its_links_and_the_degrees_add_up() {
    for (nodes, links) in [(40_u64, 1_u64), (40, 3), (100, 5), (6, 5)] {
        let shape = barabasi_albert(nodes, links, 3);
        let all = links * (links + 1) / 2 + (nodes - links - 1) * links;
        let degrees = degrees(&shape);
        assert_eq!(degrees.iter().sum::<usize>() as u64, 2 * all);
        assert!(degrees.iter().all(|degree| *degree as u64 >= links), "{degrees:?}");
        for new in links as usize + 1..nodes as usize {
            let brought = ends(&shape).iter().filter(|(_, b)| *b == new).count();
            assert_eq!(brought as u64, links, "router {new}");
        }
    }
}

#[test]
fn well_linked_routers_get_the_links_that_their_degree_entitles_them_to() {
    const NODES: u64 = 200;
    // With one link each, the first router's share of all ends is its degree over twice the links: on average it
    // grows by 1 + 1/(2 (t - 2)) when router t comes, and has begun with one link.
    let expected: f64 = (3..=NODES).map(|t| 1.0 + 1.0 / (2.0 * (t - 2) as f64)).product();
    let found: Vec<f64> = (0..400).map(|seed| degrees(&barabasi_albert(NODES, 1, seed))[0] as f64).collect();
    let count = found.len() as f64;
    let mean = found.iter().sum::<f64>() / count;
    let variance = found.iter().map(|degree| (degree - mean).powi(2)).sum::<f64>() / (count - 1.0);
    assert!((mean - expected).abs() < 4.0 * (variance / count).sqrt(), "{mean}, not {expected}");
    // Chosen evenly, it would have 1 + 1/2 + ... + 1/199, less than 6.
    assert!(expected > 15.0);
}

#[test]
fn the_size_is_known_before_it_is_built() {
    let params = |counts: &[u64]| Params { counts: counts.to_vec(), numbers: vec![1.0, 1.0] };
    assert_eq!(waxman_size(&params(&[5, 1])), Some((5, 10)));
    assert_eq!(waxman_size(&params(&[u64::MAX, 1])), None);
    assert_eq!(barabasi_albert_size(&params(&[6, 2, 1])), Some((6, 3 + 3 * 2)));
    assert_eq!(barabasi_albert_fault(&params(&[6, 5, 1])), None);
    assert!(barabasi_albert_fault(&params(&[5, 5, 1])).is_some());
}
