//! A plan's network as the report draws it.

use tidegate_report::page::{LinkView, NodeKind, NodeView, TopologyView};
use tidegate_sim::plan::Plan;

/// Nodes and links of `plan`.
pub(crate) fn topology(plan: &Plan) -> TopologyView {
    let kind = |node: usize| {
        let consumes = plan.flows.iter().any(|flow| flow.consumer == node);
        let serves = plan.flows.iter().any(|flow| flow.producers.contains(&node));
        match (consumes, serves) {
            (true, _) => NodeKind::Consumer,
            (_, true) => NodeKind::Producer,
            _ => NodeKind::Router,
        }
    };
    let nodes = plan.nodes.iter().enumerate();
    let links = plan.links.iter().map(|link| LinkView {
        from: link.a,
        to: link.b,
        label: format!("{} · {}", link.rate[0], link.delay),
    });
    TopologyView {
        nodes: nodes
            .map(|(index, node)| NodeView {
                name: node.name.clone(),
                kind: kind(index),
                position: node.position,
            })
            .collect(),
        links: links.collect(),
    }
}
