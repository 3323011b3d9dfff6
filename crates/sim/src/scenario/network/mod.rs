//! Nodes and links of a scenario, built-in or written out.

mod imported;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::units::{Packets, Span};
use tidegate_settings::document::{Entry, Item, TomlValue};
use tidegate_settings::error::Place;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::{KeyKind, Keys, ROUTER_PART, STRATEGY};
use tidegate_settings::prefix::canonical_prefix;
use tidegate_settings::read_context::{ReadContext, show};
use tidegate_settings::uses;
use tidegate_settings::values::{read_name, read_number, read_text};

use super::caches::{CacheRules, CacheValues};
use super::links::{LinkValues, MAX_MSDU};
use super::media::Media;
use super::topology::{BUILTINS, Builtin, Class, PLANE, Params, Shape};
use super::{Limits, clock, keys, service};
use crate::plan::{
    CachePlan, ClockPlan, LinkPlan, MediumPlan, NextHopRule, NodePlan, SchemeUse, ServicePlan,
};

/// Maximum number of links of one node, as face numbers have 16 bits and applications need some.
const MAX_LINKS_OF_A_NODE: u32 = 60_000;

/// Nodes and links with their names.
#[derive(Default)]
pub(super) struct NetworkTable {
    pub nodes: Vec<NodePlan>,
    pub links: Vec<LinkPlan>,
    /// Media that links share.
    pub media: Vec<MediumPlan>,
    /// Cache settings, resolved once the flows are known.
    pub caches: CacheRules,
    /// Rule that selects next hops among the neighbours.
    pub next_hops: NextHopRule,
    node_index: BTreeMap<String, usize>,
    link_index: BTreeMap<String, usize>,
    /// The connected part of each node, named by its lowest node.
    part: Vec<usize>,
    /// Whether something was left out after an error, so that "not known" may be a consequence.
    is_partial: bool,
}

impl NetworkTable {
    /// The node that a text names; reports if there is none.
    pub fn find_node(&self, context: &ReadContext<'_>, item: &Item) -> Option<usize> {
        self.node_called(context, item.place, context.accept(item.place, read_text(item))?)
    }

    /// The node called `name`; reports at `place` if there is none.
    pub fn node_called(&self, context: &ReadContext<'_>, place: Place, name: &str) -> Option<usize> {
        let found = self.node_index.get(name).copied();
        // In a partial network the name may be of a node that was refused; one error for one mistake.
        if found.is_none() && !self.is_partial {
            context.refuse_word(place, "node", name, self.nodes.iter().map(|node| node.name.as_str()));
        }
        found
    }

    /// The link that a text names; reports if there is none.
    pub fn find_link(&self, context: &ReadContext<'_>, item: &Item) -> Option<usize> {
        let name = context.accept(item.place, read_text(item))?;
        let found = self.link_index.get(name).copied();
        if found.is_none() && !self.is_partial {
            // Links are named in the order of `ends`; the other order is the most frequent mistake.
            let reversed = name.split_once('-').map(|(a, b)| format!("{b}-{a}"));
            let reversed = reversed.filter(|reversed| self.link_index.contains_key(reversed));
            if let Some(reversed) = reversed {
                let message = format!("link {} is not known; its name is {reversed:?}", show(name));
                context.refuse(item.place, message);
            } else {
                context.refuse_word(
                    item.place,
                    "link",
                    name,
                    self.links.iter().map(|link| link.name.as_str()),
                );
            }
        }
        found
    }

    /// Whether two nodes are connected, or could be if everything were known.
    pub fn connects(&self, a: usize, b: usize) -> bool {
        self.is_partial || self.part.get(a) == self.part.get(b)
    }
}

/// Settings of the table `[router]`.
pub(super) struct RouterValues {
    strategy: Option<SchemeUse>,
    caches: CacheRules,
    unsolicited: bool,
    parts: Vec<SchemeUse>,
    prefix_strategies: Vec<(String, SchemeUse)>,
    service: Option<ServicePlan>,
    clock: Option<ClockPlan>,
    next_hops: NextHopRule,
}

