//! Roles of a plan with the schemes that fill them, and the roles whose counterpart is missing.

use std::cell::OnceCell;

use tidegate_core::scheme::whole::{Counterpart, Installed, Need, Role};

use crate::plan::{LinkPlan, NextHopRule, Plan, SchemeUse, WrittenOut};
use crate::world::Ways;

/// Every scheme in use, by role; the places of equal entries are combined.
pub fn installed(plan: &Plan) -> Vec<Installed> {
    let mut found = Found::default();
    for flow in &plan.flows {
        let role = if flow.tcp.is_some() { "TCP sender" } else { "consumer" };
        found.add(role, &flow.scheme, Some(&flow.name));
    }
    for node in &plan.nodes {
        node.parts.iter().for_each(|part| found.add("router part", part, Some(&node.name)));
    }
    for link in &plan.links {
        for (place, queue) in link.queue.iter().enumerate() {
            let node = plan.nodes.get([link.a, link.b][place]).map_or("", |node| node.name.as_str());
            let at = format!("{} at {node}", link.name);
            queue.disciplines.iter().for_each(|used| found.add("discipline", used, Some(&at)));
        }
        link.link_service.iter().for_each(|used| found.add("link service", used, Some(&link.name)));
    }
    for node in &plan.nodes {
        let brought = node.parts.iter().any(SchemeUse::brings_strategy);
        if node.is_router && !brought {
            found.add("strategy", &node.strategy, Some(&node.name));
        }
    }
    // Every node has the prefix strategies of `[router]`, so one stands for all.
    if let Some(node) = plan.nodes.iter().find(|node| !node.prefix_strategies.is_empty()) {
        node.prefix_strategies.iter().for_each(|(prefix, used)| found.add("strategy", used, Some(prefix)));
    }
    plan.controller.iter().for_each(|controller| found.add("controller", &controller.scheme, None));
    if plan.next_hops == NextHopRule::All {
        found.0.push(Installed { role: "next hops", scheme: "all".to_owned(), at: Vec::new() });
    }
    found.0
}

#[derive(Default)]
struct Found(Vec<Installed>);

impl Found {
    fn add(&mut self, role: &'static str, used: &SchemeUse, at: Option<&str>) {
        let scheme = label(used);
        let known = self.0.iter_mut().find(|known| known.role == role && known.scheme == scheme);
        let at = at.map(str::to_owned);
        match known {
            Some(known) => known.at.extend(at),
            None => self.0.push(Installed { role, scheme, at: at.into_iter().collect() }),
        }
    }
}

/// `mircc (interval = "50ms")`.
fn label(used: &SchemeUse) -> String {
    let settings: Vec<String> =
        used.settings.0.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match settings.is_empty() {
        true => used.scheme.name.to_owned(),
        false => format!("{} ({})", used.scheme.name, settings.join(", ")),
    }
}

/// Reasons why schemes of flows leave their links partly unused, a sentence each.
pub fn limits(plan: &Plan) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for flow in &plan.flows {
        let SchemeUse { scheme, settings } = &flow.scheme;
        let limit = scheme.whole.limit.filter(|limit| limit.holds(settings));
        let sentence =
            limit.map(|limit| format!("{} may leave its link partly unused: {}", scheme.name, limit.why));
        sentences.extend(sentence.filter(|sentence| !sentences.contains(sentence)));
    }
    sentences
}

/// A sentence if the scheme of `[scenario]` fills no role, because all are written out.
pub fn idle(plan: &Plan) -> Option<String> {
    let WrittenOut { scheme, keys, .. } = plan.written_out.as_ref().filter(|written| !written.fills)?;
    let rule = "explicit settings of other roles are kept";
    Some(format!("scenario.scheme = {scheme:?} fills no role: {rule}; leave out {}", keys.join(", ")))
}

/// Every role in use whose counterpart is missing, a sentence each. The counterpart of a flow has to be on a
/// path from its consumer to its producers.
pub fn incomplete(plan: &Plan) -> Vec<String> {
    let mut reported: Vec<(&str, Role, Counterpart)> = Vec::new();
    let mut sentences = Vec::new();
    let ways = OnceCell::new();
    for User { used, role, at, flow } in in_use(plan) {
        let is_open = |need: &&Need| {
            let is_waived = need.unless.is_some_and(|(name, value)| has_value(used, name, value));
            need.role == role && !is_waived
        };
        for need in used.scheme.whole.needs.iter().filter(is_open) {
            // The error names the first flow or router only; the others lack the same.
            let key = (used.scheme.name, role, need.other);
            if reported.contains(&key) {
                continue;
            }
            let found = Counterparts::of(plan, used, need);
            let is_met = match flow {
                None => !found.is_empty(),
                Some(_) if found.is_empty() => false,
                Some(flow) => found.is_on(&ways.get_or_init(|| Ways::new(plan)).of(plan, flow)),
            };
            if !is_met {
                reported.push(key);
                sentences.push(sentence(plan, (used.scheme.name, need, at), !found.is_empty()));
            }
        }
    }
    sentences
}

