//! The built-in topologies: their nodes and links, before links have rates.
//!
//! Hosts that ask are `c1`, `c2`, ...; hosts that answer `p1`, ...; routers `r1`, ...; a link is named after
//! its ends (`r1-r2`), the first of which is its `a`.
//!
//! | builtin | nodes | links |
//! |---|---|---|
//! | `linear` | c1, r1..r*routers*, p1 | c1-r1, r1-r2, ..., p1 last; hosts' links are access links |
//! | `dumbbell` | c1..c*pairs*, r1, r2, p1..p*pairs* | c*i*-r1 and r2-p*i* (access), r1-r2 (bottleneck) |
//! | `star` | c1..c*consumers*, r1, p1..p*producers* | c*i*-r1 (access), r1-p*i* (bottleneck) |
//! | `tree` | routers by level from r1, leaves c1.., p1 | r1-p1 (bottleneck), r-r, leaves c*i*-r (access) |
//! | `grid` | r1..r*rows·columns*, row by row | each to its right and lower neighbour |
//! | `parking-lot` | r1..r*hops+1*, c1, p1 at the ends, c*i+1* and p*i+1* around hop *i* | r-r (bottleneck), hosts
//! (access) |
//! | `multipath` | c1, r1, r2..r*paths+1*, p1..p*paths* | c1-r1 and r*i+1*-p*i* (access), r1-r*i+1* (bottleneck) |
//! | `waxman` | r1..r*nodes* on a plane | drawn from `seed`, the nearer the likelier ([drawn]) |
//! | `barabasi-albert` | r1..r*nodes* on a plane | drawn from `seed`: *links* of each router to well-linked ones
//! ([drawn]) |

mod random_graphs;

use std::collections::BTreeSet;

use tidegate_settings::fields::Fields;

/// Table of `[topology]` whose values a link uses, in addition to `link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A link of a host.
    Access,
    /// A link that traffic has to share.
    Bottleneck,
    /// A link that is neither of these.
    Plain,
}

/// A node of a topology.
#[derive(Debug)]
pub(super) struct ShapeNode {
    pub name: String,
    pub is_router: bool,
    pub position: (f64, f64),
}

/// A link of a topology.
#[derive(Debug)]
pub(super) struct ShapeLink {
    pub a: usize,
    pub b: usize,
    pub class: Class,
}

/// Nodes and links of a topology.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub nodes: Vec<ShapeNode>,
    pub links: Vec<ShapeLink>,
}

/// A built-in topology, as a scenario names it.
pub(super) struct Builtin {
    pub name: &'static str,
    /// Its parameters, each with its default; 0 if there is none.
    pub params: &'static [(&'static str, u64)],
    /// Parameters that are not whole numbers; all are required.
    pub numbers: &'static [&'static str],
    /// Classes of its links, except plain ones.
    pub classes: &'static [Class],
    /// Whether distances in its drawing have a meaning, so that `plane` can give links their delays.
    pub is_plane: bool,
    /// Errors in the combination of its parameters, each of which is in its range.
    pub fault: fn(&Params) -> Option<String>,
    /// Number of nodes and links; `None` on overflow.
    pub size: fn(&Params) -> Option<(u64, u64)>,
    pub build: fn(&Params, &mut Shape),
}

impl Builtin {
    /// Settings that most built-in topologies share.
    const HOSTS: Self = Self {
        name: "",
        params: &[],
        numbers: &[],
        classes: &[Class::Access, Class::Bottleneck],
        is_plane: false,
        fault: |_| None,
        size: |_| None,
        build: |_, _| {},
    };

    /// Its keys of `[topology]`, except those of links.
    fn keys(&self) -> impl Iterator<Item = &'static str> {
        let counts = self.params.iter().map(|(name, _)| *name);
        counts.chain(self.numbers.iter().copied()).chain(self.is_plane.then_some(PLANE))
    }
}

/// The key of the propagation delay along one side of the plane.
pub(super) const PLANE: &str = "plane";

/// The parameters of a built-in topology, in the order it declares them.
pub(super) struct Params {
    counts: Vec<u64>,
    numbers: Vec<f64>,
}