impl RouterValues {
    /// Reads `[router]`, which may be missing.
    pub fn read(root: &Fields<'_>) -> Self {
        let context = root.context;
        let given = root.table("router", &keys::ROUTER);
        let place = given.as_ref().map_or(root.place, |router| router.place);
        let router = given.unwrap_or_else(|| Fields::empty(context, place, &keys::ROUTER));
        let default = Item { place, value: TomlValue::Text("best-route".to_owned()) };
        let mut values = Self {
            strategy: uses::read(context, router.item("strategy").unwrap_or(&default), &STRATEGY),
            caches: CacheRules::read(&router),
            unsolicited: router.flag("unsolicited").unwrap_or(false),
            parts: uses::read_list(&router, "router_parts", &ROUTER_PART),
            prefix_strategies: Vec::new(),
            service: service::read(&router, "service"),
            clock: clock::read(&router),
            next_hops: router.word("next_hops", &NextHopRule::ALL).unwrap_or_default(),
        };
        values.read_prefixes(&router);
        check_strategies(&router, &values.parts);
        values
    }

    fn read_prefixes(&mut self, router: &Fields<'_>) {
        let mut known = BTreeSet::new();
        for table in router.tables("prefix", &keys::ROUTER_PREFIX) {
            let strategy = table.item("strategy").and_then(|item| uses::read(table.context, item, &STRATEGY));
            let cache = CacheValues::of_prefix(&table);
            if table.item("strategy").is_none() && table.item("cache").is_none() {
                table.refuse_missing("\"strategy\" or \"cache\"");
            }
            let Some(prefix) = read_prefix(&table) else { continue };
            if !known.insert(prefix.clone()) {
                table.refuse("prefix", format!("prefix {} is already given", show(&prefix)));
            }
            self.prefix_strategies.extend(strategy.map(|strategy| (prefix.clone(), strategy)));
            self.caches.prefixes.extend(cache.map(|cache| (prefix, cache)));
        }
        self.caches.check_shares(router);
    }

    /// Estimate of the bytes that one node takes in a plan.
    fn bytes(&self) -> u64 {
        let prefix = |(prefix, used): &(String, SchemeUse)| {
            100 + prefix.len() as u64 + uses::bytes(std::slice::from_ref(used))
        };
        let prefixes: u64 = self.prefix_strategies.iter().map(prefix).sum();
        let caches: u64 = self.caches.prefixes.iter().map(|(prefix, _)| 100 + prefix.len() as u64).sum();
        700 + uses::bytes(self.strategy.as_slice()) + uses::bytes(&self.parts) + prefixes + caches
    }

    /// A node as `[router]` has it.
    fn node(&self, name: &str, is_router: bool) -> Option<NodePlan> {
        let router = self.caches.router;
        Some(NodePlan {
            name: name.to_owned(),
            is_router,
            position: None,
            cache: CachePlan { size: if is_router { router.size } else { Packets::new(0) }, ..router },
            prefix_caches: Vec::new(),
            cache_unsolicited: self.unsolicited,
            strategy: self.strategy.clone()?,
            prefix_strategies: self.prefix_strategies.clone(),
            parts: if is_router { self.parts.clone() } else { Vec::new() },
            service: self.service.filter(|_| is_router),
            clock: self.clock.filter(|_| is_router),
        })
    }
}

/// Checks that a node has one strategy: at most one of its parts brings one, and then none may be given.
fn check_strategies(table: &Fields<'_>, parts: &[SchemeUse]) {
    let mut bringing = parts.iter().filter(|part| part.brings_strategy()).map(|part| part.scheme.name);
    let Some(first) = bringing.next() else { return };
    if let Some(second) = bringing.next() {
        let why = format!(
            "router_parts: {first} and {second} each have a forwarding strategy; a node can have only one"
        );
        table.refuse("router_parts", why);
    } else if table.item("strategy").is_some() {
        table.refuse(
            "strategy",
            format!("strategy: the part {first} has a forwarding strategy; remove this key"),
        );
    }
}

fn read_prefix(table: &Fields<'_>) -> Option<String> {
    table.accept("prefix", canonical_prefix(&table.text("prefix")?))
}

/// Settings of one node in a scenario, except its name.
struct NodeValues {
    cache: CacheValues,
    has_cache: bool,
    service: Option<ServicePlan>,
    clock: Option<ClockPlan>,
    unsolicited: Option<bool>,
    strategy: Option<SchemeUse>,
    parts: Option<Vec<SchemeUse>>,
    position: Option<(f64, f64)>,
}