/// A scheme of a flow, a router or the controller.
struct User<'a> {
    used: &'a SchemeUse,
    role: Role,
    /// Name of the flow or node.
    at: &'a str,
    /// Number of the flow; `None` for schemes that belong to none.
    flow: Option<usize>,
}

fn in_use(plan: &Plan) -> impl Iterator<Item = User<'_>> {
    let end = |tcp| if tcp { Role::Sender } else { Role::Consumer };
    let flows = plan.flows.iter().enumerate().map(move |(index, flow)| User {
        used: &flow.scheme,
        role: end(flow.tcp.is_some()),
        at: &flow.name,
        flow: Some(index),
    });
    let parts = plan.nodes.iter().flat_map(|node| {
        node.parts.iter().map(|used| User { used, role: Role::Router, at: &node.name, flow: None })
    });
    let controller = plan.controller.iter().map(|controller| User {
        used: &controller.scheme,
        role: Role::Controller,
        at: "",
        flow: None,
    });
    flows.chain(parts).chain(controller)
}

fn has_value(used: &SchemeUse, name: &str, value: &str) -> bool {
    used.scheme.has_value(&used.settings, name, value)
}

/// Places of the counterparts of a role.
#[derive(Default)]
struct Counterparts {
    /// Nodes with a part on their router.
    nodes: Vec<usize>,
    /// Links with a discipline in one of their queues.
    links: Vec<usize>,
    /// Whether it is in a role that has no place in the network.
    elsewhere: bool,
}

impl Counterparts {
    fn of(plan: &Plan, used: &SchemeUse, need: &Need) -> Self {
        let is_right = |other: &SchemeUse| need.by.is_none_or(|(name, value)| has_value(other, name, value));
        let with_part = |fits: &dyn Fn(&SchemeUse) -> bool| {
            let nodes = plan.nodes.iter().enumerate().filter(|(_, node)| node.parts.iter().any(fits));
            nodes.map(|(index, _)| index).collect()
        };
        match need.other {
            Counterpart::Marks => {
                let marks = |used: &SchemeUse| used.scheme.marks_with(&used.settings);
                let is_marking =
                    |link: &LinkPlan| link.queue.iter().flat_map(|queue| &queue.disciplines).any(marks);
                let links = plan.links.iter().enumerate().filter(|(_, link)| is_marking(link));
                let links = links.map(|(index, _)| index).collect();
                Self { nodes: with_part(&marks), links, elsewhere: false }
            }
            Counterpart::Role(Role::Router) => {
                let is_own = |part: &SchemeUse| part.scheme.name == used.scheme.name && is_right(part);
                Self { nodes: with_part(&is_own), ..Self::default() }
            }
            Counterpart::Role(role) => {
                let is_own = |other: User<'_>| {
                    other.role == role && other.used.scheme.name == used.scheme.name && is_right(other.used)
                };
                Self { elsewhere: in_use(plan).any(is_own), ..Self::default() }
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.links.is_empty() && !self.elsewhere
    }

    /// Whether the counterpart is on one of these nodes or links.
    fn is_on(&self, [nodes, links]: &[Vec<u32>; 2]) -> bool {
        let is_among =
            |among: &[u32], own: &[usize]| own.iter().any(|own| among.binary_search(&(*own as u32)).is_ok());
        self.elsewhere || is_among(nodes, &self.nodes) || is_among(links, &self.links)
    }
}

/// Error message of a missing counterpart; `is_off_path` means that one exists elsewhere in the network.
fn sentence(plan: &Plan, (name, need, at): (&str, &Need, &str), is_off_path: bool) -> String {
    let who = match need.role {
        Role::Router => format!("router parts of {name}"),
        Role::Controller => format!("the controller {name}"),
        _ => format!("flow {at}: {name}"),
    };
    let is_there = plan.nodes.iter().any(|node| node.parts.iter().any(|part| part.scheme.name == name));
    let by = need.by.filter(|_| is_there && !is_off_path);
    let by = by.map(|(parameter, value)| format!(" with {parameter} = {value}")).unwrap_or_default();
    let (other, write) = match need.other {
        Counterpart::Marks => {
            ("a queue or router that marks".to_owned(), "disciplines = [\"codel-mark\"]".to_owned())
        }
        Counterpart::Role(Role::Router) => {
            (format!("its part on a router{by}"), format!("[router] router_parts = [{name:?}]"))
        }
        Counterpart::Role(Role::Controller) => {
            ("its controller".to_owned(), format!("[controller] scheme = {name:?}"))
        }
        Counterpart::Role(_) => ("its other end".to_owned(), format!("scheme = {name:?} for a flow")),
    };
    let place = if is_off_path { " on its path" } else { "" };
    let or = match &plan.written_out {
        Some(WrittenOut { scheme, keys, .. }) if *scheme == name && !keys.is_empty() => {
            format!("leave out {}, which the scheme of [scenario] does not replace", keys.join(", "))
        }
        _ => format!("scheme = {name:?} into [scenario] for the whole scheme"),
    };
    format!("{who} without {other}{place}: {}; write {write}, or {or}", need.without)
}
