//! Content stores: the settings of `[router]`, nodes and prefixes, and the nodes that have a store.

use std::collections::BTreeSet;

use tidegate_core::units::Packets;
use tidegate_settings::document::TomlValue;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::Keys;

use super::keys;
use crate::plan::{Admission, CachePlan, FlowPlan, LinkPlan, NodePlan, Policy};

/// Cache settings of one table; `None` for keys that are not given.
#[derive(Clone, Copy, Default)]
pub(super) struct CacheValues {
    size: Option<Packets>,
    policy: Option<Policy>,
    admission: Option<Admission>,
    /// Fraction of the node's store.
    share: Option<f64>,
}

/// Keys of a cache: replacement and admission policy.
#[derive(Clone, Copy, PartialEq)]
enum CachePolicyKeys {
    Everywhere,
    LeaveCopyDown,
    Probabilistic,
}

const CHOICES: &[(CachePolicyKeys, &str)] = &[
    (CachePolicyKeys::Everywhere, "everywhere"),
    (CachePolicyKeys::LeaveCopyDown, "leave-copy-down"),
    (CachePolicyKeys::Probabilistic, "probabilistic"),
];

impl CacheValues {
    /// Reads the key `cache` of a node's table.
    pub fn of_node(node: &Fields<'_>) -> Self {
        read(node, &keys::NODE_CACHE, |_| {})
    }

    /// Reads the key `cache` of a prefix; `None` without.
    pub fn of_prefix(prefix: &Fields<'_>) -> Option<Self> {
        prefix.item("cache")?;
        let mut share = None;
        let values = read(prefix, &keys::PREFIX_CACHE, |table| {
            share = table.number("share");
            match (table.item("size"), table.item("share")) {
                (None, None) => table.refuse_missing("\"size\" or \"share\""),
                (Some(_), Some(_)) => table.refuse("share", "share: the size is already given"),
                _ => {}
            }
        });
        Some(Self { share, ..values })
    }

    /// The store that results from these settings over `base`.
    pub fn over(&self, base: CachePlan) -> CachePlan {
        CachePlan {
            size: self.size.unwrap_or(base.size),
            policy: self.policy.unwrap_or(base.policy),
            admission: self.admission.unwrap_or(base.admission),
        }
    }

    /// The store of a prefix on a node with the store `base`.
    fn narrowed(&self, base: CachePlan) -> CachePlan {
        let share = self.share.map(|share| Packets::new((f64::from(base.size.get()) * share) as u32));
        CachePlan { size: self.size.or(share).unwrap_or_default(), ..self.over(base) }
    }
}

/// Reads a single size or a table; `more` reads the keys that other tables do not have.
fn read(fields: &Fields<'_>, keys: &'static Keys, more: impl FnOnce(&Fields<'_>)) -> CacheValues {
    let is_table = fields.item("cache").is_some_and(|item| matches!(item.value, TomlValue::Table(_)));
    if !is_table {
        return CacheValues { size: fields.packets("cache"), ..CacheValues::default() };
    }
    let Some(table) = fields.table("cache", keys) else { return CacheValues::default() };
    more(&table);
    CacheValues {
        size: table.packets("size"),
        policy: table.word("policy", &Policy::ALL),
        admission: read_admission(&table),
        share: None,
    }
}

fn read_admission(table: &Fields<'_>) -> Option<Admission> {
    let choice = table.word("admission", CHOICES);
    let probability = table.number("probability");
    if table.item("probability").is_some() && choice != Some(CachePolicyKeys::Probabilistic) {
        table.refuse("probability", "probability requires admission = \"probabilistic\"");
    }
    match choice? {
        CachePolicyKeys::Everywhere => Some(Admission::Everywhere),
        CachePolicyKeys::LeaveCopyDown => Some(Admission::LeaveCopyDown),
        CachePolicyKeys::Probabilistic if table.item("probability").is_none() => {
            table.refused("admission", "admission: \"probabilistic\" needs a \"probability\"")
        }
        CachePolicyKeys::Probabilistic => probability.map(Admission::Probability),
    }
}

/// Cache settings of `[router]`, for all stores.
#[derive(Default)]
pub(super) struct CacheRules {
    /// Store of a router without settings of its own.
    pub router: CachePlan,
    is_edge_only: bool,
    /// Prefixes with stores of their own, in canonical spelling.
    pub prefixes: Vec<(String, CacheValues)>,
    /// Nodes with settings of their own, as far as they were read.
    pub own: BTreeSet<usize>,
}

impl CacheRules {
    /// Reads `[router]`'s key `cache`.
    pub fn read(router: &Fields<'_>) -> Self {
        let mut is_edge_only = false;
        let values = read(router, &keys::ROUTER_CACHE, |table| {
            is_edge_only = table.word("placement", &[(false, "all"), (true, "edge")]).unwrap_or_default();
        });
        Self { router: values.over(CachePlan::default()), is_edge_only, ..Self::default() }
    }

    /// These rules for a network whose nodes in `own` have their own settings.
    pub fn with_own(self, own: BTreeSet<usize>) -> Self {
        Self { own, ..self }
    }

    /// Reports shares that add up to more than the whole.
    pub fn check_shares(&self, router: &Fields<'_>) {
        let sum: f64 = self.prefixes.iter().filter_map(|(_, values)| values.share).sum();
        if sum > 1.0 {
            router.refuse(
                "prefix",
                format!("prefix: the shares of the routers' cache add up to {sum}, more than 1"),
            );
        }
    }

    /// Removes the stores that the placement does not allow, and adds those of prefixes.
    pub fn settle(&self, nodes: &mut [NodePlan], links: &[LinkPlan], flows: &[FlowPlan]) {
        let edge = if self.is_edge_only { edge(nodes, links, flows) } else { BTreeSet::new() };
        for (index, node) in nodes.iter_mut().enumerate() {
            let is_own = self.own.contains(&index);
            let is_placed = node.is_router && (!self.is_edge_only || edge.contains(&index));
            if !is_own && !is_placed {
                node.cache.size = Packets::default();
            // A node that declares `0pkt` itself has no stores for prefixes either.
            } else if !is_own || node.cache.size.get() > 0 {
                self.narrow(node);
            }
        }
    }

    fn narrow(&self, node: &mut NodePlan) {
        let whole = node.cache;
        let mut left = whole.size.get();
        for (prefix, values) in &self.prefixes {
            let store = values.narrowed(whole);
            // A share is taken from the router's store; a size is in addition to it.
            if values.share.is_some() {
                left = left.saturating_sub(store.size.get());
            }
            node.prefix_caches.push((prefix.clone(), store));
        }
        node.cache.size = Packets::new(left);
    }
}

/// Routers with a consumer, or with a link to a host that is one.
fn edge(nodes: &[NodePlan], links: &[LinkPlan], flows: &[FlowPlan]) -> BTreeSet<usize> {
    let is_router = |node: usize| nodes.get(node).is_some_and(|node| node.is_router);
    let (routers, hosts): (BTreeSet<usize>, BTreeSet<usize>) =
        flows.iter().map(|flow| flow.consumer).partition(|consumer| is_router(*consumer));
    let ends = links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
    let beside = ends.filter(|(host, router)| hosts.contains(host) && is_router(*router));
    routers.into_iter().chain(beside.map(|(_, router)| router)).collect()
}