impl NodeValues {
    fn read(node: &Fields<'_>) -> Self {
        let parts = node.item("router_parts").map(|_| uses::read_list(node, "router_parts", &ROUTER_PART));
        check_strategies(node, parts.as_deref().unwrap_or(&[]));
        Self {
            cache: CacheValues::of_node(node),
            has_cache: node.item("cache").is_some(),
            service: service::read(node, "service"),
            clock: clock::read(node),
            unsolicited: node.flag("unsolicited"),
            strategy: node.item("strategy").and_then(|item| uses::read(node.context, item, &STRATEGY)),
            parts,
            position: read_position(node),
        }
    }

    fn apply(self, node: &mut NodePlan) {
        // Keys of a node go before those of `[router]`, which `node` has so far.
        node.cache = self.cache.over(node.cache);
        node.service = self.service.or(node.service);
        node.clock = self.clock.or(node.clock);
        node.cache_unsolicited = self.unsolicited.unwrap_or(node.cache_unsolicited);
        if let Some(strategy) = self.strategy {
            node.strategy = strategy;
        }
        if let Some(parts) = self.parts {
            node.parts = parts;
        }
        node.position = self.position.or(node.position);
    }
}

fn read_position(node: &Fields<'_>) -> Option<(f64, f64)> {
    let item = node.item("position")?;
    let [across, down] = node.list("position") else {
        return node
            .context
            .refused(item.place, "position: two numbers from 0 to 1 are needed, across and down");
    };
    let read = |item: &Item| {
        let number = read_number(item, &KeyKind::Number(0.0, 1.0));
        node.context.accept(item.place, number.map_err(|why| format!("position: {why}")))
    };
    read(across).zip(read(down))
}

/// Reads `[topology]`, nodes and links.
pub(super) fn read(root: &Fields<'_>, limits: &Limits) -> NetworkTable {
    let router = RouterValues::read(root);
    let media = Media::read(root);
    let topology = root.table("topology", &keys::TOPOLOGY);
    let has = |key: &str| topology.as_ref().filter(|topology| topology.item(key).is_some());
    let network = match (has("builtin"), has("file")) {
        (Some(topology), None) => read_builtin(root, topology, (&router, &media), limits),
        (None, Some(topology)) => imported::read(root, topology, (&router, &media), limits),
        (Some(topology), Some(_)) => {
            topology.refused("file", "file: a topology is built in or from a file, not both")
        }
        (None, None) => read_written(root, topology.as_ref(), (&router, &media), limits),
    };
    let mut network = network.unwrap_or_else(|| NetworkTable { is_partial: true, ..NetworkTable::default() });
    network.caches = router.caches.with_own(std::mem::take(&mut network.caches.own));
    network.next_hops = router.next_hops;
    network.is_partial |= !root.context.problems.borrow().is_empty() && network.nodes.is_empty();
    check_degrees(root, &network);
    network.media = media.0;
    check_media(root, &network);
    check_lanes(root, &network);
    network.part = parts(&network);
    check_connected(root, &network);
    network
}

fn read_builtin(
    root: &Fields<'_>,
    topology: &Fields<'_>,
    (router, media): (&RouterValues, &Media),
    limits: &Limits,
) -> Option<NetworkTable> {
    let sound = root.context.count();
    let values = ClassValues::read(topology, media);
    let is_sound = root.context.count() == sound;
    let words: Vec<(usize, &str)> = BUILTINS.iter().map(|builtin| builtin.name).enumerate().collect();
    let builtin = topology.word("builtin", &words).and_then(|index| BUILTINS.get(index))?;
    for (key, class) in [("access", Class::Access), ("bottleneck", Class::Bottleneck)] {
        if let Some(entry) = topology.entry(key).filter(|_| !builtin.classes.contains(&class)) {
            topology.context.refuse(entry.place, format!("topology {:?} has no {key} links", builtin.name));
        }
    }
    let shape = build(builtin, topology, limits)?;
    // Plans repeat the values of `[router]` and of the classes in every node and link.
    if !claim(topology, &shape, router, &values) {
        return None;
    }
    let mut network = NetworkTable::default();
    add_shape_nodes(&mut network, &shape, router, topology);
    add_shape_links(&mut network, &shape, &values, topology);
    let of_link = |index: usize| values.at(&shape, index);
    let complete = change_by_name((root, media), &mut network, &of_link);
    // A misspelt key may be the one that is missing.
    if is_sound {
        check_complete((topology, builtin), &network, &shape, &complete, &values);
    }
    Some(network)
}