impl Params {
    /// Reads them; reports missing ones and those of other topologies.
    pub fn read(builtin: &Builtin, topology: &Fields<'_>) -> Option<Self> {
        refuse_foreign(builtin, topology);
        let needs = |name: &str| {
            if topology.item(name).is_none() {
                let message = format!("{name:?} is missing; topology {:?} requires it", builtin.name);
                topology.refuse("builtin", message);
            }
        };
        let mut counts = Vec::new();
        for (name, default) in builtin.params {
            let given = topology.count(name).and_then(|count| u64::try_from(count).ok());
            if *default == 0 {
                needs(name);
            }
            counts.push(given.or((*default > 0 && topology.item(name).is_none()).then_some(*default)));
        }
        let numbers: Vec<Option<f64>> =
            builtin.numbers.iter().inspect(|name| needs(name)).map(|name| topology.number(name)).collect();
        let (counts, numbers) = (counts.into_iter().collect(), numbers.into_iter().collect());
        Option::zip(counts, numbers).map(|(counts, numbers)| Self { counts, numbers })
    }

    fn get(&self, index: usize) -> u64 {
        self.counts.get(index).copied().unwrap_or(0)
    }

    fn number(&self, index: usize) -> f64 {
        self.numbers.get(index).copied().unwrap_or(0.0)
    }
}

/// Reports parameters of other topologies.
fn refuse_foreign(builtin: &Builtin, topology: &Fields<'_>) {
    let own: Vec<&str> = builtin.keys().collect();
    let all: BTreeSet<&str> = BUILTINS.iter().flat_map(Builtin::keys).collect();
    let foreign = all.into_iter().filter(|name| !own.contains(name));
    for entry in foreign.filter_map(|name| topology.entry(name)) {
        let message = format!("topology {:?} has {}, not {:?}", builtin.name, own.join(", "), entry.key);
        topology.context.refuse(entry.place, message);
    }
}

/// The names of all built-in topologies.
pub(super) fn names() -> Vec<&'static str> {
    BUILTINS.iter().map(|builtin| builtin.name).collect()
}

/// All built-in topologies, in the order of messages.
pub(super) static BUILTINS: &[Builtin] = &[
    Builtin {
        name: "linear",
        params: &[("routers", 0)],
        classes: &[Class::Access],
        size: |params| Some((params.get(0) + 2, params.get(0) + 1)),
        build: build_linear,
        ..Builtin::HOSTS
    },
    Builtin {
        name: "dumbbell",
        params: &[("pairs", 0)],
        size: |params| Some((2 * params.get(0) + 2, 2 * params.get(0) + 1)),
        build: build_dumbbell,
        ..Builtin::HOSTS
    },
    Builtin {
        name: "star",
        params: &[("consumers", 0), ("producers", 1)],
        size: |params| Some((params.get(0) + params.get(1) + 1, params.get(0) + params.get(1))),
        build: build_star,
        ..Builtin::HOSTS
    },
    Builtin {
        name: "tree",
        params: &[("depth", 0), ("fanout", 0)],
        size: tree_size,
        build: build_tree,
        ..Builtin::HOSTS
    },
    Builtin {
        name: "grid",
        params: &[("rows", 0), ("columns", 0)],
        classes: &[],
        size: |params| {
            let nodes = params.get(0).checked_mul(params.get(1))?;
            Some((nodes, nodes.checked_mul(2)?))
        },
        build: build_grid,
        ..Builtin::HOSTS
    },
    Builtin {
        name: "parking-lot",
        params: &[("hops", 0)],
        size: |params| Some((3 * params.get(0) + 3, 3 * params.get(0) + 2)),
        build: build_parking_lot,
        ..Builtin::HOSTS
    },
    Builtin {
        name: "multipath",
        params: &[("paths", 0)],
        size: |params| Some((2 * params.get(0) + 2, 2 * params.get(0) + 1)),
        build: build_multipath,
        ..Builtin::HOSTS
    },
    Builtin {
        name: "waxman",
        params: &[("nodes", 0), ("seed", 1)],
        numbers: &["alpha", "beta"],
        classes: &[],
        is_plane: true,
        size: random_graphs::waxman_size,
        build: random_graphs::build_waxman,
        ..Builtin::HOSTS
    },
    Builtin {
        name: "barabasi-albert",
        params: &[("nodes", 0), ("links", 0), ("seed", 1)],
        classes: &[],
        is_plane: true,
        fault: random_graphs::barabasi_albert_fault,
        size: random_graphs::barabasi_albert_size,
        build: random_graphs::build_barabasi_albert,
        ..Builtin::HOSTS
    },
];

impl Shape {
    fn node(&mut self, kind: char, number: u64, position: (f64, f64)) -> usize {
        self.nodes.push(ShapeNode { name: format!("{kind}{number}"), is_router: kind == 'r', position });
        self.nodes.len() - 1
    }

