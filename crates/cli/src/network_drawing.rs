//! Network drawing of a plan for the report.

use tidegate_pages::figure::run::RateSteps;
use tidegate_pages::page::{LinkView, NodeKind, NodeView, Timeline, TopologyView};
use tidegate_sim::plan::{Change, Plan};

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
        load: [None; 2],
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

/// Changes of the network in `plan` during a run.
pub(crate) fn timeline(plan: &Plan) -> Timeline {
    Timeline { changes: crate::event_summary::changes(plan), rates: rates(plan) }
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
            for steps in rates.iter_mut().skip(2 * link).take(2) {
                steps.0.push((event.at.as_secs_f64(), rate.as_bps() as f64));
            }
        }
    }
    rates
}