/// Whether the topology's plan is small enough.
fn claim(topology: &Fields<'_>, shape: &Shape, router: &RouterValues, values: &ClassValues) -> bool {
    let classes = [Class::Plain, Class::Access, Class::Bottleneck];
    let max = classes.map(|class| values.of(class).bytes()).into_iter().max().unwrap_or(0);
    let place = topology.place_of("builtin");
    topology.context.claim(place, router.bytes(), shape.nodes.len() as u64)
        && topology.context.claim(place, max, shape.links.len() as u64)
}

fn build(builtin: &Builtin, topology: &Fields<'_>, limits: &Limits) -> Option<Shape> {
    let params = Params::read(builtin, topology)?;
    if let Some(fault) = (builtin.fault)(&params) {
        return topology.refused("builtin", format!("topology {:?}: {fault}", builtin.name));
    }
    // The size is checked before anything is built: a typing error could ask for gigabytes.
    let (nodes, links) = (builtin.size)(&params).unwrap_or((u64::MAX, u64::MAX));
    if nodes > limits.nodes as u64 || links > limits.links as u64 {
        let size = if nodes == u64::MAX {
            "too many nodes".to_owned()
        } else {
            format!("{nodes} nodes and up to {links} links")
        };
        let message = format!(
            "topology {:?} would have {size}; at most {} nodes and {} links",
            builtin.name, limits.nodes, limits.links
        );
        return topology.refused("builtin", message);
    }
    let mut shape = Shape::default();
    (builtin.build)(&params, &mut shape);
    Some(shape)
}

/// The link tables of `[topology]`, each over `link`.
struct ClassValues {
    plain: LinkValues,
    access: LinkValues,
    bottleneck: LinkValues,
    /// Delay along a side of the drawing, if that is a plane.
    plane: Option<Span>,
}

impl ClassValues {
    fn read(topology: &Fields<'_>, media: &Media) -> Self {
        let read = |key| {
            let link = topology.table(key, &keys::LINK_CHANGES);
            link.map(|link| LinkValues::read(&link, media)).unwrap_or_default()
        };
        let plain: LinkValues = read("link");
        Self {
            access: plain.with(&read("access")),
            bottleneck: plain.with(&read("bottleneck")),
            plain,
            plane: topology.time(PLANE),
        }
    }

    /// The values of link number `index`.
    fn at(&self, shape: &Shape, index: usize) -> Cow<'_, LinkValues> {
        let Some(link) = shape.links.get(index) else { return Cow::Borrowed(&self.plain) };
        let length = shape.length(link);
        self.of(link.class).or_delay(self.plane.map(|side| Span::from_secs_f64(side.as_secs_f64() * length)))
    }

    fn of(&self, class: Class) -> &LinkValues {
        match class {
            Class::Access => &self.access,
            Class::Bottleneck => &self.bottleneck,
            Class::Plain => &self.plain,
        }
    }
}

fn add_shape_nodes(network: &mut NetworkTable, shape: &Shape, router: &RouterValues, topology: &Fields<'_>) {
    for node in &shape.nodes {
        let Some(mut plan) = router.node(&node.name, node.is_router) else {
            network.is_partial = true;
            return;
        };
        plan.position = Some(node.position);
        add_node(network, plan, topology.context, topology.place);
    }
}

/// Adds a node; its name must be unused.
fn add_node(network: &mut NetworkTable, plan: NodePlan, context: &ReadContext<'_>, place: Place) {
    let index = network.nodes.len();
    if network.node_index.insert(plan.name.clone(), index).is_some() {
        context.refuse(place, format!("two nodes have the name {:?}", plan.name));
        network.is_partial = true;
    }
    network.nodes.push(plan);
}

/// Adds a link; its name must be unused.
fn add_link(network: &mut NetworkTable, plan: LinkPlan, context: &ReadContext<'_>, place: Place) {
    let index = network.links.len();
    if network.link_index.insert(plan.name.clone(), index).is_some() {
        context.refuse(
            place,
            format!("two links have the name {:?}; set name = \"...\" in one of them", plan.name),
        );
    }
    network.links.push(plan);
}

fn add_shape_links(network: &mut NetworkTable, shape: &Shape, values: &ClassValues, topology: &Fields<'_>) {
    for (index, link) in shape.links.iter().enumerate() {
        let (Some(a), Some(b)) = (shape.nodes.get(link.a), shape.nodes.get(link.b)) else { continue };
        let name = format!("{}-{}", a.name, b.name);
        let plan = values.at(shape, index).plan(name, link.a, link.b);
        add_link(network, plan, topology.context, topology.place);
    }
}