    fn link(&mut self, a: usize, b: usize, class: Class) {
        self.links.push(ShapeLink { a, b, class });
    }

    /// Distance between the ends of a link, in sides of the drawing.
    pub fn length(&self, link: &ShapeLink) -> f64 {
        let place = |node: usize| self.nodes.get(node).map_or((0.0, 0.0), |node| node.position);
        random_graphs::distance(place(link.a), place(link.b))
    }
}

/// The `number`th of `count` places (from 1) spread over 0..=1.
fn spread(number: u64, count: u64) -> f64 {
    (number as f64 - 0.5) / count as f64
}

fn build_linear(params: &Params, shape: &mut Shape) {
    let routers = params.get(0);
    let mut last = shape.node('c', 1, (spread(1, routers + 2), 0.5));
    for number in 1..=routers {
        let router = shape.node('r', number, (spread(number + 1, routers + 2), 0.5));
        shape.link(last, router, if number == 1 { Class::Access } else { Class::Plain });
        last = router;
    }
    let producer = shape.node('p', 1, (spread(routers + 2, routers + 2), 0.5));
    shape.link(last, producer, Class::Access);
}

fn build_dumbbell(params: &Params, shape: &mut Shape) {
    let pairs = params.get(0);
    let consumers: Vec<usize> = (1..=pairs).map(|i| shape.node('c', i, (0.1, spread(i, pairs)))).collect();
    let left = shape.node('r', 1, (0.35, 0.5));
    let right = shape.node('r', 2, (0.65, 0.5));
    let producers: Vec<usize> = (1..=pairs).map(|i| shape.node('p', i, (0.9, spread(i, pairs)))).collect();
    consumers.iter().for_each(|consumer| shape.link(*consumer, left, Class::Access));
    shape.link(left, right, Class::Bottleneck);
    producers.iter().for_each(|producer| shape.link(right, *producer, Class::Access));
}

fn build_star(params: &Params, shape: &mut Shape) {
    let (consumers, producers) = (params.get(0), params.get(1));
    let centre = shape.node('r', 1, (0.5, 0.5));
    for number in 1..=consumers {
        let consumer = shape.node('c', number, (0.1, spread(number, consumers)));
        shape.link(consumer, centre, Class::Access);
    }
    for number in 1..=producers {
        let producer = shape.node('p', number, (0.9, spread(number, producers)));
        shape.link(centre, producer, Class::Bottleneck);
    }
}

fn tree_size(params: &Params) -> Option<(u64, u64)> {
    let mut nodes = 2_u64;
    let mut level = 1_u64;
    for _ in 0..params.get(0) {
        level = level.checked_mul(params.get(1))?;
        nodes = nodes.checked_add(level)?;
    }
    Some((nodes, nodes - 1))
}

fn build_tree(params: &Params, shape: &mut Shape) {
    let (depth, fanout) = (params.get(0), params.get(1));
    let down = |level: u64| (level as f64 + 1.5) / (depth as f64 + 2.0);
    let producer = shape.node('p', 1, (0.5, down(0) / 3.0));
    let mut routers = 1;
    let mut level = vec![shape.node('r', 1, (0.5, down(0)))];
    level.iter().for_each(|root| shape.link(*root, producer, Class::Bottleneck));
    for depth_now in 1..=depth {
        let is_last = depth_now == depth;
        let children = level.len() as u64 * fanout;
        let parents = std::mem::take(&mut level);
        for (number, parent) in
            (1..=children).zip(parents.iter().flat_map(|parent| (0..fanout).map(move |_| *parent)))
        {
            let position = (spread(number, children), down(depth_now));
            // Routers are numbered through all levels, leaves from 1.
            let (kind, index) = if is_last { ('c', number) } else { ('r', routers + number) };
            let child = shape.node(kind, index, position);
            level.push(child);
            if is_last {
                shape.link(child, parent, Class::Access);
            } else {
                shape.link(parent, child, Class::Plain);
            }
        }
        routers += children;
    }
}

fn build_grid(params: &Params, shape: &mut Shape) {
    let (rows, columns) = (params.get(0), params.get(1));
    for row in 1..=rows {
        for column in 1..=columns {
            let number = (row - 1) * columns + column;
            let node = shape.node('r', number, (spread(column, columns), spread(row, rows)));
            if column > 1 {
                shape.link(node - 1, node, Class::Plain);
            }
            if row > 1 {
                shape.link(node - columns as usize, node, Class::Plain);
            }
        }
    }
}

