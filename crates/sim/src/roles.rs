//! Which scheme fills which role of a plan, where, and which of them lack what they need.

use tidegate_core::whole::{Counterpart, Installed, Need, Role};

use crate::plan::{NextHopRule, Plan, SchemeUse};

/// Every scheme in use, role by role; of equal ones the places together.
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

/// Why schemes of flows do not fill their links with their defaults, a sentence each.
pub fn limits(plan: &Plan) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for flow in &plan.flows {
        let scheme = flow.scheme.scheme;
        let sentence = scheme.whole.limit.map(|limit| format!("{}: {limit}", scheme.name));
        sentences.extend(sentence.filter(|sentence| !sentences.contains(sentence)));
    }
    sentences
}

/// Every role in use whose counterpart is missing, a sentence each.
pub fn incomplete(plan: &Plan) -> Vec<String> {
    let mut told: Vec<(&str, Role, Counterpart)> = Vec::new();
    let mut sentences = Vec::new();
    for (used, role, at) in in_use(plan) {
        for need in used.scheme.whole.needs.iter().filter(|need| need.role == role) {
            // The first flow or router stands for all of them.
            let key = (used.scheme.name, role, need.other);
            if !told.contains(&key) && !has(plan, used, need) {
                told.push(key);
                sentences.push(sentence(used.scheme.name, need, at));
            }
        }
    }
    sentences
}

/// Schemes of flows, routers and the controller, each with the role and the name of the flow or node.
fn in_use(plan: &Plan) -> impl Iterator<Item = (&SchemeUse, Role, &str)> {
    let end = |tcp| if tcp { Role::Sender } else { Role::Consumer };
    let flows =
        plan.flows.iter().map(move |flow| (&flow.scheme, end(flow.tcp.is_some()), flow.name.as_str()));
    let nodes = plan.nodes.iter();
    let parts = nodes.flat_map(|node| node.parts.iter().map(|part| (part, Role::Router, node.name.as_str())));
    let controller = plan.controller.iter().map(|controller| (&controller.scheme, Role::Controller, ""));
    flows.chain(parts).chain(controller)
}

fn has(plan: &Plan, used: &SchemeUse, need: &Need) -> bool {
    let marks = |used: &SchemeUse| used.scheme.marks_with(&used.settings);
    let parts = || plan.nodes.iter().flat_map(|node| &node.parts);
    match need.other {
        Counterpart::Marks => {
            let disciplines =
                plan.links.iter().flat_map(|link| &link.queue).flat_map(|queue| &queue.disciplines);
            parts().chain(disciplines).any(marks)
        }
        Counterpart::Role(role) => {
            in_use(plan).any(|(other, found, _)| found == role && other.scheme.name == used.scheme.name)
        }
    }
}

fn sentence(name: &str, need: &Need, at: &str) -> String {
    let who = match need.role {
        Role::Router => format!("routers' parts of {name}"),
        Role::Controller => format!("the controller {name}"),
        _ => format!("flow {at}: {name}"),
    };
    let (other, write) = match need.other {
        Counterpart::Marks => {
            ("a queue or router that marks".to_owned(), "disciplines = [\"codel-mark\"]".to_owned())
        }
        Counterpart::Role(Role::Router) => {
            ("its part on a router".to_owned(), format!("[router] parts = [{name:?}]"))
        }
        Counterpart::Role(Role::Controller) => {
            ("its controller".to_owned(), format!("[controller] scheme = {name:?}"))
        }
        Counterpart::Role(_) => ("its other end".to_owned(), format!("scheme = {name:?} for a flow")),
    };
    format!(
        "{who} without {other}: {}; write {write}, or scheme = {name:?} into [scenario] for the whole scheme",
        need.without
    )
}