/// Applies `[node.x]` and `[link.x]` over the values of each node and link; returns for each link whether
/// rate and delay are given.
fn change_by_name<'v>(
    (root, media): (&Fields<'_>, &Media),
    network: &mut NetworkTable,
    of_link: &dyn Fn(usize) -> Cow<'v, LinkValues>,
) -> Vec<bool> {
    let context = root.context;
    for (entry, node) in named(root, "node", &keys::NODE_CHANGES) {
        let index = network.node_called(context, entry.place, &entry.key);
        let values = NodeValues::read(&node);
        if values.has_cache {
            network.caches.own.extend(index);
        }
        if let Some(plan) = index.and_then(|index| network.nodes.get_mut(index)) {
            values.apply(plan);
        }
    }
    let mut complete: Vec<bool> =
        (0..network.links.len()).map(|index| of_link(index).is_complete()).collect();
    for (entry, link) in named(root, "link", &keys::LINK_CHANGES) {
        let changes = LinkValues::read(&link, media);
        let name = Item { place: entry.place, value: TomlValue::Text(entry.key.clone()) };
        let Some(index) = network.find_link(context, &name) else { continue };
        let Some(plan) = network.links.get_mut(index) else { continue };
        let all = of_link(index).with(&changes);
        *plan = all.plan(entry.key.clone(), plan.a, plan.b);
        complete.get_mut(index).into_iter().for_each(|complete| *complete = all.is_complete());
    }
    complete
}

/// Reports the first link without rate or delay.
fn check_complete(
    (topology, builtin): (&Fields<'_>, &Builtin),
    network: &NetworkTable,
    shape: &Shape,
    complete: &[bool],
    values: &ClassValues,
) {
    let mut links = network.links.iter().zip(&shape.links).zip(complete);
    let Some(((plan, link), _)) = links.find(|(_, complete)| !**complete) else { return };
    let missing = values.of(link.class).or_delay(values.plane).missing();
    let tables = match link.class {
        Class::Access => "\"access\" or \"link\"",
        Class::Bottleneck => "\"bottleneck\" or \"link\"",
        Class::Plain if builtin.is_plane => "\"link\", delays also from \"plane\"",
        Class::Plain => "\"link\"",
    };
    let message = format!("link {:?} has no {missing}; [topology] takes it from {tables}", plan.name);
    topology.context.refuse(topology.place, message);
}

/// The tables of `[key.name]`, opened; a list is refused.
fn named<'a>(root: &Fields<'a>, key: &str, known: &'static Keys) -> Vec<(&'a Entry, Fields<'a>)> {
    let Some(item) = root.item(key) else { return Vec::new() };
    let TomlValue::Table(table) = &item.value else {
        let message = format!("[[{key}]] cannot be combined with a builtin topology; write [{key}.NAME]");
        root.context.refuse(item.place, message);
        return Vec::new();
    };
    let open = |entry: &'a Entry| Some((entry, Fields::open(root.context, &entry.item, known)?));
    table.0.iter().filter_map(open).collect()
}

/// Nodes and links as `[[node]]` and `[[link]]` write them out.
fn read_written(
    root: &Fields<'_>,
    topology: Option<&Fields<'_>>,
    (router, media): (&RouterValues, &Media),
    limits: &Limits,
) -> Option<NetworkTable> {
    if let Some(topology) = topology {
        refuse_builtin_keys(topology);
    }
    for key in ["node", "link"] {
        if let Some(TomlValue::Table(_)) = root.item(key).map(|item| &item.value) {
            return root.refused(
                key,
                format!("[{key}.NAME] requires a builtin topology; without one, write [[{key}]]"),
            );
        }
    }
    if root.list("node").is_empty() {
        let place = topology.map_or(root.place, |topology| topology.place);
        let why = "there is no network; give [topology] a builtin, or write [[node]] and [[link]]";
        return root.context.refused(place, why);
    }
    for (key, max) in [("node", limits.nodes), ("link", limits.links)] {
        if root.list(key).len() > max {
            return root.refused(key, format!("{} {key}s; at most {max}", root.list(key).len()));
        }
    }
    let base = topology.and_then(|topology| topology.table("link", &keys::LINK_CHANGES));
    let base = base.map(|link| LinkValues::read(&link, media)).unwrap_or_default();
    let tables: Vec<Fields<'_>> = root.tables("node", &keys::NODE);
    if !root.context.claim(root.place_of("node"), router.bytes(), tables.len() as u64) {
        return None;
    }
    let mut network = NetworkTable::default();
    add_written_nodes(&mut network, &tables, root, router);
    for link in root.tables("link", &keys::LINK) {
        network.is_partial |= add_written_link(&mut network, &link, (&base, media)).is_none();
    }
    check_roles(&network, &tables);
    Some(network)
}