fn build_parking_lot(params: &Params, shape: &mut Shape) {
    let hops = params.get(0);
    let across = |router: u64| spread(router + 1, hops + 3);
    let routers: Vec<usize> =
        (1..=hops + 1).map(|number| shape.node('r', number, (across(number), 0.5))).collect();
    for pair in routers.windows(2) {
        if let [left, right] = *pair {
            shape.link(left, right, Class::Bottleneck);
        }
    }
    let (Some(&first), Some(&last)) = (routers.first(), routers.last()) else { return };
    add_pair(shape, 1, (first, (across(0), 0.5)), (last, (across(hops + 2), 0.5)));
    for (number, pair) in (1..=hops).zip(routers.windows(2)) {
        if let [left, right] = *pair {
            let (from, to) = ((left, (across(number), 0.15)), (right, (across(number + 1), 0.85)));
            add_pair(shape, number + 1, from, to);
        }
    }
}

/// A consumer at one router and a producer at another, with their places.
fn add_pair(shape: &mut Shape, number: u64, from: (usize, (f64, f64)), to: (usize, (f64, f64))) {
    let consumer = shape.node('c', number, from.1);
    shape.link(consumer, from.0, Class::Access);
    let producer = shape.node('p', number, to.1);
    shape.link(to.0, producer, Class::Access);
}

fn build_multipath(params: &Params, shape: &mut Shape) {
    let paths = params.get(0);
    let consumer = shape.node('c', 1, (0.1, 0.5));
    let fork = shape.node('r', 1, (0.35, 0.5));
    shape.link(consumer, fork, Class::Access);
    for number in 1..=paths {
        let router = shape.node('r', number + 1, (0.65, spread(number, paths)));
        let producer = shape.node('p', number, (0.9, spread(number, paths)));
        shape.link(fork, router, Class::Bottleneck);
        shape.link(router, producer, Class::Access);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(name: &str, params: &[u64]) -> (Shape, (u64, u64)) {
        let builtin = BUILTINS.iter().find(|builtin| builtin.name == name).expect("known");
        let params = Params { counts: params.to_vec(), numbers: vec![0.5; builtin.numbers.len()] };
        let mut shape = Shape::default();
        (builtin.build)(&params, &mut shape);
        (shape, (builtin.size)(&params).expect("small"))
    }

    fn links(shape: &Shape) -> Vec<String> {
        let name = |index: usize| shape.nodes[index].name.as_str();
        shape.links.iter().map(|link| format!("{}-{}", name(link.a), name(link.b))).collect()
    }

    #[test]
    fn every_topology_has_the_documented_links() {
        let cases: [(&str, &[u64], &str); 7] = [
            ("linear", &[2], "c1-r1 r1-r2 r2-p1"),
            ("dumbbell", &[2], "c1-r1 c2-r1 r1-r2 r2-p1 r2-p2"),
            ("star", &[2, 1], "c1-r1 c2-r1 r1-p1"),
            ("tree", &[2, 2], "r1-p1 r1-r2 r1-r3 c1-r2 c2-r2 c3-r3 c4-r3"),
            ("grid", &[2, 2], "r1-r2 r1-r3 r3-r4 r2-r4"),
            ("parking-lot", &[2], "r1-r2 r2-r3 c1-r1 r3-p1 c2-r1 r2-p2 c3-r2 r3-p3"),
            ("multipath", &[2], "c1-r1 r1-r2 r2-p1 r1-r3 r3-p2"),
        ];
        for (name, params, expected) in cases {
            assert_eq!(links(&build(name, params).0).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn the_size_computed_before_building_is_never_too_small_and_names_are_unique() {
        for builtin in BUILTINS {
            for params in [[2, 1, 1], [4, 3, 7], [3, 1, 2], [3, 2, 1]] {
                let (shape, (nodes, links)) = build(builtin.name, &params[..builtin.params.len()]);
                assert_eq!(shape.nodes.len() as u64, nodes, "{}", builtin.name);
                assert!(shape.links.len() as u64 <= links, "{}", builtin.name);
                let mut names: Vec<&str> = shape.nodes.iter().map(|node| node.name.as_str()).collect();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len() as u64, nodes, "{}", builtin.name);
            }
        }
    }

    #[test]
    fn places_in_a_drawing_stay_within_it() {
        for builtin in BUILTINS {
            for node in build(builtin.name, &[4, 3, 9][..builtin.params.len()]).0.nodes {
                let (x, y) = node.position;
                assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y), "{} {x} {y}", node.name);
            }
        }
    }
}
