//! Network drawing of a plan for the report.

use tidegate_core::units::Time;
use tidegate_pages::event_summary::NetworkChange;
use tidegate_pages::figure::run::RateSteps;
use tidegate_pages::page::{LinkView, NodeKind, NodeView, Timeline, TopologyView};
use tidegate_sim::plan::{Change, Plan};

/// Nodes and links of `plan`.
pub(crate) fn topology(plan: &Plan) -> TopologyView {
    let nodes = plan.nodes.iter().zip(kinds(plan));
    let links = plan.links.iter().map(|link| LinkView {
        from: link.a,
        to: link.b,
        label: format!("{} · {}", link.rate[0], link.delay),
        load: [None; 2],
    });
    TopologyView {
        nodes: nodes
            .map(|(node, kind)| NodeView { name: node.name.clone(), kind, position: node.position })
            .collect(),
        links: links.collect(),
    }
}

/// Kind of every node; one that consumes and serves is a consumer.
fn kinds(plan: &Plan) -> Vec<NodeKind> {
    let mut kinds = vec![NodeKind::Router; plan.nodes.len()];
    let producers = plan.flows.iter().flat_map(|flow| &flow.producers);
    producers.for_each(|node| kinds[*node] = NodeKind::Producer);
    plan.flows.iter().for_each(|flow| kinds[flow.consumer] = NodeKind::Consumer);
    kinds
}

/// Changes of the network in `plan` during a run.
pub(crate) fn timeline(plan: &Plan) -> Timeline {
    Timeline { changes: changes(plan), rates: rates(plan) }
}

/// Changes by the scenario while flows run.
pub(crate) fn changes(plan: &Plan) -> Vec<NetworkChange> {
    let end = Time::ZERO + plan.duration;
    let within = plan.events.iter().filter(|event| event.at <= end);
    within.map(|event| NetworkChange { at: event.at, text: change(plan, &event.change) }).collect()
}

/// The element that changes, and its new state.
pub(crate) fn change(plan: &Plan, change: &Change) -> String {
    let notification = |silent: bool| if silent { ", without notification" } else { "" };
    let link = |index: usize, state: &str| format!("link {}: {state}", plan.links[index].name);
    let node = |index: usize, state: &str| format!("node {}: {state}", plan.nodes[index].name);
    match *change {
        Change::LinkDown { link: index, keep_queue, silent } => {
            let queues = if keep_queue { "down, queues kept" } else { "down, its packets are lost" };
            link(index, queues) + notification(silent)
        }
        Change::LinkUp { link: index } => link(index, "up"),
        Change::LinkRate { link: index, rate } => link(index, &format!("rate {rate}")),
        Change::NodeOff { node: index, silent } => {
            node(index, "down with all its links") + notification(silent)
        }
        Change::NodeOn { node: index } => node(index, "up"),
        Change::NodeRestart { node: index } => node(index, "restart, its state is lost"),
        Change::ControllerDown => "controller: down".to_owned(),
        Change::ControllerUp => "controller: up, without state".to_owned(),
    }
}

/// Rates of all link directions, in the order of records.
pub(crate) fn rates(plan: &Plan) -> Vec<RateSteps> {
    let mut rates: Vec<RateSteps> = plan
        .links
        .iter()
        .flat_map(|link| link.rate.map(|rate| RateSteps(vec![(0.0, rate.as_bps() as f64)])))
        .collect();
    for event in &plan.events {
        if let Change::LinkRate { link, rate } = &event.change {
            // Both directions of a link are consecutive, and the event changes both.
            for steps in rates.iter_mut().skip(2 * link).take(2) {
                steps.0.push((event.at.as_secs_f64(), rate.as_bps() as f64));
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_consumes_and_serves_is_drawn_as_a_consumer() {
        let text = "format = 1\n[scenario]\nname = \"line\"\nduration = \"1s\"\n[topology]\nbuiltin = \"grid\"\nrows = 1\n\
                    columns = 4\nlink = { rate = \"1Mbps\", delay = \"1ms\" }\n[[flow]]\nconsumer = \"r1\"\nproducer = \"r3\"\n\
                    prefix = \"/a\"\nscheme = \"fixed\"\n[[flow]]\nconsumer = \"r3\"\nproducer = \"r4\"\nprefix = \"/b\"\n\
                    scheme = \"fixed\"\n";
        let plan = tidegate_sim::scenario::parse("line.toml", text, &[], tidegate_schemes::SCHEMES);
        let drawn: Vec<NodeKind> =
            topology(&plan.expect("sound")).nodes.iter().map(|node| node.kind).collect();
        assert_eq!(drawn, [NodeKind::Consumer, NodeKind::Router, NodeKind::Consumer, NodeKind::Producer]);
    }
}