/// Reports keys of `[topology]` that need a builtin.
fn refuse_builtin_keys(topology: &Fields<'_>) {
    for entry in topology.entries().iter().filter(|entry| entry.key != "link") {
        if keys::TOPOLOGY.find(&entry.key).is_some() {
            topology.context.refuse(entry.place, format!("{:?} requires a builtin topology", entry.key));
        }
    }
}

fn add_written_nodes(
    network: &mut NetworkTable,
    tables: &[Fields<'_>],
    root: &Fields<'_>,
    router: &RouterValues,
) {
    // By name and before the links are read: whether a node is a router decides how it is built.
    let degrees = written_degrees(root);
    for table in tables {
        let values = NodeValues::read(table);
        let declared = table.flag("router");
        let name = table.item("name").and_then(|item| read_name(table.context, item));
        let plan = name.and_then(|name| {
            let degree = degrees.get(name.as_str()).copied().unwrap_or(0);
            router.node(&name, declared.unwrap_or(degree > 1))
        });
        let Some(mut plan) = plan else {
            network.is_partial = true;
            continue;
        };
        if values.has_cache {
            network.caches.own.insert(network.nodes.len());
        }
        values.apply(&mut plan);
        add_node(network, plan, table.context, table.place_of("name"));
    }
}

/// Number of link ends at which each name occurs.
fn written_degrees<'a>(root: &Fields<'a>) -> BTreeMap<&'a str, u32> {
    let mut degrees = BTreeMap::new();
    for link in root.list("link") {
        let TomlValue::Table(table) = &link.value else { continue };
        let Some(TomlValue::List(ends)) = table.get("ends").map(|entry| &entry.item.value) else { continue };
        for end in ends.iter().take(2) {
            if let Ok(name) = read_text(end) {
                *degrees.entry(name).or_insert(0) += 1;
            }
        }
    }
    degrees
}

fn add_written_link(
    network: &mut NetworkTable,
    link: &Fields<'_>,
    (base, media): (&LinkValues, &Media),
) -> Option<()> {
    let context = link.context;
    let sound = context.count();
    let values = base.with(&LinkValues::read(link, media));
    let given = link.item("name").map(|item| read_name(context, item));
    let ends = link.list("ends");
    let [first, second] = ends else {
        if link.item("ends").is_some() {
            link.refuse("ends", format!("ends: two nodes are needed, not {}", ends.len()));
        }
        return None;
    };
    let (a, b) = (network.find_node(context, first), network.find_node(context, second));
    let (a, b) = a.zip(b)?;
    if a == b {
        return link.refused("ends", "ends: a link needs two different nodes");
    }
    let node_name = |index: usize| network.nodes.get(index).map_or("", |node| node.name.as_str());
    let name = given.unwrap_or_else(|| Some(format!("{}-{}", node_name(a), node_name(b))));
    let name = name.filter(|_| context.claim(link.place, values.bytes(), 1))?;
    if !values.is_complete() && context.count() == sound {
        context.refuse(link.place, format!("link {name:?} has no {}", values.missing()));
    }
    add_link(network, values.plan(name, a, b), context, link.place);
    Some(())
}

/// Reports nodes that are declared hosts but have several links.
fn check_roles(network: &NetworkTable, tables: &[Fields<'_>]) {
    let degrees = degrees(network);
    for table in tables {
        let Some(index) = table.text("name").and_then(|name| network.node_index.get(&name).copied()) else {
            continue;
        };
        let degree = degrees.get(index).copied().unwrap_or(0);
        if degree > 1 && table.flag("router") == Some(false) {
            table.refuse("router", format!("router: a node with {degree} links is a router"));
        }
    }
}

/// Links of each node.
fn degrees(network: &NetworkTable) -> Vec<u32> {
    let mut degrees = vec![0_u32; network.nodes.len()];
    for end in network.links.iter().flat_map(|link| [link.a, link.b]) {
        degrees.get_mut(end).into_iter().for_each(|degree| *degree += 1);
    }
    degrees
}

fn check_degrees(root: &Fields<'_>, network: &NetworkTable) {
    let degrees = degrees(network);
    let too_many = network.nodes.iter().zip(&degrees).find(|(_, degree)| **degree > MAX_LINKS_OF_A_NODE);
    if let Some((node, degree)) = too_many {
        let message = format!("node {:?} has {degree} links; at most {MAX_LINKS_OF_A_NODE}", node.name);
        root.refuse("topology", message);
    }
}

/// Reports frames too large for a medium, and two links between the same nodes on one: radios identify links
/// by their nodes.
fn check_media(root: &Fields<'_>, network: &NetworkTable) {
    let mut known = BTreeSet::new();
    for link in &network.links {
        let Some(medium) = link.medium else { continue };
        if let Some(mtu) = link.mtu.filter(|mtu| *mtu > MAX_MSDU) {
            let message = format!(
                "link {:?} has an mtu of {mtu}, which is more than the {MAX_MSDU} of an 802.11 frame",
                link.name
            );
            root.refuse("medium", message);
        }
        if !known.insert((medium, link.a.min(link.b), link.a.max(link.b))) {
            let name = network.media.get(medium).map_or("", |medium| medium.name.as_str());
            let message =
                format!("link {:?} is one of two links between its nodes on medium {name:?}", link.name);
            root.refuse("medium", message);
        }
    }
}

/// Reports queues with the lanes of two disciplines: one of their own and one that parts of their router
/// bring.
fn check_lanes(root: &Fields<'_>, network: &NetworkTable) {
    for node in &network.nodes {
        let mut bringing = node.parts.iter().filter(|part| part.scheme.brings_lanes(&part.settings));
        if let (Some(first), Some(second)) = (bringing.next(), bringing.next()) {
            let (name, first, second) = (&node.name, first.scheme.name, second.scheme.name);
            root.refuse(
                "node",
                format!("parts of {name:?}: {first} and {second} each have internal queues; a queue can have only one such discipline"),
            );
        }
    }
    for (link, place) in network.links.iter().flat_map(|link| [(link, 0), (link, 1)]) {
        let Some(node) = network.nodes.get([link.a, link.b][place]) else { continue };
        let Some(part) = node.parts.iter().find(|part| part.scheme.brings_lanes(&part.settings)) else {
            continue;
        };
        let own = link.queue[place].disciplines.iter().find(|used| used.scheme.has_lanes(&used.settings));
        if let Some(own) = own {
            let message = format!(
                "link {:?}: {} has internal queues, and so has {}, a router part of {:?}; a queue can have only one such discipline",
                link.name, own.scheme.name, part.scheme.name, node.name
            );
            root.refuse("link", message);
        }
    }
}

/// The connected part of each node, named by its lowest node (union by lowest, path halving).
fn parts(network: &NetworkTable) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..network.nodes.len()).collect();
    for link in &network.links {
        let (a, b) = (root_of(&mut parents, link.a), root_of(&mut parents, link.b));
        if let Some(parent) = parents.get_mut(a.max(b)) {
            *parent = a.min(b);
        }
    }
    (0..network.nodes.len()).map(|node| root_of(&mut parents, node)).collect()
}

fn root_of(parents: &mut [usize], mut node: usize) -> usize {
    while let Some(&parent) = parents.get(node) {
        if parent == node {
            break;
        }
        let grandparent = parents.get(parent).copied().unwrap_or(parent);
        parents.get_mut(node).into_iter().for_each(|slot| *slot = grandparent);
        node = grandparent;
    }
    node
}

fn check_connected(root: &Fields<'_>, network: &NetworkTable) {
    // The part of the first node has number 0, so any other number lies apart.
    let apart = network.part.iter().position(|part| *part != 0);
    let (Some(apart), false) = (apart, network.is_partial) else { return };
    if let (Some(node), Some(first)) = (network.nodes.get(apart), network.nodes.first()) {
        let list = root.list("node");
        let place = list.get(apart).map_or(root.place, |item| item.place);
        let message = format!("node {:?} is not connected with {:?}", node.name, first.name);
        root.context.refuse(place, message);
    }
}
